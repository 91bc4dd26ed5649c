/* Text report: what a sweep comes to, in a sentence for each engine, before the points. */
#include "text_sections.h"

#include <math.h>
#include <string.h>

#define SAME 5e-4 /* part of a time by which points differ */

/* "taper=2, gpus=512"; of placements the value alone. */
static const char *answer_point(fab_page *page, const fab_sweep *s, const fab_sweep_point *p) {
    const char *first = fab_show(page, "%.60s%s%.60s", s->compares_placements ? "" : s->path[0],
                                 s->compares_placements ? "" : "=", p->value[0]);
    return s->n_paths > 1 ? fab_show(page, "%.60s, %.30s=%.30s", first, s->path[1], p->value[1]) : first;
}

/* Seconds, or tokens per second of a job that trains: of points with unlike iterations only these compare. */
static const char *answer_speed(fab_page *page, const fab_sweep_engine *e) {
    const char *time = fab_show_time(page, e->time_s);
    return e->has_iteration
               ? fab_show(page, "%s, %s tokens/s", time, fab_show_whole(page, e->iteration.tokens_per_s + 0.5))
               : time;
}

static double answer_price(const fab_sweep_engine *e) {
    return e->has_iteration && e->iteration.usd_per_1e9_tokens > 0 ? e->iteration.usd_per_1e9_tokens : INFINITY;
}

/* Fastest, slowest, and fewest dollars per token; NULL where no point has such a figure. */
typedef struct extremes {
    const fab_sweep_point *fastest, *slowest, *cheapest;
    double most_usd; /* per 1e9 tokens, of any point */
    size_t n;
} extremes;

static extremes answer_find(const fab_sweep *s, size_t e) {
    extremes x = {.n = 0};
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        if (e >= p->n_engines || !p->engines[e].has_time) {
            continue;
        }
        const fab_sweep_engine *q = &p->engines[e];
        x.n++;
        x.fastest = x.fastest == NULL || q->compared_s < x.fastest->engines[e].compared_s ? p : x.fastest;
        x.slowest = x.slowest == NULL || q->compared_s > x.slowest->engines[e].compared_s ? p : x.slowest;
        x.most_usd = answer_price(q) < INFINITY ? fmax(x.most_usd, answer_price(q)) : x.most_usd;
        bool is_cheaper = x.cheapest == NULL || answer_price(q) < answer_price(&x.cheapest->engines[e]);
        x.cheapest = answer_price(q) < INFINITY && is_cheaper ? p : x.cheapest;
    }
    return x;
}

static void answer_put_engine(fab_page *page, const fab_sweep *s, size_t e, const char *label) {
    const extremes x = answer_find(s, e);
    if (x.n < 2) {
        return;
    }
    const fab_sweep_engine *fast = &x.fastest->engines[e];
    double margin = x.slowest->engines[e].compared_s / fast->compared_s;
    const fab_sweep_engine *slow = &x.slowest->engines[e];
    bool is_one_draw = (fast->is_drawn && fast->n_seeds == 1) || (slow->is_drawn && slow->n_seeds == 1);
    fab_page_say(page, "Under %.*s%s ", (int)strcspn(label, ","), label, is_one_draw ? ", by one draw," : "");
    if (margin < 1 + SAME) {
        fab_page_say(page, "all %zu %s take the same, %s", x.n, s->compares_placements ? "named placements" : "points",
                     answer_speed(page, fast));
    } else {
        fab_page_say(page, "%s is fastest: %s; %s is slowest: x%.3f as long%s", answer_point(page, s, x.fastest),
                     answer_speed(page, fast), answer_point(page, s, x.slowest), margin,
                     fast->has_iteration ? " per token" : "");
    }
    if (x.cheapest != NULL && !s->compares_placements &&
        x.most_usd > answer_price(&x.cheapest->engines[e]) * (1 + SAME)) {
        fab_page_say(page, "; %s has the fewest dollars: $%s per 1e9 tokens", answer_point(page, s, x.cheapest),
                     fab_show_whole(page, answer_price(&x.cheapest->engines[e]) + 0.5));
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
}

/* The job, which a plan or the number of GPUs may make another one elsewhere; the placement behind it is a knob. */
static void answer_put_job(fab_page *page, const fab_sweep *s, const fab_sweep_point *first) {
    bool is_same = true;
    size_t n = strcspn(first->traffic, ";");
    for (size_t i = 0; i < s->n_points; i++) {
        const char *traffic = s->points[i].traffic;
        is_same = is_same &&
                  (!s->points[i].is_built || (strcspn(traffic, ";") == n && strncmp(traffic, first->traffic, n) == 0));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s: %zu points, %zu built; %s%s%s", fab_text_sweep_paths(page, s),
                   s->n_points, s->n_built,
                   is_same ? "" : fab_show(page, "at %s: ", fab_text_sweep_point(page, s, first)), first->traffic,
                   is_same ? "" : "; other points run it otherwise");
}

void fab_text_sweep_answer(fab_page *page, const fab_sweep *s, const fab_sweep_point *first) {
    for (size_t e = 0; e < first->n_engines; e++) {
        answer_put_engine(page, s, e, first->engines[e].label);
    }
    answer_put_job(page, s, first);
}
