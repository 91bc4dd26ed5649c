#include "network_json.h"

#include "fab/source.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define HEAD   ((size_t)1 << 16) /* bytes that a format is recognised by; a NUL follows them */
#define STATES 1000              /* of the matcher, as PCRE2 recommends; an expression of ours takes a few dozen */
#define UTF16  "begins with the byte order mark of UTF-16; expected UTF-8 (iconv -f UTF-16 -t UTF-8)"

const fab_network_format *const fab_network_formats[] = {&fab_network_ibnet,
                                                         &fab_network_ibports,
                                                         &fab_network_subnet,
                                                         &fab_network_iblinkinfo,
                                                         &fab_network_net_dump,
                                                         &fab_network_slurm,
                                                         &fab_network_ptm_dot,
                                                         &fab_network_graphml,
                                                         &fab_network_gexf,
                                                         &fab_network_minigraph,
                                                         &fab_network_snmp,
                                                         &fab_network_csv,
                                                         &fab_network_htsim,
                                                         &fab_network_simai,
                                                         &fab_network_lldp,
                                                         &fab_network_lldpctl,
                                                         &fab_network_config_db,
                                                         &fab_network_netbox,
                                                         &fab_network_ufm,
                                                         &fab_network_layer1,
                                                         &fab_network_node_link,
                                                         &fab_network_lab,
                                                         &fab_network_topograph,
                                                         &fab_network_slurm_yaml,
                                                         NULL};

static fab_status read_head(const char *path, char *head, size_t *out_n, fab_error *err) {
    fab_error inner = {0};
    fab_status status = fab_source_head(path, head, HEAD, out_n, &inner);
    /* what is packed is damaged within these lines */
    FAB_RETURN_IF(status == FAB_EINPUT, fab_fail_in_file(err, path, 1, 0, "%s", inner.text));
    return status == FAB_OK ? status : fab_fail(err, status, inner.where, "%s", inner.text);
}

/* " a, b, c" */
static const char *list_formats(char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; fab_network_formats[i] != NULL && n < size; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "", fab_network_formats[i]->name);
    }
    return out;
}

FAB_OWNER(pcre2_code, pcre2_code_free)
FAB_OWNER(pcre2_match_data, pcre2_match_data_free)

/* Whether the head begins as the format does. POSIX's regcomp() of the GNU C library frees a block twice where memory
 * fails within it (glibc 2.36, parse_reg_exp and re_compile_internal), hence PCRE2; its DFA matcher needs no memory and
 * goes once over the text, whatever stands there. */
static fab_status formats_match(const fab_network_format *f, const char *head, bool *out, fab_error *err) {
    FAB_OWNS(pcre2_code_free_owned) pcre2_code *begins = NULL;
    FAB_OWNS(pcre2_match_data_free_owned) pcre2_match_data *match = NULL;
    int states[STATES];
    int code = 0;
    size_t at = 0;
    if (f->recognise != NULL || f->words != NULL) {
        *out = f->recognise != NULL ? f->recognise(head) : fab_network_json_has(head, f->words);
        return FAB_OK;
    }
    begins = pcre2_compile((PCRE2_SPTR)f->begins, PCRE2_ZERO_TERMINATED,
                           PCRE2_ANCHORED | PCRE2_DOTALL | (f->ignores_case ? PCRE2_CASELESS : 0), &code, &at, NULL);
    match = begins != NULL ? pcre2_match_data_create(1, NULL) : NULL;
    FAB_REFUSE_IF(match == NULL, err, FAB_ENOMEM, NULL, "no memory to recognise '%s'", f->name);
    code = pcre2_dfa_match(begins, (PCRE2_SPTR)head, strlen(head), 0, PCRE2_DFA_SHORTEST, match, NULL, states, STATES);
    *out = code >= 0;
    FAB_REFUSE_IF(code < 0 && code != PCRE2_ERROR_NOMATCH, err, FAB_ENOMEM, NULL, "no memory to recognise '%s'",
                  f->name);
    return FAB_OK;
}

fab_status fab_network_recognise(const char *head, const fab_network_format **out, fab_error *err) {
    bool fits = false;
    *out = NULL;
    for (size_t i = 0; fab_network_formats[i] != NULL && !fits; i++) {
        FAB_PASS(formats_match(fab_network_formats[i], head, &fits, err));
        *out = fits ? fab_network_formats[i] : NULL;
    }
    return FAB_OK;
}

