/* Minimal next hops for any graph.
 *
 * Breadth-first search from all leaves at once gives the leaves that every link serves (leaf_sets.c); turned over, the
 * ports that serve every leaf (port_patterns.c). Equal sets of ports of a switch are a group. Groups are numbered by
 * their first leaf, so that switches with the same view have equal rows, and their next hops are positions among the
 * links of the switch, so that switches of a kind have the same lists; a row is cut into chunks of 64 leaves, because
 * what tells switches apart is mostly a few chunks. */
#include "next_hop_rows.h"
#include "fab/rng.h"
#include "port_patterns.h"

typedef struct maker {
    const fab_fabric *f;
    const uint64_t *dead;
    fab_next_hops *t;
    uint32_t base, n_switches;
    fab_leaf_sets distances;
    fab_port_patterns patterns;
    /* of the switch at hand */
    uint32_t n_ports;
    uint32_t *port_slot, *port_head; /* shape [n_ports]: live ports to other switches */
    uint64_t *key;                   /* view of the switch; slots of the ports, and views of their heads */
    fab_port_sets ports;
    uint32_t n_groups; /* of the switch */
    size_t n_all_groups, n_kept_groups;
    size_t group_capacity;
    fab_chunk_table chunks;
} maker;

static fab_status find_leaves(maker *m, fab_error *err) {
    const fab_fabric *f = m->f;
    fab_next_hops *t = m->t;
    for (uint32_t i = 0; i < m->n_switches; i++) {
        t->leaf_index[i] = FAB_NONE;
        FAB_EACH_LINK(f, m->base + i, link) {
            if (fab_class_of(f, link)->kind == FAB_LINK_ACCESS) {
                t->leaf_index[i] = t->n_leaves++;
                break;
            }
        }
    }
    FAB_PASS(FAB_NEW(t->leaf_node, t->n_leaves, err));
    for (uint32_t i = 0; i < m->n_switches; i++) {
        if (t->leaf_index[i] != FAB_NONE) {
            t->leaf_node[t->leaf_index[i]] = m->base + i;
        }
    }
    return FAB_OK;
}

static void find_ports(maker *m, uint32_t v) {
    const fab_fabric *f = m->f;
    uint32_t first = f->out_first[m->base + v];
    m->n_ports = 0;
    for (uint32_t k = first; k < f->out_first[m->base + v + 1]; k++) {
        fab_node_id head = fab_head(f, f->out_link[k]);
        if (head >= m->base && !fab_link_is_dead(m->dead, f->out_link[k])) {
            m->port_slot[m->n_ports] = k - first;
            m->port_head[m->n_ports++] = head - m->base;
        }
    }
}

/* What the ports serve follows from how the switch and the heads of its ports see the leaves. */
static void make_key(maker *m, uint32_t v, uint32_t block) {
    const fab_leaf_sets *d = &m->distances;
    m->key[0] = d->view[(size_t)v * d->n_blocks + block];
    for (uint32_t i = 0; i < m->n_ports; i++) {
        m->key[1 + i] = (uint64_t)m->port_slot[i] << 32 | d->view[(size_t)m->port_head[i] * d->n_blocks + block];
    }
}

/* What the ports serve of a block. */
static void find_served(maker *m) {
    uint32_t tail = (uint32_t)m->key[0];
    uint32_t previous = FAB_NONE;
    fab_port_sets *ports = &m->ports;
    bool serves = false;
    fab_port_sets_clear(ports);
    for (uint32_t i = 0; tail != FAB_NONE && i < m->n_ports; i++) {
        uint32_t head = (uint32_t)m->key[1 + i];
        if (head == previous) { /* parallel cables, and neighbours of a kind */
            if (serves) {
                ports->set[ports->n] = ports->set[ports->n - 1];
            }
        } else {
            serves = fab_leaf_sets_served(&m->distances, tail, head, &ports->set[ports->n]);
            previous = head;
        }
        if (serves) {
            fab_port_sets_add(&m->patterns, ports, m->port_slot[i]);
        }
    }
}

static fab_status find_patterns(maker *m, uint32_t v, uint32_t block, const uint32_t **out, fab_error *err) {
    make_key(m, v, block);
    *out = fab_port_patterns_recall(&m->patterns, m->key, 1 + m->n_ports);
    if (*out != NULL) {
        return FAB_OK;
    }
    find_served(m);
    return fab_port_patterns_learn(&m->patterns, m->key, 1 + m->n_ports, &m->ports, out, err);
}

static fab_status add_group(maker *m, uint32_t v, uint32_t list, fab_error *err) {
    FAB_REFUSE_IF(m->n_groups == UINT16_MAX, err, FAB_EINPUT, NULL, "a switch has more than %u groups of next hops",
                  UINT16_MAX);
    fab_port_list *l = &m->patterns.list[list];
    FAB_PASS(
        FAB_APPEND(m->t->group, m->n_kept_groups, m->group_capacity, err, (fab_next_hop_group){l->first, l->count}));
    l->owner = v + 1;
    l->number = (uint16_t)++m->n_groups;
    return FAB_OK;
}

