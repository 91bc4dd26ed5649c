/* The network's part of a collective: flows that leave their scale-up domain, of every algorithm, under every engine.
 */
#include "busbw_internal.h"

#include "fab/memory.h"
#include "fab/replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_OF_RANK 16777216.0 /* of the S that is replayed: large enough that whole bytes do not matter */

/* How the flows of an algorithm are asked for; trees of switches carry what trees of GPUs do between domains. */
typedef struct flows_of {
    fab_nccl_algorithm algorithm;
    fab_operation operation;
    const char *name;
} flows_of;

static const flows_of FLOWS[] = {
    {FAB_NCCL_RING, FAB_ALL_REDUCE, "ring"},          {FAB_NCCL_TREE, FAB_ALL_REDUCE, "tree"},
    {FAB_NCCL_COLLNET, FAB_ALL_REDUCE, "in-network"}, {FAB_NCCL_RING, FAB_ALL_GATHER, "ring"},
    {FAB_NCCL_PAT, FAB_ALL_GATHER, "doubling"},       {FAB_NCCL_RING, FAB_REDUCE_SCATTER, "ring"},
    {FAB_NCCL_PAT, FAB_REDUCE_SCATTER, "halving"},    {FAB_NCCL_RING, FAB_BROADCAST, "ring"},
    {FAB_NCCL_P2P, FAB_ALL_TO_ALL, "mesh"},
};

static fab_status make_flows(const fab_context_request *what, const flows_of *of, uint32_t ranks, fab_traffic *out,
                             fab_error *err) {
    char text[160];
    double bytes = BYTES_OF_RANK * (of->operation == FAB_ALL_TO_ALL ? 1 : ranks);
    (void)snprintf(text, sizeof text, "pattern:%s,algorithm=%s,bytes=%.0fB,gpus=0-%" PRIu32,
                   fab_operation_name(of->operation), of->name, bytes, ranks - 1);
    return fab_traffic_make(text, what->design, what->fabric, what->seed, out, err);
}

/* Drops the flows inside domains; those of an all-to-all are not listed, and stay. */
static void keep_leaving(const fab_fabric *f, fab_phase *p) {
    uint64_t n = 0;
    if (p->all.n > 0) {
        return;
    }
    p->total_bytes = 0;
    for (uint64_t i = 0; i < p->n_flows; i++) {
        if (fab_domain_of(f, p->src[i]) != fab_domain_of(f, p->dst[i])) {
            p->src[n] = p->src[i];
            p->dst[n] = p->dst[i];
            p->bytes[n] = p->bytes[i];
            p->comm[n] = p->comm[i];
            if (p->ordinal != NULL) {
                p->ordinal[n] = p->ordinal[i];
            }
            p->total_bytes += p->bytes[i];
            n++;
        }
    }
    p->n_flows = n;
    p->formula[0] = '\0';
    p->expected_bytes = 0;
}

/* Phases without flows go; what they hold goes with them. */
static void drop_empty(fab_traffic *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_phases; i++) {
        fab_phase *p = &t->phases[i];
        if (p->n_flows == 0) {
            FAB_FREE_ALL(p->src, p->dst, p->bytes, p->comm, p->ordinal);
        } else {
            t->phases[n++] = *p;
        }
    }
    t->n_phases = n;
}

static fab_status add_phase(const fab_phase *p, const fab_engine_result *e, double bytes, busbw_network *out,
                            fab_error *err) {
    fab_nccl_network *n = &out->network;
    FAB_REFUSE_IF(!e->has_time, err, FAB_EUNSUPPORTED, NULL, "the time of %s under %s is not known: too many flows",
                  p->name, e->label);
    n->s_per_byte += e->transfer_s.mean / bytes;
    out->least_s += e->transfer_s.min / bytes;
    out->most_s += e->transfer_s.max / bytes;
    n->path_s = fmax(n->path_s, e->paths.latency_s.max);
    n->steps += p->steps;
    n->further_messages = p->further_messages > n->further_messages ? p->further_messages : n->further_messages;
    if (strcmp(p->collective, "all-reduce") != 0) { /* whose pipelines are filled once, not slot by slot: as measured */
        n->message_part = fmax(n->message_part, p->message_bytes / bytes);
    }
    out->collision = fmax(out->collision, e->max_collision_factor.mean);
    out->hash = fmax(out->hash, e->max_hash_factor.mean);
    return FAB_OK;
}

/* Steps that hosts add to, up a tree of domains and down again. One in k steps of a ring leaves its domain, and what a
 * step of a ring takes was fitted as their mean: a hop between domains counts as k. */
