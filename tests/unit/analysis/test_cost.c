/* Prices of parts, media by length, counting conventions, and bills of materials that add up. */
#include "fab/design.h"
#include "fab/prices.h"
#include "fab/analysis.h"
#include "fab/builtin.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_prices(const char *text, fab_prices *out) {
    fab_error err = {0};
    cr_assert_eq(fab_prices_read(text, out, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
}

static void count(const char *text, fab_design *design, fab_counts *counts) {
    fab_error err = {0};
    cr_assert_eq(fab_design_read(text, NULL, 0, design, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_topology_predict(&design->fabric, counts, &err), FAB_OK, "%s: %s", text, err.text);
}

static void price(const char *text, const fab_prices *prices, fab_cost *out) {
    static fab_design design;
    static fab_counts counts;
    fab_error err = {0};
    count(text, &design, &counts);
    cr_assert_eq(fab_cost_of(&design.fabric, &counts, prices, out, &err), FAB_OK, "%s: %s", text, err.text);
}

/* A price book of the test's own. */
static void write_book(const char *body, char path[32]) {
    (void)snprintf(path, 32, "/tmp/fab-cost-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    FILE *file = fdopen(fd, "w");
    cr_assert_not_null(file);
    (void)fprintf(file,
                  "<prices name=\"own\" convention=\"per-link-end\">\n<source>test</source>\n%s\n"
                  "<energy usd-per-kwh=\"0.1\" pue=\"1.5\"/><life years=\"4\"/>\n</prices>\n",
                  body);
    cr_assert_eq(fclose(file), 0);
}

static void own_prices(const char *body, fab_prices *out) {
    char path[32];
    write_book(body, path);
    read_prices(path, out);
    cr_assert_str_eq(out->origin, path);
    (void)unlink(path);
}

#define SWITCH "<switch usd-per-port=\"10\" power-per-port=\"1W\"/>"
#define NIC    "<nic usd=\"100\" power=\"5W\"/>"

/* --- published figures -------------------------------------------------------------------------------------------- */

Test(cost, slim_fly_router_and_cables) {
    static fab_prices prices;
    fab_price part;
    fab_link_price link;
    read_prices("slimfly-2014", &prices);
    cr_assert_eq(fab_prices_switch(&prices, 44, 40e9, &part, NULL), FAB_OK);
    cr_expect_float_eq(part.usd, 350.4 * 44 - 892.3, 1e-6);
    cr_assert_eq(fab_prices_link(&prices, 40e9, 2, &link, NULL), FAB_OK);
    cr_expect_float_eq(link.cable.usd, 40 * (0.4079 * 2 + 0.5771), 1e-9);
    cr_assert_eq(fab_prices_link(&prices, 40e9, 30, &link, NULL), FAB_OK);
    cr_expect_float_eq(link.cable.usd, 40 * (0.0919 * 30 + 7.2745), 1e-9);
    cr_expect_eq(fab_prices_switch(&prices, 2, 40e9, &part, NULL), FAB_EINPUT, "a negative price");
}

/* --- which part --------------------------------------------------------------------------------------------------- */

static void expect_medium(const fab_prices *prices, double rate_bps, double length_m, const char *medium) {
    const char *found = fab_prices_medium(prices, rate_bps, length_m);
    if (medium == NULL) {
        cr_expect_null(found, "%g m: %s", length_m, found);
    } else {
        cr_assert_not_null(found, "%g m", length_m);
        cr_expect_str_eq(found, medium, "%g m: %s", length_m, found);
    }
}

Test(cost, medium_by_length) {
    static fab_prices prices;
    read_prices("today-400g", &prices);
    expect_medium(&prices, 400e9, 0, "DAC");
    expect_medium(&prices, 400e9, 3, "DAC");
    expect_medium(&prices, 400e9, 3.01, "AOC");
    expect_medium(&prices, 400e9, 20, "AOC");
    expect_medium(&prices, 400e9, 20.5, "fibre");
    expect_medium(&prices, 400e9, 10e3, "fibre");
    expect_medium(&prices, 400e9, 11e3, NULL);
    read_prices("slimfly-2014", &prices);
    expect_medium(&prices, 40e9, 21, "electric");
    expect_medium(&prices, 40e9, 22, "optical");
    read_prices("rail-only-2023", &prices);
    expect_medium(&prices, 400e9, 3, NULL);
}

/* The cheapest with its transceivers, not the first that reaches; a row of the cable's rate replaces that of any. */
Test(cost, medium_is_the_cheapest) {
    static fab_prices prices;
    own_prices(SWITCH NIC
               "<transceiver usd=\"50\" power=\"9W\"/><transceiver rate=\"100Gb/s\" usd=\"200\" power=\"4W\"/>"
               "<cable medium=\"A\" usd=\"150\" transceivers=\"no\"/>"
               "<cable medium=\"B\" usd=\"20\" usd-per-m=\"1\" transceivers=\"yes\"/>"
               "<cable medium=\"C\" max-length=\"9m\" usd=\"0\" transceivers=\"no\"/>"
               "<cable medium=\"C\" rate=\"800Gb/s\" max-length=\"2m\" usd=\"1\" transceivers=\"no\"/>",
               &prices);
    expect_medium(&prices, 400e9, 9, "C");
    expect_medium(&prices, 800e9, 2, "C");
    expect_medium(&prices, 800e9, 3, "B");
    expect_medium(&prices, 400e9, 29, "B");
    expect_medium(&prices, 400e9, 30, "A"); /* as dear as B, and before it in the book */
    expect_medium(&prices, 100e9, 10, "A");
}

Test(cost, transceiver_by_reach) {
    static fab_prices prices;
    fab_link_price link;
    read_prices("today-400g", &prices);
    const struct {
        double length_m;
        const char *name;
    } rows[] = {{500, "DR"}, {501, "FR"}, {2000, "FR"}, {2001, "LR"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(fab_prices_link(&prices, 400e9, rows[i].length_m, &link, NULL), FAB_OK);
        cr_assert_not_null(link.module);
        cr_expect_str_eq(link.module->name, rows[i].name, "%g m", rows[i].length_m);
    }
}

Test(cost, switch_by_radix_and_rate) {
    static fab_prices prices;
    fab_price part;
    own_prices("<switch radix=\"64\" rate=\"400Gb/s\" usd=\"1000\" power=\"1W\"/>"
               "<switch radix=\"64\" usd=\"2000\" power=\"2W\"/>"
               "<switch rate=\"400Gb/s\" usd=\"5\" usd-per-port=\"3\" power=\"3W\"/>"
               "<switch usd-per-port-gbps=\"1\" power-per-port-gbps=\"0.5W\"/>" NIC
               "<cable usd=\"0\" transceivers=\"no\"/>",
               &prices);
    const struct {
        double ports, rate_bps, usd, power_w;
    } rows[] = {
        {64, 400e9, 1000, 1}, {64, 800e9, 2000, 2}, {32, 400e9, 101, 3}, {10, 100e9, 1000, 500}, {2.5, 400e9, 12.5, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(fab_prices_switch(&prices, rows[i].ports, rows[i].rate_bps, &part, NULL), FAB_OK);
        cr_expect_float_eq(part.usd, rows[i].usd, 1e-9, "%g ports: %g", rows[i].ports, part.usd);
        cr_expect_float_eq(part.power_w, rows[i].power_w, 1e-9, "%g ports: %g", rows[i].ports, part.power_w);
    }
}

static void expect_error(const fab_prices *prices, const char *text, const char *const *words) {
    static fab_design design;
    static fab_counts counts;
    static fab_cost cost;
    fab_error err = {0};
    count(text, &design, &counts);
    cost.n_lines = 77;
    cr_assert_eq(fab_cost_of(&design.fabric, &counts, prices, &cost, &err), FAB_EINPUT, "%s", text);
    cr_expect_str_eq(err.where, prices->origin);
    cr_expect_eq(cost.n_lines, 77, "written although it failed");
    for (; *words != NULL; words++) {
        cr_expect_not_null(strstr(err.text, *words), "%s: no '%s'", err.text, *words);
    }
}

Test(cost, a_part_without_price_is_an_error) {
    static fab_prices prices;
    read_prices("deepseek-2025", &prices);
    expect_error(&prices, "clos:gpus=4096,radix=128",
                 (const char *const[]){"128 ports at 400 Gb/s", "64 ports at 400 Gb/s", NULL});
    expect_error(&prices, "clos:gpus=4096,radix=64,nic=800Gb/s", (const char *const[]){"64 ports at 800 Gb/s", NULL});
    read_prices("today-400g", &prices);
    expect_error(&prices, "clos:gpus=1024,length=3m/12km", (const char *const[]){"400 Gb/s", "12000 m", "fibre", NULL});
    own_prices(SWITCH "<nic rate=\"400Gb/s\" usd=\"1\" power=\"1W\"/><cable medium=\"DAC\" max-length=\"3m\" usd=\"1\" "
                      "transceivers=\"no\"/>"
                      "<cable medium=\"fibre\" usd=\"1\" transceivers=\"yes\"/>",
               &prices);
    (void)snprintf(prices.origin, sizeof prices.origin, "own.xml");
    expect_error(&prices, "clos:gpus=1024,length.2=30m", (const char *const[]){"transceiver", "30 m", "fibre", NULL});
    expect_error(&prices, "clos:gpus=1024,nic=200Gb/s", (const char *const[]){"NIC of 200 Gb/s", "400 Gb/s", NULL});
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

static uint64_t quantity(const fab_cost *cost, fab_part kind, const char *part) {
    uint64_t n = 0;
    for (size_t i = 0; i < cost->n_lines; i++) {
        n += cost->lines[i].kind == kind && strstr(cost->lines[i].part, part) != NULL ? cost->lines[i].quantity : 0;
    }
    return n;
}

Test(cost, conventions) {
    static fab_prices prices;
    static fab_cost cost;
    read_prices("rail-only-2023", &prices);
    const struct {
        const char *name;
        uint64_t transceivers;
    } rows[] = {{"per-link-end", 4096}, {"switch-links", 2048}, {"per-cable", 2048}, {"twin-port", 4096}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0];
         i++) { /* 1,024 cables at either boundary; no twin-port modules */
        prices.convention = FAB_CONVENTION_PER_LINK_END + (fab_convention)i;
        price("clos:gpus=1024", &prices, &cost);
        cr_expect_eq(cost.transceivers, rows[i].transceivers, "%s: %lu", rows[i].name,
                     (unsigned long)cost.transceivers);
        cr_expect_eq(quantity(&cost, FAB_PART_CABLE, "cable"), 2048);
        cr_expect_float_eq(cost.transceiver_usd, 198.0 * (double)rows[i].transceivers, 1e-6);
        cr_expect_str_eq(cost.convention, rows[i].name);
        cr_expect(strlen(cost.counting) > 10);
    }
}

/* Cables between NIC and leaf cost nothing where only links between switches count. */
Test(cost, switch_links_leaves_out_nic_cables) {
    static fab_prices prices;
    static fab_cost cost;
    read_prices("deepseek-2025", &prices);
    price("clos:gpus=1024", &prices, &cost);
    cr_expect_float_eq(cost.cable_usd, 1024 * 525.0, 1e-6);
    prices.convention = FAB_CONVENTION_PER_CABLE;
    price("clos:gpus=1024", &prices, &cost);
    cr_expect_float_eq(cost.cable_usd, 2048 * 525.0, 1e-6);
}

Test(cost, twin_port_modules_serve_two_ports_of_a_switch) {
    static fab_prices prices;
    static fab_cost cost;
    static fab_design design;
    static fab_counts counts;
    read_prices("today-800g", &prices);
    price("clos:gpus=1024,port=800Gb/s,breakout=2,length=30m/30m", &prices, &cost);
    cr_expect_eq(quantity(&cost, FAB_PART_TRANSCEIVER, "transceiver 400"), 1024, "one at every NIC");
    cr_expect_eq(quantity(&cost, FAB_PART_TRANSCEIVER, "2x400"), 512 + 2 * 512);
    count("clos:gpus=8,nics-per-server=8", &design, &counts);
    counts.kinds[0].count = counts.cables_by_tier[0] = 7; /* odd: half of the last module is idle */
    counts.kinds[0].length_m = 30;
    cr_assert_eq(fab_cost_of(&design.fabric, &counts, &prices, &cost, NULL), FAB_OK);
    cr_expect_eq(quantity(&cost, FAB_PART_TRANSCEIVER, "2x400"), 4);
    cr_expect_eq(cost.transceivers, 11);
}

Test(cost, switches_at_their_physical_rate) {
    static fab_prices prices;
    static fab_cost cost;
    read_prices("today-800g", &prices);
    price("clos:gpus=1024,port=800Gb/s,breakout=2", &prices, &cost);
    cr_expect_eq(quantity(&cost, FAB_PART_SWITCH, "64x800 Gb/s"), 24);
    cr_expect_float_eq(cost.switch_usd, 24 * 200000.0, 1e-6);
    price("clos:gpus=1024,planes=2", &prices, &cost);
    cr_expect_eq(quantity(&cost, FAB_PART_SWITCH, "64x200 Gb/s"), 96);
}

Test(cost, installation_energy_and_bisection) {
    static fab_prices prices;
    static fab_cost cost;
    own_prices(SWITCH NIC "<cable usd=\"7\" transceivers=\"no\" power-per-end=\"2W\"/>"
                          "<installation usd-per-cable=\"3\" usd-per-switch=\"1000\"/>",
               &prices);
    price("clos:gpus=1024", &prices, &cost); /* 48 switches of 64 ports, 2,048 cables */
    cr_expect_float_eq(cost.installation_usd, 48 * 1000.0 + 2048 * 3.0, 1e-6);
    cr_expect_float_eq(cost.total_usd, 48 * 640.0 + 2048 * 10.0 + 48e3 + 1024e2, 1e-6);
    cr_expect_float_eq(cost.power_w, 48 * 64.0 + 2048 * 4.0 + 1024 * 5.0, 1e-6);
    cr_expect_float_eq(cost.energy_usd_per_year, cost.power_w * 8.76 * 1.5 * 0.1, 1e-6);
    cr_expect_float_eq(cost.capital_usd_per_year, cost.total_usd / 4, 1e-6);
    cr_expect_eq(cost.per_bisection_gbps_usd, 0);
    fab_cost_set_bisection(&cost, 512 * 400e9);
    cr_expect_float_eq(cost.per_bisection_gbps_usd, cost.total_usd / (512 * 400.0), 1e-9);
}

/* --- over random designs ------------------------------------------------------------------------------------------ */

static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void check_sums(const char *text, const fab_counts *counts, const fab_cost *cost) {
    double usd[FAB_PART_N] = {0};
    uint64_t n[FAB_PART_N] = {0};
    double total = 0;
    double power = 0;
    for (size_t i = 0; i < cost->n_lines; i++) {
        const fab_cost_line *line = &cost->lines[i];
        cr_assert(line->quantity > 0 && line->part[0] != '\0', "%s: %s", text, line->part);
        cr_assert(close_to(line->total_usd, (double)line->quantity * line->unit_usd), "%s: %s", text, line->part);
        usd[line->kind] += line->total_usd;
        n[line->kind] += line->quantity;
        total += line->total_usd;
        power += line->power_w;
    }
    cr_assert(close_to(total, cost->total_usd) && close_to(power, cost->power_w), "%s", text);
    cr_assert(close_to(usd[FAB_PART_SWITCH], cost->switch_usd) && close_to(usd[FAB_PART_CABLE], cost->cable_usd), "%s",
              text);
    cr_assert(close_to(usd[FAB_PART_TRANSCEIVER], cost->transceiver_usd) && close_to(usd[FAB_PART_NIC], cost->nic_usd),
              "%s", text);
    cr_assert(close_to(usd[FAB_PART_INSTALLATION], cost->installation_usd), "%s", text);
    cr_assert(n[FAB_PART_SWITCH] == counts->switches && n[FAB_PART_CABLE] == counts->cables, "%s", text);
    cr_assert(n[FAB_PART_NIC] == counts->nics && n[FAB_PART_TRANSCEIVER] == cost->transceivers, "%s", text);
}

/* Under every book and convention; the default book prices whatever can be built. */
Test(cost, bills_add_up) {
    static const char *const FAMILIES[] = {"clos", "rail-spine", "rail-only"};
    static const char *const RATES[] = {"25", "50", "100", "200", "400", "800", "1600"};
    static const char *const LENGTHS[] = {"1m/5m/50m", "2m/25m/600m", "3m/30m/100m", "10m/1km/9km", "0.001m/3m/3m"};
    static fab_prices books[16];
    static fab_design design;
    static fab_counts counts;
    static fab_cost cost;
    fab_rng rng = fab_rng_make(1, 0);
    size_t n_books = 0;
    size_t n_priced = 0;
    for (const fab_builtin *b = fab_builtin_prices; b->name != NULL && n_books < 16; b++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(b->name, "."), b->name);
        read_prices(name, &books[n_books++]);
    }
    for (size_t i = 0; i < 400; i++) {
        char text[256];
        fab_error err = {0};
        (void)snprintf(text, sizeof text, "%s:gpus=%u,nic=%sGb/s,radix=%u,planes=%u,breakout=%u,length=%s",
                       FAMILIES[fab_rng_below(&rng, 3)], 8 * (1 + (unsigned)fab_rng_below(&rng, 256)),
                       RATES[fab_rng_below(&rng, 7)], 16 + 4 * (unsigned)fab_rng_below(&rng, 60),
                       1U << fab_rng_below(&rng, 4), 1 + (unsigned)fab_rng_below(&rng, 2),
                       LENGTHS[fab_rng_below(&rng, 5)]);
        cr_assert_eq(fab_design_read(text, NULL, 0, &design, &err), FAB_OK, "%s: %s", text, err.text);
        if (fab_topology_predict(&design.fabric, &counts, &err) != FAB_OK) {
            continue;
        }
        for (size_t k = 0; k < n_books; k++) {
            fab_prices *book = &books[k];
            book->convention = FAB_CONVENTION_PER_LINK_END + (fab_convention)fab_rng_below(&rng, 4);
            fab_status status = fab_cost_of(&design.fabric, &counts, book, &cost, &err);
            bool any = strncmp(book->name, "today-", 6) == 0 || strncmp(book->name, "rail-only-", 10) == 0;
            cr_assert(status == FAB_OK || (!any && status == FAB_EINPUT), "%s, %s: %s", text, book->name, err.text);
            if (status == FAB_OK) {
                check_sums(text, &counts, &cost);
                n_priced++;
            }
        }
    }
    cr_assert(n_priced > 1000, "%zu", n_priced);
}
