/* Everything at once, on designs that are small enough: the bytes choose a fabric, traffic, an engine and failures.
 *
 *     conservation  loads are bytes times hops, and every switch sends what it receives
 *     capacity      max-min rates fill no link beyond what it has
 *     bounds        no phase is faster than its bound, no engine better than the optimum
 *     failures      outcomes are what they are in any order; nothing failed means nothing lost
 *     determinism   a second run, on two threads, gives the same report, byte by byte */
#include "engines/router.h"
#include "fab/assess.h"
#include "fab/reports.h"
#include "fuzz.h"
#include "fuzz_paths.h"

#include "../unit/context_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GPUS  96
#define MOST_LINKS 4000
#define MOST_FLOWS 6000

/* --- what is drawn ----------------------------------------------------------------------------------------------- */

typedef struct plan {
    char design[512], traffic[256], engine[256];
    uint32_t seed;
    fab_policy policy;
} plan;

static void draw_design(fuzz_source *s, char *out, size_t size) {
    static const char *const FAMILIES[] = {"clos", "fat-tree", "rail-spine", "rail-only", "dragonfly", "torus"};
    static const char *const RADIX[] = {"8", "16", "4", "7", "64", "12/20", "32/16/64"};
    static const char *const TAPER[] = {"1", "2", "3:2", "0.5", "7/3", "1/7", "2.5/1.5/4"};
    static const char *const SHAPES[] = {"1,nics-per-server=1", "2", "4", "8", "8,nics-per-server=4",
                                         "4,nics-per-server=8"};
    static const char *const MORE[] = {"",
                                       ",planes=2",
                                       ",breakout=2",
                                       ",spares=2",
                                       ",domain=8",
                                       ",tiers=3",
                                       ",nic=200Gb/s,port=800Gb/s",
                                       ",forward=source",
                                       ",forwarding=sequential",
                                       ",rails-per-switch=2",
                                       ",reduction=switch",
                                       ",pod=16",
                                       ",pcie=100Gb/s",
                                       ",torus=2,3,2",
                                       ",dragonfly=2,4,2",
                                       ",xgft=2;4,4;1,2"};
    const char *shape = FUZZ_WORD(s, SHAPES);
    uint32_t servers = 1 + fuzz_below(s, 24);
    const char *family = FUZZ_WORD(s, FAMILIES);
    int n = snprintf(out, size, "%s:gpus=%u,gpus-per-server=%s", family, servers * (uint32_t)(shape[0] - '0'), shape);
    if (fuzz_below(s, 8) != 7) {
        n += snprintf(out + n, size - (size_t)n, ",radix=%s", FUZZ_WORD(s, RADIX));
    }
    if (family[0] != 'd' && family[0] != 't') {
        n += snprintf(out + n, size - (size_t)n, ",taper=%s", FUZZ_WORD(s, TAPER));
    }
    for (uint32_t i = fuzz_below(s, 3); i > 0; i--) {
        n += snprintf(out + n, size - (size_t)n, "%s", FUZZ_WORD(s, MORE));
    }
}

static void draw_traffic(fuzz_source *s, char *out, size_t size) {
    static const char *const TRAFFIC[] = {"job",
                                          "pattern:permutation",
                                          "pattern:shift,by=",
                                          "pattern:ring",
                                          "pattern:bisection",
                                          "pattern:all-to-all",
                                          "pattern:incast",
                                          "pattern:hotspot",
                                          "pattern:all-reduce,algorithm=",
                                          "pattern:all-gather,algorithm=",
                                          "pattern:broadcast,algorithm=",
                                          "pattern:reduce-scatter,algorithm="};
    static const char *const ALGORITHMS[] = {"ring",         "doubling", "halving-doubling", "tree",     "mesh",
                                             "hierarchical", "halving",  "in-network",       "binomial", "all",
                                             "auto",         "nvls",     "nvls-tree",        "nccl"};
    const char *text = FUZZ_WORD(s, TRAFFIC);
    size_t length = strlen(text);
    if (text[length - 1] != '=') {
        (void)snprintf(out, size, "%s", text);
    } else if (strstr(text, "by=") != NULL) {
        (void)snprintf(out, size, "%s%u", text, 1 + fuzz_below(s, 31));
    } else {
        (void)snprintf(out, size, "%s%s", text, FUZZ_WORD(s, ALGORITHMS));
    }
}

