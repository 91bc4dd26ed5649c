#include "fab/catalog.h"
#include "book.h"

/* A catalog while it is read: lists are texts first. */
typedef struct reading_catalog {
    fab_catalog catalog;
    fab_catalog_switch item; /* the switch being read */
    char families[256], tiers[256], planes[256], tapers[256], domains[256], nics[256], breakouts[256];
} reading_catalog;

/* clang-format off */
#define TEXT(need, key, kind, member, initial, summary) BOOK_TEXT(need, key, kind, reading_catalog, member, initial, summary)
#define LIST(key, member, summary) TEXT(BOOK_REQUIRED, key, FIELD_TEXT, member, NULL, summary)
#define ONES(key, member, summary) TEXT(BOOK_OPTIONAL, key, FIELD_TEXT, member, "1", summary)
#define COUNT(key, member, max, summary) \
    BOOK_NUMBER(BOOK_REQUIRED, key, FIELD_COUNT, FAB_UNIT_COUNT, reading_catalog, member, 1, max, NULL, summary)

static const book_field ROOT[] = {
    TEXT(BOOK_REQUIRED, "name", FIELD_WORD, catalog.name, NULL, "name of the catalog"),
    TEXT(BOOK_REQUIRED, "prices", FIELD_TEXT, catalog.prices, NULL, "price book: name of a profile, or a file"),
    BOOK_END,
};
static const book_field SOURCE[] = {TEXT(BOOK_OPTIONAL, "source", FIELD_TEXT, catalog.source, NULL, "where the figures come from, and which of them are assumptions"), BOOK_END};
static const book_field SEARCH[] = {
    LIST("families", families, "families to try, separated by /"),
    LIST("tiers", tiers, "numbers of tiers to try, separated by /"),
    ONES("planes", planes, "numbers of planes to try, separated by /"),
    LIST("tapers", tapers, "tapers (oversubscription) to try at every boundary, separated by /"),
    BOOK_END,
};
static const book_field SERVER[] = {
    COUNT("gpus", catalog.gpus_per_server, 65535, "GPUs of one server"),
    COUNT("nics", catalog.nics_per_server, 65535, "NICs of one server"),
    LIST("domains", domains, "GPUs per scale-up domain to try, separated by /"),
    BOOK_END,
};
static const book_field NIC[] = {LIST("rates", nics, "rates of one NIC to try, separated by /"), BOOK_END};
static const book_field SWITCH[] = {
    TEXT(BOOK_REQUIRED, "name", FIELD_WORD, item.name, NULL, "name of the switch"),
    COUNT("radix", item.radix, 65535, "ports of one switch, before breakout"),
    BOOK_NUMBER(BOOK_REQUIRED, "port", FIELD_QUANTITY, FAB_UNIT_RATE, reading_catalog, item.port_bps, 1, 1e15, NULL, "rate of one port, before breakout"),
    ONES("breakouts", breakouts, "cables that one port may serve, separated by /"),
    BOOK_END,
};
/* clang-format on */

/* --- lists -------------------------------------------------------------------------------------------------------- */

/* A list of numbers: where its text and its values are. Numbers ascend, so that none is tried twice. */
typedef struct number_list {
    const char *element, *key;
    fab_unit unit; /* FAB_UNIT_COUNT: uint64_t, else double */
    double min, max;
    size_t text, values, n;
} number_list;

#define AT(member) offsetof(reading_catalog, member)
static const number_list LISTS[] = {
    {"search", "tiers", FAB_UNIT_COUNT, 1, 4, AT(tiers), AT(catalog.tiers), AT(catalog.n_tiers)},
    {"search", "planes", FAB_UNIT_COUNT, 1, 64, AT(planes), AT(catalog.planes), AT(catalog.n_planes)},
    {"search", "tapers", FAB_UNIT_RATIO, 1e-4, 1e4, AT(tapers), AT(catalog.tapers), AT(catalog.n_tapers)},
    {"server", "domains", FAB_UNIT_COUNT, 1, 65535, AT(domains), AT(catalog.domains), AT(catalog.n_domains)},
    {"nic", "rates", FAB_UNIT_RATE, 1, 1e15, AT(nics), AT(catalog.nics_bps), AT(catalog.n_nics)},
    {"switch", "breakouts", FAB_UNIT_COUNT, 1, 64, AT(breakouts), AT(item.breakouts), AT(item.n_breakouts)},
};

/* The next item of a list, `n` before it; *at moves behind it, NULL at the end. */
static fab_status next_item(const char *key, const char *list, size_t n, const char **at, char item[FAB_NAME_SIZE],
                            const char *where, fab_error *err) {
    const char *end = field_item_end(*at);
    FAB_REFUSE_IF(end == *at || end - *at >= FAB_NAME_SIZE, err, FAB_EINPUT, where,
                  "%s: '%.60s' has an item that is %s", key, list, end == *at ? "empty" : "too long");
    FAB_REFUSE_IF(n == FAB_CATALOG_ITEMS, err, FAB_EINPUT, where, "%s: more than %d items", key, FAB_CATALOG_ITEMS);
    (void)snprintf(item, FAB_NAME_SIZE, "%.*s", (int)(end - *at), *at);
    *at = *end == '/' ? end + 1 : NULL;
    return FAB_OK;
}

