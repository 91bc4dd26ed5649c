#include "audit_names.h"

#include "../network_internal.h"
#include "../structure/network_boxes.h"

#include "fab/fnv.h"
#include "fab/gcd.h"

#include <ctype.h>

/* --- servers as boxes --------------------------------------------------------------------------------------------- */

/* Adapters have as many cables as most have, so that a port keeps its number where another is not plugged in. */
static uint32_t most_ports(const fab_shape *s) {
    uint32_t most = 1;
    for (uint32_t v = 0; v < s->net->n_nodes; v++) {
        uint32_t n = s->first[v + 1] - s->first[v];
        most = s->net->nodes[v].kind == FAB_NETWORK_ADAPTER && n > most ? n : most;
    }
    return most;
}

static const char *number_port(const fab_shape *s, const fab_boxes *boxes, uint32_t side, uint32_t per_adapter,
                               char out[32]) {
    const fab_network_end *end = fab_network_near(s->net, side);
    if (boxes->adapter_port[side] == 0) {
        return end->port;
    }
    uint64_t port = end->port != NULL && isdigit((unsigned char)end->port[0]) ? strtoull(end->port, NULL, 10) : 0;
    uint32_t slot = s->slot[end->node];
    bool is_told = slot != FAB_NETWORK_NONE && (per_adapter == 1 || (port > 0 && port <= per_adapter));
    uint64_t number = !is_told ? boxes->adapter_port[side] : (uint64_t)slot * per_adapter + (port > 0 ? port : 1);
    (void)snprintf(out, 32, "%" PRIu64, is_told && per_adapter == 1 ? (uint64_t)slot + 1 : number);
    return out;
}

static fab_status copy_nodes(const fab_shape *s, const fab_boxes *boxes, fab_network *net, fab_error *err) {
    for (uint32_t v = 0; v < s->net->n_nodes; v++) {
        const fab_network_node *from = &s->net->nodes[v];
        uint32_t at = 0;
        if (boxes->of_node[v] == FAB_NETWORK_NONE) {
            continue;
        }
        const fab_box *box = &boxes->box[boxes->of_node[v]];
        uint32_t n_before = net->n_nodes;
        FAB_PASS(fab_network_add_node(net, box->name, strlen(box->name), from->line, &at, err));
        if (net->n_nodes > n_before) {
            fab_network_node *to = &net->nodes[at];
            const char *name = to->name;
            *to = *from;
            to->name = to->label = name;
            to->host = NULL;
            to->kind = box->is_host ? FAB_NETWORK_HOST : from->kind;
        }
    }
    return FAB_OK;
}

fab_status audit_copy_boxes(const fab_shape *s, audit_copy *out, fab_error *err) {
    FAB_OWNS(fab_boxes_release) fab_boxes boxes = {.n = 0};
    uint32_t per_adapter = most_ports(s);
    FAB_PASS(fab_boxes_find(s, &boxes, err));
    FAB_PASS(fab_network_new(s->net->path, &out->net, err));
    out->net->keeps_contradictions = true;
    out->net->reports_both_ends = s->net->reports_both_ends;
    out->net->has_ports = s->net->has_ports;
    out->net->is_tree_of_names = s->net->is_tree_of_names;
    FAB_PASS(copy_nodes(s, &boxes, out->net, err));
    for (uint32_t i = 0; i < s->net->n_notes; i++) {
        FAB_PASS(fab_network_add_note(out->net, s->net->notes[i].line, err, "%s", s->net->notes[i].text));
    }
    for (uint32_t i = 0; i < s->net->n_cables; i++) {
        fab_network_cable cable = s->net->cables[i];
        char port[2][32];
        bool has_boxes = true;
        for (uint32_t k = 0; k < 2; k++) {
            cable.end[k].port = number_port(s, &boxes, 2 * i + k, per_adapter, port[k]);
            cable.end[k].node = boxes.of_node[cable.end[k].node];
            has_boxes = has_boxes && cable.end[k].node != FAB_NETWORK_NONE;
            if (has_boxes && boxes.adapter_port[2 * i + k] > 0 &&
                fab_network_is_plugged(out->net, cable.end[k].node, port[k])) { /* two adapters of one number */
                FAB_FORMAT(port[k], "n%" PRIu32, boxes.adapter_port[2 * i + k]);
            }
        }
        FAB_PASS(has_boxes ? fab_network_add_cable(out->net, &cable, NULL, err) : FAB_OK);
    }
    return fab_shape_find(out->net, &out->shape, err);
}

void audit_copy_release(audit_copy *copy) {
    fab_shape_release(&copy->shape);
    fab_network_free(copy->net);
    copy->net = NULL;
}

/* --- names of ports ----------------------------------------------------------------------------------------------- */

/* "Ethernet12": its letters, with the kind of the box, and the last number. */
static uint64_t read_port(const fab_network *net, const fab_network_end *end, uint64_t *out_number) {
    size_t n = strlen(end->port);
    while (n > 0 && isdigit((unsigned char)end->port[n - 1])) {
        n--;
    }
    *out_number = strtoull(end->port + n, NULL, 10);
    return fab_fnv(FAB_FNV_BEGIN ^ (uint64_t)fab_network_is_host(net, end->node), end->port, n);
}

