/** What a design says of its fabric, as plain values. */
#pragma once

#include "fab/sizes.h"

#include <stdbool.h>

/** Where leaf switches stand; auto: in the rack where all NICs of a server share a leaf, else in the row. */
typedef enum fab_leaf_at { FAB_LEAF_AUTO, FAB_LEAF_IN_RACK, FAB_LEAF_IN_ROW, FAB_LEAF_IN_HALL } fab_leaf_at;

/** Whose scale-up domain relays traffic between rails. */
typedef enum fab_forward_at { FAB_FORWARD_AT_SOURCE, FAB_FORWARD_AT_DESTINATION } fab_forward_at;

/** How it does: as the bytes come, or once all are there (store and forward). */
typedef enum fab_forwarding { FAB_FORWARDING_PIPELINED, FAB_FORWARDING_SEQUENTIAL } fab_forwarding;

/** What collectives may leave to the network: switch = its switches add up what they are sent. */
typedef enum fab_reduction { FAB_REDUCTION_NONE, FAB_REDUCTION_IN_SWITCH } fab_reduction;

/** How the servers of an installed fabric are numbered. */
typedef enum fab_host_order { FAB_HOSTS_BY_NAME, FAB_HOSTS_BY_LEAF } fab_host_order;

/** A general fat-tree XGFT(h; m1..mh; w1..wh), with p1..ph parallel cables [Ohring et al., IPPS 1995]. From index 1.
 * Written "h;m1,...,mh;w1,...,wh" with an optional ";p1,...,ph" (default 1). */
typedef struct fab_xgft {
    uint32_t height; /**< 0: not given */
    uint64_t m[FAB_MAX_TIERS + 1], w[FAB_MAX_TIERS + 1], p[FAB_MAX_TIERS + 1];
    uint64_t ports; /**< product of m: NIC ports */
} fab_xgft;

/** A dragonfly [Kim et al., ISCA 2008]: groups of switches, all joined inside a group, and every group to every other.
 * Written "p,a,h", with an optional number of groups (default a h + 1) and of parallel local cables (default 1). */
typedef struct fab_dragonfly {
    uint64_t p, a;  /**< NICs of a switch, 0: not given; switches of a group */
    uint64_t h, g;  /**< global cables of a switch; groups: at most a h + 1 */
    uint64_t trunk; /**< parallel cables between two switches of a group */
} fab_dragonfly;

#define FAB_MAX_DIMENSIONS 6

/** A torus, written as its sizes: "4,4,8". */
typedef struct fab_torus {
    uint32_t n_dimensions; /**< 0: not given */
    uint64_t size[FAB_MAX_DIMENSIONS];
    uint64_t switches; /**< product of the sizes */
} fab_torus;

/** One switch tier; index 0 is the leaf tier. */
typedef struct fab_tier_spec {
    uint64_t radix;       /**< physical ports of one switch */
    double port_bps;      /**< rate of one physical port; 0 = so that a cable below runs at the rate of a NIC port */
    uint64_t down;        /**< most cables below one switch; 0 = what the taper leaves room for */
    uint64_t breakout;    /**< cables below that one port serves, >= 1 */
    uint64_t breakout_up; /**< cables above that one port serves; 0 = as below */
    double taper;         /**< upper bound of capacity down / capacity up of one switch; unused in the top tier */
    double length_m;      /**< cable length below this tier: tier 1 = NIC to leaf, tier 2 = leaf to spine, ...;
                             0 = that of the floor plan, see fab_tier_length_m() */
    double latency_s;     /**< forwarding latency of one switch */
} fab_tier_spec;

/** Whether cables are as long as the floor plan demands, or as their tier says; auto: as the tier where it does. */
typedef enum fab_lengths { FAB_LENGTHS_AUTO, FAB_LENGTHS_OF_PLAN, FAB_LENGTHS_OF_TIER } fab_lengths;

