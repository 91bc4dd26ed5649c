/**
 * @file mutations.h
 * Faults that people make in fabrics, one at a time, and who is to be named for each.
 */
#pragma once

#include "mutant_subject.h"

typedef enum mutation {
    LEAF_GONE,
    UPPER_GONE,
    CABLE_GONE,
    HOST_CABLE_GONE,
    CABLE_EXTRA,
    UPLINKS_CROSSED,
    HOSTS_EXCHANGED,
    RAILS_EXCHANGED,
    HOST_MOVED,
    DEAD_PORT,
    LEAF_TO_LEAF,
    LOOP,
    SLOWER,
    ONE_END,
    PLANES_MIXED,
    UPLINKS_GONE,
    MUTATIONS
} mutation;

static const char *const mutation_names[MUTATIONS] = {
    "removed leaf",       "removed upper switch", "missing cable",      "missing host cable",
    "extra cable",        "crossed uplinks",      "exchanged hosts",    "exchanged rails",
    "host on wrong leaf", "dead port of a NIC",   "leaf-to-leaf cable", "loop cable",
    "slower rate",        "one end only",         "planes mixed",       "several uplinks gone"};

#define MOST_CULPRITS 96

typedef struct truth {
    mutation kind;
    const char *kinds; /**< findings that tell it */
    char culprit[MOST_CULPRITS][MUTANT_NAME];
    uint32_t n;
} truth;

static inline void truth_add(truth *t, const char *name) {
    if (t->n < MOST_CULPRITS && name[0] != '\0') {
        mutant_set(t->culprit[t->n++], MUTANT_NAME, name);
    }
}

static inline void truth_add_node(truth *t, const mutant *m, uint32_t v) {
    truth_add(t, m->nodes[v].label);
    truth_add(t, m->nodes[v].host);
}

static inline bool mutation_is_trunk(const mutant *m, uint32_t c) {
    return !m->cables[c].is_gone && mutant_is_switch(m, m->cables[c].node[0]) &&
           mutant_is_switch(m, m->cables[c].node[1]);
}

/* --- what may be changed ------------------------------------------------------------------------------------------ */

typedef bool (*mutation_fits)(const subject *s, const mutant *m, uint32_t item);

static inline bool fits_trunk(const subject *s, const mutant *m, uint32_t c) {
    (void)s;
    return mutation_is_trunk(m, c);
}
static inline bool fits_host_cable(const subject *s, const mutant *m, uint32_t c) {
    (void)s;
    return !m->cables[c].is_gone && mutation_host_end(m, c) < 2;
}

/** One of those that fit, or FAB_NETWORK_NONE. */
static inline uint32_t mutation_pick(const subject *s, const mutant *m, fab_rng *rng, uint32_t n, mutation_fits fits) {
    for (unsigned tries = 0; n > 0 && tries < 2000; tries++) {
        uint32_t item = (uint32_t)fab_rng_below(rng, n);
        if (fits(s, m, item)) {
            return item;
        }
    }
    return FAB_NETWORK_NONE;
}

/** Cables of a server. */
static inline uint32_t mutation_n_nics(const mutant *m, const char *server) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        uint32_t e = mutation_host_end(m, c);
        n += e < 2 && !m->cables[c].is_gone && strcmp(mutation_server(m, m->cables[c].node[e]), server) == 0;
    }
    return n;
}

static inline unsigned long mutation_number(const char *label) {
    const char *at = label + strlen(label);
    while (at > label && at[-1] >= '0' && at[-1] <= '9') {
        at--;
    }
    return strtoul(at, NULL, 10);
}

/** Names are numbers in order, so that the last of a tier is the one that a smaller design would not have. */
static inline bool mutation_is_last(const subject *s, const mutant *m, uint32_t v) {
    for (uint32_t w = 0; w < m->n_nodes; w++) {
        size_t n = strcspn(m->nodes[v].label, "0123456789");
        if (w != v && s->tier[w] == s->tier[v] && strncmp(m->nodes[w].label, m->nodes[v].label, n) == 0 &&
            mutation_number(m->nodes[w].label) > mutation_number(m->nodes[v].label)) {
            return false;
        }
    }
    return true;
}

/** Whether all switches of the tier below are joined to it, in equal number: then all lose the same. */
static inline bool mutation_serves_all(const subject *s, const mutant *m, uint32_t v) {
    for (uint32_t w = 0; w < m->n_nodes; w++) {
        bool joined = s->tier[w] + 1 != s->tier[v];
        for (uint32_t c = 0; !joined && c < m->n_cables; c++) {
            joined = (m->cables[c].node[0] == v && m->cables[c].node[1] == w) ||
                     (m->cables[c].node[0] == w && m->cables[c].node[1] == v);
        }
        if (!joined && s->tier[w] > 0) {
            return false;
        }
    }
    return true;
}

