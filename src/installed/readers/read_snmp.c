/* What a switch tells of its neighbors by SNMP, as snmpwalk prints it by names or by numbers: lldpRemTable, the ports
 * of lldpLocPortTable or ifName, and the name of the switch (lldpLocSysName or sysName, else that of the file). A row
 * is "LLDP-MIB::lldpRemSysName.0.5.1 = STRING: spine-0": time mark, port of ours, number of the neighbor. Lines of
 * other tables are passed over. Source: IEEE 802.1AB-2005, LLDP-MIB. */
#include "network_json.h"

#include <ctype.h>

#define NAME 256
#define MAC  3 /* of lldpPortIdSubtype: the port is told by its address */

typedef enum column {
    REM_CHASSIS,
    REM_SUBTYPE,
    REM_PORT,
    REM_PORT_TEXT,
    REM_NAME,
    LOC_SUBTYPE,
    LOC_PORT,
    LOC_PORT_TEXT,
    IF_NAME,
    OWN_NAME,
    COLUMNS
} column;

static const struct {
    const char *name, *number;
    column column;
} OBJECTS[] = {{"lldpRemChassisId.", "1.0.8802.1.1.2.1.4.1.1.5.", REM_CHASSIS},
               {"lldpRemPortIdSubtype.", "1.0.8802.1.1.2.1.4.1.1.6.", REM_SUBTYPE},
               {"lldpRemPortId.", "1.0.8802.1.1.2.1.4.1.1.7.", REM_PORT},
               {"lldpRemPortDesc.", "1.0.8802.1.1.2.1.4.1.1.8.", REM_PORT_TEXT},
               {"lldpRemSysName.", "1.0.8802.1.1.2.1.4.1.1.9.", REM_NAME},
               {"lldpLocPortIdSubtype.", "1.0.8802.1.1.2.1.3.7.1.2.", LOC_SUBTYPE},
               {"lldpLocPortId.", "1.0.8802.1.1.2.1.3.7.1.3.", LOC_PORT},
               {"lldpLocPortDesc.", "1.0.8802.1.1.2.1.3.7.1.4.", LOC_PORT_TEXT},
               {"ifName.", "1.3.6.1.2.1.31.1.1.1.1.", IF_NAME},
               {"lldpLocSysName.", "1.0.8802.1.1.2.1.3.3.", OWN_NAME},
               {"sysName.", "1.3.6.1.2.1.1.5.", OWN_NAME}};

/* A neighbor, or a port of ours. */
typedef struct snmp_row {
    uint64_t mark, port, number;
    bool is_neighbor;
    size_t line;
    const char *text[COLUMNS]; /* NULL: not told */
} snmp_row;

typedef struct snmp_reader {
    fab_text *in;
    fab_network *net;
    snmp_row *rows;
    size_t n, capacity, last;
    const char *own;
} snmp_reader;
FAB_FREES(snmp_reader_release, snmp_reader, rows);

/* "LLDP-MIB::lldpRemSysName.0.5.1", ".1.0.8802...", "iso.0.8802...": the column, and what stands behind it. */
static bool snmp_column(fab_token t, column *out, fab_token *out_index) {
    char text[NAME];
    if (t.length == 0 || t.length >= sizeof text) {
        return false;
    }
    memcpy(text, t.text, t.length);
    text[t.length] = '\0';
    const char *colons = strstr(text, "::");
    const char *name = colons != NULL ? colons + 2 : text;
    name += *name == '.' ? 1 : 0;
    bool is_iso = strncmp(name, "iso.", 4) == 0;
    for (size_t i = 0; i < FAB_N_OF(OBJECTS); i++) {
        const char *number = is_iso ? OBJECTS[i].number + 2 : OBJECTS[i].number; /* iso is 1 */
        const char *from = is_iso ? name + 4 : name;
        size_t n = strncmp(name, OBJECTS[i].name, strlen(OBJECTS[i].name)) == 0 ? strlen(OBJECTS[i].name) : 0;
        size_t behind = n > 0 ? (size_t)(name - text) + n : 0;
        if (n == 0 && strncmp(from, number, strlen(number)) == 0) {
            behind = (size_t)(from - text) + strlen(number);
        }
        if (behind > 0) {
            *out = OBJECTS[i].column;
            *out_index = (fab_token){.text = t.text + behind, .length = t.length - behind, .column = t.column + behind};
            return true;
        }
    }
    return false;
}

