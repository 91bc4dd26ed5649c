/**
 * An XML file element by element, in memory that does not grow with it. Made for files of unknown origin: no network,
 * no external files, no entities of its own, hard limits on depth and length of texts. Never prints.
 */
#pragma once

#include "fab/base.h"

#define FAB_XML_STREAM_TEXT ((size_t)1 << 20) /**< bytes of character data of one element */

/** Where the file is read; valid during a call of the visitor. */
typedef struct fab_xml_stream fab_xml_stream;

/** What is told of a file, in its order. Names are without prefix. An error ends the reading. */
typedef struct fab_xml_visitor {
    /** A start tag. */
    fab_status (*start)(void *context, const fab_xml_stream *at, const char *name, fab_error *err);
    /** An end tag; `text` is the character data since the last tag, without blanks at both ends. */
    fab_status (*end)(void *context, const fab_xml_stream *at, const char *name, const char *text, fab_error *err);
} fab_xml_visitor;

/**
 * Reads a file in UTF-8, UTF-16 or ISO-8859-1.
 * @retval FAB_EINPUT  not well-formed, declares an entity, or the visitor said so: err->where is file:line:column
 * @retval FAB_EIO, FAB_ENOMEM
 * Complexity: O(bytes) time; memory of one tag. Threads: concurrent calls are safe.
 */
FAB_STATUS fab_xml_stream_read(const char *path, const fab_xml_visitor *visitor, void *context, fab_error *err);

/**
 * Value of an attribute of the start tag at hand, of this name without prefix; NULL where it has none. Lasts until the
 * visitor returns or is asked for another one.
 */
const char *fab_xml_stream_attribute(const fab_xml_stream *at, const char *name);

/** Character data between the last tag and the one at hand, without blanks at both ends. */
const char *fab_xml_stream_text(const fab_xml_stream *at);

/** Line of the tag at hand, from 1. */
size_t fab_xml_stream_line(const fab_xml_stream *at);

/** FAB_EINPUT at file:line:column of the tag at hand. */
fab_status fab_xml_stream_wrong(const fab_xml_stream *at, fab_error *err, const char *fmt, ...) FAB_PRINTF(3, 4);
