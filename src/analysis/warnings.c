/* What a reviewer would stop, from the resolved values of a result. */
#include "fab/analysis.h"
#include "fab/job_shares.h"
#include "fab/optimum.h"

#include "fab/mix.h"
#include "fab/units.h"
#include "fab/verdict.h"

#include <stdarg.h>

#define NEAR 0.02 /* a rate on the label and on the wire */

/* Rates of ports of Ethernet [IEEE 802.3] and InfiniBand [IBTA], 10 to 1600 Gb/s. */
static const double SOLD_BPS[] = {10e9, 25e9, 40e9, 50e9, 56e9, 100e9, 200e9, 400e9, 800e9, 1600e9};

static fab_status add_warning(fab_result *result, fab_error *err, const char *fmt, ...) FAB_PRINTF(3, 4);

static fab_status add_warning(fab_result *result, fab_error *err, const char *fmt, ...) {
    char text[512];
    size_t capacity = result->n_warnings; /* grown one by one: there are few */
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    FAB_ANY(is_said, i, result->n_warnings, strcmp(result->warnings[i], text) == 0);
    if (is_said) {
        return FAB_OK;
    }
    FAB_PASS(fab_grow(&result->warnings, &capacity, result->n_warnings + 1, sizeof(char *), err));
    result->warnings[result->n_warnings] = fab_strdup(text, err);
    result->n_warnings += result->warnings[result->n_warnings] != NULL;
    return result->n_warnings > 0 && result->warnings[result->n_warnings - 1] != NULL ? FAB_OK : FAB_ENOMEM;
}

static bool is_sold(double bps) {
    FAB_ANY(found, i, FAB_N_OF(SOLD_BPS), fabs(bps / SOLD_BPS[i] - 1) <= NEAR);
    return found;
}

static fab_status look_at_rates(fab_result *result, const fab_counts *counts, fab_error *err) {
    FAB_EACH(const fab_cable_kind, kind, counts->kinds, counts->n_kinds) {
        if (!is_sold(kind->rate_bps)) {
            FAB_PASS(add_warning(result, err,
                                 "links %s run at %s, which no port of the market does: look at nic, "
                                 "planes, port and breakout",
                                 fab_boundary_name(counts->wiring, kind->tier),
                                 FAB_SAY(kind->rate_bps, FAB_UNIT_RATE)));
        }
    }
    return FAB_OK;
}

/* given: [tier - 1]. */
/* Of ports that are split; what is not is a link of look_at_rates(). */
static fab_status look_at_ports(fab_result *result, const fab_fabric_result *f, fab_error *err) {
    for (uint32_t t = 0; t < f->counts.tiers; t++) {
        const fab_tier_spec *tier = &f->spec.tier[t];
        if (tier->breakout > 1 && tier->port_bps > 0 && !is_sold(tier->port_bps)) {
            FAB_PASS(add_warning(result, err,
                                 "ports of tier %" PRIu32 " run at %s before their breakout in %" PRIu64
                                 ", which no switch of the market has",
                                 t + 1, FAB_SAY(tier->port_bps, FAB_UNIT_RATE), tier->breakout));
        }
    }
    return FAB_OK;
}

/* of: "front-end: "; else empty. */
static fab_status look_at_tiers(fab_result *result, const char *of, const fab_counts *counts, const double *given,
                                fab_error *err) {
    for (uint64_t t = 1; counts->wiring == FAB_WIRING_TREE && counts->tiers > 0 && t <= FAB_MAX_TIERS; t++) {
        double taper = given[t - 1];
        if (t < counts->tiers && taper > 0 && taper < 1) {
            FAB_PASS(add_warning(result, err,
                                 "%staper.%" PRIu64 "=%.4g builds %.3g uplinks for each downlink; the taper "
                                 "(oversubscription) %.3g:1 is what you may mean",
                                 of, t, taper, 1 / taper, 1 / taper));
        } else if (t >= counts->tiers && taper > 0 && taper != 1) {
            FAB_PASS(add_warning(result, err,
                                 "%staper.%" PRIu64 "=%g has no effect: the fabric has %" PRIu64
                                 " tier%s, and no boundary above tier %" PRIu64,
                                 of, t, taper, counts->tiers, counts->tiers == 1 ? "" : "s", t));
        }
    }
    return FAB_OK;
}

