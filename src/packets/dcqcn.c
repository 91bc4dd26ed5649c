/* Rates of senders. Timers are not events: what they did until now is made up for when a flow sends or is told, and
 * what they will do is predicted when it has to wait. */
#include "dcqcn.h"

#define BITS          8.0
#define ADDITIVE_PART 1e-3 /* of the line rate, where steps and floor are not given: 40 Mb/s of 40 Gb/s */
#define HYPER_PART    1e-2

fab_dcqcn_flow fab_dcqcn_start(const fab_dcqcn *r, double line_bps) {
    return (fab_dcqcn_flow){.rate_bps = line_bps,
                            .target_bps = line_bps,
                            .line_bps = line_bps,
                            .least_bps = fmin(line_bps, r->least_bps > 0 ? r->least_bps : ADDITIVE_PART * line_bps),
                            .additive_bps = r->additive_bps > 0 ? r->additive_bps : ADDITIVE_PART * line_bps,
                            .hyper_bps = r->hyper_bps > 0 ? r->hyper_bps : HYPER_PART * line_bps,
                            .alpha = 1,
                            .told_s = -INFINITY};
}

bool fab_dcqcn_marks(const fab_dcqcn *r, double bytes, double packets, double draw) {
    if (bytes <= r->kmin_bytes) {
        return false;
    }
    double p = bytes <= r->kmax_bytes ? r->pmax * (bytes - r->kmin_bytes) / (r->kmax_bytes - r->kmin_bytes) : 1;
    return draw < (packets > 1 ? 1 - pow(1 - p, packets) : p);
}

bool fab_dcqcn_tells(const fab_dcqcn *r, fab_dcqcn_flow *f, double now_s) {
    bool tells = now_s - f->told_s >= r->notify_s;
    f->told_s = tells ? now_s : f->told_s;
    return tells;
}

/* Fast recovery, then additive, then hyper increase: half the way to the target each time. */
static void raise_rate(const fab_dcqcn *r, fab_dcqcn_flow *f) {
    uint32_t most = f->n_timer > f->n_counter ? f->n_timer : f->n_counter;
    uint32_t least = f->n_timer > f->n_counter ? f->n_counter : f->n_timer;
    if (least > r->recovery) {
        f->target_bps += (least - r->recovery) * f->hyper_bps;
    } else if (most >= r->recovery) {
        f->target_bps += f->additive_bps;
    }
    f->target_bps = fmin(f->target_bps, f->line_bps);
    f->rate_bps = (f->rate_bps + f->target_bps) / 2;
}

/* What the rate lets through until then is no longer owed. */
static void pay(fab_dcqcn_flow *f, double until_s) {
    f->owed_bytes = fmax(0, f->owed_bytes - f->rate_bps / BITS * (until_s - f->paid_s));
    f->paid_s = until_s;
}

static void raise_by_timer(const fab_dcqcn *r, fab_dcqcn_flow *f) {
    pay(f, f->raise_at_s);
    f->n_timer++;
    raise_rate(r, f);
    f->raise_at_s += r->raise_s;
}

static void run_timers(const fab_dcqcn *r, fab_dcqcn_flow *f, double now_s) {
    while (f->alpha_at_s <= now_s) {
        f->alpha *= 1 - r->gain;
        f->alpha_at_s += r->alpha_s;
    }
    while (f->raise_at_s <= now_s) {
        raise_by_timer(r, f);
    }
    pay(f, now_s);
}

/* When nothing is owed any more, if no notification comes before. */
static void predict(const fab_dcqcn *r, fab_dcqcn_flow *f) {
    fab_dcqcn_flow later = *f;
    while (later.paid_s + later.owed_bytes * BITS / later.rate_bps > later.raise_at_s) {
        raise_by_timer(r, &later);
    }
    f->send_s = later.paid_s + later.owed_bytes * BITS / later.rate_bps;
}

void fab_dcqcn_sends(const fab_dcqcn *r, fab_dcqcn_flow *f, double bytes, double now_s) {
    if (!f->is_cut) {
        return;
    }
    run_timers(r, f, now_s);
    f->owed_bytes = bytes;
    f->bytes += bytes;
    while (f->bytes >= r->raise_bytes) {
        f->n_counter++;
        raise_rate(r, f);
        f->bytes -= r->raise_bytes;
    }
    predict(r, f);
}

void fab_dcqcn_is_told(const fab_dcqcn *r, fab_dcqcn_flow *f, double now_s) {
    if (f->is_cut) {
        run_timers(r, f, now_s);
    }
    f->is_cut = true;
    f->target_bps = f->rate_bps;
    f->rate_bps = fmax(f->least_bps, f->rate_bps * (1 - f->alpha / 2));
    f->alpha = (1 - r->gain) * f->alpha + r->gain;
    f->paid_s = now_s;
    f->alpha_at_s = now_s + r->alpha_s;
    f->raise_at_s = now_s + r->raise_s;
    f->n_timer = f->n_counter = 0;
    f->bytes = 0;
    predict(r, f);
}
