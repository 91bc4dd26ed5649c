/* A job specification with every default filled in and every product checked. */
#include "traffic_internal.h"

#include "fab/design.h"
#include "fab/gcd.h"
#include "fab/sharding.h"

FAB_RELEASES(fab_job_release, fab_job, servers, storage);

/* --- parallelism -------------------------------------------------------------------------------------------------- */

/* min(8, domain), or less where that divides neither the heads nor the GPUs; what is left when all others are given. */
static uint64_t default_tp(const fab_job *job, const fab_fabric *fabric) {
    const fab_job_spec *s = &job->spec;
    uint64_t most = fabric->gpus_per_domain < 8 ? fabric->gpus_per_domain : 8;
    uint64_t others = s->pp <= job->n_gpus && s->cp <= job->n_gpus ? s->pp * s->cp : UINT32_MAX;
    if (s->dp != 0 && s->dp <= job->n_gpus && others <= job->n_gpus) {
        uint64_t rest = job->n_gpus / (s->dp * others);
        return rest >= 1 && rest <= most ? rest : most;
    }
    for (uint64_t tp = most; tp > 1; tp--) {
        if (s->heads % tp == 0 && job->n_gpus % tp == 0 && (job->n_gpus / tp) % others == 0) {
            return tp;
        }
    }
    return 1;
}

/* ": pp may be 1, 3, 9": what goes with the other sizes; nothing where tp and cp go with none. */
static void add_possible_pp(const fab_job *job, char out[96]) {
    const fab_job_spec *s = &job->spec;
    uint64_t inner = s->tp <= job->n_gpus && s->cp <= job->n_gpus ? s->tp * s->cp : 0;
    const char *between = "; pp may be ";
    out[0] = '\0';
    for (uint64_t pp = 1; inner > 0 && job->n_gpus % inner == 0 && pp <= job->n_gpus / inner && pp <= s->layers; pp++) {
        if (job->n_gpus / inner % pp == 0) {
            fab_append(out, 96, "%s%" PRIu64, between, pp);
            between = ", ";
        }
    }
    uint64_t most = inner > 0 ? job->n_gpus / inner * inner : 0;
    if (out[0] == '\0') {
        fab_append(out, 96, "; tp x cp must divide %" PRIu32, job->n_gpus);
    }
    if (out[0] != '\0' && most > 0 && most < job->n_gpus) {
        fab_append(out, 96, ", or gpus=%" PRIu64 " takes fewer GPUs", most);
    }
}

static fab_status fail_product(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    char cp[32] = "";
    double product = (double)s->tp * (double)s->cp * (double)s->pp;
    if (s->cp > 1) {
        FAB_FORMAT(cp, "cp %" PRIu64 " x ", s->cp);
    }
    if (s->dp == 0) {
        char possible[96];
        add_possible_pp(job, possible);
        return fab_fail(err, FAB_EINPUT, job->where,
                        "tp %" PRIu64 " x %spp %" PRIu64 " does not divide the job's %" PRIu32 " GPUs%s", s->tp, cp,
                        s->pp, job->n_gpus, possible);
    }
    char fitting[96] = "";
    if (product <= job->n_gpus && fmod(job->n_gpus, product) == 0) {
        FAB_FORMAT(fitting, "; dp=%.0f takes all of them", job->n_gpus / product);
    }
    const double per_server = job->n_servers > 0 ? (double)job->n_gpus / job->n_servers : 0;
    if (per_server > 0 && product * (double)s->dp > job->n_gpus) {
        fab_append(fitting, sizeof fitting, "; they need %.0f servers, and it has %" PRIu32,
                   ceil(product * (double)s->dp / per_server), job->n_servers);
    }
    return fab_fail(err, FAB_EINPUT, job->where,
                    "tp %" PRIu64 " x %spp %" PRIu64 " x dp %" PRIu64 " = %.15g ranks, but the job has %" PRIu32
                    " GPUs%s",
                    s->tp, cp, s->pp, s->dp, product * (double)s->dp, job->n_gpus, fitting);
}

