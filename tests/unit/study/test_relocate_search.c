/* Collision-aware reallocation: against all assignments, and against every other policy. */
#include "relocate_fixture.h"

#include "fab/rng.h"
#include "random_design.h"

static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4", "dmodk", "pinned", "ecmp,member-loss=resilient"};

#define N_ENGINES (sizeof ENGINES / sizeof ENGINES[0])

/* The figures that it reports are those that routing gives. */
static scene_figures expect_measured(scene *s, const fab_relocation *x, const char *what) {
    scene_figures m = scene_measure(s, x);
    cr_assert_eq(x->n_collisions, m.n_collisions, "%s: %u collisions, not %u", what, x->n_collisions, m.n_collisions);
    cr_assert(fabs(x->worst_ratio - m.worst) <= 2e-9 * fmax(1, m.worst), "%s: %.12g, not %.12g", what, x->worst_ratio,
              m.worst);
    return m;
}

static fab_relocation search(scene *s, uint64_t budget, uint32_t n_exchanges) {
    s->request.budget = budget;
    s->request.n_exchanges = n_exchanges;
    scene_renew(s);
    return scene_relocate(s, FAB_POLICY_COLLISION_AWARE);
}

/* Servers 1 to 4 of the talk work, 4 is dead: 5 collides, 6 does not. They are 0 to 3, 4 and 5 here. */
Test(relocate_search, talk) {
    scene s;
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job", "pinned", 0));
    scene_fail(&s, "server-3");
    fab_relocation first = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
    cr_assert_eq(first.moves[0].to, 4);
    cr_expect_gt(scene_measure(&s, &first).n_collisions, 0);
    fab_relocation x = search(&s, 0, 0);
    cr_assert_eq(x.n_moves, 1);
    cr_expect_eq(x.moves[0].to, 5);
    cr_expect(x.is_optimal);
    cr_expect_eq(x.n_healthy, 0);
    cr_expect_eq(expect_measured(&s, &x, "talk").n_collisions, 0);
    scene_release(&s);
}

/* Only the spare that collides is left: it is taken, and the least is said. The first
 * server may change places with it: then replicas are in one rack, or in two that nobody shares. What talks across
 * stages collides then, which costs the job hardly anything. */
Test(relocate_search, talk_without_a_good_spare) {
    scene s;
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job", "pinned", 0));
    scene_fail(&s, "server-3 server-5");
    fab_relocation whole = search(&s, 0, 0);
    cr_expect_eq(whole.n_healthy, 1);
    cr_expect_eq(scene_measure(&s, &whole).n_collisions, 8, "of pp alone");
    scene_release(&s);
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job:dp-rs", "pinned", 0));
    scene_fail(&s, "server-3 server-5");
    fab_relocation first = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
    uint32_t n_first = scene_measure(&s, &first).n_collisions;
    fab_relocation x = search(&s, 0, FAB_NONE);
    cr_assert_eq(x.n_moves, 1);
    cr_expect_eq(x.moves[0].to, 4);
    cr_expect(x.is_optimal);
    cr_expect_eq(expect_measured(&s, &x, "talk").n_collisions, n_first);
    cr_expect_gt(n_first, 0);
    x = search(&s, 0, 0);
    cr_assert_eq(x.n_moves, 2);
    cr_expect_eq(x.n_healthy, 1);
    cr_expect_eq(x.moves[0].from, 3);
    cr_expect_eq(x.moves[1].to, 4);
    cr_expect_eq(x.moves[0].to, x.moves[1].from);
    cr_expect_eq(x.n_moved, 16);
    cr_expect_eq(expect_measured(&s, &x, "talk").n_collisions, 0);
    scene_release(&s);
}

/* A job on a small fabric, some of its servers dead, others spare. */
static bool draw_scene(scene *s, fab_rng *rng, const char *engine, char *what, size_t size) {
    static const char *const SHAPES[] = {
        "clos:gpus=%u,gpus-per-server=2,radix=8,tiers=2", "clos:gpus=%u,gpus-per-server=2,radix=12,taper=2,tiers=2",
        "rail-spine:gpus=%u,gpus-per-server=2,radix=8", "clos:gpus=%u,gpus-per-server=1,radix=6,taper=1.5,tiers=2"};
    char design[128];
    char servers[64];
    char job[64];
    const char *shape = random_word(rng, SHAPES, 4);
    uint32_t per_server = strstr(shape, "server=1") != NULL ? 1 : 2;
    uint32_t n_servers = (uint32_t)random_between(rng, 8, 14);
    uint32_t n_working = (uint32_t)random_between(rng, 4, n_servers - 3);
    uint32_t from = (uint32_t)fab_rng_below(rng, n_servers - n_working + 1);
    (void)snprintf(design, sizeof design, shape, n_servers * per_server);
    (void)snprintf(servers, sizeof servers, "job.servers=%u-%u", from, from + n_working - 1);
    (void)snprintf(job, sizeof job, "job.tp=%u", per_server);
    const char *const overrides[] = {servers, job, fab_rng_below(rng, 2) == 0 ? "job.pp=1" : "job.pp=2"};
    (void)snprintf(what, size, "%s %s %s %s %s", design, servers, job, overrides[2], engine);
    return scene_init(s, design, overrides, 3, fab_rng_below(rng, 2) == 0 ? "job" : "job:dp", engine,
                      fab_rng_below(rng, 1000));
}

