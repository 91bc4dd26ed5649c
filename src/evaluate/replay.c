/* Every phase under every engine for every seed: independent items over threads, each writing its own sample. */
#include "fab/deadlock.h"
#include "fab/design.h"
#include "fab/evaluate.h"
#include "fab/parallel.h"
#include "fab/iterate.h"
#include "fab/replay_memory.h"
#include "context/context_parts.h"
#include "measure/measure_rates.h"

#define ITEM_TICKS (UINT64_C(1) << 24)
/* The phases of an iteration under an engine with a draw, which are compared when the last of them is measured. */
typedef struct shared_draw {
    atomic_size_t n_open;
    double **bytes;     /* [phase]: of links; NULL before it is measured, and after the last */
    double *transfer_s; /* [phase]; fluid_s under a transport of packets, what they would be under fluid */
    double *fluid_s;
    fab_paces paces, fluid_paces;
    fab_link_use *links; /* [n_links], of the first draw, where a schedule is kept */
    size_t n_links;
} shared_draw;

/* What a replay measures one by one: a phase under an engine with a draw. Those whose packets are alike go together. */
typedef struct replay_item {
    uint32_t phase, engine;
    uint32_t like; /* the first phase whose packets are like its */
    uint64_t draw; /* 0 ... n_seeds - 1 */
    size_t place;  /* of its figures: by phase, engine, draw */
} replay_item;

typedef struct run {
    const fab_replay *replay;
    const fab_context_request *what; /* of the replay's context; the next two likewise */
    const fab_traffic *traffic;      /* of the first seed */
    const fab_router **routers;      /* [engine] */
    fab_workspace **workers;         /* [thread] */
    replay_item *items;
    size_t n_items;
    fab_figures *figures; /* [place] */
    shared_draw *shared;  /* [engine][seed]; NULL: of no iteration */
    fab_phase_result *phases;
    fab_dependencies *dependencies; /* [phase][engine] */
    atomic_uint_least64_t done;     /* in ITEM_TICKS-ths of an item */
    atomic_flag telling;            /* somebody calls progress */
} run;

/* An item under way. */
typedef struct item_progress {
    run *all;
    atomic_uint_least64_t done; /* of ITEM_TICKS */
} item_progress;

/* One thread at a time; who comes meanwhile has little to add. */
static void tell_progress(run *c, uint64_t ticks) {
    (void)atomic_fetch_add(&c->done, ticks);
    if (c->replay->progress != NULL && !atomic_flag_test_and_set(&c->telling)) {
        double done = (double)atomic_load(&c->done) / (double)ITEM_TICKS;
        c->replay->progress(c->replay->progress_context, done, c->n_items);
        atomic_flag_clear(&c->telling);
    }
}

static void advance_item(void *argument, uint64_t n) {
    item_progress *p = argument;
    if (atomic_load(&p->done) + ITEM_TICKS / n <= ITEM_TICKS) { /* of steps after each other the first one tells */
        (void)atomic_fetch_add(&p->done, ITEM_TICKS / n);
        tell_progress(p->all, ITEM_TICKS / n);
    }
}

static bool is_drawn_per_seed(const run *c) {
    return c->traffic->depends_on_seed && c->replay->n_seeds > 1;
}

static bool sends_packets(const run *c) {
    return !c->replay->fluid && c->what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID;
}

static bool varies(const run *c, size_t engine) {
    return c->traffic->depends_on_seed || fab_router_facts_of(c->routers[engine])->is_seeded;
}

static uint64_t draws_of(const run *c, size_t engine) {
    return varies(c, engine) ? c->replay->n_seeds : 1;
}

static void to_floats(const double *values, size_t n, float *out) {
    FAB_FILL(out, n, (float)values[fab_at]);
}

