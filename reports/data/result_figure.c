/* One figure of a result by its place, from the same walk that all formats use. */
#include "fab/reports.h"
#include "result_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 32

/* An object or list that is being walked. */
typedef struct figure_level {
    const char *rest;       /* of the path, below it; NULL: the path does not lead here */
    const fab_field *seeds; /* its figures are those of this field over several seeds */
    size_t element;         /* of a list: how many came so far */
} figure_level;

typedef struct figure_search {
    figure_level level[DEEPEST];
    size_t depth;
    bool found;
    double value;
    const char *unit;
} figure_search;

/* Behind the dot at `end`, which something follows, or the end of the path; NULL: a word goes on there. */
static const char *next_word(const char *end) {
    return end[0] == '\0' ? end : end[0] == '.' && end[1] != '\0' ? end + 1 : NULL;
}

/* What is behind `key` in the path; NULL where it begins otherwise. */
static const char *behind(const char *path, const char *key) {
    size_t n = strlen(key);
    return path != NULL && strncmp(path, key, n) == 0 ? next_word(path + n) : NULL;
}

/* The same of a number of an element; a path without one means the first. */
static const char *behind_number(const char *path, size_t number) {
    char *end = NULL;
    if (path == NULL || path[0] < '0' || path[0] > '9') {
        return number == 1 ? path : NULL;
    }
    return strtoull(path, &end, 10) == number ? next_word(end) : NULL;
}

static void figure_enter(figure_search *s, const char *rest, const fab_field *seeds) {
    if (s->depth < DEEPEST) {
        s->level[s->depth] = (figure_level){rest, seeds, 0};
    }
    s->depth++;
}

static const char *rest_below(figure_search *s, const fab_field *field) {
    figure_level *around = &s->level[s->depth - 1];
    if (s->depth > DEEPEST) {
        return NULL;
    }
    return field != NULL ? behind(around->rest, field->key) : behind_number(around->rest, ++around->element);
}

static void figure_begin_object(void *self, const fab_field *field, bool one_line) {
    figure_search *s = self;
    (void)one_line;
    const char *rest = s->depth == 0 ? s->level[0].rest : rest_below(s, field);
    const fab_field *seeds = field != NULL && field->type == FAB_FIELD_STAT ? field : NULL;
    figure_enter(s, seeds != NULL && rest != NULL && rest[0] == '\0' ? "mean" : rest, seeds);
}

static void figure_begin_list(void *self, const fab_field *field) {
    figure_search *s = self;
    figure_enter(s, rest_below(s, field), NULL);
}

static void figure_end(void *self) {
    ((figure_search *)self)->depth--;
}

static void figure_take(figure_search *s, const fab_field *field, const fab_value *value) {
    if (s->found || (value->type != FAB_FIELD_COUNT && value->type != FAB_FIELD_REAL)) {
        return;
    }
    const fab_field *seeds = s->level[s->depth - 1].seeds;
    s->found = true;
    s->value = value->type == FAB_FIELD_COUNT ? (double)value->count : value->real;
    s->unit = seeds != NULL ? seeds->unit : field->unit;
}

static void figure_value(void *self, const fab_field *field, const fab_value *value) {
    figure_search *s = self;
    const char *rest = s->depth <= DEEPEST ? behind(s->level[s->depth - 1].rest, field->key) : NULL;
    if (rest != NULL && rest[0] == '\0') {
        figure_take(s, field, value);
    }
}

static void figure_values(void *self, const fab_values *values) {
    figure_search *s = self;
    const char *rest = s->depth <= DEEPEST ? behind(s->level[s->depth - 1].rest, values->field->key) : NULL;
    for (size_t i = 0; rest != NULL && i < values->n; i++) {
        const char *below = behind_number(rest, i + 1);
        fab_value value;
        if (below != NULL && below[0] == '\0') {
            fab_values_at(values, i, &value);
            figure_take(s, values->field, &value);
        }
    }
}

fab_status fab_result_figure(const fab_result *result, const char *path, double *out, const char **out_unit,
                             fab_error *err) {
    static const fab_emitter EMITTER = {.begin_object = figure_begin_object,
                                        .begin_list = figure_begin_list,
                                        .end = figure_end,
                                        .value = figure_value,
                                        .values = figure_values};
    figure_search search = {.found = false};
    search.level[0].rest = path;
    FAB_PASS(fab_result_walk(result, &EMITTER, &search, err));
    if (!search.found) {
        return fab_fail(err, FAB_EINPUT, NULL, "the result has no figure '%.90s'", path);
    }
    *out = search.value;
    *out_unit = search.unit;
    return FAB_OK;
}
