/* Components are taken apart into links: a mask is what happens to links, and which nodes are gone. */
#include "fab/mask.h"
#include "fab/fabric_parse.h"
#include "fab/names.h"
#include "fab/str.h"

const char *const fab_component_kinds[FAB_COMPONENT_N_KINDS] = {"link", "port",   "switch", "nic",
                                                                "gpu",  "server", "rack",   "plane"};

uint32_t fab_component_count(const fab_fabric *f, const fab_racks *racks, fab_component_kind kind) {
    uint32_t n = 0;
    switch (kind) {
    case FAB_COMPONENT_LINK:
    case FAB_COMPONENT_PORT:
        for (uint32_t c = 0; c < f->n_cables; c++) {
            n += fab_is_network(fab_class_of(f, 2 * c));
        }
        return kind == FAB_COMPONENT_LINK ? n : 2 * n;
    case FAB_COMPONENT_SWITCH: return fab_n_switches(f);
    case FAB_COMPONENT_NIC: return fab_n_of(f, FAB_NODE_NIC);
    case FAB_COMPONENT_GPU: return fab_n_gpus(f);
    case FAB_COMPONENT_SERVER: return f->n_servers;
    case FAB_COMPONENT_RACK: return racks != NULL ? racks->n_racks : 0;
    case FAB_COMPONENT_PLANE: return f->n_planes;
    default: return 0;
    }
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Ids that are not links count from 0. */
static fab_status check_id(const fab_fabric *f, const fab_racks *racks, fab_component_kind kind, uint64_t id,
                           fab_error *err) {
    uint32_t n = fab_component_count(f, racks, kind);
    const char *name = (uint32_t)kind < FAB_COMPONENT_N_KINDS ? fab_component_kinds[kind] : "component";
    FAB_REFUSE_IF(n == 0, err, FAB_EINPUT, NULL, "there is no %s-%" PRIu64 ": %s", name, id,
                  kind == FAB_COMPONENT_RACK ? FAB_NO_FLOOR : "there are none");
    return id < n ? FAB_OK
                  : fab_fail(err, FAB_EINPUT, NULL, "there is no %s-%" PRIu64 ": they are numbered 0 to %" PRIu32, name,
                             id, n - 1);
}

fab_status fab_component_check(const fab_fabric *f, const fab_racks *racks, const fab_component *c, fab_error *err) {
    FAB_REFUSE_IF((uint32_t)c->kind >= FAB_COMPONENT_N_KINDS, err, FAB_EINPUT, NULL, "component of unknown kind %d",
                  (int)c->kind);
    FAB_REFUSE_IF(!(c->fraction >= 0 && c->fraction < 1), err, FAB_EINPUT, NULL,
                  "%g of a %s is left: from 0 (dead) to below 1 is a failure", c->fraction,
                  fab_component_kinds[c->kind]);
    if (c->kind != FAB_COMPONENT_LINK && c->kind != FAB_COMPONENT_PORT) {
        return check_id(f, racks, c->kind, c->id, err);
    }
    FAB_REFUSE_IF(c->id >= f->n_links, err, FAB_EINPUT, NULL,
                  "there is no link %" PRIu32 ": they are numbered 0 to %" PRIu32, c->id, f->n_links - 1);
    if (!fab_is_network(fab_class_of(f, c->id))) {
        return fab_fail(err, FAB_EINPUT, NULL,
                        "%s is inside a server; links and ports that fail are those of the network",
                        FAB_SAY_LINK(f, c->id));
    }
    return FAB_OK;
}

/* "server-4", or the host's name: what no node is called. */
static bool parse_group(const fab_fabric *f, const char *text, fab_component_kind *out_kind, uint64_t *out_id) {
    uint32_t server = fab_names_find_server(f->names, text, strlen(text));
    if (server != FAB_NONE) {
        *out_kind = FAB_COMPONENT_SERVER;
        *out_id = server;
        return true;
    }
    static const fab_component_kind KINDS[] = {FAB_COMPONENT_SERVER, FAB_COMPONENT_RACK, FAB_COMPONENT_PLANE};
    for (size_t i = 0; i < FAB_N_OF(KINDS); i++) {
        size_t n = strlen(fab_component_kinds[KINDS[i]]);
        const char *digits = text + n + 1;
        if (strncmp(text, fab_component_kinds[KINDS[i]], n) == 0 && text[n] == '-' && *digits != '\0' &&
            strlen(digits) <= 10 && strspn(digits, "0123456789") == strlen(digits)) {
            *out_kind = KINDS[i];
            *out_id = strtoull(digits, NULL, 10);
            return true;
        }
    }
    return false;
}

static fab_status set_node(const fab_fabric *f, fab_node_id node, fab_component *out, fab_error *err) {
    static const fab_component_kind KINDS[] = {[FAB_NODE_GPU] = FAB_COMPONENT_GPU,
                                               [FAB_NODE_NIC] = FAB_COMPONENT_NIC,
                                               [FAB_NODE_SWITCH] = FAB_COMPONENT_SWITCH};
    fab_node_kind kind = fab_kind_of(f, node);
    if (kind == FAB_NODE_DOMAIN) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "%s is a scale-up domain, which does not fail as one: name its GPUs or servers",
                        FAB_SAY_NODE(f, node));
    }
    out->kind = KINDS[kind];
    out->id = node - f->first[kind];
    return FAB_OK;
}

