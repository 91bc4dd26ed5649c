/* Which format a traffic file has. */

#include "flight.h"

#include "fab/box_files.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

static const fab_traffic_format *const FORMATS[] = {&fab_traffic_htsim, &fab_traffic_simai, &fab_traffic_nccl};

const fab_pattern_info fab_traffic_files[] = {
    {"csv", "traffic: lines under the header src,dst,bytes, or a square of bytes, with names or without"},
    {"matrix-market", "traffic: a coordinate matrix, bytes from row to column"},
    {"htsim-cm", "traffic: connections of htsim that start together"},
    {"simai-workload", "traffic: collectives of the layers of SimAI's and ASTRA-sim 1's workloads"},
    {"nccl-log", "traffic: rings and collectives that NCCL has logged; a file, or a folder of them"},
    {"flight-recorder",
     "traffic: collectives of PyTorch's flight recorder as JSON; a folder, with logs of NCCL or without"},
    {NULL, NULL},
};

const char *fab_traffic_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

typedef struct folder {
    fab_str *text;
    fab_flight *flight;
} folder;

/* A file: a flight recorder's dump by itself, all others one behind the other. */
static fab_status read_one(void *context, const char *path, fab_error *err) {
    fab_str *out = ((folder *)context)->text;
    FAB_OWNS(fab_str_release) fab_str one = FAB_STR_INIT;
    FAB_PASS(fab_read_file(path, MAX_FILE_BYTES - out->length, &one, err));
    if (fab_flight_is_dump(&one)) {
        FAB_PASS(fab_flight_add(((folder *)context)->flight, path, &one, err));
    } else {
        fab_str_append(out, one.data != NULL ? one.data : "", one.length);
        fab_str_add(out, "\n");
        FAB_PASS(fab_str_status(out, err));
    }
    return FAB_OK;
}

#define ROWS ",rows="

size_t fab_traffic_path_length(const char *text) {
    const char *key = strrchr(text, ',');
    return key != NULL && strncmp(key, ROWS, strlen(ROWS)) == 0 ? (size_t)(key - text) : strlen(text);
}

/* Cuts ",rows=servers" off the path, which may have commas of its own. */
static fab_status cut_rows(char *path, bool *out_by_servers, fab_error *err) {
    char *key = path + fab_traffic_path_length(path);
    if (*key == '\0') {
        return FAB_OK;
    }
    *out_by_servers = strcmp(key + strlen(ROWS), "servers") == 0;
    FAB_RETURN_IF(!*out_by_servers && strcmp(key + strlen(ROWS), "gpus") != 0,
                  fab_fail(err, FAB_EINPUT, path, "rows: '%.40s' is none of gpus, servers", key + strlen(ROWS)));
    *key = '\0';
    return FAB_OK;
}

fab_status fab_traffic_read(const char *given, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    bool by_servers = false;
    FAB_OWNED char *path = NULL;
    FAB_OWNS(fab_text_release) fab_text text = {.path = NULL};
    const fab_traffic_format *format = NULL;
    FAB_OWNS(fab_flight_release) fab_flight flight = {.n_ranks = 0};
    path = fab_strdup(given, err);
    FAB_PASS(path != NULL ? cut_rows(path, &by_servers, err) : FAB_ENOMEM);
    text.path = path;
    FAB_REFUSE_IF(path[0] == '\0', err, FAB_EINPUT, NULL, "traffic 'file:' names no file; write file:PATH");
    if (fab_is_folder(path)) {
        folder all = {&text.file, &flight};
        FAB_PASS(fab_folder_each(path, &(fab_folder_visit){.read = read_one, .context = &all, .most_depth = 1}, err));
    } else {
        FAB_PASS(fab_read_file(path, MAX_FILE_BYTES, &text.file, err));
        if (fab_flight_is_dump(&text.file)) {
            FAB_PASS(fab_flight_add(&flight, path, &text.file, err));
            fab_str_release(&text.file);
        }
    }
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0] && format == NULL && flight.n_ranks == 0; i++) {
        fab_text_rewind(&text);
        format = FORMATS[i]->recognise(&text) ? FORMATS[i] : NULL;
    }
    FAB_RETURN_IF(by_servers && (flight.n_ranks > 0 || format != NULL),
                  fab_fail(err, FAB_EINPUT, path, "rows=servers is of matrices alone, and this file is none"));
    if (flight.n_ranks > 0) {
        fab_text_rewind(&text);
        FAB_PASS(text.file.length > 0 ? fab_text_check(&text, err) : FAB_OK);
        FAB_PASS(fab_flight_traffic(&flight, &text, fabric, traffic, err));
        return FAB_OK;
    }
    if (format == NULL) {
        FAB_PASS(fab_matrix_read(path, &text.file, fabric, by_servers, traffic, err));
        return FAB_OK;
    }
    fab_text_rewind(&text);
    FAB_PASS(fab_text_check(&text, err));
    return format->read(&text, fabric, traffic, err);
}
