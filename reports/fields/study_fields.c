/* Failure scenarios: `study`. */
#include "fab/study_summary.h"
#include "field_rows.h"
#include "field_tables.h"

#define OUTCOMES "0036-outcomes.md"
#define SUMMARY  "0038-study-summary.md"
#define MODEL    "0070-failure-model.md"

/* --- spreads over scenarios --------------------------------------------------------------------------------------- */

#define T fab_spread
#define QUANTILES                                                                                                      \
    FIELD(n, "Scenarios in which the figure is known."),                                                               \
        FIGURE(mean, FAB_UNIT_AROUND, "Mean over the scenarios in which the figure is known.", SIGNED),                \
        FIGURE(p50, FAB_UNIT_AROUND, "Median, by nearest rank.", SIGNED),                                              \
        FIGURE(p90, FAB_UNIT_AROUND, "What 90 % do not exceed, by nearest rank; of goodput: what 90 % reach.",         \
               SIGNED),                                                                                                \
        FIGURE(p99, FAB_UNIT_AROUND, "What 99 % do not exceed, by nearest rank; of goodput: what 99 % reach.", SIGNED)

static const fab_field SPREADS[] = {
    QUANTILES,
    FIGURE_OF(max, worst, FAB_UNIT_AROUND, "Largest over the scenarios in which the figure is known.", SIGNED),
    FIELD_OF(max_scenario, worst_scenario, "The scenario that has it, the lowest of those."),
};
static const fab_fields SPREAD = TABLE("spread", SPREADS, SUMMARY, .is_small = true);

static const fab_field SPREADS_BELOW[] = {
    QUANTILES,
    FIGURE_OF(min, worst, FAB_UNIT_AROUND, "Smallest over the histories.", SIGNED),
    FIELD_OF(min_scenario, worst_scenario, "The scenario that has it, the lowest of those."),
};
static const fab_fields SPREAD_BELOW = TABLE("spread_of_goodput", SPREADS_BELOW, SUMMARY, .is_small = true);

/* --- scenarios, components ---------------------------------------------------------------------------------------- */

#undef T
#define T fab_study_case
static const fab_field CASES[] = {
    FIELD(scenario, "Number of the scenario."),
    FIELD(name, "What a list of scenarios calls it.", FILLED),
    FIELD(failed, "What fails; of a history how often each class does."),
    FIELD(n_failed, "Components that fail; of a history failures."),
    FIELD_OF(stopped, is_stopped, "Whether the job stands; of a history at its end."),
    FIELD_OF(impact_ratio, impact, "Part of the job's speed that the failures take: 1 where it stops.", SIGNED),
    FIELD_OF(slowdown_ratio, slowdown, "Time over that where nothing has failed.", KNOWN),
    FIGURE(time_s, "s", "Time with what has failed.", KNOWN),
    FIELD(worst_ratio,
          "Largest load of a network link in any phase over its residual capacity, after ranks have moved.", KNOWN,
          .source = OUTCOMES),
    FIELD(lost_ratio, "Offered rate of flows that lost their way, before ranks moved, over all that is offered.", KNOWN,
          .source = OUTCOMES),
    FIELD_OF(goodput_ratio, goodput, "Useful part of a span with failures and repairs.", KNOWN, .source = OUTCOMES),
    FIELD_OF(disconnected_flows, n_disconnected,
             "Flows of which no path is left, by any NIC and plane of their GPUs, before ranks move.",
             .source = OUTCOMES),
    FIELD_OF(moved_servers, n_moved, "Servers whose ranks move.", .source = OUTCOMES),
    FIELD_OF(collisions, n_collisions,
             "Network links that are offered more than their residual capacity, in all phases, after ranks have moved.",
             .source = OUTCOMES),
    FIELD_OF(stops, n_stops, "Failures of a history that stop the job.", .source = OUTCOMES),
    FIELD_OF(equal, n_equal, "Scenarios that end the same by symmetry, this one included: with @classes.", FILLED),
    FIELD(fullest, "The link of worst_ratio.", FILLED),
};
static const fab_fields CASE = TABLE("study_case", CASES, SUMMARY);

#undef T
#define T fab_critical
static const char *const COMPONENTS[] = {"link", "port", "switch", "nic", "gpu", "server", "rack", "plane"};

