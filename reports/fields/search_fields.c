/* Searches over designs and changes: `optimize` and `advice`. */
#include "fab/advice.h"
#include "fab/optimum.h"
#include "field_rows.h"
#include "field_tables.h"

#define OPTIMISE  "0014-optimise.md"
#define ADVICE    "0022-advice.md"
#define ITERATION "0025-iteration-time.md"
#define COLLIDING "0009-collisions.md"
#define OWNERSHIP "0077-cost-of-ownership.md"
#define TOKENS    "0092-own-units.md"

/* --- optimize ----------------------------------------------------------------------------------------------------- */

#define CHOICE_ROWS                                                                                                    \
    FIELD(family, "Topology family."),                                                                                 \
        FIELD_OF(switch_models, switches,                                                                              \
                 "Switches by their names in the catalog, leaf first; *2: ports split in two."),                       \
        FIELD(tiers, "Switch tiers."), FIELD(planes, "Parallel fabrics over which the ports of a NIC are split."),     \
        FIELD(rails_per_switch, "Rails that share a network; missing where that is left to the family.", FILLED),      \
        FIELD_OF(gpus_per_domain, domain, "GPUs of one scale-up domain."),                                             \
        FIGURE(nic_bps, "bit/s", "Rate of one NIC in one direction.")

#define T fab_optimum_point
GIVES(size_t, count_built_tapers, here->tiers > 0 && here->tiers <= FAB_MAX_TIERS ? (size_t)here->tiers - 1 : 0);

static const fab_field POINTS[] = {
    FIELD(design, "The design in its one-line form."),
    CHOICE_ROWS,
    FIELD_OF(switches, n_switches, "Switches of all tiers."),
    FIELD_OF(cables, n_cables, "Network cables."),
    SCALARS(built_taper, NULL, built_taper,
            "Oversubscription as built of every boundary between tiers, leaf - spine first.", .n = count_built_tapers),
    FIELD(bisection_ratio, "Part of full bisection that any traffic may count on; missing of one server.", KNOWN),
    FIGURE(power_w, "W", "Power of all network parts."),
    FIGURE(total_usd, "USD", "Price of the network."),
    FIELD(difference_ratio, "How much more than the winner the design costs.", SIGNED,
          .formula = "total_usd / total_usd of the winner - 1"),
    FIGURE(owned_usd, "USD", "By tokens: cost of ownership of the whole cluster.", FILLED, .source = OWNERSHIP),
    FIGURE(usd_per_1e9_tokens, "USD", "By tokens: cost of ownership per 1e9 tokens of the job.", FILLED,
           .source = TOKENS,
           .formula = "owned_usd x part of the GPUs / (tokens_per_s x years x 31,536,000) x 1e9, over "
                      "goodput_ratio with failures"),
    FIELD(token_difference_ratio, "By tokens: how much more than the winner's its tokens cost.", IF(usd_per_1e9_tokens),
          SIGNED, .source = TOKENS, .formula = "usd_per_1e9_tokens / usd_per_1e9_tokens of the winner - 1"),
    FIELD(token_least_ratio,
          "Of the first design of a family that is listed: how much more than the winner's the tokens of the family's "
          "cheapest cost at least, by bounds where designs were not replayed. Of others token_difference_ratio.",
          IF(usd_per_1e9_tokens), SIGNED, .source = TOKENS),
    FIGURE(tokens_per_s, "1/s", "By tokens: of the job under its best plan.", FILLED, .source = ITERATION),
    FIELD(draws, "Seeds that times and tokens are means of, where the engine draws paths.", FILLED),
    FIELD_OF(ci95_ratio, seeds.ci95_ratio, "Half width of the 95 % interval of the mean time, over that mean.", FILLED),
    FIELD(estimated_ratio, "A phase of the plan takes at most this part longer than its estimate.", FILLED),
    FIGURE(iteration_s, "s", "By tokens: an iteration of that.", FILLED, .source = ITERATION),
    FIELD(goodput_ratio, "By tokens with failures: the part of the time that they leave.", FILLED,
          .source = "0070-failure-model.md"),
    FIELD(policy, "Where ranks go in it when their server is lost.", FILLED),
    FIELD_OF(goodput_ci95_ratio, goodput_ci95, "Half of its 95 % interval over the histories.", IF(goodput_ratio)),
    FIELD_OF(plans_tried, n_plans_tried,
             "Plans that were tried with them, of which this one's tokens are the cheapest.", FILLED),
    FIELD(plan, "By tokens: how the job runs best on the design.", FILLED, .source = "0075-plans.md"),
};
static const fab_fields POINT = TABLE("optimum", POINTS, OPTIMISE);

