/* The order of hosts. Where the names of hosts rise along the ports of a leaf and from leaf to leaf, a host that stands
 * out of it is plugged in elsewhere than meant. Names that follow no order tell nothing. Two hosts at each other's port
 * of one leaf lose nothing: they are a finding where every other port of the fabric follows the names, and none where
 * they are not the only ones. */
#include "audit_plugs.h"

#define NONE         FAB_NETWORK_NONE
#define LEAST        8    /* hosts that make an order */
#define ALL_IN_ORDER 6    /* hosts that make one where none stands out of it */
#define MOST_BROKEN  0.04 /* part of them that stand out of it */
#define RISING       0.9  /* part of the neighbours at a leaf whose names rise, where ports follow names */
#define NEAR         2    /* places around a host that stands out */
#define MOST_NEAR    256
#define MOST_TRIED   8

typedef struct standing {
    uint64_t kind; /* of name, and column */
    uint32_t leaf, leaf_rank, rank, port, plug;
} standing;

/* Two plugs, each where the other belongs. */
typedef struct swapped {
    uint32_t server[2], plug[2];
    double confidence;
} swapped;

FAB_ORDER_KEYS(by_servers, swapped, FAB_ORDER(a->server[0], b->server[0]), FAB_ORDER(a->server[1], b->server[1]),
               FAB_ORDER(a->plug[0], b->plug[0]));

typedef struct sequence {
    audit_plugs *p;
    standing *at;   /* [n] */
    standing *kept; /* a copy of them */
    uint32_t n;
    uint32_t *tail, *before; /* of the longest rising sequence */
    bool *is_out;            /* [n]: not in it */
    uint32_t *place_of_rank; /* [servers]: where those of it stand, as it was marked last; of others anything */
    bool by_port;            /* ports follow names; else those of a leaf stand by name */
    swapped *swap;           /* [n_swapped] */
    uint32_t n_swapped;
    size_t swap_capacity;
    uint32_t n_most; /* hosts of the longest sequence in which ports follow names */
} sequence;
FAB_FREES(sequence_release, sequence, kept, tail, before, is_out, place_of_rank, swap);

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
        s->place_of_rank[s->at[i].rank] = i;
    }
    for (uint32_t i = length > 0 ? s->tail[length - 1] : NONE; i != NONE; i = s->before[i]) {
        s->is_out[i] = false;
    }
    return s->n - length;
}

/* The nearest before or behind a place, as `step` is -1 or 1, that is in the rising sequence, but for one. */
static uint32_t rising_from(const sequence *s, uint32_t at, uint32_t step, uint32_t except) {
    do {
        at += step;
    } while (at < s->n && (s->is_out[at] || at == except));
    return at < s->n ? at : NONE;
}

/* A place, and what rises before and behind it; where ports do not count, before and behind its leaf. */
typedef struct place {
    uint32_t at, before, behind;
} place;

static place place_of(const sequence *s, uint32_t i) {
    uint32_t first = i;
    uint32_t last = i;
    for (; !s->by_port && first > 0 && s->at[first - 1].leaf == s->at[i].leaf; first--) {
    }
    for (; !s->by_port && last + 1 < s->n && s->at[last + 1].leaf == s->at[i].leaf; last++) {
    }
    return (place){i, rising_from(s, first, UINT32_MAX, NONE), rising_from(s, last, 1, NONE)};
}

/* Whether what stands at another place would be in order at this one, in its stead. */
static bool fits_at(const sequence *s, const place *here, uint32_t other) {
    uint32_t before = here->before == other ? rising_from(s, other, UINT32_MAX, other) : here->before;
    uint32_t behind = here->behind == other ? rising_from(s, other, 1, other) : here->behind;
    return (before == NONE || s->at[before].rank < s->at[other].rank) &&
           (behind == NONE || s->at[other].rank < s->at[behind].rank);
}

