/* GLPK behind our own interface. Its errors arrive in a hook that must not return: the hook jumps back into fab_solve,
 * which throws the whole environment away, the only thing GLPK allows afterwards. */
#include "fab/solve.h"

#include <glpk.h>
#include <limits.h>
#include <setjmp.h>

/* What a call owns. It lives on the heap: automatic variables changed after setjmp are lost by the jump. */
typedef struct call {
    jmp_buf back;
    const fab_program *program;
    const fab_solve_limits *limits;
    uint32_t n_nodes;
    glp_prob *problem;
    int *row, *column; /* of entries, counted from 1 as GLPK does */
    double *value;
    fab_solution solution;
    fab_status status;
    char said[200]; /* last line that GLPK would have printed */
} call;

static void solve_on_error(void *info) {
    call *c = info;
    longjmp(c->back, 1);
}

/* Keeps the last words for a message. Not 0: GLPK is not to print them. */
static int on_print(void *info, const char *text) {
    call *c = info;
    size_t n = strcspn(text, "\n");
    bool is_place = strncmp(text, "Error detected", 14) == 0; /* a line of GLPK's source */
    if (n > 0 && n < sizeof c->said && !is_place) {
        memcpy(c->said, text, n);
        c->said[n] = '\0';
    }
    return 1;
}

/* --- inside GLPK -------------------------------------------------------------------------------------------------- */

/* Integer bounds that are no whole numbers leave no integer between them, or fewer. */
static bool no_integer_between(const fab_program *p) {
    FAB_EACH(const fab_column, c, p->columns, p->n_columns) {
        if (c->is_integer && ceil(c->lower) > floor(c->upper)) {
            return true;
        }
    }
    return false;
}

static int bound_kind(double lower, double upper) {
    if (lower == upper) {
        return GLP_FX;
    }
    if (isinf(lower)) {
        return isinf(upper) ? GLP_FR : GLP_UP;
    }
    return isinf(upper) ? GLP_LO : GLP_DB;
}

static void load(call *c) {
    const fab_program *p = c->program;
    c->problem = glp_create_prob();
    glp_set_obj_dir(c->problem, p->maximise ? GLP_MAX : GLP_MIN);
    glp_add_cols(c->problem, (int)p->n_columns);
    if (p->n_rows > 0) {
        glp_add_rows(c->problem, (int)p->n_rows);
    }
    for (size_t i = 0; i < p->n_columns; i++) {
        const fab_column *from = &p->columns[i];
        double lower = from->is_integer ? ceil(from->lower) : from->lower;
        double upper = from->is_integer ? floor(from->upper) : from->upper;
        glp_set_col_kind(c->problem, (int)i + 1, from->is_integer ? GLP_IV : GLP_CV);
        glp_set_col_bnds(c->problem, (int)i + 1, bound_kind(lower, upper), lower, upper);
        glp_set_obj_coef(c->problem, (int)i + 1, from->cost);
    }
    for (size_t i = 0; i < p->n_rows; i++) {
        glp_set_row_bnds(c->problem, (int)i + 1, bound_kind(p->rows[i].lower, p->rows[i].upper), p->rows[i].lower,
                         p->rows[i].upper);
    }
    int n = 0;
    for (size_t i = 0; i < p->n_entries; i++) {
        if (p->entries[i].value != 0) {
            n++;
            c->row[n] = (int)p->entries[i].row + 1;
            c->column[n] = (int)p->entries[i].column + 1;
            c->value[n] = p->entries[i].value;
        }
    }
    glp_load_matrix(c->problem, n, c->row, c->column, c->value);
}

