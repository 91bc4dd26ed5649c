/* The job, held open, and what is broken of it. */
#include "top_model.h"

/* --- states ------------------------------------------------------------------------------------------------------- */

static fab_status copy_state(const top_state *from, top_state *out, fab_error *err) {
    fab_component *part = NULL;
    FAB_PASS(FAB_NEW(part, from->n + 1, err)); /* with room for one more */
    FAB_COPY(part, from->part, from->n);
    *out = *from;
    out->part = part;
    return FAB_OK;
}

static size_t find_part(const top_state *state, const fab_component *part) {
    FAB_FIRST(i, state->n, state->part[i].kind == part->kind && state->part[i].id == part->id);
    return i;
}

double top_model_left(const top_model *m, const fab_component *part) {
    const size_t i = find_part(&m->now, part);
    return i < m->now.n ? m->now.part[i].fraction : 1;
}

/* --- the job ------------------------------------------------------------------------------------------------------ */

/* As `run` with one engine opens it. */
static fab_status open_session(const cli_options *options, cli_session *out, fab_what_if **what_if, fab_error *err) {
    FAB_PASS(cli_session_open(options, FAB_COMMAND_RUN, "job", out, err));
    fab_status status = cli_session_build(out, err);
    status = status == FAB_OK ? fab_fabric_measure(out->design, &out->result.fabrics[0], &out->graph, err) : status;
    status = status == FAB_OK ? cli_session_choose_chunks(out, err) : status;
    status = status == FAB_OK ? fab_what_if_open(out->context, what_if, err) : status;
    return fab_blame_design(out->design, status, err);
}

static fab_status ask(fab_what_if *of, const top_state *state, const fab_failures **out, fab_error *err) {
    FAB_OWNED char(*names)[FAB_COMPONENT_NAME_SIZE] = NULL;
    FAB_OWNED const char **failed = NULL;
    FAB_PASS(FAB_NEW(names, state->n, err));
    FAB_PASS(fab_allocate(state->n, sizeof(const char *), &failed, err));
    FAB_FILL(failed, state->n, fab_component_name(fab_what_if_fabric(of), &state->part[fab_at], names[fab_at]));
    const fab_failures_request request = {
        .failed = failed, .n_failed = state->n, .policies = &state->policy, .n_policies = 1};
    return fab_what_if_ask(of, &request, out, err);
}

/* The job under the engine and seed of a state, in place of what is open. */
static fab_status reopen(top_model *m, const top_state *state, fab_error *err) {
    cli_options options = *m->options;
    FAB_OWNS(cli_session_release) cli_session session = {.options = NULL};
    FAB_OWNS(fab_what_if_close_owned) fab_what_if *what_if = NULL;
    const fab_failures *answer = NULL;
    const char *engine = m->engines[state->engine].text;
    if (m->tell != NULL) {
        char text[FAB_ENGINE_TEXT_SIZE + 64];
        FAB_FORMAT(text, "Opening the job under %s, seed %" PRIu64 " ...", engine, state->seed);
        m->tell(m->tell_context, text);
    }
    options.engines = (cli_list){&engine, 1};
    options.seed = state->seed;
    options.n_seeds = 1;
    options.quiet = true; /* progress would be drawn over the lists */
    FAB_PASS(open_session(&options, &session, &what_if, err));
    session.options = m->options;
    FAB_PASS(ask(what_if, state, &answer, err));
    fab_what_if_close(m->what_if);
    cli_session_release(&m->session);
    m->session = session;
    m->what_if = what_if;
    m->answer = answer;
    session = (cli_session){.options = NULL};
    what_if = NULL;
    return FAB_OK;
}

