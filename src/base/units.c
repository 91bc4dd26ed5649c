#include "fab/units.h"
#include "fab/str.h"

#include <errno.h>
#include <strings.h>

typedef struct suffix {
    const char *text;
    double factor;
    double divisor; /* in place of a factor below 1, which would not be exact; 0 = 1 */
} suffix;

static const suffix RATE_SUFFIXES[] = {{"b/s", 1, 0},     {"kb/s", 1e3, 0},  {"Mb/s", 1e6, 0}, {"Gb/s", 1e9, 0},
                                       {"Tb/s", 1e12, 0}, {"B/s", 8, 0},     {"kB/s", 8e3, 0}, {"MB/s", 8e6, 0},
                                       {"GB/s", 8e9, 0},  {"TB/s", 8e12, 0}, {NULL, 0, 0}};
static const suffix BYTES_SUFFIXES[] = {{"B", 1, 0},           {"kB", 1e3, 0},           {"MB", 1e6, 0},
                                        {"GB", 1e9, 0},        {"TB", 1e12, 0},          {"KiB", 1024.0, 0},
                                        {"MiB", 1048576.0, 0}, {"GiB", 1073741824.0, 0}, {NULL, 0, 0}};
static const suffix LENGTH_SUFFIXES[] = {{"m", 1, 0}, {"cm", 1, 100}, {"km", 1e3, 0}, {NULL, 0, 0}};
static const suffix TIME_SUFFIXES[] = {{"s", 1, 0},    {"ms", 1, 1e3}, {"us", 1, 1e6},  {"ns", 1, 1e9},
                                       {"min", 60, 0}, {"h", 3600, 0}, {"d", 86400, 0}, {NULL, 0, 0}};
static const suffix POWER_SUFFIXES[] = {{"W", 1, 0}, {"kW", 1e3, 0}, {"MW", 1e6, 0}, {NULL, 0, 0}};

static const suffix *suffixes_of(fab_unit unit) {
    switch (unit) {
    case FAB_UNIT_RATE: return RATE_SUFFIXES;
    case FAB_UNIT_BYTES: return BYTES_SUFFIXES;
    case FAB_UNIT_LENGTH: return LENGTH_SUFFIXES;
    case FAB_UNIT_TIME: return TIME_SUFFIXES;
    case FAB_UNIT_POWER: return POWER_SUFFIXES;
    case FAB_UNIT_COUNT:
    case FAB_UNIT_RATIO: break;
    }
    return NULL;
}

const char *fab_unit_example(fab_unit unit) {
    switch (unit) {
    case FAB_UNIT_COUNT: return "64";
    case FAB_UNIT_RATIO: return "2.5 or 7:1";
    case FAB_UNIT_RATE: return "400Gb/s or 50GB/s";
    case FAB_UNIT_BYTES: return "16MB or 1MiB";
    case FAB_UNIT_LENGTH: return "30m";
    case FAB_UNIT_TIME: return "1.5us";
    case FAB_UNIT_POWER: return "700W";
    }
    return "";
}

/* Decimal number at the start of text, digits and an exponent only: strtod alone would take "inf", "0x1p3" and blanks.
 */
static bool parse_decimal(const char *text, double *value, const char **end) {
    if (strspn(text, "0123456789.") == 0 || strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0) {
        return false;
    }
    char *stop = NULL;
    errno = 0;
    *value = strtod(text, &stop);
    *end = stop;
    return stop != text && errno != ERANGE && isfinite(*value);
}

/* The unit behind a number as the tables above write it: without blanks, bps and bit/s as b/s, a Greek mu as u. */
static void plain_unit(const char *text, char *out, size_t size) {
    static const struct {
        const char *from, *to;
    } SAME[] = {{"bit/s", "b/s"}, {"bps", "b/s"}, {"Bps", "B/s"}, {"\xC2\xB5s", "us"}, {"\xCE\xBCs", "us"}};
    text += strspn(text, " ");
    size_t n = strlen(text);
    for (size_t i = 0; i < FAB_N_OF(SAME); i++) {
        size_t n_from = strlen(SAME[i].from);
        if (n >= n_from && strcmp(text + n - n_from, SAME[i].from) == 0) {
            (void)snprintf(out, size, "%.*s%s", (int)(n - n_from < size ? n - n_from : size), text, SAME[i].to);
            return;
        }
    }
    (void)snprintf(out, size, "%s", text);
}

/* In rates b and B are two units. */
static bool is_but_for_case(const char *text, const char *unit, fab_unit of) {
    return strcasecmp(text, unit) == 0 && (of != FAB_UNIT_RATE || strcmp(text + 1, unit + 1) == 0);
}

