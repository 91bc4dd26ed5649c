/*
 * Topologies of htsim (.topo): leaf-spine and fat trees by the figures of their tiers. What the figures give is built
 * as htsim builds it [Broadcom csg-htsim, sim/datacenter/fat_tree_topology.cpp]: hosts leaf by leaf, a pod's leaves to
 * all of its spines, spine i of every pod to the cores i, i + s, i + 2s, ... where a pod has s spines.
 *
 * A switch's latency is that of a cable at either side, half each: the sum along any path is htsim's.
 */
#include "network_internal.h"

#include <strings.h>

#define TIERS       3
#define MOST_CABLES (UINT64_C(1) << 24)
#define MOST_NODES  (UINT64_C(1) << 24)
#define MOST        (UINT64_C(1) << 20) /* of any other figure: three of them multiplied fit 64 bits */

enum { NODES, N_TIERS, PODSIZE, N_HEADER };
enum { SPEED, UP, DOWN, OVERSUBSCRIBED, BUNDLE, SWITCH_LATENCY, LINK_LATENCY, N_KEYS };

static const char *const HEADER_KEYS[N_HEADER] = {"Nodes", "Tiers", "Podsize"};
static const char *const TIER_KEYS[N_KEYS] = {"Downlink_speed_Gbps", "Radix_Up", "Radix_Down",
                                              "Oversubscribed",      "Bundle",   "Switch_Latency_ns",
                                              "Downlink_Latency_ns"};

typedef struct figure {
    uint64_t value;
    size_t line, column; /* 0: not given */
} figure;

typedef struct reader {
    fab_text *in;
    fab_network *net;
    figure header[N_HEADER], tier[TIERS][N_KEYS], section[TIERS];
} reader;

/* What follows from the figures. */
typedef struct plan {
    uint64_t tiers, hosts, pods, leaves, spines, cores; /* leaves and spines of a pod */
    uint64_t cables;
} plan;

