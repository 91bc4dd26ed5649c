/* The five lines with which a report begins. Every figure in them stands in the result too. */
#include "verdict_lines.h"

/* --- engines ------------------------------------------------------------------------------------------------------ */

/* Of the iteration, a batch that is served, else of all phases one after the other; of several jobs of the first,
 * alone. NAN: not known. */
static double verdict_time_alone(const fab_result *r, size_t engine) {
    double sum = 0;
    if (r->n_iterations > 0) {
        return r->iterations[engine].time_s;
    }
    if (r->n_serving > engine) {
        return r->serving[engine].batch_s;
    }
    for (size_t p = 0; p < r->n_phases; p++) {
        const fab_engine_result *e = &r->phases[p].engines[engine];
        sum += e->has_time ? e->time_s.mean : e->is_absent ? 0 : NAN;
    }
    return sum;
}

/* Whether engines are compared by what all jobs take together. */
static bool is_of_all_jobs(const fab_result *r, size_t engine) {
    return r->contention != NULL && engine < r->contention->n_engines && r->contention->engines[engine].all_jobs_s > 0;
}

double verdict_time(const fab_result *r, size_t engine) {
    return is_of_all_jobs(r, engine) ? r->contention->engines[engine].all_jobs_s : verdict_time_alone(r, engine);
}

/* The phase of the largest collision factor, whatever it costs. */
static const fab_phase_result *most_collided(const fab_result *r, size_t engine) {
    const fab_phase_result *most = &r->phases[0];
    FAB_EACH(const fab_phase_result, p, r->phases, r->n_phases) {
        const double beyond =
            p->engines[engine].max_collision_factor.mean - most->engines[engine].max_collision_factor.mean;
        most = beyond > VERDICT_SAME ? p : most;
    }
    return most;
}

/* Whether engine a is better than b: by time where both are known, else, and where these are equal, by collisions. */
static bool verdict_is_better(const fab_result *r, size_t a, size_t b) {
    double time_a = verdict_time(r, a);
    double time_b = verdict_time(r, b);
    if (isnan(time_a) != isnan(time_b)) {
        return !isnan(time_a);
    }
    const int fewer = fabs(time_a - time_b) <= VERDICT_MARGIN * time_a ? verdict_fewer_pairs(r, a, b) : 0;
    if (fewer != 0) { /* those that gain nothing cost NICs their state */
        return fewer > 0;
    }
    if (!isnan(time_a) && fabs(time_a - time_b) > VERDICT_SAME * time_a) {
        return time_a < time_b;
    }
    return most_collided(r, a)->engines[a].max_collision_factor.mean <
           most_collided(r, b)->engines[b].max_collision_factor.mean - VERDICT_SAME;
}

void fab_verdict_begin(const fab_result *r, fab_run_verdict *out) {
    const size_t n = r->n_phases > 0 ? r->phases[0].n_engines : 0;
    size_t first = 0;
    while (first + 1 < n && verdict_is_bound(r, first)) {
        first++;
    }
    *out = (fab_run_verdict){.of_iteration = r->n_iterations > 0, .engine = first, .slowest = first};
    for (size_t e = 0; e < n; e++) {
        if (verdict_is_bound(r, e) && !verdict_is_bound(r, first)) {
            continue;
        }
        out->engine = verdict_is_better(r, e, out->engine) ? e : out->engine;
        out->slowest = verdict_is_better(r, out->slowest, e) ? e : out->slowest;
    }
    if (n > 0 && !verdict_is_better(r, out->engine, out->slowest)) {
        out->slowest = out->engine;
    }
    out->has_time = n > 0 && !isnan(verdict_time_alone(r, out->engine));
    if (n > 0 && verdict_margin(r, out) >= VERDICT_MARGIN) {
        out->engine = verdict_first_equal(r, out->engine);
    }
    out->time_s = out->has_time ? verdict_time_alone(r, out->engine) : 0;
}