/* label: "ecmp,hash=crc32". */
static fab_status look_at_engine(fab_result *result, const char *family, const char *label, fab_error *err) {
    int n = (int)strcspn(label, ",");
    bool has_tables =
        strncmp(label, "updn", 4) == 0 || strncmp(label, "file", 4) == 0 || strstr(label, "tables=") != NULL;
    return strcmp(family, "dragonfly") != 0 || n == 0 || has_tables
               ? FAB_OK
               : add_warning(result, err,
                             "engine %.*s takes shortest paths alone: two groups of a dragonfly have few cables "
                             "between them, and installed ones send around them what these do not hold",
                             n, label);
}

static fab_status look_at_spares(fab_result *result, const fab_spares *s, fab_error *err) {
    return !s->is_known || s->more_tiers == 0
               ? FAB_OK
               : add_warning(result, err,
                             "%" PRIu64 " spare servers take another tier: %" PRIu64 " switches and %s more",
                             s->servers, s->more_switches, fab_money_format(FAB_ROOM, s->more_usd));
}

/* All servers of a fabric are alike. */
static fab_status look_at_hosts(fab_result *result, const fab_host_spec *host, fab_error *err) {
    return host->other_gpu[0] == '\0'
               ? FAB_OK
               : add_warning(result, err,
                             "a job has %s, and all servers are taken for those of %s, the GPU of the first job: their "
                             "power, racks and cable lengths, and the scale-up rate (floor.server-power and "
                             "domain-rate give others, to all jobs)",
                             host->other_gpu, host->gpu);
}

/* A fabric that is compared under experts that are nowhere else is not tested by them. */
static fab_status look_at_experts(fab_result *result, uint64_t n_experts, bool is_chosen, fab_error *err) {
    return n_experts == 0
               ? FAB_OK
               : add_warning(result, err,
                             "ep=1%s: every GPU keeps all %" PRIu64
                             " experts, and no all-to-all is replayed; ep=N spreads them over N GPUs%s",
                             is_chosen ? ", which the search for a plan found fastest" : "", n_experts,
                             is_chosen ? ", and its all-to-all tests the fabric" : ", ep=auto lets the search choose");
}

/* An all-to-all of experts that no link between switches sees, where others carry something. */
static fab_status look_at_inner_experts(fab_result *result, uint64_t inner, uint64_t outer, fab_error *err) {
    return inner == 0 || outer > 0
               ? FAB_OK
               : add_warning(result, err,
                             "experts are exchanged within servers and leaves: no link between switches carries any of "
                             "it, or is tested by it");
}

/* Experts of other scale-up domains that get a copy for each: what binds then may be the exchange, not the fabric. */
static fab_status look_at_direct_experts(fab_result *result, bool is_direct, const fab_iteration *it, fab_error *err) {
    return !is_direct || !(it->exposed_ep_s > FAB_VERDICT_PLAN * it->time_s)
               ? FAB_OK
               : add_warning(result, err,
                             "experts get a copy of a token each, straight over the network (expert-exchange=direct), "
                             "which takes much of the time; hierarchical sends one for each scale-up domain, as DeepEP "
                             "does, and may turn what is said of designs: compare that too");
}

/* Groups of experts smaller than copies of the model allow, chosen where each copy of a token crosses the network. */
static fab_status look_at_narrow_experts(fab_result *result, const fab_job_spec *job, uint64_t domain, fab_error *err) {
    const uint64_t copies = job->dp * job->cp;
    const bool is_open = job->ep_chosen && !job->exchange_given && job->expert_exchange == FAB_EXPERTS_DIRECT;
    const bool is_narrow =
        job->ep > 1 && job->ep < job->experts && job->ep < copies && domain > 1 && domain < result->ranks;
    return !is_open || !is_narrow || fab_job_is_skewed(job)
               ? FAB_OK
               : add_warning(result, err,
                             "ep=%" PRIu64 " of %" PRIu64 " experts is the plan's choice where experts get a copy of a "
                             "token each (expert-exchange=direct); --job expert-exchange=hierarchical sends one for "
                             "each scale-up domain, as DeepEP does: its own plan may be faster",
                             job->ep, job->experts);
}

