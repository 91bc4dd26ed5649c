/**
 * @file bench_times.h
 * The clock of the measuring programs, and what becomes of the times of several runs.
 */
#pragma once

#include <stdint.h>

#define BENCH_KEPT_RUNS 1000

/** Processor seconds of runs. */
typedef struct bench_times {
    double s[BENCH_KEPT_RUNS]; /**< the first ones */
    uint32_t n;
} bench_times;

/** Processor seconds of the process so far. */
double bench_now(void);

/** Takes down a run of `s` seconds; *fastest is the least of all, 0 before the first. */
void bench_keep(bench_times *times, double *fastest, double s);

/** 0 without runs. Sorts them. */
double bench_median(bench_times *times);
