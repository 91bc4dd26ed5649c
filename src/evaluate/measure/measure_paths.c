/* Engines that give every queue pair a path: loads by adding up, then per flow the worst link on its paths.
 *
 * The chunks of a phase that is not kept whole are dealt over a fixed number of shards, whose sums are added in their
 * order: the outcome does not depend on the number of threads. */
#include "fab/parallel.h"
#include "measure_rates.h"
#include "stream.h"

#define SHARDS 8

/* What one shard has added up. */
typedef struct shard {
    fab_scratch *scratch;
    fab_scratch own;     /* where there are several shards */
    double *use, *bytes; /* [link] */
    double *count;       /* [link]: flows, for the effective bisection; NULL without */
    fab_flow_tally tally;
    double shares; /* sum over flows of 1 / worst line share */
    fab_hot_link hot[FAB_HOT_LINKS];
} shard;

/* A draw under way. */
typedef struct draw {
    const fab_engine_run *run;
    fab_stream stream;
    shard shards[SHARDS];
    size_t n_shards;
    bool detail;
    bool once;          /* chunks are routed once: nobody wants figures of their flows */
    bool is_again;      /* the routes of the run before, whose next hops and dependencies are known */
    bool takes_minimal; /* too many paths to look at each: all minimal ones count as dependencies */
    uint8_t *hot_of;    /* [link]: place in the list of hot links, + 1 */
    double least_hot;   /* utilisation of a hot link: flows whose worst link has less cross none */
} draw;

/* --- loads -------------------------------------------------------------------------------------------------------- */

static void add_loads(const fab_chunk *c, double *use, double *bytes) {
    const fab_routes *r = c->routes;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        const uint32_t first = r->flow_first[flow];
        const uint32_t n_paths = r->flow_first[flow + 1] - first;
        for (uint32_t k = 0; k < (r->part != NULL ? n_paths : 1); k++) {
            const size_t last = r->path_first[r->part != NULL ? first + k + 1 : first + n_paths];
            double rate = r->part != NULL ? c->rate[flow] * r->part[first + k] : c->rate[flow] / n_paths;
            double volume = r->part != NULL ? c->volume[flow] * r->part[first + k] : c->volume[flow] / n_paths;
            for (size_t i = r->path_first[first + k]; i < last; i++) {
                use[r->link[i]] += rate;
                bytes[r->link[i]] += volume;
            }
        }
    }
}

static void add_counts(const fab_routes *r, double *count) {
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            double part = fab_path_part(r, flow, path);
            for (size_t i = r->path_first[path]; i < r->path_first[path + 1]; i++) {
                count[r->link[i]] += part;
            }
        }
    }
}

/* Chunks are looked at twice, where figures of flows are wanted. A phase that is kept whole is a matter of a moment. */
static void tell_progress(const draw *d) {
    if (d->run->advance != NULL && d->stream.n_chunks > 1) {
        d->run->advance(d->run->advance_context, (d->once ? 1 : 2) * d->stream.n_chunks);
    }
}

static fab_status add_shard(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    draw *d = context;
    shard *s = &d->shards[index];
    for (uint64_t i = index; i < d->stream.n_chunks; i += d->n_shards) {
        fab_chunk chunk;
        FAB_PASS(fab_stream_load(&d->stream, i, FAB_PASS_LOADS, s->scratch, &chunk, err));
        add_loads(&chunk, s->use, s->bytes);
        if (s->count != NULL) {
            add_counts(chunk.routes, s->count);
        }
        if (d->detail && !d->once && !d->is_again) {
            fab_next_hop_use_add(s->scratch->next_hops, chunk.routes, chunk.first, chunk.weight);
        }
        if (d->detail && !d->takes_minimal && !d->is_again && d->run->dependencies != NULL) {
            fab_dependencies_add_routes(&s->scratch->dependencies, chunk.routes);
        }
        tell_progress(d);
    }
    return FAB_OK;
}

/* The first shard starts with what no chunk carries, and the others' sums are added to its. */
static void start_loads(const draw *d) {
    const fab_demand *demand = d->run->prepared->demand;
    size_t size = d->run->prepared->fabric->n_links * sizeof(double);
    bool segments_apart = d->stream.whole == NULL && d->run->prepared->phase->all.n > 0;
    for (size_t i = 0; i < d->n_shards; i++) {
        memset(d->shards[i].use, 0, size);
        memset(d->shards[i].bytes, 0, size);
    }
    if (segments_apart) {
        memcpy(d->shards[0].use, demand->segment_rate, size);
        memcpy(d->shards[0].bytes, demand->segment_bytes, size);
    }
}

