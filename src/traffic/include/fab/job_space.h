/** The ways in which a training job may be run on so many GPUs: the space in which plans are searched. */
#pragma once

#include "fab/fabric.h"
#include "fab/job_memory.h"

typedef struct fab_design fab_design;

/** One way. */
typedef struct fab_job_plan {
    uint64_t tp, cp, pp, dp, ep, interleave, microbatch;
    fab_recompute recompute;
    fab_zero zero;
    bool sequence_parallel;
    uint32_t order; /**< of fab_rank_orders; 0: that of the job, or the usual one */
} fab_job_plan;

/** Of the dimensions on the ranks, innermost first: those with tp innermost, whose exchanges are the most and stay in
 * scale-up domains so. The first is the usual one, the second the one that most often beats it. */
#define FAB_N_RANK_ORDERS 6
extern const char *const fab_rank_orders[FAB_N_RANK_ORDERS];

#define FAB_PLAN_MICROBATCHES 4

typedef struct fab_job_space fab_job_space;

/**
 * The space of the design's first job. What the job gives is kept; what is open takes:
 *
 *     tp, cp, pp, dp   all sizes whose product is the job's GPUs; tp divides the heads, cp the sequence, and every
 *                      stage has a layer
 *     ep               divisors of the experts and of dp x cp
 *     microbatch       1, 2, 4, 8 sequences
 *     interleave       1 to 32 chunks, and up to 256 where they divide the layers of the fullest stage; above 1 the
 *                      microbatches are a multiple of the stages
 *     recompute        full, selective, none
 *     zero             0, 1, 2, 3; 0 alone where there is one copy
 *     sequence-parallel  yes, no; no alone where tp is 1 or has no ring
 *
 * All plans have the same batch: the given one, else that of fab_job_batch(), or where no sizes divide that the
 * one that those with the fewest replicas have alone (fab_job_batch_of()).
 * @param[in] fabric  Borrowed, must outlive `out`.
 * @retval FAB_EUNSUPPORTED  no training job, or several jobs
 * @retval FAB_ENOSOLUTION   no sizes go together
 * Complexity: O(plans of the sizes).
 */
FAB_STATUS fab_job_space_new(const fab_design *design, const fab_fabric *fabric, fab_job_space **out, fab_error *err);
void fab_job_space_free(fab_job_space *space);
FAB_OWNER(fab_job_space, fab_job_space_free)

/** Sizes: plans whose interleave, microbatch, recompute and zero are not set. Shape [*out_n]; borrowed. */
const fab_job_plan *fab_job_space_shapes(const fab_job_space *space, size_t *out_n);

/** What the space has of the other keys, in order. Return how many. */
size_t fab_job_space_microbatches(const fab_job_space *space, uint64_t out[FAB_PLAN_MICROBATCHES]);
size_t fab_job_space_recomputes(const fab_job_space *space, fab_recompute out[3]);
size_t fab_job_space_sequences(const fab_job_space *space, const fab_job_plan *shape, bool out[2]);
size_t fab_job_space_zeros(const fab_job_space *space, const fab_job_plan *shape, fab_zero out[4]);

/** The smallest interleave of the space above `after` for a plan of these sizes and microbatch; 0: none. */
uint64_t fab_job_space_next_interleave(const fab_job_space *space, const fab_job_plan *plan, uint64_t after);

/** A plan as a job that is resolved, until the next call. NULL: the batch or the stages do not allow it. */
const fab_job_spec *fab_job_space_take(fab_job_space *space, const fab_job_plan *plan, uint64_t *out_microbatches);

/** Most memory of a plan: what memory-headroom leaves of a GPU's; INFINITY where nothing is checked. */
double fab_job_space_room(const fab_job_space *space);

/** Memory of a plan that was taken. */
void fab_job_space_memory(const fab_job_space *space, fab_job_memory *out);

/** Who exchanges something with each other. */
typedef enum fab_rank_group { FAB_GROUP_TP, FAB_GROUP_CP, FAB_GROUP_PP, FAB_GROUP_COPIES } fab_rank_group;

/** The most members of such a group of the plan that was taken that can be in one scale-up domain; all of them where
 * that is not known. At least 1. */
uint64_t fab_job_space_together(const fab_job_space *space, fab_rank_group group);

/** Servers of the job and of the scale-up domains that it is in, at most. */
uint64_t fab_job_space_servers(const fab_job_space *space);

const fab_model *fab_job_space_model(const fab_job_space *space);
uint32_t fab_job_space_gpus(const fab_job_space *space);

/** What a job says of its plan; sizes of 0: nothing. Its order is 0 where fab_rank_orders has not the job's. */
fab_job_plan fab_job_plan_of(const fab_job_spec *job);

/** Writes a plan into a job of a design, with the batch of the space: nothing is left open. */
void fab_job_plan_apply(const fab_job_space *space, const fab_job_plan *plan, fab_job_spec *job);

/** "tp=8,cp=1,pp=16,dp=128,ep=1,interleave=4,microbatch=1,recompute=full,zero=1,sequence-parallel=yes"; what is 0 is
 * "auto". Returns out, of 192 bytes. */
const char *fab_job_plan_text(const fab_job_plan *plan, char out[192]);
