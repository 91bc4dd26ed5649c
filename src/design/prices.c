#include "fab/prices.h"
#include "book.h"

/* clang-format off */
#define TEXT(need, key, kind, type, member, summary) BOOK_TEXT(need, key, kind, type, member, NULL, summary)
#define QUANTITY(need, key, unit, type, member, min, max, summary) \
    BOOK_NUMBER(need, key, FIELD_QUANTITY, unit, type, member, min, max, NULL, summary)
#define NUMBER(need, key, type, member, min, max, summary) \
    BOOK_NUMBER(need, key, FIELD_DECIMAL, FAB_UNIT_COUNT, type, member, min, max, NULL, summary)
#define COUNT(key, type, member, min, max, initial, summary) \
    BOOK_NUMBER(BOOK_OPTIONAL, key, FIELD_COUNT, FAB_UNIT_COUNT, type, member, min, max, initial, summary)
#define RATE(type, summary) QUANTITY(BOOK_OPTIONAL, "rate", FAB_UNIT_RATE, type, rate_bps, 1, 1e15, summary)
#define USD(key, type, member, summary) NUMBER(BOOK_PRICE, key, type, member, 0, 1e9, summary)
#define POWER(need, key, type, member, summary) QUANTITY(need, key, FAB_UNIT_POWER, type, member, 0, 1e6, summary)

