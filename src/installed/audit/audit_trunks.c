/* Trunks between switches of neighbouring tiers. In a block where nearly all trunks have as many cables, all should;
 * where their sizes differ by one, none is smaller or larger; and where switches of a block have the same number of
 * cables in all, each should. A switch of which many trunks differ is of another design than its peers, unless it has
 * fewer cables in all than others of its role: then they are missing. */
#include "audit_internal.h"

#define NONE         FAB_NETWORK_NONE
#define OTHER_DESIGN 0.5 /* of its trunks */
#define MOST_CROSSED 256 /* deviations that are looked at in pairs */
#define FOREIGN_PART 0.1 /* of the cables of a boundary that lead out of their block: then they are meant to */

/* A trunk with fewer or more cables than it should have. */
typedef struct deviation {
    uint32_t lower, upper, n, there, should;
    bool is_extra, is_told;
    double confidence;
} deviation;

typedef struct trunks {
    auditor *a;
    const audit_boundary *b;
    uint32_t tier; /* lower */
    deviation *list;
    uint32_t n;
    size_t capacity;
    uint32_t *mark;      /* [n_nodes]: upper switches that a lower one is joined to; its own number + 1 */
    bool *even;          /* [n_blocks]: switches of it have the same number of cables */
    bool *other;         /* [n_nodes]: lower switches of another design */
    audit_uplinks *up;   /* [n_nodes]: of lower ones */
    uint64_t room_above; /* ports left of all upper switches */
} trunks;
FAB_FREES(trunks_release, trunks, list, mark, even, other, up);

/* --- ports -------------------------------------------------------------------------------------------------------- */

static bool is_taken(const auditor *a, uint32_t node, const char *port) {
    for (uint32_t j = a->shape->first[node]; j < a->shape->first[node + 1]; j++) {
        const char *own = fab_network_near(a->net, a->shape->side[j])->port;
        if (own != NULL && strcmp(own, port) == 0) {
            return true;
        }
    }
    return false;
}

/* The k-th port by which most peers of `from` reach `to`. NULL: peers do not agree. */
static const char *usual_port(const trunks *t, uint32_t from, uint32_t to, uint32_t k) {
    const auditor *a = t->a;
    const audit_block *block = &t->b->block[t->b->of[from]];
    bool is_upper = a->shape->tier[from] > t->tier;
    const uint32_t *peers = t->b->member + (is_upper ? block->first_upper : block->first_lower);
    uint32_t n_peers = is_upper ? block->n_upper : block->n_lower;
    const char *best = NULL;
    uint32_t most = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n_peers; i++) {
            uint32_t seen = 0;
            for (uint32_t j = a->shape->first[peers[i]]; j < a->shape->first[peers[i] + 1]; j++) {
                uint32_t side = a->shape->side[j];
                const char *port = fab_network_near(a->net, side)->port;
                if (fab_network_far(a->net, side)->node != to || port == NULL || seen++ != k) {
                    continue;
                }
                if (pass == 0 && most == 0) { /* Boyer and Moore's majority vote */
                    best = port;
                    most = 1;
                } else if (pass == 0) {
                    most = strcmp(port, best) == 0 ? most + 1 : most - 1;
                } else {
                    most += strcmp(port, best) == 0;
                }
            }
        }
        if (best == NULL) {
            return NULL;
        }
        most = pass == 0 ? 0 : most;
    }
    return 2 * most > n_peers ? best : NULL;
}

/* "35 and 36", "35", or "" where peers do not tell. */
static const char *free_ports(const trunks *t, uint32_t from, uint32_t to, uint32_t usual, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < usual && n < size; k++) {
        const char *port = usual_port(t, from, to, k);
        if (port != NULL && !is_taken(t->a, from, port)) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? " and " : "", port);
        }
    }
    return out;
}

/* Port of the cable from one switch to another that is not where peers have theirs; "" where they do not tell which of
 * several it is. */