fab_status fab_chunk_share(fab_next_hops *t, fab_chunk_table *chunks, const uint16_t *groups, uint32_t *out,
                           fab_error *err) {
    uint32_t words[FAB_CHUNK_WORDS]; /* two groups each */
    uint64_t digest = 0;
    for (size_t i = 0; i < FAB_CHUNK_WORDS; i++) {
        words[i] = groups[2 * i] | (uint32_t)groups[2 * i + 1] << 16;
        digest = (digest ^ words[i]) * 0x9e3779b97f4a7c15U;
        digest ^= digest >> 29;
    }
    uint32_t tag = (uint32_t)(fab_mix64(digest) >> 32);
    size_t probe = 0;
    while ((*out = fab_id_table_next(&chunks->table, tag, &probe)) != UINT32_MAX) {
        if (memcmp(t->chunk + (size_t)*out * FAB_CHUNK_WORDS, words, sizeof words) == 0) {
            return FAB_OK;
        }
    }
    *out = chunks->table.n;
    FAB_PASS(FAB_GROW(t->chunk, chunks->capacity, ((size_t)*out + 1) * FAB_CHUNK_WORDS, err));
    memcpy(t->chunk + (size_t)*out * FAB_CHUNK_WORDS, words, sizeof words);
    return fab_id_table_add(&chunks->table, tag, err);
}

/* Numbers the groups of 64 leaves. Most often the switch before called them the same. */
static fab_status make_chunk(maker *m, uint32_t v, fab_port_pattern *pattern, uint32_t *out, fab_error *err) {
    uint16_t groups[FAB_CHUNK_LEAVES];
    uint16_t number_of[FAB_CHUNK_LEAVES + 1] = {0};
    uint16_t *number = m->patterns.class_number + pattern->first_class;
    bool same = pattern->chunk != FAB_NONE;
    for (uint32_t c = 0; c < pattern->n_classes; c++) {
        uint32_t id = m->patterns.class_list[pattern->first_class + c];
        const fab_port_list *list = &m->patterns.list[id];
        FAB_PASS(list->owner != v + 1 ? add_group(m, v, id, err) : FAB_OK);
        same = same && number[c] == list->number;
        number[c] = list->number;
        number_of[c + 1] = list->number;
    }
    if (!same) {
        FAB_FILL(groups, FAB_CHUNK_LEAVES, number_of[pattern->class_of[fab_at]]);
        FAB_PASS(fab_chunk_share(m->t, &m->chunks, groups, &pattern->chunk, err));
    }
    *out = pattern->chunk;
    return FAB_OK;
}

/* Counts the groups of a switch. Most often they are those of the switch before. */
static void share_groups(maker *m, uint32_t v) {
    fab_next_hops *t = m->t;
    uint32_t n = m->n_groups;
    size_t first = m->n_kept_groups - n;
    t->group_first[v] = (uint32_t)m->n_all_groups;
    t->group_at[v] = (uint32_t)first;
    m->n_all_groups += n;
    if (v > 0 && n > 0 && t->group_first[v] - t->group_first[v - 1] == n &&
        memcmp(t->group + t->group_at[v - 1], t->group + first, n * sizeof *t->group) == 0) {
        t->group_at[v] = t->group_at[v - 1];
        m->n_kept_groups = first;
    }
}

static fab_status make_switch(maker *m, uint32_t v, fab_error *err) {
    fab_next_hops *t = m->t;
    m->n_groups = 0;
    find_ports(m, v);
    for (uint32_t block = 0; block < m->distances.n_blocks; block++) {
        const uint32_t *patterns = NULL;
        if (m->distances.view[(size_t)v * m->distances.n_blocks + block] == FAB_NONE) {
            continue; /* leaves of another plane */
        }
        FAB_PASS(find_patterns(m, v, block, &patterns, err));
        for (uint32_t w = 0; w < FAB_SET_WORDS && block * FAB_SET_WORDS + w < t->n_chunks_per_row; w++) {
            size_t word = (size_t)block * FAB_SET_WORDS + w;
            FAB_PASS(make_chunk(m, v, &m->patterns.pattern[patterns[w]], &t->chunk_of[word * m->n_switches + v], err));
        }
    }
    share_groups(m, v);
    return FAB_OK;
}

/* Bit sets of slots as lists. */
static fab_status write_lists(maker *m, fab_error *err) {
    fab_next_hops *t = m->t;
    const fab_port_patterns *p = &m->patterns;
    size_t n = 0;
    FAB_PASS(FAB_NEW(t->slot, p->n_list_slots, err));
    t->n_slots = p->n_list_slots;
    for (size_t i = 0; i < (size_t)p->list_table.n * p->n_words; i++) {
        uint32_t first = (uint32_t)(i % p->n_words) * 64;
        for (uint64_t rest = p->list_mask[i]; rest != 0; rest &= rest - 1) {
            t->slot[n++] = (uint16_t)(first + (uint32_t)__builtin_ctzll(rest));
        }
    }
    return FAB_OK;
}

