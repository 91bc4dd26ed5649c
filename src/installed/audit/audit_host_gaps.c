/* Hosts that are not there: a number left out between two others, and fewer cables where these are plugged in
 * than at their peers. Names that leave out more are numbered so. */
#include "audit_plugs.h"

#include "../structure/box_names.h"

#include "fab/fnv.h"
#include "fab/memory.h"
#include "fab/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HOSTS   8  /* of a row of numbers that one may be missing of */
#define HOSTS_PER_GAP 16 /* one number may be left out, and one more for so many hosts */

typedef struct numbered_host {
    const char *label;
    uint64_t row;    /* pattern of the name, and the numbers before the last one */
    uint64_t number; /* the last one */
    size_t place;    /* of that number in the label */
    uint32_t server, n_digits;
} numbered_host;

FAB_ORDER_TWO(by_row_and_number, numbered_host, row, number);

/* The last run of digits of a name, and what stands around it. False: there is none. */
static bool read_number(const char *label, numbered_host *out) {
    size_t end = strlen(label);
    while (end > 0 && (label[end - 1] < '0' || label[end - 1] > '9')) {
        end--;
    }
    size_t place = end;
    while (place > 0 && label[place - 1] >= '0' && label[place - 1] <= '9') {
        place--;
    }
    if (place == end || end - place > 9) {
        return false;
    }
    const uint64_t row = fab_fnv(fab_fnv(FAB_FNV_BEGIN, label, place), label + end, strlen(label + end));
    *out = (numbered_host){.label = label,
                           .row = row,
                           .number = strtoull(label + place, NULL, 10),
                           .place = place,
                           .n_digits = (uint32_t)(end - place)};
    return true;
}

/* Whether every switch that a server is plugged into has fewer of these cables than the one in the middle. */
static bool has_room(const audit_plugs *p, uint32_t server, const uint32_t *plugged, uint32_t usual) {
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        if (plugged[p->plug[i].leaf] >= usual) {
            return false;
        }
    }
    return p->first[server + 1] > p->first[server];
}

static fab_status tell_gap(audit_plugs *p, const numbered_host *before, const numbered_host *after, bool is_before,
                           uint32_t usual, fab_error *err) {
    auditor *a = p->a;
    const uint32_t beside = is_before ? before->server : after->server;
    fab_finding f = {.kind = FAB_FINDING_ABSENT_HOST,
                     .confidence = FAB_AUDIT_GAP,
                     .cables = p->first[beside + 1] - p->first[beside]};
    const audit_plug *plug = &p->plug[p->first[beside]];
    FAB_PASS(fab_audit_text(a, &f.node, err, "%.*s%0*" PRIu64 "%s", (int)before->place, before->label,
                            (int)before->n_digits, before->number + 1,
                            before->label + before->place + before->n_digits));
    f.other = fab_audit_label(a, plug->leaf);
    return fab_audit_tell(a, &f, err,
                          "the hosts beside it by number are there, it is not, and the switches of %s have fewer hosts "
                          "than the %u of their peers" FAB_AUDIT_WORK
                          "If there is such a host, switch it on and look for its cables at %s.",
                          a->shape->server_name[beside], usual, f.other);
}

/* Cables to hosts: of each switch, and of the one in the middle. */
static fab_status count_plugged(const audit_plugs *p, uint32_t **out, uint32_t *out_usual, fab_error *err) {
    const uint32_t n_nodes = p->a->net->n_nodes;
    uint32_t *sorted = NULL;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(*out, (size_t)n_nodes + 1, err));
    for (uint32_t i = 0; i < p->n; i++) {
        (*out)[p->plug[i].leaf]++;
    }
    FAB_PASS(FAB_NEW(sorted, (size_t)n_nodes + 1, err));
    for (uint32_t v = 0; v < n_nodes; v++) {
        if ((*out)[v] > 0) {
            sorted[n++] = (*out)[v];
        }
    }
    qsort(sorted, n, sizeof *sorted, fab_order_u32);
    *out_usual = n > 0 ? sorted[n / 2] : 0;
    free(sorted);
    return FAB_OK;
}

/* Hosts of one row of numbers. */
static fab_status look_at_row(audit_plugs *p, const numbered_host *host, uint32_t n, const uint32_t *plugged,
                              uint32_t usual, fab_error *err) {
    const uint64_t n_left_out = host[n - 1].number - host[0].number + 1 - n;
    if (n < LEAST_HOSTS || n_left_out == 0 || n_left_out > 1 + n / HOSTS_PER_GAP) {
        return FAB_OK;
    }
    for (uint32_t i = 0; i + 1 < n; i++) {
        const bool is_before = has_room(p, host[i].server, plugged, usual);
        if (host[i + 1].number == host[i].number + 2 &&
            (is_before || has_room(p, host[i + 1].server, plugged, usual))) {
            FAB_PASS(tell_gap(p, &host[i], &host[i + 1], is_before, usual, err));
        }
    }
    return FAB_OK;
}

fab_status audit_plugs_gaps(audit_plugs *p, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_shape *shape = p->a->shape;
    numbered_host *host = NULL;
    uint32_t *plugged = NULL;
    uint32_t usual = 0;
    uint32_t n = 0;
    FAB_TRY(FAB_NEW(host, (size_t)shape->n_servers + 1, err));
    FAB_TRY(count_plugged(p, &plugged, &usual, err));
    for (uint32_t s = 0; s < shape->n_servers; s++) {
        if (read_number(shape->server_name[s], &host[n])) {
            host[n++].server = s;
        }
    }
    qsort(host, n, sizeof *host, by_row_and_number);
    for (uint32_t from = 0, to = 0; from < n; from = to) {
        while (to < n && host[to].row == host[from].row) {
            to++;
        }
        FAB_TRY(look_at_row(p, &host[from], to - from, plugged, usual, err));
    }
done:
    FAB_FREE_ALL(host, plugged);
    return status;
}
