/* Link classes by length. A cable's class becomes (old class, standard length), numbered in that order. */
#include "families.h"

#define MAX_LENGTHS 64 /* more than there are standard lengths */

/* Whose length is that of the way between two racks. */
static bool cables_is_placed(const fab_fabric_spec *spec, const fab_link_class *k) {
    return fab_is_network(k) && fab_floor_decides(spec, k->tier);
}

/* Lengths in the order in which they are met; few, so that a search by hand is quicker than anything else. */
typedef struct lengths {
    double length_m[MAX_LENGTHS];
    uint32_t n;
} lengths;

static uint32_t cables_index_of(lengths *l, double length_m) {
    FAB_FIRST(i, l->n, l->length_m[i] == length_m);
    if (i == l->n && i < MAX_LENGTHS) {
        l->length_m[l->n++] = length_m;
    }
    return i;
}

static fab_status find_lengths(const fab_fabric_spec *spec, const fab_floor *floor, fab_fabric *f, lengths *l,
                               fab_error *err) {
    for (uint32_t cable = 0; cable < f->n_cables; cable++) {
        const fab_link_class *k = &f->classes[f->cable_class[cable]];
        uint32_t i = 0;
        if (cables_is_placed(spec, k)) {
            const fab_rack *a = &floor->rack[fab_floor_rack_of(floor, f, f->end[2 * (size_t)cable])];
            const fab_rack *b = &floor->rack[fab_floor_rack_of(floor, f, f->end[2 * (size_t)cable + 1])];
            double length_m = fab_floor_cable_m(&spec->floor, a, b);
            i = cables_index_of(l, length_m);
            if (length_m <= 0 || i == MAX_LENGTHS) {
                return fab_fail(err, FAB_EINPUT, FAB_SAY_LINK(f, 2 * cable),
                                "a cable of %.0f m is longer than any that is made",
                                fab_floor_distance_m(&spec->floor, a, b));
            }
        }
        f->cable_class[cable] = (uint16_t)(f->cable_class[cable] * MAX_LENGTHS + i); /* until renumbered */
    }
    return FAB_OK;
}

/* Device latency: what the class has beyond its length, without the last bits of the subtraction. */
static fab_link_class at_length(const fab_link_class *k, double length_m) {
    fab_link_class out = *k;
    double device_s = round((k->latency_s - k->length_m * FAB_FIBRE_S_PER_M) * 1e15) / 1e15;
    out.length_m = length_m;
    out.latency_s = device_s + length_m * FAB_FIBRE_S_PER_M;
    return out;
}

/* The classes in use, by old class and length; `number` gives their new numbers. */
static fab_status make_classes(const fab_fabric_spec *spec, const fab_fabric *f, const lengths *l, const bool *used,
                               fab_link_class **out, uint16_t *number, uint16_t *out_n, fab_error *err) {
    FAB_OWNED fab_link_class *classes = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    uint32_t n_network = 0;
    for (uint32_t k = 0; k < f->n_classes; k++) {
        bool placed = cables_is_placed(spec, &f->classes[k]);
        double last_m = -1;
        for (;;) {
            uint32_t next = MAX_LENGTHS; /* the shortest that is longer than the last */
            for (uint32_t i = 0; i < (placed ? l->n : 1); i++) {
                double length_m = placed ? l->length_m[i] : 0;
                if (used[k * MAX_LENGTHS + i] && length_m > last_m &&
                    (next == MAX_LENGTHS || length_m < l->length_m[next])) {
                    next = i;
                }
            }
            if (next == MAX_LENGTHS) {
                break;
            }
            last_m = placed ? l->length_m[next] : 0;
            FAB_PASS(FAB_GROW(classes, capacity, (size_t)n + 1, err));
            classes[n] = placed ? at_length(&f->classes[k], last_m) : f->classes[k];
            number[k * MAX_LENGTHS + next] = (uint16_t)n++;
            n_network += fab_is_network(&f->classes[k]);
        }
    }
    FAB_REFUSE_IF(n_network > FAB_MAX_CABLE_KINDS, err, FAB_EINPUT, "floor",
                  "%" PRIu32 " kinds of cable by tier, rate and length; the limit is %d", n_network,
                  FAB_MAX_CABLE_KINDS);
    *out_n = (uint16_t)n;
    return FAB_GIVE(*out, classes);
}

fab_status fab_floor_apply(const fab_fabric_spec *spec, const fab_floor *floor, fab_fabric *f, fab_error *err) {
    lengths l = {.n = 0};
    fab_link_class *classes = NULL;
    uint16_t n_classes = 0;
    size_t n = (size_t)f->n_classes * MAX_LENGTHS;
    FAB_REFUSE_IF(n > UINT16_MAX, err, FAB_EINPUT, "floor", "%u kinds of links before their lengths; the limit is %d",
                  f->n_classes, UINT16_MAX / MAX_LENGTHS);
    FAB_OWNED_NEW(bool, used, n, err);
    FAB_OWNED_NEW(uint16_t, number, n, err);
    FAB_PASS(find_lengths(spec, floor, f, &l, err));
    for (uint32_t cable = 0; cable < f->n_cables; cable++) {
        used[f->cable_class[cable]] = true;
    }
    FAB_PASS(make_classes(spec, f, &l, used, &classes, number, &n_classes, err));
    FAB_FILL(f->cable_class, f->n_cables, number[f->cable_class[fab_at]]);
    free(f->classes);
    f->classes = classes;
    f->n_classes = n_classes;
    return FAB_OK;
}

/* --- for the report ----------------------------------------------------------------------------------------------- */

static void add_class(const fab_link_class *k, uint64_t count, fab_floor_counts *out) {
    fab_boundary_lengths *b = &out->boundary[k->tier - 1];
    double sum = (double)count;
    b->min_m = b->cables == 0 ? k->length_m : fmin(b->min_m, k->length_m);
    b->max_m = fmax(b->max_m, k->length_m);
    b->cables += count;
    b->mean_m += sum * k->length_m; /* sums, until divided */
    b->mean_latency_s += sum * k->latency_s;
    out->cable_m += sum * k->length_m;
}

fab_status fab_floor_count(const fab_fabric_spec *spec, const fab_floor *floor, const fab_fabric *f,
                           fab_floor_counts *out, fab_error *err) {
    const fab_floor_spec *s = &spec->floor;
    uint64_t *count = NULL;
    FAB_PASS(FAB_NEW(count, f->n_classes, err));
    fab_floor_counts c = {.given = true,
                          .halls = floor->n_halls,
                          .rows = floor->n_rows,
                          .server_racks = floor->n_server_racks,
                          .network_racks = floor->n_network_racks,
                          .servers_per_rack = floor->servers_per_rack,
                          .server_w = s->server_w};
    c.racks = c.server_racks + c.network_racks;
    for (uint32_t cable = 0; cable < f->n_cables; cable++) {
        count[f->cable_class[cable]]++;
    }
    for (uint32_t i = 0; i < f->n_classes; i++) {
        if (count[i] > 0 && fab_is_network(&f->classes[i]) && f->classes[i].tier <= FAB_MAX_TIERS) {
            add_class(&f->classes[i], count[i], &c);
        }
    }
    FAB_EACH(fab_boundary_lengths, b, c.boundary, FAB_MAX_TIERS) {
        b->mean_m = b->cables > 0 ? b->mean_m / (double)b->cables : 0;
        b->mean_latency_s = b->cables > 0 ? b->mean_latency_s / (double)b->cables : 0;
    }
    free(count);
    *out = c;
    return FAB_OK;
}
