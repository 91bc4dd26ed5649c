/* What snapshots of counters have in common: ports by their keys, values, names of boxes in paths. */
#include "counters_internal.h"

#include "fab/fnv.h"

#include <ctype.h>

#define GUID_DIGITS 16

void fab_counters_free(fab_counters *c) {
    if (c != NULL) {
        fab_id_table_release(&c->table);
        FAB_FREE_ALL(c->text, c->ports, c);
    }
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

static fab_status counters_keep(fab_counters *c, fab_token t, uint32_t *out, fab_error *err) {
    *out = FAB_COUNTERS_NONE;
    if (t.text == NULL) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(c->n_text + t.length + 1 >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL, "names of more than 4 GiB");
    FAB_PASS(FAB_GROW(c->text, c->text_capacity, c->n_text + t.length + 1, err));
    *out = (uint32_t)c->n_text;
    memcpy(c->text + c->n_text, t.text, t.length);
    c->text[c->n_text + t.length] = '\0';
    c->n_text += t.length + 1;
    return FAB_OK;
}

/* With an end that no text has, so that what follows does not run into it. */
static uint64_t hash_text(uint64_t hash, fab_token t) {
    return fab_fnv(fab_fnv(hash, t.text != NULL ? t.text : "", t.length), "\xff", 1);
}

static uint64_t hash_key(const counted_key *k) {
    uint64_t hash = FAB_FNV_BEGIN ^ k->guid ^ ((uint64_t)k->lid << 40);
    hash = hash_text(hash_text(hash, k->box), k->port);
    return hash ^ hash >> 29;
}

static bool text_is(const fab_counters *c, uint32_t at, fab_token t) {
    return at == FAB_COUNTERS_NONE ? t.text == NULL : t.text != NULL && fab_token_is(t, c->text + at);
}

static bool is_key(const fab_counters *c, const fab_counted_port *p, const counted_key *k) {
    return p->guid == k->guid && p->lid == k->lid && text_is(c, p->box, k->box) && text_is(c, p->port, k->port);
}

fab_status fab_counters_port(fab_counters *c, const counted_key *key, uint32_t *out, fab_error *err) {
    if (c->n_ports > 0 && is_key(c, &c->ports[c->n_ports - 1], key)) {
        *out = (uint32_t)c->n_ports - 1; /* lines of a port stand together, as a rule */
        return FAB_OK;
    }
    size_t probe = 0;
    uint32_t tag = (uint32_t)hash_key(key);
    while ((*out = fab_id_table_next(&c->table, tag, &probe)) != UINT32_MAX) {
        if (is_key(c, &c->ports[*out], key)) {
            return FAB_OK;
        }
    }
    FAB_REFUSE_IF(c->n_ports >= UINT32_MAX / 4, err, FAB_EUNSUPPORTED, key->file, "more than 2^30 ports");
    FAB_PASS(FAB_GROW(c->ports, c->capacity, c->n_ports + 1, err));
    fab_counted_port *p = &c->ports[c->n_ports];
    *p = (fab_counted_port){.guid = key->guid, .lid = key->lid, .line = key->line, .time_s = NAN};
    FAB_PASS(counters_keep(c, key->box, &p->box, err));
    FAB_PASS(counters_keep(c, key->port, &p->port, err));
    FAB_PASS(counters_keep(c, fab_token_of(key->file), &p->file, err));
    *out = (uint32_t)c->n_ports++;
    return fab_id_table_add(&c->table, tag, err);
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

bool fab_counter_line(counted_lines *lines, fab_token *out) {
    size_t n = strcspn(lines->at, "\n");
    bool is_there = *lines->at != '\0';
    *out = (fab_token){.text = lines->at, .length = n > 0 && lines->at[n - 1] == '\r' ? n - 1 : n};
    lines->at += lines->at[n] == '\n' ? n + 1 : n;
    lines->line += is_there ? 1 : 0;
    return is_there;
}

bool fab_counter_number(fab_token t, uint64_t *out) {
    uint64_t value = 0;
    bool is_hex = t.length > 2 && t.text[0] == '0' && (t.text[1] == 'x' || t.text[1] == 'X');
    unsigned base = is_hex ? 16 : 10;
    size_t n_digits = 0;
    for (size_t i = is_hex ? 2 : 0; i < t.length; i++) {
        char c = t.text[i];
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

bool fab_counter_guid(fab_token t, uint64_t *out) {
    for (size_t i = 0; i < t.length; i++) {
        size_t length = 0;
        while (i + length < t.length && length <= GUID_DIGITS && isxdigit((unsigned char)t.text[i + length])) {
            length++;
        }
        bool has_prefix = i >= 2 && t.text[i - 1] == 'x' && t.text[i - 2] == '0';
        if (length == GUID_DIGITS || (has_prefix && length > 0)) {
            return fab_token_hexadecimal((fab_token){.text = t.text + i, .length = length}, out);
        }
        i += length;
    }
    return false;
}
