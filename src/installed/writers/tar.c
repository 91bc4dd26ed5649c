#include "tar.h"

#include <string.h>

#define BLOCK     512
#define CHECKSUM  148 /* where it stands in the header, 8 bytes */
#define MOST_SIZE ((size_t)1 << 33)

static void put_zeros(FILE *out, size_t n) {
    static const char ZEROS[2 * BLOCK];
    (void)fwrite(ZEROS, 1, n, out);
}

fab_status fab_tar_put(FILE *out, const char *path, const fab_str *file, fab_error *err) {
    char head[BLOCK] = {0};
    unsigned sum = 0;
    FAB_PASS(fab_str_status(file, err));
    if (strlen(path) > 99 || file->length >= MOST_SIZE) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "'%.120s' has %zu bytes of name and %zu of text; tar takes 99 and 8 GiB", path, strlen(path),
                        file->length);
    }
    memcpy(head, path, strlen(path));
    (void)snprintf(head + 100, 25, "0000644%c0000000%c0000000", '\0', '\0');
    (void)snprintf(head + 124, 25, "%011zo%c00000000000", file->length, '\0');
    memset(head + CHECKSUM, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += (unsigned char)head[i];
    }
    (void)snprintf(head + CHECKSUM, 8, "%06o", sum); /* a NUL and the blank stay behind it */
    (void)fwrite(head, 1, BLOCK, out);
    (void)fwrite(file->length > 0 ? file->data : "", 1, file->length, out);
    put_zeros(out, (BLOCK - file->length % BLOCK) % BLOCK);
    return FAB_OK;
}

void fab_tar_end(FILE *out) {
    put_zeros(out, (size_t)2 * BLOCK);
}
