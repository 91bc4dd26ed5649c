/* Cables between cells (Dragonfly+) and groups (dragonfly). Cells are blocks of the boundary below, groups are found
 * from who is joined to whom. Where nearly every switch has as many cables to each cell as a rule says, one that has
 * one less to a cell and one more to another has a cable that is crossed. The rule of cells is one number; that of
 * groups is learned: what the r-th switch of a group has to the group d places behind its own, or to the d-th of the
 * others. */
#include "audit_internal.h"

#define NONE    FAB_NETWORK_NONE
#define LEARNED 0.85 /* part of the cables to cells that a learned rule tells */

/* A switch that has one cable less to a cell than it should, and one more to another. */
typedef struct crossing {
    uint32_t node, lacks, has; /* cells */
    bool is_told;
} crossing;

typedef struct cells {
    auditor *a;
    uint32_t tier;
    const uint32_t *of; /* [n_nodes] */
    uint32_t n_cells;
    uint16_t *count;        /* [cell]: cables of the switch that is looked at */
    uint32_t *place;        /* [n_nodes]: of a switch of the tier in its cell, by name */
    uint32_t *size, *first; /* [cell]: its switches, and one of them */
    crossing *list;
    uint32_t n, usual; /* usual: of every pair; 0: the rule is learned */
    uint32_t most;     /* switches of a cell, as nearly all have */
    bool by_distance;  /* cells count from the own one; else from the first, without the own one */
    uint16_t *rule;    /* [place][number of a cell] */
    double confidence;
} cells;
FAB_FREES(cells_release, cells, count, place, size, first, list, rule);

static uint32_t switch_at(const cells *s, uint32_t i) {
    return s->a->in_tier[s->a->tier_first[s->tier] + i];
}

static uint32_t n_switches(const cells *s) {
    return s->a->tier_first[s->tier + 1] - s->a->tier_first[s->tier];
}

static bool is_member(const cells *s, uint32_t v) {
    return fab_audit_is_switch(s->a, v) && s->a->shape->tier[v] == s->tier && s->of[v] != NONE;
}

static fab_status list_cells(cells *s, fab_error *err) {
    FAB_PASS(FAB_NEW_ALL(s->n_cells, err, s->count, s->size, s->first));
    FAB_PASS(FAB_NEW(s->place, s->a->net->n_nodes, err));
    for (uint32_t i = 0; i < n_switches(s); i++) {
        uint32_t v = switch_at(s, i);
        if (s->of[v] != NONE) {
            s->first[s->of[v]] = s->size[s->of[v]] == 0 ? v : s->first[s->of[v]];
            s->place[v] = s->size[s->of[v]]++;
        }
    }
    return FAB_OK;
}

/* Cables of a switch to each cell. */
static const uint16_t *count_cables(cells *s, uint32_t v) {
    const fab_shape *shape = s->a->shape;
    memset(s->count, 0, s->n_cells * sizeof *s->count);
    for (uint32_t i = shape->first[v]; i < shape->first[v + 1] && is_member(s, v); i++) {
        uint32_t w = fab_network_far(s->a->net, shape->side[i])->node;
        if (w != v && is_member(s, w)) {
            s->count[s->of[w]]++;
        }
    }
    return s->count;
}

/* --- one number for all ------------------------------------------------------------------------------------------- */

/* Cables that nearly every switch has to every other cell; 0: there is no such rule. */
static void find_usual(cells *s) {
    uint64_t n_pairs = (uint64_t)n_switches(s) * (s->n_cells - 1);
    uint32_t votes = 0;
    uint64_t same = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n_switches(s); i++) {
            uint32_t v = switch_at(s, i);
            const uint16_t *count = count_cables(s, v);
            for (uint32_t cell = 0; s->of[v] != NONE && cell < s->n_cells; cell++) {
                uint32_t n = count[cell];
                if (cell != s->of[v] && n > 0 && pass == 0) {
                    s->usual = votes == 0 ? n : s->usual;
                    votes += n == s->usual ? 1 : UINT32_MAX;
                }
                same += pass == 1 && cell != s->of[v] && n > 0 && n == s->usual;
            }
        }
    }
    s->usual = (double)same >= FAB_AUDIT_NEARLY * (double)n_pairs ? s->usual : 0;
    s->confidence = fab_audit_confidence((double)same, (double)n_pairs);
}

/* --- a rule that groups share ------------------------------------------------------------------------------------- */

