/* Packets are records that are never forgotten; whatever is asked of a queue or a sender is counted from them. */
#include "oracle_sprays.h"
#include "fab/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WAITS_AT_NIC, ON_WIRE, IN_QUEUE, ANSWER_UNDER_WAY, DONE };

typedef struct packet {
    int owner, path;
    uint64_t hop; /* place in the list of links */
    int state;
    bool marked, trimmed;
    double since, waits;
    long turn; /* in its queue */
} packet;

/* A flow, as far as it begins at one link. */
typedef struct owner {
    uint32_t link;
    int paths[64], n_paths, to_send, to_come, upto, round, penalty[64];
    double size, window, largest, average, last_cut, quiet, end;
    bool hurries;
} owner;

typedef struct event {
    double when;
    enum { COMES, LEFT, ANSWER } what;
    int who; /* packet, or link */
} event;

typedef struct net {
    const fab_lossless *t;
    const fab_lossless_phase *p;
    packet *packet;
    int n_packets;
    owner *owner;
    int n_owners;
    event *event;
    int n_events;
    int *last_owner;
    double *until; /* [link]: when what it sends has left */
    bool *busy, *nic_next;
    uint64_t *asked;
    long turn;
    double rtt;
    sprays_seen seen;
} net;

static double full_packet(const net *w) {
    return w->t->mtu_bytes + w->t->header_bytes;
}

static void plan(net *w, double when, int what, int who) {
    w->event = realloc(w->event, (size_t)(w->n_events + 1) * sizeof *w->event);
    w->event[w->n_events++] = (event){when, what, who};
}

static double way(const net *w, int path) {
    double s = 0;
    for (uint64_t i = w->p->first[path]; i < w->p->first[path + 1]; i++) {
        s += w->p->latency_s[w->p->link[i]];
    }
    return s;
}

/* What waits, and what has not left of the packet on the wire. */
static double depth(const net *w, uint32_t link, double now) {
    double bytes = w->busy[link] ? (w->until[link] - now) * w->p->capacity[link] / 8 : 0;
    for (int i = 0; i < w->n_packets; i++) {
        bytes += w->packet[i].state == IN_QUEUE && w->p->link[w->packet[i].hop] == link
                     ? w->owner[w->packet[i].owner].size
                     : 0;
    }
    return bytes;
}

static int under_way(const net *w, int number) {
    int n = 0;
    for (int i = 0; i < w->n_packets; i++) {
        n += w->packet[i].owner == number && w->packet[i].state != DONE;
    }
    return n;
}

static int pick_path(net *w, int number) {
    owner *o = &w->owner[number];
    for (int tried = 0;; tried++) {
        int start = (int)(fab_draw(w->p->seed, (uint64_t)number, (uint64_t)o->round) % (uint64_t)o->n_paths);
        int k = (start + o->upto) % o->n_paths;
        if (++o->upto == o->n_paths) {
            o->upto = 0;
            o->round++;
        }
        if (o->penalty[k] == 0 || tried == o->n_paths) {
            return k;
        }
        o->penalty[k]--;
    }
}

/* The next owner after the last one whose window has room. */
static int pick_owner(const net *w, uint32_t link) {
    for (int i = 1; i <= w->n_owners; i++) {
        int k = (w->last_owner[link] + i) % w->n_owners;
        const owner *o = &w->owner[k];
        int n = under_way(w, k);
        if (o->link == link && o->to_send > 0 && (n == 0 || (n + 1) * o->size <= o->window)) {
            return k;
        }
    }
    return -1;
}

