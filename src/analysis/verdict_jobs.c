/* The verdict of several jobs: who loses most, to whom, by chance and at worst, and who costs the others most. */
#include "fab/contention.h"
#include "verdict_lines.h"

size_t fab_contention_remedy(const fab_contention *c, size_t job) {
    size_t best = c->n_remedies;
    for (size_t i = 0; i < c->n_remedies; i++) {
        const double most = best < c->n_remedies ? c->remedies[best].saved[job] : 0;
        best = c->remedies[i].saved[job] > most + FAB_VERDICT_LITTLE ? i : best;
    }
    return best;
}

size_t fab_contention_most_slowed(const fab_contention *c, const fab_contention_engine *e, size_t *out_n) {
    size_t worst[2] = {c->n_jobs, c->n_jobs}; /* at once, by chance */
    double most[2] = {1, 1};
    *out_n = 0;
    for (size_t j = 0; j < c->n_jobs; j++) {
        const fab_contended_phase *job = &e->jobs[j];
        const double longer[2] = {fab_contended_factor(job), job->expected_s > 0 ? fab_contended_longer(job) : 0};
        *out_n += fmax(longer[0], longer[1]) > 1 + FAB_VERDICT_LITTLE;
        for (int i = 0; i < 2; i++) {
            worst[i] = longer[i] > most[i] + FAB_VERDICT_LITTLE ? j : worst[i];
            most[i] = worst[i] == j ? longer[i] : most[i];
        }
    }
    return worst[worst[1] < c->n_jobs];
}

size_t fab_contention_most_costly(const fab_contention *c, const fab_contention_engine *e) {
    size_t worst = c->n_jobs;
    for (size_t j = 0; j < c->n_jobs; j++) {
        const double least = worst < c->n_jobs ? e->jobs[worst].costs_gpus : 0;
        worst = e->jobs[j].costs_gpus > least + FAB_VERDICT_LITTLE * c->jobs[j].n_gpus ? j : worst;
    }
    return worst;
}

/* Who costs a job most: what it takes without that one. */
static void bound_of_rival(const fab_contention *c, const fab_contention_engine *e, const fab_contended_phase *job,
                           char *out) {
    if (job->has_rival) {
        verdict_say(out, "; without %s it takes %s, %s less", c->jobs[job->rival].id, VERDICT_SECONDS(job->without_s),
                    VERDICT_SECONDS(fab_contended_now_s(job) - job->without_s));
        if (job->n_rivals_even > 0) {
            verdict_say(out, ", and as little without any of %" PRIu32 " more", job->n_rivals_even);
        }
        if (job->rival_link[0] != '\0') {
            verdict_say(out, "; both use %s", job->rival_link);
        }
    } else if (job->n_tried > 0) {
        verdict_say(out, "; no single job costs it a thousandth of its time%s",
                    e->n_seeds > 1 && !(job->expected_s > 0) ? ", as far as the seeds tell" : "");
    } else {
        verdict_say(out, "; to whom was not tried: that takes a replay without each of the others");
    }
    if (job->n_tried > 0 && job->n_tried + 1 < e->n_contending && !(job->expected_s > 0)) {
        verdict_say(out, " (tried: the %" PRIu32 " that share its latest links)", job->n_tried);
    } else if (job->n_tried > 0 && !job->has_rival) {
        verdict_say(out, " (%" PRIu32 " tried)", job->n_tried);
    }
}

/* Over all jobs: who loses most beside the others, and to whom. What follows is of the first alone. */
void verdict_add_jobs(const fab_contention *c, size_t engine, bool is_one_draw, char *out) {
    const fab_contention_engine *e = &c->engines[engine];
    size_t n_slowed = 0;
    const size_t worst = fab_contention_most_slowed(c, e, &n_slowed);
    if (worst == c->n_jobs) {
        verdict_say(out, "the %zu jobs do not slow each other down. ", c->n_jobs);
    } else {
        const fab_contended_phase *job = &e->jobs[worst];
        verdict_say(out, "job %s of %zu loses most to the others%s: ", c->jobs[worst].id, c->n_jobs,
                    e->n_seeds > 1 ? " (by these seeds; others may name another)" : "");
        const double alone_s = fab_contended_s(job, false);
        const double now_s = fab_contended_now_s(job);
        const size_t costly = fab_contention_most_costly(c, e);
        verdict_say(out, "%s %s instead of %s, x%.3f", job->has_iteration ? "iteration" : "phase",
                    VERDICT_SECONDS(now_s), VERDICT_SECONDS(alone_s), now_s / alone_s);
        if (job->expected_s > 0) {
            verdict_say(out, ", where phases%s meet by chance",
                        e->n_iterating < e->n_contending ? " of jobs with iterations" : "");
        } else if (job->has_iteration) {
            verdict_say(out, " while the longest phases fall together%s",
                        e->n_seeds > 1 ? "; by chance less, which one seed tells" : "");
        }
        bound_of_rival(c, e, job, out);
        if (job->expected_s > 0) {
            verdict_say(out, "; while the longest fall together once %s, x%.3f",
                        VERDICT_SECONDS(fab_contended_s(job, true)), fab_contended_factor(job));
        }
        verdict_say(out, "; %zu of %zu are slowed. ", n_slowed, c->n_jobs);
        if (e->has_expected && costly < c->n_jobs) {
            verdict_say(out, "%sob %s costs the others most: by chance the time of %.3g of their GPUs. ",
                        is_one_draw      ? "By this draw j"
                        : e->n_seeds > 1 ? "By these seeds j"
                                         : "J",
                        c->jobs[costly].id, e->jobs[costly].costs_gpus);
        }
    }
    verdict_say(out, "Job %s alone: ", c->jobs[0].id);
}
