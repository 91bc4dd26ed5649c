/**
 * @file bench.h
 * What the measuring programs share. A program is a table of rows, what is to be made before them, and a call of
 * bench_main(). To add a row, write a function that fills a bench_figure and add it to the table.
 *
 * Usage of every program: NAME DESIGN [RUNS [ROW...]], or NAME --list for the names of the rows. It prints a line of
 * JSON per row: processor time of the fastest and of the median of RUNS (5) runs, the fastest also per unit of work,
 * what the result keeps in memory, and the peak of the process so far: give a single row to see its own.
 */
#pragma once

#include "bench_times.h"
#include "fab/design.h"
#include "fab/routing.h"
#include "fab/split.h"
#include "fab/topologies.h"

/** What every row may use. */
typedef struct bench {
    uint32_t n_runs;
    fab_design design;
    fab_fabric *fabric;
    fab_ports ports;
    uint32_t n_fabric_links; /**< directed */
    uint64_t *dead;          /**< bit set over links: one cable between switches in a hundred, drawn */
    void *state;             /**< the program's own, of state_size bytes, zero at first */
} bench;

typedef struct bench_figure {
    double cpu_s; /**< of the fastest run */
    bench_times times;
    uint64_t units; /**< of work in a run */
    size_t bytes;   /**< that the result keeps */
    char more[96];  /**< further members of the object: "\"gap\": 0.1, "; or "" */
} bench_figure;

typedef struct bench_row bench_row;
struct bench_row {
    const char *name, *unit;
    /** FAB_EUNSUPPORTED and FAB_EUNREACHABLE: the row is not for this design, which is no failure. */
    fab_status (*measure)(const bench *b, const bench_row *row, bench_figure *out, fab_error *err);
    const void *argument; /**< what tells rows of one function apart */
};

typedef struct bench_program {
    const char *name;
    const bench_row *rows; /**< ended by a NULL name */
    size_t state_size;
    fab_status (*prepare)(bench *b, fab_error *err);
    void (*release)(bench *b); /**< also after a failed prepare */
} bench_program;

/** The whole `main`. Returns the exit code. */
int bench_main(const bench_program *program, int argc, char **argv);

/** Takes down a run that began at `start`. */
void bench_keep_run(bench_figure *out, double start);

/** Largest memory of the process so far. */
size_t bench_peak_bytes(void);

/** Next hops of the fabric, whole [0] and without the dead cables [1], and their DAGs. */
typedef struct bench_paths {
    fab_next_hops *next_hops[2];
    fab_dag *dag[2];
} bench_paths;

FAB_STATUS bench_paths_init(const bench *b, bench_paths *out, fab_error *err);
void bench_paths_release(bench_paths *paths);
