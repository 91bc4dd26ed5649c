#include "fab/design.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One group of `height` numbers up to the next semicolon; *text moves behind it, NULL at the end. */
static fab_status read_group(const char **text, uint32_t height, uint64_t *out, fab_error *err) {
    char item[24];
    const char *at = *text;
    for (uint32_t i = 1; i <= height; i++) {
        size_t n = strcspn(at, ",;");
        (void)snprintf(item, sizeof item, "%.*s", (int)(n < sizeof item ? n : sizeof item - 1), at);
        fab_status status = fab_count_parse(item, 1, 65535, &out[i], err);
        if (status != FAB_OK) {
            return status;
        }
        at += n;
        if (i < height && *at++ != ',') {
            return fab_fail(err, FAB_EINPUT, NULL, "xgft: a group has %u of %u numbers", i, height);
        }
    }
    if (*at != ';' && *at != '\0') {
        return fab_fail(err, FAB_EINPUT, NULL, "xgft: a group has more than %u numbers", height);
    }
    *text = *at == ';' ? at + 1 : NULL;
    return FAB_OK;
}

fab_status fab_xgft_parse(const char *text, fab_xgft *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xgft x = {.ports = 1};
    uint64_t height = 0;
    char first[8] = "";
    size_t n = strcspn(text, ";");
    const char *at = text[n] == ';' ? text + n + 1 : NULL;
    (void)snprintf(first, sizeof first, "%.*s", (int)(n < sizeof first ? n : sizeof first - 1), text);
    FAB_TRY(fab_count_parse(first, 1, FAB_MAX_TIERS, &height, err));
    x.height = (uint32_t)height;
    for (uint32_t i = 0; i <= FAB_MAX_TIERS; i++) {
        x.p[i] = 1;
    }
    if (at == NULL) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "xgft: '%.60s' has no groups of children and parents", text);
    }
    FAB_TRY(read_group(&at, x.height, x.m, err));
    if (at == NULL) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "xgft: '%.60s' has no group of parents", text);
    }
    FAB_TRY(read_group(&at, x.height, x.w, err));
    if (at != NULL) {
        FAB_TRY(read_group(&at, x.height, x.p, err));
    }
    if (at != NULL) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "xgft: '%.60s' has more than three groups", text);
    }
    for (uint32_t i = 1; i <= x.height; i++) {
        x.ports *= x.m[i];
        if (x.ports > 100000000U) {
            FAB_FAIL(err, FAB_EINPUT, NULL, "xgft: more than 100,000,000 NIC ports");
        }
    }
    *out = x;
done:
    return status;
}
