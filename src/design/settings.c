/*
 * Paths and values. XML attributes, the one-line form, --set and --job all end in reading_set or fab_design_set_job.
 */
#include "fields.h"

#define MAX_PARTS 4
#define MAX_PATH  128

typedef struct path {
    char text[MAX_PATH];
    const char *part[MAX_PARTS];
    size_t n;
} path;

fab_status fail_unknown(const char *what, const char *word, const field_scope *scopes, size_t n_scopes,
                        const char *where, fab_error *err) {
    static const char *const OF_ENGINES[] = {"qp", "hash", "offset", "fields", "weights", "view"};
    bool has_job = false;
    for (size_t i = 0; i < FAB_N_OF(OF_ENGINES); i++) {
        FAB_REFUSE_IF(strcmp(word, OF_ENGINES[i]) == 0, err, FAB_EINPUT, where,
                      "unknown %s '%s': it is an option of an engine: --engine ecmp,%s=VALUE, in a design "
                      "use=\"ecmp,%s=VALUE\", or in a sweep --vary engine=ecmp,%s=V1|ecmp,%s=V2",
                      what, word, word, word, word, word);
    }
    fab_choices near = fab_choices_of(word);
    for (size_t i = 0; i < n_scopes; i++) {
        has_job = has_job || scopes[i] == SCOPE_JOB;
        for (const field *f = design_fields; f->key != NULL; f++) {
            if (f->scope == scopes[i]) {
                fab_choices_offer(&near, f->key);
            }
        }
    }
    if (!has_job && design_field_find(SCOPE_JOB, word) != NULL) {
        const char *meant = near.distance <= 1 ? fab_choices_hint(&near) : ";"; /* gpu: gpus, more likely */
        return fab_fail(err, FAB_EINPUT, where, "unknown %s '%.40s'%s '%.40s' is a key of the job: --job %.40s=VALUE",
                        what, word, meant, word, word);
    }
    return fab_fail(err, FAB_EINPUT, where, "unknown %s '%.40s'%s", what, word, fab_choices_list(&near, "allowed:"));
}

const char *reading_where(const reading *r, const char *first, const char *second, const char *third) {
    static const field_scope SCOPES[] = {SCOPE_FABRIC, SCOPE_TIER, SCOPE_FLOOR};
    const char *const keys[] = {first, second, third};
    for (size_t i = 0; i < 3 && keys[i] != NULL; i++) {
        const char *where = r->where[design_field_index(design_field_any(SCOPES, 3, keys[i]))];
        if (where[0] != '\0') {
            return where;
        }
    }
    return r->origin_where;
}

fab_status design_set_defaults(field_scope scope, void *base, fab_error *err) {
    for (const field *f = design_fields; f->key != NULL; f++) {
        FAB_PASS(f->scope == scope && f->initial != NULL ? field_set(f, base, f->initial, "default", err) : FAB_OK);
    }
    return FAB_OK;
}

static bool repeats(const field *f) {
    return strcmp(f->key, "taper") != 0;
}

/*
 * One value per tier, the last one repeated: the radix of one switch is the radix of all. Not so for the taper, where
 * one value is that of the leaves and the others are 1.
 */
fab_status design_set_tiers(const field *f, fab_tier_spec *tiers, const char *list, const char *where, fab_error *err) {
    char item[64] = "";
    const char *at = list;
    for (size_t tier = 0; tier < FAB_MAX_TIERS; tier++) {
        if (at != NULL) {
            const char *end = field_item_end(at);
            FAB_REFUSE_IF((size_t)(end - at) >= sizeof item, err, FAB_EINPUT, where, "%s: '%.60s' is too long", f->key,
                          at);
            FAB_FORMAT(item, "%.*s", (int)(end - at), at);
            at = *end == '/' ? end + 1 : NULL;
        } else if (!repeats(f)) {
            FAB_FORMAT(item, "%s", f->initial);
        }
        FAB_PASS(field_set(f, &tiers[tier], item, where, err));
    }
    FAB_REFUSE_IF(at != NULL, err, FAB_EINPUT, where, "%s: '%.60s' has more than %d values, one per tier", f->key, list,
                  FAB_MAX_TIERS);
    return FAB_OK;
}

