/* Measures the summary of a study (bench.h says how): a store of a million sets of four links, or of a few thousand on
 * a small fabric, with drawn outcomes that hardly repeat, opened, summed up, and written as CSV. */
#include "bench.h"

#include "drawn_store.h"
#include "fab/study_results.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MANY_FROM 1024 /* GPUs: a fabric that is large enough for a million */

typedef struct state {
    char folder[64]; /* empty: none is there */
} state;

static fab_status prepare(bench *b, fab_error *err) {
    static const char *const ENGINES[] = {"drawn"};
    static const char *const POLICIES[] = {"none"};
    state *s = b->state;
    bool many = fab_n_gpus(b->fabric) >= MANY_FROM;
    drawn_store d = {.design = b->design.origin,
                     .scenarios = many ? "links:4@1000000" : "links:4@5000",
                     .engines = ENGINES,
                     .n_engines = 1,
                     .policies = POLICIES,
                     .n_policies = 1,
                     .has_times = true,
                     .seed = 1,
                     .steps = UINT64_C(1) << 40};
    char folder[] = "/tmp/fab-summary-XXXXXX";
    if (mkdtemp(folder) == NULL || rmdir(folder) != 0) {
        return fab_fail(err, FAB_EIO, folder, "cannot make the folder");
    }
    (void)snprintf(s->folder, sizeof s->folder, "%s", folder);
    return drawn_store_make(&d, s->folder, err);
}

static void release(bench *b) {
    const state *s = b->state;
    char command[96];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
    if (s->folder[0] != '\0' && system(command) != 0) {
        (void)fprintf(stderr, "%s stays\n", s->folder);
    }
}

static fab_status measure_summary(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const state *s = b->state;
    fab_status status = FAB_OK;
    fab_study_results *results = NULL;
    fab_study_summary *summary = NULL;
    (void)row;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        FAB_TRY(fab_study_results_open(s->folder, &results, err));
        FAB_TRY(fab_study_summarise(results, FAB_STUDY_TOP, true, &summary, err));
        bench_keep_run(out, start);
        out->units = summary->n_done;
        fab_study_summary_free(summary);
        fab_study_results_close(results);
        summary = NULL;
        results = NULL;
    }
done:
    fab_study_results_close(results);
    return status;
}

static fab_status measure_csv(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const state *s = b->state;
    fab_status status = FAB_OK;
    fab_study_results *results = NULL;
    FILE *sink = fopen("/dev/null", "w");
    (void)row;
    if (sink == NULL) {
        FAB_FAIL(err, FAB_EIO, "/dev/null", "cannot open");
    }
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        FAB_TRY(fab_study_results_open(s->folder, &results, err));
        FAB_TRY(fab_study_write_csv(results, sink, err));
        bench_keep_run(out, start);
        out->units = fab_study_results_plan(results)->n_scenarios;
        fab_study_results_close(results);
        results = NULL;
    }
done:
    fab_study_results_close(results);
    if (sink != NULL) {
        (void)fclose(sink);
    }
    return status;
}

static const bench_row ROWS[] = {
    {"summary", "row", measure_summary, NULL}, {"csv", "row", measure_csv, NULL}, {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_summary", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
