/* The advisor on cases whose answer is known. */
#include "fabric_fixture.h"
#include "fab/design.h"
#include "fab/advise.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct advised {
    fab_design design;
    fab_fabric *fabric;
    fab_advice *advice;
} advised;

/* `servers` may be NULL. */
static void advise(const char *text, const char *engine, const char *servers, const char *traffic, uint64_t budget,
                   size_t n_threads, advised *out) {
    fab_error err = {0};
    const fab_engine_spec spec = fixture_spec(engine);
    cr_assert_eq(fab_design_read(text, NULL, 0, &out->design, &err), FAB_OK, "%s", err.text);
    if (servers != NULL) {
        cr_assert_eq(fab_design_set_job(&out->design, 0, "servers", servers, "test", &err), FAB_OK, "%s", err.text);
    }
    cr_assert_eq(fab_topology_build(&out->design.fabric, &out->fabric, NULL, &err), FAB_OK, "%s", err.text);
    const fab_context_request asked = {
        .design = &out->design, .fabric = out->fabric, .traffic = traffic, .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&asked);
    const fab_advise_request request = {
        .context = context, .n_threads = n_threads, .has_budget = true, .budget = budget, .command = "COMMAND"};
    cr_assert_eq(fab_advise(&request, &out->advice, &err), FAB_OK, "%s", err.text);
    fab_context_free(context);
}

static void release(advised *a) {
    fab_advice_free(a->advice);
    fab_fabric_free(a->fabric);
}

static const fab_advice_row *row_of(const fab_advice *a, const char *change) {
    for (size_t i = 0; i < a->n_rows; i++) {
        if (strcmp(a->rows[i].change, change) == 0) {
            return &a->rows[i];
        }
    }
    return NULL;
}

static const fab_advice_row *row_of_kind(const fab_advice *a, fab_advice_kind kind) {
    for (size_t i = 0; i < a->n_rows; i++) {
        if (a->rows[i].kind == kind) {
            return &a->rows[i];
        }
    }
    return NULL;
}

/* What holds for every advice. */
static void check(const fab_advice *a) {
    double last_s = 0;
    bool is_over = false;
    cr_expect_geq(a->n_seeds, FAB_ADVISE_MIN_SEEDS);
    cr_expect_leq(a->n_placements, a->budget);
    for (size_t i = 0; i < a->n_rows; i++) {
        const fab_advice_row *r = &a->rows[i];
        cr_expect_str_not_empty(r->change);
        if (r->gain.verdict == FAB_ADVICE_IMPOSSIBLE) {
            is_over = true;
            cr_expect_str_not_empty(r->reason);
            continue;
        }
        cr_expect_not(is_over, "%s stands behind what is impossible", r->change);
        cr_expect_geq(r->figures.time_s, last_s * (1 - 1e-9), "%s", r->change);
        cr_expect_float_eq(a->base.time_s - r->figures.time_s, r->gain.gain_s, 1e-9 * a->base.time_s);
        cr_expect_float_eq(r->gain.ratio * a->base.time_s, r->gain.gain_s, 1e-9 * a->base.time_s);
        bool contains_0 = fabs(r->gain.gain_s) <= fmax(r->gain.ci95_s, 1e-9 * a->base.time_s);
        const bool is_least = contains_0 && r->gain.verdict != FAB_ADVICE_UNCLEAR; /* which no draw can lose to */
        cr_expect(contains_0 || r->gain.verdict != FAB_ADVICE_UNCLEAR, "%s", r->change);
        cr_expect(!is_least || fabs(r->gain.ratio) > FAB_VERDICT_LITTLE, "%s", r->change);
        last_s = r->figures.time_s;
    }
    if (a->best.n_changes > 0) {
        cr_expect_eq(a->best.gain.verdict, FAB_ADVICE_FASTER);
        cr_expect_eq(strncmp(a->best.command, "COMMAND ", 8), 0);
        cr_expect_not_null(strstr(a->best.command, "--engine "));
    }
}

