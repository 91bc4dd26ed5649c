/*
 * Traffic matrices in: CSV with the header src,dst,bytes or its synonyms (GPUs from 0), MatrixMarket coordinate general
 * (from 1), or a square of numbers, row i and column j what GPU i sends to GPU j, between commas, semicolons or blanks;
 * where the columns have names above them, and the rows before them, what these say.
 *
 * Bytes are whole or decimal numbers, rounded to whole bytes; entries of zero are dropped. Entries of the same pair
 * stay separate flows. Lines end in LF or CRLF; empty lines and comments (# in CSV, % in MatrixMarket) may stand
 * anywhere.
 */
#include "matrix_cursor.h"

#include "fab/names.h"
#include "fab/units.h"

#include <ctype.h>
#include <strings.h>

#define LEAST_ROUNDED 1e-3 /* of an entry, that is said */
#define MOST_OF_UNIT  1000 /* bytes of the largest entry of a matrix that is hardly in bytes: with parts of bytes, */
#define MOST_OF_WHOLE 63   /* and with none */

fab_status matrix_fail_at(const matrix_cursor *c, const char *at, fab_status code, fab_error *err, const char *what) {
    char where[192];
    char place[48];
    FAB_FORMAT(place, ":%" PRIu64 ":%zu", c->line, (size_t)(at - c->line_start) + 1);
    size_t room = sizeof where - strlen(place) - 1;
    size_t length = strlen(c->path);
    FAB_FORMAT(where, "%s%s", length > room ? c->path + (length - room) : c->path, place);
    return fab_fail(err, code, where, "%s", what);
}

fab_status matrix_unexpected(const matrix_cursor *c, const char *expected, fab_error *err) {
    char text[256];
    unsigned char byte = (unsigned char)*c->at;
    if (c->at == c->end) {
        FAB_FORMAT(text, "expected %s, found the end of the file", expected);
    } else if (byte == '\n' || byte == '\r') {
        FAB_FORMAT(text, "expected %s, found the end of the line", expected);
    } else if (byte < ' ' || byte > '~') {
        FAB_FORMAT(text, "expected %s, found byte 0x%02x: not a text file", expected, byte);
    } else {
        int n = (int)strcspn(c->at, ", \t\r\n");
        n = n < 1 ? 1 : n > 40 ? 40 : n;
        FAB_FORMAT(text, "expected %s, found '%.*s'", expected, n, c->at);
    }
    return matrix_fail_at(c, c->at, FAB_EINPUT, err, text);
}

void matrix_skip_blanks(matrix_cursor *c) {
    while (*c->at == ' ' || *c->at == '\t') {
        c->at++;
    }
}

static bool at_line_end(const matrix_cursor *c) {
    return c->at == c->end || *c->at == '\n' || (*c->at == '\r' && c->at[1] == '\n');
}

static void next_line(matrix_cursor *c) {
    if (*c->at == '\r') {
        c->at++;
    }
    if (*c->at == '\n') {
        c->at++;
        c->line++;
        c->line_start = c->at;
    }
}

void matrix_skip_lines(matrix_cursor *c, char comment) {
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

fab_status matrix_expect_end(matrix_cursor *c, fab_error *err) {
    matrix_skip_blanks(c);
    FAB_RETURN_IF(!at_line_end(c), matrix_unexpected(c, "the end of the line", err));
    next_line(c);
    return FAB_OK;
}

fab_status matrix_read_count(matrix_cursor *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
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
        FAB_FORMAT(text, "%s (a whole number)", name);
        return matrix_unexpected(c, text, err);
    }
    if (overflow || value < min || value > max) {
        FAB_FORMAT(text, "%s %.*s is outside %" PRIu64 " to %" PRIu64, name,
                   (int)(c->at - start < 24 ? c->at - start : 24), start, min, max);
        return matrix_fail_at(c, start, FAB_EINPUT, err, text);
    }
    *out = value;
    return FAB_OK;
}

