/* Phases under their engines: `phases`. */
#include "field_rows.h"
#include "field_tables.h"

#define TIMES     "0028-rates-and-times.md"
#define ESTIMATED "0111-hashes-of-many-flows.md"
#define COLLIDING "0009-collisions.md"
#define OPTIMUM   "0019-certified-optimum.md"
#define ADAPTIVE  "0020-adaptive.md"
#define RATES     "0023-rates.md"
#define NCCL      "nccl-tests, PERFORMANCE.md"

/* --- paths, rates ------------------------------------------------------------------------------------------------- */

#define T fab_engine_result
static const fab_field PATH_FIELDS[] = {
    FIELD_OF(min_hops, paths.hops.min, "Fewest network links of a path."),
    FIELD_OF(mean_hops, paths.hops.mean, "Mean number of network links of the paths.", .labels = "hops"),
    FIELD_OF(max_hops, paths.hops.max, "Most network links of a path."),
    FIGURE_OF(min_latency_s, paths.latency_s.min, "s", "Shortest one-way latency of a path, devices and cables.",
              .formula = "sum over the links of the path"),
    FIGURE_OF(mean_latency_s, paths.latency_s.mean, "s", "Mean one-way latency of the paths.",
              .formula = "sum over the links of the path"),
    FIGURE_OF(max_latency_s, paths.latency_s.max, "s", "Longest one-way latency of a path.",
              .formula = "sum over the links of the path"),
    FIGURE_OF(mean_spread_s, paths.mean_spread_s, "s",
              "Latency between the slowest and the fastest path of a flow, mean over the flows.", .source = ADAPTIVE),
    FIGURE_OF(max_spread_s, paths.max_spread_s, "s",
              "Latency between the slowest and the fastest path of a flow, largest of all flows.", .source = ADAPTIVE),
    FIGURE_OF(max_round_trip_s, paths.longest_round_trip_s, "s", "Longest forward and reverse path of a flow together.",
              .source = ADAPTIVE),
};
static const fab_fields PATHS = TABLE("paths", PATH_FIELDS, TIMES);

GIVES(bool, is_reordering, here->paths.n_flows > 0 && here->paths.reorders && isfinite(here->paths.min_limit_bps));

static const fab_field REORDERING_FIELDS[] = {
    FIGURE(window_bytes, "byte",
           "Reorder window of a receiver under engines that reorder packets; an option of the engine.",
           .labels = "window"),
    FIGURE(queueing_s, "s",
           "Allowance for queues in the round trip of engines that reorder packets; an option of the engine."),
    FIGURE_OF(min_limit_bps, paths.min_limit_bps, "bit/s", "Least rate to which the reorder window limits a flow.",
              .formula = "window_bytes * 8 / (round trip + queueing_s)"),
    FIELD_OF(limited_flows, paths.limited_flows, "Flows that are offered more than their limit."),
    FIELD_OF(
        max_offered_over_limit_ratio, paths.max_excess_ratio,
        "Largest offered rate of a flow over its limit by the reorder window; above 1 the window is its bottleneck."),
};
static const fab_fields REORDERING = TABLE("reordering", REORDERING_FIELDS, ADAPTIVE);

static const fab_field HELD_FIELDS[] = {
    FIELD_OF(scale_up, rates.bottlenecked_at_scaleup,
             "Flows that are bottlenecked at a link inside a scale-up domain."),
    FIELD_OF(pcie, rates.bottlenecked_at_pcie, "Flows that are bottlenecked between GPU and NIC."),
    FIELD_OF(window, rates.bottlenecked_at_window,
             "Flows that are bottlenecked at the reorder window of the receiver."),
};
static const fab_fields HELD = TABLE("bottlenecked_flows", HELD_FIELDS, RATES);

