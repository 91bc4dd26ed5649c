/* Memory of a job: published formulas, published runs that did fit, and what a refusal proposes. */
#include "fab/design.h"
#include "traffic_fixture.h"

#include <math.h>

#define NEAR(a, b, relative) (fabs((double)(a) - (double)(b)) <= (relative)*fabs((double)(b)))

static fab_job_spec *job_of(fab_design *design, const char *model, const char *gpu, uint64_t tp, uint64_t pp) {
    fab_job_spec *s = &design->jobs[0];
    (void)snprintf(s->model, FAB_NAME_SIZE, "%s", model);
    cr_assert_eq(fab_design_set_job(design, 0, "gpu", gpu, "test", NULL), FAB_OK);
    s->tp = tp;
    s->pp = pp;
    return s;
}

static fab_job_memory memory_of(const fab_design *design, uint32_t gpus) {
    fab_fabric fabric = traffic_fabric(gpus, 8, 8);
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    fab_job_memory memory = traffic.memory;
    fab_traffic_release(&traffic);
    return memory;
}

/* Equations 1, 2, 4 and 6 of Korthikanti et al. (2022), on one stage without embeddings or logits. */
Test(memory, activations_follow_the_published_equations) {
    static const struct {
        const char *recompute;
        bool sequence_parallel;
    } ROWS[] = {{"none", false},     {"none", true},  {"selective", false},
                {"selective", true}, {"full", false}, {"full", true}};
    const double s = 2048;
    const double b = 4;
    const double h = 4096;
    const double a = 32;
    const double t = 4;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design *design = traffic_design();
        fab_job_spec *job = job_of(design, "gpt-7.5b", "gh200-96gb", 4, 2);
        cr_assert_eq(fab_design_set_job(design, 0, "recompute", ROWS[i].recompute, "test", NULL), FAB_OK);
        job->memory_check = FAB_MEMORY_CHECK_OFF;
        job->sequence_parallel = ROWS[i].sequence_parallel;
        job->microbatch = 4;
        job->vocab = 1; /* the last stage has no logits to speak of */
        fab_job_memory m = memory_of(design, 64);
        double whole = ROWS[i].sequence_parallel ? 34 / t : 10 + 24 / t;
        double scores = 5 * a * s / (h * t);
        double sbh = s * b * h;
        double expected = strcmp(ROWS[i].recompute, "none") == 0        ? 2 * 18 * sbh * (whole + scores)
                          : strcmp(ROWS[i].recompute, "selective") == 0 ? 2 * 18 * sbh * whole
                          : ROWS[i].sequence_parallel                   ? 2 * 18 * 2 * sbh / t + sbh * (whole + scores)
                                                                        : 2 * 18 * 2 * sbh + sbh * (whole + scores);
        cr_expect_eq(m.stage, 0);
        cr_expect_eq(m.in_flight, 2);
        cr_expect(NEAR(m.activations_bytes, expected, 1e-12), "%s: %g, not %g", ROWS[i].recompute, m.activations_bytes,
                  expected);
        free(design);
    }
}

/* Interleaving holds 1 + (p-1)/(p v) times as many [section 4.1]. */
Test(memory, microbatches_in_flight) {
    static const struct {
        uint64_t pp, interleave, batch;
        double first;
    } ROWS[] = {{1, 1, 32, 1}, {4, 1, 32, 4}, {4, 1, 2, 2}, {4, 3, 32, 4 * (1 + 3.0 / 12)}, {8, 2, 32, 8 * 23.0 / 16},
                {4, 3, 4, 4}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design *design = traffic_design();
        fab_job_spec *job = job_of(design, "gpt-1.7b", "h100-80gb", 1, ROWS[i].pp);
        job->interleave = ROWS[i].interleave;
        job->batch = ROWS[i].batch;
        job->layers = 48;
        job->vocab = 1;
        fab_job_memory m = memory_of(design, (uint32_t)ROWS[i].pp);
        cr_expect_eq(m.stage, 0);
        cr_expect(NEAR(m.in_flight, ROWS[i].first, 1e-12), "row %zu: %g", i, m.in_flight);
        free(design);
    }
}

