#include "cli.h"

#include "fab/scenarios.h"
#include "fab/builtin.h"
#include "fab/catalog.h"
#include "fab/prices.h"
#include "fab/counters.h"

#define LIST_COLUMNS 10

/* One thing that can be listed. */
typedef struct list_topic {
    const char *name, *summary;
    cli_column columns[LIST_COLUMNS];
    fab_status (*fill)(cli_table *table, fab_error *err);
} list_topic;

/* "llama3-24k-roce.xml" -> "llama3-24k-roce" */
static const char *stem(char *out, size_t size, const char *file_name) {
    (void)snprintf(out, size, "%.*s", (int)strcspn(file_name, "."), file_name);
    return out;
}

/* "1:1 / 6.86:1": leaf first; empty with one tier. */
static void add_tapers(cli_table *table, const fab_counts *counts) {
    char text[64] = "";
    for (uint64_t t = 0; t + 1 < counts->tiers; t++) {
        fab_append(text, sizeof text, "%s%.3g:1", t > 0 ? " / " : "", counts->built_taper[t]);
    }
    cli_table_add(table, "%s", text);
}

static fab_status fill_presets(cli_table *table, fab_error *err) {
    FAB_OWNED_NEW(fab_design, design, 1, err);
    for (const fab_builtin *b = fab_builtin_presets; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        char text[FAB_NAME_SIZE + 8];
        fab_counts counts = {0};
        FAB_FORMAT(text, "preset:%s", stem(name, sizeof name, b->name));
        FAB_PASS(fab_design_read(text, NULL, 0, design, err));
        FAB_PASS(fab_topology_predict(&design->fabric, &counts, err));
        cli_table_add(table, "%s", name);
        cli_table_add(table, "%s", design->fabric.family);
        cli_table_add_number(table, (double)counts.gpus);
        cli_table_add_number(table, (double)counts.tiers);
        add_tapers(table, &counts);
        cli_table_add_number(table, (double)counts.switches);
        cli_table_add(table, "%s", design->source);
    }
    return cli_table_status(table, err);
}

static void add_number_or_blank(cli_table *table, double value) {
    if (value > 0) {
        cli_table_add_number(table, value);
    } else {
        cli_table_add(table, "%s", "");
    }
}

static fab_status fill_models(cli_table *table, fab_error *err) {
    for (const fab_model *m = fab_models; m->name != NULL; m++) {
        const uint64_t sizes[] = {m->layers, m->hidden, m->heads, m->seq, m->vocab, m->batch, m->gpus};
        cli_table_add(table, "%s", m->name);
        cli_table_add(table, "%.1f", fab_model_parameters(m) * 1e-9);
        for (size_t i = 0; i < FAB_N_OF(sizes); i++) {
            add_number_or_blank(table, (double)sizes[i]);
        }
        cli_table_add(table, "%s", m->source);
    }
    return cli_table_status(table, err);
}

static fab_status fill_ranking(cli_table *table, fab_error *err) {
    for (const fab_ranking_model *m = fab_ranking_models; m->name != NULL; m++) {
        cli_table_add(table, "%s", m->name);
        cli_table_add(table, "%.1f", (double)m->rows * (double)m->embedding * 1e-9);
        cli_table_add_number(table, (double)m->tables);
        cli_table_add_number(table, (double)m->embedding);
        cli_table_add_number(table, (double)m->dense_parameters);
        cli_table_add_number(table, (double)m->batch);
        cli_table_add(table, "%s", m->source);
    }
    return cli_table_status(table, err);
}

static fab_status fill_gpus(cli_table *table, fab_error *err) {
    for (const fab_builtin *b = fab_builtin_gpus; b->name != NULL; b++) {
        char text[192];
        fab_gpu g = {.power_w = 0};
        FAB_PASS(fab_gpu_read(stem(text, FAB_NAME_SIZE, b->name), NULL, &g, err));
        cli_table_add(table, "%s", g.name);
        cli_table_add(table, "%s", fab_gpu_precisions(&g, false, text));
        cli_table_add(table, "%.0f GiB", g.memory_bytes / 1e9); /* data sheets say GB, and mean that */
        cli_table_add(table, "%.4g GB/s", g.memory_bits_per_s / 8e9);
        cli_table_add(table, "%.4g GB/s", g.scale_up_bps / 8e9);
        cli_table_add(table, "%s", g.power_w > 0 ? fab_quantity_format(text, g.power_w, FAB_UNIT_POWER) : "");
        cli_table_add(table, "$%.2f", g.hour_usd);
        cli_table_add(table, "%s. Price: %s", g.source, g.price_source);
    }
    return cli_table_status(table, err);
}

