/* Every reader of sites against files that are broken in many ways: never a crash, always a place, or a reading that is
 * right. The valid files are data/sites/FORMAT; a reader without one fails here. */
#include "draws.h"
#include "fab/rng.h"
#include "fab/network_write.h"
#include "fab/str.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EACH(f) (size_t f = 0; fab_network_formats[f] != NULL; f++)

static char g_path[] = "/tmp/fab-site-XXXXXX";

static void make_path(void) {
    int file = mkstemp(g_path);
    cr_assert(file >= 0);
    (void)close(file);
}

static void drop_path(void) {
    (void)remove(g_path);
}

TestSuite(network_readers, .init = make_path, .fini = drop_path, .timeout = 120);

static void save(const char *bytes, size_t n) {
    FILE *out = fopen(g_path, "wb");
    cr_assert(out != NULL && fwrite(bytes, 1, n, out) == n && fclose(out) == 0);
}

/* The valid file of a format. */
static fab_str valid(size_t f) {
    char path[512];
    fab_str text = FAB_STR_INIT;
    fab_error err = {0};
    (void)snprintf(path, sizeof path, FAB_TEST_DATA "/sites/%s", fab_network_formats[f]->name);
    cr_assert_eq(fab_read_file(path, (size_t)1 << 20, &text, &err), FAB_OK,
                 "every reader has a small valid file in tests/data/sites: %s", err.text);
    return text;
}

/* What a site says, but for lines. */
static fab_str told(const fab_network *net) {
    fab_str out = FAB_STR_INIT;
    fab_str_printf(&out, "%s %d %d %d\n", net->format, net->has_ports, net->reports_both_ends, net->is_tree_of_names);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        const fab_network_node *n = &net->nodes[i];
        fab_str_printf(&out, "%s|%s|%s|%d|%" PRIx64 "|%" PRIx64 "|%u|%u\n", n->name, n->label,
                       n->host != NULL ? n->host : "-", (int)n->kind, n->guid, n->system_guid, n->tier, n->n_ports);
    }
    for (uint32_t i = 0; i < net->n_cables; i++) {
        const fab_network_cable *c = &net->cables[i];
        fab_str_printf(&out, "%u:%s %u:%s %g %g %u\n", c->end[0].node, c->end[0].port != NULL ? c->end[0].port : "-",
                       c->end[1].node, c->end[1].port != NULL ? c->end[1].port : "-", c->rate_bps, c->length_m,
                       c->width);
    }
    for (uint32_t i = 0; i < net->n_groups; i++) {
        fab_str_printf(&out, "%s %u %u\n", net->groups[i].name, net->groups[i].first, net->groups[i].n);
    }
    cr_assert(!out.failed);
    return out;
}

/* Whatever was read is sound, has a shape, and is written or refused with a reason. */
static void check_network(fab_network *net) {
    fab_error err = {0};
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        const fab_network_node *n = &net->nodes[i];
        cr_assert(n->name != NULL && n->label != NULL && fab_network_find(net, n->name, strlen(n->name)) == i);
    }
    for (uint32_t i = 0; i < net->n_cables; i++) {
        cr_assert(net->cables[i].end[0].node < net->n_nodes && net->cables[i].end[1].node < net->n_nodes);
        cr_assert(net->cables[i].rate_bps >= 0 && net->cables[i].length_m >= 0);
    }
    for (size_t w = 0; fab_network_writers[w] != NULL; w++) {
        FILE *out = tmpfile();
        fab_status status = fab_network_write(fab_network_writers[w], net, out, &err);
        cr_assert(status == FAB_OK || (status == FAB_EUNSUPPORTED && ftell(out) == 0 && err.text[0] != '\0'),
                  "%s: %d %s", fab_network_writers[w]->name, status, err.text);
        err = (fab_error){0};
        (void)fclose(out);
    }
}

/* Reads what was saved: FAB_OK and sound, or FAB_EINPUT with file:line. What is well-formed and not of a network that
 * we know counts as refused, too. */
static fab_status attempt(size_t f, bool writes) {
    fab_network *net = NULL;
    fab_error err = {0};
    fab_status status = fab_network_read(g_path, fab_network_formats[f]->name, 0, &net, &err);
    if (status == FAB_OK) {
        if (writes) {
            check_network(net);
        }
        fab_network_free(net);
        return status;
    }
    size_t n = strlen(g_path);
    cr_assert(status == FAB_EINPUT || status == FAB_EUNSUPPORTED, "%s: %s", fab_network_formats[f]->name, err.text);
    cr_assert(net == NULL && strncmp(err.where, g_path, n) == 0 && err.where[n] == ':' &&
                  strspn(err.where + n + 1, "0123456789") > 0 && err.text[0] != '\0',
              "%s: no place: '%s' '%s'", fab_network_formats[f]->name, err.where, err.text);
    return FAB_EINPUT;
}

