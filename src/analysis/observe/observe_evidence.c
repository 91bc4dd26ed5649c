/* What is found without a prediction, the order of suspects, and why each is one, in words. */
#include "observe_internal.h"

#define MUCH_WAIT 3.0 /* times the median of its peers */

const char *const fab_suspect_kinds[FAB_SUSPECT_N] = {
    [FAB_SUSPECT_HOST] = "late-host",    [FAB_SUSPECT_LINK] = "slow-link", [FAB_SUSPECT_MORE] = "overloaded-link",
    [FAB_SUSPECT_ENDS] = "unequal-ends", [FAB_SUSPECT_ERRORS] = "errors",  [FAB_SUSPECT_RANK] = "late-rank",
    [FAB_SUSPECT_STUCK] = "stuck-rank"};

/* --- findings of a link by itself --------------------------------------------------------------------------------- */

static bool is_suspect(const fab_observed *out, fab_link_id l) {
    FAB_ANY(found, i, out->n_suspects, out->suspects[i].link != FAB_NONE && out->suspects[i].link >> 1 == l >> 1);
    return found;
}

static void add_overloaded(observation *o) {
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        double limit = fmax(FAB_OBSERVE_EXCESS, o->sure * o->spread_of[observe_class(o->fabric, l)]);
        if (isfinite(o->deviation[l]) && o->deviation[l] > limit) {
            fab_suspect *s = observe_add(o, FAB_SUSPECT_MORE);
            if (s != NULL) {
                s->link = l;
                s->deviation = o->deviation[l];
                s->score = o->deviation[l] / fmax(o->spread_of[observe_class(o->fabric, l)], FAB_OBSERVE_LEAST / 8);
            }
        }
    }
}

static fab_status add_unequal(observation *o, fab_error *err) {
    double *gaps = NULL;
    size_t n = 0;
    FAB_PASS(FAB_NEW(gaps, o->fabric->n_links, err));
    FAB_KEEP(gaps, n, l, o->fabric->n_links, isfinite(o->gap[l]), o->gap[l]);
    double spread = observe_spread(gaps, n);
    double limit = observe_limit(spread, o->sure);
    free(gaps);
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        if (isfinite(o->gap[l]) && fabs(o->gap[l]) > limit) {
            fab_suspect *s = observe_add(o, FAB_SUSPECT_ENDS);
            if (s != NULL) {
                s->link = l;
                s->deviation = expm1(o->gap[l]);
                s->score = fabs(o->gap[l]) / fmax(spread, FAB_OBSERVE_LEAST / 8);
            }
        }
    }
    return FAB_OK;
}

/* "leaf-3:17" */
static void put_port(const fab_fabric *f, fab_link_id l, char *out, size_t size) {
    char node[FAB_NODE_NAME_SIZE];
    char port[FAB_PORT_NAME_SIZE];
    fab_append(out, size, "%s:%s", fab_node_name(f, fab_tail(f, l), node), fab_port_name(f, l, port));
}

/* Ports that stand still are a suspect, one of every box; a box that has no other port was not read, which is said. */
static fab_status add_still(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    fab_observed *out = o->out;
    FAB_OWNED uint32_t *n_still = NULL;
    FAB_OWNED uint32_t *n_moving = NULL;
    FAB_PASS(FAB_NEW_ALL(observe_n_boxes(f), err, n_still, n_moving));
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (fab_is_network(fab_class_of(f, l))) {
            uint32_t box = observe_box(f, fab_tail(f, l));
            n_still[box] += o->is_still[l];
            n_moving[box] += o->sent[l] > 0 || o->got[l ^ 1U] > 0;
        }
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (!o->is_still[l]) {
            continue;
        }
        uint32_t box = observe_box(f, fab_tail(f, l));
        uint32_t n = n_still[box];
        if (out->still_ports++ == 0) {
            put_port(f, l, out->first_still, sizeof out->first_still);
        }
        n_still[box] = 0;
        fab_suspect *s = n > 0 && n_moving[box] > 0 ? observe_add(o, FAB_SUSPECT_ENDS) : NULL;
        if (s != NULL) {
            s->link = l;
            s->deviation = -1;
            s->cables = n;
        }
    }
    return FAB_OK;
}

