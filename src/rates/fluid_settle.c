/* Levels after transfers have ended.
 *
 * Every flow has the level, its rate per weight, of the link that is its bottleneck; no flow keeps a rate. A link that
 * somebody is bottlenecked at is full, and nobody has a higher level on it: that is max-min fairness. Where one flow
 * changes, the links that it crosses wait until they are solved, each alone, as if the flows that are bottlenecked
 * elsewhere stay as they are:
 *   - its own flows get the level at which it is full;
 *   - flows that have more on it are its own from now on.
 * That changes flows on other links, of higher levels, which wait then. The link of the lowest level is next: what
 * follows lies above, so that most are solved once. When none waits, all levels are fair. */
#include "fab/memory.h"
#include "fluid_state.h"

#include <math.h>

#define SAME_LEVEL  1e-12 /* relative: the level stays, and what is left is added to the next change */
#define MORE        1e-11 /* relative: who has more than the level by less is not taken over */
#define FULL        1e-11 /* of a capacity: mere rounding */
#define SUM_AGAIN   16    /* solutions of a link before what it carries is summed afresh */
#define TOLERANCE   1e-9  /* of the check */
#define MOST_SOLVED 1000  /* solutions per link and settlement */

/* --- links that wait ---------------------------------------------------------------------------------------------- */

/* Until the lowest bucket that is not empty, all links that wait are in a heap. */
static void fluid_wait(fab_fluid *fluid, uint32_t l, double level) {
    const uint64_t bits = level > 0 ? queue_bits(level) : 0;
    const uint64_t above = bits > fluid->base ? (bits - fluid->base) >> FLUID_BUCKET_SHIFT : 0;
    const uint32_t bucket = above < fluid->n_buckets ? (uint32_t)above : fluid->n_buckets - 1;
    if (bucket <= fluid->bucket) {
        fluid->links[l].next = FLUID_BUSY;
        queue_push(fluid->heap, &fluid->n_heap, (queued){level, l});
    } else {
        fluid->links[l].next = fluid->head[bucket];
        fluid->head[bucket] = l;
        fluid->used[bucket / 64] |= UINT64_C(1) << (bucket % 64);
    }
}

/* The link of the lowest level that waits, or FLUID_NONE. */
static uint32_t next_waiting(fab_fluid *fluid) {
    uint32_t word = fluid->bucket / 64;
    while (fluid->n_heap == 0 && word <= (fluid->n_buckets - 1) / 64 && fluid->used[word] == 0) {
        word++;
    }
    if (fluid->n_heap == 0 && word <= (fluid->n_buckets - 1) / 64) {
        fluid->bucket = 64 * word + (uint32_t)__builtin_ctzll(fluid->used[word]);
        fluid->used[word] &= fluid->used[word] - 1;
        for (uint32_t l = fluid->head[fluid->bucket], next = 0; l != FLUID_WAITS_LAST; l = next) {
            next = fluid->links[l].next;
            queue_push(fluid->heap, &fluid->n_heap, (queued){fluid->links[l].level, l});
        }
        fluid->head[fluid->bucket] = FLUID_WAITS_LAST;
    }
    if (fluid->n_heap == 0) {
        fluid->bucket = 0;
        return FLUID_NONE;
    }
    return queue_pop(fluid->heap, &fluid->n_heap).link;
}

static void tell_change(fab_fluid *fluid, uint32_t l) {
    if (!fluid->clocks[l].is_changed) {
        fluid->clocks[l].is_changed = true;
        fluid->changed[fluid->n_changed++] = l;
    }
}

/* --- flows on links ----------------------------------------------------------------------------------------------- */

/* Takes a flow from one level to another, on all of its links. */
static void shift(fab_fluid *fluid, uint32_t f, double from, double to) {
    const fluid_flow *flow = &fluid->flows[f];
    const double change = (to - from) * flow->weight;
    for (uint32_t h = flow->first; h < flow->end; h++) {
        fluid_link *link = &fluid->links[fluid->link[h]];
        link->residual -= change * fluid_share(fluid, h);
        link->top = to > link->top ? to : link->top;
        if (link->next == FLUID_NONE && (link->n_bottlenecked > 0 || link->residual < link->level)) {
            fluid_wait(fluid, fluid->link[h], link->n_bottlenecked > 0 ? link->level : to);
        }
    }
}

/* Puts a hop of a flow at another place of the list of its link, and who stood there at its place. */
static void swap_place(fab_fluid *fluid, uint32_t hop, uint32_t to) {
    fluid_place *places = &fluid->places[fluid->listed[fluid->link[hop]]];
    const uint32_t from = fluid->place[hop];
    const fluid_place other = places[to];
    places[to] = places[from];
    places[from] = other;
    fluid->place[hop] = to;
    fluid->place[other.hop] = from;
}

