/* Jobs with every dimension, experts, ranking, serving, storage: totals against sums over ranks written out here. */
#include "traffic_fixture.h"

#include "fab/design.h"
#include "fab/rng.h"

#include <math.h>

#define NEAR(a, b, relative) (fabs((double)(a) - (double)(b)) <= (relative)*fabs((double)(b)))

typedef struct drawn {
    uint32_t t, c, p, d, e;
    uint32_t layers, experts, m, b;
    uint64_t h, f, s, kv;
} drawn;

static uint32_t below(fab_rng *rng, uint32_t n) {
    return (uint32_t)fab_rng_below(rng, n);
}

static drawn draw(fab_rng *rng) {
    drawn j = {.t = 1U << below(rng, 3),
               .c = 1U << below(rng, 3),
               .p = 1 + below(rng, 4),
               .d = 1 + below(rng, 5),
               .b = 1 + below(rng, 2),
               .m = 1 + below(rng, 4)};
    do {
        j.e = 1 + below(rng, j.c * j.d);
    } while (j.c * j.d % j.e != 0);
    j.experts = j.e * (1 + below(rng, 3));
    j.layers = j.p + below(rng, 7);
    j.h = 64 * (1 + below(rng, 4));
    j.f = 32 * (1 + below(rng, 9));
    j.s = 16 * (1 + below(rng, 5));
    j.kv = 1U << below(rng, 5);
    return j;
}

static fab_job_spec *describe(fab_design *design, const drawn *j) {
    fab_job_spec *s = &design->jobs[0];
    (void)snprintf(s->model, FAB_NAME_SIZE, "llama3-8b");
    s->layers = j->layers;
    s->hidden = j->h;
    s->heads = 16;
    s->kv_heads = j->kv;
    s->ffn = 3 * j->f;
    s->seq = j->s;
    s->vocab = 1000;
    s->experts = j->experts;
    s->top_k = j->experts > 1 ? 2 : 1;
    s->expert_ffn = j->f;
    s->tp = j->t;
    s->cp = j->c;
    s->pp = j->p;
    s->dp = j->d;
    s->ep = j->e;
    s->microbatch = j->b;
    s->batch = (uint64_t)j->b * j->m * j->d;
    s->scatter_gather = true;
    return s;
}

static double bytes_of(const fab_traffic *traffic, const char *name) {
    const fab_phase *phase = traffic_phase(traffic, name);
    return phase != NULL ? (double)phase->total_bytes : 0;
}

/* A byte per flow is rounding. */
static void expect_bytes(const fab_traffic *traffic, const char *name, double expected) {
    const fab_phase *phase = traffic_phase(traffic, name);
    double allowed = 1e-9 * expected + (phase != NULL ? (double)phase->n_flows : 0);
    cr_expect(fabs(bytes_of(traffic, name) - expected) <= allowed, "%s: %.17g, not %.17g (%s)", name,
              bytes_of(traffic, name), expected, traffic->summary);
}

/* What one rank sends, summed rank by rank. */
static void check_training(const fab_traffic *traffic, const drawn *j, bool repeated) {
    double tokens = (double)(j->b * j->s) / j->c * j->m; /* of a rank in an iteration */
    double kv_heads = j->kv < j->t ? 1 : (double)j->kv / j->t;
    double kv = 2 * kv_heads * (double)j->h / 16;
    double expert = 3.0 * (double)j->h * (double)j->f * (j->experts > 1 ? 1 : 3);
    double dense = 2.0 * (double)j->h * (double)j->h + 2.0 * (double)j->h * ((double)j->h / 16 * (double)j->kv) +
                   2.0 * (double)j->h + (j->experts > 1 ? (double)j->h * j->experts : 0);
    double common = j->layers * dense + 2000.0 * (double)j->h + (double)j->h;
    double of_experts = (double)j->layers * j->experts * expert;
    double copies = j->c * j->d;
    double t = j->t;
    double ranks_of_a_layer = t * copies;
    double k = j->experts > 1 ? 2 : 1;
    cr_expect(NEAR(traffic->parameters, common + of_experts, 1e-12));
    expect_bytes(traffic, "tp",
                 ranks_of_a_layer * j->layers * tokens * (double)j->h * 2 * 2 * (t - 1) / t * (repeated ? 6 : 4));
    expect_bytes(traffic, "cp", ranks_of_a_layer * j->layers * tokens * kv * 2 * (j->c - 1) * (repeated ? 4 : 3));
    expect_bytes(traffic, "pp", 2 * copies * (j->p - 1) * tokens * (double)j->h * 2);
    double moved = ranks_of_a_layer * j->layers * tokens / t * k * (double)j->h * 2 * (j->e - 1) / j->e;
    expect_bytes(traffic, "ep-dispatch", moved * (repeated ? 3 : 2));
    expect_bytes(traffic, "ep-combine", moved * (repeated ? 3 : 2));
    double rings = j->e == 1 ? common + of_experts : common;
    expect_bytes(traffic, "dp", copies * 2 * (copies - 1) / copies * rings * 4);
    double sharers = copies / j->e;
    expect_bytes(traffic, "edp", j->e == 1 ? 0 : copies * 2 * (sharers - 1) / sharers * of_experts / j->e * 4);
}

