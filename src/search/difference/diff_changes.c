/* What differs between two designs: values, engines, the servers of the job, what has failed. */
#include "diff_internal.h"

#define PLACES_NAMED 3 /* of servers that have changed among themselves */

const char *const fab_change_kinds[FAB_CHANGE_N] = {"setting", "engine", "server", "failure", "cable", "box", "move"};

fab_status diff_add_change(diff *d, fab_change_kind kind, const char *what, const char *before, const char *after,
                           const char *undo, uint32_t place, fab_error *err) {
    fab_difference *out = d->out;
    if (out->n_changes == DIFF_CHANGES) {
        out->n_left_out++;
        return FAB_OK;
    }
    if (out->changes == NULL) {
        FAB_PASS(FAB_NEW(out->changes, DIFF_CHANGES, err));
        FAB_PASS(fab_allocate(DIFF_CHANGES, sizeof(char *), &d->undo, err));
        FAB_PASS(FAB_NEW(d->place, DIFF_CHANGES, err));
    }
    fab_change *change = &out->changes[out->n_changes];
    size_t index = out->n_changes++;
    *change = (fab_change){.kind = kind, .undone_s = NAN, .alone_s = NAN};
    d->place[index] = place;
    FAB_PASS(FAB_STRDUP(change->what, what, err));
    FAB_PASS(FAB_STRDUP(change->before, before, err));
    FAB_PASS(FAB_STRDUP(change->after, after, err));
    return undo != NULL ? FAB_STRDUP(d->undo[index], undo, err) : FAB_OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* The value behind `key` (n bytes, with '=') in a canonical text, or NULL. */
static const char *value_of(const char *text, const char *key, size_t n) {
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, n) == 0) {
            return line + n;
        }
    }
    return NULL;
}

/* Values that say nothing of the network and its job, those that the file of an installed network decides, and the list
 * of servers, which is compared rank by rank. */
static bool is_told_elsewhere(const diff *d, const char *line, size_t key) {
    static const char *const NAMES[] = {"name=",        "source=",        "prices.",
                                        "fabric.file=", "fabric.digest=", "fabric.format="};
    static const char *const COUNTS[] = {"fabric.gpus=", "fabric.radix=", "fabric.port="};
    bool imported = d->q->before.is_imported && d->q->after.is_imported;
    bool of_job = strncmp(line, "job.", 4) == 0;
    bool is_list = of_job && key > 9 && strncmp(line + key - 9, ".servers=", 9) == 0;
    bool is_number = of_job && key > 11 && strncmp(line + key - 11, ".n-servers=", 11) == 0;
    FAB_ANY(is_name, i, FAB_N_OF(NAMES), strncmp(line, NAMES[i], strlen(NAMES[i])) == 0);
    FAB_ANY(is_count, i, FAB_N_OF(COUNTS), strncmp(line, COUNTS[i], strlen(COUNTS[i])) == 0);
    return is_list || (is_number && d->q->before.hosts != NULL) || is_name || (is_count && imported);
}

/* One line of `of` that the other text has not, or has otherwise. */
static fab_status compare_line(diff *d, const char *line, size_t length, const char *other, bool of_first,
                               fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str name = FAB_STR_INIT;
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT}; /* this value, the other */
    size_t key = strcspn(line, "=") + 1;
    const char *there = value_of(other, line, key);
    size_t n_there = there != NULL ? strcspn(there, "\n") : 0;
    bool same = there != NULL && n_there == length - key && memcmp(there, line + key, n_there) == 0;
    if (key > length || same || (!of_first && there != NULL) || is_told_elsewhere(d, line, key)) {
        return FAB_OK; /* seen from the first text already */
    }
    fab_str_append(&name, line, key - 1);
    fab_str_append(&text[0], line + key, length - key);
    fab_str_append(&text[1], there != NULL ? there : "", n_there);
    FAB_PASS(name.failed || text[0].failed || text[1].failed ? FAB_ENOMEM : FAB_OK);
    const char *mine = text[0].data != NULL ? text[0].data : "";
    const char *its = there != NULL && text[1].data != NULL ? text[1].data : "default";
    fab_change_kind kind = strncmp(line, "engine.", 7) == 0 ? FAB_CHANGE_ENGINE : FAB_CHANGE_SETTING;
    return diff_add_change(d, kind, name.data, of_first ? mine : its, of_first ? its : mine, name.data, 0, err);
}