bool fab_verdict_is_lossy(const fab_phase_result *p, size_t engine) {
    const fab_engine_result *e = &p->engines[engine];
    return p->fabric_flows > 0 && e->has_time && e->lower_bound_ratio.mean > 1 + FAB_VERDICT_LITTLE;
}

const char *verdict_engine(const fab_result *r, size_t engine, char room[VERDICT_NAME]) {
    char name[FAB_ENGINE_SHORT_SIZE];
    (void)snprintf(room, VERDICT_NAME, "[%zu] %s", engine + 1, fab_engine_short(&r->phases[0], engine, true, name));
    return room;
}

/* --- what bounds it ----------------------------------------------------------------------------------------------- */

#define VERDICT_REST          0.1             /* of what NICs need, which yet does not bind in their place */
#define VERDICT_INCAST        1.25            /* as long as any other needs a NIC that is named whatever else binds */
#define VERDICT_ALONE         0.01            /* of a phase beyond its fullest NIC, which binds alone where none ties */
#define VERDICT_FEW_NICS      0.2             /* part of all NICs, of which fewer that need longest are named */
#define VERDICT_COMMUNICATION "communication" /* that computation does not hide */

typedef struct part {
    const char *name;
    double size; /* seconds, or a factor */
} part;

FAB_ORDER_KEYS(larger_part, part, FAB_ORDER(b->size, a->size));

/* What a collision factor is the product of. */
typedef struct verdict_factors {
    double taper, trunks, hash, unequal;
    bool is_mixed; /* hash: with what unequal flows cost, as nothing tells them apart */
} verdict_factors;

/* Of one draw the factors are those of the worst link; of several their mean is divided by what no routing escapes. */
static verdict_factors verdict_factors_of(const fab_result *r, const fab_phase_result *p, const fab_engine_result *e) {
    const bool is_of_link = e->n_seeds <= 1 && e->n_hot > 0 && e->hot[0].taper_factor > 0;
    const double taper = is_of_link ? e->hot[0].taper_factor : fmax(p->max_cut_factor, 1);
    const double cut = fmin(fmax(p->max_cut_factor, 1), taper); /* that any routing has */
    const bool is_uneven = r->fabrics[0].trunks_differ && taper > cut * (1 + VERDICT_MARGIN);
    return (verdict_factors){is_uneven ? cut : taper, is_uneven ? taper / cut : 1,
                             is_of_link ? e->hot[0].hash_factor : e->max_collision_factor.mean / taper, 1, false};
}

/* What the time of a phase is the product of, beside what its hosts need: one that is no more than the fullest link
 * keeps hardly anybody waiting. What an even split takes too is none of the hash; equal flows end with that link. */
static verdict_factors verdict_times_of(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p,
                                        const fab_engine_result *e) {
    const verdict_factors loads = verdict_factors_of(r, p, e);
    const double trunks = fmin(loads.trunks, e->lower_bound_ratio.mean);
    const double routing = e->lower_bound_ratio.mean / trunks;
    const double split_s = verdict_split_s(r, v, p);
    const bool is_hashed = loads.hash > 1 + VERDICT_MARGIN;
    const bool is_known = isfinite(split_s);
    const double hash = is_known && is_hashed ? fmax(fmin(e->transfer_s.mean / split_s, routing), 1) : 1;
    const bool is_mixed = !is_known && is_hashed && e->transfer_s.mean > e->busiest_link_s.mean * (1 + VERDICT_MARGIN);
    return is_hashed && !is_known ? (verdict_factors){p->least_s / p->hosts_s, trunks, routing, 1, is_mixed}
                                  : (verdict_factors){p->least_s / p->hosts_s, trunks, hash, routing / hash, false};
}

