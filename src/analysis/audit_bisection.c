/* Bisection of an installed fabric and of what it should be: one maximum flow each between the same halves of the
 * servers, over switches and the cables of the file. */
#include "fab/audit_bisection.h"

#include "max_flow.h"

#include "fab/ib_names.h"
#include "fab/installed.h"
#include "fab/str.h"

typedef enum half { HALF_NONE, HALF_FIRST, HALF_SECOND } half;

typedef struct halves {
    uint32_t *order; /* [n_servers] of the import: by name, whether complete or not */
    uint8_t *of;     /* [n_servers]: half */
} halves;

typedef struct capacities {
    fab_flow_edges edges;
    bool lacks_rates;
} capacities;

/* --- halves ------------------------------------------------------------------------------------------------------- */

/* Complete servers stand first in an import, and each run is in order: merged, a server that lacks a NIC stands where
 * it would stand with it. */
static fab_status order_servers(const fab_structure *in, halves *out, fab_error *err) {
    uint32_t complete = 0;
    uint32_t other = in->n_complete;
    FAB_PASS(FAB_NEW_ALL((size_t)in->n_servers + 1, err, out->order, out->of));
    for (uint32_t i = 0; i < in->n_servers; i++) {
        bool takes_complete =
            complete < in->n_complete &&
            (other == in->n_servers || fab_compare_names(in->server_name[complete], in->server_name[other]) <= 0);
        out->order[i] = takes_complete ? complete++ : other++;
    }
    return FAB_OK;
}

static void halve(const fab_structure *in, halves *out) {
    for (uint32_t i = 0; i < in->n_servers; i++) {
        out->of[out->order[i]] = i < in->n_servers / 2 ? HALF_FIRST : HALF_SECOND;
    }
}

typedef struct placed {
    const char *name;
    uint8_t half;
} placed;

/* The plan's name of a server: that of one of its adapters, where its own tells nothing; NULL: it is not planned. */
static const char *planned_name(const fab_structure *in, uint32_t server, const fab_audit *audit) {
    const fab_audit_server *named = bsearch(&in->server_name[server], audit->servers, audit->n_servers_named,
                                            sizeof *audit->servers, fab_order_text);
    const char *name = named != NULL ? named->planned : NULL;
    for (uint32_t i = 0; audit->planned_host != NULL && name == NULL && i < in->nics_per_server; i++) {
        uint32_t node = in->nic_node[(size_t)server * in->nics_per_server + i];
        name = node != FAB_NETWORK_NONE ? audit->planned_host[node] : NULL;
    }
    return name;
}

/* The half in which the plan has that server, whatever it calls it; servers that are not planned are in none. */
static fab_status halve_as(const fab_structure *plan, const halves *planned, const fab_structure *in,
                           const fab_audit *audit, halves *out, bool *out_any, fab_error *err) {
    *out_any = false;
    FAB_OWNED_NEW(placed, names, (size_t)plan->n_servers + 1, err);
    FAB_FILL(names, plan->n_servers, (placed){plan->server_name[fab_at], planned->of[fab_at]});
    qsort(names, plan->n_servers, sizeof *names, fab_order_text);
    for (uint32_t i = 0; i < in->n_servers; i++) {
        const char *name = planned_name(in, i, audit);
        const placed *found =
            name != NULL ? bsearch(&name, names, plan->n_servers, sizeof *names, fab_order_text) : NULL;
        out->of[i] = found != NULL ? found->half : (uint8_t)HALF_NONE;
        *out_any = *out_any || found != NULL;
    }
    return FAB_OK;
}

/* --- capacities --------------------------------------------------------------------------------------------------- */

static fab_status bisection_add(capacities *c, uint32_t tail, uint32_t head, bool both, double bps, fab_error *err) {
    c->lacks_rates = c->lacks_rates || bps <= 0;
    return fab_flow_edges_add(&c->edges, tail, head, both, bps, err);
}

static fab_status add_nic(capacities *c, uint8_t of_half, uint32_t leaf, uint32_t source, double bps, fab_error *err) {
    if (of_half == HALF_NONE) {
        return FAB_OK;
    }
    return of_half == HALF_FIRST ? bisection_add(c, source, leaf, false, bps, err)
                                 : bisection_add(c, leaf, source + 1, false, bps, err);
}

