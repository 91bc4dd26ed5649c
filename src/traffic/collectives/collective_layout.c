/* Which members of a communicator share a server or a scale-up domain. */
#include "collectives.h"

FAB_RELEASES(fab_layout_release, fab_layout, slot, count, order, unit.ranks, domain.ranks);

fab_status fab_layout_init(fab_layout *layout, const fab_fabric *fabric, uint32_t n_most, fab_error *err) {
    FAB_OWNS(fab_layout_release) fab_layout made = {.fabric = fabric, .n_most = n_most};
    uint32_t n_slots = fab_n_gpus(fabric) / fabric->gpus_per_domain + 1;
    FAB_PASS(FAB_NEW(made.slot, n_slots, err));
    FAB_PASS(FAB_NEW_ALL(n_most, err, made.count, made.order, made.unit.ranks, made.domain.ranks));
    FAB_FILL(made.slot, n_slots, FAB_NONE);
    return FAB_GIVE(*layout, made);
}

static void group(fab_layout *layout, const uint32_t *members, uint32_t n, uint32_t size, fab_grouping *out) {
    out->n_groups = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *slot = &layout->slot[members[i] / size];
        if (*slot == FAB_NONE) {
            layout->count[out->n_groups] = 0;
            *slot = out->n_groups++;
        }
        layout->count[*slot]++;
    }
    out->k = out->n_groups > 0 ? n / out->n_groups : 0;
    for (uint32_t g = 0; g < out->n_groups; g++) {
        out->k = layout->count[g] == n / out->n_groups && n % out->n_groups == 0 ? out->k : 0;
        layout->count[g] = 0;
    }
    for (uint32_t i = 0; i < n && out->k > 0; i++) {
        uint32_t g = layout->slot[members[i] / size];
        out->ranks[g * out->k + layout->count[g]++] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        layout->slot[members[i] / size] = FAB_NONE;
    }
}

/* Few, and mostly in order. */
static void sort_by_gpu(uint32_t *ranks, uint32_t n, const uint32_t *members) {
    for (uint32_t i = 1; i < n; i++) {
        uint32_t rank = ranks[i];
        uint32_t at = i;
        for (; at > 0 && members[ranks[at - 1]] > members[rank]; at--) {
            ranks[at] = ranks[at - 1];
        }
        ranks[at] = rank;
    }
}

void fab_layout_set_units(fab_layout *layout, const uint32_t *members, uint32_t n) {
    const fab_fabric *f = layout->fabric;
    const uint32_t size = f->gpus_per_domain > f->gpus_per_server ? f->gpus_per_domain : f->gpus_per_server;
    group(layout, members, n, size, &layout->unit);
}

void fab_layout_set(fab_layout *layout, const uint32_t *members, uint32_t n) {
    uint32_t size = layout->fabric->gpus_per_domain;
    fab_grouping *domain = &layout->domain;
    fab_layout_set_units(layout, members, n);
    group(layout, members, n, size, domain);
    layout->aligned = domain->k > 0;
    for (uint32_t g = 0; g < domain->n_groups && domain->k > 0; g++) {
        uint32_t *ranks = domain->ranks + (size_t)g * domain->k;
        sort_by_gpu(ranks, domain->k, members);
        for (uint32_t i = 0; i < domain->k; i++) {
            layout->aligned = layout->aligned && members[ranks[i]] % size == members[domain->ranks[i]] % size;
        }
    }
}
