/* New rates after transfers have started and ended.
 *
 * The set holds the new flows and those whose bottleneck a flow has left; it is filled as if the others kept their
 * rates. That is the max-min solution if every flow still has a bottleneck: a full link on which nobody has more per
 * weight. Others join where that fails, and the set is filled again:
 *   - flows that were bottlenecked at a link, when it is no longer full or somebody of the set has more there;
 *   - flows that have more on a link than those of the set that it stopped.
 * Where more than a tenth would join, all rates are solved, and checked by fab_max_min_solve(). */
#include "fab/memory.h"
#include "fluid_state.h"

#include <math.h>

#define ALONE      64 /* flows that are solved as a set however few there are */
#define SUM_AGAIN  32 /* updates of a load, beyond one per flow, before it is summed afresh */
#define SAME_LEVEL 1e-11

FAB_RELEASES(fluid_set_release, fluid_set, flow, first, link, bottleneck, share, weight, limit, capacity, rate, local);

/* --- the set ------------------------------------------------------------------------------------------------------ */

fab_status fluid_set_init(fab_fluid *fluid, fab_error *err) {
    fluid_set *set = &fluid->set;
    size_t n_flows = (size_t)fluid->sharing->n_flows + 1;
    size_t n_hops = (size_t)fluid->first[fluid->sharing->n_flows] + 1;
    FAB_PASS(FAB_NEW_ALL(n_flows, err, set->flow, set->first, set->bottleneck, set->rate, set->weight, set->limit));
    FAB_PASS(FAB_NEW(set->link, n_hops, err));
    FAB_PASS(FAB_NEW_ALL((size_t)fluid->sharing->n_links + 1, err, set->local, set->capacity));
    return fluid->share != NULL ? FAB_NEW(set->share, n_hops, err) : FAB_OK;
}

static void fluid_join(fab_fluid *fluid, uint32_t f) {
    fluid_set *set = &fluid->set;
    fluid_flow *flow = &fluid->flows[f];
    uint64_t entry = set->first[set->n];
    fluid_prefetch(fluid, f);
    flow->mark = fluid->epoch;
    set->flow[set->n] = f;
    if (fluid->sharing->weight != NULL) {
        set->weight[set->n] = fluid->sharing->weight[f];
    }
    if (fluid->sharing->limit != NULL) {
        set->limit[set->n] = fluid->sharing->limit[f];
    }
    for (uint64_t h = fluid->first[f]; h < fluid->first[f + 1]; h++, entry++) {
        uint32_t l = fluid->hops[h].link;
        fluid_link *link = &fluid->links[l];
        double share = fluid_share(fluid, h);
        if (link->mark != fluid->epoch) {
            link->mark = fluid->epoch;
            link->local = set->n_links;
            set->local[set->n_links++] = (local_link){.residual = link->capacity - link->load, .link = l};
        }
        local_link *local = &set->local[link->local];
        local->residual += flow->rate * share;
        local->n_in++;
        local->n_bottlenecked_in += flow->bottleneck == l;
        set->link[entry] = link->local;
        if (fluid->share != NULL) {
            set->share[entry] = share;
        }
    }
    set->first[++set->n] = entry;
}

static void join_all(fab_fluid *fluid) {
    for (uint32_t f = 0; f < fluid->sharing->n_flows; f++) {
        const fluid_flow *flow = &fluid->flows[f];
        if (flow->is_listed && flow->mark != fluid->epoch) {
            fluid_join(fluid, f);
        }
    }
}

/* The flows that are bottlenecked at a link. */
static void join_bottlenecked(fab_fluid *fluid, uint32_t l) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    for (uint32_t i = 0; i < fluid->links[l].n_on; i++) {
        __builtin_prefetch(&fluid->flows[places[i].flow], 1);
    }
    for (uint32_t i = 0; i < fluid->links[l].n_on; i++) {
        const fluid_flow *flow = &fluid->flows[places[i].flow];
        if (flow->bottleneck == l && flow->mark != fluid->epoch) {
            fluid_join(fluid, places[i].flow);
        }
    }
}

/* Flows outside that have more than `level` per weight on a link. */
static void join_above(fab_fluid *fluid, uint32_t l, double level) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    for (uint32_t i = 0; i < fluid->links[l].n_on; i++) {
        uint32_t f = places[i].flow;
        if (fluid->flows[f].mark != fluid->epoch &&
            fluid->flows[f].rate > level * (1 + SAME_LEVEL) * fluid_weight(fluid, f)) {
            fluid_join(fluid, f);
        }
    }
}

static void begin_set(fab_fluid *fluid) {
    fluid->set.n = 0;
    fluid->set.n_links = 0;
    if (++fluid->epoch == 0) { /* marks of 2^32 epochs ago would be taken for today's */
        fluid->epoch = 1;
        for (uint32_t f = 0; f < fluid->sharing->n_flows; f++) {
            fluid->flows[f].mark = 0;
        }
        for (uint32_t l = 0; l < fluid->sharing->n_links; l++) {
            fluid->links[l].mark = 0;
        }
    }
    for (uint32_t i = 0; i < fluid->n_fresh; i++) {
        fluid_join(fluid, fluid->fresh[i]);
    }
    for (uint32_t i = 0; i < fluid->n_released; i++) {
        uint32_t l = fluid->released[i];
        fluid->links[l].is_released = false;
        if (fluid->links[l].n_bottlenecked > 0) {
            join_bottlenecked(fluid, l);
        }
    }
    fluid->n_fresh = 0;
    fluid->n_released = 0;
}

