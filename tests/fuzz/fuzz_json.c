/* Reports in JSON: every value is reached from the first, once, and a text that is read holds no more values than
 * bytes. */
#include "fab/json_read.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t count(const fab_json *json) {
    uint32_t n = 1;
    for (uint32_t i = 0; i < json->n; i++) {
        const fab_json_value *v = &json->values[i];
        bool holds = v->kind == FAB_JSON_ARRAY || v->kind == FAB_JSON_OBJECT;
        fuzz_check(isfinite(v->number), "a number that is not finite");
        fuzz_check(holds || v->first == FAB_JSON_NONE, "a scalar with elements");
        fuzz_check(v->kind != FAB_JSON_STRING || v->text != NULL, "a string without text");
        for (uint32_t k = v->first; k != FAB_JSON_NONE; k = json->values[k].next) {
            fuzz_check(k > i && k < json->n, "value %u is within %u", k, i);
            fuzz_check((json->values[k].key != NULL) == (v->kind == FAB_JSON_OBJECT), "a key out of place");
            n++;
        }
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_error err = {0};
    fab_json json = {.n = 0};
    char *text = fuzz_text(data, size);
    if (fuzz_accepts(fab_json_parse(text, "report", &json, &err), &err)) {
        fuzz_check(json.n > 0 && json.n <= strlen(text), "%u values of %zu bytes", json.n, strlen(text));
        fuzz_check(count(&json) == json.n, "values that nothing holds");
        (void)fab_json_number_of(&json, 0, "a", 0);
        (void)fab_json_text_of(&json, 0, "a", "");
    }
    fab_json_release(&json);
    free(text);
    return 0;
}