/* "hash collisions x1.90 (taper x1.76)": the largest first; of one its name. "NICs (taper x1.02)": they are little. */
static const char *limit_of_factors(const verdict_factors *f, bool is_little, char room[VERDICT_NAME]) {
    part parts[] = {{"taper", f->taper},
                    {"unequal trunks", f->trunks},
                    {f->is_mixed ? "collisions and unequal flows" : "hash collisions", f->hash},
                    {"unequal flows", f->unequal}};
    size_t n = 0;
    qsort(parts, FAB_N_OF(parts), sizeof parts[0], larger_part);
    while (n < FAB_N_OF(parts) && parts[n].size >= 1.005) { /* what two digits tell */
        n++;
    }
    room[0] = '\0';
    fab_append(room, VERDICT_NAME, "%s", is_little ? n > 0 ? "NICs (" : "NICs" : n <= 1 ? parts[0].name : "");
    for (size_t i = 0; (n > 1 || is_little) && i < n; i++) {
        const char *before = i == 0 ? "" : i == 1 && !is_little ? " (" : ", ";
        fab_append(room, VERDICT_NAME, "%s%s x%.2f", before, parts[i].name, parts[i].size);
    }
    fab_append(room, VERDICT_NAME, "%s", n > (is_little ? 0 : 1) ? ")" : "");
    return room;
}

/* What holds most flows of a phase. */
static const char *limit_of_phase(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p,
                                  char room[VERDICT_NAME]) {
    const fab_engine_result *e = &p->engines[v->engine];
    double nic = 0;
    double fabric = 0;
    for (size_t i = 0; i < e->n_tiers; i++) {
        *(e->tiers[i].tier == 1 ? &nic : &fabric) += e->tiers[i].bottlenecked_flows;
    }
    if (e->max_collision_factor.mean > VERDICT_FULL && p->fabric_flows > 0 && !verdict_is_of_hosts(p, e)) {
        const bool has_times = e->has_time && p->hosts_s > 0;
        const verdict_factors f = has_times ? verdict_times_of(r, v, p, e) : verdict_factors_of(r, p, e);
        const bool is_little = has_times && f.taper * f.trunks * f.hash * f.unequal <= 1 + VERDICT_REST;
        if (p->max_cut_factor > VERDICT_FULL || is_little) {
            return limit_of_factors(&f, is_little, room);
        }
        const double split_s = verdict_split_s(r, v, p);
        const bool is_split = isfinite(split_s) && e->transfer_s.mean <= split_s * (1 + VERDICT_MARGIN);
        return p->max_taper_factor > VERDICT_FULL ? "taper under equal shares" /* no bound: see max_cut_factor */
               : has_times && (is_split || e->lower_bound_ratio.mean <= 1 + VERDICT_MARGIN) ? "NICs"
                                                                                            : "collisions";
    }
    double inside = e->rates.bottlenecked_at_scaleup + e->rates.bottlenecked_at_pcie;
    double window = e->rates.bottlenecked_at_window;
    if (p->network_flows == 0 || inside > fmax(nic, fmax(fabric, window))) {
        return "scale-up domains";
    }
    return window > fmax(nic, fabric)                   ? "receivers' windows"
           : fabric > nic && !verdict_is_of_hosts(p, e) ? "links between switches"
                                                        : "NICs";
}

static void bound_add_seconds(char *out, const fab_iteration *it) {
    verdict_say(out, "%s iteration", VERDICT_SECONDS(it->time_s));
    if (it->seeds.n_seeds > 1 && it->seeds.time_s.max > it->seeds.time_s.min * (1 + VERDICT_SAME)) {
        verdict_say(out, " (mean; %s to %s)", VERDICT_SECONDS(it->seeds.time_s.min),
                    VERDICT_SECONDS(it->seeds.time_s.max));
    }
}

/* ": data-parallel exchange 38 %, tensor exchange 15 %" */
static void bound_add_parts(char *out, part *parts, size_t n, double time_s) {
    const char *between = ": ";
    qsort(parts, n, sizeof parts[0], larger_part);
    for (size_t i = 0; i < n && parts[i].size > 0.005 * time_s; i++) {
        verdict_say(out, "%s%s %.0f %%", between, parts[i].name, 100 * parts[i].size / time_s);
        between = ", ";
    }
}

