/* The graph of a result. The whole view keeps nothing per node or cable: figures are made when they are asked for. */
#include "graph_view.h"
#include "fab/floor_plan.h"

#define COLLIDED (1 + 1e-9) /* as analysis counts them */

const char *const fab_view_names[FAB_VIEW_N] = {
    [FAB_VIEW_AUTO] = "auto", [FAB_VIEW_WHOLE] = "whole", [FAB_VIEW_SERVER] = "server", [FAB_VIEW_LEAF] = "leaf",
    [FAB_VIEW_POD] = "pod",   [FAB_VIEW_RAIL] = "rail",   [FAB_VIEW_PLANE] = "plane",   [FAB_VIEW_TIER] = "tier",
};

/* --- nodes -------------------------------------------------------------------------------------------------------- */

/* Pod of the switch that a NIC is plugged into. */
static uint32_t pod_of_nic(const fab_fabric *f, fab_node_id nic) {
    for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1]; i++) {
        fab_node_id head = fab_head(f, f->out_link[i]);
        if (fab_kind_of(f, head) == FAB_NODE_SWITCH) {
            return f->switch_pod[head - f->first[FAB_NODE_SWITCH]];
        }
    }
    return FAB_NONE;
}

static uint32_t rail_of_nic(const fab_fabric *f, uint32_t nic) {
    return f->n_rails > 0 ? nic % f->n_rails : 0;
}

static uint32_t pod_of_gpu(const fab_fabric *f, uint32_t gpu) {
    uint32_t nic = 0;
    (void)fab_nics_of_gpu(f, gpu, &nic);
    return pod_of_nic(f, f->first[FAB_NODE_NIC] + nic);
}

/* Pod of all GPUs of a domain, or none where they are in several. */
static uint32_t pod_of_domain(const fab_fabric *f, uint32_t first_gpu) {
    uint32_t pod = pod_of_gpu(f, first_gpu);
    for (uint32_t i = 1; pod != FAB_NONE && i < f->gpus_per_domain && first_gpu + i < fab_n_gpus(f); i++) {
        pod = pod_of_gpu(f, first_gpu + i) == pod ? pod : FAB_NONE;
    }
    return pod;
}

static void place_node(const fab_fabric *f, fab_node_kind kind, uint32_t index, fab_graph_node *out) {
    uint32_t nic = 0;
    switch (kind) {
    case FAB_NODE_GPU:
        (void)fab_nics_of_gpu(f, index, &nic);
        out->rail = rail_of_nic(f, nic);
        out->pod = pod_of_gpu(f, index);
        out->server = fab_server_of(f, index);
        out->n_gpus = 1;
        break;
    case FAB_NODE_NIC:
        out->rail = rail_of_nic(f, index);
        out->pod = pod_of_nic(f, f->first[FAB_NODE_NIC] + index);
        out->server = index / f->nics_per_server;
        break;
    case FAB_NODE_DOMAIN:
        out->pod = pod_of_domain(f, index * f->gpus_per_domain);
        if (f->gpus_per_domain <= f->gpus_per_server) {
            out->server = (uint32_t)((uint64_t)index * f->gpus_per_domain / f->gpus_per_server);
        }
        break;
    case FAB_NODE_SWITCH:
        out->rail = f->switch_rail[index] == UINT16_MAX ? FAB_NONE : f->switch_rail[index];
        out->plane = f->switch_plane[index];
        out->pod = f->switch_pod[index];
        break;
    case FAB_NODE_N_KINDS: break;
    }
}

static double cost_of_node(const fab_graph_view *view, fab_node_kind kind, uint32_t tier) {
    const fab_cost *cost = &view->result->fabrics[0].cost;
    if (!view->has_cost) {
        return NAN;
    }
    return kind == FAB_NODE_SWITCH ? cost->switch_each_usd[tier - 1]
           : kind == FAB_NODE_NIC  ? cost->nic_each_usd
                                   : (double)NAN;
}

uint32_t fab_graph_view_level(const fab_graph_view *view, uint32_t id) {
    if (view->merge != NULL) {
        return view->merge->node[id].level;
    }
    fab_node_kind kind = fab_kind_of(view->fabric, id);
    return kind == FAB_NODE_SWITCH ? FAB_LEVEL_TIER(fab_tier_of(view->fabric, id)) : (uint32_t)kind;
}

