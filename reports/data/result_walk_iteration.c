/* The fields of a job, of its phases before they are routed, and of its iteration under each engine. */
#include "fab/traffic.h"
#include "result_fields.h"

static void positive(walk *w, const char *key, double value) {
    if (value > 0) {
        number(w, key, value);
    }
}

static void walk_memory(walk *w, const fab_job_memory *m) {
    object(w, "memory");
    number(w, "weights_bytes", m->weights_bytes);
    number(w, "gradients_bytes", m->gradients_bytes);
    number(w, "optimizer_bytes", m->optimizer_bytes);
    number(w, "activations_bytes", m->activations_bytes);
    number(w, "cache_bytes", m->cache_bytes);
    number(w, "total_bytes", m->total_bytes);
    number(w, "capacity_bytes", m->capacity_bytes);
    integer(w, "stage", m->stage);
    integer(w, "rule_gpus", m->rule_gpus);
    boolean(w, "fits", m->fits);
    end(w);
}

void fab_walk_traffic(walk *w, const fab_traffic *traffic) {
    string(w, "traffic", traffic->summary);
    array(w, "phases", "phase");
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        row(w);
        string(w, "name", phase->name);
        string(w, "collective", phase->collective);
        integer(w, "communicators", phase->n_comms);
        integer(w, "flows", phase->n_flows);
        integer(w, "bytes", phase->total_bytes);
        integer(w, "steps", phase->steps);
        integer(w, "executions", phase->executions);
        number(w, "expected_bytes", phase->expected_bytes);
        string(w, "formula", phase->formula);
        end(w);
    }
    end(w);
    if (traffic->has_job) {
        walk_memory(w, &traffic->memory);
    }
}

void fab_walk_job(walk *w, const fab_result *result) {
    const fab_job_spec *job = &result->job;
    object(w, "job");
    text(w, "kind", fab_job_kinds[job->kind]);
    text(w, "model", job->model);
    text(w, "gpu", job->gpu);
    integer(w, "ranks", result->ranks);
    integer(w, "tp", job->tp);
    integer(w, "cp", job->cp);
    integer(w, "pp", job->pp);
    integer(w, "dp", job->dp);
    integer(w, "ep", job->ep);
    integer(w, "batch", job->batch);
    integer(w, "microbatch", job->microbatch);
    integer(w, "interleave", job->interleave);
    positive(w, "published_tflops_per_gpu", job->published_tflops);
    positive(w, "published_pipeline_bisection_Bps", job->published_pipeline_bps / 8);
    positive(w, "published_data_bisection_Bps", job->published_data_bps / 8);
    text(w, "not_timed", result->iteration_note);
    walk_memory(w, &result->memory);
    end(w);
}

static void walk_training(walk *w, const fab_training *t) {
    object(w, "training");
    number(w, "tokens", t->tokens);
    number(w, "days", t->days);
    number(w, "usd", t->usd);
    number(w, "rule_days", t->rule_days);
    end(w);
}

void fab_walk_iterations(walk *w, const fab_iteration *list, size_t n) {
    array(w, "iteration", "engine");
    for (size_t i = 0; i < n; i++) {
        const fab_iteration *it = &list[i];
        object(w, NULL);
        string(w, "engine", it->engine);
        integer(w, "microbatch", it->microbatch);
        integer(w, "interleave", it->interleave);
        number(w, "time_s", it->time_s);
        number(w, "compute_s", it->compute_s);
        number(w, "bubble_s", it->bubble_s);
        number(w, "exposed_tp_s", it->exposed_tp_s);
        number(w, "exposed_cp_s", it->exposed_cp_s);
        number(w, "exposed_pp_s", it->exposed_pp_s);
        number(w, "exposed_ep_s", it->exposed_ep_s);
        number(w, "exposed_dp_s", it->exposed_dp_s);
        number(w, "optimizer_s", it->optimizer_s);
        number(w, "tflops_per_gpu", it->tflops_per_gpu);
        number(w, "mfu_ratio", it->mfu_ratio);
        number(w, "tokens_per_s", it->tokens_per_s);
        number(w, "usd_per_1e9_tokens", it->usd_per_1e9_tokens);
        number(w, "memory_bytes", it->memory.total_bytes);
        positive(w, "pipeline_bisection_Bps", it->pipeline_bisection_Bps);
        positive(w, "data_bisection_Bps", it->data_bisection_Bps);
        if (it->training.tokens > 0) {
            walk_training(w, &it->training);
        }
        end(w);
    }
    end(w);
}
