/* Servers that were moved, all their cables are elsewhere, most often where those of another one were; and switches
 * that were exchanged with all that is below them. */
#include "diff_internal.h"

#define MOVED_NAMED 3 /* servers of one change */

/* --- groups of cables that are one change ------------------------------------------------------------------------- */

uint32_t diff_group_of(const diff *d, uint32_t cable) {
    while (d->group[cable] != cable) {
        d->group[cable] = d->group[d->group[cable]];
        cable = d->group[cable];
    }
    return cable;
}

void diff_join_cables(diff *d, uint32_t i, uint32_t k) {
    i = diff_group_of(d, i);
    k = diff_group_of(d, k);
    d->group[i > k ? i : k] = i > k ? k : i;
}

/* --- who has moved ------------------------------------------------------------------------------------------------ */

/* The server of the second state whose NIC a cable ends at; `cable` counts those of the second, then of the first.
 * FAB_NONE: a cable between switches, or its server has gone. */
static uint32_t server_of_cable(const diff *d, uint32_t cable, fab_link_id *out_link) {
    const uint32_t n_second = d->side[1].f->n_cables;
    const fab_fabric *f = d->side[cable < n_second].f;
    *out_link = 2 * (cable < n_second ? cable : cable - n_second);
    if (fab_class_of(f, *out_link)->kind != FAB_LINK_ACCESS) {
        return FAB_NONE;
    }
    const uint32_t server = fab_server_of_nic(f, fab_tail(f, *out_link));
    return cable < n_second ? server : diff_server_after(d, server);
}

/* --- switches that were exchanged, in the numbers of the first state ---------------------------------------------- */

/* The switch that a cable of the second state ends at, and the one that the port at its other end led to. */
static fab_node_id end_now(const diff *d, fab_link_id link) {
    return d->node[fab_head(d->side[1].f, link)];
}

static fab_node_id end_before(const diff *d, fab_link_id link) {
    return d->same[link] != FAB_NONE ? fab_head(d->side[0].f, d->same[link]) : FAB_NONE;
}

/* Servers with a cable to a switch. */
static void count_below(const diff *d, uint32_t *n_below, uint32_t *last) {
    const fab_fabric *b = d->side[1].f;
    for (fab_node_id nic = b->first[FAB_NODE_NIC]; nic < b->first[FAB_NODE_NIC + 1]; nic++) {
        const uint32_t server = fab_server_of_nic(b, nic);
        FAB_EACH_LINK(b, nic, link) {
            const fab_node_id leaf = fab_class_of(b, link)->kind == FAB_LINK_ACCESS ? end_now(d, link) : FAB_NONE;
            if (leaf != FAB_NONE && last[leaf] != server + 1) {
                last[leaf] = server + 1;
                n_below[leaf]++;
            }
        }
    }
}

/* Makes what has been exchanged with two switches one change: what is below them and, where they went along, above. */
static void join_exchanged(diff *d, uint32_t *first) {
    const uint32_t n_second = d->side[1].f->n_cables;
    for (uint32_t c = 0; c < n_second; c++) {
        for (fab_link_id link = 2 * c; d->is_changed[c] && link <= 2 * c + 1; link++) {
            const fab_node_id now = end_now(d, link);
            const fab_node_id with = now != FAB_NONE ? d->exchanged[now] : FAB_NONE;
            if (with != FAB_NONE && end_before(d, link) == with) {
                uint32_t *one = &first[now < with ? now : with];
                *one = *one == FAB_NONE ? c : *one;
                diff_join_cables(d, *one, c);
            }
        }
    }
}

/* All cables below one lead where those of the other did, port by port at their lower ends, and the other way round. */
static fab_status find_exchanged(diff *d, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    uint32_t *n[2] = {NULL, NULL}, *work = NULL; /* [nodes of the first]: cables below */
    fab_node_id *with = NULL;
    FAB_OWNS_MEMBERS(n[0], n[1], work, with);
    FAB_PASS(FAB_NEW_ALL((size_t)a->n_nodes + 1, err, n[0], n[1], work, with, d->exchanged, d->n_below));
    memset(with, 0xff, a->n_nodes * sizeof *with);
    memset(d->exchanged, 0xff, a->n_nodes * sizeof *d->exchanged);
    count_below(d, d->n_below, work);
    for (uint32_t c = 0; c < a->n_cables; c++) {
        n[0][fab_head(a, 2 * c)] += diff_is_network(a, c);
    }
    for (uint32_t c = 0; c < b->n_cables; c++) {
        const fab_node_id now = diff_is_network(b, c) ? end_now(d, 2 * c) : FAB_NONE;
        if (now != FAB_NONE) {
            const fab_node_id before = end_before(d, 2 * c);
            with[now] = n[1][now] == 0 || with[now] == before ? before : now; /* itself: nothing that holds for all */
            n[1][now]++;
        }
    }
    for (fab_node_id v = 0; v < a->n_nodes; v++) {
        const fab_node_id w = with[v];
        const bool is_whole = w != FAB_NONE && w != v && with[w] == v && n[1][v] == n[0][w] && n[1][w] == n[0][v];
        if (is_whole && n[1][v] + n[1][w] > 2 &&
            d->n_below[v] + d->n_below[w] != 2) { /* two servers are told as such */
            d->exchanged[v] = w;
        }
    }
    memset(work, 0xff, a->n_nodes * sizeof *work);
    join_exchanged(d, work);
    return FAB_OK;
}

