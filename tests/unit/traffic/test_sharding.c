/* What data-parallel copies share, and what they exchange for it. */
#include "fab/design.h"
#include "fab/sharding.h"
#include "traffic_fixture.h"

#include <math.h>

#define NEAR(a, b, relative) (fabs((double)(a) - (double)(b)) <= (relative)*fabs((double)(b)))

static fab_traffic made_with(const char *settings, uint32_t gpus, uint32_t domain) {
    fab_fabric fabric = traffic_fabric(gpus, 8, domain);
    fab_design *design = traffic_design();
    char text[256];
    fab_error err = {.code = FAB_OK};
    (void)snprintf(text, sizeof text, "memory-check=off,%s", settings);
    for (char *one = strtok(text, ","); one != NULL; one = strtok(NULL, ",")) {
        char *value = strchr(one, '=');
        *value = '\0';
        cr_assert_eq(fab_design_set_job(design, 0, one, value + 1, "test", &err), FAB_OK, "%s", err.text);
    }
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    free(design);
    return traffic;
}

static void refused_with(const char *settings, const char *message) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_design *design = traffic_design();
    char text[256];
    (void)snprintf(text, sizeof text, "memory-check=off,%s", settings);
    for (char *one = strtok(text, ","); one != NULL; one = strtok(NULL, ",")) {
        char *value = strchr(one, '=');
        *value = '\0';
        cr_assert_eq(fab_design_set_job(design, 0, one, value + 1, "test", NULL), FAB_OK);
    }
    traffic_refused("job", design, &fabric, FAB_EINPUT, "job", message);
    free(design);
}

/* Bytes that one GPU sends in a phase, of a job whose stages are alike. */
static double sent(const fab_traffic *traffic, const char *phase) {
    const fab_phase *p = traffic_phase(traffic, phase);
    return p != NULL ? (double)p->total_bytes / traffic->n_ranks : 0;
}

/* ZeRO, Rajbhandari et al., 2020, Table 1: 7.5B parameters, 64 GPUs, 2 + 2 + 12 bytes. */
Test(sharding, divides_what_the_paper_divides) {
    static const double PER_PARAMETER[] = {16, 4 + 12.0 / 64, 2 + 14.0 / 64, 16.0 / 64};
    for (int zero = 0; zero <= 3; zero++) {
        char settings[160];
        (void)snprintf(settings, sizeof settings, "model=gpt-7.5b,tp=1,dp=64,gradient-bytes=2,zero=%d", zero);
        fab_traffic t = made_with(settings, 64, 8);
        const fab_job_memory *m = &t.memory;
        double layer = 12.0 * 4096 * 4096 + 13 * 4096;
        double unit = fmax(layer, (51200.0 + 2048) * 4096);
        double in_full = zero == 3 ? 2 * unit * 4 : zero == 2 ? 2 * unit * 2 : 0;
        double states = m->weights_bytes + m->gradients_bytes + m->optimizer_bytes;
        cr_expect(NEAR(states, PER_PARAMETER[zero] * t.parameters + in_full, 1e-12), "zero=%d: %g", zero, states);
        cr_expect_eq(t.job.zero, FAB_ZERO_0 + zero);
        cr_expect_eq(t.job.sharded, zero > 0);
        fab_traffic_release(&t);
    }
}

/* The same paper, section 7: stages 1 and 2 send as much as an all-reduce, stage 3 half as much again; with several
   microbatches stages 2 and 3 reduce, and stage 3 gathers, for each. */
Test(sharding, sends_what_the_paper_says) {
    for (uint64_t m = 1; m <= 4; m += 3) {
        double whole = 0;
        for (int zero = 0; zero <= 3; zero++) {
            char settings[160];
            (void)snprintf(settings, sizeof settings, "model=gpt-7.5b,tp=1,dp=64,gradient-bytes=2,batch=%d,zero=%d",
                           (int)(64 * m), zero);
            fab_traffic t = made_with(settings, 64, 8);
            whole = zero == 0 ? sent(&t, "dp") : whole;
            double half = whole / 2;
            double reduced = zero >= 2 ? half * (double)m : half;
            double gathered = zero == 3 ? 2 * half * (double)m : half;
            cr_expect(NEAR(whole, 2 * 63.0 / 64 * t.parameters * 2, 1e-9));
            if (zero > 0) {
                cr_expect(NEAR(sent(&t, "dp-rs"), reduced, 1e-6) && NEAR(sent(&t, "dp-ag"), gathered, 1e-6));
                cr_expect_eq(traffic_phase(&t, "dp-rs")->executions, zero >= 2 ? 36 * m : 1);
                cr_expect_eq(traffic_phase(&t, "dp-ag")->executions, zero == 3 ? 72 * m : 1);
            }
            fab_traffic_release(&t);
        }
    }
}

