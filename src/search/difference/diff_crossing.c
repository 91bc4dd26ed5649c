/* Links that collide in one state alone, and who meets there in either. */
#include "diff_internal.h"

#define MOST_PATHS (UINT64_C(1) << 23) /* of a phase whose flows are listed */

/* --- flows on a link ---------------------------------------------------------------------------------------------- */

typedef struct crossed {
    const fab_routes *routes;
    fab_link_id link;
    uint32_t *flow;
    size_t n, capacity;
} crossed;

static bool path_has(const fab_link_id *link, size_t first, size_t behind, fab_link_id wanted) {
    FAB_ANY_IN(found, i, first, behind, link[i] == wanted);
    return found;
}

static fab_status take_flow(crossed *x, uint32_t flow, fab_error *err) {
    if (x->n > 0 && x->flow[x->n - 1] == flow) {
        return FAB_OK;
    }
    return FAB_APPEND(x->flow, x->n, x->capacity, err, flow);
}

/* The paths of the healthy fabric, but for those that went another way. */
static fab_status walk_paths(crossed *x, const fab_rerouted *now, fab_error *err) {
    const fab_routes *r = x->routes;
    uint32_t n_paths = r->flow_first[r->n_flows];
    FAB_OWNED_NEW(uint32_t, at, (size_t)n_paths + 1, err); /* [path]: its place among the touched ones, + 1 */
    for (uint32_t i = 0; i < now->n_touched; i++) {
        at[now->path[i]] = i + 1;
    }
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            uint32_t t = at[path];
            bool has = t > 0 ? path_has(now->link, now->path_first[t - 1], now->path_first[t], x->link)
                             : path_has(r->link, r->path_first[path], r->path_first[path + 1], x->link);
            FAB_PASS(has ? take_flow(x, flow, err) : FAB_OK);
        }
    }
    return FAB_OK;
}

fab_status diff_crossing_flows(diff_side *side, size_t engine, size_t phase, fab_link_id link, uint32_t **out,
                               size_t *out_n, bool *out_known, fab_error *err) {
    const fab_router *router = NULL;
    const fab_phase *about = &side->traffic->phases[phase];
    const fab_state state = {.mask = side->has_mask ? &side->mask : NULL};
    const fab_case at = {.phase = phase, .engine = engine, .state = &state};
    const fab_needs needs = {.what = FAB_NEED_LOADS};
    fab_evaluated found;
    const fab_baseline *baseline = NULL;
    crossed x = {.link = link};
    FAB_OWNS_MEMBERS(x.flow);
    *out_known = false;
    FAB_PASS(fab_context_router(side->context, engine, &router, err));
    const fab_router_facts *facts = fab_router_facts_of(router);
    if (facts->splits || about->n_flows > MOST_PATHS || about->n_flows * facts->paths_per_flow > MOST_PATHS) {
        return FAB_OK;
    }
    FAB_PASS(fab_evaluate(side->workspace, &at, &needs, &found, err));
    FAB_PASS(fab_context_baseline(side->context, engine, phase, &baseline, err));
    x.routes = found.loads->routes != NULL ? found.loads->routes : fab_baseline_routes(baseline);
    FAB_PASS(walk_paths(&x, found.loads, err));
    *out_n = x.n;
    *out_known = true;
    return FAB_GIVE(*out, x.flow);
}

static fab_status list_crossing(diff_side *side, size_t engine, size_t phase, fab_link_id link, fab_diff_crossing *out,
                                fab_error *err) {
    FAB_OWNED uint32_t *flows = NULL;
    size_t n = 0;
    const fab_traffic *t = side->traffic;
    if (link == FAB_NONE) {
        return FAB_OK;
    }
    FAB_PASS(diff_crossing_flows(side, engine, phase, link, &flows, &n, &out->is_known, err));
    out->n_flows = n;
    for (; out->n_listed < n && out->n_listed < FAB_DIFF_FLOWS; out->n_listed++) {
        fab_flow flow = fab_phase_flow(&t->phases[phase], flows[out->n_listed]);
        fab_diff_flow *to = &out->flows[out->n_listed];
        to->src_rank = t->rank_of_gpu != NULL ? t->rank_of_gpu[flow.src] : flow.src;
        to->dst_rank = t->rank_of_gpu != NULL ? t->rank_of_gpu[flow.dst] : flow.dst;
        (void)fab_comm_name(t, &t->phases[phase], flow.comm, to->comm);
        FAB_PASS(FAB_STRDUP(to->src, FAB_SAY_SERVER(side->f, fab_server_of(side->f, flow.src)), err));
        FAB_PASS(FAB_STRDUP(to->dst, FAB_SAY_SERVER(side->f, fab_server_of(side->f, flow.dst)), err));
    }
    return FAB_OK;
}

