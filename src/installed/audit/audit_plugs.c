/* Homes of servers: most servers of a group are plugged into the same switches, port by port, and one that shares most
 * of them belongs there too. Where no two servers share their switches, they share how their ports are spread over
 * them: all on one, or half on one and half on another. */
#include "audit_plugs.h"

#include "../structure/box_names.h"

#include "fab/fnv.h"
#include "fab/rng.h"
#include "fab/str.h"

#define NONE      FAB_NETWORK_NONE
#define MOST_SLOT 4096
#define SOME      0.25 /* part of the servers of a kind that shows what the others lost */

/* --- plugs -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_THREE(by_column, audit_plug, server, column, side);

FAB_ORDER_THREE(by_leaf, audit_plug, leaf, column, side);

static uint32_t port_number(const fab_network_end *end) {
    const char *digits = end->port != NULL ? strpbrk(end->port, "0123456789") : NULL;
    return digits != NULL ? (uint32_t)strtoul(digits, NULL, 10) : 0;
}

fab_network_end audit_plug_end(const audit_plugs *p, const audit_plug *plug) {
    fab_network_end end = *fab_network_near(p->a->net, plug->side);
    end.node = plug->node; /* who stands there now is another, where servers in each other's place were put back */
    return end;
}

uint32_t audit_port_number(const audit_plugs *p, const audit_plug *plug) {
    return port_number(fab_network_far(p->a->net, plug->side));
}

bool audit_port_is_free(const audit_plugs *p, uint32_t leaf, uint32_t port) {
    const fab_shape *s = p->a->shape;
    FAB_ANY_IN(found, j, s->first[leaf], s->first[leaf + 1],
               port_number(fab_network_near(p->a->net, s->side[j])) == port);
    return port > 0 && !found;
}

static fab_status gather(audit_plugs *p, fab_error *err) {
    const auditor *a = p->a;
    const fab_shape *s = a->shape;
    uint32_t *seen = NULL; /* [server]: adapters without a number so far */
    FAB_PASS(FAB_NEW(p->plug, (size_t)a->net->n_cables + 1, err));
    FAB_PASS(FAB_NEW(p->first, (size_t)s->n_servers + 2, err));
    FAB_PASS(FAB_NEW(seen, (size_t)s->n_servers + 1, err));
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        uint32_t server = s->server[v];
        uint32_t slot = s->slot[v];
        if (server == NONE || !fab_network_is_host(a->net, v)) {
            continue;
        }
        slot = slot == NONE || slot >= MOST_SLOT ? seen[server]++ : slot;
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t leaf = fab_network_far(a->net, s->side[k])->node;
            if (fab_audit_is_switch(a, leaf) && p->n < a->net->n_cables) {
                uint32_t port = port_number(fab_network_near(a->net, s->side[k])) & 63;
                p->plug[p->n++] = (audit_plug){.server = server,
                                               .column = slot * 64 + port,
                                               .node = v,
                                               .side = s->side[k],
                                               .leaf = leaf,
                                               .should = NONE,
                                               .or_else = NONE};
            }
        }
    }
    free(seen);
    qsort(p->plug, p->n, sizeof *p->plug, by_leaf);
    for (uint32_t i = 0; i < p->n; i++) {
        bool same = i > 0 && p->plug[i].leaf == p->plug[i - 1].leaf && p->plug[i].column == p->plug[i - 1].column;
        p->n_keys += !same;
        p->plug[i].key = p->n_keys - 1;
    }
    qsort(p->plug, p->n, sizeof *p->plug, by_column);
    for (uint32_t i = 0; i < p->n; i++) {
        p->plug[i].place = i;
        p->first[p->plug[i].server + 1]++;
    }
    FAB_ADD_UP(p->first, s->n_servers);
    return FAB_OK;
}

typedef struct named_server {
    const char *name;
    uint32_t server;
} named_server;

FAB_ORDER_KEYS(by_name, named_server, fab_compare_names(a->name, b->name), FAB_ORDER(a->server, b->server));