/* A row of two to four texts. */
static void add_texts(cli_table *table, const char *const *texts) {
    for (size_t i = 0; i < table->n_columns; i++) {
        cli_table_add(table, "%s", texts[i] != NULL ? texts[i] : "");
    }
}

static fab_status fill_families(cli_table *table, fab_error *err) {
    for (size_t i = 0; fab_families[i] != NULL && fab_families[i]->name != NULL; i++) {
        add_texts(table, (const char *[]){fab_families[i]->name, fab_families[i]->summary});
    }
    return cli_table_status(table, err);
}

static fab_status fill_engines(cli_table *table, fab_error *err) {
    fab_engine_about engine;
    for (size_t i = 0; (engine = fab_engine_at(i)).name != NULL; i++) {
        add_texts(table, (const char *[]){engine.name, NULL, NULL, engine.summary});
        for (const fab_engine_option *o = engine.options; o != NULL && o->key != NULL; o++) {
            add_texts(table, (const char *[]){engine.name, o->key, o->value, o->summary});
        }
    }
    return cli_table_status(table, err);
}

static fab_status fill_patterns(cli_table *table, fab_error *err) {
    for (const fab_pattern_info *p = fab_patterns; p->name != NULL; p++) {
        add_texts(table, (const char *[]){p->name, p->summary});
    }
    return cli_table_status(table, err);
}

/* Price of a switch; nothing where the book has none such. */
static void list_add_switch(cli_table *table, const fab_prices *prices, double rate_bps) {
    fab_price price = {0, 0};
    fab_status status = fab_prices_switch(prices, 64, rate_bps, &price, NULL);
    add_number_or_blank(table, status == FAB_OK ? price.usd : 0);
}

static fab_status fill_catalogs(cli_table *table, fab_error *err) {
    FAB_OWNED_NEW(fab_catalog, catalog, 1, err);
    for (const fab_builtin *b = fab_builtin_catalogs; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        FAB_PASS(fab_catalog_read(stem(name, sizeof name, b->name), catalog, err));
        add_texts(table, (const char *[]){name, catalog->source});
    }
    return cli_table_status(table, err);
}

static fab_status fill_published(cli_table *table, fab_error *err) {
    FAB_OWNS(fab_published_release) fab_published published = {.n_rows = 0};
    FAB_PASS(fab_published_read(NULL, &published, err));
    FAB_EACH(const fab_published_source, s, published.sources, published.n_sources) {
        cli_table_add(table, "%s", s->name);
        cli_table_add_number(table, (double)s->n);
        cli_table_add(table, "%s", s->title);
    }
    return cli_table_status(table, err);
}

static fab_status fill_prices(cli_table *table, fab_error *err) {
    for (const fab_builtin *b = fab_builtin_prices; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        fab_prices prices = {0};
        FAB_PASS(fab_prices_read(stem(name, sizeof name, b->name), &prices, err));
        cli_table_add(table, "%s", name);
        cli_table_add(table, "%s", fab_count_rules[prices.convention].name);
        list_add_switch(table, &prices, 400e9);
        list_add_switch(table, &prices, 800e9);
        cli_table_add(table, "%s", prices.source);
    }
    return cli_table_status(table, err);
}

static void list_add_field(void *table, const char *path, const char *unit_example, const char *initial,
                           const char *summary) {
    add_texts(table, (const char *[]){path, unit_example, initial, summary});
}

static fab_status fill_fields(cli_table *table, fab_error *err) {
    fab_design_each_field(list_add_field, table);
    return cli_table_status(table, err);
}

