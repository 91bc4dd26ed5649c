/* A list of everything that is going to happen, searched from end to end each time. */
#include "oracle_packets.h"
#include "fab/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 };

typedef struct happening {
    double when;
    enum {
        HEAD_IS_THERE,
        LINE_IS_FREE,
        PAUSE_IS_HEARD,
        RESUME_IS_HEARD,
        LOOK_AGAIN,
        NOTICE_IS_HEARD,
        ALPHA_RUNS_OUT,
        RATE_RUNS_OUT
    } what;
    uint32_t link; /* or flow */
    int packet;    /* or which notice a timer was started by, or the lane that is to be silent */
} happening;

typedef struct packet {
    uint32_t flow, step, came_by;
    double bytes;
    bool on_wire; /* is being sent over that link */
    bool in_line; /* waits at the switch before link `step` of its flow */
    long rank;    /* in the order in which packets came to any queue */
    bool marked;
} packet;

/* A sender under DCQCN, by figure 7 of its paper: both timers are happenings. */
typedef struct sender {
    double rc, rt, line, alpha, free_at, counted, last_notice;
    double floor, step, big_step, due,
        since; /* due: bytes of the last packet that have not been let through at `since` */
    int t, bc, notices;
} sender;

typedef struct world {
    const fab_lossless *t;
    const fab_lossless_phase *p;
    happening *list;
    int n_list, room_list;
    packet *packets;
    int n_packets, room_packets;
    bool *busy;
    bool (*silent)[LANES], (*asked)[LANES], (*own_turn)[LANES]; /* of a link, by lane */
    double (*stored)[LANES], *taken;                            /* taken: of a pool */
    uint32_t (*last_flow)[LANES], *last_lane;
    uint32_t *sent_of_flow, *packets_of_flow, *there_of_flow, *choices;
    double *end_of_flow;
    long rank;
    sender *senders;
    uint64_t (*came)[LANES];
} world;

static void later(world *w, happening h) {
    if (w->n_list == w->room_list) {
        w->room_list = 2 * w->room_list + 16;
        w->list = realloc(w->list, (size_t)w->room_list * sizeof *w->list);
    }
    w->list[w->n_list++] = h;
}

static uint32_t link_of(const world *w, uint32_t flow, uint32_t step) {
    return w->p->link[w->p->first[flow] + step];
}

static uint32_t steps_of(const world *w, uint32_t flow) {
    return (uint32_t)(w->p->first[flow + 1] - w->p->first[flow]);
}

/* Where switches choose: the flows of a bundle that leave by one link are one sender, and the first has its packets. */
static uint32_t bundle_of(const world *w, uint32_t flow) {
    uint32_t k = 0;
    while (w->p->sprayed[k + 1] <= flow) {
        k++;
    }
    return k;
}

static uint32_t sender_of(const world *w, uint32_t flow) {
    if (!w->t->adapts) {
        return flow;
    }
    uint32_t i = w->p->sprayed[bundle_of(w, flow)];
    while (link_of(w, i, 0) != link_of(w, flow, 0)) {
        i++;
    }
    return i;
}

static double payload_of(const world *w, uint32_t flow) {
    double payload = 0;
    for (uint32_t i = 0; i < w->p->n_flows; i++) {
        payload += sender_of(w, i) == flow ? w->p->bits[i] / 8 : 0;
    }
    return payload;
}

static int lane_of(const world *w, uint32_t flow) {
    return w->p->class_of == NULL ? 0 : w->p->class_of[flow];
}

/* The packet that came first to the queue of a link, or -1. */
static int first_in_line(const world *w, uint32_t link, int lane) {
    int best = -1;
    for (int i = 0; i < w->n_packets; i++) {
        const packet *k = &w->packets[i];
        if (k->in_line && lane_of(w, k->flow) == lane && link_of(w, k->flow, k->step) == link &&
            (best < 0 || k->rank < w->packets[best].rank)) {
            best = i;
        }
    }
    return best;
}

