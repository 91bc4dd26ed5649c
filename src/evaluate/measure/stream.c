/* Routes a phase whole, in chunks of flows, or in bundles. */
#include "stream.h"
#include "fab/phase_transfer.h"
#include "measure_rates.h"

#define CHUNK_PATHS  65536
#define MOST_AT_ONCE (1U << 26) /* flows: rates, bytes and places of more would fill the memory */

static fab_status load_flows(const fab_stream *s, uint64_t first, uint32_t n, fab_scratch *scratch, fab_chunk *out,
                             fab_error *err) {
    const fab_prepared_phase *prepared = s->run->prepared;
    FAB_PASS(FAB_GROW(scratch->volume, scratch->volume_capacity, n, err));
    if (prepared->offer->rate == NULL) {
        FAB_PASS(FAB_GROW(scratch->rate, scratch->rate_capacity, n, err));
        fab_offer_chunk(prepared->offer, prepared->phase, first, n, scratch->rate);
    }
    for (uint32_t i = 0; i < n; i++) {
        const fab_all_to_all *all = &prepared->phase->all;
        scratch->volume[i] =
            (double)(fab_all_is_plain(all) ? all->bytes : fab_phase_flow(prepared->phase, first + i).bytes);
    }
    *out = (fab_chunk){.first = first,
                       .rate = prepared->offer->rate != NULL ? prepared->offer->rate + first : scratch->rate,
                       .volume = scratch->volume};
    return FAB_OK;
}

static uint32_t nic_of(const fab_prepared_phase *s, uint32_t gpu) {
    return fab_head(s->fabric, s->ports->gpu_nic[gpu]) - s->fabric->first[FAB_NODE_NIC];
}

/* The bundles of all sources to one GPU, appended at *n. */
static void add_bundles(const fab_stream *s, uint32_t gpu, fab_scratch *scratch, uint32_t *n) {
    const fab_prepared_phase *prepared = s->run->prepared;
    uint32_t *members = scratch->members;
    const fab_all_to_all *all = &prepared->phase->all;
    uint32_t nic = nic_of(prepared, gpu);
    uint32_t per_domain = prepared->ports->gpu_scaleup[gpu] != FAB_NONE ? prepared->fabric->gpus_per_domain : 1;
    uint32_t first = gpu / per_domain * per_domain;
    FAB_FILL(members, s->n_sources, s->sources[fab_at].count);
    for (uint32_t other = first; other < first + per_domain; other++) { /* its own domain does not need the network */
        if (other >= all->first && other < all->first + all->n) {
            members[s->source_of[other - all->first]]--;
        }
    }
    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (members[i] > 0) {
            double most = fmax(s->sources[i].sent, prepared->offer->received[nic]);
            double volume = (double)all->bytes * members[i];
            scratch->from[*n] = s->sources[i].leaf;
            scratch->to_nic[*n] = nic;
            scratch->source[*n] = i;
            scratch->to[*n] = gpu - all->first;
            scratch->volume[*n] = volume;
            scratch->rate[*n] = volume * prepared->offer->line_bps / most;
            scratch->count[(*n)++] = members[i];
        }
    }
}

static fab_status load_bundles(const fab_stream *s, uint64_t chunk, fab_scratch *scratch, fab_chunk *out,
                               fab_error *err) {
    const fab_all_to_all *all = &s->run->prepared->phase->all;
    uint32_t n = 0;
    size_t most = s->per_chunk * s->n_sources;
    uint64_t first = all->first + chunk * s->per_chunk;
    uint64_t last = first + s->per_chunk;
    FAB_PASS(FAB_GROW(scratch->members, scratch->members_capacity, s->n_sources, err));
    FAB_PASS(FAB_GROW(scratch->from, scratch->from_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->to_nic, scratch->to_nic_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->source, scratch->source_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->to, scratch->to_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->rate, scratch->rate_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->volume, scratch->volume_capacity, most, err));
    FAB_PASS(FAB_GROW(scratch->count, scratch->count_capacity, most, err));
    for (uint64_t gpu = first; gpu < last && gpu < (uint64_t)all->first + all->n; gpu++) {
        add_bundles(s, (uint32_t)gpu, scratch, &n);
    }
    FAB_PASS(fab_route_to_ports(s->run->router, n, scratch->from, scratch->to_nic, &scratch->routes, err));
    *out = (fab_chunk){.routes = &scratch->routes,
                       .first = chunk * most,
                       .rate = scratch->rate,
                       .volume = scratch->volume,
                       .weight = scratch->count,
                       .source = scratch->source,
                       .to = scratch->to};
    return FAB_OK;
}

