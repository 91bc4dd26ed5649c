/* Where ranks go when their server is lost. */
#include "relocate_fixture.h"

#include "fab/rng.h"
#include "random_design.h"

/* "3>4 2>5" of the moves, then "; 1 stays". */
static const char *moves_text(const fab_relocation *x, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < x->n_moves; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%u>%u", n > 0 ? " " : "", x->moves[i].from, x->moves[i].to);
    }
    for (size_t i = 0; i < x->n_unplaced; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%u stays", n > 0 ? " " : "", x->unplaced[i]);
    }
    return out;
}

static void expect_moves(scene *s, const char *failed, fab_policy policy, const char *expected) {
    char text[256];
    scene_fail(s, failed);
    fab_relocation x = scene_relocate(s, policy);
    cr_expect_str_eq(moves_text(&x, text, sizeof text), expected, "%s, %s: %s", failed, fab_policies[policy], text);
    cr_expect_eq(x.is_possible, x.n_unplaced == 0);
}

Test(relocate, names) {
    fab_policy policy;
    fab_error err = {0};
    for (int i = 0; i < FAB_POLICY_N; i++) {
        cr_assert_eq(fab_policy_parse(fab_policies[i], &policy, &err), FAB_OK);
        cr_assert_eq((int)policy, i);
    }
    cr_expect_eq(fab_policy_parse("best", &policy, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "unknown policy 'best'; one of none, first-spare, same-rack, same-pod, same-slice, "
                               "collision-aware, shrink");
}

/* The talk's servers 1 to 6 are 0 to 5 here. */
Test(relocate, racks_of_the_talk) {
    scene s;
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job", "pinned", 0));
    expect_moves(&s, "server-3", FAB_POLICY_NONE, "3 stays");
    expect_moves(&s, "server-3", FAB_POLICY_FIRST_SPARE, "3>4");
    expect_moves(&s, "server-3", FAB_POLICY_SAME_SLICE, "3>5");
    expect_moves(&s, "server-2", FAB_POLICY_SAME_SLICE, "2>4");
    expect_moves(&s, "server-2 server-3", FAB_POLICY_FIRST_SPARE, "2>4 3>5");
    expect_moves(&s, "server-1 server-3", FAB_POLICY_SAME_SLICE, "1>5 3>4");
    expect_moves(&s, "server-0 server-1 server-3", FAB_POLICY_FIRST_SPARE, "0>4 1>5 3 stays");
    expect_moves(&s, "server-3 server-4", FAB_POLICY_FIRST_SPARE, "3>5");
    expect_moves(&s, "server-3 server-4 nic-47*0.5", FAB_POLICY_FIRST_SPARE, "3 stays");
    expect_moves(&s, "leaf-1", FAB_POLICY_FIRST_SPARE, "2>4 3>5");
    expect_moves(&s, "leaf-2", FAB_POLICY_FIRST_SPARE, "");
    expect_moves(&s, "server-5", FAB_POLICY_FIRST_SPARE, "");
    fab_error err = {0};
    fab_relocation out;
    cr_expect_eq(fab_relocate(s.relocator, &s.mask, FAB_POLICY_SAME_RACK, &out, &err), FAB_EUNSUPPORTED);
    cr_expect_str_eq(err.text, "policy same-rack: " FAB_NO_FLOOR);
    scene_release(&s);
}

/* First-spare puts both servers behind the first rack into one half of the uplinks. */
Test(relocate, first_spare_collides_in_the_talk) {
    scene s;
    cr_assert(scene_init(&s, "preset:llama3-talk-racks", NULL, 0, "job", "pinned", 0));
    scene_fail(&s, "");
    fab_relocation x = scene_relocate(&s, FAB_POLICY_NONE);
    scene_figures healthy = scene_measure(&s, &x);
    scene_fail(&s, "server-3");
    x = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
    scene_figures first = scene_measure(&s, &x);
    x = scene_relocate(&s, FAB_POLICY_SAME_SLICE);
    scene_figures slice = scene_measure(&s, &x);
    cr_expect_eq(healthy.n_collisions, 0, "%u", healthy.n_collisions);
    cr_expect_gt(first.n_collisions, 0);
    cr_expect_float_eq(first.worst, 2, 1e-9, "%g", first.worst);
    cr_expect_eq(slice.n_collisions, 0, "%u", slice.n_collisions);
    cr_expect_eq(first.n_disconnected + slice.n_disconnected, 0);
    scene_release(&s);
}

Test(relocate, who_is_lost) {
    static const struct {
        const char *failed, *moves;
    } CASES[] = {
        {"", ""},
        {"server-2", "2>8"},
        {"gpu-5", "1>8"},                      /* of server 1 */
        {"nic-5", "1>8"},                      /* the only one of its GPU */
        {"nic-5*0.5", ""},                     /* slow */
        {"leaf-0:2", "1>8"},                   /* the port of server 1 on the first rail */
        {"spine-0", ""},                       /* others are left */
        {"leaf-0", "0>8 1>9 2 stays 3 stays"}, /* of the first rail: all servers of the group */
        {"server-2 server-9 gpu-13 nic-35*0.9", "2 stays 3 stays"},
    };
    scene s;
    cr_assert(scene_init(&s, "rail-spine:gpus=32,gpus-per-server=4,radix=8,spares=2,full-spares=yes", NULL, 0, "job",
                         "ecmp", 0));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        expect_moves(&s, CASES[i].failed, FAB_POLICY_FIRST_SPARE, CASES[i].moves);
    }
    /* All cables from a leaf to its spines: those below are cut off from everybody else. */
    fab_component c[16];
    size_t n = 0;
    fab_node_id leaf = s.f->first[FAB_NODE_SWITCH];
    for (uint32_t k = s.f->out_first[leaf]; k < s.f->out_first[leaf + 1]; k++) {
        if (fab_class_of(s.f, s.f->out_link[k])->kind == FAB_LINK_FABRIC) {
            c[n++] = (fab_component){FAB_COMPONENT_LINK, s.f->out_link[k], 0};
        }
    }
    cr_assert_eq(fab_mask_set(&s.mask, c, n - 1, NULL), FAB_OK);
    fab_relocation x = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
    cr_expect_eq(x.n_lost, 0);
    cr_assert_eq(fab_mask_set(&s.mask, c, n, NULL), FAB_OK);
    x = scene_relocate(&s, FAB_POLICY_FIRST_SPARE);
    cr_expect_eq(x.n_lost, 2, "%zu: servers 1 and 2 have neighbours below the same leaf alone", x.n_lost);
    scene_release(&s);
}

