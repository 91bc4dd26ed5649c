/* The best spares for several lost servers, by an integer program.
 *
 * Columns: x[i][s] = 1 when lost server i goes to spare s; z = 1 when both of two lost servers that talk to each other
 *          go to two certain spares; c = 1 when a link is offered more than its residual capacity; w[p] the largest
 * ratio of a phase, w that of all. Rows:    every lost server goes to one spare, and to every spare goes at most one; z
 * >= x + x - 1; of every link that may collide: rest + what x and z add <= 1 + c * (what it may come to - 1); of every
 * link that may be the fullest: rest + what x and z add <= w, and the same for its phase and w[p]; the fullest links
 * need no longer than they may: sum of unit[p] * w[p] <= allowed. First the fewest collisions are looked for, then with
 * so many the smallest w. Links with equal rows share one. */
#include "relocate_views.h"

#include "fab/solve.h"

#define MOST_CHOICES 64  /* columns x */
#define MOST_PAIRS   100 /* columns z */
#define MOST_ENTRIES 20000
#define MOST_ROWS    100 /* links that differ */
#define MOST_STEPS   5000
#define MOST_NODES   300
#define SLACK        1e-8 /* of a link that does not collide */
#define CLOSE        1e-6 /* a bound is met within this share of it */

/* A column adds to a link. */
typedef struct term {
    size_t view;
    fab_link_id link;
    uint32_t column;
    double ratio; /* of its residual capacity */
} term;

/* Links that the same columns add the same to. */
typedef struct group {
    uint32_t first, n; /* terms */
    uint32_t n_links;  /* each as often as its phase counts */
    size_t view;
    double rest, most; /* ratio without anybody, and that it may come to */
} group;

typedef struct pair {
    uint32_t a, b; /* columns x */
} pair;

typedef struct exact {
    relocate_search *s;
    uint32_t n_lost, n_spares;
    uint32_t n_choices; /* x[i][s] is column i * n_spares + s */
    bool *is_barred;    /* shape [n_choices] */
    pair *pairs;
    bool *is_pair_barred;
    uint32_t n_pairs;
    size_t pair_capacity, barred_capacity;
    term *terms;
    size_t n_terms, term_capacity;
    group *groups;
    uint32_t n_groups;
    double *most_of; /* shape [n_lost]: a scratch */
    uint32_t column; /* of the terms that are being made */
    fab_status status;
    uint32_t n_certain; /* collisions wherever they go */
    double rest_worst;  /* the largest ratio wherever they go */
    double *view_worst; /* shape [n_views]: the same of a phase, at least 1: below that nobody waits */
    size_t n_views;
    bool is_too_large;
} exact;

/* --- what columns add --------------------------------------------------------------------------------------------- */

static void add_term(void *context, size_t view, fab_link_id link, double bps) {
    exact *x = context;
    double residual = relocate_eval_residual(x->s->e, link);
    if (x->status != FAB_OK || x->n_terms == MOST_ENTRIES) {
        x->is_too_large = true;
        return;
    }
    x->status = FAB_GROW(x->terms, x->term_capacity, x->n_terms + 1, NULL);
    if (x->status == FAB_OK) {
        x->terms[x->n_terms++] = (term){view, link, x->column, residual > 0 ? bps / residual : 0};
    }
}

static fab_status add_choices(exact *x, uint32_t n_cut, fab_error *err) {
    const fab_relocator *r = x->s->r;
    for (uint32_t i = 0; i < x->n_lost; i++) {
        for (uint32_t k = 0; k < x->n_spares && !x->is_too_large; k++) {
            const relocate_change change = {r->lost[i], r->spare[k]};
            relocate_score score;
            x->column = i * x->n_spares + k;
            size_t n_before = x->n_terms;
            x->is_barred[x->column] = !relocate_fits(r, change.server, change.to);
            if (x->is_barred[x->column]) {
                continue;
            }
            x->s->n_tried++;
            FAB_PASS(relocate_eval_try(x->s->e, &change, 1, &score, add_term, x, err));
            if (score.n_cut > n_cut) {
                x->is_barred[x->column] = true;
                x->n_terms = n_before;
            }
        }
    }
    return FAB_OK;
}

