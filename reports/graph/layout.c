/* Rows of a tree. The lowest row stands in order; every other node wants to stand at the mean of its neighbours below
 * it. Within a row nodes are sorted by that wish and pushed apart as little as possible: with the least sum of squared
 * distances from their wishes under a least gap, which pooling of adjacent violators finds in one pass [Ayer, Brunk,
 * Ewing, Reid, Silverman, Ann. Math. Stat. 26, 1955]. What shares its children thus stands together in its order. */
#include "layout.h"

#define AROUND      170.0F /* of a page: heading, legend */
#define MOST_SPREAD 3.0F   /* so far apart are rows at most, beside what they are */
#define FEW_NODES   24     /* of the fullest row: boxes have room for names */
#define FEW_GROUPS  14     /* the same for merged nodes with a second line */
#define GAP         8.0F
#define GAP_CLOSE   3.0F /* within a server */
#define GAP_SERVERS 14.0F
#define GAP_GROUPS  30.0F
#define MANY_EDGES  300

typedef struct wish {
    double x;
    uint32_t id;
} wish;

/* --- boxes -------------------------------------------------------------------------------------------------------- */

typedef struct box {
    float width, height;
} box;

static bool keeps_switches(const fab_graph_view *view) {
    return view->kind == FAB_VIEW_WHOLE || view->kind == FAB_VIEW_SERVER || view->kind == FAB_VIEW_LEAF;
}

/* Longest name is that of the last node, up to a digit. */
static box named_box(const fab_graph_view *view, uint32_t last) {
    fab_graph_node node;
    fab_graph_view_node(view, last, &node);
    return (box){(float)(7 * strlen(node.name) + 16), 26};
}

static box number_box(const fab_graph_view *view, uint32_t level, uint32_t n) {
    const bool is_named = view->fabric->names != NULL && level >= FAB_LEVEL_TIER(1); /* by others than by numbers */
    float width = n <= 100 ? is_named ? 46.0F : 24.0F : n <= 1000 ? 30.0F : 38.0F;
    return level == FAB_LEVEL_DOMAIN && keeps_switches(view) ? (box){54, 18}
           : level < FAB_LEVEL_TIER(1)                       ? (box){width, 18}
                                                             : (box){width, 20};
}

static void size_row(const fab_graph_view *view, fab_graph_layout_density density, uint32_t fullest, uint32_t last,
                     fab_graph_layout_row *row) {
    box b = {118, 40};
    bool blocks = view->kind == FAB_VIEW_LEAF && row->level == FAB_LEVEL_GPU;
    row->text = FAB_LAYOUT_COUNTS;
    if (keeps_switches(view) && !blocks) {
        bool named = density == FAB_LAYOUT_NAMED || fullest <= FEW_NODES;
        row->text = named ? FAB_LAYOUT_NAME : FAB_LAYOUT_NUMBER;
        b = named ? named_box(view, last) : number_box(view, row->level, row->n_nodes);
    } else if (density != FAB_LAYOUT_NAMED && row->n_nodes > FEW_GROUPS) {
        row->text = FAB_LAYOUT_NUMBER;
        b = number_box(view, row->level, row->n_nodes);
    }
    row->width = b.width;
    row->height = b.height;
}

/* Rows from the top: tiers downwards, then NICs, GPUs, domains. Levels that the view has not are left out. */
static void make_rows(const fab_graph_view *view, fab_graph_layout_density density, fab_graph_layout *out) {
    uint32_t count[FAB_LEVELS] = {0};
    uint32_t last[FAB_LEVELS] = {0};
    uint32_t fullest = 0;
    for (uint32_t id = 0; id < view->n_nodes; id++) {
        uint32_t level = fab_graph_view_level(view, id);
        count[level]++;
        last[level] = id;
    }
    for (uint32_t i = 0; i < FAB_LEVELS; i++) {
        static const uint32_t IN_SERVER[] = {FAB_LEVEL_NIC, FAB_LEVEL_GPU, FAB_LEVEL_DOMAIN};
        uint32_t level = i < FAB_FABRIC_TIERS ? FAB_LEVELS - 1 - i : IN_SERVER[i - FAB_FABRIC_TIERS];
        if (count[level] > 0) {
            out->row[out->n_rows++] = (fab_graph_layout_row){.level = level, .n_nodes = count[level]};
            fullest = count[level] > fullest ? count[level] : fullest;
        }
    }
    for (uint32_t i = 0; i < out->n_rows; i++) {
        size_row(view, density, fullest, last[out->row[i].level], &out->row[i]);
    }
}

const fab_graph_layout_row *fab_graph_layout_row_of(const fab_graph_layout *layout, uint32_t level) {
    uint32_t i = 0;
    while (i + 1 < layout->n_rows && layout->row[i].level != level) {
        i++;
    }
    return &layout->row[i];
}

