/* Hosts: adapters that are elsewhere than their peers', and those that are not in the network. */
#include "audit_plugs.h"

#include "../structure/box_names.h"

#include "fab/str.h"

#define NONE       FAB_NETWORK_NONE
#define EITHER     0.5 /* sure of a leaf where another may be it as well */
#define MOST_NAMED 8

/* --- adapters that are elsewhere ---------------------------------------------------------------------------------- */

static uint32_t rail_of(const auditor *a, uint32_t leaf) {
    return a->shape->rail[leaf];
}

fab_status audit_report_exchange(auditor *a, fab_finding_kind kind, const audit_plug *p, const audit_plug *q,
                                 double confidence, bool is_open, fab_error *err) {
    const fab_network_end *one = fab_network_far(a->net, p->side);
    const fab_network_end *two = fab_network_far(a->net, q->side);
    fab_finding f = fab_audit_finding(a, kind, one, two);
    bool same = p->node == q->node;
    f.confidence = confidence;
    f.damage_bps = p->leaf != q->leaf ? 2 * a->net->cables[p->side >> 1].rate_bps : 0;
    f.cables = 2;
    f.line = one->line;
    const char *node = fab_audit_label(a, p->node);
    FAB_PASS(fab_audit_text(a, &f.text, err,
                            same                                ? "the two ports of '%s' are on each other's plane"
                            : kind == FAB_FINDING_SWAPPED_RAILS ? "'%s' and '%s' are on each other's rail"
                            : is_open                           ? "'%s' and '%s' are at each other's leaf"
                                                                : "'%s' and '%s' are at each other's port",
                            node, fab_audit_label(a, q->node)));
    return fab_audit_tell(a, &f, err,
                          "%s" FAB_AUDIT_WORK "Exchange the two cables at the %s: '%s'%s%s belongs on %s%s%s.", f.text,
                          p->leaf == q->leaf ? "leaf" : "leaves", node, same ? ", port " : "",
                          same ? fab_audit_port(fab_network_near(a->net, p->side)) : "", f.other,
                          f.other_port[0] == '\0' ? ""
                          : is_open               ? ", not for sure at port "
                                                  : ", port ",
                          f.other_port);
}

fab_status audit_report_servers(const audit_plugs *p, uint32_t one, uint32_t two, double confidence, fab_error *err) {
    const auditor *a = p->a;
    const uint32_t of[2] = {one, two};
    const audit_plug *at[2] = {NULL, NULL};
    fab_finding f = {.kind = FAB_FINDING_SWAPPED_HOSTS, .confidence = confidence};
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = p->first[of[k]]; i < p->first[of[k] + 1]; i++) {
            const audit_plug *plug = &p->plug[i];
            const audit_plug *other = audit_plug_of(p, of[1 - k], plug->column);
            if (plug->is_told && (other == NULL || other->is_told)) {
                at[k] = at[k] == NULL ? plug : at[k];
                a->ruled[plug->side >> 1] = true;
                f.cables++;
                f.damage_bps +=
                    other == NULL || other->leaf != plug->leaf ? a->net->cables[plug->side >> 1].rate_bps : 0;
            }
        }
    }
    f.line = fab_network_far(a->net, at[0]->side)->line;
    f.node = a->shape->server_name[one];
    f.other = a->shape->server_name[two];
    char where[400] = "port";
    if (at[0]->leaf != at[1]->leaf) {
        FAB_FORMAT(where, "leaf: the names around %.80s are on %.80s, those around %.80s on %.80s", f.node,
                   fab_audit_label(a, at[1]->leaf), f.other, fab_audit_label(a, at[0]->leaf));
    }
    return f.cables == audit_n_ports(p, one) + audit_n_ports(p, two)
               ? fab_audit_tell(p->a, &f, err,
                                "all %u cables of both are at each other's %s" FAB_AUDIT_WORK
                                "Exchange the two boxes, or their names, or their %u cables.",
                                f.cables, where, f.cables)
               : fab_audit_tell(p->a, &f, err,
                                "%u cables of both are at each other's %s; of the others names do not say "
                                "so" FAB_AUDIT_WORK "Exchange these %u cables, and look where the others of both lead.",
                                f.cables, where, f.cables);
}

