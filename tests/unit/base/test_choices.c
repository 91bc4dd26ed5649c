#include "fab/choices.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *meant(const char *word, const char *const *names) {
    static fab_choices choices;
    choices = fab_choices_of(word);
    for (size_t i = 0; names[i] != NULL; i++) {
        fab_choices_offer(&choices, names[i]);
    }
    return choices.best;
}

static const char *const NAMES[] = {"clos",      "fat-tree", "rail-spine",           "rail-only", "taper",
                                    "radix",     "nic",      "nics-per-server",      "tp",        "all-reduce",
                                    "adaptive",  "links",    "max_collision_factor", "tiers",     "bisection_bps",
                                    "reduction", NULL};

Test(choices, nearest) {
    static const struct {
        const char *word, *name;
    } CASES[] = {
        {"Clos", "clos"},                      /* case */
        {"fattree", "fat-tree"},               /* dashes */
        {"all_reduce", "all-reduce"},          /* underscores */
        {"radxi", "radix"},                    /* neighbours swapped */
        {"tq", "tp"},                          /* one of two letters */
        {"rail-optimized", "rail-spine"},      /* another word of the field */
        {"oversubscription", "taper"},         /* the same */
        {"AR", "adaptive"},                    /* the same, of two letters */
        {"cables", "links"},                   /* the same */
        {"bisection", "bisection_bps"},        /* beginning */
        {"collision", "max_collision_factor"}, /* part */
        {"x", ""},
        {"", ""},
        {"-", ""},
        {"quantum", ""},
        {"a-word-that-is-much-longer-than-any-name-of-this-program-could-ever-be", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        cr_expect_str_eq(meant(CASES[i].word, NAMES), CASES[i].name, "%s: %s", CASES[i].word,
                         meant(CASES[i].word, NAMES));
    }
}

Test(choices, options_keep_their_dashes) {
    static const char *const OPTIONS[] = {"--gpus", "--max-taper", "--max-power", NULL};
    cr_expect_str_eq(meant("--taper", OPTIONS), "--max-taper");
    cr_expect_str_eq(meant("--oversubscription", (const char *const[]){"--taper", NULL}), "--taper");
}

Test(choices, of_equals_the_first) {
    cr_expect_str_eq(meant("railx", (const char *const[]){"rails", "raily", NULL}), "rails");
}

Test(choices, texts) {
    fab_choices choices;
    choices = fab_choices_of("taler");
    cr_expect_str_eq(fab_choices_hint(&choices), "");
    fab_choices_offer(&choices, "taper");
    fab_choices_offer(&choices, "radix");
    cr_expect_str_eq(fab_choices_hint(&choices), "; did you mean 'taper'?");
    cr_expect_str_eq(fab_choices_list(&choices, "one of"), "; did you mean 'taper'? one of taper, radix");
    choices = fab_choices_of("quantum");
    fab_choices_offer(&choices, "taper");
    cr_expect_str_eq(fab_choices_list(&choices, "one of"), "; one of taper");
}

/* What follows from several keys is none by another name. */
Test(choices, what_is_no_key_says_what_it_follows_from) {
    fab_choices choices = fab_choices_of("spines");
    fab_choices_offer(&choices, "taper");
    fab_choices_offer(&choices, "gpus");
    cr_expect_str_eq(fab_choices_list(&choices, "allowed:"),
                     "; did you mean 'taper'? Spines follow from gpus, radix and taper: about gpus / radix / taper of "
                     "them in two tiers; build counts them. allowed: taper, gpus");
    choices = fab_choices_of("oversubscription");
    fab_choices_offer(&choices, "taper");
    cr_expect_str_eq(fab_choices_hint(&choices), "; did you mean 'taper'?");
}

/* A list that is too long ends with a whole word and dots, whatever the length of the words. */
Test(choices, long_lists_are_cut_at_a_word) {
    for (size_t length = 1; length <= 60; length++) {
        fab_choices choices;
        char name[64];
        memset(name, 'w', length);
        name[length] = '\0';
        choices = fab_choices_of("zz");
        for (int i = 0; i < 600; i++) {
            fab_choices_offer(&choices, name);
        }
        const char *text = fab_choices_list(&choices, "allowed:");
        size_t n = strlen(text);
        cr_assert(n < FAB_CHOICES_TEXT && strcmp(text + n - 5, ", ...") == 0, "%zu: %s", length, text);
        size_t last = 0;
        while (n > 5 + last && text[n - 6 - last] == 'w') {
            last++;
        }
        cr_assert_eq(last, length, "%s", text);
    }
}
