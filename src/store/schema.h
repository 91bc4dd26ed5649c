/** The tables of a store, in SQL. What columns mean stands in src/doc/study-store.md. */
#pragma once

/* Keys of rows come first and sort them; without row ids a row is stored once, under its key. */
#define SCHEMA_ROWS                                                                                                    \
    "CREATE TABLE outcome (scenario INTEGER NOT NULL, variant INTEGER NOT NULL, state INTEGER NOT NULL, "              \
    "n_disconnected INTEGER NOT NULL, n_moved INTEGER NOT NULL, n_collisions INTEGER NOT NULL, worst_link INTEGER, "   \
    "lost_ratio REAL, worst_ratio REAL, time_s REAL, slowdown REAL, "                                                  \
    "PRIMARY KEY (scenario, variant)) STRICT, WITHOUT ROWID;"                                                          \
    "CREATE TABLE history (scenario INTEGER NOT NULL, variant INTEGER NOT NULL, goodput REAL, restart_ratio REAL, "    \
    "redo_ratio REAL, slow_ratio REAL, wait_ratio REAL, n_failures INTEGER NOT NULL, n_stops INTEGER NOT NULL, "       \
    "PRIMARY KEY (scenario, variant)) STRICT, WITHOUT ROWID;"                                                          \
    "CREATE TABLE failed (scenario INTEGER NOT NULL, component INTEGER NOT NULL, "                                     \
    "PRIMARY KEY (scenario, component)) STRICT, WITHOUT ROWID;"

#define SCHEMA_SHARD                                                                                                   \
    SCHEMA_ROWS                                                                                                        \
    "CREATE TABLE shard (plan TEXT NOT NULL, shard INTEGER NOT NULL, n_shards INTEGER NOT NULL) STRICT;"               \
    "CREATE TABLE block (block INTEGER PRIMARY KEY, digest INTEGER NOT NULL) STRICT;"

#define SCHEMA_PLAN                                                                                                    \
    "CREATE TABLE plan (id TEXT NOT NULL, program TEXT NOT NULL, name TEXT NOT NULL, origin TEXT NOT NULL, "           \
    "design TEXT NOT NULL, digest TEXT NOT NULL, traffic TEXT NOT NULL, scenarios TEXT NOT NULL, "                     \
    "seed INTEGER NOT NULL, n_scenarios INTEGER NOT NULL, block INTEGER NOT NULL, figures TEXT NOT NULL, "             \
    "span_s REAL NOT NULL, checkpoint_s REAL NOT NULL, restart_s REAL NOT NULL) STRICT;"                               \
    "CREATE TABLE variant (variant INTEGER PRIMARY KEY, engine TEXT NOT NULL, label TEXT NOT NULL, "                   \
    "policy TEXT NOT NULL, whole_disconnected INTEGER NOT NULL, whole_collisions INTEGER NOT NULL, "                   \
    "whole_link INTEGER, whole_lost REAL, whole_ratio REAL, whole_time_s REAL) STRICT;"                                \
    "CREATE TABLE component (component INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, "                  \
    "left REAL NOT NULL) STRICT;"                                                                                      \
    "CREATE TABLE scenario (scenario INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;"                                 \
    "CREATE TABLE rate (class TEXT PRIMARY KEY, per_s REAL NOT NULL, repair_s REAL NOT NULL) STRICT;"                  \
    "CREATE TABLE file (name TEXT PRIMARY KEY, given TEXT NOT NULL, digest TEXT NOT NULL) STRICT;"

#define SCHEMA_RESULTS                                                                                                 \
    SCHEMA_PLAN SCHEMA_ROWS                                                                                            \
        "CREATE TABLE gathered (n_done INTEGER NOT NULL, digest INTEGER NOT NULL) STRICT;"                             \
        "CREATE TABLE by_component (variant INTEGER NOT NULL, component INTEGER NOT NULL, "                            \
        "n_scenarios INTEGER NOT NULL, n_stopped INTEGER NOT NULL, mean_slowdown REAL, worst_slowdown REAL, "          \
        "mean_ratio REAL, worst_ratio REAL, PRIMARY KEY (variant, component)) STRICT, WITHOUT ROWID;"
