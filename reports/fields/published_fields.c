/* Published figures beside ours: `validate`, and `published` of a run. */
#include "fab/published.h"
#include "field_rows.h"
#include "field_tables.h"

#define VALIDATION "0061-published-figures.md"

#define T fab_published_row
GIVES(const fab_published_source *, source_of, &((const fab_published *)at->up->row)->sources[here->source]);
GIVES(const char *, source_name, source_of(at)->name);
GIVES(double, deviation, fab_published_deviation(here));
GIVES(bool, is_met, fab_published_is_met(here));

static const fab_field ROWS[] = {
    FIELD(published, "The published figure."),
    FIELD(predicted, "The same figure by the program; not there where it has none.", KNOWN),
    REAL_BY(deviation_ratio, deviation, NULL, "How far ours is from theirs.", KNOWN, SIGNED,
            .formula = "predicted / published - 1", .labels = "deviation"),
    FIELD(tolerance_ratio, "Deviation up to which it counts as met; 0: none."),
    TRUTH_BY(met, is_met, "Ours is known and within the tolerance."),
    FIELD_OF(fitted, is_fitted, "A number of the program was fitted to this figure, among others."),
    FIELD(unit, "Unit of both figures; left out of counts and ratios.", FILLED),
    TEXT_BY(source, source_name, "Name of the source."),
    FIELD(what, "The figure in the words of the source."),
    FIELD(field, "The field of the command's result that has ours; elements of lists count from 1.", FILLED),
    FIELD(command, "Arguments of the program that give ours."),
    FIELD(note, "Why ours is missed, or is not there.", FILLED),
};
static const fab_fields ROW = TABLE("published_figure", ROWS, VALIDATION);

#undef T
#define T fab_published_source
static const fab_field SOURCES[] = {
    FIELD(name, "Name of the source."),
    FIELD(title, "The source in one line."),
    FIELD(about, "Where the figures stand, and what is assumed."),
};
static const fab_fields SOURCE = TABLE("published_source", SOURCES, VALIDATION);

#undef T
#define T fab_published
GIVES(uint64_t, count_met, fab_published_count(here->rows, here->n_rows).met);
GIVES(uint64_t, count_fitted, fab_published_count(here->rows, here->n_rows).fitted);
GIVES(uint64_t, count_missed, fab_published_count(here->rows, here->n_rows).missed);
GIVES(uint64_t, count_unknown, fab_published_count(here->rows, here->n_rows).unknown);

static const fab_field PUBLISHED[] = {
    COUNT_BY(met, count_met, "Figures within their tolerance."),
    COUNT_BY(fitted, count_fitted, "Those of them that a number of the program was fitted to."),
    COUNT_BY(missed, count_missed, "Figures outside it."),
    COUNT_BY(not_covered, count_unknown, "Figures that the program does not compute."),
    LIST(rows, "figure", rows, n_rows, &ROW, "The figures, source by source."),
    LIST(sources, "source", sources, n_sources, &SOURCE, "Where they come from."),
};
const fab_fields fab_published_fields = TABLE("published", PUBLISHED, VALIDATION);
