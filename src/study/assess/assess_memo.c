/* A table of keys and values in open addressing. */
#include "assess_memo.h"

#include "fab/memory.h"
#include "fab/rng.h"

#include <pthread.h>
#include <string.h>

#define EMPTY       UINT32_MAX
#define FIRST_SLOTS 256

typedef struct memo_entry {
    uint64_t hash;
    size_t first, n; /* of its key, in words */
} memo_entry;

struct assess_memo {
    pthread_mutex_t lock;
    size_t value_size, most_bytes;
    uint32_t *slot; /* [n_slots], a power of two: entry, or EMPTY */
    size_t n_slots;
    memo_entry *entry; /* [n] */
    uint8_t *value;    /* [n][value_size] */
    uint64_t *word;    /* [n_words] */
    size_t n, n_words, entry_capacity, value_capacity, word_capacity;
};

fab_status assess_key_add(assess_key *key, uint64_t word, fab_error *err) {
    FAB_PASS(FAB_GROW(key->word, key->capacity, key->n + 1, err));
    key->word[key->n++] = word;
    return FAB_OK;
}

fab_status assess_key_add_double(assess_key *key, double value, fab_error *err) {
    uint64_t word = 0;
    memcpy(&word, &value, sizeof word);
    return assess_key_add(key, word, err);
}

static fab_status memo_renew_slots(assess_memo *m, size_t n_slots, fab_error *err) {
    uint32_t *slot = NULL;
    FAB_PASS(FAB_NEW(slot, n_slots, err));
    memset(slot, 0xff, n_slots * sizeof *slot);
    for (size_t i = 0; i < m->n; i++) {
        size_t at = m->entry[i].hash & (n_slots - 1);
        while (slot[at] != EMPTY) {
            at = (at + 1) & (n_slots - 1);
        }
        slot[at] = (uint32_t)i;
    }
    FAB_FREE_ALL(m->slot);
    m->slot = slot;
    m->n_slots = n_slots;
    return FAB_OK;
}

fab_status assess_memo_new(size_t value_size, size_t most_bytes, assess_memo **out, fab_error *err) {
    fab_status status = FAB_OK;
    assess_memo *m = NULL;
    FAB_TRY(FAB_NEW(m, 1, err));
    (void)pthread_mutex_init(&m->lock, NULL);
    m->value_size = value_size;
    m->most_bytes = most_bytes;
    FAB_TRY(memo_renew_slots(m, FIRST_SLOTS, err));
    *out = m;
    m = NULL;
done:
    assess_memo_free(m);
    return status;
}

void assess_memo_free(assess_memo *m) {
    if (m != NULL) {
        (void)pthread_mutex_destroy(&m->lock);
        FAB_FREE_ALL(m->slot, m->entry, m->value, m->word, m);
    }
}

static uint64_t memo_hash(const assess_key *key) {
    uint64_t hash = key->n;
    for (size_t i = 0; i < key->n; i++) {
        hash = fab_mix64(hash ^ key->word[i]);
    }
    return hash;
}

/* Entry of a key, or EMPTY; and the slot where it is, or belongs. */
static uint32_t memo_find(const assess_memo *m, const assess_key *key, uint64_t hash, size_t *out_at) {
    size_t at = hash & (m->n_slots - 1);
    for (; m->slot[at] != EMPTY; at = (at + 1) & (m->n_slots - 1)) {
        const memo_entry *e = &m->entry[m->slot[at]];
        if (e->hash == hash && e->n == key->n && memcmp(m->word + e->first, key->word, e->n * sizeof *key->word) == 0) {
            break;
        }
    }
    *out_at = at;
    return m->slot[at];
}

bool assess_memo_get(assess_memo *m, const assess_key *key, void *out) {
    size_t at = 0;
    if (m == NULL) {
        return false;
    }
    const uint64_t hash = memo_hash(key);
    (void)pthread_mutex_lock(&m->lock);
    const uint32_t entry = memo_find(m, key, hash, &at);
    if (entry != EMPTY) {
        memcpy(out, m->value + entry * m->value_size, m->value_size);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return entry != EMPTY;
}

static size_t memo_bytes(const assess_memo *m) {
    return m->n * (m->value_size + sizeof *m->entry) + m->n_words * sizeof *m->word + m->n_slots * sizeof *m->slot;
}

static fab_status memo_add(assess_memo *m, const assess_key *key, const void *value, fab_error *err) {
    const uint64_t hash = memo_hash(key);
    size_t at = 0;
    if (memo_find(m, key, hash, &at) != EMPTY) {
        return FAB_OK;
    }
    if (memo_bytes(m) + m->value_size + key->n * sizeof *key->word > m->most_bytes) {
        m->n = m->n_words = 0;
        memset(m->slot, 0xff, m->n_slots * sizeof *m->slot);
    }
    if (2 * (m->n + 1) > m->n_slots) {
        FAB_PASS(memo_renew_slots(m, 2 * m->n_slots, err));
    }
    FAB_PASS(FAB_GROW(m->entry, m->entry_capacity, m->n + 1, err));
    FAB_PASS(FAB_GROW(m->value, m->value_capacity, (m->n + 1) * m->value_size, err));
    FAB_PASS(FAB_GROW(m->word, m->word_capacity, m->n_words + key->n + 1, err));
    m->entry[m->n] = (memo_entry){hash, m->n_words, key->n};
    if (key->n > 0) {
        memcpy(m->word + m->n_words, key->word, key->n * sizeof *key->word);
    }
    memcpy(m->value + m->n * m->value_size, value, m->value_size);
    (void)memo_find(m, key, hash, &at); /* slots may be others now */
    m->slot[at] = (uint32_t)m->n++;
    m->n_words += key->n;
    return FAB_OK;
}

fab_status assess_memo_put(assess_memo *m, const assess_key *key, const void *value, fab_error *err) {
    if (m == NULL) {
        return FAB_OK;
    }
    (void)pthread_mutex_lock(&m->lock);
    const fab_status status = memo_add(m, key, value, err);
    (void)pthread_mutex_unlock(&m->lock);
    return status;
}
