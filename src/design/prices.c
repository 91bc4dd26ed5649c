#include "fab/prices.h"
#include "fab/builtin.h"
#include "fab/memory.h"
#include "fab/xml_reader.h"
#include "field_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Whether an attribute must be given. No price and no power is ever guessed: of each group at least one is given. */
typedef enum need { NEED_NONE, NEED_ALWAYS, NEED_USD, NEED_POWER } need;

typedef struct attribute {
    need need;
    field field; /**< offset from the start of the row */
} attribute;

/** An element of a price book: one row of an array, or (max 1) members of the book itself. */
typedef struct element {
    const char *name; /**< NULL: the root */
    const char *summary;
    const attribute *attributes; /**< ended by one without key */
    bool is_text;                /**< the only attribute is the text inside */
    size_t max;
    size_t offset, stride, count_offset; /**< of the array in fab_prices, and of the number of rows */
} element;

#define PLACE(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* clang-format off */
#define TEXT(need, key, kind, type, member, choices, summary) \
    {need, {SCOPE_BOOK, key, kind, FAB_UNIT_COUNT, PLACE(type, member), 0, 0, false, NULL, choices, NULL, summary}}
#define QUANTITY(need, key, unit, type, member, min, max, summary) \
    {need, {SCOPE_BOOK, key, FIELD_QUANTITY, unit, PLACE(type, member), min, max, false, NULL, NULL, NULL, summary}}
#define NUMBER(need, key, type, member, min, max, summary) \
    {need, {SCOPE_BOOK, key, FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(type, member), min, max, false, NULL, NULL, NULL, summary}}
#define COUNT(key, type, member, min, max, initial, summary) \
    {NEED_NONE, {SCOPE_BOOK, key, FIELD_COUNT, FAB_UNIT_COUNT, PLACE(type, member), min, max, false, initial, NULL, NULL, summary}}
#define RATE(type, summary) QUANTITY(NEED_NONE, "rate", FAB_UNIT_RATE, type, rate_bps, 1, 1e15, summary)
#define USD(key, type, member, summary) NUMBER(NEED_USD, key, type, member, 0, 1e9, summary)
#define POWER(need, key, type, member, summary) QUANTITY(need, key, FAB_UNIT_POWER, type, member, 0, 1e6, summary)
#define END {NEED_NONE, {.key = NULL}}

