/**
 * @file multiversion.h
 * One function, compiled for several instruction sets; the one that fits is chosen when the program is loaded.
 */
#pragma once

#include <limits.h> /* __GLIBC__ */

/**
 * Before the definition of a static function whose loops are worth it. No sum may depend on the width of a vector, so
 * that every machine computes the same bytes: see src/doc/adr/0018-splitting.md.
 *
 * Needs indirect functions (glibc), which sanitizers do not survive: FAB_NO_MULTIVERSION. Functions that are not static
 * do not link with clang 14. Where nothing is optimized there is one, whose branches are counted once.
 */
#if defined(__OPTIMIZE__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(FAB_NO_MULTIVERSION) &&             \
    defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 14)
#define FAB_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FAB_MULTIVERSION
#endif

/** Parts of such a function: they must be compiled with it. Where nothing is optimized, each is one function. */
#ifdef __OPTIMIZE__
#define FAB_INLINE static inline __attribute__((always_inline))
#else
#define FAB_INLINE static inline
#endif
