/* Lists of cables, a row per cable, in the order of the network: as read_csv.c reads them back, and for NetBox's bulk
 * import (Devices > Cables > Import). Names of devices and interfaces are those of the network; in NetBox the devices
 * have to be there. Source: NetBox 3.7, dcim/forms/bulk_import.py. */
#include "fab/network_write.h"
#include "structure/network_boxes.h"

#include "fab/str.h"
#include "fab/units.h"

#define CABLES "A-node,A-port,Z-node,Z-port,rate,length"
#define NETBOX "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status,length,length_unit"

/* What names no ports is no cable of NetBox. */
static fab_status check_ports(const fab_network *net, const char *const *names, fab_error *err) {
    for (uint32_t i = 0; i < 2 * net->n_cables; i++) {
        const fab_network_end *end = fab_network_near(net, i);
        FAB_REFUSE_IF(end->port == NULL, err, FAB_EUNSUPPORTED, NULL,
                      "a port of '%.80s' has no name, and NetBox joins interfaces", names[end->node]);
    }
    return FAB_OK;
}

static void add_quantity(fab_str *line, double value, fab_unit unit) {
    fab_str_printf(line, ",%s", value > 0 ? fab_quantity_exact(FAB_ROOM, value, unit) : "");
}

static fab_status write_list(const fab_shape *shape, bool is_netbox, FILE *out, fab_error *err) {
    const fab_network *net = shape->net;
    FAB_OWNED const char **names = NULL;
    FAB_OWNS(fab_str_release) fab_str line = FAB_STR_INIT;
    FAB_PASS(fab_network_names(net, &names, err));
    FAB_PASS(is_netbox ? check_ports(net, names, err) : FAB_OK);
    (void)fprintf(out, "%s\n", is_netbox ? NETBOX : CABLES);
    FAB_EACH(const fab_network_cable, cable, net->cables, net->n_cables) {
        line.length = 0;
        if (fab_network_is_service(net, cable)) {
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            fab_str_add(&line, k > 0 ? "," : "");
            fab_str_add_csv(&line, names[cable->end[k].node]);
            fab_str_add(&line, is_netbox ? ",dcim.interface," : ",");
            fab_str_add_csv(&line, cable->end[k].port != NULL ? cable->end[k].port : "");
        }
        if (is_netbox && cable->length_m >= 0.005) { /* NetBox keeps two decimals */
            fab_str_printf(&line, ",connected,%.2f,m", cable->length_m);
        } else if (is_netbox) {
            fab_str_add(&line, ",connected,,");
        } else {
            add_quantity(&line, cable->rate_bps, FAB_UNIT_RATE);
            add_quantity(&line, cable->length_m, FAB_UNIT_LENGTH);
        }
        FAB_PASS(fab_str_status(&line, err));
        (void)fprintf(out, "%s\n", line.data);
    }
    return FAB_OK;
}

static fab_status write_cables(const fab_shape *shape, FILE *out, fab_error *err) {
    return write_list(shape, false, out, err);
}

static fab_status write_netbox(const fab_shape *shape, FILE *out, fab_error *err) {
    return write_list(shape, true, out, err);
}

const fab_network_writer fab_network_cables = {
    "cables", ".cables.csv", "list of cables as CSV: A-node, A-port, Z-node, Z-port, rate, length", write_cables};
const fab_network_writer fab_network_netbox_csv = {"netbox-csv", ".netbox.csv", "cables for the bulk import of NetBox",
                                                   write_netbox};
