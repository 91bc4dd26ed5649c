/* An observation from the snapshots to its suspects; each step stands in a file of its own. */
#include "observe_internal.h"

#include "fab/replay_memory.h"

#define UNPREDICTED 0.01 /* of what most links carry: less is management */
#define LINK_BYTES  200  /* of what is kept of a link: bytes of both ends, deviations, some rows that are sorted */
#define DRAW_BYTES  64   /* of a link, while a thread draws */

FAB_FREES_WHOLE(fab_observed_free, fab_observed, boundaries, loads, suspects);

static int load_order(const void *a, const void *b) {
    const fab_observed_link *x = a;
    const fab_observed_link *y = b;
    double off_x = isfinite(x->deviation) ? fabs(x->deviation) : -1;
    double off_y = isfinite(y->deviation) ? fabs(y->deviation) : -1;
    FAB_ORDER_BY(off_y, off_x);
    return FAB_ORDER(x->link, y->link);
}

/* Every link that was measured, the largest deviation first. */
static fab_status list_loads(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    fab_observed *out = o->out;
    size_t n = 0;
    FAB_PASS(FAB_NEW(out->loads, out->measured_links, err));
    FAB_OWNED_NEW(double, numbers, f->n_links, err);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (fab_is_network(fab_class_of(f, l)) && o->measured[l] >= 0) {
            bool is_known = out->fits || observe_is_access(f, l);
            out->loads[out->n_loads++] =
                (fab_observed_link){.link = l,
                                    .measured_bytes = o->measured[l],
                                    .predicted_bytes = is_known ? o->scale * o->predicted[l] : NAN,
                                    .deviation = o->deviation[l]};
            if (o->predicted[l] > 0) {
                numbers[n++] = o->measured[l];
            }
        }
    }
    double usual = observe_median(numbers, n);
    FAB_EACH(const fab_observed_link, load, out->loads, out->n_loads) {
        out->unpredicted_links += load->predicted_bytes <= 0 && load->measured_bytes > UNPREDICTED * usual;
    }
    FAB_SORT(out->loads, out->n_loads, load_order);
    return FAB_OK;
}

static fab_status observe_begin(observation *o, const fab_observe_request *request, fab_error *err) {
    const fab_router *router = NULL;
    FAB_PASS(FAB_NEW(o->out, 1, err));
    FAB_PASS(fab_context_traffic(request->context, &o->traffic, err));
    FAB_PASS(fab_context_router(request->context, 0, &router, err));
    const fab_router_facts *facts = fab_router_facts_of(router);
    FAB_FORMAT(o->out->engine, "%s", facts->label);
    o->out->draws = facts->is_seeded || o->traffic->depends_on_seed ? request->n_draws : 1;
    o->out->before = request->before_path;
    o->out->after = request->after_path;
    o->out->format = request->after->format;
    return FAB_OK;
}

/* Of a snapshot that has been read. */
static double snapshot_bytes(const fab_counters *c) {
    return c == NULL
               ? 0
               : (double)(c->capacity * sizeof *c->ports + c->text_capacity + c->table.size * sizeof *c->table.slot);
}

/* Before anything more is allocated: snapshots, tables, paths of the phases, and what is kept of every link and draw.
 */
static fab_status check_memory(const observation *o, fab_error *err) {
    const fab_observe_request *request = o->request;
    const fab_context_request *what = fab_context_what(request->context);
    const fab_replay replay = {.context = request->context, .n_seeds = 1, .n_threads = request->n_threads};
    fab_replay_sizes s;
    char more[96];
    FAB_PASS(fab_replay_check_tables(&replay, err));
    FAB_PASS(fab_replay_check_routers(&replay, err));
    FAB_PASS(fab_replay_check_paths(&replay, err));
    fab_replay_sizes_of(o->fabric, &s);
    double bytes =
        snapshot_bytes(request->before) + snapshot_bytes(request->after) + fab_graph_bytes(&s) +
        fab_next_hops_bytes(&s) + fab_dags_bytes(&s) + fab_routers_bytes(what, &s) +
        s.n_links * ((double)o->out->draws * sizeof *o->drawn + LINK_BYTES + DRAW_BYTES * (double)request->n_threads);
    FAB_FORMAT(more, " with %" PRIu64 " draw%s of the load of every link", o->out->draws,
               o->out->draws == 1 ? "" : "s");
    return fab_context_check(what, bytes, more, err);
}

fab_status fab_observe(const fab_observe_request *request, fab_observed **out, fab_error *err) {
    fab_status status = FAB_OK;
    observation o = {.request = request, .fabric = fab_context_what(request->context)->fabric};
    FAB_TRY(observe_begin(&o, request, err));
    FAB_TRY(check_memory(&o, err));
    FAB_TRY(observe_ports(&o, err));
    FAB_TRY(observe_skew(&o, err));
    FAB_TRY(observe_predict(&o, err));
    FAB_TRY(observe_judge(&o, err));
    FAB_TRY(observe_boundaries(&o, err));
    FAB_TRY(observe_suspects(&o, err));
    FAB_TRY(observe_evidence(&o, err));
    FAB_TRY(list_loads(&o, err));
    *out = o.out;
    o.out = NULL;
done:
    FAB_FREE_ALL(o.port[0], o.port[1], o.sent, o.got, o.wait, o.errors, o.measured, o.gap, o.is_still, o.drawn,
                 o.deviation, o.host, o.spread_of);
    fab_observed_free(o.out);
    return status;
}
