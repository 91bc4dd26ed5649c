/* Classes of flows, and what a phase is whatever the engine. */
#include "fab/ranked.h"
#include "measure.h"

/* GPUs that exchange with each other, by the leaves that their ports are on. */
typedef struct grouping {
    uint32_t n_groups;
    uint32_t *group; /* [GPU - first] */
    uint32_t *size;  /* [group] */
    double *flows;   /* [group]: that its NICs send to each GPU */
    uint32_t *leaf;  /* [group][part]: column */
    uint32_t *apart; /* [group]: which exchange on one rail; all of one follow one another */
} grouping;

static uint32_t classes_leaf_of(const fab_prepared_phase *s, uint32_t gpu, uint32_t part) {
    const fab_ports *ports = s->ports;
    uint32_t nic_of_gpu = part % ports->nics_per_gpu;
    fab_link_id pcie = ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + nic_of_gpu];
    uint32_t nic = fab_head(s->fabric, pcie) - s->fabric->first[FAB_NODE_NIC];
    fab_link_id up = ports->nic_access[(size_t)nic * ports->n_planes + part / ports->nics_per_gpu];
    return fab_next_hops_column(s->next_hops, fab_head(s->fabric, up) - s->fabric->first[FAB_NODE_SWITCH]);
}

/* Groups with the same first leaf hang in a list: few, most often one. */
static void put_gpu(grouping *g, const fab_prepared_phase *s, const fab_sent *sent, uint32_t i, uint32_t apart,
                    uint32_t *head, uint32_t *next) {
    const uint32_t n_parts = s->demand->n_parts;
    uint32_t *mine = g->leaf + (size_t)g->n_groups * n_parts;
    FAB_FILL(mine, n_parts, classes_leaf_of(s, s->phase->all.first + i, (uint32_t)fab_at));
    uint32_t known = head[mine[0]]; /* group + 1 */
    while (known != 0 && g->apart[known - 1] == apart &&
           memcmp(g->leaf + (size_t)(known - 1) * n_parts, mine, n_parts * sizeof *mine) != 0) {
        known = next[known - 1];
    }
    if (known == 0 || g->apart[known - 1] != apart) { /* the latest come first */
        known = ++g->n_groups;
        g->apart[known - 1] = apart;
        next[known - 1] = head[mine[0]];
        head[mine[0]] = known;
    }
    g->group[i] = known - 1;
    g->size[known - 1]++;
    g->flows[known - 1] += sent[i].flows;
}

static fab_status group_gpus(const fab_prepared_phase *s, const fab_sent *sent, grouping *out, fab_error *err) {
    const fab_all_to_all *all = &s->phase->all;
    const uint32_t size = fab_all_group(all);
    const uint32_t n_rails = s->fabric->forwards_in_domain ? s->fabric->n_rails : 1;
    grouping g = {0};
    FAB_OWNS_MEMBERS(g.group, g.size, g.leaf, g.apart, g.flows);
    FAB_OWNED uint32_t *next = NULL;
    FAB_PASS(FAB_NEW_ALL(all->n, err, g.group, g.size, g.apart, next, g.flows));
    FAB_PASS(FAB_NEW(g.leaf, (size_t)all->n * s->demand->n_parts, err));
    FAB_OWNED_NEW(uint32_t, head, fab_next_hops_n_leaves(s->next_hops), err);
    for (uint32_t apart = 0; apart < all->n / size * n_rails; apart++) {
        for (uint32_t i = apart / n_rails * size; i < (apart / n_rails + 1) * size; i++) {
            if (fab_relay_rail(s->fabric, s->ports, all->first + i) == apart % n_rails) {
                put_gpu(&g, s, sent, i, apart, head, next);
            }
        }
    }
    return FAB_GIVE(*out, g);
}

/* Flows between two groups: all pairs of their GPUs but those of the same GPU or scale-up domain. `own` is the number
 * of the latter by source group, for one destination group. */
static void count_own(const fab_prepared_phase *s, const fab_sent *sent, const grouping *g, uint32_t to,
                      const uint32_t *by_group, const uint32_t *first_of, uint64_t *own) {
    const fab_all_to_all *all = &s->phase->all;
    for (uint32_t k = first_of[to]; k < first_of[to + 1]; k++) {
        const fab_gpu_range mine = fab_exchanged_in_domain(s->fabric, s->ports, all, all->first + by_group[k]);
        for (uint32_t other = mine.first; other < mine.first + mine.n; other++) {
            const uint32_t i = other - all->first;
            own[g->group[i]] += (uint64_t)sent[i].flows; /* on another rail: not looked at */
        }
    }
}

