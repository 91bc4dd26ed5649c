/* Sources of failure scenarios, and sets of components by their number. */
#include "scenarios_internal.h"

#include "fab/choices.h"
#include "fab/gcd.h"
#include "fab/rng.h"
#include "fab/units.h"

static const struct {
    const char *name;
    fab_component_kind kind;
    unsigned links; /* which: bits 1 << fab_link_kind */
} CLASSES[] = {{"links", FAB_COMPONENT_LINK, 1U << FAB_LINK_ACCESS | 1U << FAB_LINK_FABRIC},
               {"access-links", FAB_COMPONENT_LINK, 1U << FAB_LINK_ACCESS},
               {"fabric-links", FAB_COMPONENT_LINK, 1U << FAB_LINK_FABRIC},
               {"switches", FAB_COMPONENT_SWITCH, 0},
               {"nics", FAB_COMPONENT_NIC, 0},
               {"gpus", FAB_COMPONENT_GPU, 0},
               {"servers", FAB_COMPONENT_SERVER, 0},
               {"racks", FAB_COMPONENT_RACK, 0},
               {"planes", FAB_COMPONENT_PLANE, 0}};

const fab_scenario_source fab_scenario_sources[] = {
    {"CLASS:K", "every set of K links, access-links, fabric-links, switches, nics, gpus, servers, racks or planes"},
    {"CLASS:K@classes", "the same with K = 1 or 2, where one of each class of equal sets is looked at (ADR 85)"},
    {"CLASS:K@N", "N sets of K, drawn"},
    {"power:rack", "each rack loses power, with its servers and switches (needs a floor plan)"},
    {"cooling:row, cooling:hall", "all racks of a row, or of a hall, go down together (needs a floor plan)"},
    {"cooling:pod", "all servers and switches of a pod go down together"},
    {"line-card:PORTS", "PORTS neighbouring ports of a switch lose their cables: 1 to PORTS, and so on"},
    {"bundle:racks, bundle:switches", "all cables between two racks (needs a floor plan), or between two switches"},
    {"update:TIER, update:TIER,K",
     "the switches of a tier (leaf, spine, ...) are taken down K at a time, else 1, 2, 4, ... and all; the report says "
     "which way loses least"},
    {"time:T@N", "N histories of a time T with failures and repairs of every class (keys failures.*)"},
    {"file:PATH", "a list: CSV with scenario,component[,left] or XML"},
    {NULL, NULL}};

#define N_CLASSES FAB_N_OF(CLASSES)

FAB_RELEASES(fab_scenario_release, fab_scenario, component, event);

FAB_FREES_WHOLE(fab_scenarios_free, fab_scenarios, link, set, n_equal, equal, way, way_of, name, first, component);

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* n over k, UINT64_MAX where it is too large. What has come together by step i is a whole number: what i does not share
 * with it, it shares with the next factor. */
uint64_t scenario_n_sets(uint64_t n, uint64_t k) {
    uint64_t value = 1;
    if (k > n) {
        return 0;
    }
    k = k < n - k ? k : n - k;
    for (uint64_t i = 1; i <= k; i++) {
        uint64_t shared = fab_gcd(value, i);
        uint64_t factor = (n - k + i) / (i / shared);
        value /= shared;
        if (value > UINT64_MAX / factor) {
            return UINT64_MAX;
        }
        value *= factor;
    }
    return value;
}

/* Set number `rank` in lexicographic order, by the combinatorial number system: counted from the last set back, the
 * first element is the largest m with m over k not above what is left, mirrored. */
static void unrank(uint32_t n, uint32_t k, uint64_t rank, uint32_t *out) {
    uint64_t left = scenario_n_sets(n, k) - 1 - rank;
    uint32_t high = n;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t low = 0; /* low over k - i is not above what is left, high over k - i is, or is taken */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (scenario_n_sets(middle, k - i) <= left) {
                low = middle;
            } else {
                high = middle;
            }
        }
        left -= scenario_n_sets(low, k - i);
        out[i] = n - 1 - low;
        high = low;
    }
}

/* k different ones of n, all sets alike (Floyd, in Bentley, Programming Pearls, 1987). */
static void draw_set(fab_rng *rng, uint32_t n, uint32_t k, uint32_t *out) {
    for (uint32_t i = 0; i < k; i++) {
        uint32_t last = n - k + i;
        uint32_t drawn = (uint32_t)fab_rng_below(rng, (uint64_t)last + 1);
        FAB_ANY(known, j, i, out[j] == drawn);
        out[i] = known ? last : drawn;
    }
    qsort(out, k, sizeof *out, fab_order_u32);
}

fab_component scenario_component(const fab_scenarios *s, fab_component_kind kind, uint32_t j) {
    return (fab_component){.kind = kind, .id = kind == FAB_COMPONENT_LINK ? s->link[j] : j};
}

