/* The canonical text of a design, and its digest. */
#include "fields.h"

#include "fab/fnv.h"

/* The list form of a tier field, without the trailing items that reading it fills in. */
static void design_describe_add_list(const field *f, const fab_tier_spec *tiers, fab_str *out) {
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

static bool are_default_tiers(const field *f, const fab_tier_spec *tiers) {
    fab_tier_spec initial[FAB_MAX_TIERS] = {{.radix = 0}};
    bool same = design_set_tiers(f, initial, f->initial, "default", NULL) == FAB_OK;
    for (size_t i = 0; same && i < FAB_MAX_TIERS; i++) {
        same = memcmp((const char *)&tiers[i] + f->offset, (const char *)&initial[i] + f->offset, f->size) == 0;
    }
    return same;
}

FAB_ORDER_KEYS(by_key, field *const, strcmp((*a)->key, (*b)->key));

/* Whether the radix that is given is another than the one that would be chosen, whatever it is. */
static bool says_radix(const fab_fabric_spec *spec) {
    return spec->radix_given && (strcmp(spec->family, "torus") == 0 || strcmp(spec->family, "dragonfly") == 0 ||
                                 strcmp(spec->family, "installed") == 0);
}

/* Whether a value that is the default says more than nothing: chunks where stages are chosen, what a plan is to choose
 * and what it must keep. */
static bool says_more(const field *f, const fab_job_spec *job) {
    bool chooses = fab_job_plan_open(job) != 0 || fab_job_plan_is_left(job);
    unsigned said = chooses ? job->plan_asked | job->plan_given : 0;
    FAB_ANY(is_said, i, FAB_N_PLAN_KEYS, (said & 1U << i) != 0 && strcmp(f->key, fab_plan_keys[i]) == 0);
    return is_said ||
           (f->offset == offsetof(fab_job_spec, interleave) && job->interleave_given && job->pp == 0 && job->dp == 0);
}

/* Rings are the default of every job but ranking. */
static bool says_nothing(const field *f, field_scope scope, const void *base) {
    const fab_job_spec *job = base;
    return scope == SCOPE_JOB && f->offset == offsetof(fab_job_spec, dp_collective) && job->kind != FAB_JOB_RANKING &&
           job->dp_collective == FAB_COLLECTIVE_RING;
}

/* What fields of a scope say other than by default, by key: neither the order of the rows nor what nobody sets counts.
 * Values per tier go with those of the fabric. */
static void add_scope(const fab_design *design, const field *table, field_scope scope, const char *prefix,
                      const void *base, fab_str *out) {
    const field *row[MAX_FIELDS] = {NULL};
    size_t n = 0;
    bool network = scope == SCOPE_FABRIC || scope == SCOPE_FRONT_END;
    for (const field *f = table; f->key != NULL && n < MAX_FIELDS; f++) {
        bool tiers = network && f->scope == SCOPE_TIER;
        if (scope == SCOPE_JOB && strcmp(f->key, "id") == 0) {
            continue; /* begins the job */
        }
        if (f->scope == scope || (network && f->scope == SCOPE_FABRIC) || tiers) {
            const fab_tier_spec *tier = tiers ? ((const fab_fabric_spec *)base)->tier : NULL;
            row[n] = f;
            bool unlike = network && f->offset == offsetof(fab_fabric_spec, domain_bps) && !tiers &&
                          ((const fab_fabric_spec *)base)->domain_rate_unlike;
            if (scope == SCOPE_JOB) {
                unlike = says_more(f, base);
            }
            bool said = tiers && f->offset == offsetof(fab_tier_spec, radix) && says_radix(base); /* 64 too */
            n += tiers ? said || !are_default_tiers(f, tier)
                       : unlike || (!field_is_default(f, base) && !says_nothing(f, scope, base));
        }
    }
    qsort(row, n, sizeof row[0], by_key); // NOLINT(bugprone-sizeof-expression)
    for (size_t i = 0; i < n; i++) {
        fab_str_printf(out, "%s%s=", prefix, row[i]->key);
        if (network && row[i]->scope == SCOPE_TIER) {
            design_describe_add_list(row[i], ((const fab_fabric_spec *)base)->tier, out);
        } else if (row[i]->kind == FIELD_SERVERS) {
            const char *at = (const char *)base + row[i]->offset;
            fab_str_add(out, fab_design_list(design, *(const fab_list_ref *)(const void *)at));
        } else {
            field_format(row[i], base, out);
        }
        fab_str_add(out, "\n");
    }
}

void design_describe(const fab_design *design, const field *table, fab_str *out) {
    add_scope(design, table, SCOPE_DESIGN, "", design, out);
    add_scope(design, table, SCOPE_FABRIC, "fabric.", &design->fabric, out);
    if (design->has_front_end) {
        add_scope(design, table, SCOPE_FRONT_END, "front-end.", &design->front_end, out);
    }
    if (fab_floor_is_said(&design->fabric)) {
        add_scope(design, table, SCOPE_FLOOR, "floor.", &design->fabric.floor, out);
    }
    for (size_t i = 0; i < design->n_jobs; i++) {
        char prefix[FAB_NAME_SIZE + 8];
        FAB_FORMAT(prefix, "job.%s.", design->jobs[i].id);
        fab_str_printf(out, "%sid=%s\n", prefix, design->jobs[i].id);
        add_scope(design, table, SCOPE_JOB, prefix, &design->jobs[i], out);
    }
    for (size_t i = 0; i < design->n_engines; i++) {
        fab_str_printf(out, "engine.%zu=%s\n", i + 1, design->engines[i].text);
    }
    add_scope(design, table, SCOPE_PRICES, "prices.", design, out);
    add_scope(design, table, SCOPE_FAILURES, "failures.", &design->failures, out);
}

void fab_design_describe(const fab_design *design, fab_str *out) {
    design_describe(design, design_fields, out);
}

/* Where the file of an installed fabric lies makes no difference: the digest of its content is a value of its own. */
void fab_design_text_digest(const char *text, char out[17]) {
    static const char PATH[] = "fabric.file=";
    uint64_t hash = FAB_FNV_BEGIN;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (strncmp(text, PATH, sizeof PATH - 1) != 0) {
            hash = fab_fnv(hash, text, length);
        }
        text += length;
    }
    (void)snprintf(out, 17, "%016" PRIx64, hash);
}

fab_status fab_design_digest(const fab_design *design, char out[17], fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_design_describe(design, &text);
    FAB_PASS(fab_str_status(&text, err)); /* a part of the text would give a digest, but of another design */
    fab_design_text_digest(text.data, out);
    return FAB_OK;
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
                                         [SCOPE_FAILURES] = "failures.",
                                         [SCOPE_BOOK] = ""};
    for (const field *f = design_fields; f->key != NULL; f++) {
        char path[64];
        char example[128];
        FAB_FORMAT(path, "%s%s", PREFIX[f->scope], f->scope == SCOPE_ENGINE ? "" : f->key);
        visit(context, path, field_example(f, example), f->initial != NULL ? f->initial : "", f->summary);
    }
}
