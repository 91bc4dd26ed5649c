/* Collision-aware reallocation: spares are tried against the routing.
 *
 * One lost server is tried on every spare, which proves the best. Several start from what the policies that look at
 * places would do, and from random assignments: one after the other goes where it is best while the rest stays, and
 * pairs change places, until nothing helps. Where it is small, an integer program finds the best or proves it. What
 * still collides then may change places with healthy servers that it shares links with. */
#include "relocate_views.h"

#include "fab/rng.h"

#define DEFAULT_BUDGET 1000
#define LEAST_BUDGET   8
#define MOST_WORK      4e8 /* links of paths, by default */
#define RESTARTS       6

/* --- assignments -------------------------------------------------------------------------------------------------- */

static bool is_lower(const uint32_t *a, const uint32_t *b, uint32_t n) {
    FAB_FIRST(i, n, a[i] != b[i]);
    return i < n && a[i] < b[i];
}

static bool has_budget(const relocate_search *s) {
    return s->n_tried < s->budget;
}

static fab_status search_evaluate(relocate_search *s, const relocate_change *changes, size_t n, relocate_score *out,
                                  fab_error *err) {
    s->n_tried++;
    return relocate_eval_try(s->e, changes, n, out, NULL, NULL, err);
}

/* Keeps what is set if it is the best so far. */
static void search_keep(relocate_search *s) {
    fab_relocator *r = s->r;
    FAB_FILL(r->to, r->n_lost, s->e->at[r->lost[fab_at]]);
    int order = s->has_best ? relocate_compare(&s->score, &s->best_score) : -1;
    if (order < 0 || (order == 0 && is_lower(r->to, s->best, r->n_lost))) {
        s->has_best = true;
        s->best_score = s->score;
        memcpy(s->best, r->to, r->n_lost * sizeof *s->best);
    }
}

fab_status relocate_search_set(relocate_search *s, const uint32_t *to, fab_error *err) {
    const fab_relocator *r = s->r;
    FAB_OWNED_NEW(relocate_change, changes, r->n_lost, err);
    FAB_FILL(changes, r->n_lost, (relocate_change){r->lost[fab_at], to[fab_at]});
    s->n_tried++;
    FAB_PASS(relocate_eval_set(s->e, changes, r->n_lost, &s->score, err));
    search_keep(s);
    return FAB_OK;
}

/* Spares that an assignment takes. */
static void mark_used(relocate_search *s) {
    fab_relocator *r = s->r;
    relocate_next_choice(r);
    for (uint32_t i = 0; i < r->n_lost; i++) {
        uint32_t to = s->e->at[r->lost[i]];
        if (to != FAB_NONE) {
            r->used[to] = r->n_choices;
        }
    }
}

/* --- one server, or one after the other --------------------------------------------------------------------------- */

/* Puts a lost server where it is best. */
static fab_status place_best(relocate_search *s, uint32_t i, bool *out_moved, fab_error *err) {
    fab_relocator *r = s->r;
    const uint32_t server = r->lost[i];
    const uint32_t was = s->e->at[server];
    const relocate_change lift = {server, FAB_NONE};
    relocate_change best = {server, was};
    relocate_score best_score = s->score;
    relocate_score score;
    FAB_PASS(was != FAB_NONE ? relocate_eval_set(s->e, &lift, 1, &score, err) : FAB_OK);
    mark_used(s);
    for (uint32_t k = 0; k < r->n_spares && has_budget(s); k++) {
        const relocate_change change = {server, r->spare[k]};
        if (r->spare[k] == was || r->used[r->spare[k]] == r->n_choices || !relocate_fits(r, server, r->spare[k])) {
            continue;
        }
        FAB_PASS(search_evaluate(s, &change, 1, &score, err));
        int order = best.to == FAB_NONE ? -1 : relocate_compare(&score, &best_score);
        if (order < 0 || (order == 0 && change.to < best.to)) {
            best = change;
            best_score = score;
        }
    }
    *out_moved = best.to != was;
    return relocate_eval_set(s->e, &best, 1, &s->score, err);
}

