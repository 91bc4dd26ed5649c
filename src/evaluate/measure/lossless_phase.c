/* A phase as packets in lossless queues, over the paths that its flows have. See src/doc/adr/0067-lossless-queues.md.
 */
#include "fab/units.h"
#include "measure_rates.h"

#define BITS   8.0
#define LATER  1.1 /* than the fluid: a flow that is held up */
#define SELDOM 0.1 /* of the time that it sends, a root is stopped no more */
#define XON    0.8 /* of xoff, where it is not given */

bool fab_is_lossless(const fab_transport_spec *transport) {
    return transport != NULL && transport->kind != FAB_TRANSPORT_FLUID;
}

fab_status fab_check_lossless(const fab_router *router, const fab_transport_spec *transport, fab_error *err) {
    const fab_router_facts *facts = fab_router_facts_of(router);
    FAB_REFUSE_IF(
        facts->splits, err, FAB_EUNSUPPORTED, "transport",
        "%s divides every flow like a fluid, which no packet can follow; transports of packets need an engine that "
        "gives flows paths: spray-ack sprays packets over those of ecmp (entropies=1024), pfc and dcqcn know ecmp "
        "or dmodk",
        facts->label);
    bool takes_any_order = transport->kind == FAB_TRANSPORT_SPRAY_ACK ||
                           (transport->kind == FAB_TRANSPORT_PFC && transport->wire == FAB_WIRE_INFINIBAND);
    FAB_REFUSE_IF(facts->reorders && !takes_any_order, err, FAB_EUNSUPPORTED, "transport",
                  "%s sends packets of a flow over several paths, and receivers of pfc and dcqcn take one that "
                  "overtakes for a loss (RoCE goes back to the gap); pfc,wire=infiniband and spray-ack take any "
                  "order, ecmp and dmodk keep it",
                  facts->label);
    return FAB_OK;
}

/* A link that stops others and is hardly stopped itself. */
static bool is_root(const fab_lossless_result *r, uint32_t link) {
    return r->paused_s[link] <= SELDOM * r->busy_s[link];
}

/* [link]: of a stopped one what it waits for in the end: a root, or where the way comes back to itself a link of that
 * circle, the same for all that lead there. */
static void follow_causes(const fab_lossless_result *r, uint32_t n_links, uint32_t *root) {
    FAB_FILL(root, n_links, FAB_NO_LINK);
    for (uint32_t l = 0; l < n_links; l++) {
        uint32_t end = l;
        while (root[end] == FAB_NO_LINK && !is_root(r, end) && r->cause[end] != FAB_NO_LINK) {
            root[end] = end; /* seen: where the way comes back, it ends */
            end = r->cause[end];
        }
        end = root[end] != FAB_NO_LINK ? root[end] : end;
        for (uint32_t at = l; at != end && root[at] == at; at = r->cause[at]) {
            root[at] = end;
        }
        root[end] = end;
    }
}

/* The links that are stopped longest, what each waits for, and what it waits for in the end. */
static void list_stopped(const fab_fabric *f, const fab_lossless_result *r, const uint32_t *root_of, fab_pauses *out) {
    uint32_t longest[FAB_PAUSE_LINKS];
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        uint32_t at = n;
        while (at > 0 && r->paused_s[l] > r->paused_s[longest[at - 1]]) {
            at--;
        }
        if (r->paused_s[l] > 0 && at < FAB_PAUSE_LINKS) {
            n += n < FAB_PAUSE_LINKS;
            memmove(longest + at + 1, longest + at, (n - 1 - at) * sizeof *longest);
            longest[at] = l;
        }
    }
    for (out->n_stopped = 0; out->n_stopped < n; out->n_stopped++) {
        uint32_t l = longest[out->n_stopped];
        fab_paused_link *link = &out->stopped[out->n_stopped];
        link->stopped_s = r->paused_s[l];
        (void)fab_link_name(f, l, link->link);
        (void)fab_link_name(f, r->cause[l], link->waits_for);
        (void)fab_link_name(f, root_of[l], link->root);
    }
}