void fab_graph_whole_node(const fab_graph_view *view, fab_node_id v, fab_graph_node *out) {
    static const char *const KINDS[] = {"gpu", "nic", "domain", "switch"};
    const fab_fabric *f = view->fabric;
    fab_node_kind kind = fab_kind_of(f, v);
    uint32_t tier = kind == FAB_NODE_SWITCH ? fab_tier_of(f, v) : 0;
    out->id = v;
    out->kind = KINDS[kind];
    out->tier = tier;
    out->level = kind == FAB_NODE_SWITCH ? FAB_LEVEL_TIER(tier) : (uint32_t)kind;
    out->rail = out->plane = out->pod = out->server = out->group = FAB_NONE;
    out->n_nodes = 1;
    out->n_gpus = 0;
    place_node(f, kind, v - f->first[kind], out);
    out->rack = view->floor != NULL ? fab_floor_rack_of(view->floor, f, v) : FAB_NONE;
    out->n_failed = 0;
    if (view->overlay != NULL && view->overlay->dead_node != NULL) {
        out->n_failed = (uint32_t)(view->overlay->dead_node[v >> 6] >> (v & 63) & 1);
    }
    bool is_ranked = view->overlay != NULL && view->overlay->node_criticality != NULL;
    out->criticality = is_ranked ? view->overlay->node_criticality[v] : NAN;
    out->cost_usd = cost_of_node(view, kind, tier);
    out->name[0] = out->host[0] = '\0';
}

void fab_graph_name_whole_node(const fab_fabric *f, fab_graph_node *node) {
    (void)fab_node_name(f, node->id, node->name);
    if (f->names != NULL && node->server != FAB_NONE) {
        (void)fab_server_name(f, node->server, node->host);
    }
}

