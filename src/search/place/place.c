/* The best and the worst placement: all of them where few differ, else local search by exchange of servers from
 * several starts, among them the listed servers in other orders; half of the budget for either end. Budget and seeds
 * decide every step, so the same request tries the same placements on any machine. */
#include "place_internal.h"

#include "fab/best_run.h"

#define SAME         1e-9 /* part of a time that is no difference */
#define LEAST_BUDGET 16
#define BUDGET_FLOWS 2e7      /* routed and solved in a search */
#define DEALT        4        /* the part of a budget that goes into orders of the listed servers, as a divisor */
#define MAX_FAILS    80       /* exchanges in a row that do not help end a climb */
#define CHECK_SEEDS  8        /* at least, for what draws */
#define MOST_FLOWS   20000000 /* phases of more are not looked through for a bound */

typedef struct placer {
    const fab_sweep_request *request;
    fab_design *design, *scratch;
    fab_fabric *fabric;
    fab_fabric_result *measured;
    fab_context *context; /* of the listed order */
    fab_plans *plans;     /* NULL: the job says how it is run */
    char *settled;        /* traffic with an algorithm in place of `best`, or NULL */
    const char *text;     /* that, or that of the request */
    const fab_traffic *traffic;
    bool of_pattern;
    uint64_t n_seeds; /* a search goes by: one, unless others were asked for; what it finds is held against more */
    uint32_t *start;  /* shape [n_all]: servers in use in their order, then those that are free */
    uint32_t n_job, n_all;
    bool *usable; /* shape [n_servers] */
} placer;

/* Of one engine. */
typedef struct search {
    placer *p;
    fab_place_search *out;
    place_groups groups;
    uint32_t *list, *best, *worst, *scratch;
    uint64_t *seen; /* shape [budget]: digests */
    double *seen_s;
    uint64_t n_seen, n_wanted; /* placements: evaluated, and at most */
    fab_rng rng;
} search;

/* --- one placement ------------------------------------------------------------------------------------------------ */

static fab_status list_text(const uint32_t *list, uint32_t n, char by, char **out, fab_error *err) {
    const size_t size = 11 * (size_t)n + 1;
    FAB_OWNED_NEW(char, text, size, err);
    (void)fab_write_ranges(text, size, list, n, by);
    return FAB_GIVE(*out, text);
}

/* The request of a context with these servers in place of its own; `text` is kept by the caller. */
static fab_status lay_list(const search *s, const uint32_t *list, fab_context_request *what, fab_str *text,
                           fab_error *err) {
    placer *p = s->p;
    FAB_OWNED char *servers = NULL;
    FAB_PASS(list_text(list, p->n_job, p->of_pattern ? '+' : ',', &servers, err));
    if (p->of_pattern) {
        fab_str_printf(text, "%s,servers=%s", p->text, servers);
        FAB_PASS(fab_str_status(text, err));
        what->traffic = text->data;
    } else {
        *p->scratch = *p->design;
        p->scratch->jobs[0].n_servers = p->scratch->jobs[0].gpus = 0;
        p->scratch->jobs[0].placement = FAB_PLACEMENT_ORDER;
        FAB_PASS(fab_design_set_job(p->scratch, 0, "servers", servers, "place", err));
        what->design = p->scratch;
    }
    return FAB_OK;
}

/* *out_draws: seeds under which figures differ, 1 where nothing is drawn. */
static fab_status place_evaluate(search *s, const uint32_t *list, uint64_t seed, uint64_t n_seeds, double *out_s,
                                 uint64_t *out_draws, fab_error *err) {
    placer *p = s->p;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_OWNED fab_design *chunked = NULL;
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_context_free_owned) fab_context *chosen = NULL;
    fab_sweep_engine found = {.time_s = 0};
    FAB_OWNS(fab_result_release_rest)
    fab_result result = {.seed = seed, .n_seeds = n_seeds, .n_fabrics = 1, .fabrics = p->measured};
    fab_context_request what = {.base = p->context, .engines = s->p->design->engines, .n_engines = 1, .seed = seed};
    FAB_PASS(lay_list(s, list, &what, &text, err));
    FAB_PASS(fab_context_new(&what, &context, err));
    fab_replay replay = {.context = context, .n_seeds = n_seeds, .n_threads = p->request->n_threads, .rates = true};
    FAB_PASS(fab_replay_choose_chunks(&replay, &result, &chunked, &chosen, err));
    replay.context = chosen != NULL ? chosen : context;
    FAB_PASS(fab_replay_run(&replay, &result, err));
    fab_sweep_keep_engine(&result, 0, &found);
    FAB_REFUSE_IF(!found.has_time, err, FAB_EUNSUPPORTED, s->p->design->engines[0].text,
                  "the time of all phases together is not known");
    *out_s = found.time_s;
    *out_draws = 1;
    for (size_t i = 0; i < result.n_phases; i++) {
        *out_draws =
            result.phases[i].engines[0].n_seeds > *out_draws ? result.phases[i].engines[0].n_seeds : *out_draws;
    }
    s->out->by_iteration = found.has_iteration;
    FAB_FORMAT(s->out->label, "%s", found.label);
    return FAB_OK;
}

