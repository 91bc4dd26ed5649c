/* Which servers the job runs on, and in which order: local search by swaps. First improvement; at a local optimum it
 * starts again from the best with a few servers swapped at random. Budget, moves and seeds decide every step, so the
 * same request tries the same placements on any machine. */
#include "advise_internal.h"

#include "fab/gcd.h"
#include "fab/rng.h"
#include "fab/units.h"

#include <float.h>

#define DEFAULT_BUDGET 200
#define LEAST_BUDGET   8
#define BUDGET_S       20.0 /* of estimated work */
#define PATHS_PER_S    4e6  /* routed and measured by one thread: low, so that the estimate is not exceeded by much */
#define PACKETS        500  /* followed through queues, a path takes that much longer */
#define KICKS          3    /* swaps of a restart */
#define MAX_IDLE       64   /* restarts in a row that led to nothing new: all has been tried */

typedef struct search {
    advisor *a;
    uint32_t *list; /* shape [n_all]: servers in use in their order, then those that are not */
    uint32_t *best; /* shape [n_all] */
    uint32_t n_job, n_all;
    fab_advice_figures best_figures, list_figures;
    advise_outcome outcome;
    uint64_t *seen; /* shape [budget + 1]: digests of the placements tried */
    uint64_t budget, n_tried, n_unfit;
    fab_rng rng;
} search;

/* --- lists of servers --------------------------------------------------------------------------------------------- */

/* "0-15,20"; false where it does not fit. */
static bool list_text(const uint32_t *list, uint32_t n, char *out, size_t size) {
    return fab_write_ranges(out, size, list, n, ',') == n;
}

static uint64_t digest_of(const search *s) {
    uint64_t digest = s->n_job;
    for (uint32_t i = 0; i < s->n_job; i++) {
        digest = fab_draw(digest, i, s->list[i]);
    }
    return digest;
}

static void swap(search *s, uint32_t i, uint32_t j) {
    uint32_t server = s->list[i];
    s->list[i] = s->list[j];
    s->list[j] = server;
}

/* --- search ------------------------------------------------------------------------------------------------------- */

/* Keeps what came of a list, for who wants to see all that was tried. */
static fab_status note_tried(search *s, const char *servers, fab_error *err) {
    fab_advice *advice = s->a->advice;
    FAB_PASS(FAB_GROW(advice->tried, advice->tried_capacity, advice->n_tried + 1, err));
    char *text = NULL;
    FAB_PASS(FAB_STRDUP(text, servers, err));
    advice->tried[advice->n_tried++] =
        (fab_advice_tried){text, s->outcome.is_possible ? s->outcome.figures.time_s : NAN};
    return FAB_OK;
}

/* Evaluates s->list, unless it was before or its text does not fit. */
static fab_status try_list(search *s, bool *out_new, bool *out_better, fab_error *err) {
    advise_config config = s->a->base;
    uint64_t digest = digest_of(s);
    *out_new = *out_better = false;
    FAB_ANY(is_seen, i, s->n_tried, s->seen[i] == digest);
    if (is_seen) {
        return FAB_OK;
    }
    if (!list_text(s->list, s->n_job, config.servers, sizeof config.servers)) {
        s->n_unfit++;
        return FAB_OK;
    }
    s->seen[s->n_tried++] = digest;
    *out_new = true;
    /* other seeds than those that judge what is found: a placement must not win by their luck */
    FAB_PASS(advise_evaluate(s->a, &config, s->a->what->seed + s->a->n_seeds, &s->outcome, err));
    FAB_PASS(note_tried(s, config.servers, err));
    if (s->outcome.is_possible) {
        *out_better = advise_is_better(&s->outcome.figures, &s->list_figures);
        if (*out_better) {
            s->list_figures = s->outcome.figures;
        }
        if (advise_is_better(&s->outcome.figures, &s->best_figures)) {
            s->best_figures = s->outcome.figures;
            s->a->advice->best_tried = s->a->advice->n_tried - 1;
            memcpy(s->best, s->list, s->n_all * sizeof *s->best);
        }
    }
    return FAB_OK;
}

/* Swaps that can be told apart: of two positions in use, or of one in use and one that is not. They are gone through in
 * an order that is drawn anew, until one helps; *out_new: some placement had not been tried. */