bool audit_last_number(const char *name, size_t *out_place, size_t *out_end) {
    size_t end = strlen(name);
    while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9')) {
        end--;
    }
    size_t place = end;
    while (place > 0 && name[place - 1] >= '0' && name[place - 1] <= '9') {
        place--;
    }
    *out_place = place;
    *out_end = end;
    return place < end;
}

static uint64_t row_of(const char *name) {
    size_t place = 0;
    size_t end = 0;
    return audit_last_number(name, &place, &end)
               ? fab_fnv(fab_fnv(FAB_FNV_BEGIN, name, place), name + end, strlen(name + end) + 1)
               : fab_fnv(FAB_FNV_BEGIN, name, strlen(name));
}

static fab_status rank_servers(audit_plugs *p, fab_error *err) {
    const fab_shape *s = p->a->shape;
    FAB_OWNED named_server *all = NULL;
    FAB_PASS(FAB_NEW_ALL((size_t)s->n_servers + 1, err, p->rank, p->pattern, p->row, all));
    for (uint32_t i = 0; i < s->n_servers; i++) {
        all[i] = (named_server){s->server_name[i], i};
        p->pattern[i] = fab_name_pattern(s->server_name[i]);
        p->row[i] = row_of(s->server_name[i]);
    }
    qsort(all, s->n_servers, sizeof *all, by_name);
    for (uint32_t i = 0; i < s->n_servers; i++) {
        p->rank[all[i].server] = i;
    }
    return FAB_OK;
}

/* --- homes -------------------------------------------------------------------------------------------------------- */

typedef struct signed_server {
    uint64_t signature;
    uint32_t server, rank, n_same;
} signed_server;

FAB_ORDER_TWO(by_signature, signed_server, signature, rank);

FAB_ORDER_KEYS(by_frequency, signed_server, FAB_ORDER(b->n_same, a->n_same), FAB_ORDER(a->signature, b->signature),
               FAB_ORDER(a->rank, b->rank));

static void count_same(signed_server *list, uint32_t n) {
    qsort(list, n, sizeof *list, by_signature);
    FAB_EACH_RUN(uint32_t, i, next, n, list[next].signature == list[i].signature) {
        for (uint32_t k = i; k < next; k++) {
            list[k].n_same = next - i;
        }
    }
    qsort(list, n, sizeof *list, by_frequency);
}

/* The home that most plugs of a server are claimed by; of equal ones `like`. */
static uint32_t best_home(const audit_plugs *p, uint32_t server, const uint32_t *claim, uint32_t *votes, uint32_t like,
                          uint32_t *out_votes) {
    uint32_t best = NONE;
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
            uint32_t h = claim[p->plug[i].key];
            if (h == NONE) {
                continue;
            }
            if (pass == 0) {
                votes[h]++;
            } else if (pass == 1) {
                best = best == NONE || votes[h] > votes[best] || (votes[h] == votes[best] && h == like) ? h : best;
            } else if (h != best) {
                votes[h] = 0;
            }
        }
    }
    *out_votes = best != NONE ? votes[best] : 0;
    if (best != NONE) {
        votes[best] = 0;
    }
    return best;
}

