/* Designs of what is installed: counts come from the file, and its digest is one of the values. */
#include "fab/installed.h"
#include "fields.h"

#define FAMILY "installed"

static bool has_keys(const reading *r) {
    static const char *const KEYS[] = {"file", "format", "digest", "host-order", "hosts-per-switch", "cables"};
    FAB_ANY(has, i, FAB_N_OF(KEYS), !fab_design_is_default(&r->design.fabric, KEYS[i]));
    return has;
}

fab_structure_options fab_design_installed_options(const fab_fabric_spec *spec) {
    return (fab_structure_options){.format = spec->format,
                                   .nics_per_server = spec->nics_per_server,
                                   .hosts_per_switch = spec->hosts_per_switch,
                                   .cables = spec->cables,
                                   .max_bytes = spec->max_bytes,
                                   .by_leaf = spec->host_order == FAB_HOSTS_BY_LEAF};
}

/* The bytes are those that the design was made for. */
static fab_status check_digest(reading *r, fab_error *err) {
    fab_fabric_spec *f = &r->design.fabric;
    char digest[17];
    fab_error inner = {0};
    fab_status status = fab_network_digest(f->file, digest, &inner);
    FAB_REFUSE_IF(status != FAB_OK, err, status, reading_where(r, "file", NULL, NULL), "file: '%.160s' %s", f->file,
                  inner.text);
    FAB_REFUSE_IF(f->digest[0] != '\0' && strcmp(f->digest, digest) != 0, err, FAB_EINPUT,
                  reading_where(r, "digest", NULL, NULL),
                  "digest: '%.160s' is not the file that the design was made for: its digest is %s, not %s; import it "
                  "again, or leave digest out",
                  f->file, digest, f->digest);
    FAB_FORMAT(f->digest, "%s", digest);
    return FAB_OK;
}

/* A design that is restored gives what its file decided: all of one place. */
static bool is_set(const reading *r, const char *key) {
    return strcmp(reading_where(r, key, NULL, NULL), r->origin_where) != 0;
}

static fab_status refuse_decided(const reading *r, const char *key, fab_error *err) {
    FAB_REFUSE_IF(is_set(r, key), err, FAB_EINPUT, reading_where(r, key, NULL, NULL),
                  "%s: the file of an installed fabric decides that; leave it out", key);
    return FAB_OK;
}

/* Values that the file decides, the default as well: what has no effect is not to be taken for a change. */
static fab_status check_given(const reading *r, fab_error *err) {
    static const char *const KEYS[] = {"tiers", "pod",      "planes",      "taper",
                                       "down",  "breakout", "breakout-up", "full-spares"};
    for (size_t i = 0; i < FAB_N_OF(KEYS); i++) {
        FAB_PASS(refuse_decided(r, KEYS[i], err));
    }
    return FAB_OK;
}

/* A rate that is given stands in for one that the file does not say. */
static fab_status check_rate(const reading *r, const char *key, double given_bps, double file_bps, fab_error *err) {
    FAB_REFUSE_IF(file_bps > 0 && is_set(r, key) && given_bps > 0 && given_bps != file_bps, err, FAB_EINPUT,
                  reading_where(r, key, NULL, NULL), "%s: the file says %s, so %s has no effect; leave it out", key,
                  FAB_SAY(file_bps, FAB_UNIT_RATE), FAB_SAY(given_bps, FAB_UNIT_RATE));
    return FAB_OK;
}

/* Ports of switches: where the file tells cables and no ports, no fewer than the one with most cables needs. */
static fab_status take_radix(reading *r, const fab_structure *net, fab_error *err) {
    fab_fabric_spec *f = &r->design.fabric;
    uint64_t radix[FAB_MAX_TIERS] = {0};
    uint64_t n_silent = 0;
    uint64_t most_used = 0;
    FAB_EACH(const fab_structure_switch, v, net->switches, net->n_switches) {
        uint64_t *most = &radix[v->tier - 1];
        *most = v->n_ports > *most ? v->n_ports : *most;
        n_silent += v->n_ports == 0;
        most_used = v->n_ports == 0 && v->n_used > most_used ? v->n_used : most_used;
    }
    FAB_ALL(has_all, i, net->n_switches, radix[net->switches[i].tier - 1] > 0); /* the ports of every tier */
    FAB_PASS(has_all ? refuse_decided(r, "radix", err) : FAB_OK);
    for (size_t t = 0; t < FAB_MAX_TIERS; t++) {
        const bool is_open = !f->radix_given && !net->net->is_tree_of_names;
        const uint64_t chosen = is_open ? fab_sold_radix(most_used) : f->tier[t].radix;
        f->tier[t].radix = radix[t] > 0 ? radix[t] : chosen;
    }
    f->gaps.ports = is_set(r, "radix") && f->radix_given ? 0 : n_silent;
    return FAB_OK;
}

