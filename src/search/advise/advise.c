/* From the base to every change alone, and greedily to the best of them together. Every comparison is over the same
 * seeds, so that luck of the hash that both have cancels. See src/doc/adr/0022-advice.md. */
#include "advise_internal.h"

#include "fab/design.h"
#include "fab/units.h"

#define LEAST_STEP 0.01 /* of the time, which a change beside another has to save: each asks for something */
#define SAME       1e-9 /* relative difference that is none */

/* --- evaluation --------------------------------------------------------------------------------------------------- */

fab_status advise_outcome_init(const advisor *a, advise_outcome *out, fab_error *err) {
    *out = (advise_outcome){.draws = NULL};
    return FAB_NEW(out->draws, a->n_seeds, err);
}

void advise_outcome_release(advise_outcome *outcome) {
    free(outcome->draws);
    outcome->draws = NULL;
}

bool advise_counts_links(const fab_traffic *traffic) {
    uint64_t n = 0;
    FAB_EACH(const fab_phase, phase, traffic->phases, traffic->n_phases) {
        bool is_even = true;
        (void)fab_phase_largest(phase, &is_even);
        n += is_even ? 0 : phase->n_flows;
    }
    return n > FAB_ADVICE_UNEQUAL_FLOWS;
}

void advise_add_phase(const fab_engine_result *e, uint64_t seed, bool by_links, fab_seed_figures *io) {
    const fab_seed_figures *draw = &e->draws[e->n_seeds > 1 ? seed : 0]; /* one that holds for every seed */
    const double latency_s = by_links ? 0 : e->latency_s;
    io->transfer_s += (by_links ? draw->busiest_link_s : draw->transfer_s) + latency_s;
    io->least_s += draw->least_s + latency_s;
    io->max_collision_factor = fmax(io->max_collision_factor, draw->max_collision_factor);
    io->collided_flows += draw->collided_flows;
}

/* Sums over the phases. */
static fab_status advise_add_up(const advisor *a, const fab_result *result, advise_outcome *out, fab_error *err) {
    fab_advice_figures sum = {0};
    for (uint64_t s = 0; s < a->n_seeds; s++) {
        fab_seed_figures draw = {0};
        for (size_t p = 0; p < result->n_phases; p++) {
            const fab_engine_result *e = &result->phases[p].engines[0];
            advise_add_phase(e, s, a->advice->by_links, &draw);
            out->is_in_network = out->is_in_network || e->busiest_link_s.max > 0;
        }
        FAB_REFUSE_IF(isnan(draw.transfer_s), err, FAB_EUNSUPPORTED, a->has_packets ? "transport" : "--engine",
                      a->has_packets ? "its packets end in a deadlock, or are too many"
                                     : "its flows are too many for their times to be found");
        out->draws[s] = draw;
        sum.time_s += draw.transfer_s;
        sum.max_collision_factor += draw.max_collision_factor;
        sum.collided_flows += draw.collided_flows;
    }
    double n = (double)a->n_seeds;
    out->figures = (fab_advice_figures){sum.time_s / n, sum.max_collision_factor / n, sum.collided_flows / n};
    if (result->n_phases > 0) {
        FAB_FORMAT(out->label, "%s", result->phases[0].engines[0].label);
    }
    return FAB_OK;
}

static bool changes_packets(const advise_packets *p) {
    return p->xoff_bytes > 0 || p->queue_bytes > 0 || p->balancing != NULL || p->priority != NULL || p->sprays;
}

