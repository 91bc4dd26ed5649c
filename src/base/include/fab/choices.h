/** What could have been meant by an unknown word: the nearest of the names that there are, and all of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FAB_CHOICES_TEXT 360 /**< bytes of a text that fits behind the beginning of a message */

typedef struct fab_choices {
    const char *word; /**< borrowed */
    size_t distance;  /**< of `best` */
    char best[64];    /**< nearest name so far, or "" */
    char all[512];    /**< every name, ", " between; cut where it is full */
    size_t length;
    bool is_cut;
    char text[FAB_CHOICES_TEXT]; /**< that was asked for last */
} fab_choices;

fab_choices fab_choices_of(const char *word);

/**
 * Takes one name into account. Near are, the nearest first: the same but for case, `-`, `_` and blanks, or what the
 * field calls it as well (oversubscription: taper); a third of the letters or fewer, or one of two, inserted, deleted,
 * replaced or swapped; names that begin with the word; names of which it is a part ("taper" of "max-taper"). Of equals
 * the first offered is kept. Complexity: O(letters of the word x letters of the name).
 */
void fab_choices_offer(fab_choices *choices, const char *name);

/** "; did you mean 'x'?", or "". It lasts until the next text of these choices. */
const char *fab_choices_hint(fab_choices *choices);

/** "; did you mean 'x'? allowed: a, b, c" with label "allowed:", likewise. */
const char *fab_choices_list(fab_choices *choices, const char *label);
