/**
 * @file fault_cases.h
 * Small runs of every command, and how they are started.
 */
#pragma once

#include "fault_points.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct fault_case {
    const char *name;
    const char *before[4]; /**< command lines that make the files it needs, ended by NULL; what the last one prints is
                              file before.out */
    const char *line;      /**< words between blanks */
    const char *data;      /**< files of tests/data that it reads, a blank between them, or NULL */
    bool is_study;         /**< writes a store, which may be left half-done if it can go on */
} fault_case;

extern const fault_case fault_cases[]; /**< ended by a row without a name */

/** How a run ended. */
typedef struct fault_end {
    int code;     /**< exit code; 0 with a signal */
    int signal;   /**< that ended it, or 0 */
    char *out;    /**< what it printed; owned */
    size_t n_out; /**< bytes */
    char *err;    /**< what it complained of; owned */
} fault_end;

void fault_end_release(fault_end *end);

/** What is wrong with the standard streams, or with the folder that the run stands in. */
typedef enum fault_place {
    FAULT_NO_PLACE,   /**< nothing: stdout is a file, stderr a pipe that is read */
    FAULT_OUT_FULL,   /**< stdout is a disk that is full */
    FAULT_OUT_CLOSED, /**< and so is stdin */
    FAULT_OUT_UNREAD, /**< a pipe that nobody reads */
    FAULT_OUT_LEFT,   /**< a pipe of FAULT_PIPE_BYTES whose reader goes away after the first few */
    FAULT_ERR_FULL,
    FAULT_ERR_CLOSED,
    FAULT_READ_ONLY, /**< the folder and those below take no new names, and its files no bytes */
    FAULT_N_PLACES
} fault_place;

#define FAULT_PIPE_BYTES 4096

/** Limits of a run besides what the plan says. */
typedef struct fault_limits {
    long file_bytes; /**< no file grows beyond it; below 0: any */
    long signal_us;  /**< plan->signal is sent after so long; below 0: not */
    fault_place place;
} fault_limits;
#define FAULT_NO_LIMITS                                                                                                \
    (fault_limits) {                                                                                                   \
        -1, -1, FAULT_NO_PLACE                                                                                         \
    }

/** Runs a command line in a folder. `log` is cleared before. */
fault_end fault_run(const char *folder, const char *line, const fault_plan *plan, fault_log *log, fault_limits limits);

/**
 * Whether the table has a run of every command, subcommand, option, format and topic that there is; names those that
 * are missing. @return how many.
 */
unsigned fault_count_missing(const char *topics);

/** Memory that children share. */
fault_log *fault_log_new(void);

/* --- folders ------------------------------------------------------------------------------------------------------ */

typedef struct fault_file {
    char *path; /**< from the folder */
    char *data;
    size_t size;
} fault_file;

/** All files of a folder and those below, by path. */
typedef struct fault_files {
    fault_file *files;
    size_t n;
} fault_files;

fault_files fault_read_folder(const char *folder);
void fault_files_release(fault_files *files);
const fault_file *fault_find(const fault_files *files, const char *path);

/** Makes the folder hold these files and no others. */
void fault_write_folder(const char *folder, const fault_files *files);

/** Takes the rights to write from everything in it, or gives them back. */
void fault_forbid(const char *folder, bool forbidden);
void fault_remove_folder(const char *folder);

/** Ends the test unless `holds`: something that is no finding. */
void fault_need(bool holds, const char *what, const char *name);
