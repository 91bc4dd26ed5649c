/* pinned: where a server is plugged in on its leaf decides which part of the uplinks its traffic comes through (Meta,
 * SIGCOMM 2024). See src/doc/adr/0017-static-engines.md.
 *
 * A leaf's uplinks, by spine and then by port, are cut into as many groups as there are slices. Traffic to the s-th
 * server of its leaf takes group s mod slices, and the ports of a slice take the members of its group in turn. A spine
 * goes down over the cable of a trunk that mirrors the one up. Above, the slice has its spines to itself already: there
 * the digit of the destination's number decides, as under D-mod-K. */
#include "engines.h"

typedef struct place {
    uint32_t slice;
    uint32_t index; /* among the ports of the slice on the leaf */
} place;

enum { PINNED_SLICES }; /* options, as in the table */

typedef struct state {
    uint64_t slices;
    place *places; /* shape [destinations] */
} state;

static fab_status pinned_prepare(fab_router *router, fab_error *err) {
    state *s = router->state;
    const fab_fabric *f = router->fabric;
    const fab_next_hops *t = router->next_hops;
    FAB_OWNED uint32_t *taken = NULL; /* of a slice: ports so far */
    s->slices = router->option[PINNED_SLICES].number;
    router->facts.slices = (uint32_t)s->slices;
    FAB_PASS(FAB_NEW(s->places, (size_t)t->n_leaves * router->port_stride, err));
    FAB_OWNED_NEW(uint32_t, seen_on, f->n_servers, err); /* of a server: leaf + 1 on which it was met last */
    FAB_OWNED_NEW(uint32_t, slot_of, f->n_servers, err); /* of a server: its place there */
    FAB_PASS(FAB_NEW(taken, s->slices, err));
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        fab_node_id v = t->leaf_node[leaf];
        uint32_t n_slots = 0;
        memset(taken, 0, s->slices * sizeof *taken);
        FAB_EACH_LINK(f, v, link) {
            if (fab_class_of(f, link)->kind != FAB_LINK_ACCESS) {
                continue;
            }
            uint32_t server = (fab_head(f, link) - f->first[FAB_NODE_NIC]) / f->nics_per_server;
            if (seen_on[server] != leaf + 1) {
                seen_on[server] = leaf + 1;
                slot_of[server] = n_slots++;
            }
            uint32_t slice = slot_of[server] % (uint32_t)s->slices;
            s->places[(size_t)leaf * router->port_stride + f->port[link] - 1] = (place){slice, taken[slice]++};
        }
    }
    return FAB_OK;
}

static void pinned_release(fab_router *router) {
    state *s = router->state;
    free(s->places);
}

/* Number of the uplink among `count`, by spine and then by port. A group is never empty: where there are fewer uplinks
 * than slices, neighbouring slices share one. */
static uint32_t uplink_of(const state *s, place at, uint32_t count) {
    uint32_t first = (uint32_t)((uint64_t)at.slice * count / s->slices);
    uint32_t behind = (uint32_t)(((uint64_t)at.slice + 1) * count / s->slices);
    return first + (behind > first ? at.index % (behind - first) : 0);
}

static uint32_t pinned_pick(const fab_router *router, FAB_UNUSED uint64_t seed, const fab_hop *hop,
                            const fab_hop_key *key) {
    const state *s = router->state;
    place at = s->places[key->destination];
    bool up = fab_is_up(fab_next_hop(&hop->next, 0));
    uint32_t spines = (uint32_t)router->divisor[2];
    if (hop->tier == 1 && up) {
        uint32_t uplink = uplink_of(s, at, hop->count);
        uint32_t trunk = hop->count % spines == 0 ? hop->count / spines : 1;
        return uplink % trunk * (hop->count / trunk) + uplink / trunk; /* ports go round the spines */
    }
    if (hop->tier == 2 && !up) {
        return uplink_of(s, at, hop->count * spines) % hop->count;
    }
    return (uint32_t)(key->destination / router->divisor[hop->tier] % hop->count);
}

static uint64_t pinned_explain(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key,
                               char *out, size_t size) {
    const state *s = router->state;
    place at = s->places[key->destination];
    bool up = fab_is_up(fab_next_hop(&hop->next, 0));
    if (hop->tier == 1 && up) {
        (void)snprintf(out, size, "destination %u in slice %u, port %u of it: uplink %u of %u, by spine",
                       key->destination, at.slice, at.index, uplink_of(s, at, hop->count), hop->count);
    } else if (hop->tier == 2 && !up) {
        (void)snprintf(out, size, "destination %u in slice %u, port %u of it: cable %u of %u, as on the way up",
                       key->destination, at.slice, at.index, pinned_pick(router, seed, hop, key), hop->count);
    } else {
        return fab_explain_digit(router, seed, hop, key, out, size);
    }
    return (uint64_t)at.slice << 32 | at.index;
}

static const fab_engine_option OPTIONS[] = {
    [PINNED_SLICES] = {"slices", "2",
                       "groups of uplinks; the s-th server of a leaf is reached through group s mod slices", false,
                       .kind = FAB_OPTION_COUNT},
    {.key = NULL},
};

const fab_engine fab_engine_pinned = {
    .name = "pinned",
    .summary = "the destination server's place on its leaf selects a group of uplinks",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_TABLES,
    .needs_tree = true,
    .by_destination = true,
    .state_size = sizeof(state),
    .prepare = pinned_prepare,
    .release = pinned_release,
    .pick = pinned_pick,
    .explain = pinned_explain,
};
