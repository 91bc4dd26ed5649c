/**
 * One walk over a result for every format that shows all of it, by the table of fields (fields/result_field.h). A
 * format supplies the callbacks.
 */
#pragma once

#include "fields/result_field.h"

/** A list of scalars. */
typedef struct fab_values {
    const fab_field *field;
    const char *first;
    size_t n;
} fab_values;

/** Element i < n. */
fab_value fab_values_at(const fab_values *values, size_t i);

/** Text of a scalar, numbers as the shortest that reads back as the same. Borrowed, or `room`. */
const char *fab_value_text(const fab_value *value, char room[32]);

/**
 * What the walk calls. Within an object scalars and lists of numbers come before everything else, so that a format may
 * make them attributes. `field` is NULL for the report itself and for elements of lists.
 */
typedef struct fab_emitter {
    void (*begin_object)(void *self, const fab_field *field, bool one_line); /**< one_line: small, holds scalars only */
    void (*begin_list)(void *self, const fab_field *field);                  /**< of objects */
    void (*end)(void *self);
    void (*value)(void *self, const fab_field *field, const fab_value *value);
    void (*values)(void *self, const fab_values *values);
    bool shows_means; /**< figures of one seed are objects of their mean, as those of several are objects */
} fab_emitter;

/** Of a result that fab_result_check() has passed. */
void fab_result_walk(const fab_result *result, const fab_emitter *emitter, void *self);

/** FAB_EINTERNAL: a figure is infinite or not a number; names the field. */
FAB_STATUS fab_result_check(const fab_result *result, fab_error *err);

/** Name of a utilisation bin of fab_tier_load: "0.5 - 0.75". */
extern const char *const fab_histogram_names[FAB_HISTOGRAM];
