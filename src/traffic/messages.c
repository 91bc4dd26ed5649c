/* What the hosts' software adds to a phase: how many messages a GPU sends within a step, and how large they are. See
 * src/doc/adr/0069-hosts.md. */
#include "traffic_internal.h"

/* The first message inside the scale-up domain and the first outside are part of the step. */
static uint64_t further_of(const fab_fabric *f, const fab_all_to_all *all, uint32_t gpu) {
    const uint32_t size = fab_all_group(all);
    const uint32_t inside = fab_all_in_domain(f, all, gpu).n;
    return (uint64_t)size - 1 - (inside > 1) - (inside < size);
}

static double message_bytes(const fab_phase *p, uint64_t bytes) {
    return (double)bytes / ((double)p->steps * (double)p->executions);
}

static void count_in_all(const fab_fabric *f, fab_phase *p) {
    for (uint32_t gpu = p->all.first; gpu < p->all.first + p->all.n; gpu++) {
        uint64_t further = further_of(f, &p->all, gpu);
        p->further_messages = further > p->further_messages ? further : p->further_messages;
    }
    FAB_ANY_IN(leaves, gpu, p->all.first, p->all.first + p->all.n,
               fab_all_in_domain(f, &p->all, gpu).n < fab_all_group(&p->all));
    p->message_bytes = leaves ? message_bytes(p, fab_phase_largest(p, NULL)) : 0;
}

fab_status fab_phase_count_messages(const fab_fabric *f, fab_phase *p, fab_error *err) {
    uint32_t *sent[2] = {NULL, NULL}; /* inside, outside */
    FAB_OWNS_MEMBERS(sent[0], sent[1]);
    p->further_messages = 0;
    p->message_bytes = 0;
    if (!fab_has_software(f)) {
        return FAB_OK;
    }
    if (p->all.n > 0) {
        count_in_all(f, p);
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, sent[0], sent[1]));
    for (uint64_t i = 0; i < p->n_flows; i++) {
        bool leaves = fab_domain_of(f, p->src[i]) != fab_domain_of(f, p->dst[i]);
        sent[leaves][p->src[i]]++;
        p->message_bytes = leaves ? fmax(p->message_bytes, message_bytes(p, p->bytes[i])) : p->message_bytes;
    }
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        uint64_t inside = sent[0][gpu];
        uint64_t outside = sent[1][gpu];
        uint64_t further = inside + outside - (inside > 0) - (outside > 0);
        p->further_messages = further > p->further_messages ? further : p->further_messages;
    }
    return FAB_OK;
}

/* --- copies of relays ----------------------------------------------------------------------------------------------
 */

/* Who has which rail, and what goes through whom, of one NIC of every GPU. */
typedef struct relays {
    const fab_fabric *f;
    uint32_t *rail;   /* [gpu] */
    uint32_t *gpu_on; /* [domain][rail]; FAB_NONE: nobody */
    double *out, *in; /* [rail]: what members of a group there send to each GPU, or get from each; the next two alike */
    double *own_out, *own_in;
    double *copied; /* [gpu] */
} relays;
FAB_FREES(relays_release, relays, rail, gpu_on, out, in, own_out, own_in, copied);

static void find_rails(relays *r, uint32_t nic) {
    const fab_fabric *f = r->f;
    memset(r->gpu_on, 0xff, (fab_n_gpus(f) / f->gpus_per_domain + (size_t)1) * f->n_rails * sizeof *r->gpu_on);
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        const fab_node_id v = f->first[FAB_NODE_GPU] + gpu;
        uint32_t seen = 0;
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1] && seen <= nic; k++) {
            if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_PCIE && seen++ == nic) {
                r->rail[gpu] = (fab_head(f, f->out_link[k]) - f->first[FAB_NODE_NIC]) % f->n_rails;
            }
        }
        uint32_t *on = &r->gpu_on[(size_t)fab_domain_of(f, gpu) * f->n_rails + r->rail[gpu]];
        *on = *on == FAB_NONE ? gpu : *on;
    }
}

static void copy_at(const relays *r, uint32_t domain, uint32_t rail, double bytes) {
    const uint32_t gpu = r->gpu_on[(size_t)domain * r->f->n_rails + rail];
    if (gpu != FAB_NONE) {
        r->copied[gpu] += bytes;
    }
}

