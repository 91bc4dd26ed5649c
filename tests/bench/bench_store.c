/* Measures the store of studies (bench.h says how): outcomes of four failed links under one variant, 64 scenarios per
 * GPU of the design, so that 16,384 GPUs make 1,048,576. A row is what SQL sees: an outcome, or a link that failed. */
#include "../../src/study/study_loop.h"
#include "bench.h"
#include "fab/memory.h"
#include "fab/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COMPONENTS 4
#define ROWS       (1 + COMPONENTS) /* of a scenario */

typedef struct state {
    fab_plan plan;
    char folder[64], gathered[64]; /* of a run; of a study that is done */
} state;

typedef struct work {
    size_t n_threads;
    uint32_t n_mixes; /* that a scenario costs, beside its row */
} work;

static double wall_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static fab_status make_plan(const fab_fabric *fabric, fab_plan *plan, fab_error *err) {
    fab_status status = FAB_OK;
    char name[FAB_COMPONENT_NAME_SIZE];
    char *const texts[] = {"bench", "gpus=1\n", "job", "links:4", "ecmp", "none"};
    char **const places[] = {&plan->program, &plan->name,    &plan->origin,
                             &plan->design,  &plan->traffic, &plan->scenarios};
    *plan =
        (fab_plan){.seed = 1, .n_scenarios = 64ULL * fab_n_gpus(fabric), .figures = FAB_FIGURES_TIMES, .n_variants = 1};
    plan->block = fab_plan_block(plan->n_scenarios);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        FAB_TRY((*places[i] = fab_strdup(texts[i], err)) != NULL ? FAB_OK : FAB_ENOMEM);
    }
    FAB_TRY(FAB_NEW(plan->variants, 1, err));
    FAB_TRY((plan->variants[0].engine = fab_strdup("ecmp", err)) != NULL ? FAB_OK : FAB_ENOMEM);
    FAB_TRY((plan->variants[0].label = fab_strdup("ecmp,qp=1", err)) != NULL ? FAB_OK : FAB_ENOMEM);
    FAB_TRY((plan->variants[0].policy = fab_strdup("none", err)) != NULL ? FAB_OK : FAB_ENOMEM);
    FAB_TRY(FAB_NEW(plan->components, fabric->n_cables, err));
    plan->n_components = fabric->n_cables;
    for (uint32_t i = 0; i < fabric->n_cables; i++) {
        const fab_component c = {.kind = FAB_COMPONENT_LINK, .id = 2 * i};
        FAB_TRY((plan->components[i].kind = fab_strdup("link", err)) != NULL ? FAB_OK : FAB_ENOMEM);
        FAB_TRY((plan->components[i].name = fab_strdup(fab_component_name(fabric, &c, name), err)) != NULL
                    ? FAB_OK
                    : FAB_ENOMEM);
    }
    fab_plan_seal(plan);
done:
    return status;
}

static void clear(const char *folder) {
    static const char *const NAMES[] = {
        "plan.db",    "shard-0-of-1.db",     "shard-0-of-1.db-wal", "shard-0-of-1.db-shm",
        "results.db", "shard-0-of-1.db.lock"};
    char path[128];
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        (void)unlink(path);
    }
}

