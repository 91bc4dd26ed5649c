/**
 * Transfers over lossless queues: priority flow control of RoCE, or credits of InfiniBand. See
 * src/doc/adr/0067-lossless-queues.md.
 */
#pragma once

#include "fab/base.h"

#define FAB_NO_LINK        UINT32_MAX
#define FAB_DEADLOCK_SHOWN 8

/** Rates of senders by DCQCN; the names in brackets are those of Zhu et al., SIGCOMM 2015. */
typedef struct fab_dcqcn {
    double kmin_bytes, kmax_bytes,
        pmax;        /**< marks: none at or below kmin, pmax at kmax, all beyond (Kmin, Kmax, Pmax) */
    double notify_s; /**< a receiver tells a sender no more often (N) */
    double gain;     /**< of alpha, (0, 1) (g) */
    double alpha_s, raise_s, raise_bytes; /**< timer of alpha (K), timer and byte counter of the rate (T, B); > 0 */
    double additive_bps, hyper_bps;       /**< (R_AI, R_HAI); 0: a thousandth and a hundredth of a flow's first link */
    double least_bps;                     /**< no rate falls lower; 0: a thousandth */
    uint32_t recovery;                    /**< steps of fast recovery (F) */
} fab_dcqcn;

/** Senders that spray: window, marks and cuts are those of src/doc/adr/0074-sprayed-packets.md. */
typedef struct fab_spray {
    double queue_bytes; /**< of a switch's egress port; what comes when it is full is trimmed. 0: a bandwidth-delay
                           product */
    bool skips;         /**< a path that marked or trimmed a packet is passed over once; else all in turn */
} fab_spray;

/** What travels with the payload, and when an ingress port stops its sender. */
typedef struct fab_lossless {
    double mtu_bytes;       /**< payload of a full packet, > 0 */
    double header_bytes;    /**< of every packet, on the wire */
    double ack_bytes;       /**< sent back for every packet, over the links of its path the other way; 0: none */
    double xoff_bytes;      /**< an ingress port that holds more stops its sender */
    double xon_bytes;       /**< and lets it go on when it holds no more than this; below xoff_bytes */
    uint32_t n_classes;     /**< traffic classes: each has its queue at every port and is stopped alone; 0 as 1 */
    double alpha;           /**< > 0: an ingress port may hold alpha times what is left of its pool, in place of
                               xoff_bytes; xon in proportion */
    bool adapts;            /**< a switch sends a packet to the shortest queue that lies on a path of its flow */
    double packet_links;    /**< packets times links that are simulated one by one; of more, cells; 0: 2
                               million, 4 where flows have several paths, 8 with dcqcn */
    const fab_dcqcn *dcqcn; /**< NULL: senders send as their links let them */
    const fab_spray *spray; /**< not NULL: no port stops its sender, and flows are sprayed over their paths */
} fab_lossless;

/** Flows over directed links, by numbers alone; l ^ 1 is link l the other way. All begin at 0. */
typedef struct fab_lossless_phase {
    uint32_t n_flows, n_links;
    const double *capacity;  /**< shape [n_links]: bit/s, > 0; INFINITY: a link that takes no time and has no queue */
    const double *latency_s; /**< shape [n_links]: from the first bit sent to the first bit at the next queue */
    const uint64_t *first; /**< shape [n_flows + 1]: flow f takes link[first[f]] ... link[first[f + 1] - 1], in order */
    const uint32_t *link;  /**< shape [first[n_flows]] */
    const double *bits;    /**< shape [n_flows]: payload, not below 0 */
    const bool *marks;     /**< shape [n_links]: the queue is a switch's, which marks packets; NULL: all are */
    uint64_t seed;         /**< of which packets are marked */
    const uint8_t *class_of; /**< shape [n_flows], below n_classes; NULL: all are of class 0 */
    const uint32_t *pool;    /**< with alpha, shape [n_links]: of the ingress port at the end of a link; FAB_NO_LINK: it
                                has xoff_bytes */
    const double *pool_bytes; /**< with alpha, shape [n_pools]: what ports share, without headroom */
    uint32_t n_pools;
    uint32_t n_sprayed; /**< flows of which the flows above are paths; 0: each is one, as without spray */
    const uint32_t
        *sprayed; /**< shape [n_sprayed + 1]: k takes paths sprayed[k] ... sprayed[k + 1] - 1, with the same
                     bits each; with spray, or where switches choose, all of them end with the last byte of k */
} fab_lossless_phase;

