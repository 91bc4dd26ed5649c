/* Which servers are lost under a mask, which ones are spare, and where ranks go by place alone. */
#include "relocate_eval.h"

#include "fab/choices.h"

const char *const fab_policies[FAB_POLICY_N] = {"none",       "first-spare",     "same-rack", "same-pod",
                                                "same-slice", "collision-aware", "shrink"};

fab_status fab_policy_parse(const char *text, fab_policy *out, fab_error *err) {
    fab_choices near = fab_choices_of(text);
    for (int i = 0; i < FAB_POLICY_N; i++) {
        if (strcmp(text, fab_policies[i]) == 0) {
            *out = (fab_policy)i;
            return FAB_OK;
        }
        fab_choices_offer(&near, fab_policies[i]);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown policy '%.40s'%s", text, fab_choices_list(&near, "one of"));
}

/* --- what stays the same under every mask ------------------------------------------------------------------------- */

/* Leaf of a NIC of a GPU; FAB_NONE where the NIC has no port there. */
static fab_node_id relocate_leaf_of(const fab_relocator *r, uint32_t gpu, uint32_t i, uint32_t plane) {
    const fab_fabric *f = r->f;
    uint32_t nic = fab_head(f, r->request.ports->gpu_nic[(size_t)gpu * r->request.ports->nics_per_gpu + i]) -
                   f->first[FAB_NODE_NIC];
    fab_link_id up = r->request.ports->nic_access[(size_t)nic * r->request.ports->n_planes + plane];
    return up != FAB_NONE ? fab_head(f, up) : FAB_NONE;
}

static bool is_in_domain(const fab_relocator *r, uint32_t a, uint32_t b) {
    return r->request.ports->gpu_scaleup[a] != FAB_NONE && fab_domain_of(r->f, a) == fab_domain_of(r->f, b);
}

static void mark_flow(fab_relocator *r, uint32_t src, uint32_t dst) {
    uint8_t about = 0;
    if (!is_in_domain(r, src, dst)) {
        about = RELOCATE_NETWORK;
        for (uint32_t i = 0; i < r->request.ports->nics_per_gpu; i++) {
            about |= relocate_leaf_of(r, src, i, 0) != relocate_leaf_of(r, dst, i, 0) ? RELOCATE_REMOTE : 0;
        }
    }
    r->gpu[src] |= about;
    r->gpu[dst] |= about;
    if (r->request.traffic->rank_of_gpu == NULL) {
        r->gpu[src] |= RELOCATE_RANK;
        r->gpu[dst] |= RELOCATE_RANK;
    }
}

/* An all-to-all has too many flows to look at: each GPU against the ends of its group, which are far apart, and those
 * beside it. */
static void mark_all(fab_relocator *r, const fab_all_to_all *all) {
    const uint32_t size = fab_all_group(all);
    for (uint32_t gpu = all->first; gpu < all->first + all->n; gpu++) {
        const uint32_t first = gpu - (gpu - all->first) % size;
        const uint32_t last = first + size - 1;
        if (gpu != first) {
            mark_flow(r, gpu, first);
        }
        if (gpu != last) {
            mark_flow(r, gpu, last);
        }
    }
}

static void mark_gpus(fab_relocator *r) {
    const fab_traffic *t = r->request.traffic;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(r->f) && t->rank_of_gpu != NULL; gpu++) {
        r->gpu[gpu] |= t->rank_of_gpu[gpu] != FAB_NONE ? RELOCATE_RANK : 0;
    }
    FAB_EACH(const fab_phase, phase, t->phases, t->n_phases) {
        if (phase->all.n > 1) {
            mark_all(r, &phase->all);
            continue;
        }
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            mark_flow(r, phase->src[i], phase->dst[i]);
        }
    }
}

/* Servers of a leaf in the order of their ports. */
static void relocate_find_slots(fab_relocator *r, uint32_t leaf, uint32_t *seen) {
    const fab_fabric *f = r->f;
    fab_node_id v = f->first[FAB_NODE_SWITCH] + leaf;
    uint32_t n_slots = 0;
    FAB_EACH_LINK(f, v, link) {
        if (fab_class_of(f, link)->kind != FAB_LINK_ACCESS) {
            continue;
        }
        uint32_t server = fab_server_of_nic(f, fab_head(f, link));
        if (seen[server] == leaf + 1) {
            continue;
        }
        seen[server] = leaf + 1;
        if (relocate_leaf_of(r, server * f->gpus_per_server, 0, 0) == v) {
            r->place[server].slot = n_slots;
            r->place[server].pod = f->switch_pod[leaf];
        }
        n_slots++;
    }
}

