/* Many paths under a mask, a hop at a time: engines whose choices are values modulo groups. */
#include "baseline.h"
#include "engines/engines.h"

#define MOST_AT_ONCE 64 /* members of a group that are gone, by formula */

/* --- what is left of a group -------------------------------------------------------------------------------------- */

/* Places in a group that are gone, ascending; FAB_NONE where they are too many. */
static inline uint32_t find_gone(const fab_masked_hops *m, uint32_t v, uint32_t column, const uint16_t *slot,
                                 uint32_t count, uint32_t *gone) {
    const uint32_t n_removed = m->n_removed[v] & ~FAB_HAS_LOST;
    uint32_t n = 0;
    if (n_removed <= FAB_LISTED) {
        const fab_removed *removed = fab_removed_of(m, v);
        for (uint32_t i = 0; i < n_removed; i++) {
            if (fab_removes(m, &removed[i], column)) {
                gone[n] = fab_position(slot, count, removed[i].slot);
                n += gone[n] != FAB_NONE;
            }
        }
        return n;
    }
    for (uint32_t i = 0; i < count && n < MOST_AT_ONCE; i++) {
        gone[n] = i;
        n += fab_hop_is_gone(m, v, slot[i], column);
    }
    return n < MOST_AT_ONCE ? n : FAB_NONE;
}

/* Place in a group by what is left of it. FAB_NONE where the rule does not apply. */
static inline uint32_t pick_alive(const fab_masked_hops *m, bool resilient, uint32_t v, uint32_t column, uint32_t value,
                                  const uint16_t *slot, uint32_t count) {
    uint32_t gone[MOST_AT_ONCE + 1];
    uint32_t index = 0;
    if ((m->n_removed[v] & FAB_HAS_LOST) != 0 && fab_has_lost(m, v, column)) {
        return FAB_NONE;
    }
    const uint32_t n = find_gone(m, v, column, slot, count, gone);
    if (n >= count) {
        return FAB_NONE;
    }
    if (resilient) { /* hash.c, for equal weights */
        uint32_t bucket = value % (count * FAB_RESILIENT_BUCKETS);
        uint32_t owner = bucket % count;
        FAB_ANY(is_gone, i, n, gone[i] == owner);
        if (!is_gone) {
            return owner;
        }
        index = (bucket / count + owner) % (count - n);
    } else {
        index = value % (count - n);
    }
    for (uint32_t i = 0; i < n; i++) {
        index += index >= gone[i];
    }
    return index;
}

/* --- a hop -------------------------------------------------------------------------------------------------------- */

/* Where a path leaves a switch where something may be gone, among all exits. FAB_NONE: the rule does not apply. */
static inline uint32_t find_exit(const fab_masked_hops *m, const fab_choice *choices, const fab_path_walker *walker,
                                 bool resilient) {
    const fab_next_hops *t = m->t;
    const uint32_t v = walker->at;
    const fab_choice choice = choices[v];
    const uint32_t pair = t->chunk[(size_t)walker->leaf.chunk_of[v] * FAB_CHUNK_WORDS + walker->leaf.word];
    const uint32_t number = pair >> walker->leaf.bit & UINT16_MAX;
    if (number == 0) {
        return FAB_NONE;
    }
    const fab_next_hop_group group = t->group[choice.first_group + number - 1];
    const uint16_t *slot = t->slot + group.first;
    const uint32_t value = walker->value[choice.slot] >> choice.shift;
    const uint32_t at = pick_alive(m, resilient, v, walker->column, value, slot, group.count);
    return at != FAB_NONE ? choice.first_exit + slot[at] : FAB_NONE;
}

/* The first hop, where something is gone as a rule. */
static void find_first(const fab_reroute *r, fab_path_walker *const *list, uint32_t n) {
    fab_masked_hops *m = r->hops;
    const fab_exit *exit = m->index->exit;
    const fab_choice *choices = r->b->choice;
    const bool resilient = r->b->router->resilient;
    for (uint32_t k = 0; k < n; k++) {
        fab_path_walker *walker = list[k];
        if (resilient) {
            (void)fab_n_removed(m, walker->at, walker->column); /* lists it */
            walker->place = find_exit(m, choices, walker, true);
        } else {
            walker->place = find_exit(m, choices, walker, false);
        }
        __builtin_prefetch(&exit[walker->place != FAB_NONE ? walker->place : 0]);
    }
}

/* Takes the hop that was found and looks for the next, where groups are healthy as a rule. Returns how many go on: they
 * are the list then. */
