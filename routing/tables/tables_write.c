/* Forwarding tables as text. */
#include "engines/engines.h"
#include "split/split_rule.h"
#include "fab/tables.h"
#include "hop_order.h"

#include <errno.h>

typedef struct writer {
    const fab_router *router;
    const fab_fabric *f;
    const fab_split *split; /* NULL: none is written */
    int scale;              /* exponent of the largest weight of a link */
    double *through;        /* shape [n_leaves][n_switches]: of sum_paths() */
    double *trunk;          /* [link]: capacity of all cables to the same switch */
    double *weight;         /* of the group at hand */
    fab_str text;           /* of an entry */
    fab_next_hop_list last; /* group that it spells */
    FILE *out;
} writer;

/* What a switch does with the packets to one port of a leaf. */
typedef struct entry {
    fab_next_hop_list next; /* where the engine looks at more than the destination */
    fab_link_id one;        /* else */
    uint32_t count;         /* 0: no route */
} entry;

static fab_link_id link_of(const entry *e, uint32_t i) {
    return e->one != FAB_NONE ? e->one : fab_next_hop(&e->next, i);
}

static bool by_destination(const fab_router *router) {
    return router->engine->by_destination && !router->facts.splits;
}

static void find_entry(const fab_router *router, fab_node_id v, uint32_t leaf, uint32_t port, entry *out) {
    const fab_fabric *f = router->fabric;
    fab_hop_key key = {.destination = leaf * router->port_stride + port - 1};
    *out = (entry){.one = FAB_NONE};
    if (by_destination(router)) {
        out->one = fab_router_next(router, 0, v, leaf, &key);
        out->count = out->one != FAB_NONE;
    } else {
        out->next = fab_next_hops_look(router->next_hops, v - f->first[FAB_NODE_SWITCH], leaf);
        out->count = out->next.count;
    }
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/* What a link can take on towards a leaf, before it is set against the others of its switch. */
static double strength(const writer *w, fab_link_id link, uint32_t leaf) {
    const fab_fabric *f = w->f;
    uint32_t head = fab_head(f, link) - f->first[FAB_NODE_SWITCH];
    double through = w->through[(size_t)leaf * fab_n_switches(f) + head];
    const double bps = fab_class_of(f, link)->capacity_bps;
    return w->split->rule == FAB_SPLIT_CAPACITY ? fmin(bps, through * (bps / w->trunk[link]))
                                                : ldexp(w->split->weight[link], -w->scale) * through;
}

/* Sums over the paths from every switch to every leaf: FAB_SPLIT_CAPACITY and FAB_SPLIT_WEIGHT give a link what stands
 * behind it. */
static fab_status sum_paths(writer *w, fab_error *err) {
    const fab_fabric *f = w->f;
    const fab_next_hops *t = w->router->next_hops;
    size_t n = fab_n_switches(f);
    FAB_OWNS(fab_hop_order_release) fab_hop_order order = {0};
    FAB_PASS(FAB_NEW(w->through, n * t->n_leaves, err));
    FAB_PASS(fab_hop_order_init(f, &order, err));
    FAB_PASS(fab_trunk_capacities(f, t->dead_link, &w->trunk, err));
    if (w->split->rule == FAB_SPLIT_WEIGHT) { /* products along a path stay in range */
        FAB_MOST(double, most, l, f->n_links, w->split->weight[l]);
        w->scale = most > 0 ? ilogb(most) : 0;
    }
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        double *through = w->through + leaf * n;
        uint32_t loop = 0;
        FAB_REFUSE_IF(!fab_hop_order_find(f, t, leaf, &order, &loop), err, FAB_EINTERNAL, NULL,
                      "next hops run in a circle");
        through[t->leaf_node[leaf] - f->first[FAB_NODE_SWITCH]] = w->split->rule == FAB_SPLIT_CAPACITY ? INFINITY : 1;
        for (uint32_t i = 0; i < order.n; i++) {
            fab_next_hop_list next = fab_next_hops_look(t, order.order[i], leaf);
            for (uint32_t k = 0; k < next.count; k++) {
                through[order.order[i]] += strength(w, fab_next_hop(&next, k), leaf);
            }
        }
    }
    return FAB_OK;
}

/* Fractions that sum to 1; a switch that never holds anything for the leaf may have none. False where all are equal. */
static bool weigh_by_split(const writer *w, const entry *e, uint32_t leaf) {
    const fab_split *split = w->split;
    double sum = 0;
    bool differ = false;
    if (split->rule == FAB_SPLIT_EQUAL) {
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        w->weight[i] = split->rule == FAB_SPLIT_SHARE ? split->share[(size_t)leaf * w->f->n_links + link_of(e, i)]
                                                      : strength(w, link_of(e, i), leaf);
        sum += w->weight[i];
        differ = differ || w->weight[i] != w->weight[0];
    }
    for (uint32_t i = 0; i < e->count && split->rule != FAB_SPLIT_SHARE; i++) {
        w->weight[i] /= sum;
    }
    return differ && sum > 0 && isfinite(sum);
}