/* Experts are spread over ranks that hold copies of everything else: ep divides dp x cp, as in Megatron-LM. */
static fab_status check_experts(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    if (s->ep == 1) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(s->experts <= 1, err, FAB_EINPUT, job->where, "ep %" PRIu64 " needs experts, and model %s has none",
                  s->ep, s->model);
    FAB_REFUSE_IF(s->experts % s->ep != 0, err, FAB_EINPUT, job->where,
                  "experts %" PRIu64 " does not divide by ep %" PRIu64, s->experts, s->ep);
    FAB_REFUSE_IF(s->dp * s->cp % s->ep != 0, err, FAB_EINPUT, job->where,
                  "dp %" PRIu64 " x cp %" PRIu64 " does not divide by ep %" PRIu64, s->dp, s->cp, s->ep);
    return FAB_OK;
}

static fab_status check_divisors(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    FAB_REFUSE_IF(s->heads % s->tp != 0, err, FAB_EINPUT, job->where,
                  "heads %" PRIu64 " does not divide by tp %" PRIu64, s->heads, s->tp);
    FAB_REFUSE_IF(s->seq % s->cp != 0, err, FAB_EINPUT, job->where, "seq %" PRIu64 " does not divide by cp %" PRIu64,
                  s->seq, s->cp);
    return check_experts(job, err);
}

/* The published spread of the model's experts, or the largest below that the copies allow; of own ones all of them. */
static uint64_t default_ep(const fab_job *job) {
    const fab_job_spec *s = &job->spec;
    const fab_model *published = fab_model_find(s->model);
    bool as_published = published != NULL && published->experts == s->experts && published->ep > 0;
    uint64_t ep = as_published ? published->ep : s->experts;
    while (ep > 1 && (s->experts % ep != 0 || s->dp * s->cp % ep != 0)) {
        ep--;
    }
    return ep > 1 ? ep : 1;
}

static fab_status resolve_dimensions(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    fab_job_spec *s = &job->spec;
    fab_job_default(&s->cp, 1);
    fab_job_default(&s->pp, 1);
    if (s->tp == 0) {
        s->tp = default_tp(job, fabric);
    }
    /* Each factor is checked before it is multiplied: no product exceeds n_gpus^2. */
    uint64_t n = job->n_gpus;
    bool fits = s->tp <= n && s->pp <= n && s->cp <= n && s->tp * s->pp <= n && s->tp * s->pp * s->cp <= n;
    uint64_t inner = fits ? s->tp * s->pp * s->cp : 1;
    if (s->dp == 0) {
        FAB_RETURN_IF(!fits || n % inner != 0, fail_product(job, err));
        s->dp = n / inner;
    }
    FAB_RETURN_IF(!fits || s->dp > n || inner * s->dp != n, fail_product(job, err));
    job->size[FAB_DIM_TP] = (uint32_t)s->tp;
    job->size[FAB_DIM_CP] = (uint32_t)s->cp;
    job->size[FAB_DIM_PP] = (uint32_t)s->pp;
    job->size[FAB_DIM_DP] = (uint32_t)s->dp;
    s->ep = s->ep == 0 ? default_ep(job) : s->ep;
    return check_divisors(job, err);
}

/* Every GPU holds its share of the tables and a copy of the dense part. */
static fab_status resolve_ranking(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    const struct {
        const char *key;
        uint64_t *value;
    } ONES[] = {{"tp", &s->tp}, {"cp", &s->cp}, {"pp", &s->pp}, {"ep", &s->ep}, {"interleave", &s->interleave}};
    for (size_t i = 0; i < sizeof ONES / sizeof ONES[0]; i++) {
        fab_job_default(ONES[i].value, 1);
        FAB_REFUSE_IF(*ONES[i].value != 1, err, FAB_EINPUT, job->where,
                      "%s %" PRIu64 ": a ranking job spreads its tables over all GPUs and has no %s", ONES[i].key,
                      *ONES[i].value, ONES[i].key);
    }
    fab_job_default(&s->dp, job->n_gpus);
    fab_job_default(&s->table_group, job->n_gpus);
    FAB_RETURN_IF(s->dp != job->n_gpus, fail_product(job, err));
    FAB_REFUSE_IF(s->dp % s->table_group != 0 || s->table_group < 2, err, FAB_EINPUT, job->where,
                  "table-group %" PRIu64 " is no divisor of the job's %" PRIu64 " GPUs, or a single one",
                  s->table_group, s->dp);
    FAB_REFUSE_IF(s->batch % s->dp != 0, err, FAB_EINPUT, job->where,
                  "batch %" PRIu64 " does not divide by the job's %" PRIu64 " GPUs", s->batch, s->dp);
    for (int dim = 0; dim < FAB_N_DIMS; dim++) {
        job->size[dim] = dim == FAB_DIM_DP ? job->n_gpus : 1;
    }
    s->microbatch_auto = false;
    s->interleave_auto = false;
    s->microbatch = s->batch / s->dp;
    job->microbatches = 1;
    return FAB_OK;
}

