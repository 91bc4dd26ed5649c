/* Events of sprayed cells: one reaches a queue, a link has sent one, a sender hears of one. */
#include "spray.h"
#include "fab/memory.h"
#include "fab/rng.h"

#include <math.h>

#define MOST_SKIPS  15
#define LEAST_MARK  0.2 /* of the queue: nothing is marked below, everything above */
#define ALWAYS_MARK 0.8
#define GAMMA       0.8 /* how much of the excess a cut takes */
#define LEAST_CUT   0.5

enum event_kind { ARRIVES, IS_SENT, IS_ANSWERED };

static fab_status spray_push(fab_lossless_state *s, double at_s, enum event_kind kind, uint32_t link, uint32_t number,
                             fab_error *err) {
    return fab_event_push(&s->events, &(fab_event){at_s, link, (uint32_t)kind * FAB_MOST_NUMBERS + number}, err);
}

/* --- senders ------------------------------------------------------------------------------------------------------ */

void fab_spray_acknowledged(fab_spray_sender *x, double bytes, const fab_spray_cell *c, double now_s) {
    bool is_prompt = !c->is_marked && c->waited_s < x->prompt_s;
    x->delay_s += x->weight * (c->waited_s - x->delay_s);
    x->calm_bytes = is_prompt ? x->calm_bytes + bytes : 0;
    x->is_fast = is_prompt && (x->is_fast || x->calm_bytes > x->window_bytes);
    if (x->is_fast) {
        x->window_bytes += x->fast * bytes;
    } else if (!c->is_marked && c->waited_s < x->target_s) {
        x->window_bytes += x->proportional * bytes * (x->target_s - c->waited_s) / x->window_bytes;
    } else if (!c->is_marked) {
        x->window_bytes += x->fair * bytes / x->window_bytes;
    } else if (c->waited_s >= x->target_s && x->delay_s > x->target_s && now_s - x->cut_s > x->rtt_s) {
        x->window_bytes *= fmax(LEAST_CUT, 1 - GAMMA * (x->delay_s - x->target_s) / x->delay_s);
        x->cut_s = now_s;
    }
    x->window_bytes = fmin(x->window_bytes, x->most_bytes);
}

/* The next path in turn; every round begins at another one. One that marked or trimmed a cell is passed over once for
 * it. */
static uint32_t choose_path(fab_lossless_state *s, uint32_t number) {
    fab_spray_sender *x = &s->spray->senders[number];
    for (uint32_t passed = 0;; passed++) {
        uint32_t shift = (uint32_t)(fab_draw(s->phase->seed, number, x->round) % x->n);
        uint32_t path = s->spray->member[x->first + (x->next + shift) % x->n];
        x->next = x->next + 1 < x->n ? x->next + 1 : 0;
        x->round += x->next == 0;
        if (s->spray->skips[path] == 0 || passed >= x->n) {
            return path;
        }
        s->spray->skips[path]--;
    }
}

/* The next sender in turn of those that begin at a link and may send; it is next in turn then. */
static bool find_sender(fab_lossless_state *s, uint32_t link) {
    fab_turns *t = &s->turns[link];
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t at = t->next + i < t->n ? t->next + i : t->next + i - t->n;
        uint32_t flow = s->source[t->first + at];
        const fab_spray_sender *x = &s->spray->senders[s->spray->sender_of[flow]];
        if (s->left[flow] > 0 && (x->out == 0 || (x->out + 1) * s->cell_bytes[flow] <= x->window_bytes)) {
            t->next = at;
            return true;
        }
    }
    return false;
}

