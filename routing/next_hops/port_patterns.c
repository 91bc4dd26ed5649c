/* The bit matrix of 64 ports and 64 leaves is turned over, which gives every leaf the bit set of the ports that serve
 * it. Patterns are found by a sum over their ports, which is taken for all words of a block at once, and compared in
 * full. Blocks of eight words are found by the caller's key before their ports are looked at. When too many are
 * remembered, as in fabrics without order, all are forgotten: a pattern that is met again is made again, with the same
 * lists. */
#include "port_patterns.h"
#include "fab/rng.h"

#define MOST_PATTERNS 4096
#define MOST_KEYS     ((size_t)1 << 18) /* of patterns, and of blocks */

fab_status fab_port_patterns_init(uint32_t n_slots, fab_port_patterns *out, fab_error *err) {
    FAB_OWNS(fab_port_patterns_release) fab_port_patterns p = {.n_words = n_slots > 0 ? (n_slots + 63) / 64 : 1};
    FAB_PASS(FAB_NEW(p.salt, (size_t)64 * p.n_words + 1, err));
    FAB_PASS(FAB_NEW(p.mask, (size_t)64 * p.n_words, err));
    for (uint32_t i = 0; i <= 64 * p.n_words; i++) {
        p.salt[i] = fab_mix64(i) | 1;
    }
    return FAB_GIVE(*out, p);
}

void fab_port_patterns_release(fab_port_patterns *p) {
    FAB_FREE_ALL(p->salt, p->mask);
    fab_id_table_release(&p->list_table);
    FAB_FREE_ALL(p->list, p->list_mask);
    fab_id_table_release(&p->pattern_table);
    FAB_FREE_ALL(p->pattern, p->key_slot, p->key_word, p->class_list, p->class_number);
    fab_id_table_release(&p->block_table);
    FAB_FREE_ALL(p->block, p->block_key);
    *p = (fab_port_patterns){0};
}

fab_status fab_port_sets_init(uint32_t n, fab_port_sets *out, fab_error *err) {
    FAB_OWNS(fab_port_sets_release) fab_port_sets sets = {0};
    FAB_PASS(FAB_NEW(sets.slot, n, err));
    FAB_PASS(FAB_NEW(sets.set, (size_t)n + 1, err));
    return FAB_GIVE(*out, sets);
}

FAB_RELEASES(fab_port_sets_release, fab_port_sets, slot, set);

void fab_port_sets_clear(fab_port_sets *sets) {
    sets->n = 0;
    memset(sets->digest, 0, sizeof sets->digest);
}

void fab_port_sets_add(const fab_port_patterns *p, fab_port_sets *sets, uint32_t slot) {
    const fab_leaf_set *set = &sets->set[sets->n];
    for (size_t w = 0; w < FAB_SET_WORDS; w++) { /* upper bits are folded down, or the product would lose them */
        sets->digest[w] += (set->word[w] ^ set->word[w] >> 32) * p->salt[slot];
    }
    sets->slot[sets->n++] = slot;
}

static bool is_pattern(const fab_port_patterns *p, uint32_t pattern, const fab_port_sets *sets, uint32_t word) {
    const uint32_t *slot = p->key_slot + p->pattern[pattern].first_key;
    const uint64_t *key = p->key_word + p->pattern[pattern].first_key;
    uint32_t n_keys = p->pattern[pattern].n_keys;
    uint32_t n = 0;
    for (uint32_t i = 0; i < sets->n; i++) {
        uint64_t leaves = sets->set[i].word[word];
        if (leaves == 0) {
            continue;
        }
        if (n == n_keys || slot[n] != sets->slot[i] || key[n] != leaves) {
            return false;
        }
        n++;
    }
    return n == n_keys;
}

/* Short: a call of memcmp() would take longer. */
static inline bool patterns_is_same(const uint64_t *a, const uint64_t *b, uint32_t n) {
    uint64_t differ = 0;
    for (uint32_t w = 0; w < n; w++) {
        differ |= a[w] ^ b[w];
    }
    return differ == 0;
}