static int64_t n_host_cables(const auditor *a, uint32_t leaf) {
    FAB_SUM_IN(int64_t, n, j, a->shape->first[leaf], a->shape->first[leaf + 1],
               fab_network_is_host(a->net, fab_network_far(a->net, a->shape->side[j])->node));
    return n;
}

/* Whether one that belongs elsewhere is on the leaf that it should be on. */
static bool has_guest(const audit_plugs *p, const audit_plug *x) {
    FAB_ANY(found, i, p->n, p->plug[i].leaf == x->should && p->plug[i].should != NONE);
    return found;
}

/* Whether a host of the next or the last number is on the same leaf, or the leaf that it should be on has no guest:
 * where that lacks none, nobody's place there is left. */
static bool is_explained(const audit_plugs *p, const audit_plug *x, bool is_full) {
    FAB_ANY(is_beside, i, p->n,
            p->plug[i].leaf == x->leaf && llabs((int64_t)p->rank[p->plug[i].server] - p->rank[x->server]) == 1);
    return is_beside || (is_full && !has_guest(p, x));
}

/* Whether hosts are spread so on purpose: they fill one leaf after the other, so that of one a part is on the next, and
 * spares are where ports are left. One that is moved leaves one too few, and is one too many where it goes. */
static bool is_spread_so(const audit_plugs *p, const audit_plug *x) {
    const auditor *a = p->a;
    const int64_t n_should = n_host_cables(a, x->should);
    const int64_t n_here = n_host_cables(a, x->leaf);
    const uint32_t tier = a->shape->tier[x->should];
    int64_t most = 0; /* of the others */
    for (uint32_t i = a->tier_first[tier]; i < a->tier_first[tier + 1]; i++) {
        const uint32_t leaf = a->in_tier[i];
        const int64_t n = leaf != x->leaf && leaf != x->should ? n_host_cables(a, leaf) : 0;
        most = n > most ? n : most;
    }
    return (n_should >= most || n_here == most || llabs(n_should - n_here) <= 1) &&
           is_explained(p, x, most > 0 && n_should >= most && n_should >= n_here);
}

fab_status audit_report_astray(audit_plugs *plugs, audit_plug *p, double confidence, fab_error *err) {
    auditor *a = plugs->a;
    const fab_network_end *end = fab_network_far(a->net, p->side);
    const fab_network_end own = audit_plug_end(plugs, p);
    uint32_t here = rail_of(a, p->leaf);
    uint32_t there = rail_of(a, p->should);
    bool is_rail = here != NONE && there != NONE && here != there;
    fab_finding f = fab_audit_finding(a, is_rail ? FAB_FINDING_WRONG_RAIL : FAB_FINDING_WRONG_LEAF, &own, end);
    f.confidence = confidence;
    f.damage_bps = a->net->cables[p->side >> 1].rate_bps;
    f.line = end->line;
    const bool has_port = p->port > 0 && audit_port_is_free(plugs, p->should, p->port); /* its place is left */
    if (!has_port && (fab_audit_is_whole(a, p->should) || is_spread_so(plugs, p))) {    /* servers are dealt so */
        return FAB_OK;
    }
    p->is_told = true;
    const char *leaf = fab_audit_label(a, p->should);
    char port[32] = "";
    if (has_port) {
        FAB_FORMAT(port, ", port %u", p->port);
    }
    if (p->or_else != NONE) {
        const char *other = fab_audit_label(a, p->or_else);
        f.confidence = EITHER * confidence;
        return fab_audit_tell(
            a, &f, err,
            "the names around it are on %.100s and on %.100s: it belongs on one of them" FAB_AUDIT_WORK
            "Look which of %.100s and %.100s lacks it, and move the cable there.",
            leaf, other, leaf, other);
    }
    return is_rail ? fab_audit_tell(a, &f, err,
                                    "this adapter is number %u of its host, on a leaf of number %u" FAB_AUDIT_WORK
                                    "Move the cable to %s%s.",
                                    there, here, leaf, port)
                   : fab_audit_tell(a, &f, err,
                                    "its peers say that it belongs on %s" FAB_AUDIT_WORK "Move the cable to %s%s.",
                                    leaf, leaf, port);
}

static double confidence_of(const audit_plugs *p, uint32_t server) {
    return fab_audit_confidence(p->n_peers[server], p->n_kind[server]);
}

/* Whether the siblings of one say that it belongs at another port than that where y is. */
static bool is_other_port(const audit_plugs *p, const audit_plug *x, const audit_plug *y) {
    return x->port != 0 && x->port != audit_port_number(p, y);
}

