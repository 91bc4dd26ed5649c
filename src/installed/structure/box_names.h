/** What the name of a box tells: its role and its numbers. */
#pragma once

#include "fab/network.h"

#define FAB_NAME_NUMBERS 3

/** "MF0;A09-P1-IBLEAF-04-02:MQM9701/U1": IBLEAF, 4 and 2. */
typedef struct fab_box_name {
    const char *role; /**< the longest run of letters before a number, in the label; NULL: there is none */
    size_t n_role;
    uint64_t before; /**< pattern of the text before the role: "storage-" of "storage-leaf-2" */
    uint32_t n;      /**< numbers behind it, joined by - or _ */
    uint64_t at[FAB_NAME_NUMBERS];
    int width[FAB_NAME_NUMBERS]; /**< digits, with leading zeros */
    bool is_board; /**< "MF0;core-1:CS8500/L02/U1", of a director: L, 2 and 1; role is L or S, leaf or spine board */
} fab_box_name;

fab_box_name fab_box_name_of(const char *label);

/** "L02/U1" of the chip of a board of a director: points into label. NULL: it is none. */
const char *fab_board_of(const char *label);

/** Below 0, 0, above 0: by role, of boards also by their boxes without numbers; what has none stands first. */
int fab_box_role_compare(const fab_box_name *a, const fab_box_name *b);

/** The same for names that differ in their numbers alone: "b08-dgx-02" and "b11-dgx-17". */
uint64_t fab_name_pattern(const char *name);