/* Weights of a group into w->weight; false where they are equal without a word. */
static bool weigh(const writer *w, const entry *e, uint32_t leaf) {
    const fab_router *router = w->router;
    bool differ = false;
    if (by_destination(router) || e->count == 0) {
        return false;
    }
    const double *read = fab_read_weights(router, &e->next);
    if (router->facts.splits && read != NULL) { /* engine file: as it was read */
        FAB_FILL(w->weight, e->count, read[fab_at]);
        return w->weight[0] > 0;
    }
    if (router->facts.splits) {
        return w->split != NULL && weigh_by_split(w, e, leaf);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        w->weight[i] = fab_next_hop_weight(router, &e->next, i);
        differ = differ || w->weight[i] != w->weight[0];
    }
    return differ;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* Text of an entry. */
static void spell(writer *w, const entry *e, uint32_t leaf) {
    bool weighted = weigh(w, e, leaf);
    w->text.length = 0;
    fab_str_add(&w->text, e->count == 0 ? " -" : "");
    for (uint32_t i = 0; i < e->count; i++) {
        char weight[32];
        if (weighted && !(w->weight[i] > 0)) {
            continue; /* never taken */
        }
        fab_str_printf(&w->text, "%c%u", w->text.length > 0 ? ',' : ' ', w->f->port[link_of(e, i)]);
        if (weighted) {
            fab_format_double(weight, w->weight[i]);
            fab_str_printf(&w->text, "*%s", weight);
        }
    }
}

static void put_entry(writer *w, const entry *e, uint32_t leaf) {
    fab_next_hop_list group = w->split == NULL ? e->next : (fab_next_hop_list){0};
    bool repeated = group.count > 0 && group.link == w->last.link && group.slot == w->last.slot;
    if (!repeated) { /* most lines of a switch are */
        spell(w, e, leaf);
        w->last = group;
    }
    (void)fwrite(w->text.data, 1, w->text.length, w->out);
}

/* The line of a switch for a leaf. Equal entries are written once. Returns the number of lines. */
static uint64_t put_line(writer *w, fab_node_id v, uint32_t leaf) {
    const fab_router *router = w->router;
    const fab_fabric *f = w->f;
    fab_node_id to = router->next_hops->leaf_node[leaf];
    entry first = {0};
    entry e = {0};
    bool routed = false;
    bool differ = false;
    bool is_first = true;
    FAB_EACH_LINK(f, to, link) {
        if (fab_class_of(f, link)->kind != FAB_LINK_ACCESS) {
            continue;
        }
        find_entry(router, v, leaf, f->port[link], &e);
        routed = routed || e.count > 0;
        differ = differ || (!is_first && by_destination(router) && e.one != first.one);
        first = is_first ? e : first;
        is_first = false;
    }
    if (!routed && fab_next_hops_group(router->minimal, v - f->first[FAB_NODE_SWITCH], leaf) == 0) {
        return 0;
    }
    (void)fprintf(w->out, "%s %s", FAB_SAY_NODE(f, v), FAB_SAY_NODE(f, to));
    for (uint32_t k = f->out_first[to]; k < f->out_first[to + 1]; k++) {
        if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS) {
            find_entry(router, v, leaf, f->port[f->out_link[k]], &e);
            put_entry(w, &e, leaf);
            if (!differ) {
                break;
            }
        }
    }
    (void)fputc('\n', w->out);
    return 1;
}

fab_status fab_tables_write(const fab_router *router, const fab_split *split, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = router->fabric;
    writer w = {.router = router, .f = f, .split = split, .out = out};
    const fab_next_hops *t = router->next_hops;
    char header[FAB_TABLES_HEADER];
    uint64_t n_lines = 0;
    FAB_TRY(FAB_NEW(w.weight, fab_switch_degree(f), err));
    if (w.split != NULL && (w.split->rule == FAB_SPLIT_CAPACITY || w.split->rule == FAB_SPLIT_WEIGHT)) {
        FAB_TRY(sum_paths(&w, err));
    }
    (void)fprintf(w.out, "%s\n# engine %s\n%s\n", FAB_TABLES_MAGIC, router->facts.label,
                  fab_tables_fabric_line(f, header));
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes && !ferror(w.out); v++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            if (t->leaf_node[leaf] != v) {
                n_lines += put_line(&w, v, leaf);
            }
        }
    }
    (void)fprintf(w.out, "end %" PRIu64 "\n", n_lines);
    FAB_TRY(fab_str_status(&w.text, err));
    FAB_FAIL_IF(fflush(w.out) != 0 || ferror(w.out), err, FAB_EIO, NULL, "cannot write the forwarding tables: %s",
                strerror(errno));
done:
    fab_str_release(&w.text);
    FAB_FREE_ALL(w.weight, w.through, w.trunk);
    return status;
}

fab_status fab_tables_write_phase(const fab_router *router, const fab_phase *phase, const fab_bound *known, FILE *out,
                                  fab_error *err) {
    const fab_fabric *f = router->fabric;
    FAB_OWNS(fab_dag_free_owned) fab_dag *dag = NULL;
    FAB_OWNS(fab_offer_release) fab_offer offer = {0};
    FAB_OWNS(fab_demand_release) fab_demand demand = {0};
    FAB_OWNS(fab_split_release) fab_split split = {0};
    if (!router->facts.splits) {
        return fab_tables_write(router, NULL, out, err);
    }
    FAB_PASS(router->groups.dag == NULL ? fab_dag_new(f, router->next_hops, &dag, err) : FAB_OK);
    if (router->engine->by_demand) {
        FAB_PASS(fab_offer_init(f, &router->ports, phase, &offer, err));
        FAB_PASS(fab_demand_init(f, &router->ports, router->next_hops, phase, &offer, &demand, err));
    }
    FAB_PASS(router->engine->split(router, fab_router_dag(router, dag), &demand, known, &split, err));
    return fab_tables_write(router, &split, out, err);
}

const char *fab_tables_fabric_line(const fab_fabric *f, char *out) {
    FAB_SUM(uint32_t, n_cables, c, f->n_cables, fab_is_network(&f->classes[f->cable_class[c]]));
    (void)snprintf(out, FAB_TABLES_HEADER, "fabric nics=%" PRIu32 " switches=%" PRIu32 " cables=%" PRIu32,
                   fab_n_of(f, FAB_NODE_NIC), fab_n_switches(f), n_cables);
    return out;
}
