/*
 * Design files. Elements decide where a value goes; what a value may be is in the table of fields.
 */
#include "fab/xml_reader.h"
#include "fields.h"

typedef struct source {
    reading *reading;
    const char *file;
} source;

static const char *place(const source *s, const fab_xml_element *element, char *out) {
    return fab_xml_place(out, s->file, element->line, element->column);
}

static const char *place_value(const source *s, const fab_xml_attribute *attribute, char *out) {
    return fab_xml_place(out, s->file, attribute->line, attribute->column);
}

/* An element that holds neither elements nor text. */
static fab_status check_empty(const source *s, const fab_xml_element *element, fab_error *err) {
    FAB_RETURN_IF(element->first_child != NULL,
                  fab_xml_fail_at(s->file, element->first_child, err, "no element may stand inside ", element->name));
    FAB_RETURN_IF(element->text[0] != '\0',
                  fab_xml_fail_at(s->file, element, err, "unexpected text inside ", element->name));
    return FAB_OK;
}

/* A path is meant from the folder of the file that names it. */
static fab_status set_path(const source *s, const target *t, const char *value, const char *where, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    const char *slash = strrchr(s->file, '/');
    bool is_beside = value[0] != '/' && value[0] != '\0' && slash != NULL;
    fab_str_printf(&path, "%.*s%s", is_beside ? (int)(slash + 1 - s->file) : 0, s->file, value);
    FAB_PASS(fab_str_status(&path, err));
    return reading_set(s->reading, t, path.data, where, err);
}

/* Attributes of an element: fields of `scope` for item `index`; for the fabric also fields of all its tiers. */
static fab_status design_read_attributes(const source *s, const fab_xml_element *element, field_scope scope,
                                         size_t index, bool front_end, fab_error *err) {
    const field_scope scopes[2] = {scope, SCOPE_TIER};
    size_t n_scopes = scope == SCOPE_FABRIC ? 2 : 1;
    char where[FAB_XML_PLACE_SIZE];
    char what[96];
    FAB_EACH(const fab_xml_attribute, attribute, element->attributes, element->n_attributes) {
        if ((scope == SCOPE_TIER && strcmp(attribute->name, "level") == 0) ||
            (scope == SCOPE_DESIGN && strcmp(attribute->name, "base") == 0)) {
            continue; /* not values but what the values are for */
        }
        target t = {design_field_find(scope, attribute->name), index, false, front_end};
        if (t.field == NULL && front_end && scope == SCOPE_FABRIC) {
            t.field = design_field_find(SCOPE_FRONT_END, attribute->name);
        }
        if (t.field == NULL && scope == SCOPE_FABRIC) {
            t.field = design_field_find(SCOPE_TIER, attribute->name);
            t.all_tiers = true;
        }
        (void)place_value(s, attribute, where);
        if (t.field == NULL || (scope == SCOPE_DESIGN && strcmp(attribute->name, "source") == 0)) {
            FAB_FORMAT(what, "attribute of %.40s", element->name);
            return fail_unknown(what, attribute->name, scopes, n_scopes, where, err);
        }
        if (strcmp(t.field->key, "file") == 0) {
            FAB_PASS(set_path(s, &t, attribute->value, where, err));
            continue;
        }
        FAB_PASS(reading_set(s->reading, &t, attribute->value, where, err));
    }
    return FAB_OK;
}

static fab_status read_tier(const source *s, const fab_xml_element *element, bool front_end, bool *seen,
                            fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    uint64_t level = 0;
    const fab_xml_attribute *attribute = fab_xml_find(element, "level");
    FAB_RETURN_IF(strcmp(element->name, "tier") != 0,
                  fab_xml_fail_at(s->file, element, err, "only <tier> may stand inside <fabric>, not ", element->name));
    FAB_PASS(check_empty(s, element, err));
    FAB_RETURN_IF(attribute == NULL, fab_xml_fail_at(s->file, element, err, "a tier needs its level: 1 = leaf", ""));
    (void)place_value(s, attribute, where);
    FAB_REFUSE_IF(fab_count_parse(attribute->value, 1, FAB_MAX_TIERS, &level, NULL) != FAB_OK, err, FAB_EINPUT, where,
                  "level: '%.60s' is not a number from 1 to %d", attribute->value, FAB_MAX_TIERS);
    FAB_REFUSE_IF(seen[level - 1], err, FAB_EINPUT, where, "level: tier %.20s is given twice", attribute->value);
    seen[level - 1] = true;
    return design_read_attributes(s, element, SCOPE_TIER, (size_t)level - 1, front_end, err);
}

