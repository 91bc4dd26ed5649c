/* All-gathers, compared with ranks that pass parts on step by step until every one of them has all. */
#include "traffic_fixture.h"

#define MAX_RANKS 64

/* Who has which part, and the bytes sent in one phase from rank to rank. */
typedef struct world {
    uint32_t r;
    uint64_t part;
    bool has[MAX_RANKS][MAX_RANKS];
    uint64_t sent[MAX_RANKS][MAX_RANKS];
} world;

static world *world_new(uint32_t r, uint64_t part) {
    world *w = calloc(1, sizeof *w);
    cr_assert_not_null(w);
    w->r = r;
    w->part = part;
    for (uint32_t rank = 0; rank < r; rank++) {
        w->has[rank][rank] = true;
    }
    return w;
}

static void send(world *w, const world *before, uint32_t from, uint32_t to, uint32_t part) {
    cr_assert(before->has[from][part], "rank %u does not have part %u yet", from, part);
    cr_assert_not(before->has[to][part], "rank %u has part %u already", to, part);
    w->has[to][part] = true;
    w->sent[from][to] += w->part;
}

static void run_ring_step(world *w, uint32_t step) {
    world before = *w;
    for (uint32_t rank = 0; rank < w->r; rank++) {
        send(w, &before, rank, (rank + 1) % w->r, (rank + w->r - step) % w->r);
    }
}

static void run_doubling_step(world *w, uint32_t step) {
    world before = *w;
    for (uint32_t rank = 0; rank < w->r; rank++) {
        for (uint32_t part = 0; part < w->r; part++) {
            if (before.has[rank][part]) {
                send(w, &before, rank, rank ^ (1U << step), part);
            }
        }
    }
}

static void run_mesh(world *w) {
    world before = *w;
    for (uint32_t rank = 0; rank < w->r; rank++) {
        for (uint32_t to = 0; to < w->r; to++) {
            if (to != rank) {
                send(w, &before, rank, to, rank);
            }
        }
    }
}

static void check_complete(const world *w) {
    for (uint32_t rank = 0; rank < w->r; rank++) {
        for (uint32_t part = 0; part < w->r; part++) {
            cr_assert(w->has[rank][part], "rank %u of %u lacks part %u", rank, w->r, part);
        }
    }
}

typedef struct layout {
    uint32_t first, n_groups, r;
    bool by_block;
    uint32_t only; /* FAB_NONE: all groups */
} layout;

/* The flows of every group that is present carry what its ranks sent; then forgets what was sent. */
static void check_phase(const fab_phase *phase, const char *name, uint64_t steps, const layout *at, world *w) {
    static uint64_t found[MAX_RANKS][MAX_RANKS];
    uint64_t flows = 0;
    uint64_t bytes = 0;
    cr_assert_str_eq(phase->name, name);
    cr_assert_str_eq(phase->collective, "all-gather");
    cr_assert_eq(phase->n_comms, at->only == FAB_NONE ? at->n_groups : 1);
    cr_assert_eq(phase->first_comm, at->only == FAB_NONE ? 0 : at->only);
    cr_assert(phase->steps == steps && phase->executions == 1);
    for (uint32_t group = phase->first_comm; group < phase->first_comm + phase->n_comms; group++) {
        memset(found, 0, sizeof found);
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            fab_flow flow = fab_phase_flow(phase, i);
            if (flow.comm == group) {
                uint32_t a = flow.src - at->first;
                uint32_t b = flow.dst - at->first;
                cr_assert_eq(at->by_block ? a / at->r : a % at->n_groups, group);
                cr_assert_eq(at->by_block ? b / at->r : b % at->n_groups, group);
                found[at->by_block ? a % at->r : a / at->n_groups][at->by_block ? b % at->r : b / at->n_groups] +=
                    flow.bytes;
                cr_assert_eq(flow.ordinal, 0);
                flows++;
                bytes += flow.bytes;
            }
        }
        cr_assert_arr_eq(found, w->sent, sizeof found, "%s of group %u", name, group);
    }
    cr_assert_eq(flows, phase->n_flows);
    cr_assert_eq(bytes, phase->total_bytes);
    cr_assert_eq((double)bytes, phase->expected_bytes);
    cr_assert_gt(strlen(phase->formula), 0);
    memset(w->sent, 0, sizeof w->sent);
}

