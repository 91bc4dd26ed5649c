/* The table of engines, and a router from its text. */
#include "engines.h"
#include "fab/choices.h"
#include "fab/multiversion.h"
#include "fab/units.h"
#include "split/split_rule.h"
#include "tables/tables_read.h"

/* clang-format off */
const fab_engine *const fab_engines[] = {
    &fab_engine_ecmp,
    &fab_engine_dmodk,
    &fab_engine_pinned,
    &fab_engine_updn,
    &fab_engine_file,
    &fab_engine_adaptive,
    &fab_engine_spray,
    &fab_engine_optimal,
    NULL,
};
/* clang-format on */

/* The engine that "name[,...]" names, or NULL. */
static const fab_engine *engines_find_engine(const char *text) {
    const size_t n = strcspn(text, ",");
    FAB_FIRST(i, SIZE_MAX,
              fab_engines[i] == NULL ||
                  (strlen(fab_engines[i]->name) == n && memcmp(fab_engines[i]->name, text, n) == 0));
    return fab_engines[i];
}

static fab_engine_about engine_about(const fab_engine *engine) {
    fab_engine_about about = {.name = NULL};
    if (engine != NULL) {
        about =
            (fab_engine_about){engine->name, engine->summary, engine->options, engine->seeded, engine->next != NULL};
    }
    return about;
}

fab_engine_about fab_engine_at(size_t i) {
    return engine_about(fab_engines[i]);
}

fab_engine_about fab_engine_of(const fab_engine_spec *spec) {
    return engine_about(engines_find_engine(spec->text));
}

static fab_status unknown_engine(const fab_engine_spec *spec, const char *name, fab_error *err) {
    fab_choices near = fab_choices_of(name);
    for (const fab_engine *const *engine = fab_engines; *engine != NULL; engine++) {
        fab_choices_offer(&near, (*engine)->name);
    }
    return fab_fail(err, FAB_EINPUT, spec->where, "unknown engine '%.40s'%s", name, fab_choices_list(&near, "one of"));
}

/* Place of an option in its table; that of the end where there is none of this name. */
static size_t find_option(const fab_engine *engine, const char *key, size_t n) {
    const fab_engine_option *o = engine->options;
    FAB_FIRST(i, SIZE_MAX, o[i].key == NULL || (strlen(o[i].key) == n && memcmp(o[i].key, key, n) == 0));
    return i;
}

