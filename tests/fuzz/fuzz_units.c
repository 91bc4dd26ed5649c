/* Quantities and counts: the first byte chooses the unit. What is read is written and read back as the same number. */
#include "fab/units.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_quantity(const char *text, fab_unit unit) {
    fab_error err = {0};
    double value = -1;
    double again = -1;
    char shown[40];
    if (!fuzz_accepts(fab_quantity_parse(text, unit, &value, &err), &err)) {
        fuzz_check(value == -1, "'%s': a value is written by a failed call", text);
        return;
    }
    fuzz_check(isfinite(value) && value >= 0, "'%s': %g", text, value);
    fuzz_check(strlen(fab_quantity_format(shown, value, unit)) < 32, "'%s': shown as '%s'", text, shown);
    fuzz_check(fab_quantity_parse(fab_quantity_exact(shown, value, unit), unit, &again, &err) == FAB_OK,
               "'%s' is written as '%s', which is refused: %s", text, shown, err.text);
    fuzz_check(again == value, "'%s' is %.17g, and '%s' is %.17g", text, value, shown, again);
}

static void check_count(const char *text, uint64_t min, uint64_t max) {
    fab_error err = {0};
    uint64_t value = 0;
    if (fuzz_accepts(fab_count_parse(text, min, max, &value, &err), &err)) {
        fuzz_check(value >= min && value <= max, "'%s'", text);
        fuzz_check(value == strtoull(text, NULL, 10), "'%s' is read as another number", text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    char *text = fuzz_text(data + 1, size - 1);
    uint32_t kind = data[0] % (FAB_UNIT_POWER + 3);
    if (kind <= FAB_UNIT_POWER) {
        check_quantity(text, (fab_unit)kind);
    } else {
        check_count(text, kind % 2, kind % 2 == 0 ? UINT64_MAX : 1024);
    }
    free(text);
    return 0;
}
