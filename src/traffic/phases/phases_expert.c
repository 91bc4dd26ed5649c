/*
 * Context parallel exchange, and all-to-all of experts and embedding tables. Symbols as in phases_training.c; c, e
 * context and expert parallel size, k experts per token, l' layers with experts. Summed over the job:
 *
 *     cp             3 (c-1) B s l t g a     g: elements of keys and values per token, layer and tensor rank
 *     ep-dispatch    2 k B s h l' (e-1)/e a  forward, and the gradients backward; ep-combine the same
 *     embedding      2 B T D (n-1)/n a       T tables of D columns over n GPUs; vectors forward, gradients backward
 *
 * Keys and values go around once forward, and once backward together with their gradients, whether in a ring of blocks
 * [Liu et al., Ring Attention, arXiv 2310.01889] or by all-gather and reduce-scatter [Llama 3, section 3.3.2]: the
 * bytes are the same, the edges are not. Experts get equal shares of the tokens.
 */
#include "phases.h"

static uint64_t rounded(double bytes) {
    return (uint64_t)(bytes + 0.5);
}

/* --- context parallelism ------------------------------------------------------------------------------------------ */

static void emit_cp(training *t, double per_layer, fab_phase_builder *builder) {
    const fab_job_spec *s = &t->job->spec;
    uint32_t n = size_of(t, FAB_DIM_CP);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    for (uint32_t comm = 0; comm < n_tp * n_pp * size_of(t, FAB_DIM_DP); comm++) {
        uint32_t pp = comm / n_tp % n_pp;
        if (!is_wanted(t, comm)) {
            continue;
        }
        FAB_FILL(t->members, n, gpu_at(t, comm % n_tp, pp, comm / (n_tp * n_pp) * n + (uint32_t)fab_at));
        double bytes = per_layer * (double)fab_stage_layers(s, pp);
        if (s->cp_exchange == FAB_CP_RING) { /* as they stand: blocks of keys and values move to the next rank */
            for (uint32_t i = 0; i < n; i++) {
                fab_phase_add(builder, t->members[i], t->members[(i + 1) % n], rounded(bytes), comm);
            }
        } else {
            emit_ring(t, n, bytes, comm, builder);
        }
    }
}

fab_status fab_make_cp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    uint32_t n = size_of(t, FAB_DIM_CP);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    uint32_t n_comms = n_tp * n_pp * size_of(t, FAB_DIM_DP);
    double rounds = 3 + repeated(s);
    double kv = fab_kv_elements(&t->job->model, s->tp) * (double)s->activation_bytes;
    double tokens = (double)s->microbatch * (double)s->seq / n;
    double layers = (double)s->layers;
    FAB_PASS(fab_check_comm(t, name, n_comms, err));
    if (only_one(t)) {
        layers = (double)fab_stage_layers(s, t->wanted->comm / n_tp % n_pp) / n_tp / size_of(t, FAB_DIM_DP);
    }
    FAB_PASS(fab_open_phase(t, builder, name,
                            s->cp_exchange == FAB_CP_RING ? "send-recv" : "all-gather, reduce-scatter",
                            fab_ring_max_flows(t->job->n_gpus), n_comms,
                            rounds * (n - 1) * (double)s->batch * (double)s->seq * layers * n_tp * kv, err));
    emit_cp(t, rounds * (n - 1) * tokens * kv * (double)t->job->microbatches, builder);
    fab_phase *phase = &builder->phase;
    uint64_t most_layers = 0;
    for (uint32_t pp = 0; pp < n_pp; pp++) {
        uint64_t mine = fab_stage_layers(s, pp);
        bool counts = !only_one(t) || t->wanted->comm / n_tp % n_pp == pp;
        most_layers = counts && mine > most_layers ? mine : most_layers;
    }
    phase->steps = n - 1;
    phase->executions = (uint64_t)rounds * most_layers * t->job->microbatches;
    FAB_FORMAT(phase->formula,
               "%.0f (c-1) b s/c x keys and values of a token (%.6g bytes) per layer, device and microbatch, x %s",
               rounds, kv, only_one(t) ? "c m and the layers of its stage" : "t c l m d");
    return FAB_OK;
}

/* --- experts ------------------------------------------------------------------------------------------------------ */

