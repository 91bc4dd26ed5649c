/* Text report of a study: which parts hurt, which scenarios stand out, and how servers are joined to the network. */
#include "text_study.h"

#define MOST_NAMED 8    /* components behind the name of a scenario */
#define MOST_TIED  3    /* of parts that have the same impact */
#define LITTLE     1e-3 /* impact that nobody notices */
#define NOTHING    5e-6 /* that is printed as 0 % */

static const fab_study_variant *shown(const fab_study_summary *s) {
    return &s->variants[s->shown];
}

/* Where nothing takes longer there is nothing to tell apart. */
static const char *no_impact(const fab_study_summary *s) {
    const fab_spread *slowdown = &shown(s)->slowdown;
    const bool is_told = s->n_seeds <= 1 ||
                         (s->has_times && shown(s)->n_stopped == 0 && slowdown->n > 0 && slowdown->worst < 1 + NOTHING);
    return is_told ? "No impact: no loss that was looked at costs anything."
                   : "Not told apart: the draw of the paths decides which loss costs most.";
}

const char *study_show_span(fab_page *page, double span_s) {
    const double hours = span_s / 3600;
    return hours >= 48  ? fab_show(page, "%.4g days", hours / 24)
           : hours >= 2 ? fab_show(page, "%.4g hours", hours)
                        : fab_show_time(page, span_s);
}

const char *study_show_quarter(fab_page *page, const fab_study_variant *v) {
    const char *usd = fab_show_money(page, v->quarterly_lost_usd);
    const bool is_wide = v->quarterly_lost_ci95_usd >= 0.1 * v->quarterly_lost_usd;
    return is_wide ? fab_show(page, "%s +- %s", usd, fab_show_money(page, v->quarterly_lost_ci95_usd)) : usd;
}

const char *study_main_loss(fab_page *page, const fab_study_summary *s, const fab_study_variant *v) {
    const bool shares_batch = s->model.shrinks && s->model.keeps_batch && strcmp(v->policy, "shrink") == 0;
    const char *slower = s->has_spares && !s->model.serves && strcmp(v->policy, "none") != 0
                             ? "slower iterations (ranks on spares go home where that pays)"
                         : shares_batch ? "slower iterations (whole microbatches on fewer replicas)"
                                        : "slower iterations";
    const struct {
        const char *name;
        double ratio;
    } PARTS[] = {{slower, v->slow_ratio},
                 {"restarts", v->restart_ratio},
                 {"work done again", v->redo_ratio},
                 {"waiting for repairs", v->wait_ratio},
                 {"writing checkpoints", v->write_ratio}};
    size_t most = 0;
    for (size_t i = 1; i < FAB_N_OF(PARTS); i++) {
        most = PARTS[i].ratio > PARTS[most].ratio ? i : most;
    }
    return v->slow_ratio < 0 /* luck of paths, which others pay for */
               ? fab_show(page, ", most of it by %s", PARTS[most].name)
               : fab_show(page, ", %.0f %% of it by %s", 100 * PARTS[most].ratio / (1 - v->goodput.mean),
                          PARTS[most].name);
}

const char *study_even(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *best = &s->variants[s->shown];
    if (s->span_s > 0 && s->n_done < 2) {
        return ", in one history alone";
    }
    for (size_t i = 0; i < s->n_variants && s->span_s > 0; i++) {
        const fab_study_variant *v = &s->variants[i];
        const double more = best->goodput.mean / v->goodput.mean - 1;
        const double chance = fab_pairs_ci95(&best->kept, NULL, &v->kept, NULL);
        if (i != s->shown && v->same_as != best->same_as && fabs(more) <= chance) {
            return fab_show(page, ", but %" PRIu64 " histories do not tell it from [%zu] (%s +- %s)", s->n_done, i + 1,
                            study_show_percent(page, more), study_show_percent(page, chance));
        }
    }
    return "";
}

/* --- what has the highest impact ---------------------------------------------------------------------------------- */

