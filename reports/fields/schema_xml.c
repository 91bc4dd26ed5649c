/* XML Schema of the XML report, from the table of fields: scalars and lists of numbers are attributes, what may be a
 * distribution an element with the attribute "mean" and, with several seeds, the others. */
#include "fab/definitions.h"
#include "result_field.h"

static void schema_xml_add_escaped(fab_str *out, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '<' || *c == '&') {
            fab_str_add(out, *c == '<' ? "&lt;" : "&amp;");
        } else {
            fab_str_append(out, c, 1);
        }
    }
}

static void add_documentation(fab_str *out, const char *text) {
    fab_str_add(out, "<xs:annotation><xs:documentation>");
    schema_xml_add_escaped(out, text);
    fab_str_add(out, "</xs:documentation></xs:annotation>");
}

static bool is_attribute(const fab_field *f) {
    return fab_field_is_scalar(f) ||
           (f->type == FAB_FIELD_LIST && f->table == NULL && !fab_field_is_text(f->item_type));
}

/* Name of the type of a scalar; those of few texts have none. */
static const char *type_name(const fab_field *f, fab_field_type type) {
    bool is_list = f->type == FAB_FIELD_LIST;
    switch (type) {
    case FAB_FIELD_BOOL: return "xs:boolean";
    case FAB_FIELD_U32:
    case FAB_FIELD_COUNT: return is_list ? "counts" : "count";
    case FAB_FIELD_REAL: return is_list ? "amounts" : f->is_signed ? "xs:double" : "amount";
    default: return f->names != NULL ? NULL : "xs:string";
    }
}

static void add_names(fab_str *out, const fab_field *f) {
    fab_str_add(out, "<xs:simpleType><xs:restriction base=\"xs:string\">");
    for (size_t i = 0; i < f->n_names; i++) {
        fab_str_printf(out, "<xs:enumeration value=\"%s\"/>", f->names[i]);
    }
    fab_str_add(out, "</xs:restriction></xs:simpleType>");
}

static void add_attribute(fab_str *out, const fab_field *f, bool is_required) {
    const char *type = type_name(f, f->type == FAB_FIELD_LIST ? f->item_type : f->type);
    fab_str_printf(out, "    <xs:attribute name=\"%s\"", f->key);
    if (type != NULL) {
        fab_str_printf(out, " type=\"%s\"", type);
    }
    fab_str_add(out, is_required ? " use=\"required\">" : ">");
    add_documentation(out, f->definition);
    if (type == NULL) {
        add_names(out, f);
    }
    fab_str_add(out, "</xs:attribute>\n");
}

/* An element for each element of a list. */
static void add_items(fab_str *out, const fab_field *f) {
    double least = f->low > 0 ? f->low : f->when == FAB_FILLED ? 1 : 0;
    fab_str_printf(out, "<xs:complexType><xs:sequence><xs:element name=\"%s\" minOccurs=\"%.0f\"", f->item, least);
    if (f->high > 0) {
        fab_str_printf(out, " maxOccurs=\"%.0f\"", f->high);
    } else {
        fab_str_add(out, " maxOccurs=\"unbounded\"");
    }
    if (f->table == NULL && f->names != NULL) {
        fab_str_add(out, ">");
        add_names(out, f);
        fab_str_add(out, "</xs:element>");
    } else {
        fab_str_printf(out, " type=\"%s\"/>", f->table == NULL ? "xs:string" : f->table->name);
    }
    fab_str_add(out, "</xs:sequence></xs:complexType>");
}

static void add_element(fab_str *out, const fab_field *f, bool is_required) {
    fab_str_printf(out, "      <xs:element name=\"%s\"%s", f->key, is_required ? "" : " minOccurs=\"0\"");
    if (f->type != FAB_FIELD_LIST) {
        fab_str_printf(out, " type=\"%s\"", f->type == FAB_FIELD_STAT ? "statistic" : f->table->name);
    }
    fab_str_add(out, ">");
    add_documentation(out, f->definition);
    if (f->type == FAB_FIELD_LIST) {
        add_items(out, f);
    }
    fab_str_add(out, "</xs:element>\n");
}

