/* An installed network against a plan, cable by cable. */
#include "audit_against.h"

#include "../structure/network_boxes.h"

/* A copy of a plan whose ports may get other names. */
static fab_status copy_plan(comparison *c, const fab_shape *plan, fab_error *err) {
    size_t n = plan->net->n_cables;
    free(c->cables);
    c->cables = NULL;
    FAB_PASS(FAB_NEW(c->cables, n + 1, err));
    if (n > 0) { /* without cables the plan's list is NULL */
        memcpy(c->cables, plan->net->cables, n * sizeof *c->cables);
    }
    c->plan_copy = *plan->net;
    c->plan_copy.cables = c->cables;
    c->shape_copy = *plan;
    c->shape_copy.net = c->plan = &c->plan_copy;
    return FAB_OK;
}

/* Compares servers as boxes, where one of the two alone tells adapters apart. */
static fab_status match_boxes(comparison *c, const fab_shape *here, const fab_shape *plan, audit_match *m,
                              fab_error *err) {
    fab_status status = audit_copy_boxes(here, &c->boxes[0], err);
    status = status == FAB_OK ? audit_copy_boxes(plan, &c->boxes[1], err) : status;
    if (status == FAB_EUNSUPPORTED) { /* two boxes would have one name */
        *err = (fab_error){.text = ""};
        return FAB_OK;
    }
    FAB_PASS(status);
    FAB_PASS(copy_plan(c, &c->boxes[1].shape, err));
    audit_match_release(m);
    *m = (audit_match){.here = &c->boxes[0].shape, .plan = &c->shape_copy, .ports.cables = c->cables};
    FAB_PASS(audit_match_find(m, err));
    c->a.shape = m->here;
    c->a.net = m->here->net;
    return FAB_OK;
}

