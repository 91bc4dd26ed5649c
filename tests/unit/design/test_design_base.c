/* Designs that stand on others: what is taken over, what replaces it, and chains that do not end. */
#include "fab/builtin.h"
#include "fab/design.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void set_up(void) {
    (void)snprintf(folder, sizeof folder, "/tmp/fab-base-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void tear_down(void) {
    char command[96];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static void put(const char *name, const char *text) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static fab_status try_read(const char *name, fab_design *out, fab_error *err) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return fab_design_read(path, NULL, 0, out, err);
}

static fab_design *read_file(const char *name) {
    fab_design *d = calloc(1, sizeof *d);
    fab_error err = {0};
    cr_assert_eq(try_read(name, d, &err), FAB_OK, "%s: %s", err.where, err.text);
    return d;
}

/* `place` follows the folder's name in err.where. */
static void check_bad(const char *name, const char *place, const char *what) {
    fab_design *d = malloc(sizeof *d);
    fab_design *before = malloc(sizeof *before);
    fab_error err = {0};
    char where[192];
    memset(d, 0x5A, sizeof *d);
    memcpy(before, d, sizeof *d);
    cr_assert_eq(try_read(name, d, &err), FAB_EINPUT, "%s: %s", err.where, err.text);
    (void)snprintf(where, sizeof where, "%s/%s", folder, place);
    cr_expect_str_eq(err.where, where, "'%s', expected '%s': %s", err.where, where, err.text);
    cr_expect_not_null(strstr(err.text, what), "'%s' does not say '%s'", err.text, what);
    cr_expect_eq(memcmp(d, before, sizeof *d), 0, "output written on failure");
    free(d);
    free(before);
}

TestSuite(base, .init = set_up, .fini = tear_down);

#define BASE                                                                                                           \
    "<design name='base'><source>a book</source>"                                                                      \
    "<fabric family='clos' gpus='256' radix='32' taper='2/3'><tier level='2' length='50m'/></fabric>"                  \
    "<job id='one' tp='4'/><job id='two' tp='2'/><engine use='ecmp,qp=4'/><engine use='dmodk'/>"                       \
    "<prices profile='rail-only-2023'/></design>"

Test(base, everything_is_taken_over) {
    put("base.xml", BASE);
    put("same.xml", "<design base='base.xml'/>");
    fab_design *d = read_file("same.xml");
    cr_expect_str_eq(d->fabric.family, "clos");
    cr_expect(d->fabric.gpus == 256 && d->fabric.tier[0].radix == 32 && d->fabric.tier[1].taper == 3);
    cr_expect_eq(d->fabric.tier[1].length_m, 50);
    cr_expect(d->n_jobs == 2 && d->jobs[0].tp == 4 && d->n_engines == 2);
    cr_expect_str_eq(d->source, "a book");
    cr_expect_str_eq(d->prices, "rail-only-2023");
    cr_expect_str_eq(d->name, "clos", "the name of the base is not that of the changed design");
    cr_expect_not_null(strstr(d->origin, "/same.xml"));
    cr_expect_not_null(strstr(d->engines[0].where, "/base.xml:1:"), "%s", d->engines[0].where);
    free(d);
}

Test(base, own_values_replace) {
    put("base.xml", BASE);
    put("own.xml", "<design name='own' base='base.xml'>\n<source>another</source>\n"
                   "<fabric gpus='512' radix='64'><tier level='1' taper='1'/></fabric>\n"
                   "<job id='two' tp='8'/>\n<engine use='ecmp'/>\n<prices profile='today-400g'/>\n</design>");
    fab_design *d = read_file("own.xml");
    cr_expect_str_eq(d->name, "own");
    cr_expect_str_eq(d->source, "another");
    cr_expect_str_eq(d->fabric.family, "clos");
    cr_expect(d->fabric.gpus == 512 && d->fabric.tier[0].radix == 64 && d->fabric.tier[1].radix == 64);
    cr_expect(d->fabric.tier[0].taper == 1 && d->fabric.tier[1].taper == 3 && d->fabric.tier[1].length_m == 50);
    cr_expect(d->n_jobs == 1 && d->jobs[0].tp == 8 && d->n_engines == 1);
    cr_expect_str_eq(d->jobs[0].id, "two", "jobs given replace all of the base");
    cr_expect_str_eq(d->engines[0].text, "ecmp");
    cr_expect_str_eq(d->prices, "today-400g");
    free(d);
}

/* A base is a way to write a design: the values alone decide the digest. */
Test(base, digest_is_that_of_the_values) {
    char a[17];
    char b[17];
    put("base.xml", "<design><fabric family='clos' gpus='256' radix='32'/></design>");
    put("derived.xml", "<design name='x' base='base.xml'><fabric gpus='512'/></design>");
    put("plain.xml", "<design name='x'><fabric family='clos' gpus='512' radix='32'/></design>");
    fab_design *d = read_file("derived.xml");
    cr_assert_eq(fab_design_digest(d, a, NULL), FAB_OK);
    free(d);
    d = read_file("plain.xml");
    cr_assert_eq(fab_design_digest(d, b, NULL), FAB_OK);
    free(d);
    cr_expect_str_eq(a, b);
}

