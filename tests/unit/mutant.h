/**
 * @file mutant.h
 * Networks that are changed in one place, for tests of audits: a copy of what was read or built, in arrays that can be
 * edited, and a network made of it again.
 */
#pragma once

#include "fab/audit.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/network_of.h"
#include "fab/rng.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTANT_NAME 96

typedef struct mutant_node {
    char name[MUTANT_NAME], label[MUTANT_NAME], host[MUTANT_NAME];
    fab_network_kind kind;
    uint64_t guid, system_guid;
    uint32_t n_ports;
    bool is_gone;
} mutant_node;

typedef struct mutant_cable {
    uint32_t node[2];
    char port[2][16];
    double rate_bps;
    bool is_gone, is_one_sided;
} mutant_cable;

typedef struct mutant {
    uint32_t n_nodes, n_cables;
    mutant_node *nodes;
    mutant_cable *cables;
} mutant;

static inline void mutant_set(char *to, size_t size, const char *from) {
    (void)snprintf(to, size, "%s", from != NULL ? from : "");
}

static inline void mutant_reserve(mutant *m, uint32_t n_nodes, uint32_t n_cables) {
    m->nodes = realloc(m->nodes, (n_nodes + 1) * sizeof *m->nodes);
    m->cables = realloc(m->cables, (n_cables + 1) * sizeof *m->cables);
    cr_assert(m->nodes != NULL && m->cables != NULL);
}

static inline mutant mutant_of(const fab_network *net) {
    mutant m = {.nodes = NULL};
    mutant_reserve(&m, net->n_nodes, net->n_cables);
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *from = &net->nodes[v];
        mutant_node *to = &m.nodes[m.n_nodes++];
        *to = (mutant_node){
            .kind = from->kind, .guid = from->guid, .system_guid = from->system_guid, .n_ports = from->n_ports};
        mutant_set(to->name, sizeof to->name, from->name);
        mutant_set(to->label, sizeof to->label, from->label);
        mutant_set(to->host, sizeof to->host, from->host);
    }
    for (uint32_t c = 0; c < net->n_cables; c++) {
        const fab_network_cable *from = &net->cables[c];
        mutant_cable *to = &m.cables[m.n_cables++];
        *to = (mutant_cable){.rate_bps = from->rate_bps};
        for (uint32_t i = 0; i < 2; i++) {
            to->node[i] = from->end[i].node;
            mutant_set(to->port[i], sizeof to->port[i], from->end[i].port);
        }
    }
    return m;
}

static inline mutant mutant_copy(const mutant *from) {
    mutant m = *from;
    m.nodes = NULL;
    m.cables = NULL;
    mutant_reserve(&m, from->n_nodes + 8, from->n_cables + 64);
    memcpy(m.nodes, from->nodes, from->n_nodes * sizeof *m.nodes);
    memcpy(m.cables, from->cables, from->n_cables * sizeof *m.cables);
    return m;
}

static inline void mutant_release(mutant *m) {
    FAB_FREE_ALL(m->nodes, m->cables);
    *m = (mutant){.nodes = NULL};
}

/** As a reader would give it: what has no cable is in no list of cables. */
static inline fab_network *mutant_network(const mutant *m) {
    fab_network *net = NULL;
    fab_error err = {0};
    uint32_t *node = calloc(m->n_nodes + 1, sizeof *node);
    cr_assert_eq(fab_network_new("mutant", &net, &err), FAB_OK);
    net->format = "mutant";
    net->has_ports = net->reports_both_ends = net->keeps_contradictions = true;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        const mutant_cable *from = &m->cables[c];
        fab_network_cable cable = {.rate_bps = from->rate_bps};
        if (from->is_gone) {
            continue;
        }
        for (uint32_t i = 0; i < 2; i++) {
            const mutant_node *n = &m->nodes[from->node[i]];
            if (node[from->node[i]] == 0) {
                uint32_t v = 0;
                cr_assert_eq(fab_network_add_node(net, n->name, strlen(n->name), c + 1, &v, &err), FAB_OK);
                fab_network_node *to = &net->nodes[v];
                to->kind = n->kind;
                to->guid = n->guid;
                to->system_guid = n->system_guid;
                to->n_ports = n->n_ports;
                cr_assert_eq(fab_network_text(net, n->label, strlen(n->label), &to->label, &err), FAB_OK);
                if (n->host[0] != '\0') {
                    cr_assert_eq(fab_network_text(net, n->host, strlen(n->host), &to->host, &err), FAB_OK);
                }
                node[from->node[i]] = v + 1;
            }
            cable.end[i].node = node[from->node[i]] - 1;
            cable.end[i].port = from->port[i][0] != '\0' ? from->port[i] : NULL;
            cable.end[i].line = from->is_one_sided && i == 1 ? 0 : c + 1;
        }
        cr_assert_eq(fab_network_add_cable(net, &cable, NULL, &err), FAB_OK, "%s", err.text);
    }
    free(node);
    return net;
}

