#include "field_schema.h"
#include "fab/sizes.h"

#define NUMBER "([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+\\-]?[0-9]+)?"

static const char *unit_pattern(fab_unit unit) {
    switch (unit) {
    case FAB_UNIT_COUNT: return "";
    case FAB_UNIT_RATIO: return "(:" NUMBER ")?";
    case FAB_UNIT_RATE: return " *[kMGT]?([bB]/s|[bB]ps|bit/s)";
    case FAB_UNIT_BYTES: return " *([kMGT]|Ki|Mi|Gi)?B";
    case FAB_UNIT_LENGTH: return " *[ck]?m";
    case FAB_UNIT_TIME: return " *(s|ms|us|&#xB5;s|&#x3BC;s|ns|min|h|d)";
    case FAB_UNIT_POWER: return " *[kM]?W";
    }
    return "";
}

static void field_schema_add_escaped(fab_str *out, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<': fab_str_add(out, "&lt;"); break;
        case '&': fab_str_add(out, "&amp;"); break;
        case '"': fab_str_add(out, "&quot;"); break;
        default: fab_str_append(out, text, 1);
        }
    }
}

void schema_documentation(fab_str *out, int indent, const char *text) {
    fab_str_printf(out, "%*s<xs:annotation><xs:documentation>", indent, "");
    field_schema_add_escaped(out, text);
    fab_str_add(out, "</xs:documentation></xs:annotation>\n");
}

static void add_pattern_type(fab_str *out, int indent, const char *pattern, size_t max_length) {
    fab_str_printf(out, "%*s<xs:simpleType><xs:restriction base=\"xs:string\">", indent, "");
    if (pattern != NULL) {
        fab_str_printf(out, "<xs:pattern value=\"%s\"/>", pattern);
    }
    if (max_length > 0) {
        fab_str_printf(out, "<xs:maxLength value=\"%zu\"/>", max_length);
    }
    fab_str_add(out, "</xs:restriction></xs:simpleType>\n");
}

static void add_enumeration(fab_str *out, int indent, const char *const *choices) {
    fab_str_printf(out, "%*s<xs:simpleType><xs:restriction base=\"xs:string\">", indent, "");
    for (; *choices != NULL; choices++) {
        if ((*choices)[0] != '\0') {
            fab_str_printf(out, "<xs:enumeration value=\"%s\"/>", *choices);
        }
    }
    fab_str_add(out, "</xs:restriction></xs:simpleType>\n");
}

static void add_count_type(fab_str *out, int indent, const field *f) {
    char range[256];
    FAB_FORMAT(range,
               "<xs:simpleType><xs:restriction base=\"xs:unsignedLong\"><xs:minInclusive value=\"%.0f\"/>"
               "<xs:maxInclusive value=\"%.0f\"/></xs:restriction></xs:simpleType>",
               f->min, f->max);
    if (!f->automatic) {
        fab_str_printf(out, "%*s%s\n", indent, "", range);
        return;
    }
    fab_str_printf(out,
                   "%*s<xs:simpleType><xs:union>%s<xs:simpleType><xs:restriction base=\"xs:string\">"
                   "<xs:enumeration value=\"auto\"/></xs:restriction></xs:simpleType></xs:union></xs:simpleType>\n",
                   indent, "", range);
}

/* Numbers with a unit, and whatever may stand in a list: patterns. The reader checks the range. */
static void add_number_type(fab_str *out, int indent, const field *f, bool list) {
    char item[256];
    char pattern[640];
    FAB_FORMAT(item, "%s%s%s%s", f->min < 0 ? "\\-?" : "", f->kind == FIELD_COUNT ? "[0-9]+" : NUMBER,
               f->kind == FIELD_QUANTITY ? unit_pattern(f->unit) : "", f->automatic ? "|auto" : "");
    if (list) {
        FAB_FORMAT(pattern, "(%s)(/(%s)){0,%d}", item, item, FAB_MAX_TIERS - 1);
    } else {
        FAB_FORMAT(pattern, "%s", item);
    }
    add_pattern_type(out, indent, pattern, 0);
}

static void add_type(fab_str *out, int indent, const field *f, bool list) {
    static const char *const FLAG[] = {"yes", "no", "true", "false", NULL};
    switch (f->kind) {
    case FIELD_TEXT: add_pattern_type(out, indent, NULL, f->size - 1); break;
    case FIELD_WORD:
        add_pattern_type(out, indent,
                         f->initial != NULL ? "[A-Za-z0-9_][A-Za-z0-9._\\-]*" : "([A-Za-z0-9_][A-Za-z0-9._\\-]*)?",
                         f->size - 1);
        break;
    case FIELD_LIST:
    case FIELD_SERVERS:
    case FIELD_SHAPE: add_pattern_type(out, indent, "[0-9,;:\\-]*", field_most_characters(f)); break;
    case FIELD_CHOICE: add_enumeration(out, indent, f->choices); break;
    case FIELD_FLAG: add_enumeration(out, indent, FLAG); break;
    case FIELD_COUNT:
        if (list) {
            add_number_type(out, indent, f, list);
        } else {
            add_count_type(out, indent, f);
        }
        break;
    case FIELD_QUANTITY:
    case FIELD_DECIMAL: add_number_type(out, indent, f, list); break;
    }
}

void schema_attribute(fab_str *out, int indent, const field *f, bool list, bool required) {
    fab_str_printf(out, "%*s<xs:attribute name=\"%s\"%s>\n", indent, "", f->key, required ? " use=\"required\"" : "");
    fab_str text = FAB_STR_INIT;
    fab_str_printf(&text, "%s%s", f->summary, list ? "; one value, or one per tier separated by /" : "");
    if (f->initial != NULL) {
        fab_str_printf(&text, " [%s]", f->initial);
    }
    schema_documentation(out, indent + 2, text.data != NULL ? text.data : f->summary);
    out->failed |= text.failed;
    fab_str_release(&text);
    add_type(out, indent + 2, f, list);
    fab_str_printf(out, "%*s</xs:attribute>\n", indent, "");
}

void schema_text_element(fab_str *out, int indent, const char *name, const field *f, bool required) {
    fab_str_printf(out, "%*s<xs:element name=\"%s\"%s>\n", indent, "", name, required ? "" : " minOccurs=\"0\"");
    schema_documentation(out, indent + 2, f->summary);
    /* Line breaks and indentation do not count. */
    fab_str_printf(out,
                   "%*s<xs:simpleType><xs:restriction base=\"xs:token\"><xs:maxLength value=\"%zu\"/></xs:restriction>"
                   "</xs:simpleType>\n",
                   indent + 2, "", f->size - 1);
    fab_str_printf(out, "%*s</xs:element>\n", indent, "");
}

void schema_begin(fab_str *out, const char *what) {
    fab_str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" elementFormDefault=\"unqualified\">\n");
    schema_documentation(out, 2, what);
}

void schema_end(fab_str *out) {
    fab_str_add(out, "</xs:schema>\n");
}