/* What other commands read than audit, import and traffic. */
static const char *const OTHER_FORMATS[][2] = {
    {"lft", "forwarding tables: dump_lfts, dump_fts and opensm-lfts.dump of InfiniBand"},
    {"fdbs", "forwarding tables: ibdiagnet2.fdbs"},
    {"routes", "forwarding tables: show ip route json of FRR and SONiC, a file of each switch"},
    {"nccl-topo", "server: its inside as NCCL has it, NCCL_TOPO_DUMP_FILE"},
    {"hwloc", "server: its inside as hwloc has it, lstopo server.xml"}};

static fab_status fill_formats(cli_table *table, fab_error *err) {
    for (size_t i = 0; fab_network_formats[i] != NULL; i++) {
        add_texts(table, (const char *[]){fab_network_formats[i]->name, "in", NULL, fab_network_formats[i]->summary});
    }
    for (size_t i = 0; fab_traffic_files[i].name != NULL; i++) {
        add_texts(table, (const char *[]){fab_traffic_files[i].name, "in", NULL, fab_traffic_files[i].summary});
    }
    for (size_t i = 0; i < FAB_N_OF(OTHER_FORMATS); i++) {
        add_texts(table, (const char *[]){OTHER_FORMATS[i][0], "in", NULL, OTHER_FORMATS[i][1]});
    }
    for (size_t i = 0; fab_counters_formats[i] != NULL; i++) {
        add_texts(table, (const char *[]){fab_counters_formats[i]->name, "in", NULL, fab_counters_formats[i]->summary});
    }
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        const fab_report_format *f = fab_report_formats[i];
        add_texts(table, (const char *[]){f->name, "out", f->suffix, f->summary});
    }
    return cli_table_status(table, err);
}

static fab_status fill_scenarios(cli_table *table, fab_error *err) {
    for (const fab_scenario_source *s = fab_scenario_sources; s->text != NULL; s++) {
        add_texts(table, (const char *[]){s->text, s->summary});
    }
    return cli_table_status(table, err);
}

#define COLUMN(title, field)                                                                                           \
    { (title), (field), false }
#define NUMBER(title, field)                                                                                           \
    { (title), (field), true }

static const list_topic TOPICS[] = {
    {"presets",
     "designs that ship with the program: preset:NAME",
     {COLUMN("Preset", "name"), COLUMN("Family", "family"), NUMBER("GPUs", "gpus"), NUMBER("Tiers", "tiers"),
      COLUMN("Taper", "built_taper"), NUMBER("Switches", "switches"), COLUMN("Source", "source")},
     fill_presets},
    {"models",
     "transformer models: --job model=NAME",
     {COLUMN("Model", "name"), NUMBER("B param.", "billion_parameters"), NUMBER("Layers", "layers"),
      NUMBER("Hidden", "hidden"), NUMBER("Heads", "heads"), NUMBER("Seq.", "seq"), NUMBER("Vocab.", "vocab"),
      NUMBER("Batch", "batch"), NUMBER("GPUs", "gpus"), COLUMN("Source", "source")},
     fill_models},
    {"ranking",
     "ranking models: --job kind=ranking,model=NAME",
     {COLUMN("Model", "name"), NUMBER("B param.", "billion_parameters"), NUMBER("Tables", "tables"),
      NUMBER("Columns", "embedding"), NUMBER("Dense", "dense_parameters"), NUMBER("Batch", "batch"),
      COLUMN("Source", "source")},
     fill_ranking},
    {"gpus",
     "accelerators: --job gpu=NAME",
     {COLUMN("GPU", "name"), COLUMN("Dense TFLOP/s", "tflops"), COLUMN("Memory", "memory"),
      COLUMN("Bandwidth", "memory_bandwidth"), COLUMN("Scale-up", "scale_up"), COLUMN("Power", "power"),
      COLUMN("Hour", "usd_per_hour"), COLUMN("Source", "source")},
     fill_gpus},
    {"families",
     "topology families: FAMILY:key=value,... is a design",
     {COLUMN("Family", "name"), COLUMN("Summary", "summary")},
     fill_families},
    {"engines",
     "routing engines and their options: --engine NAME[,key=value]",
     {COLUMN("Engine", "name"), COLUMN("Option", "option"), COLUMN("Default", "default"), COLUMN("Summary", "summary")},
     fill_engines},
    {"patterns",
     "traffic patterns: --traffic pattern:NAME[,key=value]",
     {COLUMN("Pattern", "name"), COLUMN("Summary", "summary")},
     fill_patterns},
    {"scenarios",
     "what fails in a study: --scenarios SOURCE",
     {COLUMN("Source", "name"), COLUMN("Summary", "summary")},
     fill_scenarios},
    {"prices",
     "price profiles: --prices NAME",
     {COLUMN("Profile", "name"), COLUMN("Counted", "convention"), NUMBER("$/64x400G", "switch_64x400g_usd"),
      NUMBER("$/64x800G", "switch_64x800g_usd"), COLUMN("Source", "source")},
     fill_prices},
    {"catalogs",
     "what optimize may choose from: --catalog NAME",
     {COLUMN("Catalog", "name"), COLUMN("Source", "source")},
     fill_catalogs},
    {"published",
     "published figures that this program is held to: validate NAME",
     {COLUMN("Source", "name"), NUMBER("Figures", "figures"), COLUMN("What", "title")},
     fill_published},
    {"fields",
     "values of a design: --set path=value; in a one-line design radix=64 and taper.2=7 do",
     {COLUMN("Path", "path"), COLUMN("Example", "example"), COLUMN("Default", "default"), COLUMN("Summary", "summary")},
     fill_fields},
    {"formats",
     "files that are read (recognised, or --input-format NAME) and written (--format NAME, --export FILE.SUFFIX)",
     {COLUMN("Format", "name"), COLUMN("In/out", "direction"), COLUMN("Suffix", "suffix"),
      COLUMN("Summary", "summary")},
     fill_formats},
};
#define N_TOPICS (FAB_N_OF(TOPICS))

