/* Text report: what a sweep over tapers changes besides: how many servers share a leaf, and whether their groups
 * straddle leaves; and one over spares: the uplinks that leaves give up for them. */
#include "text/text_sections.h"

#define STRADDLES   1.005 /* what a leaf sends over the mean, above which leaves are unlike */
#define ROUNDING    1e-9
#define MOST_TEXT   360
#define MOST_RANDOM 8 /* points of which it is said */
#define MOST_ONE    (FAB_NAME_SIZE + 16)

/* The phase that leaves send the least alike in; NULL: nothing leaves a leaf. */
static const fab_sweep_phase *leaf_phase(const fab_sweep_point *p) {
    const fab_sweep_phase *most = NULL;
    for (size_t i = 0; p->is_built && i < p->n_phases; i++) {
        const fab_sweep_phase *phase = &p->phases[i];
        const double least = most != NULL ? most->leaf_excess_ratio : 0;
        most = phase->leaf_excess_ratio > least ? phase : most;
    }
    return most;
}

/* What is said of leaves: more cables to NICs than the like have, groups of servers that straddle them, more taper,
 * more tiers above. */
typedef enum leaf_what { LEAF_CABLES, LEAF_STRADDLES, LEAF_TAPER, LEAF_TIERS } leaf_what;

static bool is_key(const char *path, const char *name) {
    const char *key = fab_text_short_path(path);
    const size_t n = strlen(name);
    key += strncmp(key, "tier.1.", 7) == 0 ? 7 : 0;
    return strncmp(key, name, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

static const char *leaf_key(leaf_what what) {
    return what >= LEAF_TAPER ? "spares" : "taper";
}

/* Whether two points differ in the key alone, as far as leaves go: those of another family are others anyhow. */
static bool have_like_leaves(const fab_sweep *s, const fab_sweep_point *a, const fab_sweep_point *b, leaf_what what) {
    FAB_ALL(are_like, k, s->n_paths,
            s->compares_designs || is_key(s->path[k], leaf_key(what)) || strcmp(a->value[k], b->value[k]) == 0);
    return are_like && a->is_built && b->is_built && strcmp(a->family, b->family) == 0;
}

/* Cables to NICs of a leaf, 0: nothing leaves one; or the taper of leaves as built, or the tiers. */
static double leaf_figure(const fab_sweep_point *p, leaf_what what) {
    const fab_sweep_phase *phase = leaf_phase(p);
    return what == LEAF_TIERS   ? (double)p->counts.tiers
           : what == LEAF_TAPER ? p->counts.built_taper[0]
           : phase != NULL      ? (double)phase->leaf_cables
                                : 0;
}

/* The least figure that a leaf has at points like it; 0: none has one. */
static double least_figure(const fab_sweep *s, const fab_sweep_point *p, leaf_what what) {
    double least = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        const double mine = have_like_leaves(s, p, &s->points[i], what) ? leaf_figure(&s->points[i], what) : 0;
        least = mine > 0 && (least == 0 || mine < least) ? mine : least;
    }
    return least;
}

/* What is said of a point's leaves, or nothing. */
static const char *leaf_text(const fab_sweep *s, const fab_sweep_point *p, leaf_what what, char out[MOST_ONE]) {
    const fab_sweep_phase *phase = leaf_phase(p);
    const bool is_due = !s->compares_designs || (p->settings != NULL && strstr(p->settings, leaf_key(what)) != NULL);
    const double figure = p->is_built && is_due ? leaf_figure(p, what) : 0; /* else another key makes it */
    out[0] = '\0';
    if (what == LEAF_STRADDLES && phase != NULL && phase->leaf_excess_ratio > STRADDLES) {
        fab_append(out, MOST_ONE, "x%.2f in %s", phase->leaf_excess_ratio, phase->name);
    } else if (what != LEAF_STRADDLES && figure > least_figure(s, p, what) * (1 + ROUNDING)) {
        fab_append(out, MOST_ONE, what == LEAF_TAPER ? "%.3g" : "%.0f", figure);
        if (what >= LEAF_TAPER) {
            fab_append(out, MOST_ONE, "%s of %" PRIu64 " switches", what == LEAF_TIERS ? " tiers" : "",
                       p->counts.switches);
        }
    }
    return out;
}

/* "20 at 2, 3; 24 at 7": points of which the same is said stand together. */
static void leaf_list(fab_page *page, const fab_sweep *s, leaf_what what, char out[MOST_TEXT]) {
    char mine[MOST_ONE];
    char its[MOST_ONE];
    out[0] = '\0';
    for (size_t i = 0; i < s->n_points; i++) {
        bool is_said = leaf_text(s, &s->points[i], what, mine)[0] == '\0';
        for (size_t k = 0; k < i && !is_said; k++) {
            is_said = strcmp(leaf_text(s, &s->points[k], what, its), mine) == 0;
        }
        const char *before = is_said ? "" : fab_show(page, "%s%s at ", out[0] != '\0' ? "; " : "", mine);
        for (size_t k = i; k < s->n_points && !is_said; k++) {
            if (strcmp(leaf_text(s, &s->points[k], what, its), mine) == 0) {
                if (strlen(out) + MOST_ONE > MOST_TEXT - FAB_NAME_SIZE) { /* no room for one more: the JSON has all */
                    fab_append(out, MOST_TEXT, ", ...");
                    return;
                }
                fab_append(out, MOST_TEXT, "%s%s", before, fab_text_sweep_point(page, s, &s->points[k]));
                before = ", ";
            }
        }
    }
}

/* Whether the key is varied, or compared designs of one family differ in it. */
static bool differ_in(const fab_sweep *s, const char *key) {
    FAB_ANY(differ, k, s->n_paths, is_key(s->path[k], key));
    for (size_t i = 0; s->compares_designs && i < s->n_points; i++) {
        const char *settings = s->points[i].settings;
        differ = differ || (settings != NULL && strstr(settings, key) != NULL);
    }
    return differ;
}

/* The least figure of all points that others have more than; 0: unlike ones have unlike figures. */
static double common_least(const fab_sweep *s, leaf_what what) {
    char text[MOST_ONE];
    double common = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        if (leaf_text(s, &s->points[i], what, text)[0] != '\0') {
            const double least = least_figure(s, &s->points[i], what);
            if (common > 0 && fabs(least / common - 1) > ROUNDING) {
                return 0;
            }
            common = least;
        }
    }
    return common;
}

