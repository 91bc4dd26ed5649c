/*
 * The fabric as a topology of htsim (.topo), which has figures of two or three tiers and no list of cables [Broadcom
 * csg-htsim, sim/datacenter/fat_tree_topology.cpp]. What it would build of them is compared with the fabric cable by
 * cable; where it would be another network, that is said and nothing is written.
 */
#include "report_formats.h"

#define TIERS 3

typedef struct figures {
    const fab_fabric *f;
    uint32_t hosts, pods, leaves, spines; /* leaves and spines of a pod */
    uint32_t down[TIERS], up[TIERS];      /* cables of a switch */
    uint32_t bundle[TIERS];               /* between two boxes */
    const fab_link_class *link[TIERS];    /* below the tier */
    uint64_t gbps[TIERS], ns[TIERS], over[TIERS];
} figures;

static uint32_t n_of_tier(const fab_fabric *f, uint32_t tier) {
    return f->first_of_tier[tier + 1] - f->first_of_tier[tier];
}

/* Cables of a switch to the tiers above (or below). */
static uint32_t htsim_count_cables(const fab_fabric *f, fab_node_id v, bool up) {
    FAB_SUM_IN(uint32_t, n, i, f->out_first[v], f->out_first[v + 1], fab_is_up(f->out_link[i]) == up);
    return n;
}

static fab_status check_family(const fab_fabric *f, fab_error *err) {
    FAB_REFUSE_IF(!fab_is_tree(f) || f->n_tiers < 2 || f->n_tiers > TIERS, err, FAB_EUNSUPPORTED, NULL,
                  "htsim describes trees of 2 or 3 switch tiers; this fabric is a %s of %" PRIu32,
                  fab_wiring_name(f->wiring), f->n_tiers);
    FAB_REFUSE_IF(f->n_planes > 1, err, FAB_EUNSUPPORTED, NULL,
                  "hosts of htsim have one port; NICs have %" PRIu32 " here (planes)", f->n_planes);
    FAB_REFUSE_IF(f->gpus_per_server != f->nics_per_server, err, FAB_EUNSUPPORTED, NULL,
                  "nodes of htsim have one port; here are %" PRIu32 " GPUs and %" PRIu32 " NICs in a server",
                  f->gpus_per_server, f->nics_per_server);
    return FAB_OK;
}

/* One rate and latency for all cables below a tier, in whole Gb/s and ns. */
static fab_status htsim_find_links(figures *g, fab_error *err) {
    const fab_fabric *f = g->f;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(f, 2 * c);
        if (k->kind != FAB_LINK_ACCESS && k->kind != FAB_LINK_FABRIC) {
            continue;
        }
        const fab_link_class **seen = &g->link[k->tier - 1];
        *seen = *seen != NULL ? *seen : k;
        FAB_REFUSE_IF(k->usable_bps != (*seen)->usable_bps || k->latency_s != (*seen)->latency_s, err, FAB_EUNSUPPORTED,
                      NULL,
                      "cables %s have different rates or lengths (%g and %g Gb/s, %g and %g m); htsim has one rate "
                      "and latency for a tier (--set floor.lengths=tier gives them one length)",
                      fab_boundary_name(f->wiring, k->tier), (*seen)->usable_bps / 1e9, k->usable_bps / 1e9,
                      (*seen)->length_m, k->length_m);
    }
    for (uint32_t t = 0; t < f->n_tiers; t++) {
        FAB_REFUSE_IF(g->link[t] == NULL, err, FAB_EUNSUPPORTED, NULL,
                      "there is no cable %s; htsim has some at every tier", fab_boundary_name(f->wiring, t + 1));
        double gbps = g->link[t]->usable_bps / 1e9;
        double ns = round(g->link[t]->latency_s * 1e9);
        g->gbps[t] = (uint64_t)gbps;
        g->ns[t] = ns >= 1 ? (uint64_t)ns : 1; /* htsim takes 0 for missing */
        FAB_REFUSE_IF((double)g->gbps[t] != gbps || g->gbps[t] == 0, err, FAB_EUNSUPPORTED, NULL,
                      "cables %s have %.9g Gb/s; htsim takes whole Gb/s", fab_boundary_name(f->wiring, t + 1), gbps);
    }
    return FAB_OK;
}