static fab_status find_homes(audit_plugs *p, fab_error *err) {
    uint32_t n = p->a->shape->n_servers;
    FAB_OWNED signed_server *list = NULL;
    FAB_OWNED uint32_t *votes = NULL;
    FAB_OWNED uint32_t *by_rank = NULL; /* home by the place of the name */
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, list, votes, by_rank, p->home, p->home_of, p->stood));
    FAB_OWNED_NEW(uint32_t, claim, (size_t)p->n_keys + 1, err);
    memset(claim, 0xff, p->n_keys * sizeof *claim);
    memset(p->home_of, 0xff, n * sizeof *p->home_of);
    memset(by_rank, 0xff, n * sizeof *by_rank);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (signed_server){.server = i, .rank = p->rank[i]};
        for (uint32_t k = p->first[i]; k < p->first[i + 1]; k++) {
            list[i].signature += fab_mix64(p->plug[k].key + 1);
        }
    }
    count_same(list, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = list[i].server;
        uint32_t own = p->first[s + 1] - p->first[s];
        uint32_t got = 0;
        uint32_t before = list[i].rank > 0 ? by_rank[list[i].rank - 1] : NONE;
        uint32_t behind = list[i].rank + 1 < n ? by_rank[list[i].rank + 1] : NONE;
        uint32_t best = own > 0 ? best_home(p, s, claim, votes, before, &got) : NONE;
        best = best != before && own > 0 ? best_home(p, s, claim, votes, behind, &got) : best;
        bool is_beside = best == before || best == behind;
        bool joins = best != NONE && (2 * got > own || (2 * got == own && list[i].n_same == 1 && is_beside));
        bool is_exact =
            joins && got == own && p->first[p->home[best].server + 1] - p->first[p->home[best].server] == own;
        if (!joins) {
            best = p->n_homes++;
            p->home[best] = (audit_home){.server = s};
            is_exact = true;
        }
        p->home_of[s] = by_rank[list[i].rank] = best;
        p->home[best].n_all++;
        p->home[best].n_exact += is_exact;
        for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
            uint32_t *of = &claim[p->plug[k].key];
            *of = *of == NONE ? best : *of;
        }
    }
    for (uint32_t i = 0; i < n; i++) { /* one by itself, or a home of which half are exceptions, is no rule */
        const audit_home *h = &p->home[p->home_of[i]];
        if (h->n_exact < 2 || 2 * h->n_exact <= h->n_all) {
            p->home_of[i] = NONE;
        }
    }
    return FAB_OK;
}

/* --- what peers have ---------------------------------------------------------------------------------------------- */

/* Ports of a server, and where they are spread alike: a number for each leaf in the order of first use. */
static uint64_t spread_of(const audit_plugs *p, uint32_t server, bool with_leaves) {
    uint64_t signature = fab_mix64(p->pattern[server]);
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        uint32_t same = i;
        for (uint32_t k = p->first[server]; with_leaves && k < i; k++) {
            if (p->plug[k].leaf == p->plug[i].leaf) {
                same = k;
                break;
            }
        }
        uint32_t part = with_leaves ? same - p->first[server] : 0;
        signature += fab_mix64(((uint64_t)p->plug[i].column << 20 | part) + 1);
    }
    return signature;
}

/* By kind of name a server that shows what its peers have. With leaves: the spread that most of them have. Else the
 * one with most ports, of those that several have: others may have lost some. */
static fab_status find_templates(audit_plugs *p, bool with_leaves, uint32_t *template_, uint32_t *n_peers,
                                 uint32_t *n_kind, fab_error *err) {
    uint32_t n = p->a->shape->n_servers;
    FAB_OWNED signed_server *list = NULL;
    FAB_OWNED signed_server *kinds = NULL; /* by pattern of names, of a kind those of the most frequent spread first */
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, list, kinds));
    for (uint32_t i = 0; i < n; i++) {
        list[i] = (signed_server){.server = i, .rank = p->rank[i], .signature = spread_of(p, i, with_leaves)};
        template_[i] = NONE;
    }
    count_same(list, n);
    for (uint32_t i = 0; i < n; i++) {
        kinds[i] = (signed_server){.server = list[i].server, .rank = i, .signature = p->pattern[list[i].server]};
    }
    qsort(kinds, n, sizeof *kinds, by_signature);
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        uint32_t best = i;
        for (next = i + 1; next < n && kinds[next].signature == kinds[i].signature; next++) {
        }
        for (uint32_t k = i; k < next && !with_leaves; k++) {
            uint32_t s = kinds[k].server;
            uint32_t t = kinds[best].server;
            bool more = p->first[s + 1] - p->first[s] > p->first[t + 1] - p->first[t];
            best = more && list[kinds[k].rank].n_same > 2 && list[kinds[k].rank].n_same >= SOME * (next - i) ? k : best;
        }
        uint32_t most = list[kinds[best].rank].n_same;
        for (uint32_t k = i; k < next && most > 2 && (!with_leaves || most >= FAB_AUDIT_NEARLY * (next - i)); k++) {
            template_[kinds[k].server] = kinds[best].server;
            n_peers[kinds[k].server] = most;
            n_kind[kinds[k].server] = next - i;
        }
    }
    return FAB_OK;
}

