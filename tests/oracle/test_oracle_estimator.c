/* Seconds of phases under masks against the same flows solved from scratch. */
#include "fab/reroute.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "oracle_estimator.h"
#include "oracle_packets.h"
#include "random_design.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    bool halves; /* links are slower by powers of two */
    char what[512];
    fab_fabric *f;
    fab_design design;
    fab_next_hops *healthy;
    fab_traffic traffic;
    fab_router router;
    fab_offer offer;
    fab_baseline *base;
    fab_reroute *reroute;
    fab_estimator *estimator;
    fab_estimator_reader *reader;
    fab_mask mask;
} scene;

typedef struct tally {
    uint32_t scenes, masks, slower, simulated, settled, longer, moved, renumbered;
    uint32_t partly, unknown; /* flows have lost some NICs or planes; and their time is not known */
} tally;

static bool scene_init(scene *s, const char *design, const char *traffic, const char *engine, fab_rng *rng,
                       uint32_t n_sizes, const fab_transport_spec *transport) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    (void)snprintf(s->what, sizeof s->what, "%s, %s, %s, %u sizes", design, traffic, engine, n_sizes);
    if (fab_design_read(design, NULL, 0, &s->design, NULL) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->f, NULL, NULL) != FAB_OK) {
        return false;
    }
    s->healthy = fixture_next_hops(s->f);
    if (fab_n_gpus(s->f) < 2 || fab_router_init(&spec, s->f, s->healthy, &s->router, &err) != FAB_OK ||
        fab_traffic_make(traffic, &s->design, s->f, 3, &s->traffic, &err) != FAB_OK ||
        s->traffic.phases[0].n_flows > 4000) {
        return false;
    }
    fab_phase *phase = &s->traffic.phases[0];
    for (uint64_t i = 0; i < phase->n_flows && phase->all.n == 0; i++) {
        phase->bytes[i] = n_sizes > 1 ? 1000000 * (1 + fab_rng_below(rng, n_sizes)) : phase->bytes[i];
    }
    cr_assert_eq(fab_offer_init(s->f, &s->router.ports, phase, &s->offer, &err), FAB_OK, "%s", err.text);
    const fab_baseline_request request = {.router = &s->router, .phase = phase, .offer = &s->offer, .seed = 3};
    const fab_status status = fab_baseline_new(&request, &s->base, &err);
    if (status == FAB_EUNREACHABLE) { /* leaves without a way to each other, as the design is */
        return false;
    }
    cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_reroute_new(s->base, &s->reroute, &err), FAB_OK, "%s", err.text);
    if (!s->router.facts.splits) {
        const fab_estimator_request estimator = {s->f,      &s->router, phase, &s->offer, fab_baseline_routes(s->base),
                                                 transport, 3,          false, 0};
        cr_assert_eq(fab_estimator_new(&estimator, &s->estimator, &err), FAB_OK, "%s: %s", s->what, err.text);
        cr_assert_eq(fab_estimator_reader_new(s->estimator, &s->reader, &err), FAB_OK);
    }
    cr_assert_eq(fab_mask_init(s->f, NULL, &s->mask, &err), FAB_OK);
    return true;
}

static void scene_release(scene *s) {
    fab_mask_release(&s->mask);
    fab_estimator_reader_free(s->reader);
    fab_estimator_free(s->estimator);
    fab_reroute_free(s->reroute);
    fab_baseline_free(s->base);
    if (s->offer.fabric != NULL) {
        fab_offer_release(&s->offer);
    }
    fab_traffic_release(&s->traffic);
    fab_router_release(&s->router);
    fab_next_hops_free(s->healthy);
    fab_fabric_free(s->f);
}

/* Cables of the network that are dead, and anything that is slow: most scenarios should leave everybody a way. */
static void draw_mask(scene *s, fab_rng *rng, uint32_t most) {
    fab_component c[16];
    size_t n = 0;
    size_t wanted = fab_rng_below(rng, most + 1);
    const uint32_t n_ways = s->f->n_planes * s->router.ports.nics_per_gpu;
    for (uint32_t tries = 0; n < wanted && tries < 200; tries++) {
        bool slow = fab_rng_below(rng, 3) == 0;
        c[n] = (fab_component){.kind = FAB_COMPONENT_LINK,
                               .fraction = slow ? 0.1 * (double)(1 + fab_rng_below(rng, 9)) : 0};
        c[n].fraction = slow && s->halves ? (c[n].fraction < 0.5 ? 0.25 : 0.5) : c[n].fraction;
        if (slow && fab_rng_below(rng, 2) == 0) {
            c[n].kind = (fab_component_kind)fab_rng_below(rng, FAB_COMPONENT_RACK);
        }
        uint32_t count = fab_component_count(s->f, NULL, c[n].kind);
        if (count == 0 && c[n].kind > FAB_COMPONENT_PORT) {
            continue;
        }
        c[n].id = (uint32_t)fab_rng_below(rng, c[n].kind <= FAB_COMPONENT_PORT ? s->f->n_links : count);
        fab_link_kind kind = c[n].kind <= FAB_COMPONENT_PORT ? fab_class_of(s->f, c[n].id)->kind : FAB_LINK_PCIE;
        bool fits =
            slow || kind == FAB_LINK_FABRIC || (kind == FAB_LINK_ACCESS && s->router.facts.splits && n_ways > 1);
        n += fits && fab_component_check(s->f, NULL, &c[n], NULL) == FAB_OK;
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, NULL), FAB_OK);
}