static const fab_field CRITICALS[] = {
    FIELD(name, "Name of the component."),
    FIELD(kind, "What it is.", ONE_OF(COMPONENTS)),
    FIELD_OF(scenarios, n_scenarios, "Scenarios in which it fails."),
    FIELD_OF(stopped, n_stopped, "Scenarios among them in which the job stands, after ranks have moved."),
    FIELD_OF(disconnected, n_disconnected,
             "Scenarios among them in which flows lose every path, before anybody moves."),
    FIELD_OF(impact_ratio, impact,
             "Mean impact over the scenarios in which it fails, alone or with others; below 0 where its failure makes "
             "the job faster.",
             SIGNED),
    FIELD_OF(
        impact_ci95_ratio, ci95,
        "Half width of the 95 % interval of impact_ratio over the scenarios (Student's t); missing where there is one.",
        KNOWN),
    FIELD_OF(mean_slowdown_ratio, mean_slowdown, "Mean slowdown over the scenarios in which the job runs.", KNOWN),
    FIELD_OF(max_slowdown_ratio, worst_slowdown, "Largest slowdown of a scenario in which the job runs.", KNOWN),
    FIELD_OF(mean_worst_ratio, mean_ratio, "Mean of worst_ratio over the scenarios in which it fails.", KNOWN),
    FIELD_OF(max_worst_ratio, worst_ratio, "Largest worst_ratio of a scenario in which it fails.", KNOWN),
    FIELD(worst_scenario, "The scenario with the highest impact, the lowest of those."),
    FIELD_OF(credited, n_alone,
             "Scenarios among them that are credited to it: of sets of several those in which the other parts cost "
             "next to nothing together, a tenth of the impact at most, as other scenarios with them show, a tenth of "
             "these left out."),
    FIELD_OF(clear, is_clear,
             "What chance does not explain. Of sets: its impact is above its interval, and the sets that are credited "
             "to it are no interactions by chance: of all parts, fewer than 0.01 are expected to look so. Of "
             "histories: it fails in 10 and more, and is above the mean of all by 5 standard errors of as many draws "
             "from all, and by the half width of its own interval. Of single losses: any impact."),
};
static const fab_fields CRITICAL = TABLE("critical", CRITICALS, SUMMARY);

#undef T
#define T fab_critical_class
static const fab_field CLASSES[] = {
    FIELD(name, "What its components are: leaf switches, leaf-spine links, ..."),
    FIELD_OF(components, n_components, "Components that fail in some scenario."),
    FIELD_OF(parts, n_parts, "Components of the class that the fabric has."),
    FIELD_OF(
        stopping, n_stopping,
        "Components whose loss stops the job: of single losses those that do, of sets those of which that is clear."),
    FIELD_OF(impact_ratio, impact, "Mean impact of the loss of one of them, as of a component.", KNOWN, SIGNED),
    FIELD_OF(impact_ci95_ratio, ci95, "Half width of the 95 % interval of that.", KNOWN),
    FIELD_OF(max_impact_ratio, worst_impact,
             "Impact of the worst component of the class that is clear (of single losses: of all).", KNOWN, SIGNED),
    FIELD(worst, "The first component that does that; empty where none is clear."),
    FIELD_OF(worst_components, n_worst, "Components that do that."),
    FIELD_OF(clear, n_clear, "Components that are clear."),
    FIELD_OF(scenarios, n_scenarios, "Scenarios in which one of them fails."),
    FIELD_OF(stopped, n_stopped, "Scenarios among them in which the job stands."),
    FIELD_OF(scenario_impact_ratio, scenario_impact,
             "Mean impact of the scenarios in which any part of the class fails.", KNOWN, SIGNED),
    FIELD_OF(stands_out, is_clear,
             "Whether the impact of its loss is what chance does not explain, as of a component."),
};
static const fab_fields CLASS = TABLE("component_class", CLASSES, SUMMARY);

#undef T
#define T fab_cause
static const fab_field CAUSES[] = {
    FIELD(name, "Class of failures."),
    FIELD(failures, "Failures of the class in a history, mean over the histories.", .source = OUTCOMES),
    FIELD_OF(impact_ratio, impact, "Impact of one of them.", SIGNED),
    FIELD_OF(impact_ci95_ratio, ci95, "Half width of the 95 % interval of that."),
    FIELD_OF(share_ratio, share,
             "Part of what failures cost in histories, written checkpoints left out, that failures of a class have: by "
             "least squares, without a constant, over how often each class fails. A cost below 0 counts as none.",
             .formula = "failures * impact_ratio of one, over the sum of those above 0"),
    FIELD(is_even, "Whether the intervals do not tell what it costs from that of the one before it."),
};
static const fab_fields CAUSE = TABLE("cause", CAUSES, SUMMARY);

