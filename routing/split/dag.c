/* Compiles next-hop tables into runs of entries, 64 destination leaves at a time.
 *
 * An entry is a switch, a group of its next hops and the set of destinations that the group serves. All next hops of a
 * group are as far from a destination, so the part of the set at distance t is the part that the first next hop has at
 * distance t - 1: distances come out of the tables without another search. Entries whose groups lead to the same
 * switches over the same capacities form a run: what they pass on is summed first and handed to the next hops once. */
#include "dag.h"
#include "fab/rng.h"

_Static_assert(FAB_BLOCK_LEAVES == FAB_CHUNK_LEAVES, "a block is a chunk of the tables");

/* Where the parts of a chunk of the tables stand, once they were read in this block. */
typedef struct chunk_parts {
    uint32_t block; /* + 1 */
    uint32_t first, n;
} chunk_parts;

typedef struct compiler {
    fab_dag *dag;
    uint32_t *first_head;   /* [group] */
    uint32_t *list_of;      /* [group]: equal for groups that lead to the same switches */
    uint32_t *run_of;       /* [list]: run at hand */
    uint32_t *stamp;        /* [list]: tick at which run_of was set */
    uint32_t tick;          /* of a block and distance */
    uint64_t *near, *far;   /* [switch]: destinations of the block at distance t - 1 and t */
    fab_dag_entry *pending; /* what is left of the block's entries */
    fab_dag_entry *found;   /* at the distance at hand */
    uint32_t *size;         /* [run] of this distance */
    size_t n_pending, pending_capacity, found_capacity, size_capacity;
    fab_dag_entry *part;   /* (group number, leaves) of the chunks of the block */
    chunk_parts *of_chunk; /* [chunk] */
    uint32_t *slot;        /* [group number]: part of the chunk at hand */
    size_t part_capacity;
} compiler;

/* --- groups that lead to the same switches ------------------------------------------------------------------------ */

/* Where links lead and with which capacity and portion of their trunk, numbered: target = head * kinds + kind. */
typedef struct targets {
    uint32_t *of_port;  /* [links of switches], as fabric->out_link from the first switch; of those to switches */
    uint64_t *digest;   /* [target] */
    uint16_t *class_of; /* [kind]: link class */
    uint32_t n_kinds;
    uint32_t *table; /* open addressing: list + 1 */
    size_t table_size, n_used, head_capacity, rank_capacity, first_capacity;
    size_t capacity_capacity, portion_capacity, class_capacity; /* of kinds */
} targets;

/* Kind of a link, a new one where none is like it. */
static fab_status find_kind(fab_dag *dag, targets *t, fab_link_id link, double portion, uint16_t *out, fab_error *err) {
    const uint16_t link_class = dag->fabric->cable_class[link >> 1];
    const double bps = fab_class_of(dag->fabric, link)->capacity_bps;
    bool apart = dag->classes != NULL; /* links of a list that differ only in length may have different values */
    FAB_FIRST(kind, t->n_kinds,
              dag->capacity[kind] == bps && dag->portion[kind] == portion &&
                  !(apart && t->class_of[kind] != link_class));
    FAB_REFUSE_IF(kind > UINT16_MAX, err, FAB_EUNSUPPORTED, NULL, "more than %u kinds of links", UINT16_MAX);
    if (kind == t->n_kinds) {
        FAB_PASS(FAB_GROW(dag->capacity, t->capacity_capacity, (size_t)kind + 1, err));
        FAB_PASS(FAB_GROW(dag->portion, t->portion_capacity, (size_t)kind + 1, err));
        FAB_PASS(FAB_GROW(t->class_of, t->class_capacity, (size_t)kind + 1, err));
        dag->capacity[kind] = bps;
        dag->portion[kind] = portion;
        t->class_of[kind] = link_class;
        t->n_kinds++;
    }
    *out = (uint16_t)kind;
    return FAB_OK;
}

