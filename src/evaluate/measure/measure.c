/* Utilisation, collisions and the factors behind them: every metric has its one definition here. */
#include "measure_rates.h"

#define COLLIDED   (1 + 1e-9)  /* above this a link is offered more than it has */
#define BELOW_IT   1e-9        /* rounding with which a result may fall below its bound */
#define ROUNDING   (1 + 1e-12) /* links this close are equally hot */
#define BYTES_BITS 8.0

void fab_to_utilisation(const fab_fabric *f, double *load) {
    for (uint32_t l = 0; l < f->n_links; l++) {
        load[l] /= f->classes[f->cable_class[l >> 1]].capacity_bps;
    }
}

void fab_scratch_release(fab_scratch *s) {
    fab_routes_release(&s->routes);
    fab_routes_release(&s->round);
    FAB_FREE_ALL(s->use, s->bytes, s->rate, s->volume, s->count, s->members, s->to_nic, s->source, s->to, s->from,
                 s->worst, s->latency_s);
    fab_rate_scratch_free(s->rates);
    fab_next_hop_use_free(s->next_hops);
    fab_dependencies_release(&s->dependencies);
    *s = (fab_scratch){0};
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

/* Off every minimal path there is nothing that the design causes: all of it is the routing's. */
double fab_hash_factor(double factor, double taper_factor) {
    return taper_factor > 0 ? factor / taper_factor : factor;
}

fab_status fab_sample_loads(const fab_engine_run *run, double *use, const double *bytes, fab_figures *out,
                            fab_error *err) {
    const fab_fabric *f = run->prepared->fabric;
    const double *spray = run->prepared->spray;
    FAB_PASS(fab_check_conservation(f, use, err));
    FAB_PASS(fab_check_conservation(f, bytes, err));
    fab_to_utilisation(f, use);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = &f->classes[f->cable_class[l >> 1]];
        bool between_switches = k->kind == FAB_LINK_FABRIC;
        if (k->tier == 0) {
            continue;
        }
        out->max_utilisation = fmax(out->max_utilisation, use[l]);
        out->busiest_link_s = fmax(out->busiest_link_s, bytes[l] * BYTES_BITS / k->capacity_bps);
        if (between_switches) {
            out->max_taper = fmax(out->max_taper, spray[l]);
        }
        if (between_switches && use[l] > 0) {
            out->collided_links += use[l] > COLLIDED;
            out->max_collision = fmax(out->max_collision, use[l]);
            out->max_hash = fmax(out->max_hash, fab_hash_factor(use[l], spray[l]));
        }
    }
    out->throughput = out->max_utilisation > 0 ? 1 / out->max_utilisation : 0;
    return FAB_OK;
}

void fab_tally_add(fab_flow_tally *tally, double worst, double count) {
    if (worst > 0) {
        tally->crossing += count;
        tally->sum += worst * count;
        tally->collided += worst > COLLIDED ? count : 0;
    }
}

void fab_sample_flows(const fab_flow_tally *tally, fab_figures *out) {
    out->mean_collision = tally->crossing > 0 ? tally->sum / tally->crossing : 0;
    out->collided_flows = tally->collided;
}

fab_status fab_sample_bound(const fab_engine_run *run, bool is_minimal, fab_figures *out, fab_error *err) {
    out->gap = NAN;
    if (run->bound == NULL || !is_minimal) {
        return FAB_OK;
    }
    double bound = fab_least_utilisation(run->bound);
    double gap = bound > 0 ? out->max_utilisation / bound - 1 : 0;
    FAB_REFUSE_IF(gap < -BELOW_IT, err, FAB_EINTERNAL, fab_router_facts_of(run->router)->label,
                  "the largest utilisation %.17g beats its lower bound %.17g", out->max_utilisation, bound);
    out->gap = fmax(gap, 0);
    return FAB_OK;
}

/* Effective bisection bandwidth: mean over pairs of 1 / (largest number of flows on any network link of the pair's
 * route) [Hoefler et al., CLUSTER 2008]. A flow that is split counts on each link with its share, and a link that is
 * faster than a NIC holds more of them. */
double fab_line_share(const fab_prepared_phase *prepared, fab_link_id link, double count) {
    const fab_link_class *k = fab_class_of(prepared->fabric, link);
    return k->tier > 0 ? count * prepared->offer->line_bps / k->capacity_bps : 0;
}

