/* Where parts go under engine adaptive: see engine_adaptive.c. */
#include "adaptive.h"
#include "fab/rng.h"

#define BLOCK 64 /* parts at a time */

/* A part under way. */
typedef struct arrival {
    record *record;
    uint32_t path;
    uint32_t at;            /* switch index */
    uint64_t key;           /* of its draws */
    fab_next_hop_list next; /* its next hops there */
} arrival;

/* A part before it is placed. */
static inline arrival arrive(const placing *p, uint32_t path) {
    record *t = record_of(p, path);
    return (arrival){.record = t, .path = path, .key = fab_mix64(p->seed_key ^ path), .at = t->src};
}

static void look_up(const placing *p, arrival *part) {
    part->next = fab_next_hops_look(p->router->next_hops, part->at, column_of(p->router, part->record));
}

static void adaptive_take(placing *p, arrival *part, fab_link_id link) {
    p->ports[link].load_bps += part->record->part_bps;
    part->at = switch_behind(p, link);
}

/* Of equal next hops the one with the least draw is taken. No two links have the same. */
static uint64_t tie(const arrival *part, fab_link_id link) {
    return fab_mix64(part->key ^ link);
}

static double utilisation(const placing *p, const arrival *part, fab_link_id link) {
    return (p->ports[link].load_bps + part->record->part_bps) * p->ports[link].per_bps;
}

/* The next hops with the least utilisation. */
static void find_tied(placing *p, const arrival *part) {
    double least = INFINITY;
    uint32_t n = 0;
    for (uint32_t i = 0; i < part->next.count; i++) {
        const double own = utilisation(p, part, fab_next_hop(&part->next, i));
        p->tied.own[i] = own;
        least = own < least ? own : least;
    }
    for (uint32_t i = 0; i < part->next.count; i++) { /* no branch on loads: this engine makes them nearly equal */
        p->tied.link[n] = fab_next_hop(&part->next, i);
        n += p->tied.own[i] == least;
    }
    p->tied.n = n;
    p->tied.of = part->next;
    p->tied.bps = part->record->part_bps;
    p->tied.least = least;
}

/* Place in p->tied of the next hop that a part takes. Equal parts that come to a switch one after the other go round
 * the same next hops: they are looked through once, and each takes one away. */
static uint32_t pick_tied(placing *p, const arrival *part) {
    if (p->tied.n == 0 || p->tied.of.slot != part->next.slot || p->tied.of.link != part->next.link ||
        p->tied.of.count != part->next.count || p->tied.bps != part->record->part_bps) {
        find_tied(p, part);
    }
    uint32_t best = 0;
    uint64_t lowest = tie(part, p->tied.link[0]);
    for (uint32_t i = 1; i < p->tied.n; i++) {
        uint64_t draw = tie(part, p->tied.link[i]);
        best = draw < lowest ? i : best;
        lowest = draw < lowest ? draw : lowest;
    }
    return best;
}

/* A part takes the next hop that is least used, or the only one. */
static void take_least(placing *p, arrival *part, fab_link_id *chosen) {
    if (part->next.count == 1) {
        p->tied.n = 0;
        adaptive_take(p, part, fab_next_hop(&part->next, 0));
        return;
    }
    uint32_t i = pick_tied(p, part);
    fab_link_id link = p->tied.link[i];
    chosen[part->path] = link;
    adaptive_take(p, part, link);
    if (utilisation(p, part, link) > p->tied.least) {
        p->tied.link[i] = p->tied.link[--p->tied.n];
    }
}

/* Whether nobody chooses from switch v on: loads of links there are not looked at. */
static bool is_forced_from(const placing *p, const record *t, uint32_t v) {
    while (v != t->dst) {
        const fab_next_hop_list next = fab_next_hops_look(p->router->next_hops, v, column_of(p->router, t));
        const fab_link_id link = fab_next_hop(&next, 0);
        if (next.count > 1 || p->is_choice[link] != 0) {
            return false;
        }
        v = switch_behind(p, link);
    }
    return true;
}

