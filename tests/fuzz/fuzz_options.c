/* Command lines: a line for each argument. Only reading: no command runs. */
#include "cli.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 64

static void check_options(const cli_options *options, size_t n_arguments) {
    fab_policy policies[FAB_POLICY_N];
    size_t n_policies = 0;
    fab_error err = {0};
    fuzz_check(options->operands.n <= n_arguments, "%zu operands of %zu arguments", options->operands.n, n_arguments);
    fuzz_check(options->help || options->operands.n >= options->command->min_operands, "operands are missing");
    fuzz_check(options->n_threads > 0 && options->n_seeds > 0, "no threads or no seeds");
    (void)fuzz_accepts(cli_read_policies(options, policies, &n_policies, &err), &err);
    fuzz_check(n_policies <= FAB_POLICY_N, "%zu policies", n_policies);
    for (size_t i = 0; i < options->n_vary; i++) {
        cli_vary vary = {.text = NULL};
        err = (fab_error){0};
        if (fuzz_accepts(cli_vary_parse(options->vary[i], &vary, &err), &err)) {
            fuzz_check(vary.n_values > 0 && vary.path[0] != '\0', "'%s' varies nothing", options->vary[i]);
        }
        cli_vary_release(&vary);
    }
    for (size_t i = 0; i < options->jobs.n; i++) {
        fab_design *design = calloc(1, sizeof *design);
        err = (fab_error){0};
        (void)fuzz_accepts(cli_set_job(design, 0, options->jobs.items[i], "--job", &err), &err);
        free(design);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *arguments[MOST_ARGUMENTS];
    int n = 0;
    char *text = fuzz_text(data, size);
    for (char *at = text; at != NULL && n < MOST_ARGUMENTS;) {
        char *end = strchr(at, '\n');
        arguments[n++] = at;
        if (end != NULL) {
            *end++ = '\0';
        }
        at = end;
    }
    const cli_command *command = cli_find_command(arguments[0]);
    cli_options options = {0};
    fab_error err = {0};
    int first = 1;
    if (command != NULL && command->subcommands != NULL && n > 1) {
        first = 2;
        command = fuzz_accepts(cli_find_subcommand(command, arguments[1], &command, &err), &err) ? command : NULL;
    }
    if (command != NULL && command->run != NULL) {
        if (fuzz_accepts(cli_options_parse(command, n - first, arguments + first, &options, &err), &err)) {
            check_options(&options, (size_t)n);
        } else {
            fuzz_check(err.code == FAB_EUSAGE, "%s: %s", fab_status_name(err.code), err.text);
        }
    }
    cli_options_release(&options);
    free(text);
    return 0;
}
