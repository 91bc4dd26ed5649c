/*
 * Traffic from files, by content. To add a format: a file traffic_NAME.c with a row, declared here and listed in
 * file_formats.c. What no row recognises is a matrix (matrix_read.c).
 */
#pragma once

#include "fab/text.h"
#include "traffic_internal.h"

typedef struct fab_traffic_format {
    const char *name;
    /* Stands before its first line; where it stands afterwards does not matter. */
    bool (*recognise)(fab_text *text);
    fab_status (*read)(fab_text *text, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err);
} fab_traffic_format;

extern const fab_traffic_format fab_traffic_htsim, fab_traffic_simai, fab_traffic_nccl;

/* Phases of a file of any format; path "-" is stdin. */
FAB_STATUS fab_traffic_read(const char *path, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err);

/* The end of a path, for summaries. */
const char *fab_traffic_file_name(const char *path);
