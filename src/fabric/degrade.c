/* A copy of a fabric with slower parts. A cable that gets slower moves to a class of its own fraction. */
#include "fab/degrade.h"

#include "fab/fabric_builder.h"
#include "fab/fabric_parse.h"
#include "fab/names.h"
#include "fab/units.h"

#define OPTION   "--degrade"
#define A_SERVER "server-"
#define ROUNDING 1e-6 /* of a step */
#define HEALTHY  1.0

fab_status fab_weak_part_parse(const char *text, fab_weak_part *out, fab_error *err) {
    fab_weak_part part = {.ratio = 0};
    const char *equals = strrchr(text, '=');
    size_t n = equals != NULL ? (size_t)(equals - text) : 0;
    while (n > 0 && text[n - 1] == ' ') {
        n--;
    }
    FAB_REFUSE_IF(n == 0, err, FAB_EINPUT, OPTION, "'%.80s' is not NAME=FRACTION (such as nic-3=0.5)", text);
    FAB_REFUSE_IF(n >= sizeof part.name, err, FAB_EINPUT, OPTION, "'%.40s...' is longer than %zu characters", text,
                  sizeof part.name - 1);
    FAB_FORMAT(part.name, "%.*s", (int)n, text);
    const char *fraction = equals + 1 + strspn(equals + 1, " ");
    FAB_REFUSE_IF(fraction[0] != '\0' && strspn(fraction, "0.") == strlen(fraction), err, FAB_EINPUT, OPTION,
                  "%s: a part at 0 of its speed has failed, and is not degraded: flows would have to go around "
                  "it; give a fraction above 0",
                  part.name);
    FAB_REFUSE_IF(fab_quantity_parse(fraction, FAB_UNIT_RATIO, &part.ratio, NULL) != FAB_OK, err, FAB_EINPUT, OPTION,
                  "%s: '%.60s' is not a fraction from 0.001 to 1, such as 0.5 for half", part.name, fraction);
    double steps = part.ratio * FAB_PART_STEPS;
    FAB_REFUSE_IF(!(part.ratio <= HEALTHY) || fabs(steps - nearbyint(steps)) > ROUNDING || nearbyint(steps) < 1, err,
                  FAB_EINPUT, OPTION, "%s: %.20s is not a fraction from 0.001 to 1, in steps of 0.001", part.name,
                  fraction);
    part.ratio = nearbyint(steps) / FAB_PART_STEPS;
    *out = part;
    return FAB_OK;
}

/* Names are the original's. */
static void free_copy(fab_fabric *copy) {
    if (copy != NULL) {
        copy->names = NULL;
    }
    fab_fabric_free(copy);
}
FAB_OWNER(fab_fabric, free_copy)

void fab_weak_fabric_release(fab_weak_fabric *weak) {
    free_copy(weak->fabric);
    FAB_FREE_ALL(weak->link, weak->gpu_ratio);
    *weak = (fab_weak_fabric){.fabric = NULL};
}

/* --- which cables ------------------------------------------------------------------------------------------------- */

typedef struct weakening {
    const fab_fabric *f;
    double *cable; /* [cable]: fraction */
    double *gpu;   /* [gpu] */
} weakening;

/* A GPU that is throttled keeps its links. */
static void weaken_node(const weakening *w, fab_node_id v, double ratio) {
    if (fab_kind_of(w->f, v) == FAB_NODE_GPU) {
        w->gpu[v] = fmin(w->gpu[v], ratio);
        return;
    }
    FAB_EACH_LINK(w->f, v, link) {
        uint32_t cable = link >> 1;
        w->cable[cable] = fmin(w->cable[cable], ratio);
    }
}

static fab_status weaken_server(const weakening *w, const fab_weak_part *part, uint32_t named, fab_error *err) {
    const fab_fabric *f = w->f;
    uint64_t server = named;
    fab_error inner = {.code = FAB_OK};
    FAB_REFUSE_IF(named == FAB_NONE &&
                      fab_count_parse(part->name + strlen(A_SERVER), 0, f->n_servers - 1, &server, &inner) != FAB_OK,
                  err, FAB_EINPUT, OPTION, "there is no %s: servers are numbered 0 to %" PRIu32, part->name,
                  f->n_servers - 1);
    for (uint64_t i = 0; i < f->gpus_per_server; i++) {
        uint64_t gpu = server * f->gpus_per_server + i;
        if (gpu < fab_n_gpus(f)) {
            weaken_node(w, (uint32_t)gpu, part->ratio);
        }
    }
    for (uint64_t i = 0; i < f->nics_per_server; i++) {
        uint64_t nic = f->first[FAB_NODE_NIC] + server * f->nics_per_server + i;
        if (nic < f->first[FAB_NODE_NIC + 1]) {
            weaken_node(w, (uint32_t)nic, part->ratio);
        }
    }
    return FAB_OK;
}

