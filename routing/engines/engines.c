/* The table of engines, and a router from its text. */
#include "engines.h"
#include "fab/choices.h"
#include "fab/memory.h"
#include "fab/multiversion.h"
#include "fab/split.h"
#include "fab/units.h"
#include "tables/tables_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_OPTIONS 16

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

const char *const fab_on_loss_names[FAB_LOSS_N] = {"reconverge", "modulo", "resilient", "tables", "none"};

fab_on_loss fab_router_on_loss(const fab_router *router) {
    if (router->groups.next_hops != NULL) {
        return FAB_LOSS_NONE; /* groups from a file are what they are */
    }
    return router->resilient ? FAB_LOSS_RESILIENT : router->engine->on_loss;
}

static const fab_engine *engines_find_engine(const char *name) {
    for (const fab_engine *const *engine = fab_engines; *engine != NULL; engine++) {
        if (strcmp((*engine)->name, name) == 0) {
            return *engine;
        }
    }
    return NULL;
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
    char name[sizeof spec->text];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(spec->text, ","), spec->text);
    return engine_about(engines_find_engine(name));
}

static fab_status unknown_engine(const fab_engine_spec *spec, const char *name, fab_error *err) {
    char list[FAB_CHOICES_TEXT];
    fab_choices near;
    fab_choices_init(&near, name);
    for (const fab_engine *const *engine = fab_engines; *engine != NULL; engine++) {
        fab_choices_offer(&near, (*engine)->name);
    }
    return fab_fail(err, FAB_EINPUT, spec->where, "unknown engine '%.40s'%s", name,
                    fab_choices_list(&near, "one of", list));
}

static const fab_engine_option *find_option(const fab_engine *engine, const char *key) {
    for (const fab_engine_option *option = engine->options; option->key != NULL; option++) {
        if (strcmp(option->key, key) == 0) {
            return option;
        }
    }
    return NULL;
}

bool fab_option_is_given(const fab_router *router, const char *key) {
    const fab_engine_option *option = find_option(router->engine, key);
    return option != NULL && (router->given >> (option - router->engine->options) & 1U) != 0;
}

fab_status fab_choice_parse(const char *value, const char *names, uint32_t *out, fab_error *err) {
    char shown[96] = "";
    uint32_t index = 0;
    for (const char *name = names; *name != '\0'; index++) {
        size_t length = strcspn(name, " ");
        size_t n = strlen(shown);
        if (strlen(value) == length && memcmp(value, name, length) == 0) {
            *out = index;
            return FAB_OK;
        }
        (void)snprintf(shown + n, sizeof shown - n, "%s%.*s", n > 0 ? ", " : "", (int)length, name);
        name += length + (name[length] != '\0');
    }
    return fab_fail(err, FAB_EINPUT, NULL, "'%s' is not one of %s", value, shown);
}

fab_status fab_either_parse(const char *value, const char *names, bool *out, fab_error *err) {
    uint32_t choice = 0;
    fab_status status = fab_choice_parse(value, names, &choice, err);
    *out = status == FAB_OK ? choice == 1 : *out;
    return status;
}

fab_status fab_reorder_set(fab_router *router, const char *key, const char *value, fab_error *err) {
    if (strcmp(key, "queueing") == 0) {
        return fab_quantity_parse(value, FAB_UNIT_TIME, &router->queueing_s, err);
    }
    fab_status status = fab_quantity_parse(value, FAB_UNIT_BYTES, &router->window_bytes, err);
    return status == FAB_OK && router->window_bytes < 1
               ? fab_fail(err, FAB_EINPUT, NULL, "'%s': a receiver without a window gets nothing", value)
               : status;
}

