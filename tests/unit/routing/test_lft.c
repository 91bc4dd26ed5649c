/* Tables as a subnet manager dumps them: written, read back, refused where they are wrong, and the names of nodes. */
#include "fab/ib_names.h"
#include "fab/memory.h"
#include "tables_fixture.h"
#include "draws.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const DESIGNS[] = {
    "clos:gpus=32,gpus-per-server=4,radix=16,tiers=2",
    "clos:gpus=48,gpus-per-server=4,radix=16/12/8,taper=3/2,tiers=3,pod=24",
    "fat-tree:k=4,gpus-per-server=1",
    "fat-tree:xgft=2;6,4;1,3;1,2,gpus-per-server=2",
    "rail-spine:gpus=64,gpus-per-server=8,radix=8,taper=2",
    "rail-spine:gpus=64,gpus-per-server=8,planes=2,radix=16",
    "rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8",
};
#define N_DESIGNS (sizeof DESIGNS / sizeof DESIGNS[0])

/* The dump of a router, malloc'd; NULL where it has none. */
static char *lft_of(const fab_router *router, fab_error *err) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fab_status status = fab_tables_write_lft(router, out, err);
    (void)fclose(out);
    if (status != FAB_OK) {
        free(text);
        return NULL;
    }
    return text;
}

static char *lft(const setup *s, const char *engine) {
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(start(s, engine, &router, &err), FAB_OK, "%s", err.text);
    char *text = lft_of(&router, &err);
    cr_assert_not_null(text, "%s", err.text);
    fab_router_release(&router);
    return text;
}

/* A copy with every line handed to `change`, which writes the new one into `out` (256 bytes). malloc'd. */
static char *map_lines(const char *text, void (*change)(const char *line, char *out)) {
    char *copy = malloc(4 * strlen(text) + 256);
    size_t n = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        char line[256];
        char out[256];
        (void)snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        change(line, out);
        n += (size_t)sprintf(copy + n, "%s\n", out);
    }
    return copy;
}

/* Our GUIDs, but names of others. */
static void rename_nodes(const char *line, char *out) {
    const char *quote = strchr(line, '\'');
    if (quote == NULL) {
        (void)strcpy(out, line);
    } else {
        (void)sprintf(out, "%.*s'it''s # (a) box'%s", (int)(quote - line), line, strrchr(line, '\'') + 1);
    }
}

/* Our names, but GUIDs of others. */
static void change_guids(const char *line, char *out) {
    char *guid = NULL;
    (void)strcpy(out, line);
    guid = strstr(out, "0x02fab");
    if (guid != NULL) {
        (void)memcpy(guid, "0x0002c9", 8);
    }
}

/* LIDs by another formula. */
static void change_lids(const char *line, char *out) {
    unsigned lid = 0;
    (void)strcpy(out, line);
    if (sscanf(line, "0x%x", &lid) == 1) {
        (void)sprintf(out, "0x%04x%s", 3 * lid + 100, line + 6);
    } else if (strstr(line, "lids dumped") != NULL) {
        (void)strcpy(out, "49151 lids dumped");
    }
}

/* As dump_lfts says the same. */
static void as_dump_lfts(const char *line, char *out) {
    static uint32_t n_lines;
    const char *guid = strstr(line, " guid ");
    const char *quote = strchr(line, '\'');
    if (line[0] == 'U') {
        (void)sprintf(out,
                      "Unicast lids [0x0-0x24] of switch DR path slid 0; dlid 0; 0,1,3%.*s%.*s):\n"
                      "  Lid  Out   Destination\n       Port     Info ",
                      (int)(quote - guid), guid, (int)(strrchr(line, '\'') - quote - 1), quote + 1);
        n_lines = 0;
    } else if (line[0] == '0') {
        (void)sprintf(out, "%.10s : (%s)", line, line + 13);
        n_lines++;
    } else {
        (void)sprintf(out, "%u valid lids dumped \n", n_lines);
    }
}

