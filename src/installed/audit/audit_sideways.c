/* Cables that join no two neighbouring tiers: loops, cables between switches of a tier, and past a tier. Where most
 * switches of a tier have some to others of it, they are how the fabric is built (a dragonfly, a torus, pairs of
 * leaves), and what departs is a switch with another number of them, or two cables where one is the rule. */
#include "audit_internal.h"

#define NONE       FAB_NETWORK_NONE
#define BUILT_PART 0.75 /* of the switches of a tier that have such cables, where they are meant to */

typedef struct peer_cable {
    uint32_t one, two, cable;
} peer_cable;

typedef struct sideways {
    auditor *a;
    uint32_t tier;
    uint32_t *degree; /* [n_nodes]: cables to switches of its tier */
    uint32_t *should; /* [n_nodes]: what its place in a group asks for, or what most have */
    peer_cable *list; /* of the tier: by switches */
    uint32_t n;
} sideways;
FAB_FREES(sideways_release, sideways, degree, should, list);

FAB_ORDER_THREE(by_switches, peer_cable, one, two, cable);

static fab_finding finding_of(const auditor *a, fab_finding_kind kind, uint32_t cable) {
    const fab_network_cable *c = &a->net->cables[cable];
    fab_finding f = fab_audit_finding(a, kind, &c->end[0], &c->end[1]);
    f.line = c->end[0].line != 0 ? c->end[0].line : c->end[1].line;
    return f;
}

/* Loops, and cables past a tier. */
static fab_status look_at_single_cables(auditor *a, fab_error *err) {
    uint32_t n_past = 0;
    uint32_t n_all = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t c = 0; c < a->net->n_cables; c++) {
            uint32_t v = a->net->cables[c].end[0].node;
            uint32_t w = a->net->cables[c].end[1].node;
            if (!fab_audit_is_switch(a, v) || !fab_audit_is_switch(a, w)) {
                continue;
            }
            uint32_t p = a->shape->tier[v];
            uint32_t q = a->shape->tier[w];
            bool past = a->n_tiers > 0 && !a->net->is_tree_of_names && p > 0 && q > 0 && (p > q + 1 || q > p + 1);
            n_past += past && pass == 0;
            n_all += pass == 0;
            if (pass == 1 && v == w) {
                fab_finding f = finding_of(a, FAB_FINDING_LOOP, c);
                f.text = "this cable joins two ports of one switch";
                f.work = "Remove it, or find where its other end belongs.";
                a->ruled[c] = a->n_tiers > 0;
                FAB_PASS(fab_audit_add(a, &f, err));
            } else if (pass == 1 && past && 20 * n_past <= n_all) {
                fab_finding f = finding_of(a, FAB_FINDING_EXTRA_CABLE, c);
                f.confidence = fab_audit_confidence(n_all - n_past, n_all);
                f.text = "this cable leads past a tier, as no other does";
                f.work = "Remove it, or see which trunk lacks a cable.";
                a->ruled[c] = true;
                FAB_PASS(fab_audit_add(a, &f, err));
            }
        }
    }
    return FAB_OK;
}

static void list_tier(sideways *s) {
    const auditor *a = s->a;
    s->n = 0;
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        uint32_t v = a->net->cables[c].end[0].node;
        uint32_t w = a->net->cables[c].end[1].node;
        if (v != w && fab_audit_is_switch(a, v) && fab_audit_is_switch(a, w) && a->shape->tier[v] == s->tier &&
            a->shape->tier[w] == s->tier) {
            s->list[s->n++] = v < w ? (peer_cable){v, w, c} : (peer_cable){w, v, c};
            s->degree[v]++;
            s->degree[w]++;
        }
    }
    FAB_SORT(s->list, s->n, by_switches);
}

static fab_status report_all(sideways *s, double confidence, fab_error *err) {
    for (uint32_t i = 0; i < s->n; i++) {
        fab_finding f = finding_of(s->a, FAB_FINDING_SAME_TIER, s->list[i].cable);
        f.confidence = confidence;
        f.text = "this cable joins two switches of a tier, as those of their peers do not";
        f.work = "Remove it, or find where its ends belong.";
        s->a->ruled[s->list[i].cable] = true;
        FAB_PASS(fab_audit_add(s->a, &f, err));
    }
    return FAB_OK;
}

/* The number of cables that most switches of the tier have, where groups do not say. Returns the share of those that
 * have what they should. */
static double find_should(const sideways *s, uint32_t *out_usual) {
    const auditor *a = s->a;
    const uint32_t *nodes = a->in_tier + a->tier_first[s->tier];
    uint32_t n = a->tier_first[s->tier + 1] - a->tier_first[s->tier];
    uint32_t candidate = 0;
    uint32_t votes = 0;
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++) {
        candidate = votes == 0 ? s->degree[nodes[i]] : candidate;
        votes += s->degree[nodes[i]] == candidate ? 1 : UINT32_MAX;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *should = &s->should[nodes[i]];
        *should = *should == NONE ? candidate : *should;
        same += s->degree[nodes[i]] == *should;
    }
    *out_usual = candidate;
    return (double)same / n;
}

