/* Texts of engines that name a file: whoever carries a study elsewhere takes the file along. */
#include "engines.h"

#include <string.h>

bool fab_engine_path(const char *text, size_t *out_at, size_t *out_length) {
    static const char *const KEYS[] = {FAB_PATH_KEY "=", FAB_TABLES_KEY "="};
    for (const char *item = strchr(text, ','); item != NULL; item = strchr(item, ',')) {
        item++;
        for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
            size_t n = strlen(KEYS[i]);
            if (strncmp(item, KEYS[i], n) == 0) {
                *out_at = (size_t)(item - text) + n;
                *out_length = strcspn(item + n, ",");
                return *out_length > 0;
            }
        }
    }
    return false;
}
