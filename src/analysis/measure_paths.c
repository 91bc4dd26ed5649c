/* Engines that give every queue pair a path: loads by adding up, then per flow the worst link on its paths.
 *
 * Phases of many paths are routed twice, a chunk at a time: once for the loads and once for the flows. An all-to-all
 * under an engine that looks at the destination alone is carried in bundles: all flows that enter at one leaf for one
 * GPU take the same path. */
#include "fab/memory.h"
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_PATHS 65536

/* GPUs of an all-to-all on one leaf whose NICs send as much. */
typedef struct source {
    uint32_t leaf; /* node */
    double sent;
    uint32_t count;
} source;

/* What is carried, a chunk at a time. */
typedef struct stream {
    const fab_trial *trial;
    const fab_routes *whole; /* routed already: the only chunk */
    uint64_t n_chunks, per_chunk;
    source *sources; /* of bundles */
    uint32_t n_sources;
    uint32_t *source_of; /* [GPU - first]: index in sources */
    fab_node_id *from;   /* of the bundles of a chunk, as the next three */
    uint32_t *to_nic;
    /* the chunk at hand */
    const fab_routes *routes;
    uint64_t first;         /* number of its flow 0 */
    const double *rate;     /* [flow of the chunk] */
    const double *volume;   /* bytes */
    const uint64_t *weight; /* flows in a bundle; NULL: 1 */
} stream;

/* --- chunks --------------------------------------------------------------------------------------------------------
 */

