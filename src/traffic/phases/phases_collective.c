/*
 * Collectives of a training job by another algorithm than rings: phases "dp", or "dp-1", "dp-2", ... where the
 * algorithm has several, one run. Where the job is sharded, halving-doubling and doubling are the halving of a
 * reduce-scatter and the doubling of an all-gather.
 */
#include "collectives/collectives.h"

FAB_RELEASES(fab_comm_list_release, fab_comm_list, members, id, bytes);

fab_status fab_comm_list_add(fab_comm_list *list, const uint32_t *members, uint32_t n, double bytes, uint32_t id,
                             fab_error *err) {
    size_t before = (size_t)list->n_comms * n;
    FAB_PASS(FAB_GROW(list->members, list->members_capacity, before + n, err));
    FAB_PASS(FAB_GROW(list->id, list->id_capacity, (size_t)list->n_comms + 1, err));
    FAB_PASS(FAB_GROW(list->bytes, list->bytes_capacity, (size_t)list->n_comms + 1, err));
    memcpy(list->members + before, members, n * sizeof *members);
    list->id[list->n_comms] = id;
    list->bytes[list->n_comms] = bytes;
    list->r = n;
    list->n_comms++;
    return FAB_OK;
}

static fab_operation operation_of(const fab_phase *phase) {
    FAB_FIRST(i, FAB_N_OPERATIONS, strcmp(phase->collective, fab_operation_name((fab_operation)i)) == 0);
    return i < FAB_N_OPERATIONS ? (fab_operation)i : FAB_N_OPERATIONS;
}

static const fab_algorithm *find_algorithm(fab_operation operation, const char *name) {
    bool exchanges = strcmp(name, "halving-doubling") == 0 || strcmp(name, "doubling") == 0;
    if (exchanges && operation == FAB_REDUCE_SCATTER) {
        name = "halving";
    } else if (exchanges && operation == FAB_ALL_GATHER) {
        name = "doubling";
    }
    return fab_algorithm_find(operation, name);
}

/* The sizes of the communicators add up to what the closed form of the ring says, for the whole job. */
static fab_status check_sum(const fab_comm_list *list, fab_operation operation, const fab_phase *phase,
                            fab_error *err) {
    FAB_SUM(double, sum, i, list->n_comms, list->bytes[i] * fab_bus_factor(operation, list->r) * list->r);
    FAB_REFUSE_IF(!(fabs(sum - phase->expected_bytes) <= 1e-6 * phase->expected_bytes), err, FAB_EINTERNAL, phase->name,
                  "communicators of phase '%s' would send %.17g bytes by rings, the formula gives %.17g", phase->name,
                  sum, phase->expected_bytes);
    return FAB_OK;
}

fab_status fab_training_collective(fab_comm_list *list, const fab_fabric *fabric, const fab_gpu_library *library,
                                   const char *where, fab_phase_builder *builder, fab_traffic *traffic,
                                   fab_error *err) {
    fab_status status = FAB_OK;
    const fab_phase *phase = &builder->phase;
    fab_operation operation = operation_of(phase);
    char note[192];
    fab_error why = {.code = FAB_OK};
    const fab_collective_set set = {.where = where,
                                    .fabric = fabric,
                                    .operation = operation,
                                    .name = phase->name,
                                    .r = list->r,
                                    .n_comms = list->n_comms,
                                    .library = library,
                                    .members = list->members,
                                    .id = list->id,
                                    .bytes = list->bytes,
                                    .executions = phase->executions};
    FAB_TRY(check_sum(list, operation, phase, err));
    /* whoever replays has put an algorithm in its place */
    FAB_FAIL_IF(strcmp(phase->algorithm, "best") == 0, &why, FAB_EUNSUPPORTED, where,
                "best is found by replays, of run, route, sweep, compare, mix and optimize; choose auto or nccl");
    bool is_auto = strcmp(phase->algorithm, "auto") == 0;
    if (is_auto || strcmp(phase->algorithm, "nccl") == 0) {
        FAB_TRY(is_auto ? fab_collective_add_fastest(&set, traffic, note, sizeof note, &why)
                        : fab_collective_add_nccl(&set, traffic, note, sizeof note, &why));
        fab_append(traffic->summary, sizeof traffic->summary, "; %s: %s", phase->name, note);
    } else {
        const fab_algorithm *algorithm = find_algorithm(operation, phase->algorithm);
        FAB_FAIL_IF(algorithm == NULL, &why, FAB_EINPUT, where, "there is no %s by %s; choose ring or hierarchical",
                    phase->collective, phase->algorithm);
        FAB_TRY(fab_collective_add(&set, algorithm, traffic, &why));
    }
done:
    if (status != FAB_OK && why.code != FAB_OK) {
        status = fab_fail(err, why.code, why.where, "phase '%s': %s", phase->name, why.text);
    }
    fab_comm_list_release(list);
    fab_phase_release(&builder->phase);
    *builder = (fab_phase_builder){.capacity = 0};
    return status;
}
