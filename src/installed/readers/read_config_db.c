/* config_db.json of a SONiC switch: DEVICE_NEIGHBOR has what is plugged where, PORT the speeds, DEVICE_METADATA the
 * name of the switch, else that of the file. */
#include "network_json.h"

#define MEGABIT 1e6

/* "speed": "400000", in Mb/s. */
static double speed_of(const fab_json *json, uint32_t ports, const char *name) {
    const char *speed = FAB_JSON_TEXT(json, ports, name, "speed");
    size_t n = speed != NULL ? strspn(speed, "0123456789") : 0;
    return n > 0 && n < 10 && speed[n] == '\0' ? strtod(speed, NULL) * MEGABIT : 0;
}

static fab_status config_db_neighbors(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t neighbors = fab_json_member(json, 0, "DEVICE_NEIGHBOR");
    uint32_t ports = fab_json_member(json, 0, "PORT");
    fab_network_plug local = {.box = FAB_JSON_TEXT(json, 0, "DEVICE_METADATA", "localhost", "hostname")};
    if (local.box == NULL) {
        local.n_box = fab_path_box(r->path, &local.box);
    }
    FAB_RETURN_IF(
        neighbors == FAB_JSON_NONE,
        fab_fail_in_file(err, r->path, 1, 1, "has no table DEVICE_NEIGHBOR, which says what is plugged where"));
    FAB_JSON_EACH(json, i, neighbors) {
        fab_network_plug other = {.box = FAB_JSON_TEXT(json, i, "name"), .port = FAB_JSON_TEXT(json, i, "port")};
        local.port = json->values[i].key;
        FAB_RETURN_IF(other.box == NULL || other.port == NULL || local.port == NULL,
                      fab_fail_in_file(err, r->path, 1, 1, "DEVICE_NEIGHBOR: '%.60s' has no name or no port",
                                       local.port != NULL ? local.port : ""));
        FAB_PASS(fab_network_plug_in(r->net, &local, &other, speed_of(json, ports, local.port), 1, err));
    }
    return FAB_OK;
}

const fab_network_format fab_network_config_db = {.name = "sonic",
                                                  .summary =
                                                      "config_db.json of SONiC switches: a file or a folder of them",
                                                  .words = "DEVICE_NEIGHBOR|DEVICE_METADATA",
                                                  .json = config_db_neighbors};