static fab_status load_flows(stream *s, uint64_t first, uint32_t n, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_subject *subject = s->trial->subject;
    fab_scratch *scratch = s->trial->scratch;
    FAB_TRY(FAB_GROW(scratch->volume, scratch->volume_capacity, n, err));
    if (subject->offer.rate == NULL) {
        FAB_TRY(FAB_GROW(scratch->rate, scratch->rate_capacity, n, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        scratch->volume[i] = (double)fab_phase_flow(subject->phase, first + i).bytes;
        if (subject->offer.rate == NULL) {
            scratch->rate[i] = fab_offer_rate(&subject->offer, subject->phase, first + i);
        }
    }
    s->first = first;
    s->rate = subject->offer.rate != NULL ? subject->offer.rate + first : scratch->rate;
    s->volume = scratch->volume;
    s->weight = NULL;
done:
    return status;
}

static uint32_t nic_of(const fab_subject *s, uint32_t gpu) {
    return fab_head(s->fabric, s->ports->gpu_nic[gpu]) - s->fabric->first[FAB_NODE_NIC];
}

/* The bundles of all sources to one GPU, appended at *n. */
static void add_bundles(stream *s, uint32_t gpu, uint32_t *members, uint32_t *n) {
    const fab_subject *subject = s->trial->subject;
    fab_scratch *scratch = s->trial->scratch;
    const fab_all_to_all *all = &subject->phase->all;
    uint32_t nic = nic_of(subject, gpu);
    uint32_t per_domain = subject->ports->gpu_scaleup[gpu] != FAB_NONE ? subject->fabric->gpus_per_domain : 1;
    uint32_t first = gpu / per_domain * per_domain;
    for (uint32_t i = 0; i < s->n_sources; i++) {
        members[i] = s->sources[i].count;
    }
    for (uint32_t other = first; other < first + per_domain; other++) { /* its own domain does not need the network */
        if (other >= all->first && other < all->first + all->n) {
            members[s->source_of[other - all->first]]--;
        }
    }
    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (members[i] > 0) {
            double most = fmax(s->sources[i].sent, subject->offer.received[nic]);
            double volume = (double)all->bytes * members[i];
            s->from[*n] = s->sources[i].leaf;
            s->to_nic[*n] = nic;
            scratch->volume[*n] = volume;
            scratch->rate[*n] = volume * subject->offer.line_bps / most;
            scratch->count[(*n)++] = members[i];
        }
    }
}

static fab_status load_bundles(stream *s, uint64_t chunk, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_all_to_all *all = &s->trial->subject->phase->all;
    fab_scratch *scratch = s->trial->scratch;
    uint32_t *members = NULL;
    uint32_t n = 0;
    uint64_t first = all->first + chunk * s->per_chunk;
    uint64_t last = first + s->per_chunk;
    FAB_TRY(FAB_NEW(members, s->n_sources, err));
    for (uint64_t gpu = first; gpu < last && gpu < (uint64_t)all->first + all->n; gpu++) {
        add_bundles(s, (uint32_t)gpu, members, &n);
    }
    FAB_TRY(fab_route_to_ports(s->trial->router, n, s->from, s->to_nic, &scratch->routes, err));
    s->routes = &scratch->routes;
    s->first = 0;
    s->rate = scratch->rate;
    s->volume = scratch->volume;
    s->weight = scratch->count;
done:
    free(members);
    return status;
}

static fab_status load_chunk(stream *s, uint64_t chunk, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_trial *trial = s->trial;
    const fab_phase *phase = trial->subject->phase;
    if (s->sources != NULL) {
        return load_bundles(s, chunk, err);
    }
    uint64_t first = chunk * s->per_chunk;
    uint64_t left = phase->n_flows - first;
    uint32_t n = (uint32_t)(left < s->per_chunk ? left : s->per_chunk);
    FAB_TRY(load_flows(s, first, n, err));
    s->routes = s->whole;
    if (s->whole == NULL) {
        trial->scratch->routes.between_switches = phase->all.n > 0;
        FAB_TRY(fab_route_flows(trial->router, phase, first, n, NULL, trial->seed, &trial->scratch->routes, err));
        s->routes = &trial->scratch->routes;
    }
done:
    return status;
}

static int by_leaf_and_sent(const void *a, const void *b) {
    const source *x = a;
    const source *y = b;
    return x->leaf != y->leaf ? (x->leaf > y->leaf) - (x->leaf < y->leaf) : (x->sent > y->sent) - (x->sent < y->sent);
}

static source source_of_gpu(const fab_subject *s, uint32_t gpu) {
    uint32_t nic = nic_of(s, gpu);
    return (source){.leaf = fab_head(s->fabric, s->ports->nic_access[nic]), .sent = s->offer.sent[nic]};
}

static fab_status open_bundles(stream *s, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_subject *subject = s->trial->subject;
    fab_scratch *scratch = s->trial->scratch;
    const fab_all_to_all *all = &subject->phase->all;
    FAB_TRY(FAB_NEW(s->sources, all->n, err));
    FAB_TRY(FAB_NEW(s->source_of, all->n, err));
    for (uint32_t i = 0; i < all->n; i++) {
        s->sources[i] = source_of_gpu(subject, all->first + i);
    }
    qsort(s->sources, all->n, sizeof *s->sources, by_leaf_and_sent);
    for (uint32_t i = 0; i < all->n; i++) { /* count equal ones */
        if (i == 0 || by_leaf_and_sent(&s->sources[s->n_sources - 1], &s->sources[i]) != 0) {
            s->sources[s->n_sources++] = s->sources[i];
        }
        s->sources[s->n_sources - 1].count++;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        source key = source_of_gpu(subject, all->first + i);
        const source *found = bsearch(&key, s->sources, s->n_sources, sizeof key, by_leaf_and_sent);
        s->source_of[i] = (uint32_t)(found - s->sources);
    }
    s->per_chunk = CHUNK_PATHS / s->n_sources + 1;
    s->n_chunks = (all->n + s->per_chunk - 1) / s->per_chunk;
    size_t most = s->per_chunk * s->n_sources;
    FAB_TRY(FAB_NEW(s->from, most, err));
    FAB_TRY(FAB_NEW(s->to_nic, most, err));
    FAB_TRY(FAB_GROW(scratch->rate, scratch->rate_capacity, most, err));
    FAB_TRY(FAB_GROW(scratch->volume, scratch->volume_capacity, most, err));
    FAB_TRY(FAB_GROW(scratch->count, scratch->count_capacity, most, err));
done:
    return status;
}

static fab_status open_stream(const fab_trial *trial, stream *s, fab_error *err) {
    const fab_subject *subject = trial->subject;
    const fab_router *router = trial->router;
    const fab_phase *phase = subject->phase;
    uint64_t limit = trial->whole_paths > 0 ? trial->whole_paths : FAB_WHOLE_PATHS;
    uint64_t per_flow = fab_paths_per_flow(router);
    *s = (stream){.trial = trial};
    bool all_at_once = router->engine->route != NULL || router->n_rounds > 1;
    if (all_at_once || phase->n_flows <= limit / per_flow) {
        fab_status status = FAB_OK;
        if (phase->n_flows > UINT32_MAX) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "engine %s takes all flows at once, and there are too many",
                            router->engine->name);
        }
        s->per_chunk = phase->n_flows;
        s->n_chunks = 1;
        status = load_flows(s, 0, (uint32_t)phase->n_flows, err);
        if (status == FAB_OK) {
            trial->scratch->routes.between_switches = false;
            status = fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, s->rate, trial->seed,
                                     &trial->scratch->routes, err);
        }
        s->whole = &trial->scratch->routes;
        return status;
    }
    bool alike = router->engine->by_destination && phase->all.n > 0 && subject->demand.n_parts == 1 &&
                 !subject->fabric->forwards_in_domain;
    if (alike) {
        return open_bundles(s, err);
    }
    s->per_chunk = CHUNK_PATHS / per_flow + 1;
    s->n_chunks = (phase->n_flows + s->per_chunk - 1) / s->per_chunk;
    return FAB_OK;
}

