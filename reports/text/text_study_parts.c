/* Text report of a study: which parts hurt, which scenarios stand out, and how servers are joined to the network. */
#include "text_study.h"
#include "fab/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_TIED 3    /* of parts that do the same damage */
#define LITTLE    1e-3 /* damage that nobody notices */

static const fab_study_variant *shown(const fab_study_summary *s) {
    return &s->variants[s->shown];
}

/* --- what to fear ------------------------------------------------------------------------------------------------- */

/* What a component's damage means: "the job stops", "x1.31", "12 % is lost". */
static const char *consequence(char *out, const fab_study_summary *s, double damage) {
    char a[STUDY_TEXT];
    if (damage >= 1 - FAB_SAME_FACTOR && s->span_s <= 0) {
        (void)snprintf(out, STUDY_TEXT, "the job stops");
    } else if (s->is_single && s->has_times && s->span_s <= 0) {
        (void)snprintf(out, STUDY_TEXT, "%s", study_damage(a, damage));
    } else {
        (void)snprintf(out, STUDY_TEXT, "%s is lost", study_percent(a, damage));
    }
    return out;
}

/* The class of components whose worst does most damage, below a limit; NULL: none is left that does any. */
static const fab_critical_class *worst_class(const fab_study_variant *v, double below) {
    const fab_critical_class *worst = NULL;
    for (size_t i = 0; i < v->n_classes; i++) {
        const fab_critical_class *c = &v->classes[i];
        if (c->worst_damage < below && c->worst_damage > FAB_SAME_FACTOR &&
            (worst == NULL || c->worst_damage > worst->worst_damage)) {
            worst = c;
        }
    }
    return worst;
}

/* "any of 24,576 nic-leaf links", "leaf-3 and 2 more of 48 leaf switches", "leaf-3" */
static void name_worst(char *out, size_t size, const fab_critical_class *c) {
    char a[32];
    char b[32];
    if (c->n_components == 1) {
        (void)snprintf(out, size, "%s", c->worst);
    } else if (c->n_worst == c->n_components) {
        (void)snprintf(out, size, "any of the %s %s", fab_format_count(a, c->n_components), c->name);
    } else if (c->n_worst == 1) {
        (void)snprintf(out, size, "%s of the %s %s", c->worst, fab_format_count(b, c->n_components), c->name);
    } else {
        (void)snprintf(out, size, "%s of the %s %s, such as %s", fab_format_count(a, c->n_worst),
                       fab_format_count(b, c->n_components), c->name, c->worst);
    }
}

/* Of single losses: the class with the worst, and the one behind. */
static void put_single_fear(fab_page *page, const fab_study_summary *s) {
    const fab_critical_class *first = worst_class(shown(s), INFINITY);
    const fab_critical_class *second = first != NULL ? worst_class(shown(s), first->worst_damage) : NULL;
    char name[FAB_COMPONENT_TEXT + 192];
    char what[STUDY_TEXT];
    char text[1024];
    if (first == NULL) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 2, "Nothing to fear: no loss that was looked at costs anything.");
        return;
    }
    name_worst(name, sizeof name, first);
    if (first->worst_damage < LITTLE) {
        fab_page_wrapf(page, FAB_INK_GOOD, 2, 2, "Little to fear: the worst, %s, takes %s of the speed.", name,
                       study_percent(what, first->worst_damage));
        return;
    }
    int n = snprintf(text, sizeof text, "Fear most: %s (%s)", name, consequence(what, s, first->worst_damage));
    if (second != NULL && second->worst_damage >= LITTLE && n > 0 && (size_t)n < sizeof text) {
        name_worst(name, sizeof name, second);
        (void)snprintf(text + n, sizeof text - (size_t)n, "; then %s (%s)", name,
                       consequence(what, s, second->worst_damage));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s.", text);
}

static uint64_t n_clear(const fab_study_variant *v) {
    uint64_t n = 0;
    for (size_t i = 0; i < v->n_classes; i++) {
        n += v->classes[i].n_clear;
    }
    return n;
}

