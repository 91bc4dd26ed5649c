/* The order of hosts. Where the names of hosts rise along the ports of a leaf and from leaf to leaf, a host that stands
 * out of it is plugged in elsewhere than meant. Names that follow no order tell nothing. Two hosts at each other's port
 * of one leaf lose nothing: they are a finding where every other port of the fabric follows the names, and none where
 * they are not the only ones. */
#include "audit_plugs.h"

#include "fab/memory.h"
#include "fab/order.h"

#define NONE         FAB_NETWORK_NONE
#define LEAST        8    /* hosts that make an order */
#define MOST_BROKEN  0.04 /* part of them that stand out of it */
#define RISING       0.9  /* part of the neighbours at a leaf whose names rise, where ports follow names */
#define NEAR         2    /* places around a host that stands out */
#define MOST_NEAR    256
#define MOST_AT_LEAF 64

typedef struct standing {
    uint64_t kind; /* of name, and column */
    uint32_t leaf, leaf_rank, rank, port, plug;
} standing;

typedef struct sequence {
    audit_plugs *p;
    standing *at; /* [n] */
    uint32_t n;
    uint32_t *tail, *before;           /* of the longest rising sequence */
    bool *is_out;                      /* [n]: not in it */
    uint32_t at_leaf[MOST_AT_LEAF][2]; /* plugs that are exchanged at one leaf */
    uint32_t n_at_leaf;
    double confidence; /* of the last of them */
} sequence;
FAB_FREES(sequence_release, sequence, tail, before, is_out);

FAB_ORDER_THREE(by_leaf_and_rank, standing, kind, leaf, rank);

FAB_ORDER_KEYS(by_place, standing, FAB_ORDER(a->leaf_rank, b->leaf_rank), FAB_ORDER(a->leaf, b->leaf),
               FAB_ORDER(a->port, b->port), FAB_ORDER(a->rank, b->rank));

/* Marks what is not in a longest rising sequence; returns how many. [Fredman 1975] */
static uint32_t mark_out(sequence *s) {
    uint32_t length = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t low = 0;
        uint32_t high = length;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (s->at[s->tail[middle]].rank < s->at[i].rank) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        s->before[i] = low > 0 ? s->tail[low - 1] : NONE;
        s->tail[low] = i;
        length = low == length ? length + 1 : length;
        s->is_out[i] = true;
    }
    for (uint32_t i = length > 0 ? s->tail[length - 1] : NONE; i != NONE; i = s->before[i]) {
        s->is_out[i] = false;
    }
    return s->n - length;
}

static bool fits_at(const sequence *s, uint32_t i) {
    return (i == 0 || s->at[i - 1].rank < s->at[i].rank) && (i + 1 == s->n || s->at[i].rank < s->at[i + 1].rank);
}

static void exchange(sequence *s, uint32_t i, uint32_t k) {
    uint32_t rank = s->at[i].rank;
    uint32_t plug = s->at[i].plug;
    s->at[i].rank = s->at[k].rank;
    s->at[i].plug = s->at[k].plug;
    s->at[k].rank = rank;
    s->at[k].plug = plug;
}

/* Two that put the order right at both places when they change; they are then exchanged. */
static bool find_exchange(sequence *s, uint32_t *out_i, uint32_t *out_k) {
    uint32_t near[MOST_NEAR];
    uint32_t n = 0;
    for (uint32_t i = 0, next = 0; i < s->n; i++) {
        for (uint32_t k = i < NEAR ? 0 : i - NEAR; s->is_out[i] && k <= i + NEAR && k < s->n && n < MOST_NEAR; k++) {
            if (k >= next) { /* not listed yet */
                near[n++] = k;
                next = k + 1;
            }
        }
    }
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = x + 1; y < n; y++) {
            exchange(s, near[x], near[y]);
            if (fits_at(s, near[x]) && fits_at(s, near[y])) {
                *out_i = near[x];
                *out_k = near[y];
                return true;
            }
            exchange(s, near[x], near[y]);
        }
    }
    return false;
}

