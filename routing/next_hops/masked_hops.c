/* Next hops under a mask.
 *
 * A next hop is gone when its link is dead or its head has lost the leaf: none of the head's minimal next hops is left,
 * so that its distance has grown. What a switch has lost is found from the dead links upwards, against the direction of
 * packets, and kept as a bit set over leaves. All others keep their distance, so that their next hops are the old ones
 * without those that are gone; nothing new can appear among them, since distances only grow. A switch that has lost a
 * leaf is on nobody's way there but of those that have lost it too: only then distances are searched for again.
 *
 * Leaves of a tree lie on nobody's way to another leaf. What they lost matters to themselves alone, and shows when
 * nothing is left of a group.
 *
 * What is gone is listed at the tails of the links, so that a look-up need not ask every head. Not at tails where no
 * path begins and that have lost the same leaves themselves: nobody who goes there comes by. */
#include "masked.h"

#define FAR UINT16_MAX

/* --- index -------------------------------------------------------------------------------------------------------- */

/* A head lies on the way to a leaf that it is not itself: groups that serve several leaves cannot end at all of them.
 */
static void find_transit(fab_hops_index *x) {
    const fab_next_hops *t = x->next_hops;
    const uint32_t base = x->fabric->first[FAB_NODE_SWITCH];
    for (uint32_t v = 0; v < t->n_switches; v++) {
        uint32_t last = 0;
        bool repeats = false;
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            uint32_t group = fab_next_hops_group(t, v, leaf);
            if (group == 0 || (group == last && repeats)) {
                continue;
            }
            repeats = group == last;
            last = group;
            fab_next_hop_list list = fab_next_hops_look(t, v, leaf);
            for (uint32_t i = 0; i < list.count; i++) {
                fab_node_id head = fab_head(x->fabric, fab_next_hop(&list, i));
                if (repeats || head != t->leaf_node[leaf]) {
                    x->transit[head - base] = 1;
                }
            }
        }
    }
}

/* Where a row has a group is needed for few groups: from its first leaf to its last. */
static fab_status find_spans(fab_hops_index *x, fab_error *err) {
    const fab_next_hops *t = x->next_hops;
    FAB_PASS(FAB_NEW(x->span, t->group_first[t->n_switches], err));
    FAB_FILL(x->span, t->group_first[t->n_switches], (fab_leaf_span){FAB_NONE, 0});
    for (uint32_t v = 0; v < t->n_switches; v++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            uint32_t group = fab_next_hops_group(t, v, leaf);
            if (group != 0) {
                fab_leaf_span *span = &x->span[t->group_first[v] + group - 1];
                span->first = span->first == FAB_NONE ? leaf : span->first;
                span->last = leaf;
            }
        }
    }
    return FAB_OK;
}

static fab_status list_neighbours(fab_hops_index *x, fab_error *err) {
    const fab_fabric *f = x->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const uint32_t n_switches = fab_n_switches(f);
    uint32_t n = 0;
    FAB_OWNED_NEW(uint32_t, seen, n_switches, err); /* the switch + 1 at which a neighbour was met last */
    FAB_PASS(FAB_NEW(x->before_first, (size_t)n_switches + 1, err));
    FAB_PASS(FAB_NEW(x->before, (size_t)f->out_first[f->n_nodes] - f->out_first[base], err));
    for (uint32_t v = 0; v < n_switches; v++) {
        FAB_EACH_LINK(f, base + v, link) {
            fab_node_id w = fab_head(f, link);
            if (w >= base && x->transit[w - base] != 0 && seen[w - base] != v + 1) {
                seen[w - base] = v + 1;
                x->before[n++] = w - base;
            }
        }
        x->before_first[v + 1] = n;
    }
    return FAB_OK;
}

