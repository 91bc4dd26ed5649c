/** A routing engine as a design or an option names it. */
#pragma once

#include "fab/sizes.h"

#define FAB_ENGINE_TEXT_SIZE 1024 /* file names among its options */

#define FAB_DEFAULT_ENGINE "default engine" /**< where one comes from that nobody asked for */

/** One requested routing engine, `name[,key=value...]` as on the command line; parsed by routing/. */
typedef struct fab_engine_spec {
    char text[FAB_ENGINE_TEXT_SIZE];
    char where[FAB_WHERE_SIZE]; /**< file:line:column it came from, or "--engine" */
} fab_engine_spec;

/** Room for such a text with the defaults of all options that it leaves out. */
#define FAB_ENGINE_LABEL_SIZE (FAB_ENGINE_TEXT_SIZE + 192)