/* The roots that stop others longest. */
static fab_status find_roots(const fab_engine_run *run, const fab_lossless_result *r, fab_pauses *out,
                             bool *root_of_any, fab_error *err) {
    const fab_fabric *f = run->prepared->fabric;
    FAB_OWNED_NEW(uint32_t, root_of, f->n_links, err);
    follow_causes(r, f->n_links, root_of);
    FAB_OWNED_NEW(uint64_t, n, f->n_links, err);
    FAB_OWNED_NEW(double, stopped_s, f->n_links, err);
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (r->paused_s[l] > 0) {
            uint32_t root = root_of[l];
            out->stopped_links++;
            n[root]++;
            stopped_s[root] += r->paused_s[l];
            root_of_any[root] = true;
        }
    }
    list_stopped(f, r, root_of, out);
    while (out->n_roots < FAB_PAUSE_ROOTS) {
        FAB_BEST(most, l, f->n_links, stopped_s[l] > stopped_s[most]);
        if (stopped_s[most] <= 0) {
            break;
        }
        fab_pause_root *root = &out->roots[out->n_roots++];
        *root = (fab_pause_root){.stopped_links = n[most], .stopped_s = stopped_s[most]};
        (void)fab_link_name(f, most, root->link);
        stopped_s[most] = 0;
    }
    return FAB_OK;
}

/* Flows of which a path ends late and is stopped somewhere, though none crosses a root. */
static uint64_t count_victims(const fab_routes *routes, const fab_sharing *p, const double *fluid_s,
                              const fab_lossless_result *r, const bool *root_of_any) {
    uint64_t victims = 0;
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        bool is_late = false;
        bool is_stopped = false;
        bool crosses = false;
        for (uint32_t i = routes->flow_first[flow]; i < routes->flow_first[flow + 1]; i++) {
            is_late = is_late || r->finish_s[i] > LATER * fluid_s[i];
            for (uint64_t k = p->first[i]; k < p->first[i + 1]; k++) {
                crosses = crosses || root_of_any[p->link[k]];
                is_stopped = is_stopped || r->paused_s[p->link[k]] > 0;
            }
        }
        victims += is_late && is_stopped && !crosses;
    }
    return victims;
}

static fab_status describe_pauses(const fab_engine_run *run, const fab_routes *routes, const fab_sharing *p,
                                  const double *fluid_s, const fab_lossless_result *r, fab_error *err) {
    fab_pauses *out = &run->detail->pauses;
    const fab_fabric *f = run->prepared->fabric;
    *out = (fab_pauses){.pauses = r->n_pauses,
                        .notices = r->n_notices,
                        .trims = r->n_trims,
                        .cell_bytes = r->cell_bytes,
                        .n_cycle = r->n_deadlock};
    FAB_OWNED_NEW(bool, root_of_any, f->n_links, err);
    FAB_PASS(find_roots(run, r, out, root_of_any, err));
    out->victims = count_victims(routes, p, fluid_s, r, root_of_any);
    for (uint32_t i = 0; i < r->n_deadlock && i < FAB_PAUSE_CYCLE; i++) {
        (void)fab_link_name(f, r->deadlock[i], out->cycle[i]);
    }
    return FAB_OK;
}

/* In the order of fab_wire: field `wire` of designs says what they are made of. */
static const struct { double header, ack; } WIRES[] = {{64, 64}, {82, 86}, {26, 30}, {122, 110}, {0, 0}};

