/* Minimal next hops for any graph.
 *
 * Breadth-first search runs from all destination leaves at once: level[t][v] is the set of leaves at distance t from
 * switch v, a bit each. Link v -> u is a minimal next hop towards leaf d iff d is in level[t][u] and in level[t + 1][v]
 * for some t. Links of a switch that serve the same leaves form a port set; refining the leaves by the port sets that
 * serve them gives the equal-cost groups. Groups are numbered by their first leaf, so that switches with the same view
 * have equal rows, which are stored once. */
#include "fab/next_hops.h"
#include "fab/memory.h"
#include "fab/rng.h"

#include <stdlib.h>
#include <string.h>

typedef struct search {
    const fab_fabric *f;
    const uint64_t *dead;
    fab_next_hops *t;
    uint32_t n_switches, base;
    size_t words;     /* of one set of leaves */
    uint64_t **level; /* [distance][switch][words] */
    size_t n_levels, level_capacity;
    /* of the switch at hand */
    uint32_t degree;
    fab_link_id *links; /* its links to switches that serve a leaf, by port set after collect_sets */
    uint32_t *set_of;   /* shape [degree] */
    uint64_t *sets;     /* shape [n_sets][words] */
    uint32_t n_sets;
    uint32_t *class_of;     /* shape [n_leaves] */
    uint32_t *parent, *via; /* of a class: the class it was split from, and the set that split it */
    uint32_t *mark, *child; /* of a class, while a set is applied */
    uint32_t *number;       /* of a class: group number, 0 = not used */
    size_t n_classes, class_capacity, number_capacity, parent_capacity, via_capacity, mark_capacity, child_capacity;
    size_t group_capacity, member_capacity, n_groups, n_members;
    size_t row_capacity, hash_size;
    uint32_t *row_hash; /* open addressing: row + 1 */
    uint64_t *row_digest;
    size_t digest_capacity;
} search;

static bool is_dead(const search *s, fab_link_id l) {
    return s->dead != NULL && (s->dead[l >> 6] >> (l & 63) & 1) != 0;
}

static fab_status find_leaves(search *s, fab_error *err) {
    const fab_fabric *f = s->f;
    fab_next_hops *t = s->t;
    for (uint32_t i = 0; i < s->n_switches; i++) {
        t->leaf_index[i] = FAB_NONE;
    }
    for (uint32_t i = 0; i < s->n_switches; i++) {
        for (uint32_t k = f->out_first[s->base + i]; k < f->out_first[s->base + i + 1]; k++) {
            if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS) {
                t->leaf_index[i] = t->n_leaves++;
                break;
            }
        }
        uint32_t degree = f->out_first[s->base + i + 1] - f->out_first[s->base + i];
        s->degree = degree > s->degree ? degree : s->degree;
    }
    fab_status status = FAB_NEW(t->leaf_node, t->n_leaves, err);
    if (status == FAB_OK) {
        for (uint32_t i = 0; i < s->n_switches; i++) {
            if (t->leaf_index[i] != FAB_NONE) {
                t->leaf_node[t->leaf_index[i]] = s->base + i;
            }
        }
    }
    s->words = ((size_t)t->n_leaves + 63) / 64;
    return status;
}

/* Sets of the next distance; *any tells whether a leaf was reached. */
static void expand(const search *s, const uint64_t *front, uint64_t *seen, uint64_t *next, bool *any) {
    const fab_fabric *f = s->f;
    size_t words = s->words;
    uint64_t reached = 0;
    for (uint32_t v = 0; v < s->n_switches; v++) {
        uint64_t *to = next + v * words;
        fab_node_id previous = FAB_NONE;
        for (uint32_t k = f->out_first[s->base + v]; k < f->out_first[s->base + v + 1]; k++) {
            fab_node_id head = fab_head(f, f->out_link[k]);
            if (head < s->base || head == previous || is_dead(s, f->out_link[k])) {
                continue;
            }
            previous = head;
            const uint64_t *from = front + (size_t)(head - s->base) * words;
            for (size_t w = 0; w < words; w++) {
                to[w] |= from[w];
            }
        }
        uint64_t *old = seen + v * words;
        for (size_t w = 0; w < words; w++) {
            to[w] &= ~old[w];
            old[w] |= to[w];
            reached |= to[w];
        }
    }
    *any = reached != 0;
}

