/* One set of failures under all policies: where ranks go, and what the phases then ask of the network. */
#include "fab/design.h"
#include "fab/failures_run.h"

#include "fab/assess.h"
#include "fab/floor_plan.h"
#include "fab/job_sharing.h"
#include "fab/memory.h"
#include "fab/reroute_moved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PATHS (UINT64_C(1) << 23) /* of all phases that are looked at together */
#define COLLIDED   (1 + 1e-9)

typedef struct kept_phase {
    fab_baseline *baseline;
    fab_reroute *reroute;
} kept_phase;

typedef struct run {
    const fab_failures_request *request;
    const fab_fabric *f;
    fab_failures *out;
    fab_floor *floor;
    fab_racks racks;
    fab_mask mask;
    fab_component *components; /* shape [n_failed] */
    fab_next_hops *next_hops;
    fab_traffic traffic;
    uint8_t *taken;
    fab_policy policies[FAB_POLICY_N];
    size_t n_policies;
    size_t *phase; /* shape [n_phases]: in the traffic, of those that are looked at */
    fab_offer *offers;
    size_t n_offers;
    double *capacity; /* shape [n_links]: bit/s of network links, 0 of others */

    /* Of an engine. */
    fab_router *router;
    kept_phase *kept;          /* shape [n_phases] */
    const fab_baseline **seen; /* the same baselines, as a relocator borrows them */
    fab_relocator *relocator;
} run;

/* --- what has failed ---------------------------------------------------------------------------------------------- */

static fab_status read_failed(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_failures_request *q = x->request;
    FAB_TRY(FAB_NEW(x->components, q->n_failed, err));
    FAB_TRY(FAB_NEW(x->out->failed, q->n_failed, err));
    for (size_t i = 0; i < q->n_failed; i++) {
        fab_error inner = {0};
        status = fab_component_parse(x->f, &x->racks, q->failed[i], &x->components[i], &inner);
        if (status != FAB_OK) {
            FAB_FAIL(err, status, "--fail", "%s", inner.text);
        }
        (void)fab_component_name(x->f, &x->components[i], x->out->failed[i]);
    }
    x->out->n_failed = q->n_failed;
    FAB_TRY(fab_mask_init(x->f, &x->racks, &x->mask, err));
    FAB_TRY(fab_mask_set(&x->mask, x->components, q->n_failed, err));
done:
    return status;
}

/* Exports of the graph show it. */
static fab_status fill_overlay(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    fab_failures *out = x->out;
    const size_t n_words = ((size_t)x->f->n_nodes + 63) / 64;
    FAB_TRY(FAB_NEW(out->left, x->f->n_links, err));
    FAB_TRY(FAB_NEW(out->dead_node, n_words, err));
    memcpy(out->left, x->mask.left, x->f->n_links * sizeof *out->left);
    memcpy(out->dead_node, x->mask.dead_node, n_words * sizeof *out->dead_node);
    out->overlay = (fab_overlay){.left = out->left, .dead_node = out->dead_node};
done:
    return status;
}

/* Each once, in the order given; else all that there can be. */
static fab_status choose_policies(run *x, fab_error *err) {
    const fab_failures_request *q = x->request;
    bool is_chosen[FAB_POLICY_N] = {false};
    for (size_t i = 0; i < q->n_policies; i++) {
        if (q->policies[i] == FAB_POLICY_SAME_RACK && x->floor == NULL) {
            return fab_fail(err, FAB_EUNSUPPORTED, "--policy", "%s: racks are not known without a floor plan",
                            fab_policies[q->policies[i]]);
        }
        if (!is_chosen[q->policies[i]]) {
            x->policies[x->n_policies++] = q->policies[i];
            is_chosen[q->policies[i]] = true;
        }
    }
    for (int i = 0; i < FAB_POLICY_N && q->n_policies == 0; i++) {
        if (i != FAB_POLICY_SAME_RACK || x->floor != NULL) {
            x->policies[x->n_policies++] = (fab_policy)i;
        }
    }
    return FAB_OK;
}