static fab_status match(comparison *c, const fab_shape *here, const fab_shape *plan, fab_error *err) {
    FAB_OWNS(audit_match_release) audit_match m = {.here = here};
    FAB_PASS(copy_plan(c, plan, err));
    m.plan = &c->shape_copy;
    m.ports.cables = c->cables;
    FAB_PASS(audit_match_find(&m, err));
    FAB_PASS(m.lacks_servers ? match_boxes(c, here, plan, &m, err) : FAB_OK);
    FAB_REFUSE_IF(
        m.lacks_boxes, err, FAB_EINPUT, c->a.net->path,
        "only %u of the %u boxes of the plan are known here, by GUID, name or port (the plan has '%.40s', here "
        "is '%.40s'): a comparison needs the same names, or a map of them, --node-name-map",
        (unsigned)m.n_same, (unsigned)c->plan->n_nodes, c->plan->n_nodes > 0 ? c->plan->nodes[0].label : "nothing",
        c->a.net->n_nodes > 0 ? c->a.net->nodes[0].label : "nothing");
    c->a.plan = c->plan;
    c->plan_shape = &c->shape_copy;
    c->there = m.there;
    c->meant = m.meant;
    m.there = m.meant = NULL;
    c->n_by_place = m.n_by_place;
    FAB_PASS(FAB_NEW_ALL((size_t)c->a.net->n_cables + 1, err, c->found, c->planned_bps, c->is_meant_one_sided));
    c->a.planned_bps = c->planned_bps;
    c->a.is_meant_one_sided = c->is_meant_one_sided;
    return FAB_OK;
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

/* Whether a host of the plan had cables to absent switches alone: it is gone with them. */
static bool is_gone_with_switch(const comparison *c, uint32_t v) {
    uint32_t n = 0;
    for (uint32_t k = c->plan_shape->first[v]; k < c->plan_shape->first[v + 1]; k++) {
        uint32_t w = fab_network_far(c->plan, c->plan_shape->side[k])->node;
        if (c->plan->nodes[w].kind != FAB_NETWORK_SWITCH || c->there[w] != FAB_NETWORK_NONE) {
            return false;
        }
        n++;
    }
    return n > 0 && fab_network_is_host(c->plan, v);
}

/* Which servers have several adapters, and none of them known on the other side: they are one finding each. told
 * [servers] is 0 of them, and FAB_NETWORK_NONE of others. */
static fab_status find_whole(const fab_shape *s, const uint32_t *known, uint32_t **told, fab_error *err) {
    FAB_OWNED uint32_t *n = NULL;
    FAB_PASS(FAB_NEW_ALL((size_t)s->n_servers + 1, err, n, *told));
    for (uint32_t v = 0; v < s->net->n_nodes; v++) {
        if (s->server[v] != FAB_NETWORK_NONE) {
            n[s->server[v]]++;
            (*told)[s->server[v]] = known[v] != FAB_NETWORK_NONE ? FAB_NETWORK_NONE : (*told)[s->server[v]];
        }
    }
    FAB_FILL(*told, s->n_servers, n[fab_at] > 1 ? (*told)[fab_at] : FAB_NETWORK_NONE);
    return FAB_OK;
}

/* A box, or the server that it belongs to, which gets its cables where it is told already: told is its finding, + 1. */
static fab_status tell_box(comparison *c, const fab_shape *s, uint32_t v, uint32_t *told, fab_finding *f,
                           const char *of_server, fab_error *err) {
    const uint32_t server = s->server[v];
    if (server == FAB_NETWORK_NONE || told[server] == FAB_NETWORK_NONE) {
        return fab_audit_add(&c->a, f, err);
    }
    if (told[server] > 0) {
        c->a.out->findings[told[server] - 1].cables += f->cables;
        c->a.out->findings[told[server] - 1].damage_bps += f->damage_bps;
        return FAB_OK;
    }
    f->node = s->server_name[server];
    f->guid = 0;
    f->text = of_server;
    FAB_PASS(
        f->kind == FAB_FINDING_MISSING_PORT
            ? fab_audit_text(&c->a, &f->work, err, "Install %s, or switch it on, and plug all its cables.", f->node)
            : FAB_OK);
    FAB_PASS(fab_audit_add(&c->a, f, err));
    told[server] = c->a.out->n_findings;
    return FAB_OK;
}

static fab_status look_at_boxes(comparison *c, fab_error *err) {
    FAB_OWNED uint32_t *told = NULL;
    FAB_PASS(find_whole(c->plan_shape, c->there, &told, err));
    for (uint32_t v = 0; v < c->plan->n_nodes; v++) {
        const fab_network_node *node = &c->plan->nodes[v];
        if (c->there[v] != FAB_NETWORK_NONE || node->kind == FAB_NETWORK_SERVICE || is_gone_with_switch(c, v)) {
            continue;
        }
        uint32_t n_hosts = 0;
        fab_finding f = {.kind =
                             node->kind == FAB_NETWORK_SWITCH ? FAB_FINDING_ABSENT_SWITCH : FAB_FINDING_MISSING_PORT,
                         .confidence = 1,
                         .guid = node->guid,
                         .node = c->plan_names[v],
                         .text = "is planned and not there"};
        for (uint32_t k = c->plan_shape->first[v]; k < c->plan_shape->first[v + 1]; k++) {
            uint32_t w = fab_network_far(c->plan, c->plan_shape->side[k])->node;
            f.damage_bps += c->plan->cables[c->plan_shape->side[k] >> 1].rate_bps;
            f.cables++;
            n_hosts += c->there[w] == FAB_NETWORK_NONE && is_gone_with_switch(c, w);
        }
        if (n_hosts > 0) {
            FAB_PASS(fab_audit_text(&c->a, &f.text, err, "is planned and not there, nor are %u adapter%s on it",
                                    (unsigned)n_hosts, n_hosts == 1 ? "" : "s"));
        }
        FAB_PASS(fab_audit_text(&c->a, &f.work, err, "Install %s, or switch it on, and plug its %u cable%s.", f.node,
                                (unsigned)f.cables, f.cables == 1 ? "" : "s"));
        FAB_PASS(tell_box(c, c->plan_shape, v, told, &f, "all its adapters are planned, and none is there", err));
    }
    return FAB_OK;
}

/* Each server of the file with its name in the plan, which is its own where one of its boxes has that there. */
static fab_status name_servers(comparison *c, fab_error *err) {
    const fab_shape *here = c->a.shape;
    fab_audit *out = c->a.out;
    const bool are_adapters = c->boxes[0].shape.net == NULL;
    FAB_PASS(FAB_NEW(out->servers, (size_t)here->n_servers + 1, err));
    FAB_PASS(are_adapters ? FAB_NEW(out->planned_host, (size_t)here->net->n_nodes + 1, err) : FAB_OK);
    for (uint32_t v = 0; v < c->plan->n_nodes; v++) {
        uint32_t planned = c->plan_shape->server[v];
        uint32_t s = c->there[v] != FAB_NETWORK_NONE ? here->server[c->there[v]] : FAB_NETWORK_NONE;
        const char *name = planned != FAB_NETWORK_NONE ? c->plan_shape->server_name[planned] : NULL;
        if (s != FAB_NETWORK_NONE && name != NULL &&
            (out->servers[s].planned == NULL || strcmp(name, here->server_name[s]) == 0)) {
            out->servers[s].planned = name;
        }
        if (are_adapters && name != NULL && c->there[v] != FAB_NETWORK_NONE) {
            FAB_PASS(fab_audit_text(&c->a, &out->planned_host[c->there[v]], err, "%s", name));
        }
    }
    for (uint32_t s = 0; s < here->n_servers; s++) {
        fab_audit_server *server = &out->servers[s];
        FAB_PASS(fab_audit_text(&c->a, &server->name, err, "%s", here->server_name[s]));
        FAB_PASS(server->planned != NULL ? fab_audit_text(&c->a, &server->planned, err, "%s", server->planned)
                                         : FAB_OK);
    }
    out->n_servers_named = here->n_servers;
    qsort(out->servers, out->n_servers_named, sizeof *out->servers, fab_order_text);
    return FAB_OK;
}

/* Boxes that nobody planned, each with all of its cables. */
static fab_status look_at_new_boxes(comparison *c, fab_error *err) {
    const fab_shape *s = c->a.shape;
    FAB_OWNED uint32_t *told = NULL;
    FAB_PASS(find_whole(s, c->meant, &told, err));
    for (uint32_t v = 0; v < c->a.net->n_nodes; v++) {
        if (c->meant[v] != FAB_NETWORK_NONE || c->a.net->nodes[v].kind == FAB_NETWORK_SERVICE) {
            continue;
        }
        fab_finding f = {.kind = FAB_FINDING_EXTRA_CABLE,
                         .confidence = 1,
                         .guid = c->a.net->nodes[v].guid,
                         .node = fab_audit_label(&c->a, v),
                         .text = "this box is not planned",
                         .work = "Remove it, or put it into the plan.",
                         .line = c->a.net->nodes[v].line};
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            f.cables += c->found[s->side[k] >> 1] == 0;
            c->found[s->side[k] >> 1] = 1;
        }
        FAB_PASS(tell_box(c, s, v, told, &f, "none of its adapters is planned", err));
    }
    return FAB_OK;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

bool audit_same_port(const char *x, const char *y) {
    return x == NULL || y == NULL || strcmp(x, y) == 0;
}

uint32_t audit_find_side(const comparison *c, uint32_t node, const char *port, uint32_t far, const char *far_port) {
    const fab_shape *s = c->a.shape;
    for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++) {
        uint32_t side = s->side[k];
        bool fits = far == FAB_NETWORK_NONE || (fab_network_far(c->a.net, side)->node == far &&
                                                audit_same_port(fab_network_far(c->a.net, side)->port, far_port));
        if (c->found[side >> 1] == 0 && fits && audit_same_port(fab_network_near(c->a.net, side)->port, port)) {
            return side;
        }
    }
    return FAB_NETWORK_NONE;
}

