/* Growth in steps, by hand-counted cables. */
#include "fabric_fixture.h"
#include "fab/analysis.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>

static uint64_t moved(const char *before, const char *after) {
    fab_fabric *a = fixture_build(before, NULL, NULL);
    fab_fabric *b = fixture_build(after, NULL, NULL);
    fab_error err = {0};
    uint64_t n = 0;
    cr_assert_eq(fab_cables_moved(a, b, &n, &err), FAB_OK, "%s", err.text);
    fab_fabric_free(a);
    fab_fabric_free(b);
    return n;
}

Test(growth, nothing_moves_when_nothing_changes) {
    cr_expect_eq(moved("rail-spine:gpus=1024", "rail-spine:gpus=1024"), 0);
    cr_expect_eq(moved("preset:dgx-h100-superpod", "preset:dgx-h100-superpod"), 0);
}

/* 1 SU has 8 leaves with 8 cables to each of 4 spines; 2 SU 4 to each of 8: half of the 256 uplinks move. 4 SU: 2 to
 * each of 16, so half of the 512 of 2 SU. */
Test(growth, superpod_steps) {
    cr_expect_eq(moved("rail-spine:gpus=256", "rail-spine:gpus=512"), 128);
    cr_expect_eq(moved("rail-spine:gpus=512", "rail-spine:gpus=1024"), 256);
}

/* Pods are added beside the old ones, but the core trunks thin out: 4 to 8 pods of a k = 8 tree halve them. */
Test(growth, pods) {
    cr_expect_eq(moved("fat-tree:k=8,gpus=64", "fat-tree:k=8,gpus=128"), 32);
    cr_expect_eq(moved("fat-tree:k=8,gpus=112", "fat-tree:k=8,gpus=128"), 0);
}

Test(growth, shrinking_unplugs_what_goes) {
    cr_expect_eq(moved("clos:gpus=64,radix=32,tiers=2", "clos:gpus=32,radix=32,tiers=2"), 32 + 32 + 16);
}

/* Planes and rails are networks of their own: what one moves, each moves. */
Test(growth, networks_side_by_side) {
    uint64_t one = moved("clos:gpus=256,radix=32", "clos:gpus=512,radix=32");
    cr_expect_gt(one, 0);
    cr_expect_eq(moved("clos:gpus=256,radix=32,planes=2", "clos:gpus=512,radix=32,planes=2"), 2 * one);
    uint64_t rail =
        moved("clos:gpus=32,gpus-per-server=1,radix=16,tiers=2", "clos:gpus=64,gpus-per-server=1,radix=16,tiers=2");
    cr_expect_eq(moved("rail-only:gpus=256,radix=16,tiers=2", "rail-only:gpus=512,radix=16,tiers=2"), 8 * rail);
}

Test(growth, free_ports) {
    fab_fabric *f = fixture_build("rail-spine:gpus=1024", NULL, NULL); /* 32 leaves full, 16 spines full */
    cr_expect_eq(fab_free_ports(f), 0);
    fab_fabric_free(f);
    f = fixture_build("clos:gpus=32,radix=64,tiers=1", NULL, NULL);
    cr_expect_eq(fab_free_ports(f), 32);
    fab_fabric_free(f);
}
