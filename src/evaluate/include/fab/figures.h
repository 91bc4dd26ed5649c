/** What one draw of a phase under an engine comes to. */
#pragma once

/** Figures of a draw. */
typedef struct fab_figures {
    double collided_links, collided_flows, max_collision, mean_collision, max_taper, max_hash, max_utilisation,
        effective_bisection, busiest_link_s, gap, throughput;
    double least_s;                         /**< no routing carries the phase in less */
    double min_rate, mean_rate, transfer_s; /**< NAN where they are not known */
    double deadlocks;                       /**< 1: queues that stop each other for ever; transfer_s is not known */
    double shortest_s, longest_s;           /**< between which transfer_s lies that is an estimate; 0: it is none */
    double fluid_s;                         /**< what transfer_s would be under transport fluid; 0 where it is that */
} fab_figures;
