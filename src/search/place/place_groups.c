/* Which placements are alike: symmetry of the fabric that is checked link by link. */
#include "place_internal.h"

/* --- servers of a group ------------------------------------------------------------------------------------------- */

/* Links of the NICs of a server to switches, one after the other; FAB_NONE behind the last. */
static fab_link_id access_link(const fab_fabric *f, uint32_t server, uint32_t k) {
    return fab_access_link(f, fab_nic_of_server(f, server), f->nics_per_server, k);
}

/* The first class of links that are alike but for their length: metres of cable move no bytes. */
static uint32_t link_class(const fab_fabric *f, fab_link_id link) {
    const fab_link_class *k = fab_class_of(f, link);
    uint32_t i = 0;
    while (f->classes[i].kind != k->kind || f->classes[i].tier != k->tier ||
           f->classes[i].usable_bps != k->usable_bps) {
        i++;
    }
    return i;
}

static uint32_t domain_of_server(const fab_fabric *f, uint32_t server) {
    return f->gpus_per_domain > f->gpus_per_server ? fab_domain_of(f, server * f->gpus_per_server) : 0;
}

/* To the same switches if `same`, else to others. */
static bool servers_match(const fab_fabric *f, uint32_t a, uint32_t b, bool same) {
    bool matches = !same || domain_of_server(f, a) == domain_of_server(f, b);
    for (uint32_t k = 0; matches; k++) {
        fab_link_id x = access_link(f, a, k);
        fab_link_id y = access_link(f, b, k);
        if (x == FAB_NONE || y == FAB_NONE) {
            return x == y && k > 0;
        }
        matches = link_class(f, x) == link_class(f, y) && (!same || fab_head(f, x) == fab_head(f, y));
    }
    return false;
}

/* --- groups of a kind --------------------------------------------------------------------------------------------- */

static uint32_t count_links(const fab_fabric *f, fab_node_id from, fab_node_id to, uint32_t class) {
    uint32_t n = 0;
    FAB_EACH_LINK(f, from, link) {
        n += fab_head(f, link) == to && link_class(f, link) == class;
    }
    return n;
}

/* Whether a leaf has `n_down` links to NICs, and the other as many, and both the same links to the same switches. */
static bool leaves_match(const fab_fabric *f, fab_node_id x, fab_node_id y, uint32_t n_down) {
    uint32_t n = f->out_first[x + 1] - f->out_first[x];
    uint32_t down[2] = {0, 0};
    if (n != f->out_first[y + 1] - f->out_first[y]) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        fab_link_id link = f->out_link[f->out_first[x] + i];
        fab_link_id other = f->out_link[f->out_first[y] + i];
        down[0] += fab_class_of(f, link)->kind == FAB_LINK_ACCESS;
        down[1] += fab_class_of(f, other)->kind == FAB_LINK_ACCESS;
        if (fab_class_of(f, link)->kind != FAB_LINK_ACCESS &&
            count_links(f, x, fab_head(f, link), link_class(f, link)) !=
                count_links(f, y, fab_head(f, link), link_class(f, link))) {
            return false;
        }
    }
    return down[0] == n_down && down[1] == n_down;
}

/* Whether exchanging the leaves of two groups, with all their servers, leaves the fabric as it is. a and b: a server
 * of each. */
static bool groups_match(const fab_fabric *f, uint32_t a, uint32_t b, uint32_t size) {
    if (f->gpus_per_domain > f->gpus_per_server || !servers_match(f, a, b, false)) {
        return false;
    }
    for (uint32_t k = 0; access_link(f, a, k) != FAB_NONE; k++) {
        fab_node_id x = fab_head(f, access_link(f, a, k));
        fab_node_id y = fab_head(f, access_link(f, b, k));
        uint32_t n_here = 0;
        for (uint32_t l = 0; access_link(f, a, l) != FAB_NONE; l++) {
            bool here = fab_head(f, access_link(f, a, l)) == x;
            if (here != (fab_head(f, access_link(f, b, l)) == y)) {
                return false;
            }
            n_here += here;
        }
        if (x == y || !leaves_match(f, x, y, size * n_here)) {
            return false;
        }
    }
    return true;
}