/* The fewest sequences of which both pools have whole shares. */
static uint64_t share_of_pools(const fab_job_spec *s) {
    const uint64_t reads = s->microbatch * s->prefill_replicas;
    const uint64_t generates = s->dp - s->prefill_replicas;
    return reads / fab_gcd(reads, generates) * generates;
}

static fab_status resolve_batch(fab_job *job, uint64_t model_batch, fab_error *err) {
    fab_job_spec *s = &job->spec;
    s->microbatch_auto = s->microbatch == 0;
    s->interleave_auto = s->interleave == 0;
    fab_job_default(&s->microbatch, 1);
    fab_job_default(&s->interleave, 1);
    FAB_PASS(fab_job_check_stages(s, job->where, err));
    const bool has_pools = s->kind == FAB_JOB_SERVING && s->prefill_replicas > 0 && s->prefill_replicas < s->dp;
    uint64_t group = has_pools ? share_of_pools(s) : s->microbatch * s->dp;
    uint64_t whole = s->interleave > 1 ? group * s->pp : group; /* the interleaved schedule works in rounds of pp */
    FAB_REFUSE_IF(group == 0 || whole == 0, err, FAB_EINTERNAL, job->where,
                  "microbatch, pp or dp is 0 after the defaults");
    if (s->batch == 0) {
        /* Stages that nobody gave may have chunks, which are chosen later. */
        uint64_t unit = s->pp_auto && model_batch >= group * s->pp ? group * s->pp : whole;
        s->batch = fab_job_batch_of(model_batch, s->kind == FAB_JOB_TRAINING ? job->n_gpus : 1, unit);
        s->batch_unrounded = s->kind == FAB_JOB_TRAINING && s->batch != model_batch ? model_batch : 0;
    }
    FAB_REFUSE_IF(s->batch % group != 0 && !has_pools, err, FAB_EINPUT, job->where,
                  "batch %" PRIu64 " is not a multiple of microbatch %" PRIu64 " x dp %" PRIu64 " = %" PRIu64, s->batch,
                  s->microbatch, s->dp, group);
    FAB_REFUSE_IF(s->batch % whole != 0 && !has_pools, err, FAB_EINPUT, job->where,
                  "batch %" PRIu64 " gives %" PRIu64 " microbatches per pipeline; interleave %" PRIu64
                  " needs a multiple of pp %" PRIu64,
                  s->batch, s->batch / group, s->interleave, s->pp);
    job->microbatches = s->batch / group;
    return FAB_OK;
}

/* A prompt takes the place of the training sequence; no context parallelism in the model of serving. */
static fab_status resolve_serving(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    fab_job_default(&s->prompt, 1024);
    fab_job_default(&s->tokens, 256);
    FAB_REFUSE_IF(s->cp > 1, err, FAB_EUNSUPPORTED, job->where, "cp %" PRIu64 ": serving is modelled with cp 1 only",
                  s->cp);
    s->seq = s->prompt; /* the model keeps its own: a GPT has learned that many positions */
    return FAB_OK;
}