/* The design with a configuration laid over it; NULL: the request's own. */
static fab_status lay_over(advisor *a, const advise_config *config, const fab_design **out, fab_error *err) {
    *out = NULL;
    if (strcmp(config->order, a->base.order) == 0 && strcmp(config->servers, a->base.servers) == 0 &&
        !config->in_order && !changes_packets(&config->packets)) {
        return FAB_OK;
    }
    *a->design = *a->what->design;
    const advise_packets *packets = &config->packets;
    fab_transport_spec *t = &a->design->fabric.transport;
    t->xoff_bytes = packets->xoff_bytes > 0 ? packets->xoff_bytes : t->xoff_bytes;
    t->queue_bytes = packets->queue_bytes > 0 ? packets->queue_bytes : t->queue_bytes;
    if (packets->balancing != NULL) {
        t->balancing = strcmp(packets->balancing, "bitmap") == 0 ? FAB_BALANCING_BITMAP : FAB_BALANCING_OBLIVIOUS;
    }
    if (packets->priority != NULL) {
        t->priority = strcmp(packets->priority, "receiver") == 0 ? FAB_PRIORITY_RECEIVER : FAB_PRIORITY_COMMUNICATOR;
    }
    t->kind = packets->sprays ? FAB_TRANSPORT_SPRAY_ACK : t->kind;
    if (config->order[0] != '\0') {
        FAB_PASS(fab_design_set_job(a->design, 0, "order", config->order, "--job", err));
    }
    if (config->servers[0] != '\0') {
        FAB_PASS(fab_design_set_job(a->design, 0, "servers", config->servers, "--job", err));
    }
    if (config->in_order) {
        FAB_PASS(fab_design_set_job(a->design, 0, "placement", "order", "--job", err));
    }
    *out = a->design;
    return FAB_OK;
}

/* The advisor's context with a configuration in place of its own: what that leaves alone is shared. */
static fab_status replay_config(advisor *a, const advise_config *config, uint64_t seed, bool rates, fab_result *out,
                                fab_error *err) {
    fab_engine_spec engine = {.where = "--engine"};
    fab_context_request what = {.base = a->request->context, .engines = &engine, .n_engines = 1, .seed = seed};
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_FORMAT(engine.text, "%s", config->engine);
    FAB_PASS(lay_over(a, config, &what.design, err));
    FAB_PASS(fab_context_new(&what, &context, err));
    const fab_replay replay = {.context = context,
                               .n_seeds = a->n_seeds,
                               .n_threads = a->request->n_threads,
                               .rates = rates,
                               .last_alone = true,
                               .keep_draws = true};
    return fab_replay_run(&replay, out, err);
}

fab_status advise_evaluate(advisor *a, const advise_config *config, uint64_t seed, advise_outcome *out,
                           fab_error *err) {
    fab_error inner = {0};
    fab_result result = {0};
    fab_status status = replay_config(a, config, seed, !a->advice->by_links, &result, &inner);
    status = status == FAB_OK ? advise_add_up(a, &result, out, &inner) : status;
    out->is_possible = status == FAB_OK;
    if (fab_is_refusal(status)) {
        FAB_FORMAT(out->reason, "%s", inner.text);
        a->advice->n_over_limit += status == FAB_ELIMIT;
        status = FAB_OK;
    } else if (status != FAB_OK) {
        (void)fab_fail(err, status, inner.where, "%s", inner.text);
    }
    fab_result_release(&result);
    a->advice->n_evaluated += out->is_possible;
    a->n_done++;
    if (a->request->progress != NULL) {
        size_t done = a->n_done < a->n_total ? a->n_done : a->n_total;
        a->request->progress(a->request->progress_context, (double)done, a->n_total);
    }
    return status;
}

static int compare_amounts(double x, double y) {
    return fabs(x - y) <= SAME * fmax(fabs(x), fabs(y)) ? 0 : x < y ? -1 : 1;
}

bool advise_is_better(const fab_advice_figures *x, const fab_advice_figures *y) {
    int order = compare_amounts(x->time_s, y->time_s);
    /* below 1 nothing collides: no gain in being further below */
    order = order != 0 ? order : compare_amounts(fmax(x->max_collision_factor, 1), fmax(y->max_collision_factor, 1));
    order = order != 0 ? order : compare_amounts(x->collided_flows, y->collided_flows);
    return order < 0;
}

static fab_status advise_compare(const advisor *a, const advise_outcome *before, const advise_outcome *after,
                                 fab_advice_gain *out, fab_error *err) {
    return advise_judge(before->draws, after->draws, a->n_seeds, out, err);
}

/* --- one at a time ------------------------------------------------------------------------------------------------ */

/* NULL: as the fabric has it. */
static void describe_key(fab_str *text, const char *key, const char *value) {
    if (value != NULL) {
        fab_str_printf(text, "%s--set fabric.%s=%s", text->length > 0 ? " " : "", key, value);
    }
}

static void describe_bytes(fab_str *text, const char *key, double bytes) {
    char quantity[40];
    describe_key(text, key, bytes > 0 ? fab_quantity_exact(quantity, bytes, FAB_UNIT_BYTES) : NULL);
}

