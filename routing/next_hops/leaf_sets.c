/* Breadth-first search from the leaves of a block at once, a bit per leaf. Each front pushes its sets to the switches
 * that have a link to it, so that work is done only where leaves are reached; what is touched is small enough to stay
 * in the cache, whatever the size of the fabric. */
#include "leaf_sets.h"
#include "fab/rng.h"

typedef struct search {
    uint32_t *in_first, *in; /* [n_switches + 1]: switches with a live link to a switch */
    fab_leaf_set *seen;      /* [switch]: leaves reached so far */
    fab_leaf_set *next;      /* [switch]: leaves that the front reaches; empty between the steps */
    fab_leaf_set all;        /* of the block */
    bool *done;              /* [switch]: has seen all of them */
    bool *touched;           /* [switch]: next is not empty */
    uint32_t *front, *fresh; /* switches of this front; those that the next may have */
    uint32_t *front_set;     /* number of the set of each in the front */
    uint32_t n_front, n_fresh;
} search;

/* A cable is two links, so whoever has a link to a switch is found among the heads of the switch's own links. */
static fab_status find_neighbours(const fab_fabric *f, const uint64_t *dead, uint32_t n_switches, search *s,
                                  fab_error *err) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(s->in_first, (size_t)n_switches + 1, err));
    FAB_PASS(FAB_NEW(s->in, n_switches > 0 ? f->out_first[f->n_nodes] - f->out_first[base] : 0, err));
    for (uint32_t u = 0; u < n_switches; u++) {
        uint32_t previous = FAB_NONE;
        s->in_first[u] = n;
        FAB_EACH_LINK(f, base + u, link) {
            fab_node_id other = fab_head(f, link);
            if (other >= base && other != previous && !fab_link_is_dead(dead, link ^ 1U)) {
                previous = other;
                s->in[n++] = other - base;
            }
        }
    }
    s->in_first[n_switches] = n;
    return FAB_OK;
}

/* The number of a set, which may be known: switches of a kind see most leaves alike. */
static fab_status intern(fab_leaf_sets *out, const fab_leaf_set *set, uint32_t hops, uint32_t nearer, uint32_t *id,
                         fab_error *err) {
    uint64_t digest = (uint64_t)hops << 32 | nearer;
    for (size_t w = 0; w < FAB_SET_WORDS; w++) {
        digest = fab_mix64(digest) ^ set->word[w];
    }
    uint32_t tag = (uint32_t)(fab_mix64(digest) >> 32);
    size_t probe = 0;
    while ((*id = fab_id_table_next(&out->table, tag, &probe)) != FAB_NONE) {
        if (out->hops[*id] == hops && out->nearer[*id] == nearer && memcmp(&out->set[*id], set, sizeof *set) == 0) {
            return FAB_OK;
        }
    }
    size_t n = out->table.n;
    FAB_REFUSE_IF(n >= FAB_NONE - 1, err, FAB_EUNSUPPORTED, NULL,
                  "the fabric is too large: more than %u sets of leaves", FAB_NONE - 1);
    FAB_PASS(FAB_GROW(out->set, out->set_capacity, n + 1, err));
    FAB_PASS(FAB_GROW(out->hops, out->hops_capacity, n + 1, err));
    FAB_PASS(FAB_GROW(out->nearer, out->nearer_capacity, n + 1, err));
    FAB_PASS(fab_id_table_add(&out->table, tag, err));
    out->set[n] = *set;
    out->hops[n] = hops;
    out->nearer[n] = nearer;
    *id = (uint32_t)n;
    return FAB_OK;
}

/* Takes v into the front. */
static fab_status leaf_sets_keep(fab_leaf_sets *out, search *s, uint32_t v, uint32_t block, uint32_t hops,
                                 const fab_leaf_set *set, fab_error *err) {
    uint32_t *view = &out->view[(size_t)v * out->n_blocks + block];
    uint64_t missing = 0;
    for (size_t w = 0; w < FAB_SET_WORDS; w++) {
        s->seen[v].word[w] |= set->word[w];
        missing |= s->all.word[w] & ~s->seen[v].word[w];
    }
    s->done[v] = missing == 0;
    FAB_PASS(intern(out, set, hops, *view, view, err));
    s->front_set[s->n_front] = *view;
    s->front[s->n_front++] = v;
    return FAB_OK;
}