static void bound_of_iteration(const fab_iteration *it, char *out) {
    part exchanges[] = {{"tensor exchange", it->exposed_tp_s},
                        {"context exchange", it->exposed_cp_s},
                        {"expert exchange", it->exposed_ep_s},
                        {"pipeline transfers", it->exposed_pp_s},
                        {"data-parallel exchange", it->exposed_dp_s}};
    const size_t n_exchanges = FAB_N_OF(exchanges);
    FAB_SUM(double, communication_s, i, n_exchanges, exchanges[i].size);
    part parts[] = {{"compute", it->compute_s + it->optimizer_s},
                    {"pipeline bubble", it->bubble_s},
                    {VERDICT_COMMUNICATION, communication_s}};
    const size_t n = FAB_N_OF(parts);
    qsort(parts, n, sizeof parts[0], larger_part);
    for (size_t i = 0; i < n && (i == 0 || parts[i].size > 0.005 * it->time_s); i++) {
        verdict_say(out, i == 0 ? "%s, %.0f %% of the " : "; %s %.0f %%", parts[i].name,
                    100 * parts[i].size / it->time_s);
        if (i == 0) {
            bound_add_seconds(out, it);
        }
        if (strcmp(parts[i].name, VERDICT_COMMUNICATION) == 0) {
            bound_add_parts(out, exchanges, n_exchanges, it->time_s);
        }
    }
}

/* "reading weights, 64 % of the 10.57 ms per token; network 21 %; kernels 14 %" */
static void bound_of_serving(const fab_result *r, const fab_serving *s, char *out) {
    if (s->arrivals_per_s <= 0) { /* before all: nothing else that is said of it comes true */
        verdict_say(out,
                    "overload: %.5g requests/s cannot be served, at most %.5g: requests wait ever longer, and no "
                    "percentile exists. Without a queue: ",
                    r->job.request_rate, s->most_requests_per_s);
    }
    part parts[] = {{"reading weights", s->weights_s},
                    {"reading keys and values", s->cache_s},
                    {"network", s->token_network_s},
                    {"computing", s->token_s - s->weights_s - s->cache_s - s->token_network_s}};
    const size_t n = FAB_N_OF(parts);
    qsort(parts, n, sizeof parts[0], larger_part);
    for (size_t i = 0; i < n && (i == 0 || parts[i].size > 0.005 * s->token_s); i++) {
        verdict_say(out, i == 0 ? "%s, %.0f %% of the " : "; %s %.0f %%", parts[i].name,
                    100 * parts[i].size / s->token_s);
        if (i == 0) {
            verdict_say(out, "%s per token", VERDICT_SECONDS(s->token_s));
        }
    }
    verdict_say(out, "; first token %s", VERDICT_SECONDS(s->first_token_s));
    verdict_say(out, ", network %.0f %%", 100 * s->first_token_network_s / s->first_token_s);
    if (s->kv_transfer_s > 0) {
        verdict_say(out, ", keys and values to the replicas that generate in %s", VERDICT_SECONDS(s->kv_transfer_s));
    }
    if (s->arrivals_per_s > 0) {
        verdict_say(out, "; at %.5g of at most %.5g requests/s p50 %s", s->arrivals_per_s, s->most_requests_per_s,
                    VERDICT_SECONDS(s->first_token_p50_s));
        verdict_say(out, ", p99 %s, queue included", VERDICT_SECONDS(s->first_token_p99_s));
    }
}

