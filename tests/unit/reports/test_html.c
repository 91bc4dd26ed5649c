#include "fab/reports.h"
#include "html/html_code.h"
#include "fab/rng.h"
#include "reports_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

/* A second reader of the code, for the tests alone. */
static uint64_t digit_of(char c) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(DIGITS, c);
    cr_assert(c != '\0' && at != NULL, "'%c' is no digit", c);
    return (uint64_t)(at - DIGITS);
}

static int64_t read_vlq(const char **at) {
    uint64_t sum = 0;
    for (unsigned shift = 0;; shift += 5) {
        uint64_t digit = digit_of(*(*at)++);
        sum |= (digit & 31) << shift;
        if (digit < 32) {
            break;
        }
    }
    return (sum & 1) != 0 ? -(int64_t)(sum >> 1) : (int64_t)(sum >> 1);
}

Test(html_code, numbers_of_every_size_come_back) {
    static const int64_t VALUES[] = {
        0, 1, -1, 15, 16, -16, 31, 32, 1023, -1024, 1 << 20, INT64_C(1) << 40, -(INT64_C(1) << 60)};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        fab_str text = FAB_STR_INIT;
        fab_code_vlq(&text, VALUES[i]);
        const char *at = text.data;
        cr_assert_eq(read_vlq(&at), VALUES[i]);
        cr_assert_eq(*at, '\0');
        fab_str_release(&text);
    }
}

#define N_ROWS 500

Test(html_code, rows_come_back) {
    fab_rng rng = fab_rng_make(7, 0);
    for (size_t width = 1; width <= FAB_ROW_MAX; width++) {
        int64_t rows[N_ROWS][FAB_ROW_MAX] = {{0}};
        fab_str text = FAB_STR_INIT;
        fab_code_rows code = {.out = &text, .width = width};
        for (size_t r = 0; r < N_ROWS; r++) {
            for (size_t k = 0; k < width; k++) {
                /* mostly regular, as cables are */
                rows[r][k] = r > 0 && fab_rng_below(&rng, 4) > 0 ? rows[r - 1][k] + (int64_t)k
                                                                 : (int64_t)fab_rng_below(&rng, 1000) - 500;
            }
            fab_code_rows_add(&code, rows[r]);
        }
        fab_code_rows_end(&code);
        const char *at = text.data;
        int64_t last[FAB_ROW_MAX] = {0};
        size_t r = 0;
        while (*at != '\0') {
            int64_t times = read_vlq(&at);
            int64_t step[FAB_ROW_MAX];
            for (size_t k = 0; k < width; k++) {
                step[k] = read_vlq(&at);
            }
            cr_assert_gt(times, 0);
            for (int64_t t = 0; t < times; t++, r++) {
                for (size_t k = 0; k < width; k++) {
                    last[k] += step[k];
                    cr_assert_eq(last[k], rows[r][k], "row %zu, column %zu of %zu", r, k, width);
                }
            }
        }
        cr_assert_eq(r, N_ROWS);
        fab_str_release(&text);
    }
}

#define N_FIGURES 20000

/* Figures from so many different ones: each comes back to six digits, or to half a step where there are too many. */
static void check_series(uint64_t n_different, uint64_t seed) {
    static double figures[N_FIGURES];
    static double sorted[N_FIGURES];
    fab_rng rng = fab_rng_make(seed, 0);
    fab_code_table table = {0};
    fab_str text = FAB_STR_INIT;
    for (size_t i = 0; i < N_FIGURES; i++) {
        bool again = i > 0 && fab_rng_below(&rng, 3) > 0;
        figures[i] = again ? figures[i - 1] : (double)fab_rng_below(&rng, n_different) / 7.0;
        sorted[i] = figures[i];
    }
    cr_assert_eq(fab_code_table_init(sorted, N_FIGURES, &table, NULL), FAB_OK);
    cr_assert_leq(table.n, FAB_CODE_VALUES);
    cr_assert_eq(table.step > 0, n_different > FAB_CODE_VALUES);
    fab_code_series code = {.out = &text, .table = &table};
    for (size_t i = 0; i < N_FIGURES; i++) {
        fab_code_series_add(&code, figures[i]);
    }
    fab_code_series_end(&code);
    const char *at = text.data;
    size_t i = 0;
    double last = NAN;
    while (*at != '\0') {
        int64_t times = 1;
        if (*at == '~') {
            at++;
            times = read_vlq(&at);
        } else {
            uint64_t place = digit_of(*at++);
            place = table.n > 64 ? place * 64 + digit_of(*at++) : place;
            cr_assert_lt(place, table.n);
            last = table.value[place];
        }
        for (int64_t t = 0; t < times; t++, i++) {
            double room = table.step > 0 ? table.step * 0.501 : 5.1e-6 * figures[i];
            cr_assert_leq(fabs(last - figures[i]), room, "figure %zu: %.9g is told as %.9g", i, figures[i], last);
        }
    }
    cr_assert_eq(i, N_FIGURES);
    fab_code_table_release(&table);
    fab_str_release(&text);
}

