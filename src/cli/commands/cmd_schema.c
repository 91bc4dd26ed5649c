#include "cli.h"

#include "fab/design.h"
#include "fab/builtin.h"
#include "fab/catalog.h"
#include "fab/prices.h"

#include <string.h>

static fab_status print(void (*schema)(fab_str *), FILE *out, fab_error *err) {
    fab_str text = FAB_STR_INIT;
    schema(&text);
    fab_status status = fab_str_status(&text, err);
    if (status == FAB_OK) {
        (void)fwrite(text.data, 1, text.length, out);
    }
    fab_str_release(&text);
    return status;
}

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    const char *topic = options->operands.items[0];
    if (strcmp(topic, "design") == 0) {
        return print(fab_design_schema, out, err);
    }
    if (strcmp(topic, "prices") == 0) {
        return print(fab_prices_schema, out, err);
    }
    if (strcmp(topic, "catalog") == 0) {
        return print(fab_catalog_schema, out, err);
    }
    const fab_builtin *schema = NULL;
    if (strcmp(topic, "result") == 0 || strcmp(topic, "report") == 0) {
        schema = fab_builtin_find(fab_builtin_schemas, topic);
    }
    if (schema == NULL) {
        fab_choices near;
        char hint[FAB_CHOICES_TEXT];
        fab_choices_init(&near, topic);
        fab_choices_offer(&near, "design");
        fab_choices_offer(&near, "prices");
        fab_choices_offer(&near, "catalog");
        fab_choices_offer(&near, "result");
        fab_choices_offer(&near, "report");
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "command schema: '%.40s' is not design, prices, catalog, result or report%s", topic,
                        fab_choices_hint(&near, hint));
    }
    (void)fwrite(schema->data, 1, schema->size, out);
    return FAB_OK;
}

static const char *const EXAMPLES[] = {"fabriscope schema design", "fabriscope schema prices",
                                       "fabriscope schema result", NULL};
static const cli_option *const OPTIONS[] = {NULL};

const cli_command cli_command_schema = {
    .name = "schema",
    .operands = "design|prices|catalog|result|report",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the schema of design files, price books, catalogs, JSON results or XML reports",
    .details = "",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .run = run,
};
