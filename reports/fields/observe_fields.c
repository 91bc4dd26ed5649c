/* Counters over what a job should do: `observe`. */
#include "fab/observe.h"
#include "field_rows.h"
#include "field_tables.h"

#define OBSERVING "0087-observe.md"

#define T fab_suspect
static const char *other_link(const fab_at *at, char *room) {
    return fab_link_name(fab_at_result(at)->graph, ((const T *)at->up->row)->others[at->index], room);
}

GIVES(size_t, count_others, here->as_good < FAB_OBSERVE_OTHERS ? here->as_good : FAB_OBSERVE_OTHERS);

static const fab_field OTHERS[] = {TEXT_MADE(link, other_link, "The link.")};
static const fab_fields OTHER = VIEW("as_good_link", OTHERS, OBSERVING);

static const fab_field SUSPECTS[] = {
    NAMED(suspect, kind, fab_suspect_kinds, "What kind of departure it is."),
    FIELD_OF(deviation_ratio, deviation, "What it carried over what the job puts on it, minus 1.", SIGNED),
    FIELD(score, "Deviation over the spread of its peers."),
    FIELD(job_ratio, "Bytes of the job that cross it over those that all hosts send."),
    FIELD(cables, "Directed links whose deviation it explains."),
    FIELD(as_good, "Other links on the paths of its flows that explain as much."),
    FIELD(errors, "Errors counted at both ends."),
    FIELD(wait_ratio, "Time that data waited there over the median of its peers.", KNOWN),
    FIELD(name, "The link, in the direction that deviates, the host or the rank."),
    FIELD(ranks, "Ranks of the job on the host, or behind the link of an adapter: 8-15.", FILLED),
    FIELD(evidence, "Why, in words."),
    LIST_BY(others, "other", NULL, count_others, &OTHER, "The first links that explain as much.", IF(as_good)),
};
static const fab_fields SUSPECT = TABLE("suspect", SUSPECTS, OBSERVING);

#undef T
#define T fab_observed_boundary
GIVES(const char *, observed_boundary, fab_boundary_name(fab_at_result(at)->graph->wiring, here->tier));

GIVES(const char *, observed_direction, fab_direction_name(fab_at_result(at)->graph->wiring, here->tier, here->up));

static const fab_field OBSERVED_BOUNDARIES[] = {
    TEXT_BY(boundary, observed_boundary, FAB_BOUNDARY_TEXT),
    FIELD(tier, FAB_TIER_TEXT),
    TEXT_BY(direction, observed_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIELD(links, "Directed links of the boundary."),
    FIELD(measured, "Those that some end has counted."),
    FIELD_OF(measured_imbalance_ratio, measured_imbalance, "What the fullest of them carried over the mean."),
    FIELD_OF(predicted_imbalance_ratio, predicted_imbalance, "The same as predicted."),
    FIELD_OF(drawn_least_ratio, drawn_least, "The least of that over all draws of the engine."),
    FIELD_OF(drawn_most_ratio, drawn_most, "The most of it."),
    FIELD(is_explained, "Whether the measured imbalance is neither above nor below what is drawn."),
    FIELD_OF(spread_ratio, spread, "Robust standard deviation of what links deviate by.", KNOWN),
};
static const fab_fields OBSERVED_BOUNDARY = TABLE("observed_boundary", OBSERVED_BOUNDARIES, OBSERVING);

#undef T
#define T fab_observed_link
static const char *observed_link(const fab_at *at, char *room) {
    return fab_link_name(fab_at_result(at)->graph, ((const T *)at->row)->link, room);
}

static const fab_field OBSERVED_LINKS[] = {
    FIGURE(measured_bytes, "byte", "What the link carried between the snapshots, both ends together."),
    FIGURE(predicted_bytes, "byte", "What the job puts on it in as many iterations.", KNOWN),
    FIELD_OF(deviation_ratio, deviation, "Measured over predicted, minus 1.", KNOWN, SIGNED),
    TEXT_MADE(link, observed_link, "The link."),
};
static const fab_fields OBSERVED_LINK = TABLE("observed_link", OBSERVED_LINKS, OBSERVING);

#undef T
#define T fab_observed
static const fab_field OBSERVED[] = {
    FIELD(ports, "Ports of the second snapshot."),
    FIELD(unknown_ports, "Those that are none of this fabric."),
    FIELD(lost_ports, "Ports that one snapshot alone has."),
    FIELD(reset_ports, "Ports whose counters were cleared between the snapshots: left out."),
    FIELD(wrapped_ports, "Ports whose counters of 64 bits have begun anew: counted on."),
    FIELD(stuck_ports, "Ports whose counters of 32 bits stand at their end: left out."),
    FIELD(still_ports, "Ports that count nothing of what the other end of their cable does: left out."),
    FIELD(links, "Directed links of the network."),
    FIELD(measured_links, "Those that some end has counted."),
    FIELD(two_ended_links, "Those that both ends have counted."),
    FIGURE(interval_s, "s", "Time between the snapshots.", KNOWN),
    FIELD(iterations, "Iterations that the measured bytes come to."),
    FIGURE(iteration_s, "s", "Time of one as measured.", KNOWN, .formula = "interval_s / iterations"),
    FIELD(draws, "Draws of the engine that were evaluated."),
    FIELD(fitting_draw, "The one that the measured loads are closest to, from 0: added to the seed."),
    FIELD(fits, "Whether they are those of that draw, so that links between switches are judged one by one."),
    FIELD(fitting_ratio, "Part of the links between switches that are as that draw has them."),
    FIELD_OF(read_skew_ratio, read_skew,
             "Spread of the moments at which boxes were read, over the interval: taken out.", KNOWN),
    FIELD_OF(least_link_ratio, least_link, "The smallest deviation of a link that this pair can show."),
    FIELD_OF(least_host_ratio, least_host, "The same of a host."),
    FIELD(judged_links, "Links whose load is known one by one."),
    FIELD(off_links, "Those of them that deviate though no suspect explains it."),
    FIELD(unpredicted_links, "Links that carried what the job does not explain."),
    FIELD(phases, "Phases of the job."),
    FIELD(untraced_phases, "Those whose flows were not followed between switches, which split them or are too many: a "
                           "slow link there shows by itself alone."),
    FIELD_OF(more_suspects, n_more, "Suspects beyond those that are listed."),
    FIELD(before, "The first snapshot.", FILLED),
    FIELD(after, "The second one."),
    FIELD(format, "Format of the second one, or of its first file."),
    FIELD(engine, "The engine that the prediction is of."),
    FIELD_OF(first_unknown, first_unknown, "One of the unknown ports.", FILLED),
    FIELD_OF(first_reset, first_reset, "One of the ports that were cleared.", FILLED),
    FIELD_OF(first_still, first_still, "One of the ports that stand still.", FILLED),
    LIST(suspects, "suspect", suspects, n_suspects, &SUSPECT, "What deviates, most certain first."),
    LIST(boundaries, "boundary", boundaries, n_boundaries, &OBSERVED_BOUNDARY, "Imbalance by boundary and direction."),
    LIST(loads, "load", loads, n_loads, &OBSERVED_LINK, "Every link that was measured, the largest deviation first."),
};
const fab_fields fab_observe_fields = TABLE(
    "observe", OBSERVED, OBSERVING, .definition = "What ports have counted over what the job should do: `observe`.");
