/* Designs at many values of a parameter, and side by side: `sweep`, `compare`, `place`. */
#include "fab/sweep.h"
#include "field_rows.h"
#include "field_tables.h"

#define ITERATION  "0025-iteration-time.md"
#define SWEEPS     "0029-sweeps.md"
#define PLACEMENTS "0078-placements.md"
#define COLLIDING  "0009-collisions.md"
#define JOBS       "0030-several-jobs-and-degraded-parts.md"
#define COST       "0013-cost-model.md"
#define OWNERSHIP  "0077-cost-of-ownership.md"

#define T fab_sweep_phase
static const fab_sweep_point *point_around(const fab_at *at) { /* of a row of a phase */
    return at->up->row;
}

static size_t sweep_count_boundaries(const fab_at *at) {
    uint64_t n = point_around(at)->counts.n_boundaries;
    return n > FAB_MAX_TIERS ? FAB_MAX_TIERS - 1 : n > 1 ? (size_t)n - 1 : 0;
}

GIVES(const char *, crossed_name, fab_boundary_name(point_around(at->up)->counts.wiring, (uint32_t)at->index + 2));
GIVES(uint64_t, crossed_tier, at->index + 2);

static const fab_field CROSSINGS[] = {
    TEXT_BY(boundary, crossed_name, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, crossed_tier, FAB_TIER_TEXT),
    COLUMN(crossing_flows, crossing_flows, [2], NULL, "Flows whose minimal routes cross the boundary."),
};
static const fab_fields CROSSING = VIEW("sweep_boundary", CROSSINGS, SWEEPS);

#undef T
#define T fab_sweep_time
GIVES(bool, is_of_seeds, here->n_seeds > 1);
GIVES(const char *, time_label, point_around(at->up)->engines[at->index].label);

static const fab_field SWEEP_TIMES[] = {
    TEXT_BY(label, time_label, "The engine with its options."),
    FIELD(max_collision_factor,
          "Largest collision factor of a fabric link; missing where only the plan of another engine has the phase.",
          IF(n_seeds), .source = COLLIDING),
    FIGURE(time_s, "s", "Time of all executions of the phase in one iteration; missing where it is not known.",
           IF(has_time)),
};
static const fab_fields SWEEP_TIME = TABLE("sweep_phase_engine", SWEEP_TIMES, SWEEPS, .many = is_of_seeds);

GIVES(size_t, count_engines, point_around(at)->n_engines);

