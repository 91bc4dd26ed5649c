/* Ports of leaves. Where the adapters of a server have ports that are as far behind each other as in nearly every
 * server, all the same port of their leaves, one behind the other, or half a leaf apart, one at another port stands
 * where its siblings say that it does not belong, whoever is at its port: another host, another adapter of its own, one
 * without a name, or none. */
#include "audit_plugs.h"

#include "../structure/box_names.h"

#include "fab/str.h"

#define LEAST    8 /* servers that make a rule, of LEAST_OF ports and more */
#define LEAST_OF 3 /* ports, most of which say where the others belong */
#define NONE     FAB_NETWORK_NONE
#define MOST_OUT 0.04 /* part of the adapters that stand elsewhere */

typedef struct leaf_ports {
    audit_plugs *p;
    uint64_t *at;     /* [n]: port of the leaf, see number_of() */
    uint64_t *offset; /* [n]: how far behind the port of the column that most servers have nearly all have this one */
    bool *is_ruled;   /* [n]: they do */
    uint64_t *should; /* [n]: port where its siblings say that it belongs; 0: they do not */
    uint32_t *member; /* [servers]: follow() */
} leaf_ports;
FAB_FREES(leaf_ports_release, leaf_ports, at, offset, is_ruled, should, member);

static const char *port_of(const audit_plugs *p, const audit_plug *x) {
    return fab_audit_port(fab_network_far(p->a->net, x->side));
}

/* A port as a number: of two that differ in digits alone, "swp3s0" and "swp3s1", the difference is that of digits. */
static uint64_t number_of(const char *port) {
    uint64_t number = 0;
    for (const char *at = port; *(at += strcspn(at, "0123456789")) != '\0'; at += strspn(at, "0123456789")) {
        number = (number << 16) + strtoul(at, NULL, 10);
    }
    return port[0] != '\0' ? fab_name_pattern(port) + number : 0;
}

typedef struct distance {
    uint64_t pattern, column, ports;
    uint32_t plug;
} distance;

FAB_ORDER_THREE(by_column, distance, pattern, column, ports);

/* The column that most servers of a kind have, of list [n] by column. */
static uint32_t common_column(const distance *list, uint32_t n) {
    uint64_t best = 0;
    uint32_t most = 0;
    FAB_EACH_RUN(uint32_t, i, next, n, list[next].column == list[i].column) {
        best = next - i > most ? list[i].column : best;
        most = next - i > most ? next - i : most;
    }
    return (uint32_t)best;
}

/* Fills offset and is_ruled of a column, list [n] by distance: of n_known the distance is known, these stand first. */
static void find_offset(leaf_ports *l, const distance *list, uint32_t n, uint32_t n_known) {
    uint64_t best = 0;
    uint32_t most = 0;
    FAB_EACH_RUN(uint32_t, i, next, n_known, list[next].ports == list[i].ports) {
        best = next - i > most ? list[i].ports : best;
        most = next - i > most ? next - i : most;
    }
    for (uint32_t i = 0; i < n; i++) {
        l->offset[list[i].plug] = best;
        l->is_ruled[list[i].plug] = most >= LEAST && most >= FAB_AUDIT_NEARLY * n_known;
    }
}

static fab_status find_offsets(leaf_ports *l, fab_error *err) {
    const audit_plugs *p = l->p;
    FAB_OWNED_NEW(distance, list, (size_t)p->n + 1, err);
    for (uint32_t i = 0; i < p->n; i++) {
        l->at[i] = number_of(port_of(p, &p->plug[i]));
        list[i] = (distance){p->pattern[p->plug[i].server], p->plug[i].column, 0, i};
    }
    FAB_SORT(list, p->n, by_column);
    FAB_EACH_RUN(uint32_t, i, next, p->n, list[next].pattern == list[i].pattern) {
        const uint32_t column = common_column(&list[i], next - i);
        for (uint32_t k = i; k < next; k++) {
            const audit_plug *of = audit_plug_of(p, p->plug[list[k].plug].server, column);
            list[k].ports = of != NULL ? l->at[list[k].plug] - l->at[of - p->plug] : UINT64_MAX;
        }
    }
    FAB_SORT(list, p->n, by_column);
    FAB_EACH_RUN(uint32_t, i, next, p->n,
                 list[next].pattern == list[i].pattern && list[next].column == list[i].column) {
        FAB_SUM_IN(uint32_t, n_known, k, i, next, list[k].ports != UINT64_MAX);
        find_offset(l, &list[i], next - i, n_known);
    }
    return FAB_OK;
}

/* The leaf of its peers; NONE: there is no rule. */
static uint32_t leaf_of_peers(const audit_plugs *p, const audit_plug *x) {
    return p->home_of[x->server] != NONE              ? audit_home_leaf(p, p->home_of[x->server], x->column)
           : x->is_left || !p->a->ruled[x->side >> 1] ? NONE
           : x->should != NONE                        ? x->should
                                                      : x->leaf;
}

