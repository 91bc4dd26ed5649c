/* What an audit found as a work order: a row for each finding, worst first. */
#include "report_formats.h"

#include "fab/audit.h"

#include <inttypes.h>

fab_status fab_csv_audit(const fab_audit *audit, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    fab_str_add(&text, "finding,damage_gbps,cables,node,port,other_node,other_port,line,what,work\n");
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        const fab_finding *f = &audit->findings[i];
        char damage[32];
        fab_format_double(damage, f->damage_bps / 1e9);
        fab_str_printf(&text, "%s,%s,%" PRIu32, fab_finding_kinds[f->kind], damage, f->cables);
        const char *const cells[] = {f->node, f->port, f->other, f->other_port};
        for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
            fab_str_add(&text, ",");
            fab_str_add_csv(&text, cells[k]);
        }
        fab_str_add(&text, ",");
        if (f->line > 0) {
            fab_str_printf(&text, "%zu", f->line);
        }
        fab_str_add(&text, ",");
        fab_str_add_csv(&text, f->text);
        fab_str_add(&text, ",");
        fab_str_add_csv(&text, f->work);
        fab_str_add(&text, "\n");
    }
    FAB_TRY(fab_report_put(&text, out, err));
done:
    fab_str_release(&text);
    return status;
}
