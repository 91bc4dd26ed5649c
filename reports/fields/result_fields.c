/* The report itself: which parts it has, and `meta`. */
#include "fab/sweep.h"
#include "field_rows.h"
#include "field_tables.h"

#define COLLIDING "0009-collisions.md"

#define T fab_stat
static const fab_field STATISTICS[] = {
    FIGURE(mean, FAB_UNIT_AROUND, "Mean over the seeds.", SIGNED),
    FIGURE(ci95, FAB_UNIT_AROUND, "Half width of the 95 % confidence interval of the mean over the seeds.",
           .formula = "Student's t * sample deviation / sqrt(n)"),
    FIGURE(p50, FAB_UNIT_AROUND, "Median over the seeds, by nearest rank.", SIGNED),
    FIGURE(p99, FAB_UNIT_AROUND, "What 99 % of the seeds do not exceed, by nearest rank.", SIGNED),
    FIGURE(min, FAB_UNIT_AROUND, "Smallest over the seeds.", SIGNED),
    FIGURE(max, FAB_UNIT_AROUND, "Largest over the seeds.", SIGNED),
};
const fab_fields fab_stat_fields =
    TABLE("distribution", STATISTICS, COLLIDING, .definition = "A figure over several seeds.");

/* --- meta --------------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_result
static const char *const PROGRAM[] = {"fabriscope"};
static const char *const ANY[] = {"any"};
static const char *const COMMANDS[] = {
    [FAB_COMMAND_RUN] = "run",           [FAB_COMMAND_BUILD] = "build",       [FAB_COMMAND_COST] = "cost",
    [FAB_COMMAND_ROUTE] = "route",       [FAB_COMMAND_OPTIMIZE] = "optimize", [FAB_COMMAND_SWEEP] = "sweep",
    [FAB_COMMAND_PLACE] = "place",       [FAB_COMMAND_MIX] = "mix",           [FAB_COMMAND_STUDY] = "study",
    [FAB_COMMAND_AUDIT] = "audit",       [FAB_COMMAND_TRAFFIC] = "traffic",   [FAB_COMMAND_IMPORT] = "import",
    [FAB_COMMAND_VALIDATE] = "validate", [FAB_COMMAND_COMPARE] = "compare",   [FAB_COMMAND_PLAN] = "plan",
    [FAB_COMMAND_DIFF] = "diff",         [FAB_COMMAND_OBSERVE] = "observe",   [FAB_COMMAND_BUSBW] = "busbw",
};
static const double HISTOGRAM_EDGES[FAB_HISTOGRAM - 1] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3};

GIVES(const char *, program, PROGRAM[0]);

/* The outcome does not depend on them, so the report must not either. */
GIVES(const char *, threads, ANY[0]);
GIVES(const char *, design_name,
      here->n_fabrics > 0      ? here->fabrics[0].name
      : here->sweep != NULL    ? here->sweep->design
      : here->audited != NULL  ? here->audited
      : here->imported != NULL ? here->imported->path
      : here->listing != NULL  ? here->listing->design
                               : NULL);

const char *fab_result_command(const fab_result *result) {
    return COMMANDS[result->command];
}

const char *fab_result_design(const fab_result *result) {
    return design_name(&(fab_at){.row = result});
}

static const char *design_digest(const fab_at *at) {
    const T *r = at->row;
    bool is_listing = r->sweep == NULL && r->audited == NULL && r->imported == NULL && r->listing != NULL;
    return r->n_fabrics > 0 ? r->fabrics[0].digest : is_listing ? r->listing->digest : NULL;
}

GIVES(const char *, design_source, here->n_fabrics > 0 ? here->fabrics[0].source : NULL);
GIVES(const void *, histogram_edges, HISTOGRAM_EDGES);
GIVES(const void *, conventions, fab_conventions);

static size_t count_conventions(FAB_UNUSED const fab_at *at) {
    size_t n = 0;
    while (fab_conventions[n] != NULL) {
        n++;
    }
    return n;
}

static const fab_field META[] = {
    TEXT_BY(program, program, "Name of the program.", ONE_OF(PROGRAM)),
    FIELD(version, "Version of the program."),
    NAMED(command, command, COMMANDS, "Command that made the report."),
    TEXT_BY(design, design_name, "Name of the design, or of the file that was read.", FILLED),
    TEXT_BY(design_digest, design_digest, "Digest of the design.", FILLED),
    TEXT_BY(source, design_source, "Where the figures of the design come from.", FILLED),
    FIELD(traffic, "What is replayed.", FILLED),
    FIELD(seed, "The first seed."),
    FIELD_OF(seeds, n_seeds, "Number of seeds that were asked for."),
    TEXT_BY(threads, threads, "The result is the same for any number of threads.", ONE_OF(ANY)),
    SCALARS_BY(histogram_edges, NULL, const double, histogram_edges,
               "Utilisations between which histogram counts the links of a class.", EXACTLY(FAB_HISTOGRAM - 1)),
    FIELD(see, "Command that shows the winner alone, with the same figures.", FILLED),
    SCALARS(warnings, "warning", warnings, "What a reviewer would stop.", COUNTED(n_warnings), .is_pointer = true,
            IF(n_warnings)),
    SCALARS_BY(conventions, "convention", const char *, conventions,
               "How things are counted, and what the model leaves out.", .n = count_conventions),
};
static const fab_fields META_DATA = TABLE("meta", META, COLLIDING);

