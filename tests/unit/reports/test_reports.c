/* Reports: valid by their schemas, escaped, narrow enough, and never half-written. */
#include "fab/definitions.h"
#include "fab/str.h"
#include "fab/builtin.h"
#include "fab/optimum.h"
#include "fab/reports.h"
#include "reports_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON "/usr/bin/python3 -W ignore"

static char folder[64];

static void set_up(void) {
    (void)snprintf(folder, sizeof folder, "/tmp/fab-reports-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static int shell(const char *fmt, const char *a, const char *b) {
    char command[1024];
    (void)snprintf(command, sizeof command, fmt, a, b);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    char line[512];
    while (fgets(line, sizeof line, pipe) != NULL) {
        cr_log_info("%s", line);
    }
    return pclose(pipe);
}

static void tear_down(void) {
    cr_assert_eq(shell("rm -rf '%s'%s", folder, ""), 0);
}

TestSuite(reports, .init = set_up, .fini = tear_down);

/* Path of a file in the test's folder; two may be in use at a time. */
static const char *path_of(const char *name) {
    static char paths[2][128];
    static int turn;
    turn = !turn;
    (void)snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static fab_status write_as(const char *format, const fab_result *result, const fab_report_style *style,
                           const char *path, fab_error *err) {
    FILE *out = fopen(path, "wb");
    cr_assert_not_null(out);
    fab_status status = fab_report_write(fab_report_format_find(format), result, style, out, err);
    (void)fclose(out);
    return status;
}

static char *text_of(const char *path) {
    fab_str text = FAB_STR_INIT;
    cr_assert_eq(fab_read_file(path, 1 << 24, &text, NULL), FAB_OK);
    return text.data;
}

static void save_schema(void (*schema)(fab_str *out), const char *path) {
    fab_str text = FAB_STR_INIT;
    schema(&text);
    cr_assert_eq(fab_str_status(&text, NULL), FAB_OK);
    FILE *out = fopen(path, "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(text.data, 1, text.length, out), text.length);
    cr_assert_eq(fclose(out), 0);
    fab_str_release(&text);
}

/* The commands, each with one and with several seeds. */
typedef struct sample {
    fab_command command;
    uint64_t seeds;
} sample;
static const sample SAMPLES[] = {{FAB_COMMAND_RUN, 1},   {FAB_COMMAND_RUN, 20},   {FAB_COMMAND_BUILD, 1},
                                 {FAB_COMMAND_ROUTE, 1}, {FAB_COMMAND_ROUTE, 20}, {FAB_COMMAND_COST, 1},
                                 {FAB_COMMAND_SWEEP, 1}, {FAB_COMMAND_MIX, 1},    {FAB_COMMAND_STUDY, 1}};
#define N_SAMPLES (sizeof SAMPLES / sizeof SAMPLES[0])

Test(reports, formats_are_found_by_name) {
    cr_assert_not_null(fab_report_format_find("json"));
    cr_assert_null(fab_report_format_find("jsonx"));
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        cr_assert_eq(fab_report_format_find(fab_report_formats[i]->name), fab_report_formats[i]);
        cr_assert_not_null(fab_report_formats[i]->summary);
    }
}

Test(reports, json_fits_its_schema) {
    cr_assert_eq(shell(PYTHON " -c 'import %s'%s", "jsonschema", ""), 0, "scripts/setup --tests installs it");
    char schema[128];
    (void)snprintf(schema, sizeof schema, "%s", path_of("schema.json"));
    save_schema(fab_result_json_schema, schema);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        fab_result result = fixture_result(SAMPLES[i].command, SAMPLES[i].seeds);
        const char *path = path_of("report.json");
        cr_assert_eq(write_as("json", &result, NULL, path, NULL), FAB_OK);
        cr_assert_eq(shell(PYTHON " -c 'import json, sys, jsonschema; v = jsonschema.Draft202012Validator;"
                                  "s = json.load(open(sys.argv[1])); v.check_schema(s);"
                                  "v(s).validate(json.load(open(sys.argv[2])))' '%s' '%s' 2>&1",
                           schema, path),
                     0, "sample %zu", i);
        fixture_release(&result);
    }
}

Test(reports, xml_fits_its_schema) {
    cr_assert_eq(shell("command -v %s%s >/dev/null", "xmllint", ""), 0, "scripts/setup --tests installs it");
    char schema[128];
    (void)snprintf(schema, sizeof schema, "%s", path_of("report.xsd"));
    save_schema(fab_result_xml_schema, schema);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        fab_result result = fixture_result(SAMPLES[i].command, SAMPLES[i].seeds);
        const char *path = path_of("report.xml");
        cr_assert_eq(write_as("xml", &result, NULL, path, NULL), FAB_OK);
        cr_assert_eq(shell("xmllint --noout --nonet --schema '%s' '%s' 2>&1", schema, path), 0, "sample %zu", i);
        fixture_release(&result);
    }
}