/* Members of a communicator differ in the dimensions of their phase alone. */
static void check_groups(const fab_traffic *traffic, const drawn *j) {
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
            uint32_t a = traffic->rank_of_gpu[phase->src[flow]];
            uint32_t b = traffic->rank_of_gpu[phase->dst[flow]];
            bool tp = a % j->t == b % j->t;
            bool cp = a / j->t % j->c == b / j->t % j->c;
            bool pp = a / j->t / j->c % j->p == b / j->t / j->c % j->p;
            bool dp = a / j->t / j->c / j->p == b / j->t / j->c / j->p;
            bool is_tp = strcmp(phase->name, "tp") == 0;
            bool is_pp = strcmp(phase->name, "pp") == 0;
            bool is_cp = strcmp(phase->name, "cp") == 0;
            cr_assert(is_tp   ? !tp && cp && pp && dp
                      : is_pp ? tp && cp && !pp && dp
                      : is_cp ? tp && !cp && pp && dp
                              : tp && pp,
                      "%s: rank %u to %u", phase->name, a, b);
        }
    }
}

Test(jobs, random_training_jobs_follow_the_closed_forms) {
    fab_rng rng = fab_rng_make(20, 0);
    for (int round = 0; round < 150; round++) {
        drawn j = draw(&rng);
        fab_fabric fabric = traffic_fabric(j.t * j.c * j.p * j.d, 4, 4);
        fab_design *design = traffic_design();
        fab_job_spec *s = describe(design, &j);
        s->recompute_traffic = round % 3 == 0;
        s->cp_exchange = round % 2 == 0 ? FAB_CP_RING : FAB_CP_ALL_GATHER;
        fab_traffic traffic = traffic_made("job", design, &fabric, 1);
        cr_assert(traffic.has_job && traffic.microbatches == j.m && traffic.memory.fits);
        check_training(&traffic, &j, round % 3 == 0);
        check_groups(&traffic, &j);
        for (size_t i = 0; i < traffic.n_phases; i++) {
            traffic_check_phase(&traffic.phases[i], &fabric);
        }
        fab_traffic_release(&traffic);
        free(design);
    }
}

/* Every pair of a group exchanges the same, and every expert group holds all experts. */
Test(jobs, dispatch_is_an_all_to_all_in_every_group) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_design *design = traffic_design();
    drawn j = {.t = 2, .c = 2, .p = 2, .d = 8, .e = 8, .layers = 4, .experts = 16, .m = 2, .b = 1, .h = 128, .f = 64};
    j.s = 64;
    j.kv = 4;
    (void)describe(design, &j);
    fab_traffic traffic = traffic_made("job:ep-dispatch", design, &fabric, 1);
    const fab_phase *phase = &traffic.phases[0];
    static uint32_t sent[64][64];
    cr_assert_eq(phase->n_flows, 64 * 7);
    cr_assert_eq(phase->n_comms, 8);
    cr_expect_eq(phase->executions, 2 * 2 * 2);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        sent[phase->src[i]][phase->dst[i]]++;
        cr_expect_eq(phase->bytes[i], phase->bytes[0]);
    }
    for (uint32_t a = 0; a < 64; a++) {
        for (uint32_t b = 0; b < 64; b++) {
            cr_assert_eq(sent[a][b], sent[b][a]);
            cr_assert_leq(sent[a][b], 1);
        }
    }
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, phase, 7, name), "ep group 1 tp=1 pp=1");
    fab_traffic_release(&traffic);
    traffic = traffic_made("job:cp", design, &fabric, 1);
    cr_expect_str_eq(fab_comm_name(&traffic, &traffic.phases[0], 31, name), "cp group tp=1 pp=1 dp=7");
    fab_traffic_release(&traffic);
    free(design);
}