fab_status place_groups_init(const fab_fabric *fabric, const bool *usable, bool by_links, place_groups *out,
                             fab_error *err) {
    FAB_OWNS(place_groups_release) place_groups g = {.n = 0};
    FAB_OWNED uint32_t *first = NULL;
    FAB_PASS(FAB_NEW_ALL(fabric->n_servers, err, g.of, g.kind, g.size, first));
    for (uint32_t server = 0; server < fabric->n_servers; server++) {
        uint32_t group = by_links ? 0 : g.n;
        if (!usable[server]) {
            g.of[server] = FAB_NONE;
            continue;
        }
        while (group < g.n && !servers_match(fabric, first[group], server, true)) {
            group++;
        }
        if (group == g.n) {
            first[g.n++] = server;
        }
        g.of[server] = group;
        g.size[group]++;
    }
    for (uint32_t group = 0; group < g.n; group++) {
        FAB_FIRST_IN(like, by_links ? 0 : group, group,
                     g.kind[like] == like && g.size[like] == g.size[group] &&
                         groups_match(fabric, first[like], first[group], g.size[group]));
        g.kind[group] = like;
    }
    return FAB_GIVE(*out, g);
}

FAB_RELEASES(place_groups_release, place_groups, of, kind, size);

uint64_t place_digest(const place_groups *groups, const uint32_t *list, uint32_t n, uint32_t *scratch) {
    uint32_t *number = scratch;           /* of each group among those of its kind, in order of appearance */
    uint32_t *next = scratch + groups->n; /* of each kind */
    uint64_t digest = n;
    for (uint32_t group = 0; group < groups->n; group++) {
        number[group] = FAB_NONE;
        next[group] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = groups->of[list[i]];
        uint32_t kind = groups->kind[group];
        number[group] = number[group] == FAB_NONE ? next[kind]++ : number[group];
        digest = fab_draw(digest, kind, number[group]);
    }
    return digest;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const place_groups *groups;
    const uint32_t *first, *servers; /* servers of group g: first[g] ... first[g + 1] */
    uint32_t *used;                  /* shape [groups] */
    uint32_t *list, *choice;         /* shape [n] */
    uint32_t n;
} walk;

/* The next group from `group` on that may give the server at a position: of untouched ones of a kind the first. */
static uint32_t next_choice(const walk *w, uint32_t group) {
    for (; group < w->groups->n; group++) {
        bool is_first = true;
        for (uint32_t like = w->groups->kind[group]; w->used[group] == 0 && like < group && is_first; like++) {
            is_first = w->groups->kind[like] != w->groups->kind[group] || w->used[like] > 0;
        }
        if (is_first && w->used[group] < w->groups->size[group]) {
            break;
        }
    }
    return group;
}

/* Depth first, without recursion: choice[i] is the group of position i. */
static fab_status walk_all(walk *w, uint64_t limit, place_visit *visit, void *context, uint64_t *out_n,
                           fab_error *err) {
    uint32_t at = 0;
    uint32_t group = next_choice(w, 0);
    for (*out_n = 0; *out_n <= limit;) {
        if (group < w->groups->n) {
            w->choice[at] = group;
            w->list[at++] = w->servers[w->first[group] + w->used[group]++];
            if (at < w->n) {
                group = next_choice(w, 0);
                continue;
            }
            FAB_PASS(++*out_n <= limit && visit != NULL ? visit(context, w->list, err) : FAB_OK);
        }
        if (at == 0) {
            break;
        }
        at--;
        w->used[w->choice[at]]--;
        group = next_choice(w, w->choice[at] + 1);
    }
    return FAB_OK;
}

fab_status place_enumerate(const place_groups *groups, const uint32_t *all, uint32_t n_all, uint32_t n, uint64_t limit,
                           place_visit *visit, void *context, uint64_t *out_n, fab_error *err) {
    walk w = {.groups = groups, .n = n};
    FAB_OWNS_MEMBERS(w.used, w.list, w.choice);
    FAB_OWNED_NEW(uint32_t, first, (size_t)groups->n + 1, err);
    FAB_OWNED_NEW(uint32_t, servers, n_all, err);
    FAB_PASS(FAB_NEW(w.used, groups->n, err));
    FAB_PASS(FAB_NEW_ALL(n, err, w.list, w.choice));
    for (uint32_t group = 0; group < groups->n; group++) {
        first[group + 1] = first[group] + groups->size[group];
    }
    for (uint32_t i = 0; i < n_all; i++) {
        uint32_t group = groups->of[all[i]];
        servers[first[group] + w.used[group]++] = all[i];
    }
    FAB_FILL(w.used, groups->n, 0);
    w.first = first;
    w.servers = servers;
    return walk_all(&w, limit, visit, context, out_n, err);
}
