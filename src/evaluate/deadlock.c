/* Of large fabrics igraph would take seconds and a gigabyte to say that there is no cycle, so it is handed only what
 * can lie on one. Links that are taken away have nothing before or nothing behind them, so cycles stay as they are. */
#include "fab/deadlock.h"
#include "fab/graph_cycle.h"

fab_status fab_deadlock_check(const fab_dependencies *d, fab_deadlock *out, fab_error *err) {
    const fab_fabric *f = d->fabric;
    fab_deadlock found = {.dependencies = fab_dependencies_count(d)};
    FAB_OWNED uint32_t *cycle = NULL;
    uint32_t n_vertices = 0;
    FAB_OWNED_NEW(uint8_t, core, f->n_links, err);
    FAB_PASS(fab_dependencies_core(d, core, err));
    size_t n = (size_t)fab_dependencies_list(d, core, NULL, NULL);
    FAB_OWNED_NEW(uint32_t, vertex, f->n_links,
                  err); /* of a link; ascending, so that the smallest link is the smallest vertex */
    FAB_OWNED_NEW(fab_link_id, link, f->n_links, err);
    FAB_OWNED_NEW(uint32_t, from, n, err);
    FAB_OWNED_NEW(uint32_t, to, n, err);
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (core[l] != 0) {
            vertex[l] = n_vertices;
            link[n_vertices++] = l;
        }
    }
    (void)fab_dependencies_list(d, core, from, to);
    for (size_t i = 0; i < n; i++) {
        from[i] = vertex[from[i]];
        to[i] = vertex[to[i]];
    }
    FAB_PASS(fab_graph_cycle(n_vertices, n, from, to, &cycle, &found.n_cycle, err));
    found.free = found.n_cycle == 0;
    for (uint32_t i = 0; i < found.n_cycle && i < FAB_CYCLE_LINKS; i++) {
        found.cycle[i] = link[cycle[i]];
    }
    *out = found;
    return FAB_OK;
}