static fab_status improve(search *s, bool *out_better, bool *out_new, fab_error *err) {
    uint64_t n_moves = (uint64_t)s->n_job * s->n_all;
    uint64_t step = 1 + fab_rng_below(&s->rng, n_moves);
    while (fab_gcd(step, n_moves) > 1) { /* a step that has none with the number reaches every move */
        step++;
    }
    uint64_t move = fab_rng_below(&s->rng, n_moves);
    *out_better = false;
    for (uint64_t k = 0; k < n_moves && s->n_tried < s->budget && !*out_better; k++) {
        bool is_new = false;
        move = (move + step) % n_moves;
        uint32_t i = (uint32_t)(move % s->n_job);
        uint32_t j = (uint32_t)(move / s->n_job);
        if (j <= i) {
            continue;
        }
        swap(s, i, j);
        FAB_PASS(try_list(s, &is_new, out_better, err));
        *out_new = *out_new || is_new;
        if (!*out_better) {
            swap(s, i, j);
        }
        if (s->n_unfit > 100 * s->budget) { /* nothing fits any more */
            break;
        }
    }
    return FAB_OK;
}

/* Servers in ascending order: those of the job, then the first of the fabric. */
static fab_status try_plain_lists(search *s, fab_error *err) {
    bool is_new = false;
    bool is_better = false;
    for (int all = 0; all < 2 && s->n_tried < s->budget; all++) {
        memcpy(s->list, s->best, s->n_all * sizeof *s->list);
        s->list_figures = s->best_figures;
        qsort(s->list, all ? s->n_all : s->n_job, sizeof *s->list, fab_order_u32);
        FAB_PASS(try_list(s, &is_new, &is_better, err));
    }
    memcpy(s->list, s->best, s->n_all * sizeof *s->list);
    s->list_figures = s->best_figures;
    return FAB_OK;
}

static fab_status climb(search *s, fab_error *err) {
    int idle = 0;
    FAB_PASS(try_plain_lists(s, err));
    while (s->n_tried < s->budget && idle < MAX_IDLE) {
        bool is_better = false;
        bool is_new = false;
        FAB_PASS(improve(s, &is_better, &is_new, err));
        if (is_better) {
            continue;
        }
        idle = is_new ? 0 : idle + 1;
        memcpy(s->list, s->best, s->n_all * sizeof *s->list);
        for (int kick = 0; kick < KICKS; kick++) {
            swap(s, (uint32_t)fab_rng_below(&s->rng, s->n_job), (uint32_t)fab_rng_below(&s->rng, s->n_all));
        }
        s->list_figures = (fab_advice_figures){.time_s = DBL_MAX}; /* so that the next one is where the climb begins */
        FAB_PASS(s->n_tried < s->budget ? try_list(s, &is_new, &is_better, err) : FAB_OK);
    }
    return FAB_OK;
}

/* --- before and after --------------------------------------------------------------------------------------------- */

/* Placements that fit the time, from the number of paths alone: no clock decides what is tried. */
static uint64_t budget_of(const advisor *a) {
    if (a->request->has_budget) {
        return a->request->budget;
    }
    char text[32];
    uint64_t queue_pairs = 1;
    if (advise_engine_option(a->base.engine, "qp", text, sizeof text) &&
        fab_count_parse(text, 1, UINT32_MAX, &queue_pairs, NULL) != FAB_OK) {
        queue_pairs = 1;
    }
    FAB_SUM(double, flows, p, a->traffic->n_phases, (double)a->traffic->phases[p].n_flows);
    double work = flows * (double)queue_pairs * (double)a->n_seeds * (a->has_packets ? PACKETS : 1) +
                  2.0 * a->what->fabric->n_cables;
    double fit = BUDGET_S * PATHS_PER_S / (work > 1 ? work : 1);
    return fit > DEFAULT_BUDGET ? DEFAULT_BUDGET : fit < LEAST_BUDGET ? LEAST_BUDGET : (uint64_t)fit;
}

