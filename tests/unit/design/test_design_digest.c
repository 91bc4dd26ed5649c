/* Canonical text and digest of a design: it reads back, and every field is in it. */
#include "fab/builtin.h"
#include "fab/design.h"
#include "../../../src/design/fields.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_with(const char *text, const char *const *overrides, size_t n, fab_design *out) {
    fab_error err = {0};
    cr_assert_eq(fab_design_read(text, overrides, n, out, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
}

static char *describe(const char *text, const char *override) {
    fab_design *design = calloc(1, sizeof *design);
    fab_str out = FAB_STR_INIT;
    read_with(text, &override, override != NULL ? 1 : 0, design);
    fab_design_describe(design, &out);
    free(design);
    return out.data;
}

Test(design_digest, canonical_text_reads_back) {
    static const char *const TEXTS[] = {"preset:llama3-24k-roce", "preset:railonly-32768",
                                        "clos:gpus=64,taper=2/1/3,port=400Gb/s/auto/800Gb/s,length=1m/2m/3m/4m",
                                        "clos:gpus=64,floor.rack-power=20.4kW,floor.rack-pitch=75cm"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        char *text = describe(TEXTS[i], NULL);
        char *lines = strdup(text);
        for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            char *same = describe(TEXTS[i], line);
            cr_assert_str_eq(same, text, "%s changes the design", line);
            free(same);
        }
        free(lines);
        free(text);
    }
}

/* A design comes back from its canonical text. */
static void check_restored(const fab_design *d) {
    fab_design *again = calloc(1, sizeof *again);
    fab_str before = FAB_STR_INIT;
    fab_str after = FAB_STR_INIT;
    fab_error err = {0};
    fab_design_describe(d, &before);
    cr_assert_eq(fab_design_restore(before.data, again, &err), FAB_OK, "%s: %s", err.where, err.text);
    fab_design_describe(again, &after);
    cr_assert_str_eq(after.data, before.data);
    cr_assert_eq(again->n_jobs, d->n_jobs);
    cr_assert_eq(again->n_engines, d->n_engines);
    cr_assert_eq(again->has_front_end, d->has_front_end);
    cr_assert_eq(again->fabric.floor.given, d->fabric.floor.given);
    fab_str_release(&before);
    fab_str_release(&after);
    free(again);
}

Test(design_digest, canonical_text_restores_the_design) {
    static const char *const TEXTS[] = {FAB_TEST_DATA "/two_jobs.xml",
                                        FAB_TEST_DATA "/front_end.xml",
                                        "clos:gpus=64,taper=2/1/3,port=400Gb/s/auto/800Gb/s,length=1m/2m/3m/4m",
                                        "clos:gpus=64,floor.rack-power=20.4kW,floor.rack-pitch=75cm",
                                        "fat-tree:xgft=2;4,4;1,2,gpus-per-server=4",
                                        "torus:gpus=64,torus=4,4,4"};
    fab_design *d = calloc(1, sizeof *d);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        read_with(TEXTS[i], NULL, 0, d);
        check_restored(d);
    }
    size_t n = 0;
    for (const fab_builtin *b = fab_builtin_presets; b->name != NULL; b++, n++) {
        char text[128];
        (void)snprintf(text, sizeof text, "preset:%.*s", (int)strcspn(b->name, "."), b->name);
        const char *const more[] = {"job.id=a.b-c"}; /* ids hold dots */
        read_with(text, more, 1, d);
        check_restored(d);
    }
    cr_assert_gt(n, 10);
    free(d);
}

Test(design_digest, text_that_is_no_design_is_refused) {
    static const char *const TEXTS[] = {
        "",
        "name=x\n",
        "fabric.family=clos\nfabric.gpus\n",
        "fabric.family=clos\nfabric.gpus=64\nfabric.nothing=1\n",
        "fabric.family=clos\nfabric.gpus=64\njob=1\n",
        "fabric.family=clos\nfabric.gpus=64\njob.a.nothing=1\n",
        "fabric.family=clos\nfabric.gpus=63\n",
        "fabric.family=clos\nfabric.gpus=64\nfloor.nothing=1\n",
        "fabric.family=clos\nfabric.gpus=sixty\n",
    };
    fab_design *d = calloc(1, sizeof *d);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        fab_error err = {0};
        cr_assert_eq(fab_design_restore(TEXTS[i], d, &err), FAB_EINPUT, "%s", TEXTS[i]);
        cr_assert_gt(strlen(err.text), 10);
    }
    free(d);
}

