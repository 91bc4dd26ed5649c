/* Text report: seconds per iteration and what they are made of, memory, tokens and dollars. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_part(fab_table *table, size_t column, double seconds, const fab_iteration *it) {
    fab_table_set(table, column, FAB_INK_PLAIN, seconds > 0 ? "%.1f %%" : "-", 100 * seconds / it->time_s);
}

/* One row per engine: the parts add up to the time. */
static void put_parts(fab_page *page, const fab_result *result) {
    char a[40];
    static const char *const HEADINGS[] = {"engine", "time", "compute", "bubble", "tp", "pp", "dp", "TFLOP/s", "MFU"};
    fab_table table;
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_BOLD, "[%zu] %.12s", i + 1, it->engine);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", fab_quantity_format(a, it->time_s, FAB_UNIT_TIME));
        put_part(&table, 2, it->compute_s + it->optimizer_s, it);
        put_part(&table, 3, it->bubble_s, it);
        put_part(&table, 4, it->exposed_tp_s + it->exposed_cp_s + it->exposed_ep_s, it);
        put_part(&table, 5, it->exposed_pp_s, it);
        put_part(&table, 6, it->exposed_dp_s, it);
        fab_table_set(&table, 7, FAB_INK_PLAIN, "%.1f", it->tflops_per_gpu);
        fab_table_set(&table, 8, FAB_INK_PLAIN, "%.1f %%", 100 * it->mfu_ratio);
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "parts of the time; compute: the busiest stage, optimizer included; tp (with cp and ep), pp, dp: "
                  "communication that "
                  "computation does not hide; TFLOP/s per GPU count recomputation, MFU does not");
}

#define TEXT_SIZE   40
#define PLAIN_BELOW 1e15 /* what is printed with all its digits */
#define SMALL       10.0 /* below it digits behind the point are told */

static const char *count(char *out, double value) {
    if (value < PLAIN_BELOW && (value >= SMALL || value <= 0)) {
        return fab_format_count(out, (uint64_t)(value + 0.5));
    }
    (void)snprintf(out, TEXT_SIZE, "%.3g", value);
    return out;
}

static const char *days(char *out, double value) {
    (void)snprintf(out, TEXT_SIZE, value < PLAIN_BELOW ? "%.1f" : "%.3g", value);
    return out;
}

static void put_yield(fab_page *page, const fab_result *result) {
    char a[TEXT_SIZE];
    char b[TEXT_SIZE];
    char c[TEXT_SIZE];
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        char which[32] = "";
        if (result->n_iterations > 1) {
            (void)snprintf(which, sizeof which, "[%zu] ", i + 1);
        }
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "%s%s tokens/s, $%s per 1e9 tokens; microbatch %" PRIu64 ", %" PRIu64 " chunk%s per GPU", which,
                       count(a, it->tokens_per_s), count(b, it->usd_per_1e9_tokens), it->microbatch, it->interleave,
                       it->interleave == 1 ? "" : "s");
        if (it->training.tokens > 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                           "%s%.3g tokens: %s days, $%s, without failures (%s days by %d T P / (n X))", which,
                           it->training.tokens, days(a, it->training.days), count(b, it->training.usd),
                           days(c, it->training.rule_days), result->job.recompute == FAB_RECOMPUTE_FULL ? 8 : 6);
        }
    }
}

/* "Fullest GPU: 56.1 GB of 85.9 GB: weights 7 GB, ..." */
static void put_memory(fab_page *page, const fab_job_memory *m, const char *which) {
    char a[TEXT_SIZE];
    char b[TEXT_SIZE];
    char c[TEXT_SIZE];
    char d[TEXT_SIZE];
    fab_page_wrapf(page, m->fits ? FAB_INK_PLAIN : FAB_INK_BAD, 2, 2,
                   "%sFullest GPU: %s of %.4g GB: weights and gradients %s, optimizer %s, activations %s%s", which,
                   fab_quantity_format(a, m->total_bytes, FAB_UNIT_BYTES), m->capacity_bytes * 1e-9,
                   fab_quantity_format(b, m->weights_bytes + m->gradients_bytes, FAB_UNIT_BYTES),
                   fab_quantity_format(c, m->optimizer_bytes, FAB_UNIT_BYTES),
                   fab_quantity_format(d, m->activations_bytes, FAB_UNIT_BYTES), m->fits ? "" : ": does not fit");
}

