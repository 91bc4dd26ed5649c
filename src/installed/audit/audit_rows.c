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
    int64_t number, place; /* in its name, and at its home */
} member;

FAB_ORDER_THREE(by_row_and_home, member, row, home, rank);

FAB_ORDER_TWO(by_name, member, rank, server);

typedef struct rows {
    audit_plugs *p;
    member *list; /* [n]: all servers, by row and home */
    member *out;  /* [n_out]: those that stand in the home of another row, by name */
    uint32_t n, n_out, n_ruled;
    uint32_t *belongs; /* [n]: the home of its row; FAB_NETWORK_NONE: there is none */
    uint32_t *instead; /* [n]: who stands in its place; itself: nobody else */
    bool *is_taken;    /* [n]: it stands in the place of one that is known */
} rows;
FAB_FREES(rows_release, rows, list, out, belongs, instead, is_taken);

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
        const uint32_t home = r->out[i].home;
        FAB_FIRST(k, r->n,
                  r->list[k].home == home && r->belongs[r->list[k].server] == home &&
                      is_like(p, r->list[k].server, server));
        if (p->home[home].server == server && k == r->n) {
            return false;
        }
        p->home[home].server = p->home[home].server == server ? r->list[k].server : p->home[home].server;
    }
    return true;
}

/* The last number of a name. */
static int64_t number_of(const char *name) {
    size_t place = 0;
    size_t end = 0;
    return audit_last_number(name, &place, &end) && end - place < 10 ? (int64_t)strtoul(name + place, NULL, 10) : 0;
}

/* How far behind the server that shows a home one stands there, by most of its ports. */
static int64_t place_at(const audit_plugs *p, uint32_t server, uint32_t home) {
    int64_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        int64_t place = 0;
        uint32_t n = 0;
        for (uint32_t k = i; k < p->first[server + 1]; k++) {
            const audit_plug *model = audit_plug_of(p, p->home[home].server, p->plug[k].column);
            if (model != NULL && model->leaf == p->plug[k].leaf) {
                const int64_t at = (int64_t)audit_port_number(p, &p->plug[k]) - audit_port_number(p, model);
                place = n == 0 ? at : place;
                n += at == place;
            }
        }
        best = n > most ? place : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Fills all but `instead`. No rule, and none is out, where rows are spread over homes, or many stand elsewhere. */
static fab_status rows_find(rows *r, fab_error *err) {
    audit_plugs *p = r->p;
    uint32_t n_all = 0; /* of rows that are large enough */
    r->n = p->a->shape->n_servers;
    FAB_PASS(FAB_NEW_ALL((size_t)r->n + 1, err, r->list, r->out, r->belongs, r->instead, r->is_taken));
    for (uint32_t s = 0; s < r->n; s++) {
        r->belongs[s] = NONE;
        r->instead[s] = s;
        r->list[s] = (member){p->row[s], p->home_of[s], p->rank[s], s, number_of(p->a->shape->server_name[s]), 0};
    }
    FAB_SORT(r->list, r->n, by_row_and_home);
    FAB_EACH_RUN(uint32_t, i, next, r->n, r->list[next].row == r->list[i].row) {
        FAB_SUM_IN(uint32_t, n_homed, k, i, next, r->list[k].home != NONE); /* these stand first */
        const uint32_t home = home_of_row(&r->list[i], n_homed);
        n_all += n_homed >= LEAST ? n_homed : 0;
        r->n_ruled += home != NONE ? n_homed : 0;
        for (uint32_t j = i; home != NONE && j < next; j++) {
            r->belongs[r->list[j].server] = home;
        }
    }
    for (uint32_t i = 0; i < r->n; i++) {
        member *m = &r->list[i];
        const uint32_t belongs = r->belongs[m->server];
        m->home = m->home == NONE && belongs != NONE ? half_home(p, m->server, belongs) : m->home;
        if (m->home != belongs && m->home != NONE && belongs != NONE) {
            r->out[r->n_out++] = *m;
        }
    }
    if (r->n_ruled < FAB_AUDIT_NEARLY * n_all || MOST_OUT * r->n_out > r->n_ruled || !show_homes(r)) {
        r->n_out = 0;
    }
    for (uint32_t i = 0; i < r->n && r->n_out > 0; i++) {
        member *m = &r->list[i];
        m->place = m->home != NONE ? place_at(p, m->server, m->home) : 0;
        p->home_of[m->server] = m->home;
    }
    for (uint32_t k = 0; k < r->n_out; k++) {
        r->out[k].place = place_at(p, r->out[k].server, r->out[k].home);
    }
    FAB_SORT(r->out, r->n_out, by_name);
    FAB_SORT(r->list, r->n, by_row_and_home);
    return FAB_OK;
}

/* --- who stands in whose place ------------------------------------------------------------------------------------ */

/* Whether a server stands where one of its row with this number does, on the line of two of them. */
static bool is_on_line(const member *at, int64_t number, const member *one, const member *two) {
    return (at->place - one->place) * (two->number - one->number) == (number - one->number) * (two->place - one->place);
}

/* Two of a row, whose servers [n] stand by home and name, on whose line nearly all that have its home stand: ports rise
 * with numbers. False: there are none such. */
static bool find_line(const member *row, uint32_t n, const member **out_one, const member **out_two) {
    uint32_t most = 0;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const member *one = &row[i];
        const member *two = &row[i + 1];
        FAB_SUM_IN(uint32_t, n_on, k, 0, n, is_on_line(&row[k], row[k].number, one, two));
        const bool is_better = one->number != two->number && one->place != two->place && n_on > most;
        most = is_better ? n_on : most;
        *out_one = is_better ? one : *out_one;
        *out_two = is_better ? two : *out_two;
    }
    return most > 1 && most >= FAB_AUDIT_NEARLY * n;
}