static fab_status prepare_phase(void *argument, size_t phase, FAB_UNUSED size_t worker, fab_error *err) {
    const run *c = argument;
    const fab_context *context = c->replay->context;
    const fab_prepared_phase *prepared = NULL;
    const fab_bound *bound = NULL;
    fab_phase_result *out = &c->phases[phase];
    FAB_PASS(fab_context_prepared(context, phase, &prepared, err));
    FAB_PASS(c->replay->bound ? fab_context_bound(context, phase, &bound, err) : FAB_OK);
    FAB_PASS(fab_measure_phase(prepared, bound, out, err));
    out->drawn_per_seed = is_drawn_per_seed(c);
    if (c->replay->keep_seeds > 0) {
        FAB_PASS(FAB_NEW(out->taper_ratio, prepared->fabric->n_links, err));
        to_floats(prepared->spray, prepared->fabric->n_links, out->taper_ratio);
        FAB_PASS(fab_block_bytes(prepared->fabric, prepared->phase, out, err));
    }
    return FAB_OK;
}

static fab_status copy_links(const double *from, size_t n, double **out, fab_error *err) {
    FAB_PASS(FAB_NEW(*out, n, err));
    memcpy(*out, from, n * sizeof **out);
    return FAB_OK;
}

static fab_status keep_item(const run *c, const replay_item *it, const fab_evaluated *found, fab_error *err) {
    const size_t n_links = c->what->fabric->n_links;
    const fab_router *router = c->routers[it->engine];
    fab_engine_result *result = &c->phases[it->phase].engines[it->engine];
    if (it->draw == 0) {
        result->has_effective_bisection = strcmp(c->traffic->phases[it->phase].collective, "bisection") == 0;
        result->n_rounds = fab_router_facts_of(router)->n_rounds;
        result->window_bytes = fab_router_facts_of(router)->window_bytes;
        result->queueing_s = fab_router_facts_of(router)->queueing_s;
    }
    if (it->draw == 0 && c->replay->keep_loads) {
        FAB_PASS(copy_links(found->bytes, n_links, &result->load_bytes, err));
        FAB_PASS(copy_links(found->utilisation, n_links, &result->utilisation, err));
    }
    if (it->draw > 0 && it->draw <= result->n_more) { /* every draw has its own row: threads do not share them */
        to_floats(found->utilisation, n_links, result->more_utilisation + (it->draw - 1) * n_links);
    }
    return FAB_OK;
}

/* The last phase of a draw tells what they do to each other. */
static fab_status share_item(run *c, const replay_item *it, const fab_evaluated *found, fab_error *err) {
    fab_status status = FAB_OK;
    shared_draw *draw = &c->shared[it->engine * c->replay->n_seeds + it->draw];
    draw->transfer_s[it->phase] = found->figures.transfer_s;
    draw->fluid_s[it->phase] = found->figures.fluid_s > 0 ? found->figures.fluid_s : found->figures.transfer_s;
    FAB_PASS(copy_links(found->bytes, c->what->fabric->n_links, &draw->bytes[it->phase], err));
    if (atomic_fetch_sub(&draw->n_open, 1) == 1) {
        status = fab_iterate_paces(c->what->fabric, c->traffic, (const double *const *)draw->bytes, draw->transfer_s,
                                   &draw->paces, err);
        if (status == FAB_OK && sends_packets(c)) {
            status = fab_iterate_paces(c->what->fabric, c->traffic, (const double *const *)draw->bytes, draw->fluid_s,
                                       &draw->fluid_paces, err);
        }
        if (status == FAB_OK && it->draw == 0 && c->replay->keep_schedule) {
            status = fab_iterate_link_use(c->what->fabric, c->traffic, (const double *const *)draw->bytes, &draw->links,
                                          &draw->n_links, err);
        }
        for (size_t p = 0; p < c->traffic->n_phases; p++) {
            free(draw->bytes[p]);
            draw->bytes[p] = NULL;
        }
    }
    return status;
}

