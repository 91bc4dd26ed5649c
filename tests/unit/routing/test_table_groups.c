/* Tables with groups of next hops: written, read back as groups to hash over, and refused where they are wrong. */
#include "tables_fixture.h"
#include "draws.h"

static void check_same_groups(const setup *s, const fab_next_hops *a, const fab_next_hops *b) {
    for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
        for (uint32_t leaf = 0; leaf < a->n_leaves; leaf++) {
            fab_next_hop_list x = fab_next_hops_get(a, v, leaf);
            fab_next_hop_list y = fab_next_hops_get(b, v, leaf);
            cr_assert_eq(x.count, y.count, "%s: switch %u, leaf %u", s->design.origin, v, leaf);
            for (uint32_t i = 0; i < x.count; i++) {
                cr_assert_eq(fab_next_hop(&x, i), fab_next_hop(&y, i), "%s: switch %u, leaf %u", s->design.origin, v,
                             leaf);
            }
        }
    }
}

/* --- hashing ----------------------------------------------------------------------------------------------------- */

static const char *const HASHES[] = {
    "ecmp",
    "ecmp,hash=ideal,qp=3",
    "ecmp,hash=crc16/crc32c/xor,qp=4,fields=5tuple+dqp,hash-seed=7/8",
    "ecmp,qp=2,spread=round-robin",
    "ecmp,member-loss=resilient,offset=0",
    "ecmp,weights=capacity",
    "ecmp,hash=ideal,weights=capacity,member-loss=resilient,qp=2",
};

static void check_hash(const setup *s, const char *engine) {
    char *text = dump(s, engine);
    fab_router one;
    fab_router two;
    fab_error err = {0};
    cr_assert_eq(start(s, engine, &one, &err), FAB_OK);
    cr_assert_eq(read_groups(s, engine, text, &two, &err), FAB_OK, "%s: %s: %s", s->design.origin, err.where, err.text);
    check_same_routes_of(s, &one, &two);
    if (!one.by_capacity) { /* weights make more groups */
        check_same_groups(s, s->next_hops, two.next_hops);
    }
    char *again = dump_router(&two);
    cr_assert_str_eq(strstr(again, "\nfabric"), strstr(text, "\nfabric"), "%s: %s", s->design.origin, engine);
    free(again);
    fab_router_release(&one);
    fab_router_release(&two);
    free(text);
}

Test(table_groups, hashing_over_groups_that_were_read) {
    fab_rng rng = fab_rng_make(1, 0);
    for (int i = 0; i < DRAWS(60); i++) {
        setup s = next_setup(&rng, i % 2 == 1);
        for (size_t k = 0; k < sizeof HASHES / sizeof HASHES[0]; k++) {
            check_hash(&s, HASHES[k]);
        }
        discard(&s);
    }
}

Test(table_groups, destination_tables_of_random_designs) {
    static const char *const ENGINES[] = {"dmodk", "pinned", "pinned,slices=3", "updn"};
    fab_rng rng = fab_rng_make(2, 0);
    for (int i = 0; i < 60; i++) {
        setup s = next_setup(&rng, false);
        for (size_t k = 0; k < sizeof ENGINES / sizeof ENGINES[0]; k++) {
            fab_router router;
            if (start(&s, ENGINES[k], &router, NULL) != FAB_OK) { /* needs a tree */
                continue;
            }
            fab_router_release(&router);
            char *text = dump(&s, ENGINES[k]);
            check_same_routes(&s, ENGINES[k], text);
            free(text);
        }
        discard(&s);
    }
}

/* Written weights need no weights=capacity to be heard. */
Test(table_groups, weights_of_the_file_win) {
    fab_rng rng = fab_rng_make(3, 0);
    setup s = make("clos:gpus=32,gpus-per-server=4,radix=16,tiers=2");
    make_uneven(s.fabric, &rng);
    char *text = dump(&s, "ecmp,weights=capacity");
    fab_router weighted;
    fab_router plain;
    fab_error err = {0};
    cr_assert_not_null(strchr(text, '*'));
    cr_assert_eq(start(&s, "ecmp,weights=capacity,qp=8", &weighted, &err), FAB_OK);
    cr_assert_eq(read_groups(&s, "ecmp,qp=8", text, &plain, &err), FAB_OK, "%s", err.text);
    check_same_routes_of(&s, &weighted, &plain);
    fab_router_release(&weighted);
    fab_router_release(&plain);
    free(text);
    discard(&s);
}

