/* The canonical text of a design, as a study's store keeps it. */
#include "fuzz.h"
#include "fuzz_design.h"
#include "settings.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_error err = {0};
    fab_design *design = calloc(1, sizeof *design);
    char *text = fuzz_text(data, size);
    if (fuzz_accepts(fab_design_restore(text, design, &err), &err)) {
        fuzz_check_design(design);
    }
    free(text);
    free(design);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return seed % 4 == 0 ? LLVMFuzzerMutate(data, size, most)
                         : fuzz_mutate_settings(SETTINGS_CANONICAL, data, size, most, seed);
}
