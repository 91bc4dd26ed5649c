/* Certificates: the phases of a context with what their figures rest on. Numbers read back as they were. */
#include "fab/certificate.h"

#include "fab/design.h"
#include "fab/evaluate.h"
#include "measure/proof.h"

#include <errno.h>
#include <stdarg.h>

void fab_certificate_omit(FILE *out, const char *what, ...) {
    va_list arguments;
    va_start(arguments, what);
    (void)fputs("not certified: ", out);
    (void)vfprintf(out, what, arguments);
    (void)fputc('\n', out);
    va_end(arguments);
}

void fab_certificate_claim(FILE *out, const char *name, double value) {
    (void)fprintf(out, "claim %s %.17g\n", name, value);
}

fab_status fab_certificate_end(FILE *out, fab_error *err) {
    (void)fputs("end\n", out);
    return fflush(out) != 0 || ferror(out)
               ? fab_fail(err, FAB_EIO, NULL, "cannot write the certificate: %s", strerror(errno))
               : FAB_OK;
}

/* --- the fabric --------------------------------------------------------------------------------------------------- */

/* FNV-1a over the ends, tiers and rates of all cables, number by number. */
static uint64_t certificate_digest(const fab_fabric *fabric) {
    uint64_t digest = UINT64_C(14695981039346656037);
    for (uint32_t c = 0; c < fabric->n_cables; c++) {
        const fab_link_class *k = fab_class_of(fabric, 2 * c);
        const uint64_t values[] = {fab_tail(fabric, 2 * c), fab_head(fabric, 2 * c), k->tier,
                                   (uint64_t)k->capacity_bps};
        for (size_t i = 0; i < FAB_N_OF(values); i++) {
            digest = (digest ^ values[i]) * UINT64_C(1099511628211);
        }
    }
    return digest;
}

/* What the export has to be of, and runs of cables that take a signal equally long. */
static void certificate_put_fabric(const fab_fabric *fabric, FILE *out) {
    (void)fprintf(out, "fabric %" PRIu32 " %016" PRIx64 "\n", fabric->n_cables, certificate_digest(fabric));
    for (uint32_t first = 0, next = 0; first < fabric->n_cables; first = next) {
        double latency_s = fab_class_of(fabric, 2 * first)->latency_s;
        while (next < fabric->n_cables && !(fab_class_of(fabric, 2 * next)->latency_s > latency_s) &&
               !(fab_class_of(fabric, 2 * next)->latency_s < latency_s)) {
            next++;
        }
        (void)fprintf(out, "latency %" PRIu32 " %" PRIu32 " %.17g\n", first, next - 1, latency_s);
    }
}

void fab_certificate_begin(const char *command, const char *digest, uint64_t seed, const fab_fabric *fabric,
                           FILE *out) {
    (void)fprintf(out,
                  FAB_CERTIFICATE_MAGIC "\n"
                                        "# Checked by: scripts/verify DESIGN.graphml THIS. Format: certificates.md of "
                                        "the manual.\n"
                                        "command %s\n"
                                        "design %s\n"
                                        "seed %" PRIu64 "\n",
                  command, digest, seed);
    certificate_put_fabric(fabric, out);
}

/* --- the bound of a phase ------------------------------------------------------------------------------------------
 * With lengths y >= 0 of links, no routing over minimal paths has a largest utilisation below
 *     sum over demands of rate * (least sum of y along a minimal path) / sum over links of y * capacity. */

static void certificate_put_demand(const fab_next_hops *t, const fab_demand *demand, FILE *out) {
    for (uint32_t d = 0; d < demand->n_leaves; d++) {
        for (uint32_t pair = demand->first[d]; pair < demand->first[d + 1]; pair++) {
            (void)fprintf(out, "demand %" PRIu32 " %" PRIu32 " %.17g\n", fab_next_hops_leaf(t, demand->src[pair]),
                          fab_next_hops_leaf(t, d), demand->rate[pair]);
        }
    }
}

