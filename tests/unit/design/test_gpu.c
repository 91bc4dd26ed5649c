/* GPUs: the table that ships, files of one's own, and what a job does with them. */
#include "fab/builtin.h"
#include "fab/design.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fab_gpu gpu_of(const char *text) {
    fab_gpu gpu;
    fab_error err = {.code = FAB_OK};
    cr_assert_eq(fab_gpu_read(text, "test", &gpu, &err), FAB_OK, "%s: %s", err.where, err.text);
    return gpu;
}

Test(gpu, all_that_ship_are_plausible) {
    size_t n = 0;
    for (const fab_builtin *b = fab_builtin_gpus; b->name != NULL; b++, n++) {
        char name[FAB_NAME_SIZE];
        char has[192];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(b->name, "."), b->name);
        fab_gpu g = gpu_of(name);
        cr_expect_str_eq(g.name, name);
        cr_expect(g.memory_bytes >= 16e9 && g.memory_bytes <= 300e9, "%s", name);
        cr_expect(g.memory_bits_per_s >= 320e9 * 8 && g.memory_bits_per_s <= 8e12 * 8, "%s", name);
        cr_expect(g.scale_up_bps >= 15e9 * 8 && g.scale_up_bps <= 900e9 * 8, "%s", name);
        cr_expect(g.hour_usd > 0.1 && g.hour_usd < 20 && g.multiprocessors > 0, "%s", name);
        cr_expect(g.flops[fab_gpu_wide(&g, FAB_FP8)] > 60e12, "%s", name);
        cr_expect_lt(strlen(fab_gpu_precisions(&g, false, has)), 120);
        for (fab_precision p = FAB_FP8; p <= FAB_NVFP4; p++) { /* narrower is never slower */
            cr_expect(g.flops[p] <= 0 || g.flops[p] >= g.flops[FAB_BF16], "%s %s", name, fab_precisions[p]);
        }
        for (int p = 0; p < FAB_N_PRECISIONS; p++) {
            cr_expect(g.matrix_ratio[p] >= 0 && g.matrix_ratio[p] <= 1 && (g.flops[p] > 0 || g.matrix_ratio[p] <= 0));
        }
    }
    cr_expect_eq(n, 21);
}

/* Data sheets, dense, in TFLOP/s; GB/s per direction. */
Test(gpu, figures_of_data_sheets) {
    static const struct {
        const char *name;
        fab_precision precision;
        double tflops, scale_up, memory;
    } ROWS[] = {
        {"v100-32gb", FAB_FP16, 125, 150, 32},      {"a100-80gb", FAB_BF16, 312, 300, 80},
        {"a100-40gb", FAB_INT4, 1248, 300, 40},     {"h100-80gb", FAB_FP8, 1979, 450, 80},
        {"h800-80gb", FAB_BF16, 989, 200, 80},      {"b200-180gb", FAB_NVFP4, 9000, 900, 180},
        {"gb200-186gb", FAB_FP8, 5000, 900, 186},   {"mi300x-192gb", FAB_FP8, 2614.9, 448, 192},
        {"gaudi3-128gb", FAB_BF16, 1835, 525, 128}, {"tpu-v5p-95gb", FAB_INT8, 918, 600, 95},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_gpu g = gpu_of(ROWS[i].name);
        cr_expect_float_eq(g.flops[ROWS[i].precision], ROWS[i].tflops * 1e12, 1e6, "%s", ROWS[i].name);
        cr_expect_float_eq(g.scale_up_bps, ROWS[i].scale_up * 8e9, 1, "%s", ROWS[i].name);
        cr_expect_float_eq(g.memory_bytes, ROWS[i].memory * 1e9, 1, "%s", ROWS[i].name);
    }
}