/* The rule of thumb: 18 bytes per parameter, unless the optimizer is spread. */
Test(memory, eighteen_bytes_per_parameter) {
    fab_design *design = traffic_design();
    fab_job_spec *job = job_of(design, "llama3-8b", "h100-80gb", 8, 1);
    fab_job_memory m = memory_of(design, 64);
    double held = 8030261248.0 / 8;
    cr_expect(NEAR(m.weights_bytes + m.gradients_bytes + m.optimizer_bytes, 18 * held, 1e-12));
    cr_expect_eq(m.rule_gpus, 3); /* 8.03 x 18 x 1.25 / 80 = 2.26 */
    job->sharded = true;
    m = memory_of(design, 64);
    cr_expect(NEAR(m.weights_bytes + m.gradients_bytes, 6 * held, 1e-12));
    cr_expect(NEAR(m.optimizer_bytes, 12 * held / 8, 1e-12));
    cr_expect(
        NEAR(m.total_bytes, m.weights_bytes + m.gradients_bytes + m.optimizer_bytes + m.activations_bytes, 1e-12));
    free(design);
}

Test(memory, experts_are_spread_over_their_group) {
    fab_design *design = traffic_design();
    fab_job_spec *job = job_of(design, "mixtral-8x7b", "h100-80gb", 2, 1);
    double experts = 32.0 * 8 * 3 * 4096 * 14336;
    double rest = 46702792704.0 - experts;
    job->memory_check = FAB_MEMORY_CHECK_OFF;
    for (uint64_t ep = 1; ep <= 8; ep *= 2) {
        job->ep = ep;
        job->sharded = ep > 2;
        fab_job_memory m = memory_of(design, 64);
        cr_expect(NEAR(m.weights_bytes, 2 * (rest + experts / (double)ep) / 2, 1e-12));
        double state =
            job->sharded ? rest / 32 + experts / (double)ep / (32.0 / (double)ep) : rest + experts / (double)ep;
        cr_expect(NEAR(m.optimizer_bytes, 12 * state / 2, 1e-12));
    }
    free(design);
}

typedef struct known_run {
    const char *settings; /* of the job */
    uint32_t gpus, domain;
    bool fits;
    const char *source;
} known_run;

#define MEGATRON "gpu=a100-80gb,model="
#define SC21     "Narayanan et al., SC'21, Table 1: full recomputation; the largest microbatch that is plausible"
#define LLAMA3   "gpu=h100-80gb,model=llama3-405b,recompute=none,sequence-parallel=yes,tp=8,pp=16,"
#define HERD     "Llama 3, arXiv 2407.21783, Table 4 and 3.3.2: no recomputation, batch of 16M tokens; chunks assumed"
#define MLPERF   "model=llama3-405b,recompute=none,sequence-parallel=yes,zero=1,pp=8,cp=2,interleave=8,"
#define V5       "MLPerf Training v5.0: no recomputation stated; gradients of 4 bytes assumed, those of 2 fit too"
#define GPT3                                                                                                           \
    "layers=96,hidden=12288,heads=96,ffn=49152,seq=2048,vocab=51200,gpu=a100-80gb,batch=8,sequence-parallel=yes,"

