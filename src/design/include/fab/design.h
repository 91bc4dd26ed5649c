/**
 * A design: what the user asks for, as plain values. Read from an XML file, a built-in preset or a one-line form; any
 * value can be overridden by its path. Nothing is derived here beyond the documented defaults: topologies/ builds the
 * fabric, src/traffic the job.
 */
#pragma once

#include "fab/convention.h"
#include "fab/engine_spec.h"
#include "fab/failure_spec.h"
#include "fab/fabric_spec.h"
#include "fab/host.h"
#include "fab/job_spec.h"

#define FAB_LISTS_SIZE 65536 /* of all lists of servers of a design */

/** Plain values: one is copied by `=`, or by fab_design_copy(), which leaves out what is not in use. */
typedef struct fab_design {
    char name[FAB_NAME_SIZE];
    char origin[192]; /**< file name, "preset:NAME" or the one-line form */
    char source[512]; /**< where the figures come from */
    fab_fabric_spec fabric;
    fab_fabric_spec front_end; /**< second network of the servers, for storage and data; has no GPUs of its own */
    bool has_front_end;
    size_t n_jobs;
    fab_engine_spec engines[FAB_MAX_ENGINES];
    size_t n_engines;
    fab_failure_spec failures;
    char prices[192]; /**< price profile name or file; empty = the default profile */
    fab_convention convention;
    char collective_note[FAB_WHERE_SIZE]; /**< what was chosen in place of algorithm=best, or empty: of no file */
    char prices_where[FAB_WHERE_SIZE];    /**< file:line:column of the value, or empty */
    size_t lists_used;
    fab_job_spec jobs[FAB_MAX_JOBS]; /**< n_jobs in use */
    char lists[FAB_LISTS_SIZE];      /**< texts that lists of the jobs refer to, each ended by a NUL */
} fab_design;

/** Jobs of the design that a traffic leaves out, as it is that of the first alone; 0: there is one, or it has none. */
static inline size_t fab_design_other_jobs(const fab_design *design, const char *traffic) {
    return design->n_jobs > 1 && strncmp(traffic, "job", 3) == 0 ? design->n_jobs - 1 : 0;
}

/**
 * Reads a design from `text`: `preset:NAME`, a one-line form `FAMILY:key=value,...`, or the path of an XML file ("-" is
 * stdin). A file or preset may stand on another (base="preset:NAME" or a path from its folder), whose values its own
 * replace; jobs or engines that it gives replace all of the base's. Then applies the overrides `path=value` in order,
 * fills the defaults, and checks every value by itself and those that only make sense together (servers, scale-up
 * domains, pods).
 *
 * Paths: name, source; fabric.KEY or KEY (gpus, nic, ...); for values per tier fabric.tier.2.taper, fabric.taper.2 or
 * taper.2, and without a tier a list separated by '/': the last value holds for the tiers above it, except that tapers
 * left out are 1; floor.KEY; job.KEY (the first job, made if there is none) or job.ID.KEY; engine or engine.2; prices.
 * The one-line form takes the keys of the fabric. "auto" leaves a value to its default.
 * @param[in]  overrides  n_overrides strings such as "fabric.taper.2=4". May be NULL when n_overrides is 0.
 * @param[out] out        Written on success only; plain values, nothing to release.
 * @retval FAB_EINPUT  err->where is file:line:column (or the option), err->text names what, the value and the limit.
 */
FAB_STATUS fab_design_read(const char *text, const char *const *overrides, size_t n_overrides, fab_design *out,
                           fab_error *err);

/**
 * The same for a run that may take no more than max_bytes of memory (fabric.max_bytes; 0: no limit).
 * @retval FAB_ELIMIT  the file of an installed fabric would take more
 */
FAB_STATUS fab_design_read_within(const char *text, const char *const *overrides, size_t n_overrides,
                                  uint64_t max_bytes, fab_design *out, fab_error *err);

/**
 * The front-end network as a fabric of hosts: one "GPU" per server and per storage server, no scale-up domain.
 * @param[in] servers  Servers of the built back-end, spares included.
 */
