/*
 * What phases take at least, in closed form: the bytes that must leave scale-up domains over all their NICs, or those
 * that stay inside over all scale-up links. Of a communicator of n members, of which at most k are in a domain, with S
 * bytes for each: there are at least n / k domains, and a reduce-scatter or an all-gather brings (n - k) / n S into or
 * out of each, a direct exchange of everybody with everybody (n - k) / n of what is sent. All communicators of a phase
 * share the same NICs.
 */
#include "plan_internal.h"

#include "fab/job_shares.h"
#include "fab/sharding.h"
#include "fab/stages.h"

void plan_rates_find(const fab_fabric *fabric, fab_job_space *space, plan_rates *out) {
    double nic_bps = 0;
    *out = (plan_rates){0};
    for (fab_node_id v = fabric->first[FAB_NODE_NIC]; v < fabric->first[FAB_NODE_NIC + 1]; v++) {
        double bps = 0;
        FAB_EACH_LINK(fabric, v, link) {
            const fab_link_class *c = fab_class_of(fabric, link);
            bps += c->kind == FAB_LINK_ACCESS ? c->usable_bps : 0;
        }
        nic_bps = fmax(nic_bps, bps);
    }
    out->nics_bps = nic_bps * fabric->nics_per_server * (double)fab_job_space_servers(space);
    FAB_EACH(const fab_link_class, c, fabric->classes, fabric->n_classes) {
        out->domain_bps = c->kind == FAB_LINK_SCALEUP ? fmax(out->domain_bps, c->usable_bps) : out->domain_bps;
    }
}

/* `bytes`: of the whole phase, `leaving`: those that leave domains. */
static fab_phase_time floor_of(const plan_rates *r, double n_gpus, double bytes, double leaving) {
    bool inside = leaving <= 0;
    double out_s = r->nics_bps > 0 ? leaving * 8 / r->nics_bps : 0;
    double all_s = r->domain_bps > 0 ? bytes * 8 / (n_gpus * r->domain_bps + r->nics_bps) : 0;
    double inside_s = r->domain_bps > 0 ? bytes * 8 / (n_gpus * r->domain_bps) : 0;
    return (fab_phase_time){.transfer_s = inside ? inside_s : fmax(out_s, all_s), .executions = 1, .scale_up = inside};
}

/* Part of what a group of n sends that leaves a domain with at most k of them, for all domains together over S. */
static double leaves(double n, double k) {
    return k < n ? (n - k) / k : 0;
}

static fab_phase_time tensor(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, double n_gpus,
                             double repeated) {
    double t = (double)job->tp;
    double k = (double)fab_job_space_together(space, FAB_GROUP_TP);
    double tensor_bytes = (double)job->batch * (double)job->seq * (double)job->hidden * (double)job->activation_bytes;
    double passes = 2 * (4 + 2 * repeated) * (double)job->layers * tensor_bytes;
    if (job->tp == 1 || job->tp_collective != FAB_COLLECTIVE_RING) {
        return (fab_phase_time){.scale_up = k >= t};
    }
    return floor_of(r, n_gpus, passes * (t - 1), passes * leaves(t, k));
}

static fab_phase_time context(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, double n_gpus,
                              double repeated) {
    const fab_model *model = fab_job_space_model(space);
    double c = (double)job->cp;
    double t = (double)job->tp;
    double k = (double)fab_job_space_together(space, FAB_GROUP_CP);
    double heads = model->kv_heads > job->tp ? (double)model->kv_heads / t : 1;
    double kv = model->latent != NULL ? (double)(model->latent->key_value_rank + model->latent->rotated)
                                      : 2 * heads * (double)model->hidden / (double)model->heads;
    double all = (3 + repeated) * (double)job->batch * (double)job->seq * (double)job->layers * t * kv *
                 (double)job->activation_bytes;
    return job->cp > 1 ? floor_of(r, n_gpus, all * (c - 1), all * leaves(c, k)) : (fab_phase_time){.scale_up = true};
}