static void draw_engine(fuzz_source *s, char *out, size_t size) {
    static const char *const ENGINES[] = {"ecmp",
                                          "ecmp,hash=crc16",
                                          "ecmp,hash=ideal",
                                          "ecmp,hash=xor,member-loss=resilient",
                                          "ecmp,weights=capacity",
                                          "dmodk",
                                          "pinned",
                                          "updn",
                                          "adaptive",
                                          "adaptive,view=downstream",
                                          "spray",
                                          "spray,weights=capacity",
                                          "optimal"};
    const char *engine = FUZZ_WORD(s, ENGINES);
    uint32_t qp = fuzz_below(s, 6);
    if (qp > 0 && strncmp(engine, "ecmp", 4) == 0) {
        (void)snprintf(out, size, "%s,qp=%u%s", engine, qp, qp == 5 ? ",spread=round-robin" : "");
    } else {
        (void)snprintf(out, size, "%s", engine);
    }
}

static void draw_job(fuzz_source *s, fab_design *design) {
    static const char *const JOBS[] = {"",
                                       "tp=2",
                                       "pp=2",
                                       "tp=2,pp=2",
                                       "model=gpt-1.7b,memory-check=off",
                                       "cp=2,memory-check=off",
                                       "kind=serving,memory-check=off",
                                       "model=mixtral-8x7b,ep=4,memory-check=off",
                                       "placement=random",
                                       "placement=scattered",
                                       "dp-collective=doubling"};
    char text[128];
    (void)snprintf(text, sizeof text, "%s", FUZZ_WORD(s, JOBS));
    for (char *at = text; at[0] != '\0';) {
        fab_error err = {0};
        size_t length = strcspn(at, ",");
        bool is_last = at[length] == '\0';
        at[length] = '\0';
        char *value = strchr(at, '=');
        *value++ = '\0';
        (void)fuzz_accepts(fab_design_set_job(design, 0, at, value, "fuzz", &err), &err);
        at = value + strlen(value) + (is_last ? 0 : 1);
    }
}

static plan draw_plan(fuzz_source *s) {
    plan p = {.seed = 0};
    draw_design(s, p.design, sizeof p.design);
    draw_traffic(s, p.traffic, sizeof p.traffic);
    draw_engine(s, p.engine, sizeof p.engine);
    p.seed = fuzz_below(s, 256);
    p.policy = (fab_policy)fuzz_below(s, FAB_POLICY_N);
    return p;
}

/* --- what holds -------------------------------------------------------------------------------------------------- */

static fab_status run(const fuzz_network *n, const plan *p, size_t n_threads, fab_result *out, char **out_json,
                      fab_error *err) {
    fab_status status = FAB_OK;
    size_t size = 0;
    FILE *file = NULL;
    fab_engine_spec spec = {.where = "fuzz"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", p->engine);
    *out =
        (fab_result){.command = FAB_COMMAND_ROUTE, .version = "0", .seed = p->seed, .n_seeds = 2, .graph = n->fabric};
    const fab_context_request what_of_replay = {.design = &n->design,
                                                .fabric = n->fabric,
                                                .traffic = p->traffic,
                                                .engines = &spec,
                                                .n_engines = 1,
                                                .seed = p->seed};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context,
                               .n_seeds = 2,
                               .n_threads = n_threads,
                               .bound = true,
                               .rates = true,
                               .keep_flows = true,
                               .keep_loads = true,
                               .keep_draws = true};
    FAB_TRY(fab_replay_run(&replay, out, err));
    file = open_memstream(out_json, &size);
    fuzz_check(file != NULL, "no room for a report");
    FAB_TRY(fab_report_write(fab_report_format_find("json"), out, NULL, file, err));
done:
    if (file != NULL) {
        (void)fclose(file);
    }
    fab_context_free(context);
    return status;
}