static const book_field ROOT[] = {
    TEXT(BOOK_REQUIRED, "name", FIELD_WORD, fab_prices, name, "name of the profile"),
    BOOK_CHOICE(BOOK_REQUIRED, "convention", fab_prices, convention, convention_names,
         "which cables and transceivers are counted"),
    BOOK_END,
};
static const book_field SOURCE[] = {
    TEXT(BOOK_OPTIONAL, "source", FIELD_TEXT, fab_prices, source, "where the figures come from, and how good they are"),
    BOOK_END,
};
static const book_field SWITCH[] = {
    COUNT("radix", fab_price_switch, radix, 1, 65535, NULL, "ports of this model; left out: any radix"),
    RATE(fab_price_switch, "of one port, before breakout; left out: any rate"),
    NUMBER(BOOK_PRICE, "usd", fab_price_switch, usd, -1e9, 1e9, "price of a switch; may be negative beside usd-per-port"),
    USD("usd-per-port", fab_price_switch, usd_per_port, "plus this for every port, used or not"),
    USD("usd-per-port-gbps", fab_price_switch, usd_per_port_gbps, "plus this for every Gb/s of every port"),
    POWER(BOOK_POWER, "power", fab_price_switch, power_w, "power of a switch without optics"),
    POWER(BOOK_POWER, "power-per-port", fab_price_switch, w_per_port, "plus this for every port"),
    POWER(BOOK_POWER, "power-per-port-gbps", fab_price_switch, w_per_port_gbps, "plus this for every Gb/s of every port"),
    BOOK_END,
};
static const book_field TRANSCEIVER[] = {
    TEXT(BOOK_OPTIONAL, "name", FIELD_WORD, fab_price_module, name, "type, such as DR4"),
    RATE(fab_price_module, "of one of its ports; left out: any rate"),
    QUANTITY(BOOK_OPTIONAL, "reach", FAB_UNIT_LENGTH, fab_price_module, reach_m, 0.01, 1e6, "longest cable; left out: any length"),
    COUNT("ports", fab_price_module, ports, 1, 2, "1", "2: twin-port, serves two ports of a switch"),
    USD("usd", fab_price_module, usd, "price of one module"),
    USD("usd-per-gbps", fab_price_module, usd_per_gbps, "plus this for every Gb/s of all its ports"),
    POWER(BOOK_POWER, "power", fab_price_module, power_w, "power of one module"),
    POWER(BOOK_POWER, "power-per-gbps", fab_price_module, w_per_gbps, "plus this for every Gb/s of all its ports"),
    BOOK_END,
};
static const book_field CABLE[] = {
    TEXT(BOOK_OPTIONAL, "medium", FIELD_WORD, fab_price_cable, medium, "DAC, AOC, fibre, ...; left out: not distinguished"),
    RATE(fab_price_cable, "left out: any rate"),
    QUANTITY(BOOK_OPTIONAL, "max-length", FAB_UNIT_LENGTH, fab_price_cable, max_length_m, 0.01, 1e6, "left out: any length"),
    BOOK_TEXT(BOOK_REQUIRED, "transceivers", FIELD_FLAG, fab_price_cable, modules, NULL, "whether its ends plug into transceivers"),
    USD("usd", fab_price_cable, usd, "price per cable"),
    USD("usd-per-m", fab_price_cable, usd_per_m, "plus this for every metre"),
    USD("usd-per-gbps", fab_price_cable, usd_per_gbps, "plus this for every Gb/s"),
    USD("usd-per-m-gbps", fab_price_cable, usd_per_m_gbps, "plus this for every metre and Gb/s"),
    POWER(BOOK_OPTIONAL, "power-per-end", fab_price_cable, w_per_end, "power of either end without transceiver"),
    POWER(BOOK_OPTIONAL, "power-per-end-gbps", fab_price_cable, w_per_end_gbps, "plus this for every Gb/s"),
    BOOK_END,
};
static const book_field NIC[] = {
    RATE(fab_price_nic, "of the NIC; left out: any rate"),
    USD("usd", fab_price_nic, usd, "price of one NIC"),
    USD("usd-per-gbps", fab_price_nic, usd_per_gbps, "plus this for every Gb/s"),
    POWER(BOOK_POWER, "power", fab_price_nic, power_w, "power of one NIC"),
    POWER(BOOK_POWER, "power-per-gbps", fab_price_nic, w_per_gbps, "plus this for every Gb/s"),
    BOOK_END,
};
static const book_field GPU[] = {
    TEXT(BOOK_REQUIRED, "name", FIELD_WORD, fab_price_gpu, name, "as list gpus has it"),
    USD("usd", fab_price_gpu, usd, "price of one GPU; its power is that of its data sheet"),
    BOOK_END,
};
static const book_field SERVER[] = {
    COUNT("gpus", fab_price_server, gpus, 1, 65535, NULL, "GPUs of such a server; left out: any number"),
    USD("usd", fab_price_server, usd, "price of a server without GPUs and NICs"),
    USD("usd-per-gpu", fab_price_server, usd_per_gpu, "plus this for every GPU"),
    POWER(BOOK_POWER, "power", fab_price_server, power_w, "most power of a server without GPUs and NICs"),
    POWER(BOOK_POWER, "power-per-gpu", fab_price_server, w_per_gpu, "plus this for every GPU"),
    BOOK_END,
};
static const book_field RACK[] = {
    BOOK_NUMBER(BOOK_REQUIRED, "servers", FIELD_COUNT, FAB_UNIT_COUNT, fab_prices, rack.servers, 1, 65535, NULL, "servers of a rack where the design has no floor plan"),
    BOOK_NUMBER(BOOK_REQUIRED, "switches", FIELD_COUNT, FAB_UNIT_COUNT, fab_prices, rack.switches, 1, 65535, NULL, "switches of a rack of switches, there"),
    USD("usd", fab_prices, rack.usd, "price of a rack"),
    USD("usd-per-year", fab_prices, rack.usd_per_year, "plus this every year for its place on the floor"),
    BOOK_END,
};
static const book_field INSTALLATION[] = {
    NUMBER(BOOK_REQUIRED, "usd-per-cable", fab_prices, install_usd_per_cable, 0, 1e9, "work for one cable"),
    NUMBER(BOOK_REQUIRED, "usd-per-switch", fab_prices, install_usd_per_switch, 0, 1e9, "work for one switch"),
    BOOK_END,
};
static const book_field ENERGY[] = {
    NUMBER(BOOK_REQUIRED, "usd-per-kwh", fab_prices, usd_per_kwh, 0, 1e9, "price of energy"),
    NUMBER(BOOK_REQUIRED, "pue", fab_prices, pue, 1, 10, "facility power / IT power"),
    BOOK_END,
};
static const book_field LIFE[] = {
    NUMBER(BOOK_REQUIRED, "years", fab_prices, years, 0.1, 100, "depreciation"),
    BOOK_END,
};

#define ROWS(type, array, n) \
    FAB_MAX_PRICE_ROWS, offsetof(fab_prices, array), sizeof(type), offsetof(fab_prices, n)
#define ONCE 1, 0, 0, 0

static fab_status check_unlike(void *book, const char *file, const fab_xml_element *at, fab_error *err);

