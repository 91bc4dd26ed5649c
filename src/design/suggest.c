#include "field.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORD 63

/*
 * Levenshtein distance; words longer than MAX_WORD count as far away. What `b` has beyond the best match of `a` costs 1
 * in all, so that "llama3" is near "llama3-24k-ib".
 */
static size_t edit_distance(const char *a, const char *b) {
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    if (n_a > MAX_WORD || n_b > MAX_WORD) {
        return MAX_WORD;
    }
    size_t row[MAX_WORD + 1];
    for (size_t j = 0; j <= n_b; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < gap ? change : gap;
        }
    }
    size_t best = row[n_b];
    for (size_t j = 3; j < n_b; j++) {
        best = row[j] + 1 < best ? row[j] + 1 : best;
    }
    return best;
}

void suggestion_init(suggestion *s, const char *word) {
    *s = (suggestion){.word = word, .best_distance = MAX_WORD, .all = FAB_STR_INIT};
}

void suggestion_add(suggestion *s, const char *candidate) {
    size_t distance = edit_distance(s->word, candidate);
    if (distance < s->best_distance) {
        s->best_distance = distance;
        (void)snprintf(s->best, sizeof s->best, "%s", candidate);
    }
    fab_str_printf(&s->all, "%s%s", s->all.length > 0 ? ", " : "", candidate);
}

/* A list that is too long ends with a whole word and dots. */
static void end_at_a_word(char *text, size_t size) {
    static const char DOTS[] = ", ...";
    if (size >= sizeof DOTS) {
        text[size - sizeof DOTS + 1] = '\0';
        char *comma = strrchr(text, ',');
        char *end = comma != NULL ? comma : text + strlen(text);
        memcpy(end, DOTS, sizeof DOTS);
    }
}

const char *suggestion_finish(suggestion *s, char *out, size_t size) {
    size_t allowed = (strlen(s->word) + 1) / 3;
    allowed = allowed < 1 ? 1 : allowed > 3 ? 3 : allowed;
    char near[96] = "";
    if (s->word[0] != '\0' && s->best_distance <= allowed) {
        (void)snprintf(near, sizeof near, "did you mean '%s'? ", s->best);
    }
    bool complete = s->all.data != NULL && !s->all.failed;
    int n = snprintf(out, size, "; %s%s%s", near, complete ? "allowed: " : "", complete ? s->all.data : "");
    if (n >= 0 && (size_t)n >= size) {
        end_at_a_word(out, size);
    }
    fab_str_release(&s->all);
    return out;
}