static fab_status report_missing(comparison *c, uint32_t cable, fab_error *err) {
    const fab_network_cable *p = &c->plan->cables[cable];
    const auditor planned = {.net = c->plan, .names = c->plan_names};
    fab_finding f = fab_audit_finding(&planned, FAB_FINDING_MISSING_CABLE, &p->end[0], &p->end[1]);
    f.damage_bps = p->rate_bps;
    f.text = "this cable is planned and not there";
    FAB_PASS(fab_audit_text(&c->a, &f.work, err, "Plug a cable from %s:%s to %s:%s.", f.node, f.port, f.other,
                            f.other_port));
    if (fab_shape_is_inside(c->plan_shape, p)) {
        fab_audit_make_inside(&f);
    }
    return fab_audit_add(&c->a, &f, err);
}

/* `side`: what is plugged in at end i of a planned cable instead. */
static fab_status report_miswired(comparison *c, uint32_t cable, uint32_t i, uint32_t side, fab_error *err) {
    const fab_network_cable *p = &c->plan->cables[cable];
    const fab_network_end *far = fab_network_far(c->a.net, side);
    fab_finding f = {.kind = FAB_FINDING_MISWIRED,
                     .confidence = 1,
                     .damage_bps = p->rate_bps,
                     .cables = 1,
                     .node = c->plan_names[p->end[i].node],
                     .guid = c->plan->nodes[p->end[i].node].guid,
                     .port = fab_audit_port(&p->end[i]),
                     .other = fab_audit_label(&c->a, far->node),
                     .other_guid = c->a.net->nodes[far->node].guid,
                     .other_port = fab_audit_port(far),
                     .line = fab_network_near(c->a.net, side)->line};
    const char *node = c->plan_names[p->end[i ^ 1].node];
    const char *port = fab_audit_port(&p->end[i ^ 1]);
    c->found[side >> 1] = 1;
    return fab_audit_tell(&c->a, &f, err,
                          "leads to %s:%s instead of %s:%s" FAB_AUDIT_WORK "Move the far end from %s:%s to %s:%s.",
                          f.other, f.other_port, node, port, f.other, f.other_port, node, port);
}

