#include "audit_internal.h"

#include "../structure/network_boxes.h"

#include "fab/str.h"

#include <stdarg.h>

const char *const fab_finding_kinds[FAB_FINDING_N] = {
    "unreachable",   "absent-switch", "missing-cable",   "backplane",     "extra-cable",   "missing-port",
    "dead-port",     "miswired",      "crossed-uplinks", "swapped-rails", "swapped-hosts", "mixed-planes",
    "wrong-rail",    "wrong-leaf",    "same-tier-cable", "loop",          "wrong-speed",   "one-sided",
    "contradiction", "single-point",  "absent-host"};

/* Findings grow here; texts live in a network of their own, whose arena they use. */
struct fab_audit_memory {
    fab_network *texts;
    size_t capacity;
};

fab_status fab_audit_text(auditor *a, const char **out, fab_error *err, const char *fmt, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    return fab_network_text(a->out->memory->texts, text, strlen(text), out, err);
}

fab_status fab_audit_tell(auditor *a, const fab_finding *finding, fab_error *err, const char *fmt, ...) {
    fab_finding f = *finding;
    char text[1024];
    char before[512]; /* the format as far as the work: names in the text may have any character, that one too */
    va_list arguments;
    const char *work = strchr(fmt, FAB_AUDIT_WORK[0]);
    FAB_FORMAT(before, "%.*s", work != NULL ? (int)(work - fmt) : 0, fmt);
    va_start(arguments, fmt);
    const int n = vsnprintf(text, sizeof text, before, arguments);
    va_end(arguments);
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    f.text = text;
    if (work != NULL && n >= 0 && (size_t)n < strlen(text)) {
        text[n] = '\0';
        f.work = text + n + 1;
    }
    return fab_audit_add(a, &f, err);
}

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

fab_status fab_audit_add(auditor *a, const fab_finding *finding, fab_error *err) {
    fab_audit *out = a->out;
    FAB_PASS(FAB_GROW(out->findings, out->memory->capacity, out->n_findings + 1, err));
    fab_finding *f = &out->findings[out->n_findings++];
    *f = *finding;
    f->at[0] = f->at[1] = (fab_audit_spot){.tier = FAB_NETWORK_NONE, .rack = FAB_NETWORK_NONE};
    const char **texts[] = {&f->node, &f->port, &f->other, &f->other_port, &f->text, &f->work};
    for (size_t i = 0; i < FAB_N_OF(texts); i++) { /* of a network that may be gone before the audit */
        FAB_PASS(fab_network_text(out->memory->texts, or_empty(*texts[i]), strlen(or_empty(*texts[i])), texts[i], err));
    }
    return FAB_OK;
}

void fab_audit_make_inside(fab_finding *f) {
    f->kind = f->kind == FAB_FINDING_MISSING_CABLE ? FAB_FINDING_BACKPLANE : f->kind;
    f->cables = 0;
    f->work =
        "No cable makes this link: reseat the two boards of the box, and replace the one that stays silent or slow.";
}

fab_status fab_audit_add_lack(auditor *a, const fab_audit_lack *lack, fab_error *err) {
    return FAB_APPEND(a->out->lacks, a->out->n_lacks, a->lack_capacity, err, *lack);
}

uint32_t fab_audit_boundary_of(const auditor *a, uint32_t cable) {
    const fab_network_cable *c = &a->net->cables[cable];
    uint32_t tier[2];
    for (int i = 0; i < 2; i++) {
        uint32_t v = c->end[i].node;
        if (a->net->nodes[v].kind == FAB_NETWORK_SERVICE) {
            return 0;
        }
        tier[i] = fab_network_is_host(a->net, v) ? 0 : a->shape->tier[v];
    }
    uint32_t upper = tier[0] > tier[1] ? tier[0] : tier[1];
    return tier[0] == tier[1] ? 0 : upper;
}

typedef struct boundary_rate {
    uint32_t boundary;
    double bps;
} boundary_rate;

FAB_ORDER_TWO(by_boundary_and_rate, boundary_rate, boundary, bps);

static fab_status find_usual_rates(auditor *a, fab_error *err) {
    uint32_t n = 0;
    FAB_OWNED_NEW(boundary_rate, rates, a->net->n_cables, err);
    FAB_PASS(FAB_NEW(a->usual_bps, (size_t)a->shape->n_tiers + 2, err));
    FAB_KEEP(rates, n, c, a->net->n_cables, a->net->cables[c].rate_bps > 0,
             (boundary_rate){fab_audit_boundary_of(a, c), a->net->cables[c].rate_bps});
    qsort(rates, n, sizeof *rates, by_boundary_and_rate);
    for (uint32_t i = 0, run = 0, most = 0; i < n; i++) { /* the longest run of a boundary, the first of equal ones */
        bool same_boundary = i > 0 && rates[i].boundary == rates[i - 1].boundary;
        run = same_boundary && rates[i].bps == rates[i - 1].bps ? run + 1 : 1;
        most = same_boundary ? most : 0;
        if (run > most) {
            most = run;
            a->usual_bps[rates[i].boundary] = rates[i].bps;
        }
    }
    return FAB_OK;
}

