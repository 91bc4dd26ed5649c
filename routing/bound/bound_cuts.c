/* Certificates that need no search: cuts. Whatever leaves a set of switches has to share the links that leave it. */
#include "bound_internal.h"
#include "next_hops/next_hop_rows.h"
#include "fab/memory.h"

#include <string.h>

/* What must leave or enter a set of switches, and the links there are for that. */
typedef struct side {
    double rate, capacity;
} side;

enum { ENTERS, LEAVES };

/* Sets of switches. Index: the member that stands for the set. */
typedef struct cuts {
    uint32_t *set_of;       /* [switch] */
    side (*side)[2];        /* [switch] */
    double best;            /* of all boundaries so far */
    uint32_t boundary, set; /* where it is */
    int way;
    bool found;
} cuts;

static uint32_t cuts_find(uint32_t *set_of, uint32_t v) {
    while (set_of[v] != v) {
        set_of[v] = set_of[set_of[v]];
        v = set_of[v];
    }
    return v;
}

/* Switches that hang together by links up to a boundary: single leaves, then pods or groups. */
static void make_sets(const fab_bound_job *job, uint32_t boundary, uint32_t *set_of) {
    const fab_fabric *f = job->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    for (uint32_t v = 0; v < n; v++) {
        set_of[v] = v;
    }
    for (uint32_t i = 0; i < job->n_links; i++) {
        fab_link_id l = job->link[i];
        if (fab_class_of(f, l)->tier <= boundary && job->load[l] > 0) {
            uint32_t a = cuts_find(set_of, fab_tail(f, l) - base);
            uint32_t b = cuts_find(set_of, fab_head(f, l) - base);
            set_of[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        set_of[v] = cuts_find(set_of, v);
    }
}

/* Splitting evenly uses every link that any minimal path of the demand has: one without load is no way out. */
static void cuts_add_up(const fab_bound_job *job, cuts *c) {
    const fab_fabric *f = job->fabric;
    const fab_demand *demand = job->demand;
    const fab_node_id *leaf = job->next_hops->leaf_node;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    memset(c->side, 0, fab_n_switches(f) * sizeof *c->side);
    for (uint32_t d = 0; d < demand->n_leaves; d++) {
        uint32_t to = c->set_of[leaf[d] - base];
        for (uint32_t pair = demand->first[d]; pair < demand->first[d + 1]; pair++) {
            uint32_t from = c->set_of[leaf[demand->src[pair]] - base];
            if (from != to) {
                c->side[from][LEAVES].rate += demand->rate[pair];
                c->side[to][ENTERS].rate += demand->rate[pair];
            }
        }
    }
    for (uint32_t i = 0; i < job->n_links; i++) {
        fab_link_id l = job->link[i];
        uint32_t from = c->set_of[fab_tail(f, l) - base];
        uint32_t to = c->set_of[fab_head(f, l) - base];
        if (from != to && job->load[l] > 0) {
            c->side[from][LEAVES].capacity += job->capacity[i];
            c->side[to][ENTERS].capacity += job->capacity[i];
        }
    }
}

static void consider(cuts *c, uint32_t boundary, uint32_t set, int way) {
    const side at = c->side[set][way];
    if (at.capacity > 0 && at.rate / at.capacity > c->best) {
        c->best = at.rate / at.capacity;
        c->boundary = boundary;
        c->set = set;
        c->way = way;
        c->found = true;
    }
}

fab_status fab_bound_certify_cuts(fab_bound_job *job, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = job->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    cuts c = {.best = job->lower};
    FAB_TRY(FAB_NEW_ALL(n, err, c.set_of, c.side));
    for (uint32_t boundary = 1; boundary <= f->n_boundaries; boundary++) {
        make_sets(job, boundary, c.set_of);
        cuts_add_up(job, &c);
        for (uint32_t v = 0; v < n; v++) {
            consider(&c, boundary, v, LEAVES);
            consider(&c, boundary, v, ENTERS);
        }
    }
    if (c.found) {
        make_sets(job, c.boundary, c.set_of);
        for (uint32_t i = 0; i < job->n_links; i++) {
            fab_link_id l = job->link[i];
            bool from = c.set_of[fab_tail(f, l) - base] == c.set;
            bool to = c.set_of[fab_head(f, l) - base] == c.set;
            job->candidate[l] = from != to && from == (c.way == LEAVES) && job->load[l] > 0 ? 1 : 0;
        }
        FAB_TRY(fab_bound_certify(job, err));
    }
done:
    FAB_FREE_ALL(c.set_of, c.side);
    return status;
}
