/* config_db.json of SONiC for each switch, in one archive with the lab that tries it. BGP is configured by the unified
 * framework. Seeds and offsets of hashing are no configuration of SONiC: files of their own have them for swssconfig.
 * Source: sonic-net/SONiC, doc/mgmt/SONiC_Design_Doc_Unified_FRR_Mgmt_Interface.md, doc/hash, doc/fgnhg. */
#include "fab/network_write.h"
#include "switch_plan.h"

#define BUCKETS 8 /* of resilient hashing, for each next hop */

/* A row of a table: the comma before it where it is not the first. */
static void sonic_row(fab_str *out, bool *is_first) {
    fab_str_add(out, *is_first ? "\n        " : ",\n        ");
    *is_first = false;
}

static void sonic_open(fab_str *out, const char *table, bool *is_first) {
    fab_str_printf(out, ",\n    \"%s\": {", table);
    *is_first = true;
}

static void sonic_put_ports(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    bool is_first = true;
    sonic_open(out, "PORT", &is_first);
    for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
        const fab_switch_port *p = &plan->port[i];
        sonic_row(out, &is_first);
        fab_str_printf(out, "\"%s\": {\"alias\": \"%s\", \"index\": \"%" PRIu32 "\", \"lanes\": \"", p->sonic, p->name,
                       p->number);
        for (uint32_t k = 0; k < p->n_lanes; k++) {
            fab_str_printf(out, "%s%" PRIu32, k > 0 ? "," : "", p->lane + k + 1);
        }
        fab_str_printf(out, "\", \"speed\": \"%.0f\", \"mtu\": \"9100\", \"admin_status\": \"up\"}", p->rate_bps / 1e6);
    }
    fab_str_add(out, "}");
    sonic_open(out, "DEVICE_NEIGHBOR", &is_first);
    for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
        const fab_switch_port *p = &plan->port[i];
        sonic_row(out, &is_first);
        fab_str_printf(out, "\"%s\": {\"name\": \"%s\", \"port\": \"%s\"}", p->sonic, plan->boxes.box[p->far_box].name,
                       p->far != FAB_NETWORK_NONE ? plan->port[p->far].sonic : p->far_name);
    }
    fab_str_add(out, "}");
}

static void sonic_put_interfaces(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    char text[16];
    bool is_first = true;
    sonic_open(out, "INTERFACE", &is_first);
    for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
        const fab_switch_port *p = &plan->port[i];
        sonic_row(out, &is_first);
        if (p->far != FAB_NETWORK_NONE) {
            fab_str_printf(out, "\"%s\": {\"ipv6_use_link_local_only\": \"enable\"}", p->sonic);
        } else {
            fab_str_printf(out, "\"%s\": {},\n        \"%s|%s/31\": {}", p->sonic, p->sonic,
                           fab_address_text(text, p->address));
        }
    }
    fab_str_add(out, "}");
    (void)fab_address_text(text, plan->loopback[box]);
    fab_str_printf(out, ",\n    \"LOOPBACK_INTERFACE\": {\"Loopback0\": {}, \"Loopback0|%s/32\": {}}", text);
}

static void sonic_put_bgp(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    char text[16];
    bool is_first = true;
    fab_str_printf(out,
                   ",\n    \"BGP_GLOBALS\": {\"default\": {\"local_asn\": \"%" PRIu32 "\", \"router_id\": \"%s\", "
                   "\"load_balance_mp_relax\": \"true\", \"ebgp_requires_policy\": \"false\"}}"
                   ",\n    \"BGP_GLOBALS_AF\": {\"default|ipv4_unicast\": {\"max_ebgp_paths\": \"%" PRIu32 "\"}}"
                   ",\n    \"ROUTE_REDISTRIBUTE\": {\"default|connected|bgp|ipv4\": {}}",
                   plan->asn[box], fab_address_text(text, plan->loopback[box]), plan->width[box]);
    if (plan->block[box] != 0) {
        fab_str_printf(out,
                       ",\n    \"BGP_GLOBALS_AF_AGGREGATE_ADDR\": {\"default|ipv4_unicast|%s/%u\": "
                       "{\"summary_only\": \"true\"}}",
                       fab_address_text(text, plan->block[box]), 32 - plan->block_bits);
    }
    for (int table = 0; table < 2; table++) {
        sonic_open(out, table == 0 ? "BGP_NEIGHBOR" : "BGP_NEIGHBOR_AF", &is_first);
        for (uint32_t i = plan->first[box]; i < plan->first[box + 1]; i++) {
            if (plan->port[i].far != FAB_NETWORK_NONE) {
                sonic_row(out, &is_first);
                fab_str_printf(out,
                               table == 0 ? "\"default|%s\": {\"peer_type\": \"external\"}"
                                          : "\"default|%s|ipv4_unicast\": {\"admin_status\": \"true\"}",
                               plan->port[i].sonic);
            }
        }
        fab_str_add(out, "}");
    }
}