static const char *port_towards(const trunks *t, uint32_t from, uint32_t to, uint32_t *out_side) {
    const auditor *a = t->a;
    const audit_block *block = &t->b->block[t->b->of[from]];
    uint32_t n = 0;
    uint32_t n_odd = 0;
    uint32_t odd = NONE;
    for (uint32_t j = a->shape->first[from]; j < a->shape->first[from + 1]; j++) {
        uint32_t side = a->shape->side[j];
        const char *own = fab_network_near(a->net, side)->port;
        bool is_usual = false;
        bool is_known = true;
        if (fab_network_far(a->net, side)->node != to) {
            continue;
        }
        for (uint32_t k = 0; own != NULL && is_known && k < block->usual; k++) {
            const char *usual = usual_port(t, from, to, k);
            is_known = usual != NULL;
            is_usual = is_usual || (is_known && strcmp(usual, own) == 0);
        }
        n++;
        n_odd += own != NULL && is_known && block->usual > 0 && !is_usual;
        odd = n_odd == 1 && odd == NONE ? side : odd;
        *out_side = odd != NONE ? odd : side;
    }
    *out_side = n == 1 || n_odd == 1 ? *out_side : NONE;
    return *out_side != NONE ? fab_audit_port(fab_network_near(a->net, *out_side)) : "";
}

static size_t line_of(const trunks *t, uint32_t side) {
    return side != NONE ? fab_network_near(t->a->net, side)->line : 0;
}

/* Said where several cables may be meant. */
static const char *unsure_of(const trunks *t, const fab_finding *f) {
    bool is_unsure = t->a->net->has_ports && (f->port[0] == '\0' || f->other_port[0] == '\0');
    return is_unsure ? "; ports do not tell which of the cables there: any may be the one" : "";
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

static double rate_of(const trunks *t) {
    return t->a->usual_bps[t->tier + 1];
}

/* A switch that has fewer cables to the next tier than its peers. Of one that has none, its block tells where to. */
static fab_status report_uplinks(const trunks *t, const deviation *d, fab_finding *f, fab_error *err) {
    auditor *a = t->a;
    const audit_uplinks *up = &t->up[d->lower];
    uint32_t block = d->there == 0 ? fab_audit_block_of_orphan(a, t->tier) : NONE;
    const audit_block *k = block != NONE ? &t->b->block[block] : NULL;
    bool is_whole = k != NULL && k->usual * k->n_upper == d->should;
    FAB_PASS(is_whole ? fab_audit_text(
                            a, &f->work, err, "Plug %u cables from %s to %s%s%s, %u each.", d->n, f->node,
                            fab_audit_label(a, t->b->member[k->first_upper]), k->n_upper > 1 ? " ... " : "",
                            k->n_upper > 1 ? fab_audit_label(a, t->b->member[k->first_upper + k->n_upper - 1]) : "",
                            k->usual)
                      : fab_audit_text(a, &f->work, err, "Look for %u cable%s of %s to the other tier.", d->n,
                                       d->n > 1 ? "s" : "", f->node));
    FAB_PASS(d->there == 0
                 ? fab_audit_tell(a, f, err, "it has no cable to the next tier, %u of the %u of its role have %u",
                                  up->n_usual, up->n_peers, d->should)
                 : fab_audit_tell(a, f, err, "it has %u cables to the next tier, its peers %u", d->there, d->should));
    for (uint32_t i = 0; is_whole && i < k->n_upper; i++) {
        const fab_audit_lack lack = {
            .node = {d->lower, t->b->member[k->first_upper + i]}, .cables = k->usual, .rate_bps = rate_of(t)};
        FAB_PASS(fab_audit_add_lack(a, &lack, err));
    }
    if (!is_whole && a->out->unplaced == NULL) {
        a->out->unplaced = a->out->findings[a->out->n_findings - 1].node;
    }
    return FAB_OK;
}

static fab_status report_missing(trunks *t, const deviation *d, fab_error *err) {
    auditor *a = t->a;
    char here[64] = "";
    char far[64] = "";
    uint32_t usual = d->upper != NONE ? t->b->block[t->b->of[d->lower]].usual : 0;
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_MISSING_CABLE, d->lower, d->upper);
    f.confidence = d->confidence;
    f.damage_bps = d->n * rate_of(t);
    f.cables = d->n;
    if (d->upper == NONE) {
        return report_uplinks(t, d, &f, err);
    }
    bool is_inside = fab_audit_same_box(a, d->lower, d->upper);
    f.port = free_ports(t, d->lower, d->upper, usual, here, sizeof here);
    f.other_port = free_ports(t, d->upper, d->lower, usual, far, sizeof far);
    FAB_PASS(fab_audit_text(a, &f.work, err, "Plug %u cable%s from %s%s%s to %s%s%s.", d->n, d->n > 1 ? "s" : "",
                            f.node, f.port[0] != '\0' ? ", port " : "", f.port, f.other,
                            f.other_port[0] != '\0' ? ", port " : "", f.other_port));
    if (is_inside) {
        fab_audit_make_inside(&f);
    }
    FAB_PASS(fab_audit_tell(a, &f, err, "%u of %u %s are missing", d->n, d->should,
                            is_inside ? "links between these chips of one box" : "cables of this trunk"));
    const fab_audit_lack lack = {.node = {d->lower, d->upper}, .cables = d->n, .rate_bps = rate_of(t)};
    return fab_audit_add_lack(a, &lack, err);
}

