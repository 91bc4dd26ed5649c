/* Links and who shares them: loads, next hops and hot links of a phase; `explain`. */
#include "fab/explanation.h"
#include "field_rows.h"
#include "field_tables.h"

#define COLLIDING "0009-collisions.md"
#define HASHING   "0016-hashing.md"

const char *const fab_directions[4] = {"up", "down", "forward", "reverse"};

/* --- of a phase under an engine ----------------------------------------------------------------------------------- */

#define T fab_tier_load
GIVES(const fab_engine_result *, engine_of, at->up->row);
GIVES(const char *, load_boundary, fab_boundary_name(engine_of(at)->wiring, here->tier));
GIVES(const char *, load_direction, fab_direction_name(engine_of(at)->wiring, here->tier, here->up));
GIVES(bool, has_rates, engine_of(at)->has_rates);

#define LOAD_PLACE                                                                                                     \
    TEXT_BY(boundary, load_boundary, FAB_BOUNDARY_TEXT), FIELD(tier, FAB_TIER_TEXT),                                   \
        TEXT_BY(direction, load_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions))

static const fab_field LOADS[] = {
    LOAD_PLACE,
    FIELD(links, "Links of the boundary in this direction."),
    FIELD_OF(used_links, used, "Links that carry something."),
    FIELD_OF(collided_links, collided, "Links that are offered more than they carry."),
    FIGURE(bytes, "byte", "Bytes over all of these links together."),
    FIELD_OF(max_utilisation_ratio, max_utilisation, "Largest offered rate over capacity of one of them.",
             .formula = "max of load_bps / capacity_bps"),
    FIELD_OF(mean_utilisation_ratio, mean_utilisation,
             "Mean over all links of the boundary and direction, used or not.",
             .formula = "mean of load_bps / capacity_bps"),
    FIELD(max_taper_factor, "Largest taper factor of one of them."),
    FIELD(bottlenecked_flows, "Flows that are bottlenecked at a link of this class.", .only = has_rates,
          .source = "0023-rates.md"),
    SCALARS(histogram, NULL, histogram, "Links of the class by utilisation, between meta.histogram_edges.",
            EXACTLY(FAB_HISTOGRAM)),
};
const fab_fields fab_link_load_fields = TABLE("link_load", LOADS, COLLIDING);

static const fab_field NEXT_HOPS[] = {
    LOAD_PLACE,
    FIELD(choices, "Choices that some flow met."),
    FIELD(full_choices, "Choices that so many flows reach that an ideal hash is expected to use all next hops."),
    FIELD_OF(mean_used_ratio, mean_used,
             "Next hops that flows use over those they could use, mean over the full choices. Far below 1: the hashes "
             "of several tiers are alike (polarization).",
             IF(full_choices), .formula = "mean of used / available next hops"),
    FIELD_OF(min_used_ratio, min_used, "The least of mean_used_ratio over the choices of a class.", IF(full_choices)),
    FIELD(later_choices, "Choices that flows meet for which another switch has chosen before."),
    FIELD(later_next_hops, "Next hops of the later choices.", IF(later_choices)),
    FIELD(later_used, "Next hops of the later choices that such flows use.", IF(later_choices)),
    FIELD(later_expected,
          "Next hops that flows which were hashed before would use here under an ideal hash, on average.",
          IF(later_choices)),
    FIELD_OF(ideal_probability, chance,
             "Bound of the probability that an ideal hash uses as few next hops as these; where it is tiny, the routes "
             "are called polarized.",
             IF(later_choices)),
    FIELD(polarized, "Whether later_used <= 0.75 later_expected and ideal_probability < 1e-6."),
};

GIVES(bool, has_no_choices, here->choices == 0);
const fab_fields fab_next_hops_fields = TABLE("next_hops", NEXT_HOPS, HASHING, .is_left_out = has_no_choices);

#define FLOW_ENDS                                                                                                      \
    FIELD(flow, "Number of the flow in its phase."), FIELD(src_gpu, "GPU that sends."),                                \
        FIELD(dst_gpu, "GPU that receives."), FIELD(src_rank, "Its rank; the GPU where there is no job."),             \
        FIELD(dst_rank, "Rank of the GPU that receives.")

#undef T
#define T fab_flow_ref
static const fab_field HOT_FLOWS[] = {
    FLOW_ENDS,
    FIELD(share, "Part of the bytes of the flow that crosses the link."),
    FIELD(comm, "Its communicator.", FILLED),
};
const fab_fields fab_hot_flow_fields = TABLE("hot_flow", HOT_FLOWS, COLLIDING);

#undef T
#define T fab_hot_link
GIVES(const char *, hot_direction, fab_direction_name(engine_of(at)->wiring, here->tier, here->up));

