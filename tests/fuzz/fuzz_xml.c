/* XML as a tree. What is read is walked and counted, with the limits that the header promises. */
#include "fab/xml_reader.h"
#include "fuzz.h"

#include <string.h>

static size_t walk(const fab_xml_element *element, size_t depth) {
    size_t n = 1;
    fuzz_check(depth <= FAB_XML_MAX_DEPTH, "depth %zu", depth);
    fuzz_check(element->n_attributes <= FAB_XML_MAX_ATTRIBUTES, "%zu attributes", element->n_attributes);
    fuzz_check(element->name[0] != '\0' && element->line > 0 && element->column > 0, "an element without a place");
    fuzz_check(element->text != NULL, "an element without a text");
    for (size_t i = 0; i < element->n_attributes; i++) {
        const fab_xml_attribute *a = &element->attributes[i];
        fuzz_check(a->name[0] != '\0' && a->value != NULL, "an attribute without a name");
        fuzz_check(a->line >= element->line && a->column > 0, "attribute %s at %u:%u", a->name, a->line, a->column);
        const fab_xml_attribute *found = fab_xml_find(element, a->name);
        fuzz_check(found != NULL && strcmp(found->name, a->name) == 0, "attribute %s is not found", a->name);
    }
    for (const fab_xml_element *child = element->first_child; child != NULL; child = child->next) {
        fuzz_check(child->parent == element, "%s has another parent", child->name);
        n += walk(child, depth + 1);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_xml *xml = NULL;
    fab_error err = {0};
    if (fuzz_accepts(fab_xml_parse((const char *)data, size, "fuzz.xml", &xml, &err), &err)) {
        fuzz_check(walk(fab_xml_root(xml), 1) <= FAB_XML_MAX_ELEMENTS, "too many elements");
    } else {
        fuzz_check(xml == NULL, "a tree is written by a failed call");
        fuzz_check(strncmp(err.where, "fuzz.xml", 8) == 0, "no place but '%s'", err.where);
    }
    fab_xml_free(xml);
    return 0;
}