/* Two of one server, or one each of two: each where the other belongs. */
static fab_status tell_exchanges(audit_plugs *p, bool of_one_server, fab_error *err) {
    uint32_t n = 0;
    FAB_OWNED_NEW(uint32_t, astray, (size_t)p->n + 1, err);
    FAB_KEEP(astray, n, i, p->n, p->plug[i].should != NONE, i);
    for (uint32_t i = 0; i < n; i++) {
        audit_plug *x = &p->plug[astray[i]];
        for (uint32_t k = i + 1; !x->is_told && k < n && k < i + 4096; k++) {
            audit_plug *y = &p->plug[astray[k]];
            const bool same = x->server == y->server;
            const bool is_in_ring = x->place != astray[i] || y->place != astray[k]; /* ports say who with whom */
            if (y->is_told || is_in_ring || same != of_one_server || x->should != y->leaf || y->should != x->leaf) {
                continue;
            }
            const bool rails = rail_of(p->a, x->leaf) != rail_of(p->a, y->leaf);
            FAB_SUM_IN(uint32_t, n_like, j, i + 1, n,
                       p->plug[astray[j]].should == x->leaf && p->plug[astray[j]].leaf == x->should);
            const bool is_open = (n_like > 1 && !p->have_ports) || is_other_port(p, x, y) || is_other_port(p, y, x);
            x->is_told = y->is_told = true;
            FAB_PASS(audit_report_exchange(p->a,
                                           x->node == y->node ? FAB_FINDING_MIXED_PLANES
                                           : same && rails    ? FAB_FINDING_SWAPPED_RAILS
                                                              : FAB_FINDING_SWAPPED_HOSTS,
                                           x, y, confidence_of(p, x->server), is_open, err));
        }
    }
    for (uint32_t i = 0; i < n && !of_one_server; i++) {
        audit_plug *x = &p->plug[astray[i]];
        if (!x->is_told) {
            FAB_PASS(audit_report_astray(p, x, confidence_of(p, x->server), err));
        }
    }
    return FAB_OK;
}

/* --- adapters that are not there ---------------------------------------------------------------------------------- */

static bool has_column(const audit_plugs *p, uint32_t server, uint32_t column, bool any_port) {
    FAB_ANY_IN(found, i, p->first[server], p->first[server + 1],
               p->plug[i].column == column || (any_port && audit_slot(p->plug[i].column) == audit_slot(column)));
    return found;
}

/* Whether a server that has been put back stood where nobody has a port: its own leads to what is not there. */
static bool is_hidden(const audit_plugs *p, uint32_t server, uint32_t column) {
    const uint32_t stood = p->stood[server];
    return stood != NONE && stood != p->home_of[server] && audit_home_leaf(p, stood, column) == NONE;
}

