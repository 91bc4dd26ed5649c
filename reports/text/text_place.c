/* Text report: the best and the worst placement that a search found. */
#include "text_sections.h"

#define SAME   5e-4 /* part of a time that three digits do not show */
#define LITTLE 1e-3 /* part of it that is no gain over other seeds */

static void place_put_list(fab_page *page, const fab_place_search *s, const char *word, const fab_placed *placed,
                           fab_ink ink) {
    char list[FAB_SERVERS_SIZE + sizeof s->plan + 16];
    double ratio = s->best.time_s > 0 ? placed->time_s / s->best.time_s : 1;
    fab_page_printf(page, ink, "  %-7s%10s", word, fab_show_time(page, placed->time_s));
    fab_page_printf(page, FAB_INK_PLAIN, "  x%.3f", ratio);
    if (s->check_seeds > 0) {
        fab_page_printf(page, FAB_INK_DIM, "  on %" PRIu64 " other seeds %s", s->check_seeds,
                        fab_show_time(page, placed->check_s));
    }
    fab_page_end_line(page);
    FAB_FORMAT(list, "%s%sservers=%s", s->plan, s->plan[0] != '\0' ? "," : "", placed->servers);
    fab_page_shell(page, FAB_INK_PLAIN, 6, list);
}

static bool place_differs(const fab_place_search *s) {
    return s->worst.time_s > s->best.time_s * (1 + SAME);
}

/* "All 35 placements that differ, lengths of cables apart, were evaluated: proven." */
static void place_put_proof(fab_page *page, const fab_place_search *s) {
    if (s->is_proven) {
        fab_page_say(page, "Proven: all %s that differ, lengths of cables apart, %s evaluated.",
                     fab_show_counted(page, s->n_distinct, "placement", "placements"),
                     s->n_distinct == 1 ? "was" : "were");
    } else {
        fab_page_say(page, "Found by search, not proven: %s of a budget of %s (--budget).",
                     fab_show_counted(page, s->n_tried, "placement evaluated", "placements evaluated"),
                     fab_show_count(page, s->budget));
    }
    if (s->least_s > 0) {
        fab_page_say(page, " No placement and no routing needs less than %s, latency apart.",
                     fab_show_time(page, s->least_s));
    }
    fab_page_say(page, " Times are of %s.", s->by_iteration ? "an iteration" : "all phases one after the other");
    if (s->check_seeds > 0 && place_differs(s) && s->best.time_s < s->listed.time_s * (1 - SAME) &&
        s->best.check_s >= s->listed.check_s) {
        fab_page_say(page, " The best of these seeds is no better than the listed order on others: its gain is luck.");
    }
    fab_page_paragraph(page, FAB_INK_DIM, 2, 2);
}

static void place_put_search(fab_page *page, const fab_place_search *s, bool is_only) {
    const char *label = fab_text_routing(page, s->label);
    if (s->note[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "%s%s%s", is_only ? "" : label, is_only ? "" : ": ", s->note);
    }
    if (!s->is_searched || s->n_distinct == 1) {
        return;
    }
    double gain = s->listed.time_s / s->best.time_s;
    if (!place_differs(s)) {
        const char *tried = s->is_proven
                                ? "placements do not differ: all"
                                : fab_show(page, "none of %s differs: all",
                                           fab_show_counted(page, s->n_tried, "placement tried", "placements tried"));
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "Under %s %s take %s%s.", label, tried,
                       fab_show_time(page, s->best.time_s), s->check_seeds > 0 ? " under the first seed" : "");
    } else {
        fab_page_say(page, "Under %s the worst placement takes x%.3f as long as the best", label,
                     s->worst.time_s / s->best.time_s);
        if (s->check_seeds > 0) {
            const double other = s->worst.check_s / s->best.check_s;
            fab_page_say(page, " in this draw, x%.3f over %s others%s", other, fab_show_count(page, s->check_seeds),
                         other <= 1 + LITTLE ? ": which one is best is luck" : "");
        }
        fab_page_say(page, "; the listed order ");
        if (gain <= 1 + SAME) {
            fab_page_say(page, "is the best%s.", s->is_proven ? "" : " that was found");
        } else {
            fab_page_say(page, "takes x%.3f.", gain);
        }
        fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
        place_put_list(page, s, "best", gain <= 1 + SAME ? &s->listed : &s->best, FAB_INK_GOOD);
        place_put_list(page, s, "worst", &s->worst, FAB_INK_BAD);
        if (gain > 1 + SAME) {
            place_put_list(page, s, "listed", &s->listed, FAB_INK_PLAIN);
        }
    }
    place_put_proof(page, s);
}

void fab_text_placements(fab_page *page, const fab_sweep *sweep) {
    for (size_t i = 0; i < sweep->n_searches; i++) {
        place_put_search(page, &sweep->searches[i], sweep->n_searches == 1);
    }
}
