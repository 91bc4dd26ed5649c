/* Nodes are (pass, stage, chunk, microbatch); the order within a stage is written down as Megatron-LM's loops have it:
 * virtual microbatches counted one by one. Sends wait for the send before them, in the order of their stage. */
#include "oracle_schedule.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct node {
    int pass; /* 0 forward, 1 backward, 2 weights */
    unsigned chunk, microbatch;
    double takes, start, end, sent, left, wire;
} node;

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double sum_of(const double *exchange_s) {
    double sum_s = 0;
    for (int k = 0; k < FAB_N_EXCHANGES; k++) {
        sum_s += exchange_s[k];
    }
    return sum_s;
}

static double takes_of(const fab_pipeline *p, const fab_chunk_times *t, int pass) {
    bool apart = p->order == FAB_ORDER_ZERO_BUBBLE;
    return pass == 0   ? t->forward_s + sum_of(t->forward_exchange_s)
           : pass == 1 ? t->recompute_s + t->backward_s + sum_of(t->backward_exchange_s) + (apart ? 0 : t->weights_s)
                       : t->weights_s;
}

static void add(const fab_pipeline *p, unsigned stage, node *row, size_t *n, int pass, unsigned k) {
    unsigned v = p->n_chunks;
    unsigned s = p->n_stages;
    unsigned chunk = v == 1 ? 0 : k % (s * v) / s;
    unsigned microbatch = v == 1 ? k : k / (s * v) * s + k % s;
    chunk = pass == 0 ? chunk : v - 1 - chunk;
    row[(*n)++] = (node){pass, chunk, microbatch, takes_of(p, &p->chunk[stage * v + chunk], pass), 0, 0, 0, 0, 0};
}

static size_t list(const fab_pipeline *p, unsigned stage, node *row) {
    unsigned total = p->n_chunks * p->n_microbatches;
    unsigned behind = p->n_stages - 1 - stage;
    size_t n = 0;
    unsigned f = 0;
    unsigned b = 0;
    unsigned w = 0;
    unsigned warm = p->n_chunks == 1 ? behind : 2 * behind + (p->n_chunks - 1) * p->n_stages;
    bool apart = p->order == FAB_ORDER_ZERO_BUBBLE;
    while (f < total && f < warm) {
        add(p, stage, row, &n, 0, f++);
    }
    while (b < total) {
        if (f < total) {
            add(p, stage, row, &n, 0, f++);
        }
        add(p, stage, row, &n, 1, b++);
        if (apart && (b - w > stage || f == total)) {
            add(p, stage, row, &n, 2, w++);
        }
    }
    while (apart && w < total) {
        add(p, stage, row, &n, 2, w++);
    }
    return n;
}

static node *find(const fab_pipeline *p, node *all, size_t n, unsigned place, int pass, unsigned microbatch) {
    node *row = all + (place % p->n_stages) * n;
    for (size_t i = 0; i < n; i++) {
        if (row[i].pass == pass && row[i].microbatch == microbatch && row[i].chunk == place / p->n_stages) {
            return &row[i];
        }
    }
    abort();
}

static double input_s(const fab_pipeline *p, node *all, size_t n, unsigned stage, const node *x) {
    unsigned place = x->chunk * p->n_stages + stage;
    unsigned last = p->n_stages * p->n_chunks - 1;
    if (x->pass == 2 || (x->pass == 0 && place == 0)) {
        return 0;
    }
    if (x->pass == 0) {
        return find(p, all, n, place - 1, 0, x->microbatch)->sent;
    }
    const node *before =
        place == last ? find(p, all, n, place, 0, x->microbatch) : find(p, all, n, place + 1, 1, x->microbatch);
    return place == last ? before->end : before->sent;
}

/* Of the last pass, across groups of replicas too. */
static double reduction_s(const fab_chunk_times *t, bool is_last) {
    return t->reduce_s + (is_last ? t->across_s : 0);
}

static unsigned buckets_of(const fab_chunk_times *t) {
    return t->buckets > 1 ? t->buckets : 1;
}