static const attribute ROOT[] = {
    TEXT(NEED_ALWAYS, "name", FIELD_WORD, fab_prices, name, NULL, "name of the profile"),
    TEXT(NEED_ALWAYS, "convention", FIELD_CHOICE, fab_prices, convention, convention_names,
         "which cables and transceivers are counted"),
    END,
};
static const attribute SOURCE[] = {
    TEXT(NEED_ALWAYS, "source", FIELD_TEXT, fab_prices, source, NULL, "where the figures come from, and how good they are"),
    END,
};
static const attribute SWITCH[] = {
    COUNT("radix", fab_price_switch, radix, 1, 65535, NULL, "ports of this model; left out: any radix"),
    RATE(fab_price_switch, "of one port, before breakout; left out: any rate"),
    NUMBER(NEED_USD, "usd", fab_price_switch, usd, -1e9, 1e9, "price of a switch; may be negative beside usd-per-port"),
    USD("usd-per-port", fab_price_switch, usd_per_port, "plus this for every port, used or not"),
    USD("usd-per-port-gbps", fab_price_switch, usd_per_port_gbps, "plus this for every Gb/s of every port"),
    POWER(NEED_POWER, "power", fab_price_switch, power_w, "power of a switch without optics"),
    POWER(NEED_POWER, "power-per-port", fab_price_switch, w_per_port, "plus this for every port"),
    POWER(NEED_POWER, "power-per-port-gbps", fab_price_switch, w_per_port_gbps, "plus this for every Gb/s of every port"),
    END,
};
static const attribute TRANSCEIVER[] = {
    TEXT(NEED_NONE, "name", FIELD_WORD, fab_price_module, name, NULL, "type, such as DR4"),
    RATE(fab_price_module, "of one of its ports; left out: any rate"),
    QUANTITY(NEED_NONE, "reach", FAB_UNIT_LENGTH, fab_price_module, reach_m, 0.01, 1e6, "longest cable; left out: any length"),
    COUNT("ports", fab_price_module, ports, 1, 2, "1", "2: twin-port, serves two ports of a switch"),
    USD("usd", fab_price_module, usd, "price of one module"),
    USD("usd-per-gbps", fab_price_module, usd_per_gbps, "plus this for every Gb/s of all its ports"),
    POWER(NEED_POWER, "power", fab_price_module, power_w, "power of one module"),
    POWER(NEED_POWER, "power-per-gbps", fab_price_module, w_per_gbps, "plus this for every Gb/s of all its ports"),
    END,
};
static const attribute CABLE[] = {
    TEXT(NEED_NONE, "medium", FIELD_WORD, fab_price_cable, medium, NULL, "DAC, AOC, fibre, ...; left out: not distinguished"),
    RATE(fab_price_cable, "left out: any rate"),
    QUANTITY(NEED_NONE, "max-length", FAB_UNIT_LENGTH, fab_price_cable, max_length_m, 0.01, 1e6, "left out: any length"),
    {NEED_ALWAYS, {SCOPE_BOOK, "transceivers", FIELD_FLAG, FAB_UNIT_COUNT, PLACE(fab_price_cable, modules), 0, 1, false, NULL, NULL, NULL,
         "whether its ends plug into transceivers"}},
    USD("usd", fab_price_cable, usd, "price per cable"),
    USD("usd-per-m", fab_price_cable, usd_per_m, "plus this for every metre"),
    USD("usd-per-gbps", fab_price_cable, usd_per_gbps, "plus this for every Gb/s"),
    USD("usd-per-m-gbps", fab_price_cable, usd_per_m_gbps, "plus this for every metre and Gb/s"),
    POWER(NEED_NONE, "power-per-end", fab_price_cable, w_per_end, "power of either end without transceiver"),
    POWER(NEED_NONE, "power-per-end-gbps", fab_price_cable, w_per_end_gbps, "plus this for every Gb/s"),
    END,
};
static const attribute NIC[] = {
    RATE(fab_price_nic, "of the NIC; left out: any rate"),
    USD("usd", fab_price_nic, usd, "price of one NIC"),
    USD("usd-per-gbps", fab_price_nic, usd_per_gbps, "plus this for every Gb/s"),
    POWER(NEED_POWER, "power", fab_price_nic, power_w, "power of one NIC"),
    POWER(NEED_POWER, "power-per-gbps", fab_price_nic, w_per_gbps, "plus this for every Gb/s"),
    END,
};
static const attribute INSTALLATION[] = {
    NUMBER(NEED_ALWAYS, "usd-per-cable", fab_prices, install_usd_per_cable, 0, 1e9, "work for one cable"),
    NUMBER(NEED_ALWAYS, "usd-per-switch", fab_prices, install_usd_per_switch, 0, 1e9, "work for one switch"),
    END,
};
static const attribute ENERGY[] = {
    NUMBER(NEED_ALWAYS, "usd-per-kwh", fab_prices, usd_per_kwh, 0, 1e9, "price of energy"),
    NUMBER(NEED_ALWAYS, "pue", fab_prices, pue, 1, 10, "facility power / IT power"),
    END,
};
static const attribute LIFE[] = {
    NUMBER(NEED_ALWAYS, "years", fab_prices, years, 0.1, 100, "depreciation"),
    END,
};

#define ROWS(type, array, n) \
    FAB_MAX_PRICE_ROWS, offsetof(fab_prices, array), sizeof(type), offsetof(fab_prices, n)
#define ONCE 1, 0, 0, 0

enum { ELEMENT_SWITCH = 1, ELEMENT_NIC = 4, N_ELEMENTS = 8 };
static const element ROOT_ELEMENT = {NULL, "", ROOT, false, ONCE};
static const element ELEMENTS[N_ELEMENTS] = {
    {"source", "", SOURCE, true, ONCE},
    {"switch", "one model, or every switch of a rate", SWITCH, false, ROWS(fab_price_switch, switches, n_switches)},
    {"transceiver", "one type of module; left out: no cable needs any", TRANSCEIVER, false, ROWS(fab_price_module, modules, n_modules)},
    {"cable", "one medium; of those that reach, the cheapest is taken", CABLE, false, ROWS(fab_price_cable, cables, n_cables)},
    {"nic", "NICs of a rate", NIC, false, ROWS(fab_price_nic, nics, n_nics)},
    {"installation", "work where it stands; left out: none", INSTALLATION, false, ONCE},
    {"energy", "energy", ENERGY, false, ONCE},
    {"life", "years over which the price is spread", LIFE, false, ONCE},
};
/* clang-format on */
/* DACs and AOCs need no transceiver; whatever does need one and finds none is an error of the design that asks. */
#define IS_OPTIONAL(e) ((e)->attributes == TRANSCEIVER || (e)->attributes == INSTALLATION)

typedef struct book {
    fab_prices prices;
    const char *file;
    size_t n_seen[N_ELEMENTS];
} book;

/* --- one element -------------------------------------------------------------------------------------------------- */

