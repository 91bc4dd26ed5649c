#include "cli.h"

#include "fab/definitions.h"

#define WIDTH  80
#define INDENT 12

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
    (void)snprintf(source, sizeof source, "%s%s", is_record ? "own definition: src/doc/adr/" : "", d->source);
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
        (void)snprintf(text, sizeof text, "%s: %s", d->of, d->definition);
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
    FAB_RETURN_IF(l.n_found == 0,
                  fab_fail(err, FAB_EUSAGE, NULL, "no report has a field '%.60s'%s", word, fab_choices_hint(&l.near)));
    return FAB_OK;
}

static fab_status explain_run(const cli_options *options, FILE *out, fab_error *err) {
    const char *word = options->operands.n > 0 ? options->operands.items[0] : NULL;
    if (word != NULL && strncmp(word, "server:", 7) == 0) {
        return cli_explain_server(word + 7, out, err);
    }
    if (word != NULL && strncmp(word, "model:", 6) == 0) {
        return cli_explain_model(word + 6, out, err);
    }
    return word == NULL ? list_all(out, err) : explain_metric(word, out, err);
}

static const cli_option *const OPTIONS[] = {NULL};

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
    .options = OPTIONS,
    .run = explain_run,
    .hides_usage = true,
};