static fab_status read_fabric(const source *s, const fab_xml_element *element, bool front_end, fab_error *err) {
    bool seen[FAB_MAX_TIERS] = {false};
    FAB_RETURN_IF(element->text[0] != '\0',
                  fab_xml_fail_at(s->file, element, err, "unexpected text inside ", element->name));
    (void)place(s, element, front_end ? s->reading->front_end_where : s->reading->origin_where);
    FAB_PASS(design_read_attributes(s, element, SCOPE_FABRIC, 0, front_end, err));
    for (const fab_xml_element *child = element->first_child; child != NULL; child = child->next) {
        FAB_PASS(read_tier(s, child, front_end, seen, err));
    }
    return FAB_OK;
}

static fab_status read_job(const source *s, const fab_xml_element *element, fab_error *err) {
    fab_design *design = &s->reading->design;
    char where[FAB_XML_PLACE_SIZE];
    size_t job = design->n_jobs;
    FAB_PASS(check_empty(s, element, err));
    FAB_PASS(reading_add_job(design, place(s, element, where), err));
    FAB_PASS(design_read_attributes(s, element, SCOPE_JOB, job, false, err));
    const fab_xml_attribute *id = fab_xml_find(element, "id");
    for (size_t i = 0; i < job; i++) {
        if (strcmp(design->jobs[i].id, design->jobs[job].id) == 0) {
            (void)(id != NULL ? place_value(s, id, where) : place(s, element, where));
            return fab_fail(err, FAB_EINPUT, where, "id: there is another job '%s'", design->jobs[job].id);
        }
    }
    return FAB_OK;
}

static fab_status read_source(const source *s, const fab_xml_element *element, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    target t = {.field = design_field_find(SCOPE_DESIGN, "source")};
    FAB_RETURN_IF(element->first_child != NULL,
                  fab_xml_fail_at(s->file, element->first_child, err, "no element may stand inside ", element->name));
    FAB_RETURN_IF(element->n_attributes > 0,
                  fab_xml_fail_at(s->file, element, err, "<source> has no attribute ", element->attributes[0].name));
    return reading_set(s->reading, &t, element->text, place(s, element, where), err);
}

/* An element with one required attribute. */
static fab_status read_single(const source *s, const fab_xml_element *element, field_scope scope, size_t index,
                              const char *required, fab_error *err) {
    FAB_PASS(check_empty(s, element, err));
    FAB_PASS(design_read_attributes(s, element, scope, index, false, err));
    FAB_RETURN_IF(fab_xml_find(element, required) == NULL,
                  fab_xml_fail_at(s->file, element, err, "missing attribute: ", required));
    return FAB_OK;
}

/* An empty <floor/> is a floor with every default. */
static fab_status read_floor(const source *s, const fab_xml_element *element, fab_error *err) {
    FAB_PASS(check_empty(s, element, err));
    s->reading->design.fabric.floor.given = true;
    s->reading->design.fabric.floor.is_assumed = false;
    return design_read_attributes(s, element, SCOPE_FLOOR, 0, false, err);
}

enum {
    PART_SOURCE,
    PART_FABRIC,
    PART_FRONT_END,
    PART_FLOOR,
    PART_FAILURES,
    PART_PRICES,
    PART_JOB,
    PART_ENGINE,
    N_PARTS
};
static const char *const PARTS[N_PARTS] = {"source",   "fabric", "front-end", "floor",
                                           "failures", "prices", "job",       "engine"};
#define N_SINGLE_PARTS 6 /* those that may stand once */