/* Leaf-1 is on the way from leaf-0 to leaf-2 as well: longer, but no circle. */
Test(table_groups, groups_need_not_be_minimal) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = dump(&s, "ecmp");
    char *narrow = edit(text, "leaf-1 leaf-2 3,4", "leaf-1 leaf-2 4");
    char *detour = edit(narrow, "spine-0 leaf-2 3,4", "spine-0 leaf-2 2,3,4");
    fab_router router;
    fab_traffic traffic = {0};
    fab_routes routes = {0};
    fab_error err = {0};
    cr_assert_eq(read_groups(&s, "ecmp,hash=ideal,qp=64", detour, &router, &err), FAB_OK, "%s: %s", err.where,
                 err.text);
    cr_assert_eq(fab_traffic_make("pattern:shift,by=4", &s.design, s.fabric, 1, &traffic, &err), FAB_OK);
    cr_assert_eq(fab_route_phase(&router, &traffic.phases[0], 1, &routes, &err), FAB_OK, "%s", err.text);
    uint32_t n_detours = 0;
    for (size_t p = 0; p < routes.flow_first[1]; p++) { /* gpu-0 on leaf-0 to gpu-4 on leaf-2 */
        n_detours += routes.path_first[p + 1] - routes.path_first[p] > 8;
    }
    cr_expect(n_detours > 4 && n_detours < 20, "%u", n_detours); /* half take spine-0, a third of these the detour */
    fab_routes_release(&routes);
    fab_traffic_release(&traffic);
    fab_router_release(&router);
    cr_expect_eq(read_back(&s, detour, strlen(detour), &router, &err), FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "leaf-2 is 5 hops away through port 2 and 3 through port 3"), "%s", err.text);
    free(detour);
    free(narrow);
    free(text);
    discard(&s);
}

/* "-" is no route, on purpose, where nobody sends to it: an error only for a flow that starts there. */
Test(table_groups, holes) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = dump(&s, "ecmp");
    char *holed = edit(text, "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 -");
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(read_groups(&s, "ecmp", holed, &router, &err), FAB_OK, "%s: %s", err.where, err.text);
    char *again = dump_router(&router);
    cr_expect_str_eq(strstr(again, "\nfabric"), strstr(holed, "\nfabric"));
    check_unreachable(&s, &router);
    fab_router_release(&router);
    free(again);
    free(holed);
    free(text);
    discard(&s);
}

/* --- what is wrong ----------------------------------------------------------------------------------------------- */

/* Of ecmp on fat-tree:k=4: leaf-0 reaches spine-0 and spine-1 through ports 3 and 4; spine-0 leaf-0 and leaf-1 through
 * 1 and 2, core-0 and core-1 through 3 and 4. */
static const wrong WRONG[] = {
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3,4 3", ":4:19", "'3' is a second entry, but line 4 has", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1", ":4:14", "expected a group of ports", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 4,3", ":4:17", "'3' does not ascend", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3,3", ":4:17", "'3' does not ascend", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3,", ":4:17", "expected a port number", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 ,3", ":4:15", "expected a port number", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3,-", ":4:17", "'-' is neither a port", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3,5", ":4:17", "'5' is no port in use of leaf-0", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 2,3", ":4:15", "'2' leads to nic-1", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4", ":4:19", "'4' differs from the member before", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4*", ":4:21", "expected a weight", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4*0", ":4:21", "'0' is no weight above 0", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4*-1", ":4:21", "'-1' is no weight", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4*inf", ":4:21", "'inf' is no weight", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*2,4*1e999", ":4:21", "'1e999' is no weight", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*1e308,4*1e308", ":4:15", "without a finite sum", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*0x1p3,4*1", ":4:17", "'0x1p3' is no weight", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*0.5,4*0.5", ":4:17", "'0.5' is no whole number", FAB_EUNSUPPORTED},
    {"ecmp", "leaf-0 leaf-1 3,4", "leaf-0 leaf-1 3*16777216,4*1", ":4:15", "16777217 together", FAB_EUNSUPPORTED},
    {"ecmp", "spine-0 leaf-1 2", "spine-0 leaf-1 1,2", ":4:1", "packets at leaf-0 for leaf-1 may run in a circle",
     FAB_EINPUT},
    {"file", "spine-0 leaf-1 2", "spine-0 leaf-1 1,2", ":4:1", "packets at leaf-0 for leaf-1 may run in a circle",
     FAB_EINPUT},
    {"ecmp", "spine-0 leaf-1 2", "spine-0 leaf-1 -", ":4:1", "port 3 leads to spine-0, which has no route to leaf-1",
     FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1 3,4\n", "", ":155:5", "'152' is not the number of lines read", FAB_EINPUT},
    {"ecmp", "end 152\n", "", ":155:1", "cut off", FAB_EINPUT},
    {"ecmp", "nics=16", "nics=17", ":3:1", "'fabric nics=16", FAB_EINPUT},
    {"ecmp", "leaf-0 leaf-1", "leaf-8 leaf-1", ":4:1", "'leaf-8' is no switch", FAB_EINPUT},
};