bool fab_engine_path(const char *text, size_t *out_at, size_t *out_length) {
    const fab_engine *engine = engines_find_engine(text);
    for (const char *item = strchr(text, ','); engine != NULL && item != NULL; item = strchr(item, ',')) {
        const size_t n = strcspn(++item, "=,");
        const fab_engine_option *o = &engine->options[find_option(engine, item, n)];
        if (item[n] == '=' && o->key != NULL && (o->kind == FAB_OPTION_FILE || o->kind == FAB_OPTION_TABLES)) {
            *out_at = (size_t)(item - text) + n + 1;
            *out_length = strcspn(item + n + 1, ",");
            return *out_length > 0;
        }
    }
    return false;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static fab_status parse_choice(const char *value, const char *names, uint64_t *out, fab_error *err) {
    char shown[96] = "";
    uint64_t index = 0;
    for (const char *name = names; *name != '\0'; index++) {
        size_t length = strcspn(name, " ");
        if (strlen(value) == length && memcmp(value, name, length) == 0) {
            *out = index;
            return FAB_OK;
        }
        fab_append(shown, sizeof shown, "%s%.*s", index > 0 ? ", " : "", (int)length, name);
        name += length + (name[length] != '\0');
    }
    return fab_fail(err, FAB_EINPUT, NULL, "'%s' is not one of %s", value, shown);
}

static fab_status parse_tiers(const fab_engine_option *o, const char *value, uint64_t *out_tier, fab_error *err) {
    char text[FAB_ENGINE_TEXT_SIZE];
    FAB_FORMAT(text, "%s", value);
    uint64_t last = 0;
    char *item = text;
    for (uint32_t t = 1; t <= FAB_FABRIC_TIERS; t++) {
        if (item != NULL) {
            char *next = strchr(item, '/');
            if (next != NULL) {
                *next++ = '\0';
            }
            FAB_PASS(o->read(item, &last, err));
            item = next;
        }
        out_tier[t] = last;
    }
    return item == NULL ? FAB_OK
                        : fab_fail(err, FAB_EINPUT, NULL, "'%s' has more than %d tiers", value, FAB_FABRIC_TIERS);
}

static fab_status parse_value(const fab_engine_option *o, const char *value, fab_router *router, fab_option_value *out,
                              fab_error *err) {
    switch (o->kind) {
    case FAB_OPTION_CHOICE: return parse_choice(value, o->choices, &out->number, err);
    case FAB_OPTION_COUNT:
    case FAB_OPTION_QUEUE_PAIRS:
        out->number = 0;
        if (o->choices == NULL || strcmp(value, o->choices) != 0) {
            FAB_PASS(fab_count_parse(value, 1, 4096, &out->number, err));
        }
        router->queue_pairs = o->kind == FAB_OPTION_QUEUE_PAIRS ? (uint32_t)out->number : router->queue_pairs;
        return FAB_OK;
    case FAB_OPTION_TIERS: return parse_tiers(o, value, out->tier, err);
    case FAB_OPTION_QUEUEING: return fab_quantity_parse(value, FAB_UNIT_TIME, &router->facts.queueing_s, err);
    case FAB_OPTION_WINDOW:
        FAB_PASS(fab_quantity_parse(value, FAB_UNIT_BYTES, &router->facts.window_bytes, err));
        return router->facts.window_bytes >= 1
                   ? FAB_OK
                   : fab_fail(err, FAB_EINPUT, NULL, "'%s': a receiver without a window gets nothing", value);
    case FAB_OPTION_FILE:
    case FAB_OPTION_TABLES: break; /* read when all options are known */
    }
    return FAB_OK;
}

static fab_status set_option(const fab_engine_spec *spec, fab_router *router, size_t i, const char *value,
                             fab_error *err) {
    fab_error inner = {0};
    const fab_engine_option *o = &router->engine->options[i];
    fab_status status = parse_value(o, value, router, &router->option[i], &inner);
    router->option[i].text = value;
    return status == FAB_OK ? FAB_OK
                            : fab_fail(err, status, spec->where, "engine %s, option %s: %s", router->engine->name,
                                       o->key, inner.text);
}

/* Of any engine: one that draws nothing just does not use it. */
static fab_status set_seed(const fab_engine_spec *spec, fab_router *router, const char *value, fab_error *err) {
    fab_error inner = {0};
    FAB_REFUSE_IF(router->has_seed, err, FAB_EINPUT, spec->where, "engine %s: option 'seed' is given twice",
                  router->engine->name);
    router->has_seed = true;
    FAB_REFUSE_IF(fab_count_parse(value, 0, UINT64_MAX / 2, &router->seed, &inner) != FAB_OK, err, FAB_EINPUT,
                  spec->where, "engine %s, option seed: %s", router->engine->name, inner.text);
    return FAB_OK;
}

static fab_status unknown_option(const fab_engine_spec *spec, const fab_router *router, const char *key,
                                 fab_error *err) {
    fab_choices near = fab_choices_of(key);
    for (const fab_engine_option *o = router->engine->options; o->key != NULL; o++) {
        fab_choices_offer(&near, o->key);
    }
    fab_choices_offer(&near, "seed");
    return fab_fail(err, FAB_EINPUT, spec->where, "engine %s has no option '%.40s'%s", router->engine->name, key,
                    fab_choices_list(&near, "it has:"));
}

/* Sets what `item`, a "key=value", says. */
static fab_status apply_item(const fab_engine_spec *spec, fab_router *router, char *item, fab_error *err) {
    char *value = strchr(item, '=');
    FAB_REFUSE_IF(value == NULL, err, FAB_EINPUT, spec->where, "engine %s: '%s' is not key=value", router->engine->name,
                  item);
    *value++ = '\0';
    if (strcmp(item, "seed") == 0) {
        return set_seed(spec, router, value, err);
    }
    const size_t i = find_option(router->engine, item, strlen(item));
    FAB_RETURN_IF(router->engine->options[i].key == NULL, unknown_option(spec, router, item, err));
    FAB_REFUSE_IF(router->option[i].given, err, FAB_EINPUT, spec->where, "engine %s: option '%s' is given twice",
                  router->engine->name, item);
    FAB_PASS(set_option(spec, router, i, value, err));
    FAB_REFUSE_IF(value[0] == '\0', err, FAB_EINPUT, spec->where, "engine %s, option %s: the value is empty",
                  router->engine->name, item);
    router->option[i].given = true;
    return FAB_OK;
}

/* Appends to the label. */
static void add_label(fab_router *router, const char *key, const char *value) {
    char *label = router->facts.label;
    size_t n = strlen(label);
    (void)snprintf(label + n, sizeof router->facts.label - n, ",%s=%s", key, value);
}

static void write_label(fab_router *router) {
    const fab_engine_option *table = router->engine->options;
    FAB_FORMAT(router->facts.label, "%s", router->engine->name);
    for (size_t i = 0; table[i].key != NULL; i++) {
        if (!table[i].quiet || strcmp(router->option[i].text, table[i].value) != 0) {
            add_label(router, table[i].key, router->option[i].text);
        }
    }
    if (router->has_seed) {
        char seed[24];
        FAB_FORMAT(seed, "%" PRIu64, router->seed);
        add_label(router, "seed", seed);
    }
}

/* Applies the defaults, then `key=value,...` of the text, and writes the label. */
static fab_status apply_options(const fab_engine_spec *spec, fab_router *router, char *options, fab_error *err) {
    for (size_t i = 0; router->engine->options[i].key != NULL; i++) {
        FAB_PASS(set_option(spec, router, i, router->engine->options[i].value, err));
    }
    for (char *item = options; item != NULL;) {
        char *next = strchr(item, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        FAB_PASS(apply_item(spec, router, item, err));
        item = next;
    }
    write_label(router);
    return FAB_OK;
}

/* --- what is derived ---------------------------------------------------------------------------------------------- */

/* Digits of D-mod-K: parents of a switch of each tier, and ports of the widest leaf. */
static void measure_digits(const fab_fabric *f, fab_router *router) {
    router->divisor[1] = 1;
    for (uint32_t t = 1; t < f->n_tiers && t < FAB_FABRIC_TIERS; t++) {
        uint32_t v = f->first_of_tier[t];
        uint64_t parents = 0;
        for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
            bool first = fab_is_up(f->out_link[i]);
            for (uint32_t k = f->out_first[v]; first && k < i; k++) {
                first = fab_head(f, f->out_link[k]) != fab_head(f, f->out_link[i]);
            }
            parents += first;
        }
        router->divisor[t + 1] = router->divisor[t] * (parents > 0 ? parents : 1);
    }
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (f->classes[f->cable_class[c]].kind == FAB_LINK_ACCESS && f->port[2 * c + 1] > router->port_stride) {
            router->port_stride = f->port[2 * c + 1];
        }
    }
}