static fab_status classes_of_groups(const fab_prepared_phase *s, const fab_sent *sent, const grouping *g,
                                    fab_flow_classes *out, fab_error *err) {
    uint32_t n_parts = s->demand->n_parts;
    uint32_t n = s->phase->all.n;
    size_t n_classes = 0;
    uint32_t low = 0; /* groups of one exchange */
    uint32_t high = 0;
    FAB_OWNS(fab_flow_classes_release) fab_flow_classes c = {.n_parts = n_parts};
    for (uint32_t k = 0; k < g->n_groups; k++) {
        low = g->apart[k] != g->apart[low] ? k : low;
        n_classes += 2 * (size_t)(k - low) + 1;
    }
    FAB_PASS(FAB_NEW(c.own_pair, n_classes * n_parts, err));
    FAB_PASS(FAB_NEW(c.own_count, n_classes, err));
    FAB_OWNED_NEW(uint32_t, by_group, n, err);
    FAB_OWNED_NEW(uint32_t, first_of, (size_t)g->n_groups + 2, err);
    FAB_OWNED_NEW(uint64_t, own, g->n_groups, err);
    fab_sort_by_key(g->group, NULL, n, g->n_groups, first_of, by_group);
    for (uint32_t to = 0; to < g->n_groups; to++) {
        low = to < high ? low : to;
        for (high = to < high ? high : to; high < g->n_groups && g->apart[high] == g->apart[low];) {
            high++;
        }
        memset(own + low, 0, (high - low) * sizeof *own);
        count_own(s, sent, g, to, by_group, first_of, own);
        for (uint32_t from = low; from < high; from++) {
            uint64_t count = (uint64_t)g->flows[from] * g->size[to] - own[from];
            if (count == 0) {
                continue;
            }
            for (uint32_t p = 0; p < n_parts; p++) {
                c.own_pair[c.n * n_parts + p] =
                    fab_demand_find(s->demand, g->leaf[(size_t)from * n_parts + p], g->leaf[(size_t)to * n_parts + p]);
            }
            c.own_count[c.n++] = count;
        }
    }
    c.pair = c.own_pair;
    c.count = c.own_count;
    return FAB_GIVE(*out, c);
}

/* GPUs relay between rails, so that the ends of a flow depend on both: one by one. */
static fab_status classes_one_by_one(const fab_prepared_phase *s, fab_flow_classes *out, fab_error *err) {
    uint32_t n_parts = s->demand->n_parts;
    FAB_OWNS(fab_flow_classes_release) fab_flow_classes c = {.n_parts = n_parts};
    FAB_PASS(FAB_NEW(c.own_pair, s->phase->n_flows * n_parts, err));
    for (uint64_t flow = 0; flow < s->phase->n_flows; flow++) {
        for (uint32_t p = 0; p < n_parts; p++) {
            c.own_pair[flow * n_parts + p] =
                fab_demand_pair(s->demand, s->fabric, s->ports, s->next_hops, s->phase, flow, p);
        }
    }
    c.n = s->phase->n_flows;
    c.pair = c.own_pair;
    return FAB_GIVE(*out, c);
}

fab_status fab_flow_classes_init(const fab_prepared_phase *s, fab_flow_classes *out, fab_error *err) {
    grouping groups = {0};
    FAB_OWNS_MEMBERS(groups.group, groups.size, groups.leaf, groups.apart, groups.flows);
    FAB_OWNED fab_sent *sent = NULL;
    if (s->phase->all.n == 0) {
        *out = (fab_flow_classes){.n = s->phase->n_flows, .n_parts = s->demand->n_parts, .pair = s->demand->pair_of};
        return FAB_OK;
    }
    FAB_PASS(fab_relay_sent(s->fabric, s->ports, &s->phase->all, &sent, err));
    if (sent == NULL) {
        FAB_PASS(classes_one_by_one(s, out, err));
    } else {
        FAB_PASS(group_gpus(s, sent, &groups, err));
        FAB_PASS(classes_of_groups(s, sent, &groups, out, err));
    }
    return FAB_OK;
}