static uint32_t find_prefix(const audit_numbering *list, uint64_t key) {
    FAB_FIRST(i, list->n, list->of[i].key == key);
    return i;
}

void audit_numbering_find(const fab_network *net, audit_numbering *out) {
    for (uint32_t side = 0; side < 2 * net->n_cables; side++) {
        const fab_network_end *end = fab_network_near(net, side);
        uint64_t number = 0;
        if (end->port == NULL) {
            continue;
        }
        uint64_t key = read_port(net, end, &number);
        uint32_t i = find_prefix(out, key);
        if (i == out->n && i < AUDIT_PREFIXES) {
            out->of[out->n++].key = key;
            out->of[i].first = number;
        }
        if (i < AUDIT_PREFIXES) {
            uint64_t first = out->of[i].first < number ? out->of[i].first : number;
            out->of[i].step = fab_gcd(out->of[i].step, out->of[i].first + number - 2 * first);
            out->of[i].first = first;
        }
    }
}

typedef enum port_key { LETTERS_OFF, PLACE, N_KEYS } port_key;

static uint64_t key_of(const audit_ports *p, int is_plan, uint32_t side, port_key by) {
    const fab_network *net = is_plan != 0 ? p->plan->net : p->here->net;
    const fab_network_end *end = fab_network_near(net, side);
    uint64_t number = 0;
    uint64_t key = read_port(net, end, &number);
    if (by == PLACE) {
        uint32_t i = find_prefix(&p->numbering[is_plan], key);
        bool is_known = i < p->numbering[is_plan].n && p->numbering[is_plan].of[i].step > 0;
        return is_known ? (number - p->numbering[is_plan].of[i].first) / p->numbering[is_plan].of[i].step : number;
    }
    key = FAB_FNV_BEGIN;
    bool was_letter = true;
    for (const char *c = end->port; *c != '\0'; c++) { /* swp1s2 is 1/2, as Ethernet1/2 */
        bool is_digit = isdigit((unsigned char)*c) != 0;
        if (is_digit) {
            key = was_letter ? fab_fnv(key, "/", 1) : key;
            key = fab_fnv(key, c, 1);
        }
        was_letter = !is_digit;
    }
    return key;
}

/* The place in keys [n] of one that is there once; n: of none, or of two. */
static uint32_t find_key(const uint64_t *keys, uint32_t n, uint64_t key) {
    uint32_t found = n;
    for (uint32_t i = 0; i < n; i++) {
        if (keys[i] == key) {
            if (found < n) {
                return n;
            }
            found = i;
        }
    }
    return found;
}

bool audit_ports_differ(const audit_ports *p, uint32_t here, uint32_t planned) {
    const fab_shape *h = p->here;
    const fab_shape *w = p->plan;
    for (uint32_t i = h->first[here]; i < h->first[here + 1]; i++) {
        const char *port = fab_network_near(h->net, h->side[i])->port;
        for (uint32_t k = w->first[planned]; k < w->first[planned + 1]; k++) {
            const char *other = fab_network_near(w->net, w->side[k])->port;
            if (port == NULL || other == NULL || strcmp(port, other) == 0) {
                return false;
            }
        }
    }
    return true;
}

fab_status audit_ports_translate(audit_ports *p, uint32_t here, uint32_t planned, fab_error *err) {
    const uint32_t *one = p->here->side + p->here->first[here];
    const uint32_t *two = p->plan->side + p->plan->first[planned];
    uint32_t n_one = p->here->first[here + 1] - p->here->first[here];
    uint32_t n_two = p->plan->first[planned + 1] - p->plan->first[planned];
    uint32_t *place[N_KEYS] = {NULL}; /* [n_two]: which of one */
    FAB_OWNS_MEMBERS(place[LETTERS_OFF], place[PLACE]);
    uint32_t most = 0;
    uint32_t *best = NULL;
    if (n_one == 0 || n_two == 0 || !audit_ports_differ(p, here, planned)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint64_t, keys, n_one, err);
    for (port_key by = LETTERS_OFF; by < N_KEYS; by++) {
        uint32_t n = 0;
        FAB_PASS(FAB_NEW(place[by], n_two, err));
        FAB_FILL(keys, n_one, key_of(p, 0, one[fab_at], by));
        for (uint32_t k = 0; k < n_two; k++) {
            place[by][k] = find_key(keys, n_one, key_of(p, 1, two[k], by));
            n += place[by][k] < n_one;
        }
        best = n > most ? place[by] : best;
        most = n > most ? n : most;
    }
    bool by_order = 2 * most < (n_one < n_two ? n_one : n_two) && n_one == n_two;
    for (uint32_t k = 0; k < n_two; k++) {
        uint32_t i = by_order ? k : best != NULL ? best[k] : n_one;
        const char **port = &p->cables[two[k] >> 1].end[two[k] & 1].port;
        *port = i < n_one ? fab_network_near(p->here->net, one[i])->port : *port;
    }
    return FAB_OK;
}
