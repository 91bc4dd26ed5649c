/* Colour refinement: leaves keep a colour of their own, all other switches begin with one, and a switch is told from
 * another by the colours that its cables lead to. Rounds go by sums of hashes; what comes out is checked cable by
 * cable, so that chance decides nothing. */
#include "next_hop_rows.h"
#include "fab/rng.h"
#include "leaf_sets.h"

#define MOST_TRUNKS 1000 /* capacities of trunks: of more there is little to share; below 2^14, see label_of() */
#define MOST_ROUNDS 32   /* a fabric that needs more is no tree, and has little to share */

typedef struct seen {
    uint64_t digest;
    uint32_t colour, v;
} seen;

/* A live cable of a switch. */
typedef struct end {
    uint64_t key; /* first switch of the class at the other end, link class, which directions live */
    uint32_t link;
} end;

/* Links from one class of switches to another. */
typedef struct bundle {
    uint64_t key;
    uint32_t link, count;
    uint32_t per_switch;
} bundle;

typedef struct search {
    const fab_fabric *f;
    const uint64_t *dead;
    uint32_t base, n_switches, n_leaves, n_colours;
    const uint32_t *leaf_index;
    uint32_t *trunk;  /* [link]: number of the capacity from its switch to the next */
    uint32_t *colour; /* [switch]: leaves 0 ... n_leaves - 1 */
    seen *order;      /* of the switches that are no leaves */
    fab_switch_classes *classes;
    end *ends; /* of the switch at hand */
    bundle *bundle;
    uint32_t *first_bundle; /* [switch]: of the first of a class */
    size_t n_bundles, bundle_capacity;
} search;

FAB_FREES_WHOLE(fab_switch_classes_free, fab_switch_classes, first, size, link_first, link_count);

bool fab_switch_classes_agree(const fab_switch_classes *classes, const double *x) {
    FAB_ANY(found, l, classes->n_links, x[l] != x[classes->link_first[l]]);
    return !found;
}

/* Of a link that leaves a switch: 0 where it leads to no switch or is dead in both directions. */
static uint32_t label_of(const search *s, fab_link_id link) {
    if (fab_class_of(s->f, link)->kind != FAB_LINK_FABRIC) {
        return 0;
    }
    uint32_t live = (fab_link_is_dead(s->dead, link) ? 0 : 1) | (fab_link_is_dead(s->dead, link ^ 1U) ? 0 : 2);
    return live == 0 ? 0 : s->trunk[link] << 18 | (uint32_t)s->f->cable_class[link >> 1] << 2 | live;
}

static bool little_to_share(const search *s) {
    return (uint64_t)s->n_colours * 4 > (uint64_t)s->n_switches * 3;
}

/* --- trunks --- */

fab_status fab_trunk_capacities(const fab_fabric *f, const uint64_t *dead_link, double **out, fab_error *err) {
    const fab_node_id base = f->first[FAB_NODE_SWITCH];
    FAB_OWNED_NEW(double, trunk, f->n_links, err);
    FAB_OWNED_NEW(double, to, fab_n_switches(f), err); /* 0 between switches */
    for (fab_node_id v = base; v < base + fab_n_switches(f); v++) {
        FAB_EACH_LINK(f, v, added) {
            const fab_link_class *k = fab_class_of(f, added);
            if (k->kind == FAB_LINK_FABRIC) {
                to[fab_head(f, added) - base] += fab_link_is_dead(dead_link, added) ? 0 : k->capacity_bps;
            }
        }
        FAB_EACH_LINK(f, v, noted) {
            trunk[noted] = fab_class_of(f, noted)->kind == FAB_LINK_FABRIC ? to[fab_head(f, noted) - base] : 0;
        }
        FAB_EACH_LINK(f, v, cleared) {
            if (fab_class_of(f, cleared)->kind == FAB_LINK_FABRIC) {
                to[fab_head(f, cleared) - base] = 0;
            }
        }
    }
    return FAB_GIVE(*out, trunk);
}