/* Servers 1, 2, 3, 5 of the talk (0, 1, 2, 4 here) collide by a factor of 2; 1, 2, 3, 4 do not. */
Test(advise, finds_servers_that_do_not_collide) {
    advised a;
    advise("preset:llama3-talk-racks", "pinned", "0,1,2,4", "job", 100, 2, &a);
    check(a.advice);
    cr_expect_float_eq(a.advice->base.max_collision_factor, 2, 1e-9);
    const fab_advice_row *servers = row_of_kind(a.advice, FAB_ADVICE_PLACEMENT);
    cr_assert_not_null(servers);
    cr_expect_leq(servers->figures.max_collision_factor, 1 + 1e-9);
    cr_expect_eq(servers->figures.collided_flows, 0);
    cr_expect_eq(servers->gain.verdict, FAB_ADVICE_FASTER);
    cr_expect_eq(a.advice->best.kinds[0], FAB_ADVICE_PLACEMENT);
    cr_expect_leq(a.advice->best.figures.max_collision_factor, 1 + 1e-9);
    cr_expect_eq(a.advice->best.check.verdict, FAB_ADVICE_FASTER);
    cr_expect_eq(a.advice->n_placements, 100);
    release(&a);
}

/* 16 flows of line rate leave a leaf over 16 uplinks: ideal hash 3.08 with one queue pair, 1.47 with 16 (FACTS 5). */
Test(advise, queue_pairs_win) {
    advised a;
    advise("fat-tree:k=16", "ecmp", NULL, "pattern:permutation", 10, 2, &a);
    check(a.advice);
    const fab_advice_row *few = row_of(a.advice, "--engine ecmp,qp=2");
    const fab_advice_row *many = row_of(a.advice, "--engine ecmp,qp=32");
    cr_assert(few != NULL && many != NULL);
    cr_expect_eq(many->gain.verdict, FAB_ADVICE_FASTER);
    cr_expect_gt(many->gain.gain_s, few->gain.gain_s);
    cr_expect_eq(a.advice->best.kinds[0], FAB_ADVICE_QUEUE_PAIRS);
    cr_expect_eq(a.advice->best.check.verdict, FAB_ADVICE_FASTER);
    cr_expect_null(row_of_kind(a.advice, FAB_ADVICE_PLACEMENT));
    cr_expect_null(row_of_kind(a.advice, FAB_ADVICE_RANK_ORDER));
    cr_expect_not_null(strstr(a.advice->placement_note, "has none"));
    cr_expect_eq(a.advice->n_placements, 0);
    release(&a);
}

/* Equal offsets polarize: other bits above cure that, more queue pairs then do the rest. */
Test(advise, changes_add_up) {
    advised a;
    advise("fat-tree:k=8", "ecmp,offset=0", NULL, "pattern:permutation", 0, 2, &a);
    check(a.advice);
    const fab_advice_row *row = row_of(a.advice, "--engine ecmp,offset=0/8/16/24");
    cr_assert_not_null(row);
    cr_expect_eq(row->gain.verdict, FAB_ADVICE_FASTER);
    cr_expect_eq(a.advice->best.n_changes, 2);
    cr_expect_neq(a.advice->best.kinds[0], a.advice->best.kinds[1]);
    for (size_t i = 0; i < a.advice->n_rows; i++) {
        if (!a.advice->rows[i].needs_switch_support && a.advice->rows[i].gain.verdict == FAB_ADVICE_FASTER) {
            cr_expect_lt(a.advice->best.figures.time_s, a.advice->rows[i].figures.time_s);
        }
    }
    cr_expect_eq(a.advice->best.check.verdict, FAB_ADVICE_FASTER);
    release(&a);
}

/* Every NIC sends to its rail's leaf and no further: the NICs are the fullest links whatever is changed. */
Test(advise, nothing_helps) {
    advised a;
    advise("rail-spine:gpus=64", "ecmp", NULL, "job", 30, 2, &a);
    check(a.advice);
    cr_expect_gt(a.advice->n_rows, 10);
    for (size_t i = 0; i < a.advice->n_rows; i++) {
        cr_expect_neq(a.advice->rows[i].gain.verdict, FAB_ADVICE_FASTER, "%s", a.advice->rows[i].change);
    }
    cr_expect_eq(a.advice->best.n_changes, 0);
    cr_expect_null(a.advice->best.command);
    release(&a);
}

Test(advise, nothing_to_help) {
    advised a;
    advise("clos:gpus=8", "ecmp", NULL, "job", 30, 1, &a);
    cr_expect_not(a.advice->is_in_network);
    cr_expect_eq(a.advice->n_rows, 0);
    cr_expect_eq(a.advice->n_evaluated, 1);
    release(&a);
}

