/* What holds for every family whatever the parameters. */
#include "fabric_fixture.h"
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/topologies.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <math.h>

/* --- fabrics --------------------------------------------------------------------------------------------------- */

/* The next random design that can be built. Only parameters that do not fit may keep one from being built. */
static fab_fabric *next_fabric(fab_rng *rng, uint64_t most_servers, fab_design *design, random_design *drawn) {
    for (;;) {
        fab_fabric *fabric = NULL;
        fab_error err = {0};
        *drawn = random_design_next(rng, most_servers);
        fab_status status = fab_design_read(drawn->text, NULL, 0, design, &err);
        if (status == FAB_OK) {
            status = fab_topology_build(&design->fabric, &fabric, NULL, &err);
        }
        if (status == FAB_OK) {
            return fabric;
        }
        cr_assert_eq(status, FAB_EINPUT, "%s: %s: %s", drawn->text, err.where, err.text);
    }
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

/* Ports of a node: all different; those of a switch within its radix, counted with breakout. */
static void check_ports(const fab_fabric *f, const fab_design *design, fab_node_id v, uint8_t *used, const char *text) {
    char name[32];
    uint64_t below = 0;
    uint64_t above = 0;
    bool is_switch = fab_kind_of(f, v) == FAB_NODE_SWITCH;
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        fab_link_id link = f->out_link[i];
        bool goes_up = fab_is_tree(f) ? fab_is_up(link) : fab_class_of(f, link)->kind == FAB_LINK_FABRIC;
        cr_assert_neq(f->port[link], 0, "%s: %s", text, fab_node_name(f, v, name));
        cr_assert_eq(used[f->port[link]], 0, "%s: %s: port %u twice", text, fab_node_name(f, v, name), f->port[link]);
        used[f->port[link]] = 1;
        above += goes_up;
        below += !goes_up;
    }
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        used[f->port[f->out_link[i]]] = 0;
    }
    if (is_switch) {
        const fab_tier_spec *tier = &design->fabric.tier[fab_tier_of(f, v) - 1];
        uint64_t up = tier->breakout_up != 0 ? tier->breakout_up : tier->breakout;
        uint64_t ports = ceil_div(below, tier->breakout) + ceil_div(above, up);
        cr_assert_leq(ports, tier->radix, "%s: %s uses %u ports", text, fab_node_name(f, v, name), (unsigned)ports);
        cr_assert_eq(tier->radix, f->switch_radix[v - f->first[FAB_NODE_SWITCH]]);
    }
}

/* Marks what can be reached from node v; returns how many nodes that are. */
static uint32_t flood(const fab_fabric *f, fab_node_id v, uint8_t *seen, uint32_t *queue) {
    uint32_t n = 0;
    queue[n++] = v;
    seen[v] = 1;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = f->out_first[queue[i]]; k < f->out_first[queue[i] + 1]; k++) {
            fab_node_id head = fab_head(f, f->out_link[k]);
            if (!seen[head]) {
                seen[head] = 1;
                queue[n++] = head;
            }
        }
    }
    return n;
}

Test(properties, ports_paths_and_planes) {
    fab_rng rng = fab_rng_make(7, 1);
    uint32_t by_family[RANDOM_N_FAMILIES] = {0};
    uint8_t *used = calloc(UINT16_MAX + 1, 1);
    for (uint32_t draw = 0; draw < 600; draw++) {
        fab_design design;
        random_design drawn;
        fab_fabric *f = next_fabric(&rng, 60, &design, &drawn);
        uint8_t *seen = calloc(f->n_nodes, 1);
        uint32_t *queue = calloc(f->n_nodes, sizeof *queue);
        by_family[drawn.family]++;
        for (fab_node_id v = 0; v < f->n_nodes; v++) {
            check_ports(f, &design, v, used, drawn.text);
        }
        /* through the scale-up domains where rails are separate networks */
        cr_assert_eq(flood(f, 0, seen, queue), f->n_nodes, "%s: not all nodes can be reached from GPU 0", drawn.text);
        for (uint32_t l = 0; l < f->n_links; l++) { /* a path between planes would need a cable between them */
            if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC) {
                uint32_t base = f->first[FAB_NODE_SWITCH];
                cr_assert_eq(f->switch_plane[fab_tail(f, l) - base], f->switch_plane[fab_head(f, l) - base], "%s: %u",
                             drawn.text, l);
            }
        }
        free(seen);
        free(queue);
        fab_fabric_free(f);
    }
    free(used);
    for (int i = 0; i < RANDOM_N_FAMILIES; i++) {
        cr_assert_gt(by_family[i], 30, "%s: %u", RANDOM_FAMILIES[i], by_family[i]);
    }
}

