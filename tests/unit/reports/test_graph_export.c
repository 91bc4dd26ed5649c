/* Graph formats: well-formed whatever names a design brings, complete, and refused where a figure is none. */
#include "fab/overlay.h"
#include "fab/reports.h"
#include "fab/str.h"
#include "reports_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

static const char *const GRAPHS[] = {"graphml", "yed", "gexf", "dot", "svg"};
#define N_GRAPHS (sizeof GRAPHS / sizeof GRAPHS[0])

static int shell(const char *command) {
    FILE *pipe = popen(command, "r");
    char line[512];
    cr_assert_not_null(pipe);
    while (fgets(line, sizeof line, pipe) != NULL) {
        cr_log_info("%s", line);
    }
    return pclose(pipe);
}

static fab_status write_text(const char *format, const fab_result *result, fab_view view, char **out, fab_error *err) {
    size_t n = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &n);
    const fab_report_style style = {.width = 80, .view = view};
    cr_assert_not_null(file);
    fab_status status = fab_report_write(fab_report_format_find(format), result, &style, file, err);
    (void)fclose(file);
    if (out != NULL) {
        *out = text;
    } else {
        free(text);
    }
    return status;
}

/* The fixture with utilisations, and a part of what is known of failures. */
static fab_result make_result(fab_overlay *overlay, double *residual, double *criticality) {
    fab_result r = fixture_result(FAB_COMMAND_RUN, 1);
    (void)snprintf(r.fabrics[0].name, sizeof r.fabrics[0].name, "%s", FIXTURE_NASTY);
    (void)snprintf(r.traffic, sizeof r.traffic, "%s \"quoted\\", FIXTURE_NASTY);
    for (uint32_t l = 0; l < r.graph->n_links; l++) {
        residual[l] = l / 2 == 3 ? 0 : l / 2 == 7 ? 0.5 : 1;
        criticality[l / 2] = l < 4 ? (double)NAN : 0.125 * l;
    }
    *overlay = (fab_overlay){.residual = residual, .criticality = criticality, .criticality_of = FIXTURE_NASTY};
    r.overlay = overlay;
    for (size_t p = 0; p < r.n_phases; p++) {
        for (size_t e = 0; e < r.phases[p].n_engines; e++) {
            r.phases[p].engines[e].utilisation = calloc(r.graph->n_links, sizeof(double));
            for (uint32_t l = 0; l < r.graph->n_links; l++) {
                r.phases[p].engines[e].utilisation[l] = (double)(l % 5) / 2 + (p == 0 ? 0 : 0.25);
            }
        }
    }
    return r;
}

static void release(fab_result *r) {
    for (size_t p = 0; p < r->n_phases; p++) {
        for (size_t e = 0; e < r->phases[p].n_engines; e++) {
            free(r->phases[p].engines[e].utilisation);
        }
    }
    fixture_release(r);
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

Test(graph_export, names_cannot_break_a_file) {
    char path[] = "/tmp/fab-export-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    for (size_t i = 0; i < N_GRAPHS; i++) {
        fab_overlay overlay;
        double residual[32];
        double criticality[16];
        char command[128];
        char *text = NULL;
        fab_error err = {0};
        fab_result r = make_result(&overlay, residual, criticality);
        cr_assert_eq(r.graph->n_links, 32);
        cr_assert_eq(write_text(GRAPHS[i], &r, FAB_VIEW_WHOLE, &text, &err), FAB_OK, "%s: %s", GRAPHS[i], err.text);
        cr_assert_null(strchr(text, '\x1b'), "%s", GRAPHS[i]);
        cr_assert_not_null(strstr(text, "caf\xc3\xa9"), "%s", GRAPHS[i]);
        FILE *file = fopen(path, "wb");
        cr_assert_not_null(file);
        (void)fputs(text, file);
        cr_assert_eq(fclose(file), 0);
        bool dot = strcmp(GRAPHS[i], "dot") == 0;
        const char *checker = dot ? "nop" : "xmllint";
        (void)snprintf(command, sizeof command, "command -v %s >/dev/null", checker);
        if (shell(command) == 0) {
            (void)snprintf(command, sizeof command, "%s '%s' 2>&1 >/dev/null", dot ? "nop" : "xmllint --noout --nonet",
                           path);
            cr_assert_eq(shell(command), 0, "%s", GRAPHS[i]);
        }
        free(text);
        release(&r);
    }
    (void)unlink(path);
    (void)close(fd);
}

