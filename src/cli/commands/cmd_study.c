/* Failure studies: planned into a folder, run by any number of workers, gathered, shown. */
#include "cli.h"
#include "world.h"

#include "fab/assess.h"
#include "fab/goodput_run.h"
#include "fab/plan_run.h"
#include "fab/study.h"
#include "fab/sweep_run.h"
#include "fab/topologies.h"

#include <errno.h>
#include <unistd.h>

#define SAMPLE_S 0.25

static void say_next(const char *step, const cli_options *options, FILE *out) {
    FAB_OWNS(fab_str_release) fab_str store = FAB_STR_INIT;
    fab_str_add_shell(&store, options->store);
    (void)fprintf(out, "Next: fabriscope study %s --store %s\n", step, store.failed ? options->store : store.data);
}

/* --- options ------------------------------------------------------------------------------------------------------ */

static const char *const FIGURES[] = {"times", "loads", "p99", NULL}; /* of cli_figures */

static fab_status apply_shard(cli_options *options, const char *value, fab_error *err) {
    fab_error inner = {0};
    char index[16];
    size_t n = strcspn(value, "/");
    CLI_REFUSE_IF(value[n] != '/' || n >= sizeof index, err, "option --shard: '%.40s' is not I/N, as 0/8", value);
    FAB_FORMAT(index, "%.*s", (int)n, value);
    CLI_REFUSE_IF(fab_count_parse(value + n + 1, 1, FAB_SHARDS_MOST, &options->n_shards, &inner) != FAB_OK ||
                      fab_count_parse(index, 0, options->n_shards - 1, &options->shard, &inner) != FAB_OK,
                  err, "option --shard: %s", inner.text);
    return FAB_OK;
}

const cli_option cli_option_store = {"store", "DIR", "folder of the study", CLI_TEXT(store), .names = "folder"};
static const cli_option OPTION_SCENARIOS = {"scenarios", "SPEC",
                                            "what fails: CLASS:K (every set of K links, access-links, fabric-links, "
                                            "switches, nics, gpus, servers, racks or planes), CLASS:K@classes (the "
                                            "same, one of each class of equal ones is looked at), CLASS:K@N (N random "
                                            "sets), power:rack, update:spine and other events, time:30d@N (N "
                                            "histories), file:PATH; all: list scenarios",
                                            CLI_TEXT(scenarios)};
const cli_option cli_option_policy = {
    "policy", "NAME,...",
    "where ranks go when their server is lost: none, first-spare, same-rack, same-pod, same-slice, collision-aware; "
    "shrink (of histories): the first spare, and without one the job goes on with fewer replicas; repeatable. Default: "
    "none, and what fits the job: first-spare where a server is idle, shrink where replicas can go on alone",
    CLI_LIST(policies)};
static const cli_option OPTION_FIGURES = {
    "figures", "WHAT",
    "times (default): of phases and iterations; loads: collisions and loads alone, much faster; p99: times within "
    "which 99 % of the requests of serving and of all-to-alls (ranking, experts) are answered",
    CLI_CHOICE(figures, FIGURES)};
static const cli_option OPTION_SHARD = {
    "shard", "I/N", "the share of worker I of N, from 0; default 0/1. Changes no result", .apply = apply_shard};
static const cli_option OPTION_SEEDS = {
    "seeds", "N",
    "draws of the paths: histories are dealt to them, sets have means over them. "
    "Default 8, 4 of large designs, or 1 where there are too many paths and sets, or "
    "nothing is drawn; at most half of the histories",
    CLI_COUNT(n_seeds, 1, FAB_ASSESS_DRAWS)};
static const cli_option OPTION_PARTIAL = {"partial", NULL, "gather what is there, though scenarios are missing",
                                          CLI_FLAG(partial)};

/* --- plan --------------------------------------------------------------------------------------------------------- */

