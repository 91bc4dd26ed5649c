/* The fabric as ibnetdiscover prints a subnet: what ibsim loads and InfiniBand tools read. Planes and rails without
 * links between them are subnets of their own, which stand in the same file. */
#include "fab/ib_names.h"
#include "report_formats.h"

#define RATE_SIZE 16

typedef struct ibnet {
    const fab_fabric *f;
    FILE *out;
} ibnet;

/* "4xNDR": four lanes where that makes the rate. False where no width and speed do. */
static bool find_rate(double bps, char *out) {
    static const unsigned WIDTHS[] = {4, 2, 1, 8, 12};
    static const struct {
        const char *name;
        double lane_bps;
    } SPEEDS[] = {{"SDR", 2.5e9}, {"DDR", 5e9},  {"QDR", 10e9},  {"FDR10", 10.3125e9}, {"FDR", 14e9},
                  {"EDR", 25e9},  {"HDR", 50e9}, {"NDR", 100e9}, {"XDR", 200e9}};
    for (size_t w = 0; w < FAB_N_OF(WIDTHS); w++) {
        for (size_t s = 0; s < FAB_N_OF(SPEEDS); s++) {
            if (fabs(WIDTHS[w] * SPEEDS[s].lane_bps - bps) <= 1e-9 * bps) {
                (void)snprintf(out, RATE_SIZE, "%ux%s", WIDTHS[w], SPEEDS[s].name);
                return true;
            }
        }
    }
    return false;
}

static fab_status check_rates(const fab_fabric *f, fab_error *err) {
    for (uint32_t c = 0; c < f->n_cables; c++) {
        double bps = fab_class_of(f, 2 * c)->capacity_bps;
        char rate[RATE_SIZE];
        if (fab_is_network(fab_class_of(f, 2 * c)) && !find_rate(bps, rate)) {
            char name[FAB_LINK_NAME_SIZE];
            return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                            "%s has %g Gb/s, which no width (1, 2, 4, 8, 12) and speed (2.5 to 200 Gb/s a lane) of "
                            "InfiniBand make",
                            fab_link_name(f, 2 * c, name), bps / 1e9);
        }
    }
    return FAB_OK;
}

/* "H-<guid>"[port], and of an adapter its port GUID. */
static void put_remote(const ibnet *w, fab_link_id link) {
    fab_node_id to = fab_head(w->f, link);
    bool is_switch = fab_kind_of(w->f, to) == FAB_NODE_SWITCH;
    uint32_t port = fab_ib_port(w->f, link ^ 1U);
    (void)fprintf(w->out, "\"%c-%016" PRIx64 "\"[%" PRIu32 "]", is_switch ? 'S' : 'H', fab_ib_guid(w->f, to, 0), port);
    if (!is_switch) {
        (void)fprintf(w->out, "(%" PRIx64 ") ", fab_ib_guid(w->f, to, port));
    }
}

static void put_port(const ibnet *w, fab_link_id link) {
    const fab_fabric *f = w->f;
    fab_node_id v = fab_tail(f, link);
    fab_node_id to = fab_head(f, link);
    uint32_t port = fab_ib_port(f, link);
    char description[FAB_IB_DESCRIPTION];
    char rate[RATE_SIZE] = "";
    (void)find_rate(fab_class_of(f, link)->capacity_bps, rate);
    (void)fprintf(w->out, "[%" PRIu32 "]", port);
    if (fab_kind_of(f, v) != FAB_NODE_SWITCH) {
        (void)fprintf(w->out, "(%" PRIx64 ") ", fab_ib_guid(f, v, port));
    }
    (void)fputc('\t', w->out);
    put_remote(w, link);
    (void)fputs("\t\t# ", w->out);
    if (fab_kind_of(f, v) != FAB_NODE_SWITCH) {
        (void)fprintf(w->out, "lid %" PRIu32 " lmc 0 ", fab_ib_lid(f, v));
    }
    (void)fprintf(w->out, "\"%s\" lid %" PRIu32 " %s\n", fab_ib_description(f, to, description), fab_ib_lid(f, to),
                  rate);
}

static void ibnet_put_node(const ibnet *w, fab_node_id v) {
    const fab_fabric *f = w->f;
    uint64_t guid = fab_ib_guid(f, v, 0);
    char description[FAB_IB_DESCRIPTION];
    (void)fab_ib_description(f, v, description);
    (void)fprintf(w->out, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\n", guid);
    if (fab_kind_of(f, v) == FAB_NODE_SWITCH) {
        (void)fprintf(w->out,
                      "switchguid=0x%" PRIx64 "(%" PRIx64 ")\nSwitch\t%" PRIu32 " \"S-%016" PRIx64
                      "\"\t\t# \"%s\" base port 0 lid %" PRIu32 " lmc 0\n",
                      guid, guid, fab_ib_n_ports(f, v), guid, description, fab_ib_lid(f, v));
    } else {
        (void)fprintf(w->out, "caguid=0x%" PRIx64 "\nCa\t%" PRIu32 " \"H-%016" PRIx64 "\"\t\t# \"%s\"\n", guid,
                      fab_ib_n_ports(f, v), guid, description);
    }
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        if (fab_is_network(fab_class_of(f, f->out_link[i]))) {
            put_port(w, f->out_link[i]);
        }
    }
}

static fab_status print_ibnet(const fab_result *result, FAB_UNUSED const fab_report_style *style, FILE *out,
                              fab_error *err) {
    ibnet w = {.f = result->graph, .out = out};
    FAB_PASS(fab_ib_check(w.f, err));
    FAB_PASS(check_rates(w.f, err));
    (void)fprintf(out, "#\n# Topology file: fabriscope %s, design %s\n#\n",
                  result->version != NULL ? result->version : "",
                  result->n_fabrics > 0 ? result->fabrics[0].digest : "unknown");
    for (fab_node_id v = w.f->first[FAB_NODE_SWITCH]; v < w.f->n_nodes; v++) {
        ibnet_put_node(&w, v);
    }
    for (fab_node_id v = w.f->first[FAB_NODE_NIC]; v < w.f->first[FAB_NODE_DOMAIN]; v++) {
        if (fab_ib_n_ports(w.f, v) > 0) { /* slots that nothing is plugged into are no boxes */
            ibnet_put_node(&w, v);
        }
    }
    return FAB_OK;
}

const fab_report_format fab_report_ibnet = {
    .name = "ibnet",
    .file_name = NULL, /* not every fabric can be one of InfiniBand */
    .summary = "the fabric as ibnetdiscover prints it, for ibsim and InfiniBand tools",
    .print = print_ibnet,
    .needs_graph = true,
};
