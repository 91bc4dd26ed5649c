/* libxml2 as a SAX parser that reads through a callback. Places are found from its window when somebody asks: attribute
 * values hold no '<', so that the tag begins at the last one. */
#include "xml_stream_internal.h"
#include "fab/xml_reader.h"

#include <errno.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <stdarg.h>
#include <strings.h>

/* --- places and errors -------------------------------------------------------------------------------------------- */

/* Bytes of `data` that the parser has passed; 0 when it does not know. */
static size_t consumed(const fab_xml_stream *s) {
    const long n = s->context != NULL ? xmlByteConsumed(s->context) : 0;
    return n < 0 ? 0 : (size_t)n > s->size ? s->size : (size_t)n;
}

/* Finds the '<' of the start tag of `data` that the parser has just passed, and moves the cursor past its name. */
static void find_tag(fab_xml_stream *s) {
    size_t at = consumed(s);
    while (at > s->cursor.offset && s->data[at < s->size ? at : s->size - 1] != '<') {
        at--;
    }
    xml_cursor_move(&s->cursor, s->data, at);
    s->tag = s->cursor;
    while (at < s->size && !xml_is_blank(s->data[at]) && s->data[at] != '>' && s->data[at] != '/') {
        at++;
    }
    xml_cursor_move(&s->cursor, s->data, at);
}

static xml_cursor stream_place_of(const fab_xml_stream *s) {
    if (s->data != NULL) {
        return s->tag;
    }
    const xmlParserInput *input = s->context->input;
    const xmlChar *tag = input->cur;
    xml_cursor at = {0, (uint32_t)input->line, 1};
    while (tag > input->base && *tag != '<') {
        tag--;
        at.line -= *tag == '\n' ? 1U : 0U;
    }
    bool same_line = at.line == (uint32_t)input->line;
    const xmlChar *start = tag;
    while (start > input->base && start[-1] != '\n') {
        start--;
    }
    if (start > input->base || !same_line) {
        at.column = (uint32_t)(tag - start) + 1;
    } else { /* the line began before the window */
        long behind = input->col - (long)(input->cur - tag);
        at.column = behind > 0 ? (uint32_t)behind : 1;
    }
    return at;
}

static void stop(fab_xml_stream *s) {
    if (s->context != NULL) {
        xmlStopParser(s->context);
    }
}

static fab_status stream_wrong(const fab_xml_stream *s, fab_error *err, const char *text) {
    char where[FAB_XML_PLACE_SIZE];
    const xml_cursor at = stream_place_of(s);
    return fab_fail(err, FAB_EINPUT, fab_xml_place(where, s->path, at.line, at.column), "%s", text);
}

fab_status fab_xml_stream_wrong(const fab_xml_stream *at, fab_error *err, const char *fmt, ...) {
    char text[sizeof err->text];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    return stream_wrong(at, err, text);
}

size_t fab_xml_stream_line(const fab_xml_stream *at) {
    return stream_place_of(at).line;
}

/* Keeps the first failure and ends the reading. From callbacks of the document alone. */
static void settle(fab_xml_stream *s, fab_status status) {
    if (status != FAB_OK && s->status == FAB_OK) {
        s->status = status;
        stop(s);
    }
}

/* Whether nothing has gone wrong. An error that libxml2 tells may come from the middle of its buffer, where it must not
 * be stopped: the next callback of the document does. */
static bool goes_on(fab_xml_stream *s) {
    if (s->status != FAB_OK) {
        stop(s);
    }
    return s->status == FAB_OK;
}

