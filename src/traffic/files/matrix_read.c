/*
 * Traffic matrices in: CSV with the header src,dst,bytes or its synonyms (GPUs from 0), MatrixMarket coordinate general
 * (from 1), or a square of numbers, row i and column j what GPU i sends to GPU j, between commas, semicolons or blanks.
 *
 * Bytes are whole or decimal numbers, rounded to whole bytes; entries of zero are dropped. Entries of the same pair
 * stay separate flows. Lines end in LF or CRLF; empty lines and comments (# in CSV, % in MatrixMarket) may stand
 * anywhere.
 */
#include "file_formats.h"

#include "fab/memory.h"
#include "fab/str.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct cursor {
    const char *path;
    const char *at, *end; /* *end is NUL */
    const char *line_start;
    uint64_t line;            /* from 1 */
    uint32_t n_gpus;          /* servers, where these are named */
    bool by_servers;          /* rows are servers, whose bytes are those of their GPUs, evenly */
    uint32_t gpus_per_server; /* 1 where rows are GPUs */
    uint32_t n_named;         /* the largest that is named, and one */
} cursor;

/* Records "path:line:column" (the end of a long path) and the text. */
static fab_status matrix_fail_at(const cursor *c, const char *at, fab_status code, fab_error *err, const char *what) {
    char where[192];
    char place[48];
    (void)snprintf(place, sizeof place, ":%" PRIu64 ":%zu", c->line, (size_t)(at - c->line_start) + 1);
    size_t room = sizeof where - strlen(place) - 1;
    size_t length = strlen(c->path);
    (void)snprintf(where, sizeof where, "%s%s", length > room ? c->path + (length - room) : c->path, place);
    return fab_fail(err, code, where, "%s", what);
}

/* "expected X, found 'y'" or what else there is. */
static fab_status unexpected(const cursor *c, const char *expected, fab_error *err) {
    char text[256];
    unsigned char byte = (unsigned char)*c->at;
    if (c->at == c->end) {
        (void)snprintf(text, sizeof text, "expected %s, found the end of the file", expected);
    } else if (byte == '\n' || byte == '\r') {
        (void)snprintf(text, sizeof text, "expected %s, found the end of the line", expected);
    } else if (byte < ' ' || byte > '~') {
        (void)snprintf(text, sizeof text, "expected %s, found byte 0x%02x: not a text file", expected, byte);
    } else {
        int n = (int)strcspn(c->at, ", \t\r\n");
        n = n < 1 ? 1 : n > 40 ? 40 : n;
        (void)snprintf(text, sizeof text, "expected %s, found '%.*s'", expected, n, c->at);
    }
    return matrix_fail_at(c, c->at, FAB_EINPUT, err, text);
}

static void matrix_skip_blanks(cursor *c) {
    while (*c->at == ' ' || *c->at == '\t') {
        c->at++;
    }
}

static bool at_line_end(const cursor *c) {
    return c->at == c->end || *c->at == '\n' || (*c->at == '\r' && c->at[1] == '\n');
}

static void next_line(cursor *c) {
    if (*c->at == '\r') {
        c->at++;
    }
    if (*c->at == '\n') {
        c->at++;
        c->line++;
        c->line_start = c->at;
    }
}

/* Moves to the first byte that is neither blank nor comment. */
static void skip_empty_lines(cursor *c, char comment) {
    for (;;) {
        matrix_skip_blanks(c);
        if (*c->at == comment) {
            const char *stop = memchr(c->at, '\n', (size_t)(c->end - c->at));
            c->at = stop == NULL ? c->end : stop;
        }
        if (c->at == c->end || !at_line_end(c)) {
            return;
        }
        next_line(c);
    }
}

static fab_status expect_line_end(cursor *c, fab_error *err) {
    matrix_skip_blanks(c);
    if (!at_line_end(c)) {
        return unexpected(c, "the end of the line", err);
    }
    next_line(c);
    return FAB_OK;
}

