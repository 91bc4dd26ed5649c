/* Depth-first search along next hops: a switch is appended when all of its next hops are. */
#include "hop_order.h"
#include "next_hops/next_hop_rows.h"

enum { UNSEEN, OPEN, DONE };

fab_status fab_hop_order_init(const fab_fabric *fabric, fab_hop_order *out, fab_error *err) {
    FAB_OWNS(fab_hop_order_release) fab_hop_order order = {0};
    uint32_t n = fab_n_switches(fabric);
    FAB_PASS(FAB_NEW_ALL(n, err, order.order, order.state, order.cursor, order.stack));
    return FAB_GIVE(*out, order);
}

FAB_RELEASES(fab_hop_order_release, fab_hop_order, order, state, cursor, stack);

static void open_switch(fab_hop_order *o, uint32_t v, uint32_t *depth) {
    o->state[v] = OPEN;
    o->cursor[v] = 0;
    o->stack[(*depth)++] = v;
}

/* Everything behind one switch. */
static bool visit(const fab_fabric *f, const fab_next_hops *t, uint32_t leaf, uint32_t start, fab_hop_order *o,
                  uint32_t *out_loop) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t depth = 0;
    open_switch(o, start, &depth);
    while (depth > 0) {
        uint32_t v = o->stack[depth - 1];
        fab_next_hop_list next = fab_next_hops_look(t, v, leaf);
        if (next.slot == NULL || o->cursor[v] >= next.count) { /* without a route there is no list */
            o->state[v] = DONE;
            depth--;
            if (next.count > 0) {
                o->order[o->n++] = v;
            }
            continue;
        }
        uint32_t head = fab_head(f, fab_next_hop(&next, o->cursor[v]++)) - base;
        if (o->state[head] == OPEN) {
            *out_loop = head;
            return false;
        }
        if (o->state[head] == UNSEEN) {
            open_switch(o, head, &depth);
        }
    }
    return true;
}

bool fab_hop_order_find(const fab_fabric *fabric, const fab_next_hops *next_hops, uint32_t leaf, fab_hop_order *order,
                        uint32_t *out_loop) {
    uint32_t n = fab_n_switches(fabric);
    order->n = 0;
    memset(order->state, UNSEEN, n * sizeof *order->state);
    order->state[next_hops->leaf_node[leaf] - fabric->first[FAB_NODE_SWITCH]] = DONE;
    FAB_ALL(is_free, v, n, order->state[v] != UNSEEN || visit(fabric, next_hops, leaf, v, order, out_loop));
    return is_free;
}
