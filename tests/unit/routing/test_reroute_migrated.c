/* Ranks that run on other GPUs under a mask, against routing the phase that they make of it anew. */
#include "fab/reroute.h"
#include "fab/tables.h"
#include "reroute_fixture.h"

#include <unistd.h>

typedef struct moves {
    uint32_t *new_gpu, *moved;
    size_t n;
    fab_phase phase;
    fab_offer offer;
} moves;

typedef struct counts {
    uint32_t servers, single, local, full, renumbered;
} counts;

static void swap(uint32_t *x, uint32_t *y) {
    uint32_t kept = *x;
    *x = *y;
    *y = kept;
}

/* Places are exchanged: of servers, GPU by GPU, or of single GPUs. */
static void draw_moves(scene *s, fab_rng *rng, moves *m, counts *sum) {
    const uint32_t n_gpus = fab_n_gpus(s->f);
    const uint32_t per_server = s->f->gpus_per_server;
    const bool healthy = fab_rng_below(rng, 3) > 0 && s->f->n_servers > 1;
    m->new_gpu = calloc(n_gpus, sizeof *m->new_gpu);
    m->moved = calloc(n_gpus, sizeof *m->moved);
    m->n = 0;
    for (uint32_t g = 0; g < n_gpus; g++) {
        m->new_gpu[g] = g;
    }
    for (uint64_t k = 1 + fab_rng_below(rng, 3); k > 0; k--) {
        uint32_t a = (uint32_t)fab_rng_below(rng, healthy ? s->f->n_servers : n_gpus);
        uint32_t b = (uint32_t)fab_rng_below(rng, healthy ? s->f->n_servers : n_gpus);
        for (uint32_t g = 0; g < per_server && healthy; g++) {
            if (a * per_server + g < n_gpus && b * per_server + g < n_gpus) {
                swap(&m->new_gpu[a * per_server + g], &m->new_gpu[b * per_server + g]);
            }
        }
        if (!healthy) {
            swap(&m->new_gpu[a], &m->new_gpu[b]);
        }
    }
    for (uint32_t g = 0; g < n_gpus; g++) {
        if (m->new_gpu[g] != g) {
            m->moved[m->n++] = g;
        }
    }
    sum->servers += healthy && m->n > 0;
    sum->single += !healthy && m->n > 0;
}

/* The phase between the GPUs where the ranks are, and what it offers. */
static bool make_phase(scene *s, moves *m) {
    const fab_phase *from = &s->traffic.phases[0];
    m->phase = fixture_list(from);
    for (uint64_t i = 0; i < from->n_flows; i++) {
        m->phase.src[i] = m->new_gpu[m->phase.src[i]];
        m->phase.dst[i] = m->new_gpu[m->phase.dst[i]];
    }
    fab_status status = fab_offer_init(s->f, &s->router.ports, &m->phase, &m->offer, NULL);
    s->phase = &m->phase;
    s->phase_offer = &m->offer;
    return status == FAB_OK;
}

static void moves_release(scene *s, moves *m) {
    fixture_list_release(&m->phase);
    if (m->offer.fabric != NULL) {
        fab_offer_release(&m->offer);
    }
    free(m->new_gpu);
    free(m->moved);
    *m = (moves){0};
    s->phase = &s->traffic.phases[0];
    s->phase_offer = &s->offer;
}

/* Without moves it is fab_reroute_apply(), and what it leaves behind does not matter to that. */
static void check_without(scene *s, const moves *m) {
    fab_rerouted plain;
    fab_rerouted none;
    double *load = calloc((size_t)s->f->n_links + 1, sizeof *load);
    fab_status status = fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &plain, NULL);
    cr_assert_eq(status, FAB_OK, "%s", s->what);
    memcpy(load, plain.load, s->f->n_links * sizeof *load);
    fab_rerouted before = plain;
    cr_assert_eq(fab_reroute_migrated(s->reroute, &s->mask, m->moved, 0, m->new_gpu, &none, NULL), FAB_OK);
    cr_assert(memcmp(load, none.load, s->f->n_links * sizeof *load) == 0, "%s", s->what);
    cr_assert_eq(before.n_disconnected, none.n_disconnected);
    cr_assert_eq(before.worst_link, none.worst_link);
    cr_assert_null(none.routes);
    free(load);
}