/** Where racks stand; decides the lengths of the cables. Defaults that are not derived stand in fields.c. */
typedef struct fab_floor_spec {
    bool given;      /**< false: there are no racks (front-ends; installed fabrics that say none) */
    bool is_assumed; /**< the design says nothing of it */
    fab_lengths lengths;
    double server_w;           /**< power of one server, resolved */
    bool server_w_given;       /**< else it is that of its GPUs and what an H100's server adds to each */
    bool is_power_assumed;     /**< that of the GPUs is not published: they are taken to draw what an H100 does */
    double rack_w, hall_w;     /**< most power of the servers of a rack and of a hall; 0 = no limit */
    uint64_t servers_per_rack; /**< resolved: of the fullest rack */
    bool servers_per_rack_given;
    uint64_t racks;             /**< of servers, filled evenly; 0 = as many as servers_per_rack makes */
    bool limits_racks;          /**< power of a rack or number of racks is given */
    uint64_t racks_per_row;     /**< racks of servers */
    uint64_t switches_per_rack; /**< of a network rack */
    double rack_pitch_m, row_pitch_m, hall_distance_m;
    double slack_m; /**< per end of a cable */
    fab_leaf_at leaf_at;
    char rack_where[FAB_WHERE_SIZE], hall_where[FAB_WHERE_SIZE]; /**< of the limits, for errors */
} fab_floor_spec;

/** How flows that share a queue hold each other up. */
typedef enum fab_transport {
    FAB_TRANSPORT_FLUID,    /**< not at all: max-min fair rates */
    FAB_TRANSPORT_PFC,      /**< lossless queues: priority flow control, or credits */
    FAB_TRANSPORT_DCQCN,    /**< the same, and senders that are told of marks */
    FAB_TRANSPORT_SPRAY_ACK /**< queues that trim, and senders that spray packets over the paths of a flow */
} fab_transport;

typedef enum fab_balancing { FAB_BALANCING_BITMAP, FAB_BALANCING_OBLIVIOUS } fab_balancing;

/** Which flows have a priority of their own: none, those of a job, of a communicator, to a receiver. */
typedef enum fab_priority {
    FAB_PRIORITY_SHARED,
    FAB_PRIORITY_JOB,
    FAB_PRIORITY_COMMUNICATOR,
    FAB_PRIORITY_RECEIVER
} fab_priority;

/** Whose headers and acknowledgements packets have. */
typedef enum fab_wire {
    FAB_WIRE_SIMULATOR,
    FAB_WIRE_ROCEV2,
    FAB_WIRE_INFINIBAND,
    FAB_WIRE_UEC,
    FAB_WIRE_BARE
} fab_wire;

/** What else counts under a transport of packets. */
typedef struct fab_transport_spec {
    fab_transport kind;
    fab_wire wire;
    double mtu_bytes, header_bytes, ack_bytes; /**< headers and acknowledgements: 0 = those of the wire */
    double buffer_bytes;                       /**< of a switch; 0 = enough */
    double buffer_alpha;                       /**< part of what is free of it that a port may hold; 0 = xoff */
    fab_priority priority;
    uint64_t priorities;          /**< that there are, where some have their own */
    double xoff_bytes, xon_bytes; /**< xon 0 = four fifths of xoff */
    double nic_latency_s;         /**< both NICs together, per step; 0 = auto */
    double kmin_bytes, kmax_bytes, pmax, gain, notify_s, alpha_s, raise_s, raise_bytes, additive_bps, hyper_bps,
        least_bps;
    uint64_t recovery; /**< these of DCQCN, see fab/lossless.h */
    uint64_t entropies;
    fab_balancing balancing;
    double queue_bytes; /**< these of spray-ack; 0 = a bandwidth-delay product */
} fab_transport_spec;

/** Ports of the smallest switch that has so many: of 8, 16, 32 ... 512. */
static inline uint64_t fab_sold_radix(uint64_t n_ports) {
    uint64_t radix = 8;
    while (radix < 512 && radix < n_ports) {
        radix *= 2;
    }
    return radix;
}

/** What the file of an installed fabric leaves open, so that it is assumed. */
typedef struct fab_gaps {
    bool cables; /**< it tells who is below whom, and no cables */
    bool hosts, lengths;
    uint64_t rates; /**< cables without one */
    uint64_t ports; /**< switches that do not say how many they have, nor does the design (radix) */
} fab_gaps;

/** Whether a subnet manager of InfiniBand routes: by tables of destinations, without a hash. */
typedef enum fab_subnet {
    FAB_SUBNET_NONE,
    FAB_SUBNET_TREE,
    FAB_SUBNET_GRAPH, /**< cables between switches that are no tree */
} fab_subnet;

/** The engine of a design that names none. OpenSM's default, min hop, takes a shortest path for each destination and
 * deals destinations out over equal ones [linux-rdma/opensm, doc/current-routing.txt]: in a tree as dmodk. Where there
 * is none its shortest paths may deadlock, and updn is what that text advises. */
static inline const char *fab_default_engine(fab_subnet subnet) {
    return subnet == FAB_SUBNET_NONE ? "ecmp" : subnet == FAB_SUBNET_TREE ? "dmodk" : "updn";
}

