/* Two states side by side: `diff`. */
#include "fab/difference.h"
#include "field_rows.h"
#include "field_tables.h"

#define DIFFERENCES "0076-differences.md"

#define T fab_change
static const fab_field CHANGES[] = {
    FIGURE(undone_s, "s",
           "Time of the second state with this change alone undone, under the engine that the cause is of.", KNOWN),
    FIGURE(alone_s, "s", "Time of the first state with this change alone made, under the same engine.", KNOWN),
    NAMED(kind, kind, fab_change_kinds, "What differs: a value, an engine, who runs the ranks, what has failed, ..."),
    FIELD(what, "Its name: a path of the design, ranks, a part, a port."),
    FIELD(before, "In the first state.", FILLED),
    FIELD(after, "In the second state.", FILLED),
    FIELD(is_cause, "Makes the difference, with the others so marked or each by itself; without them it is gone."),
    FIELD(is_uncertain, "Seems to be part of it, but pairs of seeds do not tell that it makes anything.", FILLED),
};
static const fab_fields CHANGE = TABLE("change", CHANGES, DIFFERENCES);

#undef T
#define T fab_diff_flow
static const fab_field FLOWS[] = {
    FIELD(src_rank, "The rank that sends; without a job its GPU."),
    FIELD(dst_rank, "The rank that receives; without a job its GPU."),
    FIELD_OF(src_server, src, "Where it sends from; of reports the GPU."),
    FIELD_OF(dst_server, dst, "Where it receives; of reports the GPU."),
    FIELD(comm, "The communicator.", FILLED),
};
static const fab_fields FLOW = TABLE("diff_flow", FLOWS, DIFFERENCES);

#undef T
#define T fab_diff_crossing
static const fab_field CROSSINGS[] = {
    FIELD(factor, "Utilisation of the link.", KNOWN),
    FIELD_OF(flows, n_flows, "Flows that cross it.", IF(is_known)),
    ARRAY(listed, "flow", flows, n_listed, &FLOW, "The first of them."),
};
static const fab_fields CROSSING = TABLE("crossing", CROSSINGS, DIFFERENCES);

#undef T
#define T fab_diff_link
static const fab_field LINKS[] = {
    FIELD(is_new, "Whether it collides in the second state alone; else in the first alone."),
    FIELD_OF(link, name, "Its name in the state in which it collides."),
    FIELD(phase, "The phase whose flows meet there."),
    OBJECT(before, before, &CROSSING, "Who crosses it in the first state."),
    OBJECT(after, after, &CROSSING, "Who crosses it in the second state."),
};
static const fab_fields LINK = TABLE("diff_link", LINKS, DIFFERENCES);

#undef T
#define T fab_diff_phase
static const fab_field PHASES[] = {
    FIGURE(before_s, "s", "Time of the phase in the first state.", KNOWN),
    FIGURE(after_s, "s", "Time of the phase in the second state.", KNOWN),
    FIGURE_OF(interval_s, ci95_s, "s", "Over several seeds, half widths of the 95 % intervals of both means, added.",
              FILLED),
    FIELD(before_factor, "Largest collision factor in the first state.", KNOWN),
    FIELD(after_factor, "Largest collision factor in the second state.", KNOWN),
    FIELD_OF(new_links, n_new, "Links that collide in the second state alone; of reports those among the listed."),
    FIELD_OF(gone_links, n_gone, "Links that collide in the first state alone; of reports those among the listed."),
    FIELD(name, "Name of the phase."),
};
static const fab_fields PHASE = TABLE("diff_phase", PHASES, DIFFERENCES);

