/* What a run needs before its first cell moves: cells of each flow, ports of links, turns of senders. */
#include "spray.h"

#define BITS           8.0
#define PACKET_LINKS   2e6 /* cells times links that are packets one by one */
#define CELLS          48  /* of a mean flow with one path, beyond */
#define RATED_CELLS    64
#define RATED_LINKS    8e6 /* under DCQCN: in cells marks come at other times than in packets */
#define EVENTS_PER_DAY 32
#define CACHE_LINE     64

static fab_status lossless_copy_paths(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    uint64_t n = 0;
    FAB_PASS(FAB_NEW(s->first, (size_t)p->n_flows + 1, err));
    FAB_PASS(FAB_NEW(s->link, p->first[p->n_flows] - p->first[0] + 2 * (size_t)p->n_flows, err));
    FAB_PASS(FAB_NEW(s->flows, p->n_flows, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        s->first[f] = n;
        s->flows[f].at = (uint32_t)n;
        uint32_t queues = p->class_of != NULL ? p->class_of[f] * p->n_links : 0;
        for (uint64_t i = p->first[f]; i < p->first[f + 1]; i++) {
            s->flows[f].latency_s += p->latency_s[p->link[i]];
            if (isfinite(p->capacity[p->link[i]])) {
                s->link[n++] = queues + p->link[i];
            }
        }
        s->link[n] = FAB_NO_LINK;
        n += 2; /* with the cells that have not arrived */
    }
    s->first[p->n_flows] = n;
    return FAB_OK;
}

uint64_t fab_n_links_of(const fab_lossless_phase *p, uint32_t flow) {
    FAB_SUM_IN(uint64_t, n, i, p->first[flow], p->first[flow + 1], isfinite(p->capacity[p->link[i]]) != 0);
    return n;
}

/* A path's part of them, where flows are sprayed. */
static double n_packets_of(const fab_lossless_state *s, uint32_t flow) {
    double n = s->phase->bits[flow] / BITS / s->transport->mtu_bytes;
    return s->spray != NULL || s->lead != NULL ? n : ceil(n);
}

double fab_wire_bytes(const fab_lossless_state *s, uint32_t flow) {
    return s->phase->bits[flow] / BITS + n_packets_of(s, flow) * s->transport->header_bytes;
}

/* Paths that a sender has, if this is the one that stands for it; else 0. */
static double n_paths_of(const fab_lossless_state *s, uint32_t flow) {
    double n = 0;
    const uint32_t *of = s->phase->sprayed;
    for (uint32_t i = of[s->group[flow]]; s->lead[flow] == flow && i < of[s->group[flow] + 1]; i++) {
        n += s->lead[i] == flow;
    }
    return n;
}

uint32_t fab_count_cells(const fab_lossless_state *s, uint32_t flow, double n_paths, double *out_bytes) {
    double bytes = fab_wire_bytes(s, flow);
    if (s->spray != NULL || s->lead != NULL) {
        double payload = n_paths * s->phase->bits[flow] / BITS;
        bytes = payload + ceil(payload / s->transport->mtu_bytes * (1 - 1e-12)) * s->transport->header_bytes;
    }
    uint64_t n_links = fab_n_links_of(s->phase, flow);
    bool moves = bytes > 0 && n_links > 0;
    uint32_t n = moves ? (uint32_t)fmax(1, ceil(bytes / s->out->cell_bytes * (1 - 1e-12))) : 0;
    s->out->n_cells += n * n_links;
    *out_bytes = moves ? bytes / n : 0;
    return n;
}

static void cut_flows(fab_lossless_state *s) {
    const fab_lossless_phase *p = s->phase;
    double sum = 0;
    double n_hops = 0;
    for (uint32_t f = 0; f < p->n_flows; f++) {
        double hops = (double)fab_n_links_of(p, f);
        sum += fab_wire_bytes(s, f) * hops;
        n_hops += hops;
    }
    double paths = p->n_sprayed > 0 ? (double)p->n_flows / p->n_sprayed : 1;
    double most = s->transport->dcqcn != NULL ? RATED_LINKS : paths > 1 ? FAB_SPREAD_LINKS : PACKET_LINKS;
    most = s->transport->packet_links > 0 ? s->transport->packet_links : most;
    s->packet_bytes = s->transport->mtu_bytes + s->transport->header_bytes;
    double cells = s->transport->dcqcn != NULL ? RATED_CELLS : CELLS;
    s->out->cell_bytes = fmax(s->packet_bytes, sum / fmax(most, cells / sqrt(paths) * n_hops));
    s->least_bytes = s->out->cell_bytes > s->packet_bytes ? FAB_LEAST_CELLS * s->out->cell_bytes : 0;
    s->xoff_bytes = fmax(s->transport->xoff_bytes, s->least_bytes);
    s->xon_part = s->transport->xon_bytes / s->transport->xoff_bytes;
    for (uint32_t f = 0; f < p->n_flows; f++) {
        s->out->finish_s[f] = fab_wire_bytes(s, f) > 0 && fab_n_links_of(p, f) > 0 ? INFINITY : 0;
        fab_cut_flow *cut = &s->flows[f];
        cut->left = fab_count_cells(s, f, s->lead != NULL ? n_paths_of(s, f) : 1, &cut->cell_bytes);
        s->link[s->first[f + 1] - 1] = cut->left;
    }
}

fab_status fab_link_times(const fab_lossless_state *s, double *s_per_byte, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    struct {
        double data, acks;
    } *of = NULL;
    FAB_PASS(FAB_NEW(of, (size_t)p->n_links + 1, err));
    for (uint32_t f = 0; s->transport->ack_bytes > 0 && f < p->n_flows; f++) {
        double bytes = fab_wire_bytes(s, f);
        double back = n_packets_of(s, f) * s->transport->ack_bytes;
        for (uint64_t i = p->first[f]; i < p->first[f + 1]; i++) {
            bool has_queue = isfinite(p->capacity[p->link[i]]);
            of[p->link[i]].data += bytes;
            of[p->link[i] ^ 1U].acks += has_queue ? back : 0;
        }
    }
    for (uint32_t l = 0; l < p->n_links; l++) {
        s_per_byte[l] = BITS / p->capacity[l] * (of[l].data > 0 ? (of[l].data + of[l].acks) / of[l].data : 1);
    }
    free(of);
    return FAB_OK;
}

static fab_status open_ports(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_port *room = NULL; /* one more, so that they begin with a line */
    FAB_PASS(FAB_NEW(s->s_per_byte, p->n_links, err));
    FAB_PASS(fab_link_times(s, s->s_per_byte, err));
    FAB_PASS(FAB_NEW(room, (size_t)s->n_queues + 1, err));
    s->ports_room = room;
    s->ports = (void *)((char *)room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE) % CACHE_LINE);
    FAB_PASS(FAB_NEW_ALL(s->n_queues, err, s->turns, s->stops, s->held_bytes, s->asks_to_stop));
    FAB_PASS(FAB_NEW(s->source, p->n_flows, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        if (s->flows[f].left > 0) {
            s->turns[s->link[s->first[f]]].n++;
        }
    }
    uint32_t n = 0;
    for (uint32_t l = 0; l < s->n_queues; l++) {
        s->ports[l] = (fab_port){.s_per_byte = s->s_per_byte[l % p->n_links],
                                 .latency_s = p->latency_s[l % p->n_links],
                                 .head = FAB_NO_CELL,
                                 .tail = FAB_NO_CELL,
                                 .sending = FAB_NO_CELL,
                                 .has_sources = s->turns[l].n > 0};
        s->stops[l].cause = FAB_NO_LINK;
        s->turns[l].first = n;
        n += s->turns[l].n;
        s->turns[l].n = 0;
    }
    for (uint32_t f = 0; f < p->n_flows; f++) {
        if (s->flows[f].left > 0) {
            fab_turns *t = &s->turns[s->link[s->first[f]]];
            s->source[t->first + t->n++] = f;
        }
    }
    return FAB_OK;
}

static fab_status open_rates(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    FAB_PASS(s->lead != NULL ? FAB_NEW(s->waiting_bytes, s->n_queues, err) : FAB_OK);
    if (s->transport->dcqcn == NULL) {
        return FAB_OK;
    }
    s->dcqcn = *s->transport->dcqcn;
    if (s->out->cell_bytes > s->packet_bytes) {
        s->dcqcn.kmin_bytes = fmax(s->dcqcn.kmin_bytes, s->out->cell_bytes);
        s->dcqcn.kmax_bytes = fmax(s->dcqcn.kmax_bytes, FAB_LEAST_CELLS * s->out->cell_bytes);
    }
    FAB_PASS(FAB_NEW(s->rates, p->n_flows, err));
    FAB_PASS(FAB_NEW_ALL(s->n_queues, err, s->wake_s, s->waiting_bytes, s->n_queued));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        s->rates[f] =
            fab_dcqcn_start(&s->dcqcn, s->flows[f].left > 0 ? p->capacity[s->link[s->first[f]] % p->n_links] : 0);
    }
    return FAB_OK;
}