static fab_status patterns_add_list(fab_port_patterns *p, const uint64_t *mask, uint32_t tag, uint32_t *out,
                                    fab_error *err) {
    uint32_t list = p->list_table.n;
    FAB_PASS(FAB_GROW(p->list, p->list_capacity, (size_t)list + 1, err));
    FAB_PASS(FAB_GROW(p->list_mask, p->list_mask_capacity, ((size_t)list + 1) * p->n_words, err));
    FAB_PASS(fab_id_table_add(&p->list_table, tag, err));
    memcpy(p->list_mask + (size_t)list * p->n_words, mask, p->n_words * sizeof *mask);
    FAB_SUM(uint32_t, count, w, p->n_words, (uint32_t)__builtin_popcountll(mask[w]));
    FAB_REFUSE_IF(p->n_list_slots + count > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "the fabric is too large: lists of more than %u next hops", UINT32_MAX);
    p->list[list] = (fab_port_list){.first = (uint32_t)p->n_list_slots, .count = count};
    p->n_list_slots += count;
    *out = list;
    return FAB_OK;
}

static fab_status find_list(fab_port_patterns *p, const uint64_t *mask, uint32_t *out, fab_error *err) {
    uint64_t digest = 0;
    for (uint32_t w = 0; w < p->n_words; w++) {
        digest = fab_mix64(digest ^ mask[w]);
    }
    uint32_t tag = (uint32_t)(digest >> 32);
    size_t probe = 0;
    for (uint32_t list; (list = fab_id_table_next(&p->list_table, tag, &probe)) != UINT32_MAX;) {
        if (patterns_is_same(p->list_mask + (size_t)list * p->n_words, mask, p->n_words)) {
            *out = list;
            return FAB_OK;
        }
    }
    return patterns_add_list(p, mask, tag, out, err);
}

/* Swaps the off-diagonal halves of all squares of 2j bits. */
static inline void swap_squares(uint64_t a[64], unsigned j, uint64_t m) {
    for (unsigned first = 0; first < 64; first += 2 * j) {
        for (unsigned k = first; k < first + j; k++) {
            uint64_t t = (a[k] >> j ^ a[k + j]) & m;
            a[k] ^= t << j;
            a[k + j] ^= t;
        }
    }
}