fab_status fab_stream_load(const fab_stream *s, uint64_t chunk, fab_pass_kind pass, fab_scratch *scratch,
                           fab_chunk *out, fab_error *err) {
    const fab_engine_run *run = s->run;
    const fab_phase *phase = run->prepared->phase;
    scratch->routes.wants_groups = pass == FAB_PASS_LOADS && run->detail != NULL;
    if (s->sources != NULL) {
        return load_bundles(s, chunk, scratch, out, err);
    }
    uint64_t first = chunk * s->per_chunk;
    uint64_t left = phase->n_flows - first;
    uint32_t n = (uint32_t)(left < s->per_chunk ? left : s->per_chunk);
    *out = (fab_chunk){.first = first};
    FAB_PASS(pass == FAB_PASS_LOADS ? load_flows(s, first, n, scratch, out, err) : FAB_OK);
    out->routes = s->whole;
    if (s->whole == NULL) {
        scratch->routes.between_switches = phase->all.n > 0;
        FAB_PASS(fab_route_flows(run->router, phase, first, n, NULL, run->seed, &scratch->routes, err));
        out->routes = &scratch->routes;
    }
    return FAB_OK;
}

FAB_ORDER_KEYS(by_leaf_and_sent, fab_source, FAB_ORDER(a->leaf, b->leaf), FAB_ORDER(a->sent, b->sent));

static fab_source source_of_gpu(const fab_prepared_phase *s, uint32_t gpu) {
    uint32_t nic = nic_of(s, gpu);
    return (fab_source){.leaf = fab_head(s->fabric, s->ports->nic_access[nic]), .sent = s->offer->sent[nic]};
}

/* s->member, from s->source_of. */
static fab_status stream_list_members(fab_stream *s, uint32_t n, fab_error *err) {
    FAB_PASS(FAB_NEW(s->member_first, (size_t)s->n_sources + 1, err));
    FAB_PASS(FAB_NEW(s->member, n, err));
    for (uint32_t i = 0; i < s->n_sources; i++) {
        s->member_first[i + 1] = s->member_first[i] + s->sources[i].count;
    }
    for (uint32_t i = n; i-- > 0;) { /* from behind: every end becomes the start of the next source */
        s->member[--s->member_first[s->source_of[i] + 1]] = i;
    }
    FAB_FILL(s->member_first, s->n_sources, s->member_first[fab_at + 1]);
    s->member_first[s->n_sources] = n;
    return FAB_OK;
}

static fab_status open_bundles(fab_stream *s, fab_error *err) {
    const fab_prepared_phase *prepared = s->run->prepared;
    const fab_all_to_all *all = &prepared->phase->all;
    FAB_PASS(FAB_NEW_ALL(all->n, err, s->sources, s->source_of));
    FAB_FILL(s->sources, all->n, source_of_gpu(prepared, all->first + (uint32_t)fab_at));
    qsort(s->sources, all->n, sizeof *s->sources, by_leaf_and_sent);
    for (uint32_t i = 0; i < all->n; i++) { /* count equal ones */
        if (i == 0 || by_leaf_and_sent(&s->sources[s->n_sources - 1], &s->sources[i]) != 0) {
            s->sources[s->n_sources++] = s->sources[i];
        }
        s->sources[s->n_sources - 1].count++;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        fab_source key = source_of_gpu(prepared, all->first + i);
        const fab_source *found = bsearch(&key, s->sources, s->n_sources, sizeof key, by_leaf_and_sent);
        s->source_of[i] = (uint32_t)(found - s->sources);
    }
    FAB_PASS(stream_list_members(s, all->n, err));
    s->per_chunk = CHUNK_PATHS / s->n_sources + 1;
    s->n_chunks = (all->n + s->per_chunk - 1) / s->per_chunk;
    return FAB_OK;
}

