/* Which box of a plan is which of what is installed: by GUID, then by a name that both have once, then by structure:
 * what is plugged into the same ports of boxes that are known, whatever the two call these ports. Where too few names
 * are the same, boxes that ports and neighbours tell apart in both are the same [Weisfeiler, Leman 1968]. */
#include "audit_match.h"

#include "fab/fnv.h"
#include "fab/rng.h"

#define NONE   FAB_NETWORK_NONE
#define ROUNDS 4
#define SLOTS  64 /* of a server, that are told by their numbers */

typedef struct keyed {
    uint64_t key;
    const char *label;
    uint32_t node;
} keyed;

FAB_ORDER_KEYS(by_key, keyed, FAB_ORDER(a->key, b->key), strcmp(a->label, b->label), FAB_ORDER(a->node, b->node));

static bool same_key(const keyed *a, const keyed *b) {
    return a->key == b->key && strcmp(a->label, b->label) == 0;
}

static void join(audit_match *m, uint32_t here, uint32_t planned) {
    m->meant[here] = planned;
    m->there[planned] = here;
    m->n_same++;
}

/* Joins what has a key once in both. */
static void join_once(audit_match *m, keyed *here, uint32_t n_here, keyed *planned, uint32_t n_planned) {
    if (n_here == 0 || n_planned == 0) {
        return;
    }
    qsort(here, n_here, sizeof *here, by_key);
    qsort(planned, n_planned, sizeof *planned, by_key);
    for (uint32_t i = 0, k = 0; i < n_here && k < n_planned;) {
        uint32_t next_i = i + 1;
        uint32_t next_k = k + 1;
        while (next_i < n_here && same_key(&here[i], &here[next_i])) {
            next_i++;
        }
        while (next_k < n_planned && same_key(&planned[k], &planned[next_k])) {
            next_k++;
        }
        int order = here[i].key != planned[k].key ? FAB_ORDER(here[i].key, planned[k].key)
                                                  : strcmp(here[i].label, planned[k].label);
        if (order == 0 && next_i == i + 1 && next_k == k + 1) {
            join(m, here[i].node, planned[k].node);
        }
        i = order <= 0 ? next_i : i;
        k = order >= 0 ? next_k : k;
    }
}

typedef enum identity { BY_GUID, BY_LABEL, BY_NAME } identity;

static uint32_t list_keys(const fab_network *net, const uint32_t *known, identity by, keyed *out) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        if (known[v] != NONE || (by == BY_GUID && node->guid == 0)) {
            continue;
        }
        out[n++] = (keyed){.key = by == BY_GUID ? node->guid : 0,
                           .label = by == BY_LABEL  ? node->label
                                    : by == BY_NAME ? node->name
                                                    : "",
                           .node = v};
    }
    return n;
}

static bool same_text(const char *x, const char *y) {
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

static uint32_t list_known(const audit_match *m, uint32_t *queue) {
    uint32_t n = 0;
    FAB_KEEP(queue, n, v, m->here->net->n_nodes, m->meant[v] != NONE, v);
    return n;
}

/* The far ends of a cable at the same port of two boxes that are the same. */
static fab_status spread(audit_match *m, uint32_t *queue, uint32_t n, fab_error *err) {
    const fab_shape *here = m->here;
    const fab_shape *plan = m->plan;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = queue[i];
        uint32_t w = m->meant[v];
        uint32_t k = plan->first[w];
        FAB_PASS(audit_ports_translate(&m->ports, v, w, err));
        for (uint32_t j = here->first[v]; j < here->first[v + 1]; j++) {
            const fab_network_end *own = fab_network_near(here->net, here->side[j]);
            const fab_network_end *far = fab_network_far(here->net, here->side[j]);
            for (uint32_t tries = plan->first[w]; m->meant[far->node] == NONE && tries < plan->first[w + 1]; tries++) {
                k = k < plan->first[w + 1] ? k : plan->first[w]; /* both by port: mostly the next */
                const fab_network_end *other = fab_network_near(plan->net, plan->side[k]);
                const fab_network_end *beyond = fab_network_far(plan->net, plan->side[k++]);
                if (!same_text(own->port, other->port)) {
                    continue;
                }
                if (m->there[beyond->node] == NONE &&
                    here->net->nodes[far->node].kind == plan->net->nodes[beyond->node].kind &&
                    (same_text(far->port, beyond->port) || audit_ports_differ(&m->ports, far->node, beyond->node))) {
                    join(m, far->node, beyond->node);
                    queue[n++] = far->node;
                }
                break;
            }
        }
    }
    return FAB_OK;
}

/* --- adapters by their servers ------------------------------------------------------------------------------------ */

/* The planned slot of each slot here, by what wiring says of servers that both call the same; NONE where they do not
 * agree. Returns whether names of servers say what wiring does. */
