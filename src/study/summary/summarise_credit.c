/* Who causes what a set of failures costs.
 *
 * A part costs no more alone than in the sets that it is in, but for few in which another loss makes up for it (a
 * parallel cable, whose loss evens out what a spray sends): its ceiling is the least impact of its sets when the lowest
 * tenth of them is left out. A set says what a part does where the ceilings of all others in it are next to nothing
 * beside the impact, or where the job stops, as in all sets of this part and of no other in it; the mean over such sets
 * is the part's own effect. A set whose parts all have ceilings next to nothing, and that costs something, is an
 * interaction. So a cable that was drawn beside those that stop the job is credited with nothing. */
#include "summarise_internal.h"

#define NEXT_TO_NOTHING 0.1  /* of the impact of a set */
#define ONE_OF          10   /* sets of a part may be ones in which another loss makes up for it */
#define BY_CHANCE       0.01 /* expected parts that are called clear and are not */
#define RULE_OF_THREE   3    /* what none of n draws showed is at most 3/n, at 95 % */

fab_status summary_keep_set(fab_summariser *s, uint64_t scenario, const uint32_t *component, size_t n, fab_error *err) {
    set_list *l = &s->sets;
    FAB_PASS(FAB_GROW(l->first, l->first_capacity, l->n + 2, err));
    FAB_PASS(FAB_GROW(l->component, l->component_capacity, l->n_components + n + 1, err));
    FAB_PASS(FAB_GROW(l->impact, l->impact_capacity, (l->n + 1) * s->n_variants, err));
    FAB_PASS(FAB_GROW(l->scenario, l->scenario_capacity, l->n + 1, err));
    l->first[l->n] = l->n_components;
    l->scenario[l->n] = scenario;
    FAB_COPY(&l->component[l->n_components], component, n);
    memcpy(&l->impact[l->n * s->n_variants], s->impact, s->n_variants * sizeof *s->impact);
    l->n_components += n;
    l->first[++l->n] = l->n_components;
    return FAB_OK;
}

static void add_credit(record *r, double impact, uint64_t n_sets) {
    r->least = r->n_known == 0 || impact < r->least ? impact : r->least;
    r->most = r->n_known == 0 || impact > r->most ? impact : r->most;
    r->impact += (double)n_sets * impact;
    r->squares += (double)n_sets * (impact * impact);
    r->n_known += n_sets;
    r->n_costing += impact > FAB_SAME_FACTOR ? n_sets : 0;
}

/* What the parts of a set but one may cost together: 1 - product of (1 - ceiling). */
static double cost_of_others(const fab_summariser *s, const double *ceiling, const uint32_t *component, size_t n,
                             size_t but) {
    double left = 1;
    for (size_t i = 0; i < n; i++) {
        left *= i == but ? 1 : 1 - ceiling[summary_first(s, component[i])];
    }
    return 1 - left;
}

/* The others cost next to nothing; or the job stops, as it does in the sets of this part, and of no other in it. */
static bool is_due_to(const fab_summariser *s, const double *ceiling, const uint32_t *component, size_t n, size_t i,
                      double impact) {
    bool stops = impact >= 1 && ceiling[summary_first(s, component[i])] >= 1;
    for (size_t k = 0; k < n && stops; k++) {
        stops = k == i || ceiling[summary_first(s, component[k])] < 1;
    }
    return stops || cost_of_others(s, ceiling, component, n, i) <= fmax(FAB_SAME_FACTOR, NEXT_TO_NOTHING * impact);
}

static fab_status find_ceilings(fab_summariser *s, size_t variant, double *ceiling, fab_error *err) {
    set_list *l = &s->sets;
    FAB_PASS(FAB_GROW(l->ranked, l->ranked_capacity, l->n + 1, err));
    FAB_OWNED_NEW(uint64_t, n_sets, s->table.n, err); /* in which the part fails */
    FAB_OWNED_NEW(uint64_t, n_below, s->table.n, err);
    FAB_FILL(ceiling, s->table.n, 1);
    l->n_ranked = 0;
    for (size_t k = 0; k < l->n; k++) {
        const double impact = l->impact[k * s->n_variants + variant];
        if (!isnan(impact)) {
            l->ranked[l->n_ranked++] = (interaction){.impact = fmax(impact, 0), .n = k}; /* which, until the end */
        }
    }
    qsort(l->ranked, l->n_ranked, sizeof *l->ranked, fab_order_double);
    for (int pass = 0; pass < 2; pass++) {
        uint64_t *count = pass == 0 ? n_sets : n_below;
        for (size_t at = 0; at < l->n_ranked; at++) {
            const size_t first = l->first[l->ranked[at].n];
            const size_t n_parts = l->first[l->ranked[at].n + 1] - first;
            const uint64_t weight = summary_weight(s, l->scenario[l->ranked[at].n]);
            for (size_t i = 0; i < n_parts; i++) {
                const uint32_t part = summary_first(s, l->component[first + i]);
                if (pass == 1 && n_below[part] <= n_sets[part] / ONE_OF) {
                    ceiling[part] = l->ranked[at].impact;
                }
                count[part] += summary_share(s, &l->component[first], n_parts, i, weight);
            }
        }
    }
    for (size_t i = 0; i < l->n_ranked; i++) { /* with how many there are of that impact and below */
        const uint64_t before = i > 0 ? l->ranked[i - 1].n : 0;
        l->ranked[i].n = before + summary_weight(s, l->scenario[l->ranked[i].n]);
    }
    return FAB_OK;
}