#undef T
#define T fab_last_flow
static const fab_field LAST_FLOW_FIELDS[] = {
    FIELD(flow, "Number of the flow in its phase."),
    FIELD(src_gpu, "GPU that sends."),
    FIELD(dst_gpu, "GPU that receives."),
    FIGURE(bytes, "byte", "Bytes of the flow."),
    FIGURE(rate_bps, "bit/s", "Its max-min fair rate while all flows are under way."),
    FIGURE(finish_s, "s",
           "When it ends: its bytes, what was relayed before, and the latency of its own longest path, once per step, "
           "with what hosts add."),
    SCALARS(path, NULL, path, "Links of its slowest path in order: 2 x cable, plus 1 in the direction down.",
            COUNTED(n_path), FILLED),
    FIELD_OF(bottleneck_id, held.link, "Number of the bottleneck.", IF(held.n_flows)),
    FIELD_OF(bottleneck_flows, held.n_flows, "Flows that cross the bottleneck, this one included.", FILLED),
    FIELD(bottleneck, "The link that holds it; missing where a window does.", FILLED),
    FIELD(comm, "Its communicator.", FILLED),
    ARRAY(flows, "flow", held.flows, held.n_listed, &fab_hot_flow_fields, "They, or the first ones of many.", FILLED),
};
static const fab_fields LAST_FLOW = TABLE("last_flow", LAST_FLOW_FIELDS, TIMES);

/* --- lossless queues ---------------------------------------------------------------------------------------------- */

#define LOSSLESS "src/doc/adr/0067-lossless-queues.md"

#undef T
#define T fab_pause_root
static const fab_field PAUSE_ROOT_FIELDS[] = {
    FIELD(link, "A link that stops others and is stopped itself for less than a tenth of the time that it sends."),
    FIELD(stopped_links,
          "Links that wait for it: each for the queue that it waited for longest, that for the next, up to this."),
    FIGURE(stopped_s, "s", "How long they are stopped, added up."),
};
static const fab_fields PAUSE_ROOT = TABLE("root", PAUSE_ROOT_FIELDS, LOSSLESS);

#undef T
#define T fab_paused_link
static const fab_field PAUSED_LINK_FIELDS[] = {
    FIELD(link, "A link that is stopped at times."),
    FIGURE(stopped_s, "s", "For how long, added up; of several priorities the one that was stopped longest."),
    FIELD(waits_for,
          "The link whose queue held what it was stopped for, most of the time: the next on the way to the root."),
    FIELD(root, "What it waits for in the end."),
};
static const fab_fields PAUSED_LINK = TABLE("stopped", PAUSED_LINK_FIELDS, LOSSLESS);

#undef T
#define T fab_pauses
static const fab_field PAUSES_FIELDS[] = {
    FIELD(pauses, "How often an ingress port stops its sender."),
    FIELD(stopped_links, "Links that are stopped at all."),
    FIELD(victims, "Flows that end more than a tenth later than under transport fluid though they cross no root.",
          .labels = "victims|victim"),
    FIELD(notices,
          "Notifications of congestion that told a sender to slow down, under transport dcqcn; marked packets or "
          "cells, under spray-ack.",
          FILLED),
    FIELD(trims,
          "Packets, or cells of several, that found a queue full and were sent again, under transport spray-ack.",
          IF(is_sprayed), .source = "src/doc/adr/0074-sprayed-packets.md", .labels = "full queue"),
    FIGURE(cell_bytes, "byte", "What moves as one: a packet, or in a large phase a part of a flow."),
    ARRAY(roots, "root", roots, n_roots, &PAUSE_ROOT, "Links that stop others longest, first."),
    ARRAY(stopped, "link", stopped, n_stopped, &PAUSED_LINK, "Links that are stopped longest, first."),
};
static const fab_fields PAUSES = TABLE("lossless", PAUSES_FIELDS, LOSSLESS,
                                       .definition = "What queues of packets do to the phase, of the first seed.");