/* Of p stages at least p / k - 1 boundaries lie between domains. */
static fab_phase_time pipeline(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, double n_gpus) {
    double p = (double)job->pp;
    double k = (double)fab_job_space_together(space, FAB_GROUP_PP);
    double boundary = 2 * (double)job->batch * (double)job->seq * (double)job->hidden * (double)job->activation_bytes *
                      (job->scatter_gather ? 1 : (double)job->tp);
    return job->pp > 1 ? floor_of(r, n_gpus, boundary * (p - 1), boundary * fmax(ceil(p / k) - 1, 0))
                       : (fab_phase_time){.scale_up = true};
}

/* Parameters that all copies share; experts that are spread have fewer copies and are left out. */
static void replicas(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, double n_gpus,
                     uint64_t microbatches, fab_job_times *out) {
    const fab_data_exchanges x = fab_job_data_exchanges(job, microbatches);
    double n = (double)job->dp * (double)job->cp;
    double k = (double)fab_job_space_together(space, FAB_GROUP_COPIES);
    double parameters = 0;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        double dense = 0;
        double experts = 0;
        fab_stage_trained(job, fab_job_space_model(space), stage, &dense, &experts);
        parameters += dense + (job->ep == 1 ? experts : 0);
    }
    out->dp_reduce.scale_up = out->dp_gather.scale_up = k >= n;
    if (n <= 1 || job->dp_collective != FAB_COLLECTIVE_RING || fab_job_shard_groups(job) > 1) {
        return;
    }
    double passes = fab_job_zero(job) == FAB_ZERO_0 ? 2 : 1;
    double reduced = passes * (double)x.reductions * parameters * (double)job->gradient_bytes;
    double gathered = (double)x.gathers * parameters * (double)job->parameter_bytes;
    out->dp_reduce = floor_of(r, n_gpus, reduced * (n - 1), reduced * leaves(n, k));
    out->dp_gather = floor_of(r, n_gpus, gathered * (n - 1), gathered * leaves(n, k));
}

/* Of `sent` bytes of all tokens, a copy for each domain that one visits: of domains with at most `most` of an expert
 * group, as many in each, which are visited the less the larger they are. Flows are of whole bytes. */
static double crossing_once(const fab_job_spec *job, uint32_t most, double n_gpus, double sent) {
    while (job->ep % most != 0) {
        most--;
    }
    const fab_expert_visits v = fab_job_expert_visits(job, most);
    return v.drawn_from >= (double)job->top_k ? fmax((v.m - 1) * (sent * v.domain - n_gpus), 0) : 0;
}

/* A token goes to its experts and back, forward and backward. */
static fab_phase_time experts(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, double n_gpus,
                              double repeated) {
    const fab_model *model = fab_job_space_model(space);
    double e = (double)job->ep;
    double together = (double)fab_job_space_together(space, FAB_GROUP_COPIES);
    double k = fmin(together, e);
    FAB_SUM(double, layers, stage, job->pp, (double)fab_stage_expert_layers(model, job, stage));
    const double sent = 2 * (2 + repeated) * (double)job->batch * (double)job->seq * (double)job->hidden *
                        (double)job->dispatch_bytes * layers;
    if (job->ep > 1 && job->expert_exchange == FAB_EXPERTS_HIERARCHICAL) {
        const double crossing = crossing_once(job, (uint32_t)k, n_gpus, sent);
        return crossing > 0 ? floor_of(r, n_gpus, crossing, crossing) : (fab_phase_time){.scale_up = true};
    }
    const double all = sent * (double)job->top_k;
    return job->ep > 1 ? floor_of(r, n_gpus, all * (e - 1) / e, all * (e - k) / e) : (fab_phase_time){.scale_up = true};
}

void plan_floor(const plan_rates *r, fab_job_space *space, const fab_job_spec *job, uint64_t microbatches,
                fab_job_times *out) {
    const double n_gpus = (double)fab_job_space_gpus(space);
    const double repeated = job->recompute_traffic && job->recompute == FAB_RECOMPUTE_FULL ? 1 : 0;
    *out = (fab_job_times){.tp = tensor(r, space, job, n_gpus, repeated),
                           .cp = context(r, space, job, n_gpus, repeated),
                           .pp = pipeline(r, space, job, n_gpus),
                           .ep = experts(r, space, job, n_gpus, repeated)};
    replicas(r, space, job, n_gpus, microbatches, out);
}