/* Every node and cable once; every attribute declared once, and said where it is known. */
Test(graph_export, everything_is_there) {
    fab_overlay overlay;
    double residual[32];
    double criticality[16];
    char *text = NULL;
    fab_result r = make_result(&overlay, residual, criticality);
    cr_assert_eq(write_text("graphml", &r, FAB_VIEW_WHOLE, &text, NULL), FAB_OK);
    cr_assert_eq(count(text, "<node id="), r.graph->n_nodes);
    cr_assert_eq(count(text, "<edge id="), r.graph->n_cables);
    cr_assert_eq(count(text, "attr.name=\"load_fwd\""), 1);
    cr_assert_eq(count(text, "<data key=\"load_fwd\">"), r.graph->n_cables);
    cr_assert_eq(count(text, "<data key=\"criticality\">"), r.graph->n_cables - 2); /* two are not known */
    cr_assert_eq(count(text, "<data key=\"collision_factor\">"), 4);                /* between switches alone */
    cr_assert_eq(count(text, "<data key=\"e_failed\">1</data>"), 1);
    cr_assert_eq(count(text, "<data key=\"residual_ratio\">0.5</data>"), 1);
    free(text);
    cr_assert_eq(write_text("graphml", &r, FAB_VIEW_TIER, &text, NULL), FAB_OK);
    cr_assert_eq(count(text, "<node id="), 5); /* GPUs, NICs, domains, leaves, spines */
    cr_assert_eq(count(text, "<edge id="), 4);
    cr_assert_not_null(strstr(text, "<data key=\"cables\">4</data>"));
    cr_assert_not_null(strstr(text, "<data key=\"view\">tier</data>"));
    free(text);
    release(&r);
}

/* Colours tell utilisations; where nothing was replayed, how critical cables are. */
Test(graph_export, drawings_tell_what_is_known) {
    fab_overlay overlay;
    double residual[32];
    double criticality[16];
    char *text = NULL;
    fab_result r = make_result(&overlay, residual, criticality);
    cr_assert_eq(write_text("svg", &r, FAB_VIEW_WHOLE, &text, NULL), FAB_OK);
    cr_assert_not_null(strstr(text, "offered / rate"));
    cr_assert_not_null(strstr(text, "class=\"u6\""));
    cr_assert_not_null(strstr(text, ">failed</text>"));
    cr_assert_not_null(strstr(text, ">slower</text>"));
    free(text);
    size_t n_phases = r.n_phases;
    r.n_phases = 0;
    cr_assert_eq(write_text("svg", &r, FAB_VIEW_WHOLE, &text, NULL), FAB_OK);
    cr_assert_null(strstr(text, "offered / rate"));
    cr_assert_not_null(strstr(text, "beside the worst of 3.875"));
    cr_assert_not_null(strstr(text, "class=\"u6\""));
    free(text);
    r.overlay = NULL;
    cr_assert_eq(write_text("svg", &r, FAB_VIEW_WHOLE, &text, NULL), FAB_OK);
    cr_assert_null(strstr(text, "class=\"u"));
    cr_assert_not_null(strstr(text, "cables of the network"));
    free(text);
    r.n_phases = n_phases;
    release(&r);
}

Test(graph_export, a_figure_that_is_none_is_refused) {
    static const double BAD[] = {(double)NAN, (double)INFINITY};
    for (size_t i = 0; i < N_GRAPHS; i++) {
        bool draws = strcmp(GRAPHS[i], "svg") == 0; /* shows utilisations, and those in bins alone */
        for (size_t k = 0; k < 2 && !draws; k++) {
            fab_overlay overlay;
            double residual[32];
            double criticality[16];
            fab_error err = {0};
            fab_result r = make_result(&overlay, residual, criticality);
            r.phases[1].engines[0].load_bytes[3] = BAD[k];
            cr_assert_eq(write_text(GRAPHS[i], &r, FAB_VIEW_WHOLE, NULL, &err), FAB_EINTERNAL, "%s", GRAPHS[i]);
            cr_assert_not_null(strstr(err.text, "infinite or not a number"));
            release(&r);
        }
    }
}

/* What the fabric has nothing of, and what was not built. */
Test(graph_export, what_cannot_be_shown_is_an_error) {
    fab_result r = fixture_result(FAB_COMMAND_COST, 1);
    for (size_t i = 0; i < N_GRAPHS; i++) {
        fab_error err = {0};
        cr_assert_eq(write_text(GRAPHS[i], &r, FAB_VIEW_AUTO, NULL, &err), FAB_EUNSUPPORTED, "%s", GRAPHS[i]);
        cr_assert(err.text[0] != '\0');
    }
    fixture_release(&r);
    r = fixture_result(FAB_COMMAND_BUILD, 1);
    const fab_fabric *graph = r.graph;
    fab_fabric without = *graph;
    without.n_pods = 0;
    r.graph = &without;
    cr_assert_eq(write_text("svg", &r, FAB_VIEW_POD, NULL, NULL), FAB_EUNSUPPORTED);
    cr_assert_eq(fab_view_check(&without, FAB_VIEW_POD, NULL), FAB_EUNSUPPORTED);
    cr_assert_eq(fab_view_check(&without, FAB_VIEW_TIER, NULL), FAB_OK);
    r.graph = graph;
    fixture_release(&r);
}

/* Suffixes tell formats apart: none is another's, and each ends a name. */
Test(graph_export, suffixes_are_distinct) {
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        const char *one = fab_report_formats[i]->suffix;
        cr_assert(one == NULL || one[0] == '.');
        for (size_t k = 0; one != NULL && k < i; k++) {
            const char *other = fab_report_formats[k]->suffix;
            cr_assert(other == NULL || strcmp(one, other) != 0, "%s", one);
        }
    }
}