fab_status diff_find_moves(diff *d, fab_error *err) {
    FAB_PASS(find_exchanged(d, err));
    const uint32_t n_second = d->side[1].f->n_cables;
    const uint32_t n = n_second + d->side[0].f->n_cables;
    FAB_OWNED bool *stays = NULL; /* [servers of the second state] */
    FAB_PASS(FAB_NEW_ALL((size_t)d->side[1].f->n_servers + 1, err, stays, d->moved));
    memset(d->moved, 0xff, d->side[1].f->n_servers * sizeof *d->moved);
    for (uint32_t c = 0; c < n; c++) {
        fab_link_id link = 0;
        const uint32_t server = server_of_cable(d, c, &link);
        const fab_link_id *same = c < n_second ? d->same : d->back;
        if (server != FAB_NONE) { /* both ends of a cable that is where it was know each other */
            stays[server] =
                stays[server] || !d->is_changed[c] || (same[link] != FAB_NONE && same[link + 1] == (same[link] ^ 1U));
            d->moved[server] = d->moved[server] == FAB_NONE && c < n_second ? c : d->moved[server];
        }
    }
    FAB_FILL(d->moved, d->side[1].f->n_servers, stays[fab_at] ? FAB_NONE : d->moved[fab_at]);
    for (uint32_t c = 0; c < n; c++) {
        fab_link_id link = 0;
        const uint32_t server = server_of_cable(d, c, &link);
        if (server != FAB_NONE && d->moved[server] != FAB_NONE) {
            diff_join_cables(d, d->moved[server], c);
        }
    }
    return FAB_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

/* The server that stood where a cable of a moved one ends now, if its NIC had the same number in it. */
static uint32_t server_displaced(const diff *d, fab_link_id link) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    const fab_link_id x = d->same[link ^ 1U]; /* the same port of the switch */
    const fab_node_id was = x != FAB_NONE ? fab_head(a, x) : FAB_NONE;
    if (was == FAB_NONE || fab_kind_of(a, was) != FAB_NODE_NIC) {
        return FAB_NONE;
    }
    const uint32_t index = (was - a->first[FAB_NODE_NIC]) % a->nics_per_server;
    const bool same = index == (fab_tail(b, link) - b->first[FAB_NODE_NIC]) % b->nics_per_server;
    return same ? diff_server_after(d, fab_server_of_nic(a, was)) : FAB_NONE;
}

/* What a group of cables of moved servers alone holds. */
typedef struct moved_group {
    uint32_t n_servers, n_cables;
    bool is_all;    /* nothing else is in it */
    bool is_closed; /* NIC by NIC each stands where one other of them stood */
} moved_group;

static moved_group read_group(const diff *d, uint32_t group) {
    const uint32_t n_second = d->side[1].f->n_cables;
    moved_group of = {.is_all = true, .is_closed = true};
    for (uint32_t c = 0; c < n_second + d->side[0].f->n_cables && of.is_all; c++) {
        fab_link_id link = 0;
        if (!d->is_changed[c] || diff_group_of(d, c) != group) {
            continue;
        }
        const uint32_t server = server_of_cable(d, c, &link);
        of.is_all = server != FAB_NONE && d->moved[server] != FAB_NONE;
        if (of.is_all && c < n_second) {
            const uint32_t place = server_displaced(d, link);
            of.is_closed = of.is_closed && place != FAB_NONE && place != server && d->moved[place] != FAB_NONE &&
                           place == server_displaced(d, 2 * d->moved[server]);
            of.n_cables++;
            of.n_servers += d->moved[server] == c;
        }
    }
    return of;
}

/* Where a server is by its first cable: "server-3 at leaf-1:9". */
static void add_place(const diff *d, int side, uint32_t server, fab_str *out) {
    const fab_fabric *f = d->side[side].f;
    const uint32_t there = side == 1 ? server : diff_server_before(d, server);
    const fab_link_id link = fab_access_link(f, fab_nic_of_server(f, there), f->nics_per_server, 0);
    fab_str_printf(out, "%s%s at ", out->length > 0 ? ", " : "", FAB_SAY_SERVER(f, there));
    if (link != FAB_NONE) {
        fab_str_printf(out, "%s:%s", FAB_SAY_NODE(f, fab_head(f, link)), FAB_SAY_PORT(f, link ^ 1U));
    }
}