#undef T
#define T fab_optimum_loser
static const char *const LOSSES[] = {[FAB_LOSS_COST] = "cost",
                                     [FAB_LOSS_LIMIT] = "constraint",
                                     [FAB_LOSS_UNBUILDABLE] = "unbuildable",
                                     [FAB_LOSS_BOUND] = "bounded",
                                     [FAB_LOSS_UNSEEN] = "unseen"};

static const fab_field LOSERS[] = {
    CHOICE_ROWS,
    NAMED(kind, loss, LOSSES,
          "Why it lost: cost: it costs more; constraint: it cannot keep one; unbuildable: there is no such fabric; "
          "bounded: it was not tried, and by a bound its tokens cost no less than the winner's; unseen: not tried, and "
          "they may cost less, or the time limit struck first."),
    FIELD(reason, "The same as a sentence."),
    FIGURE(total_usd, "USD", "Price of its best design.", FILLED),
    FIELD(difference_ratio, "How much more than the winner that is.", IF(total_usd), SIGNED,
          .formula = "total_usd / total_usd of the winner - 1"),
    FIGURE(least_usd_per_1e9_tokens, "USD",
           "By tokens: what 1e9 of its best design cost, or what those of none of them cost less than.", FILLED,
           .source = TOKENS),
};
static const fab_fields LOSER = TABLE("rejected", LOSERS, OPTIMISE);

#undef T
#define T fab_limits
static const fab_field LIMITS[] = {
    FIELD(min_bisection_ratio, "Least bisection that any pattern may count on, as a share of full.", IF(has_bisection)),
    FIELD(max_taper, "Largest built taper at any boundary.", IF(has_taper)),
    FIGURE(max_power_w, "W", "Most power of switches, optics and NICs.", IF(has_power)),
    FIGURE(budget_usd, "USD", "Most capital.", IF(has_budget)),
};
static const fab_fields LIMIT = TABLE("constraints", LIMITS, OPTIMISE);