/* The same of a part that has left a switch. What holds behind all next hops of its first holds for all parts. */
static bool is_rest_forced(const placing *p, const arrival *part, uint32_t from) {
    record *t = part->record;
    if (from == t->src && t->after == AFTER_UNKNOWN) {
        t->after = AFTER_FORCED;
        for (uint32_t i = 0; i < part->next.count && t->after == AFTER_FORCED; i++) {
            const uint32_t v = switch_behind(p, fab_next_hop(&part->next, i));
            t->after = is_forced_from(p, t, v) ? AFTER_FORCED : AFTER_OPEN;
        }
    }
    return (from == t->src && t->after == AFTER_FORCED) || is_forced_from(p, t, part->at);
}

/* Of counts by switch, those of switch v in queue_first[v + 1], the place where the next of each is put. */
static void queue_open(placing *p) {
    uint32_t n = 0;
    for (uint32_t v = 0; v <= fab_n_switches(p->router->fabric); v++) {
        const uint32_t mine = p->queue_first[v + 1];
        p->queue_first[v + 1] = n;
        n += mine;
    }
}

/* All parts by their first switch and there in order, behind them those that are there already. Parts come in no order
 * of flows: what is read of each is few bytes. */
static void queue_all(placing *p) {
    const uint32_t n_switches = fab_n_switches(p->router->fabric);
    for (size_t i = 0; i < p->n_records; i++) {
        const record *t = &p->records[i];
        p->first_at[i] = t->src != t->dst ? t->src : n_switches;
        p->queue_first[p->first_at[i] + 1] += t->n_parts;
    }
    queue_open(p);
    for (uint32_t i = 0; i < p->n_paths; i++) {
        const uint32_t path = p->order[i];
        const uint32_t at = p->first_at[number_of_record(p, path)];
        p->queue[p->queue_first[at + 1]++] = (waiting){.turn = i, .path = path};
    }
}

/* Those that are still under way; none is in `at` afterwards. */
static void queue_rest(placing *p) {
    memset(p->queue_first, 0, (fab_n_switches(p->router->fabric) + (size_t)2) * sizeof *p->queue_first);
    for (size_t i = 0; i < p->n_paths; i++) {
        p->queue_first[p->at[i]]++;
    }
    p->queue_first[0] = 0; /* the others */
    queue_open(p);
    for (uint32_t i = 0; i < p->n_paths; i++) {
        if (p->at[i] != 0) {
            p->queue[p->queue_first[p->at[i]]++] = (waiting){.turn = i, .path = p->order[i]};
            p->at[i] = 0;
        }
    }
}

/* Parts that follow each other at a switch. One step of all: what they look up is far apart, and none waits for it. */
static void place_block(placing *p, uint32_t at, const waiting *queue, size_t n, fab_link_id *chosen) {
    arrival part[BLOCK];
    for (size_t i = 0; i < n; i++) {
        part[i] = arrive(p, queue[i].path);
        part[i].at = at;
    }
    for (size_t i = 0; i < n; i++) {
        look_up(p, &part[i]);
    }
    for (size_t i = 0; i < n; i++) {
        take_least(p, &part[i], chosen);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_rest_forced(p, &part[i], at)) {
            p->at[queue[i].turn] = part[i].at + 1;
            p->n_left++;
        }
    }
}

/* All parts go hop by hop, at every switch in the order of their arrival. A switch sees nothing but its ports: so one
 * after the other does all of a hop at once, while its parts and ports are at hand. */
