#include "site_internal.h"

#include <stdlib.h>
#include <string.h>

/* Data rates of a lane. InfiniBand Architecture Specification 1.4, volume 2; FDR10: NVIDIA. */
static const struct {
    const char *name;
    double lane_bps;
} SPEEDS[] = {{"SDR", 2.5e9}, {"DDR", 5e9},  {"QDR", 10e9},  {"FDR10", 10.3125e9}, {"FDR", 14e9},
              {"EDR", 25e9},  {"HDR", 50e9}, {"NDR", 100e9}, {"XDR", 200e9}};

bool fab_site_ib_rate(const char *text, size_t n, uint32_t *out_width, double *out_bps) {
    uint32_t width = 0;
    size_t at = 0;
    if (n > 2 && memcmp(text, "w=", 2) == 0) { /* ibsim: no speed */
        text += 2;
        n -= 2;
    }
    while (at < n && at < 2 && text[at] >= '0' && text[at] <= '9') {
        width = width * 10 + (uint32_t)(text[at++] - '0');
    }
    bool is_width = width == 1 || width == 2 || width == 4 || width == 8 || width == 12;
    if (is_width && at == n) {
        *out_width = width;
        return true;
    }
    for (size_t i = 0; is_width && text[at] == 'x' && i < sizeof SPEEDS / sizeof SPEEDS[0]; i++) {
        if (strlen(SPEEDS[i].name) == n - at - 1 && memcmp(text + at + 1, SPEEDS[i].name, n - at - 1) == 0) {
            *out_width = width;
            *out_bps = width * SPEEDS[i].lane_bps;
            return true;
        }
    }
    return false;
}
