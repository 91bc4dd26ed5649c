/* JSON Schema of the JSON report, from the table of fields: every object names all its fields and allows no others. */
#include "data/json_text.h"
#include "fab/definitions.h"
#include "result_field.h"

typedef struct schema {
    fab_str *out;
    int indent;
    bool is_empty; /* nothing written yet within the innermost braces */
} schema;

static void begin_line(schema *s) {
    fab_str_printf(s->out, "%s\n%*s", s->is_empty ? "" : ",", 2 * s->indent, "");
    s->is_empty = false;
}

static void open_object(schema *s, const char *key) {
    begin_line(s);
    fab_str_printf(s->out, "\"%s\": {", key);
    s->indent++;
    s->is_empty = true;
}

static void close_object(schema *s) {
    s->indent--;
    fab_str_printf(s->out, "\n%*s}", 2 * s->indent, "");
    s->is_empty = false;
}

static void add_text(schema *s, const char *key, const char *text) {
    begin_line(s);
    fab_str_printf(s->out, "\"%s\": ", key);
    fab_json_string(s->out, text);
}

/* --- a field ------------------------------------------------------------------------------------------------------ */

static void add_bound(fab_str *out, const char *key, double value) {
    fab_str_printf(out, ", \"%s\": ", key);
    fab_json_number(out, value);
}

static void add_scalar(fab_str *out, const fab_field *f, fab_field_type type) {
    if (f->names != NULL) {
        fab_str_add(out, "\"enum\": [");
        for (size_t i = 0; i < f->n_names; i++) {
            fab_str_add(out, i > 0 ? ", " : "");
            fab_json_string(out, f->names[i]);
        }
        fab_str_add(out, "]");
    } else if (type == FAB_FIELD_BOOL) {
        fab_str_add(out, "\"type\": \"boolean\"");
    } else if (fab_field_is_text(type)) {
        fab_str_add(out, "\"type\": \"string\"");
    } else {
        fab_str_printf(out, "\"type\": \"%s\"", type == FAB_FIELD_REAL ? "number" : "integer");
    }
}

static void add_list(fab_str *out, const fab_field *f) {
    fab_str_add(out, "\"type\": \"array\", \"items\": { ");
    if (f->table == NULL) {
        add_scalar(out, f, f->item_type);
        fab_str_add(out, fab_field_is_text(f->item_type) || f->is_signed ? "" : ", \"minimum\": 0");
    } else if (f->other != NULL) {
        fab_str_printf(out, "\"oneOf\": [{ \"$ref\": \"#/$defs/%s\" }, { \"$ref\": \"#/$defs/%s\" }]", f->table->name,
                       f->other->name);
    } else {
        fab_str_printf(out, "\"$ref\": \"#/$defs/%s\"", f->table->name);
    }
    fab_str_add(out, " }");
    double least = f->low > 0 ? f->low : f->when == FAB_FILLED ? 1 : 0;
    if (least > 0) {
        add_bound(out, "minItems", least);
    }
    if (f->high > 0) {
        add_bound(out, "maxItems", f->high);
    }
}

static void add_field(schema *s, const fab_field *f) {
    fab_str *out = s->out;
    begin_line(s);
    fab_str_printf(out, "\"%s\": { \"description\": ", f->key);
    fab_json_string(out, f->definition);
    if (f->unit != NULL && f->unit[0] != '\0') {
        fab_str_printf(out, ", \"unit\": \"%s\"", f->unit);
    }
    fab_str_add(out, ", ");
    if (f->type == FAB_FIELD_LIST) {
        add_list(out, f);
    } else if (f->type == FAB_FIELD_OBJECT) {
        fab_str_printf(out, "\"$ref\": \"#/$defs/%s\"", f->table->name);
    } else if (f->type == FAB_FIELD_STAT) {
        fab_str_add(out, "\"$ref\": \"#/$defs/statistic\"");
    } else {
        add_scalar(out, f, f->type);
        bool is_number = f->type >= FAB_FIELD_U32 && f->type <= FAB_FIELD_REAL;
        if (is_number && !f->is_signed) {
            add_bound(out, "minimum", f->low);
        }
        if (is_number && f->high > 0) {
            add_bound(out, "maximum", f->high);
        }
    }
    fab_str_add(out, " }");
}

/* --- an object ---------------------------------------------------------------------------------------------------- */

static void add_fields(schema *s, const fab_fields *table) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        if (f->type == FAB_FIELD_GROUP) {
            add_fields(s, f->table);
        } else {
            add_field(s, f);
        }
    }
}

static void add_required(fab_str *out, const fab_fields *table, bool *is_first) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        if (!fab_field_is_required(f)) {
            continue;
        }
        if (f->type == FAB_FIELD_GROUP) {
            add_required(out, f->table, is_first);
        } else {
            fab_str_printf(out, "%s\"%s\"", *is_first ? "" : ", ", f->key);
            *is_first = false;
        }
    }
}

static void add_object(schema *s, const fab_fields *table) {
    bool is_first = true;
    if (table->definition != NULL) {
        add_text(s, "description", table->definition);
    }
    add_text(s, "type", "object");
    open_object(s, "properties");
    add_fields(s, table);
    close_object(s);
    begin_line(s);
    fab_str_add(s->out, "\"required\": [");
    add_required(s->out, table, &is_first);
    fab_str_add(s->out, "]");
    begin_line(s);
    fab_str_add(s->out, "\"additionalProperties\": false");
}

void fab_result_json_schema(fab_str *out) {
    fab_fields_place places[FAB_FIELDS_MOST];
    size_t n = fab_fields_list(places);
    schema s = {.out = out, .indent = 1, .is_empty = true};
    fab_str_add(out, "{");
    add_text(&s, "$schema", "https://json-schema.org/draft/2020-12/schema");
    add_text(&s, "$id", "urn:fabriscope:schema:result:2");
    add_text(&s, "title", "fabriscope result");
    add_object(&s, &fab_result_fields);
    begin_line(&s);
    fab_str_add(out, "\"anyOf\": [{ \"required\": [\"fabric\"] }, { \"required\": [\"sweep\"] }, "
                     "{ \"required\": [\"mix\"] }, { \"required\": [\"study\"] }, { \"required\": [\"audit\"] }, "
                     "{ \"required\": [\"import\"] }, { \"required\": [\"diff\"] }, { \"required\": [\"validate\"] }, "
                     "{ \"required\": [\"traffic\", "
                     "\"phases\"] }]");
    open_object(&s, "$defs");
    begin_line(&s);
    fab_str_printf(out,
                   "\"statistic\": { \"description\": \"A number; with several seeds its distribution over them.\", "
                   "\"oneOf\": [{ \"type\": \"number\" }, { \"$ref\": \"#/$defs/%s\" }] }",
                   fab_stat_fields.name);
    for (size_t i = 1; i < n; i++) {
        open_object(&s, places[i].table->name);
        add_object(&s, places[i].table);
        close_object(&s);
    }
    close_object(&s);
    fab_str_add(out, "\n}\n");
}
