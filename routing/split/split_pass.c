/* Passes over the shortest paths of 64 destinations.
 *
 * A row has a value per destination. Everything is done leaf by leaf, and sums over leaves have a fixed order, so that
 * the result does not depend on how wide the machine's vectors are. A switch that holds little is treated leaf by leaf.
 *
 * Weighted rules. Of what switch v holds, next hop i gets m(i) / sum of m, m(i) = min(capacity, portion * W(head)) or
 * weight * Z(head). With q = held / sum of m a link carries the sum over leaves of q * m. Entries of a run have the
 * same heads: for every head, one loop over the entries finds their loads and what the head gets. */
#include "split_rows.h"

#include <float.h>

/* Z is kept in this range by scaling the switches at one distance from a destination together; among them it may not
 * spread by more than the second. */
#define Z_NEAR_ONE 1e20
#define Z_SPREAD   1e-270
#define Z_LEAST    1e-280 /* before scaling: all digits of what adds up to it are there */

void fab_pass_mark(fab_pass *p) {
    const fab_dag *dag = p->dag;
    for (uint32_t run = dag->block_run[p->block + 1]; run-- > dag->block_run[p->block];) {
        hops h = hops_of(dag, run);
        uint64_t leaves = leaves_of(p, &h);
        for (uint32_t i = 0; leaves != 0 && i < h.n_kinds; i++) {
            p->active[h.head[i]] |= leaves;
        }
    }
}

/* --- W and Z ------------------------------------------------------------------------------------------------------ */

/* W of a run's entries, and whether its next hops are all alike. */
FAB_INLINE bool capacity_of(const fab_pass *p, const hops *h) {
    uint64_t leaves = leaves_of(p, h);
    double *sum = scratch(p, SUM);
    uint64_t differ = 0;
    if (fab_few(leaves)) {
        FAB_EACH_LEAF(k, leaves) {
            double first = measure(p, h, NULL, 0, k);
            sum[k] = 0;
            for (uint32_t i = 0; i < h->n; i++) {
                double m = measure(p, h, NULL, i, k);
                sum[k] += m;
                differ |= m != first;
            }
        }
    } else {
        double off[FAB_BLOCK_LEAVES] = {0};
        find_rows(p, h);
        memset(sum, 0, FAB_BLOCK_LEAVES * sizeof *sum);
        for (uint32_t i = 0; i < h->n; i++) {
            const double *restrict m = p->row[i];
            const double *restrict first = p->row[0];
            for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
                sum[k] += m[k];
                off[k] += m[k] != first[k] ? 1 : 0;
            }
        }
        FAB_EACH_LEAF(k, leaves) {
            differ |= off[k] != 0;
        }
    }
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        copy_leaves(part_of(p, e->v), sum, e->leaves & p->active[e->v]);
    }
    return differ == 0;
}

FAB_MULTIVERSION static void find_capacities(fab_pass *p) {
    const fab_dag *dag = p->dag;
    uint32_t first = dag->block_run[p->block];
    for (uint32_t run = first; run < dag->block_run[p->block + 1]; run++) {
        hops h = hops_of(dag, run);
        p->even[run - first] = capacity_of(p, &h);
    }
}

/* Widens the range in the rows LOW and HIGH. */
FAB_INLINE void widen(const fab_pass *p, const double *restrict row, uint64_t leaves) {
    double *restrict low = scratch(p, LOW);
    double *restrict high = scratch(p, HIGH);
    if (leaves == FAB_ALL_LEAVES) {
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            low[k] = row[k] < low[k] ? row[k] : low[k];
            high[k] = row[k] > high[k] ? row[k] : high[k];
        }
        return;
    }
    FAB_EACH_LEAF(k, leaves) {
        low[k] = row[k] < low[k] ? row[k] : low[k];
        high[k] = row[k] > high[k] ? row[k] : high[k];
    }
}

/* Z of a run's entries. */
FAB_INLINE void paths_of(const fab_pass *p, const hops *h) {
    double *sum = scratch(p, SUM);
    bool have_rows = false;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        uint64_t leaves = e->leaves & p->active[e->v];
        if (leaves == 0) {
            continue;
        }
        fab_next_hop_list next = fab_dag_links(p->dag, e);
        if (fab_few(leaves)) {
            FAB_EACH_LEAF(k, leaves) {
                sum[k] = 0;
                for (uint32_t i = 0; i < h->n; i++) {
                    sum[k] += measure(p, h, &next, i, k);
                }
            }
        } else {
            if (!have_rows) {
                find_rows(p, h);
                have_rows = true;
            }
            FAB_FILL(p->factor, filled_up(h->n), fab_at < h->n ? p->weight[fab_next_hop(&next, (uint32_t)fab_at)] : 0);
            combine(sum, p->row, p->factor, filled_up(h->n));
        }
        copy_leaves(part_of(p, e->v), sum, leaves);
        widen(p, sum, leaves);
    }
}

/* Multiplies Z of the entries of runs [first, last) by powers of two, the same for all switches at this distance from a
 * destination: what is farther away sees the same shares. Those at this distance itself are by Z before scaling. */