Test(reports, json_holds_the_figures_exactly) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *path = path_of("report.json");
    cr_assert_eq(write_as("json", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "\"bytes\": 9007199254740993,")); /* beyond what a double holds */
    cr_assert_not_null(strstr(text, "\"built_taper\": 6.857142857142857 }"));
    cr_assert_not_null(strstr(text, "\"max_collision_factor\": 2.25,"));
    cr_assert_not_null(strstr(text, "\"threads\": \"any\""));
    cr_assert_not_null(strstr(text, "\\u0001\\u001b[31m \xEF\xBF\xBD\xEF\xBF\xBD( caf\xc3\xa9\\u000a\""));
    cr_assert_null(strstr(text, "null"));
    cr_assert_eq(text[0], '{');
    cr_assert_str_eq(text + strlen(text) - 3, "\n}\n");
    free(text);
    fixture_release(&result);
}

Test(reports, several_seeds_give_distributions) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 20);
    const char *path = path_of("report.json");
    cr_assert_eq(write_as("json", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "\"max_collision_factor\": { \"mean\": 2.25, \"ci95\": 0.05, \"p50\": 2.15"));
    free(text);
    fixture_release(&result);
}

Test(reports, the_first_design_of_a_comparison_stands_on_top) {
    fab_result result = fixture_result(FAB_COMMAND_COST, 1);
    const char *path = path_of("report.json");
    cr_assert_eq(write_as("json", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "\n  \"fabric\": {"));
    cr_assert_not_null(strstr(text, "\n  \"designs\": ["));
    cr_assert_not_null(strstr(text, "\"reduction_ratio\": 0.374,"));
    cr_assert_null(strstr(text, "\"phases\""));
    free(text);
    fixture_release(&result);
}

Test(reports, a_figure_that_is_none_is_an_internal_error_and_nothing_is_written) {
    static const char *const FORMATS[] = {"json", "xml", "text", "graphml", "ibnet"};
    for (size_t i = 0; i < 4; i++) {
        fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
        fab_error err = {FAB_OK, "", ""};
        result.phases[1].engines[0].hot[0].hash_factor = INFINITY;
        const char *path = path_of("bad");
        cr_assert_eq(write_as(FORMATS[i], &result, NULL, path, &err), FAB_EINTERNAL, "%s", FORMATS[i]);
        cr_assert_str_eq(err.where, "hash_factor");
        struct stat info;
        cr_assert_eq(stat(path, &info), 0);
        cr_assert_eq(info.st_size, 0, "%s wrote %ld bytes", FORMATS[i], (long)info.st_size);
        fixture_release(&result);
    }
}

Test(reports, xml_is_escaped) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *path = path_of("report.xml");
    cr_assert_eq(write_as("xml", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "a&lt;b&gt;&amp;&quot;'\\ \xEF\xBF\xBD\xEF\xBF\xBD[31m"));
    cr_assert_not_null(strstr(text, "caf\xc3\xa9&#10;\""));
    free(text);
    fixture_release(&result);
}

