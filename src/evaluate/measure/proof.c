/* Lines of a certificate: paths or shares of flows, with the rate of each and the link that holds it there. */
#include "proof.h"

#include "fab/split_pairs.h"

/* Rate and bottleneck of what the solver calls flow i, after the number of the flow that it belongs to. */
static void proof_put_rate(const fab_engine_run *run, uint64_t flow, uint64_t i) {
    const fab_rate_scratch *s = run->scratch->rates;
    FILE *out = run->proof->out;
    (void)fprintf(out, "path %" PRIu64 " %.17g ", flow, s->rate[i]);
    if (s->bottleneck[i] == FAB_NO_BOTTLENECK) {
        (void)fputs("window", out);
    } else {
        (void)fprintf(out, "%" PRIu32, s->bottleneck[i]);
    }
}

void fab_proof_paths(const fab_engine_run *run, const fab_routes *r) {
    FILE *out = run->proof->out;
    if (r->path_first[r->flow_first[r->n_flows]] > FAB_PROOF_LINKS) {
        return;
    }
    run->proof->n_rounds++;
    (void)fputs("round\n", out);
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            proof_put_rate(run, flow, path);
            (void)fputs(" /", out);
            for (size_t i = r->path_first[path]; i < r->path_first[path + 1]; i++) {
                (void)fprintf(out, " %" PRIu32, r->link[i]);
            }
            (void)fputc('\n', out);
        }
    }
}

static fab_status proof_put_pairs(const fab_engine_run *run, const fab_split *split, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_demand *d = s->demand;
    const fab_next_hops *next_hops = fab_router_next_hops(run->router);
    FAB_OWNS(fab_pair_walk_free_owned) fab_pair_walk *walk = NULL;
    FAB_PASS(fab_pair_walk_new(s->fabric, next_hops, split, &walk, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t pair = d->first[dst]; pair < d->first[dst + 1]; pair++) {
            fab_pair_links links;
            FAB_PASS(fab_pair_walk_get(walk, d->src[pair], dst, &links, err));
            (void)fprintf(run->proof->out, "pair %" PRIu32 " %" PRIu32, fab_next_hops_leaf(next_hops, d->src[pair]),
                          fab_next_hops_leaf(next_hops, dst));
            for (uint32_t i = 0; i < links.n; i++) {
                (void)fprintf(run->proof->out, " %" PRIu32 "=%.17g", links.link[i], links.share[i]);
            }
            (void)fputc('\n', run->proof->out);
        }
    }
    return FAB_OK;
}

fab_status fab_proof_split(const fab_engine_run *run, const fab_split *split, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    FILE *out = run->proof->out;
    if (run->scratch->rates->first[s->phase->n_flows] > FAB_PROOF_LINKS) {
        return FAB_OK;
    }
    run->proof->n_rounds++;
    (void)fputs("round\n", out);
    FAB_PASS(proof_put_pairs(run, split, err));
    for (uint64_t i = 0; i < s->phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(s->phase, i);
        proof_put_rate(run, i, i);
        for (uint32_t part = 0; part < s->demand->n_parts; part++) {
            fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(s->fabric, s->ports, flow.src, flow.dst, part, links);
            uint32_t pair = fab_demand_pair(s->demand, s->fabric, s->ports, s->next_hops, s->phase, i, part);
            (void)fputs(" /", out);
            for (uint32_t k = 0; k < n; k++) {
                (void)fprintf(out, " %" PRIu32, links[k]);
            }
            if (pair != FAB_NONE) {
                (void)fprintf(out, " @%" PRIu32, pair);
            }
        }
        (void)fputc('\n', out);
    }
    return FAB_OK;
}
