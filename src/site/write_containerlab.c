/* A lab of containers with the wiring of the site, for containerlab: a node per box, a link per cable. Which software
 * runs in them stands once, in `kinds`. Source: containerlab.dev, topology definition. */
#include "fab/site_write.h"
#include "site_boxes.h"

#include <inttypes.h>

static fab_status put_links(const fab_site *site, const fab_boxes *boxes, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t i = 0; i < site->n_cables; i++) {
        const fab_site_cable *cable = &site->cables[i];
        char port[2][FAB_BOX_PORT];
        if (!fab_boxes_has(boxes, cable)) {
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            FAB_TRY(fab_boxes_port(boxes, site, 2 * i + k, "eth", port[k], err));
        }
        if (out != NULL) {
            (void)fprintf(out, "    - endpoints: [\"%s:%s\", \"%s:%s\"]\n",
                          boxes->box[boxes->of_node[cable->end[0].node]].name, port[0],
                          boxes->box[boxes->of_node[cable->end[1].node]].name, port[1]);
        }
    }
done:
    return status;
}

static fab_status write_containerlab(const fab_shape *shape, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_boxes boxes = {.n = 0};
    FAB_TRY(fab_boxes_find(shape, &boxes, err));
    FAB_TRY(put_links(shape->site, &boxes, NULL, err));
    (void)fputs("name: fabric\n"
                "topology:\n"
                "  kinds:\n"
                "    linux:\n"
                "      image: alpine:latest\n"
                "    sonic-vs:\n"
                "      image: docker-sonic-vs:latest\n"
                "  nodes:\n",
                out);
    for (uint32_t i = 0; i < boxes.n; i++) {
        const fab_box *box = &boxes.box[i];
        (void)fprintf(out, "    \"%s\": {kind: %s, labels: {graph-level: \"%" PRIu32 "\"}}\n", box->name,
                      box->is_host ? "linux" : "sonic-vs", shape->n_tiers + 1 - box->tier);
    }
    (void)fputs("  links:\n", out);
    FAB_TRY(put_links(shape->site, &boxes, out, err));
done:
    fab_boxes_release(&boxes);
    return status;
}

const fab_site_writer fab_site_containerlab = {
    "containerlab", ".clab.yml", "lab of containers with the same wiring, for containerlab", write_containerlab};
