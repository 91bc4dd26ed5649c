/**
 * The least maximum utilisation of network links that any splitting of a demand over minimal paths can reach: exact
 * where small, else between a routing and a certificate.
 */
#pragma once

#include "fab/split.h"

typedef enum fab_bound_method {
    FAB_BOUND_TRIVIAL, /**< no demand crosses a fabric link */
    FAB_BOUND_SPRAY,   /**< exact: splitting evenly meets its certificate */
    FAB_BOUND_LP,      /**< exact: simplex */
    FAB_BOUND_WEIGHTS, /**< multiplicative weights */
} fab_bound_method;

extern const char *const fab_bound_method_names[]; /**< "none", "spray", "lp", "weights" */

/**
 * Utilisation of a link = offered rate over it / its capacity.
 *
 * The certificate: with lengths y >= 0 on fabric links, every routing over minimal paths has
 *     max utilisation >= sum over pairs of rate * (least sum of y along a minimal path) / sum over links of y *
 * capacity so that anybody who can find shortest paths can check `lower`.
 */
typedef struct fab_bound {
    fab_bound_method method;
    double upper;   /**< largest utilisation of a fabric link under `split` */
    double lower;   /**< certified: no minimal routing has less on its fullest fabric link; <= upper */
    double segment; /**< largest utilisation of a NIC - switch link, the same under every routing */
    fab_split *split;
    double *length;         /**< shape [n_links]: y, 0 off fabric links */
    uint64_t rounds;        /**< splits that were tried, the even one included */
    uint64_t columns, rows; /**< of the linear program; 0 where another method was used */
} fab_bound;

/** Columns up to which the linear program is solved exactly; above it the approximation takes over. GLPK's simplex
 * takes up to about a second for so many (src/doc/adr/0019-certified-optimum.md). */
#define FAB_BOUND_LP_COLUMNS 8000

/** Shares, leaves x links, up to which it is: 256 MiB. */
#define FAB_BOUND_LP_SHARES ((size_t)1 << 25)

/** Largest gap upper / lower - 1 of the approximation. */
#define FAB_BOUND_GAP 0.01

/** Gap within which a result counts as exact: what rounding leaves. */
#define FAB_BOUND_EXACT 1e-9

/**
 * @param[in] dag     Of this fabric and these next hops.
 * @param[in] method  FAB_BOUND_LP or FAB_BOUND_WEIGHTS to insist on one. FAB_BOUND_TRIVIAL: what fits; splitting
 *                    evenly, the linear program if it is small and the solver does not give up, the approximation.
 * @param[out] out    Written on success only; release with fab_bound_release().
 * @retval FAB_EINPUT        another method
 * @retval FAB_EUNREACHABLE  a demand has no route
 * @retval FAB_EUNSUPPORTED  FAB_BOUND_LP, and its shares would not fit into memory
 * @retval FAB_ENOSOLUTION   the gap stayed above FAB_BOUND_GAP, or the program that was insisted on above
 *                           FAB_BOUND_EXACT; the message says where it stopped
 * Complexity: of a round, that of fab_split_load(); some 5 of them where cuts decide, hundreds on a broken torus.
 * Source: maximum-entropy routing, solved by its dual; see src/doc/adr/0019-certified-optimum.md.
 */
FAB_STATUS fab_bound_find(const fab_fabric *fabric, const fab_dag *dag, const fab_next_hops *next_hops,
                          const fab_demand *demand, fab_bound_method method, fab_bound *out, fab_error *err);
void fab_bound_release(fab_bound *bound);

/** What needs no search. */
typedef struct fab_cut_bounds {
    double by_tier[FAB_FABRIC_TIERS + 2]; /**< [t], t >= 2, of trees: no minimal routing offers less to the fullest link
                                             of that tier, as a utilisation */
    double least_s;                       /**< no routing at all carries the bytes in less */
} fab_cut_bounds;

/**
 * Cuts round whatever hangs together by links below a tier (leaves, then pods or groups), read off the graph: what must
 * leave or enter over the links of minimal paths, for least_s over all links. Where no cut explains the fullest links
 * of a tier, the load on them that has no other minimal path.
 * @param[in] even  Shape [n_links]: utilisation of splitting evenly.
 * Complexity: O(boundaries * (links + pairs)), and of tiers that no cut explains one fab_split_fold().
 */
FAB_STATUS fab_bound_cuts(const fab_fabric *fabric, const fab_dag *dag, const fab_next_hops *next_hops,
                          const fab_demand *demand, const double *even, fab_cut_bounds *out, fab_error *err);