static void stream_on_error(void *user, xmlErrorPtr error) {
    fab_xml_stream *s = user;
    char where[FAB_XML_PLACE_SIZE];
    char text[192];
    if (s->status != FAB_OK || error == NULL || error->level < XML_ERR_ERROR) {
        return;
    }
    /* Where there is no memory for a namespace, libxml2 2.9 takes it for an empty one. */
    if (error->code == XML_ERR_NO_MEMORY || (error->code == XML_NS_ERR_XML_NAMESPACE && errno == ENOMEM)) {
        s->status = fab_fail(&s->err, FAB_ENOMEM, s->path, "cannot allocate memory for the XML text");
        return;
    }
    FAB_FORMAT(text, "%s", error->message != NULL ? error->message : "syntax error");
    text[strcspn(text, "\r\n")] = '\0';
    xml_cursor at = XML_CURSOR_START;
    if (s->data != NULL) {
        xml_cursor_move(&at, s->data, consumed(s));
    } else {
        at = (xml_cursor){0, error->line > 0 ? (uint32_t)error->line : 1, error->int2 > 0 ? (uint32_t)error->int2 : 1};
    }
    (void)fab_xml_place(where, s->path, at.line, at.column);
    s->status = fab_fail(&s->err, FAB_EINPUT, where, "not well-formed XML: %s", text);
}

/* --- what a file may not have ------------------------------------------------------------------------------------- */

static void refuse(fab_xml_stream *s, const char *text) {
    settle(s, s->status == FAB_OK ? stream_wrong(s, &s->err, text) : s->status);
}

static void on_entity(void *user, FAB_UNUSED const xmlChar *name, FAB_UNUSED int type,
                      FAB_UNUSED const xmlChar *public_id, FAB_UNUSED const xmlChar *system_id,
                      FAB_UNUSED xmlChar *content) {
    refuse(user, "declarations of entities are not allowed");
}

static void on_reference(void *user, FAB_UNUSED const xmlChar *name) {
    refuse(user, "a reference to an entity that is not one of XML's own");
}

static void on_doctype(void *user, const xmlChar *name, FAB_UNUSED const xmlChar *external, const xmlChar *system) {
    fab_xml_stream *s = user;
    size_t at = consumed(s);
    while (at > 0 && (at + 9 > s->size || memcmp(s->data + at, "<!DOCTYPE", 9) != 0)) {
        at--;
    }
    FAB_FIRST_IN(behind, at, s->size, s->data[behind] == '>' || s->data[behind] == '[');
    bool is_named =
        xmlStrEqual(name, BAD_CAST "topology") && system != NULL && behind < s->size && s->data[behind] == '>';
    if (!is_named) { /* hwloc names a file, which nobody opens */
        s->tag = (xml_cursor)XML_CURSOR_START;
        xml_cursor_move(&s->tag, s->data, at);
        refuse(s, "a DOCTYPE is not allowed (no entities, no external files)");
    }
}

