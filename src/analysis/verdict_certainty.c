/* How sure the lines of a verdict are. */
#include "fab/imported.h"
#include "fab/model.h"
#include "fab/published.h"
#include "verdict_lines.h"

bool verdict_is_drawn(const fab_result *r, size_t engine) {
    FAB_ANY(is_drawn, i, r->n_phases, r->phases[i].engines[engine].seeded && r->phases[i].fabric_flows > 0);
    for (size_t j = 0; r->contention != NULL && !is_drawn && j < r->contention->n_jobs; j++) {
        is_drawn = fab_contending(r->contention, engine, j)->phase[0] != '\0' && r->phases[0].engines[engine].seeded;
    }
    return is_drawn;
}

const char *verdict_of_draw(const fab_result *r) {
    FAB_ANY(is_drawn, e, r->phases[0].n_engines, verdict_is_drawn(r, e));
    return is_drawn && r->n_seeds == 1 ? " in this draw" : "";
}

void verdict_add_draw(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_stat *draws = r->plans != NULL ? &r->plans->plans[0].draws_s : NULL;
    if (r->n_seeds > 1 || !verdict_is_drawn(r, v->engine)) {
        return;
    }
    if (!v->of_iteration || draws == NULL || !(draws->mean > 0)) {
        verdict_say(out, " in this draw (--seeds %d has others)", FAB_VERDICT_SEEDS);
    } else if (draws->max > v->time_s * (1 + FAB_VERDICT_LITTLE)) {
        verdict_say(out, " in this draw; over %" PRIu64 " seeds the mean is %s, the longest %s (--seeds %" PRIu64 ")",
                    r->plans->draws, VERDICT_SECONDS(draws->mean), VERDICT_SECONDS(draws->max), r->plans->draws);
    } else {
        verdict_say(out, ", over %" PRIu64 " seeds too", r->plans->draws);
    }
}

