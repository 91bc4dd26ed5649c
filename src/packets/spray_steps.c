/* Sprayed packets of large phases as fluids, in steps of a round trip or less: what a sender's packets do to queues,
 * and queues to its window, is taken together. See src/doc/adr/0095-sprayed-fluids.md. */
#include "fab/rng.h"
#include "spray.h"

#define SHORTEST    0.125 /* step, in round trips; the longest is one, because windows follow what they cause */
#define VISITS      3e8   /* of paths to links: longer steps where shorter ones would make more */
#define MOST_ROUNDS 200.0 /* that the fullest link sends for; of longer phases a part is looked at */
#define MOST_OWED   15.0F
#define SMALLEST    1e-3 /* of a packet: nothing */

/* Of a link, what every path changes and reads within a step: all of them fit into a cache, as do the next. */
typedef struct step_flow {
    float came_bytes;
    float passes; /**< part of what comes that goes on: smoothed, so that bytes are neither lost nor made */
} step_flow;

/* What a packet met there in the last step, and how likely it was not marked. */
typedef struct step_seen {
    float wait_s, clear;
} step_seen;

typedef struct step_queue {
    double bytes_per_s, room_bytes, held_bytes, mean_came, mean_went;
    double all_bytes, end_s; /**< of the phase, and of its last flow there */
} step_queue;

typedef struct step_sender {
    double left_bytes, rate, wait_s;
    uint32_t hop; /**< its paths begin here, each with */
    uint32_t n_hops;
    double part;   /**< of the last step in which it sent; 0: in none */
    double last_s; /**< what a packet takes behind its first link; in the end, when the last one came */
} step_sender;

typedef struct spray_steps {
    fab_lossless_state *s;
    step_flow *flow; /* [n_links], as the next two */
    step_seen *seen;
    step_queue *queue;
    float *kept;          /* [n_links]: part that was not trimmed */
    bool trims;           /* not all of it was kept, somewhere */
    step_sender *senders; /* [n_senders] */
    uint32_t *hop;        /* paths by sender: their links but the first; shorter ones begin nowhere */
    float *sent;          /* [n_flows], by place among the paths by sender: packets in the last step */
    float *owed;          /* how often it is passed over yet */
    double step_s, now_s, mix;
    double scale; /**< of the bytes, one part in so many is sent */
    uint64_t n_steps;
    uint32_t n_left;
    double n_marked, n_trimmed;
} spray_steps;

/* What a sender hears of a step: packets that it sent, and bytes that arrived, and how. */
typedef struct step_news {
    float sent, there, unmarked, waited, calm, raises, steady, hot, latest_s;
} step_news;

/* --- answers ------------------------------------------------------------------------------------------------------ */

static step_news read_paths(spray_steps *k, uint32_t number, float size) {
    const fab_spray_sender *x = &k->s->spray->senders[number];
    const step_seen *seen = k->seen;
    const uint32_t n_hops = k->senders[number].n_hops;
    const uint32_t *hop = &k->hop[k->senders[number].hop];
    const step_seen first = k->seen[k->s->spray->origin[number].link];
    const float *sent = k->sent;
    float *owed = k->owed;
    const float target_s = (float)x->target_s;
    const float prompt_s = (float)x->prompt_s;
    step_news n = {.there = 0};
    for (uint32_t i = x->first; i < x->first + x->n; i++, hop += n_hops) {
        float wait_s = first.wait_s;
        float clear = first.clear;
        float kept = 1;
        if (sent[i] <= 0) { /* most, of short steps */
            continue;
        }
        for (uint32_t h = 0; h < n_hops; h++) {
            wait_s += seen[hop[h]].wait_s;
            clear *= seen[hop[h]].clear;
        }
        for (uint32_t h = 0; k->trims && h < n_hops; h++) {
            kept *= k->kept[hop[h]];
        }
        const float bytes = sent[i] * size * kept;
        const float unmarked = bytes * clear;
        const bool is_late = wait_s >= target_s;
        const float soon = is_late ? 0 : unmarked;
        n.sent += sent[i];
        n.there += bytes;
        n.waited += bytes * wait_s;
        n.unmarked += unmarked;
        n.calm += wait_s < prompt_s ? unmarked : 0;
        n.raises += soon * (target_s - wait_s);
        n.steady += unmarked - soon;
        n.hot += is_late ? bytes - unmarked : 0;
        n.latest_s = wait_s > n.latest_s ? wait_s : n.latest_s;
        const float turns = owed[i] + sent[i] * (1 - clear * kept);
        owed[i] = turns < MOST_OWED ? turns : MOST_OWED;
    }
    k->n_marked += (double)((n.there - n.unmarked) / size);
    return n;
}

