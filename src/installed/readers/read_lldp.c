/* What switches print of their neighbors: `show lldp neighbors` and its detail of EOS and NX-OS, and the tables of
 * Junos and Cumulus (`net show lldp`). A capture may hold several switches, each behind its prompt, "leaf-0#show lldp
 * neighbors"; without a prompt the switch is the name of the file. Interfaces have the long names that neighbors
 * announce: Et1 is Ethernet1. Management ports, ours and those of neighbors, are left out, and said. */
#include "network_json.h"

#include <ctype.h>

#define NAME 256

typedef enum lldp_table { TABLE_NONE, TABLE_EOS, TABLE_NXOS, TABLE_JUNOS, TABLE_CUMULUS } lldp_table;

typedef struct lldp_reader {
    fab_text *in;
    fab_network *net;
    lldp_table table;
    char box[NAME];     /* at hand */
    char local[NAME];   /* its port, of a detail */
    char other[NAME];   /* the neighbor: of a detail, or of a table whose line was broken */
    char chassis[NAME]; /* its address */
    char port[NAME];
    size_t line; /* of the neighbor */
    uint64_t n_management;
} lldp_reader;

static void keep(char *to, const char *text, size_t n) {
    n = n < NAME - 1 ? n : NAME - 1;
    memcpy(to, text, n);
    to[n] = '\0';
}

/* Digits of an address: 2cc2.6081.eaf9, 2c:6b:f5:a1:c2:c0, 10.0.0.1. */
static bool is_address(const char *text) {
    return text[strspn(text, "0123456789abcdefABCDEF.:-")] == '\0' && strpbrk(text, ".:") != NULL;
}

/* Without its domain: prompts have none. */
static void keep_box(char *to, const char *text, size_t n) {
    keep(to, text, n);
    char *dot = strchr(to, '.');
    if (dot != NULL && dot != to && !is_address(to)) {
        *dot = '\0';
    }
}

/* Et1 and Eth1/1 to Ethernet1, Ethernet1/1; Ma1 to Management1. */
static void keep_port(char *to, const char *text, size_t n) {
    static const char *const SHORT[][2] = {{"Ethernet", "Ethernet"},
                                           {"Eth", "Ethernet"},
                                           {"Et", "Ethernet"},
                                           {"Management", "Management"},
                                           {"Ma", "Management"}};
    for (size_t i = 0; i < FAB_N_OF(SHORT); i++) {
        size_t length = strlen(SHORT[i][0]);
        if (n > length && memcmp(text, SHORT[i][0], length) == 0 && isdigit((unsigned char)text[length])) {
            (void)snprintf(to, NAME, "%s%.*s", SHORT[i][1], (int)(n - length < 200 ? n - length : 200), text + length);
            return;
        }
    }
    keep(to, text, n);
}

static bool is_management(const char *port) {
    static const char *const NAMES[] = {"Management", "mgmt", "fxp", "em0", "me0", "re0:mgmt"};
    FAB_ANY(found, i, FAB_N_OF(NAMES), strncmp(port, NAMES[i], strlen(NAMES[i])) == 0);
    return found;
}

static fab_status lldp_add(lldp_reader *r, const char *local, const char *box, const char *port, fab_error *err) {
    const fab_network_plug ends[2] = {{.box = r->box, .port = local}, {.box = box, .port = port}};
    FAB_RETURN_IF(local[0] == '\0' || box[0] == '\0' || port[0] == '\0',
                  fab_text_fail(r->in, err, "a neighbor without a name, its port or ours"));
    if (is_management(local) || (port[0] != 'e' && is_management(port))) { /* em0 of a host may be any port */
        r->n_management++;
        return FAB_OK;
    }
    return fab_network_hear(r->net, &ends[0], &ends[1], r->in->line, err);
}

/* --- details ------------------------------------------------------------------------------------------------------ */

/* What was told of a neighbor, when the next one begins. */
static fab_status end_neighbor(lldp_reader *r, fab_error *err) {
    fab_status status = FAB_OK;
    if (r->port[0] != '\0' && r->local[0] != '\0') {
        status = lldp_add(r, r->local, r->other[0] != '\0' ? r->other : r->chassis, r->port, err);
    }
    r->port[0] = r->other[0] = r->chassis[0] = '\0';
    return status;
}