static void check_moves(scene *s, const char *engine, uint64_t seed, fab_rng *rng, tally *sum, counts *c) {
    const bool healthy = s->router.facts.splits || s->router.engine->route != NULL;
    moves m = {0};
    fab_rerouted out;
    fab_error err = {0};
    double *first = calloc((size_t)s->f->n_links + 1, sizeof *first);
    draw_moves(s, rng, &m, c);
    bool reaches = make_phase(s, &m);
    fab_status status = fab_reroute_migrated(s->reroute, &s->mask, m.moved, m.n, m.new_gpu, &out, &err);
    if (!reaches) {
        cr_assert_eq(status, FAB_EUNREACHABLE, "%s", s->what);
    } else {
        cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
        sum->masks++;
        c->local += !out.in_full && m.n > 0;
        c->full += out.in_full;
        c->renumbered += out.routes != NULL;
        if (healthy) {
            check_whole(s, engine, seed, &out, sum);
        } else {
            check_flows(s, engine, seed, &out, sum);
        }
        memcpy(first, out.load, s->f->n_links * sizeof *first);
        check_without(s, &m);
        cr_assert_eq(fab_reroute_migrated(s->reroute, &s->mask, m.moved, m.n, m.new_gpu, &out, &err), FAB_OK);
        cr_assert(memcmp(first, out.load, s->f->n_links * sizeof *first) == 0, "%s: not the same again", s->what);
    }
    moves_release(s, &m);
    free(first);
}

static uint32_t gpus_of(const char *text) {
    fab_design design;
    fab_fabric *f = NULL;
    uint32_t n = 0;
    if (fab_design_read(text, NULL, 0, &design, NULL) == FAB_OK &&
        fab_topology_build(&design.fabric, &f, NULL, NULL) == FAB_OK) {
        n = fab_n_gpus(f);
    }
    fab_fabric_free(f);
    return n;
}

