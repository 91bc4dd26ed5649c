/* Models, job resolution, placement and the phases of a training iteration. */
#include "fab/design.h"
#include "traffic_fixture.h"

#include <math.h>

#define NEAR(a, b, relative) (fabs((double)(a) - (double)(b)) <= (relative)*fabs((double)(b)))

/* --- models ------------------------------------------------------------------------------------------------------- */

Test(models, gpt_parameters_follow_the_published_formula) {
    static const struct {
        const char *name;
        double billions; /* as printed in the paper */
    } ROWS[] = {{"gpt-1.7b", 1.7},     {"gpt-3.6b", 3.6},   {"gpt-7.5b", 7.5},     {"gpt-18.4b", 18.4},
                {"gpt-39.1b", 39.1},   {"gpt-76.1b", 76.1}, {"gpt-145.6b", 145.6}, {"gpt-310.1b", 310.1},
                {"gpt-529.6b", 529.6}, {"gpt-1t", 1008.0}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const fab_model *m = fab_model_find(ROWS[i].name);
        cr_assert_not_null(m, "%s", ROWS[i].name);
        double l = (double)m->layers;
        double h = (double)m->hidden;
        double formula = 12 * l * h * h * (1 + 13 / (12 * h) + (double)(m->vocab + m->seq) / (12 * l * h));
        cr_expect(NEAR(fab_model_parameters(m), formula, 1e-12), "%s", m->name);
        cr_expect(fabs(formula / 1e9 - ROWS[i].billions) < 0.06, "%s: %.3f", m->name, formula / 1e9);
    }
}

Test(models, llama_parameters_match_the_released_checkpoints) {
    cr_expect_eq(fab_model_parameters(fab_model_find("llama3-8b")), 8030261248.0);
    cr_expect_eq(fab_model_parameters(fab_model_find("llama3-70b")), 70553706496.0);
    cr_expect_eq(fab_model_parameters(fab_model_find("llama3-405b")), 405853388800.0);
}

Test(models, tables) {
    cr_expect_null(fab_model_find("gpt-5"));
    for (const fab_model *m = fab_models; m->name != NULL; m++) {
        cr_expect_eq(m->hidden % m->heads, 0, "%s", m->name);
        cr_expect_not_null(m->source);
    }
}

/* --- published runs ----------------------------------------------------------------------------------------------- */

/* The totals, written again from the table of formulas: a sum over devices instead of one product. */
static void check_totals(const fab_traffic *traffic, const fab_fabric *fabric) {
    const fab_job_spec *j = &traffic->job;
    double t = (double)j->tp;
    double p = (double)j->pp;
    double d = (double)j->dp;
    double m = (double)j->batch / ((double)j->microbatch * d);
    double bsh = (double)j->microbatch * (double)j->seq * (double)j->hidden;
    double gpus = t * p * d;
    const fab_phase *tp = traffic_phase(traffic, "tp");
    const fab_phase *pp = traffic_phase(traffic, "pp");
    const fab_phase *dp = traffic_phase(traffic, "dp");
    cr_assert_eq(tp != NULL, j->tp > 1);
    cr_assert_eq(pp != NULL, j->pp > 1);
    cr_assert_eq(dp != NULL, j->dp > 1 && !j->sharded);
    if (tp != NULL) {
        double device = 8 * bsh * (t - 1) / t * m * (double)j->activation_bytes;
        cr_expect(NEAR(tp->total_bytes, device * t * d * (double)j->layers, 1e-9), "tp");
        cr_expect_eq(tp->steps, 2 * (j->tp - 1));
        cr_expect_eq(tp->n_comms, j->pp * j->dp);
    }
    if (pp != NULL) {
        double pair = j->scatter_gather ? bsh / t : bsh;
        double pairs = t * d * (p * (double)j->interleave - 1);
        cr_expect(NEAR(pp->total_bytes, 2 * m * pair * pairs * (double)j->activation_bytes, 1e-9), "pp");
        cr_expect_eq(pp->n_comms, j->tp * j->dp);
    }
    if (dp != NULL) {
        double mean_gpu = traffic->parameters / (t * p);
        cr_expect(NEAR(dp->total_bytes, gpus * 2 * (d - 1) / d * mean_gpu * (double)j->gradient_bytes, 1e-9), "dp");
        cr_expect_eq(dp->steps, 2 * (j->dp - 1));
    }
    for (size_t i = 0; i < traffic->n_phases; i++) {
        traffic_check_phase(&traffic->phases[i], fabric);
        cr_expect(NEAR(traffic->phases[i].total_bytes, traffic->phases[i].expected_bytes, 1e-6));
        cr_expect_gt(strlen(traffic->phases[i].formula), 0);
    }
}

