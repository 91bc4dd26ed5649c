/*
 * libxml2 as a SAX parser. It reports no place of attribute values, but attribute values hold no '<': from the end of a
 * start tag the text is searched backwards for its '<', then walked forwards over the attributes.
 */
#include "fab/xml_reader.h"
#include "fab/memory.h"
#include "fab/str.h"
#include "xml_text.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#define MAX_NAMESPACES 8
#define XSI_URI        "http://www.w3.org/2001/XMLSchema-instance"

typedef struct node {
    fab_xml_element element;
    struct node *parent, *last_child;
    struct node *previous; /* of all nodes, for release */
    fab_str text;
    fab_xml_attribute attributes[]; /* followed by the strings */
} node;

struct fab_xml {
    node *root, *last;
};

typedef struct parser {
    xmlParserCtxtPtr context;
    const char *data;
    size_t size;
    const char *file;
    fab_xml *xml;
    node *open; /* innermost open element */
    size_t depth, n_elements;
    xml_cursor cursor;
    fab_status status;
    fab_error *err;
} parser;

/* What libxml2 passes for an attribute: local name, prefix, URI, value, end of value. */
enum { ATTRIBUTE_NAME, ATTRIBUTE_PREFIX, ATTRIBUTE_URI, ATTRIBUTE_VALUE, ATTRIBUTE_END, ATTRIBUTE_FIELDS };

static void stop_at(parser *p, xml_cursor cursor, fab_status code, const char *text, const char *what) {
    char place[FAB_XML_PLACE_SIZE];
    if (p->status == FAB_OK) {
        p->status =
            fab_fail(p->err, code, fab_xml_place(place, p->file, cursor.line, cursor.column), "%s%.160s", text, what);
    }
    if (p->context != NULL) {
        xmlStopParser(p->context);
    }
}

static void fail_for_memory(parser *p) {
    if (p->status == FAB_OK) {
        p->status = fab_fail(p->err, FAB_ENOMEM, p->file, "cannot allocate memory for the XML text");
    }
}

static void stop_for_memory(parser *p) {
    fail_for_memory(p);
    if (p->context != NULL) {
        xmlStopParser(p->context);
    }
}

/* Bytes the parser has passed; 0 when it does not know. */
static size_t consumed(const parser *p) {
    long n = p->context != NULL ? xmlByteConsumed(p->context) : 0;
    return n < 0 ? 0 : (size_t)n > p->size ? p->size : (size_t)n;
}

static void reader_on_error(void *user, xmlErrorPtr error) {
    parser *p = user;
    if (p->status != FAB_OK || error == NULL || error->level < XML_ERR_ERROR) {
        return;
    }
    if (error->code == XML_ERR_NO_MEMORY) {
        fail_for_memory(p); /* to stop would free the buffer that libxml2 is just enlarging */
        return;
    }
    xml_cursor cursor = XML_CURSOR_START;
    xml_cursor_move(&cursor, p->data, consumed(p));
    char text[192];
    (void)snprintf(text, sizeof text, "%s", error->message != NULL ? error->message : "syntax error");
    text[strcspn(text, "\r\n")] = '\0';
    stop_at(p, cursor, FAB_EINPUT, "not well-formed XML: ", text);
}

