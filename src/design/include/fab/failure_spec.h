/**
 * What a design says of failures: how often things fail, how long they are away, and what the job does about it.
 * fab_failure_rates_of() (fab/scenarios.h) fills in what is auto. See src/doc/adr/0070-failure-model.md.
 */
#pragma once

#include <stdbool.h>

/** Published rates; the names stand in fields.c, the figures and sources in failure_model.c. */
typedef enum fab_rate_set {
    FAB_RATES_LLAMA3,
    FAB_RATES_HPN,
    FAB_RATES_MEGASCALE,
    FAB_RATES_RSC1,
    FAB_RATES_RSC2,
    FAB_RATES_NONE,
    FAB_RATES_N
} fab_rate_set;

typedef enum fab_checkpoint_mode {
    FAB_CHECKPOINT_SYNC,   /**< the job stands until the checkpoint is written */
    FAB_CHECKPOINT_ASYNC,  /**< it stands while the state goes to memory of the host, and is written behind its back */
    FAB_CHECKPOINT_MEMORY, /**< likewise, but the copy goes to the memory of another server */
} fab_checkpoint_mode;

/** 0 is auto. Times between failures are of one part; of software and maintenance of one GPU of the job. */
typedef struct fab_failure_spec {
    fab_rate_set set;
    double link_mtbf_s, switch_mtbf_s, nic_mtbf_s, gpu_mtbf_s, server_mtbf_s, software_mtbf_s, maintenance_mtbf_s;
    double link_repair_s, switch_repair_s, nic_repair_s, gpu_repair_s, server_repair_s, maintenance_s;
    double slow_mtbf_s, slow_speed, slow_s; /**< GPUs that slow down: time between two of one GPU (0: never), the speed
                                               that is left, how long it lasts unnoticed */
    double flap_mtbf_s, flap_speed, flap_s; /**< the same of cables that flap or are degraded */
    double throttle;                        /**< part of the speed that GPUs lose at noon */
    char throttle_halls[128];               /**< "0,2-3": halls of the floor plan that are as hot; empty: all */
    double detect_loss, detect_s;           /**< a loss of speed of so much is noticed, after this time */
    double rma_part, rma_s;
    double infant_factor, infant_s;
    double checkpoint_s;
    fab_checkpoint_mode mode;
    double write_s;   /**< of a checkpoint; auto: its bytes at write_bps */
    double write_bps; /**< of one GPU */
    double restart_s;
    double spare_join_s;
    double reform_s; /**< in place of restart_s where a job goes on with fewer replicas, or with more again */
    double regrow;   /**< share of the replicas that must come back for the job to stop for them */
    bool keep_batch; /**< replicas that are left do all of the batch; else an iteration has a smaller one */
} fab_failure_spec;