fab_status reading_init(reading *r, fab_error *err) {
    memset(r, 0, sizeof *r);
    FAB_PASS(design_set_defaults(SCOPE_DESIGN, &r->design, err));
    FAB_PASS(design_set_defaults(SCOPE_FABRIC, &r->design.fabric, err));
    for (const field *f = design_fields; f->key != NULL; f++) {
        if (f->scope == SCOPE_TIER) {
            FAB_PASS(design_set_tiers(f, r->design.fabric.tier, f->initial, "default", err));
        }
    }
    FAB_PASS(design_set_defaults(SCOPE_FLOOR, &r->design.fabric.floor, err));
    FAB_PASS(design_set_defaults(SCOPE_FAILURES, &r->design.failures, err));
    r->design.front_end = r->design.fabric;
    return design_set_defaults(SCOPE_FRONT_END, &r->design.front_end, err);
}

/* --- paths ------------------------------------------------------------------------------------------------------ */

static bool settings_split(const char *text, path *out) {
    if (strlen(text) >= sizeof out->text) {
        return false;
    }
    FAB_FORMAT(out->text, "%s", text);
    out->n = 0;
    for (char *at = out->text; at != NULL;) {
        if (out->n == MAX_PARTS) {
            return false;
        }
        out->part[out->n++] = at;
        at = strchr(at, '.');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return true;
}

static bool is_at(const path *p, size_t i, const char *word) {
    return i < p->n && strcmp(p->part[i], word) == 0;
}

static fab_status find_number(const char *what, const char *text, size_t max, size_t *out, const char *where,
                              fab_error *err) {
    uint64_t number = 0;
    FAB_REFUSE_IF(fab_count_parse(text, 1, max, &number, NULL) != FAB_OK, err, FAB_EINPUT, where,
                  "%s '%.40s' is not a number from 1 to %zu", what, text, max);
    *out = (size_t)number - 1;
    return FAB_OK;
}

/* KEY, KEY.TIER or tier.TIER.KEY, from part `i` on. */
static fab_status find_in_fabric(const path *p, size_t i, bool front_end, target *out, const char *where,
                                 fab_error *err) {
    static const field_scope SCOPES[] = {SCOPE_FABRIC, SCOPE_TIER};
    size_t n = p->n - i;
    bool long_form = is_at(p, i, "tier") && n == 3;
    const char *key = p->part[long_form ? i + 2 : i];
    const char *tier = long_form ? p->part[i + 1] : n == 2 ? p->part[i + 1] : NULL;
    out->front_end = front_end;
    out->field = tier == NULL ? design_field_find(SCOPE_FABRIC, key) : NULL;
    if (out->field == NULL && tier == NULL && front_end) {
        out->field = design_field_find(SCOPE_FRONT_END, key);
    }
    if (out->field != NULL && n == 1) {
        return FAB_OK;
    }
    out->field = design_field_find(SCOPE_TIER, key);
    if (out->field == NULL) {
        size_t skip = tier != NULL ? 1 : 0;
        FAB_REFUSE_IF(design_field_find(SCOPE_FABRIC, key) != NULL, err, FAB_EINPUT, where,
                      "'%s' has one value for the entire fabric, none per tier", key);
        return fail_unknown(tier != NULL ? "tier key" : "fabric key", key, SCOPES + skip, 2 - skip, where, err);
    }
    FAB_REFUSE_IF(n > (long_form ? 3U : 2U), err, FAB_EINPUT, where, "'%.40s' takes one tier number, as in %s.2", key,
                  key);
    out->all_tiers = tier == NULL;
    return tier != NULL ? find_number("tier", tier, FAB_MAX_TIERS, &out->index, where, err) : FAB_OK;
}

static fab_status find_in_job(const reading *r, const path *p, target *out, const char *where, fab_error *err) {
    static const field_scope SCOPE = SCOPE_JOB;
    FAB_REFUSE_IF(p->n != 2 && p->n != 3, err, FAB_EINPUT, where, "write job.KEY or job.ID.KEY");
    const char *key = p->part[p->n - 1];
    out->field = design_field_find(SCOPE_JOB, key);
    FAB_RETURN_IF(out->field == NULL, fail_unknown("job key", key, &SCOPE, 1, where, err));
    if (p->n == 3) {
        while (out->index < r->design.n_jobs && strcmp(r->design.jobs[out->index].id, p->part[1]) != 0) {
            out->index++;
        }
        FAB_REFUSE_IF(out->index == r->design.n_jobs, err, FAB_EINPUT, where, "the design has no job '%.40s'",
                      p->part[1]);
    }
    return FAB_OK;
}

/* "floor.KEY", "failures.KEY" */
static fab_status find_in_part(const path *p, field_scope scope, target *out, const char *where, fab_error *err) {
    char what[48];
    FAB_REFUSE_IF(p->n != 2, err, FAB_EINPUT, where, "write %.20s.KEY", p->part[0]);
    FAB_FORMAT(what, "%.20s key", p->part[0]);
    out->field = design_field_find(scope, p->part[1]);
    return out->field != NULL ? FAB_OK : fail_unknown(what, p->part[1], &scope, 1, where, err);
}

/* The path may hold words of any scope: suggest from all that need no further part. */
static fab_status find_by_key(const path *p, target *out, const char *where, fab_error *err) {
    static const field_scope SCOPES[] = {SCOPE_DESIGN, SCOPE_FABRIC, SCOPE_TIER};
    const char *key = p->part[0];
    out->field = p->n == 1 ? design_field_find(SCOPE_DESIGN, key) : NULL;
    if (out->field != NULL) {
        return FAB_OK;
    }
    bool of_fabric = design_field_find(SCOPE_FABRIC, key) != NULL || design_field_find(SCOPE_TIER, key) != NULL;
    FAB_REFUSE_IF(p->n == 1 && !of_fabric && design_field_find(SCOPE_JOB, key) != NULL, err, FAB_EINPUT, where,
                  "'%s' is a key of a job: write job.%s", key, key);
    FAB_RETURN_IF(p->n == 1 && !of_fabric, fail_unknown("path", key, SCOPES, 3, where, err));
    return find_in_fabric(p, 0, false, out, where, err);
}

fab_status reading_find(const reading *r, const char *text, bool fabric_only, target *out, const char *where,
                        fab_error *err) {
    path p;
    target found = {.field = NULL};
    FAB_REFUSE_IF(!settings_split(text, &p), err, FAB_EINPUT, where,
                  "path '%.60s' has more than %d parts or %d characters", text, MAX_PARTS, MAX_PATH - 1);
    bool is_floor = is_at(&p, 0, "floor");
    if (is_floor || is_at(&p, 0, "failures")) {
        FAB_PASS(find_in_part(&p, is_floor ? SCOPE_FLOOR : SCOPE_FAILURES, &found, where, err));
    } else if (is_at(&p, 0, "prices") && (p.n == 1 || (p.n == 2 && is_at(&p, 1, "profile")))) {
        found.field = design_field_find(SCOPE_PRICES, "profile");
    } else if (fabric_only) {
        FAB_PASS(find_in_fabric(&p, 0, false, &found, where, err));
    } else if (is_at(&p, 0, "fabric") && p.n > 1) {
        FAB_PASS(find_in_fabric(&p, 1, false, &found, where, err));
    } else if (is_at(&p, 0, "front-end") && p.n > 1) {
        FAB_PASS(find_in_fabric(&p, 1, true, &found, where, err));
    } else if (is_at(&p, 0, "job")) {
        FAB_PASS(find_in_job(r, &p, &found, where, err));
    } else if (is_at(&p, 0, "prices") && p.n == 2 && is_at(&p, 1, "convention")) {
        found.field = design_field_find(SCOPE_PRICES, "convention");
    } else if (is_at(&p, 0, "engine") && p.n <= 2) {
        found.field = design_field_find(SCOPE_ENGINE, "use");
        FAB_PASS(p.n == 2 ? find_number("engine", p.part[1], FAB_MAX_ENGINES, &found.index, where, err) : FAB_OK);
    } else {
        FAB_PASS(find_by_key(&p, &found, where, err));
    }
    *out = found;
    return FAB_OK;
}

static fab_status set_engine(fab_design *design, const target *t, const char *value, const char *where,
                             fab_error *err) {
    FAB_REFUSE_IF(t->index > design->n_engines || t->index >= FAB_MAX_ENGINES, err, FAB_EINPUT, where,
                  "engine %zu: the design has %zu, at most %d are allowed", t->index + 1, design->n_engines,
                  FAB_MAX_ENGINES);
    fab_engine_spec *engine = &design->engines[t->index];
    fab_status status = field_set(t->field, engine, value, where, err);
    FAB_REFUSE_IF(status == FAB_OK && engine->text[0] == '\0', err, FAB_EINPUT, where,
                  "engine %zu has no name; fabriscope list engines shows them", t->index + 1);
    if (status == FAB_OK) {
        FAB_FORMAT(engine->where, "%s", where);
        design->n_engines += t->index == design->n_engines;
    }
    return status;
}

fab_status reading_set(reading *r, const target *t, const char *value, const char *where, fab_error *err) {
    fab_fabric_spec *fabric = t->front_end ? &r->design.front_end : &r->design.fabric;
    r->design.has_front_end |= t->front_end;
    switch (t->field->scope) {
    case SCOPE_PRICES:
        if (strcmp(t->field->key, "profile") == 0) {
            FAB_FORMAT(r->design.prices_where, "%s", where);
        }
        FAB_PASS(field_set(t->field, &r->design, value, where, err));
        break;
    case SCOPE_DESIGN: FAB_PASS(field_set(t->field, &r->design, value, where, err)); break;
    case SCOPE_ENGINE: FAB_PASS(set_engine(&r->design, t, value, where, err)); break;
    case SCOPE_JOB:
        FAB_PASS(t->index == r->design.n_jobs ? reading_add_job(&r->design, where, err) : FAB_OK);
        FAB_PASS(design_set_job_field(t->field, &r->design, t->index, value, where, err));
        break;
    case SCOPE_TIER:
        fabric->radix_given = fabric->radix_given || strcmp(t->field->key, "radix") == 0;
        if (t->all_tiers) {
            FAB_PASS(design_set_tiers(t->field, fabric->tier, value, where, err));
        } else {
            FAB_PASS(field_set(t->field, &fabric->tier[t->index], value, where, err));
        }
        break;
    case SCOPE_FABRIC:
    case SCOPE_FRONT_END:
        FAB_PASS(field_set(t->field, fabric, value, where, err));
        if (t->field->offset == offsetof(fab_fabric_spec, domain_bps)) {
            fabric->domain_rate_given = fabric->domain_bps > 0;
        }
        break;
    case SCOPE_FLOOR:
        FAB_PASS(field_set(t->field, &fabric->floor, value, where, err));
        fabric->floor.given = true;
        fabric->floor.is_assumed = false;
        break;
    case SCOPE_FAILURES: FAB_PASS(field_set(t->field, &r->design.failures, value, where, err)); break;
    case SCOPE_BOOK: return fab_fail(err, FAB_EINTERNAL, where, "a design has no field of a price book");
    }
    (void)snprintf(r->where[design_field_index(t->field)], sizeof r->where[0], "%s", where);
    return FAB_OK;
}