/* --- types -------------------------------------------------------------------------------------------------------- */

static const fab_field *find(const fab_fields *table, const char *key) {
    FAB_FIRST(i, table->n, table->rows[i].key != NULL && strcmp(table->rows[i].key, key) == 0);
    return i < table->n ? &table->rows[i] : NULL;
}

typedef struct part {
    bool attributes;          /* or elements */
    const fab_fields *other;  /* what it does not have is not required; NULL: none */
    const fab_fields *before; /* fields of this one are left out; NULL: none */
} part;

static void add_part(fab_str *out, const fab_fields *table, part p, bool is_required) {
    for (const fab_field *f = table->rows; f < table->rows + table->n; f++) {
        bool required = is_required && fab_field_is_required(f);
        if (f->type == FAB_FIELD_GROUP) {
            add_part(out, f->table, p, required);
        } else if (is_attribute(f) == p.attributes && (p.before == NULL || find(p.before, f->key) == NULL)) {
            const fab_field *same = p.other != NULL ? find(p.other, f->key) : NULL;
            required = required && (p.other == NULL || (same != NULL && fab_field_is_required(same)));
            (p.attributes ? add_attribute : add_element)(out, f, required);
        }
    }
}

/* `other` NULL, or a table of elements of the same name: XML Schema has one type for both. */
static void add_content(fab_str *out, const fab_fields *table, const fab_fields *other) {
    fab_str_add(out, "    <xs:sequence>\n");
    add_part(out, table, (part){false, other, NULL}, true);
    fab_str_add(out, "    </xs:sequence>\n");
    add_part(out, table, (part){true, other, NULL}, true);
    if (other != NULL) {
        add_part(out, other, (part){true, NULL, table}, false);
    }
}

/* The other table of a list of two sorts of elements, of which `table` is the first. */
static const fab_fields *other_of(const fab_fields *table) {
    const fab_field *f = fab_result_fields.rows;
    FAB_FIRST(i, fab_result_fields.n, f[i].table == table && f[i].other != NULL);
    return i < fab_result_fields.n ? f[i].other : NULL;
}

static const char HEAD[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" elementFormDefault=\"qualified\">\n"
    "  <xs:simpleType name=\"count\"><xs:restriction base=\"xs:nonNegativeInteger\"/></xs:simpleType>\n"
    "  <xs:simpleType name=\"amount\"><xs:restriction base=\"xs:double\"><xs:minInclusive "
    "value=\"0\"/></xs:restriction></xs:simpleType>\n"
    "  <xs:simpleType name=\"counts\"><xs:list itemType=\"count\"/></xs:simpleType>\n"
    "  <xs:simpleType name=\"amounts\"><xs:list itemType=\"amount\"/></xs:simpleType>\n";

void fab_result_xml_schema(fab_str *out) {
    fab_fields_place places[FAB_FIELDS_MOST];
    size_t n = fab_fields_list(places);
    fab_str_add(out, HEAD);
    fab_str_add(out, "  <xs:complexType name=\"statistic\">\n");
    for (const fab_field *f = fab_stat_fields.rows; f < fab_stat_fields.rows + fab_stat_fields.n; f++) {
        add_attribute(out, f, f->at == 0);
    }
    fab_str_add(out, "  </xs:complexType>\n");
    fab_str_add(out, "  <xs:element name=\"report\"><xs:complexType>\n");
    add_content(out, &fab_result_fields, NULL);
    fab_str_add(out, "  </xs:complexType></xs:element>\n");
    for (size_t i = 1; i < n; i++) {
        if (places[i].table != &fab_stat_fields) {
            fab_str_printf(out, "  <xs:complexType name=\"%s\">\n", places[i].table->name);
            add_content(out, places[i].table, other_of(places[i].table));
            fab_str_add(out, "  </xs:complexType>\n");
        }
    }
    fab_str_add(out, "</xs:schema>\n");
}