FAB_RELEASES(fab_flow_classes_release, fab_flow_classes, own_pair, own_count);

/* --- what a phase is ---------------------------------------------------------------------------------------------- */

static bool in_domain(const fab_prepared_phase *s, uint32_t a, uint32_t b) {
    return s->ports->gpu_scaleup[a] != FAB_NONE && fab_domain_of(s->fabric, a) == fab_domain_of(s->fabric, b);
}

static void count_network_flows(const fab_prepared_phase *s, fab_phase_result *out) {
    const fab_phase *phase = s->phase;
    if (phase->all.n == 0) {
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            bool leaves = !in_domain(s, phase->src[i], phase->dst[i]);
            out->network_flows += leaves;
            out->network_bytes += leaves ? phase->bytes[i] : 0;
        }
        return;
    }
    out->network_flows = fab_all_leaving(s->fabric, s->ports, &phase->all, &out->network_bytes);
}

/* Flows whose minimal routes cross a boundary. */
static fab_status count_crossings(const fab_prepared_phase *s, fab_phase_result *out, fab_error *err) {
    const fab_flow_classes *c = &s->classes;
    FAB_OWNED_NEW(double, x, s->fabric->n_links, err);
    FAB_OWNED_NEW(double, crosses, s->demand->n_pairs, err);
    for (uint32_t t = 1; t <= s->fabric->n_boundaries; t++) { /* 1: any fabric link */
        for (uint32_t l = 0; l < s->fabric->n_links; l++) {
            const fab_link_class *k = fab_class_of(s->fabric, l);
            x[l] = k->kind == FAB_LINK_FABRIC && (t == 1 || k->tier == t) ? 1 : 0;
        }
        FAB_PASS(fab_split_fold(s->dag, fab_split_even(), FAB_FOLD_MAX, x, s->demand, crosses, err));
        uint64_t n = 0;
        for (size_t i = 0; i < c->n; i++) {
            bool any = false;
            for (uint32_t p = 0; p < c->n_parts && !any; p++) {
                uint32_t pair = c->pair[i * c->n_parts + p];
                any = pair != FAB_NONE && crosses[pair] > 0;
            }
            n += any ? (c->count != NULL ? c->count[i] : 1) : 0;
        }
        *(t == 1 ? &out->fabric_flows : &out->crossing_flows[t]) = n;
    }
    return FAB_OK;
}

/* What the fullest of the leaves with the most cables to NICs sends up, over their mean: 1 where groups of servers
 * stand on them alike. */
static fab_status measure_leaves(const fab_prepared_phase *s, fab_phase_result *out, fab_error *err) {
    const fab_fabric *f = s->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    double widest = 0, most = 0, sum = 0, n = 0;
    FAB_OWNED double *load = NULL;
    FAB_OWNED double *nics = NULL;
    FAB_PASS(FAB_NEW_ALL(fab_n_switches(f), err, load, nics));
    for (uint32_t l = 0; l < f->n_links; l += 2) {
        const fab_link_class *k = fab_class_of(f, l);
        if (k->tier == 1) {
            double *at = &nics[fab_head(f, l) - base];
            widest = fmax(widest, ++*at);
        } else if (k->kind == FAB_LINK_FABRIC && k->tier == 2) {
            load[fab_tail(f, l) - base] += s->spray[l] * k->capacity_bps;
        }
    }
    for (size_t i = 0; i < fab_n_switches(f); i++) {
        if (nics[i] > 0 && nics[i] >= widest) {
            most = fmax(most, load[i]);
            sum += load[i];
            n++;
        }
    }
    out->leaf_cables = (uint64_t)widest;
    out->leaf_excess_ratio = sum > 0 ? most * n / sum : 0;
    return FAB_OK;
}

/* Names of NICs, where all of them are numbered as ranges. */
static void name_nics(const fab_fabric *f, const uint32_t *nic, size_t n, char out[FAB_FULLEST_SIZE]) {
    out[0] = '\0';
    if (f->names == NULL && n > 1) {
        fab_append(out, FAB_FULLEST_SIZE, "nic-");
        (void)fab_write_ranges(out + 4, FAB_FULLEST_SIZE - 4, nic, n, ',');
        return;
    }
    for (size_t i = 0; i < n; i++) {
        fab_append(out, FAB_FULLEST_SIZE, "%s%s", i > 0 ? ", " : "", FAB_SAY_NODE(f, f->first[FAB_NODE_NIC] + nic[i]));
    }
}