Test(relocate, near_by) {
    scene s;
    /* servers 0 to 31, eight in a pod, four in a rack; those that are not in the job are spare */
    static const char *const WITH_JOB[] = {"floor.servers-per-rack=4", "job.servers=0,1,3,8-13,16-30,31", "job.tp=4",
                                           "job.pp=1"};
    cr_assert(scene_init(&s, "clos:gpus=128,gpus-per-server=4,radix=16,pod=32", WITH_JOB, 4, "job", "ecmp", 0));
    expect_moves(&s, "server-9", FAB_POLICY_FIRST_SPARE, "9>2");
    expect_moves(&s, "server-9", FAB_POLICY_SAME_POD, "9>14");
    expect_moves(&s, "server-9", FAB_POLICY_SAME_RACK, "9>2"); /* none left in its rack */
    expect_moves(&s, "server-13", FAB_POLICY_SAME_RACK, "13>14");
    expect_moves(&s, "server-3", FAB_POLICY_SAME_RACK, "3>2");
    expect_moves(&s, "server-12 server-13", FAB_POLICY_SAME_RACK, "12>14 13>15");
    expect_moves(&s, "server-20", FAB_POLICY_SAME_POD, "20>2"); /* none in its pod */
    expect_moves(&s, "server-0 server-1", FAB_POLICY_SAME_RACK, "0>2 1>4");
    expect_moves(&s, "server-31", FAB_POLICY_SAME_RACK, "31>2");
    scene_release(&s);
}