static void print_planned(const cli_options *options, const fab_study_planned *planned, FILE *out) {
    const fab_plan *plan = &planned->plan;
    (void)fprintf(out, "%s of %s, design %s\n", planned->was_there ? "Planned already: a study" : "Planned a study",
                  plan->name, plan->digest);
    (void)fprintf(out, "  scenarios  %s: %s, seed %" PRIu64 "\n", FAB_SAY_COUNT(plan->n_scenarios), plan->scenarios,
                  plan->seed);
    (void)fprintf(out, "  traffic    %s\n  figures    %s\n", plan->traffic, fab_study_figures_names[plan->figures]);
    for (size_t v = 0; v < plan->n_variants; v++) {
        (void)fprintf(out, "  %s  %s, policy %s\n", v == 0 ? "variants " : "         ", plan->variants[v].label,
                      plan->variants[v].policy);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        (void)fprintf(out, "  %s  %s\n", i == 0 ? "copies of" : "         ", plan->files[i].given);
    }
    (void)fprintf(out, "  store      about %s\n\n",
                  FAB_SAY(planned->scenario_bytes * (double)plan->n_scenarios, FAB_UNIT_BYTES));
    say_next("run", options, out);
}

/* The plan that histories leave most, as a sweep takes it; without them, or where several engines share one, the
 * fastest. Chosen once, for the healthy fabric. */
static fab_status settle_plan(const cli_options *options, const char *traffic, const fab_policy *policies,
                              size_t n_policies, fab_design *design, fab_error *err) {
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point point = {.n_phases = 0};
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    fab_error why = {.code = FAB_OK};
    bool is_found = false;
    cli_progress progress = {.unit = "plans"};
    const fab_sweep_request request = {.traffic = traffic,
                                       .seed = options->seed,
                                       .n_threads = (size_t)options->n_threads,
                                       .scenarios = options->scenarios,
                                       .progress = cli_progress_step,
                                       .progress_context = &progress,
                                       .policy = n_policies > 0 ? policies[n_policies - 1] : FAB_POLICY_FITTING};
    FAB_OWNED_COPY(fab_design, planned, design, err);
    if (design->n_jobs == 0 || design->jobs[0].model[0] == '\0') { /* it tells the model too */
        FAB_PASS(fab_plan_settle(planned, traffic, NULL, options->seed, (size_t)options->n_threads, err));
    }
    if (design->n_engines == 1 && fab_goodput_has_time(options->scenarios) && fab_plan_is_wanted(design, traffic)) {
        cli_progress_start(&progress, options);
        const fab_status status = cli_progress_end(&progress, fab_sweep_evaluate(&request, design, &point, &why));
        is_found =
            status == FAB_OK && point.n_engines == 1 && point.engines[0].has_plan && point.engines[0].n_plans_tried > 0;
    }
    if (is_found) {
        char model[sizeof planned->jobs[0].model];
        memcpy(model, planned->jobs[0].model, sizeof model);
        FAB_PASS(fab_topology_build(&design->fabric, &fabric, NULL, err));
        FAB_PASS(fab_plan_set(design, fabric, &point.engines[0].plan, model, planned, &is_found, err));
    }
    if (is_found) {
        *design = *planned;
        return FAB_OK;
    }
    return fab_plan_settle(design, traffic, NULL, options->seed, (size_t)options->n_threads, err);
}

