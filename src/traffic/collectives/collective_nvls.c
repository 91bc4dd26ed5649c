/*
 * All-reduces by the switches of scale-up domains, which add up what they read and send what they are given to all
 * [NCCL: NVLS, NVLSTree]. Of k members in each of M domains, place j reduces the j-th part of S:
 *
 *     nvls         one domain: the switch reads the part from all (S leaves every GPU), hands the sum to its place
 * (S/k), takes it back (S/k) and sends all parts to all (S): S + S/k up and down at every GPU nvls-tree    the same,
 * and between the two a double binary tree over the domains for every place, S/k; chunk by chunk, so that domains and
 * network carry their bytes at the same time: one phase
 *
 * What passes a switch has no flow between GPUs: it is stood for by a cycle through the members of the domain, which
 * has these bytes at every GPU.
 */
#include "collectives.h"

#define SWITCH_STEPS 2 /* to the switch and back to its place; from there to all */

static uint32_t nvls_k(const fab_collective *c) {
    return c->layout->domain.k;
}

static uint32_t nvls_m(const fab_collective *c) {
    return c->layout->domain.n_groups;
}

static fab_status check_switches(const fab_collective *c, fab_error *err) {
    const char *name = c->algorithm->name;
    FAB_REFUSE_IF(c->layout->library == NULL || c->layout->library->nvls_ratio <= 0, err, FAB_EUNSUPPORTED, NULL,
                  "%s needs scale-up switches that reduce, and those of these GPUs are not known to; choose "
                  "algorithm=ring, or the GPU of the job",
                  name);
    FAB_REFUSE_IF(nvls_k(c) < 2, err, FAB_EINPUT, NULL,
                  "%s needs several members in each scale-up domain, equally many of them; choose algorithm=ring",
                  name);
    return FAB_OK;
}

static fab_status check_nvls(const fab_collective *c, fab_error *err) {
    FAB_PASS(check_switches(c, err));
    return nvls_m(c) == 1 ? FAB_OK
                          : fab_fail(err, FAB_EINPUT, NULL,
                                     "nvls needs all members in one scale-up domain, not in %" PRIu32
                                     "; choose algorithm=nvls-tree",
                                     nvls_m(c));
}

static fab_status check_nvls_tree(const fab_collective *c, fab_error *err) {
    FAB_PASS(check_switches(c, err));
    return nvls_m(c) > 1 ? FAB_OK
                         : fab_fail(err, FAB_EINPUT, NULL,
                                    "nvls-tree needs members in several scale-up domains, and all %" PRIu32
                                    " are in one; choose algorithm=nvls",
                                    c->r);
}

static uint32_t place(const fab_collective *c, uint32_t g, uint32_t j) {
    return c->layout->domain.ranks[(size_t)g * nvls_k(c) + j];
}

static void describe_nvls(const fab_collective *c, FAB_UNUSED uint32_t part, fab_part *out) {
    const uint32_t m = nvls_m(c);
    out->steps = SWITCH_STEPS + (m > 1 ? 2 * (uint64_t)fab_log2_up(m) : 0);
    out->copies = (double)m * (nvls_k(c) + 1.0) + 2 * (m - 1.0);
    FAB_FORMAT(out->text, "S + S/k through the switch of its domain, k=%" PRIu32 "%s", nvls_k(c),
               m > 1 ? ", S/2k up and down two trees of domains, pipelined" : "");
}

static void emit_nvls(const fab_collective *c, fab_sink *sink) {
    const uint32_t k = nvls_k(c);
    const uint32_t m = nvls_m(c);
    fab_edge edge = {.n = 1, .n_shards = 1, .bytes = c->bytes + c->bytes / k};
    for (uint32_t g = 0; g < m; g++) {
        for (uint32_t j = 0; j < k; j++) {
            edge.from = place(c, g, j);
            edge.to = place(c, g, (j + 1) % k);
            sink->edge(sink, &edge);
        }
    }
    edge.bytes = c->bytes / k / 2;
    for (uint32_t i = 0; i < 2 * (m - 1); i++) {
        fab_tree_edge above;
        fab_double_tree_edge(i % 2, 1 + i / 2, m, &above);
        for (uint32_t j = 0; j < k; j++) {
            edge.from = place(c, above.child, j);
            edge.to = place(c, above.parent, j);
            sink->edge(sink, &edge);
            edge.to = edge.from;
            edge.from = place(c, above.parent, j);
            sink->edge(sink, &edge);
        }
    }
}

const struct fab_algorithm_rules fab_rules_nvls = {
    .check = check_nvls, .part = describe_nvls, .emit = emit_nvls, .merges = true};
const struct fab_algorithm_rules fab_rules_nvls_tree = {
    .check = check_nvls_tree, .part = describe_nvls, .emit = emit_nvls, .merges = true};
