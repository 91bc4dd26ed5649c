/* Text report: what has failed, where ranks go, and what that costs. */
#include "fab/failures.h"
#include "fab/units.h"
#include "text_sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_POLICIES 8

static void put_failed(fab_page *page, const fab_failures *f) {
    char text[FAB_TEXT_PARAGRAPH] = "";
    size_t n = 0;
    for (size_t i = 0; i < f->n_failed && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? ", " : "", f->failed[i]);
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "Failed: %s", text);
    n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < f->n_lost && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (rank%s %s)", i > 0 ? ", " : "", f->lost[i].name,
                              f->lost[i].n_ranks == 1 ? "" : "s", f->lost[i].ranks);
    }
    if (f->n_lost == 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, "No server with ranks is lost: nobody moves.");
    } else {
        char count[32];
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "Lost: %s. Spare servers: %s.", text,
                       fab_format_count(count, f->n_spares));
    }
    n = 0;
    for (size_t i = 0; i < f->n_left_out && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? ", " : "", f->left_out[i]);
    }
    if (f->n_left_out > 0) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 4, "Not looked at, for they have too many paths: %s", text);
    }
}

/* "3 > 5", "6, 2 stay"; who they are stands below. */
static void write_moves(const fab_failed_policy *p, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    if (p->n_moves == 1) {
        n += (size_t)snprintf(out, size, "%u > %u", p->moves[0].from, p->moves[0].to);
    } else if (p->n_moves > 1) {
        n += (size_t)snprintf(out, size, "%zu", p->n_moves);
    }
    if (p->n_unplaced > 0) {
        (void)snprintf(out + n, size - n, "%s%zu stay%s", n > 0 ? ", " : "", p->n_unplaced,
                       p->n_unplaced == 1 ? "s" : "");
    }
}

static void set_state(fab_table *table, const fab_failed_state *state, const fab_failed_state *whole) {
    const fab_failed_phase *p = &state->sum;
    char text[32];
    fab_table_set(table, 1, p->n_disconnected > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s",
                  fab_format_count(text, p->n_disconnected));
    fab_table_set(table, 2, FAB_INK_PLAIN, "%s", fab_format_count(text, p->n_collisions));
    fab_table_set(table, 3, p->worst_ratio > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, "x%.3f", p->worst_ratio);
    if (isfinite(state->time_s) && whole->time_s > 0) {
        double factor = state->time_s / whole->time_s;
        fab_table_set(table, 4, FAB_INK_PLAIN, "%s", fab_quantity_format(text, state->time_s, FAB_UNIT_TIME));
        fab_table_set(table, 5, factor > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, "x%.3f", factor);
    }
}

