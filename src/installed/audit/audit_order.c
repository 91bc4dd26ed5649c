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
#define ALL          UINT32_MAX

typedef struct standing {
    uint64_t kind; /* of name, and column */
    uint32_t leaf, leaf_rank, rank, port, plug;
} standing;

typedef struct sequence {
    audit_plugs *p;
    standing *at;   /* [n] */
    standing *kept; /* a copy of them */
    uint32_t n;
    uint32_t *tail, *before; /* of the longest rising sequence */
    bool *is_out;            /* [n]: not in it */
    uint32_t *place_of_rank; /* [servers]: where those of it stand, as it was marked last; of others anything */
    uint32_t *by_rank;       /* [n]: places by the name that stands there */
    bool *is_free;           /* [n]: it may belong elsewhere */
    uint32_t *place, *who;   /* [n]: where one belongs, who belongs at a place; FAB_NETWORK_NONE: not known */
    uint32_t *ring;          /* [n]: find_rings() */
    bool by_port;            /* ports follow names; else those of a leaf stand by name */
    uint32_t n_most;         /* hosts of the longest sequence in which ports follow names */
} sequence;
FAB_FREES(sequence_release, sequence, kept, tail, before, is_out, place_of_rank, by_rank, is_free, place, who, ring);

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

/* --- who is exchanged --------------------------------------------------------------------------------------------- */

/* The nearest by name that is in the rising sequence and where it belongs. */
static uint32_t rising_by_name(const sequence *s, uint32_t i, uint32_t step) {
    for (uint32_t rank = s->at[i].rank + step; rank < s->p->a->shape->n_servers; rank += step) {
        const uint32_t at = s->place_of_rank[rank]; /* of this sequence, if that rank stands there */
        if (at < s->n && s->at[at].rank == rank && !s->is_out[at] && s->place[at] == at) {
            return at;
        }
    }
    return NONE;
}

/* Whether no neighbour by name is at its leaf. */
static bool is_away(const sequence *s, uint32_t i) {
    const uint32_t below = rising_by_name(s, i, UINT32_MAX);
    const uint32_t above = rising_by_name(s, i, 1);
    return (below == NONE || s->at[below].leaf != s->at[i].leaf) &&
           (above == NONE || s->at[above].leaf != s->at[i].leaf);
}

/* Whether one that stands out is within `near` places. */
static bool is_near_one(const sequence *s, uint32_t i, uint32_t near) {
    const uint32_t last = near < s->n - i ? i + near + 1 : s->n;
    FAB_ANY_IN(found, k, i > near ? i - near : 0, last, s->is_out[k]);
    return found;
}

/* Fills place and who. What rises and has none that stands out within `near` places is where it belongs. Where as many
 * places as names are between two such, these stand there by name; else where they belong is not known. */
static void find_places(sequence *s, uint32_t near) {
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < s->p->a->shape->n_servers; rank++) {
        const uint32_t at = s->place_of_rank[rank];
        if (at < s->n && s->at[at].rank == rank) {
            s->by_rank[n++] = at;
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->place[i] = s->who[i] = NONE;
        s->is_free[i] = near == ALL || is_near_one(s, i, near);
    }
    for (uint32_t x = 0, y = 0; n == s->n && x < n; x++, y++) { /* else one has two adapters of this column */
        const uint32_t first = x;
        const uint32_t lowest = y;
        for (; x < n && s->is_free[x]; x++) {
        }
        for (; y < n && s->is_free[s->by_rank[y]]; y++) {
        }
        for (uint32_t k = lowest; k < y && x - first == y - lowest; k++) {
            s->place[s->by_rank[k]] = first + k - lowest;
            s->who[first + k - lowest] = s->by_rank[k];
        }
        if (x < n) {
            s->place[x] = s->who[x] = x;
        }
    }
}

/* One belongs at a place; who belonged there does so where that one did. */
static void give_place(sequence *s, uint32_t i, uint32_t place) {
    const uint32_t other = s->who[place];
    const uint32_t old = s->place[i];
    s->who[old] = other;
    s->who[place] = i;
    if (other != NONE) {
        s->place[other] = old;
    }
    s->place[i] = place;
}

