#include "fab/str.h"
#include "fab/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *text, fab_unit unit, double expected) {
    double value = -1;
    fab_error err = {0};
    cr_assert_eq(fab_quantity_parse(text, unit, &value, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert(fabs(value - expected) <= 1e-12 * expected, "%s is %.17g, not %.17g", text, value, expected);
}

static void check_bad(const char *text, fab_unit unit) {
    double value = 12345;
    fab_error err = {0};
    cr_assert_eq(fab_quantity_parse(text, unit, &value, &err), FAB_EINPUT, "'%s' was accepted", text);
    cr_assert_eq(value, 12345, "'%s' changed the output", text);
    cr_assert_eq(err.code, FAB_EINPUT);
    cr_assert(strlen(err.text) > 0);
}

Test(units, rates) {
    check("400Gb/s", FAB_UNIT_RATE, 400e9);
    check("50GB/s", FAB_UNIT_RATE, 400e9);
    check("1.6Tb/s", FAB_UNIT_RATE, 1.6e12);
    check("100Mb/s", FAB_UNIT_RATE, 1e8);
    check("8b/s", FAB_UNIT_RATE, 8);
    check("1B/s", FAB_UNIT_RATE, 8);
    check("2.5e2Gb/s", FAB_UNIT_RATE, 250e9);
}

Test(units, other_quantities) {
    check("16MB", FAB_UNIT_BYTES, 16e6);
    check("1MiB", FAB_UNIT_BYTES, 1048576);
    check("0B", FAB_UNIT_BYTES, 0);
    check("30m", FAB_UNIT_LENGTH, 30);
    check("2km", FAB_UNIT_LENGTH, 2000);
    check("50cm", FAB_UNIT_LENGTH, 0.5);
    check("1.5us", FAB_UNIT_TIME, 1.5e-6);
    check("600ns", FAB_UNIT_TIME, 6e-7);
    check("2min", FAB_UNIT_TIME, 120);
    check("3h", FAB_UNIT_TIME, 10800);
    check("54d", FAB_UNIT_TIME, 54 * 86400.0);
    check("10.2kW", FAB_UNIT_POWER, 10200);
    check("3MW", FAB_UNIT_POWER, 3e6);
}

Test(units, as_others_write_them) {
    check("400 Gb/s", FAB_UNIT_RATE, 4e11);
    check("400Gbps", FAB_UNIT_RATE, 4e11);
    check("400 Gbit/s", FAB_UNIT_RATE, 4e11);
    check("50GBps", FAB_UNIT_RATE, 4e11);
    check("1.5 us", FAB_UNIT_TIME, 1.5e-6);
    check("1\xC2\xB5s", FAB_UNIT_TIME, 1e-6);
    check("1 \xCE\xBCs", FAB_UNIT_TIME, 1e-6);
    check("30 m", FAB_UNIT_LENGTH, 30);
}

Test(units, counts_say_how_to_write_them) {
    static const char *const GROUPED[] = {"2,048", "2_048", "2 048", "2'048"};
    for (size_t i = 0; i < sizeof GROUPED / sizeof GROUPED[0]; i++) {
        fab_error err = {0};
        uint64_t value = 0;
        cr_assert_eq(fab_count_parse(GROUPED[i], 1, 9999, &value, &err), FAB_EINPUT);
        cr_assert(strstr(err.text, "is not a whole number from 1 to 9999: write its digits alone") != NULL, "%s",
                  err.text);
    }
}

Test(units, ratios) {
    check("7", FAB_UNIT_RATIO, 7);
    check("7:1", FAB_UNIT_RATIO, 7);
    check("192:28", FAB_UNIT_RATIO, 192.0 / 28.0);
    check("0.5", FAB_UNIT_RATIO, 0.5);
    check("1.5:3", FAB_UNIT_RATIO, 0.5);
}

Test(units, bad_quantities) {
    static const char *const BAD[] = {"",         "400",     "400 Gb",  "400Gib/s", "400gb/s",   "-400Gb/s",
                                      "+1Gb/s",   "nanGb/s", "infGb/s", "0x10Gb/s", "1e999Gb/s", "400Gb/s ",
                                      " 400Gb/s", "Gb/s",    "1,5Gb/s", "400G"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        check_bad(BAD[i], FAB_UNIT_RATE);
    }
    fab_error err = {0};
    cr_assert_eq(fab_quantity_parse("400G", FAB_UNIT_RATE, &(double){0}, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "'400G' has the unit 'G'; write 400Gb/s for bits, 400GB/s for bytes");
    check_bad("30", FAB_UNIT_LENGTH);
    check_bad("30feet", FAB_UNIT_LENGTH);
    check_bad("1.5", FAB_UNIT_TIME);
    check_bad("1.5Us", FAB_UNIT_TIME);
    check_bad("700", FAB_UNIT_POWER);
    check_bad("16mb", FAB_UNIT_BYTES);
}

Test(units, bad_ratios) {
    static const char *const BAD[] = {"",      "0",  "0:1", "1:0", "-1",   "1:",   ":1",
                                      "7:1:1", "7x", "nan", "inf", "1:-1", "7 : 1"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        check_bad(BAD[i], FAB_UNIT_RATIO);
    }
}

/* Each by itself is a number that a double holds. */
Test(units, what_no_number_holds) {
    check_bad("1e300Tb/s", FAB_UNIT_RATE);
    check_bad("1e305d", FAB_UNIT_TIME);
    check_bad("1e300:1e-300", FAB_UNIT_RATIO);
    check_bad("1e-300:1e300", FAB_UNIT_RATIO);
}

/* As a whole number, without an exponent. */
Test(units, large_counts_read_back) {
    char text[40];
    cr_assert_str_eq(fab_quantity_exact(text, 7440774221910330, FAB_UNIT_COUNT), "7440774221910330");
    cr_assert_str_eq(fab_quantity_exact(text, 0x1p53, FAB_UNIT_COUNT), "9007199254740992");
    check(text, FAB_UNIT_COUNT, 0x1p53);
}

Test(units, message_shows_text_and_example) {
    double value = 0;
    fab_error err = {0};
    cr_assert_eq(fab_quantity_parse("400", FAB_UNIT_RATE, &value, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "'400'"));
    cr_assert_not_null(strstr(err.text, "400Gb/s"));
    cr_assert_eq(fab_quantity_parse("400", FAB_UNIT_RATE, &value, NULL), FAB_EINPUT, "err may be NULL");
}

Test(units, counts) {
    uint64_t n = 0;
    cr_assert_eq(fab_count_parse("64", 1, 64, &n, NULL), FAB_OK);
    cr_assert_eq(n, 64);
    cr_assert_eq(fab_count_parse("18446744073709551615", 0, UINT64_MAX, &n, NULL), FAB_OK);
    cr_assert_eq(n, UINT64_MAX);
    static const char *const BAD[] = {
        "", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "65", "0", "99999999999999999999999", "ten"};
    n = 7;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        fab_error err = {0};
        cr_assert_eq(fab_count_parse(BAD[i], 1, 64, &n, &err), FAB_EINPUT, "'%s' was accepted", BAD[i]);
        cr_assert_eq(n, 7);
    }
}

Test(units, exact_text_reads_back) {
    static const double VALUES[] = {0, 1, 7.0 / 3.0, 1e9, 400e9, 3.6e12, 123456789.0, 1e15, 1e-7, 6e-7, 0.1, 11.71875};
    static const fab_unit UNITS[] = {FAB_UNIT_RATE, FAB_UNIT_BYTES, FAB_UNIT_LENGTH, FAB_UNIT_TIME, FAB_UNIT_POWER};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        for (size_t j = 0; j < sizeof UNITS / sizeof UNITS[0]; j++) {
            char text[40];
            double value = -1;
            (void)fab_quantity_exact(text, VALUES[i], UNITS[j]);
            cr_assert_eq(fab_quantity_parse(text, UNITS[j], &value, NULL), FAB_OK, "%s", text);
            cr_assert_eq(value, VALUES[i], "%s is %.17g, not %.17g", text, value, VALUES[i]);
        }
    }
    char text[40];
    cr_assert_str_eq(fab_quantity_exact(text, 400e9, FAB_UNIT_RATE), "400Gb/s");
}

