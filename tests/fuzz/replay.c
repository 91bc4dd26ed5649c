/* Runs a target over files, and over the files of folders, in the order of their names: the regression test of what
 * fuzzing has found, in builds without libFuzzer. Where the target has mutations of its own, each file is run with some
 * of them as well, always the same. */
#include "fuzz.h"
#include "settings.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define N_MUTANTS   8
#define MUTANT_MOST 4096

#pragma weak LLVMFuzzerCustomMutator

static size_t n_files;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
    size_t n = size < most ? size : most;
    if (n > 0) {
        data[n / 2] ^= 1;
    }
    return n;
}

static void replay_mutants(const uint8_t *data, size_t size) {
    uint8_t *mutant = malloc(MUTANT_MOST);
    fuzz_check(mutant != NULL, "no memory for mutants");
    for (unsigned seed = 1; seed <= N_MUTANTS && size <= MUTANT_MOST; seed++) {
        memcpy(mutant, data, size);
        size_t n = LLVMFuzzerCustomMutator(mutant, size, MUTANT_MOST, seed);
        fuzz_check(n <= MUTANT_MOST, "a mutant of %zu bytes", n);
        (void)LLVMFuzzerTestOneInput(mutant, n);
    }
    free(mutant);
}

static void replay_file(const char *path, size_t size) {
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1); /* no byte more, so that reading behind the end is seen */
    fuzz_check(in != NULL && data != NULL && fread(data, 1, size, in) == size, "%s: cannot be read", path);
    (void)fclose(in);
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, size);
    if (LLVMFuzzerCustomMutator != NULL) {
        replay_mutants(data, size);
    }
    free(data);
    n_files++;
}

static void replay(const char *path) {
    struct stat info;
    struct dirent **entries = NULL;
    fuzz_check(stat(path, &info) == 0, "%s: is not there", path);
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path, (size_t)info.st_size);
        return;
    }
    int n = scandir(path, &entries, NULL, alphasort);
    fuzz_check(n >= 0, "%s: cannot be listed", path);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            replay(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        replay(argv[i]);
    }
    fuzz_check(n_files > 0, "nothing to replay");
    return 0;
}
