/* Next hops under a mask.
 *
 * A next hop is gone when its link is dead or its head has lost the leaf: none of the head's minimal next hops is left,
 * so that its distance has grown. What a switch has lost is found from the dead links upwards, against the direction of
 * packets, and kept as a bit set over leaves. All others keep their distance, so that their next hops are the old ones
 * without those that are gone; nothing new can appear among them, since distances only grow. A switch that has lost a
 * leaf is on nobody's way there but of those that have lost it too: only then distances are searched for again.
 *
 * Leaves of a tree lie on nobody's way to another leaf. What they lost matters to themselves alone, and shows when
 * nothing is left of a group. */
#include "masked.h"
#include "fab/memory.h"
#include "leaf_sets.h"

#include <stdlib.h>
#include <string.h>

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
            fab_next_hop_list list = fab_next_hops_get(t, v, leaf);
            for (uint32_t i = 0; i < list.count; i++) {
                fab_node_id head = fab_head(x->fabric, fab_next_hop(&list, i));
                if (repeats || head != t->leaf_node[leaf]) {
                    x->transit[head - base] = 1;
                }
            }
        }
    }
}

static fab_status list_neighbours(fab_hops_index *x, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = x->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const uint32_t n_switches = fab_n_switches(f);
    uint32_t *met = NULL; /* the switch + 1 at which a neighbour was met last */
    uint32_t n = 0;
    FAB_TRY(FAB_NEW(met, n_switches, err));
    FAB_TRY(FAB_NEW(x->before_first, (size_t)n_switches + 1, err));
    FAB_TRY(FAB_NEW(x->before, (size_t)f->out_first[f->n_nodes] - f->out_first[base], err));
    for (uint32_t v = 0; v < n_switches; v++) {
        for (uint32_t k = f->out_first[base + v]; k < f->out_first[base + v + 1]; k++) {
            fab_node_id w = fab_head(f, f->out_link[k]);
            if (w >= base && x->transit[w - base] != 0 && met[w - base] != v + 1) {
                met[w - base] = v + 1;
                x->before[n++] = w - base;
            }
        }
        x->before_first[v + 1] = n;
    }
done:
    free(met);
    return status;
}

fab_status fab_hops_index_init(const fab_fabric *f, const fab_next_hops *next_hops, fab_hops_index *out,
                               fab_error *err) {
    fab_status status = FAB_OK;
    fab_hops_index x = {.fabric = f, .next_hops = next_hops};
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    if (next_hops->dead_link != NULL) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "masks start from the next hops of a whole fabric");
    }
    FAB_TRY(FAB_NEW(x.slot, f->n_links, err));
    FAB_TRY(FAB_NEW(x.head, (size_t)f->out_first[f->n_nodes] - f->out_first[base], err));
    FAB_TRY(FAB_NEW(x.transit, next_hops->n_switches, err));
    FAB_TRY(FAB_NEW(x.feeds_ends, next_hops->n_switches, err));
    for (fab_node_id v = 0; v < f->n_nodes; v++) {
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            x.slot[f->out_link[k]] = (uint16_t)(k - f->out_first[v]);
        }
    }
    find_transit(&x);
    for (uint32_t v = 0; v < next_hops->n_switches; v++) {
        uint32_t n_groups = next_hops->group_first[v + 1] - next_hops->group_first[v];
        uint32_t degree = f->out_first[base + v + 1] - f->out_first[base + v];
        x.most_groups = n_groups > x.most_groups ? n_groups : x.most_groups;
        x.degree = degree > x.degree ? degree : x.degree;
        for (uint32_t k = f->out_first[base + v]; k < f->out_first[base + v + 1]; k++) {
            fab_node_id head = fab_head(f, f->out_link[k]);
            x.head[k - f->out_first[base]] = head >= base ? head - base : next_hops->n_switches;
            x.feeds_ends[v] |= head >= base && x.transit[head - base] == 0;
        }
    }
    FAB_TRY(list_neighbours(&x, err));
    *out = x;
    x = (fab_hops_index){0};
done:
    fab_hops_index_release(&x);
    return status;
}

void fab_hops_index_release(fab_hops_index *x) {
    free(x->slot);
    free(x->head);
    free(x->transit);
    free(x->feeds_ends);
    free(x->before_first);
    free(x->before);
    *x = (fab_hops_index){0};
}

/* --- a mask ------------------------------------------------------------------------------------------------------- */

