/* The fabric in the data block of the HTML report: nodes by their numbers, cables boundary by boundary. */
#include "html_code.h"
#include "html_data.h"
#include "data/json_text.h"

#define CABLE_COLUMNS 6 /* cable, lower end, its port, upper end, its port, class */

static void put_count(fab_str *out, const char *key, uint64_t value) {
    fab_str_printf(out, "\"%s\":%" PRIu64 ",", key, value);
}

static void put_classes(fab_str *out, const fab_fabric *f) {
    fab_str_add(out, "\"classes\":[");
    for (uint32_t k = 0; k < f->n_classes; k++) {
        const fab_link_class *c = &f->classes[k];
        fab_str_add(out, k > 0 ? ",{\"capacity_bps\":" : "{\"capacity_bps\":");
        fab_json_number(out, c->capacity_bps);
        fab_str_add(out, ",\"length_m\":");
        fab_json_number(out, c->length_m);
        fab_str_add(out, ",\"latency_s\":");
        fab_json_number(out, c->latency_s);
        fab_str_add(out, "}");
    }
    fab_str_add(out, "],");
}

static void put_tiers(fab_str *out, const fab_fabric *f) {
    fab_str_add(out, "\"tiers\":[");
    for (uint32_t t = 1; t <= f->n_tiers; t++) {
        fab_str_printf(out, "%s{\"name\":\"%s\",\"switches\":%" PRIu32 "}", t > 1 ? "," : "",
                       fab_tier_name(f->wiring, t), f->first_of_tier[t + 1] - f->first_of_tier[t]);
    }
    fab_str_add(out, "],");
}

/* Of all switches: pod, rail, plane (-1: none, or several), radix. */
static void put_switches(fab_str *out, const fab_fabric *f) {
    fab_code_rows rows = {.out = out, .width = 4};
    fab_str_add(out, "\"switches\":\"");
    for (uint32_t s = 0; s < fab_n_switches(f); s++) {
        int64_t row[4] = {f->switch_pod[s] == FAB_NONE ? -1 : (int64_t)f->switch_pod[s],
                          f->switch_rail[s] == UINT16_MAX ? -1 : (int64_t)f->switch_rail[s], f->switch_plane[s],
                          f->switch_radix[s]};
        fab_code_rows_add(&rows, row);
    }
    fab_code_rows_end(&rows);
    fab_str_add(out, "\",");
}

/* Number of a node among the NICs or among the switches. */
static int64_t html_number_of(const fab_fabric *f, fab_node_id v) {
    return (int64_t)(v - f->first[fab_kind_of(f, v)]);
}

/* Ports of a boundary by their names, lower or upper ends: what is installed has other ones than numbers. */
static void put_ports(fab_str *out, const fab_fabric *f, uint32_t boundary, const char *key, uint32_t end) {
    const char *comma = "";
    fab_str_printf(out, ",\"%s\":[", key);
    for (uint32_t c = 0; c < f->n_cables; c++) {
        char name[FAB_PORT_NAME_SIZE];
        if (f->classes[f->cable_class[c]].tier == boundary) {
            fab_str_add(out, comma);
            fab_json_string(out, fab_port_name(f, 2 * c + end, name));
            comma = ",";
        }
    }
    fab_str_add(out, "]");
}

static void html_put_boundary(fab_str *out, const fab_fabric *f, uint32_t boundary) {
    fab_code_rows rows = {.out = out, .width = CABLE_COLUMNS};
    uint64_t n = 0;
    fab_str_printf(out, "%s{\"name\":\"%s\",\"tier\":%" PRIu32 ",\"up\":\"%s\",\"down\":\"%s\",\"cables\":\"",
                   boundary > 1 ? "," : "", fab_boundary_name(f->wiring, boundary), boundary,
                   fab_direction_name(f->wiring, boundary, true), fab_direction_name(f->wiring, boundary, false));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (f->classes[f->cable_class[c]].tier != boundary) {
            continue;
        }
        fab_link_id up = 2 * c;
        int64_t row[CABLE_COLUMNS] = {c,
                                      html_number_of(f, fab_tail(f, up)),
                                      f->port[up],
                                      html_number_of(f, fab_head(f, up)),
                                      f->port[up + 1],
                                      f->cable_class[c]};
        fab_code_rows_add(&rows, row);
        n++;
    }
    fab_code_rows_end(&rows);
    fab_str_printf(out, "\",\"n\":%" PRIu64, n);
    if (f->names != NULL) {
        put_ports(out, f, boundary, "lower_ports", 0);
        put_ports(out, f, boundary, "upper_ports", 1);
    }
    fab_str_add(out, "}");
}

static void put_names(fab_str *out, const fab_fabric *f, const char *key, fab_node_kind kind) {
    fab_str_printf(out, "\"%s\":[", key);
    for (fab_node_id v = f->first[kind]; v < f->first[kind + 1]; v++) {
        char name[FAB_NODE_NAME_SIZE];
        fab_str_add(out, v > f->first[kind] ? "," : "");
        fab_json_string(out, fab_node_name(f, v, name));
    }
    fab_str_add(out, "]");
}

fab_status fab_html_graph(const fab_result *result, fab_str *out, fab_error *err) {
    const fab_fabric *f = result->graph;
    if (f == NULL) {
        return FAB_OK;
    }
    if (f->n_cables > FAB_HTML_CABLES) {
        fab_str_printf(out, ",\"graph_left_out\":%" PRIu32, f->n_cables);
        return fab_str_status(out, err);
    }
    fab_str_printf(out, ",\"graph\":{\"wiring\":\"%s\",", fab_wiring_name(f->wiring));
    put_count(out, "gpus", fab_n_gpus(f));
    put_count(out, "nics", fab_n_of(f, FAB_NODE_NIC));
    put_count(out, "servers", f->n_servers);
    put_count(out, "gpus_per_server", f->gpus_per_server);
    put_count(out, "nics_per_server", f->nics_per_server);
    put_count(out, "pods", f->n_pods);
    put_count(out, "rails", f->n_rails);
    put_count(out, "planes", f->n_planes);
    put_classes(out, f);
    put_tiers(out, f);
    put_switches(out, f);
    fab_str_add(out, "\"boundaries\":[");
    for (uint32_t b = 1; b <= f->n_boundaries; b++) {
        html_put_boundary(out, f, b);
    }
    fab_str_add(out, "]");
    if (f->names != NULL) {
        fab_str_add(out, ",\"names\":{");
        put_names(out, f, "switches", FAB_NODE_SWITCH);
        fab_str_add(out, ",");
        put_names(out, f, "nics", FAB_NODE_NIC);
        fab_str_add(out, "}");
    }
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}
