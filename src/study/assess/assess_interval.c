/* What checkpoints cost a job, and how far apart they are best: from how often it stops under the very rates that its
 * histories are drawn with. */
#include "assess_internal.h"

#include "fab/design.h"

#define PROBES 16 /* parts of a class that are tried, evenly spread: equal ones do the same */

/* Parts of a class that may stop the job. */
typedef struct probe_list {
    fab_component *part;
    size_t n;
} probe_list;

static bool is_beside_rank(const fab_assessor *a, fab_node_id nic) {
    const fab_fabric *f = a->assessment->fabric;
    return assess_any_rank(a, (uint64_t)(nic - f->first[FAB_NODE_NIC]) / f->nics_per_server * f->gpus_per_server,
                           f->gpus_per_server);
}

/* NICs and their cables count where a rank is beside them; of switches and the cables between them all do. */
static void list_parts(const fab_assessor *a, fab_failure_class class, fab_link_kind kind, probe_list *out) {
    const fab_fabric *f = a->assessment->fabric;
    uint32_t n = class == FAB_FAILURE_LINK ? f->n_cables
                 : class == FAB_FAILURE_SWITCH
                     ? fab_component_count(f, a->assessment->request.racks, FAB_COMPONENT_SWITCH)
                     : fab_component_count(f, a->assessment->request.racks, FAB_COMPONENT_NIC);
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        fab_component c = {.kind = FAB_COMPONENT_NIC, .id = i};
        bool counts = class == FAB_FAILURE_NIC && is_beside_rank(a, f->first[FAB_NODE_NIC] + i);
        if (class == FAB_FAILURE_LINK) {
            c = (fab_component){.kind = FAB_COMPONENT_LINK, .id = 2 * i};
            counts = fab_class_of(f, c.id)->kind == kind &&
                     (kind == FAB_LINK_FABRIC || is_beside_rank(a, fab_tail(f, c.id)));
        } else if (class == FAB_FAILURE_SWITCH) {
            c.kind = FAB_COMPONENT_SWITCH;
            counts = true;
        }
        if (counts) {
            out->part[out->n++] = c;
        }
    }
}

/* Adds the parts of a class of which one stops the job: as many of them as of those that are tried. */
static fab_status count_stopping(fab_assessor *a, fab_failure_class class, fab_link_kind kind, probe_list *list,
                                 double *sum, fab_error *err) {
    list_parts(a, class, kind, list);
    size_t n = list->n < PROBES ? list->n : PROBES;
    size_t n_stop = 0;
    for (size_t i = 0; i < n; i++) {
        const fab_component *c = &list->part[i * list->n / n];
        FAB_PASS(fab_mask_set(&a->mask, c, 1, err));
        FAB_PASS(assess_reroute(a, 0, NULL, err));
        n_stop += assess_loads(a, 0).n_disconnected > 0;
    }
    *sum += n > 0 ? (double)list->n * (double)n_stop / (double)n : 0;
    return FAB_OK;
}