fab_status fab_masked_hops_new(const fab_hops_index *index, fab_masked_hops **out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = index->fabric;
    const fab_next_hops *t = index->next_hops;
    fab_masked_hops *m = NULL;
    FAB_TRY(FAB_NEW(m, 1, err));
    m->index = index;
    m->f = f;
    m->t = t;
    m->base = f->first[FAB_NODE_SWITCH];
    m->first_link = f->out_first[m->base];
    m->n_words = (t->n_leaves + 63) / 64;
    FAB_TRY(FAB_NEW(m->n_removed, t->n_switches, err));
    FAB_TRY(FAB_NEW(m->removed, (size_t)t->n_switches * FAB_LISTED, err));
    FAB_TRY(FAB_NEW(m->listed, t->n_switches, err));
    FAB_TRY(FAB_NEW(m->touched, t->n_switches, err));
    FAB_TRY(FAB_NEW(m->row_of, (size_t)t->n_switches + 1, err));
    FAB_TRY(FAB_NEW(m->lost, t->n_switches, err));
    FAB_TRY(FAB_NEW(m->emptied, (size_t)index->most_groups + 1, err));
    FAB_TRY(FAB_NEW(m->slot, index->degree, err));
    FAB_TRY(FAB_NEW(m->distance, (size_t)FAB_DETOURS * t->n_switches, err));
    FAB_TRY(FAB_NEW(m->fifo, t->n_switches, err));
    memset(m->row_of, 0xff, ((size_t)t->n_switches + 1) * sizeof *m->row_of);
    memset(m->detour, 0xff, sizeof m->detour);
    *out = m;
    m = NULL;
done:
    fab_masked_hops_free(m);
    return status;
}

void fab_masked_hops_free(fab_masked_hops *m) {
    if (m == NULL) {
        return;
    }
    free(m->n_removed);
    free(m->removed);
    free(m->listed);
    free(m->touched);
    free(m->row_of);
    free(m->lost);
    free(m->row);
    free(m->queue);
    free(m->emptied);
    free(m->slot);
    free(m->distance);
    free(m->fifo);
    free(m);
}

static void clear(fab_masked_hops *m) {
    for (uint32_t i = 0; i < m->n_touched; i++) {
        m->n_removed[m->touched[i]] = 0;
    }
    for (uint32_t i = 0; i < m->n_lost; i++) {
        m->row_of[m->lost[i]] = FAB_NONE;
    }
    m->n_touched = 0;
    m->n_lost = 0;
    m->n_queue = 0;
    m->n_dead = 0;
    memset(m->detour, 0xff, sizeof m->detour);
}

/* Keeps the order by slot. */
static void remove_link(fab_masked_hops *m, fab_link_id link, uint32_t row) {
    uint32_t v = fab_tail(m->f, link) - m->base;
    uint32_t slot = m->index->slot[link];
    fab_removed *list = m->removed + (size_t)v * FAB_LISTED;
    uint32_t at = m->n_removed[v]++;
    if (at == 0) {
        m->touched[m->n_touched++] = v;
    }
    if (at >= FAB_LISTED) {
        return;
    }
    for (; at > 0 && list[at - 1].slot > slot; at--) {
        list[at] = list[at - 1];
    }
    list[at] = (fab_removed){slot, row};
}

static fab_status lose(fab_masked_hops *m, uint32_t v, uint32_t leaf, fab_error *err) {
    fab_status status = FAB_OK;
    if (m->row_of[v] == FAB_NONE) {
        FAB_TRY(FAB_GROW(m->row, m->row_capacity, ((size_t)m->n_lost + 1) * m->n_words, err));
        memset(m->row + (size_t)m->n_lost * m->n_words, 0, m->n_words * sizeof *m->row);
        m->row_of[v] = m->n_lost;
        m->lost[m->n_lost++] = v;
    }
    m->row[(size_t)m->row_of[v] * m->n_words + leaf / 64] |= UINT64_C(1) << (leaf % 64);
    FAB_TRY(FAB_GROW(m->queue, m->queue_capacity, m->n_queue + 1, err));
    m->queue[m->n_queue++] = (fab_hop_pair){v, leaf};
done:
    return status;
}

/* Groups of a switch whose links are all dead, and the leaves that they served. */
static fab_status lose_groups(fab_masked_hops *m, uint32_t v, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_next_hops *t = m->t;
    uint32_t first = t->group_first[v];
    bool any = false;
    for (uint32_t g = first; g < t->group_first[v + 1]; g++) {
        fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
        bool alive = false;
        for (uint32_t i = 0; i < list.count && !alive; i++) {
            alive = !fab_mask_link_is_dead(m->mask, fab_next_hop(&list, i));
        }
        m->emptied[g - first + 1] = !alive;
        any = any || !alive;
    }
    for (uint32_t leaf = 0; any && leaf < t->n_leaves; leaf++) {
        uint32_t group = fab_next_hops_group(t, v, leaf);
        if (group != 0 && m->emptied[group] != 0) {
            FAB_TRY(lose(m, v, leaf, err));
        }
    }
done:
    return status;
}

