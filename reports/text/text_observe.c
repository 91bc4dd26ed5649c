/* Text report: counters over what a job should do. */
#include "fab/observe.h"
#include "text_sections.h"

#define MANY_OFF   0.1 /* of the links: no fault makes so many deviate */
#define MOST_LOADS 10  /* of links; all of them are in JSON and CSV */

static const char *observe_show_percent(fab_page *page, double ratio) {
    return fab_show(page, "%.2f %%", 100 * ratio);
}

static const char *observe_show_factor(fab_page *page, double factor) {
    return fab_show(page, "%.3f", factor);
}

static void observe_put_suspect(fab_page *page, uint32_t number, const fab_suspect *s) {
    fab_page_wrapf(page, FAB_INK_BAD, 2, 6, "%" PRIu32 ". %s  %s", number, fab_suspect_kinds[s->kind], s->name);
    fab_page_wrap(page, FAB_INK_PLAIN, 6, 6, s->evidence);
    if (s->job_ratio > 0) {
        fab_page_wrapf(page, FAB_INK_DIM, 6, 6, "%.3g %% of the job's bytes cross it", 100 * s->job_ratio);
    }
}

static void observe_put_sources(fab_page *page, const fab_observed *o) {
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s%s%s (%s): %s, %s of %s measured, %s of them at both ends",
                   o->before != NULL ? o->before : "since counters were cleared", o->before != NULL ? " to " : ": ",
                   o->after, o->format, fab_show_counted(page, o->ports, "port", "ports"),
                   fab_show_count(page, o->measured_links), fab_show_counted(page, o->links, "link", "links"),
                   fab_show_count(page, o->two_ended_links));
    if (o->unknown_ports > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s of them %s none of this fabric, such as %s",
                       fab_show_count(page, o->unknown_ports), o->unknown_ports == 1 ? "is" : "are", o->first_unknown);
    }
    if (o->lost_ports > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s stand%s in one snapshot alone",
                       fab_show_counted(page, o->lost_ports, "port", "ports"), o->lost_ports == 1 ? "s" : "");
    }
    if (o->reset_ports > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s cleared between the snapshots and left out, such as %s",
                       fab_show_counted(page, o->reset_ports, "port was", "ports were"), o->first_reset);
    }
    if (o->stuck_ports > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "counters of 32 bits of %s stand at their end and are left out: perfquery -x has 64",
                       fab_show_counted(page, o->stuck_ports, "port", "ports"));
    }
    if (o->still_ports > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "%s nothing of what the other end of the cable does and %s left out, such as %s",
                       fab_show_counted(page, o->still_ports, "port counts", "ports count"),
                       o->still_ports == 1 ? "is" : "are", o->first_still);
    }
    if (o->wrapped_ports > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "counters of %s wrapped at 2^64 and are counted on",
                       fab_show_counted(page, o->wrapped_ports, "port", "ports"));
    }
}

static void observe_put_job(fab_page *page, const fab_observed *o) {
    fab_page_say(page, "%.4g iterations of the job", o->iterations);
    if (o->interval_s > 0) {
        fab_page_say(page, " in %s: %s each as measured", fab_show_time(page, o->interval_s),
                     fab_show_time(page, o->iteration_s));
    } else {
        fab_page_say(page, "; the snapshots do not say how long they are apart (--interval)");
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    if (o->fits) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "%s: %.1f %% of the links between switches are as predicted%s; every link is judged by itself",
                       o->engine, 100 * o->fitting_ratio,
                       o->draws > 1 ? fab_show(page, " by draw %" PRIu64 " of %" PRIu64, o->fitting_draw + 1, o->draws)
                                    : "");
    } else {
        fab_page_wrapf(
            page, FAB_INK_BAD, 2, 4,
            "%s: at most %.1f %% of the links between switches are as %s: they are judged by their imbalance alone, "
            "one by one only the links of adapters; give the hash, its seed or the tables of the network (--engine)",
            o->engine, 100 * o->fitting_ratio,
            o->draws > 1 ? fab_show(page, "one of %" PRIu64 " draws has them", o->draws) : "predicted");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "this pair can show a link from %.2g %% on, a host from %.2g %%",
                   100 * o->least_link, 100 * o->least_host);
    if (o->untraced_phases > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "flows of %s of %s are not followed between switches, which split them or are too many: a slow "
                       "link there shows by itself alone",
                       fab_show_count(page, o->untraced_phases), fab_show_counted(page, o->phases, "phase", "phases"));
    }
    if (o->unpredicted_links > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s what the job does not explain: another job, or storage",
                       fab_show_counted(page, o->unpredicted_links, "link carries", "links carry"));
    }
}

