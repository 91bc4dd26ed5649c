/* A tree of what a stream tells. Attribute values hold no '<': from the '<' of a start tag the text is walked forwards
 * over the attributes, of which libxml2 reports no place. */
#include "xml_stream_internal.h"
#include "fab/xml_reader.h"

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

typedef struct tree {
    fab_xml *xml;
    fab_xml_stream *stream;
    fab_str *outside; /* what is no text of an element goes there */
    node *open;       /* innermost open element */
    size_t n_elements;
} tree;

/*
 * Moves the cursor to the value of the next attribute of a start tag, and over it.
 * The parser has accepted the tag already; the bounds are checked all the same.
 */
static bool next_value(const fab_xml_stream *p, xml_cursor *cursor, const char **name, size_t *name_length,
                       xml_cursor *value) {
    const char *data = p->data;
    FAB_FIRST_IN(at, cursor->offset, p->size, !xml_is_blank(data[at]));
    size_t from = at;
    while (at < p->size && data[at] != '=' && !xml_is_blank(data[at])) {
        at++;
    }
    *name = data + from;
    *name_length = at - from;
    while (at < p->size && (data[at] == '=' || xml_is_blank(data[at]))) {
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

/* Places of the values. Namespace declarations stand among the attributes in the text, not in the list. */
static void place_attributes(fab_xml_stream *p, fab_xml_attribute *attributes, size_t n) {
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
static fab_status make_node(const fab_xml_stream *at, const char *name, node **out, fab_error *err) {
    const size_t n = (size_t)at->n_attributes;
    const xmlChar **from = at->attributes;
    size_t size = sizeof(node) + n * sizeof(fab_xml_attribute) + name_size(at->prefix, BAD_CAST name);
    size += at->uri != NULL ? strlen((const char *)at->uri) + 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const xmlChar **a = from + i * XML_FIELDS;
        size += name_size(a[XML_PREFIX], a[XML_NAME]) + (size_t)(a[XML_VALUE_END] - a[XML_VALUE]) + 1;
    }
    node *made = NULL;
    FAB_PASS(fab_allocate(1, size, &made, err));
    char *to = (char *)(made->attributes + n);
    made->element.name = put_name(&to, at->prefix, BAD_CAST name);
    made->element.uri = at->uri != NULL ? put_name(&to, NULL, at->uri) : NULL;
    made->element.line = at->tag.line;
    made->element.column = at->tag.column;
    made->element.attributes = made->attributes;
    made->element.n_attributes = n;
    for (size_t i = 0; i < n; i++) {
        const xmlChar **a = from + i * XML_FIELDS;
        size_t length = (size_t)(a[XML_VALUE_END] - a[XML_VALUE]);
        made->attributes[i].name = put_name(&to, a[XML_PREFIX], a[XML_NAME]);
        made->attributes[i].value = to;
        memcpy(to, a[XML_VALUE], length);
        to[length] = '\0';
        to += length + 1;
    }
    *out = made;
    return FAB_OK;
}

static void drop_xsi(node *made, const xmlChar **from) {
    size_t kept = 0;
    for (size_t i = 0; i < made->element.n_attributes; i++) {
        const xmlChar *uri = from[i * XML_FIELDS + XML_URI];
        if (uri == NULL || strcmp((const char *)uri, XSI_URI) != 0) {
            made->attributes[kept++] = made->attributes[i];
        }
    }
    made->element.n_attributes = kept;
}

static void link_node(tree *t, node *made) {
    made->previous = t->xml->last;
    t->xml->last = made;
    made->parent = t->open;
    if (t->open == NULL) {
        t->xml->root = made;
        t->outside = t->stream->text;
    } else {
        made->element.parent = &t->open->element;
        if (t->open->last_child == NULL) {
            t->open->element.first_child = &made->element;
        } else {
            t->open->last_child->element.next = &made->element;
        }
        t->open->last_child = made;
    }
    t->open = made;
    t->stream->text = &made->text;
    t->n_elements++;
}

static fab_status on_start(void *context, const fab_xml_stream *at, const char *name, fab_error *err) {
    tree *t = context;
    if (t->n_elements >= FAB_XML_MAX_ELEMENTS) {
        return fab_xml_stream_wrong(at, err, "too many elements");
    }
    if (at->n_attributes > FAB_XML_MAX_ATTRIBUTES || at->n_namespaces > MAX_NAMESPACES) {
        return fab_xml_stream_wrong(at, err, "too many attributes or namespaces on element %.160s", name);
    }
    node *made = NULL;
    FAB_PASS(make_node(at, name, &made, err));
    place_attributes(t->stream, made->attributes, made->element.n_attributes);
    drop_xsi(made, at->attributes);
    link_node(t, made);
    return FAB_OK;
}

static fab_status on_end(void *context, FAB_UNUSED const fab_xml_stream *at, FAB_UNUSED const char *name,
                         const char *text, FAB_UNUSED fab_error *err) {
    tree *t = context;
    t->open->element.text = text;
    t->open = t->open->parent;
    t->stream->text = t->open != NULL ? &t->open->text : t->outside;
    return FAB_OK;
}

fab_status fab_xml_parse(const char *data, size_t size, const char *file, fab_xml **out, fab_error *err) {
    static const fab_xml_visitor VISITOR = {on_start, on_end};
    FAB_PASS(xml_text_check(data, size, file, err));
    FAB_OWNS_NEW(fab_xml_free_owned, fab_xml, xml, 1, err);
    const size_t mark = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    tree t = {.xml = xml};
    fab_xml_stream s = {.path = file, .data = data + mark, .size = size - mark, .visitor = &VISITOR, .user = &t};
    t.stream = &s;
    FAB_PASS(xml_stream_parse(&s, err));
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
        FAB_FORMAT(text, "%s, not with ", begins);
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
