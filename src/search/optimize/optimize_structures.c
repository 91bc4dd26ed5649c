/* Which structural choices there are, and the candidates inside each. Every count comes from the closed form of the
 * topology and every price from the bill of materials: no rule of either stands here a second time. */
#include "optimize_internal.h"

#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/ownership.h"
#include "fab/parallel.h"
#include "fab/units.h"

#include <stdatomic.h>
#include <time.h>

#define MAX_TIERS_TRIED 4
#define SAME            1e-9 /* rates closer than this are equal */
#define LOOKS           256  /* steps from one look at the clock to the next */

/* --- specification ------------------------------------------------------------------------------------------------ */

fab_status optimize_read(const search *s, const char *text, fab_design *out, fab_error *err) {
    const fab_optimize_request *q = s->request;
    if (q->replayed == NULL) {
        return fab_design_read(text, NULL, 0, out, err);
    }
    FAB_PASS(q->read(q->read_context, text, out, err));
    if (q->servers > 0) {
        out->jobs[0].n_servers = q->servers;
        out->jobs[0].batch = q->batch;
    }
    return FAB_OK;
}

static uint64_t server_gpus(const fab_optimize_request *q) {
    return q->gpus_per_server != 0 ? q->gpus_per_server : q->catalog->gpus_per_server;
}

static uint64_t server_nics(const fab_optimize_request *q) {
    return server_gpus(q) * q->catalog->nics_per_server / q->catalog->gpus_per_server;
}

static fab_status read_base(const search *s, uint64_t domain, double nic_bps, fab_fabric_spec *out, fab_error *err) {
    const fab_optimize_request *q = s->request;
    const fab_catalog *c = q->catalog;
    char text[256];
    char rate[40];
    fab_design *design = NULL;
    fab_error inner = {0};
    const uint64_t g = server_gpus(q), n = server_nics(q);
    FAB_REFUSE_IF(n * c->gpus_per_server != g * c->nics_per_server, err, FAB_EINPUT, "optimize",
                  "servers of %" PRIu64 " GPUs get no whole number of NICs: the catalog has %" PRIu64 " for %" PRIu64
                  " GPUs",
                  g, c->nics_per_server, c->gpus_per_server);
    FAB_FORMAT(
        text, "clos:gpus=%" PRIu64 ",gpus-per-server=%" PRIu64 ",nics-per-server=%" PRIu64 ",domain=%" PRIu64 ",nic=%s",
        q->gpus, g, n, domain, fab_quantity_exact(rate, nic_bps, FAB_UNIT_RATE));
    fab_status status = FAB_NEW(design, 1, err);
    if (status == FAB_OK && optimize_read(s, text, design, &inner) != FAB_OK) {
        status = fab_fail(err, inner.code, "optimize", "%s", inner.text);
    }
    if (status == FAB_OK) {
        *out = design->fabric;
    }
    free(design);
    return status;
}

fab_status optimize_base_spec(const structure *x, fab_fabric_spec *out, fab_error *err) {
    const spec_base *base = x->base;
    FAB_PASS(base->status == FAB_OK ? FAB_OK : fab_fail(err, base->status, base->why.where, "%s", base->why.text));
    *out = base->spec;
    FAB_FORMAT(out->family, "%s", x->family);
    out->tiers = x->n_tiers;
    out->planes = x->planes;
    out->rails_per_switch = x->rails_per_switch;
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        const tier_option *option = &x->tier[i < x->n_tiers ? i : x->n_tiers - 1];
        out->tier[i].radix = option->model->radix;
        out->tier[i].port_bps = option->model->port_bps;
        out->tier[i].breakout = option->breakout;
        out->tier[i].breakout_up = option->breakout_up;
        out->tier[i].taper = 1;
    }
    return FAB_OK;
}

void optimize_switch_text(const structure *x, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    FAB_ALL_IN(same, t, 1, x->n_tiers,
               x->tier[t].model == x->tier[0].model && x->tier[t].breakout == x->tier[0].breakout);
    for (uint32_t t = 0; t < (same ? 1 : x->n_tiers) && n < size; t++) {
        char split[24] = "";
        if (x->tier[t].breakout > 1) {
            FAB_FORMAT(split, "*%" PRIu64, x->tier[t].breakout);
        }
        n += (size_t)snprintf(out + n, size - n, "%s%.40s%s", t > 0 ? " / " : "", x->tier[t].model->name, split);
    }
}

