/* A state of a design, evaluated: as `route` does where nothing has failed, under a mask where something has. */
#include "diff_internal.h"

#include "fab/analysis.h"
#include "fab/host_list.h"
#include "fab/iterate.h"
#include "fab/names.h"

#include <ctype.h>

void diff_side_release(diff_side *s) {
    fab_workspace_free(s->workspace);
    if (s->has_mask) {
        fab_mask_release(&s->mask);
    }
    fab_result_release(&s->result);
    fab_context_free(s->context);
    fab_context_free(s->first);
    fab_floor_free(s->floor);
    fab_fabric_free(s->graph);
    fab_str_release(&s->stopped);
    FAB_FREE_ALL(s->component, s->chunked, s->design);
    *s = (diff_side){.f = NULL};
}

double diff_time_of(const fab_result *result, size_t engine) {
    double sum_s = 0;
    if (engine < result->n_iterations) {
        return result->iterations[engine].time_s;
    }
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        bool adds = !phase->alternative || phase->run == result->phases[0].run;
        bool known = adds && engine < phase->n_engines && phase->engines[engine].has_time;
        sum_s += known ? phase->engines[engine].time_s.mean : (double)NAN;
    }
    return sum_s;
}

fab_status diff_parts_of(const fab_result *result, size_t engine, fab_parts *out, fab_error *err) {
    FAB_OWNED_NEW(double, sum_s, result->n_seeds + 1, err);
    *out = (fab_parts){.n = 0};
    if (engine < result->n_iterations) {
        *out = result->iterations[engine].seeds.parts;
        return FAB_OK;
    }
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        const fab_engine_result *r = &phase->engines[engine];
        const bool adds = !phase->alternative || phase->run == result->phases[0].run;
        for (uint64_t i = 0; adds && i < result->n_seeds; i++) {
            const bool is_drawn = r->draws != NULL && r->n_seeds == result->n_seeds;
            sum_s[i] += is_drawn ? r->draws[i].transfer_s + r->latency_s : r->time_s.mean;
        }
    }
    if (result->n_seeds > 1 && sum_s[0] > 0) {
        fab_parts_of(sum_s, result->n_seeds, out);
    }
    return FAB_OK;
}

/* --- what has failed ---------------------------------------------------------------------------------------------- */

static fab_status read_failed(const diff_variant *v, diff_side *s, fab_error *err) {
    const fab_fabric_spec *spec = &s->design->fabric;
    if (v->n_failed == 0) {
        return FAB_OK;
    }
    if (fab_floor_is_said(spec)) {
        FAB_PASS(fab_floor_make(spec, s->f, &s->floor, err));
        s->racks = fab_floor_racks(s->floor);
    }
    FAB_PASS(FAB_NEW(s->component, v->n_failed, err));
    for (; s->n_components < v->n_failed; s->n_components++) {
        fab_error inner = {0};
        fab_status status =
            fab_component_parse(s->f, &s->racks, v->failed[s->n_components], &s->component[s->n_components], &inner);
        FAB_REFUSE_IF(status != FAB_OK, err, status, "fail", "%s", inner.text);
    }
    FAB_PASS(fab_mask_init(s->f, &s->racks, &s->mask, err));
    s->has_mask = true;
    return fab_mask_set(&s->mask, s->component, s->n_components, err);
}

static bool has_rank(const diff_side *s, uint32_t gpu) {
    return s->traffic->rank_of_gpu == NULL || s->traffic->rank_of_gpu[gpu] != FAB_NONE;
}