/* Two lost servers change places. */
static fab_status change_places(relocate_search *s, uint32_t i, uint32_t j, bool *out_moved, fab_error *err) {
    const fab_relocator *r = s->r;
    relocate_score score;
    const relocate_change swap[] = {{r->lost[i], s->e->at[r->lost[j]]}, {r->lost[j], s->e->at[r->lost[i]]}};
    if (!relocate_fits(r, r->lost[i], swap[0].to) || !relocate_fits(r, r->lost[j], swap[1].to)) {
        return FAB_OK;
    }
    FAB_PASS(search_evaluate(s, swap, 2, &score, err));
    int order = relocate_compare(&score, &s->score);
    if (order < 0 || (order == 0 && swap[0].to < swap[1].to)) {
        *out_moved = true;
        FAB_PASS(relocate_eval_set(s->e, swap, 2, &s->score, err));
    }
    return FAB_OK;
}

/* From what is set to where no single server and no pair does better. */
static fab_status descend(relocate_search *s, fab_error *err) {
    const uint32_t n = s->r->n_lost;
    bool is_better = true;
    while (is_better && has_budget(s)) {
        is_better = false;
        for (uint32_t i = 0; i < n && has_budget(s); i++) {
            bool moved = false;
            FAB_PASS(place_best(s, i, &moved, err));
            is_better = is_better || moved;
        }
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = i + 1; j < n && has_budget(s); j++) {
                FAB_PASS(change_places(s, i, j, &is_better, err));
            }
        }
    }
    search_keep(s);
    return FAB_OK;
}

/* --- where to start ----------------------------------------------------------------------------------------------- */

static bool is_complete(const fab_relocator *r) {
    FAB_ALL(complete, i, r->n_lost, r->to[i] != FAB_NONE);
    return complete;
}

/* Sets what a policy by place would do. False where it does not place everybody. */
static fab_status set_by_place(relocate_search *s, fab_policy policy, bool *out_set, fab_error *err) {
    fab_relocator *r = s->r;
    *out_set = false;
    if (policy == FAB_POLICY_SAME_RACK && !relocate_has_racks(r)) {
        return FAB_OK;
    }
    FAB_PASS(relocate_by_place(r, policy, err));
    *out_set = is_complete(r);
    return *out_set ? relocate_search_set(s, r->to, err) : FAB_OK;
}

/* What the policies that look at places alone would do: none of them is to be better, nor faster by its fullest links.
 */
static fab_status try_places(relocate_search *s, fab_error *err) {
    double allowed_s = INFINITY;
    bool set = false;
    for (int policy = FAB_POLICY_FIRST_SPARE; policy < FAB_POLICY_COLLISION_AWARE; policy++) {
        FAB_PASS(set_by_place(s, (fab_policy)policy, &set, err));
        allowed_s = set && s->score.n_cut == s->best_score.n_cut ? fmin(allowed_s, s->score.drain_s) : allowed_s;
    }
    s->e->allowed_s = allowed_s;
    s->has_best = false;
    s->n_tried = 0; /* the same again */
    for (int policy = FAB_POLICY_FIRST_SPARE; policy < FAB_POLICY_COLLISION_AWARE; policy++) {
        FAB_PASS(set_by_place(s, (fab_policy)policy, &set, err));
    }
    return relocate_search_set(s, s->best, err);
}

/* Spares in a random order, so far as they fit; false where somebody found none. */
static bool draw(relocate_search *s, fab_rng *rng, uint32_t *to) {
    fab_relocator *r = s->r;
    relocate_next_choice(r);
    for (uint32_t i = 0; i < r->n_lost; i++) {
        uint32_t first = (uint32_t)fab_rng_below(rng, r->n_spares);
        to[i] = FAB_NONE;
        for (uint32_t k = 0; k < r->n_spares && to[i] == FAB_NONE; k++) {
            uint32_t spare = r->spare[(first + k) % r->n_spares];
            if (r->used[spare] != r->n_choices && relocate_fits(r, r->lost[i], spare)) {
                r->used[spare] = r->n_choices;
                to[i] = spare;
            }
        }
        if (to[i] == FAB_NONE) {
            return false;
        }
    }
    return true;
}

/* --- all assignments ---------------------------------------------------------------------------------------------- */

typedef struct option {
    uint32_t to;
    relocate_score score;
} option;

FAB_ORDER_KEYS(best_first, option, relocate_compare(&a->score, &b->score), FAB_ORDER(a->to, b->to));

