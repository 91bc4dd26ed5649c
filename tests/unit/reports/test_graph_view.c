/* Graph views: what is merged adds up to what is whole, figures are those of the analysis; layouts: no box lies on
 * another. */
#include "fab/prices.h"
#include "fab/design.h"
#include "fab/overlay.h"
#include "fabric_fixture.h"
#include "graph/graph_view.h"
#include "graph/layout.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define N_RANDOM 120

static fab_fabric *next_fabric(fab_rng *rng, fab_design *design, random_design *drawn) {
    for (;;) {
        fab_fabric *fabric = NULL;
        *drawn = random_design_next(rng, 40);
        if (fab_design_read(drawn->text, NULL, 0, design, NULL) == FAB_OK &&
            fab_topology_build(&design->fabric, &fabric, NULL, NULL) == FAB_OK) {
            return fabric;
        }
    }
}

static bool has_view(const fab_fabric *f, fab_view kind) {
    return (kind != FAB_VIEW_POD || f->n_pods > 0) && (kind != FAB_VIEW_RAIL || f->n_rails > 0);
}

/* Figures of every link and cable, drawn at random. */
typedef struct figures {
    fab_phase_result phase[2];
    fab_engine_result engine[2][2];
    double *residual, *criticality, *node_criticality;
    uint64_t *dead_node;
    fab_overlay overlay;
} figures;

static void draw_figures(fab_rng *rng, const fab_fabric *f, figures *out) {
    *out = (figures){.residual = calloc(f->n_links, sizeof *out->residual),
                     .criticality = calloc(f->n_cables, sizeof *out->criticality),
                     .node_criticality = calloc(f->n_nodes, sizeof *out->node_criticality),
                     .dead_node = calloc(f->n_nodes / 64 + 1, sizeof *out->dead_node)};
    for (size_t p = 0; p < 2; p++) {
        out->phase[p] = (fab_phase_result){.engines = out->engine[p], .n_engines = 2};
        for (size_t e = 0; e < 2; e++) {
            out->engine[p][e].load_bytes = calloc(f->n_links, sizeof(double));
            out->engine[p][e].utilisation = calloc(f->n_links, sizeof(double));
            for (uint32_t l = 0; l < f->n_links; l++) {
                out->engine[p][e].load_bytes[l] = (double)fab_rng_below(rng, 1000);
                out->engine[p][e].utilisation[l] = (double)fab_rng_below(rng, 16) / 8;
            }
        }
    }
    for (uint32_t c = 0; c < f->n_cables; c++) {
        double residual = fab_rng_below(rng, 4) > 0 ? 1 : (double)fab_rng_below(rng, 3) / 4;
        out->residual[2 * c] = out->residual[2 * c + 1] = residual;
        out->criticality[c] = (double)fab_rng_below(rng, 100);
    }
    for (uint32_t v = 0; v < f->n_nodes; v += 1 + (uint32_t)fab_rng_below(rng, 9)) {
        out->dead_node[v >> 6] |= UINT64_C(1) << (v & 63);
    }
    for (uint32_t v = 0; v < f->n_nodes; v++) { /* some were not looked at */
        out->node_criticality[v] = fab_rng_below(rng, 3) == 0 ? NAN : (double)fab_rng_below(rng, 100);
    }
    out->overlay = (fab_overlay){.residual = out->residual,
                                 .dead_node = out->dead_node,
                                 .criticality = out->criticality,
                                 .node_criticality = out->node_criticality,
                                 .criticality_of = "test"};
}

static void free_figures(figures *x) {
    for (size_t i = 0; i < 4; i++) {
        free(x->engine[i / 2][i % 2].load_bytes);
        free(x->engine[i / 2][i % 2].utilisation);
    }
    free(x->residual);
    free(x->criticality);
    free(x->node_criticality);
    free(x->dead_node);
}

static fab_result result_of(const fab_fabric *f, fab_fabric_result *about, const fab_design *design, figures *x) {
    *about = (fab_fabric_result){.spec = design->fabric};
    return (fab_result){.graph = f,
                        .fabrics = about,
                        .n_fabrics = 1,
                        .phases = x != NULL ? x->phase : NULL,
                        .n_phases = x != NULL ? 2 : 0,
                        .overlay = x != NULL ? &x->overlay : NULL};
}

