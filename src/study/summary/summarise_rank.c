/* Components by what their loss does. */
#include "summarise_internal.h"
#include "fab/str.h"

/* --- components that failed ------------------------------------------------------------------------------------- */

/* A cable has two links and is one component. */
static fab_component canonical(fab_component c) {
    c.id &= c.kind == FAB_COMPONENT_LINK ? ~UINT32_C(1) : UINT32_MAX;
    c.fraction += 0.0; /* -0 is 0 */
    return c;
}

/* Of a component that fails in histories: cables, nodes, servers. */
static size_t slot_of(const fab_fabric *f, const fab_component *c) {
    switch (c->kind) {
    case FAB_COMPONENT_SWITCH: return f->n_cables + f->first[FAB_NODE_SWITCH] + c->id;
    case FAB_COMPONENT_NIC: return f->n_cables + f->first[FAB_NODE_NIC] + c->id;
    case FAB_COMPONENT_GPU: return f->n_cables + f->first[FAB_NODE_GPU] + c->id;
    case FAB_COMPONENT_SERVER: return (size_t)f->n_cables + f->n_nodes + c->id;
    default: return c->id / 2;
    }
}

static fab_status add_component(component_table *t, const fab_fabric *f, const fab_component *c, size_t n_variants,
                                fab_error *err) {
    uint8_t class = 0;
    FAB_PASS(summary_class_of(t, f, c, n_variants, &class, err));
    FAB_PASS(FAB_GROW(t->class_of, t->class_capacity, t->n + 1, err));
    t->class_of[t->n] = class;
    FAB_PASS(FAB_GROW(t->component, t->capacity, t->n + 1, err));
    FAB_PASS(FAB_GROW(t->n_scenarios, t->n_scenarios_capacity, t->n + 1, err));
    FAB_PASS(FAB_GROW(t->record, t->record_capacity, (t->n + 1) * n_variants, err));
    memset(&t->record[t->n * n_variants], 0, n_variants * sizeof *t->record);
    t->n_scenarios[t->n] = 0;
    t->component[t->n++] = *c;
    return FAB_OK;
}

fab_status summary_take_components(fab_summariser *s, fab_error *err) {
    const fab_summary_request *r = &s->request;
    if (r->span_s > 0) {
        return FAB_NEW(s->table.slot, (size_t)r->fabric->n_cables + r->fabric->n_nodes + r->fabric->n_servers, err);
    }
    for (size_t i = 0; i < r->n_components; i++) {
        fab_component c = canonical(r->components[i]);
        FAB_PASS(add_component(&s->table, r->fabric, &c, s->n_variants, err));
    }
    return FAB_OK;
}

fab_status summary_find_components(fab_summariser *s, uint64_t scenario, size_t *out_n, fab_error *err) {
    size_t n_failed = 0;
    FAB_PASS(fab_scenarios_get(s->request.histories, scenario, &s->history, err));
    FAB_PASS(FAB_GROW(s->failed, s->met_capacity, s->history.n_events + 1, err));
    FAB_EACH(const fab_event, event, s->history.event, s->history.n_events) {
        if (!event->is_repair && event->failure != FAB_FAILURE_SOFTWARE && event->failure != FAB_FAILURE_MAINTENANCE) {
            fab_component c = canonical(event->component);
            c.fraction = 0; /* a part is one, slow or dead */
            uint32_t *slot = &s->table.slot[slot_of(s->request.fabric, &c)];
            if (*slot == 0) {
                FAB_PASS(add_component(&s->table, s->request.fabric, &c, s->n_variants, err));
                *slot = (uint32_t)s->table.n;
            }
            s->failed[n_failed++] = *slot - 1;
        }
    }
    if (n_failed > 1) { /* each once: a component may fail again */
        size_t kept = 1;
        qsort(s->failed, n_failed, sizeof *s->failed, fab_order_u32);
        for (size_t i = 1; i < n_failed; i++) {
            if (s->failed[i] != s->failed[kept - 1]) {
                s->failed[kept++] = s->failed[i];
            }
        }
        n_failed = kept;
    }
    *out_n = n_failed;
    return FAB_OK;
}

