#include "plan_tables.h"
#include "columns.h"

#include "fab/shard.h"

static const struct column PLAN_COLUMNS[] = {
    {COLUMN_DIGEST, offsetof(fab_plan, id)},      {COLUMN_TEXT, offsetof(fab_plan, program)},
    {COLUMN_TEXT, offsetof(fab_plan, name)},      {COLUMN_TEXT, offsetof(fab_plan, origin)},
    {COLUMN_TEXT, offsetof(fab_plan, design)},    {COLUMN_DIGEST, offsetof(fab_plan, digest)},
    {COLUMN_TEXT, offsetof(fab_plan, traffic)},   {COLUMN_TEXT, offsetof(fab_plan, scenarios)},
    {COLUMN_NUMBER, offsetof(fab_plan, seed)},    {COLUMN_NUMBER, offsetof(fab_plan, n_scenarios)},
    {COLUMN_NUMBER, offsetof(fab_plan, block)},   {COLUMN_FIGURES, offsetof(fab_plan, figures)},
    {COLUMN_REAL, offsetof(fab_plan, span_s)},    {COLUMN_REAL, offsetof(fab_plan, checkpoint_s)},
    {COLUMN_REAL, offsetof(fab_plan, restart_s)},
};
static const table PLAN = {"plan", sizeof(fab_plan), false, COLUMNS_OF(PLAN_COLUMNS), PLAN_COLUMNS};

static const struct column VARIANT_COLUMNS[] = {
    {COLUMN_TEXT, offsetof(fab_store_variant, engine)},
    {COLUMN_TEXT, offsetof(fab_store_variant, label)},
    {COLUMN_TEXT, offsetof(fab_store_variant, policy)},
    {COLUMN_COUNT, offsetof(fab_store_variant, healthy.n_disconnected)},
    {COLUMN_COUNT, offsetof(fab_store_variant, healthy.n_collisions)},
    {COLUMN_LINK, offsetof(fab_store_variant, healthy.worst_link)},
    {COLUMN_REAL, offsetof(fab_store_variant, healthy.lost_ratio)},
    {COLUMN_REAL, offsetof(fab_store_variant, healthy.worst_ratio)},
    {COLUMN_REAL, offsetof(fab_store_variant, healthy.time_s)},
};
static const table VARIANT = {"variant", sizeof(fab_store_variant), true, COLUMNS_OF(VARIANT_COLUMNS), VARIANT_COLUMNS};

static const struct column COMPONENT_COLUMNS[] = {{COLUMN_TEXT, offsetof(fab_store_component, kind)},
                                                  {COLUMN_TEXT, offsetof(fab_store_component, name)},
                                                  {COLUMN_REAL, offsetof(fab_store_component, residual)}};
static const table COMPONENT = {"component", sizeof(fab_store_component), true, COLUMNS_OF(COMPONENT_COLUMNS),
                                COMPONENT_COLUMNS};

static const struct column SCENARIO_COLUMNS[] = {{COLUMN_TEXT, 0}};
static const table SCENARIO = {"scenario", sizeof(char *), true, COLUMNS_OF(SCENARIO_COLUMNS), SCENARIO_COLUMNS};

static const struct column RATE_COLUMNS[] = {{COLUMN_TEXT, offsetof(fab_store_rate, name)},
                                             {COLUMN_REAL, offsetof(fab_store_rate, per_s)},
                                             {COLUMN_REAL, offsetof(fab_store_rate, repair_s)}};
static const table RATE = {"rate", sizeof(fab_store_rate), false, COLUMNS_OF(RATE_COLUMNS), RATE_COLUMNS};

static const struct column FILE_COLUMNS[] = {{COLUMN_TEXT, offsetof(fab_store_file, name)},
                                             {COLUMN_TEXT, offsetof(fab_store_file, given)},
                                             {COLUMN_DIGEST, offsetof(fab_store_file, digest)}};
static const table COPY = {"file", sizeof(fab_store_file), false, COLUMNS_OF(FILE_COLUMNS), FILE_COLUMNS};

fab_status plan_tables_put(const database *db, const fab_plan *plan, fab_error *err) {
    size_t n_names = plan->scenario_names != NULL ? (size_t)plan->n_scenarios : 0;
    FAB_PASS(table_put_rows(db, &PLAN, plan, 1, err));
    FAB_PASS(table_put_rows(db, &VARIANT, plan->variants, plan->n_variants, err));
    FAB_PASS(table_put_rows(db, &COMPONENT, plan->components, plan->n_components, err));
    FAB_PASS(table_put_rows(db, &SCENARIO, plan->scenario_names, n_names, err));
    FAB_PASS(table_put_rows(db, &RATE, plan->rates, plan->n_rates, err));
    return table_put_rows(db, &COPY, plan->files, plan->n_files, err);
}

static fab_status get_plan_row(const database *db, fab_plan *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_plan *plans = NULL;
    size_t n = 0;
    FAB_TRY(table_get_rows(db, &PLAN, &plans, &n, err));
    FAB_FAIL_IF(n != 1, err, FAB_EINPUT, db->path, "is damaged: there is no plan in it");
    FAB_FAIL_IF(plans->block == 0 || plans->block > UINT32_MAX || plans->n_scenarios == 0 ||
                    plans->n_scenarios > INT64_MAX / 2,
                err, FAB_EINPUT, db->path, "is damaged: %" PRIu64 " scenarios in blocks of %" PRIu64,
                plans->n_scenarios, plans->block);
    *out = *plans;
    n = 0;
done:
    FAB_RELEASE_EACH(fab_plan_release, plans, n);
    free(plans);
    return status;
}

static fab_status get_names(const database *db, fab_plan *out, fab_error *err) {
    fab_status status = FAB_OK;
    char **names = NULL;
    size_t n = 0;
    FAB_TRY(table_get_rows(db, &SCENARIO, &names, &n, err));
    FAB_FAIL_IF(n > 0 && n != out->n_scenarios, err, FAB_EINPUT, db->path, "is damaged: rows are missing");
    out->scenario_names = names;
    names = NULL;
done:
    FAB_FREE_EACH(free, names, n);
    free(names);
    return status;
}

/* Whoever changes a fact by hand makes another plan of it. */
static fab_status check_seal(const database *db, const fab_plan *plan, fab_error *err) {
    if (!fab_plan_is_sealed(plan)) {
        fab_plan again = *plan;
        fab_plan_seal(&again);
        return fab_fail(err, FAB_EINPUT, db->path, "is damaged, or was changed: it says plan %s, its contents say %s",
                        plan->id, again.id);
    }
    return FAB_OK;
}

fab_status plan_tables_get(const database *db, fab_plan *out, fab_error *err) {
    FAB_PASS(get_plan_row(db, out, err));
    FAB_PASS(table_get_rows(db, &VARIANT, &out->variants, &out->n_variants, err));
    for (size_t i = 0; i < out->n_variants; i++) {
        fab_outcome *h = &out->variants[i].healthy;
        h->variant = (uint32_t)i;
        h->slowdown = isnan(h->time_s) ? NAN : 1;
        h->goodput = h->restart_ratio = h->redo_ratio = h->slow_ratio = h->wait_ratio = NAN;
    }
    FAB_PASS(table_get_rows(db, &COMPONENT, &out->components, &out->n_components, err));
    FAB_PASS(table_get_rows(db, &RATE, &out->rates, &out->n_rates, err));
    FAB_PASS(table_get_rows(db, &COPY, &out->files, &out->n_files, err));
    FAB_PASS(get_names(db, out, err));
    return check_seal(db, out, err);
}
