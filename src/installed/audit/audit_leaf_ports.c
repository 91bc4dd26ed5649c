/* Ports of leaves. Where all adapters of a server are at the same port of their leaves, as they are in nearly every
 * server, one at another port stands where its siblings say that it does not belong, whoever is at its port: another
 * host, an adapter without a name, or none. */
#include "audit_plugs.h"

#include "fab/str.h"

#define LEAST    8 /* servers that make a rule, of LEAST_OF ports and more */
#define LEAST_OF 3 /* ports, most of which say where the others belong */
#define NONE     FAB_NETWORK_NONE
#define MOST_OUT 0.04 /* part of the adapters that stand elsewhere */

static const char *port_of(const audit_plugs *p, const audit_plug *x) {
    return fab_audit_port(fab_network_far(p->a->net, x->side));
}

/* The port that half of the adapters of a server have on the leaves of its peers, and of no other as many; or NULL. */
static const char *usual_port(const audit_plugs *p, uint32_t server) {
    const uint32_t n = audit_n_ports(p, server);
    const char *usual = "";
    uint32_t most = 0;
    bool is_tied = false;
    for (uint32_t i = p->first[server]; n >= LEAST_OF && i < p->first[server + 1]; i++) {
        const char *port = port_of(p, &p->plug[i]);
        FAB_SUM_IN(uint32_t, n_same, k, p->first[server], p->first[server + 1],
                   strcmp(port_of(p, &p->plug[k]), port) == 0 &&
                       audit_home_leaf(p, p->home_of[server], p->plug[k].column) == p->plug[k].leaf);
        is_tied = n_same == most ? is_tied || strcmp(port, usual) != 0 : is_tied && n_same < most;
        usual = n_same > most ? port : usual;
        most = n_same > most ? n_same : most;
    }
    return 2 * most >= n && !is_tied && usual[0] != '\0' ? usual : NULL;
}

/* The leaf of its peers; NONE: it is told, or has no port that its siblings have. */
static uint32_t leaf_of(const audit_plugs *p, const audit_plug *x, const char *const *usual) {
    return x->is_told || x->place != x - p->plug || usual[x->server] == NULL
               ? NONE
               : audit_home_leaf(p, p->home_of[x->server], x->column);
}