static void add_errors(observation *o) {
    for (fab_link_id l = 0; l < o->fabric->n_links; l += 2) {
        uint64_t errors = o->errors[l] + o->errors[l + 1];
        if (fab_is_network(fab_class_of(o->fabric, l)) && errors > 0 && !is_suspect(o->out, l)) {
            fab_suspect *s = observe_add(o, FAB_SUSPECT_ERRORS);
            if (s != NULL) {
                s->link = o->errors[l] >= o->errors[l + 1] ? l : l + 1;
                s->deviation = isfinite(o->deviation[s->link]) ? o->deviation[s->link] : 0;
            }
        }
    }
}

/* --- evidence ----------------------------------------------------------------------------------------------------- */

static fab_status find_waits(const observation *o, double *out, fab_error *err) {
    FAB_OWNED_NEW(double, numbers, o->fabric->n_links, err);
    for (size_t c = 0; c < observe_n_classes(o->fabric); c++) {
        size_t n = 0;
        FAB_KEEP(numbers, n, l, o->fabric->n_links,
                 fab_is_network(fab_class_of(o->fabric, l)) && observe_class(o->fabric, l) == c && isfinite(o->wait[l]),
                 o->wait[l]);
        out[c] = observe_median(numbers, n);
    }
    return FAB_OK;
}

/* "; symbol-errors +12 at leaf-3:7" */
static void tell_errors(const observation *o, fab_link_id l, fab_suspect *s) {
    for (fab_link_id end = l & ~1U; end <= (l | 1U); end++) {
        char node[FAB_NODE_NAME_SIZE];
        char port[FAB_PORT_NAME_SIZE];
        if (o->errors[end] == 0) {
            continue;
        }
        const fab_counted_port a = observe_before(o, end);
        const fab_counted_port *b = &o->request->after->ports[o->port[1][end]];
        s->errors += o->errors[end];
        fab_append(s->evidence, sizeof s->evidence, "%sat %.80s:%.40s", s->evidence[0] != '\0' ? "; " : "",
                   fab_node_name(o->fabric, fab_tail(o->fabric, end), node), fab_port_name(o->fabric, end, port));
        for (int c = 0; c < FAB_COUNTER_N; c++) {
            bool counts = fab_counter_abouts[c].is_error && (a.has & b->has) >> c & 1;
            uint64_t more = counts && b->value[c] >= a.value[c] ? b->value[c] - a.value[c] : counts ? b->value[c] : 0;
            if (more > 0) {
                fab_append(s->evidence, sizeof s->evidence, " %s +%" PRIu64, fab_counter_abouts[c].name, more);
            }
        }
    }
}

static void tell_wait(const observation *o, fab_link_id l, const double *median, fab_suspect *s) {
    double usual = median[observe_class(o->fabric, l)];
    if (isfinite(o->wait[l]) && usual > 0) {
        s->wait_ratio = o->wait[l] / usual;
        if (s->wait_ratio >= MUCH_WAIT) {
            fab_append(s->evidence, sizeof s->evidence, "; data waited there %.3g times as long as at its peers",
                       s->wait_ratio);
        }
    }
}

static const char *more_or_less(double deviation) {
    return deviation < 0 ? "less" : "more";
}