static inline mutant mutant_build(const char *text) {
    fab_error err = {0};
    fab_fabric *graph = NULL;
    fab_network *net = NULL;
    fab_design *design = calloc(1, sizeof *design);
    cr_assert_eq(fab_design_read(text, NULL, 0, design, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_topology_build(&design->fabric, &graph, NULL, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_network_of_fabric(graph, &net, &err), FAB_OK, "%s: %s", text, err.text);
    fab_fabric_free(graph);
    free(design);
    mutant m = mutant_of(net);
    fab_network_free(net);
    return m;
}

static inline mutant mutant_read(const char *path) {
    fab_error err = {0};
    fab_network *net = NULL;
    cr_assert_eq(fab_network_read(path, NULL, 0, &net, &err), FAB_OK, "%s: %s", err.where, err.text);
    mutant m = mutant_of(net);
    fab_network_free(net);
    return m;
}

static inline bool mutant_is_host(const mutant *m, uint32_t v) {
    return m->nodes[v].kind == FAB_NETWORK_ADAPTER || m->nodes[v].kind == FAB_NETWORK_HOST;
}
static inline bool mutant_is_switch(const mutant *m, uint32_t v) {
    return m->nodes[v].kind == FAB_NETWORK_SWITCH;
}

static inline uint32_t mutant_add_node(mutant *m, const char *label, const char *host, fab_network_kind kind) {
    mutant_reserve(m, m->n_nodes + 1, m->n_cables);
    mutant_node *n = &m->nodes[m->n_nodes];
    *n = (mutant_node){.kind = kind};
    mutant_set(n->name, sizeof n->name, label);
    mutant_set(n->label, sizeof n->label, label);
    mutant_set(n->host, sizeof n->host, host);
    return m->n_nodes++;
}

/** One more than the largest number of a port. */
static inline unsigned mutant_free_port(const mutant *m, uint32_t v) {
    unsigned most = 0;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        for (uint32_t i = 0; i < 2; i++) {
            unsigned port = (unsigned)strtoul(m->cables[c].port[i], NULL, 10);
            most = m->cables[c].node[i] == v && port > most ? port : most;
        }
    }
    return most + 1;
}

static inline uint32_t mutant_add_cable(mutant *m, uint32_t a, uint32_t b, double rate_bps) {
    mutant_reserve(m, m->n_nodes, m->n_cables + 1);
    mutant_cable *c = &m->cables[m->n_cables];
    *c = (mutant_cable){.node = {a, b}, .rate_bps = rate_bps};
    unsigned port = mutant_free_port(m, a);
    (void)snprintf(c->port[0], sizeof c->port[0], "%u", port);
    (void)snprintf(c->port[1], sizeof c->port[1], "%u", a == b ? port + 1 : mutant_free_port(m, b));
    return m->n_cables++;
}

static inline void mutant_drop_node(mutant *m, uint32_t v) {
    m->nodes[v].is_gone = true;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        m->cables[c].is_gone = m->cables[c].is_gone || m->cables[c].node[0] == v || m->cables[c].node[1] == v;
    }
}

/** Exchanges what is plugged in at end i of two cables. */
static inline void mutant_exchange(mutant *m, uint32_t a, uint32_t i, uint32_t b, uint32_t k) {
    mutant_cable *x = &m->cables[a];
    mutant_cable *y = &m->cables[b];
    uint32_t node = x->node[i];
    char port[16];
    memcpy(port, x->port[i], sizeof port);
    x->node[i] = y->node[k];
    memcpy(x->port[i], y->port[k], sizeof port);
    y->node[k] = node;
    memcpy(y->port[k], port, sizeof port);
}
