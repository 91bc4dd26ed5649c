/* Boxes are not read at the same moment: a switch that is read 20 ms later than the others in an interval of 10 s has
 * counted 0.2 % more at all of its ports. Both ends of a cable count the same bytes, so
 *
 *     ln(own count) - ln(count of the other end) = skew of the box - skew of the other box
 *
 * for every cable and direction: more equations than boxes. They are solved by least squares (conjugate gradients on
 * the Laplacian of the graph of boxes), and again with Tukey's weights, so that cables that contradict the others,
 * having lost bytes, do not count. */
#include "observe_internal.h"

#define ROUNDS 4     /* of weights */
#define STEPS  400   /* of conjugate gradients, at most */
#define SOLVED 1e-11 /* of the length of the right side */
#define WIDE   6.0   /* spreads beyond which a cable has no weight */
#define EXACT  1e-9  /* a spread below is none: counts agree to the byte */
#define IDLE   1e-3  /* of what the fullest link carries, or of what the other end counts: less is nothing */

/* A cable that both ends count, in one direction. */
typedef struct skew_pair {
    uint32_t tail, head;
    double difference; /* tail minus head, logarithms */
    double weight;
} skew_pair;

/* The system of equations. Vectors have an entry for each box. */
typedef struct skew_system {
    skew_pair *pairs;
    size_t n_pairs, n_boxes;
    double *residual, *way, *product, *numbers;
} skew_system;

static bool is_pair(const observation *o, fab_link_id l, double least) {
    return o->sent[l] > least && o->got[l] > least;
}

static double least_of(const observation *o) {
    FAB_MOST(double, most, l, o->fabric->n_links, fmax(o->sent[l], o->got[l]));
    return IDLE * most;
}

static void collect_pairs(const observation *o, skew_system *s) {
    const fab_fabric *f = o->fabric;
    double least = least_of(o);
    FAB_KEEP(s->pairs, s->n_pairs, l, f->n_links, is_pair(o, l, least),
             (skew_pair){.tail = observe_box(f, fab_tail(f, l)),
                         .head = observe_box(f, fab_head(f, l)),
                         .difference = log(o->sent[l]) - log(o->got[l]),
                         .weight = 1});
}

/* out = Laplacian x */
static void multiply(const skew_system *s, const double *x, double *out) {
    memset(out, 0, s->n_boxes * sizeof *out);
    FAB_EACH(const skew_pair, p, s->pairs, s->n_pairs) {
        double flow = p->weight * (x[p->tail] - x[p->head]);
        out[p->tail] += flow;
        out[p->head] -= flow;
    }
}

static double dot(const double *a, const double *b, size_t n) {
    FAB_SUM(double, sum, i, n, a[i] * b[i]);
    return sum;
}

/* Conjugate gradients from what stands in x. The constant of every part of the graph stays what it is. */
static void solve(const skew_system *s, double *x) {
    size_t n = s->n_boxes;
    multiply(s, x, s->product);
    FAB_FILL(s->residual, n, -s->product[fab_at]);
    double length = 0;
    FAB_EACH(const skew_pair, p, s->pairs, s->n_pairs) {
        s->residual[p->tail] += p->weight * p->difference;
        s->residual[p->head] -= p->weight * p->difference;
        length += p->weight * p->difference * p->difference;
    }
    memcpy(s->way, s->residual, n * sizeof *s->way);
    double square = dot(s->residual, s->residual, n);
    for (int step = 0; step < STEPS && square > SOLVED * SOLVED * length; step++) {
        multiply(s, s->way, s->product);
        double curve = dot(s->way, s->product, n);
        double far = curve > 0 ? square / curve : 0;
        for (size_t i = 0; i < n; i++) {
            x[i] += far * s->way[i];
            s->residual[i] -= far * s->product[i];
        }
        double next = dot(s->residual, s->residual, n);
        FAB_FILL(s->way, n, s->residual[fab_at] + next / square * s->way[fab_at]);
        square = next;
    }
}

static double left_at(const skew_pair *p, const double *skew) {
    return p->difference - (skew[p->tail] - skew[p->head]);
}

/* Tukey's weights: none beyond some spreads. */
static void weigh_pairs(skew_system *s, const double *skew) {
    FAB_FILL(s->numbers, s->n_pairs, left_at(&s->pairs[fab_at], skew));
    double spread = observe_spread(s->numbers, s->n_pairs);
    double wide = WIDE * (spread > EXACT ? spread : EXACT);
    for (size_t i = 0; i < s->n_pairs; i++) {
        double part = left_at(&s->pairs[i], skew) / wide;
        s->pairs[i].weight = fabs(part) < 1 ? (1 - part * part) * (1 - part * part) : 0;
    }
}

static fab_status find_skews(const observation *o, double *skew, size_t n_boxes, fab_error *err) {
    skew_system s = {.n_boxes = n_boxes};
    FAB_OWNS_MEMBERS(s.pairs, s.numbers, s.residual, s.way, s.product);
    FAB_PASS(FAB_NEW_ALL(o->fabric->n_links, err, s.pairs, s.numbers));
    FAB_PASS(FAB_NEW_ALL(n_boxes, err, s.residual, s.way, s.product));
    collect_pairs(o, &s);
    for (int round = 0; round < ROUNDS && s.n_pairs > 0; round++) {
        solve(&s, skew);
        weigh_pairs(&s, skew);
    }
    return FAB_OK;
}

/* A port that counts nothing of what the other end of its cable does stands still: the end that moves counts. */
static void leave_out_still(observation *o) {
    const fab_fabric *f = o->fabric;
    double least = least_of(o);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (o->sent[l] > least && o->got[l] < IDLE * o->sent[l]) {
            o->is_still[l ^ 1U] = true;
        }
        if (o->got[l] > least && o->sent[l] < IDLE * o->got[l]) {
            o->is_still[l] = true;
        }
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (o->is_still[l]) {
            o->sent[l] = o->got[l ^ 1U] = NAN;
        }
    }
}

static void join_ends(observation *o, const double *skew) {
    const fab_fabric *f = o->fabric;
    double least = least_of(o);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        o->measured[l] = o->gap[l] = NAN;
        if (!fab_is_network(fab_class_of(f, l))) {
            continue;
        }
        double sent = o->sent[l] * exp(-skew[observe_box(f, fab_tail(f, l))]);
        double got = o->got[l] * exp(-skew[observe_box(f, fab_head(f, l))]);
        o->measured[l] = isnan(sent) ? got : isnan(got) ? sent : (sent + got) / 2;
        o->gap[l] = is_pair(o, l, least) ? log(got / sent) : NAN;
        o->out->two_ended_links += isfinite(sent) && isfinite(got);
        o->out->measured_links += isfinite(o->measured[l]);
    }
}

fab_status observe_skew(observation *o, fab_error *err) {
    size_t n_boxes = observe_n_boxes(o->fabric);
    FAB_OWNED_NEW(double, skew, n_boxes, err);
    FAB_PASS(FAB_NEW_ALL(o->fabric->n_links, err, o->measured, o->gap, o->is_still));
    leave_out_still(o);
    FAB_PASS(find_skews(o, skew, n_boxes, err));
    join_ends(o, skew);
    double middle = 0;
    double *copy = skew; /* no longer needed in its order */
    middle = observe_median(copy, n_boxes);
    for (size_t i = 0; i < n_boxes; i++) {
        copy[i] -= middle;
    }
    o->out->read_skew = o->out->two_ended_links > 0 ? observe_spread(copy, n_boxes) : NAN;
    return FAB_OK;
}