/* Whole number within [min, max]; `name` is what it stands for. */
static fab_status matrix_read_count(cursor *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                                    fab_error *err) {
    const char *start = c->at;
    uint64_t value = 0;
    bool overflow = false;
    for (; *c->at >= '0' && *c->at <= '9'; c->at++) {
        uint64_t digit = (uint64_t)(*c->at - '0');
        overflow = overflow || value > (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    char text[160];
    if (c->at == start) {
        (void)snprintf(text, sizeof text, "%s (a whole number)", name);
        return unexpected(c, text, err);
    }
    if (overflow || value < min || value > max) {
        (void)snprintf(text, sizeof text, "%s %.*s is outside %" PRIu64 " to %" PRIu64, name,
                       (int)(c->at - start < 24 ? c->at - start : 24), start, min, max);
        return matrix_fail_at(c, start, FAB_EINPUT, err, text);
    }
    *out = value;
    return FAB_OK;
}

/* "1GB", "2.5MiB": with a unit. */
static bool read_sized(cursor *c, uint64_t *out) {
    char text[48];
    double value = 0;
    const size_t n = strcspn(c->at, ",; \t\r\n");
    if (n >= sizeof text || strpbrk(c->at, "Bb") == NULL || strpbrk(c->at, "Bb") >= c->at + n) {
        return false;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)n, c->at);
    if (fab_quantity_parse(text, FAB_UNIT_BYTES, &value, NULL) != FAB_OK || !(value < 9.2e18)) {
        return false;
    }
    c->at += n;
    *out = (uint64_t)(value + 0.5);
    return true;
}

/* Whole or decimal number of bytes, or one with its unit, at least 0. */
static fab_status read_bytes(cursor *c, uint64_t *out, fab_error *err) {
    const char *start = c->at;
    bool negative = *start == '-';
    size_t digits = strspn(start, "0123456789");
    char behind = start[digits];
    bool decimal = (digits > 0 && (behind == '.' || behind == 'e' || behind == 'E')) ||
                   (behind == '.' && start[1] >= '0' && start[1] <= '9');
    if (digits > 0 && read_sized(c, out)) {
        return FAB_OK;
    }
    if (!decimal && digits > 0) {
        return matrix_read_count(c, "bytes", 0, INT64_MAX, out, err);
    }
    if (!decimal) {
        return unexpected(c, negative ? "a number of bytes of at least 0" : "a number of bytes", err);
    }
    char *stop = NULL;
    double value = strtod(start, &stop);
    if (!(value < 9.2e18)) {
        return matrix_fail_at(c, start, FAB_EINPUT, err, "bytes above the limit of 9.2e18");
    }
    c->at = stop;
    *out = (uint64_t)(value + 0.5);
    return FAB_OK;
}

/* Checks one entry that starts at `start` and adds it. */
static fab_status matrix_add_entry(cursor *c, const char *start, uint64_t src, uint64_t dst, uint64_t bytes,
                                   fab_phase_builder *builder, fab_error *err) {
    const uint32_t n = c->gpus_per_server;
    if (src == dst) {
        return matrix_fail_at(c, start, FAB_EINPUT, err,
                              c->by_servers ? "a server sends to itself" : "a GPU sends to itself");
    }
    if (bytes > (uint64_t)INT64_MAX - builder->phase.total_bytes) {
        return matrix_fail_at(c, start, FAB_EINPUT, err, "the bytes of all entries add up to more than 2^63");
    }
    for (uint32_t k = 0; k < n; k++) { /* GPU k to GPU k, which keeps rails */
        fab_phase_add(builder, (uint32_t)src * n + k, (uint32_t)dst * n + k, bytes / n + (k < bytes % n), 0);
    }
    c->n_named = src >= c->n_named ? (uint32_t)src + 1 : c->n_named;
    c->n_named = dst >= c->n_named ? (uint32_t)dst + 1 : c->n_named;
    return FAB_OK;
}

/* "3", "gpu-3", or of servers "server-3"; digits are looked at from `c`. */
static fab_status read_end(cursor *c, const char *name, uint64_t *out, fab_error *err) {
    static const char *const NAMES[] = {"gpu-", "server-"};
    const size_t n = strlen(NAMES[c->by_servers]);
    c->at += strncasecmp(c->at, NAMES[c->by_servers], n) == 0 ? n : 0;
    if (!c->by_servers && strncasecmp(c->at, NAMES[1], strlen(NAMES[1])) == 0) {
        return matrix_fail_at(c, c->at, FAB_EINPUT, err,
                              "a server where GPUs are read; write ,rows=servers behind the file");
    }
    return matrix_read_count(c, name, 0, c->n_gpus - 1, out, err);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static fab_status read_comma(cursor *c, fab_error *err) {
    matrix_skip_blanks(c);
    if (*c->at != ',' && *c->at != ';') {
        return unexpected(c, "',' or ';'", err);
    }
    c->at++;
    matrix_skip_blanks(c);
    return FAB_OK;
}

static fab_status read_csv_header(cursor *c, fab_error *err) {
    static const char *const FIELDS[3][6] = {{"src", "source", "from", "sender"},
                                             {"dst", "dest", "destination", "to", "receiver"},
                                             {"bytes", "size", "size_bytes", "num_bytes"}};
    static const char EXPECTED[] = "the header src,dst,bytes (or source,destination,size; from,to,bytes), or a square "
                                   "of numbers";
    for (size_t i = 0; i < 3; i++) {
        size_t k = 0;
        matrix_skip_blanks(c);
        const size_t n = strcspn(c->at, ",; \t\r\n");
        while (FIELDS[i][k] != NULL && (strncasecmp(c->at, FIELDS[i][k], n) != 0 || FIELDS[i][k][n] != '\0')) {
            k++;
        }
        if (FIELDS[i][k] == NULL) {
            return unexpected(c, EXPECTED, err);
        }
        c->at += n;
        matrix_skip_blanks(c);
        if (i < 2 && *c->at != ',' && *c->at != ';') {
            return unexpected(c, EXPECTED, err);
        }
        c->at += i < 2 ? 1 : 0;
    }
    return expect_line_end(c, err);
}

static fab_status matrix_read_csv(cursor *c, fab_phase_builder *builder, fab_error *err) {
    skip_empty_lines(c, '#');
    FAB_PASS(read_csv_header(c, err));
    for (skip_empty_lines(c, '#'); c->at != c->end; skip_empty_lines(c, '#')) {
        const char *start = c->at;
        uint64_t src = 0;
        uint64_t dst = 0;
        uint64_t bytes = 0;
        FAB_PASS(read_end(c, c->by_servers ? "source server" : "source GPU", &src, err));
        FAB_PASS(read_comma(c, err));
        FAB_PASS(read_end(c, c->by_servers ? "destination server" : "destination GPU", &dst, err));
        FAB_PASS(read_comma(c, err));
        FAB_PASS(read_bytes(c, &bytes, err));
        FAB_PASS(matrix_add_entry(c, start, src, dst, bytes, builder, err));
        FAB_PASS(expect_line_end(c, err));
    }
    return FAB_OK;
}

/* --- a square ----------------------------------------------------------------------------------------------------- */

static bool is_square(cursor c) {
    skip_empty_lines(&c, '#');
    return (*c.at >= '0' && *c.at <= '9') || *c.at == '.';
}

/* A number, and what stands between it and the next one. */
static fab_status read_cell(cursor *c, uint64_t *bytes, fab_error *err) {
    FAB_PASS(read_bytes(c, bytes, err));
    if (!at_line_end(c) && strchr(" \t,;", *c->at) == NULL) {
        return unexpected(c, "',', ';' or a blank behind the number", err);
    }
    matrix_skip_blanks(c);
    if (*c->at == ',' || *c->at == ';') {
        c->at++;
        matrix_skip_blanks(c);
    }
    return FAB_OK;
}

static fab_status count_columns(cursor c, uint32_t *out, fab_error *err) {
    const char *first = c.at;
    uint32_t n = 0;
    for (uint64_t bytes = 0; !at_line_end(&c); n++) {
        FAB_PASS(read_cell(&c, &bytes, err));
    }
    if (n == 3) { /* as likely flows without their header */
        return matrix_fail_at(
            &c, first, FAB_EINPUT, err,
            "three numbers without a header: for flows write src,dst,bytes above them, for three GPUs "
            "a fourth row and column of zeros");
    }
    *out = n;
    return FAB_OK;
}

static fab_status read_row(cursor *c, uint32_t row, uint32_t columns, fab_phase_builder *builder, fab_error *err) {
    uint32_t column = 0;
    for (; !at_line_end(c); column++) {
        const char *start = c->at;
        uint64_t bytes = 0;
        FAB_PASS(read_cell(c, &bytes, err));
        if (column >= c->n_gpus || column >= columns) {
            char text[96];
            (void)snprintf(text, sizeof text, "number %" PRIu32 " of a row, where %s %" PRIu32, column + 1,
                           column >= columns ? "the first has"
                           : c->by_servers   ? "servers of the fabric are"
                                             : "GPUs of the fabric are",
                           column >= columns ? columns : c->n_gpus);
            return matrix_fail_at(c, start, FAB_EINPUT, err, text);
        }
        if (bytes > 0) {
            FAB_PASS(matrix_add_entry(c, start, row, column, bytes, builder, err));
        }
    }
    if (column < columns) {
        return unexpected(c, "as many numbers as in the first row", err);
    }
    next_line(c);
    return FAB_OK;
}

static fab_status read_square(cursor *c, fab_phase_builder *builder, fab_error *err) {
    uint32_t columns = 0;
    uint32_t row = 0;
    skip_empty_lines(c, '#');
    FAB_PASS(count_columns(*c, &columns, err));
    for (; c->at != c->end; skip_empty_lines(c, '#')) {
        if (row == columns) {
            return unexpected(c, "the end of the file after as many rows as columns", err);
        }
        FAB_PASS(read_row(c, row++, columns, builder, err));
    }
    return row == columns ? FAB_OK : unexpected(c, "as many rows as columns", err);
}

/* --- MatrixMarket ------------------------------------------------------------------------------------------------- */

static const char MARKET_BANNER[] = "%%MatrixMarket";

/* Word of the header line: one of the first `n_good` of `words` is fine, the others are known but not supported. */
static fab_status read_word(cursor *c, const char *const *words, size_t n_good, fab_error *err) {
    matrix_skip_blanks(c);
    size_t n = strcspn(c->at, " \t\r\n");
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == n && strncasecmp(c->at, words[i], n) == 0) {
            if (i >= n_good) {
                char text[160];
                (void)snprintf(text, sizeof text, "'%s' matrices are not supported; write '%s'", words[i], words[0]);
                return matrix_fail_at(c, c->at, FAB_EUNSUPPORTED, err, text);
            }
            c->at += n;
            return FAB_OK;
        }
    }
    char text[48];
    (void)snprintf(text, sizeof text, "'%s'", words[0]);
    return unexpected(c, text, err);
}

