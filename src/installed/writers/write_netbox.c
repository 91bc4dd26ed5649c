/* Cables for NetBox's bulk import (Devices > Cables > Import), as read_csv.c reads them back. Names of devices and
 * interfaces are those of the network: the devices have to be there. Source: NetBox 3.7, dcim/forms/bulk_import.py. */
#include "fab/network_write.h"
#include "structure/network_boxes.h"

#include "fab/str.h"

#include <stdlib.h>

static void put_end(FILE *out, const char *box, const char *port, fab_str *room) {
    room->length = 0;
    fab_str_add_csv(room, box);
    fab_str_add(room, ",dcim.interface,");
    fab_str_add_csv(room, port);
    fab_str_add(room, ",");
    (void)fputs(room->failed ? "" : room->data, out);
}

/* What names no ports is no cable of NetBox. */
static fab_status check_ports(const fab_network *net, const char *const *names, fab_error *err) {
    for (uint32_t i = 0; i < net->n_cables; i++) {
        const fab_network_end *end = net->cables[i].end;
        for (uint32_t k = 0; k < 2; k++) {
            if (end[k].port == NULL) {
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "a port of '%.80s' has no name, and NetBox joins interfaces", names[end[k].node]);
            }
        }
    }
    return FAB_OK;
}

static fab_status write_netbox(const fab_shape *shape, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_network *net = shape->net;
    const char **names = NULL;
    fab_str room = FAB_STR_INIT;
    FAB_TRY(fab_network_names(net, &names, err));
    FAB_TRY(check_ports(net, names, err));
    (void)fputs(
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status,length,length_unit\n", out);
    for (uint32_t i = 0; i < net->n_cables; i++) {
        const fab_network_cable *cable = &net->cables[i];
        char length[40];
        bool is_inside = fab_network_is_service(net, cable);
        for (uint32_t k = 0; !is_inside && k < 2; k++) {
            put_end(out, names[cable->end[k].node], cable->end[k].port, &room);
        }
        if (!is_inside) {
            bool has_length = cable->length_m >= 0.005; /* NetBox keeps two decimals */
            (void)snprintf(length, sizeof length, "%.2f", cable->length_m);
            (void)fprintf(out, "connected,%s,%s\n", has_length ? length : "", has_length ? "m" : "");
        }
    }
    FAB_TRY(fab_str_status(&room, err));
done:
    fab_str_release(&room);
    free(names);
    return status;
}

const fab_network_writer fab_network_netbox_csv = {"netbox-csv", ".netbox.csv", "cables for the bulk import of NetBox",
                                                   write_netbox};