/* Evaluates a list, unless one that is like it was; keeps the ends. */
static fab_status try_list(search *s, const uint32_t *list, double *out_s, bool *out_new, fab_error *err) {
    uint64_t digest = place_digest(&s->groups, list, s->p->n_job, s->scratch);
    uint64_t draws = 1;
    *out_new = false;
    for (uint64_t i = 0; i < s->n_seen; i++) {
        if (s->seen[i] == digest) {
            *out_s = s->seen_s[i];
            return FAB_OK;
        }
    }
    FAB_PASS(place_evaluate(s, list, s->p->request->seed, s->p->n_seeds, out_s, &draws, err));
    *out_new = true;
    s->seen[s->n_seen] = digest;
    s->seen_s[s->n_seen++] = *out_s;
    if (s->p->request->progress != NULL) {
        s->p->request->progress(s->p->request->progress_context, (double)s->n_seen, s->n_wanted);
    }
    if (s->n_seen == 1 || *out_s < s->out->best.time_s * (1 - SAME)) {
        s->out->best.time_s = *out_s;
        memcpy(s->best, list, s->p->n_job * sizeof *list);
    }
    if (s->n_seen == 1 || *out_s > s->out->worst.time_s * (1 + SAME)) {
        s->out->worst.time_s = *out_s;
        memcpy(s->worst, list, s->p->n_job * sizeof *list);
    }
    return FAB_OK;
}

static fab_status visit_list(void *context, const uint32_t *list, fab_error *err) {
    double time_s = 0;
    bool is_new = false;
    return try_list(context, list, &time_s, &is_new, err);
}

/* --- search ------------------------------------------------------------------------------------------------------- */

static void exchange(uint32_t *list, uint32_t i, uint32_t j) {
    uint32_t server = list[i];
    list[i] = list[j];
    list[j] = server;
}

/* From s->list downhill, or uphill, until `until` placements are evaluated or nothing helps. */
static fab_status climb(search *s, bool uphill, uint64_t until, fab_error *err) {
    const placer *p = s->p;
    double here_s = 0;
    bool is_new = false;
    FAB_PASS(try_list(s, s->list, &here_s, &is_new, err));
    for (int fails = 0; fails < MAX_FAILS && s->n_seen < until; fails++) {
        double time_s = 0;
        uint32_t i = (uint32_t)fab_rng_below(&s->rng, p->n_job);
        uint32_t j = (uint32_t)fab_rng_below(&s->rng, p->n_all);
        exchange(s->list, i, j);
        FAB_PASS(try_list(s, s->list, &time_s, &is_new, err));
        if (uphill ? time_s > here_s * (1 + SAME) : time_s < here_s * (1 - SAME)) {
            here_s = time_s;
            fails = -1;
        } else if (fabs(time_s - here_s) > SAME * here_s) { /* sideways is allowed: maxima have plateaus */
            exchange(s->list, i, j);
        }
    }
    return FAB_OK;
}

/* Puts servers in front of the list, in this order; the others follow in theirs. */
static void bring_forward(search *s, const uint32_t *servers, uint32_t n) {
    const placer *p = s->p;
    for (uint32_t i = 0; i < n; i++) {
        FAB_FIRST_IN(at, i, p->n_all, s->list[at] == servers[i]);
        if (at < p->n_all) {
            exchange(s->list, i, at);
        }
    }
}