static const known_run KNOWN_RUNS[] = {
    {MEGATRON "gpt-1.7b,tp=1,microbatch=8", 32, 8, true, SC21},
    {MEGATRON "gpt-3.6b,tp=2,microbatch=8", 64, 8, true, SC21},
    {MEGATRON "gpt-7.5b,tp=4,microbatch=4", 128, 8, true, SC21},
    {MEGATRON "gpt-18.4b,tp=8,microbatch=4", 256, 8, true, SC21},
    {MEGATRON "gpt-39.1b,tp=8,pp=2,interleave=2,microbatch=2", 512, 8, true, SC21},
    {MEGATRON "gpt-76.1b,tp=8,pp=4,interleave=3,microbatch=2", 1024, 8, true, SC21},
    {MEGATRON "gpt-145.6b,tp=8,pp=8,interleave=2,microbatch=2", 1536, 8, true, SC21},
    {MEGATRON "gpt-310.1b,tp=8,pp=16,interleave=2", 1920, 8, true, SC21},
    {MEGATRON "gpt-529.6b,tp=8,pp=35,interleave=3", 2520, 8, true, SC21},
    {MEGATRON "gpt-1t,tp=8,pp=64,interleave=2", 3072, 8, true, SC21},
    {MEGATRON "bloom-176b,tp=4,pp=12,microbatch=2,zero=1", 384, 8, true, "BLOOM, arXiv 2211.05100, 3.4"},
    {LLAMA3 "zero=2,interleave=4", 8192, 8, true, HERD},
    {LLAMA3 "zero=2,interleave=4", 16384, 8, true, HERD},
    {LLAMA3 "zero=1,interleave=4", 8192, 8, true, HERD},
    {LLAMA3 "zero=1,interleave=4", 16384, 8, true, HERD},
    {LLAMA3 "zero=2,interleave=4,shard-exchange=iteration", 16384, 8, true, HERD},
    {LLAMA3 "zero=2,interleave=4,cp=16,seq=131072,batch=128", 16384, 8, true, HERD},
    {LLAMA3 "zero=0,interleave=4", 16384, 8, false, "states of the optimizer on every GPU: 38 GB more"},
    {LLAMA3 "zero=2,interleave=4,attention=standard", 16384, 8, false, "scores of attention, kept"},
    {MLPERF "gpu=h100-80gb,tp=8,batch=1152", 512, 8, true, V5},
    {MLPERF "gpu=h100-80gb,tp=8,batch=1152", 2048, 8, true, V5},
    {MLPERF "gpu=h100-80gb,tp=8,batch=1216", 2432, 8, true, V5},
    {MLPERF "gpu=h100-80gb,tp=8,batch=1120", 2560, 8, true, V5},
    {MLPERF "gpu=h100-80gb,tp=8,batch=1536", 8192, 8, true, V5},
    {MLPERF "gpu=gb200-186gb,tp=4,batch=896", 512, 64, true, V5},
    {MLPERF "gpu=gb200-186gb,tp=4,batch=1152", 1536, 64, true, V5},
    {MLPERF "gpu=gb200-186gb,tp=4,batch=1248", 2496, 64, true, V5},
    {"layers=65,hidden=4096,heads=32,ffn=16384,seq=1024,vocab=50304,gpu=v100-32gb,tp=1,batch=1,zero=2,gradient-bytes=2,"
     "offload=optimizer",
     1, 1, true, "13B on one V100: ZeRO-Offload, Ren et al., 2021 (sizes recalled)"},
    {"layers=65,hidden=4096,heads=32,ffn=16384,seq=1024,vocab=50304,gpu=v100-32gb,tp=1,batch=1,zero=2,gradient-bytes=2",
     1, 1, false, "the same: 1.4B is the most without offload"},
    {"kind=serving,model=llama3-405b,parameter-bytes=1,gpu=h100-80gb,tp=8,batch=1", 8, 8, true,
     "Llama 3, 6.2: FP8 on one machine of 8 H100"},
    {"kind=serving,model=llama3-405b,gpu=h100-80gb,tp=8,batch=1", 8, 8, false, "Llama 3, 6.1: bf16 does not fit there"},
    {"kind=serving,model=llama3-405b,gpu=h100-80gb,tp=8,pp=2,batch=1", 16, 8, true, "Llama 3, 6.1: 16 GPUs"},
    {GPT3 "tp=8", 8, 8, false, "175B x 18 bytes: 394 GB on each of 8"},
    {GPT3 "tp=8,zero=3,recompute=full", 8, 8, false, "one copy has nobody to share with"},
    {GPT3 "tp=1,zero=3,recompute=full", 8, 8, false, "shared by all 8, still 394 GB"},
    {GPT3 "tp=1,zero=3,recompute=full,batch=64", 64, 8, true, "shared by 64: 49 GB and two layers"},
    {"model=llama2-70b,gpu=h100-80gb,tp=1,zero=3,recompute=full,batch=8", 8, 8, false, "70B x 18 bytes / 8: 155 GB"},
};

static fab_job_memory known_memory(const known_run *run) {
    fab_fabric fabric = traffic_fabric(run->gpus, 8, run->domain);
    fab_design *design = traffic_design();
    char settings[256];
    fab_error err = {.code = FAB_OK};
    design->jobs[0].memory_check = FAB_MEMORY_CHECK_OFF;
    (void)snprintf(settings, sizeof settings, "%s", run->settings);
    for (char *one = strtok(settings, ","); one != NULL; one = strtok(NULL, ",")) {
        char *value = strchr(one, '=');
        *value = '\0';
        cr_assert_eq(fab_design_set_job(design, 0, one, value + 1, "test", &err), FAB_OK, "%s", err.text);
    }
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    fab_job_memory memory = traffic.memory;
    fab_traffic_release(&traffic);
    free(design);
    return memory;
}