/* All routes, as a call describes what became of them. */
static fab_routes routes_now(const scene *s, const fab_rerouted *r) {
    const fab_routes *before = fab_baseline_routes(s->base);
    uint32_t n_paths = before->flow_first[before->n_flows];
    fab_routes out = {.n_flows = before->n_flows};
    size_t n = 0;
    out.flow_first = calloc((size_t)before->n_flows + 1, sizeof *out.flow_first);
    out.path_first = calloc((size_t)n_paths + 1, sizeof *out.path_first);
    memcpy(out.flow_first, before->flow_first, ((size_t)before->n_flows + 1) * sizeof *out.flow_first);
    uint32_t *place = calloc((size_t)n_paths + 1, sizeof *place); /* among those touched, + 1 */
    for (uint32_t i = 0; i < r->n_touched; i++) {
        place[r->path[i]] = i + 1;
    }
    out.link = calloc(before->path_first[n_paths] + (r->n_touched > 0 ? r->path_first[r->n_touched] : 0) + 1,
                      sizeof *out.link);
    for (uint32_t path = 0; path < n_paths; path++) {
        const fab_link_id *link = before->link + before->path_first[path];
        size_t n_links = before->path_first[path + 1] - before->path_first[path];
        if (place[path] > 0) {
            link = r->link + r->path_first[place[path] - 1];
            n_links = r->path_first[place[path]] - r->path_first[place[path] - 1];
        }
        memcpy(out.link + n, link, n_links * sizeof *link);
        n += n_links;
        out.path_first[path + 1] = n;
    }
    free(place);
    return out;
}

/* `phase` and `offer`: of the flows as they are now. */
static fab_phase_seconds expected(const scene *s, const char *engine, const fab_rerouted *r, const fab_phase *phase,
                                  const fab_offer *offer) {
    fab_phase_seconds out;
    if (s->router.facts.splits) {
        const fab_engine_spec spec = fixture_spec(engine);
        fab_next_hops *t = NULL;
        fab_router fresh;
        cr_assert_eq(fab_next_hops_new(s->f, s->mask.dead_link, &t, NULL), FAB_OK);
        cr_assert_eq(fab_router_init(&spec, s->f, t, &fresh, NULL), FAB_OK);
        out = oracle_seconds_of_split(s->f, &fresh, &s->mask, phase, offer);
        fab_router_release(&fresh);
        fab_next_hops_free(t);
        return out;
    }
    if (r->routes != NULL) {
        return oracle_seconds_of_routes(s->f, &s->router, &s->mask, phase, r->routes);
    }
    fab_routes routes = routes_now(s, r);
    out = oracle_seconds_of_routes(s->f, &s->router, &s->mask, phase, &routes);
    fab_routes_release(&routes);
    return out;
}

static fab_phase_seconds found(scene *s, const fab_rerouted *r, const fab_phase *phase, const fab_offer *offer) {
    fab_phase_seconds out = {0};
    fab_error err = {0};
    bool has_moved = phase != &s->traffic.phases[0];
    if (s->router.facts.splits) {
        const fab_split_seconds_request request = {.fabric = s->f,
                                                   .router = &s->router,
                                                   .mask = &s->mask,
                                                   .traffic = &s->traffic,
                                                   .phase = phase,
                                                   .offer = offer};
        const fab_status status = fab_split_seconds(&request, &out, &err);
        const bool has_ways = s->f->n_planes * s->router.ports.nics_per_gpu > 1;
        cr_assert(status == FAB_OK || (status == FAB_EUNSUPPORTED && has_ways), "%s: %s", s->what, err.text);
        out.transfer_s = status == FAB_OK ? out.transfer_s : (double)NAN; /* flows that differ over what is left */
    } else {
        cr_assert_eq(fab_estimator_read(s->reader, &s->mask, r, has_moved, &out, &err), FAB_OK, "%s: %s", s->what,
                     err.text);
    }
    return out;
}