/* NICs that need longest, where they are few: alone they bind, or need much longer than all others. */
static void bound_add_nics(const fab_result *r, const fab_phase_result *p, double phase_s, char *out) {
    const uint32_t n = p->n_fullest_nics;
    const double nic_s = p->fullest_nic_s;
    const bool is_few = n == 1 || n < VERDICT_FEW_NICS * (double)r->fabrics[0].counts.nics;
    if (!is_few || !(phase_s <= nic_s * (1 + VERDICT_ALONE) || nic_s > VERDICT_INCAST * p->next_nic_s)) {
        return;
    }
    verdict_say(out, "; the bytes of %s", p->fullest_nic);
    if (n > FAB_FULLEST_NICS) {
        verdict_say(out, " and %u more", n - FAB_FULLEST_NICS);
    }
    if (n > 1) {
        verdict_say(out, " (%u NICs)", n);
    }
    verdict_say(out, " alone take %s", VERDICT_SECONDS(nic_s));
    verdict_say(out, "%s, of any other at most %s", n > 1 ? " each" : "", VERDICT_SECONDS(p->next_nic_s));
}

/* The phase that takes longest, where nothing says how phases lie beside computation. */
static void bound_of_phases(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_phase_result *longest = NULL;
    double sum = 0;
    double most = 0;
    char room[VERDICT_NAME];
    for (size_t p = 0; p < r->n_phases; p++) {
        const fab_engine_result *e = &r->phases[p].engines[v->engine];
        double seconds = v->has_time ? e->time_s.mean : e->busiest_link_s.mean;
        sum += seconds;
        if (!e->is_absent && (longest == NULL || seconds > most)) {
            longest = &r->phases[p];
            most = seconds;
        }
    }
    if (longest == NULL || !(most > 0)) {
        verdict_say(out, "nothing: no bytes travel");
        return;
    }
    const char *limit = limit_of_phase(r, v, longest, room);
    verdict_say(out, "%s, in %s: %s%s", limit, longest->name, v->has_time ? "" : "its fullest link needs ",
                VERDICT_SECONDS(most));
    if (strncmp(limit, "NICs", 4) == 0 && longest->fullest_nic_s >= longest->hosts_s * (1 - VERDICT_SAME)) {
        bound_add_nics(r, longest, most, out);
    }
    if (v->has_time && longest->relay_s > FAB_VERDICT_LITTLE * most) {
        verdict_say(out, ", %s of them inside scale-up domains before anything is sent (%s)",
                    VERDICT_SECONDS(longest->relay_s), "forwarding=sequential");
    }
    if (r->n_phases > 1 && !longest->alternative) {
        verdict_say(out, " of %s for all phases", VERDICT_SECONDS(sum));
    }
    if (r->iteration_note[0] != '\0') {
        verdict_say(out, "; %s", r->iteration_note);
    }
}

double verdict_margin(const fab_result *r, const fab_run_verdict *v) {
    if (v->slowest == v->engine) {
        return 0;
    }
    const double fast_s = verdict_time(r, v->engine);
    return v->has_time && fast_s > 0 ? verdict_time(r, v->slowest) / fast_s - 1 : v->has_time ? 0 : NAN;
}

/* Of the best engine, or else of the first with so many numbers of them. */
static void bound_add_pairs(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_engine_result *engines = r->phases[0].engines;
    const size_t n_engines = r->phases[0].n_engines;
    bool is_told = false;
    for (size_t first = 0; !is_told && first <= n_engines; first++) {
        const char *label = engines[first == 0 ? v->engine : first - 1].label;
        fab_pairs_time list[FAB_MAX_ENGINES];
        char text[128] = "";
        size_t n = 0;
        for (size_t e = 0; e < n_engines && n < FAB_MAX_ENGINES; e++) {
            if (fab_label_is_same_but_pairs(label, engines[e].label)) {
                list[n++] = (fab_pairs_time){fab_label_pairs(engines[e].label), verdict_time(r, e)};
            }
        }
        is_told = fab_verdict_add_pairs(list, n, text, sizeof text);
        if (is_told) {
            const char *draw = verdict_of_draw(r);
            verdict_say(out, "; of %.*s %s%s", (int)strcspn(label, ","), label, text, draw);
            if (draw[0] != '\0') {
                verdict_say(out, " (--seeds %d has means)", FAB_VERDICT_SEEDS);
            }
        }
    }
}

