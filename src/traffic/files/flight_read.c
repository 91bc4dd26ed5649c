/*
 * One dump of PyTorch's flight recorder, as torch._C._distributed_c10d._dump_nccl_trace_json() and the handler
 * dump_nccl_trace_json give it:
 *
 *     {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "entries": [
 *      {"process_group": ["0", "default_pg"], "collective_seq_id": 1, "p2p_seq_id": 0, "profiling_name":
 *       "nccl:all_reduce", "time_created_ns": 1724779239936775119, "duration_ms": 1.5, "input_sizes": [[3, 4]],
 *       "input_dtypes": ["Float"], "output_sizes": [[3, 4]], "output_dtypes": ["Float"], "state": "completed",
 *       "time_discovered_started_ns": 0, "time_discovered_completed_ns": 1724779239975811724, "is_p2p": false}]}
 *
 * The pickle of it that PyTorch writes by itself has the same members, and null for a time that is not known. The rank
 * is the number that ends the name of the file.
 * Source: pytorch/pytorch, torch/csrc/distributed/c10d/FlightRecorderDetail.hpp, dump_json(), version 2.10.
 */
#include "flight.h"

#include "fab/collective.h"
#include "fab/fnv.h"
#include "fab/json_read.h"

#include <ctype.h>

#define MOST_RANKS  UINT32_C(0x1000000)
#define NS          1e-9
#define MS          1e-3
#define MOST_GROUPS 1000 /* of one rank */

/* A dump while it is read. */
typedef struct dump {
    fab_flight *out;
    fab_json json;
    const char *path;
    uint32_t rank;
    const char *key[MOST_GROUPS]; /* of pg_config */
    uint32_t group[MOST_GROUPS];
    size_t n_groups;
} dump;

bool fab_flight_is_dump(const fab_str *file) {
    size_t at = file->data != NULL ? strspn(file->data, " \t\r\n") : 0;
    return file->length > at + 1 && (file->data[at] == '{' || (uint8_t)file->data[0] == 0x80);
}

/* --- process groups ----------------------------------------------------------------------------------------------- */

/* The number that ends the name of the file, but for endings such as ".json.gz". */
static fab_status rank_of_file(const char *path, uint32_t *out, fab_error *err) {
    const char *name = fab_traffic_file_name(path);
    const char *dot = strchr(name, '.');
    size_t behind = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    size_t at = behind;
    while (at > 0 && isdigit((unsigned char)name[at - 1])) {
        at--;
    }
    FAB_REFUSE_IF(at == behind || behind - at > 8, err, FAB_EINPUT, path,
                  "the name of a flight recorder's dump ends with its rank, as nccl_trace_rank_7.json");
    *out = (uint32_t)strtoul(name + at, NULL, 10);
    return FAB_OK;
}

static fab_status add_member(fab_flight *f, uint64_t rank, fab_error *err) {
    return FAB_APPEND(f->members, f->n_members, f->member_capacity, err,
                      rank < MOST_RANKS ? (uint32_t)rank : MOST_RANKS);
}

/* "[0, 1]", or a list of numbers. */
static fab_status read_members(dump *d, uint32_t group, fab_error *err) {
    uint32_t list = fab_json_member(&d->json, group, "ranks");
    if (list != FAB_JSON_NONE && d->json.values[list].kind == FAB_JSON_STRING) {
        for (const char *at = d->json.values[list].text; *at != '\0';) {
            size_t n = strspn(at, "0123456789");
            FAB_PASS(n > 0 ? add_member(d->out, strtoull(at, NULL, 10), err) : FAB_OK);
            at += n > 0 ? n : 1;
        }
        return FAB_OK;
    }
    FAB_JSON_EACH(&d->json, i, list) {
        double rank = d->json.values[i].number;
        FAB_PASS(add_member(d->out, rank >= 0 && rank < MOST_RANKS ? (uint64_t)rank : MOST_RANKS, err));
    }
    return FAB_OK;
}

/* Letters, digits and dashes: it names phases. */
static void copy_about(const char *about, char *out) {
    size_t n = 0;
    for (; n < 40 && about[n] != '\0'; n++) {
        out[n] = isalnum((unsigned char)about[n]) ? (char)tolower((unsigned char)about[n]) : '-';
    }
    out[n] = '\0';
}