/* --- candidates --------------------------------------------------------------------------------------------------- */

/* Scratch: one fabric, what it is made of and what it costs. */
typedef struct sample {
    fab_fabric_result f;
    fab_tree tree;
} sample;

static fab_status add_candidate(const search *s, structure *x, sample *m, fab_error *err) {
    fab_counts *counts = &m->f.counts;
    FAB_PASS(fab_topology_tree(&m->f.spec, counts, &m->tree, err));
    FAB_PASS(fab_cost_of(&m->f.spec, counts, s->request->prices, &m->f.cost, err));
    FAB_PASS(FAB_GROW(x->candidates, x->capacity, x->n_candidates + 1, err));
    const double ratio = fab_bisection_ratio(&m->f.spec, counts, m->tree.bisection_bps);
    candidate *c = &x->candidates[x->n_candidates++];
    *c = (candidate){.n_switches = counts->switches,
                     .n_cables = counts->cables,
                     .n_leaves = counts->switches_by_tier[0],
                     .n_leaf_cables = x->n_tiers > 1 ? counts->cables_by_tier[1] : 0,
                     .value = {[GOAL_BISECTION] = isnan(ratio) ? -1 : -ratio, /* one server: no limit is missed */
                               [GOAL_POWER] = m->f.cost.power_w,
                               [GOAL_COST] = m->f.cost.total_usd}};
    for (uint32_t t = 0; t < FAB_MAX_TIERS; t++) {
        bool has_taper = t + 1 < x->n_tiers;
        c->asked[t] = has_taper ? m->f.spec.tier[t].taper : 1;
        c->built[t] = has_taper ? counts->built_taper[t] : 0;
        c->value[GOAL_TAPER] = fmax(c->value[GOAL_TAPER], c->built[t]);
    }
    if (s->request->replayed != NULL) {
        fab_ownership o = {.years = 0};
        fab_ownership_add_up(s->request->prices, &m->f, &s->gpu, &o);
        c->owned_usd = o.total_usd;
    }
    return FAB_OK;
}

/* Tapers of combination number `i`, the last boundary fastest: false past the end. */
static bool set_tapers(const fab_catalog *c, uint32_t n_tiers, size_t i, fab_fabric_spec *spec) {
    for (uint32_t t = n_tiers - 1; t-- > 0;) {
        spec->tier[t].taper = c->tapers[i % c->n_tapers];
        i /= c->n_tapers;
    }
    return i == 0;
}

/* What keeps a choice from being a fabric, and not this program from finding out. */
static bool is_misfit(fab_status status) {
    return status == FAB_EINPUT || status == FAB_EUNSUPPORTED;
}

/* All combinations of tapers. What cannot be built or priced is left out; `why` keeps the first reason. */
static fab_status add_candidates(const search *s, structure *x, sample *m, fab_error *why, fab_error *err) {
    const fab_catalog *c = s->request->catalog;
    fab_fabric_spec base;
    fab_error misfit = {0};
    fab_status status = optimize_base_spec(x, &base, &misfit);
    if (status != FAB_OK) { /* no candidates */
        bool left_out = is_misfit(status);
        (void)fab_fail(left_out ? why : err, status, misfit.where, "%s", misfit.text);
        return left_out ? FAB_OK : status;
    }
    m->f.spec = base;
    for (size_t i = 0;
         set_tapers(c, x->n_tiers, i, &m->f.spec) && (i % LOOKS != 0 || optimize_now_s() <= s->deadline_s); i++) {
        fab_error inner = {0};
        status = add_candidate(s, x, m, &inner);
        if (is_misfit(status)) {
            (void)fab_fail(why, status, inner.where, "%s", inner.text);
        } else if (status != FAB_OK) {
            return fab_fail(err, status, inner.where, "%s", inner.text);
        }
    }
    return FAB_OK;
}

/* --- why not ------------------------------------------------------------------------------------------------------ */

