/** What the fields of reports mean, and the schemas of JSON and XML reports: all from one table of fields. */
#pragma once

#include "fab/str.h"

typedef struct fab_definition {
    const char *name;       /**< as JSON and XML call it; several objects may have a field of one name */
    const char *unit;       /**< "1" of ratios and counts; NULL of texts and objects */
    const char *of;         /**< where it stands: "phases.engines" */
    const char *object;     /**< what the schemas call the object that it stands in: "engine" */
    const char *definition; /**< a sentence or a few */
    const char *formula;    /**< or NULL where the definition says it all */
    const char *source;     /**< paper or tool that defines it so, or the file of a decision record: "0009-x.md" */
    const char *labels;     /**< words that reports print for it, separated by "|"; or NULL */
} fab_definition;

/** Returns whether to go on. The definition is borrowed for the call, its texts but `of` for good. */
typedef bool fab_definition_visitor(const fab_definition *definition, void *context);

/** All fields, in the order of a report. */
void fab_definitions_visit(fab_definition_visitor *visit, void *context);

/** Whether reports call it so; capitals, blanks and dashes do not matter. */
bool fab_definition_has_label(const fab_definition *definition, const char *word);

/** JSON Schema (2020-12) of the JSON report, and XML Schema of the XML report. Failure shows in fab_str_status(). */
void fab_result_json_schema(fab_str *out);
void fab_result_xml_schema(fab_str *out);
