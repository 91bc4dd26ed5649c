/* Blocks: switches of a tier that are joined to the same switches of the next. They are found from what most of them
 * have, so that a cable that leads astray joins no two blocks: switches with the same neighbours, the largest sets of
 * them first, claim those neighbours; others belong to the block that claims most of theirs. */
#include "audit_internal.h"

#include "fab/rng.h"

#define NONE FAB_NETWORK_NONE

typedef struct lower_switch {
    uint64_t signature;                    /* of its set of neighbours */
    uint32_t node, rank, n_same, first, n; /* trunk[first ... first + n) */
    uint32_t n_major;                      /* of them that are trunks: see is_stray() */
} lower_switch;

typedef struct finding_blocks {
    const auditor *a;
    audit_boundary *b;
    uint32_t tier; /* lower */
    lower_switch *lower;
    uint32_t n_lower;
    uint32_t *votes; /* [n_nodes]: of a block */
} finding_blocks;
FAB_FREES(finding_blocks_release, finding_blocks, lower, votes);

FAB_ORDER_TWO(by_ends, audit_trunk, lower, upper);

FAB_ORDER_TWO(by_signature, lower_switch, signature, rank);

FAB_ORDER_KEYS(by_frequency, lower_switch, FAB_ORDER(b->n_same, a->n_same), FAB_ORDER(a->signature, b->signature),
               FAB_ORDER(a->rank, b->rank));

/* Cables between the two tiers as trunks. */
static fab_status list_trunks(finding_blocks *f, fab_error *err) {
    const auditor *a = f->a;
    audit_boundary *b = f->b;
    FAB_PASS(FAB_NEW(b->trunk, a->net->n_cables, err));
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        uint32_t v = a->net->cables[c].end[0].node;
        uint32_t w = a->net->cables[c].end[1].node;
        uint32_t turned = a->shape->tier[v] > a->shape->tier[w];
        uint32_t lower = turned ? w : v;
        uint32_t upper = turned ? v : w;
        if (fab_audit_is_switch(a, v) && fab_audit_is_switch(a, w) && a->shape->tier[lower] == f->tier &&
            a->shape->tier[upper] == f->tier + 1) {
            b->trunk[b->n_trunks++] = (audit_trunk){lower, upper, 1};
        }
    }
    FAB_SORT(b->trunk, b->n_trunks, by_ends);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_trunks; i++) {
        if (n > 0 && by_ends(&b->trunk[i], &b->trunk[n - 1]) == 0) {
            b->trunk[n - 1].n++;
        } else {
            b->trunk[n++] = b->trunk[i];
        }
    }
    b->n_trunks = n;
    return FAB_OK;
}

/* Whether a trunk is of so few cables, beside the largest of its switch, that they lead astray. */
static bool is_stray(const audit_trunk *trunk, uint32_t largest) {
    return 3 * trunk->n <= largest;
}

static uint32_t largest_trunk(const audit_trunk *trunk, uint32_t n) {
    FAB_MOST(uint32_t, largest, i, n, trunk[i].n);
    return largest;
}

/* Lower switches, those with the most frequent set of neighbours first. */
static fab_status list_lower(finding_blocks *f, fab_error *err) {
    const audit_boundary *b = f->b;
    FAB_PASS(FAB_NEW(f->lower, b->n_trunks, err));
    for (uint32_t i = 0; i < b->n_trunks; i++) {
        if (i == 0 || b->trunk[i].lower != b->trunk[i - 1].lower) {
            uint32_t v = b->trunk[i].lower;
            f->lower[f->n_lower++] = (lower_switch){.node = v, .rank = f->a->rank[v], .first = i};
        }
        f->lower[f->n_lower - 1].n++;
    }
    FAB_EACH(lower_switch, l, f->lower, f->n_lower) {
        uint32_t largest = largest_trunk(b->trunk + l->first, l->n);
        for (uint32_t k = l->first; k < l->first + l->n; k++) {
            bool is_major = !is_stray(&b->trunk[k], largest);
            l->n_major += is_major;
            l->signature += is_major ? fab_mix64(b->trunk[k].upper + 1) : 0;
        }
    }
    if (f->n_lower == 0) {
        return FAB_OK;
    }
    qsort(f->lower, f->n_lower, sizeof *f->lower, by_signature);
    FAB_EACH_RUN(uint32_t, i, next, f->n_lower, f->lower[next].signature == f->lower[i].signature) {
        for (uint32_t k = i; k < next; k++) {
            f->lower[k].n_same = next - i;
        }
    }
    qsort(f->lower, f->n_lower, sizeof *f->lower, by_frequency);
    return FAB_OK;
}