static void digest_of(const char *text, const char *override, char out[17]) {
    fab_design *d = calloc(1, sizeof *d);
    read_with(text, &override, override != NULL ? 1 : 0, d);
    check_restored(d);
    cr_assert_eq(fab_design_digest(d, out, NULL), FAB_OK);
    free(d);
}

/* Every field the program knows, changed: the list here must grow with the table. */
static const char *const CHANGES[] = {"name=other",
                                      "source=other",
                                      "fabric.family=clos",
                                      "fabric.gpus=65536",
                                      "fabric.gpus-per-server=4",
                                      "fabric.nics-per-server=4",
                                      "fabric.full-spares=yes",
                                      "floor.racks=16",
                                      "fabric.nic=200Gb/s",
                                      "fabric.domain=512",
                                      "fabric.domain-rate=900GB/s",
                                      "fabric.domain-latency=2us",
                                      "fabric.pcie=500Gb/s",
                                      "fabric.tiers=3",
                                      "fabric.pod=1024",
                                      "fabric.planes=2",
                                      "fabric.spares=1",
                                      "fabric.k=4",
                                      "fabric.xgft=2;4,4;1,4",
                                      "fabric.dragonfly=2,4,2",
                                      "fabric.torus=4,4",
                                      "fabric.rails-per-switch=2",
                                      "fabric.forward=destination",
                                      "fabric.forwarding=sequential",
                                      "fabric.reduction=switch",
                                      "front-end.storage=2",
                                      "fabric.tier.N.radix=128",
                                      "fabric.tier.N.port=100Gb/s",
                                      "fabric.tier.N.breakout=2",
                                      "fabric.tier.N.down=16",
                                      "fabric.tier.N.breakout-up=2",
                                      "fabric.tier.N.taper=2",
                                      "fabric.tier.N.length=5m",
                                      "fabric.tier.N.latency=1us",
                                      "floor.lengths=tier",
                                      "floor.rack-power=400kW",
                                      "floor.hall-power=10MW",
                                      "floor.server-power=9kW",
                                      "floor.servers-per-rack=2",
                                      "floor.switches-per-rack=8",
                                      "floor.racks-per-row=8",
                                      "floor.rack-pitch=0.7m",
                                      "floor.row-pitch=4m",
                                      "floor.hall-distance=50m",
                                      "floor.slack=1m",
                                      "floor.leaf-at=hall",
                                      "job.id=other",
                                      "job.kind=ranking",
                                      "job.plan=auto",
                                      "job.table-sharding=tables",
                                      "job.table-group=8",
                                      "job.tables-file=tables.txt",
                                      "job.expert-exchange=hierarchical",
                                      "job.expert-groups=4",
                                      "job.expert-skew=1.5",
                                      "job.expert-loads=loads.txt",
                                      "job.request-rate=5",
                                      "job.prefill-replicas=2",
                                      "failures.set=hpn",
                                      "failures.link-mtbf=100d",
                                      "failures.switch-mtbf=100d",
                                      "failures.nic-mtbf=100d",
                                      "failures.gpu-mtbf=100d",
                                      "failures.server-mtbf=100d",
                                      "failures.software-mtbf=100d",
                                      "failures.maintenance-mtbf=100d",
                                      "failures.link-repair=2h",
                                      "failures.switch-repair=2h",
                                      "failures.nic-repair=2h",
                                      "failures.gpu-repair=2h",
                                      "failures.server-repair=2h",
                                      "failures.maintenance-time=1h",
                                      "failures.slow-mtbf=100d",
                                      "failures.slow-speed=0.9",
                                      "failures.slow-time=1d",
                                      "failures.flap-mtbf=100d",
                                      "failures.flap-speed=0.3",
                                      "failures.flap-time=2h",
                                      "failures.throttle=0.02",
                                      "failures.throttle-halls=0,2-3",
                                      "failures.detect-loss=0.1",
                                      "failures.detect-time=2h",
                                      "failures.rma-part=0.1",
                                      "failures.rma-time=7d",
                                      "failures.infant-factor=3",
                                      "failures.infant-time=10d",
                                      "failures.checkpoint=1h",
                                      "failures.checkpoint-mode=async",
                                      "failures.checkpoint-write=5s",
                                      "failures.checkpoint-rate=2Gb/s",
                                      "failures.restart=5min",
                                      "failures.spare-join=2min",
                                      "failures.reform=2min",
                                      "failures.regrow=0.1",
                                      "failures.keep-batch=no",
                                      "job.model=gpt3",
                                      "job.layers=2",
                                      "job.hidden=2",
                                      "job.heads=2",
                                      "job.kv-heads=2",
                                      "job.ffn=2",
                                      "job.seq=2",
                                      "job.vocab=2",
                                      "job.experts=2",
                                      "job.top-k=2",
                                      "job.expert-ffn=2",
                                      "job.tables=2",
                                      "job.rows=2",
                                      "job.embedding=2",
                                      "job.dense-parameters=2",
                                      "job.prompt=2",
                                      "job.tokens=2",
                                      "job.tp=2",
                                      "job.cp=2",
                                      "job.pp=2",
                                      "job.dp=2",
                                      "job.ep=2",
                                      "job.microbatch=2",
                                      "job.interleave=2",
                                      "job.batch=2",
                                      "job.gpu=v100-32gb",
                                      "job.precision=fp8",
                                      "job.recompute=selective",
                                      "job.recompute-traffic=yes",
                                      "job.sequence-parallel=no",
                                      "job.attention=flash",
                                      "job.cp-exchange=ring",
                                      "job.activation-bytes=4",
                                      "job.dispatch-bytes=4",
                                      "job.gradient-bytes=2",
                                      "job.parameter-bytes=4",
                                      "job.optimizer-bytes=4",
                                      "job.sharded=no",
                                      "job.zero=2",
                                      "job.shard-over=domain",
                                      "job.shard-exchange=iteration",
                                      "job.offload=optimizer",
                                      "job.offload-rate=25GB/s",
                                      "job.host-memory-rate=25GB/s",
                                      "job.lora-rank=8",
                                      "job.lora-matrices=all",
                                      "job.scatter-gather=no",
                                      "job.tp-overlap=0.5",
                                      "job.cp-overlap=0.5",
                                      "job.contends=tp",
                                      "job.pp-overlap=0.5",
                                      "job.ep-overlap=0.5",
                                      "job.dp-overlap=0.5",
                                      "job.power-compute=0.9",
                                      "job.power-communicate=0.4",
                                      "job.power-idle=0.1",
                                      "job.schedule=zero-bubble",
                                      "job.embedding-as-layer=yes",
                                      "job.stage-layers=7:8:8:7",
                                      "job.gpu-hour-usd=3",
                                      "job.published-tflops=163",
                                      "job.published-pipeline-bisection=1GB/s",
                                      "job.published-data-bisection=1GB/s",
                                      "job.train-tokens=1e12",
                                      "job.tp-collective=tree",
                                      "job.dp-collective=hierarchical",
                                      "job.order=dp-pp-cp-tp",
                                      "job.placement=packed",
                                      "job.placement-seed=2",
                                      "job.gpus=2",
                                      "job.n-servers=2",
                                      "job.servers=0-3",
                                      "job.storage-servers=0-3",
                                      "job.sample-bytes=2",
                                      "job.memory-check=off",
                                      "job.memory-headroom=0.2",
                                      "engine.N=dmodk",
                                      "prices.profile=today-400g",
                                      "prices.convention=per-cable",
                                      "fabric.transport=pfc",
                                      "fabric.mtu=1kB",
                                      "fabric.header=82B",
                                      "fabric.ack=1B",
                                      "fabric.wire=uec",
                                      "fabric.buffer=64MB",
                                      "fabric.buffer-alpha=2",
                                      "fabric.priority=receiver",
                                      "fabric.priorities=4",
                                      "fabric.entropies=8",
                                      "fabric.balancing=oblivious",
                                      "fabric.queue=1MB",
                                      "fabric.xoff=1MB",
                                      "fabric.xon=10kB",
                                      "fabric.nic-latency=1us",
                                      "fabric.host=nccl-efa-h100",
                                      "fabric.call-overhead=1us",
                                      "fabric.step-overhead=1us",
                                      "fabric.message-overhead=1us",
                                      "fabric.slot=1MB",
                                      "fabric.copy-rate=1TB/s",
                                      "fabric.nic-efficiency=0.5",
                                      "fabric.kmin=1kB",
                                      "fabric.kmax=1MB",
                                      "fabric.pmax=0.5",
                                      "fabric.cnp-interval=1us",
                                      "fabric.alpha-gain=0.5",
                                      "fabric.alpha-timer=1us",
                                      "fabric.rate-timer=1us",
                                      "fabric.rate-bytes=1MB",
                                      "fabric.recovery-steps=2",
                                      "fabric.rate-ai=1Gb/s",
                                      "fabric.rate-hai=1Gb/s",
                                      "fabric.rate-min=2Gb/s",
                                      "fabric.host-order=leaf",
                                      "fabric.hosts-per-switch=2",
                                      "fabric.cables=2"};
