/* The table of formats, and what they share. To add one, see README.md. */
#include "report_formats.h"
#include "data/result_walk.h"

#include "fab/sweep.h"

#include <errno.h>

#define FORMAT(id) &fab_report_##id,
const fab_report_format *const fab_report_formats[] = {FAB_REPORT_FORMATS(FORMAT) NULL};

const fab_report_format *fab_report_format_find(const char *name) {
    FAB_FIRST(i, SIZE_MAX, fab_report_formats[i] == NULL || strcmp(fab_report_formats[i]->name, name) == 0);
    return fab_report_formats[i];
}

fab_status fab_report_write(const fab_report_format *format, const fab_result *result, const fab_report_style *style,
                            FILE *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_REFUSE_IF(format->needs_graph && result->graph == NULL &&
                      !(format->shows_audit &&
                        (result->audit != NULL || (result->sweep != NULL && result->sweep->compares_designs))),
                  err, FAB_EUNSUPPORTED, NULL, "%s shows a fabric that was built, and this command builds none",
                  format->shows_graph ? "a graph" : format->name);
    FAB_PASS(fab_result_check(result, err));
    errno = 0;
    if (format->make != NULL) {
        FAB_PASS(format->make(result, style, &text, err));
        FAB_PASS(fab_str_status(&text, err));
        (void)fwrite(text.data, 1, text.length, out);
    } else {
        FAB_PASS(format->print(result, style, out, err));
    }
    FAB_REFUSE_IF(fflush(out) != 0 || ferror(out), err, FAB_EIO, NULL, "cannot write the report: %s",
                  errno != 0 ? strerror(errno) : "a write failed");
    return FAB_OK;
}

fab_status fab_report_save(const void *content, FILE *out, fab_error *err) {
    const fab_report_content *c = content;
    return fab_report_write(c->format, c->result, c->style, out, err);
}
