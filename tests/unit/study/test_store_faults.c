/* The store in trouble: several writers, files that are not what they should be, no room. */
#include "store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Four bytes of a file, the highest first. Of an SQLite database: 60 user version, 68 application id. */
static void poke(const char *path, long at, uint32_t value) {
    FILE *file = fopen(path, "r+b");
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 8), (unsigned char)value};
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, at, SEEK_SET), 0);
    cr_assert_eq(fwrite(bytes, 1, 4, file), 4);
    cr_assert_eq(fclose(file), 0);
}

/* --- who writes --------------------------------------------------------------------------------------------------- */

/* Opens a shard in another process, which says so and holds it until it is told to end. */
static pid_t hold_shard(const char *folder, const fab_plan *plan, int *out_hold) {
    int ready[2];
    int hold[2];
    char c = 0;
    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(hold), 0);
    pid_t child = fork();
    if (child == 0) {
        fab_shard *s = NULL;
        (void)close(hold[1]);
        c = fab_shard_open(folder, plan, 0, 1, &s, NULL) == FAB_OK ? 'y' : 'n';
        if (write(ready[1], &c, 1) != 1 || read(hold[0], &c, 1) < 0) {
            _exit(1);
        }
        _exit(0);
    }
    (void)close(hold[0]);
    (void)close(ready[1]);
    cr_assert_eq(read(ready[0], &c, 1), 1);
    (void)close(ready[0]);
    cr_assert_eq(c, 'y');
    *out_hold = hold[1];
    return child;
}

Test(store_faults, a_shard_has_one_writer) {
    char folder[64];
    fab_error err = {0};
    fab_shard *s = NULL;
    int hold = -1;
    int status = 0;
    fab_gathered gathered;
    char pid[32];
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    make_store(folder, &plan);
    pid_t child = hold_shard(folder, &plan, &hold);
    cr_assert_eq(fab_shard_open(folder, &plan, 0, 1, &s, &err), FAB_EIO);
    (void)snprintf(pid, sizeof pid, "process %ld on ", (long)child);
    cr_assert_not_null(strstr(err.text, pid), "%s", err.text);
    cr_assert_not_null(strstr(err.where, "shard-0-of-1.db"), "%s", err.where);
    /* a neighbour of the same machine reads what was committed, while it is written */
    assessor a = make_assessor(&plan);
    err = (fab_error){0};
    cr_assert_eq(run(folder, &plan, 1, 2, 1, &a, FAB_OK, &err).n_before, 250);
    gather(folder, &plan, false, &gathered);
    cr_assert_eq(gathered.n_done, 500);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    (void)close(hold);
    must(fab_shard_open(folder, &plan, 0, 1, &s, &err), &err);
    fab_shard_close(s);
    cr_assert(!exists(folder, "shard-0-of-1.db.lock"));
    cr_assert(!exists(folder, "shard-0-of-1.db-wal"));
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* One that another machine writes: its memory is not ours to read. */
Test(store_faults, shards_written_elsewhere_are_left_alone) {
    char folder[64];
    fab_error err = {0};
    int hold = -1;
    int status = 0;
    fab_gathered gathered;
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    make_store(folder, &plan);
    pid_t child = hold_shard(folder, &plan, &hold);
    char name[65] = "";
    char text[120];
    cr_assert_eq(gethostname(name, sizeof name - 1), 0);
    (void)snprintf(text, sizeof text, "process 7 on %s, boot 0", name); /* of another cluster, with names like ours */
    FILE *lock = fopen(join(folder, "shard-0-of-1.db.lock"), "w");
    (void)fprintf(lock, "%s\n", text);
    (void)fclose(lock);
    assessor a = make_assessor(&plan);
    cr_assert_eq(run(folder, &plan, 1, 2, 1, &a, FAB_OK, &err).n_before, 0, "they may be done twice");
    cr_assert_eq(fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err), FAB_EIO);
    cr_assert_not_null(strstr(err.text, text), "%s", err.text);
    gather(folder, &plan, true, &gathered);
    cr_assert_eq(gathered.n_busy, 1);
    cr_assert_eq(gathered.n_done, 250);
    (void)close(hold);
    cr_assert_eq(waitpid(child, &status, 0), child);
    gather(folder, &plan, false, &gathered);
    cr_assert_eq(gathered.n_twice, 250);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

Test(store_faults, only_one_gathers) {
    char folder[64];
    fab_error err = {0};
    fab_gathered gathered;
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    make_store(folder, &plan);
    int fd = open(join(folder, "results.db.lock"), O_RDWR | O_CREAT, 0666);
    int ready[2];
    char c = 0;
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        c = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
        _exit(write(ready[1], &c, 1) == 1 && pause() == 0);
    }
    cr_assert_eq(read(ready[0], &c, 1), 1);
    cr_assert_eq(c, 'y');
    cr_assert_eq(fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err), FAB_EIO);
    cr_assert_not_null(strstr(err.text, "being written"), "%s", err.text);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    gather(folder, &plan, false, &gathered);
    (void)close(fd);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* --- files that are not what they should be ----------------------------------------------------------------------- */

