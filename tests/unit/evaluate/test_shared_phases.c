/* What phases that are under way together do to each other, against their flows solved one by one. */
#include "fab/iterate.h"
#include "fab/max_min.h"
#include "fab/rng.h"

#include "fabric_fixture.h"

#include <math.h>
#include <stdlib.h>

enum { EXCHANGE, SENDS, REDUCTION, MORE_REDUCTION, GATHER, CHECKPOINT, N_PHASES };
static const char *const NAMES[N_PHASES] = {"tp", "pp", "dp", "edp", "dp-ag", "checkpoint"};
static const fab_travel TRAVELS[N_PHASES] = {FAB_TRAVEL_TP,     FAB_TRAVEL_SEND,   FAB_TRAVEL_REDUCE,
                                             FAB_TRAVEL_REDUCE, FAB_TRAVEL_GATHER, FAB_TRAVEL_N};
#define MOST_FLOWS 24
#define MOST_HOPS  6

typedef struct drawn_flow {
    double bytes;
    uint32_t n_hops, link[MOST_HOPS];
} drawn_flow;

typedef struct drawn {
    fab_phase phase[N_PHASES];
    fab_traffic traffic;
    drawn_flow flow[N_PHASES][MOST_FLOWS];
    uint32_t n_flows[N_PHASES];
    double *bytes[N_PHASES];
    double transfer_s[N_PHASES];
} drawn;

/* Flows over random links of the first `few`, every `every`-th of them from `from`, and a time that is at least that of
 * the fullest one. */
static void draw(const fab_fabric *f, fab_rng *rng, uint32_t few, bool disjoint, drawn *out) {
    *out = (drawn){.n_flows = {0}};
    for (uint32_t i = 0; i < N_PHASES; i++) {
        (void)snprintf(out->phase[i].name, sizeof out->phase[i].name, "%s", NAMES[i]);
        out->bytes[i] = calloc(f->n_links, sizeof(double));
        out->n_flows[i] = 1 + (uint32_t)fab_rng_below(rng, MOST_FLOWS);
        for (uint32_t k = 0; k < out->n_flows[i]; k++) {
            drawn_flow *flow = &out->flow[i][k];
            flow->bytes = 1 + (double)fab_rng_below(rng, 1000000);
            flow->n_hops = 1 + (uint32_t)fab_rng_below(rng, MOST_HOPS);
            uint32_t first = (uint32_t)fab_rng_below(rng, few);
            for (uint32_t h = 0; h < flow->n_hops; h++) {
                flow->link[h] = disjoint ? (first + h) * N_PHASES + i : first + h;
                double *bytes = &out->bytes[i][flow->link[h]];
                *bytes += flow->bytes;
                out->transfer_s[i] =
                    fmax(out->transfer_s[i], *bytes * 8 / fab_class_of(f, flow->link[h])->capacity_bps);
            }
        }
        out->transfer_s[i] *= fab_rng_below(rng, 2) == 0 ? 1 : 1 + (double)fab_rng_below(rng, 100) * 1e-2;
    }
    out->traffic = (fab_traffic){.phases = out->phase, .n_phases = N_PHASES};
}

static void release(drawn *d) {
    for (int i = 0; i < N_PHASES; i++) {
        free(d->bytes[i]);
    }
}

static fab_paces paces_of(const fab_fabric *f, const drawn *d) {
    fab_paces found;
    fab_error err = {0};
    cr_assert_eq(fab_iterate_paces(f, &d->traffic, (const double *const *)d->bytes, d->transfer_s, &found, &err),
                 FAB_OK, "%s", err.text);
    return found;
}

/* Every flow on its own, as fast as alone at most, in proportion to that: how far the slowest of each travel comes.
 * Phases of one travel follow each other, so that their flows go on at the mean rate. */
static void solve_flows(const fab_fabric *f, const drawn *d, unsigned set, double *out_pace) {
    double capacity[512];
    uint64_t first[N_PHASES * MOST_FLOWS + 1] = {0};
    uint32_t link[N_PHASES * MOST_FLOWS * MOST_HOPS];
    double weight[N_PHASES * MOST_FLOWS];
    double rate[N_PHASES * MOST_FLOWS];
    fab_travel of[N_PHASES * MOST_FLOWS];
    double all_s[FAB_TRAVEL_N + 1] = {0};
    fab_max_min *solver = NULL;
    fab_error err = {0};
    fab_sharing s = {
        .n_links = f->n_links, .capacity = capacity, .first = first, .link = link, .weight = weight, .limit = weight};
    cr_assert_leq(f->n_links, 512);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        capacity[l] = fab_class_of(f, l)->capacity_bps;
    }
    for (int i = 0; i < N_PHASES; i++) {
        all_s[TRAVELS[i]] += d->transfer_s[i];
    }
    for (int i = 0; i < N_PHASES; i++) {
        for (uint32_t k = 0; k < d->n_flows[i] && (set & FAB_TRAVEL_BIT(TRAVELS[i])) != 0; k++) {
            const drawn_flow *flow = &d->flow[i][k];
            weight[s.n_flows] = flow->bytes * 8 / all_s[TRAVELS[i]];
            of[s.n_flows] = TRAVELS[i];
            first[s.n_flows + 1] = first[s.n_flows];
            for (uint32_t h = 0; h < flow->n_hops; h++) {
                link[first[s.n_flows + 1]++] = flow->link[h];
            }
            s.n_flows++;
        }
    }
    cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK);
    cr_assert_eq(fab_max_min_solve(solver, &s, rate, NULL, &err), FAB_OK, "%s", err.text);
    for (uint32_t i = 0; i < FAB_TRAVEL_N; i++) {
        out_pace[i] = 1;
    }
    for (uint32_t i = 0; i < s.n_flows; i++) {
        out_pace[of[i]] = fmin(out_pace[of[i]], rate[i] / weight[i]);
    }
    fab_max_min_free(solver);
}