void fab_graph_view_node(const fab_graph_view *view, uint32_t id, fab_graph_node *out) {
    if (view->merge != NULL) {
        *out = view->merge->node[id];
    } else {
        fab_graph_whole_node(view, id, out);
        fab_graph_name_whole_node(view->fabric, out);
    }
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

/* All phases together; utilisations are those of one phase alone, because phases do not share the network. */
static void use_of_cable(const fab_graph_view *view, size_t engine, uint32_t cable, bool is_fabric,
                         fab_graph_use *out) {
    *out = (fab_graph_use){.use = {NAN, NAN}};
    FAB_EACH(const fab_phase_result, phase, view->result->phases, view->result->n_phases) {
        const fab_engine_result *e = engine < phase->n_engines ? &phase->engines[engine] : NULL;
        for (size_t way = 0; e != NULL && way < 2; way++) {
            size_t link = 2 * (size_t)cable + way;
            out->load[way] += e->load_bytes != NULL ? e->load_bytes[link] : 0;
            out->use[way] = e->utilisation != NULL ? fmax(out->use[way], e->utilisation[link]) : out->use[way];
        }
    }
    for (size_t way = 0; way < 2; way++) {
        out->most[way] = out->load[way];
        out->mean_use[way] = out->use[way];
        out->n_collided += is_fabric && out->use[way] > COLLIDED;
    }
}

void fab_graph_whole_edge(const fab_graph_view *view, uint32_t cable, fab_graph_use *room, fab_graph_edge *out) {
    static const char *const KINDS[] = {
        [FAB_LINK_SCALEUP] = "scale-up",
        [FAB_LINK_PCIE] = "pcie",
        [FAB_LINK_ACCESS] = "access",
        [FAB_LINK_FABRIC] = "fabric",
    };
    const fab_fabric *f = view->fabric;
    fab_link_id up = 2 * cable;
    uint16_t class = f->cable_class[cable];
    const fab_link_class *c = &f->classes[class];
    out->id = cable;
    out->source = fab_tail(f, up);
    out->target = fab_head(f, up);
    out->link_kind = c->kind;
    out->kind = KINDS[c->kind];
    out->tier = c->tier;
    out->n_cables = 1;
    out->src_port = f->port[up];
    out->dst_port = f->port[up + 1];
    out->src_port_name[0] = out->dst_port_name[0] = '\0';
    if (f->names != NULL) {
        (void)fab_port_name(f, up, out->src_port_name);
        (void)fab_port_name(f, up + 1, out->dst_port_name);
    }
    out->capacity_bps = c->capacity_bps;
    out->length_m = c->length_m;
    out->residual_ratio = view->residual != NULL ? (view->residual[up] + view->residual[up + 1]) / 2 : 1;
    out->n_failed = view->residual != NULL && view->residual[up] == 0 && view->residual[up + 1] == 0;
    out->criticality =
        view->overlay != NULL && view->overlay->criticality != NULL ? view->overlay->criticality[cable] : NAN;
    out->cost_usd = view->class_usd[class];
    for (size_t e = 0; e < view->n_engines; e++) {
        use_of_cable(view, e, cable, c->kind == FAB_LINK_FABRIC, &room[e]);
    }
    out->use = room;
}

void fab_graph_view_edge(const fab_graph_view *view, uint32_t id, fab_graph_use *room, fab_graph_edge *out) {
    if (view->merge != NULL) {
        *out = view->merge->edge[id];
    } else {
        fab_graph_whole_edge(view, id, room, out);
    }
}

void fab_graph_view_ends(const fab_graph_view *view, uint32_t id, uint32_t *source, uint32_t *target) {
    if (view->merge != NULL) {
        *source = view->merge->edge[id].source;
        *target = view->merge->edge[id].target;
        return;
    }
    *source = fab_tail(view->fabric, 2 * id);
    *target = fab_head(view->fabric, 2 * id);
}

double fab_graph_collision(const fab_graph_edge *edge, size_t engine) {
    return edge->link_kind == FAB_LINK_FABRIC ? fmax(edge->use[engine].use[0], edge->use[engine].use[1]) : NAN;
}

const char *fab_graph_level_name(const fab_graph_view *view, uint32_t level) {
    static const char *const NAMES[] = {"gpu", "nic", "domain"};
    const fab_fabric *f = view->fabric;
    if (level == FAB_LEVEL_GPU && view->kind == FAB_VIEW_SERVER) {
        return fab_n_of(f, FAB_NODE_DOMAIN) > 0 && f->gpus_per_domain > f->gpus_per_server ? "domain" : "server";
    }
    if (level == FAB_LEVEL_GPU && view->kind == FAB_VIEW_LEAF) {
        return "block";
    }
    return level < FAB_LEVEL_TIER(1) ? NAMES[level] : fab_tier_name(f->wiring, level - FAB_LEVEL_TIER(0));
}

/* --- the view ----------------------------------------------------------------------------------------------------- */

/* A class is made of the cables of one kind of the bill of materials; a cable inside a server is in no bill. */
static fab_status price_classes(fab_graph_view *view, fab_error *err) {
    const fab_fabric *f = view->fabric;
    const fab_fabric_result *about = view->result->n_fabrics > 0 ? &view->result->fabrics[0] : NULL;
    FAB_PASS(FAB_NEW(view->class_usd, f->n_classes, err));
    view->has_cost = about != NULL && about->cost.total_usd > 0;
    for (uint16_t i = 0; i < f->n_classes; i++) {
        const fab_link_class *c = &f->classes[i];
        view->class_usd[i] = NAN;
        for (size_t k = 0; view->has_cost && c->tier > 0 && k < about->counts.n_kinds; k++) {
            const fab_cable_kind *kind = &about->counts.kinds[k];
            if (kind->tier == c->tier && kind->rate_bps == c->capacity_bps && kind->length_m == c->length_m) {
                view->class_usd[i] = about->cost.cable_each_usd[k];
            }
        }
    }
    return FAB_OK;
}

/* An engine whose loads are known in no phase is left out, and so are those behind it. */
static void find_engines(fab_graph_view *view) {
    for (size_t e = 0; e < FAB_MAX_ENGINES; e++) {
        bool known = false;
        FAB_EACH(const fab_phase_result, phase, view->result->phases, view->result->n_phases) {
            if (e < phase->n_engines && phase->engines[e].load_bytes != NULL) {
                known = true;
                view->engine[e] = phase->engines[e].label;
                view->has_utilisation |= phase->engines[e].utilisation != NULL;
            }
        }
        if (!known) {
            return;
        }
        view->n_engines = e + 1;
    }
}

static void find_failures(fab_graph_view *view) {
    const fab_overlay *overlay = view->result->overlay;
    view->overlay = overlay;
    if (overlay != NULL) {
        view->residual = overlay->residual;
        view->has_failures = overlay->residual != NULL || overlay->dead_node != NULL;
        view->has_criticality = overlay->criticality != NULL || overlay->node_criticality != NULL;
    }
}

fab_status fab_view_check(const fab_fabric *fabric, fab_view view, fab_error *err) {
    FAB_REFUSE_IF(view == FAB_VIEW_POD && fabric->n_pods == 0, err, FAB_EUNSUPPORTED, NULL,
                  "view pod: the fabric has no pods; rail, plane, tier, leaf and server have what to show");
    FAB_REFUSE_IF(view == FAB_VIEW_RAIL && fabric->n_rails == 0, err, FAB_EUNSUPPORTED, NULL,
                  "view rail: the fabric has no rails");
    return FAB_OK;
}

fab_status fab_graph_view_init(const fab_result *result, fab_view kind, fab_graph_view *out, fab_error *err) {
    FAB_OWNS(fab_graph_view_release) fab_graph_view view = {.result = result, .fabric = result->graph, .kind = kind};
    FAB_REFUSE_IF(result->graph == NULL, err, FAB_EUNSUPPORTED, NULL,
                  "a graph shows a fabric that was built, and this command builds none");
    FAB_PASS(fab_view_check(view.fabric, kind, err));
    FAB_PASS(price_classes(&view, err));
    find_engines(&view);
    find_failures(&view);
    if (result->n_fabrics > 0 && fab_floor_is_said(&result->fabrics[0].spec)) {
        FAB_PASS(fab_floor_make(&result->fabrics[0].spec, view.fabric, &view.floor, err));
        view.has_racks = true;
    }
    view.n_nodes = view.fabric->n_nodes;
    view.n_edges = view.fabric->n_cables;
    if (kind != FAB_VIEW_WHOLE) {
        FAB_PASS(fab_graph_merge_new(&view, kind, &view.merge, err));
        view.n_nodes = view.merge->n_nodes;
        view.n_edges = view.merge->n_edges;
    }
    return FAB_GIVE(*out, view);
}

void fab_graph_view_release(fab_graph_view *view) {
    fab_graph_merge_free(view->merge);
    fab_floor_free(view->floor);
    free(view->class_usd);
    *view = (fab_graph_view){0};
}