/* When bucket i of a chunk's parameters has come, one bucket after the other behind what nothing overlaps. */
static double bucket_s(const fab_pipeline *p, unsigned stage, unsigned chunk, unsigned bucket) {
    const fab_chunk_times *row = &p->chunk[stage * p->n_chunks];
    double at = 0;
    for (unsigned c = 0; c < p->n_chunks; c++) {
        at += (1 - p->replica_overlap) * row[c].gather_s;
    }
    for (unsigned c = 0; c < chunk; c++) {
        at += p->replica_overlap * row[c].gather_s;
    }
    return at + p->replica_overlap * row[chunk].gather_s * (bucket + 1) / buckets_of(&row[chunk]);
}

/* Fetches bucket after bucket for a pass, not before `at`, when the wire is free. */
static void fetch(const fab_pipeline *p, const fab_chunk_times *t, double at, double *wire, double *bucket) {
    unsigned n = buckets_of(t);
    for (unsigned i = 0; i < n; i++) {
        bucket[i] = larger(*wire, at) + p->replica_overlap * t->gather_s / n;
        *wire = p->replica_overlap * t->gather_s > 0 ? bucket[i] : *wire;
    }
}

static bool is_last_of_chunk(const node *row, size_t n, size_t i) {
    for (size_t k = i + 1; k < n; k++) {
        if (row[k].pass == row[i].pass && row[k].chunk == row[i].chunk) {
            return false;
        }
    }
    return true;
}

#define MOST_BUCKETS 8

/* One look at every operation of a stage. Returns whether anything became later. */
static bool relax(const fab_pipeline *p, node *all, size_t n, unsigned stage) {
    double done = 0;
    double channel[2] = {0, 0};
    double coming[MOST_BUCKETS];
    double wire = 0;
    bool changed = false;
    int last_pass = p->order == FAB_ORDER_ZERO_BUBBLE ? 2 : 1;
    node *row = &all[stage * n];
    double o = p->replica_overlap;
    if (p->gathers_each_pass) {
        fetch(p, &p->chunk[stage * p->n_chunks + row[0].chunk], 0, &wire, coming);
    } else {
        wire = bucket_s(p, stage, p->n_chunks - 1, buckets_of(&p->chunk[(stage + 1) * p->n_chunks - 1]) - 1);
    }
    for (size_t i = 0; i < n; i++) {
        node *x = &row[i];
        const fab_chunk_times *t = &p->chunk[stage * p->n_chunks + x->chunk];
        unsigned place = x->chunk * p->n_stages + stage;
        unsigned buckets = buckets_of(t);
        double start = larger(done, input_s(p, all, n, stage, x));
        bool fetched = x->pass != 2 && (p->gathers_each_pass || x->pass == 0);
        if (fetched && p->gathers_each_pass && (1 - o) * t->gather_s > 0) {
            start = wire = larger(start, wire) + (1 - o) * t->gather_s;
        }
        double end = start + x->takes;
        for (unsigned b = 0; fetched && b < buckets; b++) {
            double there = p->gathers_each_pass ? coming[b] : bucket_s(p, stage, x->chunk, b);
            start = b == 0 ? larger(start, there) : start;
            end = (b == 0 ? start : larger(end, there)) + x->takes / buckets;
        }
        if (p->gathers_each_pass && i + 1 < n && row[i + 1].pass != 2) {
            fetch(p, &p->chunk[stage * p->n_chunks + row[i + 1].chunk], start, &wire, coming);
        }
        bool sends = x->pass == 0 ? place + 1 < p->n_stages * p->n_chunks : x->pass == 1 && place > 0;
        double sent = end;
        double free = end;
        if (sends) {
            double takes = x->pass == 0 ? t->send_forward_s : t->send_backward_s;
            double from = larger(end, channel[x->pass]);
            sent = from + takes;
            channel[x->pass] = sent;
            free = p->send_overlap < 1 ? from + (1 - p->send_overlap) * takes : end;
        }
        bool completes = x->pass == last_pass && (p->reduces_each_pass || is_last_of_chunk(row, n, i));
        double reduction = reduction_s(t, is_last_of_chunk(row, n, i));
        for (unsigned b = 0; completes && o * reduction > 0 && b < buckets; b++) {
            wire = larger(wire, end - x->takes * (buckets - 1 - b) / buckets) + o * reduction / buckets;
        }
        if (completes && p->reduces_each_pass && (1 - o) * reduction > 0) {
            free = wire = larger(free, wire) + (1 - o) * reduction;
        }
        changed = changed || start != x->start || sent != x->sent || end != x->end;
        *x = (node){x->pass, x->chunk, x->microbatch, x->takes, start, end, sent, free, wire};
        done = free;
    }
    return changed;
}