/* Of the encodings that libraries convert, those that XML files have. */
static void on_document(void *user) {
    static const char *const KNOWN[] = {"UTF-8",    "UTF8",       "UTF-16",   "UTF-16LE",
                                        "UTF-16BE", "ISO-8859-1", "US-ASCII", "ASCII"};
    fab_xml_stream *s = user;
    const char *encoding = (const char *)s->context->input->encoding; /* of what it converts; else it is UTF-8 or -16 */
    bool is_known = encoding == NULL;
    for (size_t i = 0; !is_known && i < FAB_N_OF(KNOWN); i++) {
        is_known = strcasecmp(encoding, KNOWN[i]) == 0;
    }
    if (!is_known) {
        char where[FAB_XML_PLACE_SIZE];
        settle(s, fab_fail(&s->err, FAB_EINPUT, fab_xml_place(where, s->path, 1, 1),
                           "encoding '%.40s' is not read; expected UTF-8, UTF-16 or ISO-8859-1", encoding));
    }
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

const char *fab_xml_stream_attribute(const fab_xml_stream *at, const char *name) {
    for (int i = 0; i < at->n_attributes; i++) {
        const xmlChar **a = at->attributes + (ptrdiff_t)i * XML_FIELDS;
        if (strcmp((const char *)a[XML_NAME], name) != 0) {
            continue;
        }
        const char *from = (const char *)a[XML_VALUE];
        size_t n = (size_t)(a[XML_VALUE_END] - a[XML_VALUE]);
        at->value->length = 0;
        for (const char *amp; (amp = memchr(from, '&', n)) != NULL;) { /* libxml2 leaves "&#38;" for an ampersand */
            size_t skip = n - (size_t)(amp - from) >= 5 && memcmp(amp, "&#38;", 5) == 0 ? 5 : 1;
            fab_str_append(at->value, from, (size_t)(amp - from) + 1);
            n -= (size_t)(amp - from) + skip;
            from = amp + skip;
        }
        fab_str_append(at->value, from, n);
        return at->value->failed ? NULL : at->value->data;
    }
    return NULL;
}

const char *fab_xml_stream_text(const fab_xml_stream *at) {
    fab_str *text = at->text;
    if (text->length == 0) {
        return "";
    }
    while (text->length > 0 && xml_is_blank(text->data[text->length - 1])) {
        text->length--;
    }
    text->data[text->length] = '\0';
    return text->data + strspn(text->data, " \t\r\n");
}

static void stream_on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                            int n_namespaces, FAB_UNUSED const xmlChar **namespaces, int n_attributes,
                            FAB_UNUSED int n_defaulted, const xmlChar **attributes) {
    fab_xml_stream *s = user;
    if (!goes_on(s)) {
        return;
    }
    if (s->data != NULL) {
        find_tag(s);
    }
    if (++s->depth > FAB_XML_MAX_DEPTH) {
        refuse(s, "elements are nested too deep");
        return;
    }
    s->prefix = prefix;
    s->uri = uri;
    s->attributes = attributes;
    s->n_attributes = n_attributes;
    s->n_namespaces = n_namespaces;
    fab_error inner = {0};
    fab_status status = s->visitor->start(s->user, s, (const char *)name, &inner);
    settle(s, fab_str_status(s->value, &s->err)); /* an attribute that memory did not suffice for is not missing */
    if (status != FAB_OK && s->status == FAB_OK) {
        settle(s, fab_fail(&s->err, status, inner.where, "%s", inner.text));
    }
    s->n_attributes = 0;
    s->text->length = 0;
}

static void stream_on_end(void *user, const xmlChar *name, FAB_UNUSED const xmlChar *prefix,
                          FAB_UNUSED const xmlChar *uri) {
    fab_xml_stream *s = user;
    if (!goes_on(s)) {
        return;
    }
    s->depth--;
    settle(s, s->visitor->end(s->user, s, (const char *)name, fab_xml_stream_text(s), &s->err));
    s->text->length = s->data != NULL ? s->text->length : 0;
}

