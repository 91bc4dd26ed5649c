/* Events of sprayed cells: one reaches a queue, a link has sent one, a sender hears of one. */
#include "spray.h"
#include "fab/multiversion.h"
#include "fab/rng.h"

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

/* --- senders ------------------------------------------------------------------------------------------------------ */

double fab_spray_cut(const fab_spray_sender *x) {
    return larger(LEAST_CUT, 1 - GAMMA * (x->delay_s - x->target_s) / x->delay_s);
}

double fab_spray_marks(double held_bytes, double room_bytes) {
    double least = LEAST_MARK * room_bytes;
    return held_bytes > least ? (held_bytes - least) / ((ALWAYS_MARK - LEAST_MARK) * room_bytes) : 0;
}

/* The window after an answer. */
static void acknowledged(fab_spray_sender *x, double bytes, const fab_spray_event *c) {
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
    } else if (c->waited_s >= x->target_s && x->delay_s > x->target_s && c->at_s - x->cut_s > x->rtt_s) {
        x->window_bytes *= fab_spray_cut(x);
        x->cut_s = c->at_s;
    }
    x->window_bytes = x->window_bytes < x->most_bytes ? x->window_bytes : x->most_bytes;
}

/* The next path in turn; every round begins at another one. One that marked or trimmed a cell is passed over once for
 * it. Returned: its place among the paths by sender. */
static uint32_t choose_path(fab_lossless_state *s, uint32_t number) {
    fab_spray_sender *x = &s->spray->senders[number];
    for (uint32_t passed = 0;; passed++) {
        if (x->next == 0) {
            x->shift = (uint32_t)(fab_draw(s->phase->seed, number, x->round++) % x->n);
        }
        uint32_t i = x->next + x->shift < x->n ? x->next + x->shift : x->next + x->shift - x->n;
        x->next = x->next + 1 < x->n ? x->next + 1 : 0;
        uint8_t *skips = &s->spray->skips[x->first + i];
        if (*skips == 0 || passed >= x->n) {
            return x->first + i;
        }
        --*skips;
    }
}

/* The next sender in turn of those that begin at a link and may send. */
static bool find_sender(const fab_lossless_state *s, uint32_t link, uint32_t *out) {
    const fab_turns *t = &s->turns[link];
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t at = t->next + i < t->n ? t->next + i : t->next + i - t->n;
        uint32_t number = s->source[t->first + at];
        const fab_spray_sender *x = &s->spray->senders[number];
        if (x->left > 0 && (x->out == 0 || (x->out + 1) * s->spray->origin[number].bytes <= x->window_bytes)) {
            *out = at;
            return true;
        }
    }
    return false;
}