/* --- an engine ---------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_engine_result
GIVES(bool, is_of_seeds, here->n_seeds > 1);
GIVES(bool, takes_turns, here->n_rounds > 1);
GIVES(bool, is_estimated, here->has_time && here->longest_s > 0);
GIVES(bool, has_rates, here->has_time && here->has_rates);
GIVES(bool, has_fluid_time, here->has_pauses && here->has_time);
GIVES(bool, is_collective, here->has_time && here->algbw.mean > 0);
GIVES(size_t, count_cycle, here->n_cycle < FAB_CYCLE_SHOWN ? here->n_cycle : FAB_CYCLE_SHOWN);
GIVES(size_t, count_deadlocked, here->pauses.n_cycle < FAB_PAUSE_CYCLE ? here->pauses.n_cycle : FAB_PAUSE_CYCLE);

static const fab_field ENGINE_FIELDS[] = {
    FIELD(engine, "Name of the routing engine."),
    FIELD_OF(options, label, "Name and all options, defaults included.", FILLED),
    FIELD(number, "Place among the engines that were asked for, from 1, where each has a plan of its own.", FILLED),
    FIELD(seed, "The first seed."),
    FIELD_OF(seeds, n_seeds, "Seeds that the figures are taken over; link_loads and hot_links are of the first.",
             .low = 1),
    FIELD(seeded, "Whether the routes depend on the seed."),
    FIELD_OF(rounds, n_rounds,
             "Rounds in which queue pairs take turns: figures are means over them; utilisations of link_loads, and "
             "hot_links, are of the first.",
             .only = takes_turns, .low = 2),
    FIELD(polarized,
          "Whether hashes of several tiers are so alike that switches use far fewer next hops than under an ideal "
          "hash; of the first seed.",
          .labels = "polarization"),
    FIELD(deadlock_free, "Whether the channel dependency graph of the routes has no cycle.", .labels = "deadlock"),
    FIGURE(latency_s, "s",
           "Latency of all steps of the phase in one iteration: the slowest path once per dependent step, and what "
           "hosts add.",
           IF(has_time),
           .formula =
               "steps * executions * (max over paths of sum of device and cable latencies + nic-latency) + host_s",
           .source = TIMES, .labels = "latency"),
    FIGURE(host_s, "s", "What the software of hosts and copies add to a phase in one iteration, a part of latency_s.",
           IF(has_time), FILLED,
           .formula =
               "executions * (call-overhead + steps * (step-overhead + further messages * message-overhead)) + copy_s",
           .source = "src/doc/hosts.md", .labels = "host software"),
    FIGURE_OF(shortest_time_s, shortest_s, "s",
              "Where the loads of a hash are estimated (ecmp of more than 2^29 flows, 2^24 where they are unequal or "
              "in groups, or with flows=estimated), or the ends of more than 2^22 unequal flows: what the fullest link "
              "of an even split takes. time_s is what the fullest link is expected to need.",
              .only = is_estimated, .formula = "time under an even split", .source = ESTIMATED, .labels = "estimated"),
    FIGURE_OF(longest_time_s, longest_s, "s",
              "One draw in a thousand takes more, at most: Bernstein's inequality; of unequal flows, which may end "
              "after the fullest link, a quarter more.",
              .only = is_estimated,
              .formula = "(B + x) / B of the time of the B bytes of a link, links * P(more than B + x) <= 0.001",
              .source = ESTIMATED),
    FIGURE(copy_s, "s",
           "Of host_s: what GPUs send on for others of their scale-up domain (rail-aligned, pxn, relays of rail-only) "
           "is written to their memory and read again. An exchange that goes straight to its ends is zero copy.",
           IF(has_time), FILLED, .formula = "bytes that a GPU sends on * 8 / copy-rate",
           .source = "NCCL 2.12, PXN; data sheets of GPUs", .labels = "copies"),
    FIELD_OF(time_is_lower_bound, blocks_elsewhere,
             "Whether flows of one path each collide under transport fluid: on a network of lossless queues (RoCE with "
             "PFC, InfiniBand) they also hold up others, and the phase takes longer. Told where it is so.",
             IF(blocks_elsewhere), .source = "src/doc/packets.md", .labels = "lower bound"),
    FIELD(collided_links, "Fabric links offered more than they carry.",
          .formula = "number of fabric links with collision factor > 1 + 1e-9", .labels = "collided|collided links"),
    FIELD(collided_flows, "Flows with a path over a collided link.", .labels = "collided|collided flows"),
    FIELD(max_collision_factor,
          "Largest collision factor of a fabric link. The factor is the offered rate over the link divided by its "
          "capacity; 2 means that flows there get half of what they offer. A flow offers bytes * NIC rate / the larger "
          "of what its source NIC sends and its destination NIC receives, so that incast at a receiver is no "
          "collision. It is the product of taper_factor and hash_factor.",
          .formula = "max over fabric links of load_bps / capacity_bps",
          .labels = "collision factor|worst link|collision"),
    FIELD(mean_collision_factor,
          "Mean over the flows that use a fabric link of the worst collision factor on their route."),
    FIELD(max_taper_factor,
          "Largest taper factor of a fabric link: what the design itself causes, whatever the hash does.",
          .formula = "max over fabric links of spray_load_bps / capacity_bps", .labels = "taper factor|by taper"),
    FIELD(max_hash_factor,
          "Largest collision factor over taper factor of one link: what the routing adds to the design.",
          .formula = "max over fabric links of collision factor / taper_factor", .labels = "hash factor|by hash"),
    FIELD_OF(max_utilisation_ratio, max_utilisation,
             "Largest offered rate over capacity of a network link, access links too.",
             .formula = "max over network links of load_bps / capacity_bps", .labels = "utilisation"),
    FIELD_OF(throughput_ratio, throughput, "Largest factor by which all demands of the phase fit under this routing.",
             .formula = "1 / max_utilisation_ratio", .source = "throughput of a traffic matrix, Jyothi et al., SC'16",
             .labels = "throughput"),
    FIGURE(busiest_link_s, "s", "Time that the busiest network link needs for its bytes.",
           .formula = "max over network links of bytes * 8 / capacity_bps", .source = TIMES, .labels = "busiest link"),
    FIELD_OF(optimum_gap_ratio, optimum_gap,
             "How far the worst link is above the least that any splitting over minimal paths can reach; the bound is "
             "certified. 0 is optimal.",
             IF(has_gap), .formula = "max_utilisation_ratio / certified lower bound - 1", .source = OPTIMUM,
             .labels = "optimum gap|gap"),
    FIELD_OF(effective_bisection_ratio, effective_bisection,
             "Effective bisection bandwidth: hosts are halved and paired at random; mean over the pairs of one over "
             "the largest number of flows on a link of their route.",
             IF(has_effective_bisection), .formula = "mean over pairs of 1 / max over links of the route of flows",
             .source = "Hoefler, Schneider, Lumsdaine: Multistage switches are not crossbars, CLUSTER 2008 (ORCS)",
             .labels = "effective bisection"),
    FIGURE(time_s, "s", "Transfer and latency of all executions of the phase in one iteration.", IF(has_time),
           .formula = "transfer_s + latency_s", .source = TIMES, .labels = "phase time"),
    FIGURE(transfer_s, "s",
           "Until the last byte of the phase is through. Flows share links max-min fairly at every instant, NVLink, "
           "PCIe and NIC included; rates are found again whenever a flow ends. Under other transports packets in "
           "queues.",
           IF(has_time), .formula = "fluid simulation over max-min fair rates",
           .source = "Bertsekas and Gallager, Data Networks, 6.5.2; src/doc/adr/0023-rates.md", .labels = "transfer"),
    FIGURE_OF(fluid_s, fluid_s, "s", "What transfer_s would be if flows shared links max-min fairly.",
              .only = has_fluid_time, .formula = "fluid simulation over max-min fair rates", .source = LOSSLESS,
              .labels = "fluid"),
    OBJECT(lossless, pauses, &PAUSES, "What queues of packets do to the phase, of the first seed.", IF(has_pauses)),
    FIELD(lower_bound_ratio,
          "Transfer time over the least possible time of the phase. Never below 1: a result that beats its bound is an "
          "error of the program (exit code 70).",
          IF(has_time), .formula = "transfer_s / least_time_s", .source = TIMES, .labels = "lower bound"),
    FIGURE_OF(algbw_bps, algbw, "bit/s",
              "Algorithm bandwidth of a collective that is one phase: its size over its time, in bit/s as every rate "
              "here. nccl-tests print the same in GB/s: divide by 8e9.",
              .scale = 8, .only = is_collective, .formula = "8 S / time", .source = NCCL,
              .labels = "algbw|algorithm bandwidth"),
    FIGURE_OF(busbw_bps, busbw, "bit/s",
              "Bus bandwidth of a collective that is one phase: algorithm bandwidth times what its links carry per "
              "byte, comparable with link rates. nccl-tests print the same in GB/s: divide by 8e9.",
              .scale = 8, .only = is_collective,
              .formula =
                  "all-reduce: algbw * 2 (r - 1) / r; reduce-scatter, all-gather, all-to-all: algbw * (r - 1) / r",
              .source = NCCL, .labels = "busbw|bus bandwidth"),
    FIGURE_OF(min_rate_bps, min_rate, "bit/s", "Rate of the slowest flow while all flows are under way, max-min fair.",
              .only = has_rates, .source = TIMES, .labels = "slowest flow"),
    FIGURE_OF(mean_rate_bps, mean_rate, "bit/s", "Mean rate of the flows while all are under way, max-min fair.",
              .only = has_rates, .source = TIMES),
    SAME_ROW(bottlenecked_flows, &HELD,
             "Flows by what holds their rate, beside the network links of link_loads; of the first seed.",
             .only = has_rates, .labels = "flows are bottlenecked at"),
    OBJECT(last_flow, rates.last, &LAST_FLOW, "The flow that ends last, of the first seed.", .only = has_rates),
    SAME_ROW(
        paths, &PATHS,
        "Paths of flows between scale-up domains; hops are network links, latencies one way and of the first seed.",
        IF(paths.n_flows)),
    OBJECT(
        reordering, engine, &REORDERING,
        "Limits of engines that send packets of a flow over several paths: rate <= window / (round trip + queueing).",
        .only = is_reordering),
    SCALARS(deadlocked_links, "link", pauses.cycle,
            "First links of a circle that wait for each other for ever under lossless queues, of the first seed.",
            .n = count_deadlocked, FILLED),
    SCALARS(deadlock_cycle, "link", cycle, "Links of a shortest cycle of dependencies.", .n = count_cycle, FILLED),
    ARRAY(link_loads, "boundary", tiers, n_tiers, &fab_link_load_fields, "Links by boundary and direction."),
    ARRAY(next_hops_used, "boundary", tiers, n_tiers, &fab_next_hops_fields,
          "Choices among equal-cost next hops, one per switch and group of next hops that some flow met, by the "
          "boundary that the next hops lie in; of the first seed."),
    ARRAY(hot_links, "hot_link", hot, n_hot, &fab_hot_link_fields, "The worst links, worst first."),
};
GIVES(bool, is_absent, here->is_absent);

static const fab_fields ENGINE =
    TABLE("engine", ENGINE_FIELDS, COLLIDING,
          .definition = "A phase under one routing engine. Collision factor = utilisation of a fabric link = taper "
                        "factor x hash factor; collided when above 1.",
          .many = is_of_seeds, .is_left_out = is_absent);

/* --- a phase ------------------------------------------------------------------------------------------------------ */

