/* Against a plan: what stands where something else belongs, in pairs and in rings. */
#include "audit_against.h"

#include "fab/order.h"
#include "fab/str.h"

/* Two planned cables whose ends `end` of the plan are plugged in where that of the other belongs. */
typedef struct exchange {
    uint32_t cable[2], end[2];
    uint32_t side[2]; /* what is plugged in at the other end of cable[k]; it should be at that of the other */
} exchange;

/* What to call the owner of an adapter, or a box, and which it is. */
static const char *owner_of(const comparison *c, uint32_t v, uint32_t *out) {
    uint32_t server = c->plan_shape->server[v];
    *out = server != FAB_NETWORK_NONE ? server : c->plan_shape->n_servers + v;
    return server != FAB_NETWORK_NONE ? c->plan_shape->server_name[server] : c->plan_names[v];
}

/* The undone planned cable whose other end belongs where end i of this one leads, and leads to where that belongs. */
static bool find_exchange(const comparison *c, const uint8_t *done_with, uint32_t cable, uint32_t i, exchange *out) {
    const fab_network_end *near = &c->plan->cables[cable].end[i];
    const fab_network_end *meant = &c->plan->cables[cable].end[i ^ 1];
    uint32_t node = c->there[near->node];
    uint32_t side = node != FAB_NETWORK_NONE && near->port != NULL
                        ? audit_find_side(c, node, near->port, FAB_NETWORK_NONE, NULL)
                        : FAB_NETWORK_NONE;
    uint32_t w = side != FAB_NETWORK_NONE ? c->meant[fab_network_far(c->a.net, side)->node] : FAB_NETWORK_NONE;
    if (w == FAB_NETWORK_NONE || c->there[meant->node] == FAB_NETWORK_NONE) {
        return false;
    }
    for (uint32_t k = c->plan_shape->first[w]; k < c->plan_shape->first[w + 1]; k++) {
        uint32_t other = c->plan_shape->side[k];
        const fab_network_end *beyond = fab_network_far(c->plan, other);
        uint32_t there = c->there[beyond->node];
        if (done_with[other >> 1] != 0 || other >> 1 == cable || there == FAB_NETWORK_NONE || beyond->port == NULL ||
            !audit_same_port(fab_network_near(c->plan, other)->port, fab_network_far(c->a.net, side)->port)) {
            continue;
        }
        uint32_t back = audit_find_side(c, there, beyond->port, c->there[meant->node], meant->port);
        if (back != FAB_NETWORK_NONE && back >> 1 != side >> 1) {
            *out = (exchange){{cable, other >> 1}, {i ^ 1, other & 1}, {side, back}};
            return true;
        }
    }
    return false;
}

/* What n exchanges cost: two cables of one switch that are at each other's port carry as much as before. */
static double impact_of(const comparison *c, const exchange *x, uint32_t n) {
    double impact_bps = 0;
    for (uint32_t k = 0; k < n; k++) {
        const fab_network_cable *one = &c->plan->cables[x[k].cable[0]];
        const fab_network_cable *two = &c->plan->cables[x[k].cable[1]];
        const bool is_same = one->end[x[k].end[0] ^ 1].node == two->end[x[k].end[1] ^ 1].node;
        impact_bps += is_same ? 0 : one->rate_bps + two->rate_bps;
    }
    return impact_bps;
}

