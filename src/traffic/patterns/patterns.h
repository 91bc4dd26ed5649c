/* What the files of the patterns share: pattern_text.c reads the keys, patterns.c and pattern_collective.c make flows.
 */
#pragma once

#include "fab/collective.h"
#include "traffic_internal.h"

/* What the keys say. GPU numbers are those of the fabric until the pattern counts from `first`. */
typedef struct fab_pattern {
    const char *text; /* as given, for messages */
    const fab_fabric *fabric;
    const fab_design *design; /* NULL: none */
    uint64_t seed;
    uint64_t bytes;
    uint64_t first, last;           /* gpus= */
    uint64_t from_first, from_last; /* from=, FAB_NONE when not given */
    uint64_t by, to, fanin;         /* FAB_NONE when not given */
    double fraction;
    fab_operation operation;
    char algorithm[32];    /* of a collective: a name, "auto", "nccl" or "all"; empty when not given */
    uint64_t channels;     /* 0 when not given */
    uint64_t groups, comm; /* comm FAB_NONE when not given */
    bool by_block;         /* groups-by= */
    char note[64];         /* for the summary */
    char seen[160];        /* keys so far, each between blanks */
    fab_placement placement;
    char servers[FAB_SERVERS_SIZE]; /* servers=, with commas */
} fab_pattern;

static inline uint32_t fab_pattern_size(const fab_pattern *p) {
    return (uint32_t)(p->last - p->first + 1);
}

typedef struct fab_pattern_row {
    const char *keys; /* beyond those of all patterns, each with a blank before and behind */
    bool random;
    /* Adds flows to the one phase of the pattern, no more than there are GPUs. */
    fab_status (*add)(fab_pattern *p, fab_phase_builder *builder, fab_error *err);
    /* Instead: makes all phases and the summary. */
    fab_status (*make)(fab_pattern *p, fab_traffic *traffic, fab_error *err);
    fab_operation operation; /* of a collective */
} fab_pattern_row;
extern const fab_pattern_row fab_pattern_rows[]; /* in the order of fab_patterns */

/* Splits "NAME,key=value,..." in place; `which` is the row of the pattern. */
FAB_STATUS fab_pattern_parse(char *list, fab_pattern *p, size_t *out_which, fab_error *err);

/* Phases and summary of p->operation by p->algorithm. */
FAB_STATUS fab_pattern_collective(fab_pattern *p, fab_traffic *traffic, fab_error *err);

/* "ring, mesh, ..., auto, all": what algorithm= takes. */
void fab_pattern_algorithms(fab_operation operation, char *out, size_t size);