static void join_loads(draw *d) {
    uint32_t n_links = d->run->prepared->fabric->n_links;
    shard *sum = &d->shards[0];
    for (size_t i = 1; i < d->n_shards; i++) {
        const shard *s = &d->shards[i];
        for (uint32_t l = 0; l < n_links; l++) {
            sum->use[l] += s->use[l];
            sum->bytes[l] += s->bytes[l];
            if (sum->count != NULL) {
                sum->count[l] += s->count[l];
            }
        }
        if (d->detail) {
            fab_next_hop_use_merge(sum->scratch->next_hops, s->scratch->next_hops);
        }
    }
    const bool merges = d->detail && !d->takes_minimal && d->run->dependencies != NULL;
    for (size_t i = 0; merges && i < d->n_shards; i++) {
        fab_dependencies_merge(d->run->dependencies, &d->shards[i].scratch->dependencies);
    }
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

static double worst_link(const fab_prepared_phase *prepared, const fab_routes *r, uint32_t flow, const double *use) {
    double worst = 0;
    size_t last = r->path_first[r->flow_first[flow + 1]];
    for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
        if (r->between_switches || fab_class_of(prepared->fabric, r->link[i])->kind == FAB_LINK_FABRIC) {
            double value = use[r->link[i]];
            worst = value > worst ? value : worst; /* not a call per link */
        }
    }
    return worst;
}

static double line_share(const fab_prepared_phase *prepared, const fab_routes *r, uint32_t flow, const double *count) {
    double worst = 1;
    size_t last = r->path_first[r->flow_first[flow + 1]];
    for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
        worst = fmax(worst, fab_line_share(prepared, r->link[i], count[r->link[i]]));
    }
    return 1 / worst;
}

/* Keeps the first flows in ascending order, which bundles do not come in. Tells whether later ones may be among them.
 */
static bool add_in_order(const fab_prepared_phase *prepared, uint64_t flow, fab_hot_link *hot) {
    uint32_t at = hot->n_listed;
    while (at > 0 && hot->flows[at - 1].flow > flow) {
        at--;
    }
    if (at == FAB_HOT_FLOWS) {
        return false;
    }
    hot->n_listed -= hot->n_listed == FAB_HOT_FLOWS;
    fab_detail_add_flow(prepared, flow, 1, hot);
    fab_flow_ref ref = hot->flows[hot->n_listed - 1];
    memmove(&hot->flows[at + 1], &hot->flows[at], (hot->n_listed - 1 - at) * sizeof ref);
    hot->flows[at] = ref;
    return true;
}

/* Flows of a bundle: to its GPU from all of its source but those of the GPU's domain. */
static void add_bundle(const draw *d, const fab_chunk *c, uint32_t bundle, fab_hot_link *hot) {
    const fab_prepared_phase *prepared = d->run->prepared;
    const fab_stream *stream = &d->stream;
    const fab_all_to_all *all = &prepared->phase->all;
    const fab_router *router = d->run->router;
    uint32_t to = c->to[bundle];
    uint32_t domain = fab_router_domain(router, all->first + to);
    uint32_t source = c->source[bundle];
    hot->n_flows += c->weight[bundle];
    bool more = true;
    for (uint32_t i = stream->member_first[source]; more && i < stream->member_first[source + 1]; i++) {
        uint32_t from = stream->member[i];
        if (fab_router_domain(router, all->first + from) != domain) {
            more = add_in_order(prepared, (uint64_t)from * (all->n - 1) + to - (to > from), hot);
        }
    }
}

/* The hot links that a flow crosses. */
static void add_crossing_flow(const draw *d, const fab_chunk *c, uint32_t flow, shard *s) {
    const fab_routes *r = c->routes;
    double share[FAB_HOT_LINKS] = {0};
    uint32_t touched = 0;
    for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
        double part = fab_path_part(r, flow, path);
        for (size_t i = r->path_first[path]; i < r->path_first[path + 1]; i++) {
            uint8_t hot = d->hot_of[r->link[i]];
            if (hot != 0) {
                share[hot - 1] += part;
                touched |= 1U << (hot - 1);
            }
        }
    }
    for (uint32_t k = 0; touched >> k != 0; k++) {
        if ((touched >> k & 1U) == 0) {
            continue;
        }
        if (c->weight != NULL) {
            add_bundle(d, c, flow, &s->hot[k]);
        } else {
            s->hot[k].n_flows++;
            fab_detail_add_flow(d->run->prepared, c->first + flow, share[k], &s->hot[k]);
        }
    }
}

