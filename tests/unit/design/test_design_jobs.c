/* Many jobs in a design: their lists of servers, copies of them, and how many there may be. */
#include "fab/design.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fab_design *design_of_jobs(size_t n) {
    fab_design *design = calloc(1, sizeof *design);
    cr_assert_eq(fab_design_read("clos:gpus=4096", NULL, 0, design, NULL), FAB_OK);
    for (size_t i = 0; i < n; i++) {
        char id[32];
        char servers[64];
        (void)snprintf(id, sizeof id, "j%zu", i);
        (void)snprintf(servers, sizeof servers, "%zu,%zu", i, 511 - i);
        cr_assert_eq(fab_design_set_job(design, i, "id", id, "--job", NULL), FAB_OK);
        cr_assert_eq(fab_design_set_job(design, i, "servers", servers, "--job", NULL), FAB_OK);
    }
    return design;
}

/* Lists that are set again and again, in any order, are what was set last. */
Test(design_jobs, lists_are_what_was_set_last) {
    enum { N = 24 };
    fab_rng rng = fab_rng_make(11, 0);
    fab_design *design = design_of_jobs(N);
    static char said[N][2][64];
    for (size_t i = 0; i < N; i++) {
        (void)snprintf(said[i][0], sizeof said[i][0], "%zu,%zu", i, 511 - i);
    }
    for (int round = 0; round < 4000; round++) {
        size_t job = fab_rng_below(&rng, N);
        size_t which = fab_rng_below(&rng, 2);
        char *text = said[job][which];
        size_t length = fab_rng_below(&rng, 60);
        memset(text, '0' + (int)fab_rng_below(&rng, 10), length);
        text[length] = '\0';
        cr_assert_eq(fab_design_set_job(design, job, which == 0 ? "servers" : "storage-servers", text, "x", NULL),
                     FAB_OK);
        size_t used = 0;
        for (size_t i = 0; i < N; i++) {
            cr_assert_str_eq(fab_design_list(design, design->jobs[i].servers), said[i][0]);
            cr_assert_str_eq(fab_design_list(design, design->jobs[i].storage_servers), said[i][1]);
            used += strlen(said[i][0]) + (said[i][0][0] != '\0') + strlen(said[i][1]) + (said[i][1][0] != '\0');
        }
        cr_assert_eq(design->lists_used, used, "nothing is left of lists that were replaced");
    }
    free(design);
}

Test(design_jobs, lists_that_do_not_fit_are_refused_and_change_nothing) {
    fab_design *design = design_of_jobs(12);
    static char text[FAB_SERVERS_SIZE + 1];
    fab_error err = {0};
    memset(text, '1', FAB_SERVERS_SIZE);
    cr_assert_eq(fab_design_set_job(design, 0, "servers", text, "--job", &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "servers: 8192 bytes are more than the limit of 8191");
    text[FAB_SERVERS_SIZE - 1] = '\0';
    fab_status status = FAB_OK;
    size_t job = 0;
    for (; status == FAB_OK && job < 12; job++) {
        err = (fab_error){0};
        status = fab_design_set_job(design, job, "servers", text, "--job", &err);
    }
    cr_expect(status == FAB_EUNSUPPORTED && job == 8, "%d at %zu", (int)status, job);
    cr_expect_str_eq(err.text, "servers: the lists of servers of all jobs together have more than 65536 characters; "
                               "ranges with a stride (0-62:2) are shorter");
    cr_expect_str_eq(fab_design_list(design, design->jobs[7].servers), "7,504");
    free(design);
}

/* What is described is read back, and a copy, whole or of one job, has the same lists. */
Test(design_jobs, as_many_as_there_may_be_are_read_back_and_copied) {
    fab_design *design = design_of_jobs(FAB_MAX_JOBS);
    fab_design *again = calloc(1, sizeof *again);
    fab_design *copy = calloc(1, sizeof *copy);
    fab_str text = FAB_STR_INIT;
    fab_str second = FAB_STR_INIT;
    fab_error err = {0};
    cr_assert_eq(fab_design_set_job(design, FAB_MAX_JOBS, "tp", "1", "--job", &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "more than 256 jobs");
    fab_design_describe(design, &text);
    cr_assert_eq(fab_design_restore(text.data, again, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(again->n_jobs, FAB_MAX_JOBS);
    fab_design_copy(again, copy);
    fab_design_describe(copy, &second);
    cr_expect_str_eq(second.data, text.data);
    fab_design_copy_alone(again, 200, copy);
    cr_expect(copy->n_jobs == 1 && strcmp(copy->jobs[0].id, "j200") == 0);
    cr_expect_str_eq(fab_design_list(copy, copy->jobs[0].servers), "200,311");
    cr_assert_eq(fab_design_take_job(copy, again, &err), FAB_OK, "%s", err.text);
    cr_expect_str_eq(fab_design_list(again, again->jobs[0].servers), "200,311");
    cr_expect_eq(again->lists_used, sizeof "200,311");
    /* Scale-up links have the rate of the GPU of the job that is taken, and where that was given, the given one. */
    cr_assert_eq(fab_design_read("clos:gpus=64", NULL, 0, again, NULL), FAB_OK);
    const double own_bps = again->fabric.domain_bps;
    cr_assert_eq(fab_design_set_job(copy, 0, "gpu", "gb200-186gb", "test", NULL), FAB_OK);
    cr_assert_eq(fab_design_take_job(copy, again, &err), FAB_OK, "%s", err.text);
    cr_expect(again->fabric.domain_bps == copy->jobs[0].accelerator.scale_up_bps && again->fabric.domain_bps > own_bps);
    cr_assert_eq(fab_design_read("clos:gpus=64,domain-rate=1Tb/s", NULL, 0, again, NULL), FAB_OK);
    cr_assert_eq(fab_design_take_job(copy, again, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(again->fabric.domain_bps, 1e12);
    fab_str_release(&text);
    fab_str_release(&second);
    free(design);
    free(again);
    free(copy);
}
