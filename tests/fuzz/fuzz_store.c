/* The store of a study, damaged. A small study is planned, run and gathered once; an input changes one of its files:
 *
 *     byte 0     which file (plan, shard, results), and whether the rest is the whole file or changes to it
 *     changes    three bytes of an offset, one of a length, so many bytes
 *
 * Then everything that reads the store reads it: none may fall over, and the store refuses what is damaged. */
#include "fab/study.h"
#include "fab/study_results.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_FILES 3

static const char *const NAMES[N_FILES] = {"plan.db", "shard-0-of-1.db", "results.db"};

typedef struct kept {
    uint8_t *data;
    size_t size;
} kept;

static char folder[64];
static kept originals[N_FILES];

static const char *path_of(const char *name) {
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static kept keep(const char *path) {
    kept out = {.data = NULL};
    FILE *in = fopen(path, "rb");
    fuzz_check(in != NULL && fseek(in, 0, SEEK_END) == 0, "%s: cannot be read", path);
    out.size = (size_t)ftell(in);
    out.data = malloc(out.size);
    rewind(in);
    fuzz_check(out.data != NULL && fread(out.data, 1, out.size, in) == out.size, "%s: cannot be read", path);
    (void)fclose(in);
    return out;
}

static void make_study(void) {
    static const fab_policy POLICIES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE};
    fab_design *design = calloc(1, sizeof *design);
    fab_study_planned planned;
    fab_study_tally tally;
    fab_gathered gathered;
    fab_error err = {0};
    fuzz_check(fab_design_read("clos:gpus=8,gpus-per-server=2,radix=4,spares=1", NULL, 0, design, &err) == FAB_OK, "%s",
               err.text);
    design->n_engines = 1;
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
    const fab_study_request request = {.design = design,
                                       .program = "1",
                                       .traffic = "pattern:shift,by=3",
                                       .scenarios = "switches:1",
                                       .policies = POLICIES,
                                       .n_policies = 2,
                                       .seed = 5,
                                       .figures = FAB_FIGURES_TIMES};
    (void)fuzz_folder(folder);
    (void)rmdir(folder);
    const fab_study_job job = {.folder = folder, .program = "1", .n_shards = 1, .n_threads = 1};
    fuzz_check(fab_study_plan(&request, folder, &planned, &err) == FAB_OK, "%s: %s", err.where, err.text);
    fuzz_check(fab_study_run(&job, &tally, &err) == FAB_OK, "%s: %s", err.where, err.text);
    fuzz_check(fab_store_gather(folder, &planned.plan, false, NULL, NULL, &gathered, &err) == FAB_OK, "%s: %s",
               err.where, err.text);
    fab_plan_release(&planned.plan);
    free(design);
    for (size_t i = 0; i < N_FILES; i++) {
        originals[i] = keep(path_of(NAMES[i]));
    }
}

static bool stop_at_once(void *context) {
    (void)context;
    return true;
}

static void read_results(void) {
    fab_study_results *results = NULL;
    fab_study_summary *summary = NULL;
    fab_error err = {0};
    if (fuzz_accepts(fab_study_results_open(folder, &results, &err), &err)) {
        char *bytes = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&bytes, &n);
        (void)fuzz_accepts(fab_study_summarise(results, 5, true, &summary, &err), &err);
        fab_study_summary_free(summary);
        err = (fab_error){0};
        (void)fuzz_accepts(fab_study_write_csv(results, out, &err), &err);
        (void)fclose(out);
        free(bytes);
    }
    fab_study_results_close(results);
}

/* Runs the rest of the study, and gathers what there is. */
static void go_on(void) {
    fab_plan plan = {.program = NULL};
    fab_gathered gathered;
    fab_study_tally tally;
    fab_error err = {0};
    const fab_study_job job = {.folder = folder, .program = "1", .n_shards = 1, .n_threads = 1, .stop = stop_at_once};
    (void)fuzz_accepts(fab_study_run(&job, &tally, &err), &err);
    err = (fab_error){0};
    if (fuzz_accepts(fab_plan_read(folder, &plan, &err), &err)) {
        (void)fuzz_accepts(fab_store_gather(folder, &plan, true, NULL, NULL, &gathered, &err), &err);
    }
    fab_plan_release(&plan);
}

static void change(kept *file, const uint8_t *data, size_t size) {
    while (size >= 4) {
        size_t at = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % (file->size + 1);
        size_t n = data[3] < size - 4 ? data[3] : size - 4;
        n = n < file->size - at ? n : file->size - at;
        memcpy(file->data + at, data + 4, n);
        data += 4 + n;
        size -= 4 + n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    if (originals[0].data == NULL) {
        make_study();
    }
    size_t file = data[0] % N_FILES;
    if (data[0] / N_FILES % 2 == 1) {
        fuzz_write(path_of(NAMES[file]), data + 1, size - 1);
    } else {
        kept changed = {.data = malloc(originals[file].size), .size = originals[file].size};
        memcpy(changed.data, originals[file].data, changed.size);
        change(&changed, data + 1, size - 1);
        fuzz_write(path_of(NAMES[file]), changed.data, changed.size);
        free(changed.data);
    }
    read_results();
    if (file != 2) {
        go_on();
    }
    for (size_t i = 0; i < N_FILES; i++) {
        fuzz_write(path_of(NAMES[i]), originals[i].data, originals[i].size);
    }
    return 0;
}