static fab_status weaken(const weakening *w, const fab_weak_part *part, fab_error *err) {
    fab_error inner = {.code = FAB_OK};
    uint32_t server = fab_names_find_server(w->f->names, part->name, strlen(part->name));
    bool is_node = fab_names_find_node(w->f->names, part->name, strlen(part->name)) != FAB_NONE;
    bool is_link =
        !is_node && (strpbrk(part->name, ">:") != NULL || strspn(part->name, "0123456789") == strlen(part->name));
    fab_node_id node = FAB_NONE;
    fab_link_id link = FAB_NONE;
    if (!is_node && (server != FAB_NONE || (strncmp(part->name, A_SERVER, strlen(A_SERVER)) == 0 && !is_link))) {
        return weaken_server(w, part, server, err);
    }
    const fab_status status =
        is_link ? fab_link_parse(w->f, part->name, &link, &inner) : fab_node_parse(w->f, part->name, &node, &inner);
    FAB_REFUSE_IF(status != FAB_OK, err, status, OPTION, "%s", inner.text);
    if (is_link) {
        w->cable[link >> 1] = fmin(w->cable[link >> 1], part->ratio);
    } else {
        weaken_node(w, node, part->ratio);
    }
    return FAB_OK;
}

static fab_status refuse_twice(const fab_weak_part *parts, size_t n, fab_error *err) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            FAB_REFUSE_IF(strcmp(parts[i].name, parts[j].name) == 0, err, FAB_EINPUT, OPTION, "%s is given twice",
                          parts[i].name);
        }
    }
    return FAB_OK;
}

/* --- the copy ----------------------------------------------------------------------------------------------------- */

#define COPY(array, n)                                                                                                 \
    do {                                                                                                               \
        size_t count = (n);                                                                                            \
        FAB_PASS(FAB_NEW(copy->array, count, err));                                                                    \
        if (count > 0) {                                                                                               \
            memcpy(copy->array, from->array, count * sizeof *copy->array);                                             \
        }                                                                                                              \
    } while (0)

static fab_status copy_fabric(const fab_fabric *from, fab_fabric **out, fab_error *err) {
    uint32_t n_switches = fab_n_switches(from);
    FAB_OWNS_NEW(free_copy_owned, fab_fabric, copy, 1, err);
    fab_fabric scalars = *from;
    scalars.classes = NULL;
    scalars.cable_class = scalars.port = scalars.switch_rail = scalars.switch_plane = scalars.switch_radix =
        scalars.switch_ports = NULL;
    scalars.end = scalars.out_first = scalars.out_link = scalars.switch_pod = NULL;
    *copy = scalars;
    COPY(classes, from->n_classes);
    COPY(cable_class, from->n_cables);
    COPY(end, from->n_links);
    COPY(port, from->n_links);
    COPY(out_first, (size_t)from->n_nodes + 1);
    COPY(out_link, from->n_links);
    COPY(switch_pod, n_switches);
    COPY(switch_rail, n_switches);
    COPY(switch_plane, n_switches);
    COPY(switch_radix, n_switches);
    COPY(switch_ports, n_switches);
    return FAB_GIVE(*out, copy);
}

/* A cable gets a class of its fraction; the new ones stand behind those that were there. */
static fab_status degrade_apply(const double *cable, fab_weak_fabric *weak, fab_error *err) {
    fab_fabric *f = weak->fabric;
    uint16_t n_complete = f->n_classes;
    size_t capacity = f->n_classes;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (cable[c] < HEALTHY) {
            fab_link_class wanted = f->classes[f->cable_class[c]];
            wanted.capacity_bps *= cable[c];
            wanted.usable_bps *= cable[c];
            FAB_PASS(fab_class_add(f, &wanted, n_complete, &capacity, &f->cable_class[c], err));
            weak->link[2 * (size_t)c] = 1;
            weak->link[2 * (size_t)c + 1] = 1;
            weak->n_cables++;
        }
    }
    return FAB_OK;
}

fab_status fab_fabric_degrade(const fab_fabric *fabric, const fab_weak_part *parts, size_t n_parts,
                              fab_weak_fabric *out, fab_error *err) {
    FAB_OWNS(fab_weak_fabric_release) fab_weak_fabric weak = {.fabric = NULL};
    FAB_PASS(refuse_twice(parts, n_parts, err));
    FAB_OWNED_NEW(double, cable, fabric->n_cables, err);
    FAB_PASS(FAB_NEW(weak.link, fabric->n_links, err));
    FAB_PASS(FAB_NEW(weak.gpu_ratio, fab_n_gpus(fabric), err));
    FAB_FILL(cable, fabric->n_cables, HEALTHY);
    FAB_FILL(weak.gpu_ratio, fab_n_gpus(fabric), HEALTHY);
    const weakening w = {.f = fabric, .cable = cable, .gpu = weak.gpu_ratio};
    for (size_t i = 0; i < n_parts; i++) {
        FAB_PASS(weaken(&w, &parts[i], err));
    }
    FAB_PASS(copy_fabric(fabric, &weak.fabric, err));
    FAB_PASS(degrade_apply(cable, &weak, err));
    return FAB_GIVE(*out, weak);
}
