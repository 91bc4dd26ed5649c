/* Measures routing. Usage: bench_routing DESIGN [RUNS [ROW...]], or bench_routing --list for the names of the rows.
 *
 * Prints a line of JSON per row: processor time of the fastest of RUNS (5) runs, also per unit of work, what the result
 * keeps in memory, and the peak of the process so far: give a single row to see its own. To add a row, write a
 * function that fills a `figure` and add it to ROWS. */
#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/routing.h"
#include "fab/tables.h"
#include "fab/topologies.h"
#include "engines.h"
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct bench {
    const char *design_text;
    uint32_t n_runs;
    fab_design design;
    fab_fabric *fabric;
    uint32_t n_fabric_links; /* directed */
    uint64_t *dead_1pct;     /* bit set over links */
    fab_next_hops *next_hops;
    fab_traffic permutation;
} bench;

typedef struct figure {
    double cpu_s;   /* of the fastest run */
    uint64_t units; /* of work in a run */
    size_t bytes;   /* that the result keeps */
} figure;

typedef struct row {
    const char *name, *unit;
    fab_status (*measure)(const bench *b, const char *argument, figure *out, fab_error *err);
    const char *argument;
} row;

static double cpu_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void keep_fastest(figure *out, double start) {
    double s = cpu_now() - start;
    out->cpu_s = out->cpu_s == 0 || s < out->cpu_s ? s : out->cpu_s;
}

static bool is_fabric_link(const fab_fabric *f, fab_link_id l) {
    return fab_class_of(f, l)->kind == FAB_LINK_FABRIC;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static fab_status measure_tables(const bench *b, const char *argument, figure *out, fab_error *err) {
    const uint64_t *dead = strcmp(argument, "dead") == 0 ? b->dead_1pct : NULL;
    out->units = b->n_fabric_links;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_next_hops *t = NULL;
        double start = cpu_now();
        fab_status status = fab_next_hops_new(b->fabric, dead, &t, err);
        if (status != FAB_OK) {
            return status;
        }
        keep_fastest(out, start);
        out->bytes = t->memory_bytes;
        fab_next_hops_free(t);
    }
    return FAB_OK;
}

/* Everything that a subnet manager does for its forwarding tables: from the fabric to an entry per switch and port of a
 * leaf. */
static fab_status measure_entries(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_engine_spec spec = {.where = "bench"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", argument);
    fab_next_hops *next_hops = NULL;
    fab_router router = {.engine = NULL};
    uint16_t *out_port = NULL;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = cpu_now();
        FAB_TRY(fab_next_hops_new(b->fabric, NULL, &next_hops, err));
        FAB_TRY(fab_router_init(&spec, b->fabric, next_hops, &router, err));
        size_t n = (size_t)fab_n_switches(b->fabric) * next_hops->n_leaves * router.port_stride;
        FAB_TRY(FAB_NEW(out_port, n, err));
        FAB_TRY(fab_tables_fill(&router, out_port, err));
        keep_fastest(out, start);
        out->units = 0;
        for (size_t i = 0; i < n; i++) {
            out->units += out_port[i] != 0;
        }
        out->bytes = n * sizeof *out_port;
        free(out_port);
        out_port = NULL;
        fab_router_release(&router);
        router.engine = NULL;
        fab_next_hops_free(next_hops);
        next_hops = NULL;
    }
done:
    free(out_port);
    if (router.engine != NULL) {
        fab_router_release(&router);
    }
    fab_next_hops_free(next_hops);
    return status;
}

static fab_status measure_walk(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router;
    bool has_router = false;
    fab_routes routes = {0};
    const fab_phase *phase = &b->permutation.phases[0];
    (void)snprintf(spec.text, sizeof spec.text, "%s", argument);
    FAB_TRY(fab_router_init(&spec, b->fabric, b->next_hops, &router, err));
    has_router = true;
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = cpu_now();
        FAB_TRY(fab_route_phase(&router, phase, run, &routes, err));
        if (run > 0) {
            keep_fastest(out, start);
        }
    }
    size_t n_links = routes.path_first[routes.flow_first[routes.n_flows]];
    for (size_t i = 0; i < n_links; i++) {
        out->units += is_fabric_link(b->fabric, routes.link[i]);
    }
    out->bytes = n_links * sizeof *routes.link;
done:
    fab_routes_release(&routes);
    if (has_router) {
        fab_router_release(&router);
    }
    return status;
}

