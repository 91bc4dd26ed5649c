/** Inside of estimator_incremental.c and incremental_open.c. */
#pragma once

#include "estimator_incremental.h"
#include "estimator_internal.h"
#include "state/state_key.h"

/** Where servers are, and what that puts on links. Scratch of one thread. */
typedef struct server_moves server_moves;

/** Everything is borrowed. @param[in] estimators  Shape [n]: of phases with the same flows, whose baseline that is. */
FAB_STATUS server_moves_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                            server_moves **out, fab_error *err);
void server_moves_free(server_moves *moves);
FAB_OWNER(server_moves, server_moves_free)

/**
 * Goes on to another state.
 * @param[out] out_answer  FAB_KNOWN_TIME: the readers' loads are those of the state; FAB_KNOWN_NOTHING: it is none in
 *                         which servers move as a whole, or some path is lost while nothing is down.
 * Complexity: O(paths of servers whose place is another than in the state before, and of all that are away where
 * something is down).
 */
FAB_STATUS server_moves_follow(server_moves *moves, const fab_state *state, fab_known *out_answer, fab_error *err);

/** What they are of after server_moves_follow(). */
fab_estimator_reader *server_moves_reader(server_moves *moves, size_t which);
double server_moves_latency_s(const server_moves *moves);

/** Paths that are elsewhere than on the healthy fabric, or may be. Valid until the next call. */
FAB_STATUS server_moves_list(server_moves *moves, fab_rerouted *out, fab_error *err);

#define NOWHERE    (FAB_NONE - 1) /* to be walked in any case */
#define MOST_LINKS 14U            /* of a path that is kept aside; longer ones are not followed */

/* A path that is not where it is on the healthy fabric. */
typedef struct incremental_path {
    double latency_s; /* below 0: inside its scale-up domain, or lost */
    uint8_t n;        /* links; 0: it is lost, or the place is free */
    fab_link_id link[MOST_LINKS];
} incremental_path;

/* Where a flow was in the last state. */
typedef struct incremental_flow {
    uint32_t src, dst; /* FAB_NONE: at home */
    uint32_t stamp;    /* of the last call in which it was away */
    bool is_gone;      /* its sender is out, or it has come to be one with its receiver: no path has links */
} incremental_flow;

/* One of the phases with the same flows. */
typedef struct incremental_phase {
    const fab_estimator *estimator;
    size_t reader; /* that follows its loads */
    double ratio;  /* of its seconds to those of the reader: a power of two, so that they are the same to the bit */
} incremental_phase;

/* What a reader found last. */
typedef struct incremental_found {
    uint64_t version; /* of the state; 0: none */
    bool is_known;
    double transfer_s;
} incremental_found;

struct fab_incremental {
    incremental_phase *phase; /* [n_phases] */
    size_t n_phases;
    fab_estimator_reader *reader;   /* the first: its changed links are those of all */
    fab_estimator_reader **readers; /* [n_readers] */
    incremental_found *found;       /* [n_readers] */
    server_moves *servers;          /* NULL before the first state */
    bool moves_servers;             /* it is asked first */
    uint64_t servers_version;
    fab_known servers_answer;
    incremental_found *servers_found; /* [n_readers] */
    size_t n_readers;
    bool has_one_way;  /* a part of a flow has one NIC and plane */
    bool stays_inside; /* all flows do, in scale-up domains that are alike */
    const fab_baseline *baseline;
    fab_reroute *reroute;
    bool can;         /* sums are exact, and there is nothing but paths and shares */
    bool is_open;     /* what follows is that of the last state: */
    bool fits;        /* and this is what was found */
    uint64_t version; /* its number; 0: none */
    fab_state_key place, mask;
    const fab_mask *mask_of; /* at that address */
    uint32_t *touched;       /* [n_touched]: paths that this mask touches */
    uint32_t *touched_at;    /* [path]: place among them, + 1; 0: untouched */
    size_t *touched_first;   /* [n_touched + 1]: their links with both ends at home, from touched_link on */
    fab_link_id *touched_link;
    size_t n_touched, touched_capacity, first_capacity, link_capacity;
    uint32_t *slot; /* [path]: of `path`, + 1; 0: as on the healthy fabric */
    incremental_path *path;
    size_t n_slots, slot_capacity;
    uint32_t *unused;
    size_t n_unused, unused_capacity;
    incremental_flow *flow; /* [flow] */
    uint32_t *away;         /* [n_away]: flows with an end elsewhere, of the last state */
    uint32_t *walk;
    size_t n_away, away_capacity, walk_capacity;
    uint32_t *list; /* what list_paths() has listed */
    size_t *list_first;
    fab_link_id *list_link;
    size_t list_capacity, list_first_capacity, list_link_capacity;
    uint8_t *is_listed; /* [link]: among the reader's changed links */
    uint32_t stamp;
    estimator_latencies latencies; /* of all paths */
    double path_s;                 /* the longest of them */
    size_t n_dropped;              /* changed links, when those that carry what they did before were dropped last */
    size_t n_lost;                 /* paths without a way */
    bool is_too_long;              /* some path */
};