static void use(net *w, uint32_t link, double now) {
    int first = -1;
    if (w->busy[link]) {
        return;
    }
    for (int i = 0; i < w->n_packets; i++) {
        const packet *k = &w->packet[i];
        if (k->state == IN_QUEUE && w->p->link[k->hop] == link && (first < 0 || k->turn < w->packet[first].turn)) {
            first = i;
        }
    }
    int own = first < 0 || w->nic_next[link] ? pick_owner(w, link) : -1;
    if (own >= 0) {
        owner *o = &w->owner[own];
        int k = pick_path(w, own);
        w->last_owner[link] = own;
        o->to_send--;
        w->packet = realloc(w->packet, (size_t)(w->n_packets + 1) * sizeof *w->packet);
        first = w->n_packets++;
        w->packet[first] = (packet){.owner = own, .path = k, .hop = w->p->first[o->paths[k]], .state = WAITS_AT_NIC};
        w->seen.sent++;
    }
    if (first < 0) {
        return;
    }
    w->nic_next[link] = own < 0;
    packet *k = &w->packet[first];
    owner *o = &w->owner[k->owner];
    k->waits += k->state == IN_QUEUE ? now - k->since : 0;
    k->state = ON_WIRE;
    w->busy[link] = true;
    double left = now + o->size * 8 / w->p->capacity[link];
    w->until[link] = left;
    plan(w, left, LEFT, (int)link);
    plan(w, left + w->p->latency_s[link], COMES, first);
}

static void adjust(net *w, owner *o, const packet *k, double now) {
    const double target = 0.75 * w->rtt;
    const double scale = w->rtt * w->p->capacity[o->link] / (12e-6 * 100e9);
    const double mtu = w->t->mtu_bytes;
    bool quiet = !k->marked && k->waits < 1e-6;
    o->average = o->average * (1 - 0.0125) + 0.0125 * k->waits;
    o->quiet = quiet ? o->quiet + o->size : 0;
    o->hurries = quiet && (o->hurries || o->quiet > o->window);
    if (k->marked && k->waits >= target) {
        if (o->average > target && now > o->last_cut + w->rtt) {
            double part = 0.8 * (o->average - target) / o->average;
            o->window *= part > 0.5 ? 0.5 : 1 - part;
            o->last_cut = now;
        }
    } else if (!k->marked && o->hurries) {
        o->window += 0.25 * scale * o->size;
    } else if (!k->marked) {
        double raise = k->waits < target ? 4 * mtu * scale / 12e-6 * (target - k->waits) : 5 * mtu * scale;
        o->window += raise * o->size / o->window;
    }
    o->window = o->window > o->largest ? o->largest : o->window;
}

static void answer(net *w, int number, double now) {
    packet *k = &w->packet[number];
    owner *o = &w->owner[k->owner];
    k->state = DONE;
    if (k->trimmed) {
        o->to_send++;
        o->window -= o->size;
        o->quiet = 0;
        o->hurries = false;
    } else {
        adjust(w, o, k, now);
    }
    o->window = o->window < o->size ? o->size : o->window;
    if (w->t->spray->skips && (k->trimmed || k->marked) && o->penalty[k->path] < 15) {
        o->penalty[k->path]++;
    }
    use(w, o->link, now);
}

static void come(net *w, int number, double now) {
    packet *k = &w->packet[number];
    owner *o = &w->owner[k->owner];
    int path = o->paths[k->path];
    if (k->hop + 1 == w->p->first[path + 1]) {
        w->seen.delivered++;
        k->state = ANSWER_UNDER_WAY;
        o->end = fmax(o->end, now - way(w, path));
        o->to_come--;
        plan(w, now + way(w, path), ANSWER, number);
        return;
    }
    k->hop++;
    uint32_t link = w->p->link[k->hop];
    double room = w->t->spray->queue_bytes > 0 ? w->t->spray->queue_bytes : w->rtt * w->p->capacity[link] / 8;
    double there = depth(w, link, now);
    if (w->p->marks != NULL && !w->p->marks[link]) {
        room = INFINITY;
    }
    if (there > 0 && there + o->size > room) {
        double rest = 0;
        for (uint64_t i = k->hop; i < w->p->first[path + 1]; i++) {
            rest += w->p->latency_s[w->p->link[i]];
        }
        k->trimmed = true;
        k->state = ANSWER_UNDER_WAY;
        w->seen.trims++;
        plan(w, now + way(w, path) + rest, ANSWER, number);
        return;
    }
    if (there > 0.2 * room) {
        double dice = (double)(fab_draw(w->p->seed, link, w->asked[link]++) >> 11) / 9007199254740992.0;
        k->marked = k->marked || dice < (there / room - 0.2) / 0.6;
    }
    k->state = IN_QUEUE;
    k->since = now;
    k->turn = w->turn++;
    use(w, link, now);
}

