/* Dependencies of all minimal paths of a demand, 64 destination leaves at a time, a bit each.
 *
 * held[s] are the leaves that packets at switch s may be heading for. They spread from the sources: what is new at a
 * switch goes over the next hops of its groups, until nothing is new. used[l] are the leaves that link l is taken for.
 * Link l into switch s can be followed by all next hops of a group of s if one of the group's leaves is in used[l];
 * leaves of a group found are dropped from what is left to look at, so that a link costs as much as it finds groups.
 *
 * Of switches that are alike (switch_classes.h) only the first is looked at, and of links that are alike one set is
 * kept: what may follow what at the first switch of a class holds for all of them, link class by link class. */
#include "fab/dependencies.h"
#include "next_hops/next_hop_rows.h"
#include "next_hops/leaf_sets.h"

#define BLOCK 64

typedef struct spread {
    fab_dependencies *d;
    const fab_next_hops *t;
    const fab_switch_classes *classes; /* NULL: every switch for itself */
    uint32_t *slot;   /* [link], of the lowest of a class: of `used`. With classes only, as the next two */
    uint64_t *bit;    /* as d->bit: what is found at first switches; else d->bit itself */
    uint32_t *row_of; /* [slot]: row of the first switch of the class at hand */
    uint32_t n_used;
    uint32_t base, n;
    uint32_t first_leaf, n_leaves; /* of the block */
    uint64_t *held, *fresh;        /* [switch]; fresh: not passed on yet */
    uint64_t *used;                /* [n_used]: by place in d->link, or by class */
    uint32_t *queue;               /* ring of the switches with something fresh, n of them at most */
    uint32_t head, n_queued;
    /* of the switch at hand */
    uint64_t *of_group;   /* [group]: leaves */
    uint64_t *members;    /* [group][words of a row]: next hops as columns */
    uint32_t *group_list; /* those with leaves */
    uint32_t n_groups;
} spread;

static bool leads(const spread *s, uint32_t v) {
    return s->classes == NULL || s->classes->first[v] == v;
}

/* The switch that stands for the head of a link. */
static uint32_t head_of(const spread *s, fab_link_id link) {
    uint32_t head = fab_head(s->d->fabric, link) - s->base;
    return s->classes != NULL ? s->classes->first[head] : head;
}

static uint32_t slot_of(const spread *s, fab_link_id link) {
    return s->classes != NULL ? s->slot[s->classes->link_first[link]]
                              : s->d->first[fab_tail(s->d->fabric, link) - s->base] + s->d->place[link];
}

static fab_status number_slots(spread *s, fab_error *err) {
    const fab_dependencies *d = s->d;
    s->n_used = d->first[s->n];
    s->bit = d->bit;
    if (s->classes == NULL) {
        return FAB_OK;
    }
    s->bit = NULL;
    FAB_PASS(FAB_NEW(s->bit, d->word[s->n], err));
    FAB_PASS(FAB_NEW(s->slot, d->fabric->n_links, err));
    s->n_used = 0;
    for (uint32_t l = 0; l < d->fabric->n_links; l++) {
        if (d->place[l] != FAB_NONE && s->classes->link_first[l] == l) {
            s->slot[l] = s->n_used++;
        }
    }
    return FAB_NEW(s->row_of, s->n_used, err);
}

static fab_status new_spread(fab_dependencies *d, const fab_next_hops *t, const fab_switch_classes *classes, spread *s,
                             fab_error *err) {
    size_t most_groups = 0;
    size_t most_words = 0;
    *s = (spread){
        .d = d, .t = t, .classes = classes, .base = d->fabric->first[FAB_NODE_SWITCH], .n = fab_n_switches(d->fabric)};
    FAB_PASS(number_slots(s, err));
    for (uint32_t v = 0; v < s->n; v++) {
        size_t groups = t->group_first[v + 1] - t->group_first[v] + 1;
        size_t words = groups * (((size_t)d->first[v + 1] - d->first[v] + 63) / 64);
        most_groups = groups > most_groups ? groups : most_groups;
        most_words = words > most_words ? words : most_words;
    }
    FAB_PASS(FAB_NEW_ALL(s->n, err, s->held, s->fresh, s->queue));
    FAB_PASS(FAB_NEW(s->used, s->n_used, err));
    FAB_PASS(FAB_NEW(s->of_group, most_groups, err));
    FAB_PASS(FAB_NEW(s->members, most_words, err));
    return FAB_NEW(s->group_list, most_groups, err);
}

