/* What the core in a page can be asked: in place of commands/commands.c. */
#include "cli.h"

const cli_command *const CLI_COMMANDS[] = {&cli_command_explore, &cli_command_list, NULL};