/* Both pools have whole shares of the batch, and of the experts. */
static fab_status resolve_pools(fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    const uint64_t reads = s->prefill_replicas;
    if (s->kind != FAB_JOB_SERVING || reads == 0) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(reads >= s->dp, err, FAB_EINPUT, job->where,
                  "prefill-replicas %" PRIu64 " of dp %" PRIu64 " leave no replica that generates tokens", reads,
                  s->dp);
    const uint64_t generates = s->dp - reads;
    FAB_REFUSE_IF(s->batch % (s->microbatch * reads) != 0 || s->batch % generates != 0, err, FAB_EINPUT, job->where,
                  "batch %" PRIu64 " is not a multiple of microbatch %" PRIu64 " x %" PRIu64
                  " replicas that read, and of the %" PRIu64 " that generate",
                  s->batch, s->microbatch, reads, generates);
    FAB_REFUSE_IF(s->ep > 1 && (reads % s->ep != 0 || generates % s->ep != 0), err, FAB_EINPUT, job->where,
                  "ep %" PRIu64 " divides not both %" PRIu64 " replicas that read and %" PRIu64 " that generate", s->ep,
                  reads, generates);
    job->microbatches = s->batch / (s->microbatch * reads);
    return FAB_OK;
}

/* --- sharding ----------------------------------------------------------------------------------------------------- */

/* Copies in a row, of which the first and the last are less than a scale-up domain of ranks apart: the most that divide
   all copies. */
static uint64_t copies_in_domain(const fab_job *job, uint32_t gpus_per_domain) {
    uint64_t copies = job->spec.dp * job->spec.cp;
    uint64_t most = 1;
    for (uint64_t n = 2; n <= copies; n++) {
        uint64_t cp = n < job->spec.cp ? n : job->spec.cp;
        uint64_t dp = (n + job->spec.cp - 1) / job->spec.cp;
        uint64_t ranks = (job->spec.tp - 1) * job->stride[FAB_DIM_TP] + (cp - 1) * job->stride[FAB_DIM_CP] +
                         (dp - 1) * job->stride[FAB_DIM_DP] + 1;
        most = ranks <= gpus_per_domain && copies % n == 0 ? n : most;
    }
    return most;
}

static bool has_shard_group(const fab_job_spec *s) {
    return s->shard_over[0] != '\0' && strcmp(s->shard_over, "all") != 0;
}

fab_status fab_job_share(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    fab_job_spec *s = &job->spec;
    uint64_t copies = s->dp * s->cp;
    bool domain = strcmp(s->shard_over, "domain") == 0;
    s->shard_group = 0;
    if (!has_shard_group(s)) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(s->zero == FAB_ZERO_0, err, FAB_EINPUT, job->where,
                  "shard-over %s: zero 0 shares nothing; give zero=1, 2 or 3", s->shard_over);
    if (domain) {
        s->shard_group = copies_in_domain(job, fabric->gpus_per_domain);
    } else if (strspn(s->shard_over, "0123456789") != strlen(s->shard_over) ||
               sscanf(s->shard_over, "%9" SCNu64, &s->shard_group) != 1) {
        return fab_fail(err, FAB_EINPUT, job->where, "shard-over: '%s' is neither all, domain nor a number of copies",
                        s->shard_over);
    }
    FAB_REFUSE_IF(s->shard_group < 2 || copies % s->shard_group != 0 || s->shard_group % s->ep != 0, err, FAB_EINPUT,
                  job->where,
                  "shard-over %s%s%" PRIu64 ": it must be 2 or more, divide the %" PRIu64
                  " copies (dp x cp), and be a multiple of ep %" PRIu64,
                  domain ? "domain" : "", domain ? " = " : "", s->shard_group, copies, s->ep);
    s->shard_group = s->shard_group == copies ? 0 : s->shard_group;
    return FAB_OK;
}

static fab_status check_adapters(const fab_job *job, fab_error *err) {
    FAB_REFUSE_IF(job->spec.lora_rank > 0 && job->model.latent != NULL, err, FAB_EUNSUPPORTED, job->where,
                  "lora-rank: the attention of %s has other matrices", job->spec.model);
    return FAB_OK;
}