static fab_status get_set(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) {
    uint32_t member[FAB_SCENARIO_COMPONENTS];
    FAB_PASS(FAB_GROW(out->component, out->component_capacity, s->k, err));
    if (s->source != SOURCE_DRAWN) {
        unrank(s->n, s->k, s->source == SOURCE_CLASSES ? s->set[i] : i, member);
    } else {
        fab_rng rng = fab_rng_make(s->seed, i);
        draw_set(&rng, s->n, s->k, member);
    }
    FAB_FILL(out->component, s->k, scenario_component(s, s->kind, member[fab_at]));
    out->n_components = s->k;
    return FAB_OK;
}

static fab_status get_listed(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) {
    size_t n = s->first[i + 1] - s->first[i];
    FAB_PASS(FAB_GROW(out->component, out->component_capacity, n + 1, err));
    for (size_t k = 0; k < n; k++) { /* a list in which nothing ever fails has no array */
        out->component[k] = s->component[s->first[i] + k];
    }
    memcpy(out->name, s->name[i], sizeof out->name);
    out->n_components = n;
    return FAB_OK;
}

fab_status fab_scenarios_get(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) {
    FAB_REFUSE_IF(i >= s->count, err, FAB_EINPUT, NULL, "there is no scenario %" PRIu64 "; there are %" PRIu64, i,
                  s->count);
    out->name[0] = '\0';
    out->n_components = 0;
    out->n_events = 0;
    switch (s->source) {
    case SOURCE_HISTORIES: return scenario_history(s, i, out, err);
    case SOURCE_LIST: return get_listed(s, i, out, err);
    default: return get_set(s, i, out, err);
    }
}

uint64_t fab_scenarios_count(const fab_scenarios *s) {
    return s->count;
}

