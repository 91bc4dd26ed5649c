/* Tables with groups of next hops that switches split by: what is written of a split, and read back. */
#include "fab/offer.h"
#include "tables_fixture.h"
#include "split/split_rule.h"

#include <math.h>

/* What a link can take of `rest`, which all cables to its head share by their capacities. */
static double of_capacity(const setup *s, uint32_t v, uint32_t leaf, fab_link_id link, double rest) {
    fab_next_hop_list next = fab_next_hops_get(s->next_hops, v, leaf);
    double own = fab_class_of(s->fabric, link)->capacity_bps;
    double trunk = 0;
    for (uint32_t i = 0; i < next.count; i++) {
        fab_link_id other = fab_next_hop(&next, i);
        trunk +=
            fab_head(s->fabric, other) == fab_head(s->fabric, link) ? fab_class_of(s->fabric, other)->capacity_bps : 0;
    }
    return fmin(own, rest * own / trunk);
}

/* What stands behind a switch on the way to a leaf, by the definitions of fab_split_rule. `known` [switch]: what was
 * found for the leaf before, else NAN. */
static double behind(const setup *s, const fab_split *split, uint32_t v, uint32_t leaf, double *known) {
    if (!isnan(known[v])) {
        return known[v];
    }
    fab_next_hop_list next = fab_next_hops_get(s->next_hops, v, leaf);
    uint32_t base = s->fabric->first[FAB_NODE_SWITCH];
    if (v + base == s->next_hops->leaf_node[leaf]) {
        return split->rule == FAB_SPLIT_CAPACITY ? 1e300 : 1;
    }
    double sum = 0;
    for (uint32_t i = 0; i < next.count; i++) {
        double rest = behind(s, split, fab_head(s->fabric, fab_next_hop(&next, i)) - base, leaf, known);
        sum += split->rule == FAB_SPLIT_CAPACITY ? of_capacity(s, v, leaf, fab_next_hop(&next, i), rest)
                                                 : split->weight[fab_next_hop(&next, i)] * rest;
    }
    known[v] = sum;
    return sum;
}

static double expected_share(const setup *s, const fab_split *split, uint32_t v, uint32_t leaf, fab_link_id link,
                             double *known) {
    uint32_t head = fab_head(s->fabric, link) - s->fabric->first[FAB_NODE_SWITCH];
    uint32_t n = fab_next_hops_get(s->next_hops, v, leaf).count;
    switch (split->rule) {
    case FAB_SPLIT_EQUAL: return 1.0 / n;
    case FAB_SPLIT_CAPACITY:
        return of_capacity(s, v, leaf, link, behind(s, split, head, leaf, known)) / behind(s, split, v, leaf, known);
    case FAB_SPLIT_WEIGHT:
        return split->weight[link] * behind(s, split, head, leaf, known) / behind(s, split, v, leaf, known);
    case FAB_SPLIT_SHARE: break;
    }
    return split->share[(size_t)leaf * s->fabric->n_links + link];
}

/* Random shares of a random kind; some next hops get none. */
static fab_split random_split(const setup *s, fab_rng *rng) {
    fab_split split = {.rule = (fab_split_rule)fab_rng_below(rng, 4)};
    const fab_next_hops *t = s->next_hops;
    size_t n_links = s->fabric->n_links;
    if (split.rule == FAB_SPLIT_WEIGHT) {
        split.weight = calloc(n_links, sizeof *split.weight);
        for (size_t l = 0; l < n_links; l++) {
            split.weight[l] = exp((double)fab_rng_below(rng, 1000) / 100 - 5);
        }
    } else if (split.rule == FAB_SPLIT_SHARE) {
        split.share = calloc(t->n_leaves * n_links, sizeof *split.share);
        for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
            for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
                double *share = split.share + leaf * n_links;
                fab_next_hop_list next = fab_next_hops_get(t, v, leaf);
                double sum = 0;
                for (uint32_t i = 0; i < next.count; i++) {
                    share[fab_next_hop(&next, i)] = i == 0 ? 1 : (double)fab_rng_below(rng, 4) * 1.37;
                    sum += share[fab_next_hop(&next, i)];
                }
                for (uint32_t i = 0; i < next.count; i++) {
                    share[fab_next_hop(&next, i)] /= sum;
                }
            }
        }
    }
    return split;
}

