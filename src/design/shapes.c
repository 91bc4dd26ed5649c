/* Lists of numbers that give the shape of a fabric: how they are read and written. */
#include "fields.h"

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
        FAB_REFUSE_IF(n == most, err, FAB_EINPUT, NULL, "%s: '%.60s' has more than %u numbers", what, text, most);
        FAB_FORMAT(item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
        FAB_REFUSE_IF(fab_count_parse(item, 1, 65535, &out[n], &inner) != FAB_OK, err, FAB_EINPUT, NULL,
                      "%s: '%.60s': number %u: %s", what, text, n + 1, inner.text);
        more = at[length] == ',';
        at += length + (more ? 1 : 0);
    }
    *out_n = n;
    return FAB_OK;
}

static fab_status parse_dragonfly(const char *text, void *out, fab_error *err) {
    uint64_t number[5] = {0};
    uint32_t n = 0;
    FAB_PASS(read_numbers("dragonfly", text, 5, number, &n, err));
    FAB_REFUSE_IF(n < 3, err, FAB_EINPUT, NULL,
                  "dragonfly: '%.60s' is not p,a,h[,g[,t]]: NICs per switch, switches per group, global cables "
                  "per switch, groups, cables between two switches of a group",
                  text);
    fab_dragonfly d = {.p = number[0], .a = number[1], .h = number[2]};
    uint64_t most = d.a * d.h + 1;
    d.g = n > 3 ? number[3] : most;
    d.trunk = n > 4 ? number[4] : 1;
    FAB_REFUSE_IF(d.g > most, err, FAB_EINPUT, NULL,
                  "dragonfly: %" PRIu64 " groups; %" PRIu64 " switches of %" PRIu64
                  " global cables can join at most %" PRIu64,
                  d.g, d.a, d.h, most);
    FAB_REFUSE_IF(d.g > MAX_PORTS || d.p * d.a > MAX_PORTS || d.p * d.a * d.g > MAX_PORTS, err, FAB_EINPUT, NULL,
                  "dragonfly: '%.60s' has more than %u NIC ports", text, MAX_PORTS);
    *(fab_dragonfly *)out = d;
    return FAB_OK;
}

static void format_dragonfly(const void *shape, fab_str *out) {
    const fab_dragonfly *d = shape;
    if (d->p != 0) {
        fab_str_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, d->p, d->a, d->h, d->g,
                       d->trunk);
    }
}

const field_shape dragonfly_shape = {parse_dragonfly, format_dragonfly};

static fab_status parse_torus(const char *text, void *out, fab_error *err) {
    fab_torus t = {.switches = 1};
    FAB_PASS(read_numbers("torus", text, FAB_MAX_DIMENSIONS, t.size, &t.n_dimensions, err));
    for (uint32_t i = 0; i < t.n_dimensions; i++) {
        t.switches *= t.size[i];
        FAB_REFUSE_IF(t.switches > MAX_PORTS, err, FAB_EINPUT, NULL, "torus: '%.60s' has more than %u switches", text,
                      MAX_PORTS);
    }
    *(fab_torus *)out = t;
    return FAB_OK;
}

static void format_torus(const void *shape, fab_str *out) {
    const fab_torus *t = shape;
    for (uint32_t i = 0; i < t->n_dimensions; i++) {
        fab_str_printf(out, "%s%" PRIu64, i > 0 ? "," : "", t->size[i]);
    }
}

const field_shape torus_shape = {parse_torus, format_torus};

/* Height, children, parents and parallel cables, with semicolons between. */
static fab_status parse_xgft(const char *text, void *out, fab_error *err) {
    fab_xgft x = {.ports = 1};
    uint64_t *const groups[] = {x.m, x.w, x.p};
    uint64_t height = 0;
    uint32_t n_groups = 0;
    char part[FAB_NAME_SIZE];
    for (uint32_t i = 0; i <= FAB_MAX_TIERS; i++) {
        x.p[i] = 1;
    }
    for (const char *at = text; at != NULL; n_groups++) {
        size_t n = strcspn(at, ";");
        uint32_t count = 0;
        FAB_FORMAT(part, "%.*s", (int)(n < sizeof part ? n : sizeof part - 1), at);
        if (n_groups == 0) {
            FAB_PASS(fab_count_parse(part, 1, FAB_MAX_TIERS, &height, err));
        } else if (n_groups > 3) {
            return fab_fail(err, FAB_EINPUT, NULL, "xgft: '%.60s' has more than three groups", text);
        } else {
            FAB_PASS(read_numbers("xgft", part, (uint32_t)height, groups[n_groups - 1] + 1, &count, err));
        }
        FAB_REFUSE_IF(count < height && n_groups > 0, err, FAB_EINPUT, NULL,
                      "xgft: a group has %" PRIu32 " of %" PRIu64 " numbers", count, height);
        at = at[n] == ';' ? at + n + 1 : NULL;
    }
    FAB_REFUSE_IF(n_groups < 3, err, FAB_EINPUT, NULL, "xgft: '%.60s' has no group of %s", text,
                  n_groups < 2 ? "children" : "parents");
    x.height = (uint32_t)height;
    for (uint32_t i = 1; i <= x.height; i++) {
        x.ports *= x.m[i];
        FAB_REFUSE_IF(x.ports > MAX_PORTS, err, FAB_EINPUT, NULL, "xgft: more than 100,000,000 NIC ports");
    }
    *(fab_xgft *)out = x;
    return FAB_OK;
}

static void format_xgft(const void *shape, fab_str *out) {
    const fab_xgft *x = shape;
    const uint64_t *const groups[] = {x->m, x->w, x->p};
    if (x->height > 0) {
        fab_str_printf(out, "%" PRIu32, x->height);
    }
    for (size_t g = 0; g < 3; g++) {
        for (uint32_t i = 1; i <= x->height; i++) {
            fab_str_printf(out, "%c%" PRIu64, i == 1 ? ';' : ',', groups[g][i]);
        }
    }
}

const field_shape xgft_shape = {parse_xgft, format_xgft};
