#include "result_walk.h"

#include "fab/reports.h"

const char *const fab_histogram_names[FAB_HISTOGRAM] = {"0 - 0.25", "0.25 - 0.5", "0.5 - 0.75", "0.75 - 1",
                                                        "1 - 1.5",  "1.5 - 2",    "2 - 3",      "above 3"};

typedef struct walk {
    const fab_emitter *emit; /* NULL while looking for figures that are not finite */
    void *self;
    const char *bad_key;
    double bad_value;
} walk;

/* --- what a field holds ------------------------------------------------------------------------------------------- */

static void load_stat(const fab_stat *stat, double scale, fab_value *out) {
    out->type = FAB_FIELD_STAT;
    out->stat = (fab_stat){scale * stat->mean, scale * stat->ci95, scale * stat->p50,
                           scale * stat->p99,  scale * stat->min,  scale * stat->max};
}

static void load(const fab_field *f, fab_field_type type, const void *at, fab_value *out) {
    double scale = f->scale != 0 ? f->scale : 1;
    out->type = type == FAB_FIELD_U32 ? FAB_FIELD_COUNT : fab_field_is_text(type) ? FAB_FIELD_TEXT : type;
    switch (type) {
    case FAB_FIELD_BOOL: out->truth = *(const bool *)at; break;
    case FAB_FIELD_U32: out->count = *(const uint32_t *)at + f->is_index; break;
    case FAB_FIELD_COUNT: out->count = *(const uint64_t *)at + f->is_index; break;
    case FAB_FIELD_REAL: out->real = scale * *(const double *)at; break;
    case FAB_FIELD_TEXT: out->text = *(const char *const *)at; break;
    case FAB_FIELD_CHARS: out->text = at; break;
    case FAB_FIELD_NAME: out->text = f->names[*(const unsigned *)at]; break;
    case FAB_FIELD_STAT: load_stat(at, scale, out); break;
    default: break;
    }
}

static void load_made(const fab_at *at, const fab_field *f, fab_value *out) {
    out->type = f->type;
    switch (f->type) {
    case FAB_FIELD_BOOL: out->truth = f->get.truth(at); break;
    case FAB_FIELD_COUNT: out->count = f->get.count(at); break;
    case FAB_FIELD_REAL: out->real = f->get.real(at); break;
    default: out->text = f->get.text(at); break;
    }
}

static void read_value(const fab_at *at, const fab_field *f, fab_value *out) {
    if (f->make != NULL) {
        out->type = FAB_FIELD_TEXT;
        out->text = f->make(at, out->room);
    } else if (f->get.rows != NULL) {
        load_made(at, f, out);
    } else {
        load(f, f->type, (const char *)at->row + f->at + at->index * f->stride, out);
    }
    if (out->type == FAB_FIELD_TEXT && out->text == NULL) {
        out->text = "";
    }
}

static bool is_filled(const fab_value *v) {
    switch (v->type) {
    case FAB_FIELD_BOOL: return v->truth;
    case FAB_FIELD_COUNT: return v->count > 0;
    case FAB_FIELD_REAL: return v->real > 0;
    case FAB_FIELD_STAT: return v->stat.mean > 0;
    default: return v->text != NULL && v->text[0] != '\0';
    }
}

/* The struct of an object or group, or the first element of a list. */
static const void *base_of(const fab_at *at, const fab_field *f) {
    const char *member = (const char *)at->row + f->at;
    return f->get.rows != NULL ? f->get.rows(at) : f->is_pointer ? *(const void *const *)(const void *)member : member;
}

static size_t count_elements(const fab_at *at, const fab_field *f) {
    fab_value n = {.count = (uint64_t)f->high};
    if (f->n != NULL) {
        return f->n(at);
    }
    load(f, f->n_type, (const char *)at->row + f->n_at, &n);
    return (size_t)n.count;
}

/* Of the elements of a list. */
static const fab_fields *table_of(const fab_at *at, const fab_field *f) {
    return f->is_other != NULL && f->is_other(at) ? f->other : f->table;
}

static bool is_there(const fab_at *at, const fab_field *f) {
    fab_value v = {.type = FAB_FIELD_NONE};
    if (f->if_type != FAB_FIELD_NONE) {
        load(f, f->if_type, (const char *)at->row + f->if_at, &v);
        if (!is_filled(&v)) {
            return false;
        }
    }
    if (f->only != NULL && !f->only(at)) {
        return false;
    }
    if (f->when == FAB_ALWAYS) {
        return true;
    }
    if (f->type == FAB_FIELD_LIST) {
        return count_elements(at, f) > 0;
    }
    if (f->type == FAB_FIELD_OBJECT) {
        return base_of(at, f) != NULL;
    }
    read_value(at, f, &v);
    return f->when == FAB_KNOWN ? !isnan(v.real) : is_filled(&v);
}

