/* Flows that end in time though shares alone do not show it.
 *
 * A flow has at least its share of the link of its path where shares are least: capacity over the weights of those that
 * are still under way. So it ends no later than in a run in which everybody gets just that. Such a run needs no
 * solution of rates, and only the links where shares leave it open: on all others shares are taken to stay what they
 * are at first. Those of them that then hold somebody up join the next run. */
#include "estimator_internal.h"

#define MOST_TRIES 12
#define MOST_LINKS 4096
#define MOST_WORK  (UINT64_C(1) << 23) /* looks at a flow; of many flows so many at each: rates take far longer */
#define MOST_LOOKS 64
#define DONE       1e-13          /* of a flow: rounding */
#define OF_NOBODY  (FAB_NONE - 1) /* a path that was not touched, and is in the run */

/* A path in the run. */
typedef struct estimator_runner {
    double residual; /* bits / weight */
    double done;     /* no more than this is nothing */
    double level;    /* bits / weight / s that the links outside the run leave it */
    double weight;
    uint32_t first, n; /* links of the run that it crosses: numbers in `at` */
    const fab_link_id *link;
    uint32_t n_links; /* all that it crosses */
} estimator_runner;

/* A link of the run. */
typedef struct run_link {
    fab_link_id link;
    double capacity, weight;
} run_link;

typedef struct run {
    fab_estimator_reader *t;
    const fab_mask *mask;
    const fab_rerouted *r;
    double least_s;
    run_link *links; /* [n_links] */
    uint32_t n_links;
    uint32_t *at;
    size_t n_at, at_capacity;
    size_t n; /* paths */
    uint64_t work;
} run;

static fab_status open_reader(fab_estimator_reader *t, fab_error *err) {
    const fab_estimator *c = t->estimator;
    if (t->slot == NULL) {
        FAB_PASS(FAB_NEW(t->slot, c->n_paths, err));
        memset(t->slot, 0xff, c->n_paths * sizeof *t->slot);
    }
    if (t->candidate == NULL) {
        FAB_PASS(FAB_NEW(t->candidate, c->request.fabric->n_links, err));
        memset(t->candidate, 0xff, c->request.fabric->n_links * sizeof *t->candidate);
    }
    return FAB_OK;
}

/* False if there are too many. */
static bool add_link(run *s, fab_link_id link) {
    if (s->t->candidate[link] != FAB_NONE) {
        return true;
    }
    if (s->n_links == MOST_LINKS) {
        return false;
    }
    s->t->candidate[link] = s->n_links;
    s->links[s->n_links++] = (run_link){.link = link, .capacity = estimator_capacity(s->t->estimator, s->mask, link)};
    return true;
}

/* Where shares alone leave it open. */
static bool add_if_open(run *s, fab_link_id link) {
    const fab_estimator_reader *t = s->t;
    double capacity = estimator_capacity(t->estimator, s->mask, link);
    return estimator_shares_s(&t->load[link], capacity) <= s->least_s * (1 + ESTIMATOR_CLOSE) || add_link(s, link);
}

static bool add_open(run *s) {
    const fab_estimator_reader *t = s->t;
    const fab_estimator *c = t->estimator;
    bool all = true;
    const bool knows = estimator_knows_longest(t, s->least_s);
    const fab_link_id *list = knows ? t->heavy.link : t->changed;
    for (size_t i = 0; all && i < (knows ? t->heavy.n : t->n_changed); i++) {
        all = add_if_open(s, list[i]);
    }
    for (uint32_t i = 0; all && i < s->mask->n_links; i++) {
        all = add_if_open(s, s->mask->link[i]);
    }
    for (uint32_t i = 0; all && i < c->by_shares.n && c->by_shares.s[i] > s->least_s; i++) {
        all = add_if_open(s, c->by_shares.link[i]);
    }
    for (uint32_t l = 0; all && t->is_renewed && l < c->request.fabric->n_links; l++) {
        all = add_if_open(s, l);
    }
    return all;
}

static fab_status add_runner(run *s, uint32_t path, const fab_link_id *link, size_t n, fab_error *err) {
    fab_estimator_reader *t = s->t;
    const fab_estimator *c = t->estimator;
    uint32_t flow = c->flow_of[path];
    estimator_runner runner = {.residual = c->bits[flow],
                               .done = c->bits[flow] * DONE,
                               .level = INFINITY,
                               .first = (uint32_t)s->n_at,
                               .link = link,
                               .n_links = (uint32_t)n};
    runner.weight = fab_path_part(c->request.routes, flow, path);
    for (size_t i = 0; i < n; i++) {
        if (t->candidate[link[i]] != FAB_NONE) {
            FAB_PASS(FAB_APPEND(s->at, s->n_at, s->at_capacity, err, t->candidate[link[i]]));
        } else {
            runner.level = fmin(runner.level, estimator_capacity(c, s->mask, link[i]) / t->load[link[i]].weight);
        }
    }
    runner.n = (uint32_t)(s->n_at - runner.first);
    if (estimator_limits(t) != NULL) {
        runner.level = fmin(runner.level, estimator_limits(t)[flow]);
    }
    if (runner.n > 0) {
        FAB_PASS(FAB_APPEND(t->runner, s->n, t->runner_capacity, err, runner));
    }
    return FAB_OK;
}

/* A path that was not touched, unless it is in the run. */
static fab_status add_untouched(run *s, uint32_t path, size_t *n_listed, fab_error *err) {
    fab_estimator_reader *t = s->t;
    const fab_routes *before = t->estimator->request.routes;
    const size_t first = before->path_first[path];
    if (t->slot[path] != FAB_NONE) {
        return FAB_OK;
    }
    FAB_PASS(FAB_APPEND(t->path_list, *n_listed, t->path_list_capacity, err, path));
    t->slot[path] = OF_NOBODY;
    return add_runner(s, path, before->link + first, before->path_first[path + 1] - first, err);
}

