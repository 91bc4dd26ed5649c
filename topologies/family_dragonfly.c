/* dragonfly: groups of switches that are all joined inside a group, and every group with every other (Kim, Dally,
 * Scott, Abts, ISCA 2008). A switch has p NICs, a - 1 neighbours in its group and h cables to other groups; with a h +
 * 1 groups every pair of groups has one cable. With fewer, each pair gets as many as the ports allow it equally. */
#include "direct.h"
#include "families.h"

#define LOCAL  2 /* boundaries */
#define GLOBAL 3

typedef struct shape {
    fab_dragonfly d;
    uint64_t pair; /* cables between two groups */
} shape;

/* The largest a = 2p = 2h that the radix allows, and the fewest groups that hold the NICs. */
static fab_status balance(const fab_fabric_spec *spec, const fab_direct_plan *plan, fab_dragonfly *out,
                          fab_error *err) {
    fab_clos_tier tier = plan->tier;
    uint64_t p = 0;
    for (uint64_t n = 1; n <= tier.radix * tier.split_down; n++) {
        tier.down = n;
        tier.up = 2 * n - 1 + n;
        if (fab_tier_ports(&tier) > tier.radix) {
            break;
        }
        p = n;
    }
    FAB_REFUSE_IF(p == 0, err, FAB_EINPUT, "switch",
                  "the smallest balanced dragonfly needs 3 ports per switch; the radix is %" PRIu64, tier.radix);
    fab_dragonfly d = {.p = p, .a = 2 * p, .h = p, .trunk = 1};
    uint64_t nics = spec->tier[0].down != 0 && spec->tier[0].down < p ? spec->tier[0].down : p;
    uint64_t most = d.a * d.h + 1;
    d.g = fab_ceil_div(plan->ends.nics, nics * d.a);
    FAB_REFUSE_IF(d.g > most, err, FAB_EINPUT, "switch",
                  "switches of radix %" PRIu64 " make at most %" PRIu64 " groups of %" PRIu64 " switches with %" PRIu64
                  " NICs each: %" PRIu64 " NICs, not %" PRIu64,
                  tier.radix, most, d.a, nics, most * d.a * nics, plan->ends.nics);
    *out = d;
    return FAB_OK;
}

static fab_status plan_dragonfly(fab_fabric_spec *spec, fab_direct_plan *plan, shape *s, fab_error *err) {
    bool is_given = spec->dragonfly.p != 0;
    uint64_t most_down = spec->tier[0].down;
    FAB_PASS(fab_direct_init(spec, FAB_WIRING_DRAGONFLY, plan, err));
    if (is_given) {
        s->d = spec->dragonfly;
        s->d.p = most_down != 0 && most_down < s->d.p ? most_down : s->d.p;
        spec->gpus = spec->gpus != 0 ? spec->gpus : fab_ends_behind(spec, s->d.p * s->d.a * s->d.g);
    }
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    if (!is_given) {
        FAB_PASS(balance(spec, plan, &s->d, err));
        s->d.p = most_down != 0 && most_down < s->d.p ? most_down : s->d.p;
    }
    const fab_dragonfly *d = &s->d;
    s->pair = d->g > 1 ? d->a * d->h / (d->g - 1) : 0;
    plan->switches = d->a * d->g;
    plan->pod = d->a;
    plan->tier.down = d->p;
    plan->tier.up = d->trunk * (d->a - 1) + d->h;
    plan->n_boundaries = GLOBAL;
    plan->cables[LOCAL - 1] = d->g * (d->a * (d->a - 1) / 2) * d->trunk;
    plan->cables[GLOBAL - 1] = d->g * (d->g - 1) / 2 * s->pair;
    return fab_direct_check(spec, plan, err);
}

static void wire_group(const fab_dragonfly *d, uint64_t group, const fab_direct_sink *sink) {
    for (uint64_t i = 0; i < d->a; i++) {
        for (uint64_t j = i + 1; j < d->a; j++) {
            for (uint64_t cable = 0; cable < d->trunk; cable++) { /* a switch has no port to itself */
                fab_direct_cable(sink, LOCAL, group * d->a + i, (j - 1) * d->trunk + cable, group * d->a + j,
                                 i * d->trunk + cable);
            }
        }
    }
}

/* The cables of a group to others are numbered by the distance to the other group, and dealt to its switches in turn:
 * the cables of a pair leave from different switches, and switches differ by one cable at most. */
static void wire_pair(const shape *s, uint64_t from, uint64_t to, const fab_direct_sink *sink) {
    const fab_dragonfly *d = &s->d;
    uint64_t base = d->trunk * (d->a - 1);
    uint64_t distance = to - from - 1;   /* 0: the next group */
    uint64_t back = d->g - 2 - distance; /* the same seen from the other side, round the circle */
    for (uint64_t cable = 0; cable < s->pair; cable++) {
        uint64_t there = distance * s->pair + cable;
        uint64_t here = back * s->pair + cable;
        fab_direct_cable(sink, GLOBAL, from * d->a + there % d->a, base + there / d->a, to * d->a + here % d->a,
                         base + here / d->a);
    }
}

static void wire(const void *argument, const fab_direct_sink *sink) {
    const shape *s = argument;
    for (uint64_t group = 0; group < s->d.g; group++) {
        wire_group(&s->d, group, sink);
    }
    for (uint64_t from = 0; from < s->d.g; from++) {
        for (uint64_t to = from + 1; to < s->d.g; to++) {
            wire_pair(s, from, to, sink);
        }
    }
}

static fab_status predict(fab_fabric_spec *spec, fab_counts *out, fab_error *err) {
    fab_direct_plan plan = {0};
    shape s = {0};
    FAB_PASS(plan_dragonfly(spec, &plan, &s, err));
    fab_direct_resolve(&plan, spec);
    fab_direct_count(spec, &plan, out);
    return FAB_OK;
}

static fab_status dragonfly_build(const fab_fabric_spec *spec, fab_fabric **out, fab_error *err) {
    fab_direct_plan plan = {0};
    shape s = {0};
    fab_fabric_spec copy = *spec;
    fab_status status = plan_dragonfly(&copy, &plan, &s, err);
    return status == FAB_OK ? fab_direct_build(&copy, &plan, wire, &s, out, err) : status;
}

static const char *const KEYS[] = {"dragonfly", NULL};

const fab_family fab_family_dragonfly = {"dragonfly",
                                         "groups joined all to all, inside and between (dragonfly=p,a,h[,g[,t]])",
                                         KEYS,
                                         predict,
                                         dragonfly_build,
                                         NULL};
