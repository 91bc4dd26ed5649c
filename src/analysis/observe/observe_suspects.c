/* Which links and hosts explain what deviates. A slow link slows the flows that cross it, so that everything on their
 * paths deviates; a late host does the same to all that it sends. So suspects are taken one by one: whichever explains
 * most of what is left, least squares over all links that its flows touch, until nothing is left that is sure. A link
 * that deviates alone is taken as such. */
#include "observe_internal.h"

#define CANDIDATES 384               /* the surest links and hosts that are tried */
#define MOST_LINKS ((size_t)1 << 24) /* of paths that are kept */
#define AS_GOOD    0.98              /* part of the gain of the best that makes another one as good */
#define MUCH_WAIT  8                 /* times that of another link: says which of them it is */
#define OWN_PART   0.5               /* of its limit: what a suspect must still deviate by itself */

/* A path that crosses some candidate: its network links, and who sends. */
typedef struct suspect_path {
    size_t first;
    uint32_t n;
    uint32_t server;
    double bytes;
} suspect_path;

typedef struct candidate {
    fab_link_id link; /* FAB_NONE: a host */
    uint32_t server;
    bool alone; /* the link deviates, not what its flows do elsewhere */
    bool used;
    double score;
    double gain, size; /* of the last round */
} candidate;

typedef struct search {
    observation *o;
    candidate *candidates;
    size_t n;
    suspect_path *paths;
    size_t n_paths, path_capacity;
    fab_link_id *links;
    size_t n_links, link_capacity;
    bool is_full;        /* a path was left out: MOST_LINKS */
    uint64_t *is_marked; /* bit set over links: candidates */
    bool *is_late;       /* shape [n_servers]: candidates */
    double *left;        /* shape [n_links]: what is not explained */
    double *part;        /* shape [n_links]: of a candidate's flows; 0 between uses */
    fab_link_id *touched;
} search;

static double spread_at(const observation *o, fab_link_id l) {
    double spread = o->spread_of[observe_class(o->fabric, l)];
    return spread > FAB_OBSERVE_LEAST / 8 ? spread : FAB_OBSERVE_LEAST / 8;
}

static double limit_at(const observation *o, fab_link_id l) {
    return observe_limit(o->spread_of[observe_class(o->fabric, l)], o->sure);
}

static double host_limit(const observation *o) {
    return observe_limit(o->host_spread, o->sure);
}

fab_suspect *observe_add(observation *o, fab_suspect_kind kind) {
    fab_observed *out = o->out;
    if (out->n_suspects == FAB_OBSERVE_MOST) {
        out->n_more++;
        return NULL;
    }
    fab_suspect *s = &out->suspects[out->n_suspects++];
    *s = (fab_suspect){.kind = kind, .link = FAB_NONE, .server = FAB_NONE, .cables = 1, .wait_ratio = NAN};
    return s;
}

/* --- candidates --------------------------------------------------------------------------------------------------- */

FAB_ORDER_KEYS(surest_first, candidate, FAB_ORDER(b->score, a->score), FAB_ORDER(a->link, b->link),
               FAB_ORDER(a->server, b->server), FAB_ORDER(a->alone, b->alone));

static fab_status find_candidates(search *s, fab_error *err) {
    const observation *o = s->o;
    const fab_fabric *f = o->fabric;
    size_t capacity = 0;
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (isfinite(o->deviation[l]) && o->deviation[l] < -limit_at(o, l)) {
            FAB_PASS(FAB_GROW(s->candidates, capacity, s->n + 2, err));
            for (int alone = 0; alone < 2; alone++) {
                s->candidates[s->n++] = (candidate){
                    .link = l, .server = FAB_NONE, .alone = alone == 1, .score = -o->deviation[l] / spread_at(o, l)};
            }
        }
    }
    for (uint32_t i = 0; i < f->n_servers; i++) {
        if (isfinite(o->host[i]) && o->host[i] < -host_limit(o)) {
            FAB_PASS(FAB_APPEND(s->candidates, s->n, capacity, err,
                                (candidate){.link = FAB_NONE, .server = i, .score = INFINITY}));
        }
    }
    FAB_SORT(s->candidates, s->n, surest_first);
    s->n = s->n < CANDIDATES ? s->n : CANDIDATES;
    FAB_EACH(const candidate, c, s->candidates, s->n) {
        if (c->link != FAB_NONE) {
            s->is_marked[c->link / 64] |= UINT64_C(1) << c->link % 64;
        } else {
            s->is_late[c->server] = true;
        }
    }
    return FAB_OK;
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

