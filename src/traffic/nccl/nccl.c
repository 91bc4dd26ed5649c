/* What a collective takes with NCCL. Latencies, parts of protocols and buffers are those that NCCL publishes [NCCL,
 * src/graph/tuning.cc and src/include/nccl_common.h, 2.27]; what a GPU reaches is fitted (fab_gpu_library). */
#include "nccl_internal.h"

#define BUFFER_BYTES     4194304.0 /* NCCL_BUFFSIZE, of a channel */
#define RING_CHANNELS    24        /* of a ring inside a domain: two for each of 12 links */
#define MOST_CHANNELS    64
#define LL_PART          0.5 /* of its bytes are flags */
#define TREE_PART        0.92
#define TREE_SERVER_PART 0.85 /* where GPUs and NICs of a server are several */
#define TREE_LL_PART     (1 / 3.8)
#define TREE_LL128_PART  (120.0 / 128)
#define COLLNET_PART     0.85 /* of the scale-up rate; Hopper and later */
#define PAT_PART         0.75
#define LL128_CHUNK      0.25 /* of that of Simple: one of the slots of a buffer, where Simple takes four */

const char *const fab_nccl_algorithms[FAB_NCCL_N_ALGORITHMS + 1] = {"ring",      "tree", "collnet", "nvls",
                                                                    "nvls-tree", "pat",  "p2p",     NULL};
const char *const fab_nccl_protocols[FAB_NCCL_N_PROTOCOLS] = {"LL", "LL128", "Simple"};

fab_status fab_nccl_check_gpu(const fab_gpu_library *gpu, const char *where, fab_error *err) {
    return gpu != NULL && gpu->launch_s > 0
               ? FAB_OK
               : fab_fail(
                     err, FAB_EUNSUPPORTED, where,
                     "what collectives of NCCL reach on this GPU was not measured: its file has no element <nccl>; "
                     "those of a100-80gb, h100-80gb, h200-141gb, b200-180gb and gb200-186gb have (--job gpu=NAME)");
}

/* --- what is possible --------------------------------------------------------------------------------------------- */

static bool has_network(const fab_nccl_case *c, fab_nccl_algorithm a) {
    return c->domains == 1 || c->network[a].s_per_byte > 0; /* false of NAN */
}

static bool is_algorithm_possible(const fab_nccl_case *c, fab_nccl_algorithm a) {
    const fab_gpu_library *gpu = c->gpu;
    const uint32_t k = nccl_domain_size(c);
    const bool reduces = c->operation == FAB_ALL_REDUCE;
    const bool in_domain = reduces && gpu->nvls_ratio > 0 && k >= gpu->nvls_ranks;
    switch (a) {
    case FAB_NCCL_RING: return c->operation != FAB_ALL_TO_ALL;
    case FAB_NCCL_TREE:
    case FAB_NCCL_COLLNET: return reduces && c->domains > 1;
    case FAB_NCCL_NVLS: return in_domain && c->domains == 1;
    case FAB_NCCL_NVLS_TREE: return in_domain && c->domains > 1;
    case FAB_NCCL_PAT: return k == 1 && (c->operation == FAB_ALL_GATHER || c->operation == FAB_REDUCE_SCATTER);
    case FAB_NCCL_P2P: return c->operation == FAB_ALL_TO_ALL;
    default: return false;
    }
}

bool fab_nccl_is_possible(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p) {
    bool has_all = a == FAB_NCCL_RING || a == FAB_NCCL_TREE;
    return is_algorithm_possible(c, a) && has_network(c, a) && (p == FAB_NCCL_SIMPLE || has_all) &&
           (p != FAB_NCCL_LL128 || (c->gpu->ll128_ratio > 0 && (c->domains > 1 || c->gpu->nvls_from_bytes == 0)));
}

uint32_t fab_nccl_channels(const fab_nccl_case *c, fab_nccl_algorithm a) {
    uint32_t k = nccl_domain_size(c);
    bool is_ring = a == FAB_NCCL_RING || a == FAB_NCCL_TREE || a == FAB_NCCL_PAT || a == FAB_NCCL_P2P;
    uint32_t n = !is_ring ? k : c->domains == 1 ? RING_CHANNELS : k < MOST_CHANNELS / 2 ? 2 * k : MOST_CHANNELS;
    return n;
}

/* --- latency ------------------------------------------------------------------------------------------------------ */

typedef double protocols[FAB_NCCL_N_PROTOCOLS];

