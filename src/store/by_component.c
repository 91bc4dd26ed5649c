#include "by_component.h"

#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

fab_status by_component_init(const fab_plan *plan, by_component *out, fab_error *err) {
    *out = (by_component){.plan = plan};
    if (plan->n_components > 0 && plan->n_variants > SIZE_MAX / plan->n_components) {
        return fab_fail(err, FAB_ENOMEM, NULL, "%zu components under %zu variants", plan->n_components,
                        plan->n_variants);
    }
    return FAB_NEW(out->sum, plan->n_components * plan->n_variants, err);
}

void by_component_release(by_component *by) {
    free(by->sum);
    by->sum = NULL;
}

static void component_add(double value, double *sum, double *worst, uint64_t *n) {
    if (!isnan(value)) {
        *sum += value;
        *worst = *n == 0 || value > *worst ? value : *worst;
        (*n)++;
    }
}

void by_component_add(by_component *by, const fab_block *block) {
    const fab_plan *plan = by->plan;
    for (uint64_t i = 0; i < block->n_scenarios; i++) {
        for (size_t k = block->first[i]; k < block->first[i + 1]; k++) {
            uint32_t component = block->component[k];
            for (size_t v = 0; v < plan->n_variants && component < plan->n_components; v++) {
                const fab_outcome *o = &block->outcome[i * plan->n_variants + v];
                component_sum *s = &by->sum[v * plan->n_components + component];
                s->n_scenarios++;
                s->n_stopped += o->state == FAB_OUTCOME_STOPPED;
                component_add(o->slowdown, &s->slowdown, &s->worst_slowdown, &s->n_slowdowns);
                component_add(o->worst_ratio, &s->ratio, &s->worst_ratio, &s->n_ratios);
            }
        }
    }
}

static void bind_sum(sqlite3_stmt *s, int column, double sum, double worst, uint64_t n, int *code) {
    bind_real(s, column, n > 0 ? sum / (double)n : NAN, code);
    bind_real(s, column + 1, n > 0 ? worst : NAN, code);
}

fab_status by_component_put(const by_component *by, const database *db, fab_error *err) {
    fab_status status = FAB_OK;
    sqlite3_stmt *s = NULL;
    size_t n = by->plan->n_components;
    FAB_TRY(database_prepare(db, "INSERT INTO by_component VALUES (?, ?, ?, ?, ?, ?, ?, ?)", &s, err));
    for (size_t i = 0; i < n * by->plan->n_variants; i++) {
        const component_sum *sum = &by->sum[i];
        int code = SQLITE_OK;
        if (sum->n_scenarios == 0) {
            continue;
        }
        bind_integer(s, 1, i / n, &code);
        bind_integer(s, 2, i % n, &code);
        bind_integer(s, 3, sum->n_scenarios, &code);
        bind_integer(s, 4, sum->n_stopped, &code);
        bind_sum(s, 5, sum->slowdown, sum->worst_slowdown, sum->n_slowdowns, &code);
        bind_sum(s, 7, sum->ratio, sum->worst_ratio, sum->n_ratios, &code);
        FAB_TRY(code == SQLITE_OK ? database_put(db, s, err) : database_fail(db, code, err));
    }
done:
    (void)sqlite3_finalize(s);
    return status;
}