static void on_doctype(void *user, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
    (void)external;
    parser *p = user;
    size_t at = consumed(p);
    while (at > 0 && (at + 9 > p->size || memcmp(p->data + at, "<!DOCTYPE", 9) != 0)) {
        at--;
    }
    FAB_FIRST_IN(behind, at, p->size, p->data[behind] == '>' || p->data[behind] == '[');
    bool is_named =
        xmlStrEqual(name, BAD_CAST "topology") && system != NULL && behind < p->size && p->data[behind] == '>';
    if (is_named) { /* hwloc names a file, which nobody opens */
        return;
    }
    xml_cursor cursor = XML_CURSOR_START;
    xml_cursor_move(&cursor, p->data, at);
    stop_at(p, cursor, FAB_EINPUT, "a DOCTYPE is not allowed (no entities, no external files)", "");
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/*
 * Moves the cursor to the value of the next attribute of a start tag, and over it.
 * The parser has accepted the tag already; the bounds are checked all the same.
 */
static bool next_value(const parser *p, xml_cursor *cursor, const char **name, size_t *name_length, xml_cursor *value) {
    const char *data = p->data;
    FAB_FIRST_IN(at, cursor->offset, p->size, !is_blank(data[at]));
    size_t from = at;
    while (at < p->size && data[at] != '=' && !is_blank(data[at])) {
        at++;
    }
    *name = data + from;
    *name_length = at - from;
    while (at < p->size && (data[at] == '=' || is_blank(data[at]))) {
        at++;
    }
    if (at >= p->size || (data[at] != '"' && data[at] != '\'')) {
        return false;
    }
    char quote = data[at++];
    xml_cursor_move(cursor, data, at);
    *value = *cursor;
    while (at < p->size && data[at] != quote) {
        at++;
    }
    xml_cursor_move(cursor, data, at < p->size ? at + 1 : at);
    return true;
}

/* Finds the '<' of the start tag that the parser has just passed, and moves the parser's cursor past the tag's name. */
static xml_cursor find_tag(parser *p) {
    size_t at = consumed(p);
    while (at > p->cursor.offset && p->data[at < p->size ? at : p->size - 1] != '<') {
        at--;
    }
    xml_cursor_move(&p->cursor, p->data, at);
    xml_cursor tag = p->cursor;
    while (at < p->size && !is_blank(p->data[at]) && p->data[at] != '>' && p->data[at] != '/') {
        at++;
    }
    xml_cursor_move(&p->cursor, p->data, at);
    return tag;
}

/* Places of the values. Namespace declarations stand among the attributes in the text, not in the list. */
static void place_attributes(parser *p, fab_xml_attribute *attributes, size_t n) {
    size_t i = 0;
    const char *name = NULL;
    size_t length = 0;
    xml_cursor value = p->cursor;
    while (i < n && next_value(p, &p->cursor, &name, &length, &value)) {
        if (strlen(attributes[i].name) == length && memcmp(attributes[i].name, name, length) == 0) {
            attributes[i].line = value.line;
            attributes[i].column = value.column;
            i++;
        }
    }
}

static size_t name_size(const xmlChar *prefix, const xmlChar *name) {
    return (prefix != NULL ? strlen((const char *)prefix) + 1 : 0) + strlen((const char *)name) + 1;
}

/* Writes "prefix:name" and moves the write pointer behind it. */
static const char *put_name(char **to, const xmlChar *prefix, const xmlChar *name) {
    const char *start = *to;
    int n = sprintf(*to, "%s%s%s", prefix != NULL ? (const char *)prefix : "", prefix != NULL ? ":" : "",
                    (const char *)name);
    *to += n + 1;
    return start;
}

/* One block per element: node, attributes, strings. */
static node *make_node(const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, size_t n, const xmlChar **from,
                       fab_error *err) {
    size_t size = sizeof(node) + n * sizeof(fab_xml_attribute) + name_size(prefix, name);
    size += uri != NULL ? strlen((const char *)uri) + 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const xmlChar **a = from + i * ATTRIBUTE_FIELDS;
        size += name_size(a[ATTRIBUTE_PREFIX], a[ATTRIBUTE_NAME]) + (size_t)(a[ATTRIBUTE_END] - a[ATTRIBUTE_VALUE]) + 1;
    }
    node *made = NULL;
    if (fab_allocate(1, size, &made, err) != FAB_OK) {
        return NULL;
    }
    char *to = (char *)(made->attributes + n);
    made->element.name = put_name(&to, prefix, name);
    made->element.uri = uri != NULL ? put_name(&to, NULL, uri) : NULL;
    made->element.text = "";
    made->element.attributes = made->attributes;
    made->element.n_attributes = n;
    for (size_t i = 0; i < n; i++) {
        const xmlChar **a = from + i * ATTRIBUTE_FIELDS;
        size_t length = (size_t)(a[ATTRIBUTE_END] - a[ATTRIBUTE_VALUE]);
        made->attributes[i].name = put_name(&to, a[ATTRIBUTE_PREFIX], a[ATTRIBUTE_NAME]);
        made->attributes[i].value = to;
        memcpy(to, a[ATTRIBUTE_VALUE], length);
        to[length] = '\0';
        to += length + 1;
    }
    return made;
}

