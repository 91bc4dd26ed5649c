#include "fab/study_summary.h"

const double fab_study_edges[FAB_STUDY_BINS - 1] = {1.001, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10};

void fab_study_summary_free(fab_study_summary *summary) {
    if (summary == NULL) {
        return;
    }
    for (size_t i = 0; summary->variants != NULL && i < summary->n_variants; i++) {
        fab_study_variant *v = &summary->variants[i];
        FAB_FREE_ALL(v->worst, v->stopped, v->critical.list, v->critical.next, v->links.list, v->links.next, v->classes,
                     v->cable_impact, v->node_impact, v->rollouts);
    }
    FAB_FREE_ALL(summary->variants, summary->choices, summary);
}