/* The groups of a fabric, as a router that splits has them. */
static fab_router make_splitting(const setup *s) {
    char *groups = dump(s, "ecmp");
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(read_back(s, groups, strlen(groups), &router, &err), FAB_OK, "%s: %s: %s", s->design.origin, err.where,
                 err.text);
    free(groups);
    return router;
}

static void check_split(const setup *s, const fab_split *split) {
    fab_router router = make_splitting(s);
    fab_router file;
    fab_error err = {0};
    if (!router.facts.splits) { /* no choice anywhere */
        fab_router_release(&router);
        return;
    }
    char *text = dump_split(&router, split);
    cr_assert_eq(read_back(s, text, strlen(text), &file, &err), FAB_OK, "%s: %s: %s", s->design.origin, err.where,
                 err.text);
    char *again = dump_router(&file);
    cr_assert_str_eq(strstr(again, "\nfabric"), strstr(text, "\nfabric"), "%s", s->design.origin);
    double *share = file.facts.splits ? shares_of(&file) : NULL; /* without groups, where one member takes all */
    double *known = calloc(fab_n_switches(s->fabric), sizeof *known);
    for (uint32_t leaf = 0; leaf < s->next_hops->n_leaves && share != NULL; leaf++) {
        for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
            known[v] = NAN;
        }
        for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
            fab_next_hop_list next = fab_next_hops_get(s->next_hops, v, leaf);
            for (uint32_t i = 0; i < next.count; i++) {
                double is = share[(size_t)leaf * s->fabric->n_links + fab_next_hop(&next, i)];
                double want = expected_share(s, split, v, leaf, fab_next_hop(&next, i), known);
                cr_assert(fabs(is - want) < 1e-12, "%s: rule %d: %g, not %g", s->design.origin, split->rule, is, want);
            }
        }
    }
    free(known);
    free(share);
    free(again);
    free(text);
    fab_router_release(&file);
    fab_router_release(&router);
}

Test(table_groups, shares_of_a_split) {
    fab_rng rng = fab_rng_make(4, 0);
    for (int i = 0; i < 80; i++) {
        setup s = next_setup(&rng, i % 2 == 1);
        fab_split split = random_split(&s, &rng);
        check_split(&s, &split);
        free(split.weight);
        free(split.share);
        discard(&s);
    }
}

/* What every fabric link carries of a random permutation, malloc'd. NULL where a pair has no route. */
static double *loads_of(const setup *s, const fab_router *router, const fab_dag *dag, const fab_split *split) {
    fab_traffic traffic = {0};
    fab_offer offer = {0};
    fab_demand demand = {0};
    fab_error err = {0};
    double *load = calloc(s->fabric->n_links, sizeof *load);
    cr_assert_eq(fab_traffic_make("pattern:permutation", &s->design, s->fabric, 3, &traffic, &err), FAB_OK);
    fab_status status = fab_offer_init(s->fabric, &router->ports, &traffic.phases[0], &offer, &err);
    if (status == FAB_OK) {
        status = fab_demand_init(s->fabric, &router->ports, s->next_hops, &traffic.phases[0], &offer, &demand, &err);
    }
    if (status == FAB_OK) {
        status = fab_split_load(fab_router_dag(router, dag), split, &demand, demand.rate, load, &err);
    }
    cr_assert(status == FAB_OK || status == FAB_EUNREACHABLE, "%s: %s", s->design.origin, err.text);
    fab_demand_release(&demand);
    fab_offer_release(&offer);
    fab_traffic_release(&traffic);
    if (status != FAB_OK) {
        free(load);
        load = NULL;
    }
    return load;
}

static double *loads_by(const setup *s, const fab_router *router, const fab_dag *dag) {
    fab_split split = {0};
    fab_error err = {0};
    cr_assert(router->facts.splits);
    cr_assert_eq(router->engine->split(router, fab_router_dag(router, dag), NULL, NULL, &split, &err), FAB_OK, "%s",
                 err.text);
    double *load = loads_of(s, router, dag, &split);
    fab_split_release(&split);
    return load;
}

