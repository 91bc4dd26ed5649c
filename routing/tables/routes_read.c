/* Routes of switches that run FRR, SONiC among them: what `show ip route json` says, in a folder with a file for each
 * switch, or in one file by the names of switches. A leaf owns the prefixes that it is connected to at ports of NICs;
 * the group of another switch for it is the longest match of these. Source: FRR, zebra/zebra_vty.c. */
#include "tables_read.h"

#include "fab/box_files.h"
#include "fab/fabric_parse.h"
#include "fab/json_read.h"

#include <arpa/inet.h>

#define MOST_BYTES ((size_t)1 << 30)
#define LENGTHS    129

typedef struct prefix {
    unsigned char bits[16];
    bool is_6;
    uint8_t length;
} prefix;

typedef struct route {
    prefix to;
    uint32_t v;     /* index of the switch */
    uint32_t group; /* of the builder; 0: discarded */
} route;

/* What a leaf is connected to at the ports of its NICs. */
typedef struct owned {
    uint32_t leaf;
    prefix to;
} owned;

typedef struct routes_reader {
    const fab_router *router;
    const fab_fabric *f;
    const char *path; /* of the file at hand */
    fab_weights weights;
    fab_group_builder *groups;
    route *route;
    owned *owned;
    size_t n_routes, route_capacity, n_owned, owned_capacity;
    bool *is_told;      /* [n_switches] */
    size_t *first;      /* [n_switches + 1]: of its routes, by prefix */
    fab_link_id *links; /* [ports of a switch] */
    double *weight;     /* likewise */
} routes_reader;

/* --- prefixes ----------------------------------------------------------------------------------------------------- */

static void mask_prefix(prefix *p, unsigned length) {
    p->length = (uint8_t)length;
    for (unsigned i = 0; i < sizeof p->bits; i++) {
        unsigned left = length > 8 * i ? length - 8 * i : 0;
        p->bits[i] &= (unsigned char)(left >= 8 ? 0xff : 0xff << (8 - left));
    }
}

/* "10.0.0.0/31", "2001:db8::/64" */
static bool read_prefix(const char *text, prefix *out) {
    char address[64];
    const char *slash = strchr(text, '/');
    char *behind = NULL;
    *out = (prefix){.is_6 = strchr(text, ':') != NULL};
    unsigned long most = out->is_6 ? 128 : 32;
    if (slash == NULL || (size_t)(slash - text) >= sizeof address || slash[1] < '0' || slash[1] > '9') {
        return false;
    }
    FAB_FORMAT(address, "%.*s", (int)(slash - text), text);
    unsigned long length = strtoul(slash + 1, &behind, 10);
    if (*behind != '\0' || length > most || inet_pton(out->is_6 ? AF_INET6 : AF_INET, address, out->bits) != 1) {
        return false;
    }
    mask_prefix(out, (unsigned)length);
    return true;
}

static int compare_prefixes(const prefix *a, const prefix *b) {
    FAB_ORDER_BY(a->is_6, b->is_6);
    FAB_ORDER_BY(a->length, b->length);
    return memcmp(a->bits, b->bits, sizeof a->bits);
}

FAB_ORDER_KEYS(routes_by_prefix, route, FAB_ORDER(a->v, b->v), compare_prefixes(&a->to, &b->to));

/* The longest route of a switch that covers `to`; NULL: none. `has`: lengths that its routes have. */
static const route *longest_match(const routes_reader *r, uint32_t v, prefix to, const bool *has) {
    for (unsigned length = to.length + 1U; length-- > 0;) {
        if (has[length]) {
            route wanted = {.v = v, .to = to};
            mask_prefix(&wanted.to, length);
            const route *found = bsearch(&wanted, r->route + r->first[v], r->first[v + 1] - r->first[v], sizeof *found,
                                         routes_by_prefix);
            if (found != NULL) {
                return found;
            }
        }
    }
    return NULL;
}

/* --- a route ------------------------------------------------------------------------------------------------------ */

/* The link behind an interface, by its name or, of a design, the number behind its letters; FAB_NONE: no port of this
 * fabric. */
static fab_link_id link_of(const fab_fabric *f, fab_node_id v, const char *interface) {
    size_t letters = strcspn(interface, "0123456789");
    const char *digits = interface + letters;
    bool is_number = *digits != '\0' && strlen(digits) < 6 && digits[strspn(digits, "0123456789")] == '\0' &&
                     (letters == 3 && strncmp(interface, "swp", 3) == 0);
    FAB_EACH_LINK(f, v, link) {
        bool is_it = f->names != NULL ? strcmp(FAB_SAY_PORT(f, link), interface) == 0
                                      : is_number && f->port[link] == strtoul(digits, NULL, 10);
        if (is_it) {
            return link;
        }
    }
    return FAB_NONE;
}