/* n of them are of the same two boxes, which have n_of [box] cables. */
static fab_status report_exchange(comparison *c, const exchange *x, uint32_t n, const uint32_t *n_of, fab_error *err) {
    const fab_network_end *one = &c->plan->cables[x->cable[0]].end[x->end[0]];
    const fab_network_end *two = &c->plan->cables[x->cable[1]].end[x->end[1]];
    const fab_network_end *at[2] = {&c->plan->cables[x->cable[0]].end[x->end[0] ^ 1],
                                    &c->plan->cables[x->cable[1]].end[x->end[1] ^ 1]};
    const auditor planned = {.net = c->plan, .names = c->plan_names};
    uint32_t box[2];
    const char *name[2] = {owner_of(c, one->node, &box[0]), owner_of(c, two->node, &box[1])};
    bool are_hosts = fab_network_is_host(c->plan, one->node);
    fab_finding f = fab_audit_finding(&planned,
                                      !are_hosts         ? FAB_FINDING_CROSSED
                                      : box[0] == box[1] ? FAB_FINDING_SWAPPED_RAILS
                                                         : FAB_FINDING_SWAPPED_HOSTS,
                                      n > 1 ? one : at[0], n > 1 ? two : at[1]);
    f.cables = 2 * n;
    f.damage_bps = impact_of(c, x, n);
    f.line = fab_network_near(c->a.net, x->side[0])->line;
    if (n == 1) {
        return fab_audit_tell(&c->a, &f, err,
                              "their cables to %.100s:%.30s and %.100s:%.30s are crossed" FAB_AUDIT_WORK
                              "Exchange the ends of the two cables at %.100s:%.30s and %.100s:%.30s.",
                              c->plan_names[one->node], fab_audit_port(one), c->plan_names[two->node],
                              fab_audit_port(two), f.node, f.port, f.other, f.other_port);
    }
    f.node = name[0];
    f.other = name[1];
    f.port = f.other_port = "";
    if (n == n_of[box[0]] && n == n_of[box[1]]) {
        return fab_audit_tell(
            &c->a, &f, err,
            "%.120s and %.120s are exchanged: each of their %u cables is where one of the other belongs" FAB_AUDIT_WORK
            "Exchange the two boxes, or their names, or their %u cables.",
            f.node, f.other, f.cables, f.cables);
    }
    return fab_audit_tell(
        &c->a, &f, err,
        "%.120s and %.120s: %u of their cables are exchanged, each is where one of the other belongs" FAB_AUDIT_WORK
        "Exchange these %u cables alone: not all of both boxes.",
        f.node, f.other, f.cables, f.cables);
}

/* Whether both have their exchanged ends, or with `others` the ends that stay, at the same two boxes: hosts, or
 * switches. */
static bool same_boxes(const comparison *c, const exchange *x, const exchange *y, bool others) {
    uint32_t box[4];
    for (uint32_t k = 0; k < 4; k++) {
        const exchange *of = k < 2 ? x : y;
        uint32_t node = c->plan->cables[of->cable[k & 1]].end[of->end[k & 1] ^ (others ? 1U : 0U)].node;
        (void)owner_of(c, node, &box[k]);
        if (fab_network_is_host(c->plan, node) == others) {
            return false;
        }
    }
    return box[0] != box[1] && ((box[0] == box[2] && box[1] == box[3]) || (box[0] == box[3] && box[1] == box[2]));
}

/* Those of list [n] that are of the same two boxes as list [at] stand behind it; returns how many these are with it. */
static uint32_t gather(const comparison *c, exchange *list, uint32_t at, uint32_t n, bool others) {
    uint32_t same = 1;
    for (uint32_t k = at + 1; k < n; k++) {
        if (same_boxes(c, &list[at], &list[k], others)) {
            const exchange moved = list[at + same];
            list[at + same] = list[k];
            list[k] = moved;
            same++;
        }
    }
    return same;
}

/* Two switches of which nearly all cables to hosts, n of n_all each, are at the other. */
static fab_status report_switches(comparison *c, const exchange *x, uint32_t n, uint32_t n_all, fab_error *err) {
    const auditor planned = {.net = c->plan, .names = c->plan_names};
    fab_finding f = fab_audit_finding(&planned, FAB_FINDING_CROSSED, &c->plan->cables[x->cable[0]].end[x->end[0] ^ 1U],
                                      &c->plan->cables[x->cable[1]].end[x->end[1] ^ 1U]);
    f.port = f.other_port = "";
    f.cables = 2 * n;
    f.damage_bps = impact_of(c, x, n);
    f.line = fab_network_near(c->a.net, x->side[0])->line;
    if (n > n_all) { /* uplinks went along */
        return fab_audit_tell(&c->a, &f, err,
                              "they are exchanged: %u of their cables, all %u to hosts among them, are each where one "
                              "of the other belongs" FAB_AUDIT_WORK
                              "Exchange the two boxes, or their names, or these %u cables.",
                              f.cables, 2 * n_all, f.cables);
    }
    return fab_audit_tell(&c->a, &f, err,
                          "%u of their %u cables to hosts are exchanged, each is where one of the other "
                          "belongs" FAB_AUDIT_WORK "Exchange these %u cables%s.",
                          f.cables, 2 * n_all, f.cables, n == n_all ? ", or the two boxes with their uplinks" : "");
}