/* Whether item `index`, which may be n_items, is like the one before it. */
static bool item_is_again(const replay_item *items, size_t n_items, size_t index) {
    return index > 0 && index < n_items && items[index].like != items[index].phase &&
           items[index - 1].like == items[index].like && items[index - 1].engine == items[index].engine &&
           items[index - 1].draw == items[index].draw;
}

static bool asks_for_deadlocks(const fab_replay *replay) {
    return !replay->times_only && !replay->last_alone;
}

static fab_status run_alone(run *c, size_t index, size_t worker, fab_error *err) {
    const fab_replay *replay = c->replay;
    const replay_item *it = &c->items[index];
    item_progress progress = {.all = c};
    fab_evaluated found;
    fab_dependencies *dependencies = &c->dependencies[it->phase * c->what->n_engines + it->engine];
    const fab_case at = {.phase = it->phase, .engine = it->engine, .draw = it->draw};
    const fab_needs needs = {
        .what = FAB_NEED_FIGURES | (replay->rates ? FAB_NEED_RATES : 0U) | (replay->bound ? FAB_NEED_GAP : 0U) |
                (replay->keep_flows ? FAB_NEED_FLOWS : 0U) | (replay->keep_routes ? FAB_NEED_PATHS : 0U) |
                (replay->times_only ? FAB_NEED_LINKS_ALONE : 0U) | (replay->last_alone ? FAB_NEED_LAST_ALONE : 0U),
        .detail = it->draw == 0 ? &c->phases[it->phase].engines[it->engine] : NULL,
        .dependencies = asks_for_deadlocks(replay) ? dependencies : NULL,
        .kept_paths = replay->kept_paths,
        .fluid = replay->fluid,
        .repeats = item_is_again(c->items, c->n_items, index) || item_is_again(c->items, c->n_items, index + 1),
        .n_threads = c->n_items < replay->n_threads ? replay->n_threads / c->n_items : 1,
        .advance = advance_item,
        .advance_context = &progress};
    atomic_init(&progress.done, 0);
    FAB_PASS(it->draw == 0 && asks_for_deadlocks(replay) ? fab_dependencies_init(c->what->fabric, dependencies, err)
                                                         : FAB_OK);
    FAB_PASS(c->workers[worker] == NULL ? fab_workspace_new(replay->context, &c->workers[worker], err) : FAB_OK);
    FAB_PASS(fab_evaluate(c->workers[worker], &at, &needs, &found, err));
    c->figures[it->place] = found.figures;
    FAB_PASS(keep_item(c, it, &found, err));
    if (c->shared != NULL && fab_iterate_is_shared(c->traffic->phases[it->phase].name)) {
        FAB_PASS(share_item(c, it, &found, err));
    }
    tell_progress(c, ITEM_TICKS - atomic_load(&progress.done)); /* what its parts did not tell */
    return FAB_OK;
}

/* Those whose packets are alike one after the other, by the worker that comes to the first of them. */
static fab_status run_item(void *argument, size_t index, size_t worker, fab_error *err) {
    run *c = argument;
    bool goes_on = !item_is_again(c->items, c->n_items, index);
    for (size_t i = index; goes_on; i++) {
        FAB_PASS(run_alone(c, i, worker, err));
        goes_on = item_is_again(c->items, c->n_items, i + 1);
    }
    return FAB_OK;
}

static fab_status reserve_draws(const run *c, uint64_t n_draws, fab_engine_result *out, fab_error *err) {
    uint64_t n = n_draws < c->replay->keep_seeds ? n_draws : c->replay->keep_seeds;
    FAB_PASS(n > 1 ? FAB_NEW(out->more_utilisation, (n - 1) * c->what->fabric->n_links, err) : FAB_OK);
    out->n_more = n > 1 ? n - 1 : 0;
    return FAB_OK;
}

/* The first phase with the flows of `phase`. */
static uint32_t first_like(const fab_traffic *traffic, uint32_t phase) {
    FAB_FIRST(like, phase, fab_phase_is_like(&traffic->phases[like], &traffic->phases[phase]));
    return like;
}