/* An adapter that gives no host, at the leaf where this one belongs, at the port where this server's others are. */
static bool has_nameless(const audit_plugs *p, uint32_t server, uint32_t column) {
    const auditor *a = p->a;
    const uint32_t leaf = audit_home_leaf(p, p->home_of[server], column);
    for (uint32_t k = leaf != NONE ? a->shape->first[leaf] : 0; leaf != NONE && k < a->shape->first[leaf + 1]; k++) {
        uint32_t node = fab_network_far(a->net, a->shape->side[k])->node;
        const char *port = fab_network_near(a->net, a->shape->side[k])->port;
        if (!fab_network_is_host(a->net, node) || a->shape->server[node] != NONE || port == NULL) {
            continue;
        }
        for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
            const char *own = fab_network_far(a->net, p->plug[i].side)->port;
            if (own != NULL && strcmp(own, port) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Servers of its home that lack a port as well; of servers without a home, those beside it by name. */
static uint32_t count_lacking(const audit_plugs *p, uint32_t server, uint32_t column) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->a->shape->n_servers; s++) {
        bool is_near = p->home_of[server] != NONE
                           ? p->home_of[s] == p->home_of[server]
                           : p->rank[s] + 8 >= p->rank[server] && p->rank[s] <= p->rank[server] + 8;
        n += is_near && p->pattern[s] == p->pattern[server] && !has_column(p, s, column, false);
    }
    return n;
}

/* The last leaf, by name, of the role of one. */
static uint32_t last_like(const auditor *a, uint32_t leaf) {
    fab_box_name name;
    uint32_t last = leaf;
    fab_box_name like = fab_box_name_of(a->net->nodes[leaf].label);
    for (uint32_t i = a->tier_first[1]; i < a->tier_first[2]; i++) {
        name = fab_box_name_of(a->net->nodes[a->in_tier[i]].label);
        last = fab_box_role_compare(&name, &like) == 0 && name.before == like.before ? a->in_tier[i] : last;
    }
    return last;
}

/* A whole home lacks a port that others have: its leaf is not there. Once for each home. */
static fab_status report_leaf(audit_plugs *p, uint32_t server, uint32_t n_servers, uint8_t *told, fab_error *err) {
    auditor *a = p->a;
    uint32_t last = last_like(a, p->plug[p->first[server]].leaf);
    fab_finding f = {.kind = FAB_FINDING_ABSENT_SWITCH,
                     .confidence = fab_audit_confidence(n_servers, n_servers + 1.0),
                     .cables = n_servers,
                     .damage_bps = n_servers * a->usual_bps[1]};
    if (told[p->home_of[server]] != 0) {
        return FAB_OK;
    }
    told[p->home_of[server]] = 1;
    FAB_PASS(fab_audit_next_name(a, last, 1, &f.node, err));
    return fab_audit_tell(
        a, &f, err,
        "%u servers, %s among them, lack the same adapter that others have: their leaf is not there" FAB_AUDIT_WORK
        "Install %s, or switch it on.",
        n_servers, a->shape->server_name[server], f.node);
}

static fab_status report_missing(audit_plugs *p, uint32_t server, const uint32_t *column, uint32_t n, fab_error *err) {
    auditor *a = p->a;
    uint32_t slot = audit_slot(column[0]);
    bool is_port = n == 1 && has_column(p, server, column[0], true);
    FAB_ALL_IN(same_slot, i, 1, n, audit_slot(column[i]) == slot);
    fab_finding f = {.kind = is_port ? FAB_FINDING_DEAD_PORT : FAB_FINDING_MISSING_PORT,
                     .confidence = confidence_of(p, server),
                     .damage_bps = n * a->usual_bps[1],
                     .cables = n,
                     .node = a->shape->server_name[server]};
    FAB_PASS(fab_audit_text(a, &f.work, err, "Look for adapter %u (HCA-%u, mlx5_%u) of %s and its cable.", slot,
                            slot + 1, slot, f.node));
    a->out->boundary[0].planned += n;
    if (is_port) {
        FAB_PASS(fab_audit_text(a, &f.port, err, "%u", column[0] % 64));
        return fab_audit_tell(a, &f, err, "port %s of its adapter %u has no cable that comes up; that of its peers has",
                              f.port, slot);
    }
    return same_slot ? fab_audit_tell(a, &f, err,
                                      "its adapter of rail %u is not in the network; those of its peers are", slot)
                     : fab_audit_tell(a, &f, err, "%u of its ports are not in the network; those of its peers are", n);
}

/* Whether a server that spreads over two leaves has the other one beside an absent leaf, by number. */
static bool is_beside_absent(const audit_plugs *p, uint32_t server) {
    const auditor *a = p->a;
    bool found = false;
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        fab_box_name own = fab_box_name_of(a->net->nodes[p->plug[i].leaf].label);
        for (uint32_t k = 0; own.n > 0 && k < a->out->n_absent; k++) {
            fab_box_name other = fab_box_name_of(a->absent[k].name);
            uint64_t x = own.at[own.n - 1];
            uint64_t y = other.n == own.n ? other.at[own.n - 1] : x;
            found = found || (a->absent[k].tier == 1 && fab_box_role_compare(&own, &other) == 0 && x != y &&
                              (x + 1 == y || y + 1 == x));
        }
    }
    return found;
}

#define MOST_MISSING 64