/* Columns of the longest line; checks that every byte is printable or part of UTF-8. */
static size_t widest(const char *text, bool color, bool ascii) {
    size_t columns = 0;
    size_t longest = 0;
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '\033') {
            cr_assert(color, "an escape code without colour");
            text += strcspn(text, "m");
            continue;
        }
        if (byte == '\n') {
            columns = 0;
            continue;
        }
        cr_assert(byte >= 0x20 && byte != 0x7F, "control character %d", byte);
        cr_assert(!ascii || byte < 0x80, "byte %d in ASCII", byte);
        columns += (byte & 0xC0) != 0x80;
        longest = columns > longest ? columns : longest;
    }
    return longest;
}

Test(reports, text_keeps_to_its_width) {
    static const int WIDTHS[] = {0, 40, 60, 80, 132};
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (size_t w = 0; w < sizeof WIDTHS / sizeof WIDTHS[0]; w++) {
            for (int mode = 0; mode < 4; mode++) {
                fab_result result = fixture_result(SAMPLES[i].command, SAMPLES[i].seeds);
                fab_report_style style = {.color = mode & 1, .ascii = mode & 2, .width = WIDTHS[w]};
                const char *path = path_of("report.txt");
                cr_assert_eq(write_as("text", &result, &style, path, NULL), FAB_OK);
                char *text = text_of(path);
                size_t limit = WIDTHS[w] > 0 ? (size_t)WIDTHS[w] : 80;
                cr_assert_leq(widest(text, style.color, style.ascii), limit);
                cr_assert(style.color == (strchr(text, '\033') != NULL));
                free(text);
                fixture_release(&result);
            }
        }
    }
}

Test(reports, text_says_what_matters) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *path = path_of("report.txt");
    cr_assert_eq(write_as("text", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "6.86:1"));
    cr_assert_not_null(strstr(text, "$374.4k"));
    cr_assert_not_null(strstr(text, "Stays inside the scale-up domains"));
    cr_assert_not_null(strstr(text, "its links are offered x"));
    cr_assert_not_null(strstr(text, "x2.25 leaf-0:3 > spine-0:1"));
    cr_assert_not_null(strstr(text, "rank 16 -> 48 (GPU 1 -> 3), 33.3 % of it, dp group tp=1 pp=0"));
    free(text);
    fixture_release(&result);
}

