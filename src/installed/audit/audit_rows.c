/* Rows: servers whose names differ in their last number alone, as those of a rack do. Where nearly every row is plugged
 * into the same switches, a server that stands in the home of another row is out of its place, whichever names are
 * before and behind its own. Those that stand in each other's place, two or more in a ring, are one finding, and all
 * other rules look at them where they belong. */
#include "audit_plugs.h"

#define NONE     FAB_NETWORK_NONE
#define LEAST    4 /* servers that make a row */
#define MOST_OUT 8 /* one server in so many may stand in the home of another row */

typedef struct member {
    uint64_t row;
    uint32_t home, rank, server;
} member;

FAB_ORDER_THREE(by_row_and_home, member, row, home, rank);

typedef struct rows {
    audit_plugs *p;
    member *out; /* [n_out]: those that stand in the home of another row, by name */
    uint32_t n_out, n_ruled;
    uint32_t *belongs; /* [n_servers]: the home of its row; FAB_NETWORK_NONE: there is none */
    uint32_t *instead; /* [n_servers]: who stands in its place; itself: nobody */
    bool *is_taken;    /* [n_servers]: it stands in the place of one that is known */
} rows;
FAB_FREES(rows_release, rows, out, belongs, instead, is_taken);

/* The home that nearly all of a row have, by row and home; FAB_NETWORK_NONE: they are spread, or few. */
static uint32_t home_of_row(const member *row, uint32_t n) {
    uint32_t home = NONE;
    uint32_t most = 0;
    FAB_EACH_RUN(uint32_t, i, next, n, row[next].home == row[i].home) {
        home = next - i > most ? row[i].home : home;
        most = next - i > most ? next - i : most;
    }
    return n >= LEAST && most >= FAB_AUDIT_NEARLY * n ? home : NONE;
}

/* Whether half of the ports of a server are where a home has them. */
static bool is_half_at(const audit_plugs *p, uint32_t server, uint32_t home) {
    FAB_SUM_IN(uint32_t, n, i, p->first[server], p->first[server + 1],
               p->plug[i].leaf == audit_home_leaf(p, home, p->plug[i].column));
    return n > 0 && 2 * n >= audit_n_ports(p, server);
}

/* The home of a server that has none for certain: that of its row, or another that half of its ports are at. */
static uint32_t half_home(const audit_plugs *p, uint32_t server, uint32_t belongs) {
    if (is_half_at(p, server, belongs)) {
        return belongs;
    }
    FAB_FIRST(s, p->a->shape->n_servers, p->home_of[s] != NONE && is_half_at(p, server, p->home_of[s]));
    return s < p->a->shape->n_servers ? p->home_of[s] : NONE;
}

/* Whether a server has the ports of another, at the same leaves. */
static bool is_like(const audit_plugs *p, uint32_t server, uint32_t other) {
    const uint32_t n = audit_n_ports(p, server);
    FAB_ALL(same, i, n, p->plug[p->first[server] + i].key == p->plug[p->first[other] + i].key);
    return n == audit_n_ports(p, other) && same;
}

/* Homes are shown by a server that stands where it belongs. False: none has such ports. */
static bool show_homes(rows *r) {
    audit_plugs *p = r->p;
    for (uint32_t i = 0; i < r->n_out; i++) {
        const uint32_t server = r->out[i].server;
        audit_home *home = &p->home[p->home_of[server]];
        FAB_FIRST(s, p->a->shape->n_servers,
                  r->belongs[s] == p->home_of[server] && p->home_of[s] == r->belongs[s] && is_like(p, s, server));
        if (home->server == server && s == p->a->shape->n_servers) {
            return false;
        }
        home->server = home->server == server ? s : home->server;
    }
    return true;
}