typedef struct named_node {
    const char *name;
    uint32_t node;
} named_node;

FAB_ORDER_KEYS(by_name, named_node, fab_compare_names(a->name, b->name), FAB_ORDER(a->node, b->node));

static fab_status rank_nodes(auditor *a, named_node **out, fab_error *err) {
    uint32_t n = a->net->n_nodes;
    FAB_PASS(fab_network_names(a->net, &a->names, err));
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, a->rank, *out));
    FAB_FILL(*out, n, (named_node){a->net->nodes[fab_at].label, (uint32_t)fab_at});
    qsort(*out, n, sizeof **out, by_name);
    for (uint32_t i = 0; i < n; i++) {
        a->rank[(*out)[i].node] = i;
    }
    return FAB_OK;
}

static fab_status list_tiers(auditor *a, const named_node *sorted, fab_error *err) {
    const uint32_t *tier = a->shape->tier;
    FAB_PASS(FAB_NEW(a->tier_first, (size_t)a->shape->n_tiers + 3, err));
    FAB_PASS(FAB_NEW(a->in_tier, a->net->n_nodes, err));
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        a->tier_first[tier[v] + 2] += a->net->nodes[v].kind == FAB_NETWORK_SWITCH;
    }
    for (uint32_t t = 0; t <= a->shape->n_tiers; t++) {
        a->tier_first[t + 2] += a->tier_first[t + 1];
    }
    for (uint32_t i = 0; i < a->net->n_nodes; i++) { /* tier_first[t + 1] moves to where tier t ends */
        uint32_t v = sorted[i].node;
        if (a->net->nodes[v].kind == FAB_NETWORK_SWITCH) {
            a->in_tier[a->tier_first[tier[v] + 1]++] = v;
        }
    }
    return FAB_OK;
}

static int by_impact(const void *x, const void *y) {
    const fab_finding *a = x;
    const fab_finding *b = y;
    FAB_ORDER_BY(fab_finding_is_choice(a->kind), fab_finding_is_choice(b->kind));
    FAB_ORDER_BY(b->damage_bps, a->damage_bps);
    FAB_ORDER_BY(a->kind, b->kind);
    const char *const pairs[][2] = {{a->node, b->node}, {a->port, b->port}, {a->other, b->other}, {a->text, b->text}};
    int differ = 0;
    for (size_t i = 0; differ == 0 && i < FAB_N_OF(pairs); i++) {
        differ = strcmp(pairs[i][0], pairs[i][1]);
    }
    return differ;
}

void fab_audit_sort(fab_audit *audit) {
    FAB_SORT(audit->findings, audit->n_findings, by_impact);
}

/* --- where boxes stand -------------------------------------------------------------------------------------------- */

typedef struct box {
    const char *name;
    uint32_t tier;
} box;

fab_status fab_audit_find_tiers(fab_audit *audit, const fab_shape *shape, const char *const *names, fab_error *err) {
    uint32_t n_nodes = shape->net->n_nodes;
    size_t n = (size_t)n_nodes + shape->n_servers;
    FAB_OWNED_NEW(box, boxes, n + 1, err);
    FAB_FILL(boxes, n_nodes, (box){names[fab_at], shape->tier[fab_at]});
    for (uint32_t s = 0; s < shape->n_servers; s++) {
        boxes[n_nodes + s] = (box){shape->server_name[s], 0};
    }
    qsort(boxes, n, sizeof *boxes, fab_order_text);
    for (uint32_t i = 0; i < 2 * audit->n_findings; i++) {
        fab_finding *f = &audit->findings[i / 2];
        const box wanted = {.name = i % 2 == 0 ? f->node : f->other};
        const box *found = bsearch(&wanted, boxes, n, sizeof *boxes, fab_order_text);
        f->at[i % 2].tier = found != NULL ? found->tier : f->at[i % 2].tier;
    }
    return FAB_OK;
}

