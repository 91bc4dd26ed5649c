/* Servers of several jobs: lists first, then the jobs that leave it open, in their order. */
#include "fab/job_sharing.h"
#include "fab/design.h"

#include "traffic_internal.h"

#define NOBODY UINT16_MAX
_Static_assert(FAB_MAX_JOBS < NOBODY, "a job's number fits");

typedef struct sharing {
    const fab_fabric *fabric;
    fab_design *design;  /* being placed */
    fab_design *alone;   /* room for a design of one job */
    uint16_t *runs;      /* [server]: job that runs there, or NOBODY */
    uint16_t *stores;    /* [server]: a job that it is storage of, or NOBODY */
    uint32_t n_in_order; /* servers that a job without a list may take: the whole ones but spares */
} sharing;
FAB_FREES(sharing_release, sharing, design, alone, runs, stores);

static const char *name_of(const sharing *s, size_t job) {
    return s->design->jobs[job].id;
}

static const char *sharing_where_of(const sharing *s, size_t job) {
    return s->design->jobs[job].where;
}

/* Servers of one job by itself; release. */
static fab_status find_servers(const sharing *s, size_t job, fab_job *out, fab_error *err) {
    *out = (fab_job){.spec = s->design->jobs[job]};
    FAB_FORMAT(out->where, "%s", sharing_where_of(s, job));
    fab_design_copy_alone(s->design, job, s->alone);
    return fab_job_find_servers(out, s->alone, s->fabric, err); /* callers release it in any case */
}

static fab_status claim(const sharing *s, size_t job, const fab_job *found, fab_error *err) {
    for (uint32_t i = 0; i < found->n_servers; i++) {
        uint32_t server = found->servers[i];
        size_t other = s->runs[server] != NOBODY ? s->runs[server] : s->stores[server];
        FAB_REFUSE_IF(other != NOBODY && (other != job || s->stores[server] != NOBODY), err, FAB_EINPUT,
                      sharing_where_of(s, job), "jobs '%s' and '%s' both have server %" PRIu32, name_of(s, other),
                      name_of(s, job), server);
        s->runs[server] = (uint16_t)job;
    }
    return FAB_OK;
}

static fab_status claim_storage(const sharing *s, size_t job, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job found = {.servers = NULL};
    if (s->design->jobs[job].storage_servers.length == 0) {
        return FAB_OK;
    }
    FAB_PASS(find_servers(s, job, &found, err));
    for (uint32_t i = 0; i < found.n_storage; i++) {
        s->stores[found.storage[i]] = (uint16_t)job;
    }
    return FAB_OK;
}

/* GPUs that the sizes of a job multiply to; 0 where one that has no fixed default is left open, or is searched. */
static uint64_t product_of(const fab_job_spec *j) {
    const unsigned sizes = 1U << FAB_PLAN_TP | 1U << FAB_PLAN_CP | 1U << FAB_PLAN_PP | 1U << FAB_PLAN_DP;
    if ((fab_job_plan_open(j) & sizes) != 0) {
        return 0;
    }
    uint64_t cp = j->cp > 0 ? j->cp : 1;
    uint64_t pp = j->pp > 0 ? j->pp : 1;
    bool is_ranking = j->kind == FAB_JOB_RANKING;
    uint64_t tp = is_ranking ? 1 : j->tp;
    bool is_sane = tp < FAB_NONE && cp < FAB_NONE && pp < FAB_NONE && j->dp < FAB_NONE;
    double product = (double)tp * (double)cp * (double)pp * (double)j->dp;
    return is_sane && product < FAB_NONE ? tp * cp * pp * j->dp : 0;
}

/* Free servers as a list, "0-3,8": of jobs that take them in order as many as are wanted, up to the end of a range, or
 * all (0). */
static fab_status list_free(const sharing *s, size_t job, uint64_t wanted, uint32_t *out_n, fab_error *err) {
    fab_job_spec *spec = &s->design->jobs[job];
    const bool in_order = wanted > 0 && spec->placement == FAB_PLACEMENT_ORDER;
    char list[FAB_SERVERS_SIZE];
    uint32_t n = 0;
    bool takes = false;
    FAB_OWNED_NEW(uint32_t, servers, s->n_in_order, err);
    *out_n = 0;
    for (uint32_t server = 0; server < s->n_in_order; server++) {
        const bool is_free = s->runs[server] == NOBODY && s->stores[server] == NOBODY;
        takes = is_free && (takes || !in_order || *out_n < wanted);
        servers[n] = server;
        n += takes;
        *out_n += is_free;
    }
    FAB_REFUSE_IF(fab_write_ranges(list, sizeof list, servers, n, ',') < n, err, FAB_EUNSUPPORTED, spec->where,
                  "the servers that other jobs leave to job '%s' are more than %zu characters; give it servers",
                  spec->id, sizeof list - 1);
    return fab_design_set_list(s->design, &spec->servers, "servers", list, spec->where, err);
}

