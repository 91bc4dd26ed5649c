/* Slurm's topology.conf, tree and block, and what `scontrol show topology` prints of them. A tree of names: which nodes
 * are below which switch, without ports and cables as such; where several switches have the same nodes they are taken
 * as joined to each. Source: topology.conf(5). */
#include "names_below.h"

#include <strings.h>

/* "Key=value" of a token; letter case of the key makes no difference. */
static bool take_key(fab_token t, const char *key, fab_token *out_value) {
    size_t n = strlen(key);
    if (t.length <= n || t.text[n] != '=' || strncasecmp(t.text, key, n) != 0) {
        return false;
    }
    *out_value = (fab_token){.text = t.text + n + 1, .length = t.length - n - 1, .column = t.column + n + 1};
    return true;
}

static bool is_list(fab_token t) { /* scontrol prints what is empty so */
    return t.length > 0 && !fab_token_is(t, "(null)");
}

static fab_status read_switch(fab_text *in, fab_names_below *b, fab_token name, fab_error *err) {
    fab_token nodes = {0};
    fab_token switches = {0};
    uint64_t number = 0;
    FAB_PASS(fab_network_add_node(b->net, name.text, name.length, in->line, &b->node, err));
    fab_network_node *node = &b->net->nodes[b->node];
    FAB_RETURN_IF(node->kind == FAB_NETWORK_HOST || (node->kind == FAB_NETWORK_SWITCH && node->n_ports > 0),
                  fab_text_refuse(in, name, err, "%s",
                                  node->kind == FAB_NETWORK_HOST ? "is a node elsewhere" : "has a line already"));
    node->kind = FAB_NETWORK_SWITCH;
    node->n_ports = 1; /* its line was seen; set right by fab_names_below_release() */
    for (fab_token t = fab_text_token(in); t.length > 0; t = fab_text_token(in)) {
        fab_token value = {0};
        if (take_key(t, "nodes", &value)) {
            nodes = value;
        } else if (take_key(t, "switches", &value)) {
            switches = value;
        } else if (take_key(t, "level", &value)) {
            FAB_RETURN_IF(!fab_token_number(value, &number) || number > 63,
                          fab_text_refuse(in, value, err, "is no level, 0 to 63"));
            node->tier = (uint32_t)number + 1;
        } else if (!take_key(t, "linkspeed", &value)) {
            return fab_text_refuse(in, t, err, "stands where Nodes=, Switches=, Level= or LinkSpeed= was expected");
        }
    }
    /* scontrol repeats the nodes below at every level: those of a switch with switches are not its own. */
    fab_token list = is_list(switches) ? switches : nodes;
    b->kind = is_list(switches) ? FAB_NETWORK_SWITCH : FAB_NETWORK_HOST;
    FAB_RETURN_IF(!is_list(list), fab_text_refuse(in, name, err, "has neither Nodes= nor Switches="));
    FAB_PASS(fab_names_below_add(b, list.text, list.length, err));
    return fab_names_below_put(b, err);
}

static fab_status read_block(fab_text *in, fab_names_below *b, fab_token name, fab_error *err) {
    b->kind = FAB_NETWORK_HOST;
    for (fab_token t = fab_text_token(in); t.length > 0; t = fab_text_token(in)) {
        fab_token value = {0};
        if (take_key(t, "nodes", &value)) {
            FAB_PASS(fab_names_below_add(b, value.text, value.length, err));
        } else if (!take_key(t, "blocksize", &value) && !take_key(t, "blockindex", &value)) {
            return fab_text_refuse(in, t, err, "stands where Nodes= was expected");
        }
    }
    return fab_network_add_group(b->net, name.text, name.length, b->members, (uint32_t)b->n_members, err);
}

static fab_status slurm_read_line(fab_text *in, fab_names_below *b, fab_error *err) {
    fab_token t = fab_text_token(in);
    fab_token value = {0};
    b->line = in->line;
    b->n_members = 0;
    if (take_key(t, "switchname", &value)) {
        return read_switch(in, b, value, err);
    }
    if (take_key(t, "blockname", &value)) {
        return read_block(in, b, value, err);
    }
    if (take_key(t, "blocksizes", &value) || take_key(t, "blocklevels", &value)) {
        return FAB_OK;
    }
    return fab_text_refuse(in, t, err, "stands where SwitchName=, BlockName= or BlockSizes= was expected");
}

static fab_status read_slurm(fab_text *in, fab_network *net, fab_error *err) {
    FAB_OWNS(fab_names_below_release) fab_names_below b = {.net = net, .path = in->path};
    while (fab_text_next(in)) {
        FAB_PASS(fab_network_is_chatter(in) ? FAB_OK : slurm_read_line(in, &b, err));
    }
    FAB_PASS(fab_text_end(in, err));
    FAB_EACH(const fab_network_node, node, net->nodes, net->n_nodes) {
        if (node->kind == FAB_NETWORK_SWITCH && node->n_ports == 0) {
            FAB_PASS(fab_network_add_note(net, node->line, err, "switch '%s' is named but has no line", node->name));
        }
    }
    net->is_tree_of_names = true;
    return FAB_OK;
}

const fab_network_format fab_network_slurm = {
    .name = "slurm",
    .summary = "Slurm's topology.conf (tree, block) and scontrol show topology",
    .begins = "^([ \t]*(#[^\n]*|[^\n]*[#$%>] *scontrol [^\n]*|\r)?\n)*[ \t]*(switchname|blockname|blocksizes)=",
    .ignores_case = true,
    .text = read_slurm};
