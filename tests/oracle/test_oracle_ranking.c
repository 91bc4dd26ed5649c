/* Rankings of components by their impact against the definitions. */
#include "drawn_study.h"

/* Numbers in names by their value: another way to say it, by padding them. */
static void pad(const char *name, char *out) {
    size_t n = 0;
    for (const char *c = name; *c != '\0' && n < 900;) {
        char *end = NULL;
        if (*c >= '0' && *c <= '9') {
            n += (size_t)sprintf(out + n, "%012llu", strtoull(c, &end, 10));
            c = end;
        } else {
            out[n++] = *c++;
        }
    }
    out[n] = '\0';
}

static bool comes_before(const fab_critical *a, const fab_critical *b) {
    char x[1024];
    char y[1024];
    pad(a->name, x);
    pad(b->name, y);
    return a->impact > b->impact || (a->impact == b->impact && strcmp(x, y) < 0);
}

/* Whether a ranking may name it: of single losses all, of sets what is clear; of histories see clear_of_history(). */
static bool may_be_named(const fab_study_summary *summary, const oracle_component *c) {
    return summary->is_single ? c->n_scenarios > 0 : c->is_clear;
}

/* Every component that there is, asked for. */
static void check_ranking(size_t which, const oracle_study *s, const fab_study_summary *summary,
                          const fab_ranking *ranking, bool links, const char *const *names, size_t n_names) {
    const fab_critical *list = ranking->list;
    size_t n = ranking->n;
    size_t top = CASES[which].top;
    size_t n_known = 0;
    uint64_t n_tied = 0;
    size_t n_behind = 0;
    for (size_t i = 0; i < n; i++) {
        oracle_component c = oracle_component_of(s, list[i].name, summary->n_components);
        EXPECT_CLOSE(list[i].impact, c.impact);
        EXPECT_CLOSE(list[i].mean_slowdown, c.mean_slowdown);
        EXPECT_CLOSE(list[i].worst_ratio, c.worst_ratio);
        cr_expect_eq(list[i].n_scenarios, c.n_scenarios);
        cr_expect_eq(list[i].n_stopped, c.n_stopped);
        cr_expect_eq(list[i].n_alone, c.n_alone);
        cr_expect(summary->span_s > 0 || may_be_named(summary, &c), "case %zu: %s is not clear", which, list[i].name);
        cr_expect(i == 0 || comes_before(&list[i - 1], &list[i]), "case %zu: %s, %s", which, list[i - 1].name,
                  list[i].name);
    }
    for (size_t i = 0; i < n_names && summary->span_s <= 0; i++) {
        bool counts = !links || strchr(names[i], ':') != NULL;
        oracle_component c =
            counts ? oracle_component_of(s, names[i], summary->n_components) : (oracle_component){.n_scenarios = 0};
        bool is_listed = false;
        bool may = counts && may_be_named(summary, &c);
        n_known += may;
        if (n > 0 && may) {
            n_tied += are_close(c.impact, list[n - 1].impact);
            n_behind += c.impact < list[n - 1].impact - 1e-12;
        }
        for (size_t j = 0; j < n; j++) {
            is_listed = is_listed || strcmp(list[j].name, names[i]) == 0;
        }
        cr_expect(is_listed || !may || (n == top && c.impact <= list[n - 1].impact + 1e-12), "case %zu: %s is missing",
                  which, names[i]);
    }
    if (summary->span_s > 0) {
        return;
    }
    cr_expect_eq(n, n_known < top ? n_known : top, "case %zu: %zu of %zu", which, n, n_known);
    for (size_t i = 0; i < n; i++) {
        n_tied -= are_close(list[i].impact, list[n - 1].impact); /* left out, in the end */
    }
    cr_expect_eq(ranking->n_tied > 0, n_tied > 0, "case %zu", which);
    cr_expect_eq(ranking->n_next, n_tied == 0 ? 0 : n_behind < top ? n_behind : top, "case %zu", which);
    for (size_t i = 0; i < ranking->n_next; i++) {
        EXPECT_CLOSE(ranking->next[i].impact,
                     oracle_component_of(s, ranking->next[i].name, summary->n_components).impact);
        cr_expect(comes_before(i == 0 ? &list[n - 1] : &ranking->next[i - 1], &ranking->next[i]));
    }
}

