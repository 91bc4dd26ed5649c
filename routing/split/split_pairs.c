/* One pair of leaves at a time, down its shortest-path DAG, a distance after the other. The rules are those of
 * split_pass.c; what lies downstream of a switch is found once per destination. */
#include "fab/split_pairs.h"
#include "dag.h"
#include "split_rule.h"

struct fab_pair_walk {
    const fab_fabric *fabric;
    const fab_next_hops *next_hops;
    const fab_split *split;
    const fab_switch_classes *classes; /* NULL: every switch for itself */
    uint32_t base;
    double *trunk;       /* [link]: capacity of all cables to the same switch */
    uint32_t dst;        /* of `seen` and `part` */
    uint32_t *seen;      /* [switch]: round in which part[] was found */
    fab_wide *part;      /* [switch]: W or Z of the split's rule */
    uint32_t seen_round; /* counts destinations */
    uint32_t *reached;   /* [switch]: round in which it was met from this source */
    double *held;        /* [switch] */
    uint32_t met_round;
    uint32_t *front, *next; /* [switch]: switches at one distance from the source, and behind them */
    fab_link_id *link;
    double *share;
    size_t link_capacity, share_capacity;
    double *part_of; /* of the next hops of a switch */
    size_t part_capacity;
};

fab_status fab_pair_walk_new(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_split *split,
                             fab_pair_walk **out, fab_error *err) {
    uint32_t n = next_hops->n_switches;
    FAB_OWNS_NEW(fab_pair_walk_free_owned, fab_pair_walk, w, 1, err);
    *w = (fab_pair_walk){.fabric = fabric,
                         .next_hops = next_hops,
                         .split = split,
                         .base = fabric->first[FAB_NODE_SWITCH],
                         .dst = FAB_NONE};
    FAB_PASS(FAB_NEW_ALL(n, err, w->reached, w->held, w->front, w->next));
    if (split->rule == FAB_SPLIT_CAPACITY || split->rule == FAB_SPLIT_WEIGHT) {
        FAB_PASS(FAB_NEW_ALL(n, err, w->seen, w->part));
    }
    FAB_PASS(split->rule == FAB_SPLIT_CAPACITY ? fab_trunk_capacities(fabric, next_hops->dead_link, &w->trunk, err)
                                               : FAB_OK);
    return FAB_GIVE(*out, w);
}

FAB_FREES_WHOLE(fab_pair_walk_free, fab_pair_walk, trunk, seen, part, reached, held, front, next, link, share, part_of);

void fab_pair_walk_by_class(fab_pair_walk *walk, const fab_switch_classes *classes) {
    walk->classes = classes;
    walk->dst = FAB_NONE;
}

/* The switch that stands for the head of a link. */
static uint32_t head_of(const fab_pair_walk *w, fab_link_id link) {
    uint32_t head = fab_head(w->fabric, link) - w->base;
    return w->classes != NULL ? w->classes->first[head] : head;
}

/* --- what lies downstream ----------------------------------------------------------------------------------------- */

static double scaled(fab_wide x, long exponent) { /* x / 2^exponent, exponent the largest of those compared */
    return exponent - x.exponent > 2000 ? 0 : ldexp(x.mantissa, (int)(x.exponent - exponent));
}

static fab_wide split_pairs_add(fab_wide a, fab_wide b) {
    if (a.mantissa == 0 || b.mantissa == 0) {
        return a.mantissa == 0 ? b : a;
    }
    long exponent = a.exponent > b.exponent ? a.exponent : b.exponent;
    return fab_wide_of(scaled(a, exponent) + scaled(b, exponent), exponent);
}

static fab_wide split_pairs_part_of(fab_pair_walk *w, uint32_t v);

/* What the split's rule makes of a next hop. */
static fab_wide through(fab_pair_walk *w, fab_link_id link) {
    uint32_t head = head_of(w, link);
    fab_wide behind = split_pairs_part_of(w, head);
    if (w->split->rule == FAB_SPLIT_WEIGHT) {
        return fab_wide_of(behind.mantissa * w->split->weight[link], behind.exponent);
    }
    double capacity = fab_class_of(w->fabric, link)->capacity_bps;
    double residual = ldexp(behind.mantissa, (int)behind.exponent) * (capacity / w->trunk[link]);
    return fab_wide_of(residual < capacity ? residual : capacity, 0);
}

/* W or Z of a switch. Recursion is as deep as the longest of minimal paths. */
static fab_wide split_pairs_part_of(fab_pair_walk *w, uint32_t v) { // NOLINT(misc-no-recursion)
    if (w->seen[v] == w->seen_round) {
        return w->part[v];
    }
    bool arrived = w->next_hops->leaf_index[v] == w->dst;
    fab_wide sum = {0, 0};
    if (arrived) { /* nothing holds back behind the destination */
        sum = w->split->rule == FAB_SPLIT_WEIGHT ? fab_wide_of(1, 0) : fab_wide_of(ldexp(1, 1000), 0);
    }
    fab_next_hop_list list = fab_next_hops_look(w->next_hops, v, w->dst);
    for (uint32_t i = 0; i < list.count; i++) {
        sum = split_pairs_add(sum, through(w, fab_next_hop(&list, i)));
    }
    w->seen[v] = w->seen_round;
    w->part[v] = sum;
    return sum;
}

