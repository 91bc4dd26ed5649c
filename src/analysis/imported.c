/* What an imported file does not say. */
#include "fab/imported.h"
#include "fab/str.h"
#include "fab/units.h"

#include <stdarg.h>

double fab_imported_rate(const fab_imported *in, uint32_t boundary) {
    return in->spec->tier[boundary - 1].port_bps;
}

static uint32_t without_ports(const fab_structure *net) {
    FAB_SUM(uint32_t, n, i, net->n_switches, net->switches[i].n_ports == 0);
    return n;
}

size_t fab_imported_assumed(const fab_imported *in, char out[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE]) {
    const fab_structure *net = in->net;
    const fab_fabric_spec *spec = in->spec;
    size_t n = 0;
    uint32_t n_unrated = fab_structure_unrated(net);
    (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                   "%" PRIu64 " GPU%s per server, for %" PRIu32
                   " NIC%s (gpus-per-server), in scale-up domains of %" PRIu64 " (domain)",
                   spec->gpus_per_server, spec->gpus_per_server == 1 ? "" : "s", net->nics_per_server,
                   net->nics_per_server == 1 ? "" : "s", spec->domain);
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
                       spec->hosts_per_switch, FAB_SAY_COUNT(net->n_added_hosts));
    }
    if (n_unrated > 0) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "%s cables without a rate have that of their tier, NICs %s (nic, port)",
                       FAB_SAY_COUNT(n_unrated), FAB_SAY(spec->nic_bps, FAB_UNIT_RATE));
    }
    if (without_ports(net) > 0) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "%s switches do not say how many ports they have: %" PRIu64 ", or as many as are in use (radix)",
                       FAB_SAY_COUNT(without_ports(net)), spec->tier[0].radix);
    }
    if (!net->knows_lengths) {
        (void)snprintf(out[n++], FAB_ASSUMED_SIZE,
                       "cables have the length of their tier: %g m to hosts, %g m between switches (length, floor)",
                       fab_tier_length_m(spec, 1), fab_tier_length_m(spec, 2));
    }
    return n;
}

static void gaps_add(char *out, size_t size, const char *fmt, ...) FAB_PRINTF(3, 4);

static void gaps_add(char *out, size_t size, const char *fmt, ...) {
    size_t n = strlen(out);
    va_list arguments;
    va_start(arguments, fmt);
    n += n > 0 && n < size ? (size_t)snprintf(out + n, size - n, ", ") : 0;
    if (n < size) {
        (void)vsnprintf(out + n, size - n, fmt, arguments);
    }
    va_end(arguments);
}

bool fab_imported_gaps(const fab_fabric_spec *spec, char *out, size_t size) {
    const fab_gaps *g = &spec->gaps;
    out[0] = '\0';
    if (g->cables) {
        gaps_add(out, size, "%" PRIu64 " cable%s from a switch up (cables)", spec->cables > 0 ? spec->cables : 1,
                 spec->cables > 1 ? "s" : "");
    }
    if (g->hosts) {
        gaps_add(out, size, "%" PRIu64 " hosts at a switch (hosts-per-switch)", spec->hosts_per_switch);
    }
    if (g->rates > 0) {
        gaps_add(out, size, "%s at %s cables (nic, port)", FAB_SAY(spec->nic_bps, FAB_UNIT_RATE),
                 FAB_SAY_COUNT(g->rates));
    }
    if (g->ports > 0) {
        gaps_add(out, size, "%" PRIu64 " ports at %s switches, which are priced by them (radix)", spec->tier[0].radix,
                 FAB_SAY_COUNT(g->ports));
    }
    return out[0] != '\0';
}