static void scale_level(const fab_pass *p, uint32_t first, uint32_t last) {
    const fab_dag *dag = p->dag;
    const double *high = scratch(p, HIGH);
    double *scale = scale_of(p, dag->run[first].level);
    FAB_FILL(scale, FAB_BLOCK_LEAVES, high[fab_at] > 0 ? ldexp(1, -ilogb(high[fab_at])) : 1);
    for (const fab_dag_entry *e = dag->entry + dag->run[first].first; e < dag->entry + dag->run[last].first; e++) {
        double *part = part_of(p, e->v);
        FAB_EACH_LEAF(k, e->leaves & p->active[e->v]) {
            part[k] *= scale[k];
        }
    }
}

/* Returns whether Z stays within its range. */
FAB_MULTIVERSION static bool find_paths(fab_pass *p) {
    const fab_dag *dag = p->dag;
    uint32_t last = dag->block_run[p->block + 1];
    for (uint32_t run = dag->block_run[p->block]; run < last;) {
        uint32_t first = run;
        double *low = scratch(p, LOW);
        double *high = scratch(p, HIGH);
        double *scale = scale_of(p, dag->run[run].level);
        bool far = false;
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            low[k] = DBL_MAX;
            high[k] = 0;
            scale[k] = 1;
        }
        for (; run < last && dag->run[run].level == dag->run[first].level; run++) {
            hops h = hops_of(dag, run);
            paths_of(p, &h);
        }
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            if (low[k] < high[k] * Z_SPREAD || low[k] < Z_LEAST) {
                return false;
            }
            far = far || high[k] > Z_NEAR_ONE || (high[k] > 0 && high[k] < 1 / Z_NEAR_ONE);
        }
        if (far) {
            scale_level(p, first, run);
        }
    }
    return true;
}

bool fab_pass_prepare(fab_pass *p) {
    const fab_dag *dag = p->dag;
    if (p->split->rule == FAB_SPLIT_EQUAL) {
        return true;
    }
    for (uint32_t k = 0; k < FAB_BLOCK_LEAVES && fab_first_leaf(p) + k < dag->n_leaves; k++) {
        part_of(p, dag->leaf[fab_first_leaf(p) + k])[k] = p->split->rule == FAB_SPLIT_CAPACITY ? DBL_MAX : 1;
    }
    if (p->split->rule == FAB_SPLIT_CAPACITY) {
        find_capacities(p);
        return true;
    }
    return find_paths(p);
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

/* Sum of what a run's entries hold, 0 in other leaves unless they are few; loads of their links. Returns the leaves. */
FAB_INLINE uint64_t sum_run(fab_pass *p, const hops *h, double *restrict sum) {
    uint64_t all = 0;
    bool cleared = false;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        uint64_t leaves = e->leaves & p->active[e->v];
        const double *restrict held = held_by(p, e->v);
        double total = 0;
        if (fab_few(leaves)) {
            FAB_EACH_LEAF(k, leaves) {
                total += held[k];
                sum[k] = ((all >> k & 1) != 0 ? sum[k] : 0) + held[k];
            }
        } else {
            if (!cleared) {
                clear_others(sum, all);
                cleared = true;
            }
            held = only(scratch(p, NEXT), held, leaves);
            total = sum_up(held);
            for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
                sum[k] += held[k];
            }
        }
        all |= leaves;
        p->group_load[e->group] += total / h->n;
    }
    if (!cleared && !fab_few(all)) {
        clear_others(sum, all);
    }
    return all;
}

FAB_INLINE void load_evenly(fab_pass *p, const hops *h) {
    double *sum = scratch(p, SUM);
    uint64_t all = sum_run(p, h, sum);
    if (all == 0 || h->level == 1) {
        return;
    }
    if (fab_few(all)) {
        FAB_EACH_LEAF(k, all) {
            sum[k] /= h->n_kinds;
        }
    } else {
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            sum[k] /= h->n_kinds;
        }
    }
    for (uint32_t i = 0; i < h->n_kinds; i++) {
        hold(held_by(p, h->head[i]), &p->active[h->head[i]], sum, all);
    }
}

/* A switch that holds little. */
FAB_INLINE void load_leaves(fab_pass *p, const hops *h, const fab_dag_entry *e, uint64_t leaves) {
    fab_next_hop_list next = fab_dag_links(p->dag, e);
    FAB_EACH_LEAF(k, leaves) {
        double q = held_by(p, e->v)[k] * scale_of(p, h->level)[k] / part_of(p, e->v)[k];
        for (uint32_t i = 0; i < h->n; i++) {
            uint32_t head = h->head[i];
            double amount = q * measure(p, h, &next, i, k);
            double *to = held_by(p, head);
            p->link_load[fab_next_hop(&next, i)] += amount;
            to[k] = (p->active[head] >> k & 1) != 0 ? to[k] + amount : amount;
            p->active[head] |= UINT64_C(1) << k;
        }
    }
}

