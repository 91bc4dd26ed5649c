/* Which algorithm and protocol NCCL takes: those that its own published table expects to be fastest [NCCL,
 * src/graph/tuning.cc, 2.27], but for what was seen to be otherwise (fab_gpu_library). The table knows nominal rates of
 * links and NICs, and nothing of the fabric between them. */
#include "nccl_internal.h"

#define LINK_PART       0.8 /* of the scale-up rate: 20 GB/s for each of the 12 links of 25 GB/s of an A100 */
#define NVLS_PART       (2 * 0.74 * 15 / 16)
#define TREE_PART       (0.92 * 0.85)
#define TREE_LL_PART    (1 / 3.8)
#define TREE_LL128_PART (120.0 / 128)
#define RING_PLATEAU    1.4  /* of the latency of a ring between servers, once a channel has 64 bytes for a rank */
#define SMALL_DOMAIN    8    /* GPUs of a server: where thresholds of switches were measured */
#define LL_OF_TWO       39e9 /* B/s that LL is taken to carry between two servers ... */
#define LL_OF_MORE      20.4e9

/* Trees are slower than their bandwidth says at these sizes: 64 B times a power of two. */
#define CORRECTED_SIZES 24
static const double TREE_CORRECTION[FAB_NCCL_N_PROTOCOLS][CORRECTED_SIZES] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

static double tree_correction(fab_nccl_protocol p, double bytes) {
    double size = floor(log2(fmax(bytes, 64) / 64));
    return size < CORRECTED_SIZES ? TREE_CORRECTION[p][(size_t)size] : 1;
}

/* Bus bandwidth of a ring, B/s. */
static double ring_bus(const fab_nccl_case *c, fab_nccl_protocol p, double bus) {
    double ll = c->domains == 1 ? (c->gpu->ll_seen_bps > 0 ? c->gpu->ll_seen_bps : c->gpu->ll_bps) / 8
                                : (c->domains == 2 ? LL_OF_TWO : LL_OF_MORE);
    return p == FAB_NCCL_LL ? fmin(ll, bus * 0.5) : p == FAB_NCCL_LL128 ? bus * c->gpu->ll128_ratio : bus;
}

/* Bytes of S per second. */
static double expected_rate(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p, double bytes) {
    const double k = nccl_domain_size(c);
    const double inside = k > 1 ? LINK_PART * c->scale_up_bps / 8 : INFINITY;
    const double across = c->domains > 1 ? k * c->nics_bps / 8 : INFINITY;
    const double bus = fmin(inside, across);
    const double ring_part = (double)c->ranks / (double)nccl_ring_steps(c);
    switch (a) {
    case FAB_NCCL_TREE: {
        double tree = TREE_PART * bus * (p == FAB_NCCL_LL ? TREE_LL_PART : p == FAB_NCCL_LL128 ? TREE_LL128_PART : 1);
        tree = p == FAB_NCCL_LL ? fmin(tree, c->domains == 2 ? LL_OF_TWO : LL_OF_MORE) : tree;
        return tree / 2 * tree_correction(p, bytes);
    }
    case FAB_NCCL_COLLNET: return fmin(NVLS_PART * inside, across) * ring_part;
    case FAB_NCCL_NVLS: return NVLS_PART * inside * ring_part;
    case FAB_NCCL_NVLS_TREE: return fmin(NVLS_PART * inside, (c->domains == 2 ? 2 : 1) * across) * ring_part;
    case FAB_NCCL_PAT: return 0.75 * across;
    default: return ring_bus(c, p, bus) * ring_part;
    }
}

/* What NCCL itself expects: by its published table of latencies and bandwidths. */
static double nccl_expected_s(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p, double bytes) {
    fab_nccl_case flat = *c;
    flat.network[a].path_s = 0;
    double latency_us = nccl_latency_us(&flat, a, p);
    if (a == FAB_NCCL_RING && p == FAB_NCCL_SIMPLE && c->domains > 1 && c->operation == FAB_ALL_REDUCE &&
        bytes / ((double)fab_nccl_channels(c, a) * c->ranks) >= 64) {
        latency_us *= RING_PLATEAU;
    }
    return latency_us * 1e-6 + bytes / expected_rate(c, a, p, bytes);
}

/* What was seen, where it differs from the table. */
static bool is_seen(const fab_nccl_case *c, fab_nccl_algorithm a, double bytes) {
    bool is_small = c->domains == 1 && c->ranks <= SMALL_DOMAIN && c->gpu->nvls_from_bytes > 0;
    bool takes_nvls =
        is_small && bytes >= c->gpu->nvls_from_bytes && fab_nccl_is_possible(c, FAB_NCCL_NVLS, FAB_NCCL_SIMPLE);
    return !is_small || (a == FAB_NCCL_NVLS) == takes_nvls;
}

bool fab_nccl_choose(const fab_nccl_case *c, fab_nccl_choice how, fab_nccl_algorithm only, double bytes,
                     fab_nccl_algorithm *out_algorithm, fab_nccl_protocol *out_protocol) {
    double least_s = INFINITY;
    bool is_any = only == FAB_NCCL_N_ALGORITHMS;
    if (is_any && how == FAB_NCCL_AS_NCCL && nccl_tuner_choose(c, bytes, out_algorithm, out_protocol)) {
        return true;
    }
    for (int a = 0; a < FAB_NCCL_N_ALGORITHMS; a++) {
        for (int p = 0; p < FAB_NCCL_N_PROTOCOLS; p++) {
            fab_nccl_algorithm algorithm = (fab_nccl_algorithm)a;
            fab_nccl_protocol protocol = (fab_nccl_protocol)p;
            fab_nccl_time t;
            if ((!is_any && algorithm != only) || !fab_nccl_is_possible(c, algorithm, protocol) ||
                (is_any && how == FAB_NCCL_AS_NCCL && !is_seen(c, algorithm, bytes))) {
                continue;
            }
            fab_nccl_time_of(c, algorithm, protocol, bytes, &t);
            double time_s = how == FAB_NCCL_BEST ? t.time_s : nccl_expected_s(c, algorithm, protocol, bytes);
            if (time_s < least_s) {
                least_s = time_s;
                *out_algorithm = algorithm;
                *out_protocol = protocol;
            }
        }
    }
    return least_s < (double)INFINITY;
}
