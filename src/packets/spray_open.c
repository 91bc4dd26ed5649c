/* Senders of sprayed packets before the first one leaves. */
#include "spray.h"

#define BITS           8.0
#define CACHE_LINE     64
#define WINDOW         1.5  /* bandwidth-delay products */
#define TARGET         0.75 /* of a round trip */
#define PROMPT_S       1e-6
#define SMOOTHING      0.0125 /* what a packet counts in the average delay */
#define REFERENCE_S    12e-6  /* raises are stated for this round trip at this rate */
#define REFERENCE_BPS  1e11
#define BEHIND         4   /* words behind the links of a path: where it ends, its number, its latency */
#define EVENTS_PER_DAY 512 /* more are under way than in lossless queues; the ends of days then stay in a cache */

static uint32_t first_link(const fab_lossless_phase *p, uint32_t path) {
    uint64_t at = p->first[path];
    return fab_spray_next(p, path, &at);
}

/* Paths of a flow that begin with the same link have one sender; its cells are packets. */
static fab_status add_sender(fab_lossless_state *s, uint32_t from, uint32_t past, uint32_t *n, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    const uint32_t number = spray->n_senders;
    const uint32_t link = first_link(p, from);
    FAB_REFUSE_IF(number + 1 >= FAB_SPRAY_SENDERS, err, FAB_EUNSUPPORTED, NULL,
                  "more senders than %u are too many for sprayed packets", FAB_SPRAY_SENDERS - 1);
    FAB_PASS(FAB_GROW(spray->senders, spray->senders_capacity, (size_t)number + 1, err));
    FAB_PASS(FAB_GROW(spray->origin, spray->origin_capacity, (size_t)number + 1, err));
    fab_spray_sender *x = &spray->senders[number];
    *x = (fab_spray_sender){.first = *n};
    for (uint32_t j = from; j < past; j++) {
        if (first_link(p, j) == link) {
            spray->member[(*n)++] = j;
            s->out->finish_s[j] = 0;
            x->n++;
        }
    }
    spray->origin[number].link = link != FAB_NO_LINK ? link : p->n_links; /* nowhere */
    x->left = x->missing = fab_count_cells(s, from, x->n, &spray->origin[number].bytes);
    for (uint32_t i = x->first; x->left > 0 && i < *n; i++) {
        s->out->finish_s[spray->member[i]] = INFINITY;
    }
    spray->n_senders++;
    return FAB_OK;
}

static fab_status find_senders(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(s->spray->member, p->n_flows, err));
    for (uint32_t k = 0; k < p->n_sprayed; k++) {
        for (uint32_t i = p->sprayed[k]; i < p->sprayed[k + 1]; i++) {
            uint32_t before = p->sprayed[k];
            while (first_link(p, before) != first_link(p, i)) {
                before++;
            }
            FAB_PASS(before == i ? add_sender(s, i, p->sprayed[k + 1], &n, err) : FAB_OK);
        }
    }
    return FAB_OK;
}

/* Those that send take turns at the link where they begin. */
static fab_status give_turns(fab_lossless_state *s, fab_error *err) {
    const fab_spray_state *spray = s->spray;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(s->turns, s->phase->n_links, err));
    FAB_PASS(FAB_NEW(s->source, spray->n_senders, err));
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        if (spray->senders[i].left > 0) {
            s->turns[spray->origin[i].link].n++;
        }
    }
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        s->turns[l].first = n;
        n += s->turns[l].n;
        s->turns[l].n = 0;
    }
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        if (spray->senders[i].left > 0) {
            fab_turns *t = &s->turns[spray->origin[i].link];
            s->source[t->first + t->n++] = i;
        }
    }
    return FAB_OK;
}

static double latency_of(const fab_lossless_phase *p, uint32_t path) {
    FAB_SUM_IN(double, latency_s, i, p->first[path], p->first[path + 1], p->latency_s[p->link[i]]);
    return latency_s;
}

/* There and back without a queue, over the longest path. */
static double round_trip_s(const fab_lossless_state *s) {
    double most_s = 0;
    for (uint32_t path = 0; path < s->phase->n_flows; path++) {
        uint64_t at = s->phase->first[path];
        double rtt_s = 2 * latency_of(s->phase, path);
        uint32_t l = fab_spray_next(s->phase, path, &at);
        rtt_s = l != FAB_NO_LINK ? rtt_s : 0;
        for (; l != FAB_NO_LINK; l = fab_spray_next(s->phase, path, &at)) {
            rtt_s += s->packet_bytes * s->s_per_byte[l];
        }
        most_s = rtt_s > most_s ? rtt_s : most_s;
    }
    return most_s;
}

static void open_sender(const fab_lossless_state *s, fab_spray_sender *x, const fab_spray_origin *origin) {
    double product = s->spray->rtt_s / s->s_per_byte[origin->link];
    double scale = product * BITS / (REFERENCE_S * REFERENCE_BPS);
    x->rtt_s = s->spray->rtt_s;
    x->target_s = TARGET * x->rtt_s;
    x->prompt_s = PROMPT_S;
    x->most_bytes = WINDOW * product;
    x->window_bytes = fmax(x->most_bytes, origin->bytes);
    x->weight = SMOOTHING;
    x->proportional = 4 * s->transport->mtu_bytes * scale / REFERENCE_S;
    x->fair = 5 * s->transport->mtu_bytes * scale;
    x->fast = 0.25 * scale;
    x->cut_s = -INFINITY;
}