/* When the gradients of a stage are with all replicas. */
static double reduced_s(const fab_pipeline *p, const node *row, size_t n, unsigned stage) {
    double later = 0;
    for (unsigned c = 0; c < p->n_chunks && !p->reduces_each_pass; c++) {
        later += (1 - p->replica_overlap) * reduction_s(&p->chunk[stage * p->n_chunks + c], true);
    }
    return larger(row[n - 1].left, row[n - 1].wire) + later;
}

double oracle_schedule_s(const fab_pipeline *p) {
    size_t n = (p->order == FAB_ORDER_ZERO_BUBBLE ? 3 : 2) * (size_t)p->n_chunks * p->n_microbatches;
    node *all = calloc(n * p->n_stages, sizeof *all);
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        if (list(p, stage, all + stage * n) != n) {
            abort();
        }
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (unsigned stage = 0; stage < p->n_stages; stage++) {
            changed = relax(p, all, n, stage) || changed;
        }
    }
    double ready = 0;
    double end = 0;
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        ready = larger(ready, reduced_s(p, all + stage * n, n, stage));
    }
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        end = larger(end, ready + p->optimizer_s[stage]);
    }
    free(all);
    return end;
}

/* --- sharing ------------------------------------------------------------------------------------------------------ */

/* A piece of work that begins when all before it are done. Of transfers, `of` says what travels. */
typedef enum { NOTHING, PASS, SEND, GATHER, REDUCTION } traveller;

#define MOST_BEFORE 8

typedef struct piece {
    double left;
    traveller of;
    unsigned stage, to;
    double part[FAB_N_EXCHANGES]; /* of a pass: its exchanges of bytes */
    int before[MOST_BEFORE], n_before;
    bool done;
} piece;

typedef struct graph {
    const fab_pipeline *p;
    piece *piece;
    int n;
    int *body, *sent; /* [stage][step]: its pass is through, its result has come */
    int *ready;       /* [stage] */
} graph;

static void after(graph *g, int number, int before) {
    if (before >= 0) {
        if (g->piece[number].n_before == MOST_BEFORE) {
            abort();
        }
        g->piece[number].before[g->piece[number].n_before++] = before;
    }
}

static int add_piece(graph *g, double work, traveller of, unsigned stage, int a, int b) {
    g->piece[g->n] = (piece){.left = work, .of = of, .stage = stage, .to = stage};
    after(g, g->n, a);
    after(g, g->n, b);
    return g->n++;
}

/* From `from` to `to` of a transfer; from `sent` on it takes nothing from others. */
static int travel(graph *g, double from, double to, double sent, traveller of, unsigned stage, int a, int b) {
    double loud = (to < sent ? to : sent) - from;
    double quiet = to - larger(from, sent);
    int first = add_piece(g, larger(loud, 0), of, stage, a, b);
    return add_piece(g, larger(quiet, 0), NOTHING, stage, first, -1);
}

static int position(const fab_pipeline *p, node *all, size_t n, unsigned place, int pass, unsigned microbatch) {
    return (int)(find(p, all, n, place, pass, microbatch) - all);
}

/* Which operation's end gives a pass its input; passes of other stages may stand later in the list. */
static int input_piece(const graph *g, node *all, size_t n, unsigned stage, const node *x) {
    unsigned place = x->chunk * g->p->n_stages + stage;
    unsigned last = g->p->n_stages * g->p->n_chunks - 1;
    if (x->pass == 2 || (x->pass == 0 && place == 0)) {
        return -1;
    }
    if (x->pass == 0) {
        return g->sent[position(g->p, all, n, place - 1, 0, x->microbatch)];
    }
    return place == last ? g->body[position(g->p, all, n, place, 0, x->microbatch)]
                         : g->sent[position(g->p, all, n, place + 1, 1, x->microbatch)];
}