/* The block that most of a switch's trunks lead to, by neighbours or by cables; of equal ones that of `like`. */
static uint32_t best_block(finding_blocks *f, const audit_trunk *trunk, uint32_t n, bool is_upper, uint32_t like,
                           uint32_t *out_votes) {
    uint32_t best = NONE;
    uint32_t largest = largest_trunk(trunk, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = f->b->of[is_upper ? trunk[i].lower : trunk[i].upper];
        if (at != NONE && !is_stray(&trunk[i], largest)) {
            f->votes[at] += 1;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = f->b->of[is_upper ? trunk[i].lower : trunk[i].upper];
        bool better = at != NONE &&
                      (best == NONE || f->votes[at] > f->votes[best] || (f->votes[at] == f->votes[best] && at == like));
        best = better ? at : best;
    }
    *out_votes = best != NONE ? f->votes[best] : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = f->b->of[is_upper ? trunk[i].lower : trunk[i].upper];
        if (at != NONE) {
            f->votes[at] = 0;
        }
    }
    return best;
}

/* Of the blocks that have `votes` of a switch's trunks, that of the lower switch that is next to it by name. */
static uint32_t block_beside(const finding_blocks *f, const lower_switch *l, uint32_t votes) {
    const auditor *a = f->a;
    uint32_t from = a->tier_first[f->tier];
    uint32_t to = a->tier_first[f->tier + 1];
    FAB_FIRST_IN(own, from, to, a->in_tier[own] == l->node);
    for (uint32_t distance = 1; distance < to - from; distance++) {
        for (int side = 0; side < 2; side++) {
            bool is_there = side == 0 ? own >= from + distance : own + distance < to;
            uint32_t block = is_there ? f->b->of[a->in_tier[side == 0 ? own - distance : own + distance]] : NONE;
            uint32_t n = 0;
            for (uint32_t i = l->first; block != NONE && i < l->first + l->n; i++) {
                n += f->b->of[f->b->trunk[i].upper] == block;
            }
            if (block != NONE && n == votes) {
                return block;
            }
        }
    }
    return NONE;
}

/* Of two blocks that have as many of a switch's trunks, that of which the upper switches there have fewer cables: the
 * one too many in the other leads astray. NONE: they have equally many. */
static uint32_t block_of_fewer(const finding_blocks *f, const lower_switch *l) {
    const uint32_t *first = f->a->shape->first;
    const uint32_t one = f->b->of[f->b->trunk[l->first].upper];
    uint32_t two = one;
    uint32_t most[2] = {0, 0};
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
        const uint32_t upper = f->b->trunk[i].upper;
        const uint32_t n = first[upper + 1] - first[upper];
        const bool is_two = f->b->of[upper] != one;
        two = is_two ? f->b->of[upper] : two;
        most[is_two] = n > most[is_two] ? n : most[is_two];
    }
    return most[0] == most[1] ? NONE : most[0] < most[1] ? one : two;
}

static void claim(finding_blocks *f, const lower_switch *l, uint32_t block) {
    uint32_t largest = largest_trunk(f->b->trunk + l->first, l->n);
    f->b->of[l->node] = block;
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
        uint32_t *of = &f->b->of[f->b->trunk[i].upper];
        *of = *of == NONE && !is_stray(&f->b->trunk[i], largest) ? block : *of;
    }
}