/* "0.5.1" to three numbers, "5" to one; how many there are, 0 where it is no index. */
static size_t index_of(fab_token t, uint64_t out[3]) {
    size_t n = 0;
    while (t.text != NULL) {
        if (n == 3 || !fab_token_number(fab_token_split(&t, '.'), &out[n++])) {
            return 0;
        }
    }
    return n;
}

/* "STRING: \"spine-0\"", "INTEGER: 5", "INTEGER: interfaceName(5)", "Hex-STRING: 2C C2 60", or the text alone (-Oq). */
static fab_token value_of(fab_token rest) {
    static const char *const KINDS[] = {"STRING: ", "INTEGER: ", "Hex-STRING: "};
    rest = fab_token_range(fab_token_trim(rest, " ").text, rest.text + rest.length);
    FAB_FIRST(i, FAB_N_OF(KINDS), fab_token_begins(rest, KINDS[i]));
    return i < FAB_N_OF(KINDS)
               ? fab_token_trim(fab_token_range(rest.text + strlen(KINDS[i]), rest.text + rest.length), " \"")
               : fab_token_trim(rest, " \"");
}

/* Rows of a column come in the order of those before it: the one behind the last is tried first. */
static fab_status row_of(snmp_reader *r, bool is_neighbor, const uint64_t at[3], snmp_row **out, fab_error *err) {
    for (size_t i = 0; i < r->n; i++) {
        size_t k = (r->last + 1 + i) % r->n;
        snmp_row *row = &r->rows[k];
        if (row->is_neighbor == is_neighbor && row->port == at[1] && row->mark == at[0] && row->number == at[2]) {
            r->last = k;
            *out = row;
            return FAB_OK;
        }
    }
    FAB_PASS(FAB_GROW(r->rows, r->capacity, r->n + 1, err));
    r->last = r->n;
    r->rows[r->n] =
        (snmp_row){.mark = at[0], .port = at[1], .number = at[2], .is_neighbor = is_neighbor, .line = r->in->line};
    *out = &r->rows[r->n++];
    return FAB_OK;
}

static fab_status snmp_line(snmp_reader *r, fab_error *err) {
    column what = COLUMNS;
    fab_token index = {.text = ""};
    uint64_t at[3] = {0, 0, 0};
    snmp_row *row = NULL;
    if (!snmp_column(fab_text_token(r->in), &what, &index)) {
        return FAB_OK; /* another table, a prompt, a warning */
    }
    (void)fab_text_take(r->in, "=");
    fab_token value = fab_text_rest(r->in);
    FAB_RETURN_IF(value.length == 0,
                  fab_text_refuse(r->in, (fab_token){.column = index.column}, err, "the line ends before its value"));
    value = value_of(value);
    FAB_RETURN_IF(value.length >= NAME,
                  fab_text_refuse(r->in, (fab_token){.column = index.column}, err, "a text of more than 255 bytes"));
    if (what == OWN_NAME) {
        return r->own == NULL ? fab_network_text(r->net, value.text, value.length, &r->own, err) : FAB_OK;
    }
    bool is_neighbor = what <= REM_NAME;
    size_t n = index_of(index, at);
    FAB_RETURN_IF(n != (is_neighbor ? 3U : 1U),
                  fab_text_refuse(r->in, index, err, "is no index; expected %s",
                                  is_neighbor ? "time mark, port and neighbor, as in 0.5.1" : "the number of a port"));
    if (!is_neighbor) {
        at[1] = at[0];
        at[0] = 0;
    }
    FAB_PASS(row_of(r, is_neighbor, at, &row, err));
    return fab_network_text(r->net, value.text, value.length, &row->text[what], err);
}

