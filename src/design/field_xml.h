/**
 * @file field_xml.h
 * Attributes of XML elements into structs, by rows of a table of fields.
 */
#ifndef FAB_FIELD_XML_H
#define FAB_FIELD_XML_H

#include "fab/xml_reader.h"
#include "field.h"

/** A field, and the element that has it as an attribute. */
typedef struct field_row {
    const char *element;
    field field; /**< without a default it is required */
} field_row;

/**
 * Sets the fields of this element in the struct at `base`: those given, and the defaults of the others.
 * @param[in] file  Name for messages.
 * @retval FAB_EINPUT  an unknown attribute, one that is missing, or a bad value
 */
fab_status field_read_attributes(const field_row *rows, size_t n, const fab_xml_element *at, const char *file,
                                 void *base, fab_error *err) FAB_MUST_USE;

#endif
