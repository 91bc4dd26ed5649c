/** The parts of reading a server: NCCL's XML and hwloc's are trees of PCI devices by other names. */
#pragma once

#include "fab/server_shape.h"
#include "fab/xml_reader.h"

typedef struct server_reader {
    const char *path;
    bool is_hwloc;
    fab_server_shape *shape;
    const fab_xml_element *gpu[FAB_SERVER_GPUS], *nic[FAB_SERVER_NICS];
    uint32_t n_loose; /**< NICs that are on no PCI bus: they stand for those of the server where it has no others */
    const fab_xml_element *loose[FAB_SERVER_NICS];
} server_reader;

/** Value of an attribute; "" where there is none. */
static inline const char *server_value(const fab_xml_element *e, const char *name) {
    const fab_xml_attribute *a = fab_xml_find(e, name);
    return a != NULL ? a->value : "";
}

static inline const char *server_bus_key(const server_reader *r) {
    return r->is_hwloc ? "pci_busid" : "busid";
}

FAB_STATUS server_wrong(const server_reader *r, uint32_t line, uint32_t column, fab_status code, const char *text,
                        fab_error *err);

/** FAB_EINPUT: "NAME: 'VALUE' is no EXPECTED" */
FAB_STATUS server_wrong_value(const server_reader *r, const fab_xml_attribute *a, const char *expected, fab_error *err);

/** A number of at most `most`, in front of exactly `ending`; "": nothing may follow. *out is written then only. */
bool server_parse_number(const char *text, const char *ending, double most, double *out);

void server_copy_name(char out[FAB_SERVER_NAME], const char *text);

/** A GPU or NIC. @retval FAB_EINPUT  it has no bus id, or that of another */
FAB_STATUS server_add(server_reader *r, const fab_xml_element *pci, bool is_gpu, fab_error *err);

/* --- hwloc -------------------------------------------------------------------------------------------------------- */

/** GPUs and NICs of a <topology>, with the rates of NVLinks. */
FAB_STATUS server_hwloc_walk(server_reader *r, const fab_xml_element *root, fab_error *err);

/** bit/s of the PCIe link of an object; 0: not known. */
FAB_STATUS server_hwloc_pcie(const server_reader *r, const fab_xml_element *e, double *out_bps, fab_error *err);

/** NUMA node of an object; "" where several are as near. */
void server_hwloc_numa(const fab_xml_element *e, char out[FAB_SERVER_NAME]);