static void new_cell(fab_lossless_state *s, uint32_t link, uint32_t turn, fab_spray_event *out) {
    fab_turns *t = &s->turns[link];
    uint32_t number = s->source[t->first + turn];
    fab_spray_sender *x = &s->spray->senders[number];
    *out = (fab_spray_event){.sender = number & (FAB_SPRAY_SENDERS - 1), .at = s->spray->place[choose_path(s, number)]};
    x->out++;
    x->left--;
    s->spray->ports[link].n_unsent--;
    t->next = turn + 1 < t->n ? turn + 1 : 0;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static double latency_behind(const uint32_t *end) {
    double latency_s;
    memcpy(&latency_s, end + 2, sizeof latency_s);
    return latency_s;
}

/* A link begins to send a cell at `from_s`. */
static fab_status send_cell(fab_lossless_state *s, fab_spray_port *at, fab_spray_event *c, double from_s,
                            fab_error *err) {
    const fab_spray_origin *origin = &s->spray->origin[c->sender];
    double packet_s = (origin->bytes < s->packet_bytes ? origin->bytes : s->packet_bytes) * at->s_per_byte;
    double sent_s = from_s + origin->bytes * at->s_per_byte;
    sent_s = larger(sent_s, c->at_s + c->late_s + packet_s); /* not before its last packet */
    at->free_s = sent_s;
    const uint32_t *next = &s->link[c->at + 1];
    if (*next != FAB_NO_LINK) {
        c->at++;
        c->link = *next;
        c->kind = ARRIVES;
        c->at_s = from_s + packet_s + at->latency_s;
        c->late_s = (float)(sent_s - from_s - packet_s);
    } else {
        c->at++;
        c->link = origin->link;
        c->kind = IS_ANSWERED;
        c->at_s = sent_s + at->latency_s + latency_behind(next);
    }
    return fab_event_push(&s->events, c, err);
}

/* A link at which senders begin has sent what it sends at free_s: an event, if something may follow. */
static fab_status await_link(fab_lossless_state *s, uint32_t link, fab_error *err) {
    fab_spray_port *at = &s->spray->ports[link];
    uint32_t turn;
    if (at->is_awaited || (at->head == FAB_NO_CELL && (at->n_unsent == 0 || !find_sender(s, link, &turn)))) {
        return FAB_OK;
    }
    at->is_awaited = true;
    return fab_event_push(&s->events, &(fab_spray_event){.at_s = at->free_s, .link = link, .kind = IS_SENT}, err);
}

/* A link at which senders begin: its queue and they take turns. */
static fab_status send_next(fab_lossless_state *s, uint32_t link, double now_s, fab_error *err) {
    fab_spray_port *at = &s->spray->ports[link];
    if (now_s < at->free_s || at->is_awaited) {
        return await_link(s, link, err);
    }
    bool is_turn = at->n_unsent > 0 && (at->head == FAB_NO_CELL || at->turn_of_sender);
    uint32_t turn;
    bool from_sender = is_turn && find_sender(s, link, &turn);
    fab_spray_event c;
    if (from_sender) {
        new_cell(s, link, turn, &c);
        c.at_s = now_s;
    } else if (at->head != FAB_NO_CELL) {
        fab_spray_cell *first = &s->spray->cells[at->head];
        uint32_t next = first->next;
        c = first->it;
        c.waited_s += now_s;
        first->next = s->spray->free_cell;
        s->spray->free_cell = at->head;
        at->head = next;
        at->held_bytes -= s->spray->origin[c.sender].bytes;
    } else {
        return FAB_OK;
    }
    at->turn_of_sender = !from_sender;
    FAB_PASS(send_cell(s, at, &c, now_s, err));
    return await_link(s, link, err);
}

/* A switch whose queue is full sends on the header alone, ahead of everything: the sender hears of it soon. */
static fab_status trim_cell(fab_lossless_state *s, fab_spray_event *c, fab_error *err) {
    double heard_s = c->at_s;
    for (; s->link[c->at] != FAB_NO_LINK; c->at++) {
        heard_s += s->spray->ports[s->link[c->at]].latency_s;
    }
    c->at_s = heard_s + latency_behind(&s->link[c->at]);
    c->link = s->spray->origin[c->sender].link;
    c->kind = IS_ANSWERED;
    c->is_trimmed = true;
    s->out->n_trims++;
    return fab_event_push(&s->events, c, err);
}

static bool is_drawn(const fab_lossless_state *s, fab_spray_port *at, uint32_t link, double held_bytes) {
    double marks = fab_spray_marks(held_bytes, at->room_bytes);
    return marks > 0 && (double)(fab_draw(s->phase->seed, link, at->n_drawn++) >> 11) * 0x1p-53 < marks;
}

/* Into the queue of a link at which senders begin. */
static fab_status hold_cell(fab_lossless_state *s, fab_spray_port *to, const fab_spray_event *c, fab_error *err) {
    fab_spray_state *spray = s->spray;
    uint32_t number = spray->free_cell;
    if (number != FAB_NO_CELL) {
        spray->free_cell = spray->cells[number].next;
    } else {
        FAB_PASS(FAB_GROW(spray->cells, spray->cells_capacity, spray->n_cells + 1, err));
        number = (uint32_t)spray->n_cells++;
    }
    spray->cells[number] = (fab_spray_cell){*c, FAB_NO_CELL};
    spray->cells[number].it.waited_s -= c->at_s;
    to->held_bytes += spray->origin[c->sender].bytes;
    *(to->head == FAB_NO_CELL ? &to->head : &spray->cells[to->tail].next) = number;
    to->tail = number;
    return send_next(s, c->link, c->at_s, err);
}

static fab_status spray_arrives(fab_lossless_state *s, fab_spray_event *c, fab_error *err) {
    fab_spray_port *to = &s->spray->ports[c->link];
    double wait_s = larger(0, to->free_s - c->at_s);
    double held_bytes = to->held_bytes + wait_s / to->s_per_byte;
    if (held_bytes > 0 && held_bytes + s->spray->origin[c->sender].bytes > to->room_bytes) {
        return trim_cell(s, c, err);
    }
    c->is_marked |= is_drawn(s, to, c->link, held_bytes);
    if (to->has_senders) {
        return hold_cell(s, to, c, err);
    }
    c->waited_s += wait_s;
    return send_cell(s, to, c, larger(c->at_s, to->free_s), err);
}

/* With the last cell of a sender, all its paths end. */
static void cell_was_there(fab_lossless_state *s, fab_spray_sender *x, double came_s) {
    x->last_s = larger(x->last_s, came_s);
    if (--x->missing == 0) {
        for (uint32_t i = 0; i < x->n; i++) {
            s->out->finish_s[s->spray->member[x->first + i]] = x->last_s;
        }
    }
}

static fab_status sender_hears(fab_lossless_state *s, const fab_spray_event *c, fab_error *err) {
    fab_spray_sender *x = &s->spray->senders[c->sender];
    double bytes = s->spray->origin[c->sender].bytes;
    x->out--;
    if (c->is_trimmed) {
        x->left++;
        s->spray->ports[c->link].n_unsent++;
        x->window_bytes -= bytes;
        x->calm_bytes = 0;
        x->is_fast = false;
    } else {
        cell_was_there(s, x, c->at_s - 2 * latency_behind(&s->link[c->at]));
        acknowledged(x, bytes, c);
    }
    x->window_bytes = larger(x->window_bytes, bytes);
    s->out->n_notices += c->is_marked;
    if (s->transport->spray->skips && (c->is_marked || c->is_trimmed)) {
        uint8_t *skips = &s->spray->skips[s->link[c->at + 1]];
        *skips = (uint8_t)(*skips + (*skips < MOST_SKIPS));
    }
    return send_next(s, c->link, c->at_s, err);
}

/* As fetch_day() of lossless_events.c: what events read is fetched some events before. All kinds alike, because a
 * branch on the kind is guessed wrong as often as not. */
FAB_INLINE void fetch(const fab_lossless_state *s, const fab_spray_event *e) {
    __builtin_prefetch(&s->spray->ports[e->link], 1);
    __builtin_prefetch(&s->link[e->at + 1]);
    const char *sender = (const char *)&s->spray->senders[e->sender];
    const char *origin = (const char *)&s->spray->origin[e->sender];
    bool hears = e->kind == IS_ANSWERED;
    __builtin_prefetch(hears ? sender : origin, 1);
    __builtin_prefetch(hears ? sender + CACHE_LINE : origin, 1);
}

fab_status fab_spray_events(fab_lossless_state *s, fab_error *err) {
    fab_event_queue *q = &s->events;
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        FAB_PASS(s->spray->ports[l].has_senders ? send_next(s, l, 0, err) : FAB_OK);
    }
    FAB_PASS(q->n_now == 0 && s->out->n_cells > 0 ? fab_event_next_day(q, err) : FAB_OK);
    while (q->n_now > 0) {
        while (q->next < q->n_now) {
            fab_spray_event *now = (void *)q->now;
            if (q->next + AHEAD < q->n_now) {
                fetch(s, &now[q->next + AHEAD]);
            }
            fab_spray_event e = now[q->next++];
            s->now_s = e.at_s;
            switch (e.kind) {
            case ARRIVES: FAB_PASS(spray_arrives(s, &e, err)); break;
            case IS_ANSWERED: FAB_PASS(sender_hears(s, &e, err)); break;
            default: s->spray->ports[e.link].is_awaited = false; FAB_PASS(send_next(s, e.link, e.at_s, err));
            }
        }
        FAB_PASS(fab_event_next_day(q, err));
        for (size_t i = 0; i < q->n_now && i <= AHEAD; i++) {
            fetch(s, (fab_spray_event *)(void *)q->now + i);
        }
    }
    return FAB_OK;
}
