/* What the tests of readers and writers of sites ask of the library: a canonical listing of a file, or the file in
 * another format. Usage: network_tool list FILE [FORMAT] | network_tool read FILE | network_tool write WRITER FILE |
 * network_tool formats */
#include "fab/network_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int complain(const fab_error *err) {
    (void)fprintf(stderr, "%s: %s\n", err->where, err->text);
    return 3;
}

static const char *or_dash(const char *text) {
    return text != NULL ? text : "-";
}

static int list(const char *path, const char *format) {
    static const char *const KINDS[] = {"unknown", "adapter", "host", "switch", "service"};
    fab_network *net = NULL;
    fab_error err = {0};
    if (fab_network_read(path, format, 0, &net, &err) != FAB_OK) {
        return complain(&err);
    }
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        const fab_network_node *n = &net->nodes[i];
        printf("node\t%s\t%s\t%s\t%s\t%" PRIu32 "\n", n->name, n->label, KINDS[n->kind], or_dash(n->host), n->tier);
    }
    for (uint32_t i = 0; i < net->n_cables; i++) {
        const fab_network_cable *c = &net->cables[i];
        printf("cable");
        for (uint32_t k = 0; k < 2; k++) {
            printf("\t%s\t%s", net->nodes[c->end[k].node].name, or_dash(c->end[k].port));
        }
        printf("\t%.12g\t%.12g\t%d%d\n", c->rate_bps, c->length_m, c->end[0].line > 0, c->end[1].line > 0);
    }
    for (uint32_t i = 0; i < net->n_groups; i++) {
        printf("group\t%s", net->groups[i].name);
        for (uint32_t k = 0; k < net->groups[i].n; k++) {
            printf("\t%s", net->nodes[net->member[net->groups[i].first + k]].name);
        }
        printf("\n");
    }
    for (uint32_t i = 0; i < net->n_notes; i++) {
        printf("note\t%s\n", net->notes[i].text);
    }
    fab_network_free(net);
    return 0;
}

/* Numbers alone, to measure how long reading takes. */
static int read_only(const char *path) {
    fab_network *net = NULL;
    fab_error err = {0};
    if (fab_network_read(path, NULL, 0, &net, &err) != FAB_OK) {
        return complain(&err);
    }
    printf("%s %" PRIu32 " nodes %" PRIu32 " cables\n", net->format, net->n_nodes, net->n_cables);
    fab_network_free(net);
    return 0;
}

static int write_as(const char *name, const char *path) {
    fab_network *net = NULL;
    fab_error err = {0};
    for (size_t i = 0; fab_network_writers[i] != NULL; i++) {
        if (strcmp(fab_network_writers[i]->name, name) == 0) {
            bool failed = fab_network_read(path, NULL, 0, &net, &err) != FAB_OK ||
                          fab_network_write(fab_network_writers[i], net, stdout, &err) != FAB_OK;
            fab_network_free(net);
            return failed ? complain(&err) : 0;
        }
    }
    return 2;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "list") == 0) {
        return list(argv[2], argc > 3 ? argv[3] : NULL);
    }
    if (argc > 2 && strcmp(argv[1], "read") == 0) {
        return read_only(argv[2]);
    }
    if (argc > 3 && strcmp(argv[1], "write") == 0) {
        return write_as(argv[2], argv[3]);
    }
    for (size_t i = 0; argc > 1 && strcmp(argv[1], "formats") == 0 && fab_network_formats[i] != NULL; i++) {
        puts(fab_network_formats[i]->name);
    }
    return argc > 1 && strcmp(argv[1], "formats") == 0 ? 0 : 2;
}
