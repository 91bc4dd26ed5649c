/* The same figures for any number of threads. A plain program, because Criterion does not run under ThreadSanitizer. */
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/reports.h"
#include "fab/topologies.h"

#include "context_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *report(const char *text, const char *traffic, size_t n_threads) {
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    fab_result result = {.command = FAB_COMMAND_ROUTE, .version = "test"};
    static const fab_engine_spec ENGINES[] = {
        {.text = "ecmp", .where = ""}, {.text = "ecmp,hash=ideal,qp=4", .where = ""}, {.text = "dmodk", .where = ""}};
    if (fab_design_read(text, NULL, 0, &design, &err) != FAB_OK ||
        fab_topology_build(&design.fabric, &fabric, NULL, &err) != FAB_OK) {
        (void)fprintf(stderr, "%s: %s\n", text, err.text);
        exit(1);
    }
    const fab_context_request asked = {
        .design = &design, .fabric = fabric, .traffic = traffic, .engines = ENGINES, .n_engines = 3, .seed = 5};
    fab_context *context = fixture_context(&asked);
    fab_replay what = {.context = context, .n_seeds = 8, .n_threads = n_threads};
    result.graph = fabric;
    result.n_fabrics = 1;
    result.fabrics = calloc(1, sizeof *result.fabrics);
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (fab_replay_run(&what, &result, &err) != FAB_OK ||
        fab_report_write(fab_report_format_find("json"), &result, &(fab_report_style){.width = 80}, out, &err) !=
            FAB_OK) {
        (void)fprintf(stderr, "%s: %s\n", text, err.text);
        exit(1);
    }
    (void)fclose(out);
    fab_result_release(&result);
    fab_context_free(context);
    fab_fabric_free(fabric);
    return bytes;
}

int main(void) {
    static const char *const CASES[][2] = {{"rail-spine:gpus=128,radix=16", "job"},
                                           {"fat-tree:k=8", "pattern:bisection"},
                                           {"rail-only:gpus=128,radix=16,domain=16", "pattern:permutation"}};
    int failures = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *one = report(CASES[i][0], CASES[i][1], 1);
        for (size_t n_threads = 2; n_threads <= 8; n_threads *= 2) {
            char *many = report(CASES[i][0], CASES[i][1], n_threads);
            if (strlen(one) < 1000 || strcmp(one, many) != 0) {
                (void)fprintf(stderr, "%s, %s: %zu threads give another report than one\n", CASES[i][0], CASES[i][1],
                              n_threads);
                failures++;
            }
            free(many);
        }
        free(one);
    }
    (void)printf("%s\n", failures == 0 ? "same bytes for 1, 2, 4 and 8 threads" : "FAILED");
    return failures == 0 ? 0 : 1;
}