static fab_status visit_shard(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    draw *d = context;
    shard *s = &d->shards[index];
    const fab_prepared_phase *prepared = d->run->prepared;
    const double *use = d->shards[0].use;
    const double *count = d->shards[0].count;
    for (uint64_t i = index; i < d->stream.n_chunks; i += d->n_shards) {
        fab_chunk c;
        FAB_PASS(fab_stream_load(&d->stream, i, FAB_PASS_FLOWS, s->scratch, &c, err));
        for (uint32_t flow = 0; flow < c.routes->n_flows; flow++) {
            double worst = worst_link(prepared, c.routes, flow, use);
            fab_tally_add(&s->tally, worst, c.weight != NULL ? (double)c.weight[flow] : 1);
            s->shares += count != NULL ? line_share(prepared, c.routes, flow, count) : 0;
            if (worst >= d->least_hot) {
                add_crossing_flow(d, &c, flow, s);
            }
        }
        tell_progress(d);
    }
    return FAB_OK;
}

/* Lists of flows in ascending order; the smallest of both stay. */
static void merge_hot(const fab_hot_link *from, fab_hot_link *into) {
    fab_flow_ref all[2 * FAB_HOT_FLOWS] = {{0}};
    uint32_t n = 0;
    for (uint32_t a = 0, b = 0; a < into->n_listed || b < from->n_listed;) {
        bool first = b == from->n_listed || (a < into->n_listed && into->flows[a].flow < from->flows[b].flow);
        all[n++] = first ? into->flows[a++] : from->flows[b++];
    }
    into->n_listed = n < FAB_HOT_FLOWS ? n : FAB_HOT_FLOWS;
    memcpy(into->flows, all, into->n_listed * sizeof *all);
    into->n_flows += from->n_flows;
}

static void join_flows(const draw *d, fab_figures *out) {
    fab_flow_tally tally = {0};
    double shares = 0;
    FAB_EACH(const shard, s, d->shards, d->n_shards) {
        tally.crossing += s->tally.crossing;
        tally.collided += s->tally.collided;
        tally.sum += s->tally.sum;
        shares += s->shares;
        for (size_t k = 0; d->detail && k < d->run->detail->n_hot; k++) {
            merge_hot(&s->hot[k], &d->run->detail->hot[k]);
        }
    }
    fab_sample_flows(&tally, out);
    bool bisection = d->shards[0].count != NULL;
    out->effective_bisection = bisection ? shares / (double)d->run->prepared->phase->n_flows : 0;
}

/* A path of an engine with its own tables may be longer than need be: then no bound over minimal paths holds. Each path
 * has at least as many hops as a minimal one, so that equal sums mean equal paths. */
static fab_status find_minimal(const draw *d, bool *is_minimal, fab_error *err) {
    const fab_prepared_phase *s = d->run->prepared;
    const fab_routes *r = d->stream.whole;
    double sum = 0;
    double least = 0;
    FAB_OWNED_NEW(double, x, s->fabric->n_links, err);
    FAB_OWNED_NEW(double, hops, s->demand->n_pairs, err);
    FAB_FILL(x, s->fabric->n_links, 1);
    FAB_PASS(fab_split_fold(s->dag, fab_split_even(), FAB_FOLD_SHORTEST, x, s->demand, hops, err));
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
        for (size_t i = r->path_first[r->flow_first[flow]]; i < r->path_first[r->flow_first[flow + 1]]; i++) {
            sum += fab_class_of(s->fabric, r->link[i])->kind == FAB_LINK_FABRIC;
        }
        for (uint32_t p = 0; p < s->demand->n_parts; p++) {
            uint32_t pair = s->phase->all.n > 0
                                ? fab_demand_pair(s->demand, s->fabric, s->ports, s->next_hops, s->phase, flow, p)
                                : s->demand->pair_of[(size_t)flow * s->demand->n_parts + p];
            least += pair != FAB_NONE ? hops[pair] * n_paths / s->demand->n_parts : 0;
        }
    }
    *is_minimal = sum <= least * (1 + 1e-9);
    return FAB_OK;
}

/* --- a draw ------------------------------------------------------------------------------------------------------- */

/* Where a shard gathers next hops and dependencies. */
static fab_status open_followed(const draw *d, fab_scratch *scratch, fab_error *err) {
    const fab_fabric *fabric = d->run->prepared->fabric;
    memset(scratch->followed, 0, sizeof scratch->followed);
    fab_next_hop_use_free(scratch->next_hops);
    scratch->next_hops = NULL;
    fab_dependencies_release(&scratch->dependencies);
    FAB_PASS(fab_next_hop_use_new(fabric, d->run->router, &scratch->next_hops, err));
    return d->run->dependencies != NULL ? fab_dependencies_init(fabric, &scratch->dependencies, err) : FAB_OK;
}