static fab_status new_cell(fab_lossless_state *s, uint32_t link, uint32_t *out, fab_error *err) {
    fab_turns *t = &s->turns[link];
    uint32_t flow = s->source[t->first + t->next];
    uint32_t sender = s->spray->sender_of[flow];
    uint32_t path = choose_path(s, sender);
    FAB_PASS(fab_lossless_take_cell(s, out, err));
    FAB_PASS(FAB_GROW(s->spray->cells, s->spray->cells_capacity, s->n_cells, err));
    s->cells[*out] = (fab_cell){
        .bytes = s->cell_bytes[flow], .flow = path, .at = (uint32_t)s->first[path], .in = flow, .next = FAB_NO_CELL};
    s->spray->cells[*out] = (fab_spray_cell){.came_s = 0};
    s->spray->senders[sender].out++;
    s->left[flow]--;
    s->spray->n_unsent[link]--;
    t->next = t->next + 1 < t->n ? t->next + 1 : 0;
    return FAB_OK;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* The last cell of a sender: all its paths end with it. */
static void cell_is_there(fab_lossless_state *s, const fab_cell *c) {
    fab_spray_sender *x = &s->spray->senders[s->spray->sender_of[c->in]];
    x->last_s = fmax(x->last_s, c->tail_s - s->latency_s[c->flow]);
    if (--s->missing[c->in] == 0) {
        for (uint32_t i = 0; i < x->n; i++) {
            s->out->finish_s[s->spray->member[x->first + i]] = x->last_s;
        }
    }
}

static fab_status spray_send(fab_lossless_state *s, uint32_t link, double now_s, fab_error *err) {
    fab_port *at = &s->ports[link];
    if (at->sending != FAB_NO_CELL) {
        return FAB_OK;
    }
    bool is_turn = s->spray->n_unsent[link] > 0 && (at->head == FAB_NO_CELL || at->turn_of_source);
    bool from_source = is_turn && find_sender(s, link);
    if (from_source) {
        FAB_PASS(new_cell(s, link, &at->sending, err));
    } else if (at->head != FAB_NO_CELL) {
        at->sending = at->head;
        at->head = s->cells[at->sending].next;
        at->tail = at->head == FAB_NO_CELL ? FAB_NO_CELL : at->tail;
        at->held_bytes -= s->cells[at->sending].bytes;
        s->spray->cells[at->sending].waited_s += now_s - s->spray->cells[at->sending].came_s;
    } else {
        return FAB_OK;
    }
    at->turn_of_source = !from_source;
    fab_cell *c = &s->cells[at->sending];
    double packet_s = fmin(c->bytes, s->packet_bytes) * at->s_per_byte;
    double sent_s = fmax(now_s + c->bytes * at->s_per_byte, c->tail_s + packet_s); /* not before its last packet */
    at->busy_s += sent_s - now_s;
    FAB_PASS(spray_push(s, sent_s, IS_SENT, link, 0, err));
    c->tail_s = sent_s + at->latency_s;
    uint32_t next = s->link[c->at + 1];
    if (next != FAB_NO_LINK) {
        c->at++;
        return spray_push(s, now_s + packet_s + at->latency_s, ARRIVES, next, at->sending, err);
    }
    cell_is_there(s, c);
    return spray_push(s, c->tail_s + s->latency_s[c->flow], IS_ANSWERED, 0, at->sending, err);
}

/* A switch whose queue is full sends on the header alone, ahead of everything: the sender hears of it soon. */
static fab_status trim_cell(fab_lossless_state *s, uint32_t number, double now_s, fab_error *err) {
    const fab_cell *c = &s->cells[number];
    double heard_s = now_s + s->latency_s[c->flow];
    for (uint32_t at = c->at; s->link[at] != FAB_NO_LINK; at++) {
        heard_s += s->ports[s->link[at]].latency_s;
    }
    s->spray->cells[number].is_trimmed = true;
    s->out->n_trims++;
    return spray_push(s, heard_s, IS_ANSWERED, 0, number, err);
}

static fab_status spray_arrives(fab_lossless_state *s, const fab_event *e, fab_error *err) {
    uint32_t number = e->what % FAB_MOST_NUMBERS;
    fab_cell *c = &s->cells[number];
    fab_spray_cell *mine = &s->spray->cells[number];
    fab_port *to = &s->ports[e->link];
    double room = s->spray->queue_bytes[e->link];
    if (to->held_bytes + c->bytes > room && to->head != FAB_NO_CELL) {
        return trim_cell(s, number, e->at_s, err);
    }
    if (to->held_bytes > LEAST_MARK * room) {
        double draw = (double)(fab_draw(s->phase->seed, e->link, s->spray->n_queued[e->link]++) >> 11) * 0x1p-53;
        bool marks = draw < (to->held_bytes - LEAST_MARK * room) / ((ALWAYS_MARK - LEAST_MARK) * room);
        mine->is_marked = mine->is_marked || marks;
    }
    mine->came_s = e->at_s;
    to->held_bytes += c->bytes;
    c->next = FAB_NO_CELL;
    *(to->tail == FAB_NO_CELL ? &to->head : &s->cells[to->tail].next) = number;
    to->tail = number;
    return spray_send(s, e->link, e->at_s, err);
}

static fab_status sender_hears(fab_lossless_state *s, const fab_event *e, fab_error *err) {
    uint32_t number = e->what % FAB_MOST_NUMBERS;
    fab_cell *c = &s->cells[number];
    const fab_spray_cell *mine = &s->spray->cells[number];
    fab_spray_sender *x = &s->spray->senders[s->spray->sender_of[c->in]];
    uint32_t link = s->link[s->first[c->in]];
    x->out--;
    if (mine->is_trimmed) {
        s->left[c->in]++;
        s->spray->n_unsent[link]++;
        x->window_bytes -= c->bytes;
        x->calm_bytes = 0;
        x->is_fast = false;
    } else {
        fab_spray_acknowledged(x, c->bytes, mine, e->at_s);
    }
    x->window_bytes = fmax(x->window_bytes, c->bytes);
    s->out->n_notices += mine->is_marked;
    if (s->transport->spray->skips && (mine->is_marked || mine->is_trimmed) && s->spray->skips[c->flow] < MOST_SKIPS) {
        s->spray->skips[c->flow]++;
    }
    c->next = s->free_cell;
    s->free_cell = number;
    return spray_send(s, link, e->at_s, err);
}

/* As fetch_day() of lossless_events.c: what the events of a day read is fetched before the first waits for it. */
static void fetch_sprayed(const fab_lossless_state *s) {
    const fab_event_queue *q = &s->events;
    for (size_t i = 0; i < q->n_now; i++) {
        uint32_t number = q->now[i].what % FAB_MOST_NUMBERS;
        __builtin_prefetch(&s->ports[q->now[i].link], 1);
        if (q->now[i].what / FAB_MOST_NUMBERS != IS_SENT) {
            __builtin_prefetch(&s->cells[number], 1);
            __builtin_prefetch(&s->spray->cells[number], 1);
        }
    }
    for (size_t i = 0; i < q->n_now; i++) {
        enum event_kind kind = q->now[i].what / FAB_MOST_NUMBERS;
        const fab_cell *c = &s->cells[q->now[i].what % FAB_MOST_NUMBERS];
        uint32_t head = s->ports[q->now[i].link].head;
        if (kind == IS_SENT && head != FAB_NO_CELL) {
            __builtin_prefetch(&s->cells[head], 1);
            __builtin_prefetch(&s->spray->cells[head], 1);
        } else if (kind == ARRIVES) {
            __builtin_prefetch(&s->link[c->at + 1]);
        } else if (kind == IS_ANSWERED) {
            __builtin_prefetch(&s->spray->sender_of[c->in]);
            __builtin_prefetch(&s->left[c->in], 1);
        }
    }
    for (size_t i = 0; i < q->n_now; i++) {
        enum event_kind kind = q->now[i].what / FAB_MOST_NUMBERS;
        uint32_t head = s->ports[q->now[i].link].head;
        if (kind == IS_SENT && head != FAB_NO_CELL) {
            __builtin_prefetch(&s->link[s->cells[head].at + 1]);
        } else if (kind == IS_ANSWERED) {
            const fab_cell *c = &s->cells[q->now[i].what % FAB_MOST_NUMBERS];
            __builtin_prefetch(&s->spray->senders[s->spray->sender_of[c->in]], 1);
        }
    }
}

fab_status fab_spray_events(fab_lossless_state *s, fab_error *err) {
    fab_event_queue *q = &s->events;
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        FAB_PASS(spray_send(s, l, 0, err));
    }
    if (q->n_now == 0 && s->out->n_cells > 0) {
        FAB_PASS(fab_event_next_day(q, err));
    }
    while (q->n_now > 0) {
        while (q->next < q->n_now) {
            fab_event e = q->now[q->next++];
            s->now_s = e.at_s;
            switch (e.what / FAB_MOST_NUMBERS) {
            case ARRIVES: FAB_PASS(spray_arrives(s, &e, err)); break;
            case IS_ANSWERED: FAB_PASS(sender_hears(s, &e, err)); break;
            default: s->ports[e.link].sending = FAB_NO_CELL; FAB_PASS(spray_send(s, e.link, e.at_s, err));
            }
        }
        FAB_PASS(fab_event_next_day(q, err));
        fetch_sprayed(s);
    }
    return FAB_OK;
}