static fab_status search_levels(search *s, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *seen = NULL;
    size_t total = s->n_switches * s->words;
    bool any = true;
    FAB_TRY(FAB_NEW(seen, total, err));
    FAB_TRY(FAB_GROW(s->level, s->level_capacity, 1, err));
    FAB_TRY(FAB_NEW(s->level[0], total, err));
    s->n_levels = 1;
    for (uint32_t d = 0; d < s->t->n_leaves; d++) {
        s->level[0][(s->t->leaf_node[d] - s->base) * s->words + d / 64] |= UINT64_C(1) << (d & 63);
    }
    memcpy(seen, s->level[0], total * sizeof *seen);
    while (any) {
        FAB_TRY(FAB_GROW(s->level, s->level_capacity, s->n_levels + 1, err));
        FAB_TRY(FAB_NEW(s->level[s->n_levels], total, err));
        s->n_levels++;
        expand(s, s->level[s->n_levels - 2], seen, s->level[s->n_levels - 1], &any);
    }
done:
    free(seen);
    return status;
}

/* Leaves that link v -> u serves. Returns whether there are any. */
static bool link_set(const search *s, uint32_t v, uint32_t u, uint64_t *out) {
    size_t words = s->words;
    uint64_t any = 0;
    memset(out, 0, words * sizeof *out);
    for (size_t t = 0; t + 1 < s->n_levels; t++) {
        const uint64_t *near = s->level[t] + u * words;
        const uint64_t *far = s->level[t + 1] + v * words;
        for (size_t w = 0; w < words; w++) {
            out[w] |= near[w] & far[w];
            any |= out[w];
        }
    }
    return any != 0;
}

/* Port sets of switch v: s->links, s->set_of, s->sets. Returns the number of links. */
static uint32_t collect_sets(search *s, uint32_t v) {
    const fab_fabric *f = s->f;
    uint32_t n_links = 0;
    fab_node_id previous = FAB_NONE;
    bool previous_serves = false;
    s->n_sets = 0;
    for (uint32_t k = f->out_first[s->base + v]; k < f->out_first[s->base + v + 1]; k++) {
        fab_link_id link = f->out_link[k];
        fab_node_id head = fab_head(f, link);
        if (head < s->base || is_dead(s, link)) {
            continue;
        }
        if (head != previous) {
            uint64_t *fresh = s->sets + s->n_sets * s->words;
            previous = head;
            previous_serves = link_set(s, v, head - s->base, fresh);
            uint32_t set = s->n_sets;
            for (uint32_t back = s->n_sets;
                 previous_serves && back-- > 0;) { /* neighbours in port order mostly agree */
                if (memcmp(s->sets + back * s->words, fresh, s->words * sizeof *fresh) == 0) {
                    set = back;
                    break;
                }
            }
            if (previous_serves && set == s->n_sets) {
                s->n_sets++;
            }
            s->set_of[n_links] = set;
        } else if (n_links > 0) {
            s->set_of[n_links] = s->set_of[n_links - 1];
        }
        if (previous_serves) {
            s->links[n_links++] = link;
        }
    }
    return n_links;
}

static fab_status new_class(search *s, uint32_t parent, uint32_t via, uint32_t *out, fab_error *err) {
    fab_status status = FAB_OK;
    size_t need = s->n_classes + 1;
    FAB_TRY(FAB_GROW(s->parent, s->parent_capacity, need, err));
    FAB_TRY(FAB_GROW(s->via, s->via_capacity, need, err));
    FAB_TRY(FAB_GROW(s->mark, s->mark_capacity, need, err));
    FAB_TRY(FAB_GROW(s->child, s->child_capacity, need, err));
    FAB_TRY(FAB_GROW(s->number, s->number_capacity, need, err));
    *out = (uint32_t)s->n_classes;
    s->parent[s->n_classes] = parent;
    s->via[s->n_classes] = via;
    s->mark[s->n_classes] = FAB_NONE;
    s->number[s->n_classes] = 0;
    s->n_classes++;
done:
    return status;
}

