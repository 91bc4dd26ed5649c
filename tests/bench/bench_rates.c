/* Measures rates. Usage: bench_rates DESIGN [RUNS [ROW...]], bench_rates --list for the names of the rows, or
 * bench_rates --print DESIGN ROW for the flows of a row `whole-...`: source, destination, bytes, when it is done.
 *
 * Prints the lines of JSON of bench_routing. Rows named whole-... begin with the text of the design; the others are
 * given a fabric and routes. */
#include "engines/router.h"
#include "bench_times.h"
#include "fab/design.h"
#include "fab/fluid.h"
#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/routing.h"
#include "fab/topologies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FLOWS_PER_GPU 16 /* of the row max-min */
#define RANDOM_FLOWS  10000

typedef struct bench {
    const char *design_text;
    uint32_t n_runs;
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
} bench;

/* Flows over the links of their routes. */
typedef struct load {
    fab_sharing sharing;
    uint64_t *first;
    uint32_t *link;
    double *capacity;
    double *bits, *result;
} load;

typedef struct figure {
    double cpu_s; /* of the fastest run */
    bench_times times;
    uint64_t units; /* of work in a run */
    double end_s;   /* of the simulation */
} figure;

typedef struct row {
    const char *name, *unit;
    fab_status (*measure)(const bench *b, const char *argument, figure *out, fab_error *err);
    const char *argument;
} row;

static void keep_run(figure *out, double start) {
    bench_keep(&out->times, &out->cpu_s, bench_now() - start);
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

static void load_release(load *l) {
    free(l->first);
    free(l->link);
    free(l->capacity);
    free(l->bits);
    free(l->result);
}

/* Adds a phase, one path per flow. */
static fab_status load_add(const fab_router *router, const fab_phase *phase, uint64_t seed, load *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_routes routes = {0};
    FAB_TRY(fab_route_phase(router, phase, seed, &routes, err));
    uint32_t before = out->sharing.n_flows;
    uint32_t n = before + routes.n_flows;
    uint64_t entry = before > 0 ? out->first[before] : 0;
    uint64_t *first = realloc(out->first, ((size_t)n + 1) * sizeof *first);
    out->first = first != NULL ? first : out->first;
    uint32_t *link = realloc(out->link, (entry + routes.path_first[routes.n_flows]) * sizeof *link);
    out->link = link != NULL ? link : out->link;
    double *bits = realloc(out->bits, n * sizeof *bits);
    out->bits = bits != NULL ? bits : out->bits;
    double *result = realloc(out->result, n * sizeof *result);
    out->result = result != NULL ? result : out->result;
    if (first == NULL || link == NULL || bits == NULL || result == NULL) {
        FAB_FAIL(err, FAB_ENOMEM, NULL, "no room for %u flows", n);
    }
    for (uint32_t f = 0; f < routes.n_flows; f++) {
        if (routes.flow_first[f + 1] - routes.flow_first[f] != 1) {
            FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "flows with several paths");
        }
        bits[before + f] = 8 * (double)phase->bytes[f];
        first[before + f] = entry + routes.path_first[f];
    }
    first[n] = entry + routes.path_first[routes.n_flows];
    memcpy(link + entry, routes.link, routes.path_first[routes.n_flows] * sizeof *link);
    out->sharing.n_flows = n;
    out->sharing.first = first;
    out->sharing.link = link;
done:
    fab_routes_release(&routes);
    return status;
}

static fab_status load_capacities(const fab_fabric *fabric, load *out, fab_error *err) {
    fab_status status = FAB_NEW(out->capacity, fabric->n_links, err);
    for (uint32_t l = 0; status == FAB_OK && l < fabric->n_links; l++) {
        out->capacity[l] = fab_class_of(fabric, l)->capacity_bps;
    }
    out->sharing.n_links = fabric->n_links;
    out->sharing.capacity = out->capacity;
    return status;
}

static fab_status load_make(const bench *b, const char *engine, const fab_phase *phases, size_t n_phases, load *out,
                            fab_error *err) {
    fab_status status = FAB_OK;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    FAB_TRY(fab_router_init(&spec, b->fabric, b->next_hops, &router, err));
    FAB_TRY(load_capacities(b->fabric, out, err));
    for (size_t i = 0; i < n_phases; i++) {
        FAB_TRY(load_add(&router, &phases[i], i, out, err));
    }
done:
    if (router.engine != NULL) {
        fab_router_release(&router);
    }
    return status;
}