/* The rate of a cable, or of its tier where that is not known; what it is meant to have [cables] where it is slower. */
static double rate_of(const fab_structure *in, uint32_t cable, double usual_bps, const double *meant_bps) {
    double bps = in->net->cables[cable].rate_bps > 0 ? in->net->cables[cable].rate_bps : usual_bps;
    return meant_bps != NULL && meant_bps[cable] > bps ? meant_bps[cable] : bps;
}

/* Nodes are those of the installed network, then absent switches, source and sink. meant_bps NULL: as it stands. */
static fab_status add_present(const fab_structure *in, const halves *h, const double *meant_bps, uint32_t source,
                              capacities *c, fab_error *err) {
    size_t per_server = (size_t)in->nics_per_server * in->n_planes;
    for (size_t i = 0; i < in->n_servers * per_server; i++) {
        uint32_t side = in->nic_side[i];
        if (side != FAB_NETWORK_NONE) {
            FAB_PASS(add_nic(c, h->of[i / per_server], fab_network_far(in->net, side)->node, source,
                             rate_of(in, side >> 1, in->cable_bps[1], meant_bps), err));
        }
    }
    for (uint32_t t = 0; t < in->n_trunks; t++) {
        uint32_t side[2];
        fab_structure_trunk(in, t, side);
        uint32_t lower = fab_network_near(in->net, side[0])->node;
        uint32_t upper = fab_network_near(in->net, side[1])->node;
        double usual = in->cable_bps[in->is_tree ? in->switches[in->switch_of[upper]].tier : 2];
        FAB_PASS(bisection_add(c, lower, upper, true, rate_of(in, in->trunk[t], usual, meant_bps), err));
    }
    return FAB_OK;
}

/* Whether an adapter of the server is missing for itself, and not with its leaf. */
static bool has_own_finding(const fab_audit *audit, const char *server) {
    const fab_finding *f = audit->findings;
    FAB_ANY(found, i, audit->n_findings, f[i].kind == FAB_FINDING_MISSING_PORT && strcmp(f[i].node, server) == 0);
    return found;
}

/* Trunks as the audit knows them; and of the one leaf that is absent the NICs that servers lack.
 * *out_serves: there are such NICs, or no leaf is absent. */
static fab_status add_lacks(const fab_structure *in, const halves *h, const fab_audit *audit, uint32_t source,
                            capacities *c, bool *out_serves, fab_error *err) {
    *out_serves = audit->n_absent_leaves == 0;
    size_t per_server = (size_t)in->nics_per_server * in->n_planes;
    FAB_EACH(const fab_audit_lack, l, audit->lacks, audit->n_lacks) {
        FAB_PASS(bisection_add(c, l->node[0], l->node[1], true, l->cables * l->rate_bps, err));
    }
    for (uint32_t s = 0; audit->n_absent_leaves == 1 && s < in->n_servers; s++) {
        FAB_SUM_IN(uint32_t, n, i, s * per_server, (s + 1) * per_server, in->nic_side[i] == FAB_NETWORK_NONE);
        if (n > 0 && !has_own_finding(audit, in->server_name[s])) {
            *out_serves = true;
            FAB_PASS(add_nic(c, h->of[s], audit->absent_leaf, source, n * in->cable_bps[1], err));
        }
    }
    return FAB_OK;
}

/* --- what is known ------------------------------------------------------------------------------------------------ */

static void say(fab_audit_bisection *out, const char *why) {
    FAB_FORMAT(out->why, "%s", why);
}

/* Why there is no bisection; NULL: there is one. */
static const char *obstacle(const fab_structure *in) {
    if (in->net->is_tree_of_names) {
        return "it tells who is below whom, but no cables and no rates";
    }
    if (!in->knows_rates) {
        return "it has no rates";
    }
    return in->n_servers < 2 ? "it has fewer than two servers" : NULL;
}

