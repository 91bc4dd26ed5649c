/* Which servers a job has and in which order ranks fill them, and which act as storage. */
#include "traffic_internal.h"

#include "fab/design.h"
#include "fab/rng.h"

#define PLACEMENT_STREAM 0x706c6163 /* draws of its own, whatever else uses the seed */

uint32_t fab_gpus_of_server(const fab_fabric *fabric, uint32_t server) {
    uint32_t n_gpus = fab_n_gpus(fabric);
    uint64_t first = (uint64_t)server * fabric->gpus_per_server;
    if (first >= n_gpus) {
        return 0;
    }
    return n_gpus - first < fabric->gpus_per_server ? (uint32_t)(n_gpus - first) : fabric->gpus_per_server;
}

/* --- lists of servers --------------------------------------------------------------------------------------------- */

/* A list while it is read. */
typedef struct server_list {
    const char *key, *text, *where; /* of messages */
    uint32_t n_all;                 /* servers of the fabric */
    bool *used;                     /* shape [n_all]: in this list or in one before */
    uint32_t *servers;              /* shape [n_all] */
    uint32_t n;
} server_list;

/* Reads a number at *text and moves behind it. */
static fab_status servers_read_number(const server_list *list, const char **text, uint64_t *out, fab_error *err) {
    size_t n = strspn(*text, "0123456789");
    FAB_REFUSE_IF(n == 0, err, FAB_EINPUT, list->where,
                  "%s '%s': expected a server number at '%.20s' (such as 0-15,20)", list->key, list->text, *text);
    *out = n > 10 ? UINT64_MAX : strtoull(*text, NULL, 10);
    *text += n;
    return FAB_OK;
}

static fab_status read_server(const server_list *list, const char **text, uint32_t *out, fab_error *err) {
    const char *from = *text;
    uint64_t value = 0;
    FAB_PASS(servers_read_number(list, text, &value, err));
    if (value >= list->n_all) {
        int n = (int)(*text - from);
        return fab_fail(err, FAB_EINPUT, list->where,
                        "%s '%s': there is no server %.*s; the fabric has %" PRIu32 ", numbered from 0", list->key,
                        list->text, n < 20 ? n : 20, from, list->n_all);
    }
    *out = (uint32_t)value;
    return FAB_OK;
}

/* Appends the servers first, first + stride, ... last. */
static fab_status add_servers(server_list *list, uint32_t first, uint32_t last, uint64_t stride, fab_error *err) {
    FAB_REFUSE_IF(first > last, err, FAB_EINPUT, list->where,
                  "%s '%s': the range %" PRIu32 "-%" PRIu32 " runs backwards", list->key, list->text, first, last);
    for (uint64_t server = first; server <= last; server += stride) {
        FAB_REFUSE_IF(list->used[server], err, FAB_EINPUT, list->where, "%s '%s': server %" PRIu64 " is listed twice",
                      list->key, list->text, server);
        list->used[server] = true;
        list->servers[list->n++] = (uint32_t)server;
    }
    return FAB_OK;
}

/* N, N-M or N-M:STRIDE */
static fab_status read_range(server_list *list, const char **text, fab_error *err) {
    uint32_t first = 0;
    uint64_t stride = 1;
    FAB_PASS(read_server(list, text, &first, err));
    uint32_t last = first;
    if (**text == '-') {
        (*text)++;
        FAB_PASS(read_server(list, text, &last, err));
        if (**text == ':') {
            (*text)++;
            FAB_PASS(servers_read_number(list, text, &stride, err));
        }
    }
    FAB_REFUSE_IF(stride == 0 || stride > UINT32_MAX, err, FAB_EINPUT, list->where,
                  "%s '%s': a stride is at least 1 and at most %" PRIu32, list->key, list->text, UINT32_MAX);
    return add_servers(list, first, last, stride, err);
}

static fab_status read_list(server_list *list, fab_error *err) {
    const char *text = list->text;
    for (;;) {
        FAB_PASS(read_range(list, &text, err));
        if (*text == '\0') {
            break;
        }
        FAB_REFUSE_IF(*text != ',', err, FAB_EINPUT, list->where, "%s '%s': expected ',' at '%.20s'", list->key,
                      list->text, text);
        text++;
    }
    return FAB_OK;
}

/* --- placement ---------------------------------------------------------------------------------------------------- */

/* Groups of servers: pods, or without pods those whose first NIC is on the same leaf. */
static uint32_t n_groups(const fab_fabric *fabric) {
    uint32_t n_switches = fab_n_switches(fabric);
    return fabric->n_pods > 1 ? fabric->n_pods : n_switches > 0 ? n_switches : 1;
}