static fab_status number_targets(fab_dag *dag, targets *t, fab_error *err) {
    const fab_fabric *f = dag->fabric;
    const fab_link_id *link = f->out_link + f->out_first[dag->base];
    uint32_t n_ports = f->out_first[f->n_nodes] - f->out_first[dag->base];
    FAB_OWNED double *trunk = NULL;
    FAB_PASS(fab_trunk_capacities(f, dag->next_hops->dead_link, &trunk, err));
    FAB_OWNED_NEW(uint16_t, kind, n_ports, err);
    for (uint32_t i = 0; i < n_ports; i++) {
        if (fab_class_of(f, link[i])->kind == FAB_LINK_FABRIC) {
            const double portion = fmin(fab_class_of(f, link[i])->capacity_bps / trunk[link[i]], 1); /* dead: any */
            FAB_PASS(find_kind(dag, t, link[i], portion, &kind[i], err));
        }
    }
    FAB_REFUSE_IF((uint64_t)dag->n_switches * t->n_kinds > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "%u switches and %u kinds of links are too many", dag->n_switches, t->n_kinds);
    size_t n = (size_t)dag->n_switches * t->n_kinds;
    FAB_PASS(FAB_NEW(t->of_port, n_ports, err));
    FAB_PASS(FAB_NEW(t->digest, n, err));
    FAB_FILL(t->digest, n, fab_mix64(fab_at));
    for (uint32_t i = 0; i < n_ports; i++) {
        if (fab_class_of(f, link[i])->kind == FAB_LINK_FABRIC) {
            uint32_t head = fab_head(f, link[i]) - dag->base;
            head = dag->classes != NULL ? dag->classes->first[head] : head;
            t->of_port[i] = head * t->n_kinds + kind[i];
        }
    }
    return FAB_OK;
}

static bool is_list(const fab_dag *dag, const targets *t, uint32_t list, const uint32_t *target,
                    const fab_next_hop_list *next) {
    const uint32_t *head = dag->head + dag->list_first[list];
    const uint16_t *rank = dag->rank + dag->list_first[list];
    if (dag->list_first[list + 1] - dag->list_first[list] != next->count) {
        return false;
    }
    FAB_ANY(found, i, next->count, head[i] * t->n_kinds + rank[i] != target[next->slot[i]]);
    return !found;
}

static fab_status dag_add_list(fab_dag *dag, targets *t, const uint32_t *target, const fab_next_hop_list *next,
                               fab_error *err) {
    uint32_t n = next->count;
    FAB_PASS(FAB_GROW(dag->head, t->head_capacity, t->n_used + n, err));
    FAB_PASS(FAB_GROW(dag->rank, t->rank_capacity, t->n_used + n, err));
    FAB_PASS(FAB_GROW(dag->list_first, t->first_capacity, (size_t)dag->n_lists + 2, err));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = target[next->slot[i]];
        dag->head[t->n_used] = to / t->n_kinds;
        dag->rank[t->n_used++] = (uint16_t)(to % t->n_kinds);
    }
    dag->list_first[++dag->n_lists] = (uint32_t)t->n_used;
    dag->widest = n > dag->widest ? n : dag->widest;
    return FAB_OK;
}

/* `target`: of the links of the switch. */
static uint32_t *find_list(const fab_dag *dag, const targets *t, const uint32_t *target,
                           const fab_next_hop_list *next) {
    FAB_SUM(uint64_t, digest, i, next->count, t->digest[target[next->slot[i]]]);
    size_t at = (size_t)(digest ^ digest >> 32) & (t->table_size - 1);
    while (t->table[at] != 0 && !is_list(dag, t, t->table[at] - 1, target, next)) {
        at = (at + 1) & (t->table_size - 1);
    }
    return &t->table[at];
}

static fab_status number_lists(compiler *c, targets *t, fab_error *err) {
    fab_dag *dag = c->dag;
    t->table_size = 16;
    while (t->table_size < 2 * (size_t)dag->n_groups) {
        t->table_size *= 2;
    }
    FAB_PASS(FAB_NEW(t->table, t->table_size, err));
    FAB_PASS(FAB_GROW(dag->list_first, t->first_capacity, 1, err));
    dag->list_first[0] = 0;
    for (uint32_t v = 0; v < dag->n_switches; v++) {
        if (!fab_dag_has(dag, v)) {
            continue;
        }
        const uint32_t *target =
            t->of_port + (dag->fabric->out_first[dag->base + v] - dag->fabric->out_first[dag->base]);
        for (uint32_t group = dag->next_hops->group_first[v]; group < dag->next_hops->group_first[v + 1]; group++) {
            fab_next_hop_list next = fab_next_hops_of_group(dag->next_hops, v, group);
            uint32_t *list = find_list(dag, t, target, &next);
            if (*list == 0) {
                FAB_PASS(dag_add_list(dag, t, target, &next, err));
                *list = dag->n_lists;
            }
            c->list_of[group] = *list - 1;
            c->first_head[group] = dag->head[dag->list_first[*list - 1]];
        }
    }
    return FAB_OK;
}

