/**
 * @file engines.h
 * The engines, one row each in engines.c. Steps to add one: routing/README.md.
 */
#ifndef FAB_ENGINES_H
#define FAB_ENGINES_H

#include "fab/routing.h"

extern const fab_engine fab_engine_ecmp;
extern const fab_engine fab_engine_dmodk;
extern const fab_engine fab_engine_pinned;

#endif