/* First and last bucket of a step's parameters, before whose pass nobody fetches more than these. */
static void fetch_pieces(graph *g, unsigned stage, const fab_chunk_times *t, int begun, int *wire, int *out) {
    double o = g->p->replica_overlap;
    double bucket_s = o * t->gather_s / buckets_of(t);
    double sent_s = o * (t->gather_s - t->gather_latency_s);
    out[0] = travel(g, 0, bucket_s, sent_s, GATHER, stage, *wire, begun);
    out[1] = travel(g, bucket_s, o * t->gather_s, sent_s, GATHER, stage, out[0], -1);
    *wire = out[1];
}

/* What follows a pass: its transfer, and the reduction of its gradients. Returns when the next may begin. */
static int follow(graph *g, node *all, size_t n, unsigned stage, size_t i, int *channel) {
    const fab_pipeline *p = g->p;
    const node *x = &all[stage * n + i];
    const fab_chunk_times *t = &p->chunk[stage * p->n_chunks + x->chunk];
    unsigned place = x->chunk * p->n_stages + stage;
    int body = g->body[stage * n + i];
    if (!(x->pass == 0 ? place + 1 < p->n_stages * p->n_chunks : x->pass == 1 && place > 0)) {
        return body;
    }
    double takes = x->pass == 0 ? t->send_forward_s : t->send_backward_s;
    double head_s = (1 - p->send_overlap) * takes;
    double sent_s = takes - (t->send_latency_s < takes ? t->send_latency_s : takes);
    int first = g->n;
    int head = travel(g, 0, head_s, sent_s, SEND, stage, body, channel[x->pass]);
    int rest = g->sent[stage * n + i];
    after(g, rest, travel(g, head_s, takes, sent_s, SEND, stage, head, -1));
    for (int k = first; k < g->n; k++) {
        g->piece[k].to = (x->pass == 0 ? place + 1 : place - 1) % p->n_stages;
    }
    channel[x->pass] = rest;
    return p->send_overlap < 1 ? head : body;
}

/* Part of a pass. */
static int pass_piece(graph *g, unsigned stage, const node *x, double work, int a, int b) {
    const fab_chunk_times *t = &g->p->chunk[stage * g->p->n_chunks + x->chunk];
    const double *exchange_s = x->pass == 0 ? t->forward_exchange_s : t->backward_exchange_s;
    int number = add_piece(g, larger(work, 0), x->pass == 2 ? NOTHING : PASS, stage, a, b);
    for (int k = 0; k < FAB_N_EXCHANGES && x->takes > 0; k++) {
        g->piece[number].part[k] = exchange_s[k] * g->p->exchange_ratio[k] / x->takes;
    }
    return number;
}

