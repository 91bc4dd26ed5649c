/* Layers of stages and chunks: nothing is lost, nothing empty, and what published runs say. */
#include "fab/model.h"
#include "fab/stages.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(stages, every_layer_is_in_one_chunk) {
    for (uint64_t layers = 1; layers <= 40; layers++) {
        for (uint64_t pp = 1; pp <= layers && pp <= 9; pp++) {
            for (int embedding = 0; embedding < 2; embedding++) {
                fab_job_spec job = {.layers = layers, .pp = pp, .embedding_as_layer = embedding == 1};
                uint64_t most = fab_most_chunks(&job);
                cr_assert_eq(most, (layers + (embedding == 1 ? 2 : 0)) / pp);
                for (uint64_t v = 1; v <= most; v++) {
                    uint64_t sum = 0;
                    uint64_t least = UINT64_MAX;
                    uint64_t largest = 0;
                    for (uint64_t stage = 0; stage < pp; stage++) {
                        uint64_t mine = 0;
                        for (uint64_t chunk = 0; chunk < v; chunk++) {
                            uint64_t n = fab_chunk_layers(&job, v, stage, chunk);
                            uint64_t units = n + (embedding == 1 && stage == 0 && chunk == 0) +
                                             (embedding == 1 && stage + 1 == pp && chunk + 1 == v);
                            mine += n;
                            least = units < least ? units : least;
                            largest = units > largest ? units : largest;
                        }
                        cr_assert_eq(mine, fab_stage_layers(&job, stage));
                        sum += mine;
                    }
                    cr_assert_eq(sum, layers);
                    cr_assert(least >= 1 && largest - least <= 2, "%d layers, pp %d, v %d: %d to %d", (int)layers,
                              (int)pp, (int)v, (int)least, (int)largest);
                }
            }
        }
    }
}

/* MLPerf, Llama 3.1 405B: 126 layers, embedding and loss, over 8 stages of 8 chunks: two of them each. */
Test(stages, embedding_and_loss_stand_for_a_layer_each) {
    fab_job_spec job = {.layers = 126, .pp = 8, .embedding_as_layer = true};
    for (uint64_t stage = 0; stage < 8; stage++) {
        for (uint64_t chunk = 0; chunk < 8; chunk++) {
            bool ends = (stage == 0 && chunk == 0) || (stage == 7 && chunk == 7);
            cr_assert_eq(fab_chunk_layers(&job, 8, stage, chunk), ends ? 1 : 2);
        }
    }
}

Test(stages, a_list_says_it_all) {
    fab_job_spec job = {.layers = 30, .pp = 4};
    (void)snprintf(job.stage_layers, sizeof job.stage_layers, "7:8,8:7");
    const uint64_t expected[] = {7, 8, 8, 7};
    const uint64_t first[] = {3, 4, 4, 4}; /* of two chunks; the second half of the stages has the fewer ones last */
    for (uint64_t stage = 0; stage < 4; stage++) {
        cr_expect_eq(fab_stage_layers(&job, stage), expected[stage]);
        cr_expect_eq(fab_chunk_layers(&job, 2, stage, 0), first[stage]);
    }
    cr_expect_eq(fab_most_chunks(&job), 7);
}

/* However layers are dealt to stages, listed or not: every parameter is held once, experts by the layers that have
 * them. */
Test(stages, parameters_do_not_depend_on_the_stages) {
    static const char *const NAMES[] = {"llama3-8b", "mixtral-8x7b", "deepseek-v3"};
    uint64_t draw = 1;
    for (size_t m = 0; m < sizeof NAMES / sizeof NAMES[0]; m++) {
        const fab_model *model = fab_model_find(NAMES[m]);
        cr_assert_not_null(model, "%s", NAMES[m]);
        for (int round = 0; round < 40; round++) {
            fab_job_spec job = {.layers = model->layers, .pp = 2 + (uint64_t)round % 5, .ep = 1};
            uint64_t left = model->layers;
            size_t used = 0;
            for (uint64_t stage = 0; stage < job.pp && round % 4 != 0; stage++) {
                draw = draw * 6364136223846793005U + 1442695040888963407U;
                uint64_t most = left - (job.pp - 1 - stage);
                uint64_t n = stage + 1 == job.pp ? left : 1 + (draw >> 33) % most;
                used += (size_t)snprintf(job.stage_layers + used, sizeof job.stage_layers - used, "%s%d",
                                         stage > 0 ? ":" : "", (int)n);
                left -= n;
            }
            double dense = 0;
            double experts = 0;
            uint64_t with_experts = 0;
            for (uint64_t stage = 0; stage < job.pp; stage++) {
                double part[2];
                fab_stage_parameters(model, &job, stage, &part[0], &part[1]);
                dense += part[0];
                experts += part[1];
                with_experts += fab_stage_expert_layers(model, &job, stage);
            }
            double all = fab_model_parameters(model);
            cr_assert_float_eq(dense + experts, all, 1e-9 * all, "%s %s: %g, not %g", model->name, job.stage_layers,
                               dense + experts, all);
            cr_assert_eq(with_experts, model->experts > 1 ? model->layers - model->dense_layers : 0);
        }
    }
}