static fab_status fill_topics(cli_table *table, fab_error *err) {
    for (size_t i = 0; i < N_TOPICS; i++) {
        add_texts(table, (const char *[]){TOPICS[i].name, TOPICS[i].summary});
    }
    return cli_table_status(table, err);
}

const char *cli_topic_name(size_t i) {
    return i < N_TOPICS ? TOPICS[i].name : NULL;
}

static const list_topic ALL_TOPICS = {
    "topics", "", {{"What", "name", false}, {"Summary", "summary", false}}, fill_topics};

static fab_status find_topic(const char *name, const list_topic **out, fab_error *err) {
    fab_choices near = fab_choices_of(name);
    for (size_t i = 0; i < N_TOPICS; i++) {
        fab_choices_offer(&near, TOPICS[i].name);
        if (strcmp(TOPICS[i].name, name) == 0) {
            *out = &TOPICS[i];
            return FAB_OK;
        }
    }
    return cli_misused(err, "command list: nothing is called '%.40s'%s", name, fab_choices_list(&near, "one of"));
}

/* A row of this name; of fields also all of a part ("job"), and a key in any part ("servers"). */
static bool is_row_of(const char *cell, const char *name, bool are_paths) {
    size_t n = strlen(name);
    const char *key = strrchr(cell, '.');
    return strcmp(cell, name) == 0 || (are_paths && strncmp(cell, name, n) == 0 && cell[n] == '.') ||
           (are_paths && key != NULL && strcmp(key + 1, name) == 0);
}

/* Keeps the rows of `name`. */
static fab_status keep_rows(cli_table *table, const char *topic, const char *name, fab_error *err) {
    fab_choices near = fab_choices_of(name);
    size_t n_kept = 0;
    for (size_t row = 0; row + table->n_columns <= table->n_cells; row += table->n_columns) {
        fab_choices_offer(&near, table->cells[row]);
        bool is_kept = is_row_of(table->cells[row], name, strcmp(topic, "fields") == 0);
        for (size_t i = 0; is_kept && i < table->n_columns; i++) { /* swapped, so that every cell stays to be freed */
            char *cell = table->cells[n_kept];
            table->cells[n_kept++] = table->cells[row + i];
            table->cells[row + i] = cell;
        }
    }
    CLI_REFUSE_IF(n_kept == 0, err, "command list %s: nothing is called '%.60s'%s", topic, name,
                  fab_choices_hint(&near));
    cli_table_cut(table, n_kept);
    return FAB_OK;
}

