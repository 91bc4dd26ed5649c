/* Trunks between switches of neighbouring tiers. Switches that are joined make blocks (a pod, a plane, a spine group);
 * in a block where nearly all pairs of a lower and an upper switch have a trunk, all should, each of as many cables as
 * most have. */
#include "audit_internal.h"

#include "fab/graph_parts.h"
#include "fab/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY 0.75 /* part of the pairs of a block */

typedef struct trunks {
    uint32_t tier; /* upper */
    uint32_t n_lower, n_upper;
    uint32_t *lower, *upper; /* nodes, by number; of the block at hand */
    uint32_t *column;        /* [n_nodes]: place in upper */
    uint32_t *next;          /* [n_nodes]: the next one of the block, ascending; FAB_NETWORK_NONE */
    uint32_t *count;         /* [n_lower][n_upper] cables */
    uint32_t *block;         /* [n_nodes]: least node of its block; FAB_NETWORK_NONE outside the two tiers */
    uint32_t usual;          /* cables of a trunk */
    uint32_t *usual_of;      /* [n_nodes]: by the least node of a block; 0 where it is not regular */
    double rate_bps;         /* of a cable */
} trunks;

static bool is_in_tier(const auditor *a, uint32_t v, uint32_t tier) {
    return a->net->nodes[v].kind == FAB_NETWORK_SWITCH && a->shape->tier[v] == tier;
}

static fab_status find_blocks(const auditor *a, trunks *t, fab_error *err) {
    fab_status status = FAB_OK;
    fab_edges joined = {.n = 0};
    uint32_t *head = NULL; /* [least node of a block]: its first node so far, + 1 */
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        uint32_t x = a->net->cables[c].end[0].node;
        uint32_t y = a->net->cables[c].end[1].node;
        if ((is_in_tier(a, x, t->tier) && is_in_tier(a, y, t->tier - 1)) ||
            (is_in_tier(a, y, t->tier) && is_in_tier(a, x, t->tier - 1))) {
            FAB_TRY(fab_edges_add(&joined, x, y, err));
        }
    }
    FAB_TRY(fab_graph_components(a->net->n_nodes, &joined, t->block, err));
    FAB_TRY(FAB_NEW(head, a->net->n_nodes, err));
    for (uint32_t v = a->net->n_nodes; v-- > 0;) {
        t->next[v] = head[t->block[v]] - 1; /* wraps to FAB_NETWORK_NONE */
        head[t->block[v]] = v + 1;
        t->block[v] = is_in_tier(a, v, t->tier - 1) || is_in_tier(a, v, t->tier) ? t->block[v] : FAB_NETWORK_NONE;
    }
done:
    free(head);
    fab_edges_release(&joined);
    return status;
}

static void audit_trunks_gather(const auditor *a, trunks *t, uint32_t root) {
    t->n_lower = t->n_upper = 0;
    for (uint32_t v = root; v != FAB_NETWORK_NONE; v = t->next[v]) {
        if (a->shape->tier[v] == t->tier) {
            t->column[v] = t->n_upper;
            t->upper[t->n_upper++] = v;
        } else {
            t->lower[t->n_lower++] = v;
        }
    }
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

/* Port of `near` that most of its peers use towards... the other way round: the k-th port by which peers of `from`
 * reach `to`. NULL: peers do not agree, or the port is taken. */
static const char *usual_port(const auditor *a, const trunks *t, uint32_t from, uint32_t to, uint32_t k) {
    const uint32_t *peers = a->shape->tier[from] == t->tier ? t->upper : t->lower;
    uint32_t n_peers = a->shape->tier[from] == t->tier ? t->n_upper : t->n_lower;
    const char *best = NULL;
    uint32_t most = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n_peers; i++) {
            uint32_t seen = 0;
            for (uint32_t j = a->shape->first[peers[i]]; j < a->shape->first[peers[i] + 1]; j++) {
                uint32_t side = a->shape->side[j];
                const char *port = fab_network_near(a->net, side)->port;
                if (fab_network_far(a->net, side)->node != to || port == NULL || seen++ != k) {
                    continue;
                }
                if (pass == 0 && most == 0) { /* Boyer and Moore's majority vote */
                    best = port;
                    most = 1;
                } else if (pass == 0) {
                    most = strcmp(port, best) == 0 ? most + 1 : most - 1;
                } else {
                    most += strcmp(port, best) == 0;
                }
            }
        }
        if (best == NULL) {
            return NULL;
        }
        most = pass == 0 ? 0 : most;
    }
    for (uint32_t j = a->shape->first[from]; j < a->shape->first[from + 1]; j++) {
        const char *port = fab_network_near(a->net, a->shape->side[j])->port;
        if (port != NULL && strcmp(port, best) == 0) {
            return NULL;
        }
    }
    return 2 * most > n_peers ? best : NULL;
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

