#include "network_internal.h"

#include "fab/fnv.h"
#include "fab/id_table.h"
#include "fab/units.h"

#include <stdarg.h>

#define CHUNK      ((size_t)1 << 16)
#define MOST_NODES (UINT32_C(1) << 24)

#define BYTES_OF_NAME 16 /* of a box in a list of many */

/* --- texts -------------------------------------------------------------------------------------------------------- */

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
} chunk;

struct fab_network_memory {
    chunk *chunks;
    fab_id_table nodes; /* by name */
    fab_id_table ends;  /* by node and port: 2 * cable + end */
    size_t node_capacity, cable_capacity, group_capacity, note_capacity, member_capacity;
};

fab_status fab_network_text(fab_network *net, const char *text, size_t n, const char **out, fab_error *err) {
    struct fab_network_memory *m = net->memory;
    if (m->chunks == NULL || m->chunks->size - m->chunks->used < n + 1) {
        size_t size = n + 1 > CHUNK ? n + 1 : CHUNK;
        char *bytes = NULL;
        FAB_PASS(fab_allocate(1, sizeof(chunk) + size, &bytes, err));
        chunk *c = (chunk *)(void *)bytes;
        *c = (chunk){.next = m->chunks, .size = size};
        m->chunks = c;
    }
    char *to = m->chunks->bytes + m->chunks->used;
    memcpy(to, text, n);
    to[n] = '\0';
    m->chunks->used += n + 1;
    *out = to;
    return FAB_OK;
}

/* --- hashing ------------------------------------------------------------------------------------------------------ */

