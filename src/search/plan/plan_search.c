/* The fastest plan of a job: plans are taken by the least bound of their time, each until a tighter bound, or the time
 * itself, is known. */
#include "plan_internal.h"

#include "fab/analysis.h"

#define ROUNDING      1e-9 /* by which a time may be below its bound */
#define FRONT_STEP    0.7  /* of the memory of the plan before */
#define MOST_OF_FRONT 5

#define LEADERS     3 /* that are looked for where paths are drawn, and means may put another first */
#define MOST_LISTED 20

#define STEPS_OF_A_ROUTE 1000 /* of a schedule, which take as long as the routes of a GPU */
#define RINGS_OF_A_ROUTE 4    /* plans without their exchanges of experts that are looked at for one with them */

FAB_FREES_WHOLE(fab_plans_free, fab_plans, plans, front, tight);

/* --- plans -------------------------------------------------------------------------------------------------------- */

static bool has_place(const plan_search *s, const plan_node *node) {
    return node->bound_s < s->limit_s && node->bound_s < s->best_s[node->shape];
}

static void leave_out(plan_search *s, const plan_node *node) {
    s->found->n_bounded += node->n;
    s->found->lower_bound_s = fmin(s->found->lower_bound_s, node->bound_s);
}

/* With all whose bounds are no less, where that has no place whatever its sizes are. */
static void leave_rest_out(plan_search *s, const plan_node *node) {
    leave_out(s, node);
    for (size_t i = 0; node->bound_s >= s->limit_s && i < s->heap.n; i++) {
        leave_out(s, &s->heap.node[i]);
    }
    s->heap.n = node->bound_s >= s->limit_s ? 0 : s->heap.n;
}

static fab_status place_plan(plan_search *s, const plan_node *added, fab_error *err) {
    if (added->memory_bytes > s->most_bytes) {
        s->found->n_unfit++;
        return FAB_OK;
    }
    if (!has_place(s, added)) {
        leave_out(s, added);
        return FAB_OK;
    }
    return plan_heap_push(&s->heap, added, err);
}

static fab_status add_plan(plan_search *s, const plan_node *group, const fab_job_plan *plan, fab_error *err) {
    fab_job_memory memory;
    fab_plan_kept *kept = s->request->kept;
    fab_job_space_memory(s->space, &memory);
    if (s->least.total_bytes <= 0 || memory.total_bytes < s->least.total_bytes) {
        s->least = memory;
        s->leanest = *plan;
    }
    plan_node added = {
        .state = HAS_CHAIN, .shape = group->shape, .n = 1, .plan = *plan, .memory_bytes = memory.total_bytes};
    if (memory.total_bytes <= s->most_bytes) {
        FAB_PASS(plan_bound(&s->network, plan, PLAN_FLOOR, FAB_BOUND_CHAIN, &added.bound_s, err));
    }
    if (kept != NULL) {
        FAB_PASS(FAB_APPEND(kept->plan, kept->n, kept->capacity, err, added));
        kept->least = s->least;
        kept->leanest = s->leanest;
    }
    return place_plan(s, &added, err);
}

/* All plans of a group, from a search before where that has looked at them. */
static fab_status add_plans(plan_search *s, const plan_node *group, fab_error *err) {
    fab_plan_kept *kept = s->request->kept;
    if (kept == NULL) {
        return plan_each(s, group, add_plan, err);
    }
    const size_t at = group->group;
    if (kept->count[at] == 0) {
        kept->first[at] = kept->n;
        FAB_PASS(plan_each(s, group, add_plan, err));
        kept->count[at] = kept->n - kept->first[at];
        return FAB_OK;
    }
    for (size_t i = 0; i < kept->count[at]; i++) {
        FAB_PASS(place_plan(s, &kept->plan[kept->first[at] + i], err));
    }
    return FAB_OK;
}

/* Sizes that are slower than so many others need not be looked at. */
static void set_limit(plan_search *s) {
    memcpy(s->order, s->best_s, s->n_shapes * sizeof *s->order);
    qsort(s->order, s->n_shapes, sizeof *s->order, fab_order_double);
    s->limit_s = fmin(s->n_best <= s->n_shapes ? s->order[s->n_best - 1] : INFINITY, s->below_s);
}