static fab_status run_plan(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNED fab_design *design = NULL;
    fab_policy policies[FAB_POLICY_N];
    size_t n_policies = 0;
    fab_study_planned planned = {.was_there = false};
    FAB_TRY(cli_needs(options->command, options->store != NULL, "--store DIR", err));
    FAB_TRY(cli_needs(options->command, options->scenarios != NULL, "--scenarios SPEC", err));
    FAB_TRY(cli_read_policies(options, policies, &n_policies, err));
    FAB_TRY(FAB_NEW(design, 1, err));
    FAB_TRY(cli_read_design(options, options->operands.items[0], design, err));
    const char *traffic = options->traffic != NULL ? options->traffic : "job";
    FAB_TRY(settle_plan(options, traffic, policies, n_policies, design, err));
    const fab_study_request request = {.design = design,
                                       .program = FAB_VERSION,
                                       .traffic = traffic,
                                       .scenarios = options->scenarios,
                                       .policies = policies,
                                       .n_policies = n_policies,
                                       .seed = options->seed,
                                       .n_seeds = cli_is_given(options, &OPTION_SEEDS) ? options->n_seeds : 0,
                                       .figures = options->figures == CLI_TIMES ? FAB_FIGURES_TIMES
                                                  : options->figures == CLI_P99 ? FAB_FIGURES_P99
                                                                                : FAB_FIGURES_LOADS,
                                       .sample_s = SAMPLE_S};
    FAB_TRY(fab_study_plan(&request, options->store, &planned, err));
    if (out != NULL) {
        print_planned(options, &planned, out);
    }
    cli_tell(options, "about %s per scenario, %s for all on one thread", FAB_SAY(planned.scenario_s, FAB_UNIT_TIME),
             FAB_SAY(planned.scenario_s * (double)planned.plan.n_scenarios, FAB_UNIT_TIME));
done:
    fab_plan_release(&planned.plan);
    return status;
}

/* --- run ---------------------------------------------------------------------------------------------------------- */

static bool is_interrupted(FAB_UNUSED void *context) {
    return cli_interrupted() != 0;
}

static void tell_rest(const cli_options *options, const fab_study_tally *tally) {
    (void)fprintf(stderr, "fabriscope: interrupted; %s of %s scenarios%s are stored. ",
                  FAB_SAY_COUNT(tally->n_before + tally->n_run), FAB_SAY_COUNT(tally->n_share),
                  options->n_shards > 1 ? " of this share" : "");
    if (options->command == &cli_command_study) {
        (void)fprintf(stderr, "With --store %s the same command goes on\n", options->store);
    } else {
        (void)fputs("The same command goes on\n", stderr);
    }
}

static fab_status run_run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_study_tally tally = {0};
    cli_progress progress = {.unit = "scenarios"};
    cli_world world = {0, 1};
    bool in_world = false;
    FAB_TRY(cli_needs(options->command, options->store != NULL, "--store DIR", err));
    FAB_TRY(cli_world_enter(&world, err));
    in_world = true;
    FAB_FAIL_IF(world.size > 1 && options->n_shards > 1, err, FAB_EUSAGE, NULL,
                "option --shard: under MPI every process has a share by its rank");
    uint64_t shard = world.size > 1 ? world.rank : options->shard;
    uint64_t n_shards = world.size > 1 ? world.size : options->n_shards;
    const fab_study_job job = {.folder = options->store,
                               .program = FAB_VERSION,
                               .shard = (uint32_t)shard,
                               .n_shards = (uint32_t)n_shards,
                               .n_threads = (size_t)options->n_threads,
                               .max_bytes = options->max_memory,
                               .stop = is_interrupted,
                               .progress = cli_progress_step,
                               .progress_context = &progress};
    cli_catch_interrupts();
    cli_progress_start(&progress, options);
    FAB_TRY(cli_progress_end(&progress, fab_study_run(&job, &tally, err)));
    if (tally.n_before + tally.n_run < tally.n_share) {
        tell_rest(options, &tally);
        cli_end_interrupted();
    }
    if (out == NULL) {
        goto done;
    }
    (void)fprintf(out, "%s of %s scenarios", FAB_SAY_COUNT(tally.n_share), FAB_SAY_COUNT(tally.n_scenarios));
    if (n_shards > 1) {
        (void)fprintf(out, ", share %" PRIu64 "/%" PRIu64 ",", shard, n_shards);
    }
    (void)fprintf(out, " are done: %s now, %s before\n", FAB_SAY_COUNT(tally.n_run), FAB_SAY_COUNT(tally.n_before));
    say_next("gather", options, out);
done:
    if (in_world) {
        cli_world_leave();
    }
    return status;
}