/* Fills `belongs` and `out`. No rule where rows are spread over homes, or many stand elsewhere. */
static fab_status rows_find(rows *r, fab_error *err) {
    audit_plugs *p = r->p;
    const uint32_t n_servers = p->a->shape->n_servers;
    uint32_t n = 0;
    uint32_t n_all = 0; /* of rows that are large enough */
    FAB_OWNED_NEW(member, list, (size_t)n_servers + 1, err);
    FAB_PASS(FAB_NEW_ALL((size_t)n_servers + 1, err, r->out, r->belongs, r->instead, r->is_taken));
    for (uint32_t s = 0; s < n_servers; s++) {
        r->belongs[s] = NONE;
        r->instead[s] = s;
        list[n++] = (member){p->row[s], p->home_of[s], p->rank[s], s};
    }
    FAB_SORT(list, n, by_row_and_home);
    FAB_EACH_RUN(uint32_t, i, next, n, list[next].row == list[i].row) {
        FAB_SUM_IN(uint32_t, n_homed, k, i, next, list[k].home != NONE); /* these stand first */
        const uint32_t home = home_of_row(&list[i], n_homed);
        n_all += n_homed >= LEAST ? n_homed : 0;
        r->n_ruled += home != NONE ? n_homed : 0;
        for (uint32_t j = i; home != NONE && j < next; j++) {
            r->belongs[list[j].server] = home;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *home = &p->home_of[list[i].server];
        const uint32_t belongs = r->belongs[list[i].server];
        *home = *home == NONE && belongs != NONE ? half_home(p, list[i].server, belongs) : *home;
        if (*home != belongs && *home != NONE && belongs != NONE) {
            r->out[r->n_out++] = (member){.rank = list[i].rank, .server = list[i].server};
        }
    }
    if (r->n_ruled < FAB_AUDIT_NEARLY * n_all || MOST_OUT * r->n_out > r->n_ruled || !show_homes(r)) {
        r->n_out = 0;
        for (uint32_t i = 0; i < n; i++) {
            p->home_of[list[i].server] = list[i].home;
        }
    }
    FAB_SORT(r->out, r->n_out, by_row_and_home); /* by name: no row is given */
    return FAB_OK;
}

/* How many of the row of a server it would pass at the place of another: none, where ports rise with names. */
static uint32_t count_passed(const rows *r, uint32_t server, uint32_t place) {
    const audit_plugs *p = r->p;
    const audit_plug *at = &p->plug[p->first[place]];
    uint32_t n = 0;
    for (uint32_t s = 0; s < p->a->shape->n_servers; s++) {
        const bool is_peer = p->row[s] == p->row[server] && p->home_of[s] == r->belongs[server];
        const audit_plug *peer = is_peer ? audit_plug_of(p, s, at->column) : NULL;
        n += peer != NULL && peer->leaf == at->leaf &&
             (p->rank[s] < p->rank[server]) != (audit_port_number(p, peer) < audit_port_number(p, at));
    }
    return n;
}

/* Who stands in the place of a server: one that is out, in the home of its row; where it is a pair, in whose place it
 * stands itself. Of several whose port fits best, the lowest of equal ones. */
static uint32_t find_instead(const rows *r, uint32_t server, bool is_pair) {
    const audit_plugs *p = r->p;
    uint32_t best = NONE;
    uint32_t least = 0;
    for (uint32_t k = 0; k < r->n_out; k++) {
        const uint32_t other = r->out[k].server;
        if (r->is_taken[other] || p->home_of[other] != r->belongs[server] ||
            (is_pair && p->home_of[server] != r->belongs[other])) {
            continue;
        }
        const uint32_t n = count_passed(r, server, other) + (is_pair ? count_passed(r, other, server) : 0);
        if (best == NONE || n < least ||
            (n == least &&
             audit_port_number(p, &p->plug[p->first[other]]) < audit_port_number(p, &p->plug[p->first[best]]))) {
            best = other;
            least = n;
        }
    }
    return best;
}

static void match(rows *r, bool is_pair) {
    for (uint32_t i = 0; i < r->n_out; i++) {
        const uint32_t server = r->out[i].server;
        const uint32_t other = r->instead[server] == server ? find_instead(r, server, is_pair) : NONE;
        if (other != NONE) {
            r->instead[server] = other;
            r->is_taken[other] = true;
        }
        if (other != NONE && is_pair) {
            r->instead[other] = server;
            r->is_taken[server] = true;
        }
    }
}

/* Whether the plug of a column of each server of a ring is where it does not belong. */
static bool has_moved(const rows *r, uint32_t first, uint32_t column) {
    uint32_t s = first;
    do {
        const audit_plug *plug = audit_plug_of(r->p, s, column);
        if (plug == NULL || plug->leaf == audit_home_leaf(r->p, r->belongs[s], column)) {
            return false;
        }
        s = r->instead[s];
    } while (s != first);
    return true;
}

/* Marks the plugs that went along with a server to the place of another; those that are where they belong stayed.
 * Returns how many. */
static uint32_t mark_moved(rows *r, uint32_t first, uint32_t place, fab_finding *f) {
    audit_plugs *p = r->p;
    const uint32_t server = r->instead[place];
    uint32_t n = 0;
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        audit_plug *plug = &p->plug[i];
        plug->is_told =
            has_moved(r, first, plug->column) || (audit_plug_of(p, place, plug->column) == NULL &&
                                                  plug->leaf == audit_home_leaf(p, p->home_of[server], plug->column));
        if (plug->is_told) {
            f->line = f->cables == 0 ? fab_network_far(p->a->net, plug->side)->line : f->line;
            f->damage_bps += p->a->net->cables[plug->side >> 1].rate_bps;
            f->cables++;
            n++;
        }
    }
    return n;
}

