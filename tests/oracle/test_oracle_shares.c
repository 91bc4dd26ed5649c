/*
 * Who gets how much of an all-to-all-v: experts against shares that are found by bisection, tables against what any
 * spread of them must hold, and flows of jobs against both.
 */
#include "draws.h"
#include "fabric_fixture.h"
#include "traffic_fixture.h"

#include "fab/job_shares.h"
#include "fab/rng.h"

#include <math.h>
#include <stdlib.h>

/* --- experts ------------------------------------------------------------------------------------------------------ */

/* min(scale x load, most) adds up to 1: the scale by bisection. */
static void bisect_loads(const double *loads, size_t n, double most, double *out) {
    double low = 0;
    double high = 1e9;
    for (int i = 0; i < 200; i++) {
        const double scale = (low + high) / 2;
        double sum = 0;
        for (size_t k = 0; k < n; k++) {
            out[k] = fmin(loads[k] * scale, most);
            sum += out[k];
        }
        *(sum < 1 ? &low : &high) = scale;
    }
}

static int downwards(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A rank for every expert: its shares, sorted, are those of the experts by popularity. */
Test(oracle_shares, popular_experts_get_what_zipf_says) {
    for (uint64_t run = 0; run < DRAWS(200); run++) {
        const uint64_t n = 2 + fab_mix64(run) % 255;
        fab_job_spec s = {.kind = FAB_JOB_TRAINING,
                          .experts = n,
                          .ep = n,
                          .top_k = 1 + fab_mix64(run + 1000) % (n < 8 ? n : 8),
                          .expert_skew = (double)(fab_mix64(run + 2000) % 30) / 10};
        double found[256];
        double loads[256];
        double expected[256];
        cr_assert_eq(fab_job_expert_shares(&s, "test", found, NULL), FAB_OK);
        for (uint64_t i = 0; i < n; i++) {
            loads[i] = 1 / pow((double)i + 1, s.expert_skew);
        }
        bisect_loads(loads, n, 1 / (double)s.top_k, expected);
        qsort(found, n, sizeof *found, downwards);
        double sum = 0;
        for (uint64_t i = 0; i < n; i++) {
            sum += found[i];
            cr_assert_float_eq(found[i], expected[i] * (double)n, 1e-6,
                               "%llu experts, %llu of them, skew %g: %g, not %g", (unsigned long long)n,
                               (unsigned long long)s.top_k, s.expert_skew, found[i], expected[i] * (double)n);
        }
        cr_assert_float_eq(sum, (double)n, 1e-9 * (double)n);
    }
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

Test(oracle_shares, tables_lie_on_every_gpu_and_none_has_much_more_than_it_must) {
    for (uint64_t run = 0; run < DRAWS(200); run++) {
        fab_rng rng = fab_rng_make(run, 5);
        const size_t n = 1 + fab_rng_below(&rng, 60);
        fab_embedding_table tables[60];
        double most_of_piece = 0;
        double lookups = 0;
        double columns = 0;
        for (size_t i = 0; i < n; i++) {
            tables[i] = (fab_embedding_table){.rows = 1 + (double)fab_rng_below(&rng, 1000000),
                                              .columns = 4.0 * (double)(1 + fab_rng_below(&rng, 64)),
                                              .pooling = 1 + (double)fab_rng_below(&rng, 100)};
            lookups += tables[i].columns * tables[i].pooling;
            columns += tables[i].columns;
        }
        const uint32_t n_gpus = 2 + (uint32_t)fab_rng_below(&rng, 30);
        fab_table_share shares[32];
        fab_error err = {.code = FAB_OK};
        fab_status status = fab_job_table_shares(tables, n, n_gpus, "test", shares, &err);
        if (status != FAB_OK) {
            cr_assert_lt(columns / 4, 2 * n_gpus, "%s", err.text); /* halves may stop at 7 columns */
            continue;
        }
        for (size_t i = 0; i < n; i++) { /* what cannot be cut: up to 7 columns of a table */
            most_of_piece = fmax(most_of_piece, fmin(tables[i].columns, 7) * tables[i].pooling);
        }
        double sum[2] = {0};
        for (uint32_t i = 0; i < n_gpus; i++) {
            cr_assert(shares[i].columns > 0 && shares[i].lookups > 0);
            sum[0] += shares[i].columns;
            sum[1] += shares[i].lookups;
            /* The last piece came to the idlest GPU, and was no larger than the mean, or could not be cut. */
            const double bound = 1 + fmax(1, most_of_piece * n_gpus / lookups);
            cr_assert_leq(shares[i].lookups, bound * (1 + 1e-9), "%g of the mean, bound %g", shares[i].lookups, bound);
        }
        cr_assert_float_eq(sum[0], n_gpus, 1e-9 * n_gpus);
        cr_assert_float_eq(sum[1], n_gpus, 1e-9 * n_gpus);
    }
}

/* --- flows of jobs ------------------------------------------------------------------------------------------------ */

/* Bytes out of and into a GPU; whose tables or experts are more has more, and all add up to the formula. */
static void sum_ends(const fab_phase *p, double out[64], double in[64]) {
    for (uint32_t i = 0; i < 64; i++) {
        out[i] = in[i] = 0;
    }
    for (uint64_t f = 0; f < p->n_flows; f++) {
        const fab_flow flow = fab_phase_flow(p, f);
        out[flow.src] += (double)flow.bytes;
        in[flow.dst] += (double)flow.bytes;
    }
}

Test(oracle_shares, tables_send_their_columns_and_get_their_gradients) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64", NULL, NULL);
    fab_design *design = traffic_design();
    static const char *const KEYS[][2] = {{"kind", "ranking"}, {"table-sharding", "tables"}, {"table-group", "32"}};
    design->jobs[0] = (fab_job_spec){.id = "test"};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(fab_design_set_job(design, 0, KEYS[i][0], KEYS[i][1], "test", NULL), FAB_OK);
    }
    fab_traffic t = traffic_made("job", design, fabric, 1);
    double out[2][64];
    double in[2][64];
    fab_table_share shares[32];
    fab_embedding_table tables[26];
    const fab_ranking_model *model = fab_ranking_model_find("dlrm-dcnv2");
    double rows = 0;
    for (size_t i = 0; i < 26; i++) {
        tables[i] = model->each[i];
        rows += tables[i].rows;
    }
    cr_assert_eq(rows, (double)model->rows);
    cr_assert_eq(fab_job_table_shares(tables, 26, 32, "test", shares, NULL), FAB_OK);
    cr_assert_str_eq(t.phases[0].name, "embedding");
    cr_assert_str_eq(t.phases[1].name, "embedding-grad");
    sum_ends(&t.phases[0], out[0], in[0]);
    sum_ends(&t.phases[1], out[1], in[1]);
    const double of_sample = 26 * 128 * 2.0; /* bytes */
    for (uint32_t gpu = 0; gpu < 64; gpu++) {
        const double sent = (double)t.job.batch / 64 * 31 * of_sample / 32 * shares[gpu % 32].columns;
        cr_assert_float_eq(out[0][gpu], sent, 32, "gpu %u sends %g, not %g", gpu, out[0][gpu], sent);
        cr_assert_float_eq(in[1][gpu], sent, 32);
        const double got = (double)t.job.batch / 64 * of_sample / 32 * (32 - shares[gpu % 32].columns);
        cr_assert_float_eq(in[0][gpu], got, 32);
        cr_assert_float_eq(out[1][gpu], got, 32);
    }
    fab_traffic_release(&t);
    free(design);
    fab_fabric_free(fabric);
}