static double size_of(const char *folder, const char *name) {
    char path[128];
    struct stat info = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

/* --- a scenario --------------------------------------------------------------------------------------------------- */

typedef struct job {
    const fab_plan *plan;
    uint32_t n_mixes;
    uint32_t component[64][COMPONENTS]; /* by thread */
} job;

static double real(fab_rng *rng) {
    return (double)(fab_rng_next(rng) >> 11) * 0x1p-53;
}

static fab_status assess(void *context, size_t worker, uint64_t scenario, fab_outcome *out,
                         const uint32_t **out_component, size_t *out_n, fab_error *err) {
    (void)err;
    job *j = context;
    fab_rng rng = fab_rng_make(j->plan->seed, scenario);
    for (uint32_t i = 0; i < j->n_mixes; i++) { /* each needs the one before */
        rng.state = fab_rng_next(&rng);
    }
    *out = (fab_outcome){.scenario = scenario,
                         .n_disconnected = (uint32_t)fab_rng_below(&rng, 300),
                         .n_collisions = 10000 + (uint32_t)fab_rng_below(&rng, 1000),
                         .worst_link = (uint32_t)fab_rng_below(&rng, 2 * j->plan->n_components)};
    out->lost_ratio = real(&rng);
    out->worst_ratio = 1 + real(&rng);
    out->time_s = 8 + real(&rng);
    out->slowdown = 1 + real(&rng);
    uint32_t part = (uint32_t)(j->plan->n_components / COMPONENTS);
    for (uint32_t k = 0; k < COMPONENTS; k++) {
        j->component[worker][k] = k * part + (uint32_t)fab_rng_below(&rng, part);
    }
    *out_component = j->component[worker];
    *out_n = COMPONENTS;
    return FAB_OK;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static fab_status write_study(const fab_plan *plan, const char *folder, size_t n_threads, uint32_t n_mixes,
                              fab_error *err) {
    fab_status status = FAB_OK;
    bool was_there = false;
    fab_shard *shard = NULL;
    fab_study_tally tally;
    const fab_study_job task = {.n_shards = 1, .n_threads = n_threads};
    job *j = NULL;
    FAB_TRY(FAB_NEW(j, 1, err));
    j->plan = plan;
    j->n_mixes = n_mixes;
    FAB_TRY(fab_plan_write(folder, plan, &was_there, err));
    FAB_TRY(fab_shard_open(folder, plan, 0, 1, &shard, err));
    FAB_TRY(study_loop_run(&task, plan, shard, assess, j, &tally, err));
done:
    fab_shard_close(shard);
    free(j);
    return status;
}

static fab_status measure_write(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    double fastest_s = INFINITY;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        clear(s->folder);
        double start = bench_now();
        double wall = wall_s();
        FAB_TRY(write_study(&s->plan, s->folder, w->n_threads, w->n_mixes, err));
        bench_keep_run(out, start);
        fastest_s = fmin(fastest_s, wall_s() - wall);
    }
    out->units = s->plan.n_scenarios * ROWS;
    (void)snprintf(out->more, sizeof out->more, "\"rows_per_s\": %.0f, \"scenarios_per_s\": %.0f, ",
                   (double)out->units / fastest_s, (double)s->plan.n_scenarios / fastest_s);
done:
    clear(s->folder);
    return status;
}

static fab_status measure_gather(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    double fastest_s = INFINITY;
    (void)row;
    FAB_TRY(write_study(&s->plan, s->gathered, 1, 0, err));
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_gathered gathered;
        double start = bench_now();
        double wall = wall_s();
        FAB_TRY(fab_store_gather(s->gathered, &s->plan, false, NULL, NULL, &gathered, err));
        bench_keep_run(out, start);
        fastest_s = fmin(fastest_s, wall_s() - wall);
    }
    out->units = s->plan.n_scenarios * ROWS;
    out->bytes = (size_t)size_of(s->gathered, "results.db");
    (void)snprintf(out->more, sizeof out->more, "\"rows_per_s\": %.0f, \"bytes_per_scenario\": %.1f, ",
                   (double)out->units / fastest_s, (double)out->bytes / (double)s->plan.n_scenarios);
done:
    clear(s->gathered);
    return status;
}

static fab_status scan(const char *folder, const char *sql, fab_error *err) {
    fab_status status = FAB_OK;
    fab_store *store = NULL;
    fab_query *query = NULL;
    bool row = false;
    FAB_TRY(fab_store_open(folder, &store, err));
    FAB_TRY(fab_query_new(store, sql, NULL, 0, &query, err));
    do {
        FAB_TRY(fab_query_next(query, &row, err));
    } while (row);
done:
    fab_query_free(query);
    fab_store_close(store);
    return status;
}

static fab_status measure_query(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_gathered gathered;
    FAB_TRY(write_study(&s->plan, s->gathered, 1, 0, err));
    FAB_TRY(fab_store_gather(s->gathered, &s->plan, false, NULL, NULL, &gathered, err));
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        FAB_TRY(scan(s->gathered, row->argument, err));
        bench_keep_run(out, start);
    }
    out->units = s->plan.n_scenarios;
done:
    clear(s->gathered);
    return status;
}

static const work WRITE = {1, 0}, ONE = {1, 2000}, TWO = {2, 2000};
static const char LARGEST[] =
    "SELECT scenario, slowdown FROM outcome WHERE variant = 0 ORDER BY slowdown DESC LIMIT 10";
static const char BY_COMPONENT[] =
    "SELECT name, mean_slowdown FROM by_component JOIN component USING (component) ORDER BY 2 DESC LIMIT 10";

static const bench_row ROWS_OF_TABLE[] = {
    {"write", "row", measure_write, &WRITE},
    {"run-1-thread", "row", measure_write, &ONE},
    {"run-2-threads", "row", measure_write, &TWO},
    {"gather", "row", measure_gather, NULL},
    {"query-worst", "scenario", measure_query, LARGEST},
    {"query-components", "scenario", measure_query, BY_COMPONENT},
    {NULL, NULL, NULL, NULL},
};

static fab_status prepare(bench *b, fab_error *err) {
    state *s = b->state;
    (void)snprintf(s->folder, sizeof s->folder, "bench-store-XXXXXX"); /* on the disk of this folder */
    (void)snprintf(s->gathered, sizeof s->gathered, "bench-store-XXXXXX");
    if (mkdtemp(s->folder) == NULL || mkdtemp(s->gathered) == NULL) {
        return fab_fail(err, FAB_EIO, s->folder, "no folder can be made");
    }
    return make_plan(b->fabric, &s->plan, err);
}

static void release(bench *b) {
    state *s = b->state;
    (void)rmdir(s->folder);
    (void)rmdir(s->gathered);
    fab_plan_release(&s->plan);
}

int main(int argc, char **argv) {
    const bench_program program = {"bench_store", ROWS_OF_TABLE, sizeof(state), prepare, release};
    return bench_main(&program, argc, argv);
}