/* --- places within a row ------------------------------------------------------------------------------------------ */

/* The lowest row, with gaps between servers and wider ones between pods; as wide as the widest row where its nodes are
 * merged, so that they stand below what they are plugged into. */
static void place_in_order(const fab_graph_view *view, const fab_graph_layout *layout, const fab_graph_layout_row *row,
                           wish *wishes, float *x) {
    fab_graph_node before = {.id = 0};
    fab_graph_node node;
    double at = 0;
    double widest = 0;
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        fab_graph_view_node(view, wishes[i].id, &node);
        if (i > 0) {
            bool server_ends = view->kind == FAB_VIEW_WHOLE && node.server != before.server;
            bool pod_ends = keeps_switches(view) && node.pod != before.pod;
            at += (double)(row->width +
                           (pod_ends      ? GAP_GROUPS
                            : server_ends ? GAP_SERVERS
                                          : 0) +
                           (view->kind == FAB_VIEW_WHOLE ? GAP_CLOSE : GAP));
        }
        x[node.id] = (float)at;
        before = node;
    }
    for (uint32_t i = 0; i < layout->n_rows; i++) {
        widest = fmax(widest, (double)(layout->row[i].width + GAP) * (layout->row[i].n_nodes - 1));
    }
    double stretch = view->kind != FAB_VIEW_WHOLE && at > 0 && row->n_nodes > 1
                         ? fmax(1, widest * (row->n_nodes - 1) / row->n_nodes / at)
                         : 1;
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        x[wishes[i].id] = (float)((double)x[wishes[i].id] * stretch);
    }
}

FAB_ORDER_TWO(compare_wishes, wish, x, id);

/* Pools of nodes that touch each other: sum of wishes, each shifted to the pool's first place, and number. */
typedef struct pool {
    double sum;
    uint32_t n;
} pool;

static void push_apart(wish *wishes, uint32_t n, double step, pool *pools, float *x) {
    uint32_t n_pools = 0;
    FAB_ALL_IN(sorted, i, 1, n, compare_wishes(&wishes[i - 1], &wishes[i]) < 0);
    if (!sorted) {
        qsort(wishes, n, sizeof *wishes, compare_wishes);
    }
    for (uint32_t i = 0; i < n; i++) {
        pools[n_pools++] = (pool){wishes[i].x - step * i, 1};
        while (n_pools > 1 &&
               pools[n_pools - 2].sum / pools[n_pools - 2].n >= pools[n_pools - 1].sum / pools[n_pools - 1].n) {
            pools[n_pools - 2].sum += pools[n_pools - 1].sum;
            pools[n_pools - 2].n += pools[n_pools - 1].n;
            n_pools--;
        }
    }
    for (uint32_t k = 0, i = 0; k < n_pools; k++) {
        for (uint32_t j = 0; j < pools[k].n; j++, i++) {
            x[wishes[i].id] = (float)(pools[k].sum / pools[k].n + step * i);
        }
    }
}

/* Nodes of a level, each with the mean of its neighbours in the levels below that are placed. */
typedef struct placing {
    const fab_graph_view *view;
    fab_graph_layout *layout;
    wish *wishes; /* shape [n_nodes] */
    pool *pools;  /* shape [n_nodes] */
    double *sum;  /* shape [n_nodes] */
    uint32_t *n;  /* shape [n_nodes] */
} placing;
FAB_FREES(placing_release, placing, wishes, pools, sum, n);

static uint32_t list_level(const placing *p, uint32_t level) {
    uint32_t n = 0;
    for (uint32_t id = 0; id < p->view->n_nodes; id++) {
        if (fab_graph_view_level(p->view, id) == level) {
            p->wishes[n++].id = id;
        }
    }
    return n;
}

/* Every edge leads from a lower level to a higher one, or stays in its level. */
static void gather_wishes(const placing *p, uint32_t level, double middle) {
    const fab_graph_layout_row *row = fab_graph_layout_row_of(p->layout, level);
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        p->sum[p->wishes[i].id] = 0;
        p->n[p->wishes[i].id] = 0;
    }
    for (uint32_t i = 0; i < p->view->n_edges; i++) {
        uint32_t source = 0;
        uint32_t target = 0;
        fab_graph_view_ends(p->view, i, &source, &target);
        if (fab_graph_view_level(p->view, target) == level && fab_graph_view_level(p->view, source) != level) {
            p->sum[target] += (double)p->layout->x[source];
            p->n[target]++;
        }
    }
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        uint32_t id = p->wishes[i].id;
        p->wishes[i].x = p->n[id] > 0 ? p->sum[id] / p->n[id] : middle;
    }
}

