/**
 * Writing a store: its plan, the shard of a worker, and the merge of all shards. A store is safe against the end of any
 * process at any moment: what was committed is there, and nothing is half there. See src/doc/adr/0037-study-store.md.
 */
#pragma once

#include "fab/store.h"

#define FAB_SHARDS_MOST 65536
#define FAB_STORE_FILES "files" /**< folder for copies of files in a store */

/** Sets plan->id from everything else. */
void fab_plan_seal(fab_plan *plan);
/** Whether plan->id is the digest of the plan. */
bool fab_plan_is_sealed(const fab_plan *plan);

/** Scenarios that are best kept together, of so many: few enough to lose little, many enough to cost little. */
uint64_t fab_plan_block(uint64_t n_scenarios);

/** Blocks of a plan. */
uint64_t fab_plan_n_blocks(const fab_plan *plan);

/** Scenarios of block `number`: all have plan->block, the last may have fewer. */
uint64_t fab_plan_block_size(const fab_plan *plan, uint64_t number);

/**
 * Makes the folder of a store and puts a sealed plan into it, with copies of its files: from `given` to `name`.
 * @param[out] out_was_there  The store holds this very plan already; nothing was written.
 * @retval FAB_EINPUT  the folder holds another plan
 * @retval FAB_EIO     the folder holds something else, or cannot be written
 */
FAB_STATUS fab_plan_write(const char *folder, const fab_plan *plan, bool *out_was_there, fab_error *err);

/** Plan of a store. @retval FAB_EINPUT  no store, damaged, or from a newer version. */
FAB_STATUS fab_plan_read(const char *folder, fab_plan *out, fab_error *err);

/** Digest of a file's bytes: 16 hexadecimal digits and a NUL. */
FAB_STATUS fab_store_file_digest(const char *path, char out[17], fab_error *err);

/** @retval FAB_EINPUT  a copy of a file is not what was planned with */
FAB_STATUS fab_plan_check_files(const char *folder, const fab_plan *plan, fab_error *err);

/** Scenarios number * plan->block and on. */
typedef struct fab_block {
    uint64_t number;
    uint64_t n_scenarios;
    const fab_outcome *outcome; /**< shape [n_scenarios][n_variants] */
    const size_t *first;        /**< shape [n_scenarios + 1]: into component */
    const uint32_t *component;  /**< what fails: index into plan->components, ascending within a scenario */
} fab_block;

/** The file that one worker writes. */
typedef struct fab_shard fab_shard;

/**
 * Opens shard `index` of `n`, made if it is not there, for this process alone.
 * @param[in] plan  Borrowed, must outlive the shard.
 * @retval FAB_EIO     somebody else writes it; the message says who
 * @retval FAB_EINPUT  it belongs to another plan, is damaged, or from a newer version
 */
FAB_STATUS fab_shard_open(const char *folder, const fab_plan *plan, uint32_t index, uint32_t n, fab_shard **out,
                          fab_error *err);

/** Closes the shard; what was not committed is not there. NULL is fine. */
void fab_shard_close(fab_shard *shard);
FAB_OWNER(fab_shard, fab_shard_close)

/** Puts a block that the shard does not hold. After a failure the shard can only be closed. */
FAB_STATUS fab_shard_put(fab_shard *shard, const fab_block *block, fab_error *err);

/** From here on what was put stays, whatever happens to the process. Nothing to commit is fine. */
FAB_STATUS fab_shard_commit(fab_shard *shard, fab_error *err);

/**
 * Blocks that this shard or any other of the store holds. Shards that are being written on another machine are left
 * out: their blocks may be looked at twice, which changes nothing.
 * @param[out] out  Bit set over blocks, shape [(n_blocks + 63) / 64]; bits are added.
 */
FAB_STATUS fab_shard_done(const fab_shard *shard, uint64_t *out, fab_error *err);

typedef struct fab_gathered {
    uint64_t n_done;   /**< scenarios */
    uint64_t n_twice;  /**< of them: in several shards, with the same rows */
    uint64_t n_shards; /**< that were read */
    uint64_t n_busy;   /**< left out, because another machine writes them */
    uint64_t n_bad;    /**< left out, because they are damaged */
} fab_gathered;

/**
 * Merges all shards into DIR/results.db, in the order of the scenarios: the same bytes however they were shared out.
 * The file is renamed into its place when it is complete.
 * @param[in] partial   Scenarios may be missing, and shards busy elsewhere or damaged.
 * @param[in] progress  Called with blocks done and all of them; may be NULL.
 * @retval FAB_EINPUT     scenarios are missing, a shard is damaged or belongs to another plan
 * @retval FAB_EINTERNAL  a scenario has different rows in two shards
 */
FAB_STATUS fab_store_gather(const char *folder, const fab_plan *plan, bool partial,
                            void (*progress)(void *context, double done, size_t total), void *progress_context,
                            fab_gathered *out, fab_error *err);