/* As acknowledged() for packet after packet; whether one of few was not prompt, or cuts, is drawn. */
static void change_window(spray_steps *k, uint32_t number, const step_news *n, double dead) {
    fab_spray_sender *x = &k->s->spray->senders[number];
    step_sender *y = &k->senders[number];
    const double size = k->s->spray->origin[number].bytes;
    const double there = (double)n->there;
    const uint64_t draw = fab_draw(k->s->phase->seed, number, k->n_steps);
    const double one = size * (double)(draw >> 32) * 0x1p-32;
    const double other = size * (double)(draw & UINT32_MAX) * 0x1p-32;
    const double full_bytes = k->step_s / k->s->s_per_byte[k->s->spray->origin[number].link];
    y->wait_s = there > 0 ? (double)n->waited / there : y->wait_s;
    x->delay_s += x->weight * fmin(1, there / full_bytes) * (y->wait_s - x->delay_s);
    bool is_calm = there - (double)n->calm < one && dead < one;
    x->calm_bytes = is_calm ? x->calm_bytes + there : 0;
    x->is_fast = is_calm && (x->is_fast || x->calm_bytes > x->window_bytes);
    if (x->is_fast) {
        x->window_bytes += x->fast * there;
    } else {
        x->window_bytes += (x->proportional * (double)n->raises + x->fair * (double)n->steady) / x->window_bytes;
    }
    if (x->delay_s > x->target_s && k->now_s - x->cut_s >= x->rtt_s * (1 - SMALLEST) && (double)n->hot > other) {
        x->window_bytes *= fab_spray_cut(x);
        x->cut_s = k->now_s;
    }
    x->window_bytes = fmax(size, fmin(x->window_bytes, x->most_bytes) - dead);
}

static void sender_is_told(spray_steps *k, uint32_t number) {
    step_sender *y = &k->senders[number];
    double size = k->s->spray->origin[number].bytes;
    if (y->part <= 0) {
        return;
    }
    step_news n = read_paths(k, number, (float)size);
    double dead = k->trims ? fmax(0, (double)n.sent * size - (double)n.there) : 0;
    change_window(k, number, &n, dead);
    y->left_bytes += dead;
    k->n_trimmed += dead / size;
    if (y->left_bytes <= SMALLEST * size) {
        y->last_s += k->scale * (k->now_s - (1 - y->part) * k->step_s) + (double)n.latest_s;
        y->left_bytes = 0;
        k->n_left--;
    }
    y->part = 0;
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

/* Packets of this step to the paths in turn; those that owe a turn pass some of them on. */
static void take_turns(spray_steps *k, fab_spray_sender *x, double n_packets) {
    float *sent = &k->sent[x->first];
    double each = floor(n_packets / x->n);
    double rest = n_packets - each * x->n;
    float sum = 0;
    FAB_FILL(sent, x->n, (float)each);
    while (rest > 0) {
        sent[x->next] += (float)fmin(1, rest);
        rest -= 1;
        x->next = x->next + 1 < x->n ? x->next + 1 : 0;
    }
    if (!k->s->transport->spray->skips) {
        return;
    }
    float *owed = &k->owed[x->first];
    for (uint32_t i = 0; i < x->n; i++) {
        float passed = sent[i] < owed[i] ? sent[i] : owed[i];
        owed[i] -= passed;
        sent[i] -= passed;
        sum += sent[i];
    }
    const float more = (float)n_packets / (sum > 0 ? sum : (float)x->n);
    FAB_FILL(sent, x->n, sum > 0 ? sent[fab_at] * more : more);
}

static void send_step(spray_steps *k, uint32_t number) {
    fab_spray_sender *x = &k->s->spray->senders[number];
    step_sender *y = &k->senders[number];
    double size = k->s->spray->origin[number].bytes;
    double bytes = fmin(y->left_bytes, y->rate * k->step_s);
    take_turns(k, x, bytes / size);
    y->left_bytes -= bytes;
    y->part = bytes / (y->rate * k->step_s);
    step_flow *flow = k->flow;
    step_flow *first = &flow[k->s->spray->origin[number].link];
    const uint32_t *hop = &k->hop[y->hop];
    const float part = (float)size * first->passes;
    first->came_bytes += (float)bytes;
    for (uint32_t i = x->first; i < x->first + x->n; i++, hop += y->n_hops) {
        float comes = k->sent[i] * part;
        for (uint32_t h = 0; comes > 0 && h < y->n_hops; h++) {
            step_flow *at = &flow[hop[h]];
            at->came_bytes += comes;
            comes *= at->passes;
        }
    }
}

/* Senders that begin at a link hear of the last step, share the link, and send. */
static void step_senders(spray_steps *k, uint32_t link) {
    const fab_turns *t = &k->s->turns[link];
    const uint32_t *mine = &k->s->source[t->first];
    double sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const fab_spray_sender *x = &k->s->spray->senders[mine[i]];
        step_sender *y = &k->senders[mine[i]];
        sender_is_told(k, mine[i]);
        y->rate = fmin(k->queue[link].bytes_per_s, x->window_bytes / (x->rtt_s + y->wait_s));
        sum += y->left_bytes > 0 ? y->rate : 0;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        step_sender *y = &k->senders[mine[i]];
        y->rate *= sum > k->queue[link].bytes_per_s ? k->queue[link].bytes_per_s / sum : 1;
        if (y->left_bytes > 0) {
            send_step(k, mine[i]);
        }
    }
}