/* --- traffic --------------------------------------------------------------------------------------------------- */

/* One design of every family, small enough to list its servers in a job. A domain is a server: which servers share one
 * must not decide what enters the network. */
static const char *const SMALL[] = {
    "clos:gpus=64,gpus-per-server=4,radix=16",          "fat-tree:gpus=64,gpus-per-server=2,radix=8",
    "rail-spine:gpus=96,gpus-per-server=8,radix=16",    "rail-only:gpus=64,gpus-per-server=4,radix=8",
    "dragonfly:gpus=64,gpus-per-server=4,radix=7",      "torus:gpus=64,gpus-per-server=4,torus=2,4,3",
    "clos:gpus=64,gpus-per-server=4,radix=16,planes=2",
};
#define N_SMALL (sizeof SMALL / sizeof SMALL[0])

static void shuffle(fab_rng *rng, uint32_t *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        values[i] = i;
    }
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)fab_rng_below(rng, i);
        uint32_t other = values[j];
        values[j] = values[i - 1];
        values[i - 1] = other;
    }
}

/* Bytes that each kind of link carries in all: what a placement cannot change. */
static double bytes_over(const fab_fabric *f, const double *load, fab_link_kind kind) {
    double sum = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        sum += fab_class_of(f, l)->kind == kind ? load[l] : 0;
    }
    return sum;
}

static void spray_bytes(const fab_fabric *f, const fab_phase *phase, double *out) {
    double *amount = calloc(phase->n_flows, sizeof *amount);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        amount[i] = (double)phase->bytes[i];
    }
    fixture_spray_load(f, phase, amount, out);
    free(amount);
}

/* The same job with its servers in another order: the same flows, bytes and communicators, and as much enters the
 * network. Only where it meets may differ. */
