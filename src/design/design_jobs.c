/* Jobs of a design: their fields, their lists of servers, and copies of them. */
#include "fields.h"

/* --- lists of servers --------------------------------------------------------------------------------------------- */

const char *fab_design_list(const fab_design *design, fab_list_ref list) {
    return list.length > 0 ? design->lists + list.at : "";
}

/* Takes a list away: those behind it move up. */
static void drop_list(fab_design *design, fab_list_ref *list) {
    const fab_list_ref gone = *list;
    size_t size = (size_t)gone.length + 1;
    if (gone.length == 0) {
        return;
    }
    memmove(design->lists + gone.at, design->lists + gone.at + size, design->lists_used - gone.at - size);
    design->lists_used -= size;
    *list = (fab_list_ref){0, 0};
    for (size_t i = 0; i < design->n_jobs; i++) {
        fab_list_ref *own[] = {&design->jobs[i].servers, &design->jobs[i].storage_servers};
        for (size_t k = 0; k < 2; k++) {
            own[k]->at -= own[k]->length > 0 && own[k]->at > gone.at ? (uint32_t)size : 0;
        }
    }
}

fab_status fab_design_set_list(fab_design *design, fab_list_ref *list, const char *key, const char *text,
                               const char *where, fab_error *err) {
    size_t length = strlen(text);
    FAB_REFUSE_IF(length >= FAB_SERVERS_SIZE, err, FAB_EINPUT, where, "%s: %zu bytes are more than the limit of %d",
                  key, length, FAB_SERVERS_SIZE - 1);
    size_t gone = list->length > 0 ? (size_t)list->length + 1 : 0;
    FAB_REFUSE_IF(design->lists_used - gone + length + 1 > sizeof design->lists, err, FAB_EUNSUPPORTED, where,
                  "%s: the lists of servers of all jobs together have more than %d characters; ranges with a "
                  "stride (0-62:2) are shorter",
                  key, FAB_LISTS_SIZE);
    drop_list(design, list);
    if (length > 0) {
        memcpy(design->lists + design->lists_used, text, length + 1);
        *list = (fab_list_ref){(uint32_t)design->lists_used, (uint32_t)length};
        design->lists_used += length + 1;
    }
    return FAB_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static void copy_head(const fab_design *from, fab_design *out) {
    memcpy(out, from, offsetof(fab_design, jobs));
    memcpy(out->lists, from->lists, from->lists_used);
}

void fab_design_copy(const fab_design *from, fab_design *out) {
    copy_head(from, out);
    /* The first is kept without a job too: chunks of the default one stand there. */
    memcpy(out->jobs, from->jobs, (from->n_jobs > 0 ? from->n_jobs : 1) * sizeof out->jobs[0]);
}

void fab_design_copy_alone(const fab_design *from, size_t job, fab_design *out) {
    copy_head(from, out);
    out->jobs[0] = from->jobs[job];
    out->n_jobs = 1;
}

fab_status fab_design_take_job(const fab_design *from, fab_design *to, fab_error *err) {
    fab_job_spec *job = &to->jobs[0];
    *job = from->jobs[0];
    job->servers = job->storage_servers = (fab_list_ref){0, 0};
    to->n_jobs = 1;
    to->lists_used = 0;
    FAB_PASS(fab_design_set_list(to, &job->servers, "servers", fab_design_list(from, from->jobs[0].servers), job->where,
                                 err));
    FAB_PASS(fab_design_set_list(to, &job->storage_servers, "storage-servers",
                                 fab_design_list(from, from->jobs[0].storage_servers), job->where, err));
    design_follow_gpu(to);
    return FAB_OK;
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

const char *const fab_plan_keys[FAB_N_PLAN_KEYS] = {
    "tp", "cp", "pp", "dp", "ep", "interleave", "microbatch", "recompute", "zero", "sequence-parallel"};

unsigned fab_job_plan_open(const fab_job_spec *job) {
    const unsigned timed = 1U << FAB_PLAN_INTERLEAVE | 1U << FAB_PLAN_MICROBATCH;
    const unsigned sizes = 1U << FAB_PLAN_TP | 1U << FAB_PLAN_PP | 1U << FAB_PLAN_DP;
    const unsigned all = (1U << FAB_N_PLAN_KEYS) - 1;
    if (job->plan == FAB_PLAN_AUTO) {
        return all & ~job->plan_given;
    }
    return (job->plan_asked & ~timed) != 0 ? (job->plan_asked | sizes) & ~job->plan_given : 0;
}

bool fab_job_plan_is_left(const fab_job_spec *job) {
    const unsigned sizes =
        1U << FAB_PLAN_TP | 1U << FAB_PLAN_CP | 1U << FAB_PLAN_PP | 1U << FAB_PLAN_DP | 1U << FAB_PLAN_EP;
    return job->kind == FAB_JOB_TRAINING && job->plan == FAB_PLAN_DEFAULT && (job->plan_given & sizes) == 0 &&
           fab_job_plan_open(job) == 0 && job->tp == 0 && job->cp == 0 && job->pp == 0 && job->dp == 0 && job->ep == 0;
}

/* Who has said what of the plan. */
static void note_plan(const field *f, const char *value, fab_job_spec *job) {
    job->order_given = job->order_given || strcmp(f->key, "order") == 0;
    for (size_t i = 0; i < FAB_N_PLAN_KEYS; i++) {
        if (strcmp(f->key, fab_plan_keys[i]) == 0) {
            bool asked = strcmp(value, "auto") == 0;
            job->plan_asked = (job->plan_asked & ~(1U << i)) | (asked ? 1U << i : 0);
            job->plan_given = (job->plan_given & ~(1U << i)) | (asked ? 0 : 1U << i);
        }
    }
}

static fab_status set_list_field(const field *f, fab_design *design, size_t job, const char *value, const char *where,
                                 fab_error *err) {
    fab_list_ref *list = (fab_list_ref *)(void *)((char *)&design->jobs[job] + f->offset);
    FAB_PASS(field_check_list(f, value, where, err));
    return fab_design_set_list(design, list, f->key, value, where, err);
}

/* A job knows the data sheet of its GPU from the moment that it is named. */
fab_status design_set_job_field(const field *f, fab_design *design, size_t job, const char *value, const char *where,
                                fab_error *err) {
    if (f->kind == FIELD_SERVERS) {
        return set_list_field(f, design, job, value, where, err);
    }
    fab_job_spec changed = design->jobs[job];
    FAB_PASS(field_set(f, &changed, value, where, err));
    changed.interleave_given = changed.interleave_given || strcmp(f->key, "interleave") == 0;
    changed.exchange_given = changed.exchange_given || strcmp(f->key, "expert-exchange") == 0;
    note_plan(f, value, &changed);
    FAB_PASS(strcmp(f->key, "gpu") == 0 ? fab_gpu_read(changed.gpu, where, &changed.accelerator, err) : FAB_OK);
    design->jobs[job] = changed;
    return FAB_OK;
}

fab_status fab_design_default_job(fab_job_spec *out, fab_error *err) {
    fab_job_spec job;
    memset(&job, 0, sizeof job);
    FAB_PASS(design_set_defaults(SCOPE_JOB, &job, err));
    FAB_PASS(fab_gpu_read(job.gpu, NULL, &job.accelerator, err));
    *out = job;
    return FAB_OK;
}

fab_status reading_add_job(fab_design *design, const char *where, fab_error *err) {
    FAB_REFUSE_IF(design->n_jobs >= FAB_MAX_JOBS, err, FAB_EINPUT, where, "more than %d jobs", FAB_MAX_JOBS);
    fab_job_spec *job = &design->jobs[design->n_jobs];
    FAB_PASS(fab_design_default_job(job, err));
    if (design->n_jobs == 0) {
        FAB_FORMAT(job->id, "job");
    } else {
        FAB_FORMAT(job->id, "job%zu", design->n_jobs + 1);
    }
    FAB_FORMAT(job->where, "%s", where);
    design->n_jobs++;
    return FAB_OK;
}

fab_status fab_design_set_job(fab_design *design, size_t job, const char *key, const char *value, const char *where,
                              fab_error *err) {
    static const field_scope SCOPE = SCOPE_JOB;
    const field *f = design_field_find(SCOPE_JOB, key);
    FAB_RETURN_IF(f == NULL, fail_unknown("job key", key, &SCOPE, 1, where, err));
    FAB_REFUSE_IF(job > design->n_jobs, err, FAB_EINTERNAL, where, "job %zu of %zu", job, design->n_jobs);
    size_t n_jobs = design->n_jobs;
    FAB_PASS(job == n_jobs ? reading_add_job(design, where, err) : FAB_OK);
    fab_status status = design_set_job_field(f, design, job, value, where, err);
    if (status == FAB_OK) {
        design->jobs[job].placement_given = design->jobs[job].placement_given || strcmp(key, "placement") == 0;
        design_follow_gpu(design);
    } else {
        design->n_jobs = n_jobs;
    }
    return status;
}
