/* The tables of fields one after the other, and each field as `fabriscope explain` shows it. */
#include "fab/choices.h"
#include "fab/definitions.h"
#include "result_field.h"

bool fab_field_is_required(const fab_field *f) {
    return f->when == FAB_ALWAYS && f->if_type == FAB_FIELD_NONE && f->only == NULL;
}

typedef struct list {
    fab_fields_place *places;
    size_t n;
} list;

static void add_tables_below(list *l, const fab_fields *table, const char *path);

static void add_table(list *l, const fab_fields *table, const char *path) {
    for (size_t i = 0; i < l->n; i++) {
        if (l->places[i].table == table) {
            return;
        }
    }
    if (l->n < FAB_FIELDS_MOST) {
        fab_fields_place *place = &l->places[l->n++];
        place->table = table;
        FAB_FORMAT(place->path, "%s", path);
        add_tables_below(l, table, path);
    }
}

static void add_tables_below(list *l, const fab_fields *table, const char *path) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        char below[sizeof l->places->path];
        if (f->type == FAB_FIELD_GROUP) {
            add_tables_below(l, f->table, path);
        } else if (f->table != NULL) {
            FAB_FORMAT(below, "%s%s%s", path, path[0] != '\0' ? "." : "", f->key);
            add_table(l, f->table, below);
            if (f->other != NULL) {
                add_table(l, f->other, below);
            }
        }
    }
}

size_t fab_fields_list(fab_fields_place out[FAB_FIELDS_MOST]) {
    list l = {out, 0};
    add_table(&l, &fab_result_fields, "");
    add_table(&l, &fab_stat_fields, "figures over several seeds");
    return l.n;
}

/* --- definitions -------------------------------------------------------------------------------------------------- */

static bool visit_rows(const fab_fields *table, const fab_fields_place *place, fab_definition_visitor *visit,
                       void *context) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        const char *unit = f->unit == NULL ? "1" : f->unit[0] == '\0' ? "that of the figure" : f->unit;
        bool is_figure = f->type != FAB_FIELD_BOOL && !fab_field_is_text(f->type) && !fab_field_is_text(f->item_type);
        fab_definition d = {.name = f->key,
                            .unit = is_figure && (f->table == NULL || f->unit != NULL) ? unit : NULL,
                            .of = place->path[0] != '\0' ? place->path : "report",
                            .object = place->table->name,
                            .definition = f->definition,
                            .formula = f->formula,
                            .source = f->source != NULL       ? f->source
                                      : table->source != NULL ? table->source
                                                              : place->table->source,
                            .labels = f->labels};
        if (f->type == FAB_FIELD_GROUP ? !visit_rows(f->table, place, visit, context) : !visit(&d, context)) {
            return false;
        }
    }
    return true;
}

void fab_definitions_visit(fab_definition_visitor *visit, void *context) {
    fab_fields_place places[FAB_FIELDS_MOST];
    size_t n = fab_fields_list(places);
    for (size_t i = 0; i < n && visit_rows(places[i].table, &places[i], visit, context); i++) {
    }
}

/* But for case, blanks, dashes and underscores. */
static bool is_same_word(const char *label, size_t length, const char *word) {
    char text[64];
    FAB_FORMAT(text, "%.*s", (int)length, label);
    fab_choices same = fab_choices_of(word);
    fab_choices_offer(&same, text);
    return same.distance == 0;
}

bool fab_definition_has_label(const fab_definition *definition, const char *word) {
    const char *label = definition->labels;
    while (label != NULL) {
        const char *bar = strchr(label, '|');
        if (is_same_word(label, bar != NULL ? (size_t)(bar - label) : strlen(label), word)) {
            return true;
        }
        label = bar != NULL ? bar + 1 : NULL;
    }
    return is_same_word(definition->name, strlen(definition->name), word);
}
