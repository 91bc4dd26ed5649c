/* The network beside the fabric: read in every form, sized from the servers, part of the digest. */
#include "fab/design.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <string.h>

static fab_design read_with(const char *text, const char *const *overrides, size_t n) {
    fab_design design;
    fab_error err = {0};
    cr_assert_eq(fab_design_read(text, overrides, n, &design, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
    return design;
}

Test(front_end, file_and_overrides_agree) {
    static const char *const OVERRIDES[] = {"name=with-storage",          "source=Example",
                                            "front-end.family=clos",      "front-end.nic=200Gb/s",
                                            "front-end.radix=64",         "front-end.tier.2.radix=32",
                                            "front-end.tier.1.taper=3:1", "front-end.storage=32"};
    fab_design file = read_with(FAB_TEST_DATA "/front_end.xml", NULL, 0);
    fab_design typed = read_with("rail-spine:gpus=1024,radix=64", OVERRIDES, sizeof OVERRIDES / sizeof OVERRIDES[0]);
    fab_design without = read_with("rail-spine:gpus=1024,radix=64", OVERRIDES, 2);
    char a[17];
    char b[17];
    char c[17];
    cr_assert_eq(fab_design_digest(&file, a, NULL), FAB_OK);
    cr_assert_eq(fab_design_digest(&typed, b, NULL), FAB_OK);
    cr_assert_eq(fab_design_digest(&without, c, NULL), FAB_OK);
    cr_expect(file.has_front_end && typed.has_front_end && !without.has_front_end);
    cr_expect_str_eq(a, b);
    cr_expect_str_neq(a, c);
    cr_expect_eq(typed.front_end.tier[2].radix, 64, "radix of all tiers, then one of its own");
}

/* 128 servers and 32 storage servers: 4 leaves of 40 down and 14 up at 3:1, and 2 spines. */
Test(front_end, hosts_are_servers_and_storage) {
    fab_design design = read_with(FAB_TEST_DATA "/front_end.xml", NULL, 0);
    fab_fabric_spec spec;
    fab_fabric *fabric = NULL;
    fab_counts counts;
    fab_error err = {0};
    fab_design_front_end(&design, 128, &spec);
    cr_assert_eq(fab_topology_build(&spec, &fabric, &counts, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(counts.nics, 160);
    cr_expect_eq(counts.domains, 0);
    cr_expect_eq(counts.switches_by_tier[0], 4);
    cr_expect_eq(counts.switches_by_tier[1], 2);
    cr_expect_eq(counts.cables_by_tier[1], 56);
    fab_fabric_free(fabric);
}

Test(front_end, errors) {
    static const struct {
        const char *override, *expect;
    } CASES[] = {{"front-end.gpus=64", "no gpus"},
                 {"front-end.radix=64", "family is required"},
                 {"front-end.domain=8", "family is required"},
                 {"fabric.storage=4", "unknown fabric key"},
                 {"front-end.colour=red", "unknown"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *overrides[] = {CASES[i].override, "front-end.family=clos"};
        fab_design design;
        fab_error err = {0};
        bool has_family = strcmp(CASES[i].expect, "family is required") != 0;
        fab_status status = fab_design_read("clos:gpus=64", overrides, has_family ? 2 : 1, &design, &err);
        cr_expect(status == FAB_EINPUT || status == FAB_EUNSUPPORTED, "%s", CASES[i].override);
        cr_expect(strstr(err.text, CASES[i].expect) != NULL, "%s: %s", CASES[i].override, err.text);
        cr_expect(err.where[0] != '\0');
    }
}
