/* What a study is made of, and its file. */
#include "folder.h"
#include "lock.h"
#include "plan_tables.h"
#include "schema.h"

#include "fab/fnv.h"
#include "fab/save.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BLOCK 256
#define BLOCKS     4096

void fab_plan_release(fab_plan *plan) {
    FAB_FREE_ALL(plan->program, plan->name, plan->origin, plan->design, plan->traffic, plan->scenarios);
    FAB_FREE_EACH_OF(free, plan->rates, plan->n_rates, .name);
    for (size_t i = 0; plan->variants != NULL && i < plan->n_variants; i++) {
        FAB_FREE_ALL(plan->variants[i].engine, plan->variants[i].label, plan->variants[i].policy);
    }
    for (size_t i = 0; plan->components != NULL && i < plan->n_components; i++) {
        FAB_FREE_ALL(plan->components[i].kind, plan->components[i].name);
    }
    FAB_FREE_EACH(free, plan->scenario_names, plan->n_scenarios);
    for (size_t i = 0; plan->files != NULL && i < plan->n_files; i++) {
        FAB_FREE_ALL(plan->files[i].given, plan->files[i].name);
    }
    FAB_FREE_ALL(plan->rates, plan->variants, plan->components, plan->scenario_names, plan->files);
    *plan = (fab_plan){.program = NULL};
}

/* --- identity ----------------------------------------------------------------------------------------------------- */