/* What a component's impact means: "the job stops", "x1.31", "12 % is lost". */
static const char *study_show_consequence(fab_page *page, const fab_study_summary *s, double impact) {
    if (impact >= 1 - FAB_SAME_FACTOR && s->span_s <= 0) {
        return "the job stops";
    }
    if (s->is_single && s->has_times && s->span_s <= 0) {
        return study_show_factor(page, impact < 1 ? 1 / (1 - impact) : isnan(impact) ? NAN : INFINITY);
    }
    return fab_show(page, "%s is lost", study_show_percent(page, impact));
}

/* The class of components whose worst has the highest impact, below a limit; NULL: none remains that has any. */
static const fab_critical_class *worst_class(const fab_study_variant *v, double below) {
    const fab_critical_class *worst = NULL;
    FAB_EACH(const fab_critical_class, c, v->classes, v->n_classes) {
        if (c->worst_impact < below && c->worst_impact > FAB_SAME_FACTOR &&
            (worst == NULL || c->worst_impact > worst->worst_impact)) {
            worst = c;
        }
    }
    return worst;
}

/* "any of 24,576 nic-leaf links", "leaf-3 and 2 more of 48 leaf switches", "leaf-3" */
static void study_say_worst(fab_page *page, const fab_critical_class *c) {
    const char *all = fab_show_count(page, c->n_parts);
    if (c->n_parts == 1) {
        fab_page_say(page, "%s", c->worst);
    } else if (c->n_worst == c->n_parts) {
        fab_page_say(page, "any of the %s %s", all, c->name);
    } else if (c->n_worst == 1) {
        fab_page_say(page, "%s of the %s %s", c->worst, all, c->name);
    } else {
        fab_page_say(page, "%s of the %s %s, such as %s", fab_show_count(page, c->n_worst), all, c->name, c->worst);
    }
}

/* Of single losses: the class with the worst, and the one behind. */
static void study_put_single_highest(fab_page *page, const fab_study_summary *s) {
    const fab_critical_class *first = worst_class(shown(s), INFINITY);
    const fab_critical_class *second = first != NULL ? worst_class(shown(s), first->worst_impact) : NULL;
    if (first == NULL) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 2, no_impact(s));
        return;
    }
    if (s->n_seeds > 1 && first->worst_impact < NOTHING) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 2, no_impact(s));
        return;
    }
    if (first->worst_impact < LITTLE) {
        fab_page_say(page, "Little impact: the highest, ");
        study_say_worst(page, first);
        fab_page_say(page, ", takes %s of the speed.", study_show_percent(page, first->worst_impact));
        fab_page_paragraph(page, FAB_INK_GOOD, 2, 2);
        return;
    }
    const bool is_drawn =
        s->n_seeds > 1 && first->worst_impact < 1 - FAB_SAME_FACTOR && first->n_worst < first->n_parts;
    fab_page_say(page,
                 is_drawn ? "Highest impact, by these seeds (others may name another part): " : "Highest impact: ");
    study_say_worst(page, first);
    fab_page_say(page, " (%s)", study_show_consequence(page, s, first->worst_impact));
    if (second != NULL && second->worst_impact >= LITTLE) {
        fab_page_say(page, "; then ");
        study_say_worst(page, second);
        fab_page_say(page, " (%s)", study_show_consequence(page, s, second->worst_impact));
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
}

static uint64_t n_clear(const fab_study_variant *v) {
    FAB_SUM(uint64_t, n, i, v->n_classes, v->classes[i].n_clear);
    return n;
}

/* The class of components that stands out most, as such. */
static const fab_critical_class *clear_class(const fab_study_variant *v) {
    for (size_t i = 0; i < v->n_classes; i++) {
        if (v->classes[i].is_clear) {
            return &v->classes[i]; /* highest impact first */
        }
    }
    return NULL;
}

/* Sets of which no part explains the impact, and parts whose own no set explains. */
static void study_say_interactions(fab_page *page, const fab_study_variant *v) {
    if (v->n_undecided > 0) {
        fab_page_say(page,
                     " What %s cost%s alone these scenarios do not say, for the others in them cost something as "
                     "well; a study of single losses does.",
                     fab_show_counted(page, v->n_undecided, "part", "parts"), v->n_undecided == 1 ? "s" : "");
    }
    if (v->n_interactions > 0) {
        fab_page_say(page,
                     " In %s parts that cost next to nothing alone cost something together, most in #%" PRIu64 ".",
                     fab_show_counted(page, v->n_interactions, "scenario", "scenarios"), v->worst_interaction);
    }
}

