/* Published rates of failures, and the best time between checkpoints. */
#include "fab/scenarios.h"

#define DAY          86400.0
#define MONTH        (30 * DAY)
#define LONGEST_S    (30 * DAY)
#define LLAMA3_SPAN  (16384 * 54 * DAY) /* GPU seconds */
#define HPN_LINK     (0.00057 / MONTH)
#define HPN_SWITCH   (0.00051 / MONTH)
#define MEGASCALE    (100 / (12288 * 28 * DAY)) /* of a GPU */
#define RSC(per_day) ((per_day) / 1000 / DAY)   /* of a server */

const char *const fab_failure_classes[FAB_FAILURE_N] = {"links",    "switches",    "nics",      "gpus",      "servers",
                                                        "software", "maintenance", "slow gpus", "slow links"};

/* Llama 3: 148 GPU, 72 HBM3, 19 SRAM, 17 system processor, 6 silent corruption, 6 heat; 32 host, 3 SSD, 3 PSU, 2 each
 * of chassis, IO board, CPU, memory; 54 software, 7 NCCL, 2 dependency; 47 planned. Of the 35 of switches and cables,
 * its 1,024 rack switches have one at the rate of HPN; the others go to the 16,384 cables that stop the job. */
static const struct {
    double per_s[FAB_FAILURE_N];
    const char *source;
} SETS[FAB_RATES_N] = {
    [FAB_RATES_LLAMA3] = {{[FAB_FAILURE_LINK] = (35 - 1024 * HPN_SWITCH * 54 * DAY) / LLAMA3_SPAN,
                           [FAB_FAILURE_SWITCH] = HPN_SWITCH,
                           [FAB_FAILURE_NIC] = 7 / LLAMA3_SPAN,
                           [FAB_FAILURE_GPU] = (148 + 72 + 19 + 17 + 6 + 6) / LLAMA3_SPAN,
                           [FAB_FAILURE_SERVER] = (32 + 3 + 3 + 2 + 2 + 2 + 2) / LLAMA3_SPAN * 8,
                           [FAB_FAILURE_SOFTWARE] = (54 + 7 + 2) / LLAMA3_SPAN,
                           [FAB_FAILURE_MAINTENANCE] = 47 / LLAMA3_SPAN},
                          "Llama 3 405B, 16,384 GPUs in 54 days: 419 unplanned stops and 47 planned ones [arXiv "
                          "2407.21783, table 5]; switches as Alibaba HPN"},
    [FAB_RATES_HPN] = {{[FAB_FAILURE_LINK] = HPN_LINK, [FAB_FAILURE_SWITCH] = HPN_SWITCH},
                       "Alibaba HPN: 0.057 % of links and 0.051 % of switches a month; nothing else fails [SIGCOMM "
                       "2024]"},
    [FAB_RATES_MEGASCALE] = {{[FAB_FAILURE_SERVER] = MEGASCALE * 8},
                             "MegaScale: over 100 repairs in some weeks of about 12,288 GPUs, here 100 in four weeks, "
                             "all of servers (assumptions) [NSDI 2024]"},
    [FAB_RATES_RSC1] = {{[FAB_FAILURE_SERVER] = RSC(6.50)},
                        "RSC-1: 6.50 failures per 1,000 server days of 16,000 A100, all of servers (an assumption) "
                        "[arXiv 2410.21680]"},
    [FAB_RATES_RSC2] = {{[FAB_FAILURE_SERVER] = RSC(2.34)},
                        "RSC-2: 2.34 failures per 1,000 server days of 8,000 A100, all of servers (an assumption) "
                        "[arXiv 2410.21680]"},
    [FAB_RATES_NONE] = {{0}, "none: only what the design names fails"},
};

const char *fab_failure_source(fab_rate_set set) {
    return SETS[set].source;
}

fab_failure_rates fab_failure_rates_of(const fab_failure_spec *spec) {
    fab_failure_rates r = spec->rates;
    r.reform_s = r.reform_s > 0 ? r.reform_s : r.restart_s;
    r.shrunk_batch = spec->keep_batch ? 0 : 1;
    FAB_FILL(r.per_s, FAB_FAILURE_N,
             spec->mtbf_s[fab_at] > 0 ? 1 / spec->mtbf_s[fab_at] : SETS[spec->set].per_s[fab_at]);
    return r;
}

double fab_infant_mean(const fab_failure_rates *r, double span_s) {
    return r->infant_factor > 1 && span_s > 0
               ? 1 + (r->infant_factor - 1) * r->infant_s / span_s * -expm1(-span_s / r->infant_s)
               : 1;
}

fab_failure_rates fab_failure_rates_default(void) {
    const double hour = 3600;
    const fab_failure_spec spec = {
        .rates = {.repair_s = {4 * hour, 4 * hour, DAY, DAY, DAY, [FAB_FAILURE_MAINTENANCE] = 600},
                  .checkpoint_s = 3 * hour,
                  .restart_s = 600},
        .keep_batch = true};
    return fab_failure_rates_of(&spec);
}

double fab_checkpoint_interval(double stops_per_s, double pause_s, double lag_s) {
    double least = fmax(lag_s, 1);
    double low = 0;
    double high = stops_per_s > 0 ? 1 / stops_per_s : LONGEST_S;
    for (int i = 0; i < 200 && stops_per_s > 0; i++) { /* what is negative below the optimum, and grows */
        double tau = low + (high - low) / 2;
        if ((stops_per_s * tau - 1) * exp(stops_per_s * (tau + pause_s)) + 1 < 0) {
            low = tau;
        } else {
            high = tau;
        }
    }
    return fmin(fmax(high, least), fmax(LONGEST_S, least));
}