/* The algorithms without scale-up domains over `r` ranks in each group. */
static void check_all(layout at, uint64_t bytes) {
    uint32_t n = at.n_groups * at.r;
    fab_fabric fabric = traffic_fabric(at.first + n + 3, 8, 8);
    char text[160];
    char only[32] = "";
    bool doubles = (at.r & (at.r - 1)) == 0;
    if (at.only != FAB_NONE) {
        (void)snprintf(only, sizeof only, ",comm=%u", at.only);
    }
    const char *const algorithms[] = {"ring", "mesh", "doubling", "all"};
    for (size_t a = 0; a < 4; a++) {
        if (a == 2 && !doubles) {
            continue;
        }
        (void)snprintf(text, sizeof text, "pattern:all-gather,algorithm=%s%s,gpus=%u-%u,groups=%u,bytes=%lluB%s%s",
                       algorithms[a], a % 3 == 0 ? ",channels=1" : "", at.first, at.first + n - 1, at.n_groups,
                       (unsigned long long)bytes, at.by_block ? ",groups-by=block" : "", only);
        fab_traffic traffic = traffic_made(text, NULL, &fabric, 1);
        const fab_phase *phase = traffic.phases;
        cr_assert_not(traffic.depends_on_seed);
        if (a == 0 || a == 3) {
            world *w = world_new(at.r, bytes / at.r);
            for (uint32_t step = 0; step + 1 < at.r; step++) {
                run_ring_step(w, step);
            }
            check_complete(w);
            check_phase(phase++, "ring", at.r - 1, &at, w);
            free(w);
        }
        if (a == 2 || (a == 3 && doubles)) {
            world *w = world_new(at.r, bytes / at.r);
            for (uint32_t step = 0; 1U << step < at.r; step++) {
                char name[32];
                (void)snprintf(name, sizeof name, "doubling-%u", step + 1);
                run_doubling_step(w, step);
                check_phase(phase++, name, 1, &at, w);
            }
            check_complete(w);
            free(w);
        }
        if (a == 1 || a == 3) {
            world *w = world_new(at.r, bytes / at.r);
            run_mesh(w);
            check_complete(w);
            bool in_a_row = at.n_groups == 1 || (at.by_block && at.only != FAB_NONE);
            cr_assert_eq(phase->all.n, in_a_row ? at.r : 0);
            check_phase(phase++, "mesh", 1, &at, w);
            free(w);
        }
        for (; phase < traffic.phases + traffic.n_phases; phase++) {
            cr_assert(a == 3 && strcmp(phase->algorithm, "hierarchical") == 0, "%s: phase %s", text, phase->name);
        }
        fab_traffic_release(&traffic);
    }
}

Test(gather, algorithms_leave_every_rank_with_all_parts) {
    static const uint32_t RANKS[] = {2, 3, 4, 5, 8, 12, 16, 24, 32, 64};
    for (size_t i = 0; i < sizeof RANKS / sizeof RANKS[0]; i++) {
        for (uint32_t n_groups = 1; n_groups <= 4; n_groups++) {
            for (int by_block = 0; by_block < 2; by_block++) {
                layout at = {.first = 5, .n_groups = n_groups, .r = RANKS[i], .by_block = by_block, .only = FAB_NONE};
                check_all(at, 1000);
                at.only = n_groups - 1;
                check_all(at, 64 * 1000);
            }
        }
    }
}

Test(gather, defaults_names_and_texts) {
    fab_fabric fabric = traffic_fabric(64, 8, 8);
    fab_traffic traffic = traffic_made("pattern:all-gather", NULL, &fabric, 1);
    cr_expect(traffic.n_phases == 1 && traffic.phases[0].n_comms == 1);
    cr_expect_str_eq(traffic.summary, "all-gather over 64 GPUs: 15.62 kB of every rank, 1 MB together");
    cr_expect_str_eq(traffic.phases[0].formula, "(r-1)/r S to the next rank in r-1 steps, 8 channels, x 64 ranks");
    fab_traffic_release(&traffic);
    traffic = traffic_made("pattern:all-gather,channels=1", NULL, &fabric, 1);
    cr_expect_str_eq(traffic.phases[0].formula,
                     "(r-1)/r S to the next rank in r-1 steps, one channel in the order of the ranks, x 64 ranks");
    fab_traffic_release(&traffic);
    traffic = traffic_made("pattern:all-gather,algorithm=doubling,groups=8,comm=7,bytes=1001B", NULL, &fabric, 1);
    cr_expect_eq(traffic.n_phases, 3);
    cr_expect_str_eq(traffic.summary, "all-gather over 64 GPUs in 8 groups of 8 by stride: 125 B of every rank, 1 kB "
                                      "together (1.001 kB rounded down); only group 7");
    char name[64];
    cr_expect_str_eq(fab_comm_name(&traffic, &traffic.phases[2], 7, name), "group 7");
    cr_expect_str_eq(traffic.phases[2].formula, "4/r S to the rank at distance 4, x 8 ranks");
    cr_expect(traffic.phases[0].src[0] == 7 && traffic.phases[0].dst[0] == 15); /* every 8th GPU */
    fab_traffic_release(&traffic);
    traffic = traffic_made("pattern:all-gather,algorithm=mesh,groups=8,groups-by=block", NULL, &fabric, 1);
    cr_expect_str_eq(traffic.summary,
                     "all-gather over 64 GPUs in 8 groups of 8 by block: 125 kB of every rank, 1 MB together");
    cr_expect_str_eq(traffic.phases[0].formula, "S/r to each of the r-1 others, x 8 ranks x 8 groups");
    cr_expect(traffic.phases[0].src[0] == 0 && traffic.phases[0].dst[6] == 7);
    fab_traffic_release(&traffic);
}

