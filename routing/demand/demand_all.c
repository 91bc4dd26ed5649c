/* Demands of an all-to-all, counted.
 *
 * A combination is one of the NICs of a GPU and a plane: a flow has a part for each, between the leaves that its GPUs
 * have there. GPUs on the same leaf that have the same bytes to send (a NIC that several share has more) form a class.
 * Of the parts between two classes there are as many as pairs of members, less those of a scale-up domain, and all have
 * the same rate: bytes * NIC rate / the larger of what the two ends send, which is also what they receive. */
#include "demand.h"
#include "next_hops/next_hop_rows.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

/* Members of a class in a domain. */
typedef struct share {
    uint32_t other; /* class, or domain */
    uint32_t n;
} share;

typedef struct combination {
    uint32_t n_classes;
    uint32_t *leaf, *key;    /* [class]: by leaf */
    uint32_t *size;          /* [class] */
    uint32_t *class_of_leaf; /* [leaf + 1]: its classes */
    uint32_t n_leaves;       /* that have one */
    uint32_t *domain_first;  /* [domain + 1] into domain_share: classes */
    share *domain_share;
    uint32_t *class_first; /* [class + 1] into class_share: domains */
    share *class_share;
} combination;

typedef struct counter {
    const fab_demand_source *s;
    fab_demand *d;
    uint32_t first, n; /* GPUs */
    uint32_t n_domains;
    uint32_t *domain;     /* [gpu]: number of its domain, ascending */
    uint32_t *key;        /* [gpu]: index into sent */
    double *sent;         /* [key]: bytes that the fullest NIC of such a GPU sends */
    uint64_t *n_keyed;    /* [key]: GPUs */
    uint64_t *keyed_here; /* [key]: of the domain at hand */
    double *rate;         /* [key][key]: of a part */
    size_t n_keys, sent_capacity;
    combination *combinations; /* [n_parts] */
    uint64_t *parts, *own;     /* [leaf], [class]: of the destination at hand */
    double *rates;             /* [leaf] */
} counter;

