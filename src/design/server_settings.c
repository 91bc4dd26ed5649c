/* server=FILE: the keys of a fabric that NCCL's topology of a server answers. */
#include "fab/memory.h"
#include "fab/server_shape.h"
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>

static fab_status server_set(reading *r, const char *key, const char *value, const char *where, fab_error *err) {
    target t;
    fab_status status = reading_find(r, key, true, &t, where, err);
    return status == FAB_OK ? reading_set(r, &t, value, where, err) : status;
}

static fab_status set_rate(reading *r, const char *key, double bps, const char *where, fab_error *err) {
    char text[48];
    return bps > 0 ? server_set(r, key, fab_server_rate(text, bps), where, err) : FAB_OK;
}

fab_status reading_set_server(reading *r, const char *path, const char *where, fab_error *err) {
    char number[24];
    FAB_REFUSE_IF(path[0] == '\0', err, FAB_EINPUT, where, "server: names no file");
    FAB_OWNED_NEW(fab_server_shape, s, 1, err);
    FAB_PASS(fab_server_read(path, s, err));
    FAB_REFUSE_IF(!s->is_even, err, FAB_EUNSUPPORTED, where, "server %.60s: %s", path, s->uneven);
    FAB_FORMAT(number, "%" PRIu32, s->n_gpus);
    FAB_PASS(server_set(r, "gpus-per-server", number, where, err));
    FAB_FORMAT(number, "%" PRIu32, s->n_nics);
    FAB_PASS(server_set(r, "nics-per-server", number, where, err));
    FAB_PASS(server_set(r, "domain", "auto", where, err));
    FAB_PASS(set_rate(r, "pcie", s->pcie_bps, where, err));
    FAB_PASS(set_rate(r, "nic", s->nic_bps, where, err));
    return set_rate(r, "domain-rate", s->nvlink_bps, where, err);
}