static void on_text(void *user, const xmlChar *text, int length) {
    fab_xml_stream *s = user;
    if (!goes_on(s) || length <= 0) {
        return;
    }
    if (s->text->length == 0 && xml_is_blank((char)text[0])) { /* indents between tags are most of many files */
        while (length > 0 && xml_is_blank((char)*text)) {
            text++;
            length--;
        }
    }
    if (s->text->length + (size_t)length > FAB_XML_STREAM_TEXT) {
        refuse(s, "a text of more than 1 MiB");
        return;
    }
    fab_str_append(s->text, (const char *)text, (size_t)length);
    settle(s, fab_str_status(s->text, &s->err));
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* libxml2 takes a zero byte for the end of the file. Of UTF-16 every other byte may be one. The parser must not be
 * stopped from here: it is in the middle of its buffer. */
static bool refuse_zero_byte(fab_xml_stream *s, const char *bytes, size_t n) {
    char where[FAB_XML_PLACE_SIZE];
    const char *zero = s->is_wide ? NULL : memchr(bytes, '\0', n);
    for (const char *c = bytes; c < (zero != NULL ? zero : bytes + n); c++) {
        s->lines += *c == '\n' ? 1U : 0U;
    }
    if (zero != NULL && s->status == FAB_OK) {
        FAB_FORMAT(where, "%.150s:%u", s->path, (unsigned)s->lines + 1);
        s->status = fab_fail(&s->err, FAB_EINPUT, where, "a zero byte: this is no text file");
    }
    return zero != NULL;
}

static int read_bytes(void *user, char *to, int n) {
    fab_xml_stream *s = user;
    size_t got = 0;
    if (s->data != NULL) {
        got = s->size - s->n_read < (size_t)n ? s->size - s->n_read : (size_t)n;
        memcpy(to, s->data + s->n_read, got);
        s->n_read += got;
        return (int)got;
    }
    fab_error inner = {0};
    fab_status status = fab_source_read(s->in, to, (size_t)n, &got, &inner);
    if (status != FAB_OK && s->status == FAB_OK) {
        char where[FAB_XML_PLACE_SIZE];
        (void)fab_xml_place(where, s->path, s->lines + 1, 1);
        s->status = fab_fail(&s->err, status, status == FAB_EINPUT ? where : inner.where, "%s", inner.text);
    }
    if (!s->has_begun && got > 0) {
        s->has_begun = true;
        s->is_wide = (unsigned char)to[0] >= 0xFE || to[0] == '\0' || (got > 1 && to[1] == '\0');
    }
    return status != FAB_OK || refuse_zero_byte(s, to, got) ? -1 : (int)got;
}

static fab_status stream_run(fab_xml_stream *s) {
    xmlSAXHandler handler = {0};
    handler.initialized = XML_SAX2_MAGIC;
    handler.startDocument = on_document;
    handler.entityDecl = on_entity;
    handler.reference = on_reference;
    handler.startElementNs = stream_on_start;
    handler.endElementNs = stream_on_end;
    handler.characters = on_text;
    handler.ignorableWhitespace = on_text;
    handler.cdataBlock = on_text;
    handler.serror = stream_on_error;
    handler.internalSubset = s->data != NULL ? on_doctype : NULL;
    s->context = xmlCreateIOParserCtxt(&handler, s, read_bytes, NULL, s, XML_CHAR_ENCODING_NONE);
    if (s->context == NULL) {
        return s->status != FAB_OK ? s->status
                                   : fab_fail(&s->err, FAB_ENOMEM, s->path, "cannot allocate memory for the XML text");
    }
    (void)xmlCtxtUseOptions(s->context, XML_PARSE_NONET | (s->data != NULL ? XML_PARSE_IGNORE_ENC : 0));
    errno = 0;
    int result = xmlParseDocument(s->context);
    if (s->status == FAB_OK && (result != 0 || !s->context->wellFormed)) {
        char where[FAB_XML_PLACE_SIZE];
        settle(s, s->context->errNo == XML_ERR_NO_MEMORY
                      ? fab_fail(&s->err, FAB_ENOMEM, s->path, "cannot allocate memory for the XML text")
                      : fab_fail(&s->err, FAB_EINPUT, fab_xml_place(where, s->path, 1, 1), "not well-formed XML"));
    }
    return s->status;
}

fab_status xml_stream_parse(fab_xml_stream *s, fab_error *err) {
    s->kept = s->attribute = (fab_str)FAB_STR_INIT;
    s->text = &s->kept;
    s->value = &s->attribute;
    s->cursor = (xml_cursor)XML_CURSOR_START;
    /* Errors outside a context would be printed: catch them as well. These variables belong to the thread. */
    xmlStructuredErrorFunc old_handler = xmlStructuredError;
    void *old_user = xmlStructuredErrorContext;
    xmlSetStructuredErrorFunc(s, stream_on_error);
    xmlInitParser();
    fab_status status = s->status == FAB_OK ? stream_run(s) : s->status;
    if (s->context != NULL) {
        xmlFreeDoc(s->context->myDoc); /* it makes one for declarations, also where nobody asks for a tree */
        s->context->myDoc = NULL;
        xmlFreeParserCtxt(s->context);
    }
    xmlSetStructuredErrorFunc(old_user, old_handler);
    fab_str_release(&s->kept);
    fab_str_release(&s->attribute);
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, s->err.where, "%s", s->err.text);
}

fab_status fab_xml_stream_read(const char *path, const fab_xml_visitor *visitor, void *context, fab_error *err) {
    fab_xml_stream s = {.path = path, .visitor = visitor, .user = context};
    FAB_PASS(fab_source_open(path, &s.in, err));
    fab_status status = xml_stream_parse(&s, err);
    fab_source_close(s.in);
    return status;
}
