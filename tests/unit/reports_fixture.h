/* A small result filled by hand: two servers of two GPUs, two leaves, one spine with two cables to each leaf. */
#pragma once

#include "fab/fabric_builder.h"
#include "fab/mix.h"
#include "fab/result.h"
#include "study_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE_NASTY "a<b>&\"'\\ \x01\x1b[31m \xff\xc3( caf\xc3\xa9\n"

static inline fab_fabric *fixture_graph(void) {
    fab_builder_sizes sizes = {.n_gpus = 4, .n_nics = 4, .n_domains = 2, .n_tiers = 2, .n_cables = 16};
    sizes.n_switches[1] = 2;
    sizes.n_switches[2] = 1;
    fab_builder *builder = NULL;
    fab_fabric *out = NULL;
    if (fab_builder_new(&sizes, &builder, NULL) != FAB_OK) {
        return NULL;
    }
    fab_fabric *f = fab_builder_fabric(builder);
    f->n_servers = f->n_rails = 2;
    f->n_planes = f->n_pods = 1;
    f->gpus_per_server = f->nics_per_server = f->gpus_per_domain = 2;
    static const fab_link_class CLASSES[] = {
        {.kind = FAB_LINK_SCALEUP, .capacity_bps = 3.6e12},
        {.kind = FAB_LINK_PCIE, .capacity_bps = 512e9},
        {.kind = FAB_LINK_ACCESS, .tier = 1, .capacity_bps = 400e9, .length_m = 2.5, .latency_s = 1e-6},
        {.kind = FAB_LINK_FABRIC, .tier = 2, .capacity_bps = 400e9, .length_m = 30, .latency_s = 1e-6},
    };
    uint16_t id[4] = {0};
    for (int i = 0; i < 4; i++) {
        if (fab_builder_class(builder, &CLASSES[i], &id[i], NULL) != FAB_OK) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        f->switch_pod[i] = i < 2 ? i : FAB_NONE;
        f->switch_rail[i] = UINT16_MAX;
        f->switch_plane[i] = 0;
        f->switch_radix[i] = 4;
    }
    for (uint32_t g = 0; g < 4; g++) {
        fab_builder_cable(builder, id[0], g, 1, 8 + g / 2, 1 + g % 2);
        fab_builder_cable(builder, id[1], g, 2, 4 + g, 1);
        fab_builder_cable(builder, id[2], 4 + g, 2, 10 + g / 2, 1 + g % 2);
        fab_builder_cable(builder, id[3], 10 + g / 2, 3 + g % 2, 12, 1 + g);
    }
    return fab_builder_freeze(&builder, &out, NULL) == FAB_OK ? out : NULL;
}

static inline void fixture_cost(fab_cost *c) {
    *c = (fab_cost){
        .profile = "today-400g",
        .convention = "switch-links",
        .counting = "two transceivers per cable between switches, none at the NIC",
        .source = "list prices",
        .total_usd = 374400.5,
        .switch_usd = 180000,
        .transceiver_usd = 160000,
        .cable_usd = 14400.5,
        .nic_usd = 20000,
        .per_gpu_usd = 93600.125,
        .capital_usd_per_year = 74880.1,
        .power_w = 1234.5,
        .energy_usd_per_year = 1500.25,
        .transceivers = 8,
        .n_lines = 4,
    };
    c->lines[0] = (fab_cost_line){"switch 4x400 Gb/s", "leaf", 2, 60000, 120000, 400, FAB_PART_SWITCH, "", 4e11, 0};
    c->lines[1] = (fab_cost_line){"switch 4x400 Gb/s", "spine", 1, 60000, 60000, 200, FAB_PART_SWITCH, "", 4e11, 0};
    c->lines[2] = (fab_cost_line){"transceiver 400 Gb/s", "leaf-spine", 8,    20000, 160000, 134.5,
                                  FAB_PART_TRANSCEIVER,   "DR4",        4e11, 0};
    c->lines[3] = (fab_cost_line){"cable 400 Gb/s 30 m", "leaf-spine", 4,    3600.125, 14400.5, 0,
                                  FAB_PART_CABLE,        "fibre",      4e11, 30};
}

