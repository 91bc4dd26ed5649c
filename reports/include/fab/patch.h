/**
 * Patch plan: what to plug where, one row of CSV per network cable.
 *
 *     cable,a_rack,a_device,a_port,z_rack,z_device,z_port,boundary,rate,medium,length_m
 *     c129,hall-0/row-0/rack-3,server-12/nic-3,1,hall-0/row-0/rack-3,leaf-3,7,nic-leaf,400Gb/s,DAC,2
 *
 * a is the lower end. Cables keep the ids of the GraphML export. Ports count from 1 as they are printed on the switch;
 * of a port that breaks out, port/lane. Racks are empty without a floor plan, the medium where the price book
 * distinguishes none: neither is made up.
 */
#pragma once

#include "fab/floor_plan.h"

typedef struct fab_prices fab_prices;

typedef struct fab_patch {
    const fab_fabric_spec *spec; /**< of the fabric, resolved */
    const fab_fabric *fabric;
    const fab_floor *floor; /**< NULL: racks are left empty */
    const fab_prices *prices;
} fab_patch;

/**
 * Writes the plan. The same bytes for equal inputs.
 * @retval FAB_EIO        a write failed
 * @retval FAB_EINTERNAL  a cable ends at a port that its switch does not have
 * Complexity: O(cables); nothing is kept per cable.
 */
FAB_STATUS fab_patch_write(const fab_patch *patch, FILE *out, fab_error *err);
