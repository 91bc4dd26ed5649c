/*
 * Workloads of SimAI and ASTRA-sim 1 (text) [aliyun SimAI, astra-sim/workload/Workload.cc]: a header, the number of
 * layers, and for each of them
 *
 *     name dependency  TIME COLLECTIVE SIZE (forward)  ... (input gradients)  ... (weight gradients)  update-time
 *
 * Times are nanoseconds, sizes are what nccl-tests count. Who takes part stands in the end of a collective's name:
 * tensor-parallel ranks in the first two, data-parallel ones in the third, or those of _EP and _DP_EP. With n GPUs and
 * sizes tp, pp, ep, as in SimAI's MockNcclGroup where pp = 1:
 *
 *     rank = t + tp (p + pp d)    tp group: t varies    dp group: d varies    ep group: ep values of d in a row
 *
 * A phase is all executions of one collective of one size in one of the three passes.
 */
#include "collectives/collectives.h"
#include "file_formats.h"

#include "fab/units.h"

#define MOST_KINDS 512 /* phases of a workload */

typedef enum group { GROUP_TP, GROUP_DP, GROUP_EP, GROUP_DP_EP, GROUP_ALL, N_GROUPS } group;
static const char *const GROUP_NAMES[N_GROUPS] = {"tp-", "dp-", "ep-", "dp-ep-", ""};

enum { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, N_PASSES };
static const char *const PASS_NAMES[N_PASSES] = {"fwd", "igrad", "wgrad"};

/* One collective of one size in one pass. */
typedef struct kind {
    int pass;
    group who;
    fab_operation operation;
    uint64_t bytes, executions;
} kind;

typedef enum policy { POLICY_TRANSFORMER, POLICY_DATA, POLICY_MODEL, POLICY_NONE } policy;

typedef struct reader {
    fab_text *in;
    const fab_fabric *fabric;
    policy policy;
    uint64_t tp, pp, ep, n_gpus, ga; /* 0: not given */
    uint64_t layers, collectives;
    uint64_t compute_ns[N_PASSES];
    uint32_t n_left_out; /* collectives that leave every rank less than a byte, or one rank alone */
    kind *kinds;
    size_t n_kinds, kinds_capacity;
} reader;
FAB_FREES(reader_release, reader, kinds);

static fab_status traffic_simai_read_number(const reader *r, const char *what, uint64_t least, uint64_t *out,
                                            fab_error *err) {
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(t, out) || *out < least,
                  fab_text_refuse(r->in, t, err, "%s %s: a whole number from %" PRIu64 " on was expected",
                                  t.length > 0 ? "is no value of" : "the line ends before the", what, least));
    return FAB_OK;
}

/* --- header ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    policy policy;
} POLICIES[] = {{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", POLICY_TRANSFORMER},
                {"HYBRID_TRANSFORMER", POLICY_TRANSFORMER},
                {"MICRO", POLICY_DATA},
                {"DATA", POLICY_DATA},
                {"MODEL", POLICY_MODEL},
                {"DISTRIBUTED_INFERENCE", POLICY_MODEL},
                {"HYBRID_DATA_MODEL", POLICY_NONE},
                {"HYBRID_MODEL_DATA", POLICY_NONE},
                {"HYBRID_CUSTOMIZED", POLICY_NONE},
                {"HYBRID_DLRM", POLICY_NONE},
                {"HYBRID_DLRM_ENHANCED", POLICY_NONE}};
#define N_POLICIES (sizeof POLICIES / sizeof POLICIES[0])

static fab_status read_key(reader *r, fab_token key, fab_error *err) {
    static const char COMM[] =
        "is above 0, but the file does not say how often stages send that; write 0 to leave it out";
    static const char AGAIN[] = "repeats forward passes, which is not supported; list their collectives instead";
    uint64_t value = 0;
    const struct {
        const char *name, *what;
        uint64_t *value;
        uint64_t least;
        const char *refusal; /* where it is above 0 */
    } KEYS[] = {{"model_parallel_NPU_group:", "model_parallel_NPU_group:", &r->tp, 0, NULL},
                {"ep:", "ep:", &r->ep, 1, NULL},
                {"pp:", "pp:", &r->pp, 1, NULL},
                {"all_gpus:", "all_gpus:", &r->n_gpus, 1, NULL},
                {"ga:", "ga:", &r->ga, 0, NULL},
                {"vpp:", "vpp:", &value, 0, NULL}, /* of SimAI's bubbles: sends nothing */
                {"pp_comm", "pp_comm", &value, 0, COMM},
                {"pp_comm:", "pp_comm", &value, 0, COMM},
                {"checkpoints:", "checkpoints", &value, 0, AGAIN},
                {"checkpoint_initiates:", "checkpoints", &value, 0, AGAIN}};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (fab_token_is(key, KEYS[i].name)) {
            FAB_PASS(traffic_simai_read_number(r, KEYS[i].what, KEYS[i].least, KEYS[i].value, err));
            return KEYS[i].refusal == NULL || value == 0 ? FAB_OK
                                                         : fab_text_unable(r->in, key, err, "%s", KEYS[i].refusal);
        }
    }
    return fab_text_refuse(r->in, key, err,
                           "stands where model_parallel_NPU_group:, ep:, pp:, vpp:, ga:, all_gpus:, pp_comm:, "
                           "checkpoints: or checkpoint_initiates: was expected");
}

