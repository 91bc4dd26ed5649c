/* From a file to servers, NICs and switches in tiers. */
#include "installed_internal.h"

#include "fab/fnv.h"
#include "fab/source.h"

#include "fab/box_files.h"
#include "fab/str.h"

#define MOST_HOSTS (1U << 22)

const char *const fab_exclusion_texts[FAB_EXCLUDED_N] = {
    [FAB_EXCLUDED_SERVICES] = "aggregation nodes inside switches",
    [FAB_EXCLUDED_MANAGEMENT] = "hosts with at most half as many NICs as a server",
    [FAB_EXCLUDED_NAMELESS] = "adapters that do not say which host they are in",
    [FAB_EXCLUDED_UNPLUGGED] = "hosts and adapters without a cable to a switch",
    [FAB_EXCLUDED_SURPLUS] = "adapters of servers beyond their NICs",
    [FAB_EXCLUDED_DARK] = "switches that no server reaches"};

void installed_leave(fab_structure *out, fab_exclusion kind, const char *name) {
    fab_excluded *excluded = &out->excluded[kind];
    if (excluded->n < FAB_INSTALLED_SHOWN) {
        excluded->name[excluded->n] = name;
    }
    excluded->n++;
}

void fab_structure_free(fab_structure *installed) {
    if (installed != NULL) {
        fab_shape_release(&installed->shape);
        fab_network_free(installed->net);
        FAB_FREE_ALL(installed->server_name, installed->nic_node, installed->nic_side, installed->switches,
                     installed->switch_of, installed->trunk, installed);
    }
}

uint32_t fab_structure_unrated(const fab_structure *installed) {
    const fab_network *net = installed->net;
    uint32_t n = 0;
    FAB_EACH(const fab_network_cable, cable, net->cables, net->n_cables) {
        n += cable->rate_bps <= 0 && !fab_network_is_service(net, cable);
    }
    return n;
}

/* Hosts for files that have switches alone: "NAME/host-0", ... */
static fab_status add_hosts(fab_structure *out, uint64_t each, fab_error *err) {
    fab_network *net = out->net;
    FAB_OWNS(fab_str_release) fab_str name = FAB_STR_INIT;
    uint32_t n = net->n_nodes;
    FAB_REFUSE_IF(each > MOST_HOSTS || each * n > MOST_HOSTS, err, FAB_EINPUT, net->path,
                  "hosts-per-switch: %" PRIu64 " for each of %" PRIu32 " switches; the limit is %u hosts", each, n,
                  MOST_HOSTS);
    for (uint32_t v = 0; v < n; v++) {
        FAB_REFUSE_IF(fab_network_is_host(net, v), err, FAB_EINPUT, net->path,
                      "hosts-per-switch: the file has hosts of its own, such as '%.60s'", net->nodes[v].label);
        net->nodes[v].kind = net->nodes[v].kind == FAB_NETWORK_UNKNOWN ? FAB_NETWORK_SWITCH : net->nodes[v].kind;
    }
    for (uint32_t v = 0; v < n; v++) {
        for (uint64_t i = 0; i < each && net->nodes[v].kind == FAB_NETWORK_SWITCH; i++) {
            fab_network_cable cable = {.end = {{.node = FAB_NETWORK_NONE}, {.node = v}}};
            uint32_t known = net->n_nodes;
            name.length = 0;
            fab_str_printf(&name, "%s/host-%" PRIu64, net->nodes[v].label, i);
            if (!name.failed && fab_network_find(net, name.data, name.length) != FAB_NETWORK_NONE) {
                fab_str_printf(&name, " of %s", net->nodes[v].name);
            }
            FAB_PASS(fab_str_status(&name, err));
            FAB_PASS(fab_network_add_node(net, name.data, name.length, net->nodes[v].line, &cable.end[0].node, err));
            FAB_REFUSE_IF(cable.end[0].node != known, err, FAB_EINPUT, net->path,
                          "hosts-per-switch: '%.60s' is in the file already", name.data);
            net->nodes[cable.end[0].node].kind = FAB_NETWORK_HOST;
            FAB_PASS(fab_network_add_cable(net, &cable, NULL, err));
            out->n_added_hosts++;
        }
    }
    return FAB_OK;
}

/* The rate that is there most often, the faster of two that are as frequent; 0 where there is none. Sorts. */
static double usual_rate(double *bps, size_t n) {
    double best = 0;
    size_t most = 0;
    qsort(bps, n, sizeof *bps, fab_order_double);
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && bps[i] == bps[i - 1] ? run + 1 : 1;
        if (run >= most) {
            most = run;
            best = bps[i];
        }
    }
    return best;
}