/* Adds flows of experts that cross none of them, and all that do. */
static void count_expert_flows(const char *phase, uint64_t flows, uint64_t fabric_flows, uint64_t io_counts[2]) {
    const bool is_exchange = strncmp(phase, "ep-", 3) == 0;
    io_counts[0] += is_exchange && fabric_flows == 0 ? flows : 0;
    io_counts[1] += is_exchange ? fabric_flows : 0;
}

bool fab_experts_keep_rails(const fab_job_spec *job, uint64_t domain) {
    const bool keeps_order =
        job->pp > 1 && strcmp(job->order, "tp-cp-pp-dp") == 0 && job->cp == 1 && job->tp * job->pp % domain == 0;
    return job->kind == FAB_JOB_TRAINING && job->experts > 1 && job->ep > 1 && domain > 1 &&
           (keeps_order || job->tp % domain == 0) && job->tp * job->ep > domain;
}

void fab_gpu_sold_unlike(const fab_gpu *gpu, const fab_fabric_spec *spec, char out[FAB_SOLD_SIZE]) {
    const bool is_like = spec->gpus_per_server == gpu->server_gpus && spec->domain <= gpu->domain &&
                         (spec->domain > gpu->server_gpus || gpu->domain == gpu->server_gpus);
    const uint64_t most = gpu->domain == 1 ? spec->gpus_per_server : gpu->domain; /* PCIe joins those of a server */
    out[0] = '\0';
    if (gpu->server_gpus == 0 && most > 0 && spec->domain > most) {
        fab_append(out, FAB_SOLD_SIZE,
                   "%.40s is sold in scale-up domains of at most %" PRIu64
                   " GPUs%s, and the design has domains of %" PRIu64
                   ": no price has what would join so many, neither of GPU hours nor of servers, and margins leave it "
                   "out",
                   gpu->name, most, gpu->domain == 1 ? ", those of a server, by PCIe" : "", spec->domain);
    } else if (gpu->server_gpus > 0 && !is_like) {
        fab_append(out, FAB_SOLD_SIZE,
                   "%.40s is sold in servers of %" PRIu64 " with scale-up domains of %" PRIu64
                   " GPUs, and the design has servers of %" PRIu64 " with domains of %" PRIu64
                   ": gpus-per-server=%" PRIu64 ",domain=%" PRIu64,
                   gpu->name, gpu->server_gpus, gpu->domain, spec->gpus_per_server, spec->domain, gpu->server_gpus,
                   gpu->domain);
    }
}

static fab_status look_at_gpu(fab_result *result, const char *unlike, fab_error *err) {
    return unlike[0] == '\0' ? FAB_OK : add_warning(result, err, "%s", unlike);
}

fab_status fab_warn_of_gpu(fab_result *result, const fab_job_spec *job, const fab_fabric_spec *spec, fab_error *err) {
    char unlike[FAB_SOLD_SIZE];
    fab_gpu_sold_unlike(&job->accelerator, spec, unlike);
    return look_at_gpu(result, unlike, err);
}

#define RAIL_MOST 0.25 /* part of a leaf's ports that one rail may leave it with */

/* Rails are GPUs of a scale-up domain: of one beyond the server there are many, and each has leaves of its own. */
static fab_status look_at_rail_leaves(fab_result *result, const char *family, const fab_counts *c, fab_error *err) {
    const double used = c->switches_by_tier[0] > 0 ? (double)(c->nics * c->planes) / (double)c->switches_by_tier[0] : 0;
    const double ports = used > 0 ? (double)c->ports_by_tier[0] / (double)c->switches_by_tier[0] : 0;
    return strcmp(family, "rail-spine") != 0 || c->domains == c->servers || used > RAIL_MOST * ports
               ? FAB_OK
               : add_warning(result, err,
                             "%" PRIu64 " rails, one for each GPU of a scale-up domain, have leaves of their own, of "
                             "whose %.0f ports %.3g hold NICs: family=clos shares leaves, rail-only puts several rails "
                             "on a switch (rails-per-switch)",
                             c->rails, ports, used);
}

