/**
 * @file prices.h
 * A price book: what parts cost and draw. XML files under topologies/prices, or the user's own.
 */
#ifndef FAB_PRICES_H
#define FAB_PRICES_H

#include "fab/design.h"
#include "fab/status.h"

typedef struct fab_prices {
    char name[FAB_NAME_SIZE];
    char source[512];
    char convention[192];              /**< how transceivers are counted, in words */
    double switch_usd_per_port;        /**< times the radix of the switch, used or not */
    double transceiver_usd;            /**< each; one at either end of every counted cable */
    bool count_nic_cables;             /**< whether cables between NIC and leaf carry transceivers */
    double cable_usd, cable_usd_per_m; /**< per cable; plus per metre of it */
    double nic_usd;
    double switch_w_per_port, transceiver_w, nic_w;
    double usd_per_kwh;
    double pue;   /**< facility power / IT power, >= 1 */
    double years; /**< depreciation */
} fab_prices;

#define FAB_DEFAULT_PRICES "today-400g"

/** Reads a built-in profile by name, or an XML file when `text` names one (contains '/' or ends in .xml). */
fab_status fab_prices_read(const char *text, fab_prices *out, fab_error *err) FAB_MUST_USE;

/** Appends the XML Schema of price books. */
void fab_prices_schema(fab_str *out);

#endif