/* Where its neighbours by name stand; for one that is alone on its leaf both must say so. */
static uint32_t leaf_by_name(const sequence *s, uint32_t i, bool is_alone) {
    uint32_t below = NONE;
    uint32_t above = NONE;
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->is_out[k] || k == i) {
            continue;
        }
        if (s->at[k].rank < s->at[i].rank && (below == NONE || s->at[k].rank > s->at[below].rank)) {
            below = k;
        }
        if (s->at[k].rank > s->at[i].rank && (above == NONE || s->at[k].rank < s->at[above].rank)) {
            above = k;
        }
    }
    uint32_t one = below != NONE ? s->at[below].leaf : NONE;
    uint32_t two = above != NONE ? s->at[above].leaf : NONE;
    if (is_alone) {
        return one == two ? one : NONE;
    }
    return one == s->at[i].leaf || two == s->at[i].leaf ? s->at[i].leaf : one != NONE ? one : two;
}

/* Whether the names beside a place at its leaf are those next to its name: a run in which nothing else fits. */
static bool is_in_run(const sequence *s, uint32_t i) {
    bool is_below = i > 0 && s->at[i - 1].leaf == s->at[i].leaf;
    bool is_above = i + 1 < s->n && s->at[i + 1].leaf == s->at[i].leaf;
    return (is_below || is_above) && (!is_below || s->at[i - 1].rank + 1 == s->at[i].rank) &&
           (!is_above || s->at[i + 1].rank == s->at[i].rank + 1);
}

/* Whether a port is where two or more others of its server are, and no other of the server is elsewhere. */
static bool is_with_its_server(const audit_plugs *p, const audit_plug *x) {
    uint32_t n = p->first[x->server + 1] - p->first[x->server];
    for (uint32_t i = p->first[x->server]; i < p->first[x->server + 1]; i++) {
        n -= p->plug[i].leaf != x->leaf ? n : 0;
    }
    return n > 2;
}

static fab_status tell_broken(sequence *s, uint32_t n_out, fab_error *err) {
    audit_plugs *p = s->p;
    double confidence = fab_audit_confidence(s->n - n_out, s->n);
    for (uint32_t i = 0, k = 0; n_out > 0 && find_exchange(s, &i, &k); n_out = mark_out(s)) {
        audit_plug *x = &p->plug[s->at[i].plug];
        audit_plug *y = &p->plug[s->at[k].plug];
        if (x->leaf == y->leaf) {
            s->at_leaf[s->n_at_leaf % MOST_AT_LEAF][0] = s->at[i].plug;
            s->at_leaf[s->n_at_leaf++ % MOST_AT_LEAF][1] = s->at[k].plug;
            s->confidence = confidence;
        } else if (!x->is_told && !y->is_told && !is_with_its_server(p, x) && !is_with_its_server(p, y)) {
            x->is_told = y->is_told = true;
            FAB_PASS(audit_report_exchange(p->a, FAB_FINDING_SWAPPED_HOSTS, x, y, confidence, err));
        } else if (!x->is_told && !y->is_told && is_in_run(s, i) && is_in_run(s, k)) {
            FAB_PASS(audit_report_servers(p, x, y, confidence, err));
        }
    }
    for (uint32_t i = 0; n_out > 0 && i < s->n; i++) {
        audit_plug *x = &p->plug[s->at[i].plug];
        uint32_t leaf = s->is_out[i] ? leaf_by_name(s, i, false) : NONE;
        if (leaf != NONE && leaf != x->leaf && !x->is_told) {
            x->is_told = true;
            x->should = leaf;
            FAB_PASS(audit_report_astray(p, x, confidence, err));
        }
    }
    return FAB_OK;
}

/* Hosts that are alone of their kind on a leaf, where others are among those of their numbers. They leave the sequence.
 */