/* Cables that are exchanged in pairs, first by the ends at switches, so that hosts are what is exchanged. */
static fab_status look_for_pairs(comparison *c, const uint32_t *n_of, uint8_t *done_with, fab_error *err) {
    FAB_OWNED exchange *list = NULL;
    uint32_t n = 0;
    uint32_t box = 0;
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        n += done_with[cable] == 0;
    }
    FAB_PASS(FAB_NEW(list, (size_t)n + 1, err));
    n = 0;
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        uint32_t first = fab_network_is_host(c->plan, c->plan->cables[cable].end[0].node) ? 1 : 0;
        for (uint32_t i = 0; i < 2 && done_with[cable] == 0; i++) {
            if (find_exchange(c, done_with, cable, first ^ i, &list[n])) {
                for (uint32_t k = 0; k < 2; k++) {
                    done_with[list[n].cable[k]] = 1;
                    c->found[list[n].side[k] >> 1] = 1;
                }
                n++;
            }
        }
    }
    for (uint32_t i = 0, same = 0; i < n; i += same) {
        const uint32_t by_switches = gather(c, list, i, n, true);
        (void)owner_of(c, c->plan->cables[list[i].cable[0]].end[list[i].end[0] ^ 1U].node, &box);
        same = gather(c, list, i, n, false);
        const bool are_switches = by_switches > same && by_switches >= FAB_AUDIT_NEARLY * n_of[box];
        same = are_switches ? gather(c, list, i, n, true) : same;
        FAB_PASS(are_switches ? report_switches(c, &list[i], same, n_of[box], err)
                              : report_exchange(c, &list[i], same, n_of, err));
    }
    return FAB_OK;
}

/* --- rings -------------------------------------------------------------------------------------------------------- */

#define SEVERAL FAB_NETWORK_NONE /* boxes stand in a place, or one that is not planned */

/* What stands where a planned cable of a host is plugged in: the end at the switch, or FAB_NETWORK_NONE. */
static uint32_t side_in_place(const comparison *c, uint32_t side) {
    const fab_network_end *at = fab_network_far(c->plan, side);
    const uint32_t node = c->there[at->node];
    return node != FAB_NETWORK_NONE && at->port != NULL ? audit_find_side(c, node, at->port, FAB_NETWORK_NONE, NULL)
                                                        : FAB_NETWORK_NONE;
}

/* instead [server]: whose cables are all where this one's belong; itself where some are where they should. */
static void find_instead(const comparison *c, const uint8_t *done_with, uint32_t *instead) {
    FAB_FILL(instead, c->plan_shape->n_servers, (uint32_t)fab_at);
    for (uint32_t side = 0; side < 2 * c->plan->n_cables; side++) {
        const uint32_t node = fab_network_near(c->plan, side)->node;
        const uint32_t s = fab_network_is_host(c->plan, node) ? c->plan_shape->server[node] : FAB_NETWORK_NONE;
        if (s == FAB_NETWORK_NONE) {
            continue;
        }
        const uint32_t found = done_with[side >> 1] == 0 ? side_in_place(c, side) : FAB_NETWORK_NONE;
        const uint32_t v =
            found != FAB_NETWORK_NONE ? c->meant[fab_network_far(c->a.net, found)->node] : FAB_NETWORK_NONE;
        const uint32_t by = v != FAB_NETWORK_NONE ? c->plan_shape->server[v] : SEVERAL;
        instead[s] = instead[s] == s || instead[s] == by ? by : SEVERAL;
    }
}

uint32_t audit_ring_length(const uint32_t *instead, uint32_t n, uint32_t first) {
    uint32_t at = instead[first];
    uint32_t length = 1;
    for (; at < n && at > first && length <= n; length++) {
        at = instead[at];
    }
    return at == first ? length : 0;
}

