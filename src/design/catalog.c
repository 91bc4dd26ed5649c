#include "fab/catalog.h"
#include "fab/builtin.h"
#include "fab/memory.h"
#include "fab/xml_reader.h"
#include "field_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A catalog while it is read: lists are texts first. */
typedef struct list_text {
    char text[256];
} list_text;

typedef enum list_kind { LIST_FAMILIES, LIST_TIERS, LIST_PLANES, LIST_DOMAINS, LIST_TAPERS, LIST_NICS } list_kind;

typedef struct reading_catalog {
    fab_catalog catalog;
    fab_catalog_switch item; /* the switch being read */
    list_text breakouts;
    list_text lists[LIST_NICS + 1];
    const char *file;
} reading_catalog;

/** An attribute, and the element that has it. Every one without a default is required. */
typedef struct row {
    const char *element;
    field field;
} row;

#define PLACE(member) offsetof(reading_catalog, member), sizeof(((reading_catalog *)0)->member)

/* clang-format off */
#define LIST(key, place, initial, summary) \
    {SCOPE_BOOK, key, FIELD_TEXT, FAB_UNIT_COUNT, PLACE(place), 0, 0, false, initial, NULL, NULL, summary}
#define WORD(key, place, initial, summary) \
    {SCOPE_BOOK, key, FIELD_WORD, FAB_UNIT_COUNT, PLACE(place), 0, 0, false, initial, NULL, NULL, summary}
#define COUNT(key, place, min, max, initial, summary) \
    {SCOPE_BOOK, key, FIELD_COUNT, FAB_UNIT_COUNT, PLACE(place), min, max, false, initial, NULL, NULL, summary}
#define QUANTITY(key, unit, place, min, max, initial, summary) \
    {SCOPE_BOOK, key, FIELD_QUANTITY, unit, PLACE(place), min, max, false, initial, NULL, NULL, summary}

static const row ROWS[] = {
    {"catalog", WORD("name", catalog.name, NULL, "name of the catalog")},
    {"catalog", LIST("prices", catalog.prices, NULL, "price book: name of a profile, or a file")},
    {"search", LIST("families", lists[LIST_FAMILIES].text, NULL, "families to try, separated by /")},
    {"search", LIST("tiers", lists[LIST_TIERS].text, NULL, "numbers of tiers to try, separated by /")},
    {"search", LIST("planes", lists[LIST_PLANES].text, "1", "numbers of planes to try, separated by /")},
    {"search", LIST("tapers", lists[LIST_TAPERS].text, NULL, "tapers (oversubscription) to try at every boundary, separated by /")},
    {"server", COUNT("gpus", catalog.gpus_per_server, 1, 65535, NULL, "GPUs of one server")},
    {"server", COUNT("nics", catalog.nics_per_server, 1, 65535, NULL, "NICs of one server")},
    {"server", LIST("domains", lists[LIST_DOMAINS].text, NULL, "GPUs per scale-up domain to try, separated by /")},
    {"nic", LIST("rates", lists[LIST_NICS].text, NULL, "rates of one NIC to try, separated by /")},
    {"switch", WORD("name", item.name, NULL, "name of the switch")},
    {"switch", COUNT("radix", item.radix, 1, 65535, NULL, "ports of one switch, before breakout")},
    {"switch", QUANTITY("port", FAB_UNIT_RATE, item.port_bps, 1, 1e15, NULL, "rate of one port, before breakout")},
    {"switch", LIST("breakouts", breakouts.text, "1", "cables that one port may serve, separated by /")},
};
/* clang-format on */
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

static const field SOURCE_FIELD = {.scope = SCOPE_BOOK,
                                   .key = "source",
                                   .kind = FIELD_TEXT,
                                   .offset = offsetof(reading_catalog, catalog.source),
                                   .size = sizeof(((reading_catalog *)0)->catalog.source),
                                   .summary = "where the figures come from, and which of them are assumptions"};

/* --- lists -------------------------------------------------------------------------------------------------------- */

/* End of the item at `text`: a slash, but not that of "b/s". */
static const char *item_end(const char *text) {
    while (*text != '\0' && !(text[0] == '/' && !(text[1] == 's' && (text[2] == '\0' || text[2] == '/')))) {
        text++;
    }
    return text;
}

typedef fab_status list_item(void *context, size_t i, const char *text, const char *where, fab_error *err);

