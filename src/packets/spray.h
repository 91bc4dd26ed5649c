/** Senders that spray packets over the paths of a flow, and slow down by what acknowledgements say. */
#pragma once

#include "lossless_run.h"

/** The paths of a flow that begin at one link, and what its sender knows. What every event reads of it comes first. */
typedef struct fab_spray_sender {
    uint32_t first, n;               /**< paths: member[first] ... */
    uint32_t next, round;            /**< place within a round over them */
    uint32_t shift;                  /**< where this round begins */
    uint32_t out;                    /**< cells sent and not answered */
    uint32_t left;                   /**< that have not been sent, or were trimmed */
    uint32_t missing;                /**< that have not arrived */
    double window_bytes;             /**< these may be under way; at least one cell */
    double last_s;                   /**< arrival of its cells, less the latency of their paths */
    double most_bytes;               /**< no window is larger */
    double calm_bytes;               /**< acknowledged since something waited longer than prompt_s */
    double rtt_s, target_s;          /**< without queues; queueing that is aimed at */
    double prompt_s;                 /**< queueing that is as good as none */
    double delay_s, weight;          /**< smoothed queueing, and what a cell counts in it */
    double proportional, fair, fast; /**< raises: bytes^2 per byte and second, bytes^2 per byte, a ratio */
    double cut_s;                    /**< when it was last cut */
    bool is_fast;
} fab_spray_sender;

/** What every hop of a cell asks of its sender: those of all senders fit into a cache. */
typedef struct fab_spray_origin {
    double bytes;  /**< of a cell, on the wire */
    uint32_t link; /**< where its paths begin */
} fab_spray_origin;

/** An event is all that is known of a cell: it waits in no list. */
typedef struct fab_spray_event {
    double at_s;
    uint32_t link; /**< whose queue it reaches, or which has sent, or of the sender that hears */
    uint32_t sender : 28, kind : 2, is_marked : 1, is_trimmed : 1;
    double waited_s; /**< in queues; while one with senders holds it, less the time when it came */
    uint32_t at;     /**< place in the list of links: of the queue it reaches; of one that was answered, of its path */
    float late_s;    /**< its last bit comes so much later than its first packet */
} fab_spray_event;

/** A cell that waits for a link at which senders begin. */
typedef struct fab_spray_cell {
    fab_spray_event it;
    uint32_t next; /**< in its queue, or among the free ones */
} fab_spray_cell;

/**
 * What every event reads of a link: one line of a cache. A queue without senders knows when each of its cells leaves as
 * soon as it comes, because nothing stops it: it holds what is sent until then.
 */
typedef struct fab_spray_port {
    double s_per_byte, latency_s;
    double free_s;       /**< when all that came has been sent; with senders, what is being sent */
    double room_bytes;   /**< of the egress queue; INFINITY: no switch's */
    double held_bytes;   /**< with senders: by cells that wait */
    uint32_t head, tail; /**< with senders: cells, or FAB_NO_CELL */
    uint32_t n_unsent;   /**< with senders: their cells */
    uint32_t n_drawn;    /**< cells of which it was drawn whether they are marked */
    bool has_senders, is_awaited, turn_of_sender;
} fab_spray_port;

/** What is there beside a fab_lossless_state, whose flows are paths, and whose turns and sources are of senders. */
typedef struct fab_spray_state {
    uint32_t *member; /**< [n_flows]: paths by sender */
    fab_spray_sender *senders;
    fab_spray_origin *origin; /**< [n_senders] */
    size_t senders_capacity, origin_capacity;
    uint32_t n_senders;
    uint64_t n_hops; /**< links of all paths */
    double rtt_s;    /**< over the longest path, without queues */
    uint32_t *place; /**< [n_flows], as what follows of packets one by one: where the links of member[i] begin, in a
                        list of them; behind each stand FAB_NO_LINK, its i and its latency */
    uint8_t *skips;  /**< [n_flows]: how often a path is passed over yet */
    void *ports_room;
    fab_spray_port *ports; /**< [n_links], in it, a line of a cache each */
    fab_spray_cell *cells;
    size_t n_cells, cells_capacity;
    uint32_t free_cell;
    bool in_steps; /**< there are too many packets */
} fab_spray_state;

#define FAB_SPRAY_SENDERS (UINT32_C(1) << 28)

/** Senders and their windows; where packets are few enough to move one by one, what that needs. */
FAB_STATUS fab_spray_open(fab_lossless_state *state, fab_error *err);
/** The next link of a path that takes time, from p->link[*at] on; FAB_NO_LINK: there is none. */
static inline uint32_t fab_spray_next(const fab_lossless_phase *p, uint32_t path, uint64_t *at) {
    while (*at < p->first[path + 1] && isinf(p->capacity[p->link[*at]])) {
        ++*at;
    }
    return *at < p->first[path + 1] ? p->link[(*at)++] : FAB_NO_LINK;
}
/** A switch's queue holds a product of its link, or what it is said to. */
double fab_spray_room(const fab_lossless_state *state, uint32_t link);
void fab_spray_close(fab_spray_state *spray);
/** Moves all packets, each by itself. */
FAB_STATUS fab_spray_events(fab_lossless_state *state, fab_error *err);
/** All senders step by step: takes as long for large flows as for small ones. */
FAB_STATUS fab_spray_steps(fab_lossless_state *state, fab_error *err);

/** What a cut leaves of a window. */
double fab_spray_cut(const fab_spray_sender *sender);
/** How likely a packet is marked that finds so much in a queue: not a probability beyond 1. */
double fab_spray_marks(double held_bytes, double room_bytes);