/* Where all links live: a cable that is dead one way has a class of its own. */
static fab_status find_alike(fab_dag *dag, fab_error *err) {
    FAB_PASS(FAB_NEW(dag->alike, dag->n_lists, err));
    for (uint32_t list = 0; dag->classes != NULL && dag->next_hops->dead_link == NULL && list < dag->n_lists; list++) {
        uint32_t first = dag->list_first[list];
        dag->alike[list] = 1;
        for (uint32_t i = first + 1; i < dag->list_first[list + 1]; i++) {
            if (dag->head[i] != dag->head[first] || dag->rank[i] != dag->rank[first]) {
                dag->alike[list] = 0;
                break;
            }
        }
    }
    return FAB_OK;
}

static fab_status find_lists(compiler *c, fab_error *err) {
    targets t = {0};
    FAB_OWNS_MEMBERS(t.of_port, t.digest, t.class_of, t.table);
    FAB_PASS(number_targets(c->dag, &t, err));
    FAB_PASS(number_lists(c, &t, err));
    return find_alike(c->dag, err);
}

/* --- a block ------------------------------------------------------------------------------------------------------ */

/* Which groups a row names within the block, and for which destinations. */
static uint32_t read_row(compiler *c, const uint16_t *row, uint32_t n, fab_dag_entry *out) {
    uint32_t n_parts = 0;
    if (row[0] != 0 && memcmp(row, row + 1, (n - 1) * sizeof *row) == 0) {
        out[0] =
            (fab_dag_entry){.leaves = n == FAB_BLOCK_LEAVES ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1, .group = row[0]};
        return 1;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (row[k] == 0) {
            continue;
        }
        uint32_t slot = c->slot[row[k]];
        if (slot >= n_parts || out[slot].group != row[k]) { /* left from another row */
            slot = n_parts++;
            c->slot[row[k]] = slot;
            out[slot] = (fab_dag_entry){.group = row[k]};
        }
        out[slot].leaves |= UINT64_C(1) << k;
    }
    return n_parts;
}

/* Entries of all switches, distances not yet known. Switches that share a chunk share what it says. */
static fab_status read_tables(compiler *c, uint32_t block, fab_error *err) {
    const fab_dag *dag = c->dag;
    const fab_next_hops *t = dag->next_hops;
    uint32_t first = block * FAB_BLOCK_LEAVES;
    uint32_t n = t->n_leaves - first < FAB_BLOCK_LEAVES ? t->n_leaves - first : FAB_BLOCK_LEAVES;
    uint32_t n_parts = 0;
    uint16_t row[FAB_CHUNK_LEAVES];
    c->n_pending = 0;
    for (uint32_t v = 0; v < dag->n_switches; v++) {
        if (!fab_dag_has(dag, v)) {
            continue;
        }
        uint32_t chunk = t->chunk_of[(size_t)block * t->n_switches + v];
        chunk_parts *known = &c->of_chunk[chunk];
        if (known->block != block + 1) {
            FAB_PASS(FAB_GROW(c->part, c->part_capacity, (size_t)n_parts + n, err));
            *known = (chunk_parts){.block = block + 1, .first = n_parts};
            fab_chunk_unpack(t->chunk + (size_t)chunk * FAB_CHUNK_WORDS, row);
            known->n = read_row(c, row, n, c->part + n_parts);
            n_parts += known->n;
        }
        FAB_PASS(FAB_GROW(c->pending, c->pending_capacity, c->n_pending + known->n, err));
        for (uint32_t i = known->first; i < known->first + known->n; i++) {
            c->pending[c->n_pending++] =
                (fab_dag_entry){.leaves = c->part[i].leaves, .v = v, .group = t->group_first[v] + c->part[i].group - 1};
        }
    }
    FAB_PASS(FAB_GROW(c->found, c->found_capacity, c->n_pending, err));
    return FAB_GROW(c->size, c->size_capacity, c->n_pending + 1, err);
}

static uint32_t count_chunks(const fab_next_hops *t) {
    FAB_MOST(uint32_t, n, i, (size_t)t->n_chunks_per_row * t->n_switches, t->chunk_of[i] + 1);
    return n;
}