/* "3", "macAddress(3)" */
static bool is_mac(const char *subtype) {
    const char *open = subtype != NULL ? strchr(subtype, '(') : NULL;
    return subtype != NULL && atoi(open != NULL ? open + 1 : subtype) == MAC;
}

static const char *port_name(const snmp_row *row, column subtype, column port, column text) {
    const char *id = row->text[port];
    const char *other = row->text[text];
    bool is_text = id != NULL && id[0] != '\0' && !is_mac(row->text[subtype]);
    return is_text ? id : other != NULL && other[0] != '\0' ? other : id;
}

static fab_status snmp_neighbor(snmp_reader *r, const snmp_row *row, fab_error *err) {
    char number[24];
    const char *name =
        row->text[REM_NAME] != NULL && row->text[REM_NAME][0] != '\0' ? row->text[REM_NAME] : row->text[REM_CHASSIS];
    fab_network_plug ends[2] = {{.box = r->own, .port = number},
                                {.box = name, .port = port_name(row, REM_SUBTYPE, REM_PORT, REM_PORT_TEXT)}};
    FAB_FORMAT(number, "%llu", (unsigned long long)row->port);
    for (size_t i = 0; i < r->n; i++) { /* lldpLocPortTable before ifName: its numbers are those of LLDP */
        const snmp_row *own = &r->rows[i];
        const char *told =
            own->is_neighbor || own->port != row->port ? NULL : port_name(own, LOC_SUBTYPE, LOC_PORT, LOC_PORT_TEXT);
        told = told == NULL && !own->is_neighbor && own->port == row->port ? own->text[IF_NAME] : told;
        ends[0].port = told != NULL && told[0] != '\0' ? told : ends[0].port;
    }
    if (ends[1].box == NULL || ends[1].box[0] == '\0' || ends[1].port == NULL || ends[1].port[0] == '\0') {
        return fab_network_leave_out(r->net, 1, "neighbors without a name or a port");
    }
    const char *dot = strchr(ends[1].box, '.');
    ends[1].n_box = dot != NULL && isalpha((unsigned char)ends[1].box[0]) ? (size_t)(dot - ends[1].box) : 0;
    dot = strchr(r->own, '.');
    ends[0].n_box = dot != NULL && isalpha((unsigned char)r->own[0]) ? (size_t)(dot - r->own) : ends[0].n_box;
    return fab_network_plug_in(r->net, &ends[0], &ends[1], 0, row->line, err);
}

static fab_status snmp_read(fab_text *in, fab_network *net, fab_error *err) {
    FAB_OWNS(snmp_reader_release) snmp_reader r = {.in = in, .net = net};
    uint32_t n_before = net->n_cables;
    while (fab_text_next(in)) {
        FAB_PASS(snmp_line(&r, err));
    }
    FAB_PASS(fab_text_end(in, err));
    if (r.own == NULL || r.own[0] == '\0') {
        const char *box = NULL;
        size_t n = fab_path_box(in->path, &box);
        FAB_PASS(fab_network_text(net, box, n, &r.own, err));
    }
    for (size_t i = 0; i < r.n; i++) {
        FAB_PASS(r.rows[i].is_neighbor ? snmp_neighbor(&r, &r.rows[i], err) : FAB_OK);
    }
    FAB_RETURN_IF(net->n_cables == n_before && n_before == 0,
                  fab_text_fail(in, err, "holds no neighbor with its port"));
    return FAB_OK;
}

const fab_network_format fab_network_snmp = {
    .name = "snmp",
    .summary = "neighbors by SNMP, snmpwalk of lldpRemTable: a file or a folder of switches",
    .begins = ".*(lldpRem|lldpLoc|\\.0\\.8802\\.1\\.1\\.2\\.1\\.).*=",
    .text = snmp_read};