/* Links of a switch. */
static void list_exits(fab_hops_index *x, uint32_t v) {
    const fab_fabric *f = x->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const uint32_t first = f->out_first[base + v];
    const uint32_t n = f->out_first[base + v + 1] - first;
    fab_exit *exit = x->exit + (first - f->out_first[base]);
    uint16_t *back_slot = x->back_slot + (first - f->out_first[base]);
    bool any = false;
    x->degree = n > x->degree ? n : x->degree;
    for (uint32_t i = 0; i < n; i++) {
        const fab_link_id link = f->out_link[first + i];
        const fab_node_id head = fab_head(f, link);
        exit[i] = (fab_exit){link, head >= base ? head - base : x->next_hops->n_switches};
        back_slot[i] = (uint16_t)(x->place[link ^ 1U] - f->out_first[head]);
        if (head >= base) {
            x->n_before_exits[v] = any ? x->n_before_exits[v] : i;
            x->n_exits[v] = i + 1 - x->n_before_exits[v];
            x->feeds_ends[v] |= x->transit[head - base] == 0;
            any = true;
        }
    }
}

fab_status fab_hops_index_init(const fab_fabric *f, const fab_next_hops *next_hops, fab_hops_index *out,
                               fab_error *err) {
    FAB_OWNS(fab_hops_index_release) fab_hops_index x = {.fabric = f, .next_hops = next_hops};
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    FAB_REFUSE_IF(next_hops->dead_link != NULL, err, FAB_EUNSUPPORTED, NULL,
                  "masks start from the next hops of a healthy fabric");
    FAB_PASS(FAB_NEW(x.place, f->n_links, err));
    FAB_PASS(FAB_NEW_ALL(next_hops->n_switches, err, x.n_before_exits, x.n_exits, x.transit, x.feeds_ends));
    FAB_PASS(FAB_NEW_ALL((size_t)f->out_first[f->n_nodes] - f->out_first[base], err, x.exit, x.back_slot));
    for (uint32_t k = 0; k < f->n_links; k++) {
        x.place[f->out_link[k]] = k;
    }
    find_transit(&x);
    for (uint32_t v = 0; v < next_hops->n_switches; v++) {
        list_exits(&x, v);
    }
    FAB_PASS(find_spans(&x, err));
    FAB_PASS(list_neighbours(&x, err));
    return FAB_GIVE(*out, x);
}

FAB_RELEASES(fab_hops_index_release, fab_hops_index, place, n_before_exits, n_exits, exit, back_slot, span, transit,
             feeds_ends, before_first, before);

/* --- a mask ------------------------------------------------------------------------------------------------------- */

fab_status fab_masked_hops_new(const fab_hops_index *index, fab_masked_hops **out, fab_error *err) {
    const fab_fabric *f = index->fabric;
    const fab_next_hops *t = index->next_hops;
    FAB_OWNS_NEW(fab_masked_hops_free_owned, fab_masked_hops, m, 1, err);
    m->index = index;
    m->f = f;
    m->t = t;
    m->base = f->first[FAB_NODE_SWITCH];
    m->first_link = f->out_first[m->base];
    m->n_words = (t->n_leaves + 63) / 64;
    FAB_PASS(FAB_NEW_ALL(t->n_switches, err, m->n_removed, m->listed, m->near, m->lost, m->fifo));
    FAB_PASS(FAB_NEW(m->removed, (size_t)t->n_switches * FAB_LISTED, err));
    FAB_PASS(FAB_NEW_ALL((size_t)t->n_switches + 1, err, m->touched, m->row_of));
    FAB_PASS(FAB_NEW(m->lost_leaf, m->n_words, err));
    FAB_PASS(FAB_NEW(m->slot, index->degree, err));
    FAB_PASS(FAB_NEW(m->distance, (size_t)FAB_DETOURS * t->n_switches, err));
    FAB_PASS(FAB_GROW(m->row, m->row_capacity, 2 * (size_t)m->n_words, err));
    m->all_leaves = m->n_words;
    memset(m->row, 0, m->n_words * sizeof *m->row);
    memset(m->row + m->all_leaves, 0xff, m->n_words * sizeof *m->row);
    memset(m->detour, 0xff, sizeof m->detour);
    return FAB_GIVE(*out, m);
}

FAB_FREES_WHOLE(fab_masked_hops_free, fab_masked_hops, n_removed, removed, listed, near, touched, row_of, lost, row,
                lost_leaf, queue, slot, distance, fifo);

static void masked_clear(fab_masked_hops *m) {
    for (uint32_t i = 0; i < m->n_touched; i++) {
        m->n_removed[m->touched[i]] = 0;
    }
    for (uint32_t i = 0; i < m->n_lost; i++) {
        m->n_removed[m->lost[i].node] = 0;
        m->row_of[m->lost[i].node] = FAB_NO_LEAF;
    }
    memset(m->lost_leaf, 0, m->n_words * sizeof *m->lost_leaf);
    m->n_touched = 0;
    m->n_lost = 0;
    m->n_queue = 0;
    memset(m->detour, 0xff, sizeof m->detour);
}

