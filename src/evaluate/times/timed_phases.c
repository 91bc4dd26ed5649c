/* Times of phases, each found once however many jobs have it: plans of equal sizes differ in few phases, and a gather
 * has the flows of its reduction. */
#include "fab/timed_phases.h"

#include "fab/iterate.h"
#include "fab/parallel.h"
#include "fab/replay_memory.h"

#define SAME_BYTES 1e-9 /* of flows: those of a phase are rounded */
#define KEPT       12   /* phases of calls before */

static void timed_free(fab_timed_phase *t) {
    if (t != NULL) {
        FAB_FREE_ALL(t->of.src, t->of.dst, t->of.bytes, t->of.ordinal, t->bytes, t);
    }
}
FAB_OWNER(fab_timed_phase, timed_free)

void fab_timed_memo_release(fab_timed_memo *memo) {
    FAB_FREE_EACH_OF(timed_free, memo->timed, memo->n, .phase);
    FAB_RELEASE_EACH(fab_transfer_scratch_release, memo->scratch, memo->n_scratches);
    FAB_FREE_ALL(memo->timed, memo->scratch);
    *memo = (fab_timed_memo){.timed = NULL};
}

/* --- which phases are alike --------------------------------------------------------------------------------------- */

static bool same_array(const uint32_t *a, const uint32_t *b, size_t n) {
    return a == b || n == 0 || (a != NULL && b != NULL && memcmp(a, b, n * sizeof *a) == 0);
}

static double ratio_of(const fab_timed_phase *t, const fab_phase *phase) {
    return (double)phase->total_bytes / (double)t->of.total_bytes;
}

/* The same flows with bytes in proportion. */
static bool is_like(const fab_timed_phase *t, const fab_phase *phase) {
    const fab_phase *of = &t->of;
    const size_t n = phase->all.n > 0 ? 0 : (size_t)phase->n_flows;
    bool like = of->n_flows == phase->n_flows && of->all.n == phase->all.n && of->all.first == phase->all.first &&
                phase->all.share == NULL && of->all.share == NULL && of->all.group == phase->all.group &&
                of->total_bytes > 0 && same_array(of->src, phase->src, n) && same_array(of->dst, phase->dst, n) &&
                same_array(of->ordinal, phase->ordinal, n);
    const double ratio = like ? ratio_of(t, phase) : 1;
    for (size_t i = 0; i < n && like; i++) {
        like = fabs((double)of->bytes[i] * ratio - (double)phase->bytes[i]) <= (double)phase->bytes[i] * SAME_BYTES;
    }
    return like;
}

static fab_status copy_array(const void *from, size_t bytes, void *out, fab_error *err) {
    void *copy = NULL;
    if (from == NULL) {
        return FAB_OK;
    }
    FAB_PASS(fab_allocate(bytes, 1, &copy, err));
    memcpy(copy, from, bytes);
    *(void **)out = copy;
    return FAB_OK;
}

static fab_status add_timed(fab_timed_memo *memo, const fab_phase *phase, uint32_t n_links, fab_error *err) {
    const size_t n = phase->all.n > 0 ? 0 : (size_t)phase->n_flows;
    FAB_PASS(FAB_GROW(memo->timed, memo->capacity, memo->n + 1, err));
    FAB_OWNS_NEW(timed_free_owned, fab_timed_phase, t, 1, err);
    t->of = (fab_phase){.n_flows = phase->n_flows, .all = phase->all, .total_bytes = phase->total_bytes};
    FAB_PASS(copy_array(phase->src, n * sizeof *phase->src, &t->of.src, err));
    FAB_PASS(copy_array(phase->dst, n * sizeof *phase->dst, &t->of.dst, err));
    FAB_PASS(copy_array(phase->ordinal, n * sizeof *phase->ordinal, &t->of.ordinal, err));
    FAB_PASS(copy_array(phase->bytes, n * sizeof *phase->bytes, &t->of.bytes, err));
    FAB_PASS(FAB_NEW(t->bytes, n_links, err));
    memo->timed[memo->n++].phase = t;
    t = NULL;
    return FAB_OK;
}

/* Forgets the oldest but for KEPT. */
static void forget(fab_timed_memo *memo) {
    const size_t n = memo->n > KEPT ? memo->n - KEPT : 0;
    FAB_FREE_EACH_OF(timed_free, memo->timed, n, .phase);
    memo->n -= n;
    if (n > 0) {
        memmove(memo->timed, memo->timed + n, memo->n * sizeof *memo->timed);
    }
}

/* --- times -------------------------------------------------------------------------------------------------------- */

typedef struct pending {
    const fab_context *context;
    fab_timed_memo *memo;
    bool wants_time;
    fab_timed_place *timed; /* [n] */
    size_t *phase;
} pending;

static fab_status time_one(void *context, size_t item, size_t worker, fab_error *err) {
    pending *p = context;
    fab_timed_phase *t = p->timed[item].phase;
    FAB_PASS(fab_phase_transfer(p->context, 0, p->phase[item], p->wants_time, &p->memo->scratch[worker], t->bytes,
                                &t->found, err));
    t->is_found = true;
    t->has_time = p->wants_time;
    return FAB_OK;
}