/* What ran is not refused, and what cannot run is. */
Test(memory, what_ran_fits) {
    for (size_t i = 0; i < sizeof KNOWN_RUNS / sizeof KNOWN_RUNS[0]; i++) {
        const known_run *run = &KNOWN_RUNS[i];
        fab_job_memory m = known_memory(run);
        cr_expect_eq(m.fits, run->fits, "%s on %u: %.2f of %.2f GB (%s)", run->settings, run->gpus,
                     m.total_bytes * 1e-9, m.capacity_bytes * 1e-9, run->source);
        cr_log_info("%s on %u: %.2f GB", run->settings, run->gpus, m.total_bytes * 1e-9);
    }
}

/* Every step towards less memory takes some away, or at least adds none. */
Test(memory, steps_that_save) {
    static const fab_recompute RECOMPUTE[] = {FAB_RECOMPUTE_NONE, FAB_RECOMPUTE_SELECTIVE, FAB_RECOMPUTE_FULL};
    for (int round = 0; round < 24; round++) {
        double before = INFINITY;
        for (int step = 0; step < 3; step++) {
            fab_design *design = traffic_design();
            fab_job_spec *job = job_of(design, round % 2 == 0 ? "gpt-39.1b" : "llama3-70b", "h100-80gb", 8, 4);
            job->memory_check = FAB_MEMORY_CHECK_OFF;
            job->recompute = RECOMPUTE[step];
            job->interleave = round % 4 < 2 ? 1 : 2;
            job->sharded = round >= 12;
            fab_job_memory m = memory_of(design, 128);
            cr_expect(m.total_bytes <= before);
            before = m.total_bytes;
            job->sequence_parallel = true;
            cr_expect(memory_of(design, 128).total_bytes < m.total_bytes);
            job->sequence_parallel = false;
            job->sharded = true;
            cr_expect(memory_of(design, 128).total_bytes <= m.total_bytes);
            job->microbatch = 2;
            job->sharded = round >= 12;
            cr_expect(memory_of(design, 128).activations_bytes > m.activations_bytes);
            free(design);
        }
    }
}

