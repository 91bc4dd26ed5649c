/**
 * @file group_builder.h
 * Puts groups of next hops together, switch by switch and leaf by leaf, in any order.
 */
#pragma once

#include "engines/router.h"
#include "fab/routing.h"
#include "fab/id_table.h"

typedef struct fab_group_builder {
    const fab_fabric *f;
    uint32_t n_leaves;
    uint32_t *group_of;   /**< shape [n_switches][n_leaves]: 1 + group, 0 = no route */
    uint32_t *group_link; /**< shape [n_groups + 1] */
    fab_id_table table;   /**< groups by members and weights */
    fab_link_id *member;
    double *weight; /**< of a member, 0 = none */
    bool weighted;
    size_t n_members;
    size_t group_capacity, member_capacity, weight_capacity;
} fab_group_builder;

fab_status fab_group_builder_init(const fab_fabric *fabric, uint32_t n_leaves, fab_group_builder *out,
                                  fab_error *err) FAB_MUST_USE;

/**
 * Number, from 1, of the group with these members, known or new.
 * @param[in] weight  Of the members; NULL: none.
 */
fab_status fab_group_builder_add(fab_group_builder *b, const fab_link_id *links, const double *weight, uint32_t count,
                                 uint32_t *out_group, fab_error *err) FAB_MUST_USE;

/** `v` is an index among the switches; the group's links leave it. */
static inline void fab_group_builder_set(fab_group_builder *b, uint32_t v, uint32_t leaf, uint32_t group) {
    b->group_of[(size_t)v * b->n_leaves + leaf] = group;
}

/**
 * Numbers groups by their first leaf and shares equal chunks, as fab_next_hops_new() does, but no lists: a group has
 * weights of its own.
 * @param[in] like  Whose leaves these are.
 */
fab_status fab_group_builder_finish(const fab_group_builder *b, const fab_next_hops *like, fab_read_groups *out,
                                    fab_error *err) FAB_MUST_USE;

void fab_group_builder_release(fab_group_builder *b);
