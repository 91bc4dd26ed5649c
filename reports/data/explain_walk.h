/**
 * @file explain_walk.h
 * The fields of an explanation, for result_walk.c.
 */
#ifndef FAB_EXPLAIN_WALK_H
#define FAB_EXPLAIN_WALK_H

#include "fab/explanation.h"
#include "result_fields.h"

void fab_walk_explanation(walk *w, const fab_explanation *explanation);

#endif
