/* The core of a page without a browser: what it answers with a job held open, beside what it answers from the words. */
#include "cli.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 32

/* What the words make; release with free(). */
static char *ask_command(const cli_command *command, const char *line, fab_status expected) {
    fab_error err = {0};
    cli_options options = {0};
    char text[1024];
    char *word[MOST_WORDS];
    int n = 0;
    char *page = NULL;
    size_t size = 0;
    (void)snprintf(text, sizeof text, "%s", line);
    for (char *at = strtok(text, " "); at != NULL && n < MOST_WORDS; at = strtok(NULL, " ")) {
        word[n++] = at;
    }
    cr_assert_eq(cli_options_parse(command, n, word, &options, &err), FAB_OK, "%s", err.text);
    options.quiet = true;
    options.n_threads = 1;
    FILE *out = open_memstream(&page, &size);
    cr_assert_not_null(out);
    const fab_status status = options.command->run(&options, out, &err);
    cr_assert_eq(status, expected, "%s: %s", line, err.text);
    (void)fclose(out);
    cli_options_release(&options);
    return page;
}

static char *ask(const char *line, fab_status expected) {
    return ask_command(&cli_command_explore, line, expected);
}

static void let_go(void) {
    free(ask("clos:gpus=16,radix=32 --job model=gpt-1.7b,tp=2,memory-check=off", FAB_OK));
}

/* A held answer is that of a new job up to where it says that the rest is as before; and it is, as in `first`. */
static void check_held(const char *held, const char *anew, const char *first, const char *line) {
    const char *rest = strstr(held, ",\"rest\":\"as before\"}");
    const char *own = strstr(anew, ",\"graph\":");
    const char *before = strstr(first, ",\"graph\":");
    cr_assert(rest != NULL && own != NULL && before != NULL, "%s", line);
    cr_assert_eq(rest - held, own - anew, "%s", line);
    cr_assert_eq(strncmp(held, anew, (size_t)(rest - held)), 0, "%s", line);
    cr_assert_null(strstr(first, "\"rest\":"));
    cr_assert_str_eq(own, before, "%s", line);
}

Test(explore, a_held_job_answers_to_the_byte_what_a_new_one_does) {
    const char *jobs[] = {
        "rail-spine:gpus=64,radix=16,taper=2,spares=2 --job model=gpt-1.7b,tp=2,memory-check=off --engine ecmp",
        "clos:gpus=64,radix=16,spares=1 --job model=gpt-1.7b,tp=2,memory-check=off --engine ecmp,qp=4 --engine dmodk "
        "--degrade nic-9=0.5",
        "rail-only:gpus=64 --job model=gpt-1.7b,tp=2,memory-check=off --engine spray --engine adaptive",
        "rail-spine:gpus=64 --job kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=8 --engine spray --engine "
        "ecmp"};
    const char *failed[] = {" --fail nic-3*0.5",
                            " --fail server-2",
                            "",
                            " --fail leaf-0 --fail nic-3",
                            " --fail server-2 --fail nic-40*0.25",
                            ""};
    enum { N = sizeof failed / sizeof *failed };
    cr_assert(CLI_HOLDS);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        char *held[N];
        char line[512];
        fab_error err = {0};
        char *first = ask(jobs[j], FAB_OK);
        cr_assert_eq(cli_explore_hold(&err), FAB_OK, "%s", err.text);
        for (size_t i = 0; i < N; i++) {
            (void)snprintf(line, sizeof line, "%s%s", jobs[j], failed[i]);
            held[i] = ask(line, FAB_OK);
        }
        for (size_t i = 0; i < N; i++) {
            let_go();
            (void)snprintf(line, sizeof line, "%s%s", jobs[j], failed[i]);
            char *anew = ask(line, FAB_OK);
            check_held(held[i], anew, first, line);
            free(anew);
        }
        free(first);
        cr_assert_str_neq(held[0], held[1]);
        for (size_t i = 0; i < N; i++) {
            free(held[i]);
        }
    }
    let_go();
}

/* The figures of that name behind the word `failures`. */
static size_t figures_of(const char *text, const char *name, double *out, size_t size) {
    size_t n = 0;
    const char *at = strstr(text, "\"failures\":");
    while (at != NULL && n < size && (at = strstr(at, name)) != NULL) {
        at += strlen(name);
        out[n++] = strtod(at + strspn(at, "\": "), NULL);
    }
    return n;
}

Test(explore, a_held_serving_job_goes_on_as_run_says) {
    enum { MOST = 64 };
    const char *jobs[] = {
        "rail-spine:gpus=64 --job kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=8 --engine spray --engine "
        "ecmp",
        "rail-spine:gpus=64,spares=1 --job "
        "kind=serving,model=llama3-70b,tp=8,batch=120,prefill-replicas=3,request-rate=20 --engine spray"};
    const char *failed[] = {"--fail server-3", "--fail server-3 --fail server-0", "--fail nic-3*0.5"};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
            char line[512];
            double here[MOST];
            double there[MOST];
            (void)snprintf(line, sizeof line, "%s %s", jobs[j], failed[i]);
            char *held = ask(line, FAB_OK);
            (void)snprintf(line, sizeof line, "%s %s --json", jobs[j], failed[i]);
            char *run = ask_command(&cli_command_run, line, FAB_OK);
            const char *names[] = {"\"replicas_left\"", "\"most_requests_per_s\"", "\"first_token_p99_s\""};
            for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
                const size_t n = figures_of(held, names[k], here, MOST);
                cr_assert_gt(n, 0, "%s: no %s", line, names[k]);
                cr_assert_eq(n, figures_of(run, names[k], there, MOST), "%s: %s", line, names[k]);
                for (size_t f = 0; f < n; f++) {
                    cr_assert_eq(here[f], there[f], "%s: %s is %g, of run %g", line, names[k], here[f], there[f]);
                }
            }
            free(held);
            free(run);
        }
    }
    let_go();
}

Test(explore, after_a_wrong_name_the_next_answer_is_right) {
    const char *job = "clos:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,memory-check=off --fail ";
    char line[256];
    (void)snprintf(line, sizeof line, "%sleaf-1", job);
    char *before = ask(line, FAB_OK);
    (void)snprintf(line, sizeof line, "%sleaf-999", job);
    free(ask(line, FAB_EINPUT));
    (void)snprintf(line, sizeof line, "%sleaf-1", job);
    char *after = ask(line, FAB_OK);
    cr_assert_str_eq(before, after);
    free(before);
    free(after);
    let_go();
}
