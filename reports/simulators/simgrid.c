/*
 * The fabric as a platform of SimGrid (XML, version 4.1): GPUs are hosts; NICs, scale-up domains and switches routers;
 * links are SPLITDUPLEX. SimGrid finds the routes itself (Dijkstra): one shortest path for a pair of hosts.
 *
 * Shortest means fewest links, so that links inside a server are drawn out by pads (a link without limit or latency):
 * with T tiers, T of them on a scale-up link and one more on PCIe. A pair in one domain then stays there (2 + 2T links
 * against 4 + 2T through a NIC that both have, and more through a leaf), and no route that could do without passes
 * through a domain between others: that is 2 + 2T links more, and a network has none of more than 2T. Between two boxes
 * SimGrid has one link: parallel cables are one of their sum.
 *
 * Where flows were routed, the platform has the engine's routes instead, cable by cable: hosts, links, and one route
 * for every pair of GPUs that has a flow.
 */
#include "report_formats.h"

#include "fab/xml_writer.h"

#define PAD "pad"

typedef struct writer {
    const fab_fabric *f;
    fab_xml_writer xml;
} writer;

static uint32_t n_pads(const fab_fabric *f, fab_link_id link) {
    fab_link_kind kind = fab_class_of(f, link)->kind;
    return kind == FAB_LINK_SCALEUP ? f->n_tiers : kind == FAB_LINK_PCIE ? f->n_tiers + 1 : 0;
}

/* Of a bundle: the name of its first cable. */
static const char *cable_name(fab_link_id link, char out[32]) {
    (void)snprintf(out, 32, "cable-%" PRIu32, link >> 1);
    return out;
}

static const char *quantity(double value, const char *unit, char out[40]) {
    (void)snprintf(out, 40, "%s%s", fab_format_double(FAB_ROOM, value), unit);
    return out;
}

static void put_hosts(writer *w, bool alone) {
    for (fab_node_id v = 0; v < w->f->n_nodes; v++) {
        bool is_host = fab_kind_of(w->f, v) == FAB_NODE_GPU;
        if (alone && !is_host) {
            continue;
        }
        char name[32];
        (void)fab_node_name(w->f, v, name); /* "leaf-3" is unique as it is; a speed is wanted, but nothing computes */
        FAB_XML_EMPTY(&w->xml, is_host ? "host" : "router", "id", name, is_host ? "speed" : NULL, "1Gf");
    }
}

/* Cables of one bundle, from one of their ends: in the order of the heads, so that they follow one another. */
FAB_ORDER_KEYS(by_head, uint32_t, FAB_ORDER(a[0], b[0]), FAB_ORDER(a[1], b[1]));

typedef void visit_bundle(writer *w, fab_link_id first, double bps);

/* Calls `visit` for every bundle from `v` to boxes of higher numbers; pairs[] holds two numbers a link. */
static void each_bundle(writer *w, fab_node_id v, uint32_t (*pairs)[2], visit_bundle *visit) {
    const fab_fabric *f = w->f;
    uint32_t n = 0;
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        if (fab_head(f, f->out_link[i]) > v) {
            pairs[n][0] = fab_head(f, f->out_link[i]);
            pairs[n++][1] = f->out_link[i];
        }
    }
    FAB_SORT(pairs, n, by_head);
    for (uint32_t i = 0; i < n;) {
        uint32_t first = i;
        double bps = 0;
        for (; i < n && pairs[i][0] == pairs[first][0]; i++) {
            bps += fab_class_of(f, pairs[i][1])->usable_bps;
        }
        visit(w, pairs[first][1], bps);
    }
}

static void simgrid_put_link(writer *w, fab_link_id first, double bps) {
    char name[32];
    char room[2][40];
    FAB_XML_EMPTY(&w->xml, "link", "id", cable_name(first, name), "bandwidth", quantity(bps / 8, "Bps", room[0]),
                  "latency", quantity(fab_class_of(w->f, first)->latency_s, "s", room[1]), "sharing_policy",
                  "SPLITDUPLEX");
}

