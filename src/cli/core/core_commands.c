/* What the core in a page can be asked: in place of commands/commands.c. The page asks explore and list; the others are
 * those of published figures, beside which a result is laid. */
#include "cli.h"

const cli_command *const CLI_COMMANDS[] = {&cli_command_explore, &cli_command_list, &cli_command_run,
                                           &cli_command_build, NULL};