Test(gather, large_ones) {
    fab_fabric fabric = traffic_fabric(65536, 8, 8);
    fab_traffic traffic = traffic_made("pattern:all-gather,algorithm=all,bytes=64MiB", NULL, &fabric, 1);
    cr_expect_eq(traffic.n_phases, 1 + 16 + 1 + 2);
    const fab_phase *mesh = traffic_phase(&traffic, "mesh");
    cr_assert_not_null(mesh);
    cr_expect_eq(mesh->n_flows, UINT64_C(65536) * 65535);
    cr_expect_eq(mesh->total_bytes, UINT64_C(65535) << 26);
    cr_expect_eq(traffic_phase(&traffic, "ring")->total_bytes, mesh->total_bytes);
    cr_expect_null(mesh->src);
    fab_traffic_release(&traffic);
}

Test(gather, refusals) {
    static const struct {
        const char *text;
        fab_status code;
        const char *message;
    } ROWS[] = {
        {"pattern:all-gather,algorithm=tree", FAB_EINPUT,
         "algorithm: 'tree' is none of ring, doubling, mesh, hierarchical, auto, nccl, best, all"},
        {"pattern:all-gather,groups-by=rail", FAB_EINPUT, "groups-by: 'rail' is none of stride, block"},
        {"pattern:all-gather,groups=0", FAB_EINPUT, "groups: '0' is outside 1 to 48"},
        {"pattern:all-gather,groups=49", FAB_EINPUT, "groups: '49' is outside 1 to 48"},
        {"pattern:all-gather,groups=5", FAB_EINPUT, "groups=5 does not cut 48 GPUs into equal groups of at least 2"},
        {"pattern:all-gather,groups=48", FAB_EINPUT, "groups=48 does not cut 48 GPUs into equal groups of at least 2"},
        {"pattern:all-gather,gpus=0-7,groups=16", FAB_EINPUT,
         "groups=16 does not cut 8 GPUs into equal groups of at least 2"},
        {"pattern:all-gather,groups=4,comm=4", FAB_EINPUT, "comm=4 is outside 0 to 3, the groups"},
        {"pattern:all-gather,comm=-1", FAB_EINPUT, "comm: '-1' is not a whole number from 0 to 4294967294"},
        {"pattern:all-gather,algorithm=doubling,groups=2", FAB_EINPUT,
         "recursive doubling needs a power of two of ranks in a group, not 24; choose algorithm=ring or "
         "algorithm=mesh"},
        {"pattern:all-gather,algorithm=hierarchical,groups=8", FAB_EINPUT,
         "hierarchical needs members that share a scale-up domain, and each of the 6 is in one of its own; choose "
         "algorithm=ring"},
        {"pattern:all-gather,algorithm=mesh,channels=2", FAB_EINPUT, "channels=2: algorithm=mesh has no channels"},
        {"pattern:all-gather,bytes=47B", FAB_EINPUT,
         "bytes=47B leaves each of the 48 ranks of a group less than 1 byte"},
        {"pattern:all-gather,gpus=7", FAB_EINPUT, "pattern 'all-gather' needs at least 2 GPUs, not 1"},
        {"pattern:all-gather,by=7", FAB_EINPUT,
         "pattern 'all-gather' has no key 'by'; allowed: algorithm channels groups groups-by comm bytes gpus placement "
         "servers"},
        {"pattern:ring,groups=2", FAB_EINPUT,
         "pattern 'ring' has no key 'groups'; allowed: bytes gpus placement servers"},
    };
    fab_fabric fabric = traffic_fabric(48, 8, 8);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        traffic_refused(ROWS[i].text, NULL, &fabric, ROWS[i].code, ROWS[i].text, ROWS[i].message);
    }
    fabric = traffic_fabric(32768, 8, 8);
    traffic_refused("pattern:all-gather,algorithm=mesh,groups=2", NULL, &fabric, FAB_EUNSUPPORTED, NULL,
                    "a mesh in 2 groups of 16384 ranks has 536838144 flows, above the limit of 67108864; choose fewer "
                    "GPUs with gpus=A-B, or one block of them");
    traffic_refused("pattern:all-gather,bytes=9000TB", NULL, &fabric, FAB_EINPUT, NULL,
                    "phase 'ring' carries 2.949e+20 bytes, above the limit of 9.2e+18");
}
