#include "cli.h"

#include "fab/mix_run.h"

static fab_status apply_share(cli_options *options, const char *value, fab_error *err) {
    char *end = NULL;
    bool is_plain = value[0] != '\0' && strspn(value, "0123456789.") == strlen(value);
    options->share = is_plain ? strtod(value, &end) : -1;
    CLI_REFUSE_IF(!is_plain || *end != '\0' || !(options->share > 0 && options->share < 1), err,
                  "option --share: '%.40s' is not a number between 0 and 1", value);
    return FAB_OK;
}

static const cli_option OPTION_RANKING = {"ranking", "key=value,...",
                                          "fields of the ranking job: model, batch, tables, ... (see 'list fields')",
                                          CLI_TEXT(ranking)};
static const cli_option OPTION_SERVING = {
    "serving", "key=value,...",
    "fields of a serving job: model, batch, prompt, tokens, tp, ...; in place of the ranking job, or beside --ranking",
    CLI_TEXT(serving)};
static const cli_option OPTION_SHARE = {
    "share", "S", "part of the time that the training job has, between 0 and 1; default 0.5; others share the rest",
    .apply = apply_share};

/* It starts from nothing but the servers of the other and the GPUs in them, since a model of one kind means nothing to
 * the other. What the two cost is one price of one cluster. */
static fab_status make_other(const char *kind, const char *fields, const char *option, fab_design *design,
                             fab_error *err) {
    fab_job_spec before;
    fab_job_spec *job = &design->jobs[0];
    FAB_PASS(design->n_jobs == 0 ? fab_design_set_job(design, 0, "kind", kind, option, err) : FAB_OK);
    before = *job;
    FAB_PASS(fab_design_default_job(job, err));
    FAB_FORMAT(job->id, "%s", kind);
    FAB_FORMAT(job->where, "%s", option);
    memcpy(job->gpu, before.gpu, sizeof job->gpu);
    job->accelerator = before.accelerator;
    job->gpu_hour_usd = before.gpu_hour_usd;
    job->offload_bps = before.offload_bps;
    job->host_memory_bps = before.host_memory_bps;
    job->servers = before.servers;
    job->storage_servers = before.storage_servers;
    job->placement = before.placement;
    job->placement_seed = before.placement_seed;
    job->gpus = before.gpus;
    job->n_servers = before.n_servers;
    design->n_jobs = 1;
    FAB_PASS(fab_design_set_job(design, 0, "kind", kind, option, err));
    FAB_PASS(fields != NULL ? cli_set_job(design, 0, fields, option, err) : FAB_OK);
    FAB_REFUSE_IF(strcmp(job->gpu, before.gpu) != 0, err, FAB_EINPUT, option,
                  "gpu=%s: the servers hold %s, and all jobs of a mix run on them: --job gpu=%s", job->gpu, before.gpu,
                  job->gpu);
    return FAB_OK;
}

static fab_status read_job(const void *context, size_t i, fab_job_kind kind, fab_design *out, fab_error *err) {
    const cli_options *options = context;
    FAB_PASS(cli_read_design(options, options->operands.items[i], out, err));
    return kind == FAB_JOB_RANKING   ? make_other("ranking", options->ranking, "--ranking", out, err)
           : kind == FAB_JOB_SERVING ? make_other("serving", options->serving, "--serving", out, err)
                                     : FAB_OK;
}

static fab_status mix_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(fab_mix_free_owned) fab_mix *mix = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    cli_progress progress = {.unit = "replays"};
    fab_job_kind kinds[FAB_MIX_JOBS] = {FAB_JOB_TRAINING};
    size_t n_jobs = 1;
    if (options->ranking != NULL || options->serving == NULL) {
        kinds[n_jobs++] = FAB_JOB_RANKING;
    }
    if (options->serving != NULL) {
        kinds[n_jobs++] = FAB_JOB_SERVING;
    }
    const fab_mix_request request = {.names = options->operands.items,
                                     .n_designs = options->operands.n,
                                     .kinds = kinds,
                                     .n_jobs = n_jobs,
                                     .share = options->share > 0 ? options->share : 0.5,
                                     .read = read_job,
                                     .read_context = options,
                                     .seed = options->seed,
                                     .n_seeds = cli_is_given(options, &cli_option_seeds) ? options->n_seeds : 0,
                                     .n_threads = (size_t)options->n_threads,
                                     .progress = cli_progress_step,
                                     .progress_context = &progress};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_MIX, 0, &result, err));
    cli_progress_start(&progress, options);
    FAB_PASS(cli_progress_end(&progress, fab_mix_run(&request, &mix, err)));
    result.mix = mix;
    result.n_over_limit = mix->n_over_limit;
    for (size_t i = 0; i < mix->n_designs && result.see == NULL; i++) {
        const fab_mix_design *d = &mix->designs[i];
        if (d->n_engines > 0 && d->engines[0].is_best) {
            cli_shown shown = {.design = options->operands.items[i]};
            FAB_PASS(cli_see_point(options, &d->job[0], &shown, &result, err));
        }
    }
    FAB_PASS(fab_find_warnings(&result, err));
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_mix = {
    .name = "mix",
    CLI_OPERANDS("DESIGN...", 1, SIZE_MAX),
    .summary = "several fabrics under training, ranking and serving: which serves them best",
    .details = "Replays the design's training job, and a ranking model (embeddings exchanged all to all) on the same "
               "servers, on every fabric; with --serving a model that reads prompts and generates tokens. A network "
               "that was built for the first may be slow for the others. The best has the most speed for its cost of "
               "ownership (of its network where the price book knows no more): the geometric mean of the jobs' "
               "speeds, weighted by --share. Beside it every job in its own units, per second and per dollar.",
    CLI_EXAMPLES(
        "fabriscope mix rail-spine:gpus=512 rail-only:gpus=512 clos:gpus=512,taper=4 --engine spray",
        "fabriscope mix rail-spine:gpus=1024 rail-spine:gpus=1024,taper=3 --share 0.8 --ranking batch=131072 --json"),
    CLI_OPTIONS(&OPTION_RANKING, &OPTION_SERVING, &OPTION_SHARE, &cli_option_set, &cli_option_job,
                &cli_option_transport, CLI_REPLAY_OPTIONS, CLI_REPORT_OPTIONS),
    .run = mix_run,
};
