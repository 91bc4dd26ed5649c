/**
 * @file mutant_subject.h
 * Fabrics that faults are made in: built, read from samples, and with what real ones have beside.
 */
#pragma once

#include "mutant.h"

#include "fab/str.h"

/** A fabric without faults, and what its names say. */
typedef struct subject {
    char name[128];
    mutant whole;
    uint32_t *tier;         /**< [n_nodes]: of a switch, from its name; 0: host */
    bool is_direct;         /**< no tiers: switches are joined among themselves */
    bool ports_are_sorted;  /**< hosts stand at the ports of a leaf in the order of their names */
    bool leaves_are_sorted; /**< hosts of a leaf follow each other */
    unsigned n_planes;
    unsigned group; /**< switches of a group of a dragonfly, by number; 0: there are none */
} subject;

static inline uint32_t mutation_tier(const mutant *m, uint32_t v) {
    const char *label = m->nodes[v].label;
    if (!mutant_is_switch(m, v)) {
        return 0;
    }
    return strstr(label, "core") != NULL || strstr(label, "CORE") != NULL     ? 3
           : strstr(label, "spine") != NULL || strstr(label, "SPINE") != NULL ? 2
                                                                              : 1;
}

static inline const char *mutation_server(const mutant *m, uint32_t v) {
    return m->nodes[v].host[0] != '\0' ? m->nodes[v].host : m->nodes[v].label;
}

/** End of a cable at a host, or 2. */
static inline uint32_t mutation_host_end(const mutant *m, uint32_t c) {
    return mutant_is_host(m, m->cables[c].node[0]) ? 0 : mutant_is_host(m, m->cables[c].node[1]) ? 1 : 2;
}

/* --- subjects ----------------------------------------------------------------------------------------------------- */

/** Two hosts of two ports on two spines. */
static inline void subject_add_management(mutant *m) {
    uint32_t spine[2];
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->n_nodes && n < 2; v++) {
        if (mutation_tier(m, v) == 2) {
            spine[n++] = v;
        }
    }
    for (uint32_t i = 0; i < 2 && n == 2; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            char host[32];
            char label[48];
            (void)snprintf(host, sizeof host, "ufm-%u", (unsigned)i + 1);
            (void)snprintf(label, sizeof label, "%s mlx5_%u", host, (unsigned)k);
            mutant_add_cable(m, mutant_add_node(m, label, host, FAB_NETWORK_ADAPTER), spine[k], 200e9);
        }
    }
}

/** Two leaves of four storage nodes, joined to the spines as other leaves. */
static inline void subject_add_storage(mutant *m) {
    uint32_t leaf = 0;
    uint32_t n_nodes = m->n_nodes;
    while (mutation_tier(m, leaf) != 1) {
        leaf++;
    }
    for (uint32_t i = 0; i < 2; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "storage-leaf-%u", (unsigned)i);
        uint32_t added = mutant_add_node(m, name, "", FAB_NETWORK_SWITCH);
        for (uint32_t k = 0; k < 4; k++) {
            (void)snprintf(name, sizeof name, "nas-%u", (unsigned)(4 * i + k));
            mutant_add_cable(m, mutant_add_node(m, name, "", FAB_NETWORK_HOST), added, 100e9);
        }
        for (uint32_t c = 0, n = m->n_cables; c < n; c++) {
            for (uint32_t e = 0; e < 2; e++) {
                uint32_t far = m->cables[c].node[e ^ 1];
                if (m->cables[c].node[e] == leaf && far < n_nodes && mutation_tier(m, far) == 2) {
                    mutant_add_cable(m, added, far, m->cables[c].rate_bps);
                }
            }
        }
    }
}