fab_lossless fab_lossless_of(const fab_transport_spec *t, fab_senders *senders) {
    senders->spray = (fab_spray){.queue_bytes = t->queue_bytes, .skips = t->balancing == FAB_BALANCING_BITMAP};
    senders->dcqcn = (fab_dcqcn){.kmin_bytes = t->kmin_bytes,
                                 .kmax_bytes = t->kmax_bytes,
                                 .pmax = t->pmax,
                                 .notify_s = t->notify_s,
                                 .gain = t->gain,
                                 .alpha_s = t->alpha_s,
                                 .raise_s = t->raise_s,
                                 .raise_bytes = t->raise_bytes,
                                 .additive_bps = t->additive_bps,
                                 .hyper_bps = t->hyper_bps,
                                 .least_bps = t->least_bps,
                                 .recovery = (uint32_t)t->recovery};
    const bool is_lossless = t->kind != FAB_TRANSPORT_SPRAY_ACK;
    return (fab_lossless){.mtu_bytes = t->mtu_bytes,
                          .header_bytes = t->header_bytes > 0 ? t->header_bytes : WIRES[t->wire].header,
                          .ack_bytes = t->ack_bytes > 0 ? t->ack_bytes : WIRES[t->wire].ack,
                          .xoff_bytes = t->xoff_bytes,
                          .xon_bytes = t->xon_bytes > 0 ? t->xon_bytes : XON * t->xoff_bytes,
                          .n_classes = is_lossless && t->priority != FAB_PRIORITY_SHARED ? (uint32_t)t->priorities : 1,
                          .alpha = is_lossless ? t->buffer_alpha : 0,
                          .dcqcn = t->kind == FAB_TRANSPORT_DCQCN ? &senders->dcqcn : NULL,
                          .spray = t->kind == FAB_TRANSPORT_SPRAY_ACK ? &senders->spray : NULL};
}

/* Whether a path crosses the network; and whether some of it is copied inside a scale-up domain. */
static bool leaves_domain(const fab_fabric *f, const fab_lossless_phase *p, uint32_t path, bool *out_copies) {
    bool leaves = false;
    *out_copies = false;
    for (uint64_t k = p->first[path]; k < p->first[path + 1]; k++) {
        const fab_link_class *class = fab_class_of(f, p->link[k]);
        leaves = leaves || fab_is_network(class);
        *out_copies = *out_copies || class->kind == FAB_LINK_SCALEUP;
    }
    *out_copies = *out_copies || !leaves;
    return leaves;
}

/* Bytes queue as packets in the network, and behind a PCIe link that is slower than its NIC: that stops the NIC, which
 * stops the switch. Copies inside a scale-up domain wait in memory, not in queues that stop others: their links have no
 * queue here, and flows that stay inside send nothing. `bits`: where none stays, those of p. */
static fab_status leave_domains(const fab_fabric *f, fab_lossless_phase *p, double *capacity, double **bits,
                                bool *copies, uint32_t *n_sent, fab_error *err) {
    *n_sent = 0;
    FAB_FILL(capacity, p->n_links,
             fab_class_of(f, (uint32_t)fab_at)->kind == FAB_LINK_SCALEUP ? (double)INFINITY : p->capacity[fab_at]);
    for (uint32_t i = 0; i < p->n_flows; i++) {
        *n_sent += leaves_domain(f, p, i, &copies[i]);
    }
    p->capacity = capacity;
    if (*n_sent == p->n_flows) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(*bits, p->n_flows, err));
    FAB_FILL(*bits, p->n_flows, leaves_domain(f, p, (uint32_t)fab_at, &copies[fab_at]) ? p->bits[fab_at] : 0);
    p->bits = *bits;
    return FAB_OK;
}

/* The last byte, less the latency of the slowest path, may come before the fullest link could send all of it: the
 * nearest flows begin earlier. By no more than latencies differ, the bound holds then. */
static void keep_bound(const fab_lossless_phase *p, double least_s, double *finish_s) {
    uint32_t last = 0;
    double nearest_s = INFINITY;
    double farthest_s = 0;
    for (uint32_t f = 0; f < p->n_flows; f++) {
        FAB_SUM_IN(double, latency_s, i, p->first[f], p->first[f + 1], p->latency_s[p->link[i]]);
        nearest_s = p->bits[f] > 0 ? fmin(nearest_s, latency_s) : nearest_s;
        farthest_s = p->bits[f] > 0 ? fmax(farthest_s, latency_s) : farthest_s;
        last = finish_s[f] > finish_s[last] ? f : last;
    }
    if (p->n_flows > 0 && finish_s[last] < least_s && finish_s[last] >= least_s - (farthest_s - nearest_s)) {
        finish_s[last] = least_s;
    }
}

