/* Events in the order of their time: the head of a cell reaches a queue, a link has sent a cell, a link is stopped or
 * let go on, a sender may go on or is told to slow down. */
#include "fab/multiversion.h"
#include "fab/rng.h"
#include "spray.h"

#define ROUNDING 1e-6 /* bytes: what sums of cells that came and left are off by */

enum event_kind { ARRIVES, IS_SENT, IS_STOPPED, GOES_ON, WAKES, IS_TOLD }; /* the last one names a flow, not a link */

/* What is more than paths that are given, one class and thresholds that stay. Most phases have none of it: what is
 * called for each event is compiled for those alone as well. */
typedef enum features { PLAIN, MORE } features;

FAB_INLINE fab_status lossless_push(fab_lossless_state *s, double at_s, enum event_kind kind, uint32_t link,
                                    uint32_t number, fab_error *err) {
    return fab_event_push(&s->events, &(fab_event){at_s, link, (uint32_t)kind * FAB_MOST_NUMBERS + number}, err);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

FAB_INLINE fab_status take_cell(const features has, fab_lossless_state *s, uint32_t *out, fab_error *err) {
    if (s->free_cell != FAB_NO_CELL) {
        *out = s->free_cell;
        s->free_cell = s->cells[*out].next;
        return FAB_OK;
    }
    FAB_REFUSE_IF(s->n_cells + 1 >= FAB_MOST_NUMBERS, err, FAB_EUNSUPPORTED, NULL, "more than %u cells are under way",
                  FAB_MOST_NUMBERS);
    FAB_PASS(FAB_GROW(s->cells, s->cells_capacity, s->n_cells + 1, err));
    *out = (uint32_t)s->n_cells++;
    return has == MORE && s->rates != NULL ? FAB_GROW(s->marked, s->marked_capacity, s->n_cells, err) : FAB_OK;
}

/* Whether a flow that begins at a link may send: it is the next in turn then. Else the link is woken when one may. */
FAB_INLINE fab_status find_source(const features has, fab_lossless_state *s, uint32_t link, double now_s, bool *found,
                                  fab_error *err) {
    fab_turns *t = &s->turns[link];
    double soonest_s = INFINITY;
    *found = s->ports[link].has_sources && (has == PLAIN || s->rates == NULL);
    if (has == PLAIN) {
        return FAB_OK;
    }
    for (uint32_t i = 0; !*found && i < t->n; i++) {
        uint32_t at = t->next + i < t->n ? t->next + i : t->next + i - t->n;
        double send_s = s->rates[s->source[t->first + at]].send_s;
        *found = send_s <= now_s;
        t->next = *found ? at : t->next;
        soonest_s = send_s < soonest_s ? send_s : soonest_s;
    }
    bool is_woken = s->rates == NULL || (s->wake_s[link] > now_s && s->wake_s[link] <= soonest_s);
    if (*found || t->n == 0 || is_woken) {
        return FAB_OK;
    }
    s->wake_s[link] = soonest_s;
    return lossless_push(s, soonest_s, WAKES, link, 0, err);
}

/* The next cell of the flows that begin at a link, each in turn. A flow that is through leaves the list. */
FAB_INLINE fab_status source_cell(const features has, fab_lossless_state *s, uint32_t link, uint32_t *out,
                                  fab_error *err) {
    fab_turns *t = &s->turns[link];
    uint32_t *mine = &s->source[t->first];
    uint32_t flow = mine[t->next];
    FAB_PASS(take_cell(has, s, out, err));
    fab_cut_flow *cut = &s->flows[flow];
    s->cells[*out] =
        (fab_cell){.bytes = cut->cell_bytes, .flow = flow, .at = cut->at, .in = FAB_NO_LINK, .next = FAB_NO_CELL};
    if (--cut->left > 0) {
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

FAB_INLINE uint32_t queued_cell(const features has, fab_lossless_state *s, uint32_t link) {
    fab_port *at = &s->ports[link];
    uint32_t c = at->head;
    if (has == MORE && s->waiting_bytes != NULL) {
        s->waiting_bytes[link] -= s->cells[c].bytes;
    }
    at->head = s->cells[c].next;
    at->tail = at->head == FAB_NO_CELL ? FAB_NO_CELL : at->tail;
    return c;
}

/* A cell is sent at once where its packets would be spread over the time that the flow's rate takes: its last one comes
 * later by so much. */
static void spread_packets(fab_lossless_state *s, const fab_cell *c, double s_per_byte, double now_s) {
    fab_dcqcn_flow *f = &s->rates[c->flow];
    double late_s = fmax(0, f->send_s - now_s - c->bytes * s_per_byte);
    f->spread_s = late_s * fmax(0, 1 - s->packet_bytes / c->bytes);
}

/* A cell that came over any path of its sender: with the last one all of them end. */
static void chosen_arrives(fab_lossless_state *s, const fab_cell *c) {
    uint32_t lead = s->lead[c->flow];
    const uint32_t *of = &s->phase->sprayed[s->group[lead]];
    double end_s = c->tail_s - s->flows[c->flow].latency_s;
    uint32_t *missing = &s->link[s->first[lead + 1] - 1];
    s->last_s[lead] = end_s > s->last_s[lead] ? end_s : s->last_s[lead];
    if (--*missing > 0) {
        return;
    }
    for (uint32_t i = of[0]; i < of[1]; i++) {
        s->out->finish_s[i] = s->lead[i] == lead ? s->last_s[lead] : s->out->finish_s[i];
    }
}

static double queue_bytes(const fab_lossless_state *s, uint32_t queue) {
    const fab_port *at = &s->ports[queue];
    return s->waiting_bytes[queue] + (at->sending != FAB_NO_CELL ? at->sending_bytes : 0);
}

/* A cell that has come to a switch goes on by the path of its flow, among those with the same links so far, whose queue
 * is the shortest. */
static uint32_t choose_queue(fab_lossless_state *s, fab_cell *c) {
    const uint32_t *of = &s->phase->sprayed[s->group[c->flow]];
    const uint32_t n = of[1] - of[0];
    const uint32_t *so_far = &s->link[s->flows[c->flow].at];
    const uint32_t depth = c->at - s->flows[c->flow].at;
    uint32_t turn = s->turn[s->lead[c->flow]]++;
    uint32_t best = c->flow;
    double least = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t path = of[0] + (turn + i) % n;
        const uint32_t *its = &s->link[s->flows[path].at];
        FAB_FIRST(same, depth, its[same] != so_far[same]);
        double bytes = same == depth && its[depth] != FAB_NO_LINK ? queue_bytes(s, its[depth]) : INFINITY;
        bool is_shorter = bytes < least - ROUNDING;
        best = is_shorter ? path : best;
        least = is_shorter ? bytes : least;
    }
    c->flow = best;
    c->at = s->flows[best].at + depth;
    return s->link[c->at];
}

/* A queue that is free and may send takes its next cell and one of the flows that begin here by turns. */
FAB_INLINE fab_status send_of(const features has, fab_lossless_state *s, uint32_t link, double now_s, fab_error *err) {
    fab_port *at = &s->ports[link];
    if (at->sending != FAB_NO_CELL || at->is_stopped || (at->head == FAB_NO_CELL && !at->has_sources)) {
        return FAB_OK;
    }
    bool from_source = at->has_sources && (at->head == FAB_NO_CELL || at->turn_of_source);
    FAB_PASS(from_source ? find_source(has, s, link, now_s, &from_source, err) : FAB_OK);
    if (from_source) {
        FAB_PASS(source_cell(has, s, link, &at->sending, err));
    } else if (at->head != FAB_NO_CELL) {
        at->sending = queued_cell(has, s, link);
    } else {
        return FAB_OK;
    }
    at->turn_of_source = !from_source;
    fab_cell *c = &s->cells[at->sending];
    if (has == MORE && from_source && s->rates != NULL) {
        s->marked[at->sending] = false;
        fab_dcqcn_sends(&s->dcqcn, &s->rates[c->flow], c->bytes, now_s);
        spread_packets(s, c, at->s_per_byte, now_s);
    }
    at->sending_in = c->in;
    at->sending_bytes = c->bytes;
    double packet_s = (c->bytes < s->packet_bytes ? c->bytes : s->packet_bytes) * at->s_per_byte;
    double sent_s = now_s + c->bytes * at->s_per_byte;
    sent_s = sent_s > c->tail_s + packet_s ? sent_s : c->tail_s + packet_s; /* not before its last packet is here */
    at->busy_s += sent_s - now_s;
    FAB_PASS(lossless_push(s, sent_s, IS_SENT, link, 0, err));
    c->tail_s = sent_s + at->latency_s;
    uint32_t *next = &s->link[c->at + 1];
    if (*next != FAB_NO_LINK) {
        c->at++;
        c->in = link;
        return lossless_push(s, now_s + packet_s + at->latency_s, ARRIVES, *next, at->sending, err);
    }
    if (has == MORE && s->lead != NULL) {
        chosen_arrives(s, c);
    } else if (--next[1] == 0) {
        double spread_s = has == MORE && s->rates != NULL ? s->rates[c->flow].spread_s : 0;
        s->out->finish_s[c->flow] = c->tail_s - s->flows[c->flow].latency_s + spread_s;
    }
    c->next = s->free_cell;
    s->free_cell = at->sending;
    if (has == MORE && s->rates != NULL && s->marked[at->sending] &&
        fab_dcqcn_tells(&s->dcqcn, &s->rates[c->flow], c->tail_s)) {
        s->out->n_notices++;
        return lossless_push(s, c->tail_s + s->flows[c->flow].latency_s, IS_TOLD, c->flow, 0, err);
    }
    return FAB_OK;
}

/* Classes that have a cell and may send it take turns at their link. */
FAB_INLINE fab_status send_next(const features has, fab_lossless_state *s, uint32_t queue, double now_s,
                                fab_error *err) {
    const uint32_t n_links = s->phase->n_links;
    const uint32_t n_classes = s->n_queues / n_links;
    if (has == PLAIN || s->lines == NULL) {
        return send_of(has, s, queue, now_s, err);
    }
    fab_line *line = &s->lines[queue % n_links];
    for (uint32_t i = 0, first = line->turn; i < n_classes && !line->is_sending; i++) {
        uint32_t class = (first + i) % n_classes;
        queue = queue % n_links + class * n_links;
        FAB_PASS(send_of(has, s, queue, now_s, err));
        line->is_sending = s->ports[queue].sending != FAB_NO_CELL;
        line->turn = (uint8_t)(line->is_sending ? class + 1 : line->turn);
    }
    return FAB_OK;
}

/* A cell joins the queue of a link, and is marked by what waits there. */
static void mark_cell(fab_lossless_state *s, uint32_t link, uint32_t number) {
    double draw = (double)(fab_draw(s->phase->seed, link, s->n_queued[link]++) >> 11) * 0x1p-53;
    double bytes = s->cells[number].bytes;
    bool is_switch = s->phase->marks == NULL || s->phase->marks[link % s->phase->n_links];
    bool marks = is_switch && fab_dcqcn_marks(&s->dcqcn, s->waiting_bytes[link], bytes / s->packet_bytes, draw);
    s->marked[number] = s->marked[number] || marks;
    s->waiting_bytes[link] += bytes;
}

/* The ingress port at the end of `in` holds so many bytes more. Returned: how many it may, now. */
FAB_INLINE double hold_bytes(const features has, fab_lossless_state *s, uint32_t in, double bytes) {
    s->held_bytes[in] += bytes;
    uint32_t pool = has == MORE && s->left_bytes != NULL ? s->phase->pool[in % s->phase->n_links] : FAB_NO_LINK;
    if (pool == FAB_NO_LINK) {
        return s->xoff_bytes;
    }
    s->left_bytes[pool] -= bytes;
    double most = s->transport->alpha * s->left_bytes[pool];
    return most > s->least_bytes ? most : s->least_bytes;
}

/* The ingress port at the end of `in` holds what goes out by `held_by`. */
FAB_INLINE fab_status stop_sender(fab_lossless_state *s, uint32_t in, uint32_t held_by, double now_s, fab_error *err) {
    s->asks_to_stop[in] = true;
    s->out->n_pauses++;
    return lossless_push(s, now_s + s->ports[in].latency_s, IS_STOPPED, in, held_by, err);
}

FAB_INLINE fab_status cell_arrives(const features has, fab_lossless_state *s, const fab_event *e, uint32_t *out,
                                   fab_error *err) {
    uint32_t number = e->what % FAB_MOST_NUMBERS;
    fab_cell *c = &s->cells[number];
    const uint32_t queue = has == MORE && s->lead != NULL ? choose_queue(s, c) : e->link;
    fab_port *to = &s->ports[queue];
    c->next = FAB_NO_CELL;
    double xoff_bytes = hold_bytes(has, s, c->in, c->bytes);
    if (s->held_bytes[c->in] > xoff_bytes && !s->asks_to_stop[c->in]) {
        FAB_PASS(stop_sender(s, c->in, queue, e->at_s, err));
    }
    if (has == MORE && s->rates != NULL) {
        mark_cell(s, queue, number);
    } else if (has == MORE && s->lead != NULL) {
        s->waiting_bytes[queue] += c->bytes;
    }
    *(to->tail == FAB_NO_CELL ? &to->head : &s->cells[to->tail].next) = number;
    to->tail = number;
    *out = queue;
    return FAB_OK;
}

/* The cell has left the switch: its ingress port holds less. */
FAB_INLINE fab_status cell_is_sent(const features has, fab_lossless_state *s, const fab_event *e, fab_error *err) {
    fab_port *at = &s->ports[e->link];
    uint32_t in = at->sending_in;
    at->sending = FAB_NO_CELL;
    if (has == MORE && s->lines != NULL) {
        s->lines[e->link % s->phase->n_links].is_sending = false;
    }
    if (in != FAB_NO_LINK) {
        double xon_bytes = hold_bytes(has, s, in, -at->sending_bytes) * s->xon_part;
        if (s->asks_to_stop[in] && s->held_bytes[in] <= xon_bytes * (1 + 1e-12) + ROUNDING) {
            s->asks_to_stop[in] = false;
            FAB_PASS(lossless_push(s, e->at_s + s->ports[in].latency_s, GOES_ON, in, 0, err));
        }
    }
    return FAB_OK;
}

/* --- stops -------------------------------------------------------------------------------------------------------- */

/* The cause that leads by time: a majority is found for certain [Boyer, Moore, 1981], else one of the larger. */
FAB_INLINE void count_cause(fab_stops *at, double seconds) {
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

static void sender_stops(fab_lossless_state *s, const fab_event *e) {
    s->ports[e->link].is_stopped = true;
    s->stops[e->link].since_s = e->at_s;
    s->stops[e->link].held_by = e->what % FAB_MOST_NUMBERS;
}

static void sender_goes_on(fab_lossless_state *s, const fab_event *e) {
    s->ports[e->link].is_stopped = false;
    count_cause(&s->stops[e->link], e->at_s - s->stops[e->link].since_s);
}

/* Nothing moves any more, and some links are stopped: from any of them on, each waits for a stopped link whose queue
 * holds a cell that came by it, until one comes again. */
static fab_status name_deadlock(fab_lossless_state *s, double now_s, fab_error *err) {
    const uint32_t n_queues = s->n_queues;
    fab_lossless_result *out = s->out;
    uint32_t at = FAB_NO_LINK;
    for (uint32_t l = 0; l < n_queues; l++) {
        if (s->ports[l].is_stopped) {
            count_cause(&s->stops[l], now_s - s->stops[l].since_s);
            at = s->ports[l].head != FAB_NO_CELL && at == FAB_NO_LINK ? l : at;
        }
    }
    if (at == FAB_NO_LINK) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint32_t, next, n_queues, err);
    FAB_FILL(next, n_queues, FAB_NO_LINK);
    for (uint32_t l = n_queues; l-- > 0;) {
        for (uint32_t c = s->ports[l].is_stopped ? s->ports[l].head : FAB_NO_CELL; c != FAB_NO_CELL;
             c = s->cells[c].next) {
            if (s->cells[c].in != FAB_NO_LINK) {
                next[s->cells[c].in] = l;
            }
        }
    }
    for (uint32_t i = 0; i < n_queues && next[at] != FAB_NO_LINK; i++) { /* onto the circle */
        at = next[at];
    }
    for (uint32_t l = at; next[l] != FAB_NO_LINK && (out->n_deadlock == 0 || l != at); l = next[l]) {
        if (out->n_deadlock < FAB_DEADLOCK_SHOWN) {
            out->deadlock[out->n_deadlock] = l % s->phase->n_links;
        }
        out->n_deadlock++;
    }
    return FAB_OK;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* What the events of a day read is fetched for all of them before the first one waits for it: the ports and cells that
 * they name, then what those name, then where the next cells of queues go. Inline: calls of functions that do nothing
 * but fetch are dropped, as calls without effect. */
FAB_INLINE void fetch_named(const fab_lossless_state *s, const fab_event *e) {
    const enum event_kind kind = e->what / FAB_MOST_NUMBERS;
    __builtin_prefetch(kind != IS_TOLD ? (void *)&s->ports[e->link] : &s->rates[e->link], 1);
    if (kind == ARRIVES) {
        __builtin_prefetch(&s->cells[e->what % FAB_MOST_NUMBERS], 1);
    } else if (kind == IS_STOPPED || kind == GOES_ON) {
        __builtin_prefetch(&s->stops[e->link], 1);
    }
}

FAB_INLINE void fetch_further(const fab_lossless_state *s, const fab_event *e) {
    const enum event_kind kind = e->what / FAB_MOST_NUMBERS;
    if (kind == ARRIVES) {
        const fab_cell *c = &s->cells[e->what % FAB_MOST_NUMBERS];
        const fab_port *to = &s->ports[e->link];
        __builtin_prefetch(&s->held_bytes[c->in], 1);
        __builtin_prefetch(to->tail == FAB_NO_CELL ? (void *)&s->link[c->at + 1] : &s->cells[to->tail], 1);
    } else if (kind == IS_SENT || kind == GOES_ON) {
        const fab_port *at = &s->ports[e->link];
        __builtin_prefetch(&s->held_bytes[at->sending_in != FAB_NO_LINK ? at->sending_in : e->link], 1);
        if (at->head != FAB_NO_CELL || at->has_sources) {
            __builtin_prefetch(at->head != FAB_NO_CELL ? (void *)&s->cells[at->head] : &s->turns[e->link], 1);
        }
    }
}

FAB_INLINE void fetch_next(const fab_lossless_state *s, const fab_event *e) {
    const enum event_kind kind = e->what / FAB_MOST_NUMBERS;
    const fab_port *at = &s->ports[e->link];
    if (kind != IS_SENT && kind != GOES_ON) {
        return;
    }
    if (at->head != FAB_NO_CELL) {
        __builtin_prefetch(&s->link[s->cells[at->head].at + 1], 1);
    } else if (at->has_sources) {
        const fab_turns *t = &s->turns[e->link];
        __builtin_prefetch(&s->flows[s->source[t->first + t->next]], 1);
    }
}

FAB_INLINE void fetch_day(const fab_lossless_state *s) {
    const fab_event_queue *q = &s->events;
    const fab_event *now = (const void *)q->now;
    for (size_t i = 0; i < q->n_now; i++) {
        fetch_named(s, &now[i]);
    }
    for (size_t i = 0; i < q->n_now; i++) {
        fetch_further(s, &now[i]);
    }
    for (size_t i = 0; i < q->n_now; i++) {
        fetch_next(s, &now[i]);
    }
}

FAB_INLINE fab_status take_event(const features has, fab_lossless_state *s, const fab_event *e, fab_error *err) {
    uint32_t queue = e->link; /* that may send now */
    s->now_s = e->at_s;
    switch (e->what / FAB_MOST_NUMBERS) {
    case ARRIVES: FAB_PASS(cell_arrives(has, s, e, &queue, err)); break;
    case IS_SENT: FAB_PASS(cell_is_sent(has, s, e, err)); break;
    case IS_STOPPED: sender_stops(s, e); return FAB_OK;
    case GOES_ON: sender_goes_on(s, e); break;
    case IS_TOLD: fab_dcqcn_is_told(&s->dcqcn, &s->rates[e->link], e->at_s); return FAB_OK;
    default: break; /* WAKES */
    }
    return send_next(has, s, queue, e->at_s, err);
}

FAB_INLINE fab_status take_events(const features has, fab_lossless_state *s, fab_error *err) {
    fab_event_queue *q = &s->events;
    for (uint32_t queue = 0; queue < s->n_queues; queue++) {
        FAB_PASS(send_next(has, s, queue, 0, err));
    }
    FAB_PASS(q->n_now == 0 && s->out->n_cells > 0 ? fab_event_next_day(q, err) : FAB_OK);
    while (q->n_now > 0) {
        while (q->next < q->n_now) {
            fab_event e = ((const fab_event *)(const void *)q->now)[q->next++];
            FAB_PASS(take_event(has, s, &e, err));
        }
        FAB_PASS(fab_event_next_day(q, err));
        fetch_day(s);
    }
    return FAB_OK;
}

static fab_status run_plain(fab_lossless_state *s, fab_error *err) {
    return take_events(PLAIN, s, err);
}

static fab_status run_events(fab_lossless_state *s, fab_error *err) {
    bool is_plain = s->rates == NULL && s->lead == NULL && s->lines == NULL && s->left_bytes == NULL;
    return is_plain ? run_plain(s, err) : take_events(MORE, s, err);
}

/* Of several classes of a link the one that was stopped longest. */
static void read_ports(fab_lossless_state *s) {
    const uint32_t n_links = s->phase->n_links;
    for (uint32_t l = 0; s->out->paused_s != NULL && l < n_links; l++) {
        uint32_t longest = l;
        if (s->spray != NULL) { /* nothing is stopped */
            s->out->busy_s[l] = s->out->paused_s[l] = 0;
            s->out->cause[l] = FAB_NO_LINK;
            continue;
        }
        s->out->busy_s[l] = 0;
        for (uint32_t q = l; q < s->n_queues; q += n_links) {
            longest = s->stops[q].sum_s > s->stops[longest].sum_s ? q : longest;
            s->out->busy_s[l] += s->ports[q].busy_s;
        }
        uint32_t cause = s->stops[longest].cause;
        s->out->paused_s[l] = s->stops[longest].sum_s;
        s->out->cause[l] = cause != FAB_NO_LINK ? cause % n_links : FAB_NO_LINK;
    }
}

fab_status fab_lossless_run(const fab_lossless *transport, const fab_lossless_phase *phase, fab_lossless_result *out,
                            fab_error *err) {
    fab_spray_state spray = {.n_senders = 0};
    FAB_OWNS(fab_lossless_close) fab_lossless_state s = {.transport = transport, .phase = phase, .out = out};
    s.spray = transport->spray != NULL ? &spray : NULL;
    FAB_PASS(fab_lossless_open(&s, err));
    if (s.spray != NULL) {
        FAB_PASS(spray.in_steps ? fab_spray_steps(&s, err) : fab_spray_events(&s, err));
    } else {
        FAB_PASS(run_events(&s, err));
        FAB_PASS(name_deadlock(&s, s.now_s, err));
    }
    read_ports(&s);
    return FAB_OK;
}