/* --- the report --------------------------------------------------------------------------------------------------- */

GIVES(const char *, listed_traffic, here->listing != NULL ? here->listing->traffic->summary : NULL);
GIVES(bool, is_listing, here->listing != NULL);
GIVES(const void *, phases_of, here->listing != NULL ? (const void *)here->listing->traffic->phases : here->phases);
GIVES(size_t, count_phases, here->listing != NULL ? here->listing->traffic->n_phases : here->n_phases);
GIVES(bool, has_phases, is_listing(at) || here->n_phases > 0);
GIVES(const void *, listed_memory,
      here->listing != NULL && here->listing->traffic->has_job ? &here->listing->traffic->memory : NULL);
GIVES(const void *, first_cost, here->n_fabrics > 0 ? fab_priced(here->fabrics) : NULL);
GIVES(const void *, first_front_end, here->n_fabrics > 0 ? here->fabrics[0].front_end : NULL);
GIVES(bool, is_validation, here->command == FAB_COMMAND_VALIDATE);
GIVES(bool, is_run, !is_validation(at));
GIVES(bool, compares_designs, here->command == FAB_COMMAND_COST && here->n_fabrics > 1);

static const fab_field RESULT[] = {
    TEXT_BY(traffic, listed_traffic, "What `traffic` lists, in one line.", .only = is_listing),
    FIELD_OF(not_evaluated, n_over_limit,
             "Candidates of a search that would take more memory than --max-memory: the others are compared.",
             IF(n_over_limit)),
    POINTED(fabric, fabrics, &fab_fabric_fields, "The fabric; of several designs that of the first.", IF(n_fabrics)),
    OBJECT_BY(cost, first_cost, &fab_cost_fields, "What it costs."),
    OBJECT_BY(front_end, first_front_end, &fab_front_end_fields, "Network for storage and data beside the fabric."),
    LIST(growth, "step", growth, n_growth, &fab_growth_fields,
         "Steps of `cost` with --steps; `fabric` and `cost` beside this field are those of the last.", FILLED),
    LIST(designs, "design", fabrics, n_fabrics, &fab_design_fields,
         "The designs that `cost` compares. The first is the baseline; `fabric` and `cost` beside this field are its.",
         .only = compares_designs, .low = 2),
    SAME_ROW(job, &fab_job_fields, "The job as resolved; the microbatch and interleaving of its phases.", IF(ranks)),
    LIST(iteration, "engine", iterations, n_iterations, &fab_iteration_fields,
         "One iteration of the training job under every engine.", FILLED),
    LIST(serving, "engine", serving, n_serving, &fab_serving_fields, "The serving job under every engine.", FILLED),
    LIST(ranking, "engine", ranking, n_ranking, &fab_ranking_fields, "A batch of the ranking job under every engine.",
         FILLED),
    LIST_BY(phases, "phase", phases_of, count_phases, &fab_phase_fields,
            "Phases of the traffic; of `traffic` those that nobody has routed yet.", .only = has_phases,
            .other = &fab_listed_phase_fields, .is_other = is_listing),
    OBJECT_BY(memory, listed_memory, &fab_memory_fields, "Memory of the job that `traffic` lists."),
    POINTED(plan, plans, &fab_plan_fields, "How the job is best run."),
    POINTED(optimize, optimum, &fab_optimum_fields, "The cheapest design under constraints."),
    POINTED(explain, explanation, &fab_explanation_fields, "Who shares a link."),
    POINTED(advice, advice, &fab_advice_fields, "What changes buy."),
    POINTED(sweep, sweep, &fab_sweep_fields, "A design at many values of a parameter."),
    POINTED(diff, difference, &fab_difference_fields, "Two states side by side."),
    POINTED(busbw, busbw, &fab_busbw_fields, "What nccl-tests should print, and what they printed."),
    POINTED(mix, mix, &fab_mix_fields, "Fabrics under two jobs."),
    POINTED(study, study, &fab_study_fields, "What failure scenarios do."),
    POINTED(observe, observed, &fab_observe_fields, "What ports have counted over what the job should do."),
    POINTED(audit, audit, &fab_audit_fields, "What is wrong with an installed fabric."),
    POINTED(import, imported, &fab_import_fields, "What was found in a file."),
    POINTED(contention, contention, &fab_contention_fields, "What jobs do to each other."),
    POINTED(degradation, degradation, &fab_degradation_fields, "What slower parts do."),
    POINTED(failures, failures, &fab_failures_fields, "What a set of failures does."),
    POINTED(validate, published, &fab_published_fields, "Published figures beside those of the program.",
            .only = is_validation),
    POINTED(published, published, &fab_published_fields, "Published figures of this design and job beside those above.",
            .only = is_run),
    POINTED(ownership, ownership, &fab_ownership_fields, "What the cluster costs to buy and run for the job."),
    POINTED(verdict, verdict, &fab_verdict_fields, "What the report comes to."),
    SAME_ROW(meta, &META_DATA, "Which program, design, seed and conventions the report is of."),
};
const fab_fields fab_result_fields = TABLE(
    "report", RESULT, "0007-counting-rules.md",
    .definition = "What a command found. Field names end in their unit. Figures that a command or version does not "
                  "compute are left out. Network links connect NICs and switches, fabric links connect switches.");
