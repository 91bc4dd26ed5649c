/**
 * What a replay measures one by one: a phase under an engine with a draw. Those whose packets are alike go together.
 */
#pragma once

#include "fab/traffic.h"

typedef struct fab_item {
    uint32_t phase, engine;
    uint32_t like; /**< the first phase whose packets are like its */
    uint64_t draw; /**< 0 ... n_seeds - 1 */
    size_t place;  /**< of its figures: by phase, engine, draw */
} fab_item;

/** The first phase with the flows of `phase`. */
uint32_t fab_first_like(const fab_traffic *traffic, uint32_t phase);
/** For qsort(): one draw after the other, so that its loads are soon free; in it what is alike together. */
int fab_item_order(const void *a, const void *b);
/** Whether item `index`, which may be n_items, is like the one before it. */
bool fab_item_is_again(const fab_item *items, size_t n_items, size_t index);
