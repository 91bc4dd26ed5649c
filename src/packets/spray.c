/* Events of sprayed cells: one reaches a queue, a link has sent one, a sender hears of one. */
#include "spray.h"
#include "fab/memory.h"
#include "fab/multiversion.h"
#include "fab/rng.h"

#include <math.h>

#define MOST_SKIPS  15
#define LEAST_MARK  0.2 /* of the queue: nothing is marked below, everything above */
#define ALWAYS_MARK 0.8
#define GAMMA       0.8 /* how much of the excess a cut takes */
#define LEAST_CUT   0.5
#define CACHE_LINE  64
#define AHEAD       ((size_t)12) /* events */

static double larger(double a, double b) { /* fmax() is a call */
    return a > b ? a : b;
}

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
        x->window_bytes *= larger(LEAST_CUT, 1 - GAMMA * (x->delay_s - x->target_s) / x->delay_s);
        x->cut_s = now_s;
    }
    x->window_bytes = x->window_bytes < x->most_bytes ? x->window_bytes : x->most_bytes;
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
        const fab_spray_sender *x = &s->spray->senders[s->source[t->first + at]];
        if (x->left > 0 && (x->out == 0 || (x->out + 1) * x->bytes <= x->window_bytes)) {
            t->next = at;
            return true;
        }
    }
    return false;
}

static fab_status take_cell(fab_spray_state *spray, uint32_t *out, fab_error *err) {
    *out = spray->free_cell;
    if (*out != FAB_NO_CELL) {
        spray->free_cell = spray->cells[*out].next;
        return FAB_OK;
    }
    if (spray->n_cells + 1 >= FAB_MOST_NUMBERS) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "more than %u cells are under way", FAB_MOST_NUMBERS);
    }
    FAB_PASS(FAB_GROW(spray->cells, spray->cells_capacity, spray->n_cells + 1, err));
    *out = (uint32_t)spray->n_cells++;
    return FAB_OK;
}

