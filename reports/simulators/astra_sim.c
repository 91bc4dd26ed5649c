/*
 * The fabric as a network of ASTRA-sim's analytical backend (YAML) [astra-sim, inputs/network/analytical]: a list of
 * dimensions, each a Ring, FullyConnected or Switch of so many NPUs, with the bandwidth (GB/s) and latency (ns) of a
 * link. An NPU has a place in every dimension and is joined there to those that differ in this place alone.
 *
 * That is a scale-up domain (Switch, first) and a network of one switch tier in which the GPUs of one place in their
 * domains share a leaf (Switch). A torus is no Ring: its switches have the links, and a GPU one NIC.
 */
#include "report_formats.h"

#define DIMENSIONS 2
#define GIGA       1073741824.0 /* bytes: ASTRA-sim's GB are 2^30 */

typedef struct dimension {
    const char *block;
    uint32_t npus;
    double bytes_per_s, s;
} dimension;

typedef struct network {
    const fab_fabric *f;
    dimension dims[DIMENSIONS];
    uint32_t n;
} network;

static void astra_add(network *w, const char *block, uint32_t npus, double bps, double s) {
    w->dims[w->n++] = (dimension){block, npus, bps / 8, s};
}

/* The class of all network links; FAB_EUNSUPPORTED where there are several of one kind. */
static fab_status find_class(const fab_fabric *f, fab_link_kind kind, const fab_link_class **out, fab_error *err) {
    *out = NULL;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(f, 2 * c);
        if (k->kind != kind) {
            continue;
        }
        FAB_REFUSE_IF(*out != NULL && (k->usable_bps != (*out)->usable_bps || k->latency_s != (*out)->latency_s), err,
                      FAB_EUNSUPPORTED, NULL,
                      "links of one dimension of ASTRA-sim are alike; here are %g and %g Gb/s, %g and %g m "
                      "(--set floor.lengths=tier gives them one length)",
                      (*out)->usable_bps / 1e9, k->usable_bps / 1e9, (*out)->length_m, k->length_m);
        *out = k;
    }
    return FAB_OK;
}

static fab_status check_server(const fab_fabric *f, const fab_link_class *access, fab_error *err) {
    FAB_REFUSE_IF(f->gpus_per_server != f->nics_per_server || f->n_planes > 1, err, FAB_EUNSUPPORTED, NULL,
                  "an NPU of ASTRA-sim has one link into a dimension; here are %" PRIu32 " GPUs and %" PRIu32
                  " NICs of %" PRIu32 " ports in a server",
                  f->gpus_per_server, f->nics_per_server, f->n_planes);
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(f, 2 * c);
        FAB_REFUSE_IF(k->kind == FAB_LINK_PCIE && k->usable_bps < access->usable_bps, err, FAB_EUNSUPPORTED, NULL,
                      "ASTRA-sim's network has no PCIe; here it has %g Gb/s, less than the %g Gb/s of a NIC",
                      k->usable_bps / 1e9, access->usable_bps / 1e9);
    }
    return FAB_OK;
}

static fab_node_id astra_leaf_of(const fab_fabric *f, uint32_t gpu) {
    fab_node_id nic = f->first[FAB_NODE_NIC] + gpu;
    FAB_FIRST_IN(i, f->out_first[nic], f->out_first[nic + 1], fab_class_of(f, f->out_link[i])->kind == FAB_LINK_ACCESS);
    return i < f->out_first[nic + 1] ? fab_head(f, f->out_link[i]) : FAB_NONE;
}

