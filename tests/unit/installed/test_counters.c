/* Readers of counters: what valid files say, and files that are cut and changed anywhere: never a crash, always a
 * place. The valid files are data/counters/FORMAT; a reader without one fails here. */
#include "draws.h"
#include "fab/counters.h"
#include "fab/rng.h"
#include "fab/str.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EACH(f) (size_t f = 0; fab_counters_formats[f] != NULL; f++)

static char g_folder[] = "/tmp/fab-counted-XXXXXX";
static char g_path[64];

static void make_folder(void) {
    cr_assert_not_null(mkdtemp(g_folder));
    (void)snprintf(g_path, sizeof g_path, "%s/host-7.txt", g_folder);
}

static void drop_folder(void) {
    (void)remove(g_path);
    (void)rmdir(g_folder);
}

TestSuite(counters, .init = make_folder, .fini = drop_folder, .timeout = 120);

static void save(const char *bytes, size_t n) {
    FILE *out = fopen(g_path, "wb");
    cr_assert(out != NULL && fwrite(bytes, 1, n, out) == n && fclose(out) == 0);
}

static fab_str valid(size_t f) {
    char path[512];
    fab_str text = FAB_STR_INIT;
    fab_error err = {0};
    (void)snprintf(path, sizeof path, FAB_TEST_DATA "/counters/%s", fab_counters_formats[f]->name);
    cr_assert_eq(fab_read_file(path, (size_t)1 << 20, &text, &err), FAB_OK,
                 "every reader has a small valid file in tests/data/counters: %s", err.text);
    return text;
}

static fab_counters *read_saved(const char *format) {
    fab_counters *c = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_counters_read(g_path, format, &c, &err), FAB_OK, "%s: %s", err.where, err.text);
    return c;
}

static fab_counters *read_text(const char *text) {
    save(text, strlen(text));
    return read_saved(NULL);
}

static uint64_t value_of(const fab_counters *c, size_t port, fab_counter counter) {
    cr_assert_lt(port, c->n_ports);
    cr_assert((c->ports[port].has >> counter & 1) == 1, "counter %d is not there", (int)counter);
    return c->ports[port].value[counter] * (uint64_t)(c->ports[port].scale[counter] & ~FAB_COUNTER_LONG);
}

static const char *port_of(const fab_counters *c, size_t port) {
    return fab_counters_text(c, c->ports[port].port);
}

static const char *box_of(const fab_counters *c, size_t port) {
    return fab_counters_text(c, c->ports[port].box);
}

/* FAB_OK, or FAB_EINPUT with file:line. */
static fab_status attempt(size_t f) {
    fab_counters *c = NULL;
    fab_error err = {0};
    fab_status status = fab_counters_read(g_path, fab_counters_formats[f]->name, &c, &err);
    size_t n = strlen(g_path);
    cr_assert(status == FAB_OK || (status == FAB_EINPUT && c == NULL && strncmp(err.where, g_path, n) == 0 &&
                                   (err.where[n] == ':' || err.where[n] == '\0') && err.text[0] != '\0'),
              "%s: %d at '%s': %s", fab_counters_formats[f]->name, (int)status, err.where, err.text);
    fab_counters_free(c);
    return status;
}

Test(counters, valid_files_are_recognised) {
    for
        EACH(f) {
            fab_str text = valid(f);
            save(text.data, text.length);
            fab_counters *c = read_saved(NULL);
            cr_assert_str_eq(c->format, fab_counters_formats[f]->name);
            cr_assert_geq(c->n_ports, 8);
            for (size_t i = 0; i < c->n_ports; i++) {
                cr_assert((c->ports[i].has & 3) == 3, "%s: port %zu has no bytes", c->format, i);
            }
            fab_counters_free(c);
            fab_str_release(&text);
        }
}

Test(counters, truncated_anywhere) {
    for
        EACH(f) {
            fab_str text = valid(f);
            for (size_t n = 0; n < text.length; n += n < 2000 ? FAB_TEST_SHARE : 37) {
                save(text.data, n);
                (void)attempt(f);
            }
            fab_str_release(&text);
        }
}

Test(counters, bytes_changed_anywhere) {
    fab_rng rng = fab_rng_make(11, 0);
    static const char BYTES[] = "\n\r\t \"'{}[]<>&;:,-=#/\\0123456789abfzAZ\x7f\x80\xc3\xff";
    for
        EACH(f) {
            fab_str text = valid(f);
            for (size_t i = 0; i < DRAWS(600); i++) {
                for (uint64_t k = fab_rng_below(&rng, 3) + 1; k-- > 0;) {
                    text.data[fab_rng_below(&rng, text.length)] = BYTES[fab_rng_below(&rng, sizeof BYTES - 1)];
                }
                save(text.data, text.length);
                (void)attempt(f);
            }
            fab_str_release(&text);
        }
}