fab_status fab_adaptive_place_by_ports(placing *p, fab_error *err) {
    const uint32_t n_switches = fab_n_switches(p->router->fabric);
    queue_all(p);
    for (uint32_t hop = 0; p->queue_first[n_switches] > 0; hop++) {
        FAB_PASS(FAB_NEW(p->chosen[hop], p->n_paths, err));
        p->n_left = 0;
        for (uint32_t v = 0; v < n_switches; v++) {
            const size_t end = p->queue_first[v + 1];
            for (size_t k = p->queue_first[v]; k < end; k += BLOCK) {
                place_block(p, v, p->queue + k, end - k < BLOCK ? end - k : BLOCK, p->chosen[hop]);
            }
        }
        if (p->n_left == 0) {
            break;
        }
        queue_rest(p);
    }
    return FAB_OK;
}

/* W, the largest utilisation on the best path from switch v to the end, as far as it matters: exact within (floor,
 * limit], else anything not above the floor, or anything above the limit. A switch is searched twice at most, so that a
 * part costs no more than its links. Depth: the hops of a minimal path. */
static double survey(placing *p, const arrival *part, uint32_t v, double floor, double limit) {
    if (v == part->record->dst) {
        return 0;
    }
    prospect *known = &p->prospects[v];
    if (known->stamp == part->path + 1) {
        if (known->kind == W_IS || (known->kind == W_AT_MOST && known->value <= floor)) {
            return known->value;
        }
        if (known->kind == W_ABOVE && known->value >= limit) {
            return INFINITY;
        }
        floor = -1;
        limit = INFINITY;
    }
    fab_next_hop_list next = fab_next_hops_look(p->router->next_hops, v, column_of(p->router, part->record));
    double best = INFINITY;
    for (uint32_t i = 0; i < next.count && best > floor; i++) {
        fab_link_id link = fab_next_hop(&next, i);
        double own = utilisation(p, part, link);
        if (own <= limit && own < best) {
            double rest = survey(p, part, switch_behind(p, link), fmax(floor, own), fmin(limit, best));
            best = fmin(best, fmax(own, rest));
        }
    }
    *known = (prospect){.stamp = part->path + 1,
                        .kind = best <= floor   ? W_AT_MOST
                                : best <= limit ? W_IS
                                                : W_ABOVE,
                        .value = best <= limit ? best : limit};
    return best;
}

/* Begins with the best port: mostly something behind it is no worse than itself, and that cannot be beaten. */
static fab_link_id pick_downstream(placing *p, const arrival *part) {
    find_tied(p, part);
    fab_link_id best = p->tied.link[pick_tied(p, part)];
    double least_own = utilisation(p, part, best);
    double least = fmax(least_own, survey(p, part, switch_behind(p, best), least_own, INFINITY));
    if (least == least_own) {
        return best;
    }
    for (uint32_t i = 0; i < part->next.count; i++) {
        fab_link_id link = fab_next_hop(&part->next, i);
        double own = utilisation(p, part, link);
        if (own > least || (own == least && (own > least_own || tie(part, link) >= tie(part, best)))) {
            continue; /* cannot win, whatever lies behind */
        }
        double worst = fmax(own, survey(p, part, switch_behind(p, link), own, least));
        if (worst < least ||
            (worst == least && (own < least_own || (own == least_own && tie(part, link) < tie(part, best))))) {
            best = link;
            least = worst;
            least_own = own;
        }
    }
    return best;
}

/* One part after the other, each over its whole path. */
fab_status fab_adaptive_place_by_paths(placing *p, fab_error *err) {
    for (uint32_t hop = 0; hop < p->most_hops; hop++) {
        FAB_PASS(FAB_NEW(p->chosen[hop], p->n_paths, err));
    }
    for (size_t i = 0; i < p->n_paths; i++) {
        arrival part = arrive(p, p->order[i]);
        for (uint32_t hop = 0; part.at != part.record->dst; hop++) {
            look_up(p, &part);
            const bool chooses = part.next.count > 1;
            const fab_link_id link = chooses ? pick_downstream(p, &part) : fab_next_hop(&part.next, 0);
            p->chosen[hop][part.path] = chooses ? link : 0;
            adaptive_take(p, &part, link);
        }
    }
    return FAB_OK;
}
