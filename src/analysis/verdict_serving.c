/* What a report says of requests: what carries them, how sure their percentiles are. */
#include "verdict_lines.h"

void verdict_add_batch(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_larger_batch *l = &v->larger;
    const double most = l->batch > 0 ? l->most_requests_per_s : r->serving[v->engine].most_requests_per_s;
    const double last_digit = pow(10, floor(log10(most)) - 4); /* down: what is said is to be enough */
    const double said = floor(most / last_digit) * last_digit;
    if (l->load_ratio > 0) {
        verdict_say(out,
                    "serve more at once: --job batch=%" PRIu64
                    " carries up to %.5g requests/s on these GPUs, p99 of the first token %s, of a token %s, queue "
                    "included%s; ",
                    l->batch, said, VERDICT_SECONDS(l->first_token_p99_s), VERDICT_SECONDS(l->token_p99_s),
                    l->load_ratio > FAB_SERVING_HIGH ? ", but so near its limit that waits grow" : "");
        return;
    }
    if (l->batch > 0) {
        verdict_say(out, "with --job batch=%" PRIu64 ", which serves most of those that fit, ", l->batch);
    } else if (!l->is_tried) {
        verdict_say(out, "try a larger --job batch first (too many flows to try here); ");
    }
    verdict_say(out, "send fewer than %.5g requests/s, or have more than %.2f times the replicas; ", said,
                ceil(r->job.request_rate / most * 100) / 100);
}

void verdict_add_arrivals(const fab_serving *s, char *out) {
    if (s->arrivals_per_s > 0) {
        verdict_say(out, "; percentiles of %s of random arrivals, drawn once", VERDICT_SECONDS(s->window_s));
        if (s->load_ratio > FAB_SERVING_HIGH) {
            verdict_say(out, ": at %.1f %% of the most they are of this window, and grow with it", 100 * s->load_ratio);
        }
    }
}