typedef struct hop {
    uint32_t port; /* the first, by which they are sorted */
    fab_link_id link;
    double weight;
} hop;

/* Next hops in use, by port. Those through boxes that import has left out are no part of the fabric. */
static fab_status read_hops(routes_reader *r, const fab_json *json, uint32_t entry, fab_node_id v, const char *to,
                            uint32_t *out_n, fab_error *err) {
    const fab_fabric *f = r->f;
    uint32_t list = fab_json_member(json, entry, "nexthops");
    uint32_t most = f->out_first[v + 1] - f->out_first[v];
    uint32_t n = 0;
    FAB_OWNED_NEW(hop, hops, (size_t)most + 1, err);
    FAB_JSON_EACH(json, i, list) {
        const char *interface = fab_json_text_of(json, i, "interfaceName", NULL);
        bool is_used = fab_json_number_of(json, i, "fib", 0) > 0;
        if (!is_used || interface == NULL) {
            continue;
        }
        fab_link_id link = link_of(f, v, interface);
        if (link == FAB_NONE && f->names != NULL) {
            continue;
        }
        FAB_REFUSE_IF(link == FAB_NONE, err, FAB_EINPUT, r->path,
                      "%s of %s: '%.40s' is no port of this switch; import the fabric where its ports have names", to,
                      FAB_SAY_NODE(f, v), interface);
        FAB_REFUSE_IF(n == most, err, FAB_EINPUT, r->path, "%s of %s: more next hops than ports", to,
                      FAB_SAY_NODE(f, v));
        hops[n++] = (hop){f->port[link], link, fab_json_number_of(json, i, "weight", 1)};
    }
    qsort(hops, n, sizeof *hops, fab_order_u32);
    for (uint32_t i = 0; i < n; i++) {
        FAB_REFUSE_IF(i > 0 && hops[i].port == hops[i - 1].port, err, FAB_EINPUT, r->path,
                      "%s of %s: a port stands there twice", to, FAB_SAY_NODE(f, v));
        r->links[i] = hops[i].link;
        r->weight[i] = hops[i].weight;
    }
    *out_n = n;
    return FAB_OK;
}

/* Weights that differ are used, as the engine takes them; NULL: all are alike. */
static fab_status choose_weights(const routes_reader *r, uint32_t n, const char *to, const double **out,
                                 fab_error *err) {
    bool is_equal = true;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        is_equal = is_equal && r->weight[i] == r->weight[0];
        sum += r->weight[i];
        FAB_REFUSE_IF(!(r->weight[i] > 0 && r->weight[i] <= FAB_WEIGHTS_MOST), err, FAB_EINPUT, r->path,
                      "%s: a weight of %g; it is above 0 and up to %u", to, r->weight[i], FAB_WEIGHTS_MOST);
    }
    *out = is_equal ? NULL : r->weight;
    FAB_REFUSE_IF(!is_equal && (r->weights == FAB_WEIGHTS_NONE || sum > FAB_WEIGHTS_MOST), err, FAB_EUNSUPPORTED,
                  r->path, "%s: weights differ; engine ecmp hashes over them and engine file splits by them", to);
    return FAB_OK;
}

static bool leads_to_nic(const routes_reader *r, fab_link_id link) {
    return fab_class_of(r->f, link)->kind == FAB_LINK_ACCESS;
}

/* A prefix of link-local addresses stands at every port. */
static bool is_link_local(const prefix *p) {
    return p->is_6 ? p->bits[0] == 0xfe && (p->bits[1] & 0xc0) == 0x80 : p->bits[0] == 169 && p->bits[1] == 254;
}

/* The subnet of several ports: "Vlan100", "vlan100", "bridge", "br0". */
static bool is_subnet(const char *interface) {
    return strncmp(interface, "Vlan", 4) == 0 || strncmp(interface, "vlan", 4) == 0 || strncmp(interface, "br", 2) == 0;
}

static fab_status add_owned(routes_reader *r, uint32_t leaf, const prefix *to, fab_error *err) {
    return FAB_APPEND(r->owned, r->n_owned, r->owned_capacity, err, (owned){leaf, *to});
}