/* Fills `should` of a server: half of its ruled ports, at the leaves of its peers, are so, and no other as many. */
static bool find_ports(leaf_ports *l, uint32_t server) {
    const audit_plugs *p = l->p;
    const uint32_t end = p->first[server + 1];
    FAB_SUM_IN(uint32_t, n, j, p->first[server], end, l->is_ruled[j]);
    uint64_t usual = 0;
    uint32_t most = 0;
    bool is_tied = false;
    for (uint32_t i = p->first[server]; n >= LEAST_OF && i < end; i++) {
        const uint64_t port = l->at[i] - l->offset[i];
        FAB_SUM_IN(uint32_t, n_same, k, p->first[server], end,
                   l->is_ruled[i] && l->is_ruled[k] && l->at[k] - l->offset[k] == port &&
                       leaf_of_peers(p, &p->plug[k]) == p->plug[k].leaf);
        is_tied = n_same == most ? is_tied || port != usual : is_tied && n_same < most;
        usual = n_same > most ? port : usual;
        most = n_same > most ? n_same : most;
    }
    const bool is_known = most > 0 && 2 * most >= n && !is_tied;
    for (uint32_t i = p->first[server]; i < end; i++) {
        l->should[i] = is_known && l->is_ruled[i] ? usual + l->offset[i] : 0;
    }
    return is_known;
}

/* The leaf where it belongs; NONE: it is told, or has no port that its siblings say. */
static uint32_t leaf_of(const leaf_ports *l, const audit_plug *x) {
    const ptrdiff_t i = x - l->p->plug;
    return x->is_told || x->place != i || l->should[i] == 0 ? NONE : leaf_of_peers(l->p, x);
}

/* Whether it is on another leaf than its peers, or at another port than its siblings say. */
static bool is_elsewhere(const leaf_ports *l, const audit_plug *x) {
    const uint32_t leaf = leaf_of(l, x);
    return leaf != NONE && (leaf != x->leaf || l->at[x - l->p->plug] != l->should[x - l->p->plug]);
}

/* The end of the leaf at a port, or NULL: nothing is there. */
static const fab_network_end *end_at(const audit_plugs *p, uint32_t leaf, uint64_t port) {
    const fab_shape *shape = p->a->shape;
    for (uint32_t j = shape->first[leaf]; j < shape->first[leaf + 1]; j++) {
        const fab_network_end *end = fab_network_near(p->a->net, shape->side[j]);
        if (number_of(fab_audit_port(end)) == port) {
            return end;
        }
    }
    return NULL;
}

/* What the port is called where one belongs: as that of another leaf; NULL: there is none such. */
static const char *port_should(const leaf_ports *l, const audit_plug *x) {
    FAB_FIRST(i, l->p->n, l->at[i] == l->should[x - l->p->plug]);
    return i < l->p->n ? port_of(l->p, &l->p->plug[i]) : NULL;
}

/* Who is where one belongs; NULL: no adapter that is known by name. */
static audit_plug *plug_in_place(const leaf_ports *l, const audit_plug *x) {
    audit_plugs *p = l->p;
    const uint32_t leaf = leaf_of(l, x);
    FAB_FIRST(i, p->n, p->plug[i].leaf == leaf && l->at[i] == l->should[x - p->plug]);
    return leaf != NONE && i < p->n ? &p->plug[i] : NULL;
}

/* Fills member with one that is elsewhere and all that follow from it: who is in its place, if that is elsewhere too,
 * and so on; each of another server, but for two of one in each other's place at a leaf. Returns how many; *out_end is
 * who is in the place of the last. */
static uint32_t follow(const leaf_ports *l, const audit_plug *x, const audit_plug **out_end) {
    const audit_plugs *p = l->p;
    uint32_t n = 0;
    bool is_new = true;
    *out_end = x;
    do {
        l->member[n++] = (uint32_t)(*out_end - p->plug);
        *out_end = plug_in_place(l, *out_end);
        FAB_ANY(is_known, k, n, *out_end != NULL && p->plug[l->member[k]].server == (*out_end)->server);
        is_new =
            !is_known || (n == 1 && *out_end != x && (*out_end)->leaf == x->leaf && plug_in_place(l, *out_end) == x);
    } while (*out_end != NULL && is_new && is_elsewhere(l, *out_end));
    return n;
}

/* n members, one at another port of its leaf, and those that follow from it there, where the last has its place free.
 */
