#include "fab/prices.h"
#include "fab/builtin.h"
#include "fab/memory.h"
#include "fab/xml_reader.h"
#include "field_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A field of a price book, and the element it is an attribute of. Every one is required: no price is ever guessed. */
typedef struct row {
    const char *element; /**< NULL: the root */
    field field;
} row;

#define PLACE(member) offsetof(fab_prices, member), sizeof(((fab_prices *)0)->member)

/* clang-format off */
#define BOOK_TEXT(key, kind, member, summary) \
    {SCOPE_BOOK, key, kind, FAB_UNIT_COUNT, PLACE(member), 0, 0, false, NULL, NULL, summary}
#define BOOK_USD(key, member, summary) \
    {SCOPE_BOOK, key, FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(member), 0, 1e9, false, NULL, NULL, summary}
#define BOOK_NUMBER(key, member, min, max, summary) \
    {SCOPE_BOOK, key, FIELD_DECIMAL, FAB_UNIT_COUNT, PLACE(member), min, max, false, NULL, NULL, summary}
#define BOOK_POWER(key, member, summary) \
    {SCOPE_BOOK, key, FIELD_QUANTITY, FAB_UNIT_POWER, PLACE(member), 0, 1e6, false, NULL, NULL, summary}
#define BOOK_FLAG(key, member, summary) \
    {SCOPE_BOOK, key, FIELD_FLAG, FAB_UNIT_COUNT, PLACE(member), 0, 1, false, NULL, NULL, summary}

static const row ROWS[] = {
    {NULL, BOOK_TEXT("name", FIELD_WORD, name, "name of the profile")},
    {"source", BOOK_TEXT("source", FIELD_TEXT, source, "where the figures come from, and how good they are")},
    {"convention", BOOK_TEXT("convention", FIELD_TEXT, convention, "how transceivers are counted")},
    {"switch", BOOK_USD("usd-per-port", switch_usd_per_port, "price of a switch / its ports, used or not")},
    {"switch", BOOK_POWER("power-per-port", switch_w_per_port, "power of a switch / its ports, without optics")},
    {"transceiver", BOOK_USD("usd", transceiver_usd, "price of one; one at either end of every counted cable")},
    {"transceiver", BOOK_POWER("power", transceiver_w, "power of one")},
    {"transceiver", BOOK_FLAG("nic-cables", count_nic_cables, "whether cables between NIC and leaf carry transceivers")},
    {"cable", BOOK_USD("usd", cable_usd, "price per cable")},
    {"cable", BOOK_USD("usd-per-m", cable_usd_per_m, "price per metre of cable, on top")},
    {"nic", BOOK_USD("usd", nic_usd, "price of one NIC")},
    {"nic", BOOK_POWER("power", nic_w, "power of one NIC")},
    {"energy", BOOK_USD("usd-per-kwh", usd_per_kwh, "price of energy")},
    {"energy", BOOK_NUMBER("pue", pue, 1, 10, "facility power / IT power")},
    {"life", BOOK_NUMBER("years", years, 0.1, 100, "depreciation")},
};
/* clang-format on */
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

typedef struct book {
    fab_prices prices;
    const char *file;
    bool seen[N_ROWS];
} book;

static bool same_element(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_text(const row *r) {
    return r->element != NULL && strcmp(r->element, r->field.key) == 0;
}

static fab_status fail_at(const book *b, const fab_xml_element *element, fab_error *err, const char *text,
                          const char *what) {
    char where[FAB_XML_PLACE_SIZE];
    return fab_fail(err, FAB_EINPUT, fab_xml_place(where, b->file, element->line, element->column), "%s%.60s", text,
                    what);
}

static fab_status set_attribute(book *b, const char *element, const fab_xml_attribute *attribute, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    char hint[256];
    suggestion near;
    (void)fab_xml_place(where, b->file, attribute->line, attribute->column);
    suggestion_init(&near, attribute->name);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!same_element(ROWS[i].element, element) || is_text(&ROWS[i])) {
            continue;
        }
        if (strcmp(ROWS[i].field.key, attribute->name) == 0) {
            b->seen[i] = true;
            fab_str_release(&near.all);
            return field_set(&ROWS[i].field, &b->prices, attribute->value, where, err);
        }
        suggestion_add(&near, ROWS[i].field.key);
    }
    (void)suggestion_finish(&near, hint, sizeof hint);
    return fab_fail(err, FAB_EINPUT, where, "unknown attribute of %.40s '%.40s'%s",
                    element != NULL ? element : "prices", attribute->name, hint);
}

