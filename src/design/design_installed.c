/* Designs of what is installed: counts come from the file, and its digest is one of the values. */
#include "fab/installed.h"
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAMILY "installed"

static bool has_keys(const reading *r) {
    static const char *const KEYS[] = {"file", "format", "digest", "host-order", "hosts-per-switch", "cables"};
    bool has = false;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        has = has || !fab_design_is_default(&r->design.fabric, KEYS[i]);
    }
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
    (void)snprintf(f->digest, sizeof f->digest, "%s", digest);
    return FAB_OK;
}

/* Values that the file decides. */
static fab_status check_given(const reading *r, fab_error *err) {
    const fab_fabric_spec *f = &r->design.fabric;
    const struct {
        const char *key;
        bool given;
    } keys[] = {{"tiers", f->tiers != 0}, {"pod", f->pod != 0}, {"planes", f->planes != 1}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        FAB_REFUSE_IF(keys[i].given, err, FAB_EINPUT, reading_where(r, keys[i].key, NULL, NULL),
                      "%s: the file of an installed fabric decides that; leave it out", keys[i].key);
    }
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        const fab_tier_spec *t = &f->tier[i];
        FAB_REFUSE_IF(t->taper != 1 || t->breakout != 1 || t->breakout_up != 0 || t->down != 0, err, FAB_EINPUT,
                      reading_where(r, "file", NULL, NULL),
                      "taper, down, breakout and breakout-up: the file of an installed fabric decides that; leave "
                      "them out");
    }
    return FAB_OK;
}

static fab_status take_counts(reading *r, const fab_structure *net, fab_error *err) {
    fab_fabric_spec *f = &r->design.fabric;
    f->gaps = (fab_gaps){.cables = net->net->is_tree_of_names,
                         .hosts = net->n_added_hosts > 0,
                         .lengths = !net->knows_lengths,
                         .rates = fab_structure_unrated(net)};
    f->nics_per_server = net->nics_per_server;
    f->gpus_per_server = f->gpus_per_server != 0 ? f->gpus_per_server : net->nics_per_server;
    f->nic_bps = net->nic_bps > 0 ? net->nic_bps : f->nic_bps;
    if (f->domain == 0 && net->domain_servers > 0) {
        f->domain = net->domain_servers * f->gpus_per_server;
        if (net->domain_bps > 0 && !f->domain_rate_given) {
            f->domain_bps = net->domain_bps / (double)f->domain;
            f->domain_rate_given = true;
        }
    }
    uint64_t radix[FAB_MAX_TIERS] = {0};
    for (uint32_t i = 0; i < net->n_switches; i++) {
        uint64_t *most = &radix[net->switches[i].tier - 1];
        *most = net->switches[i].n_ports > *most ? net->switches[i].n_ports : *most;
    }
    for (size_t t = 0; t < FAB_MAX_TIERS; t++) {
        f->tier[t].radix = radix[t] > 0 ? radix[t] : f->tier[t].radix;
    }
    for (size_t t = 0; t < (net->is_tree ? net->n_tiers : 2); t++) {
        double bps = net->cable_bps[t + 1];
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
