/* What the loads of a set of failures rest on, as lines of a certificate: what failed, who moved where, and the paths
 * that are not those of the healthy fabric. */
#include "assess_internal.h"

#include "fab/certificate.h"

static void put_links(const fab_link_id *link, size_t n, FILE *out) {
    (void)fputs(" /", out);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(out, " %" PRIu32, link[i]);
    }
}

/* All paths of the flows of which one was looked at; those of others stay. `paths`: with the numbers of r->path. */
static fab_status put_touched(size_t phase, const fab_routes *paths, const fab_rerouted *r, FILE *out, fab_error *err) {
    FAB_OWNED_NEW(uint32_t, touched, paths->flow_first[paths->n_flows], err); /* [path]: 1 + its place in r, or 0 */
    for (uint32_t i = 0; i < r->n_touched; i++) {
        touched[r->path[i]] = i + 1;
    }
    for (uint32_t flow = 0; flow < paths->n_flows; flow++) {
        FAB_ANY_IN(any, path, paths->flow_first[flow], paths->flow_first[flow + 1], touched[path] != 0);
        for (uint32_t path = paths->flow_first[flow]; any && path < paths->flow_first[flow + 1]; path++) {
            const uint32_t i = touched[path] - 1;
            const fab_link_id *link =
                touched[path] != 0 ? &r->link[r->path_first[i]] : &paths->link[paths->path_first[path]];
            size_t n = touched[path] != 0 ? r->path_first[i + 1] - r->path_first[i]
                                          : paths->path_first[path + 1] - paths->path_first[path];
            if (path == paths->flow_first[flow]) {
                (void)fprintf(out, "ways %zu %" PRIu32, phase, flow);
            }
            put_links(link, n, out);
        }
        (void)fputs(any ? "\n" : "", out);
    }
    return FAB_OK;
}

static void put_all(size_t phase, const fab_routes *r, FILE *out) {
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        (void)fprintf(out, "ways %zu %" PRIu32, phase, flow);
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            put_links(&r->link[r->path_first[path]], r->path_first[path + 1] - r->path_first[path], out);
        }
        (void)fputc('\n', out);
    }
}

static fab_status put_state(fab_assessor *a, uint64_t number, uint32_t variant, const fab_relocation *to, FILE *out,
                            fab_error *err) {
    const fab_assessment *d = a->assessment;
    const size_t engine = variant / d->request.n_policies;
    const fab_node_id first = d->fabric->first[FAB_NODE_GPU];
    (void)fprintf(out, "state %" PRIu64 " %" PRIu32 "\n", number, variant);
    for (uint32_t i = 0; i < a->mask.n_links; i++) {
        (void)fprintf(out, "residual %" PRIu32 " %.17g\n", a->mask.link[i], a->mask.residual[a->mask.link[i]]);
    }
    for (size_t i = 0; to != NULL && i < to->n_moved; i++) {
        (void)fprintf(out, "move %" PRIu32 " %" PRIu32 "\n", first + to->moved[i], first + to->new_gpu[to->moved[i]]);
    }
    for (size_t p = 0; p < d->n_phases; p++) {
        if (a->now[p]->routes != NULL) {
            put_all(p, a->now[p]->routes, out);
        } else {
            const fab_routes *before = fab_baseline_routes(a->phases[assessment_at(d, engine, p)]);
            FAB_PASS(put_touched(p, before, a->now[p], out, err));
        }
    }
    const assessment_loads found = assess_loads(a, engine);
    fab_certificate_claim(out, "disconnected", found.n_disconnected);
    fab_certificate_claim(out, "lost_ratio", d->offered_bps > 0 ? found.lost_bps / d->offered_bps : 0);
    fab_certificate_claim(out, "worst_ratio", found.worst_ratio);
    fab_certificate_claim(out, "collisions", found.n_collisions);
    return FAB_OK;
}

bool fab_assess_has_proof(const fab_assessment *d, uint32_t variant) {
    const fab_router *router = d->routers[variant / d->request.n_policies];
    return !fab_router_facts_of(router)->splits;
}

fab_status fab_assess_prove(fab_assessor *a, uint64_t number, const fab_scenario *scenario, uint32_t variant, FILE *out,
                            size_t *n_states, fab_error *err) {
    const fab_assessment *d = a->assessment;
    const size_t engine = variant / d->request.n_policies;
    const fab_policy policy = d->request.policies[variant % d->request.n_policies];
    fab_relocation to;
    FAB_PASS(fab_mask_set(&a->mask, scenario->component, scenario->n_components, err));
    FAB_PASS(fab_relocate(a->relocators[engine], &a->mask, FAB_POLICY_NONE, &to, err));
    const size_t n_lost = to.n_lost;
    FAB_PASS(assess_reroute(a, engine, NULL, err));
    FAB_PASS(put_state(a, number, variant, NULL, out, err));
    ++*n_states;
    if (n_lost == 0 || policy == FAB_POLICY_NONE) {
        return FAB_OK; /* nobody has to move */
    }
    FAB_PASS(fab_relocate(a->relocators[engine], &a->mask, policy, &to, err));
    if (!to.is_possible || to.n_moves == 0) {
        return FAB_OK;
    }
    assess_put(a, &to);
    fab_status status = assess_reroute(a, engine, &to, err);
    if (status == FAB_OK && assess_loads(a, engine).n_disconnected == 0) {
        status = put_state(a, number, variant, &to, out, err);
        ++*n_states;
    }
    assess_put_back(a, &to);
    return status;
}