static fab_status check_sizes(reader *r, fab_token first, fab_error *err) {
    uint32_t most = fab_n_gpus(r->fabric);
    FAB_RETURN_IF(r->n_gpus > most,
                  fab_text_refuse(r->in, first, err, "asks for %" PRIu64 " GPUs (all_gpus); the fabric has %" PRIu32,
                                  r->n_gpus, most));
    r->n_gpus = r->n_gpus > 0 ? r->n_gpus : most;
    if (r->policy != POLICY_TRANSFORMER) { /* all GPUs take part in all collectives */
        r->tp = r->n_gpus;
        r->pp = r->ep = 1;
    }
    r->tp = r->tp > 0 ? r->tp : r->n_gpus;
    r->pp = r->pp > 0 ? r->pp : 1;
    r->ep = r->ep > 0 ? r->ep : 1;
    bool fits = r->tp <= r->n_gpus && r->pp <= r->n_gpus && r->ep <= r->n_gpus && r->n_gpus % (r->tp * r->pp) == 0 &&
                r->n_gpus / (r->tp * r->pp) % r->ep == 0;
    FAB_RETURN_IF(!fits, fab_text_refuse(r->in, first, err,
                                         "needs tp %" PRIu64 " x pp %" PRIu64 " to divide %" PRIu64
                                         " GPUs, and ep %" PRIu64 " the data-parallel size that is left",
                                         r->tp, r->pp, r->n_gpus, r->ep));
    return FAB_OK;
}

static fab_status simai_job_header(reader *r, fab_error *err) {
    FAB_PASS(fab_text_next(r->in) ? FAB_OK : fab_fail(err, FAB_EINPUT, r->in->path, "is empty"));
    fab_token first = fab_text_token(r->in);
    FAB_FIRST(which, N_POLICIES, fab_token_is(first, POLICIES[which].name));
    r->policy = which < N_POLICIES ? POLICIES[which].policy : POLICY_NONE;
    FAB_RETURN_IF(
        r->policy == POLICY_NONE,
        fab_text_unable(r->in, first, err,
                        "spreads collectives over the dimensions of ASTRA-sim's topology, which is not supported"));
    for (fab_token key = fab_text_token(r->in); key.length > 0; key = fab_text_token(r->in)) {
        FAB_PASS(read_key(r, key, err));
    }
    FAB_PASS(check_sizes(r, first, err));
    FAB_RETURN_IF(!fab_text_next(r->in), fab_text_fail(r->in, err, "the file ends before the number of layers"));
    FAB_PASS(traffic_simai_read_number(r, "number of layers", 1, &r->layers, err));
    return fab_text_expect_end(r->in, err);
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* "ALLREDUCE_DP_EP": the operation, and who takes part in the pass. */
static fab_status read_collective(const reader *r, fab_token t, int pass, kind *out, bool *out_none, fab_error *err) {
    static const struct {
        const char *name;
        fab_operation operation;
    } OPERATIONS[] = {{"ALLREDUCE", FAB_ALL_REDUCE},
                      {"ALLGATHER", FAB_ALL_GATHER},
                      {"REDUCESCATTER", FAB_REDUCE_SCATTER},
                      {"ALLTOALL", FAB_ALL_TO_ALL}};
    *out_none = fab_token_is(t, "NONE");
    if (*out_none) {
        return FAB_OK;
    }
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++) {
        size_t n = strlen(OPERATIONS[i].name);
        if (t.length < n || memcmp(t.text, OPERATIONS[i].name, n) != 0) {
            continue;
        }
        fab_token end = {.text = t.text + n, .length = t.length - n, .column = t.column + n};
        group own = pass == WEIGHT_GRADIENT ? GROUP_DP : GROUP_TP;
        out->operation = OPERATIONS[i].operation;
        if (end.length == 0) {
            out->who = r->policy == POLICY_TRANSFORMER ? own : GROUP_ALL;
            return FAB_OK;
        }
        if (r->policy == POLICY_TRANSFORMER && (fab_token_is(end, "_EP") || fab_token_is(end, "_DP_EP"))) {
            out->who = fab_token_is(end, "_EP") ? GROUP_EP : GROUP_DP_EP;
            return FAB_OK;
        }
    }
    return fab_text_refuse(
        r->in, t, err,
        "stands where NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL (of a transformer with _EP or _DP_EP) "
        "was expected");
}