static void hold(fab_fluid *fluid, uint32_t f, uint32_t hop) {
    const uint32_t l = fluid->link[hop];
    swap_place(fluid, hop, fluid->links[l].n_bottlenecked++);
    fluid->clocks[l].weight += fluid->flows[f].weight * fluid_share(fluid, hop);
    fluid->flows[f].bottleneck = l;
    fluid->flows[f].hop = hop;
}

static void let_go(fab_fluid *fluid, uint32_t f) {
    const uint32_t hop = fluid->flows[f].hop;
    const uint32_t l = fluid->link[hop];
    fluid_link *link = &fluid->links[l];
    swap_place(fluid, hop, --link->n_bottlenecked);
    fluid->clocks[l].weight -= fluid->flows[f].weight * fluid_share(fluid, hop);
    if (link->n_bottlenecked == 0) {
        fluid->clocks[l].weight = 0;
        link->level = -FULL * fluid->capacity[l];
    }
    tell_change(fluid, l);
}

void fluid_end(fab_fluid *fluid, uint32_t f) {
    const fluid_flow *flow = &fluid->flows[f];
    shift(fluid, f, fluid_level(fluid, f), 0);
    let_go(fluid, f);
    for (uint32_t h = flow->first; h < flow->end; h++) {
        swap_place(fluid, h, --fluid->clocks[fluid->link[h]].n_on);
    }
    fluid->n_running--;
}

/* What nobody has of a link, from its flows; and the weight of its own. */
static double sum_again(const fab_fluid *fluid, uint32_t l, double *out_weight) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    double residual = fluid->capacity[l];
    *out_weight = 0;
    for (uint32_t i = 0; i < fluid->clocks[l].n_on; i++) {
        const uint32_t f = places[i].flow;
        const double weight = fluid->flows[f].weight * fluid_share(fluid, places[i].hop);
        residual -= weight * fluid_level(fluid, f);
        *out_weight += i < fluid->links[l].n_bottlenecked ? weight : 0;
    }
    return residual;
}

/* --- a link alone ------------------------------------------------------------------------------------------------- */

/* A flow that is bottlenecked elsewhere is so here from now on. */
static void take_over(fab_fluid *fluid, uint32_t l, fluid_place place) {
    fluid_flow *flow = &fluid->flows[place.flow];
    const double level = fluid_level(fluid, place.flow);
    fluid_advance(fluid, flow->bottleneck);
    const double left = flow->target - fluid->clocks[flow->bottleneck].served;
    let_go(fluid, place.flow);
    shift(fluid, place.flow, level, fluid->links[l].level);
    hold(fluid, place.flow, place.hop);
    flow->target = fluid->clocks[l].served + left;
}

/* Takes over all who have more than a level, and notes the most that the others have. @return whether there were any */
static bool take_over_above(fab_fluid *fluid, uint32_t l, double level) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    const uint32_t n = fluid->links[l].n_bottlenecked;
    double top = 0;
    for (uint32_t i = n; i < fluid->clocks[l].n_on; i++) {
        const double other = fluid_level(fluid, places[i].flow);
        if (other > level * (1 + MORE)) {
            take_over(fluid, l, places[i]);
        } else {
            top = other > top ? other : top;
        }
    }
    fluid->links[l].top = top;
    return fluid->links[l].n_bottlenecked > n;
}

/* A link that is too full becomes the bottleneck of those that have most on it. */
static void begin_bottleneck(fab_fluid *fluid, uint32_t l) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    double most = 0;
    for (uint32_t i = 0; i < fluid->clocks[l].n_on; i++) {
        most = fmax(most, fluid_level(fluid, places[i].flow));
    }
    fluid->links[l].level = most;
    (void)take_over_above(fluid, l, most * (1 - 2 * MORE));
}

/* The level at which the link is full, while others may still have more. */
static double level_if_full(const fab_fluid *fluid, uint32_t l) {
    return fluid->links[l].level + fluid->links[l].residual / fluid->clocks[l].weight;
}

static void set_level(fab_fluid *fluid, uint32_t l, double level) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    fluid_link *link = &fluid->links[l];
    const bool is_same = fabs(level - link->level) <= SAME_LEVEL * level;
    const double top = link->top;
    double first = INFINITY;
    for (uint32_t i = 0; i < link->n_bottlenecked; i++) {
        __builtin_prefetch(&fluid->flows[places[i].flow]);
    }
    for (uint32_t i = 0; i < link->n_bottlenecked; i++) {
        __builtin_prefetch(&fluid->link[fluid->flows[places[i].flow].first]);
    }
    for (uint32_t i = 0; i < link->n_bottlenecked; i++) {
        const uint32_t f = places[i].flow;
        first = fluid->flows[f].target < first ? fluid->flows[f].target : first;
        if (!is_same) {
            shift(fluid, f, link->level, level);
        }
    }
    fluid->clocks[l].first = first;
    if (!is_same) {
        link->level = level;
        link->residual = 0;
        link->top = top;
    }
}

