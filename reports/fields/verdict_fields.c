/* What a report of `run` or `route` comes to. */
#include "fab/verdict.h"
#include "field_rows.h"
#include "field_tables.h"

#define VERDICT "0072-the-verdict-first.md"

#define T fab_alternative
static const fab_field ALTERNATIVES[] = {
    FIELD(engine, "The engine, as --engine takes it."),
    FIELD(needs_switch_support, "Whether switches must be able to do it: no matter of configuration."),
    FIELD_OF(possible, is_possible, "False where the fabric or the traffic refuses it."),
    FIGURE(time_s, "s", "What the iteration, a batch that is served, or all phases one after the other would take.",
           IF(is_possible)),
    FIGURE(first_token_s, "s", "Of a job that serves: time to first token then, without a queue.", FILLED),
    FIGURE(token_s, "s", "Of a job that serves: time per token then.", FILLED),
    FIELD(max_collision_factor, "Largest collision factor of the phases that were tried, mean over the seeds.",
          IF(is_possible)),
    FIELD_OF(confirmed, is_confirmed,
             "Of one that saves something in one draw: whether it is clearly faster over several seeds.",
             IF(is_checked)),
    FIELD(seeds_ratio,
          "Part of the time that it saves over these seeds, on average; of an iteration in proportion to its phases.",
          IF(is_checked), SIGNED, .source = "0022-advice.md"),
    FIELD(seeds_ci95_ratio, "Half the width of the 95 % interval of that.", IF(is_checked)),
    FIELD(reason, "Why it is refused.", FILLED),
};
static const fab_fields ALTERNATIVE = TABLE("alternative", ALTERNATIVES, VERDICT);

#undef T
#define T fab_run_verdict
static const fab_field VERDICTS[] = {
    FIELD_OF(best_engine, engine, "Index of the fastest engine, from 0: the lines are of it."),
    FIELD_OF(worst_engine, slowest, "Index of the slowest engine; the same as best_engine where none is slower."),
    FIELD_OF(of_iteration, of_iteration,
             "Whether times are those of an iteration, else of all phases one after the other."),
    FIGURE(compared_s, "s", "Time under the fastest engine, of the mean times of its phases.", FILLED),
    FIGURE(least_s, "s", "The same if every phase took the least that any routing needs.", FILLED),
    FIGURE(uplinks_s, "s", "No number of uplinks makes it shorter, whatever the routing.", FILLED,
           .formula = "that of phases whose least time is divided by max_cut_factor"),
    FIELD_OF(untried_flows, n_untried, "Flows of phases that take longer than they must and are too many to be tried.",
             FILLED),
    FIGURE_OF(plan_s, better.time_s, "s", "Time with a plan that is faster by more than a twentieth.", FILLED),
    FIELD_OF(plan, better.keys, "That plan, as keys of the job.", FILLED),
    FIGURE(in_order_s, "s", "Time with placement=order, where it is faster by more than a twentieth.", FILLED),
    FIELD_OF(larger_batch, larger.batch,
             "Of a service that is overloaded: the least batch that carries its requests, or that serves most of them.",
             FILLED),
    FIELD_OF(larger_batch_load_ratio, larger.load_ratio,
             "Requests over those that it serves at most; missing where it does not carry them either.", FILLED),
    FIGURE_OF(larger_batch_requests_per_s, larger.most_requests_per_s, "1/s", "Requests that it serves at most.",
              FILLED),
    FIGURE_OF(larger_batch_first_token_p99_s, larger.first_token_p99_s, "s",
              "99th percentile of the time to first token then, queue included.", FILLED),
    FIELD_OF(bound_by, bound, "What bounds the job."),
    FIELD(collisions, "How bad collisions are."),
    FIELD(cost, "What the network and the tokens cost.", FILLED),
    FIELD_OF(to_do, advice, "What to do about it, of what was computed."),
    FIELD_OF(how_sure, certainty, "What was drawn, what the model leaves out, how published figures are met."),
    ARRAY(alternatives, "alternative", alternatives, n_alternatives, &ALTERNATIVE,
          "Other engines on the phases that take longer than any routing must, with the same seeds."),
};
const fab_fields fab_verdict_fields =
    TABLE("run_verdict", VERDICTS, VERDICT,
          .definition = "The five lines with which a report begins, and the alternatives that they rest on.");
