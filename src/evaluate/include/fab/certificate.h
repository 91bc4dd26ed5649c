/**
 * What figures rest on, as lines of text that scripts/verify checks against an export of the design. The format is in
 * src/doc/manual/certificates.md, the reasons in src/doc/adr/0066-certificates.md.
 */
#pragma once

#include "fab/context.h"
#include "fab/iteration.h"

#define FAB_CERTIFICATE_MAGIC "fabriscope-certificate 4"

#define FAB_CERTIFICATE_FLOWS (UINT64_C(1) << 21) /**< more flows of a phase are not listed */

/** What the lines are about, by digest, and latencies of the cables. `digest`: of the design. */
void fab_certificate_begin(const char *command, const char *digest, uint64_t seed, const fab_fabric *fabric, FILE *out);

/** One line that says what is not proved. */
void fab_certificate_omit(FILE *out, const char *what, ...) FAB_PRINTF(2, 3);

/** One line with a figure that follows from the lines before it. */
void fab_certificate_claim(FILE *out, const char *name, double value);

/**
 * Every phase under every engine, of the first seed: flows with their paths or shares, rates and bottlenecks, and the
 * figures that follow.
 * @param[in] bound  Also the least largest utilisation, with the lengths of links that prove it.
 * Errors and complexity of fab_evaluate() with figures and rates, and of fab_context_bound().
 */
FAB_STATUS fab_certificate_phases(const fab_context *context, bool bound, FILE *out, fab_error *err);

/** The schedule of an iteration, operation by operation, and its length. */
void fab_certificate_iteration(const fab_iteration *iteration, FILE *out);

/** The last line. @retval FAB_EIO  a write failed */
FAB_STATUS fab_certificate_end(FILE *out, fab_error *err);