static bool splits_evenly(const fab_sweep *s) {
    bool splits = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        FAB_ANY(some, e, p->n_engines, strncmp(p->engines[e].label, "spray,weights=equal", 19) == 0);
        splits = splits || some;
    }
    return splits;
}

/* Leaves give up uplinks for spares, unless the taper is to hold with them. */
static void leaves_put_spares(fab_page *page, const fab_sweep *s) {
    char more[MOST_TEXT];
    const double least = common_least(s, LEAF_TAPER);
    if (!differ_in(s, "spares") || (s->compares_designs && differ_in(s, "taper"))) {
        return;
    }
    leaf_list(page, s, LEAF_TAPER, more);
    if (more[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "Not the spares alone: leaves give up uplinks for them, and their taper as built is more than "
                       "%s (%s), used or not.%s%s",
                       least > 0 ? fab_show(page, "%.3g", least) : "with fewer spares", more,
                       differ_in(s, "full-spares")
                           ? ""
                           : " --set full-spares=yes holds it, by more switches or a tier more; its "
                             "leaves are others, and jobs may take longer: compare that too.",
                       splits_evenly(s) ? " Where trunks are unequal then, --engine spray,weights=capacity shares in "
                                          "proportion, if switches can: compare under that too."
                                        : "");
    }
    leaf_list(page, s, LEAF_TIERS, more);
    if (more[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "Not the spares alone: ports suffice for %s without them (%s): networks and plans are others.",
                       common_least(s, LEAF_TIERS) > 0 ? fab_show(page, "%.0f tiers", common_least(s, LEAF_TIERS))
                                                       : "fewer tiers",
                       more);
    }
}

/* A taper changes how many servers share a leaf as well, unless `down` holds them: which points show more than it. */
static void leaves_put_taper(fab_page *page, const fab_sweep *s) {
    char wider[MOST_TEXT];
    char uneven[MOST_TEXT];
    const uint64_t least = (uint64_t)common_least(s, LEAF_CABLES);
    if (!differ_in(s, "taper")) {
        return;
    }
    leaf_list(page, s, LEAF_CABLES, wider);
    leaf_list(page, s, LEAF_STRADDLES, uneven);
    if (wider[0] != '\0') {
        fab_page_say(page,
                     "Not the taper alone: a leaf fills its ports and has more cables to NICs than %s (%s), which "
                     "changes the flows that leave it",
                     least > 0 ? fab_show_count(page, least) : "under less taper", wider);
        if (uneven[0] != '\0') {
            fab_page_say(page, "; leaves do not send alike, the fullest more than the mean (%s)", uneven);
        }
        fab_page_say(page,
                     least > 0 ? ". --set down.1=%" PRIu64 " shows the taper alone, as near as cables allow." : ".",
                     least);
        fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
    }
}

/* "13.7 %", "x2.21 as long" */
static const char *random_show(fab_page *page, double more) {
    return more > 1 ? fab_show(page, "x%.3g as long", 1 + more) : fab_show_percent(page, fmax(more, 0));
}

/* Tapers rest on ranks in order. */
static void leaves_put_random(fab_page *page, const fab_sweep *s) {
    size_t n_said = 0;
    double worst = 1;
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_engine *engine = fab_sweep_has_time(&s->points[i], 0) ? &s->points[i].engines[0] : NULL;
        worst = engine != NULL && engine->random_s > 0 ? fmax(worst, engine->random_s / engine->time_s) : worst;
    }
    for (size_t i = 0; i < s->n_points && worst > 1 + FAB_EVEN_RATIO && n_said < MOST_RANDOM; i++) {
        const fab_sweep_engine *engine = fab_sweep_has_time(&s->points[i], 0) ? &s->points[i].engines[0] : NULL;
        if (engine != NULL && engine->random_s > 0) {
            fab_page_say(
                page, "%s%s at %s",
                n_said++ > 0 ? ", "
                             : "Ranks stand in order; with --job placement=random iterations take longer under "
                               "these plans: ",
                random_show(page, engine->random_s / engine->time_s - 1), fab_text_sweep_point(page, s, &s->points[i]));
        }
    }
    if (n_said > 0) {
        fab_page_say(page, n_said == MOST_RANDOM ? " and so on (JSON: random_s)." : ".");
        fab_page_paragraph(page, FAB_INK_BAD, 2, 2);
    }
}

const char *fab_text_as_built(fab_page *page, const fab_sweep_point *p) {
    FAB_ANY(differs, t, (size_t)FAB_MAX_TIERS,
            t + 1 < p->counts.tiers &&
                strcmp(fab_show_about(page, p->taper[t]), fab_show_about(page, p->counts.built_taper[t])) != 0);
    return differs ? fab_show(page, " (%s as built)", fab_show_tapers(page, p->counts.tiers, p->counts.built_taper))
                   : "";
}

void fab_text_leaves_of_points(fab_page *page, const fab_sweep *s) {
    leaves_put_random(page, s);
    leaves_put_taper(page, s);
    leaves_put_spares(page, s);
}