/* What SONiC calls a hash; NULL: it has none that is the same. */
static const char *sonic_algorithm(const char *name) {
    static const char *const SAME[][2] = {{"crc32", "CRC"}, {"crc16", "CRC_CCITT"}, {"xor", "XOR"}};
    FAB_FIRST(i, FAB_N_OF(SAME), strcmp(SAME[i][0], name) == 0);
    return i < FAB_N_OF(SAME) ? SAME[i][1] : NULL;
}

static void sonic_put_hash(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    const fab_network_hash *hash = plan->shape->net->hash;
    uint32_t tier = plan->boxes.box[box].tier;
    uint32_t width = plan->width[box];
    char text[16];
    bool is_first = true;
    fab_str_add(out, ",\n    \"SWITCH_HASH\": {\"GLOBAL\": {\"ecmp_hash\": [\"SRC_IP\", \"DST_IP\", \"IP_PROTOCOL\", "
                     "\"L4_SRC_PORT\", \"L4_DST_PORT\"]");
    if (hash != NULL && tier > 0 && sonic_algorithm(hash->tier[tier - 1].algorithm) != NULL) {
        fab_str_printf(out, ", \"ecmp_hash_algorithm\": \"%s\"", sonic_algorithm(hash->tier[tier - 1].algorithm));
    }
    fab_str_add(out, "}}");
    if (hash == NULL || !hash->is_resilient || width < 2) {
        return;
    }
    fab_str_printf(out,
                   ",\n    \"FG_NHG\": {\"fabric\": {\"bucket_size\": \"%" PRIu32
                   "\", \"match_mode\": \"prefix-based\", \"max_next_hops\": \"%" PRIu32 "\"}}",
                   BUCKETS * width, width);
    sonic_open(out, "FG_NHG_PREFIX", &is_first);
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        if (i != box && plan->block[i] != 0) {
            sonic_row(out, &is_first);
            fab_str_printf(out, "\"%s/%u\": {\"FG_NHG\": \"fabric\"}", fab_address_text(text, plan->block[i]),
                           32 - plan->block_bits);
        }
    }
    fab_str_add(out, "}");
}

static void sonic_put_config(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    static const char *const TYPES[] = {"", "LeafRouter", "SpineRouter", "UpperSpineRouter"};
    const fab_box *b = &plan->boxes.box[box];
    fab_str_printf(out,
                   "{\n    \"DEVICE_METADATA\": {\"localhost\": {\"hostname\": \"%s\", \"bgp_asn\": \"%" PRIu32 "\", ",
                   b->name, plan->asn[box]);
    if (b->tier > 0 && b->tier < FAB_N_OF(TYPES)) {
        fab_str_printf(out, "\"type\": \"%s\", ", TYPES[b->tier]);
    }
    fab_str_add(out, "\"docker_routing_config_mode\": \"unified\", \"frr_mgmt_framework_config\": \"true\"}}");
    sonic_put_ports(plan, box, out);
    sonic_put_interfaces(plan, box, out);
    sonic_put_bgp(plan, box, out);
    sonic_put_hash(plan, box, out);
    fab_str_add(out, "\n}\n");
}

static void sonic_put_seeds(const fab_switch_plan *plan, uint32_t box, fab_str *out) {
    const fab_network_hash *hash = plan->shape->net->hash;
    uint32_t tier = plan->boxes.box[box].tier;
    if (hash == NULL || tier == 0) {
        fab_str_add(out, "[]\n");
        return;
    }
    fab_str_printf(out,
                   "[\n    {\"SWITCH_TABLE:switch\": {\"ecmp_hash_seed\": \"%" PRIu32
                   "\", \"ecmp_hash_offset\": \"%" PRIu32 "\"}, \"OP\": \"SET\"}\n]\n",
                   hash->tier[tier - 1].seed, hash->tier[tier - 1].offset);
}

static fab_status write_sonic(const fab_shape *shape, FILE *out, fab_error *err) {
    static const fab_switch_system SONIC = {
        .kind = "sonic-vs",
        .image = "docker-sonic-vs:latest",
        .file = {{"config_db", "json", "/etc/sonic/config_db.json", sonic_put_config},
                 {"hash", "json", "/etc/swss/config.d/switch.json", sonic_put_seeds}},
        .is_sonic = true};
    return fab_switches_write(shape, &SONIC, out, err);
}

const fab_network_writer fab_network_sonic = {
    "sonic", ".sonic.tar", "config_db.json of SONiC for each switch, and a lab of containerlab that runs it: tar",
    write_sonic};
