/* Text report: how fast the flows of a phase are, how long it takes, and what holds it. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* "Takes 12.3 ms: 12.2 ms for the bytes, 1.09 times what any routing needs, and 0.1 ms of latency." */
static void put_time(fab_page *page, const fab_engine_result *e) {
    char text[512];
    char a[40];
    char b[40];
    char c[40];
    size_t n = (size_t)snprintf(text, sizeof text, "Takes %s%s: %s for the bytes",
                                fab_quantity_format(a, e->time_s.mean, FAB_UNIT_TIME), e->n_seeds > 1 ? " (mean)" : "",
                                fab_quantity_format(b, e->transfer_s.mean, FAB_UNIT_TIME));
    double ratio = e->lower_bound_ratio.mean;
    n += ratio > FAB_FULL_LOAD
             ? (size_t)snprintf(text + n, sizeof text - n, ", %.3g times what every routing needs", ratio)
             : (size_t)snprintf(text + n, sizeof text - n, ", the least that any routing needs");
    (void)snprintf(text + n, sizeof text - n, ", and %s of latency.",
                   fab_quantity_format(c, e->latency_s, FAB_UNIT_TIME));
    fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
    if (e->algbw.mean > 0) {
        fab_page_line(page, FAB_INK_PLAIN, "    Algorithm bandwidth %s, bus bandwidth %s.",
                      fab_quantity_format(a, e->algbw.mean * 8, FAB_UNIT_RATE),
                      fab_quantity_format(b, e->busbw.mean * 8, FAB_UNIT_RATE));
    }
}

static void put_rates(fab_page *page, const fab_engine_result *e) {
    const fab_last_flow *last = &e->rates.last;
    char text[640];
    char a[40];
    char b[40];
    bool differ = e->min_rate.mean < e->mean_rate.mean * (1 - 1e-9);
    size_t n = 0;
    if (!differ) {
        n = (size_t)snprintf(text, sizeof text, "Every flow runs at %s",
                             fab_quantity_format(a, e->mean_rate.mean, FAB_UNIT_RATE));
    } else {
        n = (size_t)snprintf(text, sizeof text,
                             "Flows run at %s and more, %s on average; the last to end%s is GPU "
                             "%" PRIu32 " -> %" PRIu32 "%s%s",
                             fab_quantity_format(a, e->min_rate.mean, FAB_UNIT_RATE),
                             fab_quantity_format(b, e->mean_rate.mean, FAB_UNIT_RATE),
                             e->n_seeds > 1 ? " (first seed)" : "", last->src_gpu, last->dst_gpu,
                             last->comm[0] != '\0' ? ", " : "", last->comm);
    }
    (void)snprintf(text + n, sizeof text - n, "%s%s.", differ ? ", held by " : "; what holds the first is ",
                   last->bottleneck[0] != '\0' ? last->bottleneck : "its receiver's window");
    fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
}

typedef struct holder {
    char name[48];
    double flows;
} holder;

/* "Held by: leaf-spine up 62 %, nic-leaf up 30 %, scale-up 8 %": the largest first. */
static void put_holders(fab_page *page, const fab_engine_result *e) {
    holder list[2 * FAB_MAX_TIERS + 3] = {{"", 0}};
    size_t n = 0;
    double sum = 0;
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *t = &e->tiers[i];
        (void)snprintf(list[n].name, sizeof list[n].name, "%s %s", fab_boundary_name(e->wiring, t->tier),
                       fab_direction_name(e->wiring, t->tier, t->up));
        list[n++].flows = t->held_flows;
    }
    list[n++] = (holder){"scale-up", e->rates.held_by_scaleup};
    list[n++] = (holder){"PCIe", e->rates.held_by_pcie};
    list[n++] = (holder){"receivers' windows", e->rates.held_by_window};
    for (size_t i = 0; i < n; i++) {
        sum += list[i].flows;
    }
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "Flows are held by");
    for (size_t shown = 0; sum > 0 && shown < 4; shown++) {
        size_t most = 0;
        for (size_t i = 1; i < n; i++) {
            most = list[i].flows > list[most].flows ? i : most;
        }
        if (list[most].flows < 0.0005 * sum) {
            break;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.3g %%", shown > 0 ? "," : "",
                                 list[most].name, 100 * list[most].flows / sum);
        list[most].flows = 0;
    }
    (void)snprintf(text + used, sizeof text - used, "%s.", e->n_seeds > 1 ? " (first seed)" : "");
    fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
}

void fab_text_times(fab_page *page, const fab_engine_result *e) {
    if (!e->has_time) {
        fab_page_wrap(page, FAB_INK_DIM, 4, 4,
                      "Rates and time are not computed: too many flows for that, and of unequal bytes or limits.");
        return;
    }
    put_time(page, e);
    if (e->has_rates) {
        put_rates(page, e);
        put_holders(page, e);
    }
}