static fab_status find_fullest_nics(const fab_prepared_phase *s, fab_phase_result *out, fab_error *err) {
    const fab_fabric *f = s->fabric;
    const uint32_t first = f->first[FAB_NODE_NIC];
    const uint32_t n = fab_n_of(f, FAB_NODE_NIC);
    uint32_t named[FAB_FULLEST_NICS];
    FAB_OWNED_NEW(double, needs_s, n, err);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        if (k->kind == FAB_LINK_ACCESS) {
            const bool is_sent = fab_kind_of(f, fab_tail(f, l)) == FAB_NODE_NIC;
            double *its_s = &needs_s[(is_sent ? fab_tail(f, l) : fab_head(f, l)) - first];
            *its_s = fmax(*its_s, s->demand->segment_bytes[l] * 8 / k->usable_bps);
            out->fullest_nic_s = fmax(out->fullest_nic_s, *its_s);
        }
    }
    for (uint32_t nic = 0; nic < n && out->fullest_nic_s > 0; nic++) {
        if (needs_s[nic] < out->fullest_nic_s * (1 - FAB_FULLEST_TIE)) {
            out->next_nic_s = fmax(out->next_nic_s, needs_s[nic]);
        } else if (out->n_fullest_nics++ < FAB_FULLEST_NICS) {
            named[out->n_fullest_nics - 1] = nic;
        }
    }
    const uint32_t n_named = out->n_fullest_nics < FAB_FULLEST_NICS ? out->n_fullest_nics : FAB_FULLEST_NICS;
    name_nics(f, named, n_named, out->fullest_nic);
    return FAB_OK;
}

fab_status fab_measure_phase(const fab_prepared_phase *s, const fab_bound *bound, fab_phase_result *out,
                             fab_error *err) {
    const fab_phase *phase = s->phase;
    const fab_fabric *f = s->fabric;
    FAB_FORMAT(out->name, "%s", phase->name);
    FAB_FORMAT(out->collective, "%s", phase->collective);
    FAB_FORMAT(out->formula, "%s", phase->formula);
    FAB_FORMAT(out->algorithm, "%s", phase->algorithm);
    out->run = phase->run;
    out->alternative = phase->alternative;
    out->flows = phase->n_flows;
    out->bytes = phase->total_bytes;
    out->steps = phase->steps;
    out->executions = phase->executions;
    out->communicators = phase->n_comms;
    out->least_s = s->least_s;
    out->hosts_s = s->hosts_s;
    out->relay_s = s->relay_s;
    count_network_flows(s, out);
    FAB_PASS(find_fullest_nics(s, out, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = &f->classes[f->cable_class[l >> 1]];
        if (k->kind == FAB_LINK_FABRIC) {
            out->taper_by_tier[k->tier] = fmax(out->taper_by_tier[k->tier], s->spray[l]);
            out->max_taper_factor = fmax(out->max_taper_factor, s->spray[l]);
        }
    }
    if (bound != NULL) {
        out->has_bound = true;
        out->bound_method = bound->method == FAB_BOUND_LP        ? "linear program"
                            : bound->method == FAB_BOUND_WEIGHTS ? "multiplicative weights"
                            : bound->method == FAB_BOUND_SPRAY   ? "even splitting"
                                                                 : "no choice";
        out->utilisation_bound = fab_least_utilisation(bound);
        out->reached_utilisation = fmax(bound->upper, bound->segment);
        out->bound_rounds = bound->rounds;
        out->bound_columns = bound->columns;
        out->bound_rows = bound->rows;
    }
    for (uint32_t t = 2; t <= f->n_tiers && fab_is_tree(f); t++) {
        out->cut_by_tier[t] = s->cuts.by_tier[t];
        out->max_cut_factor = fmax(out->max_cut_factor, s->cuts.by_tier[t]);
    }
    out->max_cut_factor = fmax(out->max_cut_factor, bound != NULL && fab_is_tree(f) ? bound->lower : 0);
    FAB_PASS(fab_is_tree(f) && f->n_tiers > 1 ? measure_leaves(s, out, err) : FAB_OK);
    return count_crossings(s, out, err);
}
