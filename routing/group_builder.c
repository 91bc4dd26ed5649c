#include "group_builder.h"
#include "fab/memory.h"
#include "fab/rng.h"

#include <stdlib.h>
#include <string.h>

fab_status fab_group_builder_init(const fab_fabric *fabric, uint32_t n_leaves, fab_group_builder *out, fab_error *err) {
    fab_group_builder b = {.f = fabric, .n_leaves = n_leaves, .n_slots = 64};
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(b.group_of, (size_t)fab_n_switches(fabric) * n_leaves, err));
    FAB_TRY(FAB_NEW(b.slot, b.n_slots, err));
    FAB_TRY(FAB_GROW(b.group_link, b.group_capacity, 1, err));
    b.group_link[0] = 0;
    *out = b;
    b = (fab_group_builder){0};
done:
    fab_group_builder_release(&b);
    return status;
}

void fab_group_builder_release(fab_group_builder *b) {
    free(b->group_of);
    free(b->group_link);
    free(b->slot);
    free(b->digest);
    free(b->member);
    free(b->weight);
    *b = (fab_group_builder){0};
}

static uint64_t digest_of(const fab_link_id *links, const double *weight, uint32_t count) {
    uint64_t digest = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (weight != NULL) {
            memcpy(&bits, &weight[i], sizeof bits);
        }
        digest = fab_mix64(digest ^ links[i] ^ fab_mix64(bits));
    }
    return digest;
}

static bool is_group(const fab_group_builder *b, uint32_t group, const fab_link_id *links, const double *weight,
                     uint32_t count) {
    uint32_t first = b->group_link[group];
    bool same = b->group_link[group + 1] - first == count;
    for (uint32_t i = 0; same && i < count; i++) {
        same = b->member[first + i] == links[i] && b->weight[first + i] == (weight != NULL ? weight[i] : 0);
    }
    return same;
}

static fab_status grow_slots(fab_group_builder *b, fab_error *err) {
    uint32_t *wider = NULL;
    fab_status status = FAB_NEW(wider, 2 * b->n_slots, err);
    if (status != FAB_OK) {
        return status;
    }
    free(b->slot);
    b->slot = wider;
    b->n_slots *= 2;
    for (uint32_t group = 0; group < b->n_groups; group++) {
        size_t at = b->digest[group] & (b->n_slots - 1);
        while (b->slot[at] != 0) {
            at = (at + 1) & (b->n_slots - 1);
        }
        b->slot[at] = group + 1;
    }
    return FAB_OK;
}

fab_status fab_group_builder_add(fab_group_builder *b, const fab_link_id *links, const double *weight, uint32_t count,
                                 uint32_t *out_group, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t digest = digest_of(links, weight, count);
    if (2 * b->n_groups >= b->n_slots) {
        FAB_TRY(grow_slots(b, err));
    }
    size_t at = digest & (b->n_slots - 1);
    for (; b->slot[at] != 0; at = (at + 1) & (b->n_slots - 1)) {
        uint32_t known = b->slot[at] - 1;
        if (b->digest[known] == digest && is_group(b, known, links, weight, count)) {
            *out_group = known + 1;
            return FAB_OK;
        }
    }
    if (b->n_members + count > UINT32_MAX) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "groups of next hops have more than %u members", UINT32_MAX);
    }
    FAB_TRY(FAB_GROW(b->group_link, b->group_capacity, b->n_groups + 2, err));
    FAB_TRY(FAB_GROW(b->digest, b->digest_capacity, b->n_groups + 1, err));
    FAB_TRY(FAB_GROW(b->member, b->member_capacity, b->n_members + count, err));
    FAB_TRY(FAB_GROW(b->weight, b->weight_capacity, b->n_members + count, err));
    for (uint32_t i = 0; i < count; i++) {
        b->member[b->n_members] = links[i];
        b->weight[b->n_members++] = weight != NULL ? weight[i] : 0;
    }
    b->weighted = b->weighted || weight != NULL;
    b->digest[b->n_groups] = digest;
    b->slot[at] = (uint32_t)b->n_groups + 1;
    b->group_link[++b->n_groups] = (uint32_t)b->n_members;
    *out_group = (uint32_t)b->n_groups;
done:
    return status;
}

/* --- assembly ------------------------------------------------------------------------------------------------------
 */

typedef struct assembly {
    const fab_group_builder *b;
    fab_next_hops *t;
    double *weight;
    uint32_t *number;   /* [group]: of the switch, from 1; 0 = not met yet. A group belongs to one switch */
    uint32_t *row_slot; /* [n_slots]: 1 + row by digest, open addressing */
    uint64_t *row_digest;
    size_t n_slots, n_groups, n_members;
    size_t row_capacity, digest_capacity;
} assembly;