static void release_spread(spread *s) {
    if (s->classes != NULL) {
        free(s->bit);
    }
    FAB_FREE_ALL(s->slot, s->row_of, s->held, s->fresh, s->used, s->queue, s->of_group, s->members, s->group_list);
}

/* Leaf of the block's lowest bit. */
static uint32_t lowest(const spread *s, uint64_t leaves) {
    return s->first_leaf + (uint32_t)__builtin_ctzll(leaves);
}

/* Sorts a set of leaves by the groups of switch v that serve them. Undo with forget(). */
static void sort_by_group(spread *s, uint32_t v, uint64_t leaves) {
    s->n_groups = 0;
    for (; leaves != 0; leaves &= leaves - 1) {
        uint32_t group = fab_next_hops_group(s->t, v, lowest(s, leaves));
        if (group == 0) { /* v is the leaf, or there is no way */
            continue;
        }
        if (s->of_group[group] == 0) {
            s->group_list[s->n_groups++] = group;
        }
        s->of_group[group] |= leaves & (~leaves + 1);
    }
}

static void forget(spread *s) {
    for (uint32_t i = 0; i < s->n_groups; i++) {
        s->of_group[s->group_list[i]] = 0;
    }
}

static void hold(spread *s, uint32_t v, uint64_t leaves) {
    uint64_t fresh = leaves & ~s->held[v];
    if (fresh != 0 && s->fresh[v] == 0) {
        s->queue[(s->head + s->n_queued++) % s->n] = v;
    }
    s->held[v] |= fresh;
    s->fresh[v] |= fresh;
}

static void pass_on(spread *s, uint32_t v) {
    const fab_next_hops *t = s->t;
    sort_by_group(s, v, s->fresh[v]);
    s->fresh[v] = 0;
    for (uint32_t i = 0; i < s->n_groups; i++) {
        uint64_t leaves = s->of_group[s->group_list[i]];
        fab_next_hop_list next = fab_next_hops_of_group(t, v, t->group_first[v] + s->group_list[i] - 1);
        for (uint32_t k = 0; k < next.count; k++) {
            fab_link_id link = fab_next_hop(&next, k);
            s->used[slot_of(s, link)] |= leaves;
            hold(s, head_of(s, link), leaves);
        }
    }
    forget(s);
}

/* Columns of the groups at hand of switch v. */
static void minimal_list_members(spread *s, uint32_t v, size_t words) {
    const fab_next_hops *t = s->t;
    for (uint32_t i = 0; i < s->n_groups; i++) {
        uint64_t *columns = &s->members[s->group_list[i] * words];
        uint32_t entry = t->group_first[v] + s->group_list[i] - 1;
        FAB_FILL(columns, words, 0);
        fab_next_hop_list next = fab_next_hops_of_group(t, v, entry);
        for (uint32_t k = 0; k < next.count; k++) {
            uint32_t column = s->d->place[fab_next_hop(&next, k)];
            columns[column / 64] |= UINT64_C(1) << (column & 63);
        }
    }
}

/* Adds the dependencies through switch v. */
static void minimal_join(spread *s, uint32_t v) {
    const fab_dependencies *d = s->d;
    uint32_t n = d->first[v + 1] - d->first[v];
    size_t words = ((size_t)n + 63) / 64;
    sort_by_group(s, v, s->held[v]);
    minimal_list_members(s, v, words);
    for (uint32_t row = 0; s->n_groups > 0 && row < n; row++) {
        fab_link_id out = d->link[d->first[v] + row];
        uint64_t *bits = &s->bit[d->word[v] + row * words];
        for (uint64_t rest = s->used[slot_of(s, out ^ 1U)]; rest != 0;) {
            uint32_t group = fab_next_hops_group(s->t, v, lowest(s, rest));
            if (group == 0) {
                rest &= rest - 1;
                continue;
            }
            for (size_t i = 0; i < words; i++) {
                bits[i] |= s->members[group * words + i];
            }
            rest &= ~s->of_group[group];
        }
    }
    forget(s);
}

