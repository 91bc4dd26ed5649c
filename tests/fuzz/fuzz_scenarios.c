/* Failure scenarios: files (CSV, XML), or with a first byte of ':' a source as text (links:2@10). */
#include "fab/scenarios.h"
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPAN_S 1e9 /* a history of thousands of years is refused by nobody, but takes its time */

static fab_fabric *the_fabric(void) {
    static fab_fabric *fabric;
    if (fabric == NULL) {
        fabric = fuzz_fabric("clos:gpus=32,gpus-per-server=4,radix=8,spares=2", NULL);
    }
    return fabric;
}

static void check_scenario(const fab_scenarios *scenarios, uint64_t i, fab_scenario *scenario) {
    fab_error err = {0};
    fab_failure_rates rates = fab_failure_rates_default();
    const fab_span_course course = {.stops = NULL};
    double span_s = fab_scenarios_span_s(scenarios);
    fuzz_check(fab_scenarios_get(scenarios, i, scenario, &err) == FAB_OK, "scenario %llu: %s", (unsigned long long)i,
               err.text);
    if (span_s == 0) {
        for (size_t k = 0; k < scenario->n_components; k++) {
            fuzz_check(fab_component_check(the_fabric(), NULL, &scenario->component[k], &err) == FAB_OK, "%s",
                       err.text);
        }
        return;
    }
    for (size_t k = 0; k < scenario->n_events; k++) {
        double time_s = scenario->event[k].time_s;
        fuzz_check(time_s >= 0 && (k == 0 || time_s >= scenario->event[k - 1].time_s), "event %zu at %g", k, time_s);
    }
    fab_span_parts parts = fab_span_split(scenario->event, scenario->n_events, span_s, &rates, &course);
    double sum = parts.useful + parts.restart + parts.redo + parts.slow + parts.wait;
    fuzz_check(fabs(sum - 1) < 1e-9, "parts of a span add up to %.17g", sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_scenarios *scenarios = NULL;
    fab_scenario scenario = {0};
    fab_error err = {0};
    char path[128] = "";
    char *text = NULL;
    if (size > 0 && data[0] == ':') {
        text = fuzz_text(data + 1, size - 1);
    } else {
        (void)snprintf(path, sizeof path, "file:%s", fuzz_file(data, size));
    }
    bool is_other_file = text != NULL && strncmp(text, "file:", 5) == 0;
    if (!is_other_file &&
        fuzz_accepts(fab_scenarios_new(text != NULL ? text : path, the_fabric(), NULL, NULL, 3, &scenarios, &err),
                     &err)) {
        uint64_t n = fab_scenarios_count(scenarios);
        fuzz_check(n <= FAB_SCENARIOS_MOST, "%llu scenarios", (unsigned long long)n);
        bool is_long = fab_scenarios_span_s(scenarios) > MOST_SPAN_S;
        for (uint64_t i = 0; i < n && i < 8 && !is_long; i++) {
            check_scenario(scenarios, i % 2 == 0 ? i / 2 : n - 1 - i / 2, &scenario);
        }
    }
    fab_scenario_release(&scenario);
    fab_scenarios_free(scenarios);
    free(text);
    return 0;
}
