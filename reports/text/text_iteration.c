/* Text report: seconds per iteration and what they are made of, memory, tokens and dollars. */
#include "text_sections.h"

static const char *iteration_show_part(fab_page *page, double part) {
    return part > 0 ? fab_show_percent(page, part) : "-";
}

static const char *iteration_show_1_digit(fab_page *page, double value) {
    return fab_show(page, "%.1f", value);
}

/* Full recomputation does exchanges of a forward pass once more. */
static bool repeats_exchanges(const fab_job_spec *job) {
    return job->recompute == FAB_RECOMPUTE_FULL && !job->recompute_traffic && job->tp > 1;
}

/* One row per engine: the parts add up to the time. */
static void iteration_put_parts(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("engine", text),
                                         COLUMN("time", time),
                                         SHOWN("compute", iteration_show_part),
                                         SHOWN("bubble", iteration_show_part),
                                         SHOWN("tp", iteration_show_part),
                                         SHOWN("pp", iteration_show_part),
                                         SHOWN("dp", iteration_show_part),
                                         SHOWN("TFLOP/s", iteration_show_1_digit),
                                         COLUMN("MFU", percent)};
    char room[FAB_ENGINE_SHORT_SIZE];
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        const double figures[] = {it->time_s,
                                  (it->compute_s + it->optimizer_s) / it->time_s,
                                  it->bubble_s / it->time_s,
                                  (it->exposed_tp_s + it->exposed_cp_s + it->exposed_ep_s) / it->time_s,
                                  it->exposed_pp_s / it->time_s,
                                  it->exposed_dp_s / it->time_s,
                                  it->tflops_per_gpu,
                                  it->mfu_ratio};
        fab_table_row(&table, FAB_INK_PLAIN, "", figures);
        fab_table_set(&table, 0, FAB_INK_BOLD, "[%zu] %.12s", i + 1,
                      fab_engine_short(&result->phases[0], i, false, room));
    }
    fab_table_end(&table, 2, NULL, NULL);
    FAB_ANY(repeats, i, result->n_iterations, repeats_exchanges(&fab_result_of(result, i)->job));
    fab_text_notef(page,
                   "tp (with cp, ep), pp, dp: communication that computation does not hide, x%.3g of the time in "
                   "TRAFFIC before that: networks deliver %.0f %% of their rates in measured runs%s",
                   1 / fab_compute_default.nic_ratio, 100 * fab_compute_default.nic_ratio,
                   repeats ? "; tp x1.5 once more: full recomputation repeats forward exchanges" : "");
    fab_text_legendf(page, "%s",
                     "compute: the busiest stage, optimizer included; TFLOP/s per GPU count recomputation, "
                     "MFU does not");
}

#define PLAIN_BELOW 1e15 /* what is printed with all its digits */
#define SMALL       10.0 /* below it digits behind the point are told */
#define SAME        1e-9

static const char *iteration_count(fab_page *page, double value) {
    bool is_modulo = value < PLAIN_BELOW && (value >= SMALL || value <= 0);
    return is_modulo ? fab_show_count(page, (uint64_t)(value + 0.5)) : fab_show_about(page, value);
}

static const char *iteration_days(fab_page *page, double value) {
    return fab_show(page, value < PLAIN_BELOW ? "%.1f" : "%.3g", value);
}

/* "[2] ", or nothing where there is one. */
static const char *iteration_label(fab_page *page, size_t i, bool is_one) {
    return is_one ? "" : fab_show(page, "[%zu] ", i + 1);
}

/* Of a job that does not fit, and is not asked for in spite of that, there is no price. */
static const char *iteration_price(fab_page *page, const fab_iteration *it) {
    const double owned_usd = it->owned_usd_per_1e9_tokens;
    const char *owned = owned_usd > 0 ? fab_show(page, ", %s bought and run", fab_show_price(page, owned_usd)) : "";
    return it->usd_per_1e9_tokens > 0
               ? fab_show(page, "1e9 tokens %s by GPU hours%s", fab_show_price(page, it->usd_per_1e9_tokens), owned)
               : "not priced, as the job does not fit (memory-check=off prices it)";
}

