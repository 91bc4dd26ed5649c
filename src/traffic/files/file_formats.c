/* Which format a traffic file has. */
#include "file_formats.h"

#include "fab/box_files.h"
#include "fab/str.h"

#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

static const fab_traffic_format *const FORMATS[] = {&fab_traffic_htsim, &fab_traffic_simai, &fab_traffic_nccl};

const fab_pattern_info fab_traffic_files[] = {
    {"csv", "traffic: a matrix with the header src,dst,bytes"},
    {"matrix-market", "traffic: a coordinate matrix, bytes from row to column"},
    {"htsim-cm", "traffic: connections of htsim that start together"},
    {"simai-workload", "traffic: collectives of the layers of SimAI's and ASTRA-sim 1's workloads"},
    {"nccl-log", "traffic: rings and collectives that NCCL has logged; a file, or a folder of them"},
    {NULL, NULL},
};

const char *fab_traffic_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The file, or all files of a folder, one behind the other. */
static fab_status read_files(const char *path, fab_str *out, fab_error *err) {
    fab_status status = FAB_OK;
    char **paths = NULL;
    size_t n = 0;
    if (!fab_is_folder(path)) {
        return fab_read_file(path, MAX_FILE_BYTES, out, err);
    }
    FAB_TRY(fab_folder_list(path, &paths, &n, err));
    for (size_t i = 0; i < n; i++) {
        fab_str one = FAB_STR_INIT;
        status = fab_read_file(paths[i], MAX_FILE_BYTES - out->length, &one, err);
        fab_str_append(out, status == FAB_OK && one.data != NULL ? one.data : "", one.length);
        fab_str_add(out, "\n");
        fab_str_release(&one);
        FAB_TRY(status);
    }
    if (n == 0) {
        FAB_FAIL(err, FAB_EINPUT, path, "the folder is empty");
    }
    FAB_TRY(fab_str_status(out, err));
done:
    fab_folder_release(paths, n);
    return status;
}

fab_status fab_traffic_read(const char *path, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_text text = {.path = path};
    const fab_traffic_format *format = NULL;
    if (path[0] == '\0') {
        FAB_FAIL(err, FAB_EINPUT, NULL, "traffic 'file:' names no file; write file:PATH");
    }
    FAB_TRY(read_files(path, &text.file, err));
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
    fab_text_release(&text);
    return status;
}
