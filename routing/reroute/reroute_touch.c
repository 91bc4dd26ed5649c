/* Which paths a mask touches, and from which hop on: found from the links, by an index of who crosses them. */
#include "baseline.h"

#define DEAD_AT_ONCE 64

/* Paths of crossings first ... last - 1, to leaves in the set `only`; NULL: to all. */
static void touch_crossings(fab_reroute *r, size_t first, size_t last, const uint64_t *only) {
    const fab_crossing *crossing = r->b->crossing;
    const fab_path_record *record = r->b->record;
    uint8_t *from = r->from;
    uint32_t *list = r->path;
    uint32_t n = r->n_touched;
    for (size_t i = first; i < last; i++) {
        const fab_crossing c = crossing[i];
        if (only != NULL && !fab_has_leaf(only, c.at & FAB_NO_COLUMN)) {
            continue;
        }
        const uint8_t known = from[c.path];
        const uint8_t place = (uint8_t)(c.at >> 24);
        list[n] = c.path;
        n += known == FAB_UNTOUCHED;
        __builtin_prefetch(&record[c.path], 0, 2);
        from[c.path] =
            (uint8_t)((known & FAB_SEGMENT_DEAD) | ((known & FAB_UNTOUCHED) < place ? known & FAB_UNTOUCHED : place));
    }
    r->n_touched = n;
}

static void touch_segment(fab_reroute *r, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        const uint32_t path = r->b->crossing[i].path;
        r->path[r->n_touched] = path;
        r->n_touched += r->from[path] == FAB_UNTOUCHED;
        r->from[path] |= FAB_SEGMENT_DEAD;
    }
}

/* Paths over dead links. `wanted`: set over leaves, to which theirs are added; NULL: none. The look-ups of one link
 * wait for each other, those of several do not. */
static void touch_dead(fab_reroute *r, uint64_t *wanted) {
    const fab_baseline *b = r->b;
    fab_link_id link[DEAD_AT_ONCE] = {0};
    size_t first[DEAD_AT_ONCE];
    size_t last[DEAD_AT_ONCE];
    for (uint32_t next = 0; next < r->mask->n_links;) {
        uint32_t n = 0;
        for (; next < r->mask->n_links && n < DEAD_AT_ONCE; next++) {
            link[n] = r->mask->link[next];
            n += r->mask->residual[link[n]] == 0;
        }
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t place = b->index->place[link[i]];
            first[i] = b->first[place];
            last[i] = b->first[place + 1];
            __builtin_prefetch(&b->crossing[first[i]]);
            __builtin_prefetch(&b->crossing[last[i]]);
        }
        for (uint32_t i = 0; i < n; i++) {
            for (size_t k = first[i]; k < last[i]; k++) {
                __builtin_prefetch(&b->record[b->crossing[k].path]);
                __builtin_prefetch(&r->from[b->crossing[k].path], 1);
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            if (fab_class_of(b->fabric, link[i])->kind == FAB_LINK_FABRIC) {
                touch_crossings(r, first[i], last[i], NULL);
            } else {
                touch_segment(r, first[i], last[i]);
            }
            for (size_t k = first[i]; wanted != NULL && k < last[i]; k++) {
                uint32_t column = b->crossing[k].at & FAB_NO_COLUMN;
                if (column != FAB_NO_COLUMN) {
                    wanted[column / 64] |= UINT64_C(1) << (column % 64);
                }
            }
        }
    }
}

/* Paths over the members of a group, those of neighbouring ports at once. */
static void touch_group(fab_reroute *r, uint32_t v, const fab_next_hop_list *list, const uint64_t *only) {
    const size_t *first = r->b->first + r->hops->t->out_first[v];
    uint32_t behind = 0;
    for (uint32_t i = 0; i < list->count; i = behind) {
        for (behind = i + 1; behind < list->count && list->slot[behind] == list->slot[behind - 1] + 1;) {
            behind++;
        }
        touch_crossings(r, first[list->slot[i]], first[list->slot[behind - 1] + 1], only);
    }
}

/* Paths through groups of a switch that have a dead member. */
static void touch_seed(fab_reroute *r, uint32_t v) {
    const fab_masked_hops *m = r->hops;
    const fab_next_hops *t = m->t;
    for (uint32_t g = t->group_first[v]; g < t->group_first[v + 1]; g++) {
        fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
        FAB_ANY(hit, i, list.count, fab_mask_link_is_dead(r->mask, fab_next_hop(&list, i)));
        if (hit) {
            touch_group(r, v, &list, NULL);
        }
    }
}

/* All paths to a leaf, from their beginning. */
static void touch_all_to(fab_reroute *r, uint32_t leaf) {
    const size_t last = r->b->to_first[leaf + 1];
    const uint32_t *to = r->b->to;
    const fab_path_record *record = r->b->record;
    uint8_t *from = r->from;
    uint32_t *list = r->path;
    uint32_t n = r->n_touched;
    for (size_t i = r->b->to_first[leaf]; i < last; i++) {
        const uint32_t path = to[i];
        const uint8_t known = from[path];
        list[n] = path;
        n += known == FAB_UNTOUCHED;
        __builtin_prefetch(&record[path], 0, 2);
        from[path] = known & FAB_SEGMENT_DEAD;
    }
    r->n_touched = n;
}