/* The next flow after the one that went last, of those that begin at this link; UINT32_MAX: none has anything left. */
static uint32_t next_flow(const world *w, uint32_t link, int lane, double now) {
    for (uint32_t i = 1; i <= w->p->n_flows; i++) {
        uint32_t flow = (w->last_flow[link][lane] + i) % w->p->n_flows;
        if (lane_of(w, flow) == lane && steps_of(w, flow) > 0 && link_of(w, flow, 0) == link &&
            w->sent_of_flow[flow] < w->packets_of_flow[flow] && w->senders[flow].free_at <= now) {
            return flow;
        }
    }
    return UINT32_MAX;
}

static int new_packet(world *w, uint32_t flow) {
    if (w->n_packets == w->room_packets) {
        w->room_packets = 2 * w->room_packets + 16;
        w->packets = realloc(w->packets, (size_t)w->room_packets * sizeof *w->packets);
    }
    double payload = payload_of(w, flow);
    double wire = payload + ceil(payload / w->t->mtu_bytes) * w->t->header_bytes;
    w->packets[w->n_packets] =
        (packet){.flow = flow, .came_by = UINT32_MAX, .bytes = wire / w->packets_of_flow[flow], .in_line = false};
    w->sent_of_flow[flow]++;
    return w->n_packets++;
}

static void increase(const fab_dcqcn *d, sender *x) {
    int both = x->t < x->bc ? x->t : x->bc;
    if (both > (int)d->recovery) {
        x->rt += (both - (int)d->recovery) * x->big_step;
    } else if (x->t >= (int)d->recovery || x->bc >= (int)d->recovery) {
        x->rt += x->step;
    }
    x->rt = x->rt > x->line ? x->line : x->rt;
    x->rc = 0.5 * (x->rt + x->rc);
}

/* The rate is about to change, or has. */
static void settle(sender *x, double now) {
    x->due -= x->rc * (now - x->since) / 8;
    x->due = x->due < 0 ? 0 : x->due;
    x->since = now;
}
static void see(world *w, uint32_t flow, double now) {
    sender *x = &w->senders[flow];
    x->free_at = now + x->due * 8 / x->rc;
    later(w, (happening){x->free_at, LOOK_AGAIN, link_of(w, flow, 0), -1});
}

static void pace(world *w, uint32_t flow, double bytes, double now) {
    sender *x = &w->senders[flow];
    if (w->t->dcqcn == NULL || x->notices == 0) {
        return;
    }
    x->due = bytes;
    x->since = now;
    x->counted += bytes;
    while (x->counted >= w->t->dcqcn->raise_bytes) {
        x->counted -= w->t->dcqcn->raise_bytes;
        x->bc++;
        increase(w->t->dcqcn, x);
    }
    see(w, flow, now);
}

static void hear_notice(world *w, uint32_t flow, double now) {
    const fab_dcqcn *d = w->t->dcqcn;
    sender *x = &w->senders[flow];
    settle(x, now);
    x->rt = x->rc;
    x->rc *= 1 - x->alpha / 2;
    x->rc = x->rc < x->floor ? x->floor : x->rc;
    see(w, flow, now);
    x->alpha = (1 - d->gain) * x->alpha + d->gain;
    x->t = x->bc = 0;
    x->counted = 0;
    x->notices++;
    later(w, (happening){now + d->alpha_s, ALPHA_RUNS_OUT, flow, x->notices});
    later(w, (happening){now + d->raise_s, RATE_RUNS_OUT, flow, x->notices});
}

static void run_out(world *w, happening h) {
    const fab_dcqcn *d = w->t->dcqcn;
    sender *x = &w->senders[h.link];
    if (h.packet != x->notices || w->sent_of_flow[h.link] == w->packets_of_flow[h.link]) {
        return;
    }
    if (h.what == ALPHA_RUNS_OUT) {
        x->alpha *= 1 - d->gain;
        h.when += d->alpha_s;
    } else {
        x->t++;
        settle(x, h.when);
        increase(d, x);
        see(w, h.link, h.when);
        h.when += d->raise_s;
    }
    later(w, h);
}

