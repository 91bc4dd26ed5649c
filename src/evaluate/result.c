/* The end of a result, and what is said of every one. */
#include "fab/result.h"

static void free_phases(fab_phase_result *phases, size_t n_phases) {
    for (size_t p = 0; phases != NULL && p < n_phases; p++) {
        for (size_t e = 0; phases[p].engines != NULL && e < phases[p].n_engines; e++) {
            FAB_FREE_ALL(phases[p].engines[e].paused_s, phases[p].engines[e].load_bytes,
                         phases[p].engines[e].utilisation, phases[p].engines[e].more_utilisation,
                         phases[p].engines[e].draws, phases[p].engines[e].flows, phases[p].engines[e].route_first,
                         phases[p].engines[e].route);
        }
        FAB_FREE_ALL(phases[p].engines, phases[p].taper_ratio, phases[p].block_bytes);
    }
    free(phases);
}

double fab_estimated_ratio(const fab_result *result, size_t engine) {
    double most = 0;
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_engine_result *e = &result->phases[i].engines[engine];
        most = e->longest_s > 0 ? fmax(most, e->longest_s / e->time_s.mean - 1) : most;
    }
    return most;
}

void fab_result_release(fab_result *result) {
    free_phases(result->phases, result->n_phases);
    FAB_FREE_EACH_OF(free, result->fabrics, result->n_fabrics, .front_end);
    FAB_FREE_EACH_OF(free, result->growth, result->n_growth, .parts);
    FAB_FREE_EACH_OF(fab_schedule_free, result->iterations, result->n_iterations, .schedule);
    FAB_FREE_EACH(free, result->warnings, result->n_warnings);
    free((void *)result->warnings);
    FAB_FREE_ALL(result->fabrics, result->growth, result->iterations, result->serving, result->ranking, result->paces,
                 result->see);
    *result = (fab_result){0};
}

void fab_result_release_rest(fab_result *result) {
    result->fabrics = NULL;
    result->n_fabrics = 0;
    fab_result_release(result);
}

const char *const fab_conventions[] = {
    "rates are per direction; 1 Gb/s = 1e9 bit/s; a cable is counted once",
    "taper: oversubscription, capacity down / capacity up of the fullest switch of a tier",
    "bisection: minimum cut over network links, one direction, between the halves of the servers in their order",
    /* from here on of traffic: FAB_GENERAL_CONVENTIONS */
    "network links join NICs and switches; fabric links join switches",
    "offered rate: bytes x NIC rate / max(bytes out of the source NIC, into the destination NIC)",
    "collision factor of a fabric link = offered rate over it / its capacity; collided above 1",
    "collision factor = taper factor (the same under ideal spray) x hash factor",
    "mean collision factor: over the flows that cross a fabric link",
    "time of the fullest link = bytes over it / its capacity: no phase under that routing is faster",
    "optimum: least possible largest utilisation of network links over shortest paths",
    "latency: one way, devices and cables of a path; nothing waits in a queue",
    "bytes of a phase are those of one iteration",
    "rates: max-min fair over all links of a path, those inside servers included; every path of a flow has its part",
    ("time of a phase: fluid simulation of its bytes of one iteration (under other transports: of its packets in "
     "queues), plus steps x executions x latency of the slowest path; phases do not share the network with each other"),
    "iteration: kernels by matrix size and memory bandwidth, fitted on two published runs; 1F1B; exposed communication",
    ("left out: stragglers, data loading; congestion control, but under dcqcn and spray-ack; under fluid packets and "
     "their "
     "queues too, so that flows that collide end later"),
    NULL,
};

/* Whether one of the options of a label, which commas part, is this one. */
static bool has_option(const char *label, const char *option, size_t length) {
    for (const char *at = strchr(label, ','); at != NULL; at = strchr(at + 1, ',')) {
        if (strcspn(at + 1, ",") == length && strncmp(at + 1, option, length) == 0) {
            return true;
        }
    }
    return false;
}

const char *fab_engine_short(const fab_phase_result *phase, size_t engine, bool with_name,
                             char room[FAB_ENGINE_SHORT_SIZE]) {
    const fab_engine_result *own = &phase->engines[engine];
    room[0] = '\0';
    for (const char *at = strchr(own->label, ','); at != NULL; at = strchr(at + 1, ',')) {
        const size_t length = strcspn(at + 1, ",");
        const fab_engine_result *e = phase->engines;
        FAB_ANY(differs, i, phase->n_engines,
                strcmp(e[i].engine, own->engine) == 0 && !has_option(e[i].label, at + 1, length));
        if (differs) {
            fab_append(room, FAB_ENGINE_SHORT_SIZE, "%s%.*s", room[0] != '\0' || with_name ? "," : "", (int)length,
                       at + 1);
        }
    }
    if (with_name || room[0] == '\0') {
        char options[FAB_ENGINE_SHORT_SIZE];
        memcpy(options, room, sizeof options);
        (void)snprintf(room, FAB_ENGINE_SHORT_SIZE, "%.31s%.60s", own->engine, options);
    }
    return room;
}
