/** Sizes of the texts and arrays that designs, price books and results hold. */
#pragma once

#include <stdint.h>

#define FAB_MAX_TIERS   8
#define FAB_MAX_ENGINES 16
#define FAB_MAX_JOBS    256
#define FAB_NAME_SIZE   64
#define FAB_WHERE_SIZE  192
#define FAB_FILE_SIZE   512

#define FAB_SERVERS_SIZE 8192 /* of a list of servers; ranges with a stride keep it short */

/** A list of servers: its place in the texts of the design whose job has it (fab_design_list()). Of another design it
 * means nothing: fab_design_take_job() takes a job from one. */
typedef struct fab_list_ref {
    uint32_t at, length; /**< length 0: none */
} fab_list_ref;