/* Servers and tiers; *out is NULL, and `why` says why, where there are none. */
static fab_status import(fab_network **net, const char *whose, fab_structure **out, fab_audit_bisection *b,
                         fab_error *err) {
    static const fab_structure_options AS_IT_IS = {.is_fixed = true};
    fab_error inner = {0};
    char why[sizeof b->why];
    fab_status status = fab_structure_of(net, &AS_IT_IS, out, &inner);
    FAB_REFUSE_IF(status != FAB_OK && status != FAB_EINPUT && status != FAB_EUNSUPPORTED, err, status, inner.where,
                  "%s", inner.text);
    const char *reason = status == FAB_OK ? obstacle(*out) : inner.text;
    if (reason != NULL) {
        FAB_FORMAT(why, "%s: %.200s", whose, reason);
        say(b, why);
        fab_structure_free(*out);
        *out = NULL;
    }
    return FAB_OK;
}

static fab_status with_lacks(const fab_structure *in, const halves *h, uint32_t source, capacities *c, fab_audit *audit,
                             fab_error *err) {
    fab_audit_bisection *b = &audit->bisection;
    bool serves = false;
    if (audit->n_boundaries == 0) {
        say(b, "no regular structure tells what is missing");
        return FAB_OK;
    }
    for (uint32_t v = 0; v < in->net->n_nodes; v++) {
        if (in->net->nodes[v].lacks_record) {
            say(b, "the file is cut: nodes that it names have no record");
            return FAB_OK;
        }
    }
    if (audit->unplaced != NULL) {
        FAB_FORMAT(b->why, "the names do not tell what %.80s would be joined to", audit->unplaced);
        return FAB_OK;
    }
    if (audit->n_absent_leaves > 1) {
        FAB_FORMAT(b->why, "nothing tells which NICs belong to which of the %" PRIu32 " absent leaves",
                   audit->n_absent_leaves);
        return FAB_OK;
    }
    FAB_PASS(add_present(in, h, audit->meant_bps, source, c, err));
    FAB_PASS(add_lacks(in, h, audit, source, c, &serves, err));
    if (!serves) {
        say(b, "nothing tells which hosts the absent leaf would serve");
        return FAB_OK;
    }
    FAB_PASS(fab_max_flow(&c->edges, source, &b->planned_bps, NULL, err));
    b->knows_planned = true;
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        b->leaves_exchanged = b->leaves_exchanged || audit->findings[i].kind == FAB_FINDING_SWAPPED_HOSTS;
    }
    return FAB_OK;
}

static fab_status planned(const fab_structure *plan, const halves *h, fab_audit_bisection *b, fab_error *err) {
    capacities c = {.lacks_rates = false};
    FAB_OWNS_MEMBERS(c.edges.list);
    uint32_t source = plan->net->n_nodes;
    FAB_PASS(add_present(plan, h, NULL, source, &c, err));
    if (c.lacks_rates) {
        say(b, "the plan: it has tiers without any rate");
    } else {
        FAB_PASS(fab_max_flow(&c.edges, source, &b->planned_bps, NULL, err));
        b->knows_planned = true;
    }
    return FAB_OK;
}

FAB_FREES(bisection_release, halves, order, of);

/* Hosts of both halves that are exchanged stand below each other's leaves, where what they send to those beside them
 * takes no uplink: more crosses between these halves, and no more between others. Each then counts where it stands. */
static fab_status by_place(const fab_structure *in, halves *h, uint32_t source, fab_audit *audit, fab_error *err) {
    capacities c = {.lacks_rates = false};
    FAB_OWNS_MEMBERS(c.edges.list);
    double bps = 0;
    bool any = false;
    FAB_EACH(const fab_finding, f, audit->findings, audit->n_findings) {
        uint32_t server[2] = {FAB_NETWORK_NONE, FAB_NETWORK_NONE};
        for (uint32_t i = 0; f->kind == FAB_FINDING_SWAPPED_HOSTS && i < in->n_servers; i++) {
            const char *name = planned_name(in, i, audit);
            server[0] = name != NULL && strcmp(name, f->node) == 0 ? i : server[0];
            server[1] = name != NULL && strcmp(name, f->other) == 0 ? i : server[1];
        }
        if (server[0] != FAB_NETWORK_NONE && server[1] != FAB_NETWORK_NONE) {
            const uint8_t first = h->of[server[0]];
            any = any || first != h->of[server[1]];
            h->of[server[0]] = h->of[server[1]];
            h->of[server[1]] = first;
        }
    }
    if (any) {
        FAB_PASS(add_present(in, h, NULL, source, &c, err));
        FAB_PASS(fab_max_flow(&c.edges, source, &bps, NULL, err));
        audit->bisection.leaves_exchanged = bps < audit->bisection.present_bps;
        audit->bisection.present_bps = fmin(bps, audit->bisection.present_bps);
    }
    return FAB_OK;
}

