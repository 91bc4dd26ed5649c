/* Text report: who meets on a link, and the decisions that brought them there. */
#include "fab/units.h"
#include "fab/explanation.h"
#include "fab/design.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_FLOWS 20
#define SHOWN_PATHS 4 /* of a flow */

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

static void put_link(fab_page *page, const fab_explanation *e) {
    const fab_link_class *link_class = fab_class_of(e->fabric, e->link);
    char title[FAB_LINK_NAME_SIZE + 16];
    char rate[32];
    char text[FAB_ENGINE_LABEL_SIZE + 64];
    (void)snprintf(title, sizeof title, "LINK %s", e->name);
    (void)snprintf(text, sizeof text, "%s %s, %s, link %" PRIu32,
                   fab_boundary_name(e->fabric->wiring, link_class->tier),
                   fab_direction_name(e->fabric->wiring, link_class->tier, fab_is_up(e->link)),
                   fab_quantity_format(rate, e->capacity_bps, FAB_UNIT_RATE), e->link);
    fab_text_heading(page, title, text);
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, e->traffic);
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s, seed %" PRIu64, e->label, e->seed);
    if (e->splits) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "Switches split every flow over all its paths: shares of them meet, and nothing is decided.");
    }
    if (e->n_rounds > 1) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Queue pairs take turns: everything here is of the first round.");
    }
}

static void put_load(fab_page *page, const fab_explanation *e, const fab_met_phase *p) {
    char a[32];
    char b[32];
    char c[32];
    char d[32];
    char text[400];
    int n =
        snprintf(text, sizeof text, "%s flow%s of %s communicator%s %s here and ask%s for %s of %s: utilisation %.2f",
                 fab_format_count(a, p->n_flows), plural(p->n_flows), fab_format_count(b, p->n_comms),
                 plural(p->n_comms), p->n_flows == 1 ? "passes" : "meet", p->n_flows == 1 ? "s" : "",
                 fab_quantity_format(c, p->load_bps, FAB_UNIT_RATE),
                 fab_quantity_format(d, e->capacity_bps, FAB_UNIT_RATE), p->utilisation);
    if (n > 0 && (size_t)n < sizeof text) {
        if (p->taper_factor > 0) {
            (void)snprintf(text + n, sizeof text - (size_t)n, " = taper %.2f x hash %.2f.", p->taper_factor,
                           p->hash_factor);
        } else {
            (void)snprintf(text + n, sizeof text - (size_t)n, ", off every shortest path.");
        }
    }
    fab_page_wrap(page, p->utilisation > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2, text);
}

/* How the switch spreads what could have taken the link. */
static void put_choice(fab_page *page, const fab_explanation *e, const fab_met_phase *p) {
    const fab_link_choice *c = &p->choice;
    char a[32];
    char b[32];
    char at[FAB_NODE_NAME_SIZE];
    char text[400];
    if (c->next_hops > 0) {
        int n = snprintf(text, sizeof text,
                         "At %s %s path%s of %s flow%s choose%s among %" PRIu32 " next hops and use%s %" PRIu32,
                         fab_node_name(e->fabric, fab_tail(e->fabric, e->link), at), fab_format_count(a, c->paths),
                         plural(c->paths), fab_format_count(b, c->flows), plural(c->flows), c->paths == 1 ? "s" : "",
                         c->next_hops, c->paths == 1 ? "s" : "", c->used);
        if (n > 0 && (size_t)n < sizeof text) {
            (void)snprintf(text + n, sizeof text - (size_t)n,
                           e->hashes ? " of them; an ideal hash would use %.1f." : ".", c->ideal_used);
        }
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text);
    }
    if (e->hashes && c->values_here > 0 && c->values_here < c->paths_here) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "The %s paths here have %s hash value%s: those of equal value meet in a group of any size.",
                       fab_format_count(a, c->paths_here), fab_format_count(b, c->values_here), plural(c->values_here));
    } else if (e->hashes && c->values_here > 1) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "All %s paths here have different hash values: a group of another size could part them.",
                       fab_format_count(a, c->paths_here));
    }
}

/* Characters of a reason that the one before has told already: "crc32 of (...)", up to the result. */
static size_t told_before(const char *reason, const char *before) {
    const char *result = strstr(reason, " = ");
    size_t n = result != NULL ? (size_t)(result - reason) : 0;
    return strncmp(reason, before, n) == 0 && strncmp(before + n, " = ", 3) == 0 ? n : 0;
}