static void leaf_sets_push(search *s, uint32_t u, const fab_leaf_set *set) {
    for (uint32_t k = s->in_first[u]; k < s->in_first[u + 1]; k++) {
        uint32_t v = s->in[k];
        if (s->done[v]) {
            continue;
        }
        if (!s->touched[v]) {
            s->touched[v] = true;
            s->fresh[s->n_fresh++] = v;
        }
        for (size_t w = 0; w < FAB_SET_WORDS; w++) {
            s->next[v].word[w] |= set->word[w];
        }
    }
}

/* The front of the next distance. */
static fab_status leaf_sets_step(search *s, fab_leaf_sets *out, uint32_t block, uint32_t hops, fab_error *err) {
    s->n_fresh = 0;
    for (uint32_t i = 0; i < s->n_front; i++) {
        leaf_sets_push(s, s->front[i], &out->set[s->front_set[i]]);
    }
    s->n_front = 0;
    for (uint32_t i = 0; i < s->n_fresh; i++) {
        uint32_t v = s->fresh[i];
        fab_leaf_set set = s->next[v];
        uint64_t any = 0;
        for (size_t w = 0; w < FAB_SET_WORDS; w++) {
            set.word[w] &= ~s->seen[v].word[w];
            any |= set.word[w];
        }
        s->next[v] = (fab_leaf_set){0};
        s->touched[v] = false;
        FAB_PASS(any != 0 ? leaf_sets_keep(out, s, v, block, hops, &set, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status search_block(search *s, fab_leaf_sets *out, const fab_node_id *leaf_node, uint32_t base,
                               uint32_t block, fab_error *err) {
    uint32_t per_block = 64 * FAB_SET_WORDS;
    uint32_t first = block * per_block;
    uint32_t end = out->n_leaves - first < per_block ? out->n_leaves : first + per_block;
    memset(s->seen, 0, out->n_switches * sizeof *s->seen);
    memset(s->done, 0, out->n_switches * sizeof *s->done);
    s->all = (fab_leaf_set){0};
    for (uint32_t i = 0; i < end - first; i++) {
        s->all.word[i / 64] |= UINT64_C(1) << (i % 64);
    }
    s->n_front = 0;
    for (uint32_t i = 0; i < end - first; i++) {
        fab_leaf_set self = {0};
        self.word[i / 64] = UINT64_C(1) << (i % 64);
        FAB_PASS(leaf_sets_keep(out, s, leaf_node[first + i] - base, block, 0, &self, err));
    }
    for (uint32_t hops = 1; s->n_front > 0; hops++) {
        FAB_PASS(leaf_sets_step(s, out, block, hops, err));
    }
    return FAB_OK;
}

fab_status fab_leaf_sets_init(const fab_fabric *f, const uint64_t *dead_link, const fab_node_id *leaf_node,
                              uint32_t n_leaves, fab_leaf_sets *out, fab_error *err) {
    uint32_t n_switches = fab_n_switches(f);
    uint32_t per_block = 64 * FAB_SET_WORDS;
    FAB_OWNS(fab_leaf_sets_release)
    fab_leaf_sets sets = {
        .n_switches = n_switches, .n_leaves = n_leaves, .n_blocks = (n_leaves + per_block - 1) / per_block};
    search s = {0};
    FAB_OWNS_MEMBERS(s.in_first, s.in, s.seen, s.next, s.done, s.touched, s.front, s.fresh);
    FAB_OWNS_MEMBERS(s.front_set);
    FAB_PASS(FAB_NEW(sets.view, (size_t)n_switches * sets.n_blocks, err));
    memset(sets.view, 0xff, (size_t)n_switches * sets.n_blocks * sizeof *sets.view);
    FAB_PASS(find_neighbours(f, dead_link, n_switches, &s, err));
    FAB_PASS(FAB_NEW_ALL(n_switches, err, s.seen, s.next, s.done, s.touched, s.front, s.fresh, s.front_set));
    for (uint32_t block = 0; block < sets.n_blocks; block++) {
        FAB_PASS(search_block(&s, &sets, leaf_node, f->first[FAB_NODE_SWITCH], block, err));
    }
    return FAB_GIVE(*out, sets);
}

void fab_leaf_sets_release(fab_leaf_sets *sets) {
    FAB_FREE_ALL(sets->view, sets->nearer, sets->hops, sets->set);
    fab_id_table_release(&sets->table);
    *sets = (fab_leaf_sets){0};
}