fab_status fab_time_phases(fab_timed_memo *memo, const fab_context *context, size_t n_threads, bool wants_time,
                           fab_timed_place *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_traffic *traffic = NULL;
    size_t n = 0;
    pending p = {.context = context, .memo = memo, .wants_time = wants_time};
    FAB_OWNS_MEMBERS(p.timed, p.phase);
    FAB_TRY(fab_context_traffic(context, &traffic, err));
    if (memo->scratch == NULL) {
        FAB_TRY(FAB_NEW(memo->scratch, n_threads, err));
        memo->n_scratches = n_threads;
    }
    for (size_t i = 0; i < n_threads; i++) {
        memo->scratch[i].most_simulated = memo->most_simulated;
    }
    FAB_TRY(FAB_NEW_ALL(traffic->n_phases + 1, err, p.timed, p.phase));
    forget(memo);
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        out[i].phase = NULL;
        if (!fab_iterate_is_shared(phase->name)) {
            continue;
        }
        FAB_FIRST(k, memo->n, is_like(memo->timed[k].phase, phase));
        FAB_TRY(k == memo->n ? add_timed(memo, phase, fab_context_what(context)->fabric->n_links, err) : FAB_OK);
        fab_timed_phase *t = memo->timed[k].phase;
        if (!t->is_open && (!t->is_found || (wants_time && !t->has_time))) {
            t->is_open = true;
            t->is_found = false;
            t->of.total_bytes = phase->total_bytes; /* so far it may have been of another in proportion */
            if (phase->bytes != NULL) {
                memcpy(t->of.bytes, phase->bytes, (size_t)phase->n_flows * sizeof *phase->bytes);
            }
            p.phase[n] = i;
            p.timed[n++].phase = t;
        }
        out[i].phase = t;
    }
    status = fab_parallel_for(n, n_threads, time_one, &p, err);
done:
    for (size_t i = 0; i < n; i++) {
        p.timed[i].phase->is_open = false;
    }
    return status;
}

double fab_timed_s(const fab_timed_phase *timed, const fab_phase *phase, bool is_bound) {
    return ratio_of(timed, phase) * (is_bound ? timed->found.fullest_s : timed->found.transfer_s);
}

/* Bytes over links; `own` is filled where they are not the memo's. */
static fab_status timed_bytes(const fab_timed_phase *timed, const fab_phase *phase, uint32_t n_links, double **own,
                              const double **out, fab_error *err) {
    const double ratio = ratio_of(timed, phase);
    *out = timed->bytes;
    if (ratio != 1) {
        FAB_PASS(FAB_NEW(*own, n_links, err));
        FAB_FILL(*own, n_links, timed->bytes[fab_at] * ratio);
        *out = *own;
    }
    return FAB_OK;
}

/* --- iterations --------------------------------------------------------------------------------------------------- */

/* Phases of which the time is all that is wanted, as a result holds them. */
static fab_status fill_result(fab_timed_memo *memo, const fab_context *context, size_t n_threads, fab_result *result,
                              double **own, const double **bytes, double *transfer_s, fab_error *err) {
    const fab_traffic *traffic = NULL;
    const fab_router *router = NULL;
    const fab_fabric *fabric = fab_context_what(context)->fabric;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_context_router(context, 0, &router, err));
    FAB_OWNED_NEW(fab_timed_place, timed, traffic->n_phases + 1, err);
    FAB_PASS(fab_time_phases(memo, context, n_threads, true, timed, err));
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        fab_phase_result *out = &result->phases[i];
        FAB_PASS(FAB_NEW(out->engines, 1, err));
        out->n_engines = 1;
        FAB_FORMAT(out->name, "%s", phase->name);
        FAB_FORMAT(out->engines[0].engine, "%s", fab_router_facts_of(router)->engine);
        out->engines[0].has_time = true;
        if (timed[i].phase != NULL) {
            const double path_s = timed[i].phase->found.path_s;
            transfer_s[i] = fab_timed_s(timed[i].phase, phase, false);
            out->network_flows = path_s >= 0; /* some */
            out->engines[0].transfer_s.mean = transfer_s[i];
            out->engines[0].latency_s = fab_phase_latency_s(fabric, phase, path_s >= 0, path_s);
            FAB_PASS(timed_bytes(timed[i].phase, phase, fabric->n_links, &own[i], &bytes[i], err));
        }
    }
    return FAB_OK;
}

/* As a replay has it, up to rounding. */
fab_status fab_timed_iteration(fab_timed_memo *memo, const fab_context *context, size_t n_threads,
                               fab_fabric_result *about, fab_iteration *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(fab_result_release_rest) fab_result result = {.n_fabrics = 1, .fabrics = about};
    const fab_traffic *traffic = NULL;
    FAB_OWNED double **own = NULL;
    FAB_OWNED const double **bytes = NULL;
    FAB_OWNED double *transfer_s = NULL;
    const fab_replay replay = {
        .context = context, .n_seeds = 1, .n_threads = n_threads, .rates = true, .times_only = true};
    FAB_TRY(fab_context_traffic(context, &traffic, err));
    FAB_TRY(fab_replay_check_paths(&replay, err));
    FAB_TRY(FAB_NEW(result.phases, traffic->n_phases, err));
    result.n_phases = traffic->n_phases;
    FAB_TRY(fab_allocate(traffic->n_phases + 1, sizeof *own, &own, err));
    FAB_TRY(fab_allocate(traffic->n_phases + 1, sizeof *bytes, &bytes, err));
    FAB_TRY(FAB_NEW(transfer_s, traffic->n_phases + 1, err));
    FAB_TRY(fill_result(memo, context, n_threads, &result, own, bytes, transfer_s, err));
    FAB_TRY(FAB_NEW(result.paces, 1, err));
    FAB_TRY(fab_iterate_paces(fab_context_what(context)->fabric, traffic, bytes, transfer_s, result.paces, err));
    result.job = traffic->job;
    result.memory = traffic->memory;
    result.ranks = traffic->n_ranks;
    FAB_TRY(fab_iterate(traffic, &result, 0, out, err));
done:
    for (size_t i = 0; own != NULL && traffic != NULL && i < traffic->n_phases; i++) {
        free(own[i]);
    }
    return status;
}
