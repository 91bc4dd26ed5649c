/* What several jobs do to each other, what slower parts do, and what failures do: beyond the replay of one job. */
#include "cli.h"

#include "fab/contend.h"
#include "fab/degraded.h"
#include "fab/what_if.h"

const cli_option cli_option_interference = {
    "interference", NULL,
    "with several jobs: also every network phase of a job against every one of another, and what it slows",
    CLI_FLAG(interference)};

const cli_option cli_option_degrade = {"degrade", "PART=FRACTION",
                                       "also run with a part at a fraction of its speed (a straggler), and compare: "
                                       "'leaf-0:17 > spine-0:1', nic-3, gpu-7, server-2, "
                                       "leaf-5; can be repeated",
                                       CLI_LIST(weak_parts)};

const cli_option cli_option_fail = {
    "fail", "COMPONENT",
    "also route with a component dead, or slower (nic-3*0.5), and with its ranks on spare servers: server-4, gpu-7, "
    "leaf-5, 'leaf-0:17 > spine-0:1', rack-2, plane-1; can be repeated",
    CLI_LIST(failed_parts)};

const cli_option cli_option_policies = {
    "policy", "NAME,...",
    "with --fail: where ranks go when their server is lost: none, first-spare, same-rack, same-pod, same-slice, "
    "collision-aware (default: all)",
    CLI_LIST(policies)};

void cli_further_release(cli_further *further) {
    fab_contention_free(further->contention);
    fab_degradation_free(further->degradation);
    fab_failures_free(further->failures);
    fab_what_if_close(further->what_if);
    *further = (cli_further){0};
}

/* Options of failures. */
static fab_status check_failures(const cli_options *options, fab_error *err) {
    fab_policy policies[FAB_POLICY_N];
    size_t n = 0;
    CLI_REFUSE_IF(options->policies.n > 0 && options->failed_parts.n == 0, err,
                  "option --policy: nothing fails; give --fail COMPONENT");
    CLI_REFUSE_IF(options->failed_parts.n > 0 && options->advise.on, err,
                  "option --fail: --advise looks at the healthy fabric; give one of the two");
    CLI_REFUSE_IF(options->failed_parts.n > 0 && options->traffic != NULL && cli_is_front_end(options->traffic), err,
                  "option --fail: parts of the front-end do not fail so far");
    return cli_read_policies(options, policies, &n, err);
}

fab_status cli_check_further(const cli_options *options, const fab_design *design, fab_error *err) {
    fab_weak_part part;
    for (size_t i = 0; i < options->weak_parts.n; i++) { /* before anything is computed */
        FAB_PASS(fab_weak_part_parse(options->weak_parts.items[i], &part, err));
    }
    CLI_REFUSE_IF(options->weak_parts.n > 0 && options->advise.on, err,
                  "option --degrade: --advise looks at the healthy fabric; give one of the two");
    CLI_REFUSE_IF(options->weak_parts.n > 0 && options->traffic != NULL && cli_is_front_end(options->traffic), err,
                  "option --degrade: parts of the front-end are not degraded so far");
    FAB_PASS(check_failures(options, err));
    CLI_REFUSE_IF(options->interference && design->n_jobs < 2, err,
                  "option --interference: the design has no second job");
    CLI_REFUSE_IF(options->interference && design->n_jobs > FAB_INTERFERENCE_JOBS, err,
                  "option --interference: %zu jobs are %zu pairs; at most %d jobs are looked at in pairs, and without "
                  "it all together",
                  design->n_jobs, design->n_jobs * (design->n_jobs - 1) / 2, FAB_INTERFERENCE_JOBS);
    return FAB_OK;
}

