/** What ports have counted: a snapshot, as tools and exporters print it. See src/doc/adr/0087-observe.md. */
#pragma once

#include "fab/id_table.h"

/** What is counted at a port. Names and units: fab_counter_abouts. */
typedef enum fab_counter {
    FAB_COUNTER_SENT,
    FAB_COUNTER_RECEIVED,
    FAB_COUNTER_WAIT,
    FAB_COUNTER_SYMBOL_ERRORS,
    FAB_COUNTER_FEC_CORRECTED,
    FAB_COUNTER_FEC_LOST,
    FAB_COUNTER_RECEIVE_ERRORS,
    FAB_COUNTER_DISCARDS,
    FAB_COUNTER_LINK_DOWNED,
    FAB_COUNTER_LINK_RECOVERED,
    FAB_COUNTER_PAUSES_SENT,
    FAB_COUNTER_PAUSES_RECEIVED,
    FAB_COUNTER_CONGESTION,
    FAB_COUNTER_OUT_OF_SEQUENCE,
    FAB_COUNTER_N
} fab_counter;

typedef struct fab_counter_about {
    const char *name;    /**< "symbol-errors" */
    const char *summary; /**< a sentence */
    bool is_error;       /**< of the link or of a queue: none is normal */
} fab_counter_about;

extern const fab_counter_about fab_counter_abouts[FAB_COUNTER_N];

/** A port of a box, by whatever the file says of either. */
typedef struct fab_counted_port {
    uint32_t box;  /**< begin of the box's name in `text`; FAB_COUNTERS_NONE: the file has none */
    uint32_t port; /**< likewise of its port */
    uint64_t guid; /**< 0: not known */
    uint32_t lid;  /**< 0: not known */
    uint32_t file; /**< begin of the path in `text` */
    size_t line;
    double time_s;                 /**< when it was read; NAN: the file does not say */
    uint32_t has;                  /**< bit c: value[c] is there */
    uint64_t value[FAB_COUNTER_N]; /**< as counted; times `scale` in bytes, packets, ticks */
    uint8_t scale[FAB_COUNTER_N];  /**< 4 where InfiniBand counts words of four bytes, else 1; and FAB_COUNTER_LONG */
} fab_counted_port;

#define FAB_COUNTERS_NONE UINT32_MAX
#define FAB_COUNTER_LONG  0x80 /**< the counter has 64 bits, and another one of 32 beside it */

typedef struct fab_counters {
    const char *format; /**< name of the format; of a folder that of its first file */
    char *text;         /**< names, each with its NUL */
    size_t n_text, text_capacity;
    fab_counted_port *ports;
    size_t n_ports, capacity;
    size_t n_files;
    fab_id_table table; /**< of the ports, by their keys */
} fab_counters;

void fab_counters_free(fab_counters *counters);
FAB_OWNER(fab_counters, fab_counters_free)

/** Text that begins at `at`; NULL of FAB_COUNTERS_NONE. */
static inline const char *fab_counters_text(const fab_counters *c, uint32_t at) {
    return at == FAB_COUNTERS_NONE ? NULL : c->text + at;
}

typedef struct fab_counters_format {
    const char *name, *summary;
    bool (*recognise)(const char *path, const char *bytes);
    /** @retval FAB_EINPUT  file:line:column, what was expected */
    fab_status (*read)(const char *path, const char *bytes, fab_counters *out, fab_error *err);
} fab_counters_format;

/** The first that recognises a file reads it; ended by NULL. A new one: a file read_NAME.c and a row there. */
extern const fab_counters_format *const fab_counters_formats[];

/**
 * Reads a snapshot: a file, or all files of a folder and its folders, in the order of their names. A file that names no
 * box is of the box that its own name has (HOST.txt, perfquery-0xGUID.out), or the folder below the snapshot's.
 * @param[in]  format  Name of the format, or NULL: by content.
 * @param[out] out     Written on success only; release with fab_counters_free().
 * @retval FAB_EINPUT  no format recognises a file, or it is malformed: file:line:column
 * Complexity: O(bytes).
 */
FAB_STATUS fab_counters_read(const char *path, const char *format, fab_counters **out, fab_error *err);