/* By failures, and with planned ones to r->stops_per_s. */
static fab_status find_stops(fab_assessor *a, fab_failure_rates *r, double span_s, double *out_per_s, fab_error *err) {
    const fab_fabric *f = a->assessment->fabric;
    double stopping[FAB_FAILURE_N] = {0};
    probe_list list = {.part = NULL};
    FAB_OWNS_MEMBERS(list.part);
    FAB_PASS(FAB_NEW(list.part, (size_t)f->n_cables + f->n_nodes, err));
    for (uint32_t server = 0; server < f->n_servers; server++) {
        FAB_SUM(uint32_t, n, gpu, f->gpus_per_server,
                assess_any_rank(a, (uint64_t)server * f->gpus_per_server + gpu, 1));
        stopping[FAB_FAILURE_SERVER] += n > 0;
        stopping[FAB_FAILURE_GPU] += n;
    }
    stopping[FAB_FAILURE_SOFTWARE] = stopping[FAB_FAILURE_GPU];
    stopping[FAB_FAILURE_SLOW] = 1 - r->slow_speed >= r->detect_loss ? stopping[FAB_FAILURE_GPU] : 0; /* noticed */
    FAB_PASS(count_stopping(a, FAB_FAILURE_NIC, FAB_LINK_ACCESS, &list, &stopping[FAB_FAILURE_NIC], err));
    FAB_PASS(count_stopping(a, FAB_FAILURE_SWITCH, FAB_LINK_ACCESS, &list, &stopping[FAB_FAILURE_SWITCH], err));
    FAB_PASS(count_stopping(a, FAB_FAILURE_LINK, FAB_LINK_ACCESS, &list, &stopping[FAB_FAILURE_LINK], err));
    FAB_PASS(count_stopping(a, FAB_FAILURE_LINK, FAB_LINK_FABRIC, &list, &stopping[FAB_FAILURE_LINK], err));
    stopping[FAB_FAILURE_FLAP] = 1 - r->flap_speed >= r->detect_loss ? stopping[FAB_FAILURE_LINK] : 0;
    *out_per_s = 0;
    for (uint32_t c = 0; c < FAB_FAILURE_N; c++) {
        bool ages = c != FAB_FAILURE_SOFTWARE;
        *out_per_s += stopping[c] * r->per_s[c] * (ages ? fab_infant_mean(r, span_s) : 1);
    }
    r->stops_per_s = *out_per_s + stopping[FAB_FAILURE_GPU] * r->per_s[FAB_FAILURE_MAINTENANCE];
    return FAB_OK;
}

/* Seconds of the phase that writes to storage servers; 0: the job has none. */
static fab_status time_of_burst(fab_assessor *a, double *out_s, fab_error *err) {
    const fab_assessment *d = a->assessment;
    *out_s = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        if (strcmp(d->traffic->phases[p].name, "checkpoint") == 0) {
            fab_evaluated found;
            FAB_PASS(fab_mask_set(&a->mask, NULL, 0, err));
            FAB_PASS(assess_evaluate(a, 0, p, NULL, FAB_NEED_TIME, &found, err));
            *out_s = found.time.transfer_s + found.time.latency_s;
        }
    }
    return FAB_OK;
}

static fab_status settle_costs(fab_assessor *a, const fab_failure_spec *spec, fab_failure_rates *r, fab_error *err) {
    const fab_traffic *t = a->assessment->traffic;
    double bits = t->n_ranks > 0 ? 8 * t->checkpoint_bytes / t->n_ranks : 0; /* of a GPU */
    double burst_s = 0;
    FAB_PASS(spec->write_s > 0 ? FAB_OK : time_of_burst(a, &burst_s, err));
    double write_s = spec->write_s > 0 ? spec->write_s : burst_s > 0 ? burst_s : bits / spec->write_bps;
    double copy_s = t->has_job && t->job.offload_bps > 0 ? bits / t->job.offload_bps : 0;
    if (spec->mode == FAB_CHECKPOINT_MEMORY && !(spec->write_s > 0)) {
        const fab_fabric_spec *fabric = &a->assessment->what->design->fabric;
        write_s = bits * (double)fabric->gpus_per_server / ((double)fabric->nics_per_server * fabric->nic_bps);
    }
    bool is_sync = spec->mode == FAB_CHECKPOINT_SYNC;
    r->pause_s = is_sync ? write_s : copy_s;
    r->lag_s = is_sync ? write_s : copy_s + write_s;
    return FAB_OK;
}

fab_status fab_assessment_settle(fab_assessment *d, double span_s, fab_failure_rates *out, fab_error *err) {
    FAB_OWNS(fab_assessor_free_owned) fab_assessor *a = NULL;
    fab_failure_rates r = d->request.rates;
    double stops_per_s = 0;
    FAB_PASS(fab_assessor_new(d, &a, err));
    FAB_PASS(settle_costs(a, &d->what->design->failures, &r, err));
    FAB_PASS(find_stops(a, &r, span_s, &stops_per_s, err));
    if (r.checkpoint_s == 0) {
        r.checkpoint_s = fab_checkpoint_interval(stops_per_s, r.pause_s, r.lag_s);
    }
    if (r.regrow == 0) { /* until the next stop, which takes them back anyway, they do less than the job misses */
        r.regrow = fmin((r.lag_s + r.reform_s) * r.stops_per_s, 1);
    }
    d->request.rates = r;
    *out = r;
    return FAB_OK;
}