static void count(auditor *a) {
    const fab_network *net = a->net;
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        a->out->n_hosts += fab_network_is_host(net, v);
        a->out->n_switches += net->nodes[v].kind == FAB_NETWORK_SWITCH;
        a->out->n_services += net->nodes[v].kind == FAB_NETWORK_SERVICE;
    }
    a->out->n_servers = a->shape->n_servers;
    a->out->n_boxes = a->shape->n_boxes;
    a->out->n_chips = a->shape->n_chips;
    a->out->has_rails = a->shape->has_rails;
    a->out->n_boundaries = a->shape->n_tiers < FAB_AUDIT_BOUNDARIES ? a->shape->n_tiers : FAB_AUDIT_BOUNDARIES;
    for (uint32_t t = 0; t < a->out->n_boundaries; t++) {
        a->out->boundary[t].tier = t + 1;
    }
}

fab_status fab_audit_open(auditor *a, fab_error *err) {
    FAB_OWNED named_node *sorted = NULL;
    FAB_PASS(FAB_NEW(a->out, 1, err));
    FAB_PASS(FAB_NEW(a->out->memory, 1, err));
    FAB_PASS(fab_network_new("", &a->out->memory->texts, err));
    count(a);
    a->n_tiers = a->out->n_boundaries;
    FAB_PASS(FAB_NEW(a->ruled, (size_t)a->net->n_cables + 1, err));
    FAB_PASS(rank_nodes(a, &sorted, err));
    FAB_PASS(list_tiers(a, sorted, err));
    return find_usual_rates(a, err);
}

void fab_audit_close(auditor *a) {
    fab_audit_blocks_release(a);
    fab_audit_free(a->out);
    FAB_FREE_ALL(a->names, a->rank, a->usual_bps, a->tier_first, a->in_tier, a->least, a->most, a->ruled, a->absent);
}

/* How much of what is there some rule speaks of. */
fab_status fab_audit_cover(auditor *a, fab_error *err) {
    const fab_network *net = a->net;
    FAB_OWNED_NEW(bool, ruled, (size_t)net->n_nodes + 1, err);
    for (uint32_t c = 0; c < net->n_cables; c++) {
        const fab_network_end *end = net->cables[c].end;
        bool is_inside = fab_shape_is_inside(a->shape, &net->cables[c]);
        uint32_t t = fab_audit_boundary_of(a, c);
        if (fab_network_is_service(net, &net->cables[c])) {
            continue;
        }
        a->out->n_inside += is_inside;
        a->out->n_cables += !is_inside;
        a->out->n_ruled += a->ruled[c] && !is_inside;
        if (!is_inside && t > 0 && t <= a->out->n_boundaries) {
            a->out->boundary[t - 1].cables++;
            a->out->boundary[t - 1].with_rule += a->ruled[c];
        }
        ruled[end[0].node] = ruled[end[0].node] || a->ruled[c];
        ruled[end[1].node] = ruled[end[1].node] || a->ruled[c];
    }
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        a->out->n_ruled_hosts += ruled[v] && fab_network_is_host(net, v);
        a->out->n_ruled_switches += ruled[v] && fab_audit_is_switch(a, v);
    }
    return FAB_OK;
}

fab_status fab_audit_run(const fab_shape *shape, fab_audit **out, fab_error *err) {
    FAB_OWNS(fab_audit_close) auditor a = {.shape = shape, .net = shape->net};
    FAB_PASS(fab_audit_open(&a, err));
    bool is_irregular = shape->n_tiers > FAB_AUDIT_TIERS; /* a network of sites, of which distances make no tiers */
    if (is_irregular) {
        a.n_tiers = a.out->n_boundaries = 0;
        memset(a.usual_bps, 0, ((size_t)shape->n_tiers + 2) * sizeof *a.usual_bps);
    }
    FAB_PASS(fab_audit_common_cables(&a, err));
    FAB_PASS(fab_audit_blocks(&a, err));
    FAB_PASS(fab_audit_absent(&a, err));
    FAB_PASS(fab_audit_trunks(&a, err));
    FAB_PASS(fab_audit_sideways(&a, err));
    FAB_PASS(is_irregular ? FAB_OK : fab_audit_hosts(&a, err));
    FAB_PASS(fab_audit_cables(&a, err));
    FAB_PASS(fab_audit_cuts(&a, err));
    FAB_PASS(fab_audit_cover(&a, err));
    FAB_PASS(fab_audit_find_tiers(a.out, shape, a.names, err));
    fab_audit_sort(a.out);
    return FAB_GIVE(*out, a.out);
}

void fab_audit_free(fab_audit *audit) {
    if (audit == NULL) {
        return;
    }
    if (audit->memory != NULL) {
        fab_network_free(audit->memory->texts);
    }
    FAB_FREE_ALL(audit->memory, audit->findings, audit->lacks, audit->meant_bps, audit->servers,
                 (void *)audit->planned_host, audit);
}