/* The upper half of a product depends on all bits. */
static uint32_t fold(uint64_t h) {
    return (uint32_t)((h ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static uint32_t hash_name(const char *name, size_t n) {
    return fold(fab_fnv(FAB_FNV_BEGIN, name, n));
}

static uint32_t hash_end(uint32_t node, const char *port) {
    return fold(fab_fnv(FAB_FNV_BEGIN ^ (node * UINT64_C(0x9e3779b97f4a7c15)), port, strlen(port)));
}

static const fab_network_end *end_of(const fab_network *net, uint32_t end) {
    return &net->cables[end >> 1].end[end & 1];
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

fab_status fab_network_new(const char *path, fab_network **out, fab_error *err) {
    FAB_OWNS_NEW(fab_network_free_owned, fab_network, net, 1, err);
    FAB_PASS(FAB_NEW(net->memory, 1, err));
    FAB_PASS(fab_network_text(net, path, strlen(path), &net->path, err));
    return FAB_GIVE(*out, net);
}

fab_status fab_network_expect(const fab_network *net, uint64_t nodes, uint64_t cables, fab_error *err) {
    char what[256];
    double n_nodes = (double)(net->n_nodes + nodes);
    double n_cables = (double)(net->n_cables + cables);
    double bytes = fab_grown(n_nodes) * (double)(sizeof *net->nodes + 4 * sizeof(uint64_t)) + n_nodes * BYTES_OF_NAME +
                   fab_grown(n_cables) * (double)sizeof *net->cables;
    FAB_FORMAT(what, "%.160s: its %s boxes", net->path, FAB_SAY_COUNT((uint64_t)n_nodes));
    return fab_memory_check(what, bytes, net->max_bytes, err);
}

void fab_network_free(fab_network *net) {
    if (net == NULL) {
        return;
    }
    struct fab_network_memory *m = net->memory;
    while (m != NULL && m->chunks != NULL) {
        chunk *next = m->chunks->next;
        free(m->chunks);
        m->chunks = next;
    }
    if (m != NULL) {
        fab_id_table_release(&m->nodes);
        fab_id_table_release(&m->ends);
    }
    FAB_FREE_ALL(m, net->nodes, net->cables, net->groups, net->member, net->notes, net);
}

static uint32_t find_node(const fab_network *net, uint32_t hash, const char *name, size_t n) {
    size_t probe = 0;
    for (uint32_t id; (id = fab_id_table_next(&net->memory->nodes, hash, &probe)) != UINT32_MAX;) {
        if (strncmp(net->nodes[id].name, name, n) == 0 && net->nodes[id].name[n] == '\0') {
            return id;
        }
    }
    return FAB_NETWORK_NONE;
}

uint32_t fab_network_find(const fab_network *net, const char *name, size_t n) {
    return find_node(net, hash_name(name, n), name, n);
}

fab_status fab_network_add_node(fab_network *net, const char *name, size_t n, size_t line, uint32_t *out,
                                fab_error *err) {
    struct fab_network_memory *m = net->memory;
    uint32_t hash = hash_name(name, n);
    uint32_t found = find_node(net, hash, name, n);
    if (found != FAB_NETWORK_NONE) {
        *out = found;
        return FAB_OK;
    }
    FAB_REFUSE_IF(net->n_nodes == MOST_NODES, err, FAB_EUNSUPPORTED, net->path, "more than %" PRIu32 " nodes",
                  MOST_NODES);
    FAB_PASS(FAB_GROW(net->nodes, m->node_capacity, net->n_nodes + 1, err));
    fab_network_node *node = &net->nodes[net->n_nodes];
    *node = (fab_network_node){.rank = FAB_NETWORK_NONE, .line = line};
    FAB_PASS(fab_network_text(net, name, n, &node->name, err));
    node->label = node->name;
    FAB_PASS(fab_id_table_add(&m->nodes, hash, err));
    *out = net->n_nodes++;
    return FAB_OK;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

/* 2 * cable + end at a port, FAB_NETWORK_NONE where nothing is plugged in. */
static uint32_t find_end(const fab_network *net, uint32_t hash, uint32_t node, const char *port) {
    size_t probe = 0;
    for (uint32_t id; (id = fab_id_table_next(&net->memory->ends, hash, &probe)) != UINT32_MAX;) {
        if (end_of(net, id)->node == node && strcmp(end_of(net, id)->port, port) == 0) {
            return id;
        }
    }
    return FAB_NETWORK_NONE;
}

/* `end` of a new cable is a port that `by` has already. */
static fab_status taken(fab_network *net, const fab_network_cable *cable, uint32_t i, uint32_t by, fab_error *err) {
    const fab_network_end *end = &cable->end[i];
    const fab_network_end *there = end_of(net, by ^ 1);
    const fab_network_node *node = &net->nodes[end->node];
    size_t old = end_of(net, by)->line != 0 ? end_of(net, by)->line : there->line;
    size_t line = end->line != 0 ? end->line : cable->end[i ^ 1].line;
    char text[sizeof err->text];
    FAB_FORMAT(text, "port %s of '%.60s' has two cables; line %zu joins it to '%.60s'", end->port, node->label, old,
               net->nodes[there->node].label);
    return net->keeps_contradictions ? fab_network_add_note(net, line, err, "%s", text)
                                     : fab_fail_in_file(err, net->path, line, 0, "%s", text);
}

/* What the second report knows and the first did not. */
static void complete(fab_network_cable *old, const fab_network_cable *cable, uint32_t turned) {
    for (uint32_t i = 0; i < 2; i++) {
        fab_network_end *end = &old->end[i ^ turned];
        end->line = end->line != 0 ? end->line : cable->end[i].line;
    }
    old->rate_bps = old->rate_bps > 0 ? old->rate_bps : cable->rate_bps;
    old->latency_s = old->latency_s > 0 ? old->latency_s : cable->latency_s;
    old->length_m = old->length_m > 0 ? old->length_m : cable->length_m;
    old->width = old->width > 0 ? old->width : cable->width;
}

bool fab_network_is_plugged(const fab_network *net, uint32_t node, const char *port) {
    return find_end(net, hash_end(node, port), node, port) != FAB_NETWORK_NONE;
}

fab_status fab_network_add_cable(fab_network *net, const fab_network_cable *cable, bool *out_old, fab_error *err) {
    struct fab_network_memory *m = net->memory;
    const fab_network_end *e = cable->end;
    uint32_t at[2] = {FAB_NETWORK_NONE, FAB_NETWORK_NONE};
    uint32_t hash[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        hash[i] = e[i].port != NULL ? hash_end(e[i].node, e[i].port) : 0;
        at[i] = e[i].port != NULL ? find_end(net, hash[i], e[i].node, e[i].port) : FAB_NETWORK_NONE;
    }
    bool known = at[0] != FAB_NETWORK_NONE && at[1] == (at[0] ^ 1);
    if (out_old != NULL) {
        *out_old = known;
    }
    if (known) {
        complete(&net->cables[at[0] >> 1], cable, at[0] & 1);
        return FAB_OK;
    }
    for (uint32_t i = 0; i < 2; i++) {
        FAB_RETURN_IF(at[i] != FAB_NETWORK_NONE, taken(net, cable, i, at[i], err));
    }
    FAB_RETURN_IF(e[0].node == e[1].node && e[0].port != NULL && e[1].port != NULL && strcmp(e[0].port, e[1].port) == 0,
                  fab_fail_in_file(err, net->path, e[0].line, 0, "port %s of '%.60s' is joined to itself", e[0].port,
                                   net->nodes[e[0].node].label));
    FAB_PASS(FAB_GROW(net->cables, m->cable_capacity, net->n_cables + 1, err));
    uint32_t index = net->n_cables++;
    net->cables[index] = *cable;
    for (uint32_t i = 0; i < 2; i++) {
        fab_network_end *end = &net->cables[index].end[i];
        if (end->port != NULL) {
            FAB_PASS(fab_network_text(net, end->port, strlen(end->port), &end->port, err));
            FAB_PASS(fab_id_table_add_as(&m->ends, hash[i], 2 * index + i, err));
        }
    }
    return FAB_OK;
}

fab_status fab_network_drop_nodes(fab_network *net, const bool *drop, fab_error *err) {
    struct fab_network_memory *m = net->memory;
    FAB_OWNED uint32_t *place = NULL; /* of what stays */
    uint32_t n = 0;
    uint32_t n_cables = 0;
    uint32_t n_members = 0;
    FAB_PASS(FAB_NEW(place, (size_t)net->n_nodes + 1, err));
    fab_id_table_clear(&m->nodes);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        place[i] = n;
        if (!drop[i]) {
            net->nodes[n] = net->nodes[i];
            FAB_PASS(fab_id_table_add_as(&m->nodes, hash_name(net->nodes[n].name, strlen(net->nodes[n].name)), n, err));
            n++;
        }
    }
    for (uint32_t i = 0; i < net->n_cables; i++) {
        fab_network_cable cable = net->cables[i];
        if (!drop[cable.end[0].node] && !drop[cable.end[1].node]) {
            cable.end[0].node = place[cable.end[0].node];
            cable.end[1].node = place[cable.end[1].node];
            net->cables[n_cables++] = cable;
        }
    }
    FAB_EACH(fab_network_group, group, net->groups, net->n_groups) {
        uint32_t first = n_members;
        for (uint32_t i = group->first; i < group->first + group->n; i++) {
            uint32_t node = net->member[i];
            net->member[n_members] = place[node];
            n_members += drop[node] ? 0 : 1;
        }
        group->first = first;
        group->n = n_members - first;
    }
    net->n_nodes = n;
    net->n_cables = n_cables;
    net->n_members = n_members;
    fab_id_table_release(&m->ends);
    return FAB_OK;
}

void fab_network_drop_cables(fab_network *net, const bool *drop) {
    uint32_t n = 0;
    FAB_KEEP(net->cables, n, i, net->n_cables, !drop[i], net->cables[i]);
    net->n_cables = n;
    fab_id_table_release(&net->memory->ends);
}

/* --- groups and notes --------------------------------------------------------------------------------------------- */

fab_status fab_network_add_group(fab_network *net, const char *name, size_t n, const uint32_t *members,
                                 uint32_t n_members, fab_error *err) {
    struct fab_network_memory *m = net->memory;
    FAB_PASS(FAB_GROW(net->groups, m->group_capacity, net->n_groups + 1, err));
    FAB_PASS(FAB_GROW(net->member, m->member_capacity, (size_t)net->n_members + n_members, err));
    fab_network_group *group = &net->groups[net->n_groups];
    *group = (fab_network_group){.first = net->n_members, .n = n_members};
    FAB_PASS(fab_network_text(net, name, n, &group->name, err));
    FAB_COPY(net->member + net->n_members, members, n_members);
    net->n_members += n_members;
    net->n_groups++;
    return FAB_OK;
}

fab_status fab_network_add_note(fab_network *net, size_t line, fab_error *err, const char *fmt, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    FAB_PASS(FAB_GROW(net->notes, net->memory->note_capacity, net->n_notes + 1, err));
    fab_network_note *note = &net->notes[net->n_notes];
    *note = (fab_network_note){.line = line};
    FAB_PASS(fab_network_text(net, text, strlen(text), &note->text, err));
    net->n_notes++;
    return FAB_OK;
}

fab_status fab_network_leave_out(fab_network *net, uint64_t n, const char *what) {
    net->n_left_out += n;
    net->left_out = n > 0 ? what : net->left_out;
    return FAB_OK;
}
