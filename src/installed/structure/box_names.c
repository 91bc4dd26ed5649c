#include "box_names.h"

#include "fab/fnv.h"

#include <ctype.h>

static bool is_joint(char c) {
    return c == '-' || c == '_';
}

/* Whether a run of letters says what a switch is: IBLEAF. */
static bool is_word_of_tier(const char *run, size_t n) {
    static const char *const WORDS[] = {"leaf", "spine", "core"};
    for (size_t i = 0; i < FAB_N_OF(WORDS); i++) {
        size_t length = strlen(WORDS[i]);
        for (size_t at = 0; at + length <= n; at++) {
            FAB_FIRST(same, length, tolower((unsigned char)run[at + same]) != WORDS[i][same]);
            if (same == length) {
                return true;
            }
        }
    }
    return false;
}

/* The longest run of letters that ends before a digit or a separator and a digit, one that names a tier before others:
 * "cell-2-leaf-0". "A09" is a place, not a role. */
static const char *role_of(const char *label, size_t *out_n) {
    const char *best = NULL;
    size_t most = 1;
    bool is_best_known = false;
    for (const char *c = label; *c != '\0';) {
        size_t n = 0;
        while (isalpha((unsigned char)c[n])) {
            n++;
        }
        bool is_known = is_word_of_tier(c, n);
        if (n > 1 && isdigit((unsigned char)c[n + is_joint(c[n])]) &&
            (is_known != is_best_known ? is_known : n > most)) {
            most = n;
            best = c;
            is_best_known = is_known;
        }
        c += n > 0 ? n : 1;
    }
    *out_n = best != NULL ? most : 0;
    return best;
}

/* A number is one sign. */
static uint64_t pattern_of(const char *text, size_t n) {
    uint64_t hash = FAB_FNV_BEGIN;
    for (size_t i = 0; i < n; i++) {
        bool is_number = isdigit((unsigned char)text[i]) != 0;
        if (!is_number || i == 0 || !isdigit((unsigned char)text[i - 1])) {
            hash = fab_fnv(hash, is_number ? "0" : text + i, 1);
        }
    }
    return hash;
}

uint64_t fab_name_pattern(const char *name) {
    return pattern_of(name, strlen(name));
}

const char *fab_board_of(const char *label) {
    const char *chip = strrchr(label, '/');
    const char *at = chip;
    if (chip == NULL || chip[1] != 'U' || !isdigit((unsigned char)chip[2])) {
        return NULL;
    }
    while (at > label && isdigit((unsigned char)at[-1])) {
        at--;
    }
    return at < chip && at - label > 1 && (at[-1] == 'L' || at[-1] == 'S') && at[-2] == '/' ? at - 1 : NULL;
}

fab_box_name fab_box_name_of(const char *label) {
    const char *board = fab_board_of(label);
    fab_box_name name = {.role = board, .n_role = 1, .is_board = board != NULL};
    if (board == NULL) {
        name.role = role_of(label, &name.n_role);
    }
    name.before = name.role != NULL ? pattern_of(label, (size_t)(name.role - label)) : 0;
    const char *at = name.role != NULL ? name.role + name.n_role : "";
    while (name.n < FAB_NAME_NUMBERS) {
        char *end = NULL;
        at += name.is_board && *at == '/' ? 2 : is_joint(*at);
        if (!isdigit((unsigned char)*at)) {
            break;
        }
        name.at[name.n] = strtoul(at, &end, 10);
        name.width[name.n++] = (int)(end - at);
        at = end;
        if (!is_joint(*at) && !(name.is_board && *at == '/')) {
            break;
        }
    }
    return name;
}

int fab_box_role_compare(const fab_box_name *a, const fab_box_name *b) {
    size_t n = a->n_role < b->n_role ? a->n_role : b->n_role;
    int order = n > 0 ? strncmp(a->role, b->role, n) : 0;
    if (order != 0 || a->n_role != b->n_role) {
        return order != 0 ? order : FAB_ORDER(a->n_role, b->n_role);
    }
    return a->is_board ? FAB_ORDER(a->before, b->before) : 0;
}
