/* Hosts that are not there: a number left out between two others, and fewer cables where these are plugged in than at
 * their peers, or a port left free between theirs on every switch that they share, as between no others, or one leaf
 * that has none. Names that leave out more are numbered so. */
#include "audit_plugs.h"

#define LEAST_HOSTS   8  /* of a row of numbers that one may be missing of */
#define LEAST_PAIRS   3  /* of hosts side by side, that have no port between them */
#define HOSTS_PER_GAP 16 /* one number may be left out, and one more for so many hosts */

typedef struct numbered_host {
    const char *label;
    uint64_t row;
    uint64_t number; /* the last one */
    size_t place;    /* of that number in the label */
    uint32_t server, n_digits;
} numbered_host;

FAB_ORDER_TWO(by_row_and_number, numbered_host, row, number);

/* The last number of the name of a server. False: it has none. */
static bool read_number(const audit_plugs *p, uint32_t server, numbered_host *out) {
    const char *label = p->a->shape->server_name[server];
    size_t place = 0;
    size_t end = 0;
    if (!audit_last_number(label, &place, &end) || end - place > 9) {
        return false;
    }
    *out = (numbered_host){.label = label,
                           .row = p->row[server],
                           .number = strtoull(label + place, NULL, 10),
                           .place = place,
                           .server = server,
                           .n_digits = (uint32_t)(end - place)};
    return true;
}

/* Whether every switch that a server is plugged into has fewer of these cables than the one in the middle. */
static bool has_room(const audit_plugs *p, uint32_t server, const uint32_t *plugged, uint32_t usual) {
    FAB_ANY_IN(found, i, p->first[server], p->first[server + 1], plugged[p->plug[i].leaf] >= usual);
    return p->first[server + 1] > p->first[server] && !found;
}

/* Of two hosts with their ports on the same switches: whether each leaves one free between those of the two. False:
 * they are elsewhere. */
static bool compare_ports(const audit_plugs *p, uint32_t one, uint32_t two, bool *out_is_free) {
    const audit_plug *x = &p->plug[p->first[one]];
    const audit_plug *y = &p->plug[p->first[two]];
    const uint32_t n = p->first[one + 1] - p->first[one];
    *out_is_free = true;
    if (n == 0 || n != p->first[two + 1] - p->first[two]) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool is_free = false;
        if (x[i].key != y[i].key || !fab_audit_leaves_port(p->a, x[i].side, y[i].side, &is_free)) {
            return false;
        }
        *out_is_free = *out_is_free && is_free;
    }
    return true;
}

/* How many hosts side by side by number have no port between them, of those that are on the same switches. */
static uint32_t count_pairs(const audit_plugs *p, const numbered_host *host, uint32_t n, uint32_t *out_close) {
    uint32_t n_pairs = 0;
    *out_close = 0;
    for (uint32_t i = 0; i + 1 < n; i++) {
        bool is_free = false;
        if (host[i + 1].number == host[i].number + 1 &&
            compare_ports(p, host[i].server, host[i + 1].server, &is_free)) {
            n_pairs++;
            *out_close += !is_free;
        }
    }
    return n_pairs;
}

/* The one leaf without hosts, where all others have as many; FAB_NETWORK_NONE: there is none, or several. */
static uint32_t find_empty_leaf(const auditor *a, const uint32_t *plugged, uint32_t usual) {
    uint32_t empty = FAB_NETWORK_NONE;
    uint32_t n_full = 0;
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        if (!fab_audit_is_switch(a, v) || a->shape->tier[v] != 1 || plugged[v] == usual) {
            n_full += fab_audit_is_switch(a, v) && a->shape->tier[v] == 1;
        } else if (plugged[v] > 0 || empty != FAB_NETWORK_NONE) {
            return FAB_NETWORK_NONE;
        } else {
            empty = v;
        }
    }
    return n_full >= LEAST_PAIRS ? empty : FAB_NETWORK_NONE;
}

/* Of a host beside one that is not there, which was plugged into `leaf`; `why` it is said to be missing. */
static fab_status tell_gap(audit_plugs *p, const numbered_host *before, uint32_t beside, uint32_t leaf,
                           double confidence, const char *why, fab_error *err) {
    auditor *a = p->a;
    fab_finding f = {
        .kind = FAB_FINDING_ABSENT_HOST, .confidence = confidence, .cables = p->first[beside + 1] - p->first[beside]};
    FAB_PASS(fab_audit_text(a, &f.node, err, "%.*s%0*" PRIu64 "%s", (int)before->place, before->label,
                            (int)before->n_digits, before->number + 1,
                            before->label + before->place + before->n_digits));
    f.other = fab_audit_label(a, leaf);
    return fab_audit_tell(a, &f, err,
                          "the hosts beside it by number are there, it is not, and %s" FAB_AUDIT_WORK
                          "If there is such a host, switch it on and look for its cables at %s.",
                          why, f.other);
}