static uint32_t pod_of_server(const fab_fabric *fabric, uint32_t server) {
    const fab_node_id nic = fab_nic_of_server(fabric, server);
    const fab_link_id link = fabric->n_links > 0 ? fab_access_link(fabric, nic, 1, 0) : FAB_NONE;
    if (link == FAB_NONE) {
        return 0;
    }
    const uint32_t leaf = fab_head(fabric, link) - fabric->first[FAB_NODE_SWITCH];
    const uint32_t pod = fabric->n_pods > 1 ? fabric->switch_pod[leaf] : leaf;
    return pod == FAB_NONE ? 0 : pod;
}

/* Candidates by group (here called pod): pod p has [first[p], first[p + 1]) of them, in their order. */
typedef struct pods {
    uint32_t n;
    uint32_t *first;   /* shape [n + 1] */
    uint32_t *servers; /* shape [candidates] */
    uint32_t *left;    /* shape [n]: not taken yet */
} pods;

FAB_FREES(release_pods, pods, first, servers, left);

static fab_status group_by_pod(const fab_fabric *fabric, const fab_job *job, pods *out, fab_error *err) {
    FAB_OWNS(release_pods) pods made = {.n = n_groups(fabric)};
    FAB_PASS(FAB_NEW(made.first, (size_t)made.n + 1, err));
    FAB_PASS(FAB_NEW(made.servers, job->n_servers, err));
    FAB_PASS(FAB_NEW(made.left, made.n, err));
    for (uint32_t i = 0; i < job->n_servers; i++) {
        made.left[pod_of_server(fabric, job->servers[i])]++;
    }
    for (uint32_t p = 0; p < made.n; p++) {
        made.first[p + 1] = made.first[p] + made.left[p];
        made.left[p] = 0;
    }
    for (uint32_t i = 0; i < job->n_servers; i++) {
        uint32_t pod = pod_of_server(fabric, job->servers[i]);
        made.servers[made.first[pod] + made.left[pod]++] = job->servers[i];
    }
    return FAB_GIVE(*out, made);
}

/* The smallest pod that holds the rest, or else the largest: the fewest pods, and the least of a broken one. */
static uint32_t next_pod(const pods *p, uint32_t wanted) {
    uint32_t best = 0;
    for (uint32_t pod = 1; pod < p->n; pod++) {
        uint32_t mine = p->left[pod];
        uint32_t its = p->left[best];
        bool better = its >= wanted ? mine >= wanted && mine < its : mine > its;
        best = better ? pod : best;
    }
    return best;
}

static void pack(pods *p, uint32_t *servers, uint32_t wanted) {
    for (uint32_t n = 0; n < wanted;) {
        uint32_t pod = next_pod(p, wanted - n);
        uint32_t take = p->left[pod] < wanted - n ? p->left[pod] : wanted - n;
        memcpy(servers + n, p->servers + p->first[pod], take * sizeof *servers);
        n += take;
        p->left[pod] = 0;
    }
}

static void scatter(pods *p, uint32_t *servers, uint32_t wanted) {
    for (uint32_t n = 0, round = 0; n < wanted; round++) {
        for (uint32_t pod = 0; pod < p->n && n < wanted; pod++) {
            if (round < p->left[pod]) {
                servers[n++] = p->servers[p->first[pod] + round];
            }
        }
    }
}

/* Puts the candidates in order and keeps the first `wanted`. */
static fab_status arrange(fab_job *job, const fab_fabric *fabric, uint32_t wanted, fab_error *err) {
    fab_placement placement = job->spec.placement;
    FAB_OWNS(release_pods) pods p = {.n = 0};
    if (placement == FAB_PLACEMENT_RANDOM) {
        fab_rng rng = fab_rng_make(job->spec.placement_seed, PLACEMENT_STREAM);
        fab_rng_shuffle(&rng, job->servers, job->n_servers);
    } else if (placement != FAB_PLACEMENT_ORDER) {
        FAB_PASS(group_by_pod(fabric, job, &p, err));
        (placement == FAB_PLACEMENT_PACKED ? pack : scatter)(&p, job->servers, wanted);
    }
    job->n_servers = wanted;
    return FAB_OK;
}

