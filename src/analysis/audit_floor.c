/* In which racks the boxes of an audit stand. */
#include "fab/audit_floor.h"

#include "fab/ib_names.h"

#include <string.h>

/* Of a switch, an adapter or a server, by the name that the plan has for it. */
static uint32_t rack_of(const fab_fabric *plan, const fab_floor *floor, const char *name) {
    const fab_racks racks = fab_floor_racks(floor);
    fab_component part;
    fab_node_id v = fab_ib_find_description(plan, name, strlen(name));
    if (v != FAB_NONE) {
        return fab_floor_rack_of(floor, plan, v);
    }
    bool is_server =
        fab_component_parse(plan, &racks, name, &part, NULL) == FAB_OK && part.kind == FAB_COMPONENT_SERVER;
    return is_server ? fab_racks_of_server(&racks, part.id) : FAB_NETWORK_NONE;
}

void fab_audit_find_racks(fab_audit *audit, const fab_fabric *plan, const fab_floor *floor, bool is_said) {
    for (uint32_t i = 0; i < 2 * audit->n_findings; i++) {
        fab_finding *f = &audit->findings[i / 2];
        fab_audit_spot *spot = &f->at[i % 2];
        spot->rack = rack_of(plan, floor, i % 2 == 0 ? f->node : f->other);
        if (is_said && spot->rack != FAB_NETWORK_NONE) {
            (void)fab_rack_name(&floor->rack[spot->rack], spot->rack_name);
        }
    }
}