double fab_scenarios_span_s(const fab_scenarios *s) {
    return s->source == SOURCE_HISTORIES ? s->span_s : 0;
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* Of all links those of the kinds: bits 1 << fab_link_kind. */
static void keep_links(fab_scenarios *s, unsigned kinds) {
    uint32_t kept = 0;
    FAB_KEEP(s->link, kept, i, s->n_links, (kinds >> fab_class_of(s->fabric, s->link[i])->kind & 1) != 0, s->link[i]);
    s->n_links = kept;
}

static fab_status find_class(const char *text, size_t n, fab_scenarios *s, fab_error *err) {
    char word[48];
    FAB_FORMAT(word, "%.*s", (int)(n < 40 ? n : 40), text);
    fab_choices near = fab_choices_of(word);
    for (size_t i = 0; i < N_CLASSES; i++) {
        fab_choices_offer(&near, CLASSES[i].name);
        if (strlen(CLASSES[i].name) == n && memcmp(CLASSES[i].name, text, n) == 0) {
            s->kind = CLASSES[i].kind;
            if (s->kind == FAB_COMPONENT_LINK) {
                keep_links(s, CLASSES[i].links);
            }
            s->n = s->kind == FAB_COMPONENT_LINK ? s->n_links : fab_component_count(s->fabric, &s->racks, s->kind);
            return FAB_OK;
        }
    }
    return fab_fail(
        err, FAB_EINPUT, "--scenarios",
        "'%s' is no source of scenarios%s as CLASS:K, CLASS:K@classes or CLASS:K@N with links, "
        "access-links, fabric-links, "
        "switches, nics, gpus, servers, racks or planes, time:30d@N, power:rack, cooling:row, line-card:16, "
        "bundle:switches, update:spine, file:PATH",
        word, near.best[0] != '\0' ? fab_choices_hint(&near) : ":");
}

/* "@N" or "@classes" behind K or T: cut off, N or 0 stored. */
static fab_status scenarios_read_count(char *text, uint64_t *out, bool *out_given, fab_error *err) {
    fab_error inner = {0};
    char *at = strchr(text, '@');
    *out_given = at != NULL;
    if (at == NULL) {
        return FAB_OK;
    }
    *at = '\0';
    if (strcmp(at + 1, "classes") == 0) {
        *out = 0; /* until they are found */
        return FAB_OK;
    }
    return fab_count_parse(at + 1, 1, FAB_SCENARIOS_MOST, out, &inner) == FAB_OK
               ? FAB_OK
               : fab_fail(err, FAB_EINPUT, "--scenarios", "number of scenarios behind '@': %s", inner.text);
}

static fab_status read_sets(const char *class, size_t n_class, char *rest, fab_scenarios *s, fab_error *err) {
    fab_error inner = {0};
    uint64_t k = 0;
    bool drawn = false;
    FAB_PASS(find_class(class, n_class, s, err));
    FAB_PASS(scenarios_read_count(rest, &s->count, &drawn, err));
    uint64_t most = s->n < FAB_SCENARIO_COMPONENTS ? s->n : FAB_SCENARIO_COMPONENTS;
    FAB_REFUSE_IF(s->n == 0, err, FAB_EINPUT, "--scenarios", "the fabric has no %.*s%s", (int)n_class, class,
                  s->kind == FAB_COMPONENT_RACK ? ": " FAB_NO_FLOOR : "");
    FAB_REFUSE_IF(rest[0] == '\0', err, FAB_EINPUT, "--scenarios",
                  "'%.*s' does not say how many fail at once; as %.*s:1", (int)n_class, class, (int)n_class, class);
    FAB_REFUSE_IF(fab_count_parse(rest, 1, most, &k, &inner) != FAB_OK, err, FAB_EINPUT, "--scenarios",
                  "how many of %" PRIu32 " %.*s fail: %s", s->n, (int)n_class, class, inner.text);
    s->k = (uint32_t)k;
    s->source = !drawn ? SOURCE_SETS : s->count > 0 ? SOURCE_DRAWN : SOURCE_CLASSES;
    FAB_REFUSE_IF(s->source == SOURCE_CLASSES && k > 2, err, FAB_EINPUT, "--scenarios",
                  "classes are found of sets of 1 and of 2; %.*s:%" PRIu64 "@N draws N sets", (int)n_class, class, k);
    if (!drawn) {
        s->count = scenario_n_sets(s->n, s->k);
        FAB_REFUSE_IF(s->count > FAB_SCENARIOS_MOST, err, FAB_EINPUT, "--scenarios",
                      "%s%" PRIu64 " sets of %" PRIu64 " of %" PRIu32 " %.*s, the limit is %" PRIu64 "; %.*s:%" PRIu64
                      "@N draws N of them",
                      s->count == UINT64_MAX ? "more than " : "", s->count, k, s->n, (int)n_class, class,
                      FAB_SCENARIOS_MOST, (int)n_class, class, k);
    }
    return FAB_OK;
}

static fab_status read_histories(char *rest, fab_scenarios *s, fab_error *err) {
    fab_error inner = {0};
    bool given = false;
    double expected = 0;
    FAB_PASS(scenarios_read_count(rest, &s->count, &given, err));
    FAB_REFUSE_IF(!given || s->count == 0, err, FAB_EINPUT, "--scenarios",
                  "time:%.20s does not say how many histories; as time:30d@1000", rest);
    FAB_REFUSE_IF(fab_quantity_parse(rest, FAB_UNIT_TIME, &s->span_s, &inner) != FAB_OK, err, FAB_EINPUT, "--scenarios",
                  "time of a history: %s", inner.text);
    for (uint32_t c = 0; c < FAB_FAILURE_N; c++) {
        FAB_REFUSE_IF(!(s->rates.per_s[c] >= 0 && s->rates.repair_s[c] >= 0 && s->rates.per_s[c] < 1e9), err,
                      FAB_EINPUT, "--scenarios", "%s fail %g times a second for %g s; both are at least 0",
                      fab_failure_classes[c], s->rates.per_s[c], s->rates.repair_s[c]);
        expected += s->rates.per_s[c] * s->span_s * s->fabric->n_nodes;
    }
    FAB_REFUSE_IF(!(s->span_s > 0) || expected > 1e7, err, FAB_EINPUT, "--scenarios",
                  "a history of %g s would have up to %.3g failures; the limit is 1e7", s->span_s, expected);
    s->source = SOURCE_HISTORIES;
    return FAB_OK;
}

static fab_status scenarios_find_links(fab_scenarios *s, fab_error *err) {
    const fab_fabric *f = s->fabric;
    FAB_PASS(FAB_NEW(s->link, f->n_cables, err));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        fab_link_kind kind = f->classes[f->cable_class[c]].kind;
        if (kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC) {
            s->link[s->n_links++] = 2 * c;
        }
    }
    return FAB_OK;
}

fab_status fab_scenarios_new(const char *text, const fab_fabric *fabric, const fab_floor *floor,
                             const fab_failure_rates *rates, uint64_t seed, fab_scenarios **out, fab_error *err) {
    char rest[96] = "";
    const char *colon = strchr(text, ':');
    size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
    FAB_OWNS_NEW(fab_scenarios_free_owned, fab_scenarios, s, 1, err);
    s->fabric = fabric;
    s->seed = seed;
    s->rates = rates != NULL ? *rates : fab_failure_rates_default();
    s->racks = fab_floor_racks(floor);
    FAB_PASS(scenarios_find_links(s, err));
    if (n == 4 && colon != NULL && strncmp(text, "file", 4) == 0) {
        FAB_PASS(scenario_read_file(colon + 1, s, err));
    } else if (scenario_is_event(text, n)) {
        FAB_PASS(scenario_make_events(text, n, floor, s, err));
    } else {
        int length = snprintf(rest, sizeof rest, "%s", colon != NULL ? colon + 1 : "");
        FAB_REFUSE_IF(length < 0 || (size_t)length >= sizeof rest, err, FAB_EINPUT, "--scenarios",
                      "'%.40s...' is too long", text);
        FAB_PASS(n == 4 && strncmp(text, "time", 4) == 0 ? read_histories(rest, s, err)
                                                         : read_sets(text, n, rest, s, err));
    }
    return FAB_GIVE(*out, s);
}
