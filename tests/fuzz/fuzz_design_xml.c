/* Designs as XML files. */
#include "fuzz.h"
#include "fuzz_design.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_error err = {0};
    fab_design *design = calloc(1, sizeof *design);
    if (fuzz_accepts(fab_design_read(fuzz_file(data, size), NULL, 0, design, &err), &err)) {
        fuzz_check_design(design);
    } else {
        fuzz_check(design->origin[0] == '\0', "a design is written by a failed call");
    }
    free(design);
    return 0;
}
