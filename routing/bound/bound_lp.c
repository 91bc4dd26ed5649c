/* The exact optimum of small demands, as a linear program over the minimal paths.
 *
 *     minimise U
 *     at every switch v, for every destination leaf d:  sum of x[d, out of v] - sum of x[d, into v] = rate[v, d]
 *     on every trunk l:                                 sum over d of x[d, l] <= U * capacity[l]
 *
 * Two exact reductions make it small. Links between the same two switches are one trunk: they are next hops together,
 * and sharing what the trunk carries by capacity keeps every sum and never raises the fullest. A switch with a single
 * trunk towards d has no choice: its column is what enters, so that a column loads all trunks up to the next choice,
 * and only choices have rows.
 *
 * Rates and capacities are in units of the fastest trunk. The prices of the trunk rows are the certificate. */
#include "bound_internal.h"
#include "next_hops/next_hop_rows.h"
#include "fab/solve.h"

#define MOST_STEPS 30000 /* of the simplex method, before the approximation is asked instead */

typedef struct program {
    const fab_bound_job *job;
    uint32_t base;
    double unit;
    uint32_t n_trunks;
    uint32_t *trunk_of;  /* [n_links]: of the links of the job */
    uint32_t *head;      /* [trunk]: switch index */
    uint32_t *tail;      /* [trunk]: switch index */
    double *capacity;    /* [trunk] */
    double *fixed;       /* [trunk]: load that no choice changes */
    uint32_t *trunk_row; /* [trunk]: FAB_NONE where nothing arrives */
    /* of the destination at hand */
    uint32_t *reached; /* switches that may hold something, [n_reached] */
    uint32_t n_reached;
    uint32_t *seen;       /* [switch]: last destination that reached it, + 1 */
    uint32_t *switch_row; /* [switch]: FAB_NONE without a choice */
    double *supply;       /* [switch] */
    /* the program; column 0 is U */
    fab_column *columns;
    uint32_t *column_trunk; /* [column] */
    uint32_t *leaf_column;  /* [n_leaves + 1]: first column of a destination */
    fab_row *rows;
    fab_entry *entries;
    size_t n_columns, n_rows, n_entries, column_capacity, trunk_capacity, row_capacity, entry_capacity;
} program;

FAB_FREES(lp_release, program, trunk_of, head, tail, capacity, fixed, trunk_row, reached, seen, switch_row, supply,
          columns, column_trunk, leaf_column, rows, entries);

/* --- trunks ------------------------------------------------------------------------------------------------------- */

/* Numbers the trunks of a switch; `to`: [switch], trunk of the switch at hand to there, if it is one of its own. */
static void number_trunks(program *p, uint32_t v, uint32_t *to) {
    const fab_fabric *f = p->job->fabric;
    uint32_t first = p->n_trunks;
    FAB_EACH_LINK(f, p->base + v, l) {
        if (p->trunk_of[l] == FAB_NONE) {
            continue;
        }
        uint32_t head = fab_head(f, l) - p->base;
        uint32_t trunk = to[head];
        if (trunk < first || trunk >= p->n_trunks || p->head[trunk] != head) {
            trunk = to[head] = p->n_trunks++;
            p->head[trunk] = head;
            p->tail[trunk] = v;
        }
        p->trunk_of[l] = trunk;
        p->capacity[trunk] += fab_class_of(f, l)->capacity_bps;
        p->unit = fmax(p->unit, p->capacity[trunk]);
    }
}

static fab_status find_trunks(program *p, fab_error *err) {
    const fab_bound_job *job = p->job;
    uint32_t n_switches = fab_n_switches(job->fabric);
    FAB_OWNED_NEW(uint32_t, to, n_switches, err);
    FAB_PASS(FAB_NEW(p->trunk_of, job->fabric->n_links, err));
    FAB_PASS(FAB_NEW_ALL(job->n_links, err, p->head, p->tail, p->capacity, p->fixed, p->trunk_row));
    memset(p->trunk_of, 0xff, job->fabric->n_links * sizeof *p->trunk_of); /* FAB_NONE */
    for (uint32_t i = 0; i < job->n_links; i++) {
        p->trunk_of[job->link[i]] = 0;
        p->trunk_row[i] = FAB_NONE;
    }
    for (uint32_t v = 0; v < n_switches; v++) {
        number_trunks(p, v, to);
    }
    return FAB_OK;
}