/* A dead GPU with a rank stops its job; a slow one slows it. */
static void look_at_ranks(diff_side *s) {
    uint32_t per_server = s->f->gpus_per_server;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(s->f) && s->stopped.length == 0; gpu++) {
        if (fab_mask_node_is_dead(&s->mask, gpu) && has_rank(s, gpu)) {
            fab_str_printf(&s->stopped, "%s is dead and has ranks", FAB_SAY_SERVER(s->f, gpu / per_server));
        }
    }
    FAB_EACH(const fab_component, c, s->component, s->n_components) {
        uint64_t n = c->kind == FAB_COMPONENT_GPU      ? 1
                     : c->kind == FAB_COMPONENT_SERVER ? per_server
                     : c->kind == FAB_COMPONENT_RACK   ? (uint64_t)per_server * s->racks.servers_per_rack
                                                       : 0;
        bool works = false;
        for (uint64_t gpu = c->id * n; gpu < (c->id + UINT64_C(1)) * n && gpu < fab_n_gpus(s->f); gpu++) {
            works = works || has_rank(s, (uint32_t)gpu);
        }
        s->compute_ratio = works && c->fraction > 0 ? fmin(s->compute_ratio, c->fraction) : s->compute_ratio;
    }
}

/* --- under a mask ------------------------------------------------------------------------------------------------- */

/* The largest use of a fabric link; of the first draw links are kept. */
static double worst_load(const diff_side *s, const fab_rerouted *loads, double *out_use) {
    double worst = 0;
    for (fab_link_id l = 0; l < s->f->n_links; l++) {
        double rest = s->mask.residual[l] * fab_class_of(s->f, l)->capacity_bps;
        double use = rest > 0 ? loads->load[l] / rest : 0;
        bool is_fabric = fab_class_of(s->f, l)->kind == FAB_LINK_FABRIC;
        worst = is_fabric && use > worst ? use : worst;
        if (out_use != NULL) {
            out_use[l] = use;
        }
    }
    return worst;
}

/* What a phase comes to with what has failed, in one draw. */
static fab_status hurt_draw(diff_side *s, uint64_t draw, size_t engine, size_t phase, double *out_s, fab_error *err) {
    fab_engine_result *r = &s->result.phases[phase].engines[engine];
    const fab_state state = {.mask = &s->mask};
    const fab_case at = {.phase = phase, .engine = engine, .draw = draw, .state = &state};
    fab_needs needs = {.what = FAB_NEED_LOADS};
    fab_evaluated found;
    fab_error inner = {0};
    FAB_PASS(fab_evaluate(s->workspace, &at, &needs, &found, err));
    double worst = worst_load(s, found.loads, draw == 0 ? r->utilisation : NULL) / (double)r->n_seeds;
    worst += draw == 0 ? 0 : r->max_collision_factor.mean;
    r->max_collision_factor = (fab_stat){.mean = worst, .p50 = worst, .p99 = worst, .min = worst, .max = worst};
    if (found.loads->n_disconnected > 0 && s->stopped.length == 0) {
        fab_str_printf(&s->stopped, "%u flow%s of phase %s lose%s every path", (unsigned)found.loads->n_disconnected,
                       found.loads->n_disconnected == 1 ? "" : "s", s->result.phases[phase].name,
                       found.loads->n_disconnected == 1 ? "s" : "");
    }
    if (s->stopped.length > 0 || !r->has_time) {
        r->has_time = false;
        return FAB_OK;
    }
    needs.what = FAB_NEED_TIME;
    fab_status status = fab_evaluate(s->workspace, &at, &needs, &found, &inner);
    r->has_time = status == FAB_OK;
    FAB_REFUSE_IF(status != FAB_OK && status != FAB_EUNSUPPORTED, err, status, inner.where, "%s", inner.text);
    if (r->has_time) {
        r->latency_s = found.time.latency_s;
        *out_s = found.time.transfer_s;
    }
    return FAB_OK;
}

