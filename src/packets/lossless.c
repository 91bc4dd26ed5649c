/* Events in the order of their time: the head of a cell reaches a queue, a link has sent a cell, a link is stopped or
 * let go on. */
#include "fab/lossless.h"
#include "fab/memory.h"
#include "event_queue.h"

#include <math.h>
#include <stdlib.h>

#define BITS           8.0
#define PACKET_LINKS   2e6 /* cells times links that are packets one by one */
#define CELLS          64  /* of a mean flow, beyond */
#define LEAST_CELLS    3   /* of a threshold */
#define NO_CELL        UINT32_MAX
#define EVENTS_PER_DAY 32
#define CACHE_LINE     64
#define MOST_NUMBERS   (UINT32_C(1) << 30) /* of cells, and of links: events name either in 30 bits */

enum event_kind { ARRIVES, IS_SENT, IS_STOPPED, GOES_ON };

typedef struct cell {
    double bytes;
    double tail_s; /* its last bit is there */
    uint32_t flow;
    uint32_t at;   /* place in the list of links: what it waits for, or is under way to */
    uint32_t in;   /* link before that, FAB_NO_LINK: from its NIC */
    uint32_t next; /* in its queue, or among the free ones */
} cell;

/* What every event reads of a link: one line of a cache. */
typedef struct port {
    double s_per_byte, latency_s;
    double held_bytes; /* by the ingress port at its end */
    double sending_bytes;
    double busy_s;
    uint32_t head, tail; /* queue of cells that go out by the link */
    uint32_t sending;    /* cell, or NO_CELL: its head may be further on already */
    uint32_t sending_in; /* link by which that came */
    bool is_stopped, asks_to_stop, has_sources, turn_of_source;
} port;

/* Flows that begin at a link, in turn: source[first] ... */
typedef struct turns {
    uint32_t first, n, next;
} turns;

/* How long a link was stopped, and for what. */
typedef struct stops {
    double since_s, sum_s;
    uint32_t held_by; /* queue of the cell with which it began */
    uint32_t cause;   /* the one that leads by time, and by how much */
    double lead_s;
} stops;

typedef struct lossless {
    const fab_lossless *transport;
    const fab_lossless_phase *phase;
    fab_lossless_result *out;
    void *ports_room;
    port *ports; /* [n_links], in it, a line of a cache each; the next two alike */
    turns *turns;
    stops *stops;
    uint64_t *first; /* [n_flows + 1]: as in the phase, but without links that take no time, and ended by FAB_NO_LINK */
    uint32_t *link;
    uint32_t *source;   /* flows by their first link */
    uint32_t *left;     /* [n_flows]: cells that have not been sent; the next three alike */
    uint32_t *missing;  /* that have not arrived */
    double *cell_bytes; /* of each cell, on the wire */
    double *latency_s;  /* of all its links */
    cell *cells;
    size_t n_cells, cells_capacity;
    uint32_t free_cell;
    double packet_bytes, xoff_bytes, xon_bytes;
    double now_s; /* of the event at hand */
    fab_event_queue events;
} lossless;

/* --- what there is to send ---------------------------------------------------------------------------------------- */