static bool htsim_is_word(fab_token t, const char *word) {
    return t.length == strlen(word) && strncasecmp(t.text, word, t.length) == 0;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static fab_status read_figure(const reader *r, fab_token key, uint64_t least, uint64_t most, figure *out,
                              fab_error *err) {
    fab_token t = fab_text_token(r->in);
    fab_token more = fab_text_token(r->in);
    uint64_t value = 0;
    FAB_RETURN_IF(t.length == 0, fab_text_refuse(r->in, key, err, "has no value; a whole number was expected"));
    FAB_RETURN_IF(!fab_token_number(t, &value) || value < least || value > most,
                  fab_text_refuse(r->in, t, err, "is no whole number from %" PRIu64 " to %" PRIu64, least, most));
    FAB_RETURN_IF(more.length > 0, fab_text_refuse(r->in, more, err, "stands where the end of the line was expected"));
    FAB_RETURN_IF(out->line > 0,
                  fab_text_refuse(r->in, key, err, "is given twice; line %zu has it already", out->line));
    *out = (figure){value, r->in->line, t.column};
    return FAB_OK;
}

/* The line that begins with `key`; `tier` is that of the section, or TIERS in the header. */
static fab_status read_key(reader *r, fab_token key, uint64_t tier, fab_error *err) {
    bool in_header = tier == TIERS;
    for (size_t i = 0; i < N_HEADER; i++) {
        if (htsim_is_word(key, HEADER_KEYS[i])) {
            return in_header ? read_figure(r, key, 1, MOST_NODES, &r->header[i], err)
                             : fab_text_refuse(r->in, key, err, "stands behind the first Tier; it belongs before");
        }
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        if (htsim_is_word(key, TIER_KEYS[i])) {
            return in_header ? fab_text_refuse(r->in, key, err, "stands before the first Tier; it belongs to one")
                             : read_figure(r, key, i == SWITCH_LATENCY ? 0 : 1, MOST, &r->tier[tier][i], err);
        }
    }
    /* Queue sizes and the like, which htsim itself passes over where it does not know them. */
    return fab_network_add_note(r->net, r->in->line, err, "'%.*s' is not known and was passed over",
                                (int)(key.length < 60 ? key.length : 60), key.text);
}

static fab_status read_lines(reader *r, fab_error *err) {
    uint64_t tier = TIERS;
    while (fab_text_next(r->in)) {
        fab_token key = fab_text_token(r->in);
        if (!htsim_is_word(key, "Tier")) {
            FAB_PASS(read_key(r, key, tier, err));
            continue;
        }
        figure number = {0};
        FAB_PASS(read_figure(r, key, 0, TIERS - 1, &number, err));
        tier = number.value;
        FAB_RETURN_IF(r->section[tier].line > 0,
                      fab_text_refuse(r->in, (fab_token){.column = key.column}, err,
                                      "Tier %" PRIu64 " is given twice; line %zu begins it already", tier,
                                      r->section[tier].line));
        r->section[tier] = number;
    }
    return FAB_OK;
}

/* --- do the figures fit? ------------------------------------------------------------------------------------------ */

static fab_status check_given(reader *r, fab_error *err) {
    for (size_t i = 0; i < N_HEADER; i++) {
        FAB_RETURN_IF(r->header[i].line == 0, fab_text_fail(r->in, err, "the file ends without %s", HEADER_KEYS[i]));
    }
    uint64_t n = r->header[N_TIERS].value;
    FAB_RETURN_IF(n < 2 || n > TIERS,
                  fab_fail_in_file(err, r->in->path, r->header[N_TIERS].line, r->header[N_TIERS].column,
                                   "Tiers is %" PRIu64 "; htsim has 2 or 3", n));
    for (size_t t = 0; t < TIERS; t++) {
        bool is_top = t + 1 == n;
        FAB_RETURN_IF(t >= n && r->section[t].line > 0,
                      fab_fail_in_file(err, r->in->path, r->section[t].line, r->section[t].column,
                                       "Tier %zu; there are %" PRIu64, t, n));
        for (size_t key = 0; key < N_KEYS && t < n; key++) {
            figure *f = &r->tier[t][key];
            bool needed = key == SPEED || key == DOWN || key == LINK_LATENCY || (key == UP && !is_top);
            FAB_RETURN_IF(needed && f->line == 0,
                          fab_text_fail(r->in, err, "the file ends without %s of Tier %zu", TIER_KEYS[key], t));
            if (f->line == 0 && (key == BUNDLE || key == OVERSUBSCRIBED)) {
                f->value = 1;
            }
        }
    }
    return FAB_OK;
}

/* What speeds and oversubscription say must agree with the radices. */
static fab_status check_taper(const reader *r, size_t tier, fab_error *err) {
    const figure *f = r->tier[tier];
    uint64_t down = f[DOWN].value * f[SPEED].value;
    uint64_t up = f[UP].value * r->tier[tier + 1][SPEED].value;
    FAB_RETURN_IF(down != f[OVERSUBSCRIBED].value * up,
                  fab_fail_in_file(err, r->in->path, f[UP].line, f[UP].column,
                                   "Radix_Up %" PRIu64 ": %" PRIu64 " Gb/s down and %" PRIu64 " up are not %" PRIu64
                                   ":1, as Oversubscribed says",
                                   f[UP].value, down, up, f[OVERSUBSCRIBED].value));
    return FAB_OK;
}

/* What was read is at least 1, and what may be left out is 1 then. */
static uint64_t divisor(const figure *f) {
    return f->value > 0 ? f->value : 1;
}

static fab_status plan_spines(const reader *r, plan *p, fab_error *err) {
    const figure *agg = r->tier[1];
    uint64_t up = r->tier[0][UP].value;
    uint64_t bundle = divisor(&agg[BUNDLE]);
    p->spines = up / bundle;
    FAB_RETURN_IF(up % bundle != 0 || p->leaves * bundle != agg[DOWN].value,
                  fab_fail_in_file(err, r->in->path, agg[DOWN].line, agg[DOWN].column,
                                   "Radix_Down %" PRIu64 ": the %" PRIu64 " leaves of a pod, %" PRIu64
                                   " uplinks each, in bundles of %" PRIu64 ", need %" PRIu64,
                                   agg[DOWN].value, p->leaves, up, bundle, p->leaves * bundle));
    return check_taper(r, 0, err);
}

static fab_status plan_cores(const reader *r, plan *p, fab_error *err) {
    const figure *core = r->tier[2];
    uint64_t up = r->tier[1][UP].value;
    uint64_t bundle = divisor(&core[BUNDLE]);
    FAB_RETURN_IF(up % bundle != 0 || p->pods * bundle != core[DOWN].value,
                  fab_fail_in_file(err, r->in->path, core[DOWN].line, core[DOWN].column,
                                   "Radix_Down %" PRIu64 ": %" PRIu64 " pods, %" PRIu64
                                   " uplinks of a spine, in bundles of %" PRIu64 ", need %" PRIu64,
                                   core[DOWN].value, p->pods, up, bundle, p->pods * bundle));
    p->cores = p->spines * (up / bundle);
    return check_taper(r, 1, err);
}

/* Leaves, spines and cores from the radices. */
static fab_status make_plan(const reader *r, plan *out, fab_error *err) {
    const figure *tor = r->tier[0];
    const figure *agg = r->tier[1];
    uint64_t pod = divisor(&r->header[PODSIZE]);
    plan p = {.tiers = r->header[N_TIERS].value, .hosts = r->header[NODES].value};
    FAB_RETURN_IF(p.hosts % pod != 0,
                  fab_fail_in_file(err, r->in->path, r->header[PODSIZE].line, r->header[PODSIZE].column,
                                   "Podsize %" PRIu64 " does not divide %" PRIu64 " nodes", pod, p.hosts));
    p.pods = p.hosts / pod;
    FAB_RETURN_IF(p.tiers == 2 && p.pods != 1,
                  fab_fail_in_file(err, r->in->path, r->header[PODSIZE].line, r->header[PODSIZE].column,
                                   "Podsize %" PRIu64 "; with 2 tiers all %" PRIu64 " nodes are one pod", pod,
                                   p.hosts));
    FAB_RETURN_IF(pod % divisor(&tor[DOWN]) != 0,
                  fab_fail_in_file(err, r->in->path, tor[DOWN].line, tor[DOWN].column,
                                   "Radix_Down %" PRIu64 " does not divide a pod of %" PRIu64, tor[DOWN].value, pod));
    FAB_RETURN_IF(tor[BUNDLE].value != 1,
                  fab_fail_in_file(err, r->in->path, tor[BUNDLE].line, tor[BUNDLE].column,
                                   "Bundle %" PRIu64 " in tier 0; hosts have one cable", tor[BUNDLE].value));
    p.leaves = pod / divisor(&tor[DOWN]);
    FAB_PASS(plan_spines(r, &p, err));
    FAB_PASS(p.tiers == 3 ? plan_cores(r, &p, err) : FAB_OK);
    p.cables = p.hosts + p.pods * p.leaves * tor[UP].value + (p.tiers == 3 ? p.pods * p.spines * agg[UP].value : 0);
    if (p.cables > MOST_CABLES) {
        r->in->line = r->header[NODES].line;
        return fab_text_unable(r->in, (fab_token){.column = 1}, err, "%" PRIu64 " cables; the limit is %" PRIu64,
                               p.cables, MOST_CABLES);
    }
    *out = p;
    return FAB_OK;
}

/* --- the network -------------------------------------------------------------------------------------------------- */

static fab_status add_box(fab_network *net, const char *kind, uint64_t number, uint32_t tier, size_t line,
                          uint32_t *out, fab_error *err) {
    char name[32];
    int n = snprintf(name, sizeof name, "%s-%" PRIu64, kind, number);
    FAB_PASS(fab_network_add_node(net, name, (size_t)n, line, out, err));
    fab_network_node *node = &net->nodes[*out];
    node->kind = tier == 0 ? FAB_NETWORK_HOST : FAB_NETWORK_SWITCH;
    node->tier = tier;
    node->rank = tier == 0 ? (uint32_t)number : FAB_NETWORK_NONE;
    return FAB_OK;
}

/* A bundle between a box and the one above, whose tier (from 0) has the cables. */
static fab_status add_bundle(const reader *r, size_t tier, uint32_t below, uint32_t above, fab_error *err) {
    const figure *f = r->tier[tier];
    uint64_t half_ns = f[SWITCH_LATENCY].value + (tier > 0 ? r->tier[tier - 1][SWITCH_LATENCY].value : 0);
    size_t line = r->section[tier].line;
    const fab_network_cable cable = {.end = {{.node = below, .line = line}, {.node = above, .line = line}},
                                     .rate_bps = (double)f[SPEED].value * 1e9,
                                     .latency_s = ((double)f[LINK_LATENCY].value + (double)half_ns / 2) * 1e-9};
    for (uint64_t i = 0; i < f[BUNDLE].value; i++) {
        FAB_PASS(fab_network_add_cable(r->net, &cable, NULL, err));
    }
    return FAB_OK;
}

/* Boxes in the order hosts, leaves, spines, cores: first[] are the nodes of their number 0. */
static fab_status add_boxes(const reader *r, const plan *p, uint32_t first[4], fab_error *err) {
    static const char *const KINDS[] = {"host", "tor", "agg", "core"};
    const uint64_t n[] = {p->hosts, p->pods * p->leaves, p->pods * p->spines, p->cores};
    for (uint32_t tier = 0; tier < 4; tier++) {
        first[tier] = r->net->n_nodes;
        for (uint64_t i = 0; i < n[tier]; i++) {
            uint32_t node = 0;
            size_t line = tier == 0 ? r->header[NODES].line : r->section[tier - 1].line;
            FAB_PASS(add_box(r->net, KINDS[tier], i, tier, line, &node, err));
        }
    }
    return FAB_OK;
}

static fab_status add_cables(const reader *r, const plan *p, const uint32_t first[4], fab_error *err) {
    uint64_t per_leaf = divisor(&r->tier[0][DOWN]);
    for (uint64_t host = 0; host < p->hosts; host++) {
        FAB_PASS(add_bundle(r, 0, first[0] + (uint32_t)host, first[1] + (uint32_t)(host / per_leaf), err));
    }
    for (uint64_t leaf = 0; leaf < p->pods * p->leaves; leaf++) {
        for (uint64_t i = 0; i < p->spines; i++) {
            uint64_t spine = leaf / p->leaves * p->spines + i;
            FAB_PASS(add_bundle(r, 1, first[1] + (uint32_t)leaf, first[2] + (uint32_t)spine, err));
        }
    }
    for (uint64_t spine = 0; spine < p->pods * p->spines && p->tiers == 3; spine++) {
        for (uint64_t core = spine % p->spines; core < p->cores; core += p->spines) {
            FAB_PASS(add_bundle(r, 2, first[2] + (uint32_t)spine, first[3] + (uint32_t)core, err));
        }
    }
    return FAB_OK;
}

static fab_status read_htsim(fab_text *in, fab_network *net, fab_error *err) {
    reader r = {.in = in, .net = net};
    plan p = {0};
    uint32_t first[4] = {0};
    FAB_PASS(read_lines(&r, err));
    FAB_PASS(fab_text_end(in, err));
    FAB_PASS(check_given(&r, err));
    FAB_PASS(make_plan(&r, &p, err));
    FAB_PASS(fab_network_expect(net, p.hosts + p.pods * (p.leaves + p.spines) + p.cores, p.cables, err));
    FAB_PASS(add_boxes(&r, &p, first, err));
    return add_cables(&r, &p, first, err);
}

/* Lines of the header alone, up to the first tier; a connection matrix has other keys below Nodes. */
#define END_OF_KEY    "([ \t\r][^\n]*)?"
#define LINE_BEFORE   "[ \t\r]*(#[^\n]*|Nodes" END_OF_KEY ")?\n"
#define LINE_OF_SIZES "\n[ \t\r]*(#[^\n]*|(Nodes|Tiers|Podsize)" END_OF_KEY ")?"

const fab_network_format fab_network_htsim = {
    .name = "htsim",
    .summary = "htsim's .topo: leaf-spine and fat trees by the figures of their tiers",
    .begins = "^(" LINE_BEFORE ")*[ \t\r]*(Tiers|Podsize)" END_OF_KEY "(" LINE_OF_SIZES ")*"
              "(\n[ \t\r]*Tier[ \t\r\n]|$)",
    .ignores_case = true,
    .text = read_htsim};