static fab_status parse_fraction(const char *text, double *out, fab_error *err) {
    char *end = NULL;
    *out = strtod(text, &end);
    FAB_REFUSE_IF(text[strspn(text, "0123456789.eE-")] != '\0' || end == text || *end != '\0' ||
                      !(*out >= 0 && *out < 1),
                  err, FAB_EINPUT, NULL, "'%.40s' is not what may be left of a component: 0 (dead) to below 1", text);
    return FAB_OK;
}

fab_status fab_component_parse(const fab_fabric *f, const fab_racks *racks, const char *text, fab_component *out,
                               fab_error *err) {
    char name[FAB_COMPONENT_NAME_SIZE];
    fab_component c = {.fraction = 0};
    uint64_t id = 0;
    fab_node_id node = 0;
    const char *times = strrchr(text, '*');
    size_t n = times != NULL ? (size_t)(times - text) : strlen(text);
    FAB_REFUSE_IF(n == 0 || n >= sizeof name, err, FAB_EINPUT, NULL,
                  "'%.60s' names no component; as leaf-3, nic-7, leaf-0:17 > spine-0:1, server-4", text);
    memcpy(name, text, n);
    name[n] = '\0';
    FAB_PASS(times != NULL ? parse_fraction(times + 1, &c.fraction, err) : FAB_OK);
    bool is_installed = fab_names_find_node(f->names, name, n) != FAB_NONE; /* its name may look like a port's */
    bool is_group = !is_installed && parse_group(f, name, &c.kind, &id);
    if (!is_installed && (strchr(name, '>') != NULL || (strchr(name, ':') != NULL && !is_group))) {
        c.kind = strchr(name, '>') != NULL ? FAB_COMPONENT_LINK : FAB_COMPONENT_PORT;
        FAB_PASS(fab_link_parse(f, name, &c.id, err));
    } else if (is_group) {
        FAB_PASS(check_id(f, racks, c.kind, id, err));
        c.id = (uint32_t)id;
    } else {
        FAB_PASS(fab_node_parse(f, name, &node, err));
        FAB_PASS(set_node(f, node, &c, err));
    }
    FAB_PASS(fab_component_check(f, racks, &c, err));
    *out = c;
    return FAB_OK;
}

const char *fab_component_name(const fab_fabric *f, const fab_component *c, char *out) {
    static const fab_node_kind NODES[] = {[FAB_COMPONENT_SWITCH] = FAB_NODE_SWITCH,
                                          [FAB_COMPONENT_NIC] = FAB_NODE_NIC,
                                          [FAB_COMPONENT_GPU] = FAB_NODE_GPU};
    char *end = NULL;
    switch (c->kind) {
    case FAB_COMPONENT_LINK:
    case FAB_COMPONENT_PORT: (void)fab_link_name(f, c->id, out); break;
    case FAB_COMPONENT_SERVER: (void)fab_server_name(f, c->id, out); break;
    case FAB_COMPONENT_SWITCH:
    case FAB_COMPONENT_NIC:
    case FAB_COMPONENT_GPU: (void)fab_node_name(f, f->first[NODES[c->kind]] + c->id, out); break;
    default: (void)snprintf(out, FAB_COMPONENT_NAME_SIZE, "%s-%" PRIu32, fab_component_kinds[c->kind], c->id);
    }
    if (c->kind == FAB_COMPONENT_PORT && (end = strstr(out, " > ")) != NULL) {
        *end = '\0'; /* the end of the cable that is meant */
    }
    if (c->fraction > 0) {
        size_t n = strlen(out);
        (void)snprintf(out + n, FAB_COMPONENT_NAME_SIZE - n, "*%s", fab_format_double(FAB_ROOM, c->fraction));
    }
    return out;
}

/* --- masks -------------------------------------------------------------------------------------------------------- */

