/* Text report: what nccl-tests should print, and what they printed. */
#include "text_sections.h"

#include "fab/busbw.h"

static const char *show_bandwidth(fab_page *page, double bytes_per_s) {
    return fab_show(page, "%.2f", bytes_per_s / 1e9);
}

/* "32 KiB": sizes of nccl-tests are powers of two. */
static const char *show_size(fab_page *page, double bytes) {
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (unit + 1 < FAB_N_OF(UNITS) && bytes >= 1024 && floor(bytes / 1024) >= bytes / 1024) {
        bytes /= 1024;
        unit++;
    }
    return fab_show(page, "%.0f %s", bytes, UNITS[unit]);
}

static const char *bound_text(fab_page *page, const fab_busbw_row *row) {
    switch (row->time.bound) {
    case FAB_NCCL_BY_LATENCY: return "latency";
    case FAB_NCCL_BY_PROTOCOL: return "protocol";
    case FAB_NCCL_BY_SCALE_UP: return "scale-up";
    default:
        return row->collision > FAB_FULL_LOAD
                   ? fab_show(page, "%s x%.2f", row->hash > FAB_FULL_LOAD ? "collisions" : "taper", row->collision)
                   : "network";
    }
}

static void busbw_put_rows(fab_page *page, const fab_busbw *b, const char *engine) {
    const bool is_compared = b->measured != NULL;
    const fab_column columns[] = {COLUMN("size", text),
                                  COLUMN("algorithm", text),
                                  COLUMN("time", time),
                                  SHOWN("algbw", show_bandwidth),
                                  SHOWN("busbw", show_bandwidth),
                                  SHOWN(is_compared ? "measured" : NULL, show_bandwidth),
                                  COLUMN(is_compared ? "ratio" : NULL, 3_digits),
                                  COLUMN("bound by", text)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    FAB_EACH(const fab_busbw_row, row, b->rows, b->n_rows) {
        if (row->engine != engine) {
            continue;
        }
        const double figures[] = {FAB_TABLE_BLANK,     row->time.time_s, row->algbw,     row->busbw,
                                  row->measured_busbw, row->ratio,       FAB_TABLE_BLANK};
        fab_table_row(&table, row->falls_short ? FAB_INK_BAD : FAB_INK_PLAIN, show_size(page, row->bytes), figures);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s %s", fab_nccl_algorithms[row->algorithm],
                      fab_nccl_protocols[row->protocol]);
        fab_table_put(&table, 7, FAB_INK_PLAIN, bound_text(page, row));
        if (row->falls_short) {
            fab_table_set(&table, 6, FAB_INK_BAD, "%.3f falls short", row->ratio);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* Why a size has less than the one before. */
static void put_dips(fab_page *page, const fab_busbw *b, const char *engine) {
    for (size_t i = 1; i < b->n_rows; i++) {
        const fab_busbw_row *row = &b->rows[i];
        if (row->engine != engine || !(row->best_busbw > 0)) {
            continue;
        }
        const bool is_same = row->algorithm == row[-1].algorithm && row->protocol == row[-1].protocol;
        const char *cause = is_same ? fab_show(page, "stays with %s %s", fab_nccl_algorithms[row->algorithm],
                                               fab_nccl_protocols[row->protocol])
                                    : fab_show(page, "goes from %s %s to %s %s", fab_nccl_algorithms[row[-1].algorithm],
                                               fab_nccl_protocols[row[-1].protocol],
                                               fab_nccl_algorithms[row->algorithm], fab_nccl_protocols[row->protocol]);
        const bool is_best = row->best_busbw <= row->busbw * (1 + 1e-9);
        const char *better =
            is_best ? "nothing is faster"
                    : fab_show(page, "--algorithm best takes %s %s, %s GB/s", fab_nccl_algorithms[row->best_algorithm],
                               fab_nccl_protocols[row->best_protocol], show_bandwidth(page, row->best_busbw));
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "%s falls %.0f %% below %s: %s %s there; %s.",
                       show_size(page, row->bytes), 100 * (1 - row->busbw / row[-1].busbw),
                       show_size(page, row[-1].bytes), strcmp(b->choice, "nccl") == 0 ? "NCCL's model" : "the choice",
                       cause, better);
    }
}

/* What is behind a bound, and the command that shows it. */
static const char *what_to_look_at(const fab_busbw_row *row) {
    switch (row->time.bound) {
    case FAB_NCCL_BY_LATENCY:
    case FAB_NCCL_BY_PROTOCOL:
        return "launches, steps and protocol, no link: NCCL_DEBUG=INFO shows what NCCL took; --algorithm NAME here has "
               "the figures of that";
    case FAB_NCCL_BY_SCALE_UP:
        return "links inside servers: nvidia-smi nvlink -s has their rates, NCCL_DEBUG=INFO the algorithm that NCCL "
               "took";
    default:
        return row->collision > FAB_FULL_LOAD
                   ? "links between switches: fabriscope route DESIGN --traffic pattern:ring names the fullest, "
                     "fabriscope observe (counters) those that carry less than they should"
                   : "links of NICs: fabriscope audit (a dump) finds slower and misplaced cables, fabriscope observe "
                     "(counters) those that carry less than they should";
    }
}

static void put_next_step(fab_page *page, const fab_busbw *b, const char *engine) {
    const fab_busbw_row *worst = NULL;
    FAB_EACH(const fab_busbw_row, row, b->rows, b->n_rows) {
        worst = row->engine == engine && row->falls_short && (worst == NULL || row->ratio < worst->ratio) ? row : worst;
    }
    if (worst != NULL) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "Look first at %s, which has %.3g of what it should; there bind %s%s.",
                       show_size(page, worst->bytes), worst->ratio, what_to_look_at(worst),
                       worst->time.bound == FAB_NCCL_BY_SCALE_UP && b->domains > 1
                           ? "; where the network is slow it binds instead: fabriscope audit (a dump) and observe "
                             "(counters) look there"
                           : "");
    }
}