static fab_status add_pair(exact *x, uint32_t i, uint32_t k, uint32_t j, uint32_t l, fab_error *err) {
    const fab_relocator *r = x->s->r;
    const relocate_change changes[] = {{r->lost[i], r->spare[k]}, {r->lost[j], r->spare[l]}};
    bool is_cut = false;
    if (x->n_pairs == MOST_PAIRS) {
        x->is_too_large = true;
        return FAB_OK;
    }
    x->column = x->n_choices + x->n_pairs;
    FAB_PASS(FAB_GROW(x->pairs, x->pair_capacity, x->n_pairs + 1, err));
    FAB_PASS(FAB_GROW(x->is_pair_barred, x->barred_capacity, x->n_pairs + 1, err));
    FAB_PASS(relocate_eval_between(x->s->e, changes, &is_cut, add_term, x, err));
    x->pairs[x->n_pairs] = (pair){i * x->n_spares + k, j * x->n_spares + l};
    x->is_pair_barred[x->n_pairs++] = is_cut;
    return FAB_OK;
}

static fab_status exact_add_pairs(exact *x, fab_error *err) {
    const fab_relocator *r = x->s->r;
    for (uint32_t i = 0; i < x->n_lost; i++) {
        for (uint32_t j = i + 1; j < x->n_lost; j++) {
            if (!relocate_eval_talk(x->s->e, r->lost[i], r->lost[j])) {
                continue;
            }
            for (uint32_t k = 0; k < x->n_spares && !x->is_too_large; k++) {
                for (uint32_t l = 0; l < x->n_spares && !x->is_too_large; l++) {
                    if (k != l && !x->is_barred[i * x->n_spares + k] && !x->is_barred[j * x->n_spares + l]) {
                        FAB_PASS(add_pair(x, i, k, j, l, err));
                    }
                }
            }
        }
    }
    return FAB_OK;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_THREE(by_link, term, view, link, column);

static double rest_of(const exact *x, const term *t) {
    double residual = relocate_eval_residual(x->s->e, t->link);
    return residual > 0 ? relocate_view_load(&x->s->e->views[t->view], t->link) / residual : 0;
}

/* What a link may come to: every lost server adds at most its largest, and so does every pair of columns. */
static double most_of(exact *x, const group *g) {
    double most = g->rest;
    memset(x->most_of, 0, x->n_lost * sizeof *x->most_of);
    for (uint32_t i = g->first; i < g->first + g->n; i++) {
        const term *t = &x->terms[i];
        if (t->column < x->n_choices) {
            double *of = &x->most_of[t->column / x->n_spares];
            *of = fmax(*of, t->ratio);
        } else {
            most += t->ratio;
        }
    }
    for (uint32_t i = 0; i < x->n_lost; i++) {
        most += x->most_of[i];
    }
    return most;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(a));
}

static bool is_equal(const exact *x, const group *a, const group *b) {
    if (a->n != b->n || a->view != b->view || !is_near(a->rest, b->rest)) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        const term *s = &x->terms[a->first + i];
        const term *t = &x->terms[b->first + i];
        if (s->column != t->column || !is_near(s->ratio, t->ratio)) {
            return false;
        }
    }
    return true;
}

/* Makes rows of links that may matter: they may collide, or be fuller than any link is in any case. */
static fab_status group_links(exact *x, fab_error *err) {
    qsort(x->terms, x->n_terms, sizeof *x->terms, by_link);
    FAB_PASS(FAB_NEW(x->groups, MOST_ROWS, err));
    FAB_PASS(FAB_NEW(x->most_of, x->n_lost, err));
    for (uint32_t i = 0, n = 0; i < x->n_terms && !x->is_too_large; i += n) {
        const term *t = &x->terms[i];
        for (n = 1; i + n < x->n_terms && x->terms[i + n].view == t->view && x->terms[i + n].link == t->link;) {
            n++;
        }
        group g = {
            .first = i, .n = n, .n_links = x->s->e->views[t->view].weight, .view = t->view, .rest = rest_of(x, t)};
        g.most = most_of(x, &g);
        if (g.most <= RELOCATE_COLLIDED && g.most <= x->rest_worst) {
            continue;
        }
        FAB_FIRST(k, x->n_groups, is_equal(x, &x->groups[k], &g));
        if (k < x->n_groups) {
            x->groups[k].n_links += g.n_links;
        } else if (x->n_groups == MOST_ROWS) {
            x->is_too_large = true;
        } else {
            x->groups[x->n_groups++] = g;
        }
    }
    return FAB_OK;
}

/* --- the program -------------------------------------------------------------------------------------------------- */

typedef struct program {
    fab_column *columns;
    fab_row *rows;
    fab_entry *entries;
    size_t n_columns, n_rows, n_entries;
    double *x;
} program;

static void exact_put(program *p, size_t row, size_t column, double value) {
    p->entries[p->n_entries++] = (fab_entry){(uint32_t)row, (uint32_t)column, value};
}

static size_t exact_add_row(program *p, double lower, double upper) {
    p->rows[p->n_rows] = (fab_row){lower, upper};
    return p->n_rows++;
}

static bool may_collide(const group *g) {
    return g->rest <= RELOCATE_COLLIDED && g->most > RELOCATE_COLLIDED;
}