fab_value fab_values_at(const fab_values *values, size_t i) {
    fab_value out;
    load(values->field, values->field->item_type, values->first + i * values->field->stride, &out);
    return out;
}

const char *fab_value_text(const fab_value *value, char room[32]) {
    switch (value->type) {
    case FAB_FIELD_BOOL: return value->truth ? "true" : "false";
    case FAB_FIELD_COUNT: (void)snprintf(room, 32, "%" PRIu64, value->count); return room;
    case FAB_FIELD_REAL: return fab_format_double(room, value->real);
    default: return value->text;
    }
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

static void walk_rows(walk *w, const fab_at *at, const fab_fields *table);

static void check(walk *w, const char *key, double value) {
    if (w->bad_key == NULL && !isfinite(value)) {
        w->bad_key = key;
        w->bad_value = value;
    }
}

static void begin_object(walk *w, const fab_field *f, bool one_line) {
    if (w->emit != NULL) {
        w->emit->begin_object(w->self, f, one_line);
    }
}

static void end(walk *w) {
    if (w->emit != NULL) {
        w->emit->end(w->self);
    }
}

static void walk_stat(walk *w, const fab_field *f, const fab_stat *stat, bool is_of_seeds) {
    fab_value v = {.type = FAB_FIELD_REAL, .real = stat->mean};
    check(w, f->key, stat->mean);
    if (is_of_seeds) {
        check(w, f->key, stat->ci95 + stat->p50 + stat->p99 + stat->min + stat->max);
    }
    if (w->emit == NULL) {
        return;
    }
    if (!is_of_seeds && !w->emit->shows_means) {
        w->emit->value(w->self, f, &v);
        return;
    }
    begin_object(w, f, true);
    for (size_t i = 0; i < (is_of_seeds ? fab_stat_fields.n : 1); i++) { /* the mean is the first */
        const fab_field *row = &fab_stat_fields.rows[i];
        load(row, row->type, (const char *)stat + row->at, &v);
        w->emit->value(w->self, row, &v);
    }
    end(w);
}

static void walk_value(walk *w, const fab_at *at, const fab_field *f, const fab_fields *table) {
    fab_value v;
    read_value(at, f, &v);
    if (v.type == FAB_FIELD_STAT) {
        walk_stat(w, f, &v.stat, table->many(at));
        return;
    }
    if (v.type == FAB_FIELD_REAL) {
        check(w, f->key, v.real);
    }
    if (w->emit != NULL) {
        w->emit->value(w->self, f, &v);
    }
}

static void walk_scalars(walk *w, const fab_at *at, const fab_field *f) {
    fab_values values = {f, base_of(at, f), count_elements(at, f)};
    fab_value v;
    v.real = NAN; /* gcc 12 does not see that it is set */
    for (size_t i = 0; f->item_type == FAB_FIELD_REAL && i < values.n; i++) {
        v = fab_values_at(&values, i);
        check(w, f->key, v.real);
    }
    if (w->emit != NULL) {
        w->emit->values(w->self, &values);
    }
}

static bool has_scalars_only(const fab_fields *table) {
    const fab_field *f = table->rows;
    FAB_ALL(all, i, table->n, f[i].type == FAB_FIELD_GROUP ? has_scalars_only(f[i].table) : fab_field_is_scalar(&f[i]));
    return all;
}

static void walk_list(walk *w, const fab_at *at, const fab_field *f) {
    const fab_fields *table = table_of(at, f);
    bool one_line = has_scalars_only(table);
    const char *first = base_of(at, f);
    size_t n = count_elements(at, f);
    if (w->emit != NULL) {
        w->emit->begin_list(w->self, f);
    }
    for (size_t i = 0; i < n; i++) {
        fab_at element = {first + i * table->size, i, at};
        if (table->is_left_out == NULL || !table->is_left_out(&element)) {
            begin_object(w, NULL, one_line);
            walk_rows(w, &element, table);
            end(w);
        }
    }
    end(w);
}

static void walk_rows(walk *w, const fab_at *at, const fab_fields *table) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        if (!is_there(at, f)) {
            continue;
        }
        if (f->type == FAB_FIELD_GROUP) {
            fab_at group = {base_of(at, f), at->index, at->up};
            walk_rows(w, &group, f->table);
        } else if (f->type == FAB_FIELD_OBJECT) {
            fab_at object = {base_of(at, f), 0, at};
            begin_object(w, f, f->table->is_small);
            walk_rows(w, &object, f->table);
            end(w);
        } else if (f->type != FAB_FIELD_LIST) {
            walk_value(w, at, f, table);
        } else if (f->table != NULL) {
            walk_list(w, at, f);
        } else {
            walk_scalars(w, at, f);
        }
    }
}

static void walk_result(walk *w, const fab_result *result) {
    fab_at at = {result, 0, NULL};
    begin_object(w, NULL, false);
    walk_rows(w, &at, &fab_result_fields);
    end(w);
}

