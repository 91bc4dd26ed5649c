/** A run under way: lossless_open.c prepares it, lossless_events.c moves its cells. */
#pragma once

#include "dcqcn.h"
#include "event_queue.h"

#define FAB_NO_CELL     UINT32_MAX
#define FAB_LEAST_CELLS 3 /**< of a threshold */
#define FAB_SPREAD_LINKS                                                                                               \
    4e6 /**< packets times links of flows over several paths that move one by one: of 4 packets a                      \
           cell, phases were up to 8 % short */
#define FAB_MOST_NUMBERS (UINT32_C(1) << 29) /**< of cells, and of links: events name either in 29 bits */

typedef struct fab_cell {
    double bytes;
    double tail_s; /**< its last bit is there */
    uint32_t flow;
    uint32_t at;   /**< place in the list of links: what it waits for, or is under way to */
    uint32_t in;   /**< link before that, FAB_NO_LINK: from its NIC */
    uint32_t next; /**< in its queue, or among the free ones */
} fab_cell;

/** What every event reads of a link: one line of a cache. */
typedef struct fab_port {
    double s_per_byte, latency_s;
    double sending_bytes;
    double busy_s;
    uint32_t head, tail; /**< queue of cells that go out by the link */
    uint32_t sending;    /**< cell, or FAB_NO_CELL: its head may be further on already */
    uint32_t sending_in; /**< link by which that came */
    bool is_stopped, has_sources, turn_of_source;
} fab_port;

/** Flows that begin at a link, in turn: source[first] ... */
typedef struct fab_turns {
    uint32_t first, n, next;
} fab_turns;

/** How long a link was stopped, and for what. */
typedef struct fab_stops {
    double since_s, sum_s;
    uint32_t held_by; /**< queue of the cell with which it began */
    uint32_t cause;   /**< the one that leads by time, and by how much */
    double lead_s;
} fab_stops;

/** A flow in cells. */
typedef struct fab_cut_flow {
    double cell_bytes; /**< of each, on the wire */
    double latency_s;  /**< of all its links */
    uint32_t at;       /**< place of its first link in the list */
    uint32_t left;     /**< cells that have not been sent */
} fab_cut_flow;

/** A link whose classes take turns. */
typedef struct fab_line {
    bool is_sending;
    uint8_t turn;
} fab_line;

/** A queue is a link's of a class: link + class * n_links. Paths, ports, stops, turns and events name queues. */
typedef struct fab_lossless_state {
    const fab_lossless *transport;
    const fab_lossless_phase *phase;
    fab_lossless_result *out;
    void *ports_room;
    uint32_t n_queues;
    fab_line *lines;    /**< [n_links]; NULL: one class */
    double *left_bytes; /**< [n_pools]; NULL: thresholds are fixed */
    fab_port *ports;    /**< [n_queues], in it, a line of a cache each; the next two alike */
    fab_turns *turns;
    fab_stops *stops;
    double *held_bytes; /**< [n_queues]: by the ingress port at its end */
    bool *asks_to_stop; /**< [n_queues]: that port has */
    /** [n_flows + 1]: as in the phase, less the links that take no time; each ends with FAB_NO_LINK, and what stands
     * behind: the number of cells that have not arrived. */
    uint64_t *first;
    uint32_t *link;
    uint32_t *source;    /**< flows by their first link */
    fab_cut_flow *flows; /**< [n_flows] */
    fab_cell *cells;
    size_t n_cells, cells_capacity;
    uint32_t free_cell;
    uint32_t *lead;     /**< [n_flows], where switches choose: the path that stands for a sender; NULL: they do not */
    uint32_t *group;    /**< [n_flows]: of phase->sprayed; the next two alike, by lead */
    uint32_t *turn;     /**< choices so far */
    double *last_s;     /**< arrival of its cells, less the latencies of their paths */
    double *s_per_byte; /**< [n_links]: as fab_link_times() says */
    double packet_bytes, xoff_bytes, xon_part;
    double least_bytes; /**< of a threshold */
    double now_s;       /**< of the event at hand */
    fab_event_queue events;
    fab_dcqcn dcqcn;       /**< thresholds as cells need them; the rest where transport->dcqcn is given */
    fab_dcqcn_flow *rates; /**< [n_flows]; NULL: senders are not held back */
    double *wake_s;        /**< [n_queues]: when a flow may send again, of links whose flows wait */
    double *waiting_bytes; /**< [n_queues]: in the queue */
    uint64_t *n_queued;    /**< [n_queues]: cells that came to the queue */
    bool *marked;          /**< of each cell */
    size_t marked_capacity;
    struct fab_spray_state *spray; /**< NULL: flows have a path each */
} fab_lossless_state;

/**
 * Everything but the first cell. Release with fab_lossless_close(), also after an error.
 * @retval FAB_EINPUT  sizes or thresholds that make no sense
 */
FAB_STATUS fab_lossless_open(fab_lossless_state *state, fab_error *err);
void fab_lossless_close(fab_lossless_state *state);

/** Bytes that a flow puts on the wire; of a path, its part of them. */
double fab_wire_bytes(const fab_lossless_state *state, uint32_t flow);
/** Links of a flow that take time. */
uint64_t fab_n_links_of(const fab_lossless_phase *phase, uint32_t flow);
/** Cells of a flow, or of a sender that has n_paths paths alike, each of *out_bytes; adds them to those of the phase.
 */
uint32_t fab_count_cells(const fab_lossless_state *state, uint32_t flow, double n_paths, double *out_bytes);
/** [n_links]: what a byte takes, with what acknowledgements leave of the rate, by the bytes that a link carries of
 * either. */
FAB_STATUS fab_link_times(const fab_lossless_state *state, double *s_per_byte, fab_error *err);
