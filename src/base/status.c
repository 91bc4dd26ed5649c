#include "fab/base.h"

#include <stdarg.h>

fab_status fab_fail(fab_error *err, fab_status code, const char *where, const char *fmt, ...) {
    if (err != NULL && err->code == FAB_OK) {
        err->code = code;
        FAB_FORMAT(err->where, "%s", where != NULL ? where : "");
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(err->text, sizeof err->text, fmt, args);
        va_end(args);
    }
    return code;
}

fab_status fab_fail_as(fab_error *err, fab_status status, const fab_error *why) {
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, why->where, "%s", why->text);
}

fab_status fab_fail_in_file(fab_error *err, const char *path, size_t line, size_t column, const char *fmt, ...) {
    char where[192];
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    int n = snprintf(where, sizeof where, "%.160s:%zu", path, line);
    if (column > 0 && n > 0) {
        (void)snprintf(where + n, sizeof where - (size_t)n, ":%zu", column);
    }
    return fab_fail(err, FAB_EINPUT, where, "%s", text);
}

const char *fab_status_name(fab_status status) {
    switch (status) {
    case FAB_OK: return "ok";
    case FAB_EUSAGE: return "usage error";
    case FAB_EINPUT: return "input error";
    case FAB_EUNSUPPORTED: return "unsupported";
    case FAB_ELIMIT: return "limit";
    case FAB_ETHRESHOLD: return "beyond the threshold";
    case FAB_EINCOMPLETE: return "incomplete";
    case FAB_ETIME: return "time is up";
    case FAB_EUNREACHABLE: return "unreachable";
    case FAB_ENOSOLUTION: return "no solution";
    case FAB_EIO: return "i/o error";
    case FAB_ENOMEM: return "out of memory";
    case FAB_EINTERNAL: return "internal error";
    }
    return "unknown status";
}
