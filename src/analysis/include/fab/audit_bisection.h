/**
 * @file audit_bisection.h
 * What the findings of an audit cost in bisection. See src/doc/adr/0040-audit.md.
 */
#pragma once

#include "fab/audit.h"

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
fab_status fab_audit_bisect(fab_network **net, fab_network **plan, fab_audit *audit, fab_error *err) FAB_MUST_USE;