/* "1GB", "2.5MiB": with a unit. */
static bool read_sized(matrix_cursor *c, uint64_t *out) {
    char text[48];
    double value = 0;
    const size_t n = strcspn(c->at, ",; \t\r\n");
    if (n >= sizeof text || strpbrk(c->at, "Bb") == NULL || strpbrk(c->at, "Bb") >= c->at + n) {
        return false;
    }
    FAB_FORMAT(text, "%.*s", (int)n, c->at);
    if (fab_quantity_parse(text, FAB_UNIT_BYTES, &value, NULL) != FAB_OK || !(value < 9.2e18)) {
        return false;
    }
    c->at += n;
    c->has_unit = true;
    *out = (uint64_t)(value + 0.5);
    return true;
}

static fab_status read_amount(matrix_cursor *c, uint64_t *out, fab_error *err) {
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
    FAB_RETURN_IF(!decimal,
                  matrix_unexpected(c, negative ? "a number of bytes of at least 0" : "a number of bytes", err));
    char *stop = NULL;
    double value = strtod(start, &stop);
    FAB_RETURN_IF(!(value < 9.2e18), matrix_fail_at(c, start, FAB_EINPUT, err, "bytes above the limit of 9.2e18"));
    c->at = stop;
    *out = (uint64_t)(value + 0.5);
    const double change = value > 0 ? fabs((double)*out - value) / value : 0;
    c->n_rounded += change > 0;
    c->most_rounded = fmax(c->most_rounded, change);
    return FAB_OK;
}

fab_status matrix_read_bytes(matrix_cursor *c, uint64_t *out, fab_error *err) {
    const char *start = c->at;
    fab_status status = *start == '"' ? FAB_EINPUT : read_amount(c, out, err);
    c->most_bytes = status == FAB_OK && *out > c->most_bytes ? *out : c->most_bytes;
    const char *unit = c->at + strspn(c->at, " \t");
    if (*start == '"' || (status == FAB_OK && unit > c->at && isalpha((unsigned char)*unit))) { /* "10 GB" */
        char text[192];
        const int n = (int)strcspn(start, ",;\r\n");
        FAB_FORMAT(text, "'%.*s': bytes are a plain number, or one with its unit, without blanks or quotes: 10e9, 10GB",
                   n < 40 ? n : 40, start);
        return matrix_fail_at(c, start, FAB_EINPUT, err, text);
    }
    return status;
}

fab_status matrix_add_entry(matrix_cursor *c, const char *start, uint64_t src, uint64_t dst, uint64_t bytes,
                            fab_phase_builder *builder, fab_error *err) {
    const uint32_t n = c->gpus_per_server;
    FAB_RETURN_IF(
        src == dst,
        matrix_fail_at(c, start, FAB_EINPUT, err,
                       c->by_servers
                           ? "a server sends to itself, which no network carries: leave it out, or 0 on a diagonal"
                           : "a GPU sends to itself, which no network carries: leave it out, or 0 on a diagonal"));
    FAB_RETURN_IF(bytes > (uint64_t)INT64_MAX - builder->phase.total_bytes,
                  matrix_fail_at(c, start, FAB_EINPUT, err, "the bytes of all entries add up to more than 2^63"));
    for (uint32_t k = 0; k < n; k++) { /* GPU k to GPU k, which keeps rails */
        fab_phase_add(builder, (uint32_t)src * n + k, (uint32_t)dst * n + k, bytes / n + (k < bytes % n), 0);
    }
    c->n_named = src >= c->n_named ? (uint32_t)src + 1 : c->n_named;
    c->n_named = dst >= c->n_named ? (uint32_t)dst + 1 : c->n_named;
    return FAB_OK;
}

/* Length of a name that ends at a separator or a quote. */
static size_t name_length(const char *at) {
    return strcspn(at, ",;\" \t\r\n");
}

/* What stands in front of a number: of GPUs, where rank i is GPU i, and of servers. */
static size_t prefix_length(bool by_servers, const char *at) {
    static const char *const NAMES[2][4] = {{"gpu-", "gpu", "rank-", "rank"}, {"server-", "server"}};
    for (size_t i = 0; i < 4 && NAMES[by_servers][i] != NULL; i++) {
        const size_t n = strlen(NAMES[by_servers][i]);
        if (strncasecmp(at, NAMES[by_servers][i], n) == 0 && at[n] >= '0' && at[n] <= '9') {
            return n;
        }
    }
    return 0;
}