fab_status audit_report_ring(auditor *a, const char *const *names, const uint32_t *instead, uint32_t first,
                             fab_finding *f, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_str_printf(&text,
                   f->work != NULL ? "%u of their cables are in each other's place"
                                   : "stand in each other's place, with %u cables",
                   f->cables);
    for (uint32_t s = first, k = 0; k == 0 || s != first; s = instead[s], k++) {
        fab_str_printf(&text, "%s%.120s where %.120s belongs", k > 0 ? ", " : ": ", names[instead[s]], names[s]);
    }
    FAB_PASS(fab_str_status(&text, err));
    f->kind = FAB_FINDING_SWAPPED_HOSTS;
    f->node = names[first];
    f->other = names[instead[first]];
    f->port = f->other_port = "";
    f->text = text.data;
    f->work = f->work != NULL ? f->work : "Put each box where its name belongs, or exchange their names.";
    return fab_audit_add(a, f, err);
}

/* Three servers or more of which each stands where the next belongs: one finding. Two do so too, and are a pair. */
static fab_status look_for_rings(comparison *c, uint8_t *done_with, fab_error *err) {
    FAB_OWNED uint32_t *instead = NULL;
    FAB_OWNED uint32_t *ring = NULL;  /* [server]: the first of its ring, or FAB_NETWORK_NONE */
    FAB_OWNED fab_finding *of = NULL; /* [server]: of the first of a ring */
    const uint32_t n = c->plan_shape->n_servers;
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, instead, ring, of));
    find_instead(c, done_with, instead);
    memset(ring, 0xff, ((size_t)n + 1) * sizeof *ring);
    for (uint32_t first = 0; first < n; first++) {
        const bool is_one = audit_ring_length(instead, n, first) > 2;
        for (uint32_t s = first; is_one && ring[s] == FAB_NETWORK_NONE; s = instead[s]) {
            ring[s] = first;
        }
    }
    for (uint32_t side = 0; side < 2 * c->plan->n_cables; side++) {
        const uint32_t node = fab_network_near(c->plan, side)->node;
        const uint32_t s = fab_network_is_host(c->plan, node) ? c->plan_shape->server[node] : FAB_NETWORK_NONE;
        const uint32_t found = s < n && ring[s] < n ? side_in_place(c, side) : FAB_NETWORK_NONE;
        if (found != FAB_NETWORK_NONE) {
            fab_finding *f = &of[ring[s]];
            f->line = f->cables == 0 ? fab_network_near(c->a.net, found)->line : f->line;
            f->cables++;
            const uint32_t planned = c->there[fab_network_far(c->plan, side)->node];
            f->damage_bps +=
                fab_network_far(c->a.net, found)->node == planned ? 0 : c->plan->cables[side >> 1].rate_bps;
            c->found[found >> 1] = done_with[side >> 1] = 1;
        }
    }
    for (uint32_t s = 0; s < n; s++) {
        of[s].confidence = 1;
        FAB_PASS(ring[s] == s ? audit_report_ring(&c->a, c->plan_shape->server_name, instead, s, &of[s], err) : FAB_OK);
    }
    return FAB_OK;
}

typedef struct named_server {
    const char *name; /* first: fab_order_text() */
    uint32_t server;
} named_server;

/* instead [server]: whose name the one with this one's cables has, itself where it has its own; what is plugged as
 * planned alone, of which head [server] and next [side] are lists. */
static fab_status find_names(const comparison *c, const uint8_t *done_with, uint32_t *instead, uint32_t *head,
                             uint32_t *next, fab_error *err) {
    const fab_shape *plan = c->plan_shape;
    FAB_OWNED_NEW(named_server, names, (size_t)plan->n_servers + 1, err);
    for (uint32_t s = 0; s < plan->n_servers; s++) {
        names[s] = (named_server){plan->server_name[s], s};
        instead[s] = s;
        head[s] = FAB_NETWORK_NONE;
    }
    qsort(names, plan->n_servers, sizeof *names, fab_order_text);
    for (uint32_t side = 0; side < 2 * c->plan->n_cables; side++) {
        const uint32_t node = fab_network_near(c->plan, side)->node;
        const uint32_t s = fab_network_is_host(c->plan, node) ? plan->server[node] : FAB_NETWORK_NONE;
        if (s == FAB_NETWORK_NONE || done_with[side >> 1] == 0) {
            continue;
        }
        const uint32_t here = c->a.shape->server[c->there[node]];
        const named_server key = {here != FAB_NETWORK_NONE ? c->a.shape->server_name[here] : "", 0};
        const named_server *of = bsearch(&key, names, plan->n_servers, sizeof *names, fab_order_text);
        const uint32_t by = of != NULL ? of->server : SEVERAL;
        instead[s] = head[s] == FAB_NETWORK_NONE || instead[s] == by ? by : SEVERAL;
        next[side] = head[s];
        head[s] = side;
    }
    return FAB_OK;
}