/* Flows between random pairs, of 1 to 2 MB; few on a small fabric. */
static fab_status random_flows(const bench *b, bool equal, fab_phase *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n_gpus = fab_n_gpus(b->fabric);
    uint32_t n = 4 * n_gpus < RANDOM_FLOWS ? 4 * n_gpus : RANDOM_FLOWS;
    fab_rng rng = fab_rng_make(1, 2);
    out->n_flows = n;
    FAB_TRY(FAB_NEW(out->src, n, err));
    FAB_TRY(FAB_NEW(out->dst, n, err));
    FAB_TRY(FAB_NEW(out->bytes, n, err));
    FAB_TRY(FAB_NEW(out->comm, n, err));
    FAB_TRY(FAB_NEW(out->ordinal, n, err));
    for (uint32_t f = 0; f < n; f++) {
        out->src[f] = (uint32_t)fab_rng_below(&rng, n_gpus);
        out->dst[f] = (out->src[f] + 1 + (uint32_t)fab_rng_below(&rng, n_gpus - 1)) % n_gpus;
        out->bytes[f] = 1000000 + (equal ? 0 : fab_rng_below(&rng, 1000000));
        out->ordinal[f] = f;
    }
done:
    return status;
}

static void phase_release(fab_phase *p) {
    free(p->src);
    free(p->dst);
    free(p->bytes);
    free(p->comm);
    free(p->ordinal);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* FLOWS_PER_GPU permutations at once. */
static fab_status measure_max_min(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_traffic traffic[FLOWS_PER_GPU] = {0};
    fab_phase phases[FLOWS_PER_GPU];
    load l = {0};
    fab_max_min *solver = NULL;
    uint32_t *bottleneck = NULL;
    bool is_first = strcmp(argument, "first") == 0;
    for (uint32_t i = 0; i < FLOWS_PER_GPU; i++) {
        FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, i, &traffic[i], err));
        phases[i] = traffic[i].phases[0];
    }
    FAB_TRY(load_make(b, "ecmp", phases, FLOWS_PER_GPU, &l, err));
    FAB_TRY(FAB_NEW(bottleneck, l.sharing.n_flows, err));
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        if (solver == NULL) {
            FAB_TRY(fab_max_min_new(&solver, err));
        }
        FAB_TRY(fab_max_min_solve(solver, &l.sharing, l.result, bottleneck, err));
        if (is_first) {
            fab_max_min_free(solver);
            solver = NULL;
        }
        if (run > 0) {
            keep_run(out, start);
        }
    }
    out->units = l.first[l.sharing.n_flows];
done:
    for (uint32_t i = 0; i < FLOWS_PER_GPU; i++) {
        fab_traffic_release(&traffic[i]);
    }
    free(bottleneck);
    fab_max_min_free(solver);
    load_release(&l);
    return status;
}

static fab_status measure_equal(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_traffic traffic = {0};
    load l = {0};
    FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(load_make(b, argument, traffic.phases, 1, &l, err));
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        FAB_TRY(fab_fluid_finish(&l.sharing, l.bits, NULL, l.result, err));
        keep_run(out, start);
    }
    out->units = l.sharing.n_flows;
    for (uint32_t f = 0; f < l.sharing.n_flows; f++) {
        out->end_s = fmax(out->end_s, l.result[f]);
    }
done:
    fab_traffic_release(&traffic);
    load_release(&l);
    return status;
}

static void bench_release(bench *b) {
    fab_next_hops_free(b->next_hops);
    fab_fabric_free(b->fabric);
    b->next_hops = NULL;
    b->fabric = NULL;
}

static fab_status bench_prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(fab_design_read(b->design_text, NULL, 0, &b->design, err));
    FAB_TRY(fab_topology_build(&b->design.fabric, &b->fabric, NULL, err));
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &b->next_hops, err));
done:
    return status;
}

