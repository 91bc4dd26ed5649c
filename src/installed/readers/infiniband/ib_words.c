#include "network_internal.h"

/* Data rates of a lane. InfiniBand Architecture Specification 1.4, volume 2; FDR10: NVIDIA. */
static const struct {
    const char *name;
    double lane_bps;
} SPEEDS[] = {{"SDR", 2.5e9}, {"DDR", 5e9},  {"QDR", 10e9},  {"FDR10", 10.3125e9}, {"FDR", 14e9},
              {"EDR", 25e9},  {"HDR", 50e9}, {"NDR", 100e9}, {"XDR", 200e9}};

bool fab_network_ib_kind(fab_token t, fab_network_kind *out) {
    if (t.length < 2 || (t.length > 2 && t.text[2] != '-')) { /* "CA-SM" is one that runs a subnet manager */
        return false;
    }
    *out = memcmp(t.text, "SW", 2) == 0 || memcmp(t.text, "RT", 2) == 0 ? FAB_NETWORK_SWITCH : FAB_NETWORK_ADAPTER;
    return *out == FAB_NETWORK_SWITCH || memcmp(t.text, "CA", 2) == 0;
}

bool fab_network_ib_rate(const char *text, size_t n, uint32_t *out_width, double *out_bps) {
    uint32_t width = 0;
    size_t at = 0;
    if (n > 2 && memcmp(text, "w=", 2) == 0) { /* ibsim: no speed */
        text += 2;
        n -= 2;
    }
    while (at < n && at < 2 && text[at] >= '0' && text[at] <= '9') {
        width = width * 10 + (uint32_t)(text[at++] - '0');
    }
    bool is_width = width == 1 || width == 2 || width == 4 || width == 8 || width == 12;
    if (is_width && at == n) {
        *out_width = width;
        return true;
    }
    for (size_t i = 0; is_width && text[at] == 'x' && i < FAB_N_OF(SPEEDS); i++) {
        if (strlen(SPEEDS[i].name) == n - at - 1 && memcmp(text + at + 1, SPEEDS[i].name, n - at - 1) == 0) {
            *out_width = width;
            *out_bps = width * SPEEDS[i].lane_bps;
            return true;
        }
    }
    return false;
}

/* 14.0625, 53.125 and 106.25 are what lanes signal; the rate is that of the data. */
bool fab_network_ib_speed(fab_token width, fab_token speed, uint32_t *out_width, double *out_bps) {
    char text[24];
    char *behind = NULL;
    FAB_FORMAT(text, "%.*s", (int)(speed.length < 20 ? speed.length : 20), speed.text);
    double gbps = strtod(text, &behind);
    for (size_t i = 0; i < FAB_N_OF(SPEEDS); i++) {
        double lane = SPEEDS[i].lane_bps / 1e9;
        bool is_number = behind != text && *behind == '\0' && fabs(gbps - lane) < 0.07 * lane &&
                         strcmp(SPEEDS[i].name, "FDR10") != 0;
        if (is_number || strcmp(text, SPEEDS[i].name) == 0) {
            char rate[16];
            FAB_FIRST(digits, width.length, digits == 2 || width.text[digits] < '0' || width.text[digits] > '9');
            bool is_width = width.length == digits + 1 && (width.text[digits] | 0x20) == 'x';
            int n = snprintf(rate, sizeof rate, "%.*sx%s", (int)digits, width.text, SPEEDS[i].name);
            return is_width && fab_network_ib_rate(rate, (size_t)n, out_width, out_bps);
        }
    }
    return false;
}

/* "a08-p1-dgx-04-c01 HCA-6" or "... mlx5_5", "server-0/nic-1": the first word is the host's. */
static bool names_host(const char *label, const char **out_end) {
    const char *slash = strstr(label, "/nic-");
    const char *end = slash != NULL && slash > label ? slash : label + strcspn(label, " ");
    *out_end = end;
    return end == slash || (*end != '\0' && strchr(end + 1, ' ') == NULL &&
                            (strncmp(end + 1, "HCA-", 4) == 0 || strncmp(end + 1, "mlx", 3) == 0));
}

bool fab_network_ib_names_host(const char *label) {
    const char *end = NULL;
    return names_host(label, &end);
}

fab_status fab_network_ib_describe(fab_network *net, uint32_t index, fab_network_kind kind, const char *text, size_t n,
                                   fab_error *err) {
    fab_network_node *node = &net->nodes[index];
    const char *end = NULL;
    fab_token t = fab_token_trim((fab_token){.text = text, .length = n}, " ");
    text = t.text;
    n = t.length;
    node->kind = kind;
    bool is_known = strlen(node->label) == n && memcmp(node->label, text, n) == 0; /* a port's line repeats it */
    FAB_PASS(n > 0 && !is_known ? fab_network_text(net, text, n, &node->label, err) : FAB_OK);
    if (kind == FAB_NETWORK_ADAPTER && strstr(node->label, "Aggregation Node") != NULL) {
        node->kind = FAB_NETWORK_SERVICE;
    }
    node->host = is_known ? node->host : NULL;
    if (node->host == NULL && node->kind == FAB_NETWORK_ADAPTER && names_host(node->label, &end)) {
        FAB_PASS(fab_network_text(net, node->label, (size_t)(end - node->label), &node->host, err));
    }
    return FAB_OK;
}

fab_status fab_network_ib_host(fab_network *net, uint32_t index, fab_error *err) {
    fab_network_node *node = &net->nodes[index];
    const char *end = NULL;
    if (node->host != NULL || !names_host(node->label, &end)) {
        return FAB_OK;
    }
    node->kind = FAB_NETWORK_ADAPTER;
    return fab_network_text(net, node->label, (size_t)(end - node->label), &node->host, err);
}

/* Warnings of libibmad and libibumad, and prompts: "[root@head ~]# ibnetdiscover", "admin@head:~$ ". */
bool fab_network_is_chatter(const fab_text *in) {
    static const char *const WORDS[] = {"ibwarn:", "ibpanic:", "iberror:", "src/", "ibnetdiscover"};
    fab_token line = fab_token_trim(fab_text_rest(in), " \t");
    FAB_ANY(is_warning, i, FAB_N_OF(WORDS), fab_token_begins(line, WORDS[i]));
    if (is_warning) {
        return true;
    }
    bool is_data = line.length > 1 && ((line.text[0] == '[' && line.text[1] >= '0' && line.text[1] <= '9') ||
                                       line.text[0] == '{'); /* a port */
    for (size_t i = 1; i < line.length && !is_data && strchr("\"'={", line.text[i]) == NULL; i++) {
        if (strchr("#$%>", line.text[i]) == NULL) {
            continue;
        }
        fab_token rest = fab_token_trim((fab_token){.text = line.text + i + 1, .length = line.length - i - 1}, " \t");
        if (rest.length == 0 || fab_token_begins(rest, "ibnetdiscover") ||
            fab_token_begins(rest, "sudo ibnetdiscover") ||
            fab_token_begins(rest, "scontrol ")) { /* behind the end of a prompt */
            return true;
        }
    }
    return false;
}

fab_status fab_network_read_ends(fab_text *in, fab_network *net,
                                 fab_status (*read_line)(const fab_network_lines *lines, fab_error *err),
                                 fab_error *err) {
    const fab_network_lines lines = {.in = in, .net = net};
    net->keeps_contradictions = true;
    while (fab_text_next(in)) {
        FAB_PASS(fab_network_is_chatter(in) ? FAB_OK : read_line(&lines, err));
    }
    net->has_ports = true;
    net->reports_both_ends = true;
    return fab_text_end(in, err);
}