static fab_status report_extra(trunks *t, const deviation *d, fab_error *err) {
    auditor *a = t->a;
    uint32_t side = NONE;
    bool is_foreign = d->should == 0 && d->upper != NONE;
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_EXTRA_CABLE, d->lower, d->upper);
    f.confidence = d->confidence;
    f.cables = d->n;
    f.work = "See whether a trunk that lacks a cable should have it.";
    if (is_foreign) {
        f.port = port_towards(t, d->lower, d->upper, &side);
        f.other_port = port_towards(t, d->upper, d->lower, &side);
        f.line = line_of(t, side);
        f.text = "these two switches are joined, and none of their peers";
        return fab_audit_add(a, &f, err);
    }
    return fab_audit_tell(a, &f, err, "%s %u cables%s, its peers %u", d->upper == NONE ? "it has" : "this trunk has",
                          d->there, d->upper == NONE ? " to the next tier" : "", d->should);
}

/* A cable that leads elsewhere: x has one to y, and none to z, where it belongs. */
static fab_status report_miswired(trunks *t, uint32_t x, uint32_t y, uint32_t z, double confidence, fab_error *err) {
    auditor *a = t->a;
    uint32_t side = NONE;
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_MISWIRED, x, y);
    f.confidence = confidence;
    f.damage_bps = rate_of(t);
    f.port = port_towards(t, x, y, &side);
    f.other_port = port_towards(t, y, x, &side);
    f.line = line_of(t, side);
    return fab_audit_tell(a, &f, err,
                          "a cable of %s leads to %s, where one to %s is missing%s" FAB_AUDIT_WORK
                          "Move the end at %s to %s.",
                          f.node, f.other, fab_audit_label(a, z), unsure_of(t, &f), f.other, fab_audit_label(a, z));
}

/* The cables of two switches, each to where that of the other belongs. */
static fab_status report_crossed(trunks *t, const deviation *one, const deviation *two, fab_error *err) {
    auditor *a = t->a;
    uint32_t side = NONE;
    const char *at[2] = {fab_audit_label(a, one->upper), fab_audit_label(a, two->upper)};
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_CROSSED, one->lower, two->lower);
    f.confidence = one->confidence < two->confidence ? one->confidence : two->confidence;
    f.cables = 2;
    f.damage_bps = 2 * rate_of(t);
    f.port = port_towards(t, one->lower, one->upper, &side);
    f.other_port = port_towards(t, two->lower, two->upper, &side);
    f.line = line_of(t, side);
    return fab_audit_tell(a, &f, err,
                          "their cables to %s and %s are crossed%s" FAB_AUDIT_WORK
                          "Exchange the two ends at %s and %s: %s belongs on %s, %s on %s.",
                          at[0], at[1], unsure_of(t, &f), at[0], at[1], f.node, at[1], f.other, at[0]);
}

