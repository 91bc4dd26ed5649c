#include "fab/design.h"
#include "fab/fabric_parse.h"
#include "fab/mask.h"
#include "fab/names.h"
#include "fab/routing.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct built {
    char path[64];
    fab_fabric *f;
    fab_counts counts;
} built;

/* A file of these lines as a fabric. */
static void build(built *b, const char *text, const char *keys) {
    fab_error err = {0};
    fab_design *design = calloc(1, sizeof *design);
    char line[256];
    (void)snprintf(b->path, sizeof b->path, "/tmp/fab-installed-XXXXXX");
    int fd = mkstemp(b->path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
    (void)snprintf(line, sizeof line, "installed:%s%s", b->path, keys);
    cr_assert_eq(fab_design_read(line, NULL, 0, design, &err), FAB_OK, "%s: %s", err.where, err.text);
    cr_assert_eq(fab_topology_build(&design->fabric, &b->f, &b->counts, &err), FAB_OK, "%s", err.text);
    free(design);
}

static void drop(built *b) {
    fab_fabric_free(b->f);
    (void)unlink(b->path);
}

#define HEAD "A-node,A-port,Z-node,Z-port,rate\n"

static fab_node_id node(const built *b, const char *name) {
    fab_node_id v = FAB_NONE;
    fab_error err = {0};
    cr_assert_eq(fab_node_parse(b->f, name, &v, &err), FAB_OK, "%s: %s", name, err.text);
    return v;
}

Test(installed, names_are_those_of_the_file) {
    built b;
    char name[FAB_LINK_NAME_SIZE];
    fab_link_id link = 0;
    fab_component c;
    fab_error err = {0};
    build(&b,
          HEAD "node-2/nic-0,p0,MF0;sw:1:X/U1,swp7,200Gb/s\n"
               "node-10/nic-0,p0,MF0;sw:1:X/U1,swp8,200Gb/s\n"
               "MF0;sw:1:X/U1,swp1,top,3,800Gb/s\n",
          "");
    fab_node_id leaf = node(&b, "MF0;sw:1:X/U1");
    cr_expect_eq(fab_tier_of(b.f, leaf), 1);
    cr_expect_eq(fab_tier_of(b.f, node(&b, "top")), 2);
    cr_expect_str_eq(fab_server_name(b.f, 0, name), "node-2", "numbers count by their value");
    cr_expect_str_eq(fab_server_name(b.f, 1, name), "node-10");
    /* a colon in the name of a box does not end it */
    cr_assert_eq(fab_link_parse(b.f, "MF0;sw:1:X/U1:swp1", &link, &err), FAB_OK, "%s", err.text);
    cr_expect_str_eq(fab_link_name(b.f, link, name), "MF0;sw:1:X/U1:swp1 > top:3");
    cr_expect_eq(fab_class_of(b.f, link)->capacity_bps, 800e9);
    cr_expect_eq(fab_class_of(b.f, link)->tier, 2);
    /* every name reads back */
    for (fab_link_id l = 0; l < b.f->n_links; l++) {
        fab_link_id again = FAB_NONE;
        cr_assert_eq(fab_link_parse(b.f, fab_link_name(b.f, l, name), &again, &err), FAB_OK, "%s: %s", name, err.text);
        cr_expect_eq(again, l, "%s", name);
    }
    for (uint32_t kind = 0; kind < FAB_COMPONENT_N_KINDS; kind++) {
        for (uint32_t i = 0; kind != FAB_COMPONENT_RACK && i < fab_component_count(b.f, NULL, kind); i++) {
            bool is_link = kind == FAB_COMPONENT_LINK || kind == FAB_COMPONENT_PORT;
            fab_component one = {.kind = kind, .id = is_link ? b.f->n_links - 1 - i : i, .fraction = 0.5};
            char text[FAB_COMPONENT_NAME_SIZE];
            (void)fab_component_name(b.f, &one, text);
            cr_assert_eq(fab_component_parse(b.f, NULL, text, &c, &err), FAB_OK, "%s: %s", text, err.text);
            cr_expect(c.kind == one.kind && c.id == one.id && c.fraction == 0.5, "%s", text);
        }
    }
    drop(&b);
}

Test(installed, a_slot_without_a_cable_is_no_way) {
    built b;
    fab_ports ports;
    fab_error err = {0};
    /* node-1 has its third adapter nowhere: it stands behind the whole ones */
    build(&b,
          HEAD "node-1/nic-0,1,a,1,\nnode-1/nic-1,1,b,1,\n"
               "node-2/nic-0,1,a,2,\nnode-2/nic-1,1,b,2,\nnode-2/nic-2,1,c,2,\n"
               "node-3/nic-0,1,a,3,\nnode-3/nic-1,1,b,3,\nnode-3/nic-2,1,c,3,\n"
               "a,9,top,1,\nb,9,top,2,\nc,9,top,3,\n",
          ",nic=100Gb/s");
    cr_assert_eq(b.f->n_servers, 3);
    cr_expect_eq(b.f->n_cut_servers, 1);
    cr_expect_eq(fab_n_complete_servers(b.f), 2);
    cr_expect_eq(b.counts.cables_by_tier[0], 8);
    cr_expect_eq(fab_class_of(b.f, b.f->n_links - 1)->capacity_bps, 100e9, "where the file has no rate");
    cr_assert_eq(fab_ports_init(b.f, &ports, &err), FAB_OK);
    cr_expect_eq(ports.n_cut, 1);
    cr_expect_eq(ports.nic_access[8], FAB_NONE, "the last slot of the last server");
    fab_phase all = {.all = {.first = 0, .n = 6, .bytes = 1}, .n_flows = 30};
    cr_expect_eq(fab_ports_check(b.f, &ports, &all, &err), FAB_OK);
    all.all.n = 9;
    cr_expect_eq(fab_ports_check(b.f, &ports, &all, &err), FAB_EUNREACHABLE);
    cr_expect(strstr(err.text, "gpu-8") != NULL && strstr(err.text, "node-1") != NULL, "%s", err.text);
    fab_ports_release(&ports);
    drop(&b);
}

Test(installed, planes_pods_and_what_is_no_tree) {
    built b;
    /* two ports of each adapter into networks of their own */
    build(&b, HEAD "node-1/nic-0,1,a,1,\nnode-1/nic-0,2,b,1,\nnode-2/nic-0,1,a,2,\nnode-2/nic-0,2,b,2,\n", "");
    cr_expect_eq(b.f->n_planes, 2);
    cr_expect_eq(b.f->nics_per_server, 1);
    cr_expect_neq(b.f->switch_plane[0], b.f->switch_plane[1]);
    drop(&b);
    /* into one: NICs of their own */
    build(&b,
          HEAD
          "node-1/nic-0,1,a,1,\nnode-1/nic-0,2,b,1,\nnode-2/nic-0,1,a,2,\nnode-2/nic-0,2,b,2,\na,9,c,1,\nb,9,c,2,\n",
          "");
    cr_expect_eq(b.f->n_planes, 1);
    cr_expect_eq(b.f->nics_per_server, 2);
    cr_expect_eq(b.f->wiring, FAB_WIRING_TREE);
    cr_expect_eq(b.f->n_tiers, 2);
    drop(&b);
    /* two pods under a core */
    build(&b,
          HEAD "node-1/nic-0,1,a,1,\nnode-2/nic-0,1,b,1,\nnode-3/nic-0,1,c,1,\nnode-4/nic-0,1,d,1,\n"
               "a,9,p,1,\nb,9,p,2,\nc,9,q,1,\nd,9,q,2,\np,9,top,1,\nq,9,top,2,\n",
          "");
    cr_expect_eq(b.f->n_tiers, 3);
    cr_expect_eq(b.f->n_pods, 2);
    cr_expect_eq(b.f->switch_pod[0], b.f->switch_pod[1]);
    cr_expect_neq(b.f->switch_pod[0], b.f->switch_pod[2]);
    drop(&b);
    /* a cable between two leaves */
    build(&b, HEAD "node-1/nic-0,1,a,1,\nnode-2/nic-0,1,b,1,\na,9,b,9,\na,8,top,1,\nb,8,top,2,\n", "");
    cr_expect_eq(b.f->wiring, FAB_WIRING_GRAPH);
    cr_expect_eq(b.f->n_tiers, 1);
    cr_expect_eq(b.f->n_boundaries, 2);
    drop(&b);
}

Test(installed, groups_of_the_file_are_domains) {
    built b;
    /* SimAI: eight GPUs, two to a server, an NVSwitch each; the last two nodes are switches of the network */
    build(&b,
          "14 2 4 2 16 H100\n8 9 10 11 12 13\n"
          "0 8 2880Gbps 0.000025ms 0\n1 8 2880Gbps 0.000025ms 0\n2 9 2880Gbps 0.000025ms 0\n3 9 2880Gbps 0.000025ms 0\n"
          "4 10 2880Gbps 0.000025ms 0\n5 10 2880Gbps 0.000025ms 0\n6 11 2880Gbps 0.000025ms 0\n7 11 2880Gbps "
          "0.000025ms 0\n"
          "0 12 400Gbps 0.0005ms 0\n1 13 400Gbps 0.0005ms 0\n2 12 400Gbps 0.0005ms 0\n3 13 400Gbps 0.0005ms 0\n"
          "4 12 400Gbps 0.0005ms 0\n5 13 400Gbps 0.0005ms 0\n6 12 400Gbps 0.0005ms 0\n7 13 400Gbps 0.0005ms 0\n",
          "");
    cr_expect_eq(b.f->n_servers, 4);
    cr_expect_eq(b.f->gpus_per_domain, 2);
    cr_expect_eq(b.f->nics_per_server, 2);
    for (uint32_t c = 0; c < b.f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(b.f, 2 * c);
        cr_expect_eq(k->capacity_bps, k->kind == FAB_LINK_SCALEUP ? 2880e9 : 400e9);
    }
    /* rails that no cable joins: traffic between them is relayed (PXN) inside the servers */
    cr_expect(b.f->forwards_in_domain);
    cr_expect_eq(b.f->rails_per_network, 1);
    drop(&b);
}

Test(installed, the_digest_is_of_the_content) {
    char digest[3][17];
    static const char *const TEXTS[] = {HEAD "node-1/nic-0,1,a,1,\nnode-2/nic-0,1,a,2,\n",
                                        HEAD "node-1/nic-0,1,a,1,\nnode-2/nic-0,1,a,2,\n",
                                        HEAD "node-1/nic-0,1,a,1,\nnode-2/nic-0,1,a,3,\n"};
    for (size_t i = 0; i < 3; i++) {
        built b;
        fab_error err = {0};
        fab_design *design = calloc(1, sizeof *design);
        fab_design *again = calloc(1, sizeof *again);
        fab_str text = FAB_STR_INIT;
        char line[128];
        build(&b, TEXTS[i], "");
        (void)snprintf(line, sizeof line, "installed:%s", b.path);
        cr_assert_eq(fab_design_read(line, NULL, 0, design, &err), FAB_OK);
        cr_assert_eq(fab_design_digest(design, digest[i], NULL), FAB_OK);
        fab_design_describe(design, &text); /* what is described restores the same design */
        cr_assert_eq(fab_design_restore(text.data, again, &err), FAB_OK, "%s", err.text);
        char same[17];
        cr_assert_eq(fab_design_digest(again, same, NULL), FAB_OK);
        cr_expect_str_eq(same, digest[i]);
        fab_str_release(&text);
        free(design);
        free(again);
        drop(&b);
    }
    cr_expect_str_eq(digest[0], digest[1], "of two paths");
    cr_expect_str_neq(digest[0], digest[2]);
}

Test(installed, names_that_cannot_be) {
    fab_names *names = NULL;
    fab_error err = {0};
    char text[FAB_NODE_NAME_SIZE + 1];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    cr_assert_eq(fab_names_new(3, 0, 0, &names, &err), FAB_OK);
    cr_expect_eq(fab_names_set(names, &names->node[0], text, FAB_NODE_NAME_SIZE - 1, &err), FAB_EINPUT);
    cr_expect(strstr(err.text, "limit is 319") != NULL, "%s", err.text);
    cr_assert_eq(fab_names_set(names, &names->node[0], "a,b>c*\"\n", FAB_NODE_NAME_SIZE - 1, &err), FAB_OK);
    cr_expect_str_eq(names->text + names->node[0], "a_b_c___");
    cr_assert_eq(fab_names_set(names, &names->node[1], "alike", FAB_NODE_NAME_SIZE - 1, &err), FAB_OK);
    cr_assert_eq(fab_names_set(names, &names->node[2], "alike", FAB_NODE_NAME_SIZE - 1, &err), FAB_OK);
    memset(&err, 0, sizeof err);
    cr_expect_eq(fab_names_finish(names, &err), FAB_EINPUT);
    cr_expect(strstr(err.text, "'alike'") != NULL, "%s", err.text);
    fab_names_free(names);
}