Test(counters, perfquery_of_several_ports) {
    fab_counters *c = read_text("$ perfquery -x 12\nibwarn: [7] something\n"
                                "# Port extended counters: Lid 12 port 3 (CapMask: 0x5300 CapMask2: 0x0000002)\n"
                                "PortSelect:......................3\nPortXmitData:....................25\n"
                                "PortRcvData:.....................50\nSymbolErrorCounter:..............4\n"
                                "# Port extended counters: Lid 12 port 4 (CapMask: 0x5300)\n"
                                "PortXmitData:....................18446744073709551615\n");
    cr_assert_eq(c->n_ports, 2);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SENT), 100);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_RECEIVED), 200);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SYMBOL_ERRORS), 4);
    cr_assert_eq(c->ports[1].value[FAB_COUNTER_SENT], UINT64_MAX);
    cr_assert(c->ports[0].lid == 12 && strcmp(port_of(c, 1), "4") == 0);
    fab_counters_free(c);
}

Test(counters, ibdiagnet_long_counters_count) {
    fab_counters *c = read_text("Port=7 Lid=0x4c14 GUID=0x506b4b03005c2740 Device=54000 Port Name=S/P7\n"
                                "port_xmit_data_extended=0x10\nport_xmit_data=0xffffffff\n"
                                "symbol_error_counter=0xff\nsymbol_error_counter_extended=0x1ff\n");
    cr_assert_eq(c->ports[0].guid, UINT64_C(0x506b4b03005c2740));
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SENT), 64);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SYMBOL_ERRORS), 511);
    fab_counters_free(c);
}

Test(counters, prometheus_labels_and_times) {
    fab_counters *c = read_text(
        "# TYPE infiniband_switch_port_transmit_data_bytes_total counter\n"
        "infiniband_switch_port_transmit_data_bytes_total{guid=\"0x7cfe9003009ce5b0\",port=\"1\",switch=\"ib "
        "\\\"s\\\"\"} "
        "7.15166628708940e+14 1700000000500\n"
        "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_3\",port=\"1\",instance=\"gpu-4:9100\"} 12\n"
        "node_network_transmit_bytes_total{device=\"eth2\"} 34\nother_metric{a=\"b\"} 5\nup 1\n");
    cr_assert_eq(c->n_ports, 3);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SENT), UINT64_C(715166628708940));
    cr_assert_float_eq(c->ports[0].time_s, 1700000000.5, 1e-6);
    cr_assert_str_eq(box_of(c, 0), "ib \"s\"");
    cr_assert_str_eq(box_of(c, 1), "gpu-4 mlx5_3");
    cr_assert(isnan(c->ports[1].time_s));
    cr_assert_str_eq(box_of(c, 2), "host-7"); /* of the file's name */
    cr_assert_str_eq(port_of(c, 2), "eth2");
    fab_counters_free(c);
}

Test(counters, sonic_and_gnmi) {
    fab_counters *c =
        read_text("{\"COUNTERS_PORT_NAME_MAP\": {\"type\": \"hash\", \"value\": {\"Ethernet8\": \"oid:0x1\"}},"
                  " \"COUNTERS:oid:0x1\": {\"type\": \"hash\", \"value\": {"
                  "\"SAI_PORT_STAT_IF_OUT_OCTETS\": \"77\", \"SAI_PORT_STAT_IF_IN_OCTETS\": \"88\", "
                  "\"SAI_PORT_STAT_PFC_3_RX_PKTS\": \"5\", \"SAI_PORT_STAT_PFC_4_RX_PKTS\": \"6\"}}}");
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SENT), 77);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_PAUSES_RECEIVED), 11);
    cr_assert(strcmp(port_of(c, 0), "Ethernet8") == 0 && strcmp(box_of(c, 0), "host-7") == 0);
    fab_counters_free(c);
    c = read_text(
        "[{\"name\": \"s\", \"timestamp\": 1700000000000000000, \"tags\": {\"interface_name\": \"Ethernet1\", "
        "\"source\": \"leaf1:57400\"}, \"values\": {\"/interfaces/interface/state/counters/out-octets\": 9}}]");
    cr_assert(value_of(c, 0, FAB_COUNTER_SENT) == 9 && strcmp(box_of(c, 0), "leaf1") == 0);
    cr_assert_float_eq(c->ports[0].time_s, 1.7e9, 1e-3);
    fab_counters_free(c);
    c = read_text("{\"openconfig-interfaces:interfaces\": {\"interface\": [{\"name\": \"Ethernet2\", \"state\": "
                  "{\"counters\": {\"in-octets\": \"5\", \"out-octets\": \"6\"}}}]}}");
    cr_assert(value_of(c, 0, FAB_COUNTER_RECEIVED) == 5 && strcmp(port_of(c, 0), "Ethernet2") == 0);
    fab_counters_free(c);
}

Test(counters, lists_with_other_separators) {
    fab_counters *c = read_text("guid;port;PortXmitData;rx_bytes;time_s\n0x00000000000000a1;3;5;\"1,000\";12.5\n");
    cr_assert_eq(c->ports[0].guid, 0xa1);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_SENT), 20);
    cr_assert_eq(value_of(c, 0, FAB_COUNTER_RECEIVED), 1000);
    cr_assert_float_eq(c->ports[0].time_s, 12.5, 0);
    fab_counters_free(c);
}

