/**
 * @file context_fixture.h
 * A context, as tests want it. Without Criterion, which does not run under every sanitizer.
 */
#pragma once

#include "fab/evaluate.h"

#include <stdio.h>
#include <stdlib.h>

/** Free with fab_context_free(). Nothing is built yet, so that it cannot fail for what the request says. */
static inline fab_context *fixture_context(const fab_context_request *request) {
    fab_context *context = NULL;
    if (fab_context_new(request, &context, NULL) != FAB_OK) {
        (void)fprintf(stderr, "no memory for a context\n");
        abort();
    }
    return context;
}
