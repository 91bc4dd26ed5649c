/* What is seen: figures above, the list, the selected row in words, and what can be done. */
#include "top_app.h"

#define ABOVE 8 /* lines above the rows, and below */
#define BELOW 2

static const char *const HELP[] = {
    "up, down, PgUp, PgDn, Home, End   select a row",
    "Enter, right                      open it: phase > links by load > flows on one",
    "Esc, left, Backspace              back",
    "Tab                               phases / switches, servers, NICs / broken",
    "o                                 the next order of the rows",
    "/ text, n                         find a row by its name, and the next one",
    "",
    "k                                 kill the cable, switch or server of the row;",
    "                                  of a flow the server that it comes from",
    "s                                 slow it to a fraction of its speed",
    "r, R                              repair it, repair everything",
    "b                                 break by name: leaf-3, nic-7*0.5, plane-1,",
    "                                  rack-2, 'leaf-0:17 > spine-0:1' (run --fail)",
    "u                                 undo the last change",
    "p                                 the next policy for ranks of lost servers",
    "e, d                              the next engine, the next draw (seed)",
    "",
    "q                                 quit, and print the command of this state",
};

/* On one line: what does not fit is left out, and two dots tell it. */
static void put(fab_page *page, fab_ink ink, const char *text) {
    const size_t left = page->width - page->used;
    const bool is_cut = left > 2 && fab_text_columns(text) > left;
    fab_page_printf(page, ink, "%.*s%s", (int)top_bytes_of(text, is_cut ? left - 2 : left), text, is_cut ? ".." : "");
}

/* What the figures leave out: replicas that are lost, phases that are too large. */
static void draw_left(const top_model *m, fab_page *page) {
    const fab_failed_serving *s = &m->answer->engines[0].policies[0].serving;
    if (s->n_left < s->n) {
        put(page, FAB_INK_BAD,
            fab_show(page, "   %s of %s left", fab_show_count(page, s->n_left),
                     fab_show_counted(page, s->n, "replica", "replicas")));
    }
    if (m->answer->n_left_out > 0) {
        put(page, FAB_INK_BAD,
            fab_show(page, "   without %s of too many paths",
                     fab_show_counted(page, m->answer->n_left_out, "phase", "phases")));
    }
}

static void draw_time(const top_model *m, fab_page *page) {
    const fab_failed_state *now = top_model_state(m);
    const fab_failed_state *was = top_model_healthy(m);
    const bool timed = isfinite(now->time_s) && was->time_s > 0;
    if (!top_model_is_known(m)) {
        put(page, FAB_INK_BAD, fab_show(page, "not known: %.110s", top_model_note(m)));
        fab_page_end_line(page);
        return;
    }
    put(page, FAB_INK_PLAIN, m->answer->iterates ? "iteration " : "all phases ");
    put(page, timed ? top_ink(now->time_s, was->time_s, FAB_INK_BOLD) : FAB_INK_BAD,
        timed                   ? fab_show_time(page, now->time_s)
        : isfinite(was->time_s) ? "none: the job stops"
                                : "not known");
    if (isfinite(was->time_s)) {
        put(page, FAB_INK_PLAIN, fab_show(page, "   healthy %s", fab_show_time(page, was->time_s)));
    }
    if (timed) {
        put(page, top_ink(now->time_s, was->time_s, FAB_INK_BOLD),
            fab_show(page, "   %s", fab_show_factor(page, now->time_s / was->time_s)));
    }
    draw_left(m, page);
    fab_page_end_line(page);
}

static void draw_sums(const top_model *m, fab_page *page) {
    const fab_failed_phase *now = &top_model_state(m)->sum;
    const fab_failed_phase *was = &top_model_healthy(m)->sum;
    put(page, FAB_INK_PLAIN, "collisions ");
    put(page, top_ink(now->n_collisions, was->n_collisions, FAB_INK_BOLD), fab_show_count(page, now->n_collisions));
    put(page, FAB_INK_PLAIN, fab_show(page, " (%s)", fab_show_count(page, was->n_collisions)));
    put(page, FAB_INK_PLAIN, "   cut flows ");
    put(page, now->n_disconnected > 0 ? FAB_INK_BAD : FAB_INK_BOLD, fab_show_count(page, now->n_disconnected));
    put(page, FAB_INK_PLAIN, "   fullest ");
    put(page, top_ink(now->worst_ratio, was->worst_ratio, FAB_INK_BOLD), fab_show_factor(page, now->worst_ratio));
    put(page, FAB_INK_PLAIN, fab_show(page, " (%s) ", fab_show_factor(page, was->worst_ratio)));
    put(page, FAB_INK_DIM, now->worst_link);
    fab_page_end_line(page);
}