static uint32_t nic_of(const counter *c, uint32_t gpu, uint32_t nic) {
    const fab_ports *ports = c->s->ports;
    fab_link_id link = ports->gpu_nic[(size_t)(c->first + gpu) * ports->nics_per_gpu + nic];
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

/* Domains, and the distinct amounts that GPUs send: few. */
static fab_status find_keys(counter *c, fab_error *err) {
    const fab_offer *offer = c->s->offer;
    uint32_t recent = 0;
    for (uint32_t g = 0; g < c->n; g++) {
        uint32_t gpu = c->first + g;
        bool same = g > 0 && c->s->ports->gpu_scaleup[gpu] != FAB_NONE &&
                    fab_domain_of(c->s->fabric, gpu) == fab_domain_of(c->s->fabric, gpu - 1);
        c->n_domains += !same;
        c->domain[g] = c->n_domains - 1;
        double most = 0;
        for (uint32_t i = 0; i < c->s->ports->nics_per_gpu; i++) {
            most = fmax(most, fmax(offer->sent[nic_of(c, g, i)], offer->received[nic_of(c, g, i)]));
        }
        if (c->n_keys == 0 || c->sent[recent] != most) {
            for (recent = 0; recent < c->n_keys && c->sent[recent] != most; recent++) {
            }
        }
        if (recent == c->n_keys) {
            FAB_PASS(FAB_GROW(c->sent, c->sent_capacity, c->n_keys + 1, err));
            c->sent[c->n_keys++] = most;
        }
        c->key[g] = recent;
    }
    FAB_PASS(FAB_NEW_ALL(c->n_keys, err, c->n_keyed, c->keyed_here));
    FAB_PASS(FAB_NEW(c->rate, c->n_keys * c->n_keys, err));
    for (uint32_t g = 0; g < c->n; g++) {
        c->n_keyed[c->key[g]]++;
    }
    for (size_t a = 0; a < c->n_keys; a++) {
        for (size_t b = 0; b < c->n_keys; b++) {
            double most = fmax(c->sent[a], c->sent[b]);
            double bytes = (double)c->s->phase->all.bytes;
            c->rate[a * c->n_keys + b] = most > 0 ? bytes * offer->line_bps / most / c->d->n_parts : 0;
        }
    }
    return FAB_OK;
}

/* --- host segments ------------------------------------------------------------------------------------------------ */

static void add_both(const counter *c, fab_link_id link, double rate, double bytes) {
    c->d->segment_rate[link] += rate;
    c->d->segment_bytes[link] += bytes;
    c->d->segment_rate[link ^ 1U] += rate;
    c->d->segment_bytes[link ^ 1U] += bytes;
}

/* As much goes in as out, at the same rates. */
static void add_gpu_segments(const counter *c, uint32_t gpu, uint64_t n_here) {
    const fab_ports *ports = c->s->ports;
    double bytes = (double)c->s->phase->all.bytes;
    double rate = 0;
    for (size_t key = 0; key < c->n_keys; key++) {
        rate += (double)(c->n_keyed[key] - c->keyed_here[key]) * c->rate[c->key[gpu] * c->n_keys + key];
    }
    double part = (double)(c->n - n_here) * (bytes / c->d->n_parts);
    for (uint32_t i = 0; i < c->d->n_parts; i++) {
        add_both(c, access_of(c, gpu, i), rate, part);
        add_both(c, ports->gpu_nic[(size_t)(c->first + gpu) * ports->nics_per_gpu + i % ports->nics_per_gpu], rate,
                 part);
    }
    if (n_here > 1) {
        add_both(c, ports->gpu_scaleup[c->first + gpu], 0, (double)(n_here - 1) * bytes);
    }
}

static void add_segments(counter *c) {
    for (uint32_t from = 0; from < c->n;) {
        uint32_t to = from;
        for (; to < c->n && c->domain[to] == c->domain[from]; to++) {
            c->keyed_here[c->key[to]]++;
        }
        for (uint32_t g = from; g < to; g++) {
            add_gpu_segments(c, g, to - from);
        }
        for (; from < to; from++) {
            c->keyed_here[c->key[from]] = 0;
        }
    }
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* Classes by leaf and key. class_of: [gpu] */
static fab_status find_classes(const counter *c, uint32_t part, combination *k, uint32_t *class_of, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n_leaves = c->d->n_leaves;
    uint32_t *count = NULL; /* [leaf][key], then the number of the class */
    FAB_TRY(FAB_NEW(count, n_leaves * c->n_keys, err));
    for (uint32_t g = 0; g < c->n; g++) {
        class_of[g] = (uint32_t)(all_to_all_leaf_of(c, g, part) * c->n_keys) + c->key[g];
        k->n_classes += count[class_of[g]]++ == 0;
    }
    FAB_TRY(FAB_NEW_ALL(k->n_classes, err, k->leaf, k->key, k->size));
    FAB_TRY(FAB_NEW(k->class_of_leaf, (size_t)n_leaves + 1, err));
    uint32_t n = 0;
    for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
        for (uint32_t key = 0; key < c->n_keys; key++) {
            uint32_t *at = &count[leaf * c->n_keys + key];
            if (*at > 0) {
                k->leaf[n] = leaf;
                k->key[n] = key;
                k->size[n] = *at;
                *at = n++;
            }
        }
        k->class_of_leaf[leaf + 1] = n;
        k->n_leaves += n > k->class_of_leaf[leaf];
    }
    for (uint32_t g = 0; g < c->n; g++) {
        class_of[g] = count[class_of[g]];
    }
done:
    free(count);
    return status;
}

/* Who shares a domain. Without scale-up domains nobody does. */
static fab_status find_shares(const counter *c, combination *k, const uint32_t *class_of, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *seen = NULL; /* [class]: where its share stands, if this belongs to the domain at hand */
    uint32_t n = 0;
    FAB_TRY(FAB_NEW(k->domain_first, (size_t)c->n_domains + 1, err));
    FAB_TRY(FAB_NEW(k->domain_share, c->n, err));
    FAB_TRY(FAB_NEW(k->class_first, (size_t)k->n_classes + 2, err));
    FAB_TRY(FAB_NEW(seen, k->n_classes, err));
    for (uint32_t g = 0; g < c->n; g++) {
        uint32_t domain = c->domain[g];
        uint32_t at = seen[class_of[g]];
        if (g == 0 || domain != c->domain[g - 1]) {
            k->domain_first[domain] = n;
        }
        if (at < k->domain_first[domain] || at >= n || k->domain_share[at].other != class_of[g]) {
            at = seen[class_of[g]] = n;
            k->domain_share[n++] = (share){class_of[g], 0};
            k->class_first[class_of[g] + 2]++;
        }
        k->domain_share[at].n++;
    }
    k->domain_first[c->n_domains] = n;
    FAB_TRY(FAB_NEW(k->class_share, n, err));
    for (uint32_t i = 0; i < k->n_classes; i++) {
        k->class_first[i + 2] += k->class_first[i + 1];
    }
    for (uint32_t domain = 0; domain < c->n_domains; domain++) {
        for (uint32_t i = k->domain_first[domain]; i < k->domain_first[domain + 1]; i++) {
            k->class_share[k->class_first[k->domain_share[i].other + 1]++] = (share){domain, k->domain_share[i].n};
        }
    }
done:
    free(seen);
    return status;
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

/* Adds what class `to` of a combination receives. */
static void add_class(const counter *c, const combination *k, uint32_t to) {
    const double *rate = c->rate + k->key[to] * c->n_keys;
    for (uint32_t i = k->class_first[to]; i < k->class_first[to + 1]; i++) {
        uint32_t domain = k->class_share[i].other;
        for (uint32_t j = k->domain_first[domain]; j < k->domain_first[domain + 1]; j++) {
            c->own[k->domain_share[j].other] += (uint64_t)k->class_share[i].n * k->domain_share[j].n;
        }
    }
    for (uint32_t from = 0; from < k->n_classes; from++) {
        uint64_t n = (uint64_t)k->size[from] * k->size[to] - c->own[from];
        c->own[from] = 0;
        c->parts[k->leaf[from]] += n;
        c->rates[k->leaf[from]] += (double)n * rate[k->key[from]];
    }
}

static fab_status all_to_all_add_pairs(const counter *c, fab_error *err) {
    fab_demand *d = c->d;
    uint64_t most = 0; /* pairs */
    for (uint32_t part = 0; part < d->n_parts; part++) {
        most += (uint64_t)c->combinations[part].n_leaves * c->combinations[part].n_leaves;
    }
    uint64_t all = (uint64_t)d->n_leaves * d->n_leaves;
    FAB_PASS(fab_demand_reserve(d, most < all ? most : all, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        bool any = false;
        for (uint32_t part = 0; part < d->n_parts; part++) {
            const combination *k = &c->combinations[part];
            for (uint32_t to = k->class_of_leaf[dst]; to < k->class_of_leaf[dst + 1]; to++) {
                add_class(c, k, to);
                any = true;
            }
        }
        for (uint32_t src = 0; any && src < d->n_leaves; src++) {
            if (c->parts[src] > 0 && src != dst) {
                fab_demand_add(d, src, c->parts[src], c->rates[src], (double)c->s->phase->all.bytes);
            }
            c->parts[src] = 0;
            c->rates[src] = 0;
        }
        d->first[dst + 1] = d->n_pairs;
    }
    return FAB_OK;
}

static void all_to_all_release(counter *c) {
    for (uint32_t part = 0; c->combinations != NULL && part < c->d->n_parts; part++) {
        combination *k = &c->combinations[part];
        FAB_FREE_ALL(k->leaf, k->key, k->size, k->class_of_leaf, k->domain_first, k->domain_share, k->class_first,
                     k->class_share);
    }
    FAB_FREE_ALL(c->combinations, c->domain, c->key, c->sent, c->n_keyed, c->keyed_here, c->rate, c->parts, c->own,
                 c->rates);
}

fab_status fab_demand_count_all(const fab_demand_source *s, fab_demand *d, fab_error *err) {
    fab_status status = FAB_OK;
    counter c = {.s = s, .d = d, .first = s->phase->all.first, .n = s->phase->all.n};
    uint32_t *class_of = NULL;
    uint32_t most_classes = 0;
    FAB_TRY(FAB_NEW_ALL(c.n, err, c.domain, c.key, class_of));
    FAB_TRY(FAB_NEW(c.combinations, d->n_parts, err));
    FAB_TRY(find_keys(&c, err));
    add_segments(&c);
    for (uint32_t part = 0; part < d->n_parts; part++) {
        combination *k = &c.combinations[part];
        FAB_TRY(find_classes(&c, part, k, class_of, err));
        FAB_TRY(find_shares(&c, k, class_of, err));
        most_classes = k->n_classes > most_classes ? k->n_classes : most_classes;
    }
    FAB_TRY(FAB_NEW(c.own, most_classes, err));
    FAB_TRY(FAB_NEW_ALL(d->n_leaves, err, c.parts, c.rates));
    FAB_TRY(all_to_all_add_pairs(&c, err));
done:
    free(class_of);
    all_to_all_release(&c);
    return status;
}