static fab_status can_build(const search *s, const structure *x, uint64_t gpus, bool *out, fab_error *err) {
    const fab_catalog *c = s->request->catalog;
    fab_fabric_spec spec;
    fab_counts counts;
    fab_error inner = {0};
    *out = false;
    fab_status status = optimize_base_spec(x, &spec, &inner);
    spec.gpus = gpus;
    spec.floor.lengths = FAB_LENGTHS_OF_TIER; /* counts alone */
    for (size_t i = 0; status == FAB_OK && !*out && set_tapers(c, x->n_tiers, i, &spec) &&
                       (i % LOOKS != 0 || optimize_now_s() <= s->deadline_s);
         i++) {
        fab_fabric_spec copy = spec;
        *out = fab_topology_predict(&copy, &counts, NULL) == FAB_OK;
    }
    return status == FAB_OK || is_misfit(status) ? FAB_OK : fab_fail(err, status, inner.where, "%s", inner.text);
}

/* Most GPUs, in whole units, that the choice can connect; 0 if not even one unit. */
static fab_status most_gpus(const search *s, const structure *x, uint64_t unit, uint64_t *out, fab_error *err) {
    uint64_t low = 0;
    uint64_t high = s->request->gpus / unit;
    while (low + 1 < high) {
        uint64_t middle = (low + high) / 2;
        bool fits = false;
        FAB_PASS(can_build(s, x, middle * unit, &fits, err));
        low = fits ? middle : low;
        high = fits ? high : middle;
    }
    *out = low * unit;
    return FAB_OK;
}

/* "64x400G holds 2,048 GPUs in 2 tiers; needs 3 tiers" */
static fab_status explain_unbuildable(const search *s, structure *x, const fab_error *why, fab_error *err) {
    uint64_t most = 0;
    bool fits = false;
    char switches[160];
    const uint64_t g = server_gpus(s->request);
    if (why->code == FAB_EINPUT) {
        FAB_PASS(most_gpus(s, x, x->domain > g ? x->domain : g, &most, err));
        FAB_PASS(can_build(s, x, s->request->gpus, &fits, err));
    }
    if (most == 0 || fits) { /* not a question of size */
        FAB_FORMAT(x->reason, "%.200s", why->text);
        return FAB_OK;
    }
    structure taller = *x;
    while (!fits && taller.n_tiers < MAX_TIERS_TRIED) {
        taller.tier[taller.n_tiers] = taller.tier[taller.n_tiers - 1];
        taller.n_tiers++;
        FAB_PASS(can_build(s, &taller, s->request->gpus, &fits, err));
    }
    optimize_switch_text(x, switches, sizeof switches);
    int n = snprintf(x->reason, sizeof x->reason, "%.100s holds %s GPUs in %u tier%s", switches, FAB_SAY_COUNT(most),
                     x->n_tiers, x->n_tiers == 1 ? "" : "s");
    if (n > 0 && fits) {
        (void)snprintf(x->reason + n, sizeof x->reason - (size_t)n, "; needs %u tiers", taller.n_tiers);
    }
    return FAB_OK;
}

/* --- enumeration -------------------------------------------------------------------------------------------------- */

/* The coarsest split of the ports upwards whose cables are no faster than what the tier above offers. */
static uint64_t split_up(const fab_catalog_switch *model, double above_bps) {
    FAB_FIRST(i, model->n_breakouts, model->port_bps / (double)model->breakouts[i] <= above_bps * (1 + SAME));
    return i < model->n_breakouts ? model->breakouts[i] : model->breakouts[model->n_breakouts - 1];
}

static void fit_splits(structure *x) {
    for (uint32_t t = 0; t < x->n_tiers; t++) {
        tier_option *o = &x->tier[t];
        o->breakout_up = o->breakout;
        if (t + 1 < x->n_tiers) {
            const tier_option *above = &x->tier[t + 1];
            o->breakout_up = split_up(o->model, above->model->port_bps / (double)above->breakout);
        }
    }
}

/* Option number i of a catalog: a switch and a way to split its ports. */
static bool option_at(const fab_catalog *c, size_t i, tier_option *out) {
    for (size_t m = 0; m < c->n_switches; m++) {
        if (i < c->switches[m].n_breakouts) {
            *out = (tier_option){&c->switches[m], c->switches[m].breakouts[i], 0};
            return true;
        }
        i -= c->switches[m].n_breakouts;
    }
    return false;
}

static size_t count_options(const fab_catalog *c) {
    FAB_SUM(size_t, n, m, c->n_switches, c->switches[m].n_breakouts);
    return n;
}

static uint64_t domain_at(const fab_optimize_request *q, size_t i) {
    return q->domain != 0 ? q->domain : q->catalog->domains[i % q->catalog->n_domains];
}