/* "": as the job has it. */
static void describe_job(fab_str *text, const char *key, const char *value, bool *io_has_job) {
    if (value[0] != '\0') {
        fab_str_printf(text, "%s%s=%s", *io_has_job ? "," : text->length > 0 ? " --job " : "--job ", key, value);
        *io_has_job = true;
    }
}

/* The options that turn the base into a configuration. */
static fab_status advise_describe(const advisor *a, const advise_config *config, char *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    const advise_packets *p = &config->packets;
    if (strcmp(config->engine, a->base.engine) != 0) {
        fab_str_printf(&text, "--engine %s", config->engine);
    }
    describe_key(&text, "transport", p->sprays ? "spray-ack" : NULL);
    describe_bytes(&text, "xoff", p->xoff_bytes);
    describe_bytes(&text, "queue", p->queue_bytes);
    describe_key(&text, "balancing", p->balancing);
    describe_key(&text, "priority", p->priority);
    bool has_job = false;
    describe_job(&text, "placement", config->in_order ? "order" : "", &has_job);
    describe_job(&text, "order", strcmp(config->order, a->base.order) != 0 ? config->order : "", &has_job);
    describe_job(&text, "servers", strcmp(config->servers, a->base.servers) != 0 ? config->servers : "", &has_job);
    FAB_PASS(fab_str_status(&text, err));
    FAB_REFUSE_IF(text.length >= FAB_ADVICE_TEXT, err, FAB_EINTERNAL, "advice", "options of %zu characters",
                  text.length);
    (void)snprintf(out, FAB_ADVICE_TEXT, "%s", text.data != NULL ? text.data : "");
    return FAB_OK;
}

/* Whether the engine is that of the base, or of an earlier change, in other words. */
static bool is_known_engine(const advisor *a, const advise_list *list, const advise_change *change) {
    FAB_ANY(is_known, i, change - list->items, strcmp(change->label, list->items[i].label) == 0);
    return change->sets_engine && (is_known || strcmp(change->label, a->at_base.label) == 0);
}

/* Evaluates change i alone. */
static fab_status advise_add_row(advisor *a, const advise_list *list, size_t i, fab_error *err) {
    advise_change *change = &list->items[i];
    advise_config config;
    FAB_OWNS(advise_outcome_release) advise_outcome outcome = {.draws = NULL};
    fab_advice_row row = {.kind = change->kind, .needs_switch_support = change->needs_switch_support};
    FAB_PASS(advise_outcome_init(a, &outcome, err));
    if (!advise_apply(change, &a->base, false, false, &config)) {
        FAB_FORMAT(row.change, "%s", change->engine);
        FAB_FORMAT(outcome.reason, "the engine's text gets longer than %zu characters", sizeof config.engine - 1);
    } else {
        FAB_PASS(advise_describe(a, &config, row.change, err));
        FAB_PASS(advise_evaluate(a, &config, a->what->seed, &outcome, err));
    }
    if (outcome.is_possible) {
        row.figures = outcome.figures;
        FAB_PASS(advise_compare(a, &a->at_base, &outcome, &row.gain, err));
    } else {
        row.gain.verdict = FAB_ADVICE_IMPOSSIBLE;
        FAB_FORMAT(row.reason, "%s", outcome.reason);
    }
    change->alone = row.gain;
    change->figures = row.figures;
    FAB_FORMAT(change->label, "%s", outcome.label);
    if (!outcome.is_possible || !is_known_engine(a, list, change)) {
        a->advice->rows[a->advice->n_rows++] = row;
    }
    return FAB_OK;
}

/* Possible ones by gain; ties, and the others, stay in their order. */
static bool belongs_before(const fab_advice_row *x, const fab_advice_row *y) {
    bool x_possible = x->gain.verdict != FAB_ADVICE_IMPOSSIBLE;
    bool y_possible = y->gain.verdict != FAB_ADVICE_IMPOSSIBLE;
    if (!x_possible || !y_possible) {
        return x_possible && !y_possible;
    }
    return advise_is_better(&x->figures, &y->figures);
}

static void sort_rows(fab_advice *advice) {
    for (size_t i = 1; i < advice->n_rows; i++) {
        fab_advice_row row = advice->rows[i];
        size_t at = i;
        for (; at > 0 && belongs_before(&row, &advice->rows[at - 1]); at--) {
            advice->rows[at] = advice->rows[at - 1];
        }
        advice->rows[at] = row;
    }
}

