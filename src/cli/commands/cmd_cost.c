#include "cli.h"

static const cli_option OPTION_STEPS = {
    "steps", "GPUS,...", "one design built in steps of so many GPUs: parts bought, cables moved", CLI_TEXT(steps)};

static fab_status cost_measure(const cli_options *options, const char *text, fab_fabric_result *out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL; /* one graph at a time in memory */
    FAB_PASS(cli_open_design(options, text, &design, err));
    return fab_fabric_measure(design, out, &graph, err);
}

static size_t count_steps(const char *text) {
    size_t n = 1;
    for (; *text != '\0'; text++) {
        n += *text == ',';
    }
    return n;
}

/* The design with `gpus` GPUs: as --set would have it. */
static fab_status measure_step(const cli_options *options, const char *gpus, fab_fabric_result *out, fab_fabric **graph,
                               fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    char override[64];
    cli_options with = *options;
    with.overrides.items = NULL;
    FAB_OWNS_MEMBERS(with.overrides.items);
    FAB_PASS(FAB_NEW(with.overrides.items, options->overrides.n + 1, err));
    FAB_COPY(with.overrides.items, options->overrides.items, options->overrides.n);
    FAB_FORMAT(override, "fabric.gpus=%s", gpus);
    with.overrides.items[with.overrides.n++] = override;
    FAB_PASS(cli_open_design(&with, options->operands.items[0], &design, err));
    return fab_fabric_measure(design, out, graph, err);
}

static fab_status grow(const cli_options *options, fab_result *result, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *before_graph = NULL;
    size_t n = count_steps(options->steps);
    const char *at = options->steps;
    CLI_REFUSE_IF(options->operands.n != 1, err, "option --steps: one design grows, not %zu", options->operands.n);
    FAB_PASS(FAB_NEW(result->growth, n, err));
    FAB_OWNED_NEW(fab_fabric_result, before, 1, err);
    for (size_t i = 0; i < n; i++) {
        char gpus[24];
        size_t length = strcspn(at, ",");
        FAB_FORMAT(gpus, "%.*s", (int)(length < sizeof gpus ? length : sizeof gpus - 1), at);
        at += length + (at[length] == ',');
        free(result->fabrics[0].front_end);
        memset(&result->fabrics[0], 0, sizeof result->fabrics[0]);
        FAB_PASS(measure_step(options, gpus, &result->fabrics[0], &graph, err));
        CLI_REFUSE_IF(i > 0 && result->fabrics[0].counts.gpus <= before->counts.gpus, err,
                      "option --steps: %.20s does not grow: a step has more GPUs than the one before", gpus);
        FAB_PASS(fab_growth_step_of(i > 0 ? before : NULL, before_graph, &result->fabrics[0], graph, &result->growth[i],
                                    err));
        result->n_growth++;
        *before = result->fabrics[0];
        fab_fabric_free(before_graph);
        before_graph = graph;
        graph = NULL;
    }
    return FAB_OK;
}

static fab_status cost_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(fab_result_release) fab_result result = {0};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_COST, options->operands.n, &result, err));
    FAB_PASS(options->steps != NULL ? grow(options, &result, err) : FAB_OK);
    for (size_t i = 0; options->steps == NULL && i < result.n_fabrics; i++) {
        fab_fabric_result *fabric = &result.fabrics[i];
        FAB_PASS(cost_measure(options, options->operands.items[i], fabric, err));
        double baseline_usd = result.fabrics[0].cost.total_usd;
        fabric->reduction_ratio = i > 0 && baseline_usd > 0 ? 1 - fabric->cost.total_usd / baseline_usd : 0;
    }
    FAB_PASS(fab_find_warnings(&result, err));
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_cost = {
    .name = "cost",
    CLI_OPERANDS("DESIGN...", 1, SIZE_MAX),
    .summary = "bill of materials, price and power; several designs side by side",
    .details =
        "The first design is the baseline of the others' reduction. With --steps, one design is built from day 1 "
        "to day N.",
    CLI_EXAMPLES(
        "fabriscope cost rail-spine:gpus=32768,domain=256 rail-only:gpus=32768,domain=256",
        "fabriscope cost --prices rail-only-2023 rail-spine:gpus=32768,domain=256 rail-only:gpus=32768,domain=256",
        "fabriscope cost clos:gpus=4096 clos:gpus=4096,taper=2 clos:gpus=4096,taper=7 --json",
        "fabriscope cost rail-spine:gpus=1024 --steps 256,512,1024"),
    CLI_OPTIONS(&OPTION_STEPS, &cli_option_prices, &cli_option_set, CLI_REPORT_OPTIONS, &cli_option_seed,
                &cli_option_threads),
    .run = cost_run,
    .hides_usage = true,
};