Test(job, published_megatron_runs) {
    static const struct {
        const char *model;
        uint32_t gpus, tp, pp, dp, batch, interleave, microbatch;
    } RUNS[] = {
        {"gpt-1.7b", 32, 1, 1, 32, 512, 1, 4},      {"gpt-7.5b", 128, 4, 1, 32, 512, 1, 4},
        {"gpt-39.1b", 512, 8, 2, 32, 1536, 2, 2},   {"gpt-145.6b", 1536, 8, 8, 24, 2304, 2, 1},
        {"gpt-529.6b", 2520, 8, 35, 9, 2520, 3, 1}, {"gpt-1t", 3072, 8, 64, 6, 3072, 2, 1},
    };
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++) {
        for (int scatter_gather = 0; scatter_gather < 2; scatter_gather++) {
            fab_fabric fabric = traffic_fabric(RUNS[i].gpus, 8, 8);
            fab_design *design = traffic_design();
            fab_job_spec *job = &design->jobs[0];
            (void)snprintf(job->model, sizeof job->model, "%s", RUNS[i].model);
            job->tp = RUNS[i].tp;
            job->pp = RUNS[i].pp;
            job->microbatch = RUNS[i].microbatch;
            job->interleave = RUNS[i].interleave;
            job->scatter_gather = scatter_gather == 1;
            fab_traffic traffic = traffic_made("job", design, &fabric, 1);
            cr_expect_eq(traffic.job.dp, RUNS[i].dp, "%s", RUNS[i].model);
            cr_expect_eq(traffic.job.batch, RUNS[i].batch, "%s", RUNS[i].model);
            check_totals(&traffic, &fabric);
            fab_traffic_release(&traffic);
            free(design);
        }
    }
}

Test(job, llama3_405b_sharded) {
    fab_fabric fabric = traffic_fabric(16384, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    (void)snprintf(job->model, sizeof job->model, "llama3-405b");
    job->pp = 16;
    job->gradient_bytes = 4;
    job->sharded = true;
    job->scatter_gather = true;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.job.tp, 8);
    cr_expect_eq(traffic.job.dp, 128);
    cr_expect_eq(traffic.job.batch, 2048);
    cr_expect_eq(traffic.n_phases, 4);
    check_totals(&traffic, &fabric);
    const fab_phase *rs = traffic_phase(&traffic, "dp-rs");
    const fab_phase *ag = traffic_phase(&traffic, "dp-ag");
    cr_assert(rs != NULL && ag != NULL);
    cr_expect_str_eq(rs->collective, "reduce-scatter");
    cr_expect_str_eq(ag->collective, "all-gather");
    cr_expect(NEAR(rs->total_bytes, 127.0 * 405853388800.0 * 4, 1e-9));
    cr_expect(NEAR(ag->total_bytes, 127.0 * 405853388800.0 * 2, 1e-9));
    cr_expect_eq(rs->steps, 127);
    cr_expect_str_eq(traffic.summary,
                     "llama3-405b: tp 8, pp 16, dp 128 sharded on 16,384 GPUs, batch 2048 in 16 microbatches of 1");
    /* 126 layers over 16 stages: 7 on the first and the last, 8 on the others. */
    const fab_phase *tp = traffic_phase(&traffic, "tp");
    cr_assert_not_null(tp);
    cr_expect_eq(tp->executions, 4 * 8 * 16);
    double layer = 8.0 * 8192 * 16384 * 7 / 8 * 2 * 16;
    for (uint32_t i = 0; i < tp->n_flows; i++) {
        uint32_t stage = traffic.rank_of_gpu[tp->src[i]] / 8 % 16;
        cr_assert_eq(tp->bytes[i], (uint64_t)(layer * (stage == 0 || stage == 15 ? 7 : 8)));
    }
    fab_traffic_release(&traffic);
    free(design);
}

