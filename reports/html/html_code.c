#include "html_code.h"

#define DIGIT_BITS  5
#define DIGIT_MASK  31U
#define DIGIT_MORE  32U
#define MANY_PLACES 64
#define WORTH_A_RUN 4 /* repetitions that take more characters than a run of them */
#define SEEN        256

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fab_code_vlq(fab_str *out, int64_t value) {
    uint64_t rest = value < 0 ? ((uint64_t)-value << 1) | 1 : (uint64_t)value << 1;
    do {
        uint64_t digit = rest & DIGIT_MASK;
        rest >>= DIGIT_BITS;
        fab_str_append(out, &DIGITS[digit | (rest > 0 ? DIGIT_MORE : 0)], 1);
    } while (rest > 0);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

void fab_code_rows_end(fab_code_rows *rows) {
    if (rows->times == 0) {
        return;
    }
    fab_code_vlq(rows->out, (int64_t)rows->times);
    for (size_t i = 0; i < rows->width; i++) {
        fab_code_vlq(rows->out, rows->step[i]);
    }
    rows->times = 0;
}

void fab_code_rows_add(fab_code_rows *rows, const int64_t *row) {
    int64_t step[FAB_ROW_MAX] = {0};
    for (size_t i = 0; i < rows->width; i++) {
        step[i] = row[i] - rows->last[i];
        rows->last[i] = row[i];
    }
    if (rows->times > 0 && memcmp(step, rows->step, rows->width * sizeof *step) == 0) {
        rows->times++;
        return;
    }
    fab_code_rows_end(rows);
    memcpy(rows->step, step, rows->width * sizeof *step);
    rows->times = 1;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

/* Drops repetitions of sorted values. */
static size_t unique(double *values, size_t n) {
    size_t kept = 0;
    FAB_KEEP(values, kept, i, n, kept == 0 || values[i] != values[kept - 1], values[i]);
    return kept;
}

/* Drops most repetitions of values that are not sorted: links of a phase have few figures, and sorting all takes long.
 */
static size_t drop_seen(double *values, size_t n) {
    double seen[SEEN];
    size_t kept = 0;
    FAB_FILL(seen, SEEN, NAN);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        double *at = &seen[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
        if (values[i] != *at) {
            *at = values[kept++] = values[i];
        }
    }
    return kept;
}

static double six_digits(double value) {
    char text[32];
    FAB_FORMAT(text, "%.6g", value);
    return strtod(text, NULL);
}

fab_status fab_code_table_init(double *values, size_t n, fab_code_table *out, fab_error *err) {
    *out = (fab_code_table){0};
    n = drop_seen(values, n);
    FAB_SORT(values, n, fab_order_double);
    size_t kept = unique(values, n);
    FAB_FILL(values, kept, six_digits(values[fab_at]));
    kept = unique(values, kept);
    if (kept > FAB_CODE_VALUES) {
        out->step = values[kept - 1] / (FAB_CODE_VALUES - 1);
        FAB_FILL(values, kept, round(values[fab_at] / out->step) * out->step);
        kept = unique(values, kept);
    }
    FAB_PASS(FAB_NEW(out->value, kept, err));
    memcpy(out->value, values, kept * sizeof *values);
    out->n = kept;
    return FAB_OK;
}

FAB_RELEASES(fab_code_table_release, fab_code_table, value);

/* The place whose figure is nearest. */
static size_t code_place_of(const fab_code_table *t, double value) {
    size_t low = 0;
    size_t high = t->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->value[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && value - t->value[low - 1] < t->value[low] - value ? low - 1 : low;
}

static void put_place(fab_code_series *s) {
    if (s->table->n > MANY_PLACES) {
        fab_str_append(s->out, &DIGITS[s->last / MANY_PLACES], 1);
    }
    fab_str_append(s->out, &DIGITS[s->last % MANY_PLACES], 1);
}

void fab_code_series_end(fab_code_series *s) {
    if (s->times == 0) {
        return;
    }
    put_place(s);
    if (s->times > WORTH_A_RUN) {
        fab_str_append(s->out, "~", 1);
        fab_code_vlq(s->out, (int64_t)s->times - 1);
    } else {
        for (uint64_t i = 1; i < s->times; i++) {
            put_place(s);
        }
    }
    s->times = 0;
}

void fab_code_series_add(fab_code_series *s, double value) {
    if (s->times > 0 && value == s->last_value) {
        s->times++;
        return;
    }
    size_t place = code_place_of(s->table, value);
    s->last_value = value;
    if (s->times > 0 && place == s->last) {
        s->times++;
        return;
    }
    fab_code_series_end(s);
    s->last = place;
    s->times = 1;
}