static void check_same_as(const setup *s, const char *engine, const char *text, const char *what) {
    fab_router one;
    fab_router two;
    fab_error err = {0};
    cr_assert_eq(start(s, engine, &one, &err), FAB_OK);
    cr_assert_eq(read_back(s, text, strlen(text), &two, &err), FAB_OK, "%s, %s: %s: %s", s->design.origin, what,
                 err.where, err.text);
    check_same_routes_of(s, &one, &two);
    fab_router_release(&one);
    fab_router_release(&two);
}

static void check_round_trip(const setup *s, const char *engine) {
    static const struct {
        const char *name;
        void (*change)(const char *line, char *out);
    } WAYS[] = {{"other descriptions", rename_nodes},
                {"other GUIDs", change_guids},
                {"other LIDs", change_lids},
                {"dump_lfts", as_dump_lfts}};
    char *text = lft(s, engine);
    check_same_as(s, engine, text, "as written");
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        char *other = map_lines(text, WAYS[i].change);
        check_same_as(s, engine, other, WAYS[i].name);
        free(other);
    }
    char file[96];
    put_file(s, text, strlen(text));
    (void)snprintf(file, sizeof file, "file,path=%s", s->path);
    char *again = lft(s, file);
    cr_assert_str_eq(again, text, "%s, %s", s->design.origin, engine);
    free(again);
    free(text);
}

Test(lft, round_trip_gives_the_same_routes) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i]);
        check_round_trip(&s, "dmodk");
        check_round_trip(&s, "pinned");
        check_round_trip(&s, "updn");
        discard(&s);
    }
}

Test(lft, round_trip_of_random_designs) {
    fab_rng rng = fab_rng_make(27, 0);
    for (size_t i = 0; i < DRAWS(40); i++) {
        setup s = next_setup(&rng, false);
        fab_error err = {0};
        if (fab_ib_check(s.fabric, &err) == FAB_OK) {
            check_round_trip(&s, "updn");
        } else {
            cr_assert_eq(err.code, FAB_EUNSUPPORTED);
        }
        discard(&s);
    }
}

/* Every port that is written leads nearer to the switch that the LID is of. */
Test(lft, switches_are_reached_by_a_shortest_way) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i]);
        const fab_fabric *f = s.fabric;
        uint32_t base = f->first[FAB_NODE_SWITCH];
        uint32_t n = fab_n_switches(f);
        uint32_t *hop = calloc((size_t)n * n, sizeof *hop); /* head of the entry of v for d, + 1 */
        char *text = lft(&s, "updn");
        uint32_t v = 0;
        for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
            unsigned lid = 0;
            unsigned port = 0;
            if (sscanf(line, "Unicast lids [0-%*u] of switch Lid %u", &lid) == 1) {
                v = lid - 1 - fab_n_of(f, FAB_NODE_NIC);
            } else if (sscanf(line, "0x%x %u # Switch", &lid, &port) == 2 && lid > fab_n_of(f, FAB_NODE_NIC)) {
                uint32_t d = lid - 1 - fab_n_of(f, FAB_NODE_NIC);
                uint32_t head = v;
                for (uint32_t k = f->out_first[base + v]; k < f->out_first[base + v + 1]; k++) {
                    head = f->port[f->out_link[k]] == port ? fab_head(f, f->out_link[k]) - base : head;
                }
                cr_assert_eq(port == 0, v == d);
                cr_assert(v == d || head != v);
                hop[(size_t)d * n + v] = head + 1;
            }
        }
        /* distances by relaxing every link n times would be slow: all at once over cables until nothing changes */
        for (uint32_t d = 0; d < n; d++) {
            uint32_t *far = malloc(n * sizeof *far);
            bool changed = true;
            for (uint32_t k = 0; k < n; k++) {
                far[k] = k == d ? 0 : 1000000;
            }
            while (changed) {
                changed = false;
                for (uint32_t l = 0; l < f->n_links; l++) {
                    if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC &&
                        far[fab_head(f, l) - base] + 1 < far[fab_tail(f, l) - base]) {
                        far[fab_tail(f, l) - base] = far[fab_head(f, l) - base] + 1;
                        changed = true;
                    }
                }
            }
            for (uint32_t k = 0; k < n; k++) {
                uint32_t next = hop[(size_t)d * n + k];
                cr_assert_eq(next != 0, far[k] < 1000000, "%s", DESIGNS[i]);
                cr_assert(k == d || next == 0 || far[next - 1] + 1 == far[k], "%s", DESIGNS[i]);
            }
            free(far);
        }
        free(hop);
        free(text);
        discard(&s);
    }
}

