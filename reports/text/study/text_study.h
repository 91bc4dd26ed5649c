/** Inside of text_study*.c. */
#pragma once

#include "fab/study_summary.h"
#include "text/text_sections.h"

/** "x1.018", "x12.3"; "stops" where it is infinite. */
const char *study_show_factor(fab_page *page, double factor);

/** "0.12 %", of a ratio. */
const char *study_show_percent(fab_page *page, double ratio);

/** What failures cost in a quarter: "$276.8k +- $159.2k", the interval where it is a tenth of it and more. */
const char *study_show_quarter(fab_page *page, const fab_study_variant *v);

/** "90 days", "12 hours" */
const char *study_show_span(fab_page *page, double span_s);

/** How the figures of this study look that times, loads or the goodput are told by: one of the above, or plain. */
typedef const char *study_show(fab_page *page, double figure);
study_show *study_figure(const fab_study_summary *s);

/** By which rule sizes that are open were chosen, where there are several engines. */
#define STUDY_ONE_PLAN                                                                                                 \
    ": one plan for all engines, where sizes are open the fastest; under one --engine alone it is that of which "      \
    "failures leave most"

/** What most of the time goes to that failures take: ", 80 % of it by slower iterations". */
const char *study_main_loss(fab_page *page, const fab_study_summary *s, const fab_study_variant *v);

/** Of the variant that does best, another that its histories do not tell from it, or nothing. */
const char *study_even(fab_page *page, const fab_study_summary *s);

/** Causes of histories, kinds of components, components and links by impact, scenarios that stand out, ways into the
 * network. */
void study_put_causes(fab_page *page, const fab_study_summary *s);
void study_put_classes(fab_page *page, const fab_study_summary *s);
void study_put_critical(fab_page *page, const fab_study_summary *s);
void study_put_cases(fab_page *page, const fab_study_summary *s);
void study_put_homing(fab_page *page, const fab_study_summary *s);

/** Ways to roll an update through a tier, where scenarios are its steps. */
void study_put_rollouts(fab_page *page, const fab_study_summary *s);

/** Why failures may make a job faster, where they do. */
void study_put_gains(fab_page *page, const fab_study_summary *s);

/** One sentence: what has the highest impact. */
void study_put_highest(fab_page *page, const fab_study_summary *s);
