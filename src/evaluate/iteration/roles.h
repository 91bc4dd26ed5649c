/** What a phase is in an iteration, by its name; a collective of several phases has them numbered: dp-1, dp-2, ... */
#pragma once

#include <stddef.h>

typedef struct iterate_role {
    const char *prefix;
    size_t offset;     /* where its time goes, in fab_job_times */
    fab_travel travel; /* beside what it is under way */
} iterate_role;

/* NULL: what happens now and then (checkpoint, ingest) is in no iteration. */
const iterate_role *iterate_role_of(const char *name);
