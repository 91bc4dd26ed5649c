/* The store: what goes in comes out, once, whoever wrote it. */
#include "store_fixture.h"

/* --- round trip --------------------------------------------------------------------------------------------------- */

/* Every row as the reports see it, against the function it came from. */
static void check_rows(const char *folder, const fab_plan *plan) {
    fab_error err = {0};
    fab_store *store = NULL;
    fab_query *q = NULL;
    bool row = false;
    fab_outcome want[MOST_VARIANTS];
    uint32_t component[FIXTURE_K];
    size_t n_failed = 0;
    must(fab_store_open(folder, &store, &err), &err);
    check_plan(fab_store_plan(store), plan);
    must(fab_query_new(store, "SELECT n_done FROM gathered", NULL, 0, &q, &err), &err);
    must(fab_query_next(q, &row, &err), &err);
    cr_assert_eq((uint64_t)fab_query_integer(q, 0), plan->n_scenarios);
    fab_query_free(q);
    must(fab_query_new(store,
                       "SELECT scenario, variant, state, n_disconnected, n_moved, n_collisions, worst_link, "
                       "lost_ratio, worst_ratio, time_s, slowdown FROM outcome ORDER BY scenario, variant",
                       NULL, 0, &q, &err),
         &err);
    for (uint64_t i = 0; i < plan->n_scenarios; i++) {
        fixture_scenario(plan, i, want, component, &n_failed);
        for (size_t v = 0; v < plan->n_variants; v++) {
            must(fab_query_next(q, &row, &err), &err);
            cr_assert(row);
            cr_assert_eq((uint64_t)fab_query_integer(q, 0), i);
            cr_assert_eq((uint64_t)fab_query_integer(q, 1), v);
            cr_assert_eq((uint32_t)fab_query_integer(q, 2), want[v].state);
            cr_assert_eq((uint32_t)fab_query_integer(q, 3), want[v].n_disconnected);
            cr_assert_eq((uint32_t)fab_query_integer(q, 4), want[v].n_moved);
            cr_assert_eq((uint32_t)fab_query_integer(q, 5), want[v].n_collisions);
            cr_assert_eq(fab_query_is_null(q, 6), want[v].worst_link == UINT32_MAX);
            cr_assert(fab_query_is_null(q, 6) || (uint32_t)fab_query_integer(q, 6) == want[v].worst_link);
            same_real(fab_query_real(q, 7), want[v].lost_ratio);
            same_real(fab_query_real(q, 8), want[v].worst_ratio);
            same_real(fab_query_real(q, 9), want[v].time_s);
            same_real(fab_query_real(q, 10), want[v].slowdown);
        }
    }
    must(fab_query_next(q, &row, &err), &err);
    cr_assert(!row, "a scenario is there twice");
    fab_query_free(q);
    must(fab_query_new(store, "SELECT scenario, component FROM failed ORDER BY 1, 2", NULL, 0, &q, &err), &err);
    for (uint64_t i = 0; i < plan->n_scenarios; i++) {
        fixture_scenario(plan, i, want, component, &n_failed);
        for (size_t k = 0; k < n_failed; k++) {
            must(fab_query_next(q, &row, &err), &err);
            cr_assert(row && (uint64_t)fab_query_integer(q, 0) == i);
            cr_assert_eq((uint32_t)fab_query_integer(q, 1), component[k]);
        }
    }
    must(fab_query_next(q, &row, &err), &err);
    cr_assert(!row);
    fab_query_free(q);
    fab_store_close(store);
}