/* One draw after the other, so that its loads are soon free; in it what is alike together. */
FAB_ORDER_KEYS(item_order, replay_item, FAB_ORDER(a->draw, b->draw), FAB_ORDER(a->like, b->like),
               FAB_ORDER(a->engine, b->engine), FAB_ORDER(a->place, b->place));

static fab_status list_items(run *c, fab_error *err) {
    size_t capacity = 0;
    for (uint32_t phase = 0; phase < c->traffic->n_phases; phase++) {
        const uint32_t like = sends_packets(c) ? first_like(c->traffic, phase) : phase;
        for (uint32_t engine = 0; engine < c->what->n_engines; engine++) {
            uint64_t n = draws_of(c, engine);
            FAB_PASS(reserve_draws(c, n, &c->phases[phase].engines[engine], err));
            FAB_PASS(FAB_GROW(c->items, capacity, c->n_items + n, err));
            for (uint64_t draw = 0; draw < n; draw++, c->n_items++) {
                c->items[c->n_items] = (replay_item){phase, engine, like, draw, c->n_items};
            }
        }
    }
    FAB_SORT(c->items, c->n_items, item_order);
    return FAB_NEW(c->figures, c->n_items, err);
}

/* Where phases of a whole training job may be under way beside each other. */
static fab_status open_shared(run *c, fab_error *err) {
    const size_t n = c->what->n_engines * c->replay->n_seeds;
    if (!c->replay->rates || c->what->gpus != NULL || !fab_is_whole_training(c->traffic, c->what->traffic)) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(c->shared, n, err));
    for (size_t i = 0; i < n; i++) {
        FAB_SUM(size_t, n_open, p, c->traffic->n_phases, fab_iterate_is_shared(c->traffic->phases[p].name) ? 1 : 0);
        atomic_init(&c->shared[i].n_open, n_open);
        FAB_PASS(
            FAB_NEW_ALL(c->traffic->n_phases, err, c->shared[i].bytes, c->shared[i].transfer_s, c->shared[i].fluid_s));
    }
    return FAB_OK;
}

/* What all items stand on, before they start: who is refused is refused in this order. */
static fab_status prepare_context(run *c, fab_error *err) {
    const fab_context *context = c->replay->context;
    const fab_next_hops *next_hops = NULL;
    const fab_dag *dag = NULL;
    FAB_PASS(fab_replay_check_tables(c->replay, err));
    FAB_PASS(fab_context_next_hops(context, &next_hops, err));
    FAB_PASS(fab_context_dag(context, &dag, err));
    FAB_PASS(fab_context_traffic(context, &c->traffic, err));
    FAB_PASS(fab_replay_check_routers(c->replay, err));
    FAB_PASS(fab_allocate(c->what->n_engines, sizeof(const fab_router *), &c->routers, err));
    for (size_t e = 0; e < c->what->n_engines; e++) {
        FAB_PASS(fab_context_router(context, e, &c->routers[e], err));
    }
    return fab_replay_check_paths(c->replay, err);
}

static fab_status replay_prepare(run *c, fab_error *err) {
    const size_t n_engines = c->what->n_engines;
    FAB_PASS(prepare_context(c, err));
    FAB_PASS(fab_allocate(c->replay->n_threads, sizeof(fab_workspace *), &c->workers, err));
    FAB_PASS(FAB_NEW(c->phases, c->traffic->n_phases, err));
    for (size_t p = 0; p < c->traffic->n_phases; p++) {
        FAB_PASS(FAB_NEW(c->phases[p].engines, n_engines, err));
        c->phases[p].n_engines = n_engines;
    }
    FAB_PASS(FAB_NEW(c->dependencies, c->traffic->n_phases * n_engines, err));
    FAB_PASS(open_shared(c, err));
    return list_items(c, err);
}

