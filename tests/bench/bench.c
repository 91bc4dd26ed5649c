#include "bench.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double bench_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void bench_keep(bench_times *times, double *fastest, double s) {
    *fastest = *fastest == 0 || s < *fastest ? s : *fastest;
    if (times->n < BENCH_KEPT_RUNS) {
        times->s[times->n++] = s;
    }
}

void bench_keep_run(bench_figure *out, double start) {
    bench_keep(&out->times, &out->cpu_s, bench_now() - start);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(bench_times *times) {
    uint32_t n = times->n;
    qsort(times->s, n, sizeof *times->s, by_size);
    return n > 0 ? (times->s[n / 2] + times->s[(n - 1) / 2]) / 2 : 0;
}

size_t bench_peak_bytes(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

/* One cable of the network in a hundred, both directions, drawn without replacement. */
static fab_status kill_cables(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = b->fabric;
    uint32_t *cable = NULL;
    size_t n = 0;
    FAB_TRY(FAB_NEW(cable, f->n_cables, err));
    FAB_TRY(FAB_NEW(b->dead, (size_t)f->n_links / 64 + 1, err));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (fab_class_of(f, 2 * c)->kind == FAB_LINK_FABRIC) {
            cable[n++] = c;
        }
    }
    b->n_fabric_links = (uint32_t)(2 * n);
    fab_rng rng = fab_rng_make(1, 0);
    fab_rng_shuffle(&rng, cable, n);
    for (size_t i = 0; i < (n + 99) / 100; i++) {
        fab_link_id l = 2 * cable[i];
        b->dead[l >> 6] |= UINT64_C(3) << (l & 63);
    }
done:
    free(cable);
    return status;
}

static fab_status prepare(const bench_program *program, const char *design, bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(fab_allocate(1, program->state_size, &b->state, err));
    FAB_TRY(fab_design_read(design, NULL, 0, &b->design, err));
    FAB_TRY(fab_topology_build(&b->design.fabric, &b->fabric, NULL, err));
    FAB_TRY(fab_ports_init(b->fabric, &b->ports, err));
    FAB_TRY(kill_cables(b, err));
    FAB_TRY(program->prepare(b, err));
done:
    return status;
}

static void release(const bench_program *program, bench *b) {
    if (b->state != NULL) {
        program->release(b);
    }
    free(b->state);
    free(b->dead);
    fab_ports_release(&b->ports);
    fab_fabric_free(b->fabric);
}

static fab_status run_row(const bench *b, const bench_row *row, fab_error *err) {
    bench_figure f = {0};
    fab_error inner = {0};
    fab_status status = row->measure(b, row, &f, &inner);
    if (status == FAB_EUNSUPPORTED || status == FAB_EUNREACHABLE) {
        (void)printf("{\"name\": \"%s\", \"unsupported\": true}\n", row->name);
        return FAB_OK;
    }
    if (status != FAB_OK) {
        return fab_fail(err, status, row->name, "%s", inner.text);
    }
    (void)printf("{\"name\": \"%s\", \"runs\": %u, \"cpu_min_s\": %.6f, \"cpu_median_s\": %.6f, \"unit\": \"%s\", "
                 "\"units\": %llu, \"ns_per_unit\": %.2f, %s\"mib\": %.2f, \"peak_mib\": %.1f}\n",
                 row->name, b->n_runs, f.cpu_s, bench_median(&f.times), row->unit, (unsigned long long)f.units,
                 f.units > 0 ? f.cpu_s * 1e9 / (double)f.units : 0, f.more, (double)f.bytes / 1048576,
                 (double)bench_peak_bytes() / 1048576);
    (void)fflush(stdout);
    return FAB_OK;
}

static bool is_wanted(const bench_row *row, char *const *names, int n_names) {
    for (int i = 0; i < n_names; i++) {
        if (strcmp(names[i], row->name) == 0) {
            return true;
        }
    }
    return n_names == 0;
}

static bool is_row(const bench_program *program, const char *name) {
    for (const bench_row *row = program->rows; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int bench_main(const bench_program *program, int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const bench_row *row = program->rows; row->name != NULL; row++) {
            (void)printf("%s\n", row->name);
        }
        return 0;
    }
    long n_runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    bool usable = argc >= 2 && n_runs >= 1 && n_runs <= 1000000;
    for (int i = 3; i < argc; i++) {
        usable = usable && is_row(program, argv[i]);
    }
    if (!usable) {
        (void)fprintf(stderr, "usage: %s DESIGN [RUNS [ROW...]] | %s --list\n", program->name, program->name);
        return 2;
    }
    bench b = {.n_runs = (uint32_t)n_runs};
    fab_error err = {0};
    fab_status status = prepare(program, argv[1], &b, &err);
    for (const bench_row *row = program->rows; status == FAB_OK && row->name != NULL; row++) {
        if (is_wanted(row, argv + 3, argc > 3 ? argc - 3 : 0)) {
            status = run_row(&b, row, &err);
        }
    }
    release(program, &b);
    if (status != FAB_OK) {
        (void)fprintf(stderr, "%s: %s: %s\n", program->name, argv[1], err.text);
        return 1;
    }
    return 0;
}

fab_status bench_paths_init(const bench *b, bench_paths *out, fab_error *err) {
    fab_status status = FAB_OK;
    for (int dead = 0; dead < 2; dead++) {
        FAB_TRY(fab_next_hops_new(b->fabric, dead ? b->dead : NULL, &out->next_hops[dead], err));
        FAB_TRY(fab_dag_new(b->fabric, out->next_hops[dead], &out->dag[dead], err));
    }
done:
    return status;
}

void bench_paths_release(bench_paths *paths) {
    for (int dead = 0; dead < 2; dead++) {
        fab_dag_free(paths->dag[dead]);
        fab_next_hops_free(paths->next_hops[dead]);
    }
}