#undef T
#define T fab_token_search
static const fab_field TOKEN_SEARCH[] = {
    FIELD(job, "The job that designs are replayed with."),
    FIELD(engine, "The engine with its options."),
    FIELD(options, "What gives both to another command, to be typed behind a design."),
    FIELD(is_drawn, "Whether the engine hashes: paths are drawn."),
    FIELD(scenarios, "Histories of failures that tokens are judged with.", FILLED),
    FIELD(policy, "Where ranks go in them, of the winner.", FILLED),
    FIELD_OF(replayed, n_replayed, "Designs that were replayed under their best plan."),
    FIELD_OF(bounded, n_bounded, "Designs whose tokens cost no less than the winner's, by a lower bound."),
    FIELD_OF(open, n_open, "Designs that were not replayed, and whose bound is below the winner."),
    FIELD_OF(open_beside, n_open_beside, "Those of them that differ from the winner in one taper alone.", FILLED),
    FIELD(unseen,
          "Families whose plain design (no taper, one plane, whole ports) was not replayed and might be better.",
          FILLED),
    FIELD_OF(refused, n_refused, "Designs that cannot be replayed."),
    FIELD(refused_note, "Why, of the first.", FILLED),
    FIELD(most_replays, "Designs that may be replayed.", FILLED),
    FIGURE(floor_s, "s", "No network with the winner's NICs and scale-up domains has a shorter iteration."),
    FIGURE(lower_bound_usd_per_1e9_tokens, "USD", "No design that can be replayed has cheaper tokens.",
           .labels = "lower bound",
           .formula = "least of owned_usd x part of the GPUs / (tokens / floor_s x years x 31,536,000) x 1e9 of those "
                      "that are open, and of usd_per_1e9_tokens"),
    FIGURE(hashed_usd_per_1e9_tokens, "USD",
           "What 1e9 tokens of the winner cost under ecmp with one queue pair, which run and compare assume without "
           "--engine: its best plan then, a mean of eight seeds where there are few enough flows.",
           FILLED, .source = TOKENS),
    FIELD_OF(fewer_gain_ratio, fewer.gain,
             "Tokens per second of the winner on fewer GPUs, or with another batch, over those on all.", FILLED),
    FIELD_OF(fewer_job, fewer.job, "What runs the job so, as --job takes it.", FILLED),
    FIGURE(fewer_usd_per_1e9_tokens, "USD", "What 1e9 tokens of the winner cost so, all GPUs paid for.", FILLED,
           .formula = "usd_per_1e9_tokens of the winner / fewer_gain_ratio"),
    FIELD_OF(fewer_design, fewer_winner.design,
             "The design whose 1e9 tokens cost 1 % less or more than that so; missing where none was found.", FILLED),
    FIGURE_OF(fewer_design_usd_per_1e9_tokens, fewer_winner.usd_per_1e9_tokens, "USD", "What they cost on it.", FILLED),
    FIGURE(random_s, "s", "An iteration of a winner with a taper, whose ranks are placed at random.", FILLED),
    FIELD(gap_ratio, "How far the winner is from that; 0: it is proven to be the best.",
          .formula = "usd_per_1e9_tokens / lower_bound_usd_per_1e9_tokens - 1"),
};
static const fab_fields TOKEN_SEARCHES = TABLE("optimize_tokens", TOKEN_SEARCH, TOKENS);

#undef T
#define T fab_optimum
static const char *const OBJECTIVES[] = {[FAB_OBJECTIVE_NETWORK] = "network", [FAB_OBJECTIVE_TOKENS] = "tokens"};
GIVES(bool, is_by_tokens, here->objective == FAB_OBJECTIVE_TOKENS);
GIVES(bool, is_by_network, here->objective == FAB_OBJECTIVE_NETWORK);

static const fab_field OPTIMUM[] = {
    FIELD(catalog, "Name of the catalog."),
    FIELD(prices, "Name of the price book."),
    FIELD(source, "Where the figures of the catalog come from.", FILLED),
    FIELD(gpus, "GPUs to connect."),
    FIELD_OF(choices, n_structures, "Combinations of family, tiers, switches, planes, shared rails, domain and NIC."),
    FIELD_OF(designs, n_candidates, "Designs that were priced: every choice with every combination of tapers."),
    NAMED(objective, objective, OBJECTIVES, "What is least: network: its price; tokens: ownership per 1e9 of them."),
    FIELD_OF(proven, is_proven,
             "False when the time limit struck before all was searched, or designs were left that might be better."),
    FIELD(fronts_complete, "False when the time limit or the limit of points ended a front."),
    FIGURE(lower_bound_usd, "USD", "No design of the catalog that keeps the constraints costs less.",
           .labels = "lower bound", .only = is_by_network),
    FIELD(
        edge_taper,
        "Largest taper of the catalog, where the winner has it and no limit asks for less: larger ones were not tried.",
        FILLED),
    FIELD(edge_breakout,
          "Cables of a port of the catalog at most, where the winner has several tiers: more were not tried.", FILLED),
    FIELD(edge_planes, "Planes of the catalog at most, of the same winner: more were not tried.", FILLED),
    OBJECT(constraints, limits, &LIMIT, "What the fabric must keep to."),
    OBJECT(winner, winner, &POINT, "The cheapest design."),
    OBJECT(cheapest_network, cheapest, &POINT, "By tokens: the design whose network costs the least.",
           IF(cheapest.usd_per_1e9_tokens)),
    OBJECT(tokens, tokens, &TOKEN_SEARCHES, "By tokens: what was replayed, and what is proven.", .only = is_by_tokens),
    ARRAY(runners_up, "point", runners_up, n_runners_up, &POINT,
          "Best designs of the next best choices, cheapest first; by tokens the next best designs."),
    LIST(pareto_bisection, "point", by_bisection, n_by_bisection, &POINT,
         "No other design is cheaper and has as much bisection; without min-bisection and budget."),
    LIST(pareto_power, "point", by_power, n_by_power, &POINT,
         "No other design is cheaper and draws as little; without max-power and budget."),
    LIST(rejected, "choice", rejected, n_rejected, &LOSER, "Choices that lost, in the order of the search."),
};
const fab_fields fab_optimum_fields = TABLE(
    "optimize", OPTIMUM, OPTIMISE,
    .definition =
        "The cheapest design of a catalog under constraints. `fabric` and `cost` beside this field are the winner's.");

