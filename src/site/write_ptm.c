/* topology.dot of PTM (Cumulus' prescriptive topology manager) and NVIDIA Air: a node per box with its function, an
 * edge per cable with both ports. Servers' ports are eth1, eth2, ...; switches' are swpN. */
#include "fab/site_write.h"
#include "site_boxes.h"

static const char *function_of(const fab_box *box) {
    static const char *const BY_TIER[] = {NULL, "leaf", "spine", "superspine"};
    return box->is_host ? "host" : box->tier < sizeof BY_TIER / sizeof BY_TIER[0] ? BY_TIER[box->tier] : NULL;
}

static const char *prefix_of(const fab_boxes *boxes, const fab_site *site, uint32_t side) {
    const fab_site_end *end = &site->cables[side >> 1].end[side & 1];
    return boxes->box[boxes->of_node[end->node]].is_host ? "eth" : "swp";
}

/* With `out` NULL only whether every port has a name. */
static fab_status put_cables(const fab_site *site, const fab_boxes *boxes, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t i = 0; i < site->n_cables; i++) {
        const fab_site_cable *cable = &site->cables[i];
        char port[2][FAB_BOX_PORT];
        if (!fab_boxes_has(boxes, cable)) {
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            FAB_TRY(fab_boxes_port(boxes, site, 2 * i + k, prefix_of(boxes, site, 2 * i + k), port[k], err));
        }
        if (out != NULL) {
            (void)fprintf(out, "    \"%s\":\"%s\" -- \"%s\":\"%s\"\n",
                          boxes->box[boxes->of_node[cable->end[0].node]].name, port[0],
                          boxes->box[boxes->of_node[cable->end[1].node]].name, port[1]);
        }
    }
done:
    return status;
}

static fab_status write_ptm(const fab_shape *shape, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_boxes boxes = {.n = 0};
    FAB_TRY(fab_boxes_find(shape, &boxes, err));
    FAB_TRY(put_cables(shape->site, &boxes, NULL, err));
    (void)fputs("graph \"fabric\" {\n", out);
    for (uint32_t i = 0; i < boxes.n; i++) {
        const char *function = function_of(&boxes.box[i]);
        (void)fprintf(out, function != NULL ? "    \"%s\" [function=\"%s\"]\n" : "    \"%s\"\n", boxes.box[i].name,
                      function);
    }
    FAB_TRY(put_cables(shape->site, &boxes, out, err));
    (void)fputs("}\n", out);
done:
    fab_boxes_release(&boxes);
    return status;
}

const fab_site_writer fab_site_ptm = {"ptm", ".ptm.dot", "wiring plan for PTM and NVIDIA Air: topology.dot", write_ptm};