Test(jobs, sequence_parallel_moves_the_same_bytes) {
    fab_fabric fabric = traffic_fabric(16, 8, 8);
    fab_design *design = traffic_design();
    fab_traffic plain = traffic_made("job:tp", design, &fabric, 1);
    design->jobs[0].sequence_parallel = true;
    fab_traffic split = traffic_made("job:tp", design, &fabric, 1);
    cr_expect_eq(plain.phases[0].total_bytes, split.phases[0].total_bytes);
    cr_expect_str_eq(plain.phases[0].collective, "all-reduce");
    cr_expect_str_eq(split.phases[0].collective, "reduce-scatter, all-gather");
    fab_traffic_release(&plain);
    fab_traffic_release(&split);
    free(design);
}

Test(jobs, microbatch_auto_is_open) {
    fab_fabric fabric = traffic_fabric(16, 8, 8);
    fab_design *design = traffic_design();
    fab_traffic fixed = traffic_made("job", design, &fabric, 1);
    cr_expect_not(fixed.job.microbatch_auto);
    design->jobs[0].microbatch = 0;
    fab_traffic open = traffic_made("job", design, &fabric, 1);
    cr_expect(open.job.microbatch_auto && open.job.microbatch == 1 && open.microbatches == fixed.microbatches);
    cr_expect_not_null(strstr(open.summary, "microbatches of 1 (auto)"));
    fab_traffic_release(&fixed);
    fab_traffic_release(&open);
    free(design);
}

/* --- models ------------------------------------------------------------------------------------------------------- */