/* The nearest by name that is in the rising sequence, but for one. */
static uint32_t rising_by_name(const sequence *s, uint32_t i, uint32_t step, uint32_t except) {
    for (uint32_t rank = s->at[i].rank + step; rank < s->p->a->shape->n_servers; rank += step) {
        uint32_t at = s->place_of_rank[rank]; /* of this sequence, if that rank stands there */
        if (at < s->n && s->at[at].rank == rank && !s->is_out[at] && at != except) {
            return at;
        }
    }
    return NONE;
}

/* Whether no neighbour by name is at its leaf, but for one. */
static bool is_away(const sequence *s, uint32_t i, uint32_t except) {
    uint32_t below = rising_by_name(s, i, UINT32_MAX, except);
    uint32_t above = rising_by_name(s, i, 1, except);
    return (below == NONE || s->at[below].leaf != s->at[i].leaf) &&
           (above == NONE || s->at[above].leaf != s->at[i].leaf);
}

/* Whether two, the second behind the first, would both be in order if they changed places. One of them at least is out,
 * and those that rise are then more than before: each exchange leaves fewer out. */
static bool are_exchanged(const sequence *s, const place *one, const place *two) {
    uint32_t i = one->at;
    uint32_t k = two->at;
    return (s->is_out[i] || s->is_out[k]) && s->at[i].rank > s->at[k].rank && fits_at(s, one, k) &&
           fits_at(s, two, i) &&
           (s->by_port || (s->at[i].leaf != s->at[k].leaf && is_away(s, i, k) && is_away(s, k, i)));
}

/* To its place by name among those of its leaf, where ports do not count. Returns that. */
static uint32_t settle(sequence *s, uint32_t i) {
    for (uint32_t step = UINT32_MAX;; step = 1) {
        for (uint32_t k = i + step; !s->by_port && k < s->n && s->at[k].leaf == s->at[i].leaf &&
                                    (s->at[k].rank > s->at[i].rank) == (step != 1) && s->at[k].rank != s->at[i].rank;
             k = i + step) {
            standing moved = s->at[i];
            s->at[i] = s->at[k];
            s->at[k] = moved;
            i = k;
        }
        if (step == 1) {
            return i;
        }
    }
}

static void exchange(sequence *s, uint32_t *i, uint32_t *k) {
    standing one = s->at[*i];
    standing *two = &s->at[*k];
    s->at[*i].rank = two->rank;
    s->at[*i].plug = two->plug;
    two->rank = one.rank;
    two->plug = one.plug;
    *i = settle(s, *i);
    *k = settle(s, *k);
}

/* How many stand out of the order when two change places. */
static uint32_t count_left(sequence *s, uint32_t i, uint32_t k) {
    exchange(s, &i, &k);
    const uint32_t n_out = mark_out(s);
    exchange(s, &i, &k);
    (void)mark_out(s);
    return n_out;
}

/* Two that put the order right at both places when they change: of the first MOST_TRIED, those that leave the fewest of
 * n_out. */
static bool find_exchange(sequence *s, uint32_t n_out, uint32_t *out_i, uint32_t *out_k) {
    place near[MOST_NEAR];
    uint32_t n = 0;
    uint32_t n_tried = 0;
    uint32_t least = n_out;
    for (uint32_t i = 0, next = 0; i < s->n; i++) {
        for (uint32_t k = i < NEAR ? 0 : i - NEAR; s->is_out[i] && k <= i + NEAR && k < s->n && n < MOST_NEAR; k++) {
            if (k >= next) { /* not listed yet */
                near[n++] = place_of(s, k);
                next = k + 1;
            }
        }
    }
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = x + 1; y < n && n_tried < MOST_TRIED && least > 0 && least + 2 > n_out; y++) {
            const bool is_one = are_exchanged(s, &near[x], &near[y]);
            const uint32_t left = is_one ? count_left(s, near[x].at, near[y].at) : least;
            n_tried += is_one;
            if (left < least) {
                least = left;
                *out_i = near[x].at;
                *out_k = near[y].at;
            }
        }
    }
    return least < n_out;
}

static uint64_t row_of(const sequence *s, uint32_t i) {
    return s->p->row[s->p->plug[s->at[i].plug].server];
}

/* The leaf of its neighbours by name. Where they are on two, it is either: that of its row of names, or the one that
 * lacks cables, rather than *out_else. */