/* A gather has the routes of its reduction. */
static bool is_again(const draw *d) {
    const fab_scratch *s = d->run->scratch;
    const bool is_whole = d->stream.whole != NULL && d->stream.whole != &s->round && s->followed[1] != 0;
    return is_whole && memcmp(s->followed, s->routed, sizeof s->followed) == 0 &&
           (d->run->dependencies == NULL || s->dependencies.fabric != NULL);
}

static fab_status open_shards(draw *d, fab_error *err) {
    const fab_engine_run *run = d->run;
    const fab_prepared_phase *prepared = run->prepared;
    uint32_t n_links = prepared->fabric->n_links;
    d->is_again = d->detail && is_again(d);
    d->n_shards = d->stream.n_chunks > 1 ? SHARDS : 1;
    for (size_t i = 0; i < d->n_shards; i++) {
        shard *s = &d->shards[i];
        *s = (shard){.scratch = i == 0 ? run->scratch : &s->own};
    }
    for (size_t i = 0; i < d->n_shards; i++) {
        shard *s = &d->shards[i];
        FAB_PASS(i > 0 ? FAB_NEW_ALL(n_links, err, s->own.use, s->own.bytes) : FAB_OK);
        s->use = s->scratch->use;
        s->bytes = s->scratch->bytes;
        FAB_PASS(prepared->bisection ? FAB_NEW(s->count, n_links, err) : FAB_OK);
        FAB_PASS(d->detail && !d->is_again ? open_followed(d, s->scratch, err) : FAB_OK);
    }
    return FAB_OK;
}

static void close_shards(draw *d) {
    for (size_t i = 0; i < d->n_shards; i++) {
        fab_scratch_release(&d->shards[i].own);
        free(d->shards[i].count);
    }
    free(d->hot_of);
    d->hot_of = NULL;
    d->n_shards = 0;
}

/* Of the routes where they are kept whole. Else those of all minimal paths, where the engine takes no others: too many
 * flows to follow one by one. */
static fab_status measure_lengths(const draw *d, fab_error *err) {
    const fab_engine_run *run = d->run;
    const fab_prepared_phase *s = run->prepared;
    FAB_OWNS(fab_path_tally_release) fab_path_tally tally = {0};
    if (d->stream.whole != NULL) {
        const fab_path_chunk chunk = {.routes = d->stream.whole,
                                      .phase = s->phase,
                                      .rate = s->offer->rate != NULL ? s->offer->rate : run->scratch->rate};
        FAB_PASS(fab_path_tally_init(run->router, &tally, err));
        FAB_PASS(FAB_GROW(run->scratch->latency_s, run->scratch->latency_capacity, chunk.routes->n_flows, err));
        tally.latency_s = run->scratch->latency_s;
        fab_path_tally_add(&tally, &chunk);
        run->detail->paths = fab_path_tally_finish(&tally);
    } else if (d->takes_minimal) {
        FAB_PASS(fab_path_figures_of_split(run->router, s->dag, fab_split_even(), s->demand, s->phase, s->offer,
                                           &run->detail->paths, err));
    }
    return FAB_OK;
}

static fab_status mark_hot(draw *d, fab_error *err) {
    FAB_PASS(FAB_NEW(d->hot_of, d->run->prepared->fabric->n_links, err));
    for (size_t i = 0; i < d->run->detail->n_hot; i++) {
        const fab_hot_link *hot = &d->run->detail->hot[i];
        d->hot_of[hot->link] = (uint8_t)(i + 1);
        d->least_hot = fmin(d->least_hot, hot->factor);
    }
    return FAB_OK;
}

static fab_status measure_rates(draw *d, fab_figures *out, fab_error *err) {
    const double *bytes = d->shards[0].bytes;
    FAB_REFUSE_IF(d->stream.whole == NULL && fab_is_lossless(d->run->transport), err, FAB_EUNSUPPORTED, "transport",
                  "phase %s of %" PRIu64 " flows has too many paths for packets; take transport fluid for it",
                  d->run->prepared->phase->name, d->run->prepared->phase->n_flows);
    if (d->stream.whole == NULL) {
        return fab_rate_loads(d->run, bytes, out, err);
    }
    fab_chunk chunk;
    bool is_known = false;
    FAB_PASS(fab_rate_last(d->run, bytes, out, &is_known, err));
    if (is_known) {
        return FAB_OK;
    }
    FAB_PASS(fab_stream_load(&d->stream, 0, FAB_PASS_LOADS, d->run->scratch, &chunk, err));
    fab_engine_run run = *d->run;
    run.detail = d->detail ? run.detail : NULL;
    return fab_rate_paths(&run, chunk.routes, chunk.volume, bytes, out, err);
}