#define N_CHANGES (sizeof CHANGES / sizeof CHANGES[0])

/* Which file is installed: its content counts (test_installed), and where it lies does not. */
static bool names_a_file(const char *path) {
    return strcmp(path, "fabric.file") == 0 || strcmp(path, "fabric.format") == 0 || strcmp(path, "fabric.digest") == 0;
}

static bool is_of_installed(const char *path) {
    return strcmp(path, "fabric.host-order") == 0 || strcmp(path, "fabric.cables") == 0;
}

static void check_change(void *context, const char *path, const char *example, const char *initial,
                         const char *summary) {
    (void)initial;
    size_t *n = context;
    size_t i = 0;
    size_t length = strlen(path);
    cr_assert(strlen(example) > 0 && strlen(summary) > 0, "%s", path);
    if (names_a_file(path)) {
        return;
    }
    while (i < N_CHANGES && (strncmp(CHANGES[i], path, length) != 0 || CHANGES[i][length] != '=')) {
        i++;
    }
    cr_assert_lt(i, N_CHANGES, "no change for %s", path);
    char change[64];
    char before[17];
    char after[17];
    (void)snprintf(change, sizeof change, "%s", CHANGES[i]);
    char *any = strstr(change, ".N");
    if (any != NULL) {
        any[1] = any[2] == '=' ? '1' : '3';
    }
    const char *base = strncmp(path, "job.", 4) == 0                  ? "preset:llama3-24k-ib"
                       : strncmp(path, "front-end.", 10) == 0         ? FAB_TEST_DATA "/front_end.xml"
                       : strcmp(path, "fabric.hosts-per-switch") == 0 ? "installed:" FAB_TEST_DATA "/sites/ptm"
                       : is_of_installed(path)                        ? "installed:" FAB_TEST_DATA "/sites/slurm"
                                                                      : "preset:railonly-32768";
    digest_of(base, NULL, before);
    digest_of(base, change, after);
    cr_assert_str_neq(before, after, "%s leaves the digest", change);
    (*n)++;
}

