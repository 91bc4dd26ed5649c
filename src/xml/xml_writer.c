#include "fab/xml_writer.h"
#include "fab/utf8.h"

#include <errno.h>

#define BUFFER_SIZE ((size_t)1 << 20)

fab_status fab_xml_writer_init(fab_xml_writer *writer, FILE *out, fab_error *err) {
    char *buffer = NULL;
    FAB_PASS(FAB_NEW(buffer, BUFFER_SIZE, err));
    *writer = (fab_xml_writer){.out = out, .buffer = buffer};
    static const char DECLARATION[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    fab_xml_write_raw(writer, DECLARATION, sizeof DECLARATION - 1);
    return FAB_OK;
}

FAB_RELEASES(fab_xml_writer_release, fab_xml_writer, buffer);

static void flush_buffer(fab_xml_writer *writer) {
    if (writer->error == 0 && fwrite(writer->buffer, 1, writer->used, writer->out) != writer->used) {
        writer->error = errno;
    }
    writer->used = 0;
}

static void writer_put(fab_xml_writer *writer, const char *bytes, size_t n) {
    while (n > BUFFER_SIZE - writer->used) {
        size_t part = BUFFER_SIZE - writer->used;
        memcpy(writer->buffer + writer->used, bytes, part);
        writer->used = BUFFER_SIZE;
        flush_buffer(writer);
        bytes += part;
        n -= part;
    }
    memcpy(writer->buffer + writer->used, bytes, n);
    writer->used += n;
}

static void put_string(fab_xml_writer *writer, const char *text) {
    writer_put(writer, text, strlen(text));
}

static void new_line(fab_xml_writer *writer, size_t depth) {
    writer_put(writer, "\n", 1);
    for (size_t i = 0; i < depth; i++) {
        writer_put(writer, "  ", 2);
    }
}

/* What stands for a code point, or NULL where its own bytes do. Line ends and tabs are written as references because a
 * parser turns them into spaces within attributes. */
static const char *replacement(uint32_t code) {
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    case 0xFFFE:
    case 0xFFFF:
    case FAB_UTF8_REPLACEMENT: return FAB_UTF8_REPLACEMENT_TEXT;
    default: return code < 0x20 ? FAB_UTF8_REPLACEMENT_TEXT : NULL;
    }
}

void fab_xml_write_escaped(fab_xml_writer *writer, const char *text) {
    const char *clean = text; /* bytes from here to `text` go out as they are */
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        char number[16];
        const char *instead = replacement(code);
        if (instead == NULL && fab_utf8_is_hidden(code)) {
            FAB_FORMAT(number, "&#x%X;", (unsigned)code);
            instead = number;
        }
        if (instead != NULL) {
            writer_put(writer, clean, (size_t)(text - clean));
            put_string(writer, instead);
            clean = text + n;
        }
        text += n;
    }
    writer_put(writer, clean, (size_t)(text - clean));
}

static void close_tag(fab_xml_writer *writer) {
    if (writer->tag_open) {
        writer_put(writer, ">", 1);
        writer->tag_open = false;
    }
}

void fab_xml_write_start(fab_xml_writer *writer, const char *name) {
    if (writer->depth == FAB_XML_DEPTH) {
        writer->misused = true;
        return;
    }
    close_tag(writer);
    if (writer->depth > 0) {
        writer->has_children[writer->depth - 1] = true;
    }
    new_line(writer, writer->depth);
    writer_put(writer, "<", 1);
    put_string(writer, name);
    writer->open[writer->depth] = name;
    writer->has_children[writer->depth] = false;
    writer->depth++;
    writer->tag_open = true;
    writer->has_text = false;
}

void fab_xml_write_attribute(fab_xml_writer *writer, const char *name, const char *value) {
    if (!writer->tag_open) {
        writer->misused = true;
        return;
    }
    writer_put(writer, " ", 1);
    put_string(writer, name);
    writer_put(writer, "=\"", 2);
    fab_xml_write_escaped(writer, value);
    writer_put(writer, "\"", 1);
}

void fab_xml_write_text(fab_xml_writer *writer, const char *text) {
    close_tag(writer);
    writer->has_text = true;
    fab_xml_write_escaped(writer, text);
}

void fab_xml_write_end(fab_xml_writer *writer) {
    if (writer->depth == 0) {
        writer->misused = true;
        return;
    }
    writer->depth--;
    if (writer->tag_open) {
        writer_put(writer, "/>", 2);
        writer->tag_open = false;
    } else {
        if (writer->has_children[writer->depth] && !writer->has_text) {
            new_line(writer, writer->depth);
        }
        writer_put(writer, "</", 2);
        put_string(writer, writer->open[writer->depth]);
        writer_put(writer, ">", 1);
    }
    writer->has_text = false;
}

void fab_xml_write_tag(fab_xml_writer *writer, const char *const *words, bool is_empty) {
    fab_xml_write_start(writer, words[0]);
    for (size_t i = 1; words[i] != NULL; i += 2) {
        fab_xml_write_attribute(writer, words[i], words[i + 1]);
    }
    if (is_empty) {
        fab_xml_write_end(writer);
    }
}

void fab_xml_write_raw(fab_xml_writer *writer, const char *bytes, size_t n) {
    close_tag(writer);
    if (writer->depth > 0) {
        writer->has_children[writer->depth - 1] = true;
    }
    writer_put(writer, bytes, n);
}

void fab_xml_write_integer(fab_xml_writer *writer, uint64_t value) {
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    writer_put(writer, digits + i, sizeof digits - i);
}

fab_status fab_xml_writer_finish(fab_xml_writer *writer, fab_error *err) {
    FAB_REFUSE_IF(writer->depth != 0 || writer->misused, err, FAB_EINTERNAL, NULL,
                  "XML elements are not nested properly: %zu are open at the end", writer->depth);
    writer_put(writer, "\n", 1);
    flush_buffer(writer);
    FAB_REFUSE_IF(writer->error != 0 || fflush(writer->out) != 0 || ferror(writer->out), err, FAB_EIO, NULL,
                  "cannot write: %s", strerror(writer->error != 0 ? writer->error : errno));
    return FAB_OK;
}
