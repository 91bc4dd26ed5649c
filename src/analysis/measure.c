/* Utilisation, collisions and the factors behind them: every metric has its one definition here. */
#include "measure.h"
#include "fab/offer.h"
#include "fab/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLIDED (1 + 1e-9) /* above this a link is asked for more than it has */

static void to_utilisation(const fab_fabric *f, double *load) {
    for (uint32_t l = 0; l < f->n_links; l++) {
        load[l] /= f->classes[f->cable_class[l >> 1]].capacity_bps;
    }
}

fab_status fab_subject_init(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_traffic *traffic,
                            const fab_phase *phase, fab_subject *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_subject subject = {.traffic = traffic, .phase = phase};
    FAB_TRY(FAB_NEW(subject.rate, phase->n_flows, err));
    FAB_TRY(FAB_NEW(subject.spray, fabric->n_links, err));
    FAB_TRY(fab_offered_rates(fabric, phase, subject.rate, err));
    FAB_TRY(fab_spray_load(fabric, next_hops, phase, subject.rate, subject.spray, err));
    FAB_TRY(fab_check_conservation(fabric, subject.spray, err));
    to_utilisation(fabric, subject.spray);
    *out = subject;
    subject = (fab_subject){0};
done:
    fab_subject_release(&subject);
    return status;
}

void fab_subject_release(fab_subject *subject) {
    free(subject->rate);
    free(subject->spray);
    *subject = (fab_subject){0};
}

/* Mean over pairs of 1 / (largest number of flows on any network link of the pair's route) [Hoefler et al., CLUSTER
 * 2008]. A flow over several queue pairs counts on each link with its share. */
static fab_status effective_bisection(const fab_fabric *f, const fab_routes *routes, double *out, fab_error *err) {
    fab_status status = FAB_OK;
    double *one = NULL;
    double *count = NULL;
    double sum = 0;
    double line_bps = fab_nic_rate(f);
    FAB_TRY(FAB_NEW(one, routes->n_flows, err));
    FAB_TRY(FAB_NEW(count, f->n_links, err));
    for (uint32_t i = 0; i < routes->n_flows; i++) {
        one[i] = 1;
    }
    fab_route_load(f, routes, one, count);
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        double worst = 1;
        size_t last = routes->path_first[routes->flow_first[flow + 1]];
        for (size_t i = routes->path_first[routes->flow_first[flow]]; i < last; i++) {
            const fab_link_class *k = fab_class_of(f, routes->link[i]);
            if (k->tier > 0) {
                worst = fmax(worst, count[routes->link[i]] * line_bps / k->capacity_bps);
            }
        }
        sum += 1 / worst;
    }
    *out = routes->n_flows > 0 ? sum / routes->n_flows : 0;
done:
    free(one);
    free(count);
    return status;
}

/* Off every minimal path there is nothing that the design causes: all of it is the routing's. */
static double hash_factor(double factor, double taper_factor) {
    return taper_factor > 0 ? factor / taper_factor : factor;
}

fab_status fab_measure(const fab_fabric *f, const fab_subject *subject, const fab_routes *routes, bool bisection,
                       double *use, fab_sample *out, fab_error *err) {
    fab_sample sample = {0};
    fab_route_load(f, routes, subject->rate, use);
    fab_status status = fab_check_conservation(f, use, err);
    if (status != FAB_OK) {
        return status;
    }
    to_utilisation(f, use);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = &f->classes[f->cable_class[l >> 1]];
        if (k->tier == 0 || use[l] == 0) {
            continue;
        }
        sample.max_utilisation = fmax(sample.max_utilisation, use[l]);
        if (k->kind == FAB_LINK_FABRIC) {
            sample.collided_links += use[l] > COLLIDED;
            sample.max_collision = fmax(sample.max_collision, use[l]);
            sample.max_hash = fmax(sample.max_hash, hash_factor(use[l], subject->spray[l]));
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (f->classes[f->cable_class[l >> 1]].kind == FAB_LINK_FABRIC) {
            sample.max_taper = fmax(sample.max_taper, subject->spray[l]);
        }
    }
    double n_crossing = 0;
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        double worst = 0;
        size_t last = routes->path_first[routes->flow_first[flow + 1]];
        for (size_t i = routes->path_first[routes->flow_first[flow]]; i < last; i++) {
            fab_link_id link = routes->link[i];
            if (fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
                worst = fmax(worst, use[link]);
            }
        }
        n_crossing += worst > 0;
        sample.mean_collision += worst;
        sample.collided_flows += worst > COLLIDED;
    }
    sample.mean_collision /= n_crossing > 0 ? n_crossing : 1;
    if (bisection) {
        status = effective_bisection(f, routes, &sample.effective_bisection, err);
    }
    *out = sample;
    return status;
}