/* --- merged edges, found another way ------------------------------------------------------------------------------ */

/* Which merged node every node is in, from names alone: by kind, tier and group as the view promises. */
static uint32_t *members(const fab_graph_view *whole, const fab_graph_view *view, const char *text) {
    uint32_t *of = calloc(whole->n_nodes, sizeof *of);
    fab_graph_node *merged = calloc(view->n_nodes, sizeof *merged);
    uint32_t unit_gpus = whole->fabric->gpus_per_server;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        fab_graph_view_node(view, i, &merged[i]);
        cr_assert_eq(merged[i].id, i);
    }
    if (fab_n_of(whole->fabric, FAB_NODE_DOMAIN) > 0 && whole->fabric->gpus_per_domain > unit_gpus) {
        unit_gpus = whole->fabric->gpus_per_domain;
    }
    for (uint32_t v = 0; v < whole->n_nodes; v++) {
        fab_graph_node node;
        uint32_t found = 0;
        fab_graph_view_node(whole, v, &node);
        for (uint32_t i = 0; i < view->n_nodes; i++) {
            const fab_graph_node *m = &merged[i];
            bool is_switch = node.tier > 0;
            bool same = node.level == m->level;
            switch (view->kind) {
            case FAB_VIEW_POD: same = same && node.pod == m->group; break;
            case FAB_VIEW_RAIL: same = same && node.rail == m->group; break;
            case FAB_VIEW_PLANE: same = same && node.plane == m->group; break;
            case FAB_VIEW_TIER: break;
            default:
                if (is_switch) {
                    same = strcmp(m->name, node.name) == 0;
                } else {
                    uint32_t gpu = node.level == FAB_LEVEL_DOMAIN
                                       ? (v - whole->fabric->first[FAB_NODE_DOMAIN]) * whole->fabric->gpus_per_domain
                                       : node.server * whole->fabric->gpus_per_server;
                    same = m->tier == 0 && view->kind == FAB_VIEW_SERVER && gpu / unit_gpus == m->group;
                    if (view->kind == FAB_VIEW_LEAF) { /* blocks hold consecutive servers */
                        uint32_t last = i + 1 < view->n_nodes && merged[i + 1].tier == 0 ? merged[i + 1].server
                                                                                         : whole->fabric->n_servers;
                        uint32_t server = gpu / whole->fabric->gpus_per_server;
                        same = m->tier == 0 && m->server <= server && server < last;
                    }
                }
            }
            if (same) {
                of[v] = i;
                found++;
            }
        }
        cr_assert_eq(found, 1, "%s: %s is in %u nodes of view %s", text, node.name, found, fab_view_names[view->kind]);
    }
    free(merged);
    return of;
}