static fab_status place_given(const sharing *s, size_t job, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job found = {.servers = NULL};
    FAB_PASS(find_servers(s, job, &found, err));
    return claim(s, job, &found, err);
}

static fab_status place_open(const sharing *s, size_t job, bool is_last, fab_error *err) {
    fab_job_spec *spec = &s->design->jobs[job];
    uint32_t n_free = 0;
    if (spec->gpus == 0 && spec->n_servers == 0) {
        spec->gpus = product_of(spec);
    }
    uint64_t wanted = spec->gpus / s->fabric->gpus_per_server;
    wanted = spec->n_servers > wanted ? spec->n_servers : wanted;
    FAB_PASS(list_free(s, job, wanted, &n_free, err));
    FAB_REFUSE_IF(
        spec->gpus == 0 && spec->n_servers == 0 && !is_last, err, FAB_EINPUT, spec->where,
        "job '%s' leaves open how many servers it takes, and others follow; give it servers (not given, or an empty "
        "list), n-servers, gpus, or tp and dp",
        spec->id);
    FAB_REFUSE_IF(n_free == 0 || wanted > n_free, err, FAB_EINPUT, spec->where,
                  "job '%s' needs %" PRIu64 " server%s, and the other jobs leave %" PRIu32 " of %" PRIu32, spec->id,
                  wanted > 0 ? wanted : 1, wanted > 1 ? "s" : "", n_free, s->n_in_order);
    return place_given(s, job, err);
}