static fab_status add_kind(reader *r, fab_token t, const kind *one, fab_error *err) {
    bool in_use = r->policy == POLICY_TRANSFORMER || (r->policy == POLICY_DATA) == (one->pass == WEIGHT_GRADIENT);
    FAB_RETURN_IF(!in_use,
                  fab_text_refuse(r->in, t, err, "%s",
                                  r->policy == POLICY_DATA
                                      ? "stands in a pass that sends nothing: data parallelism has collectives of "
                                        "weight gradients alone"
                                      : "stands in a pass that sends nothing: model parallelism has none of weight "
                                        "gradients"));
    FAB_FIRST(i, r->n_kinds,
              r->kinds[i].pass == one->pass && r->kinds[i].who == one->who && r->kinds[i].operation == one->operation &&
                  r->kinds[i].bytes == one->bytes);
    FAB_RETURN_IF(i == MOST_KINDS,
                  fab_text_unable(r->in, t, err, "is of the 513th size or kind of collective; the limit is 512"));
    if (i == r->n_kinds) {
        FAB_PASS(FAB_APPEND(r->kinds, r->n_kinds, r->kinds_capacity, err, *one));
    }
    r->kinds[i].executions++;
    r->collectives++;
    return FAB_OK;
}

static fab_status read_layer(reader *r, fab_error *err) {
    uint64_t update = 0;
    (void)fab_text_token(r->in); /* its name */
    fab_token dependency = fab_text_token(r->in);
    FAB_RETURN_IF(dependency.length == 0,
                  fab_text_refuse(r->in, dependency, err, "the line ends before the dependency of the layer"));
    for (int pass = 0; pass < N_PASSES; pass++) {
        uint64_t ns = 0;
        kind one = {.pass = pass};
        bool none = false;
        FAB_PASS(traffic_simai_read_number(r, "time", 0, &ns, err));
        fab_token t = fab_text_token(r->in);
        FAB_PASS(read_collective(r, t, pass, &one, &none, err));
        FAB_PASS(traffic_simai_read_number(r, "size", 0, &one.bytes, err));
        FAB_RETURN_IF(ns > UINT64_MAX / 2 - r->compute_ns[pass],
                      fab_text_refuse(r->in, t, err, "follows a time that makes the sum too large"));
        r->compute_ns[pass] += ns;
        if (!none && one.bytes > 0) {
            FAB_PASS(add_kind(r, t, &one, err));
        }
    }
    FAB_PASS(traffic_simai_read_number(r, "update time", 0, &update, err));
    fab_token more = fab_text_token(r->in);
    FAB_RETURN_IF(more.length > 0, fab_text_refuse(r->in, more, err, "stands behind the twelve columns of a layer"));
    return FAB_OK;
}