/** One server in seven is not installed yet; and of one leaf of a group all but three. */
static inline void subject_add_holes(mutant *m) {
    for (uint32_t v = 0; v < m->n_nodes; v++) {
        const char *number = mutant_is_host(m, v) ? strpbrk(mutation_server(m, v), "0123456789") : NULL;
        unsigned long n = number != NULL ? strtoul(number, NULL, 10) : 0;
        if (number != NULL && (n % 7 == 3 || (n > 18 && n < 24))) {
            mutant_drop_node(m, v);
        }
    }
}

/** Every leaf has one uplink more, to spines in turn: trunks of one cable and of two. */
static inline void subject_add_irregular(mutant *m) {
    uint32_t spines[64];
    uint32_t n = 0;
    uint32_t next = 0;
    for (uint32_t v = 0; v < m->n_nodes && n < 64; v++) {
        if (mutation_tier(m, v) == 2) {
            spines[n++] = v;
        }
    }
    for (uint32_t v = 0, n_nodes = m->n_nodes; v < n_nodes; v++) {
        for (uint32_t k = 0; mutation_tier(m, v) == 1 && k < n / 2; k++) {
            mutant_add_cable(m, v, spines[next++ % n], 400e9);
        }
    }
}

typedef struct subject_nic {
    uint32_t leaf;
    unsigned long port;
    const char *server;
} subject_nic;

static inline int subject_by_port(const void *x, const void *y) {
    const subject_nic *a = x;
    const subject_nic *b = y;
    return a->leaf != b->leaf ? (a->leaf > b->leaf) - (a->leaf < b->leaf) : (a->port > b->port) - (a->port < b->port);
}

static inline int subject_by_name(const void *x, const void *y) {
    return fab_compare_names(((const subject_nic *)x)->server, ((const subject_nic *)y)->server);
}

/** Whether names tell where a host belongs: what an observer can know. */
static inline void subject_look_at_names(subject *s) {
    const mutant *m = &s->whole;
    subject_nic *nics = malloc((m->n_cables + 1) * sizeof *nics);
    uint32_t n = 0;
    uint32_t n_pairs = 0;
    uint32_t n_rising = 0;
    uint32_t n_leaves = 0;
    uint32_t n_intervals = 0;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        uint32_t e = mutation_host_end(m, c);
        if (e < 2 && !m->cables[c].is_gone) {
            nics[n++] = (subject_nic){m->cables[c].node[e ^ 1], strtoul(m->cables[c].port[e ^ 1], NULL, 10),
                                      mutation_server(m, m->cables[c].node[e])};
        }
    }
    qsort(nics, n, sizeof *nics, subject_by_port);
    for (uint32_t i = 1; i < n; i++) {
        bool same = nics[i].leaf == nics[i - 1].leaf && strcmp(nics[i].server, nics[i - 1].server) != 0;
        n_pairs += same;
        n_rising += same && fab_compare_names(nics[i].server, nics[i - 1].server) > 0;
    }
    s->ports_are_sorted = n_rising > 0.9 * n_pairs;
    qsort(nics, n, sizeof *nics, subject_by_name);
    const char *last = "";
    uint32_t rank = 0;
    uint32_t *least = calloc(m->n_nodes, sizeof *least);
    uint32_t *most = calloc(m->n_nodes, sizeof *most);
    uint32_t *count = calloc(m->n_nodes, sizeof *count);
    for (uint32_t i = 0; i < n; i++) {
        rank += strcmp(nics[i].server, last) != 0;
        last = nics[i].server;
        uint32_t v = nics[i].leaf;
        if (most[v] != rank) {
            least[v] = count[v] == 0 ? rank : least[v];
            most[v] = rank;
            count[v]++;
        }
    }
    for (uint32_t v = 0; v < m->n_nodes; v++) {
        n_leaves += count[v] > 0;
        n_intervals += count[v] > 0 && most[v] - least[v] + 1 <= 1.25 * count[v] + 1;
    }
    s->leaves_are_sorted = n_intervals > 0.9 * n_leaves;
    FAB_FREE_ALL(nics, least, most, count);
}

/** Dragonfly+: cells of leaves and spines, each spine with one cable to every other cell. "cells:N,LEAVES,SPINES,HOSTS"
 */