static const char *own_plans(const fab_result *r) {
    return r->of_engine[0] == NULL ? "" : r->plans != NULL ? ", each under its own plan" : ", each in its own way";
}

/* The split with the least loads is no bound of times: unequal flows may end sooner over fuller links. */
static void bound_add_least(const fab_result *r, const fab_run_verdict *v, char *out) {
    static const char LEAST[] = "the least load of the fullest link, which no switch routes by";
    const bool is_one_way = r->plans == NULL && r->of_engine[0] == NULL && r->contention == NULL;
    char name[VERDICT_NAME];
    for (size_t e = 0; e < r->phases[0].n_engines; e++) {
        if (!verdict_is_bound(r, e) || !(verdict_time(r, e) > 0) || !v->has_time) {
            continue;
        }
        if (e == v->engine) {
            verdict_say(out, ", at %s", LEAST);
        } else {
            verdict_say(out, ". %s, %s, takes %s", verdict_engine(r, e, name), LEAST,
                        VERDICT_SECONDS(verdict_time(r, e)));
        }
        if (v->least_s > 0 && is_one_way) {
            verdict_say(out, "; no routing takes less than %s", VERDICT_SECONDS(v->least_s));
        }
    }
}

/* "Best [2] spray; worst [1] ecmp: 6.882 s, 3.4 % more" */
static void bound_add_engines(const fab_result *r, const fab_run_verdict *v, char *out) {
    char best[VERDICT_NAME];
    char worst[VERDICT_NAME];
    const double margin = verdict_margin(r, v);
    size_t n = 0; /* that switches can be told */
    for (size_t e = 0; e < r->phases[0].n_engines; e++) {
        n += !verdict_is_bound(r, e);
    }
    bound_add_least(r, v, out);
    if (n < 2) {
        return;
    }
    if (margin < VERDICT_MARGIN) {
        verdict_say(out, ". The %zu engines take the same%s%s", n, own_plans(r), verdict_of_draw(r));
        return;
    }
    verdict_say(out, ". Best %s%s", is_of_all_jobs(r, v->engine) ? "for all jobs together " : "",
                verdict_engine(r, v->engine, best));
    verdict_add_equals(r, v->engine, out);
    verdict_say(out, "; worst %s", verdict_engine(r, v->slowest, worst));
    if (isnan(margin)) {
        verdict_say(out, "%s", v->has_time ? ", which has no time" : ", by collisions");
    } else {
        verdict_say(out, margin > 1 ? ": %s, x%.3g%s" : ": %s, %.1f %% more%s",
                    VERDICT_SECONDS(verdict_time(r, v->slowest)), margin > 1 ? 1 + margin : 100 * margin, own_plans(r));
        bound_add_pairs(r, v, out);
    }
}

static uint64_t verdict_deadlocks(const fab_result *r, size_t engine, const char **out_phase) {
    for (size_t p = 0; p < r->n_phases; p++) {
        if (r->phases[p].engines[engine].deadlocked_seeds > 0) {
            *out_phase = r->phases[p].name;
            return r->phases[p].engines[engine].deadlocked_seeds;
        }
    }
    return 0;
}

