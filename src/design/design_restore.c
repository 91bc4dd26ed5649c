/* Designs from their canonical text. */
#include "fields.h"

#define WHERE "design of the plan"

/* "job.ID.KEY": ids may hold dots, keys do not. The id is a job's first line. */
static void find_in_job(const reading *r, const char *key, target *out) {
    const char *dot = strrchr(key, '.');
    out->field = dot != NULL ? design_field_find(SCOPE_JOB, dot + 1) : NULL;
    bool first = out->field != NULL && strcmp(out->field->key, "id") == 0;
    out->index = r->design.n_jobs - (first || r->design.n_jobs == 0 ? 0 : 1);
}

/* What is empty was empty before anything was read. */
static fab_status set_line(reading *r, char *line, fab_error *err) {
    target t = {.field = NULL};
    char *value = strchr(line, '=');
    FAB_REFUSE_IF(value == NULL, err, FAB_EINPUT, WHERE, "'%.60s' is not path=value", line);
    *value++ = '\0';
    if (strncmp(line, "job.", 4) == 0) {
        find_in_job(r, line + 4, &t);
    } else {
        FAB_PASS(reading_find(r, line, false, &t, WHERE, err));
    }
    FAB_REFUSE_IF(t.field == NULL, err, FAB_EINPUT, WHERE, "there is no field '%.60s'", line);
    return value[0] != '\0' ? reading_set(r, &t, value, WHERE, err) : FAB_OK;
}

fab_status fab_design_restore(const char *text, fab_design *out, fab_error *err) {
    FAB_OWNED char *copy = NULL;
    FAB_PASS(FAB_STRDUP(copy, text, err));
    FAB_OWNED_NEW(reading, r, 1, err);
    FAB_PASS(reading_init(r, err));
    FAB_FORMAT(r->origin_where, WHERE);
    for (char *line = copy; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        char *next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        FAB_PASS(set_line(r, line, err));
        line = next;
    }
    FAB_PASS(reading_finish(r, err));
    *out = r->design;
    return FAB_OK;
}