/* Fills the ports of a server in whose place nobody stands. */
static void find_ports(audit_plugs *p, uint32_t server, uint32_t home, int64_t place) {
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        const audit_plug *model = audit_plug_of(p, p->home[home].server, p->plug[i].column);
        const int64_t port = model != NULL ? audit_port_number(p, model) + place : 0;
        p->plug[i].port = port > 0 ? (uint32_t)port : 0;
    }
}

/* Fills `instead` where numbers say it: for those of a row that are in its home [n], and those that are out. */
static void match_by_number(rows *r, const member *row, uint32_t n) {
    const member *one = NULL;
    const member *two = NULL;
    if (r->belongs[row->server] != row->home || !find_line(row, n, &one, &two)) {
        return;
    }
    for (uint32_t i = 0; i < n + r->n_out; i++) {
        const member *m = i < n ? &row[i] : &r->out[i - n];
        const bool is_of_row = m->row == row->row;
        bool is_open = is_of_row;
        for (uint32_t k = 0; is_open && k < n + r->n_out; k++) {
            const member *at = k < n ? &row[k] : &r->out[k - n];
            if (at->home == row->home && !r->is_taken[at->server] && is_on_line(at, m->number, one, two)) {
                r->instead[m->server] = at->server;
                r->is_taken[at->server] = true;
                is_open = false;
            }
        }
        if (is_open) {
            find_ports(r->p, m->server, row->home,
                       one->place +
                           (m->number - one->number) * (two->place - one->place) / (two->number - one->number));
        }
    }
}

/* Who stands in the place of one that is out: one in the home of its row; where it is a pair, in whose place it stands
 * itself. NONE: nobody. */
static uint32_t find_instead(const rows *r, const member *of, bool is_pair) {
    FAB_FIRST(k, r->n_out,
              !r->is_taken[r->out[k].server] && r->out[k].home == r->belongs[of->server] &&
                  (!is_pair ||
                   (of->home == r->belongs[r->out[k].server] && r->instead[r->out[k].server] == r->out[k].server)));
    return k < r->n_out ? r->out[k].server : NONE;
}