/* On one thread: igraph decides. */
static fab_status check_deadlocks(run *c, fab_error *err) {
    for (size_t p = 0; p < c->traffic->n_phases && asks_for_deadlocks(c->replay); p++) {
        for (size_t e = 0; e < c->what->n_engines; e++) {
            fab_engine_result *out = &c->phases[p].engines[e];
            fab_deadlock found;
            FAB_PASS(fab_deadlock_check(&c->dependencies[p * c->what->n_engines + e], &found, err));
            out->deadlock_free = found.free;
            out->dependencies = found.dependencies;
            out->n_cycle = found.n_cycle;
            for (uint32_t i = 0; i < found.n_cycle && i < FAB_CYCLE_SHOWN; i++) {
                (void)fab_link_name(c->what->fabric, found.cycle[i], out->cycle[i]);
            }
        }
    }
    return FAB_OK;
}

/* One figure of all draws of an engine. */
static void replay_gather(const fab_figures *figures, size_t n, size_t offset, double *values, fab_stat *out) {
    for (size_t i = 0; i < n; i++) {
        memcpy(&values[i], (const char *)&figures[i] + offset, sizeof values[i]);
    }
    fab_stat_of(values, n, out);
}

/* What nccl-tests call the size is that of a whole collective, so that a part of one has no such bandwidth. */
static bool is_whole_collective(const fab_traffic *t, size_t phase) {
    const fab_phase *p = &t->phases[phase];
    bool follows = phase > 0 && p[-1].run == p->run;
    bool goes_on = phase + 1 < t->n_phases && p[1].run == p->run;
    return p->result_bytes > 0 && !follows && !goes_on;
}

static void gather_bandwidths(const fab_phase *p, const fab_figures *s, double *values, fab_engine_result *r) {
    double bytes = p->result_bytes * (double)p->executions;
    FAB_FILL(values, r->n_seeds,
             s[fab_at].transfer_s + r->latency_s > 0 ? bytes / (s[fab_at].transfer_s + r->latency_s) : 0);
    fab_stat_of(values, r->n_seeds, &r->algbw);
    for (size_t i = 0; i < r->n_seeds; i++) {
        values[i] *= fab_phase_bus_factor(p);
    }
    fab_stat_of(values, r->n_seeds, &r->busbw);
}

/* Time and what follows from it, of one engine's draws. */
static void gather_times(const run *c, size_t phase, const fab_figures *s, double *values, fab_engine_result *r) {
    const fab_phase *p = &c->traffic->phases[phase];
    r->has_time = r->has_rates = c->replay->rates;
    r->has_pauses = c->replay->rates && s[0].fluid_s > 0;
    r->deadlocked_seeds = 0;
    for (size_t i = 0; i < r->n_seeds; i++) {
        r->deadlocked_seeds += s[i].deadlocks > 0;
        r->has_time = r->has_time && !isnan(s[i].transfer_s);
        r->has_rates = r->has_rates && !isnan(s[i].mean_rate);
    }
    if (!r->has_time) {
        return;
    }
    r->latency_s = fab_phase_latency_s(c->what->fabric, p, r->paths.n_flows > 0, r->paths.latency_s.max);
    const fab_router *router = c->routers[r - c->phases[phase].engines];
    const fab_router_facts *facts = fab_router_facts_of(router);
    r->blocks_elsewhere = !sends_packets(c) && !facts->splits && !facts->reorders && r->collided_flows.max > 0;
    r->host_s = r->paths.n_flows > 0 ? fab_phase_host_s(c->what->fabric, p) : 0;
    r->copy_s = r->paths.n_flows > 0 ? fab_phase_copy_s(c->what->fabric, p) : 0;
    fab_stat range[2];
    replay_gather(s, r->n_seeds, offsetof(fab_figures, shortest_s), values, &range[0]);
    replay_gather(s, r->n_seeds, offsetof(fab_figures, longest_s), values, &range[1]);
    r->shortest_s = range[1].max > 0 ? range[0].min + r->latency_s : 0;
    r->longest_s = range[1].max > 0 ? range[1].max + r->latency_s : 0;
    r->seeded = r->seeded && (c->traffic->depends_on_seed || !fab_is_estimated(router, p));
    replay_gather(s, r->n_seeds, offsetof(fab_figures, transfer_s), values, &r->transfer_s);
    replay_gather(s, r->n_seeds, offsetof(fab_figures, fluid_s), values, &r->fluid_s);
    FAB_FILL(values, r->n_seeds, s[fab_at].transfer_s + r->latency_s);
    fab_stat_of(values, r->n_seeds, &r->time_s);
    FAB_FILL(values, r->n_seeds, s[fab_at].least_s > 0 ? fmax(s[fab_at].transfer_s / s[fab_at].least_s, 1) : 1);
    fab_stat_of(values, r->n_seeds, &r->lower_bound_ratio);
    if (is_whole_collective(c->traffic, phase)) {
        gather_bandwidths(p, s, values, r);
    }
    if (r->has_rates) {
        replay_gather(s, r->n_seeds, offsetof(fab_figures, min_rate), values, &r->min_rate);
        replay_gather(s, r->n_seeds, offsetof(fab_figures, mean_rate), values, &r->mean_rate);
    }
}

