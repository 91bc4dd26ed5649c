#include "fab/metrics.h"

#include <stddef.h>
#include <string.h>

#define HERE(record) "own definition: src/doc/adr/" record

const fab_metric fab_metrics[] = {
    /* --- fabric --- */
    {"bisection_bps", "bit/s", "fabric",
     "Minimum cut over network links, one direction, between the NICs of the first and of the second half of the "
     "servers "
     "in topological order. What no routing gets around.",
     "max-flow(NICs of servers 0 ... n/2 - 1, NICs of the others)", HERE("0007-counting-rules.md")},
    {"bisection_ratio", "1", "fabric", "Bisection over what half of the servers can inject: 1 is full bisection.",
     "bisection_bps / (n/2 servers * NICs * nic_bps)", HERE("0007-counting-rules.md")},
    {"scaleup_bisection_bps", "bit/s", "fabric",
     "Half of the GPUs of every scale-up domain at the scale-up rate, one direction, summed over the domains.",
     "sum over domains of floor(GPUs / 2) * domain_bps", HERE("0007-counting-rules.md")},
    {"built_taper", "1", "fabric",
     "Oversubscription as built: capacity towards servers over capacity upwards of the fullest switch of a tier. 1 is "
     "non-blocking, 7 offers a seventh.",
     "down_bps / up_bps", HERE("0007-counting-rules.md")},
    /* --- cost --- */
    {"total_usd", "USD", "cost", "Price of the network: switches, transceivers, cables, NICs and installation.",
     "sum over the lines of the bill of quantity * unit_usd", HERE("0013-cost-model.md")},
    {"per_gpu_usd", "USD", "cost", "Network price of one GPU.", "total_usd / gpus", HERE("0013-cost-model.md")},
    {"per_bisection_gbps_usd", "USD per Gb/s", "cost", "Price of one Gb/s of bisection.",
     "total_usd / (bisection_bps / 1e9)", HERE("0013-cost-model.md")},
    {"capital_usd_per_year", "USD/year", "cost", "Price spread evenly over the years of the price book.",
     "total_usd / years", HERE("0013-cost-model.md")},
    {"power_w", "W", "cost", "Power of all network parts at the figures of the price book.",
     "sum over the lines of quantity * unit power", HERE("0013-cost-model.md")},
    {"energy_usd_per_year", "USD/year", "cost", "Electricity of the network, cooling included by the book's PUE.",
     "power_w / 1000 * 8760 h * PUE * USD per kWh", HERE("0013-cost-model.md")},
    /* --- phase --- */
    {"max_taper_factor", "1", "phase",
     "Largest utilisation of a fabric link when every flow is split evenly at every switch over all shortest paths: "
     "what the design itself causes, whatever the hash does.",
     "max over fabric links of spray_load_bps / capacity_bps", HERE("0009-collisions.md")},
    {"least_time_s", "s", "phase",
     "No routing carries the bytes of the phase in less: bytes over capacity of every link that no switch chooses, and "
     "of all fabric links of a leaf together.",
     "max over those cuts of bytes * 8 / capacity_bps", HERE("0028-rates-and-times.md")},
    {"handover_s", "s", "phase",
     "Part of the time in which data that changes rails is first handed over inside the scale-up domains "
     "(forwarding=sequential).",
     NULL, HERE("0028-rates-and-times.md")},
    {"crossing_flows", "1", "phase", "Flows whose minimal routes cross a boundary between tiers.", NULL,
     HERE("0029-sweeps.md")},
    /* --- engine --- */
    {"collided_links", "1", "engine", "Fabric links asked for more than they carry.",
     "number of fabric links with collision factor > 1 + 1e-9", HERE("0009-collisions.md")},
    {"collided_flows", "1", "engine", "Flows with a path over a collided link.", NULL, HERE("0009-collisions.md")},
    {"max_collision_factor", "1", "engine",
     "Largest collision factor of a fabric link. The factor is the offered rate over the link divided by its capacity; "
     "2 means that flows there get half of what they ask. A flow offers bytes * NIC rate / the larger of what its "
     "source NIC sends and its destination NIC receives, so that incast at a receiver is no collision. It is the "
     "product of taper_factor and hash_factor.",
     "max over fabric links of load_bps / capacity_bps", HERE("0009-collisions.md")},
    {"mean_collision_factor", "1", "engine",
     "Mean over the flows that use a fabric link of the worst collision factor on their route.", NULL,
     HERE("0009-collisions.md")},
    {"max_hash_factor", "1", "engine",
     "Largest collision factor over taper factor of one link: what the routing adds to the design.",
     "max over fabric links of collision factor / taper_factor", HERE("0009-collisions.md")},
    {"taper_factor", "1", "engine", "Of one link: its utilisation under ideal spray of the same flows.",
     "spray_load_bps / capacity_bps", HERE("0009-collisions.md")},
    {"hash_factor", "1", "engine", "Of one link: what the routing adds to its taper factor.",
     "collision factor / taper_factor", HERE("0009-collisions.md")},
    {"max_utilisation_ratio", "1", "engine", "Largest offered rate over capacity of a network link, access links too.",
     "max over network links of load_bps / capacity_bps", HERE("0009-collisions.md")},
    {"throughput_ratio", "1", "engine", "Largest factor by which all demands of the phase fit under this routing.",
     "1 / max_utilisation_ratio", "throughput of a traffic matrix, Jyothi et al., SC'16"},
    {"busiest_link_s", "s", "engine", "Time that the busiest network link needs for its bytes.",
     "max over network links of bytes * 8 / capacity_bps", HERE("0028-rates-and-times.md")},
    {"optimum_gap_ratio", "1", "engine",
     "How far the worst link is above the least that any splitting over minimal paths can reach; the bound is "
     "certified. 0 is optimal.",
     "max_utilisation_ratio / certified lower bound - 1", HERE("0019-certified-optimum.md")},
    {"effective_bisection_ratio", "1", "engine",
     "Effective bisection bandwidth: hosts are halved and paired at random; mean over the pairs of one over the "
     "largest "
     "number of flows on a link of their route.",
     "mean over pairs of 1 / max over links of the route of flows",
     "Hoefler, Schneider, Lumsdaine: Multistage switches are not crossbars, CLUSTER 2008 (ORCS)"},
    {"latency_s", "s", "engine",
     "Latency of all steps of the phase in one iteration: the slowest path once per dependent step.",
     "steps * executions * max over paths of sum of device and cable latencies", HERE("0028-rates-and-times.md")},
    {"transfer_s", "s", "engine",
     "Until the last byte of the phase is through. Flows share links max-min fairly at every instant, NVLink, PCIe and "
     "NIC included; rates are found again whenever a flow ends.",
     "fluid simulation over max-min fair rates",
     "Bertsekas and Gallager, Data Networks, 6.5.2; src/doc/adr/0023-rates.md"},
    {"time_s", "s", "engine and iteration",
     "Of a phase: transfer and latency of all its executions in one iteration. Of an iteration: computation, bubble, "
     "exposed communication and optimizer.",
     "phase: transfer_s + latency_s; iteration: compute_s + bubble_s + exposed_*_s + optimizer_s",
     HERE("0028-rates-and-times.md") ", 0025-iteration-time.md"},
    {"lower_bound_ratio", "1", "engine",
     "Transfer time over the least possible time of the phase. Never below 1: a result that beats its bound is an "
     "error of the program (exit code 70).",
     "transfer_s / least_time_s", HERE("0028-rates-and-times.md")},
    {"algbw_Bps", "byte/s", "engine", "Algorithm bandwidth of a collective: its size over its time.", "S / time",
     "nccl-tests, PERFORMANCE.md"},
    {"busbw_Bps", "byte/s", "engine",
     "Bus bandwidth of a collective: algorithm bandwidth times what its links carry per byte, comparable with link "
     "rates.",
     "all-reduce: algbw * 2 (r - 1) / r; reduce-scatter, all-gather, all-to-all: algbw * (r - 1) / r",
     "nccl-tests, PERFORMANCE.md"},
    {"min_rate_bps", "bit/s", "engine", "Rate of the slowest flow while all flows are under way, max-min fair.", NULL,
     HERE("0028-rates-and-times.md")},
    {"mean_rate_bps", "bit/s", "engine", "Mean rate of the flows while all are under way, max-min fair.", NULL,
     HERE("0028-rates-and-times.md")},
    {"mean_utilisation_ratio", "1", "link class", "Mean over all links of a boundary and direction, used or not.",
     "mean of load_bps / capacity_bps", HERE("0009-collisions.md")},
    {"mean_used_ratio", "1", "hashing",
     "Next hops that flows use over those they could use, mean over the choices that so many flows meet that an ideal "
     "hash would use all. Far below 1: the hashes of several tiers are alike (polarization).",
     "mean of used / available next hops", HERE("0016-hashing.md")},
    /* --- iteration --- */
    {"compute_s", "s", "iteration", "Computation alone on the busiest pipeline stage, recomputation included.",
     "microbatches * layers * kernel times", HERE("0025-iteration-time.md")},
    {"bubble_s", "s", "iteration", "The busiest stage idle while the pipeline fills and drains.",
     "sum over the other stages of T / chunks; equal stages: (p - 1) / (v m) of compute_s",
     "Narayanan et al., SC'21, 2.2"},
    {"exposed_tp_s", "s", "iteration", "Tensor-parallel communication that no computation hides.",
     "time - min(overlap * time, computation to hide it)", HERE("0025-iteration-time.md")},
    {"exposed_cp_s", "s", "iteration", "The same of context parallelism.", NULL, HERE("0025-iteration-time.md")},
    {"exposed_pp_s", "s", "iteration", "The same of transfers between pipeline stages.", NULL,
     HERE("0025-iteration-time.md")},
    {"exposed_ep_s", "s", "iteration", "The same of the exchange between experts.", NULL,
     HERE("0025-iteration-time.md")},
    {"exposed_dp_s", "s", "iteration", "The same of gradients and sharded parameters.", NULL,
     HERE("0025-iteration-time.md")},
    {"optimizer_s", "s", "iteration", "Optimizer step, bound by memory bandwidth.",
     "bytes read and written / memory bandwidth", HERE("0025-iteration-time.md")},
    {"tflops_per_gpu", "TFLOP/s", "iteration",
     "Floating-point operations executed per second and GPU, recomputation "
     "included: what published throughputs count.",
     "executed FLOPs / (gpus * time_s) / 1e12", "Narayanan et al., SC'21, 5.1"},
    {"mfu_ratio", "1", "iteration",
     "Model FLOPs utilisation: FLOPs of the model alone, without recomputation, over the "
     "peak of the GPUs.",
     "model FLOPs / (gpus * time_s * peak)", "Chowdhery et al., PaLM, 2022, appendix B"},
    {"tokens_per_s", "1/s", "iteration", "Tokens of the whole job per second.", "batch * sequence length / time_s",
     HERE("0025-iteration-time.md")},
    {"usd_per_1e9_tokens", "USD", "iteration",
     "GPU hours at the price of the book, and capital and energy of the network, per 1e9 tokens.",
     "(GPU-hour price * gpus + network per hour) / (tokens_per_s * 3600) * 1e9", HERE("0025-iteration-time.md")},
    {"memory_bytes", "byte", "iteration",
     "Weights, gradients, optimizer state and activations of the fullest GPU with this microbatch.", NULL,
     HERE("0026-jobs.md")},
    {"pipeline_bisection_Bps", "byte/s", "iteration",
     "Bytes per second that cross, in one direction, the cut between the first and the second half of the pipeline "
     "stages, over the time of the phase at nominal link rates.",
     NULL, "compared with Narayanan et al., SC'21, 5.9"},
    {"data_bisection_Bps", "byte/s", "iteration",
     "The same of the cut between the halves of the data-parallel replicas.", NULL,
     "compared with Narayanan et al., SC'21, 5.9"},
    {"slowdown_ratio", "1", "contention, failures",
     "Time with the other jobs, or with what has failed, over the time alone and whole.", "together_s / alone_s",
     HERE("0030-several-jobs-and-degraded-parts.md")},
    {"damage_ratio", "1", "study",
     "Part of the job's speed that failures take: 1 where the job stops. Of a component, mean over the scenarios in "
     "which "
     "it fails, alone or with others; below 0 where a failure makes the job faster.",
     "1 - 1 / slowdown_ratio; of a history 1 - goodput_ratio; without times 1 - max(1, worst_ratio of the whole "
     "fabric) / "
     "max(1, worst_ratio)",
     HERE("0038-study-summary.md")},
    {"worst_ratio", "1", "study",
     "Largest load of a network link in any phase over what is left of its capacity, after ranks have moved.", NULL,
     HERE("0036-outcomes.md")},
    {"lost_ratio", "1", "study",
     "Offered rate of flows that lost their way, before ranks moved, over all that is offered. Of a server's ways into "
     "the network: its bandwidth over one link.",
     NULL, HERE("0036-outcomes.md")},
    {"goodput_ratio", "1", "study",
     "Useful part of a span with failures and repairs: work that stays, at the speed of the whole fabric.",
     "1 - restart_ratio - redo_ratio - slow_ratio - wait_ratio", HERE("0036-outcomes.md")},
    {"restart_ratio", "1", "study", "Part of the span in which the job restarts.", NULL, HERE("0036-outcomes.md")},
    {"redo_ratio", "1", "study", "Part of the span in which work since the last checkpoint is done again.", NULL,
     HERE("0036-outcomes.md")},
    {"slow_ratio", "1", "study", "Part of the span lost because the job runs slower; below 0 where it runs faster.",
     NULL, HERE("0036-outcomes.md")},
    {"wait_ratio", "1", "study", "Part of the span in which the job can run nowhere.", NULL, HERE("0036-outcomes.md")},
    {"share_ratio", "1", "study",
     "Part of all damage that failures of a class do in histories: by least squares, without a constant, of the damage "
     "over how often each class fails.",
     "failures * damage_ratio of one / mean damage_ratio", HERE("0038-study-summary.md")},
    {.name = NULL},
};

const fab_metric *fab_metric_find(const char *name) {
    for (const fab_metric *m = fab_metrics; m->name != NULL; m++) {
        if (strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}
