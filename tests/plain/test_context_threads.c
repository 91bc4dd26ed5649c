/* Many threads ask one context for the first time: each part is built once, and all get the same bytes. A plain
 * program, because Criterion does not run under ThreadSanitizer. */
#include "fab/design.h"
#include "context_builds.h"
#include "context_fixture.h"
#include "fab/parallel.h"
#include "fab/topologies.h"

#include <string.h>

#define THREADS 8
#define ENGINES 4
#define ITEMS   64

typedef struct work {
    const fab_context *context;
    const fab_mask *mask;
    fab_workspace *workspaces[THREADS];
    size_t n_phases, n_links;
    double *loads;     /* [ITEMS][n_links] */
    double s[ITEMS];   /* time of the phase */
    double use[ITEMS]; /* largest utilisation */
} work;

/* Who comes first builds; in which order is left to the threads. */
static fab_status run(void *argument, size_t item, size_t worker, fab_error *err) {
    fab_status status = FAB_OK;
    work *w = argument;
    fab_evaluated found;
    const fab_state state = {.mask = w->mask};
    const fab_case at = {.phase = item / ENGINES % w->n_phases, .engine = item % ENGINES, .state = &state};
    const fab_case healthy = {.phase = at.phase, .engine = at.engine, .draw = item % 3};
    const fab_needs both = {.what = FAB_NEED_LOADS | FAB_NEED_TIME};
    const fab_needs figures = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES | FAB_NEED_GAP};
    if (w->workspaces[worker] == NULL) {
        FAB_TRY(fab_workspace_new(w->context, &w->workspaces[worker], err));
    }
    FAB_TRY(fab_evaluate(w->workspaces[worker], &at, &both, &found, err));
    memcpy(w->loads + item * w->n_links, found.loads->load, w->n_links * sizeof *w->loads);
    w->s[item] = found.time.transfer_s + found.time.latency_s;
    FAB_TRY(fab_evaluate(w->workspaces[worker], &healthy, &figures, &found, err));
    w->use[item] = found.figures.max_utilisation;
done:
    return status;
}

static int check_counts(const fab_context *context, size_t n_phases) {
    fab_context_builds n = fab_context_count(context);
    bool once = n.next_hops == 1 && n.dags == 1 && n.ports == 1 && n.traffics == 1 && n.routers == ENGINES &&
                n.offers == n_phases && n.demands == n_phases && n.bounds == n_phases &&
                n.baselines <= ENGINES * n_phases && n.estimators <= ENGINES * n_phases;
    if (!once) {
        (void)fprintf(stderr, "built: %zu next hops, %zu DAGs, %zu ports, %zu traffics, %zu routers, %zu offers\n",
                      n.next_hops, n.dags, n.ports, n.traffics, n.routers, n.offers);
    }
    return !once;
}

static int evaluate(const fab_context_request *asked, const fab_mask *mask, size_t n_threads, work *out) {
    fab_error err = {0};
    fab_context *context = fixture_context(asked);
    const fab_traffic *traffic = NULL;
    if (fab_context_traffic(context, &traffic, &err) != FAB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    *out = (work){.context = context, .mask = mask, .n_phases = traffic->n_phases, .n_links = asked->fabric->n_links};
    out->loads = calloc(ITEMS * out->n_links, sizeof *out->loads);
    int failures = fab_parallel_for(ITEMS, n_threads, run, out, &err) != FAB_OK;
    if (failures > 0) {
        (void)fprintf(stderr, "%s\n", err.text);
    }
    failures += check_counts(context, out->n_phases);
    for (size_t i = 0; i < THREADS; i++) {
        fab_workspace_free(out->workspaces[i]);
    }
    fab_context_free(context);
    return failures;
}

int main(void) {
    static const fab_engine_spec SPECS[ENGINES] = {{.text = "ecmp", .where = ""},
                                                   {.text = "dmodk", .where = ""},
                                                   {.text = "ecmp,qp=2", .where = ""},
                                                   {.text = "spray", .where = ""}};
    static fab_design design;
    fab_fabric *fabric = NULL;
    fab_mask mask;
    work one;
    work many;
    fab_component dead = {.kind = FAB_COMPONENT_SWITCH};
    fab_error err = {0};
    if (fab_design_read("clos:gpus=128,radix=16,tiers=3", NULL, 0, &design, &err) != FAB_OK ||
        fab_topology_build(&design.fabric, &fabric, NULL, &err) != FAB_OK ||
        fab_mask_init(fabric, NULL, &mask, &err) != FAB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    dead.id = fab_n_switches(fabric) - 1;
    const fab_context_request asked = {
        .design = &design, .fabric = fabric, .traffic = "job", .engines = SPECS, .n_engines = ENGINES, .seed = 3};
    int failures = fab_mask_set(&mask, &dead, 1, &err) != FAB_OK;
    failures += evaluate(&asked, &mask, 1, &one);
    for (int round = 0; round < 4; round++) {
        failures += evaluate(&asked, &mask, THREADS, &many);
        failures += memcmp(one.loads, many.loads, ITEMS * one.n_links * sizeof *one.loads) != 0 ||
                    memcmp(one.s, many.s, sizeof one.s) != 0 || memcmp(one.use, many.use, sizeof one.use) != 0;
        free(many.loads);
    }
    free(one.loads);
    fab_mask_release(&mask);
    fab_fabric_free(fabric);
    (void)printf("%s\n", failures == 0 ? "each part once, the same bytes for 1 and 8 threads" : "FAILED");
    return failures == 0 ? 0 : 1;
}
