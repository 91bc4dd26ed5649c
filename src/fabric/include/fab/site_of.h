/**
 * @file site_of.h
 * A fabric as a site: what it would look like installed.
 */
#ifndef FAB_SITE_OF_H
#define FAB_SITE_OF_H

#include "fab/fabric.h"
#include "fab/site.h"

/**
 * Boxes with the descriptions of fab/ib_names.h ("leaf-5", "server-2 HCA-1"), network cables at their ports.
 * @param[out] out  Release with fab_site_free().
 */
fab_status fab_site_of_fabric(const fab_fabric *fabric, fab_site **out, fab_error *err) FAB_MUST_USE;

#endif