/* Leaves the first sentence of the last cell of every row. */
static void keep_first_sentences(cli_table *table) {
    for (size_t i = table->n_columns; table->n_columns > 0 && i <= table->n_cells; i += table->n_columns) {
        char *end = strstr(table->cells[i - 1], ". ");
        if (end != NULL) {
            end[1] = '\0';
        }
    }
}

/* The file that ships, as it can be given back. */
static fab_status list_print_file(const list_topic *topic, const cli_list *words, FILE *out, fab_error *err) {
    const fab_builtin *files = topic->fill == fill_presets    ? fab_builtin_presets
                               : topic->fill == fill_gpus     ? fab_builtin_gpus
                               : topic->fill == fill_prices   ? fab_builtin_prices
                               : topic->fill == fill_catalogs ? fab_builtin_catalogs
                                                              : NULL;
    const fab_builtin *file = files != NULL && words->n > 1 ? fab_builtin_find(files, words->items[1]) : NULL;
    CLI_REFUSE_IF(
        files == NULL || words->n < 2, err,
        "option --file: needs presets, gpus, prices or catalogs, and a NAME of it: list prices today-400g --file");
    if (file == NULL) {
        fab_choices near = fab_choices_of(words->items[1]);
        fab_builtin_offer(files, &near);
        return cli_misused(err, "command list %s: nothing is called '%.60s'%s", topic->name, words->items[1],
                           fab_choices_list(&near, "one of"));
    }
    (void)fwrite(file->data, 1, file->size, out);
    return FAB_OK;
}

static fab_status list_run(const cli_options *options, FILE *out, fab_error *err) {
    const list_topic *topic = &ALL_TOPICS;
    FAB_OWNS(cli_table_release) cli_table table = {0};
    FAB_PASS(options->operands.n > 0 ? find_topic(options->operands.items[0], &topic, err) : FAB_OK);
    if (options->prints_file) {
        CLI_REFUSE_IF(options->format != NULL, err,
                      "options --file and --json: --file prints the XML file as it is; leave out one of the two");
        return list_print_file(topic, &options->operands, out, err);
    }
    table.columns = topic->columns;
    while (table.n_columns < LIST_COLUMNS && topic->columns[table.n_columns].title != NULL) {
        table.n_columns++;
    }
    FAB_PASS(topic->fill(&table, err));
    bool is_one = options->operands.n > 1;
    FAB_PASS(is_one ? keep_rows(&table, topic->name, options->operands.items[1], err) : FAB_OK);
    if (options->format != NULL) {
        cli_table_json(&table, out);
        (void)fputc('\n', out);
    } else {
        if (topic->fill == fill_presets && !is_one) { /* the full source is long: list presets NAME shows it */
            keep_first_sentences(&table);
        }
        FAB_PASS(cli_table_text(&table, (size_t)cli_style(options).width, out, err));
    }
    return FAB_OK;
}

static const cli_option FILE_OPTION = {
    "file", NULL, "print the file itself of a preset, GPU, price book or catalog: to be changed and given by its name",
    CLI_FLAG(prints_file)};
const cli_command cli_command_list = {
    .name = "list",
    CLI_OPERANDS("[WHAT [NAME]]", 0, 2),
    .summary = "what there is: presets, models, gpus, families, engines, patterns, prices, catalogs, published, "
               "fields, formats",
    .details = "Without WHAT: what can be listed. With NAME: that row alone, and all of its source; of fields also a "
               "part of the design (job) or a key (taper).",
    CLI_EXAMPLES("fabriscope list presets", "fabriscope list presets selene-3072", "fabriscope list engines",
                 "fabriscope list fields job", "fabriscope list prices today-400g --file > ours.xml"),
    CLI_OPTIONS(&FILE_OPTION, &cli_option_json),
    .run = list_run,
    .hides_usage = true,
};