static fab_status read_part(const source *s, const fab_xml_element *element, bool *seen, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    FAB_FIRST(part, N_PARTS, strcmp(PARTS[part], element->name) == 0);
    FAB_REFUSE_IF(part < N_SINGLE_PARTS && seen[part], err, FAB_EINPUT, place(s, element, where),
                  "a design has one <%s>, this is another", element->name);
    if (part < N_PARTS) {
        seen[part] = true;
    }
    switch (part) {
    case PART_SOURCE: FAB_PASS(read_source(s, element, err)); break;
    case PART_FABRIC: FAB_PASS(read_fabric(s, element, false, err)); break;
    case PART_FRONT_END:
        s->reading->design.has_front_end = true;
        FAB_PASS(read_fabric(s, element, true, err));
        break;
    case PART_FLOOR: FAB_PASS(read_floor(s, element, err)); break;
    case PART_FAILURES:
        FAB_PASS(check_empty(s, element, err));
        FAB_PASS(design_read_attributes(s, element, SCOPE_FAILURES, 0, false, err));
        break;
    case PART_PRICES: FAB_PASS(read_single(s, element, SCOPE_PRICES, 0, "profile", err)); break;
    case PART_JOB: FAB_PASS(read_job(s, element, err)); break;
    case PART_ENGINE: FAB_PASS(read_single(s, element, SCOPE_ENGINE, s->reading->design.n_engines, "use", err)); break;
    default: {
        fab_choices near = fab_choices_of(element->name);
        for (size_t i = 0; i < N_PARTS; i++) {
            fab_choices_offer(&near, PARTS[i]);
        }
        return fab_fail(err, FAB_EINPUT, place(s, element, where), "unknown element <%.40s>%s", element->name,
                        fab_choices_list(&near, "allowed:"));
    }
    }
    return FAB_OK;
}

/* Names with a prefix are unknown anyway; a default namespace would pass unseen. */
static const fab_xml_element *find_namespace(const fab_xml_element *element) {
    const fab_xml_element *found = element->uri != NULL ? element : NULL;
    for (const fab_xml_element *child = element->first_child; found == NULL && child != NULL; child = child->next) {
        found = find_namespace(child);
    }
    return found;
}

/* Jobs and engines of a base stand until the file names its own. */
static void drop_replaced(fab_design *design, const fab_xml_element *root) {
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        if (strcmp(child->name, PARTS[PART_JOB]) == 0) {
            design->n_jobs = design->lists_used = 0;
        }
        design->n_engines = strcmp(child->name, PARTS[PART_ENGINE]) == 0 ? 0 : design->n_engines;
    }
}

fab_status reading_xml(reading *r, const char *data, size_t size, const document *d, fab_error *err) {
    FAB_OWNS(fab_xml_free_owned) fab_xml *xml = NULL;
    bool seen[N_PARTS] = {false};
    source s = {r, d->file};
    char where[FAB_XML_PLACE_SIZE];
    FAB_PASS(fab_xml_parse(data, size, d->file, &xml, err));
    const fab_xml_element *root = fab_xml_root(xml);
    const fab_xml_element *foreign = find_namespace(root);
    const fab_xml_attribute *base = fab_xml_find(root, "base");
    FAB_PASS(strcmp(root->name, "design") != 0
                 ? fab_xml_fail_at(s.file, root, err, "a design file begins with <design>, not with ", root->name)
                 : FAB_OK);
    FAB_PASS(foreign != NULL ? fab_xml_fail_at(s.file, foreign, err, "a design uses no namespace; found ", foreign->uri)
                             : FAB_OK);
    FAB_PASS(root->text[0] != '\0' ? fab_xml_fail_at(s.file, root, err, "unexpected text inside ", root->name)
                                   : FAB_OK);
    if (base != NULL) {
        FAB_PASS(reading_base(r, base->value, d, place_value(&s, base, where), err));
        drop_replaced(&r->design, root);
    }
    FAB_PASS(design_read_attributes(&s, root, SCOPE_DESIGN, 0, false, err));
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_PASS(read_part(&s, child, seen, err));
    }
    return !seen[PART_FABRIC] && base == NULL
               ? fab_xml_fail_at(s.file, root, err, "the design has no <fabric> and no base", "")
               : FAB_OK;
}