/* How much of it is chance. */
static void iteration_put_seeds(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration_seeds *s = &result->iterations[i].seeds;
        const char *which = iteration_label(page, i, result->n_iterations == 1);
        if (s->n_seeds > 0 && s->time_s.max <= s->time_s.min * (1 + SAME)) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%sthe same under all %" PRIu64 " seeds", which, s->n_seeds);
        } else if (s->n_seeds > 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                           "%s%" PRIu64 " seeds, means above: %s to %s, median %s, mean +- %s; MFU %.1f to %.1f %%",
                           which, s->n_seeds, fab_show_time(page, s->time_s.min), fab_show_time(page, s->time_s.max),
                           fab_show_time(page, s->time_s.p50), fab_show_time(page, s->time_s.ci95),
                           100 * s->mfu_ratio.min, 100 * s->mfu_ratio.max);
        }
    }
}

/* "Lossless queues add 310 ms: 3.6 % more than the 8.61 s with fair shares of the links" */
static void iteration_put_transport(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        if (it->fluid_time_s > 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                           "%sLossless queues add %s to the iteration, %.2f %% of the %s with fair shares of the links",
                           iteration_label(page, i, result->n_iterations == 1), fab_show_time(page, it->transport_s),
                           100 * it->transport_ratio, fab_show_time(page, it->fluid_time_s));
        }
    }
}

static void iteration_put_yield(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        const char *which = iteration_label(page, i, result->n_iterations == 1);
        const fab_job_spec *job = &fab_result_of(result, i)->job;
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "%s%s tokens/s, %s; microbatch %" PRIu64 ", %" PRIu64 " chunk%s per GPU", which,
                       iteration_count(page, it->tokens_per_s), iteration_price(page, it), it->microbatch,
                       it->interleave, fab_plural(it->interleave));
        if (it->training.tokens > 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                           "%s%.3g tokens: %s days, %s%s, without failures (%s days by %d T P / (n X))", which,
                           it->training.tokens, iteration_days(page, it->training.days),
                           it->training.usd > 0 ? "$" : "not priced",
                           it->training.usd > 0 ? iteration_count(page, it->training.usd) : "",
                           iteration_days(page, it->training.rule_days),
                           (job->recompute == FAB_RECOMPUTE_FULL ? 8 : 6) - (job->lora_rank > 0 ? 2 : 0));
        }
    }
}

/* What the price per token is made of. */
static void iteration_put_price(fab_page *page, const fab_result *result) {
    const fab_job_spec *job = &result->job;
    bool listed = fabs(job->gpu_hour_usd - job->accelerator.hour_usd) < 1e-9;
    if (result->n_iterations > 0) {
        fab_text_legendf(
            page,
            "Matrices in %s on %s, $%.2f an hour: %s. The job pays for %.3g %% of the network, as it has of the GPUs",
            fab_precisions[job->precision], job->accelerator.name, job->gpu_hour_usd,
            listed ? job->accelerator.price_source : "gpu-hour-usd", 100 * result->iterations[0].network_share_ratio);
    }
}

/* Tensor parallelism is made for the scale-up domain. */
static void iteration_put_tensor_network(fab_page *page, const fab_result *result) {
    FAB_EACH(const fab_phase_result, p, result->phases, result->n_phases) {
        if (strcmp(p->name, "tp") == 0 && p->network_flows > 0) {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                           "Tensor parallelism of %" PRIu64 " leaves the scale-up domains of %" PRIu64
                           ": its exchanges cross the network in every layer",
                           fab_result_of(result, fab_phase_first_engine(p))->job.tp, result->fabrics[0].spec.domain);
        }
    }
}

/* "Fullest GPU: 56.1 GB of 85.9 GB: weights 7 GB, ..." */
static void iteration_put_memory(fab_page *page, const fab_job_memory *m, const char *which) {
    fab_page_wrapf(page, m->fits ? FAB_INK_PLAIN : FAB_INK_BAD, 2, 2,
                   "%s%sFullest GPU: %s of %.4g GB: weights %s, gradients %s, optimizer %s, activations %s%s%s", which,
                   m->fits ? "" : "Does not fit: what is timed here cannot run. ", fab_show_bytes(page, m->total_bytes),
                   m->capacity_bytes * 1e-9, fab_show_bytes(page, m->weights_bytes),
                   fab_show_bytes(page, m->gradients_bytes), fab_show_bytes(page, m->optimizer_bytes),
                   fab_show_bytes(page, m->activations_bytes), m->host_bytes > 0 ? "; on the host " : "",
                   m->host_bytes > 0 ? fab_show_bytes(page, m->host_bytes) : "");
}

