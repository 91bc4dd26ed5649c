/**
 * @file switch_hash.h
 * What an engine says of how switches hash, for their configuration.
 */
#pragma once

#include "fab/engine_spec.h"
#include "fab/network.h"

/**
 * @param[in]  engine  NULL: none is known.
 * @param[out] out     Written where the engine hashes.
 * @return false of an engine that does not
 */
bool fab_switch_hash_of(const fab_engine_spec *engine, fab_network_hash *out);