double fab_spray_room(const fab_lossless_state *s, uint32_t link) {
    double bytes = s->transport->spray->queue_bytes;
    bytes = bytes > 0 ? bytes : s->spray->rtt_s / s->s_per_byte[link];
    return s->phase->marks == NULL || s->phase->marks[link] ? bytes : (double)INFINITY;
}

/* --- what packets that move one by one need beside ---------------------------------------------------------------- */

static fab_status copy_paths(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL(p->n_flows, err, spray->place, spray->skips));
    FAB_PASS(FAB_NEW(s->link, p->first[p->n_flows] - p->first[0] + (size_t)BEHIND * p->n_flows, err));
    for (uint32_t i = 0; i < p->n_flows; i++) {
        const uint32_t path = spray->member[i];
        const double latency_s = latency_of(p, path);
        uint64_t at = p->first[path];
        spray->place[i] = n;
        do {
            s->link[n] = fab_spray_next(p, path, &at);
        } while (s->link[n++] != FAB_NO_LINK);
        s->link[n] = i;
        memcpy(&s->link[n + 1], &latency_s, sizeof latency_s);
        n += BEHIND - 1;
    }
    return FAB_OK;
}

static fab_status open_spray_ports(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    fab_spray_port *room = NULL; /* one more, so that they begin with a line */
    FAB_PASS(FAB_NEW(room, (size_t)p->n_links + 1, err));
    spray->ports_room = room;
    spray->ports = (void *)((char *)room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE) % CACHE_LINE);
    for (uint32_t l = 0; l < p->n_links; l++) {
        spray->ports[l] = (fab_spray_port){.s_per_byte = s->s_per_byte[l],
                                           .latency_s = p->latency_s[l],
                                           .room_bytes = fab_spray_room(s, l),
                                           .head = FAB_NO_CELL,
                                           .tail = FAB_NO_CELL,
                                           .has_senders = s->turns[l].n > 0};
        for (uint32_t i = s->turns[l].first; i < s->turns[l].first + s->turns[l].n; i++) {
            spray->ports[l].n_unsent += spray->senders[s->source[i]].left;
        }
    }
    return FAB_OK;
}

/* Days that hold a few events each, by how long the fullest first link sends; what is sent on when it comes waits in a
 * queue, and its answer comes a round trip later. */
static fab_status open_calendar(fab_lossless_state *s, fab_error *err) {
    const fab_spray_state *spray = s->spray;
    double busy_s = 0;
    double cell_s = 0;
    double wait_s = 0;
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        double queue_s = spray->ports[l].room_bytes * s->s_per_byte[l];
        double send_s = 0;
        for (uint32_t i = s->turns[l].first; i < s->turns[l].first + s->turns[l].n; i++) {
            double one_s = spray->origin[s->source[i]].bytes * s->s_per_byte[l];
            cell_s = fmax(cell_s, one_s);
            send_s += one_s * spray->senders[s->source[i]].left;
        }
        busy_s = fmax(busy_s, send_s);
        wait_s = isfinite(queue_s) ? fmax(wait_s, queue_s) : wait_s;
    }
    return busy_s > 0 ? fab_event_queue_init(&s->events, sizeof(fab_spray_event),
                                             EVENTS_PER_DAY * busy_s / (double)(2 * s->out->n_cells + 1),
                                             2 * cell_s + spray->rtt_s + wait_s, err)
                      : FAB_OK;
}

fab_status fab_spray_open(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    double sum = 0; /* bytes times links */
    spray->free_cell = FAB_NO_CELL;
    s->packet_bytes = s->out->cell_bytes = s->transport->mtu_bytes + s->transport->header_bytes;
    for (uint32_t f = 0; f < p->n_flows; f++) {
        const uint64_t n_links = fab_n_links_of(p, f);
        sum += fab_wire_bytes(s, f) * (double)n_links;
        spray->n_hops += n_links;
    }
    spray->in_steps =
        sum > s->packet_bytes * (s->transport->packet_links > 0 ? s->transport->packet_links : FAB_SPREAD_LINKS);
    FAB_PASS(find_senders(s, err));
    FAB_PASS(give_turns(s, err));
    FAB_PASS(FAB_NEW(s->s_per_byte, p->n_links, err));
    FAB_PASS(fab_link_times(s, s->s_per_byte, err));
    spray->rtt_s = round_trip_s(s);
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        if (spray->senders[i].left > 0) {
            open_sender(s, &spray->senders[i], &spray->origin[i]);
        }
    }
    if (spray->in_steps) {
        return FAB_OK;
    }
    FAB_PASS(copy_paths(s, err));
    FAB_PASS(open_spray_ports(s, err));
    return open_calendar(s, err);
}

FAB_RELEASES(fab_spray_close, fab_spray_state, member, place, skips, senders, origin, ports_room, cells);
