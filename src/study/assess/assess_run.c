/* A set of failures: who is lost, what is left of the loads, and what that means for the time. */
#include "assess_internal.h"

/* --- one thread --------------------------------------------------------------------------------------------------- */

static bool has_rank_at_first(const fab_assessment *d, uint32_t gpu) {
    return d->traffic->rank_of_gpu == NULL || d->traffic->rank_of_gpu[gpu] != FAB_NONE;
}

static fab_status open_relocators(fab_assessor *a, fab_error *err) {
    const fab_ports *ports = NULL;
    const fab_assessment *d = a->assessment;
    size_t n_engines = d->what->n_engines;
    FAB_PASS(fab_context_ports(d->request.context, &ports, err));
    FAB_PASS(fab_allocate(n_engines, sizeof(fab_relocator *), &a->relocators, err));
    FAB_PASS(FAB_NEW(a->phases, n_engines * d->n_phases, err)); // NOLINT(bugprone-sizeof-expression)
    for (size_t i = 0; i < n_engines * d->n_phases; i++) {      /* duplicates count, each for itself */
        FAB_PASS(fab_context_baseline(d->request.context, i / d->n_phases, i % d->n_phases, &a->phases[i], err));
    }
    for (size_t e = 0; e < n_engines; e++) {
        const fab_relocator_request request = {
            .fabric = d->fabric,
            .ports = ports,
            .racks = d->request.racks,
            .traffic = d->traffic,
            .taken = d->taken,
            .phases = a->phases + e * d->n_phases,
            .n_phases = d->n_phases,
        };
        FAB_PASS(fab_relocator_new(&request, &a->relocators[e], err));
    }
    return FAB_OK;
}

fab_status fab_assessor_new(const fab_assessment *d, fab_assessor **out, fab_error *err) {
    FAB_OWNS_NEW(fab_assessor_free_owned, fab_assessor, a, 1, err);
    a->assessment = d;
    FAB_PASS(fab_mask_init(d->fabric, d->request.racks, &a->mask, err));
    FAB_PASS(FAB_NEW(a->seen, d->fabric->n_links, err));
    FAB_PASS(fab_allocate(d->n_phases, sizeof(const fab_rerouted *), &a->now, err));
    FAB_PASS(FAB_NEW(a->phase_s, d->n_phases, err));
    FAB_PASS(fab_workspace_new(d->request.context, &a->workspace, err));
    FAB_PASS(FAB_NEW(a->has_rank, fab_n_gpus(d->fabric), err));
    FAB_FILL(a->has_rank, fab_n_gpus(d->fabric), has_rank_at_first(d, (uint32_t)fab_at));
    FAB_PASS(open_relocators(a, err));
    return FAB_GIVE(*out, a);
}

FAB_FREES_AFTER(fab_assessor_free, fab_assessor, a) {
    FAB_FREE_EACH(fab_relocator_free, a->relocators, a->assessment->what->n_engines);
    fab_workspace_free(a->workspace);
    fab_mask_release(&a->mask);
    assess_history_free(a->history);
    FAB_FREE_ALL(a->relocators, a->phases, a->has_rank, a->now, a->seen, a->phase_s, a->times_key.word);
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

/* Whether a link is collided now, less whether it was. */
static int change_of(fab_assessor *a, const assessment_part *part, const double *load, fab_link_id link) {
    if (a->seen[link] == a->stamp) {
        return 0;
    }
    a->seen[link] = a->stamp;
    int before = (int)(part->collided[link / 64] >> link % 64 & 1);
    return (int)assessment_is_collided(a->assessment, link, load[link], a->mask.residual[link]) - before;
}

static uint32_t count_collisions(fab_assessor *a, const assessment_part *part, const fab_rerouted *r) {
    int64_t n = part->n_collided;
    const uint32_t n_links = a->assessment->fabric->n_links;
    if (++a->stamp == 0) { /* after 2^32 counts */
        memset(a->seen, 0, n_links * sizeof *a->seen);
        a->stamp = 1;
    }
    for (uint32_t l = 0; r->in_full && l < n_links; l++) {
        n += change_of(a, part, r->load, l);
    }
    for (size_t i = 0; i < r->n_changed; i++) {
        n += change_of(a, part, r->load, r->changed[i]);
    }
    for (uint32_t i = 0; i < a->mask.n_links; i++) {
        n += change_of(a, part, r->load, a->mask.link[i]);
    }
    return (uint32_t)n;
}

assessment_loads assess_loads(fab_assessor *a, size_t engine) {
    const fab_assessment *d = a->assessment;
    assessment_loads sum = {.worst_link = FAB_NONE};
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_rerouted *r = a->now[p];
        uint32_t n = 0;
        for (size_t k = p; k < d->n_phases && d->duplicate[p] == p;
             k++) { /* duplicates are counted once, each for itself */
            n += d->duplicate[k] == p;
        }
        if (n == 0) {
            continue;
        }
        sum.n_disconnected += n * r->n_disconnected;
        sum.lost_bps += n * r->lost_bps;
        sum.n_collisions += n * count_collisions(a, &d->parts[assessment_at(d, engine, p)], r);
        bool is_worse = r->worst_ratio > sum.worst_ratio;
        if (is_worse || (r->worst_ratio == sum.worst_ratio && r->worst_ratio > 0 && r->worst_link < sum.worst_link)) {
            sum.worst_ratio = r->worst_ratio;
            sum.worst_link = r->worst_link;
        }
    }
    return sum;
}