/* What the fabric refuses is listed with its reason. */
Test(advise, impossible_changes_stay) {
    advised a;
    advise("torus:gpus=32,gpus-per-server=4,torus=4,2,radix=8", "ecmp,qp=4", NULL, "job", 5, 2, &a);
    check(a.advice);
    const fab_advice_row *pinned = row_of(a.advice, "--engine pinned,slices=4");
    cr_assert_not_null(pinned);
    cr_expect_eq(pinned->gain.verdict, FAB_ADVICE_IMPOSSIBLE);
    cr_expect_not_null(strstr(pinned->reason, "torus"));
    cr_expect_null(row_of(a.advice, "--engine ecmp,qp=4"), "the base is no change");
    cr_expect_null(row_of(a.advice, "--engine ecmp,qp=2"), "fewer queue pairs than there are");
    cr_expect_not_null(row_of(a.advice, "--engine ecmp,qp=8"));
    release(&a);
}

/* A part of the job must not be made faster at the cost of what is not looked at. */
Test(advise, a_single_phase_leaves_the_ranks) {
    advised a;
    advise("preset:llama3-talk-racks", "pinned", "0,1,2,4", "job:dp-rs", 50, 1, &a);
    check(a.advice);
    cr_expect_null(row_of_kind(a.advice, FAB_ADVICE_PLACEMENT));
    cr_expect_null(row_of_kind(a.advice, FAB_ADVICE_RANK_ORDER));
    cr_expect_not_null(strstr(a.advice->placement_note, "--traffic job"));
    release(&a);
}

/* Options of the base stay when one is changed, and the last of several values is the one that counts. */
Test(advise, options_are_kept) {
    advised a;
    advise("fat-tree:k=4", "ecmp,qp=8,hash=xor", NULL, "pattern:shift,by=4", 0, 1, &a);
    check(a.advice);
    cr_expect_not_null(row_of(a.advice, "--engine ecmp,hash=xor,qp=16"));
    cr_expect_not_null(row_of(a.advice, "--engine ecmp,qp=8,hash=crc32/crc16"));
    cr_expect_null(row_of(a.advice, "--engine ecmp,hash=xor,qp=8"));
    release(&a);
    advise("fat-tree:k=4", "ecmp,hash=ideal", NULL, "pattern:shift,by=4", 0, 1, &a);
    const fab_advice_row *row = row_of(a.advice, "--engine ecmp,hash=ideal,qp=4,fields=5tuple+dqp");
    cr_assert_not_null(row);
    cr_expect_eq(row->gain.verdict, FAB_ADVICE_IMPOSSIBLE);
    release(&a);
}

static void check_same(const fab_advice *a, const fab_advice *b) {
    cr_assert_eq(a->n_rows, b->n_rows);
    cr_expect_eq(a->n_evaluated, b->n_evaluated);
    cr_expect_eq(a->n_placements, b->n_placements);
    for (size_t i = 0; i < a->n_rows; i++) {
        cr_expect_str_eq(a->rows[i].change, b->rows[i].change);
        cr_expect_eq(a->rows[i].figures.time_s, b->rows[i].figures.time_s);
        cr_expect_eq(a->rows[i].gain.ci95_s, b->rows[i].gain.ci95_s);
    }
    cr_expect_eq(a->best.n_changes, b->best.n_changes);
    cr_expect_str_eq(a->best.change, b->best.change);
}

Test(advise, threads_change_nothing) {
    advised a;
    advised b;
    advise("torus:gpus=64,gpus-per-server=4,torus=4,4,radix=8", "ecmp", NULL, "job", 40, 1, &a);
    advise("torus:gpus=64,gpus-per-server=4,torus=4,4,radix=8", "ecmp", NULL, "job", 40, 3, &b);
    check(a.advice);
    check_same(a.advice, b.advice);
    release(&a);
    release(&b);
}

/* A list of servers that is as long as the text of the job allows: longer ones are passed over, and said to be. */
Test(advise, lists_that_do_not_fit) {
    advised a;
    char servers[1024];
    size_t n = 0;
    for (int i = 0; i < 250; i++) { /* odd ones, downwards: no two make a range */
        n += (size_t)snprintf(servers + n, sizeof servers - n, "%s%d", i > 0 ? "," : "", 1999 - 2 * i);
        if (n > 1010) {
            break;
        }
    }
    cr_assert_lt(n, sizeof servers);
    advise("clos:gpus=8000,gpus-per-server=4,radix=128", "dmodk", servers, "job", 20, 2, &a);
    check(a.advice);
    cr_expect_leq(a.advice->n_placements, 20);
    const fab_advice_row *row = row_of_kind(a.advice, FAB_ADVICE_PLACEMENT);
    cr_expect(row == NULL || strlen(row->change) < 1024 + strlen("--job servers="));
    release(&a);
}