static void add_columns(const exact *x, program *p, bool for_ratio) {
    for (uint32_t i = 0; i < x->n_choices; i++) {
        p->columns[p->n_columns++] = (fab_column){0, x->is_barred[i] ? 0 : 1, 0, true};
    }
    for (uint32_t i = 0; i < x->n_pairs; i++) {
        p->columns[p->n_columns++] = (fab_column){0, x->is_pair_barred[i] ? 0 : 1, 0, false};
    }
    for (uint32_t i = 0; i < x->n_groups; i++) {
        double cost = for_ratio ? 0 : x->groups[i].n_links;
        p->columns[p->n_columns++] = (fab_column){0, may_collide(&x->groups[i]) ? 1 : 0, cost, true};
    }
    for (size_t v = 0; v < x->n_views; v++) {
        p->columns[p->n_columns++] = (fab_column){x->view_worst[v], INFINITY, 0, false};
    }
    p->columns[p->n_columns++] = (fab_column){x->rest_worst, INFINITY, for_ratio ? 1 : 0, false};
}

static void add_assignment(const exact *x, program *p) {
    for (uint32_t i = 0; i < x->n_lost; i++) {
        size_t row = exact_add_row(p, 1, 1);
        for (uint32_t k = 0; k < x->n_spares; k++) {
            exact_put(p, row, i * x->n_spares + k, 1);
        }
    }
    for (uint32_t k = 0; k < x->n_spares; k++) {
        size_t row = exact_add_row(p, -INFINITY, 1);
        for (uint32_t i = 0; i < x->n_lost; i++) {
            exact_put(p, row, i * x->n_spares + k, 1);
        }
    }
    for (uint32_t i = 0; i < x->n_pairs; i++) {
        size_t row = exact_add_row(p, -INFINITY, 1);
        exact_put(p, row, x->pairs[i].a, 1);
        exact_put(p, row, x->pairs[i].b, 1);
        exact_put(p, row, x->n_choices + i, -1);
    }
}

static void add_links(const exact *x, program *p, bool for_ratio) {
    const size_t first_c = (size_t)x->n_choices + x->n_pairs;
    const size_t first_w = first_c + x->n_groups;
    for (uint32_t i = 0; i < x->n_groups; i++) {
        const group *g = &x->groups[i];
        const struct {
            bool is_needed;
            double upper;
            size_t column;
            double value;
        } rows[] = {{may_collide(g), 1 + SLACK, first_c + i, 1 - g->most},
                    {g->most > x->view_worst[g->view], 0, first_w + g->view, -1},
                    {for_ratio && g->most > x->rest_worst, 0, first_w + x->n_views, -1}};
        for (size_t k = 0; k < FAB_N_OF(rows); k++) {
            if (!rows[k].is_needed) {
                continue;
            }
            size_t row = exact_add_row(p, -INFINITY, rows[k].upper - g->rest);
            for (uint32_t t = g->first; t < g->first + g->n; t++) {
                exact_put(p, row, x->terms[t].column, x->terms[t].ratio);
            }
            exact_put(p, row, rows[k].column, rows[k].value);
        }
    }
}

/* What the fullest links of the phases need together. */
static void add_allowed(const exact *x, program *p) {
    const relocate_eval *e = x->s->e;
    const size_t first_w = (size_t)x->n_choices + x->n_pairs + x->n_groups;
    const double allowed_s = e->allowed_s;
    FAB_SUM(double, unit_s, v, x->n_views, e->views[v].unit_s * e->views[v].weight);
    if (isfinite(allowed_s) && unit_s > 0) {
        size_t row = exact_add_row(p, -INFINITY, allowed_s / unit_s * (1 + SLACK));
        for (size_t v = 0; v < x->n_views; v++) {
            exact_put(p, row, first_w + v, e->views[v].unit_s * e->views[v].weight / unit_s);
        }
    }
}

