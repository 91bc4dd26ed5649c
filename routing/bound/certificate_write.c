/* The certificate of a bound as text. Numbers are written so that they read back as they were. */
#include "engines/engines.h"
#include "fab/certificate.h"
#include "fab/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put_header(const fab_fabric *f, const fab_bound *bound, FILE *out) {
    char line[FAB_TABLES_HEADER];
    (void)fprintf(out,
                  "# " FAB_CERTIFICATE_MAGIC "\n"
                  "# %s\n"
                  "# method=%s rounds=%" PRIu64 " columns=%" PRIu64 " rows=%" PRIu64 "\n"
                  "# upper=%.17g\n"
                  "# lower=%.17g\n"
                  "# upper: largest load_bps / capacity_bps below.\n"
                  "# lower: sum over demands of rate_bps * (least sum of length along a path with the fewest links)\n"
                  "#        / sum over links of length * capacity_bps.\n"
                  "# No routing over paths with the fewest links can have a largest utilisation below lower.\n",
                  fab_tables_fabric_line(f, line), fab_bound_method_names[bound->method], bound->rounds, bound->columns,
                  bound->rows, bound->upper, bound->lower);
}

static void put_demands(const fab_fabric *f, const fab_next_hops *t, const fab_demand *demand, FILE *out) {
    char source[FAB_NODE_NAME_SIZE];
    char destination[FAB_NODE_NAME_SIZE];
    (void)fputs("\nsource,destination,rate_bps\n", out);
    for (uint32_t d = 0; d < demand->n_leaves && !ferror(out); d++) {
        for (uint32_t pair = demand->first[d]; pair < demand->first[d + 1]; pair++) {
            (void)fprintf(out, "%s,%s,%.17g\n", fab_node_name(f, t->leaf_node[demand->src[pair]], source),
                          fab_node_name(f, t->leaf_node[d], destination), demand->rate[pair]);
        }
    }
}

fab_status fab_certificate_write(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_demand *demand,
                                 const fab_bound *bound, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_dag *dag = NULL;
    double *load = NULL;
    uint8_t *used = NULL;
    FAB_TRY(FAB_NEW(load, fabric->n_links, err));
    FAB_TRY(FAB_NEW(used, fabric->n_links, err));
    FAB_TRY(fab_dag_new(fabric, next_hops, &dag, err));
    FAB_TRY(fab_split_load(dag, &bound->split, demand, demand->rate, load, err));
    (void)fab_next_hops_mark(next_hops, used);
    put_header(fabric, bound, out);
    (void)fputs("link,capacity_bps,load_bps,length\n", out);
    for (uint32_t l = 0; l < fabric->n_links && !ferror(out); l++) {
        if (used[l] != 0) {
            char name[FAB_LINK_NAME_SIZE];
            (void)fprintf(out, "%s,%.17g,%.17g,%.17g\n", fab_link_name(fabric, l, name),
                          fab_class_of(fabric, l)->capacity_bps, load[l], bound->length[l]);
        }
    }
    put_demands(fabric, next_hops, demand, out);
    if (fflush(out) != 0 || ferror(out)) {
        FAB_FAIL(err, FAB_EIO, NULL, "cannot write the certificate: %s", strerror(errno));
    }
done:
    fab_dag_free(dag);
    FAB_FREE_ALL(load, used);
    return status;
}