static void close_stream(stream *s) {
    free(s->sources);
    free(s->source_of);
    free(s->from);
    free(s->to_nic);
}

/* --- loads ---------------------------------------------------------------------------------------------------------
 */

/* Adds the chunk at hand to the offered rates and bytes of links. */
static void add_loads(const stream *s, double *use, double *bytes) {
    const fab_routes *r = s->routes;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
        double rate = s->rate[flow] / n_paths;
        double volume = s->volume[flow] / n_paths;
        size_t last = r->path_first[r->flow_first[flow + 1]];
        for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
            use[r->link[i]] += rate;
            bytes[r->link[i]] += volume;
        }
    }
}

static void add_counts(const fab_routes *r, double *count) {
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        double part = 1.0 / (r->flow_first[flow + 1] - r->flow_first[flow]);
        size_t last = r->path_first[r->flow_first[flow + 1]];
        for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
            count[r->link[i]] += part;
        }
    }
}

static void start_loads(const stream *s, double *use, double *bytes) {
    const fab_demand *d = &s->trial->subject->demand;
    size_t size = s->trial->subject->fabric->n_links * sizeof *use;
    bool legs_apart = s->whole == NULL && s->trial->subject->phase->all.n > 0;
    if (legs_apart) {
        memcpy(use, d->leg_rate, size);
        memcpy(bytes, d->leg_bytes, size);
    } else {
        memset(use, 0, size);
        memset(bytes, 0, size);
    }
}

/* --- flows ---------------------------------------------------------------------------------------------------------
 */

static double worst_link(const fab_subject *subject, const fab_routes *r, uint32_t flow, const double *use) {
    double worst = 0;
    size_t last = r->path_first[r->flow_first[flow + 1]];
    for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
        if (fab_class_of(subject->fabric, r->link[i])->kind == FAB_LINK_FABRIC) {
            worst = fmax(worst, use[r->link[i]]);
        }
    }
    return worst;
}

static double line_share(const fab_subject *subject, const fab_routes *r, uint32_t flow, const double *count) {
    double worst = 1;
    size_t last = r->path_first[r->flow_first[flow + 1]];
    for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
        worst = fmax(worst, fab_line_share(subject, r->link[i], count[r->link[i]]));
    }
    return 1 / worst;
}

/* GPUs behind a bundle: those of the all-to-all that enter at its leaf and are not of the destination's domain. */
static void meet_bundle(const stream *s, uint32_t bundle, fab_hot_link *hot) {
    const fab_subject *subject = s->trial->subject;
    const fab_all_to_all *all = &subject->phase->all;
    hot->n_flows += s->weight[bundle];
    for (uint32_t to = 0; to < all->n && hot->n_listed < FAB_HOT_FLOWS; to++) {
        if (nic_of(subject, all->first + to) != s->to_nic[bundle]) {
            continue;
        }
        for (uint32_t from = 0; from < all->n && hot->n_listed < FAB_HOT_FLOWS; from++) {
            uint64_t flow = (uint64_t)from * (all->n - 1) + to - (to > from);
            bool enters =
                from != to && s->sources[s->source_of[from]].leaf == s->from[bundle] &&
                (subject->ports->gpu_scaleup[all->first + from] == FAB_NONE ||
                 fab_domain_of(subject->fabric, all->first + from) != fab_domain_of(subject->fabric, all->first + to));
            if (enters) {
                fab_detail_meet(subject, flow, 1, hot);
            }
        }
    }
}