const audit_plug *audit_plug_of(const audit_plugs *p, uint32_t server, uint32_t column) {
    FAB_FIRST_IN(i, p->first[server], p->first[server + 1], p->plug[i].column == column);
    return i < p->first[server + 1] ? &p->plug[i] : NULL;
}

uint32_t audit_home_leaf(const audit_plugs *p, uint32_t home, uint32_t column) {
    const audit_plug *plug = home != NONE ? audit_plug_of(p, p->home[home].server, column) : NULL;
    return plug != NULL ? plug->leaf : NONE;
}

/* Ports that the template has on one leaf, and this server on several: most of them tell where the others belong. */
static void compare_spread(audit_plugs *p, uint32_t server, uint32_t like) {
    for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
        const audit_plug *model = audit_plug_of(p, like, p->plug[i].column);
        uint32_t best = NONE;
        uint32_t most = 0;
        uint32_t part = 0;
        for (uint32_t k = p->first[server]; model != NULL && k < p->first[server + 1]; k++) {
            const audit_plug *other = audit_plug_of(p, like, p->plug[k].column);
            uint32_t same = 0;
            if (other == NULL || other->leaf != model->leaf) {
                continue;
            }
            part++;
            for (uint32_t j = p->first[server]; j < p->first[server + 1]; j++) {
                const audit_plug *third = audit_plug_of(p, like, p->plug[j].column);
                same += third != NULL && third->leaf == model->leaf && p->plug[j].leaf == p->plug[k].leaf;
            }
            best = same > most ? p->plug[k].leaf : best;
            most = same > most ? same : most;
        }
        if (best != NONE && 2 * most > part && p->plug[i].leaf != best) {
            p->plug[i].should = best;
        }
    }
}

fab_status audit_plugs_compare(audit_plugs *p, fab_error *err) {
    uint32_t n = p->a->shape->n_servers;
    FAB_OWNED uint32_t *spread = NULL;
    FAB_OWNED uint32_t *n_like = NULL;
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, spread, n_like, p->template_, p->n_peers, p->n_kind));
    FAB_PASS(find_templates(p, true, spread, n_like, p->n_kind, err));
    FAB_PASS(find_templates(p, false, p->template_, p->n_peers, p->n_kind, err));
    for (uint32_t s = 0; s < n; s++) {
        uint32_t home = p->home_of[s];
        uint32_t own = p->first[s + 1] - p->first[s];
        if (home != NONE) {
            uint32_t like = p->home[home].server;
            p->template_[s] = p->template_[s] != NONE && p->first[like + 1] - p->first[like] <
                                                             p->first[p->template_[s] + 1] - p->first[p->template_[s]]
                                  ? p->template_[s]
                                  : like;
            p->n_peers[s] = p->n_kind[s] = p->home[home].n_exact;
            for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++) {
                const audit_plug *model = audit_plug_of(p, like, p->plug[i].column);
                p->plug[i].should = model != NULL && model->leaf != p->plug[i].leaf ? model->leaf : NONE;
            }
        } else if (spread[s] != NONE && own > 1) {
            compare_spread(p, s, spread[s]);
        }
        for (uint32_t i = p->first[s]; i < p->first[s + 1] && (home != NONE || (spread[s] != NONE && own > 1)); i++) {
            p->a->ruled[p->plug[i].side >> 1] = true;
        }
    }
    return FAB_OK;
}

fab_status audit_plugs_find(auditor *a, audit_plugs *out, fab_error *err) {
    out->a = a;
    FAB_PASS(gather(out, err));
    FAB_PASS(rank_servers(out, err));
    return find_homes(out, err);
}

void audit_plugs_release(audit_plugs *p) {
    FAB_FREE_ALL(p->plug, p->first, p->rank, p->pattern, p->row, p->home_of, p->stood, p->template_, p->n_peers,
                 p->n_kind, p->home, p->ring, p->member);
}