/* --- its rates ---------------------------------------------------------------------------------------------------- */

#define FILL_FEW_FLOWS     24
#define FILL_FEW_CROSSINGS 256

/* Level at which each link is full, given who has stopped; and the lowest, limits included. */
static double find_levels(const fab_sharing *s, const double *rate, const bool *stopped, double floor, double *level) {
    double weight[FILL_FEW_CROSSINGS];
    double lowest = INFINITY;
    for (uint32_t l = 0; l < s->n_links; l++) {
        level[l] = s->capacity[l];
        weight[l] = 0;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double w = s->weight != NULL ? s->weight[f] : 1;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            double share = s->share != NULL ? s->share[e] : 1;
            level[s->link[e]] -= stopped[f] ? rate[f] * share : 0;
            weight[s->link[e]] += stopped[f] ? 0 : w * share;
        }
        if (s->limit != NULL && !stopped[f]) {
            lowest = fmin(lowest, s->limit[f] / w);
        }
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        double at = level[l] / weight[l];
        at = at > floor ? at : floor;
        level[l] = weight[l] > 0 ? at : INFINITY;
        lowest = level[l] < lowest ? level[l] : lowest;
    }
    return lowest;
}

/* Stops the flow if its limit or a link does. */
static bool stops(const fab_sharing *s, uint32_t f, double now, const double *level, double *rate,
                  uint32_t *bottleneck) {
    double w = s->weight != NULL ? s->weight[f] : 1;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        if (level[s->link[e]] <= now * (1 + FILL_TIE)) {
            *bottleneck = s->link[e];
            *rate = s->limit != NULL ? fmin(w * now, s->limit[f]) : w * now;
            return true;
        }
    }
    if (s->limit != NULL && s->limit[f] / w <= now * (1 + FILL_TIE)) {
        *rate = s->limit[f];
        return true;
    }
    return false;
}

/* The same as fill_rates() for few flows, without a solver: every link is looked at in every round, and its sums are
 * made afresh. A sharing whose links are all crossed, and whose first crossing is 0. False, and nothing written, where
 * the flows or their crossings are more. */
static bool fill_few(const fab_sharing *s, double *out_rate, uint32_t *out_holder) {
    double level[FILL_FEW_CROSSINGS];
    bool stopped[FILL_FEW_FLOWS] = {false};
    double now = 0;
    if (s->n_flows > FILL_FEW_FLOWS || s->first[s->n_flows] > FILL_FEW_CROSSINGS || s->n_links > FILL_FEW_CROSSINGS) {
        return false;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        out_rate[f] = INFINITY;
        out_holder[f] = FAB_NO_BOTTLENECK;
    }
    for (;;) {
        double lowest = find_levels(s, out_rate, stopped, now, level);
        if (lowest == INFINITY) {
            return true;
        }
        now = lowest > now * (1 + FILL_TIE) ? lowest : now;
        for (uint32_t f = 0; f < s->n_flows; f++) {
            stopped[f] = stopped[f] || stops(s, f, now, level, &out_rate[f], &out_holder[f]);
        }
    }
}

static fab_status fill_set(fab_fluid *fluid, bool is_whole, fab_error *err) {
    fluid_set *set = &fluid->set;
    fab_sharing sharing = {
        .n_flows = set->n,
        .n_links = set->n_links,
        .capacity = set->capacity,
        .first = set->first,
        .link = set->link,
        .share = fluid->share != NULL ? set->share : NULL,
        .weight = fluid->sharing->weight != NULL ? set->weight : NULL,
        .limit = fluid->sharing->limit != NULL ? set->limit : NULL,
    };
    for (uint32_t k = 0; k < set->n_links; k++) {
        local_link *local = &set->local[k];
        const fluid_link *link = &fluid->links[local->link];
        set->capacity[k] = local->n_in == link->n_on ? link->capacity : fmax(local->residual, 0);
        local->sum = 0;
        local->top = 0;
        local->bottleneck_level = -1;
    }
    if (is_whole) {
        return fab_max_min_solve(fluid->solver, &sharing, set->rate, set->bottleneck, err);
    }
    if (fill_few(&sharing, set->rate, set->bottleneck)) {
        return FAB_OK;
    }
    return fill_rates(fluid->solver, &sharing, set->rate, set->bottleneck, err);
}

