/** The table of everything a design may say, and setting a value by its path. */
#pragma once

#include "fab/builtin.h"
#include "fab/design.h"
#include "field.h"

#define MAX_FIELDS 256

extern const field design_fields[]; /**< ended by a NULL key */

extern const field_shape xgft_shape, dragonfly_shape, torus_shape;

/** Field of this scope and key, or NULL. */
const field *design_field_find(field_scope scope, const char *key);

/** The same of the first scope that has the key. */
const field *design_field_any(const field_scope *scopes, size_t n, const char *key);

/** Number of a row of design_fields. */
size_t design_field_index(const field *f);

/** Sets a field of all FAB_MAX_TIERS tiers from values separated by '/'. */
FAB_STATUS design_set_tiers(const field *f, fab_tier_spec *tiers, const char *list, const char *where, fab_error *err);

/** fab_design_describe() by another table, ended by a NULL key, of at most MAX_FIELDS rows. */
void design_describe(const fab_design *design, const field *table, fab_str *out);

/** A design while it is read: its values, and where the fabric's came from (for errors that take several values). */
typedef struct reading {
    fab_design design;
    char front_end_where[192];   /**< of the <front-end> element */
    char origin_where[192];      /**< of the <fabric> element, or the whole text */
    char where[MAX_FIELDS][192]; /**< by design_field_index; empty = default. Tier fields: the last one set */
} reading;

/** What was not given follows the GPU of the first job: the rate of scale-up domains, the power of a server and how
 * many of them a rack holds. Without a job an H100. */
void design_follow_gpu(fab_design *design);

/** Everything at its default. */
FAB_STATUS reading_init(reading *r, fab_error *err);

/** A value and where it goes. */
typedef struct target {
    const field *field;
    size_t index;   /**< tier, job or engine */
    bool all_tiers; /**< the value may be a list over the tiers */
    bool front_end; /**< of the front-end network, not of the fabric */
} target;

/**
 * Finds what a path such as "fabric.tier.2.taper", "taper.2", "job.train.tp" means.
 * @param[in] fabric_only  One-line form: keys of the fabric and its floor alone.
 * @retval FAB_EINPUT  unknown; the message lists what is allowed.
 */
FAB_STATUS reading_find(const reading *r, const char *path, bool fabric_only, target *out, const char *where,
                        fab_error *err);

/** Where the value came from that decides: of the keys of the fabric, its tiers and floor, NULL behind the last, the
 * first that was set; else of the fabric. */
const char *reading_where(const reading *r, const char *first, const char *second, const char *third);

/** Sets one value; every way of setting one ends here. */
FAB_STATUS reading_set(reading *r, const target *target, const char *value, const char *where, fab_error *err);

/** Sets all fields of a scope that have a default, in the struct at `base`. */
FAB_STATUS design_set_defaults(field_scope scope, void *base, fab_error *err);

/** Sets a field of a job that the design has. After a failure nothing is changed. */
FAB_STATUS design_set_job_field(const field *f, fab_design *design, size_t job, const char *value, const char *where,
                                fab_error *err);

/** Appends a job with defaults; its index is the old n_jobs. */
FAB_STATUS reading_add_job(fab_design *design, const char *where, fab_error *err);

/** Notes what is given of the floor, and fills in the servers of a rack where racks are. */
FAB_STATUS reading_finish_floor(reading *r, fab_error *err);

/** Fills derived defaults and checks values against each other. */
FAB_STATUS reading_finish(reading *r, fab_error *err);

/** Of an installed fabric: digest, servers, NICs and GPUs, from its file. Nothing for other families. */
FAB_STATUS reading_finish_installed(reading *r, fab_error *err);

/** A file or preset that is being read, and the one whose base it is. */
typedef struct document {
    const char *file; /**< path, "preset:NAME" or "stdin" */
    const struct document *derived;
    const fab_builtin *preset; /**< NULL for a file */
    bool is_file;              /**< device and inode are known */
    uint64_t device, inode;
} document;

/** Reads a design in XML from memory, over what its base says. */
FAB_STATUS reading_xml(reading *r, const char *data, size_t size, const document *d, fab_error *err);

/** True for "preset:..." */
bool is_preset_text(const char *text);

/**
 * Reads preset:NAME or a file.
 * @param[in] derived  Whose base it is, or NULL.
 * @param[in] where    For errors of `text` itself: the place of the base attribute.
 */
FAB_STATUS reading_preset(reading *r, const char *text, const document *derived, const char *where, fab_error *err);
FAB_STATUS reading_file(reading *r, const char *path, const document *derived, const char *where, fab_error *err);

/** Reads the base of a design: preset:NAME, or a path from the folder of the file. Takes away the base's name. */
FAB_STATUS reading_base(reading *r, const char *base, const document *d, const char *where, fab_error *err);

/** Fails with "unknown WHAT 'word'", near names and what is allowed: the keys of `scopes`. */
fab_status fail_unknown(const char *what, const char *word, const field_scope *scopes, size_t n_scopes,
                        const char *where, fab_error *err);