#undef T
#define T fab_diff_engine
static const fab_field ENGINES[] = {
    FIGURE(before_s, "s", "Time of an iteration in the first state, else of all phases.", KNOWN),
    FIGURE(after_s, "s", "Time of an iteration in the second state, else of all phases.", KNOWN),
    FIELD_OF(time_ratio, ratio, "How many times as long the second takes for as many tokens.", KNOWN,
             .formula = "after_s / before_s * tokens_ratio"),
    FIELD_OF(tokens_ratio, work_ratio,
             "Tokens of an iteration in the first state over those in the second, where batches differ; else 1."),
    FIGURE_OF(interval_s, ci95_s, "s",
              "Over several seeds, half width of the 95 % interval of the difference, seed by seed; of reports those "
              "of both means, added. No cause is sought within it.",
              FILLED, .source = "0126-chance-by-pairs.md"),
    FIELD(is_draw,
          "Whether what differs hangs on one draw of a hash or of random choices: another may differ otherwise."),
    FIELD_OF(draws, n_draws, "Draws that the times are means of. Links are of the first.", FILLED),
    FIELD(iterates, "Whether the times are those of an iteration."),
    FIELD_OF(new_links, n_new,
             "Links that collide in the second state alone, in some phase; of reports those among the listed, added up "
             "over the phases."),
    FIELD_OF(gone_links, n_gone, "Links that collide in the first state alone, likewise."),
    FIELD(label, "The engine with its options, in the second state."),
    FIELD(before_label, "The same in the first, where that is another.", FILLED),
    LIST(phases, "phase", phases, n_phases, &PHASE, "Phase by phase."),
    ARRAY(links, "link", links, n_links, &LINK, "The worst links that collide in one state alone."),
};
static const fab_fields ENGINE = TABLE("diff_engine", ENGINES, DIFFERENCES);

#undef T
#define T fab_diff_test
static const fab_field TESTS[] = {
    FIGURE(time_s, "s", "The time that it takes."),
    FIELD(returns, "Whether that is the time of the first state, but for a tenth of the difference."),
    FIELD(holds, "Whether that is what the cause predicts."),
    FIELD(what, "What was evaluated in place of the second state."),
};
static const fab_fields TEST = TABLE("diff_test", TESTS, DIFFERENCES);

#undef T
#define T fab_difference
static const char *const KINDS[] = {"designs", "imports", "results", "mixed"};

static const fab_field DIFFERENCE[] = {
    FIELD_OF(tolerance_ratio, tolerance, "The largest ratio of times that passes.", FILLED),
    FIELD(is_beyond,
          "Whether the second state takes longer than the tolerance lets it, and is told apart: exit code 1."),
    FIELD_OF(not_told_apart, is_open, "Whether some time is above the tolerance by no more than chance makes.", FILLED),
    FIELD(is_verified, "Whether what the cause names makes the difference from the first state, and undone brings its "
                       "time back, both as evaluated."),
    FIELD(keeps_plan, "Whether both states run the plan that was chosen for the first."),
    FIELD(plan, "That plan, as keys of the job.", FILLED, .source = "0075-plans.md"),
    FIELD(is_large, "Whether several seeds were too many, so that what is drawn is drawn once."),
    FIELD_OF(changes_left_out, n_left_out, "Further changes, which are counted only.", FILLED),
    FIELD(gone_cables, "Cables that are gone, beside those of boxes that are.", FILLED),
    FIELD(new_cables, "Cables that are new, beside those of boxes that are.", FILLED),
    FIELD(other_cables, "Cables that lead elsewhere, or run at another rate.", FILLED),
    FIELD(verdict, "The answer."),
    FIELD(cause, "Why, in a sentence.", FILLED),
    FIELD(stopped, "Why the job does not run in the second state.", FILLED),
    FIELD(before, "The first state, as given."),
    FIELD(after, "The second state, as given."),
    FIELD(kind, "What is compared: designs, imported networks, reports, or a design and a report.", ONE_OF(KINDS)),
    LIST(changes, "change", changes, n_changes, &CHANGE, "What differs."),
    LIST(engines, "engine", engines, n_engines, &ENGINE, "Under every engine."),
    LIST(tests, "test", tests, n_tests, &TEST, "What was evaluated to confirm or refute what flows have in common."),
};
const fab_fields fab_difference_fields =
    TABLE("diff", DIFFERENCE, DIFFERENCES,
          .definition = "Two states of a network and its job: what changed, what that does, and why.");
