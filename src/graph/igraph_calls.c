#include "igraph_calls.h"

static void ignore_error(FAB_UNUSED const char *reason, FAB_UNUSED const char *file, FAB_UNUSED int line,
                         FAB_UNUSED igraph_error_t code) {
    IGRAPH_FINALLY_FREE();
}

fab_status fab_igraph_status(igraph_error_t code, fab_error *err) {
    if (code == IGRAPH_SUCCESS) {
        return FAB_OK;
    }
    return fab_fail(err, code == IGRAPH_ENOMEM ? FAB_ENOMEM : FAB_EINTERNAL, NULL, "igraph: %s", igraph_strerror(code));
}

fab_status fab_igraph_open(uint32_t n_vertices, size_t n_edges, const uint32_t *from, const uint32_t *to, size_t stride,
                           bool directed, fab_igraph *out, fab_error *err) {
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t ends = {0};
    out->previous = igraph_set_error_handler(ignore_error);
    TRY_IGRAPH(igraph_vector_int_init(&ends, 2 * (igraph_integer_t)n_edges));
    for (size_t i = 0; i < n_edges; i++) {
        VECTOR(ends)[2 * i] = (igraph_integer_t)from[i * stride];
        VECTOR(ends)[2 * i + 1] = (igraph_integer_t)to[i * stride];
    }
    TRY_IGRAPH(igraph_create(&out->of, &ends, (igraph_integer_t)n_vertices, directed));
    out->is_made = true;
    return FAB_OK;
}

void fab_igraph_close(fab_igraph *g) {
    if (g->is_made) {
        igraph_destroy(&g->of);
    }
    (void)igraph_set_error_handler(g->previous);
}