static fab_status lossless_copy_paths(lossless *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    uint64_t n = 0;
    FAB_PASS(FAB_NEW(s->first, (size_t)p->n_flows + 1, err));
    FAB_PASS(FAB_NEW(s->link, p->first[p->n_flows] - p->first[0] + p->n_flows, err));
    FAB_PASS(FAB_NEW(s->latency_s, p->n_flows, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        s->first[f] = n;
        for (uint64_t i = p->first[f]; i < p->first[f + 1]; i++) {
            s->latency_s[f] += p->latency_s[p->link[i]];
            if (isfinite(p->capacity[p->link[i]])) {
                s->link[n++] = p->link[i];
            }
        }
        s->link[n++] = FAB_NO_LINK;
    }
    s->first[p->n_flows] = n;
    return FAB_OK;
}

static uint64_t n_links_of(const lossless *s, uint32_t flow) {
    return s->first[flow + 1] - s->first[flow] - 1;
}

static double wire_bytes(const lossless *s, uint32_t flow) {
    const fab_lossless *t = s->transport;
    double payload = s->phase->bits[flow] / BITS;
    return payload + ceil(payload / t->mtu_bytes) * t->header_bytes;
}

/* Cells of equal size for each flow. */
static fab_status cut_flows(lossless *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    double sum = 0;
    double n_hops = 0;
    for (uint32_t f = 0; f < p->n_flows; f++) {
        double hops = (double)n_links_of(s, f);
        sum += wire_bytes(s, f) * hops;
        n_hops += hops;
    }
    double most = s->transport->packet_links > 0 ? s->transport->packet_links : PACKET_LINKS;
    s->packet_bytes = s->transport->mtu_bytes + s->transport->header_bytes;
    s->out->cell_bytes = fmax(s->packet_bytes, sum / fmax(most, CELLS * n_hops));
    double least = s->out->cell_bytes > s->packet_bytes ? LEAST_CELLS * s->out->cell_bytes : 0;
    s->xoff_bytes = fmax(s->transport->xoff_bytes, least);
    s->xon_bytes = s->xoff_bytes * (s->transport->xon_bytes / s->transport->xoff_bytes);
    FAB_PASS(FAB_NEW(s->left, p->n_flows, err));
    FAB_PASS(FAB_NEW(s->missing, p->n_flows, err));
    FAB_PASS(FAB_NEW(s->cell_bytes, p->n_flows, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        double bytes = wire_bytes(s, f);
        bool moves = bytes > 0 && n_links_of(s, f) > 0;
        s->left[f] = moves ? (uint32_t)fmax(1, ceil(bytes / s->out->cell_bytes * (1 - 1e-12))) : 0;
        s->missing[f] = s->left[f];
        s->cell_bytes[f] = moves ? bytes / s->left[f] : 0;
        s->out->finish_s[f] = moves ? INFINITY : 0;
        s->out->n_cells += s->left[f] * n_links_of(s, f);
    }
    return FAB_OK;
}

/* What acknowledgements leave of a link's rate, by the bytes that it carries of either. */
static fab_status take_acks(lossless *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_status status = FAB_OK;
    double *data = NULL;
    double *acks = NULL;
    FAB_TRY(FAB_NEW(data, p->n_links, err));
    FAB_TRY(FAB_NEW(acks, (size_t)p->n_links + 1, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        double bytes = wire_bytes(s, f);
        double back = ceil(p->bits[f] / BITS / s->transport->mtu_bytes) * s->transport->ack_bytes;
        for (uint64_t i = s->first[f]; s->link[i] != FAB_NO_LINK; i++) {
            data[s->link[i]] += bytes;
            acks[s->link[i] ^ 1U] += back;
        }
    }
    for (uint32_t l = 0; l < p->n_links; l++) {
        s->ports[l].s_per_byte *= data[l] > 0 ? (data[l] + acks[l]) / data[l] : 1;
    }
done:
    FAB_FREE_ALL(data, acks);
    return status;
}

static fab_status open_ports(lossless *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    port *room = NULL;
    FAB_PASS(FAB_NEW(room, (size_t)p->n_links + 1, err));
    s->ports_room = room;
    s->ports = (void *)((char *)room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE) % CACHE_LINE);
    FAB_PASS(FAB_NEW(s->turns, p->n_links, err));
    FAB_PASS(FAB_NEW(s->stops, p->n_links, err));
    FAB_PASS(FAB_NEW(s->source, p->n_flows, err));
    for (uint32_t f = 0; f < p->n_flows; f++) {
        if (s->left[f] > 0) {
            s->turns[s->link[s->first[f]]].n++;
        }
    }
    uint32_t n = 0;
    for (uint32_t l = 0; l < p->n_links; l++) {
        s->ports[l] = (port){.s_per_byte = BITS / p->capacity[l],
                             .latency_s = p->latency_s[l],
                             .head = NO_CELL,
                             .tail = NO_CELL,
                             .sending = NO_CELL,
                             .has_sources = s->turns[l].n > 0};
        s->stops[l].cause = FAB_NO_LINK;
        s->turns[l].first = n;
        n += s->turns[l].n;
        s->turns[l].n = 0;
    }
    for (uint32_t f = 0; f < p->n_flows; f++) {
        if (s->left[f] > 0) {
            turns *t = &s->turns[s->link[s->first[f]]];
            s->source[t->first + t->n++] = f;
        }
    }
    return s->transport->ack_bytes > 0 ? take_acks(s, err) : FAB_OK;
}

/* Days that hold a few events each, by how long the fullest link sends. */
static fab_status open_events(lossless *s, fab_error *err) {
    double busy_s = 0;
    double sight_s = 0;
    fab_status status = FAB_OK;
    double *send_s = NULL;
    FAB_TRY(FAB_NEW(send_s, s->phase->n_links, err));
    for (uint32_t f = 0; f < s->phase->n_flows; f++) {
        for (uint64_t i = s->first[f]; s->link[i] != FAB_NO_LINK; i++) {
            const port *at = &s->ports[s->link[i]];
            double cell_s = s->cell_bytes[f] * at->s_per_byte;
            send_s[s->link[i]] += cell_s * s->left[f];
            busy_s = fmax(busy_s, send_s[s->link[i]]);
            sight_s = fmax(sight_s, 2 * cell_s + at->latency_s);
        }
    }
    double day_s = EVENTS_PER_DAY * busy_s / (double)(2 * s->out->n_cells + 1);
    if (busy_s > 0) {
        status = fab_event_queue_init(&s->events, day_s, sight_s, err);
    }
done:
    free(send_s);
    return status;
}

static fab_status lossless_push(lossless *s, double at_s, enum event_kind kind, uint32_t link, uint32_t number,
                                fab_error *err) {
    return fab_event_push(&s->events, &(fab_event){at_s, link, (uint32_t)kind * MOST_NUMBERS + number}, err);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static fab_status take_cell(lossless *s, uint32_t *out, fab_error *err) {
    if (s->free_cell != NO_CELL) {
        *out = s->free_cell;
        s->free_cell = s->cells[*out].next;
        return FAB_OK;
    }
    if (s->n_cells + 1 >= MOST_NUMBERS) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "more than %u cells are under way", MOST_NUMBERS);
    }
    FAB_PASS(FAB_GROW(s->cells, s->cells_capacity, s->n_cells + 1, err));
    *out = (uint32_t)s->n_cells++;
    return FAB_OK;
}

/* The next cell of the flows that begin at a link, each in turn. A flow that is through leaves the list. */
static fab_status source_cell(lossless *s, uint32_t link, uint32_t *out, fab_error *err) {
    turns *t = &s->turns[link];
    uint32_t *mine = &s->source[t->first];
    uint32_t flow = mine[t->next];
    FAB_PASS(take_cell(s, out, err));
    s->cells[*out] = (cell){
        .bytes = s->cell_bytes[flow], .flow = flow, .at = (uint32_t)s->first[flow], .in = FAB_NO_LINK, .next = NO_CELL};
    if (--s->left[flow] > 0) {
        t->next++;
    } else {
        t->n--;
        for (uint32_t i = t->next; i < t->n; i++) {
            mine[i] = mine[i + 1];
        }
    }
    t->next = t->next < t->n ? t->next : 0;
    s->ports[link].has_sources = t->n > 0;
    return FAB_OK;
}

static uint32_t queued_cell(lossless *s, port *at) {
    uint32_t c = at->head;
    at->head = s->cells[c].next;
    at->tail = at->head == NO_CELL ? NO_CELL : at->tail;
    return c;
}

/* A link that is free and may send takes the next cell: of its queue and of the flows that begin here by turns. */
static fab_status send_next(lossless *s, uint32_t link, double now_s, fab_error *err) {
    port *at = &s->ports[link];
    if (at->sending != NO_CELL || at->is_stopped || (at->head == NO_CELL && !at->has_sources)) {
        return FAB_OK;
    }
    bool from_source = at->head == NO_CELL || (at->has_sources && at->turn_of_source);
    if (from_source) {
        FAB_PASS(source_cell(s, link, &at->sending, err));
    } else {
        at->sending = queued_cell(s, at);
    }
    at->turn_of_source = !from_source;
    cell *c = &s->cells[at->sending];
    at->sending_in = c->in;
    at->sending_bytes = c->bytes;
    double packet_s = (c->bytes < s->packet_bytes ? c->bytes : s->packet_bytes) * at->s_per_byte;
    double sent_s = now_s + c->bytes * at->s_per_byte;
    sent_s = sent_s > c->tail_s + packet_s ? sent_s : c->tail_s + packet_s; /* not before its last packet is here */
    at->busy_s += sent_s - now_s;
    FAB_PASS(lossless_push(s, sent_s, IS_SENT, link, 0, err));
    c->tail_s = sent_s + at->latency_s;
    uint32_t next = s->link[c->at + 1];
    if (next != FAB_NO_LINK) {
        c->at++;
        c->in = link;
        return lossless_push(s, now_s + packet_s + at->latency_s, ARRIVES, next, at->sending, err);
    }
    if (--s->missing[c->flow] == 0) {
        s->out->finish_s[c->flow] = c->tail_s - s->latency_s[c->flow];
    }
    c->next = s->free_cell;
    s->free_cell = at->sending;
    return FAB_OK;
}

/* The ingress port at the end of `in` holds what goes out by `held_by`. */
static fab_status stop_sender(lossless *s, uint32_t in, uint32_t held_by, double now_s, fab_error *err) {
    s->ports[in].asks_to_stop = true;
    s->out->n_pauses++;
    return lossless_push(s, now_s + s->ports[in].latency_s, IS_STOPPED, in, held_by, err);
}

static fab_status cell_arrives(lossless *s, const fab_event *e, fab_error *err) {
    uint32_t number = e->what % MOST_NUMBERS;
    cell *c = &s->cells[number];
    port *from = &s->ports[c->in];
    port *to = &s->ports[e->link];
    c->next = NO_CELL;
    from->held_bytes += c->bytes;
    if (from->held_bytes > s->xoff_bytes && !from->asks_to_stop) {
        FAB_PASS(stop_sender(s, c->in, e->link, e->at_s, err));
    }
    *(to->tail == NO_CELL ? &to->head : &s->cells[to->tail].next) = number;
    to->tail = number;
    return send_next(s, e->link, e->at_s, err);
}

/* The cell has left the switch: its ingress port holds less. */
static fab_status cell_is_sent(lossless *s, const fab_event *e, fab_error *err) {
    port *at = &s->ports[e->link];
    uint32_t in = at->sending_in;
    at->sending = NO_CELL;
    if (in != FAB_NO_LINK) {
        port *from = &s->ports[in];
        from->held_bytes -= at->sending_bytes;
        if (from->asks_to_stop && from->held_bytes <= s->xon_bytes * (1 + 1e-12)) {
            from->asks_to_stop = false;
            FAB_PASS(lossless_push(s, e->at_s + from->latency_s, GOES_ON, in, 0, err));
        }
    }
    return send_next(s, e->link, e->at_s, err);
}

/* --- stops -------------------------------------------------------------------------------------------------------- */

/* The cause that leads by time: a majority is found for certain [Boyer, Moore, 1981], else one of the larger. */
static void count_cause(stops *at, double seconds) {
    at->sum_s += seconds;
    if (at->cause == at->held_by) {
        at->lead_s += seconds;
    } else if (at->lead_s >= seconds) {
        at->lead_s -= seconds;
    } else {
        at->cause = at->held_by;
        at->lead_s = seconds - at->lead_s;
    }
}

static fab_status sender_changes(lossless *s, const fab_event *e, fab_error *err) {
    bool is_stopped = e->what / MOST_NUMBERS == IS_STOPPED;
    s->ports[e->link].is_stopped = is_stopped;
    if (is_stopped) {
        s->stops[e->link].since_s = e->at_s;
        s->stops[e->link].held_by = e->what % MOST_NUMBERS;
        return FAB_OK;
    }
    count_cause(&s->stops[e->link], e->at_s - s->stops[e->link].since_s);
    return send_next(s, e->link, e->at_s, err);
}

/* Nothing moves any more, and some links are stopped: from any of them on, each waits for a stopped link whose queue
 * holds a cell that came by it, until one comes again. */
static fab_status name_deadlock(lossless *s, double now_s, fab_error *err) {
    const uint32_t n_links = s->phase->n_links;
    fab_lossless_result *out = s->out;
    uint32_t *next = NULL;
    uint32_t at = FAB_NO_LINK;
    for (uint32_t l = 0; l < n_links; l++) {
        if (s->ports[l].is_stopped) {
            count_cause(&s->stops[l], now_s - s->stops[l].since_s);
            at = s->ports[l].head != NO_CELL && at == FAB_NO_LINK ? l : at;
        }
    }
    if (at == FAB_NO_LINK) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(next, n_links, err));
    for (uint32_t l = 0; l < n_links; l++) {
        next[l] = FAB_NO_LINK;
    }
    for (uint32_t l = n_links; l-- > 0;) {
        for (uint32_t c = s->ports[l].is_stopped ? s->ports[l].head : NO_CELL; c != NO_CELL; c = s->cells[c].next) {
            if (s->cells[c].in != FAB_NO_LINK) {
                next[s->cells[c].in] = l;
            }
        }
    }
    for (uint32_t i = 0; i < n_links && next[at] != FAB_NO_LINK; i++) { /* onto the circle */
        at = next[at];
    }
    for (uint32_t l = at; next[l] != FAB_NO_LINK && (out->n_deadlock == 0 || l != at); l = next[l]) {
        if (out->n_deadlock < FAB_DEADLOCK_SHOWN) {
            out->deadlock[out->n_deadlock] = l;
        }
        out->n_deadlock++;
    }
    free(next);
    return FAB_OK;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* What the events of a day read is fetched for all of them before the first one waits for it: the ports and cells that
 * they name, then what those name, then where the next cells of queues go. */
static void fetch_named(const lossless *s, const fab_event *e) {
    __builtin_prefetch(&s->ports[e->link], 1);
    if (e->what / MOST_NUMBERS == ARRIVES) {
        __builtin_prefetch(&s->cells[e->what % MOST_NUMBERS], 1);
    }
}

static void fetch_further(const lossless *s, const fab_event *e) {
    if (e->what / MOST_NUMBERS == ARRIVES) {
        const cell *c = &s->cells[e->what % MOST_NUMBERS];
        __builtin_prefetch(&s->ports[c->in], 1);
        __builtin_prefetch(&s->link[c->at + 1]);
    } else if (e->what / MOST_NUMBERS == IS_SENT) {
        const port *at = &s->ports[e->link];
        __builtin_prefetch(&s->ports[at->sending_in != FAB_NO_LINK ? at->sending_in : e->link], 1);
        __builtin_prefetch(&s->cells[at->head != NO_CELL ? at->head : 0], 1);
    }
}

static void fetch_day(const lossless *s) {
    const fab_event_queue *q = &s->events;
    for (size_t i = 0; i < q->n_now; i++) {
        fetch_named(s, &q->now[i]);
    }
    for (size_t i = 0; i < q->n_now; i++) {
        fetch_further(s, &q->now[i]);
    }
    for (size_t i = 0; i < q->n_now; i++) {
        uint32_t head = q->now[i].what / MOST_NUMBERS == IS_SENT ? s->ports[q->now[i].link].head : NO_CELL;
        if (head != NO_CELL) {
            __builtin_prefetch(&s->link[s->cells[head].at + 1]);
        }
    }
}

static fab_status run_events(lossless *s, fab_error *err) {
    fab_event_queue *q = &s->events;
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        FAB_PASS(send_next(s, l, 0, err));
    }
    if (q->n_now == 0 && s->out->n_cells > 0) {
        FAB_PASS(fab_event_next_day(q, err));
    }
    while (q->n_now > 0) {
        while (q->next < q->n_now) {
            fab_event e = q->now[q->next++];
            s->now_s = e.at_s;
            switch (e.what / MOST_NUMBERS) {
            case ARRIVES: FAB_PASS(cell_arrives(s, &e, err)); break;
            case IS_SENT: FAB_PASS(cell_is_sent(s, &e, err)); break;
            default: FAB_PASS(sender_changes(s, &e, err));
            }
        }
        FAB_PASS(fab_event_next_day(q, err));
        fetch_day(s);
    }
    return FAB_OK;
}

