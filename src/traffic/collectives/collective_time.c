/* The cost model: steps and bytes at the ends of the network. */
#include "collectives.h"

/* Bytes that a GPU's scale-up port and a NIC carry, both directions. */
typedef struct ends {
    const fab_fabric *fabric;
    double *port_out, *port_in; /* shape [n_gpus] */
    double *nic_out, *nic_in;   /* shape [n_nics] */
    bool leaves;                /* some flow leaves its scale-up domain */
} ends;

FAB_FREES(ends_release, ends, port_out, port_in, nic_out, nic_in);

static fab_status ends_init(ends *e, const fab_fabric *fabric, fab_error *err) {
    e->fabric = fabric;
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(fabric), err, e->port_out, e->port_in));
    FAB_PASS(FAB_NEW(e->nic_out, fab_n_of(fabric, FAB_NODE_NIC), err));
    return FAB_NEW(e->nic_in, fab_n_of(fabric, FAB_NODE_NIC), err);
}

/* The NICs of a GPU share evenly. */
static void add_outside(const fab_fabric *f, double *nics, uint32_t gpu, double bytes) {
    uint32_t first = 0;
    uint32_t n = fab_nics_of_gpu(f, gpu, &first);
    for (uint32_t i = 0; i < n; i++) {
        nics[first + i] += bytes / n;
    }
}

static void collective_time_add_flow(ends *e, uint32_t src, uint32_t dst, double bytes) {
    if (fab_domain_of(e->fabric, src) == fab_domain_of(e->fabric, dst)) {
        e->port_out[src] += bytes;
        e->port_in[dst] += bytes;
    } else {
        add_outside(e->fabric, e->nic_out, src, bytes);
        add_outside(e->fabric, e->nic_in, dst, bytes);
        e->leaves = true;
    }
}

/* The flows of an all-to-all that is not listed: those to its own domain, and the others. */
static void add_all(ends *e, const fab_all_to_all *all) {
    uint32_t size = e->fabric->gpus_per_domain;
    for (uint32_t gpu = all->first; gpu < all->first + all->n; gpu++) {
        uint32_t first = gpu / size * size;
        uint32_t end = first + size < all->first + all->n ? first + size : all->first + all->n;
        first = first > all->first ? first : all->first;
        double inside = (double)(end - first - 1) * (double)all->bytes;
        double outside = (double)(all->n - (end - first)) * (double)all->bytes;
        e->port_out[gpu] += inside;
        e->port_in[gpu] += inside;
        add_outside(e->fabric, e->nic_out, gpu, outside);
        add_outside(e->fabric, e->nic_in, gpu, outside);
        e->leaves = e->leaves || outside > 0;
    }
}

/* Rate of the links of a kind that leave a node. */
static double rate_of(const fab_fabric *f, fab_node_id node, fab_link_kind kind) {
    double sum = 0;
    FAB_EACH_LINK(f, node, link) {
        const fab_link_class *class = fab_class_of(f, link);
        sum += class->kind == kind ? class->usable_bps : 0;
    }
    return sum;
}

static double slower(double worst, double out, double in, double rate_bps) {
    double bytes = out > in ? out : in;
    double time = bytes > 0 ? 8 * bytes / rate_bps : 0;
    return time > worst ? time : worst;
}

/* Seconds of the busiest end; infinite where bytes cross no link. */
static double busiest(const ends *e) {
    const fab_fabric *f = e->fabric;
    double worst = 0;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        if (e->port_out[gpu] > 0 || e->port_in[gpu] > 0) {
            worst = slower(worst, e->port_out[gpu], e->port_in[gpu], rate_of(f, gpu, FAB_LINK_SCALEUP));
        }
    }
    for (uint32_t nic = 0; nic < fab_n_of(f, FAB_NODE_NIC); nic++) {
        if (e->nic_out[nic] > 0 || e->nic_in[nic] > 0) {
            worst = slower(worst, e->nic_out[nic], e->nic_in[nic],
                           rate_of(f, f->first[FAB_NODE_NIC] + nic, FAB_LINK_ACCESS));
        }
    }
    return worst;
}

fab_status fab_collective_time(const fab_fabric *fabric, const fab_phase *phases, size_t n_phases, double *out_s,
                               fab_error *err) {
    double sum = 0;
    bool has_left = false;
    for (size_t i = 0; i < n_phases; i++) {
        fab_phase with_messages = phases[i];
        const fab_phase *phase = &with_messages;
        FAB_OWNS(ends_release) ends e = {.port_out = NULL};
        FAB_PASS(ends_init(&e, fabric, err));
        FAB_PASS(fab_phase_count_messages(fabric, &with_messages, err));
        FAB_PASS(fab_phase_count_copies(fabric, &with_messages, err));
        if (phase->all.n > 0) {
            add_all(&e, &phase->all);
        }
        for (uint64_t flow = 0; phase->all.n == 0 && flow < phase->n_flows; flow++) {
            collective_time_add_flow(&e, phase->src[flow], phase->dst[flow], (double)phase->bytes[flow]);
        }
        double latency = e.leaves ? FAB_STEP_NETWORK_S : FAB_STEP_DOMAIN_S;
        sum += (double)phase->steps * (double)phase->executions * latency + busiest(&e);
        with_messages.is_continued = has_left;
        sum += e.leaves ? fab_phase_host_s(fabric, phase) : 0;
        has_left = has_left || e.leaves;
    }
    *out_s = sum;
    return FAB_OK;
}