/* A server by the name that it has in an installed network; FAB_NONE: it is none, or a number. */
static uint32_t host_at(const matrix_cursor *c) {
    const size_t n = name_length(c->at);
    return strspn(c->at, "0123456789") < n ? fab_names_find_server(c->fabric->names, c->at, n) : FAB_NONE;
}

static bool is_name(const matrix_cursor *c) {
    const size_t digits = strspn(c->at, "0123456789");
    return prefix_length(false, c->at) + prefix_length(true, c->at) > 0 || host_at(c) != FAB_NONE ||
           (digits > 0 && digits == name_length(c->at));
}

/* "3", "gpu-3", "rank3", or of servers "server-3" or a host's name; digits are looked at from `c`. */
static fab_status read_end(matrix_cursor *c, const char *name, uint64_t *out, fab_error *err) {
    const uint32_t host = host_at(c);
    if (c->by_servers && host != FAB_NONE) {
        c->at += name_length(c->at);
        *out = host;
        return FAB_OK;
    }
    FAB_RETURN_IF(
        !c->by_servers && (host != FAB_NONE || prefix_length(true, c->at) > 0),
        matrix_fail_at(c, c->at, FAB_EINPUT, err, "a server where GPUs are read; write ,rows=servers behind the file"));
    const size_t prefix = prefix_length(c->by_servers, c->at);
    c->says_what = c->says_what || prefix > 0;
    c->at += prefix;
    return matrix_read_count(c, name, 0, c->n_gpus - 1, out, err);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* One of both separates in a file: of 1,5;2 the comma would be one of decimals. */
static fab_status check_separator(matrix_cursor *c, fab_error *err) {
    if (*c->at != ',' && *c->at != ';') {
        return FAB_OK;
    }
    FAB_RETURN_IF(
        c->separator != '\0' && c->separator != *c->at,
        matrix_fail_at(c, c->at, FAB_EINPUT, err,
                       "',' and ';' in one file: numbers have a decimal point, 1.5, and one of both separates"));
    c->separator = *c->at;
    return FAB_OK;
}

static fab_status read_comma(matrix_cursor *c, fab_error *err) {
    matrix_skip_blanks(c);
    FAB_RETURN_IF(*c->at != ',' && *c->at != ';', matrix_unexpected(c, "',' or ';'", err));
    FAB_PASS(check_separator(c, err));
    c->at++;
    matrix_skip_blanks(c);
    return FAB_OK;
}

static fab_status read_csv_header(matrix_cursor *c, fab_error *err) {
    static const char *const FIELDS[3][6] = {{"src", "source", "from", "sender"},
                                             {"dst", "dest", "destination", "to", "receiver"},
                                             {"bytes", "size", "size_bytes", "num_bytes"}};
    static const char EXPECTED[] = "the header src,dst,bytes (or source,destination,size; from,to,bytes), or a square "
                                   "of numbers, with names of its rows and columns or without";
    for (size_t i = 0; i < 3; i++) {
        size_t k = 0;
        matrix_skip_blanks(c);
        const size_t n = strcspn(c->at, ",; \t\r\n");
        while (FIELDS[i][k] != NULL && (strncasecmp(c->at, FIELDS[i][k], n) != 0 || FIELDS[i][k][n] != '\0')) {
            k++;
        }
        FAB_RETURN_IF(FIELDS[i][k] == NULL, matrix_unexpected(c, EXPECTED, err));
        c->at += n;
        matrix_skip_blanks(c);
        FAB_RETURN_IF(i < 2 && *c->at != ',' && *c->at != ';', matrix_unexpected(c, EXPECTED, err));
        c->at += i < 2 ? 1 : 0;
    }
    return matrix_expect_end(c, err);
}

static fab_status matrix_read_csv(matrix_cursor *c, fab_phase_builder *builder, fab_error *err) {
    matrix_skip_lines(c, '#');
    FAB_PASS(read_csv_header(c, err));
    for (matrix_skip_lines(c, '#'); c->at != c->end; matrix_skip_lines(c, '#')) {
        const char *start = c->at;
        uint64_t src = 0;
        uint64_t dst = 0;
        uint64_t bytes = 0;
        FAB_PASS(read_end(c, c->by_servers ? "source server" : "source GPU", &src, err));
        FAB_PASS(read_comma(c, err));
        FAB_PASS(read_end(c, c->by_servers ? "destination server" : "destination GPU", &dst, err));
        FAB_PASS(read_comma(c, err));
        FAB_PASS(matrix_read_bytes(c, &bytes, err));
        FAB_PASS(matrix_add_entry(c, start, src, dst, bytes, builder, err));
        FAB_PASS(matrix_expect_end(c, err));
    }
    return FAB_OK;
}

/* --- a square ----------------------------------------------------------------------------------------------------- */

static bool is_square(matrix_cursor c) {
    matrix_skip_lines(&c, '#');
    return (*c.at >= '0' && *c.at <= '9') || *c.at == '.';
}

/* A separator, or blanks. */
static void pass_separator(matrix_cursor *c) {
    matrix_skip_blanks(c);
    if (*c->at == ',' || *c->at == ';') {
        c->at++;
        matrix_skip_blanks(c);
    }
}

/* A number, and what stands between it and the next one. */
static fab_status read_cell(matrix_cursor *c, uint64_t *bytes, fab_error *err) {
    FAB_PASS(matrix_read_bytes(c, bytes, err));
    FAB_PASS(check_separator(c, err));
    FAB_RETURN_IF(!at_line_end(c) && strchr(" \t,;", *c->at) == NULL,
                  matrix_unexpected(c, "',', ';' or a blank behind the number", err));
    pass_separator(c);
    return FAB_OK;
}

static fab_status count_columns(matrix_cursor c, uint32_t *out, fab_error *err) {
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

static fab_status no_such_name(const matrix_cursor *c, fab_error *err) {
    char text[3 * FAB_NODE_NAME_SIZE];
    char last[FAB_NODE_NAME_SIZE];
    char first[FAB_NODE_NAME_SIZE] = "gpu-0";
    FAB_FORMAT(last, "gpu-%" PRIu32, c->n_gpus - 1);
    if (c->by_servers) {
        (void)fab_server_name(c->fabric, 0, first);
        (void)fab_server_name(c->fabric, c->n_gpus - 1, last);
    }
    FAB_FORMAT(text, "no %s of the fabric is called '%.*s': they are %s to %s", c->by_servers ? "server" : "GPU",
               (int)(name_length(c->at) < 64 ? name_length(c->at) : 64), c->at, first, last);
    return matrix_fail_at(c, c->at, FAB_EINPUT, err, text);
}

/* The name of a column, or that of a row, which a column has; perhaps in quotes. No two have the same. */
static fab_status read_name(matrix_cursor *c, bool of_row, bool *const seen[2], uint32_t *out, fab_error *err) {
    static const char *const WHAT[] = {"GPU", "server"};
    const bool is_quoted = *c->at == '"';
    uint64_t end = 0;
    const char *start = c->at += is_quoted;
    FAB_RETURN_IF(!is_name(c), no_such_name(c, err));
    FAB_PASS(read_end(c, WHAT[c->by_servers], &end, err));
    FAB_RETURN_IF(seen[of_row][end] || (of_row && !seen[0][end]),
                  matrix_fail_at(c, start, FAB_EINPUT, err,
                                 !seen[of_row][end] ? "a row of a name that no column has"
                                 : of_row           ? "a second row of the same name"
                                                    : "a second column of the same name"));
    FAB_RETURN_IF(is_quoted && *c->at != '"', matrix_unexpected(c, "'\"'", err));
    c->at += is_quoted;
    FAB_RETURN_IF(!at_line_end(c) && strchr(" \t,;", *c->at) == NULL,
                  matrix_unexpected(c, "',', ';' or a blank behind the name", err));
    pass_separator(c);
    seen[of_row][end] = true;
    *out = (uint32_t)end;
    return FAB_OK;
}

/* Passes what stands above the names of rows. */
static void pass_corner(matrix_cursor *c) {
    c->at += *c->at == '"';
    c->at += name_length(c->at);
    c->at += *c->at == '"';
    pass_separator(c);
}

/* Whether the first line has the names of columns, and in front of them something above those of rows. */
static bool is_named(matrix_cursor c, bool *out_has_corner) {
    matrix_skip_lines(&c, '#');
    *out_has_corner = *c.at == ',' || *c.at == ';' || strncmp(c.at, "\"\"", 2) == 0;
    if (*out_has_corner) {
        return true;
    }
    c.at += *c.at == '"';
    if (is_name(&c)) {
        return true;
    }
    *out_has_corner = true; /* a word above the names of rows */
    pass_corner(&c);
    c.at += *c.at == '"';
    return is_name(&c);
}

/* The names of the columns, in the order of the file. */
static fab_status read_column_names(matrix_cursor *c, bool has_corner, bool *const seen[2], uint32_t *column,
                                    uint32_t *out_n, fab_error *err) {
    if (has_corner) {
        pass_corner(c);
    }
    FAB_RETURN_IF(at_line_end(c), matrix_unexpected(c, "the name of a column", err));
    for (*out_n = 0; !at_line_end(c); (*out_n)++) {
        FAB_PASS(read_name(c, false, seen, &column[*out_n < c->n_gpus ? *out_n : 0], err));
    }
    next_line(c);
    matrix_skip_lines(c, '#');
    return FAB_OK;
}

/* column: what the columns are; NULL: the first is 0, the next 1, ... */
static fab_status read_row(matrix_cursor *c, uint32_t row, const uint32_t *column, uint32_t columns,
                           fab_phase_builder *builder, fab_error *err) {
    uint32_t i = 0;
    for (; !at_line_end(c); i++) {
        const char *start = c->at;
        uint64_t bytes = 0;
        FAB_PASS(read_cell(c, &bytes, err));
        if (i >= c->n_gpus || i >= columns) {
            char text[96];
            FAB_FORMAT(text, "number %" PRIu32 " of a row, where %s %" PRIu32, i + 1,
                       i >= columns    ? "the first has"
                       : c->by_servers ? "servers of the fabric are"
                                       : "GPUs of the fabric are",
                       i >= columns ? columns : c->n_gpus);
            return matrix_fail_at(c, start, FAB_EINPUT, err, text);
        }
        if (bytes > 0) {
            FAB_PASS(matrix_add_entry(c, start, row, column != NULL ? column[i] : i, bytes, builder, err));
        }
    }
    FAB_RETURN_IF(i < columns, matrix_unexpected(c, "as many numbers as in the first row", err));
    next_line(c);
    return FAB_OK;
}

static fab_status read_square(matrix_cursor *c, bool is_named, bool has_corner, fab_phase_builder *builder,
                              fab_error *err) {
    uint32_t columns = 0;
    FAB_OWNED uint32_t *column = NULL;
    bool *seen[2] = {NULL, NULL}; /* names of columns, of rows */
    FAB_OWNS_MEMBERS(seen[0], seen[1]);
    matrix_skip_lines(c, '#');
    if (is_named) {
        FAB_PASS(FAB_NEW(column, c->n_gpus, err));
        FAB_PASS(FAB_NEW_ALL(c->n_gpus, err, seen[0], seen[1]));
        FAB_PASS(read_column_names(c, has_corner, seen, column, &columns, err));
        has_corner = has_corner || (!is_square(*c) && c->at != c->end);
    } else {
        FAB_PASS(count_columns(*c, &columns, err));
        c->n_named = columns;
    }
    uint32_t n_rows = 0;
    for (; c->at != c->end; matrix_skip_lines(c, '#')) {
        uint32_t row = is_named ? column[n_rows < columns ? n_rows : 0] : n_rows;
        if (n_rows++ == columns) {
            FAB_PASS(matrix_unexpected(c, "the end of the file after as many rows as columns", err));
        }
        FAB_PASS(has_corner ? read_name(c, true, seen, &row, err) : FAB_OK);
        FAB_PASS(read_row(c, row, column, columns, builder, err));
    }
    return n_rows == columns ? FAB_OK : matrix_unexpected(c, "as many rows as columns", err);
}

/* --- file --------------------------------------------------------------------------------------------------------- */

/* Most entries the file can have: one a line, each of at least five bytes and an end of line; of a square the numbers.
 */
static size_t max_entries(const fab_str *text, bool square) {
    size_t n = 1;
    for (const char *at = text->data; at < text->data + text->length; at++) {
        n += *at == '\n' || (square && strchr(",; \t", *at) != NULL);
    }
    return square || n < text->length / 6 + 1 ? n : text->length / 6 + 1;
}

/* Numbers that are few are likely of a unit that the file leaves out: latency would be all of their time. */
static void note_unit(const matrix_cursor *c, fab_traffic *traffic) {
    const bool is_rounded = c->most_rounded > LEAST_ROUNDED;
    const bool is_of_unit = c->most_bytes <= (is_rounded ? MOST_OF_UNIT : MOST_OF_WHOLE) && c->most_bytes > 0;
    if (!is_rounded && (!is_of_unit || c->has_unit)) {
        return;
    }
    fab_append(traffic->note, sizeof traffic->note, "%sthe matrix is read in bytes",
               traffic->note[0] != '\0' ? "; " : "");
    if (is_rounded) {
        fab_append(traffic->note, sizeof traffic->note, ", and %s %s of parts of one %s rounded, by %.3g %% at most",
                   FAB_SAY_COUNT(c->n_rounded), c->n_rounded == 1 ? "entry" : "entries",
                   c->n_rounded == 1 ? "was" : "were", 100 * c->most_rounded);
    }
    if (is_of_unit) {
        fab_append(traffic->note, sizeof traffic->note,
                   ": no entry is above %" PRIu64 " B, so they are likely of a unit; write it behind each, 1.5GB",
                   c->most_bytes);
    } else {
        fab_append(traffic->note, sizeof traffic->note, ": write bytes, or each with its unit, 1.5GB");
    }
}

/* What the rows are taken for, and where that is a guess, how they are taken for the other. */
static void matrix_summarize(const matrix_cursor *c, const fab_fabric *f, const fab_phase *phase,
                             fab_traffic *traffic) {
    char between[64] = "";
    const char *name = fab_traffic_file_name(c->path);
    const bool is_guess = !c->by_servers && !c->says_what && c->n_named <= f->n_servers && f->n_servers < c->n_gpus;
    if (c->n_named > 0) {
        FAB_FORMAT(between, " between %s 0 to %" PRIu32 "%s", c->by_servers ? "servers" : "GPUs", c->n_named - 1,
                   is_guess ? " (rows=servers reads servers)" : "");
    }
    FAB_FORMAT(traffic->summary, "matrix %.60s: %s flow%s, %s%s", name, FAB_SAY_COUNT(phase->n_flows),
               phase->n_flows == 1 ? "" : "s", FAB_SAY((double)phase->total_bytes, FAB_UNIT_BYTES), between);
    if (is_guess && c->n_named == f->n_servers) {
        FAB_FORMAT(traffic->note,
                   "the matrix names GPUs 0 to %" PRIu32 " of %" PRIu32 ", as many as there are servers: if its "
                   "rows are servers, write ,rows=servers behind the file",
                   c->n_named - 1, c->n_gpus);
    }
    note_unit(c, traffic);
}

fab_status fab_matrix_read(const char *path, const fab_str *text, const fab_fabric *fabric, bool by_servers,
                           fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder builder = {.capacity = 0};
    matrix_cursor c = {.path = path,
                       .fabric = fabric,
                       .at = text->data,
                       .end = text->data + text->length,
                       .line_start = text->data,
                       .line = 1,
                       .n_gpus = by_servers ? fabric->n_servers : fab_n_gpus(fabric),
                       .by_servers = by_servers,
                       .gpus_per_server = by_servers ? fabric->gpus_per_server : 1};
    const bool market = strncasecmp(text->data, MATRIX_BANNER, strlen(MATRIX_BANNER)) == 0;
    bool has_corner = false;
    const bool named = !market && !is_square(c) && is_named(c, &has_corner);
    const bool square = named || is_square(c);
    FAB_PASS(fab_phase_open(&builder, "matrix", "matrix", max_entries(text, square) * c.gpus_per_server, err));
    if (market) {
        FAB_PASS(matrix_read_market(&c, &builder, err));
    } else if (square) {
        FAB_PASS(read_square(&c, named, has_corner, &builder, err));
    } else {
        FAB_PASS(matrix_read_csv(&c, &builder, err));
    }
    FAB_PASS(FAB_NEW(traffic->phases, 1, err));
    matrix_summarize(&c, fabric, &builder.phase, traffic);
    fab_traffic_take(traffic, &builder);
    return FAB_OK;
}
