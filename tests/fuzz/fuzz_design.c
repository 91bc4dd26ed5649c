/* Designs as one line, each further line an override: what `fabriscope build LINE --set LINE ...` reads. What is read
 * is described, restored and described again with the same bytes, and what it would be made of is predicted. */
#include "fab/topologies.h"
#include "fuzz.h"
#include "fuzz_design.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OVERRIDES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *overrides[MOST_OVERRIDES];
    size_t n = 0;
    fab_error err = {0};
    fab_design *design = calloc(1, sizeof *design);
    char *text = fuzz_text(data, size);
    for (char *end = strchr(text, '\n'); end != NULL && n < MOST_OVERRIDES; end = strchr(end + 1, '\n')) {
        *end = '\0';
        overrides[n++] = end + 1;
    }
    bool is_file = strcmp(text, "-") == 0 || strchr(text, ':') == NULL || strchr(text, '/') != NULL;
    if (!is_file && fuzz_accepts(fab_design_read(text, overrides, n, design, &err), &err)) {
        fuzz_check_design(design);
    }
    free(text);
    free(design);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return seed % 4 == 0 ? LLVMFuzzerMutate(data, size, most)
                         : fuzz_mutate_settings(SETTINGS_ONE_LINE, data, size, most, seed);
}