static size_t all_names(const study *d, char names[][FAB_COMPONENT_NAME_SIZE], const char **list) {
    size_t n = 0;
    for (int kind = 0; kind < FAB_COMPONENT_N_KINDS; kind++) {
        uint32_t most = kind <= FAB_COMPONENT_PORT ? d->fabric->n_links
                                                   : fab_component_count(d->fabric, NULL, (fab_component_kind)kind);
        for (uint32_t id = 0; id < most; id += kind == FAB_COMPONENT_LINK ? 2 : 1) {
            fab_component c = {.kind = (fab_component_kind)kind, .id = id};
            if (fab_component_check(d->fabric, NULL, &c, NULL) == FAB_OK) {
                list[n] = fab_component_name(d->fabric, &c, names[n]);
                n++;
            }
        }
    }
    list[n] = strcpy(names[n], "leaf-3*0.5"); /* of the file */
    return n + 1;
}

/* As pictures show it: 0 where it is not clear, NAN where nothing is known. */
static double impact_of(const oracle_study *s, const fab_study_summary *summary, fab_component_kind kind, uint32_t id) {
    char name[FAB_COMPONENT_NAME_SIZE];
    fab_component c = {.kind = kind, .id = id};
    oracle_component o = oracle_component_of(s, fab_component_name(s->fabric, &c, name), summary->n_components);
    return isnan(o.impact) || may_be_named(summary, &o) ? o.impact : 0;
}

/* "leaf-0:5 > spine-0:1" is of the "leaf-spine links", "leaf-2" of the "leaf switches"; ports by the link they are on.
 */
static bool is_of_class(const fab_fabric *f, const char *name, const char *class) {
    static const char *const STARTS[][2] = {{"nic-", "NICs"}, {"gpu-", "GPUs"}, {"server-", "servers"}};
    char should[96] = "";
    fab_component c;
    cr_assert_eq(fab_component_parse(f, NULL, name, &c, NULL), FAB_OK, "%s", name);
    if (c.kind == FAB_COMPONENT_LINK || c.kind == FAB_COMPONENT_PORT) {
        char link[80];
        (void)fab_link_name(f, c.id & ~1U, link);
        int n = (int)strcspn(link, "-");
        const char *head = strchr(link, '>') + 2;
        (void)snprintf(should, sizeof should, "%.*s-%.*s %s", n, link, (int)strcspn(head, "-"), head,
                       c.kind == FAB_COMPONENT_LINK ? "links" : "ports");
    } else if (c.kind == FAB_COMPONENT_SWITCH) {
        (void)snprintf(should, sizeof should, "%.*s switches", (int)strcspn(name, "-"), name);
    }
    for (size_t i = 0; i < sizeof STARTS / sizeof STARTS[0]; i++) {
        if (c.kind > FAB_COMPONENT_PORT && strncmp(name, STARTS[i][0], strlen(STARTS[i][0])) == 0) {
            (void)snprintf(should, sizeof should, "%s", STARTS[i][1]);
        }
    }
    (void)snprintf(should + strlen(should), sizeof should - strlen(should), "%s", c.fraction > 0 ? ", degraded" : "");
    return strcmp(should, class) == 0;
}

static bool has_part(const oracle_study *one, const char *name) {
    oracle_study bare = *one;
    bare.ceiling = NULL;
    return oracle_component_of(&bare, name, 1).n_scenarios > 0;
}

/* Parts of the fabric of a class, by their names alone. */
static uint64_t count_parts(const fab_fabric *f, const char *class) {
    static const fab_component_kind KINDS[] = {FAB_COMPONENT_LINK, FAB_COMPONENT_PORT, FAB_COMPONENT_SWITCH,
                                               FAB_COMPONENT_NIC,  FAB_COMPONENT_GPU,  FAB_COMPONENT_SERVER};
    char healthy[64];
    char name[FAB_COMPONENT_NAME_SIZE];
    uint64_t n = 0;
    (void)snprintf(healthy, sizeof healthy, "%.*s", (int)strcspn(class, ","), class);
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        const bool is_cable = KINDS[k] <= FAB_COMPONENT_PORT;
        uint32_t end = is_cable ? f->n_links : fab_component_count(f, NULL, KINDS[k]);
        for (uint32_t id = 0; id < end; id += KINDS[k] == FAB_COMPONENT_LINK ? 2 : 1) {
            const fab_component c = {.kind = KINDS[k], .id = id};
            n += fab_component_check(f, NULL, &c, NULL) == FAB_OK &&
                 is_of_class(f, fab_component_name(f, &c, name), healthy);
        }
    }
    return n;
}

