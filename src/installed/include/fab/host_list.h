/** Slurm's lists of names: "login[01-16],viz07,lrdn[0001-0180,0200]". */
#pragma once

#include "fab/str.h"

typedef fab_status fab_host_list_visit(void *context, const char *name, size_t n, fab_error *err);

/**
 * How many names there are; nothing is expanded.
 * @param[in]  where  "file:line", for messages.
 * @retval FAB_EINPUT  what is wrong with it, and where in the list; more than 2^24 names
 */
FAB_STATUS fab_host_list_count(const char *text, size_t n, const char *where, uint32_t *out, fab_error *err);

/**
 * Calls `visit` for every name, in order. Several brackets in one name multiply; numbers keep their leading zeros.
 * Errors of fab_host_list_count(), and of `visit`.
 */
FAB_STATUS fab_host_list_each(const char *text, size_t n, const char *where, fab_host_list_visit *visit, void *context,
                              fab_error *err);

/**
 * Appends names as such a list: those that follow each other and differ in their last number alone share a bracket,
 * "n[0-17,20]". fab_host_list_each() gives the same names in the same order.
 */
void fab_host_list_fold(fab_str *out, const char *const *names, uint32_t n);
