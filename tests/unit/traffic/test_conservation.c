/* The published Megatron-LM configurations (SC'21, Table 1), replayed: bytes equal the formulas, loads are conserved,
 * and what does not enter the network stays on the scale-up links. */
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/topologies.h"

#include "context_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *model;
    int t, p, d, gpus, batch, layers;
    double h, parameters_b;
} row;

static const row ROWS[] = {
    {"gpt-1.7b", 1, 1, 32, 32, 512, 24, 2304, 1.7},          {"gpt-7.5b", 4, 1, 32, 128, 512, 36, 4096, 7.5},
    {"gpt-39.1b", 8, 2, 32, 512, 1536, 48, 8192, 39.1},      {"gpt-145.6b", 8, 8, 24, 1536, 2304, 80, 12288, 145.6},
    {"gpt-529.6b", 8, 35, 9, 2520, 2520, 105, 20480, 529.6},
};

static fab_result replay(const row *r, fab_fabric **out_fabric) {
    char text[96];
    char job[256];
    fab_design design;
    fab_error err = {0};
    fab_result result = {0};
    static const fab_engine_spec ENGINES[] = {{.text = "ecmp,qp=2", .where = ""}, {.text = "dmodk", .where = ""}};
    (void)snprintf(text, sizeof text, "rail-spine:gpus=%d,radix=40,nic=200Gb/s,domain-rate=300GB/s,taper=2", r->gpus);
    cr_assert_eq(fab_design_read(text, NULL, 0, &design, &err), FAB_OK, "%s", err.text);
    (void)snprintf(job, sizeof job, "%d", r->t);
    cr_assert_eq(fab_design_set_job(&design, 0, "model", r->model, "test", &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_design_set_job(&design, 0, "tp", job, "test", &err), FAB_OK);
    (void)snprintf(job, sizeof job, "%d", r->p);
    cr_assert_eq(fab_design_set_job(&design, 0, "pp", job, "test", &err), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, out_fabric, NULL, &err), FAB_OK, "%s", err.text);
    const fab_context_request asked = {
        .design = &design, .fabric = *out_fabric, .traffic = "job", .engines = ENGINES, .n_engines = 2, .seed = 1};
    fab_context *context = fixture_context(&asked);
    fab_replay what = {.context = context, .n_seeds = 1, .n_threads = 2, .keep_loads = true};
    cr_assert_eq(fab_replay_run(&what, &result, &err), FAB_OK, "%s: %s", r->model, err.text);
    fab_context_free(context);
    return result;
}

/* Megatron-LM's formulas, all GPUs together, one iteration. */
static double formula(const row *r, const char *phase) {
    double s = 2048;
    double v = 51200;
    double m = (double)r->batch / r->d; /* microbatches of one sequence */
    double parameters = 12 * r->layers * r->h * r->h * (1 + 13 / (12 * r->h) + (v + s) / (12 * r->layers * r->h));
    cr_expect_float_eq(parameters / 1e9, r->parameters_b, 0.06, "%s: %g", r->model, parameters);
    if (strcmp(phase, "tp") == 0) { /* per layer, device and microbatch */
        return 2 * 8 * s * r->h * (r->t - 1) / r->t * r->layers * m * r->t * r->d;
    }
    if (strcmp(phase, "pp") == 0) { /* per microbatch and pair of stages, both directions, 1/t per pair of GPUs */
        return 2 * 2 * s * r->h / r->t * r->t * (r->p - 1) * m * r->d;
    }
    return 4 * 2.0 * (r->d - 1) / r->d * parameters * r->d;
}

Test(conservation, published_configurations) {
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_fabric *f = NULL;
        fab_result result = replay(&ROWS[i], &f);
        size_t expected = 1 + (ROWS[i].t > 1) + (ROWS[i].p > 1);
        cr_assert_eq(result.n_phases, expected, "%s: %zu phases", ROWS[i].model, result.n_phases);
        for (size_t p = 0; p < result.n_phases; p++) {
            const fab_phase_result *phase = &result.phases[p];
            double bytes = formula(&ROWS[i], phase->name);
            cr_expect_lt(fabs((double)phase->bytes - bytes), 1e-6 * bytes, "%s %s: %g, not %g", ROWS[i].model,
                         phase->name, (double)phase->bytes, bytes);
            for (size_t e = 0; e < phase->n_engines; e++) {
                const double *load = phase->engines[e].load_bytes;
                fab_error err = {0};
                double entered = 0;
                double left = 0;
                double scaleup = 0;
                double pcie = 0;
                for (uint32_t l = 0; l < f->n_links; l++) {
                    fab_link_kind kind = fab_class_of(f, l)->kind;
                    entered += kind == FAB_LINK_ACCESS && fab_is_up(l) ? load[l] : 0;
                    left += kind == FAB_LINK_ACCESS && !fab_is_up(l) ? load[l] : 0;
                    scaleup += kind == FAB_LINK_SCALEUP && fab_is_up(l) ? load[l] : 0;
                    pcie += kind == FAB_LINK_PCIE && fab_is_up(l) ? load[l] : 0;
                }
                double tolerance = 1e-9 * bytes;
                cr_expect_lt(fabs(entered - (double)phase->network_bytes), tolerance, "%s %s", ROWS[i].model,
                             phase->name);
                cr_expect_lt(fabs(entered - left), tolerance);
                cr_expect_lt(fabs(entered - pcie), tolerance);
                cr_expect_lt(fabs(scaleup - (double)(phase->bytes - phase->network_bytes)), tolerance);
                cr_expect_eq(fab_check_conservation(f, load, &err), FAB_OK, "%s", err.text);
            }
        }
        fab_result_release(&result);
        fab_fabric_free(f);
    }
}