static void solve_link(fab_fluid *fluid, uint32_t l) {
    fluid_link *link = &fluid->links[l];
    fluid_clock *clock = &fluid->clocks[l];
    link->next = FLUID_BUSY;
    if (clock->n_solved++ % SUM_AGAIN == 0 || link->n_bottlenecked == 0) {
        link->residual = sum_again(fluid, l, &clock->weight);
    }
    fluid_advance(fluid, l);
    if (link->n_bottlenecked == 0 && link->residual < link->level) {
        begin_bottleneck(fluid, l);
    }
    if (link->n_bottlenecked > 0) {
        double level = level_if_full(fluid, l);
        while (link->top > level * (1 + MORE) && take_over_above(fluid, l, level)) {
            level = level_if_full(fluid, l);
        }
        set_level(fluid, l, level);
        tell_change(fluid, l);
    }
    link->next = FLUID_NONE;
}

fab_status fluid_settle(fab_fluid *fluid, fab_error *err) {
    uint64_t n_left = MOST_SOLVED * ((uint64_t)fluid->routes.n_links + 1);
    for (uint32_t l = next_waiting(fluid); l != FLUID_NONE; l = next_waiting(fluid)) {
        FAB_REFUSE_IF(n_left-- == 0, err, FAB_EINTERNAL, NULL, "the rates of %u flows do not settle", fluid->n_running);
        solve_link(fluid, l);
    }
    return FAB_OK;
}

/* --- all links ---------------------------------------------------------------------------------------------------- */

fab_status fluid_check(const fab_fluid *fluid, fab_error *err) {
    for (uint32_t l = 0; l < fluid->routes.n_links; l++) {
        const fluid_link *link = &fluid->links[l];
        double weight = 0;
        const double residual = sum_again(fluid, l, &weight) / fluid->capacity[l];
        const fluid_place *places = &fluid->places[fluid->listed[l]];
        FAB_ANY_IN(has_more, i, link->n_bottlenecked, fluid->clocks[l].n_on,
                   fluid_level(fluid, places[i].flow) > link->level * (1 + TOLERANCE));
        const bool is_fair = link->n_bottlenecked == 0 || (residual <= TOLERANCE && !has_more);
        FAB_REFUSE_IF(residual < -TOLERANCE || !is_fair, err, FAB_EINTERNAL, NULL,
                      "%u flows on a link of %.17g bit/s leave %.17g of it, and have no fair rates",
                      fluid->clocks[l].n_on, fluid->capacity[l], residual);
    }
    return FAB_OK;
}

static void enlist(fab_fluid *fluid, uint32_t f) {
    for (uint32_t h = fluid->flows[f].first; h < fluid->flows[f].end; h++) {
        const uint32_t l = fluid->link[h];
        fluid->place[h] = fluid->clocks[l].n_on++;
        fluid->places[fluid->listed[l] + fluid->place[h]] = (fluid_place){f, h};
    }
}

static void begin_flow(fab_fluid *fluid, uint32_t f, double rate, uint32_t bottleneck) {
    fluid_flow *flow = &fluid->flows[f];
    uint32_t hop = flow->first;
    while (fluid->link[hop] != bottleneck) {
        hop++;
    }
    hold(fluid, f, hop);
    fluid->links[bottleneck].level = rate / flow->weight;
    flow->target /= flow->weight;
    fluid->n_running++;
}

fab_status fluid_begin(fab_fluid *fluid, fab_error *err) {
    FAB_OWNS(fab_max_min_free_owned) fab_max_min *solver = NULL;
    FAB_OWNED double *rate = NULL;
    FAB_OWNED uint32_t *bottleneck = NULL;
    const fab_sharing *s = &fluid->routes;
    FAB_PASS(fab_max_min_new(&solver, err));
    FAB_PASS(FAB_NEW(rate, s->n_flows, err));
    FAB_PASS(FAB_NEW(bottleneck, s->n_flows, err));
    FAB_PASS(fab_max_min_solve(solver, s, rate, bottleneck, err));
    for (uint32_t f = 0; f < s->n_flows; f++) {
        fluid_flow *flow = &fluid->flows[f];
        flow->weight = s->weight != NULL ? s->weight[f] : 1;
        flow->first = (uint32_t)s->first[f];
        flow->end = (uint32_t)s->first[f + 1];
        enlist(fluid, f);
    }
    double lowest = INFINITY;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (s->first[f] < s->first[f + 1]) {
            begin_flow(fluid, f, rate[f], bottleneck[f]);
            lowest = fmin(lowest, fluid_level(fluid, f));
        }
    }
    fluid->base = queue_bits(lowest / 16);
    FAB_FILL(fluid->head, fluid->n_buckets, FLUID_WAITS_LAST);
    for (uint32_t l = 0; l < s->n_links; l++) {
        fluid_link *link = &fluid->links[l];
        link->top = INFINITY; /* not known yet */
        link->level = link->n_bottlenecked > 0 ? link->level : -FULL * s->capacity[l];
        fluid_wait(fluid, l, link->level);
    }
    return fluid_settle(fluid, err);
}