/* How many of the candidates the job takes. */
static fab_status count_wanted(const fab_job *job, const fab_fabric *fabric, uint32_t *out, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    uint64_t wanted = s->n_servers;
    if (s->gpus != 0) {
        uint64_t servers = s->gpus / fabric->gpus_per_server;
        FAB_REFUSE_IF(s->gpus % fabric->gpus_per_server != 0, err, FAB_EINPUT, job->where,
                      "gpus %" PRIu64 " do not fill servers of %" PRIu32, s->gpus, fabric->gpus_per_server);
        FAB_REFUSE_IF(wanted != 0 && wanted != servers, err, FAB_EINPUT, job->where,
                      "gpus %" PRIu64 " are %" PRIu64 " servers of %" PRIu32 ", not n-servers %" PRIu64, s->gpus,
                      servers, fabric->gpus_per_server, wanted);
        wanted = servers;
    }
    FAB_REFUSE_IF(wanted > job->n_servers, err, FAB_EINPUT, job->where,
                  "%" PRIu64 " servers are wanted, but the job may run on %" PRIu32 " only", wanted, job->n_servers);
    *out = wanted == 0 ? job->n_servers : (uint32_t)wanted;
    return FAB_OK;
}

/* --- all together ------------------------------------------------------------------------------------------------- */

static fab_status read_storage(fab_job *job, const fab_design *design, const fab_fabric *fabric, bool *used,
                               fab_error *err) {
    if (design == NULL || job->spec.storage_servers.length == 0) {
        return FAB_OK;
    }
    server_list list = {.key = "storage-servers",
                        .text = fab_design_list(design, job->spec.storage_servers),
                        .where = job->where,
                        .n_all = fabric->n_servers,
                        .used = used};
    FAB_PASS(FAB_NEW(job->storage, fabric->n_servers, err));
    list.servers = job->storage;
    FAB_PASS(read_list(&list, err));
    job->n_storage = list.n;
    for (uint32_t i = 0; i < list.n; i++) {
        FAB_REFUSE_IF(fab_gpus_of_server(fabric, job->storage[i]) == 0, err, FAB_EINPUT, job->where,
                      "storage-servers: server %" PRIu32 " is empty", job->storage[i]);
    }
    return FAB_OK;
}

static fab_status read_candidates(fab_job *job, const fab_design *design, const fab_fabric *fabric, bool *used,
                                  fab_error *err) {
    uint64_t spares = design != NULL ? design->fabric.spares : 0; /* a pattern leaves none */
    const char *listed = design != NULL ? fab_design_list(design, job->spec.servers) : job->listed;
    if (listed != NULL && listed[0] != '\0') {
        server_list list = {"servers", listed, job->where, fabric->n_servers, used, job->servers, 0};
        for (uint32_t i = 0; i < job->n_storage; i++) {
            used[job->storage[i]] = false;
        }
        FAB_PASS(read_list(&list, err));
        job->n_servers = list.n;
        for (uint32_t i = 0; i < job->n_storage; i++) {
            FAB_REFUSE_IF(used[job->storage[i]], err, FAB_EINPUT, job->where,
                          "server %" PRIu32 " is both in servers and in storage-servers", job->storage[i]);
        }
    } else if (spares >= fab_n_complete_servers(fabric)) {
        return fab_fail(err, FAB_EINPUT, job->where, "%" PRIu64 " spare servers of %" PRIu32 " leave none for the job",
                        spares, fab_n_complete_servers(fabric));
    } else {
        FAB_KEEP(job->servers, job->n_servers, server, fab_n_complete_servers(fabric) - (uint32_t)spares, !used[server],
                 server);
    }
    return FAB_OK;
}

fab_status fab_job_find_servers(fab_job *job, const fab_design *design, const fab_fabric *fabric, fab_error *err) {
    FAB_OWNED bool *used = NULL;
    uint32_t wanted = 0;
    FAB_PASS(FAB_NEW_ALL(fabric->n_servers, err, job->servers, used));
    FAB_PASS(read_storage(job, design, fabric, used, err));
    FAB_PASS(read_candidates(job, design, fabric, used, err));
    FAB_PASS(count_wanted(job, fabric, &wanted, err));
    FAB_PASS(arrange(job, fabric, wanted, err));
    for (uint32_t i = 0; i < job->n_servers; i++) {
        job->n_gpus += fab_gpus_of_server(fabric, job->servers[i]);
    }
    FAB_REFUSE_IF(job->n_gpus == 0, err, FAB_EINPUT, job->where, "the job's servers have no GPU");
    return FAB_OK;
}

fab_status fab_servers_arrange(const fab_fabric *fabric, fab_placement placement, uint64_t seed, uint32_t *out,
                               uint32_t *out_n, fab_error *err) {
    FAB_OWNS_NEW(fab_job_free_owned, fab_job, job, 1, err);
    job->spec.placement = placement;
    job->spec.placement_seed = seed;
    FAB_PASS(fab_job_find_servers(job, NULL, fabric, err));
    memcpy(out, job->servers, job->n_servers * sizeof *out);
    *out_n = job->n_servers;
    return FAB_OK;
}
