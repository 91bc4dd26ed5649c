/* What the figures of a command rest on, for scripts/verify. */
#include "cli.h"

#include "fab/certificate.h"

/* What the fabric costs, and what its halves can say to each other. */
static fab_status certify_fabric(const cli_session *s, FILE *out, fab_error *err) {
    double cut_bps = 0;
    FAB_PASS(fab_bisection_certify(fab_context_what(s->context)->fabric, out, &cut_bps, err));
    fab_certificate_claim(out, "bisection_bps", cut_bps);
    fab_certificate_claim(out, "total_usd", s->result.fabrics[0].cost.total_usd);
    return FAB_OK;
}

/* Every list of servers that was tried, with its time over the seeds that judge none of the advice. */
static void certify_placements(const fab_advice *advice, FILE *out) {
    if (advice == NULL || advice->n_tried == 0) {
        return;
    }
    (void)fputs("optimum placements\n", out);
    for (size_t i = 0; i < advice->n_tried; i++) {
        const fab_advice_tried *t = &advice->tried[i];
        (void)fprintf(out, "choice %s %.17g %s\n",
                      i == advice->best_tried ? "won"
                      : isnan(t->time_s)      ? "impossible"
                                              : "costs",
                      isnan(t->time_s) ? 0 : t->time_s, t->servers);
    }
    fab_certificate_claim(out, "least_s", advice->tried[advice->best_tried].time_s);
    fab_certificate_claim(out, "tried", (double)advice->n_tried);
}

/* What the report says beside phases and schedules. */
static void omit_rest(const cli_session *s, FILE *out) {
    const cli_options *o = s->options;
    if (o->weak_parts.n + o->failed_parts.n > 0) {
        fab_certificate_omit(out, "what --degrade and --fail change; the phases are those of the healthy fabric");
    }
    if (s->result.n_seeds > 1) {
        fab_certificate_omit(out, "seeds but the first: distributions over the %" PRIu64 ", and their intervals",
                             s->result.n_seeds);
    }
    if (s->design->n_jobs > 1) {
        fab_certificate_omit(out, "jobs but the first, and what the jobs do to each other");
    }
    if (o->advise.on) {
        fab_certificate_omit(out,
                             "what --advise recommends but that no placement tried is faster; times of those tried");
    }
    if (s->result.n_iterations > 0) {
        fab_certificate_omit(out, "memory, MFU, throughput and power of the job, and what its time consists of");
    }
    fab_certificate_omit(out, "power and counts of the fabric; prices of its parts; what half a fabric guarantees");
    fab_certificate_omit(out, "tables of tiers, hot links, taper and hash factors, distances to bounds, and deadlock");
}

static fab_status certify_session(const void *context, FILE *out, fab_error *err) {
    const cli_session *s = context;
    char digest[17];
    FAB_PASS(fab_design_digest(s->asked, digest, err)); /* as in the report */
    fab_certificate_begin(s->options->command->name, digest, s->options->seed, fab_context_what(s->context)->fabric,
                          out);
    FAB_PASS(fab_certificate_phases(s->context, s->options->bound, out, err));
    for (size_t i = 0; i < s->result.n_iterations; i++) {
        fab_certificate_iteration(&s->result.iterations[i], out);
    }
    FAB_PASS(certify_fabric(s, out, err));
    certify_placements(s->result.advice, out);
    omit_rest(s, out);
    return fab_certificate_end(out, err);
}

fab_status cli_certify_with(const cli_options *options, fab_save_writer *write, const void *context, fab_error *err) {
    if (options->certificate == NULL) {
        return FAB_OK;
    }
    FAB_PASS(fab_save_file(options->certificate, options->force, write, context, err));
    cli_tell(options, "certificate written to %s", options->certificate);
    return FAB_OK;
}

fab_status cli_certify(cli_session *s, fab_error *err) {
    if (s->options->certificate == NULL) {
        return FAB_OK;
    }
    FAB_PASS(cli_session_build(s, err));
    FAB_REFUSE_IF(s->n_parts > 1, err, FAB_EUNSUPPORTED, "--certificate",
                  "the fastest plans of these engines differ, and a certificate is of one: give one --engine");
    return cli_certify_with(s->options, certify_session, s, err);
}

/* Every choice of the catalog with the cost of its best design: the winner is the cheapest that was enumerated. */
static fab_status certify_optimum(const void *context, FILE *out, fab_error *err) {
    static const char *const WORDS[] = {[FAB_LOSS_COST] = "costs",
                                        [FAB_LOSS_LIMIT] = "limit",
                                        [FAB_LOSS_UNBUILDABLE] = "unbuildable",
                                        [FAB_LOSS_UNSEEN] = "unseen"};
    const fab_result *result = context;
    const fab_optimum *o = result->optimum;
    fab_certificate_begin("optimize", result->fabrics[0].digest, result->seed, result->graph, out);
    (void)fprintf(out, "optimum\nchoice won %.17g %s\n", o->winner.total_usd, o->winner.design);
    FAB_EACH(const fab_optimum_loser, loser, o->rejected, o->n_rejected) {
        (void)fprintf(out, "choice %s %.17g %s %s\n", WORDS[loser->loss], loser->total_usd, loser->family,
                      loser->switches);
    }
    fab_certificate_claim(out, "choices", (double)o->n_structures);
    fab_certificate_claim(out, "total_usd", o->winner.total_usd);
    fab_certificate_claim(out, "lower_bound_usd", o->lower_bound_usd);
    fab_certificate_omit(out, "prices, and the cost of the best design of each choice that lost");
    fab_certificate_omit(out, "the report of the winner but its cost");
    fab_certificate_omit(out,
                         "that choices marked limit or unbuildable have no design; power and bisection of the winner");
    return fab_certificate_end(out, err);
}

fab_status cli_certify_optimum(const cli_options *options, const fab_result *result, fab_error *err) {
    return cli_certify_with(options, certify_optimum, result, err);
}

const cli_option cli_option_certificate = {
    "certificate", "FILE", "also write what the figures rest on, for scripts/verify or anybody to check",
    CLI_TEXT(certificate), .names = "file"};
