/* Senders of sprayed packets before the first one leaves. */
#include "spray.h"
#include "fab/memory.h"

#include <math.h>

#define BITS          8.0
#define WINDOW        1.5  /* bandwidth-delay products */
#define TARGET        0.75 /* of a round trip */
#define PROMPT_S      1e-6
#define SMOOTHING     0.0125 /* what a packet counts in the average delay */
#define REFERENCE_S   12e-6  /* raises are stated for this round trip at this rate */
#define REFERENCE_BPS 1e11
#define LEAST_QUEUE   64 /* cells, where they are several packets: about as many as packets fit */
#define LEAST_WINDOW  96
#define LEAST_TARGET  48
#define LEAST_PROMPT  8

fab_status fab_spray_group(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(spray->sender_of, p->n_flows, err));
    FAB_PASS(FAB_NEW(spray->member, p->n_flows, err));
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
    FAB_PASS(FAB_NEW(spray->senders, spray->n_senders, err));
    for (uint32_t i = n; i-- > 0;) {
        fab_spray_sender *x = &spray->senders[spray->sender_of[spray->member[i]]];
        x->first = i;
        x->n++;
    }
    return FAB_OK;
}

/* There and back without a queue. */
static double round_trip_s(const fab_lossless_state *s, uint32_t path) {
    double rtt_s = 2 * s->latency_s[path];
    for (uint64_t i = s->first[path]; s->link[i] != FAB_NO_LINK; i++) {
        rtt_s += s->packet_bytes * s->ports[s->link[i]].s_per_byte;
    }
    return rtt_s;
}

static double at_least(const fab_lossless_state *s, double value, double n_cells, double of_cell) {
    return s->out->cell_bytes > s->packet_bytes ? fmax(value, n_cells * s->out->cell_bytes * of_cell) : value;
}

static void open_sender(const fab_lossless_state *s, fab_spray_sender *x, double rtt_s) {
    uint32_t flow = s->spray->member[x->first];
    double s_per_byte = s->ports[s->link[s->first[flow]]].s_per_byte;
    double product = rtt_s / s_per_byte;
    double scale = product * BITS / (REFERENCE_S * REFERENCE_BPS);
    x->rtt_s = rtt_s;
    x->target_s = at_least(s, TARGET * rtt_s, LEAST_TARGET, s_per_byte);
    x->prompt_s = at_least(s, PROMPT_S, LEAST_PROMPT, s_per_byte);
    x->most_bytes = at_least(s, WINDOW * product, LEAST_WINDOW, 1);
    x->window_bytes = fmax(x->most_bytes, s->cell_bytes[flow]);
    x->weight = 1 - pow(1 - SMOOTHING, s->cell_bytes[flow] / s->packet_bytes);
    x->proportional = 4 * s->transport->mtu_bytes * scale / REFERENCE_S;
    x->fair = 5 * s->transport->mtu_bytes * scale;
    x->fast = 0.25 * scale;
    x->cut_s = -INFINITY;
}

fab_status fab_spray_open(fab_lossless_state *s, fab_error *err) {
    const fab_lossless_phase *p = s->phase;
    fab_spray_state *spray = s->spray;
    double most_s = 0;
    for (uint32_t i = 0; i < p->n_flows; i++) {
        most_s = s->link[s->first[i]] != FAB_NO_LINK ? fmax(most_s, round_trip_s(s, i)) : most_s;
    }
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        if (s->left[spray->member[spray->senders[i].first]] > 0) {
            open_sender(s, &spray->senders[i], most_s);
        }
    }
    FAB_PASS(FAB_NEW(spray->queue_bytes, p->n_links, err));
    FAB_PASS(FAB_NEW(spray->n_queued, p->n_links, err));
    FAB_PASS(FAB_NEW(spray->n_unsent, p->n_links, err));
    for (uint32_t l = 0; l < p->n_links; l++) {
        double bytes = s->transport->spray->queue_bytes;
        bytes = at_least(s, bytes > 0 ? bytes : most_s / s->ports[l].s_per_byte, LEAST_QUEUE, 1);
        spray->queue_bytes[l] = p->marks == NULL || p->marks[l] ? bytes : (double)INFINITY;
        for (uint32_t i = 0; i < s->turns[l].n; i++) {
            spray->n_unsent[l] += s->left[s->source[s->turns[l].first + i]];
        }
    }
    return FAB_OK;
}

void fab_spray_close(fab_spray_state *spray) {
    FAB_FREE_ALL(spray->sender_of, spray->member, spray->skips, spray->senders, spray->queue_bytes, spray->n_queued,
                 spray->n_unsent, spray->cells);
}
