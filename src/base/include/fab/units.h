/**
 * Quantities with their unit. The only place where units are converted: inside the program rates are bit/s, sizes
 * bytes, lengths metres, times seconds, powers watts.
 */
#pragma once

#include "fab/base.h"

typedef enum fab_unit {
    FAB_UNIT_COUNT,  /**< whole number, no unit */
    FAB_UNIT_RATIO,  /**< decimal, or a:b */
    FAB_UNIT_RATE,   /**< 400Gb/s, 50GB/s -> bit/s */
    FAB_UNIT_BYTES,  /**< 16MB, 1MiB -> bytes */
    FAB_UNIT_LENGTH, /**< 30m, 2km -> metres */
    FAB_UNIT_TIME,   /**< 1.5us, 54d -> seconds */
    FAB_UNIT_POWER,  /**< 700W, 10.2kW -> watts */
} fab_unit;

/**
 * Reads a quantity. Blanks before the unit, bps and bit/s for b/s, and a Greek mu are taken too. A bare number where a
 * unit is due, an unknown unit, trailing text, NaN, infinity and negative values are FAB_EINPUT; the message shows the
 * text and an example.
 */
FAB_STATUS fab_quantity_parse(const char *text, fab_unit unit, double *out_value, fab_error *err);

/** Reads a whole decimal number within [min, max]. */
FAB_STATUS fab_count_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out_value, fab_error *err);

/** Example of a quantity of this unit ("400Gb/s"), for messages and help. */
const char *fab_unit_example(fab_unit unit);

/**
 * Text for people, three to four digits and an SI prefix: "400 Gb/s", "1.5 us", "24.6 GB", "3.1 MW".
 * @param[out] out  At least 32 bytes. Returns out.
 */
const char *fab_quantity_format(char *out, double value, fab_unit unit);
/** As an expression; the text lasts until the end of the block. */
#define FAB_SAY(value, unit) fab_quantity_format(FAB_ROOM, (value), (unit))

/** Text that fab_quantity_parse reads back as the same value: "400Gb/s". `out` holds at least 40 bytes. Returns out. */
const char *fab_quantity_exact(char *out, double value, fab_unit unit);

/** Dollars for people: "$374", "$61.3M". `out` holds at least 32 bytes. Returns out. */
const char *fab_money_format(char *out, double usd);

/** Dollars of so many tokens, four digits or all before the point: "$100.6", "$22,614". As fab_money_format(). */
const char *fab_price_format(char *out, double usd);

/* Percentages end at 100: what is more is a factor. `out` holds at least 32 bytes; all return it. */

/** Part of something: "12.3 %", "x2.3"; below 0 likewise: "-12.3 %", "-x2.3". */
const char *fab_part_format(char *out, double ratio, int digits);

/** By how much it has changed, with so many places: "+12.3 %", "-4.0 %"; from twice as much on the factor: "x2.3". */
const char *fab_change_format(char *out, double ratio, int places);

/** How much more it is, at least 0: "12.3 % more", "x2.3". */
const char *fab_more_format(char *out, double ratio, int digits);

/**
 * Refuses what would not fit, before anything of it is allocated.
 * @param[in] what   What takes it: "the graph of 4,096 GPUs".
 * @param[in] bytes  An estimate; FAB_PROGRAM_BYTES come on top.
 * @param[in] limit  0: none.
 * @retval FAB_EUNSUPPORTED  more than the limit; the message names both
 */
FAB_STATUS fab_memory_check(const char *what, double bytes, uint64_t limit, fab_error *err);
