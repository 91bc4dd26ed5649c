/* What the program can be asked, in the order of its help. */
#include "cli.h"

const cli_command *const CLI_COMMANDS[] = {&cli_command_run,      &cli_command_build,
                                           &cli_command_cost,     &cli_command_traffic,
                                           &cli_command_route,    &cli_command_sweep,
                                           &cli_command_compare,  &cli_command_diff,
                                           &cli_command_place,    &cli_command_plan,
                                           &cli_command_busbw,    &cli_command_mix,
                                           &cli_command_optimize, &cli_command_study,
                                           &cli_command_audit,    &cli_command_observe,
                                           &cli_command_import,   &cli_command_validate,
                                           &cli_command_list,     &cli_command_schema,
                                           &cli_command_explain,  &cli_command_explore,
                                           &cli_command_top,      &cli_command_version,
                                           &cli_command_help,     NULL};

const bool CLI_HOLDS = false;

fab_place_ordered *const CLI_PLACE_IN_ORDER = fab_place_in_order;
