/* What more queue pairs of one engine win, and engines that win as much. */
#include "verdict_lines.h"

#define PAIRS ",qp="

uint64_t fab_label_pairs(const char *label) {
    const char *pairs = strstr(label, PAIRS);
    return pairs != NULL ? strtoull(pairs + strlen(PAIRS), NULL, 10) : 0;
}

bool fab_label_is_same_but_pairs(const char *a, const char *b) {
    const char *at[2] = {strstr(a, PAIRS), strstr(b, PAIRS)};
    if (at[0] == NULL || at[1] == NULL || at[0] - a != at[1] - b || strncmp(a, b, (size_t)(at[0] - a)) != 0) {
        return false;
    }
    const char *rest[2] = {at[0] + 1 + strcspn(at[0] + 1, ","), at[1] + 1 + strcspn(at[1] + 1, ",")};
    return strcmp(rest[0], rest[1]) == 0;
}

int verdict_fewer_pairs(const fab_result *r, size_t a, size_t b) {
    const char *label[2] = {r->phases[0].engines[a].label, r->phases[0].engines[b].label};
    return fab_label_is_same_but_pairs(label[0], label[1])
               ? (int)fab_label_pairs(label[1]) - (int)fab_label_pairs(label[0])
               : 0;
}

size_t verdict_thrifty(const fab_result *r, const fab_run_verdict *v) {
    size_t least = v->engine;
    for (size_t e = 0; e < r->phases[0].n_engines; e++) {
        if (verdict_time(r, e) <= verdict_time(r, v->engine) * (1 + VERDICT_PAIRS) &&
            verdict_fewer_pairs(r, e, least) > 0) {
            least = e;
        }
    }
    return least;
}

bool verdict_is_bound(const fab_result *r, size_t engine) {
    const char *label = r->phases[0].engines[engine].label;
    return strcspn(label, ",") == strlen("optimal") && strncmp(label, "optimal", strlen("optimal")) == 0;
}

/* Not of those that have more queue pairs for it than another. */
static bool is_equal(const fab_result *r, size_t a, size_t b) {
    bool is_thrifty = verdict_is_bound(r, a) <= verdict_is_bound(r, b) &&
                      fabs(verdict_time(r, a) - verdict_time(r, b)) < VERDICT_MARGIN * verdict_time(r, b);
    for (size_t e = 0; is_thrifty && e < r->phases[0].n_engines; e++) {
        is_thrifty = verdict_fewer_pairs(r, e, a) <= 0 ||
                     fabs(verdict_time(r, e) - verdict_time(r, b)) >= VERDICT_MARGIN * verdict_time(r, b);
    }
    return is_thrifty;
}

size_t verdict_first_equal(const fab_result *r, size_t engine) {
    FAB_FIRST(e, engine, is_equal(r, e, engine));
    return e;
}

void verdict_add_equals(const fab_result *r, size_t engine, char *out) {
    char room[VERDICT_NAME];
    for (size_t e = 0; e < r->phases[0].n_engines; e++) {
        if (e != engine && is_equal(r, e, engine)) {
            verdict_say(out, " or %s", verdict_engine(r, e, room));
        }
    }
}

FAB_ORDER_KEYS(by_pairs, fab_pairs_time, FAB_ORDER(a->pairs, b->pairs));

bool fab_verdict_add_pairs(fab_pairs_time *list, size_t n, char *out, size_t size) {
    double least_s = INFINITY;
    double behind_s = INFINITY; /* of those with more pairs than help */
    size_t last = 0;            /* that helps */
    qsort(list, n, sizeof *list, by_pairs);
    for (size_t i = 0; i < n; i++) {
        least_s = fmin(least_s, list[i].time_s);
    }
    if (n < 3 || !isfinite(least_s) || !(least_s > 0)) {
        return false;
    }
    while (list[last].time_s > least_s * (1 + VERDICT_PAIRS)) {
        last++;
    }
    for (size_t i = last + 1; i < n; i++) {
        behind_s = fmin(behind_s, list[i].time_s);
    }
    const double behind = 100 * (1 - behind_s / list[last].time_s);
    if (last > 0) {
        fab_append(out, size, "more queue pairs help up to %" PRIu64 ", %.3g %% less time than %" PRIu64,
                   list[last].pairs, 100 * (1 - list[last].time_s / list[0].time_s), list[0].pairs);
        fab_append(out, size,
                   last + 1 == n ? ", the most here"
                   : behind > 0  ? "; more, up to %" PRIu64 ", save %.2g %%"
                                 : "; more, up to %" PRIu64 ", save nothing",
                   list[n - 1].pairs, behind);
    } else {
        fab_append(out, size,
                   behind > 0 ? "more queue pairs than %" PRIu64 ", up to %" PRIu64 ", save %.2g %%"
                              : "more queue pairs than %" PRIu64 ", up to %" PRIu64 ", save nothing",
                   list[0].pairs, list[n - 1].pairs, behind);
    }
    return true;
}