static uint32_t leaf_by_name(const sequence *s, uint32_t i, uint32_t *out_else) {
    const uint32_t below = rising_by_name(s, i, UINT32_MAX, i);
    const uint32_t above = rising_by_name(s, i, 1, i);
    const uint32_t one = below != NONE ? s->at[below].leaf : NONE;
    const uint32_t two = above != NONE ? s->at[above].leaf : NONE;
    *out_else = NONE;
    if (one == two || one == NONE || two == NONE) {
        return one != NONE ? one : two;
    }
    if (one == s->at[i].leaf || two == s->at[i].leaf) {
        return s->at[i].leaf;
    }
    const bool is_row = row_of(s, below) == row_of(s, i);
    const bool is_end = is_row != (row_of(s, above) == row_of(s, i));
    const bool is_one = is_end ? is_row : !fab_audit_is_whole(s->p->a, one);
    *out_else = is_one ? two : one;
    return is_one ? one : two;
}

/* Whether a port, of n that are exchanged, is where others of its server are. */
static bool is_with_its_server(const audit_plugs *p, uint32_t plug, uint32_t n) {
    const audit_plug *x = &p->plug[plug];
    FAB_SUM_IN(uint32_t, n_there, i, p->first[x->server], p->first[x->server + 1], p->plug[i].leaf == x->leaf);
    return n_there > n;
}

static fab_status tell_broken(sequence *s, uint32_t n_out, fab_error *err) {
    audit_plugs *p = s->p;
    double confidence = fab_audit_confidence(s->n - n_out, s->n);
    for (uint32_t i = 0, k = 0; n_out > 0 && find_exchange(s, n_out, &i, &k); n_out = mark_out(s)) {
        exchange(s, &i, &k);
        const bool falls = p->plug[s->at[i].plug].server > p->plug[s->at[k].plug].server;
        const uint32_t plug[2] = {s->at[falls ? k : i].plug, s->at[falls ? i : k].plug};
        const swapped one = {.server = {p->plug[plug[0]].server, p->plug[plug[1]].server},
                             .plug = {plug[0], plug[1]},
                             .confidence = confidence};
        FAB_PASS(FAB_APPEND(s->swap, s->n_swapped, s->swap_capacity, err, one));
    }
    for (uint32_t i = 0; n_out > 0 && i < s->n; i++) {
        audit_plug *x = &p->plug[s->at[i].plug];
        uint32_t or_else = NONE;
        const uint32_t leaf = s->is_out[i] && !x->is_told ? leaf_by_name(s, i, &or_else) : NONE;
        if (leaf != NONE && leaf != x->leaf) {
            x->should = leaf;
            x->or_else = or_else;
        }
    }
    for (uint32_t i = 0; n_out > 0 && i < s->n; i++) {
        audit_plug *x = &p->plug[s->at[i].plug];
        if (s->is_out[i] && !x->is_told && x->should != NONE) {
            x->is_told = true;
            FAB_PASS(audit_report_astray(p, x, confidence, err));
        }
    }
    return FAB_OK;
}

/* Places of leaves: by their names, or by the host in the middle of each. The hosts stand by leaf. */
static uint32_t order_leaves(sequence *s, bool by_name) {
    FAB_EACH_RUN(uint32_t, i, next, s->n, s->at[next].leaf == s->at[i].leaf) {
        uint32_t leaf_rank = by_name ? s->p->a->rank[s->at[i].leaf] : s->at[i + (next - i) / 2].rank;
        for (uint32_t k = i; k < next; k++) {
            s->at[k].leaf_rank = leaf_rank;
        }
    }
    qsort(s->at, s->n, sizeof *s->at, by_place);
    return mark_out(s);
}

/* Whether all hosts of some leaf are out: then leaves are not in the order of their names. */
static bool has_leaf_out(const sequence *s) {
    bool found = false;
    FAB_EACH_RUN(uint32_t, i, next, s->n, s->at[next].leaf == s->at[i].leaf) {
        FAB_ALL_IN(all, k, i, next, s->is_out[k]);
        found = found || (all && next - i > 1);
    }
    return found;
}