/* What waits before a link decides whether a packet that comes is marked. */
static bool is_marked(world *w, uint32_t link, int lane) {
    const fab_dcqcn *d = w->t->dcqcn;
    double depth = 0;
    if (d == NULL) {
        return false;
    }
    for (int i = 0; i < w->n_packets; i++) {
        const packet *k = &w->packets[i];
        bool is_here = k->in_line && lane_of(w, k->flow) == lane && link_of(w, k->flow, k->step) == link;
        depth += is_here ? k->bytes : 0;
    }
    double dice = (double)(fab_draw(w->p->seed, link + (uint32_t)lane * w->p->n_links, w->came[link][lane]++) >> 11) /
                  9007199254740992.0;
    if (depth <= d->kmin_bytes || (w->p->marks != NULL && !w->p->marks[link])) {
        return false;
    }
    return depth > d->kmax_bytes || dice < d->pmax * (depth - d->kmin_bytes) / (d->kmax_bytes - d->kmin_bytes);
}

/* Flows that may not send yet: when the first of them may. */
static void look_again(world *w, uint32_t link, double now) {
    double soonest = INFINITY;
    for (uint32_t flow = 0; flow < w->p->n_flows; flow++) {
        bool has =
            steps_of(w, flow) > 0 && link_of(w, flow, 0) == link && w->sent_of_flow[flow] < w->packets_of_flow[flow];
        if (has && w->senders[flow].free_at > now && w->senders[flow].free_at < soonest) {
            soonest = w->senders[flow].free_at;
        }
    }
    if (isfinite(soonest)) {
        later(w, (happening){soonest, LOOK_AGAIN, link, -1});
    }
}

/* What a lane would send over a line that is free: a packet that waits, or a new one of a flow. -1: nothing. */
static int choose(world *w, uint32_t link, int lane, double now) {
    int waiting = first_in_line(w, link, lane);
    uint32_t flow = next_flow(w, link, lane, now);
    if (w->silent[link][lane] || (waiting < 0 && flow == UINT32_MAX)) {
        return -1;
    }
    if (waiting >= 0 && (flow == UINT32_MAX || !w->own_turn[link][lane])) {
        w->own_turn[link][lane] = true;
        return waiting;
    }
    int chosen = new_packet(w, flow);
    w->last_flow[link][lane] = flow;
    w->own_turn[link][lane] = false;
    pace(w, flow, w->packets[chosen].bytes, now);
    return chosen;
}

/* Lanes one after the other, from the one behind that which sent last. */
static void use_line(world *w, uint32_t link, double now, double *finish_s) {
    int chosen = -1;
    int lanes = w->t->n_classes > 1 ? (int)w->t->n_classes : 1;
    for (int i = 1; i <= lanes && !w->busy[link] && chosen < 0; i++) {
        int lane = ((int)w->last_lane[link] + i) % lanes;
        chosen = choose(w, link, lane, now);
        w->last_lane[link] = chosen < 0 ? w->last_lane[link] : (uint32_t)lane;
    }
    if (!w->busy[link]) {
        look_again(w, link, now);
    }
    if (chosen < 0) {
        return;
    }
    packet *k = &w->packets[chosen];
    k->in_line = false;
    k->on_wire = true;
    w->busy[link] = true;
    double free_at = now + k->bytes * 8 / w->p->capacity[link];
    later(w, (happening){free_at, LINE_IS_FREE, link, chosen});
    if (k->step + 1 < steps_of(w, k->flow)) {
        later(w, (happening){free_at + w->p->latency_s[link], HEAD_IS_THERE, link, chosen});
        return;
    }
    double latency = 0;
    for (uint32_t i = 0; i < steps_of(w, k->flow); i++) {
        latency += w->p->latency_s[link_of(w, k->flow, i)];
    }
    double there = free_at + w->p->latency_s[link];
    if (k->marked && there - w->senders[k->flow].last_notice >= w->t->dcqcn->notify_s) {
        w->senders[k->flow].last_notice = there;
        later(w, (happening){there + latency, NOTICE_IS_HEARD, k->flow, -1});
    }
    double end = free_at + w->p->latency_s[link] - latency;
    uint32_t from = sender_of(w, k->flow);
    w->end_of_flow[from] = end > w->end_of_flow[from] ? end : w->end_of_flow[from];
    if (++w->there_of_flow[from] == w->packets_of_flow[from]) {
        for (uint32_t i = 0; i < w->p->n_flows; i++) {
            finish_s[i] = sender_of(w, i) == from ? w->end_of_flow[from] : finish_s[i];
        }
    }
}

