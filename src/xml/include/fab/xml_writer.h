/**
 * Writes XML 1.0 in UTF-8 to a stream, in constant memory. Text is escaped; what XML cannot hold (control characters,
 * bytes that are not UTF-8) becomes U+FFFD. A failed write sticks and is reported by fab_xml_writer_finish().
 *
 * Own code and not libxml2's xmlTextWriter: a GraphML file of 24,576 GPUs is 2 million small pieces of markup, for
 * which xmlTextWriter needs 0.5 s and this writer 0.05 to 0.2 s, depending on how many different loads there are.
 */
#pragma once

#include "fab/base.h"

#define FAB_XML_DEPTH 32

typedef struct fab_xml_writer {
    FILE *out;
    char *buffer;
    size_t used;
    const char *open[FAB_XML_DEPTH]; /**< names of the open elements, borrowed */
    bool has_children[FAB_XML_DEPTH];
    size_t depth;
    bool tag_open; /**< the innermost start tag still takes attributes */
    bool has_text; /**< the innermost element holds text: its end tag stays on the line */
    int error;     /**< errno of the first write that failed, or 0 */
    bool misused;  /**< nested too deep, or ended too often */
} fab_xml_writer;

/** Starts a document with its XML declaration. `out` is borrowed. */
FAB_STATUS fab_xml_writer_init(fab_xml_writer *writer, FILE *out, fab_error *err);
void fab_xml_writer_release(fab_xml_writer *writer);

/** Opens an element on a line of its own, indented by its depth. `name` is borrowed until the element ends. */
void fab_xml_write_start(fab_xml_writer *writer, const char *name);
/** Adds an attribute to the element just opened; only before its content. */
void fab_xml_write_attribute(fab_xml_writer *writer, const char *name, const char *value);
/** Opens an element with attributes: FAB_XML_START(xml, "key", "id", id, "for", domain); _EMPTY closes it, too. */
#define FAB_XML_START(writer, ...) fab_xml_write_tag(writer, (const char *const[]){__VA_ARGS__, NULL}, false)
#define FAB_XML_EMPTY(writer, ...) fab_xml_write_tag(writer, (const char *const[]){__VA_ARGS__, NULL}, true)
void fab_xml_write_tag(fab_xml_writer *writer, const char *const *words, bool is_empty);
void fab_xml_write_text(fab_xml_writer *writer, const char *text);
void fab_xml_write_end(fab_xml_writer *writer);

/** Markup that is well-formed already, as it stands. For what is written a hundred thousand times. */
void fab_xml_write_raw(fab_xml_writer *writer, const char *bytes, size_t n);
/** Decimal digits, as they stand. */
void fab_xml_write_integer(fab_xml_writer *writer, uint64_t value);
/** Escaped text, without the bookkeeping of fab_xml_write_text(). */
void fab_xml_write_escaped(fab_xml_writer *writer, const char *text);

/**
 * Writes out what is buffered.
 * @retval FAB_EIO        a write failed
 * @retval FAB_EINTERNAL  elements are still open, or were nested deeper than FAB_XML_DEPTH
 */
FAB_STATUS fab_xml_writer_finish(fab_xml_writer *writer, fab_error *err);