static fab_status next_hops_finish(maker *m, fab_error *err) {
    m->t->group_first[m->n_switches] = (uint32_t)m->n_all_groups;
    FAB_SHRINK(m->t->chunk, (size_t)m->chunks.table.n * FAB_CHUNK_WORDS);
    FAB_SHRINK(m->t->group, m->n_kept_groups);
    return write_lists(m, err);
}

static void next_hops_release(maker *m) {
    fab_leaf_sets_release(&m->distances);
    fab_port_patterns_release(&m->patterns);
    fab_port_sets_release(&m->ports);
    fab_id_table_release(&m->chunks.table);
    FAB_FREE_ALL(m->port_slot, m->port_head, m->key);
    fab_next_hops_free(m->t);
}

fab_status fab_next_hops_new(const fab_fabric *fabric, const uint64_t *dead_link, fab_next_hops **out, fab_error *err) {
    FAB_OWNS(next_hops_release)
    maker m = {
        .f = fabric, .dead = dead_link, .base = fabric->first[FAB_NODE_SWITCH], .n_switches = fab_n_switches(fabric)};
    uint32_t degree = fab_switch_degree(fabric);
    uint32_t no_route = 0; /* chunk 0: what switches have that see no leaf of a block */
    FAB_PASS(FAB_NEW(m.t, 1, err));
    FAB_PASS(FAB_NEW_ALL(m.n_switches, err, m.t->leaf_index, m.t->group_at));
    FAB_PASS(FAB_NEW(m.t->group_first, (size_t)m.n_switches + 1, err));
    FAB_PASS(find_leaves(&m, err));
    if (dead_link != NULL) {
        FAB_PASS(FAB_NEW(m.t->dead_link, (size_t)fabric->n_links / 64 + 1, err));
        memcpy(m.t->dead_link, dead_link, ((size_t)fabric->n_links + 63) / 64 * sizeof *dead_link);
    }
    m.t->all_minimal = true;
    m.t->n_switches = m.n_switches;
    m.t->out_first = fabric->out_first + m.base;
    m.t->out_link = fabric->out_link;
    m.t->n_chunks_per_row = (m.t->n_leaves + FAB_CHUNK_LEAVES - 1) / FAB_CHUNK_LEAVES;
    FAB_PASS(FAB_NEW(m.t->chunk_of, (size_t)m.n_switches * m.t->n_chunks_per_row, err));
    FAB_PASS(fab_leaf_sets_init(fabric, dead_link, m.t->leaf_node, m.t->n_leaves, &m.distances, err));
    FAB_PASS(fab_port_patterns_init(degree, &m.patterns, err));
    FAB_PASS(fab_port_sets_init(degree, &m.ports, err));
    FAB_PASS(FAB_NEW_ALL(degree, err, m.port_slot, m.port_head));
    FAB_PASS(FAB_NEW(m.key, (size_t)degree + 1, err));
    FAB_PASS(fab_chunk_share(m.t, &m.chunks, (const uint16_t[FAB_CHUNK_LEAVES]){0}, &no_route, err));
    for (uint32_t v = 0; v < m.n_switches; v++) {
        FAB_PASS(make_switch(&m, v, err));
    }
    FAB_PASS(next_hops_finish(&m, err));
    return FAB_GIVE(*out, m.t);
}

FAB_FREES_WHOLE(fab_next_hops_free, fab_next_hops, dead_link, leaf_index, leaf_node, chunk_of, chunk, group_first,
                group_at, group, slot);

uint32_t fab_next_hops_mark(const fab_next_hops *t, uint8_t *used) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < t->n_switches; v++) {
        for (uint32_t g = t->group_first[v]; g < t->group_first[v + 1]; g++) {
            fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
            for (uint32_t i = 0; i < list.count; i++) {
                n += used[fab_next_hop(&list, i)] == 0;
                used[fab_next_hop(&list, i)] = 1;
            }
        }
    }
    return n;
}

uint32_t fab_next_hops_n_leaves(const fab_next_hops *next_hops) {
    return next_hops->n_leaves;
}

uint32_t fab_next_hops_column(const fab_next_hops *next_hops, uint32_t switch_index) {
    return next_hops->leaf_index[switch_index];
}

fab_node_id fab_next_hops_leaf(const fab_next_hops *next_hops, uint32_t column) {
    return next_hops->leaf_node[column];
}

uint32_t fab_next_hops_n_groups(const fab_next_hops *next_hops) {
    return next_hops->group_first[next_hops->n_switches];
}

uint32_t fab_next_hops_first_group(const fab_next_hops *next_hops, uint32_t switch_index) {
    return next_hops->group_first[switch_index];
}

uint32_t fab_next_hops_group_of(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t leaf) {
    uint32_t group = fab_next_hops_group(next_hops, switch_index, leaf);
    return group == 0 ? FAB_NONE : next_hops->group_first[switch_index] + group - 1;
}

fab_next_hop_list fab_next_hops_members(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t number) {
    return fab_next_hops_of_group(next_hops, switch_index, number);
}

fab_next_hop_list fab_next_hops_get(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t leaf) {
    return fab_next_hops_look(next_hops, switch_index, leaf);
}