static deviation *find_deviation(trunks *t, uint32_t lower, uint32_t upper, bool is_extra) {
    deviation *d = t->list;
    FAB_FIRST(i, t->n,
              !d[i].is_told && d[i].is_extra == is_extra && (lower == NONE || d[i].lower == lower) &&
                  (upper == NONE || d[i].upper == upper));
    return i < t->n ? &d[i] : NULL;
}

static fab_status tell_crossed(trunks *t, fab_error *err) {
    for (uint32_t i = 0; i < t->n && t->n <= MOST_CROSSED; i++) {
        deviation *one = &t->list[i];
        for (uint32_t k = i + 1; one->is_extra && !one->is_told && k < t->n; k++) {
            deviation *two = &t->list[k];
            bool fits = two->is_extra && !two->is_told && one->upper != NONE && two->upper != NONE;
            deviation *lack = fits ? find_deviation(t, one->lower, two->upper, false) : NULL;
            deviation *other = fits ? find_deviation(t, two->lower, one->upper, false) : NULL;
            if (lack != NULL && other != NULL && lack != other) {
                one->is_told = two->is_told = lack->is_told = other->is_told = true;
                FAB_PASS(report_crossed(t, one, two, err));
            }
        }
    }
    for (uint32_t i = 0; i < t->n && t->n <= MOST_CROSSED; i++) { /* one end of a cable */
        deviation *d = &t->list[i];
        if (!d->is_extra || d->is_told || d->upper == NONE) {
            continue;
        }
        deviation *lack = find_deviation(t, d->lower, NONE, false);
        bool by_lower = lack != NULL && lack->upper != NONE;
        lack = by_lower ? lack : find_deviation(t, NONE, d->upper, false);
        if (lack != NULL && lack->n == d->n) {
            d->is_told = lack->is_told = true;
            FAB_PASS(by_lower ? report_miswired(t, d->lower, d->upper, lack->upper, d->confidence, err)
                              : report_miswired(t, d->upper, d->lower, lack->lower, d->confidence, err));
        }
    }
    return FAB_OK;
}

/* Ports that are left of the upper switches which the lower one of a deviation lacks cables to. */
static uint64_t room_above(const trunks *t, const deviation *d) {
    uint64_t n = 0;
    for (; d > t->list && d[-1].lower == d->lower; d--) {
    }
    for (uint32_t lower = d->lower; d < t->list + t->n && d->lower == lower; d++) {
        n += d->upper != NONE ? fab_audit_room(t->a, d->upper) : 0;
    }
    return n;
}

/* Whether the trunks of its block give a switch as many uplinks as its peers have, and one switch above has ports for
 * those of all: then none lacks them for want of ports above. */
static bool trunks_tell(const trunks *t, uint32_t lower) {
    const audit_block *k = t->b->of[lower] != NONE ? &t->b->block[t->b->of[lower]] : NULL;
    bool is_whole = false;
    for (uint32_t i = 0; k != NULL && k->usual > 0 && i < k->n_upper; i++) {
        uint32_t v = t->b->member[k->first_upper + i];
        is_whole = is_whole || t->a->shape->first[v + 1] - t->a->shape->first[v] >= k->usual * k->n_lower;
    }
    return is_whole && t->up[lower].should == k->usual * k->n_upper;
}

/* Cables of a deviation that are one. Where leaves gave up uplinks for spare servers, or hosts are dealt unevenly,
 * trunks differ on purpose: a switch lacks no more cables than it has ports for unless its peers have more uplinks than
 * that, and one that has as many cables as its peers has none too many. */
static uint32_t n_unmeant(const trunks *t, const deviation *d) {
    const audit_uplinks *up = &t->up[d->lower];
    bool is_rule = up->is_rule || trunks_tell(t, d->lower);
    bool is_full = d->upper != NONE && fab_audit_is_full(t->a, d->upper);
    bool has_few = is_rule && !is_full && up->there < up->should && room_above(t, d) < up->should - up->there;
    if (d->is_extra) {
        bool is_meant = fab_audit_is_whole(t->a, d->lower) || (d->upper != NONE && fab_audit_is_whole(t->a, d->upper));
        return d->should > 0 && is_meant ? 0 : d->n;
    }
    uint64_t n = fab_audit_room(t->a, d->lower);
    uint64_t above = d->upper != NONE ? (has_few ? d->n : fab_audit_room(t->a, d->upper))
                     : d->there > 0   ? t->room_above
                                      : d->n;
    n = above < n ? above : n;
    return n < d->n ? (uint32_t)n : d->n;
}

