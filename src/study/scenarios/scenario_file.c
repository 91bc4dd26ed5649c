/* Lists of scenarios: CSV or XML. */
#include "scenarios_internal.h"

#include "fab/str.h"
#include "fab/xml_reader.h"

#define MOST_BYTES ((size_t)1 << 28)

fab_status scenario_begin(fab_scenarios *s, const char *name, const char *where, fab_error *err) {
    FAB_REFUSE_IF(name[0] == '\0' || strlen(name) >= sizeof s->name[0], err, FAB_EINPUT, where,
                  "the name of a scenario has 1 to %zu bytes", sizeof s->name[0] - 1);
    FAB_REFUSE_IF(s->count == FAB_SCENARIOS_MOST, err, FAB_EINPUT, where, "more than %" PRIu64 " scenarios",
                  FAB_SCENARIOS_MOST);
    FAB_PASS(FAB_GROW(s->name, s->name_capacity, (size_t)s->count + 1, err));
    FAB_PASS(FAB_GROW(s->first, s->first_capacity, (size_t)s->count + 2, err));
    memset(s->name[s->count], 0, sizeof s->name[0]);
    memcpy(s->name[s->count], name, strlen(name));
    s->first[s->count++] = s->n_components;
    s->first[s->count] = s->n_components;
    return FAB_OK;
}

fab_status scenario_add(fab_scenarios *s, const fab_component *c, fab_error *err) {
    FAB_PASS(FAB_APPEND(s->component, s->n_components, s->component_capacity, err, *c));
    s->first[s->count] = s->n_components;
    return FAB_OK;
}

/* `left`: NULL or "": 0. */
static fab_status add_component(fab_scenarios *s, const char *name, const char *left, const char *where,
                                fab_error *err) {
    fab_error inner = {0};
    fab_component c = {.fraction = 0};
    char text[2 * FAB_COMPONENT_NAME_SIZE];
    bool slow = left != NULL && left[0] != '\0';
    int n = snprintf(text, sizeof text, "%s%s%s", name, slow ? "*" : "", slow ? left : "");
    FAB_REFUSE_IF(n < 0 || (size_t)n >= sizeof text, err, FAB_EINPUT, where, "'%.40s...' is too long for a component",
                  name);
    const fab_status status = fab_component_parse(s->fabric, &s->racks, text, &c, &inner);
    FAB_REFUSE_IF(status != FAB_OK, err, status, where, "%s", inner.text);
    return scenario_add(s, &c, err);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static char *trim(char *text) {
    size_t n = 0;
    text += strspn(text, " \t");
    n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r')) {
        text[--n] = '\0';
    }
    return text;
}

/* Cuts a line into at most 3 columns. */
static uint32_t cut_line(char *line, char *column[4]) {
    uint32_t n = 0;
    for (char *at = line; at != NULL && n < 4;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        column[n++] = trim(at);
        at = comma;
    }
    return n;
}

static fab_status scenario_read_line(fab_scenarios *s, uint32_t n_columns, char *column[4], uint32_t n,
                                     const char *where, fab_error *err) {
    FAB_REFUSE_IF(n != n_columns, err, FAB_EINPUT, where, "%" PRIu32 " columns; the header has %" PRIu32, n, n_columns);
    if (s->count == 0 || strcmp(s->name[s->count - 1], column[0]) != 0) {
        FAB_PASS(scenario_begin(s, column[0], where, err));
    }
    if (column[1][0] != '\0') {
        FAB_PASS(add_component(s, column[1], n > 2 ? column[2] : NULL, where, err));
    }
    return FAB_OK;
}

/* A name that comes back later would be counted twice. */
static fab_status check_names(const fab_scenarios *s, const char *path, fab_error *err) {
    FAB_OWNED_NEW(const char *, sorted, s->count, err);
    FAB_FILL(sorted, s->count, s->name[fab_at]);
    qsort(sorted, s->count, sizeof *sorted, fab_order_text);
    for (uint64_t i = 1; i < s->count; i++) {
        FAB_REFUSE_IF(strcmp(sorted[i], sorted[i - 1]) == 0, err, FAB_EINPUT, path,
                      "scenario '%.60s' comes twice; its lines stand together", sorted[i]);
    }
    return FAB_OK;
}