/* With its end, so that what follows does not run into it. */
static uint64_t add_text(uint64_t hash, const char *text) {
    text = text != NULL ? text : "";
    return fab_fnv(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t value) {
    unsigned char bytes[8];
    FAB_FILL(bytes, 8, (unsigned char)(value >> (8 * fab_at)));
    return fab_fnv(hash, bytes, sizeof bytes);
}

static uint64_t add_real(uint64_t hash, double value) {
    uint64_t bits = UINT64_MAX; /* NAN, of which there are many */
    if (value == value) {
        memcpy(&bits, &value, sizeof bits);
    }
    return add_number(hash, bits);
}

static uint64_t add_variant(uint64_t hash, const fab_store_variant *v) {
    hash = add_text(add_text(hash, v->engine), v->policy);
    hash = add_number(add_number(hash, v->healthy.n_disconnected), v->healthy.n_collisions);
    hash = add_real(add_number(hash, v->healthy.worst_link), v->healthy.lost_ratio);
    return add_real(add_real(hash, v->healthy.worst_ratio), v->healthy.time_s);
}

static uint64_t plan_digest(const fab_plan *plan) {
    uint64_t hash = add_text(add_text(FAB_FNV_BEGIN, plan->name), plan->origin);
    for (size_t i = 0; i < plan->n_variants; i++) {
        hash = add_text(hash, plan->variants[i].label);
    }
    hash = add_text(add_text(add_text(hash, plan->program), plan->design), plan->digest);
    hash = add_text(add_text(hash, plan->traffic), plan->scenarios);
    hash = add_number(add_number(add_number(hash, plan->seed), plan->n_scenarios), plan->block);
    hash = add_real(add_number(hash, plan->figures), plan->span_s);
    hash = add_real(add_real(hash, plan->checkpoint_s), plan->restart_s);
    for (size_t i = 0; i < plan->n_rates; i++) {
        hash = add_real(add_real(add_text(hash, plan->rates[i].name), plan->rates[i].per_s), plan->rates[i].repair_s);
    }
    for (size_t i = 0; i < plan->n_variants; i++) {
        hash = add_variant(hash, &plan->variants[i]);
    }
    for (size_t i = 0; i < plan->n_components; i++) {
        hash = add_text(add_text(hash, plan->components[i].kind), plan->components[i].name);
        hash = add_real(hash, plan->components[i].residual);
    }
    for (uint64_t i = 0; plan->scenario_names != NULL && i < plan->n_scenarios; i++) {
        hash = add_text(hash, plan->scenario_names[i]);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        hash = add_text(add_text(hash, plan->files[i].given), plan->files[i].digest);
    }
    return hash;
}

void fab_plan_seal(fab_plan *plan) {
    FAB_FORMAT(plan->id, "%016" PRIx64, plan_digest(plan));
}

bool fab_plan_is_sealed(const fab_plan *plan) {
    fab_plan sealed = *plan;
    fab_plan_seal(&sealed);
    return strcmp(plan->id, sealed.id) == 0;
}

/* Thousands of blocks, so that many workers have equal shares and the end of one loses little; but no more rows in a
 * block than keep the cost of one small. */
uint64_t fab_plan_block(uint64_t n_scenarios) {
    uint64_t block = 1;
    while (block < MOST_BLOCK && n_scenarios / block > BLOCKS) {
        block *= 2;
    }
    return block;
}

uint64_t fab_plan_n_blocks(const fab_plan *plan) {
    return plan->n_scenarios / plan->block + (plan->n_scenarios % plan->block > 0);
}

uint64_t fab_plan_block_size(const fab_plan *plan, uint64_t number) {
    uint64_t left = plan->n_scenarios - number * plan->block;
    return left < plan->block ? left : plan->block;
}

/* --- file --------------------------------------------------------------------------------------------------------- */

fab_status fab_plan_read(const char *folder, fab_plan *out, fab_error *err) {
    FAB_OWNS(database_close) database db = {.handle = NULL};
    FAB_OWNS(fab_plan_release) fab_plan plan = {.program = NULL};
    char path[STORE_PATH_SIZE];
    bool empty = false;
    FAB_PASS(folder_path(folder, STORE_PLAN, path, err));
    if (folder_size_of(path) < 0) {
        bool missing = folder_size_of(folder) < 0;
        return fab_fail(err, FAB_EINPUT, folder,
                        missing ? "there is no such folder" : "is no store of a study: it holds no " STORE_PLAN);
    }
    FAB_PASS(database_open(&db, path, DATABASE_READ, err));
    FAB_PASS(database_check_brand(&db, &empty, err));
    FAB_REFUSE_IF(empty, err, FAB_EINPUT, path, "is no store of a study: an empty database");
    FAB_PASS(database_check_schema(&db, SCHEMA_PLAN, err));
    FAB_PASS(plan_tables_get(&db, &plan, err));
    return FAB_GIVE(*out, plan);
}

static fab_status plan_compare(const char *folder, const fab_plan *plan, fab_error *err) {
    FAB_OWNS(fab_plan_release) fab_plan there = {.program = NULL};
    FAB_PASS(fab_plan_read(folder, &there, err));
    fab_plan named = *plan;
    memcpy(named.id, there.id, sizeof named.id);
    FAB_REFUSE_IF(!fab_plan_is_sealed(&named), err, FAB_EINPUT, folder,
                  "holds another plan: of %.30s %s, version %.10s, traffic %.30s, scenarios %.30s, seed %" PRIu64
                  ", %zu variants; asked for: %.30s %s, version %.10s, traffic %.30s, scenarios %.30s, seed %" PRIu64
                  ", %zu variants",
                  there.name, there.digest, there.program, there.traffic, there.scenarios, there.seed, there.n_variants,
                  plan->name, plan->digest, plan->program, plan->traffic, plan->scenarios, plan->seed,
                  plan->n_variants);
    return FAB_OK;
}

static fab_status make_folder(const char *path, fab_error *err) {
    if (fab_save_folder(path) || errno == EEXIST) {
        return FAB_OK;
    }
    return fab_fail(err, FAB_EIO, path, "the folder cannot be made: %s", strerror(errno));
}

static fab_status digest_file(const char *from, const char *to, char out[17], fab_error *err) {
    uint64_t digest = 0;
    FAB_PASS(folder_copy(from, to, &digest, err));
    (void)snprintf(out, 17, "%016" PRIx64, digest);
    return FAB_OK;
}

fab_status fab_store_file_digest(const char *path, char out[17], fab_error *err) {
    return digest_file(path, NULL, out, err);
}

fab_status fab_plan_check_files(const char *folder, const fab_plan *plan, fab_error *err) {
    char files[STORE_PATH_SIZE];
    char path[STORE_PATH_SIZE];
    char digest[17];
    FAB_PASS(folder_path(folder, STORE_FILES, files, err));
    for (size_t i = 0; i < plan->n_files; i++) {
        FAB_PASS(folder_path(files, plan->files[i].name, path, err));
        FAB_PASS(digest_file(path, NULL, digest, err));
        FAB_REFUSE_IF(strcmp(digest, plan->files[i].digest) != 0, err, FAB_EINPUT, path,
                      "is not the copy of '%.100s' that was planned with: digest %s, not %s", plan->files[i].given,
                      digest, plan->files[i].digest);
    }
    return FAB_OK;
}

static fab_status copy_files(const char *folder, const fab_plan *plan, fab_error *err) {
    fab_status status = FAB_OK;
    char files[STORE_PATH_SIZE];
    char path[STORE_PATH_SIZE];
    char temporary[STORE_PATH_SIZE + 8];
    char digest[17];
    bool made = false;
    FAB_TRY(folder_path(folder, STORE_FILES, files, err));
    folder_remove_copies(files);
    if (plan->n_files == 0) {
        return FAB_OK;
    }
    FAB_TRY(make_folder(files, err));
    FAB_EACH(const fab_store_file, file, plan->files, plan->n_files) {
        FAB_TRY(folder_path(files, file->name, path, err));
        FAB_FORMAT(temporary, "%s.new", path);
        made = true;
        FAB_TRY(digest_file(file->given, temporary, digest, err));
        FAB_FAIL_IF(strcmp(digest, file->digest) != 0, err, FAB_EIO, file->given, "changes while it is read");
        FAB_TRY(folder_move(files, temporary, path, err));
        made = false;
    }
done:
    if (made) {
        (void)unlink(temporary);
    }
    return status;
}

static fab_status write_new(const char *folder, const fab_plan *plan, fab_error *err) {
    fab_status status = FAB_OK;
    database db = {.handle = NULL};
    char temporary[STORE_PATH_SIZE];
    char path[STORE_PATH_SIZE];
    FAB_TRY(folder_path(folder, STORE_PLAN ".new", temporary, err));
    FAB_TRY(folder_path(folder, STORE_PLAN, path, err));
    folder_remove(temporary);
    FAB_TRY(database_begin_new(&db, temporary, SCHEMA_PLAN, err));
    FAB_TRY(plan_tables_put(&db, plan, err));
    FAB_TRY(database_end_new(&db, err));
    FAB_TRY(folder_move(folder, temporary, path, err));
done:
    database_close(&db);
    if (status != FAB_OK) {
        folder_remove(temporary);
    }
    return status;
}

fab_status fab_plan_write(const char *folder, const fab_plan *plan, bool *out_was_there, fab_error *err) {
    FAB_OWNS(store_lock_release) store_lock lock = STORE_LOCK_NONE;
    store_holder holder = {.text = ""};
    char path[STORE_PATH_SIZE];
    bool taken = false;
    FAB_PASS(folder_path(folder, STORE_PLAN, path, err));
    FAB_PASS(make_folder(folder, err));
    FAB_PASS(store_lock_take(path, false, &lock, &taken, &holder, err));
    FAB_REFUSE_IF(!taken, err, FAB_EIO, path, "is being written by %s", holder.text);
    *out_was_there = folder_size_of(path) >= 0;
    if (*out_was_there) {
        FAB_PASS(plan_compare(folder, plan, err));
    } else {
        FAB_PASS(folder_check_free(folder, err));
        FAB_PASS(copy_files(folder, plan, err));
        FAB_PASS(write_new(folder, plan, err));
    }
    return FAB_OK;
}