/** Whether an adapter of this number, or this port of one, is in the network elsewhere. */
static inline bool mutation_has_slot(const mutant *m, uint32_t leaf, uint32_t c, uint32_t e) {
    const char *slot = strchr(m->nodes[m->cables[c].node[e]].label, ' ');
    for (uint32_t d = 0; d < m->n_cables; d++) {
        uint32_t k = mutation_host_end(m, d);
        const char *other = k < 2 ? strchr(m->nodes[m->cables[d].node[k]].label, ' ') : NULL;
        if (k < 2 && m->cables[d].node[k ^ 1] != leaf && slot != NULL && other != NULL && strcmp(slot, other) == 0 &&
            strcmp(m->cables[c].port[e], m->cables[d].port[k]) == 0) {
            return true;
        }
    }
    return false;
}

/** Whether a server keeps some of its cables when a leaf is gone, and others keep what it lost: then they tell that it
 * was there. */
static inline bool mutation_leaves_traces(const mutant *m, uint32_t leaf) {
    for (uint32_t c = 0; c < m->n_cables; c++) {
        uint32_t e = mutation_host_end(m, c);
        for (uint32_t d = 0; e < 2 && m->cables[c].node[e ^ 1] == leaf && d < m->n_cables; d++) {
            uint32_t k = mutation_host_end(m, d);
            if (k < 2 && m->cables[d].node[k ^ 1] != leaf && mutation_has_slot(m, leaf, c, e) &&
                strcmp(mutation_server(m, m->cables[c].node[e]), mutation_server(m, m->cables[d].node[k])) == 0) {
                return true;
            }
        }
    }
    return false;
}

/** A kind of two storage leaves: of one that is left there is no other to compare with. */
static inline bool mutation_is_one_of_two(const subject *s, const mutant *m, uint32_t v) {
    uint32_t n = 0;
    size_t prefix = strcspn(m->nodes[v].label, "0123456789");
    for (uint32_t w = 0; w < m->n_nodes; w++) {
        n += s->tier[w] == s->tier[v] && strncmp(m->nodes[w].label, m->nodes[v].label, prefix) == 0;
    }
    return n < 3;
}

/**
 * The last of a tier, of which nothing that stays tells: a fabric that was built one smaller has the same boxes, names
 * and cables. Of a leaf, its hosts are gone with it; of an upper switch, all below it have one trunk less each.
 */
