/* Installed networks in the formats of other tools. The first byte chooses the reader: 0 by content, k the k-th of
 * fab_network_formats, so that a new one is fuzzed without a change here. What is read is given a shape, audited, also
 * against itself, and imported. */
#include "fab/audit.h"
#include "fab/installed.h"
#include "fab/network_write.h"
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NODES 5000 /* a short list of hosts may name millions */

static size_t n_formats(void) {
    size_t n = 0;
    while (fab_network_formats[n] != NULL) {
        n++;
    }
    return n;
}

static bool is_rate(double value) {
    return isfinite(value) && value >= 0;
}

static void check_network(const fab_network *net) {
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        fuzz_check(node->name != NULL && node->label != NULL, "node %u has no name", v);
        fuzz_check(fab_network_find(net, node->name, strlen(node->name)) == v, "node %s is not found", node->name);
    }
    for (uint32_t c = 0; c < net->n_cables; c++) {
        const fab_network_cable *cable = &net->cables[c];
        fuzz_check(cable->end[0].node < net->n_nodes && cable->end[1].node < net->n_nodes, "cable %u leads nowhere", c);
        fuzz_check(is_rate(cable->rate_bps) && is_rate(cable->latency_s) && is_rate(cable->length_m),
                   "cable %u: %g bit/s, %g s, %g m", c, cable->rate_bps, cable->latency_s, cable->length_m);
    }
    for (uint32_t g = 0; g < net->n_groups; g++) {
        const fab_network_group *group = &net->groups[g];
        fuzz_check(group->first <= net->n_members && group->n <= net->n_members - group->first, "group %s",
                   group->name);
    }
}

static void check_audit(const fab_audit *audit, uint32_t n_nodes) {
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        const fab_finding *f = &audit->findings[i];
        fuzz_check(f->kind < FAB_FINDING_N && is_rate(f->damage_bps), "finding %u: %g bit/s", i, f->damage_bps);
        fuzz_check(f->node != NULL && f->text != NULL && f->text[0] != '\0' && f->work != NULL,
                   "finding %u says nothing", i);
        bool is_choice = fab_finding_is_choice(f->kind); /* these stand below faults */
        bool was_choice = i > 0 && fab_finding_is_choice(audit->findings[i - 1].kind);
        fuzz_check(i == 0 || (is_choice == was_choice ? f->damage_bps <= audit->findings[i - 1].damage_bps : is_choice),
                   "findings are out of order");
    }
    for (uint32_t i = 0; i < audit->n_lacks; i++) {
        const fab_audit_lack *l = &audit->lacks[i];
        uint32_t most = n_nodes + audit->n_absent;
        fuzz_check(l->node[0] < most && l->node[1] < most && l->cables > 0, "lack %u: %u cables between %u and %u", i,
                   l->cables, l->node[0], l->node[1]);
    }
    for (uint32_t b = 0; b < audit->n_boundaries; b++) {
        fuzz_check(audit->boundary[b].present <= audit->boundary[b].planned, "boundary %u: %u of %u", b,
                   audit->boundary[b].present, audit->boundary[b].planned);
    }
}

/* Whatever was read is written in every format, or refused before a byte. */
static void write_all(const fab_shape *shape) {
    for (size_t i = 0; fab_network_writers[i] != NULL; i++) {
        char *text = NULL;
        size_t size = 0;
        fab_error err = {0};
        FILE *out = open_memstream(&text, &size);
        fuzz_check(out != NULL, "no memory to write to");
        bool written = fuzz_accepts(fab_network_writers[i]->write(shape, out, &err), &err);
        (void)fclose(out);
        fuzz_check(written || size == 0, "%s: refused behind %zu bytes", fab_network_writers[i]->name, size);
        free(text);
    }
}

static void look(fab_network *net) {
    fab_shape shape = {0};
    fab_audit *audit = NULL;
    fab_error err = {0};
    check_network(net);
    if (net->n_nodes > MOST_NODES || !fuzz_accepts(fab_shape_find(net, &shape, &err), &err)) {
        return;
    }
    if (fuzz_accepts(fab_audit_run(&shape, &audit, &err), &err)) {
        check_audit(audit, net->n_nodes);
    }
    fab_audit_free(audit);
    audit = NULL;
    err = (fab_error){0};
    if (fuzz_accepts(fab_audit_against(&shape, &shape, &audit, &err), &err)) {
        check_audit(audit, net->n_nodes);
    }
    fab_audit_free(audit);
    write_all(&shape);
    fab_shape_release(&shape);
}

/* As a fabric of servers and tiers. */
static void import(const char *path, const char *format, uint32_t n_nodes) {
    fab_structure *installed = NULL;
    fab_error err = {0};
    const fab_structure_options options = {.format = format};
    if (n_nodes <= MOST_NODES && fuzz_accepts(fab_structure_read(path, &options, &installed, &err), &err)) {
        fuzz_check(installed->n_tiers <= FAB_INSTALLED_TIERS && is_rate(installed->nic_bps), "%u tiers, NICs of %g",
                   installed->n_tiers, installed->nic_bps);
        for (uint32_t i = 0; i < installed->n_trunks; i++) {
            uint32_t side[2];
            fab_structure_trunk(installed, i, side);
            fuzz_check(side[0] != side[1], "trunk %u leads to itself", i);
        }
    }
    fab_structure_free(installed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    fab_network *net = NULL;
    fab_error err = {0};
    const char *path = fuzz_file(data + 1, size - 1);
    size_t choice = data[0] % (n_formats() + 1);
    const char *format = choice > 0 ? fab_network_formats[choice - 1]->name : NULL;
    if (fuzz_accepts(fab_network_read(path, format, 0, &net, &err), &err)) {
        look(net);
        import(path, format, net->n_nodes);
    }
    fab_network_free(net);
    return 0;
}