/* Storage servers and servers of other jobs are no spares. */
Test(relocate, who_is_spare) {
    static const char *const STORAGE[] = {"job.servers=0-3", "job.storage-servers=4-5", "job.tp=4", "job.pp=1"};
    scene s;
    cr_assert(scene_init(&s, "clos:gpus=32,gpus-per-server=4,radix=16", STORAGE, 4, "job:dp", "ecmp", 0));
    expect_moves(&s, "server-1", FAB_POLICY_FIRST_SPARE, "1>6");
    s.request.taken = NULL; /* then the flows alone say it, and this phase has none of theirs */
    scene_renew(&s);
    expect_moves(&s, "server-1", FAB_POLICY_FIRST_SPARE, "1>4");
    scene_release(&s);
    cr_assert(scene_init(&s, "clos:gpus=32,gpus-per-server=4,radix=16", STORAGE, 4, "job", "ecmp", 0));
    s.request.taken = NULL;
    scene_renew(&s);
    expect_moves(&s, "server-1", FAB_POLICY_FIRST_SPARE, "1>6");
    scene_release(&s);
    fab_design two;
    fab_fabric *f = NULL;
    uint8_t taken[64] = {0};
    fab_error err = {0};
    cr_assert_eq(fab_design_read(FAB_TEST_DATA "/two_jobs.xml", NULL, 0, &two, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_topology_build(&two.fabric, &f, NULL, &err), FAB_OK);
    cr_assert_leq(f->n_servers, 64);
    cr_assert_eq(fab_jobs_taken(&two, f, taken, &err), FAB_OK, "%s", err.text);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_servers; i++) {
        n += taken[i];
    }
    cr_expect_eq(n, f->n_servers, "%u of %u", n, f->n_servers);
    fab_fabric_free(f);
}

/* A pattern has no ranks: GPUs with flows count. */
Test(relocate, without_a_job) {
    scene s;
    cr_assert(
        scene_init(&s, "clos:gpus=32,gpus-per-server=4,radix=16", NULL, 0, "pattern:all-reduce,gpus=4-19", "ecmp", 0));
    s.request.taken = NULL;
    scene_renew(&s);
    expect_moves(&s, "server-1", FAB_POLICY_FIRST_SPARE, "1>0");
    expect_moves(&s, "server-1 server-2", FAB_POLICY_FIRST_SPARE, "1>0 2>5");
    expect_moves(&s, "server-0", FAB_POLICY_FIRST_SPARE, "");
    scene_release(&s);
}

/* Moves are one to one, onto spares that nothing touches, and nobody else moves. */
Test(relocate, moves_are_sound) {
    fab_rng rng = fab_rng_make(3, 3);
    uint32_t n_moves = 0;
    uint32_t n_stay = 0;
    for (uint32_t round = 0; round < 300; round++) {
        static const char *const FLOOR[] = {"floor.servers-per-rack=2"};
        random_design d = random_design_next(&rng, 8);
        scene s;
        if (scene_init(&s, d.text, FLOOR, 1, "job", "ecmp", round) && s.f->n_servers > 1) {
            char failed[128];
            uint32_t a = (uint32_t)fab_rng_below(&rng, s.f->n_servers);
            uint32_t b = (uint32_t)fab_rng_below(&rng, fab_n_gpus(s.f));
            (void)snprintf(failed, sizeof failed, "server-%u gpu-%u", a, b);
            scene_fail(&s, failed);
            for (int policy = 0; policy < FAB_POLICY_COLLISION_AWARE; policy++) {
                fab_relocation x = scene_relocate(&s, (fab_policy)policy);
                uint32_t *taken = calloc(fab_n_gpus(s.f), sizeof *taken);
                uint32_t n_moved = 0;
                cr_assert_eq(x.n_moves + x.n_unplaced, x.n_lost, "%s", d.text);
                for (uint32_t rank = 0; rank < s.traffic.n_ranks; rank++) {
                    uint32_t gpu = s.traffic.gpu_of_rank[rank];
                    uint32_t to = x.new_gpu[gpu];
                    cr_assert_eq(taken[to]++, 0, "%s: two ranks on gpu-%u", d.text, to);
                    cr_assert_eq(to % s.f->gpus_per_server, gpu % s.f->gpus_per_server);
                    cr_assert(!fab_mask_node_is_dead(&s.mask, to) || !x.is_possible, "%s: gpu-%u is dead", d.text, to);
                    n_moved += to != gpu;
                    bool lost = to != gpu;
                    cr_assert(!lost || s.traffic.rank_of_gpu[to] == FAB_NONE, "%s", d.text);
                }
                cr_assert_eq(n_moved, x.n_moved);
                n_moves += (uint32_t)x.n_moves;
                n_stay += (uint32_t)x.n_unplaced;
                free(taken);
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(n_moves, 300, "%u", n_moves);
    cr_expect_gt(n_stay, 300, "%u", n_stay);
}
