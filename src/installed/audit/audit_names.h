/** Two networks in the words of one: servers whose adapters one of them alone tells apart, ports by other names. */
#pragma once

#include "fab/shape.h"

/** A network and its shape that are made of another one; release with audit_copy_release(). */
typedef struct audit_copy {
    fab_network *net;
    fab_shape shape;
} audit_copy;

/**
 * Each server as one box, with the ports of all its adapters numbered from 1.
 * @retval FAB_EUNSUPPORTED  two boxes would have one name
 */
FAB_STATUS audit_copy_boxes(const fab_shape *shape, audit_copy *out, fab_error *err);
/** Frees both; what is released, or was never filled but zeroed, is fine. */
void audit_copy_release(audit_copy *copy);

#define AUDIT_PREFIXES 32

/** How numbers of ports run, of boxes of a kind and names of a prefix: the lowest, and their step. */
typedef struct audit_numbering {
    struct {
        uint64_t key, first, step;
    } of[AUDIT_PREFIXES];
    uint32_t n;
} audit_numbering;

/**
 * Takes all ports of a network that have names; kinds and prefixes beyond AUDIT_PREFIXES have no numbering.
 * @param[in,out] out  Zeroed before.
 * Complexity: O(cables * AUDIT_PREFIXES).
 */
void audit_numbering_find(const fab_network *net, audit_numbering *out);

typedef struct audit_ports {
    const fab_shape *here, *plan;
    audit_numbering numbering[2]; /**< of these */
    fab_network_cable *cables;    /**< of the plan: their ports get the names that they have here */
} audit_ports;

/** Whether all ports of the two have names, and none is the same. O(ports^2). */
bool audit_ports_differ(const audit_ports *p, uint32_t here, uint32_t planned);

/**
 * What the ports of a planned box are called here. Where no name is the same: those whose names differ in letters
 * alone, else those that have the same place in the numbering of their kind, whichever fits more ports; else by order.
 * Complexity: O(ports^2).
 */
FAB_STATUS audit_ports_translate(audit_ports *p, uint32_t here, uint32_t planned, fab_error *err);
