/* Text report: how fast the flows of a phase are, how long it takes, and its bottlenecks. */
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>

/* "Takes 12.3 ms: 12.2 ms for the bytes, 1.09 times what any routing needs, and 0.1 ms of latency." */
static void times_put_sum(fab_page *page, const fab_engine_result *e) {
    double ratio = e->lower_bound_ratio.mean;
    fab_page_say(page, "Takes %s%s: %s for the bytes", fab_show_time(page, e->time_s.mean),
                 e->n_seeds > 1 ? " (mean)" : "", fab_show_time(page, e->transfer_s.mean));
    if (ratio > FAB_FULL_LOAD) {
        fab_page_say(page, ", %.3g times what every routing needs", ratio);
    } else {
        fab_page_say(page, ", the least that any routing needs");
    }
    fab_page_say(page, ", and %s of latency.", fab_show_time(page, e->latency_s));
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
    if (e->algbw.mean > 0) {
        fab_page_line(page, FAB_INK_PLAIN, "    Algorithm bandwidth %s, bus bandwidth %s.",
                      fab_show_rate(page, e->algbw.mean * 8), fab_show_rate(page, e->busbw.mean * 8));
    }
}

static void times_put_rates(fab_page *page, const fab_engine_result *e) {
    const fab_last_flow *last = &e->rates.last;
    bool differ = e->min_rate.mean < e->mean_rate.mean * (1 - 1e-9);
    if (differ) {
        fab_page_say(page,
                     "Flows run at %s and more, %s on average; the last to end%s is GPU %" PRIu32 " -> %" PRIu32
                     "%s%s, bottlenecked at ",
                     fab_show_rate(page, e->min_rate.mean), fab_show_rate(page, e->mean_rate.mean),
                     e->n_seeds > 1 ? " (first seed)" : "", last->src_gpu, last->dst_gpu,
                     last->comm[0] != '\0' ? ", " : "", last->comm);
    } else {
        fab_page_say(page, "Every flow runs at %s; the first is bottlenecked at ",
                     fab_show_rate(page, e->mean_rate.mean));
    }
    fab_page_say(page, "%s.", last->bottleneck[0] != '\0' ? last->bottleneck : "its receiver's window");
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
}

typedef struct bottleneck {
    char name[48];
    double flows;
} bottleneck;

/* "Bottlenecked at: leaf-spine up 62 %, nic-leaf up 30 %, scale-up 8 %": the largest first. */
static void times_put_holders(fab_page *page, const fab_engine_result *e) {
    bottleneck list[2 * FAB_MAX_TIERS + 3] = {{"", 0}};
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *t = &e->tiers[i];
        (void)snprintf(list[n].name, sizeof list[n].name, "%s %s", fab_boundary_name(e->wiring, t->tier),
                       fab_direction_name(e->wiring, t->tier, t->up));
        list[n++].flows = t->bottlenecked_flows;
    }
    list[n++] = (bottleneck){"scale-up", e->rates.bottlenecked_at_scaleup};
    list[n++] = (bottleneck){"PCIe", e->rates.bottlenecked_at_pcie};
    list[n++] = (bottleneck){"receivers' windows", e->rates.bottlenecked_at_window};
    for (size_t i = 0; i < n; i++) {
        sum += list[i].flows;
    }
    fab_page_say(page, "Flows are bottlenecked at");
    for (size_t shown = 0; sum > 0 && shown < 4; shown++) {
        size_t most = 0;
        for (size_t i = 1; i < n; i++) {
            most = list[i].flows > list[most].flows ? i : most;
        }
        if (list[most].flows < 0.0005 * sum) {
            break;
        }
        fab_page_say(page, "%s %s %.3g %%", shown > 0 ? "," : "", list[most].name, 100 * list[most].flows / sum);
        list[most].flows = 0;
    }
    fab_page_say(page, "%s.", e->n_seeds > 1 ? " (first seed)" : "");
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
}

void fab_text_times(fab_page *page, const fab_engine_result *e) {
    if (!e->has_time) {
        fab_page_wrap(page, FAB_INK_DIM, 4, 4,
                      "Rates and time are not computed: too many flows for that, and of unequal bytes or limits.");
        return;
    }
    times_put_sum(page, e);
    if (e->has_rates) {
        times_put_rates(page, e);
        times_put_holders(page, e);
    }
}
