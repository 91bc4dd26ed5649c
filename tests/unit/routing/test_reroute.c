/* Routing again what a mask touches, against routing everything anew over next hops without the dead links. */
#include "reroute_fixture.h"
#include "draws.h"

/* Nearly all links of a switch. */
static void draw_switch(scene *s, fab_rng *rng) {
    fab_component c[200];
    size_t n = 0;
    fab_node_id v = s->f->first[FAB_NODE_SWITCH] + (uint32_t)fab_rng_below(rng, fab_n_switches(s->f));
    for (uint32_t k = s->f->out_first[v]; k < s->f->out_first[v + 1]; k++) {
        if (fab_class_of(s->f, s->f->out_link[k])->kind == FAB_LINK_FABRIC && n < 200 && fab_rng_below(rng, 16) > 0) {
            c[n++] = (fab_component){
                .kind = FAB_COMPONENT_LINK, .id = s->f->out_link[k], .fraction = fab_rng_below(rng, 8) == 0 ? 0.25 : 0};
        }
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, NULL), FAB_OK);
}

/* What crosses a dead link is lost, and nothing else changes. */
static void check_failed(scene *s, tally *sum) {
    const fab_phase *phase = &s->traffic.phases[0];
    const fab_routes *before = fab_baseline_routes(s->base);
    fab_rerouted out;
    cr_assert_eq(fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_FAILED, &out, NULL), FAB_OK);
    double *expected = calloc((size_t)s->f->n_links + 1, sizeof *expected);
    uint32_t n_lost = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t first = before->flow_first[i];
        uint32_t n_gone = 0;
        double part = fab_offer_rate(&s->offer, phase, i) / (before->flow_first[i + 1] - first);
        for (uint32_t p = first; p < before->flow_first[i + 1]; p++) {
            const fab_link_id *link = before->link + before->path_first[p];
            size_t n = before->path_first[p + 1] - before->path_first[p];
            bool gone = crosses_dead(s, link, n);
            n_gone += gone;
            for (size_t k = 0; k < n && !gone; k++) {
                expected[link[k]] += part;
            }
        }
        n_lost += n_gone > 0;
    }
    cr_assert_eq(out.n_disconnected, n_lost, "%s", s->what);
    cr_assert_eq(out.on_loss, FAB_LOSS_NONE);
    check_loads(s, &out, expected);
    sum->lost += n_lost;
    free(expected);
}

static void check_masks(scene *s, const char *engine, uint32_t n_masks, uint64_t seed, fab_rng *rng, tally *sum) {
    static const uint32_t MOST[] = {4, 16, 4, 40};
    const bool healthy = s->router.facts.splits || s->router.engine->route != NULL;
    double *first = calloc((size_t)s->f->n_links + 1, sizeof *first);
    sum->scenes++;
    for (uint32_t i = 0; i < n_masks; i++) {
        fab_rerouted out;
        fab_error err = {0};
        if (i % 6 == 5) {
            draw_switch(s, rng);
        } else {
            draw_mask(s, rng, MOST[i % 4]);
        }
        fab_status status = fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &out, &err);
        cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
        sum->masks++;
        if (healthy && out.in_full) {
            check_whole(s, engine, seed, &out, sum);
        } else if (!healthy) {
            check_flows(s, engine, seed, &out, sum);
        }
        memcpy(first, out.load, s->f->n_links * sizeof *first);
        if (!s->router.facts.splits) {
            check_failed(s, sum);
        }
        cr_assert_eq(fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &out, &err), FAB_OK);
        cr_assert(memcmp(first, out.load, s->f->n_links * sizeof *first) == 0, "%s: not the same again", s->what);
    }
    free(first);
}

static void check_engine(const char *engine, uint32_t n_rounds, uint64_t most_flows, uint64_t seed, tally *sum) {
    fab_rng rng = fab_rng_make(seed, 7);
    fab_rng masks = fab_rng_make(seed, 8);
    static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:all-to-all", "pattern:shift,by=3",
                                          "pattern:incast"};
    for (uint32_t round = 0; round < n_rounds; round++) {
        random_design d = random_design_next(&rng, 12);
        scene s;
        if (scene_init(&s, d.text, random_word(&rng, TRAFFIC, 4), engine, most_flows, round)) {
            check_masks(&s, engine, 6, round, &masks, sum);
        }
        scene_release(&s);
    }
    cr_expect_gt(sum->masks, n_rounds, "%s: %u masks", engine, sum->masks);
    cr_expect_gt(sum->lost, DRAWS(20), "%s: %u lost", engine, sum->lost);
}