/* The spares for lost server i that may still lead to something better, the best first. Flows that are put on only add
 * to what there is: a part of an assignment that is as bad as the best of all cannot become better. */
static fab_status list_options(relocate_search *s, uint32_t i, option *list, uint32_t *out_n, fab_error *err) {
    fab_relocator *r = s->r;
    *out_n = 0;
    mark_used(s);
    for (uint32_t k = 0; k < r->n_spares && has_budget(s); k++) {
        const relocate_change change = {r->lost[i], r->spare[k]};
        if (r->used[r->spare[k]] == r->n_choices || !relocate_fits(r, r->lost[i], r->spare[k])) {
            continue;
        }
        option *next = &list[*out_n];
        next->to = r->spare[k];
        FAB_PASS(search_evaluate(s, &change, 1, &next->score, err));
        *out_n += relocate_compare(&next->score, &s->best_score) < 0;
    }
    qsort(list, *out_n, sizeof *list, best_first);
    return FAB_OK;
}

/* Lost servers before i are somewhere, the others nowhere. `options`: shape [n_lost][n_spares]. */
static fab_status branch(relocate_search *s, uint32_t i, option *options, fab_error *err) { // NOLINT(misc-no-recursion)
    const fab_relocator *r = s->r;
    option *list = options + (size_t)i * r->n_spares;
    uint32_t n = 0;
    if (i == r->n_lost) {
        search_keep(s);
        return FAB_OK;
    }
    FAB_PASS(list_options(s, i, list, &n, err));
    for (uint32_t k = 0; k < n && has_budget(s); k++) {
        const relocate_change set = {r->lost[i], list[k].to};
        const relocate_change lift = {r->lost[i], FAB_NONE};
        relocate_score score;
        if (relocate_compare(&list[k].score, &s->best_score) >= 0) {
            break; /* a better one has been found meanwhile */
        }
        FAB_PASS(relocate_eval_set(s->e, &set, 1, &s->score, err));
        FAB_PASS(branch(s, i + 1, options, err));
        FAB_PASS(relocate_eval_set(s->e, &lift, 1, &score, err));
    }
    return FAB_OK;
}

/* With half of the budget. Proves the best if it comes to an end. */
static fab_status search_all(relocate_search *s, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_relocator *r = s->r;
    const uint64_t whole = s->budget;
    FAB_OWNED option *options = NULL;
    relocate_score score;
    s->budget = s->n_tried + (whole > s->n_tried ? (whole - s->n_tried) / 2 : 0);
    FAB_TRY(FAB_NEW(options, (size_t)r->n_lost * r->n_spares, err));
    for (uint32_t i = 0; i < r->n_lost; i++) {
        const relocate_change lift = {r->lost[i], FAB_NONE};
        FAB_TRY(relocate_eval_set(s->e, &lift, 1, &score, err));
    }
    FAB_TRY(branch(s, 0, options, err));
    s->is_optimal = has_budget(s);
done:
    s->budget = whole;
    return status;
}

static fab_status search_several(relocate_search *s, fab_error *err) {
    fab_relocator *r = s->r;
    fab_rng rng = fab_rng_make(r->lost[0], 0x72656c6f);
    FAB_PASS(descend(s, err));
    FAB_PASS(relocate_search_exactly(s, err));
    FAB_PASS(!s->is_optimal && s->e->is_separable ? search_all(s, err) : FAB_OK);
    for (int k = 0; k < RESTARTS && !s->is_optimal && has_budget(s); k++) {
        if (draw(s, &rng, r->to)) {
            FAB_PASS(relocate_search_set(s, r->to, err));
            FAB_PASS(descend(s, err));
        }
    }
    return FAB_OK;
}

static fab_status search_one(relocate_search *s, fab_error *err) {
    const relocate_change lift = {s->r->lost[0], FAB_NONE};
    bool moved = false;
    if (!has_budget(s)) {
        return FAB_OK;
    }
    FAB_PASS(relocate_eval_set(s->e, &lift, 1, &s->score, err));
    FAB_PASS(place_best(s, 0, &moved, err));
    s->is_optimal = has_budget(s);
    search_keep(s);
    return FAB_OK;
}

/* --- healthy servers ---------------------------------------------------------------------------------------------- */

typedef struct contender {
    uint32_t server, n;
} contender;

FAB_ORDER_KEYS(most_first, contender, FAB_ORDER(b->n, a->n), FAB_ORDER(a->server, b->server));

