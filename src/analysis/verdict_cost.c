/* What it costs, and what jobs on it cost each other. */
#include "fab/ownership.h"
#include "verdict_lines.h"

void verdict_put_cost(const fab_result *r, fab_run_verdict *v) {
    const fab_fabric_result *f = r->n_fabrics > 0 ? r->fabrics : NULL;
    if (f == NULL || r->command == FAB_COMMAND_ROUTE || !(f->cost.total_usd > 0)) {
        return;
    }
    verdict_say(v->cost, "network %s, %s per GPU, %s", fab_money_format(FAB_ROOM, f->cost.total_usd),
                fab_money_format(FAB_ROOM, f->cost.per_gpu_usd), FAB_SAY(f->cost.power_w, FAB_UNIT_POWER));
    if (r->contention != NULL && v->engine < r->contention->n_engines) {
        const fab_contention_engine *e = &r->contention->engines[v->engine];
        const bool lose = fmax(e->lost_ratio, e->expected_lost_ratio) > VERDICT_SAME;
        FAB_FIRST(silent, r->contention->n_jobs, e->jobs[silent].alone_s.mean > 0 && !fab_contended_counts(e, silent));
        verdict_say(v->cost, "; %s to each other",
                    !lose                ? "the jobs lose no time"
                    : e->n_iterating > 0 ? "of the GPUs' time the jobs lose"
                                         : "of their phases' time the jobs lose");
        if (lose && e->has_expected) {
            verdict_say(v->cost, " %.2g %% where phases meet by chance,", 100 * e->expected_lost_ratio);
        }
        if (lose) {
            verdict_say(v->cost, " %.2g %% while the longest fall together", 100 * e->lost_ratio);
        }
        if (silent < r->contention->n_jobs) {
            verdict_say(v->cost, "; %s%s not counted, without an iteration", r->contention->jobs[silent].id,
                        e->n_contending - e->n_iterating > 1 ? " and others are" : " is");
        }
    } else if (v->of_iteration && r->iterations[v->engine].usd_per_1e9_tokens > 0) {
        const fab_iteration *it = &r->iterations[v->engine];
        verdict_say(v->cost, "; 1e9 tokens: %s by GPU hours at $%.2f",
                    fab_price_format(FAB_ROOM, it->usd_per_1e9_tokens), r->job.gpu_hour_usd);
        if (it->owned_usd_per_1e9_tokens > 0) {
            verdict_say(v->cost, ", %s bought and run for %.3g years",
                        fab_price_format(FAB_ROOM, it->owned_usd_per_1e9_tokens), r->ownership->years);
        }
        if (r->ranks < f->spec.gpus) {
            verdict_say(v->cost, "; %s GPUs idle, which no price counts", FAB_SAY_COUNT(f->spec.gpus - r->ranks));
        }
        verdict_say(v->cost, "; %s tokens/s of %s", FAB_SAY_COUNT((uint64_t)(it->tokens_per_s + 0.5)),
                    r->job.accelerator.name);
    }
    if (r->n_serving > v->engine && r->serving[v->engine].usd_per_1e6_tokens > 0) {
        const fab_serving *s = &r->serving[v->engine];
        verdict_say(v->cost, "; 1e6 tokens: %s by GPU hours at $%.2f; ",
                    fab_price_format(FAB_ROOM, s->usd_per_1e6_tokens), r->job.gpu_hour_usd);
        verdict_say(v->cost, "%s tokens/s of %s", FAB_SAY_COUNT((uint64_t)(s->tokens_per_s + 0.5)),
                    r->job.accelerator.name);
    }
}