/* Whether one of the cables in a list is at the switch that this one is at. */
static bool has_switch(const comparison *c, const uint32_t *next, uint32_t list, uint32_t side) {
    const uint32_t node = fab_network_far(c->plan, side)->node;
    while (list != FAB_NETWORK_NONE && fab_network_far(c->plan, list)->node != node) {
        list = next[list];
    }
    return list != FAB_NETWORK_NONE;
}

/* Servers with the cables that are planned of them, each called as the next of them: jobs place ranks by names. Where
 * half of all have another name than planned, all were named anew: that is no exchange. */
static fab_status look_for_names(comparison *c, const uint8_t *done_with, fab_error *err) {
    FAB_OWNED uint32_t *instead = NULL;
    FAB_OWNED uint32_t *head = NULL;
    FAB_OWNED uint32_t *next = NULL;
    const uint32_t n = c->plan_shape->n_servers;
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, instead, head));
    FAB_PASS(FAB_NEW(next, 2 * (size_t)c->plan->n_cables + 1, err));
    FAB_PASS(find_names(c, done_with, instead, head, next, err));
    FAB_SUM_IN(uint32_t, n_others, s, 0, n, instead[s] != s);
    for (uint32_t first = 0; first < n && 2 * n_others < n; first++) {
        const uint32_t length = audit_ring_length(instead, n, first);
        const char *const *names = c->plan_shape->server_name;
        fab_finding f = {.kind = FAB_FINDING_SWAPPED_HOSTS, .confidence = 1, .node = names[first], .port = ""};
        for (uint32_t s = first, k = 0; length > 1 && k < length; s = instead[s], k++) {
            for (uint32_t side = head[s]; side != FAB_NETWORK_NONE; side = next[side]) {
                f.cables++;
                f.damage_bps += has_switch(c, next, head[instead[s]], side) ? 0 : c->plan->cables[side >> 1].rate_bps;
                f.line = c->a.net->nodes[c->there[fab_network_near(c->plan, side)->node]].line;
            }
        }
        if (length > 2) {
            FAB_PASS(audit_report_ring(&c->a, names, instead, first, &f, err));
        } else if (length == 2) {
            f.other = names[instead[first]];
            f.other_port = "";
            FAB_PASS(fab_audit_tell(&c->a, &f, err,
                                    "%.120s and %.120s are exchanged, or their names: all %u cables of both are where "
                                    "one of the other belongs" FAB_AUDIT_WORK
                                    "Exchange the two boxes, or their names, or their %u cables.",
                                    f.node, f.other, f.cables, f.cables));
        }
    }
    return FAB_OK;
}

fab_status audit_look_for_exchanges(comparison *c, uint8_t *done_with, fab_error *err) {
    FAB_OWNED uint32_t *n_of = NULL; /* [box]: planned cables of hosts */
    uint32_t box = 0;
    FAB_PASS(FAB_NEW(n_of, (size_t)c->plan_shape->n_servers + c->plan->n_nodes + 1, err));
    for (uint32_t side = 0; side < 2 * c->plan->n_cables; side++) {
        const uint32_t node = fab_network_near(c->plan, side)->node;
        (void)owner_of(c, node, &box);
        n_of[box] +=
            fab_network_is_host(c->plan, node) || fab_network_is_host(c->plan, fab_network_far(c->plan, side)->node);
    }
    FAB_PASS(look_for_names(c, done_with, err));
    FAB_PASS(look_for_rings(c, done_with, err));
    return look_for_pairs(c, n_of, done_with, err);
}
