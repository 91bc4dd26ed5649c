/* Senders of sprayed packets before the first one leaves. */
#include "spray.h"
#include "fab/memory.h"

#include <math.h>
#include <string.h>

#define BITS          8.0
#define CACHE_LINE    64
#define WINDOW        1.5  /* bandwidth-delay products */
#define TARGET        0.75 /* of a round trip */
#define PROMPT_S      1e-6
#define SMOOTHING     0.0125 /* what a packet counts in the average delay */
#define REFERENCE_S   12e-6  /* raises are stated for this round trip at this rate */
#define REFERENCE_BPS 1e11

fab_status fab_spray_group(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(spray->sender_of, p->n_flows, err));
    FAB_PASS(FAB_NEW(spray->member, p->n_flows, err));
    FAB_PASS(FAB_NEW(spray->place, p->n_flows, err));
    FAB_PASS(FAB_NEW(spray->skips, p->n_flows, err));
    for (uint32_t i = 0; i < p->n_flows; i++) {
        spray->sender_of[i] = FAB_NO_LINK;
    }
    for (uint32_t k = 0; k < p->n_sprayed; k++) {
        for (uint32_t i = p->sprayed[k]; i < p->sprayed[k + 1]; i++) {
            bool is_new = spray->sender_of[i] == FAB_NO_LINK;
            for (uint32_t j = i; is_new && j < p->sprayed[k + 1]; j++) { /* all that begin where i does */
                if (spray->sender_of[j] == FAB_NO_LINK && s->link[s->first[j]] == s->link[s->first[i]]) {
                    spray->sender_of[j] = spray->n_senders;
                    spray->member[n++] = j;
                }
            }
            spray->n_senders += is_new;
        }
    }
    if (spray->n_senders >= FAB_SPRAY_SENDERS) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "%u senders are too many for sprayed packets: %u are the most",
                        spray->n_senders, FAB_SPRAY_SENDERS - 1);
    }
    FAB_PASS(FAB_NEW(spray->senders, (size_t)spray->n_senders + 1, err));
    for (uint32_t i = n; i-- > 0;) {
        uint32_t path = spray->member[i];
        fab_spray_sender *x = &spray->senders[spray->sender_of[path]];
        uint32_t *end = &s->link[s->first[path + 1] - FAB_SPRAY_BEHIND];
        x->first = i;
        x->n++;
        spray->place[i] = (uint32_t)s->first[path];
        end[0] = i;
        memcpy(end + 1, &s->flows[path].latency_s, sizeof s->flows[path].latency_s);
    }
    return FAB_OK;
}

/* There and back without a queue. */
static double round_trip_s(const fab_lossless_state *s, uint32_t path) {
    double rtt_s = 2 * s->flows[path].latency_s;
    for (uint64_t i = s->first[path]; s->link[i] != FAB_NO_LINK; i++) {
        rtt_s += s->packet_bytes * s->ports[s->link[i]].s_per_byte;
    }
    return rtt_s;
}

static void open_sender(const fab_lossless_state *s, fab_spray_sender *x, fab_spray_origin *origin, double rtt_s) {
    uint32_t flow = s->spray->member[x->first];
    double s_per_byte = s->ports[s->link[s->first[flow]]].s_per_byte;
    double product = rtt_s / s_per_byte;
    double scale = product * BITS / (REFERENCE_S * REFERENCE_BPS);
    *origin = (fab_spray_origin){s->flows[flow].cell_bytes, s->link[s->first[flow]]};
    x->left = s->flows[flow].left;
    x->missing = s->flows[flow].left;
    x->rtt_s = rtt_s;
    x->target_s = TARGET * rtt_s;
    x->prompt_s = PROMPT_S;
    x->most_bytes = WINDOW * product;
    x->window_bytes = fmax(x->most_bytes, origin->bytes);
    x->weight = SMOOTHING;
    x->proportional = 4 * s->transport->mtu_bytes * scale / REFERENCE_S;
    x->fair = 5 * s->transport->mtu_bytes * scale;
    x->fast = 0.25 * scale;
    x->cut_s = -INFINITY;
}

/* A switch's queue holds a product of its link, or what it is said to. */
static double room_bytes(const fab_lossless_state *s, uint32_t link, double rtt_s) {
    double bytes = s->transport->spray->queue_bytes;
    bytes = bytes > 0 ? bytes : rtt_s / s->ports[link].s_per_byte;
    return s->phase->marks == NULL || s->phase->marks[link] ? bytes : (double)INFINITY;
}

static fab_status open_spray_ports(fab_lossless_state *s, double rtt_s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    fab_spray_port *room = NULL; /* one more, so that they begin with a line */
    FAB_PASS(FAB_NEW(room, (size_t)p->n_links + 1, err));
    spray->ports_room = room;
    spray->ports = (void *)((char *)room + (CACHE_LINE - (uintptr_t)room % CACHE_LINE) % CACHE_LINE);
    for (uint32_t l = 0; l < p->n_links; l++) {
        spray->ports[l] = (fab_spray_port){.s_per_byte = s->ports[l].s_per_byte,
                                           .latency_s = p->latency_s[l],
                                           .room_bytes = room_bytes(s, l, rtt_s),
                                           .head = FAB_NO_CELL,
                                           .tail = FAB_NO_CELL,
                                           .has_senders = s->turns[l].n > 0};
        for (uint32_t i = s->turns[l].first; i < s->turns[l].first + s->turns[l].n; i++) {
            spray->ports[l].n_unsent += s->flows[s->source[i]].left;
            s->source[i] = spray->sender_of[s->source[i]]; /* from here on a sender stands for its first path */
        }
    }
    return FAB_OK;
}

fab_status fab_spray_open(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    double most_s = 0;
    FAB_PASS(FAB_NEW(spray->origin, spray->n_senders, err));
    spray->free_cell = FAB_NO_CELL;
    for (uint32_t i = 0; i < p->n_flows; i++) {
        most_s = s->link[s->first[i]] != FAB_NO_LINK ? fmax(most_s, round_trip_s(s, i)) : most_s;
    }
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        if (s->flows[spray->member[spray->senders[i].first]].left > 0) {
            open_sender(s, &spray->senders[i], &spray->origin[i], most_s);
        }
    }
    return open_spray_ports(s, most_s, err);
}

void fab_spray_close(fab_spray_state *spray) {
    FAB_FREE_ALL(spray->sender_of, spray->member, spray->place, spray->skips, spray->senders, spray->origin,
                 spray->ports_room, spray->cells);
}
