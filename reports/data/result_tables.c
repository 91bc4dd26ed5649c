#include "result_tables.h"

#include "result_walk.h"

#define DEPTH 16
#define NONE  UINT32_MAX

/* What the walk is in: the report, an object that is a table or a row, an object within one, a list. */
typedef struct frame {
    uint32_t table; /* NONE: the report itself */
    uint32_t row;   /* NONE: a list, or the report */
    size_t start;   /* in maker.prefix: where names in this row begin */
    size_t length;  /* of maker.prefix outside */
    const char *item;
    uint32_t n_elements; /* of a list, so far */
    uint32_t number;     /* of an element, from 1; 0: no element of a list */
    size_t id;           /* text that tells it from others */
    bool has_id;
} frame;

typedef struct maker {
    fab_result_tables *out;
    frame frames[DEPTH];
    int depth;
    char prefix[128]; /* "paths." */
    fab_status status;
    fab_error *err;
} maker;

/* --- storage ------------------------------------------------------------------------------------------------------ */

static size_t tables_keep(maker *m, const char *text) {
    fab_str *texts = &m->out->texts;
    size_t at = texts->length;
    fab_str_append(texts, text, strlen(text) + 1);
    m->status = m->status == FAB_OK ? fab_str_status(texts, m->err) : m->status;
    return at;
}

static uint32_t tables_add_table(maker *m, const char *parent, const char *prefix, const char *key) {
    fab_result_tables *t = m->out;
    char name[256];
    FAB_FORMAT(name, "%s%s%s", parent, prefix, key);
    const fab_rt_table *known = fab_result_tables_find(t, name);
    if (known != NULL) {
        return (uint32_t)(known - t->tables);
    }
    m->status = m->status == FAB_OK ? FAB_GROW(t->tables, t->capacity, t->n_tables + 1, m->err) : m->status;
    if (m->status != FAB_OK) {
        return NONE;
    }
    t->tables[t->n_tables] = (fab_rt_table){.name = tables_keep(m, name)};
    return (uint32_t)t->n_tables++;
}

static uint32_t tables_add_row(maker *m, uint32_t table) {
    if (m->status != FAB_OK || table == NONE) {
        return NONE;
    }
    m->out->tables[table].at = 0;
    return (uint32_t)m->out->tables[table].n_rows++;
}

/* Column of this name, behind the one that was met last where it is new. */
static uint32_t find_column(maker *m, fab_rt_table *t, const char *name, bool is_ancestor) {
    for (size_t i = 0; i < t->n_columns; i++) {
        size_t place = t->at + i < t->n_columns ? t->at + i : t->at + i - t->n_columns; /* mostly the next one */
        const fab_rt_column *c = &t->columns[t->order[place]];
        if (c->is_ancestor == is_ancestor && strcmp(fab_rt_text(m->out, c->name), name) == 0) {
            t->at = place + 1;
            return t->order[place];
        }
    }
    m->status = m->status == FAB_OK ? FAB_GROW(t->columns, t->columns_capacity, t->n_columns + 1, m->err) : m->status;
    m->status = m->status == FAB_OK ? FAB_GROW(t->order, t->order_capacity, t->n_columns + 1, m->err) : m->status;
    if (m->status != FAB_OK) {
        return NONE;
    }
    memmove(t->order + t->at + 1, t->order + t->at, (t->n_columns - t->at) * sizeof *t->order);
    t->order[t->at++] = (uint32_t)t->n_columns;
    t->columns[t->n_columns] = (fab_rt_column){.name = tables_keep(m, name), .is_ancestor = is_ancestor};
    return (uint32_t)t->n_columns++;
}