/* Of larger sets: what classes and parts are credited with, as far as chance does not explain it. */
static void study_put_clear_highest(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    const fab_critical_class *c = clear_class(v);
    const char *parts = fab_show_counted(page, s->n_parts, "part", "parts");
    const fab_study_case *worst = v->n_stopped_shown > 0 ? v->stopped : v->n_worst > 0 ? v->worst : NULL;
    if (worst != NULL && worst->name[0] != '\0' && s->n_seeds > 1 && !worst->is_stopped &&
        worst->time_s == v->healthy_time_s) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, no_impact(s));
        return;
    }
    if (worst != NULL && worst->name[0] != '\0') { /* scenarios of a list are what is asked about */
        fab_page_say(page, "Worst: %s (%s).", worst->name,
                     worst->is_stopped ? "the job stops"
                                       : study_figure(s)(page, s->has_times ? worst->slowdown : worst->worst_ratio));
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
        return;
    }
    if (c == NULL && v->critical.n == 0 && v->is_whole) {
        fab_page_say(page, "Nothing stands out: no set is due to one of its parts alone.");
    } else if (c == NULL && v->critical.n == 0) {
        fab_page_say(page, "Nothing stands out: so many scenarios tell none of %s from chance.", parts);
    } else {
        fab_page_say(page, "Highest impact: ");
    }
    if (c != NULL) {
        fab_page_say(page, "%s: %s of the speed%s%s", c->name, study_show_percent(page, c->impact),
                     c->ci95 > 0 ? " +- " : "", c->ci95 > 0 ? study_show_percent(page, c->ci95) : "");
    }
    if (v->critical.n > 0) {
        fab_page_say(page, "%s%s of %s stand%s out, such as %s (%s)", c != NULL ? "; " : "",
                     fab_show_count(page, n_clear(v)), parts, n_clear(v) == 1 ? "s" : "", v->critical.list[0].name,
                     study_show_consequence(page, s, v->critical.list[0].impact));
    }
    fab_page_say(page, c != NULL || v->critical.n > 0 ? "." : "");
    study_say_interactions(page, v);
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
}

/* The class of failures with most cost of those whose cost is above 0 by more than its interval; NULL: none is. */
static const fab_cause *clear_cause(const fab_study_variant *v) {
    FAB_FIRST(i, v->n_causes, v->causes[i].impact > v->causes[i].ci95);
    return i < v->n_causes ? &v->causes[i] : NULL;
}

/* Where the class that seems to cost most may as well cost nothing. */
static void study_say_no_cause(fab_page *page, const fab_study_variant *v, const fab_cause *clear) {
    const fab_cause *first = v->causes;
    fab_page_say(page, "Highest impact: not known; %s are too few to tell ",
                 fab_show_counted(page, v->n_done, "history", "histories"));
    fab_page_say(page,
                 clear != NULL ? "%s, which may cost most, from costing nothing" : "any class from costing nothing",
                 first->name);
    if (clear != NULL) {
        fab_page_say(page, "; one failure of %s costs %s +- %s of the span", clear->name,
                     study_show_percent(page, clear->impact), study_show_percent(page, clear->ci95));
    }
    if (v->first_cause_histories > 0) {
        fab_page_say(page, "; if %s cost %s each, as it seems, about %s tell", first->name,
                     study_show_percent(page, first->impact), fab_show_count(page, v->first_cause_histories));
    }
}