/* Keeps the order by slot. */
static inline void remove_slot(fab_masked_hops *m, uint32_t v, uint32_t slot, uint32_t row) {
    fab_removed *list = m->removed + (size_t)v * FAB_LISTED;
    uint32_t at = m->n_removed[v]++ & ~FAB_HAS_LOST;
    m->touched[m->n_touched] = v;
    m->n_touched += at == 0;
    if (at >= FAB_LISTED) {
        return;
    }
    for (; at > 0 && list[at - 1].slot > slot; at--) {
        list[at] = list[at - 1];
    }
    list[at] = (fab_removed){slot, row};
}

static fab_status begin_row(fab_masked_hops *m, uint32_t v, fab_error *err) {
    const size_t size = 1 + 2 * (size_t)m->n_words;
    const size_t at = 2 * (size_t)m->n_words + m->n_lost * size;
    FAB_REFUSE_IF(at + size > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "%u switches have lost leaves, of which %u are too many to note", m->n_lost + 1, m->t->n_leaves);
    FAB_PASS(FAB_GROW(m->row, m->row_capacity, at + size, err));
    memset(m->row + at, 0, size * sizeof *m->row);
    m->row[at] = m->n_lost;
    m->row_of[v] = (uint32_t)at + 1;
    m->lost[m->n_lost++] = (fab_loser){v, m->row_of[v], FAB_NONE, 0, FAB_NONE, 0};
    return FAB_OK;
}

static fab_status lose(fab_masked_hops *m, uint32_t v, uint32_t leaf, fab_error *err) {
    const uint32_t word = leaf / 64;
    const uint64_t bit = UINT64_C(1) << (leaf % 64);
    FAB_PASS(m->row_of[v] == FAB_NO_LEAF ? begin_row(m, v, err) : FAB_OK);
    uint64_t *row = m->row + m->row_of[v];
    fab_loser *lost = &m->lost[row[-1]];
    if (lost->fresh_first > lost->fresh_last) {
        FAB_PASS(FAB_APPEND(m->queue, m->n_queue, m->queue_capacity, err, (uint32_t)row[-1]));
    }
    lost->first = word < lost->first ? word : lost->first;
    lost->last = word > lost->last ? word : lost->last;
    lost->fresh_first = word < lost->fresh_first ? word : lost->fresh_first;
    lost->fresh_last = word > lost->fresh_last ? word : lost->fresh_last;
    row[word] |= bit;
    row[m->n_words + word] |= bit;
    m->lost_leaf[word] |= bit;
    return FAB_OK;
}

/* Groups of a switch whose links are all dead, and the leaves that they served. */
static fab_status lose_groups(fab_masked_hops *m, uint32_t v, const uint64_t *wanted, fab_error *err) {
    const fab_next_hops *t = m->t;
    const uint32_t first = t->group_first[v];
    const uint32_t n_dead = m->n_removed[v] & ~FAB_HAS_LOST;
    for (uint32_t g = first; g < t->group_first[v + 1]; g++) {
        fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
        bool alive = list.count > n_dead;
        for (uint32_t i = 0; i < list.count && !alive; i++) {
            alive = !fab_mask_link_is_dead(m->mask, fab_next_hop(&list, i));
        }
        for (uint32_t leaf = m->index->span[g].first; !alive && leaf <= m->index->span[g].last; leaf++) {
            if (fab_next_hops_group(t, v, leaf) == g - first + 1 && (wanted == NULL || fab_has_leaf(wanted, leaf))) {
                FAB_PASS(lose(m, v, leaf, err));
            }
        }
    }
    return FAB_OK;
}

/* Whether the way from switch v to a leaf has lost its last next hop. *healthy: its group, if a member is left for
 * every leaf. */
