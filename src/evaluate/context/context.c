/* Tables, engines and traffic, each built when first asked for, here or in the context that this one stands on. */
#include "context_parts.h"

#include "fab/design.h"

void fab_once_init(fab_once *once, size_t n) {
    for (size_t i = 0; i < n; i++) {
        once[i] = (fab_once){.status = FAB_OK};
        atomic_init(&once[i].is_done, false);
        (void)pthread_mutex_init(&once[i].lock, NULL); /* without attributes it does not fail */
    }
}

void fab_once_release(fab_once *once, size_t n) {
    for (size_t i = 0; i < n; i++) {
        (void)pthread_mutex_destroy(&once[i].lock);
        free(once[i].error);
        once[i].error = NULL;
    }
}

static void build_once(fab_once *once, fab_once_build *build, fab_context *context, size_t index) {
    fab_error error = {.code = FAB_OK};
    once->status = build(context, index, &error);
    once->n_builds++;
    if (once->status != FAB_OK && FAB_NEW(once->error, 1, NULL) == FAB_OK) {
        *once->error = error;
    }
    atomic_store_explicit(&once->is_done, true, memory_order_release);
}

fab_status fab_once_run(fab_once *once, fab_once_build *build, fab_context *context, size_t index, fab_error *err) {
    if (!atomic_load_explicit(&once->is_done, memory_order_acquire)) {
        (void)pthread_mutex_lock(&once->lock);
        if (!atomic_load_explicit(&once->is_done, memory_order_relaxed)) {
            build_once(once, build, context, index);
        }
        (void)pthread_mutex_unlock(&once->lock);
    }
    if (once->status == FAB_OK) {
        return FAB_OK;
    }
    return once->error != NULL ? fab_fail(err, once->status, once->error->where, "%s", once->error->text)
                               : fab_fail(err, once->status, NULL, "out of memory");
}

/* --- whose part it is --------------------------------------------------------------------------------------------- */

static bool same_fabric(const fab_context *c) {
    return c->what.base != NULL && c->what.fabric == c->what.base->what.fabric;
}

/* Next hops and ports go by nodes and links alone. */
static const fab_context *graph_owner(const fab_context *c) {
    while (c->what.base != NULL) {
        c = c->what.base;
    }
    return c;
}

