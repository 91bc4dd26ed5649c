/* Which rows of a price book a part is made of. */
#include "fab/prices.h"

#include "fab/units.h"

#define GBPS      1e9
#define LIST_SIZE 200 /* of what a book has, in a message */

const fab_count_rule fab_count_rules[] = {
    [FAB_CONVENTION_OF_BOOK] = {.name = ""},
    [FAB_CONVENTION_PER_LINK_END] =
        {"per-link-end", "a transceiver at either end of every cable whose medium needs them, the NIC side included",
         true, false, 2},
    [FAB_CONVENTION_SWITCH_LINKS] =
        {"switch-links",
         "cables between switches only, with a transceiver at either end; cables between NIC and switch cost nothing",
         false, false, 2},
    [FAB_CONVENTION_PER_CABLE] = {"per-cable",
                                  "one transceiver for every cable whose medium needs them, the NIC side included",
                                  true, false, 1},
    [FAB_CONVENTION_TWIN_PORT] =
        {"twin-port",
         "one transceiver at every NIC end; at switches one module for two ports where the book has twin-port modules",
         true, true, 2},
};

/* Rates that come out of a division by planes are not exact. */
static bool same_rate(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(a, b);
}

static bool fits(double row_bps, double rate_bps) {
    return row_bps == 0 || same_rate(row_bps, rate_bps);
}

/* --- switches and NICs -------------------------------------------------------------------------------------------- */

static void lookup_add_item(char *list, const char *item) {
    size_t n = strlen(list);
    const char *more = ", ...";
    if (n + strlen(item) + strlen(more) + 3 < LIST_SIZE) {
        (void)snprintf(list + n, LIST_SIZE - n, "%s%s", n > 0 ? ", " : "", item);
    } else if (n >= strlen(more) && strcmp(list + n - strlen(more), more) != 0) {
        (void)snprintf(list + n, LIST_SIZE - n, "%s", more);
    }
}

static void list_switches(const fab_prices *prices, char *list) {
    FAB_EACH(const fab_price_switch, row, prices->switches, prices->n_switches) {
        char radix[32] = "any radix";
        char rate[32] = "any rate";
        char item[80];
        if (row->radix != 0) {
            FAB_FORMAT(radix, "%" PRIu64 " ports", row->radix);
        }
        if (row->rate_bps != 0) {
            (void)fab_quantity_format(rate, row->rate_bps, FAB_UNIT_RATE);
        }
        FAB_FORMAT(item, "%s at %s", radix, rate);
        lookup_add_item(list, item);
    }
}

fab_status fab_prices_switch(const fab_prices *prices, double ports, double rate_bps, fab_price *out, fab_error *err) {
    const fab_price_switch *best = NULL;
    int best_rank = -1;
    FAB_EACH(const fab_price_switch, row, prices->switches, prices->n_switches) {
        bool fits_radix = row->radix == 0 || (double)row->radix == ports;
        int rank = (row->rate_bps != 0 ? 2 : 0) + (row->radix != 0 ? 1 : 0);
        if (fits_radix && fits(row->rate_bps, rate_bps) && rank > best_rank) {
            best = row;
            best_rank = rank;
        }
    }
    const char *rate = FAB_SAY(rate_bps, FAB_UNIT_RATE);
    if (best == NULL) {
        char list[LIST_SIZE] = "";
        list_switches(prices, list);
        return fab_fail(err, FAB_EINPUT, prices->origin, "no price for a switch of %.6g ports at %s; the book has %s",
                        ports, rate, list);
    }
    double gbps = ports * (rate_bps / GBPS);
    fab_price price = {best->usd + ports * best->usd_per_port + gbps * best->usd_per_port_gbps,
                       best->power_w + ports * best->w_per_port + gbps * best->w_per_port_gbps};
    /* a fit with a negative constant, used outside its range */
    FAB_REFUSE_IF(price.usd < 0, err, FAB_EINPUT, prices->origin, "a switch of %.6g ports at %s comes to %.0f $", ports,
                  rate, price.usd);
    *out = price;
    return FAB_OK;
}

fab_status fab_prices_nic(const fab_prices *prices, double rate_bps, fab_price *out, fab_error *err) {
    const fab_price_nic *best = NULL;
    char list[LIST_SIZE] = "";
    FAB_EACH(const fab_price_nic, row, prices->nics, prices->n_nics) {
        if (fits(row->rate_bps, rate_bps) && (best == NULL || (best->rate_bps == 0 && row->rate_bps != 0))) {
            best = row;
        }
        lookup_add_item(list, row->rate_bps != 0 ? FAB_SAY(row->rate_bps, FAB_UNIT_RATE) : "any rate");
    }
    FAB_REFUSE_IF(best == NULL, err, FAB_EINPUT, prices->origin, "no price for a NIC of %s; the book has %s",
                  FAB_SAY(rate_bps, FAB_UNIT_RATE), list);
    *out = (fab_price){best->usd + best->usd_per_gbps * (rate_bps / GBPS),
                       best->power_w + best->w_per_gbps * (rate_bps / GBPS)};
    return FAB_OK;
}

/* --- GPUs and servers --------------------------------------------------------------------------------------------- */

bool fab_prices_gpu(const fab_prices *prices, const char *name, double *out_usd) {
    for (size_t i = 0; i < prices->n_gpus; i++) {
        if (strcmp(prices->gpus[i].name, name) == 0) {
            *out_usd = prices->gpus[i].usd;
            return true;
        }
    }
    return false;
}