/* As many cables at every switch of a tier, and as many switches in every pod. */
static fab_status htsim_count_switches(figures *g, fab_error *err) {
    const fab_fabric *f = g->f;
    g->hosts = fab_n_of(f, FAB_NODE_NIC);
    for (uint32_t t = 0; t < f->n_tiers; t++) {
        fab_node_id first = f->first_of_tier[t + 1];
        g->down[t] = htsim_count_cables(f, first, false);
        g->up[t] = htsim_count_cables(f, first, true);
        for (fab_node_id v = first + 1; v < f->first_of_tier[t + 2]; v++) {
            uint32_t down = htsim_count_cables(f, v, false);
            uint32_t up = htsim_count_cables(f, v, true);
            if (down != g->down[t] || up != g->up[t]) {
                char name[2][32];
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "%s has %" PRIu32 " cables down and %" PRIu32 " up, %s %" PRIu32 " and %" PRIu32
                                "; switches of a tier of htsim are alike",
                                fab_node_name(f, first, name[0]), g->down[t], g->up[t], fab_node_name(f, v, name[1]),
                                down, up);
            }
        }
    }
    g->pods = f->n_tiers == 3 && f->n_pods > 0 ? f->n_pods : 1;
    g->leaves = n_of_tier(f, 1) / g->pods;
    g->spines = n_of_tier(f, 2) / g->pods;
    FAB_REFUSE_IF(g->leaves * g->pods != n_of_tier(f, 1) || g->spines * g->pods != n_of_tier(f, 2) || g->spines == 0 ||
                      g->down[0] == 0,
                  err, FAB_EUNSUPPORTED, NULL,
                  "%" PRIu32 " leaves and %" PRIu32 " spines are no equal pods; there are %" PRIu32, n_of_tier(f, 1),
                  n_of_tier(f, 2), g->pods);
    return FAB_OK;
}

/* Hosts are numbered leaf by leaf. */
static fab_status check_hosts(const figures *g, fab_error *err) {
    const fab_fabric *f = g->f;
    uint32_t per_leaf = g->down[0] > 0 ? g->down[0] : 1;
    for (uint32_t host = 0; host < g->hosts; host++) {
        fab_node_id nic = f->first[FAB_NODE_NIC] + host;
        for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1]; i++) {
            fab_node_id leaf = fab_head(f, f->out_link[i]);
            if (fab_kind_of(f, leaf) == FAB_NODE_SWITCH && leaf - f->first_of_tier[1] != host / per_leaf) {
                char name[32];
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "nic-%" PRIu32 " is on %s; htsim has %" PRIu32
                                " consecutive nodes on every leaf, so this one would be on leaf-%" PRIu32,
                                host, fab_node_name(f, leaf, name), per_leaf, host / per_leaf);
            }
        }
    }
    return FAB_OK;
}

static uint32_t list_above(const fab_fabric *f, fab_node_id v, uint32_t *out) {
    uint32_t n = 0;
    FAB_KEEP_IN(out, n, i, f->out_first[v], f->out_first[v + 1], fab_is_up(f->out_link[i]),
                fab_head(f, f->out_link[i]));
    qsort(out, n, sizeof *out, fab_order_u32);
    return n;
}

/* Every leaf has equally many cables to each spine of its pod, and to no other. */
static fab_status check_leaves(figures *g, uint32_t *above, fab_error *err) {
    const fab_fabric *f = g->f;
    g->bundle[1] = g->spines > 0 ? g->up[0] / g->spines : 0;
    for (uint32_t leaf = 0; leaf < g->leaves * g->pods; leaf++) {
        uint32_t n = list_above(f, f->first_of_tier[1] + leaf, above);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t spine = leaf / g->leaves * g->spines + (g->bundle[1] > 0 ? i / g->bundle[1] : 0);
            if (n != g->bundle[1] * g->spines || above[i] != f->first_of_tier[2] + spine) {
                char name[32];
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "leaf-%" PRIu32 " has no %" PRIu32
                                " cables to %s; htsim joins a leaf alike to all %" PRIu32 " spines of its pod",
                                leaf, g->bundle[1], fab_node_name(f, f->first_of_tier[2] + spine, name), g->spines);
            }
        }
    }
    return FAB_OK;
}