/* GPUs of one place in their domains share a leaf. */
static fab_status add_leaves(network *w, const fab_link_class *access, fab_error *err) {
    const fab_fabric *f = w->f;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        fab_node_id leaf = astra_leaf_of(f, gpu);
        fab_node_id first = astra_leaf_of(f, gpu % f->gpus_per_domain);
        if (leaf != first) {
            char name[2][32];
            return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                            "gpu-%" PRIu32 " is on %s and gpu-%" PRIu32
                            " on %s; a Switch of ASTRA-sim joins all GPUs of one place in their scale-up domains, and "
                            "several tiers are no block of its",
                            gpu % f->gpus_per_domain, fab_node_name(f, first, name[0]), gpu,
                            fab_node_name(f, leaf, name[1]));
        }
    }
    uint32_t n_domains = fab_n_gpus(f) / f->gpus_per_domain;
    if (n_domains > 1) {
        astra_add(w, "Switch", n_domains, access->usable_bps, access->latency_s);
    }
    return FAB_OK;
}

static fab_status astra_describe(network *w, fab_error *err) {
    const fab_fabric *f = w->f;
    const fab_link_class *access = NULL;
    const fab_link_class *scale_up = NULL;
    FAB_PASS(find_class(f, FAB_LINK_ACCESS, &access, err));
    FAB_PASS(find_class(f, FAB_LINK_SCALEUP, &scale_up, err));
    FAB_REFUSE_IF(access == NULL || !fab_is_tree(f), err, FAB_EUNSUPPORTED, NULL,
                  "a Ring or FullyConnected of ASTRA-sim joins NPUs by links of their own; in a %s they share one NIC "
                  "and the links of its switch",
                  fab_wiring_name(f->wiring));
    FAB_PASS(check_server(f, access, err));
    if (scale_up != NULL && f->gpus_per_domain > 1) {
        astra_add(w, "Switch", f->gpus_per_domain, scale_up->usable_bps, scale_up->latency_s);
    }
    FAB_PASS(add_leaves(w, access, err));
    FAB_REFUSE_IF(w->n == 0, err, FAB_EUNSUPPORTED, NULL, "one GPU alone is no dimension of ASTRA-sim");
    return FAB_OK;
}

static void astra_print(const fab_result *result, const network *w, fab_str *text) {
    static const char *const KEYS[] = {"topology", "npus_count", "bandwidth", "latency"};
    static const char *const NOTES[] = {"", "", "  # GB/s, of 2^30 bytes as ASTRA-sim counts", "  # ns, of a link"};
    fab_str_printf(text, "# fabriscope %s, design %s\n", result->version != NULL ? result->version : "",
                   result->n_fabrics > 0 ? result->fabrics[0].digest : "unknown");
    if (w->n > 1) {
        fab_str_add(text,
                    "# For the congestion-unaware network: the congestion-aware one takes one dimension alone.\n");
    }
    for (size_t key = 0; key < FAB_N_OF(KEYS); key++) {
        fab_str_printf(text, "%s: [", KEYS[key]);
        for (uint32_t d = 0; d < w->n; d++) {
            const dimension *dim = &w->dims[d];
            char number[48];
            const char *cell = number;
            if (key == 0) {
                cell = dim->block;
            } else if (key == 1) {
                FAB_FORMAT(number, "%" PRIu32, dim->npus);
            } else {
                FAB_FORMAT(number, "%.9g", key == 2 ? dim->bytes_per_s / GIGA : dim->s * 1e9);
                (void)strncat(number, strpbrk(number, ".e") == NULL ? ".0" : "", sizeof number - strlen(number) - 1);
            }
            fab_str_printf(text, "%s%s", d > 0 ? ", " : " ", cell);
        }
        fab_str_printf(text, " ]%s\n", NOTES[key]);
    }
}

static fab_status make_astra_sim(const fab_result *result, FAB_UNUSED const fab_report_style *style, fab_str *out,
                                 fab_error *err) {
    network w = {.f = result->graph};
    FAB_PASS(astra_describe(&w, err));
    astra_print(result, &w, out);
    return FAB_OK;
}

const fab_report_format fab_report_astra_sim = {
    .name = "astra-sim",
    .file_name = NULL, /* not every fabric can be one of ASTRA-sim */
    .suffix = ".astra-sim.yml",
    .summary = "the fabric as a network of ASTRA-sim's analytical backend (YAML), where that can describe it",
    .make = make_astra_sim,
    .needs_graph = true,
    .leaves_out_hosts = true,
};