/* --- together ----------------------------------------------------------------------------------------------------- */

/* What the greedy combination has so far. */
typedef struct stack {
    advise_config config;
    advise_outcome outcome, run;
    bool has_kind[FAB_ADVICE_N_KINDS];
    bool engine_taken, engine_replaced;
    fab_advice_kind kinds[FAB_ADVICE_CHANGES]; /* in the order in which they were taken */
    size_t n;
} stack;

/* The best change alone, of those that take another engine or of the others; list->n: none is clearly faster. Of both
 * ranks in order, which costs nothing, where it saves enough. */
static size_t find_first(const advisor *a, const advise_list *list, bool replaces) {
    fab_advice_figures best = a->at_base.figures;
    size_t found = list->n;
    FAB_FIRST(order, list->n,
              list->items[order].in_order && list->items[order].alone.verdict == FAB_ADVICE_FASTER &&
                  list->items[order].alone.ratio > FAB_VERDICT_PLAN);
    if (order < list->n) {
        return replaces ? list->n : order;
    }
    for (size_t i = 0; i < list->n; i++) {
        const advise_change *change = &list->items[i];
        if (change->replaces == replaces && !change->needs_switch_support &&
            change->alone.verdict == FAB_ADVICE_FASTER && advise_is_better(&change->figures, &best)) {
            best = change->figures;
            found = i;
        }
    }
    for (size_t i = 0; i < list->n && !replaces && found < list->n; i++) { /* asked of hosts alone: the most of these */
        const advise_change *change = &list->items[i];
        if (change->kind == FAB_ADVICE_QUEUE_PAIRS && change->alone.verdict == FAB_ADVICE_FASTER &&
            change->alone.ratio > list->items[found].alone.ratio - LEAST_STEP &&
            (list->items[found].kind != FAB_ADVICE_QUEUE_PAIRS ||
             advise_is_better(&change->figures, &list->items[found].figures))) {
            found = i;
        }
    }
    return found;
}

/* The change that makes most of what is there, if one is clearly faster; *out_best = list->n: none. */
static fab_status find_next(advisor *a, stack *s, const advise_list *list, size_t *out_best, fab_error *err) {
    fab_advice_figures best = s->outcome.figures;
    *out_best = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const advise_change *change = &list->items[i];
        advise_config config;
        fab_advice_gain gain;
        if (s->has_kind[change->kind] || change->needs_switch_support ||
            change->alone.verdict == FAB_ADVICE_IMPOSSIBLE || change->alone.verdict == FAB_ADVICE_SLOWER ||
            !advise_apply(change, &s->config, s->engine_taken, s->engine_replaced, &config)) {
            continue;
        }
        FAB_PASS(advise_evaluate(a, &config, a->what->seed, &s->run, err));
        if (!s->run.is_possible) {
            continue;
        }
        FAB_PASS(advise_compare(a, &s->outcome, &s->run, &gain, err));
        if (gain.verdict == FAB_ADVICE_FASTER && gain.ratio > LEAST_STEP && advise_is_better(&s->run.figures, &best)) {
            best = s->run.figures;
            *out_best = i;
        }
    }
    return FAB_OK;
}

/* Queue pairs cost NICs their state: in place of so many the fewest that save hardly less and that the seeds do not
 * tell from them. */
static fab_status spare_pairs(advisor *a, stack *s, const advise_list *list, size_t *io_change, fab_error *err) {
    const size_t most = *io_change;
    advise_config config;
    fab_advice_gain gain;
    if (most == list->n || list->items[most].kind != FAB_ADVICE_QUEUE_PAIRS) {
        return FAB_OK;
    }
    (void)advise_apply(&list->items[most], &s->config, false, false, &config);
    FAB_PASS(advise_evaluate(a, &config, a->what->seed, &s->outcome, err));
    for (size_t i = 0; i < most && *io_change == most; i++) { /* fewer pairs stand before more */
        const advise_change *fewer = &list->items[i];
        if (fewer->kind == FAB_ADVICE_QUEUE_PAIRS && fewer->alone.verdict == FAB_ADVICE_FASTER &&
            fewer->alone.ratio > list->items[most].alone.ratio - LEAST_STEP &&
            advise_apply(fewer, &s->config, false, false, &config)) {
            FAB_PASS(advise_evaluate(a, &config, a->what->seed, &s->run, err));
            FAB_PASS(advise_compare(a, &s->run, &s->outcome, &gain, err));
            *io_change = gain.verdict != FAB_ADVICE_FASTER ? i : most;
        }
    }
    return FAB_OK;
}

