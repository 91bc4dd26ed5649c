/*
 * NCCL's topology [NVIDIA nccl, src/graph/xml.cc, topo.cc]: elements cpu > pci > pci ... > gpu or nic > net. Files that
 * people write leave out what NCCL detects, so that a PCI device is a GPU or NIC by its class too.
 */
#include "server_reader.h"

fab_status server_wrong(const server_reader *r, uint32_t line, uint32_t column, fab_status code, const char *text,
                        fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    return fab_fail(err, code, fab_xml_place(where, r->path, line, column), "%s", text);
}

fab_status server_wrong_value(const server_reader *r, const fab_xml_attribute *a, const char *expected,
                              fab_error *err) {
    char text[200];
    FAB_FORMAT(text, "%.30s: '%.60s' is no %s", a->name, a->value, expected);
    return server_wrong(r, a->line, a->column, FAB_EINPUT, text, err);
}

bool server_parse_number(const char *text, const char *ending, double most, double *out) {
    char *end = NULL;
    double value = strtod(text, &end);
    bool starts = *text >= '0' && *text <= '9';
    if (!starts || strcmp(end, ending) != 0 || !(value >= 0 && value <= most)) {
        return false;
    }
    *out = value;
    return true;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* bit/s of a PCIe link, 0 where the file does not say. PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b
 * up to 32, FLITs of 242 in 256 bytes at 64. */
static fab_status read_pcie(const server_reader *r, const fab_xml_element *e, double *out_bps, fab_error *err) {
    const fab_xml_attribute *speed = fab_xml_find(e, "link_speed");
    const fab_xml_attribute *width = fab_xml_find(e, "link_width");
    double gt = 0;
    double lanes = 0;
    *out_bps = 0;
    if (r->is_hwloc) {
        return server_hwloc_pcie(r, e, out_bps, err);
    }
    if (speed == NULL || width == NULL || speed->value[0] == '\0' || strncmp(speed->value, "Unknown", 7) == 0) {
        return FAB_OK;
    }
    FAB_RETURN_IF(!server_parse_number(speed->value, " GT/s", 1000, &gt) &&
                      !server_parse_number(speed->value, " GT/s PCIe", 1000, &gt) &&
                      !server_parse_number(speed->value, "GT/s", 1000, &gt),
                  server_wrong_value(r, speed, "speed such as \"16 GT/s\"", err));
    FAB_RETURN_IF(!server_parse_number(width->value, "", 64, &lanes) || lanes != floor(lanes),
                  server_wrong_value(r, width, "number of lanes up to 64", err));
    double share = gt <= 5 ? 0.8 : gt <= 32 ? 128.0 / 130 : 242.0 / 256;
    *out_bps = floor(gt * 1e3 * lanes * share) * 1e6; /* whole Mb/s: what follows can be written down */
    return FAB_OK;
}

/* bit/s per direction of one NVLink of a GPU by its compute capability, 0 where not known: NVLink 1 has 20 GB/s, 2 to 4
 * have 25, 5 has 50 [NVIDIA data sheets: P100, V100, A100, H100, B200]. */
static double nvlink_rate(double sm) {
    return sm == 60 ? 20e9 * 8 : sm == 70 || sm == 80 || sm == 90 ? 25e9 * 8 : sm == 100 ? 50e9 * 8 : 0;
}

/* Sum over <nvlink count=...> below <gpu sm=...>. AMD's <xgmi> have no rate in the file. */
static fab_status read_nvlinks(const server_reader *r, const fab_xml_element *gpu, double *out_bps, fab_error *err) {
    const fab_xml_attribute *sm = fab_xml_find(gpu, "sm");
    double links = 0;
    double capability = 0;
    *out_bps = 0;
    for (const fab_xml_element *e = gpu->first_child; e != NULL; e = e->next) {
        const fab_xml_attribute *count = fab_xml_find(e, "count");
        double n = 0;
        if (strcmp(e->name, "nvlink") != 0) {
            continue;
        }
        FAB_RETURN_IF(count == NULL, server_wrong(r, e->line, e->column, FAB_EINPUT, "an nvlink without a count", err));
        FAB_RETURN_IF(!server_parse_number(count->value, "", 1000, &n),
                      server_wrong_value(r, count, "number of links up to 1000", err));
        links += n;
    }
    FAB_RETURN_IF(links > 0 && sm != NULL && !server_parse_number(sm->value, "", 1e6, &capability),
                  server_wrong_value(r, sm, "compute capability such as 90", err));
    *out_bps = links * nvlink_rate(capability);
    return FAB_OK;
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

/* First byte of a PCI class such as 0x030200, or -1. */
static int class_of(const fab_xml_element *e) {
    const char *text = server_value(e, "class");
    char *end = NULL;
    if (strncmp(text, "0x", 2) != 0 || strlen(text) != 8) {
        return -1;
    }
    unsigned long value = strtoul(text + 2, &end, 16);
    return *end == '\0' ? (int)(value >> 16) : -1;
}

static const fab_xml_element *child(const fab_xml_element *e, const char *name) {
    const fab_xml_element *c = e->first_child;
    while (c != NULL && strcmp(c->name, name) != 0) {
        c = c->next;
    }
    return c;
}

static bool is_gpu(const fab_xml_element *pci) {
    int kind = class_of(pci); /* display controllers, processing accelerators */
    return child(pci, "gpu") != NULL || ((kind == 0x03 || kind == 0x12) && child(pci, "nic") == NULL);
}

static bool is_nic(const fab_xml_element *pci) {
    return child(pci, "nic") != NULL || class_of(pci) == 0x02;
}

void server_copy_name(char out[FAB_SERVER_NAME], const char *text) {
    (void)snprintf(out, FAB_SERVER_NAME, "%.*s", FAB_SERVER_NAME - 1, text);
}

static void find_numa(const server_reader *r, const fab_xml_element *e, char out[FAB_SERVER_NAME]) {
    if (r->is_hwloc) {
        server_hwloc_numa(e, out);
        return;
    }
    while (e != NULL && strcmp(e->name, "cpu") != 0) {
        e = e->parent;
    }
    server_copy_name(out, e != NULL ? server_value(e, "numaid") : "");
}

/* Speeds of <net> are Mb/s. */
static fab_status describe_nic(const server_reader *r, const fab_xml_element *nic, fab_server_nic *out,
                               fab_error *err) {
    for (const fab_xml_element *net = nic != NULL ? nic->first_child : NULL; net != NULL; net = net->next) {
        const fab_xml_attribute *speed = fab_xml_find(net, "speed");
        double mbps = 0;
        if (strcmp(net->name, r->is_hwloc ? "object" : "net") != 0) {
            continue;
        }
        FAB_RETURN_IF(speed != NULL && !server_parse_number(speed->value, "", 1e9, &mbps),
                      server_wrong_value(r, speed, "speed in Mb/s", err));
        out->bps += mbps * 1e6;
        if (server_value(net, "name")[0] != '\0') {
            server_copy_name(out->name, server_value(net, "name"));
        }
    }
    return FAB_OK;
}

static fab_status check_bus(const server_reader *r, const fab_xml_element *pci, fab_error *err) {
    const fab_xml_attribute *bus = fab_xml_find(pci, server_bus_key(r));
    FAB_RETURN_IF(bus == NULL || bus->value[0] == '\0',
                  server_wrong(r, pci->line, pci->column, FAB_EINPUT, "a GPU or NIC without a busid", err));
    const fab_xml_element *const *lists[] = {r->gpu, r->nic};
    const uint32_t n[] = {r->shape->n_gpus, r->shape->n_nics};
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t i = 0; i < n[kind]; i++) {
            if (lists[kind][i] != NULL && strcmp(server_value(lists[kind][i], server_bus_key(r)), bus->value) == 0) {
                char text[120];
                FAB_FORMAT(text, "busid '%.40s' is taken: line %u has it already", bus->value,
                           (unsigned)lists[kind][i]->line);
                return server_wrong(r, bus->line, bus->column, FAB_EINPUT, text, err);
            }
        }
    }
    return FAB_OK;
}

