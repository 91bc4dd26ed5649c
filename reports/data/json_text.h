/** JSON, piece by piece, for the formats that hold some. */
#pragma once

#include "fab/result.h"

/** Appends a string with its quotes; what is no UTF-8 becomes U+FFFD. */
void fab_json_string(fab_str *out, const char *text);

/** Appends the shortest text that reads back as the same. */
void fab_json_number(fab_str *out, double value);

/** Appends the whole result as one object. */
void fab_json_result(fab_str *out, const fab_result *result);