#undef T
#define T fab_access_loss
static const fab_field ACCESS[] = {
    FIELD_OF(scenarios, n, "Scenarios that lose one link between NIC and switch and nothing else."),
    FIELD_OF(stopped, n_stopped, "Scenarios among them in which the job stands."),
    FIELD_OF(slower, n_slower, "Scenarios among them in which the job runs, with a factor above 1."),
    FIELD_OF(mean_slowdown_ratio, mean_slowdown, "Mean slowdown over those in which the job runs.", KNOWN),
    FIELD_OF(max_slowdown_ratio, worst_slowdown, "Largest slowdown of those in which the job runs.", KNOWN),
};
static const fab_fields ACCESS_LOSS = TABLE("access_loss", ACCESS, SUMMARY);

#undef T
#define T fab_rollout
static const fab_field ROLLOUTS[] = {
    FIELD(at_a_time, "Switches of a step."),
    FIELD_OF(steps, n_steps, "Steps, each a scenario."),
    FIELD_OF(far_apart, is_spread, "Whether the switches of a step are as far from each other as can be."),
    FIELD_OF(stopped, n_stopped, "Steps in which the job stops."),
    FIELD_OF(lost_steps, lost, "Work of the job that is lost, in times of a step: the sum of the impacts.", KNOWN,
             SIGNED),
    FIELD_OF(max_impact_ratio, worst, "Impact of the worst step.", SIGNED),
};
static const fab_fields ROLLOUT = TABLE("rollout", ROLLOUTS, "0086-events.md");

/* --- an engine under a policy ------------------------------------------------------------------------------------- */

#undef T
#define T fab_study_variant
GIVES(const fab_study_summary *, study_of, fab_at_result(at)->study);
GIVES(bool, has_policies, study_of(at)->n_policies > 1);
GIVES(bool, has_span, study_of(at)->span_s > 0);
GIVES(bool, is_same, &study_of(at)->variants[here->same_as] != here);
GIVES(const char *, same_policy, study_of(at)->variants[here->same_as].policy);

#define OF_HISTORIES                       .only = has_span, KNOWN, .source = OUTCOMES
#define SPREAD_OF(key, member, unit_, ...) OBJECT(key, member, &SPREAD, __VA_ARGS__, IF(member.n), .unit = unit_)

