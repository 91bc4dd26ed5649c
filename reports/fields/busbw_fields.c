/* What nccl-tests should print: `busbw`. */
#include "fab/busbw.h"
#include "field_rows.h"
#include "field_tables.h"

#define BUSBW "0089-collectives-of-nccl.md"

static const char *const BOUNDS[] = {[FAB_NCCL_BY_LATENCY] = "latency",
                                     [FAB_NCCL_BY_SCALE_UP] = "scale-up",
                                     [FAB_NCCL_BY_NETWORK] = "network",
                                     [FAB_NCCL_BY_PROTOCOL] = "protocol"};

#define T fab_busbw_row
static const fab_field ROWS[] = {
    FIELD(engine, "The engine with all options; none: the collective stays inside one scale-up domain."),
    FIGURE(bytes, "byte", "Size as nccl-tests count it."),
    NAMED_OF(algorithm, algorithm, fab_nccl_algorithms, FAB_NCCL_N_ALGORITHMS, "Algorithm of NCCL that is taken."),
    NAMED(protocol, protocol, fab_nccl_protocols, "Protocol of NCCL that is taken."),
    FIELD(channels, "Channels whose buffers are counted."),
    NAMED(bound_by, time.bound, BOUNDS,
          "The largest part of the time: latency of launch and steps; scale-up: links or switches of the domain; "
          "network: NICs or links between switches; protocol: the most that LL carries."),
    FIELD_OF(max_hash_factor, hash, "What the routing adds to that of the design itself.", IF(collision),
             .source = "0009-collisions.md"),
    FIELD_OF(max_collision_factor, collision, "Largest collision factor that the algorithm meets in the network.",
             IF(collision), .source = "0009-collisions.md"),
    FIGURE_OF(time_s, time.time_s, "s", "Time of the collective.", .formula = "latency_s + fill_s + transfer_s"),
    FIGURE_OF(latency_s, time.latency_s, "s", "Of it: launch, steps, software of hosts."),
    FIGURE_OF(fill_s, time.fill_s, "s", "Of it: until the pipeline is full."),
    FIGURE_OF(transfer_s, time.transfer_s, "s", "Of it: the bytes over the slowest part."),
    FIGURE_OF(algbw_bps, algbw, "bit/s", "Algorithm bandwidth. nccl-tests print the same in GB/s: divide by 8e9.",
              .scale = 8, .formula = "8 bytes / time_s"),
    FIGURE_OF(busbw_bps, busbw, "bit/s",
              "Bus bandwidth, comparable with link rates. nccl-tests print the same in GB/s: divide by 8e9.",
              .scale = 8,
              .formula = "algbw_bps * 2 (n - 1) / n of an all-reduce, * (n - 1) / n, or of a broadcast * 1"),
    FIGURE_OF(best_busbw_bps, best_busbw, "bit/s",
              "Where busbw_bps is more than 5 % below that of the size before: what the fastest way gives "
              "(--algorithm best), which the library's model may not take.",
              IF(best_busbw), .scale = 8),
    NAMED_OF(best_algorithm, best_algorithm, fab_nccl_algorithms, FAB_NCCL_N_ALGORITHMS, "Its algorithm.",
             IF(best_busbw)),
    NAMED_OF(best_protocol, best_protocol, fab_nccl_protocols, FAB_NCCL_N_PROTOCOLS, "Its protocol.", IF(best_busbw)),
    FIELD_OF(least_busbw_bps, least_busbw,
             "Of the slowest of several draws (--seeds); busbw_bps is of their mean time.", IF(is_drawn),
             .unit = "bit/s", .scale = 8),
    FIELD_OF(most_busbw_bps, most_busbw, "Of the fastest of them.", IF(is_drawn), .unit = "bit/s", .scale = 8),
    FIGURE(measured_time_s, "s", "Time that was measured.", IF(is_measured), FILLED),
    FIGURE_OF(measured_busbw_bps, measured_busbw, "bit/s", "Bus bandwidth that was measured.", IF(is_measured),
              .scale = 8),
    FIELD_OF(measured_ratio, ratio, "What was measured over what should be.", IF(is_measured),
             .formula = "measured_busbw_bps / busbw_bps"),
    FIELD_OF(tolerance_ratio, tolerance, "How far below 1 that may be.", IF(is_measured)),
    FIELD(falls_short, "Whether it is further below.", IF(is_measured)),
};
static const fab_fields ROW = TABLE("busbw_row", ROWS, BUSBW);

#undef T
#define T fab_busbw
GIVES(bool, beyond_measured, here->ranks > FAB_BUSBW_MEASURED_RANKS);
GIVES(bool, has_line, here->measured != NULL && here->line_busbw > 0);

static const fab_field FIELDS[] = {
    FIELD(collective, "The collective."),
    FIELD(choice, "How algorithms are chosen: nccl: as NCCL would; best: the fastest; or always this one."),
    FIELD(gpu, "GPU whose library is meant."),
    FIELD(gpu_is_default, "Whether the design names none."),
    FIELD(source, "Where the figures of the library come from."),
    FIELD(ranks, "GPUs that take part."),
    FIELD(domains, "Scale-up domains that they fill."),
    TRUTH_BY(is_extrapolated, beyond_measured,
             "Whether there are more ranks than in any run that the model was held against (144)."),
    FIELD_OF(short_sizes, n_short, "Rows that fall short.", IF(measured)),
    FIELD_OF(too_fast_sizes, n_too_fast, "Sizes that were measured above line_busbw_bps.", .only = has_line),
    FIGURE_OF(line_busbw_bps, line_busbw, "bit/s",
              "Bus bandwidth above which no hosts get out of their NICs, unless switches add up.", .scale = 8,
              .only = has_line,
              .formula = "nic_bps * NICs of a domain * (n - 1) / n * m / (m - 1) for n ranks in m domains, m > 1"),
    FIELD(measured, "The file of nccl-tests.", FILLED),
    LIST(rows, "row", rows, n_rows, &ROW, "Sizes under each engine."),
};
const fab_fields fab_busbw_fields =
    TABLE("busbw", FIELDS, BUSBW,
          .definition = "What nccl-tests should print on this fabric, and with --measured what they printed.");