/* In microseconds, as NCCL has them: of a call, of a step inside a domain, of a step over the network. */
static const protocols BASE[FAB_NCCL_N_ALGORITHMS] = {[FAB_NCCL_RING] = {6.6, 14.0, 8.4},
                                                      [FAB_NCCL_TREE] = {6.8, 14.0, 8.4},
                                                      [FAB_NCCL_PAT] = {8.0, 8.0, 8.0},
                                                      [FAB_NCCL_P2P] = {8.4, 8.4, 8.4}};
static const protocols INSIDE[FAB_NCCL_N_ALGORITHMS] = {
    [FAB_NCCL_RING] = {0.6, 1.9, 3.4}, [FAB_NCCL_TREE] = {0.6, 1.25, 4.0}, [FAB_NCCL_COLLNET] = {0, 0, 3.7},
    [FAB_NCCL_NVLS] = {0, 0, 25},      [FAB_NCCL_NVLS_TREE] = {0, 0, 25},  [FAB_NCCL_PAT] = {0, 0, 4.0},
    [FAB_NCCL_P2P] = {0, 0, 3.4}};
static const protocols ACROSS[FAB_NCCL_N_ALGORITHMS] = {
    [FAB_NCCL_RING] = {2.7, 4.0, 14.0}, [FAB_NCCL_TREE] = {5.0, 8.5, 14.0},  [FAB_NCCL_COLLNET] = {0, 0, 31},
    [FAB_NCCL_NVLS] = {0, 0, 18},       [FAB_NCCL_NVLS_TREE] = {0, 0, 20.9}, [FAB_NCCL_PAT] = {0, 0, 14.0},
    [FAB_NCCL_P2P] = {0, 0, 14.0}};
static const protocols POSTING = {1.0, 1.0, 3.0}; /* least of a step of a ring that leaves domains somewhere */

#define HEAD_US        0.4 /* CollNet inside a domain: of each further GPU */
#define PAT_OVERLAP    3.5
#define PAT_OF_RANK_US 2.8

uint64_t nccl_ring_steps(const fab_nccl_case *c) {
    return (c->operation == FAB_ALL_REDUCE ? 2 : 1) * (uint64_t)(c->ranks - 1);
}

static double ring_latency_us(const fab_nccl_case *c, fab_nccl_protocol p, double across_us) {
    double steps = (double)nccl_ring_steps(c);
    double outside = (c->operation == FAB_ALL_REDUCE ? 2.0 : 1.0) * (c->domains - 1.0);
    double inside_us = INSIDE[FAB_NCCL_RING][p];
    inside_us = c->domains > 1 ? fmax(inside_us, POSTING[p]) : inside_us;
    return (steps - outside) * inside_us + outside * across_us;
}

double nccl_latency_us(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p) {
    const double k = nccl_domain_size(c);
    const double depth = floor(log2(c->domains));
    const double inside_us = INSIDE[a][p];
    /* A path that is longer than a whole step as published: what the library measured was in a hall. */
    const double across_us = c->domains > 1 ? fmax(ACROSS[a][p], c->network[a].path_s * 1e6) : 0;
    switch (a) {
    case FAB_NCCL_RING: return BASE[a][p] + ring_latency_us(c, p, across_us);
    case FAB_NCCL_TREE: return BASE[a][p] + 2 * ((k - 1) * inside_us + depth * across_us);
    case FAB_NCCL_COLLNET:
        return c->gpu->nvls_ratio > 0
                   ? INSIDE[FAB_NCCL_NVLS][p] + fmax(ACROSS[FAB_NCCL_NVLS][p], c->network[a].path_s * 1e6)
                   : 2 * (fmin(k - 1, 1) * inside_us + (k - 1) * HEAD_US) + across_us;
    case FAB_NCCL_NVLS: return inside_us;
    case FAB_NCCL_NVLS_TREE: return inside_us + 2 * depth * across_us;
    case FAB_NCCL_PAT: return BASE[a][p] + depth * across_us / PAT_OVERLAP + c->ranks * PAT_OF_RANK_US;
    default: return BASE[a][p] + (c->domains > 1 ? across_us : inside_us);
    }
}

/* Steps where the software of hosts counts: as a phase has them, fab_phase_host_s() and the path of each, for S bytes.
 */
