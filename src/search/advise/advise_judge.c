/* Whether a change is worth a word: one rule for advice and for what a verdict names beside itself. */
#include "advise_internal.h"

#include "fab/verdict.h"

#define SAME 1e-9 /* relative difference that is none */

/* Whether times are the least that any routing needs, and never longer than others. */
static bool cannot_lose(const fab_seed_figures *times, const fab_seed_figures *others, uint64_t n) {
    FAB_ALL(cannot, i, n,
            times[i].transfer_s <= times[i].least_s * (1 + FAB_VERDICT_LITTLE) &&
                times[i].transfer_s <= others[i].transfer_s * (1 + SAME));
    return cannot;
}

/* Whether one of them is faster so often that a coin would do it less than once in 128 times: gains of which few draws
 * have most hide in an interval of means. */
static bool is_by_signs(const fab_seed_figures *before, const fab_seed_figures *after, uint64_t n, double gain) {
    FAB_SUM(uint64_t, against, i, n,
            gain > 0 ? before[i].transfer_s <= after[i].transfer_s * (1 + SAME)
                     : after[i].transfer_s <= before[i].transfer_s * (1 + SAME));
    double chance = 0;
    for (uint64_t i = 0; i <= against; i++) { /* binomial */
        chance += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) - (double)n * log(2));
    }
    return chance <= (1 + SAME) / 256;
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
    const bool is_clear =
        is_never_worse || (fabs(stat.mean) > SAME * time_s && fabs(stat.mean) > stat.ci95) ||
        (fabs(stat.mean) > FAB_VERDICT_LITTLE * time_s && is_by_signs(before, after, n_seeds, stat.mean));
    *out = (fab_advice_gain){.gain_s = stat.mean,
                             .ci95_s = stat.ci95,
                             .ratio = time_s > 0 ? stat.mean / time_s : 0,
                             .verdict = !is_clear       ? FAB_ADVICE_UNCLEAR
                                        : stat.mean > 0 ? FAB_ADVICE_FASTER
                                                        : FAB_ADVICE_SLOWER};
    return FAB_OK;
}