Test(store, rows_come_back) {
    char folder[64];
    fab_gathered gathered;
    fab_plan plan = fixture_plan(9000, 3, 5, 0);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    cr_assert_eq(gathered.n_done, 9000);
    cr_assert_eq(gathered.n_twice, 0);
    check_rows(folder, &plan);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* Of the known values of a column of rows: mean and largest. */
typedef struct known {
    double sum, most;
    size_t n;
} known;

static void add_known(known *k, double value) {
    if (!isnan(value)) {
        k->sum += value;
        k->most = k->n == 0 || value > k->most ? value : k->most;
        k->n++;
    }
}

static bool is_mean(const known *k, double mean, double most) {
    return k->n == 0 ? isnan(mean) && isnan(most)
                     : fabs(mean - k->sum / (double)k->n) <= 1e-12 * mean && most == k->most;
}

/* Sums by component, against the rows that they are of. */
Test(store, components_are_summed_up) {
    static const char *const QUERIES[] = {"SELECT * FROM by_component ORDER BY 1, 2",
                                          "SELECT variant, component, state, slowdown, worst_ratio FROM failed JOIN "
                                          "outcome USING (scenario) ORDER BY 1, 2"};
    char folder[64];
    fab_gathered gathered;
    fab_error err = {0};
    fab_store *store = NULL;
    fab_query *q[2] = {NULL};
    bool row[2] = {false};
    size_t n = 0;
    fab_plan plan = fixture_plan(1500, 2, 5, 0);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    must(fab_store_open(folder, &store, &err), &err);
    must(fab_query_new(store, QUERIES[0], NULL, 0, &q[0], &err), &err);
    must(fab_query_new(store, QUERIES[1], NULL, 0, &q[1], &err), &err);
    must(fab_query_next(q[1], &row[1], &err), &err);
    for (;; n++) {
        known slowdown = {.n = 0};
        known ratio = {.n = 0};
        int64_t n_rows = 0;
        int64_t n_stopped = 0;
        must(fab_query_next(q[0], &row[0], &err), &err);
        if (!row[0]) {
            break;
        }
        while (row[1] && fab_query_integer(q[1], 0) == fab_query_integer(q[0], 0) &&
               fab_query_integer(q[1], 1) == fab_query_integer(q[0], 1)) {
            n_rows++;
            n_stopped += fab_query_integer(q[1], 2) == FAB_OUTCOME_STOPPED;
            add_known(&slowdown, fab_query_real(q[1], 3));
            add_known(&ratio, fab_query_real(q[1], 4));
            must(fab_query_next(q[1], &row[1], &err), &err);
        }
        cr_assert(n_rows > 0 && n_rows == fab_query_integer(q[0], 2) && n_stopped == fab_query_integer(q[0], 3));
        cr_assert(is_mean(&slowdown, fab_query_real(q[0], 4), fab_query_real(q[0], 5)), "row %zu", n);
        cr_assert(is_mean(&ratio, fab_query_real(q[0], 6), fab_query_real(q[0], 7)), "row %zu", n);
    }
    cr_assert(!row[1], "a component without its sums");
    cr_assert_gt(n, 900);
    fab_query_free(q[0]);
    fab_query_free(q[1]);
    fab_store_close(store);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

Test(store, histories_come_back) {
    char folder[64];
    fab_gathered gathered;
    fab_error err = {0};
    fab_store *store = NULL;
    fab_query *q = NULL;
    bool row = false;
    fab_plan plan = fixture_plan(700, 2, 5, 86400);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    check_rows(folder, &plan);
    must(fab_store_open(folder, &store, &err), &err);
    must(fab_query_new(store,
                       "SELECT goodput, restart_ratio, redo_ratio, slow_ratio, wait_ratio, n_failures, n_stops FROM "
                       "history WHERE scenario = ? AND variant = ?",
                       (int64_t[]){431, 1}, 2, &q, &err),
         &err);
    fab_outcome want[MOST_VARIANTS];
    uint32_t component[FIXTURE_K];
    size_t n = 0;
    fixture_scenario(&plan, 431, want, component, &n);
    must(fab_query_next(q, &row, &err), &err);
    cr_assert(row);
    same_real(fab_query_real(q, 0), want[1].goodput);
    same_real(fab_query_real(q, 4), want[1].wait_ratio);
    cr_assert_eq((uint32_t)fab_query_integer(q, 5), want[1].n_failures);
    cr_assert_eq((uint32_t)fab_query_integer(q, 6), want[1].n_stops);
    fab_query_free(q);
    fab_store_close(store);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

Test(store, statements_that_change_something_are_refused) {
    char folder[64];
    fab_gathered gathered;
    fab_error err = {0};
    fab_store *store = NULL;
    fab_query *q = NULL;
    bool row = false;
    fab_plan plan = fixture_plan(10, 1, 5, 0);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    must(fab_store_open(folder, &store, &err), &err);
    must(fab_query_new(store, "DELETE FROM outcome", NULL, 0, &q, &err), &err);
    cr_assert_neq(fab_query_next(q, &row, &err), FAB_OK);
    fab_query_free(q);
    cr_assert_neq(fab_query_new(store, "SELECT nothing FROM nowhere", NULL, 0, &q, &err), FAB_OK);
    fab_store_close(store);
    check_rows(folder, &plan);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* --- the same, whoever wrote it ----------------------------------------------------------------------------------- */

Test(store, shards_and_threads_change_no_byte) {
    static const struct {
        uint32_t n_shards;
        size_t n_threads;
    } CASES[] = {{1, 2}, {1, 8}, {3, 1}, {3, 2}, {7, 8}, {7, 1}};
    char first[64];
    fab_gathered gathered;
    fab_plan plan = fixture_plan(5000, 2, 11, 0);
    make_store(first, &plan);
    gather(first, &plan, false, &gathered);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char folder[64];
        fab_error err = {0};
        bool was_there = false;
        uint64_t n = 0;
        must(fab_plan_write(fixture_folder(folder), &plan, &was_there, &err), &err);
        for (uint32_t s = CASES[i].n_shards; s-- > 0;) {
            assessor a = make_assessor(&plan);
            a.is_slow = true;
            fab_study_tally tally = run(folder, &plan, s, CASES[i].n_shards, CASES[i].n_threads, &a, FAB_OK, &err);
            cr_assert_eq(tally.n_run, tally.n_share);
            cr_assert_eq(tally.n_before, 0);
            n += tally.n_run;
        }
        cr_assert_eq(n, plan.n_scenarios);
        gather(folder, &plan, false, &gathered);
        cr_assert_eq(gathered.n_shards, CASES[i].n_shards);
        same_files(join(folder, "results.db"), join(first, "results.db"));
        fixture_remove(folder);
    }
    fab_plan_release(&plan);
    fixture_remove(first);
}

typedef struct stopping {
    int residual;
} stopping;

static bool stop_soon(void *context) {
    stopping *s = context;
    return s->residual-- <= 0;
}

/* A study that is stopped, or fails, and goes on with other shares each time. */
Test(store, goes_on_where_it_was_with_other_shares) {
    char folder[64];
    char first[64];
    fab_error err = {0};
    bool was_there = false;
    fab_gathered gathered;
    fab_plan plan = fixture_plan(16000, 1, 3, 0); /* blocks of 4 */
    uint64_t n_run = 0;
    fab_rng rng = fab_rng_make(1, 1);
    make_store(first, &plan);
    gather(first, &plan, false, &gathered);
    must(fab_plan_write(fixture_folder(folder), &plan, &was_there, &err), &err);
    for (int round = 0; round < 30; round++) {
        uint32_t n_shards = 1 + (uint32_t)fab_rng_below(&rng, 7);
        uint32_t shard = (uint32_t)fab_rng_below(&rng, n_shards);
        assessor a = make_assessor(&plan);
        fab_shard *s = NULL;
        fab_study_tally tally = {0};
        stopping when = {(int)fab_rng_below(&rng, 60)};
        fab_study_job job = {.shard = shard,
                             .n_shards = n_shards,
                             .n_threads = 1 + (size_t)fab_rng_below(&rng, 4),
                             .stop = stop_soon,
                             .stop_context = &when};
        a.fails_at = round % 3 == 0 ? fab_rng_below(&rng, plan.n_scenarios) : UINT64_MAX;
        err = (fab_error){0};
        must(fab_shard_open(folder, &plan, shard, n_shards, &s, &err), &err);
        fab_status status = study_loop_run(&job, &plan, s, assess, &a, &tally, &err);
        cr_assert(status == FAB_OK || (status == FAB_EUNSUPPORTED && strstr(err.text, "too much") != NULL));
        fab_shard_close(s);
        n_run += tally.n_run;
        err = (fab_error){0};
        gather(folder, &plan, true, &gathered);
        cr_assert_eq(gathered.n_done, n_run, "round %d", round);
        cr_assert_eq(gathered.n_twice, 0);
    }
    cr_assert_gt(n_run, 0);
    cr_assert_lt(n_run, plan.n_scenarios);
    cr_assert_eq(fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "missing"), "%s", err.text);
    err = (fab_error){0};
    assessor a = make_assessor(&plan);
    fab_study_tally tally = run(folder, &plan, 0, 1, 2, &a, FAB_OK, &err);
    cr_assert_eq(tally.n_before, n_run);
    cr_assert_eq(tally.n_run + n_run, plan.n_scenarios);
    gather(folder, &plan, false, &gathered);
    same_files(join(folder, "results.db"), join(first, "results.db"));
    fab_plan_release(&plan);
    fixture_remove(folder);
    fixture_remove(first);
}

/* Two shards that both hold all scenarios, as when machines cannot see each other's. */
static void make_copies(char folder[64], char other[64], const fab_plan *plan, uint64_t other_at) {
    fab_error err = {0};
    bool was_there = false;
    make_store(folder, plan);
    must(fab_plan_write(fixture_folder(other), plan, &was_there, &err), &err);
    assessor a = make_assessor(plan);
    a.other_at = other_at;
    for (uint32_t s = 0; s < 2; s++) {
        char name[32];
        (void)run(other, plan, s, 2, 1, &a, FAB_OK, &err);
        (void)snprintf(name, sizeof name, "shard-%u-of-2.db", s);
        cr_assert_eq(rename(join(other, name), join(folder, name)), 0);
    }
}

Test(store, what_is_done_twice_counts_once) {
    char folder[64];
    char other[64];
    char alone[64];
    fab_gathered gathered;
    fab_plan plan = fixture_plan(3000, 1, 3, 0);
    make_copies(folder, other, &plan, UINT64_MAX);
    make_store(alone, &plan);
    gather(folder, &plan, false, &gathered);
    cr_assert_eq(gathered.n_done, 3000);
    cr_assert_eq(gathered.n_twice, 3000);
    gather(alone, &plan, false, &gathered);
    same_files(join(folder, "results.db"), join(alone, "results.db"));
    fab_plan_release(&plan);
    fixture_remove(folder);
    fixture_remove(other);
    fixture_remove(alone);
}

Test(store, different_rows_of_a_scenario_are_an_error) {
    char folder[64];
    char other[64];
    fab_gathered gathered;
    fab_error err = {0};
    fab_plan plan = fixture_plan(20000, 2, 3, 0);
    make_copies(folder, other, &plan, 12345);
    cr_assert_eq(fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err), FAB_EINTERNAL);
    cr_assert_not_null(strstr(err.text, "scenario 12345 "), "%s", err.text);
    cr_assert(!exists(folder, "results.db"));
    cr_assert(!exists(folder, "results.db.new"));
    fab_plan_release(&plan);
    fixture_remove(folder);
    fixture_remove(other);
}