static fab_status tell(trunks *t, fab_error *err) {
    FAB_PASS(tell_crossed(t, err));
    t->room_above = 0;
    for (uint32_t i = t->a->tier_first[t->tier + 1]; i < t->a->tier_first[t->tier + 2]; i++) {
        t->room_above += fab_audit_room(t->a, t->a->in_tier[i]);
    }
    FAB_EACH(deviation, d, t->list, t->n) {
        uint32_t n = d->is_told ? d->n : n_unmeant(t, d);
        t->a->out->boundary[t->tier].planned -= d->is_extra ? 0 : d->n - n;
        d->should -= d->is_extra ? 0 : d->n - n;
        d->n = n;
        d->is_told = d->is_told || n == 0;
    }
    FAB_EACH(const deviation, d, t->list, t->n) {
        if (!d->is_told) {
            FAB_PASS(d->is_extra ? report_extra(t, d, err) : report_missing(t, d, err));
        }
    }
    return FAB_OK;
}

/* --- deviations --------------------------------------------------------------------------------------------------- */

static fab_status deviate(trunks *t, uint32_t lower, uint32_t upper, uint32_t there, uint32_t should, double confidence,
                          fab_error *err) {
    return FAB_APPEND(t->list, t->n, t->capacity, err,
                      (deviation){.lower = lower,
                                  .upper = upper,
                                  .n = there > should ? there - should : should - there,
                                  .there = there,
                                  .should = should,
                                  .is_extra = there > should,
                                  .confidence = confidence});
}

/* What a trunk of a block should have, given what it has. */
static uint32_t should_be(const audit_block *k, uint32_t there) {
    if (k->usual > 0) {
        return k->usual;
    }
    return k->low == NONE ? there : there < k->low ? k->low : there > k->low + 1 ? k->low + 1 : there;
}

/* The trunks of one lower switch. */
static fab_status look_at_lower(trunks *t, const audit_trunk *trunk, uint32_t n, fab_error *err) {
    const audit_boundary *b = t->b;
    uint32_t v = trunk[0].lower;
    const audit_block *k = &b->block[b->of[v]];
    fab_audit_boundary *sum = &t->a->out->boundary[t->tier];
    bool counts = t->tier < t->a->out->n_boundaries;
    uint32_t inside = 0;
    uint32_t wrong = 0;
    uint32_t planned = 0;
    uint32_t present = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is_inside = b->of[trunk[i].upper] == b->of[v];
        uint32_t should = is_inside ? should_be(k, trunk[i].n) : 0;
        t->mark[trunk[i].upper] = is_inside ? v + 1 : 0;
        inside += is_inside;
        wrong += is_inside && should != trunk[i].n;
        planned += should;
        present += should < trunk[i].n ? should : trunk[i].n;
    }
    uint32_t should_none = should_be(k, 0);
    wrong += should_none > 0 ? k->n_upper - inside : 0;
    planned += should_none * (k->n_upper - inside);
    const audit_uplinks *up = &t->up[v];
    bool is_other = wrong > 2 && wrong >= OTHER_DESIGN * k->n_upper;
    t->other[v] = is_other && up->there >= up->should;
    if (t->other[v]) {
        return FAB_OK;
    }
    if (fab_audit_same_box(t->a, v, b->member[k->first_upper])) {
        t->a->out->n_inside_missing += planned - present;
    } else if (counts) {
        sum->planned += planned;
        sum->present += present;
    }
    double pairs = (double)k->n_lower * k->n_upper;
    double confidence = fab_audit_confidence(pairs - wrong, pairs);
    double of_role = fab_audit_confidence(up->n_usual, up->n_peers);
    confidence = is_other && of_role < confidence ? of_role : confidence;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t should = should_be(k, trunk[i].n);
        if (b->of[trunk[i].upper] == b->of[v] && should != trunk[i].n) {
            FAB_PASS(deviate(t, v, trunk[i].upper, trunk[i].n, should, confidence, err));
        }
    }
    for (uint32_t i = k->first_upper; inside < k->n_upper && i < k->first_upper + k->n_upper; i++) {
        if (should_none > 0 && t->mark[b->member[i]] != v + 1) {
            FAB_PASS(deviate(t, v, b->member[i], 0, should_none, confidence, err));
        }
    }
    return FAB_OK;
}

