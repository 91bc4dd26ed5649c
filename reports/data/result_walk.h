/**
 * @file result_walk.h
 * One walk over a result for every format that shows all of it: the names of the fields stand in result_walk.c and
 * nowhere else. A format supplies the callbacks.
 */
#ifndef FAB_RESULT_WALK_H
#define FAB_RESULT_WALK_H

#include "fab/result.h"

/**
 * What the walk calls. Within an object scalars and lists of scalars come before objects and arrays, so that a format
 * may make them attributes. `key` is NULL for the root and within arrays; keys, items and texts are borrowed for the
 * call (keys and items: for the walk).
 */
typedef struct fab_emitter {
    void (*begin_object)(void *self, const char *key, bool one_line);   /**< one_line: small, holds scalars only */
    void (*begin_array)(void *self, const char *key, const char *item); /**< item: name of one element */
    void (*end)(void *self);
    void (*integer)(void *self, const char *key, uint64_t value);
    void (*number)(void *self, const char *key, double value);
    void (*boolean)(void *self, const char *key, bool value);
    void (*string)(void *self, const char *key, const char *value);
    void (*integers)(void *self, const char *key, const uint64_t *values, size_t n);
    void (*numbers)(void *self, const char *key, const double *values, size_t n);
    /** After the scalars. `distribution`: over several seeds; otherwise only the mean counts. */
    void (*stat)(void *self, const char *key, const fab_stat *stat, bool distribution);
    void (*strings)(void *self, const char *key, const char *item, const char *const *values, size_t n);
} fab_emitter;

/**
 * Walks the result. Looks through it once before anything is emitted.
 * @param[in] emitter  NULL: look only.
 * @retval FAB_EINTERNAL  a figure is infinite or not a number; names the field. Nothing was emitted.
 */
fab_status fab_result_walk(const fab_result *result, const fab_emitter *emitter, void *self,
                           fab_error *err) FAB_MUST_USE;

/** Name of a utilisation bin of fab_tier_load: "0.5 - 0.75". */
extern const char *const fab_histogram_names[FAB_HISTOGRAM];

#endif