static void add_to_record(record *r, const fab_outcome *row, double impact, uint64_t n_sets) {
    bool runs = row->state == FAB_OUTCOME_RUNS;
    const double n = (double)n_sets;
    r->n_stopped += runs ? 0 : n_sets;
    r->n_disconnected += row->n_disconnected > 0 ? n_sets : 0;
    if (!isnan(impact)) {
        r->most_scenario = r->n_known == 0 || impact > r->most ? row->scenario : r->most_scenario;
        r->least = r->n_known == 0 || impact < r->least ? impact : r->least;
        r->most = r->n_known == 0 || impact > r->most ? impact : r->most;
        r->impact += n * impact;
        r->squares += n * (impact * impact);
        r->n_known += n_sets;
    }
    if (runs && !isnan(row->slowdown)) {
        r->worst_slowdown = r->n_times == 0 || row->slowdown > r->worst_slowdown ? row->slowdown : r->worst_slowdown;
        r->slowdown += n * row->slowdown;
        r->n_times += n_sets;
    }
    if (runs && !isnan(row->worst_ratio)) {
        r->worst_ratio = r->n_ratios == 0 || row->worst_ratio > r->worst_ratio ? row->worst_ratio : r->worst_ratio;
        r->ratio += n * row->worst_ratio;
        r->n_ratios += n_sets;
    }
}

uint64_t summary_share(const fab_summariser *s, const uint32_t *component, size_t n, size_t i, uint64_t n_sets) {
    const uint32_t first = summary_first(s, component[i]);
    uint64_t times = 1;
    if (s->alike == NULL) {
        return n_sets;
    }
    for (size_t k = 0; k < i; k++) {
        if (summary_first(s, component[k]) == first) {
            return 0;
        }
    }
    for (size_t k = i + 1; k < n; k++) {
        times += summary_first(s, component[k]) == first;
    }
    return n_sets * times / s->alike[first];
}

uint64_t summary_count_scenario(fab_summariser *s, const uint32_t *component, size_t n, uint64_t n_sets) {
    component_table *t = &s->table;
    uint64_t classes = 0;
    for (size_t i = 0; i < n; i++) {
        t->n_scenarios[summary_first(s, component[i])] += summary_share(s, component, n, i, n_sets);
        classes |= UINT64_C(1) << t->class_of[component[i]];
    }
    for (size_t k = 0; k < t->n_classes; k++) {
        t->class_scenarios[k] += (classes >> k & 1) * n_sets;
    }
    return classes;
}

void summary_count_components(fab_summariser *s, const fab_outcome *row, double impact, const uint32_t *component,
                              size_t n, uint64_t classes, uint64_t n_sets) {
    const component_table *t = &s->table;
    for (size_t i = 0; i < n; i++) {
        const uint64_t share = summary_share(s, component, n, i, n_sets);
        if (share > 0) {
            add_to_record(&t->record[summary_first(s, component[i]) * s->n_variants + row->variant], row, impact,
                          share);
        }
    }
    for (size_t k = 0; k < t->n_classes; k++) {
        if ((classes >> k & 1) != 0) {
            add_to_record(&t->class_record[k * s->n_variants + row->variant], row, impact, n_sets);
        }
    }
}

void summary_spread_components(fab_summariser *s) {
    component_table *t = &s->table;
    for (uint32_t i = 0; s->alike != NULL && i < t->n; i++) {
        const size_t first = summary_first(s, i);
        if (first != i) {
            t->n_scenarios[i] = t->n_scenarios[first];
            memcpy(&t->record[i * s->n_variants], &t->record[first * s->n_variants], s->n_variants * sizeof *t->record);
        }
    }
}

