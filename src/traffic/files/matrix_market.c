/* MatrixMarket coordinate files, whose rows and columns count from 1. */
#include "matrix_cursor.h"

#include <strings.h>

/* Word of the header line: one of the first `n_good` of `words` is fine, the others are known but not supported. */
static fab_status read_word(matrix_cursor *c, const char *const *words, size_t n_good, fab_error *err) {
    matrix_skip_blanks(c);
    size_t n = strcspn(c->at, " \t\r\n");
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == n && strncasecmp(c->at, words[i], n) == 0) {
            if (i >= n_good) {
                char text[160];
                FAB_FORMAT(text, "'%s' matrices are not supported; write '%s'", words[i], words[0]);
                return matrix_fail_at(c, c->at, FAB_EUNSUPPORTED, err, text);
            }
            c->at += n;
            return FAB_OK;
        }
    }
    char text[48];
    FAB_FORMAT(text, "'%s'", words[0]);
    return matrix_unexpected(c, text, err);
}

static fab_status read_market_header(matrix_cursor *c, fab_error *err) {
    static const char *const OBJECT[] = {"matrix", "vector", NULL};
    static const char *const LAYOUT[] = {"coordinate", "array", NULL};
    static const char *const FIELD[] = {"integer", "real", "complex", "pattern", NULL};
    static const char *const SYMMETRY[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    c->at += strlen(MATRIX_BANNER);
    FAB_PASS(read_word(c, OBJECT, 1, err));
    FAB_PASS(read_word(c, LAYOUT, 1, err));
    FAB_PASS(read_word(c, FIELD, 2, err));
    FAB_PASS(read_word(c, SYMMETRY, 1, err));
    return matrix_expect_end(c, err);
}

fab_status matrix_read_market(matrix_cursor *c, fab_phase_builder *builder, fab_error *err) {
    uint64_t rows = 0;
    uint64_t columns = 0;
    uint64_t n_entries = 0;
    FAB_PASS(read_market_header(c, err));
    matrix_skip_lines(c, '%');
    FAB_PASS(matrix_read_count(c, c->by_servers ? "rows (servers)" : "rows (GPUs)", 1, c->n_gpus, &rows, err));
    matrix_skip_blanks(c);
    FAB_PASS(matrix_read_count(c, c->by_servers ? "columns (servers)" : "columns (GPUs)", 1, c->n_gpus, &columns, err));
    matrix_skip_blanks(c);
    FAB_PASS(matrix_read_count(c, "entries", 0, UINT32_MAX, &n_entries, err));
    FAB_PASS(matrix_expect_end(c, err));
    for (uint64_t i = 0; i < n_entries; i++) {
        uint64_t src = 0;
        uint64_t dst = 0;
        uint64_t bytes = 0;
        matrix_skip_lines(c, '%');
        const char *start = c->at;
        if (c->at == c->end) {
            char text[96];
            FAB_FORMAT(text, "entry %" PRIu64 " of %" PRIu64, i + 1, n_entries);
            FAB_PASS(matrix_unexpected(c, text, err));
        }
        FAB_PASS(matrix_read_count(c, "row", 1, rows, &src, err));
        matrix_skip_blanks(c);
        FAB_PASS(matrix_read_count(c, "column", 1, columns, &dst, err));
        matrix_skip_blanks(c);
        FAB_PASS(matrix_read_bytes(c, &bytes, err));
        FAB_PASS(matrix_add_entry(c, start, src - 1, dst - 1, bytes, builder, err));
        FAB_PASS(matrix_expect_end(c, err));
    }
    matrix_skip_lines(c, '%');
    if (c->at != c->end) {
        char text[96];
        FAB_FORMAT(text, "the end of the file after %" PRIu64 " entries", n_entries);
        return matrix_unexpected(c, text, err);
    }
    return FAB_OK;
}