Test(reports, a_study_says_how_bad_it_is_and_what_has_the_highest_impact) {
    fab_result result = fixture_result(FAB_COMMAND_STUDY, 1);
    const char *path = path_of("report.txt");
    cr_assert_eq(write_as("text", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    static const char *const SAYS[] = {
        "The job stops in 10 of 100 scenarios (10 %); in the others it takes x1.125",
        ("Highest impact: leaf switches: 50 % of the speed +- 6.25 %; 2 of 6 parts stand out, "
         "such as leaf-0:3 > spine-0:1 (25 % is lost). In 3 scenarios parts that"),
        "Only 100 of 120 scenarios done (83.3 %)",
        "x1.02 - x1.05",
        "dual-homed. One link is 1/16 of the server's bandwidth",
        "the job stops in 4 of 16 scenarios; in the others, x1.062 on average, x1.125",
        "#999999999",
        "fullest leaf-0:4 > spine-0:2 at 1.5"};
    for (char *c = text; *c != '\0'; c++) { /* however it is wrapped */
        if (*c == '\n') {
            size_t blanks = strspn(c + 1, " ");
            *c = ' ';
            memmove(c + 1, c + 1 + blanks, strlen(c + 1 + blanks) + 1);
        }
    }
    for (size_t i = 0; i < sizeof SAYS / sizeof SAYS[0]; i++) {
        cr_expect_not_null(strstr(text, SAYS[i]), "%s", SAYS[i]);
    }
    free(text);
    fixture_release(&result);
}

/* Shares of what may be nothing are not printed as findings. */
Test(reports, histories_that_are_too_few_say_so) {
    fab_result result = fixture_result(FAB_COMMAND_STUDY, 1);
    fab_study_summary *s = (fab_study_summary *)result.study;
    fab_study_variant *v = &s->variants[0];
    const char *path = path_of("report.txt");
    s->n_variants = 1;
    s->span_s = 604800;
    v->n_done = 60;
    v->n_causes = 2;
    v->causes[0] = (fab_cause){.name = "gpus", .failures = 0.5, .impact = 0.01, .ci95 = 0.02, .share = 0.625};
    v->causes[1] = (fab_cause){.name = "links", .failures = 0.2, .impact = 0.015, .ci95 = 0.016, .share = 0.375};
    v->causes[1].is_even = true;
    v->first_cause_histories = 240;
    for (int is_clear = 0; is_clear < 2; is_clear++) {
        v->causes[1].ci95 = is_clear ? 0.014 : 0.016;
        cr_assert_eq(write_as("text", &result, &(fab_report_style){.width = 1000}, path, NULL), FAB_OK);
        char *text = text_of(path);
        cr_expect_not_null(strstr(text, is_clear ? "Highest impact: not known; 60 histories are too few to tell gpus, "
                                                   "which may cost most, from costing nothing; one failure of links "
                                                   "costs 1.5 % +- 1.4 % of the span; if gpus cost 1 % each, as it "
                                                   "seems, about 240 tell."
                                                 : "Highest impact: not known; 60 histories are too few to tell any "
                                                   "class from costing nothing; if gpus cost 1 % each, as it seems, "
                                                   "about 240 tell."),
                           "%s", text);
        cr_expect_eq(strstr(text, "of what failures cost") != NULL, is_clear);
        cr_expect_not_null(strstr(text, "gpus ?"));
        cr_expect_not_null(strstr(text, is_clear ? "links =" : "links ?"));
        free(text);
    }
    fixture_release(&result);
}

/* A search that the time limit ended must not read like one that has seen everything. */
Test(reports, an_optimum_says_whether_it_is_proven) {
    fab_optimum optimum = {.gpus = 64, .n_structures = 12, .n_candidates = 340, .lower_bound_usd = 1e6};
    fab_optimum_point *won = &optimum.winner;
    *won = (fab_optimum_point){.design = "clos:gpus=64", .tiers = 1, .planes = 1, .domain = 8, .nic_bps = 4e11};
    (void)snprintf(won->family, sizeof won->family, "clos");
    won->n_switches = 1;
    won->n_cables = 64;
    won->total_usd = 1e6;
    won->power_w = 1e3;
    won->bisection_ratio = 1;
    fab_optimum_point front[30];
    for (size_t i = 0; i < 30; i++) {
        front[i] = *won;
        front[i].difference_ratio = (double)i / 10;
    }
    optimum.by_bisection = optimum.by_power = front;
    optimum.n_by_bisection = optimum.n_by_power = 30;
    for (int proven = 0; proven < 2; proven++) {
        optimum.is_proven = optimum.fronts_complete = proven == 1;
        fab_result result = fixture_result(FAB_COMMAND_OPTIMIZE, 1);
        result.optimum = &optimum;
        const char *path = path_of("report.txt");
        cr_assert_eq(write_as("text", &result, NULL, path, NULL), FAB_OK);
        char *text = text_of(path);
        cr_expect_eq(strstr(text, "Not proven: the time limit struck") != NULL, proven == 0);
        cr_expect_eq(strstr(text, "The two fronts below are incomplete") != NULL, proven == 0);
        cr_expect_not_null(strstr(text, "clos:gpus=64"));
        cr_expect_not_null(strstr(text, "340 designs with their"));
        cr_expect_leq(widest(text, false, false), 80);
        free(text);
        result.optimum = NULL;
        fixture_release(&result);
    }
}

Test(reports, graphml_has_one_edge_per_cable_and_keys_first) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *path = path_of("fabric.graphml");
    cr_assert_eq(write_as("graphml", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    size_t n_edges = 0;
    for (const char *at = strstr(text, "<edge "); at != NULL; at = strstr(at + 1, "<edge ")) {
        n_edges++;
    }
    cr_assert_eq(n_edges, result.graph->n_cables);
    const char *graph = strstr(text, "<graph ");
    cr_assert_not_null(graph);
    cr_assert_null(strstr(graph, "<key "));
    cr_assert_null(strstr(text, "<port"));
    cr_assert_null(strstr(text, "<default"));
    cr_assert_not_null(strstr(text, "<data key=\"n_label\">spine-0</data><data key=\"n_kind\">switch</data>"));
    cr_assert_not_null(strstr(text, "<data key=\"load_fwd\">1000000000</data>"));
    cr_assert_not_null(strstr(text, "<data key=\"load_rev\">10.333333333333334</data>"));
    free(text);
    fixture_release(&result);

    fab_result without = fixture_result(FAB_COMMAND_COST, 1);
    cr_assert_eq(write_as("graphml", &without, NULL, path, NULL), FAB_EUNSUPPORTED);
    fixture_release(&without);
}

Test(reports, csv_has_a_row_per_point_and_engine) {
    const char *path = path_of("points.csv");
    fab_result result = fixture_result(FAB_COMMAND_SWEEP, 1);
    cr_assert_eq(write_as("csv", &result, NULL, path, NULL), FAB_OK);
    cr_assert_eq(
        shell(PYTHON
              " -c 'import csv, sys;"
              "r = list(csv.DictReader(open(sys.argv[1], newline=\"\", encoding=\"latin-1\")));"
              "assert len(r) == 2 and r[0][\"pareto\"] == \"1\" and float(r[0][\"time_s\"]) == 0.5;"
              "assert r[1][\"time_s\"] == \"\" and r[1][\"error\"].startswith(chr(39) + \"--vary\")' '%s' 2>&1%s",
              path, ""),
        0);
    fixture_release(&result);

    fab_result without = fixture_result(FAB_COMMAND_RUN, 1);
    fab_error err = {FAB_OK, "", ""};
    cr_assert_eq(write_as("csv", &without, NULL, path, &err), FAB_EUSAGE);
    cr_assert_not_null(strstr(err.text, "choose with --table: fabric, fabric.tiers, cost, cost.lines"), "%s", err.text);
    fab_report_style style = {.width = 80, .table = "fabrics"};
    cr_assert_eq(write_as("csv", &without, &style, path, &err), FAB_EUSAGE);
    fixture_release(&without);
}

/* Names of files are no markup, and no line of a table breaks. */
Test(reports, markdown_escapes_what_files_hold) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *path = path_of("report.md");
    cr_assert_eq(write_as("markdown", &result, NULL, path, NULL), FAB_OK);
    char *text = text_of(path);
    cr_assert_not_null(strstr(text, "a&lt;b>&amp;\"'\\\\ "));
    for (const char *c = text; *c != '\0'; c++) {
        cr_assert(*c == '\n' || ((unsigned char)*c >= 0x20 && *c != 0x7f), "character %d", *c);
    }
    cr_assert_null(strchr(text, 0x1b));
    free(text);
    fixture_release(&result);
}

Test(reports, a_full_disk_is_an_error) {
    uint32_t n_refused = 0;
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
        fab_error err = {FAB_OK, "", ""};
        result.sweep = fixture_sweep(); /* for csv, which shows nothing else */
        fab_status status = write_as(fab_report_formats[i]->name, &result, NULL, "/dev/full", &err);
        n_refused += status == FAB_EUNSUPPORTED; /* no such fabric can be said in it: nothing was written */
        cr_assert(status == FAB_EIO || status == FAB_EUNSUPPORTED, "%s: %s", fab_report_formats[i]->name, err.text);
        cr_assert(status != FAB_EIO || strstr(err.text, "No space left") != NULL, "%s", err.text);
        fixture_release(&result);
    }
    cr_assert_leq(n_refused, 4); /* htsim, astra-sim; simgrid and timeline, of routes and schedules not there */
}

/* --- into a folder ------------------------------------------------------------------------------------------------ */

static size_t n_files(const char *path) {
    DIR *dir = opendir(path);
    cr_assert_not_null(dir);
    size_t n = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        n += entry->d_name[0] != '.';
    }
    (void)closedir(dir);
    return n;
}