/* What a file is that no reader takes, and which command does; NULL: nobody knows. */
static const char *seems_to_be(const char *bytes, const char *text, size_t n) {
    static const struct {
        const char *word, *what;
        bool is_first; /* at the begin of the file */
    } KNOWN[] = {
        {"\x28\xb5\x2f\xfd", "compressed by zstd: zstd -dc FILE | fabriscope ... -", true},
        {"BZh", "compressed by bzip2: bzip2 -dc FILE | fabriscope ... -", true},
        {"PK\x03\x04", "an archive or a spreadsheet: save it as CSV", true},
        {"SQLite format 3", "a database: the folder of a study is read by fabriscope study show --store", true},
        {"<design", "a design: fabriscope run and route take it", false},
        {"<system version",
         "the inside of a server from NCCL: fabriscope explain server:FILE, and in designs server=FILE", false},
        {"<topology",
         "the inside of one server from hwloc, which knows no cable between boxes: fabriscope explain server:FILE, and "
         "in designs server=FILE",
         false},
        {"Unicast lids", "forwarding tables of OpenSM: fabriscope route DESIGN --engine file,path=FILE", false},
        {"fabriscope-tables", "forwarding tables: fabriscope route DESIGN --engine file,path=FILE", true},
        {"\"system_guid\"", "systems of UFM, which tell no cables: those are in /ufmRest/resources/links", false},
        {"\"nexthops\"", "routes of FRR or SONiC: fabriscope route DESIGN --engine ecmp,tables=FILE", false},
        {"# Port extended counters", "counters of ports: fabriscope observe DESIGN --counters A B", false},
        {"START_PM_INFO", "counters of ports: fabriscope observe DESIGN --counters A B", false},
        {"# TYPE ", "metrics of Prometheus: fabriscope observe DESIGN --counters A B", false},
        {"\"program\": \"fabriscope\"", "a report of this program: fabriscope diff takes two of them", false},
        {"%%MatrixMarket", "a traffic matrix: fabriscope route DESIGN --traffic file:FILE", true},
    };
    for (size_t i = 0; i < FAB_N_OF(KNOWN); i++) {
        size_t length = strlen(KNOWN[i].word);
        bool fits = KNOWN[i].is_first ? n >= length && memcmp(bytes, KNOWN[i].word, length) == 0
                                      : strstr(text, KNOWN[i].word) != NULL;
        if (fits) {
            return KNOWN[i].what;
        }
    }
    return NULL;
}

#define FEW_LINES 8 /* that may stand before what a command has printed: its prompt, a warning */

/* Refuses a file that would be of a format if it began some lines further down. */
static fab_status find_format_below(const char *path, const char *head, fab_error *err) {
    const char *at = head;
    for (size_t line = 2; line <= FEW_LINES && (at = strchr(at, '\n')) != NULL; line++) {
        const fab_network_format *f = NULL;
        FAB_PASS(fab_network_recognise(++at, &f, err));
        FAB_RETURN_IF(
            f != NULL,
            fab_fail_in_file(err, path, 1, 0,
                             "begins with '%.*s'; from line %zu on it is of the format %s: remove what stands before",
                             (int)(strcspn(head, "\r\n") < 60 ? strcspn(head, "\r\n") : 60), head, line, f->name));
    }
    return FAB_OK;
}

static fab_status formats_choose(const char *path, const char *format, const fab_network_format **out, fab_error *err) {
    char list[256];
    size_t n = 0;
    size_t start = 0;
    FAB_OWNED_NEW(char, head, HEAD + 1, err);
    if (format == NULL) {
        FAB_PASS(read_head(path, head, &n, err));
        FAB_PASS(n == 0 ? fab_fail_in_file(err, path, 1, 0, "the file is empty") : FAB_OK);
        FAB_PASS(n > 1 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0)
                     ? fab_fail_in_file(err, path, 1, 0, UTF16)
                     : FAB_OK);
        start = n > 2 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    }
    *out = NULL;
    FAB_PASS(format == NULL ? fab_network_recognise(head + start, out, err) : FAB_OK);
    for (size_t i = 0; format != NULL && fab_network_formats[i] != NULL; i++) {
        *out = fab_network_format_is(fab_network_formats[i], format) ? fab_network_formats[i] : *out;
    }
    if (*out != NULL) {
        return FAB_OK;
    }
    (void)list_formats(list, sizeof list);
    FAB_REFUSE_IF(format != NULL, err, FAB_EINPUT, path, "there is no format '%.40s', but %s", format, list);
    const char *other = seems_to_be(head, head + start, n);
    FAB_PASS(other != NULL ? fab_fail_in_file(err, path, 1, 0, "is %s", other) : FAB_OK);
    FAB_PASS(find_format_below(path, head + start, err));
    return fab_fail_in_file(err, path, 1, 0,
                            "looks like none of %s; a list of cables begins with the names of its columns: "
                            "A-node,A-port,Z-node,Z-port,rate",
                            list);
}

