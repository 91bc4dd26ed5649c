/* Rates and times of phases against slow filling over routes that are listed here: random fabrics of every family,
 * random matrices, engines of both kinds. */
#include "engines/router.h"
#include "random_design.h"
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/split_pairs.h"
#include "fab/topologies.h"
#include "oracle_max_min.h"

#include "context_fixture.h"
#include "split/split_rule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

static const char *const ENGINES[] = {"ecmp",
                                      "ecmp,qp=3",
                                      "spray,window=1GB",
                                      "spray,weights=capacity,window=1GB",
                                      "optimal,window=1GB",
                                      "adaptive,granularity=flow"}; /* windows have tests of their own */
#define N_ENGINES (sizeof ENGINES / sizeof ENGINES[0])

typedef struct world {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_dag *dag;
    fab_ports ports;
    fab_traffic traffic;
    fab_offer offer;
    fab_demand demand;
} world;

static bool make(const char *text, const char *traffic, world *w) {
    fab_error err = {0};
    *w = (world){0};
    if (fab_design_read(text, NULL, 0, &w->design, &err) != FAB_OK ||
        fab_topology_build(&w->design.fabric, &w->fabric, NULL, &err) != FAB_OK) {
        return false;
    }
    fab_status status = fab_next_hops_new(w->fabric, NULL, &w->next_hops, &err);
    status = status == FAB_OK ? fab_dag_new(w->fabric, w->next_hops, &w->dag, &err) : status;
    status = status == FAB_OK ? fab_ports_init(w->fabric, &w->ports, &err) : status;
    status = status == FAB_OK ? fab_traffic_make(traffic, &w->design, w->fabric, 1, &w->traffic, &err) : status;
    const fab_phase *phase = &w->traffic.phases[0];
    status = status == FAB_OK ? fab_offer_init(w->fabric, &w->ports, phase, &w->offer, &err) : status;
    status = status == FAB_OK ? fab_demand_init(w->fabric, &w->ports, w->next_hops, phase, &w->offer, &w->demand, &err)
                              : status;
    cr_assert_eq(status, FAB_OK, "%s: %s", text, err.text);
    return true;
}

static void discard(world *w) {
    fab_demand_release(&w->demand);
    fab_offer_release(&w->offer);
    fab_traffic_release(&w->traffic);
    fab_ports_release(&w->ports);
    fab_dag_free(w->dag);
    fab_next_hops_free(w->next_hops);
    fab_fabric_free(w->fabric);
}

/* A matrix over up to 24 GPUs, bytes of three sizes or any. */
static void write_matrix(const char *path, uint32_t n_gpus, fab_rng *rng) {
    FILE *out = fopen(path, "w");
    uint64_t n = 1 + fab_rng_below(rng, 24);
    bool any = fab_rng_below(rng, 2) == 0;
    (void)fprintf(out, "src,dst,bytes\n");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t src = fab_rng_below(rng, n_gpus);
        uint64_t dst = (src + 1 + fab_rng_below(rng, n_gpus - 1)) % n_gpus;
        (void)fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", src, dst,
                      any ? 1 + fab_rng_below(rng, 1000000) : UINT64_C(100000) << fab_rng_below(rng, 3));
    }
    (void)fclose(out);
}

/* --- the problem, listed ------------------------------------------------------------------------------------------ */

typedef struct listed {
    fab_sharing sharing;
    double *capacity, *weight, *bits;
    uint64_t *first;
    uint32_t *link;
    double *share;
    uint32_t *flow_first; /* [flows + 1]: solver's flows of a flow */
    size_t n;
} listed;

static void put(listed *t, uint32_t link, double share) {
    t->link = realloc(t->link, (t->n + 1) * sizeof *t->link);
    t->share = realloc(t->share, (t->n + 1) * sizeof *t->share);
    for (size_t i = t->first[t->sharing.n_flows]; i < t->n; i++) {
        if (t->link[i] == link) {
            t->share[i] += share;
            return;
        }
    }
    t->link[t->n] = link;
    t->share[t->n++] = share;
}