/* "35 and 36", "35", or "" where peers do not tell. */
static const char *free_ports(const auditor *a, const trunks *t, uint32_t from, uint32_t to, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < t->usual && n < size; k++) {
        const char *port = usual_port(a, t, from, to, k);
        if (port != NULL) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? " and " : "", port);
        }
    }
    return out;
}

static fab_status report_missing(auditor *a, const trunks *t, uint32_t x, uint32_t y, uint32_t there, fab_error *err) {
    char here[64];
    char far[64];
    uint32_t lower = t->lower[x];
    uint32_t upper = t->upper[y];
    uint32_t lacks = t->usual - there;
    fab_finding f = {.kind = FAB_FINDING_MISSING_CABLE,
                     .damage_bps = lacks * t->rate_bps,
                     .cables = lacks,
                     .node = fab_audit_label(a, lower),
                     .port = free_ports(a, t, lower, upper, here, sizeof here),
                     .other = fab_audit_label(a, upper),
                     .other_port = free_ports(a, t, upper, lower, far, sizeof far)};
    FAB_PASS(fab_audit_text(a, &f.text, err, "%u of %u cables of this trunk are missing", (unsigned)lacks,
                            (unsigned)t->usual));
    FAB_PASS(fab_audit_text(a, &f.work, err, "Plug %u cable%s from %s%s%s to %s%s%s.", (unsigned)lacks,
                            lacks > 1 ? "s" : "", f.node, f.port[0] != '\0' ? ", port " : "", f.port, f.other,
                            f.other_port[0] != '\0' ? ", port " : "", f.other_port));
    FAB_PASS(fab_audit_add(a, &f, err));
    const fab_audit_lack lack = {.node = {lower, upper}, .cables = lacks, .rate_bps = t->rate_bps};
    return fab_audit_add_lack(a, &lack, err);
}

static fab_status report_extra(auditor *a, const trunks *t, uint32_t x, uint32_t y, uint32_t there, fab_error *err) {
    uint32_t more = there - t->usual;
    fab_finding f = {.kind = FAB_FINDING_EXTRA_CABLE,
                     .cables = more,
                     .node = fab_audit_label(a, t->lower[x]),
                     .other = fab_audit_label(a, t->upper[y]),
                     .work = "See whether a trunk that lacks a cable should have it."};
    FAB_PASS(
        fab_audit_text(a, &f.text, err, "this trunk has %u cables, its peers %u", (unsigned)there, (unsigned)t->usual));
    return fab_audit_add(a, &f, err);
}

/* What most trunks of the block have. */
static uint32_t usual_count(const trunks *t) {
    uint32_t best = 0;
    uint32_t most = 0;
    uint32_t largest = 0;
    size_t n = (size_t)t->n_lower * t->n_upper;
    for (size_t i = 0; i < n; i++) {
        largest = t->count[i] > largest ? t->count[i] : largest;
    }
    for (uint32_t c = 1; c <= largest; c++) {
        uint32_t same = 0;
        for (size_t i = 0; i < n; i++) {
            same += t->count[i] == c;
        }
        if (same >= most && same > 0) {
            most = same;
            best = c;
        }
    }
    return best;
}

static fab_status look_at_block(auditor *a, trunks *t, fab_error *err) {
    uint32_t joined = 0;
    size_t n = (size_t)t->n_lower * t->n_upper;
    fab_audit_boundary *b = &a->out->boundary[t->tier - 1];
    free(t->count);
    t->count = NULL;
    FAB_PASS(FAB_NEW(t->count, n, err));
    for (uint32_t x = 0; x < t->n_lower; x++) {
        for (uint32_t j = a->shape->first[t->lower[x]]; j < a->shape->first[t->lower[x] + 1]; j++) {
            uint32_t w = fab_network_far(a->net, a->shape->side[j])->node;
            if (is_in_tier(a, w, t->tier)) {
                joined += t->count[(size_t)x * t->n_upper + t->column[w]]++ == 0;
            }
        }
    }
    t->usual = usual_count(t);
    bool regular = n > 1 && joined >= NEARLY * (double)n;
    t->usual_of[t->block[t->lower[0]]] = regular ? t->usual : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t planned = regular ? t->usual : t->count[i];
        b->planned += planned;
        b->present += t->count[i] < planned ? t->count[i] : planned;
        uint32_t x = (uint32_t)(i / t->n_upper);
        uint32_t y = (uint32_t)(i % t->n_upper);
        if (t->count[i] < planned) {
            FAB_PASS(report_missing(a, t, x, y, t->count[i], err));
        } else if (t->count[i] > planned) {
            FAB_PASS(report_extra(a, t, x, y, t->count[i], err));
        }
    }
    return FAB_OK;
}