/* The trunk that everything at v takes towards the leaf, or FAB_NONE where there is a choice. */
static uint32_t only_trunk(const program *p, uint32_t v, uint32_t leaf) {
    fab_next_hop_list list = fab_next_hops_look(p->job->next_hops, v, leaf);
    uint32_t trunk = FAB_NONE;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t other = p->trunk_of[fab_next_hop(&list, i)];
        if (i > 0 && other != trunk) {
            return FAB_NONE;
        }
        trunk = other;
    }
    return trunk;
}

/* --- columns, rows and entries ------------------------------------------------------------------------------------ */

static fab_status lp_add_row(program *p, double lower, double upper, uint32_t *out, fab_error *err) {
    FAB_PASS(FAB_GROW(p->rows, p->row_capacity, p->n_rows + 1, err));
    *out = (uint32_t)p->n_rows;
    p->rows[p->n_rows++] = (fab_row){lower, upper};
    return FAB_OK;
}

static fab_status lp_add_entry(program *p, uint32_t row, size_t column, double value, fab_error *err) {
    return FAB_APPEND(p->entries, p->n_entries, p->entry_capacity, err, (fab_entry){row, (uint32_t)column, value});
}

static fab_status add_column(program *p, uint32_t trunk, double cost, fab_error *err) {
    FAB_PASS(FAB_GROW(p->columns, p->column_capacity, p->n_columns + 1, err));
    FAB_PASS(FAB_GROW(p->column_trunk, p->trunk_capacity, p->n_columns + 1, err));
    p->columns[p->n_columns] = (fab_column){.lower = 0, .upper = INFINITY, .cost = cost};
    p->column_trunk[p->n_columns++] = trunk;
    return FAB_OK;
}

/* Row of a trunk that carries something. */
static fab_status capacity_row(program *p, uint32_t trunk, uint32_t *out, fab_error *err) {
    if (p->trunk_row[trunk] == FAB_NONE) {
        FAB_PASS(lp_add_row(p, -INFINITY, 0, &p->trunk_row[trunk], err));
        FAB_PASS(lp_add_entry(p, p->trunk_row[trunk], 0, -p->capacity[trunk] / p->unit, err));
    }
    *out = p->trunk_row[trunk];
    return FAB_OK;
}

/* What enters a trunk goes on to the next choice: to a column, or as a fixed amount. */
static fab_status follow(program *p, uint32_t leaf, uint32_t trunk, size_t column, double amount, fab_error *err) {
    uint32_t target = p->job->next_hops->leaf_node[leaf] - p->base;
    for (;;) {
        uint32_t row = 0;
        FAB_PASS(capacity_row(p, trunk, &row, err));
        if (column > 0) {
            FAB_PASS(lp_add_entry(p, row, column, 1, err));
        } else {
            p->fixed[trunk] += amount;
        }
        uint32_t v = p->head[trunk];
        if (v == target) {
            break;
        }
        row = p->switch_row[v];
        if (row == FAB_NONE) {
            trunk = only_trunk(p, v, leaf);
            continue;
        }
        if (column > 0) {
            FAB_PASS(lp_add_entry(p, row, column, -1, err));
        } else {
            p->rows[row].lower = p->rows[row].upper += amount;
        }
        break;
    }
    return FAB_OK;
}

/* Switches on the minimal paths of a destination's demands, and a row where they have a choice. */
static fab_status reach(program *p, uint32_t leaf, fab_error *err) {
    const fab_bound_job *job = p->job;
    const fab_demand *demand = job->demand;
    const fab_node_id *node = job->next_hops->leaf_node;
    p->n_reached = 0;
    p->seen[node[leaf] - p->base] = leaf + 1; /* where it ends */
    for (uint32_t pair = demand->first[leaf]; pair < demand->first[leaf + 1]; pair++) {
        uint32_t v = node[demand->src[pair]] - p->base;
        if (demand->rate[pair] > 0) {
            p->seen[v] = leaf + 1;
            p->supply[v] = demand->rate[pair] / p->unit;
            p->reached[p->n_reached++] = v;
        }
    }
    for (uint32_t i = 0; i < p->n_reached; i++) {
        fab_next_hop_list list = fab_next_hops_look(job->next_hops, p->reached[i], leaf);
        uint32_t n = list.count;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t v = fab_head(job->fabric, fab_next_hop(&list, k)) - p->base;
            if (p->seen[v] != leaf + 1) {
                p->seen[v] = leaf + 1;
                p->supply[v] = 0;
                p->reached[p->n_reached++] = v;
            }
        }
    }
    for (uint32_t i = 0; i < p->n_reached; i++) {
        uint32_t v = p->reached[i];
        p->switch_row[v] = FAB_NONE;
        if (only_trunk(p, v, leaf) == FAB_NONE) {
            FAB_PASS(lp_add_row(p, p->supply[v], p->supply[v], &p->switch_row[v], err));
        }
    }
    return FAB_OK;
}

