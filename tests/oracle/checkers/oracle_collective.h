/* Runs a collective message by message, knowing nothing of algorithms: who has heard of whom when all is done. */
#pragma once

#include "oracle_messages.h"

#define ORACLE_MAX_RANKS 64

typedef struct oracle_outcome {
    uint64_t knows[ORACLE_MAX_RANKS]; /* bit j: what rank i has at the end depends on what rank j had */
    double sent[ORACLE_MAX_RANKS], received[ORACLE_MAX_RANKS];
    uint64_t longest; /* messages in the longest chain of waits */
    bool circular;    /* some message never starts */
    bool foreign;     /* a message waits for one that goes elsewhere than to its source */
} oracle_outcome;

/* A message carries what its source had from the start and what the messages brought that it waits for, no more. */
void oracle_run_collective(const oracle_message_list *list, const uint32_t *members, uint32_t r, oracle_outcome *out);