static fab_status keep_draws(const fab_figures *figures, size_t n, fab_seed_figures **out, fab_error *err) {
    fab_seed_figures *draws = NULL;
    FAB_PASS(FAB_NEW(draws, n, err));
    for (size_t i = 0; i < n; i++) {
        draws[i] = (fab_seed_figures){figures[i].busiest_link_s, figures[i].max_collision, figures[i].collided_flows,
                                      figures[i].transfer_s, figures[i].least_s};
    }
    *out = draws;
    return FAB_OK;
}

static fab_status summarise(run *c, fab_error *err) {
    const fab_replay *replay = c->replay;
    size_t first = 0;
    FAB_OWNED_NEW(double, values, replay->n_seeds, err);
    for (size_t p = 0; p < c->traffic->n_phases; p++) {
        for (size_t e = 0; e < c->what->n_engines; e++) {
            fab_engine_result *r = &c->phases[p].engines[e];
            const fab_router *router = c->routers[e];
            FAB_FORMAT(r->engine, "%s", fab_router_facts_of(router)->engine);
            FAB_FORMAT(r->label, "%s", fab_router_facts_of(router)->label);
            r->seed = fab_router_seed(router, c->what->seed);
            r->seeded = varies(c, e);
            r->n_seeds = draws_of(c, e);
            const fab_figures *s = &c->figures[first];
            size_t n = r->n_seeds;
            FAB_PASS(replay->keep_draws ? keep_draws(s, n, &r->draws, err) : FAB_OK);
            replay_gather(s, n, offsetof(fab_figures, collided_links), values, &r->collided_links);
            replay_gather(s, n, offsetof(fab_figures, collided_flows), values, &r->collided_flows);
            replay_gather(s, n, offsetof(fab_figures, max_collision), values, &r->max_collision_factor);
            replay_gather(s, n, offsetof(fab_figures, mean_collision), values, &r->mean_collision_factor);
            replay_gather(s, n, offsetof(fab_figures, max_taper), values, &r->max_taper_factor);
            replay_gather(s, n, offsetof(fab_figures, max_hash), values, &r->max_hash_factor);
            replay_gather(s, n, offsetof(fab_figures, max_utilisation), values, &r->max_utilisation);
            replay_gather(s, n, offsetof(fab_figures, effective_bisection), values, &r->effective_bisection);
            replay_gather(s, n, offsetof(fab_figures, busiest_link_s), values, &r->busiest_link_s);
            replay_gather(s, n, offsetof(fab_figures, throughput), values, &r->throughput);
            r->has_gap = replay->bound; /* of no draw whose paths are longer than they must be */
            for (size_t i = 0; i < n; i++) {
                r->has_gap = r->has_gap && !isnan(s[i].gap);
            }
            if (r->has_gap) {
                replay_gather(s, n, offsetof(fab_figures, gap), values, &r->optimum_gap);
            }
            gather_times(c, p, s, values, r);
            first += n;
        }
    }
    return FAB_OK;
}