fab_status fab_mask_init(const fab_fabric *f, const fab_racks *racks, fab_mask *out, fab_error *err) {
    FAB_OWNS(fab_mask_release) fab_mask mask = {.fabric = f, .racks = racks != NULL ? *racks : (fab_racks){0}};
    FAB_PASS(FAB_NEW(mask.dead_link, (size_t)f->n_links / 64 + 1, err));
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, mask.residual, mask.link));
    FAB_PASS(FAB_NEW(mask.dead_node, (size_t)f->n_nodes / 64 + 1, err));
    FAB_PASS(FAB_NEW(mask.node, f->n_nodes, err));
    FAB_PASS(FAB_NEW(mask.server, f->n_servers, err));
    FAB_FILL(mask.residual, f->n_links, 1);
    return FAB_GIVE(*out, mask);
}

FAB_RELEASES(fab_mask_release, fab_mask, dead_link, residual, link, dead_node, node, server);

static void mask_clear(fab_mask *m) {
    for (uint32_t i = 0; i < m->n_links; i++) {
        m->residual[m->link[i]] = 1;
        m->dead_link[m->link[i] >> 6] = 0;
    }
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        m->dead_node[m->node[i] >> 6] = 0;
    }
    m->n_links = 0;
    m->n_nodes = 0;
    m->n_servers = 0;
}

static void cut_cable(fab_mask *m, fab_link_id link, double fraction) {
    for (uint32_t i = 0; i < 2; i++, link ^= 1U) {
        if (fraction >= m->residual[link]) {
            continue;
        }
        if (m->residual[link] == 1) {
            m->link[m->n_links++] = link;
        }
        m->residual[link] = fraction;
        if (fraction == 0) {
            m->dead_link[link >> 6] |= UINT64_C(1) << (link & 63);
        }
    }
}

static void cut_node(fab_mask *m, fab_node_id v, double fraction) {
    const fab_fabric *f = m->fabric;
    bool throttled = fraction > 0 && fab_kind_of(f, v) == FAB_NODE_GPU; /* computes slower, and keeps its links */
    for (uint32_t k = f->out_first[v]; !throttled && k < f->out_first[v + 1]; k++) {
        cut_cable(m, f->out_link[k], fraction);
    }
    if (fraction == 0 && !fab_mask_node_is_dead(m, v)) {
        m->dead_node[v >> 6] |= UINT64_C(1) << (v & 63);
        m->node[m->n_nodes++] = v;
    }
}

static void cut_server(fab_mask *m, uint32_t server, double fraction) {
    const fab_fabric *f = m->fabric;
    bool known = false;
    for (uint32_t i = 0; i < f->gpus_per_server; i++) {
        cut_node(m, f->first[FAB_NODE_GPU] + server * f->gpus_per_server + i, fraction);
    }
    for (uint32_t i = 0; i < f->nics_per_server; i++) {
        cut_node(m, f->first[FAB_NODE_NIC] + server * f->nics_per_server + i, fraction);
    }
    for (uint32_t i = 0; i < m->n_servers && !known; i++) {
        known = m->server[i] == server;
    }
    if (fraction == 0 && !known) {
        m->server[m->n_servers++] = server;
    }
}

static void cut_rack(fab_mask *m, uint32_t rack, double fraction) {
    const fab_fabric *f = m->fabric;
    for (uint32_t s = 0; s < f->n_servers; s++) {
        if (fab_racks_of_server(&m->racks, s) == rack) {
            cut_server(m, s, fraction);
        }
    }
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        if (m->racks.switch_rack[v] == rack) {
            cut_node(m, f->first[FAB_NODE_SWITCH] + v, fraction);
        }
    }
}

static void mask_cut(fab_mask *m, const fab_component *c) {
    const fab_fabric *f = m->fabric;
    switch (c->kind) {
    case FAB_COMPONENT_LINK:
    case FAB_COMPONENT_PORT: cut_cable(m, c->id, c->fraction); break;
    case FAB_COMPONENT_SWITCH: cut_node(m, f->first[FAB_NODE_SWITCH] + c->id, c->fraction); break;
    case FAB_COMPONENT_NIC: cut_node(m, f->first[FAB_NODE_NIC] + c->id, c->fraction); break;
    case FAB_COMPONENT_GPU: cut_node(m, f->first[FAB_NODE_GPU] + c->id, c->fraction); break;
    case FAB_COMPONENT_SERVER: cut_server(m, c->id, c->fraction); break;
    case FAB_COMPONENT_RACK: cut_rack(m, c->id, c->fraction); break;
    default:
        for (uint32_t v = 0; v < fab_n_switches(f); v++) {
            if (f->switch_plane[v] == c->id) {
                cut_node(m, f->first[FAB_NODE_SWITCH] + v, c->fraction);
            }
        }
    }
}

fab_status fab_mask_set(fab_mask *mask, const fab_component *components, size_t n, fab_error *err) {
    mask_clear(mask);
    for (size_t i = 0; i < n; i++) {
        FAB_PASS(fab_component_check(mask->fabric, &mask->racks, &components[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        mask_cut(mask, &components[i]);
    }
    return FAB_OK;
}