static void verdict_put_bound(const fab_result *r, fab_run_verdict *v) {
    const char *phase = "";
    const uint64_t deadlocked = verdict_deadlocks(r, v->engine, &phase);
    if (r->contention != NULL && v->engine < r->contention->n_engines) {
        verdict_add_jobs(r->contention, v->engine, r->n_seeds == 1 && verdict_is_drawn(r, v->engine), v->bound);
    } else if (r->other_jobs > 0) {
        verdict_say(v->bound, "for job %s alone (%zu others left out): ", r->job.id, r->other_jobs);
    }
    if (r->memory.total_bytes > 0 && !r->memory.fits && r->n_iterations == 0) {
        verdict_say(v->bound, "memory: the job does not fit, %.4g GB of %.4g GB per GPU. Then ",
                    r->memory.total_bytes * 1e-9, r->memory.capacity_bytes * 1e-9);
    } else if (r->n_iterations > 0 && !r->iterations[v->engine].memory.fits) {
        const fab_job_memory *m = &r->iterations[v->engine].memory;
        verdict_say(v->bound, "memory: the job does not fit, %.4g GB of %.4g GB per GPU; else ", m->total_bytes * 1e-9,
                    m->capacity_bytes * 1e-9);
    }
    if (deadlocked > 0) {
        verdict_say(v->bound, "a deadlock in %s: under %" PRIu64 " of %" PRIu64 " seeds it never ends", phase,
                    deadlocked, r->n_seeds);
    } else if (r->n_iterations > 0) {
        bound_of_iteration(&r->iterations[v->engine], v->bound);
    } else if (r->n_serving > v->engine) {
        bound_of_serving(r, &r->serving[v->engine], v->bound);
    } else {
        bound_of_phases(r, v, v->bound);
    }
    bound_add_engines(r, v, v->bound);
    verdict_add_changes(r, v, v->bound);
}

/* --- collisions --------------------------------------------------------------------------------------------------- */

/* The phase that loses most to collisions under an engine; where none does, that of the largest factor. */
const fab_phase_result *verdict_worst_phase(const fab_result *r, size_t engine) {
    const fab_phase_result *worst = NULL;
    double most = -1;
    double most_factor = 0;
    FAB_EACH(const fab_phase_result, p, r->phases, r->n_phases) {
        const fab_engine_result *e = &p->engines[engine];
        double lost = fab_verdict_is_lossy(p, engine) ? e->transfer_s.mean * (1 - 1 / e->lower_bound_ratio.mean) : 0;
        double factor = e->max_collision_factor.mean;
        bool is_worse = lost > most || (lost >= most && factor > most_factor);
        if (p->fabric_flows > 0 && !e->is_absent && is_worse) {
            worst = p;
            most = lost;
            most_factor = factor;
        }
    }
    return worst;
}

/* Of all jobs where there are several; what follows is then of the first alone. */
static void collisions_of_jobs(const fab_result *r, size_t engine, char *out) {
    const fab_contention *c = r->contention;
    if (c == NULL || engine >= c->n_engines) {
        return;
    }
    const fab_contention_engine *e = &c->engines[engine];
    verdict_say(out, "%s network link%s several jobs", e->n_shared > 0 ? FAB_SAY_COUNT(e->n_shared) : "no",
                e->n_shared > 1 ? "s carry" : " carries");
    if (e->n_worst > 0) {
        const fab_shared_link *l = &e->worst[0];
        verdict_say(out, "; the busiest, %s, those of %s and %s", l->name, c->jobs[l->parts[0].job].id,
                    c->jobs[l->parts[1].job].id);
        verdict_say(out, l->n_parts > 2 ? " and others for %s" : " for %s", VERDICT_SECONDS(l->busy_s));
    }
    verdict_say(out, ". Job %s alone: ", c->jobs[0].id);
}

