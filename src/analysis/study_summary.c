#include "fab/study_summary.h"

#include <stdlib.h>

const double fab_study_edges[FAB_STUDY_BINS - 1] = {1.001, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10};

void fab_study_summary_free(fab_study_summary *summary) {
    if (summary == NULL) {
        return;
    }
    for (size_t i = 0; summary->variants != NULL && i < summary->n_variants; i++) {
        fab_study_variant *v = &summary->variants[i];
        free(v->worst);
        free(v->stopped);
        free(v->critical.list);
        free(v->critical.next);
        free(v->links.list);
        free(v->links.next);
        free(v->clear.list);
        free(v->clear.next);
        free(v->classes);
        free(v->cable_damage);
        free(v->node_damage);
    }
    free(summary->variants);
    free(summary->choices);
    free(summary);
}
