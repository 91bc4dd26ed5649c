/* What the flows on the worst new link have in common since other servers run the job: found, then tried on servers
 * that have it and on servers that have not. */
#include "diff_internal.h"

#define TRIALS 2 /* servers with the property, and as many without */

/* What two servers may have in common. */
typedef enum property_kind { PROPERTY_SLICE, PROPERTY_PARITY, PROPERTY_LEAF, PROPERTY_POD, PROPERTY_N } property_kind;

/* The question: who are they, and who has come. */
typedef struct property {
    diff *d;
    const fab_fabric *f;
    uint32_t slices;
    uint32_t *on_link; /* servers whose flows meet, each once */
    size_t n_on_link;
    uint32_t *servers; /* of the job, in the order of ranks */
    size_t n_servers;
    size_t at;        /* the place that has another server than before */
    uint32_t was, is; /* in the second fabric; was: FAB_NONE where it is not there */
    bool arrives;     /* flows to them meet; else flows from them */
    bool refuted[PROPERTY_N];
} property;

/* --- what a server has -------------------------------------------------------------------------------------------- */

static fab_node_id leaf_of(const fab_fabric *f, uint32_t server) {
    const fab_link_id link = fab_access_link(f, fab_nic_of_server(f, server), 1, 0);
    return link != FAB_NONE ? fab_head(f, link) : FAB_NONE;
}

/* How many other servers stand before it on its leaf, as engine pinned counts. */
static uint32_t slot_of(const fab_fabric *f, uint32_t server) {
    fab_node_id leaf = leaf_of(f, server);
    uint32_t slot = 0;
    uint32_t last = FAB_NONE;
    for (uint32_t i = leaf != FAB_NONE ? f->out_first[leaf] : 0; leaf != FAB_NONE && i < f->out_first[leaf + 1]; i++) {
        fab_link_id link = f->out_link[i];
        if (fab_class_of(f, link)->kind != FAB_LINK_ACCESS) {
            continue;
        }
        uint32_t there = (fab_head(f, link) - f->first[FAB_NODE_NIC]) / f->nics_per_server;
        if (there == server) {
            return slot;
        }
        slot += there != last;
        last = there;
    }
    return slot;
}

/* FAB_NONE: the property says nothing here. */
static uint32_t key_of(const property *x, property_kind kind, uint32_t server) {
    fab_node_id leaf = leaf_of(x->f, server);
    switch (kind) {
    case PROPERTY_SLICE: return x->slices > 1 ? slot_of(x->f, server) % x->slices : FAB_NONE;
    case PROPERTY_PARITY: return server % 2;
    case PROPERTY_LEAF: return leaf;
    case PROPERTY_POD: return leaf != FAB_NONE ? x->f->switch_pod[leaf - x->f->first[FAB_NODE_SWITCH]] : FAB_NONE;
    case PROPERTY_N: break;
    }
    return FAB_NONE;
}

/* All that meet have it, and the server of before has not. */
static bool is_common(const property *x, property_kind kind) {
    uint32_t key = key_of(x, kind, x->is);
    FAB_ALL(have_it, i, x->n_on_link, key_of(x, kind, x->on_link[i]) == key);
    return have_it && key != FAB_NONE && (x->was == FAB_NONE || key_of(x, kind, x->was) != key);
}

/* --- who meets ---------------------------------------------------------------------------------------------------- */

static void add_server(uint32_t *servers, size_t *n, uint32_t server) {
    for (size_t i = 0; i < *n; i++) {
        if (servers[i] == server) {
            return;
        }
    }
    servers[(*n)++] = server;
}

static fab_status find_meeting(property *x, fab_error *err) {
    diff *d = x->d;
    diff_side *side = &d->side[1];
    const fab_phase *phase = &side->traffic->phases[d->hot_phase];
    FAB_OWNED uint32_t *flows = NULL;
    size_t n = 0;
    bool known = false;
    FAB_PASS(diff_crossing_flows(side, d->out->worst, d->hot_phase, d->hot, &flows, &n, &known, err));
    FAB_PASS(FAB_NEW(x->on_link, n + 1, err));
    for (int arrives = 1; known && arrives >= 0; arrives--) {
        bool has_come = false;
        x->n_on_link = 0;
        x->arrives = arrives == 1;
        for (size_t i = 0; i < n; i++) {
            fab_flow flow = fab_phase_flow(phase, flows[i]);
            uint32_t server = fab_server_of(x->f, x->arrives ? flow.dst : flow.src);
            add_server(x->on_link, &x->n_on_link, server);
            has_come = has_come || server == x->is;
        }
        if (has_come && x->n_on_link > 1) {
            return FAB_OK;
        }
    }
    x->n_on_link = 0;
    return FAB_OK;
}