/* Every link that lies on a minimal path between any leaves: dead ones need not be known to check them. */
static fab_status certificate_put_bound(const fab_context *context, size_t phase, FILE *out, fab_error *err) {
    const fab_fabric *fabric = fab_context_what(context)->fabric;
    const fab_next_hops *next_hops = NULL;
    const fab_demand *demand = NULL;
    const fab_bound *bound = NULL;
    const fab_dag *dag = NULL;
    FAB_PASS(fab_context_next_hops(context, &next_hops, err));
    FAB_PASS(fab_context_dag(context, &dag, err));
    FAB_PASS(fab_context_demand(context, phase, &demand, err));
    FAB_PASS(fab_context_bound(context, phase, &bound, err));
    FAB_OWNED_NEW(double, load, fabric->n_links, err);
    FAB_OWNED_NEW(uint8_t, used, fabric->n_links, err);
    FAB_PASS(fab_split_load(dag, bound->split, demand, demand->rate, load, err));
    (void)fab_next_hops_mark(next_hops, used);
    (void)fprintf(out, "bound %s\n", fab_bound_method_names[bound->method]);
    certificate_put_demand(next_hops, demand, out);
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        if (used[l] != 0) {
            (void)fprintf(out, "link %" PRIu32 " %.17g %.17g\n", l, load[l], bound->length[l]);
        }
    }
    fab_certificate_claim(out, "upper", bound->upper);
    fab_certificate_claim(out, "lower", bound->lower);
    return FAB_OK;
}

/* --- phases under engines ----------------------------------------------------------------------------------------- */

static void certificate_put_claims(const fab_figures *f, double latency_s, bool has_times, FILE *out) {
    fab_certificate_claim(out, "max_utilisation", f->max_utilisation);
    fab_certificate_claim(out, "max_collision_factor", f->max_collision);
    fab_certificate_claim(out, "mean_collision_factor", f->mean_collision);
    fab_certificate_claim(out, "collided_links", f->collided_links);
    fab_certificate_claim(out, "collided_flows", f->collided_flows);
    fab_certificate_claim(out, "busiest_link_s", f->busiest_link_s);
    if (has_times) {
        fab_certificate_claim(out, "min_rate_bps", f->min_rate);
        fab_certificate_claim(out, "mean_rate_bps", f->mean_rate);
        fab_certificate_claim(out, "transfer_s", f->transfer_s);
        fab_certificate_claim(out, "time_s", f->transfer_s + latency_s);
    }
}

static fab_status certificate_put_engine(const fab_context *context, fab_workspace *workspace, const fab_case *at,
                                         FILE *out, fab_error *err) {
    const fab_fabric *fabric = fab_context_what(context)->fabric;
    const fab_router *router = NULL;
    const fab_traffic *traffic = NULL;
    FAB_OWNS(fab_dependencies_release) fab_dependencies dependencies = {0};
    fab_proof proof = {.out = out};
    fab_evaluated found;
    fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES, .dependencies = &dependencies, .proof = &proof};
    FAB_OWNED_NEW(fab_engine_result, detail, 1, err);
    FAB_OWNS_MEMBERS(detail->paused_s);
    needs.detail = detail;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_context_router(context, at->engine, &router, err));
    FAB_PASS(fab_dependencies_init(fabric, &dependencies, err));
    const fab_router_facts *facts = fab_router_facts_of(router);
    const fab_phase *phase = &traffic->phases[at->phase];
    (void)fprintf(out, "engine %.17g %.17g %s\n", facts->reorders ? facts->window_bytes : 0, facts->queueing_s,
                  facts->label);
    FAB_PASS(fab_evaluate(workspace, at, &needs, &found, err));
    if (proof.n_rounds == 0) {
        fab_certificate_omit(out, "phase %s under %s: its paths are too many to be listed", phase->name, facts->label);
        return FAB_OK;
    }
    const fab_design *design = fab_context_what(context)->design;
    bool has_packets = design != NULL && design->fabric.transport.kind != FAB_TRANSPORT_FLUID;
    if (has_packets) {
        fab_certificate_omit(out, "rates and times of phase %s: its packets wait in queues", phase->name);
    }
    if (fabric->stores_and_forwards) {
        fab_certificate_omit(out, "rates and times of phase %s: GPUs relay between rails before they send",
                             phase->name);
    }
    if (fab_has_host(fabric)) {
        fab_certificate_omit(out, "rates and times of phase %s: hosts take time of their own", phase->name);
    }
    certificate_put_claims(&found.figures,
                           fab_phase_latency_s(fabric, phase, detail->paths.n_flows > 0, detail->paths.latency_s.max),
                           !has_packets && !fabric->stores_and_forwards && !fab_has_host(fabric), out);
    return FAB_OK;
}

