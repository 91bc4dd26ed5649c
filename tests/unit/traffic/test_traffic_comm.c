/* One communicator at a time: its flows are those that it has beside the others, under the same number and name. */
#include "fab/design.h"
#include "traffic_fixture.h"

/* `one` holds exactly the flows of `all` that belong to communicator `comm`, in the same order. */
static void check_same_flows(const fab_phase *all, const fab_phase *one, uint32_t comm) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < all->n_flows; i++) {
        fab_flow a = fab_phase_flow(all, i);
        if (a.comm == comm) {
            cr_assert_lt(n, one->n_flows);
            fab_flow b = fab_phase_flow(one, n++);
            cr_assert(a.src == b.src && a.dst == b.dst && a.bytes == b.bytes && a.ordinal == b.ordinal);
            cr_assert_eq(b.comm, comm);
        }
    }
    cr_assert_eq(n, one->n_flows);
}

/* Every communicator of every phase; together they carry what the phase carries. */
static void check_phase(const char *name, const fab_traffic *whole, const fab_design *design,
                        const fab_fabric *fabric) {
    const fab_phase *all = traffic_phase(whole, name);
    cr_assert_not_null(all);
    uint64_t bytes = 0;
    uint64_t flows = 0;
    uint64_t most_executions = 0;
    double expected = 0;
    for (uint32_t comm = 0; comm < all->n_comms; comm++) {
        char text[96];
        char name_of_all[64];
        char name_of_one[64];
        (void)snprintf(text, sizeof text, "job:%s,comm=%u", name, comm);
        fab_traffic traffic = traffic_made(text, design, fabric, 1);
        cr_assert_eq(traffic.n_phases, 1);
        const fab_phase *one = &traffic.phases[0];
        traffic_check_phase(one, fabric);
        check_same_flows(all, one, comm);
        cr_expect(one->n_comms == 1 && one->first_comm == comm && one->steps == all->steps);
        cr_expect_str_eq(fab_comm_name(&traffic, one, comm, name_of_one), fab_comm_name(whole, all, comm, name_of_all));
        cr_expect_eq(traffic.n_ranks, whole->n_ranks); /* the job is the same */
        cr_expect_float_eq(one->expected_bytes, (double)one->total_bytes,
                           1e-9 * one->expected_bytes + (double)one->n_flows);
        cr_expect_neq(strcmp(one->formula, all->formula), 0);
        bytes += one->total_bytes;
        flows += one->n_flows;
        expected += one->expected_bytes;
        most_executions = one->executions > most_executions ? one->executions : most_executions;
        fab_traffic_release(&traffic);
    }
    cr_expect_eq(bytes, all->total_bytes);
    cr_expect_eq(flows, all->n_flows);
    cr_expect_eq(most_executions, all->executions);
    cr_expect_float_eq(expected, all->expected_bytes, 1e-9 * expected, "%s: %g, not %g", name, expected,
                       all->expected_bytes);
}

Test(comm, every_communicator_of_a_job) {
    for (int sharded = 0; sharded < 2; sharded++) {
        fab_fabric fabric = traffic_fabric(96, 8, 8);
        fab_design *design = traffic_design();
        fab_job_spec *job = &design->jobs[0];
        (void)snprintf(job->model, sizeof job->model, "llama3-8b"); /* 32 layers over 3 stages: 10, 11, 11 */
        job->tp = 4;
        job->pp = 3;
        job->interleave = 2;
        job->batch = 48;
        job->sharded = sharded == 1;
        job->scatter_gather = sharded == 1;
        fab_traffic whole = traffic_made("job", design, &fabric, 1);
        for (size_t i = 0; i < whole.n_phases; i++) {
            check_phase(whole.phases[i].name, &whole, design, &fabric);
        }
        cr_expect_eq(whole.n_phases, sharded ? 4 : 3);
        fab_traffic_release(&whole);
        free(design);
    }
}

