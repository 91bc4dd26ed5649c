/*
 * Collectives as patterns, over groups of GPUs that run at once: by one algorithm, by all that are defined side by
 * side, or by the one that the cost model finds fastest. Messages have whole bytes: S is rounded down to a multiple of
 * r where it is cut into r parts.
 */
#include "collectives/collectives.h"
#include "patterns.h"

#include "fab/design.h"
#include "fab/units.h"

typedef struct groups {
    const fab_pattern *p;
    uint32_t n_groups, ranks;
    uint32_t only;   /* group, or FAB_NONE for all */
    uint64_t result; /* S */
    uint32_t *members, *id;
    double *bytes;
} groups;

FAB_FREES(pattern_release, groups, members, id, bytes);

/* GPU of a rank: groups are blocks of GPUs that follow one another, or take every n_groups-th of them. */
static uint32_t gpu_at(const groups *g, uint32_t group, uint32_t rank) {
    uint32_t i = g->p->by_block ? group * g->ranks + rank : rank * g->n_groups + group;
    return (uint32_t)g->p->first + i;
}

static uint32_t n_present(const groups *g) {
    return g->only == FAB_NONE ? g->n_groups : 1;
}

/* S is cut into r parts, unless it stays whole. */
static bool is_cut(fab_operation operation) {
    return operation != FAB_BROADCAST && operation != FAB_REDUCE && operation != FAB_ALL_TO_ALL;
}

static fab_status check_groups(const fab_pattern *p, fab_error *err) {
    uint32_t n = fab_pattern_size(p);
    FAB_REFUSE_IF(n % p->groups != 0 || n / p->groups < 2, err, FAB_EINPUT, p->text,
                  "groups=%" PRIu64 " does not cut %" PRIu32 " GPUs into equal groups of at least 2", p->groups, n);
    FAB_REFUSE_IF(p->comm != FAB_NONE && p->comm >= p->groups, err, FAB_EINPUT, p->text,
                  "comm=%" PRIu64 " is outside 0 to %" PRIu64 ", the groups", p->comm, p->groups - 1);
    return FAB_OK;
}

static fab_status pattern_list_members(groups *g, fab_error *err) {
    FAB_PASS(FAB_NEW(g->members, (size_t)n_present(g) * g->ranks, err));
    FAB_PASS(FAB_NEW_ALL(n_present(g), err, g->id, g->bytes));
    for (uint32_t i = 0; i < n_present(g); i++) {
        g->id[i] = g->only == FAB_NONE ? i : g->only;
        g->bytes[i] = (double)g->result;
        for (uint32_t rank = 0; rank < g->ranks; rank++) {
            g->members[(size_t)i * g->ranks + rank] = gpu_at(g, g->id[i], rank);
        }
    }
    return FAB_OK;
}

static fab_status pattern_init(const fab_pattern *p, groups *out, fab_error *err) {
    FAB_OWNS(pattern_release) groups g = {.p = p, .members = NULL};
    FAB_PASS(check_groups(p, err));
    g.n_groups = (uint32_t)p->groups;
    g.ranks = fab_pattern_size(p) / g.n_groups;
    g.only = p->comm == FAB_NONE ? FAB_NONE : (uint32_t)p->comm;
    g.result = is_cut(p->operation) ? p->bytes / g.ranks * g.ranks : p->bytes;
    FAB_REFUSE_IF(g.result == 0, err, FAB_EINPUT, p->text,
                  "bytes=%" PRIu64 "B leaves each of the %" PRIu32 " ranks of a group less than 1 byte", p->bytes,
                  g.ranks);
    if (p->operation == FAB_ALL_TO_ALL) {
        double sum = (double)p->bytes * g.ranks;
        FAB_REFUSE_IF(sum > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT, p->text,
                      "%" PRIu32 " messages of %" PRIu64 " bytes are above the limit of %.2g", g.ranks, p->bytes,
                      FAB_PHASE_MAX_BYTES);
        g.result = p->bytes * g.ranks;
    }
    FAB_PASS(pattern_list_members(&g, err));
    return FAB_GIVE(*out, g);
}

