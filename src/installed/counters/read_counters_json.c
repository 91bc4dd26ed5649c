/* Counters as JSON: SONiC's COUNTERS_DB (sonic-db-dump -n COUNTERS_DB), updates and events of gNMI as gnmic prints
 * them, and OpenConfig's tree of interfaces. */
#include "counters_internal.h"

#include "fab/json_read.h"

#define NANOSECOND 1e-9

typedef struct counters_json {
    const fab_json *json;
    fab_counters *out;
    counted_key key; /* of the file: its box */
} counters_json;

static bool json_recognise(FAB_UNUSED const char *path, const char *bytes) {
    bytes += strncmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    bytes += strspn(bytes, " \t\r\n");
    return *bytes == '{' || *bytes == '[';
}

/* A count, as number or as text. */
static bool count_of(const fab_json_value *v, uint64_t *out) {
    if (v->kind == FAB_JSON_NUMBER && v->number >= 0 && v->number < 18446744073709551615.0) {
        *out = (uint64_t)v->number;
        return true;
    }
    return v->kind == FAB_JSON_STRING && fab_counter_number(fab_token_of(v->text), out);
}

/* The last step of a path, without a module before it: "/a/b/openconfig:out-octets". */
static const char *last_step(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *step = slash != NULL ? slash + 1 : path;
    const char *colon = strrchr(step, ':');
    return colon != NULL ? colon + 1 : step;
}

static fab_status add_count(const counters_json *r, const counted_key *key, const char *name, const fab_json_value *v,
                            double time_s, fab_error *err) {
    fab_counter counter = FAB_COUNTER_N;
    uint8_t scale = 1;
    uint64_t value = 0;
    uint32_t port = 0;
    name = last_step(name);
    if (!fab_counter_find(fab_token_of(name), &counter, &scale) || !count_of(v, &value)) {
        return FAB_OK;
    }
    FAB_PASS(fab_counters_port(r->out, key, &port, err));
    fab_counters_set(r->out, port, counter, scale, value);
    if (time_s > 0) {
        r->out->ports[port].time_s = time_s;
    }
    return FAB_OK;
}

static fab_status add_counts(const counters_json *r, const counted_key *key, uint32_t object, double time_s,
                             fab_error *err) {
    FAB_JSON_EACH(r->json, i, object) {
        FAB_PASS(add_count(r, key, r->json->values[i].key != NULL ? r->json->values[i].key : "", &r->json->values[i],
                           time_s, err));
    }
    return FAB_OK;
}

/* --- SONiC -------------------------------------------------------------------------------------------------------- */

/* {"type": "hash", "value": {...}} is what it holds. */
static uint32_t hash_of(const fab_json *j, uint32_t object) {
    uint32_t value = fab_json_member(j, object, "value");
    return value != FAB_JSON_NONE && j->values[value].kind == FAB_JSON_OBJECT ? value : object;
}

static fab_status read_sonic(const counters_json *r, uint32_t map, fab_error *err) {
    const fab_json *j = r->json;
    uint32_t tables = fab_json_member(j, 0, "COUNTERS");
    map = hash_of(j, map);
    FAB_JSON_EACH(j, i, map) {
        char name[128];
        const fab_json_value *port = &j->values[i];
        if (port->kind != FAB_JSON_STRING || port->key == NULL) {
            continue;
        }
        FAB_FORMAT(name, "COUNTERS:%.100s", port->text);
        uint32_t counts = fab_json_member(j, 0, name);
        counts = counts == FAB_JSON_NONE ? fab_json_member(j, tables, port->text) : counts;
        if (counts != FAB_JSON_NONE) {
            counted_key key = r->key;
            key.port = fab_token_of(port->key);
            FAB_PASS(add_counts(r, &key, hash_of(j, counts), 0, err));
        }
    }
    return FAB_OK;
}

/* --- gNMI --------------------------------------------------------------------------------------------------------- */

/* interfaces/interface[name=Ethernet1]/state/counters: the name. */
static fab_token interface_of(const char *path) {
    static const char WORD[] = "interface[name=";
    const char *at = path != NULL ? strstr(path, WORD) : NULL;
    fab_token rest = fab_token_of(at != NULL ? at + sizeof WORD - 1 : NULL);
    return fab_token_split(&rest, ']');
}

/* "leaf-0:57400" is the box leaf-0. */
static counted_key source_key(const counters_json *r, const char *source) {
    counted_key key = r->key;
    if (source != NULL && source[0] != '\0') {
        const char *colon = strrchr(source, ':');
        bool has_service = colon != NULL && strspn(colon + 1, "0123456789") == strlen(colon + 1);
        key.box = has_service ? fab_token_range(source, colon) : fab_token_of(source);
    }
    return key;
}