/* Bytes that wait for a link in a lane, or are on it. */
static double depth_of(const world *w, uint32_t link, int lane) {
    double bytes = 0;
    for (int i = 0; i < w->n_packets; i++) {
        const packet *k = &w->packets[i];
        bool is_here = steps_of(w, k->flow) > k->step && link_of(w, k->flow, k->step) == link;
        bytes += is_here && lane_of(w, k->flow) == lane && (k->in_line || k->on_wire) ? k->bytes : 0;
    }
    return bytes;
}

/* Every path that has led here is looked at, from another one each time; the first of the emptiest is taken. */
static void choose_path(world *w, packet *k) {
    uint32_t bundle = bundle_of(w, k->flow);
    uint32_t first = w->p->sprayed[bundle];
    uint32_t n = w->p->sprayed[bundle + 1] - first;
    uint32_t offset = w->choices[sender_of(w, k->flow)]++;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t path = first + (offset + i) % n;
        bool leads_here = steps_of(w, path) > k->step;
        for (uint32_t step = 0; leads_here && step < k->step; step++) {
            leads_here = link_of(w, path, step) == link_of(w, k->flow, step);
        }
        if (leads_here && (best == UINT32_MAX || depth_of(w, link_of(w, path, k->step), lane_of(w, path)) + 1e-6 <
                                                     depth_of(w, link_of(w, best, k->step), lane_of(w, best)))) {
            best = path;
        }
    }
    k->flow = best;
}

/* What an ingress port may hold: what it is given, or its part of what is free. */
static double allowed(const world *w, uint32_t link) {
    if (w->t->alpha > 0 && w->p->pool[link] != FAB_NO_LINK) {
        double part = w->t->alpha * (w->p->pool_bytes[w->p->pool[link]] - w->taken[w->p->pool[link]]);
        return part < 0 ? 0 : part; /* what comes while senders hear of it may be more than there is */
    }
    return w->t->xoff_bytes;
}

static void store(world *w, uint32_t link, int lane, double bytes) {
    w->stored[link][lane] += bytes;
    if (w->t->alpha > 0 && w->p->pool[link] != FAB_NO_LINK) {
        w->taken[w->p->pool[link]] += bytes;
    }
}

static void happen(world *w, happening h, double *finish_s) {
    switch (h.what) {
    case HEAD_IS_THERE: {
        packet *k = &w->packets[h.packet];
        k->came_by = h.link;
        k->step++;
        if (w->t->adapts) {
            choose_path(w, k);
        }
        k->marked = is_marked(w, link_of(w, k->flow, k->step), lane_of(w, k->flow)) || k->marked;
        k->in_line = true;
        k->rank = w->rank++;
        int lane = lane_of(w, k->flow);
        store(w, h.link, lane, k->bytes);
        if (w->stored[h.link][lane] > allowed(w, h.link) && !w->asked[h.link][lane]) {
            w->asked[h.link][lane] = true;
            later(w, (happening){h.when + w->p->latency_s[h.link], PAUSE_IS_HEARD, h.link, lane});
        }
        use_line(w, link_of(w, k->flow, k->step), h.when, finish_s);
        return;
    }
    case LINE_IS_FREE: {
        uint32_t from = w->packets[h.packet].came_by;
        w->busy[h.link] = false;
        w->packets[h.packet].on_wire = false;
        if (from != UINT32_MAX && from != h.link) {
            int lane = lane_of(w, w->packets[h.packet].flow);
            store(w, from, lane, -w->packets[h.packet].bytes);
            double low = allowed(w, from) * (w->t->xon_bytes / w->t->xoff_bytes);
            if (w->asked[from][lane] && w->stored[from][lane] <= low + 1e-6) {
                w->asked[from][lane] = false;
                later(w, (happening){h.when + w->p->latency_s[from], RESUME_IS_HEARD, from, lane});
            }
        }
        break;
    }
    case PAUSE_IS_HEARD: w->silent[h.link][h.packet] = true; return;
    case RESUME_IS_HEARD: w->silent[h.link][h.packet] = false; break;
    case NOTICE_IS_HEARD: hear_notice(w, h.link, h.when); return;
    case ALPHA_RUNS_OUT:
    case RATE_RUNS_OUT: run_out(w, h); return;
    case LOOK_AGAIN: break;
    }
    use_line(w, h.link, h.when, finish_s);
}