static void emit_all_to_all(const uint32_t *members, uint32_t n, uint64_t bytes, uint32_t comm,
                            fab_phase_builder *builder) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            if (i != j) {
                fab_phase_add(builder, members[i], members[j], bytes, comm);
            }
        }
    }
}

/* An all-to-all-v: rank i sends `bytes` x out[i] x in[j] to rank j; NULL: 1. */
static void emit_all_to_all_v(const uint32_t *members, uint32_t n, double bytes, const double *out, const double *in,
                              uint32_t comm, fab_phase_builder *builder) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            const uint64_t mine = rounded(bytes * (out != NULL ? out[i] : 1) * (in != NULL ? in[j] : 1));
            if (i != j && mine > 0) {
                fab_phase_add(builder, members[i], members[j], mine, comm);
            }
        }
    }
}

/* --- one copy for every domain -------------------------------------------------------------------------------------
 */

static fab_status find_visits(training *t, uint32_t n, fab_expert_visits *out, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    fab_layout_set(&t->layout, t->members, n);
    const fab_grouping *domain = &t->layout.domain;
    FAB_REFUSE_IF(domain->k == 0 || !t->layout.aligned || fab_job_is_skewed(s), err, FAB_EUNSUPPORTED, t->job->where,
                  "expert-exchange hierarchical needs the %" PRIu32
                  " GPUs of an expert group at the same places of every scale-up domain, and experts that are "
                  "equally popular; choose direct",
                  n);
    *out = fab_job_expert_visits(s, domain->k);
    FAB_REFUSE_IF(out->drawn_from < (double)s->top_k, err, FAB_EINPUT, t->job->where,
                  "expert-groups %" PRIu64 " hold %.0f experts, fewer than the %" PRIu64 " of a token",
                  s->expert_groups, out->drawn_from, s->top_k);
    return FAB_OK;
}

/* A token crosses to the same place of every domain that it visits, and from there to the GPUs: `bytes` of all tokens
 * of a rank. */
