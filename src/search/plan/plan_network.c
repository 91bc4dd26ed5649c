/* Times of the phases of a plan: bounds of them, and as they are. */
#include "plan_internal.h"

#include "fab/analysis.h"
#include "fab/iterate.h"
#include "fab/replay_memory.h"

#define FLOWS_OF_A_ROUTE 32 /* of experts, that take as long as the rest of a GPU's */

/* Phases of plans that differ in microbatch and chunks alone: of microbatches of 1 and one chunk. */
typedef struct plan_phases {
    fab_job_plan of;
    bool repeats;
    plan_depth depth;
    fab_job_times times[PLAN_DEPTHS];
} plan_phases;

fab_status plan_network_open(const fab_plan_request *request, fab_job_space *space, plan_network *out, fab_error *err) {
    const fab_router *router = NULL;
    *out = (plan_network){.request = request, .space = space};
    FAB_PASS(FAB_NEW_ALL(1, err, out->design, out->about));
    *out->design = *request->design;
    if (out->design->n_jobs == 0) {
        FAB_PASS(fab_design_default_job(&out->design->jobs[0], err));
        out->design->n_jobs = 1;
    }
    out->about->spec = request->design->fabric;
    out->about->counts.gpus = fab_n_gpus(request->fabric); /* iterations have no price here */
    plan_rates_find(request->fabric, space, &out->rates);
    fab_context_request what = fab_context_of(request->design, request->fabric, "job", request->seed);
    what.n_engines = 1;
    FAB_PASS(fab_context_new(&what, &out->base, err));
    FAB_PASS(fab_context_router(out->base, 0, &router, err));
    const fab_router_facts *facts = fab_router_facts_of(router);
    /* Senders of spray-ack leave the paths of the engine's weights, so that its fullest link bounds nothing. */
    out->paths_are_fixed = !facts->takes_phases && !facts->is_by_demand &&
                           request->design->fabric.transport.kind != FAB_TRANSPORT_SPRAY_ACK;
    return FAB_OK;
}

void plan_network_close(plan_network *network) {
    fab_context_free(network->base);
    fab_least_memo_release(&network->least);
    FAB_FREE_ALL(network->design, network->about, network->phases);
    for (size_t i = 0; i < FAB_VERDICT_SEEDS; i++) {
        fab_timed_memo_release(&network->memo[i]);
    }
    *network = (plan_network){.request = NULL};
}

/* A context of the design with this plan. NULL as traffic: all phases. */
static fab_status open_plan(plan_network *n, const fab_job_plan *plan, bool checks, const char *traffic, uint64_t draw,
                            fab_context **out, fab_error *err) {
    fab_job_spec *job = &n->design->jobs[0];
    if (n->request->design->n_jobs > 0) {
        *job = n->request->design->jobs[0];
    }
    fab_job_plan_apply(n->space, plan, job);
    job->memory_check = checks ? job->memory_check : FAB_MEMORY_CHECK_OFF;
    const fab_context_request what = {.base = n->base, .design = n->design, .traffic = traffic, .draw = draw};
    return fab_context_new(&what, out, err);
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static bool leaves_domains(const fab_fabric *fabric, const fab_phase *phase) {
    const uint32_t size = fab_all_group(&phase->all);
    for (uint32_t first = phase->all.first; first < phase->all.first + phase->all.n; first += size) {
        if (fab_domain_of(fabric, first) != fab_domain_of(fabric, first + size - 1)) {
            return true;
        }
    }
    FAB_ANY(leaves, i, phase->all.n == 0 ? phase->n_flows : 0,
            fab_domain_of(fabric, phase->src[i]) != fab_domain_of(fabric, phase->dst[i]));
    return leaves;
}

/* The engine's paths carry them over links. */
static fab_status find_paths(plan_network *n, const fab_context *context, fab_job_times *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_OWNED_NEW(fab_timed_place, timed, traffic->n_phases + 1, err);
    FAB_PASS(fab_time_phases(&n->memo[0], context, n->request->n_threads, false, timed, err));
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        if (timed[i].phase != NULL) {
            const double path_s = timed[i].phase->found.path_s;
            fab_iterate_add(phase->name, fab_timed_s(timed[i].phase, phase, true),
                            fab_phase_latency_s(n->request->fabric, phase, path_s >= 0, path_s), path_s >= 0, out);
        }
    }
    return FAB_OK;
}

/* Every routing has to carry the bytes over NICs, out of leaves and into them; the engine over the links of its paths.
 */