/* Offers the items of a list one by one; empty and surplus ones are errors. */
static fab_status each_item(const char *key, const char *list, const char *where, list_item *take, void *context,
                            size_t *n, fab_error *err) {
    fab_status status = FAB_OK;
    char item[FAB_NAME_SIZE];
    *n = 0;
    for (const char *at = list; at != NULL;) {
        const char *end = item_end(at);
        if (end == at || (size_t)(end - at) >= sizeof item) {
            FAB_FAIL(err, FAB_EINPUT, where, "%s: '%.60s' has an item that is %s", key, list,
                     end == at ? "empty" : "too long");
        }
        if (*n == FAB_CATALOG_ITEMS) {
            FAB_FAIL(err, FAB_EINPUT, where, "%s: more than %d items", key, FAB_CATALOG_ITEMS);
        }
        (void)snprintf(item, sizeof item, "%.*s", (int)(end - at), at);
        FAB_TRY(take(context, *n, item, where, err));
        (*n)++;
        at = *end == '/' ? end + 1 : NULL;
    }
done:
    return status;
}

/* What the items of a list are. Numbers ascend, so that none is tried twice. */
typedef struct number_list {
    const char *key;
    uint64_t *counts; /* one of the two */
    double *values;
    fab_unit unit;
    double min, max;
} number_list;

static fab_status take_number(void *context, size_t i, const char *text, const char *where, fab_error *err) {
    const number_list *list = context;
    fab_error inner = {0};
    double value = 0;
    double last = 0;
    if (fab_quantity_parse(text, list->unit, &value, &inner) != FAB_OK) {
        return fab_fail(err, FAB_EINPUT, where, "%s: %s", list->key, inner.text);
    }
    if (value < list->min || value > list->max) {
        return fab_fail(err, FAB_EINPUT, where, "%s: '%s' is outside %g to %g", list->key, text, list->min, list->max);
    }
    if (i > 0) {
        last = list->counts != NULL ? (double)list->counts[i - 1] : list->values[i - 1];
    }
    if (i > 0 && value <= last) {
        return fab_fail(err, FAB_EINPUT, where, "%s: '%s' does not ascend", list->key, text);
    }
    if (list->counts != NULL) {
        list->counts[i] = (uint64_t)value;
    } else {
        list->values[i] = value;
    }
    return FAB_OK;
}

static fab_status take_family(void *context, size_t i, const char *text, const char *where, fab_error *err) {
    fab_catalog *catalog = context;
    if (!field_is_word(text)) {
        return fab_fail(err, FAB_EINPUT, where, "families: '%s' is not the name of a family", text);
    }
    for (size_t j = 0; j < i; j++) {
        if (strcmp(catalog->families[j], text) == 0) {
            return fab_fail(err, FAB_EINPUT, where, "families: '%s' is given twice", text);
        }
    }
    (void)snprintf(catalog->families[i], sizeof catalog->families[i], "%s", text);
    return FAB_OK;
}

/* Turns the list of this key, if it is one, into its values. */
static fab_status finish_list(reading_catalog *r, const char *key, const char *where, fab_error *err) {
    fab_catalog *c = &r->catalog;
    struct {
        const char *text;
        size_t *n;
        number_list list;
    } lists[] = {
        {r->lists[LIST_TIERS].text, &c->n_tiers, {"tiers", c->tiers, NULL, FAB_UNIT_COUNT, 1, 4}},
        {r->lists[LIST_PLANES].text, &c->n_planes, {"planes", c->planes, NULL, FAB_UNIT_COUNT, 1, 64}},
        {r->lists[LIST_DOMAINS].text, &c->n_domains, {"domains", c->domains, NULL, FAB_UNIT_COUNT, 1, 65535}},
        {r->lists[LIST_TAPERS].text, &c->n_tapers, {"tapers", NULL, c->tapers, FAB_UNIT_RATIO, 1e-4, 1e4}},
        {r->lists[LIST_NICS].text, &c->n_nics, {"rates", NULL, c->nics_bps, FAB_UNIT_RATE, 1, 1e15}},
        {r->breakouts.text, &r->item.n_breakouts, {"breakouts", r->item.breakouts, NULL, FAB_UNIT_COUNT, 1, 64}},
    };
    if (strcmp(key, "families") == 0) {
        (void)snprintf(c->families_where, sizeof c->families_where, "%s", where);
        return each_item(key, r->lists[LIST_FAMILIES].text, where, take_family, c, &c->n_families, err);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].list.key, key) == 0) {
            return each_item(key, lists[i].text, where, take_number, &lists[i].list, lists[i].n, err);
        }
    }
    return FAB_OK;
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

