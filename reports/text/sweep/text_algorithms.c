/* Text report: one collective by several algorithms, over the points of a sweep. */
#include "text/text_sections.h"

/* Parts of an algorithm's time. */
enum { LATENCY, ROUTING, BYTES, N_PARTS };

static const char *const PART[] = {[LATENCY] = "steps, messages and their latency",
                                   [ROUTING] = "lost by the routing, which collisions are most of",
                                   [BYTES] = "bytes that no routing carries faster"};

static const fab_algorithm_time *algorithms_at(const fab_sweep_point *p, size_t a, size_t e) {
    return &p->algorithms[a].times[e];
}

static bool algorithms_are_known(const fab_sweep_point *p, size_t e) {
    bool known = p->is_built && e < p->n_engines && p->n_algorithms > 1;
    for (size_t a = 0; known && a < p->n_algorithms; a++) {
        known = algorithms_at(p, a, e)->has_time;
    }
    return known;
}

static size_t algorithms_fastest(const fab_sweep_point *p, size_t e) {
    size_t best = 0;
    for (size_t a = 1; a < p->n_algorithms; a++) {
        best = algorithms_at(p, a, e)->time_s < algorithms_at(p, best, e)->time_s ? a : best;
    }
    return best;
}

static bool algorithms_wins(const fab_sweep_point *p, size_t a, size_t e) {
    return algorithms_are_known(p, e) && algorithms_fastest(p, e) == a;
}

static void algorithms_split(const fab_algorithm_time *t, double out[N_PARTS]) {
    out[LATENCY] = t->latency_s;
    out[ROUTING] = t->routing_s;
    out[BYTES] = t->time_s - t->latency_s - t->routing_s;
}

/* Where one algorithm is fastest, and why it is not where it does worst. */
static void algorithms_put_one(fab_page *page, const fab_sweep *s, size_t a, size_t e) {
    const fab_sweep_point *worst = NULL;
    const char *name = fab_text_first_built(s)->algorithms[a].name;
    const char *wins = NULL;
    size_t n_wins = 0; /* points in a row, up to here */
    double most = 1;
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        bool is_known = algorithms_are_known(p, e) && a < p->n_algorithms;
        size_t best = is_known ? algorithms_fastest(p, e) : 0;
        double ratio = is_known ? algorithms_at(p, a, e)->time_s / algorithms_at(p, best, e)->time_s : 0;
        n_wins = is_known && a == best ? n_wins + 1 : 0;
        if (n_wins == 1) {
            wins = fab_show(page, "%s%s%s", wins != NULL ? wins : "", wins != NULL ? ", " : "",
                            fab_text_sweep_point(page, s, p));
        }
        if (n_wins > 1 && (i + 1 == s->n_points || !algorithms_wins(&s->points[i + 1], a, e))) {
            wins = fab_show(page, "%s to %s", wins, fab_text_sweep_point(page, s, p));
        }
        if (ratio > most) {
            most = ratio;
            worst = p;
        }
    }
    fab_page_say(page, "%s ", name);
    if (wins != NULL) {
        fab_page_say(page, "is fastest at %s", wins);
    } else {
        fab_page_say(page, "is never fastest");
    }
    if (worst != NULL) {
        double mine[N_PARTS];
        double its[N_PARTS];
        size_t part = 0;
        size_t best = algorithms_fastest(worst, e);
        const fab_algorithm_time *t = algorithms_at(worst, a, e);
        algorithms_split(t, mine);
        algorithms_split(algorithms_at(worst, best, e), its);
        for (size_t k = 1; k < N_PARTS; k++) {
            part = mine[k] - its[k] > mine[part] - its[part] ? k : part;
        }
        fab_page_say(page, "; at %s it takes x%.3g of %s: of %s, %s are %s", fab_text_sweep_point(page, s, worst), most,
                     worst->algorithms[best].name, fab_show_time(page, t->time_s), fab_show_time(page, mine[part]),
                     PART[part]);
        if (part == ROUTING && t->most_factor > FAB_FULL_LOAD) {
            fab_page_say(page,
                         t->most_factor > t->least_factor * 1.005 ? " (links x%.2f to x%.2f overfull)"
                                                                  : " (links x%.2f overfull)",
                         t->least_factor, t->most_factor);
        }
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
}

static bool algorithms_have_hosts(const fab_sweep *s, size_t e) {
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        for (size_t a = 0; p->is_built && e < p->n_engines && a < p->n_algorithms; a++) {
            if (algorithms_at(p, a, e)->host_s > 0) {
                return true;
            }
        }
    }
    return false;
}

void fab_text_algorithms(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_sweep_point *first = fab_text_first_built(s);
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN(fab_text_sweep_paths(page, s), text)};
    size_t n = first->n_algorithms < FAB_TABLE_COLUMNS ? first->n_algorithms : FAB_TABLE_COLUMNS - 1;
    fab_text_heading(page, "BY ALGORITHM", first->engines[e].label);
    for (size_t a = 0; a < n; a++) {
        columns[a + 1].heading = first->algorithms[a].name;
    }
    fab_table table = fab_table_of(page, columns, n + 1);
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (!p->is_built || e >= p->n_engines) {
            continue;
        }
        bool known = algorithms_are_known(p, e);
        size_t best = known ? algorithms_fastest(p, e) : 0;
        fab_table_row(&table, FAB_INK_PLAIN, fab_text_sweep_point(page, s, p), NULL);
        for (size_t a = 0; a < n && a < p->n_algorithms; a++) {
            const fab_algorithm_time *t = algorithms_at(p, a, e);
            fab_table_set(&table, a + 1, known && a == best ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s%s",
                          t->has_time ? fab_show_time(page, t->time_s) : "-",
                          known ? fab_show(page, " x%.2f", t->time_s / algorithms_at(p, best, e)->time_s) : "");
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    for (size_t a = 0; a < n; a++) {
        algorithms_put_one(page, s, a, e);
    }
    if (!algorithms_have_hosts(s, e)) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "The software of hosts takes no time here, which favours many small messages: below some MB the "
                       "order may be another. --set host=NAME has what was measured (list fields host).");
    }
    fab_text_note(page, "steps one after the other, their latency included; x: against the fastest of the row");
}