/* The one change that is the cause is of a server, and not that several change places. */
static fab_status open_property(property *x, bool *out_is_there, fab_error *err) {
    const fab_difference *out = x->d->out;
    const fab_router *router = NULL;
    FAB_OWNED uint32_t *before = NULL;
    size_t n_before = 0;
    size_t n_causes = 0;
    *out_is_there = false;
    for (size_t i = 0; i < out->n_changes; i++) {
        n_causes += out->changes[i].is_cause;
        x->at = out->changes[i].is_cause ? x->d->place[i] : x->at;
        if (out->changes[i].is_cause &&
            (out->changes[i].kind != FAB_CHANGE_SERVER || diff_cycle_length(x->d, x->d->place[i]) > 0)) {
            return FAB_OK; /* who ran there still runs elsewhere: another server in the place is another job */
        }
    }
    if (n_causes != 1 || x->d->hot == FAB_NONE) {
        return FAB_OK;
    }
    FAB_PASS(diff_servers_of(&x->d->side[1], &x->servers, &x->n_servers, err));
    FAB_PASS(diff_servers_of(&x->d->side[0], &before, &n_before, err));
    if (x->at < x->n_servers && x->at < n_before) {
        x->is = x->servers[x->at];
        x->was = diff_server_after(x->d, before[x->at]);
        FAB_PASS(fab_context_router(x->d->side[1].context, out->worst, &router, err));
        x->slices = fab_router_facts_of(router)->slices;
        FAB_PASS(find_meeting(x, err));
        *out_is_there = x->n_on_link > 1;
    }
    return FAB_OK;
}

/* --- trials ------------------------------------------------------------------------------------------------------- */

/* Something of the server itself has failed or is slower: its time would speak of that. */
static bool is_hurt(const property *x, uint32_t server) {
    const diff_side *side = &x->d->side[1];
    bool hurt = false;
    FAB_EACH(const fab_component, c, side->component, side->n_components) {
        uint32_t per = c->kind == FAB_COMPONENT_GPU      ? x->f->gpus_per_server
                       : c->kind == FAB_COMPONENT_NIC    ? x->f->nics_per_server
                       : c->kind == FAB_COMPONENT_SERVER ? 1
                                                         : 0;
        hurt = hurt || (per > 0 && c->id / per == server);
    }
    return hurt;
}

static bool is_free(const property *x, uint32_t server) {
    FAB_ANY(is_taken, i, x->n_servers, x->servers[i] == server);
    return !is_taken && server != x->was && server < fab_n_complete_servers(x->f) && !is_hurt(x, server);
}

/* What a property predicts for another server in this place: with it the time stays, without it comes back. */
static fab_status try_server(property *x, property_kind kind, uint32_t server, fab_error *err) {
    uint32_t before = x->servers[x->at];
    bool without = key_of(x, kind, server) != key_of(x, kind, x->is);
    double time_s = NAN;
    x->servers[x->at] = server;
    fab_status status = diff_time_on(x->d, x->servers, x->n_servers, &time_s, err);
    x->servers[x->at] = before;
    FAB_PASS(status);
    for (int k = 0; k < PROPERTY_N && isfinite(time_s); k++) { /* one evaluation speaks of all of them */
        bool other = key_of(x, (property_kind)k, server) != key_of(x, (property_kind)k, x->is);
        x->refuted[k] = x->refuted[k] || other != diff_returns(x->d, time_s);
    }
    return !isfinite(time_s)
               ? FAB_OK
               : diff_add_test(x->d, time_s, without, err, "%s in its place", FAB_SAY_SERVER(x->f, server));
}

