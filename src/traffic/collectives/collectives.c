/* The table of the collective algorithms. */
#include "collectives.h"

const fab_algorithm fab_algorithms[] = {
    {"ring", "2(r-1) steps to the next rank, S/r each", FAB_ALL_REDUCE, &fab_rules_ring},
    {"doubling", "log2 r exchanges of S with rank xor 2^i", FAB_ALL_REDUCE, &fab_rules_exchange},
    {"halving-doubling", "recursive halving, then doubling: 2 log2 r steps", FAB_ALL_REDUCE, &fab_rules_exchange},
    {"tree", "double binary tree, S/2 up and down each, pipelined", FAB_ALL_REDUCE, &fab_rules_tree},
    {"mesh", "S/r to everyone, then S/r of the sum to everyone", FAB_ALL_REDUCE, &fab_rules_mesh},
    {"hierarchical", "in-domain reduce-scatter, same-index rings across domains, in-domain all-gather", FAB_ALL_REDUCE,
     &fab_rules_hierarchical},
    {"nvls", "the scale-up switch adds up and sends to all", FAB_ALL_REDUCE, &fab_rules_nvls},
    {"nvls-tree", "the same in domains, double binary trees across them, pipelined", FAB_ALL_REDUCE,
     &fab_rules_nvls_tree},
    {"in-network", "up and down a tree of switches that reduce", FAB_ALL_REDUCE, &fab_rules_in_network},

    {"ring", "r-1 steps to the next rank, S/r each", FAB_ALL_GATHER, &fab_rules_ring},
    {"doubling", "log2 r exchanges with rank xor 2^i of what both have", FAB_ALL_GATHER, &fab_rules_exchange},
    {"mesh", "S/r to everyone at once", FAB_ALL_GATHER, &fab_rules_mesh},
    {"hierarchical", "same-index rings across domains, then in-domain all-gather", FAB_ALL_GATHER,
     &fab_rules_hierarchical},

    {"ring", "r-1 steps to the next rank, S/r each", FAB_REDUCE_SCATTER, &fab_rules_ring},
    {"halving", "log2 r exchanges of S/2^(i+1) with rank xor r/2^(i+1)", FAB_REDUCE_SCATTER, &fab_rules_exchange},
    {"mesh", "S/r to everyone at once", FAB_REDUCE_SCATTER, &fab_rules_mesh},
    {"hierarchical", "in-domain reduce-scatter, then same-index rings across domains", FAB_REDUCE_SCATTER,
     &fab_rules_hierarchical},

    {"mesh", "S/r to everyone at once", FAB_ALL_TO_ALL, &fab_rules_mesh},
    {"shifted", "r-1 steps, S/r to rank + i in step i", FAB_ALL_TO_ALL, &fab_rules_shifted},
    {"rail-aligned", "in-domain hop to the GPU on the destination's rail, then one rail hop", FAB_ALL_TO_ALL,
     &fab_rules_rail_aligned},
    {"pxn", "rail-aligned, both hops at once", FAB_ALL_TO_ALL, &fab_rules_pxn},

    {"ring", "from rank to rank, pipelined", FAB_BROADCAST, &fab_rules_chain},
    {"tree", "binary tree from rank 0, pipelined", FAB_BROADCAST, &fab_rules_tree},
    {"binomial", "in step i the 2^i ranks that have S send it to others", FAB_BROADCAST, &fab_rules_binomial},

    {"ring", "from rank to rank, pipelined", FAB_REDUCE, &fab_rules_chain},
    {"tree", "binary tree to rank 0, pipelined", FAB_REDUCE, &fab_rules_tree},
    {"binomial", "the broadcast backwards", FAB_REDUCE, &fab_rules_binomial},

    {NULL, NULL, FAB_N_OPERATIONS, NULL},
};

const char *fab_operation_name(fab_operation operation) {
    static const char *const NAMES[FAB_N_OPERATIONS] = {"all-reduce", "all-gather", "reduce-scatter",
                                                        "all-to-all", "broadcast",  "reduce"};
    return operation < FAB_N_OPERATIONS ? NAMES[operation] : "none";
}

double fab_bus_factor(fab_operation operation, uint64_t ranks) {
    double r = (double)ranks;
    switch (operation) {
    case FAB_ALL_REDUCE: return 2 * (r - 1) / r;
    case FAB_ALL_GATHER:
    case FAB_REDUCE_SCATTER:
    case FAB_ALL_TO_ALL: return (r - 1) / r;
    default: return 1;
    }
}

const fab_algorithm *fab_algorithm_find(fab_operation operation, const char *name) {
    const fab_algorithm *a = fab_algorithms;
    FAB_FIRST(i, SIZE_MAX, a[i].name == NULL || (a[i].operation == operation && strcmp(a[i].name, name) == 0));
    return a[i].name != NULL ? &a[i] : NULL;
}

uint32_t fab_collective_parts(const fab_collective *c) {
    return c->algorithm->rules->n_parts != NULL ? c->algorithm->rules->n_parts(c) : 1;
}

static fab_status count_channels(fab_collective *c, fab_error *err) {
    c->n_channels = 1;
    if (c->algorithm->rules->n_channels == NULL) {
        return FAB_OK;
    }
    uint32_t most = c->algorithm->rules->n_channels(c);
    FAB_REFUSE_IF(c->channels > most, err, FAB_EINPUT, NULL,
                  "channels=%" PRIu32 " is above %" PRIu32
                  ": one per member of a communicator that a server or scale-up domain holds, where it has "
                  "equally many in each of several",
                  c->channels, most);
    c->n_channels = c->channels > 0 ? c->channels : most;
    return FAB_OK;
}

fab_status fab_collective_init(const fab_algorithm *algorithm, const fab_layout *layout,
                               const fab_communicator *communicator, fab_collective *out, fab_error *err) {
    fab_collective c = {.algorithm = algorithm,
                        .operation = algorithm->operation,
                        .fabric = layout->fabric,
                        .layout = layout,
                        .members = communicator->members,
                        .r = communicator->n,
                        .channels = communicator->channels,
                        .chunks = 1,
                        .bytes = communicator->bytes};
    FAB_REFUSE_IF(c.r < 2, err, FAB_EINPUT, NULL, "a collective needs at least 2 ranks, not %" PRIu32, c.r);
    FAB_PASS(count_channels(&c, err));
    FAB_PASS(algorithm->rules->check != NULL ? algorithm->rules->check(&c, err) : FAB_OK);
    *out = c;
    return FAB_OK;
}
