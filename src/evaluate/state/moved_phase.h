/**
 * @file moved_phase.h
 * A phase between the GPUs where ranks are in a state.
 */
#pragma once

#include "fab/evaluate.h"

typedef struct fab_moved_phase {
    fab_phase phase; /* its lists are owned, but for ordinals */
    fab_offer offer;
} fab_moved_phase;

/** @param[in] whole  The phase with every rank in its place; must outlive `out`. */
fab_status fab_moved_phase_init(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *whole,
                                const fab_state *state, fab_moved_phase *out, fab_error *err) FAB_MUST_USE;
void fab_moved_phase_release(fab_moved_phase *moved);
