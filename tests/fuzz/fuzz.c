#include "fuzz.h"

#include "fab/topologies.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fuzz_check(bool holds, const char *fmt, ...) {
    va_list args;
    if (holds) {
        return;
    }
    (void)fputs("does not hold: ", stderr);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    abort();
}

bool fuzz_accepts(fab_status status, const fab_error *err) {
    if (status == FAB_OK) {
        return true;
    }
    fuzz_check(err->code != FAB_OK && err->text[0] != '\0', "status %d without a reason", (int)status);
    fuzz_check(status != FAB_EINTERNAL && status != FAB_ENOMEM, "%s: %s: %s", fab_status_name(status), err->where,
               err->text);
    return false;
}

char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    fuzz_check(text != NULL, "no memory for a text");
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

static const char *folder_root(void) {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

const char *fuzz_file(const uint8_t *data, size_t size) {
    static char path[64];
    static int file = -1;
    if (file < 0) {
        (void)snprintf(path, sizeof path, "%s/fuzz-XXXXXX", folder_root());
        file = mkstemp(path);
        fuzz_check(file >= 0, "no file %s", path);
        (void)unlink(path); /* nothing stays behind, however this process ends */
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    bool wrote = ftruncate(file, 0) == 0 && pwrite(file, size > 0 ? (const void *)data : "", size, 0) == (ssize_t)size;
    fuzz_check(wrote, "no room for %zu bytes", size);
    return path;
}

void fuzz_write(const char *path, const uint8_t *data, size_t size) {
    FILE *out = fopen(path, "wb");
    bool wrote = out != NULL && (size == 0 || fwrite(data, 1, size, out) == size);
    wrote = out != NULL && fclose(out) == 0 && wrote;
    fuzz_check(wrote, "%s: cannot be written", path);
}

static char folders[8][64];
static size_t n_folders;

static void remove_all(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char inner[512];
        bool fits = (size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < sizeof inner;
        if (fits && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(inner) != 0) {
            remove_all(inner);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
}

static void remove_folders(void) {
    while (n_folders > 0) {
        remove_all(folders[--n_folders]);
    }
}

const char *fuzz_folder(char *out) {
    fuzz_check(n_folders < sizeof folders / sizeof folders[0], "too many folders");
    (void)snprintf(out, 64, "%s/fuzz-XXXXXX", folder_root());
    fuzz_check(mkdtemp(out) != NULL, "no folder %s", out);
    if (n_folders == 0) {
        (void)atexit(remove_folders);
    }
    memcpy(folders[n_folders++], out, 64);
    return out;
}

fab_fabric *fuzz_fabric(const char *text, fab_design *design) {
    fab_design *own = calloc(1, sizeof *own);
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    fuzz_check(own != NULL && fab_design_read(text, NULL, 0, own, &err) == FAB_OK, "%s: %s", text, err.text);
    fuzz_check(fab_topology_build(&own->fabric, &fabric, NULL, &err) == FAB_OK, "%s: %s", text, err.text);
    if (design != NULL) {
        *design = *own;
    }
    free(own);
    return fabric;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

uint32_t fuzz_below(fuzz_source *source, uint32_t n) {
    uint32_t value = 0;
    for (int i = 0; i < (n > 256 ? 2 : 1) && source->size > 0; i++) {
        value = value << 8 | *source->data++;
        source->size--;
    }
    return value % n;
}

const char *fuzz_word(fuzz_source *source, const char *const *words, size_t n) {
    return words[fuzz_below(source, (uint32_t)n)];
}
