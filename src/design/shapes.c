/* Lists of numbers that give the shape of a fabric without tiers. */
#include "fab/design.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_PORTS 100000000U

/* Reads up to `most` numbers from 1 to 65,535 with commas between. */
static fab_status read_numbers(const char *what, const char *text, uint32_t most, uint64_t *out, uint32_t *out_n,
                               fab_error *err) {
    const char *at = text;
    uint32_t n = 0;
    for (bool more = true; more; n++) {
        char item[24];
        fab_error inner = {0};
        size_t length = strcspn(at, ",");
        if (n == most) {
            return fab_fail(err, FAB_EINPUT, NULL, "%s: '%.60s' has more than %u numbers", what, text, most);
        }
        (void)snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
        if (fab_count_parse(item, 1, 65535, &out[n], &inner) != FAB_OK) {
            return fab_fail(err, FAB_EINPUT, NULL, "%s: '%.60s': number %u: %s", what, text, n + 1, inner.text);
        }
        more = at[length] == ',';
        at += length + (more ? 1 : 0);
    }
    *out_n = n;
    return FAB_OK;
}

fab_status fab_dragonfly_parse(const char *text, fab_dragonfly *out, fab_error *err) {
    uint64_t number[5] = {0};
    uint32_t n = 0;
    fab_status status = read_numbers("dragonfly", text, 5, number, &n, err);
    if (status != FAB_OK) {
        return status;
    }
    if (n < 3) {
        return fab_fail(err, FAB_EINPUT, NULL,
                        "dragonfly: '%.60s' is not p,a,h[,g[,t]]: NICs per switch, switches per group, global cables "
                        "per switch, groups, cables between two switches of a group",
                        text);
    }
    fab_dragonfly d = {.p = number[0], .a = number[1], .h = number[2]};
    uint64_t most = d.a * d.h + 1;
    d.g = n > 3 ? number[3] : most;
    d.trunk = n > 4 ? number[4] : 1;
    if (d.g > most) {
        return fab_fail(err, FAB_EINPUT, NULL,
                        "dragonfly: %" PRIu64 " groups; %" PRIu64 " switches of %" PRIu64
                        " global cables can join at most %" PRIu64,
                        d.g, d.a, d.h, most);
    }
    if (d.g > MAX_PORTS || d.p * d.a > MAX_PORTS || d.p * d.a * d.g > MAX_PORTS) {
        return fab_fail(err, FAB_EINPUT, NULL, "dragonfly: '%.60s' has more than %u NIC ports", text, MAX_PORTS);
    }
    *out = d;
    return FAB_OK;
}

fab_status fab_torus_parse(const char *text, fab_torus *out, fab_error *err) {
    fab_torus t = {.switches = 1};
    fab_status status = read_numbers("torus", text, FAB_MAX_DIMENSIONS, t.size, &t.n_dimensions, err);
    for (uint32_t i = 0; status == FAB_OK && i < t.n_dimensions; i++) {
        t.switches *= t.size[i];
        if (t.switches > MAX_PORTS) {
            return fab_fail(err, FAB_EINPUT, NULL, "torus: '%.60s' has more than %u switches", text, MAX_PORTS);
        }
    }
    if (status == FAB_OK) {
        *out = t;
    }
    return status;
}
