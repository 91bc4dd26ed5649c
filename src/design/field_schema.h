/** XML Schema text of fields, for design files and price books. */
#pragma once

#include "field.h"

/** Beginning and end of a schema; `what` is its documentation. */
void schema_begin(fab_str *out, const char *what);
void schema_end(fab_str *out);
void schema_documentation(fab_str *out, int indent, const char *text);

/**
 * Appends an xs:attribute.
 * @param[in] list  Values per tier may stand in a list.
 */
void schema_attribute(fab_str *out, int indent, const field *field, bool list, bool required);

/** Appends an element that holds text alone: a field of kind FIELD_TEXT. */
void schema_text_element(fab_str *out, int indent, const char *name, const field *field, bool required);