/* *out_few: there are no more than MOST_TRUNKS. */
static fab_status number_trunks(search *s, bool *out_few, fab_error *err) {
    double known[MOST_TRUNKS];
    uint32_t n = 0;
    FAB_OWNED double *trunk = NULL;
    FAB_PASS(fab_trunk_capacities(s->f, s->dead, &trunk, err));
    FAB_PASS(FAB_NEW(s->trunk, s->f->n_links, err));
    for (uint32_t l = 0; l < s->f->n_links && n <= MOST_TRUNKS; l++) {
        FAB_FIRST_IN(i, l > 0 && trunk[l] == trunk[l - 1] ? s->trunk[l - 1] : 0, n, known[i] == trunk[l]);
        if (i == n && n++ < MOST_TRUNKS) {
            known[i] = trunk[l];
        }
        s->trunk[l] = i;
    }
    *out_few = n <= MOST_TRUNKS;
    return FAB_OK;
}

/* --- colours ------------------------------------------------------------------------------------------------------ */

FAB_ORDER_THREE(by_sight, seen, colour, digest, v);

static uint64_t sight_of(const search *s, uint32_t v) {
    uint64_t digest = 0;
    FAB_EACH_LINK(s->f, s->base + v, link) {
        uint32_t label = label_of(s, link);
        if (label != 0) {
            digest += fab_mix64((uint64_t)s->colour[fab_head(s->f, link) - s->base] << 32 | label);
        }
    }
    return digest;
}

/* Splits classes by what their switches see. Returns whether any was split. */
static bool refine(search *s) {
    uint32_t n = s->n_switches - s->n_leaves;
    uint32_t before = s->n_colours;
    for (uint32_t v = 0, i = 0; v < s->n_switches; v++) {
        if (s->leaf_index[v] == FAB_NONE) {
            s->order[i++] = (seen){sight_of(s, v), s->colour[v], v};
        }
    }
    qsort(s->order, n, sizeof *s->order, by_sight);
    s->n_colours = s->n_leaves;
    for (uint32_t i = 0; i < n; i++) {
        bool same =
            i > 0 && s->order[i].colour == s->order[i - 1].colour && s->order[i].digest == s->order[i - 1].digest;
        s->n_colours += same ? 0 : 1;
        s->colour[s->order[i].v] = s->n_colours - 1;
    }
    return s->n_colours > before;
}

/* Returns whether a partition was found that does not split any more and is worth it. */
static bool find_colours(search *s) {
    FAB_FILL(s->colour, s->n_switches, s->leaf_index[fab_at] != FAB_NONE ? s->leaf_index[fab_at] : s->n_leaves);
    s->n_colours = s->n_leaves + (s->n_leaves < s->n_switches ? 1 : 0);
    for (uint32_t round = 0; round < MOST_ROUNDS && !little_to_share(s); round++) {
        if (!refine(s)) {
            return true;
        }
    }
    return false;
}

