/* Rates of senders. Timers are not events: what they did until now is made up for when a flow sends or is told. */
#include "dcqcn.h"

#include <math.h>

#define BITS 8.0

fab_dcqcn_flow fab_dcqcn_start(double line_bps) {
    return (fab_dcqcn_flow){
        .rate_bps = line_bps, .target_bps = line_bps, .line_bps = line_bps, .alpha = 1, .told_s = -INFINITY};
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
        f->target_bps += (least - r->recovery) * r->hyper_bps;
    } else if (most >= r->recovery) {
        f->target_bps += r->additive_bps;
    }
    f->target_bps = fmin(f->target_bps, f->line_bps);
    f->rate_bps = (f->rate_bps + f->target_bps) / 2;
}

static void run_timers(const fab_dcqcn *r, fab_dcqcn_flow *f, double now_s) {
    while (f->alpha_at_s <= now_s) {
        f->alpha *= 1 - r->gain;
        f->alpha_at_s += r->alpha_s;
    }
    while (f->raise_at_s <= now_s) {
        f->n_timer++;
        raise_rate(r, f);
        f->raise_at_s += r->raise_s;
    }
}

void fab_dcqcn_sends(const fab_dcqcn *r, fab_dcqcn_flow *f, double bytes, double now_s) {
    if (!f->is_cut) {
        return;
    }
    run_timers(r, f, now_s);
    f->send_s = now_s + bytes * BITS / f->rate_bps;
    f->bytes += bytes;
    while (f->bytes >= r->raise_bytes) {
        f->n_counter++;
        raise_rate(r, f);
        f->bytes -= r->raise_bytes;
    }
}

void fab_dcqcn_is_told(const fab_dcqcn *r, fab_dcqcn_flow *f, double now_s) {
    if (f->is_cut) {
        run_timers(r, f, now_s);
    }
    f->is_cut = true;
    f->target_bps = f->rate_bps;
    f->rate_bps *= 1 - f->alpha / 2;
    f->alpha = (1 - r->gain) * f->alpha + r->gain;
    f->alpha_at_s = now_s + r->alpha_s;
    f->raise_at_s = now_s + r->raise_s;
    f->n_timer = f->n_counter = 0;
    f->bytes = 0;
}