Test(gpu, precision_that_is_lacking_names_those_that_are_there) {
    fab_gpu v100 = gpu_of("v100-32gb");
    fab_gpu h100 = gpu_of("h100-80gb");
    fab_precision p = FAB_INT4;
    fab_error err = {.code = FAB_OK};
    cr_expect_eq(fab_gpu_resolve(&v100, FAB_FP8, "here", &p, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "precision: v100-32gb has no fp8; it has fp32, fp16");
    cr_expect_str_eq(err.where, "here");
    cr_expect_eq(p, FAB_INT4, "output written by a failed call");
    cr_expect(fab_gpu_resolve(&v100, FAB_PRECISION_AUTO, "", &p, NULL) == FAB_OK && p == FAB_FP16);
    cr_expect(fab_gpu_resolve(&h100, FAB_PRECISION_AUTO, "", &p, NULL) == FAB_OK && p == FAB_BF16);
    cr_expect(fab_gpu_resolve(&h100, FAB_FP8, "", &p, NULL) == FAB_OK && p == FAB_FP8);
    cr_expect_eq(fab_gpu_wide(&h100, FAB_FP8), FAB_BF16);
    cr_expect_eq(fab_gpu_wide(&v100, FAB_NVFP4), FAB_FP16);
    cr_expect_eq(fab_gpu_wide(&h100, FAB_TF32), FAB_TF32);
}

#define GPU_OF(more_)                                                                                                  \
    "<gpu name=\"mine\" memory=\"64GB\" bandwidth=\"2TB/s\" scale-up=\"100GB/s\" multiprocessors=\"10\" "              \
    "usd-per-hour=\"1.5\"" more_ ">\n"
#define HEAD  GPU_OF("")
#define TEXTS "<source>s</source>\n<price-source>assumed</price-source>\n"
#define BF16  "<precision name=\"bf16\" tflops=\"100\"/>\n"

static fab_status read_text(const char *text, fab_gpu *out, fab_error *err, char *path) {
    (void)snprintf(path, 64, "/tmp/fab_gpu_%ld.xml", (long)getpid());
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    fab_status status = fab_gpu_read(path, "test", out, err);
    (void)unlink(path);
    return status;
}

Test(gpu, a_file_of_ones_own) {
    fab_gpu g;
    fab_error err = {.code = FAB_OK};
    char path[64];
    const char *text = HEAD TEXTS BF16 "<precision name=\"fp8\" tflops=\"180\" ratio=\"0.5\"/></gpu>";
    cr_assert_eq(read_text(text, &g, &err, path), FAB_OK, "%s: %s", err.where, err.text);
    cr_expect_str_eq(g.name, "mine");
    cr_expect(g.flops[FAB_FP8] == 180e12 && g.matrix_ratio[FAB_FP8] == 0.5 && g.matrix_ratio[FAB_BF16] == 0);
    cr_expect(g.power_w == 0 && g.hour_usd == 1.5 && g.scale_up_bps == 8e11);
}

Test(gpu, mistakes_are_shown_where_they_are) {
    static const struct {
        const char *text, *place, *message;
    } ROWS[] = {
        {"<gpu>\n" TEXTS BF16 "</gpu>", ":1:1", "gpu needs the attribute name"},
        {HEAD TEXTS "<precision name=\"fp9\" tflops=\"1\"/></gpu>", ":4:18", "name: 'fp9' is not one of"},
        {HEAD TEXTS BF16 BF16 "</gpu>", ":5:1", "the GPU has this precision already: bf16"},
        {HEAD TEXTS BF16 "<precision name=\"fp8\" tflop=\"1\"/></gpu>", ":5:30",
         "unknown attribute of precision 'tflop'; did you mean 'tflops'"},
        {HEAD TEXTS BF16 "<precision name=\"fp8\"/></gpu>", ":5:1", "precision needs the attribute tflops"},
        {HEAD TEXTS BF16 "<precision name=\"fp8\" tflops=\"1\" speed=\"1\"/></gpu>", ":5:41", "unknown attribute"},
        {HEAD TEXTS BF16 "<precision name=\"fp8\" tflops=\"1\" ratio=\"2\"/></gpu>", ":5:41", "outside 0 to 1"},
        {HEAD TEXTS BF16 "<fan/></gpu>", ":5:1", "unknown element of a GPU: fan"},
        {HEAD TEXTS BF16 "x</gpu>", ":1:1", "unexpected text"},
        {HEAD TEXTS "<source>again</source>" BF16 "</gpu>", ":4:1", "has this element once: source"},
        {HEAD "<source>s</source>" BF16 "</gpu>", ":1:1", "the GPU has no element price-source"},
        {HEAD "<source>s</source><price-source/>" BF16 "</gpu>", ":2:19", "lacks the text of the element price-source"},
        {HEAD TEXTS "<precision name=\"fp8\" tflops=\"1\"/></gpu>", ":1:1", "neither precision"},
        {GPU_OF(" gpus-per-server=\"8\"") TEXTS BF16 "</gpu>", ":1:1", "gpus-per-server goes with a domain"},
        {GPU_OF(" gpus-per-server=\"8\" domain=\"4\"") TEXTS BF16 "</gpu>", ":1:1", "which is no smaller"},
        {"<gpus/>", ":1:1", "begins with <gpu>, not with gpus"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_gpu g = {.name = "untouched"};
        fab_error err = {.code = FAB_OK};
        char path[64];
        cr_expect_eq(read_text(ROWS[i].text, &g, &err, path), FAB_EINPUT, "%zu", i);
        cr_expect_not_null(strstr(err.text, ROWS[i].message), "%zu: %s", i, err.text);
        cr_expect(strncmp(err.where, path, strlen(path)) == 0 && strcmp(err.where + strlen(path), ROWS[i].place) == 0,
                  "%zu: %s", i, err.where);
        cr_expect_str_eq(g.name, "untouched");
    }
}

Test(gpu, unknown_names_are_refused_where_they_stand) {
    fab_gpu g;
    fab_error err = {.code = FAB_OK};
    cr_expect_eq(fab_gpu_read("h100-90gb", "d.xml:3:4", &g, &err), FAB_EINPUT);
    cr_expect_str_eq(err.where, "d.xml:3:4");
    cr_expect_not_null(strstr(err.text, "h100-80gb"), "%s", err.text);
}

/* A row of racks in one NVLink domain is sold in one kind of server; of others there are several. */
Test(gpu, servers_that_it_is_sold_in) {
    fab_gpu rack = gpu_of("gb200-186gb");
    fab_gpu board = gpu_of("b200-180gb");
    cr_expect(rack.server_gpus == 4 && rack.domain == 72);
    cr_expect(board.server_gpus == 0 && board.domain == 8);
}