/* --- gather ------------------------------------------------------------------------------------------------------- */

static fab_status run_gather(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(fab_plan_release) fab_plan plan = {.program = NULL};
    fab_gathered gathered = {0};
    cli_progress progress = {.unit = "scenarios"};
    FAB_PASS(cli_needs(options->command, options->store != NULL, "--store DIR", err));
    FAB_PASS(fab_plan_read(options->store, &plan, err));
    cli_progress_start(&progress, options);
    FAB_PASS(cli_progress_end(&progress, fab_store_gather(options->store, &plan, options->partial, cli_progress_step,
                                                          &progress, &gathered, err)));
    if (out == NULL) {
        return FAB_OK;
    }
    (void)fprintf(out, "%s of %s scenarios gathered from %s shard%s into %s/results.db\n",
                  FAB_SAY_COUNT(gathered.n_done), FAB_SAY_COUNT(plan.n_scenarios), FAB_SAY_COUNT(gathered.n_shards),
                  gathered.n_shards == 1 ? "" : "s", options->store);
    if (gathered.n_twice > 0) {
        (void)fprintf(out, "%s were in several shards, with the same results\n", FAB_SAY_COUNT(gathered.n_twice));
    }
    if (gathered.n_busy > 0) {
        (void)fprintf(out, "%s shard%s left out: other machines write them\n", FAB_SAY_COUNT(gathered.n_busy),
                      gathered.n_busy == 1 ? "" : "s");
    }
    if (gathered.n_bad > 0) {
        (void)fprintf(out, "%s shard%s left out: damaged; 'study gather' without --partial says how\n",
                      FAB_SAY_COUNT(gathered.n_bad), gathered.n_bad == 1 ? "" : "s");
    }
    say_next("show", options, out);
    return FAB_OK;
}

/* --- all steps ---------------------------------------------------------------------------------------------------- */

