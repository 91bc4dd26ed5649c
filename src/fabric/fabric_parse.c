#include "fab/fabric_parse.h"
#include "fab/names.h"

/* Decimal number of n > 0 digits without a sign. */
static bool fabric_read_number(const char *text, size_t n, uint32_t *out) {
    uint64_t value = 0;
    if (n == 0 || n > 10) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    *out = (uint32_t)value;
    return value < UINT32_MAX;
}

static fab_status parse_node(const fab_fabric *f, const char *text, size_t n, fab_node_id *out, fab_error *err) {
    static const char *const KINDS[] = {"gpu", "nic", "domain"};
    size_t prefix = n;
    uint32_t number = 0;
    uint32_t first = 0;
    uint32_t behind = 0;
    fab_node_id named = fab_names_find_node(f->names, text, n);
    if (named != FAB_NONE) {
        *out = named;
        return FAB_OK;
    }
    while (prefix > 0 && text[prefix - 1] != '-') {
        prefix--;
    }
    prefix = prefix > 0 ? prefix - 1 : 0; /* up to the last dash */
    for (uint32_t kind = 0; kind < FAB_N_OF(KINDS); kind++) {
        if (strlen(KINDS[kind]) == prefix && memcmp(KINDS[kind], text, prefix) == 0) {
            first = f->first[kind];
            behind = f->first[kind + 1];
        }
    }
    for (uint32_t t = 1; t <= f->n_tiers; t++) {
        const char *name = fab_tier_name(f->wiring, t);
        if (strlen(name) == prefix && memcmp(name, text, prefix) == 0) {
            first = f->first_of_tier[t];
            behind = f->first_of_tier[t + 1];
        }
    }
    if (behind == first || !fabric_read_number(text + prefix + 1, n - prefix - 1, &number)) {
        return fab_fail(err, FAB_EINPUT, NULL, "'%.*s' names no node; names are such as %s", (int)n, text,
                        FAB_SAY_NODE(f, f->n_nodes - 1));
    }
    FAB_REFUSE_IF(number >= behind - first, err, FAB_EINPUT, NULL, "there is no %.*s: they are numbered 0 to %" PRIu32,
                  (int)n, text, behind - first - 1);
    *out = first + number;
    return FAB_OK;
}

fab_status fab_node_parse(const fab_fabric *f, const char *text, fab_node_id *out, fab_error *err) {
    return parse_node(f, text, strlen(text), out, err);
}

/* A port of a text; or of no node, where the numbers and names do not tell. */
typedef struct port {
    const char *text; /* NULL: any */
    size_t n;
} port;

static bool is_port(const fab_fabric *f, fab_link_id link, port p) {
    char name[FAB_PORT_NAME_SIZE];
    return p.text == NULL || (strlen(fab_port_name(f, link, name)) == p.n && memcmp(name, p.text, p.n) == 0);
}

/* One end of a link: "leaf-5" or "leaf-5:17", with blanks around. The names of what is installed may hold colons. */
static fab_status parse_end(const fab_fabric *f, const char *text, size_t n, fab_node_id *out_node, port *out_port,
                            fab_error *err) {
    uint32_t number = 0;
    while (n > 0 && *text == ' ') {
        text++;
        n--;
    }
    while (n > 0 && text[n - 1] == ' ') {
        n--;
    }
    size_t colon = n;
    while (colon > 0 && text[colon - 1] != ':') {
        colon--;
    }
    *out_port = (port){.text = NULL};
    if (colon == 0 || fab_names_find_node(f->names, text, n) != FAB_NONE) {
        return parse_node(f, text, n, out_node, err);
    }
    *out_port = (port){text + colon, n - colon};
    FAB_REFUSE_IF(f->names == NULL && !fabric_read_number(text + colon, n - colon, &number), err, FAB_EINPUT, NULL,
                  "'%.*s' is not a port number", (int)(n - colon), text + colon);
    return parse_node(f, text, colon - 1, out_node, err);
}

/* Of the links that fit, the first; the others are counted, and some named. */
typedef struct found {
    uint32_t n;
    fab_link_id link;
    char names[3 * FAB_LINK_NAME_SIZE + 8];
} found;

static void fabric_look(const fab_fabric *f, fab_node_id tail, port tail_port, fab_node_id head, port head_port,
                        found *out) {
    FAB_EACH_LINK(f, tail, link) {
        if (!is_port(f, link, tail_port) || (head != FAB_NONE && fab_head(f, link) != head) ||
            !is_port(f, link ^ 1U, head_port)) {
            continue;
        }
        if (out->n++ == 0) {
            out->link = link;
        }
        if (out->n <= 3) {
            size_t used = strlen(out->names);
            (void)snprintf(out->names + used, sizeof out->names - used, "%s%s", used > 0 ? ", " : "",
                           FAB_SAY_LINK(f, link));
        }
    }
}

/* A number, if only one that no link can have. */
static bool looks_like_number(const char *text) {
    const char *digits = text + (*text == '-' || *text == '+');
    return *digits != '\0' && strspn(digits, "0123456789") == strlen(digits);
}

fab_status fab_link_parse(const fab_fabric *f, const char *text, fab_link_id *out, fab_error *err) {
    uint32_t number = 0;
    fab_node_id tail = FAB_NONE;
    fab_node_id head = FAB_NONE;
    port tail_port = {.text = NULL};
    port head_port = {.text = NULL};
    found fits = {.n = 0};
    size_t n = strlen(text);
    const char *arrow = strchr(text, '>');
    if (looks_like_number(text)) {
        FAB_REFUSE_IF(!fabric_read_number(text, n, &number) || number >= f->n_links, err, FAB_EINPUT, NULL,
                      "there is no link %.40s: they are numbered 0 to %" PRIu32, text, f->n_links - 1);
        *out = number;
        return FAB_OK;
    }
    FAB_PASS(parse_end(f, text, arrow != NULL ? (size_t)(arrow - text) : n, &tail, &tail_port, err));
    FAB_PASS(arrow != NULL ? parse_end(f, arrow + 1, strlen(arrow + 1), &head, &head_port, err) : FAB_OK);
    fabric_look(f, tail, tail_port, head, head_port, &fits);
    if (fits.n == 0) {
        return fab_fail(err, FAB_EINPUT, NULL, "no link is '%.80s'; %s has %" PRIu32 " of them", text,
                        FAB_SAY_NODE(f, tail), f->out_first[tail + 1] - f->out_first[tail]);
    }
    FAB_REFUSE_IF(fits.n > 1, err, FAB_EINPUT, NULL, "'%.80s' may be %" PRIu32 " links: %.300s%s", text, fits.n,
                  fits.names, fits.n > 3 ? ", ..." : "");
    *out = fits.link;
    return FAB_OK;
}