/* Share of a flow that crosses a hot link; paths of a flow follow one another. */
static void meet(const stream *s, const uint8_t *hot_of) {
    const fab_routes *r = s->routes;
    fab_engine_result *out = s->trial->detail;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        double share[FAB_HOT_LINKS] = {0};
        uint32_t touched = 0;
        uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
        size_t last = r->path_first[r->flow_first[flow + 1]];
        for (size_t i = r->path_first[r->flow_first[flow]]; i < last; i++) {
            uint8_t hot = hot_of[r->link[i]];
            if (hot != 0) {
                share[hot - 1] += 1.0 / n_paths;
                touched |= 1U << (hot - 1);
            }
        }
        for (uint32_t k = 0; touched >> k != 0; k++) {
            if ((touched >> k & 1U) == 0) {
                continue;
            }
            if (s->weight != NULL) {
                meet_bundle(s, flow, &out->hot[k]);
            } else {
                out->hot[k].n_flows++;
                fab_detail_meet(s->trial->subject, s->first + flow, share[k], &out->hot[k]);
            }
        }
    }
}

/* A path of an engine with its own tables may be longer than need be: then no bound over minimal paths holds. */
static fab_status find_minimal(const stream *s, bool *is_minimal, fab_error *err) {
    static const fab_split EVEN = {.rule = FAB_SPLIT_EQUAL};
    fab_status status = FAB_OK;
    const fab_subject *subject = s->trial->subject;
    const fab_routes *r = s->routes;
    double *x = NULL;
    double *hops = NULL;
    FAB_TRY(FAB_NEW(x, subject->fabric->n_links, err));
    FAB_TRY(FAB_NEW(hops, subject->demand.n_pairs, err));
    for (uint32_t l = 0; l < subject->fabric->n_links; l++) {
        x[l] = 1;
    }
    FAB_TRY(fab_split_fold(subject->dag, &EVEN, FAB_FOLD_SHORTEST, x, &subject->demand, hops, err));
    double sum = 0; /* each path has at least as many hops, so that equal sums mean equal paths */
    double least = 0;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
        for (size_t i = r->path_first[r->flow_first[flow]]; i < r->path_first[r->flow_first[flow + 1]]; i++) {
            sum += fab_class_of(subject->fabric, r->link[i])->kind == FAB_LINK_FABRIC;
        }
        double of_flow = 0;
        for (uint32_t p = 0; p < subject->demand.n_parts; p++) {
            uint32_t pair = subject->classes.pair[(size_t)flow * subject->demand.n_parts + p];
            of_flow += pair != FAB_NONE ? hops[pair] : 0;
        }
        least += of_flow * n_paths / subject->demand.n_parts;
    }
    *is_minimal = sum <= least * (1 + 1e-9);
done:
    free(x);
    free(hops);
    return status;
}

/* --- a draw --------------------------------------------------------------------------------------------------------
 */

static fab_status mark_hot(const stream *s, uint8_t **out, fab_error *err) {
    fab_status status = FAB_NEW(*out, s->trial->subject->fabric->n_links, err);
    for (size_t i = 0; status == FAB_OK && i < s->trial->detail->n_hot; i++) {
        (*out)[s->trial->detail->hot[i].link] = (uint8_t)(i + 1);
    }
    return status;
}