static bool has_nothing_left(const fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    fab_next_hop_list list = fab_next_hops_get(m->t, v, leaf);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!fab_hop_is_gone(m, v, list.slot[i], leaf)) {
            return false;
        }
    }
    return list.count > 0;
}

/* Those whose way to a leaf led through a switch that has lost it. First in, first out: most switches are looked at
 * when all their next hops have been. */
static fab_status spread(fab_masked_hops *m, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_hops_index *x = m->index;
    for (size_t i = 0; i < m->n_queue; i++) {
        const fab_hop_pair pair = m->queue[i];
        for (uint32_t k = x->before_first[pair.node]; x->transit[pair.node] != 0 && k < x->before_first[pair.node + 1];
             k++) {
            uint32_t w = x->before[k];
            if (!fab_has_lost(m, w, pair.leaf) && has_nothing_left(m, w, pair.leaf)) {
                FAB_TRY(lose(m, w, pair.leaf, err));
            }
        }
    }
done:
    return status;
}

/* Links to switches that have lost leaves. */
static void list_all(fab_masked_hops *m) {
    const fab_fabric *f = m->f;
    for (uint32_t i = 0; i < m->n_lost; i++) {
        uint32_t v = m->lost[i];
        for (uint32_t k = f->out_first[m->base + v]; m->index->transit[v] != 0 && k < f->out_first[m->base + v + 1];
             k++) {
            fab_link_id in = f->out_link[k] ^ 1U;
            if (fab_tail(f, in) >= m->base && !fab_mask_link_is_dead(m->mask, in)) {
                remove_link(m, in, i);
            }
        }
    }
}

void fab_list_removed(fab_masked_hops *m, uint32_t v) {
    const fab_fabric *f = m->f;
    const uint32_t *head = m->index->head + (f->out_first[m->base + v] - m->first_link);
    uint32_t n = f->out_first[m->base + v + 1] - f->out_first[m->base + v];
    m->listed[v] = m->stamp;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = m->row_of[head[i]];
        if (row == FAB_NONE || m->index->transit[head[i]] == 0) {
            continue;
        }
        fab_link_id link = f->out_link[f->out_first[m->base + v] + i];
        if (!fab_mask_link_is_dead(m->mask, link)) {
            remove_link(m, link, row);
        }
    }
}

fab_status fab_masked_hops_set(fab_masked_hops *m, const fab_mask *mask, fab_error *err) {
    return fab_masked_hops_find(m, mask, false, err);
}

fab_status fab_masked_hops_find(fab_masked_hops *m, const fab_mask *mask, bool is_lazy, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = m->f;
    clear(m);
    m->mask = mask;
    m->is_lazy = is_lazy;
    if (++m->stamp == 0) { /* after 2^32 masks */
        memset(m->listed, 0, m->t->n_switches * sizeof *m->listed);
        m->stamp = 1;
    }
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        if (mask->left[link] == 0 && fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
            remove_link(m, link, FAB_NONE);
            m->n_dead++;
        }
    }
    m->n_seeds = m->n_touched;
    for (uint32_t i = 0; i < m->n_seeds; i++) {
        FAB_TRY(lose_groups(m, m->touched[i], err));
    }
    FAB_TRY(spread(m, err));
    if (!is_lazy) {
        list_all(m);
    }
done:
    if (status != FAB_OK) {
        clear(m);
    }
    return status;
}

/* --- look-ups ----------------------------------------------------------------------------------------------------- */

/* Distances to a leaf over links that are alive. */
static const uint16_t *measure(fab_masked_hops *m, uint32_t leaf) {
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
        for (uint32_t k = f->out_first[m->base + v]; k < f->out_first[m->base + v + 1]; k++) {
            fab_link_id in = f->out_link[k] ^ 1U;
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
    const uint16_t *distance = measure(m, leaf);
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
    fab_next_hop_list list = fab_next_hops_get(m->t, v, leaf);
    if (list.count == 0 || fab_n_removed(m, v) == 0) {
        return list;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        if (!fab_hop_is_gone(m, v, list.slot[i], leaf)) {
            m->slot[n++] = list.slot[i];
        }
    }
    if (n == list.count) {
        return list;
    }
    list.slot = m->slot;
    list.count = n;
    return n > 0 ? list : detour(m, v, leaf);
}