static fab_status find_places(fab_relocator *r, fab_error *err) {
    const fab_fabric *f = r->f;
    const fab_racks *racks = r->request.racks;
    FAB_OWNED_NEW(uint32_t, seen, f->n_servers, err);
    for (uint32_t server = 0; server < f->n_servers; server++) {
        bool stands = racks != NULL && racks->n_racks > 0;
        r->place[server] = (relocate_place){FAB_NONE, 0, stands ? fab_racks_of_server(racks, server) : FAB_NONE};
    }
    for (uint32_t leaf = 0; leaf < fab_n_switches(f); leaf++) {
        relocate_find_slots(r, leaf, seen);
    }
    r->n_slices = 0;
    for (size_t p = 0; p < r->request.n_phases && r->n_slices == 0; p++) {
        const fab_baseline *phase = r->request.phases[p];
        r->n_slices = phase != NULL ? fab_router_facts_of(fab_baseline_what(phase)->router)->slices : 0;
    }
    r->n_slices = r->n_slices > 0 ? r->n_slices : 2;
    return FAB_OK;
}

/* Complete servers without ranks that have GPUs, and whose GPUs nobody talks to: those are storage. */
static void find_idle(fab_relocator *r) {
    const fab_fabric *f = r->f;
    for (uint32_t server = 0; server < f->n_servers; server++) {
        uint8_t any = 0;
        uint32_t first = server * f->gpus_per_server;
        for (uint32_t gpu = first; gpu < first + f->gpus_per_server && gpu < fab_n_gpus(f); gpu++) {
            any |= r->gpu[gpu];
        }
        r->is_working[server] = (any & RELOCATE_RANK) != 0;
        if (any == 0 && server < fab_n_complete_servers(f) && first < fab_n_gpus(f) &&
            (r->request.taken == NULL || r->request.taken[server] == 0)) {
            r->idle[r->n_idle++] = server;
        }
    }
}

fab_status fab_relocator_new(const fab_relocator_request *request, fab_relocator **out, fab_error *err) {
    const fab_fabric *f = request->fabric;
    FAB_OWNS_NEW(fab_relocator_free_owned, fab_relocator, r, 1, err);
    r->request = *request;
    r->f = f;
    FAB_PASS(FAB_NEW(r->gpu, fab_n_gpus(f), err));
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, r->place, r->is_working, r->idle, r->seen, r->suspect, r->lost, r->unplaced,
                         r->spare));
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, r->to, r->used, r->moves));
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, r->moved, r->new_gpu));
    FAB_FILL(r->new_gpu, fab_n_gpus(f), (uint32_t)fab_at);
    mark_gpus(r);
    FAB_PASS(find_places(r, err));
    find_idle(r);
    return FAB_GIVE(*out, r);
}

FAB_FREES_AFTER(fab_relocator_free, fab_relocator, r) {
    FAB_FREE_ALL(r->gpu, r->place, r->is_working, r->idle, r->seen, r->suspect, r->lost, r->unplaced, r->spare, r->to,
                 r->used, r->moves, r->moved, r->new_gpu);
    relocate_eval_free(r->eval);
}

/* --- who is lost, and who is spare -------------------------------------------------------------------------------- */

static void suspect(fab_relocator *r, uint32_t server) {
    if (r->seen[server] != r->stamp) {
        r->seen[server] = r->stamp;
        r->suspect[r->n_suspects++] = server;
    }
}

static void suspect_node(fab_relocator *r, fab_node_id v) {
    const fab_fabric *f = r->f;
    fab_node_kind kind = fab_kind_of(f, v);
    if (kind == FAB_NODE_GPU) {
        suspect(r, fab_server_of(f, v));
    } else if (kind == FAB_NODE_NIC) {
        suspect(r, fab_server_of_nic(f, v));
    }
}

/* A link to other switches that works; true where there never was one. */
static bool is_joined(const fab_relocator *r, fab_node_id leaf) {
    const fab_fabric *f = r->f;
    bool any = false;
    FAB_EACH_LINK(f, leaf, link) {
        if (fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
            if (!fab_mask_link_is_dead(r->mask, link)) {
                return true;
            }
            any = true;
        }
    }
    return !any;
}