/** Whose software and NICs the hosts have. */
typedef enum fab_host_kind {
    FAB_HOST_IDEAL,
    FAB_HOST_NCCL_EFA_H100,
    FAB_HOST_NCCL_EFA_B200,
    FAB_HOST_NCCL_ROCE_H200,
    FAB_HOST_NCCL /**< that of the GPU of the first job */
} fab_host_kind;

/** What else is given of them; 0 = that of the kind. */
typedef struct fab_host_spec {
    fab_host_kind kind;
    double call_s, step_s, message_s, slot_bytes, copy_bps, nic_part;
    char gpu[FAB_NAME_SIZE];       /**< of the first job; "": there is none */
    char other_gpu[FAB_NAME_SIZE]; /**< of a job whose servers would be others; "": there is none */
} fab_host_spec;

typedef struct fab_fabric_spec {
    char family[FAB_NAME_SIZE];
    uint64_t gpus; /**< 0 only where the family derives it (fat-tree with k) */
    uint64_t gpus_per_server, nics_per_server;
    double nic_bps;
    uint64_t domain;         /**< GPUs per scale-up domain */
    double domain_bps;       /**< per GPU and direction */
    bool domain_rate_given;  /**< else it is that of the first job's GPU */
    bool domain_rate_unlike; /**< it differs from that of the GPU: no default, whatever it is */
    double domain_latency_s; /**< GPU to GPU through the scale-up switch */
    double pcie_bps;         /**< GPU to NIC, per direction; 0 = not a limit (as fast as the NICs behind it) */
    uint64_t tiers;          /**< 0 = the smallest number that suffices */
    uint64_t pod;            /**< GPUs per pod; 0 = what the radix of one spine allows */
    uint64_t planes, spares;
    bool full_spares;          /**< spares get the uplinks of the taper too, whatever it takes */
    uint64_t storage;          /**< front-end only: storage servers, with as many NICs as a server has there */
    uint64_t rails_per_switch; /**< rail-only: 0 = as many as fit a single switch */
    fab_forward_at forward;    /**< rail-only */
    fab_forwarding forwarding; /**< rail-only */
    fab_reduction reduction;
    uint64_t k; /**< fat-tree arity, 0 = not given */
    fab_xgft xgft;
    fab_dragonfly dragonfly;
    fab_torus torus;
    char file[FAB_FILE_SIZE];   /**< installed: what is installed, from the folder of the program */
    char format[FAB_FILE_SIZE]; /**< installed: of the file, with keys; empty = recognised by content */
    char digest[24];            /**< installed: of the bytes of the file; filled in, or what they have to be */
    fab_host_order host_order;  /**< installed */
    uint64_t hosts_per_switch;  /**< installed: to add to a file without hosts */
    fab_gaps gaps;              /**< installed: derived */
    fab_subnet subnet;          /**< derived: of the file that is installed, or of wire=infiniband */
    uint64_t cables;            /**< installed: between two switches of a file without cables; 0 = 1 */
    bool radix_given;           /**< else a torus, a dragonfly or what is installed takes fab_sold_radix() */
    fab_tier_spec tier[FAB_MAX_TIERS];
    fab_floor_spec floor;
    fab_transport_spec transport;
    fab_host_spec host;
    uint64_t max_bytes;         /**< memory that may be taken; 0 = no limit. The caller's, no part of a design */
    char where[FAB_WHERE_SIZE]; /**< file:line:column of the element, for errors */
} fab_fabric_spec;

/** Length of the cables below a tier that no floor plan decides: what is given, else 3, 30 and 100 m (assumed). */
static inline double fab_tier_length_m(const fab_fabric_spec *spec, uint32_t boundary) {
    double given_m = spec->tier[boundary - 1].length_m;
    return given_m > 0 ? given_m : boundary == 1 ? 3 : boundary == 2 ? 30 : 100;
}

/** Whether the floor plan decides the lengths of these cables. */
static inline bool fab_floor_decides(const fab_fabric_spec *spec, uint32_t boundary) {
    const fab_floor_spec *floor = &spec->floor;
    return floor->given && (floor->lengths == FAB_LENGTHS_OF_PLAN ||
                            (floor->lengths == FAB_LENGTHS_AUTO && spec->tier[boundary - 1].length_m == 0));
}

/** Whether the design says where racks stand: only then do they have names, and can fail. */
static inline bool fab_floor_is_said(const fab_fabric_spec *spec) {
    return spec->floor.given && !spec->floor.is_assumed;
}