/* The place of a plan among those that are known; it is evaluated where it is not. SIZE_MAX: it stays open. */
static fab_status know_plan(plan_search *s, const plan_node *node, size_t *out, fab_error *err) {
    char text[192];
    FAB_FIRST(i, s->n_known, fab_plan_is_same(&s->known[i].plan, &node->plan));
    *out = i;
    if (i < s->n_known) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(s->known, s->known_capacity, s->n_known + 1, err));
    fab_planned *added = &s->known[s->n_known++];
    char note[sizeof s->found->untimed_note];
    *added = (fab_planned){.plan = node->plan, .memory_bytes = node->memory_bytes};
    fab_error why = {.code = FAB_OK};
    const fab_status status = plan_evaluate(&s->network, &node->plan, 0, &added->iteration, note, sizeof note, &why);
    if (status == FAB_ETIME) {
        s->n_known--;
        *out = SIZE_MAX;
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &why));
    if (note[0] != '\0') {
        added->iteration.time_s = INFINITY;
        if (s->found->untimed_note[0] == '\0') {
            FAB_FORMAT(s->found->untimed_note, "%.240s", note);
        }
    } else if (added->iteration.time_s < node->bound_s * (1 - ROUNDING)) {
        return fab_fail(err, FAB_EINTERNAL, fab_job_plan_text(&node->plan, text),
                        "an iteration takes %.17g s, less than its lower bound of %.17g s", added->iteration.time_s,
                        node->bound_s);
    }
    return FAB_OK;
}

/* GPUs times plans; 0: no limit. */
static uint64_t most_routed(const plan_search *s) {
    return s->is_short ? FAB_PLAN_SHORT : s->request->most_routed;
}

/* Whether the search has routed so many times as much as it may. */
static bool is_spent(const plan_search *s, uint64_t times) {
    const uint64_t most = most_routed(s) * times;
    return most > 0 && (s->network.routed >= most || s->network.n_steps >= most * STEPS_OF_A_ROUTE);
}

/* What bounds of those that may be the best are below: the least time, or what means may make the best. */
static double least_known_s(const plan_search *s) {
    double least_s = s->request->simulated_below_s > 0 ? s->request->simulated_below_s : s->below_s;
    for (size_t i = 0; i < s->n_shapes; i++) {
        least_s = fmin(least_s, s->best_s[i]);
    }
    return fmax(least_s, s->drawn_s);
}

static fab_status take_time(plan_search *s, const plan_node *node, fab_error *err) {
    size_t i = SIZE_MAX;
    const uint32_t most = s->request->most_simulated;
    const bool is_simulated =
        node->may_be_best && (node->bound_s < least_known_s(s) || isfinite(s->best_s[node->shape]));
    FAB_ANY(is_open, k, s->n_open, s->open[k].shape == node->shape); /* a plan with the same exchanges is */
    s->network.most_simulated = is_simulated ? 0 : most > 0 ? most : FAB_PLAN_SIMULATED;
    if (is_simulated || !is_open) {
        FAB_PASS(know_plan(s, node, &i, err));
    }
    if (i == SIZE_MAX) {
        return FAB_APPEND(s->open, s->n_open, s->open_capacity, err, *node);
    }
    double time_s = s->known[i].iteration.time_s;
    s->found->n_evaluated += isfinite(time_s) ? 1 : 0;
    s->found->n_untimed += isfinite(time_s) ? 0 : 1;
    if (time_s < s->best_s[node->shape]) {
        s->best_s[node->shape] = time_s;
        s->best[node->shape] = i;
        set_limit(s);
    }
    return FAB_OK;
}

/* Phases of sizes that another plan has had routed are taken as they are. Where exchanges of experts are routed apart,
 * the rest is at once: it is soon done. */
