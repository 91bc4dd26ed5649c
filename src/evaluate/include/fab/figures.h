/**
 * @file figures.h
 * What one draw of a phase under an engine comes to.
 */
#ifndef FAB_FIGURES_H
#define FAB_FIGURES_H

/** Figures of a draw. */
typedef struct fab_figures {
    double collided_links, collided_flows, max_collision, mean_collision, max_taper, max_hash, max_utilisation,
        effective_bisection, busiest_link_s, gap, throughput;
    double least_s;                         /**< no routing carries the phase in less */
    double min_rate, mean_rate, transfer_s; /**< NAN where they are not known */
} fab_figures;

#endif