/* Days that hold a few events each, by how long the fullest link sends. */
static fab_status open_events(fab_lossless_state *s, fab_error *err) {
    double busy_s = 0;
    double sight_s = 0;
    FAB_OWNED_NEW(double, send_s, s->n_queues, err);
    for (uint32_t f = 0; f < s->phase->n_flows; f++) {
        for (uint64_t i = s->first[f]; s->link[i] != FAB_NO_LINK; i++) {
            const fab_port *at = &s->ports[s->link[i]];
            double cell_s = s->flows[f].cell_bytes * at->s_per_byte;
            send_s[s->link[i]] += cell_s * s->flows[f].left;
            busy_s = fmax(busy_s, send_s[s->link[i]]);
            sight_s = fmax(sight_s, 2 * cell_s + at->latency_s);
        }
    }
    if (busy_s > 0) {
        return fab_event_queue_init(&s->events, sizeof(fab_event),
                                    EVENTS_PER_DAY * busy_s / (double)(2 * s->out->n_cells + 1), sight_s, err);
    }
    return FAB_OK;
}

static fab_status lossless_check(const fab_lossless *t, const fab_lossless_phase *phase, fab_error *err) {
    FAB_REFUSE_IF(phase->n_links >= FAB_MOST_NUMBERS / (t->n_classes > 1 ? t->n_classes : 1), err, FAB_EUNSUPPORTED,
                  NULL, "a fabric of %u links has too many for packets: of links times priorities %u fit",
                  phase->n_links, FAB_MOST_NUMBERS - 1);
    FAB_REFUSE_IF(!(t->mtu_bytes > 0) || !(t->header_bytes >= 0) || !(t->ack_bytes >= 0), err, FAB_EINPUT, NULL,
                  "packets of %g + %g bytes, acknowledged by %g", t->mtu_bytes, t->header_bytes, t->ack_bytes);
    FAB_REFUSE_IF(!(t->xon_bytes >= 0) || !(t->xon_bytes < t->xoff_bytes), err, FAB_EINPUT, NULL,
                  "xon of %g bytes is not below xoff of %g", t->xon_bytes, t->xoff_bytes);
    FAB_REFUSE_IF(t->adapts && (t->dcqcn != NULL || t->spray != NULL), err, FAB_EUNSUPPORTED, "transport",
                  "switches choose queues only where nobody is told of marks");
    const fab_dcqcn *d = t->dcqcn;
    FAB_REFUSE_IF(d != NULL && (!(d->kmin_bytes < d->kmax_bytes) || !(d->gain > 0 && d->gain < 1)), err, FAB_EINPUT,
                  "transport", "kmin of %g bytes is not below kmax of %g, or a gain of %g not in (0, 1)", d->kmin_bytes,
                  d->kmax_bytes, d->gain);
    return FAB_OK;
}