static void join_blocks(finding_blocks *f) {
    FAB_EACH(const lower_switch, l, f->lower, f->n_lower) {
        uint32_t votes = 0;
        uint32_t best = best_block(f, f->b->trunk + l->first, l->n, false, NONE, &votes);
        bool ties = best != NONE && l->n_same == 1 && 2 * votes == l->n_major;
        if (ties) {
            uint32_t likely = block_of_fewer(f, l);
            likely = likely != NONE ? likely : block_beside(f, l, votes);
            best = likely != NONE ? likely : best;
        }
        claim(f, l, best != NONE && (2 * votes > l->n_major || ties) ? best : f->b->n_blocks++);
    }
}

FAB_ORDER_TWO(by_upper, audit_trunk, upper, lower);

/* Upper switches go where most of their trunks lead, and then lower ones. */
static fab_status settle(finding_blocks *f, fab_error *err) {
    audit_boundary *b = f->b;
    uint32_t votes = 0;
    FAB_OWNED_NEW(audit_trunk, turned, b->n_trunks, err);
    if (b->n_trunks > 0) {
        memcpy(turned, b->trunk, b->n_trunks * sizeof *turned);
        qsort(turned, b->n_trunks, sizeof *turned, by_upper);
    }
    FAB_EACH_RUN(uint32_t, i, next, b->n_trunks, turned[next].upper == turned[i].upper) {
        b->of[turned[i].upper] = best_block(f, turned + i, next - i, true, b->of[turned[i].upper], &votes);
    }
    FAB_EACH(const lower_switch, l, f->lower, f->n_lower) {
        b->of[l->node] = best_block(f, b->trunk + l->first, l->n, false, b->of[l->node], &votes);
    }
    return FAB_OK;
}

/* Members of every block. */
static fab_status list_members(finding_blocks *f, fab_error *err) {
    const auditor *a = f->a;
    audit_boundary *b = f->b;
    uint32_t at = 0;
    FAB_PASS(FAB_NEW(b->block, b->n_blocks, err));
    FAB_PASS(FAB_NEW(b->member, a->net->n_nodes, err));
    for (uint32_t i = a->tier_first[f->tier]; i < a->tier_first[f->tier + 2]; i++) {
        uint32_t block = b->of[a->in_tier[i]];
        if (block != NONE) {
            b->block[block].n_lower += a->shape->tier[a->in_tier[i]] == f->tier;
            b->block[block].n_upper += a->shape->tier[a->in_tier[i]] != f->tier;
        }
    }
    for (uint32_t k = 0; k < b->n_blocks; k++) {
        b->block[k].first_lower = at;
        b->block[k].first_upper = at + b->block[k].n_lower;
        at += b->block[k].n_lower + b->block[k].n_upper;
        b->block[k].n_lower = b->block[k].n_upper = 0;
    }
    for (uint32_t i = a->tier_first[f->tier]; i < a->tier_first[f->tier + 2]; i++) {
        uint32_t v = a->in_tier[i];
        audit_block *k = b->of[v] != NONE ? &b->block[b->of[v]] : NULL;
        if (k != NULL && a->shape->tier[v] == f->tier) {
            b->member[k->first_lower + k->n_lower++] = v;
        } else if (k != NULL) {
            b->member[k->first_upper + k->n_upper++] = v;
        }
    }
    return FAB_OK;
}

/* Upper switches of most blocks; of two that have as many lower ones, of the larger. */
static void find_usual_upper(audit_boundary *b) {
    uint32_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < b->n_blocks && b->n_blocks < 4096; i++) {
        FAB_SUM(uint32_t, same, k, b->n_blocks, b->block[k].n_upper == b->block[i].n_upper);
        if (same > most || (same == most && b->block[i].n_upper > best)) {
            most = same;
            best = b->block[i].n_upper;
        }
    }
    bool is_pair = b->n_blocks == 2 && b->block[0].n_lower == b->block[1].n_lower && b->block[0].n_lower > 1;
    b->usual_upper = most >= FAB_AUDIT_NEARLY * b->n_blocks || (b->n_blocks == 3 && most == 2) || is_pair ? best : 0;
}

FAB_ORDER_TWO(by_block_and_size, audit_trunk, lower, n);

