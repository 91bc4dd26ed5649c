/**
 * @file sizes.h
 * Sizes of the texts and arrays that designs, price books and results hold.
 */
#pragma once

#define FAB_MAX_TIERS   8
#define FAB_MAX_ENGINES 16
#define FAB_MAX_JOBS    16
#define FAB_NAME_SIZE   64
#define FAB_WHERE_SIZE  192
#define FAB_FILE_SIZE   512