/* --- advice ------------------------------------------------------------------------------------------------------- */

static const char *const KINDS[FAB_ADVICE_N_KINDS] = {
    [FAB_ADVICE_QUEUE_PAIRS] = "queue-pairs", [FAB_ADVICE_HASHING] = "hashing",
    [FAB_ADVICE_PINNING] = "pinning",         [FAB_ADVICE_ADAPTIVE] = "adaptive",
    [FAB_ADVICE_BUFFERS] = "buffers",         [FAB_ADVICE_PRIORITIES] = "priorities",
    [FAB_ADVICE_RANK_ORDER] = "rank-order",   [FAB_ADVICE_PLACEMENT] = "placement"};
static const char *const VERDICTS[] = {[FAB_ADVICE_FASTER] = "faster",
                                       [FAB_ADVICE_SLOWER] = "slower",
                                       [FAB_ADVICE_UNCLEAR] = "unclear",
                                       [FAB_ADVICE_IMPOSSIBLE] = "impossible"};
#define VERDICT_TEXT                                                                                                   \
    "What the differences say; unclear: their 95 % interval contains 0, and neither takes the least that any routing " \
    "needs under every seed; impossible: the fabric or the job refuses it."

#undef T
#define T fab_advice_figures
static const fab_field ADVICE_FIGURES[] = {
    FIGURE(time_s, "s",
           "Sum over the phases of what they take until the last byte is there, or with by_links of what the fullest "
           "network link needs for its bytes; mean over the seeds."),
    FIELD(max_collision_factor, "Largest collision factor of a fabric link in any phase, mean over the seeds.",
          .source = COLLIDING),
    FIELD(collided_flows, "Flows with a path over a collided link, over the phases, mean over the seeds.",
          .source = COLLIDING),
};
static const fab_fields FIGURES = TABLE("advice_figures", ADVICE_FIGURES, ADVICE);

#undef T
#define T fab_advice_gain
static const fab_field GAINS[] = {
    FIGURE(gain_s, "s",
           "What a change saves of the time of all phases, mean over the seeds; both under the same seeds.", SIGNED,
           .formula = "time_s of the base - time_s of the change", .labels = "gain"),
    FIGURE_OF(gain_ci95_s, ci95_s, "s", "Half width of the 95 % interval of gain_s over the seeds."),
    FIELD_OF(gain_ratio, ratio, "Gain as a part of the base.", SIGNED, .formula = "gain_s / time_s of the base"),
};
static const fab_fields GAIN = TABLE("gain", GAINS, ADVICE);