static fab_status set_attribute(const book *b, const element *e, void *to, const fab_xml_attribute *given,
                                fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    (void)fab_xml_place(where, b->file, given->line, given->column);
    fab_choices_init(&near, given->name);
    for (const attribute *a = e->attributes; a->field.key != NULL && !e->is_text; a++) {
        if (strcmp(a->field.key, given->name) == 0) {
            return field_set(&a->field, to, given->value, where, err);
        }
        fab_choices_offer(&near, a->field.key);
    }
    (void)fab_choices_list(&near, "allowed:", hint);
    return fab_fail(err, FAB_EINPUT, where, "unknown attribute of %.40s '%.40s'%s",
                    e->name != NULL ? e->name : "prices", given->name, hint);
}

static fab_status check_needs(const book *b, const element *e, const fab_xml_element *at, fab_error *err) {
    fab_status status = FAB_OK;
    bool has[NEED_POWER + 1] = {false};
    const char *first[NEED_POWER + 1] = {NULL};
    char what[64];
    for (const attribute *a = e->attributes; a->field.key != NULL; a++) {
        bool given = fab_xml_find(at, a->field.key) != NULL;
        if (a->need == NEED_ALWAYS && !given) {
            (void)snprintf(what, sizeof what, "%s %s", e->name != NULL ? e->name : "prices", a->field.key);
            FAB_TRY(fab_xml_fail_at(b->file, at, err, "the price book does not give ", what));
        }
        has[a->need] |= given;
        first[a->need] = first[a->need] == NULL ? a->field.key : first[a->need];
    }
    for (size_t i = NEED_USD; i <= NEED_POWER; i++) {
        if (first[i] != NULL && !has[i]) {
            (void)snprintf(what, sizeof what, "%s, per port or per Gb/s, of this %s", first[i], e->name);
            FAB_TRY(fab_xml_fail_at(b->file, at, err, "the price book does not give ", what));
        }
    }
done:
    return status;
}

/* Two rows for the same switch or NIC: one of them would be ignored. */
static fab_status check_unlike(const book *b, size_t i_element, const fab_xml_element *at, fab_error *err) {
    const fab_prices *p = &b->prices;
    for (size_t i = 0; i_element == ELEMENT_SWITCH && i + 1 < p->n_switches; i++) {
        const fab_price_switch *last = &p->switches[p->n_switches - 1];
        if (p->switches[i].radix == last->radix && p->switches[i].rate_bps == last->rate_bps) {
            return fab_xml_fail_at(b->file, at, err, "radix and rate are those of another ", at->name);
        }
    }
    for (size_t i = 0; i_element == ELEMENT_NIC && i + 1 < p->n_nics; i++) {
        if (p->nics[i].rate_bps == p->nics[p->n_nics - 1].rate_bps) {
            return fab_xml_fail_at(b->file, at, err, "the rate is that of another ", at->name);
        }
    }
    return FAB_OK;
}

/* Where the next row of an element goes. */
static fab_status prices_add_row(book *b, const element *e, const fab_xml_element *at, void **out, fab_error *err) {
    fab_status status = FAB_OK;
    size_t *n_seen = &b->n_seen[e - ELEMENTS];
    char what[80];
    if (*n_seen == e->max) {
        (void)snprintf(what, sizeof what, "%s at most %zu time%s", e->name, e->max, e->max == 1 ? "" : "s");
        FAB_TRY(fab_xml_fail_at(b->file, at, err, "a price book has ", what));
    }
    *out = (char *)&b->prices + e->offset + *n_seen * e->stride;
    (*n_seen)++;
    if (e->stride > 0) {
        memcpy((char *)&b->prices + e->count_offset, n_seen, sizeof *n_seen);
    }
    for (const attribute *a = e->attributes; a->field.key != NULL; a++) {
        if (a->field.initial != NULL) {
            FAB_TRY(field_set(&a->field, *out, a->field.initial, "default", err));
        }
    }
done:
    return status;
}

static fab_status read_element(book *b, const fab_xml_element *at, fab_error *err) {
    fab_status status = FAB_OK;
    char where[FAB_XML_PLACE_SIZE];
    void *to = NULL;
    size_t i = 0;
    while (i < N_ELEMENTS && strcmp(ELEMENTS[i].name, at->name) != 0) {
        i++;
    }
    if (i == N_ELEMENTS || at->uri != NULL) {
        return fab_xml_fail_at(b->file, at, err, "unknown element of a price book: ", at->name);
    }
    const element *e = &ELEMENTS[i];
    if (at->first_child != NULL) {
        FAB_TRY(fab_xml_fail_at(b->file, at->first_child, err, "no element may stand inside ", at->name));
    }
    if (!e->is_text && at->text[0] != '\0') {
        FAB_TRY(fab_xml_fail_at(b->file, at, err, "unexpected text inside ", at->name));
    }
    FAB_TRY(prices_add_row(b, e, at, &to, err));
    for (size_t j = 0; j < at->n_attributes; j++) {
        FAB_TRY(set_attribute(b, e, to, &at->attributes[j], err));
    }
    if (e->is_text) {
        (void)fab_xml_place(where, b->file, at->line, at->column);
        FAB_TRY(field_set(&e->attributes[0].field, to, at->text, where, err));
    } else {
        FAB_TRY(check_needs(b, e, at, err));
        FAB_TRY(check_unlike(b, i, at, err));
    }
done:
    return status;
}

