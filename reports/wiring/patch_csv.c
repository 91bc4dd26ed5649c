/* Patch plan. What cables of one class have in common is formatted once; rows are streamed. */
#include "fab/prices.h"
#include "fab/patch.h"
#include "fab/units.h"

#include <errno.h>

typedef struct writer {
    const fab_patch *patch;
    const fab_fabric *fabric;
    FILE *out;
    fab_str *tail;      /* [class]: boundary, rate, medium, length */
    uint16_t *first_up; /* [switch]: its lowest port that leads up, or 0 */
} writer;

static void make_tails(writer *w) {
    for (uint32_t i = 0; i < w->fabric->n_classes; i++) {
        const fab_link_class *k = &w->fabric->classes[i];
        const char *medium = fab_prices_medium(w->patch->prices, k->capacity_bps, k->length_m);
        fab_str_printf(&w->tail[i], "%s,%s,", fab_boundary_name(w->fabric->wiring, k->tier),
                       fab_quantity_exact(FAB_ROOM, k->capacity_bps, FAB_UNIT_RATE));
        fab_str_add_csv(&w->tail[i], medium != NULL ? medium : "");
        fab_str_printf(&w->tail[i], ",%s", fab_format_double(FAB_ROOM, k->length_m));
    }
}

static void find_first_up(writer *w) {
    const fab_fabric *f = w->fabric;
    fab_node_id base = f->first[FAB_NODE_SWITCH];
    for (fab_node_id v = base; v < f->n_nodes; v++) {
        for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1] && w->first_up[v - base] == 0; i++) {
            if (fab_is_up(f->out_link[i])) { /* in port order */
                w->first_up[v - base] = f->port[f->out_link[i]];
            }
        }
    }
}

/* Ports of a switch as printed on it. The fabric numbers cables: `split` of them share a port that breaks out. */
static fab_status put_switch_port(writer *w, fab_link_id link, fab_error *err) {
    const fab_fabric *f = w->fabric;
    fab_node_id v = fab_tail(f, link);
    uint32_t i = v - f->first[FAB_NODE_SWITCH];
    const fab_tier_spec *tier = &w->patch->spec->tier[fab_tier_of(f, v) - 1];
    uint64_t split_down = tier->breakout;
    uint64_t split_up = tier->breakout_up != 0 ? tier->breakout_up : tier->breakout;
    uint64_t port = f->port[link];
    uint64_t split = split_down;
    uint64_t below = 0;  /* ports before the first of this group */
    uint64_t cables = 0; /* cables on them */
    if (f->wiring == FAB_WIRING_TREE && w->first_up[i] != 0 && port >= w->first_up[i]) {
        split = split_up;
        cables = w->first_up[i] - 1U;
        below = (cables + split_down - 1) / split_down;
    }
    uint64_t at = port - cables - 1;
    uint64_t printed = below + at / split + 1;
    if (printed > f->switch_radix[i]) {
        char name[FAB_LINK_NAME_SIZE];
        return fab_fail(err, FAB_EINTERNAL, fab_link_name(f, link, name), "port %" PRIu64 " of a switch of %u", printed,
                        f->switch_radix[i]);
    }
    (void)fprintf(w->out, "%" PRIu64, printed);
    if (split > 1) {
        (void)fprintf(w->out, "/%" PRIu64, at % split + 1);
    }
    return FAB_OK;
}

/* Network ports of a NIC, from 1: those towards the GPUs do not count. */
static uint32_t nic_port(const fab_fabric *f, fab_link_id link) {
    fab_node_id nic = fab_tail(f, link);
    uint32_t port = 1;
    for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1] && f->out_link[i] != link; i++) {
        port += fab_class_of(f, f->out_link[i])->kind == FAB_LINK_ACCESS;
    }
    return port;
}

/* Rack, device and port at the tail of a link. */
static fab_status put_end(writer *w, fab_link_id link, fab_error *err) {
    const fab_fabric *f = w->fabric;
    fab_node_id v = fab_tail(f, link);
    if (w->patch->floor != NULL) {
        char rack[48];
        (void)fputs(fab_rack_name(&w->patch->floor->rack[fab_floor_rack_of(w->patch->floor, f, v)], rack), w->out);
    }
    if (f->names != NULL) { /* what is installed is called as it is */
        char name[FAB_NODE_NAME_SIZE];
        char port[FAB_PORT_NAME_SIZE];
        (void)fprintf(w->out, ",%s,%s", fab_node_name(f, v, name), fab_port_name(f, link, port));
    } else if (fab_kind_of(f, v) == FAB_NODE_NIC) {
        uint32_t nic = v - f->first[FAB_NODE_NIC];
        (void)fprintf(w->out, ",server-%" PRIu32 "/nic-%" PRIu32 ",%" PRIu32, nic / f->nics_per_server,
                      nic % f->nics_per_server, nic_port(f, link));
    } else {
        char name[FAB_NODE_NAME_SIZE];
        (void)fprintf(w->out, ",%s,", fab_node_name(f, v, name));
        FAB_PASS(put_switch_port(w, link, err));
    }
    return FAB_OK;
}

static fab_status patch_csv_put_rows(writer *w, fab_error *err) {
    const fab_fabric *f = w->fabric;
    (void)fputs("cable,a_rack,a_device,a_port,z_rack,z_device,z_port,boundary,rate,medium,length_m\n", w->out);
    for (uint32_t cable = 0; cable < f->n_cables; cable++) {
        fab_link_kind kind = f->classes[f->cable_class[cable]].kind;
        if (kind != FAB_LINK_ACCESS && kind != FAB_LINK_FABRIC) {
            continue;
        }
        (void)fprintf(w->out, "c%" PRIu32 ",", cable);
        FAB_PASS(put_end(w, 2 * cable, err));
        (void)fputc(',', w->out);
        FAB_PASS(put_end(w, 2 * cable + 1, err));
        const fab_str *tail = &w->tail[f->cable_class[cable]];
        FAB_PASS(fab_str_status(tail, err));
        (void)fprintf(w->out, ",%s\n", tail->data);
    }
    return FAB_OK;
}

fab_status fab_patch_write(const fab_patch *patch, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    writer w = {.patch = patch, .fabric = patch->fabric, .out = out};
    FAB_TRY(FAB_NEW(w.tail, patch->fabric->n_classes, err));
    FAB_TRY(FAB_NEW(w.first_up, fab_n_switches(patch->fabric), err));
    make_tails(&w);
    find_first_up(&w);
    FAB_TRY(patch_csv_put_rows(&w, err));
    FAB_FAIL_IF(fflush(out) != 0 || ferror(out), err, FAB_EIO, NULL, "cannot write the patch plan: %s",
                strerror(errno));
done:
    FAB_RELEASE_EACH(fab_str_release, w.tail, patch->fabric->n_classes);
    FAB_FREE_ALL(w.tail, w.first_up);
    return status;
}
