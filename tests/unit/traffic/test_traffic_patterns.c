/* Synthetic patterns: what each promises, and what is refused. */
#include "traffic_fixture.h"

static bool same_flows(const fab_phase *a, const fab_phase *b) {
    return a->n_flows == b->n_flows && memcmp(a->src, b->src, a->n_flows * sizeof *a->src) == 0 &&
           memcmp(a->dst, b->dst, a->n_flows * sizeof *a->dst) == 0 &&
           memcmp(a->bytes, b->bytes, a->n_flows * sizeof *a->bytes) == 0;
}

/* One phase named after the pattern. */
static fab_traffic pattern(const char *text, uint32_t n_gpus, uint64_t seed) {
    fab_fabric fabric = traffic_fabric(n_gpus, 8, 8);
    fab_traffic traffic = traffic_made(text, NULL, &fabric, seed);
    cr_assert_eq(traffic.n_phases, 1);
    const fab_phase *phase = &traffic.phases[0];
    traffic_check_phase(phase, &fabric);
    size_t n = strcspn(text + 8, ",");
    cr_assert(strlen(phase->name) == n && strncmp(phase->name, text + 8, n) == 0);
    cr_assert_str_eq(phase->collective, phase->name);
    cr_assert(phase->steps == 1 && phase->executions == 1 && phase->expected_bytes == 0);
    cr_assert(traffic.n_ranks == 0 && traffic.rank_of_gpu == NULL);
    return traffic;
}

Test(patterns, permutation) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        fab_traffic traffic = pattern("pattern:permutation,bytes=2MB", 100, seed);
        const fab_phase *phase = &traffic.phases[0];
        bool out[100] = {false};
        bool in[100] = {false};
        for (uint32_t i = 0; i < phase->n_flows; i++) {
            cr_expect_not(out[phase->src[i]]);
            cr_expect_not(in[phase->dst[i]]);
            out[phase->src[i]] = in[phase->dst[i]] = true;
            cr_expect_eq(phase->bytes[i], 2000000);
            cr_expect_eq(phase->comm[i], i);
        }
        for (uint32_t g = 0; g < 100; g++) {
            cr_expect_eq(out[g], in[g]); /* who does not send was drawn to himself and does not receive either */
        }
        cr_expect_gt(phase->n_flows, 90);
        cr_expect(traffic.depends_on_seed);
        fab_traffic_release(&traffic);
    }
}

Test(patterns, bisection) {
    fab_traffic traffic = pattern("pattern:bisection", 64, 5);
    const fab_phase *phase = &traffic.phases[0];
    uint32_t peer[64];
    memset(peer, 0xff, sizeof peer);
    cr_assert_eq(phase->n_flows, 64);
    cr_expect_eq(phase->n_comms, 32);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        cr_expect_eq(peer[phase->src[i]], FAB_NONE);
        peer[phase->src[i]] = phase->dst[i];
        cr_expect_eq(phase->comm[i], i / 2);
    }
    for (uint32_t g = 0; g < 64; g++) {
        cr_expect_eq(peer[peer[g]], g);
    }
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, phase, 17, name), "pair 17");
    fab_traffic_release(&traffic);
    traffic = pattern("pattern:bisection", 65, 5);
    cr_expect_eq(traffic.phases[0].n_flows, 64);
    cr_expect_str_eq(traffic.summary, "bisection over 65 GPUs: 64 flows of 1 MB (odd number: one is left out)");
    fab_traffic_release(&traffic);
}

Test(patterns, seeds) {
    static const char *const NAMES[] = {"pattern:permutation", "pattern:bisection", "pattern:hotspot,fraction=0.5"};
    for (size_t i = 0; i < 3; i++) {
        fab_traffic a = pattern(NAMES[i], 256, 7);
        fab_traffic b = pattern(NAMES[i], 256, 7);
        fab_traffic c = pattern(NAMES[i], 256, 8);
        cr_expect(a.depends_on_seed);
        cr_expect(same_flows(&a.phases[0], &b.phases[0]), "%s", NAMES[i]);
        cr_expect_not(same_flows(&a.phases[0], &c.phases[0]), "%s", NAMES[i]);
        fab_traffic_release(&a);
        fab_traffic_release(&b);
        fab_traffic_release(&c);
    }
    fab_traffic shift = pattern("pattern:shift,by=1", 16, 7);
    cr_expect_not(shift.depends_on_seed);
    fab_traffic_release(&shift);
}