static void check_same_loads(const setup *s, const double *a, const double *b) {
    double most = 0;
    cr_assert_eq(a == NULL, b == NULL);
    for (uint32_t l = 0; a != NULL && l < s->fabric->n_links; l++) {
        most = fmax(most, a[l]);
    }
    for (uint32_t l = 0; a != NULL && l < s->fabric->n_links; l++) {
        cr_assert(fabs(a[l] - b[l]) <= 1e-12 * most, "%s: link %u: %.17g, not %.17g", s->design.origin, l, b[l], a[l]);
    }
}

/* spray and what `file` and spray,tables= make of its dump. Returns whether there was a choice. */
static bool check_spray(const setup *s, const char *engine) {
    fab_router spray;
    fab_router file;
    fab_router again;
    fab_dag *dag = NULL;
    fab_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(fab_dag_new(s->fabric, s->next_hops, &dag, &err), FAB_OK);
    cr_assert_eq(start(s, engine, &spray, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_tables_write_phase(&spray, NULL, NULL, out, &err), FAB_OK, "%s", err.text);
    fclose(out);
    cr_assert_eq(read_back(s, text, strlen(text), &file, &err), FAB_OK, "%s: %s", err.where, err.text);
    double *want = loads_by(s, &spray, dag);
    bool splits = file.facts.splits;
    if (splits) {
        cr_assert(fab_router_facts_of(&file)->is_minimal);
        double *is = loads_by(s, &file, dag);
        check_same_loads(s, want, is);
        free(is);
    }
    char *groups = dump(s, "ecmp");
    cr_assert_eq(read_groups(s, engine, groups, &again, &err), FAB_OK, "%s: %s", err.where, err.text);
    double *is = loads_by(s, &again, dag);
    check_same_loads(s, want, is);
    free(is);
    free(want);
    free(groups);
    free(text);
    fab_router_release(&again);
    fab_router_release(&file);
    fab_router_release(&spray);
    fab_dag_free(dag);
    return splits;
}

Test(table_groups, spray_over_groups_that_were_read) {
    fab_rng rng = fab_rng_make(6, 0);
    uint32_t n_split = 0;
    for (int i = 0; i < 60; i++) {
        setup s = next_setup(&rng, i % 2 == 1);
        n_split += check_spray(&s, "spray");
        n_split += check_spray(&s, "spray,weights=capacity");
        discard(&s);
    }
    cr_expect_gt(n_split, 40, "%u", n_split);
}

/* Any shares, by given split and by file. */
Test(table_groups, loads_of_a_split) {
    fab_rng rng = fab_rng_make(7, 0);
    for (int i = 0; i < 60; i++) {
        setup s = next_setup(&rng, i % 2 == 1);
        fab_split split = random_split(&s, &rng);
        fab_router router = make_splitting(&s);
        fab_router file;
        fab_dag *dag = NULL;
        fab_error err = {0};
        char *text = router.facts.splits ? dump_split(&router, &split) : NULL;
        cr_assert_eq(fab_dag_new(s.fabric, s.next_hops, &dag, &err), FAB_OK);
        if (text != NULL) {
            cr_assert_eq(read_back(&s, text, strlen(text), &file, &err), FAB_OK, "%s: %s", err.where, err.text);
            double *want = loads_of(&s, &router, dag, &split);
            double *is = file.facts.splits ? loads_by(&s, &file, dag) : NULL;
            if (file.facts.splits) {
                check_same_loads(&s, want, is);
            }
            free(want);
            free(is);
            fab_router_release(&file);
        }
        free(text);
        free(split.weight);
        free(split.share);
        fab_dag_free(dag);
        fab_router_release(&router);
        discard(&s);
    }
}

/* The tables with switch `v` sending to switch-1 through switch `through` alone, malloc'd. */
static char *send_through(const setup *s, const char *text, uint32_t v, uint32_t through) {
    const fab_fabric *f = s->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t port = 0;
    char was[64];
    char now[64];
    fab_next_hop_list next = fab_next_hops_get(s->next_hops, v, 1);
    int at = snprintf(was, sizeof was, "\nswitch-%u switch-1 ", v);
    for (uint32_t i = 0; i < next.count; i++) {
        at += snprintf(was + at, sizeof was - (size_t)at, "%s%u", i > 0 ? "," : "", f->port[fab_next_hop(&next, i)]);
        port = fab_head(f, fab_next_hop(&next, i)) == base + through ? f->port[fab_next_hop(&next, i)] : port;
    }
    (void)snprintf(now, sizeof now, "\nswitch-%u switch-1 %u", v, port);
    return edit(text, was, now);
}

/* Longer ways all around: no bound over minimal paths holds. */
Test(table_groups, equally_far_is_enough_to_split) {
    setup s = make("torus:gpus=16,gpus-per-server=1,torus=4,4,down=1,radix=5");
    char *text = dump(&s, "ecmp");
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(read_back(&s, text, strlen(text), &router, &err), FAB_OK);
    cr_expect(fab_router_facts_of(&router)->is_minimal);
    fab_router_release(&router);
    /* from switch-0 to switch-1, its neighbour, through switch-4 and switch-12 */
    const fab_fabric *f = s.fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t detour[2];
    uint32_t direct = 0;
    uint32_t n = 0;
    for (uint32_t k = f->out_first[base]; k < f->out_first[base + 1]; k++) {
        uint32_t head = fab_head(f, f->out_link[k]) - base;
        uint32_t port = f->port[f->out_link[k]];
        direct = fab_head(f, f->out_link[k]) == base + 1 ? port : direct;
        if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_FABRIC && (head == 4 || head == 12)) {
            detour[n++] = port;
        }
    }
    cr_assert_eq(n, 2);
    char was[64];
    char now[64];
    (void)snprintf(was, sizeof was, "\nswitch-0 switch-1 %u\n", direct);
    (void)snprintf(now, sizeof now, "\nswitch-0 switch-1 %u*0.25,%u*0.75\n", detour[0], detour[1]);
    char *longer = edit(text, was, now);
    cr_expect_eq(read_back(&s, longer, strlen(longer), &router, &err), FAB_EINPUT); /* both may go over switch-0 */
    cr_expect_not_null(strstr(err.text, "may run in a circle"), "%s", err.text);
    static const uint32_t ONLY[][2] = {{4, 5}, {12, 13}, {3, 2}}; /* none of them over switch-0 */
    for (size_t i = 0; i < 3; i++) {
        char *next = send_through(&s, longer, ONLY[i][0], ONLY[i][1]);
        free(longer);
        longer = next;
    }
    err = (fab_error){0};
    cr_assert_eq(read_back(&s, longer, strlen(longer), &router, &err), FAB_OK, "%s: %s", err.where, err.text);
    cr_expect_not(fab_router_facts_of(&router)->is_minimal);
    double *share = shares_of(&router);
    fab_next_hop_list next = fab_next_hops_get(router.next_hops, 0, 1);
    cr_assert_eq(next.count, 2);
    cr_expect_eq(share[f->n_links + fab_next_hop(&next, 0)], 0.25);
    fab_router_release(&router);
    free(share);
    free(longer);
    free(text);
    discard(&s);
}

