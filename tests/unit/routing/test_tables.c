/* Forwarding tables: written, read back, and refused where they are wrong. */
#include "fab/routing.h"
#include "tables_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const TREES[] = {
    "clos:gpus=32,gpus-per-server=4,radix=16,tiers=2",
    "clos:gpus=96,gpus-per-server=2,radix=8",
    "clos:gpus=48,gpus-per-server=4,radix=16/12/8,taper=3/2,tiers=3,pod=24",
    "fat-tree:k=4,gpus-per-server=1",
    "fat-tree:gpus=40,gpus-per-server=1,radix=8,taper=1.5",
    "rail-spine:gpus=64,gpus-per-server=8,radix=8,taper=2",
    "rail-spine:gpus=64,gpus-per-server=8,planes=2,radix=16",
    "rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8",
};

static const char *const DIRECT[] = {
    "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7",
    "torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9",
};

/* From the first line feed on, every one becomes CR LF. malloc'd. */
static char *with_crlf(const char *text) {
    char *out = malloc(2 * strlen(text) + 1);
    size_t n = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            out[n++] = '\r';
        }
        out[n++] = *text;
    }
    out[n] = '\0';
    return out;
}

static void check_round_trip(const char *design, const char *engine) {
    setup s = make(design);
    char file[96];
    char *text = dump(&s, engine);
    char *crlf = with_crlf(text);
    check_same_routes(&s, engine, text);
    check_same_routes(&s, engine, crlf);
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(read_back(&s, text, strlen(text), &router, &err), FAB_OK);
    fab_router_release(&router);
    (void)snprintf(file, sizeof file, "file,path=%s", s.path);
    char *again = dump(&s, file); /* what was read is written as it stood, but for the engine's name */
    cr_assert_str_eq(strstr(again, "\nfabric"), strstr(text, "\nfabric"), "%s: %s", design, engine);
    free(again);
    free(crlf);
    free(text);
    discard(&s);
}

Test(tables, round_trip_gives_the_same_routes) {
    for (size_t i = 0; i < sizeof TREES / sizeof TREES[0]; i++) {
        check_round_trip(TREES[i], "dmodk");
        check_round_trip(TREES[i], "pinned");
        check_round_trip(TREES[i], "pinned,slices=3");
        check_round_trip(TREES[i], "updn");
    }
    for (size_t i = 0; i < sizeof DIRECT / sizeof DIRECT[0]; i++) {
        check_round_trip(DIRECT[i], "updn");
    }
}

/* In an intact tree the shortest route is up and down, and both take the same digit. */
Test(tables, updn_is_dmodk_in_a_tree) {
    for (size_t i = 0; i < sizeof TREES / sizeof TREES[0]; i++) {
        setup s = make(TREES[i]);
        char *updn = dump(&s, "updn");
        check_same_routes(&s, "dmodk", updn);
        free(updn);
        discard(&s);
    }
}

/* Of fat-tree:k=4: leaf-0 has NICs at ports 1 and 2, spine-0 and spine-1 at 3 and 4. place: behind the file's name. */
static const wrong WRONG[] = {
    {"file", "fabriscope-tables 1", "fabriscope-tables 2", ":1:1", "'fabriscope-tables 1' was expected", FAB_EINPUT},
    {"file", "nics=16", "nics=17", ":3:1", "'fabric nics=17 switches=20 cables=48' where 'fabric nics=16", FAB_EINPUT},
    {"file", "leaf-0 leaf-1", "leaf-8 leaf-1", ":4:1", "'leaf-8' is no switch", FAB_EINPUT},
    {"file", "leaf-0 leaf-1", "leaf-0 gpu-1", ":4:8", "'gpu-1' is no switch", FAB_EINPUT},
    {"file", "leaf-0 leaf-1", "leaf-0 leaf-", ":4:8", "'leaf-' is no switch", FAB_EINPUT},
    {"file", "leaf-0 leaf-1", "leaf-0 spine-1", ":4:8", "has no NIC", FAB_EINPUT},
    {"file", "leaf-0 leaf-1", "leaf-0 leaf-0", ":4:8", "is the switch itself", FAB_EINPUT},
    {"file", "leaf-0 leaf-2", "leaf-0 leaf-1", ":5:1", "'leaf-0 leaf-1' stands in line 4 already", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3 99", ":4:17", "'99' is no port in use of leaf-0, whose last is 4",
     FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3 99999999999999999999", ":4:17", "is neither a port", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 0 4", ":4:15", "'0' is no port in use", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3 2", ":4:17", "'2' leads to nic-1", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3 x", ":4:17", "'x' is neither a port number nor -", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3,4", ":5:17", "'4' is a second entry, but line 4 has a group",
     FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3*1 4", ":4:19", "'4' is a second entry, but line 4 has a group",
     FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 3 4 3", ":4:19", "'3' is more than", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4", "leaf-0 leaf-1", ":4:14", "no entry for port 1 of leaf-1", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4\n", "", ":155:5", "'152' is not the number of lines read, 151", FAB_EINPUT},
    {"file", "leaf-0 leaf-1 3 4\n", "# leaf-0 leaf-1 3 4\n", ":156:5", "is not the number", FAB_EINPUT},
    {"file", "end 152\n", "", ":155:1", "cut off", FAB_EINPUT},
    {"file", "end 152\n", "end 152 1\n", ":156:9", "'1' stands behind the end", FAB_EINPUT},
    {"file", "end 152\n", "end 152\nleaf-0 leaf-1 3 4\n", ":157:1", "'leaf-0' stands behind the end", FAB_EINPUT},
};

Test(tables, what_is_wrong_is_told_with_its_place) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = dump(&s, "dmodk");
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        check_wrong(&s, text, &WRONG[i]);
    }
    free(text);
    discard(&s);
}