static void draw_broken(const top_model *m, fab_page *page) {
    const fab_failures *f = m->answer;
    fab_str text = FAB_STR_INIT;
    fab_str_add(&text, m->now.n == 0 ? "nothing is broken" : "broken ");
    for (size_t i = 0; i < f->n_failed && text.length < FAB_TEXT_MAX_WIDTH; i++) {
        fab_str_printf(&text, "%s%s", i > 0 ? ", " : "", f->failed[i]);
    }
    for (size_t i = 0; i < f->n_lost; i++) {
        fab_str_printf(&text, "%s%s (rank%s %s)", i > 0 ? ", " : "   lost ", f->lost[i].name,
                       fab_plural(f->lost[i].n_ranks), f->lost[i].ranks);
    }
    put(page, m->now.n == 0 ? FAB_INK_DIM : FAB_INK_PLAIN, text.data != NULL ? text.data : "");
    fab_str_release(&text);
    fab_page_end_line(page);
}

static void draw_above(const top_app *a, const top_view *v, fab_page *page) {
    const top_model *m = &a->model;
    char title[FAB_LINK_NAME_SIZE + 64];
    put(page, FAB_INK_BOLD, m->options->operands.items[0]);
    if (page->used + 18 < page->width) {
        fab_page_right(page, FAB_INK_DIM, page->width, "? help  q quit");
    }
    fab_page_end_line(page);
    put(page, FAB_INK_PLAIN,
        fab_show(page, "%.60s, seed %" PRIu64 ", policy %s", top_model_engine_name(m), m->now.seed,
                 fab_policies[m->now.policy]));
    fab_page_end_line(page);
    draw_time(m, page);
    if (top_model_is_known(m)) {
        draw_sums(m, page);
    } else {
        fab_page_end_line(page);
    }
    draw_broken(m, page);
    fab_page_end_line(page);
    put(page, FAB_INK_BOLD, top_view_title(m, v, title));
    put(page, FAB_INK_DIM,
        fab_show(page, "   %s, %s of %s", top_view_order_name(v), fab_show_count(page, v->n > 0 ? v->row + 1 : 0),
                 fab_show_count(page, v->n)));
    fab_page_end_line(page);
    top_view_headings(v, page);
}

static void draw_last(const top_app *a, fab_page *page) {
    if (a->asks != 0) {
        put(page, FAB_INK_BOLD, a->asks == '/' ? "find: " : a->asks == 's' ? "slow to: " : "break: ");
        put(page, FAB_INK_PLAIN, a->input);
        put(page, FAB_INK_BOLD, "_");
    } else if (a->message[0] != '\0') {
        put(page, a->is_bad ? FAB_INK_BAD : FAB_INK_PLAIN, a->message);
    } else {
        put(page, FAB_INK_DIM, "Enter open  Esc back  Tab parts  k kill  s slow  r repair  u undo  ? help");
    }
    fab_page_end_line(page);
}

size_t top_app_draw(top_app *a, size_t height, fab_page *page) {
    top_view *v = top_app_shown(a);
    if (a->help) {
        for (size_t i = 0; i < FAB_N_OF(HELP) && i < height; i++) {
            put(page, FAB_INK_PLAIN, HELP[i]);
            fab_page_end_line(page);
        }
        return SIZE_MAX;
    }
    if (height < ABOVE + BELOW + 1) {
        put(page, FAB_INK_BAD, "too few lines: 11 are needed");
        fab_page_end_line(page);
        return SIZE_MAX;
    }
    a->rows = height - ABOVE - BELOW;
    v->top = v->row < v->top ? v->row : v->row >= v->top + a->rows ? v->row - a->rows + 1 : v->top;
    draw_above(a, v, page);
    for (size_t i = 0; i < a->rows; i++) {
        if (v->top + i < v->n) {
            top_view_row(&a->model, v, v->top + i, page);
        } else {
            fab_page_end_line(page);
        }
    }
    top_view_detail(&a->model, v, page);
    draw_last(a, page);
    return v->n > 0 ? ABOVE + v->row - v->top : SIZE_MAX;
}