static void match(rows *r, bool is_pair) {
    for (uint32_t i = 0; i < r->n_out; i++) {
        const uint32_t server = r->out[i].server;
        const bool is_open = r->instead[server] == server && !(is_pair && r->is_taken[server]);
        const uint32_t other = is_open ? find_instead(r, &r->out[i], is_pair) : NONE;
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

/* --- rings -------------------------------------------------------------------------------------------------------- */

/* Whether the plugs of a column of those in a ring that are in another home are none of them where they belong: of a
 * server that has no such plug nothing is said. */
static bool has_moved(const rows *r, uint32_t first, uint32_t column) {
    const audit_plugs *p = r->p;
    bool has_any = false;
    for (uint32_t s = first, k = 0; k == 0 || s != first; s = r->instead[s], k++) {
        const audit_plug *plug = p->home_of[s] != r->belongs[s] ? audit_plug_of(p, s, column) : NULL;
        if (plug != NULL && plug->leaf == audit_home_leaf(p, r->belongs[s], column)) {
            return false;
        }
        has_any = has_any || plug != NULL;
    }
    return has_any;
}

/* Marks the plugs that a server of a ring has elsewhere than it should; those that are where they belong stayed.
 * Returns how many. */
static uint32_t mark_moved(rows *r, uint32_t first, uint32_t server, fab_finding *f) {
    audit_plugs *p = r->p;
    uint32_t n = 0;
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        audit_plug *plug = &p->plug[i];
        plug->is_told = has_moved(r, first, plug->column);
        if (plug->is_told) {
            const bool has_left = plug->leaf != audit_home_leaf(p, r->belongs[server], plug->column);
            f->line = f->cables == 0 ? fab_network_far(p->a->net, plug->side)->line : f->line;
            f->damage_bps += has_left ? p->a->net->cables[plug->side >> 1].rate_bps : 0;
            f->cables++;
            n++;
        }
    }
    return n;
}

/* Each server of a ring to its place. A plug in whose place none is stays told. */
static fab_status put_back(rows *r, uint32_t first, fab_error *err) {
    audit_plugs *p = r->p;
    FAB_OWNED_NEW(audit_plug, old, (size_t)p->n + 1, err);
    memcpy(old, p->plug, p->n * sizeof *old);
    for (uint32_t s = first, k = 0; k == 0 || s != first; s = r->instead[s], k++) {
        for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++) {
            audit_plug *plug = &p->plug[i];
            const audit_plug *at = old[i].is_told ? audit_plug_of(p, r->instead[s], plug->column) : NULL;
            if (at != NULL) {
                at = &old[at - p->plug];
                plug->side = at->side;
                plug->leaf = at->leaf;
                plug->key = at->key;
                plug->is_told = false;
                plug->is_put_back = true;
            }
        }
    }
    return FAB_OK;
}

/* Those that stand in each other's place, from the first by name on. */
static fab_status tell_ring(rows *r, uint32_t first, uint32_t n, fab_error *err) {
    audit_plugs *p = r->p;
    const uint32_t *instead = r->instead;
    fab_finding f = {.confidence = fab_audit_confidence(r->n_ruled - r->n_out, r->n_ruled)};
    bool have_all = true;
    bool is_out = false;
    for (uint32_t s = first, k = 0; k < n; s = instead[s], k++) {
        have_all = mark_moved(r, first, s, &f) > 0 && have_all;
        is_out = is_out || p->home_of[s] != r->belongs[s];
    }
    for (uint32_t s = first, k = 0; !(have_all && is_out) && k < n; s = instead[s], k++) {
        for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++) {
            p->plug[i].is_told = false;
        }
    }
    if (!have_all || !is_out) { /* one stayed with all its plugs, or all are in the home of their row */
        return FAB_OK;
    }
    FAB_PASS(n == 2 ? audit_report_servers(p, first, instead[first], f.confidence, err)
                    : audit_report_ring(p->a, p->a->shape->server_name, instead, first, &f, err));
    return put_back(r, first, err);
}

fab_status audit_plugs_rows(audit_plugs *p, fab_error *err) {
    FAB_OWNS(rows_release) rows r = {.p = p};
    FAB_PASS(rows_find(&r, err));
    memcpy(p->stood, p->home_of, r.n * sizeof *p->stood);
    FAB_EACH_RUN(uint32_t, i, next, r.n_out > 0 ? r.n : 0,
                 r.list[next].row == r.list[i].row && r.list[next].home == r.list[i].home) {
        match_by_number(&r, &r.list[i], next - i);
    }
    match(&r, true);
    match(&r, false);
    for (uint32_t s = 0; r.n_out > 0 && s < r.n; s++) {
        const uint32_t n = r.instead[s] != s ? audit_ring_length(r.instead, r.n, s) : 0;
        FAB_PASS(n > 1 ? tell_ring(&r, s, n, err) : FAB_OK);
    }
    for (uint32_t i = 0; i < r.n_out; i++) {
        p->home_of[r.out[i].server] = r.belongs[r.out[i].server];
    }
    return FAB_OK;
}