/* Each server of a ring to its place. A plug in whose place none is stays told. */
static void put_back(rows *r, uint32_t first) {
    audit_plugs *p = r->p;
    for (uint32_t i = p->first[first]; i < p->first[first + 1]; i++) {
        const audit_plug place = p->plug[i];
        const bool all = has_moved(r, first, place.column);
        for (uint32_t s = first, next = NONE; all && next != first; s = next) {
            next = r->instead[s];
            const audit_plug *from = next == first ? &place : audit_plug_of(p, next, place.column);
            audit_plug *plug = &p->plug[audit_plug_of(p, s, place.column) - p->plug];
            plug->side = from->side;
            plug->leaf = from->leaf;
            plug->key = from->key;
            plug->is_told = false;
            plug->is_put_back = true;
        }
    }
}

/* Those that stand in each other's place, from the first by name on. */
static fab_status tell_ring(rows *r, uint32_t first, fab_error *err) {
    audit_plugs *p = r->p;
    const uint32_t *instead = r->instead;
    fab_finding f = {.confidence = fab_audit_confidence(r->n_ruled - r->n_out, r->n_ruled)};
    uint32_t n = 0;
    bool have_all = true;
    for (uint32_t s = first; n == 0 || s != first; s = instead[s], n++) {
        have_all = mark_moved(r, first, s, &f) > 0 && have_all;
    }
    for (uint32_t i = 0; !have_all && i < p->n; i++) { /* one has other plugs than the one whose place it took */
        p->plug[i].is_told = false;
    }
    if (!have_all) {
        return FAB_OK;
    }
    FAB_PASS(n == 2 ? audit_report_servers(p, first, instead[first], f.confidence, err)
                    : audit_report_ring(p->a, p->a->shape->server_name, instead, first, true, &f, err));
    put_back(r, first);
    return FAB_OK;
}

fab_status audit_plugs_rows(audit_plugs *p, fab_error *err) {
    FAB_OWNS(rows_release) rows r = {.p = p};
    FAB_PASS(rows_find(&r, err));
    match(&r, true);
    match(&r, false);
    for (uint32_t i = 0; i < r.n_out; i++) {
        const uint32_t server = r.out[i].server;
        FAB_PASS(audit_ring_length(r.instead, p->a->shape->n_servers, server) > 1 ? tell_ring(&r, server, err)
                                                                                  : FAB_OK);
    }
    for (uint32_t i = 0; i < r.n_out; i++) {
        p->home_of[r.out[i].server] = r.belongs[r.out[i].server];
    }
    return FAB_OK;
}
