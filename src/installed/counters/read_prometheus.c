/* The text format of Prometheus, version 0.0.4: name{label="value",...} number [milliseconds]. Boxes are told by the
 * labels of the exporters of InfiniBand (guid, switch, hca; local_guid, local_name) and of node_exporter (device; the
 * host is the label instance or the name of the file). */
#include "counters_internal.h"

#define VALUE 256

static bool prometheus_recognise(FAB_UNUSED const char *path, const char *bytes) {
    return strncmp(bytes, "# HELP ", 7) == 0 || strncmp(bytes, "# TYPE ", 7) == 0 ||
           strstr(bytes, "\n# TYPE ") != NULL || strstr(bytes, "_total{") != NULL;
}

/* What the labels of a sample say. */
typedef struct sample_labels {
    char guid[VALUE], name[VALUE], device[VALUE], port[VALUE], host[VALUE];
} sample_labels;

static char *label_place(sample_labels *out, fab_token name) {
    static const struct {
        const char *name;
        size_t at;
    } LABELS[] = {{"guid", offsetof(sample_labels, guid)},           {"node_guid", offsetof(sample_labels, guid)},
                  {"local_guid", offsetof(sample_labels, guid)},     {"switch", offsetof(sample_labels, name)},
                  {"local_name", offsetof(sample_labels, name)},     {"hca", offsetof(sample_labels, device)},
                  {"device", offsetof(sample_labels, device)},       {"interface", offsetof(sample_labels, port)},
                  {"interface_name", offsetof(sample_labels, port)}, {"ifName", offsetof(sample_labels, port)},
                  {"port", offsetof(sample_labels, port)},           {"local_port", offsetof(sample_labels, port)},
                  {"instance", offsetof(sample_labels, host)},       {"host", offsetof(sample_labels, host)},
                  {"hostname", offsetof(sample_labels, host)},       {"node", offsetof(sample_labels, host)},
                  {"source", offsetof(sample_labels, host)}};
    FAB_FIRST(i, FAB_N_OF(LABELS), fab_token_is(name, LABELS[i].name));
    return i < FAB_N_OF(LABELS) ? (char *)out + LABELS[i].at : NULL;
}

/* {name="value",...}: `at` stands behind the brace, and then behind the other one; NULL where there is none. */
static const char *read_labels(const char *at, const char *behind, sample_labels *out) {
    while (at < behind && *at != '}') {
        const char *name = at;
        while (at < behind && *at != '=') {
            at++;
        }
        char *place = label_place(out, fab_token_trim(fab_token_range(name, at), " \t"));
        at += at < behind; /* = */
        if (at >= behind || *at != '"') {
            return NULL;
        }
        size_t n = 0;
        for (at++; at < behind && *at != '"'; at++) {
            bool escapes = *at == '\\' && at + 1 < behind;
            at += escapes;
            if (place != NULL && n + 1 < VALUE) {
                place[n++] = escapes && *at == 'n' ? '\n' : *at;
                place[n] = '\0';
            }
        }
        at += at < behind;
        while (at < behind && (*at == ',' || *at == ' ')) {
            at++;
        }
    }
    return at < behind ? at + 1 : NULL;
}

/* "host:9100" is the host. */
static void drop_service(char *host) {
    char *colon = strrchr(host, ':');
    if (colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        *colon = '\0';
    }
}

/* A switch is called by its name; an adapter "host device", or as the exporter calls it. */
static fab_status sample_port(sample_labels *l, bool is_adapter, counted_key key, fab_counters *out, uint32_t *out_port,
                              fab_error *err) {
    char box[2 * VALUE + 2];
    fab_token file = fab_counter_file(key.file);
    int n_file = (int)(file.length < VALUE ? file.length : VALUE);
    FAB_RETURN_IF(l->guid[0] != '\0' && !fab_counter_guid(fab_token_of(l->guid), &key.guid),
                  fab_fail_in_file(err, key.file, key.line, 1, "label guid: '%.60s' is no GUID", l->guid));
    drop_service(l->host);
    if (l->device[0] != '\0' && !is_adapter) {
        bool has_port = l->port[0] != '\0'; /* mlx5_0 has one; eth0 is one */
        FAB_FORMAT(box, "%s%.*s%s%s", l->host, l->host[0] == '\0' ? n_file : 0, file.text, has_port ? " " : "",
                   has_port ? l->device : "");
        if (!has_port) {
            memcpy(l->port, l->device, VALUE);
        }
    } else {
        const char *name = is_adapter && l->device[0] != '\0' ? l->device : l->name[0] != '\0' ? l->name : l->host;
        FAB_FORMAT(box, "%s%.*s", name, name[0] == '\0' && key.guid == 0 ? n_file : 0, file.text);
    }
    key.box = fab_token_of(box[0] != '\0' ? box : NULL);
    key.port = fab_token_of(l->port[0] != '\0' ? l->port : NULL);
    return fab_counters_port(out, &key, out_port, err);
}

/* Counts are printed as reals. */
static bool read_real(fab_token *rest, double *out) {
    char word[64];
    char *end = NULL;
    *rest = fab_token_trim(*rest, " \t");
    size_t n = strcspn(rest->text, " \t\r\n");
    n = n < rest->length ? n : rest->length;
    FAB_FORMAT(word, "%.*s", (int)(n < sizeof word ? n : 0), rest->text);
    *rest = fab_token_range(rest->text + n, rest->text + rest->length);
    *out = strtod(word, &end);
    return n > 0 && *end == '\0' && strspn(word, "0123456789.eE+-") == n;
}

static fab_status prometheus_sample(fab_token line, const counted_key *key, fab_counters *out, fab_error *err) {
    const char *behind = line.text + line.length;
    size_t n_name = strcspn(line.text, "{ \t\n");
    const char *at = line.text + n_name;
    fab_counter counter = FAB_COUNTER_N;
    uint8_t scale = 1;
    sample_labels labels = {.guid = ""};
    double value = 0;
    double time_ms = 0;
    uint32_t port = 0;
    if (n_name >= line.length || !fab_counter_find(fab_token_range(line.text, at), &counter, &scale)) {
        return FAB_OK; /* of something else */
    }
    FAB_RETURN_IF(*at == '{' && (at = read_labels(at + 1, behind, &labels)) == NULL,
                  fab_fail_in_file(err, key->file, key->line, 1, "the labels have no end"));
    fab_token rest = fab_token_range(at, behind);
    FAB_RETURN_IF(!read_real(&rest, &value) || !(value >= 0) || value >= 18446744073709551615.0,
                  fab_fail_in_file(err, key->file, key->line, 1, "where a count was expected"));
    FAB_PASS(sample_port(&labels, fab_token_begins(line, "infiniband_hca_"), *key, out, &port, err));
    fab_counters_set(out, port, counter, scale, (uint64_t)value);
    if (read_real(&rest, &time_ms)) {
        out->ports[port].time_s = time_ms / 1e3;
    }
    return FAB_OK;
}

static fab_status prometheus_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    fab_token line;
    while (fab_counter_line(&lines, &line)) {
        const counted_key key = {.file = path, .line = lines.line};
        FAB_PASS(line.length > 0 && line.text[0] != '#' ? prometheus_sample(line, &key, out, err) : FAB_OK);
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_prometheus = {
    .name = "prometheus",
    .summary = "counters: text of Prometheus: node_exporter, exporters of InfiniBand fabrics",
    .recognise = prometheus_recognise,
    .read = prometheus_read};