static fab_phase_seconds compare(scene *s, const char *engine, const fab_rerouted *r, const fab_phase *phase,
                                 const fab_offer *offer) {
    fab_phase_seconds want = expected(s, engine, r, phase, offer);
    fab_phase_seconds got = found(s, r, phase, offer);
    if (isnan(got.transfer_s)) {
        return got;
    }
    cr_assert(fabs(got.transfer_s - want.transfer_s) <= 1e-9 * want.transfer_s, "%s: %.17g s, not %.17g", s->what,
              got.transfer_s, want.transfer_s);
    cr_assert(fabs(got.latency_s - want.latency_s) <= 1e-12 * want.latency_s, "%s: %.17g s, not %.17g", s->what,
              got.latency_s, want.latency_s);
    fab_phase_seconds again = found(s, r, phase, offer);
    cr_assert(again.transfer_s == got.transfer_s && again.latency_s == got.latency_s, "%s: not the same", s->what);
    return got;
}

/* Under the mask at hand servers, or single GPUs, change places. */
static void check_moved(scene *s, const char *engine, fab_rng *rng, tally *sum) {
    const uint32_t n_gpus = fab_n_gpus(s->f);
    const uint32_t per = fab_rng_below(rng, 2) == 0 ? s->f->gpus_per_server : 1;
    uint32_t *new_gpu = calloc((size_t)n_gpus + 1, sizeof *new_gpu);
    uint32_t *moved = calloc((size_t)n_gpus + 1, sizeof *moved);
    size_t n_moved = 0;
    fab_phase phase = fixture_list(&s->traffic.phases[0]);
    fab_offer offer = {.fabric = NULL};
    fab_rerouted r;
    fab_error err = {0};
    uint32_t a = (uint32_t)fab_rng_below(rng, n_gpus / per) * per;
    uint32_t b = (uint32_t)fab_rng_below(rng, n_gpus / per) * per;
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        new_gpu[gpu] = gpu;
    }
    for (uint32_t k = 0; k < per; k++) {
        new_gpu[a + k] = b + k;
        new_gpu[b + k] = a + k;
    }
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        moved[n_moved] = gpu;
        n_moved += new_gpu[gpu] != gpu;
    }
    for (uint64_t i = 0; i < phase.n_flows; i++) {
        phase.src[i] = new_gpu[phase.src[i]];
        phase.dst[i] = new_gpu[phase.dst[i]];
    }
    fab_status status = fab_offer_init(s->f, &s->router.ports, &phase, &offer, &err);
    if (status == FAB_OK) {
        status = fab_reroute_migrated(s->reroute, &s->mask, moved, n_moved, new_gpu, &r, &err);
    }
    cr_assert(status == FAB_OK || status == FAB_EUNSUPPORTED || status == FAB_EUNREACHABLE, "%s: %s", s->what,
              err.text);
    if (status == FAB_OK && r.n_disconnected == 0 && n_moved > 0) {
        (void)compare(s, engine, &r, &phase, &offer);
        sum->moved++;
        sum->renumbered += r.routes != NULL;
    }
    if (offer.fabric != NULL) {
        fab_offer_release(&offer);
    }
    fixture_list_release(&phase);
    free(new_gpu);
    free(moved);
}

/* Some NIC has lost a port, and flows the part over it. */
static bool has_lost_ways(const scene *s) {
    bool any = false;
    for (uint32_t i = 0; i < s->mask.n_links; i++) {
        const fab_link_id link = s->mask.link[i];
        any = any || (s->mask.residual[link] == 0 && fab_class_of(s->f, link)->kind == FAB_LINK_ACCESS);
    }
    return any;
}

