/* Classes of links: a first walk over all pairs gives every link a sum of hashes of (pair, share), which is the same
 * exactly for links that are used alike; a second one lists the classes of every pair. */
#include "link_classes.h"
#include "fab/id_table.h"
#include "fab/rng.h"
#include "fab/split_pairs.h"

#define MOST_STEPS  (UINT64_C(1) << 28) /* links of all pairs together: seconds */
#define MOST_LISTED (UINT64_C(1) << 27) /* classes of all pairs together: gigabytes */

typedef struct search {
    const fab_demand *demand;
    const fab_switch_classes *classes; /* links that are known to be alike; NULL: none */
    fab_pair_walk *walk;
    uint64_t *key;   /* [link] */
    uint32_t *first; /* [link]: of its class */
    uint64_t steps;
    bool too_large;
} search;

FAB_RELEASES(fab_link_classes_release, fab_link_classes, first, link, share);

static uint64_t quantised(double share) {
    int exponent = 0;
    double mantissa = frexp(share, &exponent);
    return (uint64_t)llround(ldexp(mantissa, 40)) ^ (uint64_t)(uint32_t)exponent << 48;
}

/* How many links the walk means by this one. */
static uint32_t count_of(const search *t, uint32_t link) {
    return t->classes != NULL ? t->classes->link_count[link] : 1;
}

static fab_status hash_pairs(search *t, fab_error *err) {
    const fab_demand *d = t->demand;
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t pair = d->first[dst]; pair < d->first[dst + 1]; pair++) {
            fab_pair_links links;
            FAB_PASS(fab_pair_walk_get(t->walk, d->src[pair], dst, &links, err));
            t->steps += links.n;
            if (t->steps > MOST_STEPS) {
                t->too_large = true;
                return FAB_OK;
            }
            for (uint32_t i = 0; i < links.n; i++) {
                double share = links.share[i] / count_of(t, links.link[i]);
                t->key[links.link[i]] += fab_mix64(fab_mix64(pair + UINT64_C(1)) ^ quantised(share));
            }
        }
    }
    return FAB_OK;
}

/* The first link of a class stands for it, with the capacity of all. */
static fab_status classify(search *t, uint32_t n_links, double *capacity, fab_error *err) {
    FAB_OWNS(fab_id_table_release) fab_id_table known = {.n = 0};
    FAB_OWNED_NEW(double, own, n_links, err); /* [link] */
    memcpy(own, capacity, n_links * sizeof *own);
    for (uint32_t l = 0; l < n_links; l++) {
        const uint32_t tag = (uint32_t)(t->key[l] >> 32);
        uint32_t head = l;
        size_t probe = 0;
        t->first[l] = l;
        if (t->key[l] == 0) {
            continue;
        }
        do {
            head = fab_id_table_next(&known, tag, &probe);
        } while (head != UINT32_MAX && (t->key[head] != t->key[l] || own[head] != own[l]));
        const double together = own[l] * count_of(t, l);
        if (head == UINT32_MAX) {
            FAB_PASS(fab_id_table_add_as(&known, tag, l, err));
            capacity[l] = together;
        } else {
            t->first[l] = head;
            capacity[head] += together;
        }
    }
    return FAB_OK;
}

static fab_status list_pairs(search *t, uint32_t n_links, fab_link_classes *out, fab_error *err) {
    const fab_demand *d = t->demand;
    size_t link_capacity = 0;
    size_t share_capacity = 0;
    uint64_t n = 0;
    FAB_OWNED_NEW(uint64_t, at, n_links, err); /* [link]: place of its class, + 1 */
    FAB_PASS(FAB_NEW(out->first, (size_t)d->n_pairs + 1, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t pair = d->first[dst]; pair < d->first[dst + 1]; pair++) {
            fab_pair_links links;
            FAB_PASS(fab_pair_walk_get(t->walk, d->src[pair], dst, &links, err));
            FAB_PASS(FAB_GROW(out->link, link_capacity, n + links.n, err));
            FAB_PASS(FAB_GROW(out->share, share_capacity, n + links.n, err));
            for (uint32_t i = 0; i < links.n; i++) {
                uint32_t first = t->first[links.link[i]];
                if (at[first] <= out->first[pair]) {
                    out->link[n] = first;
                    out->share[n] = 0;
                    at[first] = ++n;
                }
                out->share[at[first] - 1] += links.share[i];
            }
            out->first[pair + 1] = n;
            if (n > MOST_LISTED) {
                t->too_large = true;
                return FAB_OK;
            }
        }
    }
    return FAB_OK;
}

/* Switch classes of the DAG that the router's next hops make, where links that are alike have the same capacity here
 * too. */
static const fab_switch_classes *classes_for(const fab_prepared_phase *prepared, const fab_router *router,
                                             const fab_split *split, const double *capacity) {
    const fab_switch_classes *classes = fab_phase_switch_classes(prepared, router);
    return classes != NULL && fab_split_is_by_class(split) && fab_switch_classes_agree(classes, capacity) ? classes
                                                                                                          : NULL;
}

fab_status fab_link_classes_find(const fab_prepared_phase *prepared, const fab_router *router, const fab_split *split,
                                 double *capacity, fab_link_classes *out, fab_error *err) {
    uint32_t n_links = prepared->fabric->n_links;
    FAB_OWNS(fab_pair_walk_free_owned) fab_pair_walk *walk = NULL;
    FAB_OWNS(fab_link_classes_release) fab_link_classes found = {0};
    search t = {.demand = prepared->demand};
    FAB_OWNS_MEMBERS(t.key, t.first);
    FAB_PASS(FAB_NEW_ALL(n_links, err, t.key, t.first));
    FAB_PASS(fab_pair_walk_new(prepared->fabric, fab_router_next_hops(router), split, &walk, err));
    t.walk = walk;
    t.classes = classes_for(prepared, router, split, capacity);
    fab_pair_walk_by_class(t.walk, t.classes);
    FAB_PASS(hash_pairs(&t, err));
    if (!t.too_large) {
        FAB_PASS(classify(&t, n_links, capacity, err));
        FAB_PASS(list_pairs(&t, n_links, &found, err));
    }
    found.known = !t.too_large;
    return FAB_GIVE(*out, found);
}