/* Elements appear once each. */
static fab_status read_element(book *b, const fab_xml_element *element, fab_error *err) {
    fab_status status = FAB_OK;
    char where[FAB_XML_PLACE_SIZE];
    size_t i = 0;
    while (i < N_ROWS && !same_element(ROWS[i].element, element->name)) {
        i++;
    }
    if (i == N_ROWS || element->uri != NULL) {
        FAB_TRY(fail_at(b, element, err, "unknown element of a price book: ", element->name));
    }
    if (element->first_child != NULL) {
        FAB_TRY(fail_at(b, element->first_child, err, "no element may stand inside ", element->name));
    }
    for (size_t j = i; j < N_ROWS && same_element(ROWS[j].element, element->name); j++) {
        if (b->seen[j]) {
            FAB_TRY(fail_at(b, element, err, "a price book has this element once: ", element->name));
        }
    }
    if (is_text(&ROWS[i])) {
        b->seen[i] = true;
        (void)fab_xml_place(where, b->file, element->line, element->column);
        FAB_TRY(field_set(&ROWS[i].field, &b->prices, element->text, where, err));
    } else if (element->text[0] != '\0') {
        FAB_TRY(fail_at(b, element, err, "unexpected text inside ", element->name));
    }
    for (size_t j = 0; j < element->n_attributes; j++) {
        FAB_TRY(set_attribute(b, element->name, &element->attributes[j], err));
    }
done:
    return status;
}

static fab_status read_book(book *b, const char *data, size_t size, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xml *xml = NULL;
    FAB_TRY(fab_xml_parse(data, size, b->file, &xml, err));
    const fab_xml_element *root = fab_xml_root(xml);
    if (strcmp(root->name, "prices") != 0 || root->uri != NULL) {
        FAB_TRY(fail_at(b, root, err, "a price book begins with <prices>, not with ", root->name));
    }
    if (root->text[0] != '\0') {
        FAB_TRY(fail_at(b, root, err, "unexpected text inside ", root->name));
    }
    for (size_t i = 0; i < root->n_attributes; i++) {
        FAB_TRY(set_attribute(b, NULL, &root->attributes[i], err));
    }
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_TRY(read_element(b, child, err));
    }
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!b->seen[i]) {
            char what[64];
            (void)snprintf(what, sizeof what, "%s%s%s", ROWS[i].element != NULL ? ROWS[i].element : "",
                           ROWS[i].element != NULL && !is_text(&ROWS[i]) ? " " : "",
                           is_text(&ROWS[i]) ? "" : ROWS[i].field.key);
            FAB_TRY(fail_at(b, root, err, "the price book does not give ", what));
        }
    }
done:
    fab_xml_free(xml);
    return status;
}

static fab_status fail_unknown_profile(const char *text, fab_error *err) {
    char hint[256];
    suggestion near;
    suggestion_init(&near, text);
    for (const fab_builtin *p = fab_builtin_prices; p->name != NULL; p++) {
        char candidate[64];
        (void)snprintf(candidate, sizeof candidate, "%.*s", (int)strcspn(p->name, "."), p->name);
        suggestion_add(&near, candidate);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown price profile '%.40s'%s (or a file: with '/' or ending in .xml)",
                    text, suggestion_finish(&near, hint, sizeof hint));
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
            FAB_TRY(fail_unknown_profile(text, err));
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

void fab_prices_schema(fab_str *out) {
    schema_begin(out, "Price book: what the parts of a fabric cost and draw.");
    fab_str_add(out, "  <xs:element name=\"prices\">\n    <xs:complexType>\n      <xs:all>\n");
    for (size_t i = 0; i < N_ROWS;) {
        const char *element = ROWS[i].element;
        if (element == NULL) {
            i++;
        } else if (is_text(&ROWS[i])) {
            schema_text_element(out, 8, element, &ROWS[i].field, true);
            i++;
        } else {
            fab_str_printf(out, "        <xs:element name=\"%s\">\n          <xs:complexType>\n", element);
            for (; i < N_ROWS && same_element(ROWS[i].element, element); i++) {
                schema_attribute(out, 12, &ROWS[i].field, false, true);
            }
            fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n");
        }
    }
    fab_str_add(out, "      </xs:all>\n");
    schema_attribute(out, 6, &ROWS[0].field, false, true);
    fab_str_add(out, "    </xs:complexType>\n  </xs:element>\n");
    schema_end(out);
}
