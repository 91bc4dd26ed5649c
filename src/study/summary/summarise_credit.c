/* Who causes what a set of failures costs.
 *
 * A part can cost no more alone than in any set that it is in: the least impact of its sets is its ceiling. A set says
 * what a part does where the ceilings of all others in it are next to nothing beside the impact; the mean over such
 * sets is the part's own effect. A set whose parts all have ceilings next to nothing, and that costs something, is an
 * interaction. So a cable that was drawn beside those that stop the job is credited with nothing. */
#include "summarise_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_TO_NOTHING 0.1  /* of the impact of a set */
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
    if (n > 0) {
        memcpy(&l->component[l->n_components], component, n * sizeof *component);
    }
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

static void find_ceilings(const fab_summariser *s, size_t variant, double *ceiling) {
    const set_list *l = &s->sets;
    for (size_t i = 0; i < s->table.n; i++) {
        ceiling[i] = 1;
    }
    for (size_t k = 0; k < l->n; k++) {
        double impact = fmax(l->impact[k * s->n_variants + variant], 0); /* NAN counts as 0 for fmax: left out below */
        for (size_t i = l->first[k]; i < l->first[k + 1] && !isnan(l->impact[k * s->n_variants + variant]); i++) {
            const uint32_t first = summary_first(s, l->component[i]);
            ceiling[first] = fmin(ceiling[first], impact);
        }
    }
}

static fab_status add_interaction(fab_summariser *s, const double *ceiling, size_t set, double impact, fab_error *err) {
    set_list *l = &s->sets;
    const uint64_t n_sets = summary_weight(s, l->scenario[set]);
    double cost = cost_of_others(s, ceiling, &l->component[l->first[set]], l->first[set + 1] - l->first[set], SIZE_MAX);
    if (impact <= FAB_SAME_FACTOR) {
        l->n_harmless += n_sets;
    } else if (cost <= NEXT_TO_NOTHING * impact) {
        if (l->n_interactions == 0 || impact > l->most_interaction) {
            l->most_interaction = impact;
            l->worst_interaction = l->scenario[set];
        }
        FAB_PASS(FAB_GROW(l->interaction, l->interaction_capacity, l->n_entries + 1, err));
        l->interaction[l->n_entries++] = (interaction){impact, n_sets};
        l->n_interactions += n_sets;
    }
    return FAB_OK;
}

static int by_impact_of(const void *a, const void *b) {
    return fab_order_double(&((const interaction *)a)->impact, &((const interaction *)b)->impact);
}

/* With how many there are of that impact and above. */
static void sort_interactions(set_list *l) {
    uint64_t n = 0;
    if (l->n_entries > 0) {
        qsort(l->interaction, l->n_entries, sizeof *l->interaction, by_impact_of);
    }
    for (size_t i = l->n_entries; i-- > 0;) {
        n += l->interaction[i].n;
        l->interaction[i].n = n;
    }
}

fab_status summary_credit(fab_summariser *s, size_t variant, fab_error *err) {
    fab_status status = FAB_OK;
    set_list *l = &s->sets;
    component_table *t = &s->table;
    double *ceiling = NULL;
    l->n_interactions = 0;
    l->n_entries = 0;
    l->n_harmless = 0;
    if (s->is_single || s->request.span_s > 0) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(ceiling, t->n, err));
    FAB_TRY(l->part != NULL ? FAB_OK : FAB_NEW(l->part, t->n, err));
    FAB_TRY(l->class != NULL ? FAB_OK : FAB_NEW(l->class, CLASSES_MOST, err));
    memset(l->part, 0, t->n * sizeof *l->part);
    memset(l->class, 0, CLASSES_MOST * sizeof *l->class);
    find_ceilings(s, variant, ceiling);
    for (size_t k = 0; k < l->n; k++) {
        double impact = l->impact[k * s->n_variants + variant];
        const uint32_t *component = &l->component[l->first[k]];
        size_t n = l->first[k + 1] - l->first[k];
        if (isnan(impact)) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            if (cost_of_others(s, ceiling, component, n, i) <= fmax(FAB_SAME_FACTOR, NEXT_TO_NOTHING * impact)) {
                const uint64_t n_sets = summary_weight(s, l->scenario[k]);
                const uint64_t share = summary_share(s, component, n, i, n_sets);
                if (share > 0) {
                    add_credit(&l->part[summary_first(s, component[i])], impact, share);
                }
                add_credit(&l->class[t->class_of[component[i]]], impact, n_sets);
            }
        }
        FAB_TRY(add_interaction(s, ceiling, k, impact, err));
    }
    sort_interactions(l);
done:
    free(ceiling);
    return status;
}

/* Interactions of half the impact and more. */
static uint64_t interactions_from(const set_list *l, double impact) {
    size_t low = 0;
    size_t high = l->n_entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->interaction[middle].impact < impact / 2) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < l->n_entries ? l->interaction[low].n : 0;
}

bool summary_is_credited(const fab_summariser *s, const record *r) {
    const set_list *l = &s->sets;
    double mean = summary_mean_impact(r);
    double half = summary_half_interval(r);
    if (r->n_known == 0 || !(mean > FAB_SAME_FACTOR) || (r->n_known > 1 && !(mean - half > FAB_SAME_FACTOR))) {
        return false;
    }
    double draws = (double)(l->n_harmless + l->n_interactions);
    double chance = ((double)interactions_from(l, mean) + RULE_OF_THREE) / (draws + RULE_OF_THREE);
    return pow(chance, (double)r->n_known) * (double)s->table.n <= BY_CHANCE;
}