/* Four entries at a time: adds factor * q to `gets`; sums[i] = sum over leaves of q * m. */
FAB_INLINE void multiply(double *restrict gets, const double *restrict q, const double *restrict m,
                         const double *restrict factor, double *restrict sums) {
    const double *restrict q0 = q;
    const double *restrict q1 = q + FAB_ROW;
    const double *restrict q2 = q1 + FAB_ROW;
    const double *restrict q3 = q2 + FAB_ROW;
    double s0[8] = {0};
    double s1[8] = {0};
    double s2[8] = {0};
    double s3[8] = {0};
    for (int k = 0; k < FAB_BLOCK_LEAVES; k += 8) {
        for (int j = 0; j < 8; j++) {
            gets[k + j] = (((gets[k + j] + factor[0] * q0[k + j]) + factor[1] * q1[k + j]) + factor[2] * q2[k + j]) +
                          factor[3] * q3[k + j];
            s0[j] += q0[k + j] * m[k + j];
            s1[j] += q1[k + j] * m[k + j];
            s2[j] += q2[k + j] * m[k + j];
            s3[j] += q3[k + j] * m[k + j];
        }
    }
    sums[0] = sum_eight(s0);
    sums[1] = sum_eight(s1);
    sums[2] = sum_eight(s2);
    sums[3] = sum_eight(s3);
}

/* Entries whose q stand in the slots, and next hop i of their run. `gets`: what its head gets, over m. */
FAB_INLINE void load_next_hop(fab_pass *p, const fab_next_hop_list *next, uint32_t n_slots, uint32_t i,
                              double *restrict gets) {
    const double *slots = scratch(p, HEADS + p->dag->widest + FAB_STEP);
    bool weighted = p->split->rule == FAB_SPLIT_WEIGHT;
    memset(gets, 0, FAB_BLOCK_LEAVES * sizeof *gets);
    for (uint32_t s = 0; s < n_slots; s += FAB_STEP) {
        double factor[FAB_STEP];
        double sums[FAB_STEP];
        for (uint32_t j = 0; j < FAB_STEP; j++) {
            factor[j] = weighted ? p->weight[fab_next_hop(&next[s + j], i)] : 1;
        }
        multiply(gets, slots + (size_t)s * FAB_ROW, p->row[i], factor, sums);
        for (uint32_t j = 0; j < FAB_STEP; j++) {
            p->link_load[fab_next_hop(&next[s + j], i)] += factor[j] * sums[j];
        }
    }
}

FAB_INLINE void load_slots(fab_pass *p, const hops *h, fab_next_hop_list *next, uint32_t n_slots, uint64_t leaves) {
    double *gets = scratch(p, SUM);
    double *slots = scratch(p, HEADS + p->dag->widest + FAB_STEP);
    for (; n_slots % FAB_STEP != 0; n_slots++) { /* adds nothing to the next hops of an entry */
        memset(slots + (size_t)n_slots * FAB_ROW, 0, FAB_BLOCK_LEAVES * sizeof *slots);
        next[n_slots] = next[0];
    }
    for (uint32_t i = 0; i < h->n; i++) {
        load_next_hop(p, next, n_slots, i, gets);
        if (h->level > 1) {
            const double *restrict m = p->row[i];
            uint32_t head = h->head[i];
            for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
                gets[k] *= m[k];
            }
            hold(held_by(p, head), &p->active[head], gets, leaves);
        }
    }
}

FAB_INLINE void load_weighted(fab_pass *p, const hops *h) {
    double *slots = scratch(p, HEADS + p->dag->widest + FAB_STEP);
    fab_next_hop_list next[FAB_SLOT];
    uint32_t n_slots = 0;
    uint64_t all = 0;
    bool have_rows = false;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        uint64_t leaves = e->leaves & p->active[e->v];
        if (fab_few(leaves)) {
            load_leaves(p, h, e, leaves);
            continue;
        }
        if (!have_rows) {
            find_rows(p, h);
            have_rows = true;
        }
        double *restrict q = slots + (size_t)n_slots * FAB_ROW;
        const double *restrict held = held_by(p, e->v);
        const double *restrict part = part_of(p, e->v);
        const double *restrict scale = scale_of(p, h->level);
        divide(q, held, part);
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            q[k] *= scale[k];
        }
        if (leaves != FAB_ALL_LEAVES) {
            clear_others(q, leaves);
        }
        all |= leaves;
        next[n_slots++] = fab_dag_links(p->dag, e);
        if (n_slots == FAB_SLOT) {
            load_slots(p, h, next, n_slots, all);
            n_slots = 0;
            all = 0;
        }
    }
    if (n_slots > 0) {
        load_slots(p, h, next, n_slots, all);
    }
}

FAB_MULTIVERSION static void load_block(fab_pass *p) {
    const fab_dag *dag = p->dag;
    uint32_t first = dag->block_run[p->block];
    for (uint32_t run = dag->block_run[p->block + 1]; run-- > first;) {
        hops h = hops_of(dag, run);
        if (p->split->rule == FAB_SPLIT_EQUAL || (p->split->rule == FAB_SPLIT_CAPACITY && p->even[run - first])) {
            load_evenly(p, &h);
        } else {
            load_weighted(p, &h);
        }
    }
}

void fab_pass_load(fab_pass *p) {
    load_block(p);
}
