/**
 * Lists of `top`: phases, links of a phase by load, flows on a link, parts, what is broken. A row is made when it is
 * shown. It knows no terminal: lines go to a page (fab/text_layout.h).
 */
#pragma once

#include "top_model.h"

#include "fab/text_layout.h"

typedef enum top_view_kind { TOP_PHASES, TOP_LINKS, TOP_FLOWS, TOP_PARTS, TOP_BROKEN, TOP_N_VIEWS } top_view_kind;

/** A list as it is shown. Zero-initialised: phases, from the first on. */
typedef struct top_view {
    top_view_kind kind;
    char phase_name[FAB_NAME_SIZE]; /**< of links and flows: another engine may leave other phases out */
    size_t phase;                   /**< its number in the answer */
    fab_link_id link;               /**< of flows */
    size_t order;                   /**< of top_view_order_name() */
    uint32_t *item; /**< shape [n]: phase, link, flow, part or place among the broken, in order; owned */
    size_t n;
    size_t row, top;       /**< selected, and the first that is shown */
    uint32_t at;           /**< item that is selected: stays when the order changes */
    fab_state_flows flows; /**< of flows */
    uint32_t *crossing;    /**< of flows, shape [flows]: paths of the flow that cross the link; owned */
    char note[256];        /**< why there are no rows; else empty */
} top_view;

void top_view_release(top_view *view);

/** Finds the items anew: after a change of the state or the order. The selection stays where it can.
 * Complexity: O(links) or O(flows), and sorting. */
FAB_STATUS top_view_refresh(const top_model *model, top_view *view, fab_error *err);

/** "by load", ... of its orders, of which the last is followed by the first. */
const char *top_view_order_name(const top_view *view);
void top_view_next_order(top_view *view);

/** What is listed: "links of dp-rs". `out` holds FAB_LINK_NAME_SIZE + 64 bytes. Returns out. */
const char *top_view_title(const top_model *model, const top_view *view, char *out);

/** What a row is called, for searches. `out` holds 2 * FAB_LINK_NAME_SIZE bytes. Returns out. */
const char *top_view_name(const top_model *model, const top_view *view, size_t row, char *out);

/** What `break` and `repair` do to a row: a cable, the server that a flow comes from, a part. False: a phase. */
bool top_view_part(const top_model *model, const top_view *view, size_t row, fab_component *out);

/** A line of headings, and one of a row: never more than one line of the page each. */
void top_view_headings(const top_view *view, fab_page *page);
void top_view_row(const top_model *model, const top_view *view, size_t row, fab_page *page);

/** The selected row in words, on one line: what its columns cut. */
void top_view_detail(const top_model *model, const top_view *view, fab_page *page);

/* --- what rows are of: of top_view.c and top_rows.c --------------------------------------------------------------- */

static inline const fab_fabric *top_fabric(const top_model *model) {
    return fab_what_if_fabric(model->what_if);
}

static inline const fab_traffic *top_traffic(const top_model *model) {
    return fab_what_if_traffic(model->what_if);
}

/** Worse, better, or what others have. */
static inline fab_ink top_ink(double now, double before, fab_ink same) {
    return now > before * (1 + 1e-9) ? FAB_INK_BAD : now < before * (1 - 1e-9) ? FAB_INK_GOOD : same;
}

/** Bytes of the first so many columns of a text, or of all of it. */
size_t top_bytes_of(const char *text, size_t columns);

/** The fullest link of a part in any phase, in either direction. FAB_NONE: it carries nothing. */
double top_part_fullest(const top_model *model, uint32_t item, fab_link_id *out_link);
/** What a link is offered, over what is left of it; 0 of a dead one. */
double top_link_ratio(const fab_what_if_links *links, fab_link_id link);
/** Where the rank of a GPU runs now. */
uint32_t top_gpu_now(const top_model *model, uint32_t gpu);
/** What a flow has over the link that is looked at. */
double top_flow_here_bps(const top_view *view, uint32_t flow);