#undef T
#define T fab_phase_result
static const char *const METHODS[] = {"even splitting", "linear program", "multiplicative weights", "no choice"};

static const fab_field BOUND_FIELDS[] = {
    FIELD_OF(method, bound_method, "How the bound was found.", ONE_OF(METHODS)),
    FIELD_OF(min_utilisation_ratio, utilisation_bound,
             "Certified: no splitting over minimal paths has a smaller largest utilisation of a network link.",
             .formula = "dual bound"),
    FIELD_OF(reached_utilisation_ratio, reached_utilisation,
             "Largest utilisation of a network link under the best splitting that was found.",
             .formula = "primal bound"),
    FIELD_OF(rounds, bound_rounds, "Rounds of the approximation."),
    FIELD_OF(columns, bound_columns, "Columns of the linear program."),
    FIELD_OF(rows, bound_rows, "Rows of the linear program."),
};
static const fab_fields BOUND = TABLE("bound", BOUND_FIELDS, OPTIMUM);

static const fab_counts *counts_of(const fab_at *at) {
    const fab_result *result = fab_at_result(at);
    return result->n_fabrics > 0 ? &result->fabrics[0].counts : NULL;
}

/* Boundaries between switch tiers; the first is number 2. */
static size_t count_upper_boundaries(const fab_at *at) {
    const fab_counts *c = counts_of(at);
    uint64_t n = c == NULL ? 0 : c->n_boundaries < FAB_MAX_TIERS ? c->n_boundaries : FAB_MAX_TIERS;
    return n > 1 ? (size_t)n - 1 : 0;
}