static inline bool is_a_design(const subject *s, const mutant *m, uint32_t v) {
    return mutation_is_one_of_two(s, m, v) ||
           (mutation_is_last(s, m, v) &&
            (s->tier[v] == 1 ? !mutation_leaves_traces(m, v) : mutation_serves_all(s, m, v)));
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static inline bool mutate_switch(const subject *s, bool upper, fab_rng *rng, mutant *m, truth *t) {
    uint32_t v = (uint32_t)fab_rng_below(rng, m->n_nodes);
    for (unsigned tries = 0; tries < 4000; tries++, v = (uint32_t)fab_rng_below(rng, m->n_nodes)) {
        if (mutant_is_switch(m, v) && (s->tier[v] > 1) == upper && !is_a_design(s, m, v)) {
            t->kinds = "absent-switch";
            truth_add(t, m->nodes[v].label);
            mutant_drop_node(m, v);
            return true;
        }
    }
    return false;
}

static inline bool mutate_trunk_gone(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    uint32_t c = mutation_pick(s, m, rng, m->n_cables, fits_trunk);
    if (c == FAB_NETWORK_NONE) {
        return false;
    }
    t->kinds = "missing-cable";
    truth_add_node(t, m, m->cables[c].node[0]);
    truth_add_node(t, m, m->cables[c].node[1]);
    m->cables[c].is_gone = true;
    return true;
}

/** Whether a switch with so many uplinks left is one that a design fills in part: as few below it, beside its peers. */
static inline bool mutation_is_filled_so(const subject *s, const mutant *m, uint32_t v, uint32_t left, uint32_t all) {
    uint32_t own = 0;
    uint32_t most = 0;
    for (uint32_t w = 0; w < m->n_nodes; w++) {
        uint32_t n = 0;
        for (uint32_t c = 0; s->tier[w] == s->tier[v] && c < m->n_cables; c++) {
            uint32_t end = m->cables[c].node[1] == w;
            n += !m->cables[c].is_gone && m->cables[c].node[end] == w &&
                 s->tier[m->cables[c].node[end ^ 1]] < s->tier[v];
        }
        most = strncmp(m->nodes[w].label, m->nodes[v].label, 5) == 0 && n > most ? n : most;
        own = w == v ? n : own;
    }
    return own < most && left * most >= all * own;
}

/** Several uplinks of one switch, two up to all. A leaf that has none left takes its hosts away from the others. */
static inline bool mutate_uplinks_gone(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    uint32_t c = s->is_direct ? FAB_NETWORK_NONE : mutation_pick(s, m, rng, m->n_cables, fits_trunk);
    uint32_t list[512];
    uint32_t n = 0;
    if (c == FAB_NETWORK_NONE || s->tier[m->cables[c].node[0]] == s->tier[m->cables[c].node[1]]) {
        return false;
    }
    uint32_t e = s->tier[m->cables[c].node[0]] > s->tier[m->cables[c].node[1]];
    uint32_t v = m->cables[c].node[e];
    t->kinds = "missing-cable unreachable";
    truth_add_node(t, m, v);
    for (uint32_t d = 0; d < m->n_cables; d++) {
        uint32_t end = m->cables[d].node[1] == v;
        uint32_t far = m->cables[d].node[end ^ 1];
        if (!m->cables[d].is_gone && m->cables[d].node[end] == v && n < 512) {
            list[n] = d;
            n += s->tier[far] > s->tier[v];
            truth_add_node(t, m, far);
        }
    }
    uint32_t n_gone = n < 2 ? 0 : 2 + (uint32_t)fab_rng_below(rng, n - 1);
    for (uint32_t left = n; left > n - n_gone;) {
        uint32_t at = (uint32_t)fab_rng_below(rng, left);
        m->cables[list[at]].is_gone = true;
        list[at] = list[--left];
    }
    return n >= 2 && !mutation_is_filled_so(s, m, v, n - n_gone, n);
}

/** A single cable takes its host with it, and a host that is not there was not bought, for all that one can see. */
static inline bool mutate_host_gone(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    uint32_t c = mutation_pick(s, m, rng, m->n_cables, fits_host_cable);
    uint32_t e = c != FAB_NETWORK_NONE ? mutation_host_end(m, c) : 2;
    if (e == 2 || mutation_n_nics(m, mutation_server(m, m->cables[c].node[e])) < 3) {
        return false;
    }
    t->kinds = "missing-port missing-cable dead-port";
    truth_add_node(t, m, m->cables[c].node[0]);
    truth_add_node(t, m, m->cables[c].node[1]);
    m->cables[c].is_gone = true;
    return true;
}

static inline bool mutate_extra(const subject *s, fab_rng *rng, mutant *m, truth *t, bool same_tier, bool loop) {
    for (unsigned tries = 0; tries < 4000; tries++) {
        uint32_t a = (uint32_t)fab_rng_below(rng, m->n_nodes);
        uint32_t b = loop ? a : (uint32_t)fab_rng_below(rng, m->n_nodes);
        uint32_t p = s->tier[a];
        uint32_t q = s->tier[b];
        if (p == 0 || q == 0 || (a == b) != loop || (same_tier ? p != 1 || q != 1 : !loop && p == q)) {
            continue;
        }
        uint32_t c = mutant_add_cable(m, a, b, 400e9);
        for (uint32_t k = 0; k < c; k++) { /* as fast as others there, so that it is one fault */
            if (m->cables[k].node[0] == a || m->cables[k].node[1] == a) {
                m->cables[c].rate_bps = mutation_is_trunk(m, k) ? m->cables[k].rate_bps : m->cables[c].rate_bps;
            }
        }
        t->kinds = loop ? "loop" : same_tier && !s->is_direct ? "same-tier-cable" : "extra-cable";
        truth_add_node(t, m, a);
        truth_add_node(t, m, b);
        return true;
    }
    return false;
}

static inline uint32_t mutation_n_between(const mutant *m, uint32_t v, uint32_t w) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->n_cables; c++) {
        const uint32_t *x = m->cables[c].node;
        n += !m->cables[c].is_gone && ((x[0] == v && x[1] == w) || (x[0] == w && x[1] == v));
    }
    return n;
}

/** Trunks of one and of two cables stand side by side: where all four still are such, the fabric is as regular as
 * before. */