/* Sum over tp x pp of what one data-parallel replica holds, taken from the flows of a job without channels. */
Test(job, stages_hold_all_parameters) {
    fab_fabric fabric = traffic_fabric(8 * 4 * 2, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    (void)snprintf(job->model, sizeof job->model, "llama3-8b");
    job->tp = 8;
    job->pp = 4;
    fab_traffic traffic = traffic_made("job:dp", design, &fabric, 1);
    cr_assert_eq(traffic.n_phases, 1);
    const fab_phase *dp = &traffic.phases[0];
    double by_stage[4] = {0};
    for (uint32_t i = 0; i < dp->n_flows; i++) {
        by_stage[traffic.rank_of_gpu[dp->src[i]] / 8 % 4] += (double)dp->bytes[i];
    }
    /* d = 2: each of the 2 GPUs sends 2 (1/2) x parameters x 4 bytes */
    double layers = 8 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2 * 4096);
    double embedding = 128256.0 * 4096;
    cr_expect_eq(by_stage[0] / 8, layers + embedding);
    cr_expect_eq(by_stage[1] / 8, layers);
    cr_expect_eq(by_stage[2] / 8, layers);
    cr_expect_eq(by_stage[3] / 8, layers + embedding + 4096);
    fab_traffic_release(&traffic);
    free(design);
}

Test(job, interleaving_wraps_around) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    (void)snprintf(job->model, sizeof job->model, "gpt-1.7b");
    job->tp = 1;
    job->pp = 4;
    job->interleave = 3;
    job->batch = 8;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_assert_eq(traffic.n_phases, 1);
    const fab_phase *pp = &traffic.phases[0];
    uint64_t sent[4][4] = {{0}};
    for (uint32_t i = 0; i < pp->n_flows; i++) {
        sent[pp->src[i]][pp->dst[i]] += pp->bytes[i];
    }
    uint64_t once = 8 * UINT64_C(2048) * 2304 * 2;
    for (uint32_t a = 0; a < 4; a++) {
        for (uint32_t b = 0; b < 4; b++) {
            bool neighbours = b == a + 1 || a == b + 1;
            bool wrap = a + b == 3 && (a == 0 || b == 0);
            cr_expect_eq(sent[a][b], neighbours ? 3 * once : wrap ? 2 * once : 0, "%u -> %u", a, b);
        }
    }
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, pp, 0, name), "pipeline tp=0 dp=0");
    fab_traffic_release(&traffic);
    free(design);
}

/* --- defaults and placement --------------------------------------------------------------------------------------- */

Test(job, default_job_fills_the_fabric) {
    static const struct {
        uint32_t gpus;
        const char *model;
        uint64_t pp; /* the fewest stages whose memory suffices: 80 layers over 4, 128 over 32 */
    } ROWS[] = {
        {8, "gpt-1.7b", 1}, {32, "gpt-1.7b", 1}, {40, "gpt-3.6b", 1}, {1536, "gpt-145.6b", 6}, {24576, "gpt-1t", 48}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_fabric fabric = traffic_fabric(ROWS[i].gpus, 8, 8);
        fab_design *design = traffic_design();
        design->n_jobs = 0;
        fab_traffic traffic = traffic_made("job", design, &fabric, 1);
        const fab_job_spec *j = &traffic.job;
        cr_expect_str_eq(j->model, ROWS[i].model);
        cr_expect_eq(j->tp, 8);
        cr_expect_eq(j->pp, ROWS[i].pp, "%u GPUs: %u stages", ROWS[i].gpus, (unsigned)j->pp);
        cr_expect_eq(j->dp * j->pp, ROWS[i].gpus / 8);
        cr_expect_eq(j->pp_auto, j->pp > 1);
        cr_expect(traffic.memory.fits);
        cr_expect_eq(j->batch / j->dp % j->pp, 0, "microbatches");
        cr_expect_eq(j->gpu_hour_usd, 12.5); /* a field's default, as in any other job */
        cr_expect(j->scatter_gather && j->microbatch == 1 && j->interleave == 1);
        cr_expect_eq(j->batch % (j->dp * j->microbatch), 0);
        cr_expect(j->layers && j->hidden && j->heads && j->kv_heads && j->ffn && j->seq && j->vocab && j->experts);
        cr_expect(j->cp && j->ep && j->interleave && j->activation_bytes && j->gradient_bytes && j->parameter_bytes);
        cr_expect(j->gpu[0] && j->recompute == FAB_RECOMPUTE_FULL && j->order[0]);
        check_totals(&traffic, &fabric);
        fab_traffic_release(&traffic);
        free(design);
    }
}

