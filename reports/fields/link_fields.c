/* Links and who shares them: loads, next hops and hot links of a phase; `explain`. */
#include "fab/explanation.h"
#include "field_rows.h"
#include "field_tables.h"

#define COLLIDING "0009-collisions.md"
#define HASHING   "0016-hashing.md"

const char *const fab_directions[4] = {"up", "down", "there", "back"};

/* --- of a phase under an engine ----------------------------------------------------------------------------------- */

#define T fab_tier_load
static const fab_engine_result *engine_of(const fab_at *at) {
    return at->up->row;
}

static const char *load_boundary(const fab_at *at, char *room) {
    (void)room;
    return fab_boundary_name(engine_of(at)->wiring, ((const T *)at->row)->tier);
}

static const char *load_direction(const fab_at *at, char *room) {
    (void)room;
    const T *load = at->row;
    return fab_direction_name(engine_of(at)->wiring, load->tier, load->up);
}

static bool has_rates(const fab_at *at) {
    return engine_of(at)->has_rates;
}

#define LOAD_PLACE                                                                                                     \
    TEXT_BY(boundary, load_boundary, FAB_BOUNDARY_TEXT), FIELD(tier, tier, FAB_TIER_TEXT),                             \
        TEXT_BY(direction, load_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions))

static const fab_field LOADS[] = {
    LOAD_PLACE,
    FIELD(links, links, "Links of the boundary in this direction."),
    FIELD(used_links, used, "Links that carry something."),
    FIELD(collided_links, collided, "Links that are asked for more than they carry."),
    FIGURE(bytes, bytes, "byte", "Bytes over all of these links together."),
    FIELD(max_utilisation_ratio, max_utilisation, "Largest offered rate over capacity of one of them.",
          .formula = "max of load_bps / capacity_bps"),
    FIELD(mean_utilisation_ratio, mean_utilisation, "Mean over all links of the boundary and direction, used or not.",
          .formula = "mean of load_bps / capacity_bps"),
    FIELD(max_taper_factor, max_taper_factor, "Largest taper factor of one of them."),
    FIELD(held_flows, held_flows, "Flows whose rate a link of this class holds: its bottleneck.", .only = has_rates,
          .source = "0023-rates.md"),
    SCALARS(histogram, NULL, histogram, NULL, "Links of the class by utilisation, between meta.histogram_edges.",
            EXACTLY(FAB_HISTOGRAM)),
    END_OF_FIELDS,
};
const fab_fields fab_link_load_fields = {.name = "link_load", .rows = LOADS, .size = sizeof(T), .source = COLLIDING};

static const fab_field NEXT_HOPS[] = {
    LOAD_PLACE,
    FIELD(choices, choices, "Choices that some flow met."),
    FIELD(full_choices, full_choices,
          "Choices that so many flows meet that an ideal hash is expected to use all next hops."),
    FIELD(mean_used_ratio, mean_used,
          "Next hops that flows use over those they could use, mean over the full choices. Far below 1: the hashes of "
          "several tiers are alike (polarization).",
          IF(full_choices), .formula = "mean of used / available next hops"),
    FIELD(min_used_ratio, min_used, "The least of mean_used_ratio over the choices of a class.", IF(full_choices)),
    FIELD(later_choices, later_choices, "Choices that flows meet for which another switch has chosen before."),
    FIELD(later_next_hops, later_next_hops, "Next hops of the later choices.", IF(later_choices)),
    FIELD(later_used, later_used, "Next hops of the later choices that such flows use.", IF(later_choices)),
    FIELD(later_expected, later_expected,
          "Next hops that flows which were hashed before would use here under an ideal hash, on average.",
          IF(later_choices)),
    FIELD(
        ideal_probability, chance,
        "Bound of the probability that an ideal hash uses as few next hops as these; where it is tiny, the routes are "
        "called polarized.",
        IF(later_choices)),
    FIELD(polarized, polarized, "Whether later_used <= 0.75 later_expected and ideal_probability < 1e-6."),
    END_OF_FIELDS,
};

static bool has_no_choices(const fab_at *at) {
    return ((const T *)at->row)->choices == 0;
}
const fab_fields fab_next_hops_fields = {
    .name = "next_hops", .rows = NEXT_HOPS, .size = sizeof(T), .source = HASHING, .is_left_out = has_no_choices};