/* Splits the leaves into classes served by the same port sets; class 0 is served by none. */
static fab_status refine(search *s, fab_error *err) {
    uint32_t root = 0;
    s->n_classes = 0;
    fab_status status = new_class(s, FAB_NONE, FAB_NONE, &root, err);
    memset(s->class_of, 0, s->t->n_leaves * sizeof *s->class_of);
    for (uint32_t set = 0; status == FAB_OK && set < s->n_sets; set++) {
        const uint64_t *bits = s->sets + set * s->words;
        for (size_t w = 0; status == FAB_OK && w < s->words; w++) {
            for (uint64_t rest = bits[w]; status == FAB_OK && rest != 0; rest &= rest - 1) {
                uint32_t leaf = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(rest);
                uint32_t from = s->class_of[leaf];
                if (s->mark[from] != set) {
                    uint32_t fresh = 0;
                    status = new_class(s, from, set, &fresh, err);
                    s->mark[from] = set;
                    s->child[from] = fresh;
                }
                s->class_of[leaf] = s->child[from];
            }
        }
    }
    return status;
}

/* Members of a class: links of the sets on its chain, by port. */
static fab_status add_group(search *s, uint32_t class_id, uint32_t n_links, fab_error *err) {
    fab_next_hops *t = s->t;
    fab_status status = FAB_OK;
    FAB_TRY(FAB_GROW(t->group_link, s->group_capacity, s->n_groups + 2, err));
    FAB_TRY(FAB_GROW(t->member, s->member_capacity, s->n_members + n_links, err));
    t->group_link[s->n_groups++] = (uint32_t)s->n_members;
    bool single = s->parent[class_id] == 0;
    for (uint32_t i = 0; i < n_links; i++) {
        bool serves = s->set_of[i] == s->via[class_id];
        for (uint32_t c = s->parent[class_id]; !single && !serves && c != 0; c = s->parent[c]) {
            serves = s->set_of[i] == s->via[c];
        }
        if (serves) {
            t->member[s->n_members++] = s->links[i];
        }
    }
    t->group_link[s->n_groups] = (uint32_t)s->n_members;
done:
    return status;
}

/* Number of an equal row that is stored already, or the row is stored. */
static fab_status share_row(search *s, const uint16_t *row, uint32_t *out, fab_error *err) {
    fab_next_hops *t = s->t;
    uint64_t digest = 0;
    for (uint32_t i = 0; i < t->n_leaves; i++) {
        digest = (digest ^ row[i]) * 0x9e3779b97f4a7c15U;
        digest ^= digest >> 29;
    }
    size_t slot = (size_t)fab_mix64(digest) & (s->hash_size - 1);
    while (s->row_hash[slot] != 0) {
        uint32_t known = s->row_hash[slot] - 1;
        if (s->row_digest[known] == digest &&
            memcmp(t->row + (size_t)known * t->n_leaves, row, t->n_leaves * sizeof *row) == 0) {
            *out = known;
            return FAB_OK;
        }
        slot = (slot + 1) & (s->hash_size - 1);
    }
    fab_status status = FAB_OK;
    FAB_TRY(FAB_GROW(t->row, s->row_capacity, ((size_t)t->n_rows + 1) * t->n_leaves, err));
    FAB_TRY(FAB_GROW(s->row_digest, s->digest_capacity, (size_t)t->n_rows + 1, err));
    memcpy(t->row + (size_t)t->n_rows * t->n_leaves, row, t->n_leaves * sizeof *row);
    s->row_digest[t->n_rows] = digest;
    s->row_hash[slot] = t->n_rows + 1;
    *out = t->n_rows++;
done:
    return status;
}