/* What has failed, and where ranks are. */
fab_state assess_state_of(const fab_assessor *a, const fab_relocation *to) {
    fab_state state = {.mask = &a->mask};
    if (to != NULL) {
        state.moved = to->moved;
        state.n_moved = to->n_moved;
        state.new_gpu = to->new_gpu;
        state.is_out = a->history != NULL && to == &a->history->rings ? a->history->is_gpu_out : NULL;
    }
    return state;
}

fab_status assess_evaluate(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to, unsigned what,
                           fab_evaluated *out, fab_error *err) {
    const fab_state state = assess_state_of(a, to);
    const fab_case at = {.phase = phase, .engine = engine, .state = &state};
    const fab_needs needs = {.what = what};
    return fab_evaluate(a->workspace, &at, &needs, out, err);
}

fab_status assess_evaluate_ends(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to, double *ends_s,
                                fab_evaluated *out, fab_error *err) {
    const fab_state state = assess_state_of(a, to);
    const fab_case at = {.phase = phase, .engine = engine, .state = &state};
    const fab_needs needs = {.what = FAB_NEED_TIME | FAB_NEED_ENDS, .ends_s = ends_s};
    return fab_evaluate(a->workspace, &at, &needs, out, err);
}

fab_status assess_reroute(fab_assessor *a, size_t engine, const fab_relocation *to, fab_error *err) {
    fab_evaluated found;
    for (size_t p = 0; p < a->assessment->n_phases; p++) {
        FAB_PASS(assess_evaluate(a, engine, p, to, FAB_NEED_LOADS, &found, err));
        a->now[p] = found.loads;
    }
    return FAB_OK;
}

/* --- ranks -------------------------------------------------------------------------------------------------------- */

void assess_put(fab_assessor *a, const fab_relocation *to) {
    for (size_t i = 0; i < to->n_moved; i++) {
        a->has_rank[to->moved[i]] = 0;
    }
    for (size_t i = 0; i < to->n_moved; i++) {
        a->has_rank[to->new_gpu[to->moved[i]]] = 1;
    }
}

void assess_put_back(fab_assessor *a, const fab_relocation *to) {
    for (size_t i = 0; i < to->n_moved; i++) {
        uint32_t gpu = to->new_gpu[to->moved[i]];
        a->has_rank[gpu] = has_rank_at_first(a->assessment, gpu);
    }
    for (size_t i = 0; i < to->n_moved; i++) {
        a->has_rank[to->moved[i]] = has_rank_at_first(a->assessment, to->moved[i]);
    }
}

bool assess_any_rank(const fab_assessor *a, uint64_t first_gpu, uint64_t n) {
    uint64_t last =
        first_gpu + n < fab_n_gpus(a->assessment->fabric) ? first_gpu + n : fab_n_gpus(a->assessment->fabric);
    FAB_ANY_IN(found, gpu, first_gpu, last, a->has_rank[gpu] != 0);
    return found;
}

double assess_compute_ratio(const fab_assessor *a, const fab_component *component, size_t n) {
    uint64_t per_server = a->assessment->fabric->gpus_per_server;
    double least = 1;
    FAB_EACH(const fab_component, c, component, n) {
        uint64_t n_gpus = c->kind == FAB_COMPONENT_GPU      ? 1
                          : c->kind == FAB_COMPONENT_SERVER ? per_server
                          : c->kind == FAB_COMPONENT_RACK   ? per_server * a->mask.racks.servers_per_rack
                                                            : 0;
        uint64_t first = c->id * n_gpus;
        if (c->kind == FAB_COMPONENT_RACK && a->mask.racks.n_full > 0 && c->id >= a->mask.racks.n_full) {
            n_gpus -= per_server; /* behind the full ones each holds a server fewer */
            first -= (c->id - a->mask.racks.n_full) * per_server;
        }
        if (c->fraction > 0 && c->fraction < least && assess_any_rank(a, first, n_gpus)) {
            least = c->fraction;
        }
    }
    return least;
}

/* --- a set of failures -------------------------------------------------------------------------------------------- */

static double slowdown_of(const fab_assessment *d, size_t variant, double time_s) {
    double healthy_s = d->has_healthy ? d->healthy[variant].time_s : time_s;
    return isnan(time_s) ? (double)NAN : healthy_s > 0 ? time_s / healthy_s : 1; /* a job of one GPU has no phase */
}