/* Weights are shares of their sum. */
Test(table_groups, whole_weights_are_split_in_proportion) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = dump(&s, "ecmp");
    char *weighted = edit(text, "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*1,4*3");
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(read_back(&s, weighted, strlen(weighted), &router, &err), FAB_OK, "%s: %s", err.where, err.text);
    double *share = shares_of(&router);
    fab_next_hop_list next = fab_next_hops_get(router.next_hops, 0, 1);
    cr_expect_eq(share[s.fabric->n_links + fab_next_hop(&next, 0)], 0.25);
    cr_expect_eq(share[s.fabric->n_links + fab_next_hop(&next, 1)], 0.75);
    next = fab_next_hops_get(router.next_hops, 0, 2);
    cr_expect_eq(share[2 * s.fabric->n_links + fab_next_hop(&next, 0)], 0.5);
    fab_routes routes = {0};
    fab_traffic traffic = {0};
    cr_assert_eq(fab_traffic_make("pattern:ring", &s.design, s.fabric, 1, &traffic, &err), FAB_OK);
    cr_expect_eq(fab_route_phase(&router, &traffic.phases[0], 1, &routes, &err), FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "a flow has no routes of its own"), "%s", err.text);
    fab_routes_release(&routes);
    fab_traffic_release(&traffic);
    free(share);
    fab_router_release(&router);
    free(weighted);
    free(text);
    discard(&s);
}