static bool is_marked(const search *s, fab_link_id l) {
    return (s->is_marked[l / 64] >> l % 64 & 1) != 0;
}

/* Keeps a path where it crosses a candidate. */
static fab_status keep_path(search *s, const fab_link_id *links, size_t n, uint32_t src, double bytes, fab_error *err) {
    const fab_fabric *f = s->o->fabric;
    uint32_t server = fab_server_of(f, src);
    bool counts = s->is_late[server];
    uint32_t n_own = 0;
    if (s->n_links + n > MOST_LINKS) {
        s->is_full = true;
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(s->links, s->link_capacity, s->n_links + n, err));
    for (size_t i = 0; i < n; i++) {
        if (fab_is_network(fab_class_of(f, links[i]))) {
            counts = counts || is_marked(s, links[i]);
            s->links[s->n_links + n_own++] = links[i];
        }
    }
    if (counts && n_own > 0) {
        FAB_PASS(
            FAB_APPEND(s->paths, s->n_paths, s->path_capacity, err, (suspect_path){s->n_links, n_own, server, bytes}));
        s->n_links += n_own;
    }
    return FAB_OK;
}

/* Where switches split flows, a flow is sure to take the links that no switch chooses. */
static fab_status keep_segments(search *s, const fab_router *router, const fab_phase *phase, fab_error *err) {
    const fab_ports *ports = fab_router_ports(router);
    uint32_t n_parts = ports->nics_per_gpu * ports->n_planes;
    for (uint64_t i = 0; i < phase->n_flows && phase->all.n == 0; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        for (uint32_t part = 0; part < n_parts; part++) {
            fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(s->o->fabric, ports, flow.src, flow.dst, part, links);
            FAB_PASS(keep_path(s, links, n, flow.src, (double)flow.bytes / n_parts, err));
        }
    }
    return FAB_OK;
}

static fab_status keep_routes(search *s, const fab_router *router, size_t p, fab_error *err) {
    const fab_context *context = s->o->request->context;
    const fab_phase *phase = &s->o->traffic->phases[p];
    uint64_t seed = fab_context_seed(context, router) + s->o->out->fitting_draw;
    const fab_offer *offer = NULL;
    FAB_OWNS(fab_routes_release) fab_routes routes = {.n_flows = 0};
    FAB_PASS(fab_context_offer(context, p, &offer, err));
    FAB_OWNED_NEW(double, rate, phase->n_flows, err);
    FAB_FILL(rate, phase->n_flows, fab_offer_rate(offer, phase, fab_at));
    FAB_PASS(fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, rate, seed, &routes, err));
    for (uint32_t i = 0; i < routes.n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        uint32_t n = routes.flow_first[i + 1] - routes.flow_first[i];
        for (uint32_t q = routes.flow_first[i]; q < routes.flow_first[i + 1]; q++) {
            FAB_PASS(keep_path(s, routes.link + routes.path_first[q], routes.path_first[q + 1] - routes.path_first[q],
                               flow.src, (double)flow.bytes / n, err));
        }
    }
    return FAB_OK;
}

static fab_status find_paths(search *s, fab_error *err) {
    const observation *o = s->o;
    const fab_router *router = NULL;
    FAB_PASS(fab_context_router(o->request->context, 0, &router, err));
    bool has_routes = !fab_router_facts_of(router)->splits && o->out->fits && !o->traffic->depends_on_seed;
    for (size_t p = 0; p < o->traffic->n_phases; p++) {
        const fab_phase *phase = &o->traffic->phases[p];
        bool fits = phase->n_flows * fab_router_facts_of(router)->paths_per_flow <= MOST_LINKS;
        FAB_PASS(has_routes && fits ? keep_routes(s, router, p, err) : keep_segments(s, router, phase, err));
        o->out->untraced_phases += phase->n_flows > 0 && (!has_routes || !fits || s->is_full);
    }
    return FAB_OK;
}