static node_state first_unknown(const plan_search *s, const plan_node *node, plan_depth known) {
    const bool has_parts = plan_has_parts(&s->network, node->plan.ep);
    node_state from = node->state;
    from = from < HAS_SCHEDULE && (known >= PLAN_RINGS || has_parts) ? HAS_SCHEDULE : from;
    return from >= HAS_SCHEDULE && from < HAS_ALL_BUT_EXPERTS && (known == PLAN_LINKS || !has_parts)
               ? HAS_ALL_BUT_EXPERTS
               : from;
}

/* What comes next of a plan: a tighter bound. */
static fab_status tighten(plan_search *s, plan_node *node, fab_error *err) {
    static const struct {
        plan_depth depth;
        fab_iteration_bounds how;
        node_state next;
    } NEXT[] = {[HAS_CHAIN] = {PLAN_ENDS, FAB_BOUND_CHAIN, HAS_ENDS},
                [HAS_ENDS] = {PLAN_ENDS, FAB_BOUND_SCHEDULE, HAS_SCHEDULE},
                [HAS_SCHEDULE] = {PLAN_RINGS, FAB_BOUND_CHAIN, HAS_RINGS},
                [HAS_RINGS] = {PLAN_RINGS, FAB_BOUND_SCHEDULE, HAS_ALL_BUT_EXPERTS},
                [HAS_ALL_BUT_EXPERTS] = {PLAN_LINKS, FAB_BOUND_CHAIN, HAS_ROUTES},
                [HAS_ROUTES] = {PLAN_LINKS, FAB_BOUND_SCHEDULE, HAS_LINKS}};
    double bound_s = 0;
    fab_error why = {0};
    const plan_depth known = plan_known(&s->network, &node->plan);
    const node_state from = first_unknown(s, node, known);
    node->state = NEXT[from].next;
    if (s->is_floor_only) {
        node->state = HAS_LINKS;
        FAB_PASS(plan_bound(&s->network, &node->plan, PLAN_FLOOR, FAB_BOUND_SCHEDULE, &bound_s, err));
    } else if (from >= HAS_SCHEDULE && known < PLAN_LINKS && (!s->network.paths_are_fixed || is_spent(s, 1))) {
        node->state = HAS_LINKS; /* nothing more is known before its time */
    } else {
        fab_status status = plan_bound(&s->network, &node->plan, NEXT[from].depth, NEXT[from].how, &bound_s, &why);
        /* what is refused has no bound, and no time later */
        FAB_REFUSE_IF(status != FAB_OK && (!fab_is_refusal(status) || s->network.is_too_large), err, status, why.where,
                      "%s", why.text);
    }
    node->bound_s = fmax(node->bound_s, bound_s);
    return plan_heap_push(&s->heap, node, err);
}

/* Of the search for the best: how long others take nobody knows. */
static void tell_plans(const plan_search *s) {
    const fab_plans *f = s->found;
    double done = (double)(f->n_unfit + f->n_bounded + f->n_evaluated + f->n_untimed);
    if (s->request->progress != NULL && done <= (double)f->n_plans) {
        s->request->progress(s->request->progress_context, done, (size_t)f->n_plans);
    }
}

/* Nobody waits longer: the next plan is evaluated as it is, if none has been. */
static bool is_over(const plan_search *s) {
    return s->request->is_late != NULL && s->request->is_late(s->request->late_context);
}

/* A search that may route no more goes on with what is routed, for as long again, or ends with what it has. All but the
 * experts' exchanges it may route of more plans. */
static bool is_too_late(const plan_search *s, const plan_node *node) {
    const bool has_rings =
        node->state == IS_GROUP || node->state >= HAS_RINGS || !plan_has_parts(&s->network, node->plan.ep);
    if (!has_rings && most_routed(s) > 0 && s->network.n_rings * s->found->gpus >= RINGS_OF_A_ROUTE * most_routed(s) &&
        plan_known(&s->network, &node->plan) < PLAN_RINGS && has_place(s, node)) {
        return true;
    }
    if (!is_spent(s, 1) || !has_place(s, node)) {
        return false;
    }
    const bool is_unrouted = s->network.paths_are_fixed && s->network.n_routed > 0 && node->state != IS_GROUP &&
                             node->state < HAS_ROUTES && plan_known(&s->network, &node->plan) < PLAN_LINKS;
    return is_unrouted || (s->found->n_evaluated > 0 && (!s->network.paths_are_fixed || is_spent(s, 2)));
}