/* --- rankings ----------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    double impact;
    uint32_t component;
} ranked;

typedef struct named {
    ranked of;
    char name[FAB_COMPONENT_TEXT];
} named;

double summary_mean_impact(const record *r) {
    return r->n_known == 0 ? NAN : r->least == r->most ? r->least : r->impact / (double)r->n_known;
}

FAB_ORDER_KEYS(by_impact, ranked, FAB_ORDER(b->impact, a->impact), FAB_ORDER(a->component, b->component));

FAB_ORDER_KEYS(by_impact_and_name, named, FAB_ORDER(b->of.impact, a->of.impact), fab_compare_names(a->name, b->name));

const record *summary_record_of(const fab_summariser *s, size_t variant, size_t component) {
    return s->sets.part != NULL ? &s->sets.part[summary_first(s, (uint32_t)component)]
                                : &s->table.record[component * s->n_variants + variant];
}

double summary_half_interval(const record *r) {
    double n = (double)r->n_known;
    if (r->n_known < 2) {
        return NAN;
    }
    double mean = summary_mean_impact(r);
    double variance = (r->squares - n * mean * mean) / (n - 1);
    return r->least != r->most && variance > 0 ? fab_student_t((size_t)r->n_known - 1) * sqrt(variance / n) : 0;
}

bool summary_is_clear(const fab_summariser *s, size_t variant, const record *r) {
    const variant_sums *v = &s->variants[variant];
    double all = (double)v->n_impacts;
    double mean = summary_mean_impact(r);
    if (s->is_single) {
        return mean > FAB_SAME_FACTOR;
    }
    if (s->sets.part != NULL) {
        return summary_is_credited(s, r);
    }
    if (r->n_known < FAB_CLEAR_SCENARIOS) {
        return false;
    }
    double above = mean - v->out.impact;
    double variance = fmax(v->squares / all - v->out.impact * v->out.impact, 0);
    double error = sqrt(variance / (double)r->n_known);
    return above > FAB_SAME_FACTOR && above >= FAB_CLEAR_ERRORS * error && above > summary_half_interval(r);
}

static void rank_describe(const fab_summariser *s, size_t variant, const named *from, fab_critical *out) {
    const uint32_t component = from->of.component;
    const fab_component *c = &s->table.component[component];
    const record *r = &s->table.record[component * s->n_variants + variant];
    const record *own = summary_record_of(s, variant, component);
    *out = (fab_critical){.n_scenarios = s->table.n_scenarios[component],
                          .n_stopped = r->n_stopped,
                          .n_disconnected = r->n_disconnected,
                          .impact = from->of.impact,
                          .n_alone = own->n_known,
                          .ci95 = summary_half_interval(own),
                          .mean_slowdown = r->n_times > 0 ? r->slowdown / (double)r->n_times : NAN,
                          .worst_slowdown = r->n_times > 0 ? r->worst_slowdown : NAN,
                          .mean_ratio = r->n_ratios > 0 ? r->ratio / (double)r->n_ratios : NAN,
                          .worst_ratio = r->n_ratios > 0 ? r->worst_ratio : NAN,
                          .worst_scenario = r->most_scenario,
                          .is_clear = summary_is_clear(s, variant, own)};
    FAB_FORMAT(out->name, "%s", from->name);
    FAB_FORMAT(out->kind, "%s", fab_component_kinds[c->kind]);
}

/* Describes the `top` of a list by impact from `first` on, those of equal impact by name: all that tie with the last of
 * them get one. *out_end is the place behind all that tie. */
static fab_status rank_next(const fab_summariser *s, size_t variant, const ranked *list, size_t n, size_t first,
                            fab_critical **out, size_t *out_n, size_t *out_end, fab_error *err) {
    size_t most = n - first < s->request.top ? n - first : s->request.top;
    size_t end = first + most;
    while (end < n && list[end].impact == list[end - 1].impact) {
        end++;
    }
    FAB_OWNED_NEW(named, names, end - first, err);
    for (size_t i = first; i < end; i++) {
        names[i - first].of = list[i];
        (void)fab_component_name(s->request.fabric, &s->table.component[list[i].component], names[i - first].name);
    }
    qsort(names, end - first, sizeof *names, by_impact_and_name);
    FAB_PASS(FAB_NEW(*out, most, err));
    for (size_t i = 0; i < most; i++) {
        rank_describe(s, variant, &names[i], &(*out)[i]);
    }
    *out_n = most;
    *out_end = end;
    return FAB_OK;
}

