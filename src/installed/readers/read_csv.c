/* Lists of cables as CSV: a line per cable, columns by the names in the first line, in any order. The patch plan that
 * `build --patch` writes is one. */
#include "network_internal.h"

#include "fab/units.h"

#include <ctype.h>
#include <strings.h>

#define COLUMNS 32
#define CELL    256

enum { A_NODE, A_PORT, Z_NODE, Z_PORT, RATE, LENGTH, N_KNOWN };

/* What the columns may be called; letter case, blanks, - and _ make no difference. */
static const struct {
    int column;
    const char *names;
} NAMES[] = {
    {A_NODE, " anode adevice a source from local localdevice startdevice sideadevice "},
    {A_NODE, " terminationadevice devicea sourcedevice "},
    {A_PORT, " aport sourceport fromport localport startport sideaname terminationaname "},
    {A_PORT, " interfacea localinterface "},
    {Z_NODE, " znode zdevice z bnode bdevice b target to remote remotedevice enddevice "},
    {Z_NODE, " sidebdevice terminationbdevice deviceb destinationdevice destination "},
    {Z_PORT, " zport bport targetport toport remoteport endport sidebname terminationbname "},
    {Z_PORT, " interfaceb destinationport remoteinterface "},
    {RATE, " rate speed bandwidth "},
    {LENGTH, " length lengthm "},
};

static const char *const KEYS[N_KNOWN] = {"a-node", "a-port", "z-node", "z-port", "rate", "length"};

/* A cell of the line at hand, its quotes taken off. */
typedef struct cell {
    char text[CELL];
    size_t column; /* in the line, for messages */
} cell;

typedef struct reader {
    fab_text *in;
    fab_network *net;
    int at[N_KNOWN];     /* column of the file, or -1 */
    bool is_in_megabits; /* a column BandWidth, as sonic-mgmt has it: bare numbers are Mb/s */
    char separator;      /* of cells: that which the first line has */
    size_t n_columns;
    cell cells[COLUMNS];
} reader;

static int known_column(const char *title) {
    char plain[CELL + 2] = " ";
    size_t n = 1;
    for (const char *c = title; *c != '\0'; c++) {
        if (*c != ' ' && *c != '-' && *c != '_' && *c != '\t') {
            plain[n++] = (char)tolower((unsigned char)*c);
        }
    }
    plain[n++] = ' ';
    plain[n] = '\0';
    FAB_FIRST(i, FAB_N_OF(NAMES), n > 2 && strstr(NAMES[i].names, plain) != NULL);
    return i < FAB_N_OF(NAMES) ? (int)NAMES[i].column : -1;
}

/* What a column is: as the format was asked for ("cables,a-node=From"), else by its name,
 * unless another column was asked for in its place. */
static int column_of(const reader *r, const char *title) {
    int known = known_column(title);
    bool is_other = false;
    for (int i = 0; r->net->columns != NULL && i < N_KNOWN; i++) {
        size_t n = 0;
        const char *asked = fab_network_format_value(r->net->columns, KEYS[i], 0, &n);
        if (asked != NULL && strlen(title) == n && strncasecmp(asked, title, n) == 0) {
            return i;
        }
        is_other = is_other || (asked != NULL && known == i);
    }
    return is_other ? -1 : known;
}

/* A column that was asked for and is not there. */
static fab_status check_columns(const reader *r, fab_error *err) {
    for (int i = 0; r->net->columns != NULL && i < N_KNOWN; i++) {
        size_t n = 0;
        const char *asked = fab_network_format_value(r->net->columns, KEYS[i], 0, &n);
        FAB_RETURN_IF(asked != NULL && r->at[i] < 0,
                      fab_text_fail(r->in, err, "there is no column '%.*s' (%s)", (int)n, asked, KEYS[i]));
    }
    return FAB_OK;
}

static fab_status put_char(const reader *r, cell *to, size_t *n, char c, fab_error *err) {
    FAB_RETURN_IF(*n + 1 >= sizeof to->text,
                  fab_text_refuse(r->in, (fab_token){.column = to->column}, err, "a cell is longer than 255 bytes"));
    to->text[(*n)++] = c;
    return FAB_OK;
}

static bool is_blank(const reader *r, char c) {
    return c == ' ' || (c == '\t' && r->separator != '\t');
}