/* Of histories: the classes of failures that take most. */
static void study_put_cause_highest(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    const fab_cause *first = v->causes;
    if (v->n_causes == 0) {
        return;
    }
    if (v->n_first_causes == 0) {
        study_say_no_cause(page, v, clear_cause(v));
    } else {
        fab_page_say(page,
                     "Highest impact: %s; %.3g of them fail, which costs %s of the span each and makes %s of what "
                     "failures cost",
                     first->name, first->failures, study_show_percent(page, first->impact),
                     study_show_percent(page, first->share));
        fab_page_say(page, v->write_ratio > 0 ? " besides the writing of checkpoints" : "");
        if (v->quarterly_lost_usd > 0) { /* no class is blamed for checkpoints */
            const double usd = v->quarterly_lost_usd * first->share * (1 - v->write_ratio / (1 - v->goodput.mean));
            fab_page_say(page, ": %s +- %s a quarter", fab_show_money(page, usd),
                         fab_show_money(page, usd * first->ci95 / first->impact));
        }
    }
    for (size_t i = 1; i < v->n_first_causes; i++) {
        fab_page_say(page, "%s %s (%s)", i == 1 ? "; not told apart from" : " and", v->causes[i].name,
                     study_show_percent(page, v->causes[i].share));
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
}

void study_put_highest(fab_page *page, const fab_study_summary *s) {
    if (s->span_s > 0) {
        study_put_cause_highest(page, s);
    } else if (s->is_single) {
        study_put_single_highest(page, s);
    } else {
        study_put_clear_highest(page, s);
    }
}

/* --- by class ----------------------------------------------------------------------------------------------------- */

void study_put_causes(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    const fab_column columns[] = {
        COLUMN("class", text), COLUMN("failures", about), SHOWN("cost of one", study_show_percent),
        SHOWN("+-", study_show_percent),
        MARKED(clear_cause(v) != NULL ? "of what failures cost" : NULL, study_show_percent, FAB_INK_BOLD, -INFINITY)};
    if (v->n_causes == 0) {
        return;
    }
    fab_text_heading(page, "WHAT HURTS", "failures by what fails");
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    FAB_EACH(const fab_cause, c, v->causes, v->n_causes) {
        const double figures[] = {c->failures, c->impact, c->ci95, c->share};
        const char *mark = c->impact <= c->ci95 ? " ?" : c->is_even ? " =" : "";
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%s%s", c->name, mark), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, "failures: in a span, mean; cost: of the span, by least squares over the histories, none below "
                        "0, written checkpoints left out; +-: half of its 95 % interval, over histories and seeds of "
                        "paths; =: not told from the one above it; ?: nor from nothing");
}

static void study_put_single_classes(fab_page *page, const fab_study_summary *s, const fab_study_variant *v) {
    static const fab_column COLUMNS[] = {COLUMN("class", text),
                                         COLUMN("parts", whole),
                                         COLUMN("failed", whole),
                                         MARKED("job stops", fab_show_whole, FAB_INK_BAD, 0),
                                         SHOWN("impact", study_show_percent),
                                         SHOWN("worst", study_show_percent)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_critical_class, c, v->classes, v->n_classes) {
        const double figures[] = {(double)c->n_parts, (double)c->n_components, (double)c->n_stopping, c->impact,
                                  c->worst_impact};
        fab_table_row(&table, FAB_INK_PLAIN, c->name, figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "parts: of the fabric; failed: of them, in some scenario; job stops: at whose loss it does; "
                   "impact: %s, mean over those that failed; worst: of a part%s",
                   s->criterion,
                   s->n_seeds > 1
                       ? "; a part that the seeds do not tell from chance counts 0, so that the mean of many is low"
                       : "");
}

void study_put_classes(fab_page *page, const fab_study_summary *s) {
    static const fab_column COLUMNS[] = {COLUMN("class", text),
                                         COLUMN("parts", whole),
                                         COLUMN("failed", whole),
                                         COLUMN("scenarios", whole),
                                         MARKED("stops", fab_show_whole, FAB_INK_BAD, 0),
                                         COLUMN("impact  ", text),
                                         SHOWN("+-", study_show_percent),
                                         COLUMN("stand out", whole)};
    const fab_study_variant *v = shown(s);
    if (v->n_classes == 0 || s->span_s > 0) { /* in histories everything fails with everything */
        return;
    }
    fab_text_heading(page, "WHAT HURTS", "parts by what they are");
    if (s->is_single) {
        study_put_single_classes(page, s, v);
        return;
    }
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_critical_class, c, v->classes, v->n_classes) {
        const double figures[] = {(double)c->n_parts,   (double)c->n_components, (double)c->n_scenarios,
                                  (double)c->n_stopped, FAB_TABLE_BLANK,         c->ci95,
                                  (double)c->n_clear};
        fab_table_row(&table, FAB_INK_PLAIN, c->name, figures);
        fab_table_set(&table, 5, c->is_clear ? FAB_INK_BOLD : FAB_INK_PLAIN, "%s%s",
                      study_show_percent(page, c->impact), c->is_clear ? " *" : "  ");
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "parts: of the fabric; failed: of them, in the scenarios beside; stops: of those scenarios; impact: "
                   "of the loss of one, where the other parts of a scenario cost next to nothing alone, with half of "
                   "its 95 %% interval; * more than chance explains; stand out: parts of which that can be said; %s",
                   s->criterion);
}

/* --- by component ------------------------------------------------------------------------------------------------- */

static void study_add_critical(fab_table *table, const fab_study_summary *s, const fab_critical *c) {
    bool has_interval = !isnan(c->ci95) && c->ci95 > 0;
    const double figures[] = {c->impact,
                              (double)c->n_stopped,
                              s->has_times ? c->mean_slowdown : c->mean_ratio,
                              s->has_times ? c->worst_slowdown : c->worst_ratio,
                              (double)c->n_scenarios,
                              has_interval ? c->ci95 : NAN};
    fab_table_row(table, FAB_INK_PLAIN, c->name, figures);
    if (!has_interval) {
        fab_table_set(table, 6, FAB_INK_DIM, "-");
    }
}

/* Where more than fit have the same impact, a few of them, how many more, and those behind. */
static void study_put_list(fab_page *page, const fab_study_summary *s, const fab_ranking *r) {
    study_show *show = s->has_times ? study_show_factor : fab_show_about;
    const fab_column columns[] = {COLUMN("part", text),
                                  MARKED("impact", study_show_percent, FAB_INK_BOLD, -INFINITY),
                                  MARKED("stops", fab_show_whole, FAB_INK_BAD, 0),
                                  SHOWN("mean", show),
                                  SHOWN("worst", show),
                                  COLUMN(s->is_single ? NULL : "scenarios", whole),
                                  SHOWN(s->is_single ? NULL : "+-", study_show_percent)};
    size_t n = r->n;
    uint64_t more = 0;
    if (r->n_tied > 0) {
        size_t tied = 0; /* of the list */
        while (tied < r->n && r->list[r->n - 1 - tied].impact == r->list[r->n - 1].impact) {
            tied++;
        }
        n = r->n - tied + (tied < MOST_TIED ? tied : MOST_TIED);
        more = r->n_tied - (tied < MOST_TIED ? tied : MOST_TIED);
    }
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = 0; i < n; i++) {
        study_add_critical(&table, s, &r->list[i]);
    }
    if (more > 0) {
        fab_table_row(&table, FAB_INK_DIM, fab_show(page, "and %s more", fab_show_count(page, more)), NULL);
    }
    for (size_t i = 0; more > 0 && i < r->n_next && r->next[i].impact > FAB_SAME_FACTOR; i++) {
        study_add_critical(&table, s, &r->next[i]);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static bool is_link(const fab_critical *c) {
    return strcmp(c->kind, "link") == 0 || strcmp(c->kind, "port") == 0;
}

static bool has_others(const fab_ranking *r) {
    FAB_ANY(found, i, r->n, !is_link(&r->list[i]));
    return found;
}

void study_put_critical(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    if (v->critical.n == 0) {
        return;
    }
    fab_text_heading(page, has_others(&v->critical) ? "CRITICAL PARTS" : "CRITICAL LINKS",
                     s->is_single ? "by impact, then by name" : "that stand out, by impact, then by name");
    study_put_list(page, s, &v->critical);
    if (has_others(&v->critical) && v->links.n > 0 && s->span_s <= 0) {
        fab_text_heading(page, "LINKS", "by impact, then by name");
        study_put_list(page, s, &v->links);
    }
    fab_text_notef(page, "%s; mean, worst: %s, where the job runs%s",
                   s->is_single    ? "impact: of its loss"
                   : s->span_s > 0 ? "impact: mean over the histories in which it fails"
                                   : "impact: mean over the scenarios in which the others cost next to nothing alone",
                   s->has_times ? "slowdown" : "load of the fullest link",
                   s->is_single ? "" : "; +-: half of the 95 % interval of the impact");
}

/* Whether something that is shown makes the job faster. */
static bool has_gain(const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    bool gains = v->impact < -FAB_SAME_FACTOR;
    for (size_t i = 0; i < v->n_classes && s->span_s <= 0; i++) {
        const fab_critical_class *c = &v->classes[i];
        gains = gains || c->impact < -FAB_SAME_FACTOR || c->worst_impact < -FAB_SAME_FACTOR;
    }
    for (size_t i = 0; i < v->critical.n; i++) {
        gains = gains || v->critical.list[i].impact < -FAB_SAME_FACTOR;
    }
    for (size_t i = 0; i < s->n_variants && s->choices != NULL; i++) {
        gains = gains || s->variants[i].impact < -FAB_SAME_FACTOR;
    }
    return gains;
}

void study_put_gains(fab_page *page, const fab_study_summary *s) {
    if (has_gain(s)) {
        fab_text_note(page, "impact below 0: the job runs faster than where nothing failed. " FAB_TEXT_RELIEF);
    }
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

static const char *study_show_way(fab_page *page, const fab_rollout *r) {
    return fab_show(page, "%" PRIu32 " at a time%s", r->at_a_time,
                    r->n_steps == 1 || r->at_a_time == 1 ? ""
                    : r->is_spread                       ? ", far apart"
                                                         : ", side by side");
}

static const char *study_show_steps(fab_page *page, double steps) {
    return isnan(steps) ? "-" : fab_show(page, "%.3g", steps);
}

void study_put_rollouts(fab_page *page, const fab_study_summary *s) {
    static const fab_column COLUMNS[] = {
        COLUMN("switches", text), COLUMN("steps", whole), MARKED("stops", fab_show_whole, FAB_INK_BAD, 0),
        MARKED("lost", study_show_steps, FAB_INK_BOLD, -INFINITY), SHOWN("worst", study_show_percent)};
    const fab_study_variant *v = shown(s);
    if (v->n_rollouts == 0) {
        return;
    }
    fab_text_heading(page, "ROLLING UPDATE", "by how many switches are down at a time");
    const fab_rollout *best = v->rollouts;
    if (!isnan(best->lost)) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "%s costs least: %s in which the job loses %s times the work of one.",
                       study_show_way(page, best), fab_show_counted(page, best->n_steps, "step", "steps"),
                       study_show_steps(page, fmax(best->lost, 0)));
    }
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_rollout, r, v->rollouts, v->n_rollouts) {
        const double figures[] = {(double)r->n_steps, (double)r->n_stopped, r->lost, r->worst};
        fab_table_row(&table, FAB_INK_PLAIN, study_show_way(page, r), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, "steps: each takes as long, and its switches are back before the next ones leave, so that "
                        "their order changes nothing; stops: steps in which the job stands; lost: work of the job, in "
                        "times of a step; worst: impact of a step");
}

/* --- by scenario -------------------------------------------------------------------------------------------------- */

static void study_put_case(fab_page *page, const fab_study_summary *s, const fab_study_case *c) {
    bool is_history = s->span_s > 0;
    double figure = is_history ? c->goodput : s->has_times ? c->slowdown : c->worst_ratio;
    fab_page_right(page, c->is_stopped ? FAB_INK_BAD : FAB_INK_BOLD, 10,
                   c->is_stopped && !is_history ? "stops" : study_figure(s)(page, figure));
    fab_page_right(page, FAB_INK_DIM, 21, fab_show(page, "#%" PRIu64, c->scenario));
    const bool names_all = c->name[0] != '\0' && c->n_failed > MOST_NAMED; /* an event, which says what it takes */
    fab_page_say(page, "%s%s%s", c->name, c->name[0] != '\0' && !names_all ? ": " : "",
                 names_all              ? ""
                 : c->failed[0] != '\0' ? c->failed
                                        : "nothing fails");
    if (c->n_disconnected > 0) {
        fab_page_say(page, "; %s cut off", fab_show_counted(page, c->n_disconnected, "flow", "flows"));
    }
    if (c->n_equal > 1) {
        fab_page_say(page, "; %s end the same", fab_show_counted(page, c->n_equal, "scenario", "scenarios"));
    }
    if (c->n_moved > 0) {
        fab_page_say(page, "; %s moved", fab_show_counted(page, c->n_moved, "server", "servers"));
    }
    if (is_history) {
        fab_page_say(page, "; %s", fab_show_counted(page, c->n_stops, "stop", "stops"));
    } else if (c->fullest[0] != '\0' && !c->is_stopped) {
        fab_page_say(page, "; fullest %s at %.3g", c->fullest, c->worst_ratio);
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 23, 23);
}

void study_put_cases(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    size_t n = v->n_worst;
    while (n > 0 && v->worst[n - 1].impact <= FAB_SAME_FACTOR) {
        n--; /* costs nothing */
    }
    if (n > 0) {
        fab_text_heading(page, "WORST SCENARIOS", s->span_s > 0 ? "least goodput" : "of those in which the job runs");
        size_t alike = 0;
        for (size_t i = 0; i < n; i++) { /* few of those that have the same impact, where that is all there is to see */
            alike = i > 0 && v->worst[i].impact == v->worst[i - 1].impact ? alike + 1 : 0;
            if (alike < MOST_TIED || !s->is_single || v->worst[i].name[0] != '\0') {
                study_put_case(page, s, &v->worst[i]);
            }
        }
    }
    if (v->n_stopped_shown > 0 && (!s->is_single || v->stopped->name[0] != '\0')) { /* single parts stand above */
        FAB_SUM(uint64_t, n_alike, i, v->n_stopped_shown, s->n_looked_at > 0 ? v->stopped[i].n_equal : 1);
        fab_text_heading(page, "SCENARIOS THAT STOP THE JOB",
                         v->n_stopped == n_alike ? s->n_looked_at > 0 ? "one of each class" : "all of them"
                                                 : fab_show(page, "the first %zu of %s", v->n_stopped_shown,
                                                            fab_show_count(page, v->n_stopped)));
        for (size_t i = 0; i < v->n_stopped_shown; i++) {
            study_put_case(page, s, &v->stopped[i]);
        }
    }
}

/* --- ways into the network ---------------------------------------------------------------------------------------- */

static void study_put_access(fab_page *page, const fab_study_summary *s, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    const fab_access_loss *a = &v->access;
    const char *all = fab_show_counted(page, a->n, "scenario", "scenarios");
    fab_page_say(page, "[%zu] %.*s, %s: ", variant + 1, (int)strcspn(v->engine, ","), v->engine, v->policy);
    if (a->n_stopped == 0) {
        fab_page_say(page, "the job runs in all %s", all);
    } else {
        fab_page_say(page, "the job stops in %s of %s", fab_show_count(page, a->n_stopped), all);
    }
    if (!isnan(a->mean_slowdown)) {
        fab_page_say(page, "%s, %s on average, %s at worst", a->n_stopped > 0 ? "; in the others" : "",
                     study_show_factor(page, a->mean_slowdown), study_show_factor(page, a->worst_slowdown));
    }
    fab_page_paragraph(page, a->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_GOOD, 4, 8);
}

void study_put_homing(fab_page *page, const fab_study_summary *s) {
    const fab_homing *h = &s->homing;
    if (!s->has_homing) {
        return;
    }
    fab_text_heading(page, "WAYS INTO THE NETWORK", h->switches_per_nic > 1 ? "several per NIC" : "one per NIC");
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 2,
        "A server has %" PRIu32 " link%s, and a NIC %" PRIu32 " port%s to %" PRIu32
        " switch%s: %s. One link is 1/%.3g of the server's bandwidth (%s). Where it is lost and nothing else:",
        h->links_per_server, fab_plural(h->links_per_server), h->ports_per_nic, fab_plural(h->ports_per_nic),
        h->switches_per_nic, h->switches_per_nic == 1 ? "" : "es",
        h->switches_per_nic == 1   ? "single-homed"
        : h->switches_per_nic == 2 ? "dual-homed"
                                   : "multi-homed",
        1 / h->lost_ratio, study_show_percent(page, h->lost_ratio));
    for (size_t i = 0; i < s->n_variants; i++) {
        study_put_access(page, s, i);
    }
}