/* Rates of flows with one path each, link by link. */
static void check_capacity(const fuzz_network *n, const fab_router *router, const fab_phase *phase, uint64_t seed,
                           const fab_engine_result *e) {
    fab_routes routes = {0};
    fab_offer offer = {0};
    fab_error err = {0};
    double *rate = calloc(phase->n_flows + 1, sizeof *rate);
    double *used = calloc(n->fabric->n_links, sizeof *used);
    fuzz_check(fab_offer_init(n->fabric, &router->ports, phase, &offer, &err) == FAB_OK, "%s", err.text);
    fab_offer_chunk(&offer, phase, 0, (uint32_t)phase->n_flows, rate);
    const double *given = router->engine->route != NULL ? rate : NULL;
    fuzz_check(fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, given, seed, &routes, &err) == FAB_OK, "%s",
               err.text);
    bool has_rates = e->flows != NULL && e->n_flows == phase->n_flows && e->n_rounds == 1;
    for (uint32_t i = 0; i < routes.n_flows && has_rates; i++) {
        fuzz_check(e->flows[i].rate_bps > 0 && isfinite(e->flows[i].rate_bps), "flow %u runs at %g", i,
                   e->flows[i].rate_bps);
        uint32_t n_paths = routes.flow_first[i + 1] - routes.flow_first[i];
        uint32_t p = routes.flow_first[i];
        for (size_t k = routes.path_first[p]; n_paths == 1 && k < routes.path_first[p + 1]; k++) {
            used[routes.link[k]] += e->flows[i].rate_bps;
        }
    }
    for (uint32_t l = 0; l < n->fabric->n_links; l++) {
        double capacity = fab_class_of(n->fabric, l)->capacity_bps;
        /* what GPUs relay before they send is on links inside servers at another time */
        bool is_shared = !n->fabric->stores_and_forwards || fab_class_of(n->fabric, l)->tier > 0;
        fuzz_check(!is_shared || used[l] <= capacity * (1 + 1e-6), "link %u carries %g of %g", l, used[l], capacity);
    }
    fab_offer_release(&offer);
    fab_routes_release(&routes);
    free(rate);
    free(used);
}

/* What a phase's figures have to do with each other. */
static void check_figures(const fuzz_network *n, const fab_phase_result *phase, const fab_engine_result *e) {
    fab_error err = {0};
    double longest_s = 0;
    if (e->load_bytes != NULL && e->n_rounds == 1) {
        fuzz_check(fab_check_conservation(n->fabric, e->load_bytes, &err) == FAB_OK, "%s: %s", err.where, err.text);
        for (uint32_t l = 0; l < n->fabric->n_links; l++) {
            double s = 8 * e->load_bytes[l] / fab_class_of(n->fabric, l)->capacity_bps;
            longest_s = s > longest_s ? s : longest_s;
        }
    }
    fuzz_check(e->max_utilisation.min >= 0 && isfinite(e->max_utilisation.max), "utilisation %g",
               e->max_utilisation.max);
    if (e->has_gap) {
        fuzz_check(e->optimum_gap.min >= -1e-6, "better than the optimum by %g", -e->optimum_gap.min);
    }
    if (e->has_time) {
        fuzz_check(phase->drawn_per_seed || e->transfer_s.min >= phase->least_s * (1 - 1e-6),
                   "%g s, where none needs less than %g", e->transfer_s.min, phase->least_s);
        fuzz_check(e->transfer_s.max >= longest_s * (1 - 1e-6) || e->n_seeds > 1, "%g s, but a link needs %g",
                   e->transfer_s.max, longest_s);
        fuzz_check(e->transfer_s.max >= e->busiest_link_s.min * (1 - 1e-6), "%g s, but a link needs %g",
                   e->transfer_s.max, e->busiest_link_s.min);
        fuzz_check(e->time_s.min >= e->transfer_s.min, "%g s, of them %g for the bytes", e->time_s.min,
                   e->transfer_s.min);
    }
}

