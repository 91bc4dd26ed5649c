/** The counting conventions of bills of materials; what each means stands in fab_count_rules (prices.h). */
#pragma once

/** Which cables and transceivers a bill of materials counts. */
typedef enum fab_convention {
    FAB_CONVENTION_OF_BOOK, /**< of a design: that of its price book */
    FAB_CONVENTION_PER_LINK_END,
    FAB_CONVENTION_SWITCH_LINKS,
    FAB_CONVENTION_PER_CABLE,
    FAB_CONVENTION_TWIN_PORT
} fab_convention;