static void begin_route(writer *w, fab_node_id from, fab_node_id to) {
    char name[2][32];
    FAB_XML_START(&w->xml, "route", "src", fab_node_name(w->f, from, name[0]), "dst", fab_node_name(w->f, to, name[1]),
                  "symmetrical", "NO");
}

static void put_crossing(writer *w, fab_link_id link, bool up) {
    char name[32];
    FAB_XML_EMPTY(&w->xml, "link_ctn", "id", cable_name(link, name), "direction", up ? "UP" : "DOWN");
}

static void put_route(writer *w, fab_link_id link, bool up) {
    begin_route(w, fab_tail(w->f, link), fab_head(w->f, link));
    put_crossing(w, link, up);
    for (uint32_t i = 0; i < n_pads(w->f, link); i++) {
        FAB_XML_EMPTY(&w->xml, "link_ctn", "id", PAD);
    }
    fab_xml_write_end(&w->xml);
}

static void put_routes(writer *w, fab_link_id first, FAB_UNUSED double bps) {
    put_route(w, first, true);
    put_route(w, first ^ 1U, false);
}

static const char DOCTYPE[] = "\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">";

/* Without these SimGrid takes TCP of the internet: a share of the rate for acknowledgements the other way, latencies of
 * thirteen times, and a window. */
static void put_config(writer *w) {
    static const char *const PROPERTIES[][2] = {{"network/model", "CM02"},
                                                {"network/crosstraffic", "0"},
                                                {"network/TCP-gamma", "1e18"},
                                                {"maxmin/precision", "1e-9"},
                                                {"surf/precision", "1e-15"}};
    fab_xml_write_start(&w->xml, "config");
    for (size_t i = 0; i < FAB_N_OF(PROPERTIES); i++) {
        FAB_XML_EMPTY(&w->xml, "prop", "id", PROPERTIES[i][0], "value", PROPERTIES[i][1]);
    }
    fab_xml_write_end(&w->xml);
}

static void simgrid_begin(writer *w, const char *routing) {
    fab_xml_write_raw(&w->xml, DOCTYPE, sizeof DOCTYPE - 1);
    FAB_XML_START(&w->xml, "platform", "version", "4.1");
    put_config(w);
    FAB_XML_START(&w->xml, "zone", "id", "fabric", "routing", routing);
}

static fab_status simgrid_print(writer *w, fab_error *err) {
    const fab_fabric *f = w->f;
    FAB_OWNED uint32_t(*pairs)[2] = NULL;
    FAB_MOST(uint32_t, most, v, f->n_nodes, f->out_first[v + 1] - f->out_first[v]);
    FAB_PASS(FAB_NEW(pairs, (size_t)most + 1, err));
    simgrid_begin(w, "Dijkstra");
    put_hosts(w, false);
    FAB_XML_EMPTY(&w->xml, "link", "id", PAD, "bandwidth", "1e+18Bps", "latency", "0s", "sharing_policy", "FATPIPE");
    for (fab_node_id v = 0; v < f->n_nodes; v++) {
        each_bundle(w, v, pairs, simgrid_put_link);
    }
    for (fab_node_id v = 0; v < f->n_nodes; v++) {
        each_bundle(w, v, pairs, put_routes);
    }
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
    return fab_xml_writer_finish(&w->xml, err);
}

/* --- routes of flows ---------------------------------------------------------------------------------------------- */

typedef struct routed {
    uint32_t src, dst;
    uint64_t flow;
} routed;

FAB_ORDER_THREE(by_pair, routed, src, dst, flow);

