/* Text report: what pipeline stages do when, a letter for a piece of time, and the power over it. */
#include "text_sections.h"

#include <math.h>
#include <string.h>

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
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 2,
        "Power: %s at most, %s on average, %s at least, steps up to %s; %s while all GPUs wait for a checkpoint "
        "or a restart",
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

void fab_text_schedule(fab_page *page, const fab_result *result) {
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (i == 0 || rows[i] != rows[i - 1]) {
            put_stage(page, &d, rows[i], fab_show(page, "stage %u", rows[i]));
        }
    }
    put_legend(page, &d);
    if (s->n_points > 0) {
        put_power(page, &d);
    }
}