/* The servers that a named placement takes. */
static fab_status named_list(search *s, fab_placement placement, fab_error *err) {
    placer *p = s->p;
    FAB_OWNS(fab_traffic_release) fab_traffic traffic = {.n_phases = 0};
    uint32_t n = 0;
    FAB_OWNED_NEW(uint32_t, servers, p->fabric->n_servers, err);
    if (p->of_pattern) {
        FAB_PASS(fab_servers_arrange(p->fabric, placement, p->request->seed, servers, &n, err));
        n = p->n_job;
    } else {
        *p->scratch = *p->design;
        p->scratch->jobs[0].placement = placement;
        FAB_PASS(fab_traffic_make(p->text, p->scratch, p->fabric, p->request->seed, &traffic, err));
        for (; n < p->n_job; n++) {
            servers[n] = traffic.gpu_of_rank[(size_t)n * p->fabric->gpus_per_server] / p->fabric->gpus_per_server;
        }
    }
    memcpy(s->list, p->start, p->n_all * sizeof *s->list);
    bring_forward(s, servers, n);
    return FAB_OK;
}

/* Lists as other orders of ranks would have them, where exchanges one by one gain nothing: the listed servers are dealt
 * out in blocks, so that those `stride` apart come next to each other. Blocks that fill the job before others, the
 * small before the large. */
static fab_status try_deals(search *s, uint64_t until, fab_error *err) {
    const placer *p = s->p;
    double time_s = 0;
    bool is_new = false;
    for (uint32_t divides = 2; divides-- > 0;) {
        for (uint32_t size = 4; size <= p->n_job; size++) {
            const bool is_turn = (p->n_job % size == 0) == (divides > 0);
            for (uint32_t stride = 2; is_turn && stride <= size / 2 && s->n_seen < until; stride++) {
                const uint32_t n = size % stride == 0 ? p->n_job / size * size : 0;
                memcpy(s->list, p->start, p->n_all * sizeof *s->list);
                for (uint32_t i = 0; i < n; i++) {
                    const uint32_t at = i % size;
                    s->list[i] = p->start[i - at + at % (size / stride) * stride + at / (size / stride)];
                }
                FAB_PASS(n > 0 ? try_list(s, s->list, &time_s, &is_new, err) : FAB_OK);
            }
        }
    }
    return FAB_OK;
}

/* All named placements and some that are dealt first, then climbs from the ends of these and from random ones. */
static fab_status search_locally(search *s, fab_error *err) {
    const placer *p = s->p;
    const uint64_t budget = s->out->budget;
    for (int name = 0; fab_placements[name] != NULL && s->n_seen < budget; name++) {
        double time_s = 0;
        bool is_new = false;
        FAB_PASS(named_list(s, (fab_placement)name, err));
        FAB_PASS(try_list(s, s->list, &time_s, &is_new, err));
    }
    FAB_PASS(try_deals(s, s->n_seen + (budget - s->n_seen) / DEALT, err));
    const uint64_t first = s->n_seen;
    for (int uphill = 0; uphill < 2; uphill++) {
        uint64_t until = uphill ? budget : first + (budget - first) / 2;
        for (uint64_t starts = 0; s->n_seen < until && starts < budget; starts++) {
            memcpy(s->list, p->start, p->n_all * sizeof *s->list);
            if (starts == 0) {
                bring_forward(s, uphill ? s->worst : s->best, p->n_job);
            } else {
                fab_rng_shuffle(&s->rng, s->list, p->n_all);
            }
            FAB_PASS(climb(s, uphill == 1, until, err));
        }
    }
    return FAB_OK;
}

/* What was found on the luck of its seeds is evaluated on others. */
static fab_status check_found(search *s, fab_error *err) {
    const fab_sweep_request *r = s->p->request;
    const uint32_t *const lists[] = {s->p->start, s->best, s->worst};
    fab_placed *placed[] = {&s->out->listed, &s->out->best, &s->out->worst};
    uint64_t n_seeds = s->p->n_seeds > CHECK_SEEDS ? s->p->n_seeds : CHECK_SEEDS;
    uint64_t draws = 1;
    for (size_t i = 0; i < 3; i++) {
        FAB_PASS(list_text(lists[i], s->p->n_job, s->p->of_pattern ? '+' : ',', &placed[i]->servers, err));
    }
    for (size_t i = 0; i < 3 && (i == 0 || draws > 1); i++) {
        FAB_PASS(place_evaluate(s, lists[i], r->seed + s->p->n_seeds, n_seeds, &placed[i]->check_s, &draws, err));
    }
    s->out->check_seeds = draws > 1 ? n_seeds : 0;
    return FAB_OK;
}