/* Whether one exchange, or one more for every LEAST hosts, puts all in order. */
static bool few_exchanges_do(sequence *s, uint32_t n_out) {
    const uint32_t n = n_out;
    uint32_t n_made = 0;
    memcpy(s->kept, s->at, s->n * sizeof *s->at);
    for (uint32_t i = 0, k = 0; n_out > 0 && LEAST * (n_made + 1) <= s->n && n <= 2 * (s->n / LEAST); n_made++) {
        if (!find_exchange(s, n_out, &i, &k)) {
            break;
        }
        exchange(s, &i, &k);
        n_out = mark_out(s);
    }
    if (n_made > 0) {
        memcpy(s->at, s->kept, s->n * sizeof *s->at);
        (void)mark_out(s);
    }
    return n_out == 0;
}

/* Of few hosts those that are exchanged, and no others, are still an exception. */
static bool is_broken(sequence *s, uint32_t n_out) {
    const bool are_many = (n_out > 2 && n_out > MOST_BROKEN * s->n) || LEAST * n_out > s->n;
    const bool are_few = s->n < (n_out > 0 ? LEAST : ALL_IN_ORDER);
    return are_few || (are_many && !few_exchanges_do(s, n_out));
}

/* Puts leaves in the order of their names, else of the names of their hosts. */
static uint32_t order_hosts(sequence *s) {
    qsort(s->at, s->n, sizeof *s->at, by_leaf_and_rank);
    uint32_t n_out = order_leaves(s, true);
    if (is_broken(s, n_out) || has_leaf_out(s)) {
        qsort(s->at, s->n, sizeof *s->at, by_leaf_and_rank);
        n_out = order_leaves(s, false);
    }
    return n_out;
}

/* Hosts of one kind of name and one column: by port, and where that is no order, those of a leaf by name. */
static fab_status look_at_sequence(sequence *s, fab_error *err) {
    s->by_port = true;
    uint32_t n_out = order_hosts(s);
    if (is_broken(s, n_out)) {
        s->by_port = false;
        for (uint32_t i = 0; i < s->n; i++) {
            s->at[i].port = 0;
        }
        n_out = order_hosts(s);
    }
    if (is_broken(s, n_out)) {
        return FAB_OK;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->p->a->ruled[s->p->plug[s->at[i].plug].side >> 1] = true;
    }
    s->p->a->out->n_out_of_order -= s->n;
    s->p->a->out->n_out_of_port_order -= s->by_port ? s->n : 0;
    s->n_most = s->by_port && s->n > s->n_most ? s->n : s->n_most;
    return tell_broken(s, n_out, err);
}

static bool is_one_leaf(const audit_plugs *p, const swapped *x) {
    return p->plug[x->plug[0]].leaf == p->plug[x->plug[1]].leaf;
}

static bool same_servers(const swapped *x, const swapped *y) {
    return x->server[0] == y->server[0] && x->server[1] == y->server[1];
}

/* Whether names rise along the ports of leaves, but for servers [n_servers] that are exchanged. */
static bool ports_follow(const audit_plugs *p, const standing *all, uint32_t n, const bool *is_swapped) {
    uint32_t n_pairs = 0;
    uint32_t n_rising = 0;
    FAB_EACH_RUN(uint32_t, i, next, n, is_swapped[p->plug[all[next].plug].server]) { /* ranks rise: do the ports? */
        if (next < n && all[next].kind == all[i].kind && all[next].leaf == all[i].leaf &&
            !is_swapped[p->plug[all[i].plug].server]) {
            n_pairs++;
            n_rising += all[next].port > all[i].port;
        }
    }
    return n_rising >= RISING * n_pairs;
}

/* Two servers, of which n ports are exchanged: one finding. One that stands with others of its server is elsewhere
 * with all of them alone. */
