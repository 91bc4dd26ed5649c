/* A study gives the same bytes for any number of threads. A plain program, because Criterion does not run under
 * ThreadSanitizer. */
#include "fab/design.h"
#include "fab/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(fab_status status, const fab_error *err) {
    if (status != FAB_OK) {
        (void)fprintf(stderr, "%s: %s\n", err->where, err->text);
        exit(1);
    }
}

/* results.db of a study, and its size. */
static char *results(const fab_design *design, size_t n_threads, size_t *out_size) {
    static const fab_policy POLICY = FAB_POLICY_NONE;
    static const char *const FILES[] = {"plan.db", "shard-0-of-1.db", "results.db"};
    char folder[] = "study-XXXXXX";
    char path[64];
    fab_error err = {0};
    fab_study_planned planned;
    fab_study_tally tally;
    fab_gathered gathered;
    if (mkdtemp(folder) == NULL) {
        exit(1);
    }
    const fab_study_request request = {.design = design,
                                       .program = "test",
                                       .traffic = "pattern:permutation",
                                       .scenarios = "links:3@600",
                                       .policies = &POLICY,
                                       .n_policies = 1,
                                       .seed = 1};
    const fab_study_job job = {.folder = folder, .program = "test", .n_shards = 1, .n_threads = n_threads};
    must(fab_study_plan(&request, folder, &planned, &err), &err);
    must(fab_study_run(&job, &tally, &err), &err);
    must(fab_store_gather(folder, &planned.plan, false, NULL, NULL, &gathered, &err), &err);
    (void)snprintf(path, sizeof path, "%s/results.db", folder);
    FILE *in = fopen(path, "rb");
    char *bytes = malloc(1 << 22);
    *out_size = in != NULL && bytes != NULL ? fread(bytes, 1, 1 << 22, in) : 0;
    if (in != NULL) {
        (void)fclose(in);
    }
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    fab_plan_release(&planned.plan);
    return bytes;
}

int main(void) {
    fab_error err = {0};
    int failures = 0;
    size_t size = 0;
    fab_design *design = calloc(1, sizeof *design);
    must(fab_design_read("rail-spine:gpus=64,gpus-per-server=4,radix=16", NULL, 0, design, &err), &err);
    design->n_engines = 2;
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp,qp=2");
    (void)snprintf(design->engines[1].text, sizeof design->engines[1].text, "spray");
    char *one = results(design, 1, &size);
    for (size_t n_threads = 2; n_threads <= 8; n_threads *= 2) {
        size_t n = 0;
        char *many = results(design, n_threads, &n);
        if (size < 10000 || n != size || memcmp(one, many, n) != 0) {
            (void)fprintf(stderr, "%zu threads give other results than one\n", n_threads);
            failures++;
        }
        free(many);
    }
    free(one);
    free(design);
    return failures > 0;
}