/* Chunk by chunk, all microbatches in a row: as often as one microbatch would ask for. */
Test(sharding, once_an_iteration_chunk_by_chunk) {
    const char *job = "model=llama3-70b,tp=8,pp=4,zero=3,shard-exchange=iteration,batch=64,interleave=";
    for (int chunks = 1; chunks <= 4; chunks *= 2) {
        char settings[160];
        (void)snprintf(settings, sizeof settings, "%s%d", job, chunks);
        fab_traffic t = made_with(settings, 128, 8);
        fab_data_exchanges x = fab_job_data_exchanges(&t.job, t.microbatches);
        cr_expect_eq(x.reductions, 1);
        cr_expect_eq(x.gathers, chunks > 1 ? 2 : 1);
        cr_expect(!x.with_microbatch && x.n_gathers == (uint64_t)chunks);
        double ratio =
            (double)traffic_phase(&t, "dp-ag")->total_bytes / (double)traffic_phase(&t, "dp-rs")->total_bytes;
        cr_expect(NEAR(ratio, chunks > 1 ? 1 : 0.5, 1e-6)); /* 2 and 4 bytes */
        cr_expect_eq(t.memory.in_flight, chunks > 1 ? 16 : 4);
        fab_traffic_release(&t);
    }
}

/* Hybrid: rings stay in their group, and the shards of the groups are added up between them. */
Test(sharding, hybrid_stays_in_groups) {
    static const struct {
        const char *over;
        uint32_t tp, cp, group;
    } ROWS[] = {{"domain", 1, 1, 8}, {"domain", 2, 2, 4}, {"4", 2, 1, 4}, {"16", 1, 1, 16}, {"domain", 4, 1, 2}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char settings[160];
        uint32_t copies = 64 / ROWS[i].tp;
        (void)snprintf(settings, sizeof settings, "model=llama3-8b,zero=3,batch=64,tp=%u,cp=%u,shard-over=%s",
                       ROWS[i].tp, ROWS[i].cp, ROWS[i].over);
        fab_traffic t = made_with(settings, 64, 8);
        uint32_t groups = copies / ROWS[i].group;
        double held = t.parameters / ROWS[i].tp;
        double m = (double)t.microbatches;
        cr_expect_eq(fab_job_shard_groups(&t.job), groups);
        cr_expect_eq(fab_job_shards(&t.job, false), ROWS[i].group);
        double n = ROWS[i].group;
        cr_expect(NEAR(sent(&t, "dp-rs"), (n - 1) / n * held * 4 * m, 1e-6));
        cr_expect(NEAR(sent(&t, "dp-ag"), (n - 1) / n * held * 2 * 2 * m, 1e-6));
        cr_expect(NEAR(sent(&t, "dp-ar"), 2.0 * (groups - 1) / groups * held / n * 4, 1e-6));
        if (strcmp(ROWS[i].over, "domain") == 0) {
            const fab_phase *p = traffic_phase(&t, "dp-ag");
            for (size_t f = 0; f < p->n_flows; f++) {
                cr_assert_eq(p->src[f] / 8, p->dst[f] / 8);
            }
        }
        const fab_phase *between = traffic_phase(&t, "dp-ar");
        for (size_t f = 0; f < between->n_flows; f++) { /* same place in another group */
            uint32_t distance = (between->dst[f] + 64 - between->src[f]) % 64;
            cr_assert(distance % (ROWS[i].group * ROWS[i].tp) == 0 || between->src[f] / 8 == between->dst[f] / 8);
        }
        fab_traffic_release(&t);
    }
}

/* Experts have a group's copies divided by ep, and every GPU still reduces what it holds. */
Test(sharding, hybrid_experts) {
    fab_traffic t = made_with("model=mixtral-8x7b,tp=1,ep=4,zero=1,shard-over=16,batch=64", 64, 8);
    double experts = 32.0 * 8 * 3 * 4096 * 14336;
    double rest = t.parameters - experts;
    cr_expect_eq(fab_job_shards(&t.job, false), 16);
    cr_expect_eq(fab_job_shards(&t.job, true), 4);
    cr_expect(NEAR(sent(&t, "dp-rs"), 15.0 / 16 * rest * 4, 1e-6));
    cr_expect(NEAR(sent(&t, "edp-rs"), 3.0 / 4 * experts / 4 * 4, 1e-6));
    cr_expect(NEAR(sent(&t, "dp-ar"), 2 * 3.0 / 4 * rest / 16 * 4, 1e-6));
    cr_expect(NEAR(sent(&t, "edp-ar"), 2 * 3.0 / 4 * experts / 4 / 4 * 4, 1e-6));
    cr_expect(NEAR(t.memory.optimizer_bytes, 12 * (rest / 16 + experts / 16), 1e-9));
    fab_traffic_release(&t);
    t = made_with("model=mixtral-8x7b,tp=1,ep=4,zero=1,shard-over=4,batch=64", 64, 8);
    cr_expect_null(traffic_phase(&t, "edp-rs")); /* an expert is once in a group */
    cr_expect(NEAR(sent(&t, "edp-ar"), 2 * 15.0 / 16 * experts / 4 * 4, 1e-6));
    fab_traffic_release(&t);
}

