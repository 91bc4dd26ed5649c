/* Fabrics under several kinds of job: `mix`. */
#include "fab/mix.h"
#include "field_rows.h"
#include "field_tables.h"

#define SWEEPS "0029-sweeps.md"

/* --- mix ---------------------------------------------------------------------------------------------------------- */

#define T fab_mix_engine
GIVES(const char *, mix_label, ((const fab_mix_design *)at->up->row)->job[0].engines[at->index].label);

#define UNITS      "0092-own-units.md"
#define OWNED_UNIT "ownership.total_usd x part of the GPUs / (rate x years x 31,536,000) x number"

static const fab_mix *mix_around(const fab_at *at) { /* of an engine of a design */
    return at->up->up->row;
}

/* Where the job of this kind stands in the mix; FAB_MIX_JOBS: there is none, or it has no time here. */
static size_t job_at(const fab_at *at, fab_job_kind kind) {
    const fab_mix *mix = mix_around(at);
    FAB_FIRST(j, mix->n_jobs, mix->kind[j] == kind);
    return ((const T *)at->row)->has_time && j < mix->n_jobs ? j : FAB_MIX_JOBS;
}

static double of_job(const fab_at *at, fab_job_kind kind, const double *values) {
    const size_t j = job_at(at, kind);
    return j < FAB_MIX_JOBS ? values[j] : 0;
}

static double mix_estimate(const fab_at *at) {
    const fab_mix_design *design = at->up->row;
    const size_t n_jobs = ((const T *)at->row)->has_time ? mix_around(at)->n_jobs : 0;
    FAB_MOST(double, most, j, n_jobs, design->job[j].engines[at->index].estimated_ratio);
    return most;
}

GIVES(bool, has_ranking, job_at(at, FAB_JOB_RANKING) < FAB_MIX_JOBS);
GIVES(bool, has_serving, job_at(at, FAB_JOB_SERVING) < FAB_MIX_JOBS);
GIVES(double, ranking_slowdown, of_job(at, FAB_JOB_RANKING, here->slowdown));
GIVES(double, serving_slowdown, of_job(at, FAB_JOB_SERVING, here->slowdown));
GIVES(double, ranking_rate, of_job(at, FAB_JOB_RANKING, here->rate));
GIVES(double, ranking_per_usd, of_job(at, FAB_JOB_RANKING, here->per_usd));
GIVES(double, serving_rate, of_job(at, FAB_JOB_SERVING, here->rate));
GIVES(double, training_usd, 1e9 / here->per_usd[0]);
GIVES(double, serving_usd, 1e6 / of_job(at, FAB_JOB_SERVING, here->per_usd));
GIVES(bool, is_priced, here->has_time && here->per_usd[0] > 0);
GIVES(bool, has_ranking_price, of_job(at, FAB_JOB_RANKING, here->per_usd) > 0);
GIVES(bool, has_serving_price, of_job(at, FAB_JOB_SERVING, here->per_usd) > 0);

