/* The report for a terminal: what an architect reads, from what the fabric is made of to how its traffic contends. */
#include "report_formats.h"
#include "data/result_walk.h"
#include "text_sections.h"
#include "fab/verdict.h"

#define VERDICT_INDENT 12

static void put_origin(fab_page *page, const fab_result *result) {
    if (!page->conventions) {
        fab_page_end_line(page);
    }
    fab_page_say(page, "fabriscope %s, seed %" PRIu64, result->version != NULL ? result->version : "", result->seed);
    if (result->n_seeds > 1) {
        fab_page_say(page, " and %s more", fab_show_count(page, result->n_seeds - 1));
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 4, page->conventions ? "" : "; --conventions says how this was counted");
}

static void put_short_fabric(fab_page *page, const fab_fabric_result *f) {
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s, %s in %" PRIu64 " tier%s, %s",
                   fab_show_counted(page, f->counts.gpus, "GPU", "GPUs"),
                   fab_show_counted(page, f->counts.switches, "switch", "switches"), f->counts.tiers,
                   fab_plural(f->counts.tiers), fab_show_counted(page, f->counts.cables, "cable", "cables"));
}

static void put_verdict_line(fab_page *page, const char *name, const char *text) {
    if (text[0] != '\0') {
        fab_page_put(page, FAB_INK_BOLD, name);
        fab_page_wrap(page, FAB_INK_PLAIN, VERDICT_INDENT, VERDICT_INDENT, text);
    }
}

/* The answer, before what it rests on. */
static void put_verdict(fab_page *page, const fab_run_verdict *v) {
    if (v == NULL) {
        return;
    }
    put_verdict_line(page, "bound by", v->bound);
    put_verdict_line(page, "collisions", v->collisions);
    put_verdict_line(page, "cost", v->cost);
    put_verdict_line(page, "to do", v->advice);
    put_verdict_line(page, "how sure", v->certainty);
    fab_page_end_line(page);
}

static void put_warnings(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_warnings; i++) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "Warning: %s.", result->warnings[i]);
    }
}

/* What was asked for by name stands before what it rests on, so that the first screen has the answer. */
static void put_offered(fab_page *page, const fab_result *result) {
    if (result->command != FAB_COMMAND_ROUTE) {
        fab_text_growth(page, result);
    }
    if (result->contention != NULL) {
        fab_text_contention(page, result->contention);
    }
    if (result->degradation != NULL) {
        fab_text_degradation(page, result->degradation);
    }
    if (result->failures != NULL) {
        fab_text_failures(page, result->failures);
    }
    const bool is_of_some = result->of_engine[0] != NULL && result->verdict != NULL;
    if (is_of_some && (result->degradation != NULL || result->failures != NULL)) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4,
                       "What parts do is of [%zu] %s and its plan: other engines have plans of their own, and are told "
                       "of alone (--engine).",
                       result->verdict->engine + 1, result->phases[0].engines[result->verdict->engine].label);
    }
    if (result->advice != NULL) {
        fab_text_advice(page, result->advice);
    }
}

/* Of the other engines, with what their own searches prove. */
static void put_other_plans(fab_page *page, const fab_result *result) {
    const size_t best = result->verdict != NULL ? result->verdict->engine : result->n_iterations;
    for (size_t e = 0; best < result->n_iterations && e < result->n_iterations; e++) {
        const fab_iteration *it = &result->iterations[e];
        char name[FAB_ENGINE_SHORT_SIZE];
        const bool is_same = strcmp(it->plan, result->iterations[best].plan) == 0;
        if (e != best && it->plan[0] != '\0') {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "[%zu] %s: %s: %s; %s: others take %s at least%s.", e + 1,
                           fab_engine_short(&result->phases[0], e, true, name), is_same ? "the same plan" : it->plan,
                           fab_show_time(page, it->time_s),
                           it->plan_is_proven ? "proven best" : "the best that a short search finds",
                           fab_show_time(page, it->plan_bound_s), result->n_seeds > 1 ? " under the first seed" : "");
        }
    }
}