/* Scenarios in which some component of the class of `worst` fails; all components of a class are called alike. */
static void check_class(size_t which, const oracle_study *s, const fab_critical_class *k, const char *const *names,
                        size_t n_names) {
    uint64_t n_scenarios = 0;
    uint64_t n_stopped = 0;
    double impact = 0;
    for (size_t i = 0; i < s->n; i++) {
        oracle_study one = {s->fabric, s->scenarios, s->healthy, &s->rows[i], 1, s->has_times, &s->drawn[i], NULL};
        bool is_in = false;
        for (size_t j = 0; j < n_names && !is_in; j++) {
            is_in = is_of_class(s->fabric, names[j], k->name) && has_part(&one, names[j]);
        }
        n_scenarios += is_in;
        n_stopped += is_in && s->rows[i].state == FAB_OUTCOME_STOPPED;
        impact += is_in ? oracle_impact(s, &s->rows[i]) : 0;
    }
    cr_expect_eq(k->n_parts, count_parts(s->fabric, k->name), "case %zu: %s", which, k->name);
    cr_expect_eq(k->n_scenarios, n_scenarios, "case %zu: %s", which, k->name);
    cr_expect_eq(k->n_stopped, n_stopped, "case %zu: %s", which, k->name);
    EXPECT_CLOSE(k->scenario_impact, impact / (double)n_scenarios);
}

static void check_components(size_t which, const oracle_study *s, const fab_study_summary *summary,
                             const fab_study_variant *is, const char *const *names, size_t n_names) {
    uint64_t n_components = 0;
    check_ranking(which, s, summary, &is->critical, false, names, n_names);
    check_ranking(which, s, summary, &is->links, true, names, n_names);
    for (size_t k = 0; k < is->n_classes; k++) {
        const fab_critical_class *class = &is->classes[k];
        n_components += class->n_components;
        check_class(which, s, class, names, n_names);
        cr_expect_eq(class->worst[0] == '\0', isnan(class->worst_impact));
        if (class->worst[0] != '\0') {
            EXPECT_CLOSE(class->worst_impact, oracle_component_of(s, class->worst, summary->n_components).impact);
        }
    }
    cr_expect_eq(n_components, summary->n_components);
    for (uint32_t c = 0; c < s->fabric->n_cables && summary->span_s <= 0; c++) {
        double ends = fmax(impact_of(s, summary, FAB_COMPONENT_PORT, 2 * c),
                           impact_of(s, summary, FAB_COMPONENT_PORT, 2 * c + 1));
        EXPECT_CLOSE(is->cable_impact[c], fmax(impact_of(s, summary, FAB_COMPONENT_LINK, 2 * c), ends));
    }
    for (uint32_t i = 0; i < fab_n_switches(s->fabric) && summary->span_s <= 0; i++) {
        EXPECT_CLOSE(is->node_impact[s->fabric->first[FAB_NODE_SWITCH] + i],
                     impact_of(s, summary, FAB_COMPONENT_SWITCH, i));
    }
}

Test(oracle_ranking, components_are_ranked_by_impact) {
    static char names[2000][FAB_COMPONENT_NAME_SIZE];
    static const char *list[2000];
    for (size_t which = 0; which < N_CASES; which++) {
        fab_outcome rows[MOST];
        study d = draw_study(which);
        uint32_t last = (uint32_t)d.n_variants - 1;
        oracle_study s = view(&d, last, rows);
        size_t n_names = all_names(&d, names, list);
        cr_assert_lt(n_names, 2000);
        check_components(which, &s, d.summary, &d.summary->variants[last], list, n_names);
        drop(&d);
    }
}