/* "all-gather over 64 GPUs in 4 groups of 16 by stride: 62.5 kB of every rank, 1 MB together" */
static void pattern_summarize(const groups *g, const char *note, fab_traffic *traffic) {
    const fab_pattern *p = g->p;
    char part[40];
    char result[40];
    char text[128];
    char in_groups[64] = "";
    char rounded[64] = "";
    char only[32] = "";
    if (g->n_groups > 1) {
        FAB_FORMAT(in_groups, " in %" PRIu32 " groups of %" PRIu32 " by %s", g->n_groups, g->ranks,
                   p->by_block ? "block" : "stride");
    }
    if (is_cut(p->operation) && g->result != p->bytes) {
        FAB_FORMAT(rounded, " (%s rounded down)", fab_quantity_format(result, (double)p->bytes, FAB_UNIT_BYTES));
    }
    if (g->only != FAB_NONE) {
        FAB_FORMAT(only, "; only group %" PRIu32, g->only);
    }
    (void)fab_quantity_format(part, (double)g->result / g->ranks, FAB_UNIT_BYTES);
    (void)fab_quantity_format(result, (double)g->result, FAB_UNIT_BYTES);
    if (p->operation == FAB_ALL_GATHER) {
        FAB_FORMAT(text, "%s of every rank, %s together", part, result);
    } else if (p->operation == FAB_REDUCE_SCATTER) {
        FAB_FORMAT(text, "%s of every rank, %s left to each", result, part);
    } else if (p->operation == FAB_ALL_TO_ALL) {
        FAB_FORMAT(text, "%s from every rank to every other", part);
    } else {
        FAB_FORMAT(text, "%s", result);
    }
    FAB_FORMAT(traffic->summary, "%s over %s GPUs%s: %s%s", fab_operation_name(p->operation),
               FAB_SAY_COUNT(fab_pattern_size(p)), in_groups, text, rounded);
    fab_append(traffic->summary, sizeof traffic->summary, "%s%s%s", only, note[0] != '\0' ? "; " : "", note);
}

static fab_status add_all(const fab_collective_set *set, fab_traffic *traffic, char *note, size_t note_size,
                          fab_error *err) {
    const fab_algorithm *list[FAB_MAX_ALGORITHMS];
    char excluded[160];
    size_t n = 0;
    FAB_PASS(fab_collective_list(set, list, &n, excluded, sizeof excluded, err));
    for (size_t i = 0; i < n; i++) {
        bool added = false;
        FAB_PASS(fab_collective_try(set, list[i], traffic, &added, excluded, sizeof excluded, err));
    }
    FAB_REFUSE_IF(traffic->n_phases == 0, err, FAB_EUNSUPPORTED, set->where,
                  "no algorithm of %s can be listed here: %s", fab_operation_name(set->operation), excluded);
    if (excluded[0] != '\0') {
        (void)snprintf(note, note_size, "not possible here: %s", excluded);
    }
    return FAB_OK;
}

fab_status fab_traffic_gpu(const fab_design *design, const char *where, fab_gpu *out, fab_error *err) {
    bool is_given = design != NULL && design->n_jobs > 0 && design->jobs[0].gpu[0] != '\0';
    return fab_gpu_read(is_given ? design->jobs[0].gpu : FAB_DEFAULT_GPU, where, out, err);
}

fab_status fab_pattern_collective(fab_pattern *p, fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(pattern_release) groups g = {.p = p};
    fab_gpu gpu;
    char note[192] = "";
    const char *name = p->algorithm;
    FAB_PASS(fab_traffic_gpu(p->design, p->text, &gpu, err));
    FAB_PASS(pattern_init(p, &g, err));
    const fab_collective_set set = {.where = p->text,
                                    .fabric = p->fabric,
                                    .operation = p->operation,
                                    .r = g.ranks,
                                    .n_comms = n_present(&g),
                                    .library = &gpu.nccl,
                                    .members = g.members,
                                    .id = g.id,
                                    .bytes = g.bytes,
                                    .executions = 1,
                                    .channels = (uint32_t)p->channels,
                                    .by_source = true,
                                    .alternative = strcmp(name, "all") == 0};
    if (set.alternative) {
        FAB_PASS(add_all(&set, traffic, note, sizeof note, err));
    } else if (strcmp(name, "auto") == 0) {
        FAB_PASS(fab_collective_add_fastest(&set, traffic, note, sizeof note, err));
    } else if (strcmp(name, "nccl") == 0) {
        FAB_PASS(fab_collective_add_nccl(&set, traffic, note, sizeof note, err));
    } else {
        const fab_algorithm *algorithm = fab_algorithm_find(p->operation, name);
        FAB_REFUSE_IF(p->channels > 0 && algorithm->rules->n_channels == NULL, err, FAB_EINPUT, p->text,
                      "channels=%" PRIu64 ": algorithm=%s has no channels", p->channels, name);
        FAB_PASS(fab_collective_add(&set, algorithm, traffic, err));
    }
    pattern_summarize(&g, note, traffic);
    return FAB_OK;
}

void fab_pattern_algorithms(fab_operation operation, char *out, size_t size) {
    out[0] = '\0';
    for (const fab_algorithm *a = fab_algorithms; a->name != NULL; a++) {
        if (a->operation == operation) {
            fab_append(out, size, "%s, ", a->name);
        }
    }
    fab_append(out, size, "auto, nccl, best, all");
}