#undef T
#define T fab_advice_row
GIVES(bool, is_possible, here->gain.verdict != FAB_ADVICE_IMPOSSIBLE);
GIVES(bool, is_impossible, !is_possible(at));

static const fab_field CANDIDATES[] = {
    NAMED(kind, kind, KINDS, "What is changed."),
    FIELD(change, "The change as options to type."),
    FIELD(needs_switch_support, "Whether switches must be able to do it."),
    NAMED(verdict, gain.verdict, VERDICTS, VERDICT_TEXT),
    FIELD(reason, "Why it is impossible.", .only = is_impossible),
    GROUP(figures, &FIGURES, .only = is_possible),
    GROUP(gain, &GAIN, .only = is_possible),
};
static const fab_fields CANDIDATE = TABLE("candidate", CANDIDATES, ADVICE);

#undef T
#define T fab_advice_best
static const fab_field BEST[] = {
    FIELD(change, "The changes as options to type."),
    FIELD(command, "The whole command line."),
    GROUP(figures, &FIGURES),
    GROUP(gain, &GAIN),
    FIGURE(base_iteration_s, "s", "Mean iteration of the job as it is.", FILLED),
    FIGURE(iteration_s, "s", "The same with the changes.", FILLED),
    NAMED(check_verdict, check.verdict, VERDICTS, VERDICT_TEXT " On seeds that chose nothing, as the next three."),
    FIGURE_OF(check_gain_s, check.gain_s, "s", "The gain on seeds that chose nothing: what can be expected.", SIGNED,
              .formula = "time_s of the base - time_s of the change"),
    FIGURE_OF(check_gain_ci95_s, check.ci95_s, "s", "Half width of the 95 % interval of check_gain_s."),
    FIELD_OF(check_gain_ratio, check.ratio, "The same gain as a part of the base.", SIGNED,
             .formula = "check_gain_s / time_s of the base"),
    {.key = "kinds",
     .type = FAB_FIELD_LIST,
     .item = "kind",
     .item_type = FAB_FIELD_NAME,
     .at = offsetof(T, kinds),
     .stride = sizeof(MEMBER(kinds)[0]),
     COUNTED(n_changes),
     ONE_OF(KINDS),
     .definition = "What is changed, in the order in which it was taken."},
};
static const fab_fields BEST_CHANGES = TABLE("best_changes", BEST, ADVICE);

#undef T
#define T fab_advice
static const fab_field BASE[] = {
    FIELD(engine, "The engine that was asked for, with all options."),
    GROUP(base, &FIGURES),
};
static const fab_fields BASE_FIGURES = TABLE("advice_base", BASE, ADVICE);

static const fab_field ADVICES[] = {
    FIELD(seed, "The first seed."),
    FIELD_OF(seeds, n_seeds, "Seeds under which everything was evaluated."),
    FIELD_OF(evaluated, n_evaluated, "Configurations that were evaluated, placements and combinations included."),
    FIELD_OF(placements, n_placements, "Configurations that the search for servers tried."),
    FIELD_OF(placement_budget, budget, "Most placements that the search may try."),
    FIELD(by_links, "Whether times are those of the fullest links: more than 8,192 flows have unequal bytes.",
          IF(by_links)),
    FIELD(order_note, "Why rank orders are missing.", FILLED),
    FIELD(placement_note, "What the search for servers did, or why there was none.", FILLED),
    SAME_ROW(base, &BASE_FIGURES, "The configuration that was asked for."),
    LIST(candidates, "candidate", rows, n_rows, &CANDIDATE, "One change each, most gain first, impossible ones last."),
    OBJECT(best, best, &BEST_CHANGES,
           "The best changes together that need nothing new of switches, found greedily; missing where none is clearly "
           "faster.",
           IF(best.n_changes)),
};
const fab_fields fab_advice_fields =
    TABLE("advice", ADVICES, ADVICE,
          .definition = "What changes that an operator can make buy: `route` with --advise. All are evaluated under "
                        "the same seeds and compared seed by seed.");