static void emit_by_domain(training *t, const fab_expert_visits *v, double bytes, uint32_t comm,
                           fab_phase_builder *builder) {
    const uint32_t *ranks = t->layout.domain.ranks;
    for (uint32_t g = 0; g < v->m; g++) {
        for (uint32_t j = 0; j < v->k; j++) {
            const uint32_t from = t->members[ranks[(size_t)g * v->k + j]];
            for (uint32_t to = 0; to < v->m; to++) {
                if (to != g) {
                    fab_phase_add(builder, from, t->members[ranks[(size_t)to * v->k + j]], rounded(bytes * v->domain),
                                  comm);
                }
            }
            for (uint32_t to = 0; to < v->k; to++) {
                if (to != j) {
                    fab_phase_add(builder, from, t->members[ranks[(size_t)g * v->k + to]],
                                  rounded(bytes * v->m * v->gpu), comm);
                }
            }
        }
    }
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* Copies in a row share a set of experts: e of them hold each expert once. `shares` of the tokens go there and back
 * (NULL: equal ones). */
static fab_status emit_ep(training *t, const expert_exchange *x, double per_layer, const double *shares, bool is_back,
                          fab_phase_builder *builder, fab_error *err) {
    const fab_job *job = t->job;
    uint32_t n = (uint32_t)job->spec.ep;
    uint32_t n_blocks = n_copies(t) / n;
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    for (uint32_t comm = 0; comm < n_pp * n_tp * n_blocks; comm++) {
        uint32_t pp = comm / (n_tp * n_blocks);
        const uint32_t copy = comm % n_blocks * n;
        if (!is_wanted(t, comm) || (x->n_copies > 0 && (copy < x->first || copy >= x->first + x->n_copies))) {
            continue;
        }
        FAB_FILL(t->members, n, gpu_at(t, comm / n_blocks % n_tp, pp, comm % n_blocks * n + (uint32_t)fab_at));
        double layers = (double)fab_stage_expert_layers(&job->model, &job->spec, pp);
        if (job->spec.expert_exchange == FAB_EXPERTS_HIERARCHICAL) {
            fab_expert_visits v = {.m = 0};
            FAB_PASS(find_visits(t, n, &v, err));
            emit_by_domain(t, &v, per_layer * layers * n / (double)job->spec.top_k, comm, builder);
            builder->phase.expected_bytes += per_layer * layers * n / (double)job->spec.top_k * n *
                                             ((v.m - 1) * v.domain + (v.k - 1.0) * v.m * v.gpu);
        } else if (shares != NULL) {
            emit_all_to_all_v(t->members, n, per_layer * layers, is_back ? shares : NULL, is_back ? NULL : shares, comm,
                              builder);
        } else {
            emit_all_to_all(t->members, n, rounded(per_layer * layers), comm, builder);
        }
    }
    return FAB_OK;
}

/* Forward tokens go to their experts and come back from them; gradients the other way round. A phase has both, and both
 * have the same rank in front of the same wire: what is said of dispatch holds of the way there. */
static fab_status emit_experts(training *t, const char *name, const expert_exchange *x, double per_layer,
                               fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    FAB_OWNED double *shares = NULL;
    if (fab_job_is_skewed(s)) {
        FAB_PASS(FAB_NEW(shares, s->ep, err));
        FAB_PASS(fab_job_expert_shares(s, t->job->where, shares, err));
    }
    return emit_ep(t, x, per_layer, shares, strstr(name, "combine") != NULL, builder, err);
}

fab_status fab_make_exchange_of_experts(training *t, const char *name, const expert_exchange *x,
                                        fab_phase_builder *builder, fab_error *err) {
    const fab_job *job = t->job;
    const fab_job_spec *s = &job->spec;
    uint32_t n = (uint32_t)s->ep;
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    uint32_t per_stage = size_of(t, FAB_DIM_TP) * (n_copies(t) / n);
    uint64_t most_layers = 0;
    double layers = 0;
    FAB_PASS(fab_check_comm(t, name, n_pp * per_stage, err));
    for (uint32_t pp = 0; pp < n_pp; pp++) {
        if (!only_one(t) || t->wanted->comm / per_stage == pp) {
            uint64_t mine = fab_stage_expert_layers(&job->model, &job->spec, pp);
            most_layers = mine > most_layers ? mine : most_layers;
            layers += only_one(t) ? (double)mine / per_stage : (double)mine;
        }
    }
    const bool is_direct = s->expert_exchange == FAB_EXPERTS_DIRECT;
    double sent = (double)x->rounds * x->tokens * (double)s->hidden * (double)s->top_k * (double)s->dispatch_bytes;
    FAB_PASS(fab_open_phase(t, builder, name, "all-to-all", (uint64_t)job->n_gpus * (n - 1), n_pp * per_stage,
                            is_direct ? sent * layers * (n - 1) / n : 0, err));
    const uint32_t sharers = size_of(t, FAB_DIM_TP) * (x->n_copies / n);
    const double sharing = x->n_copies > 0 ? sharers : per_stage;
    FAB_PASS(emit_experts(t, name, x, sent / (sharing * n * n), builder, err));
    builder->phase.executions = x->rounds * most_layers * x->times;
    if (!is_direct) {
        builder->phase.steps = 2;
        FAB_FORMAT(builder->phase.formula,
                   "%" PRIu64 " x %s x h elements of %" PRIu64
                   " bytes per layer with experts, for each domain that a token visits and each GPU there",
                   x->rounds, x->what, s->dispatch_bytes);
        return FAB_OK;
    }
    FAB_FORMAT(builder->phase.formula,
               "%" PRIu64 " x %" PRIu64 " experts x %s x h (e-1)/e elements of %" PRIu64
               " bytes per layer with experts%s",
               x->rounds, s->top_k, x->what, s->dispatch_bytes,
               only_one(t) ? " of its stage, / (t c d/e)" : "; the tensor ranks share them");
    return FAB_OK;
}

fab_status fab_make_ep(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    const expert_exchange x = {.tokens = (double)s->batch * (double)s->seq,
                               .rounds = 2 + repeated(s),
                               .times = t->job->microbatches,
                               .what = "B s"};
    return fab_make_exchange_of_experts(t, name, &x, builder, err);
}

/* --- embedding tables --------------------------------------------------------------------------------------------- */

static bool is_one_range(const training *t, uint32_t n) {
    FAB_ANY_IN(found, i, 1, n, t->gpu_of_rank[i] != t->gpu_of_rank[0] + i);
    return !found;
}

/* Columns of every GPU of a group, over the mean; NULL: equal ones. */
static fab_status find_columns(const training *t, double **out, fab_error *err) {
    fab_job_spec s = t->job->spec;
    FAB_OWNED fab_embedding_table *tables = NULL;
    size_t n = 0;
    FAB_PASS(fab_job_find_tables(&s, t->job->where, &tables, &n, err));
    FAB_OWNED_NEW(fab_table_share, shares, s.table_group, err);
    FAB_OWNED_NEW(double, columns, s.table_group, err);
    FAB_PASS(fab_job_table_shares(tables, n, (uint32_t)s.table_group, t->job->where, shares, err));
    FAB_FILL(columns, s.table_group, shares[fab_at].columns);
    return FAB_GIVE(*out, columns);
}

/* Groups of GPUs that do not stand in a row, or one of them alone. */
static void emit_tables(training *t, uint64_t bytes, const uint64_t *shares, bool is_back, fab_phase_builder *builder) {
    const uint32_t size = (uint32_t)t->job->spec.table_group;
    const fab_all_to_all all = {.bytes = bytes, .share = (uint64_t *)shares, .by_receiver = is_back};
    for (uint32_t comm = 0; comm < t->job->n_gpus / size; comm++) {
        const uint32_t *members = t->gpu_of_rank + (size_t)comm * size;
        for (uint32_t i = 0; i < size && is_wanted(t, comm); i++) {
            for (uint32_t j = 0; j < size; j++) {
                if (i != j) {
                    fab_phase_add(builder, members[i], members[j], fab_all_bytes(&all, i, j), comm);
                }
            }
        }
    }
}

/* Groups of GPUs in a row hold all tables, and exchange for their own samples. */
static fab_status make_table_flows(training *t, const char *name, double bytes, double expected,
                                   fab_phase_builder *builder, fab_error *err) {
    const uint32_t n = t->job->n_gpus;
    const uint32_t size = (uint32_t)t->job->spec.table_group;
    const bool is_back = strstr(name, "grad") != NULL;
    const uint64_t mean = rounded(bytes) > 0 ? rounded(bytes) : 1;
    FAB_OWNED double *columns = NULL;
    FAB_OWNED uint64_t *shares = NULL;
    uint64_t sum = mean * size;
    if (fab_job_is_skewed(&t->job->spec)) {
        FAB_PASS(find_columns(t, &columns, err));
        FAB_PASS(FAB_NEW(shares, size, err));
        sum = 0;
        for (uint32_t i = 0; i < size; i++) {
            shares[i] = rounded(bytes * columns[i]);
            sum += shares[i];
        }
    }
    if (!only_one(t) && is_one_range(t, n) && bytes * n * (size - 1) < FAB_PHASE_MAX_BYTES) {
        *builder = fab_phase_of_all(name, "all-to-all", t->gpu_of_rank[0], n, mean);
        fab_phase *phase = &builder->phase;
        phase->n_flows = (uint64_t)n * (size - 1);
        phase->total_bytes = sum * (size - 1) * (n / size);
        phase->n_comms = n / size;
        phase->all.group = size;
        phase->all.share = shares;
        phase->all.by_receiver = is_back;
        shares = NULL;
    } else {
        FAB_PASS(fab_open_phase(t, builder, name, "all-to-all", (uint64_t)n * (size - 1), n / size, expected, err));
        emit_tables(t, mean, shares, is_back, builder);
    }
    return FAB_OK;
}

fab_status fab_make_embedding(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    const uint32_t n = t->job->n_gpus;
    const uint32_t size = (uint32_t)s->table_group;
    const uint32_t n_groups = n / size;
    const bool is_placed = fab_job_is_skewed(s); /* then vectors and gradients have different ends, and a phase each */
    const double times = is_placed ? 1 : 2;
    const double vectors = times * (double)s->batch * s->columns * (double)s->activation_bytes;
    const double expected = vectors * (size - 1) / size / (only_one(t) ? n_groups : 1);
    const double bytes = vectors / n / size;
    FAB_PASS(fab_check_comm(t, name, n_groups, err));
    FAB_PASS(make_table_flows(t, name, bytes, expected, builder, err));
    builder->phase.expected_bytes = expected;
    builder->phase.executions = (uint64_t)times;
    FAB_FORMAT(builder->phase.formula, "%sB x %.0f columns of %" PRIu64 " tables x %" PRIu64 " bytes x (n-1)/n%s%s",
               is_placed ? "" : "2 ", s->columns, s->tables, s->activation_bytes,
               n_groups > 1 ? ", groups of n GPUs" : "", is_placed ? "" : ": vectors forward, gradients backward");
    return FAB_OK;
}
