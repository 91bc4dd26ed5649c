/** One function, compiled for several instruction sets; the one that fits is chosen when the program is loaded. */
#pragma once

#include <limits.h> /* __GLIBC__ */
#include <stdbool.h>

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

/**
 * Before the definition of a static function that looks up many places of a table at once, next to the same without;
 * fab_cpu_gathers() tells which to call. Not a clone: processors that have gathers are slow at them where they need the
 * mitigation of Gather Data Sampling (Intel of 2013 to 2021), and gcc 12 makes single loads of them unless it is told
 * to compile for a processor that came before.
 */
#if defined(__x86_64__) && defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 14)
#define FAB_GATHERS
#define FAB_GATHERING __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,tune=haswell")))
/** Whether this processor has gathers and is younger than that: bfloat16 came after the leak, but in Cooper Lake. */
static inline bool fab_cpu_gathers(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512bf16");
}
#else
static inline bool fab_cpu_gathers(void) {
    return false;
}
#endif

/** Parts of such a function: they must be compiled with it. Where nothing is optimized, each is one function. */
#ifdef __OPTIMIZE__
#define FAB_INLINE static inline __attribute__((always_inline))
#else
#define FAB_INLINE static inline
#endif
