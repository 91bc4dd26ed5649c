/* What snapshots of counters have in common: ports by their keys, values, names of boxes in paths. */
#include "counters_internal.h"

#include "fab/fnv.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUID_DIGITS 16

void fab_counters_free(fab_counters *c) {
    if (c != NULL) {
        FAB_FREE_ALL(c->text, c->ports, c->slots, c);
    }
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

static fab_status counters_keep(fab_counters *c, const char *text, size_t n, uint32_t *out, fab_error *err) {
    *out = FAB_COUNTERS_NONE;
    if (text == NULL) {
        return FAB_OK;
    }
    if (c->n_text + n + 1 >= UINT32_MAX) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "names of more than 4 GiB");
    }
    FAB_PASS(FAB_GROW(c->text, c->text_capacity, c->n_text + n + 1, err));
    *out = (uint32_t)c->n_text;
    memcpy(c->text + c->n_text, text, n);
    c->text[c->n_text + n] = '\0';
    c->n_text += n + 1;
    return FAB_OK;
}

/* With an end that no text has, so that what follows does not run into it. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t n) {
    return fab_fnv(fab_fnv(hash, text != NULL ? text : "", text != NULL ? n : 0), "\xff", 1);
}

static uint64_t hash_key(const counted_key *k) {
    uint64_t hash = FAB_FNV_BEGIN ^ k->guid ^ ((uint64_t)k->lid << 40);
    hash = hash_text(hash, k->box, k->n_box);
    hash = hash_text(hash, k->port, k->n_port);
    return hash ^ hash >> 29;
}

static bool text_is(const fab_counters *c, uint32_t at, const char *text, size_t n) {
    return at == FAB_COUNTERS_NONE ? text == NULL
                                   : text != NULL && strlen(c->text + at) == n && memcmp(c->text + at, text, n) == 0;
}

static bool is_key(const fab_counters *c, const fab_counted_port *p, const counted_key *k) {
    return p->guid == k->guid && p->lid == k->lid && text_is(c, p->box, k->box, k->n_box) &&
           text_is(c, p->port, k->port, k->n_port);
}

static size_t slot_of(const fab_counters *c, const counted_key *k) {
    size_t slot = (size_t)hash_key(k) & (c->n_slots - 1);
    while (c->slots[slot] != FAB_COUNTERS_NONE && !is_key(c, &c->ports[c->slots[slot]], k)) {
        slot = (slot + 1) & (c->n_slots - 1);
    }
    return slot;
}

static counted_key key_of(const fab_counters *c, const fab_counted_port *p) {
    counted_key key = {.guid = p->guid, .lid = p->lid};
    key.box = fab_counters_text(c, p->box);
    key.port = fab_counters_text(c, p->port);
    key.n_box = key.box != NULL ? strlen(key.box) : 0;
    key.n_port = key.port != NULL ? strlen(key.port) : 0;
    return key;
}

static fab_status counters_spread(fab_counters *c, fab_error *err) {
    uint32_t *slots = NULL;
    size_t n = c->n_slots > 0 ? 2 * c->n_slots : 1024;
    FAB_PASS(FAB_NEW(slots, n, err));
    memset(slots, 0xff, n * sizeof *slots);
    free(c->slots);
    c->slots = slots;
    c->n_slots = n;
    for (size_t i = 0; i < c->n_ports; i++) {
        counted_key key = key_of(c, &c->ports[i]);
        c->slots[slot_of(c, &key)] = (uint32_t)i;
    }
    return FAB_OK;
}

fab_status fab_counters_port(fab_counters *c, const counted_key *key, uint32_t *out, fab_error *err) {
    if (c->n_ports > 0 && is_key(c, &c->ports[c->n_ports - 1], key)) {
        *out = (uint32_t)c->n_ports - 1; /* lines of a port stand together, as a rule */
        return FAB_OK;
    }
    if (2 * (c->n_ports + 1) > c->n_slots) {
        FAB_PASS(counters_spread(c, err));
    }
    size_t slot = slot_of(c, key);
    if (c->slots[slot] != FAB_COUNTERS_NONE) {
        *out = c->slots[slot];
        return FAB_OK;
    }
    if (c->n_ports >= UINT32_MAX / 4) {
        return fab_fail(err, FAB_EUNSUPPORTED, key->file, "more than 2^30 ports");
    }
    FAB_PASS(FAB_GROW(c->ports, c->capacity, c->n_ports + 1, err));
    fab_counted_port *p = &c->ports[c->n_ports];
    *p = (fab_counted_port){.guid = key->guid, .lid = key->lid, .line = key->line, .time_s = NAN};
    FAB_PASS(counters_keep(c, key->box, key->n_box, &p->box, err));
    FAB_PASS(counters_keep(c, key->port, key->n_port, &p->port, err));
    FAB_PASS(counters_keep(c, key->file, key->file != NULL ? strlen(key->file) : 0, &p->file, err));
    *out = c->slots[slot] = (uint32_t)c->n_ports++;
    return FAB_OK;
}

