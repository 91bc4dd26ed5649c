#include "graph_elements.h"

#include <string.h>
#include <strings.h>

/* Our own names first; LinkSpeedRaw is the Internet Topology Zoo's. */
static const struct {
    const char *domain, *name;
    fab_graphml_meaning meaning;
} NAMES[] = {
    {"graph", "program", FAB_GRAPHML_PROGRAM},
    {"graph", "view", FAB_GRAPHML_VIEW},
    {"node", "label", FAB_GRAPHML_LABEL},
    {"node", "name", FAB_GRAPHML_LABEL},
    {"node", "hostname", FAB_GRAPHML_LABEL},
    {"node", "kind", FAB_GRAPHML_KIND},
    {"node", "type", FAB_GRAPHML_KIND},
    {"node", "role", FAB_GRAPHML_KIND},
    {"node", "function", FAB_GRAPHML_KIND},
    {"node", "server", FAB_GRAPHML_SERVER},
    {"node", "host", FAB_GRAPHML_SERVER},
    {"node", "tier", FAB_GRAPHML_TIER},
    {"edge", "capacity_bps", FAB_GRAPHML_BPS},
    {"edge", "rate_bps", FAB_GRAPHML_BPS},
    {"edge", "bandwidth_bps", FAB_GRAPHML_BPS},
    {"edge", "LinkSpeedRaw", FAB_GRAPHML_BPS},
    {"edge", "rate", FAB_GRAPHML_RATE},
    {"edge", "speed", FAB_GRAPHML_RATE},
    {"edge", "bandwidth", FAB_GRAPHML_RATE},
    {"edge", "capacity", FAB_GRAPHML_RATE},
    {"edge", "length_m", FAB_GRAPHML_METRES},
    {"edge", "length", FAB_GRAPHML_LENGTH},
    {"edge", "src_port", FAB_GRAPHML_SOURCE_PORT},
    {"edge", "source_port", FAB_GRAPHML_SOURCE_PORT},
    {"edge", "dst_port", FAB_GRAPHML_TARGET_PORT},
    {"edge", "target_port", FAB_GRAPHML_TARGET_PORT},
    {"edge", "cables", FAB_GRAPHML_CABLES},
};

bool fab_graphml_is_for(const char *domain, const char *element) {
    return domain[0] == '\0' || strcmp(domain, "all") == 0 || strcmp(domain, element) == 0;
}

fab_graphml_meaning fab_graphml_meaning_of(const char *domain, const char *name) {
    FAB_FIRST(i, FAB_N_OF(NAMES), fab_graphml_is_for(domain, NAMES[i].domain) && strcasecmp(NAMES[i].name, name) == 0);
    return i < FAB_N_OF(NAMES) ? NAMES[i].meaning : FAB_GRAPHML_NOTHING;
}