static fab_status tell_alone(sequence *s, fab_error *err) {
    uint32_t n_alone = 0;
    uint32_t n_leaves = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool begins = i == 0 || s->at[i - 1].leaf != s->at[i].leaf;
        bool ends = i + 1 == s->n || s->at[i + 1].leaf != s->at[i].leaf;
        s->is_out[i] = begins && ends;
        n_alone += s->is_out[i];
        n_leaves += begins;
    }
    if (n_alone == 0 || 2 * n_alone > n_leaves || n_alone > 8) {
        return FAB_OK;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        audit_plug *x = &s->p->plug[s->at[i].plug];
        uint32_t leaf = s->is_out[i] ? leaf_by_name(s, i, true) : NONE;
        if (leaf != NONE && leaf != x->leaf) {
            x->is_told = true;
            x->should = leaf;
            FAB_PASS(audit_report_astray(s->p, x, fab_audit_confidence(s->n - n_alone, s->n), err));
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->p->plug[s->at[i].plug].is_told) {
            s->at[n++] = s->at[i];
        }
    }
    s->n = n;
    return FAB_OK;
}

/* Places of leaves: by their names, or by the host in the middle of each. The hosts stand by leaf. */
static uint32_t order_leaves(sequence *s, bool by_name) {
    for (uint32_t i = 0, next = 0; i < s->n; i = next) {
        for (next = i + 1; next < s->n && s->at[next].leaf == s->at[i].leaf; next++) {
        }
        uint32_t place = by_name ? s->p->a->rank[s->at[i].leaf] : s->at[i + (next - i) / 2].rank;
        for (uint32_t k = i; k < next; k++) {
            s->at[k].leaf_rank = place;
        }
    }
    qsort(s->at, s->n, sizeof *s->at, by_place);
    return mark_out(s);
}

/* Whether all hosts of some leaf are out: then leaves are not in the order of their names. */
static bool has_leaf_out(const sequence *s) {
    for (uint32_t i = 0, next = 0; i < s->n; i = next) {
        bool all = s->is_out[i];
        for (next = i + 1; next < s->n && s->at[next].leaf == s->at[i].leaf; next++) {
            all = all && s->is_out[next];
        }
        if (all && next - i > 1) {
            return true;
        }
    }
    return false;
}

static bool is_broken(const sequence *s, uint32_t n_out) {
    return s->n < LEAST || (n_out > 2 && n_out > MOST_BROKEN * s->n) || LEAST * n_out > s->n;
}

/* Hosts of one kind of name and one column. */
static fab_status look_at_sequence(sequence *s, bool by_port, fab_error *err) {
    for (uint32_t i = 0; i < s->n && !by_port; i++) {
        s->at[i].port = 0;
    }
    if (s->n == 0) {
        return FAB_OK;
    }
    uint32_t n_out = order_leaves(s, true);
    if (is_broken(s, n_out) || has_leaf_out(s)) {
        qsort(s->at, s->n, sizeof *s->at, by_leaf_and_rank);
        FAB_PASS(tell_alone(s, err));
        n_out = order_leaves(s, false);
    }
    if (is_broken(s, n_out)) {
        return FAB_OK;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->p->a->ruled[s->p->plug[s->at[i].plug].side >> 1] = true;
    }
    return tell_broken(s, n_out, err);
}

/* Two hosts, if no others are exchanged at a leaf. */
static fab_status tell_at_leaf(sequence *s, fab_error *err) {
    audit_plugs *p = s->p;
    for (uint32_t i = 1; i < s->n_at_leaf && s->n_at_leaf <= MOST_AT_LEAF; i++) {
        const audit_plug *first[2] = {&p->plug[s->at_leaf[0][0]], &p->plug[s->at_leaf[0][1]]};
        const audit_plug *next[2] = {&p->plug[s->at_leaf[i][0]], &p->plug[s->at_leaf[i][1]]};
        if (first[0]->server + first[1]->server != next[0]->server + next[1]->server) {
            return FAB_OK;
        }
    }
    for (uint32_t i = 0; i < s->n_at_leaf && s->n_at_leaf <= MOST_AT_LEAF; i++) {
        FAB_PASS(audit_report_exchange(p->a, FAB_FINDING_SWAPPED_HOSTS, &p->plug[s->at_leaf[i][0]],
                                       &p->plug[s->at_leaf[i][1]], s->confidence, err));
    }
    return FAB_OK;
}

