#include "fab/dependencies.h"

static size_t words_of(uint32_t n) {
    return ((size_t)n + 63) / 64;
}

static uint32_t ports_of(const fab_dependencies *d, uint32_t s) {
    return d->first[s + 1] - d->first[s];
}

fab_status fab_dependencies_init(const fab_fabric *f, fab_dependencies *out, fab_error *err) {
    FAB_OWNS(fab_dependencies_release) fab_dependencies d = {.fabric = f};
    uint32_t n_switches = fab_n_switches(f);
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL((size_t)n_switches + 1, err, d.first, d.word));
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, d.place, d.link));
    FAB_FILL(d.place, f->n_links, FAB_NONE);
    for (uint32_t s = 0; s < n_switches; s++) {
        FAB_EACH_LINK(f, base + s, link) {
            if (fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
                d.place[link] = n - d.first[s];
                d.link[n++] = link;
            }
        }
        d.first[s + 1] = n;
        d.word[s + 1] = d.word[s] + ports_of(&d, s) * words_of(ports_of(&d, s));
    }
    FAB_PASS(FAB_NEW(d.bit, d.word[n_switches], err));
    return FAB_GIVE(*out, d);
}

FAB_RELEASES(fab_dependencies_release, fab_dependencies, first, link, place, word, bit);

void fab_dependencies_add_routes(fab_dependencies *d, const fab_routes *routes) {
    const fab_fabric *f = d->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n_paths = routes->n_flows > 0 ? routes->flow_first[routes->n_flows] : 0;
    for (size_t path = 0; path < n_paths; path++) {
        uint32_t row = FAB_NONE; /* of the link before, at the switch that it leads to */
        for (size_t i = routes->path_first[path]; i < routes->path_first[path + 1]; i++) {
            fab_link_id link = routes->link[i];
            uint32_t column = d->place[link];
            if (column == FAB_NONE) {
                row = FAB_NONE;
                continue;
            }
            if (row != FAB_NONE) {
                uint32_t s = fab_tail(f, link) - base;
                uint64_t *word = &d->bit[d->word[s] + row * words_of(ports_of(d, s)) + column / 64];
                uint64_t bit = UINT64_C(1) << (column & 63);
                if ((*word & bit) == 0) { /* mostly it is set */
                    *word |= bit;
                }
            }
            row = d->place[link ^ 1U];
        }
    }
}

void fab_dependencies_merge(fab_dependencies *dependencies, const fab_dependencies *other) {
    size_t n_words = dependencies->word[fab_n_switches(dependencies->fabric)];
    for (size_t i = 0; i < n_words; i++) {
        dependencies->bit[i] |= other->bit[i];
    }
}

uint64_t fab_dependencies_count(const fab_dependencies *d) {
    uint64_t n = 0;
    size_t n_words = d->word[fab_n_switches(d->fabric)];
    for (size_t w = 0; w < n_words; w++) {
        n += (uint64_t)__builtin_popcountll(d->bit[w]);
    }
    return n;
}

uint64_t fab_dependencies_list(const fab_dependencies *d, const uint8_t *core, fab_link_id *from, fab_link_id *to) {
    size_t n = 0;
    for (uint32_t s = 0; s < fab_n_switches(d->fabric); s++) {
        const fab_link_id *link = d->link + d->first[s];
        const uint64_t *word = d->bit + d->word[s];
        for (uint32_t row = 0; row < ports_of(d, s); row++) {
            bool in = core == NULL || core[link[row] ^ 1U] != 0;
            for (uint32_t w = 0; w < words_of(ports_of(d, s)); w++) {
                for (uint64_t rest = in ? *word : 0; rest != 0; rest &= rest - 1) {
                    fab_link_id out = link[64 * w + (uint32_t)__builtin_ctzll(rest)];
                    if (core != NULL && core[out] == 0) {
                        continue;
                    }
                    if (from != NULL) {
                        from[n] = link[row] ^ 1U;
                        to[n] = out;
                    }
                    n++;
                }
                word++;
            }
        }
    }
    return n;
}

/* --- what can lie on a cycle -------------------------------------------------------------------------------------- */

typedef struct trim {
    const fab_dependencies *d;
    uint8_t *core;
    uint64_t *out;   /* columns of the switch at hand: links that are left, ... */
    uint64_t *met;   /* ... and those of them that some row asks for */
    uint32_t *queue; /* ring of the switches to look at, first come first served: tier by tier all that a switch waits
                        for is gone when its turn comes, where a stack would look at it again and again */
    uint8_t *queued; /* [switch]: stands there */
    uint32_t n_switches, head, n_queued;
} trim;

static void dependencies_look_at(trim *t, fab_node_id v) {
    uint32_t s = v - t->d->fabric->first[FAB_NODE_SWITCH];
    if (!t->queued[s]) {
        t->queued[s] = 1;
        uint32_t at = t->head + t->n_queued++; /* no more than all of them */
        t->queue[at < t->n_switches ? at : at - t->n_switches] = s;
    }
}

/* Takes away the links into and out of a switch that nothing follows, or that follow nothing. */
static void trim_switch(trim *t, uint32_t s) {
    const fab_dependencies *d = t->d;
    const fab_link_id *link = d->link + d->first[s];
    uint32_t n = ports_of(d, s);
    size_t words = words_of(n);
    for (size_t w = 0; w < words; w++) {
        t->out[w] = t->met[w] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        t->out[i / 64] |= (uint64_t)t->core[link[i]] << (i & 63);
    }
    for (uint32_t row = 0; row < n; row++) {
        const uint64_t *bits = d->bit + d->word[s] + row * words;
        fab_link_id in = link[row] ^ 1U;
        uint64_t any = 0;
        for (size_t w = 0; t->core[in] != 0 && w < words; w++) {
            any |= bits[w] & t->out[w];
            t->met[w] |= bits[w] & t->out[w];
        }
        if (t->core[in] != 0 && any == 0) {
            t->core[in] = 0;
            dependencies_look_at(t, fab_tail(d->fabric, in));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (t->core[link[i]] != 0 && (t->met[i / 64] >> (i & 63) & 1) == 0) {
            t->core[link[i]] = 0;
            dependencies_look_at(t, fab_head(d->fabric, link[i]));
        }
    }
}

fab_status fab_dependencies_core(const fab_dependencies *d, uint8_t *out_core, fab_error *err) {
    uint32_t n_switches = fab_n_switches(d->fabric);
    trim t = {.d = d, .core = out_core, .n_switches = n_switches};
    FAB_OWNS_MEMBERS(t.out, t.met, t.queue, t.queued);
    FAB_MOST(size_t, most, s, n_switches, words_of(ports_of(d, s)));
    FAB_PASS(FAB_NEW_ALL(most, err, t.out, t.met));
    FAB_PASS(FAB_NEW_ALL(n_switches, err, t.queue, t.queued));
    FAB_FILL(out_core, d->fabric->n_links, d->place[fab_at] != FAB_NONE);
    for (uint32_t s = 0; s < n_switches; s++) {
        dependencies_look_at(&t, d->fabric->first[FAB_NODE_SWITCH] + s);
    }
    while (t.n_queued > 0) {
        uint32_t s = t.queue[t.head];
        t.head = t.head + 1 < n_switches ? t.head + 1 : 0;
        t.n_queued--;
        t.queued[s] = 0;
        trim_switch(&t, s);
    }
    return FAB_OK;
}