static fab_status combine(advisor *a, stack *s, const advise_list *list, bool replaces, fab_error *err) {
    s->config = a->base;
    size_t next = find_first(a, list, replaces);
    while (next < list->n) {
        FAB_PASS(spare_pairs(a, s, list, &next, err));
        const advise_change *change = &list->items[next];
        advise_config config;
        (void)advise_apply(change, &s->config, s->engine_taken, s->engine_replaced, &config);
        s->config = config;
        s->has_kind[change->kind] = true;
        s->engine_taken = s->engine_taken || change->sets_engine;
        s->engine_replaced = s->engine_replaced || change->replaces;
        FAB_PASS(advise_evaluate(a, &config, a->what->seed, &s->outcome, err));
        s->kinds[s->n++] = change->kind;
        if (s->n == FAB_ADVICE_CHANGES) {
            break;
        }
        FAB_PASS(find_next(a, s, list, &next, err));
    }
    return FAB_OK;
}

/* The winner was chosen on the seeds that measured it: others say what is left of its gain. */
static fab_status check_best(advisor *a, stack *s, fab_error *err) {
    FAB_OWNS(advise_outcome_release) advise_outcome before = {.draws = NULL};
    uint64_t fresh = a->what->seed + 2 * a->n_seeds;
    FAB_PASS(advise_outcome_init(a, &before, err));
    FAB_PASS(advise_evaluate(a, &a->base, fresh, &before, err));
    FAB_PASS(advise_evaluate(a, &s->config, fresh, &s->run, err));
    return advise_compare(a, &before, &s->run, &a->advice->best.check, err);
}

/* The mean over the seeds; 0: the traffic has none, or it is not known. */
static fab_status find_iteration(advisor *a, const advise_config *config, double *out_s, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    FAB_OWNED_NEW(fab_fabric_result, about, 1, err);
    FAB_OWNS(fab_result_release_rest) fab_result result = {.n_fabrics = 1, .fabrics = about};
    about->spec = a->what->design->fabric;
    about->counts.gpus = fab_n_gpus(a->what->fabric); /* prices are not asked for */
    const fab_status status = replay_config(a, config, a->what->seed, true, &result, &why);
    *out_s = status == FAB_OK && result.n_iterations > 0 ? result.iterations[0].time_s : 0;
    return fab_unless_refused(err, status, &why);
}

static fab_status write_best(const advisor *a, const stack *s, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str command = FAB_STR_INIT;
    fab_advice_best *b = &a->advice->best;
    FAB_PASS(advise_describe(a, &s->config, b->change, err));
    bool has_engine = strncmp(b->change, "--engine ", 9) == 0;
    fab_str_printf(&command, "%s%s%s %s", a->request->command, has_engine ? "" : " --engine ",
                   has_engine ? "" : s->config.engine, b->change);
    FAB_PASS(fab_str_status(&command, err));
    return FAB_STRDUP(b->command, command.data, err);
}

/* Another engine rules out the options of ecmp. As a first step it may be the best, and yet a dead end: both ways are
 * gone. */