static void check_edge(const fab_graph_view *whole, const uint32_t *of, const fab_graph_edge *merged,
                       const char *text) {
    fab_graph_use room[FAB_MAX_ENGINES];
    fab_graph_edge cable;
    fab_graph_use sum[2] = {{.n_collided = 0}};
    double capacity = 0, residual = 0, worst = 0, metres = 0;
    uint32_t n = 0, failed = 0;
    for (uint32_t c = 0; c < whole->n_edges; c++) {
        fab_graph_view_edge(whole, c, room, &cable);
        bool there = of[cable.source] == merged->source && of[cable.target] == merged->target;
        bool back = of[cable.source] == merged->target && of[cable.target] == merged->source;
        bool inside = merged->source == merged->target && cable.link_kind != FAB_LINK_FABRIC;
        if ((!there && !back) || inside) {
            continue;
        }
        n++;
        failed += cable.n_failed;
        capacity += cable.capacity_bps;
        residual += cable.residual_ratio * cable.capacity_bps;
        metres += cable.length_m;
        worst = fmax(worst, cable.criticality);
        for (size_t e = 0; e < 2; e++) {
            const fab_graph_use *u = &cable.use[e];
            sum[e].load[0] += there ? u->load[0] : u->load[1];
            sum[e].load[1] += there ? u->load[1] : u->load[0];
            sum[e].most[0] = fmax(sum[e].most[0], there ? u->load[0] : u->load[1]);
            sum[e].use[0] = fmax(sum[e].use[0], there ? u->use[0] : u->use[1]);
            sum[e].mean_use[1] += there ? u->use[1] : u->use[0];
            sum[e].n_collided += u->n_collided;
        }
    }
    cr_assert_eq(n, merged->n_cables, "%s: edge %u has %u cables, not %u", text, merged->id, merged->n_cables, n);
    cr_assert_eq(failed, merged->n_failed, "%s", text);
    cr_assert_float_eq(capacity, merged->capacity_bps, 1e-6 * capacity, "%s", text);
    cr_assert_float_eq(capacity > 0 ? residual / capacity : 1, merged->residual_ratio, 1e-9, "%s", text);
    cr_assert_float_eq(metres / n, merged->length_m, 1e-9 * metres + 1e-12, "%s", text);
    cr_assert_float_eq(worst, merged->criticality, 0, "%s", text);
    for (size_t e = 0; e < 2; e++) {
        cr_assert_float_eq(sum[e].load[0], merged->use[e].load[0], 1e-6, "%s", text);
        cr_assert_float_eq(sum[e].load[1], merged->use[e].load[1], 1e-6, "%s", text);
        cr_assert_float_eq(sum[e].most[0], merged->use[e].most[0], 1e-6, "%s", text);
        cr_assert_float_eq(sum[e].use[0], merged->use[e].use[0], 1e-12, "%s", text);
        cr_assert_float_eq(sum[e].mean_use[1] / n, merged->use[e].mean_use[1], 1e-9, "%s", text);
        cr_assert_eq(sum[e].n_collided, merged->use[e].n_collided, "%s", text);
    }
}

/* Every cable is in one edge, or inside a node. */
static void check_view(const fab_graph_view *whole, const fab_graph_view *view, fab_rng *rng, const char *text) {
    uint32_t *of = members(whole, view, text);
    fab_graph_use room[FAB_MAX_ENGINES];
    fab_graph_edge edge;
    fab_graph_node node;
    uint64_t cables = 0, nodes = 0, gpus = 0, dead = 0, dead_whole = 0;
    for (uint32_t i = 0; i < view->n_edges; i++) {
        fab_graph_view_edge(view, i, room, &edge);
        cr_assert_eq(edge.id, i);
        cables += edge.n_cables;
        if (fab_rng_below(rng, view->n_edges) < 12) { /* each costs a look at all cables */
            check_edge(whole, of, &edge, text);
        }
    }
    for (uint32_t c = 0; c < whole->n_edges; c++) {
        fab_graph_view_edge(whole, c, room, &edge);
        cables += of[edge.source] == of[edge.target] && edge.link_kind != FAB_LINK_FABRIC;
    }
    double *worst = malloc(view->n_nodes * sizeof *worst); /* of the nodes that a merged one stands for */
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        worst[i] = NAN;
    }
    for (uint32_t i = 0; i < whole->n_nodes; i++) {
        worst[of[i]] = fmax(worst[of[i]], whole->result->overlay->node_criticality[i]);
    }
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        fab_graph_view_node(view, i, &node);
        cr_assert(isnan(worst[i]) ? isnan(node.criticality) : node.criticality == worst[i], "%s: node %u", text, i);
        nodes += node.n_nodes;
        gpus += node.n_gpus;
        dead += node.n_failed;
    }
    for (uint32_t i = 0; i < whole->n_nodes; i++) {
        fab_graph_view_node(whole, i, &node);
        dead_whole += node.n_failed;
    }
    cr_assert_eq(cables, whole->fabric->n_cables, "%s, view %s", text, fab_view_names[view->kind]);
    cr_assert_eq(nodes, whole->fabric->n_nodes, "%s, view %s", text, fab_view_names[view->kind]);
    cr_assert_eq(gpus, fab_n_gpus(whole->fabric), "%s, view %s", text, fab_view_names[view->kind]);
    cr_assert_eq(dead, dead_whole, "%s, view %s", text, fab_view_names[view->kind]);
    free(worst);
    free(of);
}