/* Tables of a usual size: places are signed 32-bit numbers, for vectors, and groups are packed. */
static bool fits_steps(const fab_next_hops *t, uint32_t n_groups, size_t n_steps) {
    size_t n_refs = (size_t)t->n_switches * t->n_chunks_per_row;
    bool fits = n_refs <= INT32_MAX && n_steps <= INT32_MAX && n_groups > 0 && n_groups < 1U << 24 &&
                t->n_slots < 1U << (32 - FAB_STEP_COUNT_BITS);
    for (size_t i = 0; i < n_refs && fits; i++) {
        fits = t->chunk_of[i] < INT32_MAX / FAB_CHUNK_WORDS;
    }
    for (uint32_t i = 0; i < n_groups && fits; i++) {
        fits = t->group[i].count < 1U << FAB_STEP_COUNT_BITS;
    }
    return fits;
}

static uint32_t n_kept_groups(const fab_next_hops *t) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < t->n_switches; v++) {
        uint32_t end = t->group_at[v] + t->group_first[v + 1] - t->group_first[v];
        n = end > n ? end : n;
    }
    return n;
}

/* Links and where they lead, side by side: those of a large fabric do not stay in the cache. */
static fab_status pack_steps(fab_router *router, fab_error *err) {
    const fab_fabric *f = router->fabric;
    const fab_next_hops *t = router->next_hops;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t first = f->out_first[base];
    uint32_t n = f->out_first[f->n_nodes] - first;
    uint32_t n_groups = n_kept_groups(t);
    router->is_modulo = fits_steps(t, n_groups, n); /* else walked as any other engine */
    if (!router->is_modulo) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(router->step, n, err));
    FAB_PASS(FAB_NEW(router->step_switch, t->n_switches, err));
    FAB_PASS(FAB_NEW(router->step_group, n_groups, err));
    FAB_PASS(FAB_NEW(router->step_slot, t->n_slots, err));
    router->gathers = fab_cpu_gathers();
    for (uint32_t v = 0; v < t->n_switches; v++) {
        uint8_t tier = router->switch_tier[v];
        uint32_t slot = router->modulo_slot[tier];
        router->step_switch[v] =
            (fab_step_switch){.groups = t->group_at[v] << 8 | slot << 5 | router->modulo_shift[tier],
                              .first_step = f->out_first[base + v] - first};
        router->n_values = slot >= router->n_values ? slot + 1 : router->n_values;
    }
    for (uint32_t i = 0; i < n_groups; i++) {
        uint32_t count = t->group[i].count;
        router->step_group[i] = t->group[i].first << FAB_STEP_COUNT_BITS | count;
        router->divides = router->divides || (count & (count - 1)) != 0;
    }
    FAB_FILL(router->step_slot, t->n_slots, t->slot[fab_at]);
    for (uint32_t i = 0; i < n; i++) { /* those to a NIC are never taken */
        fab_link_id link = f->out_link[first + i];
        router->step[i] = (fab_step){link, fab_head(f, link) - base};
    }
    return FAB_OK;
}

