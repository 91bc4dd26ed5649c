/** What the findings of an audit cost in bisection. See src/doc/adr/0040-audit.md. */
#pragma once

#include "fab/audit.h"
#include "fab/floor_plan.h"

/**
 * Fills audit->bisection: as the network stands, and with the missing cables and absent switches in place and slow
 * cables as fast as their peers, or as the plan has it. Servers, their NICs and their order are those of an import;
 * servers that lack NICs count too. With a plan its halves are those of the installed network as well, by name.
 * @param[in,out] net   That was audited; taken, NULL afterwards.
 * @param[in,out] plan   Against which it was; taken too. *plan may be NULL.
 * @param[in,out] audit  Where a figure is not known, it says why.
 * @retval FAB_ENOMEM  What cannot be told of a network is no error.
 * Complexity: that of an import and two maximum flows.
 */
FAB_STATUS fab_audit_bisect(fab_network **net, fab_network **plan, fab_audit *audit, fab_error *err);

/**
 * Fills rack and rack_name of the findings: of boxes that the plan has under the same name.
 * @param[in] is_said  The plan says how racks are filled; else the racks are assumed, and findings do not name them.
 */
void fab_audit_find_racks(fab_audit *audit, const fab_fabric *plan, const fab_floor *floor, bool is_said);
