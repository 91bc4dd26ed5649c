/* What the hosts' software adds to a phase: how many messages a GPU sends within a step, and how large they are. See
 * src/doc/adr/0069-hosts.md. */
#include "traffic_internal.h"

#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

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
    bool leaves = false;
    for (uint32_t gpu = p->all.first; gpu < p->all.first + p->all.n && !leaves; gpu++) {
        leaves = fab_all_in_domain(f, &p->all, gpu).n < fab_all_group(&p->all);
    }
    p->message_bytes = leaves ? message_bytes(p, fab_phase_largest(p, NULL)) : 0;
}

fab_status fab_phase_count_messages(const fab_fabric *f, fab_phase *p, fab_error *err) {
    uint32_t *sent[2] = {NULL, NULL}; /* inside, outside */
    fab_status status = FAB_OK;
    p->further_messages = 0;
    p->message_bytes = 0;
    if (!fab_has_software(f)) {
        return FAB_OK;
    }
    if (p->all.n > 0) {
        count_in_all(f, p);
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(sent[0], fab_n_gpus(f), err));
    FAB_TRY(FAB_NEW(sent[1], fab_n_gpus(f), err));
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
done:
    FAB_FREE_ALL(sent[0], sent[1]);
    return status;
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