/* After a short search, all of it: under a limit that leaves most of it out. False: there is none. */
static fab_status take_later(plan_search *s, bool *out, fab_error *err) {
    *out = s->n_later > 0;
    s->is_short = false;
    for (size_t i = 0; i < s->n_later; i++) {
        FAB_PASS(plan_heap_push(&s->heap, &s->later[i], err));
    }
    s->n_later = 0;
    return FAB_OK;
}

/* At the end those that are open, where one of their sizes may be the best, or seeds may make it that: without a limit.
 * False: none may, and all are left out. */
static fab_status take_open(plan_search *s, bool *out, fab_error *err) {
    const size_t first = s->n_left;
    const size_t n = s->n_open;
    const double least_s = least_known_s(s);
    const bool is_late = s->is_front || (is_over(s) && s->found->n_evaluated > 0);
    for (size_t i = first; i < n; i++) {
        FAB_ANY_IN(may_be, k, first, n, s->open[k].shape == s->open[i].shape && s->open[k].bound_s < least_s);
        s->open[i].may_be_best = may_be && has_place(s, &s->open[i]);
    }
    *out = false;
    s->n_open = first;
    for (size_t i = first; i < n; i++) {
        const plan_node node = s->open[i];
        if (node.may_be_best && !is_late) {
            *out = true;
            FAB_PASS(plan_heap_push(&s->heap, &node, err));
        } else {
            s->found->is_proven = s->found->is_proven && (s->is_front || !node.may_be_best);
            s->open[s->n_open++] = node;
            leave_out(s, &node);
        }
    }
    s->n_left = s->n_open;
    return FAB_OK;
}

/* Everything whose bound is below what the list has. */
static fab_status run_search(plan_search *s, fab_error *err) {
    FAB_FILL(s->best_s, s->n_shapes, INFINITY);
    s->limit_s = s->below_s;
    s->heap.n = s->n_later = s->n_open = s->n_left = 0;
    s->is_short = s->request->most_routed == 0 && !s->is_floor_only;
    for (size_t i = 0; i < s->n_groups; i++) {
        FAB_PASS(plan_heap_push(&s->heap, &s->groups[i], err));
    }
    for (bool has_more = s->heap.n > 0; has_more;) {
        plan_node first = plan_heap_pop(&s->heap);
        const bool is_last = !s->is_short && is_over(s);
        const bool is_late = is_too_late(s, &first) || (is_last && s->found->n_evaluated > 0 && has_place(s, &first));
        s->found->is_proven = s->found->is_proven && (s->is_short || !is_late);
        if (is_late && s->is_short) {
            FAB_PASS(FAB_APPEND(s->later, s->n_later, s->later_capacity, err, first));
        } else if (is_late) {
            leave_out(s, &first);
        } else if (!has_place(s, &first)) {
            leave_rest_out(s, &first);
        } else if (s->is_floor_only && (first.state == HAS_LINKS || is_last)) { /* all others have larger bounds */
            s->found->lower_bound_s = fmin(s->found->lower_bound_s, first.bound_s);
            return FAB_OK;
        } else if (first.state == IS_GROUP) {
            FAB_PASS(add_plans(s, &first, err));
        } else if (first.state == HAS_LINKS || is_last) {
            FAB_PASS(take_time(s, &first, err));
        } else {
            FAB_PASS(tighten(s, &first, err));
        }
        tell_plans(s);
        has_more = s->heap.n > 0;
        FAB_PASS(!has_more && s->is_short ? take_later(s, &has_more, err) : FAB_OK);
        FAB_PASS(!has_more ? take_open(s, &has_more, err) : FAB_OK);
    }
    return FAB_OK;
}

/* --- result ------------------------------------------------------------------------------------------------------- */

static int by_planned_time(const void *a, const void *b) {
    return fab_order_double(&((const fab_planned *)a)->iteration.time_s, &((const fab_planned *)b)->iteration.time_s);
}

