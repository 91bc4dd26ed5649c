/**
 * @file text_study.h
 * Inside of text_study*.c.
 */
#ifndef FAB_TEXT_STUDY_H
#define FAB_TEXT_STUDY_H

#include "fab/study_summary.h"
#include "text_sections.h"

#define STUDY_TEXT 48

/** "x1.018", "x12.3"; "stops" where the damage is whole. Holds STUDY_TEXT bytes. Returns out. */
const char *study_factor(char *out, double factor);

/** The factor of a damage. */
const char *study_damage(char *out, double damage);

/** "0.12 %", of a ratio. */
const char *study_percent(char *out, double ratio);

/** "12", "1,234": with 's' behind `what` where it is not 1. */
const char *study_count(char *out, uint64_t n, const char *what);

/** Causes of histories, kinds of components, components and links by damage, scenarios that stand out, ways into the
 * network. */
void study_put_causes(fab_page *page, const fab_study_summary *s);
void study_put_classes(fab_page *page, const fab_study_summary *s);
void study_put_critical(fab_page *page, const fab_study_summary *s);
void study_put_cases(fab_page *page, const fab_study_summary *s);
void study_put_homing(fab_page *page, const fab_study_summary *s);

/** One sentence: what to fear. */
void study_put_fear(fab_page *page, const fab_study_summary *s);

#endif