static fab_status add_choice(program *p, uint32_t v, uint32_t leaf, fab_error *err) {
    fab_next_hop_list list = fab_next_hops_look(p->job->next_hops, v, leaf);
    uint32_t n = list.count;
    size_t first = p->n_columns;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t trunk = p->trunk_of[fab_next_hop(&list, i)];
        bool known = false;
        for (size_t c = p->n_columns; c-- > first && !known;) {
            known = p->column_trunk[c] == trunk;
        }
        if (!known) {
            FAB_PASS(add_column(p, trunk, 0, err));
            FAB_PASS(lp_add_entry(p, p->switch_row[v], p->n_columns - 1, 1, err));
            FAB_PASS(follow(p, leaf, trunk, p->n_columns - 1, 0, err));
        }
    }
    return FAB_OK;
}

/* Stops early, with too many columns, where `max_columns` is passed. */
static fab_status lp_build(program *p, size_t max_columns, fab_error *err) {
    uint32_t n_switches = fab_n_switches(p->job->fabric);
    FAB_PASS(find_trunks(p, err));
    FAB_PASS(FAB_NEW_ALL(n_switches, err, p->reached, p->seen, p->switch_row, p->supply));
    FAB_PASS(FAB_NEW(p->leaf_column, (size_t)p->job->demand->n_leaves + 1, err));
    FAB_PASS(add_column(p, FAB_NONE, 1, err));
    for (uint32_t leaf = 0; leaf < p->job->demand->n_leaves && p->n_columns <= max_columns; leaf++) {
        p->leaf_column[leaf] = (uint32_t)p->n_columns;
        FAB_PASS(reach(p, leaf, err));
        for (uint32_t i = 0; i < p->n_reached; i++) {
            uint32_t v = p->reached[i];
            if (p->switch_row[v] != FAB_NONE) {
                FAB_PASS(add_choice(p, v, leaf, err));
            } else if (p->supply[v] > 0) {
                FAB_PASS(follow(p, leaf, only_trunk(p, v, leaf), 0, p->supply[v], err));
            }
        }
        p->leaf_column[leaf + 1] = (uint32_t)p->n_columns;
    }
    for (uint32_t trunk = 0; trunk < p->n_trunks; trunk++) {
        if (p->trunk_row[trunk] != FAB_NONE) {
            p->rows[p->trunk_row[trunk]].upper = -p->fixed[trunk];
        }
    }
    return FAB_OK;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* A switch without a choice, or that holds nothing, shares by capacity. */
static void share_default(const program *p, uint32_t leaf, double *share) {
    const fab_fabric *f = p->job->fabric;
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        double sum = 0;
        fab_next_hop_list list = fab_next_hops_look(p->job->next_hops, v, leaf);
        uint32_t n = list.count;
        for (uint32_t i = 0; i < n; i++) {
            sum += fab_class_of(f, fab_next_hop(&list, i))->capacity_bps;
        }
        for (uint32_t i = 0; i < n; i++) {
            share[fab_next_hop(&list, i)] = fab_class_of(f, fab_next_hop(&list, i))->capacity_bps / sum;
        }
    }
}

/* Shares of the switches that have a choice. `held`: [switch]. */
static void share_chosen(const program *p, uint32_t leaf, const double *x, double *held, double *share) {
    const fab_fabric *f = p->job->fabric;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t c = p->leaf_column[leaf]; c < p->leaf_column[leaf + 1]; c++) {
            uint32_t trunk = p->column_trunk[c];
            uint32_t v = p->tail[trunk];
            double amount = fmax(0, x[c]);
            if (pass == 0) {
                held[v] = 0;
            } else if (pass == 1) {
                held[v] += amount;
            } else if (held[v] > 0) {
                fab_next_hop_list list = fab_next_hops_look(p->job->next_hops, v, leaf);
                uint32_t n = list.count;
                for (uint32_t i = 0; i < n; i++) {
                    if (p->trunk_of[fab_next_hop(&list, i)] == trunk) {
                        share[fab_next_hop(&list, i)] = amount / held[v] *
                                                        fab_class_of(f, fab_next_hop(&list, i))->capacity_bps /
                                                        p->capacity[trunk];
                    }
                }
            }
        }
    }
}