/* Placements that the estimated work allows; no clock decides. */
static uint64_t budget_of(const placer *p, uint64_t asked) {
    double flows = 2.0 * p->fabric->n_cables;
    for (size_t i = 0; i < p->traffic->n_phases; i++) {
        flows += (double)p->traffic->phases[i].n_flows * (double)p->n_seeds;
    }
    double fit = BUDGET_FLOWS / flows;
    return asked > 0                ? asked
           : fit > FAB_PLACE_BUDGET ? FAB_PLACE_BUDGET
           : fit < LEAST_BUDGET     ? LEAST_BUDGET
                                    : (uint64_t)fit;
}

/* Engines that share every flow over all minimal paths see nothing of a server but its links. */
static bool sees_links_only(const placer *p) {
    const char *engine = p->design->engines[0].text;
    size_t n = strcspn(engine, ",");
    bool splits = (n == 5 && strncmp(engine, "spray", n) == 0) || (n == 7 && strncmp(engine, "optimal", n) == 0);
    return splits && p->design->fabric.transport.kind == FAB_TRANSPORT_FLUID;
}

static fab_status search_engine(placer *p, uint64_t budget, fab_place_search *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t n = 0;
    search s = {.p = p, .out = out, .n_wanted = budget, .rng = fab_rng_make(p->request->seed, 0x706c6163)};
    FAB_TRY(place_groups_init(p->fabric, p->usable, sees_links_only(p), &s.groups, err));
    FAB_TRY(FAB_NEW_ALL(p->n_all, err, s.list, s.best, s.worst));
    FAB_TRY(FAB_NEW(s.scratch, 2 * (size_t)s.groups.n, err));
    FAB_TRY(FAB_NEW_ALL(budget + 1, err, s.seen, s.seen_s));
    out->budget = budget;
    double listed_s = 0;
    bool is_new = false;
    FAB_TRY(try_list(&s, p->start, &listed_s, &is_new, err));
    out->listed.time_s = listed_s;
    FAB_TRY(place_enumerate(&s.groups, p->start, p->n_all, p->n_job, budget, NULL, NULL, &n, err));
    out->is_proven = n <= budget;
    out->n_distinct = out->is_proven ? n : 0;
    s.n_wanted = out->is_proven ? n : budget;
    if (out->is_proven) {
        FAB_TRY(place_enumerate(&s.groups, p->start, p->n_all, p->n_job, budget, visit_list, &s, &n, err));
    } else {
        FAB_TRY(search_locally(&s, err));
    }
    out->n_tried = s.n_seen;
    FAB_TRY(check_found(&s, err));
    out->is_searched = true;
    if (out->n_distinct == 1) {
        (void)snprintf(
            out->note, sizeof out->note,
            "Placements cannot differ: up to symmetry of the fabric, lengths of cables apart, there is one.");
    }
done:
    place_groups_release(&s.groups);
    FAB_FREE_ALL(s.list, s.best, s.worst, s.scratch, s.seen, s.seen_s);
    return status;
}

/* --- what no placement changes ------------------------------------------------------------------------------------ */

/* Seconds that the fullest server needs for what leaves it or enters it, wherever it stands; *out_any: something
 * does. */
static fab_status least_of_phase(const placer *p, const fab_phase *phase, double *out_s, bool *out_any,
                                 fab_error *err) {
    const fab_fabric *f = p->fabric;
    double bps = 0;
    FAB_OWNED_NEW(double, bytes, 2 * (size_t)f->n_servers, err); /* out of each server, then into each */
    *out_s = 0;
    *out_any = phase->n_flows > MOST_FLOWS;
    for (uint64_t i = 0; i < phase->n_flows && phase->n_flows <= MOST_FLOWS; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        uint32_t from = fab_server_of(f, flow.src);
        uint32_t to = fab_server_of(f, flow.dst);
        if (from != to) {
            *out_any = true;
            bytes[from] += (double)flow.bytes;
            bytes[f->n_servers + to] += (double)flow.bytes;
        }
    }
    uint32_t nic = f->first[FAB_NODE_NIC];
    for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + f->nics_per_server]; i++) {
        const fab_link_class *class = fab_class_of(f, f->out_link[i]);
        bps += class->kind == FAB_LINK_ACCESS ? class->capacity_bps : 0;
    }
    for (uint32_t i = 0; i < 2 * f->n_servers && bps > 0; i++) {
        *out_s = fmax(*out_s, 8 * bytes[i] / bps);
    }
    return FAB_OK;
}