static void list_paths(const world *w, const fab_router *router, listed *t) {
    const fab_phase *phase = &w->traffic.phases[0];
    fab_routes routes = {0};
    fab_error err = {0};
    cr_assert_eq(fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, w->offer.rate, 1, &routes, &err), FAB_OK,
                 "%s", err.text);
    uint32_t n_paths = routes.flow_first[phase->n_flows];
    t->first = calloc(n_paths + 1, sizeof *t->first);
    t->weight = calloc(n_paths, sizeof *t->weight);
    t->bits = calloc(n_paths, sizeof *t->bits);
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        double part = 1.0 / (routes.flow_first[flow + 1] - routes.flow_first[flow]);
        for (uint32_t p = routes.flow_first[flow]; p < routes.flow_first[flow + 1]; p++) {
            for (size_t i = routes.path_first[p]; i < routes.path_first[p + 1]; i++) {
                put(t, routes.link[i], 1);
            }
            t->weight[p] = part;
            t->bits[p] = 8.0 * (double)phase->bytes[flow] * part;
            t->first[++t->sharing.n_flows] = t->n;
        }
        t->flow_first[flow + 1] = routes.flow_first[flow + 1];
    }
    fab_routes_release(&routes);
}

static void list_split(const world *w, const fab_router *router, listed *t) {
    const fab_phase *phase = &w->traffic.phases[0];
    fab_split split = {0};
    fab_pair_walk *walk = NULL;
    fab_error err = {0};
    cr_assert_eq(router->engine->split(router, w->dag, &w->demand, NULL, &split, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_pair_walk_new(w->fabric, w->next_hops, &split, &walk, &err), FAB_OK);
    t->first = calloc(phase->n_flows + 1, sizeof *t->first);
    t->weight = calloc(phase->n_flows, sizeof *t->weight);
    t->bits = calloc(phase->n_flows, sizeof *t->bits);
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        double part = 1.0 / w->demand.n_parts;
        for (uint32_t p = 0; p < w->demand.n_parts; p++) {
            fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(w->fabric, &w->ports, phase->src[flow], phase->dst[flow], p, segments);
            uint32_t pair = w->demand.pair_of[flow * w->demand.n_parts + p];
            for (uint32_t i = 0; i < n; i++) {
                put(t, segments[i], part);
            }
            for (uint32_t dst = 0; pair != FAB_NONE && dst < w->demand.n_leaves; dst++) {
                if (pair >= w->demand.first[dst] && pair < w->demand.first[dst + 1]) {
                    fab_pair_links links;
                    cr_assert_eq(fab_pair_walk_get(walk, w->demand.src[pair], dst, &links, &err), FAB_OK);
                    for (uint32_t i = 0; i < links.n; i++) {
                        put(t, links.link[i], links.share[i] * part);
                    }
                }
            }
        }
        t->weight[flow] = 1;
        t->bits[flow] = 8.0 * (double)phase->bytes[flow];
        t->first[++t->sharing.n_flows] = t->n;
        t->flow_first[flow + 1] = t->sharing.n_flows;
    }
    fab_pair_walk_free(walk);
    fab_split_release(&split);
}

static void list(const world *w, const fab_router *router, listed *t) {
    const fab_fabric *f = w->fabric;
    *t = (listed){.sharing = {.n_links = f->n_links}};
    t->capacity = calloc(f->n_links, sizeof *t->capacity);
    t->flow_first = calloc(w->traffic.phases[0].n_flows + 1, sizeof *t->flow_first);
    for (uint32_t l = 0; l < f->n_links; l++) {
        t->capacity[l] = fab_class_of(f, l)->capacity_bps;
    }
    if (router->facts.splits) {
        list_split(w, router, t);
    } else {
        list_paths(w, router, t);
    }
    t->sharing.capacity = t->capacity;
    t->sharing.first = t->first;
    t->sharing.link = t->link;
    t->sharing.share = t->share;
    t->sharing.weight = t->weight;
}

static void forget(listed *t) {
    free(t->capacity);
    free(t->weight);
    free(t->bits);
    free(t->first);
    free(t->link);
    free(t->share);
    free(t->flow_first);
}

/* --- the comparison ----------------------------------------------------------------------------------------------- */

static void near(const char *text, const char *engine, const char *what, double fast, double slow) {
    cr_assert_leq(fabs(fast - slow), 1e-9 * fabs(slow), "%s, %s: %s %.17g, not %.17g", text, engine, what, fast, slow);
}