static void tell_link(const observation *o, const double *waits, fab_suspect *s) {
    fab_link_id l = s->link;
    char *text = s->evidence;
    const size_t size = sizeof s->evidence;
    (void)fab_link_name(o->fabric, l, s->name);
    if (s->kind == FAB_SUSPECT_ENDS && o->is_still[l]) {
        put_port(o->fabric, l, text, size);
        fab_append(text, size, " has counted nothing of what the other end of its cable has");
        if (s->cables > 1) {
            fab_append(text, size, ", nor have %" PRIu32 " more ports of this box", s->cables - 1);
        }
        fab_append(text, size, ": its counters stand still, and the other end is taken");
    } else if (s->kind == FAB_SUSPECT_ENDS) {
        fab_append(text, size, "its end has received %.2f %% %s than was sent", 100 * fabs(s->deviation),
                   more_or_less(s->deviation));
    } else if (s->kind != FAB_SUSPECT_ERRORS) {
        fab_append(text, size, "carried %.2f %% %s than the job puts on it (%.1f times what its peers spread by)",
                   100 * fabs(s->deviation), more_or_less(s->deviation), s->score);
    }
    if (s->kind == FAB_SUSPECT_LINK && s->cables > 1) {
        fab_append(text, size, ", which explains %" PRIu32 " links that carried less", s->cables);
    }
    if (s->as_good > 0) {
        fab_append(text, size, "; %" PRIu32 " other link%s on the paths of its flows fit%s as well:", s->as_good,
                   s->as_good == 1 ? "" : "s", s->as_good == 1 ? "s" : "");
        for (uint32_t i = 0; i < s->as_good && i < FAB_OBSERVE_OTHERS; i++) {
            char name[FAB_LINK_NAME_SIZE];
            fab_append(text, size, "%s %s", i > 0 ? "," : "", fab_link_name(o->fabric, s->others[i], name));
        }
        if (!o->out->fits) {
            fab_append(text, size, "; which links between switches its flows take is not known");
        }
    }
    tell_errors(o, l, s);
    tell_wait(o, l, waits, s);
}

static void tell_host(const observation *o, fab_suspect *s) {
    const fab_fabric *f = o->fabric;
    uint32_t n = 0;
    uint32_t n_less = 0;
    fab_node_id first = f->first[FAB_NODE_NIC] + s->server * f->nics_per_server;
    for (fab_node_id v = first; v < first + f->nics_per_server; v++) {
        for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
            fab_link_id l = f->out_link[i];
            if (observe_is_access(f, l) && isfinite(o->deviation[l])) {
                n++;
                n_less += o->deviation[l] < s->deviation / 2;
            }
        }
    }
    (void)fab_server_name(f, s->server, s->name);
    fab_append(s->evidence, sizeof s->evidence,
               "%" PRIu32 " of its %" PRIu32 " link%s sent less, %.2f %% in the middle (%.1f times what hosts spread "
               "by): it starts late or computes longer",
               n_less, n, n == 1 ? "" : "s", 100 * fabs(s->deviation), s->score);
    if (s->cables > n) {
        fab_append(s->evidence, sizeof s->evidence, "; its flows explain %" PRIu32 " links that carried less",
                   s->cables);
    }
}

/* Part of the job's bytes in the network that crosses a suspect. */
static double job_part(const observation *o, const fab_suspect *s) {
    double all = 0;
    double own = 0;
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        if (observe_is_access(o->fabric, l) && fab_is_up(l)) {
            all += o->predicted[l];
            own += s->server != FAB_NONE && observe_server(o->fabric, l) == s->server ? o->predicted[l] : 0;
        }
    }
    own = s->server != FAB_NONE ? own : o->predicted[s->link];
    return all > 0 ? own / all : 0;
}

FAB_ORDER_KEYS(suspect_order, fab_suspect, FAB_ORDER(a->kind == FAB_SUSPECT_ERRORS, b->kind == FAB_SUSPECT_ERRORS),
               FAB_ORDER(b->score, a->score), FAB_ORDER(b->errors, a->errors), FAB_ORDER(a->link, b->link),
               FAB_ORDER(a->server, b->server));

fab_status observe_evidence(observation *o, fab_error *err) {
    fab_observed *out = o->out;
    FAB_OWNED_NEW(double, waits, observe_n_classes(o->fabric), err);
    add_overloaded(o);
    FAB_PASS(add_unequal(o, err));
    FAB_PASS(add_still(o, err));
    add_errors(o);
    FAB_PASS(find_waits(o, waits, err));
    FAB_EACH(fab_suspect, s, out->suspects, out->n_suspects) {
        if (s->kind == FAB_SUSPECT_HOST) {
            tell_host(o, s);
        } else {
            tell_link(o, waits, s);
        }
        s->job_ratio = job_part(o, s);
    }
    FAB_PASS(observe_ranks(o, err));
    for (uint32_t i = 0; i < out->n_suspects; i++) {
        observe_name_ranks(o, &out->suspects[i]);
    }
    FAB_SORT(out->suspects, out->n_suspects, suspect_order);
    return FAB_OK;
}