fab_status fab_measure_rounds(const fab_fabric *f, const fab_subject *subject, const fab_routes *routes,
                              uint32_t n_rounds, bool bisection, fab_routes *scratch, double *use, fab_sample *out,
                              fab_error *err) {
    fab_status status = FAB_OK;
    fab_sample sum = {0};
    for (uint32_t round = n_rounds; round-- > 0;) { /* the first one last, whose loads are shown */
        fab_sample one = {0};
        FAB_TRY(fab_routes_of_round(routes, round, n_rounds, scratch, err));
        FAB_TRY(fab_measure(f, subject, scratch, bisection, use, &one, err));
        sum.collided_links += one.collided_links / n_rounds;
        sum.collided_flows += one.collided_flows / n_rounds;
        sum.max_collision += one.max_collision / n_rounds;
        sum.mean_collision += one.mean_collision / n_rounds;
        sum.max_taper += one.max_taper / n_rounds;
        sum.max_hash += one.max_hash / n_rounds;
        sum.max_utilisation += one.max_utilisation / n_rounds;
        sum.effective_bisection += one.effective_bisection / n_rounds;
    }
    *out = sum;
done:
    return status;
}

static size_t histogram_bin(double use) {
    static const double UPPER[FAB_HISTOGRAM - 1] = {0.25, 0.5, 0.75, COLLIDED, 1.5, 2, 3};
    size_t bin = 0;
    while (bin < FAB_HISTOGRAM - 1 && (bin < 3 ? use >= UPPER[bin] : use > UPPER[bin])) {
        bin++;
    }
    return bin;
}

static void measure_tiers(const fab_fabric *f, const fab_subject *subject, const double *use, const double *bytes,
                          fab_engine_result *out) {
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
        row->max_taper_factor = fmax(row->max_taper_factor, subject->spray[l]);
        row->histogram[histogram_bin(use[l])]++;
    }
    for (size_t i = 0; i < out->n_tiers; i++) {
        out->tiers[i].mean_utilisation /= out->tiers[i].links > 0 ? (double)out->tiers[i].links : 1;
    }
}

/* The FAB_HOT_LINKS fabric links with the largest factor; ties by number. */
static void find_hot(const fab_fabric *f, const fab_subject *subject, const double *use, fab_engine_result *out) {
    out->n_hot = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (use[l] == 0 || f->classes[f->cable_class[l >> 1]].kind != FAB_LINK_FABRIC) {
            continue;
        }
        size_t at = out->n_hot;
        while (at > 0 && out->hot[at - 1].factor < use[l]) {
            at--;
        }
        if (at == FAB_HOT_LINKS) {
            continue;
        }
        out->n_hot += out->n_hot < FAB_HOT_LINKS;
        memmove(&out->hot[at + 1], &out->hot[at], (out->n_hot - at - 1) * sizeof out->hot[0]);
        out->hot[at] = (fab_hot_link){.link = l, .factor = use[l]};
    }
    for (size_t i = 0; i < out->n_hot; i++) {
        fab_hot_link *hot = &out->hot[i];
        (void)fab_link_name(f, hot->link, hot->name);
        hot->tier = fab_class_of(f, hot->link)->tier;
        hot->up = fab_is_up(hot->link);
        hot->taper_factor = subject->spray[hot->link];
        hot->hash_factor = hash_factor(hot->factor, hot->taper_factor);
    }
}

static void meet(const fab_subject *subject, uint32_t flow, double share, fab_hot_link *hot) {
    if (hot->n_listed > 0 && hot->flows[hot->n_listed - 1].flow == flow) {
        hot->flows[hot->n_listed - 1].share += share;
        return;
    }
    hot->n_flows++;
    if (hot->n_listed == FAB_HOT_FLOWS) {
        return;
    }
    const fab_phase *phase = subject->phase;
    const uint32_t *rank = subject->traffic->rank_of_gpu;
    fab_flow_ref *ref = &hot->flows[hot->n_listed++];
    *ref = (fab_flow_ref){.flow = flow, .src_gpu = phase->src[flow], .dst_gpu = phase->dst[flow], .share = share};
    ref->src_rank = rank != NULL ? rank[ref->src_gpu] : ref->src_gpu;
    ref->dst_rank = rank != NULL ? rank[ref->dst_gpu] : ref->dst_gpu;
    (void)fab_comm_name(subject->traffic, phase, phase->comm[flow], ref->comm);
}

