/**
 * @file site_internal.h
 * The readers, one file each; their order in site_formats.c is that in which they are asked.
 */
#ifndef FAB_SITE_INTERNAL_H
#define FAB_SITE_INTERNAL_H

#include "fab/site.h"

#endif