/* Whether all of a set can go on as fast as that: bit/s of all links. */
static void check_capacity(const fab_fabric *f, const drawn *d, unsigned set, const fab_paces *paces) {
    double all_s[FAB_TRAVEL_N + 1] = {0};
    for (int i = 0; i < N_PHASES; i++) {
        all_s[TRAVELS[i]] += d->transfer_s[i];
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        double bps = 0;
        for (int i = 0; i < N_PHASES; i++) {
            if (TRAVELS[i] < FAB_TRAVEL_N && (set & FAB_TRAVEL_BIT(TRAVELS[i])) != 0) {
                bps += d->bytes[i][l] * 8 / (all_s[TRAVELS[i]] * fmax(paces->slowdown[set][TRAVELS[i]], 1));
            }
        }
        cr_assert_leq(bps, fab_class_of(f, l)->capacity_bps * (1 + 1e-8), "link %u beats its capacity", l);
    }
}

#define BIT FAB_TRAVEL_BIT

/* Two travels take as long as the slowest of their flows does, solved one by one. Of three, the third is no slower than
 * its slowest flow: the flows of the first two, which wait for their slowest, leave it more. */
Test(shared_phases, paces_of_flows) {
    static const unsigned SETS[] = {
        BIT(FAB_TRAVEL_SEND) | BIT(FAB_TRAVEL_REDUCE), BIT(FAB_TRAVEL_SEND) | BIT(FAB_TRAVEL_GATHER),
        BIT(FAB_TRAVEL_TP) | BIT(FAB_TRAVEL_SEND), BIT(FAB_TRAVEL_TP) | BIT(FAB_TRAVEL_GATHER),
        BIT(FAB_TRAVEL_TP) | BIT(FAB_TRAVEL_SEND) | BIT(FAB_TRAVEL_REDUCE)};
    fab_fabric *f = fixture_build("rail-spine:gpus=64,gpus-per-server=8", NULL, NULL);
    fab_rng rng = fab_rng_make(11, 1);
    int n_slowed = 0;
    int n_apart = 0;
    double most = 0;
    for (int round = 0; round < 500; round++) {
        drawn d;
        draw(f, &rng, 4 + (uint32_t)fab_rng_below(&rng, 60), false, &d);
        const fab_paces found = paces_of(f, &d);
        for (size_t i = 0; i < 5; i++) {
            double pace[FAB_TRAVEL_N];
            solve_flows(f, &d, SETS[i], pace);
            check_capacity(f, &d, SETS[i], &found);
            for (fab_travel k = 0; k < FAB_TRAVEL_N; k++) {
                double slow = fmax(found.slowdown[SETS[i]][k], 1);
                bool is_in = (SETS[i] & BIT(k)) != 0;
                cr_assert(is_in || found.slowdown[SETS[i]][k] == 0);
                cr_assert_leq(slow, i < 4 ? 2 + 1e-9 : 3 + 1e-9);
                cr_assert(!is_in || slow <= 1 / pace[k] * (1 + 1e-8), "round %d: %g, flows %g", round, slow,
                          1 / pace[k]);
                cr_assert(!is_in || i == 4 || fabs(slow * pace[k] - 1) <= 1e-8, "round %d, set %zu: %.9g, flows %.9g",
                          round, i, slow, 1 / pace[k]);
                n_slowed += is_in && slow > 1 ? 1 : 0;
                n_apart += is_in && fabs(slow * pace[k] - 1) > 1e-8 ? 1 : 0;
                most = is_in ? fmax(most, 1 - slow * pace[k]) : most;
            }
        }
        release(&d);
    }
    cr_log_info("%d slowed, %d of three apart, at most by %g", n_slowed, n_apart, most);
    cr_assert(n_slowed > 500 && n_slowed < 5500, "%d", n_slowed);
    cr_assert(n_apart > 0 && most < 0.5, "%d, %g", n_apart, most);
    fab_fabric_free(f);
}

/* No link in common: not one bit of a time changes. */
Test(shared_phases, disjoint_links) {
    fab_fabric *f = fixture_build("rail-spine:gpus=64,gpus-per-server=8", NULL, NULL);
    fab_rng rng = fab_rng_make(12, 1);
    drawn d;
    draw(f, &rng, 20, true, &d);
    const fab_paces found = paces_of(f, &d);
    for (unsigned set = 0; set < FAB_TRAVEL_SETS; set++) {
        for (fab_travel k = 0; k < FAB_TRAVEL_N; k++) {
            cr_assert_eq(found.slowdown[set][k], 0);
        }
    }
    release(&d);
    fab_fabric_free(f);
}