static fab_status certificate_put_phase(const fab_context *context, fab_workspace *workspace, size_t phase, bool bound,
                                        FILE *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    const fab_phase *p = &traffic->phases[phase];
    if (p->n_flows > FAB_CERTIFICATE_FLOWS) {
        fab_certificate_omit(out, "phase %s: %" PRIu64 " flows are too many to be listed", p->name, p->n_flows);
        return FAB_OK;
    }
    (void)fprintf(out, "phase %" PRIu64 " %" PRIu64 " %s\n", p->steps, p->executions, p->name);
    for (uint64_t i = 0; i < p->n_flows; i++) {
        fab_flow flow = fab_phase_flow(p, i);
        (void)fprintf(out, "flow %" PRIu32 " %" PRIu32 " %" PRIu64 "\n", flow.src, flow.dst, flow.bytes);
    }
    FAB_PASS(bound ? certificate_put_bound(context, phase, out, err) : FAB_OK);
    for (size_t engine = 0; engine < fab_context_what(context)->n_engines; engine++) {
        const fab_case at = {.phase = phase, .engine = engine};
        FAB_PASS(certificate_put_engine(context, workspace, &at, out, err));
    }
    return FAB_OK;
}

fab_status fab_certificate_phases(const fab_context *context, bool bound, FILE *out, fab_error *err) {
    FAB_OWNS(fab_workspace_free_owned) fab_workspace *workspace = NULL;
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_workspace_new(context, &workspace, err));
    for (size_t phase = 0; phase < traffic->n_phases; phase++) {
        FAB_PASS(certificate_put_phase(context, workspace, phase, bound, out, err));
    }
    return FAB_OK;
}

/* --- what stands on the phases ------------------------------------------------------------------------------------ */

/* What decides which operations there are, and how long each takes at least: of every chunk of every stage. */
static void certificate_put_pipeline(const fab_pipeline *p, const char *engine, FILE *out) {
    (void)fprintf(out, "schedule %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %d %.17g %s\n", p->n_stages, p->n_chunks,
                  p->n_microbatches, p->gathers_each_pass, p->reduces_each_pass, p->replica_overlap, engine);
    for (uint32_t i = 0; i < p->n_stages * p->n_chunks; i++) {
        const fab_chunk_times *t = &p->chunk[i];
        (void)fprintf(out, "takes %" PRIu32 " %" PRIu32, i / p->n_chunks, i % p->n_chunks);
        for (fab_op_kind kind = 0; kind < FAB_OP_N; kind++) {
            const fab_op op = {.kind = kind, .stage = i / p->n_chunks, .chunk = i % p->n_chunks};
            const fab_op_parts parts = fab_op_parts_of(p, &op);
            double takes_s = kind == FAB_OP_SEND_FORWARD    ? t->send_forward_s
                             : kind == FAB_OP_SEND_BACKWARD ? t->send_backward_s
                             : kind == FAB_OP_GATHER        ? t->gather_s
                             : kind == FAB_OP_REDUCE        ? t->reduce_s
                                                            : parts.compute_s + parts.exchange_s;
            bool is_there = (kind != FAB_OP_WEIGHTS || p->order == FAB_ORDER_ZERO_BUBBLE) &&
                            (kind != FAB_OP_OPTIMIZER || op.chunk == 0);
            (void)fprintf(out, " %.17g", is_there ? takes_s : 0);
        }
        (void)fprintf(out, " %.17g\n", t->across_s);
    }
}

void fab_certificate_iteration(const fab_iteration *iteration, FILE *out) {
    const fab_schedule *s = iteration->schedule;
    if (s == NULL) {
        fab_certificate_omit(out, "the iteration under %s: %s", iteration->engine,
                             iteration->schedule_note[0] != '\0' ? iteration->schedule_note : "it has no schedule");
        return;
    }
    certificate_put_pipeline(&s->pipeline, iteration->engine, out);
    FAB_EACH(const fab_op, op, s->timeline.op, s->timeline.n_ops) {
        (void)fprintf(out, "op %s %" PRIu32 " %" PRIu32 " %" PRIu32 " %.17g %.17g\n", fab_op_names[op->kind], op->stage,
                      op->chunk, op->microbatch, op->start_s, op->end_s);
    }
    fab_certificate_claim(out, "iteration_s", s->timeline.time_s);
    fab_certificate_omit(out, "how long passes compute and exchange, and what sends and reductions take of the phases");
    if (iteration->seeds.n_seeds > 1) {
        fab_certificate_omit(out, "iterations of single seeds: the schedule is that of the phases' mean times");
    }
}