static void check_engine(const char *engine, uint32_t n_rounds, uint64_t seed, tally *sum, counts *c) {
    static const char *const TRAFFIC[] = {"permutation", "all-to-all,gpus=0-%u", "all-reduce,gpus=0-%u", "incast"};
    fab_rng rng = fab_rng_make(seed, 11);
    for (uint32_t round = 0; round < n_rounds; round++) {
        random_design d = random_design_next(&rng, 6);
        char traffic[96] = "pattern:";
        uint32_t n_gpus = gpus_of(d.text);
        scene s = {0};
        if (n_gpus < 4 || n_gpus > 64) {
            continue;
        }
        uint32_t last = (uint32_t)random_between(&rng, n_gpus / 2, n_gpus - 1);
        (void)snprintf(traffic + 8, sizeof traffic - 8, random_word(&rng, TRAFFIC, 4), last);
        if (scene_init(&s, d.text, traffic, engine, UINT64_MAX, round)) {
            sum->scenes++;
            for (uint32_t i = 0; i < 6; i++) {
                if (i == 0) {
                    cr_assert_eq(fab_mask_set(&s.mask, NULL, 0, NULL), FAB_OK);
                } else {
                    draw_mask(&s, &rng, i < 4 ? 3 : 30);
                }
                check_moves(&s, engine, round, &rng, sum, c);
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(sum->masks, n_rounds, "%s: %u masks", engine, sum->masks);
    cr_expect_gt(c->servers, n_rounds / 4, "%s: %u moves of servers", engine, c->servers);
    cr_expect_gt(c->single, n_rounds / 4, "%s: %u moves of GPUs", engine, c->single);
    cr_expect_gt(sum->lost, 8, "%s: %u lost", engine, sum->lost);
}

Test(reroute_migrated, one_by_one) {
    static const char *const ENGINES[] = {"ecmp",
                                          "ecmp,qp=3,hash=crc32c,offset=0",
                                          "ecmp,hash=ideal,qp=2",
                                          "ecmp,weights=capacity,qp=2",
                                          "ecmp,member-loss=resilient,qp=2",
                                          "ecmp,member-loss=resilient,hash=ideal,weights=capacity",
                                          "dmodk",
                                          "pinned",
                                          "pinned,slices=3"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        counts c = {0};
        check_engine(ENGINES[i], 30, i, &sum, &c);
        cr_expect_gt(c.local, 30, "%s: %u not in full", ENGINES[i], c.local);
        cr_expect_gt(c.full, 5, "%s: %u in full", ENGINES[i], c.full);
        cr_expect_gt(c.renumbered, 3, "%s: %u with other numbers of paths", ENGINES[i], c.renumbered);
        cr_expect_gt(sum.untouched, 200, "%s: %u of %u untouched", ENGINES[i], sum.untouched, sum.paths);
    }
}

Test(reroute_migrated, reconverges) {
    static const char *const ENGINES[] = {"updn",
                                          "adaptive",
                                          "adaptive,view=downstream,qp=2",
                                          "spray",
                                          "spray,weights=capacity",
                                          "optimal,method=weights"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        counts c = {0};
        check_engine(ENGINES[i], strncmp(ENGINES[i], "optimal", 7) == 0 ? 12 : 25, i, &sum, &c);
    }
}

/* Tables of another engine in a file. False where there are none. */
static bool write_tables(const char *design, const char *engine, const char *path) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_design d;
    fab_router router;
    fab_fabric *f = NULL;
    if (fab_design_read(design, NULL, 0, &d, NULL) != FAB_OK ||
        fab_topology_build(&d.fabric, &f, NULL, NULL) != FAB_OK) {
        return false;
    }
    fab_next_hops *t = fixture_next_hops(f);
    bool ok = fab_n_gpus(f) >= 4 && fab_n_gpus(f) <= 64 && fab_router_init(&spec, f, t, &router, NULL) == FAB_OK;
    if (ok) {
        FILE *out = fopen(path, "w");
        cr_assert_eq(fab_tables_write(&router, NULL, out, NULL), FAB_OK);
        cr_assert_eq(fclose(out), 0);
        fab_router_release(&router);
    }
    fab_next_hops_free(t);
    fab_fabric_free(f);
    return ok;
}

/* Tables from a file stay what they are: what they send over a dead link is lost. */
static void check_unmoved_tables(scene *s, uint64_t seed, const moves *m, tally *sum) {
    fab_rerouted out;
    fab_error err = {0};
    fab_routes routes = {0};
    double *load = calloc((size_t)s->f->n_links + 1, sizeof *load);
    uint32_t n_lost = 0;
    cr_assert_eq(fab_reroute_migrated(s->reroute, &s->mask, m->moved, m->n, m->new_gpu, &out, &err), FAB_OK, "%s",
                 err.text);
    cr_assert_eq(out.on_loss, FAB_LOSS_NONE);
    if (s->router.facts.splits) {
        fab_baseline *base = NULL;
        const fab_baseline_request request = {
            .router = &s->router, .phase = s->phase, .offer = s->phase_offer, .seed = seed};
        cr_assert_eq(fab_baseline_new(&request, &base, &err), FAB_OK, "%s", err.text);
        memcpy(load, fab_baseline_load(base), s->f->n_links * sizeof *load);
        fab_baseline_free(base);
    } else {
        cr_assert_eq(fab_route_flows(&s->router, s->phase, 0, (uint32_t)s->phase->n_flows, s->phase_offer->rate, seed,
                                     &routes, &err),
                     FAB_OK);
    }
    for (uint32_t i = 0; i < s->phase->n_flows && !s->router.facts.splits; i++) {
        uint32_t n_gone = 0;
        for (uint32_t p = routes.flow_first[i]; p < routes.flow_first[i + 1]; p++) {
            const fab_link_id *link = routes.link + routes.path_first[p];
            size_t n = routes.path_first[p + 1] - routes.path_first[p];
            bool gone = crosses_dead(s, link, n);
            n_gone += gone;
            for (size_t k = 0; k < n && !gone; k++) {
                load[link[k]] += s->phase_offer->rate[i] / (routes.flow_first[i + 1] - routes.flow_first[i]);
            }
        }
        n_lost += n_gone > 0;
    }
    cr_assert_eq(out.n_disconnected, n_lost, "%s", s->what);
    check_loads(s, &out, load);
    sum->masks++;
    sum->lost += n_lost;
    fab_routes_release(&routes);
    free(load);
}

Test(reroute_migrated, tables_of_a_file) {
    static const char *const ENGINES[][2] = {{"dmodk", "file,path="},
                                             {"ecmp", "ecmp,qp=2,tables="},
                                             {"ecmp", "adaptive,tables="},
                                             {"spray", "spray,tables="}};
    char path[] = "/tmp/fabriscope-moved-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    fab_rng rng = fab_rng_make(5, 13);
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        tally sum = {0};
        counts c = {0};
        char engine[128];
        (void)snprintf(engine, sizeof engine, "%s%s", ENGINES[e][1], path);
        for (uint32_t round = 0; round < 60; round++) {
            random_design d = random_design_next(&rng, 6);
            scene s = {0};
            if (!write_tables(d.text, ENGINES[e][0], path)) {
                continue;
            }
            if (scene_init(&s, d.text, "pattern:permutation", engine, UINT64_MAX, round)) {
                for (uint32_t i = 0; i < 4; i++) {
                    moves m = {0};
                    draw_mask(&s, &rng, 3);
                    if (s.router.facts.splits) {
                        cr_assert_eq(fab_mask_set(&s.mask, NULL, 0, NULL), FAB_OK);
                    }
                    draw_moves(&s, &rng, &m, &c);
                    if (m.n > 0 && make_phase(&s, &m)) {
                        check_unmoved_tables(&s, round, &m, &sum);
                    }
                    moves_release(&s, &m);
                }
            }
            scene_release(&s);
        }
        cr_expect_gt(sum.masks, 20, "%s: %u masks", engine, sum.masks);
        cr_expect(sum.lost > 5 || e == 3, "%s: %u lost", engine, sum.lost);
    }
    unlink(path);
}

Test(reroute_migrated, refuses) {
    scene s;
    fab_rerouted out;
    fab_error err = {0};
    cr_assert(scene_init(&s, "clos:gpus=32,radix=32", "pattern:all-reduce,gpus=0-15", "ecmp", UINT64_MAX, 0));
    uint32_t new_gpu[32];
    for (uint32_t i = 0; i < 32; i++) {
        new_gpu[i] = i;
    }
    const uint32_t moved[] = {3, 4};
    new_gpu[3] = 5;
    cr_expect_eq(fab_reroute_migrated(s.reroute, &s.mask, moved, 1, new_gpu, &out, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "gpu-5 cannot take the rank of gpu-3: it has one");
    new_gpu[3] = 20;
    new_gpu[4] = 20;
    err = (fab_error){0};
    cr_expect_eq(fab_reroute_migrated(s.reroute, &s.mask, moved, 2, new_gpu, &out, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "gpu-20 cannot take the rank of gpu-4: it has one");
    new_gpu[4] = 32;
    err = (fab_error){0};
    cr_expect_eq(fab_reroute_migrated(s.reroute, &s.mask, moved, 2, new_gpu, &out, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "a rank moves from gpu-4 to gpu-32: they are numbered 0 to 31");
    new_gpu[4] = 21;
    cr_expect_eq(fab_reroute_migrated(s.reroute, &s.mask, moved, 2, new_gpu, &out, &err), FAB_OK);
    scene_release(&s);
}
