/**
 * A catalog: the parts and shapes among which an optimisation may choose. XML files under topologies/catalogs, or the
 * user's own.
 */
#pragma once

#include "fab/sizes.h"
#include "fab/str.h"

#define FAB_CATALOG_ITEMS    16 /**< most entries of one list */
#define FAB_CATALOG_SWITCHES 16

typedef struct fab_catalog_switch {
    char name[FAB_NAME_SIZE];
    uint64_t radix;
    double port_bps;
    uint64_t breakouts[FAB_CATALOG_ITEMS]; /**< ways to split a port, ascending */
    size_t n_breakouts;
} fab_catalog_switch;

typedef struct fab_catalog {
    char name[FAB_NAME_SIZE];
    char source[512];
    char prices[192];         /**< price profile or file */
    char families_where[192]; /**< for who checks their names */
    char families[FAB_CATALOG_ITEMS][FAB_NAME_SIZE];
    size_t n_families;
    uint64_t tiers[FAB_CATALOG_ITEMS], planes[FAB_CATALOG_ITEMS], domains[FAB_CATALOG_ITEMS];
    size_t n_tiers, n_planes, n_domains;
    double tapers[FAB_CATALOG_ITEMS]; /**< upper bounds to try at every boundary, ascending */
    size_t n_tapers;
    double nics_bps[FAB_CATALOG_ITEMS];
    size_t n_nics;
    uint64_t gpus_per_server, nics_per_server;
    fab_catalog_switch switches[FAB_CATALOG_SWITCHES];
    size_t n_switches;
} fab_catalog;

#define FAB_DEFAULT_CATALOG "today"

/**
 * Reads a built-in catalog by name, or an XML file when `text` names one (contains '/' or ends in .xml).
 * @retval FAB_EINPUT  err->where is file:line:column.
 */
FAB_STATUS fab_catalog_read(const char *text, fab_catalog *out, fab_error *err);

/** Appends the XML Schema of catalogs. */
void fab_catalog_schema(fab_str *out);
