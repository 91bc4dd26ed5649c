#include "fab/host_list.h"

#define NAME     256
#define MOST     (UINT32_C(1) << 24)
#define BRACKETS 4

typedef struct list {
    const char *where;
    fab_host_list_visit *visit; /* NULL: they are counted */
    void *context;
    uint32_t n_names;
    char name[NAME];
} list;

static fab_status host_list_wrong(const list *l, const char *what, const char *text, size_t n, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, l->where, "'%.*s': %s", (int)(n < 40 ? n : 40), text, what);
}

static fab_status host_list_add(list *l, uint64_t n, fab_error *err) {
    FAB_REFUSE_IF(l->n_names + n > MOST, err, FAB_EINPUT, l->where, "a list of more than %u names", (unsigned)MOST);
    l->n_names += (uint32_t)n;
    return FAB_OK;
}

static fab_status host_list_tell(list *l, size_t length, fab_error *err) {
    FAB_REFUSE_IF(length == 0, err, FAB_EINPUT, l->where, "an empty name in a list");
    FAB_PASS(host_list_add(l, 1, err));
    return l->visit != NULL ? l->visit(l->context, l->name, length, err) : FAB_OK;
}

/* Decimal digits at text; the number of them. 0: none, or more than 9. */
static size_t read_digits(const char *text, size_t n, uint32_t *out) {
    size_t i = 0;
    *out = 0;
    while (i < n && text[i] >= '0' && text[i] <= '9') {
        *out = *out * 10 + (uint32_t)(text[i++] - '0');
        if (i > 9) {
            return 0;
        }
    }
    return i;
}

static fab_status expand(list *l, const char *text, size_t n, size_t length, uint32_t depth, fab_error *err);

/* One range of a bracket, "0001-0180" or "7", and what follows the bracket for each of its numbers. */
static fab_status expand_range(list *l, const char *range, size_t n, const char *rest, size_t n_rest, size_t length,
                               uint32_t depth, fab_error *err) {
    uint32_t first = 0;
    uint32_t last = 0;
    size_t digits = read_digits(range, n, &first);
    size_t width = digits;
    last = first;
    if (digits > 0 && digits < n && range[digits] == '-') {
        size_t more = read_digits(range + digits + 1, n - digits - 1, &last);
        digits = more > 0 ? digits + 1 + more : 0;
    }
    FAB_RETURN_IF(digits != n || last < first || n == 0,
                  host_list_wrong(l, "is no range of numbers, such as 001-180", range, n, err));
    uint32_t before = l->n_names;
    for (uint32_t i = l->visit != NULL ? first : last; i <= last; i++) { /* the last one is as long as any */
        int wrote = snprintf(l->name + length, sizeof l->name - length, "%0*u", (int)width, (unsigned)i);
        FAB_RETURN_IF(wrote < 0 || (size_t)wrote >= sizeof l->name - length,
                      host_list_wrong(l, "a name of more than 255 bytes", range, n, err));
        FAB_PASS(expand(l, rest, n_rest, length + (size_t)wrote, depth + 1, err));
    }
    uint64_t others = l->visit == NULL ? last - first : 0;
    return host_list_add(l, others * (l->n_names - before), err);
}

/* The rest of one name, of which `length` bytes are settled. */
static fab_status expand(list *l, const char *text, size_t n, size_t length, uint32_t depth, fab_error *err) {
    const char *open = memchr(text, '[', n);
    size_t plain = open != NULL ? (size_t)(open - text) : n;
    FAB_RETURN_IF(length + plain >= sizeof l->name, host_list_wrong(l, "a name of more than 255 bytes", text, n, err));
    memcpy(l->name + length, text, plain);
    length += plain;
    if (open == NULL) {
        return host_list_tell(l, length, err);
    }
    const char *close = memchr(open, ']', n - plain);
    FAB_RETURN_IF(
        close == NULL || depth == BRACKETS,
        host_list_wrong(l, close == NULL ? "a bracket is not closed" : "more than 4 brackets in a name", text, n, err));
    const char *rest = close + 1;
    size_t n_rest = n - (size_t)(rest - text);
    for (const char *at = open + 1; at <= close;) {
        const char *comma = memchr(at, ',', (size_t)(close - at));
        const char *end = comma != NULL ? comma : close;
        FAB_PASS(expand_range(l, at, (size_t)(end - at), rest, n_rest, length, depth, err));
        at = end + 1;
    }
    return FAB_OK;
}