static inline mutant subject_make_cells(const char *text) {
    mutant m = {.nodes = NULL};
    unsigned size[4] = {0};
    char name[48];
    for (int i = 0; i < 4; i++) {
        char *behind = NULL;
        size[i] = (unsigned)strtoul(text, &behind, 10);
        text = *behind == ',' ? behind + 1 : behind;
    }
    mutant_reserve(&m, 0, 0);
    for (unsigned cell = 0, host = 0; cell < size[0]; cell++) {
        uint32_t leaf[64];
        for (unsigned l = 0; l < size[1]; l++) {
            (void)snprintf(name, sizeof name, "cell-%u-leaf-%u", cell, l);
            leaf[l] = mutant_add_node(&m, name, "", FAB_NETWORK_SWITCH);
            for (unsigned h = 0; h < size[3]; h++, host++) {
                (void)snprintf(name, sizeof name, "node-%u", host);
                mutant_add_cable(&m, mutant_add_node(&m, name, "", FAB_NETWORK_HOST), leaf[l], 200e9);
            }
        }
        for (unsigned s = 0; s < size[2]; s++) {
            (void)snprintf(name, sizeof name, "cell-%u-spine-%u", cell, s);
            uint32_t spine = mutant_add_node(&m, name, "", FAB_NETWORK_SWITCH);
            for (unsigned l = 0; l < size[1]; l++) {
                mutant_add_cable(&m, leaf[l], spine, 200e9);
            }
            for (unsigned other = 0; other < cell; other++) {
                (void)snprintf(name, sizeof name, "cell-%u-spine-%u", other, s);
                for (uint32_t v = 0; v < spine; v++) {
                    if (strcmp(m.nodes[v].label, name) == 0) {
                        mutant_add_cable(&m, spine, v, 200e9);
                    }
                }
            }
        }
    }
    return m;
}

/** A design with what is added to it behind blanks, or a file of the samples. */
static inline subject subject_make(const char *text) {
    subject s = {.n_planes = 1};
    char design[128];
    const char *samples = getenv("FABRISCOPE_SAMPLES");
    mutant_set(s.name, sizeof s.name, text);
    mutant_set(design, sizeof design, text);
    design[strcspn(design, " ")] = '\0';
    if (strncmp(design, "sample:", 7) == 0) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", samples != NULL ? samples : "", design + 7);
        if (samples == NULL) {
            return s;
        }
        s.whole = mutant_read(path);
    } else if (strncmp(design, "cells:", 6) == 0) {
        s.whole = subject_make_cells(design + 6);
    } else {
        s.whole = mutant_build(design);
    }
    if (strstr(text, "+irregular") != NULL) {
        subject_add_irregular(&s.whole);
    }
    if (strstr(text, "+holes") != NULL) {
        subject_add_holes(&s.whole);
    }
    if (strstr(text, "+management") != NULL) {
        subject_add_management(&s.whole);
    }
    if (strstr(text, "+storage") != NULL) {
        subject_add_storage(&s.whole);
    }
    s.is_direct = strncmp(text, "dragonfly", 9) == 0 || strncmp(text, "torus", 5) == 0;
    s.tier = calloc(s.whole.n_nodes, sizeof *s.tier);
    for (uint32_t v = 0; v < s.whole.n_nodes; v++) {
        s.tier[v] = mutation_tier(&s.whole, v);
    }
    const char *groups = strstr(text, "dragonfly="); /* p, a, h, g */
    s.group = groups != NULL ? (unsigned)strtoul(groups + strcspn(groups, ",") + 1, NULL, 10) : 0;
    const char *planes = strstr(text, "planes=");
    s.n_planes = planes != NULL ? (unsigned)strtoul(planes + 7, NULL, 10) : 1;
    subject_look_at_names(&s);
    return s;
}

static inline void subject_release(subject *s) {
    mutant_release(&s->whole);
    free(s->tier);
}
