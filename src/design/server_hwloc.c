/*
 * hwloc's XML of a server, versions 1 to 3 of its format [hwloc, doc/hwloc.doxy, "Importing and exporting topologies
 * from/to XML files"; hwloc2.dtd]: <object type="PCIDev"> below bridges, with what the system calls it as <object
 * type="OSDev">; pci_type begins with the class, pci_link_speed is GB/s of data per direction, and a matrix
 * NVLinkBandwidth has MB/s.
 */
#include "server_reader.h"

#include <ctype.h>

#define MOST_LINKED 1024 /* GPUs and switches of a matrix */

static bool is_type(const fab_xml_element *e, const char *type) {
    return strcmp(e->name, "object") == 0 && strcmp(server_value(e, "type"), type) == 0;
}

/* Whether the system has a device of a PCI function whose name begins with one of the words. */
static bool has_device(const fab_xml_element *pci, const char *const *words) {
    for (const fab_xml_element *e = pci->first_child; e != NULL; e = e->next) {
        for (const char *const *word = words; is_type(e, "OSDev") && *word != NULL; word++) {
            if (strncmp(server_value(e, "name"), *word, strlen(*word)) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Of a function its class: 0x0302; 0: it says none. */
static unsigned long class_of(const fab_xml_element *pci) {
    return strtoul(server_value(pci, "pci_type"), NULL, 16);
}

/* 3D controllers, other display controllers, processing accelerators; a VGA controller where a compute library knows
 * it: else it is that of a console. */
static bool is_gpu(const fab_xml_element *pci) {
    static const char *const WORDS[] = {"cuda", "nvml", "rsmi", "opencl", "ze", NULL};
    unsigned long kind = class_of(pci);
    return kind == 0x0302 || kind == 0x0380 || kind >> 8 == 0x12 || (kind >> 8 == 0x03 && has_device(pci, WORDS));
}

static bool is_rdma(const fab_xml_element *pci) {
    static const char *const WORDS[] = {"mlx4_", "mlx5_", "hfi1_", "bnxt_re", "irdma",
                                        "rocep", "ibp",   "efa_",  "rdmap",   NULL};
    return class_of(pci) >> 8 == 0x02 && has_device(pci, WORDS);
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

fab_status server_hwloc_pcie(const server_reader *r, const fab_xml_element *e, double *out_bps, fab_error *err) {
    const fab_xml_attribute *speed = fab_xml_find(e, "pci_link_speed");
    double gbytes = 0;
    FAB_RETURN_IF(speed != NULL && !server_parse_number(speed->value, "", 10000, &gbytes),
                  server_wrong_value(r, speed, "speed in GB/s", err));
    *out_bps = floor(gbytes * 8e3) * 1e6; /* whole Mb/s, as from NCCL's file */
    return FAB_OK;
}

void server_hwloc_numa(const fab_xml_element *e, char out[FAB_SERVER_NAME]) {
    out[0] = '\0';
    for (; e != NULL; e = e->parent) {
        const fab_xml_element *found = is_type(e, "NUMANode") ? e : NULL; /* version 1: they hold what is near */
        uint32_t n = found != NULL;
        for (const fab_xml_element *c = e->first_child; c != NULL && n == 0; c = c->next) {
            found = is_type(c, "NUMANode") ? c : found;
        }
        for (const fab_xml_element *c = e->first_child; c != NULL && found != e; c = c->next) {
            n += is_type(c, "NUMANode");
        }
        if (n > 0) {
            server_copy_name(out, n == 1 ? server_value(found, "os_index") : "");
            return;
        }
    }
}

/* Whether a NIC and some GPU stand behind one PCI switch. */
static bool is_near(const server_reader *r, const fab_xml_element *nic) {
    for (uint32_t i = 0; i < r->shape->n_gpus; i++) {
        for (const fab_xml_element *a = nic->parent; a != NULL; a = a->parent) {
            for (const fab_xml_element *b = r->gpu[i]->parent; b != NULL; b = b->parent) {
                if (a == b && fab_xml_find(a, "pci_busid") != NULL) {
                    return true;
                }
            }
        }
    }
    return false;
}

typedef struct found {
    const fab_xml_element **nic;
    size_t n, capacity;
    uint32_t n_rdma, n_near;
} found;
FAB_FREES(found_release, found, nic);

static fab_status walk(server_reader *r, const fab_xml_element *parent, found *f, fab_error *err) {
    for (const fab_xml_element *e = parent->first_child; e != NULL; e = e->next) {
        if (strcmp(e->name, "object") != 0) {
            continue;
        }
        if (is_type(e, "PCIDev") && is_gpu(e)) {
            FAB_PASS(server_add(r, e, true, err));
        } else if (is_type(e, "PCIDev") && class_of(e) >> 8 == 0x02) {
            FAB_PASS(FAB_GROW(f->nic, f->capacity, f->n + 1, err)); // NOLINT(bugprone-sizeof-expression)
            f->n_rdma += is_rdma(e);
            f->nic[f->n++] = e;
        }
        FAB_PASS(walk(r, e, f, err)); /* NOLINT(misc-no-recursion): the reader bounds the depth */
    }
    return FAB_OK;
}

/* --- NVLinks ------------------------------------------------------------------------------------------------------ */

/* The GPU of an index "OSDev:802", "802": gp_index of it, or of what the system calls it. FAB_SERVER_GPUS: none. */
static uint32_t gpu_of(const server_reader *r, const char *index) {
    for (uint32_t i = 0; i < r->shape->n_gpus; i++) {
        bool same = strcmp(server_value(r->gpu[i], "gp_index"), index) == 0;
        for (const fab_xml_element *e = r->gpu[i]->first_child; e != NULL && !same; e = e->next) {
            same = is_type(e, "OSDev") && strcmp(server_value(e, "gp_index"), index) == 0;
        }
        if (same) {
            return i;
        }
    }
    return FAB_SERVER_GPUS;
}

/* Words of the texts of all children of a name, one after the other. */
typedef struct words {
    const fab_xml_element *at;
    const char *name, *text;
} words;

static bool next_word(words *w, char out[32]) {
    for (;;) {
        while (w->text != NULL && isspace((unsigned char)*w->text)) {
            w->text++;
        }
        if (w->text != NULL && *w->text != '\0') {
            size_t n = strcspn(w->text, " \t\r\n");
            (void)snprintf(out, 32, "%.*s", (int)(n < 31 ? n : 31), w->text);
            w->text += n;
            return true;
        }
        w->at = w->text == NULL ? w->at : w->at->next;
        while (w->at != NULL && strcmp(w->at->name, w->name) != 0) {
            w->at = w->at->next;
        }
        if (w->at == NULL) {
            return false;
        }
        w->text = w->at->text;
    }
}

/* The sum of a row but its own column is what all links of a GPU carry. */
static fab_status read_matrix(server_reader *r, const fab_xml_element *matrix, fab_error *err) {
    uint32_t gpu[MOST_LINKED];
    uint32_t n = 0;
    char word[32];
    words index = {.at = matrix->first_child, .name = "indexes"};
    words value = {.at = matrix->first_child, .name = "u64values"};
    while (next_word(&index, word)) {
        const char *colon = strchr(word, ':');
        FAB_RETURN_IF(n == MOST_LINKED, server_wrong(r, matrix->line, matrix->column, FAB_EUNSUPPORTED,
                                                     "a matrix of bandwidths with more than 1024 indexes", err));
        gpu[n++] = gpu_of(r, colon != NULL ? colon + 1 : word);
    }
    for (uint32_t k = 0; k < n * n; k++) {
        double mbytes = 0;
        FAB_RETURN_IF(!next_word(&value, word) || !server_parse_number(word, "", 1e12, &mbytes),
                      server_wrong(r, matrix->line, matrix->column, FAB_EINPUT,
                                   "a matrix of bandwidths with fewer numbers than its indexes ask for, or one that is "
                                   "none",
                                   err));
        if (gpu[k / n] < FAB_SERVER_GPUS && k / n != k % n) {
            r->shape->gpu[gpu[k / n]].nvlink_bps += mbytes * 8e6;
        }
    }
    return FAB_OK;
}

fab_status server_hwloc_walk(server_reader *r, const fab_xml_element *root, fab_error *err) {
    FAB_OWNS(found_release) found f = {.n = 0};
    FAB_PASS(walk(r, root, &f, err));
    for (size_t i = 0; i < f.n; i++) {
        f.n_near += (f.n_rdma == 0 || is_rdma(f.nic[i])) && is_near(r, f.nic[i]);
    }
    for (size_t i = 0; i < f.n; i++) { /* those that GPUs use: of RDMA, and behind their switches, where any are */
        bool fits = (f.n_rdma == 0 || is_rdma(f.nic[i])) && (f.n_near == 0 || is_near(r, f.nic[i]));
        FAB_PASS(fits ? server_add(r, f.nic[i], false, err) : FAB_OK);
        r->shape->n_left_out += !fits;
    }
    for (const fab_xml_element *e = root->first_child; e != NULL; e = e->next) {
        if (strncmp(e->name, "distances2", 10) == 0 && strcmp(server_value(e, "name"), "NVLinkBandwidth") == 0) {
            FAB_PASS(read_matrix(r, e, err));
        }
    }
    return FAB_OK;
}