/* The best exchange of a lost server with one of a list; `out` is empty where none helps enough. */
static fab_status best_exchange(relocate_search *s, const contender *list, uint32_t n, relocate_change *out,
                                bool *out_found, fab_error *err) {
    const fab_relocator *r = s->r;
    relocate_score best = s->score;
    *out_found = false;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < r->n_lost && has_budget(s); i++) {
            uint32_t spare = s->e->at[r->lost[i]];
            uint32_t healthy = list[k].server;
            const relocate_change change[] = {{r->lost[i], healthy}, {healthy, spare}};
            relocate_score score;
            if (s->e->at[healthy] != healthy || !relocate_fits(r, r->lost[i], healthy) ||
                !relocate_fits(r, healthy, spare)) {
                continue;
            }
            FAB_PASS(search_evaluate(s, change, 2, &score, err));
            bool helps = score.n_cut < s->score.n_cut || (score.n_cut == s->score.n_cut && !score.is_late &&
                                                          score.n_collisions < s->score.n_collisions);
            if (helps && relocate_compare(&score, &best) < 0) {
                best = score;
                memcpy(out, change, sizeof change);
                *out_found = true;
            }
        }
    }
    return FAB_OK;
}

static fab_status exchange(relocate_search *s, fab_error *err) {
    fab_relocator *r = s->r;
    uint32_t most = r->request.n_exchanges == 0 ? 1 : r->request.n_exchanges == FAB_NONE ? 0 : r->request.n_exchanges;
    bool found = most > 0 && r->n_lost > 0;
    FAB_OWNED_NEW(uint32_t, n_shared_paths, r->f->n_servers, err);
    FAB_OWNED_NEW(contender, list, r->f->n_servers, err);
    for (uint32_t k = 0; k < most && found && has_budget(s) && s->score.n_collisions + s->score.n_cut > 0; k++) {
        relocate_change change[2];
        uint32_t n = 0;
        FAB_PASS(relocate_eval_contend(s->e, n_shared_paths, err));
        FAB_KEEP(list, n, server, r->f->n_servers, n_shared_paths[server] > 0,
                 (contender){server, n_shared_paths[server]});
        qsort(list, n, sizeof *list, most_first);
        FAB_PASS(best_exchange(s, list, n, change, &found, err));
        FAB_PASS(found ? relocate_eval_set(s->e, change, 2, &s->score, err) : FAB_OK);
    }
    return FAB_OK;
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static uint64_t budget_of(const fab_relocator *r, const relocate_eval *e) {
    double fit = MOST_WORK / (e->work + 1);
    return r->request.budget > 0  ? r->request.budget
           : fit > DEFAULT_BUDGET ? DEFAULT_BUDGET
           : fit < LEAST_BUDGET   ? LEAST_BUDGET
                                  : (uint64_t)fit;
}

fab_status relocate_by_search(fab_relocator *r, relocate_found *out, fab_error *err) {
    relocate_search s = {.r = r};
    FAB_OWNS_MEMBERS(s.best);
    FAB_PASS(relocate_by_place(r, FAB_POLICY_FIRST_SPARE, err));
    FAB_PASS(r->eval == NULL ? relocate_eval_new(r, &r->eval, err) : FAB_OK);
    s.e = r->eval;
    s.budget = budget_of(r, s.e);
    FAB_PASS(relocate_eval_start(s.e, err));
    FAB_PASS(FAB_NEW(s.best, r->n_lost, err));
    if (r->n_lost == 0 || !is_complete(r)) {
        FAB_PASS(relocate_search_set(&s, r->to, err)); /* nothing to choose */
    } else {
        FAB_PASS(try_places(&s, err));
        FAB_PASS(r->n_lost == 1 ? search_one(&s, err) : search_several(&s, err));
        FAB_PASS(relocate_search_set(&s, s.best, err));
        FAB_PASS(exchange(&s, err));
    }
    FAB_FILL(r->to, r->n_lost, s.e->at[r->lost[fab_at]]);
    *out = (relocate_found){.n_collisions = s.score.n_collisions,
                            .worst_ratio = (double)s.score.worst * RELOCATE_STEP,
                            .n_tried = s.n_tried,
                            .is_optimal = s.is_optimal};
    return FAB_OK;
}