static fab_status keep_best(plan_search *s, fab_error *err) {
    fab_plans *found = s->found;
    fab_planned *listed = NULL;
    FAB_PASS(FAB_NEW(listed, s->n_shapes, err));
    free(found->plans);
    found->plans = listed;
    found->n_plans_listed = 0;
    FAB_KEEP(found->plans, found->n_plans_listed, i, s->n_shapes, s->best_s[i] < s->below_s, s->known[s->best[i]]);
    if (found->n_plans_listed == 0) {
        return FAB_OK;
    }
    qsort(found->plans, found->n_plans_listed, sizeof *found->plans, by_planned_time);
    found->n_plans_listed = found->n_plans_listed < s->n_best ? found->n_plans_listed : s->n_best;
    for (size_t i = 0; i < found->n_plans_listed; i++) {
        found->plans[i].slower_ratio = found->plans[i].iteration.time_s / found->plans[0].iteration.time_s - 1;
    }
    found->lower_bound_s = isfinite(found->lower_bound_s) ? found->lower_bound_s : found->plans[0].iteration.time_s;
    found->n_unlisted = 0;
    for (size_t i = 0; i < s->n_left; i++) { /* by their bounds */
        FAB_FIRST(k, i, s->open[k].shape == s->open[i].shape);
        if (k == i && has_place(s, &s->open[i])) {
            found->unlisted_s =
                found->n_unlisted++ > 0 ? fmin(found->unlisted_s, s->open[i].bound_s) : s->open[i].bound_s;
        }
    }
    return FAB_OK;
}

/* Under the first seed. */
static const fab_planned *fastest_known(const plan_search *s) {
    FAB_BEST(least, i, s->n_shapes, s->best_s[i] < s->best_s[least]);
    return &s->known[s->best[least]];
}

/* The same search with less memory, again and again. */
static fab_status find_front(plan_search *s, fab_error *err) {
    fab_plans counted = *s->found;
    fab_status status = FAB_OK;
    fab_planned last = *fastest_known(s);
    FAB_PASS(FAB_NEW(s->found->front, MOST_OF_FRONT, err));
    counted.front = s->found->front;
    s->n_best = 1;
    s->below_s = INFINITY;
    s->is_front = true;
    for (bool more = true; status == FAB_OK && more && counted.n_front < MOST_OF_FRONT && !is_over(s);) {
        counted.front[counted.n_front++] = last;
        s->most_bytes = FRONT_STEP * last.memory_bytes;
        status = run_search(s, err);
        FAB_ANY(is_open, i, s->n_left, s->open[i].bound_s < s->limit_s);
        more = isfinite(s->limit_s) && !is_open;
        for (size_t i = 0; i < s->n_shapes; i++) {
            last = more && s->best_s[i] == s->limit_s ? s->known[s->best[i]] : last;
        }
        last.slower_ratio = last.iteration.time_s / counted.front[0].iteration.time_s - 1;
    }
    FAB_FORMAT(counted.untimed_note, "%s", s->found->untimed_note);
    *s->found = counted;
    return status;
}

/* The list again with more sizes. False: the search would end without a proof, and nothing has changed. */
static fab_status widen(plan_search *s, size_t n_best, bool *out, fab_error *err) {
    const fab_plans before = *s->found;
    *out = false;
    if (is_spent(s, 1) || is_over(s)) {
        return FAB_OK;
    }
    s->n_best = n_best;
    s->found->n_evaluated = s->found->n_unfit = s->found->n_bounded = s->found->n_untimed = 0;
    s->found->lower_bound_s = INFINITY;
    FAB_PASS(run_search(s, err));
    if (!s->found->is_proven && before.is_proven) {
        *s->found = before;
        return FAB_OK;
    }
    *out = true;
    return keep_best(s, err);
}

/* A longer list has them again. */
static void keep_draws(plan_search *s, const fab_plans *found) {
    for (size_t i = 0; i < found->n_plans_listed; i++) {
        for (size_t k = 0; k < s->n_known; k++) {
            if (fab_plan_is_same(&s->known[k].plan, &found->plans[i].plan)) {
                s->known[k].draws_s = found->plans[i].draws_s;
                s->known[k].seeds = found->plans[i].seeds;
            }
        }
    }
}