/* Both passes over d->stream. */
static fab_status paths_measure(draw *d, fab_figures *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_engine_run *run = d->run;
    bool is_minimal = fab_router_facts_of(run->router)->is_minimal;
    FAB_TRY(open_shards(d, err));
    start_loads(d);
    d->once = run->links_alone && d->stream.whole == NULL && d->shards[0].count == NULL;
    d->least_hot = HUGE_VAL;
    FAB_TRY(fab_parallel_for(d->n_shards, run->n_threads, add_shard, d, err));
    join_loads(d);
    const shard *sum = &d->shards[0];
    FAB_TRY(fab_sample_loads(run, sum->use, sum->bytes, out, err));
    if (d->detail) {
        fab_detail_loads(run, sum->use, sum->bytes);
        fab_next_hop_use_finish(run->scratch->next_hops, run->detail);
        if (d->stream.whole != NULL && d->stream.whole != &run->scratch->round) {
            memcpy(run->scratch->followed, run->scratch->routed, sizeof run->scratch->routed);
        }
        FAB_TRY(measure_lengths(d, err));
        FAB_TRY(mark_hot(d, err));
    }
    if (d->detail && d->takes_minimal && run->dependencies != NULL) {
        FAB_TRY(fab_dependencies_add_minimal(run->dependencies, fab_router_next_hops(run->router),
                                             fab_phase_switch_classes(run->prepared, run->router),
                                             run->prepared->demand, err));
    }
    FAB_TRY(d->once ? FAB_OK : fab_parallel_for(d->n_shards, run->n_threads, visit_shard, d, err));
    join_flows(d, out);
    FAB_TRY(!is_minimal && run->bound != NULL && d->stream.whole != NULL ? find_minimal(d, &is_minimal, err) : FAB_OK);
    FAB_TRY(fab_sample_bound(run, is_minimal, out, err));
    FAB_TRY(run->rates ? measure_rates(d, out, err) : FAB_OK);
done:
    close_shards(d);
    return status;
}

/* All figures are numbers; one round that stops for ever is enough. */
static void add_sample(const fab_figures *one, double part, fab_figures *sum) {
    const double deadlocks = fmax(sum->deadlocks, one->deadlocks);
    for (size_t i = 0; i < sizeof *sum / sizeof(double); i++) {
        ((double *)sum)[i] += ((const double *)one)[i] * part;
    }
    sum->deadlocks = deadlocks;
}

/* Queue pairs take turns: the mean over the rounds, each of which sends all bytes over its paths. The first one last,
 * whose loads are shown. */
static fab_status measure_rounds(draw *d, fab_figures *out, fab_error *err) {
    fab_scratch *scratch = d->run->scratch;
    const fab_routes *all = d->stream.whole;
    uint32_t n = fab_router_facts_of(d->run->router)->n_rounds;
    if (d->run->detail != NULL && d->run->dependencies != NULL) {
        fab_dependencies_add_routes(d->run->dependencies, all);
    }
    for (uint32_t round = n; round-- > 0;) {
        fab_figures one = {0};
        FAB_PASS(fab_routes_of_round(all, round, n, &scratch->round, err));
        d->stream.whole = &scratch->round;
        d->detail = d->run->detail != NULL && round == 0;
        FAB_PASS(paths_measure(d, &one, err));
        add_sample(&one, 1.0 / n, out);
    }
    return FAB_OK;
}

fab_status fab_measure_paths(const fab_engine_run *run, fab_figures *out, fab_error *err) {
    fab_status status = FAB_OK;
    draw *d = NULL;
    FAB_TRY(FAB_NEW(d, 1, err)); /* lists of hot flows are too large for a thread's stack */
    d->run = run;
    d->detail = run->detail != NULL;
    FAB_TRY(fab_stream_open(run, &d->stream, err));
    d->takes_minimal = d->stream.whole == NULL && !fab_router_facts_of(run->router)->has_tables;
    if (fab_router_facts_of(run->router)->n_rounds > 1) {
        FAB_TRY(measure_rounds(d, out, err));
    } else {
        FAB_TRY(paths_measure(d, out, err));
    }
done:
    if (d != NULL) {
        fab_stream_close(&d->stream);
    }
    free(d);
    return status;
}