Test(lft, names_lead_back_to_their_nodes) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i]);
        const fab_fabric *f = s.fabric;
        uint8_t *seen = calloc(f->n_nodes + 1, 1);
        for (fab_node_id v = f->first[FAB_NODE_NIC]; v < f->n_nodes; v++) {
            char name[FAB_IB_DESCRIPTION];
            char plain[32];
            uint32_t port = 0;
            if (fab_kind_of(f, v) == FAB_NODE_DOMAIN) {
                continue;
            }
            cr_assert_eq(fab_ib_find_guid(f, fab_ib_guid(f, v, 0), &port), v);
            cr_assert_eq(port, 0);
            (void)fab_ib_description(f, v, name);
            (void)fab_node_name(f, v, plain);
            cr_assert_eq(fab_ib_find_description(f, name, strlen(name)), v, "%s", name);
            cr_assert_eq(fab_ib_find_description(f, plain, strlen(plain)), v, "%s", plain);
            cr_assert_lt(fab_ib_lid(f, v) - 1, f->n_nodes);
            cr_assert_eq(seen[fab_ib_lid(f, v)]++, 0);
            if (fab_kind_of(f, v) == FAB_NODE_NIC) {
                uint32_t nic = v - f->first[FAB_NODE_NIC];
                cr_assert_eq(fab_ib_find_guid(f, fab_ib_guid(f, v, 2), &port), v);
                cr_assert_eq(port, 2);
                int n = snprintf(name, sizeof name, "server-%u mlx5_%u", nic / f->nics_per_server,
                                 nic % f->nics_per_server);
                cr_assert_eq(fab_ib_find_description(f, name, (size_t)n), v, "%s", name);
            }
        }
        static const char *const NOBODY[] = {
            "",
            "leaf-",
            "leaf-99999",
            "gpu-0",
            "domain-0",
            "server-0",
            "leaf-0 ",
            "server-0 HCA-0",
            "server-0 HCA-999",
            "server-0 mlx5_9",
            "server-0 HCA-1x",
            "server- HCA-1",
            "server-0 mlx5_",
            "server-4294967296 HCA-1",
            "leaf-0123456789012345678901234567890123456789",
        };
        for (size_t k = 0; k < sizeof NOBODY / sizeof NOBODY[0]; k++) {
            cr_assert_eq(fab_ib_find_description(f, NOBODY[k], strlen(NOBODY[k])), FAB_NONE, "'%s'", NOBODY[k]);
        }
        uint32_t port = 0;
        cr_assert_eq(fab_ib_find_guid(f, 0, &port), FAB_NONE);
        cr_assert_eq(fab_ib_find_guid(f, UINT64_MAX, &port), FAB_NONE);
        cr_assert_eq(fab_ib_find_guid(f, fab_ib_guid(f, f->n_nodes - 1, 0) + 256, &port), FAB_NONE);
        cr_assert_eq(fab_ib_find_guid(f, fab_ib_guid(f, f->n_nodes - 1, 0) + 1, &port), FAB_NONE);
        free(seen);
        discard(&s);
    }
}

