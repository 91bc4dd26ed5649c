/* Explanations agree with routes and reports, reasons with the hashes that they cite, and links keep their names. */
#include "fabric_fixture.h"
#include "fab/analysis.h"
#include "fab/explanation.h"
#include "fab/fabric_parse.h"
#include "fab/hash.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    fab_design design;
    fab_fabric *f;
    fab_next_hops *t;
    fab_traffic traffic;
    fab_router router;
    fab_engine_spec spec;
} bench;

static bench setup(const char *design, const char *traffic, const char *engine) {
    bench b = {.f = NULL};
    fab_error err = {0};
    (void)snprintf(b.spec.text, sizeof b.spec.text, "%s", engine);
    b.f = fixture_build(design, &b.design, NULL);
    b.t = fixture_next_hops(b.f);
    cr_assert_eq(fab_traffic_make(traffic, &b.design, b.f, 1, &b.traffic, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_router_init(&b.spec, b.f, b.t, &b.router, &err), FAB_OK, "%s: %s", engine, err.text);
    return b;
}

static void teardown(bench *b) {
    fab_router_release(&b->router);
    fab_traffic_release(&b->traffic);
    fab_next_hops_free(b->t);
    fab_fabric_free(b->f);
}

static const char *const DESIGNS[] = {
    "clos:gpus=64,gpus-per-server=4,radix=16,tiers=2",
    "fat-tree:k=8",
    "rail-spine:gpus=256,radix=16,taper=2",
    "rail-spine:gpus=64,gpus-per-server=4,radix=16,planes=2",
    "rail-only:gpus=128,gpus-per-server=8,domain=16,radix=8",
    "clos:gpus=48,gpus-per-server=4,nics-per-server=8,radix=16,tiers=2",
    "torus:gpus=64,gpus-per-server=1,nics-per-server=1,torus=4,4,4",
};

static const char *const ENGINES[] = {
    "ecmp,qp=4",
    "ecmp,hash=crc16/xor/ideal,qp=3,fields=ips+dqp/ips/5tuple",
    "ecmp,hash=ideal,member-loss=resilient,weights=capacity",
    "ecmp,hash=crc32c,qp=2,spread=round-robin,fields=srcip/5tuple+dqp",
    "dmodk",
    "pinned,slices=3",
    "updn",
};

#define N(array) (sizeof(array) / sizeof *(array))

/* --- paths ------------------------------------------------------------------------------------------------------- */

static void check_decision(const bench *b, const fab_decision *d) {
    char name[80];
    cr_assert_eq(fab_tail(b->f, d->link), d->node);
    cr_assert(d->count == 1 || d->reason[0] != '\0', "no reason for %s", fab_link_name(b->f, d->link, name));
    const char *mod = strstr(d->reason, "mod ");
    if (mod != NULL) { /* "mod 32 = 17" is what was done */
        unsigned n = 0;
        unsigned index = 0;
        cr_assert_eq(sscanf(mod, "mod %u = %u", &n, &index), 2, "%s", d->reason);
        cr_assert(n == d->count && index == d->index, "%s: %u of %u", d->reason, d->index, d->count);
    }
}

static void check_paths(const char *design, const char *engine) {
    bench b = setup(design, "pattern:permutation", engine);
    fab_error err = {0};
    fab_routes routes = {0};
    fab_explained_path path = {0};
    const fab_phase *phase = &b.traffic.phases[0];
    cr_assert_eq(fab_route_phase(&b.router, phase, 5, &routes, &err), FAB_OK, "%s", err.text);
    for (uint32_t i = 0; i < routes.n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        for (uint32_t p = routes.flow_first[i]; p < routes.flow_first[i + 1]; p++) {
            size_t n = routes.path_first[p + 1] - routes.path_first[p];
            size_t n_fabric = 0;
            cr_assert_eq(fab_explain_path(&b.router, &flow, p - routes.flow_first[i], 5, &path, &err), FAB_OK, "%s",
                         err.text);
            cr_assert_eq(path.n_links, n, "%s %s: flow %u", design, engine, i);
            for (size_t k = 0; k < n; k++) {
                cr_assert_eq(path.link[k], routes.link[routes.path_first[p] + k], "%s %s: flow %u", design, engine, i);
                n_fabric += fab_class_of(b.f, path.link[k])->kind == FAB_LINK_FABRIC;
            }
            cr_assert_eq(path.n_decisions, n_fabric);
            for (size_t k = 0; k < path.n_decisions; k++) {
                check_decision(&b, &path.decision[k]);
            }
        }
    }
    fab_explained_path_release(&path);
    fab_routes_release(&routes);
    teardown(&b);
}

Test(explain, paths_are_those_of_the_routes) {
    for (size_t d = 0; d < N(DESIGNS); d++) {
        bool tree = strncmp(DESIGNS[d], "torus", 5) != 0;
        for (size_t e = 0; e < N(ENGINES); e++) {
            bool needs_tree = strncmp(ENGINES[e], "dmodk", 5) == 0 || strncmp(ENGINES[e], "pinned", 6) == 0;
            if (tree || !needs_tree) {
                check_paths(DESIGNS[d], ENGINES[e]);
            }
        }
    }
}

/* What a route that is known says of itself. */
Test(explain, known_routes) {
    bench b = setup(DESIGNS[1], "pattern:permutation", "ecmp");
    fab_error err = {0};
    fab_explained_path path = {0};
    fab_explained_path again = {0};
    for (uint32_t i = 0; i < b.traffic.phases[0].n_flows; i++) {
        fab_flow flow = fab_phase_flow(&b.traffic.phases[0], i);
        cr_assert_eq(fab_explain_path(&b.router, &flow, 0, 1, &path, &err), FAB_OK);
        cr_assert_eq(fab_explain_route(&b.router, path.link, path.n_links, 7, &again, &err), FAB_OK);
        cr_assert(again.n_decisions == path.n_decisions && again.queue_pair == 7);
        for (size_t k = 0; k < path.n_decisions; k++) {
            const fab_decision *x = &path.decision[k];
            const fab_decision *y = &again.decision[k];
            cr_assert(x->node == y->node && x->link == y->link && x->count == y->count && x->index == y->index);
        }
    }
    fab_explained_path_release(&path);
    fab_explained_path_release(&again);
    teardown(&b);
}

/* The header that a reason cites has the hash that it cites. */
Test(explain, cited_hashes) {
    bench b = setup(DESIGNS[1], "pattern:permutation", "ecmp,hash=crc32,qp=2");
    fab_error err = {0};
    fab_explained_path path = {0};
    static fab_crc crc;
    size_t n_checked = 0;
    fab_crc_init(FAB_HASH_CRC32, &crc);
    for (uint32_t i = 0; i < b.traffic.phases[0].n_flows; i++) {
        fab_flow flow = fab_phase_flow(&b.traffic.phases[0], i);
        for (uint32_t p = 0; p < 2; p++) {
            cr_assert_eq(fab_explain_path(&b.router, &flow, p, 1, &path, &err), FAB_OK);
            for (size_t k = 0; k < path.n_decisions; k++) {
                const fab_decision *d = &path.decision[k];
                unsigned a[8];
                unsigned port[2];
                unsigned value = 0;
                if (d->count == 1) {
                    continue;
                }
                cr_assert_eq(sscanf(d->reason, "crc32 of (%u.%u.%u.%u, %u.%u.%u.%u, udp %u -> %u) = %x", &a[0], &a[1],
                                    &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &port[0], &port[1], &value),
                             11, "%s", d->reason);
                uint8_t header[13] = {0};
                for (int j = 0; j < 8; j++) {
                    header[j] = (uint8_t)a[j];
                }
                header[8] = 17;
                for (int j = 0; j < 2; j++) {
                    header[9 + 2 * j] = (uint8_t)(port[j] >> 8);
                    header[10 + 2 * j] = (uint8_t)port[j];
                }
                cr_assert_eq(fab_crc_value(FAB_HASH_CRC32, &crc, 0, header, sizeof header), value, "%s", d->reason);
                cr_assert_eq((value >> 8 * (fab_tier_of(b.f, d->node) - 1)) % d->count, d->index, "%s", d->reason);
                n_checked++;
            }
        }
    }
    cr_assert_gt(n_checked, 100);
    fab_explained_path_release(&path);
    teardown(&b);
}

/* --- links ------------------------------------------------------------------------------------------------------- */

/* Of every hot link of a report, the explanation has the same flows, load and factors. */
static void check_hot_links(const char *design, const char *traffic, const char *engine) {
    bench b = setup(design, traffic, engine);
    fab_error err = {0};
    fab_result result = {0};
    const fab_context_request what_of_replay = {
        .design = &b.design, .fabric = b.f, .traffic = traffic, .engines = &b.spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&what_of_replay);
    fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1};
    cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s", err.text);
    const fab_engine_result *e = &result.phases[0].engines[0];
    cr_assert_gt(e->n_hot, 0, "%s %s", design, engine);
    for (size_t i = 0; i < e->n_hot; i++) {
        const fab_hot_link *hot = &e->hot[i];
        fab_explanation found = {0};
        cr_assert_eq(fab_explain_link(context, 0, hot->link, &found, &err), FAB_OK, "%s", err.text);
        cr_assert_str_eq(found.name, hot->name);
        cr_assert_eq(found.n_phases, result.n_phases);
        const fab_crossing_phase *phase = &found.phase[0];
        cr_assert_eq(phase->n_flows, hot->n_flows, "%s %s: %zu flows, not %" PRIu64, design, engine, phase->n_flows,
                     (uint64_t)hot->n_flows);
        cr_assert_float_eq(phase->utilisation, hot->factor, 1e-9 * hot->factor, "%s %s", design, engine);
        cr_assert_float_eq(phase->taper_factor, hot->taper_factor, 1e-9, "%s %s", design, engine);
        cr_assert_float_eq(phase->hash_factor, hot->hash_factor, 1e-9 * hot->hash_factor, "%s %s", design, engine);
        double sum = 0;
        for (size_t k = 0; k < phase->n_flows; k++) {
            const fab_crossing_flow *flow = &phase->flow[k];
            sum += flow->rate_bps * flow->share;
            cr_assert(k == 0 || flow->rate_bps * flow->share <= flow[-1].rate_bps * flow[-1].share);
            cr_assert(found.splits || flow->n_paths > 0);
        }
        cr_assert_float_eq(sum, phase->load_bps, 1e-9 * sum);
        const fab_link_choice *choice = &phase->choice;
        cr_assert(choice->used <= choice->next_hops && choice->ideal_used <= choice->next_hops + 1e-9);
        cr_assert(choice->next_hops == 0 || choice->paths > 0); /* some paths over the link may have had no choice */
        cr_assert(choice->values_here <= choice->paths_here);
        fab_explanation_release(&found);
    }
    fab_context_free(context);
    fab_result_release(&result);
    teardown(&b);
}