#undef T
#define T fab_flow_ref
static const fab_field HOT_FLOWS[] = {
    FIELD(flow, flow, "Number of the flow in its phase."),
    FIELD(src_gpu, src_gpu, "GPU that sends."),
    FIELD(dst_gpu, dst_gpu, "GPU that receives."),
    FIELD(src_rank, src_rank, "Its rank; the GPU where there is no job."),
    FIELD(dst_rank, dst_rank, "Rank of the GPU that receives."),
    FIELD(share, share, "Part of the bytes of the flow that crosses the link."),
    FIELD(comm, comm, "Its communicator.", .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields HOT_FLOW = {.name = "hot_flow", .rows = HOT_FLOWS, .size = sizeof(T), .source = COLLIDING};

#undef T
#define T fab_hot_link
static const char *hot_direction(const fab_at *at, char *room) {
    (void)room;
    const T *hot = at->row;
    return fab_direction_name(engine_of(at)->wiring, hot->tier, hot->up);
}

static const fab_field HOT_LINKS[] = {
    FIELD(link, name, "Name of the link: node:port > node:port."),
    FIELD(link_id, link, "Number of the link: 2 x cable, plus 1 in the direction down."),
    FIELD(tier, tier, FAB_TIER_TEXT),
    TEXT_BY(direction, hot_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIELD(factor, factor, "Collision factor of the link.", .formula = "taper_factor * hash_factor"),
    FIELD(taper_factor, taper_factor, "Utilisation of the link under ideal spray of the same flows.",
          .formula = "spray_load_bps / capacity_bps"),
    FIELD(hash_factor, hash_factor, "What the routing adds to the taper factor of the link.",
          .formula = "collision factor / taper_factor"),
    FIELD(n_flows, n_flows, "Flows that share the link."),
    ARRAY(flows, "flow", flows, n_listed, &HOT_FLOW, "Flows that share the link; the first ones where there are many."),
    END_OF_FIELDS,
};
const fab_fields fab_hot_link_fields = {.name = "hot_link", .rows = HOT_LINKS, .size = sizeof(T), .source = COLLIDING};

/* --- an explanation ----------------------------------------------------------------------------------------------- */

#undef T
#define T fab_decision
static const fab_fabric *fabric_of(const fab_at *at) {
    return fab_at_result(at)->explanation->fabric;
}

static const char *decision_switch(const fab_at *at, char *room) {
    return fab_node_name(fabric_of(at), ((const T *)at->row)->node, room);
}

static const char *decision_link(const fab_at *at, char *room) {
    return fab_link_name(fabric_of(at), ((const T *)at->row)->link, room);
}

static const fab_field DECISIONS[] = {
    TEXT_BY(switch, decision_switch, "Switch that decides."),
    TEXT_BY(link, decision_link, "Link that it takes."),
    FIELD(link_id, link, "Number of that link."),
    FIELD(next_hops, count, "Next hops of equal cost; missing where a table holds the link.", .when = FAB_FILLED),
    FIELD(index, index, "Index of the one taken, from 0.", IF(count)),
    FIELD(reason, reason, "Why it is this one; missing where there was nothing to choose.", .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields DECISION = {.name = "decision", .rows = DECISIONS, .size = sizeof(T), .source = HASHING};

#undef T
#define T fab_met_path
static const fab_field PATHS[] = {
    FIELD(queue_pair, queue_pair, "Queue pair that takes the path."),
    FIELD(plane, plane, "Plane that the path is in."),
    LIST(decisions, "decision", decision, n_decisions, &DECISION, "What every switch on the way decides."),
    END_OF_FIELDS,
};
static const fab_fields PATH = {.name = "explained_path", .rows = PATHS, .size = sizeof(T), .source = HASHING};

#undef T
#define T fab_met_flow
static const fab_field FLOWS[] = {
    FIELD(flow, flow, "Number of the flow in its phase."),
    FIELD(src_gpu, src_gpu, "GPU that sends."),
    FIELD(dst_gpu, dst_gpu, "GPU that receives."),
    FIELD(src_rank, src_rank, "Its rank; the GPU where there is no job."),
    FIELD(dst_rank, dst_rank, "Rank of the GPU that receives."),
    FIELD(comm, comm_name, "Its communicator.", .when = FAB_FILLED),
    FIGURE(offered_bps, rate_bps, "bit/s", "Offered rate of the flow: what neither of its ends is asked too much by.",
           .formula = "bytes * NIC rate / max(bytes out of the source NIC, into the destination NIC)",
           .labels = "offered|offered rate"),
    FIELD(share, share, "Part of it that crosses the link.", .high = 1.000000001),
    LIST(paths, "path", path, n_paths, &PATH, "Paths over the link; none where switches split what they hold."),
    END_OF_FIELDS,
};
static const fab_fields FLOW = {.name = "explained_flow", .rows = FLOWS, .size = sizeof(T), .source = COLLIDING};

#undef T
#define T fab_link_choice
static const fab_field CHOICES[] = {
    FIELD(flows, flows, "Flows that could have taken the link."),
    FIELD(paths, paths, "Paths that could have taken it."),
    FIELD(next_hops, next_hops, "Next hops to choose from."),
    FIELD(used, used, "Next hops that are used."),
    FIELD(ideal_used, ideal_used,
          "Next hops that the paths at a switch would use, on average, if each drew one by itself."),
    FIELD(paths_here, paths_here, "Paths over the link."),
    FIELD(values_here, values_here,
          "Different values from which these chose: equal ones stay together in a group of any size.",
          .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields CHOICE = {.name = "link_choice", .rows = CHOICES, .size = sizeof(T), .source = HASHING};

#undef T
#define T fab_met_phase
static const fab_field PHASES[] = {
    FIELD(name, name, "Name of the phase."),
    FIELD(collective, collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD(n_flows, n_flows, "Flows that cross the link."),
    FIELD(communicators, n_comms, "Communicators of these flows."),
    FIGURE(load_bps, load_bps, "bit/s", "What all flows that share the link ask of it.",
           .formula = "sum over the flows of offered_bps * share"),
    FIELD(utilisation_ratio, utilisation, "Offered rate over the link over its capacity.",
          .formula = "load_bps / capacity_bps"),
    FIELD(taper_factor, taper_factor, "Utilisation of the link under ideal spray of the same flows.",
          .formula = "spray_load_bps / capacity_bps"),
    FIELD(hash_factor, hash_factor,
          "What the routing adds to the taper factor; off every shortest path utilisation_ratio itself.",
          .formula = "utilisation_ratio / taper_factor"),
    OBJECT(choice, choice, &CHOICE,
           "What could have taken the link at the switch that it leaves; missing where nothing is chosen there.",
           IF(choice.next_hops)),
    LIST(flows, "flow", flow, n_flows, &FLOW, "The flows by what they ask of the link, largest first."),
    END_OF_FIELDS,
};
static const fab_fields PHASE = {.name = "explained_phase", .rows = PHASES, .size = sizeof(T), .source = COLLIDING};

#undef T
#define T fab_explanation
static uint32_t tier_of(const T *e) {
    return fab_class_of(e->fabric, e->link)->tier;
}

static const char *explained_boundary(const fab_at *at, char *room) {
    (void)room;
    const T *e = at->row;
    return fab_boundary_name(e->fabric->wiring, tier_of(e));
}

static uint64_t explained_tier(const fab_at *at) {
    return tier_of(at->row);
}

static const char *explained_direction(const fab_at *at, char *room) {
    (void)room;
    const T *e = at->row;
    return fab_direction_name(e->fabric->wiring, tier_of(e), fab_is_up(e->link));
}

static bool takes_turns(const fab_at *at) {
    return ((const T *)at->row)->n_rounds > 1;
}

static const fab_field EXPLANATION[] = {
    FIELD(link, name, "Name of the link: node:port > node:port."),
    FIELD(link_id, link, "Number of the link: 2 x cable, plus 1 in the direction down."),
    TEXT_BY(boundary, explained_boundary, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, explained_tier, FAB_TIER_TEXT),
    TEXT_BY(direction, explained_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIGURE(capacity_bps, capacity_bps, "bit/s", "Capacity of the link in one direction."),
    FIELD(engine, engine, "Name of the routing engine."),
    FIELD(options, label, "Name and all options, defaults included.", .when = FAB_FILLED),
    FIELD(rounds, n_rounds, "Rounds in which queue pairs take turns; everything is of the first.", .only = takes_turns,
          .low = 2),
    LIST(phases, "phase", phase, n_phases, &PHASE, "Phases with flows over the link."),
    END_OF_FIELDS,
};
const fab_fields fab_explanation_fields = {.name = "explain",
                                           .rows = EXPLANATION,
                                           .size = sizeof(T),
                                           .source = COLLIDING,
                                           .definition = "Who shares a link, and which decisions brought them there. "
                                                         "Stands in place of `phases`."};