static inline uint32_t paths_step(const fab_reroute *r, fab_path_walker **list, uint32_t n, bool resilient) {
    fab_masked_hops *m = r->hops;
    const fab_exit *exit = m->index->exit;
    const fab_next_hop_group *group = m->t->group;
    const fab_choice *choice = r->b->choice;
    const uint16_t *slot = m->t->slot;
    const uint32_t *chunk = m->t->chunk;
    const uint32_t *n_removed = m->n_removed;
    uint32_t residual = 0;
    for (uint32_t k = 0; k < n; k++) {
        fab_path_walker *walker = list[k];
        const uint32_t place = walker->place;
        fab_link_id *next = walker->next;
        if (place == FAB_NONE) {
            continue;
        }
        const fab_exit to = exit[place];
        const uint32_t v = to.head;
        *next++ = to.link;
        walker->next = next;
        walker->at = v;
        if (next == walker->end) {
            continue;
        }
        list[residual++] = walker;
        const uint32_t pair = chunk[(size_t)walker->leaf.chunk_of[v] * FAB_CHUNK_WORDS + walker->leaf.word];
        const uint32_t number = pair >> walker->leaf.bit & UINT16_MAX;
        if (number == 0 || (resilient ? fab_n_removed(m, v, walker->column) : n_removed[v]) != 0) {
            walker->place = find_exit(m, choice, walker, resilient);
            continue;
        }
        const fab_choice at = choice[v];
        const fab_next_hop_group g = group[at.first_group + number - 1];
        const uint32_t chosen = at.first_exit + slot[g.first + (walker->value[at.slot] >> at.shift) % g.count];
        walker->place = chosen;
        __builtin_prefetch(&exit[chosen]);
    }
    return residual;
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

/* Writes the paths as they were, and lists those that have a hop to go. Returns how many. */
static uint32_t paths_start(fab_reroute *r, const uint32_t *path, uint32_t n, size_t n_links, size_t *first,
                            fab_path_walker **list) {
    const fab_baseline *b = r->b;
    const uint32_t *tail_of = b->fabric->end;
    const uint32_t base = r->hops->base;
    uint32_t residual = 0;
    for (uint32_t i = 0; i < n; i++) {
        const fab_path_record *record = &b->record[path[i]];
        const fab_link_id *old = fab_record_links(b, path[i]);
        fab_link_id *to = r->link + n_links;
        fab_path_walker *walker = &r->walkers[i];
        const uint32_t n_old = record->n;
        const uint32_t column = record->column;
        uint32_t from = 0;
        first[i] = n_links;
        n_links += n_old;
        if (n_old <= FAB_RECORD_LINKS) {
            memcpy(to, record->link, sizeof record->link); /* of a fixed size */
        } else {
            memcpy(to, old, n_old * sizeof *to);
        }
        const bool walks = fab_reroute_take(r, path[i], &from);
        walker->from = from;
        walker->place = walks ? 0 : FAB_NONE;
        if (!walks) {
            continue;
        }
        walker->next = to + from;
        walker->end = to + n_old - record->n_tail;
        walker->column = column;
        walker->leaf = b->leaf[column];
        walker->at = tail_of[old[from]] - base;
        memcpy(walker->value, record->value, sizeof record->value);
        list[residual] = walker;
        residual += walker->next != walker->end;
    }
    first[n] = n_links;
    return residual;
}

static inline bool is_walked(const fab_path_walker *walker) {
    return walker->place != FAB_NONE && walker->at == walker->leaf.at;
}

/* What fab_reroute_shift() does, of a walker that has ended: `to` is its path. */
static inline void shift_hops(fab_reroute *r, uint32_t path, const fab_path_walker *walker, const fab_link_id *to) {
    const fab_path_record *record = &r->b->record[path];
    const fab_link_id *from = fab_record_links(r->b, path);
    const double bps = record->part_bps;
    const uint32_t end = (uint32_t)record->n - record->n_tail;
    fab_link_id *swap = r->swap + 2 * r->n_swaps;
    double *swap_bps = r->swap_bps + r->n_swaps;
    size_t n = 0;
    for (uint32_t k = walker->from; k < end; k++) {
        const fab_link_id off = from[k];
        const fab_link_id on = to[k];
        swap[2 * n] = off;
        swap[2 * n + 1] = on;
        swap_bps[n] = bps;
        n += off != on;
    }
    r->n_swaps += n;
    r->n_moved += n > 0;
}

/* From a path out of the ordinary on: those that are written are put aside, and all are written again. */
static fab_status write_again(fab_reroute *r, const uint32_t *path, uint32_t i, uint32_t n, size_t *first,
                              fab_error *err) {
    const size_t begin = first[i];
    const size_t size = first[n] - begin;
    size_t at = begin;
    FAB_PASS(FAB_GROW(r->aside, r->aside_capacity, size + 1, err));
    memcpy(r->aside, r->link + begin, size * sizeof *r->aside);
    for (; i < n; i++) {
        const fab_path_walker *walker = &r->walkers[i];
        const fab_link_id *to = r->aside + (first[i] - begin);
        const size_t n_links = first[i + 1] - first[i];
        first[i] = at;
        if (is_walked(walker)) {
            FAB_PASS(FAB_GROW(r->link, r->link_capacity, at + n_links, err));
            memcpy(r->link + at, to, n_links * sizeof *to);
            at += n_links;
        } else {
            FAB_PASS(fab_reroute_path(r, path[i], walker->from, &at, err));
        }
        FAB_PASS(fab_reroute_shift(r, path[i], r->link + first[i], at - first[i], err));
    }
    first[n] = at;
    return FAB_OK;
}

fab_status fab_reroute_paths(fab_reroute *r, const uint32_t *path, uint32_t n, size_t *n_links, size_t *first,
                             fab_error *err) {
    const size_t most = (size_t)n * r->b->most_links;
    fab_path_walker *list[FAB_REROUTE_PATHS + 1];
    uint32_t i = 0;
    FAB_PASS(FAB_GROW(r->link, r->link_capacity, *n_links + most + FAB_RECORD_LINKS, err));
    FAB_PASS(FAB_GROW(r->swap, r->swap_capacity, 2 * (r->n_swaps + most + 1), err));
    FAB_PASS(FAB_GROW(r->swap_bps, r->bps_capacity, r->n_swaps + most + 1, err));
    uint32_t residual = paths_start(r, path, n, *n_links, first, list);
    find_first(r, list, residual);
    while (residual > 0) {
        residual = r->b->router->resilient ? paths_step(r, list, residual, true) : paths_step(r, list, residual, false);
    }
    for (; i < n && is_walked(&r->walkers[i]); i++) {
        shift_hops(r, path[i], &r->walkers[i], r->link + first[i]);
    }
    FAB_PASS(i < n ? write_again(r, path, i, n, first, err) : FAB_OK);
    *n_links = first[n];
    return FAB_OK;
}