static bool is_planned(const comparison *c, uint32_t cable) {
    const fab_network_cable *p = &c->plan->cables[cable];
    return c->there[p->end[0].node] != FAB_NETWORK_NONE && c->there[p->end[1].node] != FAB_NETWORK_NONE;
}

static fab_status look_at_cables(comparison *c, fab_error *err) {
    FAB_OWNED_NEW(uint8_t, done_with, (size_t)c->plan->n_cables + 1, err);
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) { /* what is as planned, first */
        const fab_network_cable *p = &c->plan->cables[cable];
        if (is_planned(c, cable)) {
            uint32_t side =
                audit_find_side(c, c->there[p->end[0].node], p->end[0].port, c->there[p->end[1].node], p->end[1].port);
            done_with[cable] = side != FAB_NETWORK_NONE;
            if (side != FAB_NETWORK_NONE) {
                c->found[side >> 1] = 1;
                c->planned_bps[side >> 1] = p->rate_bps;
                c->is_meant_one_sided[side >> 1] =
                    c->plan->reports_both_ends && (p->end[0].line == 0 || p->end[1].line == 0);
            }
        }
    }
    FAB_PASS(audit_look_for_exchanges(c, done_with, err));
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        const fab_network_cable *p = &c->plan->cables[cable];
        uint32_t side = FAB_NETWORK_NONE;
        uint32_t i = 0;
        for (; done_with[cable] == 0 && !fab_network_is_service(c->plan, p) && side == FAB_NETWORK_NONE && i < 2;
             i++) { /* an end that leads elsewhere */
            uint32_t node = c->there[p->end[i].node];
            side = node != FAB_NETWORK_NONE && p->end[i].port != NULL
                       ? audit_find_side(c, node, p->end[i].port, FAB_NETWORK_NONE, NULL)
                       : FAB_NETWORK_NONE;
        }
        if (side != FAB_NETWORK_NONE) {
            FAB_PASS(report_miswired(c, cable, i - 1, side, err));
        } else if (done_with[cable] == 0 && !fab_network_is_service(c->plan, p) && is_planned(c, cable)) {
            FAB_PASS(report_missing(c, cable, err));
        }
    }
    return FAB_OK;
}

static fab_status look_for_more(comparison *c, fab_error *err) {
    for (uint32_t cable = 0; cable < c->a.net->n_cables; cable++) {
        const fab_network_cable *p = &c->a.net->cables[cable];
        if (c->found[cable] != 0 || fab_network_is_service(c->a.net, p)) {
            continue;
        }
        fab_finding f = fab_audit_finding(&c->a, FAB_FINDING_EXTRA_CABLE, &p->end[0], &p->end[1]);
        f.text = "this cable is not planned";
        f.work = "Remove it, or put it into the plan.";
        f.line = p->end[0].line != 0 ? p->end[0].line : p->end[1].line;
        FAB_PASS(fab_audit_add(&c->a, &f, err));
    }
    return FAB_OK;
}

