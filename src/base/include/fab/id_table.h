/** Finds the id of content that is known already: a hash table of ids, where the contents lie with the caller. */
#pragma once

#include "fab/base.h"

/** n ids, 0 ... n - 1 where none was given. Zero-initialised is empty. */
typedef struct fab_id_table {
    uint64_t *slot; /**< shape [size], a power of two: tag in the upper half, id + 1 in the lower; 0 = free */
    size_t size;
    uint32_t n;
} fab_id_table;

/** The id of the next content with this tag, UINT32_MAX when there is none. `*probe` is 0 in the first call. */
static inline uint32_t fab_id_table_next(const fab_id_table *table, uint32_t tag, size_t *probe) {
    if (table->size == 0) {
        return UINT32_MAX;
    }
    for (;;) {
        uint64_t slot = table->slot[(tag + (*probe)++) & (table->size - 1)];
        if (slot == 0) {
            return UINT32_MAX;
        }
        if (slot >> 32 == tag) {
            return (uint32_t)slot - 1;
        }
    }
}

/** Adds content that is not in the table, as id n; or under another id. */
FAB_STATUS fab_id_table_add(fab_id_table *table, uint32_t tag, fab_error *err);
FAB_STATUS fab_id_table_add_as(fab_id_table *table, uint32_t tag, uint32_t id, fab_error *err);

/** Forgets all ids and keeps the memory. */
void fab_id_table_clear(fab_id_table *table);

void fab_id_table_release(fab_id_table *table);