/* The accelerator is the job's and the rate of scale-up domains the fabric's: nobody else notices where they differ. */
static void iteration_put_scale_up_rate(fab_page *page, const fab_result *result) {
    const fab_gpu *gpu = &result->job.accelerator;
    if (gpu->scale_up_bps <= 0 || result->n_fabrics == 0 || result->fabrics[0].spec.domain < 2) {
        return;
    }
    double ratio = result->fabrics[0].spec.domain_bps / gpu->scale_up_bps;
    if (ratio < 0.99 || ratio > 1.01) {
        fab_page_wrapf(
            page, FAB_INK_BAD, 2, 2, "Scale-up domains run at %s per GPU (domain-rate), though the NVLink of %s has %s",
            fab_show_rate(page, result->fabrics[0].spec.domain_bps), gpu->name, fab_show_rate(page, gpu->scale_up_bps));
    }
}

/* Of the microbatch and the chunks that each engine's iteration has, once where these are the same. */
static void iteration_put_memories(fab_page *page, const fab_result *result) {
    const fab_iteration *first = result->iterations;
    bool differ = false;
    if (result->memory.total_bytes <= 0) {
        return;
    }
    for (size_t i = 1; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        differ = differ || result->of_engine[i] != result->of_engine[0] || it->microbatch != first->microbatch ||
                 it->interleave != first->interleave;
    }
    if (result->n_iterations == 0) {
        iteration_put_memory(page, &result->memory, "");
    }
    for (size_t i = 0; i < result->n_iterations && (differ || i == 0); i++) {
        iteration_put_memory(page, &result->iterations[i].memory, iteration_label(page, i, !differ));
    }
    fab_text_legendf(page, "Least GPUs by parameters x bytes x 1.25 / memory of one: %s of %s",
                     fab_show_count(page, result->memory.rule_gpus), fab_show_count(page, result->ranks));
    iteration_put_price(page, result);
    iteration_put_tensor_network(page, result);
    iteration_put_scale_up_rate(page, result);
}

static void iteration_put_figure(fab_table *table, const char *what, size_t engine, double ours, double published,
                                 const char *unit) {
    if (published <= 0 || ours <= 0) {
        return;
    }
    fab_table_row(table, FAB_INK_PLAIN, fab_show(table->page, "[%zu] %s", engine + 1, what), NULL);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%.4g %s", ours, unit);
    fab_table_set(table, 2, FAB_INK_PLAIN, "%.4g %s", published, unit);
    fab_table_put(table, 3, FAB_INK_PLAIN, fab_show_change(table->page, ours / published - 1));
}

/* Figures of a published run beside ours, where the design has them. */
static void iteration_put_published(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("beside what was published", text), COLUMN("ours", text),
                                         COLUMN("published", text), COLUMN("", text)};
    const fab_job_spec *job = &result->job;
    if (job->published_tflops <= 0 && job->published_pipeline_bps <= 0 && job->published_data_bps <= 0) {
        return;
    }
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_iteration *it = &result->iterations[i];
        iteration_put_figure(&table, "per GPU", i, it->tflops_per_gpu, job->published_tflops, "TFLOP/s");
        iteration_put_figure(&table, "pipeline bisection", i, it->pipeline_bisection_bytes_per_s * 1e-9,
                             job->published_pipeline_bps * 1e-9 / 8, "GB/s");
        iteration_put_figure(&table, "data-parallel bisection", i, it->data_bisection_bytes_per_s * 1e-9,
                             job->published_data_bps * 1e-9 / 8, "GB/s");
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (job->published_pipeline_bps > 0 || job->published_data_bps > 0) {
        fab_text_legendf(page, "%s",
                         "bisection of a phase: bytes that cross, in one direction, the cut between the two halves "
                         "of the stages (of the replicas), over the phase's time at nominal link rates; how the "
                         "published ones were counted was not");
    }
}

/* --- schedule ----------------------------------------------------------------------------------------------------- */

/* What a column of the drawing may show. The part of exchanges in a pass is told from its computation. */
enum { SHOWS_EXCHANGE = FAB_OP_N, SHOWS_IDLE, N_SHOWN };