static inline bool mutation_stays_irregular(const subject *s, const mutant *m, uint32_t c, uint32_t d) {
    const uint32_t *x = m->cables[c].node;
    const uint32_t *y = m->cables[d].node;
    return strstr(s->name, "+irregular") != NULL && mutation_n_between(m, x[0], x[1]) == 2 &&
           mutation_n_between(m, y[0], y[1]) == 2 &&
           mutation_n_between(m, x[0], y[1]) + mutation_n_between(m, x[0], y[0]) == 1 &&
           mutation_n_between(m, y[0], x[1]) + mutation_n_between(m, y[1], x[1]) == 1;
}

/** Whether two cables of a dragonfly join the same two groups, whatever their ends: which of the switches of two groups
 * are joined is free, and of a group all are joined to all. */
static inline bool mutation_joins_same_groups(const subject *s, const mutant *m, uint32_t c, uint32_t d) {
    unsigned long of[4];
    for (uint32_t i = 0; i < 4; i++) {
        of[i] = mutation_number(m->nodes[m->cables[i < 2 ? c : d].node[i & 1]].label) / s->group;
    }
    return (of[0] == of[2] && of[1] == of[3]) || (of[0] == of[3] && of[1] == of[2]);
}

/** Upper ends of two uplinks; of a dragonfly ends of any two that join others. */
static inline bool mutate_crossed(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    for (unsigned tries = 0; tries < 4000 && (!s->is_direct || s->group > 0); tries++) {
        uint32_t c = mutation_pick(s, m, rng, m->n_cables, fits_trunk);
        uint32_t d = mutation_pick(s, m, rng, m->n_cables, fits_trunk);
        if (c == FAB_NETWORK_NONE || d == FAB_NETWORK_NONE) {
            return false;
        }
        uint32_t e = s->tier[m->cables[c].node[1]] > s->tier[m->cables[c].node[0]];
        uint32_t k = s->tier[m->cables[d].node[1]] > s->tier[m->cables[d].node[0]];
        const uint32_t *x = m->cables[c].node;
        const uint32_t *y = m->cables[d].node;
        if (s->tier[x[e]] != s->tier[y[k]] || x[e] == y[k] || x[e ^ 1] == y[k ^ 1] || x[e ^ 1] == y[k] ||
            y[k ^ 1] == x[e] || mutation_stays_irregular(s, m, c, d) ||
            (s->group > 0 && mutation_joins_same_groups(s, m, c, d))) {
            continue;
        }
        t->kinds = "crossed-uplinks miswired missing-cable extra-cable";
        truth_add_node(t, m, x[0]);
        truth_add_node(t, m, x[1]);
        truth_add_node(t, m, y[0]);
        truth_add_node(t, m, y[1]);
        mutant_exchange(m, c, e, d, k);
        return true;
    }
    return false;
}

static inline unsigned mutation_slot(const mutant *m, uint32_t v) {
    const char *blank = strchr(m->nodes[v].label, ' ');
    return blank != NULL ? (unsigned)mutation_number(blank) : 0;
}

/** Two hosts at each other's port, or two adapters of one server, or the two ports of one adapter. */
static inline bool mutate_hosts(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    for (unsigned tries = 0; tries < 4000; tries++) {
        uint32_t c = mutation_pick(s, m, rng, m->n_cables, fits_host_cable);
        uint32_t d = mutation_pick(s, m, rng, m->n_cables, fits_host_cable);
        uint32_t e = mutation_host_end(m, c);
        uint32_t k = mutation_host_end(m, d);
        uint32_t x = m->cables[c].node[e];
        uint32_t y = m->cables[d].node[k];
        bool same_server = strcmp(mutation_server(m, x), mutation_server(m, y)) == 0;
        bool same_leaf = m->cables[c].node[e ^ 1] == m->cables[d].node[k ^ 1];
        bool single = mutation_n_nics(m, mutation_server(m, x)) < 2 || mutation_n_nics(m, mutation_server(m, y)) < 2;
        size_t role = strcspn(m->nodes[x].label, "0123456789");
        if (c == d || strncmp(m->nodes[x].label, m->nodes[y].label, role) != 0 ||
            s->tier[m->cables[c].node[e ^ 1]] > 1) {
            continue;
        }
        if (t->kind == PLANES_MIXED ? x != y || strcmp(m->cables[c].port[e], m->cables[d].port[k]) == 0
            : t->kind == RAILS_EXCHANGED
                ? !same_server || x == y || same_leaf || strcmp(m->cables[c].port[e], m->cables[d].port[k]) != 0
                : same_server || mutation_slot(m, x) != mutation_slot(m, y) ||
                      strcmp(m->cables[c].port[e], m->cables[d].port[k]) != 0 ||
                      (same_leaf ? !s->ports_are_sorted : single && !s->leaves_are_sorted)) {
            continue;
        }
        t->kinds = "swapped-rails wrong-rail swapped-hosts wrong-leaf mixed-planes";
        truth_add_node(t, m, x);
        truth_add_node(t, m, y);
        truth_add_node(t, m, m->cables[c].node[e ^ 1]);
        truth_add_node(t, m, m->cables[d].node[k ^ 1]);
        mutant_exchange(m, c, e ^ 1, d, k ^ 1);
        return true;
    }
    return false;
}