Test(properties, order_of_servers_changes_no_count) {
    fab_rng rng = fab_rng_make(11, 1);
    for (size_t i = 0; i < N_SMALL; i++) {
        fab_design design;
        fab_counts counts;
        fab_fabric *f = fixture_build(SMALL[i], &design, &counts);
        fab_traffic plain = {0};
        fab_traffic mixed = {0};
        fab_error err = {0};
        uint32_t order[64];
        char servers[256] = "";
        cr_assert_eq(fab_traffic_make("job", &design, f, 1, &plain, &err), FAB_OK, "%s: %s", SMALL[i], err.text);
        shuffle(&rng, order, f->n_servers);
        for (uint32_t s = 0; s < f->n_servers; s++) {
            size_t n = strlen(servers);
            (void)snprintf(servers + n, sizeof servers - n, "%s%u", s > 0 ? "," : "", order[s]);
        }
        cr_assert_eq(fab_design_set_job(&design, 0, "servers", servers, "test", &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_traffic_make("job", &design, f, 1, &mixed, &err), FAB_OK, "%s: %s", SMALL[i], err.text);
        cr_assert_eq(plain.n_phases, mixed.n_phases);
        double *load = calloc(f->n_links, sizeof *load);
        for (size_t p = 0; p < plain.n_phases; p++) {
            const fab_phase *a = &plain.phases[p];
            const fab_phase *b = &mixed.phases[p];
            cr_expect(a->n_flows == b->n_flows && a->n_comms == b->n_comms && a->total_bytes == b->total_bytes &&
                          a->steps == b->steps && a->executions == b->executions,
                      "%s: phase %s", SMALL[i], a->name);
            spray_bytes(f, a, load);
            double entered = bytes_over(f, load, FAB_LINK_ACCESS);
            spray_bytes(f, b, load);
            cr_expect_float_eq(entered, bytes_over(f, load, FAB_LINK_ACCESS), 1e-9 * (1 + entered), "%s: phase %s",
                               SMALL[i], a->name);
        }
        free(load);
        fab_traffic_release(&plain);
        fab_traffic_release(&mixed);
        fab_fabric_free(f);
    }
}

/* A pattern whose servers are renamed asks every flow for the same rate, and every NIC carries what its old one did. */
Test(properties, names_of_servers_change_no_rate) {
    fab_rng rng = fab_rng_make(13, 1);
    for (size_t i = 0; i < N_SMALL; i++) {
        fab_design design;
        fab_counts counts;
        fab_fabric *f = fixture_build(SMALL[i], &design, &counts);
        fab_traffic traffic = {0};
        fab_error err = {0};
        uint32_t order[64];
        cr_assert_eq(fab_traffic_make("pattern:hotspot", &design, f, 3, &traffic, &err), FAB_OK, "%s", err.text);
        fab_phase *phase = &traffic.phases[0];
        double *before = calloc(phase->n_flows, sizeof *before);
        double *after = calloc(phase->n_flows, sizeof *after);
        fixture_offered_rates(f, phase, before);
        shuffle(&rng, order, f->n_servers);
        for (uint32_t k = 0; k < phase->n_flows; k++) {
            uint32_t size = f->gpus_per_server;
            phase->src[k] = order[phase->src[k] / size] * size + phase->src[k] % size;
            phase->dst[k] = order[phase->dst[k] / size] * size + phase->dst[k] % size;
        }
        fixture_offered_rates(f, phase, after);
        for (uint32_t k = 0; k < phase->n_flows; k++) {
            cr_expect_float_eq(before[k], after[k], 1e-9 * before[k], "%s: flow %u", SMALL[i], k);
        }
        free(before);
        free(after);
        fab_traffic_release(&traffic);
        fab_fabric_free(f);
    }
}

/* --- capacity -------------------------------------------------------------------------------------------------- */

/* Rates offered by a permutation, and what they make of every link under ideal spraying. */
typedef struct use {
    fab_fabric *fabric;
    double *rate, *load;
} use;

static use spray(const char *design_text, const char *suffix) {
    char text[256];
    fab_design design;
    fab_counts counts;
    use u = {.fabric = NULL};
    fab_traffic traffic = {0};
    (void)snprintf(text, sizeof text, "%s,%s", design_text, suffix);
    u.fabric = fixture_build(text, &design, &counts);
    traffic = fixture_traffic("pattern:permutation", &design, u.fabric, 5);
    u.rate = calloc(traffic.phases[0].n_flows, sizeof *u.rate);
    u.load = calloc(u.fabric->n_links, sizeof *u.load);
    fixture_offered_rates(u.fabric, &traffic.phases[0], u.rate);
    fixture_spray_load(u.fabric, &traffic.phases[0], u.rate, u.load);
    fab_traffic_release(&traffic);
    return u;
}

static void discard(use *u) {
    fab_fabric_free(u->fabric);
    free(u->rate);
    free(u->load);
}

/* Utilisation of `b` over that of `a` must be `access` on links of NICs and `fabric` on links between switches. */
static void compare(const use *a, const use *b, bool same_rates, double access, double fabric, const char *text) {
    uint32_t n_loaded = 0;
    cr_assert_eq(a->fabric->n_links, b->fabric->n_links, "%s", text);
    for (uint32_t l = 0; l < a->fabric->n_links; l++) {
        const fab_link_class *k = fab_class_of(a->fabric, l);
        if (k->tier == 0) {
            continue;
        }
        double expected = k->kind == FAB_LINK_ACCESS ? access : fabric;
        double before = a->load[l] / k->capacity_bps;
        double after = (same_rates ? a->load[l] : b->load[l]) / fab_class_of(b->fabric, l)->capacity_bps;
        cr_assert_float_eq(after, expected * before, 1e-9, "%s: link %u: %g after %g", text, l, after, before);
        n_loaded += before > 0;
    }
    cr_assert_gt(n_loaded, 20, "%s", text);
}

/* The NIC rate decides what is offered, the port rate what a link between switches carries:
 * both doubled, utilisation stays; the same offered rates over doubled links use half of them; the NICs alone doubled,
 * up to the rate of the ports, doubles the utilisation between switches and leaves that of their own links. */
Test(properties, doubling_capacity) {
    for (size_t i = 0; i < N_SMALL; i++) {
        use slow = spray(SMALL[i], "nic=200Gb/s,port=200Gb/s");
        bool is_tree = slow.fabric->wiring == FAB_WIRING_TREE;
        use fast = spray(SMALL[i], "nic=400Gb/s,port=400Gb/s");
        compare(&slow, &fast, false, 1, 1, SMALL[i]);
        compare(&slow, &fast, true, 0.5, 0.5, SMALL[i]);
        discard(&slow);
        discard(&fast);
        /* slower NICs need fewer uplinks for the same taper: half the taper keeps the graph */
        slow = spray(SMALL[i], is_tree ? "nic=200Gb/s,port=800Gb/s,taper=0.25" : "nic=200Gb/s,port=800Gb/s");
        fast = spray(SMALL[i], is_tree ? "nic=400Gb/s,port=800Gb/s,taper=0.5" : "nic=400Gb/s,port=800Gb/s");
        compare(&slow, &fast, false, 1, 2, SMALL[i]);
        discard(&slow);
        discard(&fast);
    }
}

/* A leaf with the same NICs and fewer uplinks cannot carry more between the halves. `down` keeps the leaves as they
 * are: without it a taper makes leaves larger, and what turns round at a leaf needs no uplink. */
Test(properties, taper_never_adds_bisection) {
    static const char *const TREES[] = {"clos", "fat-tree", "rail-spine"};
    fab_rng rng = fab_rng_make(17, 1);
    uint32_t n_compared = 0;
    for (uint32_t draw = 0; draw < 200; draw++) {
        char head[200];
        double last = 0;
        (void)snprintf(head, sizeof head,
                       "%s:gpus=%" PRIu64 ",gpus-per-server=4,radix=32,tiers=%" PRIu64 ",down=%" PRIu64,
                       TREES[fab_rng_below(&rng, 3)], 4 * random_between(&rng, 2, 60), random_between(&rng, 2, 3),
                       4 * random_between(&rng, 1, 4));
        static const char *const TAPERS[] = {"1", "1.5", "2", "3", "4", "7"};
        for (size_t i = 0; i < sizeof TAPERS / sizeof TAPERS[0]; i++) {
            char text[256];
            fab_design design;
            fab_fabric *f = NULL;
            fab_error err = {0};
            double bps = 0;
            (void)snprintf(text, sizeof text, "%s,taper=%s", head, TAPERS[i]);
            cr_assert_eq(fab_design_read(text, NULL, 0, &design, &err), FAB_OK, "%s: %s", text, err.text);
            fab_status status = fab_topology_build(&design.fabric, &f, NULL, &err);
            if (status == FAB_EINPUT) { /* too large for two tiers */
                continue;
            }
            cr_assert_eq(status, FAB_OK, "%s: %s", text, err.text);
            cr_assert_eq(fab_bisection(f, &bps, &err), FAB_OK);
            cr_assert_gt(bps, 0, "%s", text);
            if (last > 0) {
                cr_assert_leq(bps, last, "%s: %g after %g", text, bps, last);
                n_compared++;
            }
            last = bps;
            fab_fabric_free(f);
        }
    }
    cr_assert_gt(n_compared, 300, "%u", n_compared);
}