/* Transfers of every draw to the figures of a phase. `transfer_s` is of its first draw, the next `stride` behind it. */
static void settle_phase(fab_engine_result *r, const double *transfer_s, size_t stride, bool iterates, double *values) {
    for (uint64_t i = 0; i < r->n_seeds; i++) {
        values[i] = transfer_s[i * stride];
        if (r->draws != NULL && !iterates) { /* else those of the healthy fabric are still asked for */
            r->draws[i].transfer_s = values[i];
        }
    }
    fab_stat_of(values, r->n_seeds, &r->transfer_s);
    for (uint64_t i = 0; i < r->n_seeds; i++) {
        values[i] += r->latency_s;
    }
    fab_stat_of(values, r->n_seeds, &r->time_s);
}

/* The mean over the draws. A job that runs keeps its microbatch and chunks. What phases do to each other is that of the
 * mean, and so is what the time is compared with where nothing has failed. */
static fab_status hurt_iteration(diff_side *s, size_t engine, double *transfer_s, double *values, fab_error *err) {
    fab_compute_model slow = fab_compute_default;
    const size_t n_phases = s->result.n_phases;
    const fab_phase_result *phases = s->result.phases;
    fab_iteration *it = &s->result.iterations[engine];
    const uint64_t n = it->seeds.n_seeds > 1 ? it->seeds.n_seeds : 1;
    const bool scales = n > 1 && s->result.paces != NULL;
    double sum_s = 0;
    FAB_OWNED_NEW(fab_iteration, healthy, 1, err);
    FAB_OWNED_NEW(fab_iteration, after, 1, err);
    *healthy = *it;
    slow.matrix_ratio *= s->compute_ratio;
    slow.memory_ratio *= s->compute_ratio;
    for (uint64_t i = 0; i < n; i++) {
        double *mine_s = transfer_s + i * n_phases;
        FAB_PASS(fab_iterate_with(s->traffic, &s->result, engine, mine_s, &slow, healthy, after, err));
        values[i] = after->time_s;
        for (size_t p = 0; scales && p < n_phases; p++) {
            mine_s[p] = phases[p].engines[engine].draws[i].transfer_s;
        }
        FAB_PASS(scales ? fab_iterate_with(s->traffic, &s->result, engine, mine_s, NULL, healthy, after, err) : FAB_OK);
        sum_s += after->time_s;
    }
    const double ratio = scales ? healthy->time_s * (double)n / sum_s : 1;
    for (uint64_t i = 0; i < n; i++) {
        values[i] *= ratio;
    }
    fab_parts_of(values, n, &it->seeds.parts);
    fab_stat_of(values, n, &it->seeds.time_s);
    it->tokens_per_s *= it->time_s / it->seeds.time_s.mean;
    it->time_s = it->seeds.time_s.mean;
    return FAB_OK;
}

/* Draw by draw, since each has its traffic. */
static fab_status hurt_phases(diff_side *s, double *transfer_s, double *values, fab_error *err) {
    const uint64_t n_seeds = s->result.n_seeds;
    const size_t n_phases = s->result.n_phases;
    for (uint64_t i = 0; i < n_seeds; i++) {
        for (size_t p = 0; p < n_phases; p++) {
            fab_phase_result *phase = &s->result.phases[p];
            for (size_t e = 0; e < phase->n_engines; e++) {
                double *out_s = &transfer_s[(e * n_seeds + i) * n_phases + p];
                FAB_PASS(i < phase->engines[e].n_seeds ? hurt_draw(s, i, e, p, out_s, err) : FAB_OK);
            }
        }
    }
    for (size_t p = 0; p < n_phases; p++) {
        for (size_t e = 0; e < s->result.phases[p].n_engines; e++) {
            fab_engine_result *r = &s->result.phases[p].engines[e];
            if (r->has_time) {
                settle_phase(r, &transfer_s[e * n_seeds * n_phases + p], n_phases, s->result.n_iterations > 0, values);
            }
        }
    }
    return FAB_OK;
}

