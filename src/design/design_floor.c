/*
 * What follows the GPUs of a design, scale-up rate and floor plan, and the power limits of that.
 */
#include "fields.h"

#define DEFAULT_SCALE_UP_BPS  3.6e12 /* of the default of domain-rate, an H100's */
#define H100_W                700.0
#define BESIDE_GPU_W          575.0 /* a server of 8 H100 draws 10.2 kW at most (NVIDIA DGX H100 data sheet) */
#define MOST_SERVERS_PER_RACK 4
#define ASSUMED_RACK_W        (MOST_SERVERS_PER_RACK * 8 * (H100_W + BESIDE_GPU_W))

/* Servers that a limit leaves room for; a server more where only rounding is against it. */
static double servers_within(double limit_w, double server_w) {
    return limit_w / server_w * (1 + 1e-12);
}

static fab_status check_limit(const fab_floor_spec *f, const char *key, double limit_w, const char *where,
                              fab_error *err) {
    if (limit_w <= 0 || servers_within(limit_w, f->server_w) >= (double)f->servers_per_rack) {
        return FAB_OK;
    }
    const char *b = FAB_SAY(limit_w, FAB_UNIT_POWER);
    FAB_REFUSE_IF(f->servers_per_rack == 1, err, FAB_EINPUT, where, "%s: a server draws %s, more than the limit of %s",
                  key, FAB_SAY(f->server_w, FAB_UNIT_POWER), b);
    return fab_fail(err, FAB_EINPUT, where, "%s: servers-per-rack %" PRIu64 " of %s each are more than the limit of %s",
                    key, f->servers_per_rack, FAB_SAY(f->server_w, FAB_UNIT_POWER), b);
}

fab_status fab_floor_check(const fab_floor_spec *floor, fab_error *err) {
    FAB_PASS(check_limit(floor, "rack-power", floor->rack_w, floor->rack_where, err));
    return check_limit(floor, "hall-power", floor->hall_w, floor->hall_where, err);
}

/* Servers of a scale-up domain that is sold as a rack. */
static uint64_t servers_of_rack(const fab_fabric_spec *fabric, const fab_gpu *gpu) {
    uint64_t gpus = fabric->domain < gpu->domain ? fabric->domain : gpu->domain;
    return gpu->server_gpus > 0 ? gpus / fabric->gpus_per_server : 1;
}

static uint64_t default_servers_per_rack(const fab_floor_spec *f, uint64_t of_domain) {
    double most = fmax((double)of_domain, fmin(servers_within(ASSUMED_RACK_W, f->server_w), MOST_SERVERS_PER_RACK));
    most = f->rack_w > 0 ? servers_within(f->rack_w, f->server_w) : most;
    most = f->hall_w > 0 ? fmin(most, servers_within(f->hall_w, f->server_w)) : most;
    return most >= 1 ? (uint64_t)most : 1;
}

/* Whether a job's GPU would make other servers than that of the first, where nothing else says what they are. */
static bool is_of_other_servers(const fab_design *design, size_t job) {
    const fab_gpu *first = &design->jobs[0].accelerator;
    const fab_gpu *gpu = &design->jobs[job].accelerator;
    return (gpu->power_w != first->power_w && !design->fabric.floor.server_w_given) ||
           (gpu->scale_up_bps != first->scale_up_bps && !design->fabric.domain_rate_given);
}

void design_follow_gpu(fab_design *design) {
    fab_fabric_spec *fabric = &design->fabric;
    fab_floor_spec *f = &fabric->floor;
    const fab_gpu *gpu = &design->jobs[0].accelerator;
    const bool is_named = design->n_jobs > 0;
    double gpu_bps = is_named ? gpu->scale_up_bps : DEFAULT_SCALE_UP_BPS;
    fabric->domain_bps = fabric->domain_rate_given ? fabric->domain_bps : gpu_bps;
    fabric->domain_rate_unlike = fabs(fabric->domain_bps - gpu_bps) > 1;
    FAB_FORMAT(fabric->host.gpu, "%.*s", (int)sizeof fabric->host.gpu - 1, is_named ? design->jobs[0].gpu : "");
    FAB_FIRST(other, design->n_jobs, is_of_other_servers(design, other));
    FAB_FORMAT(fabric->host.other_gpu, "%.*s", (int)sizeof fabric->host.other_gpu - 1,
               other < design->n_jobs ? design->jobs[other].gpu : "");
    f->is_power_assumed = !f->server_w_given && is_named && gpu->power_w <= 0;
    if (f->given && !f->server_w_given) {
        double gpu_w = is_named && gpu->power_w > 0 ? gpu->power_w : H100_W;
        f->server_w = (double)fabric->gpus_per_server * (gpu_w + BESIDE_GPU_W);
    }
    if (f->given && !f->servers_per_rack_given) {
        f->servers_per_rack = default_servers_per_rack(f, is_named ? servers_of_rack(fabric, gpu) : 1);
    }
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
    f->limits_racks = f->rack_w > 0 || f->racks > 0;
    f->server_w_given = f->server_w > 0;
    f->servers_per_rack_given = f->racks > 0 || f->servers_per_rack > 0;
    FAB_FORMAT(f->rack_where, "%s", reading_where(r, "rack-power", "servers-per-rack", "server-power"));
    FAB_FORMAT(f->hall_where, "%s", reading_where(r, "hall-power", "servers-per-rack", "server-power"));
    return f->racks > 0 ? fill_racks(r, f, err) : FAB_OK;
}