static const fab_field HOT_LINKS[] = {
    FIELD_OF(link, name, "Name of the link: node:port > node:port."),
    FIELD_OF(link_id, link, "Number of the link: 2 x cable, plus 1 in the direction down."),
    FIELD(tier, FAB_TIER_TEXT),
    TEXT_BY(direction, hot_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIELD(factor, "Collision factor of the link.", .formula = "taper_factor * hash_factor"),
    FIELD(taper_factor, "Utilisation of the link under ideal spray of the same flows.",
          .formula = "spray_load_bps / capacity_bps"),
    FIELD(hash_factor, "What the routing adds to the taper factor of the link.",
          .formula = "collision factor / taper_factor"),
    FIELD(n_flows, "Flows that share the link."),
    ARRAY(flows, "flow", flows, n_listed, &fab_hot_flow_fields,
          "Flows that share the link; the first ones where there are many."),
};
const fab_fields fab_hot_link_fields = TABLE("hot_link", HOT_LINKS, COLLIDING);

/* --- an explanation ----------------------------------------------------------------------------------------------- */

#undef T
#define T fab_decision
GIVES(const fab_fabric *, fabric_of, fab_at_result(at)->explanation->fabric);

static const char *decision_switch(const fab_at *at, char *room) {
    return fab_node_name(fabric_of(at), ((const T *)at->row)->node, room);
}

static const char *decision_link(const fab_at *at, char *room) {
    return fab_link_name(fabric_of(at), ((const T *)at->row)->link, room);
}

static const fab_field DECISIONS[] = {
    TEXT_MADE(switch, decision_switch, "Switch that decides."),
    TEXT_MADE(link, decision_link, "Link that it takes."),
    FIELD_OF(link_id, link, "Number of that link."),
    FIELD_OF(next_hops, count, "Next hops of equal cost; missing where a table holds the link.", FILLED),
    FIELD(index, "Index of the one taken, from 0.", IF(count)),
    FIELD(reason, "Why it is this one; missing where there was nothing to choose.", FILLED),
};
static const fab_fields DECISION = TABLE("decision", DECISIONS, HASHING);

#undef T
#define T fab_crossing_path
static const fab_field PATHS[] = {
    FIELD(queue_pair, "Queue pair that takes the path."),
    FIELD(plane, "Plane that the path is in."),
    LIST(decisions, "decision", decision, n_decisions, &DECISION, "What every switch on the way decides."),
};
static const fab_fields PATH = TABLE("explained_path", PATHS, HASHING);

#undef T
#define T fab_crossing_flow
static const fab_field FLOWS[] = {
    FLOW_ENDS,
    FIELD_OF(comm, comm_name, "Its communicator.", FILLED),
    FIGURE_OF(offered_bps, rate_bps, "bit/s", "Offered rate of the flow: what neither of its ends is overloaded by.",
              .formula = "bytes * NIC rate / max(bytes out of the source NIC, into the destination NIC)",
              .labels = "offered|offered rate"),
    FIELD(share, "Part of it that crosses the link.", .high = 1.000000001),
    LIST(paths, "path", path, n_paths, &PATH, "Paths over the link; none where switches split what they hold."),
};
static const fab_fields FLOW = TABLE("explained_flow", FLOWS, COLLIDING);

#undef T
#define T fab_link_choice
static const fab_field CHOICES[] = {
    FIELD(flows, "Flows that could have taken the link."),
    FIELD(paths, "Paths that could have taken it."),
    FIELD(next_hops, "Next hops to choose from."),
    FIELD(used, "Next hops that are used."),
    FIELD(ideal_used, "Next hops that the paths at a switch would use, on average, if each drew one by itself."),
    FIELD(paths_here, "Paths over the link."),
    FIELD(values_here, "Different values from which these chose: equal ones stay together in a group of any size.",
          FILLED),
};
static const fab_fields CHOICE = TABLE("link_choice", CHOICES, HASHING);

#undef T
#define T fab_crossing_phase
static const fab_field PHASES[] = {
    FIELD(name, "Name of the phase."),
    FIELD(collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD(n_flows, "Flows that cross the link."),
    FIELD_OF(communicators, n_comms, "Communicators of these flows."),
    FIGURE(load_bps, "bit/s", "What all flows that share the link ask of it.",
           .formula = "sum over the flows of offered_bps * share"),
    FIELD_OF(utilisation_ratio, utilisation, "Offered rate over the link over its capacity.",
             .formula = "load_bps / capacity_bps"),
    FIELD(taper_factor, "Utilisation of the link under ideal spray of the same flows.",
          .formula = "spray_load_bps / capacity_bps"),
    FIELD(hash_factor, "What the routing adds to the taper factor; off every shortest path utilisation_ratio itself.",
          .formula = "utilisation_ratio / taper_factor"),
    OBJECT(choice, choice, &CHOICE,
           "What could have taken the link at the switch that it leaves; missing where nothing is chosen there.",
           IF(choice.next_hops)),
    LIST(flows, "flow", flow, n_flows, &FLOW, "The flows by what they ask of the link, largest first."),
};
static const fab_fields PHASE = TABLE("explained_phase", PHASES, COLLIDING);

#undef T
#define T fab_explanation
static uint32_t tier_of(const T *e) {
    return fab_class_of(e->fabric, e->link)->tier;
}

GIVES(const char *, explained_boundary, fab_boundary_name(here->fabric->wiring, tier_of(here)));
GIVES(uint64_t, explained_tier, tier_of(here));
GIVES(const char *, explained_direction,
      fab_direction_name(here->fabric->wiring, tier_of(here), fab_is_up(here->link)));
GIVES(bool, takes_turns, here->n_rounds > 1);

static const fab_field EXPLANATION[] = {
    FIELD_OF(link, name, "Name of the link: node:port > node:port."),
    FIELD_OF(link_id, link, "Number of the link: 2 x cable, plus 1 in the direction down."),
    TEXT_BY(boundary, explained_boundary, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, explained_tier, FAB_TIER_TEXT),
    TEXT_BY(direction, explained_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIGURE(capacity_bps, "bit/s", "Capacity of the link in one direction."),
    FIELD(engine, "Name of the routing engine."),
    FIELD_OF(options, label, "Name and all options, defaults included.", FILLED),
    FIELD_OF(rounds, n_rounds, "Rounds in which queue pairs take turns; everything is of the first.",
             .only = takes_turns, .low = 2),
    LIST(phases, "phase", phase, n_phases, &PHASE, "Phases with flows over the link."),
};
const fab_fields fab_explanation_fields =
    TABLE("explain", EXPLANATION, COLLIDING,
          .definition = "Who shares a link, and which decisions brought them there. Stands in place of `phases`.");