static fab_status compare_values(diff *d, fab_error *err) {
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    for (int i = 0; i < 2; i++) {
        fab_design_describe(d->design[i], &text[i]);
        FAB_PASS(fab_str_status(&text[i], err));
    }
    for (int i = 0; i < 2; i++) {
        for (const char *line = text[i].data; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            FAB_PASS(compare_line(d, line, length, text[!i].data, i == 0, err));
            line += length + (line[length] == '\n');
        }
    }
    return FAB_OK;
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

fab_status diff_servers_of(const diff_side *side, uint32_t **out, size_t *out_n, fab_error *err) {
    const fab_traffic *t = side->traffic;
    size_t n = 0;
    FAB_OWNED_NEW(uint32_t, servers, (size_t)side->f->n_servers + 1, err);
    FAB_OWNED_NEW(bool, seen, (size_t)side->f->n_servers + 1, err);
    for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
        uint32_t server = fab_server_of(side->f, t->gpu_of_rank[rank]);
        if (!seen[server]) {
            seen[server] = true;
            servers[n++] = server;
        }
    }
    *out_n = n;
    return FAB_GIVE(*out, servers);
}

/* Places whose servers have changed among themselves: of each of a cycle the first, of all others FAB_NONE. */
static fab_status find_cycles(diff *d, const uint32_t *then, size_t n_then, const uint32_t *now, size_t n_now,
                              fab_error *err) {
    FAB_OWNED_NEW(uint32_t, place, (size_t)d->side[0].f->n_servers + 1,
                  err); /* [servers of the first state]: where it is now */
    FAB_PASS(FAB_NEW(d->cycle, n_now + 1, err));
    memset(place, 0xff, d->side[0].f->n_servers * sizeof *place);
    memset(d->cycle, 0xff, n_now * sizeof *d->cycle);
    for (uint32_t i = 0; i < n_now; i++) {
        uint32_t before = diff_server_before(d, now[i]);
        if (before != FAB_NONE) {
            place[before] = i;
        }
    }
    for (uint32_t i = 0; i < n_now && i < n_then; i++) {
        uint32_t last = place[then[i]];
        if (d->cycle[i] != FAB_NONE || last == i) {
            continue;
        }
        while (last != FAB_NONE && last != i) { /* a chain ends at a server that has gone, a cycle where it began */
            last = last < n_then ? place[then[last]] : FAB_NONE;
        }
        for (uint32_t k = i; last == i && d->cycle[k] == FAB_NONE; k = place[then[k]]) {
            d->cycle[k] = i;
        }
    }
    return FAB_OK;
}

/* The servers of one state at the places of a change, or without a state the ranks. */
static void name_places(const diff *d, uint32_t place, const fab_fabric *f, const uint32_t *servers, size_t n,
                        fab_str *out) {
    size_t n_named = 0;
    for (size_t i = place; i < n; i++) {
        uint32_t per = d->side[1].f->gpus_per_server;
        if (!diff_is_at(d, place, i) || n_named++ >= PLACES_NAMED) {
            continue;
        }
        fab_str_add(out, n_named > 1 ? ", " : "");
        if (servers != NULL) {
            fab_str_add(out, FAB_SAY_SERVER(f, servers[i]));
        } else {
            fab_str_printf(out, "%zu-%zu", i * per, (i + 1) * per - 1);
        }
    }
    if (n_named > PLACES_NAMED) {
        fab_str_printf(out, " and %zu more", n_named - PLACES_NAMED);
    }
}

static fab_status add_servers(diff *d, uint32_t place, uint32_t *const servers[2], const size_t n[2], fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str what = FAB_STR_INIT;
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    const size_t length = diff_cycle_length(d, place);
    fab_str_add(&what, length == 0 ? "ranks " : length == 2 ? "exchange of ranks " : "rotation of ranks ");
    name_places(d, place, NULL, NULL, n[0] > n[1] ? n[0] : n[1], &what);
    FAB_PASS(fab_str_status(&what, err));
    for (int k = 0; k < 2; k++) {
        fab_str_add(&text[k], "");
        name_places(d, place, d->side[k].f, servers[k], n[k], &text[k]);
        FAB_PASS(fab_str_status(&text[k], err));
    }
    return diff_add_change(d, FAB_CHANGE_SERVER, what.data, text[0].data, text[1].data, NULL, place, err);
}

bool diff_is_at(const diff *d, uint32_t place, size_t at) {
    return at == place || (at < d->n_places && d->cycle[at] == place);
}

size_t diff_cycle_length(const diff *d, uint32_t place) {
    FAB_SUM_IN(size_t, n, i, place, d->n_places, d->cycle[i] == place);
    return n;
}

/* Cables between the NICs of a server and switches. */
static uint32_t n_plugged(const fab_fabric *f, uint32_t server) {
    fab_node_id nic = f->first[FAB_NODE_NIC] + server * f->nics_per_server;
    FAB_SUM_IN(uint32_t, n, i, f->out_first[nic], f->out_first[nic + f->nics_per_server],
               fab_class_of(f, f->out_link[i])->kind == FAB_LINK_ACCESS);
    return n;
}

/* A server of the job of before that an installed network has in part now, or no longer. */
static void note_left(diff *d, uint32_t server) {
    const fab_fabric *f = d->side[1].f;
    if (d->q->before.is_imported && d->q->after.is_imported &&
        diff_server_after(d, server) >= fab_n_complete_servers(f)) {
        d->left = d->n_left++ == 0 ? server : d->left;
    }
}