/* What the set brings onto its links. */
static void fluid_add_up(const fab_fluid *fluid, fluid_set *set) {
    for (uint32_t i = 0; i < set->n; i++) {
        double level = set->rate[i] / fluid_weight(fluid, set->flow[i]);
        for (uint64_t e = set->first[i]; e < set->first[i + 1]; e++) {
            local_link *local = &set->local[set->link[e]];
            local->sum += set->rate[i] * (fluid->share != NULL ? set->share[e] : 1);
            local->top = level > local->top ? level : local->top;
        }
        if (set->bottleneck[i] != FAB_NO_BOTTLENECK) {
            set->local[set->bottleneck[i]].bottleneck_level = level;
        }
    }
}

/* Adds the flows whose bottleneck fails. Where rounding leaves nothing for a flow, it says so. */
static void fluid_widen(fab_fluid *fluid, bool *out_grown, bool *out_stuck) {
    fluid_set *set = &fluid->set;
    uint32_t n = set->n;
    uint32_t n_links = set->n_links;
    fluid_add_up(fluid, set);
    for (uint32_t k = 0; k < n_links; k++) {
        const local_link local = set->local[k]; /* as it was filled: flows that join now change it */
        const fluid_link *link = &fluid->links[local.link];
        if (local.n_in == link->n_on) {
            continue;
        }
        if (link->n_bottlenecked > local.n_bottlenecked_in &&
            (local.residual - local.sum > FILL_SLACK * link->capacity || local.top > link->level * (1 + SAME_LEVEL))) {
            join_bottlenecked(fluid, local.link);
        }
        if (local.bottleneck_level >= 0) {
            join_above(fluid, local.link, local.bottleneck_level);
        }
    }
    *out_grown = set->n > n;
    *out_stuck = false;
    for (uint32_t i = 0; i < n; i++) {
        *out_stuck = *out_stuck || !(set->rate[i] > 0);
    }
}

static void sum_load(fab_fluid *fluid, uint32_t l) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    fluid_link *link = &fluid->links[l];
    link->load = 0;
    for (uint32_t i = 0; i < link->n_on; i++) {
        link->load +=
            fluid->flows[places[i].flow].rate * fluid_share(fluid, fluid->first[places[i].flow] + places[i].hop);
    }
    link->n_updates = 0;
}

static void change_rate(fab_fluid *fluid, uint32_t f, double rate, bool in_place) {
    fluid_flow *flow = &fluid->flows[f];
    if (fabs(rate - flow->rate) <= FILL_TIE * flow->rate || rate == flow->rate) {
        return;
    }
    double change = rate - flow->rate;
    for (uint64_t h = fluid->first[f]; h < fluid->first[f + 1]; h++) {
        fluid_link *link = &fluid->links[fluid->hops[h].link];
        link->load += change * fluid_share(fluid, h);
        link->n_updates++;
    }
    flow->left = fmax(flow->left - flow->rate * (fluid->now - flow->since), 0);
    flow->since = fluid->now;
    flow->rate = rate;
    double ends = fluid->now + flow->left / rate;
    if (in_place) {
        fluid->events[flow->event].ends = ends;
    } else {
        fluid_event_move(fluid, f, ends);
    }
}

static void fluid_apply(fab_fluid *fluid) {
    const fluid_set *set = &fluid->set;
    bool in_place = set->n > fluid->n_events / 8;
    for (uint32_t i = 0; i < set->n; i++) {
        fluid_flow *flow = &fluid->flows[set->flow[i]];
        if (flow->bottleneck != FAB_NO_BOTTLENECK) {
            fluid->links[flow->bottleneck].n_bottlenecked--;
        }
        change_rate(fluid, set->flow[i], set->rate[i], in_place);
        flow->bottleneck = FAB_NO_BOTTLENECK;
        if (set->bottleneck[i] != FAB_NO_BOTTLENECK) {
            flow->bottleneck = set->local[set->bottleneck[i]].link;
            fluid->links[flow->bottleneck].n_bottlenecked++;
            fluid->links[flow->bottleneck].level = flow->rate / fluid_weight(fluid, set->flow[i]);
        }
    }
    if (in_place) {
        fluid_event_rebuild(fluid);
    }
    for (uint32_t k = 0; k < set->n_links; k++) {
        const fluid_link *link = &fluid->links[set->local[k].link];
        if (link->n_updates > link->n_on + SUM_AGAIN) {
            sum_load(fluid, set->local[k].link);
        }
    }
}

fab_status fluid_settle(fab_fluid *fluid, fab_error *err) {
    bool grown = true;
    bool is_whole = false;
    bool is_stuck = false;
    if (fluid->n_fresh == 0 && fluid->n_released == 0) {
        return FAB_OK;
    }
    begin_set(fluid);
    if (fluid->set.n == 0) {
        return FAB_OK;
    }
    while (grown && !is_whole) {
        is_whole = is_stuck || (fluid->set.n > ALONE && fluid->set.n > fluid->n_events / 10);
        if (is_whole) {
            join_all(fluid);
        }
        FAB_PASS(fill_set(fluid, is_whole, err));
        if (!is_whole) {
            fluid_widen(fluid, &grown, &is_stuck);
            is_stuck = is_stuck && !grown;
            grown = grown || is_stuck;
        }
    }
    fluid_apply(fluid);
    return FAB_OK;
}