static void put_policies(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    static const char *const TITLES[] = {"policy", "cut flows", "collisions", "fullest", "time", "slower", "moves"};
    fab_table table;
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_DIM, "all whole");
    set_state(&table, &e->whole, &e->whole);
    for (size_t i = 0; i < f->n_policies; i++) {
        char moves[48];
        const fab_failed_policy *p = &e->policies[i];
        write_moves(p, moves, sizeof moves);
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%s", p->policy);
        set_state(&table, &p->state, &e->whole);
        fab_table_set(&table, 6, p->is_possible ? FAB_INK_PLAIN : FAB_INK_BAD, "%s", moves);
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

/* "first" of "first-spare", "rack" of "same-rack", "aware" of "collision-aware". */
static void write_short_name(const char *policy, char *out, size_t size) {
    const char *dash = strchr(policy, '-');
    if (dash == NULL || strncmp(policy, "first", 5) == 0) {
        (void)snprintf(out, size, "%.*s", (int)strcspn(policy, "-"), policy);
    } else {
        (void)snprintf(out, size, "%s", dash + 1);
    }
}

/* The largest ratio of every phase that asks anything of the network. */
static void put_phases(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    const size_t n = f->n_policies < MOST_POLICIES ? f->n_policies : MOST_POLICIES;
    const char *titles[MOST_POLICIES + 2] = {"fullest link", "whole"};
    char name[MOST_POLICIES][16];
    fab_table table;
    for (size_t i = 0; i < n; i++) {
        write_short_name(e->policies[i].policy, name[i], sizeof name[i]);
        titles[i + 2] = name[i];
    }
    fab_table_begin(&table, titles, n + 2);
    for (size_t p = 0; p < f->n_phases; p++) {
        if (e->whole.phases[p].worst_ratio == 0) {
            continue;
        }
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%.24s", f->phases[p]);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "x%.3f", e->whole.phases[p].worst_ratio);
        for (size_t i = 0; i < n; i++) {
            double ratio = e->policies[i].state.phases[p].worst_ratio;
            bool worse = ratio > e->whole.phases[p].worst_ratio * FAB_FULL_LOAD && ratio > FAB_FULL_LOAD;
            fab_table_set(&table, i + 2, worse ? FAB_INK_BAD : FAB_INK_PLAIN, "x%.3f", ratio);
        }
    }
    fab_page_end_line(page);
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

static void put_all_moves(fab_page *page, const fab_failed_policy *p) {
    char text[FAB_TEXT_PARAGRAPH] = "";
    size_t n = 0;
    for (size_t i = 0; i < p->n_moves && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u > %u%s", i > 0 ? ", " : "", p->moves[i].from,
                              p->moves[i].to, p->moves[i].is_healthy ? "*" : "");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s: %s", p->policy, text);
}

/* Ranks that nobody takes: spares run out under every policy that moves anybody. */
static void put_unplaced(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    char text[FAB_TEXT_PARAGRAPH] = "";
    size_t n = 0;
    const fab_failed_policy *p = NULL;
    for (size_t i = 0; i < f->n_policies && p == NULL; i++) {
        bool moves = strcmp(e->policies[i].policy, "none") != 0;
        p = moves && e->policies[i].n_unplaced > 0 ? &e->policies[i] : NULL;
    }
    for (size_t i = 0; p != NULL && i < p->n_unplaced; i++) {
        for (size_t k = 0; k < f->n_lost && n < sizeof text; k++) {
            if (f->lost[k].server == p->unplaced[i]) {
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s of %s", n > 0 ? ", " : "", f->lost[k].ranks,
                                      f->lost[k].name);
            }
        }
    }
    if (p != NULL) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "No spare is left for ranks %s: the job stops.", text);
    }
}

static void put_search(fab_page *page, const fab_failures *f, const fab_failed_policy *p) {
    char count[32];
    if (p->n_moves > 1) {
        put_all_moves(page, p);
    }
    if (p->n_tried > 0 && f->n_lost > 0 && p->is_possible) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s: %s placement%s tried%s", p->policy,
                       fab_format_count(count, p->n_tried), p->n_tried == 1 ? "" : "s",
                       p->is_optimal ? "; proved: no assignment of the spares does better" : "");
    }
}

static void put_saving(fab_page *page, const fab_failed_engine *e) {
    char count[32];
    char fullest[96] = "";
    if (e->aware_ratio < e->first_ratio - 1e-9) {
        (void)snprintf(fullest, sizeof fullest,
                       "; the fullest link is asked for x%.3f of what is left of it, not x%.3f", e->aware_ratio,
                       e->first_ratio);
    }
    if (e->has_saving && e->saved_collisions > 0) {
        fab_page_wrapf(page, FAB_INK_GOOD, 2, 4, "Collision-aware saves %s collision%s against first-spare%s.",
                       fab_format_count(count, e->saved_collisions), e->saved_collisions == 1 ? "" : "s", fullest);
    } else if (e->has_saving) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "Collision-aware saves no collision against first-spare%s.", fullest);
    }
}

void fab_text_failures(fab_page *page, const fab_failures *f) {
    fab_text_heading(page, "FAILURES", NULL);
    put_failed(page, f);
    for (size_t i = 0; i < f->n_engines && f->n_phases > 0; i++) {
        const fab_failed_engine *e = &f->engines[i];
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, e->label);
        if (e->note[0] != '\0') {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "Not known: %s", e->note);
            continue;
        }
        put_policies(page, f, e);
        put_phases(page, f, e);
        for (size_t k = 0; k < f->n_policies; k++) {
            put_search(page, f, &e->policies[k]);
        }
        put_saving(page, e);
        put_unplaced(page, f, e);
    }
    fab_page_wrapf(
        page, FAB_INK_DIM, 2, 2,
        "cut flows: that lose a path, in all phases; collisions: network links that are asked for more than is "
        "left of them, in all phases; fullest: what the fullest link is asked for; time: of %s; moves: "
        "from server > to server (* from a healthy one), or how many; offered rates are those of whole parts; of the "
        "first "
        "seed",
        f->iterates ? "an iteration" : "all phases, one after the other");
}