static fab_status tell_pair(audit_plugs *p, const swapped *x, uint32_t n, fab_error *err) {
    const uint32_t n_of[2] = {audit_n_ports(p, x->server[0]), audit_n_ports(p, x->server[1])};
    const bool is_whole = n == (n_of[0] < n_of[1] ? n_of[0] : n_of[1]);
    if (!is_whole && !is_one_leaf(p, x) &&
        (is_with_its_server(p, x->plug[0], n) || is_with_its_server(p, x->plug[1], n))) {
        return FAB_OK;
    }
    for (uint32_t i = 0; i < n; i++) {
        p->plug[x[i].plug[0]].is_told = p->plug[x[i].plug[1]].is_told = true;
    }
    for (uint32_t i = 0; is_whole && n > 1 && i < n_of[0] + n_of[1]; i++) { /* those that one lacks as well */
        p->plug[i < n_of[0] ? p->first[x->server[0]] + i : p->first[x->server[1]] + i - n_of[0]].is_told = true;
    }
    return n > 1 ? audit_report_servers(p, x->server[0], x->server[1], x->confidence, err)
                 : audit_report_exchange(p->a, FAB_FINDING_SWAPPED_HOSTS, &p->plug[x->plug[0]], &p->plug[x->plug[1]],
                                         x->confidence, err);
}

/* What is exchanged, by servers; at ports of one leaf, which loses nothing, where ports follow names everywhere else
 * and one in LEAST hosts is exchanged so, or one at all. */
static fab_status tell_swapped(sequence *s, const standing *all, uint32_t n, fab_error *err) {
    audit_plugs *p = s->p;
    uint32_t n_at_leaf = 0;
    FAB_OWNED_NEW(bool, is_swapped, (size_t)p->a->shape->n_servers + 1, err);
    FAB_SORT(s->swap, s->n_swapped, by_servers);
    for (uint32_t i = 0; i < s->n_swapped; i++) {
        const swapped *x = &s->swap[i];
        n_at_leaf += is_one_leaf(p, x) && (i == 0 || !same_servers(x, x - 1));
        is_swapped[x->server[0]] = is_swapped[x->server[1]] = true;
    }
    const bool tells_ports = LEAST * n_at_leaf <= s->n_most && ports_follow(p, all, n, is_swapped);
    p->a->out->n_out_of_port_order += tells_ports ? 0 : n - p->a->out->n_out_of_port_order;
    FAB_EACH_RUN(uint32_t, i, next, s->n_swapped, same_servers(&s->swap[next], &s->swap[i])) {
        if (tells_ports || !is_one_leaf(p, &s->swap[i])) {
            FAB_PASS(tell_pair(p, &s->swap[i], next - i, err));
        }
    }
    return FAB_OK;
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

/* All that is not told, as it is plugged; by leaf and name. Returns how many. */
static uint32_t list_all(const audit_plugs *p, standing *all) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const audit_plug *x = &p->plug[i];
        if (!x->is_told) {
            all[n++] = (standing){.kind = p->pattern[x->server] + x->column,
                                  .leaf = x->leaf,
                                  .rank = p->rank[x->server],
                                  .port = audit_port_number(p, x),
                                  .plug = i};
        }
    }
    FAB_SORT(all, n, by_leaf_and_rank);
    return n;
}

fab_status audit_plugs_order(audit_plugs *p, fab_error *err) {
    FAB_OWNED standing *all = NULL;
    FAB_OWNS(sequence_release) sequence s = {.p = p};
    FAB_PASS(FAB_NEW_ALL((size_t)p->n + 1, err, all, s.kept, s.tail, s.before, s.is_out));
    FAB_PASS(FAB_NEW(s.place_of_rank, (size_t)p->a->shape->n_servers + 1, err));
    const uint32_t n = list_all(p, all);
    p->a->out->n_out_of_order = p->a->out->n_out_of_port_order -= p->n - n; /* of what is told the place is known */
    FAB_EACH_RUN(uint32_t, i, next, n, all[next].kind == all[i].kind) {
        s.at = all + i;
        s.n = next - i;
        FAB_PASS(look_at_sequence(&s, err));
    }
    FAB_PASS(tell_swapped(&s, all, list_all(p, all), err));
    return look_at_adapters(p, s.tail, err);
}
