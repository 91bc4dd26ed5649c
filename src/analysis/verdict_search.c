/* What a search for advice found: by the measure of the search. */
#include "verdict_lines.h"

#define MOST_OF_CHANGE 240 /* characters of one that is named here: lists of servers are longer */

static const char *name_change(const char *change) {
    return strlen(change) <= MOST_OF_CHANGE ? change : "the best change below";
}

/* The best row that only other switches can do, where it beats what these can; NULL: there is none. */
static const fab_advice_row *best_of_switches(const fab_advice *a) {
    double time_s = a->best.n_changes > 0 ? a->best.figures.time_s : a->base.time_s;
    for (size_t i = 0; i < a->n_rows; i++) { /* most gain first */
        const fab_advice_row *row = &a->rows[i];
        if (row->needs_switch_support && row->gain.verdict == FAB_ADVICE_FASTER &&
            row->figures.time_s < time_s * (1 - FAB_VERDICT_LITTLE)) {
            return row;
        }
    }
    return NULL;
}

/* The row that saves most without other switches, where it is worth asking for more seeds; NULL: there is none. */
static const fab_advice_row *best_unclear(const fab_advice *a) {
    FAB_FIRST(i, a->n_rows,
              a->rows[i].gain.verdict == FAB_ADVICE_UNCLEAR && !a->rows[i].needs_switch_support &&
                  a->rows[i].gain.ratio > VERDICT_UNCLEAR);
    return i < a->n_rows ? &a->rows[i] : NULL;
}

/* What a change asks for. */
static void add_needs(fab_advice_kind kind, const char *change, char *out) {
    static const char *const NEEDS[FAB_ADVICE_N_KINDS] = {
        [FAB_ADVICE_QUEUE_PAIRS] = " (a setting of the hosts)",
        [FAB_ADVICE_HASHING] = " (a setting of the switches' hash)",
        [FAB_ADVICE_PINNING] = " (a path set for each flow)",
        [FAB_ADVICE_PLACEMENT] = " (it costs nothing)",
    };
    const bool is_tables = kind == FAB_ADVICE_PINNING && strstr(change, "dmodk") != NULL;
    const char *needs = is_tables ? " (forwarding tables by destination, as subnet managers write)" : NEEDS[kind];
    verdict_say(out, "%s", needs != NULL ? needs : "");
}

/* Queue pairs and hashes are what run tries and what is set most easily: what they reach, where the best is none. */
static void add_easiest(const fab_advice *a, char *out) {
    const fab_advice_best *b = &a->best;
    for (size_t i = 0; i < a->n_rows && b->n_changes > 0; i++) { /* most gain first */
        const fab_advice_row *row = &a->rows[i];
        const bool is_easy = row->kind == FAB_ADVICE_QUEUE_PAIRS || row->kind == FAB_ADVICE_HASHING;
        if (b->kinds[0] == FAB_ADVICE_QUEUE_PAIRS || b->kinds[0] == FAB_ADVICE_HASHING) {
            return;
        }
        if (is_easy && row->gain.verdict == FAB_ADVICE_FASTER && !row->needs_switch_support) {
            verdict_say(out, "; by queue pairs or hashes alone, %s saves %.1f %%", name_change(row->change),
                        100 * row->gain.ratio);
            add_needs(row->kind, row->change, out);
            return;
        }
    }
}

#define MOST_TIES 2 /* that are named; more are counted */

/* Other changes that save as much: which one is a matter of taste. Those that need switches stand last. */
static void add_ties(const fab_advice *a, char *out) {
    const fab_advice_best *b = &a->best;
    size_t n[2] = {0, 0}; /* that need no support of switches, and that do */
    FAB_EACH(const fab_advice_row, row, a->rows, a->n_rows) {
        if (row->gain.verdict == FAB_ADVICE_FASTER && strcmp(row->change, b->change) != 0 &&
            fabs(row->figures.time_s - b->figures.time_s) <= VERDICT_SAME * b->figures.time_s) {
            n[row->needs_switch_support]++;
            if (!row->needs_switch_support && n[0] <= MOST_TIES) {
                verdict_say(out, "%s%s", n[0] > 1 ? ", " : "; as much by ", name_change(row->change));
            }
        }
    }
    if (n[0] > MOST_TIES) {
        verdict_say(out, " and %zu more", n[0] - MOST_TIES);
    }
    if (n[1] > 0) {
        verdict_say(out, "%s%zu that need%s switch support", n[0] > 0 ? ", and " : "; as much by ", n[1],
                    n[1] == 1 ? "s" : "");
    }
}

