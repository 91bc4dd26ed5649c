/** One next hop per switch and destination: the tables of engines that do not choose among minimal next hops. */
#pragma once

#include "engines/router.h"

typedef struct fab_forwarding {
    uint32_t n_destinations; /**< leaves * port_stride */
    uint16_t *entry;         /**< shape [n_switches][n_destinations]: 1 + place among the links that leave the switch,
                                by port; 0 where there is no route */
    uint8_t *unreached;      /**< shape [n_destinations]: 1 where not even its leaf hands packets over; NULL: nowhere */
} fab_forwarding;

/** Needs port_stride and next_hops of the router. */
FAB_STATUS fab_forwarding_init(const fab_router *router, fab_forwarding *out, fab_error *err);
void fab_forwarding_release(fab_forwarding *t);

/** `link` leaves the switch. */
void fab_forwarding_set(const fab_fabric *f, fab_forwarding *t, uint32_t destination, fab_link_id link);

/** Next hop, or FAB_NONE. */
static inline fab_link_id fab_forwarding_get(const fab_fabric *f, const fab_forwarding *t, fab_node_id v,
                                             uint32_t destination) {
    uint16_t entry = t->entry[(size_t)(v - f->first[FAB_NODE_SWITCH]) * t->n_destinations + destination];
    return entry == 0 ? FAB_NONE : f->out_link[f->out_first[v] + entry - 1U];
}

/** `explain` of engines whose `next` reads a table. */
uint64_t fab_forwarding_explain(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key,
                                char *out, size_t size);

/** The link behind a port of node v, or FAB_NONE. */
fab_link_id fab_link_at_port(const fab_fabric *f, fab_node_id v, uint32_t port);

/** A destination that runs in a circle. */
typedef struct fab_loop {
    fab_node_id v; /**< a switch of it */
    uint32_t destination;
    char text[1280]; /**< "packets at leaf-0 for port 1 of leaf-1 run in a circle: leaf-0 > spine-0 > leaf-0", of up to
                        twelve names; "": there is none */
} fab_loop;

/** Follows every destination from every switch. */
FAB_STATUS fab_forwarding_find_loop(const fab_router *router, const fab_forwarding *t, fab_loop *out, fab_error *err);