/* Phases that are small enough to be kept under the engine that has most paths. */
static fab_status choose_phases(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_replay *base = x->request->base;
    fab_failures *out = x->out;
    const size_t n = x->traffic.n_phases;
    uint64_t per_flow = 1;
    uint64_t n_paths = 0;
    for (size_t e = 0; e < base->n_engines; e++) {
        FAB_TRY(fab_router_new(&base->engines[e], x->f, x->next_hops, &x->router, err));
        per_flow = fab_paths_per_flow(x->router) > per_flow ? fab_paths_per_flow(x->router) : per_flow;
        fab_router_free(x->router);
        x->router = NULL;
    }
    FAB_TRY(FAB_NEW(x->phase, n, err));
    FAB_TRY(FAB_NEW(out->phases, n, err));
    FAB_TRY(FAB_NEW(out->left_out, n, err));
    for (size_t p = 0; p < n; p++) {
        const fab_phase *phase = &x->traffic.phases[p];
        bool fits = phase->n_flows <= MOST_PATHS && n_paths + phase->n_flows * per_flow <= MOST_PATHS;
        char *name = fits ? out->phases[out->n_phases] : out->left_out[out->n_left_out];
        (void)snprintf(name, sizeof out->phases[0], "%s", phase->name);
        if (fits) {
            n_paths += phase->n_flows * per_flow;
            x->phase[out->n_phases++] = p;
        } else {
            out->n_left_out++;
        }
    }
done:
    return status;
}

static fab_status make_offers(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    fab_ports ports = {0};
    FAB_TRY(fab_ports_init(x->f, &ports, err));
    FAB_TRY(FAB_NEW(x->offers, x->out->n_phases, err));
    FAB_TRY(FAB_NEW(x->capacity, x->f->n_links, err));
    for (; x->n_offers < x->out->n_phases; x->n_offers++) {
        FAB_TRY(fab_offer_init(x->f, &ports, &x->traffic.phases[x->phase[x->n_offers]], &x->offers[x->n_offers], err));
        x->offers[x->n_offers].ports = NULL; /* those of the router, below */
    }
    for (fab_link_id link = 0; link < x->f->n_links; link++) {
        const fab_link_class *about = fab_class_of(x->f, link);
        bool counts = about->kind == FAB_LINK_ACCESS || about->kind == FAB_LINK_FABRIC;
        x->capacity[link] = counts ? about->capacity_bps : 0;
    }
done:
    fab_ports_release(&ports);
    return status;
}

