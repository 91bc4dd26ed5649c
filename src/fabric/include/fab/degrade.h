/** Parts that run at a fraction of their speed: a changed copy of a fabric. */
#pragma once

#include "fab/fabric.h"

/** Fractions are whole thousandths, so that weights by capacity stay small numbers. */
#define FAB_PART_STEPS 1000

/** A part and the fraction of its residual speed. */
typedef struct fab_weak_part {
    char name[FAB_LINK_NAME_SIZE]; /**< as given */
    double ratio;                  /**< 1 / FAB_PART_STEPS ... 1 */
} fab_weak_part;

/**
 * Reads "NAME=FRACTION". Whether there is such a part shows only on a fabric.
 * @retval FAB_EINPUT  no fraction above 0 and at most 1 in steps of 1 / FAB_PART_STEPS; 0 is a failure, and the message
 *                     says so
 */
FAB_STATUS fab_weak_part_parse(const char *text, fab_weak_part *out, fab_error *err);

/** What is slower. Release with fab_weak_fabric_release(). */
typedef struct fab_weak_fabric {
    fab_fabric *fabric;
    uint8_t *link;     /**< shape [n_links]: 1 where the capacity is lower */
    double *gpu_ratio; /**< shape [n_gpus]: of the GPU's compute speed */
    uint32_t n_cables; /**< that are slower */
} fab_weak_fabric;

void fab_weak_fabric_release(fab_weak_fabric *weak);

/**
 * Copies a fabric, with the capacity of every cable of the parts multiplied by its fraction, in both directions:
 *
 *     a link, as fab_link_parse() reads it    its cable
 *     nic-3                                   its PCIe link and its ports
 *     gpu-7                                   no cable: its compute speed
 *     server-2                                all of its GPUs and NICs
 *     leaf-5, spine-0, ..., domain-1          every cable there
 *
 * The least of several fractions that reach a cable or GPU counts. Nodes, links and their ids stay the same, and so do
 * the classes that the fabric had, used or not: the rate of a NIC is that of a healthy one.
 * @param[in]  fabric  Its names are borrowed: it must outlive the copy.
 * @param[out] out     Written on success only.
 * @retval FAB_EINPUT  no such part, or a part is named twice; or more than 2^16 - 1 classes of links
 * Complexity: O(nodes + links + parts * cables of a part).
 */
FAB_STATUS fab_fabric_degrade(const fab_fabric *fabric, const fab_weak_part *parts, size_t n_parts,
                              fab_weak_fabric *out, fab_error *err);