/* fat-tree:k=4: leaf-0 has NICs at ports 1 and 2, spine-0 and spine-1 at 3 and 4; its table is the first. */
static const struct {
    const char *old, *new, *place, *message;
    fab_status status;
} WRONG[] = {
    {"0x0001 001 #", "0x0000 001 #", ":2:1", "'0x0000' is no unicast LID", FAB_EINPUT},
    {"0x0001 001 #", "0xc000 001 #", ":2:1", "'0xc000' is no unicast LID: they are 0x0001 to 0xbfff", FAB_EINPUT},
    {"0x0001 001 #", "0x 001 #", ":2:1", "'0x' is no unicast LID", FAB_EINPUT},
    {"0x0002 002 #", "0x0001 002 #", ":3:1", "'0x0001' does not ascend", FAB_EINPUT},
    {"0x0001 001 #", "0x0001 x01 #", ":2:8", "'x01' is no port number", FAB_EINPUT},
    {"0x0001 001 #", "0x0001", ":2:8", "'Channel' is no port number", FAB_EINPUT},
    {"0x0001 001 #", "0x0001 001", ":2:12", "where '#' or ': ('", FAB_EINPUT},
    {"0x0001 001 #", "0x0001 000 #", ":2:8", "'000' is the switch itself, and the LID is of an adapter", FAB_EINPUT},
    {"0x0001 001 #", "0x0001 002 #", ":2:8", "'002' is not where it is plugged in: that is port 1 of leaf-0",
     FAB_EINPUT},
    {"0x0001 001 #", "0x0001 003 #", ":2:8", "is not where it is plugged in", FAB_EINPUT},
    {"0x0001 001 #", "0x0001 255 #", ":2:8", "'255' is no port in use of leaf-0, whose last is 4", FAB_EINPUT},
    {"0x0003 003 #", "0x0003 002 #", ":4:8", "'002' leads to nic-1; a next hop is a switch", FAB_EINPUT},
    {"# Channel Adapter portguid 0x02fab20000000001", "# Router portguid 0x02fab20000000001", ":2:14",
     "'Router' to other", FAB_EUNSUPPORTED},
    {"# Channel Adapter portguid 0x02fab20000000001", "# Sloth portguid 0x1", ":2:14", "where 'Channel Adapter",
     FAB_EINPUT},
    {"portguid 0x02fab20000000001", "portguid 0x02fab20000000002", ":2:60", "has the GUID of its port 2", FAB_EINPUT},
    {"portguid 0x02fab20000000001", "portguid 0x02fab20000000101", ":2:60", "has the GUID of server-1 HCA-1",
     FAB_EINPUT},
    {"portguid 0x02fab20000000001: 'server-0 HCA-1'", "portguid 0x1: 'server-77 HCA-1'", ":2:45",
     "'server-77 HCA-1' names no NIC of this fabric, nor does the GUID 0x0000000000000001", FAB_EINPUT},
    {"portguid 0x02fab20000000001: 'server-0 HCA-1'", "portguid 0x1: 'leaf-0'", ":2:45", "names no NIC", FAB_EINPUT},
    {"portguid 0x02fab20000000001:", "portguid 0x02fab200000000012:", ":2:41", "is no GUID of up to 16", FAB_EINPUT},
    {"portguid 0x02fab20000000001:", "portguid 0x:", ":2:41", "expected a GUID", FAB_EINPUT},
    {"0x0011 000 #", "0x0011 001 #", ":18:8", "'001' is a port, and the LID is of the switch itself", FAB_EINPUT},
    {"0x0012 003 #", "0x0012 000 #", ":19:8", "'000' is the switch itself, and the LID is of another", FAB_EINPUT},
    {"0x0012 003 #", "0x0012 001 #", ":19:8", "'001' leads to nic-0", FAB_EINPUT},
    {"36 lids dumped\n", "", ":38:1", "where the line 'N lids dumped' of the table before was expected", FAB_EINPUT},
    {"36 lids dumped\n", "35 lids dumped\n", ":38:1", "'35' LIDs, but 36 lines were read", FAB_EINPUT},
    {"36 lids dumped\n", "37 valid lids dumped\n", ":38:1", "'37' LIDs, but 36 lines were read", FAB_EINPUT},
    {"36 lids dumped\n", "36 lids\n", ":38:4", "'lids' where 'lids dumped' was expected", FAB_EINPUT},
    {"36 lids dumped\n", "36 lids dumped\n0x0001 001 # x\n", ":39:1", "the head of a table, was expected", FAB_EINPUT},
    {"guid 0x02fab10000000100 ('leaf-1')", "guid 0x02fab10000000000 ('leaf-0')", ":39:64",
     "'leaf-0' has a table in line 1 already", FAB_EINPUT},
    {"guid 0x02fab10000000100 ('leaf-1')", "guid 0x7 ('leaf-x')", ":39:49", "'leaf-x' names no switch", FAB_EINPUT},
    {"guid 0x02fab10000000100 ('leaf-1')", "guid 0x02fab10000000200 ('leaf-1')", ":39:64", "has the GUID of leaf-2",
     FAB_EINPUT},
    {"of switch Lid 18 guid", "of box Lid 18 guid", ":39:13", "'of switch' was expected", FAB_EINPUT},
    {"of switch Lid 18 guid", "of switch Lid 18", ":39:31", "'guid 0x' was expected", FAB_EINPUT},
    {"('leaf-1'):", "('leaf-1')", ":39:63", "a GUID, a description in brackets and a colon", FAB_EINPUT},
};