static const fab_field MIX_ENGINES[] = {
    TEXT_BY(label, mix_label, "The engine with its options."),
    REAL_BY(estimated_ratio, mix_estimate, NULL,
            "Hashes are estimated: no phase of a job takes more than this part longer, but in one draw in a thousand.",
            FILLED),
    FIELD_OF(training_slowdown_ratio, slowdown[0],
             "Time of the training job over that on the fastest of the designs, same engine.", IF(has_time)),
    REAL_BY(ranking_slowdown_ratio, ranking_slowdown, NULL,
            "Time of the ranking job over that on the fastest of the designs, same engine.", .only = has_ranking),
    REAL_BY(serving_slowdown_ratio, serving_slowdown, NULL,
            "Time of a served batch over that on the fastest of the designs, same engine.", .only = has_serving),
    FIGURE_OF(training_tokens_per_s, rate[0], "1/s", "Tokens that the training job trains per second.", IF(has_time),
              .source = UNITS),
    REAL_BY(training_usd_per_1e9_tokens, training_usd, "USD", "Cost of ownership of its part per 1e9 tokens.",
            .only = is_priced, .source = UNITS, .formula = OWNED_UNIT),
    REAL_BY(ranking_samples_per_s, ranking_rate, "1/s", "Samples that the ranking job takes per second.",
            .only = has_ranking, .source = UNITS, .formula = "batch / time_s"),
    REAL_BY(ranking_samples_per_usd, ranking_per_usd, "1/USD", "Samples per dollar of ownership of its part.",
            .only = has_ranking_price, .source = UNITS,
            .formula = "ranking_samples_per_s x years x 31,536,000 / (ownership.total_usd x part of the GPUs)"),
    REAL_BY(serving_tokens_per_s, serving_rate, "1/s", "Tokens that the serving job generates per second.",
            .only = has_serving, .source = UNITS),
    REAL_BY(serving_usd_per_1e6_tokens, serving_usd, "USD", "Cost of ownership of its part per 1e6 tokens generated.",
            .only = has_serving_price, .source = UNITS, .formula = OWNED_UNIT),
    FIELD_OF(speed_ratio, speed, "Geometric mean of the speeds of all jobs, weighted by their shares.", IF(has_time),
             .formula = "1 / product of slowdown_ratio^share over the jobs"),
    FIELD_OF(speed_per_usd_ratio, speed_per_usd, "Speed for the cost of ownership, or of the network; the best has 1.",
             IF(has_time),
             .formula = "speed_ratio / ownership.total_usd of the training job (or total_usd), over the best"),
    FIELD(serves_all, "Whether the fabric is fungible: no job takes more than 1.05 times what it takes on its fastest.",
          IF(has_time)),
    FIELD_OF(best, is_best, "Whether no design has more speed per dollar under this engine.", IF(has_time)),
};
static const fab_fields MIX_ENGINE = TABLE("mix_engine", MIX_ENGINES, SWEEPS);

#undef T
#define T fab_mix_design
static const fab_field MIX_DESIGNS[] = {
    FIELD(name, "Name of the design, or its one-line form."),
    ARRAY(jobs, "job", job, n_jobs, &fab_sweep_point_fields,
          "The training job, the ranking job and the serving job, as far as asked for.", .low = 2,
          .high = FAB_MIX_JOBS),
    LIST(engines, "engine", engines, n_engines, &MIX_ENGINE, "All jobs together under every engine."),
};
static const fab_fields MIX_DESIGN = TABLE("mix_design", MIX_DESIGNS, SWEEPS);

#undef T
#define T fab_mix
static double share_of(const fab_mix *mix, fab_job_kind kind) {
    FAB_FIRST(j, mix->n_jobs, mix->kind[j] == kind);
    return j < mix->n_jobs ? mix->share[j] : 0;
}

GIVES(double, ranking_share, share_of(here, FAB_JOB_RANKING));
GIVES(double, serving_share, share_of(here, FAB_JOB_SERVING));
GIVES(bool, mixes_ranking, ranking_share(at) > 0);
GIVES(bool, mixes_serving, serving_share(at) > 0);

static const fab_field MIX[] = {
    FIELD_OF(training_share, share[0], "Part of the time that the training job has."),
    REAL_BY(ranking_share, ranking_share, NULL, "Part of the time that the ranking job has.", .only = mixes_ranking,
            .formula = "(1 - training_share) / other jobs"),
    REAL_BY(serving_share, serving_share, NULL, "Part of the time that the serving job has.", .only = mixes_serving,
            .formula = "(1 - training_share) / other jobs"),
    FIELD(by_ownership, "Whether speed is over the cost of ownership: known of every design; else over the network's."),
    LIST(designs, "design", designs, n_designs, &MIX_DESIGN, "The fabrics that are compared."),
};
const fab_fields fab_mix_fields = TABLE("mix", MIX, SWEEPS, .definition = "Fabrics under a training job and others.");