fab_outcome assess_outcome(const fab_assessment *d, const assessment_loads *before, bool stops) {
    return (fab_outcome){
        .state = stops ? FAB_OUTCOME_STOPPED : FAB_OUTCOME_RUNS,
        .n_disconnected = before->n_disconnected,
        .n_collisions = before->n_collisions,
        .worst_link = before->worst_link,
        .lost_ratio = d->offered_bps > 0 ? before->lost_bps / d->offered_bps : 0,
        .worst_ratio = before->worst_ratio,
        .time_s = NAN,
        .slowdown = NAN,
        .goodput = NAN,
        .restart_ratio = NAN,
        .redo_ratio = NAN,
        .slow_ratio = NAN,
        .wait_ratio = NAN,
    };
}

/* A set under one engine while a->mask stands for it. */
typedef struct assessment_case {
    const fab_component *component;
    size_t n;
    size_t engine;
    assessment_loads before; /* anybody moved */
    fab_outcome stays;       /* what comes of the job if nobody moves */
} assessment_case;

/* Ranks have moved: loads and time are those of where they are now. */
static fab_status assess_migrated(fab_assessor *a, const assessment_case *c, const fab_relocation *to, fab_outcome *out,
                                  fab_error *err) {
    fab_status status = FAB_OK;
    assess_put(a, to);
    FAB_TRY(assess_reroute(a, c->engine, to, err));
    assessment_loads after = assess_loads(a, c->engine);
    if (after.n_disconnected == 0) {
        *out = assess_outcome(a->assessment, &c->before, false);
        out->n_moved = (uint32_t)to->n_moves;
        out->n_collisions = after.n_collisions;
        out->worst_ratio = after.worst_ratio;
        out->worst_link = after.worst_link;
    }
    if (after.n_disconnected == 0 && a->assessment->request.times) {
        FAB_TRY(assess_time(a, c->engine, to, assess_compute_ratio(a, c->component, c->n), &out->time_s, err));
    }
done:
    assess_put_back(a, to);
    return status;
}

/* The job stays where it is, and stops if it cannot. */
static fab_status assess_staying(fab_assessor *a, assessment_case *c, size_t n_lost, fab_error *err) {
    FAB_PASS(assess_reroute(a, c->engine, NULL, err));
    c->before = assess_loads(a, c->engine);
    c->stays = assess_outcome(a->assessment, &c->before, n_lost > 0 || c->before.n_disconnected > 0);
    if (a->assessment->request.times && c->stays.state == FAB_OUTCOME_RUNS) {
        FAB_PASS(assess_time(a, c->engine, NULL, assess_compute_ratio(a, c->component, c->n), &c->stays.time_s, err));
    }
    return FAB_OK;
}

static fab_status assess_under(fab_assessor *a, assessment_case *c, fab_outcome *out, fab_error *err) {
    const fab_assessment_request *q = &a->assessment->request;
    fab_relocator *relocator = a->relocators[c->engine];
    fab_relocation to;
    FAB_PASS(fab_relocate(relocator, &a->mask, FAB_POLICY_NONE, &to, err));
    const size_t n_lost = to.n_lost;
    FAB_PASS(assess_staying(a, c, n_lost, err));
    for (size_t p = 0; p < q->n_policies; p++) {
        out[p] = c->stays;
        if (n_lost > 0 && a->assessment->serves) {
            const size_t variant = c->engine * q->n_policies + p;
            FAB_PASS(assess_history_set(a, c->component, c->n, variant, &c->before, &out[p], err));
            continue;
        }
        if (n_lost == 0 || q->policies[p] == FAB_POLICY_NONE) {
            continue; /* nobody has to move */
        }
        FAB_PASS(fab_relocate(relocator, &a->mask, q->policies[p], &to, err));
        FAB_PASS(to.is_possible && to.n_moves > 0 ? assess_migrated(a, c, &to, &out[p], err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status fab_assess(fab_assessor *a, uint64_t number, fab_scenario *scenario, double span_s, fab_outcome *out,
                      fab_error *err) {
    const fab_assessment *d = a->assessment;
    if (span_s > 0) {
        FAB_PASS(assess_histories(a, scenario, span_s, out, err));
    } else {
        assessment_case c = {.component = scenario->component, .n = scenario->n_components};
        for (c.engine = 0; c.engine < d->what->n_engines; c.engine++) { /* of serving each leaves another mask */
            FAB_PASS(fab_mask_set(&a->mask, scenario->component, scenario->n_components, err));
            FAB_PASS(assess_under(a, &c, out + c.engine * d->request.n_policies, err));
        }
    }
    for (size_t v = 0; v < fab_assessment_variants(d); v++) {
        out[v].scenario = number;
        out[v].variant = (uint32_t)v;
        out[v].slowdown = slowdown_of(d, v, out[v].time_s);
    }
    return FAB_OK;
}