static fab_status look_for_missing(audit_plugs *p, uint32_t server, uint8_t *told, fab_error *err) {
    auditor *a = p->a;
    uint32_t like = p->template_[server];
    uint32_t column[MOST_MISSING];
    uint32_t n = 0;
    uint32_t own = p->first[server + 1] - p->first[server];
    for (uint32_t i = p->first[like]; i < p->first[like + 1] && n < MOST_MISSING; i++) {
        const uint32_t c = p->plug[i].column;
        if (!has_column(p, server, c, false) && !has_nameless(p, server, c) && !is_hidden(p, server, c)) {
            column[n++] = c;
        }
    }
    if (n == 0 || 2 * n > own + n) { /* most of them: another kind of server */
        return FAB_OK;
    }
    uint32_t lacking = count_lacking(p, server, column[0]);
    bool is_home = p->home_of[server] != NONE && lacking > 2 && lacking == p->home[p->home_of[server]].n_all;
    if (is_home && !a->lacks_leaf) {
        return 4 * n <= own + n ? report_leaf(p, server, lacking, told, err) : FAB_OK;
    }
    if (is_home || (a->lacks_leaf && (n > 1 || lacking > 1 || is_beside_absent(p, server))) ||
        (p->home_of[server] == NONE && p->n_peers[server] < FAB_AUDIT_NEARLY * p->n_kind[server])) {
        return FAB_OK; /* it lost them with the leaf, or there is no rule */
    }
    return report_missing(p, server, column, n, err);
}

/* Whether the leaf where one should be has a guest, and fewer hosts of its own, native [node], than most: someone's
 * place is taken, where that of a spare at a port that was left is not. */
static bool is_missed(const audit_plugs *p, const audit_plug *x, const int64_t *native) {
    const auditor *a = p->a;
    const uint32_t first = a->tier_first[a->shape->tier[x->should]];
    const uint32_t end = a->tier_first[a->shape->tier[x->should] + 1];
    FAB_SUM_IN(uint32_t, n_more, i, first, end, native[a->in_tier[i]] > native[x->should]);
    return 2 * n_more >= end - first && has_guest(p, x);
}

/* What stands elsewhere than names, or the peers of its server, say, and is no finding: its servers are named. */
static fab_status name_left(const audit_plugs *p, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str names = FAB_STR_INIT;
    uint32_t last = NONE;
    uint32_t n = 0;
    FAB_OWNED_NEW(int64_t, native, (size_t)p->a->net->n_nodes + 1, err);
    for (uint32_t i = 0; i < p->n; i++) {
        native[p->plug[i].leaf] += p->plug[i].should == NONE;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        const audit_plug *x = &p->plug[i];
        const bool is_left = !x->is_told && (x->should == NONE ? x->is_left : is_missed(p, x, native));
        if (is_left && x->server != last && n++ < MOST_NAMED) {
            fab_str_printf(&names, "%s%.120s", n > 1 ? ", " : "", p->a->shape->server_name[x->server]);
        }
        last = is_left ? x->server : last;
        p->a->out->n_left += is_left;
    }
    FAB_PASS(fab_str_status(&names, err));
    p->a->out->n_hosts_left = n;
    FAB_FORMAT(p->a->out->hosts_left, "%s%s", n > 0 ? names.data : "", n > MOST_NAMED ? ", ..." : "");
    return FAB_OK;
}

fab_status fab_audit_hosts(auditor *a, fab_error *err) {
    FAB_OWNS(audit_plugs_release) audit_plugs p = {.a = a};
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        a->out->boundary[0].present += fab_audit_boundary_of(a, c) == 1;
    }
    a->out->boundary[0].planned = a->out->boundary[0].present;
    a->out->n_out_of_order = a->out->n_out_of_port_order = a->out->boundary[0].present;
    if (a->net->is_tree_of_names || a->shape->n_servers == 0 || a->shape->n_tiers == 0) {
        return FAB_OK;
    }
    FAB_PASS(audit_plugs_find(a, &p, err));
    FAB_PASS(audit_plugs_rows(&p, err));
    FAB_PASS(audit_plugs_compare(&p, err));
    FAB_OWNED_NEW(uint8_t, told, (size_t)a->shape->n_servers + 1, err);
    FAB_PASS(audit_plugs_ports(&p, false, err));
    FAB_PASS(tell_exchanges(&p, true, err));
    FAB_PASS(audit_plugs_order(&p, err));
    FAB_PASS(tell_exchanges(&p, false, err));
    for (uint32_t s = 0; s < a->shape->n_servers; s++) {
        FAB_PASS(p.template_[s] != NONE && p.template_[s] != s ? look_for_missing(&p, s, told, err) : FAB_OK);
    }
    FAB_PASS(audit_plugs_ports(&p, true, err));
    FAB_PASS(name_left(&p, err));
    return audit_plugs_gaps(&p, err);
}