static fab_status scenario_read_csv(const char *path, char *text, size_t length, fab_scenarios *s, fab_error *err) {
    char where[192];
    char *column[4];
    uint32_t n_columns = 0;
    uint64_t number = 0;
    size_t tail = strlen(path) > 150 ? strlen(path) - 150 : 0;
    FAB_REFUSE_IF(strlen(text) != length, err, FAB_EINPUT, path, "byte 0 in line 1 or later: not a text file");
    for (char *line = text; line != NULL;) {
        char *next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        FAB_FORMAT(where, "%s:%" PRIu64 ":1", path + tail, ++number);
        char *begin = trim(line);
        line = next;
        if (begin[0] == '\0' || begin[0] == '#') {
            continue;
        }
        uint32_t n = cut_line(begin, column);
        if (n_columns > 0) {
            FAB_PASS(scenario_read_line(s, n_columns, column, n, where, err));
            continue;
        }
        n_columns = n;
        FAB_REFUSE_IF(n < 2 || n > 3 || strcmp(column[0], "scenario") != 0 || strcmp(column[1], "component") != 0 ||
                          (n == 3 && strcmp(column[2], "left") != 0),
                      err, FAB_EINPUT, where, "expected the header scenario,component or scenario,component,left");
    }
    return FAB_OK;
}

/* --- XML ---------------------------------------------------------------------------------------------------------- */

/* Names of what an element may have; "" for none. */
static fab_status check_attributes(const char *path, const fab_xml_element *e, const char *a, const char *b,
                                   fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    FAB_EACH(const fab_xml_attribute, at, e->attributes, e->n_attributes) {
        FAB_REFUSE_IF(strcmp(at->name, a) != 0 && strcmp(at->name, b) != 0, err, FAB_EINPUT,
                      fab_xml_place(where, path, at->line, at->column), "<%s> has no attribute '%.40s'", e->name,
                      at->name);
    }
    FAB_REFUSE_IF(a[0] != '\0' && fab_xml_find(e, a) == NULL, err, FAB_EINPUT,
                  fab_xml_place(where, path, e->line, e->column), "<%s> needs %s=\"...\"", e->name, a);
    return FAB_OK;
}

static fab_status expect(const char *path, const fab_xml_element *e, const char *name, fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    if (strcmp(e->name, name) == 0) {
        return FAB_OK;
    }
    return fab_fail(err, FAB_EINPUT, fab_xml_place(where, path, e->line, e->column), "expected <%s>, found <%.40s>",
                    name, e->name);
}

static fab_status read_xml(const char *path, const char *text, size_t length, fab_scenarios *s, fab_error *err) {
    FAB_OWNS(fab_xml_free_owned) fab_xml *xml = NULL;
    char where[FAB_XML_PLACE_SIZE];
    FAB_PASS(fab_xml_parse(text, length, path, &xml, err));
    const fab_xml_element *root = fab_xml_root(xml);
    FAB_PASS(expect(path, root, "scenarios", err));
    FAB_PASS(check_attributes(path, root, "", "", err));
    for (const fab_xml_element *e = root->first_child; e != NULL; e = e->next) {
        FAB_PASS(expect(path, e, "scenario", err));
        FAB_PASS(check_attributes(path, e, "name", "name", err));
        const fab_xml_attribute *name = fab_xml_find(e, "name");
        FAB_PASS(scenario_begin(s, name->value, fab_xml_place(where, path, name->line, name->column), err));
        for (const fab_xml_element *c = e->first_child; c != NULL; c = c->next) {
            FAB_PASS(expect(path, c, "component", err));
            FAB_PASS(check_attributes(path, c, "name", "left", err));
            const fab_xml_attribute *left = fab_xml_find(c, "left");
            name = fab_xml_find(c, "name");
            FAB_PASS(add_component(s, name->value, left != NULL ? left->value : NULL,
                                   fab_xml_place(where, path, name->line, name->column), err));
        }
    }
    return FAB_OK;
}

fab_status scenario_read_file(const char *path, fab_scenarios *s, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    s->source = SOURCE_LIST;
    FAB_PASS(fab_read_file(path, MOST_BYTES, &text, err));
    const char *begin = text.data != NULL ? text.data + strspn(text.data, " \t\r\n\xef\xbb\xbf") : "";
    FAB_PASS(begin[0] == '<'
                 ? read_xml(path, text.data, text.length, s, err)
                 : scenario_read_csv(path, text.data != NULL ? text.data : (char[]){""}, text.length, s, err));
    FAB_REFUSE_IF(s->count == 0, err, FAB_EINPUT, path, "the file has no scenario");
    return check_names(s, path, err);
}
