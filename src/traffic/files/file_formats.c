/* Which format a traffic file has. */

#include "flight.h"

#include "fab/box_files.h"
#include "fab/str.h"

#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

static const fab_traffic_format *const FORMATS[] = {&fab_traffic_htsim, &fab_traffic_simai, &fab_traffic_nccl};

const fab_pattern_info fab_traffic_files[] = {
    {"csv", "traffic: lines under the header src,dst,bytes, or a square of bytes"},
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

/* A file: a flight recorder's dump by itself, all others one behind the other. */
static fab_status read_one(const char *path, fab_str *out, fab_flight *flight, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str one = FAB_STR_INIT;
    FAB_TRY(fab_read_file(path, MAX_FILE_BYTES - out->length, &one, err));
    if (fab_flight_is_dump(&one)) {
        FAB_TRY(fab_flight_add(flight, path, &one, err));
    } else {
        fab_str_append(out, one.data != NULL ? one.data : "", one.length);
        fab_str_add(out, "\n");
    }
done:
    fab_str_release(&one);
    return status;
}

static fab_status read_files(const char *path, fab_str *out, fab_flight *flight, fab_error *err) {
    fab_status status = FAB_OK;
    char **paths = NULL;
    size_t n = 0;
    FAB_TRY(fab_folder_list(path, &paths, &n, err));
    for (size_t i = 0; i < n; i++) {
        FAB_TRY(read_one(paths[i], out, flight, err));
    }
    FAB_FAIL_IF(n == 0, err, FAB_EINPUT, path, "the folder is empty");
    FAB_TRY(fab_str_status(out, err));
done:
    fab_folder_release(paths, n);
    return status;
}

fab_status fab_traffic_read(const char *path, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_text text = {.path = path};
    const fab_traffic_format *format = NULL;
    fab_flight flight = {.n_ranks = 0};
    FAB_FAIL_IF(path[0] == '\0', err, FAB_EINPUT, NULL, "traffic 'file:' names no file; write file:PATH");
    if (fab_is_folder(path)) {
        FAB_TRY(read_files(path, &text.file, &flight, err));
    } else {
        FAB_TRY(fab_read_file(path, MAX_FILE_BYTES, &text.file, err));
        if (fab_flight_is_dump(&text.file)) {
            FAB_TRY(fab_flight_add(&flight, path, &text.file, err));
            fab_str_release(&text.file);
        }
    }
    if (flight.n_ranks > 0) {
        fab_text_rewind(&text);
        FAB_TRY(text.file.length > 0 ? fab_text_check(&text, err) : FAB_OK);
        FAB_TRY(fab_flight_traffic(&flight, &text, fabric, traffic, err));
        goto done;
    }
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0] && format == NULL; i++) {
        fab_text_rewind(&text);
        format = FORMATS[i]->recognise(&text) ? FORMATS[i] : NULL;
    }
    if (format == NULL) {
        FAB_TRY(fab_matrix_read(path, &text.file, fabric, traffic, err));
        goto done;
    }
    fab_text_rewind(&text);
    FAB_TRY(fab_text_check(&text, err));
    FAB_TRY(format->read(&text, fabric, traffic, err));
done:
    fab_flight_release(&flight);
    fab_text_release(&text);
    return status;
}