static const struct {
    char letter;
    const char *name; /* NULL: the same as one before */
    fab_ink ink;
} SHOWN_AS[N_SHOWN] = {
    [FAB_OP_FORWARD] = {'F', "forward", FAB_INK_BAR},  [FAB_OP_BACKWARD] = {'B', "backward", FAB_INK_BAR},
    [FAB_OP_WEIGHTS] = {'W', "weights", FAB_INK_BAR},  [FAB_OP_OPTIMIZER] = {'O', "optimizer", FAB_INK_BAR},
    [SHOWS_EXCHANGE] = {'x', "exchange", FAB_INK_BAD}, [FAB_OP_SEND_FORWARD] = {'s', "send", FAB_INK_BAD},
    [FAB_OP_SEND_BACKWARD] = {'s', NULL, FAB_INK_BAD}, [FAB_OP_GATHER] = {'g', "gather", FAB_INK_BAD},
    [FAB_OP_REDUCE] = {'r', "reduce", FAB_INK_BAD},    [SHOWS_IDLE] = {'.', "idle", FAB_INK_DIM},
};

#define MARGIN 12 /* for the names of rows */

typedef struct drawing {
    const fab_schedule *schedule;
    size_t n_columns;
    double column_s;
    bool seen[N_SHOWN];
} drawing;

/* Seconds of [start, end) in a column. */
static double overlap_s(const drawing *d, size_t column, double start_s, double end_s) {
    return fmax(fmin(end_s, (double)(column + 1) * d->column_s) - fmax(start_s, (double)column * d->column_s), 0);
}

static size_t column_at(const drawing *d, double s) {
    size_t column = (size_t)(s / d->column_s);
    return column < d->n_columns ? column : d->n_columns - 1;
}

static void add_span(const drawing *d, const fab_span *span, double (*share)[N_SHOWN]) {
    for (size_t c = column_at(d, span->start_s); c <= column_at(d, span->end_s); c++) {
        double s = overlap_s(d, c, span->start_s, span->end_s);
        bool computes = span->compute_ratio + span->exchange_ratio > 0;
        if (computes) {
            share[c][span->doing] += s * span->compute_ratio;
            share[c][SHOWS_EXCHANGE] += s * span->exchange_ratio;
            share[c][SHOWS_IDLE] += s * (1 - span->compute_ratio - span->exchange_ratio);
        } else {
            share[c][span->doing == FAB_OP_N ? (uint32_t)SHOWS_IDLE : span->doing] += s;
        }
    }
}

/* Letters in the proportions of time: of what happens in a column, that which was shown too little so far. */
static void put_stage(fab_page *page, drawing *d, uint32_t stage, const char *name) {
    double share[FAB_TEXT_MAX_WIDTH][N_SHOWN] = {{0}};
    double owed[N_SHOWN] = {0};
    for (size_t i = 0; i < d->schedule->n_spans; i++) {
        if (d->schedule->span[i].stage == stage) {
            add_span(d, &d->schedule->span[i], share);
        }
    }
    fab_page_printf(page, FAB_INK_PLAIN, "  %s", name);
    fab_page_to(page, MARGIN);
    for (size_t c = 0; c < d->n_columns; c++) {
        size_t most = SHOWS_IDLE;
        double most_s = -INFINITY;
        for (size_t k = 0; k < N_SHOWN; k++) {
            owed[k] += share[c][k];
            if (share[c][k] > 1e-9 * d->column_s && owed[k] > most_s) {
                most = k;
                most_s = owed[k];
            }
        }
        owed[most] -= d->column_s;
        d->seen[most] = true;
        fab_page_printf(page, SHOWN_AS[most].ink, "%c", SHOWN_AS[most].letter);
    }
    fab_page_end_line(page);
}

static void put_power(fab_page *page, const drawing *d) {
    const fab_schedule *s = d->schedule;
    double energy_j[FAB_TEXT_MAX_WIDTH] = {0};
    for (size_t i = 0; i < s->n_points; i++) {
        double end_s = i + 1 < s->n_points ? s->profile[i + 1].start_s : s->timeline.time_s;
        for (size_t c = column_at(d, s->profile[i].start_s); c <= column_at(d, end_s); c++) {
            energy_j[c] += s->profile[i].power_w * overlap_s(d, c, s->profile[i].start_s, end_s);
        }
    }
    fab_page_put(page, FAB_INK_PLAIN, "  power");
    fab_page_to(page, MARGIN);
    for (size_t c = 0; c < d->n_columns; c++) {
        fab_page_column_bar(page, FAB_INK_BAR, energy_j[c], s->power.peak_w * d->column_s);
    }
    fab_page_end_line(page);
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "Power: %s at most, %s on average, %s at least, steps up to %s; %s while all GPUs wait for a "
                   "checkpoint or a restart",
                   fab_show_power(page, s->power.peak_w), fab_show_power(page, s->power.mean_w),
                   fab_show_power(page, s->power.min_w), fab_show_power(page, s->power.step_w),
                   fab_show_power(page, s->power.idle_w));
}