fab_status server_add(server_reader *r, const fab_xml_element *pci, bool gpu, fab_error *err) {
    fab_server_shape *s = r->shape;
    FAB_PASS(check_bus(r, pci, err));
    if (gpu ? s->n_gpus == FAB_SERVER_GPUS : s->n_nics == FAB_SERVER_NICS) {
        FAB_PASS(
            server_wrong(r, pci->line, pci->column, FAB_EUNSUPPORTED, "more than 64 GPUs or NICs in a server", err));
    }
    if (gpu) {
        fab_server_gpu *g = &s->gpu[s->n_gpus];
        r->gpu[s->n_gpus++] = pci;
        server_copy_name(g->name, server_value(pci, server_bus_key(r)));
        find_numa(r, pci, g->numa);
        const fab_xml_element *inner = child(pci, "gpu");
        FAB_PASS(inner != NULL ? read_nvlinks(r, inner, &g->nvlink_bps, err) : FAB_OK);
    } else {
        fab_server_nic *n = &s->nic[s->n_nics];
        r->nic[s->n_nics++] = pci;
        server_copy_name(n->name, server_value(pci, server_bus_key(r)));
        find_numa(r, pci, n->numa);
        FAB_PASS(describe_nic(r, r->is_hwloc ? pci : child(pci, "nic"), n, err));
    }
    return FAB_OK;
}