static const fab_field VARIANTS[] = {
    FIELD(engine, "The engine with its options."),
    FIELD(policy, "What is done about servers that are lost."),
    FIGURE(healthy_time_s, "s", "Time where nothing has failed.", KNOWN, .source = OUTCOMES),
    FIELD(healthy_ratio, "Largest load of a network link over its capacity where nothing has failed.", KNOWN,
          .source = OUTCOMES),
    FIELD(healthy_collisions, "Network links that are offered more than they carry where nothing failed."),
    TEXT_BY(same_as, same_policy, "The first policy of the engine that does the same in every scenario.",
            .only = is_same),
    FIELD_OF(done, n_done, "Scenarios that were looked at."),
    FIELD_OF(stopped, n_stopped,
             "Scenarios in which the job stands, after ranks have moved; of histories at their end."),
    FIELD_OF(disconnected, n_disconnected, "Scenarios in which flows lose every path, before anybody moves."),
    FIELD_OF(moved_scenarios, n_moved, "Scenarios in which servers move."),
    FIELD_OF(impact_ratio, impact, "Mean impact over all scenarios.", KNOWN, SIGNED),
    FIELD_OF(best, n_best, "Scenarios in which no other policy of the engine has less impact; ties count.",
             .only = has_policies, .formula = "differences up to 1e-9 are ties"),
    FIELD_OF(alone_best, n_alone, "Scenarios in which every other policy of the engine has more impact.",
             .only = has_policies, .formula = "differences up to 1e-9 are ties"),
    FIELD(restart_ratio, "Part of the span in which the job restarts.", OF_HISTORIES),
    FIELD(redo_ratio, "Part of the span in which work since the last checkpoint is done again.", OF_HISTORIES),
    FIELD(slow_ratio, "Part of the span lost because the job runs slower; below 0 where it runs faster.", OF_HISTORIES,
          SIGNED),
    FIELD(wait_ratio, "Part of the span in which the job can run nowhere.", OF_HISTORIES),
    FIELD(write_ratio, "Part of the span in which the job stands for a checkpoint.", OF_HISTORIES),
    FIGURE(tokens_per_s, "1/s", "Tokens of a second of the span that stay, restarts, repairs and all.", FILLED,
           .formula = "goodput_ratio.mean x tokens of an iteration / healthy_time_s"),
    FIGURE(quarterly_lost_usd, "USD",
           "GPU hours of the job that failures take in a quarter of a year, at gpu_hour_usd.", FILLED,
           .formula = "(1 - goodput_ratio.mean) x GPUs of the job x gpu_hour_usd x 2,190"),
    FIGURE(quarterly_lost_ci95_usd, "USD",
           "Half the width of its 95 % interval: from the means of the draws of paths, where there are several.",
           FILLED),
    FIELD(failures, "Failures in a history, mean over the histories; of software where ranks are.", OF_HISTORIES),
    FIELD(stops, "Failures in a history that stop the job, planned stops left out, mean over the histories.",
          OF_HISTORIES),
    FIELD_OF(interactions, n_interactions,
             "Sets that cost something though each of their parts alone costs next to nothing: a tenth of that at "
             "most, as another scenario shows."),
    FIELD(worst_interaction, "The scenario with the largest impact of those.", IF(n_interactions)),
    FIELD_OF(undecided, n_undecided,
             "Parts that cost something in all sets they are in, beside others that do as well: what one costs alone "
             "no set says."),
    FIELD_OF(critical_tied, critical.n_tied,
             "Components that have the impact of the last of `critical`, where that leaves some of them out; else 0."),
    FIELD_OF(links_tied, links.n_tied, "Links that have the impact of the last of `links`, likewise."),
    SCALARS(bins, NULL, bin,
            "Scenarios by slowdown (without times by the load of the fullest link), between bin_edges; those that stop "
            "are left out.",
            EXACTLY(FAB_STUDY_BINS)),
    FIELD(first_cause_histories,
          "Histories that would tell the first of the causes from costing nothing, if it costs what it seems to; there "
          "where these are too few.",
          IF(first_cause_histories), .source = OUTCOMES, .formula = "done * (impact_ci95_ratio / impact_ratio)^2"),
    SPREAD_OF(slowdown_ratio, slowdown, NULL, "Time over that where nothing has failed, of scenarios that run.",
              .labels = "slowdown"),
    SPREAD_OF(time_s, time_s, "s", "Time with what has failed, of scenarios that run."),
    SPREAD_OF(worst_ratio, worst_ratio, NULL,
              "Largest load of a network link in any phase over its residual capacity, after ranks have moved."),
    SPREAD_OF(collisions, collisions, NULL, "Network links that are offered more than their residual capacity."),
    SPREAD_OF(lost_ratio, lost_ratio, NULL,
              "Offered rate of flows that lost their way, before ranks moved, over all that is offered."),
    SPREAD_OF(moved_servers, moved, NULL, "Servers whose ranks move."),
    OBJECT(goodput_ratio, goodput, &SPREAD_BELOW, "Goodput of the variant.", IF(goodput.n), .source = OUTCOMES,
           .labels = "goodput"),
    OBJECT(access_loss, access, &ACCESS_LOSS, "Scenarios that lose one link between NIC and switch and nothing else.",
           IF(access.n)),
    ARRAY(causes, "class", causes, n_causes, &CAUSE,
          "What a failure of each class costs in histories, by least squares of the impact over how often each class "
          "fails; missing where there are too few histories.",
          FILLED),
    LIST(rollouts, "way", rollouts, n_rollouts, &ROLLOUT,
         "Ways to roll an update through a tier: fewest stops first, then least lost, then fewer steps.", FILLED),
    LIST(classes, "class", classes, n_classes, &CLASS,
         "Components by what they are, most scenario_impact_ratio first."),
    LIST(critical, "component", critical.list, critical.n, &CRITICAL,
         "Components, highest impact first, then by name; of sets of several and of histories those that are clear."),
    LIST(critical_next, "component", critical.next, critical.n_next, &CRITICAL,
         "Components behind all that tie with the last of `critical`."),
    LIST(links, "component", links.list, links.n, &CRITICAL, "The links among all components."),
    LIST(links_next, "component", links.next, links.n_next, &CRITICAL,
         "Links behind all that tie with the last of `links`."),
    LIST(worst, "scenario", worst, n_worst, &CASE,
         "Scenarios that run, highest impact first, then by number; of histories all."),
    LIST(stopping, "scenario", stopped, n_stopped_shown, &CASE, "The first scenarios in which the job stops."),
};
static const fab_fields VARIANT =
    TABLE("study_variant", VARIANTS, SUMMARY, .definition = "One engine under one policy.");