/* Servers below a switch that has lost all its links to others. */
static void suspect_below(fab_relocator *r, fab_node_id v) {
    const fab_fabric *f = r->f;
    if (is_joined(r, v)) {
        return;
    }
    FAB_EACH_LINK(f, v, link) {
        suspect_node(r, fab_head(f, link));
    }
}

static void find_suspects(fab_relocator *r) {
    const fab_mask *mask = r->mask;
    r->n_suspects = 0;
    for (uint32_t i = 0; i < mask->n_nodes; i++) {
        suspect_node(r, mask->node[i]);
    }
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_node_id tail = fab_tail(r->f, mask->link[i]);
        if (fab_class_of(r->f, mask->link[i])->kind != FAB_LINK_FABRIC) {
            suspect_node(r, tail);
        } else if (mask->residual[mask->link[i]] == 0 && !fab_mask_node_is_dead(mask, tail)) {
            suspect_below(r, tail); /* below a dead switch links are dead too */
        }
    }
}

static bool has_way(const fab_relocator *r, uint32_t gpu, bool is_remote) {
    const fab_ports *ports = r->request.ports;
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        fab_link_id pcie = ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + i];
        uint32_t nic = fab_head(r->f, pcie) - r->f->first[FAB_NODE_NIC];
        for (uint32_t plane = 0; plane < ports->n_planes && !fab_mask_link_is_dead(r->mask, pcie); plane++) {
            fab_link_id up = ports->nic_access[(size_t)nic * ports->n_planes + plane];
            if (up != FAB_NONE && !fab_mask_link_is_dead(r->mask, up) &&
                (!is_remote || is_joined(r, fab_head(r->f, up)))) {
                return true;
            }
        }
    }
    return false;
}

static bool is_lost(const fab_relocator *r, uint32_t server) {
    uint32_t first = server * r->f->gpus_per_server;
    for (uint32_t gpu = first; gpu < first + r->f->gpus_per_server && gpu < fab_n_gpus(r->f); gpu++) {
        if ((r->gpu[gpu] & RELOCATE_RANK) == 0) {
            continue;
        }
        if (fab_mask_node_is_dead(r->mask, gpu) ||
            ((r->gpu[gpu] & RELOCATE_NETWORK) != 0 && !has_way(r, gpu, (r->gpu[gpu] & RELOCATE_REMOTE) != 0))) {
            return true;
        }
    }
    return false;
}

static void relocate_start(fab_relocator *r, const fab_mask *mask) {
    for (size_t i = 0; i < r->n_moved; i++) {
        r->new_gpu[r->moved[i]] = r->moved[i];
    }
    if (++r->stamp == 0) { /* after 2^32 calls */
        memset(r->seen, 0, r->f->n_servers * sizeof *r->seen);
        r->stamp = 1;
    }
    r->mask = mask;
    r->n_lost = r->n_unplaced = r->n_spares = 0;
    r->n_moves = r->n_moved = 0;
    find_suspects(r);
    FAB_KEEP(r->lost, r->n_lost, i, r->n_suspects, r->is_working[r->suspect[i]] != 0 && is_lost(r, r->suspect[i]),
             r->suspect[i]);
    qsort(r->lost, r->n_lost, sizeof *r->lost, fab_order_u32);
    for (uint32_t i = 0; i < r->n_idle; i++) {
        if (r->seen[r->idle[i]] != r->stamp) { /* touched in no way */
            r->spare[r->n_spares++] = r->idle[i];
        }
    }
}

/* --- by place ----------------------------------------------------------------------------------------------------- */

bool relocate_fits(const fab_relocator *r, uint32_t from, uint32_t to) {
    const fab_fabric *f = r->f;
    for (uint32_t i = f->gpus_per_server; i-- > 0;) {
        uint32_t gpu = from * f->gpus_per_server + i;
        if (gpu < fab_n_gpus(f) && (r->gpu[gpu] & RELOCATE_RANK) != 0) {
            return to * f->gpus_per_server + i < fab_n_gpus(f);
        }
    }
    return true;
}

static bool is_preferred(const fab_relocator *r, fab_policy policy, uint32_t from, uint32_t to) {
    const relocate_place *a = &r->place[from];
    const relocate_place *b = &r->place[to];
    switch (policy) {
    case FAB_POLICY_SAME_RACK: return a->rack == b->rack;
    case FAB_POLICY_SAME_POD: return a->pod == b->pod && a->pod != FAB_NONE;
    case FAB_POLICY_SAME_SLICE: return a->slot % r->n_slices == b->slot % r->n_slices;
    default: return true;
    }
}