static fab_status tell_chain(const leaf_ports *l, uint32_t n, double confidence, fab_error *err) {
    audit_plugs *p = l->p;
    FAB_OWNS(fab_str_release) fab_str moves = FAB_STR_INIT;
    const audit_plug *x = &p->plug[l->member[0]];
    const char *name = fab_audit_label(p->a, x->node);
    const char *port = port_should(l, x);
    const fab_network_end *at = fab_network_far(p->a->net, x->side);
    const fab_network_end *other = n == 1 ? end_at(p, x->leaf, l->should[l->member[0]]) : NULL;
    const fab_network_end own = audit_plug_end(p, x);
    fab_finding f = fab_audit_finding(p->a, FAB_FINDING_SWAPPED_HOSTS, at, other != NULL ? other : &own);
    FAB_ALL_IN(are_same, i, p->first[x->server], p->first[x->server + 1],
               !l->is_ruled[i] || l->should[i] == l->should[l->member[0]]);
    FAB_ANY(is_unnamed, j, n, port_should(l, &p->plug[l->member[j]]) == NULL);
    if (is_unnamed) {
        return FAB_OK;
    }
    f.confidence = confidence;
    f.cables = other != NULL ? 2 : n;
    f.line = at->line;
    for (uint32_t k = 0; k < n; k++) {
        audit_plug *next = &p->plug[l->member[k]];
        fab_str_printf(&moves, "%s'%s' on port %s", k > 0 ? ", " : "", fab_audit_label(p->a, next->node),
                       port_should(l, next));
        next->is_told = true;
    }
    FAB_PASS(fab_str_status(&moves, err));
    return n > 1 ? fab_audit_tell(p->a, &f, err,
                                  "%u cables are at other ports of this leaf than the others of their hosts "
                                  "say" FAB_AUDIT_WORK "Plug them into %s anew: %s.",
                                  n, f.node, moves.data)
                 : fab_audit_tell(p->a, &f, err,
                                  "'%s' is at port %s; most others of its host %s port %s%s" FAB_AUDIT_WORK
                                  "%s: '%s' belongs on %s, port %s.",
                                  name, f.port, are_same ? "are at" : "say that it belongs at", port,
                                  are_same ? " of their leaves" : "",
                                  other != NULL ? "Exchange the two cables at the leaf" : "Move the cable", name,
                                  f.node, port);
}

/* One that is elsewhere: the ring that it is in, or those of its leaf that follow from it. */
static fab_status look_at_plug(const leaf_ports *l, audit_plug *x, bool all, double confidence, fab_error *err) {
    audit_plugs *p = l->p;
    const audit_plug *end = NULL;
    const uint32_t n = follow(l, x, &end);
    if (end == x) {
        for (uint32_t k = 0; k < n; k++) {
            p->plug[l->member[k]].place = l->member[(k + 1) % n];
        }
        return audit_note_ring(p, l->member, n, confidence, true, err);
    }
    FAB_FIRST(k, n, leaf_of(l, &p->plug[l->member[k]]) != x->leaf); /* from there on it belongs on another */
    const char *port = k == 0 ? port_should(l, x) : NULL;
    const char *digits = port != NULL ? strpbrk(port, "0123456789") : NULL;
    x->port = digits != NULL ? (uint32_t)strtoul(digits, NULL, 10) : 0;
    const bool is_guest = k < n || (end != NULL && end->should != NONE && !end->is_told);
    return k == 0 || (is_guest && !all) ? FAB_OK : tell_chain(l, k, confidence, err);
}

fab_status audit_plugs_ports(audit_plugs *p, bool all, fab_error *err) {
    FAB_OWNS(leaf_ports_release) leaf_ports l = {.p = p};
    uint32_t n_servers = 0; /* that follow the rule */
    uint32_t n_all = 0;
    uint32_t n_out = 0;
    FAB_PASS(FAB_NEW_ALL((size_t)p->n + 1, err, l.at, l.offset, l.is_ruled, l.should));
    FAB_PASS(FAB_NEW(l.member, (size_t)p->a->shape->n_servers + 1, err));
    FAB_PASS(find_offsets(&l, err));
    for (uint32_t s = 0; s < p->a->shape->n_servers; s++) {
        n_servers += find_ports(&l, s);
        for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++) {
            const bool is_of_rule = l.is_ruled[i] && leaf_of_peers(p, &p->plug[i]) != NONE;
            n_all += is_of_rule;
            n_out += is_of_rule && l.at[i] != l.should[i];
        }
    }
    p->have_ports = n_servers >= LEAST && n_out <= MOST_OUT * n_all;
    for (uint32_t i = 0; p->have_ports && i < p->n; i++) {
        FAB_PASS(is_elsewhere(&l, &p->plug[i])
                     ? look_at_plug(&l, &p->plug[i], all, fab_audit_confidence(n_all - n_out, n_all), err)
                     : FAB_OK);
    }
    return FAB_OK;
}
