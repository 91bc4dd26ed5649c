/* Which design is replayed next in a search by tokens. */
#include "tokens_internal.h"

double tokens_worst_listed(const token_search *t) {
    return t->n_best <= FAB_RUNNERS_UP ? INFINITY : t->best[FAB_RUNNERS_UP]->candidate->token_usd;
}

ranked *tokens_cheapest_network(token_search *t) {
    ranked *least = &t->all[0];
    for (size_t i = 1; i < t->n; i++) {
        const bool can = isfinite(t->all[i].candidate->token_usd);
        if (can && t->all[i].candidate->value[GOAL_COST] < least->candidate->value[GOAL_COST]) {
            least = &t->all[i];
        }
    }
    return least;
}

/* What is built without further thought: no taper, one plane, whole ports, rails as the family has them. */
static bool is_plain(const ranked *r) {
    const structure *x = r->structure;
    FAB_ALL(is_whole, i, x->n_tiers, x->tier[i].breakout == 1 && x->tier[i].breakout_up == 1);
    return is_whole && x->planes == 1 && x->rails_per_switch == 0 && r->candidate->value[GOAL_TAPER] <= 1 + ROUNDING;
}

/* The least bound of a family (NULL: of any) and tapers up to `taper`, of those that might enter the list. */
static ranked *least_open(token_search *t, const char *family, double taper, bool plain_only) {
    ranked *least = NULL;
    FAB_EACH(ranked, r, t->all, t->n) {
        if (!r->is_tried && r->candidate->token_usd < tokens_worst_listed(t) &&
            (family == NULL || r->structure->family == family) && (!plain_only || is_plain(r)) &&
            r->candidate->value[GOAL_TAPER] <= taper * (1 + ROUNDING) &&
            (least == NULL || tokens_by_price(r, least) < 0)) {
            least = r;
        }
    }
    return least;
}

/* Nothing where one of the family, or of its plain ones, has been looked at. */
static ranked *first_of_family(token_search *t, const char *family, bool plain_only) {
    FAB_EACH(const ranked, r, t->all, t->n) {
        if (r->is_tried && r->structure->family == family && (!plain_only || is_plain(r))) {
            return NULL;
        }
    }
    return least_open(t, family, INFINITY, plain_only);
}

/* The cheapest within a taper; NULL: one that is no dearer has been looked at. */
static ranked *first_of_taper(token_search *t, double taper) {
    ranked *least = least_open(t, NULL, taper, false);
    FAB_ANY(is_seen, i, least != NULL ? t->n : 0,
            t->all[i].is_tried && t->all[i].floor == least->floor &&
                t->all[i].candidate->value[GOAL_TAPER] <= taper * (1 + ROUNDING) &&
                t->all[i].candidate->owned_usd <= least->candidate->owned_usd);
    return is_seen ? NULL : least;
}

/* The same choice, with the taper of one boundary another. */
static bool is_neighbour(const ranked *a, const ranked *b) {
    FAB_SUM(size_t, n_other, i, FAB_MAX_TIERS, a->candidate->asked[i] != b->candidate->asked[i] ? 1 : 0);
    return a->structure == b->structure && n_other == 1;
}

/* The least bound beside the cheapest that was replayed of a family (NULL: of any), of those that might win. */
static ranked *next_beside(token_search *t, const char *family) {
    const ranked *leader = NULL;
    ranked *least = NULL;
    FAB_EACH(const ranked, r, t->all, t->n) {
        if (r->point != NULL && (family == NULL || r->structure->family == family) &&
            (leader == NULL || tokens_by_price(r, leader) < 0)) {
            leader = r;
        }
    }
    FAB_EACH(ranked, r, t->all, leader != NULL ? t->n : 0) {
        if (!r->is_tried && r->candidate->token_usd < t->best[0]->candidate->token_usd && is_neighbour(r, leader) &&
            (least == NULL || tokens_by_price(r, least) < 0)) {
            least = r;
        }
    }
    return least;
}

ranked *tokens_next(token_search *t, size_t *step) {
    const fab_catalog *c = t->s->request->catalog;
    const size_t n = c->n_families;
    ranked *next = *step > n ? next_beside(t, NULL) : NULL;
    for (size_t i = 0; next == NULL && *step > n && i < n; i++) {
        next = next_beside(t, fab_family_find(c->families[i])->name);
    }
    for (; next == NULL && *step <= 2 * n + c->n_tapers; (*step)++) {
        next = *step == 0       ? tokens_cheapest_network(t)
               : *step <= 2 * n ? first_of_family(t, fab_family_find(c->families[(*step - 1) % n])->name, *step <= n)
                                : first_of_taper(t, c->tapers[*step - 1 - 2 * n]);
    }
    return next != NULL ? next : least_open(t, NULL, INFINITY, false);
}

double tokens_look_until(const token_search *t) {
    const uint64_t n_first = 2 * t->s->request->catalog->n_families;
    const double now_s = optimize_now_s();
    return t->n_tried + 1 < n_first && isfinite(t->s->deadline_s)
               ? now_s + (t->s->deadline_s - now_s) / (double)(n_first - t->n_tried)
               : t->s->deadline_s;
}

double tokens_least_of_family(const token_search *t, const char *family) {
    double least = INFINITY;
    FAB_EACH(const ranked, r, t->all, t->n) {
        const double usd = r->open_usd > 0 ? r->open_usd : r->candidate->token_usd;
        least = r->structure->family == family ? fmin(least, usd) : least;
    }
    return least;
}

void tokens_name_unseen(token_search *t) {
    fab_token_search *o = &t->out->tokens;
    const double winner_usd = t->best[0]->candidate->token_usd;
    const fab_catalog *c = t->s->request->catalog;
    FAB_EACH(const ranked, r, t->all, t->n) {
        const bool is_open = !r->candidate->is_replayed && r->candidate->token_usd < winner_usd;
        o->n_open_beside += is_open && is_neighbour(r, t->best[0]) ? r->n : 0;
    }
    for (size_t i = 0; i < c->n_families; i++) {
        const char *family = fab_family_find(c->families[i])->name;
        const ranked *plain = first_of_family(t, family, true);
        if (plain != NULL && plain->candidate->token_usd < winner_usd) {
            fab_append(o->unseen, sizeof o->unseen, "%s%s", o->unseen[0] != '\0' ? ", " : "", family);
        }
    }
}