/* Takes the destinations at distance t out of the pending entries. Returns how many entries they make. */
static uint32_t take_level(compiler *c, uint32_t *out_n_runs) {
    uint32_t n = 0;
    uint32_t n_runs = 0;
    size_t kept = 0;
    c->tick++;
    FAB_EACH(fab_dag_entry, e, c->pending, c->n_pending) {
        uint64_t leaves = e->leaves & c->near[c->first_head[e->group]];
        if (leaves != 0) {
            uint32_t list = c->list_of[e->group];
            if (c->stamp[list] != c->tick) {
                c->stamp[list] = c->tick;
                c->run_of[list] = n_runs;
                c->size[n_runs++] = 0;
            }
            c->size[c->run_of[list]]++;
            c->found[n++] = (fab_dag_entry){.leaves = leaves, .v = e->v, .group = e->group};
            c->far[e->v] |= leaves;
            e->leaves &= ~leaves;
        }
        if (e->leaves != 0) {
            c->pending[kept++] = *e;
        }
    }
    c->n_pending = kept;
    *out_n_runs = n_runs;
    return n;
}

/* Appends what take_level found, run by run. */
static fab_status append_runs(compiler *c, uint32_t level, uint32_t n, uint32_t n_runs, fab_error *err) {
    fab_dag *dag = c->dag;
    FAB_REFUSE_IF(dag->n_entries + n >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "the shortest paths of all destinations need more than %u entries", UINT32_MAX);
    FAB_PASS(FAB_GROW(dag->entry, dag->entry_capacity, dag->n_entries + n, err));
    FAB_PASS(FAB_GROW(dag->run, dag->run_capacity, dag->n_runs + n_runs + 1, err));
    for (uint32_t i = 0, at = (uint32_t)dag->n_entries; i < n_runs; i++) {
        dag->run[dag->n_runs++] = (fab_dag_run){.first = at, .level = level};
        at += c->size[i];
        c->size[i] = at - c->size[i];
    }
    fab_dag_run *run = dag->run + dag->n_runs - n_runs;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t list = c->list_of[c->found[i].group];
        run[c->run_of[list]].list = list;
        dag->entry[c->size[c->run_of[list]]++] = c->found[i];
    }
    dag->n_entries += n;
    return FAB_OK;
}

static fab_status compile_block(compiler *c, uint32_t block, fab_error *err) {
    fab_dag *dag = c->dag;
    uint64_t *reach = dag->reach + (size_t)block * dag->n_leaves;
    uint32_t last = (block + 1) * FAB_BLOCK_LEAVES < dag->n_leaves ? (block + 1) * FAB_BLOCK_LEAVES : dag->n_leaves;
    FAB_PASS(read_tables(c, block, err));
    memset(c->near, 0, dag->n_switches * sizeof *c->near);
    for (uint32_t d = block * FAB_BLOCK_LEAVES; d < last; d++) {
        c->near[dag->leaf[d]] = reach[d] = UINT64_C(1) << (d % FAB_BLOCK_LEAVES);
    }
    for (uint32_t level = 1; c->n_pending > 0; level++) {
        uint32_t n_runs = 0;
        memset(c->far, 0, dag->n_switches * sizeof *c->far);
        uint32_t n = take_level(c, &n_runs);
        FAB_REFUSE_IF(n == 0, err, FAB_EINTERNAL, NULL, "next hops that lead nowhere");
        FAB_PASS(append_runs(c, level, n, n_runs, err));
        for (uint32_t d = 0; d < dag->n_leaves; d++) {
            reach[d] |= c->far[dag->leaf[d]];
        }
        uint64_t *other = c->near;
        c->near = c->far;
        c->far = other;
    }
    dag->block_run[block + 1] = (uint32_t)dag->n_runs;
    uint32_t n_runs = dag->block_run[block + 1] - dag->block_run[block];
    dag->longest = n_runs > dag->longest ? n_runs : dag->longest;
    return FAB_OK;
}

static void free_whole(fab_dag_whole *whole) { // NOLINT(misc-no-recursion): a whole DAG has none
    if (whole == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&whole->mutex);
    fab_dag_free(whole->dag);
    free(whole);
}
FAB_OWNER(fab_dag_whole, free_whole)