static void put_legend(fab_page *page, const drawing *d) {
    bool sends = d->seen[FAB_OP_SEND_FORWARD] || d->seen[FAB_OP_SEND_BACKWARD];
    const char *between = "";
    for (size_t k = 0; k < N_SHOWN; k++) {
        bool seen = k == FAB_OP_SEND_FORWARD ? sends : d->seen[k];
        if (seen && SHOWN_AS[k].name != NULL) {
            fab_page_say(page, "%s%c %s", between, SHOWN_AS[k].letter, SHOWN_AS[k].name);
            between = ", ";
        }
    }
    fab_page_paragraph(page, FAB_INK_DIM, 2, 2);
}

static void iteration_put_schedule(fab_page *page, const fab_result *result) {
    const fab_iteration *it = &result->iterations[0];
    const fab_schedule *s = it->schedule;
    if (s == NULL) {
        if (it->schedule_note[0] != '\0') {
            fab_text_notef(page, "Not drawn: %s.", it->schedule_note);
        }
        return;
    }
    size_t n_columns = page->width - MARGIN;
    drawing d = {.schedule = s, .n_columns = n_columns, .column_s = s->timeline.time_s / (double)n_columns};
    const uint32_t n_stages = s->pipeline.n_stages;
    const uint32_t rows[] = {0, s->timeline.busiest, n_stages - 1};
    const char *means = it->seeds.n_seeds > 0 ? fab_show(page, "; %s with the mean times of the phases",
                                                         fab_show_time(page, s->timeline.time_s))
                                              : "";
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s%s, %u microbatches, %s a letter; %s%s",
                   result->n_iterations > 1 ? "[1] " : "", fab_pipeline_orders[s->pipeline.order],
                   s->pipeline.n_microbatches, fab_show_time(page, d.column_s),
                   n_stages > 1 ? fab_show(page, "first, busiest, last of %u stages", n_stages) : "one stage", means);
    for (size_t i = 0; i < FAB_N_OF(rows); i++) {
        if (i == 0 || rows[i] != rows[i - 1]) {
            put_stage(page, &d, rows[i], fab_show(page, "stage %u", rows[i]));
        }
    }
    put_legend(page, &d);
    if (s->n_points > 0) {
        put_power(page, &d);
    }
}

static const char *show_engine(fab_page *page, const fab_result *result, size_t engine) {
    char room[FAB_ENGINE_SHORT_SIZE];
    return fab_show(page, "%.20s", fab_engine_short(&result->phases[0], engine, false, room));
}

/* Time to first token and time per token, and what is the network's of them. */
static void put_serving(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("engine", text),          COLUMN("first token", time),
                                         COLUMN("network", time),         COLUMN("per token", time),
                                         COLUMN("network", time),         COLUMN("tokens/s", integer),
                                         COLUMN("$/1e6 tokens", 3_digits)};
    if (result->n_serving == 0) {
        return;
    }
    fab_text_heading(page, "SERVING", "alone, then with requests at random");
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_serving; i++) {
        const fab_serving *s = &result->serving[i];
        const double figures[] = {
            s->first_token_s, s->first_token_network_s,
            s->token_s,       s->token_network_s,
            s->tokens_per_s,  s->usd_per_1e6_tokens > 0 ? s->usd_per_1e6_tokens : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, show_engine(page, result, i), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "First token: a microbatch of prompts through all stages; per token: one more of all sequences of a "
                   "replica, of which reading weights takes %s and keys and values %s; network: exchanges and hops of "
                   "either. Kernels on a roofline, as of training: no launches, no sampling, no host.",
                   fab_show_time(page, result->serving[0].weights_s), fab_show_time(page, result->serving[0].cache_s));
}