/* Recognised by its content, and what it says. */
static fab_str read_saved(const char *what, size_t f) {
    fab_network *net = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_network_read(g_path, NULL, 0, &net, &err), FAB_OK, "%s %s: %s: %s", fab_network_formats[f]->name,
                 what, err.where, err.text);
    cr_assert_str_eq(net->format, fab_network_formats[f]->name);
    cr_assert(net->n_nodes > 3 && net->n_cables > 2);
    check_network(net);
    fab_str text = told(net);
    fab_network_free(net);
    return text;
}

Test(network_readers, line_ends_and_marks_make_no_difference) {
    for
        EACH(f) {
            fab_str text = valid(f);
            fab_str crlf = FAB_STR_INIT;
            fab_str marked = FAB_STR_INIT;
            save(text.data, text.length);
            fab_str wanted = read_saved("as it is", f);
            for (size_t i = 0; i < text.length; i++) {
                fab_str_append(&crlf, text.data[i] == '\n' ? "\r\n" : &text.data[i], text.data[i] == '\n' ? 2 : 1);
            }
            fab_str_add(&marked, "\xef\xbb\xbf");
            fab_str_append(&marked, text.data, text.length - 1); /* and no line feed at the end */
            const fab_str *others[] = {&crlf, &marked};
            for (size_t i = 0; i < 2; i++) {
                save(others[i]->data, others[i]->length);
                fab_str found = read_saved(i == 0 ? "CRLF" : "byte order mark", f);
                cr_assert_str_eq(found.data, wanted.data);
                fab_str_release(&found);
            }
            fab_str_release(&wanted);
            fab_str_release(&marked);
            fab_str_release(&crlf);
            fab_str_release(&text);
        }
}

Test(network_readers, truncated_anywhere) {
    for
        EACH(f) {
            fab_str text = valid(f);
            size_t refused = 0;
            for (size_t n = 0; n < text.length; n += FAB_TEST_SHARE) {
                save(text.data, n);
                refused += attempt(f, n % 16 == 0) == FAB_EINPUT ? 1 : 0;
            }
            cr_assert_gt(refused, text.length / (8 * FAB_TEST_SHARE), "%s: %zu of %zu", fab_network_formats[f]->name,
                         refused, text.length);
            fab_str_release(&text);
        }
}

Test(network_readers, bytes_changed_anywhere) {
    fab_rng rng = fab_rng_make(8, 0);
    static const char BYTES[] = "\0\n\r\t \"'{}[]<>&;:,-=#/\\0123456789abfzAZ\x7f\x80\xc3\xff";
    for
        EACH(f) {
            fab_str text = valid(f);
            for (size_t i = 0; i < DRAWS(800); i++) {
                fab_str other = FAB_STR_INIT;
                bool has_zero = false;
                fab_str_append(&other, text.data, text.length);
                for (uint64_t k = fab_rng_below(&rng, 3) + 1; k-- > 0;) {
                    char c = BYTES[fab_rng_below(&rng, sizeof BYTES - 1)];
                    other.data[fab_rng_below(&rng, text.length)] = c;
                    has_zero = has_zero || c == '\0';
                }
                save(other.data, other.length);
                fab_status status = attempt(f, i % 16 == 0);
                cr_assert(!has_zero || memchr(other.data, '\0', other.length) == NULL || status == FAB_EINPUT,
                          "%s reads a zero byte", fab_network_formats[f]->name);
                fab_str_release(&other);
            }
            fab_str_release(&text);
        }
}

/* Lines that are left out, twice there, or in another order: what they name is missing or there twice. */
Test(network_readers, lines_moved) {
    fab_rng rng = fab_rng_make(9, 0);
    for
        EACH(f) {
            fab_str text = valid(f);
            const char *lines[64];
            size_t n = 0;
            for (const char *at = text.data; *at != '\0' && n < 64; at = strchr(at, '\n') + 1) {
                lines[n++] = at;
            }
            for (size_t i = 0; i < DRAWS(500); i++) {
                fab_str other = FAB_STR_INIT;
                for (size_t k = 0; k < n; k++) {
                    uint64_t what = fab_rng_below(&rng, 12);
                    const char *line = what == 0 ? lines[fab_rng_below(&rng, n)] : lines[k];
                    for (size_t copies = what == 1 ? 0 : what == 2 ? 2 : 1; copies-- > 0;) {
                        fab_str_append(&other, line, (size_t)(strchr(line, '\n') - line) + 1);
                    }
                }
                save(other.length > 0 ? other.data : "", other.length);
                (void)attempt(f, i % 8 == 0);
                fab_str_release(&other);
            }
            fab_str_release(&text);
        }
}

