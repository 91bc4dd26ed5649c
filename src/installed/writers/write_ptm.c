/* topology.dot of PTM (Cumulus' prescriptive topology manager) and NVIDIA Air: a node per box with its function, an
 * edge per cable with both ports. Servers' ports are eth1, eth2, ...; switches' are swpN. */
#include "fab/network_write.h"
#include "structure/network_boxes.h"

static const char *function_of(const fab_box *box) {
    static const char *const BY_TIER[] = {NULL, "leaf", "spine", "superspine"};
    return box->is_host ? "host" : box->tier < FAB_N_OF(BY_TIER) ? BY_TIER[box->tier] : NULL;
}

static void put_cable(const fab_box_cable *c, void *out) {
    (void)fprintf(out, "    \"%s\":\"%s\" -- \"%s\":\"%s\"\n", c->name[0], c->port[0], c->name[1], c->port[1]);
}

static fab_status write_ptm(const fab_shape *shape, FILE *out, fab_error *err) {
    static const char *const PREFIX[] = {"eth", "swp"};
    FAB_OWNS(fab_boxes_release) fab_boxes boxes = {.n = 0};
    FAB_PASS(fab_boxes_find(shape, &boxes, err));
    FAB_PASS(fab_boxes_put_cables(&boxes, shape->net, PREFIX, NULL, NULL, err));
    (void)fputs("graph \"fabric\" {\n", out);
    for (uint32_t i = 0; i < boxes.n; i++) {
        const char *function = function_of(&boxes.box[i]);
        (void)fprintf(out, function != NULL ? "    \"%s\" [function=\"%s\"]\n" : "    \"%s\"\n", boxes.box[i].name,
                      function);
    }
    FAB_PASS(fab_boxes_put_cables(&boxes, shape->net, PREFIX, put_cable, out, err));
    (void)fputs("}\n", out);
    return FAB_OK;
}

const fab_network_writer fab_network_ptm = {"ptm", ".ptm.dot", "wiring plan for PTM and NVIDIA Air: topology.dot",
                                            write_ptm};