/* As a mean over the seeds. */
static void mean_paces(const run *c, size_t engine, bool of_fluid, fab_paces *out) {
    const shared_draw *draw = &c->shared[engine * c->replay->n_seeds];
    const uint64_t n = draws_of(c, engine);
    for (size_t k = 0; k < (size_t)FAB_TRAVEL_SETS * FAB_TRAVEL_N; k++) {
        double sum = 0;
        bool any = false;
        for (uint64_t i = 0; i < n; i++) {
            double slow = (&(of_fluid ? &draw[i].fluid_paces : &draw[i].paces)->slowdown[0][0])[k];
            any = any || slow > 1;
            sum += fmax(slow, 1);
        }
        (&out->slowdown[0][0])[k] = any ? sum / (double)n : 0;
    }
}

/* What phases that are under way together do to each other. */
static fab_status take_paces(const run *c, fab_result *result, fab_error *err) {
    FAB_PASS(FAB_NEW(result->paces, c->what->n_engines, err));
    for (size_t e = 0; e < c->what->n_engines; e++) {
        mean_paces(c, e, false, &result->paces[e]);
    }
    return FAB_OK;
}

/* What the transport adds to an iteration. */
static fab_status add_transport(const run *c, fab_result *result, size_t engine, fab_error *err) {
    fab_fabric_spec fluid = c->what->design->fabric;
    fab_paces paces;
    if (!sends_packets(c)) {
        return FAB_OK;
    }
    fluid.transport.kind = FAB_TRANSPORT_FLUID;
    if (c->shared != NULL) {
        mean_paces(c, engine, true, &paces);
    }
    return fab_iterate_transport(c->traffic, result, engine,
                                 c->what->fabric->host.nic_s - fab_design_host(&fluid).nic_s,
                                 c->shared != NULL ? &paces : NULL, &result->iterations[engine], err);
}

/* The iteration of every seed, where a phase has a draw of its own for each. */
static fab_status iterate_seeds(const run *c, fab_result *result, size_t engine, fab_iteration *out, fab_error *err) {
    const uint64_t n_seeds = c->replay->n_seeds;
    FAB_OWNED fab_paces *paces = NULL;
    size_t first = 0;
    if (n_seeds == 1 || !varies(c, engine)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, transfer_s, n_seeds * result->n_phases, err);
    if (c->shared != NULL) {
        FAB_PASS(FAB_NEW(paces, n_seeds, err));
        FAB_FILL(paces, n_seeds, c->shared[engine * n_seeds + fab_at].paces);
    }
    for (size_t p = 0; p < result->n_phases; p++) {
        for (size_t e = 0; e < c->what->n_engines; e++) {
            for (uint64_t i = 0; e == engine && i < n_seeds; i++) {
                transfer_s[i * result->n_phases + p] = c->figures[first + i].transfer_s;
            }
            first += result->phases[p].engines[e].n_seeds;
        }
    }
    return fab_iterate_seeds(c->traffic, result, engine, transfer_s, paces, n_seeds, out, err);
}

/* One that is too long is told in its place. */
static fab_status keep_schedule(const run *c, const fab_result *result, size_t engine, fab_iteration *out,
                                fab_error *err) {
    fab_error why = {0};
    fab_status status = fab_iterate_schedule(c->traffic, result, engine, out, &why);
    if (status == FAB_OK && c->shared != NULL) {
        shared_draw *draw = &c->shared[engine * c->replay->n_seeds];
        out->schedule->links = draw->links;
        out->schedule->n_links = draw->n_links;
        draw->links = NULL;
    }
    if (status == FAB_EUNSUPPORTED || status == FAB_ELIMIT) {
        FAB_FORMAT(out->schedule_note, "%.120s", why.text);
        return FAB_OK;
    }
    if (status != FAB_OK) {
        *err = why;
    }
    return status;
}