static fab_status add_route(routes_reader *r, const fab_json *json, uint32_t entry, fab_node_id v, const char *text,
                            fab_error *err) {
    uint32_t i_switch = v - r->f->first[FAB_NODE_SWITCH];
    uint32_t leaf = r->router->next_hops->leaf_index[i_switch];
    route made = {.v = i_switch};
    uint32_t n = 0;
    const double *weight = NULL;
    FAB_REFUSE_IF(!read_prefix(text, &made.to), err, FAB_EINPUT, r->path, "'%.60s' is no prefix, as 10.0.0.0/24 is",
                  text);
    if (strcmp(fab_json_text_of(json, entry, "protocol", ""), "connected") == 0) {
        uint32_t list = fab_json_member(json, entry, "nexthops");
        const char *interface = fab_json_text_of(json, fab_json_first(json, list), "interfaceName", "");
        fab_link_id link = link_of(r->f, v, interface);
        bool is_hosts = link != FAB_NONE ? leads_to_nic(r, link) : is_subnet(interface);
        return is_hosts && leaf != FAB_NONE && !is_link_local(&made.to) ? add_owned(r, leaf, &made.to, err) : FAB_OK;
    }
    FAB_PASS(read_hops(r, json, entry, v, text, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        FAB_REFUSE_IF(leads_to_nic(r, r->links[i]), err, FAB_EUNSUPPORTED, r->path,
                      "%.60s leads to a NIC: hosts that announce routes are not read", text);
    }
    FAB_PASS(choose_weights(r, n, text, &weight, err));
    FAB_PASS(n > 0 ? fab_group_builder_add(r->groups, r->links, weight, n, &made.group, err) : FAB_OK);
    return FAB_APPEND(r->route, r->n_routes, r->route_capacity, err, made);
}

/* --- a switch ----------------------------------------------------------------------------------------------------- */

/* {"10.0.0.0/31": [{"selected": true, "nexthops": [...]}, ...], ...} */
static fab_status read_switch_routes(routes_reader *r, const fab_json *json, uint32_t object, fab_node_id v,
                                     fab_error *err) {
    uint32_t i_switch = v - r->f->first[FAB_NODE_SWITCH];
    FAB_REFUSE_IF(r->is_told[i_switch], err, FAB_EINPUT, r->path, "the routes of %s stand there twice",
                  FAB_SAY_NODE(r->f, v));
    r->is_told[i_switch] = true;
    FAB_JSON_EACH(json, i, object) {
        FAB_REFUSE_IF(json->values[i].kind != FAB_JSON_ARRAY, err, FAB_EINPUT, r->path,
                      "'%.60s' has no list of routes, as show ip route json prints",
                      json->values[i].key != NULL ? json->values[i].key : "");
        FAB_JSON_EACH(json, k, i) {
            if (fab_json_number_of(json, k, "selected", 0) > 0) {
                FAB_PASS(add_route(r, json, k, v, json->values[i].key, err));
                break;
            }
        }
    }
    return FAB_OK;
}

static fab_status find_switch(const routes_reader *r, const char *name, size_t n, fab_node_id *out, fab_error *err) {
    char text[FAB_NODE_NAME_SIZE] = "";
    if (n < sizeof text) {
        memcpy(text, name, n);
    }
    if (fab_node_parse(r->f, text, out, NULL) == FAB_OK && fab_kind_of(r->f, *out) == FAB_NODE_SWITCH) {
        return FAB_OK;
    }
    *out = FAB_NONE;
    return r->f->names != NULL
               ? FAB_OK /* import may have left it out */
               : fab_fail(err, FAB_EINPUT, r->path, "'%.*s' is no switch of this fabric", (int)(n < 60 ? n : 60), name);
}

/* Routes of the switch that the file is called by, or of those that it names. */
static fab_status read_routes_file(void *context, const char *path, fab_error *err) {
    routes_reader *r = context;
    FAB_OWNS(fab_str_release) fab_str bytes = FAB_STR_INIT;
    FAB_OWNS(fab_json_release) fab_json json = {.n = 0};
    fab_node_id v = FAB_NONE;
    const char *name = NULL;
    r->path = path;
    FAB_PASS(fab_read_file(path, MOST_BYTES, &bytes, err));
    FAB_PASS(fab_json_parse(bytes.data != NULL ? bytes.data : "", path, &json, err));
    FAB_REFUSE_IF(json.values[0].kind != FAB_JSON_OBJECT, err, FAB_EINPUT, path,
                  "is no object of routes, as show ip route json prints");
    uint32_t first = json.values[0].first;
    if (first == FAB_JSON_NONE || strchr(json.values[first].key, '/') != NULL) {
        size_t n = fab_path_box(path, &name);
        FAB_PASS(find_switch(r, name, n, &v, err));
        FAB_PASS(v != FAB_NONE ? read_switch_routes(r, &json, 0, v, err) : FAB_OK);
        return FAB_OK;
    }
    FAB_JSON_EACH(&json, i, 0) {
        FAB_PASS(find_switch(r, json.values[i].key, strlen(json.values[i].key), &v, err));
        FAB_REFUSE_IF(json.values[i].kind != FAB_JSON_OBJECT, err, FAB_EINPUT, path, "'%.60s' has no routes",
                      json.values[i].key);
        FAB_PASS(v != FAB_NONE ? read_switch_routes(r, &json, i, v, err) : FAB_OK);
    }
    return FAB_OK;
}

/* --- from prefixes to leaves -------------------------------------------------------------------------------------- */

FAB_ORDER_KEYS(owned_by_leaf, owned, FAB_ORDER(a->leaf, b->leaf), compare_prefixes(&a->to, &b->to));

/* Every leaf that others may send to owns a prefix, and every switch that may send has told its routes. */
static fab_status check_told(const routes_reader *r, const char *path, fab_error *err) {
    const fab_next_hops *t = r->router->next_hops;
    size_t k = 0;
    for (uint32_t i = 0; i < fab_n_switches(r->f); i++) {
        FAB_REFUSE_IF(!r->is_told[i] && r->f->out_first[r->f->first[FAB_NODE_SWITCH] + i] <
                                            r->f->out_first[r->f->first[FAB_NODE_SWITCH] + i + 1],
                      err, FAB_EINPUT, path, "has no routes of %s",
                      FAB_SAY_NODE(r->f, r->f->first[FAB_NODE_SWITCH] + i));
    }
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        while (k < r->n_owned && r->owned[k].leaf < leaf) {
            k++;
        }
        FAB_REFUSE_IF(k == r->n_owned || r->owned[k].leaf != leaf, err, FAB_EINPUT, path,
                      "%s has no prefix that is connected at a port of a NIC, or at a Vlan",
                      FAB_SAY_NODE(r->f, t->leaf_node[leaf]));
    }
    return FAB_OK;
}