static fab_status hurt(diff_side *s, fab_error *err) {
    const size_t of_engine = s->result.n_seeds * s->result.n_phases;
    const size_t n_engines = s->result.n_phases > 0 ? s->result.phases[0].n_engines : 0;
    FAB_OWNED_NEW(double, transfer_s, n_engines *of_engine + 1, err); /* shape [engines][draws][phases] */
    FAB_OWNED_NEW(double, values, s->result.n_seeds, err);
    look_at_ranks(s);
    FAB_PASS(hurt_phases(s, transfer_s, values, err));
    for (size_t e = 0; e < s->result.n_iterations; e++) {
        FAB_ALL(is_known, p, s->result.n_phases, s->result.phases[p].engines[e].has_time);
        if (!is_known || s->stopped.length > 0) {
            s->result.iterations[e].time_s = NAN;
        } else {
            FAB_PASS(hurt_iteration(s, e, &transfer_s[e * of_engine], values, err));
        }
    }
    return fab_str_status(&s->stopped, err);
}

/* --- a state ------------------------------------------------------------------------------------------------------ */

static fab_status side_build(const diff_variant *v, diff_side *s, fab_error *err) {
    fab_fabric_result *about = NULL;
    FAB_PASS(FAB_NEW(s->design, 1, err));
    *s->design = *v->design;
    FAB_PASS(FAB_NEW(s->result.fabrics, 1, err));
    s->result.n_fabrics = 1;
    about = s->result.fabrics;
    about->spec = s->design->fabric;
    FAB_FORMAT(about->family, "%s", about->spec.family);
    if (v->graph == NULL) {
        FAB_PASS(fab_topology_build(&about->spec, &s->graph, &about->counts, err));
    } else {
        fab_fabric_count(v->graph, &about->counts);
    }
    s->f = v->graph != NULL ? v->graph : s->graph;
    return FAB_OK;
}

fab_status diff_side_prepare(const diff *d, const diff_variant *v, size_t engine, diff_side *out, fab_error *err) {
    fab_status status = FAB_OK;
    bool all = engine == DIFF_ALL;
    out->compute_ratio = 1;
    out->result.seed = d->q->seed;
    FAB_TRY(side_build(v, out, err));
    FAB_TRY(read_failed(v, out, err));
    fab_context_request what = fab_context_of(out->design, out->f, d->q->traffic, d->q->seed);
    what.engines += all ? 0 : engine;
    what.n_engines = all ? what.n_engines : 1;
    FAB_TRY(fab_context_new(&what, &out->context, err));
done:
    return fab_blame_design(v->design, status, err);
}

static fab_status side_replay(const diff *d, bool wants_loads, diff_side *s, fab_error *err) {
    fab_context *chosen = NULL;
    fab_replay replay = {.context = s->context,
                         .n_seeds = d->n_seeds,
                         .n_threads = d->q->n_threads,
                         .rates = true,
                         .keep_draws = d->n_seeds > 1,
                         .keep_loads = wants_loads};
    s->result.n_seeds = d->n_seeds;
    FAB_PASS(fab_replay_choose_chunks(&replay, &s->result, &s->chunked, &chosen, err));
    if (chosen != NULL) {
        s->first = s->context;
        s->context = chosen;
        replay.context = chosen;
    }
    FAB_PASS(fab_replay_run(&replay, &s->result, err));
    FAB_PASS(fab_context_traffic(s->context, &s->traffic, err));
    FAB_PASS(fab_workspace_new(s->context, &s->workspace, err));
    return s->has_mask ? hurt(s, err) : FAB_OK;
}

fab_status diff_side_evaluate(const diff *d, bool wants_loads, diff_side *out, fab_error *err) {
    return fab_blame_design(out->design, side_replay(d, wants_loads, out, err), err);
}

