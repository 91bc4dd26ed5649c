/* Components by what they are: links by boundary, switches by tier. */
#include "summarise_internal.h"

#include "fab/str.h"

/* What a failure of each class costs a history: ordinary least squares, without a constant, of the impact over how
 * often each class fails in the span. */

#define CLASSES        FAB_FAILURE_N
#define SINGULAR       1e-9 /* pivot over the largest: classes that cannot be told apart */
#define MOST_HISTORIES 1e9  /* that are worth a word */
#define LEAST_PER      10   /* histories for each class */

bool summary_counts(const fab_summariser *s, const fab_event *e) {
    const uint32_t *rank = s->request.rank_of_gpu;
    bool is_of_rank = e->failure == FAB_FAILURE_SOFTWARE || e->failure == FAB_FAILURE_MAINTENANCE;
    return !e->is_repair && e->time_s < s->request.span_s &&
           (!is_of_rank || rank == NULL || rank[e->component.id] != FAB_NONE);
}

void summary_count_failures(fab_summariser *s) {
    const fab_scenario *h = &s->history;
    memset(s->class_count, 0, sizeof s->class_count);
    for (size_t i = 0; i < h->n_events; i++) {
        s->class_count[h->event[i].failure] += summary_counts(s, &h->event[i]);
    }
}

void summary_add_causes(const fab_summariser *s, double impact, cause_sums *sums) {
    for (size_t i = 0; i < CLASSES; i++) {
        sums->x[i] += s->class_count[i];
        sums->xy[i] += s->class_count[i] * impact;
        for (size_t j = 0; j < CLASSES; j++) {
            sums->xx[i][j] += s->class_count[i] * s->class_count[j];
        }
    }
    sums->yy += impact * impact;
    sums->n++;
}

/* Inverse of the n x n matrix by Gauss and Jordan with pivots on the diagonal, which a matrix of products allows.
 * False: it is singular. */
static bool invert(double a[CLASSES][CLASSES], size_t n, double out[CLASSES][CLASSES]) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, a[i][i]);
        FAB_FILL(out[i], n, i == fab_at);
    }
    for (size_t p = 0; p < n; p++) {
        double pivot = a[p][p];
        if (!(pivot > SINGULAR * largest)) {
            return false;
        }
        for (size_t j = 0; j < n; j++) {
            a[p][j] /= pivot;
            out[p][j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i != p ? a[i][p] : 0;
            for (size_t j = 0; j < n && factor != 0; j++) {
                a[i][j] -= factor * a[p][j];
                out[i][j] -= factor * out[p][j];
            }
        }
    }
    return true;
}

static double cost_of(const fab_cause *c) {
    return c->failures * c->impact;
}

/* Whether the intervals do not tell what two classes cost. */
static bool are_even(const fab_cause *a, const fab_cause *b) {
    return cost_of(a) - cost_of(b) <= hypot(a->failures * a->ci95, b->failures * b->ci95);
}

/* Most cost first; shares; and which the intervals do not tell from the first, or the one before. */
static void rank_causes(fab_study_variant *out, size_t n_histories) {
    fab_cause *cause = out->causes;
    double sum = 0;
    for (size_t i = 0; i < out->n_causes; i++) {
        fab_cause moved = cause[i];
        size_t at = i;
        for (; at > 0 && cost_of(&cause[at - 1]) < cost_of(&moved); at--) {
            cause[at] = cause[at - 1];
        }
        cause[at] = moved;
        sum += fmax(cost_of(&moved), 0);
    }
    bool is_first = cause[0].impact > cause[0].ci95;
    if (!is_first && cause[0].impact > 0) { /* intervals shrink with the root of the histories */
        const double needed = (double)n_histories * pow(cause[0].ci95 / cause[0].impact, 2);
        const double last_digit = pow(10, floor(log10(needed)) - 1);
        out->first_cause_histories = needed < MOST_HISTORIES ? (uint64_t)(ceil(needed / last_digit) * last_digit) : 0;
    }
    for (size_t i = 0; i < out->n_causes; i++) {
        cause[i].share = sum > 0 ? fmax(cost_of(&cause[i]), 0) / sum : 0;
        cause[i].is_even = i > 0 && are_even(&cause[i - 1], &cause[i]);
        is_first = is_first && cause[i].impact > 0 && (i == 0 || are_even(&cause[0], &cause[i]));
        out->n_first_causes += is_first;
    }
}

void summary_find_causes(const cause_sums *sums, fab_study_variant *out) {
    size_t class[CLASSES]; /* that fail at all */
    size_t n = 0;
    double matrix[CLASSES][CLASSES];
    double inverse[CLASSES][CLASSES];
    double each[CLASSES] = {0};
    double left = sums->yy; /* of the squares, unexplained */
    for (size_t c = 0; c < CLASSES; c++) {
        if (sums->x[c] > 0) {
            class[n++] = c;
        }
    }
    if (n == 0 || sums->n < LEAST_PER * n) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        FAB_FILL(matrix[i], n, sums->xx[class[i]][class[fab_at]]);
    }
    if (!invert(matrix, n, inverse)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            each[i] += inverse[i][j] * sums->xy[class[j]];
        }
        left -= each[i] * sums->xy[class[i]];
    }
    double variance = (left > 0 ? left : 0) / (double)(sums->n - n);
    for (size_t i = 0; i < n; i++) {
        fab_cause *c = &out->causes[i];
        *c = (fab_cause){.failures = sums->x[class[i]] / (double)sums->n,
                         .impact = each[i],
                         .ci95 = fab_student_t((size_t)sums->n - n) * sqrt(variance * inverse[i][i])};
        FAB_FORMAT(c->name, "%s", fab_failure_classes[class[i]]);
    }
    out->n_causes = n;
    rank_causes(out, (size_t)sums->n);
}

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
            FAB_FORMAT(k->worst, "%s", name);
        }
    }
}

FAB_ORDER_KEYS(by_class_impact, fab_critical_class, FAB_ORDER(b->scenario_impact, a->scenario_impact),
               strcmp(a->name, b->name));

static const record *summary_class_record(const fab_summariser *s, size_t variant, size_t class) {
    return s->sets.class != NULL ? &s->sets.class[class] : &s->table.class_record[class * s->n_variants + variant];
}

/* What is known of a class as such: over the scenarios in which any of its components fails. */
static void describe_class(const fab_summariser *s, size_t variant, size_t k, fab_critical_class *out) {
    const record *r = &s->table.class_record[k * s->n_variants + variant];
    FAB_FORMAT(out->name, "%s", s->table.class_name[k]);
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
    FAB_EACH(fab_critical_class, c, out->classes, t->n_classes) {
        if (c->n_components > 0) { /* some of the store's components may not have failed yet */
            c->worst_impact = c->worst[0] != '\0' ? c->worst_impact : NAN;
            out->classes[kept++] = *c;
        }
    }
    out->n_classes = kept;
    FAB_SORT(out->classes, kept, by_class_impact);
    return FAB_OK;
}