static double host_s_of(const fab_nccl_case *c, fab_nccl_algorithm a, double bytes) {
    const fab_nccl_network *n = &c->network[a];
    fab_fabric fabric = {.host = c->host};
    fab_phase phase = {.n_flows = 1,
                       .executions = 1,
                       .steps = n->steps,
                       .further_messages = n->further_messages,
                       .message_bytes = n->message_part * bytes};
    fabric.host.call_s = 0; /* launch_s of the GPU */
    bool counts = c->domains > 1 && c->host.step_s > 0;
    return counts ? fab_phase_host_s(&fabric, &phase) + (double)n->steps * (n->path_s + c->host.nic_s) : 0;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

typedef struct rates {
    double inside, across; /* bytes of S per second */
    double protocol;       /* part of them that it gets */
    double most;           /* that the protocol carries, whatever is below it */
    double stages;         /* of the pipeline that are filled one after the other; 0: filled at once */
} rates;

/* Rings have buffers to fill where they leave domains, and inside them where the GPU has no switches that reduce: as
 * measured. All-gather and reduce-scatter show none. */
static double ring_stages(const fab_nccl_case *c, fab_nccl_protocol p) {
    bool fills = c->operation == FAB_ALL_REDUCE && p != FAB_NCCL_LL;
    return fills && (c->domains > 1 || c->gpu->nvls_ratio <= 0) ? 1 : 0;
}

static rates rates_of(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p) {
    const fab_gpu_library *gpu = c->gpu;
    const double k = nccl_domain_size(c);
    const double factor = fab_bus_factor(c->operation, c->ranks);
    const double link = k > 1 ? c->scale_up_bps / 8 : INFINITY;
    const double across = c->domains > 1 ? 1 / c->network[a].s_per_byte : INFINITY;
    rates r = {.inside = gpu->ring_ratio * link / factor, .across = across, .protocol = 1, .most = INFINITY};
    switch (a) {
    case FAB_NCCL_RING:
        r.protocol = p == FAB_NCCL_LL ? LL_PART : p == FAB_NCCL_LL128 ? gpu->ll128_ratio : 1;
        r.most = p == FAB_NCCL_LL ? gpu->ll_bps / 8 / factor : INFINITY;
        r.stages = ring_stages(c, p);
        break;
    case FAB_NCCL_TREE: /* inside, every GPU passes all of S up and down */
        r.inside = TREE_PART * gpu->ring_ratio * link / 2;
        r.across = TREE_PART * (k > 1 ? TREE_SERVER_PART : 1) * across;
        r.protocol = p == FAB_NCCL_LL ? TREE_LL_PART : p == FAB_NCCL_LL128 ? TREE_LL128_PART : 1;
        break;
    case FAB_NCCL_COLLNET:
        r.inside = (gpu->nvls_ratio > 0 ? COLLNET_PART : gpu->ring_ratio) * link / factor;
        r.stages = 2;
        break;
    case FAB_NCCL_NVLS:
        r.inside = gpu->nvls_ratio * link / factor;
        r.stages = 1;
        break;
    case FAB_NCCL_NVLS_TREE:
        r.inside = gpu->nvls_ratio * link / factor;
        r.stages = 1 + log2(c->domains);
        break;
    case FAB_NCCL_PAT: r.across = PAT_PART * across; break;
    default: r.inside = gpu->ring_ratio * link * c->ranks / (k - 1);
    }
    return r;
}

void fab_nccl_time_of(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p, double bytes,
                      fab_nccl_time *out) {
    const rates r = rates_of(c, a, p);
    const double below = fmin(r.inside, r.across);
    const double rate = fmin(below * r.protocol, r.most);
    const double buffers = fab_nccl_channels(c, a) * BUFFER_BYTES * (p == FAB_NCCL_LL128 ? LL128_CHUNK : 1);
    fab_nccl_time t = {
        .latency_s = c->gpu->launch_s + fmax(nccl_latency_us(c, a, p) * 1e-6, host_s_of(c, a, bytes)),
        .fill_s = r.stages * c->gpu->fill_ratio * fmin(bytes, buffers) / rate,
        .transfer_s = bytes / rate,
    };
    t.time_s = t.latency_s + t.fill_s + t.transfer_s;
    t.bound = t.latency_s > t.fill_s + t.transfer_s ? FAB_NCCL_BY_LATENCY
              : r.most < below * r.protocol         ? FAB_NCCL_BY_PROTOCOL
              : r.across < r.inside                 ? FAB_NCCL_BY_NETWORK
                                                    : FAB_NCCL_BY_SCALE_UP;
    *out = t;
}
