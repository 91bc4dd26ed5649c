/** What the readers of JSON share. */
#pragma once

#include "network_internal.h"

#include "fab/box_files.h"
#include "fab/json_read.h"

/** A file that is read as one JSON value. */
typedef struct fab_network_json {
    const char *path;
    fab_network *net;
    fab_str bytes;
    fab_json json;
} fab_network_json;

/**
 * Reads a file of a format that has `json` or `yaml`.
 * @retval FAB_EINPUT  no JSON, or no YAML: file:line:column; or it ends within it, ...
 */
FAB_STATUS fab_network_json_read(const fab_network_format *format, const char *path, fab_network *net, fab_error *err);

/** Whether the head is JSON with all of the words, each in quotes: "a b", or "a b|c" for other ones. */
bool fab_network_json_has(const char *head, const char *words);

/** A cable end by names: a box, and its port or NULL. */
typedef struct fab_network_plug {
    const char *box, *port;
    size_t n_box; /**< 0: all of the text */
} fab_network_plug;

/**
 * A cable between two ports that are named; the same cable told from its other end is one. What is joined to itself, or
 * contradicts what was read before, is a note.
 */
FAB_STATUS fab_network_plug_in(fab_network *net, const fab_network_plug *a, const fab_network_plug *b, double rate_bps,
                               size_t line, fab_error *err);

/** A cable that `own` alone tells of: where the other box tells its neighbors as well, it should tell of this one. */
FAB_STATUS fab_network_hear(fab_network *net, const fab_network_plug *own, const fab_network_plug *neighbor,
                            size_t line, fab_error *err);

/** Text of a member of a member ...: {"a": {"b": "x"}} by FAB_JSON_TEXT(json, object, "a", "b"); NULL where it is none.
 */
#define FAB_JSON_TEXT(json, object, ...) fab_network_json_text(json, object, (const char *const[]){__VA_ARGS__, NULL})
const char *fab_network_json_text(const fab_json *json, uint32_t object, const char *const *keys);
