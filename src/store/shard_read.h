/** A shard as others see it: those who look for blocks that are done, and those who gather. */
#pragma once

#include "folder.h"
#include "lock.h"
#include "rows.h"

/** What a user can do about it. */
#define SHARD_IS_DAMAGED ". Without this file its scenarios are run again"

typedef struct shard_reader {
    database db;
    store_lock lock;
    row_reader rows;
} shard_reader;

#define SHARD_READER_NONE                                                                                              \
    { .lock = STORE_LOCK_NONE }

/**
 * Opens a shard for reading.
 * @param[out] out_holder  Who writes it on another machine, where *out_open is false.
 * @param[out] out_open    False also for a shard that nothing was written to yet; out_holder->text is then empty.
 * @retval FAB_EINPUT  it belongs to another plan, is damaged, or from a newer version
 */
FAB_STATUS shard_reader_open(const char *folder, const fab_plan *plan, shard_name name, shard_reader *out,
                             bool *out_open, store_holder *out_holder, fab_error *err);
void shard_reader_close(shard_reader *reader);

/** A block that is done, and the digest of its rows. */
typedef fab_status take_block(void *context, uint64_t block, uint64_t digest, fab_error *err);

/** All blocks of a shard, ascending. */
FAB_STATUS shard_each_block(const database *db, const fab_plan *plan, take_block *take, void *context, fab_error *err);
