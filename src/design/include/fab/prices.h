/**
 * A price book: what parts cost and draw, and which of them a design needs. XML files under topologies/prices, or the
 * user's own. Nothing is guessed: a part that the book does not price is an error that says what the book has.
 */
#pragma once

#include "fab/convention.h"
#include "fab/sizes.h"
#include "fab/str.h"

#define FAB_MAX_PRICE_ROWS 64 /**< of one kind of part */

/** A switch. With a radix: this model alone. Without: any radix, priced by its ports, used or not. */
typedef struct fab_price_switch {
    uint64_t radix;  /**< 0 = any */
    double rate_bps; /**< of a port; 0 = any */
    double usd, usd_per_port, usd_per_port_gbps;
    double power_w, w_per_port, w_per_port_gbps; /**< without optics */
} fab_price_switch;

/** A transceiver that serves one port, or two (twin-port optics, at switches only). */
typedef struct fab_price_module {
    char name[FAB_NAME_SIZE]; /**< "DR4", or empty */
    double rate_bps;          /**< of one port; 0 = any */
    double reach_m;           /**< 0 = any length */
    uint64_t ports;           /**< 1 or 2 */
    double usd, usd_per_gbps; /**< of the module; per Gb/s of all its ports */
    double power_w, w_per_gbps;
} fab_price_module;

typedef struct fab_price_cable {
    char medium[FAB_NAME_SIZE]; /**< "DAC", "AOC", "fibre", ...; empty where the book distinguishes none */
    double rate_bps;            /**< 0 = any */
    double max_length_m;        /**< 0 = any length */
    bool modules;               /**< needs transceivers at its ends */
    double usd, usd_per_m, usd_per_gbps, usd_per_m_gbps;
    double w_per_end, w_per_end_gbps; /**< of an end without transceiver */
} fab_price_cable;

typedef struct fab_price_nic {
    double rate_bps; /**< 0 = any */
    double usd, usd_per_gbps;
    double power_w, w_per_gbps;
} fab_price_nic;

/** A GPU by the name that list gpus has. */
typedef struct fab_price_gpu {
    char name[FAB_NAME_SIZE];
    double usd;
} fab_price_gpu;

/** A server without GPUs and NICs. */
typedef struct fab_price_server {
    uint64_t gpus; /**< of a server; 0 = any number */
    double usd, usd_per_gpu;
    double power_w, w_per_gpu;
} fab_price_server;

/** A rack with its place on the floor. */
typedef struct fab_price_rack {
    uint64_t servers, switches; /**< that it holds where a design has no floor plan; servers 0: the book has no racks */
    double usd, usd_per_year;
} fab_price_rack;

typedef struct fab_prices {
    char name[FAB_NAME_SIZE];
    char origin[192]; /**< the file, or prices:NAME */
    char source[512];
    fab_convention convention;
    fab_price_switch switches[FAB_MAX_PRICE_ROWS];
    fab_price_module modules[FAB_MAX_PRICE_ROWS];
    fab_price_cable cables[FAB_MAX_PRICE_ROWS];
    fab_price_nic nics[FAB_MAX_PRICE_ROWS];
    fab_price_gpu gpus[FAB_MAX_PRICE_ROWS];
    fab_price_server servers[FAB_MAX_PRICE_ROWS];
    fab_price_rack rack;
    size_t n_switches, n_modules, n_cables, n_nics, n_gpus, n_servers;
    double install_usd_per_cable, install_usd_per_switch;
    double usd_per_kwh;
    double pue;   /**< facility power / IT power, >= 1 */
    double years; /**< depreciation */
} fab_prices;

#define FAB_DEFAULT_PRICES "today-400g"

/** A counting convention. */
typedef struct fab_count_rule {
    const char *name;
    const char *summary; /**< one sentence, for reports */
    bool nic_cables;     /**< cables between NIC and switch are counted; else they cost nothing */
    bool twin_port;      /**< ends at switches use twin-port modules where the book has them */
    uint64_t ends;       /**< counted ends of a counted cable: 1 or 2 */
} fab_count_rule;

/** Index fab_convention; nothing at FAB_CONVENTION_OF_BOOK. */
extern const fab_count_rule fab_count_rules[];

/** Reads a built-in profile by name, or an XML file when `text` names one (contains '/' or ends in .xml). */
FAB_STATUS fab_prices_read(const char *text, fab_prices *out, fab_error *err);

/** Whether a text names a file, not a profile. */
bool fab_prices_are_file(const char *text);

typedef struct fab_price {
    double usd, power_w;
} fab_price;

/**
 * Price of one switch. The row that fits most closely decides: radix and rate, then rate, then radix, then neither.
 * @param[in]  ports  Physical ports. Not whole where a tier mixes switches: then only prices per port fit.
 * @retval FAB_EINPUT  the message names radix and rate, and what the book has.
 */
FAB_STATUS fab_prices_switch(const fab_prices *prices, double ports, double rate_bps, fab_price *out, fab_error *err);

/** Price of one NIC; a row of exactly this rate goes before one of any rate. */
FAB_STATUS fab_prices_nic(const fab_prices *prices, double rate_bps, fab_price *out, fab_error *err);

/** Price of a GPU; its power is that of its data sheet. False: the book has none of this name. */
bool fab_prices_gpu(const fab_prices *prices, const char *name, double *out_usd);

/** Price of a server of so many GPUs, without them and its NICs; a row of exactly this number goes first. False: none.
 */
bool fab_prices_server(const fab_prices *prices, uint64_t gpus, fab_price *out);

/** What a cable is made of. */
typedef struct fab_link_price {
    const char *medium;                /**< NULL where the book distinguishes none */
    fab_price cable;                   /**< power: of both ends, when they need no transceiver */
    const fab_price_module *module;    /**< at an end, single port; NULL: the ends need none */
    const fab_price_module *twin_port; /**< at a switch, two ports of this rate; NULL where the book has none */
    fab_price module_price, twin_port_price;
} fab_link_price;

/**
 * The cheapest way to join two ports: of all media of the book that reach `length_m`, the one with the lowest price of
 * the cable together with a transceiver at either end where the medium needs them; of equals the first in the book.
 * Neither the counting convention nor the place of the cable matters, so that a cable is made of the same thing in the
 * bill of materials and in the patch plan.
 * @param[out] out  Borrows from `prices`.
 * @retval FAB_EINPUT  no medium of this rate reaches that far.
 */
FAB_STATUS fab_prices_link(const fab_prices *prices, double rate_bps, double length_m, fab_link_price *out,
                           fab_error *err);

/**
 * Medium that the book chooses for a cable: "DAC", "AOC", "fibre", ...
 * @return  Borrowed from `prices`; NULL where the book distinguishes none, or none of its media reaches that far.
 */
const char *fab_prices_medium(const fab_prices *prices, double rate_bps, double length_m);

/** Appends the XML Schema of price books. */
void fab_prices_schema(fab_str *out);