/* Whether names rise along the ports of leaves. */
static bool ports_follow(const standing *all, uint32_t n) {
    uint32_t n_pairs = 0;
    uint32_t n_rising = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (all[i].kind == all[i - 1].kind && all[i].leaf == all[i - 1].leaf) { /* ranks rise: do the ports? */
            n_pairs++;
            n_rising += all[i].port > all[i - 1].port;
        }
    }
    return n_pairs > 0 && n_rising >= RISING * n_pairs;
}

/* Where the adapters of servers rise along leaves, two of one server whose leaves, exchanged, put them right. `leaf`
 * has room for all plugs of a server. */
static fab_status look_at_adapters(audit_plugs *p, uint32_t *leaf, fab_error *err) {
    uint32_t n_rising = 0;
    uint32_t n_spread = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t server = 0; server < p->a->shape->n_servers; server++) {
            audit_plug *x = p->plug + p->first[server];
            uint32_t n = p->first[server + 1] - p->first[server];
            uint32_t wrong[3];
            uint32_t n_wrong = 0;
            bool is_told = false;
            for (uint32_t i = 0; i < n; i++) {
                leaf[i] = p->a->rank[x[i].leaf];
                is_told = is_told || x[i].is_told;
            }
            qsort(leaf, n, sizeof *leaf, fab_order_u32);
            for (uint32_t i = 0; i < n && n_wrong < 3; i++) {
                wrong[n_wrong] = i;
                n_wrong += leaf[i] != p->a->rank[x[i].leaf];
            }
            bool is_spread = n > 0 && leaf[0] != leaf[n - 1] && !is_told;
            n_spread += is_spread && pass == 0;
            n_rising += is_spread && pass == 0 && n_wrong == 0;
            if (pass == 1 && is_spread && n_wrong == 2) {
                FAB_PASS(audit_report_exchange(p->a, FAB_FINDING_SWAPPED_RAILS, &x[wrong[0]], &x[wrong[1]],
                                               fab_audit_confidence(n_rising, n_spread), err));
            }
        }
        if (n_spread < LEAST || n_rising < RISING * n_spread) {
            break;
        }
    }
    return FAB_OK;
}

fab_status audit_plugs_order(audit_plugs *p, fab_error *err) {
    const auditor *a = p->a;
    FAB_OWNED standing *all = NULL;
    uint32_t n = 0;
    FAB_OWNS(sequence_release) sequence s = {.p = p};
    FAB_PASS(FAB_NEW_ALL((size_t)p->n + 1, err, all, s.tail, s.before, s.is_out));
    for (uint32_t i = 0; i < p->n; i++) {
        const audit_plug *x = &p->plug[i];
        const char *port = fab_network_far(a->net, x->side)->port;
        const char *digits = port != NULL ? strpbrk(port, "0123456789") : NULL;
        if (!x->is_told) {
            all[n++] = (standing){.kind = p->pattern[x->server] + x->column,
                                  .leaf = x->leaf,
                                  .rank = p->rank[x->server],
                                  .port = digits != NULL ? (uint32_t)strtoul(digits, NULL, 10) : 0,
                                  .plug = i};
        }
    }
    qsort(all, n, sizeof *all, by_leaf_and_rank);
    bool by_port = ports_follow(all, n);
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        for (next = i + 1; next < n && all[next].kind == all[i].kind; next++) {
        }
        s.at = all + i;
        s.n = next - i;
        FAB_PASS(look_at_sequence(&s, by_port, err));
    }
    FAB_PASS(tell_at_leaf(&s, err));
    return look_at_adapters(p, s.tail, err);
}