/* Cables of a trunk, of the pairs of a block; a pair that is not joined has a trunk of none. */
static void rule_of_block(audit_block *k, const audit_trunk *sizes, uint32_t n, uint32_t usual) {
    double pairs = (double)k->n_lower * k->n_upper;
    double best = 0;
    double best_two = 0;
    uint32_t best_low = 0;
    uint32_t own = 0;
    double with_usual = 0;
    double last = 0;
    uint32_t last_size = 0;
    k->low = NONE;
    FAB_EACH_RUN(uint32_t, i, next, n, sizes[next].n == sizes[i].n) {
        double same = next - i;
        double two = same + (last_size + 1 == sizes[i].n ? last : 0);
        with_usual = sizes[i].n == usual ? same : with_usual;
        own = same >= best ? sizes[i].n : own;
        best = same >= best ? same : best;
        best_low = two > best_two ? (two > same ? last_size : sizes[i].n) : best_low;
        best_two = two > best_two ? two : best_two;
        last = same;
        last_size = sizes[i].n;
    }
    bool small = with_usual >= 0.5 * pairs && pairs < 16; /* one fault is a good part of it */
    k->usual = best >= FAB_AUDIT_NEARLY * pairs ? own : small ? usual : 0;
    k->low = k->usual == 0 && best_two >= 0.9 * pairs && best_low > 0 ? best_low : NONE;
}

static fab_status find_rules(finding_blocks *f, fab_error *err) {
    audit_boundary *b = f->b;
    uint32_t n = 0;
    FAB_OWNED_NEW(audit_trunk, sizes, b->n_trunks, err);
    for (uint32_t i = 0; i < b->n_trunks; i++) {
        uint32_t block = b->of[b->trunk[i].lower];
        if (block == b->of[b->trunk[i].upper]) {
            sizes[n] = (audit_trunk){.lower = block, .n = b->trunk[i].n};
            n++;
        }
    }
    FAB_SORT(sizes, n, by_block_and_size);
    uint32_t usual = 0; /* in most trunks of the boundary */
    uint32_t most = 0;
    for (uint32_t size = 1; size <= 64; size++) {
        FAB_SUM(uint32_t, same, i, n, sizes[i].n == size);
        usual = same > most ? size : usual;
        most = same > most ? same : most;
    }
    FAB_EACH_RUN(uint32_t, i, next, n, sizes[next].lower == sizes[i].lower) {
        rule_of_block(&b->block[sizes[i].lower], sizes + i, next - i, most >= FAB_AUDIT_NEARLY * n ? usual : 0);
    }
    find_usual_upper(b);
    return FAB_OK;
}

static fab_status find_boundary(const auditor *a, uint32_t tier, audit_boundary *b, fab_error *err) {
    FAB_OWNS(finding_blocks_release) finding_blocks f = {.a = a, .b = b, .tier = tier};
    FAB_PASS(list_trunks(&f, err));
    FAB_PASS(list_lower(&f, err));
    FAB_PASS(FAB_NEW(b->of, a->net->n_nodes, err));
    memset(b->of, 0xff, a->net->n_nodes * sizeof *b->of);
    FAB_PASS(FAB_NEW(f.votes, (size_t)f.n_lower + 1, err));
    join_blocks(&f);
    FAB_PASS(settle(&f, err));
    FAB_PASS(list_members(&f, err));
    return find_rules(&f, err);
}

fab_status fab_audit_blocks(auditor *a, fab_error *err) {
    FAB_PASS(FAB_NEW(a->boundary, (size_t)a->n_tiers + 2, err));
    for (uint32_t tier = 1; tier < a->n_tiers && !a->net->is_tree_of_names; tier++) {
        FAB_PASS(find_boundary(a, tier, &a->boundary[tier], err));
    }
    return FAB_OK;
}

void fab_audit_blocks_release(auditor *a) {
    for (uint32_t tier = 1; a->boundary != NULL && tier < a->n_tiers; tier++) {
        audit_boundary *b = &a->boundary[tier];
        FAB_FREE_ALL(b->trunk, b->of, b->block, b->member);
    }
    free(a->boundary);
    a->boundary = NULL;
}
