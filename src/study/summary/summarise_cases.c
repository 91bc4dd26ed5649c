/* Scenarios that stand out, by what failed in them; servers by their ways into the network. */
#include "summarise_internal.h"

/* --- what failed -------------------------------------------------------------------------------------------------- */

/* Adds an item to a list that ends with how many are left out, where it does not fit. */
static void cases_add_item(char *out, size_t size, size_t *length, size_t i, size_t n, const char *item) {
    char rest[32];
    int room = snprintf(rest, sizeof rest, " and %zu more", n - i);
    size_t need = strlen(item) + 2 + (size_t)room;
    if (*length >= size) {
        return; /* closed */
    }
    if (*length + need + 1 > size && i > 0) {
        (void)snprintf(out + *length, size - *length, "%s", rest);
        *length = size;
        return;
    }
    int added = snprintf(out + *length, size - *length, "%s%s", i > 0 ? ", " : "", item);
    *length = added > 0 && (size_t)added < size - *length ? *length + (size_t)added : size;
}

static fab_status name_set(const fab_summary_request *r, fab_study_case *out, fab_error *err) {
    const uint32_t *component = NULL;
    size_t n = 0;
    size_t length = 0;
    FAB_PASS(r->failed(r->failed_context, out->scenario, &component, &n, err));
    for (size_t i = 0; i < n; i++) {
        FAB_REFUSE_IF(component[i] >= r->n_components, err, FAB_EINPUT, NULL,
                      "scenario %" PRIu64 " fails component %" PRIu32 ", which cannot be", out->scenario, component[i]);
        cases_add_item(out->failed, sizeof out->failed, &length, i, n,
                       FAB_SAY_COMPONENT(r->fabric, &r->components[component[i]]));
    }
    out->n_failed = n;
    return FAB_OK;
}

/* "31 gpus, 5 servers, 4 software": how often each class failed. */
static fab_status name_history(fab_summariser *s, fab_study_case *out, fab_error *err) {
    FAB_PASS(fab_scenarios_get(s->request.histories, out->scenario, &s->history, err));
    const fab_scenario *scenario = &s->history;
    uint64_t n[FAB_FAILURE_N] = {0};
    size_t length = 0;
    size_t n_items = 0;
    for (size_t i = 0; i < scenario->n_events; i++) {
        if (summary_counts(s, &scenario->event[i])) {
            n[scenario->event[i].failure]++;
            out->n_failed++;
        }
    }
    for (size_t c = 0; c < FAB_FAILURE_N; c++) {
        char item[64];
        FAB_FORMAT(item, "%" PRIu64 " %s", n[c], fab_failure_classes[c]);
        if (n[c] > 0) {
            cases_add_item(out->failed, sizeof out->failed, &length, n_items++, FAB_FAILURE_N, item);
        }
    }
    return FAB_OK;
}

static fab_status cases_describe(fab_summariser *s, const candidate *from, fab_study_case *out, fab_error *err) {
    const fab_summary_request *r = &s->request;
    const fab_outcome *row = &from->row;
    *out = (fab_study_case){.scenario = row->scenario,
                            .is_stopped = row->state != FAB_OUTCOME_RUNS,
                            .impact = from->impact,
                            .slowdown = row->slowdown,
                            .time_s = row->time_s,
                            .worst_ratio = row->worst_ratio,
                            .lost_ratio = row->lost_ratio,
                            .goodput = row->goodput,
                            .n_disconnected = row->n_disconnected,
                            .n_moved = row->n_moved,
                            .n_collisions = row->n_collisions,
                            .n_stops = row->n_stops,
                            .n_equal = r->n_equal != NULL ? r->n_equal[row->scenario] : 0};
    if (r->names != NULL && r->span_s <= 0) {
        FAB_FORMAT(out->name, "%s", r->names[row->scenario]);
    }
    if (row->worst_link < r->fabric->n_links) {
        (void)fab_link_name(r->fabric, row->worst_link, out->fullest);
    }
    return r->span_s > 0 ? name_history(s, out, err) : name_set(r, out, err);
}

static fab_status describe_all(fab_summariser *s, const candidate *from, size_t n, fab_study_case **out, size_t *out_n,
                               fab_error *err) {
    FAB_PASS(FAB_NEW(*out, n, err));
    for (*out_n = 0; *out_n < n; (*out_n)++) {
        FAB_PASS(cases_describe(s, &from[*out_n], &(*out)[*out_n], err));
    }
    return FAB_OK;
}

fab_status summary_cases(fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    variant_sums *v = &s->variants[variant];
    FAB_PASS(describe_all(s, v->worst, v->n_worst, &out->worst, &out->n_worst, err));
    return describe_all(s, v->stopped, v->n_stopped, &out->stopped, &out->n_stopped_shown, err);
}

/* --- ways into the network ---------------------------------------------------------------------------------------- */

bool summary_is_access_loss(const fab_fabric *f, const fab_component *c) {
    return c->kind <= FAB_COMPONENT_PORT && c->fraction == 0 && fab_class_of(f, c->id)->kind == FAB_LINK_ACCESS;
}

/* Links of a NIC to switches, their rates, and how many different switches they lead to. */
static uint32_t look_at_nic(const fab_fabric *f, fab_node_id nic, uint32_t *out_switches, double *out_sum_bps,
                            double *out_most_bps) {
    uint32_t n = 0;
    *out_switches = 0;
    for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1]; i++) {
        fab_link_id link = f->out_link[i];
        const fab_link_class *c = fab_class_of(f, link);
        if (c->kind != FAB_LINK_ACCESS) {
            continue;
        }
        FAB_ANY_IN(is_known, j, f->out_first[nic], i,
                   fab_class_of(f, f->out_link[j])->kind == FAB_LINK_ACCESS &&
                       fab_head(f, f->out_link[j]) == fab_head(f, link));
        *out_switches += !is_known;
        *out_sum_bps += c->capacity_bps;
        *out_most_bps = c->capacity_bps > *out_most_bps ? c->capacity_bps : *out_most_bps;
        n++;
    }
    return n;
}

bool summary_homing(const fab_fabric *f, fab_homing *out) {
    fab_homing h = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};
    for (uint32_t server = 0; server < fab_n_complete_servers(f); server++) {
        double sum_bps = 0;
        double most_bps = 0;
        uint32_t links = 0;
        for (uint32_t i = 0; i < f->nics_per_server; i++) {
            uint32_t switches = 0;
            fab_node_id nic = f->first[FAB_NODE_NIC] + server * f->nics_per_server + i;
            uint32_t ports = look_at_nic(f, nic, &switches, &sum_bps, &most_bps);
            links += ports;
            h.ports_per_nic = ports < h.ports_per_nic ? ports : h.ports_per_nic;
            h.switches_per_nic = switches < h.switches_per_nic ? switches : h.switches_per_nic;
        }
        h.links_per_server = links < h.links_per_server ? links : h.links_per_server;
        h.lost_ratio = sum_bps > 0 && most_bps / sum_bps > h.lost_ratio ? most_bps / sum_bps : h.lost_ratio;
    }
    if (f->n_servers == 0 || f->nics_per_server == 0 || h.links_per_server == 0) {
        return false;
    }
    *out = h;
    return true;
}