/* What comes in until a sender has stopped [IEEE 802.1Qbb, annex O], of all ports of a switch and priorities: a message
 * goes there and what was sent meanwhile comes here, and either end finishes a packet. */
static double headroom_of(const fab_fabric *f, fab_node_id v, const fab_lossless *t) {
    double bytes = 0;
    FAB_EACH_LINK(f, v, link) {
        const fab_link_class *c = fab_class_of(f, link ^ 1U);
        bytes += 2 * c->latency_s * c->capacity_bps / BITS + 2 * (t->mtu_bytes + t->header_bytes);
    }
    return bytes * t->n_classes;
}

/* Every port may hold xoff of every priority and headroom; of a shared buffer headroom alone is set aside. */
static fab_status check_buffers(const fab_fabric *f, const fab_transport_spec *spec, const fab_lossless *t,
                                fab_error *err) {
    for (fab_node_id v = 0; spec->buffer_bytes > 0 && t->spray == NULL && v < f->n_nodes; v++) {
        double headroom = headroom_of(f, v, t);
        uint32_t n = (f->out_first[v + 1] - f->out_first[v]) * t->n_classes;
        double held = t->alpha > 0 ? 0 : n * t->xoff_bytes;
        if (fab_kind_of(f, v) == FAB_NODE_SWITCH && held + headroom > spec->buffer_bytes) {
            char text[3][32];
            char holds[64] = "have to take ";
            if (t->alpha <= 0) {
                FAB_FORMAT(holds, "may hold xoff of %s each, and ",
                           fab_quantity_format(text[0], t->xoff_bytes, FAB_UNIT_BYTES));
            }
            return fab_fail(err, FAB_EINPUT, "transport",
                            "%s has %" PRIu32 " %s in use that %s%s%s until their senders have stopped: more than its "
                            "buffer of %s, so that PFC would lose packets",
                            FAB_SAY_NODE(f, v), n, t->n_classes > 1 ? "ports times priorities" : "ports", holds,
                            fab_quantity_format(text[1], ceil(headroom), FAB_UNIT_BYTES), t->alpha > 0 ? "" : " more",
                            fab_quantity_format(text[2], spec->buffer_bytes, FAB_UNIT_BYTES));
        }
    }
    return FAB_OK;
}

/* A switch's ports share what headroom leaves of its buffer. */
static void share_buffers(const fab_fabric *f, const fab_transport_spec *spec, const fab_lossless *t, uint32_t *pool,
                          double *pool_bytes) {
    for (uint32_t l = 0; l < f->n_links; l++) {
        pool[l] = fab_kind_of(f, fab_head(f, l)) == FAB_NODE_SWITCH ? fab_head(f, l) : FAB_NO_LINK;
    }
    FAB_FILL(pool_bytes, f->n_nodes, spec->buffer_bytes - headroom_of(f, (uint32_t)fab_at, t));
}

/* [path]: flows of a group have the priorities in turn. */
static void give_priorities(const fab_fabric *f, const fab_transport_spec *spec, const fab_lossless_phase *p,
                            const fab_flow_groups *groups, uint8_t *class_of) {
    for (uint32_t k = 0; k < p->n_sprayed; k++) {
        fab_flow flow = fab_phase_flow(groups->phase, k);
        uint32_t group = groups->job != NULL ? groups->job[k] : 0;
        group = spec->priority == FAB_PRIORITY_COMMUNICATOR ? flow.comm : group;
        group = spec->priority == FAB_PRIORITY_RECEIVER ? flow.dst / f->gpus_per_server + flow.dst % f->gpus_per_server
                                                        : group;
        for (uint32_t i = p->sprayed[k]; i < p->sprayed[k + 1]; i++) {
            class_of[i] = (uint8_t)(group % spec->priorities);
        }
    }
}

