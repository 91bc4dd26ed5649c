/* Text report: what is wrong with an installed fabric. */
#include "fab/audit.h"
#include "text_sections.h"

#include <inttypes.h>

#define MOST_SHOWN 60 /* findings; all of them are in JSON and CSV */

static void audit_put_kinds(fab_page *page, const fab_audit *a) {
    static const fab_column COLUMNS[] = {COLUMN("finding", text), COLUMN("how many", integer),
                                         COLUMN("cables", integer), COLUMN("capacity", rate)};
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (uint32_t kind = 0; kind < FAB_FINDING_N; kind++) {
        double sums[] = {0, 0, 0};
        for (uint32_t i = 0; i < a->n_findings; i++) {
            if (a->findings[i].kind == kind) {
                sums[0]++;
                sums[1] += a->findings[i].cables;
                sums[2] += a->findings[i].damage_bps;
            }
        }
        sums[2] = sums[2] > 0 ? sums[2] : NAN;
        if (sums[0] > 0) {
            fab_table_row(&table, FAB_INK_PLAIN, fab_finding_kinds[kind], sums);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void audit_say_end(fab_page *page, const char *node, const char *port) {
    fab_page_say(page, "%.80s%s%.30s", node, port[0] != '\0' ? ":" : "", port);
}

static void audit_put_finding(fab_page *page, uint32_t number, const fab_finding *f) {
    fab_page_say(page, "%" PRIu32 ". %s", number, fab_finding_kinds[f->kind]);
    if (f->damage_bps > 0) {
        fab_page_say(page, ", %s", fab_show_rate(page, f->damage_bps));
    }
    fab_page_say(page, "  ");
    audit_say_end(page, f->node, f->port);
    fab_page_say(page, "%s", f->other[0] != '\0' ? " - " : "");
    audit_say_end(page, f->other, f->other_port);
    fab_page_paragraph(page, FAB_INK_BAD, 2, 6);
    fab_page_say(page, "%s", f->text);
    if (f->line > 0) {
        fab_page_say(page, " (line %zu)", f->line);
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 6, 6);
    fab_page_wrap(page, FAB_INK_DIM, 6, 6, f->work);
}

static void audit_put_bisection(fab_page *page, const fab_audit_bisection *b) {
    double lost_bps = fab_audit_bisection_lost(b);
    bool is_bad = b->is_known && b->knows_planned && lost_bps > 0;
    fab_page_say(page, "bisection: %s", b->is_known ? fab_show_rate(page, b->present_bps) : "not known");
    if (!b->is_known) {
        fab_page_say(page, "; %s", b->why);
    } else if (!b->knows_planned) {
        fab_page_say(page, "; what is lost is not known: %s", b->why);
    } else {
        fab_page_say(page, " of %s", fab_show_rate(page, b->planned_bps));
    }
    if (is_bad) {
        fab_page_say(page, "; lost %s (%.4g %%)", fab_show_rate(page, lost_bps), 100 * lost_bps / b->planned_bps);
    }
    fab_page_paragraph(page, is_bad ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2);
}

static void audit_put_structure(fab_page *page, const fab_audit *a) {
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "%" PRIu32 " host%s known by name, %" PRIu32 " adapter%s, %" PRIu32 " switch%s in %" PRIu32
                   " tier%s%s",
                   a->n_servers, fab_plural(a->n_servers), a->n_hosts, fab_plural(a->n_hosts), a->n_switches,
                   a->n_switches == 1 ? "" : "es", a->n_boundaries, fab_plural(a->n_boundaries),
                   a->has_rails ? ", rail-optimised" : "");
    if (a->n_services > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%" PRIu32 " aggregation node%s inside switches %s no host%s",
                       a->n_services, fab_plural(a->n_services), a->n_services == 1 ? "is" : "are",
                       fab_plural(a->n_services));
    }
    for (uint32_t i = 0; i < a->n_boundaries; i++) {
        uint32_t planned = a->boundary[i].planned;
        uint32_t present = a->boundary[i].present;
        if (planned > 0) {
            fab_page_wrapf(page, present < planned ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2,
                           "%s: %" PRIu32 " of %" PRIu32 " cables (%.4g %%)",
                           fab_boundary_name(FAB_WIRING_TREE, a->boundary[i].tier), present, planned,
                           100.0 * present / planned);
        }
    }
}

void fab_text_audit(fab_page *page, const char *path, const fab_audit *a) {
    fab_page_wrapf(page, FAB_INK_BOLD, 0, 2, "%s: %" PRIu32 " finding%s", path, a->n_findings,
                   fab_plural(a->n_findings));
    audit_put_structure(page, a);
    audit_put_bisection(page, &a->bisection);
    if (a->n_findings == 0) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 2, "Nothing departs from the structure.");
        return;
    }
    fab_text_heading(page, "SUMMARY", NULL);
    audit_put_kinds(page, a);
    fab_text_heading(page, "WORK", "worst first");
    for (uint32_t i = 0; i < a->n_findings && i < MOST_SHOWN; i++) {
        audit_put_finding(page, i + 1, &a->findings[i]);
    }
    if (a->n_findings > MOST_SHOWN) {
        fab_text_notef(page, "... and %" PRIu32 " more: --format csv has all of them", a->n_findings - MOST_SHOWN);
    }
}