/* The class of components that stands out most, as such. */
static const fab_critical_class *clear_class(const fab_study_variant *v) {
    for (size_t i = 0; i < v->n_classes; i++) {
        if (v->classes[i].is_clear) {
            return &v->classes[i]; /* most damage first */
        }
    }
    return NULL;
}

/* Of larger sets: classes and parts that stand out from the mean, if any do. */
static void put_clear_fear(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    const fab_critical_class *c = clear_class(v);
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    char d[32];
    char class[160] = "";
    char part[FAB_COMPONENT_TEXT + 256] = "";
    if (c != NULL && c->n_stopped == c->n_scenarios) {
        (void)snprintf(class, sizeof class, "%s: the job stops wherever one fails", c->name);
    } else if (c != NULL) {
        (void)snprintf(class, sizeof class, "%s: where some fail, %s is lost", c->name,
                       study_percent(a, c->scenario_damage));
    }
    if (v->clear.n > 0) {
        (void)snprintf(part, sizeof part, "%s: where it fails, %s is lost; so %s of %s stand%s out",
                       v->clear.list[0].name, study_percent(a, v->clear.list[0].damage),
                       fab_format_count(d, n_clear(v)), study_count(b, s->n_components, "part"),
                       n_clear(v) == 1 ? "s" : "");
    }
    if (c == NULL && v->clear.n == 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "Nothing stands out: as far as so many scenarios tell, each of %s does the mean damage, %s.",
                       study_count(a, s->n_components, "part"), study_percent(b, v->damage));
        return;
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Fear most: %s%s%s (mean of all scenarios: %s).", class,
                   c != NULL && v->clear.n > 0 ? "; of single parts " : "", part, study_percent(a, v->damage));
}

/* Of histories: the classes of failures that take most. */
static void put_cause_fear(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    char c[STUDY_TEXT];
    char rest[128] = "";
    if (v->n_causes == 0) {
        return;
    }
    const fab_cause *first = &v->causes[0];
    if (v->n_causes > 1 && v->causes[1].share > 0) {
        (void)snprintf(rest, sizeof rest, "; then %s (%s)", v->causes[1].name, study_percent(c, v->causes[1].share));
    }
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 2,
        "Fear most: %s; %.3g of them fail, which costs %s of the span each and makes %s of all that is lost%s.",
        first->name, first->failures, study_percent(a, first->damage), study_percent(b, first->share), rest);
}

void study_put_fear(fab_page *page, const fab_study_summary *s) {
    if (s->span_s > 0) {
        put_cause_fear(page, s);
    } else if (s->is_single) {
        put_single_fear(page, s);
    } else {
        put_clear_fear(page, s);
    }
}

/* --- by class ----------------------------------------------------------------------------------------------------- */

void study_put_causes(fab_page *page, const fab_study_summary *s) {
    static const char *const TITLES[] = {"class", "failures", "cost of one", "+-", "of all that is lost"};
    const fab_study_variant *v = shown(s);
    fab_table table;
    char a[STUDY_TEXT];
    if (v->n_causes == 0) {
        return;
    }
    fab_text_heading(page, "WHAT HURTS", "failures by what fails");
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    for (size_t i = 0; i < v->n_causes; i++) {
        const fab_cause *c = &v->causes[i];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%s", c->name);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%.3g", c->failures);
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", study_percent(a, c->damage));
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%s", study_percent(a, c->ci95));
        fab_table_set(&table, 4, FAB_INK_BOLD, "%s", study_percent(a, c->share));
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "failures: in a span, mean; cost: of the span, by least squares over the histories; +-: half of its "
                  "95 % interval");
}

static void put_class(fab_table *table, const fab_study_summary *s, const fab_critical_class *c) {
    char a[STUDY_TEXT];
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "%.40s", c->name);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_components));
    if (s->is_single) {
        fab_table_set(table, 2, c->n_stopping > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s",
                      fab_format_count(a, c->n_stopping));
        fab_table_set(table, 3, FAB_INK_PLAIN, "%s", study_percent(a, c->damage));
        fab_table_set(table, 4, FAB_INK_PLAIN, "%s", study_percent(a, c->worst_damage));
        return;
    }
    fab_table_set(table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_scenarios));
    fab_table_set(table, 3, c->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_stopped));
    fab_table_set(table, 4, c->is_clear ? FAB_INK_BOLD : FAB_INK_PLAIN, "%s%s", study_percent(a, c->scenario_damage),
                  c->is_clear ? " *" : "  ");
    fab_table_set(table, 5, FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_clear));
}