static void refused(fab_status status, fab_status expected, const char *what, fab_error *err) {
    cr_assert_eq(status, expected, "%d: %s: %s", status, err->where, err->text);
    cr_assert_not_null(strstr(err->text, what), "'%s' is not in: %s: %s", what, err->where, err->text);
    *err = (fab_error){0};
}

/* What is damaged is left out of a gathering that may be partial; what belongs elsewhere is a mistake of the user. */
static void check_shard_refused(const char *folder, const fab_plan *plan, bool is_damaged, const char *what) {
    fab_error err = {0};
    fab_gathered gathered;
    fab_shard *s = NULL;
    refused(fab_shard_open(folder, plan, 0, 1, &s, &err), FAB_EINPUT, what, &err);
    refused(fab_store_gather(folder, plan, !is_damaged, NULL, NULL, &gathered, &err), FAB_EINPUT, what, &err);
    cr_assert(!exists(folder, "results.db"));
}

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    (void)fputs(text, out);
    (void)fclose(out);
}

Test(store_faults, shards_of_others_are_refused) {
    char folder[64];
    char other[64];
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    fab_plan another = fixture_plan(500, 1, 4, 0);
    make_store(folder, &plan);
    make_store(other, &another);
    cr_assert_eq(rename(join(other, "shard-0-of-1.db"), join(folder, "shard-0-of-1.db")), 0);
    check_shard_refused(folder, &plan, false, "belongs to another plan");
    write_file(join(folder, "shard-0-of-1.db"), "this is a text, and long enough for the header of a database ......."
                                                "................................................................");
    check_shard_refused(folder, &plan, true, "not an SQLite database");
    make_store(other, &plan);
    cr_assert_eq(rename(join(other, "shard-0-of-1.db"), join(folder, "shard-0-of-1.db")), 0);
    poke(join(folder, "shard-0-of-1.db"), 68, 17);
    check_shard_refused(folder, &plan, false, "is no store of a study");
    fab_plan_release(&plan);
    fab_plan_release(&another);
    fixture_remove(folder);
    fixture_remove(other);
}

Test(store_faults, shards_under_other_names_are_refused) {
    char folder[64];
    fab_error err = {0};
    fab_gathered gathered;
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    make_store(folder, &plan);
    cr_assert_eq(rename(join(folder, "shard-0-of-1.db"), join(folder, "shard-1-of-3.db")), 0);
    refused(fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err), FAB_EINPUT, "was renamed", &err);
    /* names that are not ours are not looked at */
    cr_assert_eq(rename(join(folder, "shard-1-of-3.db"), join(folder, "shard-01-of-3.db")), 0);
    gather(folder, &plan, true, &gathered);
    cr_assert_eq(gathered.n_done, 0);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