#undef T
#define T fab_sweep_phase
static const fab_field SWEEP_PHASES[] = {
    FIELD(name, "Name of the phase."),
    FIELD(collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD(flows, "Flows of the phase."),
    FIELD(fabric_flows, "Flows that cross a fabric link."),
    FIGURE(bytes, "byte", "Bytes of all its flows over one iteration."),
    FIELD(max_taper_factor, "Largest utilisation of a fabric link under ideal spray.", .source = COLLIDING),
    FIELD(leaf_cables, "Of trees: cables to NICs of the leaves that have the most.", FILLED),
    FIELD(
        leaf_excess_ratio,
        "Bytes that the fullest of these leaves sends up, over their mean; above 1 groups of servers straddle leaves.",
        FILLED, .source = COLLIDING),
    LIST_BY(boundaries, "boundary", NULL, sweep_count_boundaries, &CROSSING,
            "What crosses the boundaries between switch tiers."),
    LIST_OF(engines, "engine", times, count_engines, &SWEEP_TIME,
            "The phase under every engine, in the order of the point's engines."),
};
static const fab_fields SWEEP_PHASE = TABLE("sweep_phase", SWEEP_PHASES, SWEEPS);

#undef T
#define T fab_algorithm_time
GIVES(const char *, algorithm_label, point_around(at->up)->engines[at->index].label);

static const fab_field ALGORITHM_TIMES[] = {
    TEXT_BY(label, algorithm_label, "The engine with its options."),
    FIGURE(time_s, "s", "Its phases one after the other, latency of their steps included; mean over the seeds.",
           IF(has_time)),
    FIGURE(latency_s, "s", "Of time_s: steps of its phases, and the software of hosts.", IF(has_time)),
    FIGURE(host_s, "s", "Of latency_s: the software of hosts.", IF(has_time)),
    FIGURE(routing_s, "s", "Of time_s: what bytes take beyond what no routing stays below.", IF(has_time),
           .formula = "sum over its phases of transfer_s x (1 - 1 / lower_bound_ratio)"),
    FIELD_OF(min_collision_factor, least_factor, "Least of the largest collision factors of its phases.",
             .source = COLLIDING),
    FIELD_OF(max_collision_factor, most_factor, "Largest collision factor of a fabric link in any of its phases.",
             .source = COLLIDING),
};
static const fab_fields ALGORITHM_TIME = TABLE("sweep_algorithm_engine", ALGORITHM_TIMES, SWEEPS);

#undef T
#define T fab_sweep_algorithm
static const fab_field ALGORITHMS[] = {
    FIELD(name, "Name of the algorithm."),
    LIST_OF(engines, "engine", times, count_engines, &ALGORITHM_TIME,
            "The algorithm under every engine, in the order of the point's engines."),
};
static const fab_fields ALGORITHM = TABLE("sweep_algorithm", ALGORITHMS, SWEEPS);

#undef T
#define T fab_sweep_engine
GIVES(double, exposed, fab_iteration_exposed_s(&here->iteration));

static const fab_field SWEEP_ENGINES[] = {
    FIELD(label, "The engine with its options."),
    FIGURE_OF(plan_lower_bound_s, plan_bound_s, "s", "No plan that was not evaluated takes less.", IF(has_plan)),
    FIELD(plan_is_proven,
          "Whether nothing is faster without failures; else it is the best that a short search finds, or that failures "
          "leave the most of.",
          IF(has_plan)),
    FIELD_OF(plans_tried, n_plans_tried, "Plans that were tried with failures, of which this one keeps the most.",
             FILLED, .source = "0075-plans.md"),
    FIGURE(time_s, "s", "Of the iteration, or of a batch that is served, else phases_s.", IF(has_time)),
    FIGURE(compared_s, "s", "Time for as many tokens as the first point has, and of designs, on as many GPUs.", FILLED,
           .formula = "time_s x tokens of the first point / tokens (x GPUs / GPUs of the first point)"),
    FIELD_OF(slowdown_ratio, slowdown, "Time over the least of this engine in the sweep; missing in a mix.", FILLED,
             .formula = "compared_s / least compared_s"),
    FIELD_OF(pareto, is_on_front,
             "Whether, under this engine, no point costs less and is as fast, or is faster and costs as much; with "
             "failures where `scenarios` is given, and then only as far as the histories tell points apart.",
             IF(slowdown)),
    FIGURE(phases_s, "s", "Times of all phases of an iteration one after the other, nothing overlapped.",
           IF(has_phases), .formula = "sum over the phases of time_s"),
    FIGURE_OF(iteration_s, iteration.time_s, "s", "Time of an iteration at this point.", IF(has_iteration)),
    FIGURE_OF(compute_s, iteration.compute_s, "s", "Computation alone on the busiest pipeline stage.",
              IF(has_iteration), .source = ITERATION),
    FIGURE_OF(bubble_s, iteration.bubble_s, "s", "The busiest stage idle while the pipeline fills and drains.",
              IF(has_iteration), .source = ITERATION),
    REAL_BY(exposed_s, exposed, "s", "Communication of all dimensions that no computation hides.", IF(has_iteration),
            .formula = "sum of exposed_*_s", .labels = "exposed"),
    FIGURE_OF(tokens_per_s, iteration.tokens_per_s, "1/s", "Tokens of the whole job per second.", IF(has_iteration),
              .source = ITERATION),
    FIELD_OF(mfu_ratio, iteration.mfu_ratio, "Model FLOPs utilisation.", IF(has_iteration), .source = ITERATION),
    FIGURE_OF(usd_per_1e9_tokens, iteration.usd_per_1e9_tokens, "USD",
              "GPU hours, and capital and energy of the network, per 1e9 tokens.", FILLED, .source = ITERATION),
    FIELD_OF(goodput_ratio, goodput.mean, "Useful part of the time under failures, mean.", IF(has_goodput)),
    FIELD_OF(goodput_ci95_ratio, goodput.ci95, "Half width of its 95 % confidence interval.", IF(has_goodput)),
    FIELD_OF(waiting_goodput_ratio, waiting.mean,
             "What goodput_ratio is under policy first-spare, where shrink was taken as no policy was given.", FILLED),
    FIELD_OF(other_batch_goodput_ratio, other_batch.mean,
             "What goodput_ratio is with the other value of failures.keep-batch, under shrink.", FILLED,
             .source = "0084-histories.md"),
    FIGURE(random_s, "s", "The time with ranks placed at random under the same plan, where points have unlike tapers.",
           FILLED),
    FIGURE(all_jobs_s, "s", "Iteration, else phase, of all jobs of the design together, mean over their GPUs.", FILLED,
           .source = JOBS, .formula = "sum of gpus x together / sum of gpus"),
    FIELD(is_drawn, "Whether another seed gives another time: some phase hashes.", IF(has_time)),
    FIELD_OF(draws, n_seeds, "Seeds that times, and what goes by them, are means of.", IF(is_drawn)),
    FIELD_OF(ci95_ratio, seeds.ci95_ratio,
             "Half width of the 95 % interval of the mean time, over that mean; of several phases at most.", FILLED),
    FIELD(estimated_ratio,
          "Hashes are estimated: a phase takes at most this part longer, but in one draw in a thousand.", FILLED,
          .source = "0111-hashes-of-many-flows.md"),
    FIGURE(least_s, "s", "Least time of an iteration, or of the only phase, over the seeds.", IF(most_s)),
    FIGURE(most_s, "s", "Longest time of it over the seeds.", FILLED),
    FIGURE_OF(owned_usd_per_1e9_tokens, iteration.owned_usd_per_1e9_tokens, "USD",
              "Cost of ownership of the job's part of the cluster, per 1e9 tokens.", FILLED, .source = OWNERSHIP,
              .formula = "ownership.total_usd x part of the GPUs / (tokens_per_s x years x 31,536,000) x 1e9"),
    OBJECT(plan, plan, &fab_job_plan_fields,
           "How the job runs fastest here under this engine, where it leaves that open.", IF(has_plan)),
    OBJECT(serving, serving, &fab_serving_fields,
           "The serving job, which has no time here where it is overloaded, but in a mix.", IF(has_serving)),
};
static const fab_fields SWEEP_ENGINE = TABLE("sweep_engine", SWEEP_ENGINES, SWEEPS);

#undef T
#define T fab_ownership
static const fab_field OWNERSHIPS[] = {
    FIELD(profile, "The price book."),
    FIELD(missing, "What is not priced; then there is no total.", FILLED),
    FIELD(years, "Years of use, of the price book.", IF(years)),
    FIELD(gpus, "GPUs bought, those of spare servers too.", IF(years)),
    FIELD(servers, "Servers bought.", IF(years)),
    FIELD(racks, "Racks of the floor plan, or as many as the price book fills.", IF(years)),
    FIGURE(gpu_usd, "USD", "Price of the GPUs.", IF(years)),
    FIGURE(server_usd, "USD", "Price of the servers without GPUs and NICs.", IF(years)),
    FIGURE(rack_usd, "USD", "Racks, and their floor over the years.", IF(years)),
    FIGURE(network_usd, "USD", "Price of the network, the front-end's too.", IF(years)),
    FIGURE(energy_usd, "USD", "Energy of all parts over the years.", IF(years),
           .formula = "power_w / 1e3 x 8,760 x years x PUE x price of energy"),
    FIGURE(power_w, "W", "Power of all parts at their most.", IF(years)),
    FIGURE(total_usd, "USD", "Cost of ownership over the years.", IF(years),
           .formula = "gpu_usd + server_usd + rack_usd + network_usd + energy_usd"),
};
const fab_fields fab_ownership_fields = TABLE("ownership", OWNERSHIPS, OWNERSHIP);

#undef T
#define T fab_sweep_point
static size_t count_point_tapers(const fab_at *at) {
    uint64_t tiers = ((const T *)at->row)->counts.tiers;
    return tiers > 1 ? (size_t)(tiers < FAB_MAX_TIERS ? tiers : FAB_MAX_TIERS) - 1 : 0;
}

static size_t count_values(const fab_at *at) {
    const T *p = at->row;
    size_t n = 0;
    for (; n < FAB_SWEEP_PATHS && p->value[n] != NULL; n++) {
    }
    return n;
}

GIVES(double, idle_goodput, here->idle != NULL ? here->idle->goodput.mean : 0);
GIVES(bool, has_halves, here->is_built && !isnan(here->bisection_ratio));

static const fab_field SWEEP_POINTS[] = {
    FIELD(policy, "Where ranks go when their server is lost, where `scenarios` is given.", FILLED),
    FIELD(error, "Why the point could not be evaluated; then its lists are empty.", FILLED),
    FIELD_OF(design_digest, digest, "Digest of the design.", IF(is_built)),
    FIELD(family, "Topology family.", IF(is_built)),
    FIELD(traffic, "What is replayed; where engines run unlike plans, that of the first.", IF(is_built), FILLED),
    FIELD(job, "Of a design with several jobs, the one that times and prices are of.", FILLED),
    FIELD(other_jobs, "Jobs of the design that are left out there.", FILLED),
    FIELD(batch, "Sequences of an iteration of the training job.", FILLED),
    FIELD(tokens, "Tokens of an iteration of the training job.", FILLED, .formula = "batch x sequence length"),
    FIGURE(gpu_hour_usd, "USD", "Price of a GPU for an hour, of the job.", FILLED),
    FIELD(gpu_hour_source, "Where that price is from; job.gpu-hour-usd replaces it.", FILLED),
    FIELD(relays, "GPUs pass traffic between rails on as it comes.", IF(relays)),
    FIGURE_OF(better_plan_s, better.time_s, "s", "Of the first point: time with a plan that beats given sizes.",
              FILLED),
    FIELD_OF(better_plan, better.keys, "That plan, as keys of the job.", FILLED),
    FIELD_OF(fewer_servers, fewer.servers,
             "On so many of the servers, or on all with another batch, the job is faster.", FILLED),
    FIELD_OF(fewer_gpus, fewer.gpus, "GPUs of these.", FILLED),
    FIELD_OF(fewer_gain_ratio, fewer.gain, "Tokens per second there, over those on all.", FILLED),
    FIELD_OF(fewer_job, fewer.job, "What runs the job so, as --job takes it.", FILLED),
    REAL_BY(fewer_goodput_ratio, idle_goodput, NULL, "What failures leave of it, where servers left idle are spares.",
            IF(idle_gain)),
    FIELD_OF(fewer_failing_gain_ratio, idle_gain, "That gain with failures, of the same histories.", FILLED),
    FIELD(settings, "Of compared designs, what differs in this one: key=value; ...", FILLED),
    FIELD_OF(gpus, counts.gpus, "GPUs.", IF(is_built)),
    FIELD_OF(pods, counts.pods, "Pods below the top tier.", IF(is_built)),
    FIELD_OF(tiers, counts.tiers, "Switch tiers.", IF(is_built)),
    FIELD_OF(switches, counts.switches, "Switches of all tiers.", IF(is_built)),
    FIELD_OF(cables, counts.cables, "Network cables.", IF(is_built)),
    SCALARS(built_taper, NULL, counts.built_taper,
            "Oversubscription as built of every boundary between tiers, leaf - spine first.", .n = count_point_tapers,
            IF(is_built)),
    FIGURE(bisection_bps, "bit/s", "Minimum cut between the halves of the servers, one direction.", .only = has_halves,
           .source = "0007-counting-rules.md"),
    FIELD(bisection_ratio, "Part of full bisection that any traffic may count on.", .only = has_halves,
          .source = "0007-counting-rules.md"),
    FIGURE(total_usd, "USD", "Price of the network.", IF(is_built), .source = COST),
    FIGURE(per_gpu_usd, "USD", "Network price of one GPU.", IF(is_built), .source = COST),
    FIGURE(power_w, "W", "Power of all network parts.", IF(is_built), .source = COST),
    SCALARS(values, "value", value, "Values of what the sweep varies; missing in a mix.", .n = count_values, FILLED,
            .low = 1, .high = FAB_SWEEP_PATHS),
    LIST(phases, "phase", phases, n_phases, &SWEEP_PHASE, "Phases of the job."),
    LIST(algorithms, "algorithm", algorithms, n_algorithms, &ALGORITHM,
         "Of a collective that is replayed by all its algorithms.", IF(n_algorithms)),
    LIST(engines, "engine", engines, n_engines, &SWEEP_ENGINE, "All phases together under every engine."),
    OBJECT(ownership, ownership, &fab_ownership_fields, "What the cluster costs to buy and run for the job.",
           IF(has_ownership)),
};
const fab_fields fab_sweep_point_fields =
    TABLE("sweep_point", SWEEP_POINTS, SWEEPS, .definition = "A design that was built, priced and replayed.");

#undef T
#define T fab_verdict
static const fab_sweep *sweep_around(const fab_at *at) { /* of a verdict */
    return at->up->row;
}

GIVES(uint64_t, sprayed_point, here[1].best + 1);
GIVES(uint64_t, sprayed_next_point, here[1].next + 1);
GIVES(uint64_t, sprayed_behind_point, here[1].behind + 1);
GIVES(bool, is_sprayed_unlike, here->is_sprayed &&here[1].behind != here[1].best);
GIVES(double, sprayed_margin, here[1].margin_ratio);
GIVES(double, sprayed_behind_margin, here[1].behind_ratio);
GIVES(const char *, verdict_label, sweep_around(at)->points[here->best].engines[at->index].label);
GIVES(const char *, best_design, sweep_around(at)->points[here->best].value[0]);

static const fab_field COMPARED[] = {
    TEXT_BY(label, verdict_label, "The engine with its options.", IF(is_known)),
    FIELD(has_failures, "Whether prices and times have failures in them: divided by goodput_ratio.", FILLED),
    FIELD(by_price, "Whether designs are judged by dollars per token: all have a price; else by time."),
    FIELD_OF(draws, n_draws, "Seeds that all figures are means of; missing where nothing, or only once is drawn.",
             FILLED),
    TEXT_BY(design, best_design, "The best design.", IF(is_known)),
    PLACE(best, best, "Its number, from 1.", IF(is_known)),
    PLACE(next, next, "The number of the next best; the same where no other has a figure.", IF(is_known)),
    FIELD(margin_ratio,
          "How much more the next best costs or takes. Below 0.01, or uncertainty_ratio, the two are even.",
          IF(is_known), .formula = "figure of the next / figure of the best - 1"),
    FIELD(uncertainty_ratio,
          "What seeds, and histories of failures, alone make of that margin: a smaller one says nothing. Half width of "
          "the 95 % interval of the mean difference of pairs, the same seed and histories of both designs.",
          FILLED,
          .formula = "t x standard error of (time - time of the best) - (goodput - goodput of the best), each over its "
                     "mean, in up to 32 parts of the seeds, else of the histories"),
    FIELD_OF(even, n_even, "Designs that are even with the best by that, itself counted.", IF(is_known)),
    PLACE(behind, behind, "The number of the first that is not even with the best.", IF(behind_ratio)),
    FIELD(behind_ratio, "How much more that one costs or takes.", FILLED),
    FIELD(turning_ratio,
          "Part by which the network of the next best, bought and run, would have to be cheaper for its tokens to cost "
          "the same; above 1: not even for nothing.",
          IF(by_price)),
    COUNT_BY(sprayed_best, sprayed_point, "The number of the best under spray, by its own plans.", IF(is_sprayed)),
    COUNT_BY(sprayed_next, sprayed_next_point, "The number of the next one then.", IF(is_sprayed)),
    REAL_BY(sprayed_margin_ratio, sprayed_margin, NULL, "How much more that one costs or takes then.", IF(is_sprayed)),
    COUNT_BY(sprayed_behind, sprayed_behind_point, "The number of the next that is not even with the best then.",
             .only = is_sprayed_unlike),
    REAL_BY(sprayed_behind_ratio, sprayed_behind_margin, NULL, "How much more that one costs or takes.",
            .only = is_sprayed_unlike),
    FIELD(hangs_on_batch, "Whether failures.keep-batch makes a hundredth and more of the margin, or turns it.",
          IF(has_failures)),
    PLACE(batch_best, batch_best, "The number of the best with its other value.", IF(hangs_on_batch)),
    PLACE(batch_next, batch_next, "The number of that of best and next it leaves behind.", IF(hangs_on_batch)),
    FIELD_OF(batch_margin_ratio, batch_ratio, "How much more that one costs or takes then.", IF(hangs_on_batch)),
    PLACE(owned_best, owned_best, "The number of the design whose tokens cost the least where it is bought.",
          IF(is_owned)),
    FIELD(owned_margin_ratio, "How much more the tokens of the next one cost then.", IF(is_owned), .source = OWNERSHIP),
    PLACE(fastest, fastest, "The number of the fastest design.", IF(is_known)),
    PLACE(cheapest, cheapest, "The number of the design with the cheapest network.", IF(is_known)),
};
static const fab_fields COMPARED_ENGINE = TABLE("verdict", COMPARED, SWEEPS);

#undef T
#define T fab_placed
static const fab_place_search *search_around(const fab_at *at) { /* of a placement */
    return at->up->row;
}

GIVES(double, checked_s, search_around(at)->check_seeds > 0 ? here->check_s : NAN);

static const fab_field PLACED[] = {
    FIELD(servers, "The servers in the order of ranks, as job.servers takes them; of a pattern with + between them.",
          FILLED),
    FIGURE(time_s, "s", "Time of the iteration, else of all phases one after the other; mean over the seeds."),
    REAL_BY(check_s, checked_s, "s", "The same on other seeds, `check_seeds` of them; missing where nothing is drawn.",
            KNOWN),
};
static const fab_fields PLACEMENT = TABLE("placement", PLACED, PLACEMENTS);

#undef T
#define T fab_place_search
static const fab_field SEARCHES[] = {
    FIELD(label, "The engine with its options.", FILLED),
    FIELD(note, "Why placements cannot differ, or why they were not searched.", FILLED),
    FIELD(plan, "How the job is run, as keys of it: the fastest plan under the engine in the listed order.", FILLED),
    FIELD_OF(proven, is_proven, "Every placement that differs was evaluated: nothing is better than the best.",
             IF(is_searched)),
    FIELD_OF(distinct, n_distinct,
             "Placements that differ, of those alike under the symmetry of the fabric one; missing where more than the "
             "budget.",
             FILLED),
    FIELD_OF(tried, n_tried, "Placements that were evaluated.", IF(is_searched)),
    FIELD(budget, "Most placements that the search may evaluate.", IF(is_searched)),
    FIELD_OF(servers, n_servers, "Servers of the job.", IF(is_searched)),
    FIELD_OF(free, n_free, "Other servers that it may take.", IF(is_searched)),
    FIELD(least_s, "No placement needs less under any routing: bytes in or out of the fullest server.", FILLED,
          .unit = "s"),
    FIELD(check_seeds, "Other seeds that check what was found; missing where nothing is drawn.", FILLED),
    OBJECT(listed, listed, &PLACEMENT, "The servers as they are listed.", IF(is_searched)),
    OBJECT(best, best, &PLACEMENT, "The placement with the least time.", IF(is_searched)),
    OBJECT(worst, worst, &PLACEMENT, "The placement with the most time.", IF(is_searched)),
};
static const fab_fields PLACE_SEARCH =
    TABLE("place_search", SEARCHES, PLACEMENTS,
          .definition = "The best and the worst placement under an engine: all, or those that a search finds.");

#undef T
#define T fab_sweep
GIVES(bool, has_tipped_owned, here->has_tipped && here->tipped[1].usd > 0);

static const fab_field SWEEP[] = {
    FIELD_OF(built, n_built, "Points that were evaluated."),
    FIELD(model, "The model of points that name none, where others do or their defaults differ.", FILLED),
    FIELD(prices, "The price book of all compared designs, where only some name it.", FILLED),
    FIELD(scenarios, "Histories of failures that goodput is of.", FILLED),
    FIELD(policy, "Where ranks go in them when their server is lost; several where points have unlike ones.", FILLED),
    PLACE(tipped, tipped[0].best,
          "The number of the point whose tokens cost the least by GPU hours where each does what is advised of idle "
          "GPUs and other batches (fewer_job), and all GPUs are paid for; where that is another, or by another "
          "margin, with failures cheaper.",
          IF(has_tipped)),
    FIGURE_OF(tipped_usd_per_1e9_tokens, tipped[0].usd, "USD", "What they cost there.", IF(has_tipped)),
    FIELD_OF(tipped_margin_ratio, tipped[0].margin_ratio, "How much more those of the next one cost then.",
             IF(has_tipped)),
    PLACE(tipped_owned, tipped[1].best, "The number of the one that costs least so where it is bought.",
          .only = has_tipped_owned),
    FIELD_OF(tipped_owned_margin_ratio, tipped[1].margin_ratio, "How much more the next one costs then.",
             .only = has_tipped_owned),
    SCALARS(paths, "path", path, "What is varied.", COUNTED(n_paths), .low = 1, .high = FAB_SWEEP_PATHS),
    ARRAY(verdicts, "verdict", verdicts, n_verdicts, &COMPARED_ENGINE,
          "What compared designs come to under every engine; empty of a sweep."),
    LIST(searches, "search", searches, n_searches, &PLACE_SEARCH,
         "What searches for placements found, engine by engine; empty of a sweep."),
    LIST(points, "point", points, n_points, &fab_sweep_point_fields, "The points; the first path varies slowest."),
};
const fab_fields fab_sweep_fields =
    TABLE("sweep", SWEEP, SWEEPS,
          .definition =
              "A design at many values of one or two parameters: `sweep`, and `place`, which varies job.placement.");
