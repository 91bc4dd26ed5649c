/**
 * @file installed_build.h
 * A fabric of what is installed, while it is built: family_installed.c makes it, installed_names.c names it.
 */
#ifndef FAB_INSTALLED_BUILD_H
#define FAB_INSTALLED_BUILD_H

#include "ends.h"

#include "fab/installed.h"
#include "fab/names.h"

typedef struct fab_installed_build {
    const fab_fabric_spec *spec;
    const fab_structure *net;
    fab_ends ends;
    fab_builder *builder;
    fab_fabric *f;     /* under construction, then frozen */
    uint32_t *port;    /* [side]: number on its switch; 0: none of it */
    uint32_t *next;    /* [switch]: ports given out, of a file that names none */
    uint32_t n_cables; /* of the network */
} fab_installed_build;

/** Port of a cable end as the file has it; "" where it names none. */
const char *installed_port_text(const fab_installed_build *b, uint32_t side);

/** "17": its number; 0 where it is none. */
uint32_t installed_port_number(const char *port);

/** Names of servers, boxes and ports. @param[in] b  With the frozen fabric. */
fab_status installed_name(const fab_installed_build *b, fab_names **out, fab_error *err) FAB_MUST_USE;

#endif
