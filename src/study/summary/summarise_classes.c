/* Components by what they are: links by boundary, switches by tier. */
#include "summarise_internal.h"

#include "fab/memory.h"
#include "fab/order.h"
#include "fab/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void name_class(const fab_fabric *f, const fab_component *c, char *out, size_t size) {
    static const char *const PLURALS[FAB_COMPONENT_N_KINDS] = {"links", "ports",   "switches", "NICs",
                                                               "GPUs",  "servers", "racks",    "planes"};
    const char *where = "";
    if (c->kind == FAB_COMPONENT_LINK || c->kind == FAB_COMPONENT_PORT) {
        where = fab_boundary_name(f->wiring, fab_class_of(f, c->id)->tier);
    } else if (c->kind == FAB_COMPONENT_SWITCH && fab_is_tree(f)) {
        where = fab_tier_name(f->wiring, fab_tier_of(f, f->first[FAB_NODE_SWITCH] + c->id));
    }
    (void)snprintf(out, size, "%s%s%s%s", where, where[0] != '\0' ? " " : "", PLURALS[c->kind],
                   c->fraction > 0 ? ", degraded" : "");
}

fab_status summary_class_of(component_table *t, const fab_fabric *f, const fab_component *c, size_t n_variants,
                            uint8_t *out, fab_error *err) {
    char name[CLASS_NAME];
    size_t k = 0;
    FAB_PASS(t->class_record == NULL ? FAB_NEW(t->class_record, CLASSES_MOST * n_variants, err) : FAB_OK);
    name_class(f, c, name, sizeof name);
    while (k < t->n_classes && strcmp(t->class_name[k], name) != 0) {
        k++;
    }
    FAB_REFUSE_IF(k == CLASSES_MOST, err, FAB_EINTERNAL, NULL, "more than %d classes of components", CLASSES_MOST);
    if (k == t->n_classes) {
        memcpy(t->class_name[k], name, sizeof name);
        t->n_classes++;
    }
    *out = (uint8_t)k;
    return FAB_OK;
}

/* Parts of the fabric that belong to the class of a component. */
static uint64_t count_class(const fab_summary_request *r, const fab_component *c) {
    const fab_fabric *f = r->fabric;
    const bool is_port = c->kind == FAB_COMPONENT_PORT;
    uint64_t n = 0;
    if (c->kind == FAB_COMPONENT_LINK || is_port) {
        const fab_link_class *own = fab_class_of(f, c->id);
        for (uint32_t i = 0; i < f->n_cables; i++) {
            const fab_link_class *class = &f->classes[f->cable_class[i]];
            n += fab_is_network(class) && class->tier == own->tier ? 1U + is_port : 0U;
        }
        return n;
    }
    if (c->kind == FAB_COMPONENT_SWITCH && fab_is_tree(f)) {
        const fab_node_id first = f->first[FAB_NODE_SWITCH];
        for (uint32_t i = 0; i < fab_n_switches(f); i++) {
            n += fab_tier_of(f, first + i) == fab_tier_of(f, first + c->id);
        }
        return n;
    }
    const fab_racks racks = {.n_racks = r->n_racks};
    return fab_component_count(f, &racks, c->kind);
}

/* Only what `counts` may be called the worst. */
static void add_to_class(fab_critical_class *k, const fab_summary_request *r, const fab_component *c, double impact,
                         bool counts) {
    char name[FAB_COMPONENT_NAME_SIZE];
    k->n_parts = k->n_components == 0 ? count_class(r, c) : k->n_parts;
    k->n_components++;
    if (!counts) {
        return;
    }
    if (k->worst[0] == '\0' || impact > k->worst_impact) {
        k->worst_impact = impact;
        k->n_worst = 0;
    }
    k->n_worst += impact == k->worst_impact;
    if (impact == k->worst_impact) {
        (void)fab_component_name(r->fabric, c, name);
        if (k->n_worst == 1 || fab_compare_names(name, k->worst) < 0) {
            (void)snprintf(k->worst, sizeof k->worst, "%s", name);
        }
    }
}

FAB_ORDER_KEYS(by_class_impact, fab_critical_class, FAB_ORDER(b->scenario_impact, a->scenario_impact),
               strcmp(a->name, b->name));

const record *summary_class_record(const fab_summariser *s, size_t variant, size_t class) {
    return s->sets.class != NULL ? &s->sets.class[class] : &s->table.class_record[class * s->n_variants + variant];
}

/* What is known of a class as such: over the scenarios in which any of its components fails. */
static void describe_class(const fab_summariser *s, size_t variant, size_t k, fab_critical_class *out) {
    const record *r = &s->table.class_record[k * s->n_variants + variant];
    (void)snprintf(out->name, sizeof out->name, "%s", s->table.class_name[k]);
    out->n_scenarios = s->table.class_scenarios[k];
    out->n_stopped = r->n_stopped;
    out->scenario_impact = summary_mean_impact(r);
    const record *own = summary_class_record(s, variant, k);
    out->impact = summary_mean_impact(own);
    out->ci95 = summary_half_interval(own);
    out->is_clear = summary_is_clear(s, variant, own);
}

fab_status summary_find_classes(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    const component_table *t = &s->table;
    size_t kept = 0;
    FAB_PASS(FAB_NEW(out->classes, t->n_classes, err));
    for (size_t k = 0; k < t->n_classes; k++) {
        describe_class(s, variant, k, &out->classes[k]);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const record *r = &t->record[i * s->n_variants + variant];
        const record *own = summary_record_of(s, variant, i);
        fab_critical_class *k = &out->classes[t->class_of[i]];
        bool clear = summary_is_clear(s, variant, own);
        if (r->n_known > 0) {
            add_to_class(k, &s->request, &t->component[i], summary_mean_impact(own), s->is_single || clear);
            k->n_stopping += s->sets.part != NULL ? clear && own->least >= 1 : r->n_stopped == t->n_scenarios[i];
            k->n_clear += clear;
        }
    }
    for (size_t k = 0; k < t->n_classes; k++) {
        fab_critical_class *c = &out->classes[k];
        if (c->n_components > 0) { /* some of the store's components may not have failed yet */
            c->worst_impact = c->worst[0] != '\0' ? c->worst_impact : NAN;
            out->classes[kept++] = *c;
        }
    }
    out->n_classes = kept;
    FAB_SORT(out->classes, kept, by_class_impact);
    return FAB_OK;
}
