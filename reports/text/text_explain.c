/* Text report: who contends for a link, and the decisions that brought them there. */
#include "text_sections.h"

#define SHOWN_FLOWS 20
#define SHOWN_PATHS 4 /* of a flow */

static void explain_put_link(fab_page *page, const fab_explanation *e) {
    const fab_link_class *link_class = fab_class_of(e->fabric, e->link);
    fab_text_heading(page, fab_show(page, "LINK %s", e->name),
                     fab_show(page, "%s, %s, link %" PRIu32,
                              fab_text_links(page, e->fabric->wiring, link_class->tier, fab_is_up(e->link)),
                              fab_show_rate(page, e->capacity_bps), e->link));
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, e->traffic);
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s, seed %" PRIu64, e->label, e->seed);
    if (e->splits) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "Switches split every flow over all its paths: shares of them contend, and nothing is decided.");
    }
    if (e->n_rounds > 1) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Queue pairs take turns: everything here is of the first round.");
    }
}

static void explain_put_load(fab_page *page, const fab_explanation *e, const fab_crossing_phase *p) {
    fab_page_say(page, "%s of %s %s here and offer%s %s to %s: utilisation %.2f",
                 fab_show_counted(page, p->n_flows, "flow", "flows"),
                 fab_show_counted(page, p->n_comms, "communicator", "communicators"),
                 p->n_flows == 1 ? "passes" : "meet", p->n_flows == 1 ? "s" : "", fab_show_rate(page, p->load_bps),
                 fab_show_rate(page, e->capacity_bps), p->utilisation);
    if (p->taper_factor > 0) {
        fab_page_say(page, " = taper %.2f x hash %.2f.", p->taper_factor, p->hash_factor);
    } else {
        fab_page_say(page, ", off every shortest path.");
    }
    fab_page_paragraph(page, p->utilisation > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2);
}

/* How the switch spreads what could have taken the link. */
static void explain_put_choice(fab_page *page, const fab_explanation *e, const fab_crossing_phase *p) {
    const fab_link_choice *c = &p->choice;
    const char *s = c->paths == 1 ? "s" : "";
    char at[FAB_NODE_NAME_SIZE];
    if (c->next_hops > 0) {
        fab_page_say(page, "At %s %s of %s choose%s among %" PRIu32 " next hops and use%s %" PRIu32,
                     fab_node_name(e->fabric, fab_tail(e->fabric, e->link), at),
                     fab_show_counted(page, c->paths, "path", "paths"),
                     fab_show_counted(page, c->flows, "flow", "flows"), s, c->next_hops, s, c->used);
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, e->hashes ? " of them; an ideal hash would use %.1f." : ".",
                       c->ideal_used);
    }
    if (e->hashes && c->values_here > 0 && c->values_here < c->paths_here) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "The %s paths here have %s: those of equal value share a next hop in a group of any size.",
                       fab_show_count(page, c->paths_here),
                       fab_show_counted(page, c->values_here, "hash value", "hash values"));
    } else if (e->hashes && c->values_here > 1) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "All %s paths here have different hash values: a group of another size could part them.",
                       fab_show_count(page, c->paths_here));
    }
}

/* Characters of a reason that the one before has told already: "crc32 of (...)", up to the result. */
static size_t told_before(const char *reason, const char *before) {
    const char *result = strstr(reason, " = ");
    size_t n = result != NULL ? (size_t)(result - reason) : 0;
    return strncmp(reason, before, n) == 0 && strncmp(before + n, " = ", 3) == 0 ? n : 0;
}