/* Cables that lead out of their block, where few do. */
static fab_status look_for_foreign(trunks *t, fab_error *err) {
    const audit_boundary *b = t->b;
    double all = 0;
    double foreign = 0;
    for (uint32_t i = 0; i < b->n_trunks; i++) {
        all += b->trunk[i].n;
        foreign += b->of[b->trunk[i].lower] != b->of[b->trunk[i].upper] ? b->trunk[i].n : 0;
    }
    for (uint32_t i = 0; i < b->n_trunks && (foreign <= FOREIGN_PART * all || foreign <= 2); i++) {
        const audit_trunk *trunk = &b->trunk[i];
        if (b->of[trunk->lower] != b->of[trunk->upper]) {
            FAB_PASS(
                deviate(t, trunk->lower, trunk->upper, trunk->n, 0, fab_audit_confidence(all - foreign, all), err));
        }
    }
    return FAB_OK;
}

/* --- switches as a whole ------------------------------------------------------------------------------------------ */

typedef struct degree {
    uint32_t node, n;
} degree;

FAB_ORDER_TWO(by_degree, degree, n, node);

/* The number of cables that nearly all of them have; 0: there is none. Sorts. */
static uint32_t usual_degree(degree *list, uint32_t n) {
    uint32_t best = 0;
    uint32_t most = 0;
    qsort(list, n, sizeof *list, by_degree);
    for (uint32_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && list[i].n == list[i - 1].n ? run + 1 : 1;
        best = run > most ? list[i].n : best;
        most = run > most ? run : most;
    }
    return n > 3 && most >= FAB_AUDIT_NEARLY * n ? best : 0;
}

static bool has_deviation(const trunks *t, uint32_t v) {
    FAB_ANY(found, i, t->n, t->list[i].lower == v || t->list[i].upper == v);
    return found;
}

/* Cables of the members of a block to members of the other tier. */
static fab_status list_degrees(const trunks *t, const audit_block *k, bool upper, degree **out, fab_error *err) {
    const auditor *a = t->a;
    uint32_t n = upper ? k->n_upper : k->n_lower;
    const uint32_t *nodes = t->b->member + (upper ? k->first_upper : k->first_lower);
    FAB_PASS(FAB_NEW(*out, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i].node = nodes[i];
        for (uint32_t j = a->shape->first[nodes[i]]; j < a->shape->first[nodes[i] + 1]; j++) {
            uint32_t w = fab_network_far(a->net, a->shape->side[j])->node;
            (*out)[i].n += fab_audit_is_switch(a, w) &&
                           a->shape->tier[w] == (upper ? t->tier : t->tier + 1); /* whatever its block */
        }
    }
    return FAB_OK;
}