/* A job that cannot be timed is reported without. */
static fab_status iterate(const run *c, fab_result *result, fab_error *err) {
    if (c->traffic->has_job) {
        result->job = c->traffic->job;
        result->memory = c->traffic->memory;
        result->ranks = c->traffic->n_ranks;
    }
    if (!c->replay->rates || c->what->gpus != NULL || !fab_iterates(c->traffic, result, c->what->traffic)) {
        return c->what->gpus == NULL ? fab_serve(c->traffic, result, c->what->traffic, err) : FAB_OK;
    }
    FAB_PASS(FAB_NEW(result->iterations, c->what->n_engines, err));
    for (size_t e = 0; e < c->what->n_engines; e++) {
        fab_error why = {0};
        fab_status status = fab_iterate(c->traffic, result, e, &result->iterations[e], &why);
        status = status == FAB_OK ? add_transport(c, result, e, &why) : status;
        status = status == FAB_OK ? iterate_seeds(c, result, e, &result->iterations[e], &why) : status;
        if (status == FAB_EUNSUPPORTED || status == FAB_ENOSOLUTION) {
            FAB_FORMAT(result->iteration_note, "%.250s", why.text);
            result->n_iterations = 0;
            return FAB_OK;
        }
        if (status != FAB_OK) {
            *err = why;
            return status;
        }
        result->iterations[result->n_iterations++].estimated_ratio = fab_estimated_ratio(result, e);
    }
    for (size_t e = 0; e < result->n_iterations && c->replay->keep_schedule; e++) {
        FAB_PASS(keep_schedule(c, result, e, &result->iterations[e], err));
    }
    return FAB_OK;
}

static void replay_release(run *c) {
    const size_t n_phases = c->traffic != NULL ? c->traffic->n_phases : 0;
    FAB_FREE_EACH(fab_workspace_free, c->workers, c->replay->n_threads);
    FAB_RELEASE_EACH(fab_dependencies_release, c->dependencies, n_phases * c->what->n_engines);
    for (size_t i = 0; c->shared != NULL && i < c->what->n_engines * c->replay->n_seeds; i++) {
        FAB_FREE_EACH(free, c->shared[i].bytes, n_phases);
        FAB_FREE_ALL(c->shared[i].bytes, c->shared[i].transfer_s, c->shared[i].fluid_s, c->shared[i].links);
    }
    fab_result_release(&(fab_result){.phases = c->phases, .n_phases = n_phases});
    FAB_FREE_ALL(c->dependencies, c->routers, c->workers, c->items, c->figures, c->shared);
}

fab_status fab_replay_run(const fab_replay *replay, fab_result *result, fab_error *err) {
    FAB_OWNS(replay_release)
    run c = {.replay = replay, .what = fab_context_what(replay->context), .telling = ATOMIC_FLAG_INIT};
    atomic_init(&c.done, 0);
    FAB_PASS(replay_prepare(&c, err));
    FAB_PASS(fab_parallel_for(c.traffic->n_phases, replay->n_threads, prepare_phase, &c, err));
    FAB_PASS(fab_parallel_for(c.n_items, replay->n_threads, run_item, &c, err));
    FAB_PASS(check_deadlocks(&c, err));
    FAB_PASS(summarise(&c, err));
    FAB_PASS(c.shared != NULL ? take_paces(&c, result, err) : FAB_OK);
    FAB_FORMAT(result->traffic, "%s%s", c.traffic->summary,
               is_drawn_per_seed(&c) ? "; every seed draws its own, figures of the traffic are of the first" : "");
    result->seed = c.what->seed;
    result->n_seeds = replay->n_seeds;
    result->phases = c.phases;
    result->n_phases = c.traffic->n_phases;
    c.phases = NULL;
    return iterate(&c, result, err);
}
