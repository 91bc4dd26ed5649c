/* What the files of the search for placements share. */
#pragma once

#include "fab/design.h"
#include "fab/place_run.h"
#include "fab/rng.h"

/* Servers of the same group have the same links to the same switches; groups of the same kind are alike in all that
 * routing sees. Where routing goes by names (hashes), every server is a group and a kind of its own. */
typedef struct place_groups {
    uint32_t n;
    uint32_t *of;   /* shape [n_servers]: group of each server of the fabric; FAB_NONE: not to be used */
    uint32_t *kind; /* shape [n]: the first group that this one is like */
    uint32_t *size; /* shape [n] */
} place_groups;

/* @param[in] usable    shape [n_servers]: servers that may be used.
 * @param[in] by_links  false: every server is told from every other. */
FAB_STATUS place_groups_init(const fab_fabric *fabric, const bool *usable, bool by_links, place_groups *out,
                             fab_error *err);
void place_groups_release(place_groups *groups);

/* Number that placements have in common which are alike: servers of a group, and groups of a kind, in the order in
 * which they appear. `scratch` has shape [2 n]. */
uint64_t place_digest(const place_groups *groups, const uint32_t *list, uint32_t n, uint32_t *scratch);

/* Calls `visit` with one list of each sort of placements that differ, `n` servers long, until there are more than
 * `limit`; its count. `all` has the usable servers, n_all of them. */
typedef fab_status place_visit(void *context, const uint32_t *list, fab_error *err);
FAB_STATUS place_enumerate(const place_groups *groups, const uint32_t *all, uint32_t n_all, uint32_t n, uint64_t limit,
                           place_visit *visit, void *context, uint64_t *out_n, fab_error *err);