/* Needs port_stride. */
static fab_status find_ends(fab_router *router, fab_error *err) {
    const fab_fabric *f = router->fabric;
    const fab_ports *ports = &router->ports;
    uint32_t n_gpus = fab_n_gpus(f);
    if (ports->nics_per_gpu != 1 || ports->n_planes != 1 || f->forwards_in_domain) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(router->end, n_gpus, err));
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        fab_port_end *end = &router->end[gpu];
        end->pcie = ports->gpu_nic[gpu];
        end->nic = fab_head(f, end->pcie) - f->first[FAB_NODE_NIC];
        end->domain = ports->gpu_scaleup[gpu] != FAB_NONE ? fab_domain_of(f, gpu) : UINT32_MAX - gpu;
        end->up = ports->nic_access[end->nic];
        if (end->up == FAB_NONE) {
            continue; /* no phase with it is routed: fab_ports_check() */
        }
        end->port = f->port[end->up ^ 1U];
        end->leaf = fab_head(f, end->up) - f->first[FAB_NODE_SWITCH];
        end->column = router->next_hops->leaf_index[end->leaf];
        end->destination = end->column * router->port_stride + end->port - 1;
    }
    return FAB_OK;
}

/* The file that option tables= names; "" where there is none. */
static const char *tables_of(const fab_router *router) {
    const fab_engine_option *table = router->engine->options;
    FAB_FIRST(i, SIZE_MAX, table[i].key == NULL || table[i].kind == FAB_OPTION_TABLES);
    return table[i].key != NULL ? router->option[i].text : "";
}

/* Groups from a file in place of the minimal ones, then what the engine derives. */
static fab_status engines_prepare(const fab_engine_spec *spec, fab_router *router, fab_error *err) {
    fab_error inner = {0};
    fab_status status = FAB_OK;
    const char *tables = tables_of(router);
    if (tables[0] != '\0') {
        FAB_TRY(fab_tables_read(router, tables, router->engine->hashes ? FAB_WEIGHTS_WHOLE : FAB_WEIGHTS_NONE, NULL,
                                &router->groups, &inner));
        router->next_hops = router->groups.next_hops;
    }
    FAB_TRY(router->engine->prepare != NULL ? router->engine->prepare(router, &inner) : FAB_OK);
    if (router->facts.splits && router->groups.next_hops != NULL) {
        FAB_TRY(fab_dag_new(router->fabric, router->next_hops, &router->groups.dag, &inner));
    }
done:
    if (status != FAB_OK) {
        (void)fab_fail(err, status, inner.where[0] != '\0' ? inner.where : spec->where, "engine %s: %s",
                       router->engine->name, inner.text);
    }
    return status;
}

/* What holds of every router of the engine. */
static void begin_facts(fab_router *router) {
    const fab_engine *engine = router->engine;
    fab_router_facts *facts = &router->facts;
    facts->engine = engine->name;
    facts->n_rounds = 1;
    facts->is_seeded = engine->seeded;
    facts->hashes = engine->hashes;
    facts->is_by_destination = engine->by_destination;
    facts->splits = engine->split != NULL && engine->pick == NULL && engine->next == NULL;
    facts->is_by_demand = engine->by_demand;
    facts->takes_phases = engine->route != NULL;
    facts->has_tables = engine->next != NULL;
    facts->explains = engine->explain != NULL;
    facts->reorders = engine->reorders;
}

/* What options and files make of it. */
static void finish_facts(fab_router *router) {
    const bool has_groups = router->groups.next_hops != NULL; /* from a file: they are what they are */
    const uint32_t planes = router->ports.n_planes;
    fab_router_facts *facts = &router->facts;
    facts->on_loss = has_groups ? FAB_LOSS_NONE : router->resilient ? FAB_LOSS_RESILIENT : router->engine->on_loss;
    facts->weighs = facts->weighs || router->groups.weight != NULL;
    facts->is_minimal = has_groups ? router->groups.is_minimal : !facts->has_tables;
    facts->paths_per_flow = /* every port of a NIC carries its share: as many queue pairs on each plane */
        (router->queue_pairs + planes - 1) / planes * planes * router->ports.nics_per_gpu;
}