Test(store_faults, newer_schemas_are_refused) {
    char folder[64];
    fab_error err = {0};
    fab_gathered gathered;
    fab_store *store = NULL;
    fab_plan read;
    fab_plan plan = fixture_plan(500, 1, 3, 0);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    poke(join(folder, "results.db"), 60, 2);
    refused(fab_store_open(folder, &store, &err), FAB_EINPUT, "schema version 2", &err);
    cr_assert_eq(unlink(join(folder, "results.db")), 0);
    refused(fab_store_open(folder, &store, &err), FAB_EINPUT, "nothing is gathered", &err);
    poke(join(folder, "shard-0-of-1.db"), 60, 9);
    check_shard_refused(folder, &plan, false, "schema version 9");
    poke(join(folder, "plan.db"), 60, 9);
    refused(fab_plan_read(folder, &read, &err), FAB_EINPUT, "schema version 9", &err);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* Whatever byte is wrong: an error, or it is not among the rows. Never a crash, never other rows. */
Test(store_faults, damage_is_found) {
    char folder[64];
    char healthy[64];
    fab_gathered gathered;
    size_t n = 0;
    size_t n_found = 0;
    fab_plan plan = fixture_plan(400, 1, 3, 0);
    make_store(folder, &plan);
    gather(folder, &plan, false, &gathered);
    (void)snprintf(healthy, sizeof healthy, "%s", join(folder, "whole.db"));
    cr_assert_eq(rename(join(folder, "results.db"), healthy), 0);
    char *bytes = read_whole(join(folder, "shard-0-of-1.db"), &n);
    fab_rng rng = fab_rng_make(9, 9);
    for (int round = 0; round < 200; round++) {
        fab_error err = {0};
        FILE *out = fopen(join(folder, "shard-0-of-1.db"), "wb");
        size_t at = (size_t)fab_rng_below(&rng, n);
        char bit = (char)(1 << fab_rng_below(&rng, 8));
        bytes[at] = (char)(bytes[at] ^ bit);
        cr_assert_gt(fwrite(bytes, 1, round % 10 == 0 ? at + 1 : n, out), 0); /* sometimes the end is missing */
        (void)fclose(out);
        bytes[at] = (char)(bytes[at] ^ bit);
        fab_status status = fab_store_gather(folder, &plan, false, NULL, NULL, &gathered, &err);
        if (status == FAB_OK) {
            same_files(join(folder, "results.db"), healthy);
        } else {
            cr_assert(status == FAB_EINPUT || status == FAB_EIO, "%d: %s: %s", status, err.where, err.text);
            n_found++;
        }
    }
    cr_assert_gt(n_found, 50);
    free(bytes);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

Test(store_faults, a_folder_holds_one_plan) {
    char folder[64];
    fab_error err = {0};
    fab_plan read = {.program = NULL};
    bool was_there = false;
    fab_plan plan = fixture_plan(500, 2, 3, 0);
    fab_plan another = fixture_plan(500, 2, 4, 0);
    cr_assert_str_neq(plan.id, another.id);
    must(fab_plan_write(fixture_folder(folder), &plan, &was_there, &err), &err);
    cr_assert(!was_there);
    must(fab_plan_write(folder, &plan, &was_there, &err), &err);
    cr_assert(was_there);
    refused(fab_plan_write(folder, &another, &was_there, &err), FAB_EINPUT, "holds another plan", &err);
    must(fab_plan_read(folder, &read, &err), &err);
    check_plan(&read, &plan);
    fab_plan_release(&read);
    fixture_remove(folder);
    refused(fab_plan_read(folder, &read, &err), FAB_EINPUT, "no such folder", &err);
    cr_assert_eq(mkdir(folder, 0777), 0);
    refused(fab_plan_read(folder, &read, &err), FAB_EINPUT, "is no store", &err);
    write_file(join(folder, "thesis.tex"), "everything I know");
    refused(fab_plan_write(folder, &plan, &was_there, &err), FAB_EIO, "'thesis.tex'", &err);
    write_file(join(folder, "plan.db"), "");
    refused(fab_plan_read(folder, &read, &err), FAB_EINPUT, "is no store", &err);
    fab_plan_release(&plan);
    fab_plan_release(&another);
    fixture_remove(folder);
}

/* What a plan says is part of what it is. */
/* --- what a kill leaves ------------------------------------------------------------------------------------------- */

static void put_text(const char *folder, const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    (void)fputs("text", file);
    (void)fclose(file);
}

static bool is_there(const char *folder, const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* A plan that was about to be made, with files that the next one does not have. */
Test(store_faults, a_killed_plan_leaves_no_copies) {
    char folder[] = "store-XXXXXX";
    char files[64];
    bool was_there = false;
    fab_error err = {0};
    fab_plan plan = fixture_plan(10, 1, 2, 0);
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(files, sizeof files, "%s/files", folder);
    cr_assert_eq(mkdir(files, 0777), 0);
    put_text(files, "file-1");
    put_text(files, "file-2.new");
    put_text(folder, "plan.db.new");
    put_text(folder, "plan.db.new-journal");
    put_text(folder, "plan.db.lock");
    must(fab_plan_write(folder, &plan, &was_there, &err), &err);
    cr_expect_not(was_there);
    cr_expect_not(is_there(folder, "files"), "copies of files stay for ever");
    cr_expect_not(is_there(folder, "plan.db.new") || is_there(folder, "plan.db.new-journal"));
    cr_expect_not(is_there(folder, "plan.db.lock"));
    fab_plan_release(&plan);
    fixture_remove(folder);
}

/* A kill leaves what is in the folder at that moment: no journal is, at any. */
Test(store_faults, creations_make_no_journals) {
    char folder[] = "store-XXXXXX";
    _Alignas(struct inotify_event) char events[8192];
    bool was_there = false;
    fab_error err = {0};
    fab_shard *shard = NULL;
    fab_gathered gathered;
    fab_plan plan = fixture_plan(10, 1, 2, 0);
    size_t n_created = 0;
    cr_assert_not_null(mkdtemp(folder));
    int fd = inotify_init1(IN_NONBLOCK);
    cr_assert(fd >= 0 && inotify_add_watch(fd, folder, IN_CREATE) >= 0);
    must(fab_plan_write(folder, &plan, &was_there, &err), &err);
    must(fab_shard_open(folder, &plan, 0, 1, &shard, &err), &err);
    fab_shard_close(shard);
    must(fab_store_gather(folder, &plan, true, NULL, NULL, &gathered, &err), &err);
    for (ssize_t n = 0; (n = read(fd, events, sizeof events)) > 0;) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event = (const void *)(events + at);
            cr_expect_null(strstr(event->name, "-journal"), "%s", event->name);
            at += (ssize_t)(sizeof *event + event->len);
            n_created++;
        }
    }
    cr_expect_geq(n_created, 3);
    (void)close(fd);
    fab_plan_release(&plan);
    fixture_remove(folder);
}

Test(store_faults, every_fact_changes_the_plan) {
    char id[17];
    fab_plan plan = fixture_plan(500, 2, 3, 0);
    (void)snprintf(id, sizeof id, "%s", plan.id);
#define CHANGES(statement, back)                                                                                       \
    do {                                                                                                               \
        statement;                                                                                                     \
        fab_plan_seal(&plan);                                                                                          \
        cr_assert_str_neq(plan.id, id, "%s", #statement);                                                              \
        back;                                                                                                          \
        fab_plan_seal(&plan);                                                                                          \
        cr_assert_str_eq(plan.id, id);                                                                                 \
    } while (0)
    CHANGES(plan.program[0] = '2', plan.program[0] = '1');
    CHANGES(plan.design[0] = 'N', plan.design[0] = 'n');
    CHANGES(plan.traffic[0] = 'J', plan.traffic[0] = 'j');
    CHANGES(plan.scenarios[0] = 'L', plan.scenarios[0] = 'l');
    CHANGES(plan.seed++, plan.seed--);
    CHANGES(plan.n_scenarios++, plan.n_scenarios--);
    CHANGES(plan.block++, plan.block--);
    CHANGES(plan.figures = FAB_FIGURES_LOADS, plan.figures = FAB_FIGURES_TIMES);
    CHANGES(plan.span_s = 1, plan.span_s = 0);
    CHANGES(plan.restart_s = 1, plan.restart_s = 600);
    CHANGES(plan.checkpoint_s = 1, plan.checkpoint_s = 10800);
    CHANGES(plan.rates[1].repair_s = 1, plan.rates[1].repair_s = 3600);
    CHANGES(plan.variants[1].engine[0] = 'E', plan.variants[1].engine[0] = 'e');
    CHANGES(plan.variants[1].policy[0] = 'N', plan.variants[1].policy[0] = 'n');
    CHANGES(plan.variants[0].healthy.time_s = 0.2, plan.variants[0].healthy.time_s = 0.1);
    CHANGES(plan.components[499].name[0] = 'L', plan.components[499].name[0] = 'l');
    CHANGES(plan.components[0].residual = 0.1, plan.components[0].residual = 0);
    fab_plan_release(&plan);
}

Test(store_faults, blocks_are_thousands_and_small) {
    cr_assert_eq(fab_plan_block(1), 1);
    cr_assert_eq(fab_plan_block(4096), 1);
    cr_assert_eq(fab_plan_block(1000000), 256);
    cr_assert_eq(fab_plan_block(UINT64_C(1000000000)), 256);
    for (uint64_t n = 1; n < 3000000; n = n * 3 / 2 + 1) {
        uint64_t block = fab_plan_block(n);
        cr_assert(block == 256 || n / block <= 4096);
        cr_assert(block == 1 || n / block >= 2048, "%llu", (unsigned long long)n);
    }
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* In another process a shard may grow to so many bytes; nothing is wrong with what it leaves. */
Test(store_faults, a_full_disk_leaves_what_was_committed) {
    char folder[64];
    char alone[64];
    fab_gathered gathered;
    fab_error err = {0};
    bool was_there = false;
    int status = 0;
    fab_plan plan = fixture_plan(20000, 1, 3, 0);
    make_store(alone, &plan);
    gather(alone, &plan, false, &gathered);
    must(fab_plan_write(fixture_folder(folder), &plan, &was_there, &err), &err);
    pid_t child = fork();
    if (child == 0) {
        assessor a = make_assessor(&plan);
        fab_shard *s = NULL;
        fab_study_tally tally = {0};
        fab_study_job job = {.n_shards = 1, .n_threads = 2};
        const struct rlimit limit = {300000, 300000};
        (void)signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || fab_shard_open(folder, &plan, 0, 1, &s, &err) != FAB_OK) {
            _exit(2);
        }
        fab_status failed = study_loop_run(&job, &plan, s, assess, &a, &tally, &err);
        fab_shard_close(s);
        _exit(failed == FAB_EIO && strstr(err.text, "intact") != NULL ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", WEXITSTATUS(status));
    assessor a = make_assessor(&plan);
    (void)run(folder, &plan, 0, 1, 1, &a, FAB_OK, &err);
    gather(folder, &plan, false, &gathered);
    same_files(join(folder, "results.db"), join(alone, "results.db"));
    fab_plan_release(&plan);
    fixture_remove(folder);
    fixture_remove(alone);
}
