/**
 * A whole XML text as a light tree, with the exact place of every element and attribute value. Made for files of
 * unknown origin: no network, no external files, no DOCTYPE (and so no entities of its own), hard limits on size,
 * depth, elements and attributes. Never prints.
 */
#pragma once

#include "fab/base.h"

#define FAB_XML_MAX_BYTES      ((size_t)16 << 20)
#define FAB_XML_MAX_DEPTH      64
#define FAB_XML_MAX_ELEMENTS   262144
#define FAB_XML_MAX_ATTRIBUTES 256
#define FAB_XML_PLACE_SIZE     192

/** Lines and columns count from 1; columns count characters, not bytes. */
typedef struct fab_xml_attribute {
    const char *name; /**< "prefix:name" where there is a prefix */
    const char *value;
    uint32_t line, column; /**< of the first character of the value */
} fab_xml_attribute;

typedef struct fab_xml_element fab_xml_element;
struct fab_xml_element {
    const char *name; /**< "prefix:name" where there is a prefix */
    const char *uri;  /**< namespace, or NULL */
    const char *text; /**< character data of this element alone, blanks at both ends removed; never NULL */
    uint32_t line, column;
    /** Without namespace declarations and xsi: attributes. */
    const fab_xml_attribute *attributes;
    size_t n_attributes;
    const fab_xml_element *parent, *first_child, *next; /**< NULL where there is none */
};

typedef struct fab_xml fab_xml;

/**
 * Reads XML from memory.
 * @param[in]  data  UTF-8, `size` bytes; need not end in NUL. May be NULL when size is 0.
 * @param[in]  file  Name for messages.
 * @param[out] out   Written on success only; release with fab_xml_free().
 * @retval FAB_EINPUT  err->where is file:line:column.
 * @retval FAB_ENOMEM
 * Complexity: O(size). Threads: concurrent calls are safe.
 */
FAB_STATUS fab_xml_parse(const char *data, size_t size, const char *file, fab_xml **out, fab_error *err);

/** Reads a file, or stdin ("-"). Stops reading at FAB_XML_MAX_BYTES. */
FAB_STATUS fab_xml_read(const char *path, fab_xml **out, fab_error *err);

void fab_xml_free(fab_xml *xml);
FAB_OWNER(fab_xml, fab_xml_free)

/** Never NULL. Borrowed from `xml`. */
const fab_xml_element *fab_xml_root(const fab_xml *xml);

/** Attribute of this name, or NULL. */
const fab_xml_attribute *fab_xml_find(const fab_xml_element *element, const char *name);

/**
 * "file:line:column". A long file name loses its beginning, so that the place is always complete.
 * @param[out] out  FAB_XML_PLACE_SIZE bytes. Returns out.
 */
const char *fab_xml_place(char *out, const char *file, uint32_t line, uint32_t column);

/** FAB_EINPUT at the element: `text`, then the first 60 bytes of `what`. */
FAB_STATUS fab_xml_fail_at(const char *file, const fab_xml_element *element, fab_error *err, const char *text,
                           const char *what);

/**
 * The root, if it has this name, no namespace and no text of its own.
 * @param[in] begins  "a catalog begins with <catalog>": what a message says of another root
 */
FAB_STATUS fab_xml_root_called(const fab_xml *xml, const char *file, const char *name, const char *begins,
                               const fab_xml_element **out, fab_error *err);
