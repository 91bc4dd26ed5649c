/** How a session runs a job under engines that have a plan of their own. */
#pragma once

#include "fab/best_run.h"
#include "fab/result.h"

/** Engines that run the job alike. */
typedef struct cli_part {
    fab_choice choice;
    fab_context *context;
    fab_context *first;  /**< where chunks were chosen: the base of context, before that; NULL else, as the next */
    fab_design *chunked; /**< what context stands on then */
    fab_result_part of;  /**< what it comes to; empty where there is one part: that is the result */
} cli_part;