/* DACs and AOCs need no transceiver; whatever does need one and finds none is an error of the design that asks. */
static const book_element ELEMENTS[] = {
    {"prices", NULL, NULL, ROOT, false, false, ONCE, NULL},
    {"source", "prices", NULL, SOURCE, true, false, ONCE, NULL},
    {"switch", "prices", "one model, or every switch of a rate", SWITCH, false, false, ROWS(fab_price_switch, switches, n_switches), check_unlike},
    {"transceiver", "prices", "one type of module; left out: no cable needs any", TRANSCEIVER, false, true, ROWS(fab_price_module, modules, n_modules), NULL},
    {"cable", "prices", "one medium; of those that reach, the cheapest is taken", CABLE, false, false, ROWS(fab_price_cable, cables, n_cables), NULL},
    {"nic", "prices", "NICs of a rate", NIC, false, false, ROWS(fab_price_nic, nics, n_nics), check_unlike},
    {"gpu", "prices", "a GPU; left out: no cost of ownership", GPU, false, true, ROWS(fab_price_gpu, gpus, n_gpus), check_unlike},
    {"server", "prices", "servers without GPUs and NICs; left out: no cost of ownership", SERVER, false, true, ROWS(fab_price_server, servers, n_servers), check_unlike},
    {"rack", "prices", "racks and floor; left out: no cost of ownership", RACK, false, true, ONCE, NULL},
    {"installation", "prices", "work where it stands; left out: none", INSTALLATION, false, true, ONCE, NULL},
    {"energy", "prices", "energy", ENERGY, false, false, ONCE, NULL},
    {"life", "prices", "years over which the price is spread", LIFE, false, false, ONCE, NULL},
};
/* clang-format on */

static const book_kind PRICE_BOOK = {"price book", "Price book: what the parts of a fabric cost and draw.",
                                     "prices:",    "unknown price profile",
                                     FAB_EINPUT,   fab_builtin_prices,
                                     ELEMENTS,     FAB_N_OF(ELEMENTS)};

/* The same for GPUs and servers. */
static fab_status check_unlike_hosts(const fab_prices *p, const char *file, const fab_xml_element *at, fab_error *err) {
    bool is_gpu = strcmp(at->name, "gpu") == 0;
    for (size_t i = 0; is_gpu && i + 1 < p->n_gpus; i++) {
        FAB_RETURN_IF(strcmp(p->gpus[i].name, p->gpus[p->n_gpus - 1].name) == 0,
                      fab_xml_fail_at(file, at, err, "the name is that of another ", at->name));
    }
    for (size_t i = 0; !is_gpu && i + 1 < p->n_servers; i++) {
        FAB_RETURN_IF(p->servers[i].gpus == p->servers[p->n_servers - 1].gpus,
                      fab_xml_fail_at(file, at, err, "the number of GPUs is that of another ", at->name));
    }
    return FAB_OK;
}

/* Two rows for the same part: one of them would be ignored. */
static fab_status check_unlike(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    const fab_prices *p = book;
    if (strcmp(at->name, "gpu") == 0 || strcmp(at->name, "server") == 0) {
        return check_unlike_hosts(p, file, at, err);
    }
    bool is_switch = strcmp(at->name, "switch") == 0;
    for (size_t i = 0; is_switch && i + 1 < p->n_switches; i++) {
        const fab_price_switch *last = &p->switches[p->n_switches - 1];
        FAB_RETURN_IF(p->switches[i].radix == last->radix && p->switches[i].rate_bps == last->rate_bps,
                      fab_xml_fail_at(file, at, err, "radix and rate are those of another ", at->name));
    }
    for (size_t i = 0; !is_switch && i + 1 < p->n_nics; i++) {
        FAB_RETURN_IF(p->nics[i].rate_bps == p->nics[p->n_nics - 1].rate_bps,
                      fab_xml_fail_at(file, at, err, "the rate is that of another ", at->name));
    }
    return FAB_OK;
}

bool fab_prices_are_file(const char *text) {
    return book_is_file(text);
}

fab_status fab_prices_read(const char *text, fab_prices *out, fab_error *err) {
    FAB_OWNED_NEW(fab_prices, prices, 1, err);
    FAB_PASS(book_read(&PRICE_BOOK, text, NULL, prices, err));
    FAB_FORMAT(prices->origin, "%s%s", book_is_file(text) ? "" : PRICE_BOOK.prefix, text);
    *out = *prices;
    return FAB_OK;
}

void fab_prices_schema(fab_str *out) {
    book_schema(&PRICE_BOOK, out);
}