static fab_status fail_unknown_attribute(const char *element, const char *name, const char *where, fab_error *err) {
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    fab_choices_init(&near, name);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(ROWS[i].element, element) == 0) {
            fab_choices_offer(&near, ROWS[i].field.key);
        }
    }
    (void)fab_choices_list(&near, "allowed:", hint);
    return fab_fail(err, FAB_EINPUT, where, "unknown attribute of %.40s '%.40s'%s", element, name, hint);
}

static fab_status set_row(reading_catalog *r, const row *to, const char *value, const char *where, fab_error *err) {
    fab_status status = field_set(&to->field, r, value, where, err);
    return status == FAB_OK ? finish_list(r, to->field.key, where, err) : status;
}

/* Every attribute of an element: those given, then the defaults of the others. */
static fab_status catalog_read_attributes(reading_catalog *r, const fab_xml_element *element, fab_error *err) {
    fab_status status = FAB_OK;
    char where[FAB_XML_PLACE_SIZE];
    bool seen[N_ROWS] = {false};
    for (size_t i = 0; i < element->n_attributes; i++) {
        const fab_xml_attribute *a = &element->attributes[i];
        size_t j = 0;
        (void)fab_xml_place(where, r->file, a->line, a->column);
        while (j < N_ROWS && (strcmp(ROWS[j].element, element->name) != 0 || strcmp(ROWS[j].field.key, a->name) != 0)) {
            j++;
        }
        if (j == N_ROWS) {
            FAB_TRY(fail_unknown_attribute(element->name, a->name, where, err));
            break;
        }
        seen[j] = true;
        FAB_TRY(set_row(r, &ROWS[j], a->value, where, err));
    }
    (void)fab_xml_place(where, r->file, element->line, element->column);
    for (size_t j = 0; j < N_ROWS; j++) {
        if (strcmp(ROWS[j].element, element->name) != 0 || seen[j]) {
            continue;
        }
        if (ROWS[j].field.initial == NULL) {
            FAB_FAIL(err, FAB_EINPUT, where, "%s needs the attribute %s", element->name, ROWS[j].field.key);
        }
        FAB_TRY(set_row(r, &ROWS[j], ROWS[j].field.initial, where, err));
    }
done:
    return status;
}

static fab_status catalog_add_switch(reading_catalog *r, const fab_xml_element *element, fab_error *err) {
    fab_catalog *c = &r->catalog;
    for (size_t i = 0; i < c->n_switches; i++) {
        if (strcmp(c->switches[i].name, r->item.name) == 0) {
            return fab_xml_fail_at(r->file, element, err, "two switches have the name ", r->item.name);
        }
    }
    if (r->item.name[0] == '\0') {
        return fab_xml_fail_at(r->file, element, err, "a switch needs a name", "");
    }
    if (c->n_switches == FAB_CATALOG_SWITCHES) {
        return fab_xml_fail_at(r->file, element, err, "more than 16 switches; the first too many is ", r->item.name);
    }
    if (r->item.radix * r->item.breakouts[r->item.n_breakouts - 1] > 65535) {
        return fab_xml_fail_at(r->file, element, err, "radix times breakout is more than 65,535 ports: ", r->item.name);
    }
    c->switches[c->n_switches++] = r->item;
    r->item = (fab_catalog_switch){0};
    return FAB_OK;
}

static const char *const ONCE[] = {"source", "search", "server", "nic"};

static fab_status read_child(reading_catalog *r, const fab_xml_element *child, bool *seen, fab_error *err) {
    fab_status status = FAB_OK;
    char where[FAB_XML_PLACE_SIZE];
    size_t n = sizeof ONCE / sizeof ONCE[0];
    size_t i = 0;
    while (i < n && strcmp(ONCE[i], child->name) != 0) {
        i++;
    }
    bool is_switch = strcmp(child->name, "switch") == 0;
    if ((i == n && !is_switch) || child->uri != NULL) {
        FAB_TRY(fab_xml_fail_at(r->file, child, err, "unknown element of a catalog: ", child->name));
    }
    if (i < n && seen[i]) {
        FAB_TRY(fab_xml_fail_at(r->file, child, err, "a catalog has this element once: ", child->name));
    }
    if (child->first_child != NULL) {
        FAB_TRY(fab_xml_fail_at(r->file, child->first_child, err, "no element may stand inside ", child->name));
    }
    (void)fab_xml_place(where, r->file, child->line, child->column);
    if (i == 0) {
        FAB_TRY(field_set(&SOURCE_FIELD, r, child->text, where, err));
    } else if (child->text[0] != '\0') {
        FAB_TRY(fab_xml_fail_at(r->file, child, err, "unexpected text inside ", child->name));
    }
    FAB_TRY(catalog_read_attributes(r, child, err));
    if (is_switch) {
        FAB_TRY(catalog_add_switch(r, child, err));
    } else {
        seen[i] = true;
    }
done:
    return status;
}