Test(patterns, shift) {
    fab_traffic traffic = pattern("pattern:shift,by=16", 64, 1);
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_eq(phase->n_flows, 64);
    for (uint32_t i = 0; i < 64; i++) {
        cr_expect(phase->src[i] == i && phase->dst[i] == (i + 16) % 64);
    }
    cr_expect_str_eq(traffic.summary, "shift over 64 GPUs: 64 flows of 1 MB by 16");
    fab_traffic_release(&traffic);
    traffic = pattern("pattern:shift,by=16,from=0-15", 64, 1);
    cr_expect_eq(traffic.phases[0].n_flows, 16);
    cr_expect_eq(traffic.phases[0].dst[15], 31);
    fab_traffic_release(&traffic);
    /* Within gpus=8-23 the shift wraps around inside the range. */
    traffic = pattern("pattern:shift,by=4,gpus=8-23,from=20", 64, 1);
    phase = &traffic.phases[0];
    cr_expect(phase->n_flows == 1 && phase->src[0] == 20 && phase->dst[0] == 8);
    fab_traffic_release(&traffic);
}

Test(patterns, ring) {
    fab_traffic traffic = pattern("pattern:ring,gpus=2-5", 8, 1);
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_eq(phase->n_flows, 4);
    cr_expect(phase->src[3] == 5 && phase->dst[3] == 2);
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, phase, 0, name), "all");
    fab_traffic_release(&traffic);
}

/* Nothing is listed; flow i is found by its number. */
Test(patterns, all_to_all) {
    fab_traffic traffic = pattern("pattern:all-to-all,gpus=3-11,bytes=1KiB", 16, 1);
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_eq(phase->n_flows, 72);
    cr_expect(phase->src == NULL && phase->dst == NULL && phase->bytes == NULL && phase->comm == NULL);
    cr_expect_null(phase->ordinal);
    bool seen[9][9] = {{false}};
    for (uint32_t i = 0; i < 72; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        cr_assert(flow.src >= 3 && flow.src <= 11 && flow.dst >= 3 && flow.dst <= 11);
        cr_expect_not(seen[flow.src - 3][flow.dst - 3]);
        seen[flow.src - 3][flow.dst - 3] = true;
        cr_expect(flow.bytes == 1024 && flow.comm == 0 && flow.ordinal == 0);
    }
    cr_expect_eq(phase->total_bytes, 72 * 1024);
    cr_expect_str_eq(traffic.summary, "all-to-all over 9 GPUs: 72 flows of 1.024 kB");
    fab_traffic_release(&traffic);
}

Test(patterns, all_to_all_of_billions) {
    fab_fabric fabric = traffic_fabric(1 << 24, 8, 8); /* the most GPUs that a design may have */
    fab_traffic traffic = traffic_made("pattern:all-to-all,gpus=0-65535", NULL, &fabric, 1);
    cr_expect_eq(traffic.phases[0].n_flows, UINT64_C(4294901760));
    cr_expect_eq(traffic.phases[0].total_bytes, UINT64_C(4294901760) * 1000000);
    cr_expect_str_eq(traffic.summary, "all-to-all over 65,536 GPUs: 4,294,901,760 flows of 1 MB");
    fab_traffic_release(&traffic);
    traffic = traffic_made("pattern:all-to-all,bytes=32kB", NULL, &fabric, 1);
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_eq(phase->n_flows, UINT64_C(16777216) * 16777215);
    cr_expect_eq(phase->total_bytes, phase->n_flows * 32000);
    fab_flow last = fab_phase_flow(phase, phase->n_flows - 1);
    cr_expect(last.src == 16777215 && last.dst == 16777214 && last.bytes == 32000);
    fab_flow inner = fab_phase_flow(phase, UINT64_C(5000000) * 16777215 + 4999999);
    cr_expect(inner.src == 5000000 && inner.dst == 4999999);
    inner = fab_phase_flow(phase, UINT64_C(5000000) * 16777215 + 5000000);
    cr_expect(inner.src == 5000000 && inner.dst == 5000001);
    fab_traffic_release(&traffic);
    traffic_refused("pattern:all-to-all,bytes=33kB", NULL, &fabric, FAB_EINPUT, "pattern:all-to-all,bytes=33kB",
                    "281474959933440 flows of 33000 bytes are above the limit of 9.2e+18 bytes in a phase");
}

Test(patterns, incast) {
    fab_traffic traffic = pattern("pattern:incast", 16, 1);
    cr_expect_eq(traffic.phases[0].n_flows, 15);
    cr_expect_eq(traffic.phases[0].dst[7], 0);
    fab_traffic_release(&traffic);
    traffic = pattern("pattern:incast,to=14,fanin=3", 16, 1);
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_eq(phase->n_flows, 3);
    cr_expect(phase->src[0] == 15 && phase->src[1] == 0 && phase->src[2] == 1);
    cr_expect(phase->dst[0] == 14 && phase->dst[2] == 14);
    cr_expect_str_eq(traffic.summary, "incast over 16 GPUs: 3 flows of 1 MB to gpu-14");
    fab_traffic_release(&traffic);
}