fab_status fab_audit_bisect(fab_network **net, fab_network **plan, fab_audit *audit, fab_error *err) {
    fab_audit_bisection *b = &audit->bisection;
    FAB_OWNS(fab_structure_free_owned) fab_structure *in = NULL;
    FAB_OWNS(fab_structure_free_owned) fab_structure *meant = NULL;
    FAB_OWNS(bisection_release) halves here = {.order = NULL};
    FAB_OWNS(bisection_release) halves there = {.order = NULL};
    capacities c = {.lacks_rates = false};
    FAB_OWNS_MEMBERS(c.edges.list);
    bool has_plan = *plan != NULL;
    bool any = true;
    FAB_PASS(import(net, "the file", &in, b, err));
    FAB_PASS(in != NULL && has_plan ? import(plan, "the plan", &meant, b, err) : FAB_OK);
    if (in == NULL) {
        return FAB_OK;
    }
    uint32_t source = in->net->n_nodes + audit->n_absent;
    FAB_PASS(order_servers(in, &here, err));
    halve(in, &here);
    if (meant != NULL) {
        FAB_PASS(order_servers(meant, &there, err));
        halve(meant, &there);
        FAB_PASS(halve_as(meant, &there, in, audit, &here, &any, err));
    }
    if (!any) {
        say(b, "no server of the file is known in the plan");
        return FAB_OK;
    }
    FAB_PASS(add_present(in, &here, NULL, source, &c, err));
    if (c.lacks_rates) {
        say(b, "the file: it has tiers without any rate");
        return FAB_OK;
    }
    FAB_PASS(fab_max_flow(&c.edges, source, &b->present_bps, NULL, err));
    b->is_known = true;
    if (meant != NULL) {
        FAB_PASS(planned(meant, &there, b, err));
        FAB_PASS(fab_audit_bisection_gains(b) ? by_place(in, &here, source, audit, err) : FAB_OK);
    } else if (!has_plan) {
        FAB_PASS(with_lacks(in, &here, source, &c, audit, err));
    }
    return FAB_OK;
}

/* In which racks the boxes of an audit stand. */

/* Of a switch, an adapter or a server, by the name that the plan has for it. */
static uint32_t rack_of(const fab_fabric *plan, const fab_floor *floor, const char *name) {
    const fab_racks racks = fab_floor_racks(floor);
    fab_component part;
    fab_node_id v = fab_ib_find_description(plan, name, strlen(name));
    if (v != FAB_NONE) {
        return fab_floor_rack_of(floor, plan, v);
    }
    bool is_server =
        fab_component_parse(plan, &racks, name, &part, NULL) == FAB_OK && part.kind == FAB_COMPONENT_SERVER;
    return is_server ? fab_racks_of_server(&racks, part.id) : FAB_NETWORK_NONE;
}

void fab_audit_find_racks(fab_audit *audit, const fab_fabric *plan, const fab_floor *floor, bool is_said) {
    for (uint32_t i = 0; i < 2 * audit->n_findings; i++) {
        fab_finding *f = &audit->findings[i / 2];
        fab_audit_spot *spot = &f->at[i % 2];
        spot->rack = rack_of(plan, floor, i % 2 == 0 ? f->node : f->other);
        if (is_said && spot->rack != FAB_NETWORK_NONE) {
            (void)fab_rack_name(&floor->rack[spot->rack], spot->rack_name);
        }
    }
}
