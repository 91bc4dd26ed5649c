/* What a phase needs at least under any routing: its bytes over the links that no switch chooses, and over all links of
 * a leaf together; and under an engine. */
#include "fab/least.h"

#include "fab/evaluate.h"
#include "fab/iterate.h"
#include "fab/parallel.h"
#include "measure_rates.h"

#define BITS 8.0

/* Bytes over links, out of leaves and into them; scratch. */
struct fab_least_ends {
    double *bytes, *sent, *received;
    double *most; /* [class of links] */
};

FAB_FREES(ends_release, struct fab_least_ends, bytes, sent, received, most);

void fab_least_memo_release(fab_least_memo *memo) {
    FAB_RELEASE_EACH(ends_release, memo->ends, memo->n_ends);
    FAB_FREE_ALL(memo->known, memo->ends);
    *memo = (fab_least_memo){.known = NULL};
}

static fab_status ends_open(const fab_fabric *f, uint32_t n_leaves, struct fab_least_ends *out, fab_error *err) {
    FAB_PASS(out->bytes == NULL ? FAB_NEW(out->bytes, f->n_links, err) : FAB_OK);
    FAB_PASS(out->sent == NULL ? FAB_NEW_ALL(n_leaves, err, out->sent, out->received) : FAB_OK);
    FAB_PASS(out->most == NULL ? FAB_NEW(out->most, f->n_classes, err) : FAB_OK);
    memset(out->bytes, 0, f->n_links * sizeof *out->bytes);
    memset(out->sent, 0, n_leaves * sizeof *out->sent);
    memset(out->received, 0, n_leaves * sizeof *out->received);
    return FAB_OK;
}

/* *hosts: of links outside the fabric alone. */
static double least_of(const fab_fabric *f, const fab_next_hops *next_hops, const double *bytes,
                       const struct fab_least_ends *e, double *hosts) {
    const uint32_t n_leaves = fab_next_hops_n_leaves(next_hops);
    double least = 0;
    memset(e->most, 0, f->n_classes * sizeof *e->most);
    for (uint32_t l = 0; l < f->n_links; l++) {
        double *most = &e->most[f->cable_class[l >> 1]];
        *most = bytes[l] > *most ? bytes[l] : *most;
    }
    for (uint16_t i = 0; i < f->n_classes; i++) {
        const double s = e->most[i] > 0 ? e->most[i] * BITS / f->classes[i].usable_bps : 0;
        least = fmax(least, s);
        *hosts = f->classes[i].kind == FAB_LINK_FABRIC ? *hosts : fmax(*hosts, s);
    }
    for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
        fab_node_id v = fab_next_hops_leaf(next_hops, leaf);
        double capacity = 0;
        FAB_EACH_LINK(f, v, link) {
            const fab_link_class *c = fab_class_of(f, link);
            capacity += c->kind == FAB_LINK_FABRIC ? c->capacity_bps : 0;
        }
        double most = fmax(e->sent[leaf], e->received[leaf]) * BITS;
        least = most > 0 && capacity > 0 ? fmax(least, most / capacity) : least;
    }
    return least;
}

static fab_status least_of_demand(fab_prepared_phase *s, struct fab_least_ends *e, fab_error *err) {
    const fab_demand *d = s->demand;
    FAB_PASS(ends_open(s->fabric, d->n_leaves, e, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t i = d->first[dst]; i < d->first[dst + 1]; i++) {
            e->sent[d->src[i]] += d->bytes[i];
            e->received[dst] += d->bytes[i];
        }
    }
    s->least_s = least_of(s->fabric, s->next_hops, d->segment_bytes, e, &s->hosts_s);
    return FAB_OK;
}

fab_status fab_least_time(fab_prepared_phase *s, fab_error *err) {
    FAB_OWNS(ends_release) struct fab_least_ends e = {.bytes = NULL};
    return least_of_demand(s, &e, err);
}

/* --- of all phases of a job --------------------------------------------------------------------------------------- */

/* A phase whose least time is to be found, or that of one like it. */
typedef struct open_phase {
    uint64_t hash[2];
    int power; /* of two, that its bytes have more */
    size_t known;
} open_phase;

typedef struct least_work {
    const fab_context *context;
    const fab_traffic *traffic;
    fab_least_memo *memo;
    bool wants_links;
    const open_phase *open; /* [phase] */
    const size_t *missing;
    size_t n_missing, n_threads;
    fab_workspace **workers; /* [thread] */
} least_work;

/* All that it depends on. Multiplied by a power of two it is found without rounding. */
static void hash_phase(const fab_phase *phase, bool wants_links, open_phase *out) {
    const fab_all_to_all *all = &phase->all;
    const size_t n = all->n > 0 ? 0 : (size_t)phase->n_flows;
    uint64_t bits = all->share == NULL ? all->bytes : 1;
    *out = (open_phase){.power = 0};
    for (size_t i = 0; i < n; i++) {
        bits |= phase->bytes[i];
    }
    for (; bits > 0 && (bits & 1) == 0; bits >>= 1) {
        out->power++;
    }
    const uint64_t what[] = {phase->n_flows,
                             all->first,
                             all->n,
                             all->n > 0 ? fab_all_group(all) : 0,
                             all->bytes >> out->power,
                             all->by_receiver,
                             phase->ordinal != NULL,
                             wants_links};
    fab_hash_words(what, sizeof what, out->hash);
    fab_hash_words(all->share, all->share != NULL ? fab_all_group(all) * sizeof *all->share : 0, out->hash);
    fab_hash_words(phase->src, n * sizeof *phase->src, out->hash);
    fab_hash_words(phase->dst, n * sizeof *phase->dst, out->hash);
    fab_hash_words(phase->ordinal, phase->ordinal != NULL ? n * sizeof *phase->ordinal : 0, out->hash);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bytes = phase->bytes[i] >> out->power;
        fab_hash_words(&bytes, sizeof bytes, out->hash);
    }
}

