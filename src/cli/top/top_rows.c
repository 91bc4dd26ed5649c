/* How rows look. Figures are formatted as the report formats them. */
#include "top_view.h"

#define NAME_SIZE ((size_t)2 * FAB_LINK_NAME_SIZE)
#define GAP       2

/* A column: on the left with the given width, or on the right. The first takes what the others leave. */
typedef struct top_column {
    const char *heading;
    size_t width;
    bool is_left;
} top_column;

static const top_column PHASES[] = {{"phase", 0, true},   {"time", 10, false},       {"healthy", 10, false},
                                    {"slower", 8, false}, {"collisions", 10, false}, {"healthy", 8, false},
                                    {"fullest", 8, false}};
static const top_column LINKS[] = {{"link", 0, true},  {"offered", 11, false}, {"capacity", 11, false},
                                   {"full", 8, false}, {"healthy", 8, false},  {"", 5, true}};
static const top_column FLOWS[] = {
    {"flow", 0, true}, {"rate", 10, false}, {"here", 10, false}, {"bottleneck", 26, true}};
static const top_column PARTS[] = {
    {"part", 0, true}, {"left", 8, false}, {"fullest", 8, false}, {"its link", 28, true}};
static const top_column BROKEN[] = {{"broken", 0, true}, {"left", 8, false}};

static const struct {
    const top_column *columns;
    size_t n;
} TABLES[TOP_N_VIEWS] = {{PHASES, FAB_N_OF(PHASES)},
                         {LINKS, FAB_N_OF(LINKS)},
                         {FLOWS, FAB_N_OF(FLOWS)},
                         {PARTS, FAB_N_OF(PARTS)},
                         {BROKEN, FAB_N_OF(BROKEN)}};

size_t top_bytes_of(const char *text, size_t columns) {
    size_t bytes = 0;
    for (size_t i = 0; i < columns && text[bytes] != '\0'; i++) {
        do {
            bytes++;
        } while ((text[bytes] & 0xC0) == 0x80);
    }
    return bytes;
}

/* A text of at most so many columns: of longer ones the middle is left out, as names differ at their ends. */
static const char *fit(const char *text, size_t width, char *out, size_t size) {
    const size_t columns = fab_text_columns(text);
    if (columns <= width || width < 4) {
        (void)snprintf(out, size, "%.*s", columns <= width ? (int)strlen(text) : (int)width, text);
        return out;
    }
    const size_t head = (width - 2) / 2;
    const char *tail = text + top_bytes_of(text, columns - (width - 2 - head));
    (void)snprintf(out, size, "%.*s..%s", (int)top_bytes_of(text, head), text, tail);
    return out;
}

static size_t first_width(const top_view *v, const fab_page *page) {
    FAB_SUM_IN(size_t, others, i, 1, TABLES[v->kind].n, TABLES[v->kind].columns[i].width + GAP);
    return page->width > others + 8 ? page->width - others : 8;
}

/* Columns that the width has no room for are left out, the last first. */
static void put_cell(const top_view *v, fab_page *page, size_t column, fab_ink ink, const char *text) {
    char cut[NAME_SIZE];
    const top_column *c = TABLES[v->kind].columns;
    size_t at = 0;
    size_t width = first_width(v, page);
    for (size_t i = 0; i < column; i++) {
        at += width + GAP;
        width = c[i + 1].width;
    }
    if (at + width > page->width) {
        return;
    }
    (void)fit(text, width, cut, sizeof cut);
    if (c[column].is_left) {
        fab_page_to(page, at);
        fab_page_put(page, ink, cut);
    } else {
        fab_page_right(page, ink, at + width, cut);
    }
}

