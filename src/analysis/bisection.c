/* Minimum cut between two halves of the servers, as a maximum flow over switches: parallel cables are merged, and the
 * NICs of a leaf are one source or sink edge with their summed rate. Rates are whole bit/s, so the cut is exact. */
#include "fab/analysis.h"
#include "max_flow.h"

static fab_status bisect(const fab_fabric *f, double *out_bps, fab_flow_proof *proof, fab_error *err) {
    fab_flow_edges edges = {.n = 0};
    FAB_OWNS_MEMBERS(edges.list);
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t source = fab_n_switches(f);
    uint32_t half = fab_n_complete_servers(f) / 2 * f->nics_per_server;
    uint32_t behind = fab_n_complete_servers(f) * f->nics_per_server;
    for (size_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        uint32_t upper = f->end[2 * c + 1] - base;
        uint32_t nic = f->end[2 * c] - f->first[FAB_NODE_NIC];
        if (k->kind == FAB_LINK_FABRIC) {
            FAB_PASS(fab_flow_edges_add(&edges, f->end[2 * c] - base, upper, true, k->capacity_bps, err));
        } else if (k->kind == FAB_LINK_ACCESS && nic < half) {
            FAB_PASS(fab_flow_edges_add(&edges, source, upper, false, k->capacity_bps, err));
        } else if (k->kind == FAB_LINK_ACCESS && nic < behind) {
            FAB_PASS(fab_flow_edges_add(&edges, upper, source + 1, false, k->capacity_bps, err));
        }
    }
    return fab_max_flow(&edges, source, out_bps, proof, err);
}

fab_status fab_bisection(const fab_fabric *f, double *out_bps, fab_error *err) {
    return bisect(f, out_bps, NULL, err);
}

/* A switch by its number in the fabric; the NICs of a half are one node. */
static void put_end(const fab_fabric *f, uint32_t v, FILE *out) {
    uint32_t n = fab_n_switches(f);
    if (v < n) {
        (void)fprintf(out, " %" PRIu32, f->first[FAB_NODE_SWITCH] + v);
    } else {
        (void)fputs(v == n ? " from" : " to", out);
    }
}

fab_status fab_bisection_certify(const fab_fabric *f, FILE *out, double *out_bps, fab_error *err) {
    fab_flow_proof proof = {.n = 0};
    FAB_OWNS_MEMBERS(proof.carries, proof.is_near);
    uint32_t n_complete = fab_n_complete_servers(f);
    FAB_PASS(bisect(f, out_bps, &proof, err));
    (void)fprintf(out, "cut %" PRIu32 " %" PRIu32 "\n", n_complete / 2 * f->nics_per_server,
                  n_complete * f->nics_per_server);
    for (size_t i = 0; i < proof.n; i++) {
        (void)fputs("carries", out);
        put_end(f, proof.carries[i].tail, out);
        put_end(f, proof.carries[i].head, out);
        (void)fprintf(out, " %.17g\n", proof.carries[i].bps);
    }
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        if (proof.is_near[v]) {
            (void)fprintf(out, "near %" PRIu32 "\n", f->first[FAB_NODE_SWITCH] + v);
        }
    }
    return FAB_OK;
}

double fab_bisection_ratio(const fab_fabric_spec *spec, const fab_counts *counts, double bisection_bps) {
    double access_bps = 0; /* of all cables between NIC and switch */
    for (size_t i = 0; i < counts->n_kinds && counts->kinds[i].tier == 1; i++) {
        access_bps += (double)counts->kinds[i].count * counts->kinds[i].rate_bps;
    }
    bool is_installed = spec->file[0] != '\0'; /* its NICs are what is plugged */
    double all_bps = is_installed ? access_bps : (double)counts->nics * spec->nic_bps;
    uint64_t half = counts->servers / 2; /* a middle server: neither */
    double half_bps = all_bps * (double)half / (double)counts->servers;
    double through = access_bps / all_bps;
    if (half == 0) {
        return NAN;
    }
    double least = half_bps > 0 ? fmin(fmin(bisection_bps / half_bps, through), 1) : 0;
    for (uint64_t t = 1; half_bps > 0 && t < counts->tiers; t++) {
        through /= counts->built_taper[t - 1] > 0 ? counts->built_taper[t - 1] : 1;
        least = fmin(least, through);
    }
    return least;
}

double fab_scaleup_bisection(const fab_fabric_spec *spec, const fab_counts *counts) {
    if (counts->domains == 0 || spec->domain == 0) {
        return 0;
    }
    uint64_t rest = counts->gpus % spec->domain; /* spare servers may leave the last domain partly filled */
    uint64_t half = counts->gpus / spec->domain * (spec->domain / 2) + rest / 2;
    return (double)half * spec->domain_bps;
}