Test(base, presets_and_other_folders) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/deep", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    put("deep/on-preset.xml", "<design base='preset:dgx-h100-superpod'><fabric gpus='128'/></design>");
    put("deep/up.xml", "<design base='../beside.xml'/>");
    put("beside.xml", "<design base='deep/on-preset.xml'><fabric spares='1'/></design>");
    fab_design *d = read_file("deep/up.xml");
    cr_expect(d->fabric.gpus == 128 && d->fabric.spares == 1 && d->fabric.domain == 8);
    cr_expect_str_eq(d->fabric.family, "rail-spine");
    free(d);
    char text[256];
    (void)snprintf(text, sizeof text, "<design base='%s/beside.xml'/>", folder);
    put("absolute.xml", text);
    d = read_file("absolute.xml");
    cr_expect_eq(d->fabric.gpus, 128);
    free(d);
}

Test(base, shared_base_of_presets) {
    fab_design *roce = calloc(1, sizeof *roce);
    fab_design *ib = calloc(1, sizeof *ib);
    cr_assert_eq(fab_design_read("preset:llama3-24k-roce", NULL, 0, roce, NULL), FAB_OK);
    cr_assert_eq(fab_design_read("preset:llama3-24k-ib", NULL, 0, ib, NULL), FAB_OK);
    cr_expect_eq(memcmp(&roce->fabric, &ib->fabric, sizeof roce->fabric), 0, "one shape");
    cr_expect_eq(memcmp(&roce->jobs[0], &ib->jobs[0], sizeof roce->jobs[0]), 0, "one job");
    cr_expect(ib->n_engines == 1 && strcmp(ib->engines[0].text, "dmodk") == 0);
    cr_expect_str_neq(roce->source, ib->source);
    free(roce);
    free(ib);
}

Test(base, errors_have_a_place) {
    put("none.xml", "<design name='x'\n        base='missing.xml'/>");
    check_bad("none.xml", "none.xml:2:15", "there is no file");
    put("preset.xml", "<design base='preset:dgx-h100-superpot'/>");
    check_bad("preset.xml", "preset.xml:1:15", "did you mean 'dgx-h100-superpod'?");
    put("empty.xml", "<design base=''/>");
    check_bad("empty.xml", "empty.xml:1:15", "not preset:NAME or a file");
    put("stdin.xml", "<design base='-'/>");
    check_bad("stdin.xml", "stdin.xml:1:15", "not preset:NAME or a file");
    put("bad.xml", "<design>\n<fabric family='clos' gpus='64' nic='400'/></design>");
    put("on-bad.xml", "<design base='bad.xml'/>");
    check_bad("on-bad.xml", "bad.xml:2:38", "has no unit");
    put("no-fabric.xml", "<design/>");
    put("on-nothing.xml", "<design base='no-fabric.xml'/>");
    check_bad("on-nothing.xml", "no-fabric.xml:1:1", "no <fabric>");
    put("broken.xml", "<design base='bad.xml'><fabric nic='400Gb/s' gpus='65'/></design>");
    check_bad("broken.xml", "bad.xml:2:38", "has no unit"); /* a base must be right by itself */
    put("good.xml", "<design><fabric family='clos' gpus='64'/></design>");
    put("odd.xml", "<design base='good.xml'>\n<fabric gpus='65'/></design>");
    check_bad("odd.xml", "odd.xml:2:15", "65 GPUs do not fill servers of 8");
}

Test(base, cycles_are_refused) {
    put("self.xml", "<design base='self.xml'/>");
    check_bad("self.xml", "self.xml:1:15", "stands on itself");
    put("a.xml", "<design base='b.xml'/>");
    put("b.xml", "<design\nbase='./c.xml'/>");
    put("c.xml", "<design  base='a.xml'/>");
    check_bad("a.xml", "./c.xml:1:16", "through its bases");
    char from[128];
    char to[128];
    (void)snprintf(from, sizeof from, "%s/link.xml", folder);
    (void)snprintf(to, sizeof to, "%s/d.xml", folder);
    put("d.xml", "<design base='link.xml'/>"); /* the same file by another name */
    cr_assert_eq(symlink(to, from), 0);
    check_bad("d.xml", "d.xml:1:15", "stands on itself");
}

Test(base, depth_is_limited) {
    put("0.xml", "<design><fabric family='clos' gpus='64'/></design>");
    for (int i = 1; i <= 9; i++) {
        char name[16];
        char text[64];
        (void)snprintf(name, sizeof name, "%d.xml", i);
        (void)snprintf(text, sizeof text, "<design base='%d.xml'><fabric radix='%d'/></design>", i - 1, 60 + i);
        put(name, text);
    }
    fab_design *d = read_file("8.xml");
    cr_expect_eq(d->fabric.tier[0].radix, 68, "the outermost value holds");
    free(d);
    check_bad("9.xml", "1.xml:1:15", "more than 8 designs");
}

static int validate(const char *name) {
    char command[256];
    (void)snprintf(command, sizeof command, "xmllint --noout --schema %s/design.xsd %s/%s >/dev/null 2>&1", folder,
                   folder, name);
    int result = system(command);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

Test(base, schema_knows_it) {
    cr_assert_eq(system("command -v xmllint >/dev/null"), 0, "scripts/setup --tests installs xmllint");
    fab_str schema = FAB_STR_INIT;
    fab_design_schema(&schema);
    put("design.xsd", schema.data);
    fab_str_release(&schema);
    put("base.xml", BASE);
    put("derived.xml", "<design base='base.xml' name='x'><fabric gpus='512'/></design>");
    put("bare.xml", "<design base='base.xml'/>");
    put("wrong.xml", "<design bases='base.xml'/>");
    cr_expect_eq(validate("base.xml"), 0);
    cr_expect_eq(validate("derived.xml"), 0);
    cr_expect_eq(validate("bare.xml"), 0);
    cr_expect_neq(validate("wrong.xml"), 0);
}