/* From the text of the design to when every flow is done. @param[in] print  Print the flows and when they are done. */
static fab_status run_whole(const char *design_text, const char *kind, bool print, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    bench b = {.design_text = design_text};
    fab_traffic traffic = {0};
    fab_phase random = {0};
    load l = {0};
    double start = bench_now();
    FAB_TRY(bench_prepare(&b, err));
    const fab_phase *phase = &random;
    if (strncmp(kind, "random", 6) == 0) {
        FAB_TRY(random_flows(&b, strcmp(kind, "random-equal") == 0, &random, err));
    } else {
        FAB_TRY(fab_traffic_make("pattern:permutation", &b.design, b.fabric, 1, &traffic, err));
        phase = &traffic.phases[0];
    }
    FAB_TRY(load_make(&b, "dmodk", phase, 1, &l, err));
    FAB_TRY(fab_fluid_finish(&l.sharing, l.bits, NULL, l.result, err));
    keep_run(out, start);
    out->units = phase->n_flows;
    for (uint32_t f = 0; f < l.sharing.n_flows; f++) {
        out->end_s = fmax(out->end_s, l.result[f]);
    }
    for (uint32_t f = 0; print && f < phase->n_flows; f++) {
        (void)printf("%u %u %llu %.17g\n", phase->src[f], phase->dst[f], (unsigned long long)phase->bytes[f],
                     l.result[f]);
    }
done:
    fab_traffic_release(&traffic);
    phase_release(&random);
    load_release(&l);
    bench_release(&b);
    return status;
}

static fab_status measure_whole(const bench *b, const char *argument, figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t run = 0; status == FAB_OK && run < b->n_runs; run++) {
        status = run_whole(b->design_text, argument, false, out, err);
    }
    return status;
}

static const row ROWS[] = {
    {"max-min", "flow-link", measure_max_min, "again"}, {"max-min-first", "flow-link", measure_max_min, "first"},
    {"equal-ecmp", "flow", measure_equal, "ecmp"},      {"whole-permutation", "flow", measure_whole, "permutation"},
    {"whole-random", "flow", measure_whole, "random"},  {"whole-random-equal", "flow", measure_whole, "random-equal"},
};
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

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
    (void)printf("{\"name\": \"%s\", \"runs\": %u, \"cpu_min_s\": %.6f, \"cpu_median_s\": %.6f, \"unit\": \"%s\", "
                 "\"units\": %llu, \"ns_per_unit\": %.2f, \"end_s\": %.9g, \"peak_mib\": %.1f}\n",
                 r->name, b->n_runs, f.cpu_s, bench_median(&f.times), r->unit, (unsigned long long)f.units,
                 f.units > 0 ? f.cpu_s * 1e9 / (double)f.units : 0, f.end_s, (double)usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    return FAB_OK;
}

static const row *find_row(const char *name) {
    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(ROWS[i].name, name) == 0) {
            return &ROWS[i];
        }
    }
    return NULL;
}

static int print_row(const char *design, const char *name) {
    figure f = {0};
    fab_error err = {0};
    const row *r = find_row(name);
    if (r == NULL || r->measure != measure_whole) {
        (void)fprintf(stderr, "bench_rates: no row whole-... is called '%s'\n", name);
        return 2;
    }
    if (run_whole(design, r->argument, true, &f, &err) != FAB_OK) {
        (void)fprintf(stderr, "bench_rates: %s: %s\n", design, err.text);
        return 1;
    }
    return 0;
}

static fab_status run_rows(bench *b, char *const *names, int n_names, fab_error *err) {
    fab_status status = bench_prepare(b, err);
    for (size_t i = 0; status == FAB_OK && i < N_ROWS; i++) {
        bool wanted = n_names == 0;
        for (int k = 0; k < n_names; k++) {
            wanted = wanted || strcmp(names[k], ROWS[i].name) == 0;
        }
        if (wanted) {
            status = run_row(b, &ROWS[i], err);
        }
    }
    bench_release(b);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < N_ROWS; i++) {
            (void)printf("%s\n", ROWS[i].name);
        }
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--print") == 0) {
        return print_row(argv[2], argv[3]);
    }
    long n_runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    bool known = argc >= 2 && n_runs >= 1 && n_runs <= 1000000;
    for (int i = 3; i < argc; i++) {
        known = known && find_row(argv[i]) != NULL;
    }
    if (!known) {
        (void)fprintf(stderr, "usage: bench_rates DESIGN [RUNS [ROW...]] | --list | --print DESIGN ROW\n");
        return 2;
    }
    bench b = {.design_text = argv[1], .n_runs = (uint32_t)n_runs};
    fab_error err = {0};
    if (run_rows(&b, argv + 3, argc > 3 ? argc - 3 : 0, &err) != FAB_OK) {
        (void)fprintf(stderr, "bench_rates: %s: %s\n", argv[1], err.text);
        return 1;
    }
    return 0;
}
