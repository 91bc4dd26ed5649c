/* iblinkinfo: a block for each box, "Switch: 0x506b4b0300820910 leaf-0:" or "CA: host mlx5_0:", with a line for each
 * port, "  2   17[  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  4   1[  ] "host mlx5_0" ( )"; or --line, which has
 * GUID and description before each. Of the other end the blocks tell the LID alone, so boxes are told apart by LIDs.
 * Lines of another form, such as prompts and warnings, are passed over. Source: rdma-core 44, iblinkinfo.c. */
#include "network_internal.h"

#define N_LIDS     65536
#define N_LABEL    256
#define MOST_PORTS 254
#define CA_PORTS   4 /* no adapter has more */

typedef struct side {
    uint64_t guid, lid, port; /* 0: not told */
    fab_token label;
} side;

typedef struct link_reader {
    fab_text *in;
    fab_network *net;
    uint32_t *by_lid; /* node, or FAB_NETWORK_NONE */
    uint64_t *ports;  /* of a node: a bit for each port up to 63 that was seen with a LID */
    size_t n_ports;
    char block[N_LABEL]; /* description of the block at hand */
    uint64_t block_guid;
    fab_network_kind kind; /* of the block; unknown in lines that stand alone */
    bool tells_hosts;
} link_reader;
FAB_FREES(link_reader_release, link_reader, by_lid, ports);

static fab_token trimmed(const char *from, const char *behind) {
    return fab_token_trim(fab_token_range(from, behind), " \r");
}

static const char *find_text(const char *from, const char *behind, const char *word) {
    return fab_token_find(fab_token_range(from, behind), word);
}

