/* What a reviewer would stop, from the resolved values of a result. */
#include "fab/warnings.h"

#include "fab/imported.h"
#include "fab/memory.h"
#include "fab/mix.h"
#include "fab/sweep.h"
#include "fab/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEAR 0.02 /* a rate on the label and on the wire */

/* Rates of ports of Ethernet [IEEE 802.3] and InfiniBand [IBTA], 10 to 1600 Gb/s. */
static const double SOLD_BPS[] = {10e9, 25e9, 40e9, 50e9, 56e9, 100e9, 200e9, 400e9, 800e9, 1600e9};

static fab_status add_warning(fab_result *result, fab_error *err, const char *fmt, ...) FAB_PRINTF(3, 4);

static fab_status add_warning(fab_result *result, fab_error *err, const char *fmt, ...) {
    char text[512];
    size_t capacity = result->n_warnings; /* grown one by one: there are few */
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    for (size_t i = 0; i < result->n_warnings; i++) {
        if (strcmp(result->warnings[i], text) == 0) {
            return FAB_OK;
        }
    }
    FAB_PASS(fab_grow(&result->warnings, &capacity, result->n_warnings + 1, sizeof(char *), err));
    result->warnings[result->n_warnings] = fab_strdup(text, err);
    result->n_warnings += result->warnings[result->n_warnings] != NULL;
    return result->n_warnings > 0 && result->warnings[result->n_warnings - 1] != NULL ? FAB_OK : FAB_ENOMEM;
}

static bool is_sold(double bps) {
    for (size_t i = 0; i < sizeof SOLD_BPS / sizeof *SOLD_BPS; i++) {
        if (fabs(bps / SOLD_BPS[i] - 1) <= NEAR) {
            return true;
        }
    }
    return false;
}

static fab_status look_at_rates(fab_result *result, const fab_fabric_result *f, fab_error *err) {
    for (size_t i = 0; i < f->counts.n_kinds; i++) {
        const fab_cable_kind *kind = &f->counts.kinds[i];
        char rate[40];
        if (!is_sold(kind->rate_bps)) {
            FAB_PASS(add_warning(result, err,
                                 "links %s run at %s, which no port of the market does: look at nic, "
                                 "planes, port and breakout",
                                 fab_boundary_name(f->counts.wiring, kind->tier),
                                 fab_quantity_format(rate, kind->rate_bps, FAB_UNIT_RATE)));
        }
    }
    return FAB_OK;
}

static fab_status look_at_tiers(fab_result *result, const fab_fabric_result *f, fab_error *err) {
    for (uint64_t t = f->counts.tiers; f->counts.wiring == FAB_WIRING_TREE && t > 0 && t <= FAB_MAX_TIERS; t++) {
        double taper = f->spec.tier[t - 1].taper;
        if (taper > 0 && taper != 1) {
            FAB_PASS(add_warning(result, err,
                                 "taper.%" PRIu64 "=%g has no effect: the fabric has %" PRIu64
                                 " tier%s, and no boundary above tier %" PRIu64,
                                 t, taper, f->counts.tiers, f->counts.tiers == 1 ? "" : "s", t));
        }
    }
    return FAB_OK;
}

static fab_status look_at_engines(fab_result *result, const fab_fabric_result *f, fab_error *err) {
    bool routes = result->n_phases > 0 && strcmp(f->family, "dragonfly") == 0;
    for (size_t e = 0; routes && e < result->phases[0].n_engines; e++) {
        const fab_engine_result *r = &result->phases[0].engines[e];
        bool is_minimal = strcmp(r->engine, "updn") != 0 && strcmp(r->engine, "file") != 0; /* these have tables */
        if (is_minimal && strstr(r->label, "tables=") == NULL) {
            FAB_PASS(add_warning(result, err,
                                 "engine %s takes shortest paths alone: two groups of a dragonfly have few cables "
                                 "between them, and installed ones send around them what these do not hold",
                                 r->engine));
        }
    }
    return FAB_OK;
}

/* A fabric that is compared under experts that are nowhere else is not tested by them. */
static fab_status look_at_experts(fab_result *result, uint64_t n_experts, fab_error *err) {
    return n_experts == 0 ? FAB_OK
                          : add_warning(result, err,
                                        "ep=1: every GPU keeps all %" PRIu64
                                        " experts, and no all-to-all is replayed; ep=N spreads them over N GPUs, "
                                        "ep=auto chooses",
                                        n_experts);
}

/* Sizes of a job that leave out what its kind is known for. */
static fab_status look_at_job(fab_result *result, const fab_fabric_spec *spec, fab_error *err) {
    const fab_job_spec *job = &result->job;
    if (job->tp > spec->domain && spec->domain > 0) {
        FAB_PASS(add_warning(result, err,
                             "tp=%" PRIu64 " is beyond the scale-up domain of %" PRIu64
                             " GPUs: every layer's exchange crosses the network",
                             job->tp, spec->domain));
    }
    if (job->kind == FAB_JOB_TRAINING && job->experts > 1 && job->ep == 1) {
        FAB_PASS(look_at_experts(result, job->experts, err));
    }
    return FAB_OK;
}

fab_status fab_find_warnings(fab_result *result, fab_error *err) {
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_fabric_result *f = &result->fabrics[i];
        char gaps[FAB_ASSUMED_SIZE];
        if (fab_imported_gaps(&f->spec, gaps, sizeof gaps)) {
            FAB_PASS(add_warning(result, err,
                                 "the file of the network leaves open what every collision and time rests on; assumed: "
                                 "%s",
                                 gaps));
        }
        if (strcmp(f->family, "installed") != 0) {
            FAB_PASS(look_at_rates(result, f, err));
            FAB_PASS(look_at_tiers(result, f, err));
            FAB_PASS(look_at_engines(result, f, err));
        }
    }
    for (size_t i = 0; result->sweep != NULL && i < result->sweep->n_points; i++) {
        FAB_PASS(look_at_experts(result, result->sweep->points[i].n_kept_experts, err));
    }
    for (size_t i = 0; result->mix != NULL && i < result->mix->n_designs; i++) {
        FAB_PASS(look_at_experts(result, result->mix->designs[i].job[0].n_kept_experts, err));
    }
    const fab_fabric_spec *spec = result->n_fabrics > 0 ? &result->fabrics[0].spec : NULL;
    return spec != NULL && result->ranks > 0 ? look_at_job(result, spec, err) : FAB_OK;
}