static fab_status find_best(advisor *a, const advise_list *list, fab_error *err) {
    fab_status status = FAB_OK;
    fab_advice_best *b = &a->advice->best;
    stack *stacks = NULL;
    FAB_TRY(FAB_NEW(stacks, 2, err));
    for (int i = 0; i < 2; i++) {
        FAB_TRY(advise_outcome_init(a, &stacks[i].outcome, err));
        FAB_TRY(advise_outcome_init(a, &stacks[i].run, err));
        FAB_TRY(combine(a, &stacks[i], list, i == 1, err));
    }
    const stack *usual = &stacks[0];
    const stack *other = &stacks[1];
    const double step_s = LEAST_STEP * a->advice->base.time_s * (other->n < usual->n ? -1 : 1); /* fewer ask for less */
    const bool second =
        other->n > 0 && (usual->n == 0 || other->outcome.figures.time_s < usual->outcome.figures.time_s - step_s);
    stack *s = &stacks[second];
    if (s->n > 0) {
        b->n_changes = s->n;
        memcpy(b->kinds, s->kinds, sizeof b->kinds);
        b->figures = s->outcome.figures;
        FAB_TRY(advise_compare(a, &a->at_base, &s->outcome, &b->gain, err));
        FAB_TRY(check_best(a, s, err));
        FAB_TRY(write_best(a, s, err));
        FAB_TRY(find_iteration(a, &a->base, &b->base_iteration_s, err));
        FAB_TRY(find_iteration(a, &s->config, &b->iteration_s, err));
    }
done:
    for (int i = 0; stacks != NULL && i < 2; i++) {
        advise_outcome_release(&stacks[i].outcome);
        advise_outcome_release(&stacks[i].run);
    }
    free(stacks);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static fab_status evaluate_base(advisor *a, fab_error *err) {
    const fab_context_request *q = a->what;
    FAB_PASS(fab_context_traffic(a->request->context, &a->traffic, err));
    a->advice->by_links = !a->has_packets && advise_counts_links(a->traffic);
    FAB_FORMAT(a->base.engine, "%s", q->engines[0].text);
    a->is_whole_job = a->traffic->n_ranks > 0 && strcmp(q->traffic, "job") == 0;
    if (a->traffic->n_ranks > 0) {
        FAB_FORMAT(a->base.order, "%s", a->traffic->job.order);
        FAB_FORMAT(a->base.servers, "%s",
                   q->design->n_jobs > 0 ? fab_design_list(q->design, q->design->jobs[0].servers) : "");
    }
    FAB_PASS(advise_outcome_init(a, &a->at_base, err));
    FAB_PASS(advise_evaluate(a, &a->base, q->seed, &a->at_base, err));
    FAB_REFUSE_IF(!a->at_base.is_possible, err, a->advice->n_over_limit > 0 ? FAB_ELIMIT : FAB_EINPUT,
                  q->engines[0].where, "%s", a->at_base.reason);
    a->advice->base = a->at_base.figures;
    a->advice->is_in_network = a->at_base.is_in_network;
    FAB_FORMAT(a->advice->engine, "%s", a->at_base.label);
    return FAB_OK;
}

static fab_status evaluate_changes(advisor *a, fab_error *err) {
    advise_list list = {NULL, 0, 0};
    FAB_OWNS_MEMBERS(list.items);
    advise_change servers;
    bool has_servers = false;
    FAB_PASS(advise_list_changes(a, &list, err));
    FAB_PASS(FAB_NEW(a->advice->rows, list.n + 1, err));
    a->n_total = 1 + list.n + 2 * (list.n + 1) * FAB_ADVICE_CHANGES + 2;
    for (size_t i = 0; i < list.n; i++) {
        FAB_PASS(advise_add_row(a, &list, i, err));
    }
    FAB_PASS(advise_search_servers(a, &servers, &has_servers, err));
    if (has_servers) {
        FAB_PASS(FAB_APPEND(list.items, list.n, list.capacity, err, servers));
        FAB_PASS(advise_add_row(a, &list, list.n - 1, err));
    }
    sort_rows(a->advice);
    return find_best(a, &list, err);
}

fab_status fab_advise(const fab_advise_request *request, fab_advice **out, fab_error *err) {
    fab_status status = FAB_OK;
    advisor *a = NULL;
    FAB_TRY(FAB_NEW(a, 1, err));
    a->request = request;
    a->what = fab_context_what(request->context);
    a->n_seeds = fab_verdict_seeds(request->n_seeds);
    FAB_TRY(FAB_NEW_ALL(1, err, a->advice, a->design));
    a->has_packets = a->what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID;
    a->advice->transport = a->what->design->fabric.transport.kind;
    a->advice->seed = a->what->seed;
    a->advice->n_seeds = a->n_seeds;
    FAB_TRY(evaluate_base(a, err));
    if (a->advice->is_in_network) {
        FAB_TRY(evaluate_changes(a, err));
    }
    *out = a->advice;
    a->advice = NULL;
done:
    if (a != NULL) {
        advise_outcome_release(&a->at_base);
        free(a->design);
        fab_advice_free(a->advice);
    }
    free(a);
    return status;
}

void fab_advice_free(fab_advice *advice) {
    for (size_t i = 0; advice != NULL && i < advice->n_tried; i++) {
        free(advice->tried[i].servers);
    }
    if (advice != NULL) {
        FAB_FREE_ALL(advice->rows, advice->tried, advice->best.command, advice);
    }
}