fab_status fab_router_init(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                           fab_router *out, fab_error *err) {
    FAB_OWNS(fab_router_release)
    fab_router router = {.fabric = fabric, .next_hops = next_hops, .minimal = next_hops, .queue_pairs = 1};
    FAB_PASS(FAB_STRDUP(router.text, spec->text, err));
    char *options = strchr(router.text, ',');
    if (options != NULL) {
        *options++ = '\0';
    }
    router.engine = engines_find_engine(router.text);
    if (router.engine == NULL) {
        return unknown_engine(spec, router.text, err);
    }
    FAB_REFUSE_IF(router.engine->needs_tree && !fab_is_tree(fabric), err, FAB_EUNSUPPORTED, spec->where,
                  "engine %s chooses among the uplinks of a tree; a %s has none", router.engine->name,
                  fab_wiring_name(fabric->wiring));
    begin_facts(&router);
    FAB_PASS(fab_allocate(1, router.engine->state_size, &router.state, err));
    FAB_PASS(apply_options(spec, &router, options, err));
    FAB_PASS(fab_ports_init(fabric, &router.ports, err));
    measure_digits(fabric, &router);
    FAB_PASS(find_ends(&router, err));
    FAB_PASS(FAB_NEW(router.switch_tier, fab_n_switches(fabric), err));
    for (uint32_t i = 0; i < fab_n_switches(fabric); i++) {
        router.switch_tier[i] = (uint8_t)fab_tier_of(fabric, fabric->first[FAB_NODE_SWITCH] + i);
    }
    FAB_PASS(engines_prepare(spec, &router, err));
    FAB_PASS(router.is_modulo ? pack_steps(&router, err) : FAB_OK);
    finish_facts(&router);
    return FAB_GIVE(*out, router);
}

void fab_router_release(fab_router *router) {
    if (router->engine != NULL && router->engine->release != NULL && router->state != NULL) {
        router->engine->release(router);
    }
    FAB_FREE_ALL(router->text, router->state, router->switch_tier, router->end, router->step_switch, router->step_group,
                 router->step_slot, router->step);
    fab_read_groups_release(&router->groups);
    fab_ports_release(&router->ports);
    *router = (fab_router){0};
}

/* --- what others see of a router --- */

fab_status fab_router_new(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                          fab_router **out, fab_error *err) {
    fab_router *router = NULL;
    fab_status status = FAB_NEW(router, 1, err);
    if (status == FAB_OK) {
        status = fab_router_init(spec, fabric, next_hops, router, err);
    }
    if (status != FAB_OK) {
        free(router);
        return status;
    }
    *out = router;
    return FAB_OK;
}

void fab_router_free(fab_router *router) {
    if (router != NULL && !router->borrows) {
        fab_router_release(router);
    }
    free(router);
}

fab_status fab_router_over(const fab_router *router, const fab_next_hops *next_hops, fab_router **out, fab_error *err) {
    fab_router *over = NULL;
    FAB_PASS(FAB_NEW(over, 1, err));
    *over = *router;
    over->borrows = true;
    if (next_hops != NULL) {
        over->next_hops = next_hops;
        over->minimal = next_hops;
    }
    *out = over;
    return FAB_OK;
}

const fab_router_facts *fab_router_facts_of(const fab_router *router) {
    return &router->facts;
}

const fab_fabric *fab_router_fabric(const fab_router *router) {
    return router->fabric;
}

const fab_next_hops *fab_router_next_hops(const fab_router *router) {
    return router->next_hops;
}

const fab_ports *fab_router_ports(const fab_router *router) {
    return &router->ports;
}

uint64_t fab_router_seed(const fab_router *router, uint64_t run_seed) {
    return router->has_seed ? router->seed : run_seed;
}

uint32_t fab_router_domain(const fab_router *router, uint32_t gpu) {
    return router->end[gpu].domain;
}

uint32_t fab_router_weight(const fab_router *router, const fab_next_hop_list *next, uint32_t i) {
    return fab_next_hop_weight(router, next, i);
}

const fab_dag *fab_router_dag(const fab_router *router, const fab_dag *dag) {
    return router->groups.dag != NULL ? router->groups.dag : dag;
}

fab_status fab_router_split(const fab_router *router, const fab_dag *dag, const fab_demand *demand,
                            const fab_bound *known, fab_split **out, fab_error *err) {
    fab_split *split = NULL;
    FAB_PASS(FAB_NEW(split, 1, err));
    fab_status status = router->engine->split(router, dag, demand, known, split, err);
    if (status != FAB_OK) {
        free(split);
        return status;
    }
    *out = split;
    return FAB_OK;
}
