/**
 * The inside of a server: which GPU shares which PCIe switch and NIC, at what rates. Read from the XML that NCCL takes
 * by NCCL_TOPO_FILE and writes by NCCL_TOPO_DUMP_FILE (RCCL's as well), or that of hwloc (lstopo server.xml).
 */
#pragma once

#include "fab/base.h"

#define FAB_SERVER_GPUS 64
#define FAB_SERVER_NICS 64
#define FAB_SERVER_NAME 32

typedef struct fab_server_gpu {
    char name[FAB_SERVER_NAME];  /**< PCI bus id */
    char numa[FAB_SERVER_NAME];  /**< of its CPU; empty: not known */
    char below[FAB_SERVER_NAME]; /**< PCIe switch (bus id) that it shares with its NICs; empty: a CPU, or none */
    uint64_t nics;               /**< bit i: NIC i is among the nearest, by the deepest switch in common */
    uint32_t n_nics, n_sharing;  /**< nearest NICs, and GPUs that have the same */
    double pcie_bps;             /**< to the nearest NICs, the slowest link on the way; 0: not known */
    double nvlink_bps;           /**< all its NVLinks, per direction; 0: none, or not known */
} fab_server_gpu;

typedef struct fab_server_nic {
    char name[FAB_SERVER_NAME]; /**< of the device ("mlx5_0"), else its PCI bus id */
    char numa[FAB_SERVER_NAME];
    double bps; /**< of its ports together; 0: not known */
} fab_server_nic;

typedef struct fab_server_shape {
    uint32_t n_gpus, n_nics;
    uint32_t n_left_out; /**< of hwloc's NICs: without RDMA, or behind no switch of a GPU, where others are */
    fab_server_gpu gpu[FAB_SERVER_GPUS]; /**< in the order of the file */
    fab_server_nic nic[FAB_SERVER_NICS];
    bool is_even;      /**< every GPU shares as many NICs with as many GPUs */
    double pcie_bps;   /**< slowest of the GPUs; 0: not known */
    double nic_bps;    /**< that all NICs have; 0: not known, or different */
    double nvlink_bps; /**< that all GPUs have; 0: not known, or different */
    char uneven[160];  /**< why not, where not is_even */
} fab_server_shape;

/**
 * Reads a file.
 * @param[out] out  Written on success only.
 * @retval FAB_EINPUT        no XML of this kind: file:line:column, what was expected; no GPU or no NIC in it
 * @retval FAB_EUNSUPPORTED  more than FAB_SERVER_GPUS GPUs or FAB_SERVER_NICS NICs
 * Complexity: O(elements + GPUs x NICs x depth).
 */
FAB_STATUS fab_server_read(const char *path, fab_server_shape *out, fab_error *err);

/** A rate as designs take it: "126.03Gb/s". `out` holds at least 40 bytes. Returns out. */
const char *fab_server_rate(char *out, double bps);