static fab_status find_least(const placer *p, double *out_s, bool *out_any, fab_error *err) {
    *out_s = 0;
    *out_any = false;
    for (size_t i = 0; i < p->traffic->n_phases; i++) {
        double least_s = 0;
        bool any = false;
        FAB_PASS(least_of_phase(p, &p->traffic->phases[i], &least_s, &any, err));
        *out_s += least_s;
        *out_any = *out_any || any;
    }
    *out_s = p->fabric->gpus_per_domain > p->fabric->gpus_per_server ? 0 : *out_s;
    return FAB_OK;
}

/* --- before the search -------------------------------------------------------------------------------------------- */

static uint32_t last_gpu(const fab_phase *phase) {
    uint32_t last = phase->all.n > 0 ? phase->all.first + phase->all.n - 1 : 0;
    for (uint64_t i = 0; phase->all.n == 0 && i < phase->n_flows; i++) {
        last = phase->src[i] > last ? phase->src[i] : last;
        last = phase->dst[i] > last ? phase->dst[i] : last;
    }
    return last;
}

/* Servers of the traffic in their order. Of a pattern those that its GPU numbers count through. */
static void find_used(placer *p) {
    const uint32_t n = p->fabric->gpus_per_server;
    uint32_t last = 0;
    for (uint32_t rank = 0; rank < p->traffic->n_ranks; rank += n) {
        p->start[p->n_job++] = p->traffic->gpu_of_rank[rank] / n;
    }
    for (size_t i = 0; p->of_pattern && i < p->traffic->n_phases; i++) {
        uint32_t gpu = last_gpu(&p->traffic->phases[i]);
        last = gpu > last ? gpu : last;
    }
    for (uint32_t server = 0; p->of_pattern && server <= last / n; server++) {
        p->start[p->n_job++] = server;
    }
}

/* Then those that are free. A job with a list of servers, or with storage in the network, stays on its own. */
static fab_status find_servers(placer *p, fab_error *err) {
    const fab_fabric *f = p->fabric;
    const fab_job_spec *job = p->of_pattern ? NULL : &p->traffic->job;
    uint64_t kept = p->of_pattern ? 0 : p->design->fabric.spares;
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, p->start, p->usable));
    find_used(p);
    for (uint32_t i = 0; i < p->n_job; i++) {
        p->usable[p->start[i]] = true;
    }
    p->n_all = p->n_job;
    bool stays = job != NULL && (job->servers.length > 0 || job->storage_servers.length > 0);
    for (uint32_t server = 0; !stays && server + kept < fab_n_complete_servers(f); server++) {
        if (!p->usable[server]) {
            p->usable[server] = true;
            p->start[p->n_all++] = server;
        }
    }
    return FAB_OK;
}

/* Why there is nothing to search, or NULL. */
static const char *place_refusal(const placer *p) {
    return p->design->n_jobs > 1 && !p->of_pattern
               ? "Placements are not searched: there are several jobs, and one takes the servers of another."
           : fab_n_gpus(p->fabric) % p->fabric->gpus_per_server != 0
               ? "Placements are not searched: a server has fewer GPUs than the others."
               : NULL;
}

/* Of engine `engine` alone, under the plan that is fastest under it; *out_n: engines of the design. */
static fab_status placer_init(placer *p, size_t engine, size_t *out_n, fab_error *err) {
    const fab_sweep_request *r = p->request;
    static const char *const LISTED[] = {"job.placement=order"};
    FAB_PASS(FAB_NEW_ALL(1, err, p->design, p->scratch, p->measured));
    FAB_PASS(r->read(r->read_context, LISTED, 1, p->design, err));
    *out_n = p->design->n_engines;
    p->design->engines[0] = p->design->engines[engine];
    p->design->n_engines = 1;
    FAB_PASS(fab_fabric_measure(p->design, p->measured, &p->fabric, err));
    p->of_pattern = strncmp(r->traffic, "pattern:", 8) == 0;
    const fab_plan_request plan = {
        .design = p->scratch, .fabric = p->fabric, .seed = r->seed, .n_threads = r->n_threads, .is_of_first = true};
    *p->scratch = *p->design;
    FAB_PASS(fab_choose_open(&plan, r->traffic, p->scratch, &p->plans, &p->settled, err));
    *p->design = *p->scratch;
    p->text = p->settled != NULL ? p->settled : r->traffic;
    const fab_context_request what = fab_context_of(p->design, p->fabric, p->text, r->seed);
    FAB_PASS(fab_context_new(&what, &p->context, err));
    return fab_context_traffic(p->context, &p->traffic, err);
}

