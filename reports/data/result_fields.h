/**
 * @file result_fields.h
 * One call per kind of field: what the walk over a result is made of. Each emits its field, or, on the first of the two
 * walks, looks for figures that are not finite.
 */
#ifndef FAB_RESULT_FIELDS_H
#define FAB_RESULT_FIELDS_H

#include "fab/advice.h"
#include "fab/mix.h"
#include "fab/study_summary.h"
#include "result_walk.h"

#include <math.h>

typedef struct walk {
    const fab_emitter *emit; /* NULL while looking for figures that are not finite */
    void *self;
    const char *bad_key;
    double bad_value;
} walk;

static inline void check(walk *w, const char *key, double value) {
    if (w->bad_key == NULL && !isfinite(value)) {
        w->bad_key = key;
        w->bad_value = value;
    }
}

static inline void object(walk *w, const char *key) {
    if (w->emit != NULL) {
        w->emit->begin_object(w->self, key, false);
    }
}

static inline void row(walk *w) {
    if (w->emit != NULL) {
        w->emit->begin_object(w->self, NULL, true);
    }
}

static inline void array(walk *w, const char *key, const char *item) {
    if (w->emit != NULL) {
        w->emit->begin_array(w->self, key, item);
    }
}

static inline void end(walk *w) {
    if (w->emit != NULL) {
        w->emit->end(w->self);
    }
}

static inline void integer(walk *w, const char *key, uint64_t value) {
    if (w->emit != NULL) {
        w->emit->integer(w->self, key, value);
    }
}

static inline void number(walk *w, const char *key, double value) {
    check(w, key, value);
    if (w->emit != NULL) {
        w->emit->number(w->self, key, value);
    }
}

static inline void boolean(walk *w, const char *key, bool value) {
    if (w->emit != NULL) {
        w->emit->boolean(w->self, key, value);
    }
}

static inline void string(walk *w, const char *key, const char *value) {
    if (w->emit != NULL) {
        w->emit->string(w->self, key, value);
    }
}

/** Texts that may be missing are left out when empty. */
static inline void text(walk *w, const char *key, const char *value) {
    if (value != NULL && value[0] != '\0') {
        string(w, key, value);
    }
}

static inline void integers(walk *w, const char *key, const uint64_t *values, size_t n) {
    if (w->emit != NULL) {
        w->emit->integers(w->self, key, values, n);
    }
}

static inline void numbers(walk *w, const char *key, const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        check(w, key, values[i]);
    }
    if (w->emit != NULL) {
        w->emit->numbers(w->self, key, values, n);
    }
}

static inline void stat(walk *w, const char *key, const fab_stat *value, bool distribution) {
    check(w, key, value->mean);
    if (distribution) {
        check(w, key, value->ci95 + value->p50 + value->p99 + value->min + value->max);
    }
    if (w->emit != NULL) {
        w->emit->stat(w->self, key, value, distribution);
    }
}

/** A phase and its engines, see result_walk_phase.c. */
void fab_walk_phase(walk *w, const fab_phase_result *phase, const fab_counts *counts);
/** Phases that nobody has routed yet, see result_walk_iteration.c. */
void fab_walk_traffic(walk *w, const struct fab_traffic *traffic);
void fab_walk_job(walk *w, const fab_result *result);
void fab_walk_iterations(walk *w, const fab_iteration *list, size_t n);

/** Jobs that meet, and slower parts, see result_walk_contention.c. */
void fab_walk_contention(walk *w, const struct fab_contention *contention);
void fab_walk_degradation(walk *w, const struct fab_degradation *degradation);

/** What changes buy, see result_walk_advice.c. */
void fab_walk_advice(walk *w, const fab_advice *advice);

/** A design at many values of a parameter, see result_walk_sweep.c. */
void fab_walk_sweep(walk *w, const fab_sweep *sweep);
/** What one set of failures does, see result_walk_failures.c. */
void fab_walk_failures(walk *w, const struct fab_failures *failures);

/** What failure scenarios do, see result_walk_study.c. */
void fab_walk_audit(walk *w, const struct fab_audit *audit);
void fab_walk_import(walk *w, const struct fab_imported *imported);
void fab_walk_study(walk *w, const fab_study_summary *study);
/** Two jobs on several fabrics, in the same file. */
void fab_walk_mix(walk *w, const fab_mix *mix);

#endif