Test(lft, what_is_wrong_is_told_with_its_place) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = lft(&s, "dmodk");
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        char place[128];
        fab_router router;
        fab_error err = {0};
        char *broken = edit(text, WRONG[i].old, WRONG[i].new);
        cr_expect_eq(read_back(&s, broken, strlen(broken), &router, &err), WRONG[i].status, "%s", WRONG[i].new);
        (void)snprintf(place, sizeof place, "%s%s", s.path, WRONG[i].place);
        cr_expect_str_eq(err.where, place, "%s", WRONG[i].new);
        cr_expect_not_null(strstr(err.text, WRONG[i].message), "%s: %s", WRONG[i].new, err.text);
        free(broken);
    }
    free(text);
    discard(&s);
}

/* A second LID of a port (LMC), and one that two switches call differently. */
Test(lft, a_port_has_one_lid) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = lft(&s, "dmodk");
    char *twice = edit(text, "0x0004 004 # Channel Adapter portguid 0x02fab20000000301: 'server-3",
                       "0x0004 004 # Channel Adapter portguid 0x02fab20000000201: 'server-2");
    cr_expect_eq(read_back(&s, twice, strlen(twice), &router, &err), FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "'0x0004' is a second LID of its port beside 0x0003"), "%s", err.text);
    cr_expect_not_null(strstr(err.where, ":5:1"), "%s", err.where);
    char *other = edit(text, "0x0003 003 #", "0x0002 003 #");
    char *without = edit(other, "0x0002 002 # Channel Adapter portguid 0x02fab20000000101: 'server-1 HCA-1'\n", "");
    err = (fab_error){0};
    cr_expect_eq(read_back(&s, without, strlen(without), &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "'0x0003' is the LID of a port that has 0x0002 in the table of another switch"),
                       "%s", err.text);
    free(without);
    free(other);
    free(twice);
    free(text);
    discard(&s);
}

Test(lft, a_loop_is_named) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    char *text = lft(&s, "dmodk");
    char *table = strstr(text, "('spine-0')");
    char *entry = strstr(table, "0x0003 002");
    cr_assert_not_null(entry);
    (void)memcpy(entry, "0x0003 001", 10); /* back to leaf-0, which sends to spine-0 */
    size_t line = 1;
    for (const char *c = text; c < strstr(text, "0x0003 003"); c++) {
        line += *c == '\n';
    }
    char place[128];
    (void)snprintf(place, sizeof place, "%s:%zu:1", s.path, line);
    cr_expect_eq(read_back(&s, text, strlen(text), &router, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text,
                     "engine file: packets at leaf-0 for port 1 of leaf-1 run in a circle: leaf-0 > spine-0 > leaf-0");
    cr_expect_str_eq(err.where, place);
    free(text);
    discard(&s);
}

