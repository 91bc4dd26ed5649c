/**
 * @file certificate.h
 * A bound with what proves it, as text that anybody can check.
 */
#ifndef FAB_CERTIFICATE_H
#define FAB_CERTIFICATE_H

#include "fab/bound.h"

#include <stdio.h>

#define FAB_CERTIFICATE_MAGIC "fabriscope-certificate 1"

/**
 * Comments with method, bounds and the formula; then CSV of every link that lies on a minimal path between any leaves
 * (so that dead links need not be known to check it), with what it carries and its length; an empty line; CSV of the
 * demands. Format: src/doc/manual/certificates.md. tests/cli/check_certificate.py checks one against a GraphML export.
 * @param[in] next_hops, demand  Those that `bound` was found for.
 * @retval FAB_EIO  a write failed
 * Complexity: that of fab_dag_new() and fab_split_load().
 */
fab_status fab_certificate_write(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_demand *demand,
                                 const fab_bound *bound, FILE *out, fab_error *err) FAB_MUST_USE;

#endif
