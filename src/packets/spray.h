/**
 * @file spray.h
 * Senders that spray packets over the paths of a flow, and slow down by what acknowledgements say.
 */
#pragma once

#include "lossless_run.h"

/** The paths of a flow that begin at one link, and what its sender knows. */
typedef struct fab_spray_sender {
    uint32_t first, n;               /**< paths: member[first] ... */
    uint32_t next, round;            /**< place within a round over them */
    uint32_t out;                    /**< cells sent and not answered */
    double window_bytes;             /**< these may be under way; at least one cell */
    double most_bytes;               /**< no window is larger */
    double rtt_s, target_s;          /**< without queues; queueing that is aimed at */
    double prompt_s;                 /**< queueing that is as good as none */
    double delay_s, weight;          /**< smoothed queueing, and what a cell counts in it */
    double proportional, fair, fast; /**< raises: bytes^2 per byte and second, bytes^2 per byte, a ratio */
    double cut_s;                    /**< when it was last cut */
    double calm_bytes;               /**< acknowledged since something waited longer than prompt_s */
    bool is_fast;
    double last_s; /**< of its cells, less the latency of their paths */
} fab_spray_sender;

/** What a cell met on its way. */
typedef struct fab_spray_cell {
    double came_s, waited_s;
    bool is_marked, is_trimmed;
} fab_spray_cell;

/** What is there beside a fab_lossless_state: its flows are paths, and the first path of a sender stands for it. */
typedef struct fab_spray_state {
    uint32_t *sender_of; /**< [n_flows], by path */
    uint32_t *member;    /**< [n_flows]: paths by sender */
    uint8_t *skips;      /**< [n_flows]: how often a path is passed over yet */
    fab_spray_sender *senders;
    uint32_t n_senders;
    double *queue_bytes; /**< [n_links]: room of the egress queue; INFINITY: no switch's */
    uint64_t *n_queued;  /**< [n_links]: cells that came to the queue */
    uint32_t *n_unsent;  /**< [n_links]: cells of the senders that begin there */
    fab_spray_cell *cells;
    size_t cells_capacity;
} fab_spray_state;

/** Groups paths into senders: sender_of, member, first and n of each. */
fab_status fab_spray_group(fab_lossless_state *state, fab_error *err) FAB_MUST_USE;
/** Windows and queues, once cells have their size. */
fab_status fab_spray_open(fab_lossless_state *state, fab_error *err) FAB_MUST_USE;
void fab_spray_close(fab_spray_state *spray);
/** Moves all cells. */
fab_status fab_spray_events(fab_lossless_state *state, fab_error *err) FAB_MUST_USE;

/** The window after an answer at now_s. */
void fab_spray_acknowledged(fab_spray_sender *sender, double bytes, const fab_spray_cell *cell, double now_s);