static void read_ports(lossless *s) {
    for (uint32_t l = 0; s->out->paused_s != NULL && l < s->phase->n_links; l++) {
        s->out->paused_s[l] = s->stops[l].sum_s;
        s->out->busy_s[l] = s->ports[l].busy_s;
        s->out->cause[l] = s->stops[l].cause;
    }
}

static fab_status lossless_check(const fab_lossless *t, const fab_lossless_phase *phase, fab_error *err) {
    if (phase->n_links >= MOST_NUMBERS) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "a fabric of %u links has too many for packets, of which %u fit",
                        phase->n_links, MOST_NUMBERS - 1);
    }
    if (!(t->mtu_bytes > 0) || !(t->header_bytes >= 0) || !(t->ack_bytes >= 0)) {
        return fab_fail(err, FAB_EINPUT, NULL, "packets of %g + %g bytes, acknowledged by %g", t->mtu_bytes,
                        t->header_bytes, t->ack_bytes);
    }
    if (!(t->xon_bytes >= 0) || !(t->xon_bytes < t->xoff_bytes)) {
        return fab_fail(err, FAB_EINPUT, NULL, "xon of %g bytes is not below xoff of %g", t->xon_bytes, t->xoff_bytes);
    }
    return FAB_OK;
}

double fab_lossless_bytes(const fab_lossless *transport, double n_flows, double n_links, double n_flow_links) {
    double of_flow = sizeof(uint64_t) + 4 * sizeof(uint32_t) + 2 * sizeof(double);
    double of_link = sizeof(port) + sizeof(turns) + sizeof(stops) + 2 * sizeof(double);
    double waiting = transport->xoff_bytes / (transport->mtu_bytes + transport->header_bytes) + LEAST_CELLS;
    double cells = fmin(n_links * waiting, fmax(PACKET_LINKS, CELLS * n_flow_links));
    double events = n_links * LEAST_CELLS * (sizeof(fab_event) + sizeof(uint64_t));
    return n_flows * of_flow + n_links * of_link + n_flow_links * sizeof(uint32_t) + cells * sizeof(cell) + events +
           FAB_EVENT_CALENDAR_BYTES;
}

fab_status fab_lossless_run(const fab_lossless *transport, const fab_lossless_phase *phase, fab_lossless_result *out,
                            fab_error *err) {
    fab_status status = FAB_OK;
    lossless s = {.transport = transport, .phase = phase, .out = out, .free_cell = NO_CELL};
    out->n_cells = out->n_pauses = 0;
    out->n_deadlock = 0;
    FAB_TRY(lossless_check(transport, phase, err));
    FAB_TRY(lossless_copy_paths(&s, err));
    FAB_TRY(cut_flows(&s, err));
    FAB_TRY(open_ports(&s, err));
    FAB_TRY(open_events(&s, err));
    FAB_TRY(run_events(&s, err));
    FAB_TRY(name_deadlock(&s, s.now_s, err));
    read_ports(&s);
done:
    fab_event_queue_release(&s.events);
    FAB_FREE_ALL(s.ports_room, s.turns, s.stops, s.first, s.link, s.source, s.left, s.missing, s.cell_bytes,
                 s.latency_s, s.cells);
    return status;
}