Test(design_digest, every_field_changes_the_digest) {
    size_t n = 0;
    fab_design_each_field(check_change, &n);
    cr_assert_eq(n, N_CHANGES, "a change without a field");
}

Test(design_digest, digest_depends_on_values_alone) {
    char a[17];
    char b[17];
    digest_of("clos:gpus=64,nic=400Gb/s", NULL, a);
    digest_of("clos:nic=50GB/s,gpus=64", NULL, b);
    cr_assert_str_eq(a, b);
    digest_of("clos:gpus=128", "gpus=64", b);
    cr_assert_str_eq(a, b);
    cr_assert_eq(strlen(a), 16);
    cr_assert_eq(strspn(a, "0123456789abcdef"), 16);
}

/* The table of the next version: a key more, which nobody has set, for the fabric, every job and the design. */
static void add_rows(field *table) {
    size_t n = 0;
    table[n++] = (field){.scope = SCOPE_FABRIC,
                         .key = "aisles",
                         .kind = FIELD_COUNT,
                         .offset = offsetof(fab_fabric_spec, spares),
                         .size = sizeof(uint64_t),
                         .max = 10,
                         .initial = "0",
                         .summary = "aisles"};
    table[n++] = (field){.scope = SCOPE_JOB,
                         .key = "zeal",
                         .kind = FIELD_DECIMAL,
                         .offset = offsetof(fab_job_spec, train_tokens),
                         .size = sizeof(double),
                         .max = 1,
                         .initial = "0",
                         .summary = "zeal"};
    size_t n_rows = 0;
    while (design_fields[n_rows].key != NULL) {
        n_rows++;
    }
    while (n_rows > 0) { /* the others in another order */
        table[n++] = design_fields[--n_rows];
    }
    table[n] = (field){.key = NULL};
}

