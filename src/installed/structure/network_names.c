#include "network_names.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct label {
    const char *text;
    uint32_t node;
} label;

static int labels_by_label(const void *x, const void *y) {
    return strcmp(((const label *)x)->text, ((const label *)y)->text);
}

fab_status fab_network_names(const fab_network *net, const char ***out, fab_error *err) {
    fab_status status = FAB_OK;
    label *all = NULL;
    const char **names = NULL;
    FAB_TRY(FAB_NEW(all, net->n_nodes, err));
    FAB_TRY(FAB_NEW(names, net->n_nodes, err));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        all[v] = (label){net->nodes[v].label, v};
    }
    qsort(all, net->n_nodes, sizeof *all, labels_by_label);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        bool shared = (i > 0 && strcmp(all[i].text, all[i - 1].text) == 0) ||
                      (i + 1 < net->n_nodes && strcmp(all[i].text, all[i + 1].text) == 0);
        names[all[i].node] = shared ? net->nodes[all[i].node].name : all[i].text;
    }
    *out = names;
    names = NULL;
done:
    FAB_FREE_ALL(all, names);
    return status;
}

fab_status fab_names_check(const char **names, uint32_t n, const char *what, const char *path, fab_error *err) {
    if (n > 0) {
        qsort(names, n, sizeof *names, fab_order_text);
    }
    for (uint32_t i = 1; i < n; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            return fab_fail(err, FAB_EUNSUPPORTED, path, "two %s would be called '%.100s'", what, names[i]);
        }
    }
    return FAB_OK;
}
