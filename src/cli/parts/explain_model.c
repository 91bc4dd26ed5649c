/* explain model:NAME[,gpu=NAME]: parameters, and the least GPUs that hold it. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

#define WIDTH   80
#define LONGEST 160

static const struct {
    const char *use;
    double bytes;
} USES[] = {{"training", 18}, {"serving, fp32", 4}, {"serving, fp16", 2}, {"serving, int8", 1}};

/* A name of `list models`, or a number of parameters. */
static fab_status find_model(const char *name, double *parameters, const char **source, fab_error *err) {
    const fab_model *model = fab_model_find(name);
    char *end = NULL;
    *parameters = model != NULL ? fab_model_parameters(model) : strtod(name, &end);
    *source = model != NULL ? model->source : NULL;
    if (model != NULL || (end != name && *end == '\0' && *parameters >= 1 && *parameters <= 1e18)) {
        return FAB_OK;
    }
    fab_choices near = fab_choices_of(name);
    for (const fab_model *m = fab_models; m->name != NULL; m++) {
        fab_choices_offer(&near, m->name);
    }
    return fab_fail(err, FAB_EUSAGE, NULL,
                    "command explain: '%.60s' is neither a model nor a number of parameters from 1 to 1e18%s", name,
                    fab_choices_list(&near, "known:"));
}

static void fill(double parameters, const fab_gpu *gpu, cli_table *table) {
    for (size_t i = 0; i < FAB_N_OF(USES); i++) {
        double bytes = parameters * USES[i].bytes;
        cli_table_add(table, "%s", USES[i].use);
        cli_table_add(table, "%g", USES[i].bytes);
        cli_table_add(table, "%" PRIu64, fab_least_gpus(bytes, FAB_ROOM_AT_LEAST, gpu->memory_bytes));
        if (i == 0) {
            cli_table_add(table, "%s", "-");
        } else {
            cli_table_add(table, "%" PRIu64,
                          fab_power_of_two(fab_least_gpus(bytes, FAB_ROOM_TO_SERVE, gpu->memory_bytes)));
        }
    }
}

fab_status cli_explain_model(const char *text, FILE *out, fab_error *err) {
    static const cli_column COLUMNS[] = {{"Use", "use", false},
                                         {"Bytes", "bytes", true},
                                         {"GPUs at least", "least_gpus", true},
                                         {"To serve many", "serving_gpus", true}};
    FAB_OWNS(cli_table_release) cli_table table = {.columns = COLUMNS, .n_columns = FAB_N_OF(COLUMNS)};
    fab_gpu gpu;
    const char *source = NULL;
    double parameters = 0;
    char name[LONGEST];
    (void)snprintf(name, sizeof name, "%s", text);
    char *with = strstr(name, ",gpu=");
    if (with != NULL) {
        *with = '\0';
    }
    FAB_PASS(find_model(name, &parameters, &source, err));
    FAB_PASS(fab_gpu_read(with != NULL ? with + 5 : "h100-80gb", NULL, &gpu, err));
    fill(parameters, &gpu, &table);
    FAB_PASS(cli_table_status(&table, err));
    (void)fprintf(out, "%s: %.4g billion parameters, on %s of %.0f GB\n\n", name, parameters * 1e-9, gpu.name,
                  gpu.memory_bytes * 1e-9);
    FAB_PASS(cli_table_text(&table, WIDTH, out, err));
    (void)fputc('\n', out);
    cli_wrap(
        "At least: parameters x bytes x 1.25 / memory of one, the rule of thumb; in training 18 bytes, of weights, "
        "gradients and optimizer.",
        0, 0, WIDTH, out);
    cli_wrap("To serve many: weights take a quarter of the memory, cached keys and values of many sequences the rest. "
             "Powers of two, because tensor-parallel ranks take equal parts of the attention heads, of which there are "
             "32, 40, 64 or the like: 8 GPUs, not 7.",
             0, 0, WIDTH, out);
    cli_wrap("What a job of given sizes keeps on a GPU: fabriscope traffic.", 0, 0, WIDTH, out);
    if (source != NULL) {
        (void)fputs("Source of the model: ", out);
        cli_wrap(source, 21, 0, WIDTH, out);
    }
    return FAB_OK;
}