Test(network_readers, no_text_at_all) {
    fab_rng rng = fab_rng_make(10, 0);
    for
        EACH(f) {
            fab_str text = valid(f);
            fab_str wide = FAB_STR_INIT;
            fab_error err = {0};
            fab_network *net = NULL;
            for (size_t i = 0; i < 20; i++) {
                char noise[4096];
                for (size_t k = 0; k < sizeof noise; k++) {
                    noise[k] = (char)fab_rng_below(&rng, 256);
                }
                save(noise, sizeof noise);
                cr_assert_eq(attempt(f, false), FAB_EINPUT, "%s reads noise", fab_network_formats[f]->name);
            }
            for (size_t end = 0; end < 2; end++) { /* UTF-16, both byte orders */
                wide.length = 0;
                fab_str_append(&wide, end == 0 ? "\xff\xfe" : "\xfe\xff", 2);
                for (size_t i = 0; i < text.length; i++) {
                    char pair[2] = {end == 0 ? text.data[i] : '\0', end == 0 ? '\0' : text.data[i]};
                    fab_str_append(&wide, pair, 2);
                }
                save(wide.data, wide.length);
                cr_assert_eq(fab_network_read(g_path, NULL, 0, &net, &err), FAB_EINPUT);
                cr_assert(strstr(err.text, "UTF-16") != NULL && strstr(err.where, ":1") != NULL);
                err = (fab_error){0};
                (void)attempt(f, true); /* XML may be in UTF-16 */
            }
            save("", 0);
            cr_assert_eq(fab_network_read(g_path, NULL, 0, &net, &err), FAB_EINPUT);
            cr_assert(strstr(err.where, ":1") != NULL && strstr(err.text, "empty") != NULL);
            (void)attempt(f, true);
            save(" \n\t\n\n", 5);
            (void)attempt(f, true);
            fab_str_release(&wide);
            fab_str_release(&text);
        }
}

/* A word of 3 MiB in place of every byte in turn would be slow: a few places, and one line of the whole file. */
Test(network_readers, very_long_lines) {
    fab_rng rng = fab_rng_make(11, 0);
    static char word[(size_t)3 << 20];
    memset(word, 'x', sizeof word);
    for
        EACH(f) {
            fab_str text = valid(f);
            for (size_t i = 0; i < DRAWS(12); i++) {
                fab_str other = FAB_STR_INIT;
                size_t at = (size_t)fab_rng_below(&rng, text.length);
                fab_str_append(&other, text.data, at);
                fab_str_append(&other, word, sizeof word);
                fab_str_append(&other, text.data + at, text.length - at);
                save(other.data, other.length);
                (void)attempt(f, false);
                fab_str_release(&other);
            }
            for (size_t i = 0; i < text.length; i++) {
                text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
            }
            save(text.data, text.length);
            (void)attempt(f, true);
            fab_str_release(&text);
        }
}