static fab_status set_option(const fab_engine_spec *spec, fab_router *router, const char *key, const char *value,
                             fab_error *err) {
    fab_error inner = {0};
    if (find_option(router->engine, key) == NULL) {
        char list[FAB_CHOICES_TEXT];
        fab_choices near;
        fab_choices_init(&near, key);
        for (const fab_engine_option *o = router->engine->options; o->key != NULL; o++) {
            fab_choices_offer(&near, o->key);
        }
        fab_choices_offer(&near, "seed");
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s has no option '%.40s'%s", router->engine->name, key,
                        fab_choices_list(&near, "it has:", list));
    }
    fab_status status = FAB_OK;
    if (strcmp(key, "qp") == 0) {
        uint64_t n = 0;
        status = fab_count_parse(value, 1, 4096, &n, &inner);
        router->queue_pairs = (uint32_t)n;
    } else if (strcmp(key, FAB_TABLES_KEY) != 0) { /* read when all options are known */
        status = router->engine->set(router, key, value, &inner);
    }
    return status == FAB_OK
               ? FAB_OK
               : fab_fail(err, status, spec->where, "engine %s, option %s: %s", router->engine->name, key, inner.text);
}

/* Of any engine: one that draws nothing just does not use it. */
static fab_status set_seed(const fab_engine_spec *spec, fab_router *router, const char *value, fab_error *err) {
    fab_error inner = {0};
    if (router->has_seed) {
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s: option 'seed' is given twice", router->engine->name);
    }
    router->has_seed = true;
    if (fab_count_parse(value, 0, UINT64_MAX / 2, &router->seed, &inner) != FAB_OK) {
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s, option seed: %s", router->engine->name, inner.text);
    }
    return FAB_OK;
}

/* Sets what `item`, a "key=value", says. `values`: those of the engine's options, NULL where the default stands. */
static fab_status apply_item(const fab_engine_spec *spec, fab_router *router, char *item, const char **values,
                             fab_error *err) {
    char *value = strchr(item, '=');
    if (value == NULL) {
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s: '%s' is not key=value", router->engine->name, item);
    }
    *value++ = '\0';
    if (strcmp(item, "seed") == 0) {
        return set_seed(spec, router, value, err);
    }
    if (fab_option_is_given(router, item)) {
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s: option '%s' is given twice", router->engine->name,
                        item);
    }
    FAB_PASS(set_option(spec, router, item, value, err));
    if (value[0] == '\0') {
        return fab_fail(err, FAB_EINPUT, spec->where, "engine %s, option %s: the value is empty", router->engine->name,
                        item);
    }
    size_t at = (size_t)(find_option(router->engine, item) - router->engine->options);
    router->given |= 1U << at;
    values[at] = value;
    return FAB_OK;
}

/* Appends to the label. */
static void add_label(fab_router *router, const char *key, const char *value) {
    size_t n = strlen(router->label);
    (void)snprintf(router->label + n, sizeof router->label - n, ",%s=%s", key, value);
}

static void write_label(fab_router *router, const char *const *values) {
    const fab_engine_option *table = router->engine->options;
    (void)snprintf(router->label, sizeof router->label, "%s", router->engine->name);
    for (size_t i = 0; table[i].key != NULL; i++) {
        const char *value = values[i] != NULL ? values[i] : table[i].value;
        if (!table[i].quiet || strcmp(value, table[i].value) != 0) {
            add_label(router, table[i].key, value);
        }
    }
    if (router->has_seed) {
        char seed[24];
        (void)snprintf(seed, sizeof seed, "%" PRIu64, router->seed);
        add_label(router, "seed", seed);
    }
}

/* Applies the defaults, then `key=value,...` of the text, and writes the label. `out_tables`: file of tables; left as
 * it is where none is named. */