static void put_result(fab_page *page, const fab_result *result) {
    if (result->explanation != NULL) { /* the answer to a question, not a report */
        fab_text_explanation(page, result->explanation);
        return;
    }
    if (result->listing != NULL) {
        fab_text_traffic(page, result->listing->traffic);
        return;
    }
    if (result->audit != NULL) {
        fab_text_audit(page, result->audited, result->audit);
        return;
    }
    if (result->observed != NULL) {
        fab_text_design(page, &result->fabrics[0]);
        put_short_fabric(page, &result->fabrics[0]);
        fab_text_observed(page, result->observed, result->graph);
        put_origin(page, result);
        return;
    }
    if (result->command == FAB_COMMAND_VALIDATE) {
        fab_text_validation(page, result->published);
        put_origin(page, result);
        return;
    }
    if (result->imported != NULL) {
        fab_text_import(page, result->imported);
        return;
    }
    if (result->study != NULL) { /* of its own too: the fabric is there for the exports */
        put_warnings(page, result);
        fab_text_study(page, result->study);
        put_origin(page, result);
        return;
    }
    if (result->command == FAB_COMMAND_PLAN) {
        fab_text_design(page, &result->fabrics[0]);
        put_warnings(page, result);
        fab_text_plans(page, result->plans, result->see);
        put_origin(page, result);
        return;
    }
    if (result->busbw != NULL) {
        fab_text_design(page, &result->fabrics[0]);
        put_warnings(page, result);
        fab_text_busbw(page, result->busbw);
        put_origin(page, result);
        return;
    }
    if (result->difference != NULL) {
        fab_text_difference(page, result->difference);
        put_warnings(page, result);
        fab_text_conventions(page, fab_conventions, SIZE_MAX);
        put_origin(page, result);
        return;
    }
    put_verdict(page, result->verdict);
    if (result->sweep != NULL || result->mix != NULL || result->optimum != NULL) {
        put_warnings(page, result);
    }
    if (result->sweep != NULL) {
        fab_text_sweep(page, result->sweep, result->see);
    }
    if (result->mix != NULL) {
        fab_text_mix(page, result->mix, result->see);
    }
    bool compares = result->command == FAB_COMMAND_COST && result->n_fabrics > 1;
    if (compares) {
        fab_text_comparison(page, result);
        put_warnings(page, result);
        for (size_t i = 0; i < result->n_fabrics; i++) {
            fab_text_cost(page, &result->fabrics[i], fab_show(page, "BILL OF MATERIALS [%zu]", i + 1));
        }
        fab_text_prices(page, result);
    } else if (result->n_fabrics > 0) {
        const fab_fabric_result *f = &result->fabrics[0];
        if (result->optimum != NULL) {
            fab_text_optimum(page, result->optimum, f, result->see);
        }
        fab_text_design(page, f);
        if (result->optimum == NULL) {
            put_warnings(page, result);
        }
        if (result->command == FAB_COMMAND_ROUTE) {
            put_short_fabric(page, f);
            put_offered(page, result);
        } else {
            put_offered(page, result);
            fab_text_fabric(page, f, result->graph != NULL);
            fab_text_floor(page, f);
            fab_text_cost(page, f, "COST");
            fab_text_front_end(page, f);
            fab_text_prices(page, result);
        }
    }
    if (result->plans != NULL && result->contention == NULL) { /* else each job has a line */
        fab_text_heading(page, "PLAN",
                         result->other_jobs > 0 ? fab_show(page, "of job %s, alone on its servers", result->job.id)
                                                : NULL);
        fab_text_plan_proof(page, result->plans);
        put_other_plans(page, result);
    }
    fab_text_iteration(page, result);
    if (result->published != NULL) {
        fab_text_published(page, result->published, result);
    }
    if (result->n_phases > 0) {
        fab_text_phases(page, result);
    }
    bool has_traffic = result->n_phases > 0 || result->sweep != NULL || result->mix != NULL;
    fab_text_conventions(page, fab_conventions, has_traffic ? SIZE_MAX : FAB_GENERAL_CONVENTIONS);
    put_origin(page, result);
}

static fab_status make_text(const fab_result *result, const fab_report_style *style, fab_str *out,
                            FAB_UNUSED fab_error *err) {
    fab_page page;
    fab_page_init(&page, style);
    put_result(&page, result);
    *out = fab_page_take(&page);
    return FAB_OK;
}

const fab_report_format fab_report_text = {
    .name = "text",
    .summary = "for the terminal",
    .make = make_text,
};

/* For a document: the same sections, under a title. Drawings are as wide as on a terminal of 80 columns. */
static fab_status make_markdown(const fab_result *result, const fab_report_style *style, fab_str *out,
                                FAB_UNUSED fab_error *err) {
    fab_page page;
    fab_page_init(&page, &(fab_report_style){.conventions = style != NULL && style->conventions});
    page.markdown = true;
    const char *design = fab_result_design(result);
    fab_markdown_heading(&page, "#",
                         fab_show(&page, "fabriscope %s%s%s", fab_result_command(result), design != NULL ? ": " : "",
                                  design != NULL ? design : ""));
    put_result(&page, result);
    *out = fab_page_take(&page);
    return FAB_OK;
}

const fab_report_format fab_report_markdown = {
    .name = "markdown",
    .file_name = "report.md",
    .suffix = ".md",
    .summary = "the text report as Markdown, for a document",
    .make = make_markdown,
};

const char *fab_text_links(fab_page *page, fab_wiring wiring, uint32_t tier, bool up) {
    return fab_show(page, "%s %s", fab_boundary_name(wiring, tier), fab_direction_name(wiring, tier, up));
}

const char *fab_text_routing(fab_page *page, const char *label) {
    const char *pairs = strstr(label, ",qp=");
    const char *name = fab_show(page, "%.*s", (int)strcspn(label, ","), label);
    if (pairs == NULL) {
        return name;
    }
    pairs += strlen(",qp=");
    const int n = (int)strcspn(pairs, ",");
    return fab_show(page, "%s with %.*s queue pair%s", name, n, pairs, n == 1 && *pairs == '1' ? "" : "s");
}

const char *fab_text_draws(fab_page *page, bool is_one_draw, uint64_t n_seeds, bool is_estimated) {
    const char *draws = is_one_draw   ? ", by one draw"
                        : n_seeds > 0 ? fab_show(page, ", over %" PRIu64 " seeds", n_seeds)
                                      : "";
    const char *joined = draws[0] != '\0' ? " and an estimate" : ", by an estimate";
    return is_estimated ? fab_show(page, "%s%s", draws, joined) : draws;
}

void fab_text_see(fab_page *page, const char *command, bool has_failures) {
    if (command != NULL) {
        fab_page_line(page, FAB_INK_DIM, "  to see it%s:", has_failures ? ", without failures" : "");
        fab_page_shell(page, FAB_INK_PLAIN, 4, command);
    }
}

void fab_text_put_estimate(fab_page *page, double estimated_ratio) {
    if (estimated_ratio > 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "An estimate: so many flows are not followed one by one; no phase takes more than %.2g %% "
                       "longer than it says, but in one draw in a thousand.",
                       100 * estimated_ratio);
    }
}