/* What is there twice or leads nowhere, one by one: the line, and words of the message; NULL: it is read. */
static const struct {
    const char *format, *from, *to, *place, *text;
} BROKEN[] = {
    {"ibnetdiscover", "\"H-0000000000000002\"\t\t# \"node-1 HCA-1\"\n", "\"H-0000000000000001\"\t\t#\n",
     ":31:", "has a record on line 24 already"},
    {"ibnetdiscover", "\n[1](2) ", "\n[300](2) ", ":32:", "port number up to 254"},
    {"ibnetdiscover", "Ca\t1 \"H-0000000000000002\"", "Ca\t0 \"H-0000000000000002\"", ":31:", "no number of ports"},
    {"ibnetdiscover-ports", "4x EDR - CA     1", "4x XYZ - CA     1", ":1:", "width and speed"},
    {"ibnetdiscover-ports", "SW     3  2 0x", "SW     3  2 x", ":2:", "no GUID"},
    {"ibnetdiscover", "vendid=0x2c9\n", "[root@head ~]# ibnetdiscover\nvendid=0x2c9\n", NULL, NULL},
    {"ibnetdiscover", "#\n# Topology", "ibwarn: [7] mad_rpc: failed; dport (Lid 3)\n\n# Topology", NULL, NULL},
    {"ibnetdiscover", "[2]\t", "src/query_smp.c:199; umad (DR path slid 0) bad status 110\n[2]\t", NULL, NULL},
    {"ibnetdiscover-ports", "SW     3  2", "admin@head:~$ \nSW     3  2", NULL, NULL},
    {"slurm", "SwitchName=leaf-1", "ops@head:~$ scontrol show topology leaf-1\nSwitchName=leaf-1", NULL, NULL},
    {"slurm", "SwitchName=leaf-1", "SwitchName=s0 Nodes=a #\nSwitchName=leaf-1", ":3:", "stands where"},
    {"slurm", "SwitchName=leaf-1", "SwitchName=s0 Nodes=a > scontrol show\nSwitchName=leaf-1", ":3:", "stands where"},
    {"opensm-subnet", "NodeGUID:0000000000000010", "NodeGUID:000000000000001g", ":1:", "no hexadecimal number"},
    {"opensm-subnet", "Ports:28", "Ports:FF", ":1:", "a node has 1 to FE"},
    {"opensm-subnet", "PHY=", "PHI=", ":1:", "PHY="},
    {"iblinkinfo", "3   40[  ]", "3   400[  ]", ":8:", "the LID and the port"},
    {"iblinkinfo", "       4    1[  ] \"a", "       0    1[  ] \"a", ":8:", "LID 0"},
    {"iblinkinfo", "CA: node-1 mlx5_0:\n", "node-1$ iblinkinfo\n", ":2:", "before the first line of a box"},
    {"iblinkinfo", "CA: node-1 mlx5_0:\n", "ibwarn: [3] timeout\nCA: node-1 mlx5_0:\n", NULL, NULL},
    {"ibdiagnet", "0x11               :", "0xg1               :", ":8:", "no GUID"},
    {"ibdiagnet", ": 40  :", ": 400 :", ":8:", "no port, 0 to 254"},
    {"ibdiagnet", "Mellanox, 0x10,", "Mellanox, 10,", ":4:", "expected a switch"},
    {"ibdiagnet", "\"node-0 mlx5_0\"", "node-0 mlx5_0", ":6:", "in quotes"},
    {"gexf", "id=\"n1\"", "id=\"n0\"", ":15:", "node 'n0' is there already"},
    {"gexf", "target=\"n3\"", "target=\"n9\"", ":22:", "the target of an edge, 'n9', is no node"},
    {"gexf", "for=\"0\" value=\"nic\"", "for=\"7\" value=\"nic\"", ":14:", "a value of key 'node 7'"},
    {"gexf", "<attribute id=\"1\"", "<attribute id=\"0\"", ":10:", "key 'edge 0' is there already"},
    {"gexf", "title=\"rate\"", "title=\"length_m\"", ":20:", "'400Gb/s' is no number"},
    {"gexf", "<node id=\"n3\"/>", "<node/>", ":17:", "'id' is missing"},
    {"gexf", "<creator>somebody", "<creator>fabriscope</creator><description>a; view pod</description><creator>",
     ":3:", "a merged view"},
    {"snmp", ".120.40.3 = INTEGER", ".120.40 = INTEGER", ":9:", "is no index"},
    {"snmp", "STRING: leaf-0.example.org", "STRING: ", NULL, NULL},
    {"ufm", "\"source_port\": \"2\", ", "", ":1:1", "link 2: its source has no GUID or port"},
    {"minigraph", "<StartPort>eth1</StartPort>", "", ":18:7", "a link without StartDevice or StartPort"},
    {"minigraph", "<Hostname>leaf-0</Hostname>\n</", "</", NULL, NULL},
    {"slurm", "SwitchName=leaf-1 ", "SwitchName=leaf-0 ", ":3:", "has a line already"},
    {"slurm", "Switches=leaf-[0-1]", "Switches=node-[0-1]", ":4", "is a switch here and a node on line 2"},
    {"slurm", "leaf-[0-1]", "leaf-[0-2]", NULL, NULL}, /* a note: named, no line */
    {"ptm", "\"leaf-0\":\"swp40\"", "\"leaf-0\":\"swp1\"", ":10", "two cables; line 7"},
    {"ptm", "graph \"G\" {", "digraph G {", ":2:1", "has directions"},
    {"ptm", "LLDP=", "subgraph x { LLDP=", ":3:3", "begins a subgraph"},
    {"ptm", "];\n}", "];\n", ":11:", "the file ends"},
    {"ptm", "lines */", "lines", ":3:", "a comment that does not end"},
    {"ptm", "\"G\"", "\"G", ":2:7", "not closed"},
    {"ptm", "// cable", "\"node-0\":\"eth1\" -- \"leaf-0\":\"swp1\"", ":7:", "twice"},
    {"cables", "leaf-0,2,", "leaf-0,1,", ":3", "two cables; line 2"},
    {"cables", "leaf-0,40,spine-0,1,", "leaf-0,40,leaf-0,40,", ":4", "joined to itself"},
    {"cables", "800Gb/s", "800", ":4:", "800"},
    {"cables", "Z-node", "Y-node", ":1:1", "A-node and Z-node"},
    {"graphml", "id=\"n1\"", "id=\"n0\"", ":10:", "node 'n0' is there already"},
    {"graphml", "target=\"n3\"", "target=\"n9\"", ":16:", "the target of an edge, 'n9', is no node"},
    {"graphml", "<data key=\"d3\">3", "<data key=\"d9\">3", ":15:", "key 'd9'"},
    {"graphml", "<data key=\"d3\">3", "<data key=\"d3\">-3", ":15:", "no number"},
    {"graphml", "<node id=\"n3\"/>", "<node/>", ":12:5", "'id' is missing"},
    {"graphml", "<node id=\"n3\"/>", "<hyperedge/>", ":12:5", "element 'hyperedge'"},
    {"graphml", "<!DOCTYPE graphml>", "<!DOCTYPE graphml [<!ENTITY a \"b\">]>", ":2:", "entities"},
    {"graphml", "&amp;", "&nbsp;", ":9:", "not well-formed"},
    {"graphml", "<!DOCTYPE graphml>", "<!DOCTYPE graphml SYSTEM \"http://example.invalid/graphml.dtd\">", NULL, NULL},
    {"graphml", "encoding=\"UTF-8\"", "encoding=\"UTF-7\"", ":1:", "encoding"},
    {"graphml", "encoding=\"UTF-8\"", "encoding=\"ISO-8859-1\"", NULL, NULL},
    {"graphml", "</graph>", "</graphs>", ":17:", "not well-formed"},
};