static fab_status add_interaction(fab_summariser *s, const double *ceiling, size_t set, double impact, fab_error *err) {
    set_list *l = &s->sets;
    const uint64_t n_sets = summary_weight(s, l->scenario[set]);
    double cost = cost_of_others(s, ceiling, &l->component[l->first[set]], l->first[set + 1] - l->first[set], SIZE_MAX);
    if (impact > FAB_SAME_FACTOR && cost <= NEXT_TO_NOTHING * impact) {
        if (l->n_interactions == 0 || impact > l->most_interaction) {
            l->most_interaction = impact;
            l->worst_interaction = l->scenario[set];
        }
        FAB_PASS(FAB_APPEND(l->interaction, l->n_entries, l->interaction_capacity, err, (interaction){impact, n_sets}));
        l->n_interactions += n_sets;
    }
    return FAB_OK;
}

/* With how many there are of that impact and above. */
static void sort_interactions(set_list *l) {
    uint64_t n = 0;
    FAB_SORT(l->interaction, l->n_entries, fab_order_double);
    for (size_t i = l->n_entries; i-- > 0;) {
        n += l->interaction[i].n;
        l->interaction[i].n = n;
    }
}

/* Parts that cost something in all their sets, beside others that do as well. */
static void count_undecided(fab_summariser *s, const double *ceiling) {
    s->sets.n_undecided = 0;
    for (uint32_t i = 0; i < s->table.n; i++) {
        const uint32_t first = summary_first(s, i);
        s->sets.n_undecided +=
            s->table.n_scenarios[first] > 0 && s->sets.part[first].n_known == 0 && ceiling[first] > FAB_SAME_FACTOR;
    }
}

fab_status summary_credit(fab_summariser *s, size_t variant, fab_error *err) {
    set_list *l = &s->sets;
    component_table *t = &s->table;
    l->n_interactions = 0;
    l->n_entries = 0;
    if (s->is_single || s->request.span_s > 0) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, ceiling, t->n, err);
    FAB_PASS(l->part != NULL ? FAB_OK : FAB_NEW(l->part, t->n, err));
    FAB_PASS(l->class != NULL ? FAB_OK : FAB_NEW(l->class, CLASSES_MOST, err));
    memset(l->part, 0, t->n * sizeof *l->part);
    memset(l->class, 0, CLASSES_MOST * sizeof *l->class);
    FAB_PASS(find_ceilings(s, variant, ceiling, err));
    l->is_whole = s->request.is_enumerated && s->n_looked_at == s->request.n_scenarios;
    for (size_t k = 0; k < l->n; k++) {
        double impact = l->impact[k * s->n_variants + variant];
        const uint32_t *component = &l->component[l->first[k]];
        size_t n = l->first[k + 1] - l->first[k];
        if (isnan(impact)) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            if (is_due_to(s, ceiling, component, n, i, impact)) {
                const uint64_t n_sets = summary_weight(s, l->scenario[k]);
                const uint64_t share = summary_share(s, component, n, i, n_sets);
                if (share > 0) {
                    add_credit(&l->part[summary_first(s, component[i])], impact, share);
                }
                record *class = &l->class[t->class_of[component[i]]];
                add_credit(class, impact, n_sets);
                class->n_costing = class->n_known; /* few of a class may cost something */
            }
        }
        FAB_PASS(add_interaction(s, ceiling, k, impact, err));
    }
    sort_interactions(l);
    count_undecided(s, ceiling);
    return FAB_OK;
}

/* How many of a list have less than half the impact. */
static size_t count_below(const interaction *list, size_t n, double impact) {
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].impact < impact / 2) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* How likely a set looks like the part: interactions of half its impact and more, beside all sets that cost less. */
static double chance_of(const set_list *l, double impact) {
    const size_t below = count_below(l->ranked, l->n_ranked, impact);
    const size_t first = count_below(l->interaction, l->n_entries, impact);
    const double n_as_large = first < l->n_entries ? (double)l->interaction[first].n : 0;
    const double n_less = below > 0 ? (double)l->ranked[below - 1].n : 0;
    return (n_as_large + RULE_OF_THREE) / (n_as_large + n_less + RULE_OF_THREE);
}

bool summary_is_credited(const fab_summariser *s, const record *r) {
    const set_list *l = &s->sets;
    double mean = summary_mean_impact(r);
    double half = summary_half_interval(r);
    if (r->n_known == 0 || !(mean > FAB_SAME_FACTOR) || (r->n_known > 1 && !(mean - half > FAB_SAME_FACTOR))) {
        return false;
    }
    if (2 * r->n_costing <= r->n_known) {
        return false; /* by itself it costs nothing: a few of its sets are interactions */
    }
    if (l->is_whole) { /* chance has no part in it */
        return true;
    }
    return pow(chance_of(l, mean), (double)r->n_known) * (double)s->table.n <= BY_CHANCE;
}