/* Of packets that are sprayed, whole windows are under way: all of them, where flows are short. */
static double sprayed_bytes(double n_paths, double n_links, double n_hops, double n_senders) {
    double packets = fmin(FAB_SPREAD_LINKS, FAB_SPREAD_LINKS * n_paths / fmax(n_hops, 1));
    double of_steps = n_paths * 2 * sizeof(float) + n_senders * 6 * sizeof(double) + n_links * 12 * sizeof(double);
    double of_events = n_paths * (5 * sizeof(uint32_t) + 1) + n_links * sizeof(fab_spray_port) +
                       packets * sizeof(fab_spray_event) + FAB_EVENT_CALENDAR_BYTES;
    return (n_paths + n_hops) * sizeof(uint32_t) + n_links * (sizeof(fab_turns) + sizeof(double)) +
           fab_grown(n_senders) * (sizeof(fab_spray_sender) + sizeof(fab_spray_origin)) + fmax(of_steps, of_events);
}

double fab_lossless_bytes(const fab_lossless *transport, double n_flows, double n_links, double n_flow_links,
                          double n_senders) {
    if (transport->spray != NULL) {
        return sprayed_bytes(n_flows, n_links, n_flow_links, n_senders);
    }
    double of_flow = sizeof(uint64_t) + 2 * sizeof(uint32_t) + sizeof(fab_cut_flow);
    of_flow += transport->dcqcn != NULL ? sizeof(fab_dcqcn_flow) : 0;
    of_flow += transport->adapts ? 3 * sizeof(uint32_t) + sizeof(double) : 0;
    n_links *= fmax(1, transport->n_classes);
    double of_link =
        sizeof(fab_port) + sizeof(fab_turns) + sizeof(fab_stops) + sizeof(bool) + 3 * sizeof(double) + sizeof(fab_line);
    double waiting = transport->xoff_bytes / (transport->mtu_bytes + transport->header_bytes) + FAB_LEAST_CELLS;
    double cells = fmin(n_links * waiting,
                        fmax(transport->dcqcn != NULL ? RATED_LINKS : FAB_SPREAD_LINKS, RATED_CELLS * n_flow_links));
    double events = n_links * FAB_LEAST_CELLS * (sizeof(fab_event) + sizeof(uint64_t));
    return n_flows * of_flow + n_links * of_link + n_flow_links * sizeof(uint32_t) + cells * sizeof(fab_cell) + events +
           FAB_EVENT_CALENDAR_BYTES;
}

