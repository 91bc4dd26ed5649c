/* Automorphisms by BLISS, and a check of each that trusts nothing: it moves vertices to others of their colour, and
 * edges to edges. */
#include "fab/graph_symmetry.h"

#include "fab/ranked.h"
#include "igraph_calls.h"

FAB_RELEASES(fab_permutations_release, fab_permutations, first, moved, to);

fab_status fab_permutation_begin(fab_permutations *p, fab_error *err) {
    FAB_PASS(FAB_GROW(p->first, p->first_capacity, p->n + 2, err));
    p->first[p->n] = p->n == 0 ? 0 : p->first[p->n];
    p->first[p->n + 1] = p->first[p->n];
    p->n++;
    return FAB_OK;
}

fab_status fab_permutation_add(fab_permutations *p, uint32_t from, uint32_t to, fab_error *err) {
    const size_t at = p->first[p->n];
    FAB_PASS(FAB_GROW(p->moved, p->moved_capacity, at + 1, err));
    FAB_PASS(FAB_GROW(p->to, p->to_capacity, at + 1, err));
    p->moved[at] = from;
    p->to[at] = to;
    p->first[p->n]++;
    return FAB_OK;
}

/* --- the check ---------------------------------------------------------------------------------------------------- */

/* Edges in both directions, by their first end. */
typedef struct neighbours {
    uint32_t *first;
    uint32_t *other; /* ascending within a vertex */
} neighbours;

static fab_status list_neighbours(uint32_t n, const fab_edges *edges, neighbours *out, fab_error *err) {
    FAB_PASS(FAB_NEW(out->first, (size_t)n + 2, err));
    FAB_PASS(FAB_NEW(out->other, 2 * edges->n + 1, err));
    fab_sort_by_key(edges->ends, NULL, (uint32_t)(2 * edges->n), n, out->first, out->other);
    FAB_FILL(out->other, 2 * edges->n, edges->ends[out->other[fab_at] ^ 1]);
    for (uint32_t v = 0; v < n; v++) {
        size_t count = out->first[v + 1] - out->first[v];
        if (count > 1) {
            qsort(out->other + out->first[v], count, sizeof *out->other, fab_order_u32);
        }
    }
    return FAB_OK;
}

static bool has_edge(const neighbours *x, uint32_t a, uint32_t b) {
    const size_t n = x->first[a + 1] - x->first[a];
    return n > 0 && bsearch(&b, x->other + x->first[a], n, sizeof b, fab_order_u32) != NULL;
}

/* A bijection that maps edges to edges maps the edges, which are as many, onto the edges. */
static bool keeps_edges(const neighbours *x, const uint32_t *image, const uint32_t *colour, const uint32_t *moved,
                        size_t n_moved) {
    for (size_t i = 0; i < n_moved; i++) {
        const uint32_t v = moved[i];
        if (colour[v] != colour[image[v]] ||
            x->first[v + 1] - x->first[v] != x->first[image[v] + 1] - x->first[image[v]]) {
            return false;
        }
        for (size_t k = x->first[v]; k < x->first[v + 1]; k++) {
            if (!has_edge(x, image[v], image[x->other[k]])) {
                return false;
            }
        }
    }
    return true;
}

/* --- what BLISS says ---------------------------------------------------------------------------------------------- */

typedef struct checked {
    uint32_t n;
    const uint32_t *colour;
    neighbours by;
    uint32_t *image; /* shape [n] */
    uint8_t *is_hit; /* shape [n] */
} checked;

FAB_FREES(checked_release, checked, by.first, by.other, image, is_hit);

static fab_status take_generator(checked *c, const igraph_vector_int_t *from, fab_permutations *out, fab_error *err) {
    bool is_sound = igraph_vector_int_size(from) == (igraph_integer_t)c->n;
    FAB_PASS(fab_permutation_begin(out, err));
    for (uint32_t v = 0; is_sound && v < c->n; v++) {
        const igraph_integer_t to = VECTOR(*from)[v];
        is_sound = to >= 0 && to < (igraph_integer_t)c->n && c->is_hit[to] == 0;
        if (is_sound) {
            c->is_hit[to] = 1;
            c->image[v] = (uint32_t)to;
            FAB_PASS(v != (uint32_t)to ? fab_permutation_add(out, v, (uint32_t)to, err) : FAB_OK);
        }
    }
    const size_t first = out->first[out->n - 1];
    is_sound = is_sound && keeps_edges(&c->by, c->image, c->colour, out->moved + first, out->first[out->n] - first);
    FAB_FILL(c->is_hit, c->n, 0);
    return is_sound ? FAB_OK : fab_fail(err, FAB_EINTERNAL, NULL, "a symmetry that was found is none");
}

fab_status fab_graph_symmetries(uint32_t n_vertices, const fab_edges *edges, const uint32_t *colour,
                                fab_permutations *out, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t colours = {0};
    FAB_OWNS(igraph_vector_int_list_destroy) igraph_vector_int_list_t found = {0};
    FAB_OWNS(checked_release) checked c = {.n = n_vertices, .colour = colour};
    FAB_OWNS(fab_permutations_release) fab_permutations made = {.n = 0};
    FAB_PASS(
        fab_igraph_open(n_vertices, edges->n, edges->ends, edges->n > 0 ? edges->ends + 1 : NULL, 2, false, &g, err));
    FAB_PASS(list_neighbours(n_vertices, edges, &c.by, err));
    FAB_PASS(FAB_NEW_ALL(n_vertices, err, c.image, c.is_hit));
    FAB_FILL(c.image, n_vertices, (uint32_t)fab_at);
    TRY_IGRAPH(igraph_vector_int_init(&colours, (igraph_integer_t)n_vertices));
    for (uint32_t v = 0; v < n_vertices; v++) {
        VECTOR(colours)[v] = (igraph_integer_t)colour[v];
    }
    TRY_IGRAPH(igraph_vector_int_list_init(&found, 0));
    TRY_IGRAPH(igraph_automorphism_group(&g.of, &colours, &found, IGRAPH_BLISS_FL, NULL));
    for (igraph_integer_t i = 0; i < igraph_vector_int_list_size(&found); i++) {
        FAB_PASS(take_generator(&c, igraph_vector_int_list_get_ptr(&found, i), &made, err));
    }
    return FAB_GIVE(*out, made);
}