/* Everybody who crosses one of the links. */
static fab_status add_runners(run *s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_estimator_reader *t = s->t;
    const fab_estimator *c = t->estimator;
    const fab_routes *before = c->request.routes;
    size_t n_listed = 0;
    for (uint32_t i = 0; i < s->r->n_touched; i++) {
        t->slot[s->r->path[i]] = i;
    }
    for (uint32_t i = 0; i < s->r->n_touched; i++) {
        size_t first = s->r->path_first[i];
        FAB_TRY(add_runner(s, s->r->path[i], s->r->link + first, s->r->path_first[i + 1] - first, err));
    }
    for (uint32_t k = 0; k < s->n_links && c->first != NULL; k++) {
        for (size_t i = c->first[s->links[k].link]; i < c->first[s->links[k].link + 1]; i++) {
            FAB_TRY(add_untouched(s, c->crossing[i], &n_listed, err));
        }
    }
    for (uint32_t path = 0; path < c->n_paths && c->first == NULL; path++) { /* of an estimator that is read once */
        for (size_t i = before->path_first[path]; i < before->path_first[path + 1]; i++) {
            FAB_TRY(t->candidate[before->link[i]] != FAB_NONE ? add_untouched(s, path, &n_listed, err) : FAB_OK);
        }
    }
done:
    for (uint32_t i = 0; i < s->r->n_touched; i++) {
        t->slot[s->r->path[i]] = FAB_NONE;
    }
    for (size_t i = 0; i < n_listed; i++) {
        t->slot[t->path_list[i]] = FAB_NONE;
    }
    return status;
}

static double level_of(const run *s, const estimator_runner *runner) {
    double level = runner->level;
    for (uint32_t i = 0; i < runner->n; i++) {
        const run_link *link = &s->links[s->at[runner->first + i]];
        double share = link->capacity / link->weight;
        level = share < level ? share : level;
    }
    return level;
}

/* Links that hold somebody up who has yet `rest_s`, though they are taken to stay as they are at first. False if there
 * is none, or no room. */
static bool add_late(run *s, double rest_s) {
    uint32_t n_before = s->n_links;
    const fab_estimator_reader *t = s->t;
    FAB_EACH(const estimator_runner, late, t->runner, s->n) {
        for (uint32_t k = 0; k < late->n_links && late->residual > late->level * rest_s; k++) {
            double level = estimator_capacity(t->estimator, s->mask, late->link[k]) / t->load[late->link[k]].weight;
            if (late->residual > level * rest_s && !add_link(s, late->link[k])) {
                return false;
            }
        }
    }
    return s->n_links > n_before;
}

/* Whether all are done in time. Shares only grow, so that nobody ends later than it would by those of the moment.
 * `again`: another run may show more. */
static bool run_down(run *s, bool *again) {
    estimator_runner *list = s->t->runner;
    const double end_s = s->least_s * (1 + ESTIMATOR_CLOSE);
    const uint64_t of_many = (uint64_t)MOST_LOOKS * s->t->estimator->n_paths;
    double now_s = 0;
    *again = false;
    for (;;) {
        double last_s = 0;
        double next_s = INFINITY;
        for (size_t i = 0; i < s->n; i++) {
            double need_s = list[i].residual / level_of(s, &list[i]);
            last_s = fmax(last_s, need_s);
            next_s = fmin(next_s, need_s);
        }
        if (now_s + last_s <= end_s) {
            return true;
        }
        s->work += s->n;
        if (s->work > MOST_WORK && s->work > of_many) {
            return false;
        }
        if (now_s + next_s > end_s) {
            *again = add_late(s, end_s - now_s);
            return false;
        }
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++) {
            list[i].residual -= level_of(s, &list[i]) * next_s;
        }
        for (size_t i = 0; i < s->n; i++) {
            bool done = list[i].residual <= list[i].done;
            for (uint32_t k = 0; done && k < list[i].n; k++) {
                s->links[s->at[list[i].first + k]].weight -= list[i].weight;
            }
            if (!done) {
                list[kept++] = list[i];
            }
        }
        s->n = kept;
        now_s += next_s;
    }
}

fab_status estimator_settle(fab_estimator_reader *t, const fab_mask *mask, const fab_rerouted *rerouted, double least_s,
                            bool *out_agree, fab_error *err) {
    fab_status status = FAB_OK;
    run s = {.t = t, .mask = mask, .r = rerouted, .least_s = least_s};
    *out_agree = false;
    if (t->estimator->relayed != NULL || t->estimator->is_even) {
        return FAB_OK;
    }
    FAB_TRY(open_reader(t, err));
    FAB_TRY(FAB_NEW(s.links, MOST_LINKS, err));
    bool again = add_open(&s);
    for (uint32_t i = 0; i < MOST_TRIES && again && !*out_agree; i++) {
        s.n_at = 0;
        s.n = 0;
        for (uint32_t k = 0; k < s.n_links; k++) {
            s.links[k].weight = t->load[s.links[k].link].weight;
        }
        FAB_TRY(add_runners(&s, err));
        *out_agree = run_down(&s, &again);
    }
done:
    for (uint32_t i = 0; i < s.n_links; i++) {
        t->candidate[s.links[i].link] = FAB_NONE;
    }
    FAB_FREE_ALL(s.links, s.at);
    return status;
}