static void placer_release(placer *p) {
    fab_context_free(p->context);
    fab_fabric_free(p->fabric);
    if (p->measured != NULL) {
        free(p->measured->front_end);
    }
    fab_plans_free(p->plans);
    FAB_FREE_ALL(p->design, p->scratch, p->start, p->usable, p->measured, p->settled);
}

/* A search that is refused is no failure: the named placements are still compared. */
static fab_status run_search(placer *p, uint64_t budget, fab_place_search *out, fab_error *err) {
    fab_error inner = {.code = FAB_OK};
    double least_s = 0;
    bool any = false;
    FAB_PASS(find_servers(p, err));
    FAB_PASS(find_least(p, &least_s, &any, err));
    FAB_FORMAT(out->label, "%s", p->design->engines[0].text);
    if (p->plans != NULL) {
        (void)fab_job_plan_text(&p->plans->plans[0].plan, out->plan);
    }
    out->of_pattern = p->of_pattern;
    out->n_servers = p->n_job;
    out->n_free = p->n_all - p->n_job;
    if (!any) {
        FAB_FORMAT(out->note, "Placements cannot differ: all traffic stays inside its servers.");
        return FAB_OK;
    }
    fab_status status = search_engine(p, budget_of(p, budget), out, &inner);
    if (fab_is_refusal(status)) {
        out->is_searched = false;
        FAB_FORMAT(out->note, "Placements are not searched: %.200s", inner.text);
    } else if (status != FAB_OK) {
        return fab_fail(err, status, inner.where, "%s", inner.text);
    }
    out->least_s = out->is_searched && !out->by_iteration ? least_s : 0;
    return FAB_OK;
}

fab_status fab_place_run(const fab_sweep_request *request, uint64_t budget, fab_sweep *sweep, fab_error *err) {
    size_t n = 1;
    for (size_t e = 0; e < n; e++) {
        FAB_OWNS(placer_release)
        placer p = {.request = request, .n_seeds = request->n_seeds > 0 ? request->n_seeds : 1};
        FAB_PASS(placer_init(&p, e, &n, err));
        const char *refusal = place_refusal(&p);
        n = refusal != NULL ? 1 : n;
        if (e == 0) {
            FAB_PASS(FAB_NEW(sweep->searches, n, err));
            sweep->n_searches = n;
        }
        if (refusal != NULL) {
            FAB_FORMAT(sweep->searches[0].note, "%s", refusal);
            return FAB_OK;
        }
        FAB_PASS(run_search(&p, budget, &sweep->searches[e], err));
    }
    return FAB_OK;
}

fab_status fab_place_in_order(const fab_design *design, size_t engine, const char *traffic, uint64_t seed,
                              uint64_t n_seeds, size_t n_threads, double *out_s, fab_error *err) {
    const fab_sweep_request request = {.traffic = traffic != NULL ? traffic : "job",
                                       .seed = seed,
                                       .n_seeds = n_seeds,
                                       .n_threads = n_threads,
                                       .most_routed = FAB_PLAN_SHORT}; /* as a run */
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point point = {.n_phases = 0};
    FAB_OWNED_NEW(fab_design, ordered, 1, err);
    fab_error why = {.code = FAB_OK};
    *out_s = 0;
    if (design->n_jobs != 1 || design->jobs[0].placement == FAB_PLACEMENT_ORDER ||
        design->fabric.transport.kind != FAB_TRANSPORT_FLUID || strncmp(request.traffic, "job", 3) != 0) {
        return FAB_OK;
    }
    *ordered = *design;
    ordered->engines[0] = design->engines[engine];
    ordered->n_engines = 1;
    FAB_PASS(fab_design_set_job(ordered, 0, "placement", "order", "--job", err));
    const fab_status status = fab_sweep_evaluate(&request, ordered, &point, &why);
    FAB_PASS(fab_unless_refused(err, status, &why));
    *out_s = status == FAB_OK && fab_sweep_has_time(&point, 0) ? point.engines[0].time_s : 0;
    return FAB_OK;
}
