#include "cli.h"

#include "fab/catalog.h"
#include "fab/definitions.h"
#include "fab/prices.h"

static fab_status schema_print(void (*schema)(fab_str *), FILE *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    schema(&text);
    FAB_PASS(fab_str_status(&text, err));
    (void)fwrite(text.data, 1, text.length, out);
    return FAB_OK;
}

typedef struct topic {
    const char *name;
    void (*schema)(fab_str *out);
} topic;

static const topic TOPICS[] = {{"design", fab_design_schema},       {"prices", fab_prices_schema},
                               {"catalog", fab_catalog_schema},     {"gpu", fab_gpu_schema},
                               {"published", fab_published_schema}, {"result", fab_result_json_schema},
                               {"report", fab_result_xml_schema}};

static fab_status schema_run(const cli_options *options, FILE *out, fab_error *err) {
    const char *name = options->operands.items[0];
    fab_choices near = fab_choices_of(name);
    for (size_t i = 0; i < FAB_N_OF(TOPICS); i++) {
        if (strcmp(name, TOPICS[i].name) == 0) {
            return schema_print(TOPICS[i].schema, out, err);
        }
        fab_choices_offer(&near, TOPICS[i].name);
    }
    return cli_misused(err,
                       "command schema: '%.40s' is not design, prices, catalog, gpu, published, result or report%s",
                       name, fab_choices_hint(&near));
}

const cli_command cli_command_schema = {
    .name = "schema",
    CLI_OPERANDS("SCHEMA", 1, 1),
    .summary =
        "the schema of design files, price books, catalogs, GPUs, published figures, JSON results or XML reports",
    .details =
        "SCHEMA: design, prices, catalog, gpu or published (XML files that are read), result (JSON) or report (XML).",
    CLI_EXAMPLES("fabriscope schema design", "fabriscope schema prices", "fabriscope schema result"),
    CLI_OPTIONS(NULL),
    .run = schema_run,
    .hides_usage = true,
};