/* Tools print a counter of 32 bits beside its successor of 64, which counts. */
void fab_counters_set(fab_counters *c, uint32_t port, fab_counter counter, uint8_t scale, uint64_t value) {
    fab_counted_port *p = &c->ports[port];
    bool was_there = (p->has >> counter & 1) != 0;
    bool adds = counter == FAB_COUNTER_PAUSES_SENT || counter == FAB_COUNTER_PAUSES_RECEIVED;
    if (was_there && adds) {
        p->value[counter] += value;
        return;
    }
    bool is_better = (scale & FAB_COUNTER_LONG) >= (p->scale[counter] & FAB_COUNTER_LONG);
    if (!was_there || is_better) {
        p->value[counter] = value;
        p->scale[counter] = scale;
    }
    p->has |= 1U << counter;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

bool fab_counter_line(counted_lines *lines, const char **out, size_t *out_n) {
    if (*lines->at == '\0') {
        return false;
    }
    size_t n = strcspn(lines->at, "\n");
    *out = lines->at;
    *out_n = n > 0 && lines->at[n - 1] == '\r' ? n - 1 : n;
    lines->at += lines->at[n] == '\n' ? n + 1 : n;
    lines->line++;
    return true;
}

void fab_counter_trim(const char **at, size_t *n) {
    while (*n > 0 && (**at == ' ' || **at == '\t')) {
        (*at)++;
        (*n)--;
    }
    while (*n > 0 && ((*at)[*n - 1] == ' ' || (*at)[*n - 1] == '\t')) {
        (*n)--;
    }
}

bool fab_counter_number(const char *text, size_t n, uint64_t *out) {
    uint64_t value = 0;
    bool is_hex = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned base = is_hex ? 16 : 10;
    size_t n_digits = 0;
    for (size_t i = is_hex ? 2 : 0; i < n; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (c == ',' && n_digits > 0 && !is_hex) {
            continue;
        }
        if (digit >= base || value > (UINT64_MAX - digit) / base) {
            return false;
        }
        value = base * value + digit;
        n_digits++;
    }
    *out = value;
    return n_digits > 0;
}

static bool is_hexadecimal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool fab_counter_guid(const char *text, size_t n, uint64_t *out) {
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        while (i + length < n && length <= GUID_DIGITS && is_hexadecimal(text[i + length])) {
            length++;
        }
        bool has_prefix = i >= 2 && text[i - 1] == 'x' && text[i - 2] == '0';
        if (length == GUID_DIGITS || (has_prefix && length > 0)) {
            char digits[GUID_DIGITS + 3] = "0x";
            memcpy(digits + 2, text + i, length);
            return length <= GUID_DIGITS && fab_counter_number(digits, length + 2, out);
        }
        i += length;
    }
    return false;
}