void top_view_headings(const top_view *v, fab_page *page) {
    for (size_t i = 0; i < TABLES[v->kind].n; i++) {
        put_cell(v, page, i, FAB_INK_DIM, TABLES[v->kind].columns[i].heading);
    }
    fab_page_end_line(page);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* "rank 5 (gpu-7)", or "gpu-7" without a job. */
static void name_end(const top_model *m, uint32_t gpu, char *out, size_t size) {
    char name[FAB_NODE_NAME_SIZE];
    const uint32_t *rank = top_traffic(m)->rank_of_gpu;
    (void)fab_node_name(top_fabric(m), top_gpu_now(m, gpu), name);
    if (rank != NULL && rank[gpu] != FAB_NONE && rank[gpu] != top_gpu_now(m, gpu)) {
        (void)snprintf(out, size, "rank %u (%s)", rank[gpu], name);
    } else {
        (void)snprintf(out, size, "%s", name);
    }
}

static fab_flow flow_of(const top_model *m, const top_view *v, uint32_t item) {
    return fab_phase_flow(&top_traffic(m)->phases[v->phase], item);
}

const char *top_view_name(const top_model *m, const top_view *v, size_t row, char *out) {
    const uint32_t item = v->item[row];
    fab_component part = {FAB_COMPONENT_LINK, 0, 0};
    out[0] = '\0';
    if (v->kind == TOP_PHASES) {
        (void)snprintf(out, NAME_SIZE, "%s", m->answer->phases[item]);
    } else if (v->kind == TOP_LINKS) {
        (void)fab_link_name(top_fabric(m), item, out);
    } else if (v->kind == TOP_FLOWS) {
        const fab_flow flow = flow_of(m, v, item);
        name_end(m, flow.src, out, NAME_SIZE / 2);
        fab_append(out, NAME_SIZE, " > ");
        name_end(m, flow.dst, out + strlen(out), NAME_SIZE / 2 - 8);
    } else if (top_view_part(m, v, row, &part)) {
        part.fraction = 0; /* without what is left of it */
        (void)fab_component_name(top_fabric(m), &part, out);
    }
    return out;
}

const char *top_view_title(const top_model *m, const top_view *v, char *out) {
    static const char *const TITLES[TOP_N_VIEWS] = {"phases", "links of ", "flows of ", "servers, switches, NICs",
                                                    "broken parts"};
    const bool of_phase = v->kind == TOP_LINKS || v->kind == TOP_FLOWS;
    char name[FAB_LINK_NAME_SIZE];
    (void)snprintf(out, FAB_LINK_NAME_SIZE, "%s%s%s%s", TITLES[v->kind], of_phase ? v->phase_name : "",
                   v->kind == TOP_FLOWS ? " on " : "",
                   v->kind == TOP_FLOWS ? fab_link_name(top_fabric(m), v->link, name) : "");
    return out;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static const char *show_time(fab_page *page, double s) {
    return isfinite(s) ? fab_show_time(page, s) : "-";
}

/* "dead", "x0.5", "" */
static const char *show_left(fab_page *page, double left) {
    return left >= 1 ? "" : left > 0 ? fab_show(page, "x%.3g", left) : "dead";
}

static void row_phase(const top_model *m, const top_view *v, uint32_t p, fab_page *page) {
    const fab_failed_phase *now = &top_model_state(m)->phases[p];
    const fab_failed_phase *was = &top_model_healthy(m)->phases[p];
    const bool timed = isfinite(now->time_s) && was->time_s > 0;
    if (!top_model_is_known(m)) {
        put_cell(v, page, 1, FAB_INK_PLAIN, "-");
        put_cell(v, page, 2, FAB_INK_PLAIN, show_time(page, was->time_s));
        return;
    }
    put_cell(v, page, 1, FAB_INK_PLAIN, now->n_disconnected > 0 ? "cut" : show_time(page, now->time_s));
    put_cell(v, page, 2, FAB_INK_PLAIN, show_time(page, was->time_s));
    put_cell(v, page, 3, timed ? top_ink(now->time_s, was->time_s, FAB_INK_PLAIN) : FAB_INK_PLAIN,
             timed ? fab_show_factor(page, now->time_s / was->time_s) : "");
    put_cell(v, page, 4, top_ink(now->n_collisions, was->n_collisions, FAB_INK_PLAIN),
             fab_show_count(page, now->n_collisions));
    put_cell(v, page, 5, FAB_INK_PLAIN, fab_show_count(page, was->n_collisions));
    put_cell(v, page, 6, top_ink(now->worst_ratio, was->worst_ratio, FAB_INK_PLAIN),
             fab_show_factor(page, now->worst_ratio));
}

static void row_link(const top_model *m, const top_view *v, fab_link_id link, fab_page *page) {
    fab_what_if_links l;
    fab_what_if_loads(m->what_if, v->phase, &l);
    const double capacity = l.capacity_bps[link];
    const double ratio = top_link_ratio(&l, link);
    const bool is_dead = !(l.residual[link] > 0);
    put_cell(v, page, 1, FAB_INK_PLAIN, fab_show_rate(page, l.load_bps[link]));
    put_cell(v, page, 2, FAB_INK_PLAIN, fab_show_rate(page, capacity * l.residual[link]));
    put_cell(v, page, 3, is_dead ? FAB_INK_BAD : top_ink(ratio, l.healthy_bps[link] / capacity, FAB_INK_PLAIN),
             is_dead ? "dead" : fab_show_factor(page, ratio));
    put_cell(v, page, 4, FAB_INK_PLAIN, fab_show_factor(page, l.healthy_bps[link] / capacity));
    put_cell(v, page, 5, FAB_INK_BAD, is_dead ? "" : show_left(page, l.residual[link]));
}

static void row_flow(const top_model *m, const top_view *v, uint32_t flow, fab_page *page) {
    char name[FAB_LINK_NAME_SIZE];
    const fab_link_id held = v->flows.bottleneck[flow];
    put_cell(v, page, 1, FAB_INK_PLAIN, fab_show_rate(page, v->flows.rate_bps[flow]));
    put_cell(v, page, 2, FAB_INK_PLAIN, fab_show_rate(page, top_flow_here_bps(v, flow)));
    put_cell(v, page, 3, held == v->link ? FAB_INK_BOLD : FAB_INK_PLAIN,
             held == FAB_NONE  ? "the receiver's window"
             : held == v->link ? "this link"
                               : fab_link_name(top_fabric(m), held, name));
}

static void row_part(const top_model *m, const top_view *v, size_t row, fab_page *page) {
    fab_component part = {FAB_COMPONENT_LINK, 0, 0};
    char name[FAB_LINK_NAME_SIZE];
    fab_link_id link = FAB_NONE;
    (void)top_view_part(m, v, row, &part);
    put_cell(v, page, 1, FAB_INK_BAD, show_left(page, top_model_left(m, &part)));
    if (v->kind == TOP_PARTS && top_model_is_known(m)) {
        const double ratio = top_part_fullest(m, v->item[row], &link);
        put_cell(v, page, 2, ratio > 1 + 1e-9 ? FAB_INK_BAD : FAB_INK_PLAIN, fab_show_factor(page, ratio));
        put_cell(v, page, 3, FAB_INK_PLAIN, link != FAB_NONE ? fab_link_name(top_fabric(m), link, name) : "");
    }
}

void top_view_row(const top_model *m, const top_view *v, size_t row, fab_page *page) {
    char name[NAME_SIZE];
    put_cell(v, page, 0, FAB_INK_PLAIN, top_view_name(m, v, row, name));
    switch (v->kind) {
    case TOP_PHASES: row_phase(m, v, v->item[row], page); break;
    case TOP_LINKS: row_link(m, v, v->item[row], page); break;
    case TOP_FLOWS: row_flow(m, v, v->item[row], page); break;
    default: row_part(m, v, row, page); break;
    }
    fab_page_end_line(page);
}

/* --- the selected row --------------------------------------------------------------------------------------------- */

void top_view_detail(const top_model *m, const top_view *v, fab_page *page) {
    char name[NAME_SIZE];
    char cut[NAME_SIZE];
    char comm[64];
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    if (v->n == 0) {
        fab_str_add(&text, v->note);
    } else {
        fab_str_add(&text, top_view_name(m, v, v->row, name));
    }
    if (v->n > 0 && v->kind == TOP_PHASES && top_model_is_known(m)) {
        const fab_failed_phase *now = &top_model_state(m)->phases[v->item[v->row]];
        fab_str_printf(&text, now->worst_link[0] != '\0' ? ": fullest is %s" : ": nothing in the network",
                       now->worst_link);
        if (now->n_disconnected > 0) {
            fab_str_printf(&text, "; %s cut off", fab_show_counted(page, now->n_disconnected, "flow is", "flows are"));
        }
    } else if (v->n > 0 && v->kind == TOP_FLOWS) {
        const uint32_t item = v->item[v->row];
        const fab_flow flow = flow_of(m, v, item);
        fab_str_printf(&text, ": %s, %s, %u of %u paths here",
                       fab_comm_name(top_traffic(m), &top_traffic(m)->phases[v->phase], flow.comm, comm),
                       fab_show_bytes(page, (double)flow.bytes), v->crossing[item],
                       v->flows.flow_first[item + 1] - v->flows.flow_first[item]);
    }
    fab_page_put(page, FAB_INK_PLAIN, fit(text.data != NULL ? text.data : "", page->width, cut, sizeof cut));
    fab_page_end_line(page);
}