Test(units, text_for_people) {
    char text[40];
    cr_assert_str_eq(fab_quantity_format(text, 400e9, FAB_UNIT_RATE), "400 Gb/s");
    cr_assert_str_eq(fab_quantity_format(text, 1.5e-6, FAB_UNIT_TIME), "1.5 us");
    cr_assert_str_eq(fab_quantity_format(text, 3.1e6, FAB_UNIT_POWER), "3.1 MW");
    cr_assert_str_eq(fab_quantity_format(text, 0, FAB_UNIT_BYTES), "0 B");
    cr_assert_str_eq(fab_quantity_format(text, 24576, FAB_UNIT_COUNT), "24,576");
    cr_assert_str_eq(fab_money_format(text, 374), "$374");
    cr_assert_str_eq(fab_money_format(text, 61.3e6), "$61.3M");
    cr_assert_str_eq(fab_price_format(text, 100.64), "$100.6");
    cr_assert_str_eq(fab_price_format(text, 999.96), "$1,000");
    cr_assert_str_eq(fab_price_format(text, 22613.6), "$22,614");
    cr_assert_not_null(strstr(fab_price_format(text, NAN), "nan"));
    cr_assert_str_eq(fab_format_count(text, 999), "999");
    cr_assert_str_eq(fab_format_count(text, 16777216), "16,777,216");
}

