/** What the software and the NICs of hosts add to the time of a phase. Zero-initialised: nothing. */
#pragma once

/** A chunk: that many slots of a sender's buffer. NCCL posts a message of a chunk or more slot by slot. */
#define FAB_SLOTS_OF_CHUNK 4

/** A plugin that chooses algorithms in place of NCCL. */
typedef enum fab_host_tuner { FAB_TUNER_NONE, FAB_TUNER_EFA_P5, FAB_TUNER_EFA_P6 } fab_host_tuner;

typedef struct fab_host {
    double nic_s;      /**< both NICs together, of every step that leaves the scale-up domains */
    double call_s;     /**< of every collective that leaves the scale-up domains: a kernel starts and ends */
    double step_s;     /**< of every such step, its first message inside a domain and its first outside included */
    double message_s;  /**< of every further message that a GPU sends within the step, one after the other, unless its
                          first slot takes longer */
    double slot_bytes; /**< of a buffer; 0: messages are sent on as they come */
    double slot_s;     /**< that the NICs of a GPU take for one at their full rate */
    double copy_bps;   /**< of what a GPU sends on for others of its domain; 0: that of the GPU */
    double nic_part;   /**< of the rate of a NIC that bytes get; 0 counts as 1 */
    fab_host_tuner tuner;
} fab_host;