/* The server that is new in the second state and stands at all ports of switches of one of the first; FAB_NONE. */
static uint32_t server_at_ports(const diff *d, uint32_t server) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    const fab_node_id nic = a->first[FAB_NODE_NIC] + server * a->nics_per_server;
    uint32_t found = FAB_NONE;
    for (uint32_t i = a->out_first[nic]; i < a->out_first[nic + a->nics_per_server]; i++) {
        const fab_link_id up = a->out_link[i];
        if (fab_class_of(a, up)->kind != FAB_LINK_ACCESS) {
            continue;
        }
        const fab_link_id down = d->back[up ^ 1U];
        const fab_node_id there = down != FAB_NONE ? fab_head(b, down) : FAB_NONE;
        const uint32_t other =
            there != FAB_NONE && fab_kind_of(b, there) == FAB_NODE_NIC ? fab_server_of_nic(b, there) : FAB_NONE;
        if (other == FAB_NONE || (found != FAB_NONE && found != other)) {
            return FAB_NONE;
        }
        found = other;
    }
    return found != FAB_NONE && diff_server_before(d, found) == FAB_NONE ? found : FAB_NONE;
}

void diff_say_left(const diff *d, fab_str *out) {
    if (d->n_left == 0) {
        return;
    }
    uint32_t now = diff_server_after(d, d->left);
    uint32_t n = n_plugged(d->side[0].f, d->left);
    const uint32_t renamed = now == FAB_NONE ? server_at_ports(d, d->left) : FAB_NONE;
    fab_str_printf(out, "; %s ", FAB_SAY_SERVER(d->side[0].f, d->left));
    if (renamed != FAB_NONE) {
        fab_str_printf(out, "is called %s, or replaced by it: the same ports", FAB_SAY_SERVER(d->side[1].f, renamed));
    } else if (now == FAB_NONE) {
        fab_str_add(out, "has left the job: it is not in the network");
    } else {
        fab_str_printf(out, "has left the job: %u of its %u cables %s gone", n - n_plugged(d->side[1].f, now), n,
                       n - n_plugged(d->side[1].f, now) == 1 ? "is" : "are");
    }
    if (d->n_left > 1) {
        fab_str_printf(out, "; it is the first of %u", d->n_left);
    }
}

static fab_status compare_servers(diff *d, fab_error *err) {
    uint32_t *servers[2] = {NULL, NULL};
    FAB_OWNS_MEMBERS(servers[0], servers[1]);
    size_t n[2] = {0, 0};
    FAB_PASS(diff_servers_of(&d->side[0], &servers[0], &n[0], err));
    FAB_PASS(diff_servers_of(&d->side[1], &servers[1], &n[1], err));
    FAB_PASS(find_cycles(d, servers[0], n[0], servers[1], n[1], err));
    d->n_places = n[1];
    for (uint32_t i = 0; i < (n[0] > n[1] ? n[0] : n[1]); i++) {
        bool same = i < n[0] && i < n[1] && diff_server_before(d, servers[1][i]) == servers[0][i];
        bool is_told = i < n[1] && d->cycle[i] != FAB_NONE && d->cycle[i] != i;
        FAB_PASS(same || is_told ? FAB_OK : add_servers(d, i, servers, n, err));
        if (i < n[0] && !same) {
            note_left(d, servers[0][i]);
        }
    }
    return FAB_OK;
}

/* --- what has failed ---------------------------------------------------------------------------------------------- */

/* Components that one list has and the other has not, by the names that they read back from. */
static fab_status compare_failed(diff *d, int side, fab_error *err) {
    const diff_side *mine = &d->side[side];
    const diff_side *other = &d->side[!side];
    for (size_t i = 0; i < mine->n_components; i++) {
        char name[FAB_COMPONENT_NAME_SIZE];
        bool there = false;
        (void)fab_component_name(mine->f, &mine->component[i], name);
        for (size_t k = 0; k < other->n_components && !there; k++) {
            there = strcmp(FAB_SAY_COMPONENT(other->f, &other->component[k]), name) == 0;
        }
        if (!there) {
            char state[32] = "dead";
            name[strcspn(name, "*")] = '\0';
            if (mine->component[i].fraction > 0) {
                FAB_FORMAT(state, "at %g of its speed", mine->component[i].fraction);
            }
            FAB_PASS(diff_add_change(d, FAB_CHANGE_FAILURE, name, side == 0 ? state : "works",
                                     side == 0 ? "works" : state, NULL, (uint32_t)i, err));
        }
    }
    return FAB_OK;
}

fab_status diff_find_changes(diff *d, fab_error *err) {
    FAB_PASS(compare_servers(d, err));
    FAB_PASS(compare_failed(d, 0, err));
    FAB_PASS(compare_failed(d, 1, err));
    FAB_PASS(compare_values(d, err));
    return d->q->before.is_imported && d->q->after.is_imported ? diff_find_cables(d, err) : FAB_OK;
}