static fab_status read_numbers(reading_catalog *r, const number_list *list, const char *where, fab_error *err) {
    const char *text = (const char *)r + list->text;
    void *values = (char *)r + list->values;
    char item[FAB_NAME_SIZE];
    double value = 0;
    size_t n = 0;
    for (const char *at = text; at != NULL; n++) {
        fab_error inner = {0};
        double last = value;
        FAB_PASS(next_item(list->key, text, n, &at, item, where, err));
        FAB_REFUSE_IF(fab_quantity_parse(item, list->unit, &value, &inner) != FAB_OK, err, FAB_EINPUT, where, "%s: %s",
                      list->key, inner.text);
        FAB_REFUSE_IF(value < list->min || value > list->max, err, FAB_EINPUT, where, "%s: '%s' is outside %g to %g",
                      list->key, item, list->min, list->max);
        FAB_REFUSE_IF(n > 0 && value <= last, err, FAB_EINPUT, where, "%s: '%s' does not ascend", list->key, item);
        if (list->unit == FAB_UNIT_COUNT) {
            ((uint64_t *)values)[n] = (uint64_t)value;
        } else {
            ((double *)values)[n] = value;
        }
    }
    *(size_t *)(void *)((char *)r + list->n) = n;
    return FAB_OK;
}

static fab_status read_families(reading_catalog *r, const char *where, fab_error *err) {
    fab_catalog *c = &r->catalog;
    char item[FAB_NAME_SIZE];
    FAB_FORMAT(c->families_where, "%s", where);
    for (const char *at = r->families; at != NULL; c->n_families++) {
        FAB_PASS(next_item("families", r->families, c->n_families, &at, item, where, err));
        FAB_REFUSE_IF(!field_is_word(item), err, FAB_EINPUT, where, "families: '%s' is not the name of a family", item);
        for (size_t j = 0; j < c->n_families; j++) {
            FAB_REFUSE_IF(strcmp(c->families[j], item) == 0, err, FAB_EINPUT, where, "families: '%s' is given twice",
                          item);
        }
        (void)snprintf(c->families[c->n_families], sizeof c->families[0], "%s", item);
    }
    return FAB_OK;
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Turns the lists of an element into their values. */
static fab_status finish_lists(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    if (strcmp(at->name, "search") == 0) {
        const fab_xml_attribute *families = fab_xml_find(at, "families");
        FAB_PASS(read_families(book, fab_xml_place(where, file, families->line, families->column), err));
    }
    for (size_t i = 0; i < FAB_N_OF(LISTS); i++) {
        const fab_xml_attribute *given = fab_xml_find(at, LISTS[i].key);
        if (strcmp(LISTS[i].element, at->name) == 0) {
            (void)fab_xml_place(where, file, given != NULL ? given->line : at->line,
                                given != NULL ? given->column : at->column);
            FAB_PASS(read_numbers(book, &LISTS[i], where, err));
        }
    }
    return FAB_OK;
}

static fab_status finish_switch(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    reading_catalog *r = book;
    fab_catalog *c = &r->catalog;
    FAB_PASS(finish_lists(book, file, at, err));
    for (size_t i = 0; i < c->n_switches; i++) {
        FAB_RETURN_IF(strcmp(c->switches[i].name, r->item.name) == 0,
                      fab_xml_fail_at(file, at, err, "two switches have the name ", r->item.name));
    }
    FAB_RETURN_IF(r->item.name[0] == '\0', fab_xml_fail_at(file, at, err, "a switch needs a name", ""));
    FAB_RETURN_IF(r->item.radix * r->item.breakouts[r->item.n_breakouts - 1] > 65535,
                  fab_xml_fail_at(file, at, err, "radix times breakout is more than 65,535 ports: ", r->item.name));
    c->switches[c->n_switches++] = r->item;
    return FAB_OK;
}

static const book_element ELEMENTS[] = {
    {.name = "catalog", .fields = ROOT, .max = 1},
    {"source", "catalog", .fields = SOURCE, .is_text = true, .may_miss = true, .max = 1},
    {.name = "search", .inside = "catalog", .fields = SEARCH, .max = 1, .finish = finish_lists},
    {.name = "server", .inside = "catalog", .fields = SERVER, .max = 1, .finish = finish_lists},
    {.name = "nic", .inside = "catalog", .fields = NIC, .max = 1, .finish = finish_lists},
    {.name = "switch", .inside = "catalog", .fields = SWITCH, .max = FAB_CATALOG_SWITCHES, .finish = finish_switch},
};
static const book_kind CATALOG = {
    "catalog",  "Catalog: what an optimisation may choose from. Quantities carry their unit (400Gb/s).",
    "catalog:", "unknown catalog",
    FAB_EINPUT, fab_builtin_catalogs,
    ELEMENTS,   FAB_N_OF(ELEMENTS)};

fab_status fab_catalog_read(const char *text, fab_catalog *out, fab_error *err) {
    FAB_OWNED_NEW(reading_catalog, r, 1, err);
    FAB_PASS(book_read(&CATALOG, text, NULL, r, err));
    *out = r->catalog;
    return FAB_OK;
}

void fab_catalog_schema(fab_str *out) {
    book_schema(&CATALOG, out);
}