/* The accelerator is the job's and the rate of scale-up domains the fabric's: nobody else notices where they differ. */
static void put_scale_up_rate(fab_page *page, const fab_result *result) {
    const fab_gpu *gpu = fab_gpu_find(result->job.gpu);
    char a[TEXT_SIZE];
    char b[TEXT_SIZE];
    if (gpu == NULL || gpu->nvlink_bps <= 0 || result->n_fabrics == 0 || result->fabrics[0].spec.domain < 2) {
        return;
    }
    double ratio = result->fabrics[0].spec.domain_bps / gpu->nvlink_bps;
    if (ratio < 0.99 || ratio > 1.01) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "Scale-up domains run at %s per GPU (domain-rate), though the NVLink of %s has %s",
                       fab_quantity_format(a, result->fabrics[0].spec.domain_bps, FAB_UNIT_RATE), gpu->name,
                       fab_quantity_format(b, gpu->nvlink_bps, FAB_UNIT_RATE));
    }
}

/* Of the microbatch and the chunks that each engine's iteration has, once where these are the same. */
static void put_memories(fab_page *page, const fab_result *result) {
    const fab_iteration *first = result->iterations;
    char a[TEXT_SIZE];
    char b[TEXT_SIZE];
    bool differ = false;
    if (result->memory.total_bytes <= 0) {
        return;
    }
    for (size_t i = 1; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        differ = differ || it->microbatch != first->microbatch || it->interleave != first->interleave;
    }
    if (result->n_iterations == 0) {
        put_memory(page, &result->memory, "");
    }
    for (size_t i = 0; i < result->n_iterations && (differ || i == 0); i++) {
        char which[TEXT_SIZE] = "";
        if (differ) {
            (void)snprintf(which, sizeof which, "[%zu] ", i + 1);
        }
        put_memory(page, &result->iterations[i].memory, which);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "Least GPUs by parameters x bytes x 1.25 / memory of one: %s of %s",
                   fab_format_count(a, result->memory.rule_gpus), fab_format_count(b, result->ranks));
    put_scale_up_rate(page, result);
}

static void put_published(fab_table *table, const char *what, size_t engine, double ours, double published,
                          const char *unit) {
    if (published <= 0 || ours <= 0) {
        return;
    }
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "[%zu] %s", engine + 1, what);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%.4g %s", ours, unit);
    fab_table_set(table, 2, FAB_INK_PLAIN, "%.4g %s", published, unit);
    fab_table_set(table, 3, FAB_INK_PLAIN, "%+.1f %%", 100 * (ours / published - 1));
}

/* Figures of a published run beside ours, where the design has them. */
static void put_beside_published(fab_page *page, const fab_result *result) {
    const fab_job_spec *job = &result->job;
    if (job->published_tflops <= 0 && job->published_pipeline_bps <= 0 && job->published_data_bps <= 0) {
        return;
    }
    fab_table table;
    fab_table_init(&table, 4);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_DIM, "beside what was published");
    fab_table_set(&table, 1, FAB_INK_DIM, "ours");
    fab_table_set(&table, 2, FAB_INK_DIM, "published");
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        put_published(&table, "per GPU", i, it->tflops_per_gpu, job->published_tflops, "TFLOP/s");
        put_published(&table, "pipeline bisection", i, it->pipeline_bisection_Bps * 1e-9,
                      job->published_pipeline_bps * 1e-9 / 8, "GB/s");
        put_published(&table, "data-parallel bisection", i, it->data_bisection_Bps * 1e-9,
                      job->published_data_bps * 1e-9 / 8, "GB/s");
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    if (job->published_pipeline_bps > 0 || job->published_data_bps > 0) {
        fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                      "bisection of a phase: bytes that cross, in one direction, the cut between the two halves of the "
                      "stages (of the replicas), over the phase's time at nominal link rates; how the published ones "
                      "were counted was not");
    }
}

void fab_text_iteration(fab_page *page, const fab_result *result) {
    if (result->n_iterations == 0 && result->iteration_note[0] == '\0') {
        return;
    }
    fab_text_heading(page, "ITERATION", NULL);
    if (result->n_iterations == 0) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "Not timed: %s.", result->iteration_note);
        put_memories(page, result);
        return;
    }
    put_parts(page, result);
    put_yield(page, result);
    put_memories(page, result);
    put_beside_published(page, result);
}
