/* Bill of materials from counts and a price book. */
#include "fab/analysis.h"

#include <inttypes.h>
#include <stdio.h>

static void add_line(fab_cost *cost, const char *part, const char *tier, uint64_t quantity, double unit_usd,
                     double unit_w) {
    if (quantity == 0 || cost->n_lines == sizeof cost->lines / sizeof cost->lines[0]) {
        return;
    }
    fab_cost_line *line = &cost->lines[cost->n_lines++];
    (void)snprintf(line->part, sizeof line->part, "%s", part);
    (void)snprintf(line->tier, sizeof line->tier, "%s", tier);
    line->quantity = quantity;
    line->unit_usd = unit_usd;
    line->total_usd = (double)quantity * unit_usd;
    line->power_w = (double)quantity * unit_w;
    cost->power_w += line->power_w;
}

static void add_tier(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices, uint32_t t,
                     fab_cost *cost) {
    char part[FAB_NAME_SIZE];
    const fab_tier_spec *tier = &spec->tier[t - 1];
    uint64_t switches = counts->switches_by_tier[t - 1];
    uint64_t cables = counts->cables_by_tier[t - 1];
    uint64_t modules = t > 1 || prices->count_nic_cables ? 2 * cables : 0;
    double ports = switches > 0 ? (double)counts->ports_by_tier[t - 1] / (double)switches : 0;
    double cable_usd = prices->cable_usd + prices->cable_usd_per_m * tier->length_m;
    (void)snprintf(part, sizeof part, "switch, %.0f ports", ports);
    add_line(cost, part, fab_tier_name(t), switches, ports * prices->switch_usd_per_port,
             ports * prices->switch_w_per_port);
    add_line(cost, "transceiver", fab_boundary_name(t), modules, prices->transceiver_usd, prices->transceiver_w);
    (void)snprintf(part, sizeof part, "cable, %.4g m", tier->length_m);
    add_line(cost, part, fab_boundary_name(t), cables, cable_usd, 0);
    cost->switch_usd += (double)counts->ports_by_tier[t - 1] * prices->switch_usd_per_port;
    cost->transceivers += modules;
    cost->cable_usd += (double)cables * cable_usd;
}

fab_status fab_cost_of(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices, fab_cost *out,
                       fab_error *err) {
    if (counts->tiers > FAB_MAX_TIERS) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "%" PRIu64 " tiers exceed %d", counts->tiers, FAB_MAX_TIERS);
    }
    fab_cost cost = {0};
    (void)snprintf(cost.profile, sizeof cost.profile, "%s", prices->name);
    (void)snprintf(cost.convention, sizeof cost.convention, "%s", prices->convention);
    (void)snprintf(cost.source, sizeof cost.source, "%s", prices->source);
    add_line(&cost, "NIC", "server", counts->nics, prices->nic_usd, prices->nic_w);
    for (uint32_t t = 1; t <= counts->tiers; t++) {
        add_tier(spec, counts, prices, t, &cost);
    }
    cost.nic_usd = (double)counts->nics * prices->nic_usd;
    cost.transceiver_usd = (double)cost.transceivers * prices->transceiver_usd;
    cost.total_usd = cost.switch_usd + cost.transceiver_usd + cost.cable_usd + cost.nic_usd;
    cost.per_gpu_usd = counts->gpus > 0 ? cost.total_usd / (double)counts->gpus : 0;
    cost.energy_usd_per_year = cost.power_w / 1e3 * 24 * 365 * prices->pue * prices->usd_per_kwh;
    *out = cost;
    return FAB_OK;
}
