/*
 * Derived defaults, and values that only make sense together.
 */
#include "fields.h"

#define DEFAULT_GPUS_PER_SERVER 8

static bool is_fat_tree(const fab_fabric_spec *fabric) {
    return strcmp(fabric->family, "fat-tree") == 0;
}

static bool is_dragonfly(const fab_fabric_spec *fabric) {
    return strcmp(fabric->family, "dragonfly") == 0;
}

static bool is_torus(const fab_fabric_spec *fabric) {
    return strcmp(fabric->family, "torus") == 0;
}

/* NIC ports of a shape that decides the GPUs; 0 where none does. */
static uint64_t ports_of_shape(const fab_fabric_spec *f) {
    if (is_dragonfly(f)) {
        return f->dragonfly.p * f->dragonfly.a * f->dragonfly.g;
    }
    if (is_torus(f)) {
        return f->torus.switches; /* a NIC on each */
    }
    return !is_fat_tree(f) ? 0 : f->xgft.height > 0 ? f->xgft.ports : f->k * f->k * f->k / 4;
}

static uint64_t default_gpus_per_server(const fab_fabric_spec *fabric) {
    uint64_t ports = fabric->gpus == 0 ? ports_of_shape(fabric) : 0;
    uint64_t n = DEFAULT_GPUS_PER_SERVER;
    while (ports > 0 && ports % n != 0) {
        n--;
    }
    return n;
}

static void design_defaults_fill(fab_design *design) {
    fab_fabric_spec *fabric = &design->fabric;
    if (fabric->gpus_per_server == 0) {
        fabric->gpus_per_server = default_gpus_per_server(fabric);
    }
    if (fabric->nics_per_server == 0) {
        fabric->nics_per_server = fabric->gpus_per_server;
    }
    if (fabric->domain == 0) {
        fabric->domain = fabric->gpus_per_server;
    }
    if (design->name[0] == '\0') {
        FAB_FORMAT(design->name, "%s", fabric->family);
    }
}

void fab_design_front_end(const fab_design *design, uint64_t servers, fab_fabric_spec *out) {
    *out = design->front_end;
    out->gpus = servers + out->storage;
    out->gpus_per_server = 1;
    out->nics_per_server = out->nics_per_server != 0 ? out->nics_per_server : 1;
    out->domain = 1;
}

/* The hosts of the front-end are the servers of the fabric. */
static fab_status check_front_end(const reading *r, fab_error *err) {
    const fab_design *d = &r->design;
    const fab_fabric_spec *f = &d->front_end;
    const char *where = r->front_end_where[0] != '\0' ? r->front_end_where : r->origin_where;
    if (!d->has_front_end) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(!field_is_word(f->family), err, FAB_EINPUT, where,
                  "front-end: family is required: the name of a topology family");
    FAB_REFUSE_IF(strcmp(f->family, "installed") == 0 || f->file[0] != '\0', err, FAB_EINPUT, where,
                  "front-end: what is installed cannot be the front-end of a design");
    FAB_REFUSE_IF(f->gpus != 0 || f->gpus_per_server != 0 || f->domain != 0 || f->spares != 0, err, FAB_EINPUT, where,
                  "front-end: its hosts are the servers of the fabric and the storage servers; it has no gpus, "
                  "gpus-per-server, domain or spares of its own");
    return FAB_OK;
}

static uint64_t next_multiple(uint64_t n, uint64_t of) {
    return (n / of + 1) * of;
}

static fab_status check_servers(const reading *r, fab_error *err) {
    const fab_fabric_spec *f = &r->design.fabric;
    FAB_REFUSE_IF(f->gpus % f->gpus_per_server != 0, err, FAB_EINPUT, reading_where(r, "gpus", "gpus-per-server", NULL),
                  "%s GPU%s not fill servers of %s: the last one would hold %" PRIu64 "; %" PRIu64
                  " GPUs fill them, or gpus-per-server says how many they hold",
                  FAB_SAY_COUNT(f->gpus), f->gpus == 1 ? " does" : "s do", FAB_SAY_COUNT(f->gpus_per_server),
                  f->gpus % f->gpus_per_server, next_multiple(f->gpus, f->gpus_per_server));
    FAB_REFUSE_IF(f->domain % f->gpus_per_server != 0 && f->gpus_per_server % f->domain != 0, err, FAB_EINPUT,
                  reading_where(r, "domain", "gpus-per-server", NULL),
                  "scale-up domains of %s GPUs and servers of %s do not fit: one must divide the other",
                  FAB_SAY_COUNT(f->domain), FAB_SAY_COUNT(f->gpus_per_server));
    FAB_REFUSE_IF(f->gpus % f->domain != 0, err, FAB_EINPUT, reading_where(r, "gpus", "domain", NULL),
                  "%s GPU%s not fill scale-up domains of %s: the last one would hold %" PRIu64 "; %" PRIu64
                  " GPUs fill them",
                  FAB_SAY_COUNT(f->gpus), f->gpus == 1 ? " does" : "s do", FAB_SAY_COUNT(f->domain),
                  f->gpus % f->domain, next_multiple(f->gpus, f->domain));
    FAB_REFUSE_IF(f->pod % f->gpus_per_server != 0, err, FAB_EINPUT, reading_where(r, "pod", "gpus-per-server", NULL),
                  "a pod of %s GPUs does not hold whole servers of %s", FAB_SAY_COUNT(f->pod),
                  FAB_SAY_COUNT(f->gpus_per_server));
    FAB_REFUSE_IF(f->gpus > 0 && f->spares >= f->gpus / f->gpus_per_server, err, FAB_EINPUT,
                  reading_where(r, "spares", NULL, NULL), "%s spare servers of %s leave none to work",
                  FAB_SAY_COUNT(f->spares), FAB_SAY_COUNT(f->gpus / f->gpus_per_server));
    return FAB_OK;
}