static void release_compiler(compiler *c) {
    FAB_FREE_ALL(c->first_head, c->list_of, c->run_of, c->stamp, c->near, c->far, c->pending, c->found, c->size,
                 c->part, c->of_chunk, c->slot);
    fab_dag_free(c->dag);
}

/* With the classes, which become its own. */
static fab_status compile(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_switch_classes **classes,
                          fab_dag **out, fab_error *err) {
    FAB_OWNS(release_compiler) compiler c = {0};
    fab_dag *dag = NULL;
    FAB_PASS(FAB_NEW(dag, 1, err));
    c.dag = dag;
    dag->classes = *classes;
    *classes = NULL;
    dag->fabric = fabric;
    dag->next_hops = next_hops;
    dag->base = fabric->first[FAB_NODE_SWITCH];
    dag->n_switches = fab_n_switches(fabric);
    dag->n_leaves = next_hops->n_leaves;
    dag->n_blocks = (dag->n_leaves + FAB_BLOCK_LEAVES - 1) / FAB_BLOCK_LEAVES;
    dag->n_groups = next_hops->group_first[dag->n_switches];
    FAB_PASS(FAB_NEW(dag->leaf, dag->n_leaves, err));
    FAB_PASS(FAB_NEW(dag->reach, (size_t)dag->n_blocks * dag->n_leaves, err));
    FAB_PASS(FAB_NEW(dag->block_run, (size_t)dag->n_blocks + 1, err));
    FAB_PASS(FAB_GROW(dag->run, dag->run_capacity, 1, err));
    FAB_FILL(dag->leaf, dag->n_leaves, next_hops->leaf_node[fab_at] - dag->base);
    FAB_PASS(FAB_NEW_ALL(dag->n_groups, err, c.first_head, c.list_of, c.run_of, c.stamp));
    FAB_PASS(FAB_NEW_ALL(dag->n_switches, err, c.near, c.far));
    FAB_PASS(FAB_NEW(c.of_chunk, count_chunks(next_hops), err));
    FAB_PASS(FAB_NEW(c.slot, (size_t)UINT16_MAX + 1, err));
    FAB_PASS(find_lists(&c, err));
    for (uint32_t block = 0; block < dag->n_blocks; block++) {
        FAB_PASS(compile_block(&c, block, err));
    }
    dag->run[dag->n_runs].first = (uint32_t)dag->n_entries;
    return FAB_GIVE(*out, c.dag);
}

fab_status fab_dag_new(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_dag **out, fab_error *err) {
    FAB_OWNS(fab_switch_classes_free_owned) fab_switch_classes *classes = NULL;
    fab_dag *dag = NULL;
    FAB_OWNS(free_whole_owned) fab_dag_whole *whole = NULL;
    FAB_PASS(next_hops->all_minimal ? fab_switch_classes_find(fabric, next_hops, &classes, err) : FAB_OK);
    if (classes != NULL) {
        FAB_PASS(FAB_NEW(whole, 1, err));
        if (pthread_mutex_init(&whole->mutex, NULL) != 0) {
            free(whole);
            whole = NULL;
            return fab_fail(err, FAB_ENOMEM, NULL, "no mutex could be made");
        }
    }
    FAB_PASS(compile(fabric, next_hops, &classes, &dag, err));
    dag->whole = whole;
    whole = NULL;
    *out = dag;
    return FAB_OK;
}

fab_status fab_dag_get_whole(const fab_dag *dag, const fab_dag **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_switch_classes *none = NULL;
    *out = dag;
    if (dag->classes == NULL) {
        return FAB_OK;
    }
    (void)pthread_mutex_lock(&dag->whole->mutex);
    if (dag->whole->dag == NULL) {
        status = compile(dag->fabric, dag->next_hops, &none, &dag->whole->dag, err);
    }
    *out = dag->whole->dag;
    (void)pthread_mutex_unlock(&dag->whole->mutex);
    return status;
}

const fab_switch_classes *fab_dag_classes(const fab_dag *dag) {
    return dag != NULL ? dag->classes : NULL;
}

void fab_dag_free(fab_dag *dag) { // NOLINT(misc-no-recursion)
    if (dag == NULL) {
        return;
    }
    fab_switch_classes_free(dag->classes);
    free_whole(dag->whole);
    FAB_FREE_ALL(dag->alike, dag->list_first, dag->head, dag->rank, dag->capacity, dag->portion, dag->entry, dag->run,
                 dag->block_run, dag->leaf, dag->reach, dag);
}
