/**
 * @file format_options.h
 * What may stand behind the name of a format: "cables,a-node=From,z-node=To,exclude=mgmt-*".
 */
#pragma once

#include "fab/network.h"

/** Whether a text is the name of a format, NAME of "NAME,...". */
bool fab_network_format_is(const fab_network_format *f, const char *format);

/** Leaves out what `exclude` says, and keeps what lists of cables call their columns. */
fab_status fab_network_exclude(fab_network *net, const char *format, fab_error *err) FAB_MUST_USE;

/**
 * The value of a key, the `again`-th of several: its length in *out_n; NULL: there is none. A comma ends it; "\\," is
 * one within.
 */
const char *fab_network_format_value(const char *format, const char *key, size_t again, size_t *out_n);