static void check_run(const fuzz_network *n, const plan *p, const fab_router *router) {
    fab_result first = {0};
    fab_result second = {0};
    char *json = NULL;
    char *again = NULL;
    fab_error err = {0};
    fab_error other = {0};
    fab_status status = run(n, p, 1, &first, &json, &err);
    fab_status repeated = run(n, p, 2, &second, &again, &other);
    fuzz_check(status == repeated && strcmp(err.text, other.text) == 0, "%s: '%s', then '%s'", p->design, err.text,
               other.text);
    if (fuzz_accepts(status, &err)) {
        fuzz_check(json != NULL && again != NULL && strcmp(json, again) == 0, "%s, %s, %s: two reports:\n%s\n%s",
                   p->design, p->traffic, p->engine, json, again);
        fuzz_check(first.n_phases == n->traffic.n_phases || n->traffic.depends_on_seed, "%zu phases", first.n_phases);
        for (size_t i = 0; i < first.n_phases; i++) {
            check_figures(n, &first.phases[i], &first.phases[i].engines[0]);
            if (!router->facts.splits && !n->traffic.depends_on_seed) {
                check_capacity(n, router, &n->traffic.phases[i], fab_router_seed(router, p->seed),
                               &first.phases[i].engines[0]);
            }
        }
    }
    free(json);
    free(again);
    fab_result_release(&first);
    fab_result_release(&second);
}

/* --- failures ---------------------------------------------------------------------------------------------------- */

static void draw_failures(fuzz_source *s, const fab_fabric *f, fab_scenario *out) {
    out->n_components = 0;
    for (uint32_t i = fuzz_below(s, 4); i > 0; i--) {
        fab_component_kind kind = (fab_component_kind)fuzz_below(s, FAB_COMPONENT_N_KINDS);
        uint32_t n = fab_component_count(f, NULL, kind);
        fab_component c = {.kind = kind, .fraction = fuzz_below(s, 4) == 3 ? 0.5 : 0};
        uint32_t number = fuzz_below(s, n > 0 && n < 65536 ? n : 1);
        fab_error err = {0};
        c.id = number;
        if (kind == FAB_COMPONENT_LINK || kind == FAB_COMPONENT_PORT) {
            c.id = fuzz_below(s, f->n_links < 65536 ? f->n_links : 65535);
        }
        if (n > 0 && fuzz_accepts(fab_component_check(f, NULL, &c, &err), &err)) {
            out->component[out->n_components++] = c;
        }
    }
}

static void check_outcome(const fab_outcome *o) {
    fuzz_check(o->state < FAB_OUTCOME_N_STATES, "state %u", o->state);
    fuzz_check(!(o->lost_ratio < 0) && !(o->lost_ratio > 1 + 1e-9), "%g of what is offered is lost", o->lost_ratio);
    fuzz_check(!(o->worst_ratio < 0) && !(o->time_s < 0) && !(o->slowdown < 0), "worst %g, time %g, slowdown %g",
               o->worst_ratio, o->time_s, o->slowdown);
    fuzz_check(o->state != FAB_OUTCOME_STOPPED || isnan(o->slowdown), "stopped, and %g times slower", o->slowdown);
}

static void must_equal(const fab_outcome *a, const fab_outcome *b, const char *what) {
    bool times = (isnan(a->time_s) && isnan(b->time_s)) || a->time_s == b->time_s;
    bool ratios = (isnan(a->worst_ratio) && isnan(b->worst_ratio)) || a->worst_ratio == b->worst_ratio;
    fuzz_check(a->state == b->state && a->n_collisions == b->n_collisions && a->n_moved == b->n_moved &&
                   a->n_disconnected == b->n_disconnected && a->worst_link == b->worst_link && times && ratios,
               "%s: state %u, %u collisions, worst %g, %g s, then %u, %u, %g, %g", what, a->state, a->n_collisions,
               a->worst_ratio, a->time_s, b->state, b->n_collisions, b->worst_ratio, b->time_s);
}

