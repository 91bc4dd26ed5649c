/* What the tables of a context take, from counts: see replay_memory.c for how the formulas are made. */
#include "fab/context_memory.h"
#include "fab/design.h"
#include "fab/units.h"

#define LEAVES_PER_WORD  64.0
#define LEAVES_PER_BLOCK 512.0 /* of the search for next hops */
#define GRAPH_CABLE      22.0  /* class, ends, ports, adjacency */
#define GRAPH_NODE       4.0
#define GRAPH_SWITCH     14.0
#define CLASS_LINK       8.0
#define ROUTER_GPU       48.0
#define ROUTER_PORT      12.0
#define DAG_ENTRY        28.0 /* entry and run */

/* --- the fabric --------------------------------------------------------------------------------------------------- */

/* Switches that a NIC is plugged into, and words of the pairs of ports of each switch. */
static void measure_switches(const fab_fabric *f, fab_replay_sizes *out) {
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        double ports = 0;
        double nics = 0;
        FAB_EACH_LINK(f, v, link) {
            bool is_access = fab_class_of(f, link)->kind == FAB_LINK_ACCESS;
            nics += is_access;
            ports += !is_access;
        }
        out->n_leaves += nics > 0;
        out->widest_leaf = fmax(out->widest_leaf, nics);
        out->turn_words += ports * ceil(ports / 64);
    }
}

void fab_replay_sizes_of(const fab_fabric *f, fab_replay_sizes *out) {
    *out = (fab_replay_sizes){.fabric = f, .n_links = f->n_links, .n_switches = fab_n_switches(f)};
    measure_switches(f, out);
}

double fab_graph_bytes(const fab_replay_sizes *s) {
    const fab_fabric *f = s->fabric;
    return f->n_cables * GRAPH_CABLE + f->n_nodes * GRAPH_NODE + s->n_switches * GRAPH_SWITCH;
}

/* In a tree switches are mostly alike; in other graphs each sees the leaves its way. */
static bool has_own_views(const fab_fabric *f) {
    return f->wiring == FAB_WIRING_TORUS || f->wiring == FAB_WIRING_DRAGONFLY;
}

double fab_next_hops_bytes(const fab_replay_sizes *s) {
    double words = ceil(s->n_leaves / LEAVES_PER_WORD) + ceil(s->n_leaves / LEAVES_PER_BLOCK);
    double pieces = has_own_views(s->fabric) ? s->n_switches * s->n_leaves * sizeof(uint16_t) : 0;
    return s->n_switches * words * sizeof(uint32_t) + pieces;
}

double fab_dags_bytes(const fab_replay_sizes *s) {
    double blocks = ceil(s->n_leaves / LEAVES_PER_WORD);
    double entries = has_own_views(s->fabric) ? s->n_switches * s->n_leaves : s->n_leaves * blocks;
    return entries * DAG_ENTRY + s->n_leaves * blocks * sizeof(uint64_t) + s->n_links * CLASS_LINK;
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

/* Ports of GPUs, and tables of its own by switch and port of a leaf. */
static double router_bytes(const fab_replay_sizes *s, bool has_tables) {
    const fab_fabric *f = s->fabric;
    double own = has_tables ? s->n_switches * s->n_leaves * s->widest_leaf * sizeof(uint16_t) : 0;
    return own + fab_n_gpus(f) * ROUTER_GPU + s->n_links * ROUTER_PORT;
}

double fab_routers_bytes(const fab_context_request *what, const fab_replay_sizes *s) {
    double bytes = 0;
    for (size_t e = 0; e < what->n_engines; e++) {
        fab_engine_about engine = fab_engine_of(&what->engines[e]);
        bytes += engine.name != NULL ? router_bytes(s, engine.has_tables) : 0;
    }
    return bytes;
}

fab_status fab_context_check(const fab_context_request *what, double bytes, const char *more, fab_error *err) {
    char text[160];
    if (what->design == NULL) { /* nobody has set a limit */
        return FAB_OK;
    }
    FAB_FORMAT(text, "routing on %s GPUs%s", FAB_SAY_COUNT(fab_n_gpus(what->fabric)), more);
    return fab_memory_check(text, bytes, what->design->fabric.max_bytes, err);
}