/** Whether a leaf has the host before or behind one by number: then that one goes there as well as where it was. */
static inline bool mutation_is_beside(const mutant *m, uint32_t x, uint32_t leaf) {
    unsigned long own = mutation_number(mutation_server(m, x));
    for (uint32_t c = 0; c < m->n_cables; c++) {
        uint32_t e = mutation_host_end(m, c);
        if (e < 2 && m->cables[c].node[e ^ 1] == leaf) {
            unsigned long other = mutation_number(mutation_server(m, m->cables[c].node[e]));
            if (other + 1 == own || other == own + 1) {
                return true;
            }
        }
    }
    return false;
}

/** To a free port of another leaf. */
static inline bool mutate_moved(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    for (unsigned tries = 0; tries < 4000; tries++) {
        uint32_t c = mutation_pick(s, m, rng, m->n_cables, fits_host_cable);
        uint32_t e = mutation_host_end(m, c);
        uint32_t leaf = (uint32_t)fab_rng_below(rng, m->n_nodes);
        uint32_t x = m->cables[c].node[e];
        uint32_t old = m->cables[c].node[e ^ 1];
        bool single = mutation_n_nics(m, mutation_server(m, x)) < 2;
        if (s->tier[leaf] != 1 || leaf == old || s->tier[old] != 1 ||
            (single && (!s->leaves_are_sorted || mutation_is_beside(m, x, leaf)))) {
            continue;
        }
        t->kinds = "wrong-rail wrong-leaf mixed-planes";
        truth_add_node(t, m, x);
        truth_add_node(t, m, leaf);
        truth_add_node(t, m, old);
        m->cables[c].node[e ^ 1] = leaf;
        (void)snprintf(m->cables[c].port[e ^ 1], 16, "%u", mutant_free_port(m, leaf));
        return true;
    }
    return false;
}

static inline bool mutate_one(const subject *s, fab_rng *rng, mutant *m, truth *t) {
    uint32_t c = (uint32_t)fab_rng_below(rng, m->n_cables);
    if (m->cables[c].is_gone) {
        return false;
    }
    (void)s;
    t->kinds = t->kind == SLOWER ? "wrong-speed" : "one-sided";
    truth_add_node(t, m, m->cables[c].node[0]);
    truth_add_node(t, m, m->cables[c].node[1]);
    m->cables[c].rate_bps *= t->kind == SLOWER ? 0.5 : 1;
    m->cables[c].is_one_sided = t->kind == ONE_END;
    return true;
}

/** @return whether the fabric has something that can have this fault. */
static inline bool mutate(const subject *s, mutation kind, fab_rng *rng, mutant *m, truth *t) {
    switch (kind) {
    case LEAF_GONE:
    case UPPER_GONE: return mutate_switch(s, kind == UPPER_GONE, rng, m, t);
    case UPLINKS_GONE: return mutate_uplinks_gone(s, rng, m, t);
    case CABLE_GONE: return mutate_trunk_gone(s, rng, m, t);
    case HOST_CABLE_GONE: return s->n_planes == 1 && mutate_host_gone(s, rng, m, t);
    case DEAD_PORT: return s->n_planes > 1 && mutate_host_gone(s, rng, m, t);
    case CABLE_EXTRA: return mutate_extra(s, rng, m, t, s->is_direct, false);
    case LEAF_TO_LEAF: return !s->is_direct && mutate_extra(s, rng, m, t, true, false);
    case LOOP: return mutate_extra(s, rng, m, t, false, true);
    case UPLINKS_CROSSED: return mutate_crossed(s, rng, m, t);
    case PLANES_MIXED: return s->n_planes > 1 && mutate_hosts(s, rng, m, t);
    case HOSTS_EXCHANGED:
    case RAILS_EXCHANGED: return mutate_hosts(s, rng, m, t);
    case HOST_MOVED: return mutate_moved(s, rng, m, t);
    default: return mutate_one(s, rng, m, t);
    }
}