static fab_status host_list_walk(list *l, const char *text, size_t n, fab_error *err) {
    for (size_t from = 0; from <= n;) {
        size_t to = from;
        uint32_t depth = 0;
        for (; to < n && (depth > 0 || text[to] != ','); to++) {
            depth += text[to] == '[' ? 1 : 0;
            depth -= text[to] == ']' && depth > 0 ? 1 : 0;
        }
        FAB_PASS(expand(l, text + from, to - from, 0, 0, err));
        from = to + 1;
    }
    return FAB_OK;
}

fab_status fab_host_list_count(const char *text, size_t n, const char *where, uint32_t *out, fab_error *err) {
    list l = {.where = where};
    FAB_PASS(host_list_walk(&l, text, n, err));
    *out = l.n_names;
    return FAB_OK;
}

fab_status fab_host_list_each(const char *text, size_t n, const char *where, fab_host_list_visit *visit, void *context,
                              fab_error *err) {
    list l = {.where = where, .visit = visit, .context = context};
    return host_list_walk(&l, text, n, err);
}

/* --- folding ------------------------------------------------------------------------------------------------------ */

#define DIGITS 9 /* of a number that is folded */

/* Bytes before the number that a name ends with; `*out_digits` is 0 where it ends with none. */
static size_t host_list_split(const char *name, size_t *out_digits, uint32_t *out) {
    size_t n = strlen(name);
    size_t at = n;
    while (at > 0 && n - at < DIGITS && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    *out_digits = read_digits(name + at, n - at, out);
    return at;
}

/* Whether a name is what a range whose first number has `width` digits gives for `number`. */
static bool is_number(const char *digits, size_t width, uint32_t number) {
    char text[16];
    FAB_FORMAT(text, "%0*u", (int)width, (unsigned)number);
    return strcmp(text, digits) == 0;
}

/* The names from `first` on that have its prefix and a number; at least one. */
static uint32_t count_alike(const char *const *names, uint32_t first, uint32_t n, size_t prefix) {
    uint32_t i = first + 1;
    for (; i < n; i++) {
        size_t digits = 0;
        uint32_t number = 0;
        if (host_list_split(names[i], &digits, &number) != prefix || digits == 0 ||
            memcmp(names[i], names[first], prefix) != 0) {
            break;
        }
    }
    return i - first;
}

static void fold_numbers(fab_str *out, const char *const *names, uint32_t n, size_t prefix) {
    for (uint32_t i = 0; i < n;) {
        size_t width = 0;
        uint32_t first = 0;
        uint32_t last = i;
        (void)host_list_split(names[i], &width, &first);
        while (last + 1 < n && is_number(names[last + 1] + prefix, width, first + (last + 1 - i))) {
            last++;
        }
        fab_str_add(out, i > 0 ? "," : "");
        fab_str_add(out, names[i] + prefix);
        if (last > i) {
            fab_str_add(out, "-");
            fab_str_add(out, names[last] + prefix);
        }
        i = last + 1;
    }
}

void fab_host_list_fold(fab_str *out, const char *const *names, uint32_t n) {
    for (uint32_t i = 0; i < n;) {
        size_t digits = 0;
        uint32_t number = 0;
        size_t prefix = host_list_split(names[i], &digits, &number);
        uint32_t alike = digits > 0 ? count_alike(names, i, n, prefix) : 1;
        fab_str_add(out, i > 0 ? "," : "");
        if (alike == 1) {
            fab_str_add(out, names[i]);
        } else {
            fab_str_append(out, names[i], prefix);
            fab_str_add(out, "[");
            fold_numbers(out, names + i, alike, prefix);
            fab_str_add(out, "]");
        }
        i += alike;
    }
}
