/* Open addressing with linear probing, at most half full. */
#include "fab/id_table.h"

static void id_table_put(uint64_t *slot, size_t size, uint64_t value) {
    size_t at = (size_t)(value >> 32) & (size - 1);
    while (slot[at] != 0) {
        at = (at + 1) & (size - 1);
    }
    slot[at] = value;
}

fab_status fab_id_table_add(fab_id_table *table, uint32_t tag, fab_error *err) {
    return fab_id_table_add_as(table, tag, table->n, err);
}

fab_status fab_id_table_add_as(fab_id_table *table, uint32_t tag, uint32_t id, fab_error *err) {
    if (2 * ((size_t)table->n + 1) > table->size) {
        size_t size = table->size > 0 ? 2 * table->size : 1024;
        uint64_t *slot = NULL;
        FAB_PASS(FAB_NEW(slot, size, err));
        for (size_t i = 0; i < table->size; i++) {
            if (table->slot[i] != 0) {
                id_table_put(slot, size, table->slot[i]);
            }
        }
        free(table->slot);
        table->slot = slot;
        table->size = size;
    }
    id_table_put(table->slot, table->size, (uint64_t)tag << 32 | (id + 1));
    table->n++;
    return FAB_OK;
}

void fab_id_table_clear(fab_id_table *table) {
    if (table->n > 0) {
        memset(table->slot, 0, table->size * sizeof *table->slot);
    }
    table->n = 0;
}

FAB_RELEASES(fab_id_table_release, fab_id_table, slot);
