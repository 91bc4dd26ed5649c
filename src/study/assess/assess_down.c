/* What is down in a history, and whom it matters to. */
#include "assess_internal.h"

fab_status history_note_event(assess_history *h, const fab_event *event, fab_error *err) {
    if (!event->is_repair) {
        FAB_PASS(FAB_APPEND(h->down, h->n_down, h->down_capacity, err, event->component));
    }
    FAB_FIRST(i, event->is_repair ? h->n_down : 0,
              h->down[i].kind == event->component.kind && h->down[i].id == event->component.id &&
                  h->down[i].fraction == event->component.fraction);
    if (event->is_repair && i < h->n_down) {
        h->n_down--;
        memmove(&h->down[i], &h->down[i + 1], (h->n_down - i) * sizeof *h->down);
    }
    return FAB_OK;
}

/* The first of the GPUs that a component may matter to, and how many; 0: it belongs to the network. */
static uint64_t gpus_beside(const fab_fabric *f, const fab_component *c, uint64_t *out_first) {
    uint64_t server = c->id;
    if (c->kind == FAB_COMPONENT_GPU) {
        server = c->id / f->gpus_per_server;
    } else if (c->kind == FAB_COMPONENT_NIC) {
        server = c->id / f->nics_per_server;
    } else if (c->kind == FAB_COMPONENT_LINK && fab_class_of(f, c->id)->kind == FAB_LINK_ACCESS) {
        bool is_up = fab_kind_of(f, fab_tail(f, c->id)) == FAB_NODE_NIC;
        server = fab_server_of_nic(f, is_up ? fab_tail(f, c->id) : fab_head(f, c->id));
    } else if (c->kind != FAB_COMPONENT_SERVER) {
        return 0;
    }
    *out_first = server * f->gpus_per_server;
    uint64_t n = f->gpus_per_server;
    if (f->forwards_in_domain) { /* a GPU without a rank may relay for those in its domain */
        uint64_t last = *out_first + n;
        *out_first = *out_first / f->gpus_per_domain * f->gpus_per_domain;
        n = (last - *out_first + f->gpus_per_domain - 1) / f->gpus_per_domain * f->gpus_per_domain;
    }
    return n;
}

/* A leaf of a tree below which replicas are out, and nobody else is. */
static bool is_idle_leaf(const fab_assessor *a, const fab_component *c) {
    const fab_fabric *f = a->assessment->fabric;
    fab_node_id v = f->first[FAB_NODE_SWITCH] + c->id;
    bool is_leaf = false;
    if (c->kind != FAB_COMPONENT_SWITCH || a->history->n_out == 0 || !fab_is_tree(f)) {
        return false;
    }
    FAB_EACH_LINK(f, v, link) {
        const fab_component cable = {.kind = FAB_COMPONENT_LINK, .id = link};
        uint64_t first = 0;
        uint64_t n = gpus_beside(f, &cable, &first);
        is_leaf = is_leaf || n > 0;
        if (n > 0 && assess_any_rank(a, first, n)) {
            return false;
        }
    }
    return is_leaf;
}

/* A component with which the job, where it is now, has nothing to do. */
bool history_is_elsewhere(const fab_assessor *a, const fab_component *c) {
    uint64_t first = 0;
    if (is_idle_leaf(a, c)) {
        return true;
    }
    uint64_t n = gpus_beside(a->assessment->fabric, c, &first);
    return n > 0 && !assess_any_rank(a, first, n);
}

/* One whose repair may let ranks on spares go home: it stands beside a home of theirs, or in the network. */
bool history_frees_home(const fab_assessor *a, const fab_component *c) {
    uint64_t first = 0;
    const uint64_t n = gpus_beside(a->assessment->fabric, c, &first);
    const uint64_t end = first + n < fab_n_gpus(a->assessment->fabric) ? first + n : fab_n_gpus(a->assessment->fabric);
    FAB_ANY_IN(found, gpu, first, end, a->history->place.new_gpu[gpu] != gpu);
    return n == 0 || found;
}

/* GPUs that die with it: with one rank among them the job stops, whatever else. */
bool history_takes_a_rank(const fab_assessor *a, const fab_component *c) {
    uint64_t n = c->kind == FAB_COMPONENT_GPU      ? 1
                 : c->kind == FAB_COMPONENT_SERVER ? a->assessment->fabric->gpus_per_server
                                                   : 0;
    return n > 0 && c->fraction == 0 && assess_any_rank(a, c->id * n, n);
}