Test(counters, what_is_refused) {
    static const struct {
        const char *text, *message;
    } CASES[] = {{"", "empty"},
                 {"hello\n", "looks like none"},
                 {"# Port extended counters: Lid 70000 port 1\n", "no LID"},
                 {"# Port extended counters: Lid 7 port 1\nPortXmitData:....x\n", "no count"},
                 {"START_PM_INFO\nNodeGUID,PortNumber,PortXmitData\n0x1,2,3\n", "truncated"},
                 {"node,port,sent\nleaf-0,1,-4\n", "no count"},
                 {"node,port,sent\n,1,4\n", "names no node"},
                 {"a_total{port=\"1\"} 3\nnode_network_transmit_bytes_total{device=\"e", "no end"},
                 {"node_network_transmit_bytes_total{device=\"e\"} -1\n", "where a count"},
                 {"{\"a\": 1}", "holds no counters"},
                 {"{\"a\": ", "2"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_counters *c = NULL;
        fab_error err = {0};
        save(CASES[i].text, strlen(CASES[i].text));
        cr_assert_eq(fab_counters_read(g_path, NULL, &c, &err), FAB_EINPUT, "case %zu", i);
        cr_assert(i + 1 == sizeof CASES / sizeof CASES[0] || strstr(err.text, CASES[i].message) != NULL, "case %zu: %s",
                  i, err.text);
    }
}

/* A folder: files in the order of their names, boxes by theirs. */
Test(counters, folders) {
    char other[80];
    fab_error err = {0};
    fab_counters *c = NULL;
    (void)snprintf(other, sizeof other, "%s/perfquery-0x506b4b03005c2740.out", g_folder);
    static const char SAMPLE[] = "node_network_transmit_bytes_total{device=\"eth2\"} 34\n";
    save(SAMPLE, sizeof SAMPLE - 1);
    FILE *out = fopen(other, "w");
    cr_assert(out != NULL && fputs("# Port extended counters: Lid 2 port 5\nPortXmitData:....6\n", out) >= 0 &&
              fclose(out) == 0);
    fab_status status = fab_counters_read(g_folder, NULL, &c, &err);
    (void)remove(other);
    cr_assert_eq(status, FAB_OK, "%s %s", err.where, err.text);
    cr_assert(c->n_ports == 2 && c->n_files == 2);
    cr_assert_str_eq(box_of(c, 0), "host-7");
    cr_assert_eq(c->ports[1].guid, UINT64_C(0x506b4b03005c2740));
    cr_assert_eq(c->ports[1].lid, 0);
    fab_counters_free(c);
}

/* What perfquery printed of real switches, against a parser that knows three words of it. */
Test(counters, real_switches) {
    static const char *const FILES[] = {"0x506b4b03005c2740", "0x7cfe9003009ce5b0"};
    const char *samples = getenv("FABRISCOPE_SAMPLES");
    size_t n_seen = 0;
    for (size_t i = 0; samples != NULL && i < 2; i++) {
        char path[512];
        char line[256];
        fab_counters *c = NULL;
        fab_error err = {0};
        (void)snprintf(path, sizeof path, "%s/counters/perfquery-%s.txt", samples, FILES[i]);
        FILE *in = fopen(path, "r");
        if (in == NULL) {
            cr_log_warn("skipped: no %s", path);
            continue;
        }
        cr_assert_eq(fab_counters_read(path, NULL, &c, &err), FAB_OK, "%s: %s", err.where, err.text);
        size_t port = SIZE_MAX;
        while (fgets(line, sizeof line, in) != NULL) {
            unsigned long long value = 0;
            char *dots = strstr(line, ":.");
            port += line[0] == '#';
            if (dots == NULL || sscanf(dots + 1 + strspn(dots + 1, "."), "%llu", &value) != 1) {
                continue;
            }
            fab_counter counter = strncmp(line, "PortXmitData:", 13) == 0       ? FAB_COUNTER_SENT
                                  : strncmp(line, "PortRcvData:", 12) == 0      ? FAB_COUNTER_RECEIVED
                                  : strncmp(line, "PortXmitWait:", 13) == 0     ? FAB_COUNTER_WAIT
                                  : strncmp(line, "PortXmitDiscards:", 17) == 0 ? FAB_COUNTER_DISCARDS
                                                                                : FAB_COUNTER_N;
            if (counter < FAB_COUNTER_N) {
                cr_assert_eq(c->ports[port].value[counter], value, "%s", line);
                n_seen++;
            }
        }
        cr_assert_eq(port + 1, c->n_ports);
        cr_assert_eq(c->ports[0].guid, strtoull(FILES[i], NULL, 16));
        (void)fclose(in);
        fab_counters_free(c);
    }
    cr_assert(samples == NULL || n_seen == 0 || n_seen == 12, "%zu counters", n_seen);
}
