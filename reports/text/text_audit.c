/* Text report: what is wrong with an installed fabric. */
#include "fab/audit.h"
#include "text_sections.h"

#define MOST_SHOWN 60 /* findings; all of them are in JSON and CSV */

static void audit_put_kinds(fab_page *page, const fab_audit *a) {
    static const fab_column COLUMNS[] = {COLUMN("finding", text), COLUMN("how many", integer),
                                         COLUMN("cables", integer), COLUMN("capacity", rate)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
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
    bool is_choice = fab_finding_is_choice(f->kind);
    fab_page_say(page, "%" PRIu32 ". %s", number, fab_finding_kinds[f->kind]);
    if (f->damage_bps > 0) {
        fab_page_say(page, ", %s", fab_show_rate(page, f->damage_bps));
    }
    if (f->confidence < 1) {
        fab_page_say(page, ", %.0f %% sure", floor(100 * f->confidence));
    }
    fab_page_say(page, "  ");
    audit_say_end(page, f->node, f->port);
    fab_page_say(page, "%s", f->other[0] != '\0' ? " - " : "");
    audit_say_end(page, f->other, f->other_port);
    fab_page_paragraph(page, is_choice ? FAB_INK_BOLD : FAB_INK_BAD, 2, 6);
    fab_page_say(page, "%s", f->text);
    if (f->line > 0) {
        fab_page_say(page, " (line %zu)", f->line);
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 6, 6);
    fab_page_wrap(page, FAB_INK_DIM, 6, 6, f->work);
    if (f->at[0].rack_name[0] != '\0') {
        bool has_other = f->at[1].rack_name[0] != '\0' && strcmp(f->at[0].rack_name, f->at[1].rack_name) != 0;
        fab_page_wrapf(page, FAB_INK_DIM, 6, 6, "In %s%s%s", f->at[0].rack_name, has_other ? " and " : "",
                       has_other ? f->at[1].rack_name : "");
    }
    if (f->guid != 0) {
        fab_page_say(page, "GUID 0x%016" PRIx64, f->guid);
        if (f->other_guid != 0 && f->other_guid != f->guid) {
            fab_page_say(page, " and 0x%016" PRIx64, f->other_guid);
        }
        fab_page_paragraph(page, FAB_INK_DIM, 6, 6);
    }
}

static void audit_put_bisection(fab_page *page, const fab_audit *a) {
    const fab_audit_bisection *b = &a->bisection;
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
    fab_page_say(page, "%s", b->is_known ? ", between the halves of all servers by name, incomplete ones too" : "");
    if (b->leaves_exchanged) {
        fab_page_say(page, a->has_plan ? "; the exchanged hosts count where they stand"
                                       : "; both with the exchanged hosts where they are (--against a plan has them "
                                         "where they belong)");
    }
    if (fab_audit_bisection_gains(b)) {
        fab_page_say(page, "; more than planned: cables that are elsewhere than planned, or are not planned, carry "
                           "more between these halves, which says nothing of others");
    }
    fab_page_paragraph(page, is_bad ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2);
}

static void audit_put_structure(fab_page *page, const fab_audit *a) {
    const char *tiers = a->n_boundaries == 0
                            ? ""
                            : fab_show(page, " in %" PRIu32 " tier%s", a->n_boundaries, fab_plural(a->n_boundaries));
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "%" PRIu32 " host%s known by name, %" PRIu32 " adapter%s, %" PRIu32 " switch%s%s%s", a->n_servers,
                   fab_plural(a->n_servers), a->n_hosts, fab_plural(a->n_hosts), a->n_switches,
                   a->n_switches == 1 ? "" : "es", tiers, a->has_rails ? ", rail-optimised" : "");
    if (a->n_servers == 0 && a->n_hosts > 1) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "note: no name of an adapter tells which server it is in; names by GUID do (--node-name-map)");
    }
    if (a->n_services > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%" PRIu32 " aggregation node%s inside switches %s no host%s",
                       a->n_services, fab_plural(a->n_services), a->n_services == 1 ? "is" : "are",
                       fab_plural(a->n_services));
    }
    if (a->n_renamed > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "note: %" PRIu32 " box%s another name than in the plan, by GUID or by what is plugged where: %s",
                       a->n_renamed, a->n_renamed == 1 ? " has" : "es have", a->first_renamed);
    }
    if (a->n_by_place > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "note: %" PRIu32 " host%s of the plan %s known by what is plugged where alone: hosts that have "
                       "changed places do not show; names tell (--node-name-map)",
                       a->n_by_place, fab_plural(a->n_by_place), a->n_by_place == 1 ? "is" : "are");
    }
    if (a->n_boxes > 0) {
        fab_page_wrapf(page, a->n_inside_missing > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2,
                       "%" PRIu32 " of the switches are chips of %" PRIu32 " director%s: %" PRIu32 " of %" PRIu32
                       " links inside are there, which are no cables",
                       a->n_chips, a->n_boxes, fab_plural(a->n_boxes), a->n_inside, a->n_inside + a->n_inside_missing);
    }
    for (uint32_t i = 0; i < a->n_boundaries; i++) {
        uint32_t planned = a->boundary[i].planned;
        uint32_t present = a->boundary[i].present;
        const char *name = fab_boundary_name(FAB_WIRING_TREE, a->boundary[i].tier);
        const uint32_t more = a->has_plan && a->boundary[i].cables > present ? a->boundary[i].cables - present : 0;
        if (planned > 0 && a->boundary[i].with_rule == 0 && a->boundary[i].cables > 0) {
            fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                           "%s: %" PRIu32 " cables; how many there should be no rule says: a plan does (--against)",
                           name, present);
        } else if (planned > 0) {
            fab_page_wrapf(
                page, present < planned ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2,
                "%s: %" PRIu32 " of %" PRIu32 " cables (%.4g %%)%s", name, present, planned, 100.0 * present / planned,
                more == 0 ? ""
                          : fab_show(page, ", and %" PRIu32 " that %s not planned", more, more == 1 ? "is" : "are"));
        }
    }
    if (a->n_absent > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "the cables of %" PRIu32 " absent switch%s are not counted in these",
                       a->n_absent, a->n_absent == 1 ? "" : "es");
    }
}

