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

/** What fails in a history. */
typedef enum fab_failure_class {
    FAB_FAILURE_LINK,
    FAB_FAILURE_SWITCH,
    FAB_FAILURE_NIC,
    FAB_FAILURE_GPU,
    FAB_FAILURE_SERVER,
    FAB_FAILURE_SOFTWARE,    /**< stops the job; nothing is broken. Of a GPU: only where a rank is on it */
    FAB_FAILURE_MAINTENANCE, /**< likewise, but planned */
    FAB_FAILURE_SLOW,        /**< a GPU computes slower, until that is noticed or over; then it may be dead */
    FAB_FAILURE_FLAP,        /**< a cable carries less, until that is noticed or over; then it may be dead */
    FAB_FAILURE_N
} fab_failure_class;

/** How often things fail, and what that costs a job. Zero-initialised: nothing fails. */
typedef struct fab_failure_rates {
    double per_s[FAB_FAILURE_N];    /**< failures of one component per second; of software and maintenance of a GPU */
    double repair_s[FAB_FAILURE_N]; /**< until it is back; of maintenance: how long the job stands before it restarts */
    double rma_part, rma_s;         /**< part of the failures of hardware that takes rma_s in place of repair_s */
    double slow_speed, flap_speed;  /**< that is left of GPUs and cables; repair_s: until that is over */
    double detect_loss, detect_s;   /**< a loss of as much is noticed after detect_s: the part is dead from then on */
    double throttle;                /**< part of the speed that GPUs lose at noon; of days that begin at midnight */
    double infant_factor, infant_s; /**< hardware fails 1 + (infant_factor - 1) exp(-t / infant_s) times as often */
    double checkpoint_s;            /**< useful time between two checkpoints; 0: auto, see fab_assessment_settle() */
    double pause_s;                 /**< the job stands for a checkpoint */
    double lag_s;                   /**< from its beginning until it counts; at least pause_s */
    double restart_s;               /**< from a failure until the job runs again */
    double join_s;                  /**< longer where ranks move */
    double reform_s;                /**< in place of restart_s where the number of replicas changes; policy shrink */
    double regrow;       /**< part of the replicas that must come back for the job to stop for them; settled */
    double stops_per_s;  /**< of the job, planned ones too; settled. 0: not known, and no rank leaves a spare for home
                            before the job stops anyway */
    double shrunk_batch; /**< 1: of fewer replicas the batch is smaller; 0: they do all of it */
} fab_failure_rates;

/** 0 is auto. Times between failures are of one part; of software and maintenance of one GPU of the job. */
typedef struct fab_failure_spec {
    fab_rate_set set;
    double mtbf_s[FAB_FAILURE_N];
    fab_failure_rates rates;  /**< as far as the design says them: per_s, pause_s, lag_s and shrunk_batch are 0 */
    char throttle_halls[128]; /**< "0,2-3": halls of the floor plan that are as hot; empty: all */
    fab_checkpoint_mode mode;
    double write_s;   /**< of a checkpoint; auto: its bytes at write_bps */
    double write_bps; /**< of one GPU */
    bool keep_batch;  /**< replicas that are left do all of the batch; else an iteration has a smaller one */
} fab_failure_spec;