/* Who meets on the hot links. */
static void find_meetings(const fab_subject *subject, const fab_routes *routes, const uint8_t *hot_of,
                          fab_engine_result *out) {
    uint32_t last_flow[FAB_HOT_LINKS]; /* flows beyond the listed ones are still counted once each */
    memset(last_flow, 0xff, sizeof last_flow);
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        uint32_t first = routes->flow_first[flow];
        uint32_t last = routes->flow_first[flow + 1];
        for (size_t i = routes->path_first[first]; i < routes->path_first[last]; i++) {
            uint8_t hot = hot_of[routes->link[i]];
            if (hot == 0) {
                continue;
            }
            fab_hot_link *link = &out->hot[hot - 1];
            if (link->n_listed == FAB_HOT_FLOWS && last_flow[hot - 1] == flow) {
                if (link->flows[FAB_HOT_FLOWS - 1].flow == flow) {
                    link->flows[FAB_HOT_FLOWS - 1].share += 1.0 / (last - first);
                }
                continue;
            }
            last_flow[hot - 1] = flow;
            meet(subject, flow, 1.0 / (last - first), link);
        }
    }
}

fab_status fab_measure_detail(const fab_fabric *f, const fab_subject *subject, const fab_routes *routes,
                              const fab_routes *at_once, const double *use, bool keep_loads, fab_engine_result *out,
                              fab_error *err) {
    fab_status status = FAB_OK;
    double *amount = NULL;
    double *bytes = NULL;
    uint8_t *hot_of = NULL;
    FAB_TRY(FAB_NEW(amount, subject->phase->n_flows, err));
    FAB_TRY(FAB_NEW(bytes, f->n_links, err));
    FAB_TRY(FAB_NEW(hot_of, f->n_links, err));
    for (uint32_t i = 0; i < subject->phase->n_flows; i++) {
        amount[i] = (double)subject->phase->bytes[i];
    }
    fab_route_load(f, routes, amount, bytes);
    FAB_TRY(fab_check_conservation(f, bytes, err));
    measure_tiers(f, subject, use, bytes, out);
    find_hot(f, subject, use, out);
    for (size_t i = 0; i < out->n_hot; i++) {
        hot_of[out->hot[i].link] = (uint8_t)(i + 1);
    }
    find_meetings(subject, at_once, hot_of, out);
    if (keep_loads) {
        out->load_bytes = bytes;
        bytes = NULL;
    }
done:
    free(amount);
    free(bytes);
    free(hot_of);
    return status;
}

void fab_measure_phase(const fab_fabric *f, const fab_subject *subject, const fab_routes *routes,
                       fab_phase_result *out) {
    const fab_phase *phase = subject->phase;
    (void)snprintf(out->name, sizeof out->name, "%s", phase->name);
    (void)snprintf(out->collective, sizeof out->collective, "%s", phase->collective);
    (void)snprintf(out->formula, sizeof out->formula, "%s", phase->formula);
    out->flows = phase->n_flows;
    out->bytes = phase->total_bytes;
    out->steps = phase->steps;
    out->executions = phase->executions;
    out->communicators = phase->n_comms;
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        uint32_t crossed = 0; /* a bit per boundary; bit 0: inside servers */
        size_t last = routes->path_first[routes->flow_first[flow + 1]];
        for (size_t i = routes->path_first[routes->flow_first[flow]]; i < last; i++) {
            crossed |= 1U << fab_class_of(f, routes->link[i])->tier;
        }
        out->network_flows += crossed > 1;
        out->network_bytes += crossed > 1 ? phase->bytes[flow] : 0;
        out->fabric_flows += crossed > 3;
        for (uint32_t t = 2; t <= f->n_boundaries; t++) {
            out->crossing_flows[t] += crossed >> t & 1U;
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = &f->classes[f->cable_class[l >> 1]];
        if (k->kind == FAB_LINK_FABRIC) {
            out->taper_by_tier[k->tier] = fmax(out->taper_by_tier[k->tier], subject->spray[l]);
            out->max_taper_factor = fmax(out->max_taper_factor, subject->spray[l]);
        }
    }
}