static fab_status read_catalog(reading_catalog *r, const char *data, size_t size, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xml *xml = NULL;
    const fab_xml_element *root = NULL;
    bool seen[sizeof ONCE / sizeof ONCE[0]] = {true}; /* the source may be missing, twice it may not be there */
    FAB_TRY(fab_xml_parse(data, size, r->file, &xml, err));
    FAB_TRY(fab_xml_root_called(xml, r->file, "catalog", "a catalog begins with <catalog>", &root, err));
    FAB_TRY(catalog_read_attributes(r, root, err));
    seen[0] = false;
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_TRY(read_child(r, child, seen, err));
    }
    for (size_t i = 1; i < sizeof ONCE / sizeof ONCE[0]; i++) {
        if (!seen[i]) {
            FAB_TRY(fab_xml_fail_at(r->file, root, err, "the catalog has no element ", ONCE[i]));
        }
    }
    if (r->catalog.n_switches == 0) {
        FAB_TRY(fab_xml_fail_at(r->file, root, err, "the catalog has no element ", "switch"));
    }
done:
    fab_xml_free(xml);
    return status;
}

static fab_status fail_unknown_catalog(const char *text, fab_error *err) {
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    fab_choices_init(&near, text);
    for (const fab_builtin *c = fab_builtin_catalogs; c->name != NULL; c++) {
        char candidate[64];
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)strcspn(c->name, "."), c->name);
        fab_choices_offer(&near, candidate);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown catalog '%.40s'%s (or a file: with '/' or ending in .xml)", text,
                    fab_choices_list(&near, "allowed:", hint));
}

fab_status fab_catalog_read(const char *text, fab_catalog *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str data = FAB_STR_INIT;
    reading_catalog *r = NULL;
    char file[FAB_XML_PLACE_SIZE];
    size_t length = strlen(text);
    FAB_TRY(FAB_NEW(r, 1, err));
    if (strchr(text, '/') != NULL || (length > 4 && strcmp(text + length - 4, ".xml") == 0)) {
        r->file = text;
        FAB_TRY(fab_read_file(text, FAB_XML_MAX_BYTES, &data, err));
        FAB_TRY(read_catalog(r, data.data, data.length, err));
    } else {
        const fab_builtin *builtin = length > 0 ? fab_builtin_find(fab_builtin_catalogs, text) : NULL;
        if (builtin == NULL) {
            FAB_TRY(fail_unknown_catalog(text, err));
        } else {
            (void)snprintf(file, sizeof file, "catalog:%.60s", text);
            r->file = file;
            FAB_TRY(read_catalog(r, builtin->data, builtin->size, err));
        }
    }
    *out = r->catalog;
done:
    fab_str_release(&data);
    free(r);
    return status;
}

void fab_catalog_schema(fab_str *out) {
    schema_begin(out, "Catalog: what an optimisation may choose from. Quantities carry their unit (400Gb/s).");
    fab_str_add(out,
                "  <xs:element name=\"catalog\">\n    <xs:complexType>\n      <xs:choice maxOccurs=\"unbounded\">\n");
    schema_text_element(out, 8, "source", &SOURCE_FIELD, false);
    size_t i = 0;
    while (strcmp(ROWS[i].element, "catalog") == 0) {
        i++;
    }
    while (i < N_ROWS) {
        const char *element = ROWS[i].element;
        fab_str_printf(out, "        <xs:element name=\"%s\">\n          <xs:complexType>\n", element);
        for (; i < N_ROWS && strcmp(ROWS[i].element, element) == 0; i++) {
            schema_attribute(out, 12, &ROWS[i].field, false, ROWS[i].field.initial == NULL);
        }
        fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n");
    }
    fab_str_add(out, "      </xs:choice>\n");
    for (i = 0; strcmp(ROWS[i].element, "catalog") == 0; i++) {
        schema_attribute(out, 6, &ROWS[i].field, false, true);
    }
    fab_str_add(out, "    </xs:complexType>\n  </xs:element>\n");
    schema_end(out);
}
