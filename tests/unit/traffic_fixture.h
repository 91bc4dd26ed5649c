/* A fabric of which only what traffic reads is filled, and a design with one job. */
#pragma once

#include "fab/design.h"
#include "fab/traffic.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static inline fab_fabric traffic_fabric(uint32_t n_gpus, uint32_t per_server, uint32_t per_domain) {
    fab_fabric f;
    memset(&f, 0, sizeof f);
    uint32_t n_servers = (n_gpus + per_server - 1) / per_server;
    f.n_servers = n_servers;
    f.gpus_per_server = per_server;
    f.nics_per_server = per_server;
    f.gpus_per_domain = per_domain;
    f.first[FAB_NODE_GPU] = 0;
    f.first[FAB_NODE_NIC] = n_gpus;
    f.first[FAB_NODE_DOMAIN] = n_gpus + n_servers * per_server;
    f.first[FAB_NODE_SWITCH] = f.first[FAB_NODE_DOMAIN] + (n_gpus + per_domain - 1) / per_domain;
    f.first[FAB_NODE_N_KINDS] = f.first[FAB_NODE_SWITCH];
    return f;
}

/* Zero everywhere, but for the microbatch, where it would mean auto: every other default is the module's. */
static inline fab_design *traffic_design(void) {
    fab_design *design = calloc(1, sizeof *design);
    cr_assert_not_null(design);
    design->n_jobs = 1;
    design->jobs[0].microbatch = 1;
    return design;
}

static inline fab_traffic traffic_made(const char *text, const fab_design *design, const fab_fabric *fabric,
                                       uint64_t seed) {
    fab_traffic traffic;
    fab_error err = {.code = FAB_OK};
    fab_status status = fab_traffic_make(text, design, fabric, seed, &traffic, &err);
    cr_assert_eq(status, FAB_OK, "%s: %s: %s", text, err.where, err.text);
    return traffic;
}

/* The call fails with this code, and the message (and place, unless NULL) is exactly this. */
static inline void traffic_refused(const char *text, const fab_design *design, const fab_fabric *fabric,
                                   fab_status code, const char *where, const char *message) {
    fab_traffic traffic = {.n_phases = 77};
    fab_error err = {.code = FAB_OK};
    fab_status status = fab_traffic_make(text, design, fabric, 1, &traffic, &err);
    cr_expect_eq(status, code, "%.200s: status %d", text, (int)status);
    cr_expect_str_eq(err.text, message);
    if (where != NULL) {
        cr_expect_str_eq(err.where, where);
    }
    cr_expect_eq(traffic.n_phases, 77, "output written by a failed call");
}

static inline const fab_phase *traffic_phase(const fab_traffic *traffic, const char *name) {
    for (size_t i = 0; i < traffic->n_phases; i++) {
        if (strcmp(traffic->phases[i].name, name) == 0) {
            return &traffic->phases[i];
        }
    }
    return NULL;
}

/* What holds for every phase. */
static inline void traffic_check_phase(const fab_phase *phase, const fab_fabric *fabric) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        cr_assert(flow.src < fab_n_gpus(fabric) && flow.dst < fab_n_gpus(fabric));
        cr_assert_neq(flow.src, flow.dst);
        cr_assert_gt(flow.bytes, 0);
        cr_assert(flow.comm >= phase->first_comm && flow.comm - phase->first_comm < phase->n_comms);
        sum += flow.bytes;
    }
    cr_assert_eq(sum, phase->total_bytes);
}
