/* Ports of snapshots to ports of the fabric, and what was counted between two of them. */
#include "observe_internal.h"

#include "fab/ib_names.h"
#include "fab/names.h"

#include <ctype.h>
#include <limits.h>

#define WORD_END  UINT64_C(0xffffffff) /* where a counter of 32 bits of InfiniBand stays */
#define NEAR_WRAP (UINT64_C(1) << 63)  /* counters that fall from above this have wrapped, others were cleared */

/* --- which port --------------------------------------------------------------------------------------------------- */

/* Host and adapter as drivers call it, where what is installed calls the adapter otherwise: "host mlx5_3". */
static fab_node_id find_adapter(const fab_fabric *f, const char *box, size_t n) {
    const char *blank = memchr(box, ' ', n);
    if (f->names == NULL || blank == NULL) {
        return FAB_NONE;
    }
    uint32_t server = fab_names_find_server(f->names, box, (size_t)(blank - box));
    const char *digits = box + n;
    while (digits > blank && isdigit((unsigned char)digits[-1])) {
        digits--;
    }
    unsigned long number = digits < box + n ? strtoul(digits, NULL, 10) : ULONG_MAX;
    bool counts_from_1 = digits - blank > 4 && memcmp(digits - 4, "HCA-", 4) == 0;
    number -= counts_from_1 && number > 0 ? 1 : 0;
    return server != FAB_NONE && number < f->nics_per_server
               ? f->first[FAB_NODE_NIC] + server * f->nics_per_server + (uint32_t)number
               : FAB_NONE;
}

static fab_node_id find_lid(const fab_fabric *f, uint32_t lid) {
    uint32_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    if (f->names != NULL || lid == 0 || lid > n_nics + fab_n_switches(f)) {
        return FAB_NONE; /* LIDs of what is installed are not kept */
    }
    return lid <= n_nics ? f->first[FAB_NODE_NIC] + lid - 1 : f->first[FAB_NODE_SWITCH] + lid - n_nics - 1;
}

static fab_node_id find_box(const fab_fabric *f, const fab_counters *c, const fab_counted_port *p) {
    uint32_t port = 0;
    fab_node_id v = p->guid != 0 ? fab_ib_find_guid(f, p->guid, &port) : FAB_NONE;
    const char *box = fab_counters_text(c, p->box);
    if (v == FAB_NONE && box != NULL) {
        v = fab_ib_find_description(f, box, strlen(box));
        v = v == FAB_NONE ? find_adapter(f, box, strlen(box)) : v;
    }
    return v != FAB_NONE ? v : find_lid(f, p->lid);
}

static bool is_port(const fab_fabric *f, fab_link_id l, const char *port) {
    char name[FAB_PORT_NAME_SIZE];
    if (f->names != NULL && strcmp(fab_port_name(f, l, name), port) == 0) {
        return true;
    }
    const char *number = strncmp(port, "swp", 3) == 0 ? port + 3 : port;
    char *end = NULL;
    unsigned long value = isdigit((unsigned char)*number) ? strtoul(number, &end, 10) : 0;
    return value > 0 && *end == '\0' && value == fab_ib_port(f, l) &&
           (f->names == NULL || f->names->port[l] == FAB_NAME_NONE);
}

/* The link that leaves at a port; FAB_NONE: none of the network does. */
static fab_link_id find_link(const fab_fabric *f, fab_node_id v, const char *port) {
    fab_link_id only = FAB_NONE;
    uint32_t n = 0;
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        fab_link_id l = f->out_link[i];
        if (!fab_is_network(fab_class_of(f, l))) {
            continue;
        }
        if (port != NULL && is_port(f, l, port)) {
            return l;
        }
        only = l;
        n++;
    }
    return n == 1 && fab_kind_of(f, v) == FAB_NODE_NIC ? only : FAB_NONE;
}

static const char *port_title(const fab_counters *c, const fab_counted_port *p, char *out, size_t size) {
    const char *box = fab_counters_text(c, p->box);
    const char *port = fab_counters_text(c, p->port);
    if (box != NULL) {
        (void)snprintf(out, size, "%.80s:%.40s", box, port != NULL ? port : "?");
    } else if (p->guid != 0) {
        (void)snprintf(out, size, "0x%016llx:%.40s", (unsigned long long)p->guid, port != NULL ? port : "?");
    } else {
        (void)snprintf(out, size, "LID %u:%.40s", (unsigned)p->lid, port != NULL ? port : "?");
    }
    return out;
}

/* Of a snapshot: its port at the tail of every link. */
static fab_status find_ports(observation *o, int which, const fab_counters *c, fab_error *err) {
    const fab_fabric *f = o->fabric;
    uint64_t n_unknown = 0;
    FAB_PASS(FAB_NEW(o->port[which], f->n_links, err));
    memset(o->port[which], 0xff, f->n_links * sizeof *o->port[which]);
    for (size_t i = 0; i < c->n_ports; i++) {
        const fab_counted_port *p = &c->ports[i];
        fab_node_id v = find_box(f, c, p);
        fab_link_id l = v != FAB_NONE ? find_link(f, v, fab_counters_text(c, p->port)) : FAB_NONE;
        if (l != FAB_NONE && o->port[which][l] == FAB_NONE) {
            o->port[which][l] = (uint32_t)i;
        } else {
            char *first = o->out->first_unknown;
            n_unknown++;
            if (which == 1 && first[0] == '\0') {
                (void)port_title(c, p, first, sizeof o->out->first_unknown);
            }
        }
    }
    if (which == 1) {
        o->out->ports = c->n_ports;
        o->out->unknown_ports = n_unknown;
    }
    if (n_unknown == c->n_ports) {
        char name[160];
        return fab_fail(err, FAB_EINPUT, which == 0 ? o->out->before : o->out->after,
                        "none of its %zu ports is one of this fabric, such as %s", c->n_ports,
                        port_title(c, &c->ports[0], name, sizeof name));
    }
    return FAB_OK;
}