fab_status fab_measure_run(const fab_engine_run *run, fab_figures *out, fab_error *err) {
    fab_figures sample = {0};
    fab_scratch *s = run->scratch;
    uint32_t n_links = run->prepared->fabric->n_links;
    FAB_PASS(s->use == NULL ? FAB_NEW(s->use, n_links, err) : FAB_OK);
    FAB_PASS(s->bytes == NULL ? FAB_NEW(s->bytes, n_links, err) : FAB_OK);
    if (run->rates && fab_is_lossless(run->transport)) {
        FAB_PASS(fab_check_lossless(run->router, run->transport, err));
    }
    if (fab_router_facts_of(run->router)->splits ||
        (fab_is_estimated(run->router, run->prepared->phase) && !fab_is_lossless(run->transport))) {
        FAB_PASS(fab_measure_split(run, &sample, err));
    } else {
        FAB_PASS(fab_measure_paths(run, &sample, err));
    }
    sample.least_s = run->prepared->least_s + run->prepared->relay_s; /* which no routing of switches changes */
    *out = sample;
    return FAB_OK;
}

/* --- tables and hot links ----------------------------------------------------------------------------------------- */

/* A bound of bins is met up to rounding: equal flows often add up to one. */
static size_t histogram_bin(double use) {
    static const double UPPER[FAB_HISTOGRAM - 1] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3};
    size_t bin = 0;
    while (bin < FAB_HISTOGRAM - 1 && (bin < 3 ? use * COLLIDED >= UPPER[bin] : use > UPPER[bin] * COLLIDED)) {
        bin++;
    }
    return bin;
}

static void measure_tiers(const fab_prepared_phase *prepared, const double *use, const double *bytes,
                          fab_engine_result *out) {
    const fab_fabric *f = prepared->fabric;
    out->wiring = f->wiring;
    out->n_tiers = 2 * (size_t)f->n_boundaries;
    for (size_t i = 0; i < out->n_tiers; i++) {
        out->tiers[i] = (fab_tier_load){.tier = (uint32_t)(i / 2 + 1), .up = i % 2 == 0};
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = &f->classes[f->cable_class[l >> 1]];
        if (k->tier == 0) {
            continue;
        }
        fab_tier_load *row = &out->tiers[2 * (k->tier - 1) + (fab_is_up(l) ? 0 : 1)];
        row->links++;
        row->used += use[l] > 0;
        row->collided += use[l] > COLLIDED;
        row->bytes += bytes[l];
        row->max_utilisation = fmax(row->max_utilisation, use[l]);
        row->mean_utilisation += use[l];
        row->max_taper_factor = fmax(row->max_taper_factor, prepared->spray[l]);
        row->histogram[histogram_bin(use[l])]++;
    }
    for (size_t i = 0; i < out->n_tiers; i++) {
        out->tiers[i].mean_utilisation /= out->tiers[i].links > 0 ? (double)out->tiers[i].links : 1;
    }
}

/* The FAB_HOT_LINKS fabric links with the largest factor; ties by number. */
static void find_hot(const fab_prepared_phase *prepared, const double *use, fab_engine_result *out) {
    const fab_fabric *f = prepared->fabric;
    out->n_hot = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (use[l] == 0 || f->classes[f->cable_class[l >> 1]].kind != FAB_LINK_FABRIC) {
            continue;
        }
        size_t at = out->n_hot;
        while (at > 0 && out->hot[at - 1].factor * ROUNDING < use[l]) {
            at--;
        }
        if (at == FAB_HOT_LINKS) {
            continue;
        }
        out->n_hot += out->n_hot < FAB_HOT_LINKS;
        memmove(&out->hot[at + 1], &out->hot[at], (out->n_hot - at - 1) * sizeof out->hot[0]);
        out->hot[at] = (fab_hot_link){.link = l, .factor = use[l]};
    }
    FAB_EACH(fab_hot_link, hot, out->hot, out->n_hot) {
        (void)fab_link_name(f, hot->link, hot->name);
        hot->tier = fab_class_of(f, hot->link)->tier;
        hot->up = fab_is_up(hot->link);
        hot->taper_factor = prepared->spray[hot->link];
        hot->hash_factor = fab_hash_factor(hot->factor, hot->taper_factor);
    }
}

void fab_detail_loads(const fab_engine_run *run, const double *use, const double *bytes) {
    measure_tiers(run->prepared, use, bytes, run->detail);
    find_hot(run->prepared, use, run->detail);
}

void fab_detail_add_flow(const fab_prepared_phase *prepared, uint64_t flow, double share, fab_hot_link *hot) {
    if (hot->n_listed == FAB_HOT_FLOWS) {
        return;
    }
    fab_flow about = fab_phase_flow(prepared->phase, flow);
    const uint32_t *rank = prepared->traffic->rank_of_gpu;
    fab_flow_ref *ref = &hot->flows[hot->n_listed++];
    *ref = (fab_flow_ref){.flow = flow, .src_gpu = about.src, .dst_gpu = about.dst, .share = share};
    ref->src_rank = rank != NULL ? rank[ref->src_gpu] : ref->src_gpu;
    ref->dst_rank = rank != NULL ? rank[ref->dst_gpu] : ref->dst_gpu;
    (void)fab_comm_name(prepared->traffic, prepared->phase, about.comm, ref->comm);
}