static void check_engine(const char *text, const world *w, const fab_engine_spec *spec, const fab_engine_result *got) {
    fab_router router;
    fab_error err = {0};
    listed t;
    cr_assert_eq(fab_router_init(spec, w->fabric, w->next_hops, &router, &err), FAB_OK, "%s", err.text);
    list(w, &router, &t);
    uint64_t n_flows = w->traffic.phases[0].n_flows;
    double *rate = calloc(t.sharing.n_flows, sizeof *rate);
    double *finish = calloc(t.sharing.n_flows, sizeof *finish);
    oracle_fill(&t.sharing, NULL, rate);
    oracle_finish(&t.sharing, t.bits, finish);
    double end = 0;
    double least = INFINITY;
    double sum = 0;
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        double own = 0;
        for (uint32_t i = t.flow_first[flow]; i < t.flow_first[flow + 1]; i++) {
            own += rate[i];
            end = fmax(end, finish[i]);
        }
        least = fmin(least, own);
        sum += own;
    }
    cr_assert(got->has_time && got->has_rates, "%s, %s", text, spec->text);
    near(text, spec->text, "time", got->transfer_s.mean, end);
    near(text, spec->text, "least rate", got->min_rate.mean, least);
    near(text, spec->text, "mean rate", got->mean_rate.mean, sum / (double)n_flows);
    cr_assert_geq(got->lower_bound_ratio.mean, 1);
    double held =
        got->rates.bottlenecked_at_pcie + got->rates.bottlenecked_at_scaleup + got->rates.bottlenecked_at_window;
    for (size_t i = 0; i < got->n_tiers; i++) {
        held += got->tiers[i].bottlenecked_flows;
    }
    near(text, spec->text, "held flows", held, (double)n_flows);
    free(rate);
    free(finish);
    forget(&t);
    fab_router_release(&router);
}

Test(oracle_rates, random_fabrics_and_matrices) {
    fab_rng rng = fab_rng_make(53, 1);
    char path[] = "/tmp/fabriscope-rates-XXXXXX";
    char traffic[64];
    int fd = mkstemp(path);
    uint32_t n_checked = 0;
    cr_assert_geq(fd, 0);
    (void)close(fd);
    (void)snprintf(traffic, sizeof traffic, "file:%s", path);
    for (uint32_t i = 0; i < 70; i++) {
        random_design d = random_design_next(&rng, 40);
        world w;
        fab_error err = {0};
        fab_design design;
        fab_fabric *probe = NULL;
        if (fab_design_read(d.text, NULL, 0, &design, &err) != FAB_OK ||
            fab_topology_build(&design.fabric, &probe, NULL, &err) != FAB_OK) {
            continue;
        }
        uint32_t n_gpus = fab_n_gpus(probe);
        fab_fabric_free(probe);
        if (n_gpus < 2) {
            continue;
        }
        write_matrix(path, n_gpus, &rng);
        if (!make(d.text, traffic, &w)) {
            continue;
        }
        fab_engine_spec specs[N_ENGINES];
        for (size_t e = 0; e < N_ENGINES; e++) {
            specs[e] = (fab_engine_spec){0};
            (void)snprintf(specs[e].text, sizeof specs[e].text, "%s", ENGINES[e]);
        }
        const fab_context_request what_of_replay = {.design = &w.design,
                                                    .fabric = w.fabric,
                                                    .traffic = traffic,
                                                    .engines = specs,
                                                    .n_engines = N_ENGINES,
                                                    .seed = 1};
        fab_context *context = fixture_context(&what_of_replay);
        const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 2, .rates = true};
        fab_result result = {0};
        fab_status status = fab_replay_run(&replay, &result, &err);
        fab_context_free(context);
        cr_assert(status == FAB_OK || status == FAB_EUNSUPPORTED || status == FAB_EUNREACHABLE, "%s: %s", d.text,
                  err.text);
        for (size_t e = 0; status == FAB_OK && e < N_ENGINES; e++) {
            check_engine(d.text, &w, &specs[e], &result.phases[0].engines[e]);
            n_checked++;
        }
        fab_result_release(&result);
        discard(&w);
    }
    (void)unlink(path);
    cr_assert_gt(n_checked, 120, "%u", n_checked);
}