static fab_status look_at_rails(fab_result *result, const char *family, bool keeps_rails, uint64_t tp, uint64_t domain,
                                fab_error *err) {
    const bool fills = keeps_rails && tp % domain == 0; /* whatever the order */
    return !keeps_rails || strcmp(family, "rail-only") != 0
               ? FAB_OK
               : add_warning(result, err,
                             "experts are exchanged within rails, since %s puts those of a group on the same GPU of "
                             "their servers; with %sorder=tp-cp-dp-pp the all-to-all changes rails, which rail-only "
                             "relays: compare that too",
                             fills ? "tp fills scale-up domains, which" : "order=tp-cp-pp-dp", fills ? "tp=1," : "");
}

static fab_status look_at_domain(fab_result *result, uint64_t tp, uint64_t domain, fab_error *err) {
    return domain == 0 || tp <= domain ? FAB_OK
                                       : add_warning(result, err,
                                                     "tp=%" PRIu64 " is beyond the scale-up domain of %" PRIu64
                                                     " GPUs: every layer's exchange crosses the network",
                                                     tp, domain);
}

/* Tokens per second are those of the larger batch; a trained model may not converge alike. unrounded: the model's. */
static fab_status look_at_batch(fab_result *result, uint64_t batch, uint64_t unrounded, uint64_t gpus, fab_error *err) {
    char reason[FAB_BATCH_REASON];
    return unrounded == 0 || batch < 2 * unrounded
               ? FAB_OK
               : add_warning(result, err,
                             "batch %" PRIu64 " on %" PRIu64 " GPUs is x%.3g the model's (%s): tokens/s and prices are "
                             "of the larger one; batch=N, or smaller dp, keeps it",
                             batch, gpus, (double)batch / (double)unrounded,
                             fab_job_batch_reason(batch, unrounded, gpus, reason));
}

/* Of several jobs the first alone is judged; run judges all of them. */
static fab_status look_at_others(fab_result *result, const char *job, size_t n_others, fab_error *err) {
    return n_others == 0 || result->contention != NULL
               ? FAB_OK
               : add_warning(result, err,
                             "times, prices and advice are of job %s alone: the other %zu job%s of the design %s left "
                             "out (run judges all together)",
                             job, n_others, n_others == 1 ? "" : "s", n_others == 1 ? "is" : "are");
}

/* Sizes of a job that leave out what its kind is known for. */
static fab_status look_at_job(fab_result *result, const fab_fabric_spec *spec, fab_error *err) {
    const fab_job_spec *job = &result->job;
    FAB_PASS(look_at_others(result, job->id, result->other_jobs, err));
    FAB_PASS(look_at_domain(result, job->tp, spec->domain, err));
    FAB_PASS(look_at_batch(result, job->batch, job->batch_unrounded, result->ranks, err));
    FAB_PASS(
        look_at_rails(result, spec->family, fab_experts_keep_rails(job, spec->domain), job->tp, spec->domain, err));
    FAB_PASS(fab_warn_of_gpu(result, job, spec, err));
    uint64_t experts[2] = {0};
    for (size_t i = 0; result->fabrics[0].counts.tiers > 1 && i < result->n_phases; i++) {
        const fab_phase_result *p = &result->phases[i];
        count_expert_flows(p->name, p->flows, p->fabric_flows, experts);
    }
    FAB_PASS(look_at_inner_experts(result, experts[0], experts[1], err));
    const size_t n_before = result->n_warnings;
    for (size_t e = 0; e < result->n_iterations; e++) {
        FAB_PASS(look_at_direct_experts(result, experts[1] > 0 && job->expert_exchange == FAB_EXPERTS_DIRECT,
                                        &result->iterations[e], err));
    }
    if (job->kind == FAB_JOB_TRAINING && result->n_warnings == n_before) {
        FAB_PASS(look_at_narrow_experts(result, job, spec->domain, err));
    }
    if (job->kind == FAB_JOB_TRAINING && job->experts > 1 && job->ep == 1) {
        FAB_PASS(look_at_experts(result, job->experts, job->ep_chosen, err));
    }
    return FAB_OK;
}