static inline void fixture_fabric(fab_fabric_result *f, const char *name) {
    *f = (fab_fabric_result){.family = "clos", .digest = "0123456789abcdef", .source = "by hand"};
    (void)snprintf(f->name, sizeof f->name, "%s", name);
    f->spec = (fab_fabric_spec){.family = "clos",
                                .gpus = 4,
                                .gpus_per_server = 2,
                                .nics_per_server = 2,
                                .nic_bps = 400e9,
                                .domain = 2,
                                .domain_bps = 3.6e12,
                                .tiers = 2,
                                .planes = 1};
    for (int i = 0; i < 2; i++) {
        f->spec.tier[i] =
            (fab_tier_spec){.radix = 4, .port_bps = 400e9, .breakout = 1, .taper = 7, .length_m = 2.5 + 27.5 * i};
    }
    f->counts = (fab_counts){.gpus = 4,
                             .servers = 2,
                             .nics = 4,
                             .domains = 2,
                             .rails = 2,
                             .planes = 1,
                             .pods = 1,
                             .tiers = 2,
                             .n_boundaries = 2,
                             .switches = 3,
                             .switches_by_tier = {2, 1},
                             .cables = 8,
                             .cables_by_tier = {4, 4},
                             .ports = 12,
                             .ports_by_tier = {8, 4},
                             .built_taper = {192.0 / 28}};
    f->bisection_bps = 800e9;
    f->bisection_ratio = 1;
    fixture_cost(&f->cost);
}

static inline fab_stat fixture_stat(double mean, bool many) {
    return many ? (fab_stat){mean, 0.05, mean - 0.1, mean + 1, mean - 0.5, mean + 1.5}
                : (fab_stat){mean, 0, mean, mean, mean, mean};
}

static inline void fixture_engine(fab_engine_result *e, uint64_t seeds, const fab_fabric *graph) {
    bool many = seeds > 1;
    *e = (fab_engine_result){.engine = "ecmp",
                             .label = "ecmp,hash=crc32,qp=1,fields=5tuple,offset=0",
                             .seed = 1,
                             .seeded = true,
                             .n_seeds = seeds,
                             .has_effective_bisection = many,
                             .n_tiers = 4,
                             .n_hot = 1};
    e->collided_links = fixture_stat(2, many);
    e->collided_flows = fixture_stat(2, many);
    e->max_collision_factor = fixture_stat(2.25, many);
    e->mean_collision_factor = fixture_stat(1.5, many);
    e->max_taper_factor = fixture_stat(1.125, many);
    e->max_hash_factor = fixture_stat(2, many);
    e->max_utilisation = fixture_stat(2.25, many);
    e->effective_bisection = fixture_stat(0.55, many);
    for (uint32_t i = 0; i < 4; i++) {
        e->tiers[i] = (fab_tier_load){.tier = 1 + i / 2,
                                      .up = i % 2 == 0,
                                      .links = 4,
                                      .used = 3,
                                      .collided = i / 2,
                                      .bytes = 3e9,
                                      .max_utilisation = i < 2 ? 1 : 2.25,
                                      .mean_utilisation = 0.1 + 0.2,
                                      .max_taper_factor = 1};
        if (i == 2) {
            e->tiers[i].choices = e->tiers[i].later_choices = 2;
            e->tiers[i].full_choices = 1;
            e->tiers[i].mean_used = e->tiers[i].min_used = 0.5;
            e->tiers[i].later_next_hops = 4;
            e->tiers[i].later_used = 2;
            e->tiers[i].later_expected = 3.75;
            e->tiers[i].chance = 1e-7;
            e->tiers[i].polarized = e->polarized = true;
        }
        e->tiers[i].histogram[0] = 1;
        e->tiers[i].histogram[i < 2 ? 3 : 6] = 3;
    }
    fab_hot_link *hot = &e->hot[0];
    *hot = (fab_hot_link){.link = 18,
                          .name = "leaf-0:3 > spine-0:1",
                          .tier = 2,
                          .up = true,
                          .factor = 2.25,
                          .taper_factor = 1.125,
                          .hash_factor = 2,
                          .n_flows = 2,
                          .n_listed = 2};
    hot->flows[0] = (fab_flow_ref){0, 0, 2, 0, 2, 1, FIXTURE_NASTY};
    hot->flows[1] = (fab_flow_ref){1, 1, 3, 16, 48, 1.0 / 3, "dp group tp=1 pp=0"};
    if (graph != NULL) {
        e->load_bytes = calloc(graph->n_links, sizeof *e->load_bytes);
        for (uint32_t l = 0; e->load_bytes != NULL && l < graph->n_links; l++) {
            e->load_bytes[l] = l % 3 == 0 ? 1e9 : l / 3.0;
        }
    }
}