static fab_status unknown_unit(const char *text, const char *end, fab_unit unit, fab_error *err) {
    bool is_prefix = end[0] != '\0' && end[1] == '\0' && strchr("kMGT", end[0]) != NULL;
    FAB_REFUSE_IF(unit == FAB_UNIT_RATE && is_prefix, err, FAB_EINPUT, NULL,
                  "'%.60s' has the unit '%s'; write %.40sb/s for bits, %.40sB/s for bytes", text, end, text, text);
    const suffix *near = suffixes_of(unit);
    char plain[16];
    plain_unit(end, plain, sizeof plain);
    while (near->text != NULL && !is_but_for_case(plain, near->text, unit)) {
        near++;
    }
    FAB_REFUSE_IF(near->text != NULL, err, FAB_EINPUT, NULL, "'%.60s' has the unknown unit '%.20s'; write %.*s%s", text,
                  end, (int)strspn(text, "0123456789.+-eE"), text, near->text);
    return fab_fail(err, FAB_EINPUT, NULL, "'%.60s' has the unknown unit '%.20s' (such as %s)", text, end,
                    fab_unit_example(unit));
}

static fab_status parse_ratio(const char *text, double *out_value, fab_error *err) {
    const char *end = NULL;
    double a = 0;
    double b = 1;
    bool good = parse_decimal(text, &a, &end);
    if (good && *end == ':') {
        good = parse_decimal(end + 1, &b, &end);
    }
    FAB_REFUSE_IF(!good || *end != '\0' || !(a > 0) || !(b > 0), err, FAB_EINPUT, NULL,
                  "'%.60s' is not a ratio above 0 (such as %s)", text, fab_unit_example(FAB_UNIT_RATIO));
    FAB_REFUSE_IF(!(a / b > 0) || !isfinite(a / b), err, FAB_EINPUT, NULL, "'%.60s' is a ratio that no number holds",
                  text);
    *out_value = a / b;
    return FAB_OK;
}

fab_status fab_quantity_parse(const char *text, fab_unit unit, double *out_value, fab_error *err) {
    if (unit == FAB_UNIT_RATIO) {
        return parse_ratio(text, out_value, err);
    }
    if (unit == FAB_UNIT_COUNT) {
        uint64_t count = 0;
        FAB_PASS(fab_count_parse(text, 0, UINT64_C(1) << 53, &count, err));
        *out_value = (double)count;
        return FAB_OK;
    }
    const char *end = NULL;
    double number = 0;
    FAB_REFUSE_IF(!parse_decimal(text, &number, &end), err, FAB_EINPUT, NULL,
                  "'%.60s' is not a quantity of at least 0 with its unit (such as %s)", text, fab_unit_example(unit));
    FAB_REFUSE_IF(*end == '\0', err, FAB_EINPUT, NULL, "'%.60s' has no unit; write it with one (such as %s)", text,
                  fab_unit_example(unit));
    char plain[16];
    plain_unit(end, plain, sizeof plain);
    for (const suffix *s = suffixes_of(unit); s->text != NULL; s++) {
        if (strcmp(plain, s->text) == 0) {
            number = s->divisor > 0 ? number / s->divisor : number * s->factor;
            FAB_REFUSE_IF(!isfinite(number), err, FAB_EINPUT, NULL, "'%.60s' is more than a number holds (1.8e308)",
                          text);
            *out_value = number;
            return FAB_OK;
        }
    }
    return unknown_unit(text, end + strspn(end, " "), unit, err);
}

fab_status fab_count_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out_value, fab_error *err) {
    size_t n = strspn(text, "0123456789");
    if (n == 0 || text[n] != '\0') {
        bool is_grouped = n > 0 && strspn(text, "0123456789,_' ") == strlen(text);
        bool is_thousands = n > 0 && n < 7 && (text[n] == 'k' || text[n] == 'K') && text[n + 1] == '\0';
        char meant[64] = "";
        if (is_thousands) {
            FAB_FORMAT(meant, ": write %d or %d", atoi(text) * 1000, atoi(text) * 1024);
        }
        return fab_fail(err, FAB_EINPUT, NULL, "'%.60s' is not a whole number from %" PRIu64 " to %" PRIu64 "%s", text,
                        min, max, is_grouped ? ": write its digits alone" : meant);
    }
    errno = 0;
    uint64_t value = strtoull(text, NULL, 10);
    FAB_REFUSE_IF(errno == ERANGE || value < min || value > max, err, FAB_EINPUT, NULL,
                  "'%.60s' is outside %" PRIu64 " to %" PRIu64, text, min, max);
    *out_value = value;
    return FAB_OK;
}

