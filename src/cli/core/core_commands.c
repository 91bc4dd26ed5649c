/* What the core in a page can be asked: in place of commands/commands.c. The page asks explore, hold and list; the
 * others are those of published figures, beside which a result is laid. */
#include "cli.h"

static fab_status hold(FAB_UNUSED const cli_options *options, FAB_UNUSED FILE *out, fab_error *err) {
    return cli_explore_hold(err);
}

/* Between two questions, so that the first about a broken part need not wait for it. */
static const cli_command HOLD = {
    .name = "hold", .summary = "what broken parts need of the job that is open", CLI_OPTIONS(NULL), .run = hold};

const cli_command *const CLI_COMMANDS[] = {
    &cli_command_explore, &cli_command_list, &cli_command_run, &cli_command_build, &HOLD, NULL};

const bool CLI_HOLDS = true;

fab_place_ordered *const CLI_PLACE_IN_ORDER = NULL;
