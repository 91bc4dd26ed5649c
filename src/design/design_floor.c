/*
 * The floor plan of a design: what is derived from the servers, and the power limits.
 */
#include "fields.h"

#include <inttypes.h>

#define SERVER_W_PER_GPU      1275.0 /* a server of 8 H100 draws 10.2 kW at most (NVIDIA DGX H100 data sheet) */
#define MOST_SERVERS_PER_RACK 4
#define ASSUMED_RACK_W        (MOST_SERVERS_PER_RACK * 8 * SERVER_W_PER_GPU)

/* Servers that a limit leaves room for; a server more where only rounding is against it. */
static double servers_within(double limit_w, double server_w) {
    return limit_w / server_w * (1 + 1e-12);
}

static fab_status check_limit(const reading *r, const char *key, double limit_w, fab_error *err) {
    const fab_floor_spec *f = &r->design.fabric.floor;
    const char *where = reading_where(r, key, "servers-per-rack", "server-power");
    if (limit_w <= 0 || servers_within(limit_w, f->server_w) >= (double)f->servers_per_rack) {
        return FAB_OK;
    }
    const char *b = FAB_SAY(limit_w, FAB_UNIT_POWER);
    FAB_REFUSE_IF(f->servers_per_rack == 1, err, FAB_EINPUT, where, "%s: a server draws %s, more than the limit of %s",
                  key, FAB_SAY(f->server_w, FAB_UNIT_POWER), b);
    return fab_fail(err, FAB_EINPUT, where, "%s: servers-per-rack %" PRIu64 " of %s each are more than the limit of %s",
                    key, f->servers_per_rack, FAB_SAY(f->server_w, FAB_UNIT_POWER), b);
}

static uint64_t default_servers_per_rack(const fab_floor_spec *f) {
    double most = servers_within(f->rack_w > 0 ? f->rack_w : ASSUMED_RACK_W, f->server_w);
    if (f->rack_w <= 0 && most > MOST_SERVERS_PER_RACK) {
        most = MOST_SERVERS_PER_RACK;
    }
    if (f->hall_w > 0 && servers_within(f->hall_w, f->server_w) < most) {
        most = servers_within(f->hall_w, f->server_w);
    }
    return most >= 1 ? (uint64_t)most : 1;
}

static fab_status fill_racks(const reading *r, fab_floor_spec *f, fab_error *err) {
    const fab_fabric_spec *fabric = &r->design.fabric;
    uint64_t servers = fabric->gpus / fabric->gpus_per_server + fabric->spares;
    const char *where = reading_where(r, "racks", "servers-per-rack", NULL);
    FAB_REFUSE_IF(fabric->gpus == 0 || f->racks > servers, err, FAB_EINPUT, where,
                  "racks: %" PRIu64 " of them are more than the %" PRIu64 " servers%s", f->racks, servers,
                  fabric->gpus == 0 ? "; say how many gpus there are" : "");
    uint64_t most = (servers + f->racks - 1) / f->racks;
    FAB_REFUSE_IF(f->servers_per_rack != 0 && f->servers_per_rack != most, err, FAB_EINPUT, where,
                  "%" PRIu64 " servers evenly in %" PRIu64 " racks are at most %" PRIu64
                  " in one, not servers-per-rack %" PRIu64,
                  servers, f->racks, most, f->servers_per_rack);
    f->servers_per_rack = most;
    return FAB_OK;
}

fab_status reading_finish_floor(reading *r, fab_error *err) {
    fab_floor_spec *f = &r->design.fabric.floor;
    if (!f->given && strcmp(r->design.fabric.family, "installed") == 0) {
        return FAB_OK; /* racks that nobody knows would be believed */
    }
    f->is_assumed = f->is_assumed || !f->given;
    f->given = true;
    if (f->server_w <= 0) {
        f->server_w = SERVER_W_PER_GPU * (double)r->design.fabric.gpus_per_server;
    }
    f->limits_racks = f->rack_w > 0 || f->racks > 0;
    if (f->racks > 0) {
        FAB_PASS(fill_racks(r, f, err));
    } else if (f->servers_per_rack == 0) {
        f->servers_per_rack = default_servers_per_rack(f);
    }
    FAB_PASS(check_limit(r, "rack-power", f->rack_w, err));
    return check_limit(r, "hall-power", f->hall_w, err);
}
