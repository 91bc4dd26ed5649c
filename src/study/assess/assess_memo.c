/* A table of keys and values. */
#include "assess_memo.h"

#include "fab/id_table.h"
#include "fab/rng.h"

#include <pthread.h>

#define EMPTY UINT32_MAX

typedef struct memo_entry {
    uint64_t hash;
    size_t first, n; /* of its key, in words */
} memo_entry;

struct assess_memo {
    pthread_mutex_t lock;
    size_t value_size, most_bytes;
    fab_id_table table; /* of the entries */
    memo_entry *entry;  /* [n] */
    uint8_t *value;     /* [n][value_size] */
    uint64_t *word;     /* [n_words] */
    size_t n, n_words, entry_capacity, value_capacity, word_capacity;
};

fab_status assess_key_add(assess_key *key, uint64_t word, fab_error *err) {
    return FAB_APPEND(key->word, key->n, key->capacity, err, word);
}

fab_status assess_key_add_double(assess_key *key, double value, fab_error *err) {
    uint64_t word = 0;
    memcpy(&word, &value, sizeof word);
    return assess_key_add(key, word, err);
}

fab_status assess_memo_new(size_t value_size, size_t most_bytes, assess_memo **out, fab_error *err) {
    FAB_OWNS_NEW(assess_memo_free_owned, assess_memo, m, 1, err);
    (void)pthread_mutex_init(&m->lock, NULL);
    m->value_size = value_size;
    m->most_bytes = most_bytes;
    return FAB_GIVE(*out, m);
}

FAB_FREES_AFTER(assess_memo_free, assess_memo, m) {
    (void)pthread_mutex_destroy(&m->lock);
    fab_id_table_release(&m->table);
    FAB_FREE_ALL(m->entry, m->value, m->word);
}

static uint64_t memo_hash(const assess_key *key) {
    uint64_t hash = key->n;
    for (size_t i = 0; i < key->n; i++) {
        hash = fab_mix64(hash ^ key->word[i]);
    }
    return hash;
}

/* Entry of a key, or EMPTY. */
static uint32_t memo_find(const assess_memo *m, const assess_key *key, uint64_t hash) {
    size_t probe = 0;
    uint32_t id = EMPTY;
    while ((id = fab_id_table_next(&m->table, (uint32_t)hash, &probe)) != EMPTY) {
        const memo_entry *e = &m->entry[id];
        if (e->hash == hash && e->n == key->n && memcmp(m->word + e->first, key->word, e->n * sizeof *key->word) == 0) {
            break;
        }
    }
    return id;
}

bool assess_memo_get(assess_memo *m, const assess_key *key, void *out) {
    if (m == NULL) {
        return false;
    }
    const uint64_t hash = memo_hash(key);
    (void)pthread_mutex_lock(&m->lock);
    const uint32_t entry = memo_find(m, key, hash);
    if (entry != EMPTY) {
        memcpy(out, m->value + entry * m->value_size, m->value_size);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return entry != EMPTY;
}

static size_t memo_bytes(const assess_memo *m) {
    return m->n * (m->value_size + sizeof *m->entry) + m->n_words * sizeof *m->word +
           m->table.size * sizeof *m->table.slot;
}

static fab_status memo_add(assess_memo *m, const assess_key *key, const void *value, fab_error *err) {
    const uint64_t hash = memo_hash(key);
    if (memo_find(m, key, hash) != EMPTY) {
        return FAB_OK;
    }
    if (memo_bytes(m) + m->value_size + key->n * sizeof *key->word > m->most_bytes) {
        m->n = m->n_words = 0;
        fab_id_table_clear(&m->table);
    }
    FAB_PASS(FAB_GROW(m->entry, m->entry_capacity, m->n + 1, err));
    FAB_PASS(FAB_GROW(m->value, m->value_capacity, (m->n + 1) * m->value_size, err));
    FAB_PASS(FAB_GROW(m->word, m->word_capacity, m->n_words + key->n + 1, err));
    m->entry[m->n] = (memo_entry){hash, m->n_words, key->n};
    FAB_COPY(m->word + m->n_words, key->word, key->n);
    memcpy(m->value + m->n * m->value_size, value, m->value_size);
    FAB_PASS(fab_id_table_add(&m->table, (uint32_t)hash, err));
    m->n++;
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