/* Number of a cell as a switch counts them; 0: its own. */
static uint32_t number_of(const cells *s, uint32_t v, uint32_t cell) {
    uint32_t own = s->of[v];
    return s->by_distance ? (cell + s->n_cells - own) % s->n_cells : cell == own ? 0 : cell < own ? cell + 1 : cell;
}

static uint16_t *rule_at(const cells *s, uint32_t v, uint32_t cell) {
    return &s->rule[(size_t)s->place[v] * s->n_cells + number_of(s, v, cell)];
}

static bool has_rule(const cells *s, uint32_t v) {
    return s->of[v] != NONE && s->size[s->of[v]] == s->most;
}

/* What most groups have, by Boyer and Moore's vote. Returns the part of the cables that it tells. */
static double learn(cells *s, int32_t *votes) {
    double same = 0;
    double all = 0;
    memset(votes, 0, (size_t)s->most * s->n_cells * sizeof *votes);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n_switches(s); i++) {
            uint32_t v = switch_at(s, i);
            const uint16_t *count = count_cables(s, v);
            for (uint32_t cell = 0; has_rule(s, v) && cell < s->n_cells; cell++) {
                uint16_t *rule = rule_at(s, v, cell);
                uint16_t n = count[cell];
                int32_t *vote = &votes[rule - s->rule];
                if (pass == 0) {
                    *rule = *vote == 0 ? n : *rule;
                    *vote += n == *rule ? 1 : -1;
                } else {
                    all += n > *rule ? n : *rule;
                    same += n < *rule ? n : *rule;
                }
            }
        }
    }
    return all > 0 ? same / all : 0;
}

static fab_status learn_rule(cells *s, fab_error *err) {
    FAB_OWNED int32_t *votes = NULL;
    uint32_t n_most = 0;
    double part = 0;
    for (uint32_t cell = 0; cell < s->n_cells; cell++) {
        FAB_SUM(uint32_t, same, other, s->n_cells, s->size[other] == s->size[cell]);
        s->most = same > n_most ? s->size[cell] : s->most;
        n_most = same > n_most ? same : n_most;
    }
    FAB_PASS(FAB_NEW_ALL((size_t)s->most * s->n_cells, err, s->rule, votes));
    for (int kind = 0; kind < 2 && part < LEARNED; kind++) {
        s->by_distance = kind == 0;
        part = n_most >= FAB_AUDIT_NEARLY * s->n_cells ? learn(s, votes) : 0;
    }
    s->confidence = fab_audit_confidence(part * n_switches(s), n_switches(s));
    s->most = part >= LEARNED ? s->most : 0;
    return FAB_OK;
}

/* --- deviations --------------------------------------------------------------------------------------------------- */

static void look_at_switch(cells *s, uint32_t v) {
    crossing found = {.node = v, .lacks = NONE, .has = NONE};
    uint32_t n_less = 0;
    uint32_t n_more = 0;
    uint32_t n_other = 0;
    const uint16_t *count = count_cables(s, v);
    for (uint32_t cell = 0; cell < s->n_cells; cell++) {
        uint32_t n = count[cell];
        bool is_own = cell == s->of[v];
        uint32_t should = s->usual == 0 ? *rule_at(s, v, cell) : is_own ? n : s->usual;
        n_less += n + 1 == should;
        n_more += n == should + 1;
        n_other += n + 1 < should || n > should + 1;
        found.lacks = n < should ? cell : found.lacks;
        found.has = n > should ? cell : found.has;
    }
    if (n_less == 1 && n_more == 1 && n_other == 0) {
        s->list[s->n++] = found;
    }
}

/* One cable of v into the cell of w, if any to w itself. */
static const fab_network_cable *cable_between(const cells *s, uint32_t v, uint32_t w, uint32_t cell) {
    const fab_shape *shape = s->a->shape;
    const fab_network_cable *found = NULL;
    for (uint32_t i = shape->first[v]; i < shape->first[v + 1]; i++) {
        uint32_t far = fab_network_far(s->a->net, shape->side[i])->node;
        if (far == w || (w == NONE && s->of[far] == cell)) {
            found = &s->a->net->cables[shape->side[i] >> 1];
        }
    }
    return found;
}

