/* Price books (first byte even), GPUs (first byte G), published figures (first byte P), what nccl-tests print (first
 * byte N) and catalogs (else) as files. */
#include "fab/busbw_run.h"
#include "fab/catalog.h"
#include "fab/gpu.h"
#include "fab/prices.h"
#include "fab/published.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

static bool is_price(fab_price price) {
    return isfinite(price.usd) && isfinite(price.power_w) && price.usd >= 0 && price.power_w >= 0;
}

static void ask(const fab_prices *prices) {
    static const double RATES[] = {25e9, 100e9, 200e9, 400e9, 800e9};
    static const double LENGTHS[] = {0, 2.5, 30, 500, 20000};
    for (size_t i = 0; i < sizeof RATES / sizeof RATES[0]; i++) {
        fab_price price = {0};
        fab_error err = {0};
        if (fuzz_accepts(fab_prices_switch(prices, 64, RATES[i], &price, &err), &err)) {
            fuzz_check(is_price(price), "switch at %g: %g USD, %g W", RATES[i], price.usd, price.power_w);
        }
        err = (fab_error){0};
        if (fuzz_accepts(fab_prices_nic(prices, RATES[i], &price, &err), &err)) {
            fuzz_check(is_price(price), "NIC at %g: %g USD, %g W", RATES[i], price.usd, price.power_w);
        }
        for (size_t k = 0; k < sizeof LENGTHS / sizeof LENGTHS[0]; k++) {
            fab_link_price link = {0};
            err = (fab_error){0};
            if (fuzz_accepts(fab_prices_link(prices, RATES[i], LENGTHS[k], &link, &err), &err)) {
                fuzz_check(is_price(link.cable) && is_price(link.module_price), "cable at %g", RATES[i]);
                fuzz_check(fab_prices_medium(prices, RATES[i], LENGTHS[k]) == link.medium, "two media for %g m",
                           LENGTHS[k]);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const char *path = fuzz_file(data + 1, size - 1);
    fab_error err = {0};
    if (data[0] == 'P') {
        fab_published published = {.n_rows = 0};
        if (fuzz_accepts(fab_published_read(path, &published, &err), &err)) {
            fuzz_check(published.n_sources == 1 && published.n_rows > 0 && published.rows[0].published > 0, "%zu rows",
                       published.n_rows);
        }
        fab_published_release(&published);
    } else if (data[0] == 'N') {
        fab_nccl_tests tests = {.path = NULL};
        if (fuzz_accepts(fab_nccl_tests_read(path, &tests, &err), &err)) {
            fuzz_check(tests.n_rows > 0 && tests.rows[0].bytes > 0 && isfinite(tests.rows[0].busbw), "%zu rows",
                       tests.n_rows);
        }
        fab_nccl_tests_release(&tests);
    } else if (data[0] % 2 == 0) {
        fab_prices *prices = calloc(1, sizeof *prices);
        if (fuzz_accepts(fab_prices_read(path, prices, &err), &err)) {
            ask(prices);
        }
        free(prices);
    } else if (data[0] == 'G') {
        fab_gpu gpu = {.name = ""};
        char has[192];
        if (fuzz_accepts(fab_gpu_read(path, "fuzz", &gpu, &err), &err)) {
            fuzz_check(gpu.name[0] != '\0' && gpu.flops[fab_gpu_wide(&gpu, FAB_FP8)] > 0 && gpu.memory_bytes >= 1,
                       "GPU %s: %s", gpu.name, fab_gpu_precisions(&gpu, false, has));
        }
    } else {
        fab_catalog *catalog = calloc(1, sizeof *catalog);
        if (fuzz_accepts(fab_catalog_read(path, catalog, &err), &err)) {
            fuzz_check(catalog->n_switches > 0 && catalog->n_switches <= FAB_CATALOG_SWITCHES, "%zu switches",
                       catalog->n_switches);
        }
        free(catalog);
    }
    return 0;
}