/* Bit c of word r goes to bit r of word c (Warren, Hacker's Delight, 7-3). */
static void turn_over(uint64_t a[64]) {
    swap_squares(a, 32, UINT64_C(0x00000000ffffffff));
    swap_squares(a, 16, UINT64_C(0x0000ffff0000ffff));
    swap_squares(a, 8, UINT64_C(0x00ff00ff00ff00ff));
    swap_squares(a, 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
    swap_squares(a, 2, UINT64_C(0x3333333333333333));
    swap_squares(a, 1, UINT64_C(0x5555555555555555));
}

static void find_masks(fab_port_patterns *p, const fab_port_sets *sets, uint32_t word) {
    uint32_t i = 0;
    for (uint32_t chunk = 0; chunk < p->n_words; chunk++) {
        uint64_t rows[64] = {0};
        for (; i < sets->n && sets->slot[i] / 64 == chunk; i++) {
            rows[sets->slot[i] % 64] = sets->set[i].word[word];
        }
        turn_over(rows);
        for (uint32_t leaf = 0; leaf < 64; leaf++) {
            p->mask[(size_t)leaf * p->n_words + chunk] = rows[leaf];
        }
    }
}

static bool is_empty(const uint64_t *mask, uint32_t n) {
    uint64_t any = 0;
    for (uint32_t w = 0; w < n; w++) {
        any |= mask[w];
    }
    return any == 0;
}

static fab_status find_classes(fab_port_patterns *p, fab_port_pattern *out, fab_error *err) {
    p->serial++;
    for (uint32_t leaf = 0; leaf < 64; leaf++) {
        const uint64_t *mask = p->mask + (size_t)leaf * p->n_words;
        if (is_empty(mask, p->n_words)) {
            out->class_of[leaf] = 0;
            continue;
        }
        if (leaf > 0 && patterns_is_same(mask, mask - p->n_words, p->n_words)) {
            out->class_of[leaf] = out->class_of[leaf - 1];
            continue;
        }
        uint32_t list = 0;
        FAB_PASS(find_list(p, mask, &list, err));
        if (p->list[list].pattern != p->serial) {
            p->list[list].pattern = p->serial;
            p->list[list].local = (uint8_t)(out->n_classes + 1);
            p->class_list[p->n_class_lists + out->n_classes] = list;
            p->class_number[p->n_class_lists + out->n_classes] = 0;
            out->n_classes++;
        }
        out->class_of[leaf] = p->list[list].local;
    }
    p->n_class_lists += out->n_classes;
    return FAB_OK;
}

static fab_status add_pattern(fab_port_patterns *p, const fab_port_sets *sets, uint32_t word, uint32_t tag,
                              fab_error *err) {
    uint32_t id = p->pattern_table.n;
    FAB_PASS(FAB_GROW(p->pattern, p->pattern_capacity, (size_t)id + 1, err));
    FAB_PASS(FAB_GROW(p->key_slot, p->key_slot_capacity, p->n_keys + sets->n, err));
    FAB_PASS(FAB_GROW(p->key_word, p->key_word_capacity, p->n_keys + sets->n, err));
    FAB_PASS(FAB_GROW(p->class_list, p->class_list_capacity, p->n_class_lists + 64, err));
    FAB_PASS(FAB_GROW(p->class_number, p->class_number_capacity, p->n_class_lists + 64, err));
    fab_port_pattern *out = &p->pattern[id];
    *out = (fab_port_pattern){.first_key = p->n_keys, .first_class = p->n_class_lists, .chunk = FAB_NONE};
    for (uint32_t i = 0; i < sets->n; i++) {
        if (sets->set[i].word[word] != 0) {
            p->key_slot[p->n_keys] = sets->slot[i];
            p->key_word[p->n_keys++] = sets->set[i].word[word];
            out->n_keys++;
        }
    }
    find_masks(p, sets, word);
    FAB_PASS(find_classes(p, out, err));
    return fab_id_table_add(&p->pattern_table, tag, err);
}

static fab_status find_pattern(fab_port_patterns *p, const fab_port_sets *sets, uint32_t word, uint32_t *out,
                               fab_error *err) {
    uint32_t tag = (uint32_t)(fab_mix64(sets->digest[word]) >> 32);
    size_t probe = 0;
    while ((*out = fab_id_table_next(&p->pattern_table, tag, &probe)) != UINT32_MAX) {
        if (is_pattern(p, *out, sets, word)) {
            return FAB_OK;
        }
    }
    *out = p->pattern_table.n;
    return add_pattern(p, sets, word, tag, err);
}

static uint32_t key_tag(const fab_port_patterns *p, const uint64_t *key, uint32_t n) {
    uint64_t digest = n;
    for (uint32_t i = 0; i < n; i++) {
        digest += key[i] * p->salt[i];
    }
    return (uint32_t)(fab_mix64(digest) >> 32);
}

const uint32_t *fab_port_patterns_recall(const fab_port_patterns *p, const uint64_t *key, uint32_t n_keys) {
    uint32_t tag = key_tag(p, key, n_keys);
    size_t probe = 0;
    for (uint32_t id; (id = fab_id_table_next(&p->block_table, tag, &probe)) != UINT32_MAX;) {
        const fab_port_block *block = &p->block[id];
        if (block->n_keys == n_keys && memcmp(p->block_key + block->first_key, key, n_keys * sizeof *key) == 0) {
            return block->pattern;
        }
    }
    return NULL;
}

/* Forgets all when there might not be room for the patterns of a block. */
static void reserve_patterns(fab_port_patterns *p, uint32_t n_keys, uint32_t n_ports) {
    if (p->pattern_table.n + FAB_SET_WORDS > MOST_PATTERNS || p->n_keys + (size_t)FAB_SET_WORDS * n_ports > MOST_KEYS ||
        p->n_block_keys + n_keys > MOST_KEYS) {
        fab_id_table_clear(&p->pattern_table);
        fab_id_table_clear(&p->block_table);
        p->n_keys = 0;
        p->n_class_lists = 0;
        p->n_block_keys = 0;
    }
}

fab_status fab_port_patterns_learn(fab_port_patterns *p, const uint64_t *key, uint32_t n_keys,
                                   const fab_port_sets *sets, const uint32_t **out, fab_error *err) {
    reserve_patterns(p, n_keys, sets->n);
    uint32_t id = p->block_table.n;
    FAB_PASS(FAB_GROW(p->block, p->block_capacity, (size_t)id + 1, err));
    FAB_PASS(FAB_GROW(p->block_key, p->block_key_capacity, p->n_block_keys + n_keys, err));
    fab_port_block *block = &p->block[id];
    *block = (fab_port_block){.first_key = p->n_block_keys, .n_keys = n_keys};
    for (uint32_t w = 0; w < FAB_SET_WORDS; w++) {
        FAB_PASS(find_pattern(p, sets, w, &block->pattern[w], err));
    }
    FAB_PASS(fab_id_table_add(&p->block_table, key_tag(p, key, n_keys), err));
    memcpy(p->block_key + p->n_block_keys, key, n_keys * sizeof *key);
    p->n_block_keys += n_keys;
    *out = block->pattern;
    return FAB_OK;
}