static fab_status read_layers(reader *r, fab_error *err) {
    uint64_t n = 0;
    while (fab_text_next(r->in)) {
        FAB_RETURN_IF(n == r->layers,
                      fab_text_refuse(r->in, fab_text_token(r->in), err, "is a layer more than the second line says"));
        FAB_PASS(read_layer(r, err));
        n++;
    }
    FAB_RETURN_IF(n < r->layers,
                  fab_text_fail(r->in, err, "the file ends after %" PRIu64 " of %" PRIu64 " layers", n, r->layers));
    return FAB_OK;
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

static uint32_t ranks_of(const reader *r, group who) {
    uint64_t dp = r->n_gpus / (r->tp * r->pp);
    const uint64_t size[N_GROUPS] = {r->tp, dp, r->ep, dp / r->ep, r->n_gpus};
    return (uint32_t)(who == GROUP_ALL ? r->n_gpus : size[who]);
}

/* GPU of member `i` of communicator `comm`. */
static uint32_t member_at(const reader *r, group who, uint32_t comm, uint32_t i) {
    uint32_t stride = (uint32_t)(r->tp * r->pp);
    uint32_t ep = (uint32_t)r->ep;
    switch (who) {
    case GROUP_TP: return comm * (uint32_t)r->tp + i;
    case GROUP_DP: return comm + i * stride;
    case GROUP_EP: /* block by block of ep copies */ return comm % stride + (comm / stride * ep + i) * stride;
    case GROUP_DP_EP: /* the same place of every block */ return comm % stride + (comm / stride + i * ep) * stride;
    case GROUP_ALL:
    case N_GROUPS: break;
    }
    return i;
}

/* "fwd-tp-all-reduce", "fwd-tp-all-reduce-2" of the second size. */
static void name_phase(const reader *r, size_t which, char *out) {
    const kind *k = &r->kinds[which];
    group who = k->who < N_GROUPS ? k->who : GROUP_ALL;
    FAB_SUM(size_t, same, i, which,
            r->kinds[i].pass == k->pass && r->kinds[i].who == k->who && r->kinds[i].operation == k->operation);
    int n = snprintf(out, FAB_NAME_SIZE, "%s-%s%s", PASS_NAMES[k->pass], GROUP_NAMES[who],
                     fab_operation_name(k->operation));
    if (same > 0 && n > 0) {
        (void)snprintf(out + n, FAB_NAME_SIZE - (size_t)n, "-%zu", same + 1);
    }
}

static fab_status add_phase(reader *r, size_t which, fab_traffic *traffic, fab_error *err) {
    const kind *k = &r->kinds[which];
    FAB_OWNED double *bytes = NULL;
    char name[FAB_NAME_SIZE];
    uint32_t n = ranks_of(r, k->who);
    uint32_t n_comms = (uint32_t)(r->n_gpus / n);
    uint64_t whole = k->bytes / n * n; /* SimAI's parts are whole bytes too */
    if (n < 2 || whole == 0) {
        r->n_left_out++;
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint32_t, members, r->n_gpus, err);
    FAB_PASS(FAB_NEW(bytes, n_comms, err));
    for (uint32_t comm = 0; comm < n_comms; comm++) {
        bytes[comm] = (double)whole * (double)k->executions;
        for (uint32_t i = 0; i < n; i++) {
            members[(size_t)comm * n + i] = member_at(r, k->who, comm, i);
        }
    }
    name_phase(r, which, name);
    const fab_collective_set set = {.where = r->in->path,
                                    .fabric = r->fabric,
                                    .operation = k->operation,
                                    .name = name,
                                    .r = n,
                                    .n_comms = n_comms,
                                    .members = members,
                                    .bytes = bytes,
                                    .executions = k->executions};
    const char *algorithm = k->operation == FAB_ALL_TO_ALL ? "mesh" : "ring";
    return fab_collective_add(&set, fab_algorithm_find(k->operation, algorithm), traffic, err);
}

static fab_status simai_summarize(const reader *r, fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_str_printf(&text, "SimAI workload %.60s: ", fab_traffic_file_name(r->in->path));
    if (r->policy == POLICY_TRANSFORMER) {
        fab_str_printf(&text, "tp %" PRIu64 ", pp %" PRIu64 ", dp %" PRIu64 ", ep %" PRIu64 " on ", r->tp, r->pp,
                       r->n_gpus / (r->tp * r->pp), r->ep);
    }
    fab_str_printf(&text, "%s GPUs, %" PRIu64 " layer%s, %" PRIu64 " collective%s of %zu kind%s",
                   FAB_SAY_COUNT(r->n_gpus), r->layers, r->layers == 1 ? "" : "s", r->collectives,
                   r->collectives == 1 ? "" : "s", r->n_kinds, r->n_kinds == 1 ? "" : "s");
    if (r->n_left_out > 0) {
        fab_str_printf(&text, ", %" PRIu32 " left out: one rank alone, or less than a byte of each", r->n_left_out);
    }
    for (int pass = 0; pass < N_PASSES; pass++) {
        static const char *const BEFORE[N_PASSES] = {"; computing ", " forward, ", " for input and "};
        fab_str_printf(&text, "%s%s", BEFORE[pass], FAB_SAY((double)r->compute_ns[pass] * 1e-9, FAB_UNIT_TIME));
    }
    fab_str_add(&text, " for weight gradients");
    FAB_PASS(fab_str_status(&text, err));
    FAB_FORMAT(traffic->summary, "%s", text.data);
    return FAB_OK;
}

static fab_status read_simai(fab_text *text, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(reader_release) reader r = {.in = text, .fabric = fabric};
    FAB_PASS(simai_job_header(&r, err));
    FAB_PASS(read_layers(&r, err));
    for (size_t i = 0; i < r.n_kinds; i++) {
        FAB_PASS(add_phase(&r, i, traffic, err));
    }
    FAB_REFUSE_IF(traffic->n_phases == 0, err, FAB_EINPUT, text->path, "no layer has a collective between two GPUs");
    return simai_summarize(&r, traffic, err);
}

static bool is_simai(fab_text *text) {
    if (!fab_text_next(text)) {
        return false;
    }
    fab_token t = fab_text_token(text);
    FAB_ANY(found, i, N_POLICIES, fab_token_is(t, POLICIES[i].name));
    return found;
}

const fab_traffic_format fab_traffic_simai = {"simai", is_simai, read_simai};