static bool vote(const audit_match *m, const uint32_t *planned_server, uint32_t *slot) {
    uint32_t votes[SLOTS][SLOTS] = {{0}};
    uint32_t n_same = 0;
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->here->net->n_nodes; v++) {
        uint32_t s = m->here->server[v];
        uint32_t w = m->meant[v];
        if (s == NONE || w == NONE || planned_server[s] == NONE || m->here->slot[v] >= SLOTS) {
            continue;
        }
        bool is_same = m->plan->server[w] == planned_server[s] && m->plan->slot[w] < SLOTS;
        n++;
        n_same += is_same;
        votes[m->here->slot[v]][is_same ? m->plan->slot[w] : 0] += is_same;
    }
    for (uint32_t k = 0; k < SLOTS; k++) {
        uint32_t best = k;
        uint32_t sum = 0;
        for (uint32_t i = 0; i < SLOTS; i++) {
            best = votes[k][i] > votes[k][best] ? i : best;
            sum += votes[k][i];
        }
        slot[k] = sum == 0 || 3 * votes[k][best] > 2 * sum ? best : NONE;
    }
    return 2 * n_same > n;
}

typedef struct named_server {
    const char *name;
    uint32_t server;
} named_server;

/* Servers that both call the same, and what each planned server has in its slots. */
static fab_status list_servers(const audit_match *m, uint32_t *planned_server, uint32_t *node_at, fab_error *err) {
    const fab_shape *plan = m->plan;
    FAB_OWNED_NEW(named_server, names, (size_t)plan->n_servers + 1, err);
    FAB_FILL(names, plan->n_servers, (named_server){plan->server_name[fab_at], (uint32_t)fab_at});
    qsort(names, plan->n_servers, sizeof *names, fab_order_text);
    for (uint32_t s = 0; s < m->here->n_servers; s++) {
        const named_server key = {m->here->server_name[s], 0};
        const named_server *at =
            plan->n_servers > 0 ? bsearch(&key, names, plan->n_servers, sizeof *names, fab_order_text) : NULL;
        planned_server[s] = at != NULL ? at->server : NONE;
    }
    for (uint32_t w = 0; w < plan->net->n_nodes; w++) {
        if (plan->server[w] != NONE && plan->slot[w] < SLOTS) {
            node_at[plan->server[w] * SLOTS + plan->slot[w]] = w;
        }
    }
    return FAB_OK;
}

/* Where both call servers the same, but adapters not, an adapter is that in its slot of its server, wherever it is
 * plugged in: what is exchanged is seen so. Wiring, followed once for it, says which slot is which, and whether names
 * of servers count the same way. */
static fab_status join_adapters(audit_match *m, uint32_t *queue, uint32_t n, fab_error *err) {
    const uint32_t n_here = m->here->net->n_nodes;
    const uint32_t n_plan = m->plan->net->n_nodes;
    audit_match followed = *m;
    uint32_t slot[SLOTS];
    FAB_OWNED_NEW(uint32_t, planned_server, (size_t)m->here->n_servers + 1, err);
    FAB_OWNED_NEW(uint32_t, node_at, (size_t)m->plan->n_servers * SLOTS + 1, err);
    FAB_OWNED_NEW(uint32_t, meant, (size_t)n_here + 1, err);
    FAB_OWNED_NEW(uint32_t, there, (size_t)n_plan + 1, err);
    memset(node_at, 0xff, ((size_t)m->plan->n_servers * SLOTS + 1) * sizeof *node_at);
    memcpy(meant, m->meant, n_here * sizeof *meant);
    memcpy(there, m->there, n_plan * sizeof *there);
    followed.meant = meant;
    followed.there = there;
    FAB_PASS(list_servers(m, planned_server, node_at, err));
    FAB_PASS(spread(&followed, queue, n, err));
    const bool is_same_order = vote(&followed, planned_server, slot);
    for (uint32_t v = 0; is_same_order && v < n_here; v++) {
        uint32_t s = m->here->server[v];
        uint32_t planned = s != NONE ? planned_server[s] : NONE;
        uint32_t k = planned != NONE && m->here->slot[v] < SLOTS ? slot[m->here->slot[v]] : NONE;
        uint32_t w = k != NONE ? node_at[planned * SLOTS + k] : NONE;
        if (m->meant[v] == NONE && w != NONE && m->there[w] == NONE) {
            join(m, v, w);
        }
    }
    return FAB_OK;
}

/* --- boxes that ports and neighbours tell apart ------------------------------------------------------------------- */

static uint64_t hash_text(const char *text) {
    return fab_mix64(fab_fnv(FAB_FNV_BEGIN, text, text != NULL ? strlen(text) : 0));
}

static fab_status colour(const fab_shape *s, int rounds, keyed *out, fab_error *err) {
    uint32_t n = s->net->n_nodes;
    FAB_OWNED_NEW(uint64_t, old, (size_t)n + 1, err);
    for (uint32_t v = 0; v < n; v++) {
        out[v] = (keyed){.key = fab_mix64((uint64_t)s->net->nodes[v].kind + 1), .label = "", .node = v};
    }
    for (int round = 0; round < rounds; round++) {
        FAB_FILL(old, n, out[fab_at].key);
        for (uint32_t v = 0; v < n; v++) {
            for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
                const fab_network_end *far = fab_network_far(s->net, s->side[k]);
                uint64_t own = hash_text(fab_network_near(s->net, s->side[k])->port);
                out[v].key += fab_mix64(old[far->node] + own * 3 + hash_text(far->port) * 5);
            }
            out[v].key = fab_mix64(out[v].key);
        }
    }
    return FAB_OK;
}