/* --- policies against each other ---------------------------------------------------------------------------------- */

#undef T
#define T fab_study_choice
GIVES(const char *, choice_engine, study_of(at)->variants[here->first].engine);
GIVES(const char *, choice_baseline, study_of(at)->variants[here->baseline].policy);
GIVES(const char *, choice_saver, study_of(at)->variants[here->most_saved_variant].policy);
GIVES(bool, saves, here->most_saved_scenario != UINT64_MAX);

static const fab_field CHOICES[] = {
    TEXT_BY(engine, choice_engine, "The engine with its options."),
    TEXT_BY(baseline, choice_baseline, "The policy that the others are compared with: first-spare, else the first."),
    FIELD_OF(compared, n_compared, "Scenarios of which the impact is known under all policies."),
    FIELD_OF(differ, n_differ, "Scenarios in which the policies do not all have the same impact."),
    FIELD_OF(rescued, n_rescued, "Scenarios in which the job stands under the baseline and runs under another policy."),
    FIELD_OF(impact_ratio, impact, "Mean impact of the best policy, scenario by scenario.", KNOWN, SIGNED),
    FIELD_OF(baseline_impact_ratio, baseline_impact, "Mean impact under the baseline.", KNOWN, SIGNED),
    FIELD_OF(slowdown_ratio, best_slowdown, "Mean slowdown of the best, over the scenarios that run under both.",
             KNOWN),
    FIELD_OF(baseline_slowdown_ratio, baseline_slowdown, "Mean slowdown under the baseline, over the same scenarios.",
             KNOWN),
    FIELD_OF(max_saved_ratio, most_saved,
             "Largest impact that the best policy saves in one scenario; missing where the baseline is always best.",
             .only = saves),
    FIELD_OF(max_saved_scenario, most_saved_scenario, "The scenario that has it.", .only = saves),
    TEXT_BY(max_saved_policy, choice_saver, "The policy that does it.", .only = saves),
};
static const fab_fields CHOICE = TABLE("study_choice", CHOICES, SUMMARY);

#undef T
#define T fab_homing
static const fab_field HOMINGS[] = {
    FIELD(links_per_server, "Links between a server and switches, the fewest that one has."),
    FIELD(ports_per_nic, "Ports of a NIC, the fewest that one has."),
    FIELD(switches_per_nic, "Different switches that a NIC leads to: 1 is single-homed."),
    FIELD(lost_ratio, "Part of a server's bandwidth into the network that goes with one link."),
};
static const fab_fields HOMING = TABLE("homing", HOMINGS, OUTCOMES);

/* --- the failure model -------------------------------------------------------------------------------------------- */

#undef T
#define T fab_failure_row
GIVES(bool, ever_fails, isfinite(here->mtbf_s));
static const fab_field FAILURE_ROWS[] = {
    FIELD(name, "Class of failures."),
    FIGURE(mtbf_s, "s",
           "Time between failures of one part; of software and maintenance of one GPU of the job. Missing: it never "
           "fails.",
           .only = ever_fails, .labels = "of one, every"),
    FIGURE(away_s, "s", "Until it is back; of maintenance: a planned stop."),
};
static const fab_fields FAILURE_ROW = TABLE("failure_class", FAILURE_ROWS, MODEL);