Test(html_code, figures_come_back) {
    check_series(1, 1);
    check_series(40, 2);
    check_series(1000, 3);
    check_series(1000000, 4);
}

static char *page_of(const fab_result *result) {
    char *text = NULL;
    size_t size = 0;
    fab_error err = {0};
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(fab_report_write(fab_report_format_find("html"), result, NULL, out, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fclose(out), 0);
    return text;
}

/* Names from files must not end the block of data, nor become markup in the title. */
Test(html, names_stay_names) {
    static const fab_command COMMANDS[] = {FAB_COMMAND_RUN, FAB_COMMAND_BUILD, FAB_COMMAND_COST, FAB_COMMAND_SWEEP,
                                           FAB_COMMAND_MIX};
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        fab_result result = fixture_result(COMMANDS[i], 1);
        if (result.n_fabrics > 0) {
            (void)snprintf(result.fabrics[0].name, sizeof result.fabrics[0].name, "</title></script><b>&%s",
                           FIXTURE_NASTY);
        }
        char *page = page_of(&result);
        char *data = strstr(page, "id=\"data\">");
        cr_assert_not_null(data);
        char *end = strstr(data, "</script>");
        cr_assert_not_null(end);
        cr_assert_null(memchr(data + strlen("id=\"data\">"), '<', (size_t)(end - data) - strlen("id=\"data\">")));
        char *title = strstr(page, "<title>");
        cr_assert_not_null(title);
        cr_assert_eq(strcspn(title + 1, "<"), (size_t)(strstr(title, "</title>") - title) - 1);
        cr_assert_null(strstr(page, "@FABRISCOPE_"));
        free(page);
        fixture_release(&result);
    }
}

/* Of a study with a graph the page knows what the loss of each cable does; what was not looked at is 0. */
Test(html, criticality_is_told_by_cable) {
    fab_result result = fixture_result(FAB_COMMAND_STUDY, 1);
    fab_study_variant *shown = &result.study->variants[result.study->shown];
    char *page = page_of(&result);
    cr_assert_null(strstr(page, "\"criticality\":{"));
    free(page);
    shown->cable_impact = calloc(result.graph->n_cables, sizeof *shown->cable_impact);
    for (uint32_t c = 0; c < result.graph->n_cables; c++) {
        shown->cable_impact[c] = NAN;
    }
    shown->cable_impact[11] = 0.25;
    shown->cable_impact[10] = 1;
    page = page_of(&result);
    /* NIC - leaf: cables 2, 6, 10, 14; leaf - spine: 3, 7, 11, 15 */
    cr_assert_not_null(
        strstr(page, "\"ratio\":{\"step\":0,\"values\":[0,0.25,1],\"code\":[\"AACA\",\"AACA\",\"AABA\",\"AABA\"]}"));
    free(page);
    free(shown->cable_impact);
    shown->cable_impact = NULL;
    fixture_release(&result);
}

/* What is not known of the links is left out, and what is not a number is refused. */
Test(html, loads_are_told_where_they_are_known) {
    fab_result result = fixture_result(FAB_COMMAND_RUN, 1);
    char *page = page_of(&result);
    cr_assert_not_null(strstr(page, "\"draws\":[],\"left_out\":1"));
    free(page);
    fab_engine_result *engine = &result.phases[1].engines[0];
    size_t n = result.graph->n_links;
    engine->utilisation = calloc(n, sizeof *engine->utilisation);
    engine->utilisation[22] = 2.5;
    page = page_of(&result);
    cr_assert_not_null(strstr(
        page, "\"draws\":[{\"phase\":1,\"engine\":0,\"draw\":0,\"seed\":1,\"ratio\":{\"step\":0,\"values\":[0,2.5],"));
    cr_assert_not_null(strstr(page, "\"left_out\":0"));
    free(page);
    engine->utilisation[22] = NAN;
    fab_error err = {0};
    FILE *nowhere = fopen("/dev/null", "wb");
    cr_assert_eq(fab_report_write(fab_report_format_find("html"), &result, NULL, nowhere, &err), FAB_EINTERNAL);
    (void)fclose(nowhere);
    free(engine->utilisation);
    engine->utilisation = NULL;
    fixture_release(&result);
}