Test(tables, a_missing_pair_is_named) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = dump(&s, "dmodk");
    char *shorter = edit(text, "leaf-0 leaf-1 3 4\n", "");
    char *broken = edit(shorter, "end 152", "end 151");
    cr_expect_eq(read_back(&s, broken, strlen(broken), &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "no line for leaf-0 to leaf-1"), "%s", err.text);
    free(broken);
    free(shorter);
    free(text);
    discard(&s);
}

Test(tables, a_loop_names_switch_and_destination) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = dump(&s, "dmodk");
    char *broken = edit(text, "spine-0 leaf-1 2", "spine-0 leaf-1 1"); /* back to leaf-0, which sends to spine-0 */
    cr_expect_eq(read_back(&s, broken, strlen(broken), &router, &err), FAB_EINPUT);
    cr_expect_not_null(
        strstr(err.text, "packets at leaf-0 for port 1 of leaf-1 run in a circle: leaf-0 > spine-0 > leaf-0"), "%s",
        err.text);
    cr_expect_not_null(strstr(err.where, ":4:1"), "%s", err.where);
    free(broken);
    free(text);
    discard(&s);
}

/* "-" is no route, on purpose: an error only for a flow that needs it. */
Test(tables, no_route_is_an_error_of_the_flow) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = dump(&s, "dmodk");
    char *holed = edit(text, "leaf-0 leaf-1 3 4", "leaf-0 leaf-1 -");
    cr_assert_eq(read_back(&s, holed, strlen(holed), &router, &err), FAB_OK, "%s: %s", err.where, err.text);
    check_unreachable(&s, &router);
    fab_router_release(&router);
    free(holed);
    free(text);
    discard(&s);
}

/* Cut anywhere or with any byte replaced: an error or, where the text still says the same, the same tables. */
Test(tables, damage_never_goes_unnoticed) {
    setup s = make("clos:gpus=8,gpus-per-server=2,radix=4,tiers=2");
    fab_router router;
    char *text = dump(&s, "dmodk");
    size_t n = strlen(text);
    for (size_t cut = 0; cut + 1 < n; cut++) {
        cr_assert_neq(read_back(&s, text, cut, &router, NULL), FAB_OK, "cut at byte %zu", cut);
    }
    for (size_t at = 0; at < n; at++) {
        char was = text[at];
        text[at] = '\0';
        fab_error err = {0};
        cr_assert_eq(read_back(&s, text, n, &router, &err), FAB_EINPUT, "zero byte at %zu", at);
        cr_assert_not_null(strstr(err.text, "a zero byte"), "%s", err.text);
        static const char BYTES[] = {'\xff', '\n', ' ', '#', ',', '-', '9'};
        for (size_t k = 0; k < sizeof BYTES; k++) {
            text[at] = BYTES[k];
            if (read_back(&s, text, n, &router, NULL) == FAB_OK) {
                fab_router_release(&router);
            }
        }
        text[at] = was;
    }
    free(text);
    discard(&s);
}

Test(tables, a_file_is_needed) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    cr_expect_eq(start(&s, "file", &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "path=FILE"), "%s", err.text);
    err = (fab_error){0};
    cr_expect_eq(start(&s, "file,path=/nowhere/at-all", &router, &err), FAB_EIO);
    discard(&s);
}
