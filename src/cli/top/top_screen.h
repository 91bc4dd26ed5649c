/**
 * @file top_screen.h
 * `top` on the terminal of the process.
 */
#pragma once

#include "cli.h"

/**
 * Until the reader quits; then prints the command line of the state.
 * @retval FAB_EUSAGE  the terminal cannot show it
 * @retval FAB_EUNSUPPORTED  built without ncurses
 */
fab_status top_screen_run(const cli_options *options, FILE *out, fab_error *err) FAB_MUST_USE;