void fab_text_busbw(fab_page *page, const fab_busbw *b) {
    fab_text_heading(page, "BUS BANDWIDTH",
                     fab_show(page, "%s of %" PRIu64 " ranks in %" PRIu64 " scale-up domain%s, algorithm %s",
                              b->collective, b->ranks, b->domains, fab_plural(b->domains), b->choice));
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "GPU %s%s: %s.", b->gpu,
                   b->gpu_is_default ? " (the design names none; --job gpu=NAME)" : "", b->source);
    if (b->ranks > FAB_BUSBW_MEASURED_RANKS) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "Held against runs of up to %d ranks: for %" PRIu64 " it is extrapolated.",
                       FAB_BUSBW_MEASURED_RANKS, b->ranks);
    }
    for (size_t e = 0; e < b->n_engines; e++) {
        if (b->domains > 1) {
            fab_text_heading(page, "ENGINE", b->engines[e].label);
        }
        busbw_put_rows(page, b, b->engines[e].label);
        put_dips(page, b, b->engines[e].label);
        const fab_busbw_row *last = &b->rows[(e + 1) * (b->n_rows / b->n_engines) - 1];
        if (last->is_drawn) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "Over the draws the last size has %.2f to %.2f GB/s.",
                           last->least_busbw / 1e9, last->most_busbw / 1e9);
        }
        if (b->measured != NULL) {
            fab_page_wrapf(page, b->engines[e].n_short > 0 ? FAB_INK_BAD : FAB_INK_GOOD, 2, 4,
                           "%" PRIu64 " of %zu sizes of %s fall short.", b->engines[e].n_short,
                           b->n_rows / b->n_engines, b->measured);
            put_next_step(page, b, b->engines[e].label);
        }
    }
    if (b->n_too_fast > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "%" PRIu64 " of %zu sizes are above %.4g GB/s, which no %" PRIu64
                       " domains get out of the NICs of this design: does it have other NICs (nic, nics-per-server), "
                       "were fewer ranks in the run (--ranks), or do switches add up?",
                       b->n_too_fast, b->n_rows / b->n_engines, b->line_busbw / 1e9, b->domains);
    }
    fab_text_note(page, "In GB/s, as nccl-tests count: a size is that of all ranks' data, busbw = algbw x 2 (n - 1) / "
                        "n of an all-reduce, x (n - 1) / n of others, x 1 of a broadcast.");
}
