/*
 * The fabric as a topology of SimAI's ns-3 [aliyun SimAI, inputs/topo/gen_Topo_Template.py]: GPUs, then scale-up
 * domains as NVSwitches, then switches tier by tier. A GPU is joined to its domain and, in place of its NIC, to the
 * NIC's leaves.
 */
#include "report_formats.h"

typedef struct writer {
    const fab_fabric *f;
    FILE *out;
    uint32_t n_gpus, n_domains;
} writer;

static fab_status simai_check(const fab_fabric *f, fab_error *err) {
    FAB_REFUSE_IF(f->gpus_per_server != f->nics_per_server, err, FAB_EUNSUPPORTED, NULL,
                  "SimAI joins every GPU to the network by itself; here are %" PRIu32 " GPUs and %" PRIu32
                  " NICs in a server",
                  f->gpus_per_server, f->nics_per_server);
    FAB_REFUSE_IF(f->gpus_per_domain == 1, err, FAB_EUNSUPPORTED, NULL,
                  "SimAI crashes on servers of 1 GPU; it needs at least 2 in a scale-up domain");
    for (fab_node_id nic = f->first[FAB_NODE_NIC]; nic < f->first[FAB_NODE_DOMAIN]; nic++) {
        double pcie_bps = 0;
        double network_bps = 0;
        for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1]; i++) {
            const fab_link_class *k = fab_class_of(f, f->out_link[i]);
            *(k->kind == FAB_LINK_PCIE ? &pcie_bps : &network_bps) += k->usable_bps;
        }
        FAB_REFUSE_IF(pcie_bps < network_bps, err, FAB_EUNSUPPORTED, NULL,
                      "SimAI has no PCIe; that of nic-%" PRIu32 " has %g Gb/s, less than its %g Gb/s into the network",
                      nic - f->first[FAB_NODE_NIC], pcie_bps / 1e9, network_bps / 1e9);
    }
    return FAB_OK;
}

static uint32_t simai_number_of(const writer *w, fab_node_id v) {
    const fab_fabric *f = w->f;
    switch (fab_kind_of(f, v)) {
    case FAB_NODE_GPU: return v;
    case FAB_NODE_NIC: return v - f->first[FAB_NODE_NIC]; /* its GPU */
    case FAB_NODE_DOMAIN: return w->n_gpus + v - f->first[FAB_NODE_DOMAIN];
    case FAB_NODE_SWITCH:
    case FAB_NODE_N_KINDS: break;
    }
    return w->n_gpus + w->n_domains + v - f->first[FAB_NODE_SWITCH];
}

/* Twelve places at most, and no exponent. */
static const char *plain(char out[40], double value) {
    size_t n = (size_t)snprintf(out, 40, "%.12f", value);
    while (n > 1 && out[n - 1] == '0') {
        out[--n] = '\0';
    }
    out[n - (out[n - 1] == '.' ? 1 : 0)] = '\0';
    return out;
}

static void simai_put_link(const writer *w, fab_link_id link) {
    const fab_link_class *k = fab_class_of(w->f, link);
    char rate[40];
    char delay[40];
    (void)fprintf(w->out, "%" PRIu32 " %" PRIu32 " %sGbps %sms 0\n", simai_number_of(w, fab_tail(w->f, link)),
                  simai_number_of(w, fab_head(w->f, link)), plain(rate, k->usable_bps / 1e9),
                  plain(delay, k->latency_s * 1e3));
}

static void put_links_of(const writer *w, fab_node_id v) {
    for (uint32_t i = w->f->out_first[v]; i < w->f->out_first[v + 1]; i++) {
        fab_link_id link = w->f->out_link[i];
        if (fab_is_up(link) && fab_class_of(w->f, link)->kind != FAB_LINK_PCIE) {
            simai_put_link(w, link);
        }
    }
}

static void simai_print(const writer *w) {
    const fab_fabric *f = w->f;
    uint32_t n_switches = fab_n_switches(f);
    FAB_SUM(uint32_t, n_links, c, f->n_cables, fab_class_of(f, 2 * c)->kind != FAB_LINK_PCIE);
    (void)fprintf(w->out, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " NONE\n",
                  w->n_gpus + w->n_domains + n_switches, f->gpus_per_domain, w->n_domains, n_switches, n_links);
    for (uint32_t i = 0; i < w->n_domains + n_switches; i++) {
        (void)fprintf(w->out, "%" PRIu32 " ", w->n_gpus + i);
    }
    (void)fputc('\n', w->out);
    for (uint32_t gpu = 0; gpu < w->n_gpus; gpu++) {
        put_links_of(w, gpu);
        put_links_of(w, f->first[FAB_NODE_NIC] + gpu);
    }
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        put_links_of(w, v);
    }
}

static fab_status print_simai(const fab_result *result, FAB_UNUSED const fab_report_style *style, FILE *out,
                              fab_error *err) {
    const fab_fabric *f = result->graph;
    FAB_PASS(simai_check(f, err));
    const writer w = {.f = f, .out = out, .n_gpus = fab_n_gpus(f), .n_domains = fab_n_of(f, FAB_NODE_DOMAIN)};
    simai_print(&w);
    return FAB_OK;
}

const fab_report_format fab_report_simai = {
    .name = "simai",
    .file_name = NULL, /* not every fabric can be one of SimAI */
    .suffix = ".simai",
    .summary = "the fabric as a topology of SimAI's ns-3",
    .print = print_simai,
    .needs_graph = true,
    .leaves_out_hosts = true,
};