/* Split, certificate, and whether they meet. */
static fab_status answer(program *p, fab_bound_job *job, const double *x, const double *dual, fab_bound *bound,
                         bool *out_exact, fab_error *err) {
    FAB_OWNS(fab_split_release) fab_split split = {.rule = FAB_SPLIT_SHARE};
    double most = 0;
    size_t n_links = job->fabric->n_links;
    FAB_PASS(FAB_NEW(split.share, job->demand->n_leaves * n_links, err));
    for (uint32_t leaf = 0; leaf < job->demand->n_leaves; leaf++) {
        share_default(p, leaf, split.share + leaf * n_links);
        share_chosen(p, leaf, x, p->supply, split.share + leaf * n_links);
    }
    for (uint32_t i = 0; i < job->n_links; i++) {
        uint32_t row = p->trunk_row[p->trunk_of[job->link[i]]];
        job->candidate[job->link[i]] = row != FAB_NONE ? fmax(0, -dual[row]) : 0;
    }
    FAB_PASS(fab_bound_certify(job, err));
    FAB_PASS(fab_bound_measure(job, &split, &most, err));
    *out_exact = most <= job->lower * (1 + FAB_BOUND_EXACT);
    if (*out_exact) {
        bound->upper = most;
        fab_split_release(bound->split);
        *bound->split = split;
        split = (fab_split){0};
    } else {
        (void)fab_fail(err, FAB_ENOSOLUTION, NULL, "the solver's answer leaves a gap of %g: %.12g to %.12g",
                       most / job->lower - 1, job->lower, most);
    }
    return FAB_OK;
}

static fab_status lp_run(program *p, fab_bound_job *job, bool insist, fab_bound *bound, bool *out_exact,
                         fab_error *err) {
    fab_solution solution = {0};
    fab_solve_limits limits = {.steps = insist ? 0 : MOST_STEPS};
    fab_program made = {.columns = p->columns,
                        .n_columns = p->n_columns,
                        .rows = p->rows,
                        .n_rows = p->n_rows,
                        .entries = p->entries,
                        .n_entries = p->n_entries};
    FAB_OWNED_NEW(double, x, p->n_columns, err);
    FAB_OWNED_NEW(double, dual, p->n_rows, err);
    FAB_PASS(fab_solve(&made, &limits, x, dual, &solution, err));
    FAB_REFUSE_IF(solution.outcome != FAB_SOLVE_OPTIMAL, err, FAB_ENOSOLUTION, NULL,
                  "the solver stopped without an optimum after %u steps", limits.steps);
    return answer(p, job, x, dual, bound, out_exact, err);
}

fab_status fab_bound_by_program(fab_bound_job *job, bool insist, fab_bound *bound, bool *out_done, fab_error *err) {
    fab_error inner = {0};
    FAB_OWNS(lp_release) program p = {.job = job, .base = job->fabric->first[FAB_NODE_SWITCH]};
    size_t n_shares = (size_t)job->demand->n_leaves * job->fabric->n_links;
    *out_done = false;
    if (n_shares > FAB_BOUND_LP_SHARES) {
        FAB_REFUSE_IF(insist, err, FAB_EUNSUPPORTED, NULL,
                      "the program's answer is %zu shares of links, the limit is %zu", n_shares, FAB_BOUND_LP_SHARES);
        return FAB_OK;
    }
    FAB_PASS(lp_build(&p, insist ? SIZE_MAX : FAB_BOUND_LP_COLUMNS, err));
    if (!insist && p.n_columns > FAB_BOUND_LP_COLUMNS) {
        return FAB_OK;
    }
    bound->columns = p.n_columns;
    bound->rows = p.n_rows;
    const fab_status status = lp_run(&p, job, insist, bound, out_done, &inner);
    if (status == FAB_OK && *out_done) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(insist || (status != FAB_OK && status != FAB_ENOSOLUTION && status != FAB_EINTERNAL), err,
                  status != FAB_OK ? status : inner.code, inner.where, "%s", inner.text);
    /* the solver gave up: the caller takes the approximation, and says so */
    bound->columns = bound->rows = 0;
    return FAB_OK;
}