/* Spine i of every pod has the same cores, equally many cables to each, and no other spine has them. */
static fab_status check_spines(figures *g, uint32_t *above, uint32_t *of_first, uint32_t *owner, fab_error *err) {
    const fab_fabric *f = g->f;
    for (uint32_t spine = 0; spine < g->spines * g->pods; spine++) {
        uint32_t *list = spine < g->spines ? of_first + (size_t)spine * g->up[1] : above;
        const uint32_t *first = of_first + (size_t)(spine % g->spines) * g->up[1];
        uint32_t n = list_above(f, f->first_of_tier[2] + spine, list);
        while (g->bundle[2] < n && list[g->bundle[2]] == list[0] && spine == 0) {
            g->bundle[2]++;
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t *by = &owner[list[i] - f->first_of_tier[3]];
            *by = *by == 0 ? spine % g->spines + 1 : *by;
            bool begins = i % g->bundle[2] == 0;
            bool alike = begins ? i == 0 || list[i] != list[i - 1] : list[i] == list[i - 1];
            if (n % g->bundle[2] != 0 || !alike || list[i] != first[i] || *by != spine % g->spines + 1) {
                char name[32];
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "spine-%" PRIu32 " and %s are joined otherwise than in htsim, where spine i of every "
                                "pod has the same cores, and those alone",
                                spine, fab_node_name(f, list[i], name));
            }
        }
    }
    return FAB_OK;
}

static fab_status check_wiring(figures *g, fab_error *err) {
    FAB_OWNED uint32_t *of_first = NULL;
    FAB_OWNED uint32_t *owner = NULL;
    FAB_OWNED_NEW(uint32_t, above, (size_t)g->up[0] + g->up[1] + 1, err);
    FAB_PASS(check_leaves(g, above, err));
    if (g->f->n_tiers == 3) {
        FAB_PASS(FAB_NEW(of_first, (size_t)g->spines * g->up[1] + 1, err));
        FAB_PASS(FAB_NEW(owner, n_of_tier(g->f, 3), err));
        FAB_PASS(check_spines(g, above, of_first, owner, err));
    }
    return FAB_OK;
}

/* htsim takes a whole number, which the capacities must make exactly. */
static fab_status find_tapers(figures *g, fab_error *err) {
    for (uint32_t t = 0; t + 1 < g->f->n_tiers; t++) {
        uint64_t down = g->down[t] * g->gbps[t];
        uint64_t up = g->up[t] * g->gbps[t + 1];
        g->over[t] = down / up;
        FAB_REFUSE_IF(g->over[t] == 0 || down % up != 0, err, FAB_EUNSUPPORTED, NULL,
                      "%s switches have %" PRIu64 " Gb/s down and %" PRIu64
                      " up, %.4g:1; htsim takes whole oversubscription",
                      fab_tier_name(g->f->wiring, t + 1), down, up, (double)down / (double)up);
    }
    return FAB_OK;
}

static void htsim_print(const fab_result *result, const figures *g, fab_str *text) {
    uint32_t n_tiers = g->f->n_tiers;
    fab_str_printf(text, "# fabriscope %s, design %s\nNodes %" PRIu32 "\nTiers %" PRIu32 "\nPodsize %" PRIu32 "\n",
                   result->version != NULL ? result->version : "",
                   result->n_fabrics > 0 ? result->fabrics[0].digest : "unknown", g->hosts, n_tiers,
                   g->hosts / g->pods);
    for (uint32_t t = 0; t < n_tiers; t++) {
        fab_str_printf(text, "\nTier %" PRIu32 "\nDownlink_speed_Gbps %" PRIu64 "\nRadix_Down %" PRIu32 "\n", t,
                       g->gbps[t], g->down[t]);
        if (t + 1 < n_tiers) {
            fab_str_printf(text, "Radix_Up %" PRIu32 "\n", g->up[t]);
            if (g->over[t] > 1) { /* htsim refuses to be told the default again */
                fab_str_printf(text, "Oversubscribed %" PRIu64 "\n", g->over[t]);
            }
        }
        if (g->bundle[t] > 1) {
            fab_str_printf(text, "Bundle %" PRIu32 "\n", g->bundle[t]);
        }
        fab_str_printf(text, "Downlink_Latency_ns %" PRIu64 "\n", g->ns[t]);
    }
}

static fab_status make_htsim(const fab_result *result, FAB_UNUSED const fab_report_style *style, fab_str *out,
                             fab_error *err) {
    figures g = {.f = result->graph, .bundle = {1, 1, 1}};
    FAB_PASS(check_family(g.f, err));
    FAB_PASS(htsim_find_links(&g, err));
    FAB_PASS(htsim_count_switches(&g, err));
    FAB_PASS(check_hosts(&g, err));
    FAB_PASS(check_wiring(&g, err));
    FAB_PASS(find_tapers(&g, err));
    htsim_print(result, &g, out);
    return FAB_OK;
}

const fab_report_format fab_report_htsim = {
    .name = "htsim",
    .file_name = NULL, /* not every fabric can be one of htsim */
    .suffix = ".topo",
    .summary = "the fabric as a topology of htsim (.topo), where that can describe it",
    .make = make_htsim,
    .needs_graph = true,
    .leaves_out_hosts = true,
};
