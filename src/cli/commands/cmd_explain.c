#include "cli.h"

#include "fab/definitions.h"
#include "fab/server_shape.h"

#define WIDTH        80
#define SERVER_WIDTH 100
#define INDENT       12
#define LONGEST      160 /* name of a model */

static void print_line(const char *head, const char *text, FILE *out) {
    if (text != NULL) {
        (void)fprintf(out, "%-*s", INDENT, head);
        cli_wrap(text, INDENT, INDENT, WIDTH, out);
    }
}

/* --- the list of all ---------------------------------------------------------------------------------------------- */

#define MOST 1024 /* names */

typedef struct listing {
    cli_table table;
    const char *names[MOST];
    size_t n;
} listing;

/* Fields of one name are listed where they come first. */
static bool list_one(const fab_definition *d, void *context) {
    listing *l = context;
    FAB_ANY(is_listed, i, l->n, strcmp(l->names[i], d->name) == 0);
    if (is_listed) {
        return true;
    }
    if (l->n < MOST) {
        l->names[l->n++] = d->name;
    }
    cli_table_add(&l->table, "%s", d->name);
    cli_table_add(&l->table, "%s", d->unit != NULL ? d->unit : "-");
    cli_table_add(&l->table, "%s", d->object);
    return true;
}

static fab_status list_all(FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    static const cli_column COLUMNS[] = {{"Field", "name", false}, {"Unit", "unit", false}, {"Of", "of", false}};
    listing l = {.table = {.columns = COLUMNS, .n_columns = 3}};
    fab_definitions_visit(list_one, &l);
    FAB_TRY(cli_table_status(&l.table, err));
    FAB_TRY(cli_table_text(&l.table, WIDTH, out, err));
    (void)fputs("\n'fabriscope explain FIELD' gives definition, formula and source.\n", out);
done:
    cli_table_release(&l.table);
    return status;
}

/* --- one name ----------------------------------------------------------------------------------------------------- */

typedef struct lookup {
    const char *word;
    bool by_label;
    FILE *out; /* NULL: count only */
    size_t n_found;
    fab_choices near;
    const char *name, *definition; /* of the field before */
} lookup;

static void print_field(const fab_definition *d, FILE *out) {
    char source[160];
    bool is_record = d->source[0] >= '0' && d->source[0] <= '9';
    FAB_FORMAT(source, "%s%s", is_record ? "own definition: src/doc/adr/" : "", d->source);
    print_line("Definition", d->definition, out);
    print_line("Unit", d->unit, out);
    print_line("Formula", d->formula, out);
    print_line("Of", d->of, out);
    print_line("Source", source, out);
}

static bool explain_look_at(const fab_definition *d, void *context) {
    lookup *l = context;
    fab_choices_offer(&l->near, d->name);
    if (l->by_label ? !fab_definition_has_label(d, l->word) : strcmp(d->name, l->word) != 0) {
        return true;
    }
    if (l->n_found++ > 0 && l->definition == d->definition) {
        return true; /* the same row in another object */
    }
    bool is_another = l->name != NULL && strcmp(l->name, d->name) == 0;
    if (l->out != NULL && is_another && d->formula == NULL) {
        char text[640];
        FAB_FORMAT(text, "%s: %s", d->of, d->definition);
        print_line("Also of", text, l->out);
    } else if (l->out != NULL) {
        (void)fputs(l->name != NULL ? "\n" : "", l->out);
        if (!is_another) {
            (void)fprintf(l->out, "%s\n\n", d->name);
        }
        print_field(d, l->out);
    }
    l->name = d->name;
    l->definition = d->definition;
    return true;
}

/* Prints what is called so, and fails where nothing is. */
static fab_status explain_metric(const char *word, FILE *out, fab_error *err) {
    lookup l = {.word = word};
    l.near = fab_choices_of(word);
    fab_definitions_visit(explain_look_at, &l);
    l.by_label = l.n_found == 0;
    l.n_found = 0;
    l.name = NULL;
    l.out = out;
    fab_definitions_visit(explain_look_at, &l);
    FAB_RETURN_IF(l.n_found == 0, cli_misused(err, "no report has a field '%.60s'%s", word, fab_choices_hint(&l.near)));
    return FAB_OK;
}

