#include "igraph_calls.h"

void fab_igraph_ignore(const char *reason, const char *file, int line, igraph_error_t code) {
    (void)reason;
    (void)file;
    (void)line;
    (void)code;
    IGRAPH_FINALLY_FREE();
}

fab_status fab_igraph_status(igraph_error_t code, fab_error *err) {
    if (code == IGRAPH_SUCCESS) {
        return FAB_OK;
    }
    return fab_fail(err, code == IGRAPH_ENOMEM ? FAB_ENOMEM : FAB_EINTERNAL, NULL, "igraph: %s", igraph_strerror(code));
}
