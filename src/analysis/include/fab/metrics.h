/**
 * @file metrics.h
 * What the figures of reports mean: one definition each. `fabriscope explain` prints them.
 */
#ifndef FAB_METRICS_H
#define FAB_METRICS_H

typedef struct fab_metric {
    const char *name;       /**< as JSON and XML call it */
    const char *unit;       /**< "1" for ratios and counts */
    const char *of;         /**< what it belongs to: fabric, cost, phase, engine, link class, iteration, study */
    const char *definition; /**< a sentence or a few */
    const char *formula;    /**< or NULL where the definition says it all */
    const char *source;     /**< paper, tool or decision record that defines it so */
} fab_metric;

extern const fab_metric fab_metrics[]; /**< in the order of a report; ended by an entry without a name */

/** NULL: there is none of that name. */
const fab_metric *fab_metric_find(const char *name);

#endif