static fab_status report(cells *s, const crossing *one, const crossing *two, fab_error *err) {
    auditor *a = s->a;
    const fab_network_cable *cable = cable_between(s, one->node, two->node, NONE);
    const fab_network_cable *near = cable != NULL ? cable : cable_between(s, one->node, NONE, one->has);
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_CROSSED, one->node, two->node);
    f.confidence = s->confidence;
    f.damage_bps = near->rate_bps;
    f.line = near->end[0].line != 0 ? near->end[0].line : near->end[1].line;
    const char *what = s->usual > 0 ? "cell" : "group";
    const char *lacks = NULL;
    FAB_PASS(one->lacks == s->of[one->node]
                 ? fab_audit_text(a, &lacks, err, "its own %s", what)
                 : fab_audit_text(a, &lacks, err, "the %s of %s", what, fab_audit_label(a, s->first[one->lacks])));
    if (cable != NULL) {
        uint32_t k = cable->end[0].node == one->node ? 0 : 1;
        f.port = fab_audit_port(&cable->end[k]);
        f.other_port = fab_audit_port(&cable->end[k ^ 1]);
        return fab_audit_tell(a, &f, err,
                              "by this cable both switches have one more to each other's %s than their peers; %s lacks "
                              "one to %s" FAB_AUDIT_WORK
                              "Exchange its end with that of a cable which is crossed with it: %s belongs on %s.",
                              what, f.node, lacks, f.node, lacks);
    }
    f.cables = 2;
    return fab_audit_tell(a, &f, err,
                          "their cables to two %ss are crossed: %s lacks one to %s, %s has one too many" FAB_AUDIT_WORK
                          "Exchange the ends of the two at %s and %s.",
                          what, f.node, lacks, f.other, f.node, f.other);
}

static fab_status report_crossings(cells *s, fab_error *err) {
    for (int pass = 0; pass < 2; pass++) { /* a cable between two of them, then two of a cell */
        for (uint32_t i = 0; i < s->n; i++) {
            for (uint32_t k = i + 1; k < s->n; k++) {
                crossing *one = &s->list[i];
                crossing *two = &s->list[k];
                bool joins = one->has == s->of[two->node] && two->has == s->of[one->node] &&
                             cable_between(s, one->node, two->node, NONE) != NULL;
                bool is_pair = s->of[one->node] == s->of[two->node] && one->has == two->lacks && one->lacks == two->has;
                if (!one->is_told && !two->is_told && (pass == 0 ? joins : is_pair)) {
                    one->is_told = two->is_told = true;
                    FAB_PASS(report(s, one, two, err));
                }
            }
        }
    }
    return FAB_OK;
}

/* Cables to other switches that its place in its group asks for. */
static void tell_degrees(const cells *s, uint32_t *should) {
    for (uint32_t i = 0; s->most > 0 && i < n_switches(s); i++) {
        uint32_t v = switch_at(s, i);
        uint32_t sum = 0;
        for (uint32_t cell = 0; has_rule(s, v) && cell < s->n_cells; cell++) {
            sum += *rule_at(s, v, cell);
        }
        should[v] = sum > 0 ? sum : should[v];
    }
}

fab_status fab_audit_cells(auditor *a, uint32_t tier, uint32_t *should, fab_error *err) {
    FAB_OWNS(cells_release) cells s = {.a = a, .tier = tier};
    FAB_OWNED uint32_t *of = NULL;
    bool has_blocks = tier > 1 && a->boundary[tier - 1].n_blocks >= 3;
    if (has_blocks) {
        s.of = a->boundary[tier - 1].of;
        s.n_cells = a->boundary[tier - 1].n_blocks;
    } else {
        FAB_PASS(FAB_NEW(of, a->net->n_nodes, err));
        FAB_PASS(fab_audit_groups(a, tier, of, &s.n_cells, err));
        s.of = of;
    }
    if (s.n_cells < 3) {
        return FAB_OK;
    }
    FAB_PASS(list_cells(&s, err));
    if (has_blocks) {
        find_usual(&s);
    } else {
        FAB_PASS(learn_rule(&s, err));
        tell_degrees(&s, should);
    }
    FAB_PASS(FAB_NEW(s.list, n_switches(&s), err));
    for (uint32_t i = 0; i < n_switches(&s); i++) {
        uint32_t v = switch_at(&s, i);
        if (s.usual > 0 ? s.of[v] != NONE : s.most > 0 && has_rule(&s, v)) {
            look_at_switch(&s, v);
        }
    }
    return report_crossings(&s, err);
}