fab_status fab_finish_lossless(const fab_fabric *f, const fab_transport_spec *spec, const fab_flow_groups *groups,
                               const fab_lossless_phase *fluid, const double *fluid_s, double least_s,
                               fab_lossless_result *out, fab_error *err) {
    fab_senders senders;
    fab_lossless transport = fab_lossless_of(spec, &senders);
    FAB_OWNED double *latency_s = NULL;
    FAB_OWNED double *capacity = NULL;
    FAB_OWNED double *bits = NULL;
    FAB_OWNED bool *marks = NULL;
    FAB_OWNED uint8_t *class_of = NULL;
    FAB_OWNED uint32_t *pool = NULL;
    FAB_OWNED double *pool_bytes = NULL;
    fab_lossless_phase phase = *fluid;
    FAB_PASS(check_buffers(f, spec, &transport, err));
    FAB_PASS(FAB_NEW_ALL(phase.n_links, err, latency_s, capacity, marks));
    FAB_OWNED_NEW(bool, copies, phase.n_flows, err);
    for (uint32_t l = 0; l < phase.n_links; l++) {
        latency_s[l] = fab_class_of(f, l)->latency_s;
        marks[l] = fab_kind_of(f, fab_tail(f, l)) == FAB_NODE_SWITCH;
    }
    phase.marks = marks;
    transport.adapts = groups->reorders && transport.spray == NULL;
    if (transport.n_classes > 1) {
        FAB_PASS(FAB_NEW(class_of, phase.n_flows, err));
        give_priorities(f, spec, &phase, groups, class_of);
        phase.class_of = class_of;
    }
    if (transport.alpha > 0) {
        FAB_PASS(FAB_NEW(pool, f->n_links, err));
        FAB_PASS(FAB_NEW(pool_bytes, f->n_nodes, err));
        share_buffers(f, spec, &transport, pool, pool_bytes);
        phase.pool = pool;
        phase.pool_bytes = pool_bytes;
        phase.n_pools = f->n_nodes;
    }
    phase.latency_s = latency_s;
    uint32_t n_sent = 0;
    FAB_PASS(leave_domains(f, &phase, capacity, &bits, copies, &n_sent, err));
    FAB_PASS(n_sent > 0 ? fab_lossless_run(&transport, &phase, out, err) : FAB_OK);
    for (uint32_t i = 0; i < phase.n_flows; i++) { /* what is copied is not there sooner than by fair shares */
        out->finish_s[i] = copies[i] ? fmax(out->finish_s[i], fluid_s[i]) : out->finish_s[i];
    }
    keep_bound(&phase, least_s, out->finish_s);
    return FAB_OK;
}

static fab_status send_packets(const fab_engine_run *run, const fab_routes *routes, const fab_sharing *sharing,
                               double least_s, fab_figures *out, fab_error *err) {
    fab_rate_scratch *s = run->scratch->rates;
    const fab_fabric *f = run->prepared->fabric;
    fab_lossless_result r = {.finish_s = s->finish_s};
    FAB_OWNS_MEMBERS(r.paused_s, r.busy_s, r.cause);
    const fab_lossless_phase phase = {.n_flows = sharing->n_flows,
                                      .n_links = f->n_links,
                                      .capacity = s->capacity,
                                      .first = s->first,
                                      .link = sharing->link,
                                      .bits = s->bits,
                                      .seed = run->seed,
                                      .n_sprayed = routes->n_flows,
                                      .sprayed = routes->flow_first};
    FAB_OWNED_NEW(double, fluid_s, sharing->n_flows, err);
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, r.paused_s, r.busy_s, r.cause));
    out->fluid_s = run->prepared->relay_s;
    for (uint32_t i = 0; i < sharing->n_flows; i++) {
        fluid_s[i] = s->finish_s[i];
        out->fluid_s = fmax(out->fluid_s, fluid_s[i] + run->prepared->relay_s);
    }
    const fab_flow_groups groups = {run->prepared->phase, run->trace != NULL ? run->trace->group : NULL,
                                    fab_router_facts_of(run->router)->reorders};
    FAB_PASS(
        fab_finish_lossless(f, run->transport, &groups, &phase, fluid_s, least_s - run->prepared->relay_s, &r, err));
    out->deadlocks = r.n_deadlock > 0;
    if (run->detail != NULL) {
        FAB_PASS(describe_pauses(run, routes, sharing, fluid_s, &r, err));
        run->detail->pauses.is_sprayed = run->transport->kind == FAB_TRANSPORT_SPRAY_ACK;
        free(run->detail->paused_s);
        run->detail->paused_s = r.paused_s; /* who draws the links wants it */
        r.paused_s = NULL;
    }
    return FAB_OK;
}