static uint64_t tree_steps(uint32_t domains, uint32_t k) {
    uint64_t depth = 0;
    while ((UINT64_C(1) << depth) < domains) {
        depth++;
    }
    return 2 * depth * k;
}

/* The replay of an algorithm; too large for a stack. */
typedef struct flows_replay {
    fab_traffic traffic;
    fab_result result;
    fab_context *context;
} flows_replay;

static void flows_replay_free(flows_replay *w) {
    if (w != NULL) {
        fab_result_release(&w->result);
        fab_context_free(w->context);
        fab_traffic_release(&w->traffic);
        free(w);
    }
}
FAB_OWNER(flows_replay, flows_replay_free)

static fab_status take_network(const flows_replay *w, const flows_of *of, size_t engine, uint32_t ranks,
                               busbw_network *out, fab_error *err) {
    busbw_network network = {.collision = 0};
    for (size_t i = 0; i < w->result.n_phases; i++) {
        FAB_PASS(add_phase(&w->traffic.phases[i], &w->result.phases[i].engines[engine], BYTES_OF_RANK * ranks, &network,
                           err));
    }
    const uint32_t k = fab_context_what(w->context)->fabric->gpus_per_domain;
    if (of->algorithm == FAB_NCCL_COLLNET) { /* to the switches and back */
        network.network.steps = 2 * (uint64_t)k;
    }
    if (of->algorithm == FAB_NCCL_TREE) {
        network.network.steps = tree_steps(ranks / k, k);
        network.network.further_messages = 0; /* of other trees and directions: other channels, at the same time */
        out[FAB_NCCL_NVLS_TREE] = network;
        network.network.steps += 2 * (k - UINT64_C(1)); /* the chain of GPUs in a domain */
    }
    out[of->algorithm] = network;
    return FAB_OK;
}

static fab_status replay_flows(const fab_busbw_request *r, const flows_of *of, uint32_t ranks, busbw_network *out,
                               fab_busbw_engine *engines, fab_error *err) {
    const fab_context_request *what = fab_context_what(r->context);
    FAB_OWNS(flows_replay_free_owned) flows_replay *w = NULL;
    FAB_PASS(FAB_NEW(w, 1, err));
    w->result.n_seeds = r->n_seeds > 0 ? r->n_seeds : 1;
    FAB_PASS(make_flows(what, of, ranks, &w->traffic, err));
    for (size_t i = 0; i < w->traffic.n_phases; i++) {
        keep_leaving(what->fabric, &w->traffic.phases[i]);
    }
    drop_empty(&w->traffic);
    const fab_context_request request = {.base = r->context, .traffic = what->traffic, .given = &w->traffic};
    FAB_PASS(fab_context_new(&request, &w->context, err));
    const fab_replay replay = {
        .context = w->context, .n_seeds = w->result.n_seeds, .n_threads = r->n_threads, .rates = true};
    FAB_PASS(fab_replay_run(&replay, &w->result, err));
    for (size_t e = 0; e < what->n_engines; e++) {
        FAB_PASS(take_network(w, of, e, ranks, out + e * FAB_NCCL_N_ALGORITHMS, err));
        (void)snprintf(engines[e].label, sizeof engines[e].label, "%s", w->result.phases[0].engines[e].label);
    }
    return FAB_OK;
}

/* Algorithms that are not defined here are left out. */
static bool is_defined(const fab_fabric *f, const flows_of *of, uint32_t ranks) {
    bool is_power = (ranks & (ranks - 1)) == 0;
    return of->algorithm == FAB_NCCL_COLLNET ? f->reduces_in_switches && fab_is_tree(f)
           : of->algorithm == FAB_NCCL_PAT   ? f->gpus_per_domain == 1 && is_power
                                             : true;
}

fab_status busbw_replay(const fab_busbw_request *request, uint32_t ranks, busbw_network *out, fab_busbw_engine *engines,
                        fab_error *err) {
    const fab_context_request *what = fab_context_what(request->context);
    for (size_t i = 0; i < what->n_engines * FAB_NCCL_N_ALGORITHMS; i++) {
        out[i] = (busbw_network){.network = {.s_per_byte = NAN}};
    }
    for (size_t i = 0; i < sizeof FLOWS / sizeof FLOWS[0]; i++) {
        if (FLOWS[i].operation == request->operation && is_defined(what->fabric, &FLOWS[i], ranks)) {
            FAB_PASS(replay_flows(request, &FLOWS[i], ranks, out, engines, err));
        }
    }
    return FAB_OK;
}