void oracle_packets(const fab_lossless *t, const fab_lossless_phase *p, double *finish_s) {
    world w = {.t = t, .p = p};
    w.silent = calloc(p->n_links, sizeof *w.silent);
    w.busy = calloc(p->n_links, sizeof(bool));
    w.asked = calloc(p->n_links, sizeof *w.asked);
    w.own_turn = calloc(p->n_links, sizeof *w.own_turn);
    w.stored = calloc(p->n_links, sizeof *w.stored);
    w.last_flow = calloc(p->n_links, sizeof *w.last_flow);
    w.last_lane = calloc(p->n_links, sizeof *w.last_lane);
    w.taken = calloc((size_t)p->n_pools + 1, sizeof *w.taken);
    w.sent_of_flow = calloc(p->n_flows, sizeof(uint32_t));
    w.there_of_flow = calloc(p->n_flows, sizeof(uint32_t));
    w.choices = calloc(p->n_flows, sizeof(uint32_t));
    w.end_of_flow = calloc(p->n_flows, sizeof(double));
    w.packets_of_flow = calloc(p->n_flows, sizeof(uint32_t));
    w.senders = calloc(p->n_flows, sizeof(sender));
    w.came = calloc(p->n_links, sizeof *w.came);
    for (uint32_t l = 0; l < p->n_links; l++) {
        w.last_lane[l] = t->n_classes > 1 ? t->n_classes - 1 : 0;
        for (int lane = 0; lane < LANES; lane++) {
            w.last_flow[l][lane] = p->n_flows - 1;
        }
    }
    for (uint32_t f = 0; f < p->n_flows; f++) {
        double payload = payload_of(&w, f);
        double wire = payload + ceil(payload / t->mtu_bytes) * t->header_bytes;
        bool moves = wire > 0 && steps_of(&w, f) > 0;
        w.packets_of_flow[f] = moves ? (uint32_t)ceil(wire / (t->mtu_bytes + t->header_bytes) - 1e-9) : 0;
        finish_s[f] = moves || sender_of(&w, f) != f ? INFINITY : 0;
        double line = steps_of(&w, f) > 0 ? p->capacity[link_of(&w, f, 0)] : 0;
        w.senders[f] = (sender){.rc = line, .rt = line, .line = line, .alpha = 1, .last_notice = -INFINITY};
        const fab_dcqcn *d = t->dcqcn;
        w.senders[f].step = d != NULL && d->additive_bps > 0 ? d->additive_bps : line / 1000;
        w.senders[f].big_step = d != NULL && d->hyper_bps > 0 ? d->hyper_bps : line / 100;
        w.senders[f].floor = d != NULL && d->least_bps > 0 && d->least_bps < line ? d->least_bps : line / 1000;
    }
    for (uint32_t l = 0; l < p->n_links; l++) {
        use_line(&w, l, 0, finish_s);
    }
    while (w.n_list > 0) {
        int first = 0;
        for (int i = 1; i < w.n_list; i++) {
            first = w.list[i].when < w.list[first].when ? i : first;
        }
        happening h = w.list[first];
        memmove(&w.list[first], &w.list[first + 1], (size_t)(w.n_list - first - 1) * sizeof h);
        w.n_list--;
        happen(&w, h, finish_s);
    }
    free(w.list);
    free(w.packets);
    free(w.silent);
    free(w.busy);
    free(w.asked);
    free(w.own_turn);
    free(w.stored);
    free(w.last_flow);
    free(w.last_lane);
    free(w.taken);
    free(w.sent_of_flow);
    free(w.packets_of_flow);
    free(w.there_of_flow);
    free(w.choices);
    free(w.end_of_flow);
    free(w.senders);
    free(w.came);
}