Test(graph_view, merged_views_add_up_to_the_whole) {
    fab_rng rng = fab_rng_make(20, 33);
    for (int i = 0; i < N_RANDOM; i++) {
        fab_design design;
        random_design drawn;
        figures x;
        fab_fabric_result about;
        fab_graph_view whole;
        fab_graph_view view;
        fab_fabric *f = next_fabric(&rng, &design, &drawn);
        draw_figures(&rng, f, &x);
        fab_result result = result_of(f, &about, &design, &x);
        cr_assert_eq(fab_graph_view_init(&result, FAB_VIEW_WHOLE, &whole, NULL), FAB_OK);
        cr_assert_eq(whole.n_engines, 2);
        for (fab_view kind = FAB_VIEW_SERVER; kind < FAB_VIEW_N; kind++) {
            fab_error err = {0};
            fab_status status = fab_graph_view_init(&result, kind, &view, &err);
            if (!has_view(f, kind)) {
                cr_assert_eq(status, FAB_EUNSUPPORTED);
                continue;
            }
            cr_assert_eq(status, FAB_OK, "%s: %s", drawn.text, err.text);
            check_view(&whole, &view, &rng, drawn.text);
            fab_graph_view_release(&view);
        }
        fab_graph_view_release(&whole);
        free_figures(&x);
        fab_fabric_free(f);
    }
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

/* The price of all nodes and edges is the total of the bill. */
Test(graph_view, costs_add_up_to_the_bill) {
    static const char *const DESIGNS[] = {"rail-spine:gpus=512,radix=32,taper=2",
                                          "clos:gpus=256,radix=16,planes=2,nic=400Gb/s,port=200Gb/s",
                                          "clos:gpus=64,radix=16,floor.rack-power=21kW,floor.hall-power=50kW",
                                          "rail-only:gpus=256,domain=16", "torus:gpus=64,torus=4,4,radix=32"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        static fab_design design;
        fab_fabric_result about = {.name = ""};
        fab_fabric *f = NULL;
        fab_error err = {0};
        cr_assert_eq(fab_design_read(DESIGNS[i], NULL, 0, &design, &err), FAB_OK, "%s", err.text);
        (void)snprintf(design.prices, sizeof design.prices, "%s", FAB_DEFAULT_PRICES);
        cr_assert_eq(fab_fabric_measure(&design, &about, &f, &err), FAB_OK, "%s: %s", DESIGNS[i], err.text);
        const fab_result result = {.graph = f, .fabrics = &about, .n_fabrics = 1};
        for (fab_view kind = FAB_VIEW_WHOLE; kind < FAB_VIEW_N; kind++) {
            fab_graph_view view;
            fab_graph_use room[FAB_MAX_ENGINES];
            fab_graph_edge edge;
            fab_graph_node node;
            double sum = 0;
            if (!has_view(f, kind)) {
                continue;
            }
            cr_assert_eq(fab_graph_view_init(&result, kind, &view, NULL), FAB_OK);
            cr_assert(view.has_cost);
            cr_assert_eq(view.has_racks, fab_floor_is_said(&about.spec));
            for (uint32_t v = 0; v < view.n_nodes; v++) {
                fab_graph_view_node(&view, v, &node);
                sum += isnan(node.cost_usd) ? 0 : node.cost_usd;
            }
            for (uint32_t e = 0; e < view.n_edges; e++) {
                fab_graph_view_edge(&view, e, room, &edge);
                sum += isnan(edge.cost_usd) ? 0 : edge.cost_usd;
            }
            cr_assert_float_eq(sum, about.cost.total_usd, 1e-9 * sum, "%s, view %s: %.17g, the bill says %.17g",
                               DESIGNS[i], fab_view_names[kind], sum, about.cost.total_usd);
            fab_graph_view_release(&view);
        }
        free(about.front_end);
        fab_fabric_free(f);
    }
}

/* Loads and collisions are those of the report. */
Test(graph_view, figures_are_those_of_the_report) {
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4", "dmodk", "adaptive", "spray"};
    static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:bisection"};
    for (size_t i = 0; i < 10; i++) {
        fab_design design;
        fab_fabric_result about;
        fab_graph_view view;
        fab_error err = {0};
        double worst = 0, busiest = 0;
        uint64_t collided = 0;
        fab_fabric *f = fixture_build("rail-spine:gpus=128,radix=16,taper=2", &design, NULL);
        fab_result result = result_of(f, &about, &design, NULL);
        const fab_engine_spec spec = fixture_spec(ENGINES[i / 2]);
        const fab_context_request what_of_replay = {
            .design = &design, .fabric = f, .traffic = TRAFFIC[i % 2], .engines = &spec, .n_engines = 1, .seed = 1};
        fab_context *context = fixture_context(&what_of_replay);
        const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 2, .keep_loads = true};
        result.fabrics = NULL;
        result.n_fabrics = 0;
        cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s", err.text);
        fab_context_free(context);
        cr_assert_eq(fab_graph_view_init(&result, FAB_VIEW_WHOLE, &view, &err), FAB_OK, "%s", err.text);
        for (uint32_t c = 0; c < view.n_edges; c++) {
            fab_graph_use room[FAB_MAX_ENGINES];
            fab_graph_edge edge;
            fab_graph_view_edge(&view, c, room, &edge);
            double factor = fab_graph_collision(&edge, 0);
            cr_assert_eq(isnan(factor), edge.link_kind != FAB_LINK_FABRIC);
            worst = fmax(worst, factor);
            busiest = fmax(busiest, edge.tier > 0 ? fmax(edge.use[0].use[0], edge.use[0].use[1]) : 0);
            collided += edge.use[0].n_collided;
        }
        const fab_engine_result *engine = &result.phases[0].engines[0];
        cr_assert_float_eq(worst, engine->max_collision_factor.mean, 0, "%s", ENGINES[i / 2]);
        cr_assert_float_eq(busiest, engine->max_utilisation.mean, 0, "%s", ENGINES[i / 2]);
        cr_assert_float_eq((double)collided, engine->collided_links.mean, 0, "%s", ENGINES[i / 2]);
        fab_graph_view_release(&view);
        fab_result_release(&result);
        fab_fabric_free(f);
    }
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

typedef struct rectangle {
    float x0, y0, x1, y1;
} rectangle;

static int by_place(const void *a, const void *b) {
    const rectangle *one = a;
    const rectangle *other = b;
    if (one->y0 != other->y0) {
        return one->y0 < other->y0 ? -1 : 1;
    }
    return one->x0 < other->x0 ? -1 : one->x0 > other->x0;
}

static void check_layout(const fab_graph_view *view, fab_graph_layout_density density, const char *text) {
    fab_graph_layout layout;
    fab_graph_layout again;
    fab_error err = {0};
    cr_assert_eq(fab_graph_layout_make(view, density, &layout, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_graph_layout_make(view, density, &again, NULL), FAB_OK);
    rectangle *boxes = calloc(view->n_nodes, sizeof *boxes);
    cr_assert_eq(memcmp(layout.x, again.x, view->n_nodes * sizeof *layout.x), 0, "%s", text);
    cr_assert_eq(memcmp(layout.y, again.y, view->n_nodes * sizeof *layout.y), 0, "%s", text);
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        const fab_graph_layout_row *row = fab_graph_layout_row_of(&layout, fab_graph_view_level(view, i));
        boxes[i] = (rectangle){layout.x[i] - row->width / 2, layout.y[i] - row->height / 2,
                               layout.x[i] + row->width / 2, layout.y[i] + row->height / 2};
        cr_assert(boxes[i].x0 >= -0.5F && boxes[i].x1 <= layout.width + 0.5F, "%s: node %u: %g to %g of %g", text, i,
                  (double)boxes[i].x0, (double)boxes[i].x1, (double)layout.width);
        cr_assert(boxes[i].y0 >= -0.5F && boxes[i].y1 <= layout.height + 0.5F, "%s", text);
    }
    qsort(boxes, view->n_nodes, sizeof *boxes, by_place);
    for (uint32_t i = 1; i < view->n_nodes; i++) {
        bool beside = boxes[i].y0 == boxes[i - 1].y0 && boxes[i].x0 >= boxes[i - 1].x1;
        bool below = boxes[i].y0 >= boxes[i - 1].y1;
        cr_assert(beside || below, "%s, view %s: boxes at %g, %g and %g, %g", text, fab_view_names[view->kind],
                  (double)boxes[i - 1].x0, (double)boxes[i - 1].y0, (double)boxes[i].x0, (double)boxes[i].y0);
    }
    for (uint32_t i = 0; i < layout.n_bands; i++) {
        cr_assert(layout.band[i].x0 < layout.band[i].x1, "%s", text);
        cr_assert(i == 0 || layout.band[i - 1].x1 < layout.band[i].x0, "%s", text);
    }
    free(boxes);
    fab_graph_layout_release(&layout);
    fab_graph_layout_release(&again);
}

Test(layout, no_box_lies_on_another) {
    fab_rng rng = fab_rng_make(21, 33);
    for (int i = 0; i < N_RANDOM; i++) {
        fab_design design;
        random_design drawn;
        fab_fabric_result about;
        fab_fabric *f = next_fabric(&rng, &design, &drawn);
        fab_result result = result_of(f, &about, &design, NULL);
        for (fab_view kind = FAB_VIEW_WHOLE; kind < FAB_VIEW_N; kind++) {
            fab_graph_view view;
            if (has_view(f, kind)) {
                cr_assert_eq(fab_graph_view_init(&result, kind, &view, NULL), FAB_OK);
                check_layout(&view, FAB_LAYOUT_NAMED, drawn.text);
                check_layout(&view, FAB_LAYOUT_COMPACT, drawn.text);
                fab_graph_view_release(&view);
            }
        }
        fab_fabric_free(f);
    }
}

/* Leaves stand over their servers: whatever the radix, order along the row follows order of the servers. */
Test(layout, leaves_stand_in_the_order_of_their_servers) {
    fab_design design;
    fab_fabric_result about;
    fab_graph_view view;
    fab_graph_layout layout;
    fab_fabric *f = fixture_build("clos:gpus=256,radix=16", &design, NULL);
    fab_result result = result_of(f, &about, &design, NULL);
    cr_assert_eq(fab_graph_view_init(&result, FAB_VIEW_LEAF, &view, NULL), FAB_OK);
    cr_assert_eq(fab_graph_layout_make(&view, FAB_LAYOUT_NAMED, &layout, NULL), FAB_OK);
    uint32_t n_blocks = view.n_nodes - fab_n_switches(f);
    cr_assert_eq(n_blocks, 32, "%u blocks", n_blocks); /* a block per leaf of 8 NICs */
    for (uint32_t i = 0; i < n_blocks; i++) {
        cr_assert_float_eq((double)layout.x[i], (double)layout.x[n_blocks + i], 1);
    }
    fab_graph_layout_release(&layout);
    fab_graph_view_release(&view);
    fab_fabric_free(f);
}

/* What can be read: small fabrics whole, large ones merged, and never wider than asked. */
Test(layout, the_view_that_can_be_read) {
    static const struct {
        const char *design;
        fab_view view;
    } ROWS[] = {
        {"rail-spine:gpus=16,radix=16", FAB_VIEW_WHOLE},           {"rail-spine:gpus=1024,radix=64", FAB_VIEW_LEAF},
        {"rail-spine:gpus=2048,radix=64", FAB_VIEW_RAIL},          {"preset:llama3-24k-roce", FAB_VIEW_POD},
        {"rail-only:gpus=32768,radix=64,domain=8", FAB_VIEW_RAIL}, {"clos:gpus=8192,radix=256,tiers=2", FAB_VIEW_TIER}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design design;
        fab_fabric_result about;
        fab_view view = FAB_VIEW_AUTO;
        fab_fabric *f = fixture_build(ROWS[i].design, &design, NULL);
        fab_result result = result_of(f, &about, &design, NULL);
        cr_assert_eq(fab_graph_layout_choose_view(&result, 2000, 2500, &view, NULL), FAB_OK);
        cr_expect_eq(view, ROWS[i].view, "%s: view %s", ROWS[i].design, fab_view_names[view]);
        fab_fabric_free(f);
    }
}