/* The components with the highest impact, all or links alone; of sets and histories those that are clear. */
static fab_status rank_components(const fab_summariser *s, size_t variant, bool links, fab_ranking *out,
                                  fab_error *err) {
    const component_table *t = &s->table;
    size_t n = 0;
    size_t end = 0;
    FAB_OWNED_NEW(ranked, list, t->n, err);
    for (uint32_t i = 0; i < t->n; i++) {
        const record *r = summary_record_of(s, variant, i);
        double impact = summary_mean_impact(r);
        if (!isnan(impact) && (!links || t->component[i].kind <= FAB_COMPONENT_PORT) &&
            (s->is_single || summary_is_clear(s, variant, r))) {
            list[n++] = (ranked){.component = i, .impact = impact};
        }
    }
    qsort(list, n, sizeof *list, by_impact);
    FAB_PASS(rank_next(s, variant, list, n, 0, &out->list, &out->n, &end, err));
    if (end > out->n) {
        for (size_t i = 0; i < end; i++) {
            out->n_tied += list[i].impact == list[end - 1].impact;
        }
        FAB_PASS(rank_next(s, variant, list, n, end, &out->next, &out->n_next, &end, err));
    }
    return FAB_OK;
}

/* --- for graphs --------------------------------------------------------------------------------------------------- */

static fab_status find_impact(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    const component_table *t = &s->table;
    const fab_fabric *f = s->request.fabric;
    static const fab_node_kind NODES[FAB_COMPONENT_N_KINDS] = {[FAB_COMPONENT_SWITCH] = FAB_NODE_SWITCH,
                                                               [FAB_COMPONENT_NIC] = FAB_NODE_NIC,
                                                               [FAB_COMPONENT_GPU] = FAB_NODE_GPU};
    FAB_PASS(FAB_NEW(out->cable_impact, f->n_cables, err));
    FAB_PASS(FAB_NEW(out->node_impact, f->n_nodes, err));
    FAB_FILL(out->cable_impact, f->n_cables, NAN);
    FAB_FILL(out->node_impact, f->n_nodes, NAN);
    bool is_known = false;
    for (uint32_t i = 0; i < t->n; i++) {
        const fab_component *c = &t->component[i];
        const record *r = summary_record_of(s, variant, i);
        bool counts = s->is_single || r->n_known == 0 || summary_is_clear(s, variant, r);
        double impact = counts ? summary_mean_impact(r) : 0; /* what is not clear is not shown as critical */
        double *at = NULL;
        if (c->kind <= FAB_COMPONENT_PORT) {
            at = &out->cable_impact[c->id >> 1];
        } else if (c->kind <= FAB_COMPONENT_GPU) {
            at = &out->node_impact[f->first[NODES[c->kind]] + c->id];
        }
        if (at != NULL && c->fraction == 0 && !(impact <= *at)) { /* the larger, of a link and its ports */
            *at = isnan(impact) ? *at : impact;
            is_known = is_known || impact > 0 || (s->request.span_s <= 0 && !isnan(impact));
        }
    }
    if (!is_known) { /* of servers, or of histories in which chance hides every part: nothing to draw */
        FAB_FREE_ALL(out->cable_impact, out->node_impact);
        out->cable_impact = out->node_impact = NULL;
    }
    return FAB_OK;
}

fab_status summary_rank(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    FAB_PASS(rank_components(s, variant, false, &out->critical, err));
    FAB_PASS(rank_components(s, variant, true, &out->links, err));
    FAB_PASS(summary_find_classes(s, variant, out, err));
    return s->request.keep_impact ? find_impact(s, variant, out, err) : FAB_OK;
}