#undef T
#define T fab_failure_model
GIVES(bool, has_slow_gpus, isfinite(here->row[FAB_FAILURE_SLOW].mtbf_s));
GIVES(bool, has_slow_links, isfinite(here->row[FAB_FAILURE_FLAP].mtbf_s));
GIVES(bool, has_slow, isfinite(here->row[FAB_FAILURE_SLOW].mtbf_s) || isfinite(here->row[FAB_FAILURE_FLAP].mtbf_s));
GIVES(bool, has_infants, here->rates.infant_factor > 1);
static const fab_field MODELS[] = {
    FIGURE_OF(checkpoint_s, rates.checkpoint_s, "s", "Useful time between two checkpoints.",
              .formula = "auto: the tau with (lambda tau - 1) exp(lambda (tau + pause_s)) + 1 = 0, lambda the stops "
                         "per second of this job",
              .source = "Daly, A higher order estimate of the optimum checkpoint interval, 2006; " MODEL),
    FIELD_OF(checkpoint_auto, is_auto, "Whether that was found for this job; else the design says it."),
    FIGURE_OF(pause_s, rates.pause_s, "s", "The job stands for a checkpoint."),
    FIGURE_OF(lag_s, rates.lag_s, "s", "From the beginning of a checkpoint until it counts."),
    FIGURE_OF(restart_s, rates.restart_s, "s", "From a failure until the job runs again."),
    FIGURE_OF(join_s, rates.join_s, "s", "A restart takes longer by this where ranks move."),
    FIELD_OF(rma_ratio, rates.rma_part, "Part of the failures of hardware that go back to the maker.", FILLED),
    FIGURE_OF(rma_s, rates.rma_s, "s", "These are back after.", IF(rates.rma_part)),
    FIELD_OF(infant_factor, rates.infant_factor, "At the beginning of a history hardware fails so many times as often.",
             .only = has_infants),
    FIGURE_OF(infant_s, rates.infant_s, "s", "That excess falls to 1/e of it in this time.", .only = has_infants),
    FIELD_OF(slow_speed_ratio, rates.slow_speed, "Speed that is left of a GPU that slows down.", .only = has_slow_gpus),
    FIELD_OF(slow_link_ratio, rates.flap_speed, "Capacity that is left of a cable that flaps or is degraded.",
             .only = has_slow_links),
    FIELD_OF(throttle_ratio, rates.throttle, "Part of their speed that GPUs lose at noon.", FILLED),
    FIELD(throttle_halls, "Halls of the floor plan where they do, from 0; missing: all.", IF(rates.throttle), FILLED),
    FIELD_OF(detect_loss_ratio, rates.detect_loss, "A GPU or cable that loses so much of its speed is noticed.",
             .only = has_slow),
    FIGURE_OF(detect_s, rates.detect_s, "s", "After this time, and is dead from then on.", .only = has_slow),
    FIGURE_OF(reform_s, rates.reform_s, "s", "In place of restart_s where the number of replicas changes.",
              IF(shrinks)),
    FIELD_OF(regrow_ratio, rates.regrow, "The job stops to take back as large a part of its replicas.", IF(shrinks)),
    FIELD_OF(keep_batch, keeps_batch,
             "Replicas that are left do all of the batch; else an iteration has a smaller one.", IF(shrinks)),
    FIELD(source, "Where the rates come from that the design does not give.", FILLED),
    ARRAY(classes, "class", row, n_rows, &FAILURE_ROW, "How often each class fails."),
};
static const fab_fields MODEL_FIELDS = TABLE("failure_model", MODELS, MODEL);