/* That it saves most, or as much as more queue pairs within what seeds make. */
static void add_rank(const fab_advice *a, bool is_beaten, char *out) {
    const fab_advice_best *b = &a->best;
    const bool is_pairs = b->n_changes == 1 && b->kinds[0] == FAB_ADVICE_QUEUE_PAIRS;
    FAB_EACH(const fab_advice_row, row, a->rows, a->n_rows) { /* most gain first */
        if (row->gain.verdict == FAB_ADVICE_FASTER && !row->needs_switch_support &&
            row->figures.time_s < b->figures.time_s * (1 - VERDICT_SAME)) {
            if (is_pairs && row->kind == FAB_ADVICE_QUEUE_PAIRS) {
                verdict_say(out, ", and these seeds do not tell %s, %.1f %%, from it", row->change,
                            100 * row->gain.ratio);
            }
            return;
        }
    }
    verdict_say(out, ", the most of %" PRIu64 " configurations%s", a->n_evaluated,
                is_beaten ? " without other switches" : "");
}

/* Ranks in order alone, where more is changed beside them. */
static void add_order(const fab_advice *a, const char *of, char *out) {
    FAB_FIRST(i, a->n_rows, strcmp(a->rows[i].change, "--job placement=order") == 0);
    if (i < a->n_rows && a->best.n_changes > 1 && a->best.kinds[0] == FAB_ADVICE_PLACEMENT) {
        verdict_say(out, "%s costs nothing and saves %.1f %% of %s; ", a->rows[i].change, 100 * a->rows[i].gain.ratio,
                    of);
    }
}

void verdict_add_search(const fab_advice *a, bool is_planned, char *out) {
    const fab_advice_best *b = &a->best;
    const fab_advice_row *built = best_of_switches(a);
    const char *of = a->by_links                           ? "the time of the fullest links"
                     : a->transport == FAB_TRANSPORT_FLUID ? "the time of all phases"
                                                           : "the time of all packets";
    bool is_checked = b->check.ci95_s > 0 || b->gain.ci95_s > 0;
    if (!a->is_in_network) {
        verdict_say(out, "nothing: no traffic leaves the scale-up domains");
        return;
    }
    if (b->n_changes == 0) {
        const fab_advice_row *unclear = best_unclear(a);
        if (unclear != NULL) {
            verdict_say(
                out,
                "nothing that is clear: %s saves %.1f %% in the mean of %" PRIu64 " seeds, which do not tell it "
                "from nothing (--seeds %" PRIu64 " tells more)",
                name_change(unclear->change), 100 * unclear->gain.ratio, a->n_seeds, VERDICT_MORE_SEEDS * a->n_seeds);
        } else {
            verdict_say(out,
                        "keep what is there: of %" PRIu64 " configurations none is clearly faster without other "
                        "switches",
                        a->n_evaluated);
        }
    } else if (is_checked && b->check.verdict != FAB_ADVICE_FASTER) {
        const fab_advice_gain *check = &b->check;
        verdict_say(out, "nothing that is confirmed: over other seeds %s saves %.1f %% +- %.1f %%",
                    name_change(b->change), 100 * check->ratio,
                    check->gain_s != 0 ? fabs(100 * check->ci95_s * check->ratio / check->gain_s) : 0);
    } else {
        add_order(a, of, out);
        verdict_say(out, "%s", name_change(b->change));
        if (b->iteration_s > 0 && b->base_iteration_s > 0) {
            verdict_say(out, " takes an iteration of %s instead of %s%s, %.1f %% %s, and",
                        VERDICT_SECONDS(b->iteration_s), VERDICT_SECONDS(b->base_iteration_s),
                        is_planned ? " under this plan" : "", 100 * fabs(1 - b->iteration_s / b->base_iteration_s),
                        b->iteration_s <= b->base_iteration_s ? "less" : "more");
        }
        verdict_say(out, " saves %.1f %%", 100 * b->gain.ratio);
        if (b->gain.ci95_s > b->gain.gain_s / 2) {
            verdict_say(out, " +- %.1f %%", 100 * b->gain.ci95_s * b->gain.ratio / b->gain.gain_s);
        }
        verdict_say(out, " of %s", of);
        add_rank(a, built != NULL, out);
        if (b->n_changes == 1) {
            add_needs(b->kinds[0], b->change, out);
        }
        add_ties(a, out);
        add_easiest(a, out);
    }
    if (built != NULL) {
        verdict_say(out, "; where switches can, %s saves %.1f %%%s%s", name_change(built->change),
                    100 * built->gain.ratio, b->n_changes > 0 ? "" : " of ", b->n_changes > 0 ? "" : of);
    }
}
