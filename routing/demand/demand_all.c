/* Demands of an all-to-all, counted.
 *
 * Flow i -> j of a group carries out[i] * in[j] bytes, and asks for that times the rate of a NIC over the larger of
 * S[i], what the fullest NIC of i sends, and R[j], what that of j receives. What j gets from GPUs that are sorted by S
 * is in[j] (sum of out over those with S <= R[j], over R[j], and the sum of out/S of the others): sums that are found
 * once for those of a group on a leaf, in every combination of a NIC of a GPU and a plane, less those of j's own
 * scale-up domain. GPUs on one leaf with the same R are looked at together.
 *
 * Where GPUs relay between rails, out[i] of a NIC has what the others of its domain send through it, and a flow stays
 * on one rail: groups are those of a rail. */
#include "demand.h"
#include "next_hops/next_hop_rows.h"

/* A GPU as a source or as a destination. */
typedef struct end {
    uint32_t major, minor, gpu;
    double most, weight;        /* S and out, or R and in */
    double own, squares, flows; /* own: without what it relays; squares, flows: of weight */
    double below, above;        /* sum of weight as far as here; of weight / most from here on */
} end;

/* Ends in a row with the same major and minor. */
typedef struct ends {
    const end *of;
    uint32_t n;
    double weight, squares, flows;
} ends;

/* Of one NIC of every GPU and one plane: sources and destinations, sorted. */
typedef struct combination {
    uint32_t *leaf; /* [gpu] */
    end *order[2];
    ends *run[2];
    uint32_t n_runs[2];
    uint32_t *first_run; /* [group + 1]: of sources, by leaf */
    uint32_t next;       /* run of destinations */
} combination;

typedef struct counter {
    const fab_demand_source *s;
    fab_demand *d;
    const fab_all_to_all *all;
    uint32_t n, size, n_groups; /* groups: by rail */
    const fab_sent *sent;
    uint32_t *group;                /* [gpu] */
    double *rate_each, *bytes_each; /* [gpu]: of its NIC, per unit of out */
    end *source, *target;           /* [gpu] */
    combination *combinations;      /* [n_parts] */
    uint64_t *parts;                /* [leaf], of the destination at hand; the next three alike */
    double *rates, *bytes, *squares;
} counter;

static uint32_t nic_of(const counter *c, uint32_t gpu, uint32_t nic) {
    const fab_ports *ports = c->s->ports;
    fab_link_id link = ports->gpu_nic[(size_t)(c->all->first + gpu) * ports->nics_per_gpu + nic];
    return fab_head(c->s->fabric, link) - c->s->fabric->first[FAB_NODE_NIC];
}

static fab_link_id access_of(const counter *c, uint32_t gpu, uint32_t part) {
    const fab_ports *ports = c->s->ports;
    return ports
        ->nic_access[(size_t)nic_of(c, gpu, part % ports->nics_per_gpu) * ports->n_planes + part / ports->nics_per_gpu];
}

static uint32_t all_to_all_leaf_of(const counter *c, uint32_t gpu, uint32_t part) {
    const fab_fabric *f = c->s->fabric;
    return c->s->next_hops->leaf_index[fab_head(f, access_of(c, gpu, part)) - f->first[FAB_NODE_SWITCH]];
}

static fab_gpu_range own_domain(const counter *c, uint32_t gpu) {
    fab_gpu_range own = fab_exchanged_in_domain(c->s->fabric, c->s->ports, c->all, c->all->first + gpu);
    own.first -= c->all->first;
    return own;
}