static void check_failures(const fuzz_network *n, const plan *p, fuzz_source *s) {
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_component components[2][4];
    fab_scenario drawn[2] = {{.component = components[0]}, {.component = components[1]}};
    fab_scenario nothing = {.component = components[0]};
    fab_outcome first[2];
    fab_outcome again;
    fab_error err = {0};
    fab_engine_spec spec = {.where = "fuzz"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", p->engine);
    const fab_context_request asked = {.design = &n->design,
                                       .fabric = n->fabric,
                                       .traffic = p->traffic,
                                       .engines = &spec,
                                       .n_engines = 1,
                                       .seed = p->seed};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {.context = context,
                                            .policies = &p->policy,
                                            .n_policies = 1,
                                            .times = fuzz_below(s, 2) == 1,
                                            .rates = fab_failure_rates_default()};
    draw_failures(s, n->fabric, &drawn[0]);
    draw_failures(s, n->fabric, &drawn[1]);
    bool is_right = fuzz_accepts(fab_assessment_new(&request, &assessment, &err), &err) &&
                    fuzz_accepts(fab_assessor_new(assessment, &assessor, &err), &err);
    for (size_t i = 0; i < 2 && is_right; i++) {
        is_right = fuzz_accepts(fab_assess(assessor, i, &drawn[i], 0, &first[i], &err), &err);
    }
    if (is_right) {
        check_outcome(&first[0]);
        check_outcome(&first[1]);
        fuzz_check(fab_assess(assessor, 1, &drawn[1], 0, &again, &err) == FAB_OK, "%s", err.text);
        must_equal(&first[1], &again, "at once again");
        fuzz_check(fab_assess(assessor, 0, &drawn[0], 0, &again, &err) == FAB_OK, "%s", err.text);
        must_equal(&first[0], &again, "in another order");
        fuzz_check(fab_assess(assessor, 2, &nothing, 0, &again, &err) == FAB_OK, "%s", err.text);
        fab_outcome healthy = fab_assessment_healthy(assessment, 0);
        must_equal(&healthy, &again, "nothing failed");
        fuzz_check(again.n_disconnected == 0 && again.lost_ratio == 0, "nothing failed, %u flows are cut off",
                   again.n_disconnected);
    }
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static bool is_small(const fab_design *design) {
    fab_counts *counts = calloc(1, sizeof *counts);
    fab_fabric_spec *spec = malloc(sizeof *spec);
    fab_error err = {0};
    fuzz_check(counts != NULL && spec != NULL, "no memory");
    *spec = design->fabric;
    bool small = fuzz_accepts(fab_topology_predict(spec, counts, &err), &err) && counts->gpus <= MOST_GPUS &&
                 counts->cables * 2 <= MOST_LINKS;
    free(counts);
    free(spec);
    return small;
}

static bool has_few_flows(const fab_traffic *traffic) {
    uint64_t n = 0;
    for (size_t i = 0; i < traffic->n_phases; i++) {
        n += traffic->phases[i].n_flows;
    }
    return n <= MOST_FLOWS && n > 0;
}

static void run_all(fuzz_network *n, const plan *p, fuzz_source *s) {
    fab_error err = {0};
    fab_router router;
    fab_engine_spec spec = {.where = "fuzz"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", p->engine);
    fuzz_check(fab_next_hops_new(n->fabric, NULL, &n->next_hops, &err) == FAB_OK, "%s", err.text);
    if (fuzz_accepts(fab_traffic_make(p->traffic, &n->design, n->fabric, p->seed, &n->traffic, &err), &err) &&
        has_few_flows(&n->traffic) &&
        fuzz_accepts(fab_router_init(&spec, n->fabric, n->next_hops, &router, &err), &err)) {
        fuzz_route(n, &spec, p->seed);
        check_run(n, p, &router);
        check_failures(n, p, s);
        fab_router_release(&router);
    }
    fab_traffic_release(&n->traffic);
    fab_next_hops_free(n->next_hops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_source source = {data, size};
    fuzz_network *network = calloc(1, sizeof *network);
    fab_error err = {0};
    plan p = draw_plan(&source);
    if (fuzz_accepts(fab_design_read(p.design, NULL, 0, &network->design, &err), &err) && is_small(&network->design)) {
        draw_job(&source, &network->design);
        if (fuzz_accepts(fab_topology_build(&network->design.fabric, &network->fabric, NULL, &err), &err)) {
            run_all(network, &p, &source);
        }
    }
    fab_fabric_free(network->fabric);
    free(network);
    return 0;
}