Test(explain, hot_links) {
    for (size_t e = 0; e < N(ENGINES); e++) {
        check_hot_links(DESIGNS[2], "pattern:permutation", ENGINES[e]);
        check_hot_links(DESIGNS[5], "pattern:permutation", ENGINES[e]);
        check_hot_links(DESIGNS[3], "pattern:shift,by=24", ENGINES[e]);
    }
    check_hot_links(DESIGNS[0], "pattern:all-to-all", "ecmp,qp=2");
    check_hot_links("preset:llama3-talk-racks", "job:dp-rs", "pinned");
}

static bool has_engine(const char *name) {
    for (size_t i = 0; fab_engines[i] != NULL; i++) {
        if (strcmp(fab_engines[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Engines that decide for all flows at once, or split them. */
Test(explain, hot_links_without_decisions) {
    static const char *const AT_ONCE[] = {"spray", "adaptive", "optimal"};
    size_t n = 0;
    for (size_t e = 0; e < N(AT_ONCE); e++) {
        if (has_engine(AT_ONCE[e])) {
            check_hot_links(DESIGNS[2], "pattern:permutation", AT_ONCE[e]);
            check_hot_links(DESIGNS[3], "pattern:shift,by=24", AT_ONCE[e]);
            check_hot_links(DESIGNS[5], "pattern:permutation", AT_ONCE[e]);
            check_hot_links(DESIGNS[6], "pattern:permutation", AT_ONCE[e]);
            n++;
        }
    }
    cr_assert(n > 0 && has_engine("spray"));
}

/* Of a link that no switch chooses, the flows of its NIC. */
Test(explain, links_of_a_nic) {
    static const char *const KINDS[] = {"ecmp,qp=4", "spray"};
    for (size_t e = 0; e < N(KINDS); e++) {
        bench b = setup(DESIGNS[1], "pattern:shift,by=20", KINDS[e]);
        fab_error err = {0};
        fab_explanation found = {0};
        fab_link_id link = FAB_NONE;
        const fab_context_request asked = {.design = &b.design,
                                           .fabric = b.f,
                                           .traffic = "pattern:shift,by=20",
                                           .engines = &b.spec,
                                           .n_engines = 1,
                                           .seed = 1};
        fab_context *context = fixture_context(&asked);
        cr_assert_eq(fab_link_parse(b.f, "nic-5:2", &link, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_explain_link(context, 0, link, &found, &err), FAB_OK, "%s", err.text);
        const fab_crossing_phase *p = &found.phase[0];
        cr_assert_eq(p->n_flows, 1);
        cr_expect(p->flow[0].src_gpu == 5 && p->flow[0].share == 1);
        cr_expect_float_eq(p->utilisation, 1, 1e-9);
        cr_expect_float_eq(p->taper_factor, 1, 1e-9);
        cr_expect_eq(p->choice.next_hops, 0);
        fab_explanation_release(&found);
        fab_context_free(context);
        teardown(&b);
    }
}

/* Many flows of a leaf: what part of its uplinks they use, and what draws would. */
Test(explain, choice_at_a_leaf) {
    bench b = setup("clos:gpus=512,gpus-per-server=1,nics-per-server=1,radix=32,tiers=2", "pattern:shift,by=16",
                    "ecmp,fields=ips");
    fab_error err = {0};
    fab_explanation found = {0};
    fab_link_id link = FAB_NONE;
    const fab_context_request asked = {.design = &b.design,
                                       .fabric = b.f,
                                       .traffic = "pattern:shift,by=16",
                                       .engines = &b.spec,
                                       .n_engines = 1,
                                       .seed = 1};
    fab_context *context = fixture_context(&asked);
    cr_assert_eq(fab_link_parse(b.f, "leaf-3:17", &link, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_explain_link(context, 0, link, &found, &err), FAB_OK, "%s", err.text);
    const fab_link_choice *c = &found.phase[0].choice;
    cr_expect_eq(c->flows, 16);
    cr_expect_eq(c->paths, 16);
    cr_expect_eq(c->next_hops, 16);
    cr_expect_float_eq(c->ideal_used, 16 * (1 - pow(15.0 / 16, 16)), 1e-9);
    fab_explanation_release(&found);
    fab_context_free(context);
    teardown(&b);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

Test(explain, names_of_links) {
    for (size_t i = 0; i < N(DESIGNS); i++) {
        bench b = setup(DESIGNS[i], "pattern:permutation", "ecmp");
        fab_error err = {0};
        for (fab_link_id l = 0; l < b.f->n_links; l++) {
            char name[80];
            char text[96];
            fab_link_id found = FAB_NONE;
            (void)fab_link_name(b.f, l, name);
            cr_assert_eq(fab_link_parse(b.f, name, &found, &err), FAB_OK, "%s: %s", name, err.text);
            cr_assert_eq(found, l, "%s is %u, not %u", name, found, l);
            *strchr(name, ' ') = '\0';
            (void)snprintf(text, sizeof text, "  %s ", name);
            cr_assert_eq(fab_link_parse(b.f, text, &found, &err), FAB_OK, "%s: %s", text, err.text);
            cr_assert_eq(found, l);
            (void)snprintf(text, sizeof text, "%u", l);
            cr_assert_eq(fab_link_parse(b.f, text, &found, &err), FAB_OK);
            cr_assert_eq(found, l);
        }
        teardown(&b);
    }
}

Test(explain, names_that_are_none) {
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"", "'' names no node; names are such as spine-3"},
        {"-", "'-' names no node; names are such as spine-3"},
        {"leaf-", "'leaf-' names no node; names are such as spine-3"},
        {"leaf-x", "'leaf-x' names no node; names are such as spine-3"},
        {"core-0", "'core-0' names no node; names are such as spine-3"},
        {"spine-4", "there is no spine-4: they are numbered 0 to 3"},
        {"leaf-5:99", "no link is 'leaf-5:99'; leaf-5 has 16 of them"},
        {"leaf-5:", "'' is not a port number"},
        {"leaf-5:1x", "'1x' is not a port number"},
        {"leaf-5 > leaf-6", "no link is 'leaf-5 > leaf-6'; leaf-5 has 16 of them"},
        {"leaf-5 > ", "'' names no node; names are such as spine-3"},
        {"leaf-5>spine-2", "'leaf-5>spine-2' may be 2 links: leaf-5:11 > spine-2:11, leaf-5:15 > spine-2:12"},
        {"4294967295", "there is no link 4294967295: they are numbered 0 to 511"},
        {"-1", "there is no link -1: they are numbered 0 to 511"},
        {"+3", "there is no link +3: they are numbered 0 to 511"},
        {"-1x", "'-1x' names no node; names are such as spine-3"},
    };
    bench b = setup(DESIGNS[0], "pattern:permutation", "ecmp");
    for (size_t i = 0; i < N(CASES); i++) {
        fab_error err = {0};
        fab_link_id found = 77;
        cr_expect_eq(fab_link_parse(b.f, CASES[i].text, &found, &err), FAB_EINPUT, "%s", CASES[i].text);
        cr_expect_str_eq(err.text, CASES[i].message);
        cr_expect_eq(found, 77);
    }
    teardown(&b);
}
