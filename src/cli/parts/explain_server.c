/* explain server:FILE: the inside of a server, GPU by GPU. */
#include "cli.h"

#include "fab/memory.h"
#include "fab/server_shape.h"

#include <inttypes.h>

#define WIDTH 100

/* "nic 0, nic 1" by their names. */
static void list_nics(const fab_server_shape *s, uint64_t nics, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < s->n_nics && n < size; i++) {
        if ((nics >> i & 1) != 0) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? " " : "", s->nic[i].name);
        }
    }
}

static void add_rate(cli_table *table, double bps) {
    cli_table_add(table, "%s", bps > 0 ? FAB_SAY(bps, FAB_UNIT_RATE) : "-");
}

static void server_fill(const fab_server_shape *s, cli_table *table) {
    FAB_EACH(const fab_server_gpu, g, s->gpu, s->n_gpus) {
        char nics[160];
        list_nics(s, g->nics, nics, sizeof nics);
        cli_table_add(table, "%s", g->name);
        cli_table_add(table, "%s", g->numa);
        cli_table_add(table, "%s", g->below[0] != '\0' ? g->below : "-");
        cli_table_add(table, "%s", nics);
        cli_table_add(table, "%" PRIu32, g->n_sharing);
        add_rate(table, g->pcie_bps);
        add_rate(table, g->nvlink_bps);
    }
}

static void print_setting(const char *key, double bps, FILE *out) {
    char text[48];
    if (bps > 0) {
        (void)fprintf(out, ",%s=%s", key, fab_server_rate(text, bps));
    }
}

fab_status cli_explain_server(const char *path, FILE *out, fab_error *err) {
    static const cli_column COLUMNS[] = {
        {"GPU", "gpu", false},           {"NUMA", "numa", true},          {"PCIe switch", "pcie_switch", false},
        {"Nearest NICs", "nics", false}, {"GPUs there", "sharing", true}, {"PCIe", "pcie_bps", true},
        {"NVLink", "nvlink_bps", true}};
    FAB_OWNED fab_server_shape *s = NULL;
    FAB_OWNS(cli_table_release) cli_table table = {.columns = COLUMNS, .n_columns = FAB_N_OF(COLUMNS)};
    FAB_PASS(FAB_NEW(s, 1, err));
    FAB_PASS(fab_server_read(path, s, err));
    server_fill(s, &table);
    FAB_PASS(cli_table_status(&table, err));
    (void)fprintf(out, "%" PRIu32 " GPU%s and %" PRIu32 " NIC%s%s%s in a server\n\n", s->n_gpus,
                  s->n_gpus == 1 ? "" : "s", s->n_nics, s->n_nics == 1 ? "" : "s", s->nic_bps > 0 ? " of " : "",
                  s->nic_bps > 0 ? FAB_SAY(s->nic_bps, FAB_UNIT_RATE) : "");
    FAB_PASS(cli_table_text(&table, WIDTH, out, err));
    (void)fputs(
        "\nPCIe: the slowest link between the GPU and its nearest NICs; NVLink: all links of the GPU; both per\n"
        "direction.\n",
        out);
    if (s->n_left_out > 0) {
        (void)fprintf(out,
                      "%" PRIu32 " more NIC%s left out: no RDMA, or behind no PCIe switch of a GPU, as others are.\n",
                      s->n_left_out, s->n_left_out == 1 ? " is" : "s are");
    }
    if (!s->is_even) {
        (void)fprintf(out, "No server of a design: %s.\n", s->uneven);
        return FAB_OK;
    }
    (void)fprintf(out,
                  "A design takes it by server=FILE, which is: gpus-per-server=%" PRIu32 ",nics-per-server=%" PRIu32,
                  s->n_gpus, s->n_nics);
    print_setting("pcie", s->pcie_bps, out);
    print_setting("nic", s->nic_bps, out);
    print_setting("domain-rate", s->nvlink_bps, out);
    (void)fputc('\n', out);
    return FAB_OK;
}