void fab_result_walk(const fab_result *result, const fab_emitter *emitter, void *self) {
    walk w = {.emit = emitter, .self = self};
    walk_result(&w, result);
}

fab_status fab_result_check(const fab_result *result, fab_error *err) {
    walk w = {.emit = NULL};
    walk_result(&w, result);
    return w.bad_key == NULL ? FAB_OK
                             : fab_fail(err, FAB_EINTERNAL, w.bad_key, "a figure of the result is %g", w.bad_value);
}

/* --- one figure by its place -------------------------------------------------------------------------------------- */

/* Behind the dot at `end`, which something follows, or the end of the path; NULL: a word goes on there. */
static const char *next_word(const char *end) {
    return end[0] == '\0' ? end : end[0] == '.' && end[1] != '\0' ? end + 1 : NULL;
}

/* What is behind `key` in the path; NULL where it begins otherwise. */
static const char *behind(const char *path, const char *key) {
    size_t n = strlen(key);
    return strncmp(path, key, n) == 0 ? next_word(path + n) : NULL;
}

/* The same of the number of an element; a path without one means the first. */
static const char *behind_number(const char *path, uint64_t *out_number) {
    char *end = NULL;
    *out_number = 1;
    if (path[0] < '0' || path[0] > '9') {
        return path;
    }
    *out_number = strtoull(path, &end, 10);
    return next_word(end);
}

static bool take_value(const fab_value *v, double *out) {
    *out = v->type == FAB_FIELD_COUNT ? (double)v->count : v->real;
    return v->type == FAB_FIELD_COUNT || v->type == FAB_FIELD_REAL;
}

/* A figure over several seeds has a word more in its path, "mean" where there is none. */
static bool take_stat(const fab_stat *stat, bool is_of_seeds, const char *rest, double *out) {
    const char *word = rest[0] == '\0' ? fab_stat_fields.rows[0].key : rest;
    for (size_t i = 0; i < fab_stat_fields.n && (is_of_seeds || rest[0] == '\0'); i++) {
        const fab_field *row = &fab_stat_fields.rows[i];
        if (strcmp(row->key, word) == 0) {
            *out = *(const double *)(const void *)((const char *)stat + row->at);
            return true;
        }
    }
    return false;
}

static bool find_figure(const fab_at *at, const fab_fields *table, const char *path, double *out, const char **unit);

static bool find_element(const fab_at *at, const fab_field *f, const char *path, double *out, const char **unit) {
    uint64_t number = 0;
    const char *rest = behind_number(path, &number);
    size_t n = count_elements(at, f);
    const char *first = base_of(at, f);
    if (f->table == NULL) {
        const fab_values values = {f, first, n};
        if (rest == NULL || rest[0] != '\0' || number == 0 || number > n) {
            return false;
        }
        fab_value v = fab_values_at(&values, number - 1);
        *unit = f->unit;
        return take_value(&v, out);
    }
    const fab_fields *table = table_of(at, f);
    for (size_t i = 0; rest != NULL && i < n; i++) {
        fab_at element = {first + i * table->size, i, at};
        if ((table->is_left_out == NULL || !table->is_left_out(&element)) && --number == 0) {
            return find_figure(&element, table, rest, out, unit);
        }
    }
    return false;
}

static bool find_figure(const fab_at *at, const fab_fields *table, const char *path, double *out, const char **unit) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        const char *rest = f->type == FAB_FIELD_GROUP ? path : behind(path, f->key);
        if (rest == NULL || !is_there(at, f)) {
            continue;
        }
        if (f->type == FAB_FIELD_LIST) {
            return find_element(at, f, rest, out, unit);
        }
        if (f->type == FAB_FIELD_GROUP || f->type == FAB_FIELD_OBJECT) {
            bool is_group = f->type == FAB_FIELD_GROUP;
            fab_at below = {base_of(at, f), is_group ? at->index : 0, is_group ? at->up : at};
            if (find_figure(&below, f->table, rest, out, unit)) {
                return true;
            }
            continue;
        }
        fab_value v;
        read_value(at, f, &v);
        *unit = f->unit;
        return v.type == FAB_FIELD_STAT ? take_stat(&v.stat, table->many(at), rest, out)
                                        : rest[0] == '\0' && take_value(&v, out);
    }
    return false;
}

fab_status fab_result_figure(const fab_result *result, const char *path, double *out, const char **out_unit,
                             fab_error *err) {
    fab_at at = {result, 0, NULL};
    const char *unit = NULL;
    double value = 0;
    FAB_PASS(fab_result_check(result, err));
    FAB_REFUSE_IF(!find_figure(&at, &fab_result_fields, path, &value, &unit), err, FAB_EINPUT, NULL,
                  "the result has no figure '%.90s'", path);
    *out = value;
    *out_unit = unit;
    return FAB_OK;
}
