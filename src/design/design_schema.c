#include "field_schema.h"
#include "fields.h"

static void add_attributes(fab_str *out, int indent, field_scope scope, const char *required, bool list) {
    for (const field *f = design_fields; f->key != NULL; f++) {
        if (f->scope == scope && strcmp(f->key, "source") != 0) {
            schema_attribute(out, indent, f, list, required != NULL && strcmp(f->key, required) == 0);
        }
    }
}

static void add_fabric(fab_str *out, const char *name, const char *occurs) {
    fab_str_printf(out, "        <xs:element name=\"%s\"%s>\n", name, occurs);
    fab_str_add(out, "          <xs:complexType>\n            <xs:sequence>\n"
                     "              <xs:element name=\"tier\" minOccurs=\"0\" maxOccurs=\"8\">\n"
                     "                <xs:complexType>\n"
                     "                  <xs:attribute name=\"level\" use=\"required\">\n"
                     "                    <xs:annotation><xs:documentation>1 = leaf, 2 = spine, 3 = core"
                     "</xs:documentation></xs:annotation>\n"
                     "                    <xs:simpleType><xs:restriction base=\"xs:unsignedLong\">"
                     "<xs:minInclusive value=\"1\"/><xs:maxInclusive value=\"8\"/></xs:restriction></xs:simpleType>\n"
                     "                  </xs:attribute>\n");
    add_attributes(out, 18, SCOPE_TIER, NULL, false);
    fab_str_add(out, "                </xs:complexType>\n              </xs:element>\n            </xs:sequence>\n");
    add_attributes(out, 12, SCOPE_FABRIC, NULL, false);
    if (strcmp(name, "front-end") == 0) {
        add_attributes(out, 12, SCOPE_FRONT_END, NULL, false);
    }
    add_attributes(out, 12, SCOPE_TIER, NULL, true);
    fab_str_printf(
        out,
        "          </xs:complexType>\n"
        "          <xs:unique name=\"%s-tier-level\"><xs:selector xpath=\"tier\"/><xs:field xpath=\"@level\"/>"
        "</xs:unique>\n        </xs:element>\n",
        name);
}

static void add_simple(fab_str *out, const char *name, const char *occurs, field_scope scope, const char *required) {
    fab_str_printf(out, "        <xs:element name=\"%s\" %s>\n          <xs:complexType>\n", name, occurs);
    add_attributes(out, 12, scope, required, false);
    fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n");
}

_Static_assert(FAB_MAX_TIERS == 8, "number in the texts here");
_Static_assert(FAB_MAX_JOBS == 256, "number in the texts here");
_Static_assert(FAB_MAX_ENGINES == 16, "number in the texts here");

void fab_design_schema(fab_str *out) {
    schema_begin(out, "Design of a cluster fabric. Quantities carry their unit (400Gb/s, 30m, 1.5us).");
    fab_str_add(out, "  <xs:element name=\"design\">\n    <xs:complexType>\n      <xs:sequence>\n");
    schema_text_element(out, 8, "source", design_field_find(SCOPE_DESIGN, "source"), false);
    add_fabric(out, "fabric", " minOccurs=\"0\""); /* the reader asks for it where there is no base */
    add_fabric(out, "front-end", " minOccurs=\"0\"");
    add_simple(out, "floor", "minOccurs=\"0\"", SCOPE_FLOOR, NULL);
    add_simple(out, "failures", "minOccurs=\"0\"", SCOPE_FAILURES, NULL);
    add_simple(out, "job", "minOccurs=\"0\" maxOccurs=\"256\"", SCOPE_JOB, NULL);
    add_simple(out, "engine", "minOccurs=\"0\" maxOccurs=\"16\"", SCOPE_ENGINE, "use");
    add_simple(out, "prices", "minOccurs=\"0\"", SCOPE_PRICES, "profile");
    fab_str_add(out, "      </xs:sequence>\n");
    fab_str_add(out, "      <xs:attribute name=\"base\" type=\"xs:string\">\n"
                     "        <xs:annotation><xs:documentation>design that this one changes: preset:NAME, or a path "
                     "from the folder of this file; without it, fabric and its family are required"
                     "</xs:documentation></xs:annotation>\n      </xs:attribute>\n");
    add_attributes(out, 6, SCOPE_DESIGN, NULL, false);
    fab_str_add(out,
                "    </xs:complexType>\n"
                "    <xs:unique name=\"job-id\"><xs:selector xpath=\"job\"/><xs:field xpath=\"@id\"/></xs:unique>\n"
                "  </xs:element>\n");
    schema_end(out);
}