/* Appends the row unless an equal one is stored. */
static fab_status share_row(assembly *a, const uint16_t *row, uint32_t *out, fab_error *err) {
    fab_next_hops *t = a->t;
    fab_status status = FAB_OK;
    uint64_t digest = 0;
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        digest = fab_mix64(digest ^ row[leaf]);
    }
    size_t at = digest & (a->n_slots - 1);
    for (; a->row_slot[at] != 0; at = (at + 1) & (a->n_slots - 1)) {
        uint32_t known = a->row_slot[at] - 1;
        if (a->row_digest[known] == digest &&
            memcmp(t->row + (size_t)known * t->n_leaves, row, t->n_leaves * sizeof *row) == 0) {
            *out = known;
            return FAB_OK;
        }
    }
    FAB_TRY(FAB_GROW(t->row, a->row_capacity, ((size_t)t->n_rows + 1) * t->n_leaves, err));
    FAB_TRY(FAB_GROW(a->row_digest, a->digest_capacity, (size_t)t->n_rows + 1, err));
    memcpy(t->row + (size_t)t->n_rows * t->n_leaves, row, t->n_leaves * sizeof *row);
    a->row_digest[t->n_rows] = digest;
    *out = t->n_rows++;
    a->row_slot[at] = t->n_rows;
done:
    return status;
}

static fab_status add_switch(assembly *a, uint32_t v, uint16_t *row, fab_error *err) {
    const fab_group_builder *b = a->b;
    fab_next_hops *t = a->t;
    fab_status status = FAB_OK;
    t->group_first[v] = (uint32_t)a->n_groups;
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        uint32_t group = b->group_of[(size_t)v * t->n_leaves + leaf];
        row[leaf] = 0;
        if (group == 0) {
            continue;
        }
        if (a->number[group - 1] == 0) {
            if (a->n_groups - t->group_first[v] == UINT16_MAX) {
                FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "a switch has more than %u groups of next hops", UINT16_MAX);
            }
            uint32_t first = b->group_link[group - 1];
            uint32_t count = b->group_link[group] - first;
            memcpy(t->member + a->n_members, b->member + first, count * sizeof *t->member);
            memcpy(a->weight + a->n_members, b->weight + first, count * sizeof *a->weight);
            a->n_members += count;
            t->group_link[++a->n_groups] = (uint32_t)a->n_members;
            a->number[group - 1] = (uint32_t)a->n_groups - t->group_first[v];
        }
        row[leaf] = (uint16_t)a->number[group - 1];
    }
    FAB_TRY(share_row(a, row, &t->row_of[v], err));
done:
    return status;
}

fab_status fab_group_builder_finish(const fab_group_builder *b, const fab_next_hops *like, fab_read_groups *out,
                                    fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n = fab_n_switches(b->f);
    assembly a = {.b = b, .n_slots = 16};
    uint16_t *row = NULL;
    while (a.n_slots < 2 * (size_t)n) {
        a.n_slots *= 2;
    }
    FAB_TRY(FAB_NEW(a.t, 1, err));
    a.t->n_leaves = b->n_leaves;
    FAB_TRY(FAB_NEW(a.t->leaf_index, n, err));
    FAB_TRY(FAB_NEW(a.t->leaf_node, b->n_leaves, err));
    FAB_TRY(FAB_NEW(a.t->row_of, n, err));
    FAB_TRY(FAB_NEW(a.t->group_first, (size_t)n + 1, err));
    FAB_TRY(FAB_NEW(a.t->group_link, b->n_groups + 1, err));
    FAB_TRY(FAB_NEW(a.t->member, b->n_members, err));
    FAB_TRY(FAB_NEW(a.weight, b->n_members, err));
    FAB_TRY(FAB_NEW(a.number, b->n_groups, err));
    FAB_TRY(FAB_NEW(a.row_slot, a.n_slots, err));
    FAB_TRY(FAB_NEW(row, b->n_leaves, err));
    memcpy(a.t->leaf_index, like->leaf_index, n * sizeof *a.t->leaf_index);
    memcpy(a.t->leaf_node, like->leaf_node, b->n_leaves * sizeof *a.t->leaf_node);
    for (uint32_t v = 0; v < n; v++) {
        FAB_TRY(add_switch(&a, v, row, err));
    }
    a.t->group_first[n] = (uint32_t)a.n_groups;
    a.t->memory_bytes = (size_t)a.t->n_rows * b->n_leaves * sizeof *row + a.n_groups * sizeof *a.t->group_link +
                        a.n_members * sizeof *a.t->member + (size_t)n * 3 * sizeof(uint32_t);
    *out = (fab_read_groups){.next_hops = a.t, .weight = b->weighted ? a.weight : NULL};
    a.t = NULL;
    a.weight = b->weighted ? NULL : a.weight;
done:
    fab_next_hops_free(a.t);
    free(a.weight);
    free(a.number);
    free(a.row_slot);
    free(a.row_digest);
    free(row);
    return status;
}