static void step_queue_on(spray_steps *k, uint32_t link) {
    step_queue *q = &k->queue[link];
    step_flow *f = &k->flow[link];
    double came = (double)f->came_bytes;
    k->kept[link] = 1;
    if (came <= 0 && q->held_bytes <= 0) {
        k->seen[link] = (step_seen){0, 1};
        return;
    }
    double before = q->held_bytes;
    double went = fmin(before + came, q->bytes_per_s * k->step_s);
    double over = fmax(0, before + came - went - q->room_bytes);
    q->held_bytes = before + came - went - over;
    q->mean_came += k->mix * (came - q->mean_came);
    q->mean_went += k->mix * (went - q->mean_went);
    double mean = (before + q->held_bytes) / 2;
    k->seen[link] =
        (step_seen){(float)(mean / q->bytes_per_s), (float)(1 - fmin(1, fab_spray_marks(mean, q->room_bytes)))};
    if (over > 0 && came > 0) {
        k->kept[link] = (float)(1 - fmin(1, over / came));
        k->trims = true;
    }
    *f = (step_flow){0, q->mean_came > 0 ? (float)(q->mean_went / q->mean_came) : 1};
}

/* --- before and after --------------------------------------------------------------------------------------------- */

/* What all paths bring to a link: the longest that one sends, of which a step is a small part. */
static double fullest_link_s(spray_steps *k) {
    const fab_lossless_state *s = k->s;
    double most_s = 0;
    for (uint32_t number = 0; number < s->spray->n_senders; number++) {
        const fab_spray_sender *x = &s->spray->senders[number];
        const step_sender *y = &k->senders[number];
        double bytes = y->left_bytes / x->n;
        k->queue[s->spray->origin[number].link].all_bytes += bytes * x->n;
        for (uint32_t h = 0; bytes > 0 && h < x->n * y->n_hops; h++) {
            k->queue[k->hop[y->hop + h]].all_bytes += bytes;
        }
    }
    for (uint32_t l = 0; l < s->phase->n_links; l++) {
        most_s = fmax(most_s, k->queue[l].all_bytes / k->queue[l].bytes_per_s);
    }
    return most_s;
}

/* Links of paths in the order in which steps read them. */
static fab_status list_hops(spray_steps *k, fab_error *err) {
    const fab_lossless_state *s = k->s;
    const fab_lossless_phase *p = s->phase;
    size_t capacity = 0;
    size_t n = 0;
    for (uint32_t number = 0; number < s->spray->n_senders; number++) {
        const fab_spray_sender *x = &s->spray->senders[number];
        const uint32_t *member = &s->spray->member[x->first];
        step_sender *y = &k->senders[number];
        uint64_t most = 2;
        for (uint32_t i = 0; x->left > 0 && i < x->n; i++) {
            most = fab_n_links_of(p, member[i]) > most ? fab_n_links_of(p, member[i]) : most;
        }
        y->hop = (uint32_t)n;
        y->n_hops = (uint32_t)most - 1;
        FAB_PASS(FAB_GROW(k->hop, capacity, n + (size_t)x->n * y->n_hops, err));
        for (uint32_t i = 0; x->left > 0 && i < x->n; i++) {
            uint64_t at = p->first[member[i]];
            for (uint64_t n_links = fab_n_links_of(p, member[i]); n_links < most; n_links++) {
                k->hop[n++] = p->n_links;
            }
            (void)fab_spray_next(p, member[i], &at);
            for (uint32_t l; (l = fab_spray_next(p, member[i], &at)) != FAB_NO_LINK;) {
                k->hop[n++] = l;
            }
        }
    }
    return FAB_OK;
}

