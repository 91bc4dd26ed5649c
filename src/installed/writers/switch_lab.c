/* The archive of all switches: their files, and a lab of containers that runs them, for containerlab. */
#include "switch_plan.h"

/* --- tar --------------------------------------------------------------------------------------------------------- */

#define BLOCK     512
#define CHECKSUM  148 /* where it stands in the header, 8 bytes */
#define MOST_SIZE ((size_t)1 << 33)

static void put_zeros(FILE *out, size_t n) {
    static const char ZEROS[2 * BLOCK];
    (void)fwrite(ZEROS, 1, n, out);
}

/* Of one file, as the interchange format of POSIX.1-2001 (ustar) has it, which every tar unpacks. No owner and no time:
 * the same bytes whenever it is written. */
static fab_status tar_put(FILE *out, const char *path, const fab_str *file, fab_error *err) {
    char head[BLOCK] = {0};
    unsigned sum = 0;
    FAB_PASS(fab_str_status(file, err));
    FAB_REFUSE_IF(strlen(path) > 99 || file->length >= MOST_SIZE, err, FAB_EUNSUPPORTED, NULL,
                  "'%.120s' has %zu bytes of name and %zu of text; tar takes 99 and 8 GiB", path, strlen(path),
                  file->length);
    memcpy(head, path, strlen(path));
    (void)snprintf(head + 100, 25, "0000644%c0000000%c0000000", '\0', '\0');
    (void)snprintf(head + 124, 25, "%011zo%c00000000000", file->length, '\0');
    memset(head + CHECKSUM, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += (unsigned char)head[i];
    }
    (void)snprintf(head + CHECKSUM, 8, "%06o", sum); /* a NUL and the blank stay behind it */
    (void)fwrite(head, 1, BLOCK, out);
    (void)fwrite(file->length > 0 ? file->data : "", 1, file->length, out);
    put_zeros(out, (BLOCK - file->length % BLOCK) % BLOCK);
    return FAB_OK;
}

/* --- lab --------------------------------------------------------------------------------------------------------- */

static void lab_put_switch(const fab_switch_plan *plan, const fab_switch_system *system, uint32_t box, fab_str *out) {
    const char *name = plan->boxes.box[box].name;
    fab_str_printf(out, "    \"%s\":\n      kind: %s\n      labels: {graph-level: \"%" PRIu32 "\"}\n      binds:\n",
                   name, system->kind, plan->shape->n_tiers + 1 - plan->boxes.box[box].tier);
    for (const fab_switch_file *file = system->file; file->folder != NULL; file++) {
        fab_str_printf(out, "        - %s/%s.%s:%s\n", file->folder, name, file->suffix, file->target);
    }
    if (system->shared != NULL) {
        fab_str_printf(out, "        - %s\n", system->shared);
    }
    if (system->exec != NULL) {
        fab_str_printf(out, "      exec:\n        - %s\n", system->exec);
    }
}

typedef struct host_port {
    uint32_t box, port;
} host_port;

FAB_ORDER_TWO(lab_by_host, host_port, box, port);

/* A host has the address of each of its ports, and reaches all others through the first. */
static fab_status lab_put_hosts(const fab_switch_plan *plan, fab_str *out, fab_error *err) {
    uint32_t n = 0;
    char text[2][16];
    FAB_OWNED_NEW(host_port, list, plan->n_ports, err);
    FAB_KEEP(list, n, i, plan->n_ports, plan->port[i].far == FAB_NETWORK_NONE, (host_port){plan->port[i].far_box, i});
    FAB_SORT(list, n, lab_by_host);
    for (uint32_t i = 0; i < n; i++) {
        const fab_switch_port *p = &plan->port[list[i].port];
        if (i == 0 || list[i].box != list[i - 1].box) {
            fab_str_printf(
                out, "    \"%s\":\n      kind: linux\n      labels: {graph-level: \"%" PRIu32 "\"}\n      exec:\n",
                plan->boxes.box[list[i].box].name, plan->shape->n_tiers + 1);
            fab_str_printf(out, "        - ip route add 10.0.0.0/8 via %s dev %s onlink\n",
                           fab_address_text(text[0], p->address), p->far_name);
        }
        fab_str_printf(out, "        - ip address add %s/31 dev %s\n", fab_address_text(text[1], p->address + 1),
                       p->far_name);
    }
    return FAB_OK;
}