static void minimal_start(spread *s, const fab_demand *demand) {
    memset(s->held, 0, s->n * sizeof *s->held);
    memset(s->used, 0, s->n_used * sizeof *s->used);
    for (uint32_t i = 0; i < s->n_leaves; i++) {
        for (uint32_t pair = demand->first[s->first_leaf + i]; pair < demand->first[s->first_leaf + i + 1]; pair++) {
            hold(s, s->t->leaf_node[demand->src[pair]] - s->base, UINT64_C(1) << i);
        }
    }
}

/* Whether port by port the cables of two switches lead to the same classes; then so do those that come in. */
static bool same_ports(const spread *s, uint32_t v, uint32_t first) {
    const fab_dependencies *d = s->d;
    uint32_t n = d->first[v + 1] - d->first[v];
    const fab_link_id *mine = d->link + d->first[v];
    const fab_link_id *theirs = d->link + d->first[first];
    if (d->first[first + 1] - d->first[first] != n) { /* dead cables count as well */
        return false;
    }
    FAB_ANY(found, i, n, slot_of(s, mine[i]) != slot_of(s, theirs[i]));
    return !found;
}

static void set_bit(fab_dependencies *d, uint32_t v, uint32_t row, uint32_t column) {
    size_t words = ((size_t)d->first[v + 1] - d->first[v] + 63) / 64;
    d->bit[d->word[v] + row * words + column / 64] |= UINT64_C(1) << (column & 63);
}

static bool has_bit(const spread *s, uint32_t v, uint32_t row, uint32_t column) {
    const fab_dependencies *d = s->d;
    size_t words = ((size_t)d->first[v + 1] - d->first[v] + 63) / 64;
    return (s->bit[d->word[v] + row * words + column / 64] >> (column & 63) & 1) != 0;
}

/* A cable with a dead direction has a class like any other; one that is dead in both stands alone and carries nothing.
 */
static bool is_used(const spread *s, fab_link_id link) {
    return !fab_link_is_dead(s->t->dead_link, link) || !fab_link_is_dead(s->t->dead_link, link ^ 1U);
}

/* What was found at the first switch of a class, at another one whose ports are in another order. */
static void translate(spread *s, uint32_t v, uint32_t first) {
    fab_dependencies *d = s->d;
    uint32_t n = d->first[v + 1] - d->first[v];
    for (uint32_t i = d->first[first]; i < d->first[first + 1]; i++) {
        s->row_of[slot_of(s, d->link[i])] = i - d->first[first];
    }
    for (uint32_t row = 0; row < n; row++) {
        fab_link_id in = d->link[d->first[v] + row];
        for (uint32_t column = 0; is_used(s, in) && column < n; column++) {
            fab_link_id out = d->link[d->first[v] + column];
            if (is_used(s, out) && has_bit(s, first, s->row_of[slot_of(s, in)], s->row_of[slot_of(s, out)])) {
                set_bit(d, v, row, column);
            }
        }
    }
}

static void spread_bits(spread *s) {
    fab_dependencies *d = s->d;
    for (uint32_t v = 0; s->classes != NULL && v < s->n; v++) {
        uint32_t first = s->classes->first[v];
        if (!same_ports(s, v, first)) {
            translate(s, v, first);
            continue;
        }
        for (size_t w = 0; w < d->word[v + 1] - d->word[v]; w++) {
            d->bit[d->word[v] + w] |= s->bit[d->word[first] + w];
        }
    }
}

fab_status fab_dependencies_add_minimal(fab_dependencies *d, const fab_next_hops *next_hops,
                                        const fab_switch_classes *classes, const fab_demand *demand, fab_error *err) {
    spread s;
    fab_status status = new_spread(d, next_hops, classes, &s, err);
    for (uint32_t leaf = 0; status == FAB_OK && leaf < demand->n_leaves; leaf += BLOCK) {
        s.first_leaf = leaf;
        s.n_leaves = demand->n_leaves - leaf < BLOCK ? demand->n_leaves - leaf : BLOCK;
        minimal_start(&s, demand);
        while (s.n_queued > 0) {
            uint32_t v = s.queue[s.head];
            s.head = (s.head + 1) % s.n;
            s.n_queued--;
            pass_on(&s, v);
        }
        for (uint32_t v = 0; v < s.n; v++) {
            if (leads(&s, v)) {
                minimal_join(&s, v);
            }
        }
    }
    if (status == FAB_OK) {
        spread_bits(&s);
    }
    release_spread(&s);
    return status;
}