static fab_status find_least(plan_network *n, const fab_context *context, bool wants_links, fab_job_times *out,
                             fab_error *err) {
    const fab_fabric *fabric = n->request->fabric;
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_OWNED_NEW(fab_least, least, traffic->n_phases, err);
    FAB_PASS(fab_least_times(&n->least, context, n->request->n_threads, wants_links, least, err));
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        if (fab_iterate_is_shared(phase->name)) {
            const bool in_network = wants_links ? least[i].path_s >= 0 : leaves_domains(fabric, phase);
            fab_iterate_add(phase->name, fmax(least[i].least_s, least[i].links_s),
                            fab_phase_latency_s(fabric, phase, in_network, fmax(least[i].path_s, 0)), in_network, out);
        }
    }
    return FAB_OK;
}

/* As a replay routes them, whose memory they need. */
static fab_status find_shares(plan_network *n, const fab_context *context, fab_job_times *out, fab_error *err) {
    const fab_replay replay = {
        .context = context, .n_seeds = 1, .n_threads = n->request->n_threads, .times_only = true};
    FAB_PASS(fab_replay_check_paths(&replay, err));
    return find_least(n, context, true, out, err);
}

static fab_status find_links(plan_network *n, const fab_context *context, fab_job_times *out, fab_error *err) {
    bool is_known = false;
    FAB_PASS(fab_transfer_is_known(context, 0, &is_known, err));
    return is_known ? find_paths(n, context, out, err) : find_shares(n, context, out, err);
}

static bool same_sizes(const plan_phases *p, const fab_job_plan *plan, bool repeats) {
    const fab_job_plan *of = &p->of;
    return of->tp == plan->tp && of->cp == plan->cp && of->pp == plan->pp && of->dp == plan->dp && of->ep == plan->ep &&
           p->repeats == repeats;
}

static bool repeats_of(const plan_network *n, const fab_job_plan *plan) {
    const fab_job_spec *job = n->request->design->n_jobs > 0 ? &n->request->design->jobs[0] : &n->design->jobs[0];
    return job->recompute_traffic && plan->recompute == FAB_RECOMPUTE_FULL;
}

/* NULL: nothing is known. */
static plan_phases *known_phases(const plan_network *n, const fab_job_plan *plan) {
    const bool repeats = repeats_of(n, plan);
    FAB_FIRST(i, n->n_phases, n->phases[i].of.zero == plan->zero && same_sizes(&n->phases[i], plan, repeats));
    return i < n->n_phases ? &n->phases[i] : NULL;
}

bool plan_has_parts(const plan_network *n, uint64_t ep) {
    return ep > 1 && n->paths_are_fixed;
}

plan_depth plan_known(const plan_network *n, const fab_job_plan *plan) {
    const plan_phases *found = known_phases(n, plan);
    return found != NULL ? found->depth : PLAN_FLOOR;
}

/* Exchanges of experts are routed apart, and last: what the copies share does not matter to them. */
static fab_status find_experts(plan_network *n, const fab_job_plan *plan, plan_phases *found, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    const fab_traffic *traffic = NULL;
    for (size_t i = 0; i < n->n_phases; i++) {
        if (n->phases[i].depth == PLAN_LINKS && same_sizes(&n->phases[i], plan, found->repeats)) {
            found->times[PLAN_LINKS].ep = n->phases[i].times[PLAN_LINKS].ep;
            return FAB_OK;
        }
    }
    found->times[PLAN_LINKS].ep = (fab_phase_time){.transfer_s = 0};
    FAB_PASS(open_plan(n, plan, false, FAB_JOB_EXPERTS, 0, &context, err));
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    for (size_t i = 0; i < traffic->n_phases; i++) {
        n->routed += traffic->phases[i].n_flows / FLOWS_OF_A_ROUTE;
    }
    return find_links(n, context, &found->times[PLAN_LINKS], err);
}

/* Where the paths of the first plan are too many, those of all are. */
static fab_status check_paths(plan_network *n, const fab_job_plan *plan, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    const fab_traffic *traffic = NULL;
    FAB_PASS(open_plan(n, plan, false, NULL, 0, &context, err));
    FAB_PASS(fab_context_traffic(context, &traffic, err)); /* what is refused here is this plan alone */
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = n->request->n_threads, .rates = true};
    n->is_too_large = true;
    FAB_PASS(fab_replay_check_paths(&replay, err));
    n->is_too_large = false;
    return FAB_OK;
}

/* `floor`: in closed form. */
static fab_status find_depth(plan_network *n, const fab_job_plan *plan, plan_depth depth, const fab_job_times *floor,
                             plan_phases *found, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    const bool has_parts = plan_has_parts(n, plan->ep);
    if (found->depth < PLAN_RINGS) {
        const char *traffic = has_parts && depth >= PLAN_RINGS ? FAB_JOB_OTHERS : NULL;
        FAB_PASS(open_plan(n, plan, false, traffic, 0, &context, err));
        fab_job_times *const times = &found->times[depth == PLAN_ENDS ? PLAN_ENDS : PLAN_RINGS];
        FAB_PASS(depth == PLAN_ENDS ? find_least(n, context, false, times, err) : find_links(n, context, times, err));
        times->ep = traffic != NULL ? floor->ep : times->ep;
        n->n_rings += traffic != NULL ? 1 : 0;
        found->depth = depth == PLAN_ENDS ? PLAN_ENDS : PLAN_RINGS;
    }
    if (depth == PLAN_LINKS) {
        found->times[PLAN_LINKS] = found->times[PLAN_RINGS];
        FAB_PASS(has_parts ? find_experts(n, plan, found, err) : FAB_OK);
        found->depth = PLAN_LINKS;
        n->n_routed++;
        n->routed += fab_job_space_gpus(n->space);
    }
    return FAB_OK;
}

