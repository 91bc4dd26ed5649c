/* Which algorithm a collective runs by where that is left open: the fastest by the cost model, or what NCCL takes. */
#include "collectives.h"

#include "fab/nccl.h"
#include "fab/units.h"

/* --- the fastest by the cost model -------------------------------------------------------------------------------- */

/* An algorithm among those that auto compares. */
typedef struct contender {
    const fab_algorithm *algorithm;
    double time_s;
} contender;

/* Keeps the phases from `start` on, in place of those from `first` on, if they take less than the best so far. */
static fab_status compare_times(const fab_collective_set *set, fab_traffic *traffic, size_t first, size_t start,
                                contender now, contender *best, contender *second, fab_error *err) {
    FAB_PASS(fab_collective_time(set->fabric, traffic->phases + start, traffic->n_phases - start, &now.time_s, err));
    size_t n = traffic->n_phases - start;
    bool wins = best->algorithm == NULL || now.time_s < best->time_s;
    for (size_t i = wins ? first : start; i < (wins ? start : traffic->n_phases); i++) {
        fab_phase_release(&traffic->phases[i]);
    }
    if (wins) {
        *second = *best;
        *best = now;
        memmove(traffic->phases + first, traffic->phases + start, n * sizeof *traffic->phases);
    } else if (second->algorithm == NULL || now.time_s < second->time_s) {
        *second = now;
    }
    traffic->n_phases = wins ? first + n : start;
    return FAB_OK;
}

static void collective_tell(const contender *best, const contender *second, const char *excluded, char *out,
                            size_t size) {
    (void)snprintf(out, size, "auto takes %s, %s by the cost model", best->algorithm->name,
                   FAB_SAY(best->time_s, FAB_UNIT_TIME));
    if (second->algorithm != NULL) {
        fab_append(out, size, "; next %s, %s", second->algorithm->name, FAB_SAY(second->time_s, FAB_UNIT_TIME));
    }
    if (excluded[0] != '\0') {
        fab_append(out, size, "; too large: %s", excluded);
    }
}

fab_status fab_collective_add_fastest(const fab_collective_set *set, fab_traffic *traffic, char *out_note,
                                      size_t note_size, fab_error *err) {
    const fab_algorithm *list[FAB_MAX_ALGORITHMS];
    contender best = {.algorithm = NULL};
    contender second = {.algorithm = NULL};
    size_t n = 0;
    size_t first = traffic->n_phases;
    char excluded[160];
    char large[96] = "";
    FAB_PASS(fab_collective_list(set, list, &n, excluded, sizeof excluded, err));
    for (size_t i = 0; i < n; i++) {
        size_t start = traffic->n_phases;
        bool added = false;
        FAB_PASS(fab_collective_try(set, list[i], traffic, &added, large, sizeof large, err));
        if (added) {
            const contender now = {.algorithm = list[i]};
            FAB_PASS(compare_times(set, traffic, first, start, now, &best, &second, err));
        }
    }
    FAB_REFUSE_IF(best.algorithm == NULL, err, FAB_EUNSUPPORTED, set->where, "no algorithm of %s can be listed here",
                  fab_operation_name(set->operation));
    for (size_t i = first; i < traffic->n_phases; i++) {
        traffic->phases[i].run = first > 0 ? traffic->phases[first - 1].run + 1 : 0;
    }
    collective_tell(&best, &second, large, out_note, note_size);
    return FAB_OK;
}

/* --- what NCCL takes ---------------------------------------------------------------------------------------------- */

/* Rate of the links of a kind that leave a node. */
static double rate_from(const fab_fabric *f, fab_node_id node, fab_link_kind kind) {
    double sum = 0;
    FAB_EACH_LINK(f, node, link) {
        const fab_link_class *class = fab_class_of(f, link);
        sum += class->kind == kind ? class->capacity_bps : 0;
    }
    return sum;
}

