/* Components by what they are: links by boundary, switches by tier. */
#include "summarise_internal.h"

#include "fab/str.h"

/* What a failure of each class costs a history: least squares of the impact over how often each class fails in the
 * span, of costs that are not negative and whose sum is what the histories lose. */

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
    sums->y += impact;
    sums->yy += impact * impact;
    sums->n++;
}

static void join_causes(const cause_sums *from, cause_sums *to) {
    for (size_t i = 0; i < CLASSES; i++) {
        to->x[i] += from->x[i];
        to->xy[i] += from->xy[i];
        for (size_t j = 0; j < CLASSES; j++) {
            to->xx[i][j] += from->xx[i][j];
        }
    }
    to->y += from->y;
    to->yy += from->yy;
    to->n += from->n;
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
static void rank_causes(fab_study_variant *out, double cost) {
    fab_cause *cause = out->causes;
    for (size_t i = 0; i < out->n_causes; i++) {
        fab_cause moved = cause[i];
        size_t at = i;
        for (; at > 0 && cost_of(&cause[at - 1]) < cost_of(&moved); at--) {
            cause[at] = cause[at - 1];
        }
        cause[at] = moved;
    }
    bool is_first = cause[0].impact > cause[0].ci95;
    for (size_t i = 0; i < out->n_causes; i++) {
        cause[i].share = cost > 0 ? cost_of(&cause[i]) / cost : 0;
        cause[i].is_even = i > 0 && are_even(&cause[i - 1], &cause[i]);
        is_first = is_first && cause[i].impact > 0 && (i == 0 || are_even(&cause[0], &cause[i]));
        out->n_first_causes += is_first;
    }
}

/* Least squares of these classes whose mean is that of the histories, so that the parts make up the whole. */
typedef struct fit {
    size_t n, class[CLASSES];
    double each[CLASSES];
    double by_product[CLASSES][CLASSES]; /* each = by_product * xy + by_mean * the mean */
    double by_mean[CLASSES];
} fit;

/* False: classes cannot be told apart. */
static bool fit_classes(const cause_sums *sums, fit *f) {
    double matrix[CLASSES][CLASSES];
    double inverse[CLASSES][CLASSES];
    double along[CLASSES] = {0}; /* inverse * mean of the counts */
    double length = 0;
    for (size_t i = 0; i < f->n; i++) {
        FAB_FILL(matrix[i], f->n, sums->xx[f->class[i]][f->class[fab_at]]);
    }
    if (!invert(matrix, f->n, inverse)) {
        return false;
    }
    for (size_t i = 0; i < f->n; i++) {
        for (size_t j = 0; j < f->n; j++) {
            along[i] += inverse[i][j] * sums->x[f->class[j]] / sums->n;
        }
        length += along[i] * sums->x[f->class[i]] / sums->n;
    }
    for (size_t i = 0; i < f->n; i++) {
        f->by_mean[i] = along[i] / length;
        f->each[i] = f->by_mean[i] * sums->y / sums->n;
        for (size_t j = 0; j < f->n; j++) {
            f->by_product[i][j] = inverse[i][j] - along[i] * along[j] / length;
            f->each[i] += f->by_product[i][j] * sums->xy[f->class[j]];
        }
    }
    return true;
}

/* No failure makes a job faster: the class that seems to most costs nothing, until none does. */
static void drop_negative(const cause_sums *sums, fit *f) {
    while (f->n > 0) {
        size_t least = 0;
        for (size_t i = 1; i < f->n; i++) {
            least = f->each[i] < f->each[least] ? i : least;
        }
        if (f->each[least] >= 0) {
            return;
        }
        f->n--;
        memmove(&f->class[least], &f -> class[least + 1], (f->n - least) * sizeof f->class[0]);
        (void)fit_classes(sums, f); /* part of a matrix that could be inverted */
    }
}

/* How far what these histories leave unexplained moves class i, were it not there. */
static double moved_by(const cause_sums *part, double n_all, const fit *f, size_t i) {
    double left = part->y;
    double off = 0;
    for (size_t j = 0; j < f->n; j++) {
        double product = part->xy[f->class[j]];
        for (size_t k = 0; k < f->n; k++) {
            product -= part->xx[f->class[j]][f->class[k]] * f->each[k];
        }
        off += f->by_product[i][j] * product;
        left -= part->x[f->class[j]] * f->each[j];
    }
    return off + f->by_mean[i] * left / n_all;
}

/* Half of the interval of class i by the draws of the paths, each as a whole: sandwich with clusters (Liang, Zeger,
 * Longitudinal data analysis using generalized linear models, Biometrika 73, 1986). */
static double interval_of_draws(const cause_sums *draws, size_t n_draws, double n_all, const fit *f, size_t i) {
    double squares = 0;
    for (size_t d = 0; d < n_draws; d++) {
        squares += pow(moved_by(&draws[d], n_all, f, i), 2);
    }
    const double n = (double)n_draws;
    return n_draws > 1 ? fab_student_t(n_draws - 1) * sqrt(squares * n / (n - 1)) : 0;
}

/* So many histories tell a first class that seems to cost something, to two digits; 0: not known, as where the draws
 * are what does not tell it. */
static uint64_t histories_needed(const fab_cause *first, double by_histories, double n_histories) {
    if (first->impact <= 0 || first->impact > first->ci95 || first->ci95 > by_histories) {
        return 0;
    }
    const double needed = n_histories * pow(first->ci95 / first->impact, 2); /* as the root of histories */
    const double last_digit = pow(10, floor(log10(needed)) - 1);
    return needed < MOST_HISTORIES ? (uint64_t)(ceil(needed / last_digit) * last_digit) : 0;
}

void summary_find_causes(const cause_sums *draws, size_t n_draws, fab_study_variant *out) {
    cause_sums sums = {.n = 0};
    fit all = {.n = 0};
    double by_histories[CLASSES];
    for (size_t d = 0; draws != NULL && d < n_draws; d++) {
        join_causes(&draws[d], &sums);
    }
    for (size_t c = 0; c < CLASSES; c++) {
        if (sums.x[c] > 0) {
            all.class[all.n++] = c; /* that fail at all */
        }
    }
    if (all.n == 0 || sums.n < (double)(LEAST_PER * all.n) || !fit_classes(&sums, &all)) {
        return;
    }
    double left = sums.yy; /* of the squares, unexplained */
    for (size_t i = 0; i < all.n; i++) {
        left -= 2 * all.each[i] * sums.xy[all.class[i]];
        for (size_t j = 0; j < all.n; j++) {
            left += all.each[i] * all.each[j] * sums.xx[all.class[i]][all.class[j]];
        }
    }
    fit kept = all;
    drop_negative(&sums, &kept);
    const double freedom = sums.n - (double)all.n;
    const double variance = fmax(left, 0) / freedom;
    for (size_t i = 0, k = 0; i < all.n; i++) {
        const bool is_kept = k < kept.n && kept.class[k] == all.class[i];
        const double squares = all.by_product[i][i] + all.by_mean[i] * all.by_mean[i] / sums.n;
        const double half = fab_student_t((size_t)freedom) * sqrt(variance * squares);
        out->causes[i] = (fab_cause){.failures = sums.x[all.class[i]] / sums.n,
                                     .impact = is_kept ? kept.each[k] : 0,
                                     .ci95 = fmax(half, interval_of_draws(draws, n_draws, sums.n, &all, i))};
        FAB_FORMAT(out->causes[i].name, "%s", fab_failure_classes[all.class[i]]);
        by_histories[i] = half;
        k += is_kept;
    }
    out->n_causes = all.n;
    size_t first = 0;
    for (size_t i = 1; i < all.n; i++) {
        first = cost_of(&out->causes[i]) > cost_of(&out->causes[first]) ? i : first;
    }
    out->first_cause_histories = histories_needed(&out->causes[first], by_histories[first], sums.n);
    rank_causes(out, sums.y / sums.n);
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