/* Paths to leaves that a switch has lost, if somebody begins behind it. */
static void touch_leaves(fab_reroute *r, const fab_loser *lost) {
    const fab_baseline *b = r->b;
    const fab_masked_hops *m = r->hops;
    if (b->index->transit[lost->node] == 0 || b->index->feeds_ends[lost->node] == 0) {
        return;
    }
    for (uint32_t w = lost->first; w <= lost->last; w++) {
        uint64_t rest = m->row[lost->row + w] & ~r->whole_leaf[w];
        r->whole_leaf[w] |= rest;
        for (; rest != 0; rest &= rest - 1) {
            uint32_t leaf = w * 64 + (uint32_t)__builtin_ctzll(rest);
            touch_all_to(r, leaf);
        }
    }
}

static bool touch_add_row(fab_reroute *r, uint32_t row) {
    const fab_masked_hops *m = r->hops;
    uint64_t any = 0;
    if (row == FAB_NO_LEAF || row == m->all_leaves) {
        return false;
    }
    const fab_loser *lost = &m->lost[m->row[row - 1]];
    for (uint32_t w = lost->first; w <= lost->last; w++) {
        uint64_t more = m->row[row + w] & ~r->whole_leaf[w];
        r->changed_leaf[w] |= more;
        any |= more;
    }
    return any != 0;
}

/* Leaves that next hops of a switch have lost. False if there are none. */
static bool find_changed(fab_reroute *r, uint32_t v) {
    const fab_masked_hops *m = r->hops;
    const uint32_t n_removed = m->n_removed[v] & ~FAB_HAS_LOST;
    const fab_exit *exit = fab_exits_of(m, v);
    const uint32_t n = n_removed <= FAB_LISTED ? 0 : m->f->out_first[m->base + v + 1] - m->t->out_first[v];
    bool any = false;
    memset(r->changed_leaf, 0, m->n_words * sizeof *r->changed_leaf);
    for (uint32_t i = 0; i < n_removed && n == 0; i++) {
        any = touch_add_row(r, fab_removed_of(m, v)[i].row) || any;
    }
    for (uint32_t i = 0; i < n; i++) {
        any = touch_add_row(r, m->row_of[exit[i].head]) || any;
    }
    return any;
}

/* Paths through a switch on the way whose next hops have lost leaves. */
static void touch_transit(fab_reroute *r, uint32_t v) {
    const fab_masked_hops *m = r->hops;
    uint32_t last = 0;
    if (!find_changed(r, v)) {
        return;
    }
    for (uint32_t w = 0; w < m->n_words; w++) {
        for (uint64_t rest = r->changed_leaf[w]; rest != 0; rest &= rest - 1) {
            uint32_t leaf = w * 64 + (uint32_t)__builtin_ctzll(rest);
            uint32_t group = fab_next_hops_group(m->t, v, leaf);
            if (group == 0 || group == last) {
                continue;
            }
            last = group;
            fab_next_hop_list list = fab_next_hops_of_group(m->t, v, m->t->group_first[v] + group - 1);
            touch_group(r, v, &list, r->changed_leaf);
        }
    }
}

fab_status fab_reroute_touch(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    const fab_masked_hops *m = r->hops;
    memset(r->whole_leaf, 0, m->n_words * sizeof *r->whole_leaf);
    if (on_loss == FAB_LOSS_RESILIENT) { /* asks about the leaves of these paths, and seldom about others */
        touch_dead(r, r->whole_leaf);
        return fab_masked_hops_find(r->hops, r->mask, true, r->asks_any_leaf ? NULL : r->whole_leaf, err);
    }
    touch_dead(r, NULL);
    if (on_loss == FAB_LOSS_NONE) {
        return FAB_OK;
    }
    FAB_PASS(fab_masked_hops_find(r->hops, r->mask, false, NULL, err));
    for (uint32_t i = 0; i < m->n_seeds; i++) {
        touch_seed(r, m->touched[i]);
    }
    for (uint32_t i = 0; i < m->n_lost; i++) {
        touch_leaves(r, &m->lost[i]);
    }
    for (uint32_t i = 0; i < m->n_touched; i++) {
        if (r->b->index->transit[m->touched[i]] != 0) {
            touch_transit(r, m->touched[i]);
        }
    }
    return FAB_OK;
}

uint32_t fab_reroute_turn(const fab_reroute *r, uint32_t path, uint32_t from) {
    const fab_masked_hops *m = r->hops;
    const fab_path_record *record = &r->b->record[path];
    const fab_link_id *link = fab_record_links(r->b, path);
    for (uint32_t i = record->n_head; i < from && fab_has_leaf(m->lost_leaf, record->column); i++) {
        if (fab_has_lost(m, fab_head(r->b->fabric, link[i]) - m->base, record->column)) {
            return i;
        }
    }
    return from;
}