/* A point that was evaluated under one engine. Nothing to release. */
static inline fab_sweep_point fixture_point(fab_sweep_phase *phase, fab_sweep_time *time, fab_sweep_engine *engine) {
    *time = (fab_sweep_time){.n_seeds = 1, .has_time = true, .time_s = {.mean = 0.125}};
    *phase = (fab_sweep_phase){.name = "dp",
                               .collective = "all-reduce",
                               .flows = 4,
                               .fabric_flows = 4,
                               .bytes = 1000,
                               .crossing_flows = {0, 0, 4},
                               .times = time};
    *engine = (fab_sweep_engine){.label = "ecmp,qp=4",
                                 .has_phases = true,
                                 .phases_s = 0.125,
                                 .has_iteration = true,
                                 .iteration = {.time_s = 0.5, .tokens_per_s = 1e6, .usd_per_1e9_tokens = 950},
                                 .has_time = true,
                                 .time_s = 0.5,
                                 .slowdown = 1,
                                 .is_on_front = true};
    return (fab_sweep_point){.is_built = true,
                             .digest = "0123456789abcdef",
                             .family = "clos",
                             .counts = {.gpus = 4, .tiers = 2, .n_boundaries = 2, .switches = 3, .built_taper = {2}},
                             .bisection_ratio = 0.5,
                             .total_usd = 1e6,
                             .traffic = "a job",
                             .phases = phase,
                             .n_phases = 1,
                             .engines = engine,
                             .n_engines = 1};
}

/* Two parameters; the second point is not built. Owns nothing. */
static inline const fab_sweep *fixture_sweep(void) {
    static fab_sweep_phase phase;
    static fab_sweep_time time;
    static fab_sweep_engine engine;
    static fab_sweep_point points[2];
    static fab_sweep sweep;
    static char text[5][64] = {"taper.1", "name", "1", "a value that is longer than its column, by far", "2"};
    static char nasty[] = FIXTURE_NASTY;
    points[0] = fixture_point(&phase, &time, &engine);
    points[0].value[0] = text[2];
    points[0].value[1] = nasty;
    points[1] = (fab_sweep_point){.value = {text[3], text[4]}, .error = "--vary taper.1=x: " FIXTURE_NASTY};
    sweep = (fab_sweep){.path = {text[0], text[1]},
                        .n_paths = 2,
                        .design = FIXTURE_NASTY,
                        .points = points,
                        .n_points = 2,
                        .n_built = 1};
    return &sweep;
}

/* Of two designs, the second of which refuses its jobs. Owns nothing. */
static inline const fab_mix *fixture_mix(void) {
    static fab_sweep_phase phases[2];
    static fab_sweep_time times[2];
    static fab_sweep_engine engines[2];
    static fab_mix_engine engine;
    static fab_mix_design designs[2];
    static fab_mix mix;
    engine = (fab_mix_engine){.has_time = true,
                              .slowdown = {1, 1.5},
                              .rate = {1e6, 2e7},
                              .per_usd = {2e6, 3e6},
                              .is_least = {true, false},
                              .speed = 0.816,
                              .speed_per_usd = 1,
                              .is_best = true};
    designs[0] = (fab_mix_design){.name = FIXTURE_NASTY, .n_jobs = 2, .engines = &engine, .n_engines = 1};
    designs[1] =
        (fab_mix_design){.name = "torus:gpus=7", .n_jobs = 2, .job = {{.error = "7 GPUs"}, {.error = FIXTURE_NASTY}}};
    for (size_t j = 0; j < 2; j++) {
        designs[0].job[j] = fixture_point(&phases[j], &times[j], &engines[j]);
    }
    mix = (fab_mix){.n_jobs = 2,
                    .kind = {FAB_JOB_TRAINING, FAB_JOB_RANKING},
                    .share = {0.5, 0.5},
                    .designs = designs,
                    .n_designs = 2,
                    .n_compared = 1};
    return &mix;
}