static fab_subnet subnet_of(const fab_fabric_spec *f, bool is_told, bool is_tree) {
    const bool is_infiniband = is_told || f->transport.wire == FAB_WIRE_INFINIBAND;
    return !is_infiniband ? FAB_SUBNET_NONE : is_tree ? FAB_SUBNET_TREE : FAB_SUBNET_GRAPH;
}

static fab_status take_counts(reading *r, const fab_structure *net, fab_error *err) {
    fab_fabric_spec *f = &r->design.fabric;
    f->gaps = (fab_gaps){.cables = net->net->is_tree_of_names,
                         .hosts = net->n_added_hosts > 0,
                         .lengths = !net->knows_lengths,
                         .rates = fab_structure_unrated(net)};
    f->subnet = subnet_of(f, net->net->is_infiniband, net->is_tree);
    f->nics_per_server = net->nics_per_server;
    f->gpus_per_server = f->gpus_per_server != 0 ? f->gpus_per_server : net->nics_per_server;
    FAB_PASS(check_rate(r, "nic", f->nic_bps, net->nic_bps, err));
    f->nic_bps = net->nic_bps > 0 ? net->nic_bps : f->nic_bps;
    if (f->domain == 0 && net->domain_servers > 0) {
        f->domain = net->domain_servers * f->gpus_per_server;
        if (net->domain_bps > 0 && !f->domain_rate_given) {
            f->domain_bps = net->domain_bps / (double)f->domain;
            f->domain_rate_given = true;
        }
    }
    FAB_PASS(take_radix(r, net, err));
    const size_t n_tiers = net->is_tree ? net->n_tiers : 2;
    FAB_ALL(has_rates, t, n_tiers, net->cable_bps[t + 1] > 0);
    for (size_t t = 0; t < n_tiers; t++) {
        double bps = net->cable_bps[t + 1];
        FAB_PASS(has_rates ? check_rate(r, "port", f->tier[t].port_bps, bps, err) : FAB_OK);
        f->tier[t].port_bps = bps > 0 ? bps : f->tier[t].port_bps;
        f->tier[t].port_bps = f->tier[t].port_bps > 0 ? f->tier[t].port_bps : f->nic_bps / net->n_planes;
    }
    FAB_REFUSE_IF(f->spares >= net->n_complete, err, FAB_EINPUT, reading_where(r, "spares", NULL, NULL),
                  "%" PRIu64 " spare servers of %" PRIu32 " leave none to work", f->spares, net->n_complete);
    uint64_t gpus = (net->n_servers - f->spares) * f->gpus_per_server;
    FAB_REFUSE_IF(f->gpus != 0 && f->gpus != gpus, err, FAB_EINPUT, reading_where(r, "gpus", NULL, NULL),
                  "gpus: the file has %" PRIu64 " of them, in %" PRIu64 " servers of %" PRIu64 ", not %" PRIu64
                  "; a job may take fewer (job.gpus)",
                  gpus, net->n_servers - f->spares, f->gpus_per_server, f->gpus);
    f->gpus = gpus;
    return FAB_OK;
}

fab_status reading_finish_installed(reading *r, fab_error *err) {
    fab_fabric_spec *f = &r->design.fabric;
    FAB_OWNS(fab_structure_free_owned) fab_structure *net = NULL;
    fab_structure_options options;
    if (strcmp(f->family, FAMILY) != 0) {
        FAB_REFUSE_IF(has_keys(r), err, FAB_EINPUT, reading_where(r, "file", NULL, NULL),
                      "file, format, digest, host-order, hosts-per-switch and cables are keys of " FAMILY
                      "; the family is %s",
                      f->family);
        f->subnet = subnet_of(f, false, strcmp(f->family, "torus") != 0 && strcmp(f->family, "dragonfly") != 0);
        return FAB_OK;
    }
    FAB_REFUSE_IF(f->file[0] == '\0', err, FAB_EINPUT, r->origin_where,
                  "file is required: what says what is installed (see import)");
    FAB_PASS(check_given(r, err));
    FAB_PASS(check_digest(r, err));
    options = fab_design_installed_options(f);
    FAB_PASS(fab_structure_read(f->file, &options, &net, err));
    return take_counts(r, net, err);
}
