/* Ports of leaves. Where all adapters of a server are at the same port of their leaves, as they are in nearly every
 * server, one at another port stands where its siblings say that it does not belong, whoever is at its port: another
 * host, an adapter without a name, or none. */
#include "audit_plugs.h"

#include "fab/str.h"

#define LEAST    8    /* servers that make a rule, of LEAST_OF ports and more */
#define LEAST_OF 3    /* ports, most of which say where the others belong */
#define MOST_OUT 0.04 /* part of the adapters that stand elsewhere */

static const char *port_of(const audit_plugs *p, const audit_plug *x) {
    return fab_audit_port(fab_network_far(p->a->net, x->side));
}

/* The port that half of the adapters of a server have, and of no other as many; or NULL. */
static const char *usual_port(const audit_plugs *p, uint32_t server) {
    const uint32_t n = audit_n_ports(p, server);
    const char *usual = "";
    uint32_t most = 0;
    bool is_tied = false;
    for (uint32_t i = p->first[server]; n >= LEAST_OF && i < p->first[server + 1]; i++) {
        const char *port = port_of(p, &p->plug[i]);
        FAB_SUM_IN(uint32_t, n_same, k, p->first[server], p->first[server + 1],
                   strcmp(port_of(p, &p->plug[k]), port) == 0);
        is_tied = n_same == most ? is_tied || strcmp(port, usual) != 0 : is_tied && n_same < most;
        usual = n_same > most ? port : usual;
        most = n_same > most ? n_same : most;
    }
    return 2 * most >= n && !is_tied && usual[0] != '\0' ? usual : NULL;
}

/* Whether it is on the leaf of its peers, but not at the port of its siblings. */
static bool is_elsewhere(const audit_plugs *p, const audit_plug *x, const char *const *usual) {
    return !x->is_told && usual[x->server] != NULL && strcmp(port_of(p, x), usual[x->server]) != 0 &&
           audit_home_leaf(p, p->home_of[x->server], x->column) == x->leaf;
}

/* The end of the leaf at a port, or NULL: nothing is there. */
static const fab_network_end *end_at(const audit_plugs *p, uint32_t leaf, const char *port) {
    const fab_shape *shape = p->a->shape;
    for (uint32_t j = shape->first[leaf]; j < shape->first[leaf + 1]; j++) {
        const fab_network_end *end = fab_network_near(p->a->net, shape->side[j]);
        if (strcmp(fab_audit_port(end), port) == 0) {
            return end;
        }
    }
    return NULL;
}

/* Of one leaf, whoever has a port; NULL: no adapter that is known by name. */
static audit_plug *plug_at(audit_plugs *p, uint32_t leaf, const char *port) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->plug[i].leaf == leaf && strcmp(port_of(p, &p->plug[i]), port) == 0) {
            return &p->plug[i];
        }
    }
    return NULL;
}

/* Those of a round are at their ports from now on, for what is asked behind. */
static void put_back(audit_plugs *p, audit_plug *x, const char *const *usual) {
    const uint32_t side = x->side;
    for (audit_plug *next = x; next != NULL; x = next) {
        x->is_told = false;
        next = plug_at(p, x->leaf, usual[x->server]);
        x->side = next != NULL ? next->side : side;
    }
}

/* Whether one that belongs on another leaf is where it, or one that follows from it, belongs. */
static bool leads_to_guest(audit_plugs *p, const audit_plug *x, const char *const *usual) {
    const audit_plug *next = x;
    do {
        next = plug_at(p, x->leaf, usual[next->server]);
    } while (next != NULL && next != x && is_elsewhere(p, next, usual));
    return next != NULL && next->should != FAB_NETWORK_NONE && !next->is_told;
}

/* One that is elsewhere, and all that follow from it: who is at its port, if that is elsewhere too, and so on. */
static fab_status tell_round(audit_plugs *p, audit_plug *x, const char *const *usual, double confidence,
                             fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str moves = FAB_STR_INIT;
    audit_plug *next = x;
    uint32_t n = 0;
    do {
        fab_str_printf(&moves, "%s'%s' on port %s", n > 0 ? ", " : "", fab_audit_label(p->a, next->node),
                       usual[next->server]);
        next->is_told = true;
        n++;
        next = plug_at(p, x->leaf, usual[next->server]);
    } while (next != NULL && is_elsewhere(p, next, usual));
    FAB_PASS(fab_str_status(&moves, err));
    const bool is_round = next == x;
    if (n == 2 && is_round) {
        const audit_plug *y = plug_at(p, x->leaf, usual[x->server]);
        FAB_PASS(audit_report_exchange(p->a, FAB_FINDING_SWAPPED_HOSTS, x, y, confidence, err));
        put_back(p, x, usual);
        return FAB_OK;
    }
    const fab_network_end *at = fab_network_far(p->a->net, x->side);
    const fab_network_end *other = n == 1 ? end_at(p, x->leaf, usual[x->server]) : NULL;
    const fab_network_end own = audit_plug_end(p, x);
    fab_finding f = fab_audit_finding(p->a, FAB_FINDING_SWAPPED_HOSTS, at, other != NULL ? other : &own);
    f.confidence = confidence;
    f.cables = other != NULL ? 2 : n;
    f.line = at->line;
    if (n > 1) {
        FAB_PASS(fab_audit_tell(
            p->a, &f, err,
            "%u cables are at other ports of this leaf than the others of their hosts are at" FAB_AUDIT_WORK
            "Plug them into %s anew: %s.",
            n, f.node, moves.data));
        if (is_round) {
            put_back(p, x, usual);
        }
        return FAB_OK;
    }
    const char *name = fab_audit_label(p->a, x->node);
    return fab_audit_tell(p->a, &f, err,
                          "'%s' is at port %s; most others of its host are at port %s of their leaves" FAB_AUDIT_WORK
                          "%s: '%s' belongs on %s, port %s.",
                          name, f.port, usual[x->server],
                          other != NULL ? "Exchange the two cables at the leaf" : "Move the cable", name, f.node,
                          usual[x->server]);
}

fab_status audit_plugs_ports(audit_plugs *p, bool all, fab_error *err) {
    FAB_OWNED const char **usual = NULL;
    const uint32_t n_servers = p->a->shape->n_servers;
    uint32_t n_ruled = 0;
    uint32_t n_all = 0;
    uint32_t n_out = 0;
    FAB_PASS(FAB_NEW(usual, (size_t)n_servers + 1, err));
    for (uint32_t s = 0; s < n_servers; s++) {
        usual[s] = usual_port(p, s);
        n_ruled += usual[s] != NULL;
        for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++) {
            n_all++;
            n_out += usual[s] == NULL || strcmp(port_of(p, &p->plug[i]), usual[s]) != 0;
        }
    }
    for (uint32_t i = 0; n_ruled >= LEAST && n_out <= MOST_OUT * n_all && i < p->n; i++) {
        if (is_elsewhere(p, &p->plug[i], usual) && (all || !leads_to_guest(p, &p->plug[i], usual))) {
            FAB_PASS(tell_round(p, &p->plug[i], usual, fab_audit_confidence(n_all - n_out, n_all), err));
        }
    }
    return FAB_OK;
}