/* The first of the list by means; while all that are listed were faster under the first seed than the best mean is,
 * others may be as well. */
static fab_status order_by_draws(plan_search *s, size_t n_asked, fab_error *err) {
    bool has_more = !is_over(s);
    for (size_t n = s->n_best; has_more;) {
        FAB_PASS(plan_draw_leaders(&s->network, s->found, err));
        const fab_plans *f = s->found;
        const fab_stat *best = &f->plans[0].draws_s;
        keep_draws(s, f);
        s->drawn_s = f->draws > 0 ? best->mean * best->max / best->min : 0;
        const bool is_open = f->n_unlisted > 0 && f->unlisted_s < s->drawn_s;
        has_more = f->draws > 0 && f->n_plans_listed == n && n < MOST_LISTED;
        for (size_t i = 0; has_more && i < n; i++) {
            has_more = f->plans[i].iteration.time_s < best->mean;
        }
        n = has_more ? 2 * n : n;
        has_more = has_more || is_open;
        FAB_PASS(has_more ? widen(s, n, &has_more, err) : FAB_OK);
    }
    n_asked = n_asked > 0 ? n_asked : 1;
    s->found->n_unlisted = n_asked > 1 ? s->found->n_unlisted : 0;
    s->found->n_plans_listed = s->found->n_plans_listed < n_asked ? s->found->n_plans_listed : n_asked;
    return FAB_OK;
}

/* The batch nearest to the one that is asked for of which each server has as much, and the most servers whose GPUs that
 * one divides, or which divide it. */
static const char *what_divides(const fab_plans *f, uint32_t gpus_per_server, char room[192]) {
    const uint64_t servers = f->gpus / gpus_per_server;
    const uint64_t times = servers > 0 ? (f->batch + servers / 2) / servers : 0;
    uint64_t n = servers;
    while (n > 1 && n * gpus_per_server % f->batch != 0 && f->batch % n != 0) {
        n--;
    }
    room[0] = '\0';
    if (servers > 1 && times * servers != f->batch) {
        fab_append(room, 192, "; sizes must divide both: batch=%" PRIu64, (times > 0 ? times : 1) * servers);
    }
    if (servers > 1 && n > 1 && n < servers) {
        fab_append(room, 192, "%s n-servers=%" PRIu64, room[0] != '\0' ? ", or" : "; sizes must divide both:", n);
    }
    return room;
}

static fab_status fail_memory(const plan_search *s, fab_error *err) {
    char text[192];
    const fab_plans *f = s->found;
    FAB_REFUSE_IF(f->n_plans == 0, err, FAB_ENOSOLUTION, "plan",
                  "no microbatches and stages go with batch %" PRIu64 " of %s on %" PRIu64 " GPUs%s", f->batch,
                  f->model, f->gpus, what_divides(f, s->request->fabric->gpus_per_server, text));
    FAB_REFUSE_IF(f->n_unfit < f->n_plans, err, FAB_EUNSUPPORTED, "plan", "none of %" PRIu64 " plans can be timed: %s",
                  f->n_plans, f->untimed_note);
    return fab_fail(err, FAB_ENOSOLUTION, "plan",
                    "none of %" PRIu64 " ways to run %s on %" PRIu64
                    " GPUs fits: the leanest needs %.4g GB of the %.4g GB of a %s, of which %.4g GB are to stay free "
                    "(memory-headroom): %s",
                    f->n_plans, f->model, f->gpus, s->least.total_bytes * 1e-9, f->capacity_bytes * 1e-9, f->gpu,
                    (f->capacity_bytes - f->room_bytes) * 1e-9, fab_job_plan_text(&s->leanest, text));
}

