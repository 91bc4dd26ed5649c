/**
 * Dumps of PyTorch's flight recorder as JSON, one of each rank: process groups, their collectives, and when the rank
 * has entered and left them.
 */
#pragma once

#include "file_formats.h"

#define FAB_FLIGHT_SEND  0xfe /* beside fab_operation */
#define FAB_FLIGHT_OTHER 0xff

typedef struct fab_flight_group {
    char name[FAB_NAME_SIZE], about[FAB_NAME_SIZE];
    uint64_t hash;
    uint32_t first, n; /* members: ranks of the job, in the order of the group */
} fab_flight_group;

/* A collective as one rank has it. */
typedef struct fab_flight_entry {
    uint32_t group, rank, peer; /* peer: of a send, within the group; FAB_NONE */
    uint8_t operation;          /* fab_operation, FAB_FLIGHT_SEND or FAB_FLIGHT_OTHER */
    bool is_done, is_peer_to_peer;
    uint64_t sequence;
    double bytes;                                    /* S, as nccl-tests count */
    double created_s, started_s, done_s, duration_s; /* NAN: not known */
} fab_flight_entry;

typedef struct fab_flight {
    fab_flight_group *groups;
    uint32_t *members;
    fab_flight_entry *entries;
    uint32_t *ranks; /* that have a dump, in the order of the files */
    size_t n_groups, n_members, n_entries, n_ranks;
    size_t group_capacity, member_capacity, entry_capacity, rank_capacity;
} fab_flight;

/** Whether a file of traffic is such a dump, or a pickle of one. */
bool fab_flight_is_dump(const fab_str *file);

/**
 * Adds the dump of one rank, whose number ends the name of the file.
 * @retval FAB_EINPUT        no such JSON, or no rank in the name; err->where is the file
 * @retval FAB_EUNSUPPORTED  a pickle
 */
FAB_STATUS fab_flight_add(fab_flight *flight, const char *path, const fab_str *file, fab_error *err);
void fab_flight_release(fab_flight *flight);

/** Fills late and stuck ranks of `ranks`, whose places are there. Reorders the entries. */
FAB_STATUS fab_flight_find_late(fab_flight *flight, const fab_fabric *fabric, fab_ranks *ranks, fab_error *err);

/** Orders entries by group, sequence and rank. */
void fab_flight_sort(fab_flight *flight);

/** Traffic of dumps alone, or of a log beside them: what stands in `log` places the ranks, and gives their rings. */
FAB_STATUS fab_flight_traffic(fab_flight *flight, fab_text *log, const fab_fabric *fabric, fab_traffic *traffic,
                              fab_error *err);