/* Second pass: what each flow meets. `count`: flows on every link, for the effective bisection. */
static fab_status visit_flows(stream *s, const double *use, const double *count, bool detail, fab_sample *out,
                              fab_error *err) {
    fab_status status = FAB_OK;
    const fab_subject *subject = s->trial->subject;
    fab_flow_tally tally = {0};
    uint8_t *hot_of = NULL;
    double shares = 0;
    if (detail) {
        FAB_TRY(mark_hot(s, &hot_of, err));
    }
    for (uint64_t chunk = 0; chunk < s->n_chunks; chunk++) {
        if (s->n_chunks > 1) {
            FAB_TRY(load_chunk(s, chunk, err));
        }
        for (uint32_t flow = 0; flow < s->routes->n_flows; flow++) {
            fab_tally_add(&tally, worst_link(subject, s->routes, flow, use),
                          s->weight != NULL ? (double)s->weight[flow] : 1);
            shares += count != NULL ? line_share(subject, s->routes, flow, count) : 0;
        }
        if (detail) {
            meet(s, hot_of);
        }
    }
    fab_sample_flows(&tally, out);
    out->effective_bisection = count != NULL ? shares / (double)subject->phase->n_flows : 0;
done:
    free(hot_of);
    return status;
}

/* Both passes. @param bytes  Of the links that carry bytes in this sample. */
static fab_status measure(stream *s, double *use, double *bytes, bool detail, fab_sample *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_trial *trial = s->trial;
    const fab_subject *subject = trial->subject;
    fab_next_hop_use *next_hops = NULL;
    double *count = NULL;
    bool is_minimal = fab_router_is_minimal(trial->router);
    if (subject->bisection) {
        FAB_TRY(FAB_NEW(count, subject->fabric->n_links, err));
    }
    if (detail) {
        FAB_TRY(fab_next_hop_use_new(subject->fabric, trial->router, &next_hops, err));
    }
    start_loads(s, use, bytes);
    for (uint64_t chunk = 0; chunk < s->n_chunks; chunk++) {
        FAB_TRY(load_chunk(s, chunk, err));
        add_loads(s, use, bytes);
        if (count != NULL) {
            add_counts(s->routes, count);
        }
        if (detail) {
            fab_next_hop_use_add(next_hops, s->routes, s->first);
        }
    }
    FAB_TRY(fab_sample_loads(trial, use, bytes, out, err));
    if (detail) {
        fab_detail_loads(trial, use, bytes);
        fab_next_hop_use_finish(next_hops, trial->detail);
    }
    FAB_TRY(visit_flows(s, use, count, detail, out, err));
    if (!is_minimal && subject->has_bound && s->whole != NULL) {
        FAB_TRY(find_minimal(s, &is_minimal, err));
    }
    FAB_TRY(fab_sample_bound(trial, is_minimal, out, err));
done:
    fab_next_hop_use_free(next_hops);
    free(count);
    return status;
}

static void add_sample(const fab_sample *one, double part, fab_sample *sum) {
    sum->collided_links += one->collided_links * part;
    sum->collided_flows += one->collided_flows * part;
    sum->max_collision += one->max_collision * part;
    sum->mean_collision += one->mean_collision * part;
    sum->max_taper += one->max_taper * part;
    sum->max_hash += one->max_hash * part;
    sum->max_utilisation += one->max_utilisation * part;
    sum->effective_bisection += one->effective_bisection * part;
    sum->busiest_link_s += one->busiest_link_s * part;
    sum->gap += one->gap * part;
    sum->throughput += one->throughput * part;
}

/* Queue pairs take turns: the mean over the rounds, each of which sends all bytes over its paths. The first one last,
 * whose loads are shown. */
static fab_status measure_rounds(stream *s, fab_sample *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_trial *trial = s->trial;
    fab_scratch *scratch = trial->scratch;
    const fab_routes *all = s->whole;
    uint32_t n = trial->router->n_rounds;
    for (uint32_t round = n; round-- > 0;) {
        fab_sample one = {0};
        FAB_TRY(fab_routes_of_round(all, round, n, &scratch->round, err));
        s->whole = &scratch->round;
        FAB_TRY(measure(s, scratch->use, scratch->bytes, trial->detail != NULL && round == 0, &one, err));
        add_sample(&one, 1.0 / n, out);
    }
done:
    s->whole = all;
    return status;
}

fab_status fab_trial_paths(const fab_trial *trial, fab_sample *out, fab_error *err) {
    fab_status status = FAB_OK;
    stream s;
    FAB_TRY(open_stream(trial, &s, err));
    if (trial->router->n_rounds > 1) {
        FAB_TRY(measure_rounds(&s, out, err));
    } else {
        FAB_TRY(measure(&s, trial->scratch->use, trial->scratch->bytes, trial->detail != NULL, out, err));
    }
done:
    close_stream(&s);
    return status;
}