static void draw_failures(scene *s, fab_rng *rng, uint32_t n, char *what, size_t size) {
    char names[256] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = (uint32_t)fab_rng_below(rng, s->traffic.n_ranks);
        at += (size_t)snprintf(names + at, sizeof names - at, "%sserver-%u", i > 0 ? " " : "",
                               s->traffic.gpu_of_rank[rank] / s->f->gpus_per_server);
    }
    if (fab_rng_below(rng, 3) == 0) {
        (void)snprintf(names + at, sizeof names - at, " spine-0");
    }
    scene_fail(s, names);
    (void)snprintf(what + strlen(what), size - strlen(what), "; %s", names);
}

/* What the best policy by place needs at its fullest links; collision-aware is not to need more. */
static double allowed_s(scene *s) {
    double least = INFINITY;
    uint32_t n_cut = UINT32_MAX;
    for (int policy = FAB_POLICY_FIRST_SPARE; policy < FAB_POLICY_COLLISION_AWARE; policy++) {
        fab_relocation y;
        if (fab_relocate(s->relocator, &s->mask, (fab_policy)policy, &y, NULL) == FAB_OK && y.is_possible) {
            scene_figures m = scene_measure(s, &y);
            least = m.n_disconnected < n_cut ? m.drain_s : m.n_disconnected == n_cut ? fmin(least, m.drain_s) : least;
            n_cut = m.n_disconnected < n_cut ? m.n_disconnected : n_cut;
        }
    }
    return least * (1 + 1.5e-9);
}

typedef struct brute {
    scene *s;
    const fab_relocation *x; /* lost servers */
    uint32_t *spare, n_spares;
    uint32_t *moved, *new_gpu;
    bool *used;
    scene_figures best;
    uint32_t n_seen;
    double allowed_s;
} brute;

static void lay_out(brute *b, uint32_t i, uint32_t to) {
    uint32_t per_server = b->s->f->gpus_per_server;
    for (uint32_t k = 0; k < per_server; k++) {
        uint32_t gpu = b->x->lost[i] * per_server + k;
        b->new_gpu[gpu] = to * per_server + k;
        b->moved[i * per_server + k] = gpu;
    }
}

/* All assignments of spares to lost servers i, i + 1, ... */
static void try_all(brute *b, uint32_t i) {
    if (i == b->x->n_lost) {
        const fab_relocation y = {
            .moved = b->moved, .n_moved = b->x->n_lost * b->s->f->gpus_per_server, .new_gpu = b->new_gpu};
        scene_figures m = scene_measure(b->s, &y);
        const scene_figures *best = &b->best;
        bool late = m.drain_s > b->allowed_s;
        bool best_late = best->drain_s > b->allowed_s;
        bool better = m.n_disconnected != best->n_disconnected ? m.n_disconnected < best->n_disconnected
                      : late != best_late                      ? best_late
                      : m.n_collisions != best->n_collisions   ? m.n_collisions < best->n_collisions
                                                               : m.worst < best->worst;
        if (b->n_seen++ == 0 || better) {
            b->best = m;
        }
        return;
    }
    for (uint32_t k = 0; k < b->n_spares; k++) {
        if (!b->used[k]) {
            b->used[k] = true;
            lay_out(b, i, b->spare[k]);
            try_all(b, i + 1);
            b->used[k] = false;
        }
    }
}

static scene_figures best_of_all(scene *s, const fab_relocation *x, double most_s) {
    brute b = {.s = s, .x = x, .allowed_s = most_s};
    b.spare = calloc(s->f->n_servers, sizeof *b.spare);
    b.used = calloc(s->f->n_servers, sizeof *b.used);
    b.moved = calloc(fab_n_gpus(s->f), sizeof *b.moved);
    b.new_gpu = calloc(fab_n_gpus(s->f), sizeof *b.new_gpu);
    for (uint32_t g = 0; g < fab_n_gpus(s->f); g++) {
        b.new_gpu[g] = g;
    }
    for (uint32_t server = 0; server < s->f->n_servers; server++) {
        if (s->taken[server] == 0) {
            b.spare[b.n_spares++] = server;
        }
    }
    try_all(&b, 0);
    free(b.spare);
    free(b.used);
    free(b.moved);
    free(b.new_gpu);
    return b.best;
}