static fab_status find_ends(const least_work *w, size_t phase, struct fab_least_ends *e, double *out_s,
                            fab_error *err) {
    const fab_phase *of = &w->traffic->phases[phase];
    fab_prepared_phase s = {.fabric = fab_context_what(w->context)->fabric};
    FAB_PASS(fab_context_ports(w->context, &s.ports, err));
    FAB_PASS(fab_context_next_hops(w->context, &s.next_hops, err));
    if (of->all.n > 0) {
        FAB_PASS(fab_context_demand(w->context, phase, &s.demand, err));
        FAB_PASS(least_of_demand(&s, e, err));
    } else {
        FAB_PASS(ends_open(s.fabric, fab_next_hops_n_leaves(s.next_hops), e, err));
        FAB_PASS(fab_demand_ends(s.fabric, s.ports, s.next_hops, of, e->bytes, e->sent, e->received, err));
        s.least_s = least_of(s.fabric, s.next_hops, e->bytes, e, &s.hosts_s);
    }
    *out_s = s.least_s;
    return FAB_OK;
}

static fab_status find_links(const least_work *w, size_t phase, size_t worker, fab_least *out, fab_error *err) {
    fab_evaluated found;
    FAB_OWNED_NEW(fab_engine_result, detail, 1, err);
    FAB_PASS(w->workers[worker] == NULL ? fab_workspace_new(w->context, &w->workers[worker], err) : FAB_OK);
    const fab_case at = {.phase = phase};
    const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_LINKS_ALONE,
                             .detail = detail,
                             .n_threads = w->n_missing < w->n_threads ? w->n_threads / w->n_missing : 1};
    FAB_PASS(fab_evaluate(w->workers[worker], &at, &needs, &found, err));
    out->links_s = found.figures.busiest_link_s;
    out->path_s = detail->paths.n_flows > 0 ? detail->paths.latency_s.max : -1;
    return FAB_OK;
}

static fab_status find_least(void *context, size_t item, size_t worker, fab_error *err) {
    const least_work *w = context;
    const size_t i = w->missing[item];
    fab_least found = {.least_s = 0};
    FAB_PASS(find_ends(w, i, &w->memo->ends[worker], &found.least_s, err));
    FAB_PASS(w->wants_links ? find_links(w, i, worker, &found, err) : FAB_OK);
    found.least_s = ldexp(found.least_s, -w->open[i].power);
    found.links_s = ldexp(found.links_s, -w->open[i].power);
    w->memo->known[w->open[i].known].found = found;
    return FAB_OK;
}

static fab_status find_missing(least_work *w, fab_error *err) {
    fab_status status = fab_allocate(w->n_threads, sizeof(fab_workspace *), &w->workers, err);
    status = status == FAB_OK ? fab_parallel_for(w->n_missing, w->n_threads, find_least, w, err) : status;
    FAB_FREE_EACH(fab_workspace_free, w->workers, w->n_threads);
    free(w->workers);
    w->memo->n -= status == FAB_OK ? 0 : w->n_missing;
    return status;
}

fab_status fab_least_times(fab_least_memo *memo, const fab_context *context, size_t n_threads, bool wants_links,
                           fab_least *out, fab_error *err) {
    least_work w = {.context = context, .memo = memo, .wants_links = wants_links, .n_threads = n_threads};
    FAB_PASS(fab_context_traffic(context, &w.traffic, err));
    const size_t n = w.traffic->n_phases;
    FAB_OWNED_NEW(open_phase, open, n + 1, err);
    FAB_OWNED_NEW(size_t, missing, n + 1, err);
    if (memo->ends == NULL) {
        FAB_PASS(FAB_NEW(memo->ends, n_threads, err));
        memo->n_ends = n_threads;
    }
    for (size_t i = 0; i < n; i++) {
        open_phase *p = &open[i];
        const fab_phase *phase = &w.traffic->phases[i];
        if (!fab_iterate_is_shared(phase->name)) {
            continue;
        }
        hash_phase(phase, wants_links, p);
        for (p->known = 0; p->known < memo->n && memcmp(p->hash, memo->known[p->known].hash, sizeof p->hash) != 0;) {
            p->known++;
        }
        if (p->known == memo->n) {
            FAB_PASS(FAB_GROW(memo->known, memo->capacity, memo->n + 1, err));
            memcpy(memo->known[memo->n++].hash, p->hash, sizeof p->hash);
            missing[w.n_missing++] = i;
        }
    }
    w.open = open;
    w.missing = missing;
    FAB_PASS(w.n_missing > 0 ? find_missing(&w, err) : FAB_OK);
    for (size_t i = 0; i < n; i++) {
        out[i] = (fab_least){.least_s = 0};
        if (fab_iterate_is_shared(w.traffic->phases[i].name)) {
            out[i] = memo->known[open[i].known].found;
            out[i].least_s = ldexp(out[i].least_s, open[i].power);
            out[i].links_s = ldexp(out[i].links_s, open[i].power);
        }
    }
    return FAB_OK;
}