/* What is wrong in the last line of several, which has no end, may be that the file is cut off. */
static fab_status say_truncated(const char *path, fab_status status, fab_error *err) {
    FAB_OWNS(fab_text_release) fab_text in = {.path = path};
    fab_error ignored = {0};
    char place[sizeof err->where];
    char text[sizeof err->text];
    bool is_cut = false;
    if (status != FAB_EINPUT || strstr(err->text, "truncated") != NULL ||
        fab_text_stream_open(path, &in, &ignored) != FAB_OK) {
        return status;
    }
    while (fab_text_next(&in)) {
        is_cut = in.next_line > in.file.data && in.next_line[-1] != '\n';
    }
    FAB_FORMAT(place, "%.150s:%zu:", path, in.line);
    bool is_open = strstr(err->text, "Premature end of data") != NULL; /* XML that ends within an element */
    if (is_open || (is_cut && in.line > 1 && strncmp(err->where, place, strlen(place)) == 0)) {
        FAB_FORMAT(text, "the file %s truncated: %.200s", is_open ? "is" : "may be", err->text);
        memcpy(err->text, text, sizeof err->text);
    }
    return status;
}

static fab_status read_file(const fab_network_format *f, const char *path, fab_network *net, fab_error *err) {
    FAB_OWNS(fab_text_release) fab_text in = {.path = path};
    if (f->text == NULL) {
        return f->read != NULL ? f->read(path, net, err) : fab_network_json_read(f, path, net, err);
    }
    FAB_PASS(fab_text_stream_open(path, &in, err));
    return f->text(&in, net, err);
}

typedef struct reading {
    const char *format; /* NULL: by content */
    fab_network *net;
} reading;

static fab_status read_into(void *context, const char *path, fab_error *err) {
    const reading *r = context;
    const fab_network_format *f = fab_network_formats[0];
    FAB_PASS(formats_choose(path, r->format, &f, err));
    r->net->columns = r->format;
    r->net->format = r->net->format != NULL ? r->net->format : f->name;
    r->net->is_infiniband = r->net->is_infiniband || f->is_infiniband;
    return say_truncated(path, read_file(f, path, r->net, err), err);
}

/* Of a box that was not asked nothing is missing: its ends are told where the other end tells them. */
static fab_status tell_silent_ends(fab_network *net, fab_error *err) {
    FAB_OWNED_NEW(bool, is_asked, (size_t)net->n_nodes + 1, err);
    for (uint32_t i = 0; i < 2 * net->n_cables; i++) {
        const fab_network_end *end = &net->cables[i >> 1].end[i & 1];
        is_asked[end->node] = is_asked[end->node] || end->line != 0;
    }
    for (uint32_t i = 0; i < 2 * net->n_cables; i++) {
        fab_network_end *end = &net->cables[i >> 1].end[i & 1];
        end->line = is_asked[end->node] ? end->line : net->cables[i >> 1].end[(i & 1) ^ 1].line;
    }
    net->reports_both_ends = true;
    return FAB_OK;
}

fab_status fab_network_read(const char *path, const char *format, uint64_t max_bytes, fab_network **out,
                            fab_error *err) {
    FAB_OWNS(fab_network_free_owned) fab_network *net = NULL;
    FAB_PASS(fab_network_new(path, &net, err));
    net->max_bytes = max_bytes;
    FAB_PASS(format != NULL ? fab_network_format_check(format, NULL, err) : FAB_OK);
    bool is_auto = format != NULL && strncmp(format, "auto", strcspn(format, ",")) == 0 && strcspn(format, ",") == 4;
    reading r = {.format = is_auto ? NULL : format, .net = net};
    net->keeps_contradictions = fab_is_folder(path); /* a file of each box: what several of them tell is one cable */
    FAB_PASS(fab_folder_each(
        path, &(fab_folder_visit){.read = read_into, .context = &r, .most_depth = FAB_FOLDER_DEPTH}, err));
    FAB_PASS(format != NULL ? fab_network_exclude(net, format, err) : FAB_OK);
    FAB_PASS(net->tells_neighbors ? tell_silent_ends(net, err) : FAB_OK);
    net->columns = NULL;
    return FAB_GIVE(*out, net);
}