/* Turns to a state, which is taken over; `now` stays where that fails. `keeps`: for undo. */
static fab_status turn_to(top_model *m, top_state *next, bool keeps, fab_error *err) {
    fab_status status = FAB_OK;
    const double started_s = cli_now_s();
    FAB_TRY(keeps ? FAB_GROW(m->before, m->capacity, m->n_before + 1, err) : FAB_OK);
    if (next->engine != m->now.engine || next->seed != m->now.seed) {
        FAB_TRY(reopen(m, next, err));
    } else if ((status = ask(m->what_if, next, &m->answer, err)) != FAB_OK) {
        const fab_failures *again = NULL;
        if (ask(m->what_if, &m->now, &again, NULL) == FAB_OK) { /* links and flows are those of `now` again */
            m->answer = again;
        }
        goto done;
    }
    if (keeps) {
        m->before[m->n_before++] = m->now;
    } else {
        free(m->now.part);
    }
    m->now = *next;
    m->asked_s = cli_now_s() - started_s;
    next->part = NULL;
done:
    free(next->part);
    return status;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static void add_engine(top_model *m, const char *text) {
    const size_t n = strlen(text);
    bool known = m->n_engines == TOP_ENGINES || n >= sizeof m->engines[0].text;
    for (size_t i = 0; i < m->n_engines && !known; i++) {
        known = strcmp(m->engines[i].text, text) == 0;
    }
    if (!known) {
        (void)snprintf(m->engines[m->n_engines++].text, sizeof m->engines[0].text, "%s", text);
    }
}

/* Those asked for, then the others that need no file. */
static fab_status list_engines(top_model *m, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_PASS(cli_open_design(m->options, m->options->operands.items[0], &design, err));
    for (size_t i = 0; i < design->n_engines; i++) {
        add_engine(m, design->engines[i].text);
    }
    for (size_t i = 0; fab_engine_at(i).name != NULL; i++) {
        const char *name = fab_engine_at(i).name;
        bool needs_file = false;
        for (const fab_engine_option *o = fab_engine_at(i).options; o != NULL && o->key != NULL; o++) {
            needs_file = needs_file || o->kind == FAB_OPTION_FILE;
        }
        FAB_ANY(is_asked, k, design->n_engines, strcmp(fab_engine_of(&design->engines[k]).name, name) == 0);
        if (!needs_file && !is_asked) {
            add_engine(m, name);
        }
    }
    return FAB_OK;
}

fab_status top_model_open(const cli_options *options, top_model *m, fab_error *err) {
    fab_policy policies[FAB_POLICY_N];
    size_t n_policies = 0;
    m->options = options;
    m->now = (top_state){.seed = options->seed, .policy = FAB_POLICY_FIRST_SPARE};
    FAB_PASS(cli_read_policies(options, policies, &n_policies, err));
    m->now.policy = n_policies > 0 ? policies[0] : m->now.policy;
    FAB_PASS(list_engines(m, err));
    FAB_PASS(FAB_NEW(m->now.part, options->failed_parts.n, err));
    const fab_policy asked = m->now.policy;
    m->now.policy = FAB_POLICY_NONE; /* nothing is broken so far; racks are not known either */
    FAB_PASS(reopen(m, &m->now, err));
    m->now.policy = asked;
    for (size_t i = 0; i < options->failed_parts.n; i++) {
        fab_component part;
        FAB_PASS(top_model_parse(m, options->failed_parts.items[i], &part, err));
        const size_t at = find_part(&m->now, &part);
        m->now.part[at] = part;
        m->now.n += at == m->now.n;
    }
    return ask(m->what_if, &m->now, &m->answer, err);
}

void top_model_release(top_model *m) {
    fab_what_if_close(m->what_if);
    cli_session_release(&m->session);
    FAB_FREE_EACH_OF(free, m->before, m->n_before, .part);
    FAB_FREE_ALL(m->now.part, m->before);
    *m = (top_model){.options = NULL};
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

fab_status top_model_parse(const top_model *m, const char *text, fab_component *out, fab_error *err) {
    fab_error inner = {0};
    fab_status status =
        fab_component_parse(fab_what_if_fabric(m->what_if), fab_what_if_racks(m->what_if), text, out, &inner);
    FAB_REFUSE_IF(status != FAB_OK, err, status, "--fail", "%s", inner.text);
    out->id = out->kind == FAB_COMPONENT_LINK ? out->id & ~1U : out->id;
    return FAB_OK;
}

fab_status top_model_break(top_model *m, const fab_component *part, fab_error *err) {
    top_state next;
    FAB_PASS(copy_state(&m->now, &next, err));
    const size_t at = find_part(&next, part);
    next.part[at] = *part;
    next.n += at == next.n;
    return turn_to(m, &next, true, err);
}

fab_status top_model_repair(top_model *m, const fab_component *part, fab_error *err) {
    top_state next;
    const size_t at = find_part(&m->now, part);
    if (at == m->now.n) {
        return FAB_OK;
    }
    FAB_PASS(copy_state(&m->now, &next, err));
    next.n--;
    memmove(next.part + at, next.part + at + 1, (next.n - at) * sizeof *next.part);
    return turn_to(m, &next, true, err);
}

fab_status top_model_repair_all(top_model *m, fab_error *err) {
    top_state next;
    if (m->now.n == 0) {
        return FAB_OK;
    }
    FAB_PASS(copy_state(&m->now, &next, err));
    next.n = 0;
    return turn_to(m, &next, true, err);
}

fab_status top_model_undo(top_model *m, fab_error *err) {
    if (m->n_before == 0) {
        return FAB_OK;
    }
    top_state next;
    FAB_PASS(copy_state(&m->before[m->n_before - 1], &next, err));
    FAB_PASS(turn_to(m, &next, false, err));
    free(m->before[--m->n_before].part);
    return FAB_OK;
}

fab_status top_model_next_engine(top_model *m, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {0};
    m->passed[0] = '\0';
    for (size_t i = 1; i < m->n_engines; i++) {
        top_state next;
        inner = (fab_error){0};
        FAB_PASS(copy_state(&m->now, &next, err));
        next.engine = (m->now.engine + i) % m->n_engines;
        const char *engine = m->engines[next.engine].text;
        status = turn_to(m, &next, true, &inner);
        if (status == FAB_OK || status == FAB_ENOMEM) {
            break;
        }
        FAB_FORMAT(m->passed, "passed over %s: %.200s", engine, inner.text);
    }
    return fab_fail_as(err, status, &inner);
}

fab_status top_model_next_seed(top_model *m, fab_error *err) {
    top_state next;
    FAB_PASS(copy_state(&m->now, &next, err));
    next.seed++;
    return turn_to(m, &next, true, err);
}

fab_status top_model_next_policy(top_model *m, fab_error *err) {
    top_state next;
    FAB_PASS(copy_state(&m->now, &next, err));
    do {
        next.policy = (fab_policy)((next.policy + 1) % FAB_POLICY_N);
    } while (next.policy == FAB_POLICY_SHRINK ||
             (next.policy == FAB_POLICY_SAME_RACK && fab_what_if_racks(m->what_if)->n_racks == 0));
    return turn_to(m, &next, true, err);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

const fab_failed_state *top_model_healthy(const top_model *m) {
    return &m->answer->engines[0].healthy;
}

bool top_model_is_known(const top_model *m) {
    return m->answer->engines[0].note[0] == '\0';
}

const fab_failed_state *top_model_state(const top_model *m) {
    const fab_failed_engine *e = &m->answer->engines[0];
    return m->answer->n_failed == 0 || !top_model_is_known(m) ? &e->healthy : &e->policies[0].state;
}

const char *top_model_note(const top_model *m) {
    return m->answer->engines[0].note;
}

const char *top_model_engine_name(const top_model *m) {
    return m->answer->engines[0].label;
}

static void add_list(fab_str *out, const char *name, const cli_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        fab_str_printf(out, " --%s ", name);
        fab_str_add_shell(out, list->items[i]);
    }
}

static void add_text(fab_str *out, const char *name, const char *text) {
    const cli_list one = {&text, text != NULL};
    add_list(out, name, &one);
}

void top_model_command(const top_model *m, fab_str *out) {
    char name[FAB_COMPONENT_NAME_SIZE];
    fab_str_add(out, "fabriscope run ");
    fab_str_add_shell(out, m->options->operands.items[0]);
    add_list(out, "set", &m->options->overrides);
    add_list(out, "job", &m->options->jobs);
    add_text(out, "transport", m->options->transport);
    add_text(out, "prices", m->options->prices);
    add_text(out, "engine", m->engines[m->now.engine].text);
    if (m->now.seed != 1) {
        fab_str_printf(out, " --seed %" PRIu64, m->now.seed);
    }
    for (size_t i = 0; i < m->now.n; i++) {
        add_text(out, "fail", fab_component_name(fab_what_if_fabric(m->what_if), &m->now.part[i], name));
    }
    add_text(out, "policy", m->now.n > 0 ? fab_policies[m->now.policy] : NULL);
}