/* The text behind "Key   : ", its quotes taken off; false where the line is of another key. */
static bool value_of(fab_token line, const char *key, const char **out, size_t *out_n) {
    fab_token before = fab_token_trim(fab_token_split(&line, ':'), " \t\r");
    line = fab_token_trim(line, " \"\r");
    *out = line.text;
    *out_n = line.length;
    return fab_token_is(before, key) && line.length > 0;
}

/* Lines of EOS: Interface Ethernet1 detected 1 LLDP neighbors:; and of both: keys with a colon. */
static fab_status read_detail(lldp_reader *r, fab_token line, bool *out_is, fab_error *err) {
    const char *at = NULL;
    size_t n = 0;
    *out_is = true;
    line = fab_token_begins(line, "- ") ? fab_token_range(line.text + 2, line.text + line.length) : line;
    const char *detected = fab_token_find(line, " detected");
    if (fab_token_begins(line, "Interface ") && detected != NULL && detected >= line.text + 10) {
        FAB_PASS(end_neighbor(r, err));
        keep_port(r->local, line.text + 10, (size_t)(detected - line.text) - 10);
    } else if (fab_token_begins(line, "Neighbor ")) {
        FAB_PASS(end_neighbor(r, err));
    } else if (value_of(line, "Chassis id", &at, &n)) { /* NX-OS: the first line of a neighbor */
        FAB_PASS(end_neighbor(r, err));
        r->local[0] = '\0';
        keep(r->chassis, at, n);
    } else if (value_of(line, "Chassis ID", &at, &n)) {
        keep(r->chassis, at, n);
    } else if (value_of(line, "Local Port id", &at, &n)) {
        keep_port(r->local, at, n);
    } else if ((value_of(line, "Port id", &at, &n) || value_of(line, "Port ID", &at, &n)) && r->port[0] == '\0') {
        keep_port(r->port, at, n); /* EOS repeats it for link aggregation */
    } else if (value_of(line, "System Name", &at, &n)) {
        keep_box(r->other, at, n);
    } else {
        *out_is = false;
    }
    return FAB_OK;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

#define WORDS 8

static size_t words_of(fab_text *in, fab_token *out) {
    size_t n = 0;
    for (fab_token t = fab_text_token(in); t.length > 0; t = fab_text_token(in)) {
        n += n < WORDS ? 1 : 0;
        out[n - 1] = t;
    }
    return n;
}

static fab_status add_words(lldp_reader *r, fab_token local, fab_token box, fab_token port, fab_error *err) {
    char names[3][NAME];
    keep_port(names[0], local.text, local.length);
    keep_box(names[1], box.text, box.length);
    keep_port(names[2], port.text, port.length);
    return lldp_add(r, names[0], names[1], names[2], err);
}

static bool is_interface(fab_token t) {
    return t.length > 2 && isalpha((unsigned char)t.text[0]) && strcspn(t.text, "0123456789\n") < t.length;
}

static bool is_number(fab_token t) {
    uint64_t number = 0;
    return fab_token_number(t, &number);
}

static fab_status read_row(lldp_reader *r, fab_error *err) {
    fab_token w[WORDS];
    fab_token line = fab_text_rest(r->in);
    size_t n = words_of(r->in, w);
    if (r->table == TABLE_EOS && n >= 4 && is_interface(w[0]) && is_number(w[n - 1])) {
        return add_words(r, w[0], w[1], w[2], err);
    }
    if (r->table == TABLE_JUNOS && n >= 5 && is_interface(w[0])) {
        return add_words(r, w[0], w[n - 1], w[n - 2], err);
    }
    if (r->table == TABLE_CUMULUS && n >= 5 && is_interface(w[0])) {
        if (fab_token_is(w[2], "Mgmt")) {
            r->n_management++;
            return FAB_OK;
        }
        return add_words(r, w[0], w[n - 2], w[n - 1], err);
    }
    if (r->table != TABLE_NXOS) {
        return FAB_OK;
    }
    /* A long name has a line of its own; the capability may be missing. */
    bool is_broken = line.length > 0 && r->other[0] != '\0' && n >= 3 && is_interface(w[0]) && is_number(w[1]);
    if (is_broken) {
        fab_token box = {.text = r->other, .length = strlen(r->other)};
        FAB_PASS(add_words(r, w[0], box, w[n - 1], err));
        r->other[0] = '\0';
        return FAB_OK;
    }
    r->other[0] = '\0';
    if (n >= 4 && is_interface(w[1]) && is_number(w[2])) {
        return add_words(r, w[1], w[0], w[n - 1], err);
    }
    if (n == 1) {
        keep(r->other, w[0].text, w[0].length);
    }
    return FAB_OK;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* "leaf-0#show lldp neighbors", "admin@leaf-0> show ...", "leaf-0(config)# show ...": whose capture follows. */
static bool take_prompt(lldp_reader *r, fab_token line) {
    const char *show = NULL;
    for (size_t i = 0; i + 9 <= line.length && show == NULL; i++) {
        bool begins = i > 0 && (line.text[i - 1] == ' ' || line.text[i - 1] == '#' || line.text[i - 1] == '>');
        show = begins && memcmp(line.text + i, "show lldp", 9) == 0 ? line.text + i : NULL;
    }
    if (show == NULL) {
        return false;
    }
    size_t n = strcspn(line.text, "#>(: ");
    const char *at = memchr(line.text, '@', n);
    const char *from = at != NULL ? at + 1 : line.text;
    n -= (size_t)(from - line.text);
    n = n == 3 && memcmp(from, "net", n) == 0 ? 0 : n; /* "net show lldp", typed without a prompt */
    if (n > 0) {
        keep_box(r->box, from, n);
        r->table = TABLE_NONE;
    }
    return n > 0;
}

static lldp_table table_of(fab_token line) {
    static const struct {
        const char *words[3];
        lldp_table table;
    } HEADS[] = {{{"Port", "Neighbor Device ID", "Neighbor Port ID"}, TABLE_EOS},
                 {{"Device ID", "Local Intf", "Port ID"}, TABLE_NXOS},
                 {{"Local Interface", "Chassis Id", "System Name"}, TABLE_JUNOS},
                 {{"LocalPort", "RemoteHost", "RemotePort"}, TABLE_CUMULUS}};
    char text[NAME];
    keep(text, line.text, line.length);
    FAB_FIRST(i, FAB_N_OF(HEADS),
              strncmp(text, HEADS[i].words[0], strlen(HEADS[i].words[0])) == 0 &&
                  strstr(text, HEADS[i].words[1]) != NULL && strstr(text, HEADS[i].words[2]) != NULL);
    return i < FAB_N_OF(HEADS) ? HEADS[i].table : TABLE_NONE;
}

static fab_status lldp_line(lldp_reader *r, fab_error *err) {
    fab_token line = fab_token_trim(fab_text_rest(r->in), " \t");
    lldp_table table = table_of(line);
    bool is_detail = false;
    if (take_prompt(r, line)) {
        return end_neighbor(r, err);
    }
    if (table != TABLE_NONE) {
        r->table = table;
        return FAB_OK;
    }
    FAB_PASS(read_detail(r, line, &is_detail, err));
    return is_detail || r->local[0] != '\0' || r->chassis[0] != '\0' ? FAB_OK : read_row(r, err);
}

static fab_status lldp_read(fab_text *in, fab_network *net, fab_error *err) {
    const char *box = NULL;
    lldp_reader r = {.in = in, .net = net};
    size_t n = fab_path_box(in->path, &box);
    keep_box(r.box, box, n);
    while (fab_text_next(in)) {
        FAB_PASS(lldp_line(&r, err));
    }
    FAB_PASS(fab_text_end(in, err));
    FAB_PASS(end_neighbor(&r, err));
    (void)fab_network_leave_out(net, r.n_management, "neighbors on management ports");
    return net->n_cables > 0 ? FAB_OK : fab_text_fail(in, err, "holds no neighbor with its port");
}

const fab_network_format fab_network_lldp = {
    .name = "lldp",
    .summary = "show lldp neighbors, or detail, of EOS, NX-OS, Junos, Cumulus: captures with their prompts",
    .begins = ".*(Neighbor Device ID|Local Intf      Hold-time|Local Interface    Parent|Local Port id:|RemoteHost|"
              " detected .*LLDP neighbors|LLDP neighbors.* detected )",
    .text = lldp_read};