static fab_status look_at_tapers(fab_result *result, const char *of, const fab_fabric_result *f, fab_error *err) {
    double taper[FAB_MAX_TIERS];
    FAB_FILL(taper, FAB_MAX_TIERS, f->spec.tier[fab_at].taper);
    return look_at_tiers(result, of, &f->counts, taper, err);
}

static fab_status look_at_fabric(fab_result *result, const fab_fabric_result *f, fab_error *err) {
    FAB_PASS(look_at_rates(result, &f->counts, err));
    FAB_PASS(look_at_ports(result, f, err));
    FAB_PASS(look_at_tapers(result, "", f, err));
    FAB_PASS(f->front_end != NULL ? look_at_tapers(result, "front-end: ", f->front_end, err) : FAB_OK);
    FAB_PASS(look_at_rail_leaves(result, f->family, &f->counts, err));
    FAB_PASS(look_at_hosts(result, &f->spec.host, err));
    for (size_t e = 0; result->n_phases > 0 && e < result->phases[0].n_engines; e++) {
        FAB_PASS(look_at_engine(result, f->family, result->phases[0].engines[e].label, err));
    }
    return look_at_spares(result, &f->spares, err);
}

/* What the file of an installed network leaves open. */
static fab_status look_at_gaps(fab_result *result, const char *gaps, fab_error *err) {
    const bool is_price_alone = strstr(gaps, "(cables)") == NULL && strstr(gaps, "(hosts-per-switch)") == NULL &&
                                strstr(gaps, "(nic, port)") == NULL;
    return gaps[0] == '\0'
               ? FAB_OK
               : add_warning(result, err, "the file of the network leaves open what every %s rests on; assumed: %s",
                             is_price_alone ? "price" : "collision and time", gaps);
}

static fab_status look_at_point(fab_result *result, const fab_sweep_point *p, fab_error *err) {
    FAB_PASS(look_at_others(result, p->job, p->other_jobs, err));
    FAB_PASS(look_at_experts(result, p->n_kept_experts, p->keeps_by_plan, err));
    FAB_PASS(look_at_domain(result, p->tp, p->domain, err));
    FAB_PASS(look_at_batch(result, p->batch, p->batch_unrounded, p->job_gpus, err));
    FAB_PASS(look_at_rails(result, p->family, p->keeps_rails, p->tp, p->domain, err));
    FAB_PASS(look_at_gpu(result, p->sold_unlike, err));
    FAB_PASS(look_at_gaps(result, p->assumed, err));
    uint64_t experts[2] = {0};
    for (size_t i = 0; p->counts.tiers > 1 && i < p->n_phases; i++) {
        count_expert_flows(p->phases[i].name, p->phases[i].flows, p->phases[i].fabric_flows, experts);
    }
    FAB_PASS(look_at_inner_experts(result, experts[0], experts[1], err));
    for (size_t e = 0; e < p->n_engines && p->engines[e].has_iteration; e++) {
        FAB_PASS(look_at_direct_experts(result, experts[1] > 0 && p->sends_copies, &p->engines[e].iteration, err));
    }
    if (!p->is_built || strcmp(p->family, "installed") == 0) {
        return FAB_OK;
    }
    FAB_PASS(look_at_rates(result, &p->counts, err));
    FAB_PASS(look_at_tiers(result, "", &p->counts, p->taper, err));
    FAB_PASS(look_at_rail_leaves(result, p->family, &p->counts, err));
    for (size_t e = 0; e < p->n_engines; e++) {
        FAB_PASS(look_at_engine(result, p->family, p->engines[e].label, err));
    }
    return FAB_OK;
}

#define MOST_POINTS 3 /* values that a warning names */

/* A warning of points, and of which. */
typedef struct point_warning {
    char *text;
    uint64_t n;
    char of[96];
} point_warning;

typedef struct point_warnings {
    point_warning *at;
    size_t n, capacity;
    fab_result own; /* those of one point */
} point_warnings;

static void drop_own(fab_result *own) {
    FAB_FREE_EACH(free, own->warnings, own->n_warnings);
    free((void *)own->warnings);
    own->warnings = NULL;
    own->n_warnings = 0;
}

