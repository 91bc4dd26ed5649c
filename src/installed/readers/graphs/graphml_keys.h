/**
 * @file graphml_keys.h
 * What the data of a GraphML file mean, by the names of its keys.
 */
#pragma once

#include <stdbool.h>

typedef enum fab_graphml_meaning {
    FAB_GRAPHML_NOTHING,
    FAB_GRAPHML_PROGRAM, /**< of the graph: who wrote it, and which view */
    FAB_GRAPHML_VIEW,
    FAB_GRAPHML_LABEL, /**< of nodes */
    FAB_GRAPHML_KIND,
    FAB_GRAPHML_SERVER,
    FAB_GRAPHML_TIER,
    FAB_GRAPHML_BPS,  /**< of edges: a number, bit/s */
    FAB_GRAPHML_RATE, /**< a quantity with its unit */
    FAB_GRAPHML_METRES,
    FAB_GRAPHML_LENGTH,
    FAB_GRAPHML_SOURCE_PORT,
    FAB_GRAPHML_TARGET_PORT,
    FAB_GRAPHML_CABLES,
} fab_graphml_meaning;

/**
 * Meaning of a key by its attr.name.
 * @param[in] domain  attr "for": "node", "edge", "graph"; "all" or NULL: any.
 */
fab_graphml_meaning fab_graphml_meaning_of(const char *domain, const char *name);

/** Whether a key for `domain` holds for an element of this name. */
bool fab_graphml_is_for(const char *domain, const char *element);
