/* The plans of a job: which sizes go together, and what else may be chosen. */
#include "fab/job_space.h"
#include "traffic_internal.h"

#include "fab/design.h"
#include "fab/sharding.h"

#define EVERY_CHUNKS 32
#define MOST_CHUNKS  256

const char *const fab_rank_orders[FAB_N_RANK_ORDERS] = {"tp-cp-pp-dp", "tp-cp-dp-pp", "tp-dp-cp-pp",
                                                        "tp-dp-pp-cp", "tp-pp-cp-dp", "tp-pp-dp-cp"};

struct fab_job_space {
    fab_job job;        /* of the plan that was taken last; all but the plan is resolved */
    fab_job_plan given; /* where a key is not open; sizes of 0: nobody said */
    const fab_fabric *fabric;
    unsigned open;
    fab_job_plan *shapes;
    size_t n_shapes, capacity;
};

static bool is_open(const fab_job_space *s, fab_plan_key key) {
    return (s->open & 1U << key) != 0;
}

FAB_FREES_AFTER(fab_job_space_free, fab_job_space, space) {
    fab_job_release(&space->job);
    free(space->shapes);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The next divisor of n from `at` to `most`, or the given size alone. 0: no more. */
static uint64_t next_size(const fab_job_space *s, fab_plan_key key, uint64_t given, uint64_t n, uint64_t most,
                          uint64_t at) {
    if (!is_open(s, key)) {
        uint64_t only = given > 0 ? given : 1;
        return at <= only && only <= most && n % only == 0 ? only : 0;
    }
    while (at <= most && at <= n && n % at != 0) {
        at++;
    }
    return at <= most && at <= n ? at : 0;
}

/* Spreads of the experts, for sizes that are known but for them. */
static fab_status add_experts(fab_job_space *s, fab_job_plan shape, fab_error *err) {
    uint64_t experts = s->job.spec.experts > 1 ? s->job.spec.experts : 1;
    uint64_t copies = shape.dp * shape.cp;
    for (uint64_t ep = 1; (ep = next_size(s, FAB_PLAN_EP, s->given.ep, experts, experts, ep)) > 0; ep++) {
        if (copies % ep == 0) {
            shape.ep = ep;
            FAB_PASS(FAB_APPEND(s->shapes, s->n_shapes, s->capacity, err, shape));
        }
    }
    return FAB_OK;
}

static fab_status list_shapes(fab_job_space *s, fab_error *err) {
    const uint64_t n = s->job.n_gpus;
    const fab_job_spec *job = &s->job.spec;
    const fab_job_plan *given = &s->given;
    const uint64_t stages = job->layers + (job->embedding_as_layer ? 2 : 0);
    fab_job_plan p = {.interleave = 1, .microbatch = 1, .order = given->order};
    for (p.tp = 1; (p.tp = next_size(s, FAB_PLAN_TP, given->tp, n, job->heads, p.tp)) > 0; p.tp++) {
        const uint64_t of_tp = job->heads % p.tp == 0 ? n / p.tp : 0;
        for (p.cp = 1; of_tp > 0 && (p.cp = next_size(s, FAB_PLAN_CP, given->cp, of_tp, job->seq, p.cp)) > 0; p.cp++) {
            const uint64_t of_cp = job->seq % p.cp == 0 ? of_tp / p.cp : 0;
            for (p.pp = 1; of_cp > 0 && (p.pp = next_size(s, FAB_PLAN_PP, given->pp, of_cp, stages, p.pp)) > 0;
                 p.pp++) {
                p.dp = of_cp / p.pp;
                FAB_PASS(is_open(s, FAB_PLAN_DP) || p.dp == given->dp ? add_experts(s, p, err) : FAB_OK);
            }
        }
    }
    return FAB_OK;
}

/* --- set-up ------------------------------------------------------------------------------------------------------- */

static fab_status open_job(const fab_design *design, const fab_fabric *fabric, fab_job_space *s, fab_error *err) {
    fab_job_spec *spec = &s->job.spec;
    if (design->n_jobs > 0) {
        *spec = design->jobs[0];
    } else {
        FAB_PASS(fab_design_default_job(spec, err));
        spec->plan = FAB_PLAN_AUTO;
        spec->is_default = true;
    }
    FAB_FORMAT(s->job.where, "%s", spec->where[0] != '\0' ? spec->where : "job");
    s->open = fab_job_plan_is_left(spec) ? ((1U << FAB_N_PLAN_KEYS) - 1) & ~spec->plan_given : fab_job_plan_open(spec);
    s->given = fab_job_plan_of(spec);
    s->given.order = spec->order_given ? 0 : s->given.order; /* where nobody said one, that which a search tries */
    s->fabric = fabric;
    FAB_REFUSE_IF(design->n_jobs > 1, err, FAB_EUNSUPPORTED, s->job.where,
                  "this search is of one job, and the design has %zu: run plans each of them that gives no sizes, "
                  "alone on its servers, and prints its keys",
                  design->n_jobs);
    FAB_REFUSE_IF(spec->kind != FAB_JOB_TRAINING, err, FAB_EUNSUPPORTED, s->job.where,
                  "plans are of training, not of %s", fab_job_kinds[spec->kind]);
    FAB_PASS(fab_job_find_servers(&s->job, design, fabric, err));
    return fab_job_open(&s->job, err);
}

/* That of the GPUs; where no sizes divide it, which are given then, the one that a job with the fewest replicas has. */
static uint64_t batch_of_space(const fab_job_space *s) {
    const uint64_t batch = fab_job_batch(s->job.model.batch, s->job.n_gpus);
    uint64_t least = 0;
    FAB_EACH(const fab_job_plan, p, s->shapes, s->n_shapes) {
        const uint64_t rounds = !is_open(s, FAB_PLAN_INTERLEAVE) && s->given.interleave > 1 ? p->pp : 1;
        const uint64_t unit = p->dp * (is_open(s, FAB_PLAN_MICROBATCH) ? 1 : s->given.microbatch) * rounds;
        if (batch % unit == 0) {
            return batch;
        }
        least = least == 0 || unit < least ? unit : least;
    }
    return least > 0 ? fab_job_batch_of(s->job.model.batch, s->job.n_gpus, least) : batch;
}

fab_status fab_job_space_new(const fab_design *design, const fab_fabric *fabric, fab_job_space **out, fab_error *err) {
    FAB_OWNS_NEW(fab_job_space_free_owned, fab_job_space, s, 1, err);
    FAB_PASS(open_job(design, fabric, s, err));
    FAB_PASS(list_shapes(s, err));
    if (s->job.spec.batch == 0) {
        s->job.spec.batch = batch_of_space(s);
        s->job.spec.batch_unrounded = s->job.spec.batch != s->job.model.batch ? s->job.model.batch : 0;
    }
    s->job.model.batch = s->job.spec.batch;
    FAB_REFUSE_IF(s->n_shapes == 0, err, FAB_ENOSOLUTION, s->job.where,
                  "no tp, cp, pp, dp and ep that go with what is given have the job's %" PRIu32
                  " GPUs as product (heads %" PRIu64 ", seq %" PRIu64 ", layers %" PRIu64 ", experts %" PRIu64 ")",
                  s->job.n_gpus, s->job.spec.heads, s->job.spec.seq, s->job.spec.layers, s->job.spec.experts);
    return FAB_GIVE(*out, s);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

const fab_job_plan *fab_job_space_shapes(const fab_job_space *space, size_t *out_n) {
    *out_n = space->n_shapes;
    return space->shapes;
}

size_t fab_job_space_microbatches(const fab_job_space *space, uint64_t out[FAB_PLAN_MICROBATCHES]) {
    bool open = is_open(space, FAB_PLAN_MICROBATCH);
    FAB_FILL(out, FAB_PLAN_MICROBATCHES, open ? UINT64_C(1) << fab_at : space->given.microbatch);
    return open ? FAB_PLAN_MICROBATCHES : 1;
}

size_t fab_job_space_recomputes(const fab_job_space *space, fab_recompute out[3]) {
    bool open = is_open(space, FAB_PLAN_RECOMPUTE);
    FAB_FILL(out, 3, open ? (fab_recompute)(FAB_RECOMPUTE_FULL + fab_at) : space->given.recompute);
    return open ? 3 : 1;
}

size_t fab_job_space_sequences(const fab_job_space *space, const fab_job_plan *shape, bool out[2]) {
    bool splits = shape->tp > 1 && space->job.spec.tp_collective == FAB_COLLECTIVE_RING;
    out[0] = is_open(space, FAB_PLAN_SEQUENCE) ? splits : space->given.sequence_parallel;
    out[1] = false;
    return is_open(space, FAB_PLAN_SEQUENCE) && splits ? 2 : 1;
}

size_t fab_job_space_zeros(const fab_job_space *space, const fab_job_plan *shape, fab_zero out[4]) {
    bool open = is_open(space, FAB_PLAN_ZERO);
    FAB_FILL(out, 4, open ? (fab_zero)(FAB_ZERO_0 + fab_at) : space->given.zero);
    return open && shape->dp * shape->cp > 1 ? 4 : 1;
}

uint64_t fab_job_space_next_interleave(const fab_job_space *space, const fab_job_plan *plan, uint64_t after) {
    const fab_job_spec *job = &space->job.spec;
    const uint64_t units = job->layers + (job->embedding_as_layer ? 2 : 0);
    const uint64_t fullest = (units + plan->pp - 1) / plan->pp;
    const uint64_t microbatches = job->batch / (plan->dp * plan->microbatch);
    if (!is_open(space, FAB_PLAN_INTERLEAVE)) {
        return after == 0 ? space->given.interleave : 0;
    }
    bool several = plan->pp > 1 && job->schedule == FAB_SCHEDULE_1F1B && microbatches % plan->pp == 0;
    uint64_t last = several ? units / plan->pp : 1; /* of the emptiest stage, but for a list of layers */
    for (uint64_t v = after + 1; v <= last && v <= MOST_CHUNKS; v++) {
        if (v <= EVERY_CHUNKS || fullest % v == 0) {
            return v;
        }
    }
    return 0;
}

/* --- a plan ------------------------------------------------------------------------------------------------------- */

fab_job_plan fab_job_plan_of(const fab_job_spec *job) {
    uint32_t order = FAB_N_RANK_ORDERS - 1;
    while (order > 0 && strcmp(job->order, fab_rank_orders[order]) != 0) {
        order--;
    }
    return (fab_job_plan){.tp = job->tp,
                          .cp = job->cp,
                          .pp = job->pp,
                          .dp = job->dp,
                          .ep = job->ep,
                          .interleave = job->interleave > 0 ? job->interleave : 1,
                          .microbatch = job->microbatch > 0 ? job->microbatch : 1,
                          .recompute = job->recompute,
                          .zero = fab_job_zero(job),
                          .sequence_parallel = job->sequence_parallel,
                          .order = order};
}

static void set_plan(const fab_job_plan *plan, fab_job_spec *job) {
    job->tp = plan->tp;
    job->cp = plan->cp;
    job->pp = plan->pp;
    job->dp = plan->dp;
    job->ep = plan->ep;
    job->interleave = plan->interleave;
    job->microbatch = plan->microbatch;
    job->recompute = plan->recompute;
    job->zero = plan->zero;
    job->sharded = plan->zero > FAB_ZERO_0;
    job->sequence_parallel = plan->sequence_parallel;
    if (plan->order > 0) {
        FAB_FORMAT(job->order, "%s", fab_rank_orders[plan->order]);
    }
}

const fab_job_spec *fab_job_space_take(fab_job_space *space, const fab_job_plan *plan, uint64_t *out_microbatches) {
    fab_job *job = &space->job;
    const uint64_t group = plan->dp * plan->microbatch;
    set_plan(plan, &job->spec);
    job->size[FAB_DIM_TP] = (uint32_t)plan->tp;
    job->size[FAB_DIM_CP] = (uint32_t)plan->cp;
    job->size[FAB_DIM_PP] = (uint32_t)plan->pp;
    job->size[FAB_DIM_DP] = (uint32_t)plan->dp;
    job->microbatches = job->spec.batch / group;
    bool divides = job->spec.batch % group == 0 && (plan->interleave == 1 || job->microbatches % plan->pp == 0);
    if (!divides || fab_job_check_stages(&job->spec, NULL, NULL) != FAB_OK || fab_job_order(job, NULL) != FAB_OK ||
        fab_job_share(job, space->fabric, NULL) != FAB_OK) {
        return NULL;
    }
    *out_microbatches = job->microbatches;
    return &job->spec;
}

double fab_job_space_room(const fab_job_space *space) {
    const fab_job_spec *job = &space->job.spec;
    return job->memory_check == FAB_MEMORY_CHECK_OFF ? INFINITY : fab_memory_room(job);
}

void fab_job_space_memory(const fab_job_space *space, fab_job_memory *out) {
    fab_job_memory_make(&space->job.spec, &space->job.model, space->job.microbatches, out);
}

/* Members along a dimension among as many ranks in a row as a domain has GPUs. */
static uint64_t along(const fab_job_space *space, fab_dimension dim) {
    uint64_t stride = space->job.stride[dim];
    uint64_t most = (space->fabric->gpus_per_domain + stride - 1) / stride;
    return most < space->job.size[dim] ? most : space->job.size[dim];
}

uint64_t fab_job_space_together(const fab_job_space *space, fab_rank_group group) {
    const fab_fabric *f = space->fabric;
    const fab_job *job = &space->job;
    bool in_order = true; /* or ranks of a domain may be no row */
    for (uint32_t i = 1; i < job->n_servers && f->gpus_per_domain > f->gpus_per_server; i++) {
        in_order = in_order && job->servers[i] > job->servers[i - 1];
    }
    const uint64_t copies = (uint64_t)job->size[FAB_DIM_CP] * job->size[FAB_DIM_DP];
    switch (group) {
    case FAB_GROUP_TP: return in_order ? along(space, FAB_DIM_TP) : job->size[FAB_DIM_TP];
    case FAB_GROUP_CP: return in_order ? along(space, FAB_DIM_CP) : job->size[FAB_DIM_CP];
    case FAB_GROUP_PP: return in_order ? along(space, FAB_DIM_PP) : job->size[FAB_DIM_PP];
    case FAB_GROUP_COPIES: break;
    }
    return in_order ? along(space, FAB_DIM_CP) * along(space, FAB_DIM_DP) : copies;
}

uint64_t fab_job_space_servers(const fab_job_space *space) {
    const fab_fabric *f = space->fabric;
    uint64_t per_domain = (f->gpus_per_domain + f->gpus_per_server - 1) / f->gpus_per_server;
    uint64_t most = space->job.n_servers * per_domain;
    return most < f->n_servers ? most : f->n_servers;
}

const fab_model *fab_job_space_model(const fab_job_space *space) {
    return &space->job.model;
}

uint32_t fab_job_space_gpus(const fab_job_space *space) {
    return space->job.n_gpus;
}

void fab_job_plan_apply(const fab_job_space *space, const fab_job_plan *plan, fab_job_spec *job) {
    set_plan(plan, job);
    FAB_FORMAT(job->model, "%s", space->job.spec.model);
    job->batch = space->job.spec.batch;
    job->batch_unrounded = space->job.spec.batch_unrounded;
    job->plan_chosen = true;
    job->ep_chosen = (job->plan_given & 1U << FAB_PLAN_EP) == 0;
    job->plan = FAB_PLAN_GIVEN;
    job->plan_asked = 0;
    job->plan_given = (1U << FAB_N_PLAN_KEYS) - 1;
    job->interleave_given = true;
}

static void append_or_auto(const char *key, uint64_t value, char out[192]) {
    fab_append(out, 192, value > 0 ? ",%s=%" PRIu64 : ",%s=auto", key, value);
}

const char *fab_job_plan_text(const fab_job_plan *p, char out[192]) {
    (void)snprintf(out, 192, "tp=%" PRIu64 ",cp=%" PRIu64 ",pp=%" PRIu64 ",dp=%" PRIu64 ",ep=%" PRIu64, p->tp, p->cp,
                   p->pp, p->dp, p->ep);
    append_or_auto("interleave", p->interleave, out);
    append_or_auto("microbatch", p->microbatch, out);
    fab_append(out, 192, ",recompute=%s,zero=%s,sequence-parallel=%s%s%s", fab_recomputes[p->recompute],
               fab_zeros[p->zero], p->sequence_parallel ? "yes" : "no", p->order > 0 ? ",order=" : "",
               p->order > 0 ? fab_rank_orders[p->order] : "");
    return out;
}