/* --- explaining --------------------------------------------------------------------------------------------------- */

static bool path_is_of(const search *s, const suspect_path *p, const candidate *c) {
    if (c->link == FAB_NONE) {
        return p->server == c->server;
    }
    FAB_ANY(found, i, p->n, s->links[p->first + i] == c->link);
    return found;
}

/* Part of every link's bytes that is of the candidate's flows. Returns how many links it touched. */
static size_t spread_out(search *s, const candidate *c) {
    const observation *o = s->o;
    size_t n = 0;
    if (c->alone) {
        s->part[c->link] = 1;
        s->touched[0] = c->link;
        return 1;
    }
    FAB_EACH(const suspect_path, p, s->paths, s->n_paths) {
        for (uint32_t k = 0; k < p->n && path_is_of(s, p, c); k++) {
            fab_link_id l = s->links[p->first + k];
            if (o->predicted[l] > 0 && isfinite(o->deviation[l])) {
                if (!(s->part[l] > 0)) {
                    s->touched[n++] = l;
                }
                s->part[l] += p->bytes / o->predicted[l];
            }
        }
    }
    return n;
}

static void fold_up(search *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->part[s->touched[i]] = 0;
    }
}

/* Size by least squares over the links that it touches, and by how much the sum of squares falls. */
static void weigh(search *s, candidate *c) {
    double cross = 0;
    double square = 0;
    size_t n = spread_out(s, c);
    for (size_t i = 0; i < n; i++) {
        fab_link_id l = s->touched[i];
        double weight = 1 / (spread_at(s->o, l) * spread_at(s->o, l));
        cross += weight * s->left[l] * s->part[l];
        square += weight * s->part[l] * s->part[l];
    }
    fold_up(s, n);
    c->size = square > 0 ? -cross / square : 0;
    c->gain = square > 0 && cross < 0 ? cross * cross / square : 0;
}

/* What a candidate is still off by: hosts by the median of their links. */
static double left_of(const search *s, const candidate *c) {
    const fab_fabric *f = s->o->fabric;
    double numbers[256];
    size_t n = 0;
    if (c->link != FAB_NONE) {
        return s->left[c->link];
    }
    fab_node_id first = f->first[FAB_NODE_NIC] + c->server * f->nics_per_server;
    for (fab_node_id v = first; v < first + f->nics_per_server; v++) {
        for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1] && n < 256; i++) {
            fab_link_id l = f->out_link[i];
            if (observe_is_access(f, l) && isfinite(s->left[l])) {
                numbers[n++] = s->left[l];
            }
        }
    }
    return observe_median(numbers, n);
}

static bool is_open(const search *s, const candidate *c) {
    double limit = c->link != FAB_NONE ? limit_at(s->o, c->link) : host_limit(s->o);
    double least = c->link != FAB_NONE ? limit : OWN_PART * limit;
    return !c->used && c->gain > 0 && c->size > OWN_PART * limit && left_of(s, c) < -least;
}

/* Of candidates that explain as much: what deviates most itself, then hosts, then what has errors or waits. */
static bool is_better(const search *s, const candidate *a, const candidate *b) {
    if (a->gain < AS_GOOD * b->gain || b->gain < AS_GOOD * a->gain) {
        return a->gain > b->gain;
    }
    double own_a = -left_of(s, a);
    double own_b = -left_of(s, b);
    if (fabs(own_a - own_b) > FAB_OBSERVE_LEAST) {
        return own_a > own_b;
    }
    if ((a->link == FAB_NONE) != (b->link == FAB_NONE)) {
        return a->link == FAB_NONE;
    }
    if (a->link != FAB_NONE && b->link != FAB_NONE) {
        const uint64_t *errors = s->o->errors;
        const double *wait = s->o->wait;
        uint64_t errors_a = errors[a->link] + errors[a->link ^ 1U];
        uint64_t errors_b = errors[b->link] + errors[b->link ^ 1U];
        if (errors_a != errors_b) {
            return errors_a > errors_b;
        }
        if (wait[a->link] > MUCH_WAIT * wait[b->link] || wait[b->link] > MUCH_WAIT * wait[a->link]) {
            return wait[a->link] > wait[b->link];
        }
    }
    return a->gain > b->gain;
}

