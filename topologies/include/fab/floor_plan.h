/**
 * Where racks stand and how long cables are. See src/doc/adr/0011-floor-plan.md.
 *
 * Servers fill racks in topological order, racks fill rows, rows fill halls. Switches stand with what is below them: a
 * leaf in the rack, in the middle of the row or in the middle of the hall of its servers, everything above in the
 * middle of the hall in the middle of what it serves. Switches that do not stand in a rack of servers have network
 * racks of their own.
 */
#pragma once

#include "fab/fabric_spec.h"
#include "fab/mask.h"

/** A rack: place `place` of row `row` of hall `hall`, each from 0. */
typedef struct fab_rack {
    uint32_t hall, row, place;
} fab_rack;

typedef struct fab_floor {
    uint32_t servers_per_rack, n_full; /**< as in fab_racks */
    uint32_t n_halls, n_rows;          /**< rows of all halls */
    uint32_t n_server_racks, n_network_racks;
    fab_rack *rack;        /**< shape [n_server_racks + n_network_racks]: those of servers, then those of switches */
    uint32_t *switch_rack; /**< shape [switches]: index into rack */
    uint32_t n_switches;
} fab_floor;

/**
 * Places every server and switch. The same for equal inputs.
 * @param[in]  spec  With its floor as read (defaults filled in).
 * @param[out] out   Free with fab_floor_free().
 * @retval FAB_EINPUT  a rack or a hall that may not hold a single server.
 * Complexity: O(nodes + cables).
 */
FAB_STATUS fab_floor_make(const fab_fabric_spec *spec, const fab_fabric *fabric, fab_floor **out, fab_error *err);
void fab_floor_free(fab_floor *floor);
FAB_OWNER(fab_floor, fab_floor_free)

/** Racks as components know them; none where there is no floor (NULL). Borrows from the floor. */
fab_racks fab_floor_racks(const fab_floor *floor);

/** Rack of a GPU, a NIC or a switch: index into floor->rack; FAB_NONE for a scale-up domain, which may span racks. */
uint32_t fab_floor_rack_of(const fab_floor *floor, const fab_fabric *fabric, fab_node_id node);

/** Way between two racks along rows, across rows and from hall to hall, without slack. */
double fab_floor_distance_m(const fab_floor_spec *spec, const fab_rack *a, const fab_rack *b);

/** Length to order for a cable between two racks: distance and slack, rounded up to a standard length; 0: too long. */
double fab_floor_cable_m(const fab_floor_spec *spec, const fab_rack *a, const fab_rack *b);

/** The shortest standard length (1, 2, 3, 5, 7, 10 ... 100,000 m) of at least `length_m`; 0 if there is none. */
double fab_standard_length_m(double length_m);

/** "hall-0/row-3/rack-12". `out` holds at least 48 bytes. Returns out. */
const char *fab_rack_name(const fab_rack *rack, char *out);
