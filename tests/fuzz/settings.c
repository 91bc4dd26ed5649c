#include "settings.h"

#include "fields.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SETTINGS 128
#define MOST_TEXT     512

typedef struct settings {
    char item[MOST_SETTINGS][MOST_TEXT]; /* key=value; of one line the first is FAMILY, or FAMILY:key=value */
    char before[MOST_SETTINGS];          /* ',' or '\n' */
    size_t n;
    settings_form form;
    uint32_t state;
} settings;

static uint32_t settings_below(settings *s, uint32_t n) {
    s->state = s->state * 1664525U + 1013904223U;
    return (uint32_t)((uint64_t)s->state * n >> 32);
}

#define SETTINGS_ONE_OF(s, texts) (texts)[settings_below((s), sizeof(texts) / sizeof((texts)[0]))]

static void settings_split(settings *s, const uint8_t *data, size_t size) {
    char separator = '\n';
    for (size_t at = 0; at < size && s->n < MOST_SETTINGS; s->n++) {
        size_t end = at;
        while (end < size && data[end] != '\n' && (data[end] != ',' || s->form == SETTINGS_CANONICAL)) {
            end++;
        }
        size_t n = end - at < MOST_TEXT - 1 ? end - at : MOST_TEXT - 1;
        memcpy(s->item[s->n], data + at, n);
        s->item[s->n][n] = '\0';
        s->before[s->n] = separator;
        separator = end < size ? (char)data[end] : '\n';
        at = end + 1;
    }
}

static size_t settings_join(const settings *s, uint8_t *data, size_t most) {
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t n = strlen(s->item[i]);
        if (at + n + 1 > most) {
            break;
        }
        if (i > 0) {
            data[at++] = (uint8_t)s->before[i];
        }
        memcpy(data + at, s->item[i], n);
        at += n;
    }
    return at;
}

static size_t settings_insert(settings *s, size_t at) {
    if (s->n == MOST_SETTINGS) {
        return MOST_SETTINGS - 1;
    }
    memmove(s->item[at + 1], s->item[at], (s->n - at) * sizeof s->item[0]);
    memmove(s->before + at + 1, s->before + at, s->n - at);
    s->n++;
    return at;
}

static void settings_remove(settings *s, size_t at) {
    memmove(s->item[at], s->item[at + 1], (s->n - at - 1) * sizeof s->item[0]);
    memmove(s->before + at, s->before + at + 1, s->n - at - 1);
    s->n--;
}

static void settings_value(settings *s, const field *f, char *out) {
    static const char *const NUMBERS[] = {"0",    "1",    "2",   "3",   "4",          "8",
                                          "16",   "32",   "64",  "100", "0.5",        "1.5",
                                          "4096", "1e-9", "1e9", "-1",  "4294967296", "18446744073709551615"};
    static const char *const LISTS[] = {"", "2,4;4;1,2", "4,4", "2,3,2", "2,4,2,9,1", "0-3", "0", "1:1", "2/4"};
    char example[128] = "";
    size_t n = 0;
    const char *number = SETTINGS_ONE_OF(s, NUMBERS);
    if (f->automatic && settings_below(s, 6) == 0) {
        (void)snprintf(out, MOST_TEXT, "auto");
    } else if (f->kind == FIELD_CHOICE) {
        for (n = 0; f->choices[n] != NULL;) {
            n++;
        }
        (void)snprintf(out, MOST_TEXT, "%s", f->choices[settings_below(s, (uint32_t)n)]);
    } else if (f->kind == FIELD_COUNT || f->kind == FIELD_DECIMAL) {
        if (settings_below(s, 8) == 0) {
            (void)snprintf(out, MOST_TEXT, "%.17g", settings_below(s, 2) == 0 ? f->min : f->max);
        } else {
            (void)snprintf(out, MOST_TEXT, "%s", number);
        }
    } else if (f->kind == FIELD_QUANTITY) {
        (void)field_example(f, example); /* 400Gb/s or 50GB/s: the unit of the first */
        n = strspn(example, "0123456789.");
        (void)snprintf(out, MOST_TEXT, "%s%.*s", number, (int)strcspn(example + n, " "), example + n);
    } else if (f->kind == FIELD_FLAG) {
        (void)snprintf(out, MOST_TEXT, "%s", settings_below(s, 2) == 0 ? "yes" : "no");
    } else {
        (void)snprintf(out, MOST_TEXT, "%s", SETTINGS_ONE_OF(s, LISTS));
    }
}