/* --- links that collide ------------------------------------------------------------------------------------------- */

const fab_phase_result *diff_phase_named(const fab_result *result, const char *name) {
    FAB_FIRST(p, result->n_phases, strcmp(result->phases[p].name, name) == 0);
    return p < result->n_phases ? &result->phases[p] : NULL;
}

static const fab_engine_result *of_engine(const fab_phase_result *phase, size_t engine) {
    return phase != NULL && engine < phase->n_engines ? &phase->engines[engine] : NULL;
}

static double use_of(const fab_engine_result *r, fab_link_id link) {
    return link == FAB_NONE || r == NULL || r->utilisation == NULL ? (double)NAN : r->utilisation[link];
}

/* Links between switches, and those that have lost capacity; what fills a sound NIC is no collision. */
static double collision_of(const diff_side *s, const fab_engine_result *r, fab_link_id link) {
    const double use = use_of(r, link);
    const bool is_weak = !isnan(use) && s->has_mask && s->mask.residual[link] < 1;
    return isnan(use) || is_weak || fab_class_of(s->f, link)->kind == FAB_LINK_FABRIC ? use : 0;
}

/* A candidate for the list: the longest phases first, then the fullest links. */
typedef struct found_link {
    fab_link_id link; /* of the second state; of the first where it is gone */
    size_t phase;     /* index in out->phases */
    bool is_new;
    double weight, factor;
} found_link;

/* Keeps the FAB_DIFF_LINKS first; a link is listed once. */
static void offer_link(found_link *list, size_t *n, found_link link) {
    size_t at = 0;
    for (size_t i = 0; i < *n; i++) {
        if (list[i].link == link.link && list[i].is_new == link.is_new) {
            if (link.weight * link.factor > list[i].weight * list[i].factor) {
                list[i] = link;
            }
            return;
        }
    }
    for (at = *n; at > 0 && (list[at - 1].is_new < link.is_new ||
                             (list[at - 1].is_new == link.is_new &&
                              list[at - 1].weight * list[at - 1].factor < link.weight * link.factor));
         at--) {
        if (at < FAB_DIFF_LINKS) {
            list[at] = list[at - 1];
        }
    }
    if (at < FAB_DIFF_LINKS) {
        list[at] = link;
        *n += *n < FAB_DIFF_LINKS;
    }
}

/* Links are counted for the phase, and once for the engine: `counted` has those of the second state, then of the first.
 */
static void compare_links(const diff *d, size_t engine, size_t p, bool *counted, found_link *list, size_t *n) {
    fab_diff_engine *sum = &d->out->engines[engine];
    const uint32_t n_second = d->side[1].f->n_links;
    fab_diff_phase *out = &d->out->engines[engine].phases[p];
    const fab_engine_result *a = of_engine(diff_phase_named(&d->side[0].result, out->name), engine);
    const fab_engine_result *b = of_engine(diff_phase_named(&d->side[1].result, out->name), engine);
    double weight = fabs(out->after_s - out->before_s);
    weight = weight > 0 ? weight : 1e-12;
    for (fab_link_id l = 0; b != NULL && l < n_second; l++) {
        double now = collision_of(&d->side[1], b, l);
        double then = collision_of(&d->side[0], a, d->same[l]);
        if (now > DIFF_COLLIDED && !(then > DIFF_COLLIDED)) {
            out->n_new++;
            sum->n_new += !counted[l];
            sum->n_new_nics += !counted[l] && fab_class_of(d->side[1].f, l)->kind != FAB_LINK_FABRIC;
            counted[l] = true;
            offer_link(list, n, (found_link){l, p, true, weight, now});
        }
    }
    for (fab_link_id l = 0; a != NULL && l < d->side[0].f->n_links; l++) {
        double then = collision_of(&d->side[0], a, l);
        double now = collision_of(&d->side[1], b, d->back[l]);
        if (then > DIFF_COLLIDED && !(now > DIFF_COLLIDED)) {
            out->n_gone++;
            sum->n_gone += !counted[n_second + l];
            counted[n_second + l] = true;
            offer_link(list, n, (found_link){l, p, false, weight, then});
        }
    }
}

static size_t index_of(const fab_result *result, const char *name) {
    const fab_phase_result *found = diff_phase_named(result, name);
    return found != NULL ? (size_t)(found - result->phases) : SIZE_MAX;
}