/* Percentiles under a Poisson load. */
static void put_waits(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("engine", text),         COLUMN("at most", 3_digits),
                                         COLUMN("requests/s", 3_digits), COLUMN("first p50", time),
                                         COLUMN("first p99", time),      COLUMN("token p50", time),
                                         COLUMN("token p99", time)};
    if (result->n_serving == 0) {
        return;
    }
    const fab_serving *first = &result->serving[0];
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_serving; i++) {
        const fab_serving *s = &result->serving[i];
        const bool waits = s->arrivals_per_s > 0;
        const double figures[] = {s->most_requests_per_s,
                                  waits ? s->arrivals_per_s : FAB_TABLE_BLANK,
                                  waits ? s->first_token_p50_s : FAB_TABLE_BLANK,
                                  waits ? s->first_token_p99_s : FAB_TABLE_BLANK,
                                  waits ? s->token_p50_s : FAB_TABLE_BLANK,
                                  waits ? s->token_p99_s : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, show_engine(page, result, i), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (first->arrivals_per_s <= 0) {
        fab_text_notef(page, "%.4g requests/s are not below the most that can be served: who waits, waits ever longer.",
                       result->job.request_rate);
    }
    if (first->load_ratio > FAB_SERVING_HIGH) {
        fab_text_notef(page,
                       "At %.1f %% of the most that can be served these percentiles are those of the %s simulated, and "
                       "still grow with a longer window: a queue so full settles late.",
                       100 * first->load_ratio, fab_show_time(page, first->window_s));
    }
    fab_text_notef(page,
                   "Requests arrive at random (Poisson%s) and join the batch between two passes, prompts before "
                   "tokens; all are equally long.%s%s%s",
                   result->job.request_rate > 0 ? "" : ", 0.7 of the most; request-rate says another number",
                   first->all_reduce_s > 0 ? fab_show(page, " One all-reduce of a token takes %s.",
                                                      fab_show_time(page, first->all_reduce_s))
                                           : "",
                   first->kv_transfer_s > 0 ? " Keys and values reach the replicas that generate in " : "",
                   first->kv_transfer_s > 0 ? fab_show(page, "%s.", fab_show_time(page, first->kv_transfer_s)) : "");
}

static void put_ranking(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("engine", text),       COLUMN("batch", time),
                                         COLUMN("lookups", time),      COLUMN("dense", time),
                                         COLUMN("exchange", time),     COLUMN("reduction", time),
                                         COLUMN("samples/s", integer), COLUMN("$/1e6 samples", 3_digits)};
    if (result->n_ranking == 0) {
        return;
    }
    fab_text_heading(page, "RANKING", "one batch");
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_ranking; i++) {
        const fab_ranking_batch *r = &result->ranking[i];
        const double figures[] = {r->batch_s,
                                  r->lookup_s,
                                  r->dense_s,
                                  r->exchange_s,
                                  r->reduction_s,
                                  r->samples_per_s,
                                  r->usd_per_1e6_samples > 0 ? r->usd_per_1e6_samples : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, show_engine(page, result, i), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "One part after the other, but for what dp-overlap hides; lookups of the GPU with most of them "
                   "(%.3g of the mean); dense parameters as square layers of 1,024.%s",
                   result->job.lookup_peak,
                   result->job.table_group < result->job.dp
                       ? " Each table-group holds all tables: what groups tell each other of them is left out."
                       : "");
}

void fab_text_iteration(fab_page *page, const fab_result *result) {
    put_serving(page, result);
    put_waits(page, result);
    put_ranking(page, result);
    if (result->n_iterations == 0 && result->iteration_note[0] == '\0') {
        return;
    }
    fab_text_heading(page, "ITERATION", NULL);
    if (result->n_iterations == 0) {
        fab_text_notef(page, "Not timed: %s.", result->iteration_note);
        iteration_put_memories(page, result);
        return;
    }
    bool fits = result->iterations[0].memory.fits;
    if (!fits) { /* first of all */
        iteration_put_memories(page, result);
    }
    iteration_put_parts(page, result);
    iteration_put_seeds(page, result);
    iteration_put_transport(page, result);
    iteration_put_yield(page, result);
    iteration_put_schedule(page, result);
    if (fits) {
        iteration_put_memories(page, result);
    }
    iteration_put_published(page, result);
}