/* A folder for a study that none was named for; it stays, so that more can be asked of it. */
static fab_status make_store(fab_str *out, fab_error *err) {
    const char *folder = getenv("TMPDIR");
    fab_str_printf(out, "%s/fabriscope-study-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    FAB_PASS(fab_str_status(out, err));
    return mkdtemp(out->data) != NULL
               ? FAB_OK
               : fab_fail(err, FAB_EIO, out->data, "cannot make a folder for the study: %s", strerror(errno));
}

static fab_status run_all(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str store = FAB_STR_INIT;
    cli_options with = *options;
    FAB_FAIL_IF(options->n_shards > 1 || options->partial, err, FAB_EUSAGE, NULL,
                "option --%s: shares of a study are run by 'study run' and gathered by 'study gather'",
                options->partial ? "partial" : "shard");
    FAB_TRY(cli_needs(options->command, options->scenarios != NULL, "--scenarios SPEC (list scenarios)", err));
    FAB_TRY(cli_check_study_show(options, err));
    if (options->store == NULL) {
        FAB_TRY(make_store(&store, err));
        with.store = store.data;
    }
    FAB_TRY(run_plan(&with, NULL, err));
    FAB_TRY(run_run(&with, NULL, err));
    FAB_TRY(run_gather(&with, NULL, err));
    FAB_TRY(cli_command_study_show.run(&with, out, err));
    cli_tell(options, "the study is in %s: 'fabriscope study show --store %s' tells more of it", with.store,
             with.store);
done:
    if (status != FAB_OK && store.length > 0) {
        (void)rmdir(store.data); /* where nothing was planned */
    }
    fab_str_release(&store);
    return status;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static const cli_command PLAN = {
    .name = "study plan",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "numbers the scenarios and makes the folder of the study",
    .details =
        "Checks everything that a run will need, tries a few scenarios for an estimate, and writes the plan, with "
        "copies of the files that it names: a run needs nothing but the folder. Scenario i depends on the plan "
        "and i alone. Planning the same once more changes nothing; a folder with another plan is refused.",
    CLI_EXAMPLES(
        "fabriscope study plan rail-spine:gpus=128,radix=16 --scenarios links:1 --store every-link",
        "fabriscope study plan preset:llama3-24k-roce --scenarios servers:1@10000 --policy first-spare --policy "
        "same-rack --figures loads --store study",
        "fabriscope study plan clos:gpus=512,spares=4 --scenarios time:30d@1000 --policy first-spare --store months"),
    CLI_OPTIONS(&OPTION_SCENARIOS, &cli_option_store, &cli_option_policy, &OPTION_FIGURES, &cli_option_set,
                &cli_option_job, &cli_option_transport, &cli_option_traffic, &cli_option_engine, &OPTION_SEEDS,
                &cli_option_seed, &cli_option_quiet),
    .run = run_plan,
};

static const cli_command RUN = {
    .name = "study run",
    CLI_OPERANDS("", 0, 0),
    .summary = "computes the scenarios, or a share of them, and goes on where it was",
    .details = "Every worker writes a file of its own: several processes, on several machines, take --shard 0/N to "
               "N-1/N of the same folder. Whatever ends a worker, what it had stored stays, and the same command goes "
               "on; shares and threads may change in between. An interrupt ends it after the scenarios that are being "
               "computed; a second one at once.",
    CLI_EXAMPLES("fabriscope study run --store every-link",
                 "fabriscope study run --store every-link --shard 3/8 --threads 4"),
    CLI_OPTIONS(&cli_option_store, &OPTION_SHARD, &cli_option_threads, &cli_option_quiet),
    .run = run_run,
};

static const cli_command GATHER = {
    .name = "study gather",
    CLI_OPERANDS("", 0, 0),
    .summary = "merges what the workers have written into results.db",
    .details = "The same bytes, however the scenarios were shared out. Fails where scenarios are missing, unless "
               "--partial is given. results.db is an SQLite database; its tables are described in "
               "src/doc/study-store.md.",
    CLI_EXAMPLES("fabriscope study gather --store every-link", "fabriscope study gather --store every-link --partial"),
    CLI_OPTIONS(&cli_option_store, &OPTION_PARTIAL, &cli_option_quiet),
    .run = run_gather,
};

static const cli_command *const SUBCOMMANDS[] = {&PLAN, &RUN, &GATHER, &cli_command_study_show, NULL};

const cli_command cli_command_study = {
    .name = "study",
    CLI_OPERANDS("DESIGN | STEP", 1, 1),
    .summary = "failure scenarios: at once, or plan, run, gather, show",
    .details =
        "What failures do to a job, scenario by scenario: collisions, times, lost bandwidth, and which policy for "
        "spare servers is best. With a design in place of a subcommand all steps are taken one after the other, in the "
        "folder of --store or a temporary one, which stays and is named. A study is a folder: planned once, run by any "
        "number of workers, gathered, shown. "
        "Killed at any moment and started again, no scenario is lost or counted twice.",
    CLI_EXAMPLES("fabriscope study rail-spine:gpus=128,radix=16 --scenarios switches:1",
                 "fabriscope study plan rail-spine:gpus=128,radix=16 --scenarios links:1 --store every-link",
                 "fabriscope study run --store every-link", "fabriscope study gather --store every-link",
                 "fabriscope study show --store every-link"),
    /* those of all subcommands */
    CLI_OPTIONS(&cli_option_store, &OPTION_SCENARIOS, &cli_option_policy, &OPTION_FIGURES, &OPTION_SHARD,
                &OPTION_PARTIAL, &cli_option_set, &cli_option_job, &cli_option_transport, &cli_option_traffic,
                &cli_option_engine, &OPTION_SEEDS, &cli_option_seed, &cli_option_threads, &cli_option_top,
                &cli_option_variant, CLI_GRAPH_OPTIONS, &cli_option_certificate, CLI_REPORT_OPTIONS),
    .subcommands = SUBCOMMANDS,
    .run = run_all,
};