/* Places of a leaf are alike where ports do not count. */
static bool are_alike(const sequence *s, uint32_t i, uint32_t k) {
    return s->at[i].leaf == s->at[k].leaf && s->at[i].port == s->at[k].port;
}

/* Whether one belongs at a place that is not like its own. */
static bool is_elsewhere(const sequence *s, uint32_t i) {
    return s->place[i] != NONE && !are_alike(s, i, s->place[i]);
}

/* Of places that are alike, each keeps its own, and two that are in each other's are a pair. */
static void settle(sequence *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->place[i] != NONE && s->place[i] != i && !is_elsewhere(s, i)) {
            give_place(s, i, i);
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t first = is_elsewhere(s, i) ? s->place[i] : 0;
        for (; first > 0 && is_elsewhere(s, i) && are_alike(s, first - 1, first); first--) {
        }
        for (uint32_t k = first; is_elsewhere(s, i) && k < s->n && are_alike(s, k, first); k++) {
            const bool is_pair = is_elsewhere(s, k) && s->place[k] == s->who[k]; /* already */
            if (is_elsewhere(s, k) && are_alike(s, s->place[k], i) && (!is_pair || s->who[k] == i)) {
                give_place(s, i, k);
                give_place(s, k, i);
                break;
            }
        }
    }
}

/* Whether one rises at its place among those that rise where they are, but for n of its ring. */
static bool fits(const sequence *s, uint32_t i, uint32_t n) {
    const uint32_t place = s->place[i];
    bool fits_all = true;
    for (uint32_t step = UINT32_MAX; fits_all; step = 1) {
        uint32_t at = place + step;
        for (; at < s->n && (s->is_out[at] || s->ring[at] == n || are_alike(s, at, place)); at += step) {
        }
        fits_all = at >= s->n || (s->at[at].rank < s->at[i].rank) == (step != 1);
        if (step == 1) {
            break;
        }
    }
    return fits_all;
}

/* Whether one host that was moved along its leaf, to a port that was free, explains a ring of n places from the first
 * on, n_out of which stand out: it makes all between stand one further, and leaves a port at their end. */
static bool is_move(const sequence *s, uint32_t first, uint32_t n, uint32_t n_out) {
    const standing *from = &s->at[first];
    const standing *to = &s->at[first + n <= s->n ? first + n - 1 : first];
    const bool is_close = to->leaf == from->leaf && to->port == from->port + n - 1;
    const bool has_left = audit_port_is_free(s->p, from->leaf, from->port - 1);
    return 2 * n_out < n ? !is_close || has_left ||
                               (s->place[first + n - 1] != first && audit_port_is_free(s->p, to->leaf, to->port + 1))
                         : n == 2 && n_out == 1 && !is_close && to->leaf == from->leaf && has_left;
}

/* Whether those of a ring, n of which each stands where the one before it belongs, are exchanged. */
static bool is_ring(const sequence *s, uint32_t first, uint32_t n) {
    uint32_t n_out = 0;
    bool all = true;
    for (uint32_t i = first, k = 0; k < n; i = s->place[i], k++) {
        n_out += s->is_out[i];
        const audit_plug *x = &s->p->plug[s->at[i].plug];
        const uint32_t should = x->should; /* by its peers */
        all = all && x->place == s->at[i].plug && x->port == 0 &&
              (should == NONE || should == s->at[s->place[i]].leaf) &&
              ((s->by_port && s->at[i].port > 0) || is_away(s, i)) && fits(s, i, n);
    }
    return all && !is_move(s, first, n, n_out);
}

/* Fills ring [n]: how many are exchanged with one, or 0. Returns how many exchanges of two they are, where they are as
 * few as those of an order, and, with `all`, leave none elsewhere; else 0. */