/* --- absent switches ---------------------------------------------------------------------------------------------- */

/* The block that an absent switch would be in: that of all peers that differ from it in one coordinate, where there is
 * one such block. */
static uint32_t block_of_absent(const auditor *a, const trunks *t, const absent_switch *s) {
    uint32_t found = FAB_NETWORK_NONE;
    for (uint32_t axis = 0; axis < FAB_AUDIT_AXES; axis++) {
        uint32_t first = s->first[axis];
        uint32_t root = first < s->first[axis + 1] ? t->block[a->peer[first]] : FAB_NETWORK_NONE;
        for (uint32_t i = first; i < s->first[axis + 1]; i++) {
            root = t->block[a->peer[i]] == root ? root : FAB_NETWORK_NONE;
        }
        if (root != FAB_NETWORK_NONE && found != FAB_NETWORK_NONE && root != found) {
            return FAB_NETWORK_NONE;
        }
        found = root != FAB_NETWORK_NONE ? root : found;
    }
    return found != FAB_NETWORK_NONE && t->usual_of[found] > 0 ? found : FAB_NETWORK_NONE;
}

/* Trunks from an absent switch to all switches of the other tier of its block, absent ones that are placed included. */
static fab_status place_absent(auditor *a, trunks *t, uint32_t index, fab_error *err) {
    absent_switch *s = &a->absent[index];
    uint32_t n = a->net->n_nodes;
    s->block = block_of_absent(a, t, s);
    if (s->block == FAB_NETWORK_NONE) {
        a->out->unplaced = a->out->unplaced == NULL ? s->name : a->out->unplaced;
        return FAB_OK;
    }
    fab_audit_lack lack = {.node = {0, n + index}, .cables = t->usual_of[s->block], .rate_bps = t->rate_bps};
    for (uint32_t v = 0; v < n; v++) {
        if (t->block[v] == s->block && a->shape->tier[v] != s->tier) {
            lack.node[0] = v;
            FAB_PASS(fab_audit_add_lack(a, &lack, err));
        }
    }
    for (uint32_t i = 0; i < index; i++) {
        if (a->absent[i].block == s->block && a->absent[i].tier != s->tier) {
            lack.node[0] = n + i;
            FAB_PASS(fab_audit_add_lack(a, &lack, err));
        }
    }
    return FAB_OK;
}

static fab_status look_at_tier(auditor *a, trunks *t, fab_error *err) {
    t->rate_bps = a->usual_bps[t->tier];
    memset(t->usual_of, 0, a->net->n_nodes * sizeof *t->usual_of);
    FAB_PASS(find_blocks(a, t, err));
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        if (t->block[v] == v) {
            audit_trunks_gather(a, t, v);
            if (t->n_lower > 0 && t->n_upper > 0) {
                FAB_PASS(look_at_block(a, t, err));
            }
        }
    }
    for (uint32_t i = 0; i < a->out->n_absent; i++) {
        a->absent[i].block = FAB_NETWORK_NONE;
        if (a->absent[i].tier == t->tier || a->absent[i].tier + 1 == t->tier) {
            FAB_PASS(place_absent(a, t, i, err));
        }
    }
    return FAB_OK;
}

fab_status fab_audit_trunks(auditor *a, fab_error *err) {
    fab_status status = FAB_OK;
    trunks t = {.tier = 0};
    uint32_t n = a->net->n_nodes;
    if (a->net->is_tree_of_names) { /* one line for a trunk of any width */
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(t.lower, n, err));
    FAB_TRY(FAB_NEW(t.upper, n, err));
    FAB_TRY(FAB_NEW(t.column, n, err));
    FAB_TRY(FAB_NEW(t.next, n, err));
    FAB_TRY(FAB_NEW(t.block, n, err));
    FAB_TRY(FAB_NEW(t.usual_of, n, err));
    for (t.tier = 2; t.tier <= a->out->n_boundaries; t.tier++) {
        FAB_TRY(look_at_tier(a, &t, err));
    }
done:
    FAB_FREE_ALL(t.lower, t.upper, t.column, t.next, t.block, t.usual_of, t.count);
    return status;
}
