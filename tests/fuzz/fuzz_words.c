/* Values of options that are little languages of their own, over a small fabric. The first byte chooses: names of
 * nodes, links and components, engines, traffic, jobs, weak parts. */
#include "fab/degrade.h"
#include "fab/fabric_parse.h"
#include "fab/mask.h"
#include "fab/relocate.h"
#include "fuzz.h"
#include "fuzz_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE, LINK, COMPONENT, ENGINE, TRAFFIC, JOB, WEAK, POLICY, N_KINDS };

static fuzz_network *the_network(void) {
    static fuzz_network network;
    if (network.fabric == NULL) {
        fuzz_network_open("rail-spine:gpus=16,gpus-per-server=2,radix=4,spares=1", "pattern:shift,by=5", &network);
    }
    return &network;
}

static void read_name(uint32_t kind, const char *text) {
    const fab_fabric *f = the_network()->fabric;
    fab_error err = {0};
    char shown[FAB_COMPONENT_NAME_SIZE];
    uint32_t id = FAB_NONE;
    uint32_t again = FAB_NONE;
    fab_component component;
    fab_component other;
    if (kind == NODE && fuzz_accepts(fab_node_parse(f, text, &id, &err), &err)) {
        fuzz_check(fab_node_parse(f, fab_node_name(f, id, shown), &again, &err) == FAB_OK && again == id,
                   "'%s' is node %u, '%s' is %u", text, id, shown, again);
    }
    if (kind == LINK && fuzz_accepts(fab_link_parse(f, text, &id, &err), &err)) {
        fuzz_check(fab_link_parse(f, fab_link_name(f, id, shown), &again, &err) == FAB_OK && again == id,
                   "'%s' is link %u, '%s' is %u", text, id, shown, again);
    }
    if (kind == COMPONENT && fuzz_accepts(fab_component_parse(f, NULL, text, &component, &err), &err)) {
        fuzz_check(fab_component_check(f, NULL, &component, &err) == FAB_OK, "%s", err.text);
        fuzz_check(fab_component_parse(f, NULL, fab_component_name(f, &component, shown), &other, &err) == FAB_OK,
                   "'%s' is shown as '%s': %s", text, shown, err.text);
        fuzz_check(other.kind == component.kind && other.id == component.id && other.fraction == component.fraction,
                   "'%s' is shown as '%s', which is another", text, shown);
    }
}

static void read_engine(const char *text) {
    fab_engine_spec spec = {.where = "fuzz"};
    size_t at = 0;
    size_t length = 0;
    (void)snprintf(spec.text, sizeof spec.text, "%s", text);
    if (!fab_engine_path(spec.text, &at, &length)) {
        fuzz_route(the_network(), &spec, 7);
    }
}

static void check_traffic(const fab_design *design, const char *text) {
    const fab_fabric *f = the_network()->fabric;
    fab_traffic traffic = {0};
    fab_error err = {0};
    if (fuzz_accepts(fab_traffic_make(text, design, f, 3, &traffic, &err), &err)) {
        for (size_t i = 0; i < traffic.n_phases; i++) {
            const fab_phase *phase = &traffic.phases[i];
            uint64_t sum = 0;
            for (uint64_t k = 0; k < phase->n_flows; k++) {
                fab_flow flow = fab_phase_flow(phase, k);
                fuzz_check(
                    flow.src < fab_n_gpus(f) && flow.dst < fab_n_gpus(f) && flow.src != flow.dst && flow.bytes > 0,
                    "%s: flow %u -> %u of %llu bytes", phase->name, flow.src, flow.dst, (unsigned long long)flow.bytes);
                fuzz_check(flow.comm >= phase->first_comm && flow.comm - phase->first_comm < phase->n_comms,
                           "%s: communicator %u", phase->name, flow.comm);
                sum += flow.bytes;
            }
            fuzz_check(sum == phase->total_bytes, "%s: %llu bytes, not %llu", phase->name, (unsigned long long)sum,
                       (unsigned long long)phase->total_bytes);
        }
    }
    fab_traffic_release(&traffic);
}

/* "key=value", one a line, then the traffic of that job. */
static void read_job(char *text) {
    fab_design *design = malloc(sizeof *design);
    fab_error err = {0};
    fuzz_check(design != NULL, "no memory");
    *design = the_network()->design;
    bool is_right = true;
    for (char *at = text; at != NULL && is_right;) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        char *value = strchr(at, '=');
        if (value != NULL) {
            *value++ = '\0';
            is_right = fuzz_accepts(fab_design_set_job(design, 0, at, value, "fuzz", &err), &err);
        }
        at = end;
    }
    if (is_right) {
        check_traffic(design, "job");
    }
    free(design);
}

static void read_weak(const char *text) {
    const fab_fabric *f = the_network()->fabric;
    fab_weak_part part;
    fab_weak_fabric weak = {.fabric = NULL};
    fab_error err = {0};
    if (fuzz_accepts(fab_weak_part_parse(text, &part, &err), &err) &&
        fuzz_accepts(fab_fabric_degrade(f, &part, 1, &weak, &err), &err)) {
        for (uint32_t l = 0; l < f->n_links; l++) {
            double before = fab_class_of(f, l)->capacity_bps;
            double after = fab_class_of(weak.fabric, l)->capacity_bps;
            fuzz_check(after <= before && after > 0 && (weak.link[l] == 1) == (after < before), "'%s': link %u", text,
                       l);
        }
    }
    fab_weak_fabric_release(&weak);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    char *text = fuzz_text(data + 1, size - 1);
    uint32_t kind = data[0] % N_KINDS;
    fab_error err = {0};
    fab_policy policy;
    switch (kind) {
    case ENGINE: read_engine(text); break;
    case TRAFFIC:
        if (strncmp(text, "file:", 5) != 0) {
            check_traffic(&the_network()->design, text);
        }
        break;
    case JOB: read_job(text); break;
    case WEAK: read_weak(text); break;
    case POLICY:
        if (fuzz_accepts(fab_policy_parse(text, &policy, &err), &err)) {
            fuzz_check(strcmp(fab_policies[policy], text) == 0, "'%s' is '%s'", text, fab_policies[policy]);
        }
        break;
    default: read_name(kind, text); break;
    }
    free(text);
    return 0;
}