static uint32_t find_rings(sequence *s, uint32_t near, bool all) {
    bool is_order = true;
    uint32_t n_exchanges = 0;
    find_places(s, near);
    settle(s);
    memset(s->ring, 0, s->n * sizeof *s->ring);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t n = s->place[i] != i && s->ring[i] == 0;
        uint32_t at = s->place[i];
        for (; n > 0 && at > i && at < s->n; at = s->place[at], n++) { /* from the first place of a ring */
        }
        const bool is_round = n > 1 && at == i;
        for (uint32_t k = 0; is_round && k < n; at = s->place[at], k++) {
            s->ring[at] = n;
        }
        const bool is_one = is_round && is_ring(s, i, n);
        for (uint32_t k = 0; is_round && !is_one && k < n; at = s->place[at], k++) {
            s->ring[at] = 0;
        }
        is_order = is_order && (!all || is_one || s->place[i] == i || s->ring[i] > 0);
        n_exchanges += is_one ? n - 1 : 0;
    }
    return is_order && LEAST * n_exchanges <= s->n ? n_exchanges : 0;
}

static uint64_t row_of(const sequence *s, uint32_t i) {
    return s->p->row[s->p->plug[s->at[i].plug].server];
}

/* The leaf of its neighbours by name. Where they are on two, it is either: that of its row of names, or the one that
 * lacks cables, rather than *out_else. */
static uint32_t leaf_by_name(const sequence *s, uint32_t i, uint32_t *out_else) {
    const uint32_t below = rising_by_name(s, i, UINT32_MAX);
    const uint32_t above = rising_by_name(s, i, 1);
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

/* Notes a ring, from the first server on. */
static fab_status note_ring(sequence *s, uint32_t first, double confidence, fab_error *err) {
    const audit_plugs *p = s->p;
    const uint32_t n = s->ring[first];
    bool is_put_back = false;
    for (uint32_t i = first, k = 0; k < n; i = s->place[i], k++) {
        s->tail[k] = s->at[i].plug;
        is_put_back = is_put_back || p->plug[s->at[i].plug].is_put_back;
    }
    return audit_note_ring(s->p, s->tail, n, is_put_back ? confidence / 2 : confidence, false, err);
}

/* Notes those that are exchanged and puts them where they belong; n_out stand out. Returns how many do then. */
static fab_status put_back(sequence *s, double confidence, uint32_t *out_n_out, fab_error *err) {
    memcpy(s->kept, s->at, s->n * sizeof *s->at);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t least = i;
        for (uint32_t at = i, k = 0; k < s->ring[i]; at = s->place[at], k++) {
            least = at < least ? at : least;
        }
        FAB_PASS(s->ring[i] > 0 && least == i ? note_ring(s, i, confidence, err) : FAB_OK);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->ring[i] > 0) {
            s->at[s->place[i]].rank = s->kept[i].rank;
            s->at[s->place[i]].plug = s->kept[i].plug;
        }
    }
    qsort(s->at, s->n, sizeof *s->at, by_place);
    *out_n_out = mark_out(s);
    return FAB_OK;
}