/* The group of a switch for every leaf: that of all its prefixes. */
static fab_status match_switch(routes_reader *r, uint32_t v, const char *path, fab_error *err) {
    const fab_next_hops *t = r->router->next_hops;
    bool has[2][LENGTHS] = {{false}};
    for (size_t i = r->first[v]; i < r->first[v + 1]; i++) {
        has[r->route[i].to.is_6][r->route[i].to.length] = true;
    }
    for (size_t i = 0; i < r->n_owned; i++) {
        const owned *o = &r->owned[i];
        bool is_joined = fab_next_hops_group(t, v, o->leaf) != 0; /* a default route covers other planes, too */
        const route *found =
            is_joined && t->leaf_index[v] != o->leaf ? longest_match(r, v, o->to, has[o->to.is_6]) : NULL;
        uint32_t group = found != NULL ? found->group : 0;
        bool is_first = i == 0 || r->owned[i - 1].leaf != o->leaf;
        uint32_t *set = &r->groups->group_of[(size_t)v * t->n_leaves + o->leaf];
        if (!is_first && *set != group) {
            char name[2][FAB_NODE_NAME_SIZE];
            return fab_fail(err, FAB_EUNSUPPORTED, path,
                            "%s sends to two prefixes of %s by different next hops; one group per leaf is read",
                            fab_node_name(r->f, r->f->first[FAB_NODE_SWITCH] + v, name[0]),
                            fab_node_name(r->f, t->leaf_node[o->leaf], name[1]));
        }
        *set = group;
    }
    return FAB_OK;
}

bool fab_routes_are_there(const char *path, fab_text in) {
    if (fab_is_folder(path)) {
        return true;
    }
    while (fab_text_next(&in)) {
        fab_token t = fab_text_token(&in);
        if (t.length > 0) {
            return t.text[0] == '{';
        }
    }
    return false;
}

fab_status fab_routes_read(const fab_router *router, const char *path, fab_weights weights, fab_group_builder *groups,
                           fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t n_switches = fab_n_switches(f);
    routes_reader r = {.router = router, .f = f, .weights = weights, .groups = groups};
    FAB_OWNS_MEMBERS(r.route, r.owned, r.is_told, r.first, r.links, r.weight);
    size_t most = fab_switch_degree(f);
    FAB_PASS(FAB_NEW(r.is_told, n_switches, err));
    FAB_PASS(FAB_NEW(r.first, (size_t)n_switches + 1, err));
    FAB_PASS(FAB_NEW_ALL(most + 1, err, r.links, r.weight));
    FAB_PASS(fab_folder_each(
        path, &(fab_folder_visit){.read = read_routes_file, .context = &r, .most_depth = 1, .may_be_empty = true},
        err));
    FAB_SORT(r.route, r.n_routes, routes_by_prefix);
    FAB_SORT(r.owned, r.n_owned, owned_by_leaf);
    for (size_t i = 0; i < r.n_routes; i++) {
        r.first[r.route[i].v + 1]++;
    }
    FAB_ADD_UP(r.first, n_switches);
    FAB_PASS(check_told(&r, path, err));
    for (uint32_t v = 0; v < n_switches; v++) {
        FAB_PASS(match_switch(&r, v, path, err));
    }
    return FAB_OK;
}
