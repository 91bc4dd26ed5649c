#include "tables_read.h"
#include "fab/rng.h"

fab_status fab_group_builder_init(const fab_fabric *fabric, uint32_t n_leaves, fab_group_builder *out, fab_error *err) {
    FAB_OWNS(fab_group_builder_release) fab_group_builder b = {.f = fabric, .n_leaves = n_leaves};
    FAB_PASS(FAB_NEW(b.group_of, (size_t)fab_n_switches(fabric) * n_leaves, err));
    FAB_PASS(FAB_GROW(b.group_link, b.group_capacity, 1, err));
    b.group_link[0] = 0;
    return FAB_GIVE(*out, b);
}

void fab_group_builder_release(fab_group_builder *b) {
    FAB_FREE_ALL(b->group_of, b->group_link);
    fab_id_table_release(&b->table);
    FAB_FREE_ALL(b->member, b->weight);
    *b = (fab_group_builder){0};
}

static uint32_t tag_of(const fab_link_id *links, const double *weight, uint32_t count) {
    uint64_t digest = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (weight != NULL) {
            memcpy(&bits, &weight[i], sizeof bits);
        }
        digest = fab_mix64(digest ^ links[i] ^ fab_mix64(bits));
    }
    return (uint32_t)(digest >> 32);
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

fab_status fab_group_builder_add(fab_group_builder *b, const fab_link_id *links, const double *weight, uint32_t count,
                                 uint32_t *out_group, fab_error *err) {
    uint32_t tag = tag_of(links, weight, count);
    size_t probe = 0;
    for (uint32_t id; (id = fab_id_table_next(&b->table, tag, &probe)) != UINT32_MAX;) {
        if (is_group(b, id, links, weight, count)) {
            *out_group = id + 1;
            return FAB_OK;
        }
    }
    FAB_REFUSE_IF(b->n_members + count > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "groups of next hops have more than %u members", UINT32_MAX);
    FAB_PASS(FAB_GROW(b->group_link, b->group_capacity, (size_t)b->table.n + 2, err));
    FAB_PASS(FAB_GROW(b->member, b->member_capacity, b->n_members + count, err));
    FAB_PASS(FAB_GROW(b->weight, b->weight_capacity, b->n_members + count, err));
    FAB_PASS(fab_id_table_add(&b->table, tag, err));
    for (uint32_t i = 0; i < count; i++) {
        b->member[b->n_members] = links[i];
        b->weight[b->n_members++] = weight != NULL ? weight[i] : 0;
    }
    b->weighted = b->weighted || weight != NULL;
    b->group_link[b->table.n] = (uint32_t)b->n_members;
    *out_group = b->table.n;
    return FAB_OK;
}

/* --- assembly ----------------------------------------------------------------------------------------------------- */

typedef struct assembly {
    const fab_group_builder *b;
    fab_next_hops *t;
    double *weight;
    uint32_t *number; /* [group]: of the switch, from 1; 0 = not met yet. A group belongs to one switch */
    fab_chunk_table chunks;
    size_t n_groups, n_members;
} assembly;

/* Positions of links among those of a switch. Both are by port. */
static void group_find_slots(const fab_next_hops *t, uint32_t v, const fab_link_id *links, uint32_t count,
                             uint16_t *out) {
    const fab_link_id *all = t->out_link + t->out_first[v];
    uint32_t slot = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (all[slot] != links[i]) {
            slot++;
        }
        out[i] = (uint16_t)slot;
    }
}

/* The switch's number of a group. Met for the first time, it is appended. */
static fab_status number_group(assembly *a, uint32_t v, uint32_t group, uint16_t *out, fab_error *err) {
    const fab_group_builder *b = a->b;
    fab_next_hops *t = a->t;
    if (a->number[group] == 0) {
        FAB_REFUSE_IF(a->n_groups - t->group_first[v] == UINT16_MAX, err, FAB_EUNSUPPORTED, NULL,
                      "a switch has more than %u groups of next hops", UINT16_MAX);
        uint32_t first = b->group_link[group];
        uint32_t count = b->group_link[group + 1] - first;
        group_find_slots(t, v, b->member + first, count, t->slot + a->n_members);
        memcpy(a->weight + a->n_members, b->weight + first, count * sizeof *a->weight);
        t->group[a->n_groups++] = (fab_next_hop_group){(uint32_t)a->n_members, count};
        a->n_members += count;
        a->number[group] = (uint32_t)a->n_groups - t->group_first[v];
    }
    *out = (uint16_t)a->number[group];
    return FAB_OK;
}

static fab_status group_add_switch(assembly *a, uint32_t v, fab_error *err) {
    fab_next_hops *t = a->t;
    const uint32_t *group_of = a->b->group_of + (size_t)v * t->n_leaves;
    t->group_first[v] = (uint32_t)a->n_groups;
    t->group_at[v] = t->group_first[v];
    for (uint32_t p = 0; p < t->n_chunks_per_row; p++) {
        uint16_t groups[FAB_CHUNK_LEAVES] = {0};
        for (uint32_t i = 0; i < FAB_CHUNK_LEAVES && p * FAB_CHUNK_LEAVES + i < t->n_leaves; i++) {
            uint32_t group = group_of[p * FAB_CHUNK_LEAVES + i];
            FAB_PASS(group != 0 ? number_group(a, v, group - 1, &groups[i], err) : FAB_OK);
        }
        FAB_PASS(fab_chunk_share(t, &a->chunks, groups, &t->chunk_of[(size_t)p * t->n_switches + v], err));
    }
    return FAB_OK;
}

fab_status fab_group_builder_finish(const fab_group_builder *b, const fab_next_hops *like, fab_read_groups *out,
                                    fab_error *err) {
    fab_status status = FAB_OK;
    assembly a = {.b = b};
    fab_next_hops *t = NULL;
    FAB_TRY(FAB_NEW(t, 1, err));
    a.t = t;
    t->n_leaves = like->n_leaves;
    t->n_switches = like->n_switches;
    t->n_chunks_per_row = like->n_chunks_per_row;
    t->out_first = like->out_first;
    t->out_link = like->out_link;
    FAB_TRY(FAB_NEW_ALL(t->n_switches, err, t->leaf_index, t->group_at));
    FAB_TRY(FAB_NEW(t->leaf_node, t->n_leaves, err));
    FAB_TRY(FAB_NEW(t->chunk_of, (size_t)t->n_switches * t->n_chunks_per_row, err));
    FAB_TRY(FAB_NEW(t->group_first, (size_t)t->n_switches + 1, err));
    FAB_TRY(FAB_NEW(t->group, b->table.n, err));
    FAB_TRY(FAB_NEW(t->slot, b->n_members, err));
    t->n_slots = b->n_members;
    FAB_TRY(FAB_NEW(a.weight, b->n_members, err));
    FAB_TRY(FAB_NEW(a.number, b->table.n, err));
    memcpy(t->leaf_index, like->leaf_index, t->n_switches * sizeof *t->leaf_index);
    memcpy(t->leaf_node, like->leaf_node, t->n_leaves * sizeof *t->leaf_node);
    for (uint32_t v = 0; v < t->n_switches; v++) {
        FAB_TRY(group_add_switch(&a, v, err));
    }
    t->group_first[t->n_switches] = (uint32_t)a.n_groups;
    *out = (fab_read_groups){.next_hops = t, .weight = b->weighted ? a.weight : NULL};
    a.t = NULL;
    a.weight = b->weighted ? NULL : a.weight;
done:
    fab_next_hops_free(a.t);
    FAB_FREE_ALL(a.weight, a.number);
    fab_id_table_release(&a.chunks.table);
    return status;
}