static void observe_put_boundaries(fab_page *page, const fab_observed *o, const fab_fabric *f) {
    static const fab_column COLUMNS[] = {COLUMN("fullest/mean", text),
                                         SHOWN("measured", observe_show_factor),
                                         SHOWN("predicted", observe_show_factor),
                                         SHOWN("drawn", observe_show_factor),
                                         SHOWN("to", observe_show_factor),
                                         SHOWN("spread", observe_show_percent),
                                         COLUMN("by hash", text)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_observed_boundary, b, o->boundaries, o->n_boundaries) {
        const double figures[] = {
            b->measured_imbalance, b->predicted_imbalance, b->drawn_least, b->drawn_most, b->spread, FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, fab_text_links(page, f->wiring, b->tier, b->up), figures);
        fab_table_put(&table, 6, b->is_explained ? FAB_INK_GOOD : FAB_INK_BAD,
                      b->is_explained                          ? "explained"
                      : !(b->measured_imbalance > 0)           ? "no bytes"
                      : b->measured_imbalance < b->drawn_least ? "below"
                                                               : "beyond");
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void observe_put_loads(fab_page *page, const fab_observed *o, const fab_fabric *f) {
    static const fab_column COLUMNS[] = {COLUMN("link", text), COLUMN("measured", bytes), COLUMN("predicted", bytes),
                                         SHOWN("deviation", observe_show_percent)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (uint32_t i = 0; i < o->n_loads && i < MOST_LOADS; i++) {
        const fab_observed_link *l = &o->loads[i];
        char name[FAB_LINK_NAME_SIZE];
        const double figures[] = {l->measured_bytes, l->predicted_bytes, l->deviation};
        fab_table_row(&table, FAB_INK_PLAIN, fab_link_name(f, l->link, name), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

void fab_text_observed(fab_page *page, const fab_observed *o, const fab_fabric *fabric) {
    fab_text_heading(page, "SUSPECTS", NULL);
    if (o->n_suspects == 0) {
        fab_page_wrapf(page, FAB_INK_GOOD, 2, 4, "none: no host and no %s deviates by what this pair can show",
                       o->fits ? "link" : "link of an adapter");
    }
    if ((double)o->off_links > MANY_OFF * (double)o->judged_links) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "%s of %s links deviate beside the suspects: another job, placement, engine or fabric than this "
                       "one was measured, or others beside it; what follows may be that and no fault",
                       fab_show_count(page, o->off_links), fab_show_count(page, o->judged_links));
    }
    for (uint32_t i = 0; i < o->n_suspects; i++) {
        observe_put_suspect(page, i + 1, &o->suspects[i]);
    }
    if (o->n_more > 0) {
        fab_text_notef(page, "and %s more", fab_show_count(page, o->n_more));
    }
    fab_text_heading(page, "WHAT WAS COUNTED", NULL);
    observe_put_sources(page, o);
    observe_put_job(page, o);
    fab_text_heading(page, "IMBALANCE", NULL);
    observe_put_boundaries(page, o, fabric);
    fab_text_heading(page, "LARGEST DEVIATIONS", NULL);
    observe_put_loads(page, o, fabric);
}
