/* Total cost of ownership. */
#include "fab/ownership.h"

#include "fab/design.h"
#include "fab/prices.h"

#define HOURS_PER_YEAR (365.0 * 24)

static void lacks(fab_ownership *o, const char *what, const char *name) {
    size_t n = strlen(o->missing);
    (void)snprintf(o->missing + n, sizeof o->missing - n, "%s%s%.32s", n > 0 ? ", " : "", what, name);
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static bool jobs_share_gpu(const fab_design *design) {
    FAB_ANY_IN(found, i, 1, design->n_jobs, strcmp(design->jobs[i].gpu, design->jobs[0].gpu) != 0);
    return !found;
}

void fab_ownership_add_up(const fab_prices *prices, const fab_fabric_result *f, const fab_gpu *gpu, fab_ownership *o) {
    const fab_counts *c = &f->counts;
    fab_price server = {0, 0};
    double gpu_usd = 0;
    o->servers = c->servers;
    o->gpus = c->servers * f->spec.gpus_per_server;
    if (!fab_prices_gpu(prices, gpu->name, &gpu_usd)) {
        lacks(o, "price of a GPU ", gpu->name);
    }
    if (gpu->power_w <= 0) {
        lacks(o, "power of a GPU ", gpu->name);
    }
    if (!fab_prices_server(prices, f->spec.gpus_per_server, &server)) {
        lacks(o, "price of a server", "");
    }
    if (prices->rack.servers == 0) {
        lacks(o, "price of a rack", "");
        return;
    }
    uint64_t switches = c->switches + (f->front_end != NULL ? f->front_end->counts.switches : 0);
    o->racks = c->floor.racks > 0
                   ? c->floor.racks
                   : ceil_div(c->servers, prices->rack.servers) + ceil_div(switches, prices->rack.switches);
    o->years = prices->years;
    o->gpu_usd = (double)o->gpus * gpu_usd;
    o->server_usd = (double)o->servers * server.usd;
    o->rack_usd = (double)o->racks * (prices->rack.usd + o->years * prices->rack.usd_per_year);
    o->network_usd = f->cost.total_usd + (f->front_end != NULL ? f->front_end->cost.total_usd : 0);
    o->power_w = (double)o->gpus * gpu->power_w + (double)o->servers * server.power_w + f->cost.power_w +
                 (f->front_end != NULL ? f->front_end->cost.power_w : 0);
    o->energy_usd = o->power_w / 1e3 * HOURS_PER_YEAR * o->years * prices->pue * prices->usd_per_kwh;
    o->total_usd = o->gpu_usd + o->server_usd + o->rack_usd + o->network_usd + o->energy_usd;
}

fab_status fab_ownership_of(const fab_design *design, const fab_fabric_result *fabric, const fab_gpu *gpu,
                            fab_ownership *out, fab_error *err) {
    fab_ownership o = {.years = 0};
    FAB_OWNED_NEW(fab_prices, prices, 1, err);
    FAB_PASS(fab_prices_read(design->prices, prices, err));
    FAB_FORMAT(o.profile, "%s", prices->name);
    if (!jobs_share_gpu(design)) {
        lacks(&o, "one kind of GPU for all jobs", "");
    }
    fab_ownership_add_up(prices, fabric, gpu, &o);
    *out = (fab_ownership){.years = 0};
    if (o.missing[0] == '\0') {
        *out = o;
    }
    memcpy(out->missing, o.missing, sizeof o.missing);
    memcpy(out->profile, o.profile, sizeof o.profile);
    return FAB_OK;
}

void fab_ownership_price(const fab_ownership *o, fab_iteration *it) {
    it->owned_usd_per_1e9_tokens = o->years > 0 && it->usd_per_1e9_tokens > 0
                                       ? fab_ownership_per_1e9_tokens(o, it->network_share_ratio, it->tokens_per_s)
                                       : 0;
}

double fab_ownership_per_1e9_tokens(const fab_ownership *o, double share, double tokens_per_s) {
    double tokens = tokens_per_s * o->years * HOURS_PER_YEAR * 3600;
    return tokens > 0 ? share * o->total_usd / tokens * 1e9 : 0;
}
