#include "fab/analysis.h"

/* The value of an option of the engine, as it was said or as it is by default. */
static const char *option_text(const fab_engine_spec *engine, const char *key, size_t *out_n) {
    const fab_engine_option *option = fab_engine_of(engine).options;
    size_t n = strlen(key);
    for (const char *at = strchr(engine->text, ','); at != NULL; at = strchr(at + 1, ',')) {
        if (strncmp(at + 1, key, n) == 0 && at[1 + n] == '=') {
            *out_n = strcspn(at + n + 2, ",");
            return at + n + 2;
        }
    }
    while (option->key != NULL && strcmp(option->key, key) != 0) {
        option++;
    }
    *out_n = option->key != NULL && option->value != NULL ? strlen(option->value) : 0;
    return *out_n > 0 ? option->value : "";
}

/* "0/8/16" of a tier, from 0: the last one holds above. */
static void tier_text(const fab_engine_spec *engine, const char *key, uint32_t tier, char *out, size_t size) {
    size_t n = 0;
    const char *at = option_text(engine, key, &n);
    const char *end = at + n;
    const char *slash = memchr(at, '/', n);
    while (tier-- > 0 && slash != NULL) {
        at = slash + 1;
        slash = memchr(at, '/', (size_t)(end - at));
    }
    n = (size_t)((slash != NULL ? slash : end) - at);
    (void)snprintf(out, size, "%.*s", (int)n, at);
}

bool fab_switch_hash_of(const fab_engine_spec *engine, fab_network_hash *out) {
    size_t n = 0;
    if (engine == NULL || strcmp(fab_engine_of(engine).name, "ecmp") != 0) {
        return false;
    }
    for (uint32_t i = 0; i < FAB_NETWORK_TIERS; i++) {
        char number[32];
        tier_text(engine, "hash", i, out->tier[i].algorithm, sizeof out->tier[i].algorithm);
        tier_text(engine, "hash-seed", i, number, sizeof number);
        out->tier[i].seed = (uint32_t)strtoul(number, NULL, 0);
        tier_text(engine, "offset", i, number, sizeof number);
        out->tier[i].offset = (uint32_t)strtoul(number, NULL, 10);
    }
    const char *loss = option_text(engine, "member-loss", &n);
    out->is_resilient = n == strlen("resilient") && strncmp(loss, "resilient", n) == 0;
    return true;
}
