/* Lists: which items they have, in which order, and what can be broken of them. How rows look is in top_rows.c. */
#include "top_view.h"

#include "fab/ranked.h"

static const char *const ORDERS[TOP_N_VIEWS][4] = {{"as they come", "by time", "by fullest link", NULL},
                                                   {"by load", "by change", "by name", NULL},
                                                   {"by rate here", "by name", NULL},
                                                   {"by name", "by load", NULL},
                                                   {"as they broke", NULL}};

const char *top_view_order_name(const top_view *v) {
    return ORDERS[v->kind][v->order];
}

void top_view_next_order(top_view *v) {
    v->order = ORDERS[v->kind][v->order + 1] != NULL ? v->order + 1 : 0;
}

void top_view_release(top_view *v) {
    fab_state_flows_release(&v->flows);
    FAB_FREE_ALL(v->item, v->crossing);
    *v = (top_view){.kind = TOP_PHASES};
}

/* --- what rows are of --------------------------------------------------------------------------------------------- */

/* Parts are servers, then switches, then NICs. */
static fab_component top_part(const top_model *m, uint32_t item) {
    const fab_fabric *f = top_fabric(m);
    const uint32_t n_switches = fab_n_switches(f);
    if (item < f->n_servers) {
        return (fab_component){FAB_COMPONENT_SERVER, item, 0};
    }
    item -= f->n_servers;
    return item < n_switches ? (fab_component){FAB_COMPONENT_SWITCH, item, 0}
                             : (fab_component){FAB_COMPONENT_NIC, item - n_switches, 0};
}

/* Links of a phase are offered so much of what they have; 0 of dead ones. */
double top_link_ratio(const fab_what_if_links *l, fab_link_id link) {
    const double rest = l->residual[link] * l->capacity_bps[link];
    return rest > 0 ? l->load_bps[link] / rest : 0;
}

/* The fullest link of a node in any phase, in either direction. */
static void fullest_at(const top_model *m, fab_node_id node, double *ratio, fab_link_id *link) {
    const fab_fabric *f = top_fabric(m);
    for (size_t p = 0; p < m->answer->n_phases; p++) {
        fab_what_if_links l;
        fab_what_if_loads(m->what_if, p, &l);
        for (uint32_t i = f->out_first[node]; i < f->out_first[node + 1]; i++) {
            for (uint32_t way = 0; way < 2; way++) {
                const fab_link_id here = f->out_link[i] ^ way;
                const double r = top_link_ratio(&l, here);
                *link = r > *ratio ? here : *link;
                *ratio = r > *ratio ? r : *ratio;
            }
        }
    }
}

double top_part_fullest(const top_model *m, uint32_t item, fab_link_id *out_link) {
    const fab_fabric *f = top_fabric(m);
    const fab_component part = top_part(m, item);
    double ratio = 0;
    *out_link = FAB_NONE;
    const bool is_server = part.kind == FAB_COMPONENT_SERVER;
    const fab_node_id first = part.kind == FAB_COMPONENT_SWITCH ? f->first[FAB_NODE_SWITCH] + part.id
                              : is_server                       ? f->first[FAB_NODE_NIC] + part.id * f->nics_per_server
                                                                : f->first[FAB_NODE_NIC] + part.id;
    for (uint32_t i = 0; i < (is_server ? f->nics_per_server : 1); i++) {
        fullest_at(m, first + i, &ratio, out_link);
    }
    return ratio;
}

uint32_t top_gpu_now(const top_model *m, uint32_t gpu) {
    const fab_fabric *f = top_fabric(m);
    const fab_failed_policy *p =
        m->answer->n_failed > 0 && top_model_is_known(m) ? &m->answer->engines[0].policies[0] : NULL;
    const size_t n = p != NULL ? p->n_moves : 0;
    FAB_FIRST(i, n, p->moves[i].from == fab_server_of(f, gpu));
    return i < n ? p->moves[i].to * f->gpus_per_server + gpu % f->gpus_per_server : gpu;
}

bool top_view_part(const top_model *m, const top_view *v, size_t row, fab_component *out) {
    if (row >= v->n || v->kind == TOP_PHASES) {
        return false;
    }
    const uint32_t item = v->item[row];
    if (v->kind == TOP_LINKS) {
        *out = (fab_component){FAB_COMPONENT_LINK, item & ~1U, 0};
    } else if (v->kind == TOP_FLOWS) {
        const fab_flow flow = fab_phase_flow(&top_traffic(m)->phases[v->phase], item);
        *out = (fab_component){FAB_COMPONENT_SERVER, fab_server_of(top_fabric(m), top_gpu_now(m, flow.src)), 0};
    } else {
        *out = v->kind == TOP_PARTS ? top_part(m, item) : m->now.part[item];
    }
    return true;
}

/* --- items -------------------------------------------------------------------------------------------------------- */

static fab_status take_ranked(top_view *v, fab_ranked *list, size_t n, fab_error *err) {
    FAB_PASS(FAB_NEW(v->item, n, err));
    FAB_FILL(v->item, n, list[fab_at].item);
    v->n = n;
    return FAB_OK;
}

static size_t rank_phases(const top_model *m, const top_view *v, fab_ranked *list) {
    const fab_failed_state *now = top_model_state(m);
    for (size_t p = 0; p < m->answer->n_phases; p++) {
        const fab_failed_phase *phase = &now->phases[p];
        const double time_s = isfinite(phase->time_s) ? phase->time_s : 0;
        list[p] = (fab_ranked){v->order == 1 ? time_s : v->order == 2 ? phase->worst_ratio : 0, (uint32_t)p};
    }
    return m->answer->n_phases;
}