static fab_status number_classes(search *s, fab_error *err) {
    FAB_OWNED_NEW(uint32_t, first, s->n_colours, err);
    FAB_OWNED_NEW(uint32_t, size, s->n_colours, err);
    for (uint32_t v = s->n_switches; v-- > 0;) {
        first[s->colour[v]] = v;
        size[s->colour[v]]++;
    }
    for (uint32_t v = 0; v < s->n_switches; v++) {
        s->classes->first[v] = first[s->colour[v]];
        s->classes->size[v] = size[s->colour[v]];
    }
    s->classes->n_classes = s->n_colours;
    return FAB_OK;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_TWO(classes_by_key, end, key, link);

static uint32_t list_ends(search *s, uint32_t v) {
    uint32_t n = 0;
    bool sorted = true;
    FAB_EACH_LINK(s->f, s->base + v, link) {
        uint32_t label = label_of(s, link);
        if (label != 0) {
            uint32_t head = s->classes->first[fab_head(s->f, link) - s->base];
            s->ends[n] = (end){(uint64_t)head << 32 | label, link};
            sorted = sorted && (n == 0 || s->ends[n - 1].key <= s->ends[n].key);
            n++;
        }
    }
    if (!sorted) {
        qsort(s->ends, n, sizeof *s->ends, classes_by_key);
    }
    return n;
}

/* Puts the links of a switch to those of its class. *out_alike: it has as many as the first one to every class. */
static fab_status bundle_links(search *s, uint32_t v, bool *out_alike, fab_error *err) {
    bool leads = s->classes->first[v] == v;
    uint32_t n = list_ends(s, v);
    size_t at = leads ? s->n_bundles : s->first_bundle[s->classes->first[v]];
    *out_alike = true;
    if (leads) {
        s->first_bundle[v] = (uint32_t)at;
    }
    for (uint32_t i = 0; i < n; at++) {
        uint32_t from = i;
        while (i < n && s->ends[i].key == s->ends[from].key) {
            i++;
        }
        if (leads) {
            FAB_PASS(FAB_GROW(s->bundle, s->bundle_capacity, at + 1, err));
            s->bundle[at] = (bundle){s->ends[from].key, s->ends[from].link, 0, i - from};
            s->n_bundles = at + 1;
        }
        if (at >= s->n_bundles || s->bundle[at].key != s->ends[from].key || s->bundle[at].per_switch != i - from) {
            *out_alike = false;
            return FAB_OK;
        }
        s->bundle[at].count += i - from;
        for (uint32_t k = from; k < i; k++) {
            s->bundle[at].link = s->ends[k].link < s->bundle[at].link ? s->ends[k].link : s->bundle[at].link;
            s->classes->link_first[s->ends[k].link] = (uint32_t)at; /* until all are known */
        }
    }
    if (leads) { /* ends the class's list */
        FAB_PASS(FAB_GROW(s->bundle, s->bundle_capacity, at + 1, err));
        s->bundle[at] = (bundle){.key = UINT64_MAX};
        s->n_bundles = at + 1;
    }
    *out_alike = s->bundle[at].key == UINT64_MAX;
    return FAB_OK;
}

/* *out_alike false: not equitable after all. */
static fab_status classes_find_links(search *s, bool *out_alike, fab_error *err) {
    fab_switch_classes *t = s->classes;
    memset(t->link_first, 0xff, s->f->n_links * sizeof *t->link_first); /* FAB_NONE */
    *out_alike = true;
    for (uint32_t v = 0; v < s->n_switches && *out_alike; v++) {
        FAB_PASS(bundle_links(s, v, out_alike, err));
    }
    for (uint32_t l = 0; *out_alike && l < s->f->n_links; l++) {
        if (t->link_first[l] == FAB_NONE) {
            t->link_first[l] = l;
            t->link_count[l] = 1;
            continue;
        }
        const bundle *b = &s->bundle[t->link_first[l]];
        t->link_first[l] = b->link;
        t->link_count[b->link] = b->count;
    }
    return FAB_OK;
}

static fab_status classes_make(search *s, fab_switch_classes **out, fab_error *err) {
    bool alike = false;
    FAB_PASS(FAB_NEW(s->classes, 1, err));
    s->classes->n_links = s->f->n_links;
    FAB_PASS(FAB_NEW_ALL(s->n_switches, err, s->classes->first, s->classes->size, s->first_bundle));
    FAB_PASS(FAB_NEW_ALL(s->f->n_links, err, s->classes->link_first, s->classes->link_count));
    FAB_PASS(FAB_NEW(s->ends, fab_switch_degree(s->f), err));
    FAB_PASS(number_classes(s, err));
    FAB_PASS(classes_find_links(s, &alike, err));
    if (alike) {
        *out = s->classes;
        s->classes = NULL;
    }
    return FAB_OK;
}

fab_status fab_switch_classes_find(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_switch_classes **out,
                                   fab_error *err) {
    fab_status status = FAB_OK;
    bool has_few = false;
    search s = {.f = fabric,
                .dead = next_hops->dead_link,
                .base = fabric->first[FAB_NODE_SWITCH],
                .n_switches = next_hops->n_switches,
                .n_leaves = next_hops->n_leaves,
                .n_colours = next_hops->n_leaves,
                .leaf_index = next_hops->leaf_index};
    *out = NULL;
    if (little_to_share(&s)) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(s.colour, s.n_switches, err));
    FAB_TRY(FAB_NEW(s.order, s.n_switches - s.n_leaves, err));
    FAB_TRY(number_trunks(&s, &has_few, err));
    FAB_TRY(has_few && find_colours(&s) ? classes_make(&s, out, err) : FAB_OK);
done:
    FAB_FREE_ALL(s.trunk, s.colour, s.order, s.ends, s.bundle, s.first_bundle);
    fab_switch_classes_free(s.classes);
    return status;
}