static fab_status open_queues(spray_steps *k, fab_error *err) {
    const fab_lossless_state *s = k->s;
    const uint32_t n_links = s->phase->n_links;
    FAB_PASS(FAB_NEW(k->flow, (size_t)n_links + 1, err)); /* one more is nowhere */
    FAB_PASS(FAB_NEW_ALL((size_t)n_links + 1, err, k->seen, k->queue, k->kept));
    for (uint32_t l = 0; l < n_links; l++) {
        k->flow[l].passes = 1;
        k->queue[l] = (step_queue){.bytes_per_s = 1 / s->s_per_byte[l], .room_bytes = fab_spray_room(s, l)};
    }
    k->seen[n_links].clear = 1;
    k->kept[n_links] = 1;
    k->queue[n_links].bytes_per_s = INFINITY;
    return FAB_OK;
}

static fab_status steps_open(spray_steps *k, fab_error *err) {
    const fab_lossless_state *s = k->s;
    fab_spray_state *spray = s->spray;
    double most_bps = 0;
    FAB_PASS(open_queues(k, err));
    FAB_PASS(FAB_NEW(k->senders, spray->n_senders, err));
    FAB_PASS(FAB_NEW_ALL(s->phase->n_flows, err, k->sent, k->owed));
    FAB_PASS(list_hops(k, err));
    for (uint32_t i = 0; i < spray->n_senders; i++) {
        fab_spray_sender *x = &spray->senders[i];
        if (x->left > 0) {
            const uint32_t *hop = &k->hop[k->senders[i].hop];
            most_bps = fmax(most_bps, k->queue[spray->origin[i].link].bytes_per_s);
            k->senders[i].left_bytes = x->left * spray->origin[i].bytes;
            k->n_left++;
            x->next = (uint32_t)(fab_draw(s->phase->seed, i, 0) % x->n);
            for (uint32_t h = 0; h < k->senders[i].n_hops; h++) {
                k->senders[i].last_s += hop[h] < s->phase->n_links ? spray->origin[i].bytes * s->s_per_byte[hop[h]] : 0;
            }
        }
    }
    double rounds = fullest_link_s(k) / spray->rtt_s;
    k->scale = fmax(1, rounds / MOST_ROUNDS);
    k->mix = fmin(1, fmax(SHORTEST, (double)spray->n_hops * fmin(rounds, MOST_ROUNDS) / VISITS));
    k->step_s = k->mix * spray->rtt_s;
    k->mix /= 2;
    s->out->cell_bytes = fmax(s->packet_bytes, most_bps * k->step_s);
    for (uint32_t i = 0; i < spray->n_senders; i++) { /* what a packet counts, of as many as a step has at most */
        if (spray->senders[i].left > 0) {
            k->senders[i].left_bytes /= k->scale;
            double n = k->step_s / (spray->origin[i].bytes * s->s_per_byte[spray->origin[i].link]);
            spray->senders[i].weight = 1 - pow(1 - spray->senders[i].weight, n);
        }
    }
    return FAB_OK;
}

/* The first and the last links of paths have not sent what crosses them sooner than they can. */
static void keep_access(spray_steps *k) {
    const fab_spray_state *spray = k->s->spray;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t number = 0; number < spray->n_senders; number++) {
            const fab_spray_sender *x = &spray->senders[number];
            const step_sender *y = &k->senders[number];
            double *end_s = &k->senders[number].last_s;
            double late = 1;
            for (uint32_t i = 0; x->left > 0 && i <= x->n; i++) {
                step_queue *q =
                    &k->queue[i < x->n ? k->hop[y->hop + (i + 1) * y->n_hops - 1] : spray->origin[number].link];
                q->end_s = pass == 0 ? fmax(q->end_s, *end_s) : q->end_s;
                late = pass == 1 ? fmax(late, q->all_bytes / q->bytes_per_s / q->end_s) : late;
            }
            *end_s *= late;
            for (uint32_t i = x->first; pass == 1 && x->left > 0 && i < x->first + x->n; i++) {
                k->s->out->finish_s[spray->member[i]] = *end_s;
            }
        }
    }
}

fab_status fab_spray_steps(fab_lossless_state *s, fab_error *err) {
    spray_steps k = {.s = s};
    FAB_OWNS_MEMBERS(k.flow, k.seen, k.queue, k.senders, k.kept, k.hop, k.sent, k.owed);
    FAB_PASS(steps_open(&k, err));
    while (k.n_left > 0) {
        k.n_steps++;
        for (uint32_t l = 0; l < s->phase->n_links; l++) {
            if (s->turns[l].n > 0) {
                step_senders(&k, l);
            }
        }
        k.trims = false;
        for (uint32_t l = 0; l < s->phase->n_links; l++) {
            step_queue_on(&k, l);
        }
        k.now_s += k.step_s;
    }
    keep_access(&k);
    s->out->n_notices = (uint64_t)(k.scale * k.n_marked);
    s->out->n_trims = (uint64_t)(k.scale * k.n_trimmed);
    return FAB_OK;
}
