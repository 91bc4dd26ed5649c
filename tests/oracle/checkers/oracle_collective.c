#include "oracle_collective.h"

#include <stdlib.h>
#include <string.h>

static uint32_t rank_of(const uint32_t *members, uint32_t r, uint32_t gpu) {
    uint32_t rank = 0;
    while (rank < r && members[rank] != gpu) {
        rank++;
    }
    return rank;
}

void oracle_run_collective(const oracle_message_list *list, const uint32_t *members, uint32_t r, oracle_outcome *out) {
    uint64_t n = list->n_messages;
    uint64_t *carries = calloc(n + 1, sizeof *carries);
    uint64_t *depth = calloc(n + 1, sizeof *depth);
    uint64_t *open = calloc(n + 1, sizeof *open);
    uint64_t *ready = calloc(n + 1, sizeof *ready);
    uint64_t n_ready = 0;
    uint64_t n_done = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t rank = 0; rank < r; rank++) {
        out->knows[rank] = UINT64_C(1) << rank;
    }
    for (uint64_t i = 0; i < list->next_first[n]; i++) {
        open[list->next[i]]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        carries[i] = UINT64_C(1) << rank_of(members, r, list->src[i]);
        if (open[i] == 0) {
            ready[n_ready++] = i;
        }
    }
    while (n_done < n_ready) {
        uint64_t i = ready[n_done++];
        uint32_t to = rank_of(members, r, list->dst[i]);
        depth[i]++;
        out->longest = depth[i] > out->longest ? depth[i] : out->longest;
        out->knows[to] |= carries[i];
        out->received[to] += list->bytes[i];
        out->sent[rank_of(members, r, list->src[i])] += list->bytes[i];
        for (uint64_t w = list->next_first[i]; w < list->next_first[i + 1]; w++) {
            uint64_t j = list->next[w];
            out->foreign = out->foreign || list->src[j] != list->dst[i];
            carries[j] |= carries[i];
            depth[j] = depth[i] > depth[j] ? depth[i] : depth[j];
            if (--open[j] == 0) {
                ready[n_ready++] = j;
            }
        }
    }
    out->circular = n_done < n;
    free(carries);
    free(depth);
    free(open);
    free(ready);
}
