/* Items of a replay in their order. */
#include "replay_items.h"

uint32_t fab_first_like(const fab_traffic *traffic, uint32_t phase) {
    FAB_FIRST(like, phase, fab_phase_is_like(&traffic->phases[like], &traffic->phases[phase]));
    return like;
}

int fab_item_order(const void *a, const void *b) {
    const fab_item *x = a;
    const fab_item *y = b;
    int order = (x->draw > y->draw) - (x->draw < y->draw);
    order = order != 0 ? order : (x->like > y->like) - (x->like < y->like);
    order = order != 0 ? order : (x->engine > y->engine) - (x->engine < y->engine);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

bool fab_item_is_again(const fab_item *items, size_t n_items, size_t index) {
    return index > 0 && index < n_items && items[index].like != items[index].phase &&
           items[index - 1].like == items[index].like && items[index - 1].engine == items[index].engine &&
           items[index - 1].draw == items[index].draw;
}