/* As flows go, see routing/walk/host_segments.c: through the source's domain, or the destination's. */
static void copy_listed(const relays *r, const fab_phase *p, double part) {
    for (uint64_t i = 0; i < p->n_flows; i++) {
        const uint32_t from = fab_domain_of(r->f, p->src[i]);
        const uint32_t to = fab_domain_of(r->f, p->dst[i]);
        if (from != to && r->rail[p->src[i]] != r->rail[p->dst[i]]) {
            const bool is_late = r->f->forwards_at_destination;
            copy_at(r, is_late ? to : from, r->rail[is_late ? p->src[i] : p->dst[i]], (double)p->bytes[i] * part);
        }
    }
}

typedef struct ends {
    double out, in;
} ends;

/* What GPUs send to each other one, and get from each: by rail, and in all. */
static ends sum_up(const relays *r, const fab_all_to_all *all, fab_gpu_range of, double part, double *out, double *in) {
    ends sum = {0, 0};
    memset(out, 0, r->f->n_rails * sizeof *out);
    memset(in, 0, r->f->n_rails * sizeof *in);
    for (uint32_t gpu = of.first; gpu < of.first + of.n; gpu++) {
        const uint32_t place = (gpu - all->first) % fab_all_group(all);
        const double bytes = (double)fab_all_bytes(all, place, place) * part;
        out[r->rail[gpu]] += all->by_receiver ? 1 : bytes;
        in[r->rail[gpu]] += all->by_receiver ? bytes : 1;
        sum.out += all->by_receiver ? 1 : bytes;
        sum.in += all->by_receiver ? bytes : 1;
    }
    return sum;
}

/* What the others of a domain send to the GPUs of a rail elsewhere in the group; or get from there. */
static void copy_of_group(const relays *r, const fab_all_to_all *all, fab_gpu_range group, double part) {
    (void)sum_up(r, all, group, part, r->out, r->in);
    for (uint32_t gpu = group.first; gpu < group.first + group.n;) {
        const fab_gpu_range own = fab_all_in_domain(r->f, all, gpu);
        const ends sum = sum_up(r, all, own, part, r->own_out, r->own_in);
        for (uint32_t rail = 0; rail < r->f->n_rails; rail++) {
            const double early = (sum.out - r->own_out[rail]) * (r->in[rail] - r->own_in[rail]);
            const double late = (r->out[rail] - r->own_out[rail]) * (sum.in - r->own_in[rail]);
            copy_at(r, fab_domain_of(r->f, gpu), rail, r->f->forwards_at_destination ? late : early);
        }
        gpu = own.first + own.n;
    }
}

fab_status fab_phase_count_copies(const fab_fabric *f, fab_phase *p, fab_error *err) {
    FAB_OWNS(relays_release) relays r = {.f = f};
    const uint32_t n_nics =
        f->gpus_per_server > 0 && f->nics_per_server > f->gpus_per_server ? f->nics_per_server / f->gpus_per_server : 1;
    double most = 0;
    if (!f->forwards_in_domain || p->copied_bytes > 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, r.rail, r.copied));
    FAB_PASS(FAB_NEW(r.gpu_on, (fab_n_gpus(f) / f->gpus_per_domain + (size_t)1) * f->n_rails, err));
    FAB_PASS(FAB_NEW_ALL(f->n_rails, err, r.out, r.in, r.own_out, r.own_in));
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        find_rails(&r, nic);
        if (p->all.n == 0) {
            copy_listed(&r, p, 1.0 / n_nics);
        }
        for (uint32_t first = p->all.first; first < p->all.first + p->all.n; first += fab_all_group(&p->all)) {
            copy_of_group(&r, &p->all, (fab_gpu_range){first, fab_all_group(&p->all)}, 1.0 / n_nics);
        }
    }
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        most = fmax(most, r.copied[gpu]);
    }
    p->copied_bytes = most;
    return FAB_OK;
}

double fab_phase_copy_s(const fab_fabric *f, const fab_phase *p) {
    double bps = f->host.copy_bps > 0 ? f->host.copy_bps : p->copy_bps;
    return p->copied_bytes > 0 && bps > 0 ? p->copied_bytes * 8 / bps : 0;
}

double fab_phase_host_s(const fab_fabric *f, const fab_phase *p) {
    const fab_host *h = &f->host;
    double slots = h->slot_bytes > 0 ? p->message_bytes / h->slot_bytes : 0;
    double message_s = fmax(h->message_s, fmin(slots, 1) * h->slot_s);
    double step_s = h->step_s + (slots >= FAB_SLOTS_OF_CHUNK ? h->slot_s : 0) + (double)p->further_messages * message_s;
    double software_s = (double)p->executions * ((p->is_continued ? 0 : h->call_s) + (double)p->steps * step_s);
    return p->n_flows > 0 ? software_s + fab_phase_copy_s(f, p) : 0;
}