static fab_status simgrid_find_engine(const fab_result *result, const fab_engine_result **out, fab_error *err) {
    const fab_phase_result *phase = &result->phases[0];
    FAB_REFUSE_IF(result->n_phases != 1 || phase->n_engines != 1, err, FAB_EUNSUPPORTED, NULL,
                  "a platform has the routes of one phase under one engine; here are %zu phases, %zu engines",
                  result->n_phases, phase->n_engines);
    FAB_REFUSE_IF(phase->engines[0].route_first == NULL, err, FAB_EUNSUPPORTED, NULL,
                  "SimGrid has one route for a pair; '%s' splits flows, or there are too many to keep their routes",
                  phase->engines[0].engine);
    *out = &phase->engines[0];
    return FAB_OK;
}

/* Flows by pair; those of one pair take the same links. */
static fab_status sort_flows(const fab_engine_result *e, routed *out, fab_error *err) {
    for (uint64_t i = 0; i < e->n_flows; i++) {
        out[i] = (routed){e->flows[i].src_gpu, e->flows[i].dst_gpu, i};
    }
    qsort(out, e->n_flows, sizeof *out, by_pair);
    for (uint64_t i = 1; i < e->n_flows; i++) {
        uint64_t a = out[i - 1].flow;
        uint64_t b = out[i].flow;
        uint64_t n = e->route_first[a + 1] - e->route_first[a];
        bool same = n == e->route_first[b + 1] - e->route_first[b] &&
                    memcmp(e->route + e->route_first[a], e->route + e->route_first[b], n * sizeof *e->route) == 0;
        FAB_REFUSE_IF(
            out[i].src == out[i - 1].src && out[i].dst == out[i - 1].dst && !same, err, FAB_EUNSUPPORTED, NULL,
            "SimGrid has one route for a pair; flows from gpu-%" PRIu32 " to gpu-%" PRIu32 " take different ones",
            out[i].src, out[i].dst);
    }
    return FAB_OK;
}

static void put_route_of(writer *w, const fab_engine_result *e, const routed *r) {
    begin_route(w, r->src, r->dst);
    for (uint64_t i = e->route_first[r->flow]; i < e->route_first[r->flow + 1]; i++) {
        put_crossing(w, e->route[i], (e->route[i] & 1) == 0);
    }
    fab_xml_write_end(&w->xml);
}

static fab_status print_routes(writer *w, const fab_engine_result *e, fab_error *err) {
    FAB_OWNED_NEW(routed, flows, e->n_flows + 1, err);
    FAB_PASS(sort_flows(e, flows, err));
    simgrid_begin(w, "Full");
    put_hosts(w, true);
    for (uint32_t c = 0; c < w->f->n_cables; c++) {
        simgrid_put_link(w, 2 * c, fab_class_of(w->f, 2 * c)->usable_bps);
    }
    for (uint64_t i = 0; i < e->n_flows; i++) {
        if (i == 0 || flows[i].src != flows[i - 1].src || flows[i].dst != flows[i - 1].dst) {
            put_route_of(w, e, &flows[i]);
        }
    }
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
    return fab_xml_writer_finish(&w->xml, err);
}

static fab_status print_simgrid(const fab_result *result, FAB_UNUSED const fab_report_style *style, FILE *out,
                                fab_error *err) {
    fab_status status = FAB_OK;
    writer w = {.f = result->graph};
    const fab_engine_result *routes = NULL;
    FAB_TRY(result->n_phases > 0 ? simgrid_find_engine(result, &routes, err) : FAB_OK);
    FAB_TRY(fab_xml_writer_init(&w.xml, out, err));
    FAB_TRY(routes != NULL ? print_routes(&w, routes, err) : simgrid_print(&w, err));
done:
    fab_xml_writer_release(&w.xml);
    return status;
}

const fab_report_format fab_report_simgrid = {
    .name = "simgrid",
    .file_name = NULL, /* for one program, not for people */
    .suffix = ".simgrid.xml",
    .summary =
        "the fabric as a platform of SimGrid (XML): routes are SimGrid's, or those of the flows where some were routed",
    .print = print_simgrid,
    .needs_graph = true,
    .leaves_out_hosts = true,
};