/* The reader bounds the depth. */
static fab_status server_walk(server_reader *r, const fab_xml_element *parent, fab_error *err) {
    for (const fab_xml_element *e = parent->first_child; e != NULL; e = e->next) {
        bool is_pci = strcmp(e->name, "pci") == 0;
        if (is_pci && (is_gpu(e) || is_nic(e))) {
            FAB_PASS(server_add(r, e, is_gpu(e), err));
        } else if (is_pci || strcmp(e->name, "cpu") == 0) {
            FAB_PASS(server_walk(r, e, err)); /* NOLINT(misc-no-recursion) */
        } else if (strcmp(e->name, "nic") == 0 && r->n_loose < FAB_SERVER_NICS) {
            r->loose[r->n_loose++] = e;
        }
    }
    return FAB_OK;
}

/* NICs on no bus, as in virtual machines, count where there are no others. */
static fab_status take_loose(server_reader *r, fab_error *err) {
    fab_server_shape *s = r->shape;
    for (uint32_t i = 0; i < r->n_loose && s->n_nics == i; i++) {
        fab_server_nic *n = &s->nic[s->n_nics];
        r->nic[s->n_nics++] = r->loose[i];
        server_copy_name(n->name, "nic");
        find_numa(r, r->loose[i], n->numa);
        FAB_PASS(describe_nic(r, r->loose[i], n, err));
    }
    return FAB_OK;
}

/* --- who shares what ---------------------------------------------------------------------------------------------- */

static uint32_t depth_of(const fab_xml_element *e) {
    uint32_t depth = 0;
    for (; e != NULL && e->parent != NULL; e = e->parent) {
        depth++;
    }
    return depth;
}

static const fab_xml_element *common(const fab_xml_element *a, const fab_xml_element *b) {
    uint32_t da = depth_of(a);
    uint32_t db = depth_of(b);
    while (a != b) {
        if (da >= db) {
            a = a->parent;
            da--;
        } else {
            b = b->parent;
            db--;
        }
    }
    return a;
}

static bool is_pci(const server_reader *r, const fab_xml_element *e) {
    return r->is_hwloc ? server_value(e, "pci_busid")[0] != '\0' : strcmp(e->name, "pci") == 0;
}

/* The slowest PCIe link from a device up to what it shares with another. */
static fab_status slowest(const server_reader *r, const fab_xml_element *from, const fab_xml_element *top, double *bps,
                          fab_error *err) {
    for (const fab_xml_element *e = from; e != top; e = e->parent) {
        double link_bps = 0;
        FAB_PASS(is_pci(r, e) ? read_pcie(r, e, &link_bps, err) : FAB_OK);
        if (link_bps > 0 && (*bps == 0 || link_bps < *bps)) {
            *bps = link_bps;
        }
    }
    return FAB_OK;
}

static fab_status find_nearest(const server_reader *r, uint32_t i, fab_error *err) {
    fab_server_gpu *g = &r->shape->gpu[i];
    const fab_xml_element *best = NULL;
    for (uint32_t n = 0; n < r->shape->n_nics; n++) {
        const fab_xml_element *top = common(r->gpu[i], r->nic[n]);
        if (best == NULL || depth_of(top) > depth_of(best)) {
            best = top;
            g->nics = 0;
            g->n_nics = 0;
        }
        if (top == best) {
            g->nics |= UINT64_C(1) << n;
            g->n_nics++;
        }
    }
    server_copy_name(g->below, best != NULL && is_pci(r, best) ? server_value(best, server_bus_key(r)) : "");
    for (uint32_t n = 0; n < r->shape->n_nics && best != NULL; n++) {
        if ((g->nics >> n & 1) != 0) {
            FAB_PASS(slowest(r, r->gpu[i], best, &g->pcie_bps, err));
            FAB_PASS(slowest(r, r->nic[n], best, &g->pcie_bps, err));
        }
    }
    return FAB_OK;
}