Test(jobs, published_mixtures_of_experts) {
    const fab_model *mixtral = fab_model_find("mixtral-8x7b");
    const fab_model *deepseek = fab_model_find("deepseek-v3");
    cr_assert(mixtral != NULL && deepseek != NULL);
    cr_expect_eq(fab_model_parameters(mixtral), 46702792704.0); /* of the released checkpoint */
    cr_expect(NEAR(fab_model_active_parameters(mixtral), 12.9e9, 0.002), "%g", fab_model_active_parameters(mixtral));
    cr_expect(NEAR(fab_model_parameters(deepseek), 671e9, 0.001), "%g", fab_model_parameters(deepseek));
    cr_expect(NEAR(fab_model_active_parameters(deepseek), 37e9, 0.02), "%g", fab_model_active_parameters(deepseek));
    cr_expect_eq(fab_model_active_parameters(fab_model_find("llama3-8b")), 8030261248.0);
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

Test(jobs, ranking) {
    static const char *const SERVERS[] = {"", "0-2,4-7"}; /* the second with a hole: listed flow by flow */
    for (size_t i = 0; i < 2; i++) {
        fab_fabric fabric = traffic_fabric(64, 8, 8);
        fab_design *design = traffic_design();
        fab_job_spec *s = &design->jobs[0];
        s->kind = FAB_JOB_RANKING;
        cr_assert_eq(fab_design_set_job(design, 0, "servers", SERVERS[i], "--job", NULL), FAB_OK);
        uint32_t n = i == 0 ? 64 : 56;
        s->batch = 1024 * n;
        fab_traffic traffic = traffic_made("job", design, &fabric, 1);
        const fab_phase *all = traffic_phase(&traffic, "embedding");
        const fab_phase *dp = traffic_phase(&traffic, "dp");
        cr_assert(all != NULL && dp != NULL && traffic.n_phases == 2);
        cr_expect_eq(all->all.n, i == 0 ? n : 0);
        cr_expect_eq(all->n_flows, (uint64_t)n * (n - 1));
        traffic_check_phase(all, &fabric);
        /* every GPU sends the vectors of its tables for all other GPUs' samples, and gets the gradients back */
        double sent = 1024.0 * (n - 1) * 26 * 128 * 2 / n;
        cr_expect(fabs((double)all->total_bytes - 2 * n * sent) <= (double)all->n_flows);
        cr_expect(NEAR(dp->total_bytes, 2.0 * (n - 1) * 16044545 * 4, 1e-6));
        cr_expect_eq(traffic.parameters, 204184588.0 * 128 + 16044545);
        cr_expect(NEAR(traffic.memory.weights_bytes, 204184588.0 * 128 * 4 / n + 16044545.0 * 2, 1e-12));
        fab_traffic_release(&traffic);
        s->tp = 2;
        traffic_refused("job", design, &fabric, FAB_EINPUT, "job",
                        "tp 2: a ranking job spreads its tables over all GPUs and has no tp");
        s->tp = 0;
        s->batch++;
        traffic_refused("job", design, &fabric, FAB_EINPUT, "job",
                        i == 0 ? "batch 65537 does not divide by the job's 64 GPUs"
                               : "batch 57345 does not divide by the job's 56 GPUs");
        s->batch--;
        s->tables = 3;
        traffic_refused("job", design, &fabric, FAB_EINPUT, "job",
                        "without a model, tables, rows, embedding, dense-parameters and batch must be given: rows is "
                        "missing");
        free(design);
    }
}

/* --- serving ------------------------------------------------------------------------------------------------------ */

Test(jobs, serving) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *s = &design->jobs[0];
    s->kind = FAB_JOB_SERVING;
    (void)snprintf(s->model, FAB_NAME_SIZE, "llama3-70b");
    s->tp = 8;
    s->pp = 2;
    s->batch = 64;
    s->microbatch = 4;
    s->prompt = 500;
    s->tokens = 70;
    s->scatter_gather = true;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_assert_eq(traffic.n_phases, 4);
    double per_token = 64.0 * 8192 * 2;
    expect_bytes(&traffic, "prefill", 500 * per_token * 4 * 7 * 80);
    expect_bytes(&traffic, "decode", 70 * per_token * 4 * 7 * 80);
    expect_bytes(&traffic, "prefill-pp", 500 * per_token);
    expect_bytes(&traffic, "decode-pp", 70 * per_token);
    /* small messages: 16 sequences of a replica, one token each, through the 40 layers of a stage */
    const fab_phase *decode = traffic_phase(&traffic, "decode");
    cr_expect_eq(decode->executions, 2 * 40 * 70);
    cr_expect_eq(traffic_phase(&traffic, "prefill")->executions, 2 * 40 * 4);
    cr_expect(NEAR((double)decode->total_bytes / (double)decode->executions, 4 * 2 * 16.0 * 8192 * 2 * 2 * 7, 1e-6));
    cr_expect(NEAR(traffic.memory.cache_bytes, 16.0 * 40 * 570 * 2 * 128 * 2, 1e-12));
    cr_expect_eq(traffic.memory.optimizer_bytes, 0);
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, decode, 7, name), "tp group pp=1 dp=3");
    fab_traffic_release(&traffic);
    s->cp = 2;
    traffic_refused("job", design, &fabric, FAB_EUNSUPPORTED, "job", "cp 2: serving is modelled with cp 1 only");
    free(design);
}

/* --- storage ------------------------------------------------------------------------------------------------------ */

