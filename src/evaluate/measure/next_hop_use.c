/* Which of their next hops switches use, and whether less than a hash would: polarization.
 *
 * When two tiers apply the same hash to the same fields, the flows that reach a switch of the second have the same
 * value there as well, and take few of its next hops. What an ideal hash would do is known exactly: n independent draws
 * leave next hop i of share p_i unused with probability (1 - p_i)^n. The events are negatively associated, within a
 * switch and over switches, so that Chernoff's bound holds for their number Z with mean m [Dubhashi, Ranjan, 1998]:
 *
 *     P(Z >= z) <= exp(z - m) (m / z)^z    for z > m
 *
 * A boundary is named polarized when the switches that choose after another one has chosen use at most FAB_POLAR_SHARE
 * of what an ideal hash would, and the bound says that it does so in fewer than FAB_POLAR_CHANCE of cases. */
#include "measure.h"

struct fab_next_hop_use {
    const fab_fabric *f;
    const fab_router *router;
    const fab_next_hops *next_hops;
    bool hashes_queue_pairs;
    size_t n_groups, n_members;
    uint8_t *chooses;        /* [n_groups]: 1 where there is more than one member */
    uint8_t *asks;           /* [links]: 1 of links of such groups */
    struct group_use *group; /* [n_groups] */
    uint8_t *used;           /* [members of all groups]: bit 0 at a first choice, bit 1 at a later one */
};
typedef fab_next_hop_use use;

/* A group, in one look. */
typedef struct group_use {
    size_t member; /* its first in `used` */
    uint32_t count;
    uint32_t n_used[2]; /* [later] */
    uint64_t draws[2];  /* [later] */
    uint64_t last[2];   /* [later]: flow that was counted last, + 1 */
} group_use;

static uint32_t tail_of(const use *u, fab_link_id link) {
    return fab_tail(u->f, link) - u->f->first[FAB_NODE_SWITCH];
}

static void mark_used(use *u, fab_link_id link, uint32_t group, size_t later) {
    group_use *g = &u->group[group];
    fab_next_hop_list next = fab_next_hops_members(u->next_hops, tail_of(u, link), group);
    uint8_t *used = u->used + g->member;
    for (uint32_t i = 0; i < next.count; i++) {
        if (fab_next_hop(&next, i) == link) {
            bool fresh = ((unsigned)used[i] >> later & 1U) == 0;
            g->n_used[later] += fresh ? 1U : 0U;
            used[i] |= (uint8_t)(1U << later);
            break;
        }
    }
}

static inline void count_hop(use *u, uint64_t flow, uint64_t weight, fab_link_id link, uint32_t group, size_t later) {
    group_use *g = &u->group[group];
    if (u->hashes_queue_pairs) {
        g->draws[later] += weight;
    } else if (g->last[later] != flow + 1) {
        g->last[later] = flow + 1;
        g->draws[later] += weight;
    }
    if (g->n_used[later] < g->count) { /* else all of them: no need to look which one */
        mark_used(u, link, group, later);
    }
}

/* The groups that paths were chosen from are known: in a tree, where there is a choice. */
static void count_known(use *u, const fab_routes *routes, uint64_t flow, uint64_t weight, size_t path) {
    size_t later = 0;
    for (size_t i = routes->path_first[path]; i < routes->path_first[path + 1]; i++) {
        uint32_t group = routes->group[i];
        if (u->chooses[group] != 0) {
            count_hop(u, flow, weight, routes->link[i], group, later);
            later = 1;
        }
    }
}

static void count_path(use *u, const fab_routes *routes, uint64_t flow, uint64_t weight, size_t path) {
    size_t last = routes->path_first[path + 1]; /* behind the last link between switches, which leads to the leaf */
    size_t later = 0;
    for (size_t i = routes->path_first[path]; i < last; i++) {
        fab_link_id link = routes->link[i];
        if (u->asks[link] == 0) { /* most switches have one way down: no need to look */
            continue;
        }
        while (fab_class_of(u->f, routes->link[last - 1])->kind != FAB_LINK_FABRIC) {
            last--;
        }
        fab_node_id leaf = fab_head(u->f, routes->link[last - 1]) - u->f->first[FAB_NODE_SWITCH];
        uint32_t group =
            fab_next_hops_group_of(u->next_hops, tail_of(u, link), fab_next_hops_column(u->next_hops, leaf));
        if (group != FAB_NONE && u->chooses[group] != 0) {
            count_hop(u, flow, weight, link, group, later);
            later = 1;
        }
    }
}

/* Next hops of a group that were used, and that n ideal draws would leave unused. */
static uint32_t used_of(const use *u, const fab_next_hop_list *next, uint32_t group, uint8_t mask, uint64_t n,
                        double *out_unused) {
    const group_use *g = &u->group[group];
    FAB_SUM_IN(uint32_t, used, i, g->member, g->member + g->count, (u->used[i] & mask) != 0);
    if (!fab_router_facts_of(u->router)->weighs) {
        *out_unused = next->count * exp((double)n * log1p(-1.0 / next->count));
        return used;
    }
    *out_unused = 0;
    FAB_SUM(double, weight, i, next->count, fab_router_weight(u->router, next, i));
    for (uint32_t i = 0; i < next->count; i++) {
        *out_unused += exp((double)n * log1p(-(double)fab_router_weight(u->router, next, i) / weight));
    }
    return used;
}