static void build(graph *g, node *all, size_t n, unsigned stage) {
    const fab_pipeline *p = g->p;
    const fab_chunk_times *row = &p->chunk[stage * p->n_chunks];
    double o = p->replica_overlap;
    int free = -1;
    int wire = -1;
    int channel[2] = {-1, -1};
    int coming[MOST_BUCKETS][2]; /* [chunk]: first and last bucket; of passes that fetch, [0]: of the next */
    for (unsigned c = 0; c < p->n_chunks && !p->gathers_each_pass; c++) {
        wire = travel(g, 0, (1 - o) * row[c].gather_s, (1 - o) * (row[c].gather_s - row[c].gather_latency_s), GATHER,
                      stage, wire, -1);
    }
    for (unsigned c = 0; c < p->n_chunks && !p->gathers_each_pass; c++) {
        fetch_pieces(g, stage, &row[c], -1, &wire, coming[c]);
    }
    if (p->gathers_each_pass) {
        fetch_pieces(g, stage, &row[all[stage * n].chunk], -1, &wire, coming[0]);
    }
    for (size_t i = 0; i < n; i++) {
        const node *x = &all[stage * n + i];
        const fab_chunk_times *t = &row[x->chunk];
        double share = 1.0 / buckets_of(t);
        int all_here = -1;
        int start = add_piece(g, 0, NOTHING, stage, free, input_piece(g, all, n, stage, x));
        if (x->pass != 2 && p->gathers_each_pass && (1 - o) * t->gather_s > 0) {
            start = travel(g, 0, (1 - o) * t->gather_s, (1 - o) * (t->gather_s - t->gather_latency_s), GATHER, stage,
                           start, wire);
            wire = start;
        }
        if (x->pass == 0 || (x->pass == 1 && p->gathers_each_pass)) {
            const int *mine = coming[p->gathers_each_pass ? 0 : x->chunk];
            start = add_piece(g, 0, NOTHING, stage, start, mine[0]);
            all_here = mine[1];
        }
        if (p->gathers_each_pass && i + 1 < n && x[1].pass != 2) {
            fetch_pieces(g, stage, &row[x[1].chunk], start, &wire, coming[0]);
        }
        int first_bucket = pass_piece(g, stage, x, x->takes * share, start, share == 1 ? all_here : -1);
        int body = g->body[stage * n + i];
        if (share < 1) {
            int middle = pass_piece(g, stage, x, x->takes * (1 - 2 * share), first_bucket, -1);
            after(g, body, pass_piece(g, stage, x, x->takes * share, middle, all_here));
        }
        after(g, body, first_bucket);
        free = follow(g, all, n, stage, i, channel);
        int last_pass = p->order == FAB_ORDER_ZERO_BUBBLE ? 2 : 1;
        if (x->pass == last_pass && (p->reduces_each_pass || is_last_of_chunk(&all[stage * n], n, i))) {
            double reduction = reduction_s(t, is_last_of_chunk(&all[stage * n], n, i));
            double sent = reduction - t->reduce_latency_s;
            int early = travel(g, 0, o * reduction * (1 - share), o * sent, REDUCTION, stage, wire, first_bucket);
            wire = travel(g, o * reduction * (1 - share), o * reduction, o * sent, REDUCTION, stage, early, body);
            if (p->reduces_each_pass && (1 - o) * reduction > 0) {
                free = travel(g, 0, (1 - o) * reduction, (1 - o) * sent, REDUCTION, stage, free, wire);
                wire = free;
            }
        }
    }
    for (unsigned c = p->n_chunks; c-- > 0 && !p->reduces_each_pass;) {
        double reduction = reduction_s(&row[c], true);
        free = travel(g, 0, (1 - o) * reduction, (1 - o) * (reduction - row[c].reduce_latency_s), REDUCTION, stage,
                      free, wire);
    }
    g->ready[stage] = add_piece(g, 0, NOTHING, stage, free, wire);
}

static bool begins(const graph *g, const piece *x) {
    for (int i = 0; i < x->n_before; i++) {
        if (!g->piece[x->before[i]].done) {
            return false;
        }
    }
    return !x->done;
}

/* What is under way at a stage, as bits; of a pass there, its piece. */
static unsigned around(const graph *g, const bool *active, unsigned stage, const piece **pass) {
    static const unsigned BIT[] = {[SEND] = FAB_TRAVEL_BIT(FAB_TRAVEL_SEND),
                                   [GATHER] = FAB_TRAVEL_BIT(FAB_TRAVEL_GATHER),
                                   [REDUCTION] = FAB_TRAVEL_BIT(FAB_TRAVEL_REDUCE)};
    unsigned set = 0;
    *pass = NULL;
    for (int i = 0; i < g->n; i++) {
        const piece *x = &g->piece[i];
        bool here = active[i] && x->left > 0 && (x->stage == stage || (x->of == SEND && x->to == stage));
        set |= here && x->of > PASS ? BIT[x->of] : 0;
        *pass = here && x->of == PASS ? x : *pass;
    }
    return set;
}

/* Layer by layer, kernels and exchanges alternate: how long a second of the pass takes, and how far what travels beside
 * it comes meanwhile. */
