#include "cli.h"

#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with their neighbour; words longer than LONGEST are far from everything.
 */
static size_t distance(const char *a, const char *b) {
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    if (n_a > LONGEST || n_b > LONGEST) {
        return SIZE_MAX;
    }
    size_t d[LONGEST + 1][LONGEST + 1] = {{0}};
    for (size_t i = 0; i <= n_a; i++) {
        for (size_t j = 0; j <= n_b; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n_a][n_b];
}

void cli_hint_offer(cli_hint *hint, const char *candidate) {
    size_t d = distance(hint->word, candidate);
    size_t longest = strlen(hint->word) > strlen(candidate) ? strlen(hint->word) : strlen(candidate);
    bool near =
        d <= longest / 3 || (strlen(hint->word) >= 3 && strncmp(hint->word, candidate, strlen(hint->word)) == 0);
    if (near && (hint->text[0] == '\0' || d < hint->distance)) {
        hint->distance = d;
        (void)snprintf(hint->text, sizeof hint->text, "; did you mean '%.63s'?", candidate);
    }
}

const char *cli_hint_text(const cli_hint *hint) {
    return hint->text;
}