/* Adapters: r (m + n) for every m x n matrix, which alone are reduced and have states. LoRA, Hu et al., 2021, section
   F: rank 8 on query and value of GPT-3 175B are 37.7M. */
Test(sharding, adapters_alone_are_trained) {
    const char *gpt3 = "layers=96,hidden=12288,heads=96,ffn=49152,seq=2048,vocab=51200,batch=64,tp=8,";
    static const struct {
        const char *matrices;
        double per_layer;
    } ROWS[] = {{"query-value", 2 * (12288 + 12288)},
                {"attention", 4 * (12288 + 12288)},
                {"all", 4 * (12288 + 12288) + 2 * (12288 + 49152)}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char settings[200];
        (void)snprintf(settings, sizeof settings, "%slora-rank=8,lora-matrices=%s", gpt3, ROWS[i].matrices);
        fab_traffic t = made_with(settings, 64, 8);
        double adapters = 8.0 * 96 * ROWS[i].per_layer / 8;
        cr_expect(i > 0 || NEAR(adapters * 8, 37.7e6, 2e-3));
        cr_expect(NEAR(t.memory.gradients_bytes, adapters * 4, 1e-12));
        cr_expect(NEAR(t.memory.optimizer_bytes, adapters * 12, 1e-12));
        cr_expect(NEAR(t.memory.weights_bytes, (t.parameters / 8 + adapters) * 2, 1e-12));
        cr_expect(NEAR(sent(&t, "dp"), 2 * 7.0 / 8 * adapters * 4, 1e-6));
        fab_traffic_release(&t);
        (void)snprintf(settings, sizeof settings, "%szero=3,lora-rank=8,lora-matrices=%s", gpt3, ROWS[i].matrices);
        t = made_with(settings, 64, 8);
        double m = (double)t.microbatches;
        cr_expect(NEAR(sent(&t, "dp-rs"), 7.0 / 8 * adapters * 4 * m, 1e-6));
        cr_expect(NEAR(sent(&t, "dp-ag"), 7.0 / 8 * (t.parameters / 8 + adapters) * 2 * 2 * m, 1e-6));
        fab_traffic_release(&t);
    }
}

/* States on the host: none on the GPU; with zero=2 the reduced gradients go there too. */
Test(sharding, states_on_the_host) {
    fab_traffic here = made_with("model=llama2-13b,tp=1,zero=2,batch=64", 64, 8);
    fab_traffic away = made_with("model=llama2-13b,tp=1,zero=2,offload=optimizer,batch=64", 64, 8);
    double shard = here.parameters / 64;
    cr_expect_eq(here.memory.host_bytes, 0);
    cr_expect_eq(away.memory.optimizer_bytes, 0);
    cr_expect(NEAR(away.memory.host_bytes, shard * 16, 1e-12));
    cr_expect(NEAR(here.memory.total_bytes - away.memory.total_bytes, shard * 16, 1e-9));
    double seconds = shard * ((4 + 2) / 55.4e9 + (4 + 24 + 2) / 60e9);
    cr_expect(NEAR(fab_offload_s(&away.job, shard), seconds, 1e-12));
    fab_traffic_release(&here);
    fab_traffic_release(&away);
}

Test(sharding, refusals) {
    refused_with("model=llama3-8b,tp=8,zero=1,shard-over=3",
                 "shard-over 3: it must be 2 or more, divide the 8 copies (dp x cp), and be a multiple of ep 1");
    refused_with(
        "model=llama3-8b,tp=8,zero=1,shard-over=domain",
        "shard-over domain = 1: it must be 2 or more, divide the 8 copies (dp x cp), and be a multiple of ep 1");
    refused_with("model=llama3-8b,tp=8,shard-over=8", "shard-over 8: zero 0 shares nothing; give zero=1, 2 or 3");
    refused_with("model=llama3-8b,tp=8,zero=1,shard-over=half",
                 "shard-over: 'half' is neither all, domain nor a number of copies");
}

Test(sharding, sharded_is_zero_1) {
    static const struct {
        const char *settings, *summary;
    } ROWS[] = {{"sharded=yes", "dp 64 sharded on"},
                {"zero=1", "dp 64 sharded on"},
                {"sharded=yes,zero=0", "dp 64 on"},
                {"sharded=yes,zero=2", "dp 64 zero 2 on"},
                {"zero=3,shard-over=domain,lora-rank=8", "dp 64 zero 3 over 8 lora 8 on"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char settings[160];
        (void)snprintf(settings, sizeof settings, "model=llama3-8b,tp=1,batch=64,%s", ROWS[i].settings);
        fab_traffic t = made_with(settings, 64, 8);
        cr_expect_not_null(strstr(t.summary, ROWS[i].summary), "%s", t.summary);
        fab_traffic_release(&t);
    }
}
