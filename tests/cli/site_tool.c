/* What the tests of readers and writers of sites ask of the library: a canonical listing of a file, or the file in
 * another format. Usage: site_tool list FILE [FORMAT] | site_tool read FILE | site_tool write WRITER FILE |
 * site_tool formats */
#include "fab/site_write.h"

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
    fab_site *site = NULL;
    fab_error err = {0};
    if (fab_site_read(path, format, &site, &err) != FAB_OK) {
        return complain(&err);
    }
    for (uint32_t i = 0; i < site->n_nodes; i++) {
        const fab_site_node *n = &site->nodes[i];
        printf("node\t%s\t%s\t%s\t%s\t%" PRIu32 "\n", n->name, n->label, KINDS[n->kind], or_dash(n->host), n->tier);
    }
    for (uint32_t i = 0; i < site->n_cables; i++) {
        const fab_site_cable *c = &site->cables[i];
        printf("cable");
        for (uint32_t k = 0; k < 2; k++) {
            printf("\t%s\t%s", site->nodes[c->end[k].node].name, or_dash(c->end[k].port));
        }
        printf("\t%.12g\t%.12g\t%d%d\n", c->rate_bps, c->length_m, c->end[0].line > 0, c->end[1].line > 0);
    }
    for (uint32_t i = 0; i < site->n_groups; i++) {
        printf("group\t%s", site->groups[i].name);
        for (uint32_t k = 0; k < site->groups[i].n; k++) {
            printf("\t%s", site->nodes[site->member[site->groups[i].first + k]].name);
        }
        printf("\n");
    }
    for (uint32_t i = 0; i < site->n_notes; i++) {
        printf("note\t%s\n", site->notes[i].text);
    }
    fab_site_free(site);
    return 0;
}

/* Numbers alone, to measure how long reading takes. */
static int read_only(const char *path) {
    fab_site *site = NULL;
    fab_error err = {0};
    if (fab_site_read(path, NULL, &site, &err) != FAB_OK) {
        return complain(&err);
    }
    printf("%s %" PRIu32 " nodes %" PRIu32 " cables\n", site->format, site->n_nodes, site->n_cables);
    fab_site_free(site);
    return 0;
}

static int write_as(const char *name, const char *path) {
    fab_site *site = NULL;
    fab_error err = {0};
    for (size_t i = 0; fab_site_writers[i] != NULL; i++) {
        if (strcmp(fab_site_writers[i]->name, name) == 0) {
            bool failed = fab_site_read(path, NULL, &site, &err) != FAB_OK ||
                          fab_site_write(fab_site_writers[i], site, stdout, &err) != FAB_OK;
            fab_site_free(site);
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
    for (size_t i = 0; argc > 1 && strcmp(argv[1], "formats") == 0 && fab_site_formats[i] != NULL; i++) {
        puts(fab_site_formats[i]->name);
    }
    return argc > 1 && strcmp(argv[1], "formats") == 0 ? 0 : 2;
}
