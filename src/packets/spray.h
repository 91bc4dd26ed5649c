/**
 * @file spray.h
 * Senders that spray packets over the paths of a flow, and slow down by what acknowledgements say.
 */
#pragma once

#include "lossless_run.h"

#define FAB_NO_WAITS        UINT32_MAX
#define FAB_WAITS_PER_CHUNK 7

/** The paths of a flow that begin at one link, and what its sender knows. What every event reads of it comes first. */
typedef struct fab_spray_sender {
    uint32_t first, n;    /**< paths: member[first] ... */
    uint32_t next, round; /**< place within a round over them */
    uint32_t link;        /**< where they begin */
    uint32_t out;         /**< cells sent and not answered */
    uint32_t left;        /**< that have not been sent, or were trimmed */
    uint32_t missing;     /**< that have not arrived */
    double bytes;         /**< of a cell, on the wire */
    double window_bytes;  /**< these may be under way; at least one cell */
    double last_s;        /**< arrival of its cells, less the latency of their paths */
    bool is_fast;
    double most_bytes;               /**< no window is larger */
    double rtt_s, target_s;          /**< without queues; queueing that is aimed at */
    double prompt_s;                 /**< queueing that is as good as none */
    double delay_s, weight;          /**< smoothed queueing, and what a cell counts in it */
    double proportional, fair, fast; /**< raises: bytes^2 per byte and second, bytes^2 per byte, a ratio */
    double cut_s;                    /**< when it was last cut */
    double calm_bytes;               /**< acknowledged since something waited longer than prompt_s */
} fab_spray_sender;

/** A cell under way and what it met: two to a line of a cache. */
typedef struct fab_spray_cell {
    double tail_s;   /**< its last bit is there */
    double waited_s; /**< in queues; while one with senders holds it, less the time when it came */
    uint32_t path;
    uint32_t at;   /**< place in the list of links: what it waits for, or is under way to */
    uint32_t next; /**< in a queue with senders, or among the free ones */
    uint32_t sender : 30, is_marked : 1, is_trimmed : 1;
} fab_spray_cell;

/** When cells leave a queue, in that order. */
typedef struct fab_spray_waits {
    struct {
        double until_s, bytes;
    } of[FAB_WAITS_PER_CHUNK];
    uint32_t next;
} fab_spray_waits;

/**
 * What every event reads of a link: one line of a cache. A queue without senders knows when each of its cells leaves as
 * soon as it comes, because nothing stops it: its cells are not in a list, but sent on at once for that time.
 */
typedef struct fab_spray_port {
    double s_per_byte, latency_s;
    double busy_s;
    double free_s; /**< when all that came has been sent */
    double held_bytes;
    double room_bytes;   /**< of the egress queue; INFINITY: no switch's */
    uint32_t head, tail; /**< chunks of waits, or FAB_NO_WAITS; with senders: cells, or FAB_NO_CELL */
    uint32_t n_drawn;    /**< cells of which it was drawn whether they are marked */
    uint8_t head_at, tail_at;
    bool has_senders : 1, is_sending : 1, turn_of_sender : 1;
} fab_spray_port;

/** What is there beside a fab_lossless_state: its flows are paths, and the first path of a sender stands for it. */
typedef struct fab_spray_state {
    uint32_t *sender_of; /**< [n_flows], by path */
    uint32_t *member;    /**< [n_flows]: paths by sender */
    uint8_t *skips;      /**< [n_flows]: how often a path is passed over yet */
    fab_spray_sender *senders;
    uint32_t n_senders;
    double *bytes; /**< [n_senders]: of a cell, once more: all of them fit into a cache */
    void *ports_room;
    fab_spray_port *ports; /**< [n_links], in it, a line of a cache each */
    uint32_t *n_unsent;    /**< [n_links]: cells of the senders that begin there */
    fab_spray_cell *cells;
    size_t n_cells, cells_capacity;
    uint32_t free_cell;
    fab_spray_waits *waits;
    size_t n_waits, waits_capacity;
    uint32_t free_waits;
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