static bool has_no_next_hop(const fab_masked_hops *m, uint32_t v, uint32_t leaf, uint32_t *whole) {
    const uint32_t group = fab_next_hops_group(m->t, v, leaf);
    if (group == 0 || group == *whole) {
        return false;
    }
    const fab_next_hop_list list = fab_next_hops_of_group(m->t, v, m->t->group_first[v] + group - 1);
    const fab_exit *exit = fab_exits_of(m, v);
    for (uint32_t i = 0; i < list.count; i++) {
        const fab_exit to = exit[list.slot[i]];
        const uint32_t row = m->row_of[to.head];
        if (!fab_row_has(m, row, leaf) && !fab_mask_link_is_dead(m->mask, to.link)) {
            *whole = row == FAB_NO_LEAF ? group : *whole;
            return false;
        }
    }
    return true;
}

static fab_status lose_some(fab_masked_hops *m, uint32_t v, uint32_t word, uint64_t leaves, fab_error *err) {
    uint32_t whole = 0;
    for (; leaves != 0; leaves &= leaves - 1) {
        uint32_t leaf = word * 64 + (uint32_t)__builtin_ctzll(leaves);
        FAB_PASS(has_no_next_hop(m, v, leaf, &whole) ? lose(m, v, leaf, err) : FAB_OK);
    }
    return FAB_OK;
}

/* Those whose way to a leaf led through a switch that has lost it. First in, first out: most switches are looked at
 * when all their next hops have been. */
static fab_status spread(fab_masked_hops *m, fab_error *err) {
    const fab_hops_index *x = m->index;
    for (size_t i = 0; i < m->n_queue; i++) {
        fab_loser *lost = &m->lost[m->queue[i]];
        const uint32_t first = x->before_first[lost->node];
        const uint32_t last = x->transit[lost->node] != 0 ? x->before_first[lost->node + 1] : first;
        for (uint32_t w = lost->fresh_first; w <= lost->fresh_last; w++) {
            const size_t fresh = (size_t)lost->row + m->n_words + w;
            const uint64_t leaves = m->row[fresh];
            for (uint32_t k = first; k < last; k++) {
                const uint32_t v = x->before[k];
                const uint64_t rest = leaves & ~m->row[m->row_of[v] + w];
                m->near[v] = m->stamp;
                FAB_PASS(rest != 0 ? lose_some(m, v, w, rest, err) : FAB_OK);
            }
            m->row[fresh] = 0;
        }
        lost->fresh_first = FAB_NONE;
        lost->fresh_last = 0;
    }
    return FAB_OK;
}

/* Whether a switch has lost all that a neighbour has. */
static bool covers(const fab_masked_hops *m, uint32_t v, const fab_loser *lost) {
    uint64_t rest = 0;
    for (uint32_t w = lost->first; w <= lost->last; w++) {
        rest |= m->row[lost->row + w] & ~m->row[m->row_of[v] + w];
    }
    return rest == 0;
}

/* Links to a switch that has lost leaves, by the links that leave it. */
static void list_links_to(fab_masked_hops *m, const fab_loser *lost) {
    const fab_hops_index *x = m->index;
    const fab_exit *exit = fab_exits_of(m, lost->node) + x->n_before_exits[lost->node];
    const uint16_t *back_slot = x->back_slot + (exit - x->exit);
    const uint32_t *row_of = m->row_of;
    const uint32_t *n_removed = m->n_removed;
    const uint32_t *leaf_index = m->t->leaf_index;
    const uint32_t n_switches = m->t->n_switches;
    const uint64_t *words = m->row + lost->first;
    const uint64_t leaves = words[lost->row];
    const uint32_t n = x->n_exits[lost->node];
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t tail = exit[k].head;
        if (tail == n_switches || ((leaves & ~words[row_of[tail]]) == 0 && leaf_index[tail] == FAB_NONE &&
                                   (lost->first == lost->last || covers(m, tail, lost)))) {
            continue;
        }
        if (n_removed[tail] == 0 || !fab_mask_link_is_dead(m->mask, exit[k].link ^ 1U)) {
            remove_slot(m, tail, back_slot[k], lost->row);
        }
    }
}

void fab_list_removed(fab_masked_hops *m, uint32_t v) {
    const fab_hops_index *x = m->index;
    const uint32_t before = x->n_before_exits[v];
    const uint32_t n = x->n_exits[v];
    const fab_exit *exit = fab_exits_of(m, v) + before;
    const uint32_t *row_of = m->row_of;
    m->listed[v] = m->stamp;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = row_of[exit[i].head];
        if (row != FAB_NO_LEAF && x->transit[exit[i].head] != 0 && !fab_mask_link_is_dead(m->mask, exit[i].link)) {
            remove_slot(m, v, before + i, row);
        }
    }
}

