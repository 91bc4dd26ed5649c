/**
 * @file audit_floor.h
 * In which racks the boxes of an audit stand, where it has a plan. See src/doc/adr/0113-the-audit-on-the-floor.md.
 */
#pragma once

#include "fab/audit.h"
#include "fab/floor_plan.h"

/**
 * Fills rack and rack_name of the findings: of boxes that the plan has under the same name.
 * @param[in] is_said  The plan says how racks are filled; else the racks are assumed, and findings do not name them.
 */
void fab_audit_find_racks(fab_audit *audit, const fab_fabric *plan, const fab_floor *floor, bool is_said);