static void add_group(const use *u, uint32_t v, uint32_t group, fab_engine_result *out) {
    fab_next_hop_list next = fab_next_hops_members(fab_router_next_hops(u->router), v, group);
    fab_link_id link = fab_next_hop(&next, 0);
    fab_tier_load *row = &out->tiers[2 * (fab_class_of(u->f, link)->tier - 1) + (fab_is_up(link) ? 0 : 1)];
    double unused = 0;
    const uint64_t *draws = u->group[group].draws;
    double share = (double)used_of(u, &next, group, 3, draws[0] + draws[1], &unused) / next.count;
    row->choices++;
    if (unused < FAB_EXPECT_ALL) {
        row->min_used = row->full_choices == 0 ? share : fmin(row->min_used, share);
        row->mean_used += share;
        row->full_choices++;
    }
    if (draws[1] > 0) {
        row->later_choices++;
        row->later_used += used_of(u, &next, group, 2, draws[1], &unused);
        row->later_next_hops += next.count;
        row->later_expected += next.count - unused;
    }
}

static void judge(fab_tier_load *row, bool hashes) {
    row->mean_used /= row->full_choices > 0 ? (double)row->full_choices : 1;
    double unused = (double)(row->later_next_hops - row->later_used);
    double mean = (double)row->later_next_hops - row->later_expected;
    row->chance = unused <= mean ? 1 : mean > 0 ? exp(unused - mean + unused * log(mean / unused)) : 0;
    row->polarized = hashes && row->later_choices > 0 && row->chance < FAB_POLAR_CHANCE &&
                     (double)row->later_used <= FAB_POLAR_SHARE * row->later_expected;
}

fab_status fab_next_hop_use_new(const fab_fabric *fabric, const fab_router *router, fab_next_hop_use **out,
                                fab_error *err) {
    const fab_next_hops *t = fab_router_next_hops(router);
    size_t n_members = 0;
    FAB_OWNS_NEW(fab_next_hop_use_free_owned, use, u, 1, err);
    *u = (use){.f = fabric,
               .router = router,
               .next_hops = t,
               .hashes_queue_pairs = fab_router_facts_of(router)->hashes_queue_pairs,
               .n_groups = fab_next_hops_n_groups(t)};
    FAB_PASS(FAB_NEW(u->asks, fabric->n_links, err));
    FAB_PASS(FAB_NEW_ALL(u->n_groups, err, u->chooses, u->group));
    for (uint32_t v = 0; v < fab_n_switches(u->f); v++) {
        for (uint32_t group = fab_next_hops_first_group(t, v); group < fab_next_hops_first_group(t, v + 1); group++) {
            u->group[group].member = n_members;
            fab_next_hop_list next = fab_next_hops_members(t, v, group);
            u->group[group].count = next.count;
            u->chooses[group] = next.count > 1;
            for (uint32_t i = 0; next.count > 1 && i < next.count; i++) {
                u->asks[fab_next_hop(&next, i)] = 1;
            }
            n_members += u->group[group].count;
        }
    }
    u->n_members = n_members;
    FAB_PASS(FAB_NEW(u->used, n_members, err));
    return FAB_GIVE(*out, u);
}

void fab_next_hop_use_add(fab_next_hop_use *u, const fab_routes *routes, uint64_t first, const uint64_t *weight) {
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        uint64_t n = weight != NULL ? weight[flow] : 1;
        for (size_t path = routes->flow_first[flow]; path < routes->flow_first[flow + 1]; path++) {
            if (routes->group != NULL) {
                count_known(u, routes, first + flow, n, path);
            } else {
                count_path(u, routes, first + flow, n, path);
            }
        }
    }
}

void fab_next_hop_use_merge(fab_next_hop_use *u, const fab_next_hop_use *other) {
    for (size_t later = 0; later < 2; later++) {
        for (size_t group = 0; group < u->n_groups; group++) {
            u->group[group].draws[later] += other->group[group].draws[later];
        }
    }
    for (size_t i = 0; i < u->n_members; i++) {
        u->used[i] |= other->used[i];
    }
}

void fab_next_hop_use_finish(fab_next_hop_use *u, fab_engine_result *out) {
    const fab_next_hops *t = fab_router_next_hops(u->router);
    for (uint32_t v = 0; v < fab_n_switches(u->f); v++) {
        for (uint32_t group = fab_next_hops_first_group(t, v); group < fab_next_hops_first_group(t, v + 1); group++) {
            if (u->group[group].draws[0] + u->group[group].draws[1] > 0) {
                add_group(u, v, group, out);
            }
        }
    }
    out->polarized = false;
    for (size_t i = 0; i < out->n_tiers; i++) {
        judge(&out->tiers[i], fab_router_facts_of(u->router)->hashes);
        out->polarized = out->polarized || out->tiers[i].polarized;
    }
}

FAB_FREES_WHOLE(fab_next_hop_use_free, fab_next_hop_use, group, chooses, asks, used);