/* The rule of thumb, and the table of GPUs of 40 GB that serve Llama 2 in fp32, fp16 and int8. */
Test(memory, least_gpus) {
    static const struct {
        const char *model;
        uint64_t gpus[3];
    } SERVING[] = {{"llama2-7b", {4, 2, 1}}, {"llama2-13b", {8, 4, 2}}, {"llama2-70b", {32, 16, 8}}};
    for (size_t i = 0; i < sizeof SERVING / sizeof SERVING[0]; i++) {
        double parameters = fab_model_parameters(fab_model_find(SERVING[i].model));
        for (int k = 0; k < 3; k++) {
            double bytes = parameters * (4 >> k);
            cr_expect_eq(fab_power_of_two(fab_least_gpus(bytes, FAB_ROOM_TO_SERVE, 40e9)), SERVING[i].gpus[k]);
            cr_expect_eq(fab_power_of_two(fab_least_gpus(bytes, 3.1, 40e9)), SERVING[i].gpus[k]);
            cr_expect_eq(fab_power_of_two(fab_least_gpus(bytes, 4.5, 40e9)), SERVING[i].gpus[k]);
        }
    }
    static const struct {
        double parameters, memory;
        uint64_t training, serving;
    } RULE[] = {
        {80e9, 80e9, 23, 3}, {175e9, 80e9, 50, 6}, {1.6e9, 40e9, 1, 1}, {126e6, 80e9, 1, 1}, {405e9, 80e9, 114, 13}};
    for (size_t i = 0; i < sizeof RULE / sizeof RULE[0]; i++) {
        cr_expect_eq(fab_least_gpus(RULE[i].parameters * 18, FAB_ROOM_AT_LEAST, RULE[i].memory), RULE[i].training);
        cr_expect_eq(fab_least_gpus(RULE[i].parameters * 2, FAB_ROOM_AT_LEAST, RULE[i].memory), RULE[i].serving);
    }
    cr_expect_eq(fab_power_of_two(1), 1);
    cr_expect_eq(fab_power_of_two(8), 8);
    cr_expect_eq(fab_power_of_two(9), 16);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static void apply(fab_job_spec *job, const char *setting) {
    unsigned long long value = 0;
    if (sscanf(setting, "pp=%llu", &value) == 1) {
        job->pp = value;
    } else if (sscanf(setting, "dp=%llu", &value) == 1) {
        job->dp = value;
    } else if (sscanf(setting, "zero=%llu", &value) == 1) {
        job->zero = (fab_zero)(FAB_ZERO_0 + value);
    } else if (strncmp(setting, "sequence", 8) == 0) {
        job->sequence_parallel = true;
    } else if (strncmp(setting, "recompute", 9) == 0) {
        job->recompute = FAB_RECOMPUTE_FULL;
    } else {
        cr_assert_eq(strncmp(setting, "microbatch=1", 12), 0, "%s", setting);
        job->microbatch = 1;
    }
}

/* What a refusal proposes is accepted. */
Test(memory, proposals_fit) {
    static const struct {
        const char *model, *recompute;
        uint32_t gpus, tp, pp, microbatch;
        const char *shard_over; /* of zero=1; fewer copies may not be shared so */
    } ROWS[] = {
        {"gpt-18.4b", "full", 64, 2, 1, 1, NULL},  {"gpt-76.1b", "none", 512, 8, 2, 4, NULL},
        {"gpt-1t", "full", 1024, 8, 8, 1, NULL},   {"llama3-405b", "none", 512, 8, 4, 1, NULL},
        {"llama3-70b", "none", 64, 8, 1, 4, NULL}, {"mixtral-8x7b", "none", 64, 2, 1, 1, NULL},
        {"llama2-70b", "none", 16, 4, 1, 2, "4"},  {"llama2-13b", "none", 16, 1, 1, 1, "domain"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_fabric fabric = traffic_fabric(ROWS[i].gpus, 8, 8);
        fab_design *design = traffic_design();
        fab_job_spec *job = job_of(design, ROWS[i].model, "a100-80gb", ROWS[i].tp, ROWS[i].pp);
        fab_traffic traffic = {0};
        fab_error err = {.code = FAB_OK};
        cr_assert_eq(fab_design_set_job(design, 0, "recompute", ROWS[i].recompute, "test", NULL), FAB_OK);
        job->microbatch = ROWS[i].microbatch;
        if (ROWS[i].shard_over != NULL) {
            job->zero = FAB_ZERO_1;
            (void)snprintf(job->shard_over, sizeof job->shard_over, "%s", ROWS[i].shard_over);
        }
        cr_assert_eq(fab_traffic_make("job", design, &fabric, 1, &traffic, &err), FAB_EINPUT, "%s", ROWS[i].model);
        cr_expect_str_eq(err.where, "job");
        const char *at = strstr(err.text, "fit with ");
        cr_assert_not_null(at, "%s", err.text);
        char settings[128];
        (void)snprintf(settings, sizeof settings, "%.*s", (int)strcspn(at + 9, " "), at + 9);
        for (char *one = strtok(settings, ","); one != NULL; one = strtok(NULL, ",")) {
            apply(job, one);
        }
        cr_expect(memory_of(design, ROWS[i].gpus).fits, "%s", err.text);
        free(design);
    }
}

Test(memory, the_check_can_be_chosen) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *job = job_of(design, "llama3-405b", "h100-80gb", 8, 1);
    traffic_refused("job", design, &fabric, FAB_EINPUT, "job",
                    "llama3-405b needs 948.9 GB on a GPU of stage 0 (weights 101.5 GB, gradients and optimizer 811.7 "
                    "GB, activations 35.78 GB), and a h100-80gb has 85.9 GB; by the rule of thumb it takes 115 GPUs, "
                    "more than the job has; no setting tried makes it fit (memory-check=off lets it pass)");
    job->memory_check = FAB_MEMORY_CHECK_OFF;
    cr_expect_not(memory_of(design, 64).fits);
    /* the program's own choice of a model is reported, not refused */
    job->model[0] = '\0';
    job->memory_check = FAB_MEMORY_CHECK_AUTO;
    fabric = traffic_fabric(4096, 8, 8);
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    cr_expect_not_null(strstr(traffic.summary, "; does not fit: 2.283 TB of 85.9 GB"), "%s", traffic.summary);
    fab_traffic_release(&traffic);
    job->memory_check = FAB_MEMORY_CHECK_ON;
    fab_error err = {.code = FAB_OK};
    cr_expect_eq(fab_traffic_make("job", design, &fabric, 1, &traffic, &err), FAB_EINPUT);
    free(design);
}