/* Takes what a candidate explains out of what is left. Returns how many cables that were findings are none any more. */
static uint32_t explain(search *s, const candidate *c) {
    uint32_t n_cables = 0;
    size_t n = spread_out(s, c);
    for (size_t i = 0; i < n; i++) {
        fab_link_id l = s->touched[i];
        double limit = limit_at(s->o, l);
        bool was_open = s->left[l] < -limit;
        s->left[l] += c->size * s->part[l];
        n_cables += was_open && s->left[l] >= -limit;
    }
    fold_up(s, n);
    return n_cables;
}

/* Links that explain as much because they stand on the same paths. Returns how many; the first of them into `out`. */
static uint32_t find_as_good(const search *s, const candidate *best, fab_link_id *out) {
    uint32_t n = 0;
    for (size_t i = 0; i < s->n && best->link != FAB_NONE && !best->alone; i++) {
        const candidate *c = &s->candidates[i];
        if (c->link != FAB_NONE && !c->alone && c->link != best->link && c->gain >= AS_GOOD * best->gain &&
            is_open(s, c)) {
            out[n < FAB_OBSERVE_OTHERS ? n : FAB_OBSERVE_OTHERS - 1] = c->link;
            n++;
        }
    }
    return n;
}

static void take_suspect(search *s, candidate *best) {
    observation *o = s->o;
    fab_suspect *suspect = observe_add(o, best->link == FAB_NONE ? FAB_SUSPECT_HOST : FAB_SUSPECT_LINK);
    fab_link_id others[FAB_OBSERVE_OTHERS] = {0};
    uint32_t n_as_good = find_as_good(s, best, others);
    double own = left_of(s, best);
    double spread = best->link != FAB_NONE ? spread_at(o, best->link) : fmax(o->host_spread, FAB_OBSERVE_LEAST / 8);
    uint32_t n_cables = explain(s, best);
    best->used = true;
    if (suspect != NULL) {
        suspect->link = best->link;
        suspect->server = best->link == FAB_NONE ? best->server : FAB_NONE;
        suspect->deviation = own;
        suspect->score = -own / spread;
        suspect->as_good = n_as_good;
        memcpy(suspect->others, others, sizeof others);
        suspect->cables = n_cables > 0 ? n_cables : 1;
    }
}

static void explain_all(search *s) {
    for (;;) {
        candidate *best = NULL;
        FAB_EACH(candidate, c, s->candidates, s->n) {
            if (c->used) {
                continue;
            }
            weigh(s, c);
            if (is_open(s, c) && (best == NULL || is_better(s, c, best))) {
                best = c;
            }
        }
        if (best == NULL || s->o->out->n_suspects == FAB_OBSERVE_MOST) {
            return;
        }
        take_suspect(s, best);
    }
}

fab_status observe_suspects(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    search s = {.o = o};
    FAB_OWNS_MEMBERS(s.candidates, s.paths, s.links, s.is_marked, s.is_late, s.left, s.part, s.touched);
    FAB_PASS(FAB_NEW(o->out->suspects, FAB_OBSERVE_MOST, err));
    FAB_PASS(FAB_NEW(s.is_marked, f->n_links / 64 + 1, err));
    FAB_PASS(FAB_NEW(s.is_late, f->n_servers, err));
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, s.left, s.part, s.touched));
    memcpy(s.left, o->deviation, f->n_links * sizeof *s.left);
    o->out->phases = o->traffic->n_phases;
    FAB_PASS(find_candidates(&s, err));
    if (s.n > 0) {
        FAB_PASS(find_paths(&s, err));
        explain_all(&s);
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        o->out->off_links += isfinite(s.left[l]) && fabs(s.left[l]) > limit_at(o, l);
    }
    return FAB_OK;
}