/* Frees with fixture_release(). */
static inline fab_result fixture_result(fab_command command, uint64_t seeds) {
    fab_result r = {.command = command, .version = "0.1.0", .seed = 1, .n_seeds = seeds};
    if (command == FAB_COMMAND_SWEEP || command == FAB_COMMAND_PLACE || command == FAB_COMMAND_MIX) {
        r.sweep = command != FAB_COMMAND_MIX ? fixture_sweep() : NULL;
        r.mix = command == FAB_COMMAND_MIX ? fixture_mix() : NULL;
        return r;
    }
    r.study = command == FAB_COMMAND_STUDY ? fixture_study(FIXTURE_NASTY) : NULL;
    bool compares = command == FAB_COMMAND_COST;
    r.n_fabrics = compares ? 2 : 1;
    r.fabrics = calloc(r.n_fabrics, sizeof *r.fabrics);
    fixture_fabric(&r.fabrics[0], FIXTURE_NASTY);
    if (compares) {
        fixture_fabric(&r.fabrics[1], "rail-only:gpus=32768,domain=256,radix=64,tiers=2,planes=1,x");
        r.fabrics[1].reduction_ratio = 0.374;
        return r;
    }
    r.graph = fixture_graph();
    if (command == FAB_COMMAND_BUILD || command == FAB_COMMAND_STUDY) {
        return r;
    }
    (void)snprintf(r.traffic, sizeof r.traffic,
                   "a job with a description that is longer than a line of the terminal: tp 2, "
                   "pp 1, dp 2, %s",
                   FIXTURE_NASTY);
    r.n_phases = 2;
    r.phases = calloc(2, sizeof *r.phases);
    r.phases[0] = (fab_phase_result){.name = "tp",
                                     .collective = "all-reduce",
                                     .flows = 4,
                                     .bytes = 4000,
                                     .steps = 2,
                                     .executions = 8,
                                     .communicators = 2};
    r.phases[1] = (fab_phase_result){.name = "dp",
                                     .collective = "all-reduce",
                                     .formula = "2 (d - 1) / d x parameters x bytes",
                                     .flows = 4,
                                     .network_flows = 4,
                                     .fabric_flows = 4,
                                     .bytes = UINT64_C(9007199254740993),
                                     .network_bytes = 16000000000,
                                     .steps = 2,
                                     .executions = 1,
                                     .communicators = 2,
                                     .crossing_flows = {0, 0, 4},
                                     .max_taper_factor = 1.125,
                                     .max_cut_factor = 1.125,
                                     .taper_by_tier = {0, 0, 1.125},
                                     .cut_by_tier = {0, 0, 1.125}};
    r.phases[1].n_engines = 1;
    r.phases[1].engines = calloc(1, sizeof *r.phases[1].engines);
    fixture_engine(&r.phases[1].engines[0], seeds, r.graph);
    return r;
}

static inline void fixture_release(fab_result *r) {
    for (size_t i = 0; i < r->n_phases; i++) {
        for (size_t j = 0; j < r->phases[i].n_engines; j++) {
            free(r->phases[i].engines[j].load_bytes);
        }
        free(r->phases[i].engines);
    }
    free(r->phases);
    free(r->fabrics);
    fab_fabric_free((fab_fabric *)r->graph);
    *r = (fab_result){.command = FAB_COMMAND_RUN};
}
