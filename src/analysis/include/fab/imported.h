/** What `import` found in a file, for reports. */
#pragma once

#include "fab/fabric_spec.h"
#include "fab/fabric.h"
#include "fab/installed.h"

/** Everything borrowed. */
typedef struct fab_imported {
    const char *path;   /**< the file that was read */
    const char *format; /**< what it is, a line */
    const char *output; /**< the design that was written; NULL: none */
    const fab_structure *net;
    const fab_fabric_spec *spec; /**< as resolved */
    const fab_fabric *fabric;
} fab_imported;

#define FAB_ASSUMED_SIZE 320
#define FAB_ASSUMED_MOST 8

/** What is not in the file and was taken as something: sentences, with the keys that change it. Returns their number.
 */
size_t fab_imported_assumed(const fab_imported *imported, char out[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE]);

/**
 * What collisions, times and prices of an installed fabric rest on that its file does not say, in short: "1 cable from
 * a switch up (cables), 400 Gb/s at 40 cables (nic, port)". Lengths, which move times by nanoseconds, are left out.
 * @return  false, and nothing: it says all of it.
 */
bool fab_imported_gaps(const fab_fabric_spec *spec, char *out, size_t size);

/** Most frequent rate of the cables below a tier, as built. */
double fab_imported_rate(const fab_imported *imported, uint32_t boundary);
