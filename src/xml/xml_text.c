#include "xml_text.h"
#include "fab/utf8.h"
#include "fab/xml_reader.h"

#include <strings.h>

void xml_cursor_move(xml_cursor *cursor, const char *data, size_t offset) {
    for (; cursor->offset < offset; cursor->offset++) {
        unsigned char byte = (unsigned char)data[cursor->offset];
        if (byte == '\n') {
            cursor->line++;
            cursor->column = 1;
        } else if ((byte & 0xC0U) != 0x80U) {
            cursor->column++; /* continuation bytes belong to the character before */
        }
    }
}

const char *fab_xml_place(char *out, const char *file, uint32_t line, uint32_t column) {
    char place[32];
    int n = snprintf(place, sizeof place, ":%u:%u", (unsigned)line, (unsigned)column);
    size_t room = FAB_XML_PLACE_SIZE - 1 - (size_t)n;
    size_t length = strlen(file);
    if (length <= room) {
        memcpy(out, file, length);
    } else {
        length = room;
        memcpy(out, file + strlen(file) - length, length);
        memcpy(out, "...", 3);
    }
    memcpy(out + length, place, (size_t)n + 1);
    return out;
}

static fab_status text_fail_at(const char *data, size_t offset, const char *file, fab_error *err, const char *text) {
    xml_cursor cursor = XML_CURSOR_START;
    char place[FAB_XML_PLACE_SIZE];
    xml_cursor_move(&cursor, data, offset);
    return fab_fail(err, FAB_EINPUT, fab_xml_place(place, file, cursor.line, cursor.column), "%s", text);
}

static fab_status check_bytes(const char *data, size_t size, const char *file, fab_error *err) {
    const unsigned char *bytes = (const unsigned char *)data;
    if (size >= 2 && ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF) ||
                      (bytes[0] == '<' && bytes[1] == 0) || (bytes[0] == 0 && bytes[1] == '<'))) {
        return text_fail_at(data, 0, file, err, "the file is UTF-16 or UTF-32; only UTF-8 is read");
    }
    for (size_t i = 0; i < size;) {
        FAB_RETURN_IF(bytes[i] == 0,
                      text_fail_at(data, i, file, err, "the file holds a NUL byte: it is not an XML text"));
        uint32_t code = 0;
        char last[5] = ""; /* nothing ends the text: a character that is cut off must not be read on */
        memcpy(last, data + i, size - i < 4 ? size - i : 4);
        size_t n = fab_utf8_decode(last, &code);
        if (bytes[i] >= 0x80 && n == 1) {
            return text_fail_at(data, i, file, err, "the file holds a byte that is not UTF-8; only UTF-8 is read");
        }
        i += n;
    }
    return FAB_OK;
}

/* Encoding of the XML declaration: the parser is told to ignore it, so another one must not pass unseen. */
static fab_status check_encoding(const char *data, size_t size, const char *file, fab_error *err) {
    static const char KEY[] = "encoding";
    if (size < 6 || memcmp(data, "<?xml", 5) != 0) {
        return FAB_OK;
    }
    FAB_FIRST_IN(end, 5, size, data[end] == '>');
    for (size_t i = 5; i + sizeof KEY < end; i++) {
        if (memcmp(data + i, KEY, sizeof KEY - 1) != 0) {
            continue;
        }
        FAB_FIRST_IN(from, i + sizeof KEY - 1, end, strchr(" \t\r\n='\"", data[from]) == NULL);
        FAB_FIRST_IN(to, from, end, data[to] == '"' || data[to] == '\'');
        bool utf8 = to - from == 5 && strncasecmp(data + from, "UTF-8", 5) == 0;
        bool ascii = to - from == 8 && strncasecmp(data + from, "US-ASCII", 8) == 0;
        return utf8 || ascii ? FAB_OK : text_fail_at(data, from, file, err, "only the encoding UTF-8 is read");
    }
    return FAB_OK;
}

/* Between two '<' there is at most one start tag: counting ="..." there bounds its attributes from above. */
static fab_status check_attributes(const char *data, size_t size, const char *file, fab_error *err) {
    size_t n = 0;
    bool equals = false;
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        if (c == '<') {
            n = 0;
        }
        if (equals && (c == '"' || c == '\'') && ++n > FAB_XML_MAX_ATTRIBUTES) {
            char text[64];
            FAB_FORMAT(text, "more than %d attributes on one element", FAB_XML_MAX_ATTRIBUTES);
            return text_fail_at(data, i, file, err, text);
        }
        equals = c == '=' || (equals && (c == ' ' || c == '\t' || c == '\r' || c == '\n'));
    }
    return FAB_OK;
}

fab_status xml_text_check(const char *data, size_t size, const char *file, fab_error *err) {
    FAB_REFUSE_IF(size > FAB_XML_MAX_BYTES, err, FAB_EINPUT, file, "%zu bytes are more than the limit of %zu", size,
                  FAB_XML_MAX_BYTES);
    if (size == 0 || (size == 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)) {
        FAB_PASS(text_fail_at(data, 0, file, err, "the file is empty"));
    }
    FAB_PASS(check_bytes(data, size, file, err));
    FAB_PASS(check_encoding(data, size, file, err));
    return check_attributes(data, size, file, err);
}