static const field *settings_draw_field(settings *s, bool fabric_only) {
    const field *f = NULL;
    size_t n = 0;
    while (design_fields[n].key != NULL) {
        n++;
    }
    do {
        f = &design_fields[settings_below(s, (uint32_t)n)];
    } while (f->scope == SCOPE_BOOK || (fabric_only && f->scope != SCOPE_FABRIC && f->scope != SCOPE_TIER));
    return f;
}

static void settings_add(settings *s) {
    static const char *const PREFIX[] = {
        [SCOPE_FABRIC] = "fabric.", [SCOPE_FRONT_END] = "front-end.", [SCOPE_TIER] = "fabric.",
        [SCOPE_JOB] = "job.",       [SCOPE_FLOOR] = "floor.",         [SCOPE_FAILURES] = "failures."};
    char value[MOST_TEXT];
    bool in_line = s->form == SETTINGS_ONE_LINE && settings_below(s, 3) > 0;
    size_t end = in_line ? 1 : s->n; /* of the first line */
    while (in_line && end < s->n && s->before[end] == ',') {
        end++;
    }
    const field *f = settings_draw_field(s, in_line);
    size_t at = settings_insert(s, end < s->n ? end : s->n);
    const char *prefix = !in_line && f->scope < sizeof PREFIX / sizeof PREFIX[0] ? PREFIX[f->scope] : NULL;
    settings_value(s, f, value);
    s->before[at] = in_line ? ',' : '\n';
    (void)snprintf(s->item[at], MOST_TEXT, "%s%s=%.400s", prefix != NULL ? prefix : "", f->key, value);
}

/* The field whose key ends the text before '=', whatever its scope. */
static const field *settings_field_of(const char *item, size_t n_key) {
    for (const field *f = design_fields; f->key != NULL; f++) {
        size_t n = strlen(f->key);
        if (n <= n_key && memcmp(item + n_key - n, f->key, n) == 0 &&
            (n == n_key || strchr(".:", item[n_key - n - 1]))) {
            return f;
        }
    }
    return NULL;
}

static void settings_change(settings *s, size_t at) {
    char value[MOST_TEXT];
    size_t n_key = strcspn(s->item[at], "=");
    const field *f = settings_field_of(s->item[at], n_key);
    if (s->item[at][n_key] == '=' && f != NULL && n_key < 100) {
        settings_value(s, f, value);
        (void)snprintf(s->item[at] + n_key + 1, MOST_TEXT - n_key - 1, "%.400s", value);
    }
}

static void settings_family(settings *s) {
    static const char *const FAMILIES[] = {"clos", "fat-tree", "rail-spine", "rail-only", "dragonfly", "torus"};
    char rest[MOST_TEXT];
    const char *family = SETTINGS_ONE_OF(s, FAMILIES);
    const char *colon = strchr(s->item[0], ':');
    if (s->form == SETTINGS_ONE_LINE && colon != NULL) {
        (void)snprintf(rest, sizeof rest, "%s", colon);
        (void)snprintf(s->item[0], MOST_TEXT, "%s%.480s", family, rest);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->form == SETTINGS_CANONICAL && strncmp(s->item[i], "fabric.family=", 14) == 0) {
            (void)snprintf(s->item[i] + 14, MOST_TEXT - 14, "%s", family);
        }
    }
}

size_t fuzz_mutate_settings(settings_form form, uint8_t *data, size_t size, size_t most, unsigned seed) {
    enum { ADD, CHANGE, CHANGE_TOO, FAMILY, DROP, REPEAT, N_MUTATIONS };
    settings *s = calloc(1, sizeof *s);
    fuzz_check(s != NULL, "no memory for settings");
    s->form = form;
    s->state = seed;
    settings_split(s, data, size);
    for (uint32_t left = 1 + settings_below(s, 3); left > 0 && s->n > 0; left--) {
        size_t at = settings_below(s, (uint32_t)s->n);
        uint32_t mutation = settings_below(s, N_MUTATIONS);
        if (mutation == ADD) {
            settings_add(s);
        } else if (mutation == FAMILY) {
            settings_family(s);
        } else if (mutation == DROP && s->n > 1) {
            settings_remove(s, at);
        } else if (mutation == REPEAT) {
            size_t copy = settings_insert(s, s->n);
            memcpy(s->item[copy], s->item[at], MOST_TEXT);
            s->before[copy] = s->before[at];
        } else {
            settings_change(s, at);
        }
    }
    size_t written = s->n > 0 ? settings_join(s, data, most) : LLVMFuzzerMutate(data, size, most);
    free(s);
    return written;
}
