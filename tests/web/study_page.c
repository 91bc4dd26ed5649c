/* The page of a study that is filled by hand, to stdout: for the tests in a browser. */
#include "fab/reports.h"
#include "reports_fixture.h"

int main(void) {
    fab_result result = fixture_result(FAB_COMMAND_STUDY, 1);
    double impact[16];
    for (uint32_t c = 0; c < 16; c++) {
        impact[c] = c % 4 == 3 ? c / 32.0 : 0;
    }
    result.study->variants[result.study->shown].cable_impact = impact;
    fab_error err = {0};
    fab_status status = fab_report_write(fab_report_format_find("html"), &result, NULL, stdout, &err);
    if (status != FAB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
    }
    result.study->variants[result.study->shown].cable_impact = NULL;
    fixture_release(&result);
    return status == FAB_OK ? 0 : 1;
}