void study_put_classes(fab_page *page, const fab_study_summary *s) {
    static const char *const SINGLE[] = {"class", "failed", "job stops", "damage", "worst"};
    static const char *const SEVERAL[] = {"class", "failed", "scenarios", "stops", "damage  ", "stand out"};
    const fab_study_variant *v = shown(s);
    fab_table table;
    if (v->n_classes == 0 || s->span_s > 0) { /* in histories everything fails with everything */
        return;
    }
    fab_text_heading(page, "WHAT HURTS", "parts by what they are");
    if (s->is_single) {
        fab_table_begin(&table, SINGLE, sizeof SINGLE / sizeof SINGLE[0]);
    } else {
        fab_table_begin(&table, SEVERAL, sizeof SEVERAL / sizeof SEVERAL[0]);
    }
    for (size_t i = 0; i < v->n_classes; i++) {
        put_class(&table, s, &v->classes[i]);
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    if (s->is_single) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2,
                       "failed: different ones; job stops: of them, at whose loss it does; damage: %s, mean over the "
                       "parts; worst: of a part",
                       s->criterion);
    } else {
        fab_page_wrapf(
            page, FAB_INK_DIM, 2, 2,
            "failed: different ones, in the scenarios beside them; stops: of those scenarios; damage: %s, mean "
            "over them, * clearly above the mean of all scenarios; stand out: parts that are clearly above it",
            s->criterion);
    }
}

/* --- by component ------------------------------------------------------------------------------------------------- */

static void set_interval(fab_table *table, size_t column, const fab_critical *c) {
    char a[STUDY_TEXT];
    if (isnan(c->ci95) || c->ci95 <= 0) {
        fab_table_set(table, column, FAB_INK_DIM, "-");
    } else {
        fab_table_set(table, column, FAB_INK_PLAIN, "%s", study_percent(a, c->ci95));
    }
}

static void set_critical(fab_table *table, const fab_study_summary *s, const fab_critical *c) {
    char a[STUDY_TEXT];
    const double figures[] = {s->has_times ? c->mean_slowdown : c->mean_ratio,
                              s->has_times ? c->worst_slowdown : c->worst_ratio};
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "%s", c->name);
    fab_table_set(table, 1, FAB_INK_BOLD, "%s", study_percent(a, c->damage));
    fab_table_set(table, 2, c->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_stopped));
    for (size_t k = 0; k < 2; k++) {
        if (s->has_times) {
            fab_table_set(table, 3 + k, FAB_INK_PLAIN, "%s", study_factor(a, figures[k]));
        } else {
            fab_table_set(table, 3 + k, FAB_INK_PLAIN, isnan(figures[k]) ? "-" : "%.3g", figures[k]);
        }
    }
    if (!s->is_single) {
        fab_table_set(table, 5, FAB_INK_PLAIN, "%s", fab_format_count(a, c->n_scenarios));
        set_interval(table, 6, c);
    }
}