static fab_status make_switch(search *s, uint32_t v, uint16_t *row, fab_error *err) {
    fab_status status = FAB_OK;
    fab_next_hops *t = s->t;
    uint32_t n_links = collect_sets(s, v);
    uint32_t n_groups = 0;
    FAB_TRY(refine(s, err));
    t->group_first[v] = (uint32_t)s->n_groups;
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        uint32_t class_id = s->class_of[leaf];
        if (class_id != 0 && s->number[class_id] == 0) {
            if (n_groups == UINT16_MAX) {
                FAB_FAIL(err, FAB_EINPUT, NULL, "a switch has more than %u groups of next hops", UINT16_MAX);
            }
            s->number[class_id] = ++n_groups;
            FAB_TRY(add_group(s, class_id, n_links, err));
        }
        row[leaf] = (uint16_t)s->number[class_id];
    }
    FAB_TRY(share_row(s, row, &t->row_of[v], err));
done:
    return status;
}

static void release_search(search *s) {
    for (size_t i = 0; i < s->n_levels; i++) {
        free(s->level[i]);
    }
    free(s->level);
    free(s->links);
    free(s->set_of);
    free(s->sets);
    free(s->class_of);
    free(s->parent);
    free(s->via);
    free(s->mark);
    free(s->child);
    free(s->number);
    free(s->row_hash);
    free(s->row_digest);
    fab_next_hops_free(s->t);
}

fab_status fab_next_hops_new(const fab_fabric *fabric, const uint64_t *dead_link, fab_next_hops **out, fab_error *err) {
    fab_status status = FAB_OK;
    search s = {
        .f = fabric, .dead = dead_link, .n_switches = fab_n_switches(fabric), .base = fabric->first[FAB_NODE_SWITCH]};
    uint16_t *row = NULL;
    FAB_TRY(FAB_NEW(s.t, 1, err));
    FAB_TRY(FAB_NEW(s.t->leaf_index, s.n_switches, err));
    FAB_TRY(FAB_NEW(s.t->row_of, s.n_switches, err));
    FAB_TRY(FAB_NEW(s.t->group_first, (size_t)s.n_switches + 1, err));
    FAB_TRY(find_leaves(&s, err));
    FAB_TRY(search_levels(&s, err));
    FAB_TRY(FAB_NEW(s.links, s.degree, err));
    FAB_TRY(FAB_NEW(s.set_of, s.degree, err));
    FAB_TRY(FAB_NEW(s.sets, (s.degree + 1) * s.words, err));
    FAB_TRY(FAB_NEW(s.class_of, s.t->n_leaves, err));
    FAB_TRY(FAB_NEW(row, s.t->n_leaves, err));
    for (s.hash_size = 16; s.hash_size < 2 * (size_t)s.n_switches; s.hash_size *= 2) {
    }
    FAB_TRY(FAB_NEW(s.row_hash, s.hash_size, err));
    for (uint32_t v = 0; v < s.n_switches; v++) {
        FAB_TRY(make_switch(&s, v, row, err));
    }
    s.t->group_first[s.n_switches] = (uint32_t)s.n_groups;
    s.t->memory_bytes = (size_t)s.t->n_rows * s.t->n_leaves * sizeof *row + s.n_groups * sizeof *s.t->group_link +
                        s.n_members * sizeof *s.t->member + (size_t)s.n_switches * 3 * sizeof(uint32_t);
    *out = s.t;
    s.t = NULL;
done:
    free(row);
    release_search(&s);
    return status;
}

void fab_next_hops_free(fab_next_hops *t) {
    if (t == NULL) {
        return;
    }
    free(t->leaf_index);
    free(t->leaf_node);
    free(t->row_of);
    free(t->row);
    free(t->group_first);
    free(t->group_link);
    free(t->member);
    free(t);
}
