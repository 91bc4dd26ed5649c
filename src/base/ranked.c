/* Radix sort by the bytes of the values: those of numbers that are not negative are ordered as they are. */
#include "fab/ranked.h"

#define DIGITS 8
#define BASE   256

/* Falls where the value rises. */
static uint64_t key_of(const fab_ranked *r) {
    uint64_t bits = 0;
    double value = r->value + 0.0; /* no negative zero */
    memcpy(&bits, &value, sizeof bits);
    return ~bits;
}

/* One pass from `from` to `to`; `count`: how many have each value of the digit. */
static void deal(const fab_ranked *from, size_t n, int digit, const size_t *count, fab_ranked *to) {
    size_t next[BASE];
    size_t sum = 0;
    for (int i = 0; i < BASE; i++) {
        next[i] = sum;
        sum += count[i];
    }
    for (size_t i = 0; i < n; i++) {
        to[next[key_of(&from[i]) >> 8 * digit & (BASE - 1)]++] = from[i];
    }
}

fab_status fab_ranked_sort(fab_ranked *list, size_t n, fab_error *err) {
    FAB_OWNED size_t(*count)[BASE] = NULL;
    fab_ranked *from = list;
    FAB_OWNED_NEW(fab_ranked, memory, n, err);
    FAB_PASS(FAB_NEW(count, DIGITS, err));
    fab_ranked *to = memory;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(&list[i]);
        for (int digit = 0; digit < DIGITS; digit++) {
            count[digit][key >> 8 * digit & (BASE - 1)]++;
        }
    }
    for (int digit = 0; digit < DIGITS && n > 0; digit++) {
        if (count[digit][key_of(&from[0]) >> 8 * digit & (BASE - 1)] == n) {
            continue; /* all have the same */
        }
        deal(from, n, digit, count[digit], to);
        fab_ranked *dealt = to;
        to = from;
        from = dealt;
    }
    if (from != list) {
        memcpy(list, from, n * sizeof *list);
    }
    return FAB_OK;
}

/* Places are shifted by two while they are counted, by one while they are filled. */
void fab_sort_by_key(const uint32_t *key, const uint32_t *numbers, uint32_t n, uint32_t n_keys, uint32_t *first,
                     uint32_t *out) {
    memset(first, 0, ((size_t)n_keys + 2) * sizeof *first);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = key[numbers != NULL ? numbers[i] : i];
        if (k != UINT32_MAX) {
            first[k + 2]++;
        }
    }
    FAB_ADD_UP(first + 1, n_keys);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = numbers != NULL ? numbers[i] : i;
        if (key[number] != UINT32_MAX) {
            out[first[key[number] + 1]++] = number;
        }
    }
}
