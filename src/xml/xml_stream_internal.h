/** Inside of a reading: for xml_stream.c, and for the tree that xml_reader.c makes of one. */
#pragma once

#include "xml_text.h"
#include "fab/source.h"
#include "fab/str.h"
#include "fab/xml_stream.h"

#include <libxml/parser.h>

struct fab_xml_stream {
    const char *path;
    fab_source *in;
    const char *data; /**< in place of `in`: UTF-8 without a mark, `size` bytes; else NULL. Of it are: */
    size_t size, n_read;
    xml_cursor tag;    /**< start tag at hand */
    xml_cursor cursor; /**< behind its name, or further on */
    xmlParserCtxtPtr context;
    const fab_xml_visitor *visitor;
    void *user;
    const xmlChar *prefix, *uri; /**< of the start tag at hand; of no meaning in other calls, as: */
    const xmlChar **attributes;
    int n_attributes, n_namespaces;
    fab_str *text;  /**< character data since the last tag; of `data` where the visitor wants it, and all of it */
    fab_str *value; /**< of an attribute that is asked for */
    fab_str kept, attribute; /**< what these two are; another text may be put in the place of the first */
    size_t depth;
    bool has_begun, is_wide;
    uint32_t lines; /**< that were read */
    fab_status status;
    fab_error err;
};

/** What libxml2 passes for an attribute. */
enum { XML_NAME, XML_PREFIX, XML_URI, XML_VALUE, XML_VALUE_END, XML_FIELDS };

static inline bool xml_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/** Reads what is open, or `data`. Path, visitor and user are set. */
FAB_STATUS xml_stream_parse(fab_xml_stream *stream, fab_error *err);