static double slowed_at(const graph *g, const bool *active, const piece *x, unsigned stage) {
    static const fab_travel TRAVEL[] = {
        [SEND] = FAB_TRAVEL_SEND, [GATHER] = FAB_TRAVEL_GATHER, [REDUCTION] = FAB_TRAVEL_REDUCE};
    const piece *pass = NULL;
    unsigned set = around(g, active, stage, &pass);
    double lasts_s = 0;
    double comes_s = 0;
    double kernels = 1;
    for (unsigned k = 0; k <= FAB_N_EXCHANGES; k++) {
        bool exchanges = k < FAB_N_EXCHANGES;
        double part = exchanges ? (pass != NULL ? pass->part[k] : 0) : kernels;
        unsigned with = exchanges ? set | 1U << k : set;
        double piece_s = exchanges ? part * larger(g->p->paces->slowdown[with][k], 1) : part;
        kernels -= part;
        lasts_s += piece_s;
        comes_s += x->of == PASS ? 0 : piece_s / larger(g->p->paces->slowdown[with][TRAVEL[x->of]], 1);
    }
    return x->of == PASS ? lasts_s : lasts_s / comes_s;
}

/* How many times longer a piece takes now, beside everything that is under way. */
static double slowed(const graph *g, const bool *active, const piece *x) {
    if (x->of == NOTHING || x->left <= 0 || g->p->paces == NULL) {
        return 1;
    }
    return larger(slowed_at(g, active, x, x->stage), slowed_at(g, active, x, x->to));
}

#define NEVER 1e300
#define TINY  1e-13 /* of a second: rounding */

/* Runs to the next moment at which something is done. Returns how long that is, or NEVER when all is done. */
static double step(graph *g, bool *active, double *slow) {
    double least = NEVER;
    for (int i = 0; i < g->n; i++) {
        active[i] = begins(g, &g->piece[i]);
    }
    for (int i = 0; i < g->n; i++) {
        slow[i] = active[i] ? slowed(g, active, &g->piece[i]) : 1;
        least = active[i] && g->piece[i].left * slow[i] < least ? g->piece[i].left * slow[i] : least;
    }
    for (int i = 0; i < g->n && least < NEVER; i++) {
        piece *x = &g->piece[i];
        x->left -= active[i] ? least / slow[i] : 0;
        x->done = x->done || (active[i] && x->left <= TINY);
        x->left = x->done ? 0 : x->left;
    }
    return least;
}

double oracle_shared_schedule_s(const fab_pipeline *p) {
    size_t n = (p->order == FAB_ORDER_ZERO_BUBBLE ? 3 : 2) * (size_t)p->n_chunks * p->n_microbatches;
    size_t n_steps = n * p->n_stages;
    size_t most = 40 * n_steps + p->n_stages * (8 * (size_t)p->n_chunks + 8);
    node *all = calloc(n_steps, sizeof *all);
    graph g = {p,
               calloc(most, sizeof *g.piece),
               0,
               calloc(n_steps, sizeof *g.body),
               calloc(n_steps, sizeof *g.sent),
               calloc(p->n_stages, sizeof *g.ready)};
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        (void)list(p, stage, all + stage * n);
    }
    for (size_t i = 0; i < n_steps; i++) {
        g.body[i] = add_piece(&g, 0, NOTHING, (unsigned)(i / n), -1, -1);
        g.sent[i] = add_piece(&g, 0, NOTHING, (unsigned)(i / n), g.body[i], -1);
    }
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        build(&g, all, n, stage);
    }
    double *slow = calloc((size_t)g.n, sizeof *slow);
    bool *active = calloc((size_t)g.n, sizeof *active);
    double end = 0;
    for (double takes = 0; takes < NEVER; takes = step(&g, active, slow)) {
        end += takes;
    }
    double most_s = 0;
    for (unsigned stage = 0; stage < p->n_stages; stage++) {
        most_s = larger(most_s, p->optimizer_s[stage]);
        if (!g.piece[g.ready[stage]].done) {
            abort();
        }
    }
    free(all);
    free(g.piece);
    free(g.body);
    free(g.sent);
    free(g.ready);
    free(slow);
    free(active);
    return end + most_s;
}
