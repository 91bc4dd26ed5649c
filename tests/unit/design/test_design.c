#include "fab/fabric_spec.h"
#include "fab/builtin.h"
#include "fab/design.h"
#include "fab/prices.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD FAB_TEST_DATA "/bad/"

static void read_with(const char *text, const char *const *overrides, size_t n, fab_design *out) {
    fab_error err = {0};
    cr_assert_eq(fab_design_read(text, overrides, n, out, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
}

static fab_design *read_design(const char *text) {
    fab_design *design = calloc(1, sizeof *design);
    read_with(text, NULL, 0, design);
    return design;
}

static char *describe(const char *text, const char *override) {
    fab_design *design = calloc(1, sizeof *design);
    fab_str out = FAB_STR_INIT;
    read_with(text, &override, override != NULL ? 1 : 0, design);
    fab_design_describe(design, &out);
    free(design);
    return out.data;
}

static void check_bad(const char *text, const char *override, const char *where, const char *what) {
    fab_design *design = malloc(sizeof *design);
    fab_design *before = malloc(sizeof *before);
    fab_error err = {0};
    memset(design, 0x5A, sizeof *design);
    memset(before, 0x5A, sizeof *before);
    fab_status status = fab_design_read(text, &override, override != NULL ? 1 : 0, design, &err);
    cr_assert_eq(status, FAB_EINPUT, "%s %s: status %d", text, override != NULL ? override : "", (int)status);
    cr_assert_eq(err.code, FAB_EINPUT);
    cr_assert_str_eq(err.where, where, "'%s', expected '%s': %s", err.where, where, err.text);
    cr_assert_not_null(strstr(err.text, what), "'%s' does not say '%s'", err.text, what);
    cr_assert_eq(memcmp(design, before, sizeof *design), 0, "output written on failure");
    free(design);
    free(before);
}

static void check_bad_file(const char *name, const char *place, const char *what) {
    char path[512];
    char where[640];
    (void)snprintf(path, sizeof path, BAD "%s", name);
    (void)snprintf(where, sizeof where, "%s:%s", path, place);
    if (strlen(where) > 191) {
        char *cut = strdup(where + strlen(where) - 188);
        (void)snprintf(where, sizeof where, "...%s", cut);
        free(cut);
    }
    check_bad(path, NULL, where, what);
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

Test(design, defaults) {
    fab_design *d = read_design("rail-spine:gpus=1024");
    const fab_fabric_spec *f = &d->fabric;
    cr_assert_str_eq(f->family, "rail-spine");
    cr_assert_str_eq(d->name, "rail-spine");
    cr_assert_str_eq(d->origin, "rail-spine:gpus=1024");
    cr_assert(f->gpus == 1024 && f->gpus_per_server == 8 && f->nics_per_server == 8 && f->domain == 8);
    cr_assert(f->nic_bps == 400e9 && f->domain_bps == 3.6e12 && f->pcie_bps == 0);
    cr_assert(f->tiers == 0 && f->pod == 0 && f->planes == 1 && f->spares == 0 && f->k == 0 && f->xgft.height == 0);
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        const fab_tier_spec *t = &f->tier[i];
        cr_assert(t->radix == 64 && t->port_bps == 0 && t->breakout == 1 && t->taper == 1);
        cr_assert_eq(t->length_m, 0); /* that of the floor plan */
        cr_assert_float_eq(t->latency_s, 6e-7, 1e-15);
    }
    cr_assert(d->n_jobs == 0 && d->n_engines == 0 && d->prices[0] == '\0');
    free(d);
}

Test(design, servers_follow) {
    fab_design *d = read_design("clos:gpus=64,gpus-per-server=4");
    cr_assert(d->fabric.nics_per_server == 4 && d->fabric.domain == 4);
    free(d);
    d = read_design("clos:gpus=64,gpus-per-server=4,nics-per-server=2,domain=16");
    cr_assert(d->fabric.nics_per_server == 2 && d->fabric.domain == 16);
    free(d);
}

Test(design, fat_tree_finds_its_servers) {
    static const struct {
        const char *text;
        uint64_t gpus_per_server;
    } CASES[] = {{"fat-tree:k=2", 2},  {"fat-tree:k=4", 8},  {"fat-tree:k=6", 6},
                 {"fat-tree:k=10", 5}, {"fat-tree:k=16", 8}, {"fat-tree:k=4,gpus-per-server=1", 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_design *d = read_design(CASES[i].text);
        cr_assert_eq(d->fabric.gpus_per_server, CASES[i].gpus_per_server, "%s: %u", CASES[i].text,
                     (unsigned)d->fabric.gpus_per_server);
        cr_assert_eq(d->fabric.gpus, 0, "the family derives it");
        free(d);
    }
}

Test(design, one_line_values) {
    fab_design *d = read_design("fat-tree:xgft=2;4,4;1,4,gpus=16,nic=50GB/s,taper=1/7:2,port=400Gb/s/800Gb/s,"
                                "radix=32/64/128,breakout=2,length=1m/2m,latency=1us,pcie=504Gb/s,pod=16,planes=2,"
                                "spares=1,tiers=3,domain-rate=900GB/s,k=4");
    const fab_fabric_spec *f = &d->fabric;
    cr_assert(f->xgft.height == 2 && f->xgft.m[1] == 4 && f->xgft.m[2] == 4 && f->xgft.w[1] == 1 && f->xgft.w[2] == 4);
    cr_assert(f->xgft.p[1] == 1 && f->xgft.p[2] == 1 && f->xgft.ports == 16);
    cr_assert(f->nic_bps == 400e9 && f->pcie_bps == 504e9 && f->domain_bps == 7.2e12);
    cr_assert(f->tier[0].taper == 1 && f->tier[1].taper == 3.5 && f->tier[2].taper == 1);
    cr_assert(f->tier[0].port_bps == 400e9 && f->tier[1].port_bps == 800e9 && f->tier[7].port_bps == 800e9);
    cr_assert(f->tier[0].radix == 32 && f->tier[1].radix == 64 && f->tier[2].radix == 128 && f->tier[7].radix == 128);
    cr_assert(f->tier[7].breakout == 2 && f->tier[0].length_m == 1 && f->tier[7].length_m == 2);
    cr_assert(f->pod == 16 && f->planes == 2 && f->spares == 1 && f->tiers == 3 && f->k == 4);
    free(d);
}

Test(design, one_line_equals_xml) {
    char path[] = "/tmp/fab-design-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    cr_assert_not_null(file);
    fputs("<design>\n <fabric family='clos' gpus='256' nic='200Gb/s' pod='64' taper='2/4' radix='32'>\n"
          "  <tier level='3' radix='128' latency='1us'/>\n  <tier taper='7' level='2'/>\n </fabric>\n</design>\n",
          file);
    (void)fclose(file);
    char *xml = describe(path, NULL);
    char *line = describe("clos:gpus=256,nic=25GB/s,taper=2/7:1,radix=32/32/128/32,pod=64,latency.3=1us", NULL);
    cr_assert_str_eq(xml, line);
    free(xml);
    free(line);
    (void)unlink(path);
}

Test(design, preset_and_its_file_are_equal) {
    const fab_builtin *preset = fab_builtin_find(fab_builtin_presets, "llama3-24k-roce");
    cr_assert_not_null(preset);
    fab_design *d = read_design("preset:llama3-24k-roce");
    cr_assert_str_eq(d->origin, "preset:llama3-24k-roce");
    cr_assert(d->fabric.gpus == 24576 && d->fabric.pod == 3072 && d->fabric.tiers == 3);
    cr_assert(d->fabric.tier[0].radix == 32 && d->fabric.tier[1].taper == 7 && d->fabric.tier[1].radix == 288);
    cr_assert_eq(d->n_jobs, 1);
    const fab_job_spec *job = &d->jobs[0];
    cr_assert_str_eq(job->id, "train");
    cr_assert_eq(job->tp * job->cp * job->pp * job->dp, 16384); /* servers 0-2047 of 3,072 */
    cr_assert_eq(job->batch % job->dp, 0);
    cr_assert(job->sharded && job->gradient_bytes == 4 && job->parameter_bytes == 2);
    cr_assert_eq(d->n_engines, 1);
    cr_assert_str_eq(d->engines[0].text, "ecmp,qp=16");
    cr_assert_eq(strncmp(d->engines[0].where, "preset:llama3-24k-roce:", 23), 0, "%s", d->engines[0].where);
    free(d);
}

Test(design, overrides_in_order) {
    static const char *const SET[] = {"taper.2=4",        "fabric.tier.2.taper=2",
                                      "radix=128",        "fabric.radix.1=64",
                                      "gpus=128",         "name=mine",
                                      "job.tp=4",         "job.job.dp=2",
                                      "engine=ecmp",      "engine.2=dmodk",
                                      "engine=ecmp,qp=4", "prices=today-400g",
                                      "source=a = b, c",  "fabric.tier.3.length=7m"};
    fab_design *d = calloc(1, sizeof *d);
    read_with("clos:gpus=64", SET, sizeof SET / sizeof SET[0], d);
    cr_assert(d->fabric.tier[1].taper == 2 && d->fabric.tier[0].taper == 1);
    cr_assert(d->fabric.tier[0].radix == 64 && d->fabric.tier[1].radix == 128 && d->fabric.tier[2].length_m == 7);
    cr_assert_eq(d->fabric.gpus, 128);
    cr_assert_str_eq(d->name, "mine");
    cr_assert_str_eq(d->source, "a = b, c");
    cr_assert(d->n_jobs == 1 && d->jobs[0].tp == 4 && d->jobs[0].dp == 2);
    cr_assert_eq(d->n_engines, 2);
    cr_assert_str_eq(d->engines[0].text, "ecmp,qp=4");
    cr_assert_str_eq(d->engines[0].where, "--set engine=ecmp,qp=4");
    cr_assert_str_eq(d->prices, "today-400g");
    free(d);
    static const char *const REVERSED[] = {"fabric.radix.1=64", "radix=128"};
    d = calloc(1, sizeof *d);
    read_with("clos:gpus=64", REVERSED, 2, d);
    cr_assert_eq(d->fabric.tier[0].radix, 128, "the last one holds");
    free(d);
}

Test(design, an_override_can_repair_a_design) {
    fab_design *d = calloc(1, sizeof *d);
    const char *set = "fabric.gpus=602";
    read_with(BAD "servers_not_filled.xml", &set, 1, d);
    cr_assert_eq(d->fabric.gpus, 602);
    free(d);
}

Test(design, set_job) {
    fab_design *d = read_design("clos:gpus=64");
    fab_error err = {0};
    cr_assert_eq(fab_design_set_job(d, 0, "tp", "8", "--job", NULL), FAB_OK);
    cr_assert_eq(fab_design_set_job(d, 0, "sharded", "yes", "--job", NULL), FAB_OK);
    cr_assert_eq(fab_design_set_job(d, 1, "id", "second", "--job", NULL), FAB_OK);
    cr_assert(d->n_jobs == 2 && d->jobs[0].tp == 8 && d->jobs[0].sharded && d->jobs[0].activation_bytes == 2);
    cr_assert_str_eq(d->jobs[1].id, "second");
    cr_assert_eq(fab_design_set_job(d, 2, "tp", "eight", "--job tp=eight", &err), FAB_EINPUT);
    cr_assert_str_eq(err.where, "--job tp=eight");
    cr_assert_eq(d->n_jobs, 2, "no job appended on failure");
    err = (fab_error){0};
    cr_assert_eq(fab_design_set_job(d, 0, "ttp", "8", "--job", &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "did you mean 'tp'"), "%s", err.text);
    cr_assert_eq(d->jobs[0].tp, 8);
    free(d);
}

/* --- bad designs ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *file, *place, *what;
} BAD_FILES[] = {
    {"missing_unit.xml", "3:16", "nic: '400' has no unit"},
    {"negative_radix.xml", "3:38", "radix: '-32'"},
    {"xml_bomb.xml", "2:1", "DOCTYPE"},
    {"external_entity.xml", "3:3", "DOCTYPE"},
    {"undefined_entity.xml", "2:19", "secret"},
    {"truncated.xml", "3:24", "not well-formed"},
    {"mismatched_tags.xml", "3:12", "mismatch"},
    {"unknown_attribute.xml", "2:51", "did you mean 'gpus-per-server'?"},
    {"unknown_tier_attribute.xml", "3:29", "did you mean 'taper'?"},
    {"unknown_element.xml", "3:3", "did you mean 'job'?"},
    {"unknown_element_in_fabric.xml", "2:35", "layer"},
    {"duplicate_job_id.xml", "4:19", "train"},
    {"duplicate_tier_level.xml", "4:18", "tier 1 is given twice"},
    {"duplicate_attribute.xml", "2:44", "gpus redefined"},
    {"two_fabrics.xml", "3:3", "one <fabric>"},
    {"no_fabric.xml", "1:1", "no <fabric>"},
    {"missing_gpus.xml", "2:3", "gpus is required"},
    {"missing_level.xml", "3:5", "level"},
    {"wrong_root.xml", "1:1", "<design>"},
    {"foreign_namespace.xml", "1:1", "urn:other"},
    {"text_in_fabric.xml", "2:3", "text"},
    {"servers_not_filled.xml", "3:31", "600 GPUs do not fill servers of 7"},
    {"bad_choice.xml", "3:19", "full, selective, none"},
    {"umlaut_before_value.xml", "2:63", "tp: '0'"},
    {"utf16.xml", "1:1", "UTF-16"},
    {"latin1_bytes.xml", "2:13", "UTF-8"},
    {"latin1_declared.xml", "1:31", "UTF-8"},
    {"nul_byte.xml", "2:6", "NUL"},
    {"binary.xml", "1:2", "UTF-8"},
    {"elf.xml", "1:8", "NUL"},
    {"empty.xml", "1:1", "empty"},
    {"blank.xml", "4:1", "not well-formed"},
    {"not_xml.xml", "1:1", "a design is XML, and this begins with"},
};

Test(design, bad_files, .init = cr_redirect_stderr) {
    for (size_t i = 0; i < sizeof BAD_FILES / sizeof BAD_FILES[0]; i++) {
        check_bad_file(BAD_FILES[i].file, BAD_FILES[i].place, BAD_FILES[i].what);
    }
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("", "the library never prints");
}

Test(design, too_long_a_file) {
    check_bad("/dev/zero", NULL, "/dev/zero", "limit");
}

Test(design, bad_one_lines) {
    check_bad("clos:gpus=64,nic=400", NULL, "clos:gpus=64,nic=400:1:18", "no unit");
    check_bad("clos:gpus=64,radix=-1", NULL, "clos:gpus=64,radix=-1:1:20", "radix: '-1'");
    check_bad("clos:gpus=64,radx=1", NULL, "clos:gpus=64,radx=1:1:14", "did you mean 'radix'?");
    check_bad("clos:gpus=64,gpus=64", NULL, "clos:gpus=64,gpus=64:1:14", "'gpus' is given twice");
    check_bad("clos:gpus=64,taper.2=1,taper.2=1", NULL, "clos:gpus=64,taper.2=1,taper.2=1:1:24", "given twice");
    check_bad("clos:gpus", NULL, "clos:gpus:1:6", "key=value");
    check_bad("clos:gpus=64,", NULL, "clos:gpus=64,:1:13", "missing");
    check_bad("clos:gpus=64,,tiers=2", NULL, "clos:gpus=64,,tiers=2:1:14", "key=value");
    check_bad("clos:", NULL, "clos::1:1", "gpus is required");
    check_bad("fat-tree:", NULL, "fat-tree::1:1", "unless k or xgft");
    check_bad("clos:k=4", NULL, "clos:k=4:1:1", "gpus is required");
    check_bad("torus:", NULL, "torus::1:1", "unless torus is given");
    check_bad("fat-tree:k=5", NULL, "fat-tree:k=5:1:12", "odd");
    check_bad("fat-tree:k=408", NULL, "fat-tree:k=408:1:12", "406");
    check_bad("clos:gpus=0", NULL, "clos:gpus=0:1:11", "gpus: '0'");
    check_bad("clos:gpus=16777217", NULL, "clos:gpus=16777217:1:11", "16777216");
    check_bad("clos:gpus=64,family=clos", NULL, "clos:gpus=64,family=clos:1:14", "before the colon");
    check_bad("clos:gpus=64,job.tp=8", NULL, "clos:gpus=64,job.tp=8:1:14", "job");
    check_bad("clos:gpus=64,radix=40000,breakout=2", NULL, "clos:gpus=64,radix=40000,breakout=2:1:20", "65,535");
    check_bad("clos:gpus=64,domain=12", NULL, "clos:gpus=64,domain=12:1:21", "one must divide the other");
    check_bad("clos:gpus=64,domain=128", NULL, "clos:gpus=64,domain=128:1:11", "do not fill scale-up domains");
    check_bad("clos:gpus=600,gpus-per-server=7", NULL, "clos:gpus=600,gpus-per-server=7:1:11",
              "600 GPUs do not fill servers of 7");
    check_bad("clos:gpus=64,radix=1/2/3/4/5/6/7/8/9", NULL, "clos:gpus=64,radix=1/2/3/4/5/6/7/8/9:1:20", "more than 8");
    check_bad("clos:gpus=64,taper=2/", NULL, "clos:gpus=64,taper=2/:1:20", "ratio");
    check_bad("my fabric:gpus=64", NULL, "my fabric:gpus=64:1:1", "not the name of a family");
    check_bad("preset:lama3-24k-roce", NULL, "preset:lama3-24k-roce", "did you mean 'llama3-24k-roce'?");
    check_bad("preset:", NULL, "preset:", "unknown preset");
}

Test(design, bad_overrides) {
    static const char *const CASES[][2] = {
        {"gpus", "not path=value"},
        {"=64", "not path=value"},
        {"gpuss=64", "did you mean 'gpus'?"},
        {"fabric.gpuss=64", "did you mean 'gpus'?"},
        {"fabric.gpus.2=64", "none per tier"},
        {"fabric.tier.0.radix=64", "1 to 8"},
        {"fabric.tier.9.radix=64", "1 to 8"},
        {"taper.two=3", "1 to 8"},
        {"tp=8", "job.tp"},
        {"job.tq=8", "did you mean 'tp'?"},
        {"job.other.tp=8", "no job 'other'"},
        {"job=8", "job.KEY"},
        {"engine.2=ecmp", "the design has 0"},
        {"a.b.c.d.e=1", "more than 4 parts"},
        {"nic=400", "no unit"},
        {"nic=0Gb/s", "outside"},
        {"nic=2000Tb/s", "outside"},
        {"taper=0", "ratio"},
        {"length=-3m", "quantity"},
        {"planes=65", "64"},
        {"spares=8", "leave none to work"},
        {"pod=12", "whole servers"},
        {"name=a b", "word"},
        {"family=", "family is required"},
        {"job.sharded=maybe", "yes or no"},
        {"job.servers=all", "digits"},
        {"name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "limit of 63"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char where[192];
        (void)snprintf(where, sizeof where, "--set %s", CASES[i][0]);
        if (strcmp(CASES[i][0], "family=") == 0) {
            (void)snprintf(where, sizeof where, "clos:gpus=64:1:1");
        }
        check_bad("clos:gpus=64", CASES[i][0], where, CASES[i][1]);
    }
}

Test(design, missing_files) {
    fab_design *d = calloc(1, sizeof *d);
    fab_error err = {0};
    cr_assert_eq(fab_design_read("/nonexistent.xml", NULL, 0, d, &err), FAB_EIO);
    err = (fab_error){0};
    cr_assert_eq(fab_design_read("llama3-24k-roce", NULL, 0, d, &err), FAB_EIO);
    cr_assert_not_null(strstr(err.text, "preset:llama3-24k-roce"), "%s", err.text);
    cr_assert_eq(fab_design_read("", NULL, 0, d, NULL), FAB_EIO);
    free(d);
}

/* --- presets, price books, schemas -------------------------------------------------------------------------------- */

Test(design, every_preset_loads_and_names_its_source) {
    for (const fab_builtin *p = fab_builtin_presets; p->name != NULL; p++) {
        char text[96];
        (void)snprintf(text, sizeof text, "preset:%.*s", (int)strcspn(p->name, "."), p->name);
        fab_design *d = read_design(text);
        cr_assert_str_eq(d->name, text + 7, "%s", text);
        cr_assert(strlen(d->source) > 20, "%s", text);
        free(d);
    }
}

Test(design, price_books) {
    static const char *const BOOKS[] = {"rail-only-2023", "rail-only-2024",   "deepseek-2025", "today-400g",
                                        "today-800g",     "hammingmesh-2022", "slimfly-2014"};
    fab_prices prices;
    fab_error err = {0};
    for (size_t i = 0; i < sizeof BOOKS / sizeof BOOKS[0]; i++) {
        cr_assert_eq(fab_prices_read(BOOKS[i], &prices, &err), FAB_OK, "%s: %s", err.where, err.text);
        cr_assert_str_eq(prices.name, BOOKS[i]);
        cr_assert(strlen(prices.source) > 20 && prices.convention != FAB_CONVENTION_OF_BOOK);
        cr_assert(prices.pue >= 1 && prices.years > 0 && prices.n_switches > 0 && prices.n_cables > 0);
    }
    cr_assert_eq(fab_prices_read("rail-only-2023", &prices, NULL), FAB_OK);
    cr_assert(prices.switches[0].usd_per_port == 374 && prices.modules[0].usd == 198 && prices.modules[0].ports == 1);
    cr_assert(prices.nics[0].usd == 0 && prices.cables[0].usd == 0 && prices.cables[0].modules);
    cr_assert_eq(prices.convention, FAB_CONVENTION_PER_LINK_END);
    cr_assert_str_eq(fab_count_rules[prices.convention].name, "per-link-end");
}

static void check_bad_book(const char *text, const char *place, const char *what) {
    fab_prices prices;
    fab_error err = {0};
    cr_assert_eq(fab_prices_read(text, &prices, &err), FAB_EINPUT, "%s", text);
    size_t length = strlen(place);
    size_t n = strlen(err.where);
    cr_assert(n >= length && strcmp(err.where + n - length, place) == 0, "%s: %s", err.where, err.text);
    cr_assert_not_null(strstr(err.text, what), "%s", err.text);
}

Test(design, bad_price_books) {
    check_bad_book("rail-only-2032", "", "did you mean 'rail-only-2023'?");
    check_bad_book("", "", "unknown price profile");
    check_bad_book(BAD "prices_missing_pue.xml", "prices_missing_pue.xml:5:3", "energy needs the attribute pue");
    check_bad_book(BAD "prices_negative.xml", "prices_negative.xml:2:25", "'-5'");
    check_bad_book(BAD "prices_power_without_unit.xml", "prices_power_without_unit.xml:2:44", "no unit");
    check_bad_book(BAD "prices_no_power.xml", "prices_no_power.xml:3:3",
                   "the price book does not give power, per port or per Gb/s, of this switch");
    check_bad_book(BAD "prices_typo.xml", "prices_typo.xml:4:57", "did you mean 'reach'?");
    check_bad_book(BAD "prices_two_switches.xml", "prices_two_switches.xml:5:3", "another switch");
    check_bad_book(BAD "prices_convention.xml", "prices_convention.xml:1:30", "'both-ends'");
    check_bad_book(BAD "prices_no_life.xml", "prices_no_life.xml:1:1", "the price book has no element life");
    check_bad_book(BAD "wrong_root.xml", "wrong_root.xml:1:1", "<prices>");
    check_bad_book(BAD "empty.xml", "empty.xml:1:1", "empty");
    fab_prices prices;
    cr_assert_eq(fab_prices_read("/nonexistent.xml", &prices, NULL), FAB_EIO);
}

static void write_file(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static int validate(const char *schema, const char *file) {
    char command[1024];
    (void)snprintf(command, sizeof command, "xmllint --noout --schema %s %s >/dev/null 2>&1", schema, file);
    int result = system(command);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

static void check_schema(const fab_builtin *table, void (*schema)(fab_str *), const char *const *bad, size_t n_bad) {
    char folder[] = "/tmp/fab-schema-XXXXXX";
    char xsd[64];
    char xml[64];
    cr_assert_eq(system("command -v xmllint >/dev/null"), 0, "scripts/setup --tests installs xmllint");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(xsd, sizeof xsd, "%s/a.xsd", folder);
    (void)snprintf(xml, sizeof xml, "%s/a.xml", folder);
    fab_str text = FAB_STR_INIT;
    schema(&text);
    write_file(xsd, text.data, text.length);
    fab_str_release(&text);
    for (const fab_builtin *p = table; p->name != NULL; p++) {
        write_file(xml, p->data, p->size);
        cr_assert_eq(validate(xsd, xml), 0, "%s does not validate", p->name);
    }
    for (size_t i = 0; i < n_bad; i++) {
        char path[512];
        (void)snprintf(path, sizeof path, BAD "%s", bad[i]);
        cr_assert_eq(validate(xsd, path), 3, "%s validates", path);
    }
    (void)unlink(xsd);
    (void)unlink(xml);
    (void)rmdir(folder);
}

Test(design, presets_match_the_schema) {
    static const char *const INVALID[] = {"missing_unit.xml",      "negative_radix.xml",
                                          "unknown_attribute.xml", "unknown_tier_attribute.xml",
                                          "unknown_element.xml",   "unknown_element_in_fabric.xml",
                                          "duplicate_job_id.xml",  "duplicate_tier_level.xml",
                                          "two_fabrics.xml",       "missing_level.xml",
                                          "wrong_root.xml",        "text_in_fabric.xml",
                                          "bad_choice.xml",        "umlaut_before_value.xml"};
    check_schema(fab_builtin_presets, fab_design_schema, INVALID, sizeof INVALID / sizeof INVALID[0]);
}

Test(design, price_books_match_the_schema) {
    static const char *const INVALID[] = {"prices_missing_pue.xml", "prices_negative.xml",
                                          "prices_power_without_unit.xml", "prices_typo.xml", "prices_convention.xml"};
    check_schema(fab_builtin_prices, fab_prices_schema, INVALID, sizeof INVALID / sizeof INVALID[0]);
}

static fab_design *rate_of(const char *text, const char *gpu, double gbytes, bool written) {
    fab_design *d = read_design(text);
    fab_str canonical = FAB_STR_INIT;
    cr_assert(gpu == NULL || fab_design_set_job(d, 0, "gpu", gpu, "--job", NULL) == FAB_OK);
    cr_expect_float_eq(d->fabric.domain_bps, gbytes * 8e9, 1, "%s %s", text, gpu != NULL ? gpu : "");
    fab_design_describe(d, &canonical);
    cr_expect_eq(strstr(canonical.data, "domain-rate") != NULL, written, "%s", canonical.data);
    fab_design *again = malloc(sizeof *again);
    cr_assert_not_null(again);
    cr_assert_eq(fab_design_restore(canonical.data, again, NULL), FAB_OK);
    cr_expect_float_eq(again->fabric.domain_bps, gbytes * 8e9, 1, "restored: %s", canonical.data);
    fab_str_release(&canonical);
    free(again);
    return d;
}

/* What is not given follows the GPU; the canonical text says it where it is not the default of both. */
Test(design, rate_of_domains_follows_the_gpu) {
    free(rate_of("clos:gpus=64", NULL, 450, false));
    free(rate_of("clos:gpus=64", "h100-80gb", 450, false));
    free(rate_of("clos:gpus=64,domain-rate=450GB/s", "h100-80gb", 450, false));
    free(rate_of("clos:gpus=64,domain-rate=auto", "a100-80gb", 300, true));
    free(rate_of("clos:gpus=64,domain-rate=450GB/s", "a100-80gb", 450, true));
    free(rate_of("clos:gpus=64,domain-rate=300GB/s", "a100-80gb", 300, true));
    fab_design *d = rate_of("clos:gpus=64", "v100-32gb", 150, true);
    cr_assert_eq(fab_design_set_job(d, 0, "gpu", "b200-180gb", "--job", NULL), FAB_OK);
    cr_expect_float_eq(d->fabric.domain_bps, 7.2e12, 1);
    free(d);
}