Test(patterns, hotspot) {
    fab_traffic traffic = pattern("pattern:hotspot,to=9,fraction=0.25", 101, 3);
    const fab_phase *phase = &traffic.phases[0];
    uint32_t to_hot = 0;
    bool out[101] = {false};
    bool in[101] = {false};
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        cr_expect_not(out[phase->src[i]]);
        out[phase->src[i]] = true;
        if (phase->dst[i] == 9) {
            to_hot++;
        } else {
            cr_expect_not(in[phase->dst[i]]);
            in[phase->dst[i]] = true;
        }
    }
    cr_expect(to_hot == 25 || to_hot == 26, "%u", to_hot); /* and perhaps the one drawn to it */
    fab_traffic_release(&traffic);
    traffic = pattern("pattern:hotspot,fraction=1", 32, 3);
    cr_expect_geq(traffic.phases[0].n_flows, 31);
    fab_traffic_release(&traffic);
}

Test(patterns, refusals) {
    static const struct {
        const char *text;
        fab_status code;
        const char *message;
    } ROWS[] = {
        {"pattern:swirl", FAB_EINPUT,
         "there is no pattern 'swirl'; known: permutation, shift, ring, bisection, all-to-all, incast, hotspot, "
         "all-reduce, all-gather, reduce-scatter, broadcast, reduce"},
        {"pattern:", FAB_EINPUT,
         "there is no pattern ''; known: permutation, shift, ring, bisection, all-to-all, incast, hotspot, "
         "all-reduce, all-gather, reduce-scatter, broadcast, reduce"},
        {"pattern:shift,seed=3", FAB_EINPUT,
         "pattern 'shift' has no key 'seed'; allowed: by from bytes gpus placement servers"},
        {"pattern:ring,by=3", FAB_EINPUT, "pattern 'ring' has no key 'by'; allowed: bytes gpus placement servers"},
        {"pattern:ring,", FAB_EINPUT, "pattern 'ring' has no key ''; allowed: bytes gpus placement servers"},
        {"pattern:shift,by from=3", FAB_EINPUT,
         "pattern 'shift' has no key 'by from'; did you mean 'from'? allowed: by from bytes gpus placement servers"},
        {"pattern:shift,by", FAB_EINPUT, "key 'by' has no value; write by=VALUE"},
        {"pattern:shift,by=3,by=4", FAB_EINPUT, "key 'by' is given twice"},
        {"pattern:shift", FAB_EINPUT, "pattern 'shift' needs the distance: by=N, such as by=8"},
        {"pattern:shift,by=32", FAB_EINPUT, "by=32 over 16 GPUs sends every GPU to itself"},
        {"pattern:shift,by=x", FAB_EINPUT, "by: 'x' is not a whole number from 0 to 4294967294"},
        {"pattern:shift,by=1,from=8-4", FAB_EINPUT, "from: '8-4' runs backwards"},
        {"pattern:shift,by=1,from=0-16", FAB_EINPUT, "from: '16' is outside 0 to 15"},
        {"pattern:shift,by=1,from=0-7,gpus=4-11", FAB_EINPUT, "from=0-7 is outside the GPUs 4-11 of the pattern"},
        {"pattern:ring,gpus=3", FAB_EINPUT, "pattern 'ring' needs at least 2 GPUs, not 1"},
        {"pattern:ring,bytes=5", FAB_EINPUT, "bytes: '5' has no unit; write it with one (such as 16MB or 1MiB)"},
        {"pattern:ring,bytes=0B", FAB_EINPUT, "bytes: '0B' is outside 1B to 9007TB"},
        {"pattern:incast,to=16", FAB_EINPUT, "to: '16' is outside 0 to 15"},
        {"pattern:incast,to=2,gpus=4-8", FAB_EINPUT, "to=2 is outside the GPUs 4-8 of the pattern"},
        {"pattern:incast,fanin=16", FAB_EINPUT, "fanin=16 is outside 1 to 15, the other GPUs"},
        {"pattern:incast,fanin=0", FAB_EINPUT, "fanin=0 is outside 1 to 15, the other GPUs"},
        {"pattern:hotspot,fraction=2", FAB_EINPUT, "fraction: '2' is above 1"},
        {"pattern:hotspot,fraction=no", FAB_EINPUT, "fraction: 'no' is not a ratio above 0 (such as 2.5 or 7:1)"},
    };
    fab_fabric fabric = traffic_fabric(16, 8, 8);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        traffic_refused(ROWS[i].text, NULL, &fabric, ROWS[i].code, ROWS[i].text, ROWS[i].message);
    }
    fabric = traffic_fabric(4096, 8, 8);
    traffic_refused("pattern:ring,bytes=9000TB", NULL, &fabric, FAB_EINPUT, NULL,
                    "4096 flows of 9000000000000000 bytes are above the limit of 9.2e+18 bytes in a phase");
}