static fab_status open_search(plan_search *s, fab_error *err) {
    uint64_t microbatches = 0;
    fab_job_memory memory;
    const fab_router *router = NULL;
    const fab_design *design = s->request->design;
    FAB_PASS(FAB_NEW(s->found, 1, err));
    FAB_PASS(fab_job_space_new(design, s->request->fabric, &s->space, err));
    FAB_PASS(plan_network_open(s->request, s->space, &s->network, err));
    FAB_PASS(fab_context_router(s->network.base, 0, &router, err));
    s->found->is_drawn = fab_router_facts_of(router)->is_seeded;
    if (s->request->draws_leaders && s->found->is_drawn && s->n_best < LEADERS) {
        s->n_best = LEADERS;
    }
    FAB_PASS(plan_share_groups(s, s->request->kept, err));
    FAB_PASS(FAB_NEW_ALL(s->n_shapes, err, s->best_s, s->best, s->order));
    fab_plans *found = s->found;
    found->lower_bound_s = INFINITY;
    found->is_proven = true;
    found->n_sizes = s->n_shapes;
    found->gpus = fab_job_space_gpus(s->space);
    found->batch_given = design->n_jobs > 0 && design->jobs[0].batch > 0;
    FAB_FORMAT(found->engine, "%s", fab_router_facts_of(router)->label);
    const fab_job_plan *shapes = fab_job_space_shapes(s->space, &s->n_shapes);
    fab_job_plan any = s->n_groups > 0 ? s->groups[0].plan : shapes[0];
    const fab_job_spec *job = fab_job_space_take(s->space, &any, &microbatches);
    found->batch = fab_job_space_model(s->space)->batch;
    FAB_FORMAT(found->model, "%s", fab_job_space_model(s->space)->name);
    if (job != NULL) {
        found->batch_unrounded = found->batch_given ? 0 : job->batch_unrounded;
        fab_job_space_memory(s->space, &memory);
        found->seq = job->seq;
        found->capacity_bytes = memory.capacity_bytes;
        FAB_FORMAT(found->gpu, "%.60s", job->accelerator.name);
        fab_gpu_sold_unlike(&job->accelerator, &design->fabric, found->sold_unlike);
        s->most_bytes = found->room_bytes = fab_job_space_room(s->space);
    }
    return FAB_OK;
}

static void close_search(plan_search *s) {
    plan_network_close(&s->network);
    fab_job_space_free(s->space);
    fab_plans_free(s->found);
    FAB_FREE_ALL(s->groups, s->heap.node, s->known, s->best_s, s->best, s->order, s->later, s->open);
}

fab_status fab_plan_search(const fab_plan_request *request, fab_plans **out, fab_error *err) {
    FAB_OWNS(close_search)
    plan_search s = {.request = request,
                     .n_best = request->n_best > 0 ? request->n_best : 1,
                     .below_s = request->below_s > 0 ? request->below_s : INFINITY};
    FAB_PASS(open_search(&s, err));
    FAB_PASS(run_search(&s, err));
    FAB_PASS(keep_best(&s, err));
    FAB_PASS(s.found->n_plans_listed == 0 && !(request->below_s > 0) ? fail_memory(&s, err) : FAB_OK);
    FAB_PASS(request->draws_leaders ? order_by_draws(&s, request->n_best, err) : FAB_OK);
    s.found->n_networks = s.network.n_routed;
    fab_plans *faster = NULL;
    if (plan_tries_orders(request)) {
        const bool has_all = request->n_orders > 2 && fab_plan_has_all_orders(s.found);
        FAB_PASS(plan_orders(request, has_all ? request->n_orders : 2, s.found, &faster, err));
    }
    const bool has_front = request->wants_front && faster == NULL && s.found->n_plans_listed > 0;
    FAB_PASS(has_front ? find_front(&s, err) : FAB_OK);
    *out = faster != NULL ? faster : s.found;
    s.found = faster != NULL ? s.found : NULL;
    return FAB_OK;
}

fab_status plan_floor_in_order(const fab_plan_request *request, fab_plans **out, fab_error *err) {
    FAB_OWNS(close_search)
    plan_search s = {.request = request, .n_best = 1, .below_s = INFINITY, .is_floor_only = true};
    FAB_PASS(open_search(&s, err));
    FAB_PASS(run_search(&s, err));
    FAB_PASS(isfinite(s.found->lower_bound_s) ? FAB_OK : fail_memory(&s, err));
    return FAB_GIVE(*out, s.found);
}
