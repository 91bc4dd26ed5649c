/* Slurm's topology.conf, tree and block, and what `scontrol show topology` prints of them. A tree of names: which nodes
 * are below which switch, without ports and cables as such; where several switches have the same nodes they are taken
 * as joined to each. Source: topology.conf(5). */
#include "fab/host_list.h"
#include "network_internal.h"

#include "fab/memory.h"
#include "fab/text.h"

#include <string.h>

typedef struct reader {
    fab_text *in;
    fab_network *net;
    uint32_t node; /* the switch of the line */
    fab_network_kind below;
    uint32_t *joined;  /* [n_joined]: the switch that a name was last below, + 1 */
    uint32_t *members; /* of the block of the line */
    size_t n_joined, joined_capacity, n_members, capacity;
} reader;

/* Whether a name stands below the switch of the line for the first time. */
static fab_status slurm_join(reader *r, uint32_t other, bool *out_is_new, fab_error *err) {
    FAB_PASS(FAB_GROW(r->joined, r->joined_capacity, (size_t)other + 1, err));
    while (r->n_joined <= other) {
        r->joined[r->n_joined++] = 0;
    }
    *out_is_new = r->joined[other] != r->node + 1; /* a switch has one line */
    r->joined[other] = r->node + 1;
    return FAB_OK;
}

/* Joins a switch to a name below it; a name that the list repeats is below it once. */
static fab_status visit_below(void *context, const char *name, size_t n, fab_error *err) {
    reader *r = context;
    uint32_t other = 0;
    FAB_PASS(fab_network_add_node(r->net, name, n, r->in->line, &other, err));
    fab_network_node *node = &r->net->nodes[other];
    if (node->kind == FAB_NETWORK_UNKNOWN) {
        node->kind = r->below;
    }
    if (node->kind != r->below) {
        char where[sizeof err->where];
        (void)snprintf(where, sizeof where, "%.150s:%zu", r->in->path, r->in->line);
        return fab_fail(err, FAB_EINPUT, where, "'%.60s' is a %s here and a %s on line %zu", node->name,
                        r->below == FAB_NETWORK_SWITCH ? "switch" : "node",
                        r->below == FAB_NETWORK_SWITCH ? "node" : "switch", node->line);
    }
    const fab_network_cable cable = {
        .end = {{.node = other, .line = r->in->line}, {.node = r->node, .line = r->in->line}}};
    bool is_new = false;
    FAB_PASS(slurm_join(r, other, &is_new, err));
    if (is_new) {
        FAB_PASS(fab_network_add_cable(r->net, &cable, NULL, err));
    }
    return FAB_OK;
}

static fab_status visit_member(void *context, const char *name, size_t n, fab_error *err) {
    reader *r = context;
    FAB_PASS(FAB_GROW(r->members, r->capacity, r->n_members + 1, err));
    FAB_PASS(fab_network_add_node(r->net, name, n, r->in->line, &r->members[r->n_members], err));
    r->net->nodes[r->members[r->n_members++]].kind = FAB_NETWORK_HOST;
    return FAB_OK;
}

/* "Key=value" of a token; letter case of the key makes no difference. */
static bool take_key(fab_token t, const char *key, fab_token *out_value) {
    size_t n = strlen(key);
    if (t.length <= n || t.text[n] != '=') {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char c = t.text[i] >= 'A' && t.text[i] <= 'Z' ? (char)(t.text[i] - 'A' + 'a') : t.text[i];
        if (c != key[i]) {
            return false;
        }
    }
    *out_value = (fab_token){.text = t.text + n + 1, .length = t.length - n - 1, .column = t.column + n + 1};
    return true;
}

static bool is_null(fab_token t) { /* scontrol prints what is empty so */
    return t.length == 6 && memcmp(t.text, "(null)", 6) == 0;
}

/* Visits a list of names once it is known that they may be held. */
static fab_status read_names(reader *r, fab_token names, fab_host_list_visit *visit, fab_error *err) {
    uint32_t n = 0;
    char where[sizeof err->where];
    (void)snprintf(where, sizeof where, "%.150s:%zu", r->in->path, r->in->line);
    FAB_PASS(fab_host_list_count(names.text, names.length, where, &n, err));
    FAB_PASS(fab_network_expect(r->net, n, n, err));
    return fab_host_list_each(names.text, names.length, where, visit, r, err);
}

