/* Counters of adapters as Linux has them: a copy of /sys/class/infiniband, a file for each, or what grep -r . says of
 * it: ".../mlx5_0/ports/1/counters/port_xmit_data:123". The host is the folder above sys, class, infiniband or the
 * device; of lines without one the name of the file. */
#include "counters_internal.h"

#define STEPS 64 /* of a path */

/* A path of such a file, taken apart. */
typedef struct sysfs_path {
    fab_token host, device, port, counter;
} sysfs_path;

/* HOST/.../DEVICE/ports/N/counters/NAME, or .../DEVICE/hw_counters/NAME. */
static bool sysfs_take(fab_token path, sysfs_path *out) {
    fab_token steps[STEPS];
    size_t n_steps = 0;
    while (path.text != NULL && n_steps < STEPS) {
        steps[n_steps] = fab_token_split(&path, '/');
        n_steps += steps[n_steps].length > 0 ? 1 : 0;
    }
    if (n_steps < 3) {
        return false;
    }
    size_t at = n_steps - 2; /* counters */
    bool has_port = at >= 3 && fab_token_is(steps[at - 2], "ports");
    size_t device = has_port ? at - 3 : at - 1;
    bool is_hardware = fab_token_is(steps[at], "hw_counters");
    bool is_device = at >= 2 && is_hardware && fab_token_is(steps[at - 2], "infiniband");
    if (has_port ? !fab_token_is(steps[at], "counters") && !is_hardware : !is_device) {
        return false;
    }
    *out = (sysfs_path){
        .device = steps[device], .port = has_port ? steps[at - 1] : fab_token_of("1"), .counter = steps[n_steps - 1]};
    while (device > 0 && (fab_token_is(steps[device - 1], "infiniband") || fab_token_is(steps[device - 1], "class") ||
                          fab_token_is(steps[device - 1], "sys"))) {
        device--;
    }
    out->host = device > 0 ? steps[device - 1] : out->host;
    return true;
}

static bool sysfs_recognise(const char *path, const char *bytes) {
    sysfs_path parts;
    fab_token line = fab_token_range(bytes, bytes + strcspn(bytes, "\n"));
    fab_token name = fab_token_split(&line, ':');
    return sysfs_take(fab_token_of(path), &parts) || (line.text != NULL && sysfs_take(name, &parts));
}

static fab_status sysfs_add(const sysfs_path *p, fab_token number, counted_key key, fab_counters *out, fab_error *err) {
    char box[512];
    fab_counter counter = FAB_COUNTER_N;
    uint8_t scale = 1;
    uint64_t value = 0;
    uint32_t port = 0;
    if (!fab_counter_find(p->counter, &counter, &scale)) {
        return FAB_OK;
    }
    number = fab_token_trim(number, " \t");
    FAB_RETURN_IF(!fab_counter_number(number, &value),
                  fab_fail_in_file(err, key.file, key.line, 1, "'%.*s' is no count",
                                   (int)(number.length < 40 ? number.length : 40), number.text));
    FAB_FORMAT(box, "%.*s %.*s", (int)(p->host.length < 255 ? p->host.length : 255), p->host.text,
               (int)(p->device.length < 200 ? p->device.length : 200), p->device.text);
    key.box = fab_token_of(box);
    key.port = p->port;
    FAB_PASS(fab_counters_port(out, &key, &port, err));
    fab_counters_set(out, port, counter, scale, value);
    return FAB_OK;
}

static fab_status sysfs_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    sysfs_path parts;
    fab_token line;
    bool is_one = sysfs_take(fab_token_of(path), &parts);
    while (fab_counter_line(&lines, &line)) {
        const counted_key key = {.file = path, .line = lines.line};
        fab_token number = line;
        fab_token name = fab_token_split(&number, ':');
        if (is_one) {
            parts.host = parts.host.length > 0 ? parts.host : fab_token_of("localhost");
            return sysfs_add(&parts, line, key, out, err);
        }
        if (number.text == NULL || !sysfs_take(name, &parts)) {
            continue; /* a prompt, a warning of grep */
        }
        parts.host = parts.host.text != NULL ? parts.host : fab_counter_file(path);
        FAB_PASS(sysfs_add(&parts, number, key, out, err));
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_sysfs = {
    .name = "sysfs",
    .summary = "counters: /sys/class/infiniband of hosts: a copy of the folder, or what grep -r . says of it",
    .recognise = sysfs_recognise,
    .read = sysfs_read};
