/* The table of families, and the check that graph and closed form agree. */
#include "fab/design.h"
#include "fab/choices.h"
#include "fab/units.h"
#include "families.h"

/* clang-format off */
const fab_family *const fab_families[] = {
    &fab_family_clos,
    &fab_family_fat_tree,
    &fab_family_rail_spine,
    &fab_family_rail_only,
    &fab_family_dragonfly,
    &fab_family_torus,
    &fab_family_installed,
    NULL,
};
/* clang-format on */

const fab_family *fab_family_find(const char *name) {
    FAB_FIRST(i, SIZE_MAX, fab_families[i] == NULL || strcmp(fab_families[i]->name, name) == 0);
    return fab_families[i];
}

static bool takes_key(const fab_family *family, const char *key) {
    const char *const *own = family->keys;
    FAB_FIRST(i, own != NULL ? SIZE_MAX : 0, own[i] == NULL || strcmp(own[i], key) == 0);
    return own != NULL && own[i] != NULL;
}

/* Keys that only some families know: elsewhere they would be ignored, and the user's intent with them. */
static fab_status check_keys(const fab_fabric_spec *spec, const fab_family *family, fab_error *err) {
    for (const fab_family *const *other = fab_families; *other != NULL; other++) {
        for (const char *const *key = (*other)->keys; key != NULL && *key != NULL; key++) {
            FAB_REFUSE_IF(!takes_key(family, *key) && !fab_design_is_default(spec, *key), err, FAB_EINPUT, NULL,
                          "%s is a key of %s; the family is %s", *key, (*other)->name, spec->family);
        }
    }
    return FAB_OK;
}

static fab_status topologies_find(const fab_fabric_spec *spec, const fab_family **out, fab_error *err) {
    *out = fab_family_find(spec->family);
    if (*out != NULL) {
        FAB_PASS(fab_floor_check(&spec->floor, err));
        return check_keys(spec, *out, err);
    }
    fab_choices near = fab_choices_of(spec->family);
    for (const fab_family *const *family = fab_families; *family != NULL; family++) {
        fab_choices_offer(&near, (*family)->name);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown family '%s'%s", spec->family, fab_choices_list(&near, "one of"));
}

fab_status fab_topology_predict(fab_fabric_spec *spec, fab_counts *out, fab_error *err) {
    const fab_family *family = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_PASS(topologies_find(spec, &family, err));
    if (family->predict != NULL) {
        return family->predict(spec, out, err);
    }
    FAB_PASS(family->build(spec, &fabric, err));
    fab_fabric_count(fabric, out);
    return FAB_OK;
}

static void add_switches(const fab_fabric *f, fab_counts *c) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    for (uint32_t t = 1; t <= f->n_tiers; t++) {
        c->switches_by_tier[t - 1] = f->first_of_tier[t + 1] - f->first_of_tier[t];
        c->switches += c->switches_by_tier[t - 1];
        for (fab_node_id v = f->first_of_tier[t]; v < f->first_of_tier[t + 1]; v++) {
            double down = 0;
            double up = 0;
            c->ports_by_tier[t - 1] += f->switch_radix[v - base];
            FAB_EACH_LINK(f, v, link) {
                double capacity = fab_class_of(f, link)->capacity_bps;
                if (fab_is_up(link)) {
                    up += capacity;
                } else {
                    down += capacity;
                }
            }
            if (t < f->n_tiers && up > 0) {
                c->built_taper[t - 1] = fmax(c->built_taper[t - 1], down / up);
            }
        }
        c->ports += c->ports_by_tier[t - 1];
    }
}

FAB_ORDER_THREE(by_tier_and_length, fab_cable_kind, tier, length_m, rate_bps);

static void add_kind(const fab_link_class *k, uint64_t count, fab_counts *c) {
    FAB_FIRST(i, c->n_kinds,
              c->kinds[i].tier == k->tier && c->kinds[i].rate_bps == k->capacity_bps &&
                  c->kinds[i].length_m == k->length_m);
    if (i == c->n_kinds) {
        c->kinds[c->n_kinds++] = (fab_cable_kind){k->tier, k->capacity_bps, k->length_m, 0};
    }
    c->kinds[i].count += count;
}

/* A pass over the cables for every 256 classes: nobody has more. */
static void topologies_count_cables(const fab_fabric *f, fab_counts *c) {
    for (uint32_t first = 0; first < f->n_classes; first += 256) {
        uint64_t count[256] = {0};
        for (uint32_t cable = 0; cable < f->n_cables; cable++) {
            uint32_t i = (uint32_t)f->cable_class[cable] - first; /* wraps below `first` */
            count[i < 256 ? i : 0] += i < 256;
        }
        for (uint32_t i = first; i < f->n_classes && i < first + 256; i++) {
            if (f->classes[i].tier > 0 && count[i - first] > 0 && c->n_kinds < FAB_MAX_CABLE_KINDS) {
                add_kind(&f->classes[i], count[i - first], c);
                c->cables_by_tier[f->classes[i].tier - 1] += count[i - first];
                c->cables += count[i - first];
            }
        }
    }
    qsort(c->kinds, c->n_kinds, sizeof c->kinds[0], by_tier_and_length);
}

void fab_fabric_count(const fab_fabric *f, fab_counts *out) {
    fab_counts c = {.gpus = fab_n_gpus(f),
                    .servers = f->n_servers,
                    .cut_servers = f->n_cut_servers,
                    .nics = fab_n_of(f, FAB_NODE_NIC),
                    .domains = fab_n_of(f, FAB_NODE_DOMAIN),
                    .rails = f->n_rails,
                    .planes = f->n_planes,
                    .tiers = f->n_tiers,
                    .n_boundaries = f->n_boundaries,
                    .wiring = f->wiring,
                    .pods = f->n_pods};
    add_switches(f, &c);
    topologies_count_cables(f, &c);
    *out = c;
}