/* From one node of a row to the next at least: few switches above many servers use half of the width. */
static double step_of(const fab_graph_layout_row *row, uint32_t level, double width) {
    double least = (double)(row->width + (level < FAB_LEVEL_TIER(1) ? GAP_CLOSE : GAP));
    double airy = level < FAB_LEVEL_TIER(1) ? 0 : fmin(0.55 * width / row->n_nodes, 3 * (double)row->width);
    return fmax(least, airy);
}

static void place_rows(const placing *p) {
    fab_graph_layout *out = p->layout;
    double middle = 0;
    uint32_t lowest = fab_graph_layout_row_of(out, FAB_LEVEL_GPU)->level; /* the first of what stands in servers */
    (void)list_level(p, lowest);
    const fab_graph_layout_row *row = fab_graph_layout_row_of(out, lowest);
    place_in_order(p->view, out, row, p->wishes, out->x);
    middle = (double)out->x[p->wishes[row->n_nodes - 1].id] / 2;
    for (uint32_t level = 0; level < FAB_LEVELS; level++) {
        row = fab_graph_layout_row_of(out, level);
        if (row->level == level && level != lowest) {
            (void)list_level(p, level);
            gather_wishes(p, level, middle);
            push_apart(p->wishes, row->n_nodes, step_of(row, level, 2 * middle), p->pools, out->x);
        }
    }
}

/* --- the whole picture -------------------------------------------------------------------------------------------- */

/* Moves everything to the right of 0, rounds, and sets the width. */
static void shift(const fab_graph_view *view, fab_graph_layout *out) {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (uint32_t id = 0; id < out->n_nodes; id++) {
        double half = (double)fab_graph_layout_row_of(out, fab_graph_view_level(view, id))->width / 2;
        least = fmin(least, (double)out->x[id] - half);
        most = fmax(most, (double)out->x[id] + half);
    }
    FAB_FILL(out->x, out->n_nodes, (float)floor((double)out->x[fab_at] - least + 0.5));
    out->width = (float)ceil(most - least + 1);
}

/* Wide and dense drawings get more room between tiers, so that lines are not too flat. */
static void place_heights(const fab_graph_view *view, fab_graph_layout *out) {
    float steep = view->n_edges > MANY_EDGES && fab_is_tree(view->fabric) ? 0.15F : 0.09F;
    float room = fminf(fmaxf(floorf(out->width * steep), 84), 240);
    float y = 0;
    for (uint32_t i = 0; i < out->n_rows; i++) {
        fab_graph_layout_row *row = &out->row[i];
        if (i > 0) {
            bool in_server = row->level < FAB_LEVEL_TIER(1) && row[-1].level < FAB_LEVEL_TIER(1);
            y += in_server ? (keeps_switches(view) ? 26 : 44) : room;
        }
        row->y = y + row->height / 2;
        y += row->height;
    }
    FAB_FILL(out->y, out->n_nodes, fab_graph_layout_row_of(out, fab_graph_view_level(view, (uint32_t)fab_at))->y);
    out->height = y;
}

/* --- bands -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_TWO(compare_bands, fab_graph_layout_band, x0, y0);

/* Columns or rows of what belongs together; none where they would overlap. */
static fab_status make_bands(const fab_graph_view *view, fab_graph_layout *out, fab_error *err) {
    const fab_fabric *f = view->fabric;
    fab_graph_node node;
    uint32_t n = view->kind == FAB_VIEW_RAIL    ? f->n_rails
                 : view->kind == FAB_VIEW_PLANE ? f->n_planes
                 : view->kind == FAB_VIEW_TIER  ? 0
                                                : f->n_pods;
    out->band_name = view->kind == FAB_VIEW_RAIL         ? "rail"
                     : view->kind == FAB_VIEW_PLANE      ? "plane"
                     : f->wiring == FAB_WIRING_DRAGONFLY ? "group"
                                                         : "pod";
    if (n < 2) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(out->band, n, err));
    FAB_FILL(out->band, n, (fab_graph_layout_band){(uint32_t)fab_at, HUGE_VALF, -HUGE_VALF, HUGE_VALF, -HUGE_VALF});
    for (uint32_t id = 0; id < out->n_nodes; id++) {
        fab_graph_view_node(view, id, &node);
        uint32_t group = view->kind == FAB_VIEW_RAIL ? node.rail : view->kind == FAB_VIEW_PLANE ? node.plane : node.pod;
        if (group < n) {
            const fab_graph_layout_row *row = fab_graph_layout_row_of(out, node.level);
            fab_graph_layout_band *band = &out->band[group];
            band->x0 = fminf(band->x0, out->x[id] - row->width / 2);
            band->x1 = fmaxf(band->x1, out->x[id] + row->width / 2);
            band->y0 = fminf(band->y0, out->y[id] - row->height / 2);
            band->y1 = fmaxf(band->y1, out->y[id] + row->height / 2);
        }
    }
    qsort(out->band, n, sizeof *out->band, compare_bands);
    out->n_bands = n;
    for (uint32_t i = 0; i < n; i++) {
        const fab_graph_layout_band *band = &out->band[i];
        if (band->x0 > band->x1 || (i > 0 && band->x0 <= band[-1].x1 && band->y0 <= band[-1].y1)) {
            out->n_bands = 0; /* one is empty, or two overlap */
        }
    }
    return FAB_OK;
}