Test(relocate_search, all_assignments) {
    fab_rng rng = fab_rng_make(1, 17);
    uint32_t n_proved = 0;
    uint32_t n_several = 0;
    uint32_t n_better = 0;
    uint32_t n_talk = 0;
    for (uint32_t round = 0; round < 400; round++) {
        scene s;
        char what[512];
        uint32_t n_lost = (uint32_t)random_between(&rng, 1, 3);
        if (draw_scene(&s, &rng, ENGINES[round % N_ENGINES], what, sizeof what)) {
            draw_failures(&s, &rng, n_lost, what, sizeof what);
            fab_relocation first = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
            if (first.is_possible && first.n_spares <= 6) {
                scene_figures by_first = scene_measure(&s, &first);
                double most_s = allowed_s(&s);
                fab_relocation x = search(&s, 0, FAB_NONE);
                scene_figures m = expect_measured(&s, &x, what);
                scene_figures best = best_of_all(&s, &x, most_s);
                if (x.is_optimal) {
                    cr_assert_eq(m.n_disconnected, best.n_disconnected, "%s", what);
                    cr_assert_eq(m.n_collisions, best.n_collisions, "%s: %u, not %u", what, m.n_collisions,
                                 best.n_collisions);
                    cr_assert(m.worst <= best.worst * (1 + 1e-6), "%s: %g, not %g", what, m.worst, best.worst);
                }
                n_proved += x.is_optimal;
                n_several += x.n_lost > 1;
                n_talk += x.n_lost > 1 && x.is_optimal;
                n_better += m.n_collisions < by_first.n_collisions;
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(n_several, 60, "%u with several lost", n_several);
    cr_expect_gt(n_talk, 60, "%u of them proved", n_talk);
    cr_expect_gt(n_proved, 120, "%u proved", n_proved);
    cr_expect_gt(n_better, 20, "%u better than first-spare", n_better);
}

/* Never worse than what any other policy does, whatever the engine, and the same again. */
Test(relocate_search, never_worse) {
    static const char *const MORE[] = {"ecmp",  "ecmp,qp=3,hash=ideal", "dmodk", "pinned,slices=3", "updn", "adaptive",
                                       "spray", "ecmp,weights=capacity"};
    fab_rng rng = fab_rng_make(2, 19);
    uint32_t n = 0;
    uint32_t n_better = 0;
    uint32_t n_late = 0;
    uint32_t n_healthy = 0;
    for (uint32_t round = 0; round < 800; round++) {
        static const char *const FLOOR[] = {"floor.servers-per-rack=2"};
        const char *engine = MORE[round % (sizeof MORE / sizeof MORE[0])];
        random_design d = random_design_next(&rng, 8);
        scene s;
        char what[512];
        (void)snprintf(what, sizeof what, "%s %s", d.text, engine);
        if (scene_init(&s, d.text, FLOOR, 1, "job", engine, round) && s.f->n_servers > 2 &&
            (s.f->n_planes == 1 || !(s.router.facts.splits || s.router.engine->route != NULL)) &&
            fab_n_gpus(s.f) <= 64) {
            char failed[64];
            uint32_t n_dead = (uint32_t)random_between(&rng, 1, 2);
            (void)snprintf(failed, sizeof failed, n_dead == 1 ? "server-%u" : "server-%u server-%u",
                           (uint32_t)fab_rng_below(&rng, s.f->n_servers),
                           (uint32_t)fab_rng_below(&rng, s.f->n_servers));
            scene_fail(&s, failed);
            fab_relocation x = search(&s, 60, (uint32_t)random_between(&rng, 0, 2) - 1);
            scene_figures mine = expect_measured(&s, &x, what);
            char moves[256] = "";
            uint32_t n_mine = (uint32_t)x.n_moves;
            n_healthy += (uint32_t)x.n_healthy;
            for (size_t i = 0; i < x.n_moves; i++) {
                (void)snprintf(moves + strlen(moves), sizeof moves - strlen(moves), "%u>%u ", x.moves[i].from,
                               x.moves[i].to);
            }
            bool is_possible = x.is_possible;
            double most_s = allowed_s(&s);
            cr_assert(x.n_lost == 0 || !is_possible || mine.drain_s <= most_s, "%s; %s: %g s, not %g", what, failed,
                      mine.drain_s, most_s);
            for (int policy = FAB_POLICY_FIRST_SPARE; policy < FAB_POLICY_COLLISION_AWARE; policy++) {
                fab_relocation y = scene_relocate(&s, (fab_policy)policy);
                scene_figures other = scene_measure(&s, &y);
                cr_assert_eq(is_possible, y.is_possible, "%s", what);
                cr_assert_leq(mine.n_disconnected, other.n_disconnected, "%s", what);
                if (y.n_lost > 0 && is_possible && mine.n_disconnected == other.n_disconnected) {
                    bool late = other.drain_s > most_s;
                    cr_assert(late || mine.n_collisions <= other.n_collisions, "%s; %s; %s", what, failed,
                              fab_policies[policy]);
                    cr_assert(late || mine.n_collisions < other.n_collisions || mine.worst <= other.worst + 2e-9,
                              "%s; %s; %s", what, failed, fab_policies[policy]);
                    n++;
                    n_late += late;
                    n_better += mine.n_collisions < other.n_collisions || mine.worst < other.worst - 1e-9;
                }
            }
            x = scene_relocate(&s, FAB_POLICY_COLLISION_AWARE);
            cr_assert_eq(x.n_moves, n_mine);
            for (size_t i = 0; i < x.n_moves; i++) {
                char move[32];
                (void)snprintf(move, sizeof move, "%u>%u ", x.moves[i].from, x.moves[i].to);
                cr_assert_not_null(strstr(moves, move), "%s: not the same again: %s", what, move);
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(n, 300, "%u", n);
    cr_expect_gt(n_better, 60, "%u", n_better);
    cr_expect_gt(n_late, 2, "%u", n_late);
    cr_expect_gt(n_healthy, 3, "%u", n_healthy);
}

/* No more placements than the budget allows, beyond those that the other policies would choose. */
Test(relocate_search, budget) {
    static const char *const JOB[] = {"job.servers=0-39", "job.tp=4", "job.pp=1"};
    scene s;
    cr_assert(scene_init(&s, "clos:gpus=256,gpus-per-server=4,radix=16", JOB, 3, "job:dp", "ecmp", 0));
    scene_fail(&s, "server-7");
    fab_relocation x = search(&s, 5, FAB_NONE);
    cr_expect_leq(x.n_tried, 5 + 4);
    cr_expect_not(x.is_optimal);
    x = search(&s, 0, FAB_NONE);
    cr_expect_eq(x.n_spares, 24);
    cr_expect_leq(x.n_tried, 24 + 5);
    cr_expect(x.is_optimal);
    x = search(&s, 40, 4);
    cr_expect_leq(x.n_tried, 40 + 1);
    cr_expect_leq(x.n_healthy, 4);
    scene_release(&s);
}

/* Phases that are not seen, and a mask under which nobody is lost. */
Test(relocate_search, nothing_to_see) {
    scene s;
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job", "pinned", 0));
    const fab_baseline *none[SCENE_PHASES] = {NULL};
    s.request.phases = none;
    scene_fail(&s, "server-3");
    fab_relocation x = search(&s, 0, 0);
    cr_assert_eq(x.n_moves, 1);
    cr_expect_eq(x.moves[0].to, 4);
    cr_expect_eq(x.n_collisions, 0);
    s.request.phases = s.base;
    scene_fail(&s, "spine-0");
    x = search(&s, 0, 0);
    cr_expect_eq(x.n_lost, 0);
    cr_expect_eq(x.n_moves, 0);
    (void)expect_measured(&s, &x, "spine-0");
    scene_release(&s);
}

/* A phase that is there twice counts twice, and nothing else changes. */
Test(relocate_search, twice) {
    fab_rng rng = fab_rng_make(4, 23);
    uint32_t n = 0;
    for (uint32_t round = 0; round < 60; round++) {
        scene s;
        char what[512];
        if (draw_scene(&s, &rng, ENGINES[round % N_ENGINES], what, sizeof what)) {
            draw_failures(&s, &rng, 1 + round % 2, what, sizeof what);
            fab_relocation once = search(&s, 0, FAB_NONE);
            uint32_t n_once = once.n_collisions;
            uint32_t to = once.n_moves > 0 ? once.moves[0].to : 0;
            const fab_baseline *twice[2 * SCENE_PHASES];
            for (size_t p = 0; p < s.traffic.n_phases; p++) {
                twice[p] = twice[s.traffic.n_phases + p] = s.base[p];
            }
            s.request.phases = twice;
            s.request.n_phases = 2 * s.traffic.n_phases;
            fab_relocation x = search(&s, 0, FAB_NONE);
            cr_assert_eq(x.n_collisions, 2 * n_once, "%s", what);
            cr_assert(x.n_moves == 0 || x.moves[0].to == to, "%s", what);
            n += n_once > 0;
        }
        scene_release(&s);
    }
    cr_expect_gt(n, 5, "%u collide", n);
}