/* The steps alone: flows are plugged in beforehand. */
static fab_status measure_steps(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    const fab_phase *phase = &b->permutation.phases[0];
    fab_walk *walks = NULL;
    enum { AT_ONCE = 8 }; /* as many as stay in the cache, so that the clock is read seldom */
    uint64_t per_turn = (uint64_t)AT_ONCE * FAB_WALK_PATHS;
    (void)snprintf(spec.text, sizeof spec.text, "%s", argument);
    FAB_TRY(fab_router_init(&spec, b->fabric, b->next_hops, &router, err));
    if (router.end == NULL) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "GPUs with several ports");
    }
    FAB_TRY(FAB_NEW(walks, AT_ONCE, err));
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double sum = 0;
        uint64_t n_hops = 0;
        for (uint64_t first = 0; first + per_turn <= phase->n_flows; first += per_turn) {
            for (uint32_t k = 0; k < per_turn; k++) {
                fab_walk *walk = &walks[k / FAB_WALK_PATHS];
                walk->n = k % FAB_WALK_PATHS == 0 ? 0 : walk->n;
                fab_walk_add_ends(walk, &router.end[phase->src[first + k]], &router.end[phase->dst[first + k]], 0, 0);
            }
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                fab_walk_begin(&walks[i], &router, run);
            }
            double start = cpu_now();
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                FAB_TRY(fab_walk_run(&walks[i], &router, run, err));
            }
            sum += cpu_now() - start;
            for (uint32_t k = 0; k < per_turn; k++) {
                n_hops += walks[k / FAB_WALK_PATHS].n_hops[k % FAB_WALK_PATHS];
            }
        }
        out->cpu_s = out->cpu_s == 0 || sum < out->cpu_s ? sum : out->cpu_s;
        out->units = n_hops;
    }
    out->bytes = AT_ONCE * sizeof *walks;
done:
    free(walks);
    if (router.engine != NULL) {
        fab_router_release(&router);
    }
    return status;
}

/* Bytes on every link between switches of an all-to-all over all GPUs, which no list would hold: once, a chunk of flows
 * at a time. */
static fab_status measure_count(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    enum { CHUNK = 65536 };
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    fab_routes routes = {.between_switches = true};
    fab_traffic traffic = {0};
    double *load = NULL;
    (void)snprintf(spec.text, sizeof spec.text, "%s", argument);
    FAB_TRY(fab_router_init(&spec, b->fabric, b->next_hops, &router, err));
    FAB_TRY(fab_traffic_make("pattern:all-to-all", &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(FAB_NEW(load, b->fabric->n_links, err));
    const fab_phase *phase = &traffic.phases[0];
    double start = cpu_now();
    for (uint64_t first = 0; first < phase->n_flows; first += CHUNK) {
        uint32_t n = (uint32_t)(phase->n_flows - first < CHUNK ? phase->n_flows - first : CHUNK);
        FAB_TRY(fab_route_flows(&router, phase, first, n, NULL, 1, &routes, err));
        size_t n_hops = routes.path_first[routes.flow_first[n]];
        for (size_t i = 0; i < n_hops; i++) {
            load[routes.link[i]] += 1;
        }
    }
    keep_fastest(out, start);
    out->units = phase->n_flows;
    out->bytes = b->fabric->n_links * sizeof *load;
done:
    fab_traffic_release(&traffic);
    fab_routes_release(&routes);
    if (router.engine != NULL) {
        fab_router_release(&router);
    }
    free(load);
    return status;
}

static fab_status measure_spray(const bench *b, const char *argument, figure *out, fab_error *err) {
    (void)argument;
    fab_status status = FAB_OK;
    const fab_phase *phase = &b->permutation.phases[0];
    double *amount = NULL;
    double *load = NULL;
    FAB_TRY(FAB_NEW(amount, phase->n_flows, err));
    FAB_TRY(FAB_NEW(load, b->fabric->n_links, err));
    for (size_t i = 0; i < phase->n_flows; i++) {
        amount[i] = 1;
    }
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = cpu_now();
        FAB_TRY(fab_spray_load(b->fabric, b->next_hops, phase, amount, load, err));
        keep_fastest(out, start);
    }
    out->units = phase->n_flows;
    out->bytes = b->fabric->n_links * sizeof *load;
done:
    free(amount);
    free(load);
    return status;
}

static const row ROWS[] = {
    {"tables", "link", measure_tables, "alive"},
    {"tables-dead-1pct", "link", measure_tables, "dead"},
    {"entries-dmodk", "entry", measure_entries, "dmodk"},
    {"walk-ecmp", "flow-hop", measure_walk, "ecmp"},
    {"walk-dmodk", "flow-hop", measure_walk, "dmodk"},
    {"steps-ecmp", "flow-hop", measure_steps, "ecmp"},
    {"steps-dmodk", "flow-hop", measure_steps, "dmodk"},
    {"count-all-ecmp", "flow", measure_count, "ecmp"},
    {"spray-load", "flow", measure_spray, ""},
};
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

/* ----------------------------------------------------------------------------------------------------------------- */

/* One cable of the network in a hundred, both directions, drawn without replacement. */
static fab_status kill_cables(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = b->fabric;
    uint32_t *cable = NULL;
    size_t n = 0;
    FAB_TRY(FAB_NEW(cable, f->n_cables, err));
    FAB_TRY(FAB_NEW(b->dead_1pct, (size_t)f->n_links / 64 + 1, err));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (is_fabric_link(f, 2 * c)) {
            cable[n++] = c;
        }
    }
    b->n_fabric_links = (uint32_t)(2 * n);
    fab_rng rng = fab_rng_make(1, 0);
    fab_rng_shuffle(&rng, cable, n);
    for (size_t i = 0; i < (n + 99) / 100; i++) {
        fab_link_id l = 2 * cable[i];
        b->dead_1pct[l >> 6] |= UINT64_C(3) << (l & 63);
    }
done:
    free(cable);
    return status;
}

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(fab_design_read(b->design_text, NULL, 0, &b->design, err));
    FAB_TRY(fab_topology_build(&b->design.fabric, &b->fabric, NULL, err));
    FAB_TRY(kill_cables(b, err));
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &b->next_hops, err));
    FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, 1, &b->permutation, err));