/* A strip of rows becomes a page of them. */
static void spread_rows(fab_graph_layout *l) {
    const float factor = fminf((l->width * 9 / 16 - AROUND) / l->height, MOST_SPREAD);
    if (!(factor > 1)) {
        return;
    }
    for (uint32_t id = 0; id < l->n_nodes; id++) {
        l->y[id] *= factor;
    }
    for (uint32_t i = 0; i < l->n_rows; i++) {
        l->row[i].y *= factor;
    }
    l->height *= factor;
}

fab_status fab_graph_layout_make(const fab_graph_view *view, fab_graph_layout_density density, fab_graph_layout *out,
                                 fab_error *err) {
    FAB_OWNS(fab_graph_layout_release) fab_graph_layout layout = {.n_nodes = view->n_nodes};
    FAB_OWNS(placing_release) placing p = {.view = view, .layout = &layout};
    make_rows(view, density, &layout);
    layout.is_grid = !fab_is_tree(view->fabric) && keeps_switches(view);
    FAB_PASS(FAB_NEW_ALL(view->n_nodes, err, layout.x, layout.y));
    if (layout.is_grid) {
        FAB_PASS(fab_graph_layout_grid(view, density, &layout, err));
    } else if (view->n_nodes > 0) {
        FAB_PASS(FAB_NEW_ALL(view->n_nodes, err, p.wishes, p.pools, p.sum, p.n));
        place_rows(&p);
        shift(view, &layout);
        place_heights(view, &layout);
        if (density == FAB_LAYOUT_SLIDE) {
            spread_rows(&layout);
        }
    }
    FAB_PASS(make_bands(view, &layout, err));
    return FAB_GIVE(*out, layout);
}

FAB_RELEASES(fab_graph_layout_release, fab_graph_layout, x, y, band);

/* --- the finest view that can be read ----------------------------------------------------------------------------- */

/* A fabric has at least as many nodes in a row as GPUs or leaves: no view is made that cannot fit. */
static bool may_fit(const fab_fabric *f, fab_view kind, float width) {
    double room = (double)width / 24;
    double gpus = fab_n_gpus(f);
    double leaves = f->first_of_tier[2] - f->first_of_tier[1];
    bool rails_apart = f->n_rails > 1 && f->rails_per_network < f->n_rails;
    switch (kind) {
    case FAB_VIEW_WHOLE: return gpus <= room;
    case FAB_VIEW_SERVER: return gpus / f->gpus_per_server <= room * 8 && leaves <= room * 4;
    case FAB_VIEW_LEAF: return leaves <= room * 4;
    case FAB_VIEW_POD: return f->n_pods > 1 && f->n_pods <= room && !rails_apart;
    case FAB_VIEW_RAIL: return f->n_rails > 1 && f->n_rails <= room && (rails_apart || f->switch_rail[0] != UINT16_MAX);
    case FAB_VIEW_PLANE: return f->n_planes > 1 && f->n_planes <= room;
    default: return true;
    }
}

fab_status fab_graph_layout_choose_view(const fab_result *result, float width, uint32_t n_edges, fab_view *out,
                                        fab_error *err) {
    FAB_OWNS(fab_graph_view_release) fab_graph_view view = {.kind = FAB_VIEW_AUTO};
    FAB_OWNS(fab_graph_layout_release) fab_graph_layout layout = {.n_nodes = 0};
    FAB_REFUSE_IF(result->graph == NULL, err, FAB_EUNSUPPORTED, NULL,
                  "a graph shows a fabric that was built, and this command builds none");
    for (fab_view kind = FAB_VIEW_WHOLE; kind < FAB_VIEW_TIER; kind++) {
        if (!may_fit(result->graph, kind, width)) {
            continue;
        }
        FAB_PASS(fab_graph_view_init(result, kind, &view, err));
        FAB_PASS(fab_graph_layout_make(&view, FAB_LAYOUT_SLIDE, &layout, err));
        bool fits = layout.width <= width && view.n_edges <= n_edges;
        fab_graph_layout_release(&layout);
        fab_graph_view_release(&view);
        if (fits) {
            *out = kind;
            return FAB_OK;
        }
    }
    *out = FAB_VIEW_TIER;
    return FAB_OK;
}