static fab_status tell_broken(sequence *s, uint32_t n_out, fab_error *err) {
    static const uint32_t NEAREST[] = {ALL, NEAR, 0};
    audit_plugs *p = s->p;
    const double confidence = fab_audit_confidence(s->n - n_out, s->n);
    for (size_t k = 0; n_out > 0 && k < FAB_N_OF(NEAREST); k++) {
        if (find_rings(s, NEAREST[k], NEAREST[k] == ALL) > 0) {
            FAB_PASS(put_back(s, confidence, &n_out, err));
        }
    }
    FAB_FILL(s->place, s->n, (uint32_t)fab_at);
    for (uint32_t i = 0; n_out > 0 && i < s->n; i++) {
        audit_plug *x = &p->plug[s->at[i].plug];
        uint32_t or_else = NONE;
        const bool is_open = s->is_out[i] && !x->is_told && x->should == NONE && x->place == s->at[i].plug;
        const uint32_t leaf = is_open ? leaf_by_name(s, i, &or_else) : NONE;
        if (leaf != NONE && leaf != x->leaf) {
            x->should = leaf;
            x->or_else = or_else;
            x->is_left = true;
        }
    }
    for (uint32_t i = 0; n_out > 0 && i < s->n; i++) {
        audit_plug *x = &p->plug[s->at[i].plug];
        if (x->is_left && !x->is_told) {
            FAB_PASS(audit_report_astray(p, x, x->is_put_back ? confidence / 2 : confidence, err));
        }
        x->is_left = s->is_out[i] && !x->is_told;
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

/* Of few hosts those that are exchanged, and no others, are still an exception. */
static bool is_broken(sequence *s, uint32_t n_out) {
    const bool are_many = (n_out > 2 && n_out > MOST_BROKEN * s->n) || LEAST * n_out > s->n;
    const bool are_few = s->n < (n_out > 0 ? LEAST : ALL_IN_ORDER);
    return are_few || (are_many && find_rings(s, ALL, true) == 0);
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

/* What is exchanged, by servers; at ports of one leaf, which loses nothing, where ports follow names everywhere else
 * and one in LEAST hosts is exchanged so, or one at all. */
static fab_status tell_all_exchanged(const sequence *s, const standing *all, uint32_t n, fab_error *err) {
    audit_plugs *p = s->p;
    uint32_t n_at_leaf = 0;
    FAB_OWNED_NEW(bool, is_exchanged, (size_t)p->a->shape->n_servers + 1, err);
    audit_sort_rings(p);
    for (uint32_t i = 0; i < p->n_rings; i++) {
        const audit_ring *x = &p->ring[i];
        const bool is_new = i == 0 || !audit_same_servers(x, x - 1);
        n_at_leaf += is_new && !x->is_sure && audit_ring_is_at_leaf(p, x) ? x->n - 1 : 0;
        for (uint32_t k = x->first; k < x->first + x->n; k++) {
            is_exchanged[p->plug[p->member[k]].server] = true;
        }
    }
    const bool tells_ports = LEAST * n_at_leaf <= s->n_most && ports_follow(p, all, n, is_exchanged);
    p->a->out->n_out_of_port_order += tells_ports ? 0 : n - p->a->out->n_out_of_port_order;
    return audit_tell_rings(p, tells_ports, err);
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
                is_told = is_told || x[i].is_told || x[i].should != NONE; /* peers say where it belongs */
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
                                               fab_audit_confidence(n_rising, n_spread), false, err));
            }
        }
        if (n_spread < LEAST || n_rising < RISING * n_spread) {
            break;
        }
    }
    return FAB_OK;
}

/* All that is not told, as it is plugged, or where siblings say that it belongs; by leaf and name. Returns how many. */
static uint32_t list_all(const audit_plugs *p, standing *all) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const audit_plug *x = &p->plug[i];
        if (!x->is_told) {
            all[n++] = (standing){.kind = p->pattern[x->server] + x->column,
                                  .leaf = p->plug[x->place].leaf,
                                  .rank = p->rank[x->server],
                                  .port = audit_port_number(p, &p->plug[x->place]),
                                  .plug = i};
        }
    }
    FAB_SORT(all, n, by_leaf_and_rank);
    return n;
}

fab_status audit_plugs_order(audit_plugs *p, fab_error *err) {
    FAB_OWNED standing *all = NULL;
    FAB_OWNS(sequence_release) sequence s = {.p = p};
    FAB_PASS(FAB_NEW_ALL((size_t)p->n + 1, err, all, s.kept, s.tail, s.before, s.is_out, s.is_free));
    FAB_PASS(FAB_NEW_ALL((size_t)p->n + 1, err, s.by_rank, s.place, s.who, s.ring));
    FAB_PASS(FAB_NEW(s.place_of_rank, (size_t)p->a->shape->n_servers + 1, err));
    const uint32_t n = list_all(p, all);
    p->a->out->n_out_of_order = p->a->out->n_out_of_port_order -= p->n - n; /* of what is told the place is known */
    FAB_EACH_RUN(uint32_t, i, next, n, all[next].kind == all[i].kind) {
        s.at = all + i;
        s.n = next - i;
        FAB_PASS(look_at_sequence(&s, err));
    }
    FAB_PASS(tell_all_exchanged(&s, all, list_all(p, all), err));
    return look_at_adapters(p, s.tail, err);
}
