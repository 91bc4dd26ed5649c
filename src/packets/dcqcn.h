/**
 * The three roles of DCQCN [Zhu et al., SIGCOMM 2015]: switches mark, receivers notify, senders cut and raise rates.
 */
#pragma once

#include "fab/lossless.h"

/** A flow at its two ends. */
typedef struct fab_dcqcn_flow {
    double rate_bps, target_bps, line_bps;
    double least_bps, additive_bps, hyper_bps;
    double alpha;
    double send_s;                 /**< its next cell not before */
    double owed_bytes, paid_s;     /**< of its last cell, what the rate had not let through at that time */
    double alpha_at_s, raise_at_s; /**< when the timers run out */
    double bytes;                  /**< sent since the byte counter ran out */
    double spread_s; /**< between the last packet of its last cell, as sent, and as its rate would have it */
    uint32_t n_timer, n_counter; /**< how often either ran out since the last notification */
    bool is_cut;                 /**< has been notified: before, it sends as its link lets it */
    double told_s;               /**< when its receiver sent the last notification */
} fab_dcqcn_flow;

fab_dcqcn_flow fab_dcqcn_start(const fab_dcqcn *rules, double line_bps);
/** Whether a cell of `packets` that comes to a queue of `bytes` is marked. `draw`: uniform in [0, 1). */
bool fab_dcqcn_marks(const fab_dcqcn *rules, double bytes, double packets, double draw);
/** Whether the receiver of a marked cell tells the sender. */
bool fab_dcqcn_tells(const fab_dcqcn *rules, fab_dcqcn_flow *flow, double now_s);
void fab_dcqcn_sends(const fab_dcqcn *rules, fab_dcqcn_flow *flow, double bytes, double now_s);
void fab_dcqcn_is_told(const fab_dcqcn *rules, fab_dcqcn_flow *flow, double now_s);