/* What stands most often in the first line: a tab, a semicolon or a comma. */
static char separator_of(const char *at, const char *behind) {
    static const char SEPARATORS[] = ",;\t";
    size_t counts[sizeof SEPARATORS - 1] = {0};
    for (; at < behind && *at != '\n' && *at != '\0'; at++) {
        const char *found = strchr(SEPARATORS, *at);
        counts[found != NULL ? found - SEPARATORS : 0] += found != NULL;
    }
    FAB_BEST(best, i, FAB_N_OF(counts), counts[i] > counts[best]);
    return SEPARATORS[best];
}

/* One cell from in->at on; stops at the comma or the end. "a ""b""" in quotes is a "b". */
static fab_status read_cell(const reader *r, cell *to, fab_error *err) {
    fab_status status = FAB_OK;
    fab_text *in = r->in;
    size_t n = 0;
    while (in->at < in->behind && is_blank(r, *in->at)) {
        in->at++;
    }
    to->column = fab_text_rest(in).column;
    if (in->at < in->behind && *in->at == '"') {
        in->at++;
        for (;; in->at++) {
            FAB_RETURN_IF(in->at == in->behind, fab_text_refuse(in, (fab_token){.column = to->column}, err,
                                                                "a quote is not closed on its line"));
            if (*in->at == '"' && (in->at + 1 == in->behind || in->at[1] != '"')) {
                break;
            }
            in->at += *in->at == '"' ? 1 : 0;
            FAB_TRY(put_char(r, to, &n, *in->at, err));
        }
        in->at++;
    } else {
        for (; in->at < in->behind && *in->at != r->separator; in->at++) {
            FAB_TRY(put_char(r, to, &n, *in->at, err));
        }
    }
    while (in->at < in->behind && is_blank(r, *in->at)) {
        in->at++;
    }
    while (n > 0 && (to->text[n - 1] == ' ' || to->text[n - 1] == '\t')) {
        n--;
    }
    FAB_RETURN_IF(in->at < in->behind && *in->at != r->separator,
                  fab_text_refuse(in, fab_text_rest(in), err, "stands where a %s was expected",
                                  r->separator == ','   ? "comma"
                                  : r->separator == ';' ? "semicolon"
                                                        : "tab"));
    to->text[n] = '\0';
    if (to->text[0] == '\'' && fab_is_formula(to->text)) { /* as fab_str_add_csv() writes it */
        memmove(to->text, to->text + 1, n--);
    }
done:
    to->text[n] = '\0';
    return status;
}

static fab_status read_cells(reader *r, size_t *out_n, fab_error *err) {
    size_t n = 0;
    for (;;) {
        FAB_RETURN_IF(n == COLUMNS, fab_text_fail(r->in, err, "more than 32 columns"));
        FAB_PASS(read_cell(r, &r->cells[n++], err));
        if (r->in->at == r->in->behind) {
            *out_n = n;
            return FAB_OK;
        }
        r->in->at++;
    }
}

static fab_status csv_read_header(reader *r, fab_error *err) {
    FAB_FILL(r->at, N_KNOWN, -1);
    if (!fab_text_next(r->in)) {
        FAB_PASS(fab_text_end(r->in, err));
        r->in->line = r->in->line > 0 ? r->in->line : 1;
        return fab_text_fail(r->in, err, "is empty; expected a first line such as A-node,A-port,Z-node,Z-port");
    }
    r->separator = separator_of(r->in->at, r->in->behind);
    FAB_PASS(read_cells(r, &r->n_columns, err));
    for (size_t i = 0; i < r->n_columns; i++) {
        int known = column_of(r, r->cells[i].text);
        FAB_RETURN_IF(known >= 0 && r->at[known] >= 0, fab_text_refuse(r->in, (fab_token){.column = r->cells[i].column},
                                                                       err, "a second column of that meaning"));
        if (known >= 0) {
            r->is_in_megabits = r->is_in_megabits || strcasecmp(r->cells[i].text, "BandWidth") == 0;
            r->at[known] = (int)i;
        }
    }
    FAB_PASS(check_columns(r, err));
    FAB_RETURN_IF(
        r->at[A_NODE] < 0 || r->at[Z_NODE] < 0,
        fab_text_fail(r->in, err,
                      "the first line names no columns A-node and Z-node (and A-port, Z-port, rate, length)"));
    FAB_RETURN_IF((r->at[A_PORT] < 0) != (r->at[Z_PORT] < 0),
                  fab_text_fail(r->in, err, "ports of one end only: A-port and Z-port go together"));
    return FAB_OK;
}

static const cell *cell_of(const reader *r, int known) {
    static const cell EMPTY = {.text = "", .column = 1};
    return r->at[known] >= 0 ? &r->cells[r->at[known]] : &EMPTY;
}