static fab_status degrade(const cli_options *options, const fab_replay *base, fab_result *result, cli_further *out,
                          fab_error *err) {
    size_t n = options->weak_parts.n;
    FAB_OWNED_NEW(fab_weak_part, parts, n, err);
    for (size_t i = 0; i < n; i++) {
        FAB_PASS(fab_weak_part_parse(options->weak_parts.items[i], &parts[i], err));
    }
    FAB_PASS(fab_degraded_run(base, result, parts, n, &out->degradation, err));
    result->degradation = out->degradation;
    out->overlay = (fab_overlay){.residual = out->degradation->link_residual};
    result->overlay = &out->overlay;
    return FAB_OK;
}

fab_status cli_hold_failures(const fab_context *context, cli_further *out, fab_error *err) {
    return out->what_if == NULL ? fab_what_if_open(context, &out->what_if, err) : FAB_OK;
}

static fab_status fail(const cli_options *options, const fab_replay *base, fab_result *result, cli_further *out,
                       fab_error *err) {
    const fab_traffic *traffic = NULL;
    fab_policy policies[FAB_POLICY_N];
    const fab_failures *answer = NULL;
    fab_failures_request request = {.context = base->context,
                                    .n_seeds = base->n_seeds,
                                    .failed = options->failed_parts.items,
                                    .n_failed = options->failed_parts.n,
                                    .policies = policies};
    FAB_PASS(cli_read_policies(options, policies, &request.n_policies, err));
    if (out->is_held) {
        FAB_PASS(cli_hold_failures(base->context, out, err));
        FAB_PASS(fab_what_if_ask(out->what_if, &request, &answer, err));
        FAB_PASS(fab_what_if_serve(out->what_if, result, err));
    } else {
        FAB_PASS(fab_failures_run(&request, &out->failures, err));
        FAB_PASS(fab_context_traffic(base->context, &traffic, err));
        FAB_PASS(fab_failures_serve(traffic, result, out->failures, err));
        answer = out->failures;
    }
    result->failures = answer;
    for (uint32_t l = 0; out->degradation != NULL && l < fab_context_what(base->context)->fabric->n_links;
         l++) { /* graphs show both */
        double slower = out->degradation->link_residual[l];
        answer->residual[l] = slower < answer->residual[l] ? slower : answer->residual[l];
    }
    result->overlay = &answer->overlay;
    return FAB_OK;
}

fab_status cli_contend(cli_session *s, fab_replay *replay, fab_error *err) {
    const unsigned further = FAB_CONTEND_RIVALS | (s->options->interference ? FAB_CONTEND_PAIRS : 0U);
    fab_contention *found[FAB_MAX_ENGINES] = {NULL};
    const size_t *engine[FAB_MAX_ENGINES];
    fab_status status = FAB_OK;
    if (s->result.command != FAB_COMMAND_RUN || s->design->n_jobs < 2 || s->further.contention != NULL) {
        return FAB_OK;
    }
    for (size_t i = 0; i < s->n_parts && status == FAB_OK; i++) {
        replay->context = s->parts[i].context;
        engine[i] = s->parts[i].of.engine;
        status = fab_contend(replay, s->n_parts > 1 ? &s->parts[i].of.result : &s->result, further, &found[i], err);
    }
    if (status == FAB_OK && s->n_parts == 1) {
        s->further.contention = found[0];
        found[0] = NULL;
    } else if (status == FAB_OK) {
        status = fab_contention_join(found, engine, s->n_parts, &s->further.contention, err);
    }
    for (size_t i = 0; i < s->n_parts; i++) {
        fab_contention_free(found[i]);
    }
    replay->context = s->context;
    s->result.contention = s->further.contention;
    return status;
}

fab_status cli_look_further(const cli_options *options, const fab_replay *base, fab_result *result, cli_further *out,
                            fab_error *err) {
    result->failures = NULL; /* those of the question before */
    result->overlay = out->degradation != NULL ? &out->overlay : NULL;
    FAB_PASS(options->weak_parts.n > 0 && out->degradation == NULL ? degrade(options, base, result, out, err) : FAB_OK);
    return options->failed_parts.n > 0 ? fail(options, base, result, out, err) : FAB_OK;
}