Test(job, default_tensor_size_divides) {
    fab_fabric fabric = traffic_fabric(12, 4, 12);
    fab_design *design = traffic_design();
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.job.tp, 6); /* 8 and 7 do not divide 12 GPUs */
    fab_traffic_release(&traffic);
    design->jobs[0].dp = 3;
    traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.job.tp, 4);
    fab_traffic_release(&traffic);
    free(design);
}

Test(job, placement_and_order) {
    fab_fabric fabric = traffic_fabric(24, 4, 4);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    cr_assert_eq(fab_design_set_job(design, 0, "servers", "4-5,0,2", "--job", NULL), FAB_OK);
    (void)snprintf(job->order, sizeof job->order, "pp-tp-dp-cp");
    job->tp = 4;
    job->pp = 2;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    static const uint32_t EXPECTED[16] = {16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 8, 9, 10, 11};
    cr_assert_eq(traffic.n_ranks, 16);
    for (uint32_t r = 0; r < 16; r++) {
        cr_expect_eq(traffic.gpu_of_rank[r], EXPECTED[r]);
        cr_expect_eq(traffic.rank_of_gpu[EXPECTED[r]], r);
    }
    cr_expect_eq(traffic.rank_of_gpu[4], FAB_NONE);
    /* Innermost pp: stages of a pipeline are neighbouring ranks, tensor ranks are two apart, replicas eight. */
    const fab_phase *pp = traffic_phase(&traffic, "pp");
    const fab_phase *tp = traffic_phase(&traffic, "tp");
    const fab_phase *dp = traffic_phase(&traffic, "dp");
    cr_assert(pp && tp && dp);
    for (uint32_t i = 0; i < pp->n_flows; i++) {
        cr_expect_eq(traffic.rank_of_gpu[pp->src[i]] ^ 1U, traffic.rank_of_gpu[pp->dst[i]]);
        cr_expect_eq(pp->comm[i], traffic.rank_of_gpu[pp->src[i]] / 2);
    }
    for (uint32_t i = 0; i < tp->n_flows; i++) {
        uint32_t a = traffic.rank_of_gpu[tp->src[i]];
        uint32_t b = traffic.rank_of_gpu[tp->dst[i]];
        cr_expect(a % 2 == b % 2 && a / 8 == b / 8);
        cr_expect_eq(tp->comm[i], a / 8 * 2 + a % 2);
    }
    for (uint32_t i = 0; i < dp->n_flows; i++) {
        cr_expect_eq(traffic.rank_of_gpu[dp->src[i]] ^ 8U, traffic.rank_of_gpu[dp->dst[i]]);
    }
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, tp, 3, name), "tp group pp=1 dp=1");
    cr_expect_str_eq(fab_comm_name(&traffic, pp, 7, name), "pipeline tp=3 dp=1");
    cr_expect_str_eq(fab_comm_name(&traffic, dp, 7, name), "dp group tp=3 pp=1");
    fab_traffic_release(&traffic);
    free(design);
}

Test(job, spares_are_left_out) {
    fab_fabric fabric = traffic_fabric(40, 8, 8);
    fab_design *design = traffic_design();
    design->fabric.spares = 1;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.n_ranks, 32);
    cr_expect_eq(traffic.rank_of_gpu[32], FAB_NONE);
    fab_traffic_release(&traffic);
    free(design);
}