/* A block without a rule of its trunks: the sums of its switches. */
static fab_status look_at_degrees(trunks *t, uint32_t block, fab_error *err) {
    const audit_block *k = &t->b->block[block];
    FAB_OWNED degree *lower = NULL;
    FAB_OWNED degree *upper = NULL;
    FAB_PASS(list_degrees(t, k, false, &lower, err));
    FAB_PASS(list_degrees(t, k, true, &upper, err));
    uint32_t usual = usual_degree(lower, k->n_lower);
    uint32_t usual_up = usual_degree(upper, k->n_upper);
    /* A cable too many makes one switch above uneven: where none is, the cables that all of them have were dealt out,
     * and some switches below have one more than others. */
    const bool is_dealt = k->n_upper > 1 && upper[0].n == upper[k->n_upper - 1].n;
    t->even[block] = usual > 0;
    for (uint32_t i = 0; usual > 0 && i < k->n_lower; i++) {
        uint32_t other = NONE;
        if (lower[i].n == usual || (lower[i].n > usual && is_dealt) || has_deviation(t, lower[i].node) ||
            (lower[i].n < usual ? usual - lower[i].n : lower[i].n - usual) > 2) {
            continue;
        }
        for (uint32_t j = 0; usual_up > 0 && other == NONE && j < k->n_upper; j++) {
            bool fits = lower[i].n < usual ? upper[j].n < usual_up : upper[j].n > usual_up;
            other = fits && !has_deviation(t, upper[j].node) ? upper[j].node : NONE;
        }
        FAB_PASS(deviate(t, lower[i].node, other, lower[i].n, usual, fab_audit_confidence(k->n_lower - 1.0, k->n_lower),
                         err));
    }
    return FAB_OK;
}

/* Switches that have fewer cables to the next tier than their role, of which no trunk tells: those that have none. */
static fab_status look_at_uplinks(trunks *t, fab_error *err) {
    auditor *a = t->a;
    for (uint32_t i = a->tier_first[t->tier]; i < a->tier_first[t->tier + 1]; i++) {
        uint32_t v = a->in_tier[i];
        const audit_uplinks *up = &t->up[v];
        if (up->there < up->should && up->is_rule && !has_deviation(t, v)) {
            FAB_PASS(deviate(t, v, NONE, up->there, up->should, fab_audit_confidence(up->n_usual, up->n_peers), err));
            a->out->boundary[t->tier].planned += up->should - up->there;
        }
    }
    return FAB_OK;
}

static void mark_ruled(const trunks *t) {
    const auditor *a = t->a;
    const audit_boundary *b = t->b;
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        uint32_t v = a->net->cables[c].end[0].node;
        uint32_t w = a->net->cables[c].end[1].node;
        if (fab_audit_boundary_of(a, c) == t->tier + 1 && fab_audit_is_switch(a, v) && fab_audit_is_switch(a, w) &&
            b->of[v] != NONE && b->of[v] == b->of[w]) {
            const audit_block *k = &b->block[b->of[v]];
            a->ruled[c] = (k->usual > 0 || k->low != NONE || t->even[b->of[v]]) && !t->other[v] && !t->other[w];
        }
    }
}

/* --- boundaries --------------------------------------------------------------------------------------------------- */

static fab_status look_at_boundary(trunks *t, fab_error *err) {
    const audit_boundary *b = t->b;
    t->n = 0;
    memset(t->mark, 0, t->a->net->n_nodes * sizeof *t->mark);
    memset(t->even, 0, t->a->net->n_nodes * sizeof *t->even);
    memset(t->other, 0, t->a->net->n_nodes * sizeof *t->other);
    memset(t->up, 0, t->a->net->n_nodes * sizeof *t->up);
    FAB_PASS(fab_audit_count_uplinks(t->a, t->tier, t->up, err));
    FAB_EACH_RUN(uint32_t, i, next, b->n_trunks, b->trunk[next].lower == b->trunk[i].lower) {
        FAB_PASS(look_at_lower(t, b->trunk + i, next - i, err));
    }
    FAB_PASS(look_for_foreign(t, err));
    for (uint32_t k = 0; k < b->n_blocks; k++) {
        FAB_PASS(b->block[k].usual == 0 ? look_at_degrees(t, k, err) : FAB_OK);
    }
    FAB_PASS(look_at_uplinks(t, err));
    mark_ruled(t);
    return tell(t, err);
}

fab_status fab_audit_trunks(auditor *a, fab_error *err) {
    FAB_OWNS(trunks_release) trunks t = {.a = a};
    if (a->net->is_tree_of_names) { /* one line for a trunk of any width */
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL((size_t)a->net->n_nodes + 1, err, t.mark, t.even, t.other, t.up));
    for (t.tier = 1; t.tier < a->n_tiers; t.tier++) {
        t.b = &a->boundary[t.tier];
        FAB_PASS(look_at_boundary(&t, err));
    }
    return FAB_OK;
}