/* Cables to hosts: of each switch, and of the one in the middle. */
static fab_status count_plugged(const audit_plugs *p, uint32_t **out, uint32_t *out_usual, fab_error *err) {
    const uint32_t n_nodes = p->a->net->n_nodes;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(*out, (size_t)n_nodes + 1, err));
    for (uint32_t i = 0; i < p->n; i++) {
        (*out)[p->plug[i].leaf]++;
    }
    FAB_OWNED_NEW(uint32_t, sorted, (size_t)n_nodes + 1, err);
    FAB_KEEP(sorted, n, v, n_nodes, (*out)[v] > 0, (*out)[v]);
    qsort(sorted, n, sizeof *sorted, fab_order_u32);
    *out_usual = n > 0 ? sorted[n / 2] : 0;
    return FAB_OK;
}

/* What a row of numbers is judged by. */
typedef struct gap_rules {
    const uint32_t *plugged; /* [nodes]: cables to hosts */
    uint32_t usual;          /* of the switch in the middle */
    uint32_t empty;          /* find_empty_leaf() */
    uint32_t n_pairs, n_close;
} gap_rules;

/* Two hosts of a row of n with one number between them. */
static fab_status look_at_gap(audit_plugs *p, const numbered_host *host, uint32_t n, const gap_rules *r,
                              fab_error *err) {
    auditor *a = p->a;
    const bool is_before = has_room(p, host[0].server, r->plugged, r->usual);
    const uint32_t beside = is_before ? host[0].server : host[1].server;
    const bool is_rule = r->n_pairs >= LEAST_PAIRS && r->n_close >= FAB_AUDIT_NEARLY * r->n_pairs;
    uint32_t leaf = p->first[beside] < p->first[beside + 1] ? p->plug[p->first[beside]].leaf : FAB_NETWORK_NONE;
    double confidence = FAB_AUDIT_GAP;
    const char *why = NULL;
    bool is_free = false;
    if (leaf == FAB_NETWORK_NONE) {
        return FAB_OK;
    }
    if (is_rule && compare_ports(p, host[0].server, host[1].server, &is_free) && is_free) {
        confidence = fab_audit_confidence(r->n_close, r->n_pairs);
        FAB_PASS(fab_audit_text(a, &why, err,
                                "between their ports one is free on every switch of theirs, as %u of %u others side by "
                                "side leave none",
                                r->n_close, r->n_pairs));
    } else if (n >= LEAST_HOSTS && (is_before || has_room(p, host[1].server, r->plugged, r->usual))) {
        FAB_PASS(fab_audit_text(a, &why, err, "the switches of %s have fewer hosts than the %u of their peers",
                                a->shape->server_name[beside], r->usual));
    } else if (r->empty != FAB_NETWORK_NONE) {
        leaf = r->empty;
        FAB_PASS(fab_audit_text(a, &why, err, "%s has no host where each of its peers has %u cables to some",
                                fab_audit_label(a, leaf), r->usual));
    }
    return why != NULL ? tell_gap(p, host, beside, leaf, confidence, why, err) : FAB_OK;
}

/* Hosts of one row of numbers. */
static fab_status look_at_row(audit_plugs *p, const numbered_host *host, uint32_t n, gap_rules *r, fab_error *err) {
    const uint64_t n_left_out = host[n - 1].number - host[0].number + 1 - n;
    if (n <= LEAST_PAIRS || n_left_out == 0 || n_left_out > 1 + n / HOSTS_PER_GAP) {
        return FAB_OK;
    }
    r->n_pairs = count_pairs(p, host, n, &r->n_close);
    for (uint32_t i = 0; i + 1 < n; i++) {
        FAB_PASS(host[i + 1].number == host[i].number + 2 ? look_at_gap(p, &host[i], n, r, err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status audit_plugs_gaps(audit_plugs *p, fab_error *err) {
    const fab_shape *shape = p->a->shape;
    FAB_OWNED uint32_t *plugged = NULL;
    gap_rules rules = {.usual = 0};
    uint32_t n = 0;
    FAB_OWNED_NEW(numbered_host, host, (size_t)shape->n_servers + 1, err);
    FAB_PASS(count_plugged(p, &plugged, &rules.usual, err));
    rules.plugged = plugged;
    rules.empty = find_empty_leaf(p->a, plugged, rules.usual);
    for (uint32_t s = 0; s < shape->n_servers; s++) {
        n += read_number(p, s, &host[n]);
    }
    qsort(host, n, sizeof *host, by_row_and_number);
    FAB_EACH_RUN(uint32_t, i, next, n, host[next].row == host[i].row) {
        FAB_PASS(look_at_row(p, &host[i], next - i, &rules, err));
    }
    return FAB_OK;
}