/* @param[in] most_collisions  Of those that are not certain; below 0: as few as can be. */
static fab_status exact_solve(exact *x, double most_collisions, fab_solution *out, fab_error *err) {
    const bool for_ratio = most_collisions >= 0;
    const fab_solve_limits limits = {.steps = MOST_STEPS, .nodes = MOST_NODES};
    program p = {0};
    FAB_OWNS_MEMBERS(p.columns, p.rows, p.entries, p.x);
    relocate_search *s = x->s;
    const size_t n_columns = (size_t)x->n_choices + x->n_pairs + x->n_groups + x->n_views + 1;
    FAB_PASS(FAB_NEW_ALL(n_columns, err, p.columns, p.x));
    FAB_PASS(FAB_NEW(p.rows, x->n_lost + x->n_spares + x->n_pairs + 3 * (size_t)x->n_groups + 2, err));
    FAB_PASS(
        FAB_NEW(p.entries, 2 * (size_t)x->n_choices + 3 * (size_t)x->n_pairs + 3 * x->n_terms + 6 * n_columns, err));
    add_columns(x, &p, for_ratio);
    add_assignment(x, &p);
    add_links(x, &p, for_ratio);
    add_allowed(x, &p);
    if (for_ratio) {
        size_t row = exact_add_row(&p, -INFINITY, most_collisions + 0.5);
        for (uint32_t i = 0; i < x->n_groups; i++) {
            exact_put(&p, row, x->n_choices + x->n_pairs + i, x->groups[i].n_links);
        }
    }
    const fab_program whole = {.columns = p.columns,
                               .n_columns = p.n_columns,
                               .rows = p.rows,
                               .n_rows = p.n_rows,
                               .entries = p.entries,
                               .n_entries = p.n_entries};
    FAB_PASS(fab_solve(&whole, &limits, p.x, NULL, out, err));
    for (uint32_t i = 0; i < x->n_lost && out->has_point; i++) {
        for (uint32_t k = 0; k < x->n_spares; k++) {
            s->r->to[i] = p.x[i * x->n_spares + k] > 0.5 ? s->r->spare[k] : s->r->to[i];
        }
    }
    return out->has_point ? relocate_search_set(s, s->r->to, err) : FAB_OK;
}

/* --- the search --------------------------------------------------------------------------------------------------- */

static bool is_fewest(const exact *x, double fewest) {
    return x->s->best_score.n_collisions <= x->n_certain + fewest + 0.5;
}

static bool is_lowest(const exact *x, double ratio) {
    return (double)x->s->best_score.worst * RELOCATE_STEP <= ratio * (1 + CLOSE) + RELOCATE_STEP;
}

static fab_status prove(exact *x, fab_error *err) {
    fab_solution found;
    double fewest = 0;
    if (!is_fewest(x, 0)) {
        FAB_PASS(exact_solve(x, -1, &found, err));
        if (found.outcome != FAB_SOLVE_OPTIMAL) {
            return FAB_OK;
        }
        fewest = round(found.objective);
    }
    if (is_fewest(x, fewest) && !is_lowest(x, x->rest_worst)) {
        FAB_PASS(exact_solve(x, fewest, &found, err));
        x->s->is_optimal = found.outcome == FAB_SOLVE_OPTIMAL && is_lowest(x, found.objective);
    } else {
        x->s->is_optimal = is_fewest(x, fewest);
    }
    return FAB_OK;
}

/* All lost servers nowhere. */
static fab_status lift_all(exact *x, relocate_score *out, fab_error *err) {
    FAB_OWNED_NEW(relocate_change, changes, x->n_lost, err);
    FAB_FILL(changes, x->n_lost, (relocate_change){x->s->r->lost[fab_at], FAB_NONE});
    return relocate_eval_set(x->s->e, changes, x->n_lost, out, err);
}

fab_status relocate_search_exactly(relocate_search *s, fab_error *err) {
    relocate_score rest;
    exact x = {.s = s, .n_lost = s->r->n_lost, .n_spares = s->r->n_spares, .n_views = s->e->n_views};
    FAB_OWNS_MEMBERS(x.is_barred, x.pairs, x.is_pair_barred, x.terms, x.groups, x.view_worst, x.most_of);
    if (!s->e->is_separable || (uint64_t)x.n_lost * x.n_spares > MOST_CHOICES) {
        return FAB_OK;
    }
    x.n_choices = x.n_lost * x.n_spares;
    FAB_PASS(FAB_NEW(x.is_barred, x.n_choices, err));
    FAB_PASS(lift_all(&x, &rest, err));
    x.n_certain = rest.n_collisions;
    x.rest_worst = (double)rest.worst * RELOCATE_STEP;
    FAB_PASS(FAB_NEW(x.view_worst, x.n_views, err));
    FAB_FILL(x.view_worst, x.n_views, fmax(relocate_view_worst(s->e, &s->e->views[fab_at]), 1));
    FAB_PASS(add_choices(&x, rest.n_cut, err));
    FAB_PASS(!x.is_too_large ? exact_add_pairs(&x, err) : FAB_OK);
    FAB_PASS(!x.is_too_large ? group_links(&x, err) : FAB_OK);
    FAB_REFUSE_IF(x.status != FAB_OK, err, x.status, NULL, "out of memory for %zu terms", x.n_terms);
    FAB_PASS(!x.is_too_large && s->best_score.n_cut <= rest.n_cut && !s->best_score.is_late ? prove(&x, err) : FAB_OK);
    return FAB_OK;
}
