/** The tables of a plan, in plan.db and in results.db alike. */
#pragma once

#include "database.h"

#include "fab/store.h"

FAB_STATUS plan_tables_put(const database *db, const fab_plan *plan, fab_error *err);

/** *out zero-initialised before; released after a failure. */
FAB_STATUS plan_tables_get(const database *db, fab_plan *out, fab_error *err);