/* Where more than fit do the same damage, a few of them, how many more, and those behind. */
static void put_list(fab_page *page, const fab_study_summary *s, const fab_ranking *r) {
    static const char *const TITLES[] = {"part", "damage", "stops", "mean", "worst", "scenarios", "+-"};
    fab_table table;
    char a[STUDY_TEXT];
    size_t n_behind = s->is_single ? 5 : 7;
    size_t n = r->n;
    uint64_t more = 0;
    fab_table_begin(&table, TITLES, n_behind);
    if (r->n_tied > 0) {
        size_t tied = 0; /* of the list */
        while (tied < r->n && r->list[r->n - 1 - tied].damage == r->list[r->n - 1].damage) {
            tied++;
        }
        n = r->n - tied + (tied < MOST_TIED ? tied : MOST_TIED);
        more = r->n_tied - (tied < MOST_TIED ? tied : MOST_TIED);
    }
    for (size_t i = 0; i < n; i++) {
        set_critical(&table, s, &r->list[i]);
    }
    if (more > 0) {
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_DIM, "and %s more", fab_format_count(a, more));
    }
    for (size_t i = 0; more > 0 && i < r->n_next && r->next[i].damage > FAB_SAME_FACTOR; i++) {
        set_critical(&table, s, &r->next[i]);
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

static bool is_link(const fab_critical *c) {
    return strcmp(c->kind, "link") == 0 || strcmp(c->kind, "port") == 0;
}

static bool has_others(const fab_ranking *r) {
    for (size_t i = 0; i < r->n; i++) {
        if (!is_link(&r->list[i])) {
            return true;
        }
    }
    return false;
}

static bool are_clear(const fab_ranking *r) {
    size_t i = 0;
    while (i < r->n && r->list[i].is_clear) {
        i++;
    }
    return i == r->n;
}

/* Of larger sets the parts that stand out come first: one that failed in few scenarios has the damage of its company.
 */
static void put_rankings(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    if (s->is_single) {
        fab_text_heading(page, has_others(&v->critical) ? "CRITICAL PARTS" : "CRITICAL LINKS",
                         "by damage, then by name");
        put_list(page, s, &v->critical);
        return;
    }
    if (v->clear.n > 0) {
        fab_text_heading(page, has_others(&v->clear) ? "CRITICAL PARTS" : "CRITICAL LINKS",
                         "that stand out, by damage, then by name");
        put_list(page, s, &v->clear);
    }
    if (!are_clear(&v->critical) && s->span_s <= 0) { /* in histories chance has it all */
        fab_text_heading(page, "ALL PARTS", "by damage: those with few scenarios may stand here by chance");
        put_list(page, s, &v->critical);
    }
}

void study_put_critical(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    if (v->critical.n == 0 || (s->span_s > 0 && v->clear.n == 0)) {
        return;
    }
    put_rankings(page, s);
    if (has_others(&v->critical) && v->links.n > 0 && s->span_s <= 0) {
        fab_text_heading(page, "LINKS", "by damage, then by name");
        put_list(page, s, &v->links);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "%s; mean, worst: %s, where the job runs%s",
                   s->is_single ? "damage: of its loss"
                                : "damage: mean over the scenarios in which it fails, alone or with others",
                   s->has_times ? "slowdown" : "load of the fullest link",
                   s->is_single ? "" : "; +-: half of the 95 % interval of the damage");
}

/* --- by scenario -------------------------------------------------------------------------------------------------- */

static void put_case(fab_page *page, const fab_study_summary *s, const fab_study_case *c) {
    char text[FAB_CASE_TEXT + FAB_COMPONENT_TEXT + 320];
    char a[STUDY_TEXT];
    char number[32];
    size_t n = 0;
    if (c->is_stopped && s->span_s <= 0) {
        (void)snprintf(a, sizeof a, "stops");
    } else if (s->span_s > 0) {
        (void)snprintf(a, sizeof a, "%.2f %%", 100 * c->goodput);
    } else if (s->has_times) {
        (void)study_factor(a, c->slowdown);
    } else {
        (void)snprintf(a, sizeof a, "%.3g", c->worst_ratio);
    }
    fab_page_right(page, c->is_stopped ? FAB_INK_BAD : FAB_INK_BOLD, 10, a);
    (void)snprintf(number, sizeof number, "#%" PRIu64, c->scenario);
    fab_page_right(page, FAB_INK_DIM, 21, number);
    n += (size_t)snprintf(text, sizeof text, "%s%s%s", c->name, c->name[0] != '\0' ? ": " : "",
                          c->failed[0] != '\0' ? c->failed : "nothing fails");
    if (c->n_disconnected > 0) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; %s cut off", study_count(a, c->n_disconnected, "flow"));
    }
    if (c->n_moved > 0) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; %s moved", study_count(a, c->n_moved, "server"));
    }
    if (s->span_s > 0) {
        (void)snprintf(text + n, sizeof text - n, "; %s", study_count(a, c->n_stops, "stop"));
    } else if (c->fullest[0] != '\0' && !c->is_stopped) {
        (void)snprintf(text + n, sizeof text - n, "; fullest %s at %.3g", c->fullest, c->worst_ratio);
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 23, 23, text);
}