static fab_status new_cell(fab_lossless_state *s, uint32_t link, uint32_t *out, fab_error *err) {
    fab_turns *t = &s->turns[link];
    uint32_t number = s->source[t->first + t->next];
    fab_spray_sender *x = &s->spray->senders[number];
    uint32_t path = choose_path(s, number);
    FAB_PASS(take_cell(s->spray, out, err));
    s->spray->cells[*out] =
        (fab_spray_cell){.path = path, .at = (uint32_t)s->first[path], .sender = number & (FAB_MOST_NUMBERS - 1)};
    x->out++;
    x->left--;
    s->spray->n_unsent[link]--;
    t->next = t->next + 1 < t->n ? t->next + 1 : 0;
    return FAB_OK;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* The last cell of a sender: all its paths end with it. */
static void cell_is_there(fab_lossless_state *s, const fab_spray_cell *c) {
    fab_spray_sender *x = &s->spray->senders[c->sender];
    x->last_s = larger(x->last_s, c->tail_s - s->flows[c->path].latency_s);
    if (--x->missing == 0) {
        for (uint32_t i = 0; i < x->n; i++) {
            s->out->finish_s[s->spray->member[x->first + i]] = x->last_s;
        }
    }
}

/* A link begins to send a cell at `from_s`. */
static fab_status send_cell(fab_lossless_state *s, fab_spray_port *at, uint32_t number, double from_s, fab_error *err) {
    fab_spray_cell *c = &s->spray->cells[number];
    double bytes = s->spray->bytes[c->sender];
    double packet_s = (bytes < s->packet_bytes ? bytes : s->packet_bytes) * at->s_per_byte;
    double sent_s = larger(from_s + bytes * at->s_per_byte, c->tail_s + packet_s); /* not before its last packet */
    at->busy_s += sent_s - from_s;
    at->free_s = sent_s;
    c->tail_s = sent_s + at->latency_s;
    uint32_t next = s->link[c->at + 1];
    if (next != FAB_NO_LINK) {
        c->at++;
        return spray_push(s, from_s + packet_s + at->latency_s, ARRIVES, next, number, err);
    }
    cell_is_there(s, c);
    return spray_push(s, c->tail_s + s->flows[c->path].latency_s, IS_ANSWERED, s->spray->senders[c->sender].link,
                      number, err);
}

/* A link at which senders begin: its queue and they take turns. */
static fab_status send_next(fab_lossless_state *s, uint32_t link, double now_s, fab_error *err) {
    fab_spray_port *at = &s->spray->ports[link];
    if (at->is_sending) {
        return FAB_OK;
    }
    bool is_turn = s->spray->n_unsent[link] > 0 && (at->head == FAB_NO_CELL || at->turn_of_sender);
    bool from_sender = is_turn && find_sender(s, link);
    uint32_t number = at->head;
    if (from_sender) {
        FAB_PASS(new_cell(s, link, &number, err));
    } else if (number != FAB_NO_CELL) {
        fab_spray_cell *c = &s->spray->cells[number];
        at->head = c->next;
        at->held_bytes -= s->spray->senders[c->sender].bytes;
        c->waited_s += now_s;
    } else {
        return FAB_OK;
    }
    at->turn_of_sender = !from_sender;
    at->is_sending = true;
    FAB_PASS(send_cell(s, at, number, now_s, err));
    return spray_push(s, at->free_s, IS_SENT, link, 0, err);
}

/* A switch whose queue is full sends on the header alone, ahead of everything: the sender hears of it soon. */
static fab_status trim_cell(fab_lossless_state *s, uint32_t number, double now_s, fab_error *err) {
    fab_spray_cell *c = &s->spray->cells[number];
    double heard_s = now_s + s->flows[c->path].latency_s;
    for (uint32_t at = c->at; s->link[at] != FAB_NO_LINK; at++) {
        heard_s += s->spray->ports[s->link[at]].latency_s;
    }
    c->is_trimmed = true;
    s->out->n_trims++;
    return spray_push(s, heard_s, IS_ANSWERED, s->spray->senders[c->sender].link, number, err);
}

/* Cells that have begun to leave are not in the queue. */
static void let_go(fab_spray_state *spray, fab_spray_port *at, double now_s) {
    while (at->head != FAB_NO_WAITS && spray->waits[at->head].of[at->head_at].until_s <= now_s) {
        uint32_t chunk = at->head;
        at->held_bytes -= spray->waits[chunk].of[at->head_at++].bytes;
        bool is_last = chunk == at->tail && at->head_at == at->tail_at;
        if (is_last || at->head_at == FAB_WAITS_PER_CHUNK) {
            at->head = is_last ? FAB_NO_WAITS : spray->waits[chunk].next;
            at->head_at = 0;
            at->held_bytes = is_last ? 0 : at->held_bytes;
            spray->waits[chunk].next = spray->free_waits;
            spray->free_waits = chunk;
        }
    }
}

static fab_status hold(fab_spray_state *spray, fab_spray_port *at, double bytes, fab_error *err) {
    if (at->head == FAB_NO_WAITS || at->tail_at == FAB_WAITS_PER_CHUNK) {
        uint32_t chunk = spray->free_waits;
        if (chunk != FAB_NO_WAITS) {
            spray->free_waits = spray->waits[chunk].next;
        } else {
            FAB_PASS(FAB_GROW(spray->waits, spray->waits_capacity, spray->n_waits + 1, err));
            chunk = (uint32_t)spray->n_waits++;
        }
        *(at->head == FAB_NO_WAITS ? &at->head : &spray->waits[at->tail].next) = chunk;
        at->tail = chunk;
        at->tail_at = 0;
    }
    spray->waits[at->tail].of[at->tail_at].until_s = at->free_s;
    spray->waits[at->tail].of[at->tail_at++].bytes = bytes;
    at->held_bytes += bytes;
    return FAB_OK;
}

static bool is_drawn(const fab_lossless_state *s, fab_spray_port *at, uint32_t link) {
    double least = LEAST_MARK * at->room_bytes;
    if (!(at->held_bytes > least)) {
        return false;
    }
    double draw = (double)(fab_draw(s->phase->seed, link, at->n_drawn++) >> 11) * 0x1p-53;
    return draw < (at->held_bytes - least) / ((ALWAYS_MARK - LEAST_MARK) * at->room_bytes);
}

static fab_status spray_arrives(fab_lossless_state *s, const fab_event *e, fab_error *err) {
    uint32_t number = e->what % FAB_MOST_NUMBERS;
    fab_spray_cell *c = &s->spray->cells[number];
    fab_spray_port *to = &s->spray->ports[e->link];
    double bytes = s->spray->bytes[c->sender];
    if (!to->has_senders) {
        let_go(s->spray, to, e->at_s);
    }
    if (to->held_bytes + bytes > to->room_bytes && to->head != FAB_NO_CELL) {
        return trim_cell(s, number, e->at_s, err);
    }
    c->is_marked |= is_drawn(s, to, e->link);
    if (to->has_senders) {
        c->waited_s -= e->at_s;
        to->held_bytes += bytes;
        c->next = FAB_NO_CELL;
        *(to->head == FAB_NO_CELL ? &to->head : &s->spray->cells[to->tail].next) = number;
        to->tail = number;
        return send_next(s, e->link, e->at_s, err);
    }
    double from_s = larger(e->at_s, to->free_s);
    if (from_s > e->at_s && isfinite(to->room_bytes)) {
        FAB_PASS(hold(s->spray, to, bytes, err));
    }
    c->waited_s += from_s - e->at_s;
    return send_cell(s, to, number, from_s, err);
}

static fab_status sender_hears(fab_lossless_state *s, const fab_event *e, fab_error *err) {
    uint32_t number = e->what % FAB_MOST_NUMBERS;
    fab_spray_cell *c = &s->spray->cells[number];
    fab_spray_sender *x = &s->spray->senders[c->sender];
    x->out--;
    if (c->is_trimmed) {
        x->left++;
        s->spray->n_unsent[x->link]++;
        x->window_bytes -= x->bytes;
        x->calm_bytes = 0;
        x->is_fast = false;
    } else {
        fab_spray_acknowledged(x, x->bytes, c, e->at_s);
    }
    x->window_bytes = larger(x->window_bytes, x->bytes);
    s->out->n_notices += c->is_marked;
    if (s->transport->spray->skips && (c->is_marked || c->is_trimmed) && s->spray->skips[c->path] < MOST_SKIPS) {
        s->spray->skips[c->path]++;
    }
    c->next = s->spray->free_cell;
    s->spray->free_cell = number;
    return send_next(s, x->link, e->at_s, err);
}

/* As fetch_day() of lossless_events.c: what events read is fetched some events before. All kinds alike, because a
 * branch on the kind is guessed wrong as often as not. */
FAB_INLINE void fetch_named(const fab_spray_state *spray, const fab_event *e) {
    __builtin_prefetch(&spray->ports[e->link], 1);
    __builtin_prefetch(&spray->cells[e->what % FAB_MOST_NUMBERS], 1);
}

FAB_INLINE void fetch_further(const fab_lossless_state *s, const fab_event *e) {
    const fab_spray_state *spray = s->spray;
    const fab_spray_cell *c = &spray->cells[e->what % FAB_MOST_NUMBERS];
    const fab_spray_port *at = &spray->ports[e->link];
    size_t head = at->head < spray->n_waits ? at->head : 0;
    size_t tail = at->tail < spray->n_waits ? at->tail : 0;
    const char *sender = (const char *)&spray->senders[c->sender];
    __builtin_prefetch(&s->link[c->at + 1]);
    __builtin_prefetch(sender, 1);
    __builtin_prefetch(sender + CACHE_LINE, 1);
    __builtin_prefetch(&spray->waits[head].of[at->head_at], 1);
    __builtin_prefetch(&spray->waits[tail].of[at->tail_at], 1);
}

/* Without a branch, as above: of a cell that reaches its last queue what its path takes. */
FAB_INLINE void fetch_last(const fab_lossless_state *s, const fab_event *e) {
    const fab_spray_cell *c = &s->spray->cells[e->what % FAB_MOST_NUMBERS];
    __builtin_prefetch(&s->flows[s->link[c->at + 1] == FAB_NO_LINK ? c->path : 0]);
}

FAB_INLINE void fetch_ahead(const fab_lossless_state *s) {
    const fab_event_queue *q = &s->events;
    if (q->next + 4 * AHEAD < q->n_now) {
        fetch_named(s->spray, &q->now[q->next + 4 * AHEAD]);
    }
    if (q->next + 2 * AHEAD < q->n_now) {
        fetch_further(s, &q->now[q->next + 2 * AHEAD]);
    }
    if (q->next + AHEAD < q->n_now) {
        fetch_last(s, &q->now[q->next + AHEAD]);
    }
}

FAB_INLINE void fetch_first(const fab_lossless_state *s) {
    const fab_event_queue *q = &s->events;
    for (size_t i = 0; i < q->n_now && i <= 4 * AHEAD; i++) {
        fetch_named(s->spray, &q->now[i]);
    }
    for (size_t i = 0; i < q->n_now && i <= 2 * AHEAD; i++) {
        fetch_further(s, &q->now[i]);
    }
}

fab_status fab_spray_events(fab_lossless_state *s, fab_error *err) {
    fab_event_queue *q = &s->events;
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        if (s->spray->ports[l].has_senders) {
            FAB_PASS(send_next(s, l, 0, err));
        }
    }
    if (q->n_now == 0 && s->out->n_cells > 0) {
        FAB_PASS(fab_event_next_day(q, err));
    }
    while (q->n_now > 0) {
        while (q->next < q->n_now) {
            fetch_ahead(s);
            fab_event e = q->now[q->next++];
            s->now_s = e.at_s;
            switch (e.what / FAB_MOST_NUMBERS) {
            case ARRIVES: FAB_PASS(spray_arrives(s, &e, err)); break;
            case IS_ANSWERED: FAB_PASS(sender_hears(s, &e, err)); break;
            default: s->spray->ports[e.link].is_sending = false; FAB_PASS(send_next(s, e.link, e.at_s, err));
            }
        }
        FAB_PASS(fab_event_next_day(q, err));
        fetch_first(s);
    }
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        s->ports[l].busy_s = s->spray->ports[l].busy_s;
    }
    return FAB_OK;
}
