/* What the plugin for EFA takes in place of NCCL's own choice: regions of sizes by ranks, measured by those who publish
 * it [aws-ofi-nccl, src/tuner/nccl_ofi_regions.cpp, all-reduces of 8 GPUs a server on P5 and P6-B200]. Ends of regions
 * lie on straight lines between the ranks that are listed; from the last on they stay. */
#include "nccl_internal.h"

#define MOST_REGIONS 6
#define EVER         107374182400.0 /* the largest size that the plugin has */
#define OF_SERVER    8
#define OWN          FAB_NCCL_N_ALGORITHMS /* left to NCCL */

typedef struct tuner_region {
    fab_nccl_algorithm algorithm;
    fab_nccl_protocol protocol;
} tuner_region;

typedef struct tuner_row {
    uint32_t ranks;
    double ends[MOST_REGIONS]; /* bytes up to which each goes, that size included; as long as the one before: it is
                                  empty */
} tuner_row;

static const tuner_region P5_REGIONS[MOST_REGIONS] = {
    {FAB_NCCL_TREE, FAB_NCCL_LL128}, {FAB_NCCL_NVLS_TREE, FAB_NCCL_SIMPLE}, {FAB_NCCL_RING, FAB_NCCL_LL128},
    {OWN, FAB_NCCL_SIMPLE},          {FAB_NCCL_NVLS_TREE, FAB_NCCL_SIMPLE}, {FAB_NCCL_RING, FAB_NCCL_SIMPLE}};
static const tuner_row P5[] = {
    {24, {34603008, 34603008, 1233661670, 1324997410, 1324997410, EVER}},
    {32, {37748736, 37748736, 1416425004, 1610612736, 1610612736, EVER}},
    {64, {117440512, 117440512, 2147483648, 2684354560, 2684354560, EVER}},
    {127, {299105280, 299105280, 2147483648, 6207591765, 6207591765, EVER}},
    {128, {301989888, 301989888, 2147483648, 2147483648, 6442450944, EVER}},
    {160, {301989888, 444596224, 1342177280, 1342177280, 8053063680, EVER}},
    {192, {301989888, 654660949, 1610612736, 1744830464, 9663676416, EVER}},
    {256, {301989888, 1074790400, 2147483648, 2147483648, 12884901888, EVER}},
    {512, {335544320, 25769803776, 25769803776, 25769803776, 25769803776, EVER}},
    {1024, {536870912, 51539607552, 51539607552, 51539607552, 51539607552, EVER}},
};

static const tuner_region P6_REGIONS[MOST_REGIONS] = {
    {FAB_NCCL_TREE, FAB_NCCL_LL},    {FAB_NCCL_TREE, FAB_NCCL_LL128},       {FAB_NCCL_NVLS_TREE, FAB_NCCL_SIMPLE},
    {FAB_NCCL_RING, FAB_NCCL_LL128}, {FAB_NCCL_NVLS_TREE, FAB_NCCL_SIMPLE}, {FAB_NCCL_RING, FAB_NCCL_SIMPLE}};
static const tuner_row P6[] = {
    {24, {393216, 11534336, 11534336, 11534336, 53904670720, EVER}},
    {32, {393216, 18350080, 18350080, 133693440, 435159040, EVER}},
    {64, {393216, 40370176, 50855936, 120061952, 1072693248, EVER}},
    {128, {393216, 57147392, 90701824, 90701824, 2453368246, EVER}},
    {256, {393216, 72876032, 72876032, 72876032, 5214718244, EVER}},
    {512, {393216, 80915115, 80915115, 80915115, 10737418240, EVER}},
    {1024, {393216, 96993280, 96993280, 96993280, 22984622154, EVER}},
};

bool nccl_tuner_choose(const fab_nccl_case *c, double bytes, fab_nccl_algorithm *out_algorithm,
                       fab_nccl_protocol *out_protocol) {
    const bool is_p5 = c->host.tuner == FAB_TUNER_EFA_P5;
    const tuner_row *rows = is_p5 ? P5 : P6;
    const tuner_region *regions = is_p5 ? P5_REGIONS : P6_REGIONS;
    const size_t n_rows = is_p5 ? sizeof P5 / sizeof P5[0] : sizeof P6 / sizeof P6[0];
    if (c->host.tuner == FAB_TUNER_NONE || c->operation != FAB_ALL_REDUCE || nccl_domain_size(c) != OF_SERVER ||
        c->domains < 3) { /* two servers are left to NCCL */
        return false;
    }
    FAB_FIRST(next, n_rows, rows[next].ranks >= c->ranks);
    const tuner_row *above = &rows[next < n_rows ? next : n_rows - 1];
    const tuner_row *below = next == 0 || next == n_rows ? above : above - 1;
    const double part = above == below ? 1 : ((double)c->ranks - below->ranks) / ((double)above->ranks - below->ranks);
    FAB_FIRST(i, MOST_REGIONS - 1, !(bytes > below->ends[i] + part * (above->ends[i] - below->ends[i])));
    *out_algorithm = regions[i].algorithm;
    *out_protocol = regions[i].protocol;
    return regions[i].algorithm != OWN && fab_nccl_is_possible(c, regions[i].algorithm, regions[i].protocol);
}