Test(units, percentages_end_at_100) {
    char text[32];
    cr_assert_str_eq(fab_part_format(text, 0.1234, 3), "12.3 %");
    cr_assert_str_eq(fab_part_format(text, 1, 3), "100 %");
    cr_assert_str_eq(fab_part_format(text, 2.345, 3), "x2.35");
    cr_assert_str_eq(fab_part_format(text, -0.5, 3), "-50 %");
    cr_assert_str_eq(fab_part_format(text, -2.5, 3), "-x2.5");
    cr_assert_str_eq(fab_change_format(text, 0.0456, 1), "+4.6 %");
    cr_assert_str_eq(fab_change_format(text, -0.9, 1), "-90.0 %");
    cr_assert_str_eq(fab_change_format(text, 1.3, 1), "x2.3");
    cr_assert_str_eq(fab_more_format(text, 0.125, 3), "12.5 % more");
    cr_assert_str_eq(fab_more_format(text, 1, 3), "100 % more");
    cr_assert_str_eq(fab_more_format(text, 1.3, 3), "x2.3");
}

Test(units, shortest_double) {
    char text[32];
    static const double VALUES[] = {0.1, 1e300, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 123456789012345680.0};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        fab_format_double(text, VALUES[i]);
        cr_assert_eq(strtod(text, NULL), VALUES[i], "%s", text);
    }
    fab_format_double(text, 0.1);
    cr_assert_str_eq(text, "0.1");
}

Test(units, every_unit_example_parses) {
    for (int unit = FAB_UNIT_COUNT; unit <= FAB_UNIT_POWER; unit++) {
        char example[40];
        double value = 0;
        (void)snprintf(example, sizeof example, "%s", fab_unit_example((fab_unit)unit));
        example[strcspn(example, " ")] = '\0';
        cr_assert_eq(fab_quantity_parse(example, (fab_unit)unit, &value, NULL), FAB_OK, "%s", example);
    }
}

/* Whole ranges alone are written, and how many numbers they have is said. */
Test(units, ranges) {
    const uint32_t list[] = {0, 1, 2, 20, 22, 21, UINT32_MAX - 1, UINT32_MAX};
    char text[64];
    cr_assert_eq(fab_write_ranges(text, sizeof text, list, 8, ','), 8);
    cr_assert_str_eq(text, "0-2,20,22,21,4294967294-4294967295");
    cr_assert_eq(fab_write_ranges(text, sizeof text, list, 4, '+'), 4);
    cr_assert_str_eq(text, "0-2+20");
    cr_assert_eq(fab_write_ranges(text, sizeof "0-2,20", list, 5, ','), 4, "no room for the third");
    cr_assert_str_eq(text, "0-2,20");
    cr_assert_eq(fab_write_ranges(text, sizeof "0-2,20" - 1, list, 5, ','), 3, "nor for the NUL behind the second");
    cr_assert_str_eq(text, "0-2");
    cr_assert_eq(fab_write_ranges(text, 1, NULL, 0, ','), 0);
    cr_assert_str_eq(text, "");
    const uint32_t longest[] = {UINT32_MAX, 4000000000U, 3000000000U};
    char most[11 * 3 + 1];
    cr_assert_eq(fab_write_ranges(most, sizeof most, longest, 3, ','), 3, "11 bytes a number hold any");
}