static uint64_t rails_of(const fab_optimize_request *q, const char *family, uint64_t domain) {
    fab_fabric_spec spec = {
        .gpus = q->gpus, .gpus_per_server = server_gpus(q), .nics_per_server = server_nics(q), .domain = domain};
    FAB_FORMAT(spec.family, "%s", family);
    return fab_topology_rails(&spec).n;
}

/* How many rails may share a network: 0, the family's own number, then all that divide them; more than all: none is
 * left. */
static uint64_t next_sharing(uint64_t rails, uint64_t sharing) {
    do {
        sharing++;
    } while (sharing <= rails && rails % sharing != 0);
    return sharing;
}

double optimize_bytes(const fab_optimize_request *q) {
    const fab_catalog *c = q->catalog;
    double rests = 0;
    double bytes = 0;
    for (size_t i = 0; i < c->n_families * (q->domain != 0 ? 1 : c->n_domains); i++) {
        const uint64_t rails = rails_of(q, c->families[i % c->n_families], domain_at(q, i / c->n_families));
        for (uint64_t sharing = 0; sharing <= rails; sharing = next_sharing(rails, sharing)) {
            rests += (double)(q->nic_bps > 0 ? 1 : c->n_nics) * (double)c->n_planes;
        }
    }
    for (size_t t = 0; t < c->n_tiers; t++) {
        const double n_structures = rests * pow((double)count_options(c), (double)c->tiers[t]);
        const double n_candidates = n_structures * pow((double)c->n_tapers, (double)c->tiers[t] - 1);
        bytes += n_structures * (2 * sizeof(structure) + sizeof(fab_optimum_loser)) + n_candidates * sizeof(candidate);
    }
    return bytes;
}

static bool is_late(search *s) {
    s->timed_out = s->timed_out || optimize_now_s() > s->deadline_s;
    return s->timed_out;
}

/* No answer about a choice that the time did not suffice for. */
static void leave_unseen(structure *x) {
    x->n_candidates = 0;
    x->loss = FAB_LOSS_UNSEEN;
    FAB_FORMAT(x->reason, "not looked at: time limit");
}

static fab_status structures_finish(const search *s, structure *x, sample *m, fab_error *err) {
    fab_error why = {0};
    const tier_option *leaf = &x->tier[0];
    double leaf_bps = leaf->model->port_bps / (double)leaf->breakout;
    double nic_port_bps = x->nic_bps / (double)x->planes;
    fit_splits(x);
    if (leaf_bps < nic_port_bps * (1 - SAME)) {
        FAB_FORMAT(x->reason, "leaf ports of %s are slower than the NIC's %s", FAB_SAY(leaf_bps, FAB_UNIT_RATE),
                   FAB_SAY(nic_port_bps, FAB_UNIT_RATE));
    } else {
        FAB_PASS(add_candidates(s, x, m, &why, err));
        FAB_PASS(x->n_candidates == 0 ? explain_unbuildable(s, x, &why, err) : FAB_OK);
    }
    x->loss = x->n_candidates == 0 ? FAB_LOSS_UNBUILDABLE : FAB_LOSS_COST;
    return FAB_OK;
}

/* Whether it is the same as another choice, which leaves the number of rails that share a network to the family. */
static bool is_repeated(const structure *x) {
    fab_fabric_spec spec;
    if (x->rails_per_switch == 0 || optimize_base_spec(x, &spec, NULL) != FAB_OK) {
        return false;
    }
    spec.rails_per_switch = 0;
    return fab_topology_rails(&spec).shared == x->rails_per_switch;
}

/* All combinations of switches for a choice of everything else. */
static fab_status add_switch_choices(search *s, const structure *rest, fab_error *err) {
    const fab_catalog *c = s->request->catalog;
    const size_t n_options = count_options(c);
    size_t n_all = 1;
    for (uint32_t t = 0; t < rest->n_tiers; t++) {
        n_all *= n_options;
    }
    for (size_t i = 0; i < n_all && (i % LOOKS != 0 || !is_late(s)); i++) {
        structure x = *rest;
        size_t left = i;
        for (uint32_t t = x.n_tiers; t-- > 0;) {
            (void)option_at(c, left % n_options, &x.tier[t]);
            left /= n_options;
        }
        FAB_PASS(is_repeated(&x) ? FAB_OK : FAB_APPEND(s->structures, s->n_structures, s->capacity, err, x));
    }
    return FAB_OK;
}