static void lab_put_end(const fab_switch_plan *plan, const fab_switch_system *system, const fab_switch_port *p,
                        fab_str *out) {
    fab_str_printf(out, system->is_sonic ? "\"%s:eth%" PRIu32 "\"" : "\"%s:", plan->boxes.box[p->box].name, p->number);
    if (!system->is_sonic) {
        fab_str_printf(out, "%s\"", p->name);
    }
}

static fab_status lab_make(const fab_switch_plan *plan, const fab_switch_system *system, fab_str *out, fab_error *err) {
    fab_str_printf(out,
                   "name: fabric\n"
                   "topology:\n"
                   "  kinds:\n"
                   "    linux:\n"
                   "      image: alpine:latest\n"
                   "    %s:\n"
                   "      image: %s\n"
                   "  nodes:\n",
                   system->kind, system->image);
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        if (!plan->boxes.box[i].is_host) {
            lab_put_switch(plan, system, i, out);
        }
    }
    FAB_PASS(lab_put_hosts(plan, out, err));
    fab_str_add(out, "  links:\n");
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        const fab_switch_port *p = &plan->port[i];
        if (p->far != FAB_NETWORK_NONE && p->far < i) { /* written from its other end */
            continue;
        }
        fab_str_add(out, "    - endpoints: [");
        lab_put_end(plan, system, p, out);
        fab_str_add(out, ", ");
        if (p->far != FAB_NETWORK_NONE) {
            lab_put_end(plan, system, &plan->port[p->far], out);
        } else {
            fab_str_printf(out, "\"%s:%s\"", plan->boxes.box[p->far_box].name, p->far_name);
        }
        fab_str_add(out, "]\n");
    }
    return fab_str_status(out, err);
}

static fab_status put_switch_files(const fab_switch_plan *plan, const fab_switch_system *system, uint32_t box,
                                   fab_str *text, FILE *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    for (const fab_switch_file *file = system->file; file->folder != NULL; file++) {
        text->length = path.length = 0;
        file->put(plan, box, text);
        fab_str_printf(&path, "%s/%s.%s", file->folder, plan->boxes.box[box].name, file->suffix);
        FAB_PASS(fab_str_status(&path, err));
        FAB_PASS(tar_put(out, path.data, text, err));
    }
    return FAB_OK;
}

static fab_status put_shared(const fab_switch_system *system, fab_str *text, FILE *out, fab_error *err) {
    char path[64];
    FAB_FORMAT(path, "%.*s", (int)strcspn(system->shared, ":"), system->shared);
    text->length = 0;
    fab_str_add(text, system->text);
    return tar_put(out, path, text, err);
}

fab_status fab_switches_write(const fab_shape *shape, const fab_switch_system *system, FILE *out, fab_error *err) {
    FAB_OWNS(fab_switch_plan_release) fab_switch_plan plan = {.shape = NULL};
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_PASS(fab_switch_plan_make(shape, &plan, err));
    FAB_PASS(lab_make(&plan, system, &text, err));
    FAB_PASS(tar_put(out, "fabric.clab.yml", &text, err));
    FAB_PASS(system->shared != NULL ? put_shared(system, &text, out, err) : FAB_OK);
    for (uint32_t i = 0; i < plan.boxes.n; i++) {
        FAB_PASS(plan.boxes.box[i].is_host ? FAB_OK : put_switch_files(&plan, system, i, &text, out, err));
    }
    put_zeros(out, (size_t)2 * BLOCK); /* behind the last file */
    return FAB_OK;
}