static fab_status link_wrong(const link_reader *r, const char *at, const char *what, fab_error *err) {
    return fab_text_refuse(r->in, (fab_token){.column = (size_t)(at - r->in->line_start) + 1}, err, "%s", what);
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

static fab_network_kind kind_of(const link_reader *r, const side *s, bool is_local, const char *label) {
    bool is_adapter = fab_network_ib_names_host(label) || strstr(label, "Aggregation Node") != NULL;
    if (is_local && r->kind != FAB_NETWORK_UNKNOWN) {
        return r->kind;
    }
    return is_adapter                                             ? FAB_NETWORK_ADAPTER
           : s->port > CA_PORTS || strncmp(label, "MF0;", 4) == 0 ? FAB_NETWORK_SWITCH
                                                                  : FAB_NETWORK_UNKNOWN;
}

/* The ports of an adapter have a LID each and one description; several that are called alike have a port twice. */
static fab_status name_box(link_reader *r, const side *s, const char *label, uint32_t *out, fab_error *err) {
    char name[N_LABEL + 24];
    uint64_t bit = UINT64_C(1) << (s->port & 63);
    FAB_FORMAT(name, "%s", label);
    uint32_t found =
        fab_network_ib_names_host(label) ? fab_network_find(r->net, label, strlen(label)) : FAB_NETWORK_NONE;
    if (s->lid == 0) {
        FAB_FORMAT(name, "0x%016llx", (unsigned long long)s->guid);
    } else if (!fab_network_ib_names_host(label)) {
        FAB_FORMAT(name, "LID %llu", (unsigned long long)s->lid);
    } else if (found != FAB_NETWORK_NONE && (r->ports[found] & bit) != 0) {
        FAB_FORMAT(name, "%s (LID %llu)", label, (unsigned long long)s->lid);
    }
    FAB_PASS(fab_network_add_node(r->net, name, strlen(name), r->in->line, out, err));
    size_t before = r->n_ports;
    FAB_PASS(FAB_GROW(r->ports, r->n_ports, (size_t)*out + 1, err));
    if (r->n_ports > before) {
        memset(r->ports + before, 0, (r->n_ports - before) * sizeof *r->ports);
    }
    r->ports[*out] |= bit;
    return FAB_OK;
}

static fab_status add_side(link_reader *r, const side *s, bool is_local, uint32_t *out, fab_error *err) {
    char label[N_LABEL];
    FAB_FORMAT(label, "%.*s", (int)(s->label.length < N_LABEL - 1 ? s->label.length : N_LABEL - 1), s->label.text);
    FAB_RETURN_IF(
        s->lid == 0 && s->guid == 0,
        fab_text_fail(r->in, err,
                      "the other end has LID 0, so no subnet manager has named it; iblinkinfo --line tells its GUID"));
    uint32_t node = s->lid > 0 ? r->by_lid[s->lid] : FAB_NETWORK_NONE;
    bool is_new = node == FAB_NETWORK_NONE;
    FAB_PASS(is_new ? name_box(r, s, label, &node, err) : FAB_OK);
    r->by_lid[s->lid] = s->lid > 0 ? node : FAB_NETWORK_NONE;
    fab_network_kind kind = kind_of(r, s, is_local, label);
    fab_network_node *box = &r->net->nodes[node];
    box->guid = box->guid != 0 ? box->guid : s->guid;
    if (is_new || (box->kind == FAB_NETWORK_UNKNOWN && kind != FAB_NETWORK_UNKNOWN)) {
        FAB_PASS(fab_network_ib_describe(r->net, node, kind, label, strlen(label), err));
    }
    *out = node;
    return FAB_OK;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* "CA: host mlx5_0:", "Switch: 0x506b4b0300820910 MF0;leaf-0:MQM9700/U1:" */
static bool take_block(link_reader *r, fab_token line) {
    static const struct {
        const char *word;
        fab_network_kind kind;
    } KINDS[] = {{"CA: ", FAB_NETWORK_ADAPTER}, {"Switch: ", FAB_NETWORK_SWITCH}, {"Router: ", FAB_NETWORK_SWITCH}};
    for (size_t i = 0; i < FAB_N_OF(KINDS); i++) {
        size_t n = strlen(KINDS[i].word);
        fab_token rest = trimmed(line.text, line.text + line.length);
        if (rest.length <= n || !fab_token_begins(rest, KINDS[i].word) || rest.text[rest.length - 1] != ':') {
            continue;
        }
        const char *at = rest.text + n;
        const char *behind = rest.text + rest.length - 1;
        r->block_guid = 0;
        if (KINDS[i].kind == FAB_NETWORK_SWITCH && behind - at > 18 &&
            fab_token_guid((fab_token){.text = at, .length = 18}, &r->block_guid)) {
            at += 18;
        }
        rest = trimmed(at, behind);
        r->kind = KINDS[i].kind;
        FAB_FORMAT(r->block, "%.*s", (int)(rest.length < N_LABEL - 1 ? rest.length : N_LABEL - 1), rest.text);
        return true;
    }
    return false;
}

/* The words between two places of the line. */
static fab_text part_of(const link_reader *r, const char *at, const char *behind) {
    fab_text part = *r->in;
    part.at = at;
    part.behind = behind;
    return part;
}

/* "0x7cfe9003009ce5b0  5  16[  ]": all but the description. */
static fab_status read_end(const link_reader *r, const char *at, const char *behind, side *out, fab_error *err) {
    const char *bracket = find_text(at, behind, "[");
    fab_text part = part_of(r, at, bracket != NULL ? bracket : at);
    fab_token words[4];
    FAB_FIRST(n, 4, (words[n] = fab_text_token(&part)).length == 0);
    bool has_guid = n == 3 && fab_token_guid(words[0], &out->guid);
    FAB_RETURN_IF(n != (has_guid ? 3 : 2) || !fab_token_number(words[n - 2], &out->lid) || out->lid >= N_LIDS ||
                      !fab_token_number(words[n - 1], &out->port) || out->port == 0 || out->port > MOST_PORTS,
                  link_wrong(r, at, "expected the LID and the port of an end, as in 2 17[  ]", err));
    return FAB_OK;
}

/* " 4X  25.78125 Gbps Active/  LinkUp"; with "(FDR10)" behind the speed. */
static void read_rate(fab_text part, fab_network_cable *cable) {
    fab_token width = fab_text_token(&part);
    fab_token speed = fab_text_token(&part);
    if (fab_token_find(fab_text_rest(&part), "(FDR10)") != NULL) {
        speed = (fab_token){.text = "FDR10", .length = 5};
    }
    (void)fab_network_ib_speed(width, speed, &cable->width, &cable->rate_bps);
}

static fab_status read_link(link_reader *r, fab_token line, const char *arrow, fab_error *err) {
    const char *behind = line.text + line.length;
    const char *end = find_text(arrow, behind, ")==>");
    const char *quote = memchr(line.text, '"', (size_t)(arrow - line.text));
    side sides[2] = {{.label = {.text = r->block, .length = strlen(r->block)}}, {0}};
    char ports[2][8];
    fab_network_cable cable = {.end = {{.port = ports[0], .line = r->in->line}, {.port = ports[1]}}};
    FAB_RETURN_IF(end == NULL || fab_token_last(fab_token_range(end, behind), ')') == NULL,
                  link_wrong(r, behind, "the line ends within a link", err));
    const char *open = find_text(end, behind, "\"");
    const char *close = open != NULL ? fab_token_last(fab_token_range(open + 1, behind), '"') : NULL;
    FAB_RETURN_IF(close == NULL, link_wrong(r, end, "expected the description of the other end in quotes", err));
    if (quote != NULL) { /* --line: 0xGUID "description" LID port[] */
        const char *last = fab_token_last(fab_token_range(quote + 1, arrow), '"');
        uint64_t guid = 0;
        fab_token word = trimmed(line.text, quote);
        FAB_RETURN_IF(last == NULL || !fab_token_guid(word, &guid),
                      link_wrong(r, line.text, "expected a GUID and a description in quotes", err));
        FAB_PASS(read_end(r, last + 1, arrow, &sides[0], err));
        sides[0].guid = guid;
        sides[0].label = trimmed(quote + 1, last);
        r->kind = FAB_NETWORK_UNKNOWN;
    } else {
        FAB_RETURN_IF(r->kind == FAB_NETWORK_UNKNOWN,
                      link_wrong(r, line.text, "a port before the first line of a box, CA: or Switch:", err));
        FAB_PASS(read_end(r, line.text, arrow, &sides[0], err));
        sides[0].guid = sides[0].guid != 0 ? sides[0].guid : r->block_guid;
    }
    FAB_PASS(add_side(r, &sides[0], true, &cable.end[0].node, err));
    r->tells_hosts = r->tells_hosts || r->net->nodes[cable.end[0].node].kind == FAB_NETWORK_ADAPTER;
    const char *bracket = find_text(end, open, "[");
    if (bracket == NULL || trimmed(end + 4, bracket).length == 0) {
        return FAB_OK; /* nothing plugged in, or nobody answers */
    }
    FAB_PASS(read_end(r, end + 4, open, &sides[1], err));
    sides[1].label = trimmed(open + 1, close);
    FAB_PASS(add_side(r, &sides[1], false, &cable.end[1].node, err));
    read_rate(part_of(r, arrow + 3, end), &cable);
    FAB_FORMAT(ports[0], "%u", (unsigned)sides[0].port);
    FAB_FORMAT(ports[1], "%u", (unsigned)sides[1].port);
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static fab_status iblinkinfo_read(fab_text *in, fab_network *net, fab_error *err) {
    FAB_OWNS(link_reader_release) link_reader r = {.in = in, .net = net};
    uint32_t n_before = net->n_cables;
    net->keeps_contradictions = true;
    FAB_PASS(fab_allocate(N_LIDS, sizeof *r.by_lid, &r.by_lid, err));
    memset(r.by_lid, 0xff, N_LIDS * sizeof *r.by_lid);
    while (fab_text_next(in)) {
        fab_token line = fab_text_rest(in);
        const char *arrow = find_text(line.text, line.text + line.length, "==(");
        if (arrow != NULL) {
            FAB_PASS(read_link(&r, line, arrow, err));
        } else {
            (void)take_block(&r, line);
        }
    }
    FAB_PASS(fab_text_end(in, err));
    FAB_RETURN_IF(net->n_cables == n_before, fab_text_fail(in, err, "holds no link"));
    net->has_ports = true;
    net->reports_both_ends = r.tells_hosts; /* else switches alone were asked */
    return FAB_OK;
}

const fab_network_format fab_network_iblinkinfo = {.name = "iblinkinfo",
                                                   .is_infiniband = true,
                                                   .summary = "links of an InfiniBand subnet, iblinkinfo, also --line",
                                                   .begins = ".* ==\\(.*\\)==>",
                                                   .text = iblinkinfo_read};