Test(reports, all_files_are_written_once) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    fab_error err = {FAB_OK, "", ""};
    const char *out = path_of("a/b//c/");
    cr_assert_eq(fab_reports_write_all(&result, out, false, &err), FAB_OK, "%s: %s", err.where, err.text);
    cr_assert_eq(n_files(out), 6); /* the fixture has no rates of flows to list */
    cr_assert_eq(fab_reports_write_all(&result, out, false, &err), FAB_EIO);
    cr_assert_not_null(strstr(err.where, "report.json"));
    cr_assert_not_null(strstr(err.text, "--force"));
    cr_assert_eq(fab_reports_write_all(&result, out, true, NULL), FAB_OK);
    cr_assert_eq(n_files(out), 6); /* the fixture has no rates of flows to list */
    fixture_release(&result);
}

Test(reports, without_a_graph_there_is_no_graphml) {
    fab_result result = fixture_result(FAB_COMMAND_COST, 1);
    cr_assert_eq(fab_reports_write_all(&result, path_of("cost"), false, NULL), FAB_OK);
    cr_assert_eq(n_files(path_of("cost")), 4);
    fixture_release(&result);
}

Test(reports, a_failure_leaves_nothing_behind) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    result.phases[1].engines[0].max_collision_factor.mean = NAN;
    cr_assert_eq(fab_reports_write_all(&result, path_of("new/deep"), false, NULL), FAB_EINTERNAL);
    cr_assert_eq(n_files(folder), 0);
    fixture_release(&result);
}