static void check_engine(const char *engine, uint32_t n_rounds, uint64_t seed, tally *sum) {
    static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:shift,by=3", "pattern:incast",
                                          "pattern:all-to-all", "pattern:hotspot"};
    static const uint32_t SIZES[] = {1, 2, 3, 50};
    fab_rng rng = fab_rng_make(seed, 8);
    for (uint32_t round = 0; round < n_rounds; round++) {
        random_design d = random_design_next(&rng, 6);
        scene s;
        if (d.family == RANDOM_RAIL_ONLY && fab_rng_below(&rng, 2) == 0) {
            (void)snprintf(d.text + strlen(d.text), sizeof d.text - strlen(d.text), ",forwarding=sequential");
        }
        if (scene_init(&s, d.text, random_word(&rng, TRAFFIC, 5), engine, &rng, SIZES[fab_rng_below(&rng, 4)], NULL)) {
            double healthy_s = -1;
            double healthy_latency_s = 0;
            sum->scenes++;
            for (uint32_t i = 0; i < 6; i++) {
                fab_rerouted r;
                fab_error err = {0};
                draw_mask(&s, &rng, i == 0 ? 0 : i < 4 ? 3 : 12);
                fab_status status = fab_reroute_apply(s.reroute, &s.mask, FAB_WHEN_CONVERGED, &r, &err);
                if (status == FAB_EUNSUPPORTED || r.n_disconnected > 0) {
                    continue;
                }
                cr_assert_eq(status, FAB_OK, "%s: %s", s.what, err.text);
                fab_phase_seconds got = compare(&s, engine, &r, &s.traffic.phases[0], &s.offer);
                healthy_s = i == 0 ? got.transfer_s : healthy_s;
                healthy_latency_s = i == 0 ? got.latency_s : healthy_latency_s;
                sum->masks++;
                sum->unknown += isnan(got.transfer_s);
                sum->partly += s.router.facts.splits && !isnan(got.transfer_s) && has_lost_ways(&s);
                sum->slower += got.transfer_s > healthy_s;
                sum->longer += got.latency_s != healthy_latency_s;
                sum->simulated += got.is_simulated;
                sum->settled += !got.is_simulated;
                check_moved(&s, engine, &rng, sum);
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(sum->masks, n_rounds, "%s: %u", engine, sum->masks);
    cr_expect_gt(sum->slower, 15, "%s: %u of %u", engine, sum->slower, sum->masks);
    cr_expect_gt(sum->settled, sum->masks / 3, "%s: %u of %u", engine, sum->settled, sum->masks);
}

Test(estimator, paths) {
    static const char *const ENGINES[] = {"ecmp",
                                          "ecmp,qp=3,hash=crc32c,offset=0",
                                          "ecmp,member-loss=resilient,qp=2",
                                          "dmodk",
                                          "pinned",
                                          "updn",
                                          "adaptive",
                                          "adaptive,granularity=packet,window=24kB"};
    tally all = {0};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], i < 5 ? 60 : 30, i, &sum);
        all.simulated += sum.simulated;
        all.longer += sum.longer;
        all.renumbered += sum.renumbered;
        cr_expect_gt(sum.moved, 50, "%s: %u", ENGINES[i], sum.moved);
        all.masks += sum.masks;
    }
    cr_expect_gt(all.simulated, 50, "%u of %u", all.simulated, all.masks);
    cr_expect_gt(all.renumbered, 50, "%u", all.renumbered);
    cr_expect_gt(all.longer, 10, "%u of %u", all.longer, all.masks);
}

Test(estimator, splits) {
    static const char *const ENGINES[] = {"spray", "spray,weights=capacity", "spray,window=24kB",
                                          "optimal,method=weights"};
    tally all = {0};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], i < 3 ? 40 : 12, i, &sum);
        all.partly += sum.partly;
        all.unknown += sum.unknown;
    }
    cr_expect_gt(all.partly, 30, "%u over the ways that are left, %u unknown", all.partly, all.unknown);
    cr_expect_lt(all.unknown, all.partly, "%u over the ways that are left, %u unknown", all.partly, all.unknown);
}

/* --- lossless queues ---------------------------------------------------------------------------------------------- */