static void collisions_of_engine(const fab_result *r, size_t engine, char *out) {
    const fab_phase_result *p = verdict_worst_phase(r, engine);
    const fab_phase_result *most = most_collided(r, engine);
    if (p == NULL) { /* under the plan of this engine */
        verdict_say(out, "none: no flow crosses a link between switches");
        return;
    }
    p = p->engines[engine].max_collision_factor.max > VERDICT_FULL ? p : most;
    const fab_engine_result *e = &p->engines[engine];
    const bool is_most = most->engines[engine].max_collision_factor.mean <= e->max_collision_factor.mean + VERDICT_SAME;
    if (!(e->max_collision_factor.max > VERDICT_FULL)) {
        verdict_say(out, "none; the fullest link between switches is at %.2f of its rate", e->max_collision_factor.max);
        return;
    }
    verdict_say(out, "x%.2f %sin %s%s", e->max_collision_factor.mean, is_most ? "at worst, " : "", p->name,
                is_most ? "" : " (it loses most time)");
    if (e->n_seeds > 1) {
        verdict_say(out, " (mean of %" PRIu64 " seeds, x%.2f to x%.2f)", e->n_seeds, e->max_collision_factor.min,
                    e->max_collision_factor.max);
    } else if (e->n_hot > 0 && e->hot[0].taper_factor > 0) {
        const verdict_factors f = verdict_factors_of(r, p, e);
        verdict_say(out, " = taper %.2f x ", f.taper);
        if (f.trunks > 1) {
            verdict_say(out, "unequal trunks %.2f x ", f.trunks);
        }
        verdict_say(out, "hash %.2f", f.hash);
    }
    const double flows = fmin(e->collided_flows.mean, (double)p->fabric_flows); /* drawn patterns have others each */
    char few[16];                                                               /* of a flow: some seeds have none */
    FAB_FORMAT(few, "%.2g", flows);
    verdict_say(out, "; %s of %s flows cross an overfull link",
                flows < 1 ? few : FAB_SAY_COUNT((uint64_t)(flows + 0.5)), FAB_SAY_COUNT(p->fabric_flows));
    if (fab_verdict_is_lossy(p, engine)) {
        verdict_say(out, "; it takes x%.2f its least time", e->lower_bound_ratio.mean);
    } else if (e->has_time) {
        verdict_say(out, "; %s",
                    verdict_is_of_hosts(p, e) ? "none of these binds, NICs take as long"
                                              : "its time is the least all the same");
    }
    if (!is_most) {
        verdict_say(out, "; x%.2f at worst, in %s", most->engines[engine].max_collision_factor.mean, most->name);
    }
}

static void verdict_put_collisions(const fab_result *r, fab_run_verdict *v) {
    uint64_t network = 0;
    uint64_t fabric = 0;
    char room[VERDICT_NAME];
    for (size_t p = 0; p < r->n_phases; p++) {
        network += r->phases[p].network_flows;
        fabric += r->phases[p].fabric_flows;
    }
    bool several = v->slowest != v->engine && fabric > 0;
    if (!several) {
        collisions_of_jobs(r, v->engine, v->collisions);
    }
    if (network == 0) {
        verdict_say(v->collisions, "none: the traffic stays inside the scale-up domains");
    } else if (fabric == 0) {
        verdict_say(v->collisions, "none: no flow crosses a link between switches");
    } else if (!several) {
        collisions_of_engine(r, v->engine, v->collisions);
    } else {
        verdict_say(v->collisions, "%s: ", verdict_engine(r, v->engine, room));
        collisions_of_jobs(r, v->engine, v->collisions);
        collisions_of_engine(r, v->engine, v->collisions);
        verdict_say(v->collisions, ". %s: ", verdict_engine(r, v->slowest, room));
        collisions_of_jobs(r, v->slowest, v->collisions);
        collisions_of_engine(r, v->slowest, v->collisions);
    }
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static bool has_flows(const fab_result *r) {
    FAB_ANY(found, p, r->n_phases, r->phases[p].flows > 0);
    return found;
}

void fab_verdict_finish(const fab_result *r, fab_run_verdict *v) {
    if (!has_flows(r)) {
        verdict_say(v->bound, "nothing: no traffic crosses any link (%.200s)", r->traffic);
        verdict_say(v->collisions, "none: there is no traffic");
        verdict_put_cost(r, v);
        verdict_say(v->advice, "nothing: there is no time that another network would save");
        verdict_say(v->certainty, "certain: nothing was drawn or modelled");
        return;
    }
    verdict_put_bound(r, v);
    verdict_put_collisions(r, v);
    verdict_put_cost(r, v);
    verdict_put_advice(r, v);
    verdict_put_certainty(r, v);
}
