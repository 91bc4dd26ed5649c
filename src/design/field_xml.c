#include "field_xml.h"

#include <string.h>

static fab_status read_attribute(const field_row *rows, size_t n, const char *element, const fab_xml_attribute *a,
                                 const char *file, void *base, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    (void)fab_xml_place(where, file, a->line, a->column);
    fab_choices_init(&near, a->name);
    for (const field_row *row = rows; row < rows + n; row++) {
        if (strcmp(row->element, element) == 0) {
            if (strcmp(row->field.key, a->name) == 0) {
                return field_set(&row->field, base, a->value, where, err);
            }
            fab_choices_offer(&near, row->field.key);
        }
    }
    return fab_fail(err, FAB_EINPUT, where, "unknown attribute of %.40s '%.40s'%s", element, a->name,
                    fab_choices_list(&near, "allowed:", hint));
}

fab_status field_read_attributes(const field_row *rows, size_t n, const fab_xml_element *at, const char *file,
                                 void *base, fab_error *err) {
    for (const field_row *row = rows; row < rows + n; row++) {
        if (strcmp(row->element, at->name) != 0 || fab_xml_find(at, row->field.key) != NULL) {
            continue;
        }
        FAB_PASS(row->field.initial == NULL
                     ? fab_xml_fail_at(file, at, err, "the element lacks the attribute ", row->field.key)
                     : field_set(&row->field, base, row->field.initial, "default", err));
    }
    for (size_t i = 0; i < at->n_attributes; i++) {
        FAB_PASS(read_attribute(rows, n, at->name, &at->attributes[i], file, base, err));
    }
    return FAB_OK;
}
