/* The table of result fields: keys are unique, units agree with them, definitions are sentences, and the order is one
 * that XML can show. */
#include "fab/definitions.h"
#include "fields/result_field.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

typedef struct seen {
    const char *key[256];
    size_t n;
    const char *element; /* key of the first field that is no attribute in XML; NULL: none yet */
} seen;

typedef struct ending {
    const char *text, *unit;
} ending;

/* The first that fits; what fits none has a unit of the last four, or none. */
static const ending ENDINGS[] = {{"_per_s", "1/s"},
                                 {"_per_year", "USD/year"},
                                 {"_gbps_usd", "USD per Gb/s"},
                                 {"_bps", "bit/s"},
                                 {"bytes", "byte"},
                                 {"_s", "s"},
                                 {"_m", "m"},
                                 {"_w", "W"},
                                 {"_per_usd", "1/USD"},
                                 {"usd", "USD"},
                                 {"_tokens", "USD"},
                                 {"_samples", "USD"},
                                 {"_ratio", NULL},
                                 {"_factor", NULL},
                                 {"_taper", NULL},
                                 {"days", "d"},
                                 {"tflops_per_gpu", "TFLOP/s"}};

static bool ends_in(const char *key, const char *text) {
    size_t n = strlen(key), m = strlen(text);
    return n >= m && strcmp(key + n - m, text) == 0;
}

static const char *unit_of(const char *key) {
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        if (ends_in(key, ENDINGS[i].text)) {
            return ENDINGS[i].unit;
        }
    }
    return NULL;
}

static void check_unit(const char *table, const fab_field *f) {
    bool is_figure = f->type == FAB_FIELD_COUNT || f->type == FAB_FIELD_U32 || f->type == FAB_FIELD_REAL ||
                     f->type == FAB_FIELD_STAT || f->unit != NULL;
    if (!is_figure || (f->unit != NULL && f->unit[0] == '\0')) {
        return;
    }
    const char *unit = unit_of(f->key);
    cr_expect_str_eq(f->unit != NULL ? f->unit : "1", unit != NULL ? unit : "1", "%s.%s: unit", table, f->key);
}

static void check_definition(const char *table, const fab_field *f) {
    const char *d = f->definition;
    cr_assert_not_null(d, "%s.%s has no definition", table, f->key);
    cr_expect(isupper((unsigned char)d[0]) || isdigit((unsigned char)d[0]), "%s.%s: '%s'", table, f->key, d);
    cr_expect(ends_in(d, ".") && strlen(d) >= 5, "%s.%s: '%s' is no sentence", table, f->key, d);
    cr_expect_null(strstr(d, "  "), "%s.%s: '%s'", table, f->key, d);
}

static bool is_attribute(const fab_field *f) {
    return fab_field_is_scalar(f) ||
           (f->type == FAB_FIELD_LIST && f->table == NULL && !fab_field_is_text(f->item_type));
}

static void check_rows(const char *name, const fab_fields *table, const fab_fields *around, seen *s) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        if (f->type == FAB_FIELD_GROUP) {
            check_rows(name, f->table, around, s);
            continue;
        }
        cr_assert_not_null(f->key, "%s: a row without a key", name);
        for (size_t i = 0; i < s->n; i++) {
            cr_expect_str_neq(f->key, s->key[i], "%s has two", name);
        }
        s->key[s->n++] = f->key;
        check_unit(name, f);
        check_definition(name, f);
        cr_expect(f->source != NULL || table->source != NULL || around->source != NULL, "%s.%s: source", name, f->key);
        cr_expect(!is_attribute(f) || s->element == NULL, "%s.%s stands behind %s", name, f->key, s->element);
        s->element = is_attribute(f) || s->element != NULL ? s->element : f->key;
        cr_expect(f->type != FAB_FIELD_STAT || table->many != NULL, "%s.%s: of one seed or of many?", name, f->key);
        cr_expect(f->type != FAB_FIELD_NAME || f->n_names > 0, "%s.%s: no names", name, f->key);
        for (size_t i = 0; i < f->n_names; i++) {
            cr_expect_not_null(f->names[i], "%s.%s: a name is missing", name, f->key);
        }
        bool has_items = f->type == FAB_FIELD_LIST && !is_attribute(f);
        cr_expect(has_items == (f->item != NULL), "%s.%s: name of an item", name, f->key);
    }
}

Test(fields, every_row_is_in_order) {
    fab_fields_place places[FAB_FIELDS_MOST];
    size_t n = fab_fields_list(places);
    size_t n_fields = 0;
    cr_assert_lt(n, FAB_FIELDS_MOST, "FAB_FIELDS_MOST");
    for (size_t i = 0; i < n; i++) {
        seen s = {.n = 0};
        check_rows(places[i].table->name, places[i].table, places[i].table, &s);
        n_fields += s.n;
        for (size_t k = 0; k < i; k++) {
            cr_expect_str_neq(places[i].table->name, places[k].table->name, "two tables of one name");
        }
    }
    cr_expect_gt(n_fields, 700, "%zu fields", n_fields);
}

typedef struct count {
    size_t n;
    const char *word;
} count;

static bool count_labelled(const fab_definition *d, void *context) {
    count *c = context;
    c->n += fab_definition_has_label(d, c->word);
    return true;
}

Test(fields, words_of_reports_lead_to_their_fields) {
    static const char *const WORDS[] = {"MFU",          "mfu",       "bubble",           "Collided",
                                        "goodput",      "bisection", "oversubscription", "hash factor",
                                        "Taper-Factor", "exposed",   "bus bandwidth",    "max_hash_factor"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        count c = {0, WORDS[i]};
        fab_definitions_visit(count_labelled, &c);
        cr_expect_gt(c.n, 0, "%s", WORDS[i]);
    }
    count none = {0, "mf"};
    fab_definitions_visit(count_labelled, &none);
    cr_expect_eq(none.n, 0);
}