/* --- explain server:FILE: the inside of a server, GPU by GPU ------------------------------------------------------ */

/* "nic 0, nic 1" by their names. */
static void list_nics(const fab_server_shape *s, uint64_t nics, char *out, size_t size) {
    out[0] = '\0';
    for (uint32_t i = 0; i < s->n_nics; i++) {
        if ((nics >> i & 1) != 0) {
            fab_append(out, size, "%s%s", out[0] != '\0' ? " " : "", s->nic[i].name);
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

static fab_status explain_server(const char *path, FILE *out, fab_error *err) {
    static const cli_column COLUMNS[] = {
        {"GPU", "gpu", false},           {"NUMA", "numa", true},          {"PCIe switch", "pcie_switch", false},
        {"Nearest NICs", "nics", false}, {"GPUs there", "sharing", true}, {"PCIe", "pcie_bps", true},
        {"NVLink", "nvlink_bps", true}};
    FAB_OWNS(cli_table_release) cli_table table = {.columns = COLUMNS, .n_columns = FAB_N_OF(COLUMNS)};
    FAB_OWNED_NEW(fab_server_shape, s, 1, err);
    FAB_PASS(fab_server_read(path, s, err));
    server_fill(s, &table);
    FAB_PASS(cli_table_status(&table, err));
    (void)fprintf(out, "%" PRIu32 " GPU%s and %" PRIu32 " NIC%s%s%s in a server\n\n", s->n_gpus,
                  s->n_gpus == 1 ? "" : "s", s->n_nics, s->n_nics == 1 ? "" : "s", s->nic_bps > 0 ? " of " : "",
                  s->nic_bps > 0 ? FAB_SAY(s->nic_bps, FAB_UNIT_RATE) : "");
    FAB_PASS(cli_table_text(&table, SERVER_WIDTH, out, err));
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

/* --- explain model:NAME[,gpu=NAME]: parameters, and the least GPUs that hold it ----------------------------------- */

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
    return cli_misused(err, "command explain: '%.60s' is neither a model nor a number of parameters from 1 to 1e18%s",
                       name, fab_choices_list(&near, "known:"));
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

static fab_status explain_model(const char *text, FILE *out, fab_error *err) {
    static const cli_column COLUMNS[] = {{"Use", "use", false},
                                         {"Bytes", "bytes", true},
                                         {"GPUs at least", "least_gpus", true},
                                         {"To serve many", "serving_gpus", true}};
    FAB_OWNS(cli_table_release) cli_table table = {.columns = COLUMNS, .n_columns = FAB_N_OF(COLUMNS)};
    fab_gpu gpu;
    const char *source = NULL;
    double parameters = 0;
    char name[LONGEST];
    FAB_FORMAT(name, "%s", text);
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

static fab_status explain_run(const cli_options *options, FILE *out, fab_error *err) {
    const char *word = options->operands.n > 0 ? options->operands.items[0] : NULL;
    if (word != NULL && strncmp(word, "server:", 7) == 0) {
        return explain_server(word + 7, out, err);
    }
    if (word != NULL && strncmp(word, "model:", 6) == 0) {
        return explain_model(word + 6, out, err);
    }
    return word == NULL ? list_all(out, err) : explain_metric(word, out, err);
}

const cli_command cli_command_explain = {
    .name = "explain",
    CLI_OPERANDS("[FIELD]", 0, 1),
    .summary = "what a figure of a report means: definition, unit, formula, source",
    .details = "Fields are named as in JSON and XML reports, or as text reports print them: MFU, bubble, 'hash "
               "factor'. Without a "
               "name all of them are listed. server:FILE shows the "
               "inside of a server as NCCL's topology file, or hwloc's, has it: which GPU shares which PCIe switch and "
               "NIC, at what "
               "rates; a design takes it by server=FILE. model:NAME[,gpu=NAME], or a number of parameters for NAME, "
               "says how many GPUs hold a model at least.",
    CLI_EXAMPLES("fabriscope explain max_collision_factor", "fabriscope explain",
                 "fabriscope explain server:nccl-topo.xml", "fabriscope explain model:llama2-70b,gpu=a100-40gb"),
    CLI_OPTIONS(NULL),
    .run = explain_run,
    .hides_usage = true,
};