/* Decisions of a path; where there is nothing to choose only the link itself is named. */
static void explain_put_path(fab_page *page, const fab_explanation *e, const fab_crossing_path *path) {
    const char *before = "";
    FAB_EACH(const fab_decision, d, path->decision, path->n_decisions) {
        bool is_here = d->link == e->link;
        char name[FAB_LINK_NAME_SIZE];
        if (d->count == 1 && !is_here) {
            continue;
        }
        fab_page_say(page, "%s %s", is_here ? "*" : "-", fab_link_name(e->fabric, d->link, name));
        if (d->count == 1) {
            fab_page_say(page, ", the only next hop");
        } else if (d->count == 0) {
            fab_page_say(page, ": %s", d->reason);
        } else {
            size_t told = told_before(d->reason, before);
            fab_page_say(page, ", one of %" PRIu32 "%s%s%s", d->count, d->reason[0] != '\0' ? ": " : "",
                         told > 0 ? "the same" : "", d->reason + told);
            before = d->reason;
        }
        fab_page_paragraph(page, is_here ? FAB_INK_PLAIN : FAB_INK_DIM, 6, 8);
    }
}

static void explain_put_flow(fab_page *page, const fab_explanation *e, const fab_crossing_flow *flow) {
    fab_page_say(page, "flow %" PRIu64 ": rank %" PRIu32 " -> %" PRIu32, flow->flow, flow->src_rank, flow->dst_rank);
    if (flow->src_rank != flow->src_gpu || flow->dst_rank != flow->dst_gpu) {
        fab_page_say(page, " (gpu-%" PRIu32 " -> gpu-%" PRIu32 ")", flow->src_gpu, flow->dst_gpu);
    }
    fab_page_say(page, ", %s, %s", flow->comm_name, fab_show_rate(page, flow->rate_bps * flow->share));
    if (flow->share < 1) {
        fab_page_say(page, " of %s", fab_show_rate(page, flow->rate_bps));
    }
    if (flow->n_paths > 0 && flow->n_paths < flow->n_paths_at_once) {
        fab_page_say(page, ", %zu of its %" PRIu32 " paths", flow->n_paths, flow->n_paths_at_once);
    } else if (flow->n_paths == 0) {
        fab_page_say(page, ", %.3g of it", flow->share);
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 6);
    for (size_t i = 0; i < flow->n_paths && i < SHOWN_PATHS; i++) {
        if (flow->n_paths_at_once > 1) {
            fab_page_printf(page, FAB_INK_DIM, "      queue pair %" PRIu32, flow->path[i].queue_pair);
            if (e->fabric->n_planes > 1) {
                fab_page_printf(page, FAB_INK_DIM, ", plane %" PRIu32, flow->path[i].plane);
            }
            fab_page_line(page, FAB_INK_DIM, "%s", "");
        }
        explain_put_path(page, e, &flow->path[i]);
    }
    if (flow->n_paths > SHOWN_PATHS) {
        fab_page_line(page, FAB_INK_DIM, "      and %zu more queue pairs", flow->n_paths - SHOWN_PATHS);
    }
}

static void explain_put_phase(fab_page *page, const fab_explanation *e, const fab_crossing_phase *p) {
    const char *title = fab_show(page, "PHASE %s", p->name);
    if (p->n_flows == 0) {
        fab_text_heading(page, title, "no flow crosses the link");
        return;
    }
    fab_text_heading(page, title, p->collective);
    explain_put_load(page, e, p);
    explain_put_choice(page, e, p);
    for (size_t i = 0; i < p->n_flows && i < SHOWN_FLOWS; i++) {
        explain_put_flow(page, e, &p->flow[i]);
    }
    if (p->n_flows > SHOWN_FLOWS) {
        fab_page_line(page, FAB_INK_PLAIN, "    and %s (see --json)",
                      fab_show_counted(page, p->n_flows - SHOWN_FLOWS, "more flow", "more flows"));
    }
}

void fab_text_explanation(fab_page *page, const fab_explanation *e) {
    explain_put_link(page, e);
    for (size_t i = 0; i < e->n_phases; i++) {
        explain_put_phase(page, e, &e->phase[i]);
    }
    fab_page_end_line(page);
    fab_text_note(page, e->splits
                            ? "Flows by what they offer to this link."
                            : "Flows by what they offer to this link; *: the decision for it. Indexes count from 0.");
}