Test(job, single_gpu_has_no_phase) {
    fab_fabric fabric = traffic_fabric(1, 8, 8);
    fab_design *design = traffic_design();
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.n_phases, 0);
    cr_expect_eq(traffic.n_ranks, 1);
    fab_traffic_release(&traffic);
    traffic_refused("job:tp", design, &fabric, FAB_EINPUT, "job",
                    "the job (tp 1, pp 1, dp 1) has no phase 'tp'; it has none");
    free(design);
}

Test(job, own_model) {
    fab_fabric fabric = traffic_fabric(16, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    job->layers = 10;
    job->hidden = 640;
    job->heads = 8;
    job->seq = 512;
    job->vocab = 1000;
    traffic_refused("job", design, &fabric, FAB_EINPUT, "job",
                    "without a model, layers, hidden, heads, seq, vocab and batch must be given: batch is missing");
    job->batch = 32;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_str_eq(traffic.job.model, "custom");
    cr_expect_eq(traffic.job.ffn, 2560);
    cr_expect_eq(traffic.parameters, 12.0 * 10 * 640 * 640 + 13.0 * 10 * 640 + (1000 + 512) * 640.0);
    check_totals(&traffic, &fabric);
    fab_traffic_release(&traffic);
    free(design);
}

Test(job, sizes_override_the_model) {
    fab_fabric fabric = traffic_fabric(16, 8, 8);
    fab_design *design = traffic_design();
    (void)snprintf(design->jobs[0].model, sizeof design->jobs[0].model, "llama3-8b");
    design->jobs[0].layers = 4;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_eq(traffic.parameters, 8030261248.0 - 28 * 218112000.0);
    check_totals(&traffic, &fabric);
    fab_traffic_release(&traffic);
    free(design);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

typedef struct change {
    size_t offset;
    uint64_t value;
} change;
#define SET(field, number)                                                                                             \
    { offsetof(fab_job_spec, field), (number) }

Test(job, numbers_that_do_not_fit_are_refused) {
    static const struct {
        change changes[4];
        fab_status code;
        const char *message;
    } ROWS[] = {
        {{SET(tp, 8), SET(pp, 16), SET(dp, 12)},
         FAB_EINPUT,
         "tp 8 x pp 16 x dp 12 = 1536 ranks, but the job has 1024 GPUs; dp=8 takes all of them; they need "
         "192 servers, and it has 128"},
        {{SET(tp, 8), SET(pp, 3)},
         FAB_EINPUT,
         "tp 8 x pp 3 does not divide the job's 1024 GPUs; pp may be 1, 2, 4, 8, 16, 32"},
        {{SET(tp, 2048)}, FAB_EINPUT, "tp 2048 x pp 1 does not divide the job's 1024 GPUs; tp x cp must divide 1024"},
        {{SET(tp, 1), SET(dp, 4294967296)},
         FAB_EINPUT,
         "tp 1 x pp 1 x dp 4294967296 = 4294967296 ranks, but the job has 1024 GPUs; dp=1024 takes all of them; they "
         "need "
         "536870912 servers, and it has 128"},
        {{SET(dp, 2)},
         FAB_EINPUT,
         "tp 8 x pp 1 x dp 2 = 16 ranks, but the job has 1024 GPUs; dp=128 takes all of them"},
        {{SET(tp, 64)}, FAB_EINPUT, "heads 80 does not divide by tp 64"},
        {{SET(tp, 8), SET(cp, 3)},
         FAB_EINPUT,
         "tp 8 x cp 3 x pp 1 does not divide the job's 1024 GPUs; tp x cp must divide 1024, or gpus=1008 takes fewer "
         "GPUs"},
        {{SET(tp, 8), SET(cp, 4), SET(dp, 16)},
         FAB_EINPUT,
         "tp 8 x cp 4 x pp 1 x dp 16 = 512 ranks, but the job has 1024 GPUs; dp=32 takes all of them"},
        {{SET(cp, 8), SET(seq, 1001)}, FAB_EINPUT, "seq 1001 does not divide by cp 8"},
        {{SET(ep, 8)}, FAB_EINPUT, "ep 8 needs experts, and model gpt-76.1b has none"},
        {{SET(ep, 8), SET(experts, 12)}, FAB_EINPUT, "experts 12 does not divide by ep 8"},
        {{SET(ep, 3), SET(experts, 12)}, FAB_EINPUT, "dp 128 x cp 1 does not divide by ep 3"},
        {{SET(experts, 4), SET(top_k, 5)}, FAB_EINPUT, "top-k 5 is above the 4 experts that a layer has"},
        {{SET(gpus, 12)}, FAB_EINPUT, "gpus 12 do not fill servers of 8"},
        {{SET(gpus, 16), SET(n_servers, 3)}, FAB_EINPUT, "gpus 16 are 2 servers of 8, not n-servers 3"},
        {{SET(n_servers, 129)}, FAB_EINPUT, "129 servers are wanted, but the job may run on 128 only"},
        {{SET(batch, 1000)}, FAB_EINPUT, "batch 1000 is not a multiple of microbatch 1 x dp 128 = 128"},
        {{SET(batch, 32 * 6), SET(pp, 4), SET(interleave, 2), SET(microbatch, 1)},
         FAB_EINPUT,
         "batch 192 gives 6 microbatches per pipeline; interleave 2 needs a multiple of pp 4"},
        {{SET(interleave, 2), SET(pp, 1)}, FAB_EINPUT, "interleave 2 needs pp of at least 2, not 1"},
        {{SET(pp, 16), SET(interleave, 4)}, FAB_EINPUT, "pp 16 x interleave 4 needs as many layers, the model has 60"},
        {{SET(pp, 128)}, FAB_EINPUT, "pp 128 x interleave 1 needs as many layers, the model has 60"},
        {{SET(heads, 33)}, FAB_EINPUT, "hidden 10240 does not divide by heads 33"},
        {{SET(kv_heads, 160)}, FAB_EINPUT, "heads 80 does not divide by kv-heads 160"},
        {{SET(hidden, 4294967297)}, FAB_EINPUT, "hidden 4294967297 does not divide by heads 80"},
        {{SET(layers, 4294967296)}, FAB_EINPUT, "a model of 5.4e+18 parameters is above the limit of 1e+18"},
        {{SET(seq, 4294967296), SET(batch, 4294967296)},
         FAB_EINPUT,
         "phase 'tp' carries 1.27e+27 bytes in one iteration, above the limit of 9.2e+18"},
    };
    fab_fabric fabric = traffic_fabric(1024, 8, 8);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design *design = traffic_design();
        (void)snprintf(design->jobs[0].model, sizeof design->jobs[0].model, "gpt-76.1b");
        for (size_t c = 0; c < 4; c++) {
            if (ROWS[i].changes[c].value != 0) {
                memcpy((char *)&design->jobs[0] + ROWS[i].changes[c].offset, &ROWS[i].changes[c].value, 8);
            }
        }
        traffic_refused("job", design, &fabric, ROWS[i].code, NULL, ROWS[i].message);
        free(design);
    }
}

Test(job, choices_that_are_none_are_refused) {
    static const char *const ROWS[][3] = {
        {"recompute", "some", "recompute: 'some' is not one of full, selective, none, auto"},
        {"kind", "mining", "kind: 'mining' is not one of training, ranking, serving"},
        {"attention", "none", "attention: 'none' is not one of auto, flash, standard"},
        {"cp-exchange", "star", "cp-exchange: 'star' is not one of all-gather, ring"},
        {"placement", "best", "placement: 'best' is not one of order, random, packed, scattered"},
        {"memory-check", "maybe", "memory-check: 'maybe' is not one of auto, on, off"},
    };
    fab_design *design = traffic_design();
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_error err = {0};
        cr_expect_eq(fab_design_set_job(design, 0, ROWS[i][0], ROWS[i][1], "--job", &err), FAB_EINPUT);
        cr_expect_str_eq(err.text, ROWS[i][2]);
    }
    free(design);
}