static void certainty_of_published(const fab_result *r, char *out) {
    const fab_published *p = r->published;
    const fab_published_row *furthest = NULL;
    if (p == NULL || p->n_rows == 0) {
        if (r->n_iterations > 0) {
            verdict_say(out, "; no published run of this design and job");
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
    verdict_say(out, "; %" PRIu64 " of %zu published figures met", n.met, p->n_rows);
    if (furthest != NULL) {
        verdict_say(out, ", the furthest %s", fab_change_format(FAB_ROOM, fab_published_deviation(furthest), 1));
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
        verdict_say(out,
                    "an estimate: so many flows are not followed one by one; in all but one draw in a thousand at most "
                    "%.2g %% longer%s",
                    100 * part, is_drawn ? "; the rest " : "");
    }
    if (!is_drawn && part > 0) {
        return;
    }
    if (!is_drawn) {
        verdict_say(out, "every seed gives the same");
    } else if (r->n_seeds > 1) {
        const fab_iteration *it = v->of_iteration ? &r->iterations[engine] : NULL;
        verdict_say(out, "%" PRIu64 " seeds", r->n_seeds);
        if (it != NULL && it->seeds.n_seeds > 0 && it->time_s > 0) {
            verdict_say(out, ", mean time +-%.2g %%", 100 * it->seeds.time_s.ci95 / it->time_s);
        }
    } else {
        verdict_say(out, "one draw (--seeds 20 has the spread)");
    }
}

static void certainty_of_draws(const fab_result *r, const fab_run_verdict *v, bool is_drawn, char *out) {
    char name[VERDICT_NAME];
    const bool is_worst_drawn = verdict_is_drawn(r, v->slowest);
    const bool is_alike = (fab_estimated_ratio(r, v->engine) > 0) == (fab_estimated_ratio(r, v->slowest) > 0);
    if (is_drawn == is_worst_drawn && is_alike) {
        add_draws(r, v, v->engine, is_drawn, out);
        return;
    }
    verdict_say(out, "%s: ", verdict_engine(r, v->engine, name));
    add_draws(r, v, v->engine, is_drawn, out);
    verdict_say(out, "; %s: ", verdict_engine(r, v->slowest, name));
    add_draws(r, v, v->slowest, is_worst_drawn, out);
}

/* A queue pair keeps to one port: fewer of them than planes are taken as one on each, as bonded NICs deal them. */
static void certainty_of_planes(const fab_result *r, size_t engine, char *out) {
    const fab_engine_result *e = &r->phases[0].engines[engine];
    const uint64_t planes = r->n_fabrics > 0 ? r->fabrics[0].counts.planes : 1;
    const bool splits = strncmp(e->label, "spray", 5) == 0 || strncmp(e->label, "optimal", 7) == 0;
    if (planes > 1 && !splits && fmax((double)fab_label_pairs(e->label), 1) < (double)planes) {
        verdict_say(out,
                    "; each flow is taken to have a queue pair on each of the %" PRIu64
                    " planes: with one alone it has 1/%" PRIu64 " of its NIC's rate at most",
                    planes, planes);
    }
}

/* What routes where a subnet manager does, and nobody gave its tables; a hash is none of InfiniBand's. */
static void certainty_of_subnet(const fab_result *r, char *out) {
    const fab_subnet subnet = r->n_fabrics > 0 ? r->fabrics[0].spec.subnet : FAB_SUBNET_NONE;
    FAB_ANY(hashes, e, r->phases[0].n_engines, strncmp(r->phases[0].engines[e].label, "ecmp", 4) == 0);
    if (subnet == FAB_SUBNET_NONE) {
        return;
    }
    if (hashes) {
        verdict_say(out, "; InfiniBand does not hash flows as ecmp does: without --engine it is %s",
                    fab_default_engine(subnet));
    } else if (r->engine != NULL && strcmp(r->engine->where, FAB_DEFAULT_ENGINE) == 0) {
        verdict_say(
            out, "; InfiniBand routes by destination: engine %s, %s; --engine file,path=LFTS has the subnet's tables",
            r->engine->text,
            subnet == FAB_SUBNET_TREE ? "near OpenSM's default in a tree" : "as OpenSM's where there is no tree");
    }
}

void verdict_put_certainty(const fab_result *r, fab_run_verdict *v) {
    const fab_transport transport = r->n_fabrics > 0 ? r->fabrics[0].spec.transport.kind : FAB_TRANSPORT_FLUID;
    /* times are those of lossless queues at least */
    FAB_ANY(is_bound, i, r->n_phases, r->phases[i].engines[v->engine].blocks_elsewhere);
    certainty_of_draws(r, v, verdict_is_drawn(r, v->engine), v->certainty);
    certainty_of_planes(r, v->engine, v->certainty);
    certainty_of_subnet(r, v->certainty);
    if (r->n_serving > v->engine) {
        verdict_add_arrivals(&r->serving[v->engine], v->certainty);
    }
    if (transport != FAB_TRANSPORT_FLUID) {
        verdict_say(v->certainty, "; packets %s",
                    transport == FAB_TRANSPORT_SPRAY_ACK ? "over many paths, with a window by acknowledgements"
                                                         : "in lossless queues, as they stop each other");
        if (is_rough(r, v->engine)) {
            verdict_say(v->certainty,
                        ", in cells, for which the rates of DCQCN are rough (15 phases were 28 %% off on average)");
        }
    } else if (is_bound) {
        verdict_say(v->certainty,
                    "; lower bounds on lossless RoCE and InfiniBand, where flows collide (--transport pfc)");
    }
    certainty_of_published(r, v->certainty);
    if (r->ranks > 0 && r->job.placement == FAB_PLACEMENT_RANDOM) {
        verdict_say(v->certainty, "; one random placement");
    }
    char gaps[FAB_ASSUMED_SIZE];
    if (r->n_fabrics > 0 && fab_imported_gaps(&r->fabrics[0].spec, gaps, sizeof gaps)) {
        verdict_say(v->certainty, "; the file of the network does not say, so assumed: %s", gaps);
        if (r->fabrics[0].spec.gaps.cables) { /* which all collisions hang on */
            verdict_say(v->bound, "; with %.*s as assumed, which the file does not say", (int)strcspn(gaps, ","), gaps);
        }
    }
    if (r->placed != NULL && r->placed->note[0] != '\0') {
        verdict_say(v->certainty, "; %s", r->placed->note);
    }
    if (r->ranks > 0 && r->job.batch_unrounded > 0) {
        char reason[FAB_BATCH_REASON];
        verdict_say(v->certainty, "; batch %s: %s", FAB_SAY_COUNT(r->job.batch),
                    fab_job_batch_reason(r->job.batch, r->job.batch_unrounded, r->ranks, reason));
    }
    if (strncmp(r->traffic, "default job", 11) == 0) {
        verdict_say(v->certainty, "; the job is the default one");
    }
}