/* --- the study ---------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_study_variant
static const void *shown_variant(const fab_at *at) {
    const fab_study_summary *s = at->row;
    return &s->variants[s->shown];
}

static const fab_field SHOWN_COUNTS[] = {
    FIELD_OF(shown_engine, engine, "Engine of the variant that stands first in reports."),
    FIELD_OF(shown_policy, policy, "Policy of that variant."),
    FIELD_OF(stopped, n_stopped, "Scenarios of that variant in which the job stands, after ranks have moved."),
    FIELD_OF(disconnected, n_disconnected, "Scenarios of that variant in which flows lose every path."),
    FIELD_OF(impact_ratio, impact,
             "Part of the job's speed that failures take: 1 where the job stops. Mean over the scenarios; below 0 "
             "where a failure makes it faster.",
             KNOWN, SIGNED,
             .formula = "1 - 1 / slowdown_ratio; of a history 1 - goodput_ratio; without times 1 - max(1, worst_ratio "
                        "of the healthy fabric) / max(1, worst_ratio)",
             .labels = "damage|impact"),
};
static const fab_fields SHOWN_HEAD = VIEW("shown_counts", SHOWN_COUNTS, NULL);

static const fab_field SHOWN_SPREADS[] = {
    SPREAD_OF(slowdown_ratio, slowdown, NULL, "Slowdown of the variant that stands first."),
    OBJECT(goodput_ratio, goodput, &SPREAD_BELOW,
           "Useful part of a span with failures and repairs: work that stays, at the speed of the healthy fabric.",
           IF(goodput.n), .formula = "1 - restart_ratio - redo_ratio - slow_ratio - wait_ratio - write_ratio",
           .source = OUTCOMES, .labels = "goodput"),
};
static const fab_fields SHOWN_FIGURES = VIEW("shown_spreads", SHOWN_SPREADS, NULL);

static const fab_field SHOWN_LISTS[] = {
    LIST(worst, "scenario", worst, n_worst, &CASE, "The worst scenarios of the variant that stands first."),
    LIST(critical, "component", critical.list, critical.n, &CRITICAL, "Its components, highest impact first."),
};
static const fab_fields SHOWN_TAIL = VIEW("shown_lists", SHOWN_LISTS, NULL);

#undef T
#define T fab_study_summary
GIVES(const void *, edges, fab_study_edges);
GIVES(size_t, count_choices, here->choices != NULL ? here->n_variants / here->n_policies : 0);

static const fab_field STUDY[] = {
    FIELD_OF(scenarios, n_scenarios, "Sets of failures, or histories, that were planned.", .labels = "scenarios"),
    FIELD_OF(done, n_done, "Scenarios that were looked at under every variant."),
    FIELD_OF(looked_at, n_looked_at,
             "Of those, one of each class of equal scenarios: with @classes. The others end the same by symmetry.",
             FILLED),
    FIELD_OF(source, scenarios, "Where the scenarios come from."),
    FIGURE(span_s, "s", "Time that a history covers; missing of sets.", FILLED, .source = OUTCOMES),
    FIGURE(gpu_hour_usd, "USD", "Price of a GPU for an hour, its part of the server included.", FILLED,
           .source = "list gpus, or gpu-hour-usd of the job"),
    FIELD_OF(times, has_times, "Whether times are known; else loads alone."),
    FIELD_OF(of_p99, is_p99,
             "Whether times, and slowdowns, are those within which 99 % of the requests of serving and of "
             "all-to-alls are answered (request_p99_s), all exchanges one after the other.",
             FILLED),
    FIELD(plan_keys, "What to type for the plan that the job has in histories (--job).", FILLED),
    FIELD_OF(impact, criterion, "What impact is here."),
    FIELD(untried, "Policies that were not tried and may do better, with what they want.", FILLED),
    FIELD_OF(components, n_components, "Different components that fail in some scenario."),
    FIELD_OF(parts, n_parts, "Components that the fabric has of the classes of those."),
    GROUP_BY(shown_variant, &SHOWN_HEAD),
    SCALARS_BY(bin_edges, NULL, const double, edges, "Factors between which bins counts the scenarios.",
               EXACTLY(FAB_STUDY_BINS - 1)),
    GROUP_BY(shown_variant, &SHOWN_FIGURES),
    OBJECT(failure_model, model, &MODEL_FIELDS, "How things fail in histories, and what the job does about it.",
           IF(model.n_rows)),
    OBJECT(homing, homing, &HOMING,
           "Ways of a server into the network, where the study loses links between NIC and switch.", IF(has_homing)),
    LIST(policy, "variant", variants, n_variants, &VARIANT, "Every engine under every policy, engine by engine.",
         .low = 1),
    LIST_OF(choices, "choice", choices, count_choices, &CHOICE,
            "The best policy of every engine, scenario by scenario, against a baseline.", FILLED),
    GROUP_BY(shown_variant, &SHOWN_TAIL),
};
const fab_fields fab_study_fields = TABLE(
    "study", STUDY, SUMMARY,
    .definition = "What failure scenarios do to a job: `study show`. The factor of a scenario: of a set its slowdown, "
                  "without times the load of the fullest link over that of the healthy fabric (loads below 1 count as "
                  "1), of a history 1 / goodput, infinite where the job stops; impact = 1 - 1 / factor.");