/* The published checkpoint of BLOOM with its optimizer has 2.3 TB (329 GB of weights in bf16). */
Test(jobs, checkpoint_and_ingest) {
    fab_fabric fabric = traffic_fabric(400, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *s = &design->jobs[0];
    (void)snprintf(s->model, FAB_NAME_SIZE, "bloom-176b");
    cr_assert_eq(fab_design_set_job(design, 0, "gpu", "a100-80gb", "test", NULL), FAB_OK);
    cr_assert_eq(fab_design_set_job(design, 0, "storage-servers", "7,20", "--job", NULL), FAB_OK);
    s->tp = 4;
    s->pp = 12;
    s->sharded = true;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    const fab_phase *checkpoint = traffic_phase(&traffic, "checkpoint");
    const fab_phase *ingest = traffic_phase(&traffic, "ingest");
    cr_assert(checkpoint != NULL && ingest != NULL);
    cr_expect_eq(traffic.n_ranks, 384);
    cr_expect(NEAR(checkpoint->total_bytes, 14 * traffic.parameters, 1e-9));
    cr_expect(NEAR(checkpoint->total_bytes, 2.3 * pow(2, 40), 0.03), "%g", (double)checkpoint->total_bytes);
    cr_expect_eq(checkpoint->n_flows, 384);
    uint32_t at[2] = {0};
    for (uint64_t i = 0; i < checkpoint->n_flows; i++) {
        cr_assert_neq(traffic.rank_of_gpu[checkpoint->src[i]], FAB_NONE);
        cr_assert_eq(checkpoint->src[i] % 8, checkpoint->dst[i] % 8); /* its rail */
        uint32_t server = checkpoint->dst[i] / 8;
        cr_assert(server == 7 || server == 20);
        at[server == 20]++;
    }
    cr_expect(at[0] == 192 && at[1] == 192);
    cr_expect_eq(ingest->n_flows, 8);
    cr_expect_eq(ingest->total_bytes, traffic.job.batch * 2048 * 4);
    for (uint64_t i = 0; i < ingest->n_flows; i++) {
        cr_expect_eq(traffic.rank_of_gpu[ingest->dst[i]] % 48, 0);
    }
    cr_expect_not_null(strstr(traffic.summary, "; 2 storage servers"));
    fab_traffic_release(&traffic);
    cr_assert_eq(fab_design_set_job(design, 0, "servers", "0-11", "--job", NULL), FAB_OK);
    traffic_refused("job", design, &fabric, FAB_EINPUT, "job", "server 7 is both in servers and in storage-servers");
    s->storage_servers = (fab_list_ref){0, 0};
    s->pp = 6;
    traffic_refused("job:checkpoint", design, &fabric, FAB_EINPUT, "job",
                    "the job (tp 4, pp 6, dp 4, sharded) has no phase 'checkpoint'; it has tp, pp, dp-rs, dp-ag; "
                    "storage-servers=LIST names the servers that hold the data");
    free(design);
}

Test(jobs, bursts_over_the_front_end) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_fabric hosts = traffic_fabric(8 + 3, 1, 1);
    fab_design *design = traffic_design();
    fab_traffic traffic = {0};
    fab_error err = {.code = FAB_OK};
    fab_status status = fab_traffic_front_end("job", design, &fabric, &hosts, &traffic, &err);
    cr_assert_eq(status, FAB_EINPUT);
    cr_expect_str_eq(err.text, "the design has no front-end with storage servers");
    design->has_front_end = true;
    design->front_end.storage = 3;
    design->fabric.spares = 1;
    err = (fab_error){.code = FAB_OK};
    status = fab_traffic_front_end("job", design, &fabric, &hosts, &traffic, &err);
    cr_assert_eq(status, FAB_OK, "%s", err.text);
    cr_assert(traffic.n_phases == 2 && traffic.n_ranks == 0 && traffic.has_job);
    const fab_phase *checkpoint = traffic_phase(&traffic, "checkpoint");
    const fab_phase *ingest = traffic_phase(&traffic, "ingest");
    cr_expect(NEAR(checkpoint->total_bytes, 14 * traffic.parameters, 1e-6));
    cr_expect(checkpoint->n_flows == 7 && ingest->n_flows == 7); /* the spare sends nothing */
    for (uint32_t i = 0; i < 7; i++) {
        cr_expect(checkpoint->src[i] == i && checkpoint->dst[i] == 8 + i % 3);
        cr_expect(ingest->dst[i] == i && ingest->src[i] == 8 + i % 3);
    }
    fab_traffic_release(&traffic);
    status = fab_traffic_front_end("job:tp", design, &fabric, &hosts, &traffic, &err);
    cr_expect_eq(status, FAB_EINPUT);
    free(design);
}