bool fab_prices_server(const fab_prices *prices, uint64_t gpus, fab_price *out) {
    const fab_price_server *best = NULL;
    FAB_EACH(const fab_price_server, row, prices->servers, prices->n_servers) {
        if (row->gpus == gpus || (row->gpus == 0 && best == NULL)) {
            best = row;
        }
    }
    if (best != NULL) {
        *out =
            (fab_price){best->usd + (double)gpus * best->usd_per_gpu, best->power_w + (double)gpus * best->w_per_gpu};
    }
    return best != NULL;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

static bool reaches(double limit_m, double length_m) {
    return limit_m == 0 || length_m <= limit_m * (1 + 1e-9);
}

static fab_price price_of_module(const fab_price_module *row, double rate_bps) {
    double gbps = (double)row->ports * (rate_bps / GBPS);
    return (fab_price){row->usd + gbps * row->usd_per_gbps, row->power_w + gbps * row->w_per_gbps};
}

/* The cheapest module of so many ports that reaches; those of exactly this rate go before those of any rate. */
static const fab_price_module *find_module(const fab_prices *prices, uint64_t ports, double rate_bps, double length_m) {
    const fab_price_module *best = NULL;
    FAB_EACH(const fab_price_module, row, prices->modules, prices->n_modules) {
        if (row->ports != ports || !fits(row->rate_bps, rate_bps) || !reaches(row->reach_m, length_m)) {
            continue;
        }
        bool closer = best != NULL && best->rate_bps == 0 && row->rate_bps != 0;
        bool farther = best != NULL && best->rate_bps != 0 && row->rate_bps == 0;
        if (best == NULL || closer ||
            (!farther && price_of_module(row, rate_bps).usd < price_of_module(best, rate_bps).usd)) {
            best = row;
        }
    }
    return best;
}

/* A medium that is priced for exactly this rate is not taken from its rows for any rate. */
static bool is_superseded(const fab_prices *prices, const fab_price_cable *row, double rate_bps) {
    for (size_t i = 0; row->rate_bps == 0 && i < prices->n_cables; i++) {
        const fab_price_cable *other = &prices->cables[i];
        if (other->rate_bps != 0 && same_rate(other->rate_bps, rate_bps) && strcmp(other->medium, row->medium) == 0) {
            return true;
        }
    }
    return false;
}

static fab_status fail_cable(const fab_prices *prices, double rate_bps, double length_m, const fab_price_cable *bare,
                             fab_error *err) {
    char rate[32];
    char length[32];
    char list[LIST_SIZE] = "";
    (void)fab_quantity_format(rate, rate_bps, FAB_UNIT_RATE);
    FAB_FORMAT(length, "%.6g m", length_m);
    FAB_REFUSE_IF(bare != NULL, err, FAB_EINPUT, prices->origin,
                  "no price for a transceiver of %s over %s, which %s needs", rate, length,
                  bare->medium[0] != '\0' ? bare->medium : "a cable");
    for (size_t i = 0; i < prices->n_cables; i++) {
        const fab_price_cable *row = &prices->cables[i];
        char item[FAB_NAME_SIZE + 80];
        char of_rate[32] = "any rate";
        char to[32] = "any length";
        if (row->rate_bps != 0) {
            (void)fab_quantity_format(of_rate, row->rate_bps, FAB_UNIT_RATE);
        }
        if (row->max_length_m != 0) {
            FAB_FORMAT(to, "%.6g m", row->max_length_m);
        }
        FAB_FORMAT(item, "%s of %s up to %s", row->medium[0] != '\0' ? row->medium : "cables", of_rate, to);
        lookup_add_item(list, item);
    }
    return fab_fail(err, FAB_EINPUT, prices->origin, "no price for a cable of %s and %s; the book has %s", rate, length,
                    list);
}

fab_status fab_prices_link(const fab_prices *prices, double rate_bps, double length_m, fab_link_price *out,
                           fab_error *err) {
    double gbps = rate_bps / GBPS;
    double least_usd = 0;
    fab_link_price best = {0};
    const fab_price_cable *chosen = NULL;
    const fab_price_cable *bare = NULL; /* would reach, but the book has no transceiver for it */
    const fab_price_module *module = find_module(prices, 1, rate_bps, length_m);
    FAB_EACH(const fab_price_cable, row, prices->cables, prices->n_cables) {
        if (!fits(row->rate_bps, rate_bps) || !reaches(row->max_length_m, length_m) ||
            is_superseded(prices, row, rate_bps)) {
            continue;
        }
        if (row->modules && module == NULL) {
            bare = row;
            continue;
        }
        fab_price cable = {row->usd + row->usd_per_m * length_m +
                               (row->usd_per_gbps + row->usd_per_m_gbps * length_m) * gbps,
                           2 * (row->w_per_end + row->w_per_end_gbps * gbps)};
        fab_price end = row->modules ? price_of_module(module, rate_bps) : (fab_price){0, 0};
        double usd = cable.usd + 2 * end.usd;
        if (chosen == NULL || usd < least_usd) {
            chosen = row;
            least_usd = usd;
            best = (fab_link_price){.cable = cable, .module = row->modules ? module : NULL, .module_price = end};
        }
    }
    FAB_RETURN_IF(chosen == NULL, fail_cable(prices, rate_bps, length_m, bare, err));
    best.medium = chosen->medium[0] != '\0' ? chosen->medium : NULL;
    best.twin_port = chosen->modules ? find_module(prices, 2, rate_bps, length_m) : NULL;
    best.twin_port_price = best.twin_port != NULL ? price_of_module(best.twin_port, rate_bps) : (fab_price){0, 0};
    *out = best;
    return FAB_OK;
}

const char *fab_prices_medium(const fab_prices *prices, double rate_bps, double length_m) {
    fab_link_price link = {0};
    return fab_prices_link(prices, rate_bps, length_m, &link, NULL) == FAB_OK ? link.medium : NULL;
}