static fab_status apply_options(const fab_engine_spec *spec, fab_router *router, char *options, const char **out_tables,
                                fab_error *err) {
    const char *values[MOST_OPTIONS] = {0};
    const fab_engine_option *table = router->engine->options;
    for (size_t i = 0; table[i].key != NULL; i++) {
        FAB_PASS(set_option(spec, router, table[i].key, table[i].value, err));
    }
    for (char *item = options; item != NULL;) {
        char *next = strchr(item, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        FAB_PASS(apply_item(spec, router, item, values, err));
        item = next;
    }
    for (size_t i = 0; table[i].key != NULL; i++) {
        if (values[i] != NULL && strcmp(table[i].key, FAB_TABLES_KEY) == 0) {
            *out_tables = values[i];
        }
    }
    write_label(router, values);
    return FAB_OK;
}

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
    for (size_t i = 0; i < t->n_slots; i++) {
        router->step_slot[i] = t->slot[i];
    }
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

/* Groups from a file in place of the minimal ones, then what the engine derives. */
static fab_status engines_prepare(const fab_engine_spec *spec, fab_router *router, const char *tables, fab_error *err) {
    fab_error inner = {0};
    fab_status status = FAB_OK;
    router->splits = router->engine->split != NULL && router->engine->pick == NULL && router->engine->next == NULL &&
                     router->engine->route == NULL;
    if (tables[0] != '\0') {
        FAB_TRY(fab_tables_read(router, tables, router->engine->hashes ? FAB_WEIGHTS_WHOLE : FAB_WEIGHTS_NONE, NULL,
                                &router->groups, &inner));
        router->next_hops = router->groups.next_hops;
    }
    if (router->engine->prepare != NULL) {
        FAB_TRY(router->engine->prepare(router, &inner));
    }
    if (router->splits && router->groups.next_hops != NULL) {
        FAB_TRY(fab_dag_new(router->fabric, router->next_hops, &router->groups.dag, &inner));
    }
done:
    if (status != FAB_OK) {
        (void)fab_fail(err, status, inner.where[0] != '\0' ? inner.where : spec->where, "engine %s: %s",
                       router->engine->name, inner.text);
    }
    return status;
}

fab_status fab_router_init(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                           fab_router *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_router router = {
        .fabric = fabric, .next_hops = next_hops, .minimal = next_hops, .queue_pairs = 1, .n_rounds = 1};
    char text[sizeof spec->text];
    (void)snprintf(text, sizeof text, "%s", spec->text);
    const char *tables = "";
    char *options = strchr(text, ',');
    if (options != NULL) {
        *options++ = '\0';
    }
    router.engine = engines_find_engine(text);
    if (router.engine == NULL) {
        status = unknown_engine(spec, text, err);
        goto done;
    }
    if (router.engine->needs_tree && !fab_is_tree(fabric)) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, spec->where, "engine %s chooses among the uplinks of a tree; a %s has none",
                 router.engine->name, fab_wiring_name(fabric->wiring));
    }
    router.reorders = router.engine->reorders;
    FAB_TRY(fab_allocate(1, router.engine->state_size, &router.state, err));
    FAB_TRY(apply_options(spec, &router, options, &tables, err));
    FAB_TRY(fab_ports_init(fabric, &router.ports, err));
    measure_digits(fabric, &router);
    FAB_TRY(find_ends(&router, err));
    FAB_TRY(FAB_NEW(router.switch_tier, fab_n_switches(fabric), err));
    for (uint32_t i = 0; i < fab_n_switches(fabric); i++) {
        router.switch_tier[i] = (uint8_t)fab_tier_of(fabric, fabric->first[FAB_NODE_SWITCH] + i);
    }
    FAB_TRY(engines_prepare(spec, &router, tables, err));
    if (router.is_modulo) {
        FAB_TRY(pack_steps(&router, err));
    }
    *out = router;
    router = (fab_router){0};
done:
    fab_router_release(&router);
    return status;
}

void fab_router_release(fab_router *router) {
    if (router->engine != NULL && router->engine->release != NULL && router->state != NULL) {
        router->engine->release(router);
    }
    FAB_FREE_ALL(router->state, router->switch_tier, router->end, router->step_switch, router->step_group,
                 router->step_slot, router->step);
    fab_read_groups_release(&router->groups);
    fab_ports_release(&router->ports);
    *router = (fab_router){0};
}