Test(table_groups, what_is_wrong_is_told_with_its_place) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = dump(&s, "ecmp");
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        check_wrong(&s, text, &WRONG[i]);
    }
    free(text);
    discard(&s);
}

/* Tables of single next hops are groups of one; entries by NIC port are not. */
Test(table_groups, tables_of_single_next_hops) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = dump(&s, "dmodk");
    cr_expect_eq(read_groups(&s, "ecmp", text, &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "'4' is a second entry; groups serve all NIC ports of a leaf"), "%s", err.text);
    free(text);
    discard(&s);
    s = make("rail-only:gpus=16,gpus-per-server=8,radix=8"); /* no switch has a choice */
    text = dump(&s, "ecmp");
    cr_expect_eq(read_groups(&s, "ecmp", text, &router, &err), FAB_OK, "%s", err.text);
    fab_router_release(&router);
    free(text);
    discard(&s);
    err = (fab_error){0};
    s = make("fat-tree:k=4,gpus-per-server=1");
    cr_expect_eq(start(&s, "dmodk,tables=x", &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "no option 'tables'"), "%s", err.text);
    discard(&s);
}

/* Bytes of a dump with weights are replaced, dropped and doubled at random: an error, or tables that can be used. */
Test(table_groups, damage_never_crashes) {
    static const char BYTES[] = "0123456789,,,***.-eE \n#x";
    fab_rng rng = fab_rng_make(5, 0);
    setup s = make("clos:gpus=8,gpus-per-server=2,radix=4,tiers=2");
    make_uneven(s.fabric, &rng);
    char *text = dump(&s, "ecmp,weights=capacity");
    size_t n = strlen(text);
    char *broken = malloc(2 * n);
    uint32_t n_read = 0;
    for (int i = 0; i < DRAWS(3000); i++) {
        size_t m = n;
        memcpy(broken, text, n);
        for (uint64_t k = fab_rng_below(&rng, 3) + 1; k > 0; k--) {
            size_t at = fab_rng_below(&rng, m);
            switch (fab_rng_below(&rng, 4)) {
            case 0: m = at > 0 && fab_rng_below(&rng, 8) == 0 ? at : m; break;
            case 1: memmove(broken + at, broken + at + 1, --m - at); break;
            case 2: memmove(broken + at + 1, broken + at, m++ - at); break;
            default: broken[at] = BYTES[fab_rng_below(&rng, sizeof BYTES - 1)];
            }
        }
        broken[m] = '\0';
        fab_router router;
        if (read_back(&s, broken, m, &router, NULL) == FAB_OK) {
            n_read++;
            free(router.facts.splits ? shares_of(&router) : NULL);
            fab_router_release(&router);
        }
        if (read_groups(&s, "ecmp", broken, &router, NULL) == FAB_OK) {
            check_same_routes_of(&s, &router, &router);
            fab_router_release(&router);
        }
    }
    cr_expect_gt(n_read, DRAWS(30)); /* damage to the comment, and to weights */
    free(broken);
    free(text);
    discard(&s);
}