/* What all have, else 0. */
static void server_sum_up(fab_server_shape *s) {
    s->is_even = s->n_gpus % s->n_nics == 0 || s->n_nics % s->n_gpus == 0;
    if (!s->is_even) {
        FAB_FORMAT(s->uneven, "%u GPUs and %u NICs: neither number divides the other", (unsigned)s->n_gpus,
                   (unsigned)s->n_nics);
    }
    s->nic_bps = s->nic[0].bps;
    s->nvlink_bps = s->gpu[0].nvlink_bps;
    s->pcie_bps = s->gpu[0].pcie_bps;
    for (uint32_t n = 1; n < s->n_nics; n++) {
        s->nic_bps = s->nic[n].bps == s->nic_bps ? s->nic_bps : 0;
    }
    for (uint32_t i = 0; i < s->n_gpus; i++) {
        fab_server_gpu *g = &s->gpu[i];
        for (uint32_t k = 0; k < s->n_gpus; k++) {
            g->n_sharing += s->gpu[k].nics == g->nics;
        }
        s->nvlink_bps = g->nvlink_bps == s->nvlink_bps ? s->nvlink_bps : 0;
        s->pcie_bps = g->pcie_bps < s->pcie_bps ? g->pcie_bps : s->pcie_bps;
        if (s->is_even && (uint64_t)g->n_sharing * s->n_nics != (uint64_t)g->n_nics * s->n_gpus) {
            s->is_even = false;
            FAB_FORMAT(s->uneven, "GPU %s has %u of %u NICs near, shared by %u of %u GPUs: not as many for every GPU",
                       g->name, (unsigned)g->n_nics, (unsigned)s->n_nics, (unsigned)g->n_sharing, (unsigned)s->n_gpus);
        }
    }
}

const char *fab_server_rate(char *out, double bps) {
    (void)snprintf(out, 40, "%.12gGb/s", bps / 1e9);
    return out;
}

fab_status fab_server_read(const char *path, fab_server_shape *out, fab_error *err) {
    FAB_OWNS(fab_xml_free_owned) fab_xml *xml = NULL;
    server_reader r = {.path = path};
    FAB_OWNED_NEW(fab_server_shape, shape, 1, err);
    r.shape = shape;
    FAB_PASS(fab_xml_read(path, &xml, err));
    const fab_xml_element *root = fab_xml_root(xml);
    r.is_hwloc = strcmp(root->name, "topology") == 0;
    FAB_PASS(strcmp(root->name, "system") != 0 && !r.is_hwloc
                 ? server_wrong(&r, root->line, root->column, FAB_EINPUT,
                                "expected NCCL's <system>, or hwloc's <topology>", err)
                 : FAB_OK);
    FAB_PASS(r.is_hwloc ? server_hwloc_walk(&r, root, err) : server_walk(&r, root, err));
    FAB_PASS(take_loose(&r, err));
    FAB_PASS(shape->n_gpus == 0 || shape->n_nics == 0
                 ? server_wrong(
                       &r, root->line, root->column, FAB_EINPUT,
                       r.is_hwloc ? shape->n_gpus == 0 ? "no GPU in it: lstopo keeps devices with --whole-io or "
                                                         "--filter io:important"
                                                       : "no NIC in it: lstopo keeps devices with --filter io:important"
                       : shape->n_gpus == 0 ? "no GPU in it: expected <gpu>, or a <pci> of class 0x03.... or 0x12...."
                                            : "no NIC in it: expected <nic>, or a <pci> of class 0x02....",
                       err)
                 : FAB_OK);
    for (uint32_t i = 0; i < shape->n_gpus; i++) {
        FAB_PASS(find_nearest(&r, i, err));
    }
    server_sum_up(shape);
    *out = *shape;
    return FAB_OK;
}