static fab_status find_rates(fab_structure *out, fab_error *err) {
    size_t n_sides = (size_t)out->n_servers * out->nics_per_server * out->n_planes;
    for (uint32_t c = 0; c < out->net->n_cables; c++) {
        out->knows_rates = out->knows_rates || out->net->cables[c].rate_bps > 0;
        out->knows_lengths = out->knows_lengths || out->net->cables[c].length_m > 0;
    }
    FAB_OWNED_NEW(double, bps, n_sides > out->n_trunks ? n_sides : out->n_trunks, err);
    for (uint32_t tier = 1; tier <= FAB_INSTALLED_TIERS; tier++) {
        size_t n = 0;
        for (size_t i = 0; tier == 1 && i < n_sides; i++) {
            bps[n] = out->nic_side[i] != FAB_NETWORK_NONE ? out->net->cables[out->nic_side[i] >> 1].rate_bps : 0;
            n += bps[n] > 0;
        }
        for (uint32_t t = 0; tier > 1 && t < out->n_trunks; t++) {
            uint32_t side[2];
            fab_structure_trunk(out, t, side);
            uint32_t upper = out->switch_of[fab_network_near(out->net, side[1])->node];
            bps[n] = out->net->cables[out->trunk[t]].rate_bps;
            n += bps[n] > 0 && (!out->is_tree || out->switches[upper].tier == tier);
        }
        out->cable_bps[tier] = usual_rate(bps, n);
    }
    out->nic_bps = out->cable_bps[1] * out->n_planes;
    return FAB_OK;
}

static fab_status installed_make(making *m, fab_error *err) {
    uint32_t n = m->net->n_nodes;
    FAB_PASS(FAB_NEW_ALL(n, err, m->network, m->set, m->nics, m->tier, m->plane));
    for (uint32_t v = 0; v < n; v++) {
        if (m->net->nodes[v].kind == FAB_NETWORK_SERVICE) {
            installed_leave(m->out, FAB_EXCLUDED_SERVICES, m->net->nodes[v].label);
        }
    }
    FAB_PASS(installed_find_networks(m, err));
    FAB_PASS(installed_find_planes(m, err));
    FAB_PASS(installed_find_hosts(m, err));
    FAB_PASS(installed_place_nics(m, err));
    FAB_PASS(installed_find_switches(m, err));
    return find_rates(m->out, err);
}

fab_status fab_structure_of(fab_network **net, const fab_structure_options *options, fab_structure **out,
                            fab_error *err) {
    FAB_OWNS(fab_structure_free_owned) fab_structure *made = NULL;
    making m = {.options = options};
    FAB_OWNS_MEMBERS(m.network, m.set, m.nics, m.tier, m.plane, m.hosts, m.units);
    FAB_PASS(FAB_NEW(made, 1, err));
    m.out = made;
    m.out->net = *net;
    *net = NULL;
    FAB_PASS(options->hosts_per_switch > 0 ? add_hosts(m.out, options->hosts_per_switch, err) : FAB_OK);
    FAB_PASS(fab_shape_find(m.out->net, &m.out->shape, err));
    m.net = m.out->net;
    FAB_PASS(installed_make(&m, err));
    return FAB_GIVE(*out, made);
}

fab_status fab_structure_read(const char *path, const fab_structure_options *options, fab_structure **out,
                              fab_error *err) {
    FAB_OWNS(fab_network_free_owned) fab_network *net = NULL;
    const char *format = options->format != NULL && options->format[0] != '\0' ? options->format : NULL;
    FAB_PASS(fab_network_read(path, format, options->max_bytes, &net, err));
    return fab_structure_of(&net, options, out, err);
}

static fab_status digest_file(const char *path, uint64_t *hash, fab_error *err) {
    unsigned char block[16384];
    size_t n = 0;
    FAB_OWNS(fab_source_close_owned) fab_source *in = NULL;
    FAB_PASS(fab_source_open(path, &in, err));
    do {
        FAB_PASS(fab_source_read(in, block, sizeof block, &n, err));
        *hash = fab_fnv(*hash, block, n);
    } while (n == sizeof block);
    return FAB_OK;
}

/* Of a folder the names and contents of its files, in the order of the names. */
static fab_status digest_of(const char *path, size_t depth, uint64_t *hash, fab_error *err) {
    FAB_OWNS(fab_folder_release) fab_folder list = {.n = 0};
    if (!fab_is_folder(path)) {
        return digest_file(path, hash, err);
    }
    FAB_REFUSE_IF(depth == FAB_FOLDER_DEPTH, err, FAB_EINPUT, path, "folders within folders: at most %d",
                  FAB_FOLDER_DEPTH);
    FAB_PASS(fab_folder_list(path, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *name = strrchr(list.paths[i], '/') + 1;
        *hash = fab_fnv(*hash, name, strlen(name) + 1);
        FAB_PASS(digest_of(list.paths[i], depth + 1, hash, err));
    }
    return FAB_OK;
}

fab_status fab_network_digest(const char *path, char out[17], fab_error *err) {
    uint64_t hash = FAB_FNV_BEGIN;
    FAB_PASS(digest_of(path, 0, &hash, err));
    (void)snprintf(out, 17, "%016" PRIx64, hash);
    return FAB_OK;
}