static bool find_phase(const top_model *m, top_view *v) {
    v->phase = 0;
    while (v->phase < m->answer->n_phases && strcmp(m->answer->phases[v->phase], v->phase_name) != 0) {
        v->phase++;
    }
    return v->phase < m->answer->n_phases;
}

/* Links that carry something, or did. */
static size_t rank_links(const top_model *m, const top_view *v, fab_ranked *list) {
    fab_what_if_links l;
    size_t n = 0;
    fab_what_if_loads(m->what_if, v->phase, &l);
    for (fab_link_id link = 0; link < top_fabric(m)->n_links; link++) {
        if (l.capacity_bps[link] > 0 && (l.load_bps[link] > 0 || l.healthy_bps[link] > 0)) {
            const double ratio = top_link_ratio(&l, link);
            const double before = l.healthy_bps[link] / l.capacity_bps[link];
            const double load =
                l.residual[link] > 0 ? ratio : (double)INFINITY; /* dead ones stand before the fullest */
            list[n++] = (fab_ranked){v->order == 0 ? load : v->order == 1 ? fabs(ratio - before) : 0, link};
        }
    }
    return n;
}

static fab_status find_flows(const top_model *m, top_view *v, fab_error *err) {
    fab_error inner = {0};
    fab_state_flows_release(&v->flows);
    free(v->crossing);
    v->crossing = NULL;
    fab_status status = fab_what_if_flows(m->what_if, v->phase, &v->flows, &inner);
    if (status == FAB_EUNSUPPORTED) {
        FAB_FORMAT(v->note, "%.200s; 'route --explain' tells their shares", inner.text);
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &inner));
    FAB_PASS(FAB_NEW(v->crossing, v->flows.n_flows, err));
    for (uint32_t flow = 0; flow < v->flows.n_flows; flow++) {
        for (uint64_t i = v->flows.path_first[v->flows.flow_first[flow]];
             i < v->flows.path_first[v->flows.flow_first[flow + 1]]; i++) {
            v->crossing[flow] += v->flows.link[i] == v->link;
        }
    }
    return FAB_OK;
}

double top_flow_here_bps(const top_view *v, uint32_t flow) {
    return v->flows.rate_bps[flow] * v->crossing[flow] / (v->flows.flow_first[flow + 1] - v->flows.flow_first[flow]);
}

static size_t rank_flows(const top_view *v, fab_ranked *list) {
    size_t n = 0;
    FAB_KEEP(list, n, flow, v->flows.n_flows, v->crossing[flow] > 0,
             (fab_ranked){v->order == 0 ? top_flow_here_bps(v, flow) : 0, flow});
    return n;
}

static size_t rank_parts(const top_model *m, const top_view *v, fab_ranked *list) {
    const fab_fabric *f = top_fabric(m);
    const uint32_t n = f->n_servers + fab_n_switches(f) + fab_n_of(f, FAB_NODE_NIC);
    for (uint32_t i = 0; i < n; i++) {
        fab_link_id link = FAB_NONE;
        list[i] = (fab_ranked){v->order == 1 && top_model_is_known(m) ? top_part_fullest(m, i, &link) : 0, i};
    }
    return n;
}

/* The row of the item that was selected; else the row stays, as far as there are so many. */
static void select_again(top_view *v) {
    FAB_FIRST(row, v->n, v->item[row] == v->at);
    row = row < v->n ? row : v->row;
    v->row = row < v->n ? row : v->n > 0 ? v->n - 1 : 0;
    v->at = v->n > 0 ? v->item[v->row] : v->at;
}

fab_status top_view_refresh(const top_model *m, top_view *v, fab_error *err) {
    const fab_fabric *f = top_fabric(m);
    size_t n = 0;
    free(v->item);
    v->item = NULL;
    v->n = 0;
    v->note[0] = '\0';
    const bool of_loads = v->kind == TOP_LINKS || v->kind == TOP_FLOWS;
    if (of_loads && !top_model_is_known(m)) {
        FAB_FORMAT(v->note, "not known: %.200s", top_model_note(m));
        return FAB_OK;
    }
    if (of_loads && !find_phase(m, v)) {
        FAB_FORMAT(v->note, "%.64s has too many paths under this engine", v->phase_name);
        return FAB_OK;
    }
    FAB_PASS(v->kind == TOP_FLOWS ? find_flows(m, v, err) : FAB_OK);
    FAB_OWNED_NEW(fab_ranked, list, (size_t)f->n_links + f->n_nodes + f->n_servers + m->now.n + v->flows.n_flows, err);
    if (v->kind == TOP_PHASES) {
        n = rank_phases(m, v, list);
    } else if (v->kind == TOP_LINKS) {
        n = rank_links(m, v, list);
    } else if (v->kind == TOP_FLOWS) {
        n = v->crossing != NULL ? rank_flows(v, list) : 0;
    } else if (v->kind == TOP_PARTS) {
        n = rank_parts(m, v, list);
    } else {
        for (; n < m->now.n; n++) {
            list[n] = (fab_ranked){0, (uint32_t)n};
        }
    }
    FAB_PASS(fab_ranked_sort(list, n, err));
    FAB_PASS(take_ranked(v, list, n, err));
    if (n == 0 && v->note[0] == '\0') {
        FAB_FORMAT(v->note, "%s",
                   v->kind == TOP_BROKEN  ? "Nothing is broken: k kills what is selected elsewhere, b what you name"
                   : v->kind == TOP_FLOWS ? "No flow of this phase crosses the link"
                                          : "Nothing of this phase is in the network");
    }
    select_again(v);
    return FAB_OK;
}