static fab_status prepare(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_replay *base = x->request->base;
    if (base->design->fabric.floor.given) {
        FAB_TRY(fab_floor_make(&base->design->fabric, x->f, &x->floor, err));
        x->racks = (fab_racks){x->floor->n_server_racks + x->floor->n_network_racks, x->floor->servers_per_rack,
                               x->floor->switch_rack};
    }
    FAB_TRY(read_failed(x, err));
    FAB_TRY(fill_overlay(x, err));
    FAB_TRY(choose_policies(x, err));
    FAB_TRY(fab_next_hops_new(x->f, NULL, &x->next_hops, err));
    FAB_TRY(fab_traffic_make(base->traffic, base->design, x->f, base->seed, &x->traffic, err));
    FAB_TRY(FAB_NEW(x->taken, x->f->n_servers, err));
    if (x->traffic.rank_of_gpu != NULL) {
        FAB_TRY(fab_jobs_taken(base->design, x->f, x->taken, err));
    }
    FAB_TRY(choose_phases(x, err));
    FAB_TRY(make_offers(x, err));
    FAB_TRY(FAB_NEW(x->kept, x->out->n_phases, err));
    FAB_TRY(fab_allocate(x->out->n_phases, sizeof(const fab_baseline *), &x->seen, err));
    FAB_TRY(FAB_NEW(x->out->engines, base->n_engines, err));
    x->out->n_engines = base->n_engines;
    x->out->n_policies = x->n_policies;
    x->out->seed = base->seed;
done:
    return status;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

/* `left`: NULL: all is whole. */
static void count_links(const run *x, const double *load, const double *left, fab_failed_phase *out) {
    fab_link_id worst = FAB_NONE;
    for (fab_link_id link = 0; link < x->f->n_links; link++) {
        double rest = left != NULL ? left[link] * x->capacity[link] : x->capacity[link];
        double ratio = rest > 0 ? load[link] / rest : 0;
        out->n_collisions += ratio > COLLIDED;
        if (ratio > out->worst_ratio) {
            out->worst_ratio = ratio;
            worst = link;
        }
    }
    if (worst != FAB_NONE) {
        (void)fab_link_name(x->f, worst, out->worst_link);
    }
}

static void add_phase(const fab_failed_phase *phase, fab_failed_phase *sum) {
    sum->n_disconnected += phase->n_disconnected;
    sum->n_collisions += phase->n_collisions;
    if (phase->worst_ratio > sum->worst_ratio) {
        sum->worst_ratio = phase->worst_ratio;
        memcpy(sum->worst_link, phase->worst_link, sizeof sum->worst_link);
    }
}

/* With what has failed, ranks where `found` says. */
static fab_status find_state(run *x, const fab_relocation *found, fab_failed_state *out, fab_error *err) {
    fab_status status = FAB_OK;
    out->time_s = NAN;
    FAB_TRY(FAB_NEW(out->phases, x->out->n_phases, err));
    for (size_t p = 0; p < x->out->n_phases; p++) {
        fab_rerouted r;
        FAB_TRY(fab_reroute_apply_moved(x->kept[p].reroute, &x->mask, found->moved, found->n_moved, found->new_gpu, &r,
                                        err));
        out->phases[p].n_disconnected = r.n_disconnected;
        count_links(x, r.load, x->mask.left, &out->phases[p]);
        add_phase(&out->phases[p], &out->sum);
    }
done:
    return status;
}

static fab_status find_whole(run *x, fab_failed_state *out, fab_error *err) {
    fab_status status = FAB_OK;
    out->time_s = NAN;
    FAB_TRY(FAB_NEW(out->phases, x->out->n_phases, err));
    for (size_t p = 0; p < x->out->n_phases; p++) {
        count_links(x, fab_baseline_load(x->kept[p].baseline), NULL, &out->phases[p]);
        add_phase(&out->phases[p], &out->sum);
    }
done:
    return status;
}

/* --- who is lost -------------------------------------------------------------------------------------------------- */

static int ascending(const void *x, const void *y) {
    uint32_t a = *(const uint32_t *)x;
    uint32_t b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* "24-31", "0,8,16,...". */
static void write_ranks(const uint32_t *ranks, size_t n, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n;) {
        char piece[32];
        size_t length = 1;
        while (i + length < n && ranks[i + length] == ranks[i] + length) {
            length++;
        }
        int size_of = length > 1
                          ? snprintf(piece, sizeof piece, "%s%u-%u", i > 0 ? "," : "", ranks[i], ranks[i + length - 1])
                          : snprintf(piece, sizeof piece, "%s%u", i > 0 ? "," : "", ranks[i]);
        if (used + (size_t)size_of + 5 > size) {
            (void)snprintf(out + used, size - used, ",...");
            return;
        }
        memcpy(out + used, piece, (size_t)size_of + 1);
        used += (size_t)size_of;
        i += length;
    }
}

static fab_status name_ranks(const run *x, uint32_t server, fab_lost_server *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *ranks = NULL;
    size_t n = 0;
    FAB_TRY(FAB_NEW(ranks, x->f->gpus_per_server, err));
    for (uint32_t k = 0; k < x->f->gpus_per_server; k++) {
        uint32_t gpu = server * x->f->gpus_per_server + k;
        uint32_t rank = gpu >= fab_n_gpus(x->f)          ? FAB_NONE
                        : x->traffic.rank_of_gpu != NULL ? x->traffic.rank_of_gpu[gpu]
                                                         : gpu;
        if (rank != FAB_NONE) {
            ranks[n++] = rank;
        }
    }
    qsort(ranks, n, sizeof *ranks, ascending);
    out->server = server;
    (void)fab_server_name(x->f, server, out->name);
    out->n_ranks = n;
    write_ranks(ranks, n, out->ranks, sizeof out->ranks);
done:
    free(ranks);
    return status;
}

static fab_status list_lost(run *x, fab_error *err) {
    fab_status status = FAB_OK;
    fab_relocation found;
    FAB_TRY(fab_relocate(x->relocator, &x->mask, FAB_POLICY_NONE, &found, err));
    FAB_TRY(FAB_NEW(x->out->lost, found.n_lost, err));
    for (size_t i = 0; i < found.n_lost; i++) {
        FAB_TRY(name_ranks(x, found.lost[i], &x->out->lost[i], err));
    }
    x->out->n_lost = found.n_lost;
    x->out->n_spares = found.n_spares;
done:
    return status;
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static bool is_lost(const fab_relocation *found, uint32_t server) {
    bool lost = false;
    for (size_t i = 0; i < found->n_lost; i++) {
        lost = lost || found->lost[i] == server;
    }
    return lost;
}

static fab_status copy_moves(const fab_relocation *found, fab_failed_policy *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(out->moves, found->n_moves, err));
    FAB_TRY(FAB_NEW(out->unplaced, found->n_unplaced, err));
    for (; out->n_moves < found->n_moves; out->n_moves++) {
        const fab_move *move = &found->moves[out->n_moves];
        out->moves[out->n_moves] = (fab_rank_move){move->from, move->to, !is_lost(found, move->from)};
    }
    for (; out->n_unplaced < found->n_unplaced; out->n_unplaced++) {
        out->unplaced[out->n_unplaced] = found->unplaced[out->n_unplaced];
    }
done:
    return status;
}

static fab_status find_policy(run *x, fab_policy policy, fab_failed_policy *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_relocation found;
    (void)snprintf(out->policy, sizeof out->policy, "%s", fab_policies[policy]);
    FAB_TRY(fab_relocate(x->relocator, &x->mask, policy, &found, err));
    out->is_possible = found.is_possible;
    out->n_tried = found.n_tried;
    out->is_optimal = found.is_optimal;
    FAB_TRY(copy_moves(&found, out, err));
    FAB_TRY(find_state(x, &found, &out->state, err));
done:
    return status;
}

static const fab_failed_policy *policy_of(const run *x, const fab_failed_engine *engine, fab_policy policy) {
    for (size_t i = 0; i < x->n_policies; i++) {
        if (x->policies[i] == policy) {
            return &engine->policies[i];
        }
    }
    return NULL;
}

static void find_saving(const run *x, fab_failed_engine *out) {
    const fab_failed_policy *first = policy_of(x, out, FAB_POLICY_FIRST_SPARE);
    const fab_failed_policy *aware = policy_of(x, out, FAB_POLICY_COLLISION_AWARE);
    if (first == NULL || aware == NULL || !first->is_possible || !aware->is_possible || x->out->n_lost == 0) {
        return;
    }
    const fab_failed_phase *a = &first->state.sum;
    const fab_failed_phase *b = &aware->state.sum;
    out->has_saving = a->n_disconnected >= b->n_disconnected;
    out->saved_collisions = a->n_collisions > b->n_collisions ? a->n_collisions - b->n_collisions : 0;
    out->first_ratio = a->worst_ratio;
    out->aware_ratio = b->worst_ratio;
}

/* --- an engine ---------------------------------------------------------------------------------------------------- */

static void close_engine(run *x) {
    fab_relocator_free(x->relocator);
    x->relocator = NULL;
    for (size_t p = 0; p < x->out->n_phases; p++) {
        fab_reroute_free(x->kept[p].reroute);
        fab_baseline_free(x->kept[p].baseline);
        x->kept[p].reroute = NULL;
        x->kept[p].baseline = NULL;
    }
    fab_router_free(x->router);
    x->router = NULL;
}

static fab_status open_engine(run *x, size_t engine, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_replay *base = x->request->base;
    FAB_TRY(fab_router_new(&base->engines[engine], x->f, x->next_hops, &x->router, err));
    for (size_t p = 0; p < x->out->n_phases; p++) {
        x->offers[p].ports = fab_router_ports(x->router);
        const fab_baseline_request request = {.router = x->router,
                                              .phase = &x->traffic.phases[x->phase[p]],
                                              .offer = &x->offers[p],
                                              .seed = fab_router_seed(x->router, base->seed)};
        FAB_TRY(fab_baseline_new(&request, &x->kept[p].baseline, err));
        FAB_TRY(fab_reroute_new(x->kept[p].baseline, &x->kept[p].reroute, err));
        x->seen[p] = x->kept[p].baseline;
    }
    const fab_relocator_request request = {.fabric = x->f,
                                           .racks = x->floor != NULL ? &x->racks : NULL,
                                           .traffic = &x->traffic,
                                           .taken = x->taken,
                                           .phases = x->seen,
                                           .n_phases = x->out->n_phases};
    FAB_TRY(fab_relocator_new(&request, &x->relocator, err));
done:
    return status;
}

/* Times of the phases and the iteration: the whole job is simulated, so that this takes longest. What has no time, as a
 * job that has stopped, or a phase too large to be kept, is NAN. */
static fab_status find_times(run *x, size_t engine, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_replay *base = x->request->base;
    fab_failed_engine *out = &x->out->engines[engine];
    fab_outcome outcomes[FAB_POLICY_N];
    fab_error inner = {0};
    fab_damage *damage = NULL;
    fab_assessor *assessor = NULL;
    fab_scenario failed = {.n_components = x->out->n_failed, .component = x->components};
    const fab_damage_request request = {.design = base->design,
                                        .fabric = x->f,
                                        .racks = x->floor != NULL ? &x->racks : NULL,
                                        .traffic = base->traffic,
                                        .engines = &base->engines[engine],
                                        .n_engines = 1,
                                        .policies = x->policies,
                                        .n_policies = x->n_policies,
                                        .seed = base->seed,
                                        .times = true,
                                        .rates = fab_failure_rates_default()};
    status = fab_damage_new(&request, &damage, &inner);
    if (status == FAB_OK) {
        status = fab_assessor_new(damage, &assessor, &inner);
    }
    if (status == FAB_OK) {
        status = fab_assess(assessor, 0, &failed, 0, outcomes, &inner);
    }
    if (status == FAB_EUNSUPPORTED) {
        status = FAB_OK; /* without times */
        goto done;
    }
    if (status != FAB_OK) {
        FAB_FAIL(err, status, inner.where, "%s", inner.text);
    }
    x->out->iterates = fab_damage_iterates(damage);
    out->whole.time_s = fab_damage_whole(damage, 0).time_s;
    for (size_t i = 0; i < x->n_policies; i++) {
        out->policies[i].state.time_s = outcomes[i].time_s;
    }
done:
    fab_assessor_free(assessor);
    fab_damage_free(damage);
    return status;
}

static fab_status find_engine(run *x, size_t engine, fab_error *err) {
    fab_status status = FAB_OK;
    fab_failed_engine *out = &x->out->engines[engine];
    fab_error inner = {0};
    FAB_TRY(open_engine(x, engine, err));
    (void)snprintf(out->label, sizeof out->label, "%s", fab_router_label(x->router));
    if (engine == 0) {
        FAB_TRY(list_lost(x, err));
    }
    FAB_TRY(find_whole(x, &out->whole, err));
    FAB_TRY(FAB_NEW(out->policies, x->n_policies, err));
    for (size_t i = 0; i < x->n_policies && status == FAB_OK; i++) {
        status = find_policy(x, x->policies[i], &out->policies[i], &inner);
    }
    if (status == FAB_EUNSUPPORTED) {
        (void)snprintf(out->note, sizeof out->note, "%s", inner.text);
        status = FAB_OK;
    } else if (status != FAB_OK) {
        FAB_FAIL(err, status, inner.where, "%s", inner.text);
    } else {
        find_saving(x, out);
    }
    close_engine(x);
    if (out->note[0] == '\0' && x->out->n_left_out == 0) {
        FAB_TRY(find_times(x, engine, err));
    }
done:
    close_engine(x);
    return status;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static void release(run *x) {
    fab_router_free(x->router);
    for (size_t p = 0; p < x->n_offers; p++) {
        fab_offer_release(&x->offers[p]);
    }
    if (x->mask.fabric != NULL) {
        fab_mask_release(&x->mask);
    }
    fab_traffic_release(&x->traffic);
    fab_next_hops_free(x->next_hops);
    fab_floor_free(x->floor);
    free(x->components);
    free(x->kept);
    free(x->seen);
    free(x->taken);
    free(x->phase);
    free(x->offers);
    free(x->capacity);
    fab_failures_free(x->out);
}

fab_status fab_failures_run(const fab_failures_request *request, fab_failures **out, fab_error *err) {
    fab_status status = FAB_OK;
    run x = {.request = request, .f = request->base->fabric};
    FAB_TRY(FAB_NEW(x.out, 1, err));
    FAB_TRY(prepare(&x, err));
    for (size_t e = 0; e < x.out->n_engines; e++) {
        FAB_TRY(find_engine(&x, e, err));
    }
    *out = x.out;
    x.out = NULL;
done:
    release(&x);
    return status;
}

void fab_failures_free(fab_failures *x) {
    if (x == NULL) {
        return;
    }
    for (size_t e = 0; e < x->n_engines; e++) {
        fab_failed_engine *engine = &x->engines[e];
        for (size_t i = 0; i < x->n_policies && engine->policies != NULL; i++) {
            free(engine->policies[i].moves);
            free(engine->policies[i].unplaced);
            free(engine->policies[i].state.phases);
        }
        free(engine->whole.phases);
        free(engine->policies);
    }
    free(x->left);
    free(x->dead_node);
    free(x->failed);
    free(x->lost);
    free(x->phases);
    free(x->left_out);
    free(x->engines);
    free(x);
}
