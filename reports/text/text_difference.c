/* Text report: two states side by side. The answer is the first line. */
#include "fab/difference.h"
#include "text_sections.h"

#define LINKS_SHOWN  3
#define FLOWS_SHOWN  4 /* on a link */
#define CABLES_SHOWN 10

static void put_answer(fab_page *page, const fab_difference *d) {
    fab_ink ink = d->stopped != NULL || d->is_beyond ? FAB_INK_BAD : FAB_INK_BOLD;
    fab_page_wrapf(page, ink, 0, 2, "%s.", d->verdict);
    if (d->cause != NULL) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s%s.", d->is_verified ? "Cause, verified: " : "", d->cause);
    }
    if (d->tolerance > 0) {
        fab_page_wrapf(page, d->is_beyond ? FAB_INK_BAD : FAB_INK_GOOD, 2, 2, "%s the tolerance of x%.3f.",
                       d->is_beyond ? "Beyond"
                       : d->is_open ? "Not told apart, and so not beyond"
                                    : "Within",
                       d->tolerance);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 4, "before: %s", d->before);
    fab_page_wrapf(page, FAB_INK_DIM, 2, 4, "after:  %s", d->after);
    if (d->keeps_plan) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 4,
                       "Both run the plan that is fastest before; compare gives each its own: --job %s", d->plan);
    }
}

/* How many, before they are listed. */
static void put_cables(fab_page *page, const fab_difference *d) {
    if (d->gone_cables + d->new_cables + d->other_cables < 2) {
        return;
    }
    const struct {
        uint64_t n;
        const char *how;
    } parts[] = {{d->gone_cables, "gone"}, {d->new_cables, "new"}, {d->other_cables, "elsewhere or of another rate"}};
    const char *comma = "Cables: ";
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].n > 0) {
            fab_page_say(page, "%s%s %s", comma, fab_show_count(page, parts[i].n), parts[i].how);
            comma = ", ";
        }
    }
    if (d->most_cables > 1) {
        fab_page_say(page, "; most at %s, %s", d->most_at, fab_show_count(page, d->most_cables));
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, ".");
}

static void put_changes(fab_page *page, const fab_difference *d) {
    uint64_t n_cables[2] = {0}; /* others; causes, which others do not hide */
    uint64_t n_more = d->n_left_out;
    bool is_marked[2] = {false, false}; /* as a cause, as an uncertain one */
    if (d->n_changes == 0) {
        return;
    }
    fab_text_heading(page, "WHAT CHANGED", NULL);
    put_cables(page, d);
    FAB_EACH(const fab_change, c, d->changes, d->n_changes) {
        is_marked[0] = is_marked[0] || c->is_cause;
        is_marked[1] = is_marked[1] || c->is_uncertain;
        if (c->kind == FAB_CHANGE_CABLE && n_cables[c->is_cause]++ >= CABLES_SHOWN) {
            n_more++;
            continue;
        }
        bool is_gone = c->after[0] == '\0' && strcmp(c->what, c->before) == 0;
        bool is_new = c->before[0] == '\0' && strcmp(c->what, c->after) == 0;
        fab_page_say(page, "%s %s %s",
                     c->is_cause       ? "*"
                     : c->is_uncertain ? "?"
                                       : "-",
                     fab_change_kinds[c->kind], c->what);
        if (is_gone || is_new) {
            fab_page_say(page, " is %s", is_gone ? "gone" : "new");
        } else if (c->kind == FAB_CHANGE_SERVER && strcmp(c->before, c->after) == 0) { /* boxes are the same by GUID */
            fab_page_say(page, ": by GUID each of the names %s is on adapters where another of them was", c->after);
        } else {
            fab_page_say(page, ": was %s, is %s", c->before[0] != '\0' ? c->before : "nothing",
                         c->after[0] != '\0' ? c->after : "nothing");
        }
        if (!isnan(c->undone_s)) {
            fab_page_say(page, "; this alone undone: %s", fab_show_time(page, c->undone_s));
        }
        if (!isnan(c->alone_s) && d->n_changes > 1) {
            fab_page_say(page, "; made alone: %s", fab_show_time(page, c->alone_s));
        }
        fab_page_paragraph(page, c->is_cause ? FAB_INK_BOLD : FAB_INK_PLAIN, 2, 4);
    }
    if (n_more > 0) {
        fab_page_line(page, FAB_INK_DIM, "  and %s more", fab_show_count(page, n_more));
    }
    if (is_marked[0] || is_marked[1]) {
        fab_text_notef(page, "%s%s-: what differs besides", is_marked[0] ? "*: the cause; " : "",
                       is_marked[1] ? "?: may be part of it, not told apart by these seeds; " : "");
    }
}