static fab_status topologies_compare(const fab_counts *predicted, const fab_counts *built, fab_error *err) {
    const struct {
        const char *name;
        uint64_t a, b;
    } rows[] = {
        {"GPUs", predicted->gpus, built->gpus},       {"servers", predicted->servers, built->servers},
        {"NICs", predicted->nics, built->nics},       {"domains", predicted->domains, built->domains},
        {"tiers", predicted->tiers, built->tiers},    {"boundaries", predicted->n_boundaries, built->n_boundaries},
        {"pods", predicted->pods, built->pods},       {"switches", predicted->switches, built->switches},
        {"cables", predicted->cables, built->cables}, {"ports", predicted->ports, built->ports}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FAB_REFUSE_IF(rows[i].a != rows[i].b, err, FAB_EINTERNAL, NULL,
                      "closed form says %" PRIu64 " %s, the graph has %" PRIu64, rows[i].a, rows[i].name, rows[i].b);
    }
    for (uint32_t t = 0; t < predicted->n_boundaries; t++) {
        FAB_REFUSE_IF(predicted->switches_by_tier[t] != built->switches_by_tier[t] ||
                          predicted->cables_by_tier[t] != built->cables_by_tier[t] ||
                          fabs(predicted->built_taper[t] - built->built_taper[t]) > 1e-9 * predicted->built_taper[t],
                      err, FAB_EINTERNAL, fab_boundary_name(predicted->wiring, t + 1),
                      "closed form says %" PRIu64 " switches, %" PRIu64
                      " cables below, taper %g; the graph has %" PRIu64 ", %" PRIu64 ", %g",
                      predicted->switches_by_tier[t], predicted->cables_by_tier[t], predicted->built_taper[t],
                      built->switches_by_tier[t], built->cables_by_tier[t], built->built_taper[t]);
    }
    FAB_REFUSE_IF(predicted->floor.racks > 0 && predicted->floor.racks != built->floor.racks, err, FAB_EINTERNAL,
                  "floor", "closed form says %" PRIu64 " racks, the floor plan of the graph has %" PRIu64,
                  predicted->floor.racks, built->floor.racks);
    for (size_t i = 0; predicted->knows_lengths && i < predicted->n_kinds; i++) {
        const fab_cable_kind *a = &predicted->kinds[i];
        const fab_cable_kind *b = &built->kinds[i];
        FAB_REFUSE_IF(built->n_kinds != predicted->n_kinds || a->tier != b->tier || a->rate_bps != b->rate_bps ||
                          a->length_m != b->length_m || a->count != b->count,
                      err, FAB_EINTERNAL, fab_boundary_name(predicted->wiring, a->tier),
                      "closed form says %" PRIu64 " cables of %g m, the graph has %" PRIu64 " of %g m", a->count,
                      a->length_m, b->count, b->length_m);
    }
    return FAB_OK;
}

#define BYTES_PER_CABLE  70.0  /* 22 of them stay; the rest orders links and finds the bisection */
#define BYTES_PER_SWITCH 200.0 /* name-free: attributes, and a part in the bisection */

/* At the peak, check, counts and bisection included; an estimate by what was measured per cable. */
static double topology_bytes(const fab_counts *c) {
    double inside = 2.0 * (double)(c->gpus > c->nics ? c->gpus : c->nics); /* to the scale-up switch and the NIC */
    return ((double)c->cables + inside) * BYTES_PER_CABLE + (double)c->switches * BYTES_PER_SWITCH;
}

static fab_status topologies_check_memory(const fab_fabric_spec *spec, const fab_counts *counts, fab_error *err) {
    char what[128];
    FAB_FORMAT(what, "the graph of %s GPUs and %s cables", FAB_SAY_COUNT(counts->gpus), FAB_SAY_COUNT(counts->cables));
    return fab_memory_check(what, topology_bytes(counts), spec->max_bytes, err);
}

fab_status fab_topology_build(fab_fabric_spec *spec, fab_fabric **out, fab_counts *out_counts, fab_error *err) {
    const fab_family *family = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_floor_free_owned) fab_floor *floor = NULL;
    fab_floor_counts on_floor = {0};
    fab_counts predicted = {0};
    fab_counts built = {0};
    FAB_PASS(topologies_find(spec, &family, err));
    FAB_PASS(fab_design_check_host(spec, err));
    if (family->predict != NULL) {
        FAB_PASS(family->predict(spec, &predicted, err));
        FAB_PASS(topologies_check_memory(spec, &predicted, err));
    }
    FAB_PASS(family->build(spec, &fabric, err));
    fabric->host = fab_design_host(spec);
    fabric->reduces_in_switches = spec->reduction == FAB_REDUCTION_IN_SWITCH;
    if (spec->floor.given) {
        FAB_PASS(fab_floor_make(spec, fabric, &floor, err));
        FAB_PASS(spec->floor.lengths != FAB_LENGTHS_OF_TIER ? fab_floor_apply(spec, floor, fabric, err) : FAB_OK);
        FAB_PASS(fab_floor_count(spec, floor, fabric, &on_floor, err));
    }
    fab_fabric_count(fabric, &built);
    built.floor = on_floor;
    built.knows_lengths = spec->floor.given;
    FAB_PASS(family->predict != NULL ? topologies_compare(&predicted, &built, err) : FAB_OK);
    if (out_counts != NULL) {
        *out_counts = built;
    }
    return FAB_GIVE(*out, fabric);
}