GIVES(uint64_t, upper_boundary, at->index + 2);
GIVES(const char *, upper_boundary_name, fab_boundary_name(counts_of(at)->wiring, (uint32_t)at->index + 2));

static const fab_field CROSSING_FIELDS[] = {
    TEXT_BY(boundary, upper_boundary_name, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, upper_boundary, FAB_TIER_TEXT),
    COLUMN(crossing_flows, crossing_flows, [2], NULL, "Flows whose minimal routes cross the boundary.",
           .source = "0029-sweeps.md"),
    COLUMN(max_taper_factor, taper_by_tier, [2], NULL, "Largest taper factor of its links."),
};
static const fab_fields CROSSING = VIEW("crossed_boundary", CROSSING_FIELDS, COLLIDING);

static const fab_field PHASE_FIELDS[] = {
    FIELD(name, "Name of the phase."),
    FIELD(collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD(formula, "Closed form of its bytes.", FILLED),
    FIELD(algorithm, "Algorithm of the collective.", FILLED),
    FIELD(run, "Phases of equal number are parts of one collective, one after the other."),
    FIELD(flows, "Flows of the phase."),
    FIELD(network_flows, "Flows that leave a scale-up domain."),
    FIELD(fabric_flows, "Flows that cross a fabric link."),
    FIGURE(bytes, "byte", "Bytes of all its flows over one iteration."),
    FIGURE(network_bytes, "byte", "Bytes of the flows that leave a scale-up domain."),
    FIELD(steps, "Dependent steps of one execution."),
    FIELD(executions, "Executions in one iteration."),
    FIELD(communicators, "Communicators that are at work in it."),
    FIELD(drawn_per_seed,
          "Every seed draws its own flows: figures of the phase, its bounds among them, are of the first seed, those "
          "of engines over all.",
          FILLED),
    FIELD(max_taper_factor,
          "Largest utilisation of a fabric link when every flow is split evenly at every switch over all shortest "
          "paths: what the design itself causes, whatever the hash does.",
          .formula = "max over fabric links of spray_load_bps / capacity_bps", .source = COLLIDING),
    FIELD(max_cut_factor,
          "Of trees: what must leave or enter a leaf or a pod over the capacity of its links that shortest paths take, "
          "or what has no other such path over that of the fullest links, or the bound where that is more: no routing "
          "offers less to its fullest fabric link. Less than max_taper_factor where another routing may be better.",
          FILLED, .formula = "max over those cuts of load_bps / capacity_bps", .source = COLLIDING),
    FIGURE_OF(least_time_s, least_s, "s",
              "No routing carries the bytes of the phase in less: bytes over capacity of every link that no switch "
              "chooses, and of all fabric links together that leave a leaf, a pod or a group.",
              .formula = "max over those cuts of bytes * 8 / capacity_bps", .source = TIMES, .labels = "lower bound"),
    FIGURE_OF(hosts_time_s, hosts_s, "s",
              "Of that, the links of hosts alone: without what leaves have too few links for.",
              .formula = "max over links of hosts of bytes * 8 / capacity_bps", .source = TIMES),
    FIGURE(relay_s, "s",
           "Part of the time in which data that changes rails is first relayed as a whole inside the scale-up domains "
           "(forwarding=sequential).",
           FILLED, .source = TIMES),
    SAME_ROW(bound, &BOUND,
             "Least possible largest utilisation of network links over minimal paths, certified; with --bound.",
             IF(has_bound)),
    LIST_BY(boundaries, "boundary", NULL, count_upper_boundaries, &CROSSING,
            "What crosses the boundaries between switch tiers, leaf - spine first."),
    LIST(engines, "engine", engines, n_engines, &ENGINE,
         "The phase under every engine that was asked for; where engines have plans of their own, under those whose "
         "plan has it."),
};
const fab_fields fab_phase_fields =
    TABLE("phase", PHASE_FIELDS, "0008-traffic.md", .definition = "Flows that are in the network together.");