static fab_status place_all(const sharing *s, const bool *is_open, fab_error *err) {
    size_t last_open = 0;
    for (size_t job = 0; job < s->design->n_jobs; job++) {
        last_open = is_open[job] ? job : last_open;
        FAB_PASS(claim_storage(s, job, err));
    }
    for (size_t job = 0; job < s->design->n_jobs; job++) {
        FAB_PASS(!is_open[job] ? place_given(s, job, err) : FAB_OK);
    }
    for (size_t job = 0; job < s->design->n_jobs; job++) {
        FAB_PASS(is_open[job] ? place_open(s, job, job == last_open, err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status fab_jobs_place(const fab_design *design, const fab_fabric *fabric, fab_design *out, fab_error *err) {
    bool is_open[FAB_MAX_JOBS] = {false};
    uint64_t spares = design->fabric.spares;
    FAB_OWNS(sharing_release)
    sharing s = {.fabric = fabric,
                 .n_in_order =
                     spares < fab_n_complete_servers(fabric) ? fab_n_complete_servers(fabric) - (uint32_t)spares : 0};
    if (design->n_jobs < 2) {
        fab_design_copy(design, out);
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(1, err, s.design, s.alone));
    FAB_PASS(FAB_NEW_ALL(fabric->n_servers, err, s.runs, s.stores));
    memset(s.runs, UINT8_MAX, fabric->n_servers * sizeof *s.runs);
    memset(s.stores, UINT8_MAX, fabric->n_servers * sizeof *s.stores);
    fab_design_copy(design, s.design);
    FAB_FILL(is_open, design->n_jobs, design->jobs[fab_at].servers.length == 0);
    FAB_PASS(place_all(&s, is_open, err));
    fab_design_copy(s.design, out);
    return FAB_OK;
}

fab_status fab_jobs_taken(const fab_design *design, const fab_fabric *fabric, uint8_t *out_taken, fab_error *err) {
    FAB_OWNS(sharing_release) sharing s = {.fabric = fabric};
    FAB_OWNS(fab_job_release) fab_job found = {.servers = NULL};
    memset(out_taken, 0, fabric->n_servers);
    FAB_PASS(FAB_NEW_ALL(1, err, s.design, s.alone));
    FAB_PASS(fab_jobs_place(design, fabric, s.design, err));
    for (size_t job = 0; job < s.design->n_jobs; job++) {
        FAB_PASS(find_servers(&s, job, &found, err));
        for (uint32_t i = 0; i < found.n_servers; i++) {
            out_taken[found.servers[i]] = 1;
        }
        for (uint32_t i = 0; i < found.n_storage; i++) {
            out_taken[found.storage[i]] = 1;
        }
        fab_job_release(&found);
    }
    return FAB_OK;
}

/* --- jobs that are alike ------------------------------------------------------------------------------------------ */

#define LEVELS 3 /* scale-up domain, leaf of the first NIC, pod */

/* What a plan of a job goes by: its keys, and where its servers are to each other. */
typedef struct job_kind {
    fab_job_spec spec; /* without name and place */
    fab_str keys;
    uint32_t *places; /* a row for each server; owned */
    size_t n;
} job_kind;

static void kind_release(job_kind *k) {
    fab_str_release(&k->keys);
    free(k->places);
}

static uint32_t group_at(const fab_fabric *f, uint32_t server, int level) {
    const fab_link_id link = f->n_links > 0 ? fab_access_link(f, fab_nic_of_server(f, server), 1, 0) : FAB_NONE;
    const uint32_t leaf = link != FAB_NONE ? fab_head(f, link) - f->first[FAB_NODE_SWITCH] : FAB_NONE;
    const uint32_t pod = leaf != FAB_NONE && f->switch_pod != NULL ? f->switch_pod[leaf] : FAB_NONE;
    return level == 0 ? fab_domain_of(f, server * f->gpus_per_server) : level == 1 ? leaf : pod;
}

/* Steps from the first server, GPUs, and at each level the first server of the job that is in the same group. */
static fab_status describe_places(const fab_fabric *f, const fab_job *found, job_kind *out, fab_error *err) {
    const size_t n_groups = (size_t)fab_n_gpus(f) + fab_n_switches(f) + f->n_pods;
    out->n = found->n_servers;
    FAB_PASS(FAB_NEW(out->places, out->n * (LEVELS + 2), err));
    FAB_OWNED_NEW(uint32_t, first, n_groups, err); /* [group] */
    for (int level = 0; level < LEVELS; level++) {
        memset(first, UINT8_MAX, n_groups * sizeof *first);
        for (uint32_t i = 0; i < found->n_servers; i++) {
            const uint32_t group = group_at(f, found->servers[i], level);
            uint32_t *place = &out->places[(size_t)i * (LEVELS + 2)];
            place[0] = found->servers[i] - found->servers[0]; /* or 2^32 less */
            place[1] = fab_gpus_of_server(f, found->servers[i]);
            if (group < n_groups && first[group] == FAB_NONE) {
                first[group] = i;
            }
            place[level + 2] = group < n_groups ? first[group] : FAB_NONE;
        }
    }
    return FAB_OK;
}

static fab_status find_kind(const sharing *s, size_t job, job_kind *out, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job found = {.servers = NULL};
    FAB_PASS(find_servers(s, job, &found, err));
    FAB_PASS(describe_places(s->fabric, &found, out, err));
    fab_job_spec *spec = &s->alone->jobs[0]; /* the design of this job, from the call above */
    FAB_FORMAT(spec->id, "%s", name_of(s, 0));
    spec->servers = spec->storage_servers = (fab_list_ref){0, 0};
    spec->gpus = spec->n_servers = spec->placement_seed = 0;
    spec->placement = FAB_PLACEMENT_ORDER;
    spec->contends[0] = '\0';
    out->spec = *spec;
    fab_design_describe(s->alone, &out->keys);
    return fab_str_status(&out->keys, err);
}

static bool is_alike(const job_kind *a, const job_kind *b) {
    return a->n == b->n && memcmp(a->places, b->places, a->n * (LEVELS + 2) * sizeof *a->places) == 0 &&
           a->spec.order_given == b->spec.order_given && a->spec.plan_asked == b->spec.plan_asked &&
           a->spec.plan_given == b->spec.plan_given && strcmp(a->keys.data, b->keys.data) == 0;
}

fab_status fab_jobs_alike(const fab_design *placed, const fab_fabric *fabric, size_t *out_first, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(sharing_release) sharing s = {.fabric = fabric};
    FAB_PASS(FAB_NEW_ALL(1, err, s.design, s.alone));
    FAB_OWNED_NEW(job_kind, kind, placed->n_jobs, err);
    fab_design_copy(placed, s.design);
    for (size_t job = 0; status == FAB_OK && job < placed->n_jobs; job++) {
        kind[job].keys = (fab_str)FAB_STR_INIT;
        status = find_kind(&s, job, &kind[job], err);
        out_first[job] = fab_is_tree(fabric) ? 0 : job;
        while (status == FAB_OK && out_first[job] < job && !is_alike(&kind[out_first[job]], &kind[job])) {
            out_first[job]++;
        }
    }
    FAB_RELEASE_EACH(kind_release, kind, placed->n_jobs);
    return status;
}