Test(job, words_that_do_not_fit_are_refused) {
    static const struct {
        size_t offset;
        const char *value, *message;
    } ROWS[] = {
        {offsetof(fab_job_spec, model), "gpt-2",
         "there is no model 'gpt-2'; known: gpt-1.7b, gpt-3.6b, gpt-7.5b, gpt-18.4b, gpt-39.1b, gpt-76.1b, gpt-145.6b, "
         "gpt-310.1b, gpt-529.6b, gpt-1t, llama2-7b, llama2-13b, llama2-70b, llama3-8b, llama3-70b, llama3-405b, "
         "bloom-176b, mixtral-8x7b, deepseek-v3"},
        {offsetof(fab_job_spec, order), "tp-pp-dp",
         "order 'tp-pp-dp' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)"},
        {offsetof(fab_job_spec, order), "tp-cp-tp-dp",
         "order 'tp-cp-tp-dp' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)"},
        {offsetof(fab_job_spec, order), "tp-cp-pp-dp-",
         "order 'tp-cp-pp-dp-' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)"},
        {offsetof(fab_job_spec, order), "t",
         "order 't' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)"},
        {offsetof(fab_job_spec, servers), "0-4",
         "servers '0-4': there is no server 4; the fabric has 4, numbered from 0"},
        {offsetof(fab_job_spec, servers), "99999999999",
         "servers '99999999999': there is no server 99999999999; the fabric has 4, numbered from 0"},
        {offsetof(fab_job_spec, servers), "2-1", "servers '2-1': the range 2-1 runs backwards"},
        {offsetof(fab_job_spec, servers), "0-2,1", "servers '0-2,1': server 1 is listed twice"},
        {offsetof(fab_job_spec, servers), "0,", "servers '0,': expected a server number at '' (such as 0-15,20)"},
        {offsetof(fab_job_spec, servers), "0;1", "servers '0;1': expected ',' at ';1'"},
        {offsetof(fab_job_spec, servers), "0-3:0", "servers '0-3:0': a stride is at least 1 and at most 4294967295"},
        {offsetof(fab_job_spec, servers), "0-3:", "servers '0-3:': expected a server number at '' (such as 0-15,20)"},
        {offsetof(fab_job_spec, storage_servers), "4",
         "storage-servers '4': there is no server 4; the fabric has 4, numbered from 0"},
    };
    fab_fabric fabric = traffic_fabric(32, 8, 8);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design *design = traffic_design();
        (void)snprintf(design->jobs[0].id, FAB_NAME_SIZE, "main");
        char *member = (char *)&design->jobs[0] + ROWS[i].offset;
        if (ROWS[i].offset == offsetof(fab_job_spec, servers) ||
            ROWS[i].offset == offsetof(fab_job_spec, storage_servers)) {
            cr_assert_eq(fab_design_set_list(design, (void *)member, "servers", ROWS[i].value, NULL, NULL), FAB_OK);
        } else {
            (void)snprintf(member, FAB_NAME_SIZE, "%s", ROWS[i].value);
        }
        traffic_refused("job", design, &fabric, FAB_EINPUT, "job main", ROWS[i].message);
        free(design);
    }
}

Test(job, other_refusals) {
    fab_fabric fabric = traffic_fabric(32, 8, 8);
    fab_design *design = traffic_design();
    traffic_refused("job:expert", design, &fabric, FAB_EINPUT, "job",
                    "the job (tp 8, pp 1, dp 4) has no phase 'expert'; it has tp, dp");
    design->jobs[0].sharded = true;
    traffic_refused("job:dp", design, &fabric, FAB_EINPUT, "job",
                    "the job (tp 8, pp 1, dp 4, sharded) has no phase 'dp'; it has tp, dp-rs, dp-ag");
    design->fabric.spares = 4;
    traffic_refused("job", design, &fabric, FAB_EINPUT, "job", "4 spare servers of 4 leave none for the job");
    traffic_refused(
        "jobs", design, &fabric, FAB_EINPUT, "jobs",
        "no traffic is named so: known are job, job:PHASE[,comm=K], pattern:NAME[,key=value...], file:PATH; did you "
        "mean job?");
    free(design);
}