static void drop_xsi(node *made, const xmlChar **from) {
    size_t kept = 0;
    for (size_t i = 0; i < made->element.n_attributes; i++) {
        const xmlChar *uri = from[i * ATTRIBUTE_FIELDS + ATTRIBUTE_URI];
        if (uri == NULL || strcmp((const char *)uri, XSI_URI) != 0) {
            made->attributes[kept++] = made->attributes[i];
        }
    }
    made->element.n_attributes = kept;
}

static void link_node(parser *p, node *made) {
    made->previous = p->xml->last;
    p->xml->last = made;
    made->parent = p->open;
    if (p->open == NULL) {
        p->xml->root = made;
    } else {
        made->element.parent = &p->open->element;
        if (p->open->last_child == NULL) {
            p->open->element.first_child = &made->element;
        } else {
            p->open->last_child->element.next = &made->element;
        }
        p->open->last_child = made;
    }
    p->open = made;
    p->depth++;
    p->n_elements++;
}

static void reader_on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                            int n_namespaces, const xmlChar **namespaces, int n_attributes, int n_defaulted,
                            const xmlChar **attributes) {
    (void)namespaces;
    (void)n_defaulted;
    parser *p = user;
    if (p->status != FAB_OK) {
        return;
    }
    xml_cursor tag = find_tag(p);
    if (p->depth >= FAB_XML_MAX_DEPTH) {
        stop_at(p, tag, FAB_EINPUT, "elements are nested too deep", "");
        return;
    }
    if (p->n_elements >= FAB_XML_MAX_ELEMENTS) {
        stop_at(p, tag, FAB_EINPUT, "too many elements", "");
        return;
    }
    if (n_attributes > FAB_XML_MAX_ATTRIBUTES || n_namespaces > MAX_NAMESPACES) {
        stop_at(p, tag, FAB_EINPUT, "too many attributes or namespaces on element ", (const char *)name);
        return;
    }
    node *made = make_node(name, prefix, uri, (size_t)n_attributes, attributes, NULL);
    if (made == NULL) {
        stop_for_memory(p);
        return;
    }
    made->element.line = tag.line;
    made->element.column = tag.column;
    place_attributes(p, made->attributes, made->element.n_attributes);
    drop_xsi(made, attributes);
    link_node(p, made);
}

static void on_text(void *user, const xmlChar *text, int length) {
    parser *p = user;
    if (p->status != FAB_OK || p->open == NULL || length <= 0) {
        return;
    }
    size_t skip = 0;
    while (p->open->text.length == 0 && skip < (size_t)length && is_blank((char)text[skip])) {
        skip++;
    }
    if (skip < (size_t)length) {
        fab_str_append(&p->open->text, (const char *)text + skip, (size_t)length - skip);
    }
    if (p->open->text.failed) {
        stop_for_memory(p);
    }
}

static void reader_on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    (void)name;
    (void)prefix;
    (void)uri;
    parser *p = user;
    if (p->status != FAB_OK || p->open == NULL) {
        return;
    }
    fab_str *text = &p->open->text;
    while (text->length > 0 && is_blank(text->data[text->length - 1])) {
        text->data[--text->length] = '\0';
    }
    if (text->data != NULL) {
        p->open->element.text = text->data;
    }
    p->open = p->open->parent;
    p->depth--;
}