Test(reports, an_existing_report_survives_a_failure) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *out = path_of("out");
    char json[160];
    (void)snprintf(json, sizeof json, "%s/report.json", out);
    cr_assert_eq(fab_reports_write_all(&result, out, false, NULL), FAB_OK);
    char *before = text_of(json);
    result.phases[1].engines[0].load_bytes[3] = NAN; /* found only while the third file is written */
    cr_assert_eq(fab_reports_write_all(&result, out, true, NULL), FAB_EINTERNAL);
    char *after = text_of(json);
    cr_assert_str_eq(before, after);
    cr_assert_eq(n_files(out), 6); /* the fixture has no rates of flows to list */
    free(before);
    free(after);
    fixture_release(&result);
}

Test(reports, a_rename_that_fails_takes_the_others_back) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    const char *out = path_of("out");
    char blocked[160];
    (void)snprintf(blocked, sizeof blocked, "%s/fabric.graphml", out);
    cr_assert_eq(mkdir(out, 0777), 0);
    cr_assert_eq(mkdir(blocked, 0777), 0); /* a folder cannot be replaced by a file */
    fab_error err = {FAB_OK, "", ""};
    cr_assert_eq(fab_reports_write_all(&result, out, true, &err), FAB_EIO);
    cr_assert_not_null(strstr(err.where, "fabric.graphml"));
    cr_assert_eq(n_files(out), 1);
    fixture_release(&result);
}

Test(reports, a_folder_that_is_a_file_is_an_error) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    save_schema(fab_result_xml_schema, path_of("file"));
    fab_error err = {FAB_OK, "", ""};
    cr_assert_eq(fab_reports_write_all(&result, path_of("file"), false, &err), FAB_EIO);
    cr_assert_eq(fab_reports_write_all(&result, path_of("file/under"), false, NULL), FAB_EIO);
    cr_assert_eq(fab_reports_write_all(&result, "", false, NULL), FAB_EIO);
    cr_assert_eq(n_files(folder), 1);
    fixture_release(&result);
}