static fab_status find_phases(plan_network *n, const fab_job_plan *plan, plan_depth depth, const fab_job_times *floor,
                              const plan_phases **out, fab_error *err) {
    plan_phases *found = known_phases(n, plan);
    if (found == NULL) {
        FAB_PASS(FAB_GROW(n->phases, n->capacity, n->n_phases + 1, err));
        found = &n->phases[n->n_phases++];
        *found = (plan_phases){.of = *plan, .repeats = repeats_of(n, plan), .depth = PLAN_FLOOR};
        FAB_PASS(n->n_phases == 1 ? check_paths(n, plan, err) : FAB_OK);
    }
    *out = found;
    return found->depth < depth ? find_depth(n, plan, depth, floor, found, err) : FAB_OK;
}

fab_status plan_bound(plan_network *n, const fab_job_plan *plan, plan_depth depth, fab_iteration_bounds how,
                      double *out_s, fab_error *err) {
    uint64_t microbatches = 0;
    fab_job_plan whole = *plan;
    whole.microbatch = 1;
    whole.interleave = 1;
    const fab_job_spec *job = fab_job_space_take(n->space, &whole, &microbatches);
    const plan_phases *phases = NULL;
    fab_job_times times;
    FAB_REFUSE_IF(job == NULL, err, FAB_EINTERNAL, NULL, "a plan of the space is none of one chunk");
    plan_floor(&n->rates, n->space, job, microbatches, &times);
    if (depth > PLAN_FLOOR) {
        FAB_PASS(find_phases(n, &whole, depth, &times, &phases, err));
        times = phases->times[depth];
    }
    if (depth >= PLAN_RINGS && plan->pp == 2 && plan->interleave > 1) {
        /* The way back from the second stage to the first may take other links than the first way. */
        double v = (double)plan->interleave;
        times.pp.transfer_s = fmax(phases->times[PLAN_ENDS].pp.transfer_s, times.pp.transfer_s * v / (2 * v - 1));
    }
    const fab_iteration_request request = {.job = job,
                                           .model = fab_job_space_model(n->space),
                                           .times = &times,
                                           .max_bytes = n->request->design->fabric.max_bytes};
    n->n_steps +=
        how != FAB_BOUND_SCHEDULE ? 0 : 2 * plan->pp * plan->interleave * (job->batch / plan->dp / plan->microbatch);
    return fab_iteration_bound(&request, plan->microbatch, plan->interleave, how, out_s, err);
}

/* --- as it is ----------------------------------------------------------------------------------------------------- */

/* One that cannot be timed has a note in the result. */
static fab_status replay_plan(plan_network *n, const fab_context *context, fab_result *result, fab_iteration *out,
                              fab_error *err) {
    const fab_replay replay = {
        .context = context, .n_seeds = 1, .n_threads = n->request->n_threads, .rates = true, .times_only = true};
    FAB_PASS(fab_replay_run(&replay, result, err));
    FAB_REFUSE_IF(result->n_iterations == 0, err, FAB_EUNSUPPORTED, NULL, "%s", result->iteration_note);
    *out = result->iterations[0];
    return FAB_OK;
}

fab_status plan_evaluate(plan_network *n, const fab_job_plan *plan, uint64_t draw, fab_iteration *out, char *note,
                         size_t size, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    fab_error why = {0};
    FAB_OWNS(fab_result_release_rest) fab_result result = {.n_fabrics = 1, .fabrics = n->about};
    bool is_known = false;
    note[0] = '\0';
    n->memo[draw].most_simulated = draw == 0 ? n->most_simulated : 0;
    FAB_PASS(open_plan(n, plan, true, NULL, draw, &context, err));
    fab_status status = fab_transfer_is_known(context, 0, &is_known, &why);
    if (status == FAB_OK) {
        status = is_known ? fab_timed_iteration(&n->memo[draw], context, n->request->n_threads, n->about, out, &why)
                          : replay_plan(n, context, &result, out, &why);
    }
    if (fab_is_refusal(status)) {
        (void)snprintf(note, size, "%.250s", why.text);
    }
    FAB_PASS(fab_unless_refused(err, status, &why));
    n->n_routed++;
    n->routed += fab_job_space_gpus(n->space);
    return FAB_OK;
}