/* Decisions of a path; where there is nothing to choose only the link itself is named. */
static void put_path(fab_page *page, const fab_explanation *e, const fab_met_path *path) {
    const char *before = "";
    for (size_t i = 0; i < path->n_decisions; i++) {
        const fab_decision *d = &path->decision[i];
        bool is_here = d->link == e->link;
        char name[FAB_LINK_NAME_SIZE];
        char text[80 + FAB_REASON_SIZE + 32];
        int n = snprintf(text, sizeof text, "%s %s", is_here ? "*" : "-", fab_link_name(e->fabric, d->link, name));
        if (d->count == 1 && !is_here) {
            continue;
        }
        if (n > 0 && d->count == 1) {
            (void)snprintf(text + n, sizeof text - (size_t)n, ", the only next hop");
        } else if (n > 0 && d->count == 0) {
            (void)snprintf(text + n, sizeof text - (size_t)n, ": %s", d->reason);
        } else if (n > 0) {
            size_t told = told_before(d->reason, before);
            (void)snprintf(text + n, sizeof text - (size_t)n, ", one of %" PRIu32 ": %s%s", d->count,
                           told > 0 ? "the same" : "", d->reason + told);
            before = d->reason;
        }
        fab_page_wrap(page, is_here ? FAB_INK_PLAIN : FAB_INK_DIM, 6, 8, text);
    }
}

static void put_flow(fab_page *page, const fab_explanation *e, const fab_met_flow *flow) {
    char a[32];
    char b[32];
    char gpus[64] = "";
    char whole[48] = "";
    char part[96] = "";
    bool moved = flow->src_rank != flow->src_gpu || flow->dst_rank != flow->dst_gpu;
    if (moved) {
        (void)snprintf(gpus, sizeof gpus, " (gpu-%" PRIu32 " -> gpu-%" PRIu32 ")", flow->src_gpu, flow->dst_gpu);
    }
    if (flow->n_paths > 0 && flow->n_paths < flow->n_paths_at_once) {
        (void)snprintf(part, sizeof part, ", %zu of its %" PRIu32 " paths", flow->n_paths, flow->n_paths_at_once);
    } else if (flow->n_paths == 0) {
        (void)snprintf(part, sizeof part, ", %.3g of it", flow->share);
    }
    if (flow->share < 1) {
        (void)snprintf(whole, sizeof whole, " of %s", fab_quantity_format(b, flow->rate_bps, FAB_UNIT_RATE));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 6, "flow %" PRIu64 ": rank %" PRIu32 " -> %" PRIu32 "%s, %s, %s%s%s",
                   flow->flow, flow->src_rank, flow->dst_rank, gpus, flow->comm_name,
                   fab_quantity_format(a, flow->rate_bps * flow->share, FAB_UNIT_RATE), whole, part);
    for (size_t i = 0; i < flow->n_paths && i < SHOWN_PATHS; i++) {
        if (flow->n_paths_at_once > 1) {
            fab_page_printf(page, FAB_INK_DIM, "      queue pair %" PRIu32, flow->path[i].queue_pair);
            if (e->fabric->n_planes > 1) {
                fab_page_printf(page, FAB_INK_DIM, ", plane %" PRIu32, flow->path[i].plane);
            }
            fab_page_end_line(page);
        }
        put_path(page, e, &flow->path[i]);
    }
    if (flow->n_paths > SHOWN_PATHS) {
        fab_page_line(page, FAB_INK_DIM, "      and %zu more queue pairs", flow->n_paths - SHOWN_PATHS);
    }
}

static void put_phase(fab_page *page, const fab_explanation *e, const fab_met_phase *p) {
    char title[2 * FAB_NAME_SIZE];
    char a[32];
    (void)snprintf(title, sizeof title, "PHASE %s", p->name);
    if (p->n_flows == 0) {
        fab_text_heading(page, title, "no flow crosses the link");
        return;
    }
    fab_text_heading(page, title, p->collective);
    put_load(page, e, p);
    put_choice(page, e, p);
    for (size_t i = 0; i < p->n_flows && i < SHOWN_FLOWS; i++) {
        put_flow(page, e, &p->flow[i]);
    }
    if (p->n_flows > SHOWN_FLOWS) {
        fab_page_line(page, FAB_INK_PLAIN, "    and %s more flow%s (see --json)",
                      fab_format_count(a, p->n_flows - SHOWN_FLOWS), plural(p->n_flows - SHOWN_FLOWS));
    }
}

void fab_text_explanation(fab_page *page, const fab_explanation *e) {
    put_link(page, e);
    for (size_t i = 0; i < e->n_phases; i++) {
        put_phase(page, e, &e->phase[i]);
    }
    fab_page_end_line(page);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  e->splits ? "Flows by what they ask of this link."
                            : "Flows by what they ask of this link; *: the decision for it. Indexes count from 0.");
}