static void release_warnings(point_warnings *w) {
    drop_own(&w->own);
    FAB_FREE_EACH_OF(free, w->at, w->n, .text);
    free(w->at);
}

/* "[1], [3]" of designs, "at 2, 3" of values, "at 2/512, 3/512" of several that vary. */
static void add_point(const fab_sweep *s, const fab_sweep_point *p, point_warning *io) {
    io->n++;
    if (s->compares_designs) {
        fab_append(io->of, sizeof io->of, "%s[%zu]", io->n > 1 ? ", " : "", (size_t)(p - s->points) + 1);
    } else if (io->n <= MOST_POINTS) {
        for (size_t k = 0; k < s->n_paths; k++) {
            fab_append(io->of, sizeof io->of, "%s%.16s", k > 0 ? "/" : io->n > 1 ? ", " : "at ", p->value[k]);
        }
    } else if (io->n == MOST_POINTS + 1) {
        fab_append(io->of, sizeof io->of, " and others");
    }
}

static fab_status note_point(const fab_sweep *s, const fab_sweep_point *p, point_warnings *io, fab_error *err) {
    io->own.sweep = (fab_sweep *)s;
    FAB_PASS(look_at_point(&io->own, p, err));
    for (size_t i = 0; i < io->own.n_warnings; i++) {
        FAB_FIRST(at, io->n, strcmp(io->at[at].text, io->own.warnings[i]) == 0);
        if (at == io->n) {
            const point_warning added = {.text = io->own.warnings[i]};
            FAB_PASS(FAB_APPEND(io->at, io->n, io->capacity, err, added));
            io->own.warnings[i] = NULL;
        }
        add_point(s, p, &io->at[at]);
    }
    drop_own(&io->own);
    return FAB_OK;
}

/* What is not so of all points that are built is said with those of which it is. */
static fab_status look_at_points(fab_result *result, fab_error *err) {
    const fab_sweep *s = result->sweep;
    FAB_OWNS(release_warnings) point_warnings found = {.n = 0};
    uint64_t n_built = 0;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        FAB_PASS(note_point(s, p, &found, err));
        n_built += p->is_built;
    }
    for (size_t i = 0; i < found.n; i++) {
        const point_warning *w = &found.at[i];
        const char *colon = s->compares_designs ? " " : ": ";
        FAB_PASS(w->n < n_built ? add_warning(result, err, "%s%s%s", w->of, colon, w->text)
                                : add_warning(result, err, "%s", w->text));
    }
    return FAB_OK;
}

fab_status fab_find_warnings(fab_result *result, fab_error *err) {
    FAB_EACH(const fab_fabric_result, f, result->fabrics, result->n_fabrics) {
        char gaps[FAB_ASSUMED_SIZE];
        (void)fab_imported_gaps(&f->spec, gaps, sizeof gaps);
        FAB_PASS(look_at_gaps(result, gaps, err));
        FAB_PASS(strcmp(f->family, "installed") != 0 ? look_at_fabric(result, f, err) : FAB_OK);
    }
    FAB_PASS(result->sweep != NULL ? look_at_points(result, err) : FAB_OK);
    for (size_t i = 0; result->mix != NULL && i < result->mix->n_designs; i++) {
        const fab_sweep_point *p = &result->mix->designs[i].job[0];
        FAB_PASS(look_at_experts(result, p->n_kept_experts, p->keeps_by_plan, err));
        FAB_PASS(look_at_gpu(result, p->sold_unlike, err));
    }
    if (result->plans != NULL && result->ranks == 0) { /* else said of the job */
        FAB_PASS(look_at_gpu(result, result->plans->sold_unlike, err));
    }
    FAB_PASS(result->optimum != NULL ? look_at_gpu(result, result->optimum->tokens.sold_unlike, err) : FAB_OK);
    if (result->placed != NULL && result->placed->note[0] != '\0') {
        FAB_PASS(add_warning(result, err, "%s", result->placed->note));
    }
    const fab_fabric_spec *spec = result->n_fabrics > 0 ? &result->fabrics[0].spec : NULL;
    return spec != NULL && result->ranks > 0 ? look_at_job(result, spec, err) : FAB_OK;
}