/* --- down the DAG ------------------------------------------------------------------------------------------------- */

/* Shares of the next hops of a switch, adding up to 1. */
static fab_status share_out(fab_pair_walk *w, const fab_next_hop_list *list, double *out, fab_error *err) {
    const fab_split *split = w->split;
    fab_wide sum = {0, 0};
    switch (split->rule) {
    case FAB_SPLIT_EQUAL: FAB_FILL(out, list->count, 1.0 / list->count); break;
    case FAB_SPLIT_SHARE:
        for (uint32_t i = 0; i < list->count; i++) {
            out[i] = split->share[(size_t)w->dst * w->fabric->n_links + fab_next_hop(list, i)];
        }
        break;
    case FAB_SPLIT_CAPACITY:
    case FAB_SPLIT_WEIGHT:
        for (uint32_t i = 0; i < list->count; i++) {
            sum = split_pairs_add(sum, through(w, fab_next_hop(list, i)));
        }
        FAB_REFUSE_IF(!(sum.mantissa > 0), err, FAB_EINPUT, NULL,
                      "the next hops of a switch have no weight between them");
        for (uint32_t i = 0; i < list->count; i++) {
            out[i] = scaled(through(w, fab_next_hop(list, i)), sum.exponent) / sum.mantissa;
        }
        break;
    }
    return FAB_OK;
}

/* Notes what a link carries; those of its class that leave the same switch are in place `from` or behind. */
static void note_link(fab_pair_walk *w, fab_link_id link, double amount, uint32_t from, uint32_t *n_links) {
    if (w->classes != NULL) {
        link = w->classes->link_first[link];
        for (uint32_t i = *n_links; i-- > from;) {
            if (w->link[i] == link) {
                w->share[i] += amount;
                return;
            }
        }
    }
    w->link[*n_links] = link;
    w->share[(*n_links)++] = amount;
}

/* Sends on what a switch holds. `n_links` and `n_next` grow. */
static fab_status send_on(fab_pair_walk *w, uint32_t v, uint32_t *n_links, uint32_t *n_next, fab_error *err) {
    fab_next_hop_list list = fab_next_hops_look(w->next_hops, v, w->dst);
    uint32_t from = *n_links;
    FAB_PASS(FAB_GROW(w->link, w->link_capacity, (size_t)*n_links + list.count, err));
    FAB_PASS(FAB_GROW(w->share, w->share_capacity, (size_t)*n_links + list.count, err));
    FAB_PASS(FAB_GROW(w->part_of, w->part_capacity, list.count, err));
    FAB_PASS(share_out(w, &list, w->part_of, err));
    for (uint32_t i = 0; i < list.count; i++) {
        double amount = w->held[v] * w->part_of[i];
        if (!(amount > 0)) {
            continue;
        }
        fab_link_id link = fab_next_hop(&list, i);
        uint32_t head = head_of(w, link);
        if (w->reached[head] != w->met_round) {
            w->reached[head] = w->met_round;
            w->held[head] = 0;
            w->next[(*n_next)++] = head;
        }
        w->held[head] += amount;
        note_link(w, link, amount, from, n_links);
    }
    return FAB_OK;
}

fab_status fab_pair_walk_get(fab_pair_walk *w, uint32_t src, uint32_t dst, fab_pair_links *out, fab_error *err) {
    uint32_t n_links = 0;
    uint32_t n_front = 1;
    uint32_t target = w->next_hops->leaf_node[dst] - w->base;
    if (dst != w->dst) {
        w->dst = dst;
        w->seen_round++;
    }
    w->met_round++;
    w->front[0] = w->next_hops->leaf_node[src] - w->base;
    w->held[w->front[0]] = 1;
    w->reached[w->front[0]] = w->met_round;
    FAB_RETURN_IF(fab_next_hops_group(w->next_hops, w->front[0], dst) == 0,
                  fab_dag_no_route(w->fabric, w->next_hops, src, dst, err));
    while (n_front > 0 && w->front[0] != target) { /* all paths are equally long: they arrive together */
        uint32_t n_next = 0;
        for (uint32_t i = 0; i < n_front; i++) {
            FAB_PASS(send_on(w, w->front[i], &n_links, &n_next, err));
        }
        uint32_t *was = w->front;
        w->front = w->next;
        w->next = was;
        n_front = n_next;
    }
    *out = (fab_pair_links){n_links, w->link, w->share};
    return FAB_OK;
}
