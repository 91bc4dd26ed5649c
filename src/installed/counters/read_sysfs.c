/* Counters of adapters as Linux has them: a copy of /sys/class/infiniband, a file for each, or what grep -r . says of
 * it: ".../mlx5_0/ports/1/counters/port_xmit_data:123". The host is the folder above sys, class, infiniband or the
 * device; of lines without one the name of the file. */
#include "counters_internal.h"

#include <stdio.h>
#include <string.h>

#define STEPS 64 /* of a path */

/* A path of such a file, taken apart. */
typedef struct sysfs_path {
    const char *host, *device, *port, *counter;
    size_t n_host, n_device, n_port, n_counter;
} sysfs_path;

typedef struct sysfs_step {
    const char *text;
    size_t n;
} sysfs_step;

static bool step_is(const sysfs_step *s, const char *word) {
    return strlen(word) == s->n && memcmp(s->text, word, s->n) == 0;
}

/* HOST/.../DEVICE/ports/N/counters/NAME, or .../DEVICE/hw_counters/NAME. */
static bool sysfs_take(const char *path, size_t n, sysfs_path *out) {
    sysfs_step steps[STEPS];
    size_t n_steps = 0;
    for (size_t i = 0; i < n && n_steps < STEPS;) {
        const char *slash = memchr(path + i, '/', n - i);
        size_t length = slash != NULL ? (size_t)(slash - path) - i : n - i;
        if (length > 0) {
            steps[n_steps++] = (sysfs_step){path + i, length};
        }
        i += length + 1;
    }
    if (n_steps < 3) {
        return false;
    }
    size_t at = n_steps - 2; /* counters */
    bool has_port = at >= 3 && step_is(&steps[at - 2], "ports");
    size_t device = has_port ? at - 3 : at - 1;
    bool is_device = at >= 2 && step_is(&steps[at], "hw_counters") && step_is(&steps[at - 2], "infiniband");
    if (has_port ? !step_is(&steps[at], "counters") && !step_is(&steps[at], "hw_counters") : !is_device) {
        return false;
    }
    *out = (sysfs_path){.device = steps[device].text,
                        .n_device = steps[device].n,
                        .port = has_port ? steps[at - 1].text : "1",
                        .n_port = has_port ? steps[at - 1].n : 1,
                        .counter = steps[n_steps - 1].text,
                        .n_counter = steps[n_steps - 1].n};
    while (device > 0 && (step_is(&steps[device - 1], "infiniband") || step_is(&steps[device - 1], "class") ||
                          step_is(&steps[device - 1], "sys"))) {
        device--;
    }
    if (device > 0) {
        out->host = steps[device - 1].text;
        out->n_host = steps[device - 1].n;
    }
    return true;
}

static bool sysfs_recognise(const char *path, const char *bytes) {
    sysfs_path parts;
    const char *colon = memchr(bytes, ':', strcspn(bytes, "\n"));
    return sysfs_take(path, strlen(path), &parts) ||
           (colon != NULL && sysfs_take(bytes, (size_t)(colon - bytes), &parts));
}

static fab_status sysfs_add(const sysfs_path *p, const char *number, size_t n, counted_key key, fab_counters *out,
                            fab_error *err) {
    char box[512];
    fab_counter counter = FAB_COUNTER_N;
    uint8_t scale = 1;
    uint64_t value = 0;
    uint32_t port = 0;
    if (!fab_counter_find(p->counter, p->n_counter, &counter, &scale)) {
        return FAB_OK;
    }
    fab_counter_trim(&number, &n);
    if (!fab_counter_number(number, n, &value)) {
        return fab_fail_in_file(err, key.file, key.line, 1, "'%.*s' is no count", (int)(n < 40 ? n : 40), number);
    }
    key.n_box = (size_t)snprintf(box, sizeof box, "%.*s %.*s", (int)(p->n_host < 255 ? p->n_host : 255), p->host,
                                 (int)(p->n_device < 200 ? p->n_device : 200), p->device);
    key.box = box;
    key.port = p->port;
    key.n_port = p->n_port;
    FAB_PASS(fab_counters_port(out, &key, &port, err));
    fab_counters_set(out, port, counter, scale, value);
    return FAB_OK;
}

static fab_status sysfs_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    sysfs_path parts;
    const char *text = NULL;
    const char *file = NULL;
    size_t n = 0;
    size_t n_file = fab_path_box(path, &file);
    bool is_one = sysfs_take(path, strlen(path), &parts);
    while (fab_counter_line(&lines, &text, &n)) {
        const counted_key key = {.file = path, .line = lines.line};
        const char *colon = memchr(text, ':', n);
        if (is_one) {
            parts.host = parts.host != NULL ? parts.host : "localhost";
            parts.n_host = parts.n_host > 0 ? parts.n_host : 9;
            return sysfs_add(&parts, text, n, key, out, err);
        }
        if (colon == NULL || !sysfs_take(text, (size_t)(colon - text), &parts)) {
            continue; /* a prompt, a warning of grep */
        }
        if (parts.host == NULL) {
            parts.host = file;
            parts.n_host = n_file;
        }
        FAB_PASS(sysfs_add(&parts, colon + 1, (size_t)(text + n - colon - 1), key, out, err));
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_sysfs = {
    .name = "sysfs",
    .summary = "counters: /sys/class/infiniband of hosts: a copy of the folder, or what grep -r . says of it",
    .recognise = sysfs_recognise,
    .read = sysfs_read};