void fab_design_front_end(const fab_design *design, uint64_t servers, fab_fabric_spec *out);

/** What hosts add: keys that are given, else those of the kind of host; of resolved counts of GPUs and NICs. */
fab_host fab_design_host(const fab_fabric_spec *spec);

/**
 * Whether the kind of host is of the generation of the first job's GPU.
 * @retval FAB_EINPUT  it is another's, or none was measured on hosts of this GPU; the message names those that exist
 */
FAB_STATUS fab_design_check_host(const fab_fabric_spec *spec, fab_error *err);

/**
 * Whether the servers of a rack draw no more than its limits; of a design whose jobs are known.
 * @retval FAB_EINPUT  they draw more
 */
FAB_STATUS fab_floor_check(const fab_floor_spec *floor, fab_error *err);

struct fab_structure_options; /* fab/installed.h */

/** How the file of an installed fabric is read. Texts belong to the spec. */
struct fab_structure_options fab_design_installed_options(const fab_fabric_spec *spec);

/** Whether a key of the fabric has its default, which is what a key that nobody gave has. */
bool fab_design_is_default(const fab_fabric_spec *spec, const char *key);

/** A job of which nothing is said: every field at its default, as `list fields` prints it. Written on success only. */
FAB_STATUS fab_design_default_job(fab_job_spec *out, fab_error *err);

/** Sets one field of `design->jobs[job]` from its key, as --job and XML do. Appends a job when job == n_jobs. */
FAB_STATUS fab_design_set_job(fab_design *design, size_t job, const char *key, const char *value, const char *where,
                              fab_error *err);

/** Copies what is in use: the rest of `out` stays as it was. */
void fab_design_copy(const fab_design *from, fab_design *out);

/** `out`: the design with this job as its only one. */
void fab_design_copy_alone(const fab_design *from, size_t job, fab_design *out);

/** A list of servers of a job as text, empty where the job has none. Borrowed until a list of the design is set. */
const char *fab_design_list(const fab_design *design, fab_list_ref list);

/**
 * Sets a list of servers of a job of this design.
 * @retval FAB_EINPUT        longer than FAB_SERVERS_SIZE allows
 * @retval FAB_EUNSUPPORTED  all lists of the design together are longer than FAB_LISTS_SIZE
 */
FAB_STATUS fab_design_set_list(fab_design *design, fab_list_ref *list, const char *key, const char *text,
                               const char *where, fab_error *err);

/** `to` becomes a design of the first job of `from`, lists included, as if it had been read with it: scale-up links
 * without a rate of their own have that of its GPU. */
FAB_STATUS fab_design_take_job(const fab_design *from, fab_design *to, fab_error *err);

/**
 * Canonical text of a design: every field that differs from its default as `path=value`, one a line, by path within its
 * part. Two designs with the same text give the same results. A field that is added to the table of fields leaves it as
 * it was; changing a default changes what stored texts mean.
 */
void fab_design_describe(const fab_design *design, fab_str *out);

/**
 * The design of a canonical text: what is described again is the same text. Its origin is empty. Texts that name
 * defaults as well, as stores of version 0.1 do, are read.
 * @retval FAB_EINPUT  no such text, or a design that fab_design_read() would refuse
 */
FAB_STATUS fab_design_restore(const char *text, fab_design *out, fab_error *err);

/** Digest of fab_design_describe, but for the path of an installed fabric's file, whose content it covers instead: 16
 * hexadecimal digits and a NUL. */
FAB_STATUS fab_design_digest(const fab_design *design, char out[17], fab_error *err);

/** The same of a canonical text, whatever the version of the program that wrote it. */
void fab_design_text_digest(const char *text, char out[17]);

/** Appends the XML Schema of design files. */
void fab_design_schema(fab_str *out);

/** Fields a user may set, for help texts: calls `visit` for each in table order. */
typedef void fab_design_visit(void *context, const char *path, const char *unit_example, const char *initial,
                              const char *summary);
void fab_design_each_field(fab_design_visit *visit, void *context);