/* Paths of a flow that begin with the same link have one sender. */
static fab_status open_choices(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    if (!s->transport->adapts) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(p->n_flows, err, s->lead, s->group, s->turn, s->last_s));
    for (uint32_t k = 0; k < p->n_sprayed; k++) {
        for (uint32_t i = p->sprayed[k]; i < p->sprayed[k + 1]; i++) {
            uint32_t lead = p->sprayed[k];
            while (s->link[s->first[lead]] != s->link[s->first[i]]) {
                lead++;
            }
            s->lead[i] = lead;
            s->group[i] = k;
        }
    }
    return FAB_OK;
}

/* What classes and pools share. */
static fab_status open_shared(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    FAB_PASS(s->n_queues > p->n_links ? FAB_NEW(s->lines, p->n_links, err) : FAB_OK);
    if (s->transport->alpha > 0) {
        FAB_PASS(FAB_NEW(s->left_bytes, (size_t)p->n_pools + 1, err));
        FAB_FILL(s->left_bytes, p->n_pools, p->pool_bytes[fab_at]);
    }
    return FAB_OK;
}

fab_status fab_lossless_open(fab_lossless_state *s, fab_error *err) {
    s->free_cell = FAB_NO_CELL;
    s->out->n_cells = s->out->n_pauses = s->out->n_notices = s->out->n_trims = 0;
    s->out->n_deadlock = 0;
    FAB_PASS(lossless_check(s->transport, s->phase, err));
    s->n_queues = s->phase->n_links * (s->transport->n_classes > 1 ? s->transport->n_classes : 1);
    if (s->spray != NULL) {
        return fab_spray_open(s, err);
    }
    FAB_PASS(lossless_copy_paths(s, err));
    FAB_PASS(open_choices(s, err));
    cut_flows(s);
    FAB_PASS(open_shared(s, err));
    FAB_PASS(open_ports(s, err));
    FAB_PASS(open_rates(s, err));
    return open_events(s, err);
}

void fab_lossless_close(fab_lossless_state *s) {
    fab_event_queue_release(&s->events);
    if (s->spray != NULL) {
        fab_spray_close(s->spray);
    }
    FAB_FREE_ALL(s->lead, s->group, s->turn, s->last_s, s->s_per_byte);
    FAB_FREE_ALL(s->lines, s->left_bytes, s->rates, s->wake_s, s->waiting_bytes, s->n_queued, s->marked);
    FAB_FREE_ALL(s->ports_room, s->turns, s->stops, s->held_bytes, s->asks_to_stop, s->first, s->link, s->source,
                 s->flows, s->cells);
}