/* What auto is of xoff is below it. */
static fab_status check_transport(const reading *r, fab_error *err) {
    const fab_transport_spec *t = &r->design.fabric.transport;
    if (t->xon_bytes > 0 && t->xon_bytes >= t->xoff_bytes) {
        return fab_fail(err, FAB_EINPUT, reading_where(r, "xon", "xoff", NULL),
                        "xon of %s is not below xoff of %s: a port that was stopped would be let go on at once",
                        FAB_SAY((double)t->xon_bytes, FAB_UNIT_BYTES), FAB_SAY((double)t->xoff_bytes, FAB_UNIT_BYTES));
    }
    bool is_lossless = t->kind == FAB_TRANSPORT_PFC || t->kind == FAB_TRANSPORT_DCQCN;
    FAB_REFUSE_IF(is_lossless && t->buffer_alpha > 0 && t->buffer_bytes <= 0, err, FAB_EINPUT,
                  reading_where(r, "buffer-alpha", "buffer", NULL),
                  "buffer-alpha is a part of what is free of a switch's buffer: buffer=BYTES says how much that "
                  "has");
    if (t->kind == FAB_TRANSPORT_DCQCN && t->kmin_bytes >= t->kmax_bytes) {
        return fab_fail(err, FAB_EINPUT, reading_where(r, "kmin", "kmax", NULL),
                        "kmin of %s is not below kmax of %s: marks grow between them",
                        FAB_SAY(t->kmin_bytes, FAB_UNIT_BYTES), FAB_SAY(t->kmax_bytes, FAB_UNIT_BYTES));
    }
    return FAB_OK;
}

static fab_status check_fabric(const reading *r, fab_error *err) {
    const fab_fabric_spec *f = &r->design.fabric;
    FAB_REFUSE_IF(!field_is_word(f->family), err, FAB_EINPUT, r->origin_where,
                  "family is required: the name of a topology family");
    FAB_REFUSE_IF(f->k % 2 != 0, err, FAB_EINPUT, reading_where(r, "k", NULL, NULL),
                  "k: %" PRIu64 " is odd; a k-ary fat-tree needs an even k", f->k);
    FAB_REFUSE_IF(f->gpus == 0 && ports_of_shape(f) == 0, err, FAB_EINPUT, r->origin_where, "gpus is required%s",
                  is_fat_tree(f)    ? ", unless k or xgft is given"
                  : is_dragonfly(f) ? ", unless dragonfly is given"
                  : is_torus(f)     ? ", unless torus is given"
                                    : "");
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        FAB_REFUSE_IF(f->tier[i].radix * f->tier[i].breakout > 65535, err, FAB_EINPUT,
                      reading_where(r, "radix", "breakout", NULL),
                      "radix %" PRIu64 " times breakout %" PRIu64 " of tier %zu is more than 65,535 ports",
                      f->tier[i].radix, f->tier[i].breakout, i + 1);
    }
    FAB_PASS(check_transport(r, err));
    return check_servers(r, err);
}

static fab_status check_jobs(const fab_design *design, const char *where, fab_error *err) {
    for (size_t i = 0; i < design->n_jobs; i++) {
        FAB_REFUSE_IF(design->jobs[i].id[0] == '\0', err, FAB_EINPUT, where,
                      "the id of job %zu is empty: a job needs a name", i + 1);
        for (size_t j = 0; j < i; j++) {
            FAB_REFUSE_IF(strcmp(design->jobs[i].id, design->jobs[j].id) == 0, err, FAB_EINPUT, where,
                          "two jobs have the id '%s'", design->jobs[i].id);
        }
    }
    return FAB_OK;
}

fab_status reading_finish(reading *r, fab_error *err) {
    const field *id = design_field_find(SCOPE_JOB, "id");
    FAB_FORMAT(r->design.fabric.where, "%s", r->origin_where);
    FAB_FORMAT(r->design.front_end.where, "%s", r->front_end_where);
    FAB_PASS(reading_finish_installed(r, err));
    design_defaults_fill(&r->design);
    FAB_PASS(check_fabric(r, err));
    FAB_PASS(check_front_end(r, err));
    FAB_PASS(reading_finish_floor(r, err));
    design_follow_gpu(&r->design);
    return check_jobs(&r->design, r->where[design_field_index(id)], err);
}
