/**
 * @file fault_points.h
 * Calls into the C library that can be made to fail, in the program and in the libraries that it is linked with: this
 * program defines them itself and passes on what is not to fail. Of the GNU C library; see
 * src/doc/adr/0045-fuzzing-and-faults.md.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum fault_kind {
    FAULT_MEMORY, /**< malloc, calloc, realloc, aligned blocks */
    FAULT_FILE,   /**< open, fopen, fread, fclose, fflush, rename, link, mkdir, fsync, write, ..., pthread_create */
    FAULT_N_KINDS
} fault_kind;

typedef enum fault_action {
    FAULT_PASS,   /**< nothing fails, calls are counted */
    FAULT_ONCE,   /**< call number `at` fails, those after it do not */
    FAULT_ALWAYS, /**< it fails, and so does every later one */
    FAULT_SHORT,  /**< a write takes half of the bytes; what is no write passes */
    FAULT_BREAK,  /**< a write is interrupted (EINTR) before it has taken anything; what is no write passes */
    FAULT_SIGNAL, /**< the signal arrives at call number `at` */
} fault_action;

#define FAULT_POINTS_MOST ((uint32_t)1 << 20)
#define FAULT_PAIRS       ((uint32_t)1 << 18) /* of places of calls, one within the other; a power of two */

/** What a run did; shared with the process that started it. */
typedef struct fault_log {
    atomic_uint n[FAULT_N_KINDS];
    atomic_bool happened;
    atomic_uint made; /**< file calls before and with that which made the last new file; 0: none was made */
    uint64_t stack[FAULT_N_KINDS][FAULT_POINTS_MOST]; /**< of call i: who called, as a hash; with keep_stacks */
    bool is_new[FAULT_N_KINDS][FAULT_POINTS_MOST];    /**< two of its callers follow each other for the first time */
    atomic_uint_least64_t pairs[FAULT_PAIRS];         /**< callers that did so, of all runs with keep_stacks */
} fault_log;

typedef struct fault_plan {
    fault_kind kind;
    fault_action action;
    uint32_t at; /**< from 0 */
    int signal;
    bool keep_stacks;
    bool shows;        /**< who called is told on stderr */
    bool has_capacity; /**< for what tmpfile() makes, whatever else is full */
} fault_plan;

/** From here on. */
void fault_arm(const fault_plan *plan, fault_log *log);
void fault_disarm(void);