done:
    return status;
}

static void release(bench *b) {
    fab_traffic_release(&b->permutation);
    fab_next_hops_free(b->next_hops);
    free(b->dead_1pct);
    fab_fabric_free(b->fabric);
}

/* An engine that does not serve the design is no failure of the measurement. */
static fab_status run_row(const bench *b, const row *r, fab_error *err) {
    figure f = {0};
    fab_error refusal = {0};
    fab_status status = r->measure(b, r->argument, &f, &refusal);
    if (status == FAB_EUNSUPPORTED) {
        (void)printf("{\"name\": \"%s\", \"unsupported\": true}\n", r->name);
        return FAB_OK;
    }
    if (status != FAB_OK) {
        return fab_fail(err, status, r->name, "%s", refusal.text);
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"name\": \"%s\", \"runs\": %u, \"cpu_min_s\": %.6f, \"unit\": \"%s\", \"units\": %llu, "
                 "\"ns_per_unit\": %.2f, \"mib\": %.2f, \"peak_mib\": %.1f}\n",
                 r->name, b->n_runs, f.cpu_s, r->unit, (unsigned long long)f.units,
                 f.units > 0 ? f.cpu_s * 1e9 / (double)f.units : 0, (double)f.bytes / 1048576,
                 (double)usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    return FAB_OK;
}

static bool is_wanted(const row *r, char *const *names, int n_names) {
    for (int i = 0; i < n_names; i++) {
        if (strcmp(names[i], r->name) == 0) {
            return true;
        }
    }
    return n_names == 0;
}

static bool is_row(const char *name) {
    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(ROWS[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < N_ROWS; i++) {
            (void)printf("%s\n", ROWS[i].name);
        }
        return 0;
    }
    long n_runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    bool known = argc >= 2 && n_runs >= 1 && n_runs <= 1000000;
    for (int i = 3; i < argc; i++) {
        known = known && is_row(argv[i]);
    }
    if (!known) {
        (void)fprintf(stderr, "usage: bench_routing DESIGN [RUNS [ROW...]] | bench_routing --list\n");
        return 2;
    }
    bench b = {.design_text = argv[1], .n_runs = (uint32_t)n_runs};
    fab_error err = {0};
    fab_status status = prepare(&b, &err);
    for (size_t i = 0; status == FAB_OK && i < N_ROWS; i++) {
        if (is_wanted(&ROWS[i], argv + 3, argc > 3 ? argc - 3 : 0)) {
            status = run_row(&b, &ROWS[i], &err);
        }
    }
    release(&b);
    if (status != FAB_OK) {
        (void)fprintf(stderr, "bench_routing: %s: %s\n", argv[1], err.text);
        return 1;
    }
    return 0;
}
