#include "cli.h"

#include "fab/metrics.h"

#include <string.h>

#define WIDTH  80
#define INDENT 12

static void print_line(const char *head, const char *text, FILE *out) {
    if (text != NULL) {
        (void)fprintf(out, "%-*s", INDENT, head);
        cli_wrap(text, INDENT, INDENT, WIDTH, out);
    }
}

static fab_status list_all(FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    static const cli_column COLUMNS[] = {{"Metric", "name", false}, {"Unit", "unit", false}, {"Of", "of", false}};
    cli_table table = {.columns = COLUMNS, .n_columns = 3};
    for (const fab_metric *m = fab_metrics; m->name != NULL; m++) {
        cli_table_add(&table, "%s", m->name);
        cli_table_add(&table, "%s", m->unit);
        cli_table_add(&table, "%s", m->of);
    }
    FAB_TRY(cli_table_status(&table, err));
    cli_table_text(&table, WIDTH, out);
    (void)fputs("\n'fabriscope explain METRIC' gives definition, formula and source.\n", out);
done:
    cli_table_release(&table);
    return status;
}

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    if (options->operands.n == 0) {
        return list_all(out, err);
    }
    const char *name = options->operands.items[0];
    if (strncmp(name, "server:", 7) == 0) {
        return cli_explain_server(name + 7, out, err);
    }
    const fab_metric *metric = fab_metric_find(name);
    if (metric == NULL) {
        fab_choices near;
        char hint[FAB_CHOICES_TEXT];
        fab_choices_init(&near, name);
        for (const fab_metric *m = fab_metrics; m->name != NULL; m++) {
            fab_choices_offer(&near, m->name);
        }
        return fab_fail(err, FAB_EUSAGE, NULL, "unknown metric '%.60s'%s", name, fab_choices_hint(&near, hint));
    }
    (void)fprintf(out, "%s\n\n", metric->name);
    print_line("Definition", metric->definition, out);
    print_line("Unit", metric->unit, out);
    print_line("Formula", metric->formula, out);
    print_line("Of", metric->of, out);
    print_line("Source", metric->source, out);
    return FAB_OK;
}

static const char *const EXAMPLES[] = {"fabriscope explain max_collision_factor", "fabriscope explain",
                                       "fabriscope explain server:nccl-topo.xml", NULL};
static const cli_option *const OPTIONS[] = {NULL};

const cli_command cli_command_explain = {
    .name = "explain",
    .operands = "[METRIC]",
    .max_operands = 1,
    .summary = "what a figure of a report means: definition, unit, formula, source",
    .details =
        "Figures are named as in JSON and XML reports. Without a name all of them are listed. server:FILE shows the "
        "inside of a server as NCCL's topology file has it: which GPU shares which PCIe switch and NIC, at what "
        "rates; a design takes it by server=FILE.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .run = run,
};