/* Packets moved one by one over the routes as they are; *out_least_s: what the fullest link needs. */
static double packets_s(const scene *s, const fab_rerouted *r, const fab_lossless *transport, double *out_least_s) {
    const fab_phase *phase = &s->traffic.phases[0];
    fab_routes routes = routes_now(s, r);
    uint32_t n_paths = routes.flow_first[routes.n_flows];
    double *capacity = calloc((size_t)s->f->n_links + 1, sizeof *capacity);
    double *latency_s = calloc((size_t)s->f->n_links + 1, sizeof *latency_s);
    double *load = calloc((size_t)s->f->n_links + 1, sizeof *load);
    double *bits = calloc((size_t)n_paths + 1, sizeof *bits);
    double *finish_s = calloc((size_t)n_paths + 1, sizeof *finish_s);
    uint64_t *first = calloc((size_t)n_paths + 1, sizeof *first);
    double last_s = 0;
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        const fab_link_class *c = fab_class_of(s->f, l);
        double bps = c->capacity_bps * s->mask.residual[l];
        bool has_no_queue = bps == 0 || c->kind == FAB_LINK_SCALEUP ||
                            (c->kind == FAB_LINK_PCIE && bps >= fab_nic_rate(s->f) * (1 - 1e-12));
        capacity[l] = has_no_queue ? (double)INFINITY : bps;
        latency_s[l] = c->latency_s;
    }
    for (uint32_t flow = 0; flow < routes.n_flows; flow++) {
        uint32_t n = routes.flow_first[flow + 1] - routes.flow_first[flow];
        for (uint32_t path = routes.flow_first[flow]; path < routes.flow_first[flow + 1]; path++) {
            bits[path] = 8.0 * (double)fab_phase_flow(phase, flow).bytes / n;
            for (size_t i = routes.path_first[path]; i < routes.path_first[path + 1]; i++) {
                load[routes.link[i]] += bits[path];
            }
            first[path + 1] = routes.path_first[path + 1];
        }
    }
    const fab_lossless_phase p = {.n_flows = n_paths,
                                  .n_links = s->f->n_links,
                                  .capacity = capacity,
                                  .latency_s = latency_s,
                                  .first = first,
                                  .link = routes.link,
                                  .bits = bits};
    oracle_packets(transport, &p, finish_s);
    *out_least_s = 0;
    for (uint32_t path = 0; path < n_paths; path++) {
        last_s = fmax(last_s, finish_s[path]);
    }
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        *out_least_s = fmax(*out_least_s, load[l] / capacity[l]);
    }
    fab_routes_release(&routes);
    free(capacity);
    free(latency_s);
    free(load);
    free(bits);
    free(finish_s);
    free(first);
    return last_s;
}

/* Rates are powers of two, so that what comes at the same instant does so however it is added up: who is first decides.
 * The last byte may seem to come before the fullest link could send it, by what latencies differ: then it is that. */
Test(estimator, lossless) {
    static const char *const DESIGNS[] = {
        "clos:gpus=12,gpus-per-server=1,radix=8,taper=1.5,nic=274877906944b/s",
        "clos:gpus=24,gpus-per-server=2,nics-per-server=2,domain=1,radix=8,nic=274877906944b/s",
        "fat-tree:k=4,gpus-per-server=1,nic=274877906944b/s"};
    static const char *const TRAFFIC[] = {"pattern:permutation,bytes=60kB", "pattern:shift,by=3,bytes=40kB",
                                          "pattern:incast,bytes=30kB"};
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=2", "dmodk", "adaptive,granularity=flow"};
    const fab_transport_spec spec = {.kind = FAB_TRANSPORT_PFC,
                                     .wire = FAB_WIRE_BARE, /* no acknowledgements */
                                     .mtu_bytes = 4096,
                                     .header_bytes = 64,
                                     .xoff_bytes = 12e3,
                                     .xon_bytes = 9e3,
                                     .nic_latency_s = 1e-6};
    const fab_lossless transport = {.mtu_bytes = 4096, .header_bytes = 64, .xoff_bytes = 12e3, .xon_bytes = 9e3};
    fab_rng rng = fab_rng_make(5, 19);
    uint32_t n = 0;
    uint32_t n_slower = 0;
    for (uint32_t round = 0; round < 36; round++) {
        scene s;
        double healthy_s = 0;
        const char *engine = ENGINES[round % 4];
        cr_assert(scene_init(&s, DESIGNS[round % 3], TRAFFIC[round / 4 % 3], engine, &rng, 1, &spec));
        s.halves = true;
        for (uint32_t i = 0; i < 4; i++) {
            fab_rerouted r;
            fab_error err = {0};
            double least_s = 0;
            draw_mask(&s, &rng, i == 0 ? 0 : 4);
            if (fab_reroute_apply(s.reroute, &s.mask, FAB_WHEN_CONVERGED, &r, &err) != FAB_OK || r.n_disconnected > 0) {
                continue;
            }
            double want_s = packets_s(&s, &r, &transport, &least_s);
            fab_phase_seconds got = found(&s, &r, &s.traffic.phases[0], &s.offer);
            cr_assert(got.transfer_s >= want_s * (1 - 1e-9) && got.transfer_s <= fmax(want_s, least_s) * (1 + 1e-9),
                      "%s, mask %u: %.17g s, not %.17g", s.what, i, got.transfer_s, want_s);
            cr_assert(found(&s, &r, &s.traffic.phases[0], &s.offer).transfer_s == got.transfer_s, "%s", s.what);
            healthy_s = i == 0 ? got.transfer_s : healthy_s;
            n_slower += got.transfer_s > healthy_s;
            n++;
        }
        scene_release(&s);
    }
    cr_expect_gt(n, 100, "%u", n);
    cr_expect_gt(n_slower, 30, "%u of %u", n_slower, n);
}