static fab_status report_short(sideways *s, const uint32_t *node, uint32_t n, double confidence, fab_error *err) {
    auditor *a = s->a;
    bool is_pair = n == 2 && s->degree[node[0]] == s->degree[node[1]] && s->should[node[0]] == s->should[node[1]];
    for (uint32_t i = 0; i < n; i += is_pair ? 2 : 1) {
        uint32_t lacks = s->should[node[i]] - s->degree[node[i]];
        fab_finding f = fab_audit_boxes(a, FAB_FINDING_MISSING_CABLE, node[i], is_pair ? node[1] : NONE);
        f.confidence = confidence;
        f.cables = lacks;
        f.damage_bps = lacks * a->usual_bps[0];
        FAB_PASS(fab_audit_tell(a, &f, err,
                                "%s %u cables to other switches; nearly all have %u" FAB_AUDIT_WORK
                                "Look for the cable of %s%s%s.",
                                is_pair ? "both have" : "it has", s->degree[node[i]], s->should[node[i]], f.node,
                                is_pair ? " and " : "", f.other));
    }
    return FAB_OK;
}

/* A cable too many stands between two switches that have more than others, or beside another one. */
static fab_status look_for_more(sideways *s, bool has_rule, double confidence, fab_error *err) {
    auditor *a = s->a;
    FAB_SUM_IN(uint32_t, n_double, i, 1, s->n,
               s->list[i].one == s->list[i - 1].one && s->list[i].two == s->list[i - 1].two);
    for (uint32_t i = 0; i < s->n; i++) {
        const peer_cable *p = &s->list[i];
        bool again = i > 0 && p->one == s->list[i - 1].one && p->two == s->list[i - 1].two;
        bool last = i + 1 == s->n || p->one != s->list[i + 1].one || p->two != s->list[i + 1].two;
        bool more = has_rule && s->degree[p->one] > s->should[p->one] && s->degree[p->two] > s->should[p->two];
        if ((more && last && (n_double == 0 || again)) || (!has_rule && again && n_double <= 2)) {
            fab_finding f = finding_of(a, FAB_FINDING_EXTRA_CABLE, p->cable);
            f.confidence = confidence;
            f.text = "both switches have a cable more to others than their peers";
            f.work = "Remove it, or find where its ends belong.";
            FAB_PASS(fab_audit_add(a, &f, err));
        }
    }
    return FAB_OK;
}

static uint32_t count_absent(const auditor *a, uint32_t tier) {
    FAB_SUM(uint32_t, n, i, a->out->n_absent, a->absent[i].tier == tier);
    return n;
}

/* The next number of the role. */
static fab_status report_absent(sideways *s, uint32_t n_short, fab_error *err) {
    auditor *a = s->a;
    uint32_t last = a->in_tier[a->tier_first[s->tier + 1] - 1];
    fab_finding f = {.kind = FAB_FINDING_ABSENT_SWITCH, .confidence = 0.75, .cables = n_short};
    FAB_PASS(fab_audit_next_name(a, last, 1, &f.node, err));
    a->lacks_leaf = true;
    return fab_audit_tell(
        a, &f, err,
        "%u switches have one cable less to others than their peers, as if one were not there" FAB_AUDIT_WORK
        "Install %s, or switch it on, and plug its cables.",
        n_short, f.node);
}

static fab_status look_at_degrees(sideways *s, fab_error *err) {
    auditor *a = s->a;
    uint32_t n_short = 0;
    uint32_t lacks = 0;
    uint32_t usual = 0;
    const uint32_t *nodes = a->in_tier + a->tier_first[s->tier];
    uint32_t n = a->tier_first[s->tier + 1] - a->tier_first[s->tier];
    double share = find_should(s, &usual);
    FAB_OWNED_NEW(uint32_t, shorts, n, err);
    if (share < FAB_AUDIT_NEARLY) {
        FAB_PASS(look_for_more(s, false, 0.75, err));
        return FAB_OK;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        a->ruled[s->list[i].cable] = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (s->degree[nodes[i]] < s->should[nodes[i]]) {
            shorts[n_short++] = nodes[i];
            lacks += s->should[nodes[i]] - s->degree[nodes[i]];
        }
    }
    bool is_told = count_absent(a, s->tier) > 0;
    if (!is_told && n_short > 2 && lacks == n_short && n_short == usual) {
        FAB_PASS(report_absent(s, n_short, err));
    } else if (!is_told) {
        FAB_PASS(report_short(s, shorts, n_short, fab_audit_confidence(share * n, n), err));
    }
    return look_for_more(s, usual > 0, fab_audit_confidence(share * n, n), err);
}

fab_status fab_audit_sideways(auditor *a, fab_error *err) {
    FAB_OWNS(sideways_release) sideways s = {.a = a};
    FAB_PASS(look_at_single_cables(a, err));
    FAB_PASS(FAB_NEW_ALL(a->net->n_nodes, err, s.degree, s.should));
    memset(s.should, 0xff, a->net->n_nodes * sizeof *s.should);
    FAB_PASS(FAB_NEW(s.list, a->net->n_cables, err));
    for (s.tier = 1; s.tier <= a->n_tiers; s.tier++) {
        uint32_t n = a->tier_first[s.tier + 1] - a->tier_first[s.tier];
        uint32_t n_with = 0;
        list_tier(&s);
        for (uint32_t i = 0; i < n; i++) {
            n_with += s.degree[a->in_tier[a->tier_first[s.tier] + i]] > 0;
        }
        if (s.n > 0 && n_with < BUILT_PART * n) {
            FAB_PASS(report_all(&s, fab_audit_confidence(n - n_with, n), err));
        } else if (s.n > 0) {
            FAB_PASS(fab_audit_cells(a, s.tier, s.should, err));
            FAB_PASS(look_at_degrees(&s, err));
        }
    }
    return FAB_OK;
}
