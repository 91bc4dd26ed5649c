/* Whether a change is worth a word: one rule for advice and for what a verdict names beside itself. */
#include "advise_internal.h"

#include "fab/verdict.h"

#define SAME        1e-9 /* relative difference that is none */
#define MOST_RANKED 64   /* seeds: means of more are near enough to normal */

/* Whether times are the least that any routing needs, and never longer than others. */
static bool cannot_lose(const fab_seed_figures *times, const fab_seed_figures *others, uint64_t n) {
    FAB_ALL(cannot, i, n,
            times[i].transfer_s <= times[i].least_s * (1 + FAB_VERDICT_LITTLE) &&
                times[i].transfer_s <= others[i].transfer_s * (1 + SAME));
    return cannot;
}

FAB_ORDER_KEYS(by_size, double, FAB_ORDER(fabs(*a), fabs(*b)));

/* Wilcoxon's signed ranks, two-sided at a twentieth: gains of which few draws have most hide in an interval of means.
 * Sorts the differences. `gain`: their mean. */
static fab_status is_by_ranks(double *differences, uint64_t n, double gain, bool *out, fab_error *err) {
    const uint64_t sum_of_all = n * (n + 1); /* of twice the ranks, which ties may halve */
    uint64_t against = 0;
    FAB_OWNED_NEW(double, parts, sum_of_all + 1, err); /* of all signs that chance may give, by what is against */
    qsort(differences, n, sizeof *differences, by_size);
    parts[0] = 1;
    for (uint64_t first = 0, end = 0; first < n; first = end) {
        for (end = first; end < n && fabs(differences[end]) <= fabs(differences[first]) * (1 + SAME); end++) {
        }
        const uint64_t rank = first + end + 1;
        for (uint64_t i = first; i < end; i++) {
            against += differences[i] * gain > 0 ? 0 : rank;
            for (uint64_t sum = sum_of_all + 1; sum-- > 0;) {
                parts[sum] = (parts[sum] + (sum >= rank ? parts[sum - rank] : 0)) / 2;
            }
        }
    }
    double chance = 0;
    for (uint64_t sum = 0; sum <= against; sum++) {
        chance += parts[sum];
    }
    *out = 2 * chance <= 0.05;
    return FAB_OK;
}

fab_status advise_judge(const fab_seed_figures *before, const fab_seed_figures *after, uint64_t n_seeds,
                        fab_advice_gain *out, fab_error *err) {
    FAB_OWNED_NEW(double, differences, n_seeds, err);
    FAB_FILL(differences, n_seeds, before[fab_at].transfer_s - after[fab_at].transfer_s);
    fab_stat stat;
    fab_stat_of(differences, n_seeds, &stat);
    FAB_SUM(double, time_s, i, n_seeds, before[i].transfer_s / (double)n_seeds);
    const bool is_never_worse =
        fabs(stat.mean) > FAB_VERDICT_LITTLE * time_s &&
        (stat.mean > 0 ? cannot_lose(after, before, n_seeds) : cannot_lose(before, after, n_seeds));
    bool is_clear = is_never_worse || (fabs(stat.mean) > SAME * time_s && fabs(stat.mean) > stat.ci95);
    if (!is_clear && fabs(stat.mean) > FAB_VERDICT_LITTLE * time_s && n_seeds <= MOST_RANKED) {
        FAB_PASS(is_by_ranks(differences, n_seeds, stat.mean, &is_clear, err));
    }
    *out = (fab_advice_gain){.gain_s = stat.mean,
                             .ci95_s = stat.ci95,
                             .ratio = time_s > 0 ? stat.mean / time_s : 0,
                             .verdict = !is_clear       ? FAB_ADVICE_UNCLEAR
                                        : stat.mean > 0 ? FAB_ADVICE_FASTER
                                                        : FAB_ADVICE_SLOWER};
    return FAB_OK;
}
