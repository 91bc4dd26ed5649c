/** Forwarding tables from a file (format: src/doc/manual/forwarding-tables.md). */
#pragma once

#include "forwarding.h"

#include "fab/text.h"

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

FAB_STATUS fab_group_builder_init(const fab_fabric *fabric, uint32_t n_leaves, fab_group_builder *out, fab_error *err);

/**
 * Number, from 1, of the group with these members, known or new.
 * @param[in] weight  Of the members; NULL: none.
 */
FAB_STATUS fab_group_builder_add(fab_group_builder *b, const fab_link_id *links, const double *weight, uint32_t count,
                                 uint32_t *out_group, fab_error *err);

/** `v` is an index among the switches; the group's links leave it. */
static inline void fab_group_builder_set(fab_group_builder *b, uint32_t v, uint32_t leaf, uint32_t group) {
    b->group_of[(size_t)v * b->n_leaves + leaf] = group;
}

/**
 * Numbers groups by their first leaf and shares equal chunks, as fab_next_hops_new() does, but no lists: a group has
 * weights of its own.
 * @param[in] like  Whose leaves these are.
 */
FAB_STATUS fab_group_builder_finish(const fab_group_builder *b, const fab_next_hops *like, fab_read_groups *out,
                                    fab_error *err);

void fab_group_builder_release(fab_group_builder *b);

/** What the engine makes of weights. All but hashes need groups whose next hops are equally far: splitting goes by
 * distance. */
typedef enum fab_weights {
    FAB_WEIGHTS_NONE,  /**< nothing: they are refused */
    FAB_WEIGHTS_WHOLE, /**< slots of a hash */
    FAB_WEIGHTS_SPLIT, /**< shares */
} fab_weights;

/** Sum of the whole weights of a group. */
#define FAB_WEIGHTS_MOST ((uint32_t)1 << 24)

/**
 * Everything that routing relies on is checked: next hops are switches, no entry is missing, nothing runs in a circle,
 * and no group has a member behind which there is no route.
 * @param[in]  router  Its fabric, ports' stride and minimal next hops. Messages name its engine.
 * @param[out] single  Receives files without a group, one next hop per destination port; NULL: these are groups of one,
 *                     and entries by port are refused. Release with free(single->entry).
 * @param[out] groups  Receives files with groups. Release with fab_read_groups_release().
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED  err->where is file:line:column
 * Complexity: O(bytes + next hops over all switches and leaves).
 */
FAB_STATUS fab_tables_read(const fab_router *router, const char *path, fab_weights weights, fab_forwarding *single,
                           fab_read_groups *groups, fab_error *err);

void fab_read_groups_release(fab_read_groups *groups);

/* --- what readers share --- */

/**
 * The link behind port `port` of switch v, which `t` spells.
 * @retval FAB_EINPUT  there is none
 */
FAB_STATUS fab_text_port(const fab_text *text, const fab_fabric *fabric, fab_node_id v, fab_token t, uint64_t port,
                         fab_link_id *out, fab_error *err);

/** FAB_EINPUT where a link does not lead to a switch. */
FAB_STATUS fab_text_next_hop(const fab_text *text, const fab_fabric *fabric, fab_token t, fab_link_id link,
                             fab_error *err);

/* --- dumps of subnet managers: lft_read.c --- */

/** Whether the first line is that of such a dump. */
bool fab_lft_is_dump(fab_text in);

/**
 * Reads the dump of one subnet, or of several one after the other: of opensm (opensm-lfts.dump, `-R file -U`) or
 * dump_lfts. Nodes are found by description, else by GUID (fab/ib_names.h); LIDs may be any. An entry that is missing
 * is no route.
 * @param[in] router  Its fabric, ports and next hops.
 * @param[in] in      Before its first line. Its name stands in errors.
 * @retval FAB_EINPUT        nodes or ports that the fabric does not have, entries that do not fit it or each other, a
 *                           circle, a dump that is cut off; err->where is file:line:column
 * @retval FAB_EUNSUPPORTED  several LIDs per port (LMC), routers
 * Complexity: O(bytes + switches * destinations).
 */
FAB_STATUS fab_lft_read(const fab_router *router, fab_text *in, fab_forwarding *out, fab_error *err);

/** What its own leaf does not deliver (`reached`, [n_destinations]) reaches nobody: no switch has an entry for it. */
FAB_STATUS fab_lft_drop_unreached(const fab_router *router, const uint8_t *reached, fab_forwarding *out,
                                  fab_error *err);

/* --- dumps of ibdiagnet: fdbs_read.c --- */

/** Whether the first line is that of ibdiagnet2.fdbs. */
bool fab_fdbs_is_dump(fab_text in);

/**
 * Reads ibdiagnet2.fdbs, or those of several subnets one after the other. Its lines say no more than LID and port: a
 * LID is of the NIC port that a leaf hands it over to. Switches are found by GUID. An entry that is missing or
 * UNREACHABLE is no route.
 * @param[in] in  Read whole, before its first line.
 * @retval FAB_EINPUT        as of fab_lft_read(), or a LID that two leaves deliver
 * @retval FAB_EUNSUPPORTED  several LIDs per port (LMC), several tables of a switch
 * Complexity: O(bytes + switches * destinations).
 */
FAB_STATUS fab_fdbs_read(const fab_router *router, fab_text *in, fab_forwarding *out, fab_error *err);

/* --- routes of FRR and SONiC: routes_read.c --- */

/** Whether a path is a folder, or its file an object of JSON. */
bool fab_routes_are_there(const char *path, fab_text in);

/**
 * Reads what `show ip route json` prints: of the switch that the file is called by, of several switches by their names,
 * or of a folder of such files. What no route leads to is no route.
 * @param[out] groups  Of the switches of the fabric, for its leaves; not checked for circles.
 * @retval FAB_EINPUT        no routes, switches or ports that the fabric does not have, a switch or a leaf without
 *                           routes; err->where is the file
 * @retval FAB_EUNSUPPORTED  prefixes of one leaf that a switch sends to by different next hops
 * Complexity: O(bytes + switches * prefixes of hosts * log(routes)).
 */
FAB_STATUS fab_routes_read(const fab_router *router, const char *path, fab_weights weights, fab_group_builder *groups,
                           fab_error *err);
