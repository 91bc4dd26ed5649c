/* Text report: what is wrong with an installed fabric. */
#include "fab/audit.h"
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOWN 60 /* findings; all of them are in JSON and CSV */

static void put_kinds(fab_page *page, const fab_audit *a) {
    static const char *const HEADINGS[] = {"finding", "how many", "cables", "capacity"};
    fab_table table;
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    for (uint32_t kind = 0; kind < FAB_FINDING_N; kind++) {
        uint32_t n = 0;
        uint32_t cables = 0;
        double damage = 0;
        for (uint32_t i = 0; i < a->n_findings; i++) {
            if (a->findings[i].kind == kind) {
                n++;
                cables += a->findings[i].cables;
                damage += a->findings[i].damage_bps;
            }
        }
        if (n > 0) {
            char rate[32];
            fab_table_row(&table);
            fab_table_set(&table, 0, FAB_INK_PLAIN, "%s", fab_finding_kinds[kind]);
            fab_table_set(&table, 1, FAB_INK_PLAIN, "%" PRIu32, n);
            fab_table_set(&table, 2, FAB_INK_PLAIN, "%" PRIu32, cables);
            fab_table_set(&table, 3, FAB_INK_PLAIN, "%s",
                          damage > 0 ? fab_quantity_format(rate, damage, FAB_UNIT_RATE) : "-");
        }
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

static void put_finding(fab_page *page, uint32_t number, const fab_finding *f) {
    char rate[32];
    char place[256];
    bool far = f->other[0] != '\0';
    (void)snprintf(place, sizeof place, "%.80s%s%.30s%s%.80s%s%.30s", f->node, f->port[0] != '\0' ? ":" : "", f->port,
                   far ? " - " : "", f->other, f->other_port[0] != '\0' ? ":" : "", f->other_port);
    fab_page_wrapf(page, FAB_INK_BAD, 2, 6, "%" PRIu32 ". %s%s%s  %s", number, fab_finding_kinds[f->kind],
                   f->damage_bps > 0 ? ", " : "",
                   f->damage_bps > 0 ? fab_quantity_format(rate, f->damage_bps, FAB_UNIT_RATE) : "", place);
    if (f->line > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s (line %zu)", f->text, f->line);
    } else {
        fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s", f->text);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 6, 6, "%s", f->work);
}

static void put_bisection(fab_page *page, const fab_audit_bisection *b) {
    char present[32];
    char planned[32];
    char lost[32];
    double lost_bps = fab_audit_bisection_lost(b);
    if (b->is_known) {
        (void)fab_quantity_format(present, b->present_bps, FAB_UNIT_RATE);
    }
    if (!b->is_known) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "bisection: not known; %s", b->why);
    } else if (!b->knows_planned) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "bisection: %s; what is lost is not known: %s", present, b->why);
    } else if (lost_bps > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2, "bisection: %s of %s; lost %s (%.4g %%)", present,
                       fab_quantity_format(planned, b->planned_bps, FAB_UNIT_RATE),
                       fab_quantity_format(lost, lost_bps, FAB_UNIT_RATE), 100 * lost_bps / b->planned_bps);
    } else {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "bisection: %s of %s", present,
                       fab_quantity_format(planned, b->planned_bps, FAB_UNIT_RATE));
    }
}

void fab_text_audit(fab_page *page, const char *path, const fab_audit *a) {
    uint32_t planned = 0;
    uint32_t present = 0;
    fab_page_wrapf(page, FAB_INK_BOLD, 0, 2, "%s: %" PRIu32 " finding%s", path, a->n_findings,
                   a->n_findings == 1 ? "" : "s");
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "%" PRIu32 " host%s known by name, %" PRIu32 " adapter%s, %" PRIu32 " switch%s in %" PRIu32
                   " tier%s%s",
                   a->n_servers, a->n_servers == 1 ? "" : "s", a->n_hosts, a->n_hosts == 1 ? "" : "s", a->n_switches,
                   a->n_switches == 1 ? "" : "es", a->n_boundaries, a->n_boundaries == 1 ? "" : "s",
                   a->has_rails ? ", rail-optimised" : "");
    if (a->n_services > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%" PRIu32 " aggregation node%s inside switches %s no host%s",
                       a->n_services, a->n_services == 1 ? "" : "s", a->n_services == 1 ? "is" : "are",
                       a->n_services == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < a->n_boundaries; i++) {
        planned = a->boundary[i].planned;
        present = a->boundary[i].present;
        if (planned > 0) {
            fab_page_wrapf(page, present < planned ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2,
                           "%s: %" PRIu32 " of %" PRIu32 " cables (%.4g %%)",
                           fab_boundary_name(FAB_WIRING_TREE, a->boundary[i].tier), present, planned,
                           100.0 * present / planned);
        }
    }
    put_bisection(page, &a->bisection);
    if (a->n_findings == 0) {
        fab_page_wrapf(page, FAB_INK_GOOD, 2, 2, "Nothing departs from the structure.");
        return;
    }
    fab_text_heading(page, "SUMMARY", NULL);
    put_kinds(page, a);
    fab_text_heading(page, "WORK", "worst first");
    for (uint32_t i = 0; i < a->n_findings && i < SHOWN; i++) {
        put_finding(page, i + 1, &a->findings[i]);
    }
    if (a->n_findings > SHOWN) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "... and %" PRIu32 " more: --format csv has all of them",
                       a->n_findings - SHOWN);
    }
}