static void find_owners(net *w) {
    const fab_lossless_phase *p = w->p;
    w->owner = calloc(p->n_flows, sizeof *w->owner);
    for (uint32_t flow = 0; flow < p->n_sprayed; flow++) {
        int before = w->n_owners;
        for (uint32_t path = p->sprayed[flow]; path < p->sprayed[flow + 1]; path++) {
            int k = before;
            while (k < w->n_owners && w->owner[k].link != p->link[p->first[path]]) {
                k++;
            }
            w->n_owners = k == w->n_owners ? k + 1 : w->n_owners;
            owner *o = &w->owner[k];
            o->link = p->link[p->first[path]];
            o->paths[o->n_paths++] = (int)path;
            o->size += p->bits[path] / 8; /* all of its payload, for now */
        }
    }
    for (uint32_t path = 0; path < p->n_flows; path++) {
        double rtt = 2 * way(w, (int)path);
        for (uint64_t i = p->first[path]; i < p->first[path + 1]; i++) {
            rtt += full_packet(w) * 8 / p->capacity[p->link[i]];
        }
        w->rtt = fmax(w->rtt, rtt);
    }
    for (int k = 0; k < w->n_owners; k++) {
        owner *o = &w->owner[k];
        o->to_send = o->to_come = (int)ceil(o->size / w->t->mtu_bytes - 1e-9);
        o->size = o->size / o->to_send + w->t->header_bytes;
        o->largest = 1.5 * w->rtt * p->capacity[o->link] / 8;
        o->window = fmax(o->largest, o->size);
        o->last_cut = -INFINITY;
    }
}

sprays_seen oracle_sprays(const fab_lossless *t, const fab_lossless_phase *p, double *finish_s) {
    net w = {.t = t, .p = p};
    w.busy = calloc(p->n_links, sizeof *w.busy);
    w.until = calloc(p->n_links, sizeof *w.until);
    w.nic_next = calloc(p->n_links, sizeof *w.nic_next);
    w.asked = calloc(p->n_links, sizeof *w.asked);
    w.last_owner = calloc(p->n_links, sizeof *w.last_owner);
    find_owners(&w);
    for (uint32_t l = 0; l < p->n_links; l++) {
        w.last_owner[l] = w.n_owners - 1;
    }
    for (uint32_t l = 0; l < p->n_links; l++) {
        use(&w, l, 0);
    }
    while (w.n_events > 0) {
        int first = 0;
        for (int i = 1; i < w.n_events; i++) {
            first = w.event[i].when < w.event[first].when ? i : first;
        }
        event e = w.event[first];
        memmove(&w.event[first], &w.event[first + 1], (size_t)(w.n_events - first - 1) * sizeof e);
        w.n_events--;
        if (e.what == COMES) {
            come(&w, e.who, e.when);
        } else if (e.what == ANSWER) {
            answer(&w, e.who, e.when);
        } else {
            w.busy[e.who] = false;
            use(&w, (uint32_t)e.who, e.when);
        }
    }
    for (int k = 0; k < w.n_owners; k++) {
        for (int i = 0; i < w.owner[k].n_paths; i++) {
            finish_s[w.owner[k].paths[i]] = w.owner[k].to_come == 0 ? w.owner[k].end : INFINITY;
        }
    }
    free(w.busy);
    free(w.until);
    free(w.nic_next);
    free(w.asked);
    free(w.last_owner);
    free(w.event);
    free(w.packet);
    free(w.owner);
    return w.seen;
}