/* Several words of leaves, four planes, more members of a group than are listed, routes longer than a byte counts, and
 * links of several rates. */
Test(reroute, large) {
    static const char *const DESIGNS[] = {"fat-tree:k=12",
                                          "rail-spine:gpus=256,gpus-per-server=8,radix=8,planes=4,taper=2",
                                          "fat-tree:gpus=144,gpus-per-server=1,radix=144,taper=0.5",
                                          "torus:gpus=300,gpus-per-server=1,torus=300,radix=8",
                                          "torus:gpus=150,gpus-per-server=1,torus=5,6,5,radix=8",
                                          "dragonfly:gpus=228,gpus-per-server=1,dragonfly=2,6,3",
                                          "clos:gpus=96,gpus-per-server=1,radix=8,taper=3:2"};
    static const char *const ENGINES[] = {"ecmp,qp=2", "ecmp,qp=3,member-loss=resilient", "dmodk",
                                          "ecmp,member-loss=resilient,hash=xor/crc32c/crc16", "pinned"};
    tally sum = {0};
    uint32_t n_scenes = 0;
    for (size_t d = 0; d < sizeof DESIGNS / sizeof DESIGNS[0]; d++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            fab_rng rng = fab_rng_make(d, e);
            scene s;
            if (scene_init(&s, DESIGNS[d], "pattern:permutation", ENGINES[e], 20000, e)) {
                check_masks(&s, ENGINES[e], 6, e, &rng, &sum);
                n_scenes++;
            }
            scene_release(&s);
        }
    }
    cr_expect_eq(n_scenes, 4 * 5 + 3 * 3, "%u scenes", n_scenes); /* dmodk and pinned need a tree */
    cr_expect_gt(sum.moved, 5000, "%u moved", sum.moved);
    cr_expect_gt(sum.lost, 100, "%u lost", sum.lost);
    cr_expect_gt(sum.planes, 100, "%u over another plane", sum.planes);
}

Test(reroute, modulo) {
    static const char *const ENGINES[] = {"ecmp",
                                          "ecmp,qp=3,hash=crc32c,offset=0",
                                          "ecmp,hash=ideal,qp=2",
                                          "ecmp,weights=capacity,qp=2",
                                          "ecmp,hash=crc16/xor,spread=round-robin,qp=2",
                                          "dmodk",
                                          "pinned",
                                          "pinned,slices=3"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], DRAWS(60), 20000, i, &sum);
        cr_expect_gt(sum.moved, DRAWS(200), "%s: %u moved", ENGINES[i], sum.moved);
        cr_expect_gt(sum.untouched, sum.paths / 20, "%s: %u of %u untouched", ENGINES[i], sum.untouched, sum.paths);
        cr_expect_gt(sum.planes, DRAWS(10), "%s: %u over another plane", ENGINES[i], sum.planes);
        cr_expect_gt(sum.nics, DRAWS(10) / 10, "%s: %u over another NIC", ENGINES[i], sum.nics);
    }
}

Test(reroute, resilient) {
    static const char *const ENGINES[] = {"ecmp,member-loss=resilient", "ecmp,member-loss=resilient,hash=ideal,qp=2",
                                          "ecmp,member-loss=resilient,weights=capacity"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], DRAWS(60), 20000, i, &sum);
        cr_expect_gt(sum.moved, DRAWS(200), "%s: %u moved", ENGINES[i], sum.moved);
        cr_expect_gt(sum.untouched, sum.paths / 4, "%s: %u of %u untouched", ENGINES[i], sum.untouched, sum.paths);
    }
}

Test(reroute, reconverges) {
    static const char *const ENGINES[] = {"updn",
                                          "adaptive",
                                          "adaptive,view=downstream,qp=2",
                                          "spray",
                                          "spray,weights=capacity",
                                          "optimal,method=weights"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], strncmp(ENGINES[i], "optimal", 7) == 0 ? DRAWS(20) : DRAWS(50), 2000, i, &sum);
    }
}