static const char *with_prefix(char *out, double value, const char *unit) {
    static const struct {
        double factor;
        const char *prefix;
    } PREFIXES[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"}, {1e3, "k"},
                    {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
    size_t n = FAB_N_OF(PREFIXES);
    size_t i = 0;
    while (i + 1 < n && fabs(value) < PREFIXES[i].factor * 0.99999) {
        i++;
    }
    if (value == 0) {
        i = 5;
    }
    (void)snprintf(out, 32, "%.4g %s%s", value / PREFIXES[i].factor, PREFIXES[i].prefix, unit);
    return out;
}

const char *fab_quantity_format(char *out, double value, fab_unit unit) {
    switch (unit) {
    case FAB_UNIT_COUNT: return fab_format_count(out, (uint64_t)value);
    case FAB_UNIT_RATIO: (void)snprintf(out, 32, "%.4g", value); return out;
    case FAB_UNIT_RATE: return with_prefix(out, value, "b/s");
    case FAB_UNIT_BYTES: return with_prefix(out, value, "B");
    case FAB_UNIT_LENGTH:
        (void)snprintf(out, 32, value < 1e4 ? "%.4g m" : "%.4g km", value < 1e4 ? value : value / 1e3);
        return out;
    case FAB_UNIT_TIME:
        return value < 60 ? with_prefix(out, value, "s") : ((void)snprintf(out, 32, "%.4g s", value), out);
    case FAB_UNIT_POWER: return with_prefix(out, value, "W");
    }
    return out;
}

const char *fab_quantity_exact(char *out, double value, fab_unit unit) {
    char number[32];
    if (unit == FAB_UNIT_COUNT) { /* with an exponent it would not be a whole number to who reads it */
        (void)snprintf(out, 40, "%.0f", value);
        return out;
    }
    if (unit == FAB_UNIT_RATE && value >= 1e9 && fmod(value, 1e8) == 0) {
        fab_format_double(number, value / 1e9);
        (void)snprintf(out, 40, "%sGb/s", number);
        return out;
    }
    fab_format_double(number, value);
    const suffix *s = suffixes_of(unit);
    (void)snprintf(out, 40, "%s%s", number, s != NULL ? s[0].text : "");
    return out;
}

const char *fab_money_format(char *out, double usd) {
    double size = fabs(usd);
    if (size >= 999.5e6) {
        (void)snprintf(out, 32, "$%.2fB", usd / 1e9);
    } else if (size >= 999.5e3) {
        (void)snprintf(out, 32, "$%.1fM", usd / 1e6);
    } else if (size >= 9999.5) {
        (void)snprintf(out, 32, "$%.1fk", usd / 1e3);
    } else if (size >= 100) {
        (void)snprintf(out, 32, "$%.0f", usd);
    } else {
        (void)snprintf(out, 32, "$%.2f", usd);
    }
    return out;
}

const char *fab_price_format(char *out, double usd) {
    if (!(usd >= 999.95 && usd <= 1e15)) {
        (void)snprintf(out, 32, "$%.4g", usd);
    } else {
        (void)snprintf(out, 32, "$%s", FAB_SAY_COUNT((uint64_t)(usd + 0.5)));
    }
    return out;
}

#define MOST_PERCENT (1 + 5e-4) /* as a ratio: what prints as 100 */

const char *fab_part_format(char *out, double ratio, int digits) {
    const double size = fabs(ratio);
    const char *sign = ratio < 0 ? "-" : "";
    (void)snprintf(out, 32, size > MOST_PERCENT ? "%sx%.*g" : "%s%.*g %%", sign, digits,
                   size > MOST_PERCENT ? size : 100 * size);
    return out;
}

const char *fab_change_format(char *out, double ratio, int places) {
    if (ratio > MOST_PERCENT) {
        (void)snprintf(out, 32, "x%.3g", 1 + ratio);
    } else {
        (void)snprintf(out, 32, "%+.*f %%", places, 100 * ratio);
    }
    return out;
}

const char *fab_more_format(char *out, double ratio, int digits) {
    if (ratio > MOST_PERCENT) {
        (void)snprintf(out, 32, "x%.3g", 1 + ratio);
    } else {
        (void)snprintf(out, 32, "%.*g %% more", digits, 100 * ratio);
    }
    return out;
}

fab_status fab_memory_check(const char *what, double bytes, uint64_t limit, fab_error *err) {
    bytes += FAB_PROGRAM_BYTES;
    if (limit == 0 || bytes <= (double)limit) {
        return FAB_OK;
    }
    return fab_fail(err, FAB_ELIMIT, NULL, "%s would take about %s of memory, above the limit of %s (max-memory)", what,
                    FAB_SAY(bytes, FAB_UNIT_BYTES), FAB_SAY((double)limit, FAB_UNIT_BYTES));
}
