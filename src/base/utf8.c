#include "fab/utf8.h"

bool fab_utf8_is_hidden(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
}

size_t fab_utf8_decode(const char *text, uint32_t *out_code) {
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80) {
        *out_code = byte[0];
        return 1;
    }
    size_t length = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
    static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = byte[0] & (0x7FU >> length);
    *out_code = FAB_UTF8_REPLACEMENT;
    if (byte[0] < 0xC0 || byte[0] >= 0xF8) {
        return 1;
    }
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0U) != 0x80U) { /* also stops at the NUL */
            return 1;
        }
        code = code << 6 | (byte[i] & 0x3FU);
    }
    if (code < SMALLEST[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return 1;
    }
    *out_code = code;
    return length;
}
