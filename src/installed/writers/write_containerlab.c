/* A lab of containers with the wiring of the network, for containerlab: a node per box, a link per cable. Which
 * software runs in them stands once, in `kinds`. Source: containerlab.dev, topology definition. */
#include "fab/network_write.h"
#include "structure/network_boxes.h"

static void containerlab_put_link(const fab_box_cable *c, void *out) {
    (void)fprintf(out, "    - endpoints: [\"%s:%s\", \"%s:%s\"]\n", c->name[0], c->port[0], c->name[1], c->port[1]);
}

static fab_status write_containerlab(const fab_shape *shape, FILE *out, fab_error *err) {
    static const char *const PREFIX[] = {"eth", "eth"};
    FAB_OWNS(fab_boxes_release) fab_boxes boxes = {.n = 0};
    FAB_PASS(fab_boxes_find(shape, &boxes, err));
    FAB_PASS(fab_boxes_put_cables(&boxes, shape->net, PREFIX, NULL, NULL, err));
    (void)fputs("name: fabric\n"
                "topology:\n"
                "  kinds:\n"
                "    linux:\n"
                "      image: alpine:latest\n"
                "    sonic-vs:\n"
                "      image: docker-sonic-vs:latest\n"
                "  nodes:\n",
                out);
    FAB_EACH(const fab_box, box, boxes.box, boxes.n) {
        (void)fprintf(out, "    \"%s\": {kind: %s, labels: {graph-level: \"%" PRIu32 "\"}}\n", box->name,
                      box->is_host ? "linux" : "sonic-vs", shape->n_tiers + 1 - box->tier);
    }
    (void)fputs("  links:\n", out);
    return fab_boxes_put_cables(&boxes, shape->net, PREFIX, containerlab_put_link, out, err);
}

const fab_network_writer fab_network_containerlab = {
    "containerlab", ".clab.yml", "lab of containers with the same wiring, for containerlab", write_containerlab};