/* A group that other dumps have told already is the same where its name and its members are. */
static fab_status add_group(dump *d, uint32_t config, fab_error *err) {
    fab_flight *f = d->out;
    const char *key = d->json.values[config].key;
    fab_flight_group made = {.first = (uint32_t)f->n_members};
    uint32_t found = 0;
    FAB_REFUSE_IF(d->n_groups == MOST_GROUPS, err, FAB_EUNSUPPORTED, d->path, "more than %d process groups of one rank",
                  MOST_GROUPS);
    FAB_PASS(read_members(d, config, err));
    made.n = (uint32_t)f->n_members - made.first;
    FAB_FORMAT(made.name, "%.63s", key);
    copy_about(fab_json_text_of(&d->json, config, "desc", "group"), made.about);
    const uint32_t *members = f->members + made.first;
    uint32_t last = MOST_RANKS;
    for (uint32_t i = 0; i < made.n; i++) {
        last = members[i] >= MOST_RANKS ? members[i] : last == MOST_RANKS ? 0 : last;
    }
    FAB_REFUSE_IF(made.n == 0 || last == MOST_RANKS, err, FAB_EINPUT, d->path,
                  "process group '%.60s' has no list of ranks below %" PRIu32, key, MOST_RANKS);
    made.hash = fab_fnv(fab_fnv(FAB_FNV_BEGIN, made.name, strlen(made.name)), members, made.n * sizeof *members);
    while (found < f->n_groups &&
           (f->groups[found].hash != made.hash || f->groups[found].n != made.n ||
            strcmp(f->groups[found].name, made.name) != 0 ||
            memcmp(f->members + f->groups[found].first, members, made.n * sizeof *members) != 0)) {
        found++;
    }
    if (found < f->n_groups) {
        f->n_members = made.first;
    } else {
        FAB_PASS(FAB_APPEND(f->groups, f->n_groups, f->group_capacity, err, made));
    }
    d->key[d->n_groups] = key;
    d->group[d->n_groups++] = found;
    return FAB_OK;
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

/* "nccl:_all_gather_base" is an all-gather. */
static uint8_t operation_of(const char *name) {
    static const struct {
        const char *word;
        uint8_t operation;
    } WORDS[] = {{"barrier", FAB_FLIGHT_OTHER}, {"allreduce", FAB_ALL_REDUCE},
                 {"allgather", FAB_ALL_GATHER}, {"reducescatter", FAB_REDUCE_SCATTER},
                 {"alltoall", FAB_ALL_TO_ALL},  {"broadcast", FAB_BROADCAST},
                 {"reduce", FAB_REDUCE},        {"send", FAB_FLIGHT_SEND}};
    char plain[64];
    size_t n = 0;
    for (const char *at = name; *at != '\0' && n + 1 < sizeof plain; at++) {
        if (isalpha((unsigned char)*at)) {
            plain[n++] = (char)tolower((unsigned char)*at);
        }
    }
    plain[n] = '\0';
    FAB_FIRST(i, sizeof WORDS / sizeof WORDS[0], strstr(plain, WORDS[i].word) != NULL);
    return i < sizeof WORDS / sizeof WORDS[0] ? WORDS[i].operation : FAB_FLIGHT_OTHER;
}

static double size_of_type(const char *name) {
    static const struct {
        const char *name;
        double bytes;
    } TYPES[] = {{"Float", 4},        {"Half", 2},           {"BFloat16", 2}, {"Double", 8}, {"Long", 8},
                 {"Int", 4},          {"Short", 2},          {"Byte", 1},     {"Char", 1},   {"Bool", 1},
                 {"ComplexFloat", 8}, {"ComplexDouble", 16}, {"UInt16", 2},   {"UInt32", 4}, {"UInt64", 8}};
    FAB_FIRST(i, sizeof TYPES / sizeof TYPES[0], strcmp(TYPES[i].name, name) == 0);
    return i < sizeof TYPES / sizeof TYPES[0] ? TYPES[i].bytes : strncmp(name, "Float8_", 7) == 0 ? 1 : 0;
}

/* Bytes of all tensors: [[3, 4]] of ["Float"]. */
static fab_status tensor_bytes(const dump *d, uint32_t entry, bool is_input, double *out, fab_error *err) {
    const fab_json *json = &d->json;
    uint32_t sizes = fab_json_member(json, entry, is_input ? "input_sizes" : "output_sizes");
    uint32_t types = fab_json_member(json, entry, is_input ? "input_dtypes" : "output_dtypes");
    uint32_t type = fab_json_first(json, types);
    const char *name = "Float";
    *out = 0;
    FAB_JSON_EACH(json, tensor, sizes) {
        if (type != FAB_JSON_NONE) {
            name = json->values[type].kind == FAB_JSON_STRING ? json->values[type].text : "";
            type = json->values[type].next;
        }
        double bytes = size_of_type(name);
        FAB_REFUSE_IF(bytes == 0, err, FAB_EUNSUPPORTED, d->path, "a tensor of '%.40s', of which the size is not known",
                      name);
        FAB_JSON_EACH(json, i, tensor) {
            bytes *= json->values[i].number;
        }
        *out += bytes;
    }
    FAB_REFUSE_IF(!(*out >= 0 && *out < 1e15), err, FAB_EINPUT, d->path, "tensors of %g bytes", *out);
    return FAB_OK;
}

static double time_of(const fab_json *json, uint32_t entry, const char *key, double unit) {
    double value = fab_json_number_of(json, entry, key, 0);
    return value > 0 && isfinite(value) ? value * unit : NAN;
}

static fab_status find_group(const dump *d, uint32_t entry, uint32_t *out, fab_error *err) {
    uint32_t list = fab_json_member(&d->json, entry, "process_group");
    uint32_t first = fab_json_first(&d->json, list);
    const char *key =
        first != FAB_JSON_NONE && d->json.values[first].kind == FAB_JSON_STRING ? d->json.values[first].text : "";
    for (size_t i = 0; i < d->n_groups; i++) {
        if (strcmp(d->key[i], key) == 0) {
            *out = d->group[i];
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EINPUT, d->path, "an entry of process group '%.60s', which pg_config does not have", key);
}

static fab_status add_entry(dump *d, uint32_t at, fab_error *err) {
    fab_flight *f = d->out;
    const fab_json *json = &d->json;
    const char *name = fab_json_text_of(json, at, "profiling_name", "");
    bool is_own = fab_json_number_of(json, at, "is_p2p", 0) != 0;
    fab_flight_entry e = {.rank = d->rank,
                          .peer = FAB_NONE,
                          .operation = operation_of(name),
                          .is_peer_to_peer = is_own,
                          .is_done = strcmp(fab_json_text_of(json, at, "state", ""), "completed") == 0,
                          .created_s = time_of(json, at, "time_created_ns", NS),
                          .started_s = time_of(json, at, "time_discovered_started_ns", NS),
                          .done_s = time_of(json, at, "time_discovered_completed_ns", NS),
                          .duration_s = time_of(json, at, "duration_ms", MS)};
    double sequence = fab_json_number_of(json, at, is_own ? "p2p_seq_id" : "collective_seq_id", -1);
    FAB_REFUSE_IF(!(sequence >= 0 && sequence < 1e15) || name[0] == '\0', err, FAB_EINPUT, d->path,
                  "an entry without collective_seq_id or profiling_name");
    e.sequence = (uint64_t)sequence;
    FAB_PASS(find_group(d, at, &e.group, err));
    FAB_PASS(tensor_bytes(d, at, e.operation != FAB_ALL_GATHER, &e.bytes, err));
    const char *arrow = strstr(name, "->"); /* "nccl:send 0->1" */
    if (e.operation == FAB_FLIGHT_SEND && arrow != NULL) {
        e.peer = (uint32_t)strtoul(arrow + 2, NULL, 10);
    }
    return FAB_APPEND(f->entries, f->n_entries, f->entry_capacity, err, e);
}

static fab_status read_dump(dump *d, fab_error *err) {
    uint32_t groups = fab_json_member(&d->json, 0, "pg_config");
    uint32_t entries = fab_json_member(&d->json, 0, "entries");
    FAB_REFUSE_IF(groups == FAB_JSON_NONE || d->json.values[groups].kind != FAB_JSON_OBJECT, err, FAB_EINPUT, d->path,
                  "no dump of PyTorch's flight recorder of version 2 or later: it has no pg_config");
    FAB_JSON_EACH(&d->json, i, groups) {
        FAB_PASS(add_group(d, i, err));
    }
    FAB_JSON_EACH(&d->json, i, entries) {
        FAB_PASS(add_entry(d, i, err));
    }
    return FAB_OK;
}

fab_status fab_flight_add(fab_flight *flight, const char *path, const fab_str *file, fab_error *err) {
    fab_status status = FAB_OK;
    dump *d = NULL;
    FAB_REFUSE_IF((uint8_t)file->data[0] == 0x80, err, FAB_EUNSUPPORTED, path,
                  "a pickle, which is a program for Python; write JSON: json.dump(pickle.load(...)), or "
                  "torch._C._distributed_c10d._dump_nccl_trace_json()");
    FAB_REFUSE_IF(strlen(file->data) != file->length, err, FAB_EINPUT, path, "a zero byte: this is no text");
    FAB_TRY(FAB_NEW(d, 1, err));
    d->out = flight;
    d->path = path;
    FAB_TRY(rank_of_file(path, &d->rank, err));
    for (size_t i = 0; i < flight->n_ranks; i++) {
        FAB_FAIL_IF(flight->ranks[i] == d->rank, err, FAB_EINPUT, path, "rank %" PRIu32 " has two dumps", d->rank);
    }
    FAB_TRY(fab_json_parse(file->data, path, &d->json, err));
    FAB_TRY(read_dump(d, err));
    FAB_TRY(FAB_APPEND(flight->ranks, flight->n_ranks, flight->rank_capacity, err, d->rank));
done:
    if (d != NULL) {
        fab_json_release(&d->json);
    }
    free(d);
    return status;
}

FAB_RELEASES(fab_flight_release, fab_flight, groups, members, entries, ranks);

FAB_ORDER_KEYS(entry_order, fab_flight_entry, FAB_ORDER(a->group, b->group),
               FAB_ORDER(a->is_peer_to_peer, b->is_peer_to_peer), FAB_ORDER(a->sequence, b->sequence),
               FAB_ORDER(a->rank, b->rank), FAB_ORDER(a->operation, b->operation));

void fab_flight_sort(fab_flight *flight) {
    FAB_SORT(flight->entries, flight->n_entries, entry_order);
}