/* --- what was counted --------------------------------------------------------------------------------------------- */

typedef enum difference {
    DIFFERENCE_NONE,
    DIFFERENCE_OK,
    DIFFERENCE_RESET,
    DIFFERENCE_WRAPPED,
    DIFFERENCE_STUCK
} difference;

static difference count_between(const fab_counted_port *a, const fab_counted_port *b, fab_counter counter,
                                double *out) {
    uint64_t before = a->value[counter];
    uint64_t after = b->value[counter];
    double words = b->scale[counter] & ~FAB_COUNTER_LONG; /* of so many bytes */
    if ((a->has >> counter & 1) == 0 || (b->has >> counter & 1) == 0) {
        return DIFFERENCE_NONE;
    }
    if (b->scale[counter] == 4 && after == WORD_END) {
        return DIFFERENCE_STUCK;
    }
    *out = (double)(after - before) * words; /* modulo 2^64, as it was counted */
    if (after < before && before < NEAR_WRAP) {
        *out = (double)after * words;
        return DIFFERENCE_RESET;
    }
    return after < before ? DIFFERENCE_WRAPPED : DIFFERENCE_OK;
}

static uint64_t count_errors(const fab_counted_port *a, const fab_counted_port *b) {
    double sum = 0;
    for (int counter = 0; counter < FAB_COUNTER_N; counter++) {
        double n = 0;
        difference what =
            fab_counter_abouts[counter].is_error ? count_between(a, b, (fab_counter)counter, &n) : DIFFERENCE_NONE;
        sum += what == DIFFERENCE_OK || what == DIFFERENCE_RESET ? n : 0;
    }
    return sum < 1e18 ? (uint64_t)sum : UINT64_C(1000000000000000000);
}

fab_counted_port observe_before(const observation *o, fab_link_id l) {
    if (o->request->before != NULL) {
        return o->request->before->ports[o->port[0][l]];
    }
    return (fab_counted_port){.has = o->request->after->ports[o->port[1][l]].has, .time_s = NAN};
}

static void count_port(observation *o, fab_link_id l, double interval_s) {
    const fab_counted_port cleared = observe_before(o, l);
    const fab_counted_port *a = &cleared;
    const fab_counted_port *b = &o->request->after->ports[o->port[1][l]];
    double sent = NAN;
    double got = NAN;
    difference up = count_between(a, b, FAB_COUNTER_SENT, &sent);
    difference down = count_between(a, b, FAB_COUNTER_RECEIVED, &got);
    double own_s = b->time_s - a->time_s;
    double ratio = own_s > 0 && interval_s > 0 ? interval_s / own_s : 1; /* of intervals that differ */
    if (up == DIFFERENCE_RESET || down == DIFFERENCE_RESET) {
        if (o->out->first_reset[0] == '\0') {
            (void)port_title(o->request->after, b, o->out->first_reset, sizeof o->out->first_reset);
        }
        o->out->reset_ports++;
    } else if (up == DIFFERENCE_STUCK || down == DIFFERENCE_STUCK) {
        o->out->stuck_ports++;
    } else {
        o->out->wrapped_ports += up == DIFFERENCE_WRAPPED || down == DIFFERENCE_WRAPPED;
        o->sent[l] = sent * ratio;
        o->got[l ^ 1U] = got * ratio;
        double wait = NAN;
        o->wait[l] = count_between(a, b, FAB_COUNTER_WAIT, &wait) == DIFFERENCE_OK ? wait : NAN;
    }
    o->errors[l] = count_errors(a, b);
}

/* What most ports were read apart; NAN: the snapshots do not say. */
static fab_status find_interval(const observation *o, double *out, fab_error *err) {
    size_t n = 0;
    *out = o->request->interval_s;
    if (*out > 0) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, seconds, o->fabric->n_links, err);
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        if (o->port[0][l] != FAB_NONE && o->port[1][l] != FAB_NONE) {
            double s = o->request->after->ports[o->port[1][l]].time_s - observe_before(o, l).time_s;
            if (s > 0) {
                seconds[n++] = s;
            }
        }
    }
    *out = observe_median(seconds, n);
    return FAB_OK;
}

fab_status observe_ports(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    const fab_counters *after = o->request->after;
    FAB_PASS(find_ports(o, 0, o->request->before != NULL ? o->request->before : after, err));
    FAB_PASS(find_ports(o, 1, after, err));
    FAB_PASS(find_interval(o, &o->out->interval_s, err));
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, o->sent, o->got, o->wait, o->errors));
    for (fab_link_id l = 0; l < f->n_links; l++) {
        o->sent[l] = o->got[l] = o->wait[l] = NAN;
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        bool has_before = o->port[0][l] != FAB_NONE;
        bool has_after = o->port[1][l] != FAB_NONE;
        if (has_before && has_after) {
            count_port(o, l, o->out->interval_s);
        }
        o->out->lost_ports += has_before != has_after;
        o->out->links += fab_is_network(fab_class_of(f, l));
    }
    return FAB_OK;
}