/* Flows, paths, sizes and the rest of what packets depend on; the fabric and the transport are the context's. */
static void hash_problem(const fab_engine_run *run, const fab_routes *routes, const fab_sharing *p, double least_s,
                         uint64_t hash[2]) {
    const fab_rate_scratch *s = run->scratch->rates;
    const fab_phase *phase = run->prepared->phase;
    const double own[] = {least_s, run->prepared->relay_s, (double)phase->first_comm};
    hash[0] = run->seed;
    hash[1] = p->n_flows;
    fab_hash_words(own, sizeof own, hash);
    fab_hash_words(s->capacity, run->prepared->fabric->n_links * sizeof *s->capacity, hash);
    fab_hash_words(s->first, (p->n_flows + (size_t)1) * sizeof *s->first, hash);
    fab_hash_words(p->link, s->first[p->n_flows] * sizeof *p->link, hash);
    fab_hash_words(s->bits, p->n_flows * sizeof *s->bits, hash);
    fab_hash_words(routes->flow_first, (routes->n_flows + (size_t)1) * sizeof *routes->flow_first, hash);
    fab_hash_words(phase->comm, phase->comm != NULL ? phase->n_flows * sizeof *phase->comm : 0, hash);
}

static fab_status copy_doubles(const double *from, size_t n, double **out, fab_error *err) {
    free(*out);
    *out = NULL;
    FAB_PASS(FAB_NEW(*out, n, err));
    memcpy(*out, from, n * sizeof **out);
    return FAB_OK;
}

fab_status fab_rate_lossless(const fab_engine_run *run, const fab_routes *routes, const fab_sharing *sharing,
                             double least_s, fab_figures *out, fab_error *err) {
    fab_rate_scratch *s = run->scratch->rates;
    fab_sent_phase *sent = &s->sent;
    const size_t n_links = run->detail != NULL ? run->prepared->fabric->n_links : 0;
    uint64_t hash[2];
    if (!run->repeats || run->trace != NULL) {
        return send_packets(run, routes, sharing, least_s, out, err);
    }
    hash_problem(run, routes, sharing, least_s, hash);
    if (memcmp(hash, sent->hash, sizeof hash) == 0 && (n_links == 0 || sent->paused_s != NULL)) {
        memcpy(s->finish_s, sent->finish_s, sharing->n_flows * sizeof *s->finish_s);
        out->fluid_s = sent->fluid_s;
        out->deadlocks = sent->deadlocks;
        if (n_links > 0) {
            run->detail->pauses = sent->pauses;
            FAB_PASS(copy_doubles(sent->paused_s, n_links, &run->detail->paused_s, err));
        }
        return FAB_OK;
    }
    memset(sent->hash, 0, sizeof sent->hash);
    FAB_PASS(send_packets(run, routes, sharing, least_s, out, err));
    FAB_PASS(copy_doubles(s->finish_s, sharing->n_flows, &sent->finish_s, err));
    if (n_links > 0) {
        FAB_PASS(copy_doubles(run->detail->paused_s, n_links, &sent->paused_s, err));
        sent->pauses = run->detail->pauses;
    }
    sent->fluid_s = out->fluid_s;
    sent->deadlocks = out->deadlocks;
    memcpy(sent->hash, hash, sizeof hash);
    return FAB_OK;
}
