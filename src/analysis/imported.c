/* What an imported file does not say. */
#include "fab/imported.h"
#include "fab/str.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdio.h>

double fab_imported_rate(const fab_imported *in, uint32_t boundary) {
    return in->spec->tier[boundary - 1].port_bps;
}

static uint32_t unrated(const fab_structure *net) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < net->net->n_cables; c++) {
        const fab_network_cable *cable = &net->net->cables[c];
        bool serves = net->net->nodes[cable->end[0].node].kind == FAB_NETWORK_SERVICE ||
                      net->net->nodes[cable->end[1].node].kind == FAB_NETWORK_SERVICE;
        n += cable->rate_bps <= 0 && !serves;
    }
    return n;
}

static uint32_t without_ports(const fab_structure *net) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < net->n_switches; i++) {
        n += net->switches[i].n_ports == 0;
    }
    return n;
}

size_t fab_imported_assumed(const fab_imported *in, char out[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE]) {
    const fab_structure *net = in->net;
    const fab_fabric_spec *spec = in->spec;
    char rate[40];
    char count[40];
    size_t n = 0;
    uint32_t n_unrated = unrated(net);
    (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                   "%" PRIu64 " GPUs per server, for %" PRIu32
                   " NICs (gpus-per-server), in scale-up domains of %" PRIu64 " (domain)",
                   spec->gpus_per_server, net->nics_per_server, spec->domain);
    if (net->net->is_tree_of_names) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "the file tells who is below whom, but no cables: %" PRIu64
                       " between a switch and the one above it (cables), %" PRIu32 " from a host (nics-per-server)",
                       spec->cables > 0 ? spec->cables : 1, net->nics_per_server);
    }
    if (net->n_added_hosts > 0) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "the file has no hosts: %" PRIu64 " at every switch, %s in all "
                       "(hosts-per-switch)",
                       spec->hosts_per_switch, fab_format_count(count, net->n_added_hosts));
    }
    if (n_unrated > 0) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "%s cables without a rate have that of their tier, NICs %s (nic, port)",
                       fab_format_count(count, n_unrated), fab_quantity_format(rate, spec->nic_bps, FAB_UNIT_RATE));
    }
    if (without_ports(net) > 0) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "%s switches do not say how many ports they have: %" PRIu64 ", or as many as are in use (radix)",
                       fab_format_count(count, without_ports(net)), spec->tier[0].radix);
    }
    if (!net->knows_lengths) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "cables have the length of their tier: %g m to hosts, %g m between switches (length, floor)",
                       fab_tier_length_m(spec, 1), fab_tier_length_m(spec, 2));
    }
    return n;
}
