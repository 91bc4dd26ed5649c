/* Configuration of switches that run FRR (also Cumulus Linux): BGP without numbers between switches, as RFC 7938 has it
 * for fabrics; one archive with a folder for each switch and the lab that tries it. Source: docs.frrouting.org (bgp,
 * zebra), Linux' ip-sysctl. */
#include "fab/network_write.h"
#include "switch_plan.h"

static void frr_put_interfaces(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    char text[16];
    fab_str_printf(out, "interface lo\n ip address %s/32\nexit\n!\n", fab_address_text(text, plan->loopback[box]));
    for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
        const fab_switch_port *p = &plan->port[i];
        fab_str_printf(out, "interface %s\n description %s %s\n", p->name, plan->boxes.box[p->far_box].name,
                       p->far_name);
        if (p->far == FAB_NETWORK_NONE) {
            fab_str_printf(out, " ip address %s/31\n", fab_address_text(text, p->address));
        }
        fab_str_add(out, "exit\n!\n");
    }
}

static void frr_put_bgp(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    char text[16];
    fab_str_printf(out,
                   "router bgp %" PRIu32 "\n"
                   " bgp router-id %s\n"
                   " bgp bestpath as-path multipath-relax\n"
                   " no bgp ebgp-requires-policy\n"
                   " neighbor fabric peer-group\n"
                   " neighbor fabric remote-as external\n",
                   plan->asn[box], fab_address_text(text, plan->loopback[box]));
    for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
        if (plan->port[i].far != FAB_NETWORK_NONE) {
            fab_str_printf(out, " neighbor %s interface peer-group fabric\n", plan->port[i].name);
        }
    }
    fab_str_printf(out, " !\n address-family ipv4 unicast\n  redistribute connected\n  maximum-paths %" PRIu32 "\n",
                   plan->width[box]);
    if (plan->block[box] != 0) {
        fab_str_printf(out, "  aggregate-address %s/%u summary-only\n", fab_address_text(text, plan->block[box]),
                       32 - plan->block_bits);
    }
    fab_str_add(out, " exit-address-family\nexit\n!\n");
}

static void frr_put(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    fab_str_printf(out, "frr defaults datacenter\nhostname %s\nip forwarding\n!\n", plan->boxes.box[box].name);
    frr_put_interfaces(plan, box, out);
    frr_put_bgp(plan, box, out);
}

static void frr_put_sysctl(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    const fab_network_hash *hash = plan->shape->net->hash;
    uint32_t tier = plan->boxes.box[box].tier;
    fab_str_add(out, "net.ipv4.ip_forward = 1\n"
                     "net.ipv4.fib_multipath_hash_policy = 1\n"); /* addresses, protocol and ports */
    if (hash != NULL && tier > 0) {
        fab_str_printf(out, "net.ipv4.fib_multipath_hash_seed = %" PRIu32 "\n", hash->tier[tier - 1].seed);
    }
}

static fab_status write_frr(const fab_shape *shape, FILE *out, fab_error *err) {
    static const fab_switch_system FRR = {.kind = "linux",
                                          .image = "quay.io/frrouting/frr:8.5.4",
                                          .file = {{"frr", "conf", "/etc/frr/frr.conf", frr_put},
                                                   {"sysctl", "conf", "/etc/sysctl.d/fabric.conf", frr_put_sysctl}},
                                          .exec = "sysctl -p /etc/sysctl.d/fabric.conf",
                                          .shared = "daemons:/etc/frr/daemons",
                                          .text = "zebra=yes\nbgpd=yes\nvtysh_enable=yes\n"};
    return fab_switches_write(shape, &FRR, out, err);
}

const fab_network_writer fab_network_frr = {
    "frr", ".frr.tar", "configuration of FRR for each switch, and a lab of containerlab that runs it: tar", write_frr};