/** What came of it; arrays are the caller's. */
typedef struct fab_lossless_result {
    double *finish_s; /**< shape [n_flows]: last bit received, less the latency of the flow's own links */
    double *paused_s; /**< shape [n_links]: how long the link was stopped, of its classes the one that was longest;
                         NULL: not wanted, as the next two */
    double *busy_s;   /**< shape [n_links]: how long it sent */
    uint32_t *cause;  /**< shape [n_links]: queue that held what the link was stopped for, most of the time; FAB_NO_LINK
                         where the link was never stopped */
    double cell_bytes; /**< what moves as one, on the wire; a packet where they are few enough */
    uint64_t n_cells;  /**< cells times links */
    uint64_t n_pauses;
    uint64_t n_notices;                    /**< that told senders to slow down; with spray, marked packets */
    uint64_t n_trims;                      /**< packets that found a queue full and were sent again */
    uint32_t deadlock[FAB_DEADLOCK_SHOWN]; /**< first links of a circle of stopped ones: each waits for the next */
    uint32_t n_deadlock;                   /**< links of the circle; 0: everything arrived */
} fab_lossless_result;

/** Bytes that a run takes, as far as sizes tell: cells wait in queues, of which thresholds leave few; of n_senders
 * whole windows, where they spray. */
double fab_lossless_bytes(const fab_lossless *transport, double n_flows, double n_links, double n_flow_links,
                          double n_senders);

/**
 * With spray: no port stops its sender. A cell that comes to a full queue is trimmed, and its sender hears of it as of
 * an acknowledgement, the latency of the rest of the path and of the way back later. A sender keeps a window of cells
 * that it has not heard of; it takes the next of its paths for each. Cells are packets; of more than packet_links
 * times links there are none, but steps of all senders together. See src/doc/adr/0074-sprayed-packets.md and 0095.
 *
 * Without: cells leave their NIC in turn, flow by flow, and queue first in, first out at every egress port. Of the
 * cells that came in by a link and have not left the switch, the ingress port counts the bytes: above xoff the sender
 * stops after the cell that it is sending, at or below xon it goes on, each a latency later. The head of a cell goes on
 * when one packet of it is there.
 *
 * A cell is a packet while that makes at most packet_links cells times links, else as large as gives 48 of them
 * to a mean flow (64 with DCQCN), or 48 / sqrt(n) to each of n paths, and thresholds are then at least three cells.
 * Acknowledgements take their part of the links' rates. Where switches choose, a flow is one sender for all of its
 * paths that begin with the same link; a cell that comes to a switch joins the shortest queue, by bytes that wait or
 * are being sent, of those that its flow's paths with the same links so far go on with; the paths take turns at being
 * looked at first. Of several classes each has its queue, its count and its stops; those that have a cell and may send
 * it take turns at a link. With pools, whether a port asks to stop or to go on is looked at when a cell comes by it,
 * and when one has left. With DCQCN a cell is marked by the bytes that wait in the egress queue of a switch when it
 * comes, each of its packets by itself; its receiver tells the sender, over links that are free for it; a flow's next
 * cell leaves no sooner than its rate, as it changes, has let the last one through. Of cells of several packets kmin is
 * at least one, kmax at least four.
 * @retval FAB_EINPUT  a latency or size that is below 0, xon not below xoff
 * Deterministic: events at the same instant in the order in which they were caused. A deadlock is no error: finish_s of
 * what never arrives is INFINITY.
 * Complexity: O(cells * links of a path).
 */
FAB_STATUS fab_lossless_run(const fab_lossless *transport, const fab_lossless_phase *phase, fab_lossless_result *out,
                            fab_error *err);