static fab_status add_node(const reader *r, const cell *from, uint32_t *out, fab_error *err) {
    FAB_RETURN_IF(from->text[0] == '\0', fab_text_refuse(r->in, (fab_token){.column = from->column}, err,
                                                         "a cable without a node at this end"));
    FAB_PASS(fab_network_add_node(r->net, from->text, strlen(from->text), r->in->line, out, err));
    return fab_network_ib_host(r->net, *out, err);
}

/* "400G", as transceivers are called: of a cable it means bits. */
static bool read_short_rate(const char *text, double *out) {
    char whole[CELL + 4];
    size_t n = strlen(text);
    if (n == 0 || strchr("MGT", text[n - 1]) == NULL) {
        return false;
    }
    FAB_FORMAT(whole, "%sb/s", text);
    return fab_quantity_parse(whole, FAB_UNIT_RATE, out, NULL) == FAB_OK;
}

static fab_status read_quantity(const reader *r, int known, fab_unit unit, double *out, fab_error *err) {
    fab_error inner = {0};
    const cell *c = cell_of(r, known);
    if (c->text[0] == '\0') {
        return FAB_OK;
    }
    if (known == RATE && r->is_in_megabits && fab_quantity_parse(c->text, FAB_UNIT_RATIO, out, NULL) == FAB_OK) {
        *out *= 1e6;
        return FAB_OK;
    }
    bool is_bare = unit == FAB_UNIT_LENGTH && fab_quantity_parse(c->text, FAB_UNIT_RATIO, out, NULL) == FAB_OK;
    is_bare = is_bare || (unit == FAB_UNIT_RATE && read_short_rate(c->text, out));
    /* length_m has no unit */
    FAB_RETURN_IF(!is_bare && fab_quantity_parse(c->text, unit, out, &inner) != FAB_OK,
                  fab_text_refuse(r->in, (fab_token){.column = c->column}, err, "%s", inner.text));
    return FAB_OK;
}

static fab_status read_cable(reader *r, fab_error *err) {
    size_t n = 0;
    fab_network_cable cable = {.end = {{.line = r->in->line}, {.line = r->in->line}}};
    bool was_there = false;
    FAB_PASS(read_cells(r, &n, err));
    FAB_RETURN_IF(n != r->n_columns, fab_text_fail(r->in, err, "%zu columns; the first line has %zu", n, r->n_columns));
    for (int i = 0; i < 2; i++) {
        const cell *port = cell_of(r, i == 0 ? A_PORT : Z_PORT);
        FAB_PASS(add_node(r, cell_of(r, i == 0 ? A_NODE : Z_NODE), &cable.end[i].node, err));
        cable.end[i].port = port->text[0] != '\0' ? port->text : NULL;
    }
    FAB_PASS(read_quantity(r, RATE, FAB_UNIT_RATE, &cable.rate_bps, err));
    FAB_PASS(read_quantity(r, LENGTH, FAB_UNIT_LENGTH, &cable.length_m, err));
    FAB_PASS(fab_network_add_cable(r->net, &cable, &was_there, err));
    FAB_RETURN_IF(was_there, fab_text_fail(r->in, err, "this cable stands in the list twice"));
    return FAB_OK;
}

static fab_status csv_read(fab_text *in, fab_network *net, fab_error *err) {
    reader r = {.in = in, .net = net};
    FAB_PASS(csv_read_header(&r, err));
    while (fab_text_next(in)) {
        FAB_PASS(read_cable(&r, err));
    }
    FAB_PASS(fab_text_end(in, err));
    net->has_ports = r.at[A_PORT] >= 0;
    return FAB_OK;
}

/* The first line names both ends. */
static bool is_csv(const char *head) {
    char title[CELL];
    bool a = false;
    bool z = false;
    size_t length = 0;
    char separator = separator_of(head, head + strlen(head));
    for (size_t i = 0; i < 4096; i++) {
        char c = head[i] != '\0' ? head[i] : '\n';
        if (c == separator || c == '\n' || c == '\r') {
            title[length] = '\0';
            int known = known_column(title);
            a = a || known == A_NODE;
            z = z || known == Z_NODE;
            length = 0;
            if (c != separator) {
                break;
            }
        } else if (c != '"' && length + 1 < sizeof title) {
            title[length++] = c;
        }
    }
    return a && z;
}

const fab_network_format fab_network_csv = {.name = "cables",
                                            .summary =
                                                "list of cables as CSV: A-node, A-port, Z-node, Z-port, rate, length",
                                            .recognise = is_csv,
                                            .text = csv_read};