/* What a switch is above, by its first cable: "leaf-0 above server-3/nic-0". */
static void add_above(const fab_fabric *f, fab_node_id v, fab_str *out) {
    FAB_FIRST(c, f->n_cables, diff_is_network(f, (uint32_t)c) && fab_head(f, 2 * (fab_link_id)c) == v);
    const fab_node_id below = c < f->n_cables ? fab_tail(f, 2 * (fab_link_id)c) : FAB_NONE;
    fab_str_printf(out, "%s%s above %s", out->length > 0 ? ", " : "", FAB_SAY_NODE(f, v),
                   below != FAB_NONE ? FAB_SAY_NODE(f, below) : "nothing");
}

/* The switch of the second state whose exchange a group of cables is, and nothing else; FAB_NONE. */
static fab_node_id exchanged_in(const diff *d, uint32_t group, uint32_t *out_n, bool *out_above) {
    const fab_fabric *b = d->side[1].f;
    fab_node_id found = FAB_NONE;
    *out_n = 0;
    *out_above = false;
    for (uint32_t c = 0; c < b->n_cables; c++) {
        if (!d->is_changed[c] || diff_group_of(d, c) != group) {
            continue;
        }
        fab_node_id end = FAB_NONE;
        for (fab_link_id link = 2 * c; link <= 2 * c + 1 && end == FAB_NONE; link++) {
            const fab_node_id now = end_now(d, link);
            const bool is_it =
                now != FAB_NONE && d->exchanged[now] != FAB_NONE && end_before(d, link) == d->exchanged[now];
            end = is_it ? fab_head(b, link) : FAB_NONE;
            *out_above = *out_above || (is_it && link == 2 * c + 1);
        }
        if (end == FAB_NONE || (found != FAB_NONE && end != found && d->exchanged[d->node[end]] != d->node[found])) {
            return FAB_NONE;
        }
        found = found == FAB_NONE || end < found ? end : found;
        ++*out_n;
    }
    return found;
}

static bool name_exchanged(const diff *d, uint32_t group, fab_str *what, fab_str place[2]) {
    uint32_t n = 0;
    bool is_above = false;
    const fab_node_id one = exchanged_in(d, group, &n, &is_above);
    if (one == FAB_NONE) {
        return false;
    }
    const fab_node_id was[2] = {d->node[one], d->exchanged[d->node[one]]};
    FAB_FIRST(other, d->side[1].f->n_nodes, d->node[other] == was[1]);
    const uint32_t n_servers = d->n_below[was[0]] + d->n_below[was[1]];
    fab_str_printf(what, "%s%s and %s %s exchanged places: %u cables", is_above ? "" : "what is below ",
                   FAB_SAY_NODE(d->side[1].f, one), FAB_SAY_NODE(d->side[1].f, (fab_node_id)other),
                   is_above ? "have" : "has", n);
    if (n_servers > 0) {
        fab_str_printf(what, ", %u servers", n_servers);
    }
    for (int i = 0; i < 2; i++) {
        add_above(d->side[0].f, was[i], &place[0]);
        add_above(d->side[1].f, i == 0 ? one : (fab_node_id)other, &place[1]);
    }
    return true;
}

void diff_name_moves(const diff *d, uint32_t group, fab_str *what, fab_str place[2]) {
    if (name_exchanged(d, group, what, place)) {
        return;
    }
    const moved_group of = read_group(d, group);
    const uint32_t shown = of.n_servers <= MOVED_NAMED ? of.n_servers : MOVED_NAMED;
    uint32_t n = 0;
    for (uint32_t server = 0; server < d->side[1].f->n_servers && of.is_all && n < shown; server++) {
        if (d->moved[server] == FAB_NONE || diff_group_of(d, d->moved[server]) != group) {
            continue;
        }
        fab_str_printf(what, "%s%s",
                       n == 0                  ? ""
                       : n + 1 == of.n_servers ? " and "
                                               : ", ",
                       FAB_SAY_SERVER(d->side[1].f, server));
        add_place(d, 0, server, &place[0]);
        add_place(d, 1, server, &place[1]);
        n++;
    }
    if (!of.is_all) {
        return;
    }
    if (of.n_servers > shown) {
        fab_str_printf(what, " and %u more", of.n_servers - shown);
    }
    const bool is_pair = of.is_closed && of.n_servers == 2;
    fab_str_printf(what, " %s %s: %u cable%s", of.n_servers == 1 ? "has" : "have",
                   is_pair        ? "exchanged places"
                   : of.is_closed ? "changed places among themselves"
                                  : "moved",
                   of.n_cables, of.n_cables == 1 ? "" : "s");
}