static fab_status show_link(diff *d, size_t engine, const found_link *found, fab_diff_link *out, fab_error *err) {
    const char *phase = d->out->engines[engine].phases[found->phase].name;
    fab_link_id link[2] = {found->is_new ? d->same[found->link] : found->link,
                           found->is_new ? found->link : d->back[found->link]};
    fab_diff_crossing *crossing[2] = {&out->before, &out->after};
    out->is_new = found->is_new;
    FAB_FORMAT(out->phase, "%s", phase);
    (void)fab_link_name(d->side[found->is_new].f, found->link, out->name);
    for (int i = 0; i < 2; i++) {
        size_t p = index_of(&d->side[i].result, phase);
        const fab_engine_result *r = of_engine(diff_phase_named(&d->side[i].result, phase), engine);
        crossing[i]->factor = use_of(r, link[i]);
        if (p != SIZE_MAX && r != NULL) {
            FAB_PASS(list_crossing(&d->side[i], engine, p, link[i], crossing[i], err));
        }
    }
    return FAB_OK;
}

fab_status diff_find_links(diff *d, size_t engine, fab_error *err) {
    fab_diff_engine *out = &d->out->engines[engine];
    found_link list[FAB_DIFF_LINKS];
    size_t n = 0;
    FAB_OWNED_NEW(bool, counted, (size_t)d->side[0].f->n_links + d->side[1].f->n_links + 1, err);
    for (size_t p = 0; p < out->n_phases; p++) {
        compare_links(d, engine, p, counted, list, &n);
    }
    if (engine == d->out->worst && n > 0 && list[0].is_new) {
        d->hot = list[0].link;
        d->hot_phase = index_of(&d->side[1].result, out->phases[list[0].phase].name);
    }
    for (; out->n_links < n; out->n_links++) {
        FAB_PASS(show_link(d, engine, &list[out->n_links], &out->links[out->n_links], err));
    }
    return FAB_OK;
}

/* --- of reports --------------------------------------------------------------------------------------------------- */

static const fab_hot_link *listed_as(const fab_engine_result *r, const char *name) {
    const size_t n = r != NULL ? r->n_hot : 0;
    FAB_FIRST(i, n, strcmp(r->hot[i].name, name) == 0);
    return i < n ? &r->hot[i] : NULL;
}

static fab_status show_listed(const fab_hot_link *h, fab_diff_crossing *out, fab_error *err) {
    out->factor = h != NULL ? h->factor : (double)NAN;
    out->is_known = h != NULL;
    out->n_flows = h != NULL ? h->n_flows : 0;
    for (; h != NULL && out->n_listed < h->n_listed && out->n_listed < FAB_DIFF_FLOWS; out->n_listed++) {
        const fab_flow_ref *from = &h->flows[out->n_listed];
        fab_diff_flow *to = &out->flows[out->n_listed];
        to->src_rank = from->src_rank;
        to->dst_rank = from->dst_rank;
        memcpy(to->comm, from->comm, sizeof to->comm);
        char name[48];
        FAB_FORMAT(name, "gpu-%u", (unsigned)from->src_gpu);
        FAB_PASS(FAB_STRDUP(to->src, name, err));
        FAB_FORMAT(name, "gpu-%u", (unsigned)from->dst_gpu);
        FAB_PASS(FAB_STRDUP(to->dst, name, err));
    }
    return FAB_OK;
}

fab_status diff_find_listed_links(diff *d, size_t engine, fab_error *err) {
    fab_diff_engine *out = &d->out->engines[engine];
    FAB_EACH(fab_diff_phase, phase, out->phases, out->n_phases) {
        const fab_engine_result *r[2] = {of_engine(diff_phase_named(&d->side[0].result, phase->name), engine),
                                         of_engine(diff_phase_named(&d->side[1].result, phase->name), engine)};
        for (int now = 1; now >= 0; now--) {
            for (size_t i = 0; r[now] != NULL && i < r[now]->n_hot; i++) {
                const fab_hot_link *h = &r[now]->hot[i];
                const fab_hot_link *other = listed_as(r[!now], h->name);
                if (h->factor <= DIFF_COLLIDED || (other != NULL && other->factor > DIFF_COLLIDED)) {
                    continue;
                }
                phase->n_new += now == 1;
                phase->n_gone += now == 0;
                if (out->n_links == FAB_DIFF_LINKS) {
                    continue;
                }
                fab_diff_link *link = &out->links[out->n_links++];
                link->is_new = now == 1;
                memcpy(link->name, h->name, sizeof link->name);
                memcpy(link->phase, phase->name, sizeof link->phase);
                FAB_PASS(show_listed(now == 1 ? other : h, &link->before, err));
                FAB_PASS(show_listed(now == 1 ? h : other, &link->after, err));
            }
        }
        out->n_new += phase->n_new;
        out->n_gone += phase->n_gone;
    }
    return FAB_OK;
}