static uint32_t keep_unknown(keyed *list, uint32_t n, const uint32_t *known) {
    uint32_t kept = 0;
    FAB_KEEP(list, kept, i, n, known[list[i].node] == NONE, list[i]);
    return kept;
}

static uint32_t count_hosts(const audit_match *m) {
    FAB_SUM(uint32_t, n, v, m->plan->net->n_nodes, fab_network_is_host(m->plan->net, v) && m->there[v] != NONE);
    return n;
}

/* Whether less than half of the planned switches, or hosts, are known here. */
static bool lacks(const audit_match *m, bool hosts) {
    const fab_network *plan = m->plan->net;
    uint32_t n = 0;
    uint32_t n_known = 0;
    for (uint32_t v = 0; v < plan->n_nodes; v++) {
        bool counts = hosts ? fab_network_is_host(plan, v) : plan->nodes[v].kind == FAB_NETWORK_SWITCH;
        n += counts;
        n_known += counts && m->there[v] != NONE;
    }
    return 2 * n_known < n || (n == 0 && !hosts);
}

fab_status audit_match_find(audit_match *m, fab_error *err) {
    const fab_network *here = m->here->net;
    const fab_network *plan = m->plan->net;
    FAB_OWNED keyed *one = NULL;
    FAB_OWNED keyed *two = NULL;
    FAB_OWNED uint32_t *queue = NULL;
    uint32_t n = 0;
    m->ports.here = m->here;
    m->ports.plan = m->plan;
    audit_numbering_find(here, &m->ports.numbering[0]);
    audit_numbering_find(plan, &m->ports.numbering[1]);
    FAB_PASS(FAB_NEW_ALL((size_t)plan->n_nodes + 1, err, m->there, two));
    FAB_PASS(FAB_NEW_ALL((size_t)here->n_nodes + 1, err, m->meant, one, queue));
    memset(m->there, 0xff, plan->n_nodes * sizeof *m->there);
    memset(m->meant, 0xff, here->n_nodes * sizeof *m->meant);
    for (int by = BY_GUID; by <= BY_NAME; by++) {
        uint32_t n_one = list_keys(here, m->meant, (identity)by, one);
        join_once(m, one, n_one, two, list_keys(plan, m->there, (identity)by, two));
    }
    m->by_structure = 2 * m->n_same < plan->n_nodes && lacks(m, false);
    if (m->by_structure) {
        memset(m->there, 0xff, plan->n_nodes * sizeof *m->there);
        memset(m->meant, 0xff, here->n_nodes * sizeof *m->meant);
        m->n_same = 0;
    }
    for (int rounds = 1; m->by_structure && rounds <= ROUNDS; rounds++) { /* a fault is seen from near first */
        FAB_PASS(colour(m->here, rounds, one, err));
        FAB_PASS(colour(m->plan, rounds, two, err));
        join_once(m, one, keep_unknown(one, here->n_nodes, m->meant), two, keep_unknown(two, plan->n_nodes, m->there));
    }
    n = list_known(m, queue);
    if (!m->by_structure) {
        FAB_PASS(join_adapters(m, queue, n, err));
        n = list_known(m, queue);
    }
    uint32_t n_known = m->by_structure ? 0 : count_hosts(m);
    FAB_PASS(spread(m, queue, n, err));
    m->n_by_place = count_hosts(m) - n_known;
    m->lacks_boxes = 2 * m->n_same < plan->n_nodes && (m->by_structure || lacks(m, false));
    m->lacks_servers = !m->by_structure && lacks(m, true);
    return FAB_OK;
}

void audit_match_count_renamed(const fab_network *here, const fab_network *plan, const uint32_t *there,
                               fab_audit *out) {
    for (uint32_t v = 0; v < plan->n_nodes; v++) {
        const fab_network_node *planned = &plan->nodes[v];
        const fab_network_node *node = there[v] != NONE ? &here->nodes[there[v]] : planned;
        if (strcmp(node->label, planned->label) == 0) {
            continue;
        }
        if (out->n_renamed++ == 0 && node->guid != 0) {
            FAB_FORMAT(out->first_renamed, "0x%016" PRIx64 " is '%.70s', in the plan '%.70s'", node->guid, node->label,
                       planned->label);
        } else if (out->n_renamed == 1) {
            FAB_FORMAT(out->first_renamed, "'%.80s' is '%.80s' in the plan", node->label, planned->label);
        }
    }
}

void audit_match_release(audit_match *m) {
    FAB_FREE_ALL(m->there, m->meant);
}