static fab_status resolve_sharding(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    fab_job_spec *s = &job->spec;
    bool training = s->kind == FAB_JOB_TRAINING;
    s->zero = fab_job_zero(s);
    s->sharded = s->zero > FAB_ZERO_0;
    const char *only = s->zero > FAB_ZERO_1             ? "zero above 1"
                       : s->offload != FAB_OFFLOAD_NONE ? "offload"
                       : s->lora_rank > 0               ? "lora-rank"
                       : has_shard_group(s)             ? "shard-over"
                                                        : NULL;
    FAB_REFUSE_IF(!training && only != NULL, err, FAB_EUNSUPPORTED, job->where,
                  "%s is modelled in training only, not in %s", only, fab_job_kinds[s->kind]);
    FAB_PASS(check_adapters(job, err));
    return training ? fab_job_share(job, fabric, err) : FAB_OK;
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static fab_job_collective collective_of(const char *name) {
    int i = 0;
    while (strcmp(fab_job_collectives[i], name) != 0) {
        i++;
    }
    return (fab_job_collective)i;
}

static fab_status resolve_machine(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    fab_job_default(&s->activation_bytes, 2);
    fab_job_default(&s->dispatch_bytes, s->activation_bytes);
    fab_job_default(&s->gradient_bytes, 4);
    fab_job_default(&s->parameter_bytes, 2);
    fab_job_default(&s->optimizer_bytes, 12);
    s->offload_bps = s->offload_bps > 0 ? s->offload_bps : 55.4e9 * 8;
    s->host_memory_bps = s->host_memory_bps > 0 ? s->host_memory_bps : 60e9 * 8;
    fab_job_default(&s->sample_bytes, 4 * (job->spec.kind == FAB_JOB_RANKING ? s->tables : s->seq));
    if (s->attention == FAB_ATTENTION_AUTO) {
        s->attention = job->model.gated ? FAB_ATTENTION_FLASH : FAB_ATTENTION_STANDARD;
    }
    const char *gpu = s->gpu[0] != '\0' ? s->gpu : FAB_DEFAULT_GPU;
    if (strcmp(s->accelerator.name, gpu) != 0) { /* a file, or a spec that no design was read for */
        FAB_PASS(fab_gpu_read(gpu, job->where, &s->accelerator, err));
    }
    FAB_REFUSE_IF(s->kind == FAB_JOB_TRAINING && s->precision >= FAB_INT8, err, FAB_EINPUT, job->where,
                  "precision: %s is for serving; nobody trains in it", fab_precisions[s->precision]);
    if (strcmp(fab_job_collectives[s->dp_collective], "default") == 0) {
        const bool is_ranking = s->kind == FAB_JOB_RANKING && !s->sharded && s->zero <= FAB_ZERO_0;
        s->dp_collective = !is_ranking                        ? FAB_COLLECTIVE_RING
                           : s->accelerator.nccl.launch_s > 0 ? collective_of("nccl")
                                                              : collective_of("tree");
    }
    s->gpu_hour_usd = s->gpu_hour_usd > 0 ? s->gpu_hour_usd : s->accelerator.hour_usd;
    return fab_gpu_resolve(&s->accelerator, s->precision, job->where, &s->precision, err);
}

/* The model and how it is spread over the GPUs. */
static fab_status resolve_shape(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    FAB_PASS(fab_job_find_model(job, err));
    if (job->spec.kind == FAB_JOB_RANKING) {
        FAB_PASS(resolve_ranking(job, err));
    } else {
        FAB_PASS(job->spec.kind == FAB_JOB_SERVING ? resolve_serving(job, err) : FAB_OK);
        FAB_PASS(resolve_dimensions(job, fabric, err));
        job->batch_is_open = job->spec.kind == FAB_JOB_SERVING && job->spec.batch == 0;
        FAB_PASS(resolve_batch(job, job->spec.kind == FAB_JOB_SERVING ? 1 : job->model.batch, err));
        FAB_PASS(resolve_pools(job, err));
    }
    job->model.batch = job->spec.batch;
    return FAB_OK;
}

static fab_status resolve_sizes(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    FAB_PASS(resolve_shape(job, fabric, err));
    FAB_PASS(resolve_machine(job, err));
    FAB_PASS(fab_job_resolve_shares(job, err));
    FAB_PASS(fab_job_order(job, err));
    FAB_PASS(resolve_sharding(job, fabric, err));
    fab_job_fill_replicas(job);
    fab_job_memory_make(&job->spec, &job->model, job->microbatches, &job->memory);
    return FAB_OK;
}

fab_status fab_job_open(fab_job *job, fab_error *err) {
    FAB_PASS(fab_job_find_model(job, err));
    FAB_PASS(resolve_machine(job, err));
    return check_adapters(job, err);
}

fab_status fab_job_open_first(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job job = {.servers = NULL, .spec = design->jobs[0]};
    FAB_FORMAT(job.where, "%s", job.spec.where);
    FAB_PASS(fab_job_find_servers(&job, design, fabric, err));
    FAB_PASS(fab_job_open(&job, err));
    return FAB_GIVE(*out, job);
}

/* The fewest stages with which it fits; unchanged where none do. `tried` is scratch. */
static void add_stages(const fab_job *given, const fab_fabric *fabric, fab_job *tried, fab_job *job) {
    for (uint64_t pp = 2; !job->memory.fits && pp <= job->model.layers && pp <= job->n_gpus; pp++) {
        fab_error why = {0};
        *tried = *given;
        tried->spec.pp = pp;
        tried->spec.pp_auto = true;
        tried->spec.interleave = given->spec.interleave_given ? given->spec.interleave : 0; /* stages have idle time */
        if (job->n_gpus % pp == 0 && resolve_sizes(tried, fabric, &why) == FAB_OK && tried->memory.fits) {
            *job = *tried;
        }
    }
}

/* Where neither stages nor replicas are given, the fewest stages with which the job fits its GPUs; of a default job the
 * largest model that does. One stage where nothing helps. */
static fab_status choose_stages(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    bool chooses = s->kind == FAB_JOB_TRAINING && s->pp == 0 && s->dp == 0 && s->memory_check != FAB_MEMORY_CHECK_OFF;
    FAB_OWNED_NEW(fab_job, space, 3, err); /* given, tried, smaller */
    space[0] = *job;
    fab_error one_stage = {0};
    fab_status status = resolve_sizes(job, fabric, &one_stage);
    bool asks_for_stages = s->interleave > 1 || s->stage_layers[0] != '\0';
    if (chooses && !job->memory.fits && (status == FAB_OK || asks_for_stages)) {
        add_stages(&space[0], fabric, &space[1], job);
    }
    FAB_REFUSE_IF(status != FAB_OK && !job->memory.fits, err, status, one_stage.where, "%s", one_stage.text);
    if (!chooses || job->memory.fits) {
        return FAB_OK;
    }
    for (bool is_smallest = job->model_given; !job->memory.fits && !is_smallest;) {
        fab_error why = {0};
        space[0].n_models_smaller++;
        space[2] = space[0];
        if (resolve_sizes(&space[2], fabric, &why) != FAB_OK) {
            break;
        }
        add_stages(&space[0], fabric, &space[1], &space[2]);
        is_smallest = space[2].model.name == fab_models[0].name;
        if (space[2].memory.fits) {
            *job = space[2];
        }
    }
    return FAB_OK;
}

/* Sizes that are to be chosen are chosen before: by who knows engines and times. */
static fab_status check_planned(const fab_job *job, fab_error *err) {
    unsigned open = fab_job_plan_open(&job->spec);
    for (size_t i = 0; i < FAB_N_PLAN_KEYS; i++) {
        FAB_REFUSE_IF((open & 1U << i) != 0, err, FAB_EUNSUPPORTED, job->where,
                      "%s is to be chosen, which run, route, traffic, sweep, compare, mix, place, diff and study "
                      "do; type here what 'fabriscope plan' finds",
                      fab_plan_keys[i]);
    }
    return FAB_OK;
}

fab_status fab_job_resolve(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job job = {.servers = NULL};
    if (design->n_jobs > 0) {
        job.spec = design->jobs[0];
    } else {
        FAB_PASS(fab_design_default_job(&job.spec, err));
        job.spec.is_default = true;
        job.spec.routed_chunks = design->jobs[0].routed_chunks;
    }
    if (job.spec.where[0] != '\0') {
        FAB_FORMAT(job.where, "%s", job.spec.where);
    } else {
        FAB_FORMAT(job.where, "job%s%s", job.spec.id[0] != '\0' ? " " : "", job.spec.id);
    }
    FAB_PASS(check_planned(&job, err));
    FAB_PASS(fab_job_find_servers(&job, design, fabric, err));
    FAB_PASS(choose_stages(&job, fabric, err));
    if (job.spec.interleave_auto && job.spec.routed_chunks > 0) {
        job.spec.interleave = job.spec.routed_chunks;
    }
    *out = job;
    job.servers = NULL;
    job.storage = NULL;
    return FAB_OK;
}
