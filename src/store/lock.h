/**
 * Who may write a file of the store: POSIX record locks on a small file beside it, which hold across machines where the
 * file system knows them. They end with the process, however it ends. See src/doc/adr/0037-study-store.md.
 */
#pragma once

#include "fab/base.h"

#define STORE_HOLDER_SIZE 160

typedef struct store_lock {
    int fd; /* -1: not held */
    bool shared;
    char path[4096];
} store_lock;

#define STORE_LOCK_NONE                                                                                                \
    { .fd = -1 }

typedef struct store_holder {
    char text[STORE_HOLDER_SIZE]; /* "process 17 on node-3" */
    bool is_here;                 /* on this machine */
} store_holder;

/**
 * Takes the lock of a file. Shared: others may share it, nobody writes. Who reads is waited for, who writes is not.
 * Processes of one machine exclude each other; calls within a process do not.
 * @param[out] out         Release with store_lock_release().
 * @param[out] out_holder  Who writes, where *out_taken is false.
 * @retval FAB_EIO  no locks here, or somebody reads for longer than one waits
 */
FAB_STATUS store_lock_take(const char *file, bool shared, store_lock *out, bool *out_taken, store_holder *out_holder,
                           fab_error *err);
void store_lock_release(store_lock *lock);