Test(oracle_shares, skewed_experts_carry_the_same_bytes) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64", NULL, NULL);
    fab_design *design = traffic_design();
    static const char *const KEYS[][2] = {
        {"model", "mixtral-8x7b"}, {"tp", "4"}, {"pp", "1"}, {"ep", "8"}, {"memory-check", "off"}};
    design->jobs[0] = (fab_job_spec){.id = "test"};
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(fab_design_set_job(design, 0, KEYS[i][0], KEYS[i][1], "test", NULL), FAB_OK);
    }
    fab_traffic even = traffic_made("job:ep-dispatch", design, fabric, 1);
    cr_assert_eq(fab_design_set_job(design, 0, "expert-skew", "1.2", "test", NULL), FAB_OK);
    fab_traffic there = traffic_made("job:ep-dispatch", design, fabric, 1);
    fab_traffic back = traffic_made("job:ep-combine", design, fabric, 1);
    double out[3][64];
    double in[3][64];
    double shares[8];
    cr_assert_eq(fab_job_expert_shares(&there.job, "test", shares, NULL), FAB_OK);
    sum_ends(&even.phases[0], out[0], in[0]);
    sum_ends(&there.phases[0], out[1], in[1]);
    sum_ends(&back.phases[0], out[2], in[2]);
    double peak = 0;
    for (uint32_t gpu = 0; gpu < 64; gpu++) { /* tp 4: experts of copy gpu / 4 mod 8 */
        const double share = shares[gpu / 4 % 8];
        peak = fmax(peak, share);
        cr_assert_float_eq(in[1][gpu], in[0][gpu] * share, 1e-6 * in[0][gpu]);
        cr_assert_float_eq(out[2][gpu], out[0][gpu] * share, 1e-6 * out[0][gpu]);
    }
    cr_assert_float_eq((double)there.phases[0].total_bytes, (double)even.phases[0].total_bytes,
                       1e-6 * (double)even.phases[0].total_bytes);
    cr_assert_float_eq(there.job.expert_peak, peak, 1e-12);
    fab_traffic_release(&even);
    fab_traffic_release(&there);
    fab_traffic_release(&back);
    free(design);
    fab_fabric_free(fabric);
}