static fab_status try_property(property *x, property_kind kind, fab_error *err) {
    size_t left[2] = {TRIALS, TRIALS}; /* with it, without */
    for (uint32_t server = 0; server < x->f->n_servers && !x->refuted[kind]; server++) {
        bool without = key_of(x, kind, server) != key_of(x, kind, x->is);
        if (left[without] > 0 && is_free(x, server)) {
            left[without]--;
            FAB_PASS(try_server(x, kind, server, err));
        }
    }
    return FAB_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void say_servers(const property *x, fab_str *out) {
    size_t shown = x->n_on_link < 4 ? x->n_on_link : 3;
    for (size_t i = 0; i < shown; i++) {
        fab_str_printf(out, "%s%s",
                       i == 0                  ? ""
                       : i + 1 == x->n_on_link ? " and "
                                               : ", ",
                       FAB_SAY_SERVER(x->f, x->on_link[i]));
    }
    if (shown < x->n_on_link) {
        fab_str_printf(out, " and %zu more", x->n_on_link - shown);
    }
}

static void say_property(const property *x, property_kind kind, fab_str *out) {
    const char *all = x->n_on_link == 2 ? "both" : "all";
    uint32_t key = key_of(x, kind, x->is);
    say_servers(x, out);
    switch (kind) {
    case PROPERTY_SLICE:
        fab_str_printf(out, " are %s in destination slice %u", all, (unsigned)key);
        if (is_common(x, PROPERTY_PARITY) && !x->refuted[PROPERTY_PARITY]) {
            fab_str_printf(out, " (their numbers are %s)", x->is % 2 == 0 ? "even" : "odd");
        }
        break;
    case PROPERTY_PARITY: fab_str_printf(out, " are %s %s", all, key == 0 ? "even" : "odd"); break;
    case PROPERTY_LEAF: fab_str_printf(out, " %s stand on %s", all, FAB_SAY_NODE(x->f, key)); break;
    default: fab_str_printf(out, " are %s in pod %u", all, (unsigned)key);
    }
}

/* Links of one switch like the hot one that carry something. */
static uint32_t used_links(const diff_side *side, const fab_engine_result *r, fab_link_id like) {
    const fab_fabric *f = side->f;
    fab_node_id v = fab_tail(f, like);
    uint32_t n = 0;
    FAB_EACH_LINK(f, v, l) {
        bool alike = fab_class_of(f, l)->tier == fab_class_of(f, like)->tier && fab_is_up(l) == fab_is_up(like);
        n += alike && r->utilisation != NULL && r->utilisation[l] > 0;
    }
    return n;
}

static uint32_t used_before(const diff *d) {
    const fab_link_id before = d->same[d->hot];
    const fab_phase_result *then = diff_phase_named(&d->side[0].result, d->side[1].result.phases[d->hot_phase].name);
    return before != FAB_NONE && then != NULL ? used_links(&d->side[0], &then->engines[d->out->worst], before) : 0;
}

static void say_links(const diff *d, uint32_t n_now, uint32_t n_then, fab_str *out) {
    const fab_fabric *f = d->side[1].f;
    bool is_tree = f->wiring == FAB_WIRING_TREE;
    const char *which = !is_tree ? "link" : fab_is_up(d->hot) ? "uplink" : "downlink";
    fab_str_printf(out, "shares %u %s%s of %s", (unsigned)n_now, which, n_now == 1 ? "" : "s",
                   FAB_SAY_NODE(f, fab_tail(f, d->hot)));
    if (n_then != n_now && n_then > 0) {
        fab_str_printf(out, ", %u before", (unsigned)n_then);
    }
}

static uint32_t used_now(const diff *d) {
    return used_links(&d->side[1], &d->side[1].result.phases[d->hot_phase].engines[d->out->worst], d->hot);
}

void diff_say_share(const diff *d, fab_str *out) {
    uint32_t n_now = used_now(d);
    uint32_t n_then = used_before(d);
    if (n_now < n_then) {
        fab_str_add(out, "; traffic ");
        say_links(d, n_now, n_then, out);
    }
}

FAB_FREES(property_release, property, on_link, servers);

fab_status diff_find_property(diff *d, fab_str *out, fab_error *err) {
    FAB_OWNS(property_release) property x = {.d = d, .f = d->side[1].f};
    bool is_there = false;
    property_kind found = PROPERTY_N;
    FAB_PASS(open_property(&x, &is_there, err));
    for (int k = 0; k < PROPERTY_N && is_there && found == PROPERTY_N; k++) {
        if (is_common(&x, (property_kind)k) && !x.refuted[k]) {
            FAB_PASS(try_property(&x, (property_kind)k, err));
            found = x.refuted[k] ? PROPERTY_N : (property_kind)k;
        }
    }
    if (found != PROPERTY_N) {
        say_property(&x, found, out);
        fab_str_printf(out, ": traffic %s them ", x.arrives ? "to" : "from");
        say_links(d, used_now(d), used_before(d), out);
        FAB_PASS(fab_str_status(out, err));
    }
    return FAB_OK;
}
