/* Text report: what a sweep over tapers changes besides: how many servers share a leaf, and whether their groups
 * straddle leaves. */
#include "fab/str.h"
#include "text/text_sections.h"

#include <inttypes.h>
#include <string.h>

#define STRADDLES 1.005 /* what a leaf sends over the mean, above which leaves are unlike */
#define MOST_TEXT 360
#define MOST_ONE  (FAB_NAME_SIZE + 16)

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

static bool is_taper(const char *path) {
    const char *key = fab_text_short_path(path);
    key += strncmp(key, "tier.1.", 7) == 0 ? 7 : 0;
    return strncmp(key, "taper", 5) == 0 && (key[5] == '\0' || key[5] == '.');
}

/* Whether two points differ in their taper alone, as far as leaves go: those of another family are others anyhow. */
static bool have_like_leaves(const fab_sweep *s, const fab_sweep_point *a, const fab_sweep_point *b) {
    bool are_like = a->is_built && b->is_built && strcmp(a->family, b->family) == 0;
    for (size_t k = 0; k < s->n_paths && !s->compares_designs; k++) {
        are_like = are_like && (is_taper(s->path[k]) || strcmp(a->value[k], b->value[k]) == 0);
    }
    return are_like;
}

/* The fewest cables to NICs that a leaf has at points like it; 0: nothing leaves one. */
static uint64_t least_cables(const fab_sweep *s, const fab_sweep_point *p) {
    uint64_t least = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_phase *phase = have_like_leaves(s, p, &s->points[i]) ? leaf_phase(&s->points[i]) : NULL;
        least = phase != NULL && (least == 0 || phase->leaf_cables < least) ? phase->leaf_cables : least;
    }
    return least;
}

/* What is said of a point's leaves, or nothing: more cables than those like it; or groups of servers that straddle
 * them. */
static const char *leaf_text(const fab_sweep *s, const fab_sweep_point *p, bool of_cables, char out[MOST_ONE]) {
    const fab_sweep_phase *phase = leaf_phase(p);
    out[0] = '\0';
    if (phase != NULL && of_cables && phase->leaf_cables > least_cables(s, p)) {
        fab_append(out, MOST_ONE, "%" PRIu64, phase->leaf_cables);
    } else if (phase != NULL && !of_cables && phase->leaf_excess_ratio > STRADDLES) {
        fab_append(out, MOST_ONE, "x%.2f in %s", phase->leaf_excess_ratio, phase->name);
    }
    return out;
}

/* "20 at 2, 3; 24 at 7": points of which the same is said stand together. */
static void leaf_list(fab_page *page, const fab_sweep *s, bool of_cables, char out[MOST_TEXT]) {
    char mine[MOST_ONE];
    char its[MOST_ONE];
    out[0] = '\0';
    for (size_t i = 0; i < s->n_points; i++) {
        bool is_said = leaf_text(s, &s->points[i], of_cables, mine)[0] == '\0';
        for (size_t k = 0; k < i && !is_said; k++) {
            is_said = strcmp(leaf_text(s, &s->points[k], of_cables, its), mine) == 0;
        }
        const char *before = is_said ? "" : fab_show(page, "%s%s at ", out[0] != '\0' ? "; " : "", mine);
        for (size_t k = i; k < s->n_points && !is_said; k++) {
            if (strcmp(leaf_text(s, &s->points[k], of_cables, its), mine) == 0) {
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

/* Whether a taper is varied, or compared designs of one family differ in one. */
static bool differ_in_taper(const fab_sweep *s) {
    bool differ = false;
    for (size_t k = 0; k < s->n_paths; k++) {
        differ = differ || is_taper(s->path[k]);
    }
    for (size_t i = 0; s->compares_designs && i < s->n_points; i++) {
        const char *settings = s->points[i].settings;
        differ = differ || (settings != NULL && strstr(settings, "taper") != NULL);
    }
    return differ;
}

/* The fewest cables of all points that others have more than; 0: unlike ones have unlike numbers. */
static uint64_t common_least(const fab_sweep *s) {
    char text[MOST_ONE];
    uint64_t common = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        if (leaf_text(s, &s->points[i], true, text)[0] != '\0') {
            const uint64_t least = least_cables(s, &s->points[i]);
            if (common > 0 && least != common) {
                return 0;
            }
            common = least;
        }
    }
    return common;
}

/* A taper changes how many servers share a leaf as well, unless `down` holds them: which points show more than it. */
void fab_text_leaves_of_points(fab_page *page, const fab_sweep *s) {
    char wider[MOST_TEXT];
    char uneven[MOST_TEXT];
    const uint64_t least = common_least(s);
    if (!differ_in_taper(s)) {
        return;
    }
    leaf_list(page, s, true, wider);
    leaf_list(page, s, false, uneven);
    if (wider[0] != '\0') {
        fab_page_say(page,
                     "Not the taper alone: a leaf fills its ports and has more cables to NICs than %s (%s), which "
                     "changes the flows that leave it",
                     least > 0 ? fab_show_count(page, least) : "under less taper", wider);
        if (uneven[0] != '\0') {
            fab_page_say(page, "; where groups of servers straddle leaves the fullest sends more than the mean (%s)",
                         uneven);
        }
        fab_page_say(page, least > 0 ? ". --set down.1=%" PRIu64 " shows the taper alone." : ".", least);
        fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
    }
}