void study_put_cases(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = shown(s);
    size_t n = v->n_worst;
    while (n > 0 && v->worst[n - 1].damage <= FAB_SAME_FACTOR) {
        n--; /* costs nothing */
    }
    if (n > 0) {
        fab_text_heading(page, "WORST SCENARIOS", s->span_s > 0 ? "least goodput" : "of those in which the job runs");
        size_t alike = 0;
        for (size_t i = 0; i < n; i++) { /* few of those that do the same damage, where that is all there is to see */
            alike = i > 0 && v->worst[i].damage == v->worst[i - 1].damage ? alike + 1 : 0;
            if (alike < MOST_TIED || !s->is_single) {
                put_case(page, s, &v->worst[i]);
            }
        }
    }
    if (v->n_stopped_shown > 0 && !s->is_single) { /* of single parts they stand above */
        char a[STUDY_TEXT];
        char remark[96];
        (void)snprintf(remark, sizeof remark, "the first %zu of %s", v->n_stopped_shown,
                       fab_format_count(a, v->n_stopped));
        fab_text_heading(page, "SCENARIOS THAT STOP THE JOB",
                         v->n_stopped > v->n_stopped_shown ? remark : "all of them");
        for (size_t i = 0; i < v->n_stopped_shown; i++) {
            put_case(page, s, &v->stopped[i]);
        }
    }
}

/* --- ways into the network ---------------------------------------------------------------------------------------- */

static void put_access(fab_page *page, const fab_study_summary *s, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    const fab_access_loss *a = &v->access;
    char what[96];
    char runs[128] = "";
    char x[STUDY_TEXT];
    char y[STUDY_TEXT];
    if (a->n_stopped == 0) {
        (void)snprintf(what, sizeof what, "the job runs in all %s", study_count(x, a->n, "scenario"));
    } else {
        (void)snprintf(what, sizeof what, "the job stops in %s of %s", fab_format_count(x, a->n_stopped),
                       study_count(y, a->n, "scenario"));
    }
    if (!isnan(a->mean_slowdown)) {
        (void)snprintf(runs, sizeof runs, "%s, %s on average, %s at worst", a->n_stopped > 0 ? "; in the others" : "",
                       study_factor(x, a->mean_slowdown), study_factor(y, a->worst_slowdown));
    }
    fab_page_wrapf(page, a->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_GOOD, 4, 8, "[%zu] %.*s, %s: %s%s", variant + 1,
                   (int)strcspn(v->engine, ","), v->engine, v->policy, what, runs);
}

void study_put_homing(fab_page *page, const fab_study_summary *s) {
    const fab_homing *h = &s->homing;
    char a[STUDY_TEXT];
    if (!s->has_homing) {
        return;
    }
    fab_text_heading(page, "WAYS INTO THE NETWORK", h->switches_per_nic > 1 ? "several per NIC" : "one per NIC");
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "A server has %" PRIu32 " link%s, and a NIC %" PRIu32 " port%s to %" PRIu32
                   " switch%s: %s. One link "
                   "is 1/%.3g of the server's bandwidth (%s). Where it is lost and nothing else:",
                   h->links_per_server, h->links_per_server == 1 ? "" : "s", h->ports_per_nic,
                   h->ports_per_nic == 1 ? "" : "s", h->switches_per_nic, h->switches_per_nic == 1 ? "" : "es",
                   h->switches_per_nic == 1   ? "single-homed"
                   : h->switches_per_nic == 2 ? "dual-homed"
                                              : "multi-homed",
                   1 / h->lost_ratio, study_percent(a, h->lost_ratio));
    for (size_t i = 0; i < s->n_variants; i++) {
        put_access(page, s, i);
    }
}