static void reader_run(parser *p) {
    xmlSAXHandler handler = {0};
    handler.initialized = XML_SAX2_MAGIC;
    handler.internalSubset = on_doctype;
    handler.startElementNs = reader_on_start;
    handler.endElementNs = reader_on_end;
    handler.characters = on_text;
    handler.ignorableWhitespace = on_text;
    handler.cdataBlock = on_text;
    handler.serror = reader_on_error;
    p->context = xmlCreateMemoryParserCtxt(p->data, (int)p->size);
    if (p->context == NULL || p->context->sax == NULL) {
        stop_for_memory(p);
        return;
    }
    *p->context->sax = handler;
    p->context->userData = p;
    (void)xmlCtxtUseOptions(p->context, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
    int result = xmlParseDocument(p->context);
    if (p->status == FAB_OK && p->context->errNo == XML_ERR_NO_MEMORY) {
        stop_for_memory(p);
    }
    if (p->status == FAB_OK && (result != 0 || !p->context->wellFormed || p->xml->root == NULL || p->open != NULL)) {
        xml_cursor start = XML_CURSOR_START;
        stop_at(p, start, FAB_EINPUT, "not well-formed XML", "");
    }
}

fab_status fab_xml_parse(const char *data, size_t size, const char *file, fab_xml **out, fab_error *err) {
    FAB_OWNS(fab_xml_free_owned) fab_xml *xml = NULL;
    FAB_PASS(xml_text_check(data, size, file, err));
    FAB_PASS(FAB_NEW(xml, 1, err));
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) {
        data += 3;
        size -= 3;
    }
    parser p = {.xml = xml, .data = data, .size = size, .file = file, .cursor = XML_CURSOR_START, .err = err};
    /* Errors outside a context would be printed: catch them as well. These variables belong to the thread. */
    xmlStructuredErrorFunc old_handler = xmlStructuredError;
    void *old_user = xmlStructuredErrorContext;
    xmlSetStructuredErrorFunc(&p, reader_on_error);
    xmlInitParser();
    if (p.status == FAB_OK) {
        reader_run(&p);
    }
    if (p.context != NULL) {
        xmlFreeParserCtxt(p.context);
    }
    xmlSetStructuredErrorFunc(old_user, old_handler);
    FAB_PASS(p.status);
    return FAB_GIVE(*out, xml);
}

fab_status fab_xml_read(const char *path, fab_xml **out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_PASS(fab_read_file(path, FAB_XML_MAX_BYTES, &text, err));
    return fab_xml_parse(text.data, text.length, strcmp(path, "-") == 0 ? "stdin" : path, out, err);
}

void fab_xml_free(fab_xml *xml) {
    if (xml == NULL) {
        return;
    }
    for (node *at = xml->last; at != NULL;) {
        node *previous = at->previous;
        fab_str_release(&at->text);
        free(at);
        at = previous;
    }
    free(xml);
}

const fab_xml_element *fab_xml_root(const fab_xml *xml) {
    return &xml->root->element;
}

fab_status fab_xml_fail_at(const char *file, const fab_xml_element *element, fab_error *err, const char *text,
                           const char *what) {
    char where[FAB_XML_PLACE_SIZE];
    return fab_fail(err, FAB_EINPUT, fab_xml_place(where, file, element->line, element->column), "%s%.60s", text, what);
}

fab_status fab_xml_root_called(const fab_xml *xml, const char *file, const char *name, const char *begins,
                               const fab_xml_element **out, fab_error *err) {
    const fab_xml_element *root = fab_xml_root(xml);
    if (strcmp(root->name, name) != 0 || root->uri != NULL) {
        char text[80];
        (void)snprintf(text, sizeof text, "%s, not with ", begins);
        return fab_xml_fail_at(file, root, err, text, root->name);
    }
    FAB_RETURN_IF(root->text[0] != '\0', fab_xml_fail_at(file, root, err, "unexpected text inside ", root->name));
    *out = root;
    return FAB_OK;
}

const fab_xml_attribute *fab_xml_find(const fab_xml_element *element, const char *name) {
    FAB_FIRST(i, element->n_attributes, strcmp(element->attributes[i].name, name) == 0);
    return i < element->n_attributes ? &element->attributes[i] : NULL;
}