static void find_ends(counter *c) {
    const fab_all_to_all *all = c->all;
    const uint32_t n_rails = c->n_groups / (c->n / c->size);
    for (uint32_t g = 0; g < c->n; g++) {
        end *from = &c->source[g];
        end *to = &c->target[g];
        const double out = all->by_receiver ? 1 : (double)fab_all_bytes(all, g % c->size, 0);
        const double in = all->by_receiver ? (double)fab_all_bytes(all, 0, g % c->size) : 1;
        const fab_sent *sent = &c->sent[g];
        *from = (end){.gpu = g, .weight = sent->bytes, .own = out, .squares = sent->squares, .flows = sent->flows};
        *to = (end){.gpu = g, .weight = in, .own = in, .squares = in * in, .flows = 1};
        c->group[g] = g / c->size * n_rails + fab_relay_rail(c->s->fabric, c->s->ports, all->first + g);
        for (uint32_t i = 0; i < c->s->ports->nics_per_gpu; i++) {
            from->most = fmax(from->most, c->s->offer->sent[nic_of(c, g, i)]);
            to->most = fmax(to->most, c->s->offer->received[nic_of(c, g, i)]);
        }
    }
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

FAB_ORDER_KEYS(by_place, end, FAB_ORDER(a->major, b->major), FAB_ORDER(a->minor, b->minor), FAB_ORDER(a->most, b->most),
               FAB_ORDER(a->gpu, b->gpu));

/* Sorts, and sums up every run. */
static void add_up(end *of, uint32_t n, ends *runs, uint32_t *n_runs) {
    qsort(of, n, sizeof *of, by_place);
    *n_runs = 0;
    for (uint32_t i = 0; i < n; i++) {
        const bool same = i > 0 && of[i].major == of[i - 1].major && of[i].minor == of[i - 1].minor;
        if (!same) {
            runs[(*n_runs)++] = (ends){.of = &of[i]};
        }
        ends *run = &runs[*n_runs - 1];
        run->n++;
        run->weight += of[i].weight;
        run->squares += of[i].squares;
        run->flows += of[i].flows;
        of[i].below = run->weight;
    }
    for (uint32_t i = n; i > 0; i--) {
        const end *next = i < n && of[i].major == of[i - 1].major && of[i].minor == of[i - 1].minor ? &of[i] : NULL;
        of[i - 1].above =
            (of[i - 1].most > 0 ? of[i - 1].weight / of[i - 1].most : 0) + (next != NULL ? next->above : 0);
    }
}

static double over(double bits, double a, double b) {
    const double most = fmax(a, b);
    return most > 0 ? bits / most : 0;
}

/* Sum of weight * scale / max(most, x). */
static double sum_over(const ends *run, double x, double scale) {
    uint32_t low = 0;
    for (uint32_t high = run->n; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (run->of[middle].most <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (low > 0 && x > 0 ? run->of[low - 1].below * scale / x : 0) +
           (low < run->n ? run->of[low].above * scale : 0);
}

/* --- host segments ------------------------------------------------------------------------------------------------ */

static void add_segment(const counter *c, fab_link_id link, double rate, double bytes) {
    c->d->segment_rate[link] += rate;
    c->d->segment_bytes[link] += bytes;
}

/* What a GPU sends to its group, or gets from it: `all` of them, in their order, and sorted. */
static void add_one_way(const counter *c, const end *gpu, const ends *to, const end *all, uint32_t reverse) {
    const fab_ports *ports = c->s->ports;
    const fab_gpu_range own = own_domain(c, gpu->gpu);
    const double line_bps = c->s->offer->line_bps;
    double rate = own.n < c->size ? sum_over(to, gpu->most, line_bps) : 0;
    double inside = 0;
    double near = 0; /* inside, on its rail */
    for (uint32_t i = own.first; i < own.first + own.n; i++) {
        const bool is_near = c->group[i] == c->group[gpu->gpu];
        inside += all[i].own;
        near += is_near ? all[i].weight : 0;
        rate -= own.n < c->size && is_near ? over(all[i].weight * line_bps, gpu->most, all[i].most) : 0;
    }
    const double bytes = to->weight - near;
    rate = bytes > 0 ? rate : 0;
    for (uint32_t i = 0; i < c->d->n_parts; i++) {
        fab_link_id pcie =
            ports->gpu_nic[(size_t)(c->all->first + gpu->gpu) * ports->nics_per_gpu + i % ports->nics_per_gpu];
        const double part = gpu->weight / c->d->n_parts;
        add_segment(c, access_of(c, gpu->gpu, i) ^ reverse, rate * part, bytes * part);
        add_segment(c, pcie ^ reverse, rate * part, bytes * part);
    }
    if (own.n > 1) {
        add_segment(c, ports->gpu_scaleup[c->all->first + gpu->gpu] ^ reverse, 0,
                    gpu->own * (inside - all[gpu->gpu].own));
    }
    if (reverse == 0) {
        c->rate_each[gpu->gpu] = rate;
        c->bytes_each[gpu->gpu] = bytes;
    }
}

/* From a GPU to the others of its domain on the rails of the receivers, and on. */
static void add_relayed(const counter *c, uint32_t gpu) {
    const fab_ports *ports = c->s->ports;
    const fab_gpu_range own = own_domain(c, gpu);
    const end *from = &c->source[gpu];
    const double others = from->weight - from->own;
    const fab_link_id up = ports->gpu_scaleup[c->all->first + gpu];
    if (others > 0) {
        add_segment(c, up ^ 1U, others * c->rate_each[gpu], others * c->bytes_each[gpu]);
    }
    for (uint32_t rail = 0; own.n < c->size && rail < c->s->fabric->n_rails; rail++) {
        const uint32_t relay =
            ports
                ->gpu_on_rail[(size_t)fab_domain_of(c->s->fabric, c->all->first + gpu) * c->s->fabric->n_rails + rail] -
            c->all->first;
        if (c->group[relay] != c->group[gpu]) {
            add_segment(c, up, from->own * c->rate_each[relay], from->own * c->bytes_each[relay]);
        }
    }
}

static const ends *run_of(const combination *k, uint32_t way, uint32_t group) {
    uint32_t low = 0;
    for (uint32_t high = k->n_runs[way]; high - low > 1;) {
        const uint32_t middle = low + (high - low) / 2;
        *(k->run[way][middle].of->major <= group ? &low : &high) = middle;
    }
    return &k->run[way][low];
}

/* Groups as a whole, in the room of a combination. */
static void add_segments(const counter *c, combination *k) {
    for (uint32_t g = 0; g < c->n; g++) {
        k->order[0][g] = c->source[g];
        k->order[1][g] = c->target[g];
        k->order[0][g].major = k->order[1][g].major = c->group[g];
    }
    for (uint32_t way = 0; way < 2; way++) {
        add_up(k->order[way], c->n, k->run[way], &k->n_runs[way]);
    }
    for (uint32_t g = 0; g < c->n; g++) {
        add_one_way(c, &c->source[g], run_of(k, 1, c->group[g]), c->target, 0);
        add_one_way(c, &c->target[g], run_of(k, 0, c->group[g]), c->source, 1);
    }
    for (uint32_t g = 0; c->s->fabric->forwards_in_domain && g < c->n; g++) {
        add_relayed(c, g);
    }
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

/* Sources by group and leaf, destinations by leaf and group. */
static void sort_ends(const counter *c, uint32_t part, combination *k) {
    for (uint32_t g = 0; g < c->n; g++) {
        k->leaf[g] = all_to_all_leaf_of(c, g, part);
        k->order[0][g] = c->source[g];
        k->order[1][g] = c->target[g];
        k->order[0][g].minor = k->order[1][g].major = k->leaf[g];
        k->order[0][g].major = k->order[1][g].minor = c->group[g];
    }
    for (uint32_t way = 0; way < 2; way++) {
        add_up(k->order[way], c->n, k->run[way], &k->n_runs[way]);
    }
    uint32_t at = 0;
    for (uint32_t group = 0; group <= c->n_groups; group++) {
        while (at < k->n_runs[0] && k->run[0][at].of->major < group) {
            at++;
        }
        k->first_run[group] = at;
    }
}

/* What n GPUs with the same R and group receive. */
static void add_targets(const counter *c, const combination *k, const end *to, uint32_t n) {
    double weight = 0;
    double squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        weight += to[i].weight;
        squares += to[i].squares;
    }
    for (uint32_t r = k->first_run[to->minor]; r < k->first_run[to->minor + 1]; r++) {
        const ends *run = &k->run[0][r];
        const uint32_t leaf = run->of->minor;
        c->parts[leaf] += (uint64_t)run->flows * n;
        c->bytes[leaf] += run->weight * weight;
        c->squares[leaf] += run->squares * squares;
        c->rates[leaf] += sum_over(run, to->most, weight * c->s->offer->line_bps);
    }
    for (uint32_t i = 0; i < n; i++) {
        const fab_gpu_range own = own_domain(c, to[i].gpu);
        for (uint32_t g = own.first; g < own.first + own.n; g++) {
            const end *from = &c->source[g];
            const double bytes = from->weight * to[i].weight;
            if (c->group[g] != to->minor) {
                continue;
            }
            c->parts[k->leaf[g]] -= (uint64_t)from->flows;
            c->bytes[k->leaf[g]] -= bytes;
            c->squares[k->leaf[g]] -= from->squares * to[i].squares;
            c->rates[k->leaf[g]] -= over(bytes * c->s->offer->line_bps, from->most, to[i].most);
        }
    }
}

/* Destinations on leaf dst. */
static bool add_leaf(const counter *c, uint32_t dst, combination *k) {
    bool any = false;
    for (; k->next < k->n_runs[1] && k->run[1][k->next].of->major == dst; k->next++) {
        const ends *run = &k->run[1][k->next];
        for (uint32_t i = 0; i < run->n;) {
            uint32_t n = 1;
            while (i + n < run->n && run->of[i + n].most <= run->of[i].most) {
                n++;
            }
            add_targets(c, k, &run->of[i], n);
            i += n;
        }
        any = true;
    }
    return any;
}

static fab_status all_to_all_add_pairs(const counter *c, fab_error *err) {
    fab_demand *d = c->d;
    FAB_PASS(fab_demand_reserve(d, (uint64_t)d->n_leaves * d->n_leaves, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        bool any = false;
        for (uint32_t part = 0; part < d->n_parts; part++) {
            any = add_leaf(c, dst, &c->combinations[part]) || any;
        }
        for (uint32_t src = 0; any && src < d->n_leaves; src++) {
            if (c->parts[src] > 0 && src != dst) {
                d->squares[d->n_pairs] = fmax(c->squares[src], 0) / d->n_parts;
                const double rate = c->bytes[src] > 0 ? c->rates[src] / d->n_parts : 0; /* bytes are exact */
                fab_demand_add(d, src, c->parts[src], rate, c->bytes[src] / d->n_parts);
            }
            c->parts[src] = 0;
            c->rates[src] = c->bytes[src] = c->squares[src] = 0;
        }
        d->first[dst + 1] = d->n_pairs;
    }
    return FAB_OK;
}

static void all_to_all_release(counter *c) {
    for (uint32_t part = 0; c->combinations != NULL && part < c->d->n_parts; part++) {
        combination *k = &c->combinations[part];
        FAB_FREE_ALL(k->leaf, k->order[0], k->order[1], k->run[0], k->run[1], k->first_run);
    }
    FAB_FREE_ALL(c->combinations, c->source, c->target, c->parts, c->rates, c->bytes, c->squares, c->group,
                 c->rate_each, c->bytes_each);
}

fab_status fab_demand_count_all(const fab_demand_source *s, const fab_sent *sent, fab_demand *d, fab_error *err) {
    const fab_all_to_all *all = &s->phase->all;
    FAB_OWNS(all_to_all_release)
    counter c = {.s = s, .d = d, .all = all, .n = all->n, .size = fab_all_group(all), .sent = sent};
    c.n_groups = c.n / c.size * (s->fabric->forwards_in_domain ? s->fabric->n_rails : 1);
    FAB_PASS(FAB_NEW_ALL(c.n, err, c.source, c.target, c.group, c.rate_each, c.bytes_each));
    FAB_PASS(FAB_NEW(c.combinations, d->n_parts, err));
    FAB_PASS(FAB_NEW_ALL(d->n_leaves, err, c.parts, c.rates, c.bytes, c.squares));
    find_ends(&c);
    for (uint32_t part = 0; part < d->n_parts; part++) {
        combination *k = &c.combinations[part];
        FAB_PASS(FAB_NEW_ALL(c.n, err, k->leaf, k->order[0], k->order[1], k->run[0], k->run[1]));
        FAB_PASS(FAB_NEW(k->first_run, (size_t)c.n_groups + 1, err));
        if (part == 0) {
            add_segments(&c, k);
        }
        sort_ends(&c, part, k);
    }
    return all_to_all_add_pairs(&c, err);
}
