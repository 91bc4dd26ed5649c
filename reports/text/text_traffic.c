/* Text report: the phases of traffic before anything is routed, and what a job keeps on a GPU. */
#include "text_sections.h"

#define LEAST_NAME 6 /* columns of the longest name of a phase, at least */

static void traffic_put_phases(fab_page *page, const fab_traffic *traffic) {
    static const fab_column COLUMNS[] = {{.heading = "Phase", .is_left = true},
                                         {.heading = "Collective", .is_left = true},
                                         COLUMN("Groups", whole),
                                         COLUMN("Flows", whole),
                                         COLUMN("Bytes", bytes),
                                         COLUMN("Steps", whole),
                                         COLUMN("Times", whole)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_phase, p, traffic->phases, traffic->n_phases) {
        const double figures[] = {
            0, (double)p->n_comms, (double)p->n_flows, (double)p->total_bytes, (double)p->steps, (double)p->executions};
        fab_table_row(&table, FAB_INK_PLAIN, p->name, figures);
        fab_table_put(&table, 1, FAB_INK_PLAIN, p->collective);
    }
    fab_table_end_list(&table);
}

static void traffic_put_formulas(fab_page *page, const fab_traffic *traffic) {
    bool is_first = true;
    FAB_MOST(size_t, longest, i, traffic->n_phases, strlen(traffic->phases[i].name));
    const size_t column = 3 + (longest > LEAST_NAME ? longest : LEAST_NAME);
    FAB_EACH(const fab_phase, phase, traffic->phases, traffic->n_phases) {
        if (phase->formula[0] != '\0') {
            if (is_first) {
                fab_page_end_line(page);
                fab_page_wrap(page, FAB_INK_PLAIN, 0, 0, "Bytes of a phase, all GPUs together:");
            }
            is_first = false;
            fab_page_put(page, FAB_INK_PLAIN, "  ");
            fab_page_put(page, FAB_INK_PLAIN, phase->name);
            fab_page_wrap(page, FAB_INK_PLAIN, column, column, phase->formula);
        }
    }
}

static void traffic_put_memory(fab_page *page, const fab_traffic *traffic) {
    const fab_job_memory *m = &traffic->memory;
    const struct {
        const char *name;
        double bytes;
    } PARTS[] = {{"weights", m->weights_bytes},
                 {"gradients", m->gradients_bytes},
                 {"optimizer", m->optimizer_bytes},
                 {"activations", m->activations_bytes},
                 {"cached keys and values", m->cache_bytes}};
    fab_page_end_line(page);
    fab_page_say(page, "Memory of a GPU%s: %s of %s (%s)", traffic->job.pp > 1 ? " of the fullest stage" : "",
                 fab_show_bytes(page, m->total_bytes), fab_show_bytes(page, m->capacity_bytes),
                 traffic->job.accelerator.name);
    const char *separator = ": ";
    for (size_t i = 0; i < FAB_N_OF(PARTS); i++) {
        if (PARTS[i].bytes > 0) {
            fab_page_say(page, "%s%s %s", separator, PARTS[i].name, fab_show_bytes(page, PARTS[i].bytes));
            separator = ", ";
        }
    }
    if (m->host_bytes > 0) {
        fab_page_say(page, "; on the host %s", fab_show_bytes(page, m->host_bytes));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 0, 2);
}

void fab_text_traffic(fab_page *page, const fab_traffic *traffic) {
    fab_page_wrap(page, FAB_INK_PLAIN, 0, 0, traffic->summary);
    fab_page_end_line(page);
    traffic_put_phases(page, traffic);
    traffic_put_formulas(page, traffic);
    if (traffic->has_job) {
        traffic_put_memory(page, traffic);
    }
}