static fab_status add_families(search *s, structure *rest, fab_error *err) {
    const fab_catalog *c = s->request->catalog;
    for (size_t f = 0; f < c->n_families; f++) {
        const fab_family *family = fab_family_find(c->families[f]);
        FAB_REFUSE_IF(family == NULL || family->tree == NULL, err, FAB_EINPUT, c->families_where,
                      "families: '%s' is %s", c->families[f],
                      family == NULL ? "no family (see 'fabriscope list families')"
                                     : "not a tree of tiers and cannot be optimised");
        rest->family = family->name;
        const uint64_t rails = rest->base->status == FAB_OK ? rails_of(s->request, family->name, rest->domain) : 0;
        for (size_t t = 0; t < c->n_tiers; t++) {
            rest->n_tiers = (uint32_t)c->tiers[t];
            for (size_t p = 0; p < c->n_planes; p++) {
                rest->planes = c->planes[p];
                for (uint64_t sharing = 0; sharing <= rails; sharing = next_sharing(rails, sharing)) {
                    rest->rails_per_switch = sharing;
                    FAB_PASS(add_switch_choices(s, rest, err));
                }
            }
        }
    }
    return FAB_OK;
}

double optimize_now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Choices over threads: each writes only its own. */
typedef struct enumeration {
    search *s;
    sample *samples;      /* [worker] */
    atomic_size_t n_done; /* choices */
    atomic_flag telling;  /* somebody calls progress */
} enumeration;

static fab_status finish_one(void *context, size_t i, size_t worker, fab_error *err) {
    enumeration *e = context;
    const fab_optimize_request *q = e->s->request;
    structure *x = &e->s->structures[i];
    FAB_PASS(optimize_now_s() <= e->s->deadline_s ? structures_finish(e->s, x, &e->samples[worker], err) : FAB_OK);
    if (optimize_now_s() > e->s->deadline_s) {
        leave_unseen(x);
        return FAB_OK;
    }
    const size_t n_done = atomic_fetch_add(&e->n_done, 1) + 1;
    if (q->progress != NULL && !atomic_flag_test_and_set(&e->telling)) {
        q->progress(q->progress_context, (double)n_done, e->s->n_structures);
        atomic_flag_clear(&e->telling);
    }
    return FAB_OK;
}

fab_status optimize_enumerate(search *s, fab_error *err) {
    const fab_optimize_request *q = s->request;
    const fab_catalog *c = q->catalog;
    const size_t n_threads = q->n_threads > 0 ? q->n_threads : 1;
    enumeration e = {.s = s, .samples = NULL, .telling = ATOMIC_FLAG_INIT};
    FAB_OWNS_MEMBERS(e.samples);
    const size_t n_nics = q->nic_bps > 0 ? 1 : c->n_nics;
    const size_t n_domains = q->domain != 0 ? 1 : c->n_domains;
    size_t n_fitting = 0;
    FAB_PASS(FAB_NEW(s->bases, n_nics * n_domains, err));
    for (size_t i = 0; i < n_nics * n_domains; i++) {
        spec_base *base = &s->bases[i];
        structure rest = {.base = base,
                          .nic_bps = q->nic_bps > 0 ? q->nic_bps : c->nics_bps[i / n_domains],
                          .domain = domain_at(q, i % n_domains)};
        base->status = read_base(s, rest.domain, rest.nic_bps, &base->spec, &base->why);
        FAB_REFUSE_IF(base->status == FAB_ENOMEM, err, FAB_ENOMEM, NULL, "cannot allocate what reads a design");
        n_fitting += base->status == FAB_OK;
        FAB_PASS(add_families(s, &rest, err));
    }
    FAB_REFUSE_IF(n_fitting == 0, err, s->bases[0].why.code, s->bases[0].why.where, "%s", s->bases[0].why.text);
    atomic_init(&e.n_done, 0);
    FAB_PASS(FAB_NEW(e.samples, n_threads, err));
    FAB_PASS(fab_parallel_for(s->n_structures, n_threads, finish_one, &e, err));
    for (size_t i = 0; i < s->n_structures; i++) {
        s->timed_out = s->timed_out || s->structures[i].loss == FAB_LOSS_UNSEEN;
    }
    return FAB_OK;
}