static fab_status read_market_header(cursor *c, fab_error *err) {
    static const char *const OBJECT[] = {"matrix", "vector", NULL};
    static const char *const LAYOUT[] = {"coordinate", "array", NULL};
    static const char *const FIELD[] = {"integer", "real", "complex", "pattern", NULL};
    static const char *const SYMMETRY[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    c->at += strlen(MARKET_BANNER);
    FAB_PASS(read_word(c, OBJECT, 1, err));
    FAB_PASS(read_word(c, LAYOUT, 1, err));
    FAB_PASS(read_word(c, FIELD, 2, err));
    FAB_PASS(read_word(c, SYMMETRY, 1, err));
    return expect_line_end(c, err);
}

static fab_status read_market(cursor *c, fab_phase_builder *builder, fab_error *err) {
    uint64_t rows = 0;
    uint64_t columns = 0;
    uint64_t n_entries = 0;
    FAB_PASS(read_market_header(c, err));
    skip_empty_lines(c, '%');
    FAB_PASS(matrix_read_count(c, c->by_servers ? "rows (servers)" : "rows (GPUs)", 1, c->n_gpus, &rows, err));
    matrix_skip_blanks(c);
    FAB_PASS(matrix_read_count(c, c->by_servers ? "columns (servers)" : "columns (GPUs)", 1, c->n_gpus, &columns, err));
    matrix_skip_blanks(c);
    FAB_PASS(matrix_read_count(c, "entries", 0, UINT32_MAX, &n_entries, err));
    FAB_PASS(expect_line_end(c, err));
    for (uint64_t i = 0; i < n_entries; i++) {
        uint64_t src = 0;
        uint64_t dst = 0;
        uint64_t bytes = 0;
        skip_empty_lines(c, '%');
        const char *start = c->at;
        if (c->at == c->end) {
            char text[96];
            (void)snprintf(text, sizeof text, "entry %" PRIu64 " of %" PRIu64, i + 1, n_entries);
            FAB_PASS(unexpected(c, text, err));
        }
        FAB_PASS(matrix_read_count(c, "row", 1, rows, &src, err));
        matrix_skip_blanks(c);
        FAB_PASS(matrix_read_count(c, "column", 1, columns, &dst, err));
        matrix_skip_blanks(c);
        FAB_PASS(read_bytes(c, &bytes, err));
        FAB_PASS(matrix_add_entry(c, start, src - 1, dst - 1, bytes, builder, err));
        FAB_PASS(expect_line_end(c, err));
    }
    skip_empty_lines(c, '%');
    if (c->at != c->end) {
        char text[96];
        (void)snprintf(text, sizeof text, "the end of the file after %" PRIu64 " entries", n_entries);
        FAB_PASS(unexpected(c, text, err));
    }
    return FAB_OK;
}

/* --- file --------------------------------------------------------------------------------------------------------- */

/* Most entries the file can have: one a line, each of at least five bytes and an end of line; of a square the numbers.
 */
static size_t max_entries(const fab_str *text, bool square) {
    size_t n = 1;
    const char *end = text->data + text->length;
    if (square) {
        for (const char *at = text->data; at < end; at++) {
            n += *at == ',' || *at == ';' || *at == ' ' || *at == '\t' || *at == '\n';
        }
        return n;
    }
    for (const char *at = text->data; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        n++;
    }
    return n < text->length / 6 + 1 ? n : text->length / 6 + 1;
}

static void matrix_summarize(const cursor *c, const fab_fabric *f, const fab_phase *phase, fab_traffic *traffic) {
    char flows[32];
    char amount[40];
    const char *name = fab_traffic_file_name(c->path);
    (void)snprintf(traffic->summary, sizeof traffic->summary, "matrix %.60s%s: %s flow%s, %s", name,
                   c->by_servers ? " of servers" : "", fab_format_count(flows, phase->n_flows),
                   phase->n_flows == 1 ? "" : "s",
                   fab_quantity_format(amount, (double)phase->total_bytes, FAB_UNIT_BYTES));
    if (!c->by_servers && c->n_named == f->n_servers && f->n_servers < c->n_gpus) {
        (void)snprintf(traffic->note, sizeof traffic->note,
                       "the matrix names GPUs 0 to %" PRIu32 " of %" PRIu32 ", as many as there are servers: if its "
                       "rows are servers, write ,rows=servers behind the file",
                       c->n_named - 1, c->n_gpus);
    }
}

fab_status fab_matrix_read(const char *path, const fab_str *text, const fab_fabric *fabric, bool by_servers,
                           fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_phase_builder builder = {.capacity = 0};
    cursor c = {.path = path,
                .at = text->data,
                .end = text->data + text->length,
                .line_start = text->data,
                .line = 1,
                .n_gpus = by_servers ? fabric->n_servers : fab_n_gpus(fabric),
                .by_servers = by_servers,
                .gpus_per_server = by_servers ? fabric->gpus_per_server : 1};
    const bool square = is_square(c);
    FAB_TRY(fab_phase_open(&builder, "matrix", "matrix", max_entries(text, square) * c.gpus_per_server, err));
    if (strncasecmp(text->data, MARKET_BANNER, strlen(MARKET_BANNER)) == 0) {
        FAB_TRY(read_market(&c, &builder, err));
    } else if (square) {
        FAB_TRY(read_square(&c, &builder, err));
    } else {
        FAB_TRY(matrix_read_csv(&c, &builder, err));
    }
    FAB_TRY(FAB_NEW(traffic->phases, 1, err));
    matrix_summarize(&c, fabric, &builder.phase, traffic);
    fab_traffic_take(traffic, &builder);
done:
    fab_phase_release(&builder.phase);
    return status;
}