/* Of the NICs of a GPU, which its neighbours may share. */
static double nics_of(const fab_fabric *f, uint32_t gpu) {
    uint32_t first = 0;
    uint32_t n = fab_nics_of_gpu(f, gpu, &first);
    FAB_SUM(double, sum, i, n, rate_from(f, f->first[FAB_NODE_NIC] + first + i, FAB_LINK_ACCESS));
    double shared = (double)fab_n_of(f, FAB_NODE_NIC) / fab_n_gpus(f);
    return shared < n ? sum / n * shared : sum;
}

static const char *name_of(const fab_nccl_case *c, fab_nccl_algorithm a, bool is_aligned) {
    static const char *const NAMES[FAB_NCCL_N_ALGORITHMS] = {"ring", "tree", "in-network", "nvls", "nvls-tree"};
    if (a == FAB_NCCL_P2P) {
        return is_aligned ? "pxn" : "mesh";
    }
    return a == FAB_NCCL_PAT ? (c->operation == FAB_ALL_GATHER ? "doubling" : "halving") : NAMES[a];
}

/* NCCL's table knows no routing: any network that an algorithm is defined on will do. */
static fab_nccl_case case_of(const fab_collective_set *set, const fab_layout *layout) {
    const bool is_even = layout->domain.k > 0;
    fab_nccl_case c = {.gpu = set->library,
                       .operation = set->operation,
                       .ranks = set->r,
                       .domains = is_even ? layout->domain.n_groups : set->r,
                       .scale_up_bps = rate_from(set->fabric, set->members[0], FAB_LINK_SCALEUP),
                       .nics_bps = nics_of(set->fabric, set->members[0]),
                       .host = set->fabric->host};
    for (int a = 0; a < FAB_NCCL_N_ALGORITHMS; a++) {
        bool needs_even = a == FAB_NCCL_NVLS || a == FAB_NCCL_NVLS_TREE;
        bool is_power = a != FAB_NCCL_PAT || (set->r & (set->r - 1)) == 0;
        bool reduces = a != FAB_NCCL_COLLNET ||
                       (is_even && layout->aligned && set->fabric->reduces_in_switches && fab_is_tree(set->fabric));
        c.network[a].s_per_byte = (is_even || !needs_even) && is_power && reduces ? 1 : NAN;
    }
    return c;
}

fab_status fab_collective_add_nccl(const fab_collective_set *set, fab_traffic *traffic, char *out_note,
                                   size_t note_size, fab_error *err) {
    FAB_OWNS(fab_layout_release) fab_layout layout = {.slot = NULL};
    fab_nccl_algorithm algorithm = FAB_NCCL_RING;
    fab_nccl_protocol protocol = FAB_NCCL_SIMPLE;
    const double bytes = set->bytes[0] / (double)set->executions;
    FAB_PASS(fab_nccl_check_gpu(set->library, set->where, err));
    FAB_PASS(fab_layout_init(&layout, set->fabric, set->r, err));
    fab_layout_set(&layout, set->members, set->r);
    const fab_nccl_case c = case_of(set, &layout);
    FAB_REFUSE_IF(!fab_nccl_choose(&c, FAB_NCCL_AS_NCCL, FAB_NCCL_N_ALGORITHMS, fmax(bytes, 1), &algorithm, &protocol),
                  err, FAB_EUNSUPPORTED, set->where, "NCCL has no %s", fab_operation_name(set->operation));
    const char *name = name_of(&c, algorithm, layout.domain.k > 1 && layout.domain.n_groups > 1 && layout.aligned);
    FAB_PASS(fab_collective_add(set, fab_algorithm_find(set->operation, name), traffic, err));
    (void)snprintf(out_note, note_size, "nccl takes %s (%s) for %s", name, fab_nccl_protocols[protocol],
                   FAB_SAY(bytes, FAB_UNIT_BYTES));
    return FAB_OK;
}
