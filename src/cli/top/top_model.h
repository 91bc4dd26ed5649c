/**
 * What `top` holds: the job under one engine, what is broken, and what that does. It knows no terminal: whoever breaks
 * parts, in whatever window, asks this.
 */
#pragma once

#include "cli.h"

#include "fab/what_if.h"

#define TOP_ENGINES 24

/** What can be changed, and taken back. */
typedef struct top_state {
    fab_component *part; /**< shape [n]: dead or slower, each once; of a cable its even link */
    size_t n;
    size_t engine; /**< of top_model.engines */
    fab_policy policy;
    uint64_t seed;
} top_state;

typedef struct top_model {
    const cli_options *options;
    fab_engine_spec engines[TOP_ENGINES]; /**< those of the design or of --engine, then the others that there are */
    size_t n_engines;
    top_state now;
    top_state *before; /**< shape [n_before]: for undo, the oldest first */
    size_t n_before, capacity;
    cli_session session;
    fab_what_if *what_if;
    const fab_failures *answer;              /**< of `now` */
    double asked_s;                          /**< that the last change took, with opening the job where it was */
    char passed[FAB_ENGINE_TEXT_SIZE + 256]; /**< why an engine was passed over by the last change; else empty */
    /** Called before what may take a second: opening the job under another engine or seed. NULL: not wanted. */
    void (*tell)(void *context, const char *what);
    void *tell_context;
} top_model;

/**
 * Opens the job with what --fail, --policy, --engine and --seed say.
 * @param[in]     options  Borrowed.
 * @param[in,out] out      Zero-initialised, with `tell`. Release with top_model_release() whatever comes of it.
 * Errors of what `run` does with the same words.
 */
FAB_STATUS top_model_open(const cli_options *options, top_model *out, fab_error *err);
void top_model_release(top_model *model);

/* Changes. After an error everything is as it was before. */

/** Part of a name as --fail takes it: "leaf-3", "nic-7*0.5". */
FAB_STATUS top_model_parse(const top_model *model, const char *text, fab_component *out, fab_error *err);
/** A part that is broken already gets the new fraction. */
FAB_STATUS top_model_break(top_model *model, const fab_component *part, fab_error *err);
/** Does nothing where the part is not broken. */
FAB_STATUS top_model_repair(top_model *model, const fab_component *part, fab_error *err);
FAB_STATUS top_model_repair_all(top_model *model, fab_error *err);
/** Does nothing where nothing was changed. */
FAB_STATUS top_model_undo(top_model *model, fab_error *err);
/** The next one that can route this fabric. */
FAB_STATUS top_model_next_engine(top_model *model, fab_error *err);
FAB_STATUS top_model_next_seed(top_model *model, fab_error *err);
FAB_STATUS top_model_next_policy(top_model *model, fab_error *err);

/** What is left of a part, by its own name: 1 where it is not broken, 0 where it is dead. */
double top_model_left(const top_model *model, const fab_component *part);

/* Answers. */

/** Where nothing is broken, and where `now` is; both the same where nothing is broken. */
const fab_failed_state *top_model_healthy(const top_model *model);
const fab_failed_state *top_model_state(const top_model *model);
/** Else the engine does not say what happens: the note has why, top_model_state() is the healthy one, and there are no
 * loads and flows. */
bool top_model_is_known(const top_model *model);
const char *top_model_note(const top_model *model);
const char *top_model_engine_name(const top_model *model);

/** The words that make `run` report `now`: "run DESIGN --fail leaf-3". */
void top_model_command(const top_model *model, fab_str *out);
