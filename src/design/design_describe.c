#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The list form of a tier field, without the trailing items that reading it fills in. */
static void add_list(const field *f, const fab_tier_spec *tiers, fab_str *out) {
    fab_str items[FAB_MAX_TIERS];
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        items[i] = (fab_str)FAB_STR_INIT;
        field_format(f, &tiers[i], &items[i]);
        out->failed |= items[i].failed;
    }
    bool one_value = strcmp(f->key, "taper") != 0;
    size_t n = FAB_MAX_TIERS;
    while (!out->failed && n > 1 && strcmp(items[n - 1].data, one_value ? items[n - 2].data : f->initial) == 0) {
        n--;
    }
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        if (!out->failed && i < n) {
            fab_str_printf(out, "%s%s", i > 0 ? "/" : "", items[i].data);
        }
        fab_str_release(&items[i]);
    }
}

static void add_line(const field *f, const char *prefix, const void *base, fab_str *out) {
    fab_str_printf(out, "%s%s=", prefix, f->key);
    field_format(f, base, out);
    fab_str_add(out, "\n");
}

/* What few designs have is no part of the text of the others, nor of their digests. */
static bool is_absent(const field *f, const void *base, fab_str *out) {
    fab_str value = FAB_STR_INIT;
    field_format(f, base, &value);
    out->failed |= value.failed; /* else a line more, and another digest */
    bool absent = f->sparse && !value.failed && (value.length == 0 || strcmp(value.data, "auto") == 0);
    fab_str_release(&value);
    return absent;
}

static void add_job(const fab_job_spec *job, fab_str *out) {
    char prefix[FAB_NAME_SIZE + 8];
    (void)snprintf(prefix, sizeof prefix, "job.%s.", job->id);
    for (const field *f = design_fields; f->key != NULL; f++) {
        if (f->scope == SCOPE_JOB) {
            add_line(f, prefix, job, out);
        }
    }
}

static void add_fabric(const fab_fabric_spec *fabric, bool front_end, bool with_paths, fab_str *out) {
    const char *prefix = front_end ? "front-end." : "fabric.";
    for (const field *f = design_fields; f->key != NULL; f++) {
        bool is_path = strcmp(f->key, "file") == 0;
        if ((f->sparse && is_absent(f, fabric, out)) || (is_path && !with_paths)) {
            continue;
        }
        if (f->scope == SCOPE_FABRIC || (front_end && f->scope == SCOPE_FRONT_END)) {
            add_line(f, prefix, fabric, out);
        } else if (f->scope == SCOPE_TIER) {
            fab_str_printf(out, "%s%s=", prefix, f->key);
            add_list(f, fabric->tier, out);
            fab_str_add(out, "\n");
        }
    }
}

static void describe(const fab_design *design, bool with_paths, fab_str *out) {
    for (const field *f = design_fields; f->key != NULL; f++) {
        if (f->scope == SCOPE_DESIGN) {
            add_line(f, "", design, out);
        }
    }
    add_fabric(&design->fabric, false, with_paths, out);
    if (design->has_front_end) {
        add_fabric(&design->front_end, true, with_paths, out);
    }
    for (const field *f = design_fields; design->fabric.floor.given && f->key != NULL; f++) {
        if (f->scope == SCOPE_FLOOR) {
            add_line(f, "floor.", &design->fabric.floor, out);
        }
    }
    for (size_t i = 0; i < design->n_jobs; i++) {
        add_job(&design->jobs[i], out);
    }
    for (size_t i = 0; i < design->n_engines; i++) {
        fab_str_printf(out, "engine.%zu=%s\n", i + 1, design->engines[i].text);
    }
    add_line(design_field_find(SCOPE_PRICES, "profile"), "prices.", design, out);
    if (design->convention[0] != '\0') {
        add_line(design_field_find(SCOPE_PRICES, "convention"), "prices.", design, out);
    }
}

void fab_design_describe(const fab_design *design, fab_str *out) {
    describe(design, true, out);
}

/* Where the file of an installed fabric lies makes no difference: the digest of its content is a value of its own. */
fab_status fab_design_digest(const fab_design *design, char out[17], fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    describe(design, false, &text);
    FAB_TRY(fab_str_status(&text, err));          /* a part of the text would give a digest, but of another design */
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bits */
    for (size_t i = 0; i < text.length; i++) {
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    }
    (void)snprintf(out, 17, "%016" PRIx64, hash);
done:
    fab_str_release(&text);
    return status;
}

void fab_design_each_field(fab_design_visit *visit, void *context) {
    static const char *const PREFIX[] = {[SCOPE_DESIGN] = "",
                                         [SCOPE_FABRIC] = "fabric.",
                                         [SCOPE_FRONT_END] = "front-end.",
                                         [SCOPE_TIER] = "fabric.tier.N.",
                                         [SCOPE_JOB] = "job.",
                                         [SCOPE_ENGINE] = "engine.N",
                                         [SCOPE_PRICES] = "prices.",
                                         [SCOPE_FLOOR] = "floor.",
                                         [SCOPE_BOOK] = ""};
    for (const field *f = design_fields; f->key != NULL; f++) {
        char path[64];
        char example[128];
        (void)snprintf(path, sizeof path, "%s%s", PREFIX[f->scope], f->scope == SCOPE_ENGINE ? "" : f->key);
        visit(context, path, field_example(f, example), f->initial != NULL ? f->initial : "", f->summary);
    }
}