static const fab_context *fabric_owner(const fab_context *c) {
    while (same_fabric(c)) {
        c = c->what.base;
    }
    return c;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* But for the seed. */
static bool may_share_traffic(const fab_context *c) {
    const fab_context_request *q = &c->what;
    return same_fabric(c) && q->given == q->base->what.given && q->design == q->base->what.design &&
           q->gpus == q->base->what.gpus && same_text(q->traffic, q->base->what.traffic);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static fab_status build_sizes(fab_context *c, FAB_UNUSED size_t index, FAB_UNUSED fab_error *err) {
    fab_replay_sizes_of(c->what.fabric, &c->parts->sizes);
    return FAB_OK;
}

fab_status fab_context_sizes(const fab_context *context, const fab_replay_sizes **out, fab_error *err) {
    fab_context *c = (fab_context *)graph_owner(context);
    FAB_PASS(fab_once_run(&c->parts->once[PART_SIZES], build_sizes, c, 0, err));
    *out = &c->parts->sizes;
    return FAB_OK;
}

static fab_status build_next_hops(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    const fab_replay_sizes *sizes = NULL;
    FAB_PASS(fab_context_sizes(c, &sizes, err));
    FAB_PASS(fab_context_check(&c->what, fab_graph_bytes(sizes) + fab_next_hops_bytes(sizes), "", err));
    return fab_next_hops_new(c->what.fabric, NULL, &c->parts->next_hops, err);
}

fab_status fab_context_next_hops(const fab_context *context, const fab_next_hops **out, fab_error *err) {
    fab_context *c = (fab_context *)graph_owner(context);
    FAB_PASS(fab_once_run(&c->parts->once[PART_NEXT_HOPS], build_next_hops, c, 0, err));
    *out = c->parts->next_hops;
    return FAB_OK;
}

static fab_status build_dag(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    const fab_replay_sizes *sizes = NULL;
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    FAB_PASS(fab_context_sizes(c, &sizes, err));
    FAB_PASS(fab_context_check(&c->what, fab_graph_bytes(sizes) + fab_next_hops_bytes(sizes) + fab_dags_bytes(sizes),
                               "", err));
    return fab_dag_new(c->what.fabric, next_hops, &c->parts->dag, err);
}

fab_status fab_context_dag(const fab_context *context, const fab_dag **out, fab_error *err) {
    fab_context *c = (fab_context *)fabric_owner(context);
    FAB_PASS(fab_once_run(&c->parts->once[PART_DAG], build_dag, c, 0, err));
    *out = c->parts->dag;
    return FAB_OK;
}

static fab_status build_ports(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    return fab_ports_init(c->what.fabric, &c->parts->ports, err);
}

fab_status fab_context_ports(const fab_context *context, const fab_ports **out, fab_error *err) {
    fab_context *c = (fab_context *)graph_owner(context);
    FAB_PASS(fab_once_run(&c->parts->once[PART_PORTS], build_ports, c, 0, err));
    *out = &c->parts->ports;
    return FAB_OK;
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

/* Under spray-ack the paths of a flow are its entropies, where an engine hashes and nothing else is asked for. */
static fab_engine_spec engine_of(const fab_context *c, size_t engine) {
    fab_engine_spec spec = c->what.engines[engine];
    const fab_transport_spec *t = c->what.design != NULL ? &c->what.design->fabric.transport : NULL;
    size_t n = strlen(spec.text);
    bool is_ecmp = strncmp(spec.text, "ecmp", strcspn(spec.text, ",")) == 0 && strncmp(spec.text, "ecmp", 4) == 0;
    if (t != NULL && t->kind == FAB_TRANSPORT_SPRAY_ACK && is_ecmp && strstr(spec.text, ",qp=") == NULL) {
        (void)snprintf(spec.text + n, sizeof spec.text - n, ",qp=%" PRIu64, t->entropies);
    }
    return spec;
}

static fab_status build_router(fab_context *c, size_t engine, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    const fab_replay_sizes *sizes = NULL;
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    FAB_PASS(fab_context_sizes(c, &sizes, err));
    double bytes = fab_graph_bytes(sizes) + fab_next_hops_bytes(sizes) + fab_routers_bytes(&c->what, sizes);
    FAB_PASS(fab_context_check(&c->what, bytes, " with the tables of the engines", err));
    const fab_engine_spec spec = engine_of(c, engine);
    return fab_router_new(&spec, c->what.fabric, next_hops, &c->parts->engines[engine].router, err);
}

/* Follows an engine to where it is built. */
static fab_context *engine_owner(const fab_context *c, size_t *engine) {
    while (c->parts->engines[*engine].of_base != SIZE_MAX) {
        *engine = c->parts->engines[*engine].of_base;
        c = c->what.base;
    }
    return (fab_context *)c;
}

fab_status fab_context_router(const fab_context *context, size_t engine, const fab_router **out, fab_error *err) {
    fab_context *c = engine_owner(context, &engine);
    FAB_PASS(fab_once_run(&c->parts->engines[engine].once[ENGINE_ROUTER], build_router, c, engine, err));
    *out = c->parts->engines[engine].router;
    return FAB_OK;
}

static fab_status build_index(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    return fab_hops_index_init(c->what.fabric, next_hops, &c->parts->index, err);
}

static fab_status build_own_index(fab_context *c, size_t engine, fab_error *err) {
    context_engine *e = &c->parts->engines[engine];
    return fab_hops_index_init(c->what.fabric, fab_router_next_hops(e->router), &e->index, err);
}

fab_status fab_context_index(const fab_context *context, size_t engine, const fab_hops_index **out, fab_error *err) {
    const fab_router *router = NULL;
    const fab_next_hops *next_hops = NULL;
    FAB_PASS(fab_context_router(context, engine, &router, err));
    FAB_PASS(fab_context_next_hops(context, &next_hops, err));
    if (fab_router_next_hops(router) == next_hops) {
        fab_context *c = (fab_context *)fabric_owner(context);
        FAB_PASS(fab_once_run(&c->parts->once[PART_INDEX], build_index, c, 0, err));
        *out = &c->parts->index;
    } else {
        fab_context *c = engine_owner(context, &engine);
        FAB_PASS(fab_once_run(&c->parts->engines[engine].once[ENGINE_INDEX], build_own_index, c, engine, err));
        *out = &c->parts->engines[engine].index;
    }
    return FAB_OK;
}

static fab_status engines_init(fab_context *c, fab_error *err) {
    const fab_context_request *q = &c->what;
    FAB_PASS(FAB_NEW(c->parts->engines, q->n_engines, err));
    for (size_t e = 0; e < q->n_engines; e++) {
        context_engine *engine = &c->parts->engines[e];
        fab_once_init(engine->once, ENGINE_N);
        engine->of_base = SIZE_MAX;
        for (size_t k = 0; same_fabric(c) && engine->of_base == SIZE_MAX && k < q->base->what.n_engines; k++) {
            bool is_same = strcmp(q->engines[e].text, q->base->what.engines[k].text) == 0;
            engine->of_base = is_same ? k : SIZE_MAX;
        }
    }
    return FAB_OK;
}

/* --- traffic ------------------------------------------------------------------------------------------------------ */

static fab_status make_traffic(fab_context *c, fab_error *err) {
    const fab_context_request *q = &c->what;
    return q->gpus != NULL
               ? fab_traffic_front_end(q->traffic, q->design, q->gpus, q->fabric, &c->parts->made, err)
               : fab_traffic_make(q->traffic, q->design, q->fabric, q->seed + q->draw, &c->parts->made, err);
}

static fab_status build_traffic(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    context_parts *p = c->parts;
    const fab_traffic *traffic = NULL;
    if (may_share_traffic(c)) {
        FAB_PASS(fab_context_traffic(c->what.base, &traffic, err));
        const fab_context_request *base = &c->what.base->what;
        if (c->what.seed + c->what.draw == base->seed + base->draw || c->what.given != NULL ||
            !traffic->depends_on_seed) {
            p->traffic = traffic;
            p->owner = c->what.base->parts->owner;
            return FAB_OK;
        }
    }
    FAB_PASS(c->what.given == NULL ? make_traffic(c, err) : FAB_OK);
    p->traffic = c->what.given == NULL ? &p->made : c->what.given;
    p->owner = c;
    return context_phases_init(c, err);
}

fab_status fab_context_traffic(const fab_context *context, const fab_traffic **out, fab_error *err) {
    fab_context *c = (fab_context *)context;
    FAB_PASS(fab_once_run(&c->parts->once[PART_TRAFFIC], build_traffic, c, 0, err));
    *out = c->parts->traffic;
    return FAB_OK;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static void fill_from_base(fab_context_request *q) {
    const fab_context_request *base = &q->base->what;
    q->design = q->design != NULL ? q->design : base->design;
    q->fabric = q->fabric != NULL ? q->fabric : base->fabric;
    if (q->traffic == NULL && q->given == NULL) {
        q->gpus = base->gpus;
        q->traffic = base->traffic;
        q->given = base->given;
    }
    q->n_engines = q->engines != NULL ? q->n_engines : base->n_engines;
    q->engines = q->engines != NULL ? q->engines : base->engines;
    q->seed = q->seed != 0 ? q->seed : base->seed;
}

fab_context_request fab_context_of(const fab_design *design, const fab_fabric *fabric, const char *traffic,
                                   uint64_t seed) {
    return (fab_context_request){.design = design,
                                 .fabric = fabric,
                                 .traffic = traffic,
                                 .engines = design->engines,
                                 .n_engines = design->n_engines,
                                 .seed = seed};
}

fab_status fab_context_new(const fab_context_request *request, fab_context **out, fab_error *err) {
    FAB_OWNS_NEW(fab_context_free_owned, fab_context, c, 1, err);
    c->what = *request;
    if (request->base != NULL) {
        fill_from_base(&c->what);
    }
    FAB_PASS(FAB_NEW(c->parts, 1, err));
    fab_once_init(c->parts->once, PART_N);
    FAB_PASS(engines_init(c, err));
    return FAB_GIVE(*out, c);
}

static void parts_free(fab_context *c) {
    context_parts *p = c->parts;
    context_baselines_release(c);
    context_phases_release(c);
    for (size_t e = 0; p->engines != NULL && e < c->what.n_engines; e++) {
        fab_hops_index_release(&p->engines[e].index);
        fab_router_free(p->engines[e].router);
        fab_once_release(p->engines[e].once, ENGINE_N);
    }
    free(p->engines);
    fab_transfer_scratch_release(&p->tried);
    fab_traffic_release(&p->made);
    fab_hops_index_release(&p->index);
    fab_ports_release(&p->ports);
    fab_dag_free(p->dag);
    fab_next_hops_free(p->next_hops);
    fab_once_release(p->once, PART_N);
    free(p);
}

void fab_context_free(fab_context *context) {
    if (context != NULL && context->parts != NULL) {
        parts_free(context);
    }
    free(context);
}

uint64_t fab_context_seed(const fab_context *context, const fab_router *router) {
    return fab_router_seed(router, context->what.seed) + context->what.draw;
}

const fab_context_request *fab_context_what(const fab_context *context) {
    return &context->what;
}