static void put_tests(fab_page *page, const fab_difference *d) {
    if (d->n_tests == 0) {
        return;
    }
    fab_text_heading(page, "TRIED", "other servers in the place of the one that has come");
    FAB_EACH(const fab_diff_test, t, d->tests, d->n_tests) {
        fab_page_wrapf(page, t->holds ? FAB_INK_PLAIN : FAB_INK_BAD, 2, 4, "%s: %s, %s, %s", t->what,
                       fab_show_time(page, t->time_s), t->returns ? "as before" : "not as before",
                       t->holds ? "as the cause predicts" : "against it");
    }
}

static void put_phases(fab_page *page, const fab_diff_engine *e) {
    static const fab_column COLUMNS[] = {
        COLUMN("phase", text),     COLUMN("before", time),
        COLUMN("now", time),       MARKED("ratio", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("worst", 2_digits), MARKED("now", fab_show_2_digits, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("new", integer),    COLUMN("gone", integer),
    };
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_diff_phase, phase, e->phases, e->n_phases) {
        const double figures[] = {phase->before_s,
                                  phase->after_s,
                                  phase->before_s > 0 ? phase->after_s / phase->before_s : (double)NAN,
                                  phase->before_factor,
                                  phase->after_factor,
                                  (double)phase->n_new,
                                  (double)phase->n_gone};
        fab_table_row(&table, FAB_INK_PLAIN, phase->name, figures);
    }
    const double figures[] = {e->before_s,     e->after_s,       e->ratio,         FAB_TABLE_BLANK,
                              FAB_TABLE_BLANK, (double)e->n_new, (double)e->n_gone};
    fab_table_row(&table, FAB_INK_BOLD, e->iterates ? "iteration" : "all", figures);
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "worst: the largest collision factor%s, before and now; new, gone: links that collide in one "
                   "state alone%s",
                   e->n_new_nics > 0 ? " of links between switches" : "",
                   e->n_new_nics > 0 ? ", also of NICs that have lost capacity" : "");
    if (e->n_draws > 1) {
        fab_text_note(page, fab_show(page, "means over %" PRIu64 " seeds; links are those of the first", e->n_draws));
    }
}

static void put_crossing(fab_page *page, const char *when, const fab_diff_crossing *c) {
    if (isnan(c->factor)) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 6, "%s: not there, or not listed", when);
        return;
    }
    fab_page_say(page, "%s: x%.2f", when, c->factor);
    if (c->is_known) {
        fab_page_say(page, ", %s", fab_show_counted(page, c->n_flows, "flow", "flows"));
    }
    for (size_t i = 0; i < c->n_listed && i < FLOWS_SHOWN; i++) {
        const fab_diff_flow *f = &c->flows[i];
        fab_page_say(page, "%s rank %" PRIu32 " on %s > %" PRIu32 " on %s%s%s%s", i == 0 ? ":" : ";", f->src_rank,
                     f->src, f->dst_rank, f->dst, f->comm[0] != '\0' ? " (" : "", f->comm,
                     f->comm[0] != '\0' ? ")" : "");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 6, "%s", c->n_flows > FLOWS_SHOWN && c->is_known ? "; ..." : "");
}

static void put_links(fab_page *page, const fab_diff_engine *e) {
    size_t shown = e->n_links < LINKS_SHOWN ? e->n_links : LINKS_SHOWN;
    FAB_EACH(const fab_diff_link, l, e->links, shown) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "%s %s, phase %s", l->name,
                       l->is_new ? "collides now" : "collides no more", l->phase);
        put_crossing(page, "before", &l->before);
        put_crossing(page, "now", &l->after);
    }
    if (shown < e->n_links) {
        const uint64_t all = e->n_new + e->n_gone;
        fab_page_line(page, FAB_INK_DIM, "  %s in the JSON%s",
                      fab_show_counted(page, e->n_links - shown, "more link", "more links"),
                      all > e->n_links ? fab_show(page, ", and %" PRIu64 " that are only counted", all - e->n_links)
                                       : "");
    }
}

void fab_text_difference(fab_page *page, const fab_difference *d) {
    put_answer(page, d);
    put_changes(page, d);
    put_tests(page, d);
    FAB_EACH(const fab_diff_engine, e, d->engines, d->n_engines) {
        fab_text_heading(page, "PHASE BY PHASE",
                         e->before_label[0] == '\0' ? e->label
                                                    : fab_show(page, "%s; before: %s", e->label, e->before_label));
        put_phases(page, e);
        put_links(page, e);
    }
}