/* Servers of the job in rank order, then the others. A server with fewer GPUs stays out of it. */
static fab_status placement_init(search *s, fab_error *err) {
    advisor *a = s->a;
    const fab_fabric *f = a->what->fabric;
    uint32_t n_gpus = fab_n_gpus(f) / f->gpus_per_server;
    uint32_t n_full = n_gpus < fab_n_complete_servers(f) ? n_gpus : fab_n_complete_servers(f);
    FAB_OWNED bool *used = NULL;
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, s->list, s->best, used));
    FAB_PASS(advise_outcome_init(a, &s->outcome, err));
    for (uint32_t rank = 0; rank < a->traffic->n_ranks; rank++) {
        uint32_t server = a->traffic->gpu_of_rank[rank] / f->gpus_per_server;
        if (!used[server]) {
            used[server] = true;
            s->list[s->n_job++] = server;
        }
    }
    s->n_all = s->n_job;
    FAB_KEEP(s->list, s->n_all, server, n_full, !used[server], server);
    if (n_gpus < f->n_servers && used[n_gpus]) {
        s->n_all = 0;
        FAB_FORMAT(a->advice->placement_note,
                   "placement not searched: server %" PRIu32 " of the job has fewer GPUs than the others", n_gpus);
    } else if (s->n_all < 2) {
        FAB_FORMAT(a->advice->placement_note, "placement not searched: there is one server");
    }
    return FAB_NEW(s->seen, s->budget + 1, err);
}

static void placement_release(search *s) {
    FAB_FREE_ALL(s->list, s->best, s->seen);
    advise_outcome_release(&s->outcome);
}

/* What was tried on, and what came of it. */
static void write_note(const search *s, bool found) {
    char unfit[160] = "";
    size_t room = sizeof s->a->base.servers;
    if (s->n_unfit > 0) {
        FAB_FORMAT(unfit, "; placements whose list is longer than %zu characters were passed over", room - 1);
    }
    FAB_FORMAT(s->a->advice->placement_note,
               "placement: %s tried by swapping the job's %s servers with each other and with %s unused%s%s%s",
               FAB_SAY_COUNT(s->n_tried), FAB_SAY_COUNT(s->n_job), FAB_SAY_COUNT(s->n_all - s->n_job),
               found ? "" : "; none is better", s->n_tried >= s->budget ? "; the budget ended the search" : "", unfit);
}

static fab_status placement_run(search *s, advise_change *out, bool *out_found, fab_error *err) {
    advisor *a = s->a;
    char start[sizeof out->servers];
    FAB_PASS(advise_evaluate(a, &a->base, a->what->seed + a->n_seeds, &s->outcome, err));
    s->best_figures = s->list_figures = s->outcome.figures;
    memcpy(s->best, s->list, s->n_all * sizeof *s->best);
    bool start_fits = list_text(s->list, s->n_job, start, sizeof start);
    uint64_t base_digest = digest_of(s);
    FAB_PASS(note_tried(s, start_fits ? start : "-", err));
    s->budget++; /* the base is in the table of what was tried */
    s->seen[s->n_tried++] = base_digest;
    FAB_PASS(climb(s, err));
    s->budget--;
    s->n_tried--;
    *out = (advise_change){.kind = FAB_ADVICE_PLACEMENT};
    *out_found = list_text(s->best, s->n_job, out->servers, sizeof out->servers) &&
                 (!start_fits || strcmp(start, out->servers) != 0);
    a->advice->n_placements = s->n_tried;
    write_note(s, *out_found);
    return FAB_OK;
}

fab_status advise_search_servers(advisor *a, advise_change *out, bool *out_found, fab_error *err) {
    FAB_OWNS(placement_release) search s = {.a = a, .rng = fab_rng_make(a->what->seed, 0x616476)};
    fab_advice *advice = a->advice;
    *out_found = false;
    if (!a->is_whole_job) {
        FAB_FORMAT(advice->placement_note, "%s",
                   a->traffic->n_ranks == 0
                       ? "placement and rank order are those of a job: this traffic has none"
                       : "placement and rank order move all phases of the job: they are tried with --traffic job");
        return FAB_OK;
    }
    const fab_job_spec *job = &a->traffic->job;
    if (job->placement != FAB_PLACEMENT_ORDER || job->gpus != 0 ||
        job->n_servers != 0) { /* would move the list again */
        *out = (advise_change){.kind = FAB_ADVICE_PLACEMENT, .in_order = true};
        *out_found = job->placement != FAB_PLACEMENT_ORDER;
        FAB_FORMAT(advice->placement_note,
                   "placement not searched: it starts from a list of servers, and this job has placement=%s%s",
                   fab_placements[job->placement],
                   job->gpus != 0 || job->n_servers != 0 ? " and takes some of them" : "");
        return FAB_OK;
    }
    s.budget = advice->budget = budget_of(a);
    if (s.budget == 0) {
        FAB_FORMAT(advice->placement_note, "placement not searched: the budget is 0");
        return FAB_OK;
    }
    a->n_total += s.budget + 1;
    FAB_PASS(placement_init(&s, err));
    return s.n_all >= 2 ? placement_run(&s, out, out_found, err) : FAB_OK;
}
