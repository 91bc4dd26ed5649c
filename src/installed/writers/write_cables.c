/* A list of cables, as read_csv.c reads it back: a row per cable, in the order of the network. */
#include "fab/network_write.h"
#include "structure/network_boxes.h"

#include "fab/str.h"
#include "fab/units.h"

#include <stdlib.h>

static void put_field(FILE *out, const char *text, fab_str *room) {
    room->length = 0;
    fab_str_add_csv(room, text);
    (void)fputs(room->failed ? "" : room->data, out);
}

static void put_quantity(FILE *out, double value, fab_unit unit) {
    char text[40];
    (void)fprintf(out, ",%s", value > 0 ? fab_quantity_exact(text, value, unit) : "");
}

static fab_status write_cables(const fab_shape *shape, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_network *net = shape->net;
    const char **names = NULL;
    fab_str room = FAB_STR_INIT;
    FAB_TRY(fab_network_names(net, &names, err));
    (void)fputs("A-node,A-port,Z-node,Z-port,rate,length\n", out);
    for (uint32_t i = 0; i < net->n_cables; i++) {
        const fab_network_cable *cable = &net->cables[i];
        if (fab_network_is_service(net, cable)) {
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            (void)fputs(k > 0 ? "," : "", out);
            put_field(out, names[cable->end[k].node], &room);
            (void)fputc(',', out);
            if (cable->end[k].port != NULL) {
                put_field(out, cable->end[k].port, &room);
            }
        }
        put_quantity(out, cable->rate_bps, FAB_UNIT_RATE);
        put_quantity(out, cable->length_m, FAB_UNIT_LENGTH);
        (void)fputc('\n', out);
    }
    FAB_TRY(fab_str_status(&room, err));
done:
    fab_str_release(&room);
    free(names);
    return status;
}

const fab_network_writer fab_network_cables = {
    "cables", ".cables.csv", "list of cables as CSV: A-node, A-port, Z-node, Z-port, rate, length", write_cables};