/* What a flow says that goes `by` further, from GPU 0. */
static void check_lost(const setup *s, const char *text, uint64_t by, const char *message) {
    fab_router router;
    fab_routes routes = {0};
    fab_error err = {0};
    uint32_t src = 0;
    uint32_t dst = (uint32_t)by;
    uint32_t comm = 0;
    uint64_t bytes = 1;
    fab_phase phase = {.n_flows = 1, .src = &src, .dst = &dst, .bytes = &bytes, .comm = &comm};
    cr_assert_eq(read_back(s, text, strlen(text), &router, &err), FAB_OK, "%s: %s", err.where, err.text);
    fab_status status = fab_route_phase(&router, &phase, 1, &routes, &err);
    cr_expect_eq(status, message != NULL ? FAB_EUNREACHABLE : FAB_OK, "%s", err.text);
    cr_expect(message == NULL || strstr(err.text, message) != NULL, "%s", err.text);
    fab_routes_release(&routes);
    fab_router_release(&router);
}

/* Missing entries are no route, which only the flow notices that needs it. */
Test(lft, no_route_is_an_error_of_the_flow) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    char *text = lft(&s, "dmodk");
    char *far = edit(text, "0x0003 003 # Channel Adapter portguid 0x02fab20000000201: 'server-2 HCA-1'\n", "");
    check_lost(&s, far, 2, "no route from nic-0 on leaf-0 to nic-2 on leaf-1");
    check_lost(&s, far, 3, NULL);
    char *near = edit(text, "0x0002 002 # Channel Adapter portguid 0x02fab20000000101: 'server-1 HCA-1'\n", "");
    check_lost(&s, near, 1, "no route from nic-0 on leaf-0 to nic-1 on leaf-0"); /* the leaf itself does not know it */
    check_lost(&s, near, 2, NULL);
    char *gone =
        edit(text, "# Channel Adapter portguid 0x02fab20000000201: 'server-2 HCA-1'", "# unknown node and type");
    check_lost(&s, gone, 2, "no route from nic-0 on leaf-0 to nic-2 on leaf-1");
    char *sharp = edit(text, "# Channel Adapter portguid 0x02fab20000000201: 'server-2 HCA-1'",
                       "# Channel Adapter portguid 0x1: 'Quantum Aggregation Node'");
    check_lost(&s, sharp, 2, "no route from nic-0 on leaf-0 to nic-2 on leaf-1");
    check_lost(&s, sharp, 3, NULL);
    *strstr(strstr(text, "lids dumped"), "Unicast") = '\0'; /* only leaf-0 */
    check_lost(&s, text, 1, NULL);
    check_lost(&s, text, 2, "no route from nic-0 on leaf-0 to nic-2 on leaf-1");
    free(sharp);
    free(gone);
    free(near);
    free(far);
    free(text);
    discard(&s);
}

