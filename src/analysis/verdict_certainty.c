/* How sure the lines of a verdict are. */
#include "fab/imported.h"
#include "fab/published.h"
#include "verdict_lines.h"

#include <math.h>
#include <string.h>

/* Whether the engine drew anything that a figure depends on, and whether its times bound those of lossless queues. */
static void certainty_of_engine(const fab_result *r, size_t engine, bool *out_drawn, bool *out_is_bound) {
    *out_drawn = *out_is_bound = false;
    for (size_t i = 0; i < r->n_phases; i++) {
        const fab_engine_result *e = &r->phases[i].engines[engine];
        *out_drawn = *out_drawn || (e->seeded && r->phases[i].fabric_flows > 0);
        *out_is_bound = *out_is_bound || e->blocks_elsewhere;
    }
    for (size_t j = 0; r->contention != NULL && !*out_drawn && j < r->contention->n_jobs; j++) {
        const fab_contending_job *job = &r->contention->jobs[j];
        *out_drawn = job->phase[0] != '\0' && r->phases[0].engines[engine].seeded;
    }
}

static void certainty_of_published(const fab_result *r, char *out) {
    const fab_published *p = r->published;
    const fab_published_row *furthest = NULL;
    if (p == NULL || p->n_rows == 0) {
        if (r->n_iterations > 0) {
            fab_append(out, FAB_VERDICT_TEXT, "; no published run of this design and job");
        }
        return;
    }
    const fab_published_counts n = fab_published_count(p->rows, p->n_rows);
    for (size_t i = 0; i < p->n_rows; i++) {
        double deviation = fab_published_deviation(&p->rows[i]);
        if (!isnan(deviation) && (furthest == NULL || fabs(deviation) > fabs(fab_published_deviation(furthest)))) {
            furthest = &p->rows[i];
        }
    }
    fab_append(out, FAB_VERDICT_TEXT, "; %" PRIu64 " of %zu published figures met", n.met, p->n_rows);
    if (furthest != NULL) {
        fab_append(out, FAB_VERDICT_TEXT, ", the furthest %s",
                   fab_change_format(FAB_ROOM, fab_published_deviation(furthest), 1));
    }
}

/* The rates of DCQCN are those of packets; where flows move as larger cells, times are rough: ADR 68. */
static bool is_rough(const fab_result *r, size_t engine) {
    const fab_transport_spec *t = &r->fabrics[0].spec.transport;
    bool has_cells = false;
    for (size_t i = 0; t->kind == FAB_TRANSPORT_DCQCN && i < r->n_phases; i++) {
        const fab_engine_result *e = &r->phases[i].engines[engine];
        has_cells = has_cells || (e->has_pauses && e->pauses.cell_bytes > 2 * t->mtu_bytes);
    }
    return has_cells;
}

/* Whether another seed might give other figures; of several jobs, of any of them. */
static void add_draws(const fab_result *r, const fab_run_verdict *v, size_t engine, bool is_drawn, char *out) {
    const double part = fab_estimated_ratio(r, engine);
    if (part > 0) {
        fab_append(out, FAB_VERDICT_TEXT,
                   "an estimate: so many flows are not followed one by one; in all but one draw in a thousand at most "
                   "%.2g %% longer%s",
                   100 * part, is_drawn ? "; the rest " : "");
    }
    if (!is_drawn && part > 0) {
        return;
    }
    if (!is_drawn) {
        fab_append(out, FAB_VERDICT_TEXT, "every seed gives the same");
    } else if (r->n_seeds > 1) {
        const fab_iteration *it = v->of_iteration ? &r->iterations[engine] : NULL;
        fab_append(out, FAB_VERDICT_TEXT, "%" PRIu64 " seeds", r->n_seeds);
        if (it != NULL && it->seeds.n_seeds > 0 && it->time_s > 0) {
            fab_append(out, FAB_VERDICT_TEXT, ", mean time +-%.2g %%", 100 * it->seeds.time_s.ci95 / it->time_s);
        }
    } else {
        fab_append(out, FAB_VERDICT_TEXT, "one draw (--seeds 20 has the spread)");
    }
}

static void certainty_of_draws(const fab_result *r, const fab_run_verdict *v, bool is_drawn, char *out) {
    char name[VERDICT_NAME];
    bool is_worst_drawn = false;
    bool ignored = false;
    certainty_of_engine(r, v->slowest, &is_worst_drawn, &ignored);
    const bool is_alike = (fab_estimated_ratio(r, v->engine) > 0) == (fab_estimated_ratio(r, v->slowest) > 0);
    if (is_drawn == is_worst_drawn && is_alike) {
        add_draws(r, v, v->engine, is_drawn, out);
        return;
    }
    fab_append(out, FAB_VERDICT_TEXT, "%s: ", verdict_engine(r, v->engine, name));
    add_draws(r, v, v->engine, is_drawn, out);
    fab_append(out, FAB_VERDICT_TEXT, "; %s: ", verdict_engine(r, v->slowest, name));
    add_draws(r, v, v->slowest, is_worst_drawn, out);
}

void verdict_put_certainty(const fab_result *r, fab_run_verdict *v) {
    bool is_drawn = false;
    bool is_bound = false;
    const fab_transport transport = r->n_fabrics > 0 ? r->fabrics[0].spec.transport.kind : FAB_TRANSPORT_FLUID;
    certainty_of_engine(r, v->engine, &is_drawn, &is_bound);
    certainty_of_draws(r, v, is_drawn, v->certainty);
    if (r->n_serving > v->engine) {
        verdict_add_arrivals(&r->serving[v->engine], v->certainty);
    }
    if (transport != FAB_TRANSPORT_FLUID) {
        fab_append(v->certainty, FAB_VERDICT_TEXT, "; packets %s",
                   transport == FAB_TRANSPORT_SPRAY_ACK ? "over many paths, with a window by acknowledgements"
                                                        : "in lossless queues, as they stop each other");
        if (is_rough(r, v->engine)) {
            fab_append(v->certainty, FAB_VERDICT_TEXT,
                       ", in cells, for which the rates of DCQCN are rough (15 phases were 28 %% off on average)");
        }
    } else if (is_bound) {
        fab_append(v->certainty, FAB_VERDICT_TEXT,
                   "; lower bounds on lossless RoCE and InfiniBand, where flows collide (--transport pfc)");
    }
    certainty_of_published(r, v->certainty);
    if (r->ranks > 0 && r->job.placement == FAB_PLACEMENT_RANDOM) {
        fab_append(v->certainty, FAB_VERDICT_TEXT, "; one random placement");
    }
    char gaps[FAB_ASSUMED_SIZE];
    if (r->n_fabrics > 0 && fab_imported_gaps(&r->fabrics[0].spec, gaps, sizeof gaps)) {
        fab_append(v->certainty, FAB_VERDICT_TEXT, "; the file of the network does not say, so assumed: %s", gaps);
    }
    if (r->placed != NULL && r->placed->note[0] != '\0') {
        fab_append(v->certainty, FAB_VERDICT_TEXT, "; %s", r->placed->note);
    }
    if (strncmp(r->traffic, "default job", 11) == 0) {
        fab_append(v->certainty, FAB_VERDICT_TEXT, "; the job is the default one");
    }
}