void fab_hash_routing(const fab_router *of, const fab_phase *phase, uint64_t seed, const double *rate, bool merges,
                      uint64_t out[2]) {
    const size_t n = phase->all.n > 0 ? 0 : (size_t)phase->n_flows;
    const uintptr_t router = (uintptr_t)of; /* the one itself: labels may be cut */
    out[0] = n > 0 ? seed : 0;
    out[1] = n > 0 ? 2 * phase->n_flows + merges : 0;
    if (n > 0) {
        fab_hash_words(&router, sizeof router, out);
        fab_hash_words(phase->src, n * sizeof *phase->src, out);
        fab_hash_words(phase->dst, n * sizeof *phase->dst, out);
        fab_hash_words(phase->ordinal, phase->ordinal != NULL ? n * sizeof *phase->ordinal : 0, out);
        fab_hash_words(rate, fab_router_facts_of(of)->takes_phases ? n * sizeof *rate : 0, out);
    }
}

static fab_status open_whole(fab_stream *s, const uint64_t *known, fab_error *err) {
    const fab_engine_run *run = s->run;
    const fab_phase *phase = run->prepared->phase;
    fab_chunk chunk;
    FAB_REFUSE_IF(phase->n_flows > MOST_AT_ONCE, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s takes all flows of a phase at once; %" PRIu64 " exceed the limit of %u",
                  fab_router_facts_of(run->router)->engine, phase->n_flows, MOST_AT_ONCE);
    s->per_chunk = phase->n_flows;
    s->n_chunks = 1;
    FAB_PASS(load_flows(s, 0, (uint32_t)phase->n_flows, run->scratch, &chunk, err));
    fab_routes *routes = &run->scratch->routes;
    uint64_t asked[2] = {0};
    routes->between_switches = false;
    routes->merges = fab_router_facts_of(run->router)->is_minimal && run->trace == NULL && run->proof == NULL &&
                     !fab_is_lossless(run->transport);
    fab_hash_routing(run->router, phase, run->seed, chunk.rate, routes->merges, asked);
    for (size_t i = 0; asked[1] != 0 && run->tried != NULL && i < 2; i++) {
        if (memcmp(asked, run->tried->kept[i].hash, sizeof asked) == 0) {
            s->whole = &run->tried->kept[i].routes; /* and what comes next is looked for there first */
            memcpy(run->scratch->routed, asked, sizeof asked);
            return FAB_OK;
        }
    }
    if (asked[1] == 0 || memcmp(asked, known, sizeof asked) != 0) { /* a gather has the flows of its reduction */
        FAB_PASS(fab_route_flows(run->router, phase, 0, (uint32_t)phase->n_flows, chunk.rate, run->seed, routes, err));
    }
    memcpy(run->scratch->routed, asked, sizeof asked);
    s->whole = routes;
    return FAB_OK;
}

fab_status fab_stream_open(const fab_engine_run *run, fab_stream *s, fab_error *err) {
    const fab_prepared_phase *prepared = run->prepared;
    const fab_router *router = run->router;
    const fab_phase *phase = prepared->phase;
    uint64_t limit = run->kept_paths > 0 ? run->kept_paths : FAB_KEPT_PATHS;
    uint64_t per_flow = fab_router_facts_of(router)->paths_per_flow;
    const uint64_t known[2] = {run->scratch->routed[0], run->scratch->routed[1]};
    *s = (fab_stream){.run = run};
    memset(run->scratch->routed, 0, sizeof run->scratch->routed); /* until they are others */
    bool all_at_once = fab_router_facts_of(router)->takes_phases || fab_router_facts_of(router)->n_rounds > 1;
    if (all_at_once || phase->n_flows <= limit / per_flow) {
        return open_whole(s, known, err);
    }
    bool alike = fab_router_facts_of(router)->is_by_destination && fab_all_is_plain(&phase->all) &&
                 prepared->demand->n_parts == 1 && !prepared->fabric->forwards_in_domain;
    if (alike) {
        return open_bundles(s, err);
    }
    s->per_chunk = CHUNK_PATHS / per_flow + 1;
    s->n_chunks = (phase->n_flows + s->per_chunk - 1) / s->per_chunk;
    return FAB_OK;
}

FAB_RELEASES(fab_stream_close, fab_stream, sources, source_of, member_first, member);