static int milliseconds(const call *c) {
    double ms = c->limits != NULL && c->limits->time_s > 0 ? ceil(c->limits->time_s * 1e3) : INT_MAX;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* The linear program. True when it has an optimum, from which branch and bound can start. */
static bool relax(call *c) {
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_ERR;
    options.tm_lim = milliseconds(c);
    if (c->limits != NULL && c->limits->steps > 0) {
        options.it_lim = c->limits->steps < INT_MAX ? (int)c->limits->steps : INT_MAX;
    }
    options.presolve = GLP_OFF;
    int code = glp_simplex(c->problem, &options);
    int found = glp_get_status(c->problem);
    if (code == GLP_ETMLIM || code == GLP_EITLIM) {
        c->solution.outcome = FAB_SOLVE_TIME_LIMIT;
    } else if (code == 0 && found == GLP_NOFEAS) {
        c->solution.outcome = FAB_SOLVE_INFEASIBLE;
    } else if (code == 0 && found == GLP_UNBND) {
        c->solution.outcome = FAB_SOLVE_UNBOUNDED;
    } else if (code == 0 && found == GLP_OPT) {
        c->solution.outcome = FAB_SOLVE_OPTIMAL;
        c->solution.bound = glp_get_obj_val(c->problem);
    } else {
        c->status = FAB_EINTERNAL;
    }
    return c->status == FAB_OK && c->solution.outcome == FAB_SOLVE_OPTIMAL;
}

/* Called between nodes: the best bound of what is still open. */
static void on_node(glp_tree *tree, void *info) {
    call *c = info;
    int node = glp_ios_best_node(tree);
    if (node == 0 || glp_ios_reason(tree) != GLP_ISELECT) {
        return;
    }
    c->solution.bound = glp_ios_node_bound(tree, node);
    if (c->limits != NULL && c->limits->nodes > 0 && c->n_nodes++ == c->limits->nodes) {
        glp_ios_terminate(tree);
    }
}

static void branch(call *c) {
    glp_iocp options;
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_ERR;
    options.tm_lim = milliseconds(c);
    options.cb_func = on_node;
    options.cb_info = c;
    int code = glp_intopt(c->problem, &options);
    int found = glp_mip_status(c->problem);
    c->solution.has_point = found == GLP_OPT || found == GLP_FEAS;
    if (code == GLP_ETMLIM || code == GLP_ESTOP || code == GLP_EMIPGAP) {
        c->solution.outcome = FAB_SOLVE_TIME_LIMIT;
    } else if (code != 0 || found == GLP_UNDEF) {
        c->status = FAB_EINTERNAL;
    } else {
        c->solution.outcome = c->solution.has_point ? FAB_SOLVE_OPTIMAL : FAB_SOLVE_INFEASIBLE;
    }
}

static bool has_integers(const fab_program *p) {
    FAB_ANY(found, i, p->n_columns, p->columns[i].is_integer);
    return found;
}

static void copy_out(call *c, double *x, double *row_dual) {
    const fab_program *p = c->program;
    bool whole = has_integers(p);
    c->solution.objective = whole ? glp_mip_obj_val(c->problem) : glp_get_obj_val(c->problem);
    for (size_t i = 0; i < p->n_columns; i++) {
        double value = whole ? glp_mip_col_val(c->problem, (int)i + 1) : glp_get_col_prim(c->problem, (int)i + 1);
        x[i] = p->columns[i].is_integer ? nearbyint(value) : value;
    }
    for (size_t i = 0; row_dual != NULL && i < p->n_rows; i++) {
        row_dual[i] = glp_get_row_dual(c->problem, (int)i + 1);
    }
}

static void solve_run(call *c, double *x, double *row_dual) {
    glp_term_hook(on_print, c);
    glp_error_hook(solve_on_error, c);
    if (c->limits != NULL && c->limits->memory_mb > 0) {
        glp_mem_limit(c->limits->memory_mb < INT_MAX ? (int)c->limits->memory_mb : INT_MAX);
    }
    load(c);
    if (relax(c)) {
        if (has_integers(c->program)) {
            branch(c);
        } else {
            c->solution.has_point = true;
        }
    }
    if (c->solution.has_point) {
        copy_out(c, x, row_dual);
    }
    if (c->solution.outcome == FAB_SOLVE_OPTIMAL) {
        c->solution.bound = c->solution.objective;
    }
}

/* Nothing but the call itself is touched on both sides of the jump. */
static void run_guarded(call *c, double *x, double *row_dual) {
    if (glp_init_env() > 1) { /* there is no hook yet: the first call of another function would abort */
        c->status = FAB_ENOMEM;
        FAB_FORMAT(c->said, "no memory to begin with");
        return;
    }
    if (setjmp(c->back) == 0) {
        solve_run(c, x, row_dual);
    } else {
        c->status = strstr(c->said, "mem") != NULL ? FAB_ENOMEM : FAB_EINTERNAL;
    }
    (void)glp_free_env(); /* frees the problem too, and forgets the hooks */
}

fab_status fab_solve(const fab_program *program, const fab_solve_limits *limits, double *x, double *row_dual,
                     fab_solution *out, fab_error *err) {
    FAB_REFUSE_IF(row_dual != NULL && has_integers(program), err, FAB_EINPUT, NULL,
                  "a program with integer columns has no prices");
    FAB_REFUSE_IF(program->n_columns == 0 || program->n_columns > INT_MAX / 4 || program->n_rows > INT_MAX / 4 ||
                      program->n_entries > INT_MAX / 4,
                  err, FAB_EINPUT, NULL, "a program of %zu columns, %zu rows and %zu entries", program->n_columns,
                  program->n_rows, program->n_entries);
    FAB_OWNED_NEW(call, c, 1, err);
    FAB_OWNS_MEMBERS(c->row, c->column, c->value);
    c->program = program;
    c->limits = limits;
    c->solution.bound = program->maximise ? INFINITY : -INFINITY;
    FAB_PASS(FAB_NEW_ALL(program->n_entries + 1, err, c->row, c->column, c->value));
    if (no_integer_between(program)) {
        c->solution.outcome = FAB_SOLVE_INFEASIBLE;
    } else {
        run_guarded(c, x, row_dual);
    }
    FAB_REFUSE_IF(c->status != FAB_OK, err, c->status, NULL, "the solver gave up on %zu columns and %zu rows%s%s",
                  program->n_columns, program->n_rows, c->said[0] != '\0' ? ": " : "", c->said);
    *out = c->solution;
    return FAB_OK;
}
