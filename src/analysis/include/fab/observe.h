/** Two snapshots of counters laid over what a job should put on the links. See src/doc/adr/0087-observe.md. */
#pragma once

#include "fab/context.h"
#include "fab/counters.h"

#define FAB_OBSERVE_LEAST  0.01 /**< a smaller deviation is no finding, however sure it is */
#define FAB_OBSERVE_ALPHA  0.01 /**< probability that a pair without faults has any finding, noise being normal */
#define FAB_OBSERVE_EXCESS 0.10 /**< a link that carries so much more than it should is a finding */
#define FAB_OBSERVE_OTHERS 8    /* links beside a suspect that are kept */
#define FAB_OBSERVE_MOST   64   /**< suspects that are kept */

typedef enum fab_suspect_kind {
    FAB_SUSPECT_HOST,   /**< all adapters of a host have sent less than their peers */
    FAB_SUSPECT_LINK,   /**< a link has carried less than it should */
    FAB_SUSPECT_MORE,   /**< a link has carried more than it should, beyond what hashing explains */
    FAB_SUSPECT_ENDS,   /**< what one end has sent the other has not received */
    FAB_SUSPECT_ERRORS, /**< counters of errors have moved */
    FAB_SUSPECT_RANK,   /**< others wait for a rank, as flight recorders say */
    FAB_SUSPECT_STUCK,  /**< a rank has not entered a collective that others wait in */
    FAB_SUSPECT_N
} fab_suspect_kind;

extern const char *const fab_suspect_kinds[FAB_SUSPECT_N]; /**< "late-host", "slow-link", ... */

typedef struct fab_suspect {
    fab_suspect_kind kind;
    fab_link_id link;  /**< FAB_NONE of a host or rank */
    uint32_t server;   /**< FAB_NONE of a link */
    uint32_t cables;   /**< that deviate */
    double deviation;  /**< of what it has carried from what it should, -0.05: 5 % less; of errors 0 where it is none;
                          of unequal ends what one has received from what was sent, -1 where one stands still */
    double score;      /**< deviation over the spread of its peers */
    double job_ratio;  /**< part of the job's bytes between switches and adapters that crosses it */
    uint64_t errors;   /**< of all counters of errors, at both ends */
    double wait_ratio; /**< what waited there over the median of its peers; NAN: not known */
    uint32_t as_good;  /**< other links that the counters fit as well, being on the same paths */
    fab_link_id others[FAB_OBSERVE_OTHERS]; /**< the first of them */
    char name[FAB_LINK_NAME_SIZE];
    char ranks[64]; /**< "8-15": that run on the host, or behind the link of an adapter; empty: not known */
    char evidence[768];
} fab_suspect;

/** A directed link between switches or to an adapter. */
typedef struct fab_observed_link {
    fab_link_id link;
    double measured_bytes;  /**< in the interval, both ends together; NAN: neither end has it */
    double predicted_bytes; /**< in so many iterations as fit the measured; NAN: no draw fits, so nothing is known */
    double deviation;       /**< measured over predicted, minus 1; NAN: not known */
} fab_observed_link;

/** Links of a boundary in one direction. */
typedef struct fab_observed_boundary {
    uint32_t tier;
    bool up;
    uint64_t links, measured;
    double measured_imbalance;      /**< largest over mean */
    double predicted_imbalance;     /**< the same of the first draw */
    double drawn_least, drawn_most; /**< over the draws */
    double spread;                  /**< of deviations, robust; NAN: links cannot be judged one by one */
    bool is_explained;              /**< the measured imbalance is neither above nor below what is drawn */
} fab_observed_boundary;

typedef struct fab_observed {
    const char *before, *after, *format; /**< borrowed */
    char engine[FAB_ENGINE_LABEL_SIZE];
    uint64_t ports, unknown_ports; /**< of the second snapshot; those that no port of the fabric is */
    uint64_t lost_ports;           /**< that one snapshot alone has */
    uint64_t reset_ports;          /**< whose counters were cleared between: left out */
    uint64_t wrapped_ports;        /**< whose counters of 64 bits have wrapped: counted on */
    uint64_t stuck_ports;          /**< whose counters of 32 bits stand at their end: left out */
    uint64_t still_ports;          /**< that count nothing of what the other end of their cable does: left out */
    char first_unknown[160], first_reset[160], first_still[160];
    double interval_s;  /**< median over the ports; NAN: not known */
    double iterations;  /**< that the bytes come to */
    double iteration_s; /**< interval over iterations; NAN: not known */
    uint64_t links, measured_links, two_ended_links;
    uint64_t draws;
    uint64_t fitting_draw; /**< whose loads are those measured, from 0 */
    bool fits;             /**< some draw does: links between switches are judged one by one */
    double fitting_ratio;  /**< part of the links between switches that are as the best draw has them */
    double read_skew;      /**< spread of the times at which boxes were read, over the interval; NAN: not known */
    double least_link, least_host;    /**< smallest deviation that this pair can show */
    uint64_t judged_links, off_links; /**< those known one by one; those of them that deviate and no suspect explains */
    uint64_t unpredicted_links;       /**< that carry what the job does not explain */
    uint64_t untraced_phases; /**< whose flows were not followed between switches, of n_phases; 0: no suspects */
    uint64_t phases;
    fab_observed_boundary *boundaries;
    uint32_t n_boundaries;
    fab_observed_link *loads;
    uint32_t n_loads;
    fab_suspect *suspects;       /**< most certain first */
    uint32_t n_suspects, n_more; /**< n_more: beyond those that are kept */
} fab_observed;

typedef struct fab_observe_request {
    const fab_context *context; /**< its first engine counts */
    const fab_counters *before; /**< NULL: counters were cleared before the second snapshot */
    const fab_counters *after;
    const char *before_path, *after_path; /**< for messages; borrowed by the result */
    uint64_t n_draws;                     /**< of an engine that draws */
    double interval_s;                    /**< NAN: as the snapshots say */
    size_t n_threads;
} fab_observe_request;

/**
 * Finds what deviates between what a job should have put on every link and what ports have counted.
 * @param[out] out  Release with fab_observed_free(). Written on success only.
 * @retval FAB_EINPUT        no port of the snapshots is one of the fabric, or nothing was sent
 * @retval FAB_EUNSUPPORTED  the phases are ways to do the same
 * Complexity: O(draws * evaluation of the job + links log(links) + suspects * length of all routes).
 */
FAB_STATUS fab_observe(const fab_observe_request *request, fab_observed **out, fab_error *err);
void fab_observed_free(fab_observed *observed);
FAB_OWNER(fab_observed, fab_observed_free)