static fab_status read_update(const counters_json *r, uint32_t update, counted_key key, double time_s, fab_error *err) {
    const fab_json *j = r->json;
    const char *path = fab_json_text_of(j, update, "Path", fab_json_text_of(j, update, "path", NULL));
    uint32_t values = fab_json_member(j, update, "values");
    FAB_JSON_EACH(j, i, values) {
        const fab_json_value *v = &j->values[i];
        key.port = interface_of(v->key);
        key.port = key.port.text != NULL ? key.port : interface_of(path);
        if (key.port.text == NULL) {
            continue;
        }
        FAB_PASS(v->kind == FAB_JSON_OBJECT ? add_counts(r, &key, i, time_s, err)
                                            : add_count(r, &key, v->key != NULL ? v->key : "", v, time_s, err));
    }
    return FAB_OK;
}

/* {"source": ..., "timestamp": ns, "updates": [...]} or {"tags": {...}, "timestamp": ns, "values": {...}} */
static fab_status read_notice(const counters_json *r, uint32_t notice, fab_error *err) {
    const fab_json *j = r->json;
    uint32_t updates = fab_json_member(j, notice, "updates");
    uint32_t tags = fab_json_member(j, notice, "tags");
    uint32_t values = fab_json_member(j, notice, "values");
    double time_s = fab_json_number_of(j, notice, "timestamp", 0) * NANOSECOND;
    if (updates != FAB_JSON_NONE) {
        counted_key key = source_key(r, fab_json_text_of(j, notice, "source", NULL));
        FAB_JSON_EACH(j, i, updates) {
            FAB_PASS(read_update(r, i, key, time_s, err));
        }
    } else if (tags != FAB_JSON_NONE && values != FAB_JSON_NONE) {
        counted_key key = source_key(r, fab_json_text_of(j, tags, "source", NULL));
        key.port = fab_token_of(fab_json_text_of(j, tags, "interface_name", NULL));
        return add_counts(r, &key, values, time_s, err);
    }
    return FAB_OK;
}

/* --- OpenConfig --------------------------------------------------------------------------------------------------- */

/* Every object with a name, and counters in its state. */
static fab_status read_tree(const counters_json *r, uint32_t at, fab_error *err) {
    const fab_json *j = r->json;
    const char *name = fab_json_text_of(j, at, "name", NULL);
    uint32_t state = fab_json_member(j, at, "state");
    uint32_t counts = fab_json_member(j, state, "counters");
    if (name != NULL && counts != FAB_JSON_NONE) {
        counted_key key = r->key;
        key.port = fab_token_of(name);
        return add_counts(r, &key, counts, 0, err);
    }
    FAB_JSON_EACH(j, i, at) { /* at most as deep as Jansson's text was read */
        if (j->values[i].kind == FAB_JSON_OBJECT || j->values[i].kind == FAB_JSON_ARRAY) {
            FAB_PASS(read_tree(r, i, err));
        }
    }
    return FAB_OK;
}

static fab_status json_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    FAB_OWNS(fab_json_release) fab_json json = {.values = NULL};
    size_t n_before = out->n_ports;
    counters_json r = {.json = &json, .out = out, .key = {.box = fab_counter_file(path), .file = path, .line = 1}};
    FAB_PASS(fab_json_parse(bytes + (strncmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0), path, &json, err));
    uint32_t map = fab_json_member(&json, 0, "COUNTERS_PORT_NAME_MAP");
    if (map != FAB_JSON_NONE) {
        FAB_PASS(read_sonic(&r, map, err));
    } else if (json.values[0].kind == FAB_JSON_ARRAY) {
        FAB_JSON_EACH(&json, i, 0) {
            FAB_PASS(read_notice(&r, i, err));
        }
    } else {
        FAB_PASS(read_notice(&r, 0, err));
    }
    FAB_PASS(out->n_ports == n_before ? read_tree(&r, 0, err) : FAB_OK);
    FAB_RETURN_IF(out->n_ports == n_before,
                  fab_fail_in_file(err, path, 1, 1,
                                   "holds no counters of SONiC (COUNTERS_PORT_NAME_MAP), gNMI (updates, or tags and "
                                   "values) or OpenConfig (interfaces with state/counters)"));
    return FAB_OK;
}

const fab_counters_format fab_counters_json = {
    .name = "json",
    .summary = "counters: JSON of COUNTERS_DB of SONiC, updates or events of gNMI, OpenConfig's interfaces",
    .recognise = json_recognise,
    .read = json_read};