fab_status diff_time(const diff *d, const diff_variant *v, size_t engine, double *out_s, fab_parts *out_parts,
                     fab_error *err) {
    diff_side side = {.f = NULL};
    fab_error inner = {0};
    fab_status status = diff_side_prepare(d, v, engine, &side, &inner);
    status = status == FAB_OK ? diff_side_evaluate(d, false, &side, &inner) : status;
    *out_s = status != FAB_OK ? (double)NAN : side.stopped.length > 0 ? INFINITY : diff_time_of(&side.result, 0);
    if (out_parts != NULL && isfinite(*out_s)) {
        status = diff_parts_of(&side.result, 0, out_parts, &inner);
    }
    diff_side_release(&side);
    return fab_unless_refused(err, status, &inner);
}

/* --- servers by name ---------------------------------------------------------------------------------------------- */

fab_status diff_set_servers(fab_design *design, const uint32_t *servers, size_t n, fab_error *err) {
    fab_job_spec *job = &design->jobs[0];
    char list[FAB_SERVERS_SIZE];
    FAB_REFUSE_IF(fab_write_ranges(list, sizeof list, servers, n, ',') < n, err, FAB_EUNSUPPORTED, "servers",
                  "the list takes more than %zu characters", sizeof list - 1);
    job->placement = FAB_PLACEMENT_ORDER;
    job->n_servers = n;
    job->gpus = 0;
    return fab_design_set_list(design, &job->servers, "servers", list, "servers", err);
}

typedef struct hosts {
    const fab_fabric *f;
    const char *where;
    uint32_t *servers; /* shape [f->n_servers] */
    bool *used;
    size_t n;
} hosts;

static fab_status take_host(void *context, const char *name, size_t n, fab_error *err) {
    hosts *h = context;
    char own[FAB_NODE_NAME_SIZE];
    uint32_t server = fab_names_find_server(h->f->names, name, n);
    for (uint32_t s = 0; s < h->f->n_servers && server == FAB_NONE; s++) {
        (void)fab_server_name(h->f, s, own);
        server = strlen(own) == n && memcmp(own, name, n) == 0 ? s : FAB_NONE;
    }
    FAB_REFUSE_IF(server == FAB_NONE || h->used[server], err, FAB_EINPUT, h->where,
                  server == FAB_NONE ? "'%.*s' is no server of the fabric (there is %s)"
                                     : "server '%.*s' is listed twice",
                  n < 120 ? (int)n : 120, name, fab_server_name(h->f, 0, own));
    h->used[server] = true;
    h->servers[h->n++] = server;
    return FAB_OK;
}

/* Behind '#' stand remarks; names are parted by commas and blanks. */
static fab_status read_hosts(hosts *h, const char *text, fab_error *err) {
    while (*text != '\0') {
        size_t depth = 0;
        size_t n = 0;
        if (*text == '#') {
            text += strcspn(text, "\n");
            continue;
        }
        for (; text[n] != '\0' && (depth > 0 || (text[n] != ',' && !isspace((unsigned char)text[n]))); n++) {
            depth += text[n] == '[';
            depth -= text[n] == ']' && depth > 0;
        }
        if (n == 0) {
            text++;
            continue;
        }
        FAB_PASS(fab_host_list_each(text, n, h->where, take_host, h, err));
        text += n;
    }
    return h->n > 0 ? FAB_OK : fab_fail(err, FAB_EINPUT, h->where, "no server is named");
}

fab_status diff_place_hosts(const fab_diff_state *state, fab_design *design, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    fab_fabric_spec spec = design->fabric;
    hosts h = {.where = state->hosts_where};
    FAB_OWNS_MEMBERS(h.servers, h.used);
    if (state->hosts == NULL) {
        return FAB_OK;
    }
    FAB_PASS(fab_topology_build(&spec, &graph, NULL, err));
    h.f = graph;
    FAB_PASS(FAB_NEW_ALL(graph->n_servers, err, h.servers, h.used));
    FAB_PASS(read_hosts(&h, state->hosts, err));
    if (design->n_jobs == 0) {
        FAB_PASS(fab_design_set_job(design, 0, "placement", "order", "servers", err));
    }
    return diff_set_servers(design, h.servers, h.n, err);
}