fab_status fab_masked_hops_find(fab_masked_hops *m, const fab_mask *mask, bool is_lazy, const uint64_t *wanted,
                                fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = m->f;
    masked_clear(m);
    m->mask = mask;
    m->is_lazy = is_lazy;
    if (++m->stamp == 0) { /* after 2^32 masks */
        memset(m->listed, 0, m->t->n_switches * sizeof *m->listed);
        memset(m->near, 0, m->t->n_switches * sizeof *m->near);
        m->stamp = 1;
    }
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        if (mask->residual[link] == 0 && fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
            uint32_t v = fab_tail(f, link) - m->base;
            remove_slot(m, v, m->index->place[link] - m->t->out_first[v], m->all_leaves);
        }
    }
    m->n_seeds = m->n_touched;
    for (uint32_t i = 0; i < m->n_seeds; i++) {
        FAB_TRY(lose_groups(m, m->touched[i], wanted, err));
    }
    FAB_TRY(spread(m, err));
    for (uint32_t i = 0; i < m->n_lost && !is_lazy; i++) {
        if (m->index->transit[m->lost[i].node] != 0) {
            list_links_to(m, &m->lost[i]);
        }
    }
    for (uint32_t i = 0; i < m->n_lost; i++) {
        m->n_removed[m->lost[i].node] |= FAB_HAS_LOST;
    }
done:
    if (status != FAB_OK) {
        masked_clear(m);
    }
    return status;
}

/* --- look-ups ----------------------------------------------------------------------------------------------------- */

/* Distances to a leaf over links that are alive. */
static const uint16_t *masked_measure(fab_masked_hops *m, uint32_t leaf) {
    const fab_fabric *f = m->f;
    uint32_t place = leaf % FAB_DETOURS;
    uint16_t *distance = m->distance + (size_t)place * m->t->n_switches;
    uint32_t n = 0;
    if (m->detour[place] == leaf) {
        return distance;
    }
    m->detour[place] = leaf;
    memset(distance, 0xff, m->t->n_switches * sizeof *distance);
    distance[m->t->leaf_node[leaf] - m->base] = 0;
    m->fifo[n++] = m->t->leaf_node[leaf] - m->base;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = m->fifo[i];
        FAB_EACH_LINK(f, m->base + v, link) {
            fab_link_id in = link ^ 1U;
            fab_node_id w = fab_tail(f, in);
            if (w >= m->base && distance[w - m->base] == FAR && !fab_mask_link_is_dead(m->mask, in)) {
                distance[w - m->base] = (uint16_t)(distance[v] + 1);
                m->fifo[n++] = w - m->base;
            }
        }
    }
    return distance;
}

static fab_next_hop_list detour(fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    const fab_fabric *f = m->f;
    const uint16_t *distance = masked_measure(m, leaf);
    uint32_t first = f->out_first[m->base + v];
    fab_next_hop_list out = {f->out_link + first, m->slot, 0};
    for (uint32_t k = first; distance[v] != FAR && k < f->out_first[m->base + v + 1]; k++) {
        fab_node_id head = fab_head(f, f->out_link[k]);
        if (head >= m->base && distance[head - m->base] + 1 == distance[v] &&
            !fab_mask_link_is_dead(m->mask, f->out_link[k])) {
            m->slot[out.count++] = (uint16_t)(k - first);
        }
    }
    return out.count > 0 ? out : (fab_next_hop_list){0};
}

fab_next_hop_list fab_masked_hops_get(fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    fab_next_hop_list list = fab_next_hops_look(m->t, v, leaf);
    if (list.count == 0 || fab_n_removed(m, v, leaf) == 0) {
        return list;
    }
    uint32_t n = 0;
    FAB_KEEP(m->slot, n, i, list.count, !fab_hop_is_gone(m, v, list.slot[i], leaf), list.slot[i]);
    if (n == list.count) {
        return list;
    }
    list.slot = m->slot;
    list.count = n;
    return n > 0 ? list : detour(m, v, leaf);
}