/* Whether it is on another leaf than its peers, or at another port than its siblings. */
static bool is_elsewhere(const audit_plugs *p, const audit_plug *x, const char *const *usual) {
    const uint32_t leaf = leaf_of(p, x, usual);
    return leaf != NONE && (leaf != x->leaf || strcmp(port_of(p, x), usual[x->server]) != 0);
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

/* Who is where one belongs; NULL: no adapter that is known by name. */
static audit_plug *plug_in_place(audit_plugs *p, const audit_plug *x, const char *const *usual) {
    const uint32_t leaf = leaf_of(p, x, usual);
    FAB_FIRST(i, p->n, p->plug[i].leaf == leaf && strcmp(port_of(p, &p->plug[i]), usual[x->server]) == 0);
    return leaf != NONE && i < p->n ? &p->plug[i] : NULL;
}

/* Fills member [servers] with one that is elsewhere and all that follow from it: who is in its place, if that is
 * elsewhere too, and so on; each of another server. Returns how many; *out_end is who is in the place of the last. */
static uint32_t follow(audit_plugs *p, const audit_plug *x, const char *const *usual, uint32_t *member,
                       const audit_plug **out_end) {
    uint32_t n = 0;
    bool is_new = true;
    *out_end = x;
    do {
        member[n++] = (uint32_t)(*out_end - p->plug);
        *out_end = plug_in_place(p, *out_end, usual);
        FAB_ANY(is_known, k, n, *out_end != NULL && p->plug[member[k]].server == (*out_end)->server);
        is_new = !is_known;
    } while (*out_end != NULL && is_new && is_elsewhere(p, *out_end, usual));
    return n;
}

/* One at another port of its leaf, and those that follow from it there, where the last has its place free. */
static fab_status tell_chain(audit_plugs *p, const uint32_t *member, uint32_t n, const char *const *usual,
                             double confidence, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str moves = FAB_STR_INIT;
    const audit_plug *x = &p->plug[member[0]];
    const char *name = fab_audit_label(p->a, x->node);
    const fab_network_end *at = fab_network_far(p->a->net, x->side);
    const fab_network_end *other = n == 1 ? end_at(p, x->leaf, usual[x->server]) : NULL;
    const fab_network_end own = audit_plug_end(p, x);
    fab_finding f = fab_audit_finding(p->a, FAB_FINDING_SWAPPED_HOSTS, at, other != NULL ? other : &own);
    f.confidence = confidence;
    f.cables = other != NULL ? 2 : n;
    f.line = at->line;
    for (uint32_t k = 0; k < n; k++) {
        audit_plug *next = &p->plug[member[k]];
        fab_str_printf(&moves, "%s'%s' on port %s", k > 0 ? ", " : "", fab_audit_label(p->a, next->node),
                       usual[next->server]);
        next->is_told = true;
    }
    FAB_PASS(fab_str_status(&moves, err));
    return n > 1 ? fab_audit_tell(p->a, &f, err,
                                  "%u cables are at other ports of this leaf than the others of their hosts are "
                                  "at" FAB_AUDIT_WORK "Plug them into %s anew: %s.",
                                  n, f.node, moves.data)
                 : fab_audit_tell(p->a, &f, err,
                                  "'%s' is at port %s; most others of its host are at port %s of their "
                                  "leaves" FAB_AUDIT_WORK "%s: '%s' belongs on %s, port %s.",
                                  name, f.port, usual[x->server],
                                  other != NULL ? "Exchange the two cables at the leaf" : "Move the cable", name,
                                  f.node, usual[x->server]);
}

/* One that is elsewhere: the ring that it is in, or those of its leaf that follow from it. */
static fab_status look_at_plug(audit_plugs *p, uint32_t plug, bool all, const char *const *usual, double confidence,
                               uint32_t *member, fab_error *err) {
    audit_plug *x = &p->plug[plug];
    const audit_plug *end = NULL;
    uint32_t n = follow(p, x, usual, member, &end);
    if (end == x) {
        for (uint32_t k = 0; k < n; k++) {
            p->plug[member[k]].place = member[(k + 1) % n];
        }
        return audit_note_ring(p, member, n, confidence, true, err);
    }
    FAB_FIRST(k, n, leaf_of(p, &p->plug[member[k]], usual) != x->leaf); /* from there on it belongs on another */
    x->port = k == 0 ? (uint32_t)strtoul(usual[x->server], NULL, 10) : 0;
    const bool is_guest = k < n || (end != NULL && end->should != NONE && !end->is_told);
    return k == 0 || (is_guest && !all) ? FAB_OK : tell_chain(p, member, k, usual, confidence, err);
}

fab_status audit_plugs_ports(audit_plugs *p, bool all, fab_error *err) {
    FAB_OWNED const char **usual = NULL;
    const uint32_t n_servers = p->a->shape->n_servers;
    uint32_t n_ruled = 0;
    uint32_t n_all = 0;
    uint32_t n_out = 0;
    FAB_OWNED_NEW(uint32_t, member, (size_t)n_servers + 1, err);
    FAB_PASS(FAB_NEW(usual, (size_t)n_servers + 1, err));
    for (uint32_t s = 0; s < n_servers; s++) {
        usual[s] = usual_port(p, s);
        n_ruled += usual[s] != NULL;
        for (uint32_t i = p->first[s]; i < p->first[s + 1] && p->home_of[s] != NONE; i++) {
            n_all++;
            n_out += usual[s] == NULL || strcmp(port_of(p, &p->plug[i]), usual[s]) != 0;
        }
    }
    for (uint32_t i = 0; n_ruled >= LEAST && n_out <= MOST_OUT * n_all && i < p->n; i++) {
        if (is_elsewhere(p, &p->plug[i], usual)) {
            const double confidence = fab_audit_confidence(n_all - n_out, n_all);
            FAB_PASS(look_at_plug(p, i, all, usual, confidence, member, err));
        }
    }
    return FAB_OK;
}
