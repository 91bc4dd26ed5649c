/* Cables as NetBox and Nautobot give them, GET /api/dcim/cables/: {"results": [{"a_terminations": [{"object":
 * {"device":
 * {"name": "leaf-0"}, "name": "swp1"}}], "b_terminations": [...]}]}; before NetBox 3.3, and in Nautobot, one
 * termination_a and termination_b each. A list alone is taken too. */
#include "network_json.h"

#define METRE 1.0

/* "length": 3, "length_unit": {"value": "m"} or "m". */
static double length_of(const fab_json *json, uint32_t cable) {
    static const struct {
        const char *unit;
        double m;
    } UNITS[] = {{"m", METRE}, {"cm", 0.01}, {"km", 1000}, {"ft", 0.3048}, {"in", 0.0254}, {"mi", 1609.344}};
    double length = fab_json_number_of(json, cable, "length", 0);
    const char *unit = FAB_JSON_TEXT(json, cable, "length_unit", "value");
    unit = unit != NULL ? unit : fab_json_text_of(json, cable, "length_unit", "");
    FAB_FIRST(i, FAB_N_OF(UNITS), strcmp(UNITS[i].unit, unit) == 0 && length > 0);
    return i < FAB_N_OF(UNITS) ? length * UNITS[i].m : 0;
}

/* The one end of a cable; false where it is none of a device, or of several. */
static bool termination(const fab_json *json, uint32_t cable, const char *list_key, const char *key,
                        fab_network_plug *out) {
    uint32_t list = fab_json_member(json, cable, list_key);
    uint32_t object = fab_json_member(json, cable, key);
    if (list != FAB_JSON_NONE) {
        uint32_t first = fab_json_count(json, list) == 1 ? json->values[list].first : FAB_JSON_NONE;
        object = fab_json_member(json, first, "object");
    }
    if (object == FAB_JSON_NONE) {
        return false;
    }
    out->box = FAB_JSON_TEXT(json, object, "device", "name");
    out->port = FAB_JSON_TEXT(json, object, "name");
    return out->box != NULL && out->port != NULL;
}

static fab_status netbox_cables(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t list = json->values[0].kind == FAB_JSON_ARRAY ? 0 : fab_json_member(json, 0, "results");
    uint64_t n_left = 0;
    FAB_RETURN_IF(list == FAB_JSON_NONE, fab_fail_in_file(err, r->path, 1, 1, "has no list of cables, results"));
    FAB_JSON_EACH(json, i, list) {
        fab_network_plug ends[2] = {{.box = NULL}};
        if (!termination(json, i, "a_terminations", "termination_a", &ends[0]) ||
            !termination(json, i, "b_terminations", "termination_b", &ends[1])) {
            n_left++; /* power, circuits, or a cable with several ends */
            continue;
        }
        uint32_t before = r->net->n_cables;
        FAB_PASS(fab_network_plug_in(r->net, &ends[0], &ends[1], 0, 1, err));
        if (r->net->n_cables > before) {
            r->net->cables[before].length_m = length_of(json, i);
        }
    }
    return fab_network_leave_out(r->net, n_left, "cables that do not lead from one port of a device to another");
}

const fab_network_format fab_network_netbox = {.name = "netbox",
                                               .summary = "cables of NetBox or Nautobot, JSON of /api/dcim/cables/",
                                               .words = "a_terminations|termination_a",
                                               .json = netbox_cables};