static uint32_t distance(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

/* FAB_NONE: nobody is left. */
static uint32_t relocate_choose(const fab_relocator *r, fab_policy policy, uint32_t from) {
    uint32_t first = FAB_NONE;
    uint32_t best = FAB_NONE;
    for (uint32_t i = 0; i < r->n_spares; i++) {
        uint32_t to = r->spare[i];
        if (r->used[to] == r->n_choices || !relocate_fits(r, from, to)) {
            continue;
        }
        first = first == FAB_NONE ? to : first;
        if (is_preferred(r, policy, from, to) &&
            (best == FAB_NONE || (policy == FAB_POLICY_SAME_RACK && distance(from, to) < distance(from, best)))) {
            best = to;
        }
    }
    return best != FAB_NONE ? best : first;
}

bool relocate_has_racks(const fab_relocator *r) {
    return r->request.racks != NULL && r->request.racks->n_racks > 0;
}

void relocate_next_choice(fab_relocator *r) {
    if (++r->n_choices == 0) { /* after 2^32 */
        memset(r->used, 0, r->f->n_servers * sizeof *r->used);
        r->n_choices = 1;
    }
}

fab_status relocate_by_place(fab_relocator *r, fab_policy policy, fab_error *err) {
    FAB_REFUSE_IF(policy == FAB_POLICY_SAME_RACK && !relocate_has_racks(r), err, FAB_EUNSUPPORTED, NULL,
                  "policy same-rack: " FAB_NO_FLOOR);
    relocate_next_choice(r);
    for (uint32_t i = 0; i < r->n_lost; i++) {
        r->to[i] = policy == FAB_POLICY_NONE ? FAB_NONE : relocate_choose(r, policy, r->lost[i]);
        if (r->to[i] != FAB_NONE) {
            r->used[r->to[i]] = r->n_choices;
        }
    }
    return FAB_OK;
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static void lay_out(fab_relocator *r) {
    const fab_fabric *f = r->f;
    for (size_t i = 0; i < r->n_moves; i++) {
        for (uint32_t k = 0; k < f->gpus_per_server; k++) {
            uint32_t gpu = r->moves[i].from * f->gpus_per_server + k;
            if (gpu < fab_n_gpus(f) && (r->gpu[gpu] & RELOCATE_RANK) != 0) {
                r->new_gpu[gpu] = r->moves[i].to * f->gpus_per_server + k;
                r->moved[r->n_moved++] = gpu;
            }
        }
    }
    qsort(r->moved, r->n_moved, sizeof *r->moved, fab_order_u32);
}

static void list_moves(fab_relocator *r) {
    for (uint32_t i = 0; i < r->n_lost; i++) {
        if (r->to[i] == FAB_NONE) {
            r->unplaced[r->n_unplaced++] = r->lost[i];
        } else {
            r->moves[r->n_moves++] = (fab_move){r->lost[i], r->to[i]};
        }
    }
}

fab_status fab_relocate(fab_relocator *r, const fab_mask *mask, fab_policy policy, fab_relocation *out,
                        fab_error *err) {
    relocate_found found = {0};
    relocate_start(r, mask);
    if (policy == FAB_POLICY_COLLISION_AWARE) {
        FAB_PASS(relocate_by_search(r, &found, err));
    } else {
        FAB_PASS(relocate_by_place(r, policy, err));
    }
    list_moves(r);
    size_t n_needed = r->n_moves;
    if (policy == FAB_POLICY_COLLISION_AWARE) {
        relocate_eval_list_healthy(r->eval, r->moves, &r->n_moves);
    }
    lay_out(r);
    *out = (fab_relocation){.is_possible = r->n_unplaced == 0,
                            .n_lost = r->n_lost,
                            .lost = r->lost,
                            .n_unplaced = r->n_unplaced,
                            .unplaced = r->unplaced,
                            .n_spares = r->n_spares,
                            .n_moves = r->n_moves,
                            .n_healthy = r->n_moves - n_needed,
                            .moves = r->moves,
                            .n_moved = r->n_moved,
                            .moved = r->moved,
                            .new_gpu = r->new_gpu,
                            .n_tried = found.n_tried,
                            .is_optimal = found.is_optimal,
                            .n_collisions = found.n_collisions,
                            .worst_ratio = found.worst_ratio};
    return FAB_OK;
}