static void digest_by(const char *design, const char *override, const field *table, char out[17]) {
    fab_design *d = calloc(1, sizeof *d);
    fab_str text = FAB_STR_INIT;
    read_with(design, &override, override != NULL ? 1 : 0, d);
    design_describe(d, table, &text);
    fab_design_text_digest(text.data, out);
    fab_str_release(&text);
    free(d);
}

Test(design_digest, new_keys_leave_the_digest) {
    static const char *const TEXTS[] = {"clos:gpus=64", FAB_TEST_DATA "/two_jobs.xml", "preset:llama3-24k-ib"};
    static field table[MAX_FIELDS + 8];
    char before[17];
    char after[17];
    add_rows(table);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        digest_by(TEXTS[i], NULL, design_fields, before);
        digest_by(TEXTS[i], NULL, table, after);
        cr_assert_str_eq(after, before, "%s", TEXTS[i]);
        digest_by(TEXTS[i], "job.train-tokens=0.5", design_fields, before); /* set: by both of its keys */
        digest_by(TEXTS[i], "job.train-tokens=0.5", table, after);
        cr_assert_str_neq(after, before, "%s", TEXTS[i]);
    }
}

/* What version 0.1 wrote into its stores: all fields, in the order of its table. */
Test(design_digest, texts_of_before_open) {
    static const char OLD[] = "name=clos\nsource=\nfabric.family=clos\nfabric.gpus=64\nfabric.gpus-per-server=8\n"
                              "fabric.k=auto\nfabric.xgft=\nfabric.forward=source\nfabric.forwarding=pipelined\n"
                              "fabric.reduction=none\nfabric.radix=64\nfabric.taper=2\nfabric.length=3m/30m/100m\n"
                              "job.train.id=train\njob.train.kind=training\njob.train.recompute=full\n"
                              "job.train.tp=8\njob.train.dp-collective=ring\njob.train.servers=\nengine.1=ecmp\n"
                              "prices.profile=today-400g\n";
    static const char *const SAME[] = {"fabric.taper=2", "length=3m/30m/100m", "job.id=train",
                                       "job.tp=8",       "engine=ecmp",        "prices=today-400g"};
    fab_design *d = calloc(2, sizeof *d);
    fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    fab_error err = {0};
    cr_assert_eq(fab_design_restore(OLD, d, &err), FAB_OK, "%s: %s", err.where, err.text);
    read_with("clos:gpus=64", SAME, sizeof SAME / sizeof SAME[0], d + 1);
    for (size_t i = 0; i < 2; i++) {
        fab_design_describe(d + i, &text[i]);
    }
    cr_assert_str_eq(text[0].data, text[1].data);
    cr_assert_str_eq(text[0].data, "name=clos\nfabric.domain=8\nfabric.family=clos\nfabric.gpus=64\n"
                                   "fabric.gpus-per-server=8\nfabric.length=3m/30m/100m\n"
                                   "fabric.nics-per-server=8\nfabric.taper=2\n"
                                   "job.train.id=train\njob.train.tp=8\nengine.1=ecmp\nprices.profile=today-400g\n");
    fab_str_release(&text[0]);
    fab_str_release(&text[1]);
    free(d);
}
