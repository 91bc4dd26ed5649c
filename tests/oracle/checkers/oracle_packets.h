/**
 * @file oracle_packets.h
 * Packets in lossless queues, one at a time: the next event is looked for among all.
 */
#pragma once

#include "fab/lossless.h"

/** Acknowledgements are left out. @param[out] finish_s  As fab_lossless_result; INFINITY of what never arrives. */
void oracle_packets(const fab_lossless *transport, const fab_lossless_phase *phase, double *finish_s);
