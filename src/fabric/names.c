/* Names of an installed fabric: one block of text, and the ids that are called something in the order of it. */
#include "fab/names.h"

#include "fab/utf8.h"

#include <strings.h>

static void fill_none(uint32_t *array, size_t n) {
    FAB_FILL(array, n, FAB_NAME_NONE);
}

fab_status fab_names_new(uint32_t n_nodes, uint32_t n_links, uint32_t n_servers, fab_names **out, fab_error *err) {
    FAB_OWNS_NEW(fab_names_free_owned, fab_names, names, 1, err);
    names->n_nodes = n_nodes;
    names->n_links = n_links;
    names->n_servers = n_servers;
    FAB_PASS(FAB_NEW_ALL(n_nodes, err, names->node, names->guid));
    FAB_PASS(FAB_NEW(names->port, n_links, err));
    FAB_PASS(FAB_NEW(names->server, n_servers, err));
    fill_none(names->node, n_nodes);
    fill_none(names->port, n_links);
    fill_none(names->server, n_servers);
    return FAB_GIVE(*out, names);
}

FAB_FREES_WHOLE(fab_names_free, fab_names, text, node, port, server, guid, sorted, sorted_server, by_guid);

/* Underscores for what parts names in lists, for hidden characters and for what is no UTF-8. */
static void put_plain(char *to, const char *name) {
    size_t length = 1;
    for (; *name != '\0'; name += length, to += length) {
        uint32_t code = 0;
        length = fab_utf8_decode(name, &code);
        bool is_plain = !fab_utf8_is_hidden(code) && code != FAB_UTF8_REPLACEMENT && strchr(",>*\"", *name) == NULL;
        (void)(is_plain ? memcpy(to, name, length) : memset(to, '_', length));
    }
    *to = '\0';
}

fab_status fab_names_set(fab_names *names, uint32_t *out_slot, const char *name, size_t most, fab_error *err) {
    size_t n = strlen(name);
    FAB_REFUSE_IF(n > most, err, FAB_EINPUT, NULL, "the name '%.60s...' has %zu bytes; the limit is %zu", name, n,
                  most);
    FAB_REFUSE_IF(names->n_text + n + 1 >= FAB_NAME_NONE, err, FAB_EUNSUPPORTED, NULL, "more than %u bytes of names",
                  FAB_NAME_NONE);
    FAB_PASS(FAB_GROW(names->text, names->capacity, names->n_text + n + 1, err));
    *out_slot = (uint32_t)names->n_text;
    put_plain(names->text + names->n_text, name);
    names->n_text += n + 1;
    return FAB_OK;
}

/* --- look-up ------------------------------------------------------------------------------------------------------ */

typedef struct named {
    const char *name;
    uint32_t id;
} named;

FAB_ORDER_KEYS(names_by_name, named, strcmp(a->name, b->name), FAB_ORDER(a->id, b->id));

static fab_status sort_names(const fab_names *names, const uint32_t *slot, uint32_t n, const char *what, uint32_t **out,
                             uint32_t *out_n, fab_error *err) {
    uint32_t count = 0;
    FAB_OWNED_NEW(named, all, n, err);
    FAB_OWNED_NEW(uint32_t, sorted, n, err);
    FAB_KEEP(all, count, i, n, slot[i] != FAB_NAME_NONE, (named){names->text + slot[i], i});
    qsort(all, count, sizeof *all, names_by_name);
    for (uint32_t i = 0; i < count; i++) {
        FAB_REFUSE_IF(i > 0 && strcmp(all[i].name, all[i - 1].name) == 0, err, FAB_EINPUT, NULL,
                      "two %s are called '%.90s'", what, all[i].name);
        sorted[i] = all[i].id;
    }
    free(*out);
    *out_n = count;
    return FAB_GIVE(*out, sorted);
}

typedef struct numbered {
    uint64_t guid;
    uint32_t id;
} numbered;

FAB_ORDER_KEYS(by_guid, numbered, FAB_ORDER(a->guid, b->guid), FAB_ORDER(a->id, b->id));

static fab_status sort_guids(fab_names *names, fab_error *err) {
    FAB_OWNED numbered *all = NULL;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL(names->n_nodes, err, all, names->by_guid));
    FAB_KEEP(all, n, v, names->n_nodes, names->guid[v] != 0, (numbered){names->guid[v], v});
    qsort(all, n, sizeof *all, by_guid);
    for (uint32_t i = 0; i < n; i++) {
        FAB_REFUSE_IF(i > 0 && all[i].guid == all[i - 1].guid, err, FAB_EINPUT, NULL,
                      "'%.90s' and '%.90s' have the same GUID, 0x%016" PRIx64, names->text + names->node[all[i - 1].id],
                      names->text + names->node[all[i].id], all[i].guid);
        names->by_guid[i] = all[i].id;
    }
    names->n_by_guid = n;
    return FAB_OK;
}

fab_status fab_names_finish(fab_names *names, fab_error *err) {
    uint32_t n = 0;
    FAB_PASS(sort_names(names, names->node, names->n_nodes, "boxes", &names->sorted, &names->n_sorted, err));
    FAB_PASS(sort_names(names, names->server, names->n_servers, "servers", &names->sorted_server, &n, err));
    FAB_REFUSE_IF(n != 0 && n != names->n_servers, err, FAB_EINTERNAL, NULL, "%u of %u servers have a name", n,
                  names->n_servers);
    return sort_guids(names, err);
}

/* Order of a name and n bytes of text. */
static int names_compare(const char *name, const char *text, size_t n) {
    int order = strncmp(name, text, n);
    return order != 0 ? order : name[n] != '\0';
}

static uint32_t names_find(const fab_names *names, const uint32_t *sorted, uint32_t n, const uint32_t *slot,
                           const char *text, size_t length) {
    uint32_t low = 0;
    uint32_t high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = names_compare(names->text + slot[sorted[middle]], text, length);
        if (order == 0) {
            return sorted[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return FAB_NONE;
}

fab_node_id fab_names_find_node(const fab_names *names, const char *text, size_t n) {
    return names != NULL && names->sorted != NULL
               ? names_find(names, names->sorted, names->n_sorted, names->node, text, n)
               : FAB_NONE;
}

uint32_t fab_names_find_server(const fab_names *names, const char *text, size_t n) {
    bool known = names != NULL && names->sorted_server != NULL && names->n_servers > 0 &&
                 names->server[names->sorted_server[0]] != FAB_NAME_NONE;
    uint32_t found =
        known ? names_find(names, names->sorted_server, names->n_servers, names->server, text, n) : FAB_NONE;
    uint32_t n_alike = 0;
    uint32_t alike = FAB_NONE;
    for (uint32_t s = 0; known && found == FAB_NONE && s < names->n_servers; s++) {
        const char *name = names->text + names->server[s];
        bool is_alike = strncasecmp(name, text, n) == 0 && name[n] == '\0'; /* names of hosts have no case: RFC 4343 */
        n_alike += is_alike;
        alike = is_alike ? s : alike;
    }
    return n_alike == 1 ? alike : found;
}

fab_node_id fab_names_find_guid(const fab_names *names, uint64_t guid) {
    uint32_t low = 0;
    uint32_t high = names->n_by_guid;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool is_behind = names->guid[names->by_guid[middle]] > guid;
        low = is_behind ? low : middle + 1;
        high = is_behind ? middle : high;
    }
    return low > 0 ? names->by_guid[low - 1] : FAB_NONE;
}