static void add_cell(maker *m, uint32_t table, uint32_t row, const char *name, const char *text, bool is_ancestor) {
    fab_result_tables *out = m->out;
    if (m->status != FAB_OK || table == NONE || row == NONE) {
        return;
    }
    fab_rt_table *t = &out->tables[table];
    uint32_t column = find_column(m, t, name, is_ancestor);
    m->status = m->status == FAB_OK ? FAB_GROW(t->cells, t->cells_capacity, t->n_cells + 1, m->err) : m->status;
    if (m->status == FAB_OK) {
        t->cells[t->n_cells++] = (fab_rt_cell){.text = tables_keep(m, text), .row = row, .column = column};
    }
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

static frame *top(maker *m) {
    return &m->frames[m->depth - 1];
}

static void tables_push(maker *m, frame f) {
    m->frames[m->depth++] = f; /* the walk nests to 8 */
}

static void tables_put(maker *m, const char *key, const char *text) {
    char name[256];
    frame *f = top(m);
    FAB_FORMAT(name, "%s%s", m->prefix + f->start, key);
    add_cell(m, f->table, f->row, name, text, false);
}

/* The first text of an element names it to those below. */
static void note_id(maker *m, const char *text) {
    frame *f = top(m);
    if (f->number > 0 && !f->has_id) {
        f->id = tables_keep(m, text);
        f->has_id = true;
    }
}

/* Number and name of every element that a new row is within. */
static void put_ancestors(maker *m, uint32_t table, uint32_t row) {
    for (int i = 1; i < m->depth && m->status == FAB_OK; i++) {
        const frame *f = &m->frames[i];
        const char *item = m->frames[i - 1].item;
        char name[80];
        char number[16];
        if (f->number == 0) {
            continue;
        }
        FAB_FORMAT(name, "%s_no", item);
        FAB_FORMAT(number, "%" PRIu32, f->number);
        add_cell(m, table, row, name, number, true);
        if (f->has_id && m->status == FAB_OK) {
            char *id = fab_strdup(fab_rt_text(m->out, f->id), m->err); /* texts move while they grow */
            m->status = id == NULL ? FAB_ENOMEM : m->status;
            if (id != NULL) {
                add_cell(m, table, row, item, id, true);
            }
            free(id);
        }
    }
}

/* A table below what the walk is in. */
static uint32_t table_below(maker *m, const char *key) {
    const frame *f = top(m);
    char parent[160] = "";
    if (m->status != FAB_OK) {
        return NONE;
    }
    if (f->table != NONE) {
        FAB_FORMAT(parent, "%s.", fab_rt_text(m->out, m->out->tables[f->table].name));
    }
    return tables_add_table(m, parent, m->prefix + f->start, key);
}

static void tables_begin_object(void *self, const fab_field *field, FAB_UNUSED bool one_line) {
    maker *m = self;
    frame f = {.table = NONE, .row = NONE, .length = strlen(m->prefix)};
    if (m->depth > 0) {
        frame *parent = top(m);
        f.table = parent->table;
        if (field == NULL) { /* an element of a list */
            f.number = ++parent->n_elements;
            f.row = tables_add_row(m, f.table);
            f.start = f.length;
            put_ancestors(m, f.table, f.row);
        } else if (parent->table == NONE) { /* of the report itself */
            f.table = table_below(m, field->key);
            f.row = tables_add_row(m, f.table);
        } else { /* within a row */
            f.row = parent->row;
            f.start = parent->start;
            (void)snprintf(m->prefix + f.length, sizeof m->prefix - f.length, "%s.", field->key);
        }
    }
    tables_push(m, f);
}

static void tables_begin_list(void *self, const fab_field *field) {
    maker *m = self;
    tables_push(
        m, (frame){.table = table_below(m, field->key), .row = NONE, .length = strlen(m->prefix), .item = field->item});
}

static void tables_end(void *self) {
    maker *m = self;
    m->prefix[top(m)->length] = '\0';
    m->depth--;
}

static void put_value(void *self, const fab_field *field, const fab_value *value) {
    char room[32];
    tables_put(self, field->key, fab_value_text(value, room));
    if (value->type == FAB_FIELD_TEXT) {
        note_id(self, value->text);
    }
}

/* Texts outside of rows: a table, since they may be sentences. */
static void put_texts(maker *m, const fab_values *values) {
    fab_value text;
    tables_begin_list(m, values->field);
    for (size_t i = 0; i < values->n; i++) {
        text = fab_values_at(values, i);
        tables_begin_object(m, NULL, true);
        tables_put(m, values->field->item, text.text);
        note_id(m, text.text);
        tables_end(m);
    }
    tables_end(m);
}

/* In a row one cell. */
static void tables_put_values(void *self, const fab_values *values) {
    maker *m = self;
    bool is_text = fab_field_is_text(values->field->item_type);
    FAB_OWNS(fab_str_release) fab_str list = FAB_STR_INIT;
    if (is_text && top(m)->number == 0) {
        put_texts(m, values);
        return;
    }
    for (size_t i = 0; i < values->n; i++) {
        char room[32];
        fab_value value = fab_values_at(values, i);
        fab_str_printf(&list, "%s%s", i == 0 ? "" : is_text ? "|" : " ", fab_value_text(&value, room));
    }
    m->status = m->status == FAB_OK ? fab_str_status(&list, m->err) : m->status;
    if (m->status == FAB_OK) {
        const char *text = list.length > 0 ? list.data : "";
        if (text[0] != '\0' &&
            strcmp(values->field->key, "values") == 0) { /* they name a point better than its digest */
            top(m)->has_id = false;
            note_id(m, text);
        }
        tables_put(m, values->field->key, text);
    }
}

static const fab_emitter EMITTER = {
    .begin_object = tables_begin_object,
    .begin_list = tables_begin_list,
    .end = tables_end,
    .value = put_value,
    .values = tables_put_values,
};

/* --- interface ---------------------------------------------------------------------------------------------------- */

fab_status fab_result_tables_make(const fab_result *result, fab_result_tables *out, fab_error *err) {
    FAB_OWNS(fab_result_tables_release) fab_result_tables tables = {.texts = FAB_STR_INIT};
    maker m = {.out = &tables, .err = err};
    fab_result_walk(result, &EMITTER, &m);
    FAB_PASS(m.status);
    return FAB_GIVE(*out, tables);
}

void fab_result_tables_release(fab_result_tables *tables) {
    for (size_t i = 0; i < tables->n_tables; i++) {
        FAB_FREE_ALL(tables->tables[i].columns, tables->tables[i].order, tables->tables[i].cells);
    }
    free(tables->tables);
    fab_str_release(&tables->texts);
    *tables = (fab_result_tables){.texts = FAB_STR_INIT};
}

const fab_rt_table *fab_result_tables_find(const fab_result_tables *tables, const char *name) {
    FAB_FIRST(i, tables->n_tables, strcmp(fab_rt_text(tables, tables->tables[i].name), name) == 0);
    return i < tables->n_tables ? &tables->tables[i] : NULL;
}

fab_status fab_rt_cells(const fab_result_tables *tables, const fab_rt_table *table, const char ***out, fab_error *err) {
    FAB_PASS(FAB_NEW(*out, table->n_rows * table->n_columns + 1, err));
    for (const fab_rt_cell *cell = table->cells; cell < table->cells + table->n_cells; cell++) {
        FAB_FIRST(place, table->n_columns, table->order[place] == cell->column); /* few */
        (*out)[cell->row * table->n_columns + place] = fab_rt_text(tables, cell->text);
    }
    return FAB_OK;
}