Test(lft, only_by_destination_and_only_what_infiniband_can_be) {
    setup s = make("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err = {0};
    static const char *const OTHERS[] = {"ecmp", "spray", "adaptive"};
    for (size_t i = 0; i < 3; i++) {
        err = (fab_error){0};
        cr_assert_eq(start(&s, OTHERS[i], &router, &err), FAB_OK);
        cr_expect_null(lft_of(&router, &err));
        cr_expect_eq(err.code, FAB_EUNSUPPORTED);
        cr_expect_not_null(strstr(err.text, "does not choose by the destination alone"), "%s", err.text);
        fab_router_release(&router);
    }
    char *text = lft(&s, "dmodk");
    err = (fab_error){0};
    cr_expect_eq(read_groups(&s, "ecmp", text, &router, &err), FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "engine file reads them"), "%s", err.text);
    free(text);
    discard(&s);
    setup wide = make("clos:gpus=512,gpus-per-server=4,radix=512,tiers=2");
    err = (fab_error){0};
    cr_assert_eq(start(&wide, "dmodk", &router, &err), FAB_OK);
    cr_expect_null(lft_of(&router, &err));
    cr_expect_eq(err.code, FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "leaf-0 has 512 ports; an InfiniBand switch has 254"), "%s", err.text);
    fab_router_release(&router);
    discard(&wide);
    setup large = make("fat-tree:k=60,gpus-per-server=1");
    err = (fab_error){0};
    cr_expect_eq(fab_ib_check(large.fabric, &err), FAB_EUNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "58500 NICs and switches; the LIDs of an InfiniBand subnet end at 49151"), "%s",
                       err.text);
    discard(&large);
}

/* Bytes changed, cut out, doubled or swapped at random: an error with its place, or tables that can be walked. */
Test(lft, damage_is_an_error_or_harmless) {
    static const char *const SOURCES[] = {"clos:gpus=8,gpus-per-server=2,radix=4,tiers=2",
                                          "rail-spine:gpus=16,gpus-per-server=4,planes=2,radix=8"};
    static const char BYTES[] = "0123456789abcx#:('\"\n \t)]US-\r\xff";
    fab_rng rng = fab_rng_make(5, 0);
    size_t n_refused = 0;
    for (size_t k = 0; k < 2; k++) {
        setup s = make(SOURCES[k]);
        char *text = lft(&s, "updn");
        char *other = map_lines(text, as_dump_lfts);
        for (size_t i = 0; i < DRAWS(3000); i++) {
            char *bad = fab_strdup(i % 2 == 0 ? text : other, NULL);
            size_t n = strlen(bad);
            for (uint32_t edits = 1 + fab_rng_below(&rng, 3); edits > 0 && n > 2; edits--) {
                size_t at = fab_rng_below(&rng, (uint32_t)n);
                size_t length = 1 + fab_rng_below(&rng, fab_rng_below(&rng, 4) == 0 ? 200 : 6);
                length = at + length > n ? n - at : length;
                switch (fab_rng_below(&rng, 4)) {
                case 0: bad[at] = BYTES[fab_rng_below(&rng, sizeof BYTES - 1)]; break;
                case 1:
                    (void)memmove(bad + at, bad + at + length, n - at - length);
                    n -= length;
                    break;
                case 2: (void)memmove(bad + at, bad + fab_rng_below(&rng, (uint32_t)(n - length + 1)), length); break;
                default: n = fab_rng_below(&rng, 8) == 0 ? at : n; break;
                }
            }
            fab_router router;
            fab_error err = {0};
            fab_status status = read_back(&s, bad, n, &router, &err);
            if (status == FAB_OK) {
                fab_traffic traffic = {0};
                fab_routes routes = {0};
                cr_assert_eq(fab_traffic_make("pattern:permutation", &s.design, s.fabric, 3, &traffic, &err), FAB_OK);
                status = fab_route_phase(&router, &traffic.phases[0], 1, &routes, &err);
                cr_assert(status == FAB_OK || status == FAB_EUNREACHABLE, "%s", err.text);
                fab_routes_release(&routes);
                fab_traffic_release(&traffic);
                fab_router_release(&router);
            } else {
                n_refused++;
                cr_assert(status == FAB_EINPUT || status == FAB_EUNSUPPORTED, "%s", err.text);
                cr_assert_not_null(strstr(err.where, ":"), "%s: %s", err.where, err.text);
            }
            free(bad);
        }
        free(other);
        free(text);
        discard(&s);
    }
    cr_assert_gt(n_refused, DRAWS(2000));
}