static void audit_against_count_boundaries(comparison *c) {
    const auditor planned = {.shape = c->plan_shape, .net = c->plan};
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        uint32_t t = fab_audit_boundary_of(&planned, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES) {
            c->a.out->n_boundaries = t > c->a.out->n_boundaries ? t : c->a.out->n_boundaries;
            c->a.out->boundary[t - 1].tier = t;
            c->a.out->boundary[t - 1].planned++;
        }
    }
    for (uint32_t cable = 0; cable < c->a.net->n_cables; cable++) {
        uint32_t t = fab_audit_boundary_of(&c->a, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES && c->found[cable] != 0) {
            c->a.out->boundary[t - 1].present++;
        }
    }
}

/* Parts and single points of the plan are meant, and no findings. */
static fab_status drop_planned_cuts(comparison *c, uint32_t first, fab_error *err) {
    FAB_OWNS(fab_audit_close) auditor plan = {.shape = c->plan_shape, .net = c->plan};
    fab_audit *out = c->a.out;
    uint32_t n = first;
    FAB_PASS(fab_audit_open(&plan, err));
    FAB_PASS(fab_audit_cuts(&plan, err));
    for (uint32_t i = first; i < out->n_findings; i++) {
        const fab_finding *here = &out->findings[i];
        const fab_finding *f = plan.out->findings;
        FAB_ANY(is_meant, k, plan.out->n_findings,
                f[k].kind == here->kind && strcmp(f[k].node, here->node) == 0 && strcmp(f[k].text, here->text) == 0);
        if (!is_meant) {
            out->findings[n++] = out->findings[i];
        }
    }
    out->n_findings = n;
    return FAB_OK;
}

fab_status fab_audit_against(const fab_shape *shape, const fab_shape *plan, fab_audit **out, fab_error *err) {
    fab_status status = FAB_OK;
    comparison c = {.a = {.shape = shape, .net = shape->net}};
    FAB_REFUSE_IF(shape->net->is_tree_of_names != plan->net->is_tree_of_names, err, FAB_EINPUT,
                  shape->net->is_tree_of_names ? shape->net->path : plan->net->path,
                  "says who is below whom, and of no cable: a comparison needs another such tree, or a list of cables");
    FAB_TRY(match(&c, shape, plan, err));
    FAB_TRY(fab_audit_open(&c.a, err));
    FAB_TRY(fab_network_names(c.plan, &c.plan_names, err));
    c.a.out->n_by_place = c.n_by_place;
    audit_match_count_renamed(c.a.net, c.plan, c.there, c.a.out);
    FAB_TRY(name_servers(&c, err));
    FAB_TRY(look_at_boxes(&c, err));
    FAB_TRY(look_at_cables(&c, err));
    audit_against_count_boundaries(&c);
    FAB_TRY(look_at_new_boxes(&c, err));
    FAB_TRY(look_for_more(&c, err));
    FAB_TRY(fab_audit_cables(&c.a, err));
    uint32_t n_before = c.a.out->n_findings;
    FAB_TRY(fab_audit_cuts(&c.a, err));
    FAB_TRY(drop_planned_cuts(&c, n_before, err));
    memset(c.a.ruled, true, c.a.net->n_cables); /* the plan speaks of all of them */
    FAB_TRY(fab_audit_cover(&c.a, err));
    FAB_TRY(fab_audit_find_tiers(c.a.out, c.plan_shape, c.plan_names,
                                 err)); /* of what is absent; what is there stands below */
    FAB_TRY(fab_audit_find_tiers(c.a.out, c.a.shape, c.a.names, err));
    fab_audit_sort(c.a.out);
    c.a.out->has_plan = true;
    status = FAB_GIVE(*out, c.a.out);
done:
    fab_audit_close(&c.a);
    audit_copy_release(&c.boxes[0]);
    audit_copy_release(&c.boxes[1]);
    FAB_FREE_ALL(c.there, c.meant, c.plan_names, c.found, c.planned_bps, c.is_meant_one_sided, c.cables);
    return status;
}