Test(network_readers, what_is_wrong_is_told) {
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        fab_error err = {0};
        fab_network *net = NULL;
        size_t f = 0;
        while (fab_network_formats[f] != NULL && strcmp(fab_network_formats[f]->name, BROKEN[i].format) != 0) {
            f++;
        }
        cr_assert(fab_network_formats[f] != NULL);
        fab_str text = valid(f);
        const char *at = strstr(text.data, BROKEN[i].from);
        cr_assert(at != NULL, "%s: no '%s'", BROKEN[i].format, BROKEN[i].from);
        fab_str other = FAB_STR_INIT;
        fab_str_append(&other, text.data, (size_t)(at - text.data));
        fab_str_add(&other, BROKEN[i].to);
        fab_str_add(&other, at + strlen(BROKEN[i].from));
        save(other.data, other.length);
        fab_status status = fab_network_read(g_path, BROKEN[i].format, 0, &net, &err);
        bool is_read = BROKEN[i].text == NULL;
        cr_assert_eq(status, is_read ? FAB_OK : FAB_EINPUT, "%s '%s': %s", BROKEN[i].format, BROKEN[i].to, err.text);
        cr_assert(is_read || (strstr(err.where, BROKEN[i].place) != NULL && strstr(err.text, BROKEN[i].text) != NULL),
                  "%s '%s': %s: %s", BROKEN[i].format, BROKEN[i].to, err.where, err.text);
        fab_network_free(net);
        fab_str_release(&other);
        fab_str_release(&text);
    }
}

Test(network_readers, a_short_file_of_many_boxes_is_refused_before_it_is_expanded) {
    static const char *const FILES[][2] = {
        {"slurm", "SwitchName=s Nodes=n[0-16777214]\n"},
        {"slurm", "BlockName=b Nodes=a[0-4095]b[0-4094]\n"},
        {"htsim", "Nodes 8388608\nTiers 2\nPodsize 8388608\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 16\n"
                  "Radix_Down 16\nDownlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 524288\n"
                  "Downlink_Latency_ns 1\n"},
    };
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        fab_error err = {0};
        fab_network *net = NULL;
        save(FILES[i][1], strlen(FILES[i][1]));
        cr_assert_eq(fab_network_read(g_path, FILES[i][0], (uint64_t)100e6, &net, &err), FAB_ELIMIT, "%s: %s",
                     FILES[i][1], err.text);
        cr_assert(strstr(err.text, g_path) != NULL && strstr(err.text, "above the limit of 100 MB") != NULL, "%s",
                  err.text);
    }
}