/* With context and expert parallelism, experts in all layers but the first, and stages of different size. */
Test(comm, every_communicator_with_experts) {
    for (int sharded = 0; sharded < 2; sharded++) {
        fab_fabric fabric = traffic_fabric(96, 8, 8);
        fab_design *design = traffic_design();
        fab_job_spec *job = &design->jobs[0];
        (void)snprintf(job->model, sizeof job->model, "deepseek-v3");
        job->layers = 7;
        job->experts = 8;
        job->tp = 2;
        job->cp = 2;
        job->pp = 3;
        job->ep = 4;
        job->batch = 48;
        job->sharded = sharded == 1;
        job->cp_exchange = sharded ? FAB_CP_RING : FAB_CP_ALL_GATHER;
        fab_traffic whole = traffic_made("job", design, &fabric, 1);
        for (size_t i = 0; i < whole.n_phases; i++) {
            check_phase(whole.phases[i].name, &whole, design, &fabric);
        }
        cr_expect_eq(whole.n_phases, sharded ? 9 : 7);
        fab_traffic_release(&whole);
        free(design);
    }
}

Test(comm, every_communicator_of_serving) {
    fab_fabric fabric = traffic_fabric(96, 8, 8);
    fab_design *design = traffic_design();
    fab_job_spec *job = &design->jobs[0];
    job->kind = FAB_JOB_SERVING;
    (void)snprintf(job->model, sizeof job->model, "mixtral-8x7b"); /* 32 layers over 3 stages */
    job->tp = 4;
    job->pp = 3;
    job->ep = 4;
    job->batch = 24;
    fab_traffic whole = traffic_made("job", design, &fabric, 1);
    for (size_t i = 0; i < whole.n_phases; i++) {
        check_phase(whole.phases[i].name, &whole, design, &fabric);
    }
    cr_expect_eq(whole.n_phases, 6);
    fab_traffic_release(&whole);
    free(design);
}

Test(comm, summary_names_the_communicator) {
    fab_fabric fabric = traffic_fabric(128, 8, 8);
    fab_design *design = traffic_design();
    (void)snprintf(design->jobs[0].model, FAB_NAME_SIZE, "gpt-7.5b");
    design->jobs[0].pp = 2;
    fab_traffic traffic = traffic_made("job:dp,comm=11", design, &fabric, 1);
    cr_expect_str_eq(traffic.summary, "gpt-7.5b: tp 8, pp 2, dp 8 on 128 GPUs, batch 512 in 64 microbatches of 1; only "
                                      "dp group tp=3 pp=1");
    cr_expect_str_eq(traffic.phases[0].formula, "2 (d-1)/d x parameters on the GPU x 4 bytes, x d");
    fab_traffic_release(&traffic);
    free(design);
}

Test(comm, refusals_of_a_job) {
    static const struct {
        const char *text, *where, *message;
    } ROWS[] = {
        {"job:tp,comm=16", "job:tp,comm=16", "comm=16 is outside 0 to 15, the communicators of phase 'tp'"},
        {"job:pp,comm=64", "job:pp,comm=64", "comm=64 is outside 0 to 63, the communicators of phase 'pp'"},
        {"job:dp,comm=4294967294", "job:dp,comm=4294967294",
         "comm=4294967294 is outside 0 to 15, the communicators of phase 'dp'"},
        {"job:dp,comm=4294967295", "job:dp,comm=4294967295", "comm: '4294967295' is outside 0 to 4294967294"},
        {"job:dp,comm=x", "job:dp,comm=x", "comm: 'x' is not a whole number from 0 to 4294967294"},
        {"job:dp,comm=1,comm=2", "job:dp,comm=1,comm=2", "comm: '1,comm=2' is not a whole number from 0 to 4294967294"},
        {"job:dp,comm", "job:dp,comm", "key 'comm' has no value; write comm=K, a communicator from 0"},
        {"job:dp,group=3", "job:dp,group=3", "a phase of a job has no key 'group'; allowed: comm"},
        {"job:dp,", "job:dp,", "a phase of a job has no key ''; allowed: comm"},
        {"job:dq,comm=3", "job", "the job (tp 8, pp 2, dp 8) has no phase 'dq'; it has tp, pp, dp"},
        {"job,comm=3", "job,comm=3",
         "no traffic is named so: known are job, job:PHASE[,comm=K], pattern:NAME[,key=value...], file:PATH"},
    };
    fab_fabric fabric = traffic_fabric(128, 8, 8);
    fab_design *design = traffic_design();
    design->jobs[0].pp = 2;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        traffic_refused(ROWS[i].text, design, &fabric, FAB_EINPUT, ROWS[i].where, ROWS[i].message);
    }
    free(design);
}