static fab_status read_switch(reader *r, fab_token name, fab_error *err) {
    fab_token nodes = {0};
    fab_token switches = {0};
    uint64_t number = 0;
    FAB_PASS(fab_network_add_node(r->net, name.text, name.length, r->in->line, &r->node, err));
    fab_network_node *node = &r->net->nodes[r->node];
    if (node->kind == FAB_NETWORK_HOST || (node->kind == FAB_NETWORK_SWITCH && node->n_ports > 0)) {
        return fab_text_refuse(r->in, name, err, "%s",
                               node->kind == FAB_NETWORK_HOST ? "is a node elsewhere" : "has a line already");
    }
    node->kind = FAB_NETWORK_SWITCH;
    node->n_ports = 1; /* its line was seen; set right at the end */
    for (fab_token t = fab_text_token(r->in); t.length > 0; t = fab_text_token(r->in)) {
        fab_token value = {0};
        if (take_key(t, "nodes", &value)) {
            nodes = value;
        } else if (take_key(t, "switches", &value)) {
            switches = value;
        } else if (take_key(t, "level", &value)) {
            if (!fab_token_number(value, &number) || number > 63) {
                return fab_text_refuse(r->in, value, err, "is no level, 0 to 63");
            }
            node->tier = (uint32_t)number + 1;
        } else if (!take_key(t, "linkspeed", &value)) {
            return fab_text_refuse(r->in, t, err, "stands where Nodes=, Switches=, Level= or LinkSpeed= was expected");
        }
    }
    /* scontrol repeats the nodes below at every level: those of a switch with switches are not its own. */
    if (switches.length > 0 && !is_null(switches)) {
        r->below = FAB_NETWORK_SWITCH;
        FAB_PASS(read_names(r, switches, visit_below, err));
    } else if (nodes.length > 0 && !is_null(nodes)) {
        r->below = FAB_NETWORK_HOST;
        FAB_PASS(read_names(r, nodes, visit_below, err));
    } else {
        return fab_text_refuse(r->in, name, err, "has neither Nodes= nor Switches=");
    }
    return FAB_OK;
}

static fab_status read_block(reader *r, fab_token name, fab_error *err) {
    r->n_members = 0;
    for (fab_token t = fab_text_token(r->in); t.length > 0; t = fab_text_token(r->in)) {
        fab_token value = {0};
        if (take_key(t, "nodes", &value)) {
            FAB_PASS(read_names(r, value, visit_member, err));
        } else if (!take_key(t, "blocksize", &value) && !take_key(t, "blockindex", &value)) {
            return fab_text_refuse(r->in, t, err, "stands where Nodes= was expected");
        }
    }
    return fab_network_add_group(r->net, name.text, name.length, r->members, (uint32_t)r->n_members, err);
}

static fab_status slurm_read_line(reader *r, fab_error *err) {
    fab_token t = fab_text_token(r->in);
    fab_token value = {0};
    if (take_key(t, "switchname", &value)) {
        return read_switch(r, value, err);
    }
    if (take_key(t, "blockname", &value)) {
        return read_block(r, value, err);
    }
    if (take_key(t, "blocksizes", &value) || take_key(t, "blocklevels", &value)) {
        return FAB_OK;
    }
    return fab_text_refuse(r->in, t, err, "stands where SwitchName=, BlockName= or BlockSizes= was expected");
}

static fab_status read_slurm(fab_text *in, fab_network *net, fab_error *err) {
    fab_status status = FAB_OK;
    reader r = {.in = in, .net = net};
    while (fab_text_next(in)) {
        FAB_TRY(fab_network_is_chatter(in) ? FAB_OK : slurm_read_line(&r, err));
    }
    FAB_TRY(fab_text_end(in, err));
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        fab_network_node *node = &net->nodes[i];
        if (node->kind == FAB_NETWORK_SWITCH && node->n_ports == 0) {
            FAB_TRY(fab_network_add_note(net, node->line, err, "switch '%s' is named but has no line", node->name));
        }
        node->n_ports = 0;
    }
    net->is_tree_of_names = true;
done:
    FAB_FREE_ALL(r.joined, r.members);
    return status;
}

const fab_network_format fab_network_slurm = {
    .name = "slurm",
    .summary = "Slurm's topology.conf (tree, block) and scontrol show topology",
    .begins = "^([ \t]*(#[^\n]*|[^\n]*[#$%>] *scontrol [^\n]*|\r)?\n)*[ \t]*(switchname|blockname|blocksizes)=",
    .ignores_case = true,
    .text = read_slurm};