/* --- the book ----------------------------------------------------------------------------------------------------- */

static fab_status read_book(book *b, const char *data, size_t size, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xml *xml = NULL;
    const fab_xml_element *root = NULL;
    FAB_TRY(fab_xml_parse(data, size, b->file, &xml, err));
    FAB_TRY(fab_xml_root_called(xml, b->file, "prices", "a price book begins with <prices>", &root, err));
    for (size_t i = 0; i < root->n_attributes; i++) {
        FAB_TRY(set_attribute(b, &ROOT_ELEMENT, &b->prices, &root->attributes[i], err));
    }
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_TRY(read_element(b, child, err));
    }
    FAB_TRY(check_needs(b, &ROOT_ELEMENT, root, err));
    for (size_t i = 0; i < N_ELEMENTS; i++) {
        if (b->n_seen[i] == 0 && !IS_OPTIONAL(&ELEMENTS[i])) {
            FAB_TRY(fab_xml_fail_at(b->file, root, err, "the price book does not give ", ELEMENTS[i].name));
        }
    }
    (void)snprintf(b->prices.origin, sizeof b->prices.origin, "%s", b->file);
done:
    fab_xml_free(xml);
    return status;
}

static fab_status fail_unknown_profile(const char *text, fab_error *err) {
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    fab_choices_init(&near, text);
    for (const fab_builtin *p = fab_builtin_prices; p->name != NULL; p++) {
        char candidate[64];
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)strcspn(p->name, "."), p->name);
        fab_choices_offer(&near, candidate);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown price profile '%.40s'%s (or a file: with '/' or ending in .xml)",
                    text, fab_choices_list(&near, "allowed:", hint));
}

fab_status fab_prices_read(const char *text, fab_prices *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str data = FAB_STR_INIT;
    book *b = NULL;
    char file[FAB_XML_PLACE_SIZE];
    size_t length = strlen(text);
    FAB_TRY(FAB_NEW(b, 1, err));
    if (strchr(text, '/') != NULL || (length > 4 && strcmp(text + length - 4, ".xml") == 0)) {
        b->file = text;
        FAB_TRY(fab_read_file(text, FAB_XML_MAX_BYTES, &data, err));
        FAB_TRY(read_book(b, data.data, data.length, err));
    } else {
        const fab_builtin *profile = length > 0 ? fab_builtin_find(fab_builtin_prices, text) : NULL;
        if (profile == NULL) {
            status = fail_unknown_profile(text, err);
            goto done;
        }
        (void)snprintf(file, sizeof file, "prices:%.60s", text);
        b->file = file;
        FAB_TRY(read_book(b, profile->data, profile->size, err));
    }
    *out = b->prices;
done:
    fab_str_release(&data);
    free(b);
    return status;
}

/* --- schema ------------------------------------------------------------------------------------------------------- */

void fab_prices_schema(fab_str *out) {
    schema_begin(out, "Price book: what the parts of a fabric cost and draw.");
    fab_str_add(out, "  <xs:element name=\"prices\">\n    <xs:complexType>\n"
                     "      <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n");
    for (const element *e = ELEMENTS; e < ELEMENTS + N_ELEMENTS; e++) {
        if (e->is_text) {
            schema_text_element(out, 8, e->name, &e->attributes[0].field, true);
            continue;
        }
        fab_str_printf(out,
                       "        <xs:element name=\"%s\">\n"
                       "          <xs:annotation><xs:documentation>%s</xs:documentation></xs:annotation>\n"
                       "          <xs:complexType>\n",
                       e->name, e->summary);
        for (const attribute *a = e->attributes; a->field.key != NULL; a++) {
            schema_attribute(out, 12, &a->field, false, a->need == NEED_ALWAYS);
        }
        fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n");
    }
    fab_str_add(out, "      </xs:choice>\n");
    for (const attribute *a = ROOT; a->field.key != NULL; a++) {
        schema_attribute(out, 6, &a->field, false, true);
    }
    fab_str_add(out, "    </xs:complexType>\n  </xs:element>\n");
    schema_end(out);
}