/* Where the names of hosts do not say who has changed places. */
static void audit_put_order(fab_page *page, const fab_audit *a) {
    const uint32_t n = a->n_out_of_port_order;
    if (a->n_left > 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "%" PRIu32 " cable%s of %" PRIu32 " host%s stand%s elsewhere than the names or the ports of all "
                       "others say, and where %s no rule says; a plan tells (--against): %s",
                       a->n_left, fab_plural(a->n_left), a->n_hosts_left, fab_plural(a->n_hosts_left),
                       a->n_left == 1 ? "s" : "", a->n_left == 1 ? "it belongs" : "they belong", a->hosts_left);
    }
    if (n == 0 || a->n_ruled == 0) {
        return;
    }
    const bool is_some = a->n_out_of_order > 0 && a->n_out_of_order < n;
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "names tell no order of hosts%s at %" PRIu32
                   " cables%s: hosts that have changed places%s do not show there; a plan tells (--against)",
                   a->n_out_of_order == n ? "" : " along the ports", n,
                   is_some ? fab_show(page, ", at %" PRIu32 " none at all", a->n_out_of_order) : "",
                   a->n_out_of_order > 0 ? "" : " at one leaf");
}

/* Of how much a rule speaks, and that nothing is said of the rest. */
static void audit_put_coverage(fab_page *page, const fab_audit *a) {
    uint32_t n_without = a->n_cables - a->n_ruled;
    fab_page_wrapf(page, n_without > 0 ? FAB_INK_BOLD : FAB_INK_PLAIN, 2, 2,
                   "rules speak of %" PRIu32 " of %" PRIu32 " cables, %" PRIu32 " of %" PRIu32 " switches, %" PRIu32
                   " of %" PRIu32 " adapters%s",
                   a->n_ruled, a->n_cables, a->n_ruled_switches, a->n_switches, a->n_ruled_hosts, a->n_hosts,
                   n_without > 0 ? "; of the others nothing is said but speed and who reports them" : "");
    for (uint32_t i = 0; i < a->n_boundaries && n_without > 0; i++) {
        const fab_audit_boundary *b = &a->boundary[i];
        if (b->with_rule < b->cables) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "%s: %" PRIu32 " of %" PRIu32 " cables have no rule",
                           fab_boundary_name(FAB_WIRING_TREE, b->tier), b->cables - b->with_rule, b->cables);
        }
    }
}

static void audit_put_findings(fab_page *page, const fab_audit *a, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n && i < first + MOST_SHOWN; i++) {
        audit_put_finding(page, i + 1, &a->findings[i]);
    }
    if (n > MOST_SHOWN) {
        fab_text_notef(page, "... and %" PRIu32 " more: --format csv has all of them", n - MOST_SHOWN);
    }
}

void fab_text_audit(fab_page *page, const char *path, const fab_audit *a) {
    FAB_FIRST(n_faults, a->n_findings, fab_finding_is_choice(a->findings[n_faults].kind));
    uint32_t n_choices = a->n_findings - n_faults;
    fab_page_say(page, "%s: %" PRIu32 " finding%s", path, n_faults, fab_plural(n_faults));
    if (n_choices > 0) {
        fab_page_say(page, ", and %" PRIu32 " more that may be meant so", n_choices);
    }
    fab_page_paragraph(page, FAB_INK_BOLD, 0, 2);
    audit_put_structure(page, a);
    audit_put_coverage(page, a);
    audit_put_order(page, a);
    audit_put_bisection(page, a);
    if (n_faults == 0 && a->n_ruled > 0 && a->n_left == 0) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 2,
                      a->n_ruled < a->n_cables     ? "Nothing departs from the rules, where there are rules."
                      : a->n_out_of_port_order > 0 ? "Nothing departs from the structure, of which the order of hosts "
                                                     "is no part."
                                                   : "Nothing departs from the structure.");
        if (!a->has_plan) {
            fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                          "The last switch of a tier, gone with all its cables, leaves no gap that shows: a plan tells "
                          "(--against).");
        }
    } else if (a->n_cables == 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "This is no network: no cable joins its %" PRIu32 " adapter%s and %" PRIu32
                       " switch%s, and nothing can be said of it.",
                       a->n_hosts, fab_plural(a->n_hosts), a->n_switches, a->n_switches == 1 ? "" : "es");
    } else if (a->n_ruled == 0) {
        fab_page_wrap(page, FAB_INK_BOLD, 2, 2,
                      "No regular structure was found: nothing can be said of missing or misplaced cables. A plan can "
                      "tell: --against.");
    }
    if (a->n_findings > 0) {
        fab_text_heading(page, "SUMMARY", NULL);
        audit_put_kinds(page, a);
    }
    if (n_faults > 0) {
        fab_text_heading(page, "WORK", "worst first");
        audit_put_findings(page, a, 0, n_faults);
    }
    if (n_choices > 0) {
        fab_text_heading(page, "PERHAPS MEANT SO", "no faults that the file shows");
        audit_put_findings(page, a, n_faults, n_choices);
    }
}
